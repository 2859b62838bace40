"""The one SQLite file that outlives a run; for now it holds the marks of reviewed changes.

It is the user's own work, so it lies in the data folder, where clearing caches does not reach. Several processes may
use it at once. Trouble with it never stops a review: a damaged file is set aside, and where nothing can be written the
store lasts for one run.
Nothing here raises; `Store.notices` says in sentences what went wrong.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

_SCHEMA = 1
_BUSY_SECONDS = 5.0
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_TABLES = """
CREATE TABLE IF NOT EXISTS marks (
    repository TEXT NOT NULL,
    change_id TEXT NOT NULL,
    marked_at TEXT NOT NULL,
    PRIMARY KEY (repository, change_id)
) WITHOUT ROWID
"""
_Result = TypeVar("_Result")


def default_path() -> Path:
    """Where the store is: in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("locklens", appauthor=False) / "store.sqlite3"


class _NewerSchemaError(Exception):
    """The file was written by a newer locklens."""


class Store:
    """Remembers marks. Safe to use from several threads and processes; each call opens the file anew.

    Args:
        path: The file; None for the user's own.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._memory: sqlite3.Connection | None = None
        self._notices: list[str] = []
        self._lock = threading.RLock()

    def take_notices(self) -> tuple[str, ...]:
        """What went wrong since the last call, in sentences."""
        with self._lock:
            taken, self._notices = tuple(self._notices), []
        return taken

    @property
    def is_kept(self) -> bool:
        """Whether what is remembered outlives the run."""
        return self._memory is None

    def marks(self, repository: str) -> frozenset[str]:
        """Returns the ids of the changes that are marked in a repository."""

        def read(connection: sqlite3.Connection) -> frozenset[str]:
            found = connection.execute("SELECT change_id FROM marks WHERE repository = ?", (repository,))
            return frozenset(row[0] for row in found)

        return self._run(read)

    def mark(self, repository: str, change_ids: Collection[str]) -> None:
        """Marks changes as reviewed; what is marked already keeps its time."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(repository, change_id, now) for change_id in change_ids]
        self._run(lambda connection: connection.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?, ?)", rows))

    def unmark(self, repository: str, change_ids: Collection[str]) -> None:
        """Takes marks back."""
        rows = [(repository, change_id) for change_id in change_ids]
        self._run(
            lambda connection: connection.executemany("DELETE FROM marks WHERE repository = ? AND change_id = ?", rows)
        )

    def _run(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Does the work in one transaction, on the file or, where that cannot be used, in memory."""
        with self._lock:
            if self._memory is None:
                try:
                    return self._on_file(work)
                except (sqlite3.Error, OSError, _NewerSchemaError) as error:
                    self._fall_back(error)
            memory = self._memory or _in_memory()
            with memory:
                return work(memory)

    def _fall_back(self, error: Exception) -> None:
        self._memory = _in_memory()
        self._notices.append(f"Marks last for this run only: {self._path or 'the store'} cannot be used ({error}).")

    def _on_file(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        path = self._path = self._path or default_path()
        seen = _identity(path)
        try:
            return _in_transaction(path, work)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                raise
        self._set_aside(path, seen)
        return _in_transaction(path, work)

    def _set_aside(self, path: Path, seen: tuple[int, int] | None) -> None:
        """Renames a damaged file, unless another process already put a new one in its place."""
        if seen is None or _identity(path) != seen:
            return
        aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}")
        path.replace(aside)
        for suffix in ("-wal", "-shm"):
            with suppress(OSError):
                path.with_name(path.name + suffix).replace(aside.with_name(aside.name + suffix))
        self._notices.append(f"The store of marks was damaged; it was set aside as {aside} and a new one was begun.")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(_TABLES)
    return connection


def _in_transaction(path: Path, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
    _prepare(path)
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level="IMMEDIATE")) as connection:
        _use_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _SCHEMA:
            raise _NewerSchemaError("it was written by a newer locklens")
        with connection:
            if version < _SCHEMA:
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA user_version = {_SCHEMA}")
            return work(connection)


def _use_log(connection: sqlite3.Connection) -> None:
    """Turns on the write-ahead log; the switch needs the file for itself, for which the busy timeout does not wait."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if (
                error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
                or time.monotonic() > deadline
            ):
                raise
            time.sleep(0.02)


def _prepare(path: Path) -> None:
    """Makes folder and file for the owner's eyes only; SQLite gives its side files the mode of the main one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            path.chmod(0o600)
