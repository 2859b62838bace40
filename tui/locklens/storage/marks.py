"""The marks of reviewed changes, which outlive a run.

They are the user's own work, so they lie in the data folder, apart from the cache. Several processes may use them at
once. Nothing here raises; `MarkStore.take_notices` returns failures as sentences.
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
"""Ids of earlier versions. One of them could stand for several changes, so its mark proves nothing about any."""


def default_marks_path() -> Path:
    """The path of the store, in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("locklens", appauthor=False) / "store.sqlite3"


class MarkStore:
    """Marks of changes by repository, in a SQLite file. Safe to use from several threads and processes.

    Args:
        path: The file, which each call opens anew; None for `default_marks_path`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._database = Database(_LAYOUT, lambda: path or default_marks_path())
        self._notices: list[str] = []

    def take_notices(self) -> tuple[str, ...]:
        """Return the failures since the last call, and the dropped marks, as sentences."""
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
        """Mark changes as reviewed; a change that is marked already keeps its time."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(repository, change_id, now) for change_id in change_ids]
        self._database.run(lambda file: file.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?, ?)", rows))

    def unmark(self, repository: str, change_ids: Collection[str]) -> None:
        """Remove marks."""
        rows = [(repository, change_id) for change_id in change_ids]
        self._database.run(
            lambda file: file.executemany("DELETE FROM marks WHERE repository = ? AND change_id = ?", rows)
        )
