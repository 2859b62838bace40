"""Base of the dialogs with lines to read: as wide as its text, with a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from locklens.lines import Role
from locklens.ui.dialogs.base import Dialog, DialogKey, key_layouts, width_of
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from locklens.lines import Line

_FRAME_WIDTH = 5
"""Columns of the border, the padding and the scrollbar."""
_FRAME_ROWS = 4
"""Rows of the border, the title and the keys."""
_LEAST_WIDTH = 44
_MOST_WIDTH = 140
"""A longer line is hard to read; a prose line of the help has several hundred columns."""


READING_KEYS = (
    DialogKey("j k", "move"),
    DialogKey("/", "search", "search"),
    DialogKey("n N", "next", "found(1)"),
    DialogKey("g G", "ends"),
    DialogKey("pgup pgdn", "page"),
)


class SearchInput(Input):
    """The search line; enter leaves it synchronously, so that no key typed afterwards ends up in it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.keep_search", "Search", show=False)]


class ReadingDialog(Dialog[None]):
    """Shows lines above a screen; subclasses fill them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", show=False),
        Binding("slash", "search", "Search", show=False),
        Binding("n", "found(1)", "Next match", show=False),
        Binding("N", "found(-1)", "Previous match", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("esc", "close", "close"), *READING_KEYS)

    def body(self) -> Iterable[Widget]:
        """Return the lines and the search line."""
        yield LineView(id="dialog-lines")
        with Horizontal(id="dialog-search"):
            yield Static(" /", id="dialog-search-sign")
            yield SearchInput(id="dialog-search-text", placeholder="text to find", compact=True)

    def on_mount(self) -> None:
        """Hide the search line."""
        self.query_one("#dialog-search").display = False
        self.view.focus()

    @property
    def view(self) -> LineView:
        """The lines."""
        return self.query_one("#dialog-lines", LineView)

    def show_lines(self, lines: Iterable[Line], *, keep_place: bool = False) -> None:
        """Replace the lines; arguments as of `LineView.show_lines`."""
        self.view.show_lines(lines, keep_place=keep_place)
        self._fit()

    def on_resize(self) -> None:
        """Fit the dialog into the terminal."""
        self._fit()

    def _fit(self) -> None:
        """Make the dialog as wide as its longest line, and as high as its lines, where the terminal has that much."""
        longest = max((cell_len(line.text) for line in self.view.lines), default=0)
        keys = max((width_of(layout) for layout in key_layouts(self.KEYS)), default=0)
        width = min(max(longest + _FRAME_WIDTH, keys + 2, _LEAST_WIDTH), _MOST_WIDTH, self.app.size.width)
        rows = _FRAME_ROWS + sum(bool(self.query_one(name).display) for name in ("#dialog-status", "#dialog-search"))
        self.query_one("#dialog").styles.width = width
        self.view.styles.max_height = max(1, self.app.size.height - rows)

    def say(self, message: str, role: Role = Role.INFO) -> None:
        """Show a message above the keys; "" hides it."""
        super().say(message, role)
        self._fit()

    # Search

    @property
    def sought(self) -> str:
        """The text of the search."""
        return self.query_one("#dialog-search-text", Input).value.strip()

    def action_search(self) -> None:
        """Open the search line."""
        self.query_one("#dialog-search").display = True
        self.query_one("#dialog-search-text", Input).focus()
        self._fit()

    @on(Input.Changed)
    def _search(self) -> None:
        self._find(1, is_fresh=True)

    def action_keep_search(self) -> None:
        """Go back to the lines; n and N go on from the match."""
        self.query_one("#dialog-search").display = bool(self.sought)
        self.view.focus()
        self._fit()

    def action_found(self, by: int) -> None:
        """Go to the next or previous match; without a search, open the search line."""
        if self.sought:
            self._find(by)
        else:
            self.action_search()

    def _find(self, by: int, *, is_fresh: bool = False) -> None:
        if not self.sought:
            self.view.unmark()
            self.say("")
            return
        position, number = self.view.find(self.sought, by, is_fresh=is_fresh)
        self.say(f"match {position} of {number}" if number else f'no match of "{self.sought}"')

    def action_leave(self) -> None:
        """Close the search line, or the dialog."""
        search = self.query_one("#dialog-search")
        if not search.display:
            self.action_close()
            return
        self.query_one("#dialog-search-text", Input).value = ""
        search.display = False
        self.view.focus()
        self._fit()
