"""A scrolling list of one-line rows with a cursor, its columns, and the line of column titles above it.

Paints only the rows in sight. The columns are a table of each list, from which titles, widths, cells and help are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from locklens.lines import Role, Span
from locklens.ui.widgets import MOVES, StyledPiece, fitted, harmless, strip_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual import events


class Keyed(Protocol):
    """A row with a stable key."""

    @property
    def key(self) -> str:
        """Stable across reloads."""


class Folding(Keyed, Protocol):
    """A row that may hide the rows below it."""

    @property
    def depth(self) -> int:
        """0 for a section; rows below another one are deeper."""

    @property
    def folded(self) -> bool | None:
        """True if the rows below it are hidden; None for a row without a fold."""


RowT = TypeVar("RowT", bound=Keyed)
FoldingT = TypeVar("FoldingT", bound=Folding)
_AnyRow = TypeVar("_AnyRow")


def fold_marker(*, folded: bool | None) -> str:
    """The marker of a row that folds; a space for one that does not."""
    return {None: " ", True: "▸", False: "▾"}[folded]


def check_mark(marked: int, number: int) -> Span:
    """The mark of a row that stands for a number of things, of which some are marked."""
    if not marked:
        return Span("· ", Role.DIM)
    return Span("x " if marked == number else "- ", Role.STRONG)


_NAME_LEAST = 18
"""Columns that a name keeps, as far as it needs them, before others are given more than they need at least."""
_REST_WANTED = 24
"""Columns that the column that takes the rest is given before the name gets more than that."""


@dataclass(frozen=True)
class Column(Generic[RowT]):
    """A column of a list. It is as wide as its title and its longest cell.

    Attributes:
        title: Its title, above the list; "" for a column that explains itself.
        cell: Returns its cell of a row, or several cells: the first that fits is shown.
        meaning: Its sentence of help.
        most: The most terminal columns that it takes; 0 for any number.
        least: Returns the terminal columns that a text takes at least, for a column that gives the others room; None
            for one that does not.
        fit: Cuts or pads a text to a number of terminal columns.
        takes_rest: True for the column that takes what the others leave; of a list without one, the first column does.
        is_at_end: True to align its cells at their end.
        is_optional: True to leave the column out where all of its cells are empty.
        from_width: The list's width below which the column is left out.
        narrow: The column in its place on narrower lists, if any.
    """

    title: str
    cell: Callable[[RowT], Span | tuple[Span, ...]]
    meaning: str = ""
    most: int = 0
    least: Callable[[str], int] | None = None
    fit: Callable[[str, int], str] = fitted
    takes_rest: bool = False
    is_at_end: bool = False
    is_optional: bool = False
    from_width: int = 0
    narrow: Column[RowT] | None = None

    def choices(self, row: RowT) -> tuple[Span, ...]:
        """Return the cell of a row, the longest first."""
        cell = self.cell(row)
        return (cell,) if isinstance(cell, Span) else cell

    def painted(self, choices: Sequence[Span], width: int) -> Span:
        """Return the first cell that fits, else the last one cut, padded to the width."""
        text, role = next((one for one in choices if _length(one) <= width), choices[-1])
        if self.is_at_end and cell_len(harmless(text)) <= width:
            return Span(f"{harmless(text):>{width}}", role)
        return Span(self.fit(text, width), role)


def _length(span: Span) -> int:
    return cell_len(harmless(span.text))


@dataclass(frozen=True)
class LaidOut(Generic[RowT]):
    """The columns that a width has room for, each with its own width; between them is a space."""

    columns: tuple[tuple[Column[RowT], int], ...] = ()

    @classmethod
    def fitting(cls, table: Iterable[Column[RowT]], rows: Sequence[RowT], width: int, *, lead: int) -> LaidOut[RowT]:
        """Share a width among the columns. The first one is the name, which is cut before others are.

        The rows are those with cells; `lead` is the part of the width before the name.
        """
        fitting = (column if width >= column.from_width else column.narrow for column in table)
        cells = [(column, list(map(column.choices, rows))) for column in fitting if column is not None]
        cells = [(column, own) for column, own in cells if not column.is_optional or any(one[0].text for one in own)]
        widths = [_needed(column, own) for column, own in cells]
        rest = next((number for number, (column, _) in enumerate(cells) if column.takes_rest), 0)
        wanted, least = _wanted(cells[rest][1]) if rest else (0, 0)
        room = width - lead - sum(1 + each for number, each in enumerate(widths) if number not in {0, rest})
        room -= 1 if rest else 0
        least_name = min(widths[0], _NAME_LEAST)
        for number, (column, own) in enumerate(cells):
            if column.least is not None and room < least_name + least:
                firm = max((column.least(one[-1].text) for one in own), default=0)
                given = max(0, min(widths[number] - firm, least_name + least - room))
                widths[number] -= given
                room += given
        if rest:
            widths[0] = max(0, min(widths[0], max(least_name, room - wanted), room - least))
            widths[rest] = max(0, room - widths[0])
        else:
            widths[0] = max(0, room)
        return cls(tuple((column, each) for (column, _), each in zip(cells, widths, strict=True)))

    def titles(self) -> list[Span]:
        """Return the titles."""
        cells = [(column, (Span(column.title, Role.DIM), Span("")), width) for column, width in self.columns]
        return _spaced(cells)

    def painted(self, row: RowT) -> list[Span]:
        """Return the cells of a row. A cell that does not fit takes the empty ones after it.

        The cell that takes the rest takes empty ones before it too, and the blanks before it if it has a shorter form.
        """
        shown: list[tuple[Column[RowT], tuple[Span, ...], int]] = []
        for column, own in self.columns:
            choices, width = column.choices(row), own
            needed = _length(choices[0])
            if shown and not needed and _length(shown[-1][1][0]) > shown[-1][2]:
                before, others, room = shown.pop()
                shown.append((before, others, room + 1 + width))
                continue
            while column.takes_rest and needed > width and shown and not _length(shown[-1][1][0]):
                width += 1 + shown.pop()[2]
            if column.takes_rest and shown and len(choices) > 1:
                before, others, room = shown[-1]
                blank = max(0, room - _length(others[0]))
                lengths = list(map(_length, choices))
                wanted = next((length for length in lengths if length <= width + blank), lengths[-1])
                given = max(0, min(wanted - width, blank))
                shown[-1] = before, others, room - given
                width += given
            shown.append((column, choices, width))
        return _spaced(shown)


def _needed(column: Column[Any], cells: Iterable[tuple[Span, ...]]) -> int:
    """The width of a column's title and its longest cell, within its bound."""
    longest = max((_length(one[0]) for one in cells), default=0)
    return max(len(column.title), min(longest, column.most or longest))


