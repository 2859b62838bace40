"""A TOML document with the line of each key and element, which tomllib does not report, and errors about its values."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_SHOWN = 80
_PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`\Z")
_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<index>[0-9]+)\]")


KeyPath = tuple[str | int, ...]
"""Names from the top of a document; a number is the index of an array element."""

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


class MarkedDocument:
    """The values of a document, with the line of each key and element.

    Attributes:
        values: The document, as the TOML reader returned it.
        path: The path in messages.
    """

    def __init__(self, values: Mapping[str, object], lines: Mapping[KeyPath, int], path: str) -> None:
        self.values = values
        self.path = path
        self._lines = lines

    def line(self, *where: str | int) -> int:
        """Return the line of a key or element, or of the innermost one around it that has a line."""
        while where and where not in self._lines:
            where = where[:-1]
        return self._lines.get(where, 1)

    def refuse(self, message: str, *where: str | int, hint: str = "") -> NoReturn:
        """Raise an error about a key or element.

        Raises:
            ConfigurationError: Always, with path and line.
        """
        raise ConfigurationError(message, path=self.path, line=self.line(*where), hint=hint)

    def refuse_unknown(self, table: Mapping[str, object], known: Sequence[str], *where: str | int) -> None:
        """Refuse the first unknown key of a table.

        Raises:
            ConfigurationError: There is one; the message has the nearest known key.
        """
        for key in table:
            if key not in known:
                self.refuse(f"unknown key {in_quotes(key)}{nearest_key(key, known)}", *where, key)

    def convert(self, value: object, type_: Any, name: str, *where: str | int) -> Any:
        """Return a value as a type of the policy's document.

        Args:
            value: The value, as the TOML reader returned it.
            type_: The type, with its bounds.
            name: Name of the value in the message.
            where: Path of the value.

        Raises:
            ConfigurationError: The value is of another type, or beyond a bound; the error has the line of the part.
        """
        try:
            return msgspec.convert(value, type_)
        except msgspec.ValidationError as error:
            words, steps = str(error), []
            if place := _PLACE.search(words):
                words = words[: place.start()]
                steps = [one["name"] or int(one["index"]) for one in _STEP.finditer(place["path"])]
            field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            self.refuse(f"{name}{field}: {_plain(words)}", *where, *steps)

    def one_line(self, text: str, name: str, *where: str | int) -> str:
        """Return a text, which is shown on one line.

        Raises:
            ConfigurationError: It has a character that is not printable.
        """
        if text and not text.isprintable():
            self.refuse(f"{name} must be one line of printable characters", *where)
        return text


def _plain(words: str) -> str:
    """Return a message of msgspec in the terms of TOML."""
    words = words.replace("`", '"').replace("Invalid RFC3339 encoded date", 'Expected "date"')
    for type_, plain in (
        ('"str"', "a string"),
        ('"int"', "a whole number"),
        ('"array"', "a list"),
        ('"object"', "a table"),
        ('"date"', "a date such as 2026-11-20"),
    ):
        words = words.replace(type_, plain)
    words = words.replace("Object missing required field", "lacks").replace("Expected", "expected")
    return shortened(words.replace("Invalid enum value", "unknown value"), MAX_SHOWN)


def in_quotes(text: str) -> str:
    """Return foreign text in quotes, shortened."""
    return f'"{shortened(text, MAX_SHOWN)}"'


def nearest_key(text: str, names: Sequence[str]) -> str:
    """Return the end of a message that asks about the nearest of several names."""
    from difflib import get_close_matches

    near = get_close_matches(text[:60], names, n=1, cutoff=0.0)
    return f'; did you mean "{near[0]}"?' if near else ""


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
    """Return the first line with more than `limit` nested brackets or parts of a dotted key, in any text, if any."""
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
    """Return the line of every key and element of a valid document, from 1; for a repeated key, the first line."""
    return _Walk(text).lines


class _Walk:
    """One pass over a valid document, whose syntax is not checked again."""

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
