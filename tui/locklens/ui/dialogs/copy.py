"""The dialog that offers what to copy of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from locklens.review.reports.lines import Role, Span, line
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.closing import ClosedOnce
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

_LABEL_WIDTH = 13


class CopyChoice(NamedTuple):
    """One text that can be copied.

    Attributes:
        label: The kind of the text.
        text: For `locklens.ui.text.clipboard.copied_line`.
        shown: What the list shows for it; "" for itself.
    """

    label: str
    text: str
    shown: str = ""


class CopyDialog(ModalScreen[CopyChoice | None], ClosedOnce[CopyChoice | None]):
    """Offers texts; the result is the selected one, None if the dialog was closed.

    Args:
        choices: The texts, the most usual first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "copy", "Copy", show=False),
        Binding("escape,q", "close", "Close", show=False),
    ]

    def __init__(self, choices: Sequence[CopyChoice]) -> None:
        super().__init__()
        self._choices = tuple(choices)

    def compose(self) -> ComposeResult:
        """Yield the title, the choices and the key line."""
        with Vertical(id="dialog"):
            yield Bar(id="dialog-title")
            yield LineView(id="dialog-lines")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Show the title, the choices and the keys."""
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((Piece(" Copy", Role.STRONG),)))
        keys = (("enter", "copy", "copy"), ("j k", "move", ""), ("esc", "close", "close"))
        pieces = [
            piece
            for key, words, action in keys
            for piece in (Piece(f" {key}", Role.INFO, action), Piece(f" {words}  ", Role.DIM, action))
        ]
        self.query_one("#dialog-keys", Bar).show_layouts(BarLayout(tuple(pieces)))
        view = self.query_one(LineView)
        view.show_lines(
            line(
                Span(choice.label.ljust(_LABEL_WIDTH), Role.DIM),
                choice.shown or choice.text,
                hanging=_LABEL_WIDTH,
                copied=choice.text,
            )
            for choice in self._choices
        )
        view.focus()

    async def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """Run the action of the clicked piece."""
        event.stop()
        if event.action:
            await self.run_action(event.action)

    def action_copy(self) -> None:
        """Select the highlighted text."""
        view = self.query_one(LineView)
        self.dismiss(self._choices[view.cursor] if view.current is not None else None)

    def action_close(self) -> None:
        """Close without a text."""
        self.dismiss(None)
