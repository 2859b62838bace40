"""The names in Go's function table, which the runtime needs and `strip` keeps.

The table is that of Go 1.18 and later: `pcHeader`, `functab` and `_func` in `runtime/symtab.go` and `runtime2.go`, as
the linker's `cmd/link/internal/ld/pcln.go` writes them.
"""

from __future__ import annotations

import re
import struct
import sys
from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate, chain, compress, islice
from operator import add, ne, not_

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from locklens.executables.passing import Passing


_READ = (0xFFFFFFF1, 0xFFFFFFF0)
"""The magic numbers of Go 1.20 and of Go 1.18."""

_OLDER = {0xFFFFFFFA: "Go 1.16 or 1.17", 0xFFFFFFFB: "Go 1.15 or older"}

_BEGINNING = re.compile(
    rb"\xff\xff\xff(?:(?<=[\xf0\xf1\xfa\xfb]...)\0\0|[\xf0\xf1\xfa\xfb]\0\0)[\1\2\4][\4\x08]", re.DOTALL
)
"""The first bytes of a header in either order, but for the first one of a little-endian magic number: what begins with
plain bytes is sought ten times as fast."""

BEGINNING = 8
"""Bytes by which a header is recognised."""

LONGEST_HEADER = 8 + 8 * 8

MOST_NAMES = 20 << 20
"""Bytes of the names: those of 150,000 functions have some 10 MiB."""

MOST_FUNCTIONS = 300_000
_MOST_NAME = 64 * 1024
_PIECE = 1 << 16
_NATIVE = "<" if sys.byteorder == "little" else ">"
_FUNCTION = 8
"""Bytes of a `_func` up to its `nameOff`, and of a row of `functab`."""


def beginning_in(data: bytearray) -> int:
    """Return where in some bytes a header may begin; -1 where none does."""
    found = _BEGINNING.search(data)
    if found is None:
        return -1
    return found.start() - (data[found.start() + 3] == 0)


_MISPLACED = "its function table is damaged: names are not where it says"


class FunctionNames(Struct, frozen=True):
    """The names of a table.

    Attributes:
        linked: Those of functions with code, sorted.
        inlined: Those that have none of their own, since every call of them was inlined; sorted.
    """

    linked: tuple[str, ...]
    inlined: tuple[str, ...]


class UnreadTableError(Exception):
    """The table cannot be read; the text says why."""


class TableHeader(Struct, frozen=True):
    """A `pcHeader`; offsets count from its first byte.

    Attributes:
        order: Of bytes, for `struct`.
        functions: Number of functions.
        names: Offset of the names, and of what follows them.
        table: Offset of `functab`.
    """

    order: str
    functions: int
    names: tuple[int, int]
    table: int

    @classmethod
    def of(cls, data: bytes, left: int) -> TableHeader | None:
        """Read a header; None where the bytes only begin like one.

        Args:
            data: `LONGEST_HEADER` bytes, from where `beginning_in` found one.
            left: Bytes of the file's part from here on.

        Raises:
            UnreadTableError: It is the header of an older table.
        """
        order = "<" if data[3] == 0xFF else ">"
        (magic,) = struct.unpack_from(f"{order}L", data)
        width = data[7]
        if magic in _OLDER:
            raise UnreadTableError(f"its function table is of {_OLDER[magic]}")
        functions, _, _, *offsets = struct.unpack_from(f"{order}8{'Q' if width == 8 else 'L'}", data, 8)
        names, units, _, _, table = offsets
        is_sound = names >= 8 + 8 * width and offsets == sorted(offsets) and table + 8 * functions + 4 <= left
        return cls(order, functions, (names, units), table) if is_sound and functions else None


class RawFunctions(Struct, frozen=True):
    """What is taken from a table while it passes.

    Attributes:
        names: All names, in pieces, which `names_in` consumes.
        offsets: Where the name of each function begins, sorted.
    """

    names: list[bytes]
    offsets: array[int]


