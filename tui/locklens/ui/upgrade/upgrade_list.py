"""The list of the Upgrade screen: a line for each provider, and for each root of an unfolded one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message

from locklens.ui.text.spans import Role, Span
from locklens.ui.upgrade.rows import RowKind, UpgradeRow
from locklens.ui.widgets.row_list import RowList
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual import events
    from textual.binding import BindingType

_LEAD, _MARK = 2, 4
_VERSION_LEAST, _VERSION_MOST = 8, 12
_AGE, _BUMP, _SIGNER = 4, 5, 13
_NAME_LEAST, _NAME_MOST = 18, 34
_NOTE_TITLES = ("held back by", "held by")
_IN_RANGE_FROM_WIDTH = 96
_SIGNER_FROM_WIDTH = 92
"""On narrower screens the last column shows a change of signer."""


class UpgradeList(RowList[UpgradeRow]):
    """The providers by section; section lines carry the column titles."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h", "fold", "Fold", show=False),
        Binding("l", "unfold", "Unfold", show=False),
        Binding("left", "version(-1)", "Older version", show=False),
        Binding("right", "version(1)", "Newer version", show=False),
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
    class Stepped(Message):
        """A newer (1) or older (-1) version is requested."""

        by: int

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

    def action_version(self, by: int) -> None:
        """Request another version."""
        self.post_message(self.Stepped(by))

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

    def show_cursor(self) -> None:
        """Scroll to the cursor, and to the section line just above it: it has the column titles."""
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

    def lay_out(self, rows: tuple[UpgradeRow, ...], width: int) -> None:
        """Share the width: the name takes its need, the last column the rest."""
        body = [row for row in rows if row.depth]
        self._version_width = _longest((text for row in body for text in (row.locked, row.newest)), _VERSION_LEAST)
        self._target_width = _longest((row.target.text for row in body), _VERSION_LEAST)
        self._has_in_range = width >= _IN_RANGE_FROM_WIDTH
        self._has_signer = width >= _SIGNER_FROM_WIDTH
        columns = [self._version_width, self._target_width, self._version_width, _AGE, _BUMP]
        columns += [self._version_width] if self._has_in_range else []
        columns += [_SIGNER] if self._has_signer else []
        room = width - _LEAD - _MARK - sum(columns) - len(columns) - 1
        names = max((len(row.title) + 2 * (row.depth - 1) for row in body), default=0)
        self._name_width = max(_NAME_LEAST, min(names, _NAME_MOST, room * 2 // 3))
        self._note_width = max(0, room - self._name_width)

    def painted(self, row: UpgradeRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint mark, name, versions, age, kind of step, signer, and the note."""
        lead = Span("> " if cursor else "  ", Role.STRONG)
        if row.kind is RowKind.SECTION:
            return [lead, *self._section(row)]
        if row.kind is RowKind.REFUSED:
            room = max(0, width - _LEAD - _MARK - self._name_width - 1)
            title = Span(fitted_end(row.title, self._name_width))
            return [
                lead,
                Span(f"{row.mark} ", Role.DIM),
                title,
                Span(" "),
                Span(fitted(row.note.text, room), Role.WARN),
            ]
        indent = "  " * (row.depth - 1)
        if row.is_folded is not None:
            lead = Span("> " if cursor else "+ " if row.is_folded else "v ", Role.STRONG)
        name = fitted_end(row.title, self._name_width - len(indent))
        return [
            lead,
            Span(f"{indent}{row.mark} ", Role.GOOD if row.mark == "[x]" else Role.PLAIN),
            Span(name, Role.PLACE if row.depth > 1 else Role.PLAIN),
            *self._cells(row),
        ]

    def _section(self, row: UpgradeRow) -> list[Span]:
        titles = UpgradeRow(
            RowKind.SECTION,
            "",
            "",
            locked="locked",
            target=Span("target", Role.DIM),
            in_range="in range",
            newest="newest",
            age=Span("age", Role.DIM),
            bump=Span("kind", Role.DIM),
            signer=Span("signer", Role.DIM),
            note=Span(next((title for title in _NOTE_TITLES if len(title) <= self._note_width), ""), Role.DIM),
        )
        room = _MARK + self._name_width
        if len(row.title) > room:
            return [Span(row.title, Role.HEADING)]
        return [
            Span(fitted(row.title, room), Role.HEADING),
            *(Span(cell.text, Role.DIM) for cell in self._cells(titles)),
        ]

    def _cells(self, row: UpgradeRow) -> list[Span]:
        version = self._version_width
        spans = [
            Span(f" {fitted(row.locked, version)}"),
            Span(f" {fitted(row.target.text, self._target_width)}", row.target.role),
        ]
        if self._has_in_range:
            spans.append(Span(f" {fitted(row.in_range, version)}", Role.DIM))
        spans.append(Span(f" {fitted(row.newest, version)}", Role.DIM))
        spans.append(Span(f" {row.age.text:>{_AGE}}", row.age.role))
        spans.append(Span(f" {fitted(row.bump.text, _BUMP)}", row.bump.role))
        if self._has_signer:
            spans.append(Span(f" {fitted(row.signer.text, _SIGNER)}", row.signer.role))
        spans.append(Span(f" {fitted(row.note.text, self._note_width)}", row.note.role))
        return spans


def _longest(texts: Iterable[str], least: int) -> int:
    return max(least, min(_VERSION_MOST, max(map(len, texts), default=0)))
