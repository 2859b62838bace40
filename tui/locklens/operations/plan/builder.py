"""Collects the planned file contents and changes of one or more roots into one plan."""

from __future__ import annotations

import copy
import os
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import ConfigurationError, LockLensError, NoRepositoryError
from locklens.lockfile.model import differing
from locklens.lockfile.splice import splice
from locklens.operations.comparison import within
from locklens.operations.plan.files import FileChanges, PlannedFile, file_order
from locklens.operations.plan.model import Plan, PlanFailure, PlannedChange, PlanNote, Scope, change_words
from locklens.operations.root_modules import RootReader, common_folder, folders_with_locks, no_root
from locklens.project.roots import LOCK_FILE
from locklens.project.tree import FileSystem, OverlayTree, WorkTree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.operations.root_modules import Root
    from locklens.project.constraint_edits import ConstraintEdit
    from locklens.project.tree import Tree


def path_below(top: Path, folder: Path) -> str:
    """Returns what a root's folder is called in a plan: relative to the top of what may be written, "" for the top."""
    path = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    return "" if path == "." else path


def planned_lock(root: Root, path: str, data: bytes) -> PlannedFile:
    """Returns a root's lock file as it is to be written, the way the tools do it.

    Args:
        root: As it was read.
        path: What its folder is called in the plan.
        data: What is to be there.
    """
    name = f"{path}/{LOCK_FILE}" if path else LOCK_FILE
    return PlannedFile(name, root.lock.data if root.lock.exists else None, data, is_tools=True)


def planned_changes(root: Root, path: str, after: Sequence[LockEntry]) -> tuple[PlannedChange, ...]:
    """Returns what becomes of each provider; arguments as of `planned_lock`."""
    before, left = root.lock.by_address, {entry.address for entry in after}
    moved = {new: old for old, new in root.migration.moved if new in left and old not in left}
    found = []
    for address, old, new in differing(root.lock, replace(root.lock, entries=tuple(after))):
        if address in moved:
            source = moved[address]
            found.append(PlannedChange(path, address, root.name_of(address), before[source], new, moved_from=source))
        elif address not in moved.values():
            found.append(PlannedChange(path, address, root.name_of(address), old, new))
    return tuple(found)


_NO_EDITS: Mapping[ProviderAddress, tuple[ConstraintEdit, ...]] = MappingProxyType({})


_NOT_MOVED: Mapping[ProviderAddress, ProviderAddress] = MappingProxyType({})


def no_progress(_: str) -> None:
    """Hears of roots where nobody wants to."""


def put_entries(
    draft: PlanBuilder,
    root: Root,
    entries: Mapping[ProviderAddress, LockEntry | None],
    *,
    edits: Mapping[ProviderAddress, tuple[ConstraintEdit, ...]] = _NO_EDITS,
    moved: Mapping[ProviderAddress, ProviderAddress] = _NOT_MOVED,
) -> None:
    """Plans other entries for some providers of a root; every other byte of its lock file stays.

    Args:
        draft: What is planned.
        root: As it was read.
        entries: What becomes of each provider; None to remove it.
        edits: The constraints that are rewritten for each.
        moved: Providers that take the place of another one, whose entry goes.
    """
    if not entries:
        return
    going = dict.fromkeys(old for new, old in moved.items() if new in entries)
    data = splice(root.lock.data, {**entries, **going}, dialect=root.tool)
    draft.write(root.lock.path, data, old=root.lock.data if root.lock.exists else None)
    now = root.lock.by_address
    for address, entry in sorted(entries.items()):
        name = root.name_of(address)
        before = moved.get(address)
        old = now.get(before or address)
        draft.changes.append(
            PlannedChange(root.path, address, name, old, entry, edits.get(address, ()), moved_from=before)
        )


def require_sound(root: Root) -> None:
    """Refuses a lock file that the tools would refuse.

    Raises:
        ConfigurationError: It is absent or broken.
    """
    if not root.lock.exists:
        hint = f"{root.tool.command} init writes one"
        raise ConfigurationError("there is no lock file", path=root.lock.path, hint=hint)
    require_valid(root.lock)


def require_valid(lock: LockFile) -> None:
    """Refuses a lock file that the tools cannot read.

    Raises:
        ConfigurationError: It has conflict markers or a syntax error; with file and line.
    """
    if lock.conflict is not None:
        marker = lock.conflict.markers[0]
        words = "git left a conflict in the lock file"
        raise ConfigurationError(words, path=lock.path, line=marker.line, hint="settle it first")
    if lock.problems:
        problem = lock.problems[0]
        words = f"{problem.summary}: {problem.detail}"
        raise ConfigurationError(words, path=lock.path, line=problem.line, hint="mend the file first")


