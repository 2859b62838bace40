"""The past of lock files: their entries in git's commits, and what locklens wrote into them later than a log."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor import PastEntry
from locklens.doctor.model import Onset
from locklens.errors import ConfigurationError
from locklens.hashes import count_by_scheme
from locklens.lockfile import LockFile
from locklens.lockfile.parse import parse
from locklens.storage.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.doctor import ElsewhereEntry
    from locklens.lockfile import LockEntry
    from locklens.project.git import Repository
    from locklens.storage.journal import Record, WrittenFile

_SECONDS = len("2026-11-21T14:02:11")


class LaterWrites:
    """What locklens wrote into lock files later than a log, and what of it still counts.

    A write that ended a state of another branch, and made what a commit here had before it, was made there.

    Args:
        top: The folder that paths of lock files are relative to.
        logged: The time of the log, ISO 8601 in UTC, or a later one; "" if none is known, so that no write is later.
        history: The commits; None without git.
    """

    def __init__(self, top: Path, logged: str, history: LockHistory | None) -> None:
        self._top = top
        self._logged = logged[:_SECONDS]
        self._history = history

    def before(self, lock: LockFile, address: ProviderAddress | None) -> PastEntry | None:
        """Return an entry as it was before locklens wrote it as it is; None without such a write of its version."""
        was, now = self._replaced(lock, address), lock.by_address.get(address) if address is not None else None
        if was is None or was.entry is None or now is None:
            return None
        return was if was.entry.version == now.version else None

    def replaced_version(self, lock: LockFile, address: ProviderAddress | None) -> str:
        """Return the version that locklens replaced by the locked one; "" without such a write."""
        was, now = self._replaced(lock, address), lock.by_address.get(address) if address is not None else None
        if was is None or was.entry is None or now is None or was.entry.version == now.version:
            return ""
        return str(was.entry.version)

    def _replaced(self, lock: LockFile, address: ProviderAddress | None) -> PastEntry | None:
        """Return an entry of any version as it was before locklens wrote it as it is; None without such a write."""
        now = lock.by_address.get(address) if address is not None else None
        if now is None:
            return None
        for record, file in self._of(lock):
            old, new = (parse(data or b"", lock.path).by_address.get(now.address) for data in (file.old, file.new))
            if _says(new) != _says(now):
                return None  # it was changed again since
            if _says(old) != _says(new):
                if self._is_of_branch(lock, record, file, lambda one: _says(one.by_address.get(now.address))):
                    return None
                return PastEntry("", record.at, old) if old is not None else None
        return None

    def has_written(self, lock: LockFile, address: ProviderAddress | None) -> bool:
        """True if locklens added or removed an entry, or wrote its version, constraints and hashes as they are."""
        if address is None:
            return False
        for record, file in self._of(lock, is_made=True):
            states = (parse(file.old or b"", lock.path), parse(file.new or b"", lock.path), lock)
            old, new, now = (_contents(state.by_address.get(address)) for state in states)
            if old != new:
                is_old = self._is_of_branch(lock, record, file, lambda one: _contents(one.by_address.get(address)))
                return new == now and not is_old
        return False

    def providers_before(self, lock: LockFile) -> frozenset[ProviderAddress] | None:
        """Return the providers that a lock file had before the first write later than the log; None without one."""
        writes = list(self._of(lock, is_made=True))
        if not writes or self._is_of_branch(lock, *writes[-1], lambda one: frozenset(one.by_address)):
            return None
        return frozenset(parse(writes[-1][1].old or b"", lock.path).by_address)

    def files_before(self) -> dict[str, bytes | None]:
        """Return each file that was written, by its path below the top, as it was before the first write."""
        top, before = os.path.realpath(self._top), dict[str, bytes | None]()
        for record in self._records:
            for file in record.files if record.target == "files" else ():
                before[os.path.relpath(file.path, top).replace(os.sep, "/")] = file.old
        return before

    def _is_of_branch(
        self, lock: LockFile, record: Record, file: WrittenFile, of: Callable[[LockFile], object]
    ) -> bool:
        """True if a commit had before a write what a part of a lock file is now, and a commit has what it replaced."""
        since = self._history.since(lock, of)[:_SECONDS] if self._history is not None else ""
        is_before = since != "" and since < record.at[:_SECONDS]
        return is_before and self._history is not None and self._history.has_file(file.old or b"")

    def made_readable(self, lock: LockFile) -> bool:
        """True if a lock file can be read, and could not before a write."""
        was_broken = any(parse(file.old or b"", lock.path).problems for _, file in self._of(lock))
        return was_broken and not lock.problems

    def _of(self, lock: LockFile, *, is_made: bool = False) -> Iterator[tuple[Record, WrittenFile]]:
        """Yield the writes of a lock file that was there before, or of any with `is_made`, the newest first."""
        place = os.fsencode(os.path.realpath(self._top / lock.path))
        for record in self._records:
            for file in record.files:
                if file.place == place and (is_made or file.old is not None) and record.target == "files":
                    yield record, file

    @cached_property
    def _records(self) -> tuple[Record, ...]:
        """The records, the newest first; none where they cannot be used."""
        try:
            records = Journal().writes(self._top) if self._logged else ()
        except ConfigurationError:
            return ()
        return tuple(one for one in records if one.at[:_SECONDS] >= self._logged)


_WITH_ONE_BEFORE = 2
"""States of an entry that was locked before."""

PAST_COMMITS = 100
"""Commits of one lock file that are read: years, even with automated changes."""


class LockHistory:
    """Reads the history of lock files, each once.

    Args:
        repository: Its git repository.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._read: dict[str, list[tuple[str, str, LockFile]]] = {}

    def past(self, lock_path: str, address: ProviderAddress) -> tuple[PastEntry, ...]:
        """Return the states of an entry, the newest first; equal ones that follow another are one, its oldest commit.

        Args:
            lock_path: Relative to the top.
            address: The provider.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        states: list[PastEntry] = []
        for commit, date, lock in self._locks(lock_path):
            entry = lock.by_address.get(address)
            if states and _says(states[-1].entry) == _says(entry):
                states[-1] = PastEntry(commit, date, states[-1].entry)
            else:
                states.append(PastEntry(commit, date, entry))
        return tuple(states)

    def since_of(self, other: ElsewhereEntry) -> str:
        """Return the date of the commit since which an entry is as it is; "" if it is not committed so.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        past = self.past(other.lock_file, other.entry.address)
        return past[0].date if past and _says(past[0].entry) == _says(other.entry) else ""

    def last_with(self, lock_path: str, address: ProviderAddress) -> tuple[str, int]:
        """Return the newest commit whose lock file has a provider, "" for none, and the number of later ones.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        states = enumerate(self._locks(lock_path))
        return next(((commit, later) for later, (commit, _, lock) in states if address in lock.by_address), ("", 0))

    def removed_by(self, lock_path: str, address: ProviderAddress) -> str:
        """Return the newest commit of a lock file, with date and author, if it removed an entry; "" for any other.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        past = self.past(lock_path, address)
        if len(past) < _WITH_ONE_BEFORE or past[0].entry is not None:
            return ""
        facts = self._repository.commit(past[0].commit)
        return f"commit {past[0].commit[:12]} of {past[0].date[:10]} by {facts.author}"

    def is_ignored(self, path: str) -> bool:
        """True if git ignores a file that is not there."""
        return self._repository.is_ignored(path)

    def had(self, path: str, words: Sequence[str]) -> bool:
        """True if a file has all of some words in one of its commits, or was never committed.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        commits = self._repository.touching(path, PAST_COMMITS)
        states = (self._repository.show(commit, path) or b"" for commit, _ in commits)
        return not commits or any(all(word.encode() in data for word in words) for data in states)

    def has_file(self, data: bytes) -> bool:
        """True if git has a file of these bytes, in a commit of any branch or in the index."""
        return self._repository.has_blob(data)

    def since(self, lock: LockFile, of: Callable[[LockFile], object]) -> str:
        """Return the date of the commit since which a part of a lock file is as it is; "" if it is not committed so.

        Args:
            lock: The lock file in the work tree.
            of: Returns the part.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        dates = [date for _, date, _ in takewhile(lambda one: of(one[2]) == of(lock), self._locks(lock.path))]
        return dates[-1] if dates else ""

    def providers(self, lock_path: str, until: str) -> frozenset[ProviderAddress] | None:
        """Return the providers in the newest commit of a lock file, none where it removed it; None without a commit.

        Args:
            lock_path: Relative to the top.
            until: The time that the commit is not later than, ISO 8601 in UTC; "" for any.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        states = ((date, frozenset(lock.by_address)) for _, date, lock in self._locks(lock_path))
        return next((found for date, found in states if not until or date[:_SECONDS] <= until[:_SECONDS]), None)

    def readable(self, lock_path: str) -> str:
        """Return the newest commit whose lock file can be read; "" if there is none.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        return next((commit for commit, _, lock in self._locks(lock_path) if lock.exists and lock.is_valid), "")

    def damaging_merge(self, lock: LockFile) -> str:
        """Return the commit since which a lock file cannot be read, if it is a merge; else "".

        Raises:
            RepositoryError: Git cannot read the history.
        """
        broken = list(takewhile(lambda one: not one[2].is_valid, self._locks(lock.path)))
        if not broken or broken[0][2].data != lock.data:
            return ""
        commit = broken[-1][0]
        return commit if self._repository.commit(commit).parents > 1 else ""

    def merge_of(self, past: Sequence[PastEntry], now: LockEntry) -> str:
        """Return the commit since which an entry is as it is, if it is a merge; else "".

        Args:
            past: The entry's states.
            now: The entry.

        Raises:
            RepositoryError: Git does not answer.
        """
        if not past or _says(past[0].entry) != _says(now):
            return ""
        return past[0].commit if self._repository.commit(past[0].commit).parents > 1 else ""

    def was_repaired(self, lock: LockFile) -> bool:
        """True if a lock file cannot be read in a commit, and can in the work tree.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        was_broken = any(one.exists and not one.is_valid for _, _, one in self._locks(lock.path))
        return was_broken and lock.exists and lock.is_valid

    def has_hashes_of_others(self, lock: LockFile) -> bool:
        """True if an entry has the hashes that commits have for other versions of its provider alone.

        Raises:
            RepositoryError: Git cannot read the history.
        """
        for now in lock.entries:
            states = (one.by_address.get(now.address) for _, _, one in self._locks(lock.path))
            versions = {one.version for one in states if one is not None and {*one.hashes} == {*now.hashes}}
            if versions and now.version not in versions:
                return True
        return False

    def onset_of_damage(self, lock: LockFile, line: int) -> Onset | None:
        """Return the commit since which the lock file cannot be read; None where nothing is known of the place.

        The line that a parser names need not be the damaged one.

        Args:
            lock: The lock file in the work tree.
            line: The line that cannot be read.

        Raises:
            RepositoryError: Git does not answer.
        """
        broken = list(takewhile(lambda one: not one[2].is_valid, self._locks(lock.path)))
        if not broken or broken[0][2].data != lock.data:
            return Onset("", change=f"line {line}") if line else None
        commit, date, _ = broken[-1]
        facts = self._repository.commit(commit)
        is_oldest = len(broken) >= PAST_COMMITS
        return Onset(commit, date, facts.author, facts.subject, f"line {line}" if line else "", is_oldest=is_oldest)

    def _locks(self, lock_path: str) -> list[tuple[str, str, LockFile]]:
        if lock_path not in self._read:
            found = []
            for commit, date in self._repository.touching(lock_path, PAST_COMMITS):
                data = self._repository.show(commit, lock_path)
                lock = parse(data, lock_path) if data is not None else LockFile.absent(lock_path)
                found.append((commit, date, lock))
            self._read[lock_path] = found
        return self._read[lock_path]

    def onset(self, lock: LockFile, past: tuple[PastEntry, ...], now: LockEntry) -> Onset:
        """Return the commit since which the entry is as it is: the newest that git blames for its lines.

        A commit that only took hashes away has no line: it counts where the entry's own history names it.

        Args:
            lock: The lock file in the work tree.
            past: The entry's states.
            now: The entry.

        Raises:
            RepositoryError: Git does not answer.
        """
        before = past[0].entry if past else None
        if before is None or _says(before) != _says(now):
            return Onset("", change=_change(before, now))
        last = now.line + max((0, *now.hash_offsets))
        blamed = self._repository.blamed(lock.path, lock.data, now.line, last)
        if not blamed or any(not one.commit for one in blamed):
            return Onset("", change="its lines differ from the committed ones")
        newest = max(blamed, key=lambda one: one.date)
        older = past[1] if len(past) > 1 else None
        facts = self._repository.commit(newest.commit)
        is_end = newest.is_boundary and facts.parents > 0  # a first commit is a boundary without parents
        onset = Onset(newest.commit, newest.date, facts.author, facts.subject, is_oldest=is_end)
        if older is None or (past[0].commit != newest.commit and past[0].date < onset.date):
            is_added = not is_end and len({one.commit for one in blamed}) == 1
            return replace(onset, change=_change(None, now) if is_added else "")
        facts = self._repository.commit(past[0].commit)
        change = _change(older.entry, now)
        return Onset(past[0].commit, past[0].date, facts.author, facts.subject, change)


def _contents(entry: LockEntry | None) -> object:
    return entry.contents if entry is not None else None


def _says(entry: LockEntry | None) -> object:
    return (str(entry.version), frozenset(entry.hashes)) if entry is not None else None


def _change(before: LockEntry | None, now: LockEntry) -> str:
    """Return what happened to the entry in words."""
    if before is None:
        return f"added {now.version}"
    words = [f"{before.version} to {now.version}"] if before.version != now.version else []
    came = [text for text in now.hashes if text not in before.hashes]
    went = [text for text in before.hashes if text not in now.hashes]
    counts = [count_by_scheme(came, sign="+"), count_by_scheme(went, sign="-")]
    return ", ".join((*words, " ".join(filter(None, counts)))) if any(counts) else "".join(words)
