"""The dialog that a log is pasted into."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from locklens.review.reports.lines import Role
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.closing import ClosedOnce

if TYPE_CHECKING:
    from textual.app import ComposeResult


class PasteDialog(ModalScreen[str | None], ClosedOnce[str | None]):
    """Asks for the log of a failed run; nothing in it is interpreted."""

    DEFAULT_CSS = "PasteDialog TextArea { height: 1fr; border: none; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False, priority=True),
        Binding("ctrl+d,ctrl+s", "done", "Diagnose", show=False, priority=True),
    ]

    def compose(self) -> ComposeResult:
        """Yield the title, the text and the key line."""
        with Vertical(id="dialog"):
            yield Bar(id="dialog-title")
            yield TextArea(id="log")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Show title and keys."""
        title = Piece(" Paste the log of the failed run", Role.STRONG)
        keys = Piece(" ctrl+d diagnoses, esc cancels", Role.DIM)
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((title,)))
        self.query_one("#dialog-keys", Bar).show_layouts(BarLayout((keys,)))
        self.query_one(TextArea).focus()

    def action_done(self) -> None:
        """Close with the text."""
        self.dismiss(self.query_one(TextArea).text or None)

    def action_cancel(self) -> None:
        """Close without a log."""
        self.dismiss(None)
