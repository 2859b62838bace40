"""Reads an executable in one pass over its bytes, within bounds on all that it keeps.

The build information and the function table are sought where `debug/buildinfo` and the runtime have them, by their
first bytes: the names of sections are lost in stripped files, and symbols are not needed. The build information is a
blob that Go's linker writes: that of `debug/buildinfo` of Go 1.18 and later, with the text of
`runtime/debug.ParseBuildInfo`.
"""

from __future__ import annotations

import re
from functools import partial

from msgspec.structs import replace

from locklens.executables import BuildInfo, Executable, GoModule
from locklens.executables.functions import (
    BEGINNING,
    LONGEST_HEADER,
    LinkedNames,
    Passing,
    UnreadTableError,
    big_endian_header,
    little_endian_header,
    names_of_header,
    read_names,
)
from locklens.executables.headers import MOST_HEADERS, Headers, Range, read_headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator

    from locklens.executables.functions import Search

_MOST_CANDIDATES = 1000
"""The most places that begin like what is sought and are something else; an honest program has one or two."""

_BOUNDARY = 16
_MOST_VARINT = 5

_MAGIC = b"\xff Go buildinf:"
"""It is on a boundary of 16 bytes."""

_HEADER = 32
"""Bytes of the blob before its strings."""

_IS_INLINE = 2
"""The flag, at byte 15, of a blob that its strings follow. Before Go 1.18 it held pointers to them."""

_MOST_VERSION = 1024
_MOST_TEXT = 1 << 20
"""Bytes of the longest list of modules: that of 200 modules has some 20,000."""

_MOST_ROWS = 20_000
_MOST_LINE = 64 * 1024
"""The most characters of a line; the longest have the flags of the linker."""

_SENTINEL = 16
"""Bytes before and after the list of modules, by which older Go versions find it."""

_ESCAPE = re.compile(r'\\(?:([abfnrtv\\"\'])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))')
_CONTROLS = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


class ExecutableReader:
    """Reads an executable; `feed` it all bytes in their order, then `close` it, once.

    The functions of the wanted packages, as the linker writes them, are kept; None for all.
    """

    def __init__(self, wanted: Collection[str] | None = None) -> None:
        self._size = 0
        self._first = bytearray()
        self._headers: Headers | None = None
        self._ranges: list[Range] = []
        self._wanted = wanted

    def feed(self, block: bytes | memoryview) -> None:
        """Take the next bytes."""
        if self._headers is not None:
            self._pass(bytes(block))
            return
        self._first += block
        if len(self._first) >= MOST_HEADERS:
            self._begin()

    def close(self) -> Executable:
        """Return what was read."""
        if self._headers is None:
            self._begin()
        assert self._headers is not None
        self._build.end()
        self._functions.end()
        build, names = self._build.found, self._functions.found
        assert build is None or isinstance(build, BuildInfo)
        assert names is None or isinstance(names, LinkedNames)
        return Executable(
            self._headers.format,
            self._size + len(self._first),
            build,
            None if names is None else names.functions,
            self._unread(),
            None if names is None else names.packages,
        )

    def _begin(self) -> None:
        self._headers = read_headers(bytes(self._first[:MOST_HEADERS]))
        self._ranges = list(reversed(self._headers.ranges))
        place_in = big_endian_header if self._headers.is_big_endian else little_endian_header
        self._build = _Search(_seek_build_info, is_of=lambda one: one.is_writable)
        self._functions = _Search(partial(_seek_functions, self._wanted, place_in), is_of=lambda _: True)
        first, self._first = self._first, bytearray()
        self._pass(bytes(first))

    def _unread(self) -> str | None:
        assert self._headers is not None
        if self._headers.seen is not None:
            return self._headers.seen
        missing = [
            search.problem or f"no {what} was found"
            for search, what in ((self._build, "build information of Go"), (self._functions, "function table of Go"))
            if search.found is None
        ]
        return ", and ".join(missing) or None

    def _pass(self, data: bytes) -> None:
        """Hand the bytes of each range to the searches."""
        position = self._size
        self._size += len(data)
        while self._ranges and self._ranges[-1].start < self._size:
            one = self._ranges[-1]
            piece = data[max(0, one.start - position) : max(0, one.stop - position)]
            for search in (self._build, self._functions):
                search.feed(one, piece)
            if one.stop > self._size:
                break
            self._ranges.pop()


class _Search:
    """The search for one thing in one range after the other; the problem is why something found could not be read."""

    def __init__(self, seek: Callable[[_Search, Range, Passing], Search], *, is_of: Callable[[Range], bool]) -> None:
        self.found: object = None
        self.problem: str | None = None
        self.candidates = 0
        self._seek = seek
        self._is_of = is_of
        self._range: Range | None = None
        self._passing = Passing(0)
        self._running: Search | None = None

    def feed(self, one: Range, piece: bytes) -> None:
        if one is not self._range:
            self.end()
            self._range = one
            if self.found is None and self._is_of(one) and self.candidates < _MOST_CANDIDATES:
                self._passing = Passing(one.stop - one.start)
                self._running = self._seek(self, one, self._passing)
        if self._running is None:
            return
        self._passing.feed(piece)
        try:
            next(self._running)
        except StopIteration:
            self._running = None
        except (UnreadTableError, ValueError) as error:
            self.problem, self._running = str(error), None

    def end(self) -> None:
        """Give up what the range does not complete."""
        if self._running is not None:
            self._running.close()
            self._running = None
            self._passing = Passing(0)

    def passes_over(self) -> bool:
        """Count a place that is not what is sought; False where there are too many."""
        self.candidates += 1
        if self.candidates >= _MOST_CANDIDATES:
            self.problem = f"more than {_MOST_CANDIDATES} places look like what is sought"
            return False
        return True


