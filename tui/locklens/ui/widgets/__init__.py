"""The widgets of the screens: state is passed down, user actions are posted as messages.

Here are spans as Textual strips, and the line of strips across the screen: head, tabs, status, key line.
Wrapping, a style for each role, escaping of all outside text; pieces of a bar can be clicked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from locklens.lines import Line, Role, Span, line
from locklens.text import visible

if TYPE_CHECKING:
    from textual import events
    from textual.theme import Theme

_VARIABLES = {
    Role.PLAIN: ("foreground", False),
    Role.DIM: ("quiet", False),
    Role.STRONG: ("foreground", True),
    Role.HEADING: ("secondary", True),
    Role.BLOCK: ("error", True),
    Role.WARN: ("warning", True),
    Role.INFO: ("primary", False),
    Role.GOOD: ("success", False),
    Role.ADDED: ("success", False),
    Role.REMOVED: ("error", False),
    Role.PLACE: ("secondary", False),
    Role.TREE: ("foreground", False),
}
"""Each role's colour variable of the theme, and True for bold."""

MOVES: list[BindingType] = [
    Binding("j,down", "step(1)", "Next row or line", show=False),
    Binding("k,up", "step(-1)", "Previous row or line", show=False),
    Binding("g,home", "edge(0)", "Top", show=False),
    Binding("G,end", "edge(-1)", "Bottom", show=False),
    Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
    Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
]
"""The keys that move a cursor."""

_ELLIPSIS = "…"

StyledPiece = Sequence[Span]


harmless = lru_cache(maxsize=8192)(visible)
"""The text as painted; cached, since a list is repainted on each key."""


def fitted(text: str, width: int) -> str:
    """The escaped text, cut with an ellipsis or padded to a number of columns."""
    shown = harmless(text)
    if width <= 0:
        return ""
    if cell_len(shown) <= width:
        return set_cell_size(shown, width)
    return set_cell_size(shown, width - 1) + _ELLIPSIS


def fitted_end(text: str, width: int) -> str:
    """The escaped text, cut at its beginning: before a slash where what follows it fits, so that no word is cut.

    The last folders of a path are more specific than the first, and so is a provider's type than its namespace.
    """
    shown = harmless(text)
    if cell_len(shown) <= width:
        return set_cell_size(shown, width)
    if width <= 0:
        return ""
    start = max(0, len(shown) - width + 1)
    while cell_len(shown[start:]) > width - 1:
        start += 1
    slash = shown.find("/", start, len(shown) - 1)
    return set_cell_size(_ELLIPSIS + shown[max(start, slash) :], width)


def fitted_name(text: str, width: int) -> str:
    """The escaped text of a row's name, cut as `fitted_end` does; its indent and a number of roots, `×3`, are kept.

    Of a name with its tool, `acme/demo (terraform)`, the tool is cut before the name is.
    """
    shown = harmless(text)
    name = shown.lstrip(" ")
    indent, (start, sign, number) = shown[: len(shown) - len(name)], name.rpartition(" ×")
    tail = f"{sign}{number}" if number.isdecimal() else ""
    last = name.rpartition("/")[2]
    if last.endswith(")") and last != name and cell_len(last) + len(indent) + 2 > width:
        return fitted(f"{indent}{_ELLIPSIS}/{last}", width)
    if not tail or cell_len(shown) <= width:
        return fitted(f"{indent}{fitted_end(name, max(0, width - len(indent)))}", width)
    cut = fitted_end(start, max(0, width - len(indent) - len(tail))).rstrip(" ")
    return fitted(f"{indent}{cut}{tail}", width)


_PLACE = re.compile(r"\S+: ")


