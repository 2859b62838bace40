"""The verdict of a rule, before it becomes a finding; shared by all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Finding, Severity
from locklens.review.rules.catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.addresses import ProviderAddress


class Verdict(Struct, frozen=True):
    """A rule's verdict on one subject.

    Attributes:
        line: In the lock file unless `file` names another.
        severity: Overrides that of the rule.
        column: From 1; known for syntax errors.
        content: That of the `Finding`.
        case: That of the `Finding`.
    """

    message: str
    line: int | None = None
    file: str | None = None
    severity: Severity | None = None
    column: int | None = None
    content: str = ""
    case: str = ""


def finding_of(
    rule: str, verdict: Verdict, lock_file: str, line: int | None, provider: ProviderAddress | None = None
) -> Finding:
    """Return the finding of a verdict.

    Args:
        rule: The rule's id.
        verdict: The rule's verdict.
        lock_file: Its place, unless the verdict names another file.
        line: That of the lock file's entry, for a verdict without a place.
        provider: As of `Finding`.
    """
    at = verdict.line if verdict.line is not None or verdict.file else line
    severity, file = verdict.severity or RULES[rule].severity, verdict.file or lock_file
    return Finding(
        rule,
        severity,
        verdict.message,
        file,
        at,
        verdict.column,
        provider=provider,
        content=verdict.content,
        case=verdict.case,
    )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the worst first."""
    return tuple(sorted(findings, key=lambda finding: (finding.severity.rank, finding.rule, finding.line or 0)))
