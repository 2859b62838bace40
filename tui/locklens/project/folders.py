"""Folders on disk: a walk through all below one, polling for changes, and digests of contents that are not judged.

Lock, configuration and policy files are polled by stat alone. A folder's time of modification changes with the names in
it, a file's with its bytes. So a poll is one stat for each folder and each such file, and a folder is listed only after
its time changed. The walk is not `os.walk`, which in Python 3.11 calls itself for each level, and fails at a thousand
of them.

A finding about a file that is not judged holds for its content alone. In a listing of git that is the object's id. On
disk it is a digest of the bytes, since git has not seen them: git's id is of SHA-1, and git alone refuses the two files
that are made to share one.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import LockLensError
from locklens.project import LOCK_FILE
from locklens.project.gittree import ListedTree
from locklens.project.touched_roots import is_configuration
from locklens.project.tree import OverlayTree, Tree, WorkTree, folder_of, path_in
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

MAX_WATCHED_FOLDERS = 20_000
"""The most folders of a repository that are polled, those near the top first: dependencies can have millions."""

_OTHER_NAMES = frozenset({LOCK_FILE, "locklens.toml", "terragrunt.hcl"})
_SKIPPED = frozenset({".git", ".terraform"})
_SETTLED_NS = 2_000_000_000
"""Age of a folder's time from which a later change gives another time; disks count in steps of up to two seconds."""

_Stamp = tuple[int, int, int] | None

_MAX_BYTES = 1024 * 1024 * 1024
"""The most bytes that are read on disk, of all files together, which takes seconds. For the rest the time counts as the
content, so that each checkout differs: that shows a finding once too often, and never once too few."""


class _Folder(Struct):
    """A listed folder: its stamp, None to list it again, and the names of its folders and watched files."""

    stamp: _Stamp
    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


class FileWatch:
    """Watched files, and those of them that changed since `restart`; thread-safe.

    Below `top` it covers every lock file, configuration file and policy, also in folders that appear later. Git's own
    folder, `.terraform`, links to folders, and repositories within the repository are left out. Without it, single
    files are watched.

    Files modified from `since_ns`, a time of the system's clock, until now count as changed. `states` has, of files
    that are also written without a change of what they say, such as git's index, a digest of that, "" where it is
    unknown: other bytes with the same digest are not a change.
    """

    def __init__(
        self,
        top: Path | None,
        files: Iterable[Path] = (),
        *,
        since_ns: int | None = None,
        states: Mapping[Path, Callable[[], str]] = MappingProxyType({}),
    ) -> None:
        self._top = os.fspath(top) if top is not None else None
        self._lock = threading.Lock()
        self._folders: dict[str, _Folder] = {}
        self._files: dict[str, _Stamp] = {}
        self._changed: dict[str, None] = {}
        self._states = {os.fspath(file): state for file, state in states.items()}
        # Before the stamps: a change in between is one from then on, by `since_ns`.
        self._known = {file: state() for file, state in self._states.items()}
        if self._top is not None:
            self._list(self._top)
        self.add(files)
        if since_ns is not None:
            now = time.time_ns()  # files may be from the future
            stamps = self._files.items()
            recent = (file for file, stamp in stamps if stamp is not None and since_ns <= stamp[0] <= now)
            self._changed = dict.fromkeys(recent)

    @property
    def is_whole(self) -> bool:
        """True if a repository is watched, not single files."""
        return self._top is not None

    @property
    def is_partial(self) -> bool:
        """True if the repository has more folders than are watched."""
        return len(self._folders) >= MAX_WATCHED_FOLDERS

    def add(self, files: Iterable[Path]) -> None:
        """Watch more files, as they are now."""
        with self._lock:
            for file in map(os.fspath, files):
                if file not in self._files:
                    self._files[file] = _stamp(file)

    def restart(self) -> None:
        """Forget the changes until now: the caller reads the files afterwards."""
        self.poll()
        with self._lock:
            self._changed.clear()

    def poll(self) -> tuple[str, ...]:
        """Return the files that were edited, added or removed since `restart`."""
        with self._lock:
            for file, before in list(self._files.items()):
                now = _stamp(file)
                if now != before:
                    self._files[file] = now
                    if self._says_otherwise(file):
                        self._changed[file] = None
            for place in list(self._folders):
                folder = self._folders.get(place)
                if folder is not None and (folder.stamp is None or _stamp(place) != folder.stamp):
                    self._changed |= dict.fromkeys(self._list(place))
            return tuple(self._changed)

    def _says_otherwise(self, file: str) -> bool:
        """True if a file that was written says something else, as far as that is known."""
        if file not in self._states:
            return True
        before, now = self._known[file], self._states[file]()
        self._known[file] = now
        return now != before or not now

    def _list(self, start: str) -> list[str]:
        """List a folder, and the new ones below it; return the watched files that were added or removed."""
        changed: list[str] = []
        ahead = [start]
        while ahead:
            deeper: list[str] = []
            for place in ahead:
                before = self._folders.get(place, _Folder(None))
                if place not in self._folders and len(self._folders) >= MAX_WATCHED_FOLDERS:
                    continue
                now = self._folders[place] = _listed(place, is_top=place == self._top)
                for name in before.folders - now.folders:
                    changed += self._forget(_join(place, name))
                for file in (_join(place, name) for name in before.files - now.files):
                    self._files.pop(file, None)
                    changed.append(file)
                for file in (_join(place, name) for name in now.files - before.files):
                    self._files[file] = _stamp(file)
                    changed.append(file)
                deeper += (_join(place, name) for name in sorted(now.folders - before.folders))
            ahead = deeper
        return changed

    def _forget(self, place: str) -> Iterator[str]:
        """Forget a folder that was removed; yield the watched files that were below it."""
        ahead = [place]
        while ahead:
            place = ahead.pop()
            folder = self._folders.pop(place, _Folder(None))
            for file in (_join(place, name) for name in folder.files):
                self._files.pop(file, None)
                yield file
            ahead += (_join(place, name) for name in folder.folders)


