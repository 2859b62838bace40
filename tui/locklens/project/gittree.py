"""The trees of a git repository: the index, a revision, and the work tree of a sparse checkout.

Each has one listing, and reads contents by object id. Nothing here starts git: `locklens.project.git` is asked.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, UnmergedFileError, UnreadableObjectError
from locklens.project.tree import (
    MAX_LINK_BYTES,
    MAX_LINKS,
    MAX_STEPS,
    EntryKind,
    FolderEntry,
    LeadsOutError,
    TooManyStepsError,
    Tree,
    WorkTree,
    folder_of,
    is_too_long,
    join_below,
    leading_out,
    name_bytes,
    normalise,
    path_in,
    require_length,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.project.git import Repository
    from locklens.project.git.listings import TreeFile

_EXECUTABLE = "100755"


class ListedTree(Tree, ABC):
    """A tree of a git repository: one listing, contents by object id. Links are followed inside the tree only."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._behind: dict[str, str | None] = {}
        self._escaping: set[str] = set()
        """The paths in `_behind` that a link leads out of the tree."""
        self._targets: dict[str, tuple[str, ...] | None] = {}
        self._steps = 0

    @property
    @abstractmethod
    def files(self) -> dict[str, TreeFile]:
        """Every file, link and submodule by path, in git's order."""

    def paths(self) -> tuple[str, ...]:
        """The path of every file and link, in git's order."""
        return tuple(path for path, file in self.files.items() if not file.is_submodule)

    def prefetch(self, paths: Iterable[str]) -> None:
        """Read many files in one go, so that `read` need not ask git for each. Unknown paths are left out."""
        files = (self._find(path) for path in paths)
        self._repository.prefetch(file.object_id for file in files if file is not None and file.object_id)

    def links(self, *, even_to_nothing: bool = False) -> dict[str, str]:
        """Return every link that leads to something inside the tree, and the path of what is behind it.

        Those that lead to nothing in the tree, as into a submodule, can be returned too, with the path that they name;
        of the links on the way there, none is followed.

        Raises:
            RepositoryError: They take more than MAX_STEPS, or one cannot be read.
        """
        links = {path: file for path, file in self.files.items() if file.is_link}
        self._repository.prefetch(file.object_id for file in links.values() if file.object_id)
        found: dict[str, str] = {}
        for path, file in links.items():
            place = self.resolve(path)
            if place is None and even_to_nothing and (target := self._target(file)) is not None:
                place = normalise("/".join([folder_of(path), *reversed(target)]).removeprefix("/"))
            if place is not None:
                found[path] = place
        return found

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes as committed, without any conversion; None if there is no such file.

        Raises:
            ConfigurationError: It is, or is behind, a link that leads out of the tree, is too large, or its path is too
                long.
            UnmergedFileError: The file is not merged.
            UnreadableObjectError: The object is missing from this clone or damaged.
        """
        require_length(path)
        file = self._find(path)
        if file is None:
            if self.leads_out(path):
                raise leading_out(path)
            return None
        if not file.object_id:
            sides = file.ours, file.theirs, file.base
            ours, theirs, base = (contents_of(self._repository, path, each) for each in sides)
            raise UnmergedFileError(path, ours, theirs, base)
        return contents_of(self._repository, path, file.object_id)

    def converted(self, paths: Iterable[str]) -> dict[str, str]:
        """Return which of some files, no links, git checks out with other bytes, and by which attribute.

        Raises:
            RepositoryError: Git failed, or a file that is needed is missing from this clone.
        """
        return without_idle_keywords(self, self._repository.converted(self.files, dict.fromkeys(paths)))

    def list(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return a folder's entries; () where there is no such folder.

        Raises:
            ConfigurationError: It is, or is behind, a link that leads out of the tree, or its path is too long.
        """
        require_length(folder)
        place = self.resolve(folder)
        if place is None:
            if self.leads_out(folder):
                raise leading_out(folder)
            return ()
        children = self._folders.get(place, {})
        entries = (FolderEntry(name, self._kind(path_in(place, name), file)) for name, file in children.items())
        return tuple(sorted(entries, key=lambda entry: name_bytes(entry.name)))

    def may_run(self, path: str) -> bool:
        """True if a path leads to a file that is checked out as executable, or to none that is known."""
        file = self._find(path)
        return file is None or file.mode == _EXECUTABLE

    def has_folder(self, folder: str) -> bool:
        """True if there is such a folder, or a link to one; what leads out of the tree cannot be listed."""
        place = self.resolve(folder)
        return self.leads_out(folder) if place is None else place in self._folders

    def leads_out(self, path: str) -> bool:
        """True if the path is, or is behind, a link that leads out of the tree, or into git's own folder."""
        return self.resolve(path) is None and normalise(path) in self._escaping

    def _kind(self, path: str, file: TreeFile | None) -> EntryKind:
        if file is None:
            return EntryKind.FOLDER
        if file.is_submodule:
            return EntryKind.BROKEN
        if not file.is_link:
            return EntryKind.FILE
        place = self.resolve(path)
        if place is None:
            return EntryKind.BROKEN
        return EntryKind.LINKED_FOLDER if place in self._folders else EntryKind.FILE

    def _find(self, path: str) -> TreeFile | None:
        """Return the regular file that the path leads to."""
        file = self.files.get(path)
        if file is None or file.is_link:
            place = self.resolve(path)
            file = self.files.get(place) if place is not None else None
        return None if file is None or file.is_submodule else file

    def resolve(self, path: str) -> str | None:
        """Return the path of the file or folder behind all links; None if nothing inside the tree is there.

        Raises:
            RepositoryError: A link's object is missing from this clone, or links take more than MAX_STEPS.
        """
        clean = normalise(path)
        if clean is None or is_too_long(clean):
            return None
        if clean in self._folders:
            return clean
        if clean not in self._behind:
            try:
                self._behind[clean] = self._followed(clean)
            except LeadsOutError:
                self._behind[clean] = None
                self._escaping.add(clean)
        return self._behind[clean]

    def _followed(self, path: str) -> str | None:
        files, folders = self.files, self._folders
        todo = path.split("/")[::-1]
        done: list[str] = []  # each folder's whole path, for joining parts at each step is quadratic
        links = 0
        while todo:
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise TooManyStepsError(MAX_STEPS)
            part = todo.pop()
            if part == "..":
                if not done:
                    raise LeadsOutError
                done.pop()
                continue
            if links and part.lower() == ".git":
                raise LeadsOutError
            place = f"{done[-1]}/{part}" if done else part
            file = files.get(place)
            if file is not None and file.is_link:
                links += 1
                target = self._target(file)
                if links > MAX_LINKS:
                    return None
                if target is None:
                    raise LeadsOutError
                todo.extend(target)
            elif file is not None:
                # A trailing slash or dot is not held against a file, as `_target` leaves them out.
                return None if todo or file.is_submodule else place
            elif place in folders:
                done.append(place)
            else:
                return None
        return done[-1] if done else ""

    def _target(self, link: TreeFile) -> tuple[str, ...] | None:
        """Return the parts of what the link says, the last first; None if that leads out of the tree."""
        if link.object_id not in self._targets:
            data = b"/"  # One that is not merged, or is too large, leads out.
            if link.object_id:
                with suppress(ConfigurationError):
                    data = self._repository.blob(link.object_id)
            self._targets[link.object_id] = link_target(data)
        return self._targets[link.object_id]

    def listings(self, folders: Iterable[str]) -> tuple[Mapping[str, TreeFile | None], ...] | None:
        """Return what is directly in some folders, by name; None if one is not there, or has a link."""
        found = tuple(self._folders.get(folder, {}) for folder in sorted(folders))
        files = (file for names in found for file in names.values() if file is not None)
        return found if all(found) and not any(file.is_link for file in files) else None

    @cached_property
    def _folders(self) -> dict[str, dict[str, TreeFile | None]]:
        """Every folder's names, None for a folder."""
        folders: dict[str, dict[str, TreeFile | None]] = {"": {}}
        for path, file in self.files.items():
            folder, _, name = path.rpartition("/")
            if folder not in folders:
                folders[folder] = {}
                enter_above(folders, folder)
            folders[folder][name] = file
        return folders


