"""The lines of the dialog before and after downloads: the estimate and the result. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hashes import is_of_files
from locklens.lines import Line, Role, Span, line
from locklens.review.model import LookupAnswer
from locklens.text import counted, size_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.operations.review.request import ProvingPlanned
    from locklens.review.model import Change, HashFact, Review, RootReview

_MOST_LABELS = 8
"""Packages that are named, so that the dialog fits into 24 lines."""

ProvingSelection = frozenset[tuple[str, "ProviderAddress"]]
"""Changes, each by lock file and provider."""


def plan_lines(plan: ProvingPlanned) -> Iterator[Line]:
    """The estimated downloads, and their purpose."""
    size = size_words(plan.likely_bytes) if plan.likely_bytes is not None else "size unknown"
    packages = Span(f"{counted(plan.likely, 'package')}, {size}", Role.STRONG)
    if not plan.hashes:
        yield line("To download: ", packages, f", up to {plan.at_most} times, to see if it arrives as it was signed.")
    else:
        yield line("To download: ", packages, f", to verify {plan.hashes} h1.")
    if plan.hashes and plan.at_most > plan.likely:
        yield line(f"At most {plan.at_most}, if an h1 matches none of these: an h1 does not name its platform.")
    for label in plan.labels[:_MOST_LABELS]:
        yield line(Span(f"  {label}", Role.PLACE), hanging=4)
    if len(plan.labels) > _MOST_LABELS:
        yield line(Span(f"  and {len(plan.labels) - _MOST_LABELS} more", Role.DIM))
    yield line()
    handling = "Packages are hashed while downloading, and hashes are cached. No package is stored, unpacked or run."
    yield line(Span(handling, Role.DIM))


def outcome(before: Review, selection: ProvingSelection, after: Iterable[RootReview]) -> str:
    """Return the count of `h1` that the downloads verified, in words."""
    old = {fact.hash for change in _changes(before.roots, selection) for fact in _open_h1(change)}
    still = {fact.hash for change in _changes(after, selection) for fact in _open_h1(change)}
    count = f"{len(old - still)} of {counted(len(old), 'h1', 'h1')} verified"
    return f"{count}; see the findings for the others" if still else count


def nothing_to_prove(review: Review, selection: ProvingSelection) -> str:
    """Return the reason why there is nothing to download."""
    changes = list(_changes(review.roots, selection))
    if not any(True for change in changes for _ in _open_h1(change)):
        return "nothing to verify here: every h1 is verified, or there is none"
    problems = [
        problem
        for change in changes
        if change.evidence is not None
        and (change.evidence.answer is not LookupAnswer.GIVEN or change.evidence.problems)
        for problem in change.evidence.problems
    ]
    return (
        f"nothing can be verified: {problems[0]}"
        if problems
        else "nothing can be verified: no signed package left to hash"
    )


def _changes(roots: Iterable[RootReview], selection: ProvingSelection) -> Iterator[Change]:
    return (change for root in roots for change in root.changes if (root.lock_file, change.address) in selection)


def _open_h1(change: Change) -> Iterator[HashFact]:
    return (fact for fact in change.locked if is_of_files(fact.hash) and not fact.is_explained)
