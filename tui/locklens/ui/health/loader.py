"""Loader of the health of all roots: from files at once, then with the answers of registries."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError
from locklens.operations.review.request import Progress
from locklens.project.folders import FileWatch
from locklens.ui.shell.bars import Reading
from locklens.ui.shell.messages import ProgressMade, ReviewFailed
from locklens.ui.shell.review_loader import ReviewLoader
from locklens.ui.shell.throttle import Throttle

if TYPE_CHECKING:
    from locklens.operations.locklens import LockLens
    from locklens.review.health import Health
    from locklens.ui.shell.marks import MarkKeeper

_PROGRESS_SECONDS = 0.1


class HealthLoader(ReviewLoader):
    """Owns the health and the thread that scans for it; its review has the roots with their findings.

    Args:
        source: Scans the roots.
        keeper: Stores marks.
    """

    @dataclass
    class Scanned(Message):
        """The roots were scanned; `is_final` once registries have answered.

        Attributes:
            watch: The files that it depends on.
        """

        run: int
        health: Health
        watch: FileWatch
        is_final: bool

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.health: Health | None = None
        """The health to show; None until the files are read."""

    def use(self, source: LockLens) -> None:
        """Scan by another source; nothing of the one before is shown meanwhile."""
        self.health = None
        super().use(source)

    @work(thread=True, exclusive=True, group="review")
    def _load(self, run: int, watch: FileWatch | None, *, is_fresh: bool) -> None:
        cancel = get_current_worker().cancelled_event
        since = time.time_ns()
        if watch is not None:
            watch.restart()
        throttle = Throttle(_PROGRESS_SECONDS)

        def post_progress(what: str, done: int, total: int) -> None:
            now = time.monotonic()
            if not throttle.wait(now):
                throttle.took(now, now)
                phase = "configuration" if what == "roots" else "evidence"
                self.post_message(ProgressMade(run, Progress(phase, done, total)))  # type: ignore[arg-type]

        def post_health(health: Health, *, is_final: bool = False) -> None:
            nonlocal watch
            if watch is None:
                top = Path(health.top)
                watch = FileWatch(top, [top / root.lock_file for root in health.review.roots], since_ns=since)
            self.post_message(self.Scanned(run, health, watch, is_final))

        try:
            health = self._source.health(
                is_fresh=is_fresh, on_progress=post_progress, on_draft=post_health, cancel=cancel
            )
            post_health(health, is_final=True)
        except RunCancelledError:
            return
        except LockLensError as error:
            self.post_message(ReviewFailed(run, error))

    @on(Scanned)
    def _take_health(self, event: Scanned) -> None:
        if event.run != self.run:
            return
        self.health, self.review, self.top = event.health, event.health.review, Path(event.health.top)
        self._watch, self.error = event.watch, None
        if not event.is_final:
            self.post_message(self.Changed())
            return
        self.progress = Reading()
        changed, self._changed = self._changed, ()
        self.post_message(self.Changed(event.health.review.notes, changed))

    @on(ProgressMade)
    def _tell_progress(self, event: ProgressMade) -> None:
        if event.run == self.run:
            self.post_message(self.Progressed())
