"""A side of a comparison, as a folder tree that can only be read: work tree, index, revision, or nothing at all.

Paths are POSIX paths relative to the tree's top; "" is the top itself. Bytes of a name that are no UTF-8 survive as
surrogates. Nothing here starts git: trees of a repository ask `locklens.project.git`.
"""

from __future__ import annotations

import os
import stat
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from locklens.errors import ConfigurationError, RepositoryError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from locklens.project.git import Repository
    from locklens.project.gitoutput import ListedFile

MAX_FILE_BYTES = 64 * 1024 * 1024
"""No larger file is read: lock files and configurations have kilobytes."""

MAX_LINKS = 40
"""Symbolic links that are followed for one path, as Linux has it."""

MAX_LINK_BYTES = 4096
"""No longer link is followed, as Linux has it."""


class EntryKind(StrEnum):
    """What a name in a folder stands for."""

    FILE = "file"
    FOLDER = "folder"
    LINKED_FOLDER = "linked-folder"
    BROKEN = "broken"
    """Cannot be read: a link to nothing or out of a git tree, a submodule of a git tree, a device or a pipe."""


class Entry(Struct, frozen=True):
    """A name in a folder. A link to a file has the kind FILE."""

    name: str
    kind: EntryKind


class Tree(Protocol):
    """A folder tree that can be read."""

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes, None where there is no such file; links to files are followed.

        Raises:
            LockLensError: There is such a file and it cannot be read.
        """

    def list(self, folder: str) -> tuple[Entry, ...]:
        """Returns a folder's entries in the order of their names' bytes; () where there is no such folder.

        Raises:
            LockLensError: There is such a folder and it cannot be read.
        """

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder; links to folders count."""

    def join(self, folder: str, path: str) -> str | None:
        """Returns what a path relative to a folder is called in this tree; None where it leads out of the tree."""


def join_below(folder: str, path: str) -> str | None:
    """Joins paths in a tree that ends at its top; None for an absolute path and one that leads out."""
    return None if path.startswith("/") else normalise(f"{folder}/{path}" if folder else path)


def normalise(path: str) -> str | None:
    """Returns the path without `.`, `..` and empty parts; None where it leads out of the top or is absolute."""
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


def name_bytes(name: str) -> bytes:
    """The key that names are ordered by."""
    return name.encode("utf-8", "surrogateescape")


class EmptyTree:
    """A tree without a file: the side before the first commit, or an absent file."""

    def read(self, path: str) -> bytes | None:  # noqa: ARG002
        """Returns None."""
        return None

    def list(self, folder: str) -> tuple[Entry, ...]:  # noqa: ARG002
        """Returns ()."""
        return ()

    def has_folder(self, folder: str) -> bool:
        """Only the top exists."""
        return normalise(folder) == ""

    def join(self, folder: str, path: str) -> str | None:
        """Returns the path, None above the top."""
        return join_below(folder, path)


class WorkTree:
    """A folder on disk.

    Links may lead out of the top, as they do for the real tools; a path with too many `..` may not.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self._top = os.fspath(top)

    def read(self, path: str) -> bytes | None:
        """Returns a regular file's bytes, None where there is none.

        Raises:
            ConfigurationError: It cannot be read, has more than MAX_FILE_BYTES, or is a device or pipe.
        """
        place = self._place(path)
        if place is None:
            return None
        try:
            # What a path stands for is asked before it is opened, for a device acts on being opened; and again
            # afterwards, of what was opened. O_NONBLOCK is there for a pipe that took the place in between.
            if not _is_readable(os.stat(place), path):  # noqa: PTH116
                return None
            flags = (
                os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
            )
            with open(os.open(place, flags), "rb") as stream:  # noqa: PTH123
                if not _is_readable(os.fstat(stream.fileno()), path):
                    return None
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            if _is_absence(error):
                return None
            raise ConfigurationError(f"cannot be read: {_reason(error)}", path=path) from error
        if len(data) > MAX_FILE_BYTES:
            raise _too_large(path)
        return data

    def list(self, folder: str) -> tuple[Entry, ...]:
        """Returns a folder's entries.

        Raises:
            ConfigurationError: There is such a folder and it cannot be read.
        """
        place = self._place(folder)
        if place is None:
            return ()
        try:
            with os.scandir(place) as items:
                entries = [Entry(item.name, _kind_on_disk(item)) for item in items]
        except OSError as error:
            if _is_absence(error):
                return ()
            raise ConfigurationError(f"cannot be listed: {_reason(error)}", path=folder or ".") from error
        return tuple(sorted(entries, key=lambda entry: os.fsencode(entry.name)))

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder or a link to one."""
        place = self._place(folder)
        return place is not None and os.path.isdir(place)  # noqa: PTH112

    def join(self, folder: str, path: str) -> str | None:
        """Returns the path, None above the top."""
        return join_below(folder, path)

    def _place(self, path: str) -> str | None:
        clean = normalise(path)
        if clean is None or (os.sep != "/" and (os.sep in clean or ":" in clean)):
            return None
        try:
            os.fsencode(clean)
        except UnicodeEncodeError:
            return None  # a JSON file can spell what no file name can hold
        return os.path.join(self._top, clean) if clean else self._top  # noqa: PTH118


