"""Collects planned files, changes and diagnostics, and makes one plan of them. Every plan is made here.

`ScopedPlanBuilder` also reads the root modules of a scope, each with the changes that are planned so far.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.diagnostics import Diagnostic, DiagnosticSeverity, NextStep
from locklens.errors import ConfigurationError, LockLensError, NoRepositoryError, RepositoryError, StaleLockFileError
from locklens.lockfile import LockEntry, LockFile, differing
from locklens.lockfile.moves import moves_between
from locklens.lockfile.parse import parse
from locklens.lockfile.splice import splice
from locklens.machine import git_words
from locklens.operations.comparison import within
from locklens.operations.plan import FileChanges, Plan, PlannedChange, PlannedFile, change_words, file_order
from locklens.operations.root_modules import Root, RootReader, common_folder, folders_with_locks, lock_path, no_root
from locklens.project import LOCK_FILE
from locklens.project.tree import FileSystem, OverlayTree, Tree, WorkTree, path_in
from locklens.storage.journal import WriteTarget
from locklens.text import listing, shell_word, shell_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any, NoReturn

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.plan import Scope
    from locklens.project.constraint_edits import ConstraintEdit


class PlanBuilder:
    """A plan under construction.

    Planned files are relative to `top`, and none outside of it is written. `describe` says what becomes of a provider
    in one line, and takes what `change_words` takes.
    """

    def __init__(
        self, top: Path, target: WriteTarget = WriteTarget.FILES, describe: Callable[..., str] = change_words
    ) -> None:
        self.top = top
        self._target = target
        self._describe = describe
        self.files: dict[str, PlannedFile] = {}
        self.changes: list[PlannedChange] = []
        self.tool: Dialect | None = None
        self.diagnostics: list[Diagnostic] = []
        self._lines: list[tuple[str, str]] = []

    def describe(self, line: str, *, dry_run: str) -> None:
        """Add a line about a write other than a change of a provider; `dry_run` says it in the conditional."""
        self._lines.append((line, dry_run))

    def put(self, file: PlannedFile) -> None:
        """Plan a file; a second plan for a path keeps the old bytes of the first."""
        before = self.files.get(file.path)
        self.files[file.path] = file if before is None else replace(file, old=before.old)

    def note(self, root: str, detail: str, *, address: str = "", next_step: NextStep | None = None) -> None:
        """Add a note, which prevents nothing: a sentence without its full stop.

        The provider is named as the root names it, "" for the whole root. `next_step` is the one that the sentence
        names, if a screen has a key for it.
        """
        self.diagnostics.append(Diagnostic.note(detail, address=address, root=root, next_step=next_step))

    def warn(
        self,
        root: str,
        detail: str,
        *,
        address: str = "",
        file: str = "",
        hint: str = "",
        next_step: NextStep | None = None,
    ) -> None:
        """Add a warning, which prevents nothing; the arguments are those of `note`, and the next step in words.

        `file` is the path of another file than the root's lock file.
        """
        place = (file, None) if file else None
        self.diagnostics.append(
            Diagnostic(DiagnosticSeverity.WARNING, "", detail, address, place, hint, root, next_step)
        )

    def fail(self, root: str, error: LockLensError, *, address: str = "") -> None:
        """Add the error that leaves a root untouched; the arguments are those of `note`."""
        self.diagnostics.append(Diagnostic.of(error, address=address, root=root))

    @contextmanager
    def attempt(self, root: str) -> Iterator[None]:
        """Plan one root; an error leaves the root untouched and is added to the diagnostics."""
        files, number = dict(self.files), len(self.changes)
        had = sum(diagnostic.is_error for diagnostic in self.diagnostics)
        try:
            yield
        except LockLensError as error:
            self.fail(root, error)
        if sum(diagnostic.is_error for diagnostic in self.diagnostics) > had:
            self.files = files
            del self.changes[number:]

    def has_failed(self, root: str) -> bool:
        """True if an error leaves a root untouched."""
        return any(diagnostic.is_error and diagnostic.root == root for diagnostic in self.diagnostics)

    def plan(self, command: str) -> Plan:
        """Return the plan, without unchanged files, and with the command line that does the same."""
        files = sorted(
            (file for file in self.files.values() if file.old != file.new), key=lambda file: file_order(file.path)
        )
        written = [] if self._target.is_index else [file.path for file in files if file.new is not None]
        ignored = {path: _ignored_words(path, place) for path, place in _ignored(self.top, written).items()}
        for path, said in ignored.items():
            self.warn(path.rpartition("/")[0], said, hint="remove the pattern, or stage the file with `git add -f`")
        words = *map(self._describe, self.changes), *(line for line, _ in self._lines)
        changes = (self._describe(change, is_dry_run=True) for change in self.changes)
        proposal = FileChanges(self.top, tuple(files), words, command, self._target, tool=self.tool)
        return Plan(
            proposal,
            tuple(self.changes),
            tuple(self.diagnostics),
            dry_run_words=(*changes, *(line for _, line in self._lines)),
            ignored=ignored,
        )


def _ignored(top: Path, paths: Sequence[str]) -> Mapping[str, str]:
    """Return the files that git ignores, each with the place of the pattern; {} where git cannot say."""
    if not paths:
        return {}
    from locklens.project.git import Repository, UncommittedSide

    try:
        with Repository.discover(top) as repository:
            return {} if repository.is_bare else repository.ignored(UncommittedSide.WORK_TREE, paths)
    except RepositoryError:
        return {}


def _ignored_words(path: str, place: str) -> str:
    name = "the lock file" if path.endswith(LOCK_FILE) else path
    return f"git ignores {name} ({place}), so that no commit has it"


def path_below(top: Path, folder: Path) -> str:
    """Return the path of a root's folder in a plan: relative to the top, "" for the top."""
    path = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    return "" if path == "." else path


