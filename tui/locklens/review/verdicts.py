"""What a rule says, before it is a finding: the shape that all rules share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Finding, Severity
from locklens.review.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable


class Verdict(Struct, frozen=True):
    """What a rule says of one thing.

    Attributes:
        line: In the lock file unless `file` names another.
        severity: Where it is not the rule's own.
    """

    message: str
    line: int | None = None
    file: str | None = None
    severity: Severity | None = None


def finding_of(rule: str, verdict: Verdict, lock_file: str, line: int | None) -> Finding:
    """Returns the finding; `line` is that of the lock file's entry, for a verdict that names no place of its own."""
    own = verdict.line if verdict.line is not None or verdict.file else line
    return Finding(rule, verdict.severity or RULES[rule].severity, verdict.message, verdict.file or lock_file, own)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns findings with the worst first."""
    return tuple(sorted(findings, key=lambda finding: (finding.severity.rank, finding.rule, finding.line or 0)))
