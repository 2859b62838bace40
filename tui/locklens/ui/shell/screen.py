"""Base class of all full-size screens: status message, clickable bars, help, palette, external editor."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.screen import ScreenResultType

from locklens.errors import LockLensError
from locklens.programs import safe_environment
from locklens.ui.dialogs.base import ClosedOnce, TextDialog
from locklens.ui.shell.external import editor_command
from locklens.ui.shell.jobs import after
from locklens.ui.shell.messages import PreferenceChanged
from locklens.ui.widgets.bar import Bar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from textual import events
    from textual.command import Provider
    from textual.timer import Timer

    from locklens.lines import Line
    from locklens.ui.shell.keys import Command, KeyTable

_MESSAGE_SECONDS = 8.0
_FACTS_FROM_HEIGHT = 32
_LEGEND_FROM_HEIGHT = 40
_TWO_PANES_FROM_WIDTH = 120
"""On narrower terminals the list takes the screen: names and versions come before a second pane."""
_WIDTHS = [(0, "-narrow"), (_TWO_PANES_FROM_WIDTH, "-wide")]
_HEIGHTS = [(0, "-short"), (_FACTS_FROM_HEIGHT, "-tall"), (_LEGEND_FROM_HEIGHT, "-taller")]


def _commands() -> type[Provider]:
    """The palette's commands; loaded when the palette is opened."""
    from locklens.ui.shell.keys import ScreenCommands

    return ScreenCommands


class LockLensScreen(ClosedOnce[ScreenResultType]):
    """Owns the status message; subclasses fill the bars.

    Class attributes:
        TABLE: The screen's keys.
    """

    TABLE: ClassVar[KeyTable]
    COMMANDS: ClassVar = {_commands}
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    def __init__(self) -> None:
        super().__init__()
        self.message = ""
        self._message_timer: Timer | None = None

    @abstractmethod
    def refresh_bars(self) -> None:
        """Redraw head, status and key line."""

    @abstractmethod
    def help_lines(self) -> Iterable[Line]:
        """The help: all keys and signs."""

    def palette_commands(self) -> Iterable[Command]:
        """Return the commands that the palette offers on this screen."""
        from locklens.ui.shell.keys import key_commands

        return key_commands(self.TABLE)

    @property
    def is_open(self) -> bool:
        """True while the screen has widgets: late messages may arrive after they were removed."""
        return bool(self.children)

    @property
    def is_narrow(self) -> bool:
        """True if there is room for one pane only."""
        return self.size.width < _TWO_PANES_FROM_WIDTH

    def on_descendant_focus(self) -> None:
        """Show the keys of the pane that has the focus."""
        self.refresh_bars()

    def on_key(self, event: events.Key) -> None:
        """Say of a letter, digit or sign that it does nothing here.

        Keys that are bound with priority do not get here; the others do, before their action is run.
        """
        if event.key in self.active_bindings:
            return
        label = "space" if event.key == "space" else event.character if event.is_printable else None
        if label is not None:
            self.say(f"{label} does nothing on this screen; ? lists its keys")

    def say(self, message: str) -> None:
        """Show a message in the status line for `_MESSAGE_SECONDS`."""
        self.message = message
        if self._message_timer is not None:
            self._message_timer.stop()
        self._message_timer = after(self, _MESSAGE_SECONDS, self._clear_message)
        self.refresh_bars()

    def say_error(self, error: LockLensError) -> None:
        """Show an error and its hint in the status line."""
        self.say(error.sentence)

    def end_message(self) -> None:
        """End the message before its time."""
        if self.message:
            self.say("")

    def _clear_message(self) -> None:
        self.message = ""
        self.refresh_bars()

    @on(Bar.Clicked)
    async def _click_bar(self, event: Bar.Clicked) -> None:
        await self.run_action(event.action)

    def open_editor(self, path: Path, number: int, folder: Path | None) -> str:
        """Open a line in the editor; the UI is suspended until the editor exits.

        Args:
            path: The file.
            number: The line, from 1.
            folder: The editor's working directory.

        Returns:
            The problem in words; "" on success.
        """
        import subprocess

        from textual.app import SuspendNotSupported

        try:
            command = editor_command(os.environ, path, number)
            with self.app.suspend():
                subprocess.run(command, check=False, cwd=folder, env=safe_environment())
        except LockLensError as error:
            return error.sentence
        except (OSError, SuspendNotSupported) as error:
            return f"the editor cannot be started: {error}"
        return ""

    def action_help(self) -> None:
        """Show the help."""
        self.app.push_screen(TextDialog("All keys of this screen", self.help_lines(), closing="question_mark"))

    def action_palette(self) -> None:
        """Open the command palette."""
        self.app.action_command_palette()

    def action_theme(self) -> None:
        """Switch between dark and light."""
        name = "light" if self.app.current_theme.dark else "dark"
        self.app.theme = f"locklens-{name}"
        self.post_message(PreferenceChanged("theme", name))
