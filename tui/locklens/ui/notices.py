"""What stands on the screen where there is no list: loading, an error, no changes, a filter that matches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.sentences import nothing_changed
from locklens.ui.spans import Line, Role, Span, counted, line

if TYPE_CHECKING:
    from locklens.errors import LockLensError
    from locklens.review.model import Review
    from locklens.ui.filters import Filter


def notice_lines(
    review: Review | None, error: LockLensError | None, *, narrowed: Filter, has_rows: bool
) -> tuple[Line, ...]:
    """Returns what to show instead of the list; () where the list is to be shown."""
    if review is None:
        return _failed(error) if error is not None else (line(), line(Span("  Reading lock files …", Role.DIM)))
    if has_rows:
        return ()
    if narrowed.text:
        return _unmatched(narrowed.text)
    return _empty(review)


def locked_notice(
    review: Review | None, error: LockLensError | None, *, narrowed: str, has_rows: bool
) -> tuple[Line, ...]:
    """Returns what to show instead of a list of what is locked; () where that is to be shown."""
    if review is None:
        return _failed(error) if error is not None else (line(), line(Span("  Reading lock files …", Role.DIM)))
    if has_rows:
        return ()
    return _unmatched(narrowed) if narrowed else (line(), line(Span("  No provider is locked here.", Role.STRONG)))


def upgrade_notice(
    review: Review | None, error: LockLensError | None, *, narrowed: str, has_rows: bool
) -> tuple[Line, ...]:
    """Returns what to show instead of the list of upgrades; () where that is to be shown."""
    if review is None:
        return _failed(error) if error is not None else (line(), line(Span("  Reading lock files …", Role.DIM)))
    if has_rows:
        return ()
    if narrowed:
        return _unmatched(narrowed)
    if any(root.configuration is None for root in review.roots):
        return (line(), line(Span("  Reading configurations …", Role.DIM)))
    return (
        line(),
        line(Span("  Nothing is locked or required here, so there is nothing to upgrade.", Role.STRONG), hanging=2),
    )


def _unmatched(text: str) -> tuple[Line, ...]:
    return (
        line(),
        line(Span("  Nothing matches the filter.", Role.STRONG)),
        line(),
        line("  ", Span(text, Role.PLACE), hanging=2),
        line(),
        line(Span("  esc clears it, / changes it, ? explains its words", Role.DIM), hanging=2),
    )


def _empty(review: Review) -> tuple[Line, ...]:
    locks = counted(len(review.roots), "lock file")
    return (
        line(),
        line(Span(f"  {nothing_changed(review)}", Role.STRONG), hanging=2),
        line(),
        line(f"  {locks} looked at, {len(review.findings)} findings.", hanging=2),
        line(),
        line(Span("  r reads again; a change on disk is noticed by itself. q quits.", Role.DIM), hanging=2),
    )


def _failed(error: LockLensError) -> tuple[Line, ...]:
    hint = (line("  ", Span(error.hint, Role.PLAIN), hanging=2), line()) if error.hint else ()
    return (
        line(),
        line("  ", Span("There is nothing to review", Role.BLOCK)),
        line(),
        line(f"  {error}", hanging=2),
        line(),
        *hint,
        line(Span("  r tries again, q quits", Role.DIM)),
    )
