"""A dialog of lines to read: the help, a raw diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from locklens.ui.text.clipboard import copied_line
from locklens.ui.text.spans import Line, Role
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult


class TextDialog(ModalScreen[None]):
    """Shows lines above the screen until it is closed.

    Args:
        title: The title; trusted text.
        lines: The content.
        closing: One more key that closes the dialog: the key that opened it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Close", show=False),
        Binding("y", "copy", "Copy the line", show=False),
    ]

    def __init__(self, title: str, lines: Iterable[Line], *, closing: str = "") -> None:
        super().__init__()
        self._heading = title
        self._shown = tuple(lines)
        if closing:
            self._bindings.bind(closing, "close", show=False)

    def compose(self) -> ComposeResult:
        """Yields the title, the lines and the key line."""
        with Vertical(id="dialog"):
            yield Bar(id="dialog-title")
            yield LineView(id="dialog-lines")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Shows the title, the lines and the keys."""
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((Piece(f" {self._heading}", Role.STRONG),)))
        keys = (Piece(" esc", Role.INFO, "close"), Piece(" close   ", Role.DIM, "close"), Piece("j k", Role.INFO))
        self.query_one("#dialog-keys", Bar).show_layouts(BarLayout((*keys, Piece(" scroll", Role.DIM))))
        view = self.query_one(LineView)
        view.show_lines(self._shown)
        view.focus()

    async def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """Runs the action of the clicked piece."""
        event.stop()
        await self.run_action(event.action)

    def action_close(self) -> None:
        """Closes the dialog."""
        self.dismiss()

    def action_copy(self) -> None:
        """Copies the line under the cursor."""
        current = self.query_one(LineView).current
        if current is not None and current.copied:
            self.app.copy_to_clipboard(copied_line(current.copied))
            self.notify(f"Copied: {copied_line(current.copied)}")
