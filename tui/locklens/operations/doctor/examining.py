"""What is known about each subject without a registry: the facts of the run, copies of its package, git's history."""

from __future__ import annotations

import os
import posixpath
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS, TERRAFORM
from locklens.doctor import ElsewhereEntry, FoundPackage, InstalledPlace, holding, likeliest_mirror
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.examined import ASSUMED, Examined
from locklens.doctor.fixed import OF_HASHES, OF_REQUIREMENTS
from locklens.doctor.model import Incident, Onset, PackagePath, ReadLog, RecognisedError
from locklens.doctor.redacting import redacted
from locklens.hashes import is_of_zip, packages_of
from locklens.machine import path_from_shell
from locklens.operations.doctor.history import LaterWrites
from locklens.operations.doctor.log_roots import twin_of
from locklens.operations.doctor.places import PackageFinder, Sources, configured_sources, linked, of_provider
from locklens.operations.root_modules import tool_of
from locklens.packages.installed import KEPT_ASIDE, differing_files
from locklens.project.clifiles import this_platform
from locklens.project.installation import MethodKind
from locklens.storage.files import is_within
from locklens.text import listing
from locklens.versions import Constraints

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry, LockFile
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.log_roots import Checkout
    from locklens.operations.doctor.subjects import DoctorSubject, SubjectFinder
    from locklens.operations.root_modules import Root


_OF_FOLDERS = frozenset({"cached-package", "cached-modified"})
"""Errors about the installed folder of one root, whatever others have the same entry."""

_OF_PATHS = frozenset({"cached-modified", "package-damaged"})
"""Errors whose message names the folder or the file of a package."""

_MOST_READ = 200
"""Other roots whose configuration is read for the modules that they share with the one that failed, or its entry."""


_MOST_DATED = 5
"""The most entries of other roots with other hashes of the version, whose commits are read."""

_OF_STARTING = frozenset({"plugin-failed", "plugin-not-executable"})
"""Errors that name the program of a provider, which the tool starts."""
_OF_LACKING = frozenset({"not-locked", "readonly-changed"})
"""Errors of a lock file without a provider."""

_MENDED_BY_WRITES = OF_HASHES | {
    "locked-mismatch",
    "lock-constraint",
    "not-locked",
    "lock-incomplete",
    "plugin-missing",
}
"""Errors that an entry ends as locklens writes it."""


