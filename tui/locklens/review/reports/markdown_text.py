"""Pieces of Markdown that no text can break out of.

Text of others stands in code spans alone: there Markdown, HTML, mentions, references, links and commit ids mean
nothing, on GitHub and on GitLab. Tables and HTML elements never hold any. Right-to-left letters and combining marks,
which would redraw the words beside them, are escaped.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from locklens.review.reports.findings import bounded
from locklens.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST = 300
_DIGITS = 20
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_SPECIAL = re.compile(r"([\\*_\[\]<>#|~&@$])")


def code(text: str, limit: int = _LONGEST) -> str:
    """Return text as a code span, of at most `limit` characters between its backticks."""
    shown = bounded(text, limit)
    if not shown.isascii():
        shown = shortened("".join(map(_tame, shown)), limit)
    runs = (len(run) for run in re.findall("`+", shown))
    fence = "`" * (max(runs, default=0) + 1)
    # One space at each end is not part of a span; it keeps backticks and spaces at the ends of the text apart from it.
    room = " " if not shown or shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{room}{shown or '-'}{room}{fence}"


@lru_cache(maxsize=1024)
def _tame(character: str) -> str:
    if character.isascii():
        return character
    if unicodedata.bidirectional(character) in _RIGHT_TO_LEFT or unicodedata.category(character).startswith("M"):
        return f"\\u{ord(character):04x}"
    return character


def prose(text: str) -> str:
    """Return own text of the catalogue, whose code spans stay and whose other characters are literal."""
    pieces = text.split("`")
    return "`".join(piece if number % 2 else _SPECIAL.sub(r"\\\1", piece) for number, piece in enumerate(pieces))


class Budget:
    """The bytes that a text may still have."""

    def __init__(self, size: int) -> None:
        self.left = size

    def spend(self, lines: Iterable[str]) -> list[str]:
        """Return lines as they are, and count them."""
        spent = list(lines)
        self.left -= _size(spent)
        return spent

    def fitting(self, blocks: Iterable[Sequence[str]], number: int, *, share: int, more: str) -> list[str]:
        """Return the lines that `fitting_lines` does for a share of the bytes, or for fewer if fewer are left."""
        return self.spend(fitting_lines(blocks, number, min(share, self.left), more))


def fitting_lines(blocks: Iterable[Sequence[str]], number: int, room: int, more: str) -> list[str]:
    """Return the lines of as many blocks, from the first, as there is room for, and a line about the others.

    Args:
        blocks: Lines that stand together; those beyond the room are not asked for.
        number: The number of all blocks.
        room: Bytes for them.
        more: The line about the others, with `{}` for their number.
    """
    room -= len(more.encode()) + _DIGITS
    kept: list[str] = []
    for kept_blocks, block in enumerate(blocks):
        room -= _size(block)
        if room < 0:
            return [*kept, more.format(number - kept_blocks)]
        kept += block
    return kept


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
