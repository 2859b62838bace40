"""Constant expressions, read as strictly as HCL does: all that a lock file may hold."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from locklens.hcl.scan import Scanner
from locklens.hcl.source import MAX_DEPTH, SourceText, SyntaxProblemError
from locklens.hcl.values import Dynamic, Expression, ListExpr, Literal

if TYPE_CHECKING:
    from locklens.hcl.strings import TextSpan

KEYWORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

_SPACE = re.compile(r"(?:[ \t]|\r?\n|(?:\#|//)[^\n]*+|/\*(?s:.*?)\*/)*+")
_TOKEN = re.compile(r'"|<<|\[|-?[0-9][0-9.eE+-]*+|[a-z]++')
_NUMBER = re.compile(r"-?[0-9]++(?:\.[0-9]++)?(?:[eE]([+-]?[0-9]++))?\Z")
_MAX_EXPONENT = 300
_TEMPLATE_DEPTH = MAX_DEPTH // 4
"""Levels that an interpolation counts for: what is in it is read once more for each template around it."""

_MAX_DIGITS = 1000


def number(text: str) -> int | float | None:
    """Return the value of a number literal, None for another text; whole numbers are int, however they are written."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    if len(text) > _MAX_DIGITS or (match[1] and abs(int(match[1][:6])) > _MAX_EXPONENT):
        return float(text)
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else float(value)


class Constants:
    """Reads constants in a text."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._scanner = Scanner(source)

    def read(self, span: TextSpan) -> Expression:
        """Return the constant that a piece of the text is, Dynamic where it is none.

        Raises:
            SyntaxProblemError: A string in it is broken.
        """
        return self._read(span, 0)

    def _read(self, span: TextSpan, depth: int) -> Expression:
        start = _skip(_SPACE, self._source.text, span.start)
        value, at = self._value(start, depth)
        if value is not None and _skip(_SPACE, self._source.text, at) >= span.end:
            return value
        return Dynamic(self._source.place(start, span.end))

    def _value(self, start: int, depth: int) -> tuple[Expression | None, int]:
        """Read the value that begins at an offset; None where that is no constant."""
        text, place = self._source.text, self._source.place
        token = _TOKEN.match(text, start)
        word = token[0] if token is not None else ""
        if token is None or depth > MAX_DEPTH:
            return None, start
        if word == "[":
            return self._list(start, depth + 1)
        if word in ('"', "<<"):
            template = self._scanner.template(start)
            where = place(start, template.end)
            return template.value(where, lambda span: self._read(span, depth + _TEMPLATE_DEPTH)), template.end
        end = token.end()
        if word in KEYWORDS:
            return Literal(KEYWORDS[word], place(start, end)), end
        value = number(word)
        return (None if value is None else Literal(value, place(start, end), is_plain=word[0] != "-")), end

    def _list(self, start: int, depth: int) -> tuple[Expression | None, int]:
        text = self._source.text
        items: list[Expression] = []
        at = _skip(_SPACE, text, start + 1)
        while text[at : at + 1] != "]":
            value, at = self._value(at, depth)
            if value is None:
                return None, at
            items.append(value)
            at = _skip(_SPACE, text, at)
            if text[at : at + 1] == ",":
                at = _skip(_SPACE, text, at + 1)
            elif text[at : at + 1] != "]":
                raise SyntaxProblemError(at, "Missing item separator", "Expected a comma to mark the next item.")
        return ListExpr(tuple(items), self._source.place(start, at + 1)), at + 1


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match is not None else at


__all__ = ["KEYWORDS", "Constants", "number"]
