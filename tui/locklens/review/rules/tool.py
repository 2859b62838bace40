"""The rule about a change of the tool that a root is locked by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.rules.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.review.model import RootReview


def _other_tool(root: RootReview) -> Iterator[Verdict]:
    change = root.context.tool_change
    if change is None:
        return
    before, now = change.before, change.now
    words = f"locked by {before.product} before, by {now.product} now: "
    if change.has_migrated:
        words += f"its providers are from {now.default_host}, judged by {now.product}'s rules"
    else:
        words += f"judged by {before.product}'s rules; --tool {now.name} judges by {now.product}'s"
    yield Verdict(words, 1)


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK032": _other_tool}
