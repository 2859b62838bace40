"""`init` and `lock` as use cases: read a root, install or lock its providers, and write its lock file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from locklens.addresses import Platform
from locklens.install.folders import DataFolder
from locklens.install.installer import install, installed
from locklens.install.lock import choose, lock_entries
from locklens.install.model import Failure, LockRequest
from locklens.install.run import InstallRun
from locklens.lockfile.model import LockEntry
from locklens.lockfile.update import Difference, after_init, after_lock, difference, rewritten
from locklens.project.clifiles import this_platform
from locklens.storage.turns import turn
from locklens.workspace.remarks import (
    failed,
    incomplete,
    named,
    orphans_kept,
    refused_change,
    removed,
    routed,
    unmanaged,
    unreadable,
    unused_cache,
    warnings,
)
from locklens.workspace.rootmodule import Outcome, Readonly, read_root, write_lock

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.install.events import Event
    from locklens.install.model import Settled
    from locklens.storage.cache import Cache
    from locklens.workspace.rootmodule import Options, Root


class Installing:
    """The runs of one command, one for each tool; use it in a `with` statement.

    Args:
        options: What holds for every root.
        cache: What is remembered of verifications and packages.
        on_event: Told of what happens, from any thread, but never from two at once.
        cancel: Set by another thread to stop.
    """

    def __init__(
        self,
        options: Options,
        cache: Cache,
        *,
        on_event: Callable[[Event], None] = lambda _: None,
        on_waiting: Callable[[], None] = lambda: None,
        cancel: threading.Event | None = None,
    ) -> None:
        self._options = options
        self._cache = cache
        self._on_event = on_event
        self._on_waiting = on_waiting
        self._cancel = cancel
        self._runs: dict[str, InstallRun] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for run in self._runs.values():
            run.__exit__(kind, error, trace)

    def run(self, tool: Dialect) -> InstallRun:
        """Returns the run as a tool's settings have it."""
        found = self._runs.get(tool.name)
        if found is None:
            found = self._runs[tool.name] = InstallRun(
                tool, self._options.environ, self._cache, on_event=self._on_event, cancel=self._cancel
            )
        return found

    @property
    def log(self) -> tuple[str, ...]:
        """What was asked of whom, and how long it took."""
        return tuple(line for run in self._runs.values() for line in run.log)

    def init(self, path: str, *, upgrade: bool, readonly: Readonly) -> Outcome:
        """Installs what a root requires, and brings its lock file up to date.

        Raises:
            ConfigurationError: There is no such folder, or the lock file cannot be written.
            RunCancelledError: The run was cancelled; the lock file is as it was.
        """
        root = read_root(path, self._options, for_locking=False)
        if not root.configuration.has_files:
            return Outcome(root.name, root.lock.path, root.tool, is_empty=True)
        troubles = unreadable(root, self._options) or routed(root, self.run(root.tool), self._options)
        if troubles:
            return root.outcome(troubles)
        initialising = _Initialising(self.run(root.tool), self._options, upgrade=upgrade, readonly=readonly)
        outcome = None if upgrade else initialising.without_asking(root)
        if outcome is not None:
            return outcome
        if self._options.dry_run:
            return initialising.work(root)
        folder = DataFolder(root.data)
        with turn(folder.turns, cancel=self._cancel, on_waiting=self._on_waiting):
            # Another process may have had its turn in between.
            return initialising.work(read_root(path, self._options, for_locking=False))

    def lock(
        self,
        path: str,
        platforms: Sequence[Platform],
        providers: Sequence[str],
        *,
        accept_republished: bool = False,
        check: bool = False,
    ) -> Outcome:
        """Brings the hashes of some platforms into a root's lock file.

        Args:
            path: The root's folder.
            platforms: () for this machine's.
            providers: As typed; () for all that are required.
            accept_republished: Whether a locked package may be gone from what the publisher signs today.
            check: Whether nothing is written.

        Raises:
            ConfigurationError: There is no such folder, or the lock file cannot be written.
            RunCancelledError: The run was cancelled; the lock file is as it was.
        """
        root = read_root(path, self._options, for_locking=True)
        troubles = unreadable(root, self._options)
        wanted = root.wanted() if not troubles else []
        if not troubles and providers:
            wanted, troubles = named(root, providers, wanted)
        if troubles:
            return root.outcome(troubles)
        run = self.run(root.tool)
        found = choose(wanted, platforms or (Platform.parse(this_platform()),), run)
        failures = [one for one in found if isinstance(one, Failure)]
        settled: list[LockEntry] = []
        if not failures:
            requests = [one for one in found if isinstance(one, LockRequest)]
            entries = lock_entries(requests, run, accept_republished=accept_republished).values()
            failures = [one for one in entries if isinstance(one, Failure)]
            settled = [one for one in entries if isinstance(one, LockEntry)]
        if failures:
            return root.outcome([failed(one) for one in failures])
        after = after_lock(root.entries, settled)
        data = rewritten(root.lock, after, root.tool)
        is_written = data != root.lock.data and not (check or self._options.dry_run)
        if is_written:
            write_lock(root, data, self._options)
        return Outcome(
            root.name,
            root.lock.path,
            root.tool,
            difference=difference(root.lock.entries, after),
            was_absent=not root.lock.entries,
            before=root.lock.data,
            after=data,
            is_written=is_written,
            troubles=tuple(warnings(root)),
            notes=tuple(orphans_kept(root, after)),
        )


