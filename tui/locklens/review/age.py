"""The rule about the age of a release: whether it is younger than the policy's cooldown allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.verdicts import Verdict, finding_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.policy import Policy
    from locklens.review.model import Change, Finding


def age_findings(change: Change, lock_file: str, policy: Policy) -> Iterator[Finding]:
    """Yields the finding that a new version earns by its age. Of an unknown age nobody can say that it is too low.

    Args:
        change: With its evidence.
        lock_file: Where the finding is.
        policy: Its cooldown counts.
    """
    days = change.evidence.days if change.evidence is not None else None
    if change.new is None or policy.cooldown is None or days is None or days >= policy.cooldown:
        return
    is_new = change.old is None or change.moved_from is not None or change.old.version != change.new.version
    if is_new and change.evidence is not None:
        age = "today" if not days else f"{_days(days)} ago"
        words = f"{change.new.version} was released {age} ({change.evidence.released}), and the cooldown is"
        yield finding_of("LK014", Verdict(f"{words} {_days(policy.cooldown)}"), lock_file, change.new.line)


def _days(number: int) -> str:
    return f"{number} day{'' if number == 1 else 's'}"
