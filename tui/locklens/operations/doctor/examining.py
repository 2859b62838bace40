"""What is known about each subject without a registry: the facts of the run, copies of its package, git's history."""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.dialect import DIALECTS, twin_of
from locklens.doctor import ElsewhereEntry, FoundPackage, PastEntry, likeliest_mirror
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.examined import ASSUMED, Examined
from locklens.doctor.fixed import OF_ENTRIES, OF_RELEASES, OF_REQUIREMENTS
from locklens.doctor.history import SECONDS, EntryHistory
from locklens.doctor.messages import MODULE_MISSING, NO_MESSAGE, OF_VERSIONS, ReadLog, RecognisedError
from locklens.doctor.model import Incident, Onset, PackagePath
from locklens.doctor.shell import Shell
from locklens.doctor.today import Today
from locklens.errors import RepositoryError
from locklens.lines import FilePlace
from locklens.machine import path_from_shell
from locklens.operations.doctor.changed_roots import ChangedRoots
from locklens.operations.doctor.copies import CopyFinder, is_absolute, is_of_cache
from locklens.operations.doctor.places import of_provider
from locklens.operations.doctor.run_modules import required_there
from locklens.operations.root_modules import tool_of
from locklens.project import configuration_files
from locklens.project.clifiles import this_platform
from locklens.project.configuration import constraint_place, is_fetched
from locklens.project.revision_paths import path_below_top
from locklens.text import listing
from locklens.versions import Constraints, Operator, Version

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry, LockFile
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.checkout import Checkout
    from locklens.operations.doctor.places import Sources
    from locklens.operations.doctor.subjects import DoctorSubject, SubjectFinder
    from locklens.operations.root_modules import Root
    from locklens.versions import Term


_MOST_READ = 200
"""Other roots whose configuration is read for the modules that they share with the one that failed, or its entry."""


_MOST_DATED = 5
"""The most entries of other roots with other hashes of the version, or with the same, whose commits are read."""

_OF_STARTING = frozenset({"plugin-failed", "plugin-not-executable"})
"""Errors that name the program of a provider, which the tool starts."""


