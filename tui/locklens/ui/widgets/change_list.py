"""The list on the left: paints rows, moves a cursor over them and says what was done to which. Owns the cursor only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from locklens.ui.outline import Node, NodeKind
from locklens.ui.rows import Mark, Row
from locklens.ui.spans import Role, Span, severity_span
from locklens.ui.widgets.strips import Painted, fitted, fitted_end, harmless, strip_of

if TYPE_CHECKING:
    from textual import events

_LEAD = 15
"""Columns before the name: cursor, fold, mark, severity, sign."""

_REST = 9
"""Columns that names leave for what follows the versions."""

_MARK_ROLES = {Mark.ALL: Role.GOOD, Mark.SOME: Role.GOOD, Mark.OPEN: Role.DIM, Mark.NONE_POSSIBLE: Role.DIM}


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide the columns after the lead are; what is left belongs to the last one."""

    name: int
    phrase: int
    rest: int

    @classmethod
    def fitting(cls, rows: tuple[Row, ...], width: int) -> Columns:
        """Shares the width: name and versions get what their texts need, within bounds."""
        plain = [row for row in rows if row.node.kind in {NodeKind.CHANGE, NodeKind.GROUP, NodeKind.CONFLICT}]
        room = max(0, width - _LEAD)
        phrase = min(max((len(row.phrase) for row in plain), default=0), max(room * 2 // 5, 10))
        name = max((len(row.name) for row in plain), default=0)
        rest = min(max((len(row.where) for row in plain), default=0) or _REST, _REST)
        name = max(min(name, room - phrase - rest - 2), min(name, 12))
        return cls(name, phrase, max(0, room - name - phrase - 2))


class ChangeList(ScrollView, can_focus=True):
    """The rows of a review, one line each. Only the rows in sight are painted, so their number does not matter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "step(1)", "Next row", show=False),
        Binding("k,up", "step(-1)", "Previous row", show=False),
        Binding("g,home", "edge(0)", "Top", show=False),
        Binding("G,end", "edge(-1)", "Bottom", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("h,left", "fold(True)", "Fold", show=False),
        Binding("l,right", "fold(False)", "Unfold", show=False),
        Binding("enter", "open", "Open", show=False),
    ]

    cursor: reactive[int] = reactive(0)
    """Index of the highlighted row."""

    @dataclass
    class Highlighted(Message):
        """Another row, or the same one with other content, is under the cursor; None where there are no rows."""

        node: Node | None

    @dataclass
    class Opened(Message):
        """The user wants to see a row's detail."""

        node: Node

    @dataclass
    class Turned(Message):
        """The user folded or unfolded a row."""

        node: Node

    @dataclass
    class MarkToggled(Message):
        """The user clicked a row's mark."""

        node: Node

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: tuple[Row, ...] = ()
        self._columns = Columns(0, 0, 0)

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    @property
    def current(self) -> Row | None:
        """The highlighted row."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def show_rows(self, rows: tuple[Row, ...], *, cursor_key: str | None = None) -> None:
        """Replaces the rows; the cursor stays on its row, or at its height where that row is gone."""
        key = cursor_key or (self.current.key if self.current is not None else None)
        self._rows = rows
        position = next((index for index, row in enumerate(rows) if row.key == key), None)
        self._lay_out()
        self.set_reactive(ChangeList.cursor, max(0, min(self.cursor if position is None else position, len(rows) - 1)))
        self._show_cursor()
        self.refresh()
        self.post_message(self.Highlighted(self.current.node if self.current is not None else None))

    def on_resize(self) -> None:
        """Shares the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        self._columns = Columns.fitting(self._rows, width)
        self.virtual_size = Size(width, len(self._rows))

    def watch_cursor(self) -> None:
        """Follows the cursor and tells whoever listens."""
        self._show_cursor()
        self.refresh()
        if self.current is not None:
            self.post_message(self.Highlighted(self.current.node))

    def _show_cursor(self) -> None:
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def watch_has_focus(self, _had: bool) -> None:
        """Paints the cursor stronger or weaker."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Paints one row of the window."""
        index = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row, cursor = self._rows[index], index == self.cursor
        spans = self._section(row, width, cursor=cursor) if row.depth == 0 else self._entry(row, width, cursor=cursor)
        return strip_of(spans, self, width=width, cursor=cursor)

    def _lead(self, row: Row, *, cursor: bool) -> list[Span]:
        fold = {None: " ", True: "▸", False: "▾"}[row.folded]
        return [Span(">" if cursor else " ", Role.STRONG), Span(" " * min(row.depth, 1) + fold + " ", Role.DIM)]

    def _section(self, row: Row, width: int, *, cursor: bool) -> Painted:
        tail = [severity_span(row.severity, width=5), Span(f" {row.tally:>7} ", Role.DIM)]
        room = width - 3 - sum(len(span.text) for span in tail) - 1
        title = harmless(row.node.title)
        note = row.where if cell_len(title) + len(row.where) + 2 <= room else ""
        shown = fitted(title, min(room, cell_len(title)))
        gap = room - cell_len(shown) - (len(note) + 2 if note else 0)
        spans = [*self._lead(row, cursor=cursor), Span(shown, Role.HEADING)]
        return [*spans, Span(f"  {note}" if note else "", Role.DIM), Span(" " * (gap + 1)), *tail]

    def _entry(self, row: Row, width: int, *, cursor: bool) -> Painted:
        spans = self._lead(row, cursor=cursor)
        is_said = row.severity is not None or row.node.kind is not NodeKind.NOTE
        severity = severity_span(row.severity, width=5) if is_said else Span("     ")
        spans += [Span(row.mark.value + " ", _MARK_ROLES[row.mark]), severity, Span(f" {row.sign:<2} ", severity.role)]
        columns = self._columns
        if row.node.kind in {NodeKind.FINDING, NodeKind.NOTE}:
            name = f"{row.node.title} " if row.node.kind is NodeKind.FINDING else ""
            where = f"{harmless(row.where)}: " if row.where else ""
            return [*spans, Span(name, Role.STRONG), Span(fitted(where + row.what, width - _LEAD - len(name)))]
        if row.node.kind is NodeKind.MEMBER:
            return [*spans, Span(fitted(f"  {row.node.title}  {row.what}", width - _LEAD), Role.PLACE)]
        done = row.mark is Mark.ALL
        parts = [Span(fitted(row.name, columns.name), Role.DIM if done else Role.STRONG)]
        parts.append(Span(" " + fitted(row.phrase, columns.phrase), Role.DIM if done else Role.PLAIN))
        where = fitted_end(row.where, min(columns.rest, cell_len(harmless(row.where))))
        parts += [Span(" "), Span(where, Role.PLACE)]
        gap = " " if where else ""
        parts.append(Span(gap + fitted(row.what, columns.rest - cell_len(where + gap)), Role.DIM))
        return [*spans, *parts]

    def action_step(self, by: int) -> None:
        """Moves the cursor."""
        self.cursor = max(0, min(self.cursor + by, len(self._rows) - 1))

    def action_edge(self, end: int) -> None:
        """Goes to the first or the last row."""
        self.cursor = 0 if end == 0 else max(0, len(self._rows) - 1)

    def action_page(self, by: int) -> None:
        """Moves the cursor by a window."""
        self.action_step(by * max(1, self.scrollable_content_region.height - 1))

    def action_fold(self, folded: bool) -> None:
        """Folds or unfolds the highlighted row; folding what does not fold goes to the row that holds it."""
        row = self.current
        if row is None:
            return
        if row.folded is (not folded):
            self.post_message(self.Turned(row.node))
        elif folded and row.depth:
            self.cursor = next(index for index in range(self.cursor, -1, -1) if self._rows[index].depth < row.depth)

    def action_open(self) -> None:
        """Opens the highlighted row's detail."""
        if self.current is not None:
            self.post_message(self.Opened(self.current.node))

    def on_click(self, event: events.Click) -> None:
        """Highlights the clicked row; its fold sign folds, its mark marks, a second click opens it."""
        index = event.y + self.scroll_offset.y
        if not 0 <= index < len(self._rows):
            return
        row = self._rows[index]
        self.cursor = index
        match event.x:
            case 0 | 1 | 2 | 3 if row.folded is not None:
                self.post_message(self.Turned(row.node))
            case 4 | 5 if row.depth and row.mark is not Mark.NONE_POSSIBLE:
                self.post_message(self.MarkToggled(row.node))
            case _ if event.chain > 1:
                self.post_message(self.Opened(row.node))
