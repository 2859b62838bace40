"""The list of the Hashes screen: a line for each locked entry, below its root or below those that several share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding
from textual.message import Message

from locklens.lines import Role, Span
from locklens.review.reports.words import severity_span
from locklens.ui.hashes.rows import HashRow
from locklens.ui.widgets.row_list import RowList, fold_marker
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end, harmless

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType

_LEAD = 6
_MARK = slice(4, 6)
_SEVERITY = 6
_COVER = 9
_PROOF = 11
_PACKAGES = 12
_PACKAGES_FROM_WIDTH = 76
"""Narrower lists have no room for the verdict on packages; the detail and the head have it."""
_MOST_VERSION = 14
_MOST_CONSTRAINTS = 30
_CONSTRAINTS_FROM = 90


class HashList(RowList[HashRow]):
    """Entries that several roots share, and roots with their own, in the order of their names and paths."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "fold(True)", "Fold", show=False),
        Binding("l,right", "fold(False)", "Unfold", show=False),
    ]

    @dataclass
    class Highlighted(Message):
        """Another row, or changed content, is highlighted; None for an empty list."""

        row: HashRow | None

    @dataclass
    class Opened(Message):
        """The detail of a row is requested."""

        row: HashRow

    @dataclass
    class Turned(Message):
        """The user folded or unfolded a row."""

        row: HashRow

    @dataclass
    class MarkToggled(Message):
        """The user clicked a row's mark."""

        row: HashRow

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._room = self._version_room = self._constraints_room = self._packages_room = 0

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Open the row's detail."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def action_fold(self, folded: bool) -> None:
        """Fold or unfold the highlighted row; folding a row without a fold goes to its parent."""
        row = self.current
        if row is None:
            return
        if row.folded is (not folded):
            self.post_message(self.Turned(row))
        elif folded and row.depth:
            self.cursor = next(index for index in range(self.cursor, -1, -1) if self._rows[index].depth < row.depth)

    def clicked(self, row: HashRow, event: events.Click) -> None:
        """Fold at the fold marker, mark at the mark; a double click elsewhere opens the detail."""
        if event.x < _MARK.start and row.folded is not None:
            self.post_message(self.Turned(row))
        elif event.x < _MARK.stop:
            self.post_message(self.MarkToggled(row))
        else:
            super().clicked(row, event)

    def is_heading(self, row: HashRow) -> bool:
        """True for a root whose providers are listed below it."""
        return row.change is None and bool(row.named)

    def lay_out(self, rows: tuple[HashRow, ...], width: int) -> None:
        """Give the names the width that the other columns leave; the constraints what wide screens have left."""
        longest = max((len(row.version) for row in rows), default=0)
        self._version_room = max(min(longest, _MOST_VERSION), len("version"))
        is_compared = any(row.packages.text for row in rows)
        self._packages_room = _PACKAGES if is_compared and width >= _PACKAGES_FROM_WIDTH else 0
        room = width - _LEAD - _SEVERITY - self._version_room - 2 - _COVER - _PROOF - self._packages_room
        self._constraints_room = 0
        if width >= _CONSTRAINTS_FROM:
            names = max((cell_len(_name(row)) for row in rows if row.depth == 1), default=0)
            wanted = max((len(row.constraints) + 1 for row in rows), default=0)
            self._constraints_room = max(0, min(room - names, wanted, _MOST_CONSTRAINTS))
        self._room = max(0, room - self._constraints_room)

    def titles(self, width: int) -> StyledPiece:
        """Name the columns."""
        del width
        name = " " * (_LEAD + _SEVERITY) + fitted("provider", self._room)
        constraints = fitted("constraints", self._constraints_room)
        packages = f"{'packages':>{_PACKAGES}}" if self._packages_room else ""
        titles = f"{'coverage':>{_COVER}}{'unverified':>{_PROOF}}{packages}"
        return [Span(f"{name} {fitted('version', self._version_room)} {constraints}{titles}", Role.DIM)]

    def painted(self, row: HashRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a section, an entry, or a root of it."""
        lead = [
            Span(">" if cursor else " ", Role.STRONG),
            Span(f"{' ' if row.depth else ''}{fold_marker(folded=row.folded)} ".ljust(_MARK.start - 1), Role.DIM),
            self._mark(row),
            severity_span(row.severity, width=_SEVERITY) if row.severity else Span(" " * _SEVERITY),
        ]
        if not row.depth:
            note = f"  +{row.shared} shared" if row.shared else ""
            room = max(0, width - _LEAD - _SEVERITY - len(note))
            shown = fitted_end(row.name, min(room, cell_len(harmless(row.name))))
            return [*lead, Span(shown, Role.HEADING), Span(note, Role.DIM)]
        number = f" ×{len(row.subjects)}" if row.folded is not None else ""
        indent = "  " if row.depth > 1 else ""
        name = fitted_end(row.name, self._room - len(indent) - len(number))
        if number:
            name = f"{name.rstrip()}{number}".ljust(self._room)
        return [
            *lead,
            Span(f"{indent}{name}", Role.PLACE if row.depth > 1 else Role.PLAIN),
            Span(f" {fitted(row.version, self._version_room)} ", Role.DIM),
            Span(fitted(row.constraints, self._constraints_room), Role.DIM),
            Span(f"{row.cover.text:>{_COVER}}", row.cover.role),
            Span(f"{row.proof.text:>{_PROOF}}", row.proof.role),
            Span(f"{row.packages.text:>{self._packages_room}}" if self._packages_room else "", row.packages.role),
        ]

    @staticmethod
    def _mark(row: HashRow) -> Span:
        if not row.marked:
            return Span("· " if row.depth else "  ", Role.DIM)
        return Span("x " if row.marked == len(row.subjects) else "- ", Role.STRONG)


def _name(row: HashRow) -> str:
    """The name of an entry with the number of its roots, as painted."""
    return harmless(row.name) + (f" ×{len(row.subjects)}" if row.folded is not None else "")
