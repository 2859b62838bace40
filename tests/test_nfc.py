"""Normalisation form C: the standard library's for real texts, and linear for hostile ones."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locklens.nfc import MAX_COMBINING, CombiningSequenceError, nfc

ACUTE, CEDILLA = "\u0301", "\u0327"


@given(st.text(max_size=60))
def test_texts_are_normalised_as_ever(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("text", ["", "plain", "é", f"e{ACUTE}", "क्षि", "Z̸̡̢̛̗͓̦͓̣̥͎̦͚͖̊̉͑̈́̽̐̿͘͝"])
def test_real_writing_passes(text: str) -> None:
    assert nfc(text * 1000) == unicodedata.normalize("NFC", text * 1000)


def test_the_bound_is_exact() -> None:
    longest = "a" + (ACUTE + CEDILLA) * (MAX_COMBINING // 2)
    assert nfc(longest * 2) == unicodedata.normalize("NFC", longest * 2)
    with pytest.raises(CombiningSequenceError, match="more than 30 combining characters") as caught:
        nfc(longest + ACUTE)
    assert caught.value.offset == MAX_COMBINING + 1


def test_no_starter_hides_combining_characters() -> None:
    """Some characters of combining class 0 decompose into combining ones."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.combining(unicodedata.normalize("NFD", character)[0]):
            with pytest.raises(CombiningSequenceError):
                nfc(character * (MAX_COMBINING + 1))
