"""The rule about releases younger than the policy's cooldown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.rules.verdict import Verdict
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.policy import Policy
    from locklens.review.model import Change


def _too_young(change: Change, policy: Policy) -> Iterator[Verdict]:
    """Check a new version; an unknown release date gives no finding."""
    days = change.evidence.days if change.evidence is not None else None
    if change.new is None or policy.cooldown is None or days is None or days >= policy.cooldown:
        return
    is_new = change.old is None or change.moved_from is not None or change.old.version != change.new.version
    if is_new and change.evidence is not None:
        age = "today" if not days else f"{counted(days, 'day')} ago"
        words = f"{change.new.version} was released {age} ({change.evidence.released}), and the cooldown is"
        yield Verdict(f"{words} {counted(policy.cooldown, 'day')}")


CHECKS: Mapping[str, Callable[[Change, Policy], Iterator[Verdict]]] = {"LK014": _too_young}
