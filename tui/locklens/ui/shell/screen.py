"""Base class of all full-size screens, and the programs that they start: editors and browsers.

Status message, clickable bars, help and palette; commands of editors, addresses of release pages, paths that open.
"""

from __future__ import annotations

import os
import shlex
import sys
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.screen import ScreenResultType

from locklens.errors import LockLensError
from locklens.machine import find_program, safe_environment
from locklens.review.reports.evidence_lines import page_of_release
from locklens.text import visible
from locklens.ui.dialogs import ClosedOnce, TextDialog, label_of
from locklens.ui.shell import after
from locklens.ui.views import PreferenceChanged
from locklens.ui.widgets import Bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.command import Provider
    from textual.timer import Timer

    from locklens.addresses import ProviderAddress
    from locklens.lines import FilePlace, Line
    from locklens.review.model import Review
    from locklens.ui.shell.keys import Command, KeyTable

_PLUS_LINE = frozenset(
    ["vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "mg", "ne", "jed"]
)
_COLON_LINE = {"hx", "helix", "subl", "zed"}
_OPENERS = {"darwin": ("open",), "win32": ("explorer",)}
_GOTO = {"code", "codium", "code-insiders", "cursor"}


def editor_command(environment: Mapping[str, str], path: Path, number: int) -> list[str]:
    """Return the arguments that open a file at a line; the path is a separate argument, and no shell is involved.

    The editor is started in the repository under review, so that its program is named in full.

    Raises:
        LockLensError: No editor is set or found, or the setting cannot be split into words.
    """
    setting = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        words = shlex.split(setting, posix=os.name != "nt")
    except ValueError as error:
        raise LockLensError(f"EDITOR cannot be parsed: {error}", hint="close the quotes") from error
    if not words:
        raise LockLensError("no editor is set", hint="set EDITOR, for example to vim")
    words[0] = _program(words[0])
    name = Path(words[0]).name.removesuffix(".exe")
    file = os.fspath(path)
    if name in _PLUS_LINE:
        return [*words, f"+{number}", file]
    if name in _COLON_LINE:
        return [*words, f"{file}:{number}"]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{number}"]
    return [*words, file]


def has_editor(environment: Mapping[str, str]) -> bool:
    """True if an editor is set, and found."""
    try:
        return bool(editor_command(environment, Path(), 1))
    except LockLensError:
        return False


def _program(name: str) -> str:
    """Return the full path of the program of an editor, or of a browser that is named as editors are."""
    if os.path.isabs(name):  # noqa: PTH117
        return name
    if os.path.basename(name) != name:  # noqa: PTH119
        raise LockLensError(f"the editor {visible(name)} is a relative path", hint="set EDITOR to its full path")
    found = find_program(name)
    if found is None:
        raise LockLensError(f"the editor {visible(name)} is not on PATH", hint="set EDITOR to its full path")
    return found


def release_page(address: ProviderAddress, version: str) -> str:
    """Return the address of a release's page; raises LockLensError for a host other than the default registries'."""
    url = page_of_release(address, version)
    if not url:
        raise LockLensError(f"no release page known for {address.host}", hint="only default registries have one")
    return url


def has_browser(environment: Mapping[str, str]) -> bool:
    """True if a windowed browser can be expected: a terminal browser would write over the screen."""
    if sys.platform in {"win32", "darwin"}:
        return "SSH_CONNECTION" not in environment
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def browser_command(environment: Mapping[str, str], url: str) -> list[str] | None:
    """Return the arguments that open a page in a browser, its program named in full; None without a browser.

    `BROWSER` names browsers as the system's own openers have it: between separators, with `%s` for the page.
    """
    for setting in environment.get("BROWSER", "").split(os.pathsep):
        try:
            words = shlex.split(setting, posix=os.name != "nt")
            program = _program(words[0]) if words else ""
        except (LockLensError, ValueError):
            continue
        if program:
            arguments = [word.replace("%s", url) for word in words[1:]]
            return [program, *arguments] if arguments != words[1:] else [program, *arguments, url]
    opener = find_program(*_OPENERS.get(sys.platform, ("xdg-open", "wslview", "x-www-browser")))
    return None if opener is None else [opener, url]


def open_page(command: list[str]) -> None:
    """Start a browser that outlives this program, far from the repository: it may look for files where it is started.

    Raises:
        OSError: It cannot be started.
    """
    import subprocess
    import threading

    none = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=os.sep, env=safe_environment(), stdin=none, stdout=none, stderr=none, start_new_session=True
    )
    # Its end is taken note of where it comes first, and not waited for at the end of this program.
    threading.Thread(target=process.wait, daemon=True).start()


def work_tree_file(review: Review | None, top: Path | None, place: FilePlace | None) -> Path:
    """Return the path of a place's file; raises LockLensError if the head is not the work tree, or the file is gone."""
    if place is None or review is None:
        raise LockLensError("no line to open here")
    if top is None or review.head.kind not in {"worktree", "file"}:
        raise LockLensError("only work tree files can be opened", hint="this review is of a revision or the index")
    return file_below(top, place)


