"""The providers in roots that a diagnosis is about: those of a log's errors, or of a root without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import TERRAFORM
from locklens.doctor import is_for_twin, may_read, taken_over
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.messages import MODULE_MISSING, NO_MESSAGE, OF_VERSIONS, WARNINGS, RecognisedError
from locklens.errors import ConfigurationError
from locklens.lockfile import LockFile, pinned
from locklens.lockfile.merge import share_packages
from locklens.operations.doctor.run_claims import parsed
from locklens.operations.root_modules import Root, lock_path, no_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.checkout import Checkout
    from locklens.operations.doctor.log_roots import LogRoots

_OF_CONFIGURATION = OF_VERSIONS | {"no-matching-release"}
"""Errors about what a root requires: equal entries of roots with different constraints are different cases."""

_OF_LINES = frozenset({MODULE_MISSING, "readonly-changed"})
"""Errors about what stands in the configuration of a root, which each has for itself."""

_MOST_LACKING = 40
"""The most roots that lack an entry of which each is examined."""

_MOST_ENTRIES = 5
"""Different entries of one version that are examined: more tell nothing new about a log without a root."""


class DoctorSubject(Struct, frozen=True):
    """A provider in a root, and the error about it; None for what is not known or not there.

    Attributes:
        fitting: The roots that the error may be of, relative to the top, where the log does not tell; else ().
        besides: Others that it may be of, where the current folder's root was taken.
        named: The folder that the log names, where it is no root here, or was that of the root before a move; else "".
        changed: Those of `fitting` whose entry was changed later than the log, while another root has it as it was.
        is_deduced: True if neither the log nor the user names the root, and there are others.
    """

    error: RecognisedError | None
    root: Root
    address: ProviderAddress | None
    entry: LockEntry | None
    fitting: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    named: str = ""
    changed: tuple[str, ...] = ()
    is_deduced: bool = False

    @property
    def message(self) -> RecognisedError:
        """The error; an empty one where there is none."""
        return self.error or NO_MESSAGE

    @property
    def is_of_root(self) -> bool:
        """False where the folder is no root, as the current one is none where a log fits no root at all."""
        return self.root.lock.exists or self.root.configuration.has_files

    @property
    def sides(self) -> tuple[LockEntry, ...]:
        """The entries of a conflict whose two sides have packages of one version, and different versions."""
        conflict = self.root.lock.conflict
        return tuple(
            entry
            for _, ours, theirs in (conflict.pairs if conflict is not None else ())
            if ours is not None and theirs is not None and ours.version != theirs.version
            if share_packages(ours, theirs)
            for entry in (ours, theirs)
        )


class SubjectFinder:
    """Finds the subjects of a diagnosis: the named provider or all, in the named roots or those that the log fits."""

    def __init__(self, request: DoctorRequest, roots: LogRoots, checkout: Checkout) -> None:
        self.roots = roots
        self._request = request
        self._checkout = checkout

    def subjects(self) -> list[DoctorSubject]:
        """Return the subjects, those of the first error first.

        Raises:
            ConfigurationError: A root that was named is none, or does not know the provider that was named.
        """
        named = self._named_roots()
        if self._request.log is None and not self.roots.read.errors:
            return self._of_provider(self._of_roots(named or self._here()))
        found: dict[object, DoctorSubject] = {}
        stopping = [error for error in self.roots.read.errors if error.kind not in WARNINGS]
        errors = stopping or self.roots.read.errors
        own = {error: self.roots.of_folder(error) for error in errors}
        if any({*roots} & {*named} for roots in own.values()):  # else the user corrects what the log seems to tell
            errors = [error for error in errors if not own[error] or {*own[error]} & {*named}]
        for error in errors:
            for one in self._of_error(error, named):
                found.setdefault((error.says, one.root.path, one.address, one.fitting), one)
        return list(found.values())

    def with_same_entry(self, subject: DoctorSubject, subjects: Sequence[DoctorSubject]) -> tuple[str, ...]:
        """Return the root, and others with the same entry, of those that were named, else of those that the log fits.

        Where the log tells its root, each with that entry is one; else none that is a subject of its own, and the first
        subject has the others. They are relative to the current folder.
        """
        own = self._checkout.shown(subject.root.path)
        if subject.entry is None or subject.root.lock.problems:
            return (own,)
        same = self._with_entry(subject.root.path, subject.entry, self._named_roots() or subject.fitting)
        if subject.fitting:
            state = self._state(subject.root.path, subject.message, subject.address)
            same = [one for one in same if self._state(one, subject.message, subject.address) == state]
            alike = [each for each in subjects if (each.error, each.address) == (subject.error, subject.address)]
            examined = [path for each in alike if (path := each.root.path) in {subject.root.path, *same}]
            same = [one for one in same if one not in examined and examined[0] == subject.root.path]
        return (own, *map(self._checkout.shown, same))

    def same_entry(self, own: str, entry: LockEntry, paths: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the other roots with the same entry, of some or of all; relative to the current folder."""
        return tuple(map(self._checkout.shown, self._with_entry(own, entry, paths)))

    def _with_entry(self, own: str, entry: LockEntry, paths: Sequence[str]) -> list[str]:
        states = ((path, self.roots.lock(path).entry(entry.address)) for path in paths or self._checkout.locks)
        return [path for path, other in states if path != own and pinned(other) == pinned(entry)]

    def elsewhere(self, subject: DoctorSubject, paths: Sequence[str]) -> list[DoctorSubject]:
        """Return a subject of each of some roots that an error may be of, relative to the top."""
        roots = map(self.roots.root, paths)
        return _unsure([self._of_root(subject.error, root, subject.address) for root in roots], paths)

    def _of_root(self, error: RecognisedError | None, root: Root, address: ProviderAddress | None) -> DoctorSubject:
        """Return a provider with its entry in a root, which is the one that the run had as far as there is an error."""
        entry = self.roots.entry(error, root, address) if error is not None else root.lock.entry(address)
        return DoctorSubject(error, root, address, entry)

    def locking(self, own: str, address: ProviderAddress) -> tuple[str, ...]:
        """Return the other roots that lock a provider, relative to the current folder."""
        paths = (path for path in self._checkout.locks if path != own and address in self.roots.lock(path).by_address)
        return tuple(map(self._checkout.shown, paths))

    def _of_provider(self, subjects: list[DoctorSubject]) -> list[DoctorSubject]:
        """Return the subjects of the provider that was named; all of them without a name."""
        name = self._request.provider
        if not name:
            return subjects
        found = [
            one for one in subjects if one.address is None or one.address == parsed(name, one.root.tool.parse_source)
        ]
        if not found:
            roots = ", ".join(dict.fromkeys(one.root.path or "." for one in subjects)) or "."
            hint = "there is nothing to diagnose, unless the lock file or the configuration names it otherwise"
            raise ConfigurationError(f"{name[:200]}: neither locked nor required", path=roots, hint=hint)
        return found

    def _named_roots(self) -> list[str]:
        paths = [self._checkout.path_of(self._request.folder, root) for root in self._request.roots]
        for path, name in zip(paths, self._request.roots, strict=True):
            if not self.roots.has_root(path):
                raise no_root(self._checkout.tree, path, named=name)
        return paths

    def _here(self) -> list[str]:
        """Return the current folder's root, else every root of the repository."""
        here = self._checkout.here
        if self.roots.has_root(here):
            return [here]
        if not self.roots.roots_of_all:
            raise no_root(self._checkout.tree, here, "name a root with -- ROOT, or hand a log in", named=".")
        return list(self.roots.roots_of_all)

    def _of_roots(self, paths: Iterable[str]) -> list[DoctorSubject]:
        found = []
        for path in paths:
            root = self.roots.root(path)
            if root.lock.problems:
                found.append(DoctorSubject(None, root, None, None))
                continue
            missing = sorted(root.configuration.required() - root.lock.by_address.keys())
            if not root.lock.entries and not missing and root.configuration.unknown_reason:
                found.append(DoctorSubject(None, root, None, None))
            found += [DoctorSubject(None, root, one.address, one) for one in root.lock.entries]
            found += [DoctorSubject(None, root, address, None) for address in missing]
        return found

    def _of_error(self, error: RecognisedError, named: list[str]) -> list[DoctorSubject]:
        """Return the root that an error is of: the named one, that of the log, or all that it fits.

        Of several that it fits, the current folder's is taken.
        """
        here, besides = self._checkout.here, tuple[str, ...]()
        own = self.roots.of_folder(error)
        fitting = told = [path for path in own if path in named] or named or own
        if not told:
            fitting = self.roots.fitting(error)
        folder = self.roots.folder_elsewhere(error) if not told and "" not in fitting else ""
        if folder:
            fitting = told = self.roots.moved_from(folder)
            if not told:
                return [replace(self._of_none(error), named=folder)]
        if not told and here in fitting:
            fitting, besides = [here], tuple(path for path in fitting if path != here)
        if not error.provider:
            is_of_each = told or error.kind in _OF_LINES
            paths = fitting[:_MOST_LACKING] if is_of_each else self._of_each_lock(fitting)
            found = self._of_searched(error, paths) or self._of_no_provider(error, paths)
        else:
            roots = map(self.roots.root, fitting if told else self._of_each_entry(fitting, error))
            found = [self._of_root(error, root, self.roots.address(error, root)) for root in roots]
        found = found or [self._of_none(error)]
        found = _unsure(found, () if told else fitting)
        is_deduced = not told and len(self._checkout.locks) > 1
        return [replace(one, besides=besides, named=folder, is_deduced=is_deduced) for one in found]

    def _of_none(self, error: RecognisedError) -> DoctorSubject:
        """Return the subject of an error that fits no root here: the current folder as one without files."""
        root, here = self.roots.root(self._checkout.here), self._checkout.here
        empty = replace(root.configuration, has_files=False, requirements=())
        nothing = replace(root, lock=LockFile.absent(lock_path(here)), configuration=empty)
        return DoctorSubject(error, nothing, self.roots.address(error, nothing), None)

    def _of_searched(self, error: RecognisedError, paths: Iterable[str]) -> list[DoctorSubject]:
        """Return the providers that a read-only lock file lacked in the run, and lacks here.

        Beside those that the run had to find, OpenTofu adds those whose version it takes over.
        """
        found = list[DoctorSubject]()
        for path in paths if error.kind == "readonly-changed" else ():
            root = self.roots.root(path)
            searched, reused = (
                {*filter(None, self.roots.addresses(path, error, names))} - root.lock.by_address.keys()
                for names in (error.searched, error.reused)
            )
            added = {one for one in reused if taken_over(one, root.lock, root.tool) is not None}
            found += [DoctorSubject(error, root, one, None) for one in sorted(searched | added)] if searched else []
        return found

    def _of_no_provider(self, error: RecognisedError, paths: Iterable[str]) -> list[DoctorSubject]:
        """Return all providers of roots for an error that names none, such as that of a read-only lock file."""
        if {cause.value for cause in BY_KIND[error.kind].causes} <= {"lock-syntax", "bad-merge", "module-missing"}:
            return [DoctorSubject(error, self.roots.root(path), None, None) for path in paths]
        found = [replace(one, error=error) for one in self._of_roots(paths)]
        if error.kind == "readonly-changed":  # what is required in the other tool's registry is a subject of its own
            found = [one for one in found if one.entry is None or not _is_for_twin(one)]
        return found or [DoctorSubject(error, self.roots.root(path), None, None) for path in paths]

    def _state(self, path: str, error: RecognisedError, address: ProviderAddress | None) -> object:
        """Return what tells roots with one entry apart for an error, besides the entry; their own lines do, if any."""
        if error.kind in _OF_LINES:
            return path
        if address is not None and error.kind in _OF_CONFIGURATION:
            return str(self.roots.root(path).configuration.constraints(address))
        return self._at_init(path, address) if address is not None and error.kind == "plugin-missing" else None

    def _at_init(self, path: str, address: ProviderAddress) -> object:
        """Return what tells roots with one entry apart for init: if it keeps that, and which tool reads the files."""
        root = self.roots.root(path)
        is_read = root.configuration.has_files, may_read(TERRAFORM, path, root.configuration)
        return is_read, is_for_twin(address, root.lock, root.configuration)

    def _of_each_lock(self, paths: Iterable[str]) -> list[str]:
        """Return the first root of each different lock file: of equal ones, the log does not say which it is about."""
        first: dict[object, str] = {}
        for path in paths:
            lock = self.roots.lock(path)
            state = frozenset((one.address, pinned(one)) for one in lock.entries)
            first.setdefault(state if lock.entries and not lock.problems else path, path)
        return list(first.values())[:_MOST_ENTRIES]

    def _of_each_entry(self, paths: Iterable[str], error: RecognisedError) -> list[str]:
        """Return the first root of each different entry: the log does not say which entry it is about.

        Of an error about what a root requires, others come behind these: each requires it in lines of its own.
        """
        first, others = dict[object, str](), list[str]()
        for path in paths:
            (address,) = self.roots.addresses(path, error, (error.provider,))
            state = pinned(self.roots.lock(path).entry(address)) or path, self._state(path, error, address)
            if first.setdefault(state, path) != path and error.kind in _OF_CONFIGURATION:
                others.append(path)
        return [*first.values(), *others][:_MOST_ENTRIES]


def different_first(subjects: Sequence[DoctorSubject]) -> list[DoctorSubject]:
    """Return subjects, with those last that say the same as an earlier one: in another root with an equal entry."""
    first: dict[object, DoctorSubject] = {}
    for one in subjects:
        first.setdefault((one.message.says, one.address, pinned(one.entry) or one.root.path), one)
    return [*first.values(), *(one for one in subjects if one not in first.values())]


def _is_for_twin(subject: DoctorSubject) -> bool:
    """True for an entry of a provider that the root requires, and does not lock, in the other tool's registry."""
    address, root = subject.address, subject.root
    return address is not None and is_for_twin(address, root.lock, root.configuration)


def _unsure(subjects: list[DoctorSubject], fitting: Sequence[str]) -> list[DoctorSubject]:
    """Return subjects with the roots that the error may be of, where there are several."""
    return [replace(one, fitting=tuple(fitting)) for one in subjects] if len(fitting) > 1 else subjects
