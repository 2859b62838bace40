"""The dialog that asks where to write a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from locklens.ui.text.spans import Role
from locklens.ui.widgets.bar import Bar, BarLayout, Piece

if TYPE_CHECKING:
    from textual.app import ComposeResult


class ExportDialog(ModalScreen[Path | None]):
    """Asks for a file name; an existing file needs a second enter. Writes nothing itself.

    Args:
        what: What is exported, in our own words.
        suggestion: The file name to begin with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, what: str, suggestion: str) -> None:
        super().__init__()
        self._what = what
        self._suggestion = suggestion
        self._confirmed = ""

    def compose(self) -> ComposeResult:
        """A frame with the question."""
        with Vertical(id="dialog", classes="-small"):
            yield Bar(id="dialog-title")
            yield Input(self._suggestion, id="export-path")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Fills it."""
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((Piece(f" Export {self._what} to", Role.STRONG),)))
        self._say("enter writes, esc cancels", Role.DIM)
        self.query_one(Input).focus()

    def _say(self, words: str, role: Role) -> None:
        self.query_one("#dialog-keys", Bar).show_layouts(BarLayout((Piece(f" {words}", role),)))

    @on(Input.Changed)
    def _path_changed(self, event: Input.Changed) -> None:
        if event.value != self._confirmed:
            self._confirmed = ""
            self._say("enter writes, esc cancels", Role.DIM)

    @on(Input.Submitted)
    def _path_chosen(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if not name or "\0" in name:
            return
        path = Path(name).expanduser()
        if path.is_dir():
            self._say("that is a folder; name a file in it", Role.WARN)
        elif path.exists() and self._confirmed != event.value:
            self._confirmed = event.value
            self._say("the file exists; enter again overwrites it", Role.WARN)
        else:
            self.dismiss(path)

    def action_cancel(self) -> None:
        """Goes back without a file."""
        self.dismiss(None)
