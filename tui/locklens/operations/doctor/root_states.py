"""What the roots of a repository are, and what they were when a log was made and in the last commits."""

from __future__ import annotations

import os
import posixpath
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.history import SECONDS
from locklens.errors import RepositoryError
from locklens.lockfile.parse import parse
from locklens.operations.doctor import changed_at
from locklens.operations.doctor.history import LockHistory
from locklens.operations.doctor.later_writes import LaterWrites
from locklens.operations.review.unreviewed import roots_without_locks
from locklens.operations.root_modules import (
    Root,
    RootReader,
    folders_with_locks,
    lock_path,
    read_lock,
    with_sides_of_git,
)
from locklens.project.folders import TooManyFoldersError, walk
from locklens.project.gittree import RevisionTree
from locklens.project.lock_history import PAST_COMMITS
from locklens.project.modules import ModuleReader
from locklens.project.tree import OverlayTree, folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.dialect import Dialect
    from locklens.lockfile import LockFile
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.checkout import Checkout
    from locklens.project.modules import Module
    from locklens.project.tree import Tree

MOST_READ = 200
"""The most roots whose configuration is read to find the one that requires a provider that none locks."""

_RECENT_COMMITS = 10
"""The most commits before HEAD that are read for a requirement which no root has any more."""

_MOST_FOLDERS = 5_000
"""The most folders that are searched for roots without a lock file."""


