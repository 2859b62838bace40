"""Folders below a trusted one, entered one after the other so that no link on the way is followed.

What lies below a root module may be tracked by its repository, links too. On POSIX each folder is held open and what is
in it is reached through its descriptor, so that nothing on the way can be exchanged meanwhile; on Windows, which has no
such thing, each is looked at once, when it is entered.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

_HAS_DESCRIPTORS = (
    {os.open, os.mkdir, os.rename, os.rmdir, os.stat, os.symlink, os.unlink} <= os.supports_dir_fd
    and os.listdir in os.supports_fd
    and hasattr(os, "O_NOFOLLOW")
)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_REPARSE_POINT = 0x400
"""FILE_ATTRIBUTE_REPARSE_POINT: what Windows has for links and junctions."""


class RealFolder:
    """An open folder; use it in a `with` statement. All methods raise OSError where the system refuses.

    Args:
        path: Where it is.
        parent: The descriptor of the folder that it is in, None where links to it are followed.
    """

    def __init__(self, path: Path, parent: int | None = None) -> None:
        self.path = path
        self._descriptor: int | None = None
        if parent is not None:
            self._descriptor = os.open(path.name, _FOLDER | _NO_FOLLOW, dir_fd=parent)
        elif _HAS_DESCRIPTORS:
            self._descriptor = os.open(path, _FOLDER)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def enter(self, name: str) -> RealFolder:
        """Open a folder in this one.

        Raises:
            ConfigurationError: It is a link.
        """
        self._refuse_link(name)
        return RealFolder(self.path / name, self._descriptor)

    def open(self, name: str, flags: int, mode: int = 0o777) -> int:
        """Open a file in this folder, and return its descriptor.

        Raises:
            ConfigurationError: It is a link.
        """
        self._refuse_link(name)
        return os.open(self._at(name), flags | _NO_FOLLOW, mode, dir_fd=self._descriptor)

    def make(self, name: str, mode: int = 0o777) -> None:
        """Make a folder."""
        os.mkdir(self._at(name), mode, dir_fd=self._descriptor)

    def link(self, name: str, target: Path) -> None:
        """Make a link to a folder elsewhere."""
        os.symlink(target, self._at(name), target_is_directory=True, dir_fd=self._descriptor)

    def replace(self, name: str, new_name: str) -> None:
        """Rename a file within this folder; a file or link of the new name is replaced."""
        os.replace(self._at(name), self._at(new_name), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Remove a file or link, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._descriptor)

    def move(self, name: str, into: RealFolder, new_name: str) -> None:
        """Rename whatever has a name, links themselves, into this or another folder."""
        os.rename(self._at(name), into._at(new_name), src_dir_fd=self._descriptor, dst_dir_fd=into._descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """Return what has a name, links themselves; None where nothing has."""
        try:
            return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Return the names of all that is in the folder."""
        return os.listdir(self.path if self._descriptor is None else self._descriptor)  # noqa: PTH208 - a descriptor

    def remove_tree(self, name: str) -> None:
        """Remove a folder with what is in it as far as that goes; links are removed, never followed."""
        with suppress(RecursionError):  # Folders may be nested as deeply as the file system lets them.
            shutil.rmtree(self._at(name), ignore_errors=True, dir_fd=self._descriptor)

    def remove_empty(self, name: str) -> None:
        """Remove a folder where nothing is in it."""
        with suppress(OSError):
            os.rmdir(self._at(name), dir_fd=self._descriptor)

    def _at(self, name: str) -> str:
        return str(self.path / name) if self._descriptor is None else name

    def _refuse_link(self, name: str) -> None:
        found = self.status(name)
        if found is not None and is_link(found):
            hint = "remove the link, or name the folder where it leads in the settings, such as TF_DATA_DIR"
            raise ConfigurationError("it is a link, which is not followed", path=str(self.path / name), hint=hint)


def is_link(status: os.stat_result) -> bool:
    """True if what was looked at, without following it, leads elsewhere."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_file_attributes", 0) & _REPARSE_POINT)


class Way(ExitStack):
    """The folders on the way from a trusted one to the innermost, all of them open; a context manager.

    Args:
        top: The trusted one, made where it is missing.
        names: Of the folders below it, in order; those that are missing are made.

    Attributes:
        end: The innermost.

    Raises:
        ConfigurationError: One of them is a link.
        OSError: One can be neither entered nor made.
    """

    def __init__(self, top: Path, names: Sequence[str]) -> None:
        super().__init__()
        self._made: list[tuple[RealFolder, str]] = []
        top.mkdir(parents=True, exist_ok=True)
        try:
            self.end = self.enter_context(RealFolder(top))
            for name in names:
                with suppress(FileExistsError):
                    self.end.make(name)
                    self._made.append((self.end, name))
                self.end = self.enter_context(self.end.enter(name))
        except BaseException:
            self.tidy()
            self.close()
            raise

    def tidy(self) -> None:
        """Remove those folders again that were made here, and that nothing is in."""
        for parent, name in reversed(self._made):
            parent.remove_empty(name)


def leads_through_link(top: Path, names: Sequence[str]) -> bool:
    """True if one of the folders below a trusted one is a link, or no folder; a missing one ends the search."""
    place = top
    for name in names:
        place /= name
        try:
            found = place.lstat()
        except OSError:
            return False
        if is_link(found) or not stat.S_ISDIR(found.st_mode):
            return True
    return False