def _listed(place: str, *, is_top: bool) -> _Folder:
    # Before the listing: a name that appears during it changes the time again.
    stamp = _stamp(place)
    folders, files = set(), set()
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if not is_top and entry.name == ".git":
                    return _Folder(stamp)  # another repository
                if entry.is_dir(follow_symlinks=False):
                    folders.add(entry.name)
                elif _is_watched(entry.name):
                    files.add(entry.name)
    except OSError:
        return _Folder(stamp)
    is_settled = stamp is not None and stamp[0] < time.time_ns() - _SETTLED_NS
    return _Folder(stamp if is_settled else None, frozenset(folders - _SKIPPED), frozenset(files))


def _is_watched(name: str) -> bool:
    return name in _OTHER_NAMES or (is_configuration(name) and not name.startswith((".", "#")))


def _join(folder: str, name: str) -> str:
    return os.path.join(folder, name)  # noqa: PTH118 - thousands of names for each poll


def _stamp(place: str) -> _Stamp:
    """The time of modification, size and inode; None if it cannot be looked at."""
    try:
        status = os.stat(place)  # noqa: PTH116
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


class WalkedFolder(Struct, frozen=True):
    """A folder that was listed.

    Attributes:
        path: Relative to the first folder, with slashes; "" for that folder.
        files: The names in it that are neither folders nor links to folders, in order.
        error: Why its names are not known; None if they are.
    """

    path: str
    files: tuple[str, ...] = ()
    error: OSError | None = None


class TooManyFoldersError(Exception):
    """There are more folders than a walk lists."""


def walk(top: str, *, most: int, enters: Callable[[str, str], bool]) -> Iterator[WalkedFolder]:
    """Yield a folder and those below it, each before those in it; links to folders are not followed.

    `enters` is called with a folder's place and the name of one in it; it returns True if that one is listed too.

    Raises:
        TooManyFoldersError: There are more.
    """
    waiting, found = [""], 1
    while waiting:
        path = waiting.pop()
        place = os.path.join(top, path)  # noqa: PTH118
        try:
            folders, files = _names(place)
        except OSError as error:
            yield WalkedFolder(path, error=error)
            continue
        yield WalkedFolder(path, tuple(files))
        entered = [path_in(path, name) for name in reversed(folders) if enters(place, name)]
        found += len(entered)
        if found > most:
            raise TooManyFoldersError
        waiting += entered


def _names(place: str) -> tuple[list[str], list[str]]:
    """Return the names of a folder's folders, and of its files, in order."""
    folders, files = [], []
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif not _is_folder(entry):
                files.append(entry.name)
    return sorted(folders), sorted(files)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that cannot be followed is a name like any other


def content_ids(tree: Tree, paths: Iterable[str]) -> dict[str, str]:
    """Return a text for each path that identifies its content; "" if there is neither a file nor a link.

    The content of a file is its bytes and whether it can be run, that of a link its target.

    Of a path behind a link that leads nowhere inside the tree, the link counts.
    """
    while isinstance(tree, OverlayTree):
        tree = tree.under
    if isinstance(tree, ListedTree):
        return {path: _of_object(tree, path) for path in paths}
    return _on_disk(os.fspath(tree.top), paths) if isinstance(tree, WorkTree) else dict.fromkeys(paths, "")


def _of_object(tree: ListedTree, path: str) -> str:
    try:
        behind = tree.resolve(path)
    except LockLensError as error:
        return f"unknown: {error.message}"
    above: str | None = path
    while above and above not in tree.files:
        above = folder_of(above)
    places = dict.fromkeys(place for place in (above, behind) if place)
    files = [tree.files[place] for place in places if place in tree.files]
    return " ".join(f"{file.mode} {file.object_id or (file.ours, file.theirs, file.base)}" for file in files)


def _on_disk(top: str, paths: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    left = _MAX_BYTES
    for path in paths:
        found[path], used = _of_place(top, path, left)
        left -= used
    return found


def _of_place(top: str, path: str, most: int) -> tuple[str, int]:
    """Return a text that identifies the content of a path on disk, and the number of bytes that were read."""
    place = top
    try:
        for part in path.split("/"):
            place = f"{place}/{part}"
            status = os.lstat(place)
            if stat.S_ISLNK(status.st_mode):
                # What is behind it inside the tree is a path of its own.
                return f"link {os.readlink(place)}", 0  # noqa: PTH115
        if not stat.S_ISREG(status.st_mode):
            # A submodule, for example: which commit is checked out there is not asked.
            return f"no file: {stat.S_IFMT(status.st_mode):o} of {status.st_mtime_ns}", 0
        # O_NONBLOCK is there for a pipe that took the place in between.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        digest, used = sha256(), 0
        with open(os.open(place, flags), "rb") as stream:  # noqa: PTH123
            while used <= most and (block := stream.read(1024 * 1024)):
                digest.update(block)
                used += len(block)
        if used > most:
            return f"{status.st_size} bytes of {status.st_mtime_ns}", used
        return f"{'executable ' if status.st_mode & stat.S_IXUSR else ''}{digest.hexdigest()}", used
    except OSError as error:
        return f"unknown: {reason_of(error)}", 0
