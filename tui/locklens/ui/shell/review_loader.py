"""Loader of a review: in steps, and again when its files change. An invisible child widget of a screen.

Keeps the marks of reviewed changes, and shows a root's facts until as many are known again.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, assert_never

from msgspec.structs import replace
from textual.message import Message
from textual.widget import Widget

from locklens.errors import LockLensError
from locklens.operations.review.request import (
    LookupProgress,
    PackageDone,
    PackageDownloading,
    Progress,
    ProvingPlanned,
    RootsKnown,
)
from locklens.storage.preferences import MarkStore
from locklens.ui.phrases import PARTIALLY_WATCHED, changes_words
from locklens.ui.shell import Job, Run, Throttle, after
from locklens.ui.shell.watching import LOOK_SECONDS, DiskLook, names_of_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from textual.timer import Timer

    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewEvent
    from locklens.project.folders import FileWatch
    from locklens.review.model import Review, RootReview

_Marks: TypeAlias = "Mapping[str, frozenset[str] | None]"
_Result = TypeVar("_Result")
_SHOW_SECONDS = 0.1
"""Shortest time between two updates of the screen."""


class ReviewLoader(Widget):
    """Owns the review, its marks, and the threads that load them. Invisible."""

    DEFAULT_CSS = "ReviewLoader { display: none; }"

    @dataclass
    class Changed(Message):
        """`review` is new or more complete.

        Attributes:
            notes: Sentences on what limits the whole review; only for a complete review.
            reread: The files whose change on disk caused the reload; see `names_of_files`.
            is_note_outdated: True if a note of the review before is no longer so.
        """

        notes: tuple[str, ...] = ()
        reread: tuple[str, ...] = ()
        is_note_outdated: bool = False

    @dataclass
    class Progressed(Message):
        """`progress` or `error` changed, and `review` did not."""

        def can_replace(self, message: Message) -> bool:
            """True for another one: each shows all that is known by then, so that of many that wait one is enough."""
            return isinstance(message, type(self))

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
        self._seen: dict[str, frozenset[str] | None] = {}
        """The rules of the warnings and blocks that a change had when it was marked, by its id; None: not known."""
        self.progress: Progress | None = None
        """The progress of loading; None when idle."""
        self.top: Path | None = None
        """The folder that the review's paths are relative to; None if not on disk."""
        self.repository = ""
        """The key of the stored marks: stable for a repository across runs."""
        self._watch: FileWatch | None = None
        self._loading = Job(self, "review")
        self._disk = DiskLook(self, self._take_failure)
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
        return self.progress is not None

    def on_mount(self) -> None:
        """Start loading and watching."""
        self.reload()
        self.set_interval(LOOK_SECONDS, self._look)

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reload everything; a root's shown facts stay until as many are known again."""
        self._draft, self._known = None, {}
        self.error = None if is_fresh else self.error
        self.progress = Progress("lock files", 0, 0)
        self.post_message(self.Progressed())
        load = partial(self._load_watched, watch=self._watch, is_fresh=is_fresh)
        self._loading.start(load, self._take_review, self._take_failure)

    def use(self, source: LockLens) -> None:
        """Load another comparison; nothing of the earlier one is shown meanwhile."""
        self._source, self._watch = source, None
        self.review, self.error = None, None
        self.reload()

    def drew(self, began: float, ended: float) -> None:
        """Record a drawing, in seconds of the monotonic clock, so that drawing never takes most of the time."""
        self._is_drawing = False
        self._throttle.took(began, ended)

    def _load_watched(self, run: Run, *, watch: FileWatch | None, is_fresh: bool) -> tuple[Review, FileWatch | None]:
        """Load on the worker's thread; the files of a first load that fails are watched, too: they may be fixed."""
        since = time.time_ns()
        try:
            return self._load(run, watch=watch, is_fresh=is_fresh)
        except LockLensError:
            if watch is None and not run.cancel.is_set():
                run.tell(self._take_watch, self._source.watch(since_ns=since))
            raise

    def _take_watch(self, watch: FileWatch | None) -> None:
        self._watch = watch

    def _load(self, run: Run, *, watch: FileWatch | None, is_fresh: bool) -> tuple[Review, FileWatch | None]:
        """Load on the worker's thread; return the complete review, and the watch of the files that it depends on."""
        since = time.time_ns()
        if watch is not None:
            watch.restart()
        opened = self._source.open(is_fresh=is_fresh, on_event=partial(self._hear, run))
        try:
            draft = opened.draft
            watch = watch or opened.watch(draft, since_ns=since)
            marks = self._keeper.read(opened.repository)
            run.tell(self._take_draft, draft, opened.top, opened.repository, marks, watch)
            review = opened.complete(on_event=partial(self._hear, run), cancel=run.cancel)
            if watch is None or not watch.is_whole:
                watch = opened.watch(review, since_ns=since)
            return review, watch
        finally:
            opened.close()

    def _hear(self, run: Run, event: ReviewEvent) -> None:
        """Handle an event on the worker's thread."""
        match event:
            case RootsKnown():
                run.tell(self._take_known, event.roots)
            case Progress():
                run.tell(self._take_progress, event)
            case LookupProgress() | ProvingPlanned() | PackageDownloading() | PackageDone():
                pass
            case _:
                assert_never(event)

    def _take_draft(
        self, draft: Review, top: Path | None, repository: str, marks: _Marks, watch: FileWatch | None
    ) -> None:
        """Take the comparison of the lock files, before configurations are read."""
        self.top, self.repository, self.error = top, repository, None
        self.marks, self._seen, self._watch = frozenset(marks), dict(marks), watch
        self._draft = draft
        self.progress = Progress("configuration", 0, len(draft.roots))
        self._show()

    def _take_known(self, roots: Iterable[RootReview]) -> None:
        self._known |= {root.lock_file: root for root in roots}
        self._show_soon()

    def _take_progress(self, progress: Progress) -> None:
        self.progress = progress
        if self._draft is None:
            self.post_message(self.Progressed())
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

    def _take_review(self, loaded: tuple[Review, FileWatch | None]) -> None:
        before = self.review
        self.review, self._watch = loaded
        self.progress = None
        self._draft, self._known = None, {}
        changed, self._changed = self._changed, ()
        is_partial = self._watch is not None and self._watch.is_partial
        notes = *self.review.notes, *([PARTIALLY_WATCHED] if is_partial else [])
        is_outdated = before is not None and not set(before.notes).issubset(notes)
        self.post_message(self.Changed(notes, changed, is_outdated))

    def _take_failure(self, error: LockLensError) -> None:
        self.error, self.progress, self._changed = error, None, ()
        self._draft = None
        self.post_message(self.Progressed() if self.review is None else self.Changed())

    @property
    def _is_reading(self) -> bool:
        """True while files are read, which is quick; asking registries may be slow."""
        return self.progress is not None and self.progress.what != "evidence"

    def _look(self) -> None:
        """Check for changed files, unless a load is reading them or the screen is hidden."""
        if self._watch is None or not self.screen.is_current or self._is_reading:
            return
        self._disk.look(self._watch, partial(self._take_changed_files, self._loading.runs))

    def _take_changed_files(self, load: int, paths: tuple[str, ...]) -> None:
        """Load again where watched files changed since they were read, by the load of that number."""
        if not paths or load != self._loading.runs or self._is_reading:
            return  # the watch names them again at the next look, unless they are read anew until then
        self._changed = names_of_files(paths, self.top)
        if self.review is None:
            self._watch = None  # the load that failed does not know all files
        self.reload()

    def take_roots(self, roots: Iterable[RootReview]) -> None:
        """Replace roots with more facts, such as after proving hashes."""
        if self.review is not None:
            self.review = with_roots(self.review, roots)
            self.post_message(self.Changed())

    def set_marks(self, change_ids: frozenset[str], *, marked: bool) -> None:
        """Marks changes as reviewed, or unmarks them; marks persist across runs."""
        self.marks = self.marks | change_ids if marked else self.marks - change_ids
        if marked:
            serious = self._serious()
            seen = {one: serious.get(one, frozenset()) for one in change_ids}
            self._seen |= seen
            self._keeper.mark(self.repository, seen)
        else:
            self._keeper.unmark(self.repository, change_ids)

    def _serious(self) -> dict[str, frozenset[str]]:
        """The rules of the warnings and blocks that count, by the id of their change.

        Without those for want of an answer: a run without the registry ends no mark.
        """
        found: dict[str, frozenset[str]] = {}
        for change in self.review.changes if self.review is not None else ():
            known = (one for one in change.findings if one.accepted is None and not one.is_doubt)
            rules = (one.rule for one in known if one.severity.is_serious)
            found[change.id] = found.get(change.id, frozenset()).union(rules)
        return found

    def unmark_outdated(self) -> tuple[str, ...]:
        """Unmark changes with a warning or block that nobody saw when they were marked, and say so."""
        serious = self._serious()
        marked = ((one, seen) for one in self.marks if (seen := self._seen.get(one)) is not None)
        outdated = frozenset(one for one, seen in marked if serious.get(one, seen) - seen)
        if not outdated or self.review is None:
            return ()
        self.set_marks(outdated, marked=False)
        number = changes_words(change for change in self.review.changes if change.id in outdated)
        return (f"unmarked {number}: a warning or block was found after the mark",)


