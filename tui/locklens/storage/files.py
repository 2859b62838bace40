"""Single files: bounded reads, atomic writes, and whether a path lies in a folder or in the repository."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from locklens.errors import ConfigurationError

_DESCRIPTOR = re.compile(r"(?:/proc/self|/dev)/fd/([0-9]{1,6})")
_MAX_LINKS = 8


def read_bounded(path: Path, limit: int, *, missing: bytes | None = None) -> bytes:
    """Return the bytes of a file.

    Args:
        path: The file.
        limit: The most bytes that are read, whole KiB.
        missing: Returned if there is no such file; None if that is an error.

    Raises:
        ConfigurationError: The file cannot be read, or is larger.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        if missing is not None and isinstance(error, FileNotFoundError):
            return missing
        raise ConfigurationError(f"cannot be read: {error.strerror}", path=str(path)) from error
    if len(data) > limit:
        raise ConfigurationError(f"larger than {limit // 1024} KiB", path=str(path))
    return data


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Replace a file in one step: a temporary file beside it, flushed to the disk, then renamed over it.

    A device, a pipe or an open file of this process, like /dev/stdout, is written to directly.

    Args:
        path: The file; a symbolic link is replaced, not followed. Only a link outside of the repository that leads to
            a device, a pipe or an open file of this process is followed.
        data: The whole new content.
        mode: Permissions of the new file, whatever the process's umask is.

    Raises:
        ConfigurationError: The file cannot be written, or a link in the current repository leads out of it; the old
            file is untouched.
    """
    try:
        is_repositorys = lies_in_repository(path.parent, named=path)
        if not (is_repositorys and path.is_symlink()):
            if (opened := _open_descriptor(path)) is not None:
                with os.fdopen(os.dup(opened), "wb") as file:
                    file.write(data)
                return
            if path.exists() and not path.is_file():
                path.write_bytes(data)
                return
        descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "name another file or folder"
        raise ConfigurationError(f"cannot be written: {reason}", path=str(path), hint=hint) from error


def _open_descriptor(path: Path) -> int | None:
    """Return the descriptor that a path like /dev/stdout or /dev/fd/3 names.

    Where standard output is redirected, such a path leads to a regular file: replaced, the link of the whole machine
    would be gone, and what else is written to the output would be lost.
    """
    for _ in range(_MAX_LINKS):
        match = _DESCRIPTOR.fullmatch(str(path))
        if match:
            return int(match[1])
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def lies_in_repository(folder: Path, *, named: Path | None = None) -> bool:
    """True if a folder lies in the current repository, or in the current folder if that is in no repository.

    Args:
        folder: The folder, which need not exist.
        named: The path that an error names; None for the folder.

    Raises:
        ConfigurationError: Its path lies there, but a link on the way, which the repository may have made, leads out.
    """
    here = os.path.realpath(".")
    top = next((str(one) for one in (Path(here), *Path(here).parents) if os.path.lexists(one / ".git")), here)
    place = os.path.realpath(folder)
    if is_within(top, place):
        return True
    way = Path(os.path.abspath(folder))  # noqa: PTH100 - links are not to be resolved
    if any(is_within(top, os.path.realpath(one)) for one in (way, *way.parents)):
        hint = "name the intended folder itself"
        words = f"a link leads out of the repository, to {place}"
        raise ConfigurationError(words, path=str(named or folder), hint=hint)
    return False


def is_within(top: str, place: str) -> bool:
    """True if a path is a folder or in it; both are without links, on any drive."""
    return place == top or place.startswith(top if top.endswith(os.sep) else top + os.sep)


def is_below(top: str, place: str) -> bool:
    """True if a path is one of the user's files in a repository: not its top, and in no folder of git's."""
    return place != top and is_within(top, place) and ".git" not in Path(place).relative_to(top).parts


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, if the system has a way to."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