class Examiner:
    """Examines subjects; hashes each copy of a package once.

    Args:
        request: The log, and the facts that the user knows besides it.
        read: The log.
        checkout: The files on disk.
        finder: Finds them in other roots, too.
        cancel: Set by another thread to stop.
    """

    def __init__(
        self,
        request: DoctorRequest,
        read: ReadLog,
        checkout: Checkout,
        finder: SubjectFinder,
        cancel: threading.Event | None,
    ) -> None:
        self._request = request
        self._read = read
        self._checkout = checkout
        self._finder = finder
        self._roots = finder.roots
        self._packages_on_disk = PackageFinder(request.folder, cancel)
        self._history = finder.roots.history
        self._writes = LaterWrites(checkout.top, request.logged, self._history)
        self.notes: list[str] = []

    @property
    def is_cut(self) -> bool:
        """True if there were more copies of packages than are hashed."""
        return self._packages_on_disk.is_cut

    def sources(self, first: DoctorSubject | None) -> Sources:
        """Return the places that packages come from, by the user's words and the settings of the first root."""
        found = configured_sources(
            first.root.tool if first else TERRAFORM,
            self._request.environ,
            self._checkout.top / (first.root.path if first else ""),
        )
        return replace(found, cache=self._request.cache) if self._request.cache else found

    def with_own_roots(self, subjects: Sequence[DoctorSubject]) -> list[DoctorSubject]:
        """Return the subjects; of roots with equal entries, those that differ besides them.

        All of them fit a log that names no root. The root of an error about an installed folder has a folder that is
        not locked, where every folder was hashed; that of a fix was changed later than the log, unless another root is
        still as the log says, or has a package that was moved aside.
        """
        found: list[DoctorSubject] = []
        for one in subjects:
            kind = one.error.kind if one.error is not None and one.fitting else ""
            altered, mended = self._altered(one) if kind in _OF_FOLDERS else ([], [])
            own, others = altered if not self.is_cut else [], list[str]()
            if not own and one.error is not None:
                own = self._changed_since(one, one.error)
                rest = [path for path in one.fitting if path not in own] if own else []
                others = [path for path in rest if self._was_other(path, one.address)]
                if left := self._as_at_the_log(one, one.error, changed=own):
                    (still,) = self._finder.elsewhere(one, left[:1])
                    one, own = replace(still, fitting=one.fitting), []  # noqa: PLW2901 - the same error
            own = own or mended
            if kind == "lock-incomplete":
                own, others = [path for path in one.fitting if self._is_incomplete(path, one.address)] or own, []
            if kind == "lock-invalid":
                own = [path for path in one.fitting if self._is_repaired(self._roots.lock(path))]
            of_own = self._finder.elsewhere(one, own) if own else [one]
            if own and others:
                of_own = [replace(each, fitting=(*own, *others)) for each in of_own]
            found += [each for each in of_own if each not in found]
        return found

    def _was_other(self, path: str, address: ProviderAddress | None) -> bool:
        """True if a root's newest commit before the log has another entry of a provider than the root has now."""
        if self._history is None or address is None:
            return False
        return self._history.was_other(self._roots.lock(path), address, self._request.logged)

    def _changed_since(self, one: DoctorSubject, error: RecognisedError) -> list[str]:
        """Return the roots that an error fits whose entries were changed later than the log, as a fix does."""
        if error.kind == "readonly-changed":
            return [path for path in one.fitting if self._has_other_providers(path)]
        own = list[str]()
        if error.kind in _MENDED_BY_WRITES:
            own = [path for path in one.fitting if self._is_mended(path, one.address, error)]
        if not own and error.version:
            replaced = self._writes.replaced_version
            own = [path for path in one.fitting if replaced(self._roots.lock(path), one.address) == error.version]
        return own

    def _as_at_the_log(self, one: DoctorSubject, error: RecognisedError, *, changed: Sequence[str]) -> list[str]:
        """Return the roots besides the changed ones, if there are any, that still are as an error says.

        They lack the provider, lock the version that was replaced, or lack hashes that were added to it; or they were
        changed by whatever into something else than what was mended.
        """
        others = [path for path in one.fitting if path not in changed] if changed else []
        if error.kind in _OF_LACKING:
            return others
        past = [(self._writes.replaced(lock, one.address), lock) for lock in map(self._roots.lock, changed)]
        replaced = [(was.entry, lock) for was, lock in past if was is not None and was.entry is not None]
        found = []
        for path in others:
            lock = self._roots.lock(path)
            is_like = any(_is_like(lock, *each) for each in replaced)
            is_mended = not replaced or any(_is_as_mended(lock, *each) for each in replaced)
            if is_like or (not is_mended and self._was_other(path, one.address)):
                found.append(path)
        return found

    def _is_mended(self, path: str, address: ProviderAddress | None, error: RecognisedError) -> bool:
        """True if locklens wrote an entry that was before as the error says: absent, or of that version."""
        lock = self._roots.lock(path)
        if not self._writes.has_written(lock, address):
            return False
        if error.kind == "not-locked":
            return address not in (self._locked_before(lock) or ())
        return not error.version or self._writes.replaced_version(lock, address) in {"", error.version}

    def _is_incomplete(self, path: str, address: ProviderAddress | None) -> bool:
        """True if a root locks the provider without a hash of its zip files, which a signed list would have given."""
        entry = self._roots.lock(path).by_address.get(address) if address is not None else None
        return entry is not None and not packages_of(entry.hashes)

    def _is_repaired(self, lock: LockFile) -> bool:
        """True if a lock file can be read, and could not in a commit, or before a write later than the log."""
        was_broken = self._history is not None and self._history.was_repaired(lock)
        is_sound = self._history is None or not self._history.has_hashes_of_others(lock)
        return is_sound and (was_broken or self._writes.made_readable(lock))

    def _has_other_providers(self, path: str) -> bool:
        """True if entries of a lock file were added or removed later than the log."""
        lock = self._roots.lock(path)
        before = self._locked_before(lock) if self._is_later(self._checkout.top / lock.path) else None
        return before is not None and before != frozenset(lock.by_address)

    def _altered(self, one: DoctorSubject) -> tuple[list[str], list[str]]:
        """Return the roots that an error fits: where the installed package is not locked, and where it was moved aside.

        Packages of this machine's platform count.
        """
        assert one.address is not None
        found, mended, machine = list[str](), list[str](), this_platform()
        for path in one.fitting:
            entry = self._roots.lock(path).by_address.get(one.address)
            if entry is None:
                continue
            data = self._installed(path)
            if self._kept_aside(Path(data.place, str(entry.address), str(entry.version))):
                mended.append(path)
            copies = self._packages_on_disk.copies(
                "installed", data.place, one.address, str(entry.version), shown=data.shown
            )
            locked = frozenset(entry.hashes)
            if any(each.hashes and each.platform == machine and not each.hashes & locked for each in copies):
                found.append(path)
        return found, mended

    def examined(self, subjects: Sequence[DoctorSubject]) -> list[Examined]:
        """Return what is known about each subject, without facts of registries.

        Raises:
            ConfigurationError: The package that was handed in cannot be hashed.
        """
        first, package = subjects[0] if subjects else None, self._request.package
        sources = self.sources(first)
        platform = self.incident(first, sources).platform or ""
        given = self._packages_on_disk.given(package, platform) if package else None
        of_package = given.platform if given is not None else ""
        address = self._address_of(given, subjects) if given is not None else None
        return [
            self._examined(
                one, self.incident(one, sources, of_package), sources, given if one.address == address else None
            )
            for one in subjects
        ]

    def _address_of(self, given: FoundPackage, subjects: Sequence[DoctorSubject]) -> ProviderAddress | None:
        """Return the provider that the package which was handed in is of; None, and a note, where nothing tells it."""
        addresses = {one.address: None for one in subjects if one.address is not None}
        entries = [entry for path in self._checkout.locks for entry in self._roots.lock(path).entries]
        for one in subjects:
            past = self._history.past(one.root.lock.path, one.address) if self._history and one.address else ()
            entries += [state.entry for state in past if state.entry is not None]
        locking = {entry.address for entry in entries if not given.hashes.isdisjoint(entry.hashes)}
        address = of_provider(given, addresses, locking)
        if addresses and address not in addresses:
            why = f"it is a package of {address}"
            if address is None:
                way = (
                    "name its provider with --provider" if self._request.log is None else "pass that one's error alone"
                )
                why = f"nothing tells of which it is: {listing(sorted(map(str, addresses)), 5)}; {way}"
            self.notes.append(f"{given.path} was compared with no entry: {why}")
        return address

    def incident(self, subject: DoctorSubject | None, sources: Sources, of_package: str = "") -> Incident:
        """Return the circumstances of the error: what the user said, else the log, else this machine.

        Args:
            subject: The provider in its root.
            sources: The places that packages come from.
            of_package: The platform of the package that was handed in; "" for unknown.
        """
        request, log = self._request, self._read.facts
        told: dict[str, str] = {}
        of = subject.root if subject is not None and subject.is_of_root else None
        tool = _first(told, "tool", (("given", request.tool.name if request.tool else ""), ("log", log.tool),
                                     ("root", of.tool.name if of is not None else "")))  # fmt: skip
        version = _first(told, "tool_version", (("given", request.tool_version), ("log", log.tool_version)))
        own = this_platform() if request.log is None else ""
        error = subject.error if subject is not None else None
        here = self._place_here(error, subject)
        platform = _first(
            told,
            "platform",
            (
                ("given", request.platform),
                ("log", (error.platform if error is not None else "") or log.platform),
                ("the package", of_package),
                ("this machine", own),
                (f"{ASSUMED}: {here} of the log is here", this_platform() if here else ""),
            ),
        )
        known = sources.of_provider(subject.address if subject is not None else None)
        path = request.path or _path_of(error, known, told)
        if request.path is not None:
            told["path"] = "given"
        root = self._checkout.shown(of.path) if of is not None and subject is not None and not subject.fitting else None
        return Incident(tool or None, version or None, platform or None, path, root, tuple(told.items()))

    def _moved(self, one: DoctorSubject, sources: Sources) -> FoundPackage | None:
        """Return the package that a fix has moved aside, by the path that it had; None without one."""
        if one.entry is None:
            return None
        below, finder = f"{one.entry.address}/{one.entry.version}", self._packages_on_disk
        installed = self._installed(one.root.path, one.error)
        mirrors = (*self._mirrors(one), *sources.of_provider(one.entry.address).mirrors)
        caches = filter(None, (sources.cache, _named_cache(one.error)))
        places = [("installed", installed.place, installed.shown)]
        places += [("plugin-cache", top, finder.shown(top)) for top in caches]
        places += [("mirror", top, finder.shown(top)) for top in mirrors]
        for kind, top, shown in places:
            folder = self._request.folder / top / below
            if name := self._kept_aside(folder):
                platform = name.partition(KEPT_ASIDE)[0]
                is_of_run = top in (self._request.cache, *self._request.mirrors) or (
                    self._request.package != "" and self._request.folder / self._request.package == folder / platform
                )
                found = FoundPackage(kind, f"{shown}/{below}/{platform}", platform, is_of_run=is_of_run)
                return finder.once(folder / name, found)
        return None

    def _kept_aside(self, folder: Path) -> str:
        """Return the name of a package in a version's folder that was moved aside later than the log; else ""."""
        try:
            found = sorted(each.name for each in os.scandir(folder) if KEPT_ASIDE in each.name)
        except (OSError, ValueError):
            return ""
        return next((name for name in found if self._is_later(folder / name)), "")

    def _is_later(self, place: Path) -> bool:
        """True if a folder was made, moved or changed later than the log, whose time is known."""
        try:
            changed = datetime.fromtimestamp(place.stat().st_ctime, UTC).isoformat(timespec="seconds")
        except (OSError, ValueError):
            return False
        return self._request.logged != "" and changed >= self._request.logged

    def _place_here(self, error: RecognisedError | None, subject: DoctorSubject | None) -> str:
        """Return a folder or file that the log names, the error's own first, and that is here; "" without one."""
        if error is None or subject is None:
            return ""
        others = [place for one in self._read.errors for place in (one.place, *one.search_folders)]
        places = (error.place, *error.search_folders, *filter(_is_absolute, others))
        return next(iter(self._here(subject, places)), "")

    def _here(self, subject: DoctorSubject, places: Iterable[str]) -> dict[str, Path]:
        """Return the places of a log, which may be relative to its root, that are on this machine."""
        found = {}
        for one in places:
            place = self._checkout.top / subject.root.path / one
            with suppress(OSError, ValueError):
                if _is_local(one) and place.exists():
                    found[one] = place
        return found

    def _examined(
        self, one: DoctorSubject, incident: Incident, sources: Sources, given: FoundPackage | None
    ) -> Examined:
        root, entry = one.root, one.entry
        known, mirrors = sources.of_provider(one.address), self._mirrors(one)
        packages = self._packages(one, known)
        if given is not None:
            packages = self._with_given(packages, replace(given, is_of_run=True), one)
        if entry is not None:
            packages = self._compared(packages, entry)
        incident = _of_layout(incident, one.error, packages)
        others, shared = self._elsewhere(one.address, root.path), dict[str, frozenset[str]]()
        past = self._history.past(root.lock.path, one.address) if self._history and one.address else ()
        if self._history is not None:
            same = [each.lock_file for each in others.values() if _has_same_hashes(each.entry, entry)]
            past, shared = self._history.shared(root.lock.path, past, same[:_MOST_READ])
        removed_by, is_ignored = self._lost(one)
        is_of_file = one.error is not None and one.error.kind == "lock-invalid"
        is_repaired = is_of_file and self._is_repaired(root.lock)
        is_damaged = is_repaired or bool(root.lock.problems)
        damaging = self._history.damage(root.lock) if self._history and root.lock.problems else ("", "")
        twins = self._elsewhere(twin_of(one.address)) if one.address is not None else {}
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
            written=self._writes.before(root.lock, one.address),
            replaced_version=self._writes.replaced_version(root.lock, one.address),
            is_written=self._writes.has_written(root.lock, one.address),
            is_repaired=is_repaired,
            before_damage=self._history.before_damage(root.lock) if self._history and is_damaged else (),
            tool_commit=self._tool_commit(one),
            locked_before=self._locked_before(root.lock),
            others=tuple(self._with_requirements(one, others, shared)),
            readable_commit=self._history.newest_readable(root.lock.path)
            if self._history and root.lock.problems
            else "",
            without_new=self._history.without_new_hashes(root.lock) if self._history else frozenset(),
            damaging_merge=damaging[0],
            damaging_edit=damaging[1],
            merge=self._history.merge_of(past, entry) if self._history and entry is not None else "",
            made_by=self._history.made_by(past, entry) if self._history and entry is not None else "",
            installed=self._installed(root.path, one.error),
            twins=tuple(twins.values()),
            moved=self._moved(one, sources),
            is_offline=self._request.network is None or self._request.network.is_offline,
            fitting=tuple(map(self._checkout.shown, one.fitting)),
            asks_registry=known.has_direct and not one.is_of_plugin_folders,
            mirrors=(*mirrors, *known.mirrors) if known.has_installation else mirrors,
            is_constraint_of_here=self._has_constraint(one),
            was_required=self._was_required(one),
            removed_by=removed_by,
            is_ignored=is_ignored,
            servers=() if one.is_of_plugin_folders else known.servers,
            registry_url=known.registries.get(one.address.host, "") if one.address is not None else "",
            may_send_token=one.address is None or known.may_send_token(one.address.host),
            machine=this_platform(),
            names_tool=_is_of_both_tools(root.lock)
            or tool_of(self._checkout.tree, root.path, root.lock) is not root.tool,
            start=path_from_shell(self._request.folder),
            top=path_from_shell(self._checkout.top),
            here=self._checkout.here,
        )

    def _lost(self, one: DoctorSubject) -> tuple[str, bool]:
        """Return what removed the entry of a provider that is not locked, and whether git ignores its lock file."""
        if self._history is None or one.entry is not None or one.address is None or one.root.lock.problems:
            return "", False
        path = one.root.lock.path
        is_ignored = not one.root.lock.exists and self._history.is_ignored(path)
        return self._history.removed_by(path, one.address), is_ignored

    def _tool_commit(self, one: DoctorSubject) -> str:
        """Return the newest commit with the other tool's entry, if the last change took it away; "" for any other."""
        twin = twin_of(one.address) if one.address is not None else None
        if twin is None or self._history is None or twin in one.root.lock.by_address:
            return ""
        commit, later = self._history.last_with(one.root.lock.path, twin)
        return commit if later <= 1 else ""

    def _locked_before(self, lock: LockFile) -> frozenset[ProviderAddress] | None:
        before = self._writes.providers_before(lock)
        if before is not None or self._history is None:
            return before
        return self._history.providers(lock.path, self._request.logged)

    def _with_requirements(
        self, one: DoctorSubject, others: Mapping[str, ElsewhereEntry], shared: Mapping[str, frozenset[str]]
    ) -> Iterator[ElsewhereEntry]:
        """Yield the entries of other roots, with what requires the provider where a constraint may be theirs, too.

        That is so in the roots that a log fits as well, in those with the same hashes, which a fix would change too,
        and in all that call a module of the root.
        """
        own = one.root.configuration.of(one.address) if one.address is not None else ()
        is_shared = any(posixpath.dirname(each.file) != one.root.path for each in own)
        is_same = {path: _has_same_hashes(other.entry, one.entry) for path, other in others.items()}
        further = [path for path in others if is_shared or is_same[path]] if len(others) <= _MOST_READ else []
        read = list(dict.fromkeys((*(path for path in others if path in one.fitting), *further)))
        roots = {each.root.path: each.root for each in self._finder.elsewhere(one, read)}
        differing = [path for path in others if is_same[path] is False][:_MOST_DATED]
        for path, other in others.items():
            required = roots[path].configuration.of(other.entry.address) if path in roots else ()
            since = self._history.since_of(other) if self._history is not None and path in differing else ""
            own_commits = shared.get(other.lock_file, frozenset())
            shown = self._checkout.shown(path)
            yield replace(other, root=shown, requirements=tuple(required), since=since, shared=own_commits)

    def _elsewhere(self, address: ProviderAddress | None, own: str | None = None) -> dict[str, ElsewhereEntry]:
        """Return the entry of a provider in each other lock file that has one, by the folder of its root."""
        if address is None:
            return {}
        locks = {path: self._roots.lock(path) for path in self._checkout.locks if path != own}
        found = ((path, lock.path, lock.by_address.get(address)) for path, lock in locks.items())
        return {path: ElsewhereEntry(name, entry) for path, name, entry in found if entry is not None}

    def _installed(self, root: str, error: RecognisedError | None = None) -> InstalledPlace:
        """Return where the packages of a root are: in the folder that an error about it names, or by the settings."""
        folder, setting = self._checkout.top / root, self._request.environ.get("TF_DATA_DIR") or ""
        top = folder / (setting or ".terraform")
        named = self._named_data(error)
        if named is not None and named.resolve() != top.resolve():
            data = str(named / "providers")
            return InstalledPlace(data, data, data, is_there=True, setting=str(named))
        shown = str(top) if os.path.isabs(setting) else f"{self._checkout.shown(root)}/{setting or '.terraform'}"  # noqa: PTH117
        shown = f"{os.path.normpath(shown)}/providers".replace(os.sep, "/")
        place = top / "providers"
        base = str(place) if setting else str(self._checkout.top)
        return InstalledPlace(str(place), shown, base, is_there=place.is_dir())

    def _named_data(self, error: RecognisedError | None) -> Path | None:
        """Return the data folder on this machine that an error about an installed package names; None without one."""
        if error is None or error.kind not in _OF_FOLDERS or not _is_absolute(error.place):
            return None
        place = Path(error.place)
        try:
            return place.parent if place.name == "providers" and place.is_dir() else None
        except (OSError, ValueError):
            return None

    def _packages(self, one: DoctorSubject, sources: Sources) -> tuple[FoundPackage, ...]:
        """Return the copies of the locked package on this machine: the root's own first."""
        if one.entry is None:
            return ()
        address, version = one.entry.address, str(one.entry.version)
        finder, found = self._packages_on_disk, list[FoundPackage]()
        own = self._installed(one.root.path, one.error)
        for data in dict.fromkeys((own, *map(self._installed, self._checkout.locks))):
            found += [
                replace(package, is_of_root=data == own, base=data.base, is_new=self._is_later(Path(package.place)))
                for package in finder.copies("installed", data.place, address, version, shown=data.shown)
            ]
        for cache in filter(None, dict.fromkeys((sources.cache, _named_cache(one.error)))):
            cached = finder.copies("plugin-cache", cache, address, version)
            found += [replace(each, is_of_run=cache == self._request.cache) for each in cached]
            found = linked(found)
        mirrors = self._mirrors(one)
        for mirror in mirrors:
            found += [replace(each, is_of_run=True) for each in finder.copies("mirror", mirror, address, version)]
        platform, behind = self._request.platform or this_platform(), None
        for method in sources.methods:
            if not method.kind.is_on_disk:
                behind = behind if behind is not None and method.kind is MethodKind.DIRECT else method.kind
            elif method.place not in mirrors and not one.is_of_plugin_folders:
                copies = list(finder.copies("mirror", method.place, address, version))
                found += [replace(each, behind=behind) for each in copies]
                behind = method.kind if any(each.platform == platform for each in copies) else behind
        found = [replace(each, is_of_run=True) if self._is_named(each, one.error) else each for each in found]
        return tuple(replace(one, base=self._bound(one.base)) if one.base else one for one in found)

    def _with_given(
        self, packages: tuple[FoundPackage, ...], given: FoundPackage, one: DoctorSubject
    ) -> tuple[FoundPackage, ...]:
        """Add the package that was handed in; without a log, one that was found here already counts once."""
        place = os.path.realpath(self._request.folder / given.path)
        is_found = any(each.place and os.path.realpath(each.place) == place for each in packages)
        return packages if is_found and one.error is None else (given, *packages)

    def _mirrors(self, one: DoctorSubject) -> tuple[str, ...]:
        """Return the folders of mirrors that the user names, and those here that the log names as searched."""
        folders = self._here(one, one.error.search_folders) if one.error is not None else {}
        return tuple(dict.fromkeys((*self._request.mirrors, *map(str, folders.values()))))

    def _is_named(self, one: FoundPackage, error: RecognisedError | None) -> bool:
        """True if a message names the path of a copy."""
        if error is None or error.kind not in _OF_PATHS or one.kind == "installed":
            return False
        return redacted(os.path.normpath(self._request.folder / one.path)) in error.text

    def _bound(self, base: str) -> str:
        """Return the folder that a place must not lead out of: the top for all below it, which others may have made."""
        top = os.path.realpath(self._checkout.top)
        return top if is_within(top, os.path.normpath(base)) else base

    def _was_required(self, one: DoctorSubject) -> bool:
        """True if the root, or each that the log fits, required the provider of an error before, and does not now."""
        error, address = one.error, one.address
        if error is None or error.kind not in {*OF_REQUIREMENTS, "readonly-changed"} or address is None:
            return False
        roots = [self._roots.root(path) for path in one.fitting or (one.root.path,)]
        if any(root.configuration.unknown_reason or root.configuration.requires(address) for root in roots):
            return False
        name = error.provider or str(address)
        return all(self._roots.had_requirement(root.path, name) or self._had_source(root, address) for root in roots)

    def _had_source(self, root: Root, address: ProviderAddress) -> bool:
        """True if a commit of a file of a root has a source address."""
        if (history := self._history) is None:
            return False
        ends = [f'{start}{address.namespace}/{address.type}"' for start in '"/']
        pairs = ((file, end) for file in sorted(root.configuration.files) for end in ends)
        return any(history.had_words(file, [end], is_new=False) for file, end in pairs)

    def _has_constraint(self, one: DoctorSubject) -> bool:
        """True if the constraint in a message stands where its root requires the provider, or did in a commit.

        Of commits, the numbers of its versions count: what a file says is not parsed.
        """
        if one.error is None or one.address is None or self._history is None:
            return True
        try:
            wanted = frozenset(Constraints.parse(one.error.constraint).terms)
        except ValueError:
            return True
        if wanted <= frozenset(one.root.configuration.constraints(one.address).terms):
            return True
        if self._roots.had_constraint(one.root.path, one.error):
            return True
        numbers = [str(term.version).removesuffix(".0").removesuffix(".0") for term in wanted]
        files = {requirement.file for requirement in one.root.configuration.of(one.address)}
        return any(self._history.had_words(file, numbers) for file in sorted(files))

    def _compared(self, packages: tuple[FoundPackage, ...], entry: LockEntry) -> tuple[FoundPackage, ...]:
        """Add the differing files to copies that the lock file does not accept, where another copy is accepted."""
        accepted = [one for one in holding(packages, entry) if not one.zh]
        if not accepted:
            return packages
        locked, result = frozenset(entry.hashes), []
        for one in packages:
            twin = next((each for each in accepted if each.platform == one.platform), None)
            if twin is None or one.zh or not one.hashes or one.hashes & locked or one.path == "the given hash":
                result.append(one)
                continue
            places = (self._request.folder / one.path, self._request.folder / twin.path)
            result.append(replace(one, differing=differing_files(*places)))
        return tuple(result)

    def onset(self, examined: Examined, root: str) -> Onset | None:
        """Return the commit that git blames for the entry as it is, or for the line that is wrong; None for unknown.

        It is that of a root with an equal entry, relative to the current folder.
        """
        if self._history is not None and examined.lock.problems:
            return self._history.onset_of_damage(examined.lock, examined.lock.problems[0].line)
        if self._history is None or examined.entry is None:
            return None
        lock = self._roots.lock(self._checkout.path_of(self._request.folder, root))
        entry = lock.by_address.get(examined.entry.address)
        past = self._history.past(lock.path, examined.entry.address)
        return self._history.onset(lock, past, entry) if entry is not None else None


