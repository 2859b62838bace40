"""`init` and `lock` as use cases: read a root, install or lock its providers, and write its lock file."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct, field

from locklens.addresses import AddressError, Platform, ProviderAddress
from locklens.dialect import OPENTOFU
from locklens.errors import ConfigurationError, LockLensError
from locklens.install.folders import DataFolder
from locklens.install.installer import install, installed
from locklens.install.lock import SUMMARY, choose, lock_entries
from locklens.install.model import Failure, LockRequest, Wanted
from locklens.install.run import InstallRun
from locklens.lockfile.model import LockEntry
from locklens.lockfile.update import Difference, after_init, after_lock, difference, migrated, rewritten
from locklens.project.clifiles import implied_folders, this_platform
from locklens.project.requirements import read_configuration
from locklens.project.roots import LOCK_FILE
from locklens.project.state import data_folder
from locklens.project.tree import FileSystem
from locklens.storage.files import write_atomically
from locklens.storage.turns import turn
from locklens.workspace.roots import read_lock, tool_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from locklens.dialect import Dialect
    from locklens.install.events import Event
    from locklens.install.model import Settled
    from locklens.lockfile.model import LockFile
    from locklens.project.configuration import Configuration
    from locklens.storage.cache import Cache

_NAMES_SHOWN = 5


class Readonly(StrEnum):
    """What `--lockfile` asks for."""

    NO = ""
    STRICT = "readonly"
    LENIENT = "readonly-lenient"


class Trouble(Struct, frozen=True):
    """Something that went wrong, or is worth a warning.

    Attributes:
        summary: A title, as the tool has it where it has one.
        words: A sentence without its full stop.
        hint: The next step, or "".
        is_warning: Whether it kept nothing from being done.
    """

    summary: str
    words: str
    hint: str = ""
    is_warning: bool = False


class Outcome(Struct, frozen=True):
    """What became of one root.

    Attributes:
        root: Its folder, as it was named.
        lock_file: Its lock file, likewise.
        tool: Whose rules held.
        is_empty: Whether there is no configuration in the folder.
        difference: Between the entries before and after, as the tools tell them apart.
        was_absent: Whether nothing was locked before.
        before: The lock file's bytes, b"" where there was none.
        after: What they are now, or would be; None where the run failed before that was known.
        is_written: Whether the file was written.
        troubles: What went wrong, and what was warned of.
        notes: What else there is to know, in sentences.
    """

    root: str
    lock_file: str
    tool: Dialect
    is_empty: bool = False
    difference: Difference = Difference.NONE
    was_absent: bool = False
    before: bytes = b""
    after: bytes | None = None
    is_written: bool = False
    troubles: tuple[Trouble, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether anything went wrong."""
        return any(not one.is_warning for one in self.troubles)

    @property
    def would_change(self) -> bool:
        """Whether the lock file's bytes are, or would be, other ones."""
        return self.after is not None and self.after != self.before


class Options(Struct, frozen=True):
    """What holds for every root of a command.

    Attributes:
        folder: From which roots are named.
        environ: The tools' settings.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
        allow_missing_modules: Whether to work on the modules that are there.
        dry_run: Whether nothing is written.
    """

    folder: Path
    environ: Mapping[str, str]
    tool: Dialect | None = None
    test_directory: str = "tests"
    allow_missing_modules: bool = False
    dry_run: bool = False


class Root(Struct, frozen=True):
    """A root as it was read.

    Attributes:
        path: Its folder, as it was named; "" for the current one.
        entries: What is locked; with OpenTofu, also what it makes of Terraform's entries.
        moved: Old and new address of what it made.
    """

    path: str
    tool: Dialect
    lock: LockFile
    configuration: Configuration
    data: Path
    entries: tuple[LockEntry, ...]
    moved: tuple[tuple[ProviderAddress, ProviderAddress], ...] = ()

    @property
    def name(self) -> str:
        """For messages."""
        return self.path or "."

    def wanted(self, skipped: frozenset[ProviderAddress] = frozenset()) -> list[Wanted]:
        """The providers that it requires, in their order."""
        prior = {entry.address: entry for entry in reversed(self.entries)}
        found = sorted(self.configuration.required() - skipped)
        return [Wanted(address, self.configuration.of(address), prior.get(address)) for address in found]

    def outcome(self, troubles: Sequence[Trouble] = ()) -> Outcome:
        """An outcome in which nothing was done."""
        return Outcome(self.name, self.lock.path, self.tool, before=self.lock.data, troubles=tuple(troubles))


