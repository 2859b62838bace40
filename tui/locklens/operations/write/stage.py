"""Plans to stage reviewed changes: the blocks of marked providers are put into git's index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.diagnostics import NextStep
from locklens.errors import ConfigurationError, LockLensError, StaleLockFileError
from locklens.lockfile.parse import parse
from locklens.lockfile.splice import graft
from locklens.machine import git_words
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import Plan, PlannedChange, PlannedFile, Scope, command_line
from locklens.operations.plan.builder import PlanBuilder, changes_between
from locklens.operations.root_modules import Root, lock_path
from locklens.operations.typed_names import selected_by_root
from locklens.operations.write.apply import FileOperation, listed_providers, listed_roots, no_progress
from locklens.project.git.index import IndexedFile
from locklens.project.tree import folder_of
from locklens.review.model import Change, ChangeKind, LockStatus, Review, RootReview
from locklens.storage.journal import WriteTarget
from locklens.text import shell_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockFile
    from locklens.project.git.index import GitIndex
    from locklens.project.gittree import IndexTree
    from locklens.project.tree import WorkTree


class StagedBlocks(Struct, frozen=True):
    """The blocks to stage of one root.

    Attributes:
        root: The reviewed root; a file that changed since is not staged.
        left: Names of the providers that changed too and are not selected.
        staged: The providers whose blocks the index already has.
    """

    root: RootReview
    providers: frozenset[ProviderAddress]
    left: tuple[str, ...] = ()
    staged: frozenset[ProviderAddress] = frozenset()


class Stage(FileOperation, frozen=True):
    """Puts the blocks of selected providers into git's index, like `git add -p`.

    Attributes:
        with_configuration: True to stage their edited and deleted configuration files too, each as a whole.
    """

    top: Path
    chosen: tuple[StagedBlocks, ...]
    with_configuration: bool = False

    @property
    def title(self) -> str:
        """A short title, of what is not staged yet if there is any."""
        new = [replace(each, providers=each.providers - each.staged) for each in self.chosen]
        titled = [each for each in new if each.providers] or self.chosen
        hosts = {each.root.tool.default_host for each in titled}
        host = hosts.pop() if len(hosts) == 1 else ""  # of two tools, a short name would be that of two providers
        names = sorted({one.short(host) for each in titled for one in each.providers})
        places = [each.root.path or "." for each in titled]
        return f"Stage {listed_providers(tuple(names))} in {listed_roots(places)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan to stage the blocks of selected providers, byte for byte like `git add`.

        Where no other provider differs between index and work tree, the whole file is staged, with header and layout.

        Raises:
            RepositoryError: Git failed.
        """
        from locklens.project.git import Repository, UncommittedSide
        from locklens.project.gittree import IndexTree, SparseWorkTree

        with Repository.discover(self.top) as repository:
            staging = _Staging(repository.index, SparseWorkTree(repository), on_root)
            staging.run(self.chosen)
            visible = frozenset(repository.paths(UncommittedSide.WORK_TREE))
            indexed = IndexTree(repository)
            staging.take_configuration(self.chosen, visible, indexed, is_staged=self.with_configuration)
            return staging.plan()


def marked_blocks(review: Review, top: Path | None, marks: Collection[str]) -> Stage:
    """Return the operation that stages every change of a work tree whose id is among those marked as reviewed.

    Raises:
        ConfigurationError: The review is not of a work tree, or nothing is marked.
    """
    if review.head.kind != "worktree" or top is None:
        words = "only changes of the work tree can be staged"
        raise ConfigurationError(words, hint="B goes back to it")
    chosen = tuple(
        blocks for blocks in (_chosen(root, marks, review.staged) for root in review.roots) if blocks is not None
    )
    if not chosen:
        raise ConfigurationError("no change is marked as reviewed", hint="mark changes with space first")
    return Stage(top, chosen)


def named_blocks(review: Review, top: Path, providers: Sequence[str]) -> Stage:
    """Return the operation that stages the changed blocks of providers, named as typed; () for every change.

    Raises:
        ConfigurationError: A provider is invalid, ambiguous, or in none of the roots.
    """
    roots = [
        Root(root.path, root.tool, root.new, root.configuration, _addresses(root.changes), top)
        for root in review.roots
        if root.configuration is not None
    ]
    selected = selected_by_root(providers, roots)
    marks = {
        root.path: frozenset(
            change.id for change in root.changes if not providers or selected[root.path] & _addresses([change])
        )
        for root in review.roots
        if root.path in selected
    }
    chosen = (
        # Of a file in conflict nobody knows what changed: the plan says why it stays.
        StagedBlocks(root, frozenset())
        if root.new.conflict is not None
        else _chosen(root, marks[root.path], review.staged)
        for root in review.roots
        if root.path in marks
    )
    return Stage(top, tuple(blocks for blocks in chosen if blocks is not None))


