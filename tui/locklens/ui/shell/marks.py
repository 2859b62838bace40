"""Keeps the marks of reviewed changes: at once in memory for the screen, and one after the other in the store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from locklens.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path


class MarkKeeper:
    """Hands marks to the store in a thread of its own, in the order in which they were made.

    Args:
        path: The store's file; None for the user's own.
        on_notice: Called, in that thread, with each sentence that the store has to say.
    """

    def __init__(self, path: Path | None, on_notice: Callable[[str], object]) -> None:
        self._store = Store(path)
        self._on_notice = on_notice
        self._queue = ThreadPoolExecutor(max_workers=1, thread_name_prefix="marks")

    def read(self, repository: str) -> frozenset[str]:
        """Returns the marked ids; waits for marks that are still being written."""
        return self._queue.submit(self._read, repository).result()

    def set(self, repository: str, change_ids: Collection[str], *, marked: bool) -> None:
        """Marks changes or takes their marks back; returns at once."""
        self._queue.submit(self._write, repository, tuple(change_ids), marked=marked)

    def close(self) -> None:
        """Waits until all is written."""
        self._queue.shutdown(wait=True)

    def _read(self, repository: str) -> frozenset[str]:
        found = self._store.marks(repository)
        self._report()
        return found

    def _write(self, repository: str, change_ids: tuple[str, ...], *, marked: bool) -> None:
        (self._store.mark if marked else self._store.unmark)(repository, change_ids)
        self._report()

    def _report(self) -> None:
        for notice in self._store.take_notices():
            self._on_notice(notice)
