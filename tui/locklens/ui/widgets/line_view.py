"""A scrolling view of lines; its cursor stops at lines that can be copied or opened. Independent of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from locklens.lines import Role, Span
from locklens.ui.widgets import MOVES, StyledPiece, strip_of, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual import events

    from locklens.lines import Line


class LineView(ScrollView, can_focus=True):
    """A view of lines, wrapped to its width."""

    BINDINGS = MOVES

    @dataclass
    class Highlighted(Message):
        """The cursor moved to another line."""

        view: LineView

        @property
        def control(self) -> LineView:
            """The view of the line."""
            return self.view

    @dataclass
    class Fitted(Message):
        """The lines, or the height for them, are others: they may scroll now, or no longer."""

        view: LineView

    cursor: reactive[int] = reactive(-1, repaint=True)
    """Index of the highlighted line; -1 if no line can be highlighted."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.lines: tuple[Line, ...] = ()
        """The lines before wrapping."""
        self._painted: list[tuple[int, StyledPiece]] = []
        self._first_row: list[int] = []
        self._wrapped_at = -1
        self._measured = (-1, 0)
        self.found = -1
        """The index of the line that was found last; -1 for none."""

    @property
    def current(self) -> Line | None:
        """The highlighted line."""
        return self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None

    @property
    def can_scroll(self) -> bool:
        """True if not all lines are in sight."""
        return self.max_scroll_y > 0

    @property
    def can_move(self) -> bool:
        """True if a key moves the cursor, or scrolls."""
        return self.can_scroll or len(self._stops()) > 1

    def show_lines(self, lines: Iterable[Line], *, keep_place: bool = False) -> None:
        """Replace the lines, from the top; `keep_place` keeps cursor and scroll position for the same subject."""
        before, top, shown = self.current, self.scroll_offset.y, tuple(lines)
        if keep_place and shown == self.lines:
            return
        height = self._first_row[self.cursor] - top if before is not None and self._first_row else -1
        self.lines = shown
        self._painted, self._first_row = [], []  # A hidden view wraps nothing until it is shown again.
        self.found = -1
        self._wrapped_at = -1
        self._measured = (-1, 0)
        self._wrap()
        stops = self._stops()
        if keep_place and before is not None:
            position = self._position_of(before)
            if position is not None:
                self.cursor = position
                if 0 <= height < self.scrollable_content_region.height and self._first_row:
                    self.scroll_to(y=self._first_row[position] - height, animate=False, force=True)
        if not keep_place or self.cursor not in stops:
            self.cursor = stops[0] if stops else -1
        if not keep_place:
            self.scroll_to(y=0, animate=False, force=True)
        self.refresh()
        self.post_message(self.Fitted(self))

    def _position_of(self, before: Line) -> int | None:
        """The index of an earlier line: of the equal line, or else of the line with the same copied text."""
        same = (index for index, line in enumerate(self.lines) if line == before)
        alike = (index for index, line in enumerate(self.lines) if line.copied == before.copied != "")
        return next(same, next(alike, None))

    def on_resize(self) -> None:
        """Wrap to the new width."""
        self._wrap()
        self.post_message(self.Fitted(self))

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0 or width == self._wrapped_at:
            return
        self._wrapped_at = width
        self._painted, self._first_row = [], []
        for index, line in enumerate(self.lines):
            self._first_row.append(len(self._painted))
            self._painted += [(index, spans) for spans in wrapped(line, width)]
        self.virtual_size = Size(width, len(self._painted))
        self.refresh(layout=self.styles.is_auto_height)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows that the lines take at a width, also before they are wrapped to it.

        Textual does not heed `max-height` while it measures a box around the lines, which would get empty rows.
        """
        if width != self._wrapped_at and self._measured[0] != width:
            self._measured = (width, sum(len(wrapped(line, width)) for line in self.lines) if width > 0 else 0)
        rows = len(self._painted) if width == self._wrapped_at else self._measured[1]
        most = self.styles.max_height
        return rows if most is None else min(rows, int(most.resolve(container, viewport)))

    def _stops(self) -> list[int]:
        return [index for index, line in enumerate(self.lines) if line.copied or line.place]

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint some rows; wrap first where the width is another one.

        A view that a layout shows for the first time gets no `Resize` if its region was asked for just before.
        """
        if self.scrollable_content_region.width != self._wrapped_at:
            self._wrap()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Paint one row of the window."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if not 0 <= row < len(self._painted):
            return Strip.blank(width, self.rich_style)
        index, spans = self._painted[row]
        is_marked = index == self.found if self.found >= 0 else self.has_focus and index == self.cursor
        strip = strip_of(spans, self, width=width, cursor=is_marked)
        is_cut = y == self.scrollable_content_region.height - 1 and row < len(self._painted) - 1
        if self.can_focus or not is_cut:
            return strip
        end = min(cell_len("".join(span.text for span in spans).rstrip()) + 1, width - 1)
        return Strip.join((strip.crop(0, end), strip_of((Span("…", Role.DIM),), self, width=width - end)))

    def find(self, text: str, by: int, *, is_fresh: bool = False) -> tuple[int, int]:
        """Mark and show the next line with a text, upper and lower case alike; after the last one the first.

        With `is_fresh` it begins with the first line in sight. Returns the number of the match, from 1, and the number
        of matches; zeros without any.
        """
        matches = self._matches(text)
        if not matches:
            self.unmark()
            return 0, 0
        top = self._painted[min(self.scroll_offset.y, len(self._painted) - 1)][0] if self._painted else 0
        start = self.found if self.found >= 0 and not is_fresh else top - by
        ahead = [index for index in matches if (index - start) * by > 0]
        self.found = (ahead or matches)[0 if by > 0 else -1]
        if self.found in self._stops():
            self.cursor = self.found
        self.scroll_to_region(Region(0, self._first_row[self.found], 1, 1), animate=False, force=True)
        self.refresh()
        return matches.index(self.found) + 1, len(matches)

    def count(self, text: str) -> int:
        """Return the number of lines with a text."""
        return len(self._matches(text))

    def _matches(self, text: str) -> list[int]:
        wanted = text.casefold()
        return [index for index, line in enumerate(self.lines) if wanted in line.text.casefold()]

    def unmark(self) -> None:
        """Remove the mark of a found line."""
        self.found = -1
        self.refresh()

    def action_step(self, by: int) -> None:
        """Move the cursor to the next stop; scroll if the next stop is out of sight or missing."""
        self.unmark()
        top, height = self.scroll_offset.y, max(1, self.scrollable_content_region.height)
        ahead = [stop for stop in self._stops() if (stop - self.cursor) * by > 0]
        target = (ahead[0] if by > 0 else ahead[-1]) if ahead else None
        if target is None or not top - height // 2 <= self._first_row[target] < top + height + height // 2:
            self.scroll_relative(y=by, animate=False)
            return
        self.cursor = target
        self._show_cursor()

    def go_to(self, copied: str) -> None:
        """Move the cursor to the line with a copied text, if there is one."""
        self.cursor = next((stop for stop in self._stops() if self.lines[stop].copied == copied), self.cursor)
        if self._first_row:
            self._show_cursor()

    def action_edge(self, end: int) -> None:
        """Go to the first or the last line."""
        stops = self._stops()
        if stops:
            self.cursor = stops[end]
        self.scroll_to(y=0 if end == 0 else self.max_scroll_y, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by a window and move the cursor along."""
        self.scroll_relative(y=by * max(1, self.scrollable_content_region.height - 1), animate=False)
        top = self.scroll_target_y
        stops = [stop for stop in self._stops() if self._first_row[stop] >= top]
        if stops:
            self.cursor = stops[0]

    def _show_cursor(self) -> None:
        row = self._first_row[self.cursor]
        self.scroll_to_region(Region(0, row, 1, 1), animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked line."""
        offset = event.get_content_offset(self)
        row = -1 if offset is None else offset.y + self.scroll_offset.y
        if 0 <= row < len(self._painted):
            index = self._painted[row][0]
            if index in self._stops():
                self.cursor = index

    def watch_cursor(self) -> None:
        """Post `Highlighted`."""
        self.post_message(self.Highlighted(self))

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Repaint the cursor."""
        self.refresh()
