"""Plans changes of the root modules of a scope: each is read with the changes that are planned so far."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, NoRepositoryError
from locklens.lockfile.splice import splice
from locklens.operations.comparison import within
from locklens.operations.plan.builder import PlanBuilder
from locklens.operations.plan.files import PlannedFile
from locklens.operations.plan.model import PlannedChange
from locklens.operations.root_modules import RootReader, common_folder, folders_with_locks, no_root
from locklens.project.tree import FileSystem, OverlayTree, WorkTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.operations.plan.model import Scope
    from locklens.operations.root_modules import Root
    from locklens.project.constraint_edits import ConstraintEdit
    from locklens.project.tree import Tree

_NO_EDITS: Mapping[ProviderAddress, tuple[ConstraintEdit, ...]] = MappingProxyType({})


_NOT_MOVED: Mapping[ProviderAddress, ProviderAddress] = MappingProxyType({})


_NO_PLATFORMS: Mapping[ProviderAddress, tuple[Platform, ...]] = MappingProxyType({})


class ScopedPlanBuilder(PlanBuilder):
    """The plan builder of the roots of a scope.

    Attributes:
        disk: The files on disk.
        roots: The roots on disk; each once, in the order of the scope.

    Args:
        scope: The roots.

    Raises:
        ConfigurationError: A folder is no root, or outside of the repository.
        RepositoryError: Git failed.
    """

    def __init__(self, scope: Scope) -> None:
        self._reader = RootReader(scope.tool, scope.test_directory)
        top, self.disk, paths = _ground(scope)
        super().__init__(top)
        self.roots = tuple(self.root(path) for path in dict.fromkeys(paths))

    def locked(self) -> list[str]:
        """Return every folder of the repository that has a lock file, [] outside of a repository."""
        from locklens.project.git import Repository

        try:
            with Repository.discover(self.top) as repository:
                return folders_with_locks(repository, self.disk)
        except NoRepositoryError:
            return []

    @property
    def tree(self) -> Tree:
        """The files with the planned changes."""
        return OverlayTree({path: file.new for path, file in self.files.items()}, self.disk)

    def root(self, path: str) -> Root:
        """Read a root with the planned changes.

        Raises:
            ConfigurationError: The folder is no root.
        """
        root = self._reader.read(self.tree, path)
        if root is None:
            from locklens.operations.root_selection import hint_below

            raise no_root(path, hint_below(self.top / path))
        return root

    def read(self, path: str) -> bytes:
        """Return a file's bytes with the planned changes.

        Raises:
            ConfigurationError: There is no such file, or it cannot be read.
        """
        data = self.tree.read(path)
        if data is None:
            raise ConfigurationError("no such file", path=path)
        return data

    def put_lock(self, root: Root, data: bytes) -> None:
        """Plan a root's lock file."""
        self.put(PlannedFile(root.lock.path, root.lock.data if root.lock.exists else None, data))


def put_entries(
    draft: ScopedPlanBuilder,
    root: Root,
    entries: Mapping[ProviderAddress, LockEntry | None],
    *,
    edits: Mapping[ProviderAddress, tuple[ConstraintEdit, ...]] = _NO_EDITS,
    moved: Mapping[ProviderAddress, ProviderAddress] = _NOT_MOVED,
    platforms: Mapping[ProviderAddress, tuple[Platform, ...]] = _NO_PLATFORMS,
) -> None:
    """Plans new entries for some providers of a root; every other byte of its lock file is unchanged.

    Args:
        draft: The plan.
        root: As it was read.
        entries: The new entry of each provider; None to remove it.
        edits: The constraints that are rewritten for each.
        moved: Providers that replace another one, whose entry is removed.
        platforms: The platforms that each is locked for.
    """
    if not entries:
        return
    replaced = dict.fromkeys(old for new, old in moved.items() if new in entries)
    data = splice(root.lock.data, {**entries, **replaced}, dialect=root.tool)
    draft.put_lock(root, data)
    now = root.lock.by_address
    for address, entry in sorted(entries.items()):
        name = root.name_of(address)
        before = moved.get(address)
        old = now.get(before or address)
        edited, locked_for = edits.get(address, ()), platforms.get(address, ())
        draft.changes.append(PlannedChange(root.path, address, name, old, entry, edited, locked_for, before))


def require_sound(root: Root) -> None:
    """Refuse a lock file that the tools would refuse.

    Raises:
        ConfigurationError: It is absent or broken.
    """
    if not root.lock.exists:
        hint = f"{root.tool.command} init creates it"
        raise ConfigurationError("no lock file", path=root.lock.path, hint=hint)
    require_valid(root.lock)


def require_valid(lock: LockFile) -> None:
    """Refuse a lock file that the tools cannot read.

    Raises:
        ConfigurationError: It has conflict markers or a syntax error; with file and line.
    """
    if lock.conflict is not None:
        line = lock.conflict.markers[0].line if lock.conflict.markers else None
        words = "unresolved conflict in the lock file"
        raise ConfigurationError(words, path=lock.path, line=line, hint="resolve it first")
    if lock.problems:
        problem = lock.problems[0]
        words = f"{problem.summary}: {problem.detail}"
        raise ConfigurationError(words, path=lock.path, line=problem.line, hint="fix the file first")


def _ground(request: Scope) -> tuple[Path, Tree, Sequence[str]]:
    """Return the folder that may be written in, its files, and the roots' folders."""
    from locklens.project.git import Repository

    names = request.roots or (".",)
    try:
        repository = Repository.discover(request.folder)
    except NoRepositoryError:
        places = [os.path.realpath(request.folder / path) for path in names]
        top = common_folder([os.path.realpath(request.folder), *places])
        files = FileSystem(Path(top))
        return Path(top), files, [files.join("", os.path.relpath(place, top)) or "" for place in places]
    with repository:
        paths = [within(repository, request.folder, path) for path in names]
        return repository.top, WorkTree(repository.top), paths
