"""A dialog of lines to read: the help, a raw diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from locklens.ui.dialogs.base import DialogKey
from locklens.ui.dialogs.reading import READING_KEYS, ReadingDialog
from locklens.ui.text.clipboard import copied_line
from locklens.ui.widgets.copying import copy_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.lines import Line


class TextDialog(ReadingDialog):
    """Shows lines above the screen until it is closed.

    Args:
        title: The title; trusted text.
        lines: The content.
        closing: One more key that closes the dialog: the key that opened it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,enter", "close", "Close", show=False),
        Binding("y", "copy", "Copy the line", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("esc q", "close", "close"),
        *READING_KEYS[:3],
        DialogKey("y", "copy", "copy"),
        *READING_KEYS[3:],
    )

    def __init__(self, title: str, lines: Iterable[Line], *, closing: str = "") -> None:
        super().__init__()
        self._heading = title
        self._shown = tuple(lines)
        if closing:
            self._bindings.bind(closing, "close", show=False)

    def on_mount(self) -> None:
        """Show the title and the lines."""
        self.show_title(self._heading)
        self.show_lines(self._shown)

    def action_copy(self) -> None:
        """Copy the line under the cursor."""
        current = self.view.current
        if current is None or not current.copied:
            self.say("nothing to copy here")
            return
        self.say(copy_text(self.app, copied_line(current.copied)))
