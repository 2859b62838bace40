"""The clipboard: what is copied of a row or a line, and the program or terminal that takes it.

Copied text is untrusted: a root's name may be `$(rm -rf ~)`, a constraint `>= 1.0`. So all text except command lines
is quoted for a shell, which leaves versions, hashes and addresses unchanged. A row of a list is copied without names
of roots and files, which disclose the repository's structure; a line about a file is copied with the file's name, and
Markdown as the report has it, with roots and files.

Terminals are free to ignore the escape sequence that copies (OSC 52), and tmux does so with its usual settings. Whether
it arrived cannot be known, so that only what a program took is called copied.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import App

from locklens.machine import find_program
from locklens.text import shell_word, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.review.findings import Finding
    from locklens.review.model import Change


class ShellText(str):
    """A command line, words quoted by `locklens.text.shell_words`, or escaped Markdown: copied verbatim."""

    __slots__ = ()


class MarkdownText(ShellText):
    """Lines of Markdown that `quoted_markdown` made."""

    __slots__ = ()


def copied_line(text: str) -> str:
    """Return the clipboard text for `Line.copied`."""
    if isinstance(text, MarkdownText):
        return "\n".join(map(visible, text.split("\n")))
    return visible(text) if isinstance(text, ShellText) else shell_word(text)


_SPECIAL = re.compile(r"[!\"#$&'()*+;<>?\[\\\]^`_{|}~]")


def markdown_text(text: str) -> ShellText:
    """Return text as Markdown that shows it: a backslash before each character that Markdown or a shell interprets."""
    return ShellText(_SPECIAL.sub(r"\\\g<0>", visible(text)))


_QUOTE = "[locklens]: '"
"""To Markdown a link's definition, which it does not show and no text uses; to a shell one end of a quoted word."""


def quoted_markdown(text: str) -> MarkdownText:
    """Return Markdown as one quoted word of a shell, which runs nothing of it; apostrophes become typographic ones."""
    return MarkdownText("\n".join((_QUOTE, "", text.strip("\n").replace("'", "\u2019"), "", _QUOTE)))


def change_copied(change: Change) -> str:
    """Provider and versions, e.g. "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0"."""
    old = str(change.old.version) if change.old else "none"
    new = str(change.new.version) if change.new else "none"
    return f"{change.address} {new}" if old == new else f"{change.address} {old} -> {new}"


def finding_copied(finding: Finding) -> str:
    """Rule, severity and message."""
    return f"{finding.rule} {finding.severity}: {finding.message}"


SENT_TO_TERMINAL = "sent to the terminal (OSC 52), which may ignore it"

_SECONDS = 2.0
"""For all programs together: one of a display that is gone never answers."""


class _Program(NamedTuple):
    """A program that takes text on standard input, and how a message names it."""

    words: tuple[str, ...]
    outcome: str
    encoding: str = "utf-8"


def copy_by_program(text: str, environment: Mapping[str, str]) -> str:
    """Give text to the first program that takes it; return what happened in words, "" where none took it."""
    deadline = time.monotonic() + _SECONDS
    for program in _programs(environment):
        path = find_program(program.words[0])
        left = deadline - time.monotonic()
        if path is not None and left > 0 and _takes([path, *program.words[1:]], text.encode(program.encoding), left):
            return program.outcome
    return ""


def _programs(environment: Mapping[str, str]) -> Iterator[_Program]:
    is_remote = "SSH_CONNECTION" in environment
    if sys.platform == "darwin" and not is_remote:
        yield _Program(("pbcopy",), "copied with pbcopy")
    if sys.platform == "win32" and not is_remote:
        yield _Program(("clip.exe",), "copied with clip.exe", "utf-16")
    if environment.get("WAYLAND_DISPLAY"):
        yield _Program(("wl-copy",), "copied with wl-copy")
    if environment.get("DISPLAY"):
        yield _Program(("xclip", "-selection", "clipboard"), "copied with xclip")
        yield _Program(("xsel", "--clipboard", "--input"), "copied with xsel")
    if environment.get("WSL_DISTRO_NAME") and not is_remote:
        yield _Program(("clip.exe",), "copied with clip.exe", "utf-16")
    if environment.get("TMUX"):
        yield _Program(("tmux", "load-buffer", "-w", "-"), "copied to tmux's buffer")
        # Before 3.2 there is no -w, which tells the terminal too.
        yield _Program(("tmux", "load-buffer", "-"), "copied to tmux's buffer")


def _takes(command: list[str], data: bytes, seconds: float) -> bool:
    """True if a program ended well; it may leave a process behind that serves the text."""
    try:
        quiet = subprocess.DEVNULL
        done = subprocess.run(command, input=data, stdout=quiet, stderr=quiet, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


class CopyingApp(App[int]):
    """An app that copies by a program where one takes the text, and else by the terminal."""

    copied_words = ""
    """The result for the last text."""

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
    """Copy text, and say what became of it; `name` are the words for the text, "" for the text itself."""
    app.copy_to_clipboard(text)
    words = app.copied_words if isinstance(app, CopyingApp) else SENT_TO_TERMINAL
    return f"{words}: {name or text}"
