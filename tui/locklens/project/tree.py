"""A side of a comparison, as a folder tree that can only be read: work tree, index, revision, or nothing at all.

Paths are POSIX paths relative to the tree's top; "" is the top itself. Bytes of a name that are not UTF-8 survive as
surrogates. Nothing here starts git: trees of a repository ask `locklens.project.git`.
"""

from __future__ import annotations

import errno
import os
import stat
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from locklens.errors import ConfigurationError, RepositoryError
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


MAX_FILE_BYTES = 64 * 1024 * 1024
"""No larger file is read: lock files and configurations have kilobytes."""

MAX_LINKS = 40
"""Symbolic links that are followed for one path, as in Linux."""

MAX_LINK_BYTES = 4096
"""No longer link is followed, as in Linux."""

MAX_PATH_BYTES = 4096
"""No longer path is read: no system opens one, so that git cannot check it out either."""

MAX_STEPS = 2_000_000
"""The most folders that are entered, for all links of a tree together: a large repository takes a tenth."""

_MAX_NAME_BYTES = 255
"""No file system that git runs on has a longer name in a folder."""

_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class TooManyStepsError(RepositoryError):
    """The links of a tree take more steps than a bound."""

    def __init__(self, bound: int) -> None:
        words = f"the links of this tree take more than {bound:,} steps to follow"
        super().__init__(words, hint="git ls-tree -r REVISION shows links with the mode 120000")


class LeadsOutError(Exception):
    """A link leads out of a tree, or out of a folder on disk."""


class EntryKind(StrEnum):
    """The kind of a folder entry."""

    FILE = "file"
    FOLDER = "folder"
    LINKED_FOLDER = "linked-folder"
    BROKEN = "broken"
    """Cannot be read: a link to nothing or out of the repository, a submodule of a git tree, a device or a pipe."""


class FolderEntry(Struct, frozen=True):
    """A name in a folder. A link to a file has the kind FILE."""

    name: str
    kind: EntryKind


class Tree(Protocol):
    """A folder tree that can be read.

    A path of more than MAX_PATH_BYTES leads nowhere, whatever the tree has: it is not a folder, and cannot be read.
    """

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, or None if there is no such file; links to files are followed.

        Raises:
            LockLensError: There is such a file and it cannot be read.
        """

    def list(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return a folder's entries in the order of their names' bytes; () where there is no such folder.

        Raises:
            LockLensError: There is such a folder and it cannot be read.
        """

    def has_folder(self, folder: str) -> bool:
        """True if there is such a folder; links to folders count, and so does one that leads out: `list` refuses it."""

    def leads_out(self, path: str) -> bool:
        """True if the path is, or is behind, a link that leads out of the repository."""

    def join(self, folder: str, path: str) -> str | None:
        """Return what a path relative to a folder is called in this tree; None if it leads out of the tree."""
        return join_below(folder, path)


def join_below(folder: str, path: str) -> str | None:
    """Join paths in a tree that ends at its top; None for an absolute path and one that leads out."""
    return None if path.startswith("/") else normalise(path_in(folder, path))


def normalise(path: str) -> str | None:
    """Return the path without `.`, `..` and empty parts; None if it leads out of the top or is absolute."""
    if path.startswith("/") or "\0" in path:
        return None
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def is_too_long(path: str) -> bool:
    """True if no system opens a path, because it is too long as a whole."""
    return _size(path) > MAX_PATH_BYTES


def require_length(path: str) -> None:
    """Refuse a path that is too long as a whole: it is not known what would be there.

    Raises:
        ConfigurationError: It is.
    """
    if is_too_long(path) and not _has_long_name(path):
        raise ConfigurationError(f"cannot be read: its path has more than {MAX_PATH_BYTES} bytes", path=path[:255])


def _has_long_name(path: str) -> bool:
    """True if a part of a path is not a name that a folder can have, so that nothing is there."""
    return any(_size(part) > _MAX_NAME_BYTES for part in path.split("/"))


def _size(path: str) -> int:
    """Return the bytes of a path; the characters of one that no file can have."""
    try:
        return len(path) if path.isascii() else len(name_bytes(path))
    except UnicodeEncodeError:
        return len(path)