class FileSystem(WorkTree):
    """The whole file system as seen from a folder: paths are relative to it, may begin with `..`, or are absolute.

    So a path here is what the user would type there.
    """

    def join(self, folder: str, path: str) -> str | None:
        """Returns the path; there is no top to lead out of."""
        joined = os.path.normpath(os.path.join(folder, path)).replace(os.sep, "/")  # noqa: PTH118
        return "" if joined == "." else joined

    def _place(self, path: str) -> str | None:
        return os.path.join(self._top, path) if "\0" not in path else None  # noqa: PTH118


def _is_readable(status: os.stat_result, path: str) -> bool:
    """Whether a regular file; False for a folder, an error for what is neither."""
    if stat.S_ISDIR(status.st_mode):
        return False
    if not stat.S_ISREG(status.st_mode):
        raise ConfigurationError("cannot be read: it is a device, pipe or socket and no regular file", path=path)
    if status.st_size > MAX_FILE_BYTES:
        raise _too_large(path)
    return True


def _kind_on_disk(item: os.DirEntry[str]) -> EntryKind:
    try:
        if item.is_dir():
            return EntryKind.LINKED_FOLDER if item.is_symlink() else EntryKind.FOLDER
        return EntryKind.FILE if item.is_file() else EntryKind.BROKEN
    except OSError:
        return EntryKind.BROKEN


def _is_absence(error: OSError) -> bool:
    import errno

    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL)


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown error").lower()


def _too_large(path: str) -> ConfigurationError:
    return ConfigurationError(f"not read: it is larger than {MAX_FILE_BYTES // 1024**2} MiB", path=path)


