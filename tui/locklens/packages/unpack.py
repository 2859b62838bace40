"""Unpacks a package as the tools do, but never outside of its folder, never more than the bounds, and whole or not."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Unpack

from locklens.errors import ConfigurationError, PackageError
from locklens.packages.contents import Digest
from locklens.packages.hashing import hash_arriving_package, spool_in
from locklens.text import disk_advice

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from locklens.hashes import HashedPackage
    from locklens.packages import PackageLayout
    from locklens.packages.hashing import PackageOptions, Passed

_FOLDER_MODE = 0o755
_NOT_IN_WINDOWS_NAMES = {*'<>:"|?*\\', *map(chr, range(32))}
_DEVICES = {
    "CON",
    "PRN",
    "AUX",
    "NUL",
    "CONIN$",
    "CONOUT$",
    *(f"{port}{n}" for port in ("COM", "LPT") for n in "0123456789¹²³"),
}
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def unpack(chunks: Iterable[bytes], into: Path, **options: Unpack[PackageOptions]) -> HashedPackage:
    """Unpack a zip file while it arrives, and return the hashes of what arrived and of what was written.

    Contents are written at once, under names of our own beside the folder; the zip file's directory at its end says
    which files there are and what they are called. Permissions are the zip file's, folders are subject to the umask.
    Symbolic links become files with their target as text. On any error nothing is left of what was written. The folder
    does not exist yet, or is empty; no other process may write to it, or beside it. For chunks and options see
    `hash_arriving_package`.

    Raises:
        PackageError: The tools could not unpack it, its `h1` could not be computed, it is beyond a bound, or two of its
            names are one for this file system.
        RunCancelledError: The run was cancelled.
        ConfigurationError: The folder cannot be written to or is not empty.
    """
    try:
        with _Folder(into) as folder, spool_in(into.parent) as spool:
            passed = hash_arriving_package(chunks, spool, new=folder.content, **options)
            if os.name == "nt":
                check_names_for_windows(passed.layout)
            folder.settle(passed)
    except FileExistsError as error:
        raise PackageError("two files or folders of the package have the same name on this file system") from error
    except OSError as error:
        hint = disk_advice(error)
        words = f"cannot be unpacked: {error.strerror or error}"
        raise ConfigurationError(words, path=str(into), hint=hint) from error
    return passed.hashed


class _Content(Digest):
    """A content that is written to the disk while it is hashed."""

    def __init__(self, place: bytes) -> None:
        super().__init__()
        self.place = place
        self._file = os.fdopen(os.open(place, _NEW, 0o600), "wb")

    def update(self, block: bytes | memoryview) -> None:
        """Take the next block."""
        self._file.write(block)
        super().update(block)

    def end(self) -> None:
        """Close the file."""
        self._file.close()


class _Folder:
    """The folder that is written; empty again, or gone, where that ends with an error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._top = os.fsencode(path)
        self._contents: list[_Content] = []
        self._is_own = False

    def __enter__(self) -> _Folder:
        try:
            self._path.mkdir(_FOLDER_MODE)
            self._is_own = True
        except FileExistsError:
            if self._path.is_symlink() or not self._path.is_dir() or any(self._path.iterdir()):
                hint = "name a folder that does not exist yet"
                raise ConfigurationError("is not an empty folder", path=str(self._path), hint=hint) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        for content in self._contents:
            with suppress(OSError):
                content.end()
            with suppress(OSError):
                os.unlink(content.place)  # noqa: PTH108 - paths are bytes
        if kind is None:
            return
        if self._is_own:
            shutil.rmtree(self._path, ignore_errors=True)
            return
        for inside in self._path.iterdir():
            if inside.is_dir():
                shutil.rmtree(inside, ignore_errors=True)
            else:
                inside.unlink(missing_ok=True)

    def content(self, _: bytes) -> _Content:
        """Make the file of the next content."""
        content = _Content(b"%s.%d" % (self._top, len(self._contents)))
        self._contents.append(content)
        return content

    def settle(self, passed: Passed) -> None:
        """Give the files their names, and the permissions that the zip file says.

        Those come last, since a file that may not be read cannot be moved everywhere.
        """
        for path in passed.layout.folders:
            os.mkdir(self._inside(path), _FOLDER_MODE)  # noqa: PTH102 - paths are bytes
        digests = passed.digests
        for path in passed.layout.files:
            content, place = digests[path], self._inside(path)
            assert isinstance(content, _Content)
            if os.path.lexists(place):
                raise FileExistsError
            os.rename(content.place, place)  # noqa: PTH104
        for path, entry in passed.layout.files.items():
            os.chmod(self._inside(path), entry.permissions)  # noqa: PTH101

    def _inside(self, path: bytes) -> bytes:
        return os.path.join(self._top, path)  # noqa: PTH118


def check_names_for_windows(layout: PackageLayout) -> None:
    """Refuse what Windows would take for another file: devices, streams, drives, trailing dots.

    Raises:
        PackageError: There is such a name.
    """
    for path in (*layout.folders, *layout.files):
        if not all(_is_windows_name(component) for component in path.split(b"/")):
            name = ascii(path.decode("utf-8", "backslashreplace"))[1:-1]
            raise PackageError(f"{name} in the package cannot be the name of a file on Windows")


def _is_windows_name(component: bytes) -> bool:
    try:
        text = component.decode("utf-8")
    except UnicodeDecodeError:
        return False
    stem = text.partition(".")[0].rstrip(" ").upper()
    return not (_NOT_IN_WINDOWS_NAMES & set(text)) and text[-1] not in ". " and stem not in _DEVICES
