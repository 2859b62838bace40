"""Loader of a review: in steps, and again when its files change. An invisible child widget of a screen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from textual import on, work
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError
from locklens.operations.review.request import (
    LookupProgress,
    PackageDone,
    PackageDownloading,
    Progress,
    ProvingPlanned,
    RootsKnown,
)
from locklens.ui.shell.bars import Reading
from locklens.ui.shell.file_watch import roots_of
from locklens.ui.shell.messages import (
    FilesChanged,
    ProgressMade,
    ReviewCompleted,
    ReviewDrafted,
    ReviewFailed,
    RootsRead,
)
from locklens.ui.shell.review_merge import renewed, with_roots
from locklens.ui.shell.throttle import Throttle
from locklens.ui.shell.timers import after
from locklens.ui.text.phrases import PARTIALLY_WATCHED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from textual.timer import Timer
    from textual.worker import Worker

    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewEvent
    from locklens.project.folders import FileWatch
    from locklens.review.model import Review, RootReview
    from locklens.ui.shell.marks import MarkKeeper

_LOOK_SECONDS = 1.0
_SHOW_SECONDS = 0.1
"""Shortest time between two updates of the screen."""


class ReviewLoader(Widget):
    """Owns the review, its marks, and the threads that load them. Invisible.

    Args:
        source: Opens the comparison.
        keeper: Stores marks.
    """

    DEFAULT_CSS = "ReviewLoader { display: none; }"

    @dataclass
    class Changed(Message):
        """`review` is new or more complete.

        Attributes:
            notes: Sentences on what limits the whole review; only for a complete review.
            reread: Roots or files whose change on disk caused the reload.
        """

        notes: tuple[str, ...] = ()
        reread: tuple[str, ...] = ()

    @dataclass
    class Progressed(Message):
        """`progress` or `error` changed, and `review` did not."""

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__()
        self._source = source
        self._keeper = keeper
        self.review: Review | None = None
        """The review to show; None until the lock files are compared."""
        self.error: LockLensError | None = None
        """The error of a failed load or reload."""
        self.marks: frozenset[str] = frozenset()
        """Ids of the reviewed changes."""
        self.progress = Reading()
        self.top: Path | None = None
        """The folder that the review's paths are relative to; None if not on disk."""
        self.run = 0
        """The number of the newest load; messages of older loads are dropped."""
        self.repository = ""
        """The key of the stored marks: stable for a repository across runs."""
        self._watch: FileWatch | None = None
        self._looking: Worker[None] | None = None
        self._look_throttle = Throttle(0)
        self._changed: tuple[str, ...] = ()
        self._draft: Review | None = None
        self._known: dict[str, RootReview] = {}
        self._throttle = Throttle(_SHOW_SECONDS)
        self._is_drawing = False
        """True while a posted change is not drawn yet."""
        self._timer: Timer | None = None

    @property
    def is_asking(self) -> bool:
        """True while the review is incomplete."""
        return self.progress.done is not None

    def on_mount(self) -> None:
        """Start loading and watching."""
        self.reload()
        self.set_interval(_LOOK_SECONDS, self._look)

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reload everything; a root's shown facts stay until as many are known again.

        Args:
            is_fresh: True to ask registries again despite the cache.
        """
        self.run += 1
        self._draft, self._known = None, {}
        self.error = None if is_fresh else self.error
        self.progress = Reading(0)
        self.post_message(self.Progressed())
        self._load(self.run, self._watch, is_fresh=is_fresh)

    def use(self, source: LockLens) -> None:
        """Load another comparison; nothing of the one before is shown meanwhile."""
        self._source, self._watch = source, None
        self.review, self.error = None, None
        self.reload()

    def drew(self, began: float, ended: float) -> None:
        """Record the time that drawing the review took, so that drawing never takes most of the time.

        Args:
            began: Start in seconds of the monotonic clock.
            ended: End in seconds of the monotonic clock.
        """
        self._is_drawing = False
        self._throttle.took(began, ended)

    @work(thread=True, exclusive=True, group="review")
    def _load(self, run: int, watch: FileWatch | None, *, is_fresh: bool) -> None:
        cancel = get_current_worker().cancelled_event
        since = time.time_ns()
        if watch is not None:
            watch.restart()
        try:
            opened = self._source.open(is_fresh=is_fresh)
            try:
                draft = opened.draft
                watch = watch or opened.watch(draft, since_ns=since)
                marks = self._keeper.read(opened.repository)
                self.post_message(ReviewDrafted(run, draft, opened.top, opened.repository, marks, watch))
                review = opened.complete(on_event=lambda event: self._post(run, event), cancel=cancel)
                if watch is None or not watch.is_whole:
                    watch = opened.watch(review, since_ns=since)
                self.post_message(ReviewCompleted(run, review, watch))
            finally:
                opened.close()
        except RunCancelledError:
            return
        except LockLensError as error:
            self.post_message(ReviewFailed(run, error))

    def _post(self, run: int, event: ReviewEvent) -> None:
        """Post an event of a worker's review; thread-safe."""
        match event:
            case RootsKnown():
                self.post_message(RootsRead(run, event.roots))
            case Progress():
                self.post_message(ProgressMade(run, event))
            case LookupProgress() | ProvingPlanned() | PackageDownloading() | PackageDone():
                pass
            case _:
                assert_never(event)

    @on(ReviewDrafted)
    def _take_draft(self, event: ReviewDrafted) -> None:
        if event.run != self.run:
            return
        self.top, self.repository, self.error = event.top, event.repository, None
        self.marks, self._watch = event.marks, event.watch
        self._draft = event.review
        self.progress = Reading(0, len(event.review.roots))
        self._show()

    @on(RootsRead)
    def _take_roots(self, event: RootsRead) -> None:
        if event.run == self.run:
            self._known |= {root.lock_file: root for root in event.roots}
            self._show_soon()

    @on(ProgressMade)
    def _take_progress(self, event: ProgressMade) -> None:
        if event.run == self.run:
            self.progress = Reading(event.progress.done, event.progress.total, event.progress.what)
            self._show_soon()

    def _show_soon(self) -> None:
        """Show new facts: immediately, or together with later ones when throttled."""
        if self._timer is None and self._draft is not None:
            wait = _SHOW_SECONDS if self._is_drawing else self._throttle.wait(time.monotonic())
            self._timer = after(self, wait, self._show) if wait else None
            if not wait:
                self._show()

    def _show(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._draft is None:
            return
        self.review = renewed(self.review or self._draft, self._draft, self._known)
        self._is_drawing = True
        self.post_message(self.Changed())

    @on(ReviewCompleted)
    def _take_review(self, event: ReviewCompleted) -> None:
        if event.run != self.run:
            return
        self.review, self._watch, self.progress = event.review, event.watch, Reading()
        self._draft, self._known = None, {}
        changed, self._changed = self._changed, ()
        is_partial = self._watch is not None and self._watch.is_partial
        self.post_message(self.Changed((*event.review.notes, *([PARTIALLY_WATCHED] if is_partial else [])), changed))

    @on(ReviewFailed)
    def _take_failure(self, event: ReviewFailed) -> None:
        if event.run != self.run:
            return
        self.error, self.progress, self._changed = event.error, Reading(), ()
        self._draft = None
        self.post_message(self.Progressed() if self.review is None else self.Changed())

    @property
    def _is_reading(self) -> bool:
        """True while files are read, which is quick; asking registries may be slow."""
        return self.is_asking and self.progress.phase != "evidence"

    def _look(self) -> None:
        """Check for changed files, unless a load is reading them or the screen is hidden."""
        if self._watch is None or not self.screen.is_current or self._is_reading:
            return
        is_looking = self._looking is not None and not self._looking.is_finished
        if not is_looking and not self._look_throttle.wait(time.monotonic()):
            self._looking = self._poll(self.run, self._watch)

    # Not exclusive, which would cancel a poll of a slow disk at the next look: `_look` waits for it instead.
    @work(thread=True, group="watch")
    def _poll(self, run: int, watch: FileWatch) -> None:
        began = time.monotonic()
        paths = watch.poll()
        self._look_throttle.took(began, time.monotonic())
        if paths:
            self.post_message(FilesChanged(run, paths))

    @on(FilesChanged)
    def _take_changed_files(self, event: FilesChanged) -> None:
        if event.run != self.run or self.review is None or self._is_reading:
            return  # the watch names them again at the next look, unless they are read anew until then
        self._changed = roots_of(event.paths, self.review, self.top)
        self.reload()

    def take_roots(self, roots: Iterable[RootReview]) -> None:
        """Replace roots with more facts, such as after proving hashes."""
        if self.review is not None:
            self.review = with_roots(self.review, roots)
            self.post_message(self.Changed())

    def set_marks(self, change_ids: frozenset[str], *, marked: bool) -> None:
        """Marks changes as reviewed, or unmarks them; marks persist across runs."""
        self.marks = self.marks | change_ids if marked else self.marks - change_ids
        self._keeper.set(self.repository, change_ids, marked=marked)