def with_roots(review: Review, finished: Iterable[RootReview]) -> Review:
    """The review with roots replaced by their finished versions, unless their files changed since."""
    by_file = {root.lock_file: root for root in finished}
    return replace(
        review,
        roots=tuple(
            new if (new := by_file.get(root.lock_file)) is not None and _is_of_same_files(root, new) else root
            for root in review.roots
        ),
    )


def renewed(shown: Review, draft: Review, known: Mapping[str, RootReview]) -> Review:
    """The review to show during a load: never fewer facts of a root than shown already.

    `shown` is the draft itself for the first review; `known` has roots of the review in progress with more facts, by
    lock file.
    """
    before = {root.lock_file: root for root in shown.roots}

    def best(root: RootReview) -> RootReview:
        old, new = before.get(root.lock_file), known.get(root.lock_file)
        if old is None:
            return new or root
        if new is None:
            return old
        is_better = _is_settled(new) or not _is_settled(old) or not _is_of_same_files(old, new)
        return new if is_better else old

    roots = tuple(map(best, draft.roots))
    return replace(draft, roots=roots, hosts=shown.hosts, policy_notes=shown.policy_notes, limits=shown.limits)


def _is_settled(root: RootReview) -> bool:
    return root.configuration is not None and all(change.is_settled for change in root.changes)


