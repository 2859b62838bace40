"""The cache: answers, verifications, hashes and inspections kept between runs, in one SQLite file.

Answers of registries grow old; callers decide whether one is recent enough. Verifications, and the hashes and contents
of a package, are facts about digests and do not expire. All of it can be fetched or computed again, so the file lies in
the cache folder, apart from the user's own work in `locklens.storage.preferences`.

The contents are trusted, so only the owner may read or write the file. It never holds a token, nor the query of a
requested or a final URL, which may be a signature. Several processes may use it at once, and failures stop no run;
`Cache.take_notices` returns them as sentences.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from locklens.hashes import HashedPackage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from locklens.storage.database import Database

MOST_BODY = 16 * 1024 * 1024
"""The most bytes of one answer: twice the limit of a registry's answer."""

_MOST_CONTENT_TYPE = 200
_BUFFERED_ITEMS = 256
_BUFFERED_BYTES = 4 * 1024 * 1024
_BUFFERED_SECONDS = 5.0
"""Writes are batched: a transaction costs as much as fifty answers."""


CACHE_SCHEMA = 2
"""Raised with every change of `_TABLES`; a changed table also needs a step of the layout, which may drop it: see
`locklens.storage.database`."""

_PACKAGES = "packages"
"""The table of packages; its first columns are the fields of `HashedPackage`."""

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS answers (
        url BLOB NOT NULL,
        with_token INTEGER NOT NULL,
        status INTEGER NOT NULL,
        final_url TEXT NOT NULL,
        content_type TEXT,
        as_of TEXT NOT NULL,
        size INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (url, with_token)
    )
    """,
    "CREATE INDEX IF NOT EXISTS answers_by_age ON answers (as_of, size)",
    """
    CREATE TABLE IF NOT EXISTS verifications (
        key TEXT NOT NULL PRIMARY KEY,
        made_at TEXT NOT NULL,
        data BLOB NOT NULL
    )
    """,
    f"""
    CREATE TABLE IF NOT EXISTS {_PACKAGES} (
        zh TEXT NOT NULL PRIMARY KEY,
        h1 TEXT NOT NULL,
        size INTEGER NOT NULL,
        unpacked_size INTEGER NOT NULL,
        files INTEGER NOT NULL,
        proven_at TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS inspections (
        zh TEXT NOT NULL PRIMARY KEY,
        made_at TEXT NOT NULL,
        size INTEGER NOT NULL,
        data BLOB NOT NULL
    )
    """,
)

MOST_AGE = timedelta(days=90)
"""The age at which answers and verifications are deleted: an old answer is of little use even offline, and a newer gpg
may judge a signature differently."""

MAX_CACHE_BYTES = 256 * 1024 * 1024
"""The most bytes of all answers, compressed: hundreds of providers with the documents of many versions."""

MAX_INSPECTION_BYTES = 256 * 1024 * 1024
"""The most bytes of all inspections, compressed: those of several hundred packages; the oldest go first."""

_MOST_INSPECTION = 64 * 1024 * 1024
"""The most bytes of one inspection: four times those of the functions that are kept of a program."""

_INSPECTION_LEVEL = 4
"""The level of compression of inspections: a few hundredths beside the best, in half of its time."""

_AT_ONCE = 500
"""The most hashes in one query; SQLite may allow no more than 999."""


class _Table(Struct, frozen=True):
    """What is done with the rows of a table.

    Attributes:
        expires: True if rows are deleted at `MOST_AGE`.
        most: The most bytes of all rows, by their column `size`; the oldest go first. None for no limit.
    """

    key: str
    time: str
    expires: bool
    most: int | None


_ROWS = {
    # The SHA-256 of the URL, and whether a token was sent.
    "answers": _Table("url = ? AND with_token = ?", "as_of", expires=True, most=MAX_CACHE_BYTES),
    "verifications": _Table("key = ?", "made_at", expires=True, most=None),
    _PACKAGES: _Table("zh = ?", "proven_at", expires=False, most=None),
    "inspections": _Table("zh = ?", "made_at", expires=False, most=MAX_INSPECTION_BYTES),
}
CACHE_TABLES = tuple(_ROWS)
"""The tables; `CacheInfo` counts the rows of each."""

_Row = tuple[Any, ...]
"""The columns of a row in the order of its table."""


class RememberedAnswer(Struct, frozen=True):
    """A server's cached answer.

    Attributes:
        url: The requested URL, without a user name or password.
        final_url: The URL after redirects. If it differs from the requested one, it is cached without its query.
        as_of: The time of the request, ISO 8601 in UTC with seconds: "2026-11-21T14:02:09Z".
    """

    url: str
    with_token: bool
    status: int
    final_url: str
    content_type: str | None
    body: bytes
    as_of: str


class CacheInfo(Struct, frozen=True):
    """The contents of the cache, counted.

    Attributes:
        path: The file; None if the cache is in memory only.
        size: Bytes on disk.
        inspections: Number of packages whose contents are known.
        oldest: Time of the oldest answer, ISO 8601 in UTC, if there is one.
    """

    path: Path | None
    size: int = 0
    answers: int = 0
    verifications: int = 0
    packages: int = 0
    inspections: int = 0
    oldest: str | None = None
    newest: str | None = None


def default_cache_path() -> Path:
    """Return the path of the file in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("locklens", appauthor=False) / "cache.sqlite3"


class Cache:
    """Answers, verifications and hashes of packages. Safe to use from several threads and processes.

    Writes are visible to this instance at once, and to other processes after a flush: every few seconds, and on close.
    Use it in a `with` statement, or close it. No method but `clear` raises. The file is that of `default_cache_path`
    unless given.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._is_on_disk = True
        self._opened: Database | None = None
        self._lock = threading.RLock()
        self._unwritten: dict[str, dict[_Row, _Row]] = {table: {} for table in CACHE_TABLES}
        self._altered: dict[str, str] = {}
        self._bytes = 0
        self._since = 0.0

    @classmethod
    def in_memory(cls) -> Self:
        """Return a cache that lives in memory only."""
        cache = cls()
        cache._is_on_disk = False
        return cache

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Flush, and close the file."""
        with self._lock:
            self.flush()
            if self._opened is not None:
                self._opened.close()

    def take_notices(self) -> tuple[str, ...]:
        """Return the failures since the last call, as sentences."""
        with self._lock:
            return () if self._opened is None else self._opened.take_notices()

    def answer(self, url: str, *, with_token: bool) -> RememberedAnswer | None:
        """Return the cached answer, whatever its age; those with and without a token are cached separately."""
        row = self._row("answers", _digest(url), with_token)
        if row is None:
            return None
        _, _, status, final_url, content_type, as_of, _, packed = row
        body = _unpacked(packed)
        if body is None:
            return None
        return RememberedAnswer(url, with_token, status, final_url or url, content_type, body, as_of)

    def keep_answer(self, answer: RememberedAnswer) -> None:
        """Cache an answer in place of an earlier one; an answer of more than `MOST_BODY` bytes is not cached."""
        if len(answer.body) > MOST_BODY:
            return
        import zlib

        packed = zlib.compress(answer.body)
        final_url = "" if answer.final_url == answer.url else answer.final_url.partition("?")[0]
        content_type = None if answer.content_type is None else answer.content_type[:_MOST_CONTENT_TYPE]
        key = _digest(answer.url), answer.with_token
        row = *key, answer.status, final_url, content_type, answer.as_of, len(packed), packed
        self._keep("answers", key, row, len(packed))

    def verification(self, key: str) -> bytes | None:
        """Return the cached record of a verification, by a digest of everything that it depends on, if there is one."""
        row = self._row("verifications", key)
        return None if row is None else bytes(row[2])

    def keep_verification(self, key: str, data: bytes) -> None:
        """Cache a record that its maker reads again: `locklens.trust.signature`, or the advisories of a package."""
        self._keep("verifications", (key,), (key, timestamp(datetime.now(UTC)), data), len(data))

    def package(self, zh: str) -> HashedPackage | None:
        """Return the hashes and sizes of a package by the `zh` of its zip file, if they are cached."""
        row = self._row(_PACKAGES, zh) if zh.isascii() else None
        return None if row is None else HashedPackage(*row[:-1])

    def hashes(self, zhs: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the hashes of the files of each cached package, by its `zh`."""
        wanted = [zh for zh in dict.fromkeys(zhs) if zh.isascii()]
        with self._lock:
            found = self._database.run(lambda file: _hashes(file, wanted)) if wanted else {}
            known = ((zh, self._unwritten[_PACKAGES].get((zh,))) for zh in wanted)
            return found | {zh: HashedPackage(*row[:-1]).of_files for zh, row in known if row is not None}

    def keep_package(self, package: HashedPackage) -> None:
        """Cache the hashes of a package without expiry, since its bytes are named by their hash."""
        row = *structs.astuple(package), timestamp(datetime.now(UTC))
        with self._lock:
            self._altered.pop(package.zh, None)
        self._keep(_PACKAGES, (package.zh,), row, sum(map(len, package.hashes)))

    def altered(self, zhs: Iterable[str]) -> dict[str, str]:
        """Return the `zh` with which packages arrived in this run that are signed with others, by these."""
        with self._lock:
            return {zh: self._altered[zh] for zh in zhs if zh in self._altered}

    def note_altered(self, signed: str, arrived: str) -> None:
        """Remember for this run that a package arrived with another `zh` than the signed one."""
        with self._lock:
            self._altered[signed] = arrived

    @property
    def has_inspections(self) -> bool:
        """True if the contents of any package are known."""
        with self._lock:
            unwritten = self._unwritten["inspections"]
            if unwritten or (self._opened is None and not self._is_on_disk):
                return bool(unwritten)
            found = self._database.run(lambda file: file.execute("SELECT 1 FROM inspections LIMIT 1").fetchone())
            return found is not None

    def inspection(self, zh: str) -> bytes | None:
        """Return the cached record of what is inside a package by the `zh` of its zip file, if there is one."""
        row = self._row("inspections", zh) if zh.isascii() else None
        return None if row is None else _unpacked(bytes(row[3]), _MOST_INSPECTION)

    def keep_inspection(self, zh: str, data: bytes) -> None:
        """Cache the record of what is inside a package, which `locklens.packages.inspecting` makes and reads."""
        if len(data) > _MOST_INSPECTION:
            return
        import zlib

        packed = zlib.compress(data, _INSPECTION_LEVEL)
        self._keep("inspections", (zh,), (zh, timestamp(datetime.now(UTC)), len(packed), packed), len(packed))

    def flush(self) -> None:
        """Write everything that is buffered."""
        with self._lock:
            rows = {table: tuple(unwritten.values()) for table, unwritten in self._unwritten.items() if unwritten}
            if rows:
                self._database.run(lambda file: _write(file, rows))
                self._drop()

    def info(self) -> CacheInfo:
        """Return the numbers of cached items; creates no file."""
        with self._lock:
            self.flush()
            if self._database.is_kept and not self._database.is_there:
                return CacheInfo(self._database.path)
            counts = self._database.run(_counts)
            path = self._database.path if self._database.is_kept else None
            return CacheInfo(path, self._database.size, **counts)

    def clear(self) -> None:
        """Remove everything, even if the file is damaged or was written by a newer locklens.

        Raises:
            ConfigurationError: The file can be neither emptied nor deleted.
        """
        with self._lock:
            self._drop()
            self._database.clear()

    @property
    def is_kept(self) -> bool:
        """True if the cache outlives the run."""
        return self._database.is_kept

    @property
    def _database(self) -> Database:
        if self._opened is None:
            from locklens.storage.database import Database, DatabaseLayout

            layout = DatabaseLayout(
                CACHE_SCHEMA, _TABLES, name="cache", contents="Cached answers", stays_open=True, is_trusted=True
            )
            place = (lambda: self._path or default_cache_path()) if self._is_on_disk else None
            self._opened = Database(layout, place)
        return self._opened

    def _row(self, table: str, *key: Any) -> _Row | None:
        """Return a row by its key, written or not."""
        with self._lock:
            unwritten = self._unwritten[table].get(key)
            if unwritten is not None:
                return unwritten
            query = f"SELECT * FROM {table} WHERE {_ROWS[table].key}"  # noqa: S608
            found: _Row | None = self._database.run(lambda file: file.execute(query, key).fetchone())
            return found

    def _keep(self, table: str, key: _Row, row: _Row, size: int) -> None:
        """Keep a row to be written; the buffer is flushed where it is large or old."""
        with self._lock:
            self._unwritten[table][key] = row
            if not self._bytes:
                self._since = time.monotonic()
            self._bytes += size + 1
            items = sum(map(len, self._unwritten.values()))
            is_old = time.monotonic() - self._since > _BUFFERED_SECONDS
            if items >= _BUFFERED_ITEMS or self._bytes >= _BUFFERED_BYTES or is_old:
                self.flush()

    def _drop(self) -> None:
        for unwritten in self._unwritten.values():
            unwritten.clear()
        self._bytes = 0


def _digest(url: str) -> bytes:
    from hashlib import sha256

    return sha256(url.encode("utf-8", "surrogatepass")).digest()


def _unpacked(packed: bytes, most: int = MOST_BODY) -> bytes | None:
    """Decompress at most that many bytes; None if the file does not hold the bytes that were written."""
    import zlib

    inflate = zlib.decompressobj()
    try:
        body = inflate.decompress(packed, most)
    except (zlib.error, TypeError):
        return None
    return body if inflate.eof else None


def timestamp(moment: datetime) -> str:
    """Return a time in UTC in the stored form, which sorts by time."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _hashes(file: sqlite3.Connection, zhs: Sequence[str]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for start in range(0, len(zhs), _AT_ONCE):
        some = zhs[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = file.execute(f"SELECT zh, h1 FROM {_PACKAGES} WHERE zh IN ({marks})", some)  # noqa: S608
        found.update((zh, frozenset(of_files)) for zh, *of_files in rows)
    return found


def _write(file: sqlite3.Connection, rows: Mapping[str, Sequence[_Row]]) -> None:
    """Put the rows of each table in place of those with the same key, and delete rows beyond the limits."""
    for table, some in rows.items():
        marks = ", ".join("?" * len(some[0]))
        file.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", some)  # noqa: S608
    _purge(file, datetime.now(UTC))


def _purge(file: sqlite3.Connection, now: datetime) -> None:
    """Delete the rows that expired, and the oldest of each table beyond its bytes."""
    cutoff = timestamp(now - MOST_AGE)
    for table, row in _ROWS.items():
        if row.expires:
            file.execute(f"DELETE FROM {table} WHERE {row.time} < ?", (cutoff,))  # noqa: S608
        if row.most is not None and file.execute(f"SELECT TOTAL(size) FROM {table}").fetchone()[0] > row.most:  # noqa: S608
            file.execute(
                f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM (SELECT rowid AS id,"  # noqa: S608
                f" SUM(size) OVER (ORDER BY {row.time} DESC, rowid DESC) AS running FROM {table}) WHERE running > ?)",
                (row.most,),
            )


def _counts(file: sqlite3.Connection) -> dict[str, Any]:
    """Return the number of rows of each table, and the times of the oldest and newest answer."""
    counts = {table: file.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in CACHE_TABLES}  # noqa: S608
    oldest, newest = file.execute("SELECT MIN(as_of), MAX(as_of) FROM answers").fetchone()
    return {**counts, "oldest": oldest, "newest": newest}
