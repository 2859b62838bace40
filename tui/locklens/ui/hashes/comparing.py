"""Compares packages on this machine with locked hashes, on a thread; remembers the results. An invisible widget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError
from locklens.ui.hashes.packages import comparison_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from textual.worker import Worker

    from locklens.operations.locklens import LockLens
    from locklens.operations.verification.judging import EntryPackages
    from locklens.review.model import Review
    from locklens.ui.hashes.rows import Named


class PackageComparer(Widget):
    """Owns the known packages of each entry. Invisible."""

    DEFAULT_CSS = "PackageComparer { display: none; }"

    @dataclass
    class Changed(Message):
        """`known` or `progress` changed; `words` are the end of a run, "" before it."""

        words: str = ""

    @dataclass
    class _Progressed(Message):
        run: int
        words: str

    @dataclass
    class _Ended(Message):
        run: int
        found: Mapping[Named, EntryPackages] = field(default_factory=dict)
        error: LockLensError | None = None

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Named, EntryPackages] = {}
        self._run = 0
        self._worker: Worker[None] | None = None
        self.progress = ""
        """The progress in words; "" when idle."""
        self.pending: frozenset[Named] = frozenset()
        """The entries whose packages are being compared."""

    @property
    def is_busy(self) -> bool:
        """True while packages are compared."""
        return bool(self.progress)

    def known(self, review: Review | None) -> dict[Named, EntryPackages]:
        """Return the packages of the entries whose locked hashes are still the compared ones."""
        if review is None or not self._known:
            return {}
        hashes = {
            (root.lock_file, change.address): change.new.hashes
            for root in review.roots
            for change in root.changes
            if change.new is not None
        }
        return {named: found for named, found in self._known.items() if hashes.get(named) == found.hashes}

    def compare(self, source: LockLens, review: Review, top: Path, chosen: frozenset[Named]) -> None:
        """Start to compare the packages of some entries; a run before this one ends."""
        self._run += 1
        self.pending, self.progress = chosen, "looking for packages"
        self._worker = self._work(self._run, source, review, top, chosen)
        self.post_message(self.Changed())

    def stop(self) -> bool:
        """Cancel the run; False if there is none."""
        if not self.is_busy:
            return False
        self._run += 1
        if self._worker is not None:
            self._worker.cancel()
        self.pending, self.progress = frozenset(), ""
        self.post_message(self.Changed("comparing packages: cancelled"))
        return True

    def forget(self) -> None:
        """Drop all results, and cancel the run."""
        self._known = {}
        self.stop()

    @work(thread=True, exclusive=True, group="packages")
    def _work(self, run: int, source: LockLens, review: Review, top: Path, chosen: frozenset[Named]) -> None:
        def tell(done: int, total: int) -> None:
            self.post_message(self._Progressed(run, f"comparing packages {done}/{total}"))

        cancel = get_current_worker().cancelled_event
        try:
            found = source.verify_packages(review, top, chosen, on_progress=tell, cancel=cancel)
        except RunCancelledError:
            return
        except LockLensError as error:
            self.post_message(self._Ended(run, error=error))
        else:
            self.post_message(self._Ended(run, found))

    @on(_Progressed)
    def _take_progress(self, event: _Progressed) -> None:
        event.stop()
        if event.run == self._run and event.words != self.progress:
            self.progress = event.words
            self.post_message(self.Changed())

    @on(_Ended)
    def _take_result(self, event: _Ended) -> None:
        event.stop()
        if event.run != self._run:
            return
        self._known |= event.found
        self.pending, self.progress = frozenset(), ""
        words = (
            f"packages: {event.error.sentence}" if event.error is not None else comparison_words(event.found.values())
        )
        self.post_message(self.Changed(words))
