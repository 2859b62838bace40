"""The list on the left of the screen of hashes: a line for each root and, below it, for each provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message import Message

from locklens.ui.hashes.rows import HashRow
from locklens.ui.text.spans import Role, Span, severity_span
from locklens.ui.widgets.row_list import RowList
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end, harmless

if TYPE_CHECKING:
    from textual import events

_LEAD = 4
_SEVERITY = 5
_COVER = 7
_PROOF = 10
_MOST_VERSION = 14


class HashList(RowList[HashRow]):
    """Roots and their providers, in the order of their paths and names."""

    @dataclass
    class Highlighted(Message):
        """Another row, or the same one with other content, is under the cursor; None where there are none."""

        row: HashRow | None

    @dataclass
    class Opened(Message):
        """The user wants to see a row's detail."""

        row: HashRow

    @dataclass
    class MarkToggled(Message):
        """The user clicked a row's mark."""

        row: HashRow

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._room = self._version_room = 0

    def tell_highlighted(self) -> None:
        """Says what is under the cursor."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Opens the row's detail."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def clicked(self, row: HashRow, event: events.Click) -> None:
        """Marks where the mark is, or opens the detail at the second click."""
        if event.x < _LEAD:
            self.post_message(self.MarkToggled(row))
        else:
            super().clicked(row, event)

    def lay_out(self, rows: tuple[HashRow, ...], width: int) -> None:
        """Leaves to the names what the other columns do not need."""
        self._version_room = min(max((len(row.version) for row in rows), default=0), _MOST_VERSION)
        self._room = max(0, width - _LEAD - _SEVERITY - self._version_room - 2 - _COVER - _PROOF)

    def painted(self, row: HashRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paints a root or a provider."""
        lead = [Span("> " if cursor else "  ", Role.STRONG), self._mark(row)]
        tail = 1 + _COVER + _PROOF
        if row.change is None:
            room = max(0, width - _LEAD - _SEVERITY - tail)
            name = harmless(row.name)
            shown = fitted_end(name, room) if cell_len(name) > room else fitted(name, room)
            heads = Span(f"{'cover':>{_COVER}}{'proof':>{_PROOF}}" if row.named else "", Role.DIM)
            return [*lead, Span(shown + " ", Role.HEADING), _severity(row), heads]
        return [
            *lead,
            Span(fitted(row.name, self._room), Role.PLAIN),
            Span(f" {fitted(row.version, self._version_room)} ", Role.DIM),
            _severity(row),
            Span(f"{row.cover.text:>{_COVER}}", row.cover.role),
            Span(f"{row.proof.text:>{_PROOF}}", row.proof.role),
        ]

    @staticmethod
    def _mark(row: HashRow) -> Span:
        if not row.chosen:
            return Span("· " if row.change is not None else "  ", Role.DIM)
        return Span("x " if row.chosen == len(row.named) else "- ", Role.STRONG)


def _severity(row: HashRow) -> Span:
    return severity_span(row.severity, width=_SEVERITY) if row.severity else Span(" " * _SEVERITY)
