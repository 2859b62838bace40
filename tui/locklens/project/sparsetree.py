"""The work tree of a repository, where a sparse checkout may leave files out: the index has those."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.project.gitattributes import ATTRIBUTES_FILE
from locklens.project.gittree import LeadsOutError, contents_of, enter_above, link_target, without_idle_keywords
from locklens.project.tree import (
    MAX_LINKS,
    EntryKind,
    FolderEntry,
    WorkTree,
    join_below,
    leading_out,
    name_bytes,
    normalise,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.project.git import Repository
    from locklens.project.gitoutput import TreeFile


class SparseWorkTree(WorkTree):
    """The files on disk, and those of the index that a sparse checkout leaves out (`git update-index --skip-worktree`).

    A file that is left out and is on disk all the same is read from disk, as the tools do. Git is asked when the first
    file is not on disk.
    """

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository.top)
        self._repository = repository

    @cached_property
    def left_out(self) -> dict[str, TreeFile]:
        """The files and links that a sparse checkout leaves out, by path."""
        return self._repository.left_out

    @cached_property
    def _folders(self) -> dict[str, dict[str, TreeFile | None]]:
        """The names in each folder that something is left out of."""
        folders: dict[str, dict[str, TreeFile | None]] = {}
        for path in self.left_out:
            enter_above(folders, path)
        return folders

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, of the index where it is left out.

        Raises:
            LockLensError: As of `WorkTree` and of `locklens.project.gittree.ListedTree`.
        """
        data = super().read(path)
        place = self._inside(path) if data is None else None
        if place is None:
            return data
        return super().read(place) if self.is_on_disk(place) else self._contents(place)

    def list(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return a folder's entries on disk, and those that are left out of it; raises as `read`."""
        entries = {entry.name: entry for entry in super().list(folder)}
        place = self._inside(folder)
        for name in self._folders.get(place, ()) if place is not None else ():
            if name not in entries:
                entries[name] = FolderEntry(name, EntryKind.BROKEN)
        if self.left_out:
            # What leads to something that is left out is a broken link on disk.
            broken = (entry.name for entry in entries.values() if entry.kind is EntryKind.BROKEN)
            entries |= {name: FolderEntry(name, self._kind_at(join_below(folder, name) or "")) for name in [*broken]}
        return tuple(sorted(entries.values(), key=lambda entry: name_bytes(entry.name)))

    def has_folder(self, folder: str) -> bool:
        """True if there is such a folder on disk, or something is left out below it."""
        if super().has_folder(folder):
            return True
        place = self._inside(folder)
        return place is not None and (place in self._folders or super().has_folder(place))

    def leads_out(self, path: str) -> bool:
        """True if the path is, or is behind, a link that leads out of the repository, also one that is left out."""
        if super().leads_out(path):
            return True
        try:
            self._followed(path)
        except LeadsOutError:
            return True
        return False

    def converted(self, paths: Iterable[str]) -> dict[str, str]:
        """Return which of some files, no links, git checks out with other bytes, and by which attribute.

        The attributes of the index count, for git checks out by those, and what is on disk may be what they made of a
        file of attributes; and so do those on disk, for they are what is committed next.

        Raises:
            RepositoryError: Git failed, or a file that is needed is missing from this clone.
        """
        attributes = self._repository.work_files((ATTRIBUTES_FILE,))
        if not attributes:
            return {}
        wanted = tuple(paths)
        texts = []
        for path in attributes:
            with suppress(ConfigurationError):  # Git reads none behind a link.
                texts.append(self.read(path) or b"")
        found = self._repository.converted_on_disk(texts, wanted)
        found |= self._repository.converted(self._repository.listing(None), wanted)
        return without_idle_keywords(self, found)

    def paths(self) -> tuple[str, ...]:
        """The path of every file and link that is tracked or not ignored, on disk or left out, in git's order."""
        from locklens.project.git import UncommittedSide

        return self._repository.paths(UncommittedSide.WORK_TREE)

    def resolve(self, path: str) -> str | None:
        """Return the path of the file or folder behind all links; None where there is none inside the tree."""
        try:
            return self._behind(path)
        except LeadsOutError:
            return None

    def is_there(self, path: str) -> bool:
        """True if there is anything of that name on disk, or it is left out."""
        return super().is_there(path) or path in self.left_out

    def _kind_at(self, path: str) -> EntryKind:
        place = self.resolve(path)
        if place is None:
            return EntryKind.BROKEN
        is_folder = place in self._folders or super().has_folder(place)
        if is_folder:
            return EntryKind.FOLDER if place == path else EntryKind.LINKED_FOLDER
        return EntryKind.FILE if place in self.left_out or os.path.isfile(self._disk(place)) else EntryKind.BROKEN  # noqa: PTH113

    def _contents(self, place: str) -> bytes | None:
        file = self.left_out.get(place)
        return contents_of(self._repository, place, file.object_id) if file is not None else None

    def _inside(self, path: str) -> str | None:
        """Return where a path leads to, without links, if that is not what the system finds; None where it is nowhere.

        Raises:
            ConfigurationError: A link that is left out leads out of the repository.
        """
        try:
            return self._followed(path)
        except LeadsOutError:
            raise leading_out(path) from None

    def _followed(self, path: str) -> str | None:
        """Follow links where something is left out, or else nothing: the system follows those on disk; see `_behind`.

        Raises:
            LeadsOutError: One leads out of the tree.
        """
        return self._behind(path) if self.left_out else None

    def _behind(self, path: str) -> str | None:
        """Follow links on disk and those that are left out; None where something is missing on the way.

        Raises:
            LeadsOutError: One leads out of the tree.
        """
        clean = normalise(path)
        if clean is None:
            return None
        todo = clean.split("/")[::-1] if clean else []
        done: list[str] = []  # each folder's whole path, for joining parts at each step is quadratic
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                if not done:
                    raise LeadsOutError
                done.pop()
                continue
            if part.lower() == ".git":
                raise LeadsOutError
            place = f"{done[-1]}/{part}" if done else part
            if not self.is_on_disk(place) and place not in self.left_out and place not in self._folders:
                return None
            target = self._target(place)
            if target is None:
                done.append(place)
                continue
            links += 1
            if links > MAX_LINKS:
                return None
            todo.extend(target)
        return done[-1] if done else ""

    def _target(self, place: str) -> tuple[str, ...] | None:
        """Return the parts of what a link says, the last first; None where it is no link.

        Raises:
            LeadsOutError: It leads out of the tree.
        """
        disk = self._disk(place)
        if os.path.islink(disk):  # noqa: PTH114
            data = os.fsencode(os.readlink(disk))  # noqa: PTH115
        elif not self.is_on_disk(place) and (file := self.left_out.get(place)) is not None and file.is_link:
            data = contents_of(self._repository, place, file.object_id) or b""
        else:
            return None
        target = link_target(data)
        if target is None:
            raise LeadsOutError
        return target

    def _disk(self, place: str) -> str:
        return os.path.join(self._top, place)  # noqa: PTH118

    def is_on_disk(self, place: str) -> bool:
        """True if there is anything of that name on disk, a link to nothing too; links on the way are the system's."""
        return os.path.lexists(self._disk(place))
