"""A screen that loads a review in steps and keeps it fresh. What it shows is up to the screens built on it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, assert_never

from textual import on, work
from textual.screen import Screen
from textual.worker import get_current_worker

from locklens.errors import LockLensError
from locklens.review.reports.visible import visible
from locklens.ui.bars import Reading
from locklens.ui.feed import ReviewSource, Stamps, changed_since, roots_of, stamps_of, with_roots
from locklens.ui.messages import (
    FilesChanged,
    MarksNotKept,
    ProgressMade,
    ReviewCompleted,
    ReviewDrafted,
    ReviewFailed,
    RootsRead,
)
from locklens.ui.sentences import changed_on_disk
from locklens.workspace.events import Asked, PackageArriving, PackageDone, Progress, ProvingPlanned, RootsKnown

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.review.model import Review
    from locklens.ui.marks import MarkKeeper
    from locklens.workspace.events import Event

_LOOK_SECONDS = 1.0


class LoadingScreen(Screen[int]):
    """Owns the review, the marks and the way they got here.

    Args:
        source: Opens the comparison.
        keeper: Remembers marks.
    """

    def __init__(self, source: ReviewSource, keeper: MarkKeeper) -> None:
        super().__init__()
        self.source = source
        self.keeper = keeper
        self.review: Review | None = None
        """What is shown; None until the lock files were compared."""
        self.error: LockLensError | None = None
        """Why there is nothing to show, or why it could not be read again."""
        self.marks: frozenset[str] = frozenset()
        """Ids of the reviewed changes."""
        self.progress = Reading()
        self.top: Path | None = None
        self.repository = ""
        self._run = 0
        self._stamps: Stamps = {}
        self._changed: tuple[str, ...] = ()
        self._is_first = True

    @abstractmethod
    def review_arrived(self) -> None:
        """Shows `review`, which is new or more complete."""

    @abstractmethod
    def progress_made(self) -> None:
        """Shows `progress` or `error`."""

    def on_mount(self) -> None:
        """Starts to read and to watch."""
        self.reload()
        self.set_interval(_LOOK_SECONDS, self._look)

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reads everything again; what is shown stays until the new review is complete.

        Args:
            is_fresh: Whether registries are asked again, whatever is remembered.
        """
        self._run += 1
        self._is_first = self.review is None
        self.progress = Reading(0)
        self.progress_made()
        self._load(self._run, is_fresh=is_fresh)

    @work(thread=True, exclusive=True, group="review")
    def _load(self, run: int, *, is_fresh: bool) -> None:
        cancel = get_current_worker().cancelled_event
        try:
            opened = self.source.open(is_fresh=is_fresh)
            try:
                draft = opened.draft
                stamps = stamps_of(opened.watched(draft))
                marks = self.keeper.read(opened.repository)
                self.post_message(ReviewDrafted(run, draft, opened.top, opened.repository, marks))
                review = opened.complete(on_event=lambda event: self._post(run, event), cancel=cancel)
                self.post_message(ReviewCompleted(run, review, {**stamps_of(opened.watched(review)), **stamps}))
            finally:
                opened.close()
        except LockLensError as error:
            if not cancel.is_set():
                self.post_message(ReviewFailed(run, error))

    def _post(self, run: int, event: Event) -> None:
        """Hands on what a worker's review tells; safe from any thread."""
        match event:
            case RootsKnown():
                self.post_message(RootsRead(run, event.roots))
            case Progress():
                self.post_message(ProgressMade(run, event))
            case Asked() | ProvingPlanned() | PackageArriving() | PackageDone():
                pass
            case _:
                assert_never(event)

    @on(ReviewDrafted)
    def _take_draft(self, event: ReviewDrafted) -> None:
        if event.run != self._run:
            return
        self.top, self.repository, self.error = event.top, event.repository, None
        self.marks = event.marks
        self.progress = Reading(0, len(event.review.roots))
        if self._is_first:
            self.review = event.review
            self.review_arrived()
        self.progress_made()

    @on(RootsRead)
    def _take_roots(self, event: RootsRead) -> None:
        if event.run != self._run:
            return
        if self._is_first and self.review is not None:
            self.review = with_roots(self.review, event.roots)
            self.review_arrived()

    @on(ProgressMade)
    def _take_progress(self, event: ProgressMade) -> None:
        if event.run == self._run:
            self.progress = Reading(event.progress.done, event.progress.total, event.progress.what)
            self.progress_made()

    @on(ReviewCompleted)
    def _take_review(self, event: ReviewCompleted) -> None:
        if event.run != self._run:
            return
        self.review, self._stamps, self.progress = event.review, event.stamps, Reading()
        if self._changed:
            self.notify(visible(changed_on_disk(self._changed)), markup=False, timeout=4)
            self._changed = ()
        self.review_arrived()
        self.progress_made()

    @on(ReviewFailed)
    def _take_failure(self, event: ReviewFailed) -> None:
        if event.run != self._run:
            return
        self.error, self.progress, self._changed = event.error, Reading(), ()
        self.progress_made()

    def _look(self) -> None:
        """Asks for changed files, unless they are being read anyway."""
        if self._stamps and self.progress.done is None:
            self._compare_stamps(self._run, self._stamps)

    @work(thread=True, exclusive=True, group="watch")
    def _compare_stamps(self, run: int, stamps: Stamps) -> None:
        if paths := changed_since(stamps):
            self.post_message(FilesChanged(run, paths))

    @on(FilesChanged)
    def _take_changed_files(self, event: FilesChanged) -> None:
        if event.run != self._run or self.review is None or self.progress.done is not None:
            return
        self._stamps = {}
        self._changed = roots_of(event.paths, self.review, self.top)
        self.reload()

    def set_marks(self, change_ids: frozenset[str], *, marked: bool) -> None:
        """Marks changes as reviewed or takes their marks back; they are kept for later runs."""
        self.marks = self.marks | change_ids if marked else self.marks - change_ids
        self.keeper.set(self.repository, change_ids, marked=marked)

    @on(MarksNotKept)
    def _tell_of_marks(self, event: MarksNotKept) -> None:
        self.notify(visible(event.notice), severity="warning", markup=False, timeout=10)