def _is_like(lock: LockFile, was: LockEntry, now: LockFile) -> bool:
    """True if a lock file has an entry as another one had it: the version, or where that stayed, what it lacked.

    Of what was added, the `zh` count: the `h1` are of the platforms that somebody asked for.
    """
    entry, new = lock.by_address.get(was.address), now.by_address.get(was.address)
    if entry is None or entry.version != was.version:
        return False
    if new is None or new.version != was.version:
        return True
    added = {*new.hashes} - {*was.hashes}
    added = set(filter(is_of_zip, added)) or added
    return not added <= {*entry.hashes} if added else {*entry.hashes} == {*was.hashes}


def _is_as_mended(lock: LockFile, was: LockEntry, now: LockFile) -> bool:
    """True if a lock file has what the entry of another one was replaced by, or no such entry."""
    entry, new = lock.by_address.get(was.address), now.by_address.get(was.address)
    if entry is None or new is None:
        return entry is None
    return entry.version == new.version and packages_of(new.hashes) <= {*entry.hashes}


def _is_of_both_tools(lock: LockFile) -> bool:
    """True if a lock file has entries of each tool's registry: a review judges it by the tool of its base."""
    hosts = {entry.address.host for entry in lock.entries}
    return all(tool.default_host in hosts for tool in DIALECTS.values())


