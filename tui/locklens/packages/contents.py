"""The contents of a zip file: inflated, hashed and checked, while they arrive or from the disk.

While the file arrives, it is read from the front, as far as that goes without knowing what its end says. The result is
a guess that the central directory confirms or not: no other reader uses the headers in front of contents. Anything odd
ends this reading, without an error. Contents that were not read, or not confirmed, are read again from the disk,
checked as the tools check them while unpacking.

Inflating is the one door to isal, which takes half the time of the standard library's zlib and is not everywhere.
"""

from __future__ import annotations

import hashlib
import struct
from functools import cache, partial
from typing import Any, Protocol

from msgspec import Struct

from locklens.errors import PackageError
from locklens.packages import stop_if
from locklens.packages.archive import Method, ZipEntry

TYPE_CHECKING = False

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from locklens.packages import Limits
    from locklens.packages.hashing import Arriving, SecondThread


LOCAL_HEADER = struct.Struct("<4s2x2H8x2L2H")
"""Signature, flags, method, packed size, size, lengths of name and extra field."""

LOCAL_SIGNATURE = b"PK\x03\x04"
DESCRIPTOR_SIGNATURE = b"PK\x07\x08"
PIECE = 1 << 18

BLOCK = 1 << 20
"""Bytes that inflating gives at once, at most; and what bounds the memory of the consumer."""

_RAW = -15

_DESCRIPTOR_FLAG = 0x8
_FULL32 = 0xFFFFFFFF


class Digest:
    """A computation over one content as it streams by, on any thread."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self.crc = 0

    def update(self, block: bytes | memoryview) -> None:
        """Take the next block."""
        self._sha256.update(block)
        self.crc = crc32(block, self.crc)

    def end(self) -> None:
        """Signals the end."""

    def hex(self) -> str:
        """The SHA-256, as an `h1` takes it."""
        return self._sha256.hexdigest()


class PackedBytes(Protocol):
    """A stream of compressed bytes."""

    def some(self) -> bytes | memoryview:
        """The next bytes, a modest number; none at the end."""

    def give_back(self, count: int) -> None:
        """Put back that many of the bytes that `some` gave last."""


class InflateError(Exception):
    """The bytes are not a deflate stream, or it breaks off."""


@cache
def engine() -> Any:
    """The module that inflates: isal's, or zlib where there is none for this machine."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib
    return isal_zlib


def crc32(data: bytes | memoryview, value: int) -> int:
    """Continue a CRC-32."""
    continued: int = engine().crc32(data, value)
    return continued


def inflated(source: PackedBytes) -> Iterator[bytes]:
    """Yield what a raw deflate stream holds, in blocks of at most BLOCK bytes; what follows it is given back.

    Raises:
        InflateError: There is no whole stream.
    """
    module = engine()
    stream = module.decompressobj(_RAW)
    while not stream.eof:
        piece = source.some()
        if not piece:
            raise InflateError("breaks off")
        while True:
            try:
                block = stream.decompress(piece, BLOCK)
            except module.error as error:
                raise InflateError(str(error)) from error
            if block:
                yield block
            piece = stream.unconsumed_tail
            if stream.eof or (not piece and len(block) < BLOCK):
                break
    source.give_back(len(stream.unused_data))


class SeekableContents:
    """Reads contents from a seekable file."""

    def __init__(self, file: BinaryIO, size: int, *, cancel: threading.Event | None = None) -> None:
        self._file = file
        self._size = size
        self._cancel = cancel

    def blocks(self, entry: ZipEntry) -> Iterator[bytes | memoryview]:
        """Yield the content of a file in blocks of at most inflate.BLOCK bytes.

        All is checked but the CRC-32, which the caller computes elsewhere.

        Raises:
            PackageError: The tools would not unpack it either, or it is encrypted.
            RunCancelledError: The run was cancelled.
            OSError: The file cannot be read.
        """
        if entry.is_encrypted:
            raise PackageError(f"{entry} in the package is encrypted")
        section = _Section(self._file, self._body_of(entry), entry.packed, self._cancel)
        produced = 0
        try:
            for block in _content(entry, section):
                stop_if(self._cancel)
                produced += len(block)
                if produced > entry.size:
                    raise damaged(entry, f"it has more than its {entry.size} bytes")
                yield block
        except InflateError as error:
            raise damaged(entry, "it cannot be inflated") from error
        if produced != entry.size:
            raise damaged(entry, f"it has {produced} bytes of {entry.size}")
        if entry.has_descriptor:
            self._check_descriptor(entry, section.stop)

    def _body_of(self, entry: ZipEntry) -> int:
        if entry.offset < self._size:
            self._file.seek(entry.offset)
            header = self._file.read(LOCAL_HEADER.size)
            if len(header) == LOCAL_HEADER.size and header[:4] == LOCAL_SIGNATURE:
                *_, name_length, extra_length = LOCAL_HEADER.unpack(header)
                return int(entry.offset + LOCAL_HEADER.size + name_length + extra_length)
        raise damaged(entry, "it is not where the directory says")

    def _check_descriptor(self, entry: ZipEntry, position: int) -> None:
        """Compare the CRC-32 alone: writers disagree about the width of the sizes, and the tools ignore them."""
        self._file.seek(min(position, self._size))
        record = self._file.read(16)
        if record[:4] == DESCRIPTOR_SIGNATURE:
            is_right = len(record) == 16 and record[4:8] == struct.pack("<L", entry.crc)
        else:
            is_right = len(record) >= 12 and record[:4] == struct.pack("<L", entry.crc)
        if not is_right:
            raise damaged(entry, "what follows it does not belong to it")