def _seek_build_info(search: _Search, one: Range, passing: Passing) -> Search:
    """Seek the build information; ValueError where it is damaged."""
    while True:
        yield from passing.find(lambda held, start: held.find(_MAGIC, start), len(_MAGIC))
        if (one.address + passing.at) % _BOUNDARY == 0:
            header = yield from passing.peek(_HEADER)
            if header[15] & _IS_INLINE:
                break
            search.problem = "its build information is in the form of a Go before 1.18"
        if not search.passes_over():
            return
        passing.skip(1)
    search.problem = "its build information breaks off"
    passing.skip(_HEADER)
    strings = []
    for most in (_MOST_VERSION, _MOST_TEXT):
        length = yield from _varint(passing)
        if length > most:
            raise ValueError(f"its build information has a text of {length} bytes; at most {most} are read")
        strings.append((yield from passing.take(length)))
    try:
        search.found = _build_info_of(*strings)
    except ValueError as error:
        raise ValueError(f"its build information is damaged: {error}") from error


def _varint(passing: Passing) -> Generator[None, None, int]:
    """Read a number as `encoding/binary` writes it: seven bits in each byte, the lowest first."""
    value = 0
    for number in range(_MOST_VARINT):
        (byte,) = yield from passing.take(1)
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return value
    raise ValueError("its build information is damaged: a length has too many digits")


def _build_info_of(version: bytes, text: bytes) -> BuildInfo:
    """Read both strings of a blob: the toolchain's version, and the list of modules between its sentinels, if any.

    Raises:
        ValueError: The list is not in the form that Go gives it.
    """
    go = version.decode("utf-8", "backslashreplace")
    if len(text) < 2 * _SENTINEL + 1 or text[-_SENTINEL - 1 : -_SENTINEL] != b"\n":
        return BuildInfo(go)
    lines = text[_SENTINEL:-_SENTINEL].decode("utf-8", "backslashreplace").split("\n")
    if len(lines) > _MOST_ROWS:
        raise ValueError(f"it has more than {_MOST_ROWS} lines")
    return _parsed(go, iter(lines))


def _parsed(go: str, lines: Iterator[str]) -> BuildInfo:
    path, main = "", None
    modules: list[GoModule] = []
    settings: list[tuple[str, str]] = []
    for line in lines:
        if len(line) > _MOST_LINE:
            raise ValueError(f"a line has {len(line)} characters; at most {_MOST_LINE} are read")
        word, *fields = line.split("\t")
        if word == "path" and fields:
            path = fields[0]
        elif word == "mod":
            main = _module(fields)
        elif word == "dep":
            modules.append(_module(fields))
        elif word == "=>":
            # The replacement of the module in the line before.
            if modules:
                modules[-1] = replace(modules[-1], replaced_by=_module(fields))
            elif main is not None:
                main = replace(main, replaced_by=_module(fields))
            else:
                raise ValueError("it has a replacement of no module")
        elif word == "build" and fields:
            key, rest = _unquoted("\t".join(fields), "=")
            settings.append((key, _unquoted(rest.removeprefix("="), "")[0]))
    return BuildInfo(go, path, main, tuple(modules), tuple(settings))


def _module(fields: list[str]) -> GoModule:
    if not 2 <= len(fields) <= 3:
        raise ValueError("a line of a module has not two or three fields")
    return GoModule(fields[0], fields[1], "".join(fields[2:]))


def _unquoted(text: str, stop: str) -> tuple[str, str]:
    """Return a word and what follows it; a word in quotes is written as Go writes a string."""
    if text.startswith("`") and (end := text.find("`", 1)) > 0:
        return text[1:end], text[end + 1 :]
    if text.startswith('"') and (quoted := re.match(r'"((?:[^"\\]|\\.)*)"', text)):
        return _ESCAPE.sub(_character, quoted[1]), text[quoted.end() :]
    word, separator, rest = text.partition(stop) if stop else (text, "", "")
    return word, separator + rest


def _character(escape: re.Match[str]) -> str:
    letter, *digits, octal = escape.groups()
    if letter:
        return _CONTROLS.get(letter, letter)
    number = int(octal, 8) if octal else int(next(filter(None, digits)), 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def _seek_functions(
    wanted: Collection[str] | None, place_in: Callable[[bytes, int], int], search: _Search, _: Range, passing: Passing
) -> Search:
    """Seek the function table; UnreadTableError where it is damaged."""
    while True:
        yield from passing.find(place_in, BEGINNING)
        data = yield from passing.peek(LONGEST_HEADER)
        try:
            place = names_of_header(data, passing.left)
        except UnreadTableError as error:
            place, search.problem = None, str(error)
        if place is not None:
            break
        if not search.passes_over():
            return
        passing.skip(1)
    search.problem = "its function table breaks off"
    search.found = yield from read_names(place, passing, wanted)
