"""Hashes a package while it arrives: one pass over its bytes, nothing unpacked to the disk, little in memory."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.hashes import HashedPackage
from locklens.packages.archive import read_directory
from locklens.packages.arriving import Arriving
from locklens.packages.contents import Digest, SeekableContents
from locklens.packages.contents import check as check_content
from locklens.packages.layout import PackageLayout, lay_out
from locklens.packages.pipeline import SecondThread
from locklens.packages.zipstream import hash_arriving_entries

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from locklens.packages.archive import ZipEntry
    from locklens.packages.limits import Limits
    from locklens.packages.zipstream import Streamed

EMPTY = sha256().hexdigest()
"""The digest of a folder entry in an `h1`."""

_IN_MEMORY = 1 << 20
"""Bytes of a package up to which it takes no temporary file."""


class Passed(Struct, frozen=True):
    """A package that arrived and was read.

    Attributes:
        size: Bytes of the zip file.
        entries: Of the zip file, in its order.
        contents: The digest of each of `layout.opened`, in its order.
    """

    zh: str
    size: int
    entries: tuple[ZipEntry, ...]
    layout: PackageLayout
    contents: tuple[Digest, ...]

    @property
    def digests(self) -> dict[bytes, Digest]:
        """Of the file at each path of the layout: of the last content where several have one path."""
        return {path: digest for (path, _), digest in zip(self.layout.opened, self.contents, strict=True)}

    @property
    def archive_hashes(self) -> frozenset[str]:
        """The hashes of the zip file itself, as the tools hold them against a lock file: its `zh`, and those of files.

        Those of files count what the unpacked folder does not show: folder entries are empty files, and names are the
        raw bytes as they are stored. Of duplicate names each is listed, with the last one's content. There are none
        where a folder entry has a content, since unpacking passes that content over.
        """
        if any(entry.is_folder and (entry.size or b"\n" in entry.name) for entry in self.entries):
            return frozenset({self.zh})
        named = {entry.name: EMPTY for entry in self.entries if entry.is_folder}
        named |= {
            entry.name: digest.hex() for (_, entry), digest in zip(self.layout.opened, self.contents, strict=True)
        }
        of_files = HashedPackage.of_digests((entry.name, named[entry.name]) for entry in self.entries)
        return of_files.of_files | {self.zh}

    @property
    def hashed(self) -> HashedPackage:
        """The facts about the package."""
        digests = ((path, digest.hex()) for path, digest in self.digests.items())
        layout = self.layout
        return HashedPackage.of_digests(
            digests, self.zh, size=self.size, unpacked_size=layout.size, files=len(layout.files)
        )


def hash_package(
    chunks: Iterable[bytes],
    *,
    limit: Limits,
    spool_folder: Path | None = None,
    on_bytes: Callable[[int], None] | None = None,
    cancel: threading.Event | None = None,
    judge: Callable[[str], None] = lambda _: None,
    check: Callable[[Passed], None] = lambda _: None,
) -> HashedPackage:
    """Hash a zip file of which the bytes arrive one after another.

    A second thread works along until this returns.

    Args:
        chunks: The bytes, in chunks of any sizes, read once in this thread. What they raise passes through.
        limit: What the package may be at most.
        spool_folder: Where the bytes are kept meanwhile, in a file that is gone afterwards; None for the system's
            temporary folder.
        on_bytes: Called with the number of bytes of each chunk.
        cancel: Looked at between chunks and blocks.
        judge: Is given the `zh` when all bytes are there, before anything is made of the zip file's directory, and
            raises what it likes where that is not the right one.
        check: Called with the package once it was read within the bounds; raises for a wrong one too.

    Raises:
        PackageError: The tools could not unpack it, it has no `h1`, or it is beyond a bound.
        RunCancelledError: The run was cancelled.
        ConfigurationError: There is no room for the temporary file.
    """
    work = partial(
        hash_arriving_package, chunks, limit=limit, on_bytes=on_bytes, cancel=cancel, judge=judge, check=check
    )
    try:
        with spool_in(spool_folder) as spool:
            return work(spool).hashed
    except OSError as error:
        reason = error.strerror or str(error)
        words = f"the package cannot be stored in the temporary folder: {reason}"
        raise ConfigurationError(words, hint="free disk space, or set TMPDIR to another folder") from error


def hash_arriving_package(
    chunks: Iterable[bytes],
    spool: BinaryIO,
    *,
    limit: Limits,
    new: Callable[[], Digest] = Digest,
    on_bytes: Callable[[int], None] | None = None,
    cancel: threading.Event | None = None,
    judge: Callable[[str], None] = lambda _: None,
    check: Callable[[Passed], None] = lambda _: None,
) -> Passed:
    """Read a zip file while it arrives, into the empty file `spool`; all else as of `hash_package`.

    `new` makes the digest of each content; some of them may turn out to be of no file.

    Raises:
        OSError: The spool cannot be written or read, or what a digest does fails.
    """
    with SecondThread() as second:
        arriving = Arriving(chunks, spool, second, limit=limit, on_bytes=on_bytes, cancel=cancel)
        streamed = hash_arriving_entries(arriving, second, limit, new)
        arriving.drain()
        second.finish()
        zh, size = arriving.zh, arriving.size
        judge(zh)
        entries = read_directory(spool, size, limit, cancel=cancel)
        layout = lay_out(entries, size, limit)
        contents = _resolve(layout, streamed, SeekableContents(spool, size, cancel=cancel), second, new)
    passed = Passed(zh, size, entries, layout, contents)
    check(passed)
    return passed


def _resolve(
    layout: PackageLayout,
    streamed: dict[int, Streamed],
    contents: SeekableContents,
    second: SecondThread,
    new: Callable[[], Digest],
) -> tuple[Digest, ...]:
    """Hold what passed against the central directory, and read again what it does not confirm."""
    digests: list[Digest] = []
    read: list[tuple[ZipEntry, Digest]] = []
    for _, entry in layout.opened:
        passed = streamed.pop(entry.offset, None)
        if passed is not None and passed.is_of(entry):
            digests.append(passed.digest)
            continue
        digest = new()
        digests.append(digest)
        for block in contents.blocks(entry):
            second.do(partial(digest.update, block))
        second.do(digest.end)
        read.append((entry, digest))
    second.finish()
    for entry, digest in read:
        check_content(entry, digest)
    return tuple(digests)


@contextmanager
def spool_in(folder: Path | None) -> Iterator[BinaryIO]:
    """A temporary file without a name where the system has such: not even a killed process leaves it behind.

    Args:
        folder: Where it is, None for the system's temporary folder; a small one is in memory.

    Raises:
        OSError: It cannot be made.
    """
    import tempfile

    place = None if folder is None else str(folder)
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="locklens-", dir=place)  # noqa: SIM115 - closing it may fail
    try:
        yield cast("BinaryIO", file)
    finally:
        # Bytes that were not written yet may find no room; that error was raised before.
        with suppress(OSError):
            file.close()
