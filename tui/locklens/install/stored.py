"""Packages that are stored as zip files, read in place: no second copy of their bytes is made."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from locklens.errors import PackageError
from locklens.install.limits import LIMITS
from locklens.packages.hashing import hash_arriving_package

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from pathlib import Path

    from locklens.packages.hashing import Passed

_BLOCK = 1 << 20
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_stored_package(path: Path, cancel: threading.Event | None = None) -> Passed:
    """Read the zip file of a package, and hash it.

    Raises:
        PackageError: It cannot be read, or the tools could not unpack it.
        RunCancelledError: `cancel` was set.
    """
    try:
        with _opened(path) as arriving, _opened(path) as stored:
            chunks = iter(lambda: arriving.read(_BLOCK), b"")
            return hash_arriving_package(chunks, cast("BinaryIO", _Stored(stored)), limit=LIMITS, cancel=cancel)
    except OSError as error:
        raise PackageError(f"{path} cannot be read: {error.strerror or error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    # A device acts on being opened, so what it is has to be known before; and again afterwards.
    _require_file(path.stat())
    with open(os.open(path, _READ), "rb") as file:  # noqa: PTH123
        _require_file(os.fstat(file.fileno()))
        yield file


def _require_file(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a regular file")


class _Stored:
    """A file that holds already what is written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.read, self.tell = file.seek, file.read, file.tell

    def write(self, data: bytes) -> int:
        """Write nothing."""
        return len(data)