def fitted_place(text: str, width: int) -> str:
    """The escaped text, in which the longest path is cut at its beginning: its end is the file with its line.

    An error, which begins with the place that it is about, has its reason at its end: what stands before goes first.
    """
    shown = harmless(text)
    path = max((word for word in shown.split(" ") if "/" in word), key=len, default="")
    over = cell_len(shown) - width
    opening = "(" if path.startswith("(") else ""
    least = len(path) - path.rfind("/", 0, -1) - 1
    if over <= 0 or len(path) - len(opening) - over - 1 < least:
        while cell_len(shown) > width and _PLACE.match(text) and ": " in shown:
            shown = shown.partition(": ")[2]
        return fitted(shown, width)
    kept = path[len(opening) + over + 1 :]
    slash = kept.find("/", 0, len(kept) - 1)
    return set_cell_size(shown.replace(path, f"{opening}{_ELLIPSIS}{kept[max(0, slash) :]}", 1), width)


_ARROW = " -> "


def least_step(text: str) -> int:
    """The columns that the versions of a change take at least: the target is never cut, the old version may be."""
    shown = harmless(text)
    old, arrow, new = shown.rpartition(_ARROW)
    return cell_len(shown) if not arrow else min(cell_len(old), 1) + cell_len(arrow + new)


def fitted_step(text: str, width: int) -> str:
    """The versions of a change, `5.1.0 -> 5.2.0`, in a number of columns; the old version is cut before the target."""
    shown = harmless(text)
    old, arrow, new = shown.rpartition(_ARROW)
    room = width - cell_len(arrow + new)
    if not arrow or cell_len(shown) <= width or room < 1:
        return fitted(new if arrow and cell_len(shown) > width else shown, width)
    return fitted(old, room) + arrow + new


