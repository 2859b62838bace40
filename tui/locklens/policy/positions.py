"""Line numbers of the keys and elements of a TOML document, which the standard library's reader does not report.

For documents that this reader has accepted: syntax is not checked. Only `too_deep` takes any text.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

KeyPath = tuple[str | int, ...]
"""Names from the document's top; a number is the index of an array element."""

_TOKEN = re.compile(
    r'''
    (?P<blank>[ \t\r]++|\#[^\n]*+)
  | (?P<newline>\n)
  | (?P<symbol>[\[\]{}=,.])
  | (?P<quoted>
        """(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5}|\\?\Z)
      | \'\'\'(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)
      | "(?:[^"\\\n]|\\[^\n])*+"?
      | '[^'\n]*+'?
    )
  | (?P<bare>[^\s\#\[\]{}=,."']++|.)
    ''',
    re.VERBOSE | re.DOTALL,
)


class _Token(Struct, frozen=True):
    kind: str
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind != "blank":
            yield _Token(kind, match.group(), line)
        line += match.group().count("\n")


def too_deep(text: str, limit: int) -> int | None:
    """Return the first line that nests more than `limit` levels, in brackets or in a dotted key; None without one."""
    depth = dots = 0
    for token in _tokens(text):
        if token.kind == "symbol" and token.text == ".":
            dots += 1
        elif token.kind in ("symbol", "newline"):
            dots = 0
            depth = max(0, depth + (token.text in ("[", "{")) - (token.text in ("]", "}")))
        if max(depth, dots) > limit:
            return token.line
    return None


def lines_of_keys(text: str) -> dict[KeyPath, int]:
    """Return the line of every key and every element, from 1; for a repeated key, the first."""
    return _Walk(text).lines


class _Walk:
    """One pass over a valid document."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._elements: dict[KeyPath, int] = {}
        self._tokens = list(_tokens(text))
        self._tokens.append(_Token("end", "", self._tokens[-1].line if self._tokens else 1))
        self._next = 0
        table: KeyPath = ()
        while (token := self._peek()).kind != "end":
            if token.kind == "newline":
                self._next += 1
            elif token.text == "[":
                table = self._header()
            else:
                self._pair(table)

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _header(self) -> KeyPath:
        """Consume `[a.b]` or `[[a.b]]`; return the path of the table."""
        self._take()
        repeated = self._peek().text == "["
        if repeated:
            self._take()
        names = self._names("]")
        if repeated:
            self._take()
        path: KeyPath = ()
        for position, (name, line) in enumerate(names):
            path = self._note((*path, name), line)
            if repeated and position == len(names) - 1:
                path = self._element(path, line)
            elif path in self._elements:
                path = (*path, self._elements[path] - 1)
        return path

    def _names(self, closing: str) -> list[tuple[str, int]]:
        """Consume a dotted key and the closing symbol; return its names with their lines."""
        names = []
        while (token := self._take()).text != closing and token.kind != "end":
            if token.kind == "quoted":
                names.append((str(tomllib.loads(f"name = {token.text}")["name"]), token.line))
            elif token.text != ".":
                names.append((token.text, token.line))
        return names

    def _note(self, path: KeyPath, line: int) -> KeyPath:
        self.lines.setdefault(path, line)
        return path

    def _element(self, path: KeyPath, line: int) -> KeyPath:
        index = self._elements.get(path, 0)
        self._elements[path] = index + 1
        return self._note((*path, index), line)

    def _pair(self, table: KeyPath) -> None:
        path = table
        for name, line in self._names("="):
            path = self._note((*path, name), line)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        """Consume one value and nothing after it."""
        if self._peek().text not in ("[", "{") or self._peek().kind == "quoted":
            while self._peek().kind not in ("newline", "end") and self._peek().text not in (",", "]", "}"):
                self._take()
            return
        opening = self._take().text
        while (token := self._peek()).text not in ("]", "}") and token.kind != "end":
            if token.kind == "newline" or token.text == ",":
                self._take()
            elif opening == "[":
                self._value(self._element(path, token.line))
            else:
                self._pair(path)
        self._take()
