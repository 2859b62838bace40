"""Unpacks a package as the tools do, but never outside of its folder, never more than the bounds, and whole or not."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, PackageError
from locklens.hashes import h1_of_digests
from locklens.packages.archive import read_directory
from locklens.packages.contents import Contents, Digest, check
from locklens.packages.layout import lay_out
from locklens.packages.limits import shown
from locklens.packages.pipeline import SecondThread

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable
    from pathlib import Path
    from typing import BinaryIO

    from locklens.packages.archive import Entry
    from locklens.packages.layout import Layout
    from locklens.packages.limits import Limits

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


def unpack(archive: Path, into: Path, *, limit: Limits, cancel: threading.Event | None = None) -> str:
    """Unpacks a zip file and returns the `h1` of what was written.

    Permissions are the zip file's, folders are subject to the umask. Symbolic links become files with their target as
    text. On any error nothing is left of what was written.

    Args:
        archive: The zip file.
        into: A folder that does not exist yet, or is empty; nobody else writes to it.
        limit: What the package may be at most.
        cancel: Looked at between blocks.

    Raises:
        PackageError: The tools could not unpack it, its `h1` could not be said, it is beyond a bound, or two of its
            names are one for this file system.
        RunCancelledError: The run was cancelled.
        ConfigurationError: The zip file cannot be read, or the folder cannot be written to or is not empty.
    """
    try:
        with archive.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit.packed:
                raise PackageError(f"the package has more than {shown(limit.packed)}, which is not read")
            layout = lay_out(read_directory(file, size, limit), size, limit)
            if os.name == "nt":
                check_names_for_windows(layout)
            with _Folder(into) as folder:
                digests = _write(layout, Contents(file, size, cancel=cancel), folder)
                h1 = h1_of_digests((path, digest.hex()) for path, digest in digests.items())
                folder.set_permissions(layout)
    except FileExistsError as error:
        raise PackageError("two files or folders of the package have one name on this file system") from error
    except OSError as error:
        place = archive if error.filename == str(archive) else into
        hint = "make room, or name another folder"
        raise ConfigurationError(
            f"cannot be unpacked: {error.strerror or error}", path=str(place), hint=hint
        ) from error
    return h1


def _write(layout: Layout, contents: Contents, folder: _Folder) -> dict[bytes, Digest]:
    """Writes all folders and files; what a later one of the same name replaces is read all the same."""
    digests: dict[bytes, Digest] = {}
    read: list[tuple[Entry, Digest]] = []
    folder.make(layout.folders)
    with SecondThread() as second:
        for path, entry in layout.opened:
            is_kept = layout.files[path] is entry
            digest = digests[path] = Digest()
            if is_kept:
                second.do(partial(folder.begin, path))
            for block in contents.blocks(entry):
                second.do(partial(digest.update, block))
                if is_kept:
                    second.do(partial(folder.write, block))
            read.append((entry, digest))
        second.do(folder.end)
        second.finish()
    for entry, digest in read:
        check(entry, digest)
    return digests


class _Folder:
    """The folder that is written; empty again, or gone, where that ends with an error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._top = os.fsencode(path)
        self._file: BinaryIO | None = None
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
        if kind is None:
            return
        with suppress(OSError):
            self.end()
        if self._is_own:
            shutil.rmtree(self._path, ignore_errors=True)
            return
        for inside in self._path.iterdir():
            if inside.is_dir():
                shutil.rmtree(inside, ignore_errors=True)
            else:
                inside.unlink(missing_ok=True)

    def make(self, folders: Iterable[bytes]) -> None:
        """Makes folders, each after the one that holds it."""
        for path in folders:
            os.mkdir(self._inside(path), _FOLDER_MODE)  # noqa: PTH102 - paths are bytes

    def begin(self, path: bytes) -> None:
        """Opens a new file after the one before."""
        self.end()
        self._file = os.fdopen(os.open(self._inside(path), _NEW, 0o600), "wb")

    def write(self, block: bytes | memoryview) -> None:
        """Adds to the file."""
        assert self._file is not None
        self._file.write(block)

    def end(self) -> None:
        """Closes the file, if there is one."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def set_permissions(self, layout: Layout) -> None:
        """Gives each file those that the zip file says; last, since an unreadable file could not be written to."""
        for path, entry in layout.files.items():
            os.chmod(self._inside(path), entry.permissions)  # noqa: PTH101

    def _inside(self, path: bytes) -> bytes:
        return os.path.join(self._top, path)  # noqa: PTH118


def check_names_for_windows(layout: Layout) -> None:
    """Refuses what Windows would take for another file: devices, streams, drives, trailing dots.

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
