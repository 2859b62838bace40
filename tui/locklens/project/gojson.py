"""JSON as the tools read it into their structures, by Go's encoding/json: leniently where Python's reader is strict.

Invalid bytes become U+FFFD, numbers have any length, and names of fields match in any case. Where a name stands twice,
Go puts both values together element by element; nothing writes such a file, and it is an error here.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Never

if TYPE_CHECKING:
    from collections.abc import Container, Iterable


_EXACT_DIGITS = 18
"""Of more digits a number is a float: no field that is read here has as many, and Python refuses thousands of them."""


class JsonObject(tuple[tuple[str, object], ...]):
    """The members of an object in the file's order."""

    __slots__ = ()

    def fields(self, names: Container[str]) -> dict[str, object]:
        """Return the members that Go takes for fields of some names, which are lower case; null ones are left out.

        Raises:
            ValueError: Two members stand for one field.
        """
        known = [(name, value) for key, value in self if (name := _folded(key)) in names]
        twice = [name for name, count in Counter(name for name, _ in known).items() if count > 1]
        if twice:
            raise ValueError(f'"{twice[0]}" stands there twice')
        return {name: value for name, value in known if value is not None}


def read_json(data: bytes) -> object:
    """Return the value of a document: a JsonObject, list, str, int, float, bool or None.

    Raises:
        ValueError: It is no JSON, or is nested deeper than is read here; the tools read up to 10,000 levels.
    """
    try:
        # A document is UTF-8 for Go, and a mark of the byte order is an error.
        return json.loads(
            data.decode("utf-8", "replace"),
            object_pairs_hook=_object,
            parse_int=_number,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _object(members: Iterable[tuple[str, object]]) -> JsonObject:
    return JsonObject(members)


def _number(text: str) -> int | float:
    return int(text) if len(text) <= _EXACT_DIGITS else float(text)


def _no_constant(name: str) -> Never:
    raise ValueError(f"no JSON: {name}")


def _folded(key: str) -> str:
    """Return a key as it compares with a field's name; the letters U+017F and U+212A are s and k for Go as well."""
    return key.replace("\u017f", "s").lower()
