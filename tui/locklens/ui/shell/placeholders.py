"""What a view shows instead of its list: loading, an error, nothing to list, or a filter that matches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.text.spans import Line, Role, Span, line

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
    """Returns what to show instead of a list; () where the list is to be shown.

    Args:
        review: What is shown; None before anything was read.
        error: Why nothing could be read.
        narrowed: The filter's text.
        has_rows: Whether the list has rows.
        empty: The lines for a review that has nothing to list.
    """
    if review is None:
        return _failed(error) if error is not None else (line(), line(Span("  Reading lock files …", Role.DIM)))
    if has_rows:
        return ()
    return _unmatched(narrowed) if narrowed else empty(review)


def one_sentence(words: str, *, is_final: bool = True) -> tuple[Line, ...]:
    """Returns the lines of a placeholder that is one sentence; dimmed while more is on its way."""
    return line(), line(Span(f"  {words}", Role.STRONG if is_final else Role.DIM), hanging=2)


def _unmatched(text: str) -> tuple[Line, ...]:
    return (
        line(),
        line(Span("  Nothing matches the filter.", Role.STRONG)),
        line(),
        line("  ", Span(text, Role.PLACE), hanging=2),
        line(),
        line(Span("  esc clears it, / changes it, ? explains its words", Role.DIM), hanging=2),
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