class _Section:
    """A part of the file as a source of packed bytes."""

    def __init__(self, file: BinaryIO, start: int, length: int, cancel: threading.Event | None) -> None:
        self._file = file
        self._cancel = cancel
        self._at = start
        self.stop = start + length

    def some(self) -> bytes:
        stop_if(self._cancel)
        if self._at >= self.stop:
            return b""
        self._file.seek(self._at)
        piece = self._file.read(min(PIECE, self.stop - self._at))
        self._at += len(piece)
        return piece

    def give_back(self, count: int) -> None:
        self._at -= count


def _content(entry: ZipEntry, section: _Section) -> Iterator[bytes | memoryview]:
    if entry.method == Method.DEFLATED:
        yield from inflated(section)
    elif entry.method == Method.STORED:
        while piece := section.some():
            yield piece
    else:
        raise PackageError(
            f"{entry} in the package uses compression method {entry.method}, which the tools do not support"
        )


def check(entry: ZipEntry, digest: Digest) -> None:
    """Compare the content that passed with the directory's checksum.

    Raises:
        PackageError: They differ.
    """
    if not entry.has_content_of(digest.crc):
        raise damaged(entry, "its content is not the one that was packed")


def damaged(entry: ZipEntry, why: str) -> PackageError:
    """Return the error for a content that cannot be read."""
    return PackageError(f"{entry} in the package is damaged: {why}")


class Streamed(Struct, frozen=True):
    """A content that passed.

    Attributes:
        method: The compression method by which it was unpacked.
        packed: Bytes that it took.
        size: Bytes that it has.
        digest: Its digest.
        descriptor: The CRC-32 of the data descriptor that follows it, None if there is none.
    """

    method: Method
    packed: int
    size: int
    digest: Digest
    descriptor: int | None

    def is_of(self, entry: ZipEntry) -> bool:
        """True if unpacking this entry gives this content, and no error."""
        return (
            not entry.is_encrypted
            and (entry.method, entry.packed, entry.size) == (self.method, self.packed, self.size)
            and entry.has_content_of(self.digest.crc)
            and (not entry.has_descriptor or self.descriptor == entry.crc)
        )


def hash_arriving_entries(
    arriving: Arriving, second: SecondThread, limit: Limits, new: Callable[[], Digest]
) -> dict[int, Streamed]:
    """Hash contents as they arrive, up to the first that cannot be read from the front, or the central directory.

    Args:
        arriving: The package's bytes, none of them read yet.
        second: The thread that hashes; the digests are complete when it has finished.
        limit: Bounds, so that a bomb is not inflated before its size is known.
        new: Makes the digest of one content.

    Returns:
        The contents by the offset of their header.
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
        arriving.take(name_length + extra_length)
        if method == Method.DEFLATED:
            blocks: Iterator[bytes | memoryview] = inflated(arriving)
        elif method == Method.STORED and not has_descriptor and packed != _FULL32:
            blocks = _stored(arriving, packed)
        else:
            break
        start, before, digest = arriving.position, size, new()
        try:
            for block in blocks:
                arriving.stop_if_cancelled()
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
        found[offset] = Streamed(Method(method), taken, produced, digest, descriptor)
    return found


def _stored(arriving: Arriving, left: int) -> Iterator[memoryview]:
    while left and (piece := arriving.some()):
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
