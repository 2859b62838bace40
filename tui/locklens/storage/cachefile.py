"""The tables of the cache and the statements on them; when they are run is decided in `locklens.storage.cache`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

CACHE_SCHEMA = 1
TABLES = (
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
    """
    CREATE TABLE IF NOT EXISTS packages (
        zh TEXT NOT NULL PRIMARY KEY,
        h1 TEXT NOT NULL,
        size INTEGER NOT NULL,
        unpacked_size INTEGER NOT NULL,
        files INTEGER NOT NULL,
        proven_at TEXT NOT NULL
    )
    """,
)

MOST_AGE = timedelta(days=90)
"""Of answers and verifications: an entry unused for so long is worth little even offline, and another gpg may see a
signature otherwise."""

MAX_CACHE_BYTES = 256 * 1024 * 1024
"""Of all answers, compressed: hundreds of providers with the documents of many versions."""

_AT_ONCE = 500
"""Hashes in one question; SQLite may allow no more than 999."""

CacheKey = tuple[bytes, bool]
"""Of an answer: the SHA-256 of the URL, and whether a token was sent."""

CacheRow = tuple[int, str, str | None, str, int, bytes]
"""Of an answer: status, final URL, content type, time, size of the body as it is stored, the body."""


def text(moment: datetime) -> str:
    """A moment in UTC as it is stored, in the order of which it also sorts."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def answer(file: sqlite3.Connection, key: CacheKey) -> CacheRow | None:
    """Return an answer."""
    columns = "status, final_url, content_type, as_of, size, body"
    found: CacheRow | None = file.execute(
        f"SELECT {columns} FROM answers WHERE url = ? AND with_token = ?",  # noqa: S608
        key,
    ).fetchone()
    return found


def verification(file: sqlite3.Connection, key: str) -> bytes | None:
    """Return what was written down of a verification."""
    row = file.execute("SELECT data FROM verifications WHERE key = ?", (key,)).fetchone()
    return None if row is None else bytes(row[0])


def package_of_row(file: sqlite3.Connection, zh: str) -> tuple[Any, ...] | None:
    """Return zh, h1, size, unpacked size and number of files of a package."""
    columns = "zh, h1, size, unpacked_size, files"
    found: tuple[Any, ...] | None = file.execute(f"SELECT {columns} FROM packages WHERE zh = ?", (zh,)).fetchone()  # noqa: S608
    return found


def hashes(file: sqlite3.Connection, zhs: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the hashes of the files of each package that is known, by its zh."""
    found: dict[str, frozenset[str]] = {}
    for start in range(0, len(zhs), _AT_ONCE):
        some = zhs[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = file.execute(f"SELECT zh, h1 FROM packages WHERE zh IN ({marks})", some)  # noqa: S608
        found.update((zh, frozenset(of_files)) for zh, *of_files in rows)
    return found


def write(
    file: sqlite3.Connection,
    now: datetime,
    *,
    answers: Sequence[tuple[Any, ...]],
    verifications: Sequence[tuple[str, bytes]],
    packages: Sequence[tuple[Any, ...]],
) -> None:
    """Put rows in place of those with the same key, and forget what the bounds leave no room for.

    Args:
        file: In a transaction, or in none.
        now: In UTC.
        answers: The columns of `Key` and `Row`.
        verifications: Key and data.
        packages: The columns that `package` returns.
    """
    made_at = text(now)
    replace = "INSERT OR REPLACE INTO"
    file.executemany(f"{replace} answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", answers)
    file.executemany(f"{replace} verifications VALUES (?, ?, ?)", [(key, made_at, data) for key, data in verifications])
    file.executemany(f"{replace} packages VALUES (?, ?, ?, ?, ?, ?)", [(*row, made_at) for row in packages])
    _purge(file, now)


def _purge(file: sqlite3.Connection, now: datetime) -> None:
    """Forget what is too old, and the oldest answers where all of them are too large; facts about packages stay."""
    cutoff = text(now - MOST_AGE)
    file.execute("DELETE FROM answers WHERE as_of < ?", (cutoff,))
    file.execute("DELETE FROM verifications WHERE made_at < ?", (cutoff,))
    total = file.execute("SELECT TOTAL(size) FROM answers").fetchone()[0]
    if total > MAX_CACHE_BYTES:
        file.execute(
            "DELETE FROM answers WHERE rowid IN (SELECT id FROM (SELECT rowid AS id,"
            " SUM(size) OVER (ORDER BY as_of DESC, rowid DESC) AS running FROM answers) WHERE running > ?)",
            (MAX_CACHE_BYTES,),
        )


def counts(file: sqlite3.Connection) -> tuple[int, int, int, str | None, str | None]:
    """Return the numbers of answers, verifications and packages, and the times of the oldest and newest answer."""
    answers, oldest, newest = file.execute("SELECT COUNT(*), MIN(as_of), MAX(as_of) FROM answers").fetchone()
    verifications, packages = (
        file.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608
        for table in ("verifications", "packages")
    )
    return answers, verifications, packages, oldest, newest