def _is_of_same_files(root: RootReview, other: RootReview) -> bool:
    return (root.old.data, root.new.data) == (other.old.data, other.new.data)


class MarkKeeper:
    """Writes marks to the store, without a path the user's own, in order, on a thread of its own.

    `on_notice` is called on that thread with each notice of the store.
    """

    def __init__(self, path: Path | None, on_notice: Callable[[str], object]) -> None:
        self._store = MarkStore(path)
        self._on_notice = on_notice
        self._queue = ThreadPoolExecutor(max_workers=1, thread_name_prefix="marks")

    def read(self, repository: str) -> _Marks:
        """Return the marked ids with the rules that each mark covers, after pending writes."""
        return self._queue.submit(self._told, self._store.marks, repository).result()

    def mark(self, repository: str, changes: Mapping[str, Collection[str]]) -> None:
        """Mark changes, each with the rules that the mark covers; returns immediately."""
        self._queue.submit(self._told, self._store.mark, repository, changes)

    def unmark(self, repository: str, change_ids: Collection[str]) -> None:
        """Unmark changes; returns immediately."""
        self._queue.submit(self._told, self._store.unmark, repository, tuple(change_ids))

    def close(self) -> None:
        """Wait for pending writes."""
        self._queue.shutdown(wait=True)

    def _told(self, work: Callable[..., _Result], *given: object) -> _Result:
        """Do some work on the store, and tell its notices."""
        result = work(*given)
        for notice in self._store.take_notices():
            self._on_notice(notice)
        return result
