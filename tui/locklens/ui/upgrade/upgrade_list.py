"""The list of the Upgrade screen: a line for each provider, and for each root of an unfolded one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message

from locklens.lines import Role, Span
from locklens.ui.upgrade.columns import COLUMNS, LaidOutColumns
from locklens.ui.upgrade.rows import RowKind, UpgradeRow
from locklens.ui.widgets.row_list import RowList, fold_marker
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType

_LEAD, _MARK = 3, 4


class UpgradeList(RowList[UpgradeRow]):
    """The providers by section."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h", "fold", "Fold", show=False),
        Binding("l", "unfold", "Unfold", show=False),
        Binding("left", "screen.version(-1)", "Older version", show=False),
        Binding("right", "screen.version(1)", "Newer version", show=False),
    ]

    @dataclass
    class Highlighted(Message):
        """Another row, or changed content, is highlighted; None for an empty list."""

        row: UpgradeRow | None

    @dataclass
    class Opened(Message):
        """The detail of a row is requested."""

        row: UpgradeRow

    @dataclass
    class Turned(Message):
        """Folding or unfolding of a group is requested."""

        row: UpgradeRow

    @dataclass
    class MarkToggled(Message):
        """The mark of a row was clicked."""

        row: UpgradeRow

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Open the row's detail."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def action_unfold(self) -> None:
        """Show a group's roots."""
        if self.current is not None and self.current.is_folded:
            self.post_message(self.Turned(self.current))

    def action_fold(self) -> None:
        """Hide a group's roots; on one of them, go to the group."""
        row = self.current
        if row is None:
            return
        if row.is_folded is False:
            self.post_message(self.Turned(row))
        elif row.depth:
            above = (index for index in range(self.cursor - 1, -1, -1) if self.rows[index].depth < row.depth)
            self.cursor = next(above, self.cursor)

    def go_to_warned(self, by: int) -> bool:
        """Go to the next (1) or previous (-1) row with a warning, cyclically; return False if there is none."""
        warned = [index for index, row in enumerate(self.rows) if row.is_warned]
        ahead = [index for index in warned if (index - self.cursor) * by > 0]
        if warned:
            self.cursor = (ahead or warned)[0 if by > 0 else -1]
        return bool(warned)

    def go_to_section(self, by: int) -> None:
        """Go to the next (1) or previous (-1) section, if there is one."""
        here = self.cursor
        ahead = [index for index, row in enumerate(self.rows) if not row.depth and (index - here) * by > 0]
        if ahead:
            self.cursor = ahead[0] if by > 0 else ahead[-1]

    def show_cursor(self) -> None:
        """Scroll to the cursor, and to the section line just above it."""
        above = self.rows[self.cursor - 1] if 0 < self.cursor < len(self.rows) else None
        more = 1 if above is not None and above.kind is RowKind.SECTION else 0
        self.scroll_to_region(Region(0, self.cursor - more, 1, 1 + more), animate=False, force=True)

    def clicked(self, row: UpgradeRow, event: events.Click) -> None:
        """Select on the mark, unfold on the fold marker; a second click opens the detail."""
        left = _LEAD + 2 * max(0, row.depth - 1)
        if row.offers and row.depth and left <= event.x < left + 3:
            self.post_message(self.MarkToggled(row))
        elif row.is_folded is not None and event.x < left:
            self.post_message(self.Turned(row))
        else:
            super().clicked(row, event)

    def is_heading(self, row: UpgradeRow) -> bool:
        """True for a section."""
        return row.kind is RowKind.SECTION

    def lay_out(self, rows: tuple[UpgradeRow, ...], width: int) -> None:
        """Share the width among the name and the columns."""
        body = [row for row in rows if row.depth]
        self._columns = LaidOutColumns.fitting(COLUMNS, body, width, lead=_LEAD + _MARK)

    def titles(self, width: int) -> StyledPiece:
        """Name the columns."""
        del width
        room = _LEAD + _MARK + self._columns.name
        return [Span(fitted(" " * (_LEAD + _MARK) + "provider", room), Role.DIM), *self._columns.painted_titles()]

    def painted(self, row: UpgradeRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint the mark, the name, and the columns."""
        lead = Span(f"{'>' if cursor else ' '}{fold_marker(folded=row.is_folded)} ", Role.STRONG)
        if row.kind is RowKind.SECTION:
            return [lead, Span(fitted(row.title, max(0, width - _LEAD)), Role.HEADING)]
        if row.kind is RowKind.REFUSED:
            room = max(0, width - _LEAD - _MARK - self._columns.name - 1)
            title = Span(fitted_end(row.title, self._columns.name))
            return [
                lead,
                Span(f"{row.mark} ", Role.DIM),
                title,
                Span(" "),
                Span(fitted(row.note.text, room), Role.WARN),
            ]
        indent = "  " * (row.depth - 1)
        name = fitted_end(row.title, self._columns.name - len(indent))
        return [
            lead,
            Span(f"{indent}{row.mark} ", Role.GOOD if row.mark == "[x]" else Role.PLAIN),
            Span(name, Role.PLACE if row.depth > 1 else Role.PLAIN),
            *self._columns.painted(row),
        ]