def _wanted(cells: Sequence[tuple[Span, ...]]) -> tuple[int, int]:
    """What the column that takes the rest is given before names are, and at least: its second and its last choices."""
    second = max((_length(one[min(1, len(one) - 1)]) for one in cells), default=0)
    last = max((_length(one[-1]) for one in cells if len(one) > 1), default=0)
    return min(second, _REST_WANTED), last


def _spaced(cells: Iterable[tuple[Column[Any], Sequence[Span], int]]) -> list[Span]:
    """The cells, a space between them."""
    spans: list[Span] = []
    for column, choices, width in cells:
        text, role = column.painted(choices, width)
        spans.append(Span(f" {text}" if spans else text, role))
    return spans


class RowList(ScrollView, Generic[RowT], can_focus=True):
    """Owns the cursor; the rows are set by the screen.

    Class attributes:
        COLUMNS: The columns, the name first.
        LEAD: The terminal columns before the name, which `painted` fills: cursor, fold, mark.
    """

    COLUMNS: ClassVar[tuple[Column[Any], ...]] = ()
    LEAD: ClassVar[int] = 2
    BINDINGS: ClassVar[list[BindingType]] = [*MOVES, Binding("enter", "open", "Open", show=False)]
    KEYS: ClassVar[frozenset[str]] = frozenset(one.key for one in Binding.make_bindings(BINDINGS))

    @dataclass
    class Highlighted(Message, Generic[_AnyRow]):
        """Another row is highlighted, or the highlighted one changed; None for an empty list."""

        row: _AnyRow | None

    @dataclass
    class Opened(Message, Generic[_AnyRow]):
        """The detail of a row is requested, or what else enter opens."""

        row: _AnyRow

    cursor: reactive[int] = reactive(0)
    """Index of the highlighted row."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows: tuple[RowT, ...] = ()
        self.columns: LaidOut[RowT] = LaidOut()
        """The columns as the width has room for them."""
        self.is_placed = False
        """True once the user moved the cursor; until then the cursor is at the top, on the worst row."""
        self.titles_line: Widget | None = None
        """The widget that shows `titles`."""

    def painted(self, row: RowT, width: int, *, cursor: bool) -> StyledPiece:  # noqa: ARG002
        """The look of a row: the cursor and the columns, where a list has no other lead."""
        return [Span("> " if cursor else "  ", Role.STRONG), *self.columns.painted(row)]

    def has_cells(self, row: RowT) -> bool:  # noqa: ARG002
        """True for a row whose cells the widths of the columns are for."""
        return True

    def titles(self) -> StyledPiece:
        """The titles of the columns."""
        return [Span(" " * self.LEAD), *self.columns.titles()]

    def lay_out(self, rows: tuple[RowT, ...], width: int) -> None:
        """Share the width among the columns."""
        self.columns = LaidOut.fitting(self.COLUMNS, list(filter(self.has_cells, rows)), width, lead=self.LEAD)

    def tell_highlighted(self) -> None:
        """Post that another row is highlighted, or that the highlighted row changed."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Post the request to open the highlighted row."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def place(self) -> None:
        """Keep the cursor on its row from now on, as after a move by the user."""
        self.is_placed = bool(self.rows)

    @property
    def current(self) -> RowT | None:
        """The highlighted row."""
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    def show_rows(self, rows: tuple[RowT, ...], *, cursor_key: str | None = None) -> None:
        """Replace the rows; the cursor goes to `cursor_key`, else keeps its row, or its height if that row is gone.

        A scrolled list is scrolled along, so that the row keeps its position on the screen. A cursor that was never
        moved remains at the top.
        """
        key = cursor_key or (self.current.key if self.current is not None and self.is_placed else None)
        top, before = self.scroll_offset.y, self.cursor
        self.rows = rows
        position = next((index for index, row in enumerate(rows) if row.key == key), None)
        self._share_width()
        self.set_reactive(RowList.cursor, max(0, min(self.cursor if position is None else position, len(rows) - 1)))
        if top and cursor_key is None and top <= before < top + self.scrollable_content_region.height:
            self.scroll_to(y=top + self.cursor - before, animate=False, force=True)
        self.show_cursor()
        self.refresh()
        self.tell_highlighted()

    def on_resize(self) -> None:
        """Distribute the new width, and keep the cursor in sight where the height is another one."""
        self._share_width()
        if self.rows:
            self.show_cursor()

    def is_heading(self, row: RowT) -> bool:  # noqa: ARG002
        """True for a row that is above others, and is not what a filter looks for."""
        return False

    def go_to_first(self) -> None:
        """Highlight the first row that is not a heading, or else the first one."""
        self.cursor = next((index for index, row in enumerate(self.rows) if not self.is_heading(row)), 0)

    def has_other(self, is_wanted: Callable[[RowT], bool]) -> bool:
        """True if there is a row of a kind besides the highlighted one."""
        return any(index != self.cursor and is_wanted(row) for index, row in enumerate(self.rows))

    def go_to_next(self, by: int, is_wanted: Callable[[RowT], bool], *, is_cyclic: bool = True) -> bool:
        """Go to the next (1) or previous (-1) row of a kind; return False if there is no other one that way.

        A cyclic move goes on at the other end of the list.
        """
        wanted = [index for index, row in enumerate(self.rows) if is_wanted(row)]
        ahead = [index for index in wanted if (index - self.cursor) * by > 0]
        found, before = ahead or (wanted if is_cyclic else []), self.cursor
        if found:
            self.cursor = found[0 if by > 0 else -1]
        return self.cursor != before

    def _share_width(self) -> None:
        width = self.scrollable_content_region.width
        self.lay_out(self.rows, width)
        self.virtual_size = Size(width, len(self.rows))
        if self.titles_line is not None:
            self.titles_line.refresh()

    def watch_cursor(self) -> None:
        """Scroll to the cursor and post the highlighted row."""
        self.place()
        self.show_cursor()
        self.refresh()
        if self.current is not None:
            self.tell_highlighted()

    def show_cursor(self) -> None:
        """Scroll to the cursor, and to the headings right above it, which name what it is part of."""
        top = self.cursor
        while 0 < top < len(self.rows) and self.is_heading(self.rows[top - 1]):
            top -= 1
        self.scroll_to_region(Region(0, top, 1, self.cursor - top + 1), animate=False, force=True)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Repaint the cursor; moving to the detail keeps the cursor on its row."""
        if not has_focus:
            self.place()
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint some rows; share the width out first where it is another one: not every change comes as a `Resize`."""
        if self.scrollable_content_region.width != self.virtual_size.width:
            self._share_width()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Paint one row of the window."""
        index = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if index >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        cursor = index == self.cursor
        return strip_of(self.painted(self.rows[index], width, cursor=cursor), self, width=width, cursor=cursor)

    def action_step(self, by: int) -> None:
        """Move the cursor."""
        self.cursor = max(0, min(self.cursor + by, len(self.rows) - 1))

    def action_edge(self, end: int) -> None:
        """Go to the first or the last row."""
        self.cursor = 0 if end == 0 else max(0, len(self.rows) - 1)

    def action_page(self, by: int) -> None:
        """Move the cursor by a window."""
        self.action_step(by * max(1, self.scrollable_content_region.height - 1))

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked row and handle the click."""
        index = event.y + self.scroll_offset.y
        if 0 <= index < len(self.rows):
            self.cursor = index
            self.clicked(self.rows[index], event)

    def clicked(self, row: RowT, event: events.Click) -> None:  # noqa: ARG002
        """Open the row's detail on a double click."""
        if event.chain > 1:
            self.action_open()


