"""How far a row's hashes are explained, in the few columns that a list has for it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.review.model import Answer
from locklens.ui.spans import Role, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.review.model import Change

MEANINGS = {
    "…/7": "the registry is being asked about 7 added hashes",
    "6/7": "6 of 7 added hashes are explained",
    "6/7!": "not all is known that should be: the detail says why",
    "failed": "the registry did not answer",
    "not asked": "the registry may not be asked; --ask-host allows it",
    "offline": "nobody is asked, and nothing is remembered",
    "?/7": "the review ended before this was settled",
}
"""What the list's last column says, and what that means."""


def is_settled(change: Change) -> bool:
    """Whether nothing more is to be asked about a change."""
    return change.evidence is not None or change.new is None


def explained_in_short(changes: Iterable[Change], *, is_asking: bool, is_offline: bool) -> Span:
    """Says how far the hashes of a row are explained; of a change in several roots where they are least so.

    Args:
        changes: Those that the row stands for.
        is_asking: Whether the review is still on its way.
        is_offline: Whether no registry is to be asked.
    """
    worst = min(changes, key=_alarm)
    total = len(worst.added)
    counts = f"{worst.explained}/{total}" if total else ""
    if worst.new is None:
        return Span("")
    evidence = worst.evidence
    if evidence is None:
        sign = "…" if is_asking else "?"
        return Span(f"{sign:>{len(str(total))}}/{total}" if total else sign, Role.DIM if is_asking else Role.WARN)
    if not evidence.problems:
        return Span(counts, Role.GOOD if worst.explained == total else Role.WARN)
    match evidence.answer:
        case Answer.NOT_ASKED:
            return Span("offline", Role.DIM) if is_offline else Span("not asked", Role.WARN)
        case Answer.FAILED:
            return Span("failed", Role.WARN)
        case Answer.GIVEN:
            return Span(f"{counts}!", Role.WARN)
        case _:
            assert_never(evidence.answer)


def _alarm(change: Change) -> tuple[bool, bool, float]:
    """Sort key: what is not settled, then what could not be settled, then what is explained least."""
    evidence = change.evidence
    share = change.explained / len(change.added) if change.added else 1.0
    return is_settled(change), evidence is None or not evidence.problems, share