def file_below(top: Path, place: FilePlace) -> Path:
    """Return the path of a place's file; raises LockLensError if it is missing, or outside the top folder."""
    path = Path(os.path.normpath(top / place.file))
    # Unlike `Path.is_file` this raises nothing for a name that no file can have.
    if not path.is_relative_to(top) or not os.path.isfile(path):  # noqa: PTH113
        raise LockLensError(f"{place.file} is not in the work tree")
    return path


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
        PARTS: Selectors of the widgets that the screen draws into.
    """

    TABLE: ClassVar[KeyTable]
    PARTS: ClassVar[tuple[str, ...]] = ("#head", "#detail", "#status", "#keys")
    COMMANDS: ClassVar = {_commands}
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    def __init__(self) -> None:
        super().__init__()
        self.message = ""
        self._waiting = ""
        """News that the message keeps from being shown."""
        self._is_refusal = False
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

        return self.acting(key_commands(self.TABLE))

    def commands_off(self) -> Iterable[Command]:
        """Return the commands that the palette shows as off, each with the reason; none without a reason."""
        return ()

    @property
    def idle_keys(self) -> frozenset[str]:
        """Labels of the keys that do nothing now, where the cursor is."""
        return frozenset()

    def acting(self, commands: Iterable[Command]) -> list[Command]:
        """Return the commands without those of keys that do nothing now."""
        off = self.idle_keys
        idle = {key.action.partition("(")[0] for key in self.TABLE.keys if key.label in off}
        return [one for one in commands if one.action.partition("(")[0] not in idle]

    @property
    def is_open(self) -> bool:
        """True while all parts are there: on the way out, timers and messages come between their removals."""
        return all(self.query_one_optional(part) is not None for part in self.PARTS)

    @property
    def is_narrow(self) -> bool:
        """True if there is room for one pane only."""
        return self.size.width < _TWO_PANES_FROM_WIDTH

    def keep_pane(self, *, is_detail: bool) -> None:
        """Keep which pane a narrow terminal shows; a terminal that becomes narrow has all styles found anew anyway."""
        self.set_class(is_detail, "-detail", update=self.has_class("-narrow"))

    def on_descendant_focus(self) -> None:
        """Show the keys of the pane that has the focus."""
        self.refresh_bars()

    def on_key(self, event: events.Key) -> None:
        """Say of a letter, digit, sign or enter that it does nothing here.

        Keys that are bound with priority do not get here; the others do, before their action is run.
        """
        if event.key in self.active_bindings:
            if self._is_refusal:
                self.end_message()
            return
        if label := label_of(event):
            self.refuse_idle_key(label)

    def refuse_idle_key(self, label: str) -> None:
        """Say that a key does nothing."""
        self.refuse(self.words_of_idle_key(label))

    def words_of_idle_key(self, label: str) -> str:
        """What is said about a key that does nothing."""
        return f"{label} does nothing on this screen; ? lists its keys"

    def on_paste(self, event: events.Paste) -> None:  # noqa: ARG002 - as a screen that takes text declares it
        """Say that nothing takes pasted text where the focus is."""
        way_on = "press / before it, for the filter" if "slash" in self.active_bindings else "? lists its keys"
        self.say(f"pasted text does nothing on this screen; {way_on}")

    def say(self, message: str) -> None:
        """Show the answer to a key in the status line: until a key of the screen is pressed, or `_MESSAGE_SECONDS`."""
        self.message, self._is_refusal = message, False
        if self._message_timer is not None:
            self._message_timer.stop()
        self._message_timer = after(self, _MESSAGE_SECONDS, self._clear_message)
        self.refresh_bars()

    def refuse(self, message: str) -> None:
        """Say why a key does nothing; a move of the cursor, which takes away no other message, ends this one."""
        self.say(message)
        self._is_refusal = True

    def announce(self, news: str) -> None:
        """Show what no key asked for, once the answer to the last key is no longer shown."""
        if self.message:
            self._waiting = news
        else:
            self.say(news)

    def say_error(self, error: LockLensError) -> None:
        """Show an error and its hint in the status line."""
        self.say(error.sentence)

    def end_message(self) -> None:
        """End the message before its time, and show the news that waited for that."""
        if self.message:
            self._clear_message()

    def _clear_message(self) -> None:
        self.message, self._waiting = self._waiting, ""
        self.say(self.message) if self.message else self.refresh_bars()

    @on(Bar.Clicked)
    async def _click_bar(self, event: Bar.Clicked) -> None:
        await self.run_action(event.action)

    def open_editor(self, path: Path, number: int, folder: Path | None) -> str:
        """Open a line, counted from 1, in the editor; return the problem in words, "" on success.

        The UI is suspended until the editor exits, whose working directory is `folder`.
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