def read_root(path: str, options: Options, *, for_locking: bool) -> Root:
    """Reads a root's lock file and configuration.

    Raises:
        ConfigurationError: There is no such folder.
    """
    tree = FileSystem(options.folder)
    folder = tree.join("", path) or ""
    if not tree.has_folder(folder):
        raise ConfigurationError("there is no such folder", path=path, hint="name the folder of a root module")
    lock_file = f"{folder}/{LOCK_FILE}" if folder else LOCK_FILE
    lock = read_lock(tree, lock_file, options.tool)
    tool = options.tool or tool_of(tree, folder, lock)
    if lock.writer is not tool:
        lock = read_lock(tree, lock_file, tool)
    configuration = read_configuration(
        tree,
        folder,
        dialect=tool,
        worktree=tree,
        environ=options.environ,
        test_directory=options.test_directory,
        for_locking=for_locking,
    )
    place = data_folder(tree, folder, options.environ) or ".terraform"
    found = migrated(lock.entries, tool)
    return Root(folder, tool, lock, configuration, options.folder / place, found.entries, found.moved)


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
        troubles = _unreadable(root, self._options) or _routed(root, self.run(root.tool), self._options)
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
        troubles = _unreadable(root, self._options)
        wanted = root.wanted() if not troubles else []
        if not troubles and providers:
            wanted, troubles = _named(root, providers, wanted)
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
            return root.outcome([_trouble(one) for one in failures])
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
            troubles=tuple(_warnings(root)),
            notes=tuple(_orphans_kept(root, after)),
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
            return root.outcome([_trouble(one) for one in settled.failures])
        return self._concluded(root, settled)

    def _after(self, root: Root, settled: Mapping[ProviderAddress, LockEntry]) -> tuple[LockEntry, ...]:
        required = root.configuration.required()
        hidden = () if root.configuration.complete else [one.address for one in root.entries if one.address not in required]
        return after_init(root.entries, settled.values(), kept=hidden)

    def _concluded(self, root: Root, settled: Settled) -> Outcome:
        after = self._after(root, settled.entries)
        change = difference(root.entries, after)
        data = rewritten(root.lock, after, root.tool) if change is not Difference.NONE else root.lock.data
        troubles = [*_warnings(root)]
        is_written = False
        if change is not Difference.NONE and self._readonly is not Readonly.NO:
            troubles.append(_refused_change(change, self._readonly))
        elif change is not Difference.NONE:
            troubles += _incomplete(settled, self._run, self._here)
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
            notes=(*_removed(root, after), *_orphans_kept(root, after)),
        )


def write_lock(root: Root, data: bytes, options: Options) -> None:
    """Writes a root's lock file, unless it is no longer the one that was read.

    Raises:
        ConfigurationError: It changed meanwhile, or cannot be written.
    """
    current = read_lock(FileSystem(options.folder), root.lock.path, root.tool)
    if (current.exists, current.data) != (root.lock.exists, root.lock.data):
        words = "the lock file changed while this ran, so nothing was written"
        raise ConfigurationError(words, path=root.lock.path, hint="run it again")
    write_atomically(options.folder / root.lock.path, data)


def unmanaged(tool: Dialect, environ: Mapping[str, str]) -> frozenset[ProviderAddress]:
    """The providers that TF_REATTACH_PROVIDERS says somebody else runs: they are neither installed nor locked.

    Raises:
        ConfigurationError: It is no JSON object of provider addresses.
    """
    text = environ.get("TF_REATTACH_PROVIDERS", "")
    if not text:
        return frozenset()
    try:
        return frozenset(tool.parse_source(name) for name in dict(json.loads(text)))
    except (ValueError, TypeError, AddressError, RecursionError) as error:
        hint = "unset it, or see the documentation of provider debugging"
        raise ConfigurationError("TF_REATTACH_PROVIDERS is no JSON object of providers", hint=hint) from error


# What keeps a root from being worked on


def _unreadable(root: Root, options: Options) -> list[Trouble]:
    """Why nothing can be done with a root; [] where something can."""
    found = [
        Trouble(f"failed to read dependency lock file: {one.summary}", f"{root.lock.path}:{one.line}: {one.detail}", _MARKERS if root.lock.conflict else "")
        for one in root.lock.problems
    ]
    for problem in root.configuration.problems:
        if problem.is_error:
            place = f"{problem.file}:{problem.line}" if problem.line is not None else problem.file
            found.append(Trouble(problem.summary, f"{place}: {problem.detail}"))
    missing = root.configuration.missing_modules
    if missing and not options.allow_missing_modules:
        for one in missing[:_NAMES_SHOWN]:
            found.append(Trouble(one.reason, f'{one.file}:{one.line}: module "{one.call}" ({one.source}) cannot be read'))
        hint = f"`{root.tool.command} get` fetches remote modules; --allow-missing-modules works on what is there"
        found[-1] = Trouble(found[-1].summary, found[-1].words, hint)
    state = root.configuration.state
    if state.kind == "unreadable":
        found.append(Trouble("Error loading state", state.detail))
    return found


