"""Pasted text with escape sequences: none of it arrives as a key, in whatever pieces a terminal sends it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START
from textual.message import Message

from locklens.doctor.recognising import read_log
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.ui.app import LockLensApp
from locklens.ui.shell.pasting import PasteParser

RED, PLAIN, LINK = "\x1b[31m", "\x1b[0m", "\x1b]8;;https://example.com/a\x1b\\"
LOG = f"""{RED}╷{PLAIN}
{RED}│{PLAIN} {RED}Error: {PLAIN}\x1b[0m\x1b[1mFailed to install provider{PLAIN}\x1b[K
│ {LINK}Error while installing hashicorp/aws v5.84.0{LINK}: the local package for registry.terraform.io/hashicorp/aws
│ 5.84.0 doesn't match any of the checksums previously recorded\x1b(B in the dependency lock file\x1b[38;5;9m
╵
"""


def arrived(pieces: Iterable[str]) -> list[Message]:
    """Returns what the app is told of pieces of input."""
    parser = PasteParser()
    return [one for piece in pieces for one in parser.feed(piece)]


def pieces_of(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 4096])
def test_a_paste_with_colours_is_one_paste_without_them(size: int) -> None:
    sent = f"x{BRACKETED_PASTE_START}{LOG}{BRACKETED_PASTE_END}y"
    first, paste, last = arrived(pieces_of(sent, size))
    assert isinstance(first, events.Key)
    assert first.key == "x"
    assert isinstance(last, events.Key)
    assert last.key == "y"
    assert isinstance(paste, events.Paste)
    assert "\x1b" not in paste.text
    assert paste.text.splitlines()[1] == "│ Error: Failed to install provider"
    assert [one.kind for one in read_log(paste.text.encode()).errors] == ["local-package"]


@pytest.mark.parametrize("size", [1, 3, 4096])
@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("a\x1b", "a"),
        ("a\x1b[", "a"),
        ("a\x1b[31", "a"),
        ("a\x1b]0;title", "a"),
        ("a\x1b]0;title\nb", "a\nb"),
        ("a\x1b[\nb", "a\nb"),
        ("\x1b\x1b[31mred", "red"),
        ("\x1b[1;5Ab\x1b[11~c\x1b[<0;1;1M", "bc"),
        ("", ""),
    ],
)
def test_broken_sequences_and_those_of_keys_end_with_the_paste(content: str, left: str, size: int) -> None:
    sent = f"{BRACKETED_PASTE_START}{content}{BRACKETED_PASTE_END}q"
    paste, key = arrived(pieces_of(sent, size))
    assert isinstance(paste, events.Paste)
    assert paste.text == left
    assert isinstance(key, events.Key)
    assert key.key == "q"


def test_keys_outside_of_a_paste_arrive_as_before() -> None:
    keys = [one.key for one in arrived(("\x1b[A", "\x1b", "[B", "\x1bOP", "j")) if isinstance(one, events.Key)]
    assert keys == ["up", "down", "f1", "j"]


def test_the_driver_of_a_terminal_reads_by_this_parser(tmp_path: Path) -> None:
    app = LockLensApp(LockLens(ReviewRequest(lambda: open_git(tmp_path))), store_path=tmp_path / "store.sqlite3")
    driver = app.get_driver_class()
    assert vars(sys.modules[driver.__module__])["XTermParser"] is PasteParser
