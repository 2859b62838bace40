"""Head and status line of the Doctor screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.report_text import asked_words, is_clean, ruled_out_words, tally
from locklens.lines import Role
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from locklens.doctor.model import Diagnosis


def doctor_head(diagnosis: Diagnosis | None) -> tuple[BarLayout, ...]:
    """The head line: the provider, the certainty, and how many causes are ruled out."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("doctor", Role.DIM))
    if diagnosis is None or not diagnosis.is_recognised:
        return (BarLayout(name),)
    certainty = "OK" if is_clean(diagnosis) else str(diagnosis.certainty)
    state = Piece(f"{certainty} ", Role.STRONG)
    named = (*name, Piece(f"  {diagnosis.examined}"))
    ruled_out = Piece(f"{ruled_out_words(diagnosis)}  ")
    return (
        BarLayout(named, (Piece(f"{tally(diagnosis)}  "), state)),
        BarLayout(named, (ruled_out, state)),
        BarLayout(named, (state,)),
    )


def doctor_status(diagnosis: Diagnosis | None, *, is_working: bool, message: str) -> tuple[BarLayout, ...]:
    """The status line above the keys."""
    asked = "" if diagnosis is None else asked_words(diagnosis)
    state = "testing each cause …" if is_working else asked
    shown = Piece(f" {message or state}", Role.STRONG if message else Role.DIM)
    return BarLayout((shown,), (Piece("read only until a fix is applied on its Preview ", Role.DIM),)), BarLayout(
        (shown,)
    )
