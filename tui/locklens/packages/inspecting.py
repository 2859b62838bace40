"""What is inside a package: its files, how its program was built, and the texts that the publisher packed with it.

A package is read in the pass that hashes it, and its facts are kept by its `zh`, so that none is read twice.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.advisories.database import packages_with_advisories
from locklens.executables import NOTABLE_PACKAGES, Executable
from locklens.executables.reader import ExecutableReader
from locklens.hashes import h1_of_digests
from locklens.packages.contents import Digest
from locklens.packages.installed import file_digests
from locklens.text import identity_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping
    from pathlib import Path

    from locklens.packages.hashing import Passed
    from locklens.storage.cache import Cache

_PROGRAM = b"terraform-provider-"
_TEXT = re.compile(rb"(?:CHANGELOG|COPYING|LICEN[CS]E|NOTICE|README)(?:[._-].*)?\Z", re.IGNORECASE | re.DOTALL)
_MOST_TEXT = 256 * 1024
"""The most bytes of a text that are kept; a changelog has its newest entries at its beginning."""

_MOST_TEXTS = 8
_MOST_FILES = 2000
"""The most files that are listed; a package has some five."""

_ALWAYS = frozenset(("main", *NOTABLE_PACKAGES))
"""Packages whose functions are kept in any case: the program's own, which advisories of the provider may name, and the
notable ones."""

_FORM = f"2 {identity_of(*sorted(_ALWAYS))}\n".encode()
"""The form of kept facts; what was kept in another one is read again from the package."""


class FileFacts(Struct, frozen=True):
    """A file of a package.

    Attributes:
        name: Its slash-separated path; bytes that are not UTF-8 are escaped with a backslash.
        sha256: In lower-case hex.
    """

    name: str
    size: int
    sha256: str


class TextFacts(Struct, frozen=True):
    """A text for readers: the package's CHANGELOG, LICENSE or README.

    Attributes:
        text: As it is in the package, control characters too.
        is_whole: False where only its beginning is kept.
    """

    name: str
    text: str
    is_whole: bool = True


class PackageFacts(Struct, frozen=True):
    """What is inside a package.

    Attributes:
        zh: The hash of the zip file; None for a folder.
        executable_name: The program's file; None where no file has the name of a program.
        executable: The program, as far as it could be read; None without one.
        texts: The texts for readers at its top, sorted by name.
        bounded: What was left out since it is beyond a bound: a sentence without a full stop; None where nothing was.
        is_for_advisories: True if functions were kept of all packages for which a database of advisories names some;
            False without a database. Of other packages only the name is kept, which takes a tenth of the space.
    """

    zh: str | None
    h1: str
    size: int
    files: tuple[FileFacts, ...]
    executable_name: str | None = None
    executable: Executable | None = None
    texts: tuple[TextFacts, ...] = ()
    bounded: str | None = None
    is_for_advisories: bool = False

    @property
    def lacks_functions(self) -> bool:
        """True if a package is linked of whose functions there are advisories now, and its functions were not kept."""
        program = self.executable
        if program is None or program.packages is None or program.functions is None:
            return False
        functions, wanted = program.functions, packages_with_advisories() or frozenset()
        return any(not _has_some(functions, f"{package}.") for package in wanted.intersection(program.packages))


def _has_some(functions: tuple[str, ...], beginning: str) -> bool:
    place = bisect_left(functions, beginning)
    return place < len(functions) and functions[place].startswith(beginning)


class _Content(Digest):
    """A file that is read while it is hashed.

    Attributes:
        text: Its beginning, for a text; None for others.
        reader: For a program; None for others.
    """

    def __init__(self, *, reader: ExecutableReader | None = None, is_text: bool = False) -> None:
        super().__init__()
        self.size = 0
        self.text = bytearray() if is_text else None
        self.reader = reader

    def update(self, block: bytes | memoryview) -> None:
        """Take the next block."""
        super().update(block)
        self.size += len(block)
        if self.reader is not None:
            self.reader.feed(block)
        elif self.text is not None and len(self.text) < _MOST_TEXT:
            self.text += block[: _MOST_TEXT - len(self.text)]


class PackageInspector:
    """Looks into one package while it is hashed.

    The program is the file that the tools start: the first, by its name, of those at the top whose name begins with
    "terraform-provider-".
    """

    def __init__(self) -> None:
        self._program: tuple[bytes, _Content] | None = None
        self._texts = 0
        self._advised = packages_with_advisories()

    def content(self, name: bytes) -> _Content:
        """Make the digest of the next file; see `locklens.packages.hashing.hash_arriving_package`."""
        path = b"/".join(one for one in name.split(b"/") if one not in {b"", b"."})
        if b"/" in path:
            return _Content()
        if path.startswith(_PROGRAM) and (self._program is None or path <= self._program[0]):
            if self._program is not None:
                self._program[1].reader = None  # Another file is the program.
            self._program = path, _Content(reader=ExecutableReader(_ALWAYS | (self._advised or frozenset())))
            return self._program[1]
        if _TEXT.match(path) and self._texts < _MOST_TEXTS:
            self._texts += 1
            return _Content(is_text=True)
        return _Content()

    def facts(self, passed: Passed) -> PackageFacts:
        """Return what is inside a package that was hashed by `content`."""
        contents = {path: one for path, one in passed.digests.items() if isinstance(one, _Content)}
        return self.facts_of(contents, passed.zh, passed.hashed.h1)

    def facts_of(self, contents: Mapping[bytes, _Content], zh: str | None, h1: str) -> PackageFacts:
        """Return what is inside the files of a package, which `content` made, by their paths."""
        names = sorted(contents)
        programs = [name for name in names if b"/" not in name and name.startswith(_PROGRAM)]
        reader = contents[programs[0]].reader if programs else None
        executable = None if reader is None else reader.close()
        texts = [
            TextFacts(_shown(name), text.decode("utf-8", "replace"), is_whole=contents[name].size == len(text))
            for name in names
            if (text := contents[name].text) is not None
        ]
        bounded = []
        if len(names) > _MOST_FILES:
            bounded.append(f"{_MOST_FILES} of its {len(names)} files are listed")
        if len(programs) > 1:
            bounded.append(f"{len(programs)} files have the name of a program, and {_shown(programs[0])} was read")
        if programs and executable is None:
            bounded.append("its program was not read, since headers and directory of the zip file disagree")
        return PackageFacts(
            zh,
            h1,
            sum(content.size for content in contents.values()),
            tuple(FileFacts(_shown(name), contents[name].size, contents[name].hex()) for name in names[:_MOST_FILES]),
            _shown(programs[0]) if programs else None,
            executable,
            tuple(texts),
            ", and ".join(bounded) or None,
            is_for_advisories=self._advised is not None,
        )


def inspect_folder(folder: Path, *, cancel: threading.Event | None = None) -> PackageFacts:
    """Look into an unpacked package; arguments and errors as in `locklens.packages.installed.file_digests`."""
    inspector = PackageInspector()
    contents: dict[bytes, _Content] = {}

    def new(name: bytes) -> _Content:
        contents[name] = inspector.content(name)
        return contents[name]

    return inspector.facts_of(contents, None, h1_of_digests(file_digests(folder, cancel=cancel, new=new)))


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


class _Record(Struct, frozen=True):
    """Facts as they are kept.

    Attributes:
        facts: Without the functions of the program.
        functions: The functions of each package, without its path and separated by zeros: a third less than by names.
    """

    facts: PackageFacts
    functions: dict[str, str] | None


def _record_of(facts: PackageFacts) -> _Record:
    program = facts.executable
    if program is None or program.functions is None:
        return _Record(facts, None)
    functions: dict[str, str] = {}
    for package in program.packages or ():
        # Behind the dot comes the slash: names of packages below it stand elsewhere.
        start, stop = (bisect_left(program.functions, package + end) for end in "./")
        if start < stop:
            functions[package] = "\0".join([name[len(package) + 1 :] for name in program.functions[start:stop]])
    return _Record(replace(facts, executable=replace(program, functions=())), functions)


def _facts_of(record: _Record) -> PackageFacts:
    program = record.facts.executable
    if program is None or record.functions is None:
        return record.facts
    names = [f"{package}.{name}" for package, joined in record.functions.items() for name in joined.split("\0")]
    return replace(record.facts, executable=replace(program, functions=tuple(sorted(names))))


def kept_facts(cache: Cache, zh: str) -> PackageFacts | None:
    """Return the facts of a package that was read before, or None."""
    import msgspec

    record = cache.inspection(zh)
    if record is None or not record.startswith(_FORM):
        return None
    try:
        return _facts_of(msgspec.msgpack.decode(record[len(_FORM) :], type=_Record))
    except msgspec.MsgspecError:
        return None


def keep_facts(cache: Cache, facts: PackageFacts) -> None:
    """Keep the facts of a package by its `zh`; those of a folder, which anyone can change, are not kept."""
    import msgspec

    if facts.zh is not None:
        cache.keep_inspection(facts.zh, _FORM + msgspec.msgpack.encode(_record_of(facts)))
