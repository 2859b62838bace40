"""A scrolling list of one-line rows with a cursor, and the line of column titles above it.

Paints only the rows in sight; subclasses define their look.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from locklens.ui.widgets import StyledPiece, strip_of

if TYPE_CHECKING:
    from collections.abc import Callable

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


class RowList(ScrollView, Generic[RowT], can_focus=True):
    """Owns the cursor; the rows are set by the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "step(1)", "Next row", show=False),
        Binding("k,up", "step(-1)", "Previous row", show=False),
        Binding("g,home", "edge(0)", "Top", show=False),
        Binding("G,end", "edge(-1)", "Bottom", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("enter", "open", "Open", show=False),
    ]

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
        self._rows: tuple[RowT, ...] = ()
        self._is_placed = False
        """True once the user moved the cursor; until then the cursor is at the top, on the worst row."""
        self.titles_line: Widget | None = None
        """The widget that shows `titles`."""

    @abstractmethod
    def painted(self, row: RowT, width: int, *, cursor: bool) -> StyledPiece:
        """The look of a row."""

    @abstractmethod
    def titles(self, width: int) -> StyledPiece:
        """The titles of the columns, as wide as `lay_out` made them."""

    @abstractmethod
    def lay_out(self, rows: tuple[RowT, ...], width: int) -> None:
        """Distribute the width among the columns."""

    def tell_highlighted(self) -> None:
        """Post that another row is highlighted, or that the highlighted row changed."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Post the request to open the highlighted row."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    @property
    def rows(self) -> tuple[RowT, ...]:
        """The rows."""
        return self._rows

    @property
    def is_placed(self) -> bool:
        """True once the user moved the cursor."""
        return self._is_placed

    def place(self) -> None:
        """Keep the cursor on its row from now on, as after a move by the user."""
        self._is_placed = bool(self._rows)

    @property
    def current(self) -> RowT | None:
        """The highlighted row."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def show_rows(self, rows: tuple[RowT, ...], *, cursor_key: str | None = None) -> None:
        """Replace the rows; the cursor keeps its row, or its height if that row is gone.

        A scrolled list is scrolled along, so that the row keeps its position on the screen. A cursor that was never
        moved remains at the top.

        Args:
            rows: The new rows.
            cursor_key: The row to highlight instead.
        """
        key = cursor_key or (self.current.key if self.current is not None and self._is_placed else None)
        top, before = self.scroll_offset.y, self.cursor
        self._rows = rows
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
        if self._rows:
            self.show_cursor()

    def is_heading(self, row: RowT) -> bool:  # noqa: ARG002
        """True for a row that stands above others, and is not what a filter looks for."""
        return False

    def go_to_first(self) -> None:
        """Highlight the first row that is no heading, or else the first one."""
        self.cursor = next((index for index, row in enumerate(self._rows) if not self.is_heading(row)), 0)

    def go_to_next(self, by: int, is_wanted: Callable[[RowT], bool], *, is_cyclic: bool = True) -> bool:
        """Go to the next (1) or previous (-1) row of a kind; return False if no row is of that kind.

        Args:
            by: The direction.
            is_wanted: Returns True for the rows to go to.
            is_cyclic: True to go on at the other end of the list.
        """
        wanted = [index for index, row in enumerate(self._rows) if is_wanted(row)]
        ahead = [index for index in wanted if (index - self.cursor) * by > 0]
        if found := ahead or (wanted if is_cyclic else []):
            self.cursor = found[0 if by > 0 else -1]
        return bool(wanted)

    def _share_width(self) -> None:
        width = self.scrollable_content_region.width
        self.lay_out(self._rows, width)
        self.virtual_size = Size(width, len(self._rows))
        if self.titles_line is not None:
            self.titles_line.refresh()

    def watch_cursor(self) -> None:
        """Scroll to the cursor and post the highlighted row."""
        self._is_placed = bool(self._rows)
        self.show_cursor()
        self.refresh()
        if self.current is not None:
            self.tell_highlighted()

    def show_cursor(self) -> None:
        """Scroll to the cursor."""
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Repaint the cursor; moving to the detail keeps the cursor on its row."""
        if not has_focus:
            self._is_placed = bool(self._rows)
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
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        cursor = index == self.cursor
        return strip_of(self.painted(self._rows[index], width, cursor=cursor), self, width=width, cursor=cursor)

    def action_step(self, by: int) -> None:
        """Move the cursor."""
        self.cursor = max(0, min(self.cursor + by, len(self._rows) - 1))

    def action_edge(self, end: int) -> None:
        """Go to the first or the last row."""
        self.cursor = 0 if end == 0 else max(0, len(self._rows) - 1)

    def action_page(self, by: int) -> None:
        """Move the cursor by a window."""
        self.action_step(by * max(1, self.scrollable_content_region.height - 1))

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked row and handle the click."""
        index = event.y + self.scroll_offset.y
        if 0 <= index < len(self._rows):
            self.cursor = index
            self.clicked(self._rows[index], event)

    def clicked(self, row: RowT, event: events.Click) -> None:  # noqa: ARG002
        """Open the row's detail on a double click."""
        if event.chain > 1:
            self.action_open()


class FoldingList(RowList[FoldingT]):
    """A list of rows that fold, and that a click marks."""

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
    """Paints the titles of a list, in the widths of its columns.

    Args:
        rows: The list below.
    """

    DEFAULT_CSS = "ListTitles { height: 1; }"

    def __init__(self, rows: RowList[Any]) -> None:
        super().__init__()
        self._rows = rows
        rows.titles_line = self

    def render_line(self, y: int) -> Strip:
        """Paint the titles."""
        width = self._rows.scrollable_content_region.width
        return strip_of(self._rows.titles(width) if y == 0 else [], self, width=self.size.width)
