"""The rules: their texts and severities in `catalogue`, their checks in one module for each subject, run by `judge`.

Here is the verdict of a rule, and how it becomes a finding: its place, its severity by the policy, its acceptance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.review.findings import Accepted, Finding, Severity
from locklens.review.rules.catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.policy import Acceptance, Policy
    from locklens.review.model import Change


class Verdict(Struct, frozen=True):
    """A rule's verdict on one subject; what is not described here is copied to the `Finding`.

    Attributes:
        line: In the lock file unless `file` names another.
        severity: Overrides that of the rule.
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
    """Return the finding of a verdict, at the line of the lock file's entry if the verdict has no place of its own."""
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


def heeded(findings: Iterable[Finding], policy: Policy, change: Change | None = None) -> Iterator[Finding]:
    """Yield findings with the severity of the policy, without those of rules that are off.

    Every judged finding passes here. Without a change, no acceptance can name them.
    """
    for finding in findings:
        severity = _severity(finding, policy)
        if severity is Severity.OFF:
            continue
        judged = finding if severity is finding.severity else replace(finding, severity=severity)
        found = policy.acceptance(finding.rule, change.address, change.id) if change is not None else None
        yield replace(judged, accepted=_accepted(found)) if found is not None else judged


def _severity(finding: Finding, policy: Policy) -> Severity:
    """Return the severity: the policy sets the usual one; a case that the rule takes more or less seriously stays so.

    A revoked key blocks although `LK012 = "info"`, and "cannot say" informs although `LK007 = "block"`.
    """
    usual, given = RULES[finding.rule].severity, policy.severity.get(finding.rule)
    if given is None:
        return finding.severity
    chosen = Severity(given)
    if chosen is Severity.OFF or finding.severity is usual or usual is Severity.OFF:
        return chosen
    pick = min if finding.severity.rank < usual.rank else max
    return pick(chosen, finding.severity, key=lambda one: one.rank)


def _accepted(acceptance: Acceptance) -> Accepted:
    on, until = (day.isoformat() if day is not None else "" for day in (acceptance.on, acceptance.until))
    return Accepted(acceptance.reason, acceptance.by, on, until)
