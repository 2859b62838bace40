"""The placeholder of the Review screen without changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, line
from locklens.text import counted
from locklens.ui.text.phrases import nothing_changed
from locklens.ui.views import REVIEW, VIEWS

if TYPE_CHECKING:
    from locklens.review.model import Review

_OTHER_SIDES = "  B selects another base or head, also since their common ancestor, as a pull request compares."


def nothing_to_review(review: Review) -> tuple[Line, ...]:
    """Return the compared sides, and pointers to the other views and commands."""
    if review.lock_files:
        configurations = "their configurations" if review.lock_files > 1 else "its configuration"
        sentence = f"{counted(review.lock_files, 'lock file')} and {configurations} are unchanged."
    else:
        sentence = "No lock file here: `terraform init`, `tofu init` and `locklens lock` write one."
    is_watched = review.head.kind in {"worktree", "index"}
    reload = "reloads when files change; r reloads now" if is_watched else "r reloads"
    others = [view for view in VIEWS if view != REVIEW and review.lock_files]
    return (
        line(),
        line(Span(f"  {nothing_changed(review)}", Role.STRONG), hanging=2),
        line(),
        line(f"  {sentence}", hanging=2),
        line(),
        *(line(Span(f"  {view.key}  ", Role.INFO), view.about, hanging=5) for view in others),
        *([line()] if others else []),
        *([] if review.head.kind == "file" else [line(_OTHER_SIDES, hanging=2)]),
        line(Span(f"  {reload}, q quits, ? lists the keys", Role.DIM), hanging=2),
    )
