"""Finds the root modules below a folder, reads them, and judges what needs no other root and no registry.

In a git repository the files are those that git tracks or does not ignore; a folder without git is walked. What the
tools downloaded (`.terraform`, `.terragrunt-cache`) is left out, and so are other repositories, such as submodules.
Links to folders are not followed.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, NoRepositoryError, RunCancelledError
from locklens.lockfile import LockFile
from locklens.machine import locklens_words, path_from_shell, shell_folder
from locklens.operations.comparison import RootSettings, within
from locklens.operations.review.completion import absent_configuration
from locklens.operations.review.unreviewed import roots_without_locks
from locklens.operations.root_modules import (
    Root,
    absence_of,
    as_committed,
    lock_path,
    no_root,
    read_lock,
    tool_of,
    with_sides_of_git,
)
from locklens.operations.typed_names import hint_of_roots
from locklens.project import GENERATORS, LOCK_FILE, has_generator, is_lock_file
from locklens.project.effective_paths import packages_by_folder
from locklens.project.folders import TooManyFoldersError, content_ids, walk
from locklens.project.revision_paths import path_below_top
from locklens.project.root_search import MAX_ROOTS
from locklens.project.touched_roots import MODULE_SUFFIXES, is_module_file
from locklens.project.tree import Tree, WorkTree, is_at_or_below, name_bytes
from locklens.review.context import Absence, RootContext, Unread
from locklens.review.health import RootReach
from locklens.review.model import LockStatus, RootReview
from locklens.review.rules import finding_of, heeded
from locklens.review.rules.health import entry_findings, not_in_the_repository, of_other_tool
from locklens.review.rules.judge import judge_root
from locklens.review.rules.root import CHECKS, own_packages
from locklens.selection.choosing import combined
from locklens.text import identity_of, reason_of, shell_words

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.policy import Policy
    from locklens.project.configuration import Configuration
    from locklens.project.git import Repository
    from locklens.project.modules import Module
    from locklens.review.findings import Finding
    from locklens.versions import Constraints

_DOWNLOADED = frozenset({".git", ".terraform", ".terragrunt-cache"})

MAX_FOLDERS = 200_000
"""The most folders that are walked without git; a home folder has more."""


class Layout(Struct, frozen=True):
    """The folders to look at.

    Attributes:
        tree: The files on disk; paths are relative to its top.
        locked: Folders with a lock file that git does not ignore, in order.
        configured: Other folders with configuration files, in order.
        is_generated: True if there are units of Terragrunt, which run modules that no configuration calls.
        unsearched: Folders that could not be listed, in words.
        repositories: Folders that are not searched because they are other repositories, without submodules.
        packages: Paths that git tracks and that the tools take for packages, by the folder in which they are run.
        is_named: True if the user named the folders, which makes a root of each with a configuration.
        deleted: Those of `configured` whose lock file git tracks, which makes a root of each, too.
    """

    tree: WorkTree
    locked: tuple[str, ...]
    configured: tuple[str, ...]
    is_git: bool
    is_generated: bool = False
    unsearched: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    packages: Mapping[str, tuple[str, ...]] = {}
    is_named: bool = False
    deleted: frozenset[str] = frozenset()

    def absence(self, folder: str) -> Absence:
        """Return why a configured folder has no lock file in the repository."""
        if folder in self.deleted:
            return Absence.DELETED
        return absence_of(self.tree, folder) if self.is_git else Absence.MISSING


def find_layout(folder: Path, only: Sequence[str] = ()) -> Layout:
    """Return the folders in and below a folder, restricted to those of `only`, relative to the current one, if any.

    Raises:
        ConfigurationError: One of `only` is not a root, or there are too many.
        RepositoryError: Git failed.
    """
    from locklens.project.git import Repository

    try:
        repository = Repository.discover(folder)
    except NoRepositoryError:
        return _restricted(_walked(folder), folder, only)
    with repository:
        if repository.is_bare:
            raise ConfigurationError("the repository has no work tree", path=str(folder))
        return _restricted(_of_repository(repository, folder), folder, only)


def _of_repository(repository: Repository, folder: Path) -> Layout:
    from locklens.project.gittree import SparseWorkTree

    tree = SparseWorkTree(repository)
    below = within(repository, folder, ".")
    named = _below(repository.work_files((LOCK_FILE, *GENERATORS, *MODULE_SUFFIXES)), below)
    layout = _layout(tree, [path for path in named if not _is_downloaded(path)], is_git=True)
    packages = packages_by_folder(repository.tracked())
    others = [place for place in repository.untracked_repositories() if not _is_downloaded(place)]
    return replace(
        layout,
        repositories=tuple(_below(others, below)),
        packages={place: paths for place, paths in packages.items() if is_at_or_below(place, below)},
    )


def _walked(folder: Path) -> Layout:
    top, paths, unsearched, repositories = os.fspath(folder), list[str](), list[str](), list[str]()

    def enters(place: str, name: str) -> bool:
        if name in _DOWNLOADED:
            return False
        inside = os.path.join(place, name)  # noqa: PTH118
        if is_other := os.path.lexists(os.path.join(inside, ".git")):  # noqa: PTH118
            repositories.append(os.path.relpath(inside, top).replace(os.sep, "/"))
        return not is_other

    try:
        for each in walk(top, most=MAX_FOLDERS, enters=enters):
            if each.error is not None:
                unsearched.append(f"{each.path or '.'} is not searched: {reason_of(each.error)}")
            paths += (f"{each.path}/{name}" if each.path else name for name in each.files if _is_named(name))
    except TooManyFoldersError:
        words = f"more than {MAX_FOLDERS} folders are not searched"
        raise ConfigurationError(words, path=str(folder), hint="name a folder below it") from None
    layout = _layout(WorkTree(folder), paths, is_git=False)
    return replace(layout, unsearched=tuple(unsearched), repositories=_in_order(repositories))


def _repository_of(top: str, place: str) -> str:
    """Return the folder at or above a place, and below the top, that is a repository of its own; "" if none is."""
    parts = place.split("/")
    folders = ("/".join(parts[:number]) for number in range(len(parts), 0, -1))
    return next((folder for folder in folders if folder and os.path.lexists(os.path.join(top, folder, ".git"))), "")  # noqa: PTH118


def _is_named(name: str) -> bool:
    return name in {LOCK_FILE, *GENERATORS} or is_module_file(name)


def _is_downloaded(path: str) -> bool:
    return not _DOWNLOADED.isdisjoint(path.split("/"))


def _below(paths: Iterable[str], folder: str) -> list[str]:
    return [path for path in paths if path.startswith(f"{folder}/")] if folder else list(paths)


def _layout(tree: WorkTree, paths: Sequence[str], *, is_git: bool) -> Layout:
    named = [path for path in paths if is_lock_file(path)]
    # A tracked file may have been deleted.
    locked = {path.rpartition("/")[0] for path in named if tree.is_there(path)}
    deleted = frozenset(path.rpartition("/")[0] for path in named) - locked
    configured = {path.rpartition("/")[0] for path in paths if is_module_file(path)} - locked
    if len(locked) > MAX_ROOTS:
        words = f"{len(locked)} lock files, and no more than {MAX_ROOTS} are read"
        raise ConfigurationError(words, path=str(tree.top), hint="name a folder below it")
    return Layout(tree, _in_order(locked), _in_order(configured), is_git, has_generator(paths), deleted=deleted)


def _in_order(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(folders, key=name_bytes))


def _restricted(layout: Layout, folder: Path, only: Sequence[str]) -> Layout:
    if not only:
        return layout
    top = os.path.realpath(layout.tree.top)
    wanted = set()
    for name in only:
        place = path_below_top(top, os.path.realpath(name.removesuffix(LOCK_FILE) or "."))
        if place is None or place not in {*layout.locked, *layout.configured, *layout.packages}:
            words, hint = (
                f"no root module here in or below {folder}",
                "name folders with a lock file or a configuration",
            )
            if place is not None and not layout.tree.has_folder(place):
                raise no_root(layout.tree, place, named=name)
            if place is not None and (below := _below(layout.locked, place)):
                here = shell_folder()
                named = [os.path.relpath(os.path.join(top, root), here).replace(os.sep, "/") for root in below]  # noqa: PTH118
                words, hint = "no root module in this folder itself", hint_of_roots(named)
            elif place is not None and (other := _repository_of(top, place)):
                words = f"in another repository than {folder}, such as a submodule"
                elsewhere = locklens_words(path_from_shell(os.path.join(top, other)))  # noqa: PTH118
                hint = f"{shell_words([*elsewhere, 'health'])} reads that one"
            raise ConfigurationError(words, path=name, hint=hint)
        wanted.add(place)
    locked, configured = ([one for one in folders if one in wanted] for folders in (layout.locked, layout.configured))
    packages = {
        place: paths for place, paths in layout.packages.items() if any(is_at_or_below(place, each) for each in wanted)
    }
    return replace(
        layout, locked=tuple(locked), configured=tuple(configured), repositories=(), packages=packages, is_named=True
    )


class ReadRoot(Struct, frozen=True):
    """A root that was read and judged.

    Attributes:
        review: Its lock file and findings; without its configuration, which is large.
        reach: What commands can do in it.
        unknown: Why not all of its requirements are known; "" if they are.
        unconstrained: Why not all of its constraints are known; "" if they are.
        unlocked: The constraints of the required providers that the lock file lacks.
    """

    review: RootReview
    reach: RootReach
    unknown: str
    unconstrained: str = ""
    unlocked: Mapping[ProviderAddress, Constraints] = {}


_BATCH = 50
"""Roots between two looks at `cancel`."""


def read_roots(
    layout: Layout,
    settings: RootSettings,
    policy: Policy,
    *,
    on_progress: Callable[[int, int], None],
    cancel: threading.Event,
) -> list[ReadRoot]:
    """Return the roots of a layout, in the order of their folders; `on_progress` gets the number read, and of all."""
    roots: list[ReadRoot] = []
    total = len(layout.locked)
    with ExitStack() as stack:
        reader = _RootsReader(layout, settings, policy, stack)
        for start in range(0, total, _BATCH):
            if cancel.is_set():
                raise RunCancelledError("the scan was cancelled")
            roots += reader.read(layout.locked[start : start + _BATCH])
            on_progress(min(total, start + _BATCH), total)
        roots += reader.read_unlocked()
        known = {root.review.path for root in roots}
        # A folder without a lock file may be known for its packages alone.
        roots += reader.read([folder for folder in layout.packages if folder not in known])
    return sorted(roots, key=lambda root: root.review.path)


class _RootsReader:
    """Reads roots of a layout; each file is read once by a reader. What it opens is closed with the stack."""

    def __init__(self, layout: Layout, settings: RootSettings, policy: Policy, stack: ExitStack) -> None:
        from locklens.project.modules import ModuleReader

        self._layout = layout
        self._settings = settings
        self._policy = policy
        self._modules = ModuleReader()
        self._stack = stack

    @cached_property
    def _repository(self) -> Repository:
        from locklens.project.git import Repository

        return self._stack.enter_context(Repository.discover(Path(self._layout.tree.top)))

    @cached_property
    def _index(self) -> Tree:
        from locklens.project.gittree import IndexTree

        return IndexTree(self._repository)

    def read(self, folders: Sequence[str]) -> list[ReadRoot]:
        """Return the roots of folders; none of them counts as a root that lacks a lock file."""
        return [self._root(folder, None) for folder in folders]

    def read_unlocked(self) -> list[ReadRoot]:
        """Return those of the configured folders without a lock file that are roots, as one that was deleted tells."""
        layout = self._layout
        found: Sequence[str] = layout.configured
        if not layout.is_named:
            found = roots_without_locks(
                layout.tree, layout.configured, layout.locked, self._module, is_generated=layout.is_generated
            )
        absences = {folder: layout.absence(folder) for folder in layout.configured}
        roots = (
            self._root(folder, absence)
            for folder, absence in absences.items()
            if absence is not Absence.MISSING or folder in found
        )
        return [root for root in roots if root.review.findings]

    def _module(self, folder: str) -> Module:
        tree = self._layout.tree
        tool = self._settings.tool or tool_of(tree, folder, LockFile.absent(lock_path(folder)))
        return self._modules.read(tree, folder, tool)

    def _root(self, folder: str, absence: Absence | None) -> ReadRoot:
        tree, settings = self._layout.tree, self._settings
        lock = read_lock(tree, lock_path(folder), settings.tool)
        tool = settings.tool or tool_of(tree, folder, lock)
        if lock.exists and lock.writer is not tool:
            lock = read_lock(tree, lock.path, tool)
        if lock.conflict is not None and self._layout.is_git:
            lock = with_sides_of_git(lock, self._repository, tool)
        elif self._layout.is_git and b"\r\n" in lock.data:
            lock = as_committed(lock, self._staged(lock.path), self._repository, tool)
        configuration = self._configuration(folder, tool)
        path = lock_path(folder)
        review = RootReview(
            path=folder,
            lock_file=path,
            tool=tool,
            status=LockStatus.INVALID if lock.problems else LockStatus.UNCHANGED,
            # Nothing is compared: the whole file is judged, as an added one is.
            old=LockFile.absent(path),
            new=lock,
            configuration=configuration,
            # Nothing says that an error is new.
            context=RootContext(self._policy, unread=_unread(tree, configuration)),
        )
        findings = list(judge_root(review)) if lock.exists else []
        findings += heeded(self._own_findings(review, findings, absence), self._policy)
        kept = replace(review, configuration=None, findings=tuple(findings), new=_light(lock))
        reach = _reach(Root(folder, tool, lock, configuration))
        lacked = () if lock.problems else reach.required - reach.of_init - lock.by_address.keys()
        unlocked = {address: configuration.constraints(address) for address in sorted(lacked)}
        return ReadRoot(kept, reach, configuration.unknown_reason, configuration.unknown_constraints, unlocked)

    def _staged(self, path: str) -> bytes | None:
        """Return a file of the index; None if it is not merged, or no file."""
        try:
            return self._index.read(path)
        except ConfigurationError:
            return None

    def _configuration(self, folder: str, tool: Dialect) -> Configuration:
        tree = self._layout.tree
        if (absent := absent_configuration(tree, folder, tool)) is not None:
            return absent
        from locklens.project.requirements import read_configuration

        return read_configuration(
            tree,
            folder,
            dialect=tool,
            worktree=tree,
            environ=os.environ,
            test_directory=self._settings.test_directory,
            module_reader=self._modules,
            has_workspaces=True,
        )

    def _own_findings(self, root: RootReview, judged: Sequence[Finding], absence: Absence | None) -> Iterator[Finding]:
        configuration = root.configuration
        if not root.new.exists:
            for verdict in CHECKS["LK041"](root):
                yield finding_of("LK041", verdict, root.lock_file, None)
        if absence is not None and configuration is not None and (configuration.required() or root.new.exists):
            has_backend = self._module(root.path).backend is not None
            for verdict in not_in_the_repository(absence, has_backend=has_backend):
                yield finding_of("LK037", verdict, root.lock_file, None)
        for verdict in own_packages(self._layout.packages.get(root.path, ())):
            yield finding_of("LK036", verdict, root.lock_file, None)
        moved = {finding.provider for finding in judged if finding.rule == "LK015"}
        for entry in root.new.entries:
            if entry.address not in moved:
                yield from entry_findings("LK040", of_other_tool(entry, root.tool), entry, root.lock_file)


def _reach(root: Root) -> RootReach:
    configuration, lock = root.configuration, root.lock
    requirements = {entry.address: root.requirements(entry.address) for entry in lock.entries}
    constraints = {address: combined(those) for address, those in requirements.items() if those}
    required = configuration.required()
    unselectable = {}
    for address in required:
        entry, wanted = lock.by_address.get(address), constraints.get(address) or configuration.constraints(address)
        if (entry is None or not wanted.admits(entry.version)) and (conflicts := wanted.smallest_conflicts()):
            unselectable[address] = f"no version satisfies {' and '.join(map(str, conflicts[0]))}"
    unknown = configuration.unknown_reason
    return RootReach(
        unknown,
        _unreadable(root),
        "" if configuration.has_files else f"{configuration.undeclared_reason}, and `lock` locks only what is required",
        required,
        constraints,
        f"could not determine whether it is required: {unknown}" if unknown else "nothing requires it",
        frozenset(filter(configuration.is_of_init, required)),
        unselectable,
    )


def _unreadable(root: Root) -> str:
    """Return what prevents the planning of a root's lock file, as operations.write.diagnostics.unreadable finds it."""
    configuration = root.configuration
    if root.lock.problems:
        return "the lock file cannot be read"
    if any(one.is_error for one in configuration.problems) or configuration.state.kind == "unreadable":
        return "the configuration or its state cannot be read"
    if configuration.missing_modules:
        module = configuration.missing_modules[0]
        if module.is_fetchable:
            return f"module {module.call} cannot be read; `{root.tool.command} get` fetches remote modules"
        return f"module {module.call} cannot be read: it is {module.trouble}"
    return ""


def _unread(tree: Tree, configuration: Configuration) -> dict[str, Unread]:
    """Return the files of a configuration with an error, by path; nothing says that one is new."""
    errors = [one for one in configuration.problems if one.is_error]
    contents = content_ids(tree, {one.file for one in errors})
    return {
        one.file: Unread(one.summary, one.line, False, identity_of(one.file, contents[one.file]))
        for one in reversed(errors)
    }


def _light(lock: LockFile) -> LockFile:
    """Return a lock file without its bytes."""
    return replace(lock, data=b"")
