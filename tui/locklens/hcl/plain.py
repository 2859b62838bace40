"""The expressions that nearly all configurations have, read without a parser: objects of plain strings, and references.

A text that is anything else is left to `expressions`, and says nothing about its validity.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.hcl.constants import KEYWORDS
from locklens.hcl.source import NAME, STRAY
from locklens.hcl.strings import normal
from locklens.hcl.values import Expression, Literal, ObjectExpr, Reference

if TYPE_CHECKING:
    from locklens.hcl.source import SourceText

_OPENING = re.compile(r"\{[ \t\n]*+")
_ITEM = re.compile(rf'({NAME})[ \t]*+=[ \t]*+("[^"\\$%\r\n{STRAY}]*+")[ \t]*+')
_SEPARATOR = re.compile(r"(?:,|\n)[ \t\n]*+")
_REFERENCE = re.compile(rf"{NAME}(?:\.{NAME})*+\Z")
_WORDS = frozenset({*KEYWORDS, "for", "if", "in", "else", "endif", "endfor"})
"""Names with a meaning of their own in some place."""


def read_plain(source: SourceText, start: int, end: int) -> Expression | None:
    """Return the object or the reference between two offsets; None for any other expression.

    Args:
        source: The text of the file.
        start: Offset of the expression's first character.
        end: Offset behind its last character.
    """
    if source.text.startswith("{", start):
        return _object(source, start, end)
    match = _REFERENCE.match(source.text, start, end)
    parts = match[0].split(".") if match is not None else []
    if not parts or not _WORDS.isdisjoint(parts):
        return None
    return Reference(tuple(parts), source.place(start, end))


def _object(source: SourceText, start: int, end: int) -> ObjectExpr | None:
    text = source.text
    opening = _OPENING.match(text, start, end)
    at = opening.end() if opening is not None else end
    items: list[tuple[Expression, Expression]] = []
    while (item := _ITEM.match(text, at, end)) is not None:
        if item[1] in _WORDS:
            return None
        key = Literal(item[1], source.place(*item.span(1)))
        items.append((key, Literal(normal(item[2][1:-1], item.start(2)), source.place(*item.span(2)))))
        at = item.end()
        separator = _SEPARATOR.match(text, at, end)
        if separator is None:
            break
        at = separator.end()
    if at != end - 1 or text[at] != "}":
        return None
    return ObjectExpr(tuple(items), source.place(start, end))
