"""The dialog that a log is pasted into."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from locklens.ui.dialogs.base import Dialog, DialogKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget


class PasteDialog(Dialog[str | None]):
    """Asks for the log of a failed run; nothing in it is interpreted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Cancel", show=False, priority=True),
        Binding("ctrl+d,ctrl+s", "done", "Diagnose", show=False, priority=True),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("ctrl+d", "diagnose", "done"), DialogKey("esc", "cancel", "close"))
    FRAME = "-tall"

    def body(self) -> Iterable[Widget]:
        """Return the text."""
        yield TextArea(id="log")

    def on_mount(self) -> None:
        """Show the title."""
        self.show_title("Paste the log of the failed run")
        self.query_one(TextArea).focus()

    def action_done(self) -> None:
        """Close with the text."""
        self.dismiss(self.query_one(TextArea).text or None)