def _has_same_hashes(entry: LockEntry, own: LockEntry | None) -> bool | None:
    """Return whether an entry has the hashes of another root's; None if its version is another one."""
    return {*entry.hashes} == {*own.hashes} if own is not None and entry.version == own.version else None


def _first(told: dict[str, str], name: str, sources: Iterable[tuple[str, str]]) -> str:
    """Return the first known value, and note its source."""
    for source, value in sources:
        if value:
            told[name] = source
            return value
    return ""


def _path_of(error: RecognisedError | None, sources: Sources, told: dict[str, str]) -> PackagePath | None:
    """Return the origin of the package, from the wording, else from the configuration of this machine."""
    if error is None:
        return None
    row = BY_KIND[error.kind]
    if error.kind in _OF_STARTING and error.place and f"{error.provider}/" not in error.place.replace("\\", "/"):
        return None  # a folder of dev_overrides
    if row.path is not None:
        told["path"] = "the message"
        return PackagePath.PLUGIN_CACHE if _is_of_cache(error, sources.cache) else row.path
    if error.plugin_folders:
        told["path"] = "the log"
        return PackagePath.PACKED_MIRROR
    if "provider mirror" in error.text:
        told["path"] = "the message"
        return PackagePath.NETWORK_MIRROR
    mirror = likeliest_mirror(sources.methods)
    if mirror is None or sources.has_direct or not sources.has_installation:
        return None
    told["path"] = "the CLI configuration here"
    return next(path for path in PackagePath if path.method is mirror.kind)