class Examiner:
    """Examines subjects; `finder` finds them in other roots, too.

    Attributes:
        copies: The packages on this machine.
        changed: What was changed in roots later than the log.
        notes: Limits, each a sentence.
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
        self._history = finder.roots.history
        self.copies = CopyFinder(request, checkout, cancel, is_relayed=read.is_relayed)
        self.changed = ChangedRoots(finder, self.copies, request.logged)
        self.notes: list[str] = []

    def examined(self, subjects: Sequence[DoctorSubject]) -> list[Examined]:
        """Return what is known about each subject, without facts of registries.

        Raises:
            ConfigurationError: The package that was handed in cannot be hashed.
        """
        first = subjects[0] if subjects else None
        given = self.copies.given(self._incident(first, self.copies.sources(first)).platform or "")
        of_package = given.platform if given is not None else ""
        address = self._address_of(given, subjects) if given is not None else None
        found = []
        for one in subjects:
            sources = self.copies.sources(one)
            incident = self._incident(one, sources, of_package)
            found.append(self._examined(one, incident, sources, given if one.address == address else None))
        return found

    def _address_of(self, given: FoundPackage, subjects: Sequence[DoctorSubject]) -> ProviderAddress | None:
        """Return the provider that the package which was handed in is of; None, and a note, where nothing tells it."""
        addresses = {one.address: None for one in subjects if one.address is not None}
        entries = [entry for path in self._checkout.locks for entry in self._roots.lock(path).entries]
        pasts = [self._history.past(one.root.lock.path, one.address) for one in subjects if one.address is not None]
        entries += [state.entry for past in pasts for state in past if state.entry is not None]
        locking = {entry.address for entry in entries if given.hashes & entry.accepted}
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

    def _incident(self, subject: DoctorSubject | None, sources: Sources, of_package: str = "") -> Incident:
        """Return the circumstances of the error: what the user said, else the log, else this machine.

        `sources` are the places that packages come from, and `of_package` is the platform of the package that was
        handed in, "" for unknown.
        """
        request, log = self._request, self._read.facts
        told: dict[str, str] = {}
        error = subject.message if subject is not None else NO_MESSAGE
        of = subject.root if subject is not None and subject.is_of_root else None
        here = self._place_here(subject) if subject is not None else ""
        known = sources.of_provider(subject.address if subject is not None else None)
        given = request.tool.name if request.tool else ""
        values: dict[str, tuple[tuple[str, str | None], ...]] = {
            "tool": (
                ("given", given),
                ("log", error.tool or log.tool),
                ("root", of.tool.name if of is not None else ""),
            ),
            "tool_version": (("given", request.tool_version), ("log", log.tool_version)),
            "platform": (
                ("given", request.platform),
                _platform_of(error, self._read),
                ("the package", of_package),
                ("this machine", this_platform() if request.log is None else ""),
                (f"{ASSUMED}: {here} of the log is here", this_platform() if here else ""),
            ),
            "path": (("given", request.path), _path_of(error, known)),
        }
        facts: dict[str, str | None] = {}
        for name, known_by in values.items():
            source, facts[name] = next((pair for pair in known_by if pair[1]), ("", None))
            told |= {name: source} if source else {}
        is_known = of is not None and subject is not None and not subject.fitting
        root = self._checkout.shown(of.path) if is_known and of is not None else None
        path = PackagePath(facts["path"]) if facts["path"] else None
        return Incident(facts["tool"], facts["tool_version"], facts["platform"], path, root, tuple(told.items()))

    def _place_here(self, subject: DoctorSubject) -> str:
        """Return a folder or file that the log names by its whole path, and that is here; "" without one.

        Relative to a root, any machine may have one.
        """
        if (error := subject.error) is None:
            return ""
        others = [place for one in self._read.errors for place in (one.place, *one.search_folders)]
        places = filter(is_absolute, (error.place, *error.search_folders, *others))
        return next(iter(self.copies.here(subject, places)), "")

    def _examined(
        self, one: DoctorSubject, incident: Incident, sources: Sources, given: FoundPackage | None
    ) -> Examined:
        root, lock, address = one.root, one.root.lock, one.address
        others = self._elsewhere(address, root.path)
        same = [each.lock_file for each in others.values() if _has_same_hashes(each.entry, one.entry)]
        past = self._history.past(lock.path, address) if address is not None else ()
        past, shared = self._history.shared(lock.path, past, same[:_MOST_READ])
        places = self.copies.places(one, sources, given)
        return Examined(
            one.error,
            _of_layout(incident, one.message, places.packages),
            root.path,
            address,
            lock,
            root.tool,
            root.configuration,
            self._chosen(one, past) or one.entry,
            others=tuple(self._with_requirements(one, others, shared)),
            twins=tuple(self._elsewhere(twin_of(address)).values()),
            tools_elsewhere=Counter(tool for path, tool in self._writers.items() if path != root.path),
            is_checked_out=not lock.exists or (self._checkout.top / root.path).is_dir(),
            fitting=tuple(map(self._checkout.shown, one.fitting)),
            history=self._past_of(one, past),
            places=places,
            today=Today(is_offline=self._request.network is None or self._request.network.is_offline),
            shell=Shell(
                names_tool=_is_of_both_tools(lock) or tool_of(self._checkout.tree, root.path, lock) is not root.tool,
                start=path_from_shell(self._request.folder),
                top=path_from_shell(self._checkout.top),
                here=self._checkout.here,
            ),
        )

    @cached_property
    def _writers(self) -> dict[str, str]:
        """The tool that wrote each lock file, by the folder, as far as its header tells."""
        writers = ((path, self._roots.lock(path).writer) for path in self._checkout.locks)
        return {path: writer.name for path, writer in writers if writer is not None}

    def _past_of(self, one: DoctorSubject, past: tuple[PastEntry, ...]) -> EntryHistory:
        """Return what git and the writes of locklens tell, beside the states of the entry."""
        root, lock, address, writes, history = one.root, one.root.lock, one.address, self._roots.writes, self._history
        is_new = history.is_new(lock, self._own_files(one), self._request.logged)
        had_no_file = self._had_no_file(one, is_new=is_new)
        is_ignored = (had_no_file or not lock.exists) and history.is_ignored(lock.path)
        left, left_by = self._left(one)
        is_lost = not lock.exists or bool(lock.problems)
        is_repaired = one.message.kind == "lock-invalid" and self.changed.is_repaired(lock)
        damaging_merge, damaging_edit = history.damage(lock) if lock.problems else ("", "")
        merge, made_by = history.made(lock, past, one.entry)
        return EntryHistory(
            past,
            self._past_elsewhere(one),
            written=writes.before(lock, address),
            is_written=writes.has_written(lock, address),
            replaced_version=writes.replaced_version(lock, address),
            is_repaired=is_repaired,
            before_loss=history.before_loss(lock) if is_repaired or is_lost else (),
            first_of_sides=dict(self._first_of_sides(one)),
            tool_commit=self._tool_commit(one),
            before_tool=history.before_tool(lock),
            whole_commit=self._whole_commit(one),
            locked_before=self.changed.locked_before(lock),
            logged=self._request.logged,
            had_other_providers=history.had_other_providers(lock),
            damaging_merge=damaging_merge,
            damaging_edit=damaging_edit,
            merge=merge,
            last_merge=history.last_merge(past, one.entry),
            readable_commit=history.newest_readable(lock.path) if is_lost else "",
            without_new=history.without_new_hashes(lock),
            paths=history.other_paths(lock),
            made_by=made_by,
            renamed_from=history.renamed_from(lock, one.entry, made_by),
            was_required=self._was_required(one),
            had_list=one.error is not None and self._roots.had_list(root.path, one.error),
            has_left_range=self._has_left_range(one, past),
            is_constraint_of_here=self._has_constraint(one),
            brought_both=self._brought_both(one, past),
            is_file_new=is_new and not had_no_file,
            is_later=self.copies.is_later(lock.path),
            removed_by=self._removed_by(one),
            is_ignored=is_ignored,
            had_no_file=had_no_file,
            left=left,
            left_by=left_by,
        )

    def _chosen(self, one: DoctorSubject, past: Sequence[PastEntry]) -> LockEntry | None:
        """Return the version that the failing run chose in place of the locked one, which has no hashes yet.

        None where the run is not known to have done so, or the error is of no release. A provider that the run searched
        for need not have been locked then, if a commit that is not known to be older than the log was the first to.
        """
        error, entry = one.message, one.entry
        is_of_release = error.kind in OF_RELEASES or (error.reason is not None and error.kind not in OF_ENTRIES)
        if entry is None or not is_of_release or error.version in {"", str(entry.version)}:
            return None
        if one.fitting and not error.is_of_upgrade:
            return None
        since = [after.date for state, after in zip(past[1:], past, strict=False) if state.entry is None]
        is_old = all(date[:SECONDS] < self._request.logged[:SECONDS] for date in since)
        was_locked = bool(past) and past[0].entry is not None and is_old
        is_searched = was_locked and entry.address in self._roots.addresses(one.root.path, error, error.searched)
        if not (error.is_of_upgrade or is_searched):
            return None
        with suppress(ValueError):
            return replace(entry, version=Version.parse(error.version), hashes=(), hash_offsets=())
        return None

    def _past_elsewhere(self, one: DoctorSubject) -> tuple[tuple[PastEntry, ...], ...]:
        """Return the history of the entry in other roots that the log fits, each that has it as the first one."""
        address, paths = one.address, [path for path in one.fitting if path != one.root.path]
        if address is None:
            return ()
        pairs = ((lock.path, lock.entry(address)) for lock in map(self._roots.lock, paths[:_MOST_READ]))
        same = [path for path, entry in pairs if entry is not None and _has_same_hashes(entry, one.entry)]
        return tuple(tuple(self._history.past(path, address)) for path in same[:_MOST_DATED])

    def _first_of_sides(self, one: DoctorSubject) -> Iterator[tuple[tuple[ProviderAddress, str], PastEntry]]:
        """Yield the commit that first locks the packages of each side of a conflict, as far as git tells."""
        for side in one.sides:
            if (first := self._history.first_with(one.root.lock.path, side)) is not None:
                yield (side.address, str(side.version)), first

    def _had_no_file(self, one: DoctorSubject, *, is_new: bool) -> bool:
        """True if the failing run had no lock file, and the one here neither came later than the log, nor is new."""
        lock, root = one.root.lock, one.root.path
        if one.error is None or not lock.exists:
            return False
        is_of_run = self.copies.installed(root, one.error).is_of_run
        is_in_no_clone = not is_of_run and self._history.is_in_no_clone(lock.path)
        if not self._roots.had_no_file(root, one.error, is_in_no_clone=is_in_no_clone):
            return False
        if is_in_no_clone or (is_of_run and self.copies.is_later(lock.path)):
            return is_in_no_clone
        return not (is_new and any(each.path == lock.path for each in self._history.lock_files(lock.path)))

    def _removed_by(self, one: DoctorSubject) -> str:
        """Return what removed the entry of a provider that is not locked; "" where git does not tell."""
        if one.entry is not None or one.address is None or one.root.lock.problems:
            return ""
        return self._history.removed_by(one.root.lock.path, one.address)

    def _left(self, one: DoctorSubject) -> tuple[ElsewhereEntry | None, str]:
        """Return the committed entry in the one lock file of a folder whose configuration is that of the root now.

        With it comes the commit that added the configuration to the root, with the file; "" if that is not known.
        """
        root, address, tree = one.root, one.address, self._checkout.tree
        if root.lock.exists or address is None or one.fitting:
            return None, ""
        found = []
        for path, other in self._elsewhere(address).items():
            if configuration_files(tree.list(path), root.tool):
                continue
            files = {file: posixpath.join(path, posixpath.basename(file)) for file in self._own_files(one)}
            moved = next((file for file, before in files.items() if self._had_source([before], address)), None)
            if moved and any(state.entry is not None for state in self._history.past(other.lock_file, address)[:1]):
                found.append((other, moved))
        if len(found) != 1:
            return None, ""
        ((left, moved),) = found
        adder = self._history.added_by(moved)
        return left, f"{adder} added {moved}" if adder else ""

    def _own_files(self, one: DoctorSubject) -> list[str]:
        """Return the files of the root's configuration in its own folder."""
        return [file for file in one.root.configuration.files if posixpath.dirname(file) == one.root.path]

    def _whole_commit(self, one: DoctorSubject) -> str:
        """Return the newest commit whose lock file fits its root, where this one is of another; "" for none."""
        lock, configuration = one.root.lock, one.root.configuration
        required, is_known = configuration.required(), not configuration.unknown_constraints
        is_lacking = one.entry is None and one.address in required and lock.exists and not lock.problems
        if not is_lacking or not is_known or {*lock.by_address} <= required:
            return ""

        def is_whole(old: LockFile) -> bool:
            admitted = (configuration.constraints(each.address).admits(each.version) for each in old.entries)
            return {*old.by_address} == required and all(admitted)

        return self._history.last_where(lock.path, is_whole)

    def _tool_commit(self, one: DoctorSubject) -> str:
        """Return the newest commit with the other tool's entry alone, if the last change replaced that; else ""."""
        twin = twin_of(one.address)
        if one.address is None or twin is None or twin in one.root.lock.by_address:
            return ""
        commit, later, lock = self._history.last_with(one.root.lock.path, twin)
        return commit if later <= 1 and one.address not in lock.by_address else ""

    def _with_requirements(
        self, one: DoctorSubject, others: Mapping[str, ElsewhereEntry], shared: Mapping[str, frozenset[str]]
    ) -> Iterator[ElsewhereEntry]:
        """Yield the entries of other roots, with what requires the provider where a constraint may be theirs, too.

        That is so in the roots that a log fits as well, in those with the same hashes, which a fix would change too,
        and in all that call a module of the root. Of a module that only this root has fetched, it is what the very same
        code requires here.
        """
        own = one.root.configuration.of(one.address) if one.address is not None else ()
        is_shared = any(posixpath.dirname(each.file) != one.root.path for each in own)
        is_same = {path: _has_same_hashes(other.entry, one.entry) for path, other in others.items()}
        further = [path for path in others if is_shared or is_same[path]] if len(others) <= _MOST_READ else []
        read = list(dict.fromkeys((*(path for path in others if path in one.fitting), *further)))
        roots = {each.root.path: each.root for each in self._finder.elsewhere(one, read)}
        differing = [path for path in others if is_same[path] is False][:_MOST_DATED]
        for path, other in others.items():
            there = roots[path].configuration if path in roots else None
            required = required_there(there, other.entry.address, one.root.configuration) if there is not None else ()
            since = self._history.since_of(other) if path in differing else ""
            own_commits = shared.get(other.lock_file, frozenset())
            shown = self._checkout.shown(path)
            yield replace(other, root=shown, requirements=tuple(required), since=since, shared=own_commits)

    def _elsewhere(self, address: ProviderAddress | None, own: str | None = None) -> dict[str, ElsewhereEntry]:
        """Return the entry of a provider in each other lock file that has one, by the folder of its root."""
        locks = ((path, self._roots.lock(path)) for path in self._checkout.locks if path != own)
        found = ((path, lock.path, lock.entry(address)) for path, lock in locks)
        return {path: ElsewhereEntry(name, entry) for path, name, entry in found if entry is not None}

    def _was_required(self, one: DoctorSubject) -> bool:
        """True if the root, or each that the log fits, required what an error is about before, and does not now."""
        error, address = one.message, one.address
        if error.kind == MODULE_MISSING:
            return self._had_call(one)
        if error.kind not in {*OF_REQUIREMENTS, "readonly-changed"} or address is None:
            return False
        roots = [self._roots.root(path) for path in one.fitting or (one.root.path,)]
        if any(root.configuration.unknown_reason or self._requires(root, error, address) for root in roots):
            return False
        name = error.provider or str(address)
        return all(
            self._roots.had_requirement(root.path, error, name) or self._had_source(root.configuration.files, address)
            for root in roots
        )

    def _requires(self, root: Root, error: RecognisedError, address: ProviderAddress) -> bool:
        """True if a root may require what an error is about: a short source is of the registry of the tool that ran."""
        own = {address} if self._roots.is_read_as_run(root, error) else {address, twin_of(address)}
        return bool(own & root.configuration.required())

    def _had_call(self, one: DoctorSubject) -> bool:
        """True if a commit has the module's call that an error shows, and no file of the root has it now."""
        file = posixpath.normpath(posixpath.join(one.root.path, one.message.place))
        words, read = f'module "{one.message.call}"', self._checkout.tree.read
        if not one.message.call or any(words.encode() in (read(each) or b"") for each in one.root.configuration.files):
            return False
        return self._history.had(file, [_pattern(words)])

    def _had_source(self, files: Iterable[str], address: ProviderAddress) -> bool:
        """True if a commit of some file has a source address."""
        ends = [f'{start}{address.namespace}/{address.type}"' for start in ('"', f"{address.host}/")]
        pairs = ((file, end) for file in sorted(files) for end in ends)
        return any(self._history.had(file, [_pattern(end)]) for file, end in pairs)

    def _has_constraint(self, one: DoctorSubject) -> bool:
        """True if the constraint in a message may stand where its root requires the provider, or did in a commit.

        Of commits, the words of its terms that are not known here count: what a file says is not parsed. Of a file
        that is not committed, any may be; a fetched module is not edited here.
        """
        if one.error is None or one.address is None or self._checkout.repository is None:
            return True
        try:
            wanted = frozenset(Constraints.parse(one.error.constraint).terms)
        except ValueError:
            return True
        known = frozenset(one.root.configuration.constraints(one.address).terms)
        if wanted <= known or (known < wanted and one.root.configuration.unknown_constraints):
            return True  # what is not known of the rest may stand in a module that cannot be read here
        if self._roots.had_constraint(one.root.path, one.error):
            return True
        words = [_written(term) for term in wanted - known]
        files = {each.file for each in one.root.configuration.of(one.address) if not is_fetched(each.file)}
        return any(self._history.had(file, words, is_new=True) for file in sorted(files))

    def _brought_both(self, one: DoctorSubject, past: Sequence[PastEntry]) -> str:
        """Return the commit that changed the version of an error and its constraint in one; "" where none is known to.

        Where it is later than the log, the failing run may have been of an earlier state of it.
        """
        error = one.message
        number = next((number for number, was in enumerate(past) if was.is_of(error.version)), 0)
        after = past[number - 1] if number else None
        if error.kind not in OF_VERSIONS or not error.constraint or after is None or not after.commit:
            return ""
        if after.date[:SECONDS] >= self._request.logged[:SECONDS]:
            return ""
        is_first = self._roots.first_had_constraint(one.root.path, error, after.commit)
        return after.commit if is_first else ""

    def _has_left_range(self, one: DoctorSubject, past: Sequence[PastEntry]) -> bool:
        """True if what moved the entry out of its constraints is known to be later than those that exclude it."""
        address, entry, configuration = one.address, one.entry, one.root.configuration
        required = configuration.of(address) if address is not None and entry is not None else ()
        excluding = [each for each in required if entry is not None and not each.constraints.admits(entry.version)]
        if not excluding or address is None:
            return False
        admits = configuration.constraints(address).admits
        number = next((n for n, was in enumerate(past) if was.entry is not None and admits(was.entry.version)), None)
        if number is None:
            return False
        mover = past[number - 1].commit if number else ""
        onsets = (self.onset_of_requirement(constraint_place(each)) for each in excluding)
        return all(onset is not None and self._history.is_later(mover, onset.commit) for onset in onsets)

    def onset(self, examined: Examined, root: str) -> Onset | None:
        """Return the commit that git blames for the entry as it is, or for the line that is wrong; None for unknown.

        It is that of a root with an equal entry, relative to the current folder.
        """
        if self._checkout.repository is None:
            return None
        if examined.lock.problems:
            return self._history.onset_of_damage(examined.lock, examined.lock.problems[0].line)
        if examined.entry is None:
            return None
        lock = self._roots.lock(self._checkout.path_of(self._request.folder, root))
        entry = lock.entry(examined.entry.address)
        past = self._history.past(lock.path, examined.entry.address)
        return self._history.onset(lock, past, entry) if entry is not None else None

    def onset_of_requirement(self, place: FilePlace) -> Onset | None:
        """Return the commit that git blames for a line of the configuration; None where git cannot tell.

        Behind a link it is that of the file to which it leads.
        """
        data = self._checkout.tree.read(place.file) if self._checkout.repository is not None else None
        top = self._checkout.top
        path = path_below_top(os.path.realpath(top), os.path.realpath(top / place.file))
        if data is None or path is None:
            return None
        try:
            onset = self._history.onset_of_requirement(FilePlace(path, place.line), data)
            return replace(onset, entry=str(place)) if onset is not None else None
        except RepositoryError:
            return None  # A clone may have the commits without all files in them.