def wrapped(line: Line, width: int) -> list[StyledPiece]:
    """Break a line at spaces, and inside words longer than a line; continuation lines are indented.

    The first word after an indent, or after the sign of a diff and its indent, stays beside it and is broken too.
    """
    spans = [Span(harmless(span.text), span.role) for span in line.spans]
    if sum(cell_len(span.text) for span in spans) <= width:
        return [spans]
    hanging = min(line.hanging, max(0, width * 2 // 3))
    painted: list[list[Span]] = [[]]
    used = 0
    for piece, role in _pieces(spans, max(1, width - hanging)):
        text, size = piece, cell_len(piece)
        is_first = len(painted) == 1 and len("".join(span.text for span in painted[0]).strip()) <= 1
        if used and used + size > width and is_first and used < width // 2 and size > width // 2:
            head = _head(text, width - used)
            _append(painted[-1], head, role)
            used, text = width, text[len(head) :]
            size = cell_len(text)
        if used and used + size > width and text.strip():
            painted.append([Span(" " * hanging)] if hanging else [])
            used = hanging
        is_at_start = used == hanging and len(painted) > 1
        if not text.strip() and (is_at_start or used + size > width):
            continue
        _append(painted[-1], text, role)
        used += size
    return list(painted)


def _append(spans: list[Span], text: str, role: Role) -> None:
    """Extend the last span if it has the same role, so that a line has few pieces."""
    if spans and spans[-1].role is role:
        spans[-1] = Span(spans[-1].text + text, role)
    else:
        spans.append(Span(text, role))


def _pieces(spans: Iterable[Span], limit: int) -> Iterable[tuple[str, Role]]:
    """Words and the spaces between them; no word is wider than the limit."""
    for text, role in spans:
        for number, word in enumerate(text.split(" ")):
            if number:
                yield " ", role
            rest = word
            while cell_len(rest) > limit:
                head = _head(rest, limit)
                yield head, role
                rest = rest[len(head) :]
            if rest:
                yield rest, role


def _head(word: str, limit: int) -> str:
    """The characters that fit into `limit` columns, at least one; up to a slash if that is near the end."""
    end = min(len(word), limit)
    while end > 1 and cell_len(word[:end]) > limit:
        end -= 1
    slash = word.rfind("/", end // 2, end)
    return word[: slash + 1] if slash > 0 else word[:end]


def strip_of(spans: StyledPiece, widget: Widget, *, width: int, cursor: bool = False) -> Strip:
    """Paint spans, padded to the width; the cursor line is stronger if the widget has the focus.

    All text of the screens is painted here: the output edge, where control sequences are escaped.
    """
    app = widget.app
    # Without colours, the filter that removes them makes most of them fainter than plain text: bold alone tells.
    is_plain = app.no_color or app.console.color_system is None
    styles = _PLAIN_STYLES if is_plain else _role_styles(app.current_theme)
    base = widget.rich_style
    if cursor:
        name = "cursor-line" if widget.has_focus else "cursor-line-unfocused"
        # Without colours, the underline is the only sign of the cursor.
        base += Style(bgcolor=app.current_theme.variables[name], underline=is_plain or None)
    segments = [Segment(harmless(text), base + styles[role]) for text, role in spans if text]
    return Strip(segments).adjust_cell_length(width, base)


_PLAIN_STYLES = {role: Style(bold=bold) for role, (_, bold) in _VARIABLES.items()}

_known_styles: dict[str, dict[Role, Style]] = {}


def _role_styles(theme: Theme) -> dict[Role, Style]:
    """The styles of a theme; cached, since every painted line needs them."""
    if theme.name not in _known_styles:
        colours = {**vars(theme), **theme.variables}
        _known_styles[theme.name] = {
            role: Style(color=colours[name], bold=bold) for role, (name, bold) in _VARIABLES.items()
        }
    return _known_styles[theme.name]


class Piece(NamedTuple):
    """A part of a bar; a click on it runs the screen's action."""

    text: str
    role: Role = Role.PLAIN
    action: str = ""

    @property
    def width(self) -> int:
        """The columns that it takes."""
        return cell_len(harmless(self.text))


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
        self._layouts_due: Callable[[], tuple[BarLayout, ...]] | None = None

    @property
    def layouts(self) -> tuple[BarLayout, ...]:
        """The layouts, the preferred first."""
        if self._layouts_due is not None:
            self._layouts, self._layouts_due = self._layouts_due(), None
        return self._layouts

    def show_layouts_of(self, layouts_of: Callable[[], tuple[BarLayout, ...]]) -> None:
        """Have the layouts found once the bar is painted, however often this is called before; none is a message."""
        if self._layouts_due is None:
            self.refresh()
        self._layouts_due = layouts_of

    def show_layouts(self, *layouts: BarLayout) -> None:
        """Replace the layouts, the preferred first."""
        if layouts != self._layouts or self._layouts_due is not None:
            self._layouts, self._layouts_due = layouts, None
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
        if not width or not self.layouts or not self.layouts[-1].is_whole:
            return []
        message = line(*(Span(piece.text, piece.role) for piece in self.layouts[-1].left), hanging=1)
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
        for layout in self.layouts:
            used = sum(piece.width for piece in (*layout.left, *layout.right))
            if used + (1 if layout.right else 0) <= width:
                gap = Piece(" " * (width - used))
                return [*layout.left, gap, *layout.right]
        return self._cut(width)

    def _cut(self, width: int) -> list[Piece]:
        left, right, _ = self.layouts[-1] if self.layouts else BarLayout(())
        room = width - sum(piece.width for piece in (*left[:-1], *right))
        if left and right and not left[-1].action and room >= _LEAST_NAMED:
            return [*left[:-1], left[-1]._replace(text=fitted(left[-1].text, room)), *right]
        kept: list[Piece] = []
        for piece in (*left, *right):
            room = width - sum(previous.width for previous in kept)
            if piece.width > room:
                if not piece.action and room > 1:
                    kept.append(piece._replace(text=fitted(piece.text, room)))
                break
            kept.append(piece)
        return kept

    def render_line(self, y: int) -> Strip:
        """Paint a line."""
        lines = self._message_lines()
        if lines:
            return strip_of(lines[y] if y < len(lines) else [], self, width=self.size.width)
        spans = [Span(piece.text, piece.role) for piece in self._pieces()] if y == 0 else []
        return strip_of(spans, self, width=self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Run the action of the piece below the pointer."""
        position = 0
        for piece in self._pieces():
            position += piece.width
            if event.x < position:
                if piece.action:
                    self.post_message(self.Clicked(piece.action))
                return