def planned_lock(root: Root, path: str, data: bytes) -> PlannedFile:
    """Return the planned lock file of a root, written as the tools write it; `path` is its folder in the plan."""
    return PlannedFile(path_in(path, LOCK_FILE), root.lock.data if root.lock.exists else None, data, is_tools=True)


def planned_changes(root: Root, path: str, after: Sequence[LockEntry]) -> tuple[PlannedChange, ...]:
    """Return the changes of providers; `root` and `path` are those of `planned_lock`."""
    return tuple(changes_between(path, root.lock, replace(root.lock, entries=tuple(after)), root.tool))


def changes_between(root: str, before: LockFile, after: LockFile, tool: Dialect | None) -> Iterator[PlannedChange]:
    """Yield the changes of providers between two states of a root's lock file, named as its tool names them.

    That of a provider that moved is one change.
    """
    moved = {new: old for old, new in moves_between(before, after).items()}
    sources = {*moved.values()}
    for address, old, new in differing(before, after):
        if address not in sources:
            source = moved.get(address)
            name = address.short(tool.default_host) if tool is not None else str(address)
            left = before.by_address[source] if source is not None else old
            yield PlannedChange(root, address, name, left, new, moved_from=source)


_NONE: Mapping[ProviderAddress, Any] = MappingProxyType({})


class ScopedPlanBuilder(PlanBuilder):
    """The plan builder of the roots of a scope.

    Attributes:
        disk: The files on disk.
        paths: The folder of each root, by its name in the scope.
        roots: The roots on disk; each once, in the order of the scope.

    Raises:
        ConfigurationError: A folder is not a root, or outside of the repository.
        RepositoryError: Git failed.
    """

    def __init__(self, scope: Scope) -> None:
        self._reader = RootReader(scope)
        top, self.disk, paths = _ground(scope)
        super().__init__(top)
        self.paths = dict(zip(scope.roots or (".",), paths, strict=True))
        self.roots = tuple(self.root(path) for path in dict.fromkeys(paths))
        self.tool = scope.tool

    def planned(self, scope: Scope) -> Scope:
        """Return a scope without the roots that an error leaves untouched, for the command line of the plan.

        Where every root has failed it is the whole scope.
        """
        failed = {diagnostic.root for diagnostic in self.diagnostics if diagnostic.is_error}
        return scope.without({name for name, path in self.paths.items() if path in failed})

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
            ConfigurationError: The folder is not a root.
        """
        root = self._reader.read(self.tree, path)
        if root is None:
            from locklens.operations.typed_names import hint_below

            raise no_root(self.disk, path, hint_below(self.top / path))
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
    edits: Mapping[ProviderAddress, tuple[ConstraintEdit, ...]] = _NONE,
    moved: Mapping[ProviderAddress, ProviderAddress] = _NONE,
    platforms: Mapping[ProviderAddress, tuple[Platform, ...]] = _NONE,
) -> None:
    """Plan new entries for some providers of a root, None to remove one; no other byte of its lock file changes.

    All is by provider: `edits` are the constraints that are rewritten for it, `moved` the one that it replaces and
    whose entry is removed, `platforms` those that it is locked for.
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


