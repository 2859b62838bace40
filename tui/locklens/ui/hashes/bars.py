"""What the bars and the panel of the screen of hashes say. Builds layouts from values; draws nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.cover import source_words
from locklens.text import counted
from locklens.ui.shell.bars import fact_line, joined_parts, registry_lines
from locklens.ui.text.phrases import registries_in_short
from locklens.ui.text.spans import Line, Role, Span
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.review.model import Review
    from locklens.ui.shell.bars import Reading


def hashes_head(review: Review | None) -> tuple[BarLayout, ...]:
    """The first line: how much is locked, and how much of it nothing explains."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("hashes", Role.DIM))
    if review is None:
        return (BarLayout(name),)
    changes = [change for root in review.roots for change in root.changes if change.new is not None]
    facts = [fact for change in changes for fact in change.locked]
    open_ones = sum(not fact.is_explained for fact in facts)
    short = sum(any(one.rule == "LK009" for one in change.findings) for change in changes)
    counts = [Piece(f"  {counted(len(facts), 'hash', 'hashes')}")]
    counts.append(Piece(f"  {open_ones} not proven", Role.WARN if open_ones else Role.DIM, "only('not-proven')"))
    if review.policy.platforms:
        counts.append(Piece(f"  {short} not covered", Role.WARN if short else Role.DIM, "only('not-covered')"))
    counts.append(Piece(" "))
    locks = f"{counted(len(changes), 'provider')} in {counted(len(review.roots), 'lock file')}"
    return (
        BarLayout((*name, Piece(f"  {locks}")), tuple(counts)),
        BarLayout((Piece(" hashes", Role.DIM), Piece(f"  {counted(len(changes), 'provider')}")), tuple(counts)),
        BarLayout(tuple(counts)),
    )


def hashes_status(
    review: Review | None, progress: Reading, *, marked: int, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The line above the keys."""
    parts: list[Piece] = []
    if marked:
        parts.append(Piece(f"{counted(marked, 'provider')} marked", Role.STRONG))
    if progress.words:
        parts.append(Piece(progress.words, Role.INFO))
    elif review is not None:
        parts.append(Piece(registries_in_short(review) or "all registries answered", Role.DIM))
    if review is not None and review.notes:
        parts.append(Piece(counted(len(review.notes), "note"), Role.WARN))
    if is_narrowed:
        parts.append(Piece("filtered", Role.WARN))
    standing = joined_parts(parts)
    if message:
        told = Piece(f" {message}", Role.STRONG)
        return BarLayout((told,), (Piece("  "), *standing, Piece(" "))), BarLayout((told,))
    wanted = _wanted_in_short(review)
    return BarLayout((Piece(" "), *standing), (Piece(wanted, Role.DIM),)), BarLayout((Piece(" "), *standing))


def _wanted_in_short(review: Review | None) -> str:
    if review is None:
        return ""
    number = len(review.policy.platforms)
    return f"{counted(number, 'wanted platform')} " if number else "no platform is wanted in particular "


def hashes_facts(review: Review, progress: Reading) -> Iterator[Line]:
    """The panel below the list: what is wanted, on which paths, and of whom it was asked."""
    policy = review.policy
    if not policy.platforms:
        yield fact_line("wanted platforms", Span("none in particular: ? says how to name them", Role.DIM))
    for number, one in enumerate(policy.platforms):
        yield fact_line(
            "" if number else "wanted platforms", Span(f"{one.platform!s:<14}"), Span(f" {one.why}", Role.DIM)
        )
    paths = ", ".join(f"{path.value}{' (h1 alone)' if path.needs_h1 else ''}" for path in policy.paths_in_order)
    yield fact_line("install paths", Span(paths))
    yield fact_line("policy", Span(source_words(review), Role.DIM))
    yield from registry_lines(review, progress)
