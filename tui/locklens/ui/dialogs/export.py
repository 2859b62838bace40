"""The dialog for the file name of an export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from locklens.review.reports.lines import Role
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.closing import ClosedOnce

if TYPE_CHECKING:
    from textual.app import ComposeResult


class ExportDialog(ModalScreen[Path | None], ClosedOnce[Path | None]):
    """Asks for a file name; an existing file needs a second enter. Writes nothing itself.

    Args:
        form: The report's format, as shown in the title.
        suggestion: The initial file name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, form: str, suggestion: str) -> None:
        super().__init__()
        self._form = form
        self._suggestion = suggestion
        self._confirmed = ""

    def compose(self) -> ComposeResult:
        """Yield the title, the input and the key line."""
        with Vertical(id="dialog", classes="-small"):
            yield Bar(id="dialog-title")
            yield Input(self._suggestion, id="export-path")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Show the title and the keys."""
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((Piece(f" Export {self._form} to", Role.STRONG),)))
        self._say("enter writes, esc cancels", Role.DIM)
        self.query_one(Input).focus()

    def _say(self, message: str, role: Role) -> None:
        self.query_one("#dialog-keys", Bar).show_layouts(BarLayout((Piece(f" {message}", role),)))

    @on(Input.Changed)
    def _path_changed(self, event: Input.Changed) -> None:
        if event.value != self._confirmed:
            self._confirmed = ""
            self._say("enter writes, esc cancels", Role.DIM)

    @on(Input.Submitted)
    def _path_submitted(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if not name or "\0" in name:
            return
        path = Path(name).expanduser()
        if path.is_dir():
            self._say("is a folder: name a file in it", Role.WARN)
        elif path.exists() and self._confirmed != event.value:
            self._confirmed = event.value
            self._say("file exists: enter again overwrites it", Role.WARN)
        else:
            self.dismiss(path)

    def action_cancel(self) -> None:
        """Close without a file."""
        self.dismiss(None)
