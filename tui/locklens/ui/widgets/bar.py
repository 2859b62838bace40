"""A line across the screen with clickable pieces: head, tabs, status, key line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.message import Message
from textual.widget import Widget

from locklens.lines import Role, Span, line
from locklens.ui.widgets.strips import StyledPiece, fitted, harmless, strip_of, wrapped

if TYPE_CHECKING:
    from textual import events
    from textual.strip import Strip


class Piece(NamedTuple):
    """A part of a bar; a click on it runs the screen's action."""

    text: str
    role: Role = Role.PLAIN
    action: str = ""


class BarLayout(NamedTuple):
    """The pieces at the left and at the right.

    Attributes:
        is_whole: True for a message, which takes more lines where one is too short, instead of being cut.
    """

    left: tuple[Piece, ...]
    right: tuple[Piece, ...] = ()
    is_whole: bool = False


_LEAST_NAMED = 8
"""Columns that the last piece on the left keeps where it is cut."""
_MOST_LINES = 4
"""Of a message: an error with its hint has two or three at 80 columns."""


class Bar(Widget):
    """Shows the first of its layouts that fits; of the last one the left side is cut, so that no count is.

    A message is not cut: the bar is as high as it needs.
    """

    @dataclass
    class Clicked(Message):
        """A piece with an action was clicked."""

        action: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._layouts: tuple[BarLayout, ...] = ()

    def show_layouts(self, *layouts: BarLayout) -> None:
        """Replace the layouts, the preferred first."""
        if layouts != self._layouts:
            self._layouts = layouts
            self._fit()
            self.refresh()

    def on_resize(self) -> None:
        """Give a message the lines that the new width asks for."""
        self._fit()

    def _fit(self) -> None:
        lines = max(1, len(self._message_lines()))
        if self.styles.height is None or self.styles.height.value != lines:
            self.styles.height = lines

    def _message_lines(self) -> list[StyledPiece]:
        """The lines of a message that does not fit into one; [] for all else."""
        width = self.size.width
        if not width or not self._layouts or not self._layouts[-1].is_whole:
            return []
        message = line(*(Span(piece.text, piece.role) for piece in self._layouts[-1].left), hanging=1)
        if cell_len(harmless(message.text)) <= width:
            return []
        lines = wrapped(message, width)
        shown, rest = lines[:_MOST_LINES], lines[_MOST_LINES:]
        if rest:
            text = "".join(span.text for span in shown[-1])
            shown[-1] = [Span(fitted(f"{text} {rest[0][-1].text}", width), shown[-1][-1].role)]
        return shown

    def _pieces(self) -> list[Piece]:
        """The pieces that fit into the width."""
        width = self.size.width
        for layout in self._layouts:
            used = sum(cell_len(harmless(piece.text)) for piece in (*layout.left, *layout.right))
            if used + (1 if layout.right else 0) <= width:
                gap = Piece(" " * (width - used))
                return [*layout.left, gap, *layout.right]
        return self._cut(width)

    def _cut(self, width: int) -> list[Piece]:
        kept: list[Piece] = []
        for layout in self._layouts[-1:]:
            named, counts = layout.left[-1:], sum(cell_len(harmless(piece.text)) for piece in layout.right)
            room = width - counts - sum(cell_len(harmless(piece.text)) for piece in layout.left[:-1])
            if layout.right and named and not named[0].action and room >= _LEAST_NAMED:
                return [*layout.left[:-1], named[0]._replace(text=fitted(named[0].text, room)), *layout.right]
        for piece in (piece for layout in self._layouts[-1:] for side in (layout.left, layout.right) for piece in side):
            room = width - sum(cell_len(harmless(previous.text)) for previous in kept)
            if cell_len(harmless(piece.text)) <= room:
                kept.append(piece)
                continue
            if not piece.action and room > 1:
                kept.append(piece._replace(text=fitted(piece.text, room)))
            break
        return kept

    def render_line(self, y: int) -> Strip:
        """Paint a line."""
        lines = self._message_lines()
        if lines:
            return strip_of(lines[y] if y < len(lines) else [], self, width=self.size.width)
        spans = [Span(harmless(piece.text), piece.role) for piece in self._pieces()] if y == 0 else []
        return strip_of(spans, self, width=self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Run the action of the piece below the pointer."""
        position = 0
        for piece in self._pieces():
            position += cell_len(harmless(piece.text))
            if event.x < position:
                if piece.action:
                    self.post_message(self.Clicked(piece.action))
                return