def folder_of(path: str) -> str:
    """Return the folder of a file, "" for the top."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """Return the name of a file in its folder."""
    return path.rpartition("/")[2]


def path_in(folder: str, name: str) -> str:
    """Return the path of a name in a folder."""
    return f"{folder}/{name}" if folder else name


def upwards(path: str) -> Iterator[str]:
    """Yield a path and the folders above it, the last of which is the top."""
    yield path
    while path:
        path = folder_of(path)
        yield path


def is_at_or_below(path: str, folder: str) -> bool:
    """True if a path is a folder, or below it; all are below the top."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def name_bytes(name: str) -> bytes:
    """The key that names are ordered by."""
    return name.encode("utf-8", "surrogateescape")


class EmptyTree(Tree):
    """A tree without a file: the side before the first commit, or an absent file."""

    def read(self, path: str) -> bytes | None:  # noqa: ARG002
        """Return None."""
        return None

    def list(self, folder: str) -> tuple[FolderEntry, ...]:  # noqa: ARG002
        """Return ()."""
        return ()

    def has_folder(self, folder: str) -> bool:
        """Only the top exists."""
        return normalise(folder) == ""

    def leads_out(self, path: str) -> bool:  # noqa: ARG002
        """There are no links."""
        return False


class OverlayTree(Struct, frozen=True):
    """A tree in which some files have other bytes, or are there in addition.

    Attributes:
        files: Those bytes, by path; None for a file that is not to be there.
        under: The tree that has everything else.
    """

    files: Mapping[str, bytes | None]
    under: Tree

    def read(self, path: str) -> bytes | None:
        """Return the other bytes, or what the tree has."""
        return self.files[path] if path in self.files else self.under.read(path)

    def list(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return what the tree has, without the files that are not to be there, and with those in addition."""
        own = {name_of(path): data for path, data in self.files.items() if folder_of(path) == folder}
        entries = {entry.name: entry for entry in self.under.list(folder) if own.get(entry.name, b"") is not None}
        added = (name for name, data in own.items() if data is not None and name not in entries)
        entries |= {name: FolderEntry(name, EntryKind.FILE) for name in added}
        return tuple(sorted(entries.values(), key=lambda entry: name_bytes(entry.name)))

    def has_folder(self, folder: str) -> bool:
        """True if the tree has it, or a file in addition is below it."""
        added = (path for path, data in self.files.items() if data is not None)
        return self.under.has_folder(folder) or any(path.startswith(f"{folder}/") for path in added)

    def leads_out(self, path: str) -> bool:
        """True if it does in the tree; what has other bytes is not a link."""
        return path not in self.files and self.under.leads_out(path)

    def join(self, folder: str, path: str) -> str | None:
        """Return what the tree calls it."""
        return self.under.join(folder, path)


class WorkTree(Tree):
    """A folder on disk that is the top of a repository.

    Links are followed inside it, and not into git's own folder: a change can bring links to whatever the user may
    read, and messages quote what was read. An absolute link leads out wherever it ends: `/proc/self/cwd` is another
    folder for each process, so that the tools would read another file. A path with too many `..` leads nowhere.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self._top = os.fspath(top)
        self._escapes: dict[str, bool] = {}
        """For each folder that was looked at, True if a link on the way to it leads out."""
        self._steps = 0

    def read(self, path: str) -> bytes | None:
        """Return a regular file's bytes, or None if there is no such file.

        Raises:
            ConfigurationError: It cannot be read, has more than MAX_FILE_BYTES, is a device or pipe, or is behind a
                link that leads out of the repository.
        """
        require_length(path)
        place = self._place(path)
        if place is None:
            return None
        try:
            # What a path stands for is asked before it is opened, for a device acts on being opened; and again
            # afterwards, of what was opened. O_NONBLOCK is there for a pipe that took the place in between.
            if self._is_behind_link_out(place):
                raise leading_out(path)
            status = os.lstat(place)
            if stat.S_ISLNK(status.st_mode) and self._is_outside(place):
                raise leading_out(path)
            if not _is_readable(os.stat(place) if stat.S_ISLNK(status.st_mode) else status, path):  # noqa: PTH116
                return None
            flags = (
                os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
            )
            with open(os.open(place, flags), "rb") as stream:  # noqa: PTH123
                if not _is_readable(os.fstat(stream.fileno()), path):
                    return None
                data: bytes | None = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            if _is_absence(error, path):
                return None
            raise ConfigurationError(f"cannot be read: {reason_of(error)}", path=path) from error
        if data is None:  # Some files of the kernel's are regular ones, and have nothing yet.
            raise ConfigurationError("cannot be read: reading it would block", path=path)
        if len(data) > MAX_FILE_BYTES:
            raise _too_large(path)
        return data

    def list(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return a folder's entries.

        Raises:
            ConfigurationError: There is such a folder and it cannot be read, or a link leads out of the repository.
        """
        require_length(folder)
        place = self._place(folder)
        if place is None:
            return ()
        try:
            if self._place_leads_out(place):
                raise leading_out(folder or ".")
            with os.scandir(place) as items:
                entries = [FolderEntry(item.name, self._kind(item)) for item in items]
        except OSError as error:
            if _is_absence(error, folder):
                return ()
            raise ConfigurationError(f"cannot be listed: {reason_of(error)}", path=folder or ".") from error
        return tuple(sorted(entries, key=lambda entry: os.fsencode(entry.name)))

    def has_folder(self, folder: str) -> bool:
        """True if there is such a folder or a link to one; what leads out of the repository cannot be listed."""
        place = self._place(folder)
        return place is not None and (self._place_leads_out(place) or os.path.isdir(place))  # noqa: PTH112

    def is_there(self, path: str) -> bool:
        """True if there is anything of that name, a broken link too, or the system cannot say."""
        place = self._place(path)
        return place is not None and is_on_disk(place)

    def is_same(self, path: str, other: str) -> bool:
        """True if two paths lead to one place on disk, as where the file system ignores case."""
        places = self._place(path), self._place(other)
        try:
            return None not in places and os.path.samefile(*map(str, places))  # noqa: PTH121
        except OSError:
            return False

    def may_run(self, path: str) -> bool:
        """True if the system runs a file for this user, or the file is not on disk."""
        place = self._place(path)
        return place is None or os.access(place, os.X_OK) or not os.path.exists(place)  # noqa: PTH110

    def leads_out(self, path: str) -> bool:
        """True if the path is, or is behind, a link that leads out of the repository."""
        place = self._place(path)
        return place is not None and self._place_leads_out(place)

    def behind_link(self, path: str) -> str | None:
        """Return the path of what is behind a link; None for no link, and for one that leads out of the tree.

        One that leads to nothing in the tree, or takes too many links, has the path that it names itself.

        Raises:
            RepositoryError: The links of this tree take more than MAX_STEPS.
        """
        place = self._place(path)
        if place is None or not os.path.islink(place):  # noqa: PTH114
            return None
        try:
            found = self._walked(self._top, path.replace("/", os.sep))
        except LeadsOutError:
            found = None
        try:
            target = os.readlink(place)  # noqa: PTH115
        except OSError:  # It was removed meanwhile.
            return None
        if not found:
            return join_below(folder_of(path), target.replace(os.sep, "/"))
        return "" if found == self._top else os.path.relpath(found, self._top).replace(os.sep, "/")

    def _place(self, path: str) -> str | None:
        clean = normalise(path)
        if clean is None or is_too_long(clean) or (os.sep != "/" and (os.sep in clean or ":" in clean)):
            return None
        try:
            os.fsencode(clean)
        except UnicodeEncodeError:
            return None  # a JSON file can spell what no file name can hold
        return os.path.join(self._top, clean) if clean else self._top  # noqa: PTH118

    def _place_leads_out(self, place: str) -> bool:
        return self._is_behind_link_out(place) or (os.path.islink(place) and self._is_outside(place))  # noqa: PTH114

    def _is_behind_link_out(self, place: str) -> bool:
        """True if a link on the way to the place leads out of the repository that its path is in."""
        if place == self._top:
            return False
        folder = os.path.dirname(place)  # noqa: PTH120
        if folder not in self._escapes:
            self._escapes[folder] = self._is_outside(folder)
        return self._escapes[folder]

    def _is_outside(self, place: str) -> bool:
        """True if links have a place lead out of its repository, or into git's own folder in it.

        Raises:
            RepositoryError: The links of this tree take more than MAX_STEPS.
        """
        top = self._repository_of(place)
        if top is None or place == top:
            return False
        try:
            self._walked(top, os.path.relpath(place, top))
        except LeadsOutError:
            return True
        return False

    def _walked(self, top: str, path: str) -> str | None:
        """Return the place that a path below a folder leads to; "" if there is nothing, None for more than MAX_LINKS.

        Links are read and never followed by the system: what an absolute link leads to may differ between processes.

        Raises:
            LeadsOutError: It leads out of the folder, or into git's own folder in it.
            RepositoryError: The links of this tree take more than MAX_STEPS.
        """
        todo = path.split(os.sep)[::-1]  # noqa: PTH206
        done = [top]  # each folder's whole path, for joining parts at each step is quadratic
        links = 0
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                if len(done) == 1:
                    raise LeadsOutError
                done.pop()
                continue
            if part.lower() == ".git":
                raise LeadsOutError
            if not done[-1]:
                done.append("")
                continue
            place = os.path.join(done[-1], part)  # noqa: PTH118
            if links:
                self._steps += 1
                if self._steps > MAX_STEPS:
                    raise TooManyStepsError(MAX_STEPS)
            try:
                target = os.readlink(place)  # noqa: PTH115
            except OSError as error:
                # Below what does not exist there is no link to ask for. What is not a link may have some below it.
                done.append("" if error.errno in _NOT_THERE else place)
                continue
            links += 1
            if links > MAX_LINKS:
                return None  # it is not a file for anyone
            if os.path.isabs(target):  # noqa: PTH117
                raise LeadsOutError
            todo.extend(target.split(os.sep)[::-1])  # noqa: PTH206
        return done[-1]

    def _kind(self, item: os.DirEntry[str]) -> EntryKind:
        try:
            if item.is_symlink() and self._is_outside(item.path):
                return EntryKind.BROKEN
            if item.is_dir():
                return EntryKind.LINKED_FOLDER if item.is_symlink() else EntryKind.FOLDER
            return EntryKind.FILE if item.is_file() else EntryKind.BROKEN
        except OSError:
            return EntryKind.BROKEN

    def _repository_of(self, place: str) -> str | None:  # noqa: ARG002
        """Return the top of the repository that a path is in, or None."""
        return self._top


class FileSystem(WorkTree):
    """The whole file system as seen from a folder: paths are relative to it, may begin with `..`, or are absolute.

    So a path here is what the user would type there. A link inside a repository does not lead out of it here either.
    """

    def join(self, folder: str, path: str) -> str | None:
        """Return the path; there is no top to lead out of."""
        joined = os.path.normpath(os.path.join(folder, path)).replace(os.sep, "/")  # noqa: PTH118
        return "" if joined == "." else joined

    def _place(self, path: str) -> str | None:
        return os.path.join(self._top, path) if "\0" not in path and not is_too_long(path) else None  # noqa: PTH118

    def _repository_of(self, place: str) -> str | None:
        folder = os.path.dirname(os.path.abspath(place))  # noqa: PTH100, PTH120
        while not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
            above = os.path.dirname(folder)  # noqa: PTH120
            if above == folder:
                return None
            folder = above
        return folder


def is_on_disk(place: str | Path, *, follows_links: bool = False) -> bool:
    """True if there is anything at a place, or the system cannot say: reading it says why.

    Where links are followed, one to nothing is nothing.
    """
    try:
        os.stat(place, follow_symlinks=follows_links)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _is_readable(status: os.stat_result, path: str) -> bool:
    """True if a regular file; False for a folder, an error for what is neither."""
    if stat.S_ISDIR(status.st_mode):
        return False
    if not stat.S_ISREG(status.st_mode):
        raise ConfigurationError("cannot be read: it is a device, pipe or socket, not a regular file", path=path)
    if status.st_size > MAX_FILE_BYTES:
        raise _too_large(path)
    return True


def _is_absence(error: OSError, path: str) -> bool:
    """True if there is no such file. One whose path is too long for the system from where the top is may be there."""
    if error.errno == errno.ENAMETOOLONG:
        return _has_long_name(path)
    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)


def leading_out(path: str) -> ConfigurationError:
    """Return the refusal of a path that a link leads out of the repository."""
    words = "cannot be read: it is, or is behind, a link that leads out of the repository"
    return ConfigurationError(words, path=path, hint="put the file itself there")


def _too_large(path: str) -> ConfigurationError:
    return ConfigurationError(f"not read: it is larger than {MAX_FILE_BYTES // 1024**2} MiB", path=path)