def warn_of_staged(draft: PlanBuilder, reverted: Mapping[str, Collection[ProviderAddress]]) -> None:
    """Warn that git's index, which is not written, keeps changes that a plan reverts in the work tree.

    `reverted` has the providers whose entries are reverted, by file; none for a file that has no entries or the same.
    """
    from locklens.project.git import Repository

    try:
        found = Repository.discover(draft.top)
    except NoRepositoryError:
        return
    with found as repository:
        if repository.is_bare:
            return
        head = None if repository.is_unborn else repository.resolve("HEAD")
        disk = FileSystem(draft.top)
        for path, indexed in repository.index.read(tuple(reverted)).items():
            planned = draft.files.get(path)
            left = planned.new if planned is not None else disk.read(path)
            committed = repository.show(head, path) if head is not None else None
            sides = committed, indexed.data, left and repository.index.as_committed(left, committed, path)
            if indexed.problem is not None or sides[1] in (sides[0], sides[2]):
                continue
            root, names = path.rpartition("/")[0], [path]
            if reverted[path]:
                then, staged, after = (parse(data or b"", path) for data in sides)
                kept = {one for one, *_ in differing(then, staged)} & {one for one, *_ in differing(staged, after)}
                tool = staged.writer or after.writer or then.writer
                names = [one.short(tool.default_host) if tool else str(one) for one in sorted(kept & {*reverted[path]})]
            if names:
                git = ("restore", "--staged") if head is not None else ("rm", "--cached")
                words = f"git's index keeps what is staged of {listing(names)}: the next commit has it"
                unstaging = shell_words(git_words(draft.top, *git, paths=[path]))
                draft.warn(root, words, hint=f"{unstaging} unstages all of the file")


def require_sound(root: Root) -> None:
    """Refuse a lock file that the tools would refuse.

    Raises:
        ConfigurationError: It is absent, broken, or ignored by git.
        StaleLockFileError: It was made since the root was read.
        RepositoryError: Git failed.
    """
    path = lock_path(root.path)
    if not root.lock.exists:
        if root.top is not None and (root.top / path).is_file():
            _refuse_unread(root.top, path)
        hint = f"locklens lock or {root.tool.command} init creates it"
        if not root.configuration.required():
            hint = "nothing that was read of the root requires a provider, so that init creates none"
        raise ConfigurationError("no lock file", path=path, hint=hint)
    require_valid(root.lock, hint=root.merging)


def _refuse_unread(top: Path, path: str) -> NoReturn:
    """Refuse a lock file that is on disk and was not there for the review."""
    from locklens.project.git import Repository

    with Repository.discover(top) as repository:
        if path in repository.index.ignored([path]):
            hint = f"`git check-ignore -v {shell_word(path)}` names the pattern"
            raise ConfigurationError("git ignores the lock file", path=path, hint=hint)
    raise StaleLockFileError("made on disk since it was reviewed", path=path, hint="review it again")


def require_valid(lock: LockFile, *, hint: str = "") -> None:
    """Refuse a lock file that the tools cannot read; `hint` is the next step, "" for the usual one.

    Raises:
        ConfigurationError: It has conflict markers or a syntax error; with file and line.
    """
    if lock.conflict is not None:
        line = lock.conflict.markers[0].line if lock.conflict.markers else None
        words = "unresolved conflict in the lock file"
        raise ConfigurationError(words, path=lock.path, line=line, hint=hint)
    if lock.problems:
        problem = lock.problems[0]
        words = f"{problem.summary}: {problem.detail}"
        hint = hint or ("fix the file first" if lock.data else "")
        raise ConfigurationError(words, path=lock.path, line=problem.line, hint=hint)


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
