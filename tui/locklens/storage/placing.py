"""The steps of which a write of several files is made; each leaves every file old or new, byte for byte."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locklens.storage.records import Record, WrittenFile

_MAX_BYTES = 64 * 1024 * 1024
"""As of the files that are read: see `locklens.project.tree`."""

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def is_within(top: str, place: str) -> bool:
    """True if a place is a folder or in it; both without links, on any drive."""
    return place == top or place.startswith(top if top.endswith(os.sep) else top + os.sep)


def is_below(top: str, place: str) -> bool:
    """True if a place is one in a repository where files of the user's are: not its top, and in no folder of git's."""
    return place != top and is_within(top, place) and ".git" not in Path(place).relative_to(top).parts


def temporary(record: Record, file: WrittenFile) -> str:
    """Return where a file's new bytes wait: beside it, under a name that no tool takes for configuration."""
    number = record.files.index(file)
    return os.path.join(os.path.dirname(file.path), f".locklens-{record.id}-{number}")  # noqa: PTH118, PTH120


def current(file: WrittenFile) -> bytes | None:
    """Return the bytes that are at a file's place now, None where nothing is.

    Raises:
        OSError: It cannot be read, is no regular file, or is larger than any that locklens writes.
    """
    is_link = file.link is not None and link_at(file.place) == file.link
    try:
        # A device acts on being opened, so what it is has to be known before; and again afterwards.
        _require_regular(os.stat(file.path) if is_link else os.lstat(file.path))  # noqa: PTH116
        flags = _READ if is_link else _READ | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(file.path, flags), "rb") as stream:  # noqa: PTH123
            _require_regular(os.fstat(stream.fileno()))
            data = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > _MAX_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a regular file")


def link_at(place: bytes) -> bytes | None:
    """Return where the link at a place leads, None where there is none.

    Raises:
        OSError: It cannot be read.
    """
    return os.readlink(place) if os.path.islink(place) else None  # noqa: PTH114, PTH115


def write_temporary(file: WrittenFile, data: bytes, name: str) -> None:
    """Write bytes to a temporary file, down to the disk, with the permissions and the owner that the file has.

    Raises:
        OSError: It cannot be done.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    with open(os.open(name, flags, 0o600), "wb") as stream:  # noqa: PTH123
        stream.write(data)
        stream.flush()
        with suppress(OSError):
            owner = os.stat(file.path)  # noqa: PTH116
            if hasattr(os, "fchown") and (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), owner.st_uid, owner.st_gid)
        os.chmod(name, file.mode)  # noqa: PTH101
        os.fsync(stream.fileno())


def put_in_place(file: WrittenFile, data: bytes | None, name: str) -> None:
    """Put bytes in a file's place in one step, or remove it (None); a link that was there before comes back.

    Args:
        file: Which.
        data: What is to be there.
        name: Of the temporary file; one that is there already is replaced.

    Raises:
        OSError: It cannot be done.
    """
    if file.link is None and data is None:
        Path(file.path).unlink(missing_ok=True)
        return
    Path(name).unlink(missing_ok=True)
    if file.link is not None and data == file.old:
        os.symlink(file.link, os.fsencode(name))  # noqa: PTH211
    elif data is not None:
        write_temporary(file, data, name)
    os.replace(name, file.path)  # noqa: PTH105


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the system has a way to."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
