"""What is inside a package: its files, how its program was built, and the texts that the publisher packed with it.

A package is read in the pass that hashes it, and its facts are kept by its `zh`, so that none is read twice.
"""

from __future__ import annotations

from msgspec import Struct

from locklens.executables import Executable  # noqa: TC001 - kept facts are read by their types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from locklens.storage.cache import Cache

_FORM = b"1"
"""The form of kept facts; what was kept in another one is read again from the package."""


class FileFacts(Struct, frozen=True):
    """A file of a package.

    Attributes:
        name: Its slash-separated path; bytes that are not UTF-8 are escaped with a backslash.
        size: Bytes.
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
        h1: The hash of its files.
        size: Bytes of its files.
        files: All files, sorted by name.
        executable_name: The program's file; None where no file has the name of a program.
        executable: The program, as far as it could be read; None without one.
        texts: The texts for readers at its top, sorted by name.
        bounded: What was left out since it is beyond a bound: a sentence without a full stop; None where nothing was.
    """

    zh: str | None
    h1: str
    size: int
    files: tuple[FileFacts, ...]
    executable_name: str | None = None
    executable: Executable | None = None
    texts: tuple[TextFacts, ...] = ()
    bounded: str | None = None


def kept_facts(cache: Cache, zh: str) -> PackageFacts | None:
    """Return the facts of a package that was read before, or None."""
    import msgspec

    record = cache.inspection(zh)
    if record is None or not record.startswith(_FORM):
        return None
    try:
        return msgspec.msgpack.decode(record[len(_FORM) :], type=PackageFacts)
    except msgspec.MsgspecError:
        return None


def keep_facts(cache: Cache, facts: PackageFacts) -> None:
    """Keep the facts of a package by its `zh`; those of a folder, which anyone can change, are not kept."""
    import msgspec

    if facts.zh is not None:
        cache.keep_inspection(facts.zh, _FORM + msgspec.msgpack.encode(facts))
