"""Placeholders of a view's list: loading, an error, nothing to list, or no match of the filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, line

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.errors import LockLensError
    from locklens.review.model import Review


def placeholder(
    review: Review | None,
    error: LockLensError | None,
    *,
    narrowed: str,
    has_rows: bool,
    empty: Callable[[Review], tuple[Line, ...]],
) -> tuple[Line, ...]:
    """Return the lines that replace a list; () while the list is shown.

    Args:
        review: The review; None before the first one.
        error: The error of a failed load.
        narrowed: The filter's text.
        has_rows: True if the list has rows.
        empty: Returns the lines for a review with nothing to list.
    """
    if review is None:
        return _failed(error) if error is not None else (line(), line(Span("  Reading lock files …", Role.DIM)))
    if has_rows:
        return ()
    return _unmatched(narrowed) if narrowed else empty(review)


def one_sentence(words: str, *, is_final: bool = True) -> tuple[Line, ...]:
    """Return a placeholder of one sentence; dimmed while loading."""
    return line(), line(Span(f"  {words}", Role.STRONG if is_final else Role.DIM), hanging=2)


def _unmatched(text: str) -> tuple[Line, ...]:
    return (
        line(),
        line(Span("  Nothing matches the filter.", Role.STRONG)),
        line(),
        line("  ", Span(text, Role.PLACE), hanging=2),
        line(),
        line(Span("  esc clears the filter, / edits it, ? lists its fields", Role.DIM), hanging=2),
    )


def _failed(error: LockLensError) -> tuple[Line, ...]:
    hint = (line("  ", Span(error.hint, Role.PLAIN), hanging=2), line()) if error.hint else ()
    return (
        line(),
        line("  ", Span("Nothing to review", Role.BLOCK)),
        line(),
        line(f"  {error}", hanging=2),
        line(),
        *hint,
        line(Span("  r tries again, q quits", Role.DIM)),
    )
