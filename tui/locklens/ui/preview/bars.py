"""Head and status line of the Preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import counted
from locklens.ui.preview.plan_pane import PlanStage
from locklens.ui.text.spans import Role
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from locklens.ui.preview.plan_pane import PlanProgress


def preview_head(standing: PlanProgress) -> tuple[BarLayout, ...]:
    """The first line of the Preview: what is wanted, and that nothing is written."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("preview  ", Role.DIM))
    title = Piece(standing.title)
    done = standing.words.done
    state = f"being {done}" if standing.stage is PlanStage.WRITING else f"nothing {done} yet"
    right = (Piece(f" {state} ", Role.INFO),)
    return (
        BarLayout((*name, title), right),
        BarLayout((Piece(" preview  ", Role.DIM), title), right),
        BarLayout((*right, title)),
    )


def preview_status(standing: PlanProgress, reason: str, message: str) -> tuple[BarLayout, ...]:
    """The line above the keys of the Preview: a message, or whether it can be applied."""
    failed = len(standing.plan.failures) if standing.plan is not None else 0
    if message:
        told = Piece(f" {message}", Role.STRONG)
    elif reason:
        told = Piece(
            f" {reason}", Role.INFO if standing.stage in {PlanStage.PLANNING, PlanStage.REVIEWING} else Role.WARN
        )
    else:
        files = counted(len(standing.plan.proposal.files), "file") if standing.plan is not None else ""
        told = Piece(f" ready: enter {standing.words.third} {files}", Role.GOOD)
    right = (Piece(f"  {counted(failed, 'failure')} ", Role.BLOCK),) if failed else ()
    safe = (*right, Piece("  esc leaves nothing behind ", Role.DIM))
    return BarLayout((told,), safe), BarLayout((told,), right), BarLayout((told,))
