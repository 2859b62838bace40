"""The history of a lock file's entries, from git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.examined import PastEntry
from locklens.doctor.model import Onset
from locklens.hashes import count_by_scheme
from locklens.lockfile.parse import parse

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.project.git import Repository

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

    def _locks(self, lock_path: str) -> list[tuple[str, str, LockFile]]:
        if lock_path not in self._read:
            found = []
            for commit, date in self._repository.touching(lock_path, PAST_COMMITS):
                data = self._repository.show(commit, lock_path)
                lock = parse(data, lock_path) if data is not None else _absent(lock_path)
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
        last = max((now.line, *now.hash_lines))
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


def _absent(path: str) -> LockFile:
    from locklens.lockfile.model import LockFile

    return LockFile.absent(path)


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