class FoldingList(RowList[FoldingT]):
    """A list of rows that fold, and that a click marks.

    Class attributes:
        MARK: The terminal columns of the mark; the fold marker is before them.
    """

    MARK: ClassVar[slice] = slice(4, 6)

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "fold(True)", "Fold", show=False),
        Binding("l,right", "fold(False)", "Unfold", show=False),
    ]

    @dataclass
    class Turned(Message, Generic[_AnyRow]):
        """The user folded or unfolded a row."""

        row: _AnyRow

    @dataclass
    class MarkToggled(Message, Generic[_AnyRow]):
        """The user clicked a row's mark."""

        row: _AnyRow

    def can_mark(self, row: FoldingT) -> bool:  # noqa: ARG002
        """True for a row that a click on its mark marks."""
        return True

    def clicked(self, row: FoldingT, event: events.Click) -> None:
        """Fold at the fold marker, mark at the mark; a double click elsewhere opens the detail."""
        if event.x < self.MARK.start and row.folded is not None:
            self.post_message(self.Turned(row))
        elif self.MARK.start <= event.x < self.MARK.stop and self.can_mark(row):
            self.post_message(self.MarkToggled(row))
        else:
            super().clicked(row, event)

    def action_fold(self, folded: bool) -> None:
        """Fold or unfold the highlighted row; folding a row without a fold goes to its parent."""
        row = self.current
        if row is None:
            return
        if row.folded is (not folded):
            self.post_message(self.Turned(row))
        elif folded and row.depth:
            self.go_to_next(-1, lambda above: above.depth < row.depth, is_cyclic=False)


class ListTitles(Widget, can_focus=False):
    """Paints the titles of the list below, in the widths of its columns."""

    DEFAULT_CSS = "ListTitles { height: 1; }"

    def __init__(self, rows: RowList[Any]) -> None:
        super().__init__()
        self._rows = rows
        rows.titles_line = self

    def render_line(self, y: int) -> Strip:
        """Paint the titles."""
        return strip_of(self._rows.titles() if y == 0 else [], self, width=self.size.width)