class RootStates:
    """Reads each root and each lock file of a repository once, as `tool` reads them, None for that of each root.

    Attributes:
        history: The lock files of earlier commits.
        writes: What locklens wrote into lock files later than the log.
    """

    def __init__(self, request: DoctorRequest, checkout: Checkout, tool: Dialect | None) -> None:
        self._request = request
        self._checkout = checkout
        self._tool = tool
        self._readers: dict[Dialect | None, RootReader] = {}
        self._roots: dict[tuple[str, Dialect | None], Root] = {}
        self._past_roots: dict[tuple[str, Dialect | None], list[Root]] = {}
        self._then: dict[str, list[Root]] = {}
        self._locks: dict[str, LockFile] = {}
        self.history = LockHistory(checkout.repository)
        self.writes = LaterWrites(checkout.top, request.logged, self.history)

    def root(self, path: str, tool: Dialect | None = None) -> Root:
        """Return the root in a folder, relative to the top, with its configuration; an empty one without files.

        It is read as a tool reads it, None for the one of all, or its own.
        """
        key = path, tool or self._tool
        if key not in self._roots:
            root = self._as_of_run(self._reader(key[1]).read_folder(self._checkout.tree, path))
            repository = self._checkout.repository
            if root.lock.conflict is not None and repository is not None:
                root = replace(root, lock=with_sides_of_git(root.lock, repository, root.tool))
            self._roots[key] = root
            self._roots.setdefault((path, root.tool), root)
        return self._roots[key]

    def is_before_log(self, folder: str) -> bool:
        """True unless a folder was made later than the log."""
        return changed_at(self._checkout.top / folder) < self._request.logged or not self._request.logged

    def _as_of_run(self, root: Root) -> Root:
        """Return a root as it is known for the runs of a log, which may have fetched other modules than lie here."""
        return root

    def _reader(self, tool: Dialect | None) -> RootReader:
        """Return what reads roots as a tool does."""
        if tool not in self._readers:
            self._readers[tool] = RootReader(replace(self._request, tool=tool), environ=self._request.environ)
        return self._readers[tool]

    def lock(self, path: str) -> LockFile:
        """Return the lock file of a folder, without its configuration."""
        if path not in self._locks:
            self._locks[path] = read_lock(self._checkout.tree, lock_path(path), self._tool, is_replaced=True)
        return self._locks[path]

    @cached_property
    def _deleted(self) -> dict[str, LockFile]:
        """The lock files that HEAD has and the work tree lacks, by the folder of a root that is still there."""
        repository = self._checkout.repository
        if repository is None or repository.is_unborn:
            return {}
        head = RevisionTree(repository, repository.resolve("HEAD"))
        gone = [path for path in folders_with_locks(repository, head) if path not in self._checkout.locks]
        return {path: read_lock(head, lock_path(path), self._tool) for path in gone if self.has_root(path)}

    @property
    def lock_folders(self) -> tuple[str, ...]:
        """The roots with a lock file, and those whose lock file was deleted since the last commit."""
        return tuple(sorted((*self._checkout.locks, *self._deleted)))

    @cached_property
    def roots_of_all(self) -> tuple[str, ...]:
        """The folders with a lock file, and those without one that are roots.

        A commit has it, or the configuration tells so.
        """
        locks, tree, modules = self.lock_folders, self._checkout.tree, ModuleReader()
        rest = [path for path in self.candidates if path not in locks]

        def read(path: str) -> Module:
            return modules.read(tree, path, self.root(path).tool)

        told = roots_without_locks(tree, rest, (), read, is_generated=False)
        had = (path for path in rest if any(one.exists for one in self.history.lock_files(lock_path(path))))
        return tuple(sorted({*locks, *told, *had}))

    def has_root(self, path: str) -> bool:
        """True if a folder has a lock file or a configuration."""
        root = self.root(path)
        return root.lock.exists or root.configuration.has_files

    def earlier(self, path: str, tool: Dialect | None = None) -> list[Root]:
        """Return a root, with its modules, as it was at the log and in the last commits; equal neighbours once."""
        key = path, self._tool if tool in {None, self.root(path).tool} else tool
        if key not in self._past_roots:
            self._past_roots[key] = list(self._past_states(path, self._reader(key[1])))
        return self._past_roots[key]

    def _past_states(self, path: str, reader: RootReader) -> Iterator[Root]:
        folders, before = {path}, None
        for tree in self._past_trees:
            revision = tree if isinstance(tree, RevisionTree) else None
            if revision is not None and before is not None and revision.listings(folders) == before:
                continue
            root = reader.read_folder(tree, path)
            read = root.configuration
            folders = {path, *map(folder_of, (*read.files, *read.value_files))}
            before = revision.listings(folders) if revision is not None and not read.has_faults else None
            yield root

    def at_the_log(self, path: str) -> list[Root]:
        """Return a root as it was at the log: before later writes of locklens, and in the last commit before it."""
        if path not in self._then:
            reader = self._reader(self._tool)
            self._then[path] = [reader.read_folder(tree, path) for tree in self._trees_at_the_log]
        return self._then[path]

    def at(self, path: str, revision: str) -> Root | None:
        """Return a root as a revision has it; None without a repository, or where the clone lacks the revision."""
        repository = self._checkout.repository
        if repository is None:
            return None
        with suppress(RepositoryError):
            return self._reader(self._tool).read_folder(RevisionTree(repository, repository.resolve(revision)), path)
        return None

    def locks_of(self, path: str) -> Iterator[LockFile]:
        """Yield the lock file of a root, then those that it had at the log, where it was changed or deleted since."""
        yield self.lock(path)
        yield from filter(None, (self._deleted.get(path),))
        name = lock_path(path)
        logged = self._request.logged
        if logged and changed_at(self._checkout.top / name) >= logged:
            yield from (parse(tree.read(name) or b"", name) for tree in self._trees_at_the_log)

    @cached_property
    def _past_trees(self) -> tuple[Tree, ...]:
        """The files at the log, and those of HEAD and the last commits."""
        repository = self._checkout.repository
        if repository is None or repository.is_unborn:
            return self._trees_at_the_log
        last = (one.commit for one in repository.touching(".", 1 + _RECENT_COMMITS))
        commits = dict.fromkeys((repository.resolve("HEAD"), *last))
        return (*self._trees_at_the_log, *(RevisionTree(repository, one) for one in commits))

    @cached_property
    def _trees_at_the_log(self) -> tuple[Tree, ...]:
        """The files before locklens wrote any later than the log, and those of the last commit before it."""
        tree, repository, logged = self._checkout.tree, self._checkout.repository, self._request.logged
        before = self.writes.files_before()
        trees: list[Tree] = [OverlayTree(before, tree)] if before else []
        if repository is not None:
            commits = repository.touching(".", PAST_COMMITS)
            last = next((one.commit for one in commits if one.date[:SECONDS] <= logged[:SECONDS]), "")
            trees += [RevisionTree(repository, last)] if last else []
        return tuple(trees)

    @cached_property
    def candidates(self) -> list[str]:
        """Return the roots of the repository: folders with a lock file, and those with a configuration of their own."""
        locks = list(self._checkout.locks)
        folders = self._configured_folders() if len(locks) < MOST_READ else []
        called = {
            folder_of(one.file)
            for path in (*locks[:MOST_READ], *folders)
            for one in self.root(path).configuration.requirements
            if one.module
        }
        own = [self._checkout.here] if self.has_root(self._checkout.here) else []
        return list(dict.fromkeys((*locks, *(path for path in folders if path not in called), *own)))

    @cached_property
    def module_folders(self) -> list[str]:
        """The folders with a configuration that are no candidates, as modules are: a job may test one for itself."""
        return [path for path in self._configured_folders(has_modules=True) if path not in self.candidates]

    def having_files(self, paths: Sequence[str], names: Sequence[str]) -> list[str]:
        """Return those of some roots, else of all, or of the modules, that have some files; as they are without any."""
        tree = self._checkout.tree

        def has(path: str) -> bool:
            places = [posixpath.join(path, name) for name in names]
            return all(tree.is_there(place) and not tree.leads_out(place) for place in places)

        having = (list(filter(has, those)) for those in (paths, self.candidates, self.module_folders))
        return next(filter(None, having), [*paths]) if names else [*paths]

    def _configured_folders(self, *, has_modules: bool = False) -> list[str]:
        """Return folders with a configuration, as far as they are looked for."""
        found: list[str] = []
        is_entered = lambda _, name: not name.startswith(".") and (has_modules or name != "modules")  # noqa: E731
        with suppress(TooManyFoldersError):
            for folder in walk(os.fspath(self._checkout.top), most=_MOST_FOLDERS, enters=is_entered):
                if any(name.endswith((".tf", ".tofu", ".tf.json", ".tofu.json")) for name in folder.files):
                    found.append(folder.path)
                if len(found) >= MOST_READ:
                    break
        return found