def _pattern(words: str) -> re.Pattern[bytes]:
    """Return what finds words in a file."""
    return re.compile(re.escape(words.encode()))


def _written(term: Term) -> re.Pattern[bytes]:
    """Return what finds a term of a constraint in a file, where zeros at the end of its version may be left out."""
    operator = r"[\"',]\s*=?\s*" if term.operator is Operator.EQUAL else rf"(?<!~){re.escape(term.operator.value)}\s*"
    number = re.escape(str(term.version).removesuffix(".0").removesuffix(".0"))
    return re.compile(rf"{operator}v?{number}(?:\.0){{0,2}}(?![\w.])".encode())


def _is_of_both_tools(lock: LockFile) -> bool:
    """True if a lock file has entries of each tool's registry: a review judges it by the tool of its base."""
    hosts = {entry.address.host for entry in lock.entries}
    return all(tool.default_host in hosts for tool in DIALECTS.values())


def _has_same_hashes(entry: LockEntry, own: LockEntry | None) -> bool | None:
    """Return whether an entry has the hashes of another root's; None if its version is another one."""
    return entry.accepted == own.accepted if own is not None and entry.version == own.version else None


def _platform_of(error: RecognisedError, read: ReadLog) -> tuple[str, str]:
    """Return what tells the platform of a log, and it: what `providers` asks for need not be that of its machine."""
    asked = "asked for in the log"
    if not error.platform and error.asked_platform:
        return asked, error.asked_platform
    known = next((one for one in (error, *read.errors) if one.platform), error)
    return "log" if not known.platform or known.command == "init" else asked, error.platform or read.facts.platform


