"""The names in Go's function table, which the runtime needs and `strip` keeps.

The table is that of Go 1.18 and later: `pcHeader` in `runtime/symtab.go`, as `cmd/link/internal/ld/pcln.go` writes it.
It names every function with code in the program, also those inlined at every call. Generators read the names from a
stream that passes once (`Passing`).
"""

from __future__ import annotations

import re
import struct

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator

    Search = Generator[None, None, None]
    """Yields where more bytes are needed."""

    Taken = Generator[None, None, bytes]
    """Yields where more bytes are needed; its value is what was asked for."""


class Passing:
    """A forward-only view of a part of a file: bytes that were taken or skipped are dropped.

    Attributes:
        at: Position of the next byte in that part.
        left: Bytes from there to the end of the part.
    """

    def __init__(self, size: int) -> None:
        self.at = 0
        self.left = size
        self._block = b""
        self._next = 0
        self._skipped = 0

    def feed(self, block: bytes) -> None:
        """Take the next bytes, without a copy where nothing is held."""
        dropped = min(self._skipped, len(block))
        self._skipped -= dropped
        rest = self._block[self._next :]
        self._block, self._next = (rest + block, 0) if rest else (block, dropped)

    def peek(self, count: int) -> Taken:
        """Give the next bytes, without passing them."""
        while len(self._block) - self._next < count:
            yield
        return self._block[self._next : self._next + count]

    def take(self, count: int) -> Taken:
        """Give the next bytes."""
        data = yield from self.peek(count)
        self.skip(count)
        return data

    def skip(self, count: int) -> None:
        """Pass the next bytes; they need not be there yet."""
        there = min(count, len(self._block) - self._next)
        self._next += there
        self._skipped += count - there
        self.at += count
        self.left -= count

    def find(self, place_in: Callable[[bytes, int], int], longest: int) -> Search:
        """Pass all bytes before a place, which takes at most so many bytes to recognise.

        `place_in` returns where in some bytes the place is, from a position on; -1 if it is not there.
        """
        tail = b""
        while True:
            seam = tail + self._block[self._next : self._next + longest - 1]
            if tail and (place := place_in(seam, 0)) >= 0:
                self._restore(tail)
                self.skip(place)
                return
            if (place := place_in(self._block, self._next)) >= 0:
                self.skip(place - self._next)
                return
            held = len(self._block) - self._next
            tail = (tail + self._block[max(self._next, len(self._block) - longest + 1) :])[1 - longest :]
            self.skip(held)
            yield

    def _restore(self, passed: bytes) -> None:
        self._block, self._next = passed + self._block[self._next :], 0
        self.at -= len(passed)
        self.left += len(passed)


_READ = (0xFFFFFFF1, 0xFFFFFFF0)
"""The magic numbers of Go 1.20 and of Go 1.18."""

_OLDER = {0xFFFFFFFA: "Go 1.16 or 1.17", 0xFFFFFFFB: "Go 1.15 or older"}

_LITTLE = re.compile(rb"\xff\xff\xff\0\0(?<=[\xf0\xf1\xfa\xfb].....)[\1\2\4][\4\x08]", re.DOTALL)
"""A little-endian header without its first byte: a pattern that begins with literal bytes is found ten times as
fast."""

_BIG = re.compile(rb"\xff\xff\xff[\xf0\xf1\xfa\xfb]\0\0[\1\2\4][\4\x08]")

BEGINNING = 8
"""Bytes by which a header is recognised."""

LONGEST_HEADER = 8 + 8 * 8

MOST_NAME_BYTES = 64 << 20
"""The most bytes of the names: those of 110,000 functions have 8 MiB, and the largest providers have 400,000."""

MOST_KEPT_BYTES = 4 << 20
"""The most bytes of the names that are kept; of a few dozen packages they have some 0.5 MiB."""

MOST_FUNCTIONS = 150_000
"""The most functions that are kept; of a few dozen packages there are some 15,000."""

MOST_PACKAGES = 20_000
"""The largest providers have some 3,000."""

_MOST_RUNS = 1_000_000
"""The most runs of consecutive names of one package; 110,000 names make about 6,000."""

_LONGEST_NAME = 64 * 1024
_PIECE = 1 << 17

