"""The last column of the list of changes: how many of the added hashes are not verified. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Role, Span
from locklens.review.reports.evidence_lines import is_settled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.review.model import Change, HashCount

MEANINGS = {
    "0 of 7": "all 7 added hashes are verified: signed, or computed from a signed package",
    "1 of 7": "1 of 7 added hashes is not verified",
    "1 of 7!": "some facts could not be had: see the detail",
    "… of 7": "the registry is being asked",
    "? of 7": "not settled when the review ended",
}
"""The texts of the list's last column, and their meanings."""


def unverified_of(changes: Iterable[Change], *, is_asking: bool) -> Span:
    """Return how many of a row's added hashes are not verified; for several roots, that of the root with the most.

    Args:
        changes: The changes of the row.
        is_asking: True while the review is incomplete.
    """
    worst = min(changes, key=_alarm)
    if worst.new is None:
        return Span("")
    if worst.evidence is None:
        sign = "…" if is_asking else "?"
        shown = f"{sign} of {len(worst.claimed)}" if worst.claimed else sign
        return Span(shown, Role.DIM if is_asking else Role.WARN)
    if worst.evidence.problems:
        return Span(f"{unverified_in_row(worst.hashes).text}!", Role.WARN)
    return unverified_in_row(worst.hashes)


def unverified_in_row(hashes: HashCount) -> Span:
    """Return how many hashes are not verified, in the words of a column: "1 of 7"; "" for no hashes."""
    if not hashes.total:
        return Span("")
    return Span(f"{hashes.unverified} of {hashes.total}", Role.WARN if hashes.unverified else Role.GOOD)


def _alarm(change: Change) -> tuple[bool, bool, int]:
    """Sort key: unsettled changes, then failed ones, then the most hashes that are not verified."""
    evidence = change.evidence
    return is_settled(change), evidence is None or not evidence.problems, -change.hashes.unverified