def _path_of(error: RecognisedError, sources: Sources) -> tuple[str, PackagePath | None]:
    """Return what tells the origin of the package, the wording, else the configuration here, and the origin."""
    if error.kind == "" or (
        error.kind in _OF_STARTING and error.place and f"{error.provider}/" not in error.place.replace("\\", "/")
    ):
        return "", None  # the program is in a folder of dev_overrides
    if (path := BY_KIND[error.kind].path) is not None:
        return "the message", PackagePath.PLUGIN_CACHE if is_of_cache(error, sources.cache) else path
    if error.method is not None:
        return "the log", next(path for path in PackagePath if path.method is error.method)
    if "provider mirror" in error.text:
        return "the message", PackagePath.NETWORK_MIRROR
    mirror = likeliest_mirror(sources.methods)
    if mirror is None or sources.has_direct:
        return "", None
    told = "the CLI configuration here" if sources.has_installation else "the folders here that the tool searches"
    return told, next(path for path in PackagePath if path.method is mirror.kind)


def _of_layout(incident: Incident, error: RecognisedError, packages: Sequence[FoundPackage]) -> Incident:
    """Return the circumstances; a mirror in a folder, which settings or options name, is of the form that it has here.

    Of one without the package here, or on another machine, the form is not known. What the tools call a current package
    is a zip file.
    """
    is_told = dict(incident.sources).get("path") in {"given", "the message"}
    if incident.path is not PackagePath.PACKED_MIRROR or is_told or error.kind == "current-package":
        return incident
    copies = [one for one in packages if one.kind == "mirror" and one.hashes]
    if any(one.zh for one in copies):
        return incident
    return replace(incident, path=PackagePath.UNPACKED_MIRROR if copies else PackagePath.FILESYSTEM_MIRROR)
