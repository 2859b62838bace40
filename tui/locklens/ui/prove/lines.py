"""What the dialog says before and after packages are downloaded: the plan, and what came of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hashes import Scheme, has_scheme
from locklens.review.model import LookupAnswer
from locklens.text import counted, size_words
from locklens.ui.text.spans import Line, Role, Span, line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.operations.review.events import ProvingPlanned
    from locklens.review.model import Change, HashFact, Review, RootReview

ProvingSelection = frozenset[tuple[str, "ProviderAddress"]]
"""Changes, each by lock file and provider."""


def plan_lines(plan: ProvingPlanned) -> Iterator[Line]:
    """What is going to be downloaded, and for what."""
    size = size_words(plan.likely_bytes) if plan.likely_bytes is not None else "of a size that nobody says"
    packages = Span(f"{counted(plan.likely, 'package')}, {size}", Role.STRONG)
    yield line("To download: ", packages, f", to prove {plan.hashes} h1.")
    if plan.at_most > plan.likely:
        told = f"At most {plan.at_most}, where an h1 is of none of those: nothing says which platform's package has it."
        yield line(told)
    yield line()
    told = "Each is hashed while it arrives, and its hashes are remembered. Nothing of it is kept, unpacked or run."
    yield line(Span(told, Role.DIM))


def outcome(before: Review, chosen: ProvingSelection, found: Iterable[RootReview]) -> str:
    """Says what the downloads proved."""
    old = {fact.hash for change in _changes(before.roots, chosen) for fact in _open_h1(change)}
    still = {fact for change in _changes(found, chosen) for fact in (one.hash for one in _open_h1(change))}
    told = f"{len(old - still)} of {counted(len(old), 'h1', 'h1')} proven"
    return f"{told}; the findings say of the others" if still else told


def nothing_to_prove(review: Review, chosen: ProvingSelection) -> str:
    """Says why there is nothing to download."""
    changes = list(_changes(review.roots, chosen))
    if not any(True for change in changes for _ in _open_h1(change)):
        return "nothing to prove here: every h1 is proven, or there is none"
    problems = [
        problem
        for change in changes
        if change.evidence is not None
        and (change.evidence.answer is not LookupAnswer.GIVEN or change.evidence.problems)
        for problem in change.evidence.problems
    ]
    return (
        f"nothing can be proven: {problems[0]}"
        if problems
        else "nothing can be proven: no signed package is left to hash"
    )


def _changes(roots: Iterable[RootReview], chosen: ProvingSelection) -> Iterator[Change]:
    return (change for root in roots for change in root.changes if (root.lock_file, change.address) in chosen)


def _open_h1(change: Change) -> Iterator[HashFact]:
    return (fact for fact in change.locked if has_scheme(fact.hash, Scheme.H1) and not fact.is_explained)
