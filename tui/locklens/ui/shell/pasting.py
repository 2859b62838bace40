"""Pasted text without escape sequences, which Textual's parser of a terminal's input takes for key presses.

Textual 8.2.8 parses escape sequences within a bracketed paste too, and sends those that it does not know, such as the
colours of a log, once more as keys: these act on the screen, and characters of the paste are lost
(`reissue_sequence_as_keys` in
https://github.com/Textualize/textual/blob/v8.2.8/src/textual/_xterm_parser.py). So they are left out before its parser
sees them.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.driver import Driver
    from textual.message import Message

_LONGEST: Final = 4_096
"""Characters of a sequence that is waited for; a longer one is none, and its characters are text."""

_STRING = r"[\]PX^_][^\x07\x1b\r\n]{0,4096}"
"""What begins a title, a hyperlink or the like, and its text, which ends on its line."""

_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]?"
    rf"|{_STRING}(?:\x07|\x1b\\)?"
    r"|[ -/]{1,8}[0-~]?"
    r"|[0-~])?"
)
"""An escape sequence (ECMA-48), or what is left of one."""

_BEGUN = re.compile(rf"\x1b(?:\[[0-?]{{0,64}}[ -/]{{0,8}}|{_STRING}\x1b?|[ -/]{{1,8}})?\Z")
"""The beginning of a sequence, whose rest has not arrived."""


class PasteFilter:
    """Leaves escape sequences out of pasted text, and lets all else pass at once, as it arrives in pieces."""

    def __init__(self) -> None:
        self._is_pasted = False
        self._last = ""
        """What has passed last, in which the mark of a paste may have begun."""
        self._held = ""
        """The beginning of a sequence within a paste."""

    def filtered(self, data: str) -> str:
        """Return a piece of the input without the escape sequences of pasted text; "" while one is incomplete."""
        passed = []
        while data:
            take = self._pasted if self._is_pasted else self._typed
            piece, data = take(data)
            passed.append(piece)
        return "".join(passed)

    def _typed(self, data: str) -> tuple[str, str]:
        """Return what passes up to the beginning of a paste, with its mark, and the rest."""
        known = self._last + data
        at = known.find(BRACKETED_PASTE_START)
        if at < 0:
            self._last = known[1 - len(BRACKETED_PASTE_START) :]
            return data, ""
        end = at + len(BRACKETED_PASTE_START) - len(self._last)
        self._is_pasted, self._last = True, ""
        return data[:end], data[end:]

    def _pasted(self, data: str) -> tuple[str, str]:
        """Return the pasted text up to its end, with the mark of the end where it is there, and the rest."""
        data, self._held = self._held + data, ""
        text, mark, rest = data.partition(BRACKETED_PASTE_END)
        if mark:
            self._is_pasted = False
        else:
            recent = max(0, len(text) - _LONGEST)
            starts = (at for at, character in enumerate(text[recent:], recent) if character == "\x1b")
            begun = next((at for at in starts if _BEGUN.match(text, at)), len(text))
            text, self._held = text[:begun], text[begun:]
        return _SEQUENCE.sub("", text) + mark, rest


class PasteParser(XTermParser):
    """Textual's parser of what a terminal sends, without escape sequences in pasted text."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._filter = PasteFilter()

    def feed(self, data: str) -> Iterable[Message]:
        """Return the messages of a piece of input; "" ends it."""
        filtered = self._filter.filtered(data)
        return super().feed(filtered) if filtered or not data else ()


def read_pastes_of(driver: type[Driver]) -> type[Driver]:
    """Return a driver of Textual, which reads input by `PasteParser` from now on; one without a terminal as it is."""
    module = vars(sys.modules[driver.__module__])
    if "XTermParser" in module:  # its drivers take no parser as an argument
        module["XTermParser"] = PasteParser
    return driver
