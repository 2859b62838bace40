"""The contents of a zip file that is on the disk, entry by entry, checked as the tools check them while unpacking."""

from __future__ import annotations

import hashlib
import struct

from locklens.errors import PackageError
from locklens.packages.archive import Method, ZipEntry
from locklens.packages.inflate import InflateError, crc32, inflated
from locklens.packages.limits import stop_if

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from typing import BinaryIO

LOCAL_HEADER = struct.Struct("<4s2x2H8x2L2H")
"""Signature, flags, method, packed size, size, lengths of name and extra field."""

LOCAL_SIGNATURE = b"PK\x03\x04"
DESCRIPTOR_SIGNATURE = b"PK\x07\x08"
PIECE = 1 << 18


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
    """The error for a content that cannot be had."""
    return PackageError(f"{entry} in the package is damaged: {why}")
