"""What the dialog says while packages are downloaded: the plan, a line for each package, what came of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Answer
from locklens.review.reports.sizes import size_words
from locklens.ui.spans import Line, Role, Span, counted, line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.review.model import Change, HashFact, Review, RootReview
    from locklens.workspace.events import ProvingPlanned

_BAR = 10
_LABEL = 36

Chosen = frozenset[tuple[str, "ProviderAddress"]]
"""Changes, each by lock file and provider."""


class Download(Struct, frozen=True):
    """One package on its way.

    Attributes:
        label: Provider, version and platform.
        began: When its first bytes came, in seconds of a clock that never goes back.
        received: Bytes so far.
        size: Bytes in all, None where nobody said it.
        ended: When it was hashed or given up; None before.
        problem: Why it was given up, "" where it was not.
    """

    label: str
    began: float
    received: int = 0
    size: int | None = None
    ended: float | None = None
    problem: str = ""


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


def download_lines(downloads: Collection[Download], now: float) -> Iterator[Line]:
    """A line for each package, in the order in which they began."""
    width = min(max((len(one.label) for one in downloads), default=0), _LABEL)
    for one in downloads:
        yield line(*_spans(one, width, now), hanging=2, copied=one.problem)


def _spans(one: Download, width: int, now: float) -> Iterator[Span]:
    yield Span(f"{one.label:<{width}}  ", Role.STRONG)
    if one.problem:
        yield Span("FAILED  ", Role.BLOCK)
        yield Span(one.problem)
        return
    seconds = max((one.ended if one.ended is not None else now) - one.began, 0.001)
    rate = f"{size_words(int(one.received / seconds))}/s"
    if one.ended is not None:
        yield Span("hashed  ", Role.GOOD)
        yield Span(f"{size_words(one.received)}  {rate}", Role.DIM)
    elif one.size:
        share = min(1.0, one.received / one.size)
        filled = int(share * _BAR)
        left = (one.size - one.received) * seconds / one.received if one.received else 0.0
        yield Span(f"{'#' * filled}{'.' * (_BAR - filled)} {int(share * 100):3} %  ", Role.INFO)
        yield Span(
            f"{size_words(one.received)} of {size_words(one.size)}  {rate}  {max(0, round(left))} s left", Role.DIM
        )
    else:
        yield Span(f"{size_words(one.received)}  {rate}", Role.DIM)


def outcome(before: Review, chosen: Chosen, found: Iterable[RootReview]) -> str:
    """Says what the downloads proved."""
    old = {fact.hash for change in _changes(before.roots, chosen) for fact in _open_h1(change)}
    still = {fact for change in _changes(found, chosen) for fact in (one.hash for one in _open_h1(change))}
    told = f"{len(old - still)} of {counted(len(old), 'h1', 'h1')} proven"
    return f"{told}; the findings say of the others" if still else told


def nothing_to_prove(review: Review, chosen: Chosen) -> str:
    """Says why there is nothing to download."""
    changes = list(_changes(review.roots, chosen))
    if not any(True for change in changes for _ in _open_h1(change)):
        return "nothing to prove here: every h1 is proven, or there is none"
    problems = [
        problem
        for change in changes
        if change.evidence is not None and (change.evidence.answer is not Answer.GIVEN or change.evidence.problems)
        for problem in change.evidence.problems
    ]
    return (
        f"nothing can be proven: {problems[0]}"
        if problems
        else "nothing can be proven: no signed package is left to hash"
    )


def _changes(roots: Iterable[RootReview], chosen: Chosen) -> Iterator[Change]:
    return (change for root in roots for change in root.changes if (root.lock_file, change.address) in chosen)


def _open_h1(change: Change) -> Iterator[HashFact]:
    return (fact for fact in change.locked if fact.hash.startswith("h1:") and not fact.is_explained)
