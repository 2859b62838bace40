"""The list of the Hashes screen: a line for each root and, below it, for each provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message import Message

from locklens.review.reports.lines import Role, Span, severity_span
from locklens.ui.hashes.rows import HashRow
from locklens.ui.widgets.row_list import RowList
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end, harmless

if TYPE_CHECKING:
    from textual import events

_LEAD = 4
_SEVERITY = 5
_COVER = 8
_PROOF = 11
_PACKAGES = 12
_PACKAGES_FROM_WIDTH = 76
"""Narrower lists have no room for the verdict on packages; the detail and the head have it."""
_MOST_VERSION = 14
_TITLED_FROM_WIDTH = 64
"""Narrower lists have no room for the title of short versions: names come first."""


class HashList(RowList[HashRow]):
    """Roots and their providers, in the order of their paths and names."""

    @dataclass
    class Highlighted(Message):
        """Another row, or changed content, is highlighted; None for an empty list."""

        row: HashRow | None

    @dataclass
    class Opened(Message):
        """The detail of a row is requested."""

        row: HashRow

    @dataclass
    class MarkToggled(Message):
        """The user clicked a row's mark."""

        row: HashRow

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._room = self._version_room = self._packages_room = 0

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Open the row's detail."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def clicked(self, row: HashRow, event: events.Click) -> None:
        """Toggle the mark, or open the detail at the second click."""
        if event.x < _LEAD:
            self.post_message(self.MarkToggled(row))
        else:
            super().clicked(row, event)

    def is_heading(self, row: HashRow) -> bool:
        """True for a root whose providers are listed below it."""
        return row.change is None and bool(row.named)

    def lay_out(self, rows: tuple[HashRow, ...], width: int) -> None:
        """Give the names the width that the other columns leave."""
        least = len("version") if width >= _TITLED_FROM_WIDTH else 0
        self._version_room = min(max((len(row.version) for row in rows), default=0), _MOST_VERSION)
        self._version_room = max(self._version_room, least)
        is_compared = any(row.packages.text for row in rows)
        self._packages_room = _PACKAGES if is_compared and width >= _PACKAGES_FROM_WIDTH else 0
        tail = _COVER + _PROOF + self._packages_room
        self._room = max(0, width - _LEAD - _SEVERITY - self._version_room - 2 - tail)

    def painted(self, row: HashRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a root or a provider."""
        lead = [Span("> " if cursor else "  ", Role.STRONG), self._mark(row)]
        tail = 1 + _COVER + _PROOF + self._packages_room
        packages = f"{'packages':>{_PACKAGES}}" if self._packages_room else ""
        if row.change is None:
            room = max(0, width - _LEAD - _SEVERITY - tail)
            name = harmless(row.name)
            shown = fitted_end(name, room) if cell_len(name) > room else fitted(name, room)
            heads = Span(f"{'coverage':>{_COVER}}{'proof':>{_PROOF}}{packages}" if row.named else "", Role.DIM)
            if row.named and cell_len(name) <= self._room and self._version_room >= len("version"):
                title = Span(f" {fitted('version', self._version_room)} ", Role.DIM)
                return [*lead, Span(fitted(name, self._room), Role.HEADING), title, _severity(row), heads]
            return [*lead, Span(shown + " ", Role.HEADING), _severity(row), heads]
        return [
            *lead,
            Span(fitted_end(row.name, self._room), Role.PLAIN),
            Span(f" {fitted(row.version, self._version_room)} ", Role.DIM),
            _severity(row),
            Span(f"{row.cover.text:>{_COVER}}", row.cover.role),
            Span(f"{row.proof.text:>{_PROOF}}", row.proof.role),
            Span(f"{row.packages.text:>{self._packages_room}}" if self._packages_room else "", row.packages.role),
        ]

    @staticmethod
    def _mark(row: HashRow) -> Span:
        if not row.marked:
            return Span("· " if row.change is not None else "  ", Role.DIM)
        return Span("x " if row.marked == len(row.named) else "- ", Role.STRONG)


def _severity(row: HashRow) -> Span:
    return severity_span(row.severity, width=_SEVERITY) if row.severity else Span(" " * _SEVERITY)