def contents_of(repository: Repository, path: str, object_id: str) -> bytes | None:
    """Return the bytes of a file of a listing; None for no object.

    Raises:
        ConfigurationError: They are too many.
        UnreadableObjectError: The object is missing from this clone or damaged.
    """
    if not object_id:
        return None
    try:
        return repository.blob(object_id)
    except UnreadableObjectError as error:
        raise UnreadableObjectError(f"{path} cannot be read: {error}") from error
    except ConfigurationError as error:
        raise ConfigurationError(f"not read: {error}", path=path) from error


def without_idle_keywords(tree: Tree, converted: Mapping[str, str]) -> dict[str, str]:
    """Return the files that git converts on checkout, without those whose `ident` finds no keyword to replace."""
    keywords = (path for path, attribute in converted.items() if attribute == "ident")
    idle = {path for path in keywords if b"$Id" not in (tree.read(path) or b"")}
    return {path: attribute for path, attribute in converted.items() if path not in idle}


def link_target(data: bytes) -> tuple[str, ...] | None:
    """Return the parts of what a link says, the last first; None if that leads out of any tree."""
    if len(data) > MAX_LINK_BYTES or data.startswith(b"/"):
        return None  # no system makes a link as long as that
    parts = data.decode("utf-8", "surrogateescape").split("/")
    return tuple(part for part in reversed(parts) if part not in ("", "."))


