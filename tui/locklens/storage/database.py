"""One SQLite file, readable by its owner only and shared by several processes.

Failures never stop a run: a damaged file is set aside, and if nothing can be written or a newer locklens wrote the
file, its place is taken by a database in memory. `Database.take_notices` returns the failures as sentences.

Callers own the schema: `locklens.storage.preferences` and `locklens.storage.cache`. A file with a lower schema number
than the layout's is migrated when it is opened, in one transaction: first the steps that it has not had, then the
tables that it lacks. If that fails, the file stays as it was, and is not used.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.machine import is_of_another, is_open_to_others

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BUSY_SECONDS = 5.0
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SIDE_FILES = ("-wal", "-shm")
_Result = TypeVar("_Result")


class DatabaseLayout(Struct, frozen=True):
    """The schema of a database file, and its names in messages.

    Attributes:
        schema: Number of the schema; a file with a higher one is not used.
        tables: `CREATE … IF NOT EXISTS` statements: all of a new file, and what an older one lacks after its steps.
        name: Name of the file in sentences: "The … was damaged".
        contents: Name of the contents, in the plural, at the start of a sentence: "… last for this run only".
        stays_open: True if one connection serves all calls; otherwise each opens the file anew.
        is_trusted: True if the contents are believed without another check: then the file is not used if others
            may write to it or in its folder. A file of another user is never used.
        steps: Statements that change or drop tables of older files, in the order in which they are run, each with the
            last schema that needs it. A new file, and a database in memory, need none.
    """

    schema: int
    tables: tuple[str, ...]
    name: str
    contents: str
    stays_open: bool = False
    is_trusted: bool = False
    steps: tuple[tuple[int, str], ...] = ()


class _UnusableError(Exception):
    """The file is sound but must not be used; never leaves this module."""


class Database:
    """A database file, or a database in memory. Safe to use from several threads and processes.

    `place` returns the path, when the file is first needed; None for a database in memory.
    """

    def __init__(self, layout: DatabaseLayout, place: Callable[[], Path] | None) -> None:
        self._layout = layout
        self._place = place
        self._path: Path | None = None
        self._connection: sqlite3.Connection | None = None
        self._identity_when_opened: tuple[int, int] | None = None
        self._memory = _in_memory(layout) if place is None else None
        self._notices: list[str] = []
        self._lock = threading.RLock()

    def take_notices(self) -> tuple[str, ...]:
        """Return the failures since the last call, as sentences."""
        with self._lock:
            taken, self._notices = tuple(self._notices), []
        return taken

    @property
    def path(self) -> Path | None:
        """The path of the file, existing or not; None for a database in memory."""
        with self._lock:
            if self._path is None and self._place is not None:
                self._path = self._place()
            return self._path

    @property
    def is_kept(self) -> bool:
        """True if writes outlive the run, as far as is known."""
        return self._memory is None

    @property
    def is_there(self) -> bool:
        """True if there is a file of any kind, readable or not."""
        try:
            return self.path is not None and bool(self.path.lstat())
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True

    @property
    def size(self) -> int:
        """Bytes on disk, with the side files."""
        found = 0
        for each in self._files():
            with suppress(OSError):
                found += each.stat().st_size
        return found

    def run(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Run a function in one transaction, on the file or, if that cannot be used, in memory.

        The function may run twice, the second time on a new file. Its first write begins the transaction.
        """
        with self._lock:
            if self._memory is None:
                try:
                    return self._on_file(work)
                except (sqlite3.Error, OSError, _UnusableError) as error:
                    self._fall_back(error)
            memory = self._memory or _in_memory(self._layout)
            with memory:
                return work(memory)

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def clear(self) -> None:
        """Empty the file, or delete it if it cannot be emptied; damaged files that were set aside are deleted too.

        Raises:
            ConfigurationError: The file can be neither emptied nor deleted; another process may be busy with it.
        """
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = _in_memory(self._layout)
            path = self.path
            if path is None:
                return
            try:
                if self.is_there and not self._try_to_empty(path):
                    self.close()
                    for each in self._files():
                        each.unlink(missing_ok=True)
                for each in path.parent.glob(f"{path.name}.damaged-*"):
                    each.unlink(missing_ok=True)
            except OSError as error:
                raise ConfigurationError(f"cannot be cleared: {error.strerror or error}", path=str(path)) from error

    def _try_to_empty(self, path: Path) -> bool:
        """Delete every row and return True if that was possible; other processes may have the file open."""
        try:
            with closing(_open(path, self._layout)) as connection:
                names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                with connection:
                    for name in names:
                        connection.execute(f'DELETE FROM "{name}"')  # noqa: S608
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            if _code(error) in _BUSY:
                hint = "try again when no other locklens runs"
                raise ConfigurationError("another process is busy with it", path=str(path), hint=hint) from error
            return False
        except _UnusableError:
            return False
        return True

    def _files(self) -> tuple[Path, ...]:
        path = self.path
        return () if path is None else (path, *(path.with_name(path.name + suffix) for suffix in _SIDE_FILES))

    def _fall_back(self, error: Exception) -> None:
        self.close()
        self._memory = _in_memory(self._layout)
        where = self._path or f"the {self._layout.name}"
        self._notices.append(f"{self._layout.contents} last for this run only: {where} cannot be used ({error}).")

    def _on_file(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        path = self.path
        assert path is not None
        try:
            return self._in_transaction(path, work)
        except sqlite3.DatabaseError as error:
            if _code(error) not in _DAMAGED:
                raise
        self.close()
        self._set_aside(path)
        return self._in_transaction(path, work)

    def _in_transaction(self, path: Path, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        if self._connection is None:
            self._identity_when_opened = _identity(path)
            _prepare(path, self._layout)
            self._connection = _open(path, self._layout)
        try:
            with self._connection:
                return work(self._connection)
        finally:
            if not self._layout.stays_open:
                self.close()

    def _set_aside(self, path: Path) -> None:
        """Rename a damaged file, unless another process already put a new one in its place."""
        if self._identity_when_opened is None or _identity(path) != self._identity_when_opened:
            return
        aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}")
        path.replace(aside)
        for suffix in _SIDE_FILES:
            with suppress(OSError):
                path.with_name(path.name + suffix).replace(aside.with_name(aside.name + suffix))
        self._notices.append(
            f"The {self._layout.name} was damaged; it was set aside as {aside} and replaced by a new one."
        )


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary error code; 0 if the error is Python's own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _in_memory(layout: DatabaseLayout) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    for statement in layout.tables:
        connection.execute(statement)
    return connection


def _open(path: Path, layout: DatabaseLayout) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level="IMMEDIATE", check_same_thread=False)
    try:
        _enable_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        if _schema_of(connection, layout) < layout.schema:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                _migrate(connection, layout)
    except BaseException:
        connection.close()
        raise
    return connection


