"""What locklens wrote into lock files after a log was made, as its journal has it."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from locklens.dialect import OPENTOFU
from locklens.doctor import PastEntry, taken_over
from locklens.doctor.history import SECONDS
from locklens.errors import ConfigurationError
from locklens.lockfile import LockFile, entry_contents, pinned
from locklens.lockfile.parse import parse
from locklens.storage.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.operations.doctor.history import LockHistory
    from locklens.storage.journal import Record


class _Write(NamedTuple):
    """A write of a lock file by locklens, with what was in the file before and after it."""

    at: str
    old: LockFile
    new: LockFile


class LaterWrites:
    """What locklens wrote into lock files after a log was made.

    A write does not count if it was made on another branch: git has the file that it replaced, and a commit of this
    branch had the present state before the write. Paths of lock files are relative to `top`; `logged` is the time of
    the log, or a later one, ISO 8601 in UTC, "" if it is unknown, so that no write counts.
    """

    def __init__(self, top: Path, logged: str, history: LockHistory) -> None:
        self._top = top
        self._logged = logged[:SECONDS]
        self._history = history

    def before(self, lock: LockFile, address: ProviderAddress | None) -> PastEntry | None:
        """Return an entry as it was before locklens wrote its present state, if the version is the same; else None."""
        was, now = self.replaced(lock, address), lock.entry(address)
        return was if was is not None and now is not None and was.is_of(str(now.version)) else None

    def replaced_version(self, lock: LockFile, address: ProviderAddress | None) -> str:
        """Return the version that locklens replaced by the locked one; "" if it did not.

        That is also the one which OpenTofu took over from an entry of Terraform's registry.
        """
        was, now, first = self.replaced(lock, address), lock.entry(address), self._first_of(lock)
        old = was.entry if was is not None else None
        if old is None and first is not None and self.has_written(lock, address):
            old = taken_over(address, first.old, OPENTOFU)
        return str(old.version) if old is not None and now is not None and old.version != now.version else ""

    def replaced(self, lock: LockFile, address: ProviderAddress | None) -> PastEntry | None:
        """Return an entry, of any version, as it was before locklens wrote its present state; None if it did not.

        A fix may need several writes, each of what the one before it wrote: then as it was before the first of them.
        """
        now, found = lock.entry(address), None
        if now is None or self._is_undone(lock, address):
            return None
        for write in self._writes_of(lock):
            old, new = write.old.entry(address), write.new.entry(address)
            if pinned(new) != pinned(now):
                break  # something else changed it afterwards
            if pinned(old) != pinned(new):
                if old is None or self._is_of_other_branch(lock, write, lambda one: pinned(one.entry(address))):
                    break
                now, found = old, PastEntry("", write.at, old)
        return found

    def has_written(self, lock: LockFile, address: ProviderAddress | None) -> bool:
        """True if locklens wrote the present state of an entry: its version, constraints and hashes, or its absence."""
        if address is None or self._is_undone(lock, address):
            return False
        for write in self._writes_of(lock, includes_creation=True):
            old, new, now = (entry_contents(state.entry(address)) for state in (write.old, write.new, lock))
            if old != new:
                is_other = self._is_of_other_branch(lock, write, lambda one: entry_contents(one.entry(address)))
                return new == now and not is_other
        return False

    def _is_undone(self, lock: LockFile, address: ProviderAddress | None) -> bool:
        """True if an entry is as it was before the first write after the log, such as after a fix and its undo."""
        first = self._first_of(lock)
        return first is not None and entry_contents(first.old.entry(address)) == entry_contents(lock.entry(address))

    def providers_before(self, lock: LockFile) -> frozenset[ProviderAddress] | None:
        """Return the providers that a lock file had before the first write after the log; None without such a write."""
        first = self._first_of(lock)
        if first is None or self._is_of_other_branch(lock, first, lambda one: frozenset(one.by_address)):
            return None
        return frozenset(first.old.by_address)

    def files_before(self) -> dict[str, bytes | None]:
        """Return each file that was written, by its path below the top, as it was before the first write."""
        top, before = os.path.realpath(self._top), dict[str, bytes | None]()
        for record in self._records:
            for file in record.files:
                before[os.path.relpath(file.path, top).replace(os.sep, "/")] = file.old
        return before

    def _is_of_other_branch(self, lock: LockFile, write: _Write, part: Callable[[LockFile], object]) -> bool:
        """True if a write was made on another branch, judged by a part of a lock file; see the class."""
        since = self._history.since(lock, part)[:SECONDS]
        return since != "" and since < write.at[:SECONDS] and self._history.had_file(lock.path, write.old.data)

    def made_readable(self, lock: LockFile) -> bool:
        """True if a lock file can be read now, and could not before a write."""
        return not lock.problems and any(write.old.problems for write in self._writes_of(lock))

    def _first_of(self, lock: LockFile) -> _Write | None:
        """Return the first write of a lock file; None if there was none."""
        return next(iter([*self._writes_of(lock, includes_creation=True)][-1:]), None)

    def _writes_of(self, lock: LockFile, *, includes_creation: bool = False) -> Iterator[_Write]:
        """Yield the writes of a lock file, the newest first; with `includes_creation` also those that created it."""
        place = os.fsencode(os.path.realpath(self._top / lock.path)) if self._records else b""
        for record in self._records:
            for file in record.files:
                if file.place == place and (includes_creation or file.old is not None):
                    yield _Write(record.at, parse(file.old or b"", lock.path), parse(file.new or b"", lock.path))

    @cached_property
    def _records(self) -> tuple[Record, ...]:
        """The records of writes of files, the newest first; none if the journal cannot be read."""
        try:
            records = Journal().writes(self._top) if self._logged else ()
        except ConfigurationError:
            return ()
        return tuple(one for one in records if one.at[:SECONDS] >= self._logged and not one.target.is_index)