class PlanBuilder:
    """The files of a plan while it is made: roots see what was planned for the roots before them.

    Attributes:
        words: What is done beside the changes, one line each.

    Args:
        request: Where.

    Raises:
        ConfigurationError: A folder is no root, or outside of the repository.
        RepositoryError: Git failed.
    """

    def __init__(self, request: Scope) -> None:
        self._reader = RootReader(request.tool, request.test_directory)
        self.top, self.disk, paths = _ground(request)
        self._begin()
        self.roots = tuple(self.root(path) for path in dict.fromkeys(paths))

    def _begin(self) -> None:
        self.changes: list[PlannedChange] = []
        self.remarks: list[PlanNote] = []
        self.failures: list[PlanFailure] = []
        self.words: list[str] = []
        self._old: dict[str, bytes | None] = {}
        self._new: dict[str, bytes] = {}

    def blank(self) -> PlanBuilder:
        """Returns another draft for the same roots, in which nothing is planned yet."""
        found = copy.copy(self)
        found._begin()  # noqa: SLF001
        return found

    def locked(self) -> list[str]:
        """Returns every folder of the repository that has a lock file, [] where there is none to be asked."""
        from locklens.project.git import Repository

        try:
            with Repository.discover(self.top) as repository:
                return folders_with_locks(repository, self.disk)
        except NoRepositoryError:
            return []

    @property
    def tree(self) -> Tree:
        """The files as they would be."""
        return OverlayTree(self._new, self.disk)

    def root(self, path: str) -> Root:
        """Reads a root as it would be.

        Raises:
            ConfigurationError: It is none.
        """
        found = self._reader.read(self.tree, path)
        if found is None:
            raise no_root(path)
        return found

    def read(self, path: str) -> bytes:
        """Returns a file's bytes as they would be.

        Raises:
            ConfigurationError: It is not there, or cannot be read.
        """
        data = self.tree.read(path)
        if data is None:
            raise ConfigurationError("no such file", path=path)
        return data

    def write(self, path: str, data: bytes, *, old: bytes | None) -> None:
        """Plans a file's new bytes.

        Args:
            path: Which.
            data: What is to be there.
            old: What the plan was made from; None where there was no file. What was planned before counts first.
        """
        self._old.setdefault(path, old)
        self._new[path] = data

    @contextmanager
    def attempt(self, root: Root) -> Iterator[None]:
        """Plans one root: where that fails, it stays as it is, and why is one of the failures."""
        before = dict(self._old), dict(self._new), len(self.changes)
        failed = len(self.failures)
        try:
            yield
        except LockLensError as error:
            self.failures.append(PlanFailure(root.path, "", error))
        if len(self.failures) > failed:
            self._old, self._new = before[:2]
            del self.changes[before[2] :]

    def has_failed(self, root: Root) -> bool:
        """Whether anything failed in a root, so that it stays as it is."""
        return any(failed.root == root.path for failed in self.failures)

    def plan(self, command: str) -> Plan:
        """Returns what was planned; files that would be what they are are none.

        Args:
            command: The command line that does it.
        """
        files = [PlannedFile(path, self._old[path], data) for path, data in self._new.items()]
        files = sorted((file for file in files if file.old != file.new), key=lambda file: file_order(file.path))
        words = *map(change_words, self.changes), *self.words
        proposal = FileChanges(self.top, tuple(files), words, command)
        return Plan(proposal, tuple(self.changes), tuple(self.remarks), tuple(self.failures))


def _ground(request: Scope) -> tuple[Path, Tree, Sequence[str]]:
    """Returns what may be written in, its files, and the roots' folders."""
    from locklens.project.git import Repository

    wanted = request.roots or (".",)
    try:
        repository = Repository.discover(request.folder)
    except NoRepositoryError:
        places = [os.path.realpath(request.folder / path) for path in wanted]
        top = common_folder([os.path.realpath(request.folder), *places])
        files = FileSystem(Path(top))
        return Path(top), files, [files.join("", os.path.relpath(place, top)) or "" for place in places]
    with repository:
        paths = [within(repository, request.folder, path) for path in wanted]
        return repository.top, WorkTree(repository.top), paths
