"""The names in Go's function table, which the runtime needs and `strip` keeps.

The table is that of Go 1.18 and later: `pcHeader`, `functab` and `_func` in `runtime/symtab.go` and `runtime2.go`, as
the linker's `cmd/link/internal/ld/pcln.go` writes them.
"""

from __future__ import annotations

import re
import struct
from array import array
from itertools import groupby

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

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
_FUNCTION = 8
"""Bytes of a `_func` up to its `nameOff`, and of a row of `functab`."""


def beginning_in(data: bytearray) -> int:
    """Return where in some bytes a header may begin; -1 where none does."""
    found = _BEGINNING.search(data)
    if found is None:
        return -1
    return found.start() - (data[found.start() + 3] == 0)


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


def read_functions(header: TableHeader, passing: Passing) -> Generator[None, None, FunctionNames]:
    """Read the names of a table.

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
        places.extend(row[1] for row in struct.iter_unpack(f"{header.order}2L", rows))
    offsets = yield from _name_offsets(header, places, passing)
    return _named(names, offsets)


def _name_offsets(header: TableHeader, places: array[int], passing: Passing) -> Generator[None, None, array[int]]:
    """Read where the name of each function begins.

    Args:
        header: The table's.
        places: Offset of each `_func` from the beginning of `functab`, which just passed.
        passing: Where the functions pass.
    """
    offsets = array("I")
    read = struct.Struct(f"{header.order}4xL").unpack_from
    at, piece = 8 * header.functions, b""
    for place in places:
        if place < at:
            raise UnreadTableError("its function table is damaged: its functions are not in order")
        if place + _FUNCTION > at + len(piece):
            if place + _FUNCTION - at > len(piece) + passing.left:
                raise UnreadTableError("its function table is damaged: a function lies outside of it")
            passing.skip(place - at - len(piece)) if place > at + len(piece) else None
            kept = piece[place - at :]
            piece = kept + (yield from passing.take(min(_PIECE, len(kept) + passing.left) - len(kept)))
            at = place
        offsets.append(read(piece, place - at)[0])
    return offsets


def _pieces(size: int) -> Iterator[int]:
    """Divide a number of bytes, so that each piece can be forgotten when it was read."""
    while size > 0:
        yield min(size, _PIECE)
        size -= _PIECE


def _named(names: list[bytes], offsets: array[int]) -> FunctionNames:
    """Find the names at some offsets.

    Args:
        names: The table of names in pieces, which are consumed.
        offsets: Where the name of each function begins.
    """
    wanted = (offset for offset, _ in groupby(array("I", sorted(offsets))))
    linked, inlined = [], []
    names.reverse()
    next_wanted, position, rest = next(wanted, None), 0, b""
    while names:
        *whole, rest = (rest + names.pop()).split(b"\0")
        if len(rest) > _MOST_NAME:
            raise UnreadTableError(f"its function table has a name of more than {_MOST_NAME} bytes")
        for name in whole:
            if position == next_wanted:
                linked.append(name.decode("utf-8", "backslashreplace"))
                next_wanted = next(wanted, None)
            elif name:
                inlined.append(name.decode("utf-8", "backslashreplace"))
            position += len(name) + 1
        if len(linked) + len(inlined) > MOST_FUNCTIONS:
            raise UnreadTableError(f"its function table has more than {MOST_FUNCTIONS} names")
    if next_wanted is not None:
        raise UnreadTableError("its function table is damaged: names are not where it says")
    return FunctionNames(_each_once(linked), _each_once(inlined))


def _each_once(names: list[str]) -> tuple[str, ...]:
    names.sort()
    return tuple(name for name, _ in groupby(names))
