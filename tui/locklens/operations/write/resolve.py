"""Merges lock files that git left in conflict, from the stages of git's index, or else from the markers."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.diagnostics import NextStep
from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError, UnmergedFileError
from locklens.lockfile.parse import MAX_LOCK_FILE_BYTES, conflict_sides, parse
from locklens.machine import git_words
from locklens.operations.merge import (
    CommittedMerge,
    MergeSides,
    Preference,
    committed_merge,
    merge_sides,
    newest_of_both,
    ways_to_settle,
    why_no_newest,
)
from locklens.operations.plan import Plan, Scope, command_line
from locklens.operations.plan.builder import ScopedPlanBuilder, changes_between
from locklens.operations.write.apply import FileOperation, listed_roots, no_progress
from locklens.project.tree import folder_of
from locklens.text import counted, listing, shell_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockFile
    from locklens.lockfile.merge import MergeConflict
    from locklens.operations.plan.builder import PlanBuilder
    from locklens.operations.root_modules import Root
    from locklens.project.git import Repository
    from locklens.versions import Version

_TITLES = {
    None: "",
    Preference.OURS: ", our version where both differ",
    Preference.THEIRS: ", their version where both differ",
    Preference.NEWEST: ", the newer of two versions",
}

NO_ENTRY = "removed"
"""Stands for the version of a side that has no entry."""

KnownSides = dict[tuple[str, str, Preference], str]
"""What is known about the entry of each side, in words, by root and the root's name of the provider."""

_STAGES = "ours (stage 2)", "theirs (stage 3)"


class Clash(Struct, frozen=True):
    """An entry that both sides of a merge changed in ways that cannot both hold.

    Attributes:
        reason: A clause, such as "two versions were selected".
        ours: Our side: its name, and the version or "removed".
        theirs: The same of the other side.
        newest: The newer version; None where it settles nothing.
        problem: Why the newer version settles nothing; "" where it does.
    """

    root: str
    name: str
    reason: str
    ours: tuple[str, str]
    theirs: tuple[str, str]
    newest: Version | None = None
    problem: str = ""

    @property
    def words(self) -> str:
        """The reason with both versions."""
        (our_name, our_version), (their_name, their_version) = self.ours, self.theirs
        return f"{self.reason}: {our_version} in {our_name}, {their_version} in {their_name}"


