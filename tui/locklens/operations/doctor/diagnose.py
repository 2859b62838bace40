"""The diagnosis as a use case: the log, the roots, the facts, the causes, the remedies."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import AddressError
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.examined import ElsewhereEntry, Examined, FoundPackage
from locklens.doctor.judging import joined_causes, judge_causes
from locklens.doctor.model import Diagnosis, Incident, LogFacts, Onset, PackagePath, ReadLog
from locklens.doctor.recognising import read_log
from locklens.errors import NoRepositoryError, RepositoryError
from locklens.lockfile.render import is_canonical
from locklens.operations.comparison import within
from locklens.operations.doctor.past import LockHistory
from locklens.operations.doctor.places import PackageFinder, configured_sources, differing_files, holding
from locklens.operations.doctor.releases import look_up_entries
from locklens.operations.doctor.remedies import Affected, not_offered_for, remedies_for
from locklens.operations.root_modules import RootReader, folders_with_locks, lock_path, no_root, read_lock
from locklens.project.clifiles import this_platform
from locklens.project.git import Repository
from locklens.project.tree import WorkTree

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable

    from locklens.addresses import ProviderAddress
    from locklens.doctor.model import RecognisedError
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.operations.doctor.places import Sources
    from locklens.operations.doctor.request import DoctorRequest
    from locklens.operations.review.events import ReviewEvent
    from locklens.operations.root_modules import Root

MOST_SUBJECTS = 40
"""Providers in roots that are examined in one run; of more, the first."""


def diagnose(
    request: DoctorRequest,
    *,
    cancel: threading.Event | None = None,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
) -> Diagnosis:
    """Diagnose the errors of a log, or examine roots without one.

    Args:
        request: The log, and all that the user knows beside it.
        cancel: Set by another thread to stop.
        on_event: Called in this thread, also before anything is downloaded, with its size.

    Raises:
        ConfigurationError: A root or the package that was handed in cannot be read.
        RepositoryError: Git failed.
        RunCancelledError: `cancel` was set.
    """
    read = read_log(request.log) if request.log is not None else ReadLog(())
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    is_offline = request.asking is None or request.asking.is_offline
    if request.log is not None and not read.errors:
        return Diagnosis(at, is_offline, (), Incident())
    with ExitStack() as stack:
        checkout = Checkout.open(request.folder, stack)
        diagnosis = _Diagnosing(request, read, checkout, cancel).work(on_event)
    notes = list(diagnosis.notes)
    if read.is_cut:
        notes.append("the log is longer than what is read: its beginning was left out")
    return replace(diagnosis, at=at, offline=is_offline, notes=tuple(notes), is_of_log=request.log is not None)


class Checkout(Struct, frozen=True):
    """The files on disk: the repository's, or those below one folder.

    Attributes:
        top: The folder that paths are relative to.
        here: The current folder, relative to it.
        repository: None without git.
        locks: Folders with a lock file.
    """

    top: Path
    here: str
    tree: WorkTree
    repository: Repository | None
    locks: tuple[str, ...]

    @classmethod
    def open(cls, folder: Path, stack: ExitStack) -> Checkout:
        """Open the repository of a folder, or the folder itself."""
        try:
            repository = stack.enter_context(Repository.discover(folder))
            if not repository.is_bare:
                tree = WorkTree(repository.top)
                here = within(repository, folder, ".")
                return cls(Path(repository.top), here, tree, repository, tuple(folders_with_locks(repository, tree)))
        except NoRepositoryError:
            pass
        tree = WorkTree(folder)
        locks = ("",) if tree.read(lock_path("")) is not None else ()
        return cls(folder, "", tree, None, locks)

    def path_of(self, folder: Path, root: str) -> str:
        """Return a root that was named relative to the current folder, relative to the top."""
        if self.repository is not None:
            return within(self.repository, folder, root)
        return "" if root in {"", "."} else os.path.normpath(root).replace(os.sep, "/")

    def shown(self, root: str) -> str:
        """Return a root relative to the current folder."""
        return os.path.relpath(root or ".", self.here or ".").replace(os.sep, "/")


class _Subject(Struct):
    """A provider in a root; filled step by step."""

    error: RecognisedError | None
    root: Root
    address: ProviderAddress | None
    entry: LockEntry | None


class _Diagnosing:
    def __init__(
        self, request: DoctorRequest, read: ReadLog, checkout: Checkout, cancel: threading.Event | None
    ) -> None:
        self._request = request
        self._read = read
        self._checkout = checkout
        self._cancel = cancel
        self._reader = RootReader(request.tool, request.test_directory, environ=request.environ)
        self._roots: dict[str, Root] = {}
        self._locks: dict[str, LockFile] = {}
        self._finder = PackageFinder(request.folder, cancel)
        self._history = LockHistory(checkout.repository) if checkout.repository is not None else None
        self._notes: list[str] = []

    def work(self, on_event: Callable[[ReviewEvent], None]) -> Diagnosis:
        subjects = self._subjects()
        if len(subjects) > MOST_SUBJECTS:
            self._notes.append(f"only the first {MOST_SUBJECTS} of {len(subjects)} providers are examined")
            subjects = subjects[:MOST_SUBJECTS]
        first = subjects[0] if subjects else None
        sources = configured_sources(
            first.root.tool if first else TERRAFORM,
            self._request.environ,
            self._checkout.top / (first.root.path if first else ""),
        )
        given: FoundPackage | None = None
        incident = self._incident(first, sources)
        if self._request.package:
            given = self._finder.given(self._request.package, incident.platform or "")
        entries = [(one.root.tool, one.entry) for one in subjects if one.entry is not None]
        answers = look_up_entries(entries, self._request, self._cancel, on_event)
        affected = []
        for one in subjects:
            about = self._incident(one, sources)
            looked_up = answers.of(one.root.tool, one.entry) if one.entry is not None else None
            examined = self._examined(one, about, sources, given)
            if looked_up is not None:
                examined = replace(
                    examined, change=looked_up.change, case=looked_up.case, neighbour=looked_up.neighbour
                )
            causes = judge_causes(examined)
            affected.append(Affected(examined, causes, self._roots_with(one)))
        causes = joined_causes(one.causes for one in affected)
        named = [one for one in affected if one.causes and one.causes[0].id is causes[0].id] if causes else []
        chief = next(iter((*named, *affected)), None)
        return Diagnosis(
            "",
            offline=True,
            errors=self._read.errors,
            facts=incident,
            causes=causes,
            remedies=remedies_for(affected),
            not_offered=not_offered_for(causes),
            onset=self._onset(chief.examined) if chief is not None else None,
            same_entry=chief.roots[1:] if chief is not None else (),
            roots=len(self._checkout.locks),
            notes=(*self._notes, *answers.notes, *self._limits()),
            examined=_headline(chief.examined) if chief is not None else "",
            advice=BY_KIND[self._read.errors[0].kind].advice if self._read.errors else "",
        )

    def _limits(self) -> list[str]:
        return ["not every copy on this machine was hashed: there are too many"] if self._finder.is_cut else []

    # Roots and providers

    def _root(self, path: str) -> Root:
        if path not in self._roots:
            self._roots[path] = self._reader.read_folder(self._checkout.tree, path)
        return self._roots[path]

    def _lock(self, path: str) -> LockFile:
        """Return the lock file of a folder, without its configuration."""
        if path not in self._locks:
            self._locks[path] = read_lock(self._checkout.tree, lock_path(path), self._request.tool, is_replaced=True)
        return self._locks[path]

    def _named_roots(self) -> list[str]:
        paths = [self._checkout.path_of(self._request.folder, root) for root in self._request.roots]
        for path, name in zip(paths, self._request.roots, strict=True):
            root = self._root(path)
            if not root.lock.exists and not root.configuration.has_files:
                raise no_root(name)
        return paths

    def _subjects(self) -> list[_Subject]:
        named = self._named_roots()
        if self._request.log is None:
            return self._of_roots(named or self._here())
        found = []
        for error in self._read.errors:
            found += self._of_error(error, named)
        return found

    def _here(self) -> list[str]:
        """Return the current folder's root, else every root of the repository."""
        here = self._checkout.here
        root = self._root(here)
        if root.lock.exists or root.configuration.has_files:
            return [here]
        if not self._checkout.locks:
            raise no_root(".", "name a root with -- ROOT, or hand a log in")
        return list(self._checkout.locks)

    def _of_roots(self, paths: Iterable[str]) -> list[_Subject]:
        found = []
        for path in paths:
            root = self._root(path)
            if root.lock.problems:
                found.append(_Subject(None, root, None, None))
                continue
            by_address = root.lock.by_address
            missing = [one for one in sorted(root.configuration.required()) if one not in by_address]
            found += [_Subject(None, root, one.address, one) for one in root.lock.entries]
            found += [_Subject(None, root, address, None) for address in missing]
        return found

    def _of_error(self, error: RecognisedError, named: list[str]) -> list[_Subject]:
        """Return the root that an error is of: the named ones, the current one, or those that have the entry."""
        here = self._checkout.here
        candidates = named or ([here] if self._has_root(here) else list(self._checkout.locks))
        if not candidates:
            candidates = [here]
        broken = [path for path in candidates if self._lock(path).problems]
        if not error.provider:
            chosen = named or broken or candidates
            return self._of_no_provider(error, chosen[: None if named else 1])
        fitting = [path for path in candidates if self._fits(path, error)] if not named else candidates
        if not fitting and not named and error.version:
            unversioned = replace(error, version="")
            fitting = [path for path in candidates if self._fits(path, unversioned)]
        found = []
        for path in fitting[: None if named else 1] or (broken or candidates)[:1]:
            root = self._root(path)
            address = self._address(error, root)
            found.append(_Subject(error, root, address, root.lock.by_address.get(address) if address else None))
        return found

    def _of_no_provider(self, error: RecognisedError, paths: Iterable[str]) -> list[_Subject]:
        """Return all providers of roots for an error that names none, such as that of a read-only lock file."""
        if {cause.value for cause in BY_KIND[error.kind].causes} <= {"lock-syntax", "bad-merge"}:
            return [_Subject(error, self._root(path), None, None) for path in paths]
        found = [_with_error(one, error) for one in self._of_roots(paths)]
        return found or [_Subject(error, self._root(path), None, None) for path in paths]

    def _has_root(self, path: str) -> bool:
        root = self._root(path)
        return root.lock.exists or root.configuration.has_files

    def _fits(self, path: str, error: RecognisedError) -> bool:
        lock = self._lock(path)
        dialect = self._request.tool or lock.writer or TERRAFORM
        address = _parsed(error.provider, dialect.parse_source)
        entry = lock.by_address.get(address) if address is not None else None
        return entry is not None and (not error.version or str(entry.version) == error.version)

    def _address(self, error: RecognisedError, root: Root) -> ProviderAddress | None:
        address = _parsed(error.provider, root.tool.parse_source)
        if address is not None and address not in root.lock.by_address and error.provider.count("/") == 1:
            other = TERRAFORM if root.tool is OPENTOFU else OPENTOFU
            twin = _parsed(error.provider, other.parse_source)
            if twin in root.lock.by_address and twin is not None:
                return twin
        return address

    def _roots_with(self, subject: _Subject) -> tuple[str, ...]:
        """Return the root, and others with the same entry; relative to the current folder."""
        own = self._checkout.shown(subject.root.path)
        if subject.entry is None:
            return (own,)
        same = [
            path
            for path in self._checkout.locks
            if path != subject.root.path
            and (entry := self._lock(path).by_address.get(subject.entry.address)) is not None
            and (entry.version, frozenset(entry.hashes)) == (subject.entry.version, frozenset(subject.entry.hashes))
        ]
        return (own, *map(self._checkout.shown, same))

    # Facts

    def _incident(self, subject: _Subject | None, sources: Sources) -> Incident:
        request, log = self._request, self._read.facts
        told: dict[str, str] = {}
        tool = _first(told, "tool", (("given", request.tool.name if request.tool else ""), ("log", log.tool),
                                     ("root", subject.root.tool.name if subject else "")))  # fmt: skip
        version = _first(told, "tool_version", (("given", request.tool_version), ("log", log.tool_version)))
        own = this_platform() if request.log is None else ""
        error = subject.error if subject is not None else None
        platform = _first(
            told,
            "platform",
            (("given", request.platform), ("log", _platform_of(error, log)), ("this machine", own)),
        )
        path = request.path or _path_of(error, sources, told)
        if request.path is not None:
            told["path"] = "given"
        root = self._checkout.shown(subject.root.path) if subject is not None else None
        return Incident(tool or None, version or None, platform or None, path, root, tuple(told.items()))

    def _examined(self, one: _Subject, incident: Incident, sources: Sources, given: FoundPackage | None) -> Examined:
        root, entry = one.root, one.entry
        packages = self._packages(one, sources)
        if given is not None:
            packages = (given, *packages)
        if entry is not None:
            packages = self._compared(packages, entry)
        past = self._history.past(root.lock.path, one.address) if self._history and one.address else ()
        others: tuple[ElsewhereEntry, ...] = ()
        if one.address is not None:
            others = tuple(
                ElsewhereEntry(self._lock(path).path, found)
                for path in self._checkout.locks
                if path != root.path and (found := self._lock(path).by_address.get(one.address)) is not None
            )
        return Examined(
            one.error,
            incident,
            root.path,
            one.address,
            root.lock,
            root.tool,
            root.configuration,
            entry,
            packages=packages,
            past=past,
            others=others,
            is_canonical=not root.lock.exists or (root.lock.is_valid and is_canonical(root.lock)),
            reads_history=self._history is not None,
            has_data=self._data(root.path).is_dir(),
        )

    def _data(self, root: str) -> Path:
        """Return the folder of installed packages of a root."""
        folder = self._checkout.top / root
        return folder / (self._request.environ.get("TF_DATA_DIR") or ".terraform") / "providers"

    def _packages(self, one: _Subject, sources: Sources) -> tuple[FoundPackage, ...]:
        """Return the copies of the locked package on this machine: the root's own first."""
        if one.entry is None:
            return ()
        address, version = one.entry.address, str(one.entry.version)
        finder, found = self._finder, list[FoundPackage]()
        for path in dict.fromkeys((one.root.path, *self._checkout.locks)):
            shown = f"{self._checkout.shown(path)}/.terraform/providers".removeprefix("./")
            is_own = path == one.root.path
            found += [
                replace(package, is_of_root=is_own)
                for package in finder.installed(self._data(path), shown, address, version)
            ]
        if sources.cache:
            found += finder.in_cache(sources.cache, address, version)
        for mirror in dict.fromkeys((*self._request.mirrors, *sources.mirrors)):
            found += finder.in_mirror(mirror, address, version)
        return tuple(found)

    def _compared(self, packages: tuple[FoundPackage, ...], entry: LockEntry) -> tuple[FoundPackage, ...]:
        """Add the differing files to copies that the lock file does not accept, where another copy is accepted."""
        accepted = [one for one in holding(packages, entry) if not one.zh]
        if not accepted:
            return packages
        locked, result = frozenset(entry.hashes), []
        for one in packages:
            twin = next((each for each in accepted if each.platform == one.platform), None)
            if twin is None or one.zh or not one.h1 or one.hashes & locked or one.origin.path == "the given hash":
                result.append(one)
                continue
            places = (self._request.folder / one.origin.path, self._request.folder / twin.origin.path)
            result.append(replace(one, differing=differing_files(*places)))
        return tuple(result)

    def _onset(self, examined: Examined) -> Onset | None:
        if self._history is None or examined.entry is None:
            return None
        try:
            return self._history.onset(examined.past, examined.entry)
        except RepositoryError:
            return None