def _addresses(changes: Iterable[Change]) -> frozenset[ProviderAddress]:
    """Return the providers of changes; a moved provider has two."""
    pairs = ((change.address, change.moved_from) for change in changes)
    return frozenset(address for pair in pairs for address in pair if address is not None)


def _chosen(
    root: RootReview, marks: Collection[str], staged: Collection[tuple[str, ProviderAddress]]
) -> StagedBlocks | None:
    changes = [change for change in root.changes if change.kind is not ChangeKind.UNCHANGED]
    marked = [change for change in changes if change.id in marks]
    if not marked:
        return None
    # A moved provider is two blocks: the old address is removed, the new one added.
    providers = _addresses(marked)
    left = tuple(change.address.short(root.tool.default_host) for change in changes if change.id not in marks)
    done = _addresses(change for change in marked if (root.lock_file, change.address) in staged)
    return StagedBlocks(root, providers, left, done)


class _Staging:
    """The plan under construction, and the files that are staged whole or in part."""

    def __init__(self, index: GitIndex, disk: WorkTree, on_root: Callable[[str], None]) -> None:
        self._index = index
        self._disk = disk
        self._on_root = on_root
        self._draft = PlanBuilder(disk.top, WriteTarget.INDEX, staged_words)
        self._whole: list[str] = []
        self._partial: dict[tuple[str, ...], list[str]] = {}

    def run(self, chosen: Iterable[StagedBlocks]) -> None:
        """Plan every root; one with an error is left untouched."""
        by_path = {blocks.root.lock_file: blocks for blocks in chosen}
        before = self._index.read(tuple(by_path))
        sound = {path: blocks for path, blocks in by_path.items() if self._is_sound(blocks, before[path])}
        there = [path for path, blocks in sound.items() if blocks.root.status is not LockStatus.DELETED]
        added = self._added(there, {path: blocks.root for path, blocks in sound.items()})
        for path, blocks in sound.items():
            self._on_root(blocks.root.path)
            if path in added or path not in there:
                # The file must still be the reviewed one after git has read it.
                with self._draft.attempt(blocks.root.path):
                    self._require_reviewed(blocks.root)
                    self._stage(blocks, before[path], added.get(path))

    def take_configuration(
        self, chosen: Iterable[StagedBlocks], visible: Collection[str], indexed: IndexTree, *, is_staged: bool
    ) -> None:
        """Plan to stage the configuration files that differ from the index or are deleted, or warn of them.

        `visible` are the files of the work tree that git does not ignore.
        """
        planned = {path.rpartition("/")[0] for path in self._draft.files}
        roots = [blocks.root for blocks in chosen if blocks.root.path in planned]
        files = {file: root for root in reversed(roots) for file in _configuration_files(root) if file in visible}
        deleted = _deleted(roots, [path for path in indexed.paths() if path not in visible], indexed)
        files |= deleted
        before = self._index.read(tuple(files))
        edited = [file for file in files if file not in deleted and self._disk.read(file) != before[file].data]
        added = self._added(edited, files) | dict.fromkeys(deleted, IndexedFile())
        for file in sorted((*edited, *deleted)):
            new, old = added.get(file), before[file]
            if new is None or new.data == old.data:
                continue
            root = files[file]
            if not is_staged:
                next_one = "the index's" if old.data is not None else "no such file"
                words = f"{file} differs from the index and is not staged: the next commit has {next_one}"
                if file in deleted:
                    words = f"{file} is deleted, which is not staged: the next commit still has the file"
                hint = f"{self._git_add(file)} stages {'its deletion' if file in deleted else 'the file'} too"
                self._draft.warn(root.path, words, hint=hint, next_step=NextStep.STAGE_CONFIGURATION)
                continue
            with self._draft.attempt(root.path):
                if old.problem is not None:
                    raise old.problem
                self._draft.put(PlannedFile(file, old.data, new.data))
                self._whole.append(file)
                what = f"the deletion of {file}" if file in deleted else file
                self._draft.describe(f"{what} is staged", dry_run=f"{what} would be staged")

    def plan(self) -> Plan:
        """Return the plan."""
        commands = [self._git_add(*self._whole)] if self._whole else []
        for names, roots in self._partial.items():
            where = Scope.at(Path(self._disk.top), roots, RootSettings())
            commands.append(command_line("stage", where, names))
        # `stage` ends with 1 for what it finds in the blocks that it has staged.
        return self._draft.plan("; ".join(commands))

    def _git_add(self, *paths: str) -> str:
        return shell_words(git_words(self._disk.top, "add", paths=paths))

    def _is_sound(self, blocks: StagedBlocks, indexed: IndexedFile) -> bool:
        with self._draft.attempt(blocks.root.path):
            self._require_reviewed(blocks.root)
            if indexed.problem is not None:
                raise indexed.problem
            if blocks.root.renamed_from is not None and indexed.data is None:
                words = f"the lock file was moved from {blocks.root.renamed_from or '.'}, and a move is staged whole"
                old = lock_path(blocks.root.renamed_from)
                unstaging = shell_words(git_words(self._disk.top, "rm", "--cached", paths=[old]))
                hint = f"{self._git_add(blocks.root.lock_file)} && {unstaging} stages the move"
                raise ConfigurationError(words, path=blocks.root.lock_file, hint=hint)
        return not self._draft.has_failed(blocks.root.path)

    def _require_reviewed(self, root: RootReview) -> None:
        data = self._disk.read(root.lock_file)
        reviewed = self._index.as_committed(data or b"", root.old.data, root.lock_file)
        if reviewed != root.new.data or (data is None) != (root.status is LockStatus.DELETED):
            hint = "review it again"
            raise StaleLockFileError("changed on disk since it was reviewed", path=root.lock_file, hint=hint)

    def _added(self, paths: list[str], roots: Mapping[str, RootReview]) -> dict[str, IndexedFile]:
        """Return the files as `git add` would stage them; if git refuses one of several, each is tried alone."""
        try:
            return self._index.as_added(paths) if paths else {}
        except LockLensError as error:
            if len(paths) == 1:
                self._draft.fail(roots[paths[0]].path, error)
                return {}
        return {path: added for name in paths for path, added in self._added([name], roots).items()}

    def _stage(self, blocks: StagedBlocks, indexed: IndexedFile, added: IndexedFile | None) -> None:
        root = blocks.root
        new = self._grafted(blocks, indexed.data, added.data if added is not None else None)
        if new == indexed.data:
            self._draft.note(root.path, "already staged")
            return
        self._draft.put(PlannedFile(root.lock_file, indexed.data, new))
        is_whole = new == (added.data if added is not None else None)
        if is_whole:
            self._whole.append(root.lock_file)
        else:
            names = sorted(one.short(root.tool.default_host) for one in blocks.providers)
            self._partial.setdefault(tuple(names), []).append(root.path)
        self._report(blocks, indexed.data, new, is_whole=is_whole)

    def _grafted(self, blocks: StagedBlocks, old: bytes | None, donor: bytes | None) -> bytes | None:
        try:
            new = graft(old or b"", donor or b"", blocks.providers, dialect=blocks.root.tool)
        except ConfigurationError as error:
            hint = f"{self._git_add(blocks.root.lock_file)} stages the whole file"
            raise ConfigurationError(str(error), path=blocks.root.lock_file, hint=hint) from error
        return None if donor is None and not new else new

    @staticmethod
    def _read(root: RootReview, data: bytes | None) -> LockFile:
        """Parse bytes of the index as a lock file; the reviewed one is parsed already."""
        is_reviewed = data == root.new.data and root.new.exists
        return root.new if is_reviewed else parse(data or b"", root.lock_file, dialect=root.tool)

    def _report(self, blocks: StagedBlocks, old: bytes | None, new: bytes | None, *, is_whole: bool) -> None:
        root = blocks.root
        before, after = self._read(root, old), self._read(root, new)
        self._draft.changes += changes_between(root.path, before, after, root.tool)
        if is_whole:
            name = root.path or "."
            self._draft.describe(
                f"{name}: the whole lock file is staged", dry_run=f"{name}: the whole lock file would be staged"
            )
        elif blocks.left:
            self._draft.note(root.path, f"left in the work tree: {', '.join(blocks.left)}")


