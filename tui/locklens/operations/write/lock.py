"""Plans to add hashes to the lock files of any number of roots, as `providers lock` does for one.

All roots are read first; then each version that a root requires is looked up once, and each package is fetched once,
concurrently. A root with an error is left untouched, and has a diagnostic; the others continue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct
from msgspec.structs import replace

from locklens.diagnostics import Diagnostic
from locklens.errors import LockLensError
from locklens.install.context import LockRequest
from locklens.lockfile.update import after_lock, difference, rewritten
from locklens.operations.plan.builder import PlanBuilder, path_below, planned_changes, planned_lock
from locklens.operations.plan.command_line import command_line
from locklens.operations.plan.model import RootResult
from locklens.operations.root_modules import RootReader, enclosing, require_folder
from locklens.operations.write.diagnostics import (
    named,
    no_root_here,
    orphans_kept,
    unreadable,
    untouched,
    warnings,
)
from locklens.operations.write.operation import no_progress
from locklens.project.tree import FileSystem
from locklens.selection import combined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.install.context import ProviderRequirement
    from locklens.lockfile.model import LockEntry
    from locklens.operations.plan.model import Plan, PlannedChange, Scope
    from locklens.operations.root_modules import Root
    from locklens.operations.write.source import ProviderSource
    from locklens.versions import Version


class Lock(Struct, frozen=True):
    """Adds the hashes of platforms' packages to lock files.

    Attributes:
        where: The roots.
        platforms: Platforms to lock; () for this machine's.
        providers: As typed, in the tool's syntax of sources; () for all that are required.
        accepts_republished: True if a locked package may be missing from the signed release.
        allows_missing: True if modules may be missing, whose requirements are then ignored.
        adds_reported: False to leave out what a registry reports of platforms that are not locked: it may begin to at
            any time, and a check of the lock file must not fail then.
    """

    needs_registry: ClassVar[Literal[True]] = True

    where: Scope
    platforms: tuple[Platform, ...] = ()
    providers: tuple[str, ...] = ()
    accepts_republished: bool = False
    allows_missing: bool = False
    adds_reported: bool = True

    @property
    def title(self) -> str:
        """A short title."""
        platforms = ", ".join(map(str, self.platforms)) or "this machine's platform"
        roots = self.where.roots
        where = (roots[0] if roots else ".") if len(roots) < 2 else f"{len(roots)} roots"
        return f"Lock {platforms} in {where}"

    def plan(self, source: ProviderSource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the lock files of all roots, with the result for each root.

        Args:
            source: The source of versions and hashes.
            on_root: Called with each root once everything is fetched, before its entries are made.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        return _Locking(self, source, on_root).run()


class _Work(Struct):
    """One root in progress.

    Attributes:
        root: As it was read.
        required: The providers to lock.
        requests: The selected versions.
        diagnostics: Errors, which leave it untouched.
    """

    root: Root
    required: list[ProviderRequirement]
    requests: list[LockRequest]
    diagnostics: list[Diagnostic]


class _Locking:
    def __init__(self, operation: Lock, source: ProviderSource, on_root: Callable[[str], None]) -> None:
        self._operation = operation
        self._source = source
        self._on_root = on_root
        where = operation.where
        self._tree = FileSystem(where.folder)
        self._reader = RootReader(where.tool, where.test_directory, for_locking=True)
        self._platforms = operation.platforms or (source.here,)

    def run(self) -> Plan:
        """Read the roots, select versions, fetch packages, and make the entries."""
        names = tuple(dict.fromkeys(self._operation.where.roots)) or ("",)
        read = {name: self._read(name) for name in names}
        works = [work for work in read.values() if isinstance(work, _Work)]
        for tool in {work.root.tool.name: work.root.tool for work in works}.values():
            same_tool = [work for work in works if work.root.tool is tool]
            self._select(same_tool, tool)
            self._source.locker(tool).fetch([request for work in same_tool for request in work.requests])
        folder = self._operation.where.folder
        draft = PlanBuilder(enclosing(folder, [folder / work.root.path for work in works]))
        results: dict[str, RootResult | LockLensError] = {}
        for name, outcome in read.items():
            self._on_root(name)
            if isinstance(outcome, LockLensError):
                results[name] = outcome
                draft.fail(name, outcome)
            else:
                results[name] = self._settle(outcome, draft)
        return replace(draft.plan(self._command()), results=results)

    def _read(self, name: str) -> _Work | LockLensError:
        operation = self._operation
        try:
            root = self._reader.read_folder(self._tree, require_folder(self._tree, name))
        except LockLensError as error:
            return error
        diagnostics = unreadable(root, allows_missing=operation.allows_missing)
        required = root.wanted() if not diagnostics else []
        if not diagnostics and operation.providers:
            required, diagnostics = named(root, operation.providers, required)
        return _Work(root, [] if diagnostics else required, [], diagnostics)

    def _select(self, works: Sequence[_Work], tool: Dialect) -> None:
        """Select versions; a requirement that several roots share is looked up once."""
        alike: dict[tuple[ProviderAddress, str, Version | None], ProviderRequirement] = {}
        for work in works:
            for requirement in work.required:
                alike.setdefault(_question(requirement), replace(requirement, first=self._platforms[0]))
        versions = dict(zip(alike, self._source.locker(tool).choose(alike.values()), strict=True))
        for work in works:
            selected = [(requirement, versions[_question(requirement)]) for requirement in work.required]
            work.diagnostics += [version for _, version in selected if isinstance(version, Diagnostic)]
            if not work.diagnostics:
                work.requests = [
                    self._request(requirement, version)
                    for requirement, version in selected
                    if not isinstance(version, Diagnostic)
                ]

    def _request(self, requirement: ProviderRequirement, version: Version) -> LockRequest:
        return LockRequest(
            requirement.address,
            version,
            self._platforms,
            combined(requirement.requirements),
            requirement.prior,
            accepts_republished=self._operation.accepts_republished,
            adds_reported=self._operation.adds_reported,
        )

    def _settle(self, work: _Work, draft: PlanBuilder) -> RootResult:
        """Make the entries of one root, and plan its lock file."""
        root = work.root
        path = path_below(draft.top, self._operation.where.folder / root.path)
        settled: list[LockEntry] = []
        for entry in self._source.locker(root.tool).entries(work.requests):
            if isinstance(entry, Diagnostic):
                work.diagnostics.append(entry)
            else:
                settled.append(entry)
        if work.diagnostics:
            result = untouched(root, work.diagnostics)
        else:
            before = root.migration.entries
            after = after_lock(before, settled)
            data = rewritten(root.lock, after, root.tool)
            result = RootResult(
                root.name,
                root.lock.path,
                root.tool,
                difference=difference(root.lock.entries, after),
                was_absent=not root.lock.entries,
                before=root.lock.data,
                after=data,
                planned=planned_lock(root, path, data) if data != root.lock.data else None,
                diagnostics=tuple(warnings(root)),
                notes=(*no_root_here(root, self._operation.where.folder), *orphans_kept(root, after)),
            )
            if result.planned is not None:
                draft.put(result.planned)
                draft.changes += self._changes(root, path, after)
            else:
                draft.note(path, "its hashes are complete")
        draft.diagnostics += [replace(diagnostic, root=path) for diagnostic in result.diagnostics]
        for note in result.notes:
            draft.note(path, note)
        return result

    def _changes(self, root: Root, path: str, after: Sequence[LockEntry]) -> Iterable[PlannedChange]:
        """Yield the changes of providers, with the platforms whose hashes are added."""
        for change in planned_changes(root, path, after):
            if change.old is None or change.new is None or change.old.version != change.new.version:
                yield change
                continue
            fetched = self._source.locker(root.tool).package_hashes(change.address, change.new.version)
            fresh = [
                platform
                for platform in self._platforms
                if platform in fetched and fetched[platform].isdisjoint(change.old.hashes)
            ]
            yield replace(change, platforms=tuple(fresh))

    def _command(self) -> str:
        operation = self._operation
        words = [*operation.providers]
        words += [word for platform in operation.platforms for word in ("--platform", str(platform))]
        words += ["--accept-republished"] if operation.accepts_republished else []
        words += ["--allow-missing-modules"] if operation.allows_missing else []
        return command_line("lock", operation.where, words)


def _question(requirement: ProviderRequirement) -> tuple[ProviderAddress, str, Version | None]:
    return requirement.address, str(combined(requirement.requirements)), requirement.locked