def _with_error(subject: _Subject, error: RecognisedError) -> _Subject:
    """Return a subject of a root as that of an error."""
    return _Subject(error, subject.root, subject.address, subject.entry)


def _parsed(text: str, parse: Callable[[str], ProviderAddress]) -> ProviderAddress | None:
    try:
        return parse(text)
    except (AddressError, ValueError):
        return None


def _first(told: dict[str, str], name: str, sources: Iterable[tuple[str, str]]) -> str:
    """Return the first known value, and note its source."""
    for source, value in sources:
        if value:
            told[name] = source
            return value
    return ""


def _platform_of(error: RecognisedError | None, log: LogFacts) -> str:
    return (error.platform if error is not None else "") or log.platform


def _path_of(error: RecognisedError | None, sources: Sources, told: dict[str, str]) -> PackagePath | None:
    """Return the origin of the package, from the wording, else from the configuration of this machine."""
    if error is None:
        return None
    row = BY_KIND[error.kind]
    if row.path is not None:
        told["path"] = "the message"
        return row.path
    if sources.has_installation and not sources.has_direct:
        told["path"] = "the CLI configuration here"
        return PackagePath.NETWORK_MIRROR if sources.has_network_mirror else PackagePath.PACKED_MIRROR
    return None


def _headline(examined: Examined) -> str:
    return examined.release if examined.entry is not None else examined.name