def read_table(header: TableHeader, passing: Passing) -> Generator[None, None, RawFunctions]:
    """Take what is needed of a table.

    Args:
        header: The table's.
        passing: Where it passes; it stands at the header's first byte.

    Raises:
        UnreadTableError: The table is damaged, or beyond a bound.
    """
    start, stop = header.names
    if header.functions > MOST_FUNCTIONS:
        raise UnreadTableError(
            f"its function table has {header.functions} functions; at most {MOST_FUNCTIONS} are read"
        )
    if stop - start > MOST_NAMES:
        raise UnreadTableError(
            f"the names in its function table have {stop - start} bytes; at most {MOST_NAMES} are read"
        )
    passing.skip(start)
    names: list[bytes] = []
    for size in _pieces(stop - start):
        names.append((yield from passing.take(size)))  # noqa: PERF401 - it waits
    passing.skip(header.table - stop)
    places = array("I")
    for size in _pieces(8 * header.functions):
        rows = yield from passing.take(size)
        places += _words(header, rows)[1::2]
    offsets = yield from _name_offsets(header, places, passing)
    return RawFunctions(names, offsets)


def _words(header: TableHeader, data: bytes) -> array[int]:
    """Return bytes as numbers of four bytes; a rest is left out."""
    words = array("I", data[: len(data) & ~3])
    if header.order != _NATIVE:
        words.byteswap()
    return words


def _name_offsets(header: TableHeader, places: array[int], passing: Passing) -> Generator[None, None, array[int]]:
    """Read where the name of each function begins; sorted.

    Args:
        header: The table's.
        places: Offset of each `_func` from the beginning of `functab`, which just passed.
        passing: Where the functions pass.
    """
    at = 8 * header.functions
    places = array("I", sorted(places))
    if places[0] < at or places[-1] + _FUNCTION > at + passing.left:
        raise UnreadTableError("its function table is damaged: a function lies outside of it")
    offsets = array("I")
    first = 0
    while first < len(places):
        place = places[first]
        if place % 4:
            raise UnreadTableError("its function table is damaged: a function is not on a boundary")
        passing.skip(place - at)
        size = min(_PIECE, places[-1] + _FUNCTION - place)
        words = _words(header, (yield from passing.peek(size)))
        end = bisect_right(places, place + size - _FUNCTION)
        offsets.extend([words[(one - place >> 2) + 1] for one in places[first:end]])
        passing.skip(_FUNCTION)
        at, first = place + _FUNCTION, end
    return array("I", sorted(offsets))


def _pieces(size: int) -> Iterator[int]:
    """Divide a number of bytes, so that each piece can be forgotten when it was read."""
    while size > 0:
        yield min(size, _PIECE)
        size -= _PIECE


def names_in(table: RawFunctions) -> FunctionNames:
    """Return the names of a table, which is of no use afterwards.

    Raises:
        UnreadTableError: The table is damaged, or beyond a bound.
    """
    names, offsets = table.names, table.offsets
    linked: list[str] = []
    inlined: list[str] = []
    names.reverse()
    position, first, strings, rest = 0, 0, 0, b""
    while names:
        whole, end_of_name, rest = (rest + names.pop()).rpartition(b"\0")
        if len(rest) > _MOST_NAME:
            raise UnreadTableError(f"its function table has a name of more than {_MOST_NAME} bytes")
        if not end_of_name:
            continue
        texts, sizes = _texts(whole)
        starts = list(map(add, accumulate(sizes, initial=position), range(len(texts) + 1)))
        position = starts.pop()
        end = bisect_left(offsets, position, first)
        wanted = set(offsets[first:end])
        first = end
        are_linked = list(map(wanted.__contains__, starts))
        if sum(are_linked) < len(wanted):
            raise UnreadTableError(_MISPLACED)
        linked += compress(texts, are_linked)
        inlined += filter(None, compress(texts, map(not_, are_linked)))
        strings += len(texts)
        if strings > MOST_FUNCTIONS:
            raise UnreadTableError(f"its function table has more than {MOST_FUNCTIONS} names")
    if first < len(offsets):
        raise UnreadTableError(_MISPLACED)
    return FunctionNames(_each_once(linked), _each_once(inlined))


def _texts(names: bytes) -> tuple[list[str], Iterable[int]]:
    """Return names that zeros separate, and the bytes of each."""
    if names.isascii():
        texts = names.decode("ascii").split("\0")
        return texts, map(len, texts)
    apart = names.split(b"\0")
    return [name.decode("utf-8", "backslashreplace") for name in apart], map(len, apart)


def _each_once(names: list[str]) -> tuple[str, ...]:
    names.sort()
    return tuple(compress(names, chain((True,), map(ne, islice(names, 1, None), names))))
