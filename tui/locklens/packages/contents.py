"""The contents of a zip file: inflated, digested in a second thread, and checked as the tools check them.

One thread inflates while a second one hashes; both release the interpreter lock, so they use two cores. While other
packages keep all processors busy, there is no second thread: handing blocks from one processor to another would cost
more than it gains.

Only this module imports isal, which takes half the time of the standard library's zlib but is not available everywhere.
"""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from functools import cache
from queue import Queue
from typing import Any, Protocol

from msgspec import Struct

from locklens.errors import PackageError
from locklens.packages import Method, ZipEntry, stop_if

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import BinaryIO, Self


LOCAL_HEADER = struct.Struct("<4s2x2H8x2L2H")
"""Signature, flags, method, packed size, size, lengths of name and extra field."""

LOCAL_SIGNATURE = b"PK\x03\x04"
DESCRIPTOR_SIGNATURE = b"PK\x07\x08"
PIECE = 1 << 18

BLOCK = 1 << 20
"""The most bytes that inflating yields at once, which bounds the memory of the consumer."""

_RAW = -15
_ONE_BLOCK = bytes(128)

_WAITING = 8
"""The most blocks that wait for the second thread, which bounds the memory."""

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""The number of processors that this process may use."""


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
        """Called after the last block."""

    def hex(self) -> str:
        """The SHA-256 in hexadecimal, as an `h1` is made of."""
        return self._sha256.hexdigest()


def new_digest(_: bytes) -> Digest:
    """Make a digest; the name of the content is ignored."""
    return Digest()


class PackedBytes(Protocol):
    """A stream of compressed bytes."""

    def read_some(self) -> bytes | memoryview:
        """Return the next few bytes; empty at the end."""

    def give_back(self, count: int) -> None:
        """Put back the last bytes that `read_some` returned, as many as given."""


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
    # isal leaves the upper halves of vector registers in use, which slows down this thread afterwards: regular
    # expressions that compare groups take two and a half times as long. A SHA-512 of OpenSSL clears the registers.
    hashlib.sha512(_ONE_BLOCK)
    return continued


def inflated(source: PackedBytes) -> Iterator[bytes]:
    """Yield the contents of a raw deflate stream in blocks of at most BLOCK bytes; give back the bytes after its end.

    Raises:
        InflateError: The stream is invalid or incomplete.
    """
    module = engine()
    stream = module.decompressobj(_RAW)
    while not stream.eof:
        piece = source.read_some()
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
        """Yield the content of a file in blocks of at most BLOCK bytes.

        Everything is checked except the CRC-32, which the caller computes.

        Raises:
            PackageError: The tools would not unpack it either, or it is encrypted.
            RunCancelledError: The run was cancelled.
            OSError: The file cannot be read.
        """
        if entry.is_encrypted:
            raise PackageError(f"{entry} in the package is encrypted")
        start = self._body_of(entry)
        section = _Section(self._file, start, start + entry.packed, self._cancel)
        if entry.method not in {Method.DEFLATED, Method.STORED}:
            words = f"{entry} in the package uses compression method {entry.method}, which the tools do not support"
            raise PackageError(words)
        produced = 0
        try:
            for block in inflated(section) if entry.method == Method.DEFLATED else iter(section.read_some, b""):
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
        """Compare only the CRC-32: writers disagree about the width of the sizes, and the tools ignore them."""
        self._file.seek(min(position, self._size))
        record = self._file.read(16)
        if record[:4] == DESCRIPTOR_SIGNATURE:
            is_right = len(record) == 16 and record[4:8] == struct.pack("<L", entry.crc)
        else:
            is_right = len(record) >= 12 and record[:4] == struct.pack("<L", entry.crc)
        if not is_right:
            raise damaged(entry, "no data descriptor with its checksum follows it")


class _Section(Struct):
    """A part of the file as a source of packed bytes."""

    file: BinaryIO
    at: int
    stop: int
    cancel: threading.Event | None

    def read_some(self) -> bytes:
        stop_if(self.cancel)
        if self.at >= self.stop:
            return b""
        self.file.seek(self.at)
        piece = self.file.read(min(PIECE, self.stop - self.at))
        self.at += len(piece)
        return piece

    def give_back(self, count: int) -> None:
        self.at -= count


def damaged(entry: ZipEntry, why: str) -> PackageError:
    """Return the error for a content that cannot be read."""
    return PackageError(f"{entry} in the package is damaged: {why}")


class _Packages:
    """The number of packages that are being read."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.Lock()


_PACKAGES = _Packages()


class SecondThread:
    """Runs tasks in order in a thread of its own; a context manager, which ends the thread.

    The first error of a task is raised by the next call, and no task runs after it. While as many packages are being
    read as there are processors, the calling thread runs the tasks itself.
    """

    def __init__(self) -> None:
        self._tasks: Queue[Callable[[], object] | None] = Queue(_WAITING)
        self._error: BaseException | None = None
        self._is_stopped = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        with _PACKAGES.lock:
            _PACKAGES.count += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _PACKAGES.lock:
            _PACKAGES.count -= 1
        self._is_stopped = True
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join()

    def do(self, task: Callable[[], object]) -> None:
        """Queue a task, or run it at once; wait while the queue is full."""
        if _PACKAGES.count >= PROCESSORS and not self._tasks.unfinished_tasks and self._error is None:
            task()
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="package", daemon=True)
            self._thread.start()
        self._tasks.put(task)
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Wait until all queued tasks are done."""
        self._tasks.join()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not self._is_stopped:
                try:
                    task()
                except BaseException as error:  # noqa: BLE001 - raised in the calling thread
                    self._error = error
                    self._is_stopped = True
            del task
            self._tasks.task_done()
