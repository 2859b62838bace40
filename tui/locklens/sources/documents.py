"""JSON as registries send it, read as the tools read it: what does not fit is an error with a sentence, never a guess.

Names match in any case, unknown ones are passed over, null is the empty value. Texts, lists and their lengths are
bounded here, so that what reads a document need not think of one that was made to hurt.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SPACE = " \t\r\n"
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class ShapeError(ValueError):
    """A document is not what it should be; str() says what, as the end of a sentence about who sent it."""


def parse(data: bytes, *, is_alone: bool) -> Any:
    """Reads the JSON value at the start of a document.

    Args:
        data: Its bytes; those that are no UTF-8 are replaced.
        is_alone: Whether nothing may stand behind the value.

    Raises:
        ShapeError: There is none.
    """
    text = data.decode("utf-8", "replace").lstrip(_SPACE)
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except RecursionError as error:
        raise ShapeError("JSON that is nested too deeply") from error
    except ValueError as error:
        raise ShapeError("something that is no JSON") from error
    if is_alone and text[end:].strip(_SPACE):
        raise ShapeError("JSON with more behind it")
    return value


def printable(text: str) -> str:
    """Returns a text of the registry's own words without what would move a cursor or turn the writing round."""
    return _CONTROL.sub(" ", text)


class Fields:
    """A JSON object whose members are asked for by name and type.

    Raises:
        ShapeError: From the constructor and every method, on a value of another type or above its bound.
    """

    def __init__(self, value: Any, name: str = "the document") -> None:
        if not isinstance(value, dict):
            raise ShapeError(f"JSON in which {name} is no object")
        self._values = {key.lower(): member for key, member in value.items()}

    def text(self, name: str, most: int) -> str:
        """A text of at most so many characters, "" where it is absent."""
        return _text(self._values.get(name), name, most)

    def texts(self, name: str, most: int, longest: int) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(_text(item, name, longest) for item in self._list(name, most))

    def number(self, name: str) -> int:
        """A whole number, 0 where it is absent."""
        value = self._values.get(name)
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**63:
            raise ShapeError(f'JSON in which "{name}" is no whole number')
        return value

    def objects(self, name: str, most: int) -> tuple[Fields, ...]:
        """A list of objects; null among them is an empty one."""
        return tuple(Fields({} if item is None else item, f'"{name}"') for item in self._list(name, most))

    def object(self, name: str) -> Fields:
        """An object, an empty one where it is absent."""
        value = self._values.get(name)
        return Fields({} if value is None else value, f'"{name}"')

    def members(self, most: int) -> tuple[tuple[str, Fields], ...]:
        """Every member as an object, with its name in lower case."""
        if len(self._values) > most:
            raise ShapeError(f"JSON with more than {most} members in one object")
        return tuple((key, Fields({} if value is None else value, "a member")) for key, value in self._values.items())

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def _list(self, name: str, most: int) -> list[Any]:
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise ShapeError(f'JSON in which "{name}" is no list')
        if len(value) > most:
            raise ShapeError(f'JSON with more than {most} items in "{name}"')
        return value


def _text(value: Any, name: str, most: int) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ShapeError(f'JSON in which "{name}" holds what is no text')
    if len(value) > most:
        raise ShapeError(f'JSON with more than {most} characters in "{name}"')
    return _SURROGATE.sub("\ufffd", value)
