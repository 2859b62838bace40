"""A TOML document with the line of each key, and the errors about its values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from locklens.errors import ConfigurationError
from locklens.text import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.policy.positions import KeyPath

_Type = TypeVar("_Type")

MAX_SHOWN = 80
_PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`\Z")
_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<index>[0-9]+)\]")


class MarkedDocument:
    """The values of a document, with the line of each key and element.

    Attributes:
        values: As the TOML reader returned them.
        path: The file as the user knows it.
    """

    def __init__(self, values: Mapping[str, object], lines: Mapping[KeyPath, int], path: str) -> None:
        self.values = values
        self.path = path
        self._lines = lines

    def line(self, *where: str | int) -> int:
        """The line of a key or element; of the innermost one around it that has one."""
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
        """Refuse the first key of a table that is not a known one.

        Raises:
            ConfigurationError: There is one; the message has the nearest known key.
        """
        for key in table:
            if key not in known:
                self.refuse(f"unknown key {in_quotes(key)}{nearest_key(key, known)}", *where, key)

    def convert(self, value: object, type_: Any, name: str, *where: str | int) -> Any:
        """Return a value as a type of the policy's document.

        Args:
            value: As the TOML reader returned it.
            type_: The type, with its bounds.
            name: Its name in the message.
            where: Its key path.

        Raises:
            ConfigurationError: It is no such value.
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
        """Return a text that is shown on one line.

        Raises:
            ConfigurationError: It has a character that is not printable.
        """
        if text and not text.isprintable():
            self.refuse(f"{name} must be one line of printable characters", *where)
        return text


def _plain(words: str) -> str:
    """A message of the type check, for readers of TOML."""
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
    """Foreign text in quotes, shortened."""
    return f'"{shortened(text, MAX_SHOWN)}"'


def nearest_key(text: str, names: Sequence[str]) -> str:
    """Return a question about the nearest of several names, to end a message with."""
    from difflib import get_close_matches

    near = get_close_matches(text[:60], names, n=1, cutoff=0.0)
    return f'; did you mean "{near[0]}"?' if near else ""
