"""Files and folders: bounded reads, atomic writes, folders that are opened without following links, and file locks.

A repository can track anything below its root modules, links too. On POSIX each folder is held open and its contents
are reached through its descriptor, so that no folder of a path can be replaced in between; Windows has no such
descriptors, so each folder is checked once, when it is opened. Locks are the system's, and end with their process.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from locklens.errors import ConfigurationError, RunCancelledError
from locklens.text import disk_advice

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

_DESCRIPTOR = re.compile(r"(?:/proc/self|/dev)/fd/([0-9]{1,6})")
_MAX_LINKS = 8

_HAS_DESCRIPTORS = (
    {os.open, os.mkdir, os.rename, os.rmdir, os.stat, os.symlink, os.unlink} <= os.supports_dir_fd
    and os.listdir in os.supports_fd
    and hasattr(os, "O_NOFOLLOW")
)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_REPARSE_POINT = 0x400
"""FILE_ATTRIBUTE_REPARSE_POINT, which Windows sets for links and junctions."""

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""O_NONBLOCK, since a pipe or a kernel log may take the place of a file after it was checked, and would block."""

_LOCK_FILE = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_RETRY_SECONDS = 0.05
"""Seconds between two attempts to take a lock."""

_MOST_TRIES = 100
"""How often folders are made anew that other processes remove."""

_NOTICE_SECONDS = 2.0
"""Seconds of waiting after which `on_waiting` is called."""


