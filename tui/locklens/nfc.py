"""Unicode normalisation form C, for texts that an attacker may have written.

Normalisation sorts every run of combining characters. In CPython the sort is quadratic in the length of the run and
holds the interpreter's lock, so that a megabyte of combining characters takes hours that no signal can end. Unicode's
Stream-Safe Text Format (UAX #15, section 13) allows 30 in a row, more than any writing system needs.
"""

from __future__ import annotations

import unicodedata

MAX_COMBINING = 30
"""Combining characters in a row, as in the Stream-Safe Text Format."""

# Starters by their combining class, which decompose into two combining characters.
_DECOMPOSING = "\u0f73\u0f75\u0f81"


class CombiningSequenceError(ValueError):
    """A text has too many combining characters in a row.

    Attributes:
        offset: Offset of the first character beyond the limit.
    """

    def __init__(self, offset: int) -> None:
        super().__init__(f"more than {MAX_COMBINING} combining characters follow each other")
        self.offset = offset


def nfc(text: str) -> str:
    """Return a text in normalisation form C, in linear time.

    Raises:
        CombiningSequenceError: More than `MAX_COMBINING` combining characters follow each other.
    """
    if text.isascii():
        return text
    check_combining(text)
    return unicodedata.normalize("NFC", text)


def check_combining(text: str) -> None:
    """Check that a text can be normalised in linear time.

    Raises:
        CombiningSequenceError: More than `MAX_COMBINING` combining characters follow each other.
    """
    if len(text) <= MAX_COMBINING or text.isascii():
        return
    combining = unicodedata.combining
    run = 0
    for offset, character in enumerate(text):
        if not combining(character) and character not in _DECOMPOSING:
            run = 0
            continue
        run += 1
        if run > MAX_COMBINING:
            raise CombiningSequenceError(offset)
