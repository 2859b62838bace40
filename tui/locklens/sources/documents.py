"""JSON as registries send it, read as the tools read it: what does not fit is an error with a sentence, never a guess.

Names match in any case, unknown ones are passed over, null is the empty value. Texts, lists and their lengths are
bounded here, so that what reads a document need not think of one that was made to hurt.

A document of 4 MiB can hold a million values, and only a few are needed. Only those become objects of Python: each
member stays bytes until it is needed, and one document is read at a time.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Raw

if TYPE_CHECKING:
    from collections.abc import Iterator

_T = TypeVar("_T")

_MOST_MEMBERS = 1024
"""The most members of one object; the largest that is read has one for each platform."""

_NULL = Raw(b"null")
_SPACE = b" \t\r\n"
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)

_members = msgspec.json.Decoder(dict[str, Raw] | None)
_items = msgspec.json.Decoder(list[Raw] | None)
_text = msgspec.json.Decoder(str | None)
_number = msgspec.json.Decoder(int | None)

_reading = threading.RLock()
"""Held while a document is read: each may take 150 MB for a moment, and reading uses one processor at most anyway."""


class ShapeError(ValueError):
    """A document is not what it should be; str() says what, as the end of a sentence about who sent it."""


class _NotJsonError(ShapeError):
    pass


@contextmanager
def opened(data: bytes) -> Iterator[Fields]:
    """Read the JSON object at the start of a document; its members are asked for within the `with` statement.

    Bytes that are not UTF-8 are replaced, and what comes after the object is not looked at.

    Raises:
        ShapeError: There is none.
    """
    with _reading:
        data = _whole(data)
        try:
            fields = Fields(Raw(data))
        except _NotJsonError:
            fields = Fields(Raw(data[: _end_of_value(data)]))
        yield fields


def texts_of(data: bytes, prefix: str) -> dict[str, str | None]:
    """Return a document's members whose names begin with a prefix, exactly spelt; None for values that are not text.

    Unlike in `opened`, nothing may come after the object.

    Raises:
        ShapeError: It is not a JSON object, or more than one.
    """
    with _reading:
        data = _whole(data)
        try:
            found = _read(_members, Raw(data), "JSON that is not an object") or {}
        except _NotJsonError:
            _end_of_value(data)
            raise ShapeError("JSON with trailing data") from None
        texts: dict[str, str | None] = {}
        for name, value in found.items():
            if name.startswith(prefix):
                with suppress(ShapeError):
                    texts[name] = None
                    texts[name] = _read(_text, value, "")
        return texts


def member_names(data: bytes, name: str, most: int) -> tuple[str, ...]:
    """Return the names in one object, named in lower case, of a document, as spelled; () where it is absent.

    Raises:
        ShapeError: The document is not a JSON object, or the member none, or it has more names.
    """
    with _reading:
        data = _whole(data)
        found = _read(_members, Raw(data), "JSON that is not an object") or {}
        value = next((member for key, member in found.items() if key.lower() == name), _NULL)
        names = tuple(_read(_members, value, f'JSON in which "{name}" is not an object') or {})
    if len(names) > most:
        raise ShapeError(f'JSON with more than {most} members in "{name}"')
    return names


def _whole(data: bytes) -> bytes:
    """Return a document in which no character is broken: neither its bytes nor its escaped pairs."""
    if not data.isascii():
        data = data.decode("utf-8", "replace").encode()
    if _HALF.search(data):
        data = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)
    return data


def _end_of_value(data: bytes) -> int:
    """Return the number of bytes up to the end of a document's first value."""
    text = data.decode()
    start = len(text) - len(text.lstrip(_SPACE.decode()))
    nothing = lambda _: None  # noqa: E731
    decoder = json.JSONDecoder(object_pairs_hook=nothing, parse_float=nothing, parse_int=nothing)
    try:
        _, end = decoder.raw_decode(text, start)
    except RecursionError as error:
        raise ShapeError("JSON that is nested too deeply") from error
    except ValueError as error:
        raise ShapeError("something that is not JSON") from error
    return len(text[:end].encode())


class Fields:
    """A JSON object, null for an empty one, whose members are asked for by name and type.

    Raises:
        ShapeError: From the constructor and every method, on a value of another type or above its bound.
    """

    def __init__(self, value: Raw, name: str = "the document") -> None:
        found = _read(_members, value, f"JSON in which {name} is not an object") or {}
        if len(found) > _MOST_MEMBERS:
            raise ShapeError(f"JSON with more than {_MOST_MEMBERS} members in one object")
        self._values = {key.lower(): member for key, member in found.items()}

    def text(self, name: str, most: int) -> str:
        """A text of at most so many characters, "" where it is absent."""
        return self._text(self._values.get(name, _NULL), name, most)

    def texts(self, name: str, most: int, longest: int) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self._text(item, name, longest) for item in self._list(name, most))

    def number(self, name: str) -> int:
        """A whole number, 0 where it is absent."""
        words = f'JSON in which "{name}" is not a whole number'
        value = _read(_number, self._values.get(name, _NULL), words) or 0
        if abs(value) >= 2**63:
            raise ShapeError(words)
        return value

    def objects(self, name: str, most: int) -> Iterator[Fields]:
        """A list of objects; null among them is an empty one."""
        return (Fields(item, f'"{name}"') for item in self._list(name, most))

    def object(self, name: str) -> Fields:
        """An object, an empty one where it is absent."""
        return Fields(self._values.get(name, _NULL), f'"{name}"')

    def members(self, most: int) -> Iterator[tuple[str, Fields]]:
        """Every member as an object, with its name in lower case."""
        if len(self._values) > most:
            raise ShapeError(f"JSON with more than {most} members in one object")
        return ((key, Fields(value, "a member")) for key, value in self._values.items())

    def __contains__(self, name: str) -> bool:
        return bytes(self._values.get(name, _NULL)).strip(_SPACE) != b"null"

    def _text(self, value: Raw, name: str, most: int) -> str:
        found = _read(_text, value, f'JSON in which "{name}" is not a string') or ""
        if len(found) > most:
            raise ShapeError(f'JSON with more than {most} characters in "{name}"')
        return found

    def _list(self, name: str, most: int) -> list[Raw]:
        value = _read(_items, self._values.get(name, _NULL), f'JSON in which "{name}" is not a list') or []
        if len(value) > most:
            raise ShapeError(f'JSON with more than {most} items in "{name}"')
        return value


def _read(decoder: msgspec.json.Decoder[_T], value: Raw, otherwise: str) -> _T:
    """Read one value; `otherwise` is the message where it is of another type."""
    try:
        return decoder.decode(value)
    except msgspec.ValidationError as error:
        raise ShapeError(otherwise) from error
    except msgspec.DecodeError as error:
        raise _NotJsonError("something that is not JSON") from error
    except RecursionError as error:
        raise ShapeError("JSON that is nested too deeply") from error
