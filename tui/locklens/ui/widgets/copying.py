"""The clipboard of the app, which says for every screen and dialog what became of a text."""

from __future__ import annotations

import os
from typing import Any

from textual.app import App

from locklens.text import visible
from locklens.ui.text.copying import SENT_TO_TERMINAL, copy_by_program


class CopyingApp(App[int]):
    """An app that copies by a program where one takes the text, and else by the terminal."""

    copied_words = ""
    """What became of the last text."""

    def copy_to_clipboard(self, text: str) -> None:
        """Copy printable lines: the only way to the clipboard, for every screen and widget."""
        shown = "\n".join(map(visible, text.split("\n")))
        self.copied_words = copy_by_program(shown, os.environ)
        if self.copied_words:
            self._clipboard = shown
        else:
            super().copy_to_clipboard(shown)
            self.copied_words = SENT_TO_TERMINAL


def copy_text(app: App[Any], text: str, name: str = "") -> str:
    """Copy text, and return a message that says what became of it.

    Args:
        app: The app.
        text: The text.
        name: What stands for the text in the message; "" for itself.
    """
    app.copy_to_clipboard(text)
    words = app.copied_words if isinstance(app, CopyingApp) else SENT_TO_TERMINAL
    return f"{words}: {name or text}"
