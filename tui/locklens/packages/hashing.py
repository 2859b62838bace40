"""Hashes a package while it arrives: one pass over its bytes, nothing unpacked to the disk, little in memory.

The zip file is read from the front, as far as that goes without knowing what its end says. The result is a guess that
the central directory confirms or not: no other reader uses the headers in front of contents. Anything odd ends this
reading, without an error. Contents that were not read, or not confirmed, are read again from the disk.
"""

from __future__ import annotations

import hashlib
import struct
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from typing import TypedDict, Unpack, cast

from msgspec import Struct

from locklens.errors import ConfigurationError, PackageError
from locklens.hashes import HashedPackage, zh_of
from locklens.packages import LIMITS, Method, PackageLayout, ZipEntry, lay_out, read_directory, stop_if
from locklens.packages.contents import (
    DESCRIPTOR_SIGNATURE,
    LOCAL_HEADER,
    LOCAL_SIGNATURE,
    PIECE,
    Digest,
    InflateError,
    SecondThread,
    SeekableContents,
    damaged,
    inflated,
    new_digest,
)
from locklens.text import size_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from locklens.packages import Limits


EMPTY = sha256().hexdigest()
"""The digest of a folder entry in an `h1`."""

_IN_MEMORY = 1 << 20
"""Bytes of a package up to which it takes no temporary file."""

_DESCRIPTOR_FLAG = 0x8

_FULL32 = 0xFFFFFFFF


class Passed(Struct, frozen=True):
    """A package that arrived and was read.

    Attributes:
        contents: The digest of each of `layout.opened`, in its order.
    """

    zh: str
    size: int
    entries: tuple[ZipEntry, ...]
    layout: PackageLayout
    contents: tuple[Digest, ...]

    @property
    def digests(self) -> dict[bytes, Digest]:
        """The digest of the file at each path of the layout; the last content counts if several have one path."""
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


class PackageOptions(TypedDict, total=False):
    """The options of all that reads a package while it arrives; see `hash_arriving_package`."""

    limit: Limits
    on_bytes: Callable[[int], None] | None
    cancel: threading.Event | None
    judge: Callable[[str], None]
    check: Callable[[Passed], None]


def hash_package(
    chunks: Iterable[bytes], *, new: Callable[[bytes], Digest] = new_digest, **options: Unpack[PackageOptions]
) -> HashedPackage:
    """Hash a zip file while it arrives; arguments and errors as in `hash_arriving_package`.

    Raises:
        ConfigurationError: There is no room for the temporary file.
    """
    try:
        with spool_in(None) as spool:
            return hash_arriving_package(chunks, spool, new=new, **options).hashed
    except OSError as error:
        reason = error.strerror or str(error)
        words = f"the package cannot be stored in the temporary folder: {reason}"
        raise ConfigurationError(words, hint="free disk space, or set TMPDIR to another folder") from error


def hash_arriving_package(
    chunks: Iterable[bytes],
    spool: BinaryIO,
    *,
    limit: Limits = LIMITS,
    new: Callable[[bytes], Digest] = new_digest,
    on_bytes: Callable[[int], None] | None = None,
    cancel: threading.Event | None = None,
    judge: Callable[[str], None] = lambda _: None,
    check: Callable[[Passed], None] = lambda _: None,
) -> Passed:
    """Read and hash a zip file while it arrives. A second thread works along until this returns.

    The chunks are read once in this thread; their errors pass through. The spool is an empty file, which has the
    package's bytes afterwards. `new` makes the digest of each content, by its entry's name; some of them may turn out
    to be of no file. `on_bytes` is called with the number of bytes of each chunk; `cancel` is looked at between chunks
    and blocks. `judge` is called with the `zh` when all bytes are there, before anything is made of the zip file's
    directory, and `check` with the package once it was read within the bounds: both raise for a wrong one.

    Raises:
        PackageError: The tools could not unpack it, it has no `h1`, or it is beyond a bound.
        RunCancelledError: The run was cancelled.
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
    new: Callable[[bytes], Digest],
) -> tuple[Digest, ...]:
    """Compare what passed with the central directory, and read again what it does not confirm."""
    digests: list[Digest] = []
    read: list[tuple[ZipEntry, Digest]] = []
    for _, entry in layout.opened:
        passed = streamed.pop(entry.offset, None)
        if passed is not None and passed.is_of(entry):
            digests.append(passed.digest)
            continue
        digest = new(entry.name)
        digests.append(digest)
        for block in contents.blocks(entry):
            second.do(partial(digest.update, block))
        second.do(digest.end)
        read.append((entry, digest))
    second.finish()
    for entry, digest in read:
        if not entry.has_content_of(digest.crc):
            raise damaged(entry, "its content is not the one that was packed")
    return tuple(digests)


@contextmanager
def spool_in(folder: Path | None) -> Iterator[BinaryIO]:
    """A temporary file without a name where the system has such: not even a killed process leaves it behind.

    Without a folder it is in the system's temporary one; a small file stays in memory.

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


