"""The severity that a policy gives to findings, and the findings that it accepts. Every judged finding passes here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.review.model import Accepted, Severity
from locklens.review.rules.catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.policy import Acceptance, Policy
    from locklens.review.model import Change, Finding


def heeded(findings: Iterable[Finding], policy: Policy, change: Change | None = None) -> Iterator[Finding]:
    """Yield findings with the severity of the policy, without those of rules that are off.

    Args:
        findings: With the severity of the rule, or that of the rule's special case.
        policy: The policy that applies.
        change: The change that they are about; None for findings that no acceptance can name.
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
