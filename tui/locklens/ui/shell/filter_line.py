"""The filter's line below the panes: its field, and the keys that are no text while it is typed into.

Parses and applies no filter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from locklens.ui.shell import bars
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from locklens.ui.widgets import BarLayout

_KEYS = KeyTable(
    KeyGroup(
        "Filter",
        Key("enter", "keep_filter", "keep filter: back to the list", "keep filter"),
        Key("esc", "back", "clear filter: back to the list", "clear filter"),
    ),
    in_list="enter|esc",
)


class FilterInput(Input):
    """The field of the filter."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.keep_filter", "Show", show=False)]


class FilterLine(Horizontal):
    """The field, whose placeholder is the hint, and its sign; out of sight until it is opened."""

    def __init__(self, hint: str) -> None:
        super().__init__(id="filter-line")
        self.display = False
        self._field = FilterInput(id="filter", placeholder=hint, compact=True)

    def compose(self) -> ComposeResult:
        """Yield the sign and the field."""
        yield Static(" /", id="filter-sign")
        yield self._field

    @property
    def text(self) -> str:
        """The text in the field."""
        return self._field.value

    @text.setter
    def text(self, text: str) -> None:
        self._field.value = text
        self.fold()

    @property
    def is_typed_into(self) -> bool:
        """True while the field has the focus, and takes all other keys as text."""
        return self._field.has_focus

    @property
    def key_line(self) -> tuple[BarLayout, ...]:
        """The key line while the field has the focus."""
        return bars.key_line(_KEYS, in_detail=False)

    def open(self) -> None:
        """Show the field, and type into it."""
        self.display = True
        self.screen.set_focus(self._field)

    def fold(self) -> None:
        """Hide an empty field."""
        self.display = bool(self.text)