class Arriving:
    """A source of packed bytes that are on their way, and that are given up after a limit.

    The second thread is for the spool, which receives all bytes as they arrive, and for the `zh`. `on_bytes` is called
    with the number of bytes of each chunk. `cancel` ends it between two chunks.
    """

    def __init__(
        self,
        chunks: Iterable[bytes],
        spool: BinaryIO,
        second: SecondThread,
        *,
        limit: Limits,
        on_bytes: Callable[[int], None] | None,
        cancel: threading.Event | None,
    ) -> None:
        self.size = 0
        self.cancel = cancel
        self._chunks = _bounded(chunks, limit, on_bytes, cancel)
        self._spool, self._second = spool, second
        self._sha256 = hashlib.sha256()
        self._data = memoryview(b"")
        self._at = 0

    @property
    def position(self) -> int:
        """The number of bytes read."""
        return self.size - len(self._data) + self._at

    @property
    def zh(self) -> str:
        """The `zh` of all bytes, once they were drained and the second thread has finished."""
        return zh_of(self._sha256.hexdigest())

    def read_some(self) -> memoryview:
        """Return the next bytes, at most PIECE; empty at the end."""
        if self._at == len(self._data):
            self._receive()
        piece = self._data[self._at : self._at + PIECE]
        self._at += len(piece)
        return piece

    def give_back(self, count: int) -> None:
        """Put back the last bytes that `read_some` returned, as many as given."""
        self._at -= count

    def take(self, count: int) -> bytes:
        """Exactly that many bytes; fewer only at the end."""
        taken = bytearray()
        while len(taken) < count and (piece := self.read_some()):
            more = piece[: count - len(taken)]
            taken += more
            self.give_back(len(piece) - len(more))
        return bytes(taken)

    def drain(self) -> None:
        """Let the rest arrive without looking at it."""
        while self._receive():
            pass
        self._at = len(self._data)

    def _receive(self) -> bool:
        """Get the next chunk, or as many as make a piece: each step costs more than its bytes where these are few."""
        chunk = next(self._chunks, b"")
        if 0 < len(chunk) < PIECE:
            gathered = bytearray(chunk)
            while len(gathered) < PIECE and (chunk := next(self._chunks, b"")):
                gathered += chunk
            chunk = bytes(gathered)
        if not chunk:
            return False
        self.size += len(chunk)
        self._data, self._at = memoryview(chunk), 0
        self._second.do(partial(self._keep, chunk))
        return True

    def _keep(self, chunk: bytes) -> None:
        self._sha256.update(chunk)
        self._spool.write(chunk)


def _bounded(
    chunks: Iterable[bytes], limit: Limits, on_bytes: Callable[[int], None] | None, cancel: threading.Event | None
) -> Iterator[bytes]:
    """Pass on what arrives, without empty chunks, as far as it may go."""
    stop_if(cancel)
    size = 0
    for chunk in chunks:
        stop_if(cancel)
        size += len(chunk)
        if size > limit.packed:
            raise PackageError(f"the package has more than {size_words(limit.packed)}, which is not read")
        if on_bytes is not None:
            on_bytes(len(chunk))
        if chunk:
            yield chunk


class Streamed(Struct, frozen=True):
    """A content that passed.

    Attributes:
        name: What its header calls it.
        descriptor: The CRC-32 of the data descriptor that follows it, None if there is none.
    """

    name: bytes
    method: Method
    packed: int
    size: int
    digest: Digest
    descriptor: int | None

    def is_of(self, entry: ZipEntry) -> bool:
        """True if unpacking this entry gives this content, and no error."""
        return (
            not entry.is_encrypted
            and (entry.name, entry.method, entry.packed, entry.size) == (self.name, self.method, self.packed, self.size)
            and entry.has_content_of(self.digest.crc)
            and (not entry.has_descriptor or self.descriptor == entry.crc)
        )


def hash_arriving_entries(
    arriving: Arriving, second: SecondThread, limit: Limits, new: Callable[[bytes], Digest]
) -> dict[int, Streamed]:
    """Hash contents as they arrive, up to the first that cannot be read from the front, or the central directory.

    Returns them by the offset of their header. None of the bytes are read yet; the digests are complete when the second
    thread has finished. With the bounds, a bomb is not inflated before its size is known. `new` makes the digest of one
    content, by its name.
    """
    found: dict[int, Streamed] = {}
    size = 0
    while len(found) < limit.entries:
        offset = arriving.position
        header = arriving.take(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or header[:4] != LOCAL_SIGNATURE:
            break
        _, flags, method, packed, _, name_length, extra_length = LOCAL_HEADER.unpack(header)
        has_descriptor = bool(flags & _DESCRIPTOR_FLAG)
        name = arriving.take(name_length + extra_length)[:name_length]
        if method == Method.DEFLATED:
            blocks: Iterator[bytes | memoryview] = inflated(arriving)
        elif method == Method.STORED and not has_descriptor and packed != _FULL32:
            blocks = _stored(arriving, packed)
        else:
            break
        start, before, digest = arriving.position, size, new(name)
        try:
            for block in blocks:
                stop_if(arriving.cancel)  # one piece may inflate to a thousand times its bytes
                size += len(block)
                if size > min(limit.unpacked, max(limit.ratio_from, limit.ratio * arriving.size)):
                    return found
                second.do(partial(digest.update, block))
        except InflateError:
            break
        second.do(digest.end)
        taken, produced = arriving.position - start, size - before
        descriptor = _read_descriptor(arriving, taken, produced) if has_descriptor else None
        if has_descriptor and descriptor is None:
            break
        found[offset] = Streamed(name, Method(method), taken, produced, digest, descriptor)
    return found


def _stored(arriving: Arriving, left: int) -> Iterator[memoryview]:
    while left and (piece := arriving.read_some()):
        block = piece[:left]
        arriving.give_back(len(piece) - len(block))
        left -= len(block)
        yield block
    if left:
        raise InflateError("breaks off")


def _read_descriptor(arriving: Arriving, packed: int, size: int) -> int | None:
    """Read what follows a content; its sizes say which of the four forms it has."""
    record = arriving.take(12)
    has_signature = record[:4] == DESCRIPTOR_SIGNATURE
    record = record[4:] if has_signature else record
    for form in ("<LLL", "<LQQ"):
        record += arriving.take(struct.calcsize(form) - len(record))
        if len(record) == struct.calcsize(form):
            crc, *sizes = struct.unpack(form, record)
            if sizes == [packed, size]:
                return int(crc)
    return None
