"""The marks of reviewed changes, which outlive a run.

They are the user's own work, so they lie in the data folder, where clearing the cache does not reach. Several
processes may use them at once. Nothing here raises; `Store.take_notices` says in sentences what went wrong.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from locklens.storage.database import Database, DatabaseLayout
from locklens.text import counted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection
    from pathlib import Path

_LAYOUT = DatabaseLayout(
    schema=1,
    tables=(
        """
        CREATE TABLE IF NOT EXISTS marks (
            repository TEXT NOT NULL,
            change_id TEXT NOT NULL,
            marked_at TEXT NOT NULL,
            PRIMARY KEY (repository, change_id)
        ) WITHOUT ROWID
        """,
    ),
    name="store of marks",
    contents="Marks",
)

_OUTDATED = re.compile("(finding:)?[0-9a-f]{16}")
"""Ids as earlier versions made them. One could stand for several changes, so the mark says nothing of any."""


def default_store_path() -> Path:
    """The path of the store, in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("locklens", appauthor=False) / "store.sqlite3"


class Store:
    """Remembers marks. Safe to use from several threads and processes; each call opens the file anew.

    Args:
        path: The file; None for the user's own.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._database = Database(_LAYOUT, lambda: path or default_store_path())
        self._notices: list[str] = []

    def take_notices(self) -> tuple[str, ...]:
        """Return the failures since the last call, and what was dropped, in sentences."""
        taken, self._notices = self._notices, []
        return (*taken, *self._database.take_notices())

    @property
    def is_kept(self) -> bool:
        """True if marks outlive the run."""
        return self._database.is_kept

    def marks(self, repository: str) -> frozenset[str]:
        """Return the ids of the changes that are marked in a repository; those of earlier versions are dropped."""

        def read(connection: sqlite3.Connection) -> frozenset[str]:
            found = connection.execute("SELECT change_id FROM marks WHERE repository = ?", (repository,))
            return frozenset(row[0] for row in found)

        ids = self._database.run(read)
        outdated = frozenset(one for one in ids if _OUTDATED.fullmatch(one))
        if outdated:
            self.unmark(repository, outdated)
            marks = counted(len(outdated), "mark of a reviewed change was", "marks of reviewed changes were")
            why = "an earlier locklens made them, with ids that could stand for several changes"
            self._notices.append(f"{marks} dropped: {why}; review and mark these changes again")
        return ids - outdated

    def mark(self, repository: str, change_ids: Collection[str]) -> None:
        """Marks changes as reviewed; what is marked already keeps its time."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(repository, change_id, now) for change_id in change_ids]
        self._database.run(lambda file: file.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?, ?)", rows))

    def unmark(self, repository: str, change_ids: Collection[str]) -> None:
        """Take marks back."""
        rows = [(repository, change_id) for change_id in change_ids]
        self._database.run(
            lambda file: file.executemany("DELETE FROM marks WHERE repository = ? AND change_id = ?", rows)
        )