def _deleted(roots: Iterable[RootReview], gone: Collection[str], indexed: IndexTree) -> dict[str, RootReview]:
    """Return those of the deleted files that are configuration of roots or of the modules that these call.

    The index's calls count as well: with a whole module, its call may be deleted, too.
    """
    from locklens.project.touched_roots import LocalCalls

    found: dict[str, RootReview] = {}
    calls = LocalCalls(indexed)
    for root in roots:
        suffixes = (*root.tool.file_suffixes, *root.tool.test_suffixes)
        of_tool = [path for path in gone if path not in found and path.endswith(suffixes)]
        if of_tool:
            folders = {root.path, *map(folder_of, _configuration_files(root))} | calls.reached_from([root.path])
            found |= {path: root for path in of_tool if folder_of(path) in folders}
    return found


def _configuration_files(root: RootReview) -> Iterable[str]:
    return root.configuration.files if root.configuration is not None else ()


def staged_words(change: PlannedChange, *, is_dry_run: bool = False) -> str:
    """Describe the staged change of a provider in one line; see `change_words`."""
    return f"{_versions(change)} {'would be' if is_dry_run else 'is'} staged"


def unstaged_words(change: PlannedChange, *, is_dry_run: bool = False) -> str:
    """Describe a change of the index that takes the staged change of a provider back; see `change_words`."""
    staged = _versions(replace(change, old=change.new, new=change.old))
    return f"{staged} {'would no longer be staged' if is_dry_run else 'is no longer staged'}"


def _versions(change: PlannedChange) -> str:
    old, new = (str(entry.version) if entry else "none" for entry in (change.old, change.new))
    return f"{change.root or '.'}: {change.name} {new if old == new else f'{old} -> {new}'}"
