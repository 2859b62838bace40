"""Plans to bring hashes into the lock files of any number of roots, as `providers lock` does for one.

All roots are read first; then each version that any of them wants is asked for once, and each package is fetched once,
all at the same time. A root in which anything fails stays as it is, and says so; the others go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import LockLensError
from locklens.install.lock import SUMMARY
from locklens.lockfile.update import after_lock, difference, rewritten
from locklens.operations.plan.builder import path_below, planned_changes, planned_lock
from locklens.operations.plan.command_line import command_line
from locklens.operations.plan.files import FileChanges
from locklens.operations.plan.model import Plan, PlanFailure, PlannedChange, PlanNote, Scope, change_words
from locklens.operations.root_modules import RootReader, enclosing, require_folder
from locklens.operations.write.diagnostics import (
    RootDiagnostic,
    RootResult,
    named,
    orphans_kept,
    unreadable,
    untouched,
    warnings,
)
from locklens.operations.write.source import VersionMove
from locklens.project.tree import FileSystem, name_bytes
from locklens.selection import combined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.install.model import ProviderRequirement
    from locklens.lockfile.model import LockEntry
    from locklens.operations.plan.files import PlannedFile
    from locklens.operations.root_modules import Root
    from locklens.operations.write.source import ProviderSource
    from locklens.versions import Version


class Lock(Struct, frozen=True):
    """Brings the hashes of platforms' packages into lock files.

    Attributes:
        where: In which roots.
        platforms: Whose packages; () for this machine's.
        providers: As typed, as the tool reads sources; () for all that are required.
        accepts_republished: Whether a locked package may be gone from what its publisher signs today.
        allows_missing: Whether modules may be missing, whose requirements then do not count.
    """

    where: Scope
    platforms: tuple[Platform, ...] = ()
    providers: tuple[str, ...] = ()
    accepts_republished: bool = False
    allows_missing: bool = False

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        what = ", ".join(map(str, self.platforms)) or "this machine's platform"
        roots = self.where.roots
        where = (roots[0] if roots else ".") if len(roots) < 2 else f"{len(roots)} roots"
        return f"Lock {what} in {where}"

    def plan(self, supply: ProviderSource, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:
        """Finds out what is to be written."""
        return plan_lock(self, supply, on_root=on_root).plan


class LockRun(Struct, frozen=True):
    """What came of `lock`.

    Attributes:
        plan: For all roots together.
        outcomes: Of each root, as it was named; an error where it could not even be read.
    """

    plan: Plan
    outcomes: dict[str, RootResult | LockLensError]


class _Work(Struct):
    """One root while it is worked on.

    Attributes:
        root: As it was read.
        wanted: What is to be locked.
        moves: The versions that were chosen.
        troubles: Why it stays as it is.
    """

    root: Root
    wanted: list[ProviderRequirement]
    moves: list[VersionMove]
    troubles: list[RootDiagnostic]


def plan_lock(intent: Lock, supply: ProviderSource, *, on_root: Callable[[str], None] = lambda _: None) -> LockRun:
    """Finds out what the lock files of all roots become. Nothing is written.

    Args:
        intent: What is wanted.
        supply: Where versions and hashes are from.
        on_root: Told of each root once everything was asked and fetched, before its own hashes are put together.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    return _Locking(intent, supply, on_root).run()


