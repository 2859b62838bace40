"""The rule about a change that modifies the policy that judges it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.policy import POLICY_FILE
from locklens.review.model import Severity
from locklens.review.rules.heeding import heeded
from locklens.review.rules.verdict import Verdict, finding_of
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.policy import Policy
    from locklens.policy.model import PolicyChange
    from locklens.review.model import Finding


def _own_policy(change: PolicyChange, _: Policy) -> Iterator[Verdict]:
    base, head = change.base_name, change.head_name
    keys = listing(change.keys, 20)
    if change.problem:
        words = f"{POLICY_FILE} of {head} cannot be read ({change.problem})"
    elif change.is_removed:
        words = f"{POLICY_FILE} is removed in {head}: {keys}"
    elif change.keys:
        words = f"{POLICY_FILE} differs in {head}: {keys}"
    else:
        words = f"{POLICY_FILE} differs in {head}, in comments or layout alone"
    judge = f"that of {base} judges" if change.has_base else f"{base} has none, so none judges"
    severity = None if change.weighs else Severity.INFO
    yield Verdict(f"{words}; {judge}", change.line, POLICY_FILE, severity=severity, content=change.content)


CHECKS: Mapping[str, Callable[[PolicyChange, Policy], Iterator[Verdict]]] = {"LK028": _own_policy}


def judge_policy_change(change: PolicyChange, policy: Policy) -> tuple[Finding, ...]:
    """Return the findings about a change of the policy.

    Args:
        change: The difference between the two sides.
        policy: The policy that applies.
    """
    found = (
        finding_of(rule, one, POLICY_FILE, None) for rule, check in CHECKS.items() for one in check(change, policy)
    )
    return tuple(heeded(found, policy))