class ListedTree:
    """A tree of a git repository: one listing, contents by object id. Links are followed inside the tree only."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._folders: dict[str, dict[str, ListedFile | None]] | None = None

    @property
    def files(self) -> dict[str, ListedFile]:
        """Every file, link and submodule by path, in git's order."""
        raise NotImplementedError

    def paths(self) -> tuple[str, ...]:
        """The path of every file and link, in git's order."""
        return tuple(path for path, file in self.files.items() if not file.is_submodule)

    def prefetch(self, paths: Iterable[str]) -> None:
        """Reads many files in one go, so that `read` need not ask git for each. Unknown paths are left out."""
        files = (self._find(path) for path in paths)
        self._repository.prefetch(file.object_id for file in files if file is not None and file.object_id)

    def links(self) -> dict[str, str]:
        """Returns every link that leads to something inside the tree, and the path of what is behind it."""
        links = {path: file for path, file in self.files.items() if file.is_link}
        self._repository.prefetch(file.object_id for file in links.values() if file.object_id)
        found: dict[str, str] = {}
        for path in links:
            try:
                place = self.resolve(path)
            except RepositoryError:
                continue
            if place is not None:
                found[path] = place
        return found

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes as committed, without any conversion; None where there is none.

        Raises:
            RepositoryError: The object is missing from this clone, is too large, or the file is not merged.
        """
        file = self._find(path)
        if file is None:
            return None
        if not file.object_id:
            raise RepositoryError(f"{path} has merge conflicts in the index", hint='resolve them and run "git add"')
        try:
            return self._repository.blob(file.object_id)
        except RepositoryError as error:
            raise RepositoryError(f"{path} cannot be read: {error}", hint=error.hint) from error

    def list(self, folder: str) -> tuple[Entry, ...]:
        """Returns a folder's entries; () where there is no such folder."""
        place = self.resolve(folder)
        children = self._children().get(place) if place is not None else None
        if children is None:
            return ()
        prefix = f"{place}/" if place else ""
        entries = (Entry(name, self._kind(prefix + name, file)) for name, file in children.items())
        return tuple(sorted(entries, key=lambda entry: name_bytes(entry.name)))

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder, or a link that leads to one inside the tree."""
        place = self.resolve(folder)
        return place is not None and place in self._children()

    def join(self, folder: str, path: str) -> str | None:
        """Returns the path, None above the top."""
        return join_below(folder, path)

    def _kind(self, path: str, file: ListedFile | None) -> EntryKind:
        if file is None:
            return EntryKind.FOLDER
        if file.is_submodule:
            return EntryKind.BROKEN
        if not file.is_link:
            return EntryKind.FILE
        place = self.resolve(path)
        if place is None:
            return EntryKind.BROKEN
        return EntryKind.LINKED_FOLDER if place in self._children() else EntryKind.FILE

    def _find(self, path: str) -> ListedFile | None:
        """Returns the regular file that the path leads to."""
        file = self.files.get(path)
        if file is None or file.is_link:
            place = self.resolve(path)
            file = self.files.get(place) if place is not None else None
        return None if file is None or file.is_submodule else file

    def resolve(self, path: str) -> str | None:
        """Returns the path of the file or folder behind all links; None where there is none inside the tree.

        Raises:
            RepositoryError: A link's object is missing from this clone.
        """
        clean = normalise(path)
        if clean is None:
            return None
        if clean in self._children():
            return clean
        todo = clean.split("/")[::-1]
        done: list[str] = []
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                if not done:
                    return None
                done.pop()
                continue
            if part in ("", "."):
                continue
            done.append(part)
            place = "/".join(done)
            file = self.files.get(place)
            if file is not None and file.is_link:
                links += 1
                target = self._target(file)
                if links > MAX_LINKS or target.startswith("/"):
                    return None
                done.pop()
                todo.extend(reversed(target.split("/")))
            elif not (self._is_end(file, todo) if file is not None else place in self._children()):
                return None
        return "/".join(done)

    @staticmethod
    def _is_end(file: ListedFile, rest: Iterable[str]) -> bool:
        """Whether a path may end at the file and nothing follows."""
        return not file.is_submodule and all(part in ("", ".") for part in rest)

    def _target(self, link: ListedFile) -> str:
        """Returns what the link says; "/", which leads out of the tree, where that cannot be used."""
        if not link.object_id:
            return "/"
        target = self._repository.blob(link.object_id)
        return target.decode("utf-8", "surrogateescape") if len(target) <= MAX_LINK_BYTES else "/"

    def _children(self) -> dict[str, dict[str, ListedFile | None]]:
        """Every folder's names, None for a folder. Built when it is first needed."""
        if self._folders is None:
            folders: dict[str, dict[str, ListedFile | None]] = {"": {}}
            for path, file in self.files.items():
                folder, _, name = path.rpartition("/")
                children = folders.get(folder)
                if children is None:
                    children = _add_folder(folders, folder)
                children[name] = file
            self._folders = folders
        return self._folders


def _add_folder(folders: dict[str, dict[str, ListedFile | None]], folder: str) -> dict[str, ListedFile | None]:
    """Enters a folder and those above it."""
    made = folders[folder] = {}
    while folder:
        folder, _, name = folder.rpartition("/")
        above = folders.setdefault(folder, {})
        if name in above:
            break
        above[name] = None
    return made


class RevisionTree(ListedTree):
    """The files of one revision."""

    def __init__(self, repository: Repository, revision: str) -> None:
        """Reads nothing yet.

        Args:
            repository: Where the revision is.
            revision: A full commit id, as `Repository.resolve` gives it.
        """
        super().__init__(repository)
        self.revision = revision

    @property
    def files(self) -> dict[str, ListedFile]:
        """Every file, link and submodule of the revision by path."""
        return self._repository.listing(self.revision)


class IndexTree(ListedTree):
    """The files of the index: what the next commit would have."""

    @property
    def files(self) -> dict[str, ListedFile]:
        """Every file, link and submodule of the index by path; one that is not merged has no object id."""
        return self._repository.listing(None)
