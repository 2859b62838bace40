"""The last column of the list of changes: how many hashes are verified, or why that is unknown. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.review.model import LookupAnswer
from locklens.review.reports.evidence_lines import is_settled
from locklens.review.reports.lines import Role, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.review.model import Change

MEANINGS = {
    "…/7": "the registry is being asked about 7 added hashes",
    "6/7": "6 of 7 added hashes are verified",
    "6/7!": "some facts are unknown: see the detail",
    "unverified": "the registry did not answer",
    "not asked": "the registry may not be asked; --ask-host allows it",
    "offline": "offline and not cached",
    "?/7": "not settled when the review ended",
}
"""The texts of the list's last column, and their meanings."""


def verified_in_short(changes: Iterable[Change], *, is_asking: bool, is_offline: bool) -> Span:
    """Return the count of a row's verified hashes; for several roots, that of the root with the smallest share.

    Args:
        changes: The changes of the row.
        is_asking: True while the review is incomplete.
        is_offline: True if no registry may be asked.
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
        case LookupAnswer.NOT_ASKED:
            return Span("offline", Role.DIM) if is_offline else Span("not asked", Role.WARN)
        case LookupAnswer.FAILED:
            return Span("unverified", Role.WARN)
        case LookupAnswer.GIVEN:
            return Span(f"{counts}!", Role.WARN)
        case _:
            assert_never(evidence.answer)


def _alarm(change: Change) -> tuple[bool, bool, float]:
    """Sort key: unsettled changes, then failed ones, then the smallest share of verified hashes."""
    evidence = change.evidence
    share = change.explained / len(change.added) if change.added else 1.0
    return is_settled(change), evidence is None or not evidence.problems, share
