"""What stands on the screen where there is no list: loading, an error, no changes, a filter that matches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import counted
from locklens.ui.text.phrases import nothing_changed
from locklens.ui.text.spans import Line, Role, Span, line

if TYPE_CHECKING:
    from locklens.errors import LockLensError
    from locklens.review.model import Review
    from locklens.ui.review.filter import Filter


_ELSEWHERE = {
    "2": "what could be upgraded, and what holds it back",
    "3": "which platforms the locked hashes do for, and what proves them",
    "4": "who signed what is locked",
}
"""What the other screens show where nothing changed."""


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
    if review.lock_files:
        are = "is" if review.lock_files == 1 else "are"
        told = f"{counted(review.lock_files, 'lock file')} {are} as before, and so is what they are held against."
    else:
        told = "There is no lock file here: `terraform init`, `tofu init` and `locklens lock` write one."
    others = [(tab, words) for tab, words in _ELSEWHERE.items() if review.lock_files]
    return (
        line(),
        line(Span(f"  {nothing_changed(review)}", Role.STRONG), hanging=2),
        line(),
        line(f"  {told}", hanging=2),
        line(),
        *(line(Span(f"  {tab}  ", Role.INFO), words, hanging=5) for tab, words in others),
        *([line()] if others else []),
        line(
            "  locklens review origin/main compares with another revision, --merge-base as a pull request does.",
            hanging=2,
        ),
        line(
            Span("  r reads again; a change on disk is noticed by itself. q quits, ? lists the keys.", Role.DIM),
            hanging=2,
        ),
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
