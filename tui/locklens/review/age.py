"""The rule about the age of a release: whether it is younger than the policy's cooldown allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.verdicts import Verdict, finding_of
from locklens.text import counted

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
        age = "today" if not days else f"{counted(days, 'day')} ago"
        words = f"{change.new.version} was released {age} ({change.evidence.released}), and the cooldown is"
        yield finding_of("LK014", Verdict(f"{words} {counted(policy.cooldown, 'day')}"), lock_file, change.new.line)