class _Initialising:
    """`init` of one root."""

    def __init__(self, run: InstallRun, options: Options, *, upgrade: bool, readonly: Readonly) -> None:
        self._run = run
        self._options = options
        self._upgrade = upgrade
        self._readonly = readonly
        self._here = Platform.parse(this_platform())
        self._skipped = unmanaged(run.dialect, options.environ)

    def without_asking(self, root: Root) -> Outcome | None:
        """The outcome where all is installed as it is locked, and the lock file is as it has to be; else None."""
        wanted = root.wanted(self._skipped)
        if any(one.prior is None for one in wanted):
            return None
        after = self._after(root, {one.address: one.prior for one in wanted if one.prior})
        if difference(root.entries, after) is not Difference.NONE:
            return None
        settled = installed(wanted, self._run, into=DataFolder(root.data), here=self._here)
        return None if settled is None else self._concluded(root, settled)

    def work(self, root: Root) -> Outcome:
        """Installs, and writes."""
        settled = install(
            root.wanted(self._skipped),
            self._run,
            into=DataFolder(root.data),
            here=self._here,
            upgrade=self._upgrade,
            for_real=not self._options.dry_run,
        )
        if settled.failures:
            return root.outcome([failed(one) for one in settled.failures])
        return self._concluded(root, settled)

    def _after(self, root: Root, settled: Mapping[ProviderAddress, LockEntry]) -> tuple[LockEntry, ...]:
        required = root.configuration.required()
        hidden = (
            () if root.configuration.complete else [one.address for one in root.entries if one.address not in required]
        )
        return after_init(root.entries, settled.values(), kept=hidden)

    def _concluded(self, root: Root, settled: Settled) -> Outcome:
        after = self._after(root, settled.entries)
        change = difference(root.entries, after)
        data = rewritten(root.lock, after, root.tool) if change is not Difference.NONE else root.lock.data
        troubles = [*warnings(root), *unused_cache(self._run)]
        is_written = False
        if change is not Difference.NONE and self._readonly is not Readonly.NO:
            troubles.append(refused_change(change, self._readonly))
        elif change is not Difference.NONE:
            troubles += incomplete(settled, self._run, self._here)
            if not self._options.dry_run:
                write_lock(root, data, self._options)
                is_written = True
        return Outcome(
            root.name,
            root.lock.path,
            root.tool,
            difference=change,
            was_absent=not root.lock.entries,
            before=root.lock.data,
            after=data,
            is_written=is_written,
            troubles=tuple(troubles),
            notes=(*removed(root, after), *orphans_kept(root, after)),
        )