def read_bounded(path: Path, limit: int, *, missing: bytes | None = None) -> bytes:
    """Return the bytes of a file: at most `limit`, a multiple of 1024; `missing`, unless it is None, if there is none.

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


def open_regular(path: str | bytes | Path, *, follows_link: bool = True) -> BinaryIO:
    """Open a regular file for reading; a link in its place may be refused.

    Raises:
        OSError: It cannot be opened, or is a folder, a device, a pipe or a socket.
    """
    # Opening a device can have an effect, so the type is checked before; and after, if the file was replaced meanwhile.
    _require_regular(os.stat(path, follow_symlinks=follows_link))  # noqa: PTH116
    file = open(os.open(path, _READ if follows_link else _READ | _NO_FOLLOW), "rb")  # noqa: PTH123, SIM115
    try:
        _require_regular(os.fstat(file.fileno()))
    except BaseException:
        file.close()
        raise
    return file


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


def write_atomically(path: Path, data: bytes | Iterator[bytes], *, mode: int = 0o644) -> None:
    """Replace a file in one step: a temporary file beside it, flushed to the disk, then renamed over it.

    A device, a pipe or an open file of this process, like /dev/stdout, is written to directly. A symbolic link is
    replaced, not followed, unless it is outside of the repository and leads to one of these. Of pieces of the new
    content, each is made only when the earlier ones are written. The mode counts regardless of the umask.

    Raises:
        ConfigurationError: The file cannot be written, or a link in the current repository leads out of it; the old
            file is untouched.
    """
    pieces = (data,) if isinstance(data, bytes) else data
    try:
        is_in_repository = lies_in_repository(path.parent, named=path)
        if not (is_in_repository and path.is_symlink()):
            if (opened := _open_descriptor(path)) is not None:
                with os.fdopen(os.dup(opened), "wb") as file:
                    file.writelines(pieces)
                return
            if path.exists() and not path.is_file():
                with path.open("wb") as file:
                    file.writelines(pieces)
                return
        descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(pieces)
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

    If standard output is redirected, such a path leads to a regular file. Replacing it would remove the link for the
    whole machine, and lose everything else that is written to the output.
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
    """True if a folder, which need not exist, lies in the current repository, or without one in the current folder.

    An error names another path if one is given.

    Raises:
        ConfigurationError: The path lies there, but a link in it, which the repository may have added, leads out.
    """
    here = os.path.realpath(".")
    top = next((str(one) for one in (Path(here), *Path(here).parents) if os.path.lexists(one / ".git")), here)
    place = os.path.realpath(folder)
    if is_within(top, place):
        return True
    unresolved = Path(os.path.abspath(folder))  # noqa: PTH100 - links are not to be resolved
    if any(is_within(top, os.path.realpath(one)) for one in (unresolved, *unresolved.parents)):
        hint = "name the intended folder itself"
        words = f"a link leads out of the repository, to {place}"
        raise ConfigurationError(words, path=str(named or folder), hint=hint)
    return False


def is_within(top: str, place: str) -> bool:
    """True if a path is a folder or in it; both are resolved, and may be on different drives."""
    return place == top or place.startswith(top if top.endswith(os.sep) else top + os.sep)


def is_below(top: str, place: str) -> bool:
    """True if a path can be a file of the user in a repository: below its top, and not in a `.git` folder."""
    return place != top and is_within(top, place) and ".git" not in Path(place).relative_to(top).parts


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, if the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class RealFolder:
    """An open folder, a context manager. All methods raise OSError if the system refuses.

    Without the descriptor of its parent folder, links to it are followed.
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

    def __exit__(self, *_: object) -> None:
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
        """Rename a file, a folder or a link itself into this or another folder."""
        os.rename(self._at(name), into._at(new_name), src_dir_fd=self._descriptor, dst_dir_fd=into._descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a file, a folder or a link itself; None if there is nothing of that name."""
        try:
            return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Return the names of all files, folders and links in the folder."""
        return os.listdir(self.path if self._descriptor is None else self._descriptor)  # noqa: PTH208 - a descriptor

    def remove_tree(self, name: str) -> None:
        """Remove a folder with its contents as far as the system allows; links are removed, never followed."""
        with suppress(RecursionError):  # Folders may be nested as deeply as the file system lets them.
            shutil.rmtree(self._at(name), ignore_errors=True, dir_fd=self._descriptor)

    def remove_empty(self, name: str) -> None:
        """Remove a folder if it is empty."""
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
    """True for the status of a link or a junction; the status was taken without following it."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_file_attributes", 0) & _REPARSE_POINT)


class OpenFolders(ExitStack):
    """The folders from a trusted one down to the innermost, all of them open; a context manager.

    Missing ones are made, the trusted one too. Those that were made below it are added to `made`, if it is given; `end`
    is the innermost.

    Raises:
        ConfigurationError: One of the folders is a link.
        OSError: One can be neither entered nor made.
    """

    def __init__(self, top: Path, names: Sequence[str], made: set[Path] | None = None) -> None:
        super().__init__()
        self._made = set[Path]() if made is None else made
        self._way: list[tuple[RealFolder, str]] = []
        self._above = [place for place in (top, *top.parents) if not place.exists()]
        top.mkdir(parents=True, exist_ok=True)
        try:
            self.end = self.enter_context(RealFolder(top))
            for name in names:
                self._way.append((self.end, name))
                with suppress(FileExistsError):
                    self.end.make(name)
                    self._made.add(self.end.path / name)
                self.end = self.enter_context(self.end.enter(name))
        except BaseException:
            self.tidy()
            self.close()
            raise

    def tidy(self) -> None:
        """Remove the folders that were made and are empty."""
        for parent, name in reversed(self._way):
            if parent.path / name in self._made:
                parent.remove_empty(name)
        for place in self._above:
            with suppress(OSError):
                place.rmdir()


def leads_through_link(top: Path, names: Sequence[str]) -> bool:
    """True if one of the nested folders below a trusted one is a link or no folder; a missing one ends the search."""
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


@contextmanager
def exclusive_lock(
    top: Path,
    names: Sequence[str],
    *,
    cancel: threading.Event | None = None,
    on_waiting: Callable[[], None] = lambda: None,
    is_shared_with_opentofu: bool = False,
) -> Iterator[None]:
    """Wait until no other process holds the lock, and hold it until the block ends.

    The lock file is the last of `names`, in nested folders below a trusted one; no link below that is followed. Missing
    folders are made; the file is removed again, and so are the folders that are empty then. `on_waiting` is called
    once, after a few seconds of waiting. A lock that OpenTofu takes too (internal/flock) excludes other processes, but
    not other threads of the same one; its file stays, because OpenTofu may be waiting for it and does not check whether
    it still exists.

    Raises:
        ConfigurationError: The file cannot be made, or it or a folder on the way to it is a link.
        RunCancelledError: `cancel` was set.
    """
    *folders, file = names
    start, is_notified = time.monotonic(), False

    def wait() -> None:
        nonlocal is_notified
        if cancel is not None and cancel.is_set():
            raise RunCancelledError("the run was cancelled")
        if not is_notified and time.monotonic() - start > _NOTICE_SECONDS:
            is_notified = True
            on_waiting()
        time.sleep(_RETRY_SECONDS)

    with ExitStack() as opened:
        try:
            for tries in range(_MOST_TRIES):
                try:
                    way = opened.enter_context(OpenFolders(top, folders))
                    descriptor = _locked(way.end, file, wait, is_shared_with_opentofu=is_shared_with_opentofu)
                    break
                except FileNotFoundError:  # Another process had made a folder, and has removed it.
                    if tries == _MOST_TRIES - 1:
                        raise
        except OSError as error:
            hint = disk_advice(error)
            place = str(top.joinpath(*folders))
            raise ConfigurationError(f"cannot be written: {error.strerror}", path=place, hint=hint) from error
        try:
            yield
        finally:
            close = partial(os.close, descriptor)
            removals = [] if is_shared_with_opentofu else [partial(way.end.remove, file)]
            # Windows removes no open file, so it is closed first; if another process opens it in between, it stays.
            for step in (*removals, close) if os.name == "posix" else (close, *removals):
                with suppress(OSError):
                    step()
            way.tidy()


def _locked(folder: RealFolder, file: str, wait: Callable[[], None], *, is_shared_with_opentofu: bool) -> int:
    """Lock a file, and return its descriptor; again if another process removed the file before it was locked."""
    try_lock = _try_lock_as_opentofu if is_shared_with_opentofu else _try_lock
    while True:
        descriptor = folder.open(file, _LOCK_FILE, 0o644)
        try:
            while not try_lock(descriptor):
                wait()
            named = folder.status(file)
            if is_shared_with_opentofu or (named is not None and os.path.samestat(named, os.fstat(descriptor))):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


@contextmanager
def lock_within(path: Path, seconds: float) -> Iterator[bool]:
    """Wait some seconds for a lock file, in a folder that exists, and yield True if this process has it.

    Raises:
        OSError: The file cannot be used.
    """
    descriptor = os.open(path, _LOCK_FILE | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        until = time.monotonic() + seconds
        while not (is_held := _try_lock(descriptor)) and time.monotonic() < until:
            time.sleep(_RETRY_SECONDS)
        yield is_held
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _try_lock(descriptor: int) -> bool:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    _try_lock_as_opentofu = _try_lock

else:

    def _try_lock_as_opentofu(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _try_lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
