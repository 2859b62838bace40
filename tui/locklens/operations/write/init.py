"""`init` as a use case: reads a root, installs its providers, and writes its lock file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.install.context import InstallContext, InstallEvent, Settled
from locklens.install.installer import Installer
from locklens.lockfile.update import Difference, after_init, difference, rewritten
from locklens.operations.plan import PlannedFile, RootResult
from locklens.operations.root_modules import RootReader, data_folder_of, require_folder, tracked_packages_of
from locklens.operations.write.diagnostics import (
    Readonly,
    against_policy,
    comments_lost,
    incomplete,
    look_alikes,
    no_root_here,
    orphans_kept,
    overridden,
    refused_change,
    removed,
    tracked_packages,
    unmanaged,
    unreadable,
    untouched,
    warnings,
)
from locklens.operations.write.registry_source import RegistryRun, release_facts
from locklens.policy import Policy
from locklens.project.clifiles import this_platform
from locklens.project.tree import FileSystem
from locklens.storage.files import exclusive_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from locklens.lockfile import LockEntry
    from locklens.operations.root_modules import Root, RootOptions
    from locklens.releases import NetworkSettings, ReleaseFacts
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version


class Init(RegistryRun):
    """The runs of one command, one for each tool; use it in a `with` statement.

    Args:
        options: Options of every root.
        settings: The network settings; their `methods` stand for the sources of the tool.
        policy: Newly locked versions that it is against are a warning.
        on_event: Called with events, from any thread, but never concurrently.
    """

    def __init__(
        self,
        options: RootOptions,
        settings: NetworkSettings,
        *,
        policy: Policy | None = None,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        on_waiting: Callable[[], None] = lambda: None,
    ) -> None:
        self._options = options
        self._policy = policy or Policy()
        self._on_event = on_event
        self._on_waiting = on_waiting
        super().__init__(settings, None)
        self._reader = RootReader(options, environ=options.environ)

    def _context(self, root: Root) -> InstallContext:
        source = self._session.installation(root.tool, self._options.folder / root.path)
        return InstallContext(self._session, root.tool, self._on_event, source=source)

    def init(self, path: str, *, upgrade: bool, readonly: Readonly) -> RootResult:
        """Install the providers that a root requires, and update its lock file.

        Raises:
            ConfigurationError: There is no such folder, or the lock file cannot be written.
        """
        tree = FileSystem(self._options.folder)
        path = require_folder(tree, path)
        root = self._reader.read_folder(tree, path)
        if not root.configuration.has_files:
            notes = tuple(no_root_here(root, self._options.folder))
            return RootResult(root.name, root.lock.path, root.tool, is_empty=True, notes=notes)
        diagnostics = unreadable(root, allows_missing=self._options.allow_missing_modules)
        if diagnostics:
            return untouched(root, diagnostics)
        # Told before anything is installed: afterwards, the folder is there in any case.
        tracked = tracked_packages_of(self._options.folder, [path])
        outcome = self._initialised(tree, root, upgrade=upgrade, readonly=readonly)
        return replace(outcome, diagnostics=(*map(tracked_packages, tracked), *outcome.diagnostics))

    def _initialised(self, tree: FileSystem, root: Root, *, upgrade: bool, readonly: Readonly) -> RootResult:
        context = self._context(root)
        initialising = _Initialising(context, self._options, self._policy, upgrade=upgrade, readonly=readonly)
        outcome = None if upgrade else initialising.without_asking(root)
        if outcome is not None:
            return outcome
        if self._options.dry_run:
            return initialising.work(root)
        place = data_folder_of(root, self._options).lock_place
        with self._session.within(exclusive_lock(*place, on_waiting=self._on_waiting)):
            # Another process may have written in between.
            return initialising.work(self._reader.read_folder(tree, root.path))


class _Initialising:
    """`init` of one root."""

    def __init__(
        self, context: InstallContext, options: RootOptions, policy: Policy, *, upgrade: bool, readonly: Readonly
    ) -> None:
        self._context = context
        self._policy = policy
        self._options = options
        self._upgrade = upgrade
        self._readonly = readonly
        self._here = Platform.parse(this_platform())
        self._skipped = unmanaged(context.dialect, options.environ)

    def without_asking(self, root: Root) -> RootResult | None:
        """Return the result if every provider is installed as locked and the lock file needs no change; else None."""
        required = root.wanted(self._skipped)
        if any(requirement.prior is None for requirement in required):
            return None
        after = self._after(
            root, {requirement.address: requirement.prior for requirement in required if requirement.prior}
        )
        if difference(root.migration.entries, after) is not Difference.NONE:
            return None
        settled = self._installer(root).installed(required)
        return None if settled is None else self._concluded(root, settled)

    def work(self, root: Root) -> RootResult:
        """Install the providers, and write the lock file."""
        settled = self._installer(root).install(root.wanted(self._skipped))
        if settled.failures:
            return untouched(root, settled.failures)
        return self._concluded(root, settled)

    def _installer(self, root: Root) -> Installer:
        return Installer(
            self._context,
            data_folder_of(root, self._options),
            self._here,
            upgrade=self._upgrade,
            for_real=not self._options.dry_run,
            # A registry may begin to report hashes at any time: that must not fail a pipeline whose lock file is good.
            records_reported=self._readonly is Readonly.NO,
            root=root.name,
        )

    def _after(self, root: Root, settled: Mapping[ProviderAddress, LockEntry]) -> tuple[LockEntry, ...]:
        before, required = root.migration.entries, root.configuration.required()
        kept = required & self._skipped
        if not root.configuration.complete:
            kept |= {entry.address for entry in before} - required
        return after_init(before, settled.values(), kept=kept)

    def _concluded(self, root: Root, settled: Settled) -> RootResult:
        after = self._after(root, settled.entries)
        change = difference(root.migration.entries, after)
        data = rewritten(root.lock, after, root.tool) if change is not Difference.NONE else root.lock.data
        diagnostics = [*warnings(root), *look_alikes(root), *overridden(self._context)]
        notices: tuple[str, ...] = ()
        is_written = False
        top, planned = self._planned(root, data) if data != root.lock.data else (None, None)
        if change is not Difference.NONE and self._readonly is not Readonly.NO:
            diagnostics.append(refused_change(change, self._readonly))
        elif change is not Difference.NONE:
            diagnostics += incomplete(settled, self._context, self._here)
            entries = settled.entries.values()
            diagnostics += against_policy(root, entries, self._policy, self._ages, self._release, self._listed)
            if not self._options.dry_run and top is not None and planned is not None:
                notices = self._write(root, after, top, planned)
                is_written = True
        return RootResult(
            root.name,
            root.lock.path,
            root.tool,
            difference=change,
            was_absent=not root.lock.entries,
            before=root.lock.data,
            after=data,
            planned=planned,
            top=top,
            is_written=is_written,
            diagnostics=tuple(diagnostics),
            notes=(
                *removed(root, after, is_written=is_written),
                *orphans_kept(root, after),
                *(comments_lost(root, data, "init") if self._readonly is Readonly.NO else ()),
                *notices,
            ),
        )

    def _ages(self, address: ProviderAddress) -> Mapping[Version, int]:
        # Of the sources that a version is installed from, so that no other host is asked.
        return self._context.source(address).release_dates(address).ages(datetime.now(UTC))

    def _listed(self, address: ProviderAddress) -> Sequence[ListedVersion]:
        return self._context.source(address).versions(address).versions

    def _release(self, address: ProviderAddress, version: Version) -> ReleaseFacts | None:
        return release_facts(self._context, address, version)

    def _planned(self, root: Root, data: bytes) -> tuple[Path, PlannedFile]:
        """Return the top folder that may be written in, and the planned lock file."""
        from locklens.operations.plan.builder import path_below, planned_lock
        from locklens.operations.root_modules import enclosing

        path = self._options.folder / root.path
        top = enclosing(self._options.folder, [path])
        return top, planned_lock(root, path_below(top, path), data)

    def _write(self, root: Root, after: Sequence[LockEntry], top: Path, planned: PlannedFile) -> tuple[str, ...]:
        """Write the lock file, and return the limits of the write."""
        from locklens.operations.plan import Scope, command_line
        from locklens.operations.plan.builder import PlanBuilder, planned_changes
        from locklens.operations.write.apply import apply

        words = ["--upgrade"] if self._upgrade else []
        words += ["--allow-missing-modules"] if self._options.allow_missing_modules else []
        options, roots = self._options, (root.path,) if root.path else ()
        where = Scope(options.folder, roots, tool=options.tool, test_directory=options.test_directory)
        draft = PlanBuilder(top)
        draft.tool = where.tool
        draft.put(planned)
        draft.changes += planned_changes(root, planned.path.rpartition("/")[0], after)
        plan = draft.plan(command_line("init", where, words))
        return (*plan.ignored.values(), *apply(plan.proposal))
