"""The list of the Doctor screen: a line for each cause and each fix."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from locklens.lines import Role, Span
from locklens.ui.doctor.rows import DoctorRow
from locklens.ui.widgets.row_list import RowList
from locklens.ui.widgets.strips import StyledPiece, fitted

_STATE = 7


class DoctorList(RowList[DoctorRow]):
    """Causes and fixes."""

    @dataclass
    class Highlighted(Message):
        """Another row, or changed content, is highlighted; None for an empty list."""

        row: DoctorRow | None

    @dataclass
    class Opened(Message):
        """The detail of a cause, or the Preview of a fix, is requested."""

        row: DoctorRow

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Open the highlighted row."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def lay_out(self, rows: tuple[DoctorRow, ...], width: int) -> None:
        """Give the title the width that the state leaves."""
        del rows
        self._room = max(0, width - 2 - _STATE)

    def titles(self, width: int) -> StyledPiece:
        """Name the columns."""
        del width
        return [Span(f"  {'holds':<{_STATE}}cause, or fix", Role.DIM)]

    def painted(self, row: DoctorRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint state and title."""
        del width
        return [
            Span("> " if cursor else "  ", Role.STRONG),
            Span(f"{row.state.text:<{_STATE}}", row.state.role),
            Span(fitted(row.title.text, self._room), row.title.role),
        ]