_RUN = re.compile(
    rb"""
    \0 ( (?: [^\0/(\[{\ "]*+ / )*+ [^\0/.(\[{\ "]*+ ) \. [^\0]*+
    (?: \0 \1 \. [^\0]*+ )*+
    """,
    re.DOTALL | re.VERBOSE,
)
"""Names of one package that follow each other, each after a zero. The path ends at the first dot of its last element,
as `runtime.funcpkgpath` has it; what is in brackets belongs to a type."""


def little_endian_header(data: bytes, start: int) -> int:
    """Return where in some bytes a header may begin, from a position on; -1 where none does."""
    found = _LITTLE.search(data, start + 1)
    return -1 if found is None else found.start() - 1


def big_endian_header(data: bytes, start: int) -> int:
    """Return where a big-endian header may begin; -1 where none does."""
    found = _BIG.search(data, start)
    return -1 if found is None else found.start()


class LinkedNames(Struct, frozen=True):
    """The names of a table, as the linker writes them.

    Attributes:
        packages: The import paths of all packages that have a function, sorted.
        functions: The functions of those packages that were asked for, sorted, each once.
    """

    packages: tuple[str, ...]
    functions: tuple[str, ...]


class UnreadTableError(Exception):
    """The table cannot be read; the text says why."""


def names_of_header(data: bytes, left: int) -> range | None:
    """Return where the names of a table stand, in bytes from its `pcHeader`; None where the bytes only begin like one.

    The data are `LONGEST_HEADER` bytes, and `left` those of the file's part from there on.

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
    return range(names, units) if is_sound and functions else None


def read_names(place: range, passing: Passing, wanted: Collection[str] | None) -> Generator[None, None, LinkedNames]:
    """Read the names of a table from a stream at its header's first byte; those of wanted packages are kept, or all.

    Raises:
        UnreadTableError: The table is damaged, or beyond a bound.
    """
    size = place.stop - place.start  # `len` refuses a range longer than sys.maxsize.
    if size > MOST_NAME_BYTES:
        raise UnreadTableError(f"the names in its function table have {size} bytes; at most {MOST_NAME_BYTES} are read")
    passing.skip(place.start)
    names = _Names(wanted)
    rest = b""
    for at in place[::_PIECE]:
        piece = yield from passing.take(min(_PIECE, place.stop - at))
        whole, end_of_name, rest = (rest + piece).rpartition(b"\0")
        if len(rest) > _LONGEST_NAME:
            raise UnreadTableError(f"its function table has a name of more than {_LONGEST_NAME} bytes")
        if end_of_name:
            names.take(b"\0" + whole)
    return names.linked()


class _Names:
    def __init__(self, wanted: Collection[str] | None) -> None:
        self._wanted = None if wanted is None else {package.encode() for package in wanted}
        self._packages: set[bytes] = set()
        self._kept: list[bytes] = []
        self._kept_bytes = self._functions = self._runs = 0

    def take(self, names: bytes) -> None:
        """Take some names, each after a zero."""
        wanted = self._wanted
        for run in _RUN.finditer(names):
            package = run[1]
            self._packages.add(package)
            self._runs += 1
            if wanted is None or package in wanted:
                self._kept.append(run[0])
                self._kept_bytes += len(run[0])
                self._functions += run[0].count(b"\0")
        for count, most, what in (
            (len(self._packages), MOST_PACKAGES, "packages"),
            (self._runs, _MOST_RUNS, "changes from one package to another"),
            (self._kept_bytes, MOST_KEPT_BYTES, "bytes of names that are to be kept"),
            (self._functions, MOST_FUNCTIONS, "functions that are to be kept"),
        ):
            if count > most:
                raise UnreadTableError(f"its function table has more than {most} {what}")

    def linked(self) -> LinkedNames:
        if not self._packages:
            raise UnreadTableError("its function table names no function of a package")
        packages = b"\0".join(package for package in self._packages if package and b":" not in package)
        return LinkedNames(_texts(packages), _texts(b"".join(self._kept)[1:]))


def _texts(names: bytes) -> tuple[str, ...]:
    """Return names that zeros separate, sorted, each once."""
    texts = set(names.decode("utf-8", "backslashreplace").split("\0"))
    return tuple(sorted(texts - {""}))