def prefetch_listed(tree: Tree, paths: Iterable[str]) -> None:
    """Read many files of a tree in one go, where git lists it; nothing of another tree."""
    if isinstance(tree, ListedTree):
        tree.prefetch(paths)


def enter_above(folders: dict[str, dict[str, TreeFile | None]], path: str) -> None:
    """Enter a path's name into the folder above it, and that one's into the next, up to one that is known."""
    while path:
        path, _, name = path.rpartition("/")
        names = folders.setdefault(path, {})
        if name in names:
            break
        names[name] = None


class RevisionTree(ListedTree):
    """The files of one revision."""

    def __init__(self, repository: Repository, revision: str) -> None:
        """Read nothing yet; the revision is a full commit id, as `Repository.resolve` gives it."""
        super().__init__(repository)
        self.revision = revision

    @property
    def files(self) -> dict[str, TreeFile]:
        """Every file, link and submodule of the revision by path."""
        return self._repository.listing(self.revision)


class IndexTree(ListedTree):
    """The files of the index: what the next commit would have."""

    @property
    def files(self) -> dict[str, TreeFile]:
        """Every file, link and submodule of the index by path; one that is not merged has no object id."""
        return self._repository.listing(None)


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
            LockLensError: For the same reasons as in `WorkTree.read` and `ListedTree.read`.
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
        from locklens.project.git.index import ATTRIBUTES_FILE

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
        """Return the path of the file or folder behind all links; None if nothing inside the tree is there."""
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
        """Return where a path leads to, without links, if the system finds something else; None if it leads nowhere."""
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
        """Follow links on disk and those that are left out; None if something is missing on the way.

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
        """Return the parts of what a link says, the last first; None for what is not a link.

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


class Conversion(Struct, frozen=True):
    """A conversion by git on checkout; its cause is such as `filter=lfs`, and new if the old side has another."""

    attribute: str
    is_new: bool


def conversions(base: Tree, head: Tree) -> dict[str, Conversion]:
    """Return the converted files of the new side, by path: a backend can name any of them as the state.

    Of those on disk, only the ones whose attribute is new: the tools read what is on disk, and so it is judged, but
    other checkouts have other bytes than those of the base had.

    Raises:
        RepositoryError: Git failed.
    """
    if not isinstance(head, ListedTree | SparseWorkTree):
        return {}
    attributes = head.converted(place for place in map(head.resolve, head.paths()) if place is not None)
    before = base.converted(attributes) if attributes and isinstance(base, ListedTree) else {}
    found = {path: Conversion(attribute, before.get(path) != attribute) for path, attribute in attributes.items()}
    if isinstance(head, SparseWorkTree):
        return {path: one for path, one in found.items() if one.is_new or not head.is_on_disk(path)}
    return found