def _schema_of(connection: sqlite3.Connection, layout: DatabaseLayout) -> int:
    """Return the number of a file's schema, 0 for a new file."""
    schema = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if schema > layout.schema:
        raise _UnusableError("it was written by a newer locklens")
    return schema


def _migrate(connection: sqlite3.Connection, layout: DatabaseLayout) -> None:
    """Bring a file to the layout's schema, within a transaction."""
    # Read again: another process may have migrated the file before this transaction began, and no step may run twice.
    schema = _schema_of(connection, layout)
    steps = (statement for last, statement in layout.steps if 0 < schema <= last)
    for statement in (*steps, *layout.tables):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {layout.schema}")


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log; SQLite's busy timeout does not cover this exclusive lock, so it is retried here."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _code(error) not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _prepare(path: Path, layout: DatabaseLayout) -> None:
    """Make the folder and the file readable by their owner only; SQLite gives its side files the mode of the file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = path.parent.stat()
    if is_of_another(folder):
        raise _UnusableError("its folder belongs to another user")
    if layout.is_trusted and is_open_to_others(folder):
        raise _UnusableError("others may write in its folder")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        file = path.stat()
        if is_of_another(file):
            raise _UnusableError("it belongs to another user") from None
        if layout.is_trusted and is_open_to_others(file):
            raise _UnusableError("others may write to it") from None
        if os.name == "posix" and file.st_mode & 0o077:
            path.chmod(0o600)