def _of_layout(incident: Incident, error: RecognisedError | None, packages: Sequence[FoundPackage]) -> Incident:
    """Return the circumstances; a mirror in a folder, which settings or options name, is of the form that it has here.

    Of one without the package here, or on another machine, the form is not known. What the tools call a current package
    is a zip file.
    """
    is_told = dict(incident.sources).get("path") in {"given", "the message"}
    if incident.path is not PackagePath.PACKED_MIRROR or is_told or (error and error.kind == "current-package"):
        return incident
    copies = [one for one in packages if one.kind == "mirror" and one.hashes]
    if any(one.zh for one in copies):
        return incident
    return replace(incident, path=PackagePath.UNPACKED_MIRROR if copies else PackagePath.FILESYSTEM_MIRROR)


def _is_local(place: str) -> bool:
    """True for a place of a log that may be looked at: //host/share, say, would be asked for over a network."""
    return place != "" and not place.startswith("~") and not place.replace("\\", "/").startswith("//")


def _is_absolute(place: str) -> bool:
    return _is_local(place) and os.path.isabs(place)  # noqa: PTH117


def _is_of_cache(error: RecognisedError, cache: str) -> bool:
    """True if the folder that differs from what OpenTofu fetched is in a plugin cache, and not in a root's data folder.

    That is `.terraform/providers`, or `providers` in another folder, unless the settings here name it as their cache.
    """
    place = error.place.replace("\\", "/")
    if error.kind != "cached-modified" or place.count("/") < _ADDRESS_PARTS:
        return False
    top = place.rsplit("/", _ADDRESS_PARTS)[0]
    return top.rpartition("/")[2] != "providers" or (cache != "" and top == redacted(os.path.normpath(cache)))


def _named_cache(error: RecognisedError | None) -> str:
    """Return the plugin cache on this machine that a message names; "" without one."""
    if error is None or not _is_of_cache(error, "") or not _is_absolute(error.place):
        return ""
    top = error.place.rsplit("/", _ADDRESS_PARTS)[0]
    return top if Path(top).is_dir() else ""


_ADDRESS_PARTS = 5
"""Folders below that of all packages: host, namespace, type, version and platform."""
