"""Head and status line of the Preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Role
from locklens.text import counted
from locklens.ui.preview.plan_pane import PlanStage, written_words
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from locklens.ui.preview.plan_pane import PlanProgress


def preview_head(standing: PlanProgress) -> tuple[BarLayout, ...]:
    """The head line: the operation, and that nothing is written yet."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("preview  ", Role.DIM))
    title = Piece(standing.title)
    done = standing.words.done
    state = f"being {done}" if standing.stage is PlanStage.WRITING else f"nothing {done} yet"
    right = (Piece(f" {state} ", Role.INFO),)
    return (
        BarLayout((*name, title), right),
        BarLayout((Piece(" preview  ", Role.DIM), title), right),
        BarLayout((Piece(" "), title), right),
    )


def preview_status(standing: PlanProgress, reason: str, message: str) -> tuple[BarLayout, ...]:
    """The status line: a message, or the readiness of the plan."""
    failed = len(standing.plan.failures) if standing.plan is not None else 0
    if message:
        shown = Piece(f" {message}", Role.STRONG)
    elif reason:
        shown = Piece(
            f" {reason}", Role.INFO if standing.stage in {PlanStage.PLANNING, PlanStage.REVIEWING} else Role.WARN
        )
    else:
        files = written_words(standing.plan) if standing.plan is not None else ""
        shown = Piece(f" ready: enter {standing.words.third} {files}", Role.GOOD)
    right = (Piece(f"  {counted(failed, 'failure')} ", Role.BLOCK),) if failed else ()
    safe = (*right, Piece("  esc cancels, nothing is written ", Role.DIM))
    return BarLayout((shown,), safe), BarLayout((shown,), right), BarLayout((shown,))
