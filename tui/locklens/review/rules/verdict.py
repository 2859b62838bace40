"""What a rule says, before it is a finding: the shape that all rules share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Finding, Severity
from locklens.review.rules.catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.addresses import ProviderAddress


class Verdict(Struct, frozen=True):
    """What a rule says of one thing.

    Attributes:
        line: In the lock file unless `file` names another.
        severity: Where it is not the rule's own.
        column: From 1; known for syntax errors.
    """

    message: str
    line: int | None = None
    file: str | None = None
    severity: Severity | None = None
    column: int | None = None


def finding_of(
    rule: str, verdict: Verdict, lock_file: str, line: int | None, provider: ProviderAddress | None = None
) -> Finding:
    """Returns the finding of a verdict.

    Args:
        rule: The rule's id.
        verdict: What it says.
        lock_file: Where that is, unless the verdict names another file.
        line: That of the lock file's entry, for a verdict that names no place of its own.
        provider: As of `Finding`.
    """
    own = verdict.line if verdict.line is not None or verdict.file else line
    severity, file = verdict.severity or RULES[rule].severity, verdict.file or lock_file
    return Finding(rule, severity, verdict.message, file, own, verdict.column, provider=provider)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns findings with the worst first."""
    return tuple(sorted(findings, key=lambda finding: (finding.severity.rank, finding.rule, finding.line or 0)))
