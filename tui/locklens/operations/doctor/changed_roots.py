"""The roots that a log fits besides one another: which of them were changed later than the log, as a fix does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.fixed import OF_HASHES
from locklens.hashes import is_of_zip, packages_of
from locklens.lockfile import pinned
from locklens.operations.doctor.copies import OF_FOLDERS
from locklens.project.clifiles import this_platform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.addresses import ProviderAddress
    from locklens.doctor.messages import RecognisedError
    from locklens.lockfile import LockEntry, LockFile
    from locklens.operations.doctor.copies import CopyFinder
    from locklens.operations.doctor.subjects import DoctorSubject, SubjectFinder

_MENDED_BY_WRITES = OF_HASHES | {
    "locked-mismatch", "lock-constraint", "not-locked", "lock-incomplete", "plugin-missing",
}  # fmt: skip
"""Errors that an entry ends as locklens writes it."""


class ChangedRoots:
    """Tells roots apart that have equal entries, by what was changed in them later than the log.

    `finder` finds subjects in other roots, too; `logged` is the time of the log, or a later one, "" if none is known.
    """

    def __init__(self, finder: SubjectFinder, copies: CopyFinder, logged: str) -> None:
        self._finder = finder
        self._copies = copies
        self._logged = logged
        self._roots = finder.roots
        self._writes = finder.roots.writes
        self._history = finder.roots.history

    def with_own_roots(self, subjects: Sequence[DoctorSubject]) -> list[DoctorSubject]:
        """Return the subjects; of roots with equal entries, those that differ besides them.

        All of them fit a log that names no root. The root of an error about an installed folder has a folder that is
        not locked, where every folder was hashed; that of a fix was changed later than the log, unless another root is
        still as the log says, or has a package that was moved aside.
        """
        found: list[DoctorSubject] = []
        for one in self._of_read_only(subjects):
            kind = one.message.kind if one.fitting else ""
            altered, mended = self._altered(one) if kind in OF_FOLDERS else ([], [])
            own, others = altered if not self._copies.is_cut else [], list[str]()
            if not own and one.error is not None:
                own = self._changed_since(one, one.error)
                rest = [path for path in one.fitting if path not in own] if own else []
                others = [path for path in rest if self._was_other(path, one.address)]
                if left := self._as_at_the_log(one, one.error, changed=own):
                    half = [path for path in own if self._is_excluded(path, one.address)]
                    whole = tuple(path for path in own if path not in half)
                    still = self._finder.elsewhere(one, [*half, *left])
                    found += [replace(each, fitting=one.fitting, changed=whole) for each in still]
                    continue
            own = own or mended
            if kind == "lock-incomplete":
                own, others = [path for path in one.fitting if self._is_incomplete(path, one.address)] or own, []
            if kind == "lock-invalid":
                own = [path for path in one.fitting if self.is_repaired(self._roots.lock(path))]
            of_own = self._finder.elsewhere(one, own) if own else [one]
            if own and others:
                of_own = [replace(each, fitting=(*own, *others)) for each in of_own]
            if kind == "plugin-missing":
                of_own = [root for each in of_own for root in self._by_installed(each)]
            found += [each for each in of_own if each not in found]
        return found

    def _of_read_only(self, subjects: Sequence[DoctorSubject]) -> list[DoctorSubject]:
        """Return the subjects; of a lock file that the run may not write, each in its own root, those that differ.

        The root of the error has entries that init would add or remove. Where each other one has just what it requires,
        it is that of a fix, whose entries were added or removed later than the log.
        """
        found: list[DoctorSubject] = []
        for error in dict.fromkeys(one.error for one in subjects):
            alike = [one for one in subjects if one.error == error]
            fitting = alike[0].fitting if error is not None and error.kind == "readonly-changed" else ()
            own = [path for path in fitting if self._has_other_providers(path)]
            left = dict.fromkeys(one.root.path for one in alike if _is_to_change(one))
            if own and left.keys() <= {*own}:
                alike = [replace(one, fitting=tuple(own[1:] and own)) for one in alike if one.root.path in own]
            elif own:
                mended = tuple(path for path in own if path not in left)
                alike = [replace(one, changed=mended) for one in alike if one.root.path in left]
            found += alike
        return found

    def is_repaired(self, lock: LockFile) -> bool:
        """True if a lock file can be read, and could not in a commit, or before a write later than the log."""
        was_broken = self._history.was_repaired(lock) or self._writes.made_readable(lock)
        return was_broken and not self._history.has_hashes_of_others(lock)

    def locked_before(self, lock: LockFile) -> frozenset[ProviderAddress] | None:
        """Return the providers of a lock file before the first write after the log, else in a commit before that."""
        before = self._writes.providers_before(lock)
        return before if before is not None else self._history.providers(lock.path, self._logged)

    def _was_other(self, path: str, address: ProviderAddress | None) -> bool:
        """True if a root's newest commit before the log has another entry of a provider than the root has now."""
        return address is not None and self._history.was_other(self._roots.lock(path), address, self._logged)

    def _changed_since(self, one: DoctorSubject, error: RecognisedError) -> list[str]:
        """Return the roots that an error fits whose entries were changed later than the log, as a fix does."""
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
        if error.kind == "not-locked":
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
            return address not in (self.locked_before(lock) or ())
        return not error.version or self._writes.replaced_version(lock, address) in {"", error.version}

    def _is_excluded(self, path: str, address: ProviderAddress | None) -> bool:
        """True if the constraints of a root do not allow what is locked there: the first half of a fix ended so."""
        entry = self._roots.lock(path).entry(address)
        read = self._roots.root(path).configuration
        return entry is not None and not read.constraints(entry.address).admits(entry.version)

    def _is_incomplete(self, path: str, address: ProviderAddress | None) -> bool:
        """True if a root locks the provider without a hash of its zip files, which a signed list would have given."""
        entry = self._roots.lock(path).entry(address)
        return entry is not None and not packages_of(entry.hashes)

    def _has_other_providers(self, path: str) -> bool:
        """True if entries of a lock file were added or removed later than the log."""
        lock = self._roots.lock(path)
        before = self.locked_before(lock) if self._copies.is_later(lock.path) else None
        return before is not None and before != frozenset(lock.by_address)

    def _by_installed(self, one: DoctorSubject) -> list[DoctorSubject]:
        """Return a missing package in a root that lacks it still; where none does, in those to which it came since.

        Of a log that another program printed, what is installed here tells nothing.
        """
        lacking, came = list[str](), list[str]()
        for path in one.fitting if self._copies.installed(one.root.path, one.error).is_of_run else ():
            entry = self._roots.lock(path).entry(one.address)
            own = list(self._copies.installed_in(path, entry, one.error)) if entry is not None else []
            own = [each for each in own if entry is not None and each.hashes & entry.accepted]
            if not own:
                lacking.append(path)
            elif all(map(self._copies.is_new, own)):
                came.append(path)
        like = [path for path in lacking if pinned(self._roots.lock(path).entry(one.address)) == pinned(one.entry)]
        if not lacking:
            return self._finder.elsewhere(one, came) if came else [one]
        if one.root.path in lacking:
            return [one]
        return [replace(still, fitting=one.fitting) for still in self._finder.elsewhere(one, (like or lacking)[:1])]

    def _altered(self, one: DoctorSubject) -> tuple[list[str], list[str]]:
        """Return the roots that an error fits: where the installed package is not locked, and where it was moved aside.

        Packages of this machine's platform count.
        """
        found, mended, machine = list[str](), list[str](), this_platform()
        for path in one.fitting:
            if (entry := self._roots.lock(path).entry(one.address)) is None:
                continue
            if self._copies.has_moved_installed(path, entry, one.error):
                mended.append(path)
            copies = self._copies.installed_in(path, entry, one.error)
            if any(each.hashes and each.platform == machine and not each.hashes & entry.accepted for each in copies):
                found.append(path)
        return found, mended


def _is_to_change(one: DoctorSubject) -> bool:
    """True if init would add an entry to the lock file, or remove it, as far as is known."""
    if one.address is None or one.entry is None:
        return True
    read = one.root.configuration
    return not read.requires(one.address) and not read.unknown_need(one.address)


def _is_like(lock: LockFile, was: LockEntry, now: LockFile) -> bool:
    """True if a lock file has an entry as another one had it: the version, or where that stayed, what it lacked.

    Of what was added, the `zh` count: the `h1` are of the platforms that somebody asked for.
    """
    entry, new = lock.entry(was.address), now.entry(was.address)
    if entry is None or entry.version != was.version:
        return False
    if new is None or new.version != was.version:
        return True
    added = new.accepted - was.accepted
    added = frozenset(filter(is_of_zip, added)) or added
    return not added <= entry.accepted if added else entry.accepted == was.accepted


def _is_as_mended(lock: LockFile, was: LockEntry, now: LockFile) -> bool:
    """True if a lock file has what the entry of another one was replaced by, or no such entry."""
    entry, new = lock.entry(was.address), now.entry(was.address)
    if entry is None or new is None:
        return entry is None
    return entry.version == new.version and packages_of(new.hashes) <= entry.accepted
