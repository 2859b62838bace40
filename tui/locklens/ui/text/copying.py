"""Text to the clipboard: by a program of the desktop, by tmux, or else by an escape sequence of the terminal.

Terminals are free to ignore the sequence (OSC 52), and tmux does so with its usual settings. Whether it arrived cannot
be known, so that only what a program took is called copied.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from locklens.programs import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
        outcome = "copied to tmux's buffer"
        yield _Program(("tmux", "load-buffer", "-w", "-"), outcome)
        yield _Program(
            ("tmux", "load-buffer", "-"), outcome
        )  # Before 3.2 there is no -w, which tells the terminal too.


def _takes(command: list[str], data: bytes, seconds: float) -> bool:
    """True if a program ended well; it may leave a process behind that serves the text."""
    try:
        quiet = subprocess.DEVNULL
        done = subprocess.run(command, input=data, stdout=quiet, stderr=quiet, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