class _Locking:
    def __init__(self, intent: Lock, supply: ProviderSource, on_root: Callable[[str], None]) -> None:
        self._intent = intent
        self._supply = supply
        self._on_root = on_root
        where = intent.where
        self._tree = FileSystem(where.folder)
        self._reader = RootReader(where.tool, where.test_directory, for_locking=True)
        self._platforms = intent.platforms or (supply.here,)

    def run(self) -> LockRun:
        """Reads, asks, fetches, and puts together."""
        names = tuple(dict.fromkeys(self._intent.where.roots)) or ("",)
        read = {name: self._read(name) for name in names}
        works = [one for one in read.values() if isinstance(one, _Work)]
        for tool in {one.root.tool.name: one.root.tool for one in works}.values():
            own = [one for one in works if one.root.tool is tool]
            self._choose(own, tool)
            self._supply.fetch([move for one in own for move in one.moves], tool)
        planning = _Planning(self._intent.where.folder, [one.root for one in works])
        outcomes: dict[str, RootResult | LockLensError] = {}
        for name, one in read.items():
            self._on_root(name)
            if isinstance(one, LockLensError):
                outcomes[name] = one
                planning.failures.append(PlanFailure(name, "", one))
            else:
                outcomes[name] = self._settle(one, planning)
        return LockRun(planning.plan(self._command()), outcomes)

    def _read(self, name: str) -> _Work | LockLensError:
        intent = self._intent
        try:
            root = self._reader.read_folder(self._tree, require_folder(self._tree, name))
        except LockLensError as error:
            return error
        troubles = unreadable(root, allows_missing=intent.allows_missing)
        wanted = root.wanted() if not troubles else []
        if not troubles and intent.providers:
            wanted, troubles = named(root, intent.providers, wanted)
        return _Work(root, [] if troubles else wanted, [], troubles)

    def _choose(self, works: Sequence[_Work], tool: Dialect) -> None:
        """Chooses versions: what is wanted alike in several roots is asked about once."""
        alike: dict[tuple[ProviderAddress, str, Version | None], ProviderRequirement] = {}
        for work in works:
            for one in work.wanted:
                alike.setdefault(_question(one), replace(one, first=self._platforms[0]))
        found = dict(zip(alike, self._supply.choose(list(alike.values()), tool), strict=True))
        for work in works:
            chosen = [(one, found[_question(one)]) for one in work.wanted]
            work.troubles += [_trouble(error) for _, error in chosen if isinstance(error, LockLensError)]
            if not work.troubles:
                work.moves = [
                    self._move(one, version) for one, version in chosen if not isinstance(version, LockLensError)
                ]

    def _move(self, wanted: ProviderRequirement, version: Version) -> VersionMove:
        constraints, accepts = combined(wanted.requirements), self._intent.accepts_republished
        return VersionMove(wanted.address, version, self._platforms, constraints, wanted.prior, accepts)

    def _settle(self, work: _Work, planning: _Planning) -> RootResult:
        """Puts one root's hashes together, and plans its lock file."""
        root = work.root
        settled: list[LockEntry] = []
        for one in self._supply.entries(work.moves, root.tool).values() if work.moves else ():
            if isinstance(one, LockLensError):
                work.troubles.append(_trouble(one))
            else:
                settled.append(one)
        if work.troubles:
            outcome = untouched(root, work.troubles)
        else:
            before = root.migration.entries
            after = after_lock(before, settled)
            data = rewritten(root.lock, after, root.tool)
            outcome = RootResult(
                root.name,
                root.lock.path,
                root.tool,
                difference=difference(root.lock.entries, after),
                was_absent=not root.lock.entries,
                before=root.lock.data,
                after=data,
                planned=planned_lock(root, planning.path(root), data) if data != root.lock.data else None,
                troubles=tuple(warnings(root)),
                notes=tuple(orphans_kept(root, after)),
            )
            planning.put(root, outcome, self._changes(root, planning.path(root), after))
        planning.tell(root, outcome)
        return outcome

    def _changes(self, root: Root, path: str, after: Sequence[LockEntry]) -> Iterable[PlannedChange]:
        """What becomes of each provider, with the platforms whose hashes are new to it."""
        for change in planned_changes(root, path, after):
            if change.old is None or change.new is None or change.old.version != change.new.version:
                yield change
                continue
            h1s = self._supply.h1s(change.address, change.new.version, root.tool)
            fresh = [one for one in self._platforms if one in h1s and h1s[one] not in change.old.hashes]
            yield replace(change, platforms=tuple(fresh))

    def _command(self) -> str:
        intent = self._intent
        words = [*intent.providers]
        words += [word for platform in intent.platforms for word in ("--platform", str(platform))]
        words += ["--accept-republished"] if intent.accepts_republished else []
        words += ["--allow-missing-modules"] if intent.allows_missing else []
        return command_line("lock", intent.where, words)


class _Planning:
    """The plan while it is made.

    Args:
        folder: What the roots are named from.
        roots: All that may be written in.
    """

    def __init__(self, folder: Path, roots: Sequence[Root]) -> None:
        self._folder = folder
        self._top = enclosing(folder, [folder / root.path for root in roots])
        self._files: list[PlannedFile] = []
        self._changes: list[PlannedChange] = []
        self._remarks: list[PlanNote] = []
        self.failures: list[PlanFailure] = []

    def path(self, root: Root) -> str:
        """What a root is called in the plan."""
        return path_below(self._top, self._folder / root.path)

    def put(self, root: Root, outcome: RootResult, changed: Iterable[PlannedChange]) -> None:
        """Plans a root's lock file."""
        if outcome.planned is not None:
            self._files.append(outcome.planned)
            self._changes += changed
        else:
            self._remarks.append(PlanNote(self.path(root), "", "its hashes are complete"))

    def tell(self, root: Root, outcome: RootResult) -> None:
        """Keeps what else there is to say of a root."""
        path = self.path(root)
        for one in outcome.troubles:
            words = f"{one.summary}: {one.words}"
            if one.is_warning:
                self._remarks.append(PlanNote(path, "", words))
            else:
                self.failures.append(PlanFailure(path, "", LockLensError(words, hint=one.hint)))
        self._remarks += [PlanNote(path, "", note) for note in outcome.notes]

    def plan(self, command: str) -> Plan:
        """Returns it."""
        files = tuple(sorted(self._files, key=lambda file: name_bytes(file.path)))
        proposal = FileChanges(self._top, files, tuple(map(change_words, self._changes)), command)
        return Plan(proposal, tuple(self._changes), tuple(self._remarks), tuple(self.failures))


def _question(wanted: ProviderRequirement) -> tuple[ProviderAddress, str, Version | None]:
    return wanted.address, str(combined(wanted.requirements)), wanted.locked


def _trouble(error: LockLensError) -> RootDiagnostic:
    return RootDiagnostic(SUMMARY, str(error), error.hint)
