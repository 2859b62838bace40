"""The dialog for the file name of an export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from locklens.lines import Role
from locklens.ui.dialogs.base import Dialog, DialogKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget


class ExportDialog(Dialog[Path | None]):
    """Asks for a file name; an existing file needs a second enter. Writes nothing itself.

    Args:
        form: The report's format, as shown in the title.
        suggestion: The initial file name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Cancel", show=False)]
    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("enter", "write"), DialogKey("esc", "cancel", "close"))
    FRAME = "-small"

    def __init__(self, form: str, suggestion: str) -> None:
        super().__init__()
        self._form = form
        self._suggestion = suggestion
        self._confirmed = ""

    def body(self) -> Iterable[Widget]:
        """Return the input."""
        yield Input(self._suggestion, id="export-path")

    def on_mount(self) -> None:
        """Show the title."""
        self.show_title(f"Export {self._form} to")
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _path_changed(self, event: Input.Changed) -> None:
        if event.value != self._confirmed:
            self._confirmed = ""
            self.say("")

    @on(Input.Submitted)
    def _path_submitted(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if not name or "\0" in name:
            return
        path = Path(name).expanduser()
        if path.is_dir():
            self.say("is a folder: name a file in it", Role.WARN)
        elif path.exists() and self._confirmed != event.value:
            self._confirmed = event.value
            self.say("file exists: enter again overwrites it", Role.WARN)
        else:
            self.dismiss(path)