_MARKERS = "settle the conflict that git left in the file"


def _routed(root: Root, run: InstallRun, options: Options) -> list[Trouble]:
    """Why packages would have to come from elsewhere than from registries."""
    found = []
    if run.config.has_provider_installation:
        words = "provider_installation in the CLI configuration says where to install from, which is not supported yet"
        found.append(Trouble("Not supported yet", words, "locklens lock asks the registries whatever it says"))
    for folder in implied_folders(root.tool, options.environ, options.folder / root.path):
        words = f"{folder} has providers, which {root.tool.command} would install from; that is not supported yet"
        found.append(Trouble("Not supported yet", words, "locklens lock asks the registries all the same"))
    return found


def _named(root: Root, providers: Sequence[str], wanted: list[Wanted]) -> tuple[list[Wanted], list[Trouble]]:
    """Returns the providers that were named, or what is wrong with the names."""
    by_address = {one.address: one for one in wanted}
    chosen: dict[ProviderAddress, Wanted] = {}
    troubles = []
    for text in providers:
        try:
            address = root.tool.parse_source(text)
        except AddressError as error:
            troubles.append(Trouble("Invalid provider argument", f"{text!r} is no provider address: {error}"))
            continue
        if address in by_address:
            chosen[address] = by_address[address]
        elif not root.tool.is_builtin(address):
            words = f"The provider {address} is not required by the current configuration"
            hint = "locklens why says what requires a provider"
            troubles.append(Trouble("Invalid provider argument", words, hint))
    return list(chosen.values()), troubles


# What there is to say


def _trouble(failure: Failure) -> Trouble:
    return Trouble(failure.summary, failure.words, failure.hint)


def _warnings(root: Root) -> list[Trouble]:
    found = [Trouble(one.summary, f"{root.lock.path}:{one.line}: {one.detail}", is_warning=True) for one in root.lock.warnings]
    for problem in root.configuration.problems:
        if not problem.is_error:
            place = f"{problem.file}:{problem.line}" if problem.line is not None else problem.file
            found.append(Trouble(problem.summary, f"{place}: {problem.detail}", is_warning=True))
    if root.moved:
        names = ", ".join(f"{old} to {new}" for old, new in root.moved)
        words = f"{root.tool.product} automatically rewrote some entries of the lock file: {names}"
        found.append(Trouble("Dependency lock file entries automatically updated", words, is_warning=True))
    return found


def _refused_change(change: Difference, readonly: Readonly) -> Trouble:
    if change is Difference.PROVIDERS:
        words = "Changes to the required provider dependencies were detected, but the lock file is read-only"
        return Trouble("Provider dependency changes detected", words, "run it without --lockfile, and commit the file")
    words = "Changes to the provider selections were detected, but not saved in the .terraform.lock.hcl file"
    is_lenient = readonly is Readonly.LENIENT
    hint = "" if is_lenient else "run it without --lockfile; --lockfile readonly-lenient passes over other hashes"
    return Trouble("Provider lock file not updated", words, hint, is_warning=is_lenient)


def _incomplete(settled: Settled, run: InstallRun, here: Platform) -> list[Trouble]:
    if not settled.incomplete:
        return []
    names = ", ".join(map(run.name, settled.incomplete))
    words = f"the lock file has hashes for {here} alone of {names}"
    hint = "locklens lock --platform adds those of further platforms"
    return [Trouble("Incomplete lock file information for providers", words, hint, is_warning=True)]


def _removed(root: Root, after: Sequence[LockEntry]) -> list[str]:
    left = {entry.address for entry in after}
    gone = [entry for entry in root.lock.entries if entry.address not in left]
    return [
        f"{entry.address.short(root.tool.default_host)} {entry.version} is no longer locked: nothing requires it"
        for entry in gone
    ]


def _orphans_kept(root: Root, after: Sequence[LockEntry]) -> list[str]:
    required = root.configuration.required()
    kept = [entry.address.short(root.tool.default_host) for entry in after if entry.address not in required]
    if not kept:
        return []
    hidden = "" if root.configuration.complete else ", as far as can be told"
    is_one = len(kept) == 1
    return [f"{', '.join(kept)} {'stays' if is_one else 'stay'} locked, though nothing requires {'it' if is_one else 'them'}{hidden}"]
