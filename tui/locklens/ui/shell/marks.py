"""Background storage of the marks of reviewed changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from locklens.storage.marks import MarkStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path


class MarkKeeper:
    """Writes marks to the store in order, on a thread of its own.

    Args:
        path: The store's file; None for the user's own.
        on_notice: Called on that thread with each notice of the store.
    """

    def __init__(self, path: Path | None, on_notice: Callable[[str], object]) -> None:
        self._store = MarkStore(path)
        self._on_notice = on_notice
        self._queue = ThreadPoolExecutor(max_workers=1, thread_name_prefix="marks")

    def read(self, repository: str) -> frozenset[str]:
        """Return the marked ids, after pending writes."""
        return self._queue.submit(self._read, repository).result()

    def set(self, repository: str, change_ids: Collection[str], *, marked: bool) -> None:
        """Marks or unmarks changes; returns immediately."""
        self._queue.submit(self._write, repository, tuple(change_ids), marked=marked)

    def close(self) -> None:
        """Wait for pending writes."""
        self._queue.shutdown(wait=True)

    def _read(self, repository: str) -> frozenset[str]:
        ids = self._store.marks(repository)
        self._report()
        return ids

    def _write(self, repository: str, change_ids: tuple[str, ...], *, marked: bool) -> None:
        (self._store.mark if marked else self._store.unmark)(repository, change_ids)
        self._report()

    def _report(self) -> None:
        for notice in self._store.take_notices():
            self._on_notice(notice)