class ResolveConflicts(FileOperation, frozen=True):
    """Merges lock files that git left in conflict; a root with an entry that clashes is left untouched.

    Attributes:
        prefer: The side that settles entries that clash; None leaves them open.
        selected: The side that settles the entry of one provider instead, by root (None: each one) and the
            provider, as the root names it or by its address.
    """

    where: Scope
    prefer: Preference | None = None
    selected: Mapping[tuple[str | None, str], Preference] = {}

    @property
    def title(self) -> str:
        """A short title."""
        how = ", with the selected sides" if self.selected else _TITLES[self.prefer]
        return f"Merge the lock file of {listed_roots(self.where.roots)}{how}"

    def settled_by(self, selected: Mapping[tuple[str, str], Preference]) -> ResolveConflicts:
        """Return the same merge with what was selected for each entry that clashes."""
        kinds = set(selected.values())
        return replace(self, prefer=kinds.pop()) if len(kinds) == 1 else replace(self, selected={**selected})

    def taking(self, side: Preference) -> ResolveConflicts:
        """Return the same merge with the entries of one side where both differ."""
        return replace(self, prefer=side, selected={})

    def clashes(self) -> tuple[Clash, ...]:
        """Return the entries that clash; those of roots that cannot be merged at all are left out.

        Raises:
            ConfigurationError: A folder is not a root, or no root can be merged.
            RepositoryError: Git failed.
        """
        draft = ScopedPlanBuilder(self.where)
        found: list[Clash] = []
        failures: list[ConfigurationError] = []
        with repository_at(draft.top) as repository:
            for root in draft.roots:
                try:
                    found += _Conflicted.read(root, repository).clashes(partial(self._preference, root))
                except ConfigurationError as error:
                    failures.append(error)  # The plan of the others reports it.
        if failures and len(failures) == len(draft.roots):
            raise failures[0]
        return tuple(found)

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the merged lock files.

        Raises:
            ConfigurationError: A folder is not a root, or a side was selected for a provider without a conflict.
            RepositoryError: Git failed.
        """
        draft = ScopedPlanBuilder(self.where)
        unused = {name for root, name in self.selected if root is None}
        with repository_at(draft.top) as repository:
            for root in draft.roots:
                on_root(root.path)
                with draft.attempt(root.path):
                    unused -= self._plan_root(draft, root, repository)
        plan = replace(draft.plan(self._command(draft)), is_merge=True)
        if unused and not plan.failures:
            hint = "name a provider of the conflict, such as hashicorp/aws"
            raise ConfigurationError(f"no conflict is in {listing(sorted(unused))}", hint=hint)
        return plan

    def _command(self, draft: ScopedPlanBuilder) -> str:
        """Return the command line; one for each root where what was selected differs between them."""
        usual = ["--prefer", self.prefer.value] if self.prefer is not None else []
        of_roots: dict[tuple[str, ...], list[str]] = {}
        for root in draft.planned(self.where).roots:
            of_root = {None, draft.paths[root]}
            words = [f"--prefer={name}={side}" for (of, name), side in self.selected.items() if of in of_root]
            of_roots.setdefault((*usual, *words), []).append(root)
        commands = (
            command_line("merge", replace(self.where, roots=tuple(roots)), words) for words, roots in of_roots.items()
        )
        return " && ".join(commands)

    def _preference(self, root: Root, address: ProviderAddress) -> Preference | None:
        for key in self._keys(root, address):
            if key in self.selected:
                return self.selected[key]
        return self.prefer

    def _keys(self, root: Root, address: ProviderAddress) -> tuple[tuple[str | None, str], ...]:
        name = root.name_of(address)
        return (root.path, name), (None, name), (None, str(address))

    def _plan_root(self, draft: ScopedPlanBuilder, root: Root, repository: Repository | None) -> set[str]:
        """Plan one root, and return the names of `selected` that settled one of its entries."""
        conflicted = _Conflicted.read(root, repository)
        prefer = partial(self._preference, root)
        merged, settled = merge_sides(conflicted.sides, prefer=prefer, dialect=root.tool)
        if merged.conflicts:
            for conflict, clash in zip(merged.conflicts, conflicted.clashes(prefer), strict=True):
                prefers_newest = prefer(conflict.address) is Preference.NEWEST
                words = f"{clash.words}; {clash.problem}" if prefers_newest and clash.problem else clash.words
                hint = ways_to_settle(has_newest=clash.newest is not None)
                draft.fail(root.path, ConfigurationError(words, hint=hint), address=clash.name)
            return set()
        after = parse(merged.data, root.lock.path, dialect=root.tool)
        if not after.is_valid:
            problem = after.problems[0]
            words = f"the merged file would be refused: line {problem.line}: {problem.summary}"
            raise ConfigurationError(words, path=root.lock.path, hint="resolve the conflict by hand")
        if merged.data == root.lock.data:
            draft.note(root.path, "merged already")
        else:
            committed = _committed(root.lock.path, repository)
            _put_merged(draft, root, conflicted.sides.ours if committed is None else committed, after)
        for address in merged.united:
            draft.note(root.path, "the hashes of both sides are united", address=root.name_of(address))
        for entry in settled:
            draft.note(root.path, entry.words, address=root.name_of(entry.address))
        conflicted.note(draft)
        keys = {key for entry in settled for key in self._keys(root, entry.address)}
        return {name for _, name in keys & self.selected.keys()}


class _Conflicted(Struct, frozen=True):
    """A lock file in conflict, and the three sides of its merge.

    Attributes:
        names: The names of our side and of the other.
        is_staged: True if the sides are the stages of the index.
        merge_commit: The merge whose parents the sides are of; "" for none. Of neither, they are between the markers.
    """

    root: Root
    sides: MergeSides
    names: tuple[str, str]
    is_staged: bool = False
    merge_commit: str = ""

    @classmethod
    def read(cls, root: Root, repository: Repository | None) -> _Conflicted:
        """Read the sides, from git if there is a repository.

        Raises:
            ConfigurationError: The lock file is in no conflict, its markers are ambiguous, or a side removed it.
            RepositoryError: Git failed.
        """
        conflict = root.lock.conflict
        if (left := unmerged(root.lock.path, repository)) is not None:
            assert repository is not None
            names = conflict.names if conflict is not None and conflict.markers else _STAGES
            return cls(root, _stages(left, root.lock.path, repository.top), names, is_staged=True)
        sides = conflict_sides(root.lock.data)
        if sides is not None and conflict is not None:
            if (merged := _merged_in(root.lock, repository)) is not None:
                names = replace(conflict, first_parent=merged.first_parent).names
                return cls(root, merged.sides, names, merge_commit=merged.commit)
            return cls(root, MergeSides(*sides), conflict.names)
        problem = root.lock.problems[0] if root.lock.problems else None
        if problem is None:
            raise ConfigurationError("there is no merge conflict", path=root.lock.path)
        words, hint = f"{problem.summary}: {problem.detail}", "resolve the conflict by hand"
        raise ConfigurationError(words, path=root.lock.path, line=problem.line, hint=hint)

    def clashes(self, prefer: Callable[[ProviderAddress], Preference | None]) -> tuple[Clash, ...]:
        """Return the entries that clash, by what `prefer` returns to settle that of a provider; None leaves it open."""
        merged, _ = merge_sides(self.sides, prefer=prefer, dialect=self.root.tool)
        return tuple(map(self._clash, merged.conflicts))

    def _clash(self, conflict: MergeConflict) -> Clash:
        newest = newest_of_both(conflict)
        ours, theirs = (str(one.version) if one is not None else NO_ENTRY for one in (conflict.ours, conflict.theirs))
        return Clash(
            self.root.path,
            self.root.name_of(conflict.address),
            conflict.reason,
            (self.names[0], ours),
            (self.names[1], theirs),
            newest.version if newest is not None else None,
            why_no_newest(conflict),
        )

    def note(self, draft: ScopedPlanBuilder) -> None:
        """Note where the sides are from, and the next step in git."""
        path, data = self.root.path, self.root.lock.data
        if self.merge_commit:
            draft.note(path, f"the sides are those of the parents of commit {self.merge_commit[:12]}")
            return
        if not self.is_staged:
            words = "merged from the conflict markers, since git's index no longer has both sides"
            draft.warn(path, words, hint="git merged the other entries line by line: locklens hashes verifies them")
            return
        sides = (self.sides.base, self.sides.ours, self.sides.theirs)
        known = {line.rstrip(b"\r") for side in sides for line in side.split(b"\n")}
        parts = conflict_sides(data) or (b"", data, data)
        if any(line.rstrip(b"\r") not in known for part in parts for line in part.split(b"\n")):
            draft.warn(path, "lines that were edited since the merge are replaced: the sides are those of git's index")
        note_next_step(draft, self.root.lock.path)


def note_next_step(draft: PlanBuilder, path: str) -> None:
    """Note the command that marks a lock file as resolved in git."""
    command = shell_words(git_words(draft.top, "add", paths=[path]))
    draft.note(folder_of(path), f"{command} then marks the conflict as resolved", next_step=NextStep.MARK_RESOLVED)


def _put_merged(draft: ScopedPlanBuilder, root: Root, before: bytes, after: LockFile) -> None:
    """Plan a merged lock file, with its changes since it was as `before`."""
    old = parse(before, root.lock.path, dialect=root.tool)
    draft.changes += changes_between(root.path, old, after, root.tool)
    name, count = root.path or ".", counted(len(after.entries), "provider")
    draft.describe(f"{name}: conflict merged", dry_run=f"{name}: would merge the conflict, {count}")
    draft.put_lock(root, after.data)


@contextmanager
def repository_at(top: Path) -> Iterator[Repository | None]:
    """Open the repository of a top folder, for all questions about its lock files; None without one.

    Raises:
        RepositoryError: Git failed.
    """
    from locklens.project.git import Repository

    repository = None
    with suppress(NoRepositoryError):
        repository = Repository.discover(top)
    with repository or nullcontext():
        yield repository


def _committed(path: str, repository: Repository | None) -> bytes | None:
    """Return a file of HEAD; None without one."""
    return None if repository is None or repository.is_unborn else repository.show("HEAD", path)


def _merged_in(lock: LockFile, repository: Repository | None) -> CommittedMerge | None:
    try:
        return None if repository is None else committed_merge(repository, lock.path, lock.data)
    except RepositoryError:
        return None  # in a clone that lacks a side, the markers are what there is


def unmerged(path: str, repository: Repository | None) -> UnmergedFileError | None:
    """Return what git's index has of a file that is not merged; None where it is merged, or without git.

    Raises:
        RepositoryError: Git failed.
    """
    if repository is None:
        return None
    from locklens.project.gittree import IndexTree

    try:
        IndexTree(repository).read(path)
    except UnmergedFileError as error:
        return error
    except ConfigurationError:
        return None  # Git has something other than a file there: what is on disk decides.
    return None


def _stages(left: UnmergedFileError, path: str, top: Path) -> MergeSides:
    """Return the sides of a file that is not merged.

    Raises:
        ConfigurationError: A side is too large, or one removed the file: then there are no entries to merge.
    """
    if left.removal:
        remove, keep = (shell_words(git_words(top, verb, paths=[path])) for verb in ("rm", "add"))
        raise ConfigurationError(left.removal, path=path, hint=f"{remove} removes it, {keep} keeps it as it is here")
    sides = MergeSides(left.base or b"", left.ours or b"", left.theirs or b"")
    if any(len(side) > MAX_LOCK_FILE_BYTES for side in (sides.base, sides.ours, sides.theirs)):
        raise ConfigurationError(f"larger than {MAX_LOCK_FILE_BYTES // 1024} KiB", path=path)
    return sides
