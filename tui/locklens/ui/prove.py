"""The dialog that verifies hashes by download: estimate, confirmation, progress, result."""

from __future__ import annotations

import time
from abc import abstractmethod
from functools import partial
from threading import Event as Signal
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, assert_never

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from locklens.errors import LockLensError, RunCancelledError
from locklens.lines import Line, Role, Span, line
from locklens.operations.review.request import (
    LookupProgress,
    PackageDone,
    PackageDownloading,
    Progress,
    ProvingPlanned,
    RootsKnown,
)
from locklens.review.evidence import is_unsigned, packages_to_compare, unverified_h1
from locklens.text import counted, size_words
from locklens.ui.dialogs import Dialog, DialogKey
from locklens.ui.phrases import Downloads, download_lines
from locklens.ui.shell import Job, Run

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewEvent
    from locklens.review import HashFact
    from locklens.review.model import Change, Review, RootReview

_MOST_LABELS = 8
"""The most packages that are named, so that the dialog fits into 24 lines."""

ProvingSelection = frozenset[tuple[str, "ProviderAddress"]]
"""Changes, each by lock file and provider."""


def plan_lines(plan: ProvingPlanned, unsigned: int = 0) -> Iterator[Line]:
    """The estimated downloads, and their purpose; `unsigned` is the number of `h1` of unsigned releases."""
    packages = planned_size(plan)
    if not plan.hashes:
        times = f", up to {plan.at_most} times, to see if it arrives as it was signed."
        yield line(
            "To download: ", packages, times if plan.at_most > plan.likely else ", to compare it with the lock file."
        )
    else:
        verified = plan.hashes - min(unsigned, plan.hashes)
        yield line(
            "To download: ", packages, f", to verify {verified} h1." if verified else ", to compare with the h1."
        )
    if plan.hashes and unsigned:
        words = (
            f"{unsigned} h1 of an unsigned release: a match does not verify it, since nobody vouches for the package."
        )
        yield line(Span(words, Role.WARN), hanging=2)
    if plan.hashes and plan.at_most > plan.likely:
        yield line(f"Up to {plan.at_most}, if none of these matches: an h1 does not say which platform it is for.")
    yield from named_packages(plan, _MOST_LABELS)
    handling = "Packages are hashed while downloading, and hashes are cached. No package is stored, unpacked or run."
    yield line(Span(handling, Role.DIM))


def planned_size(plan: ProvingPlanned) -> Span:
    """Return the number of packages, and their size as far as it is known."""
    size = size_words(plan.likely_bytes) if plan.likely_bytes is not None else "size unknown"
    return Span(f"{counted(plan.likely, 'package')}, {size}", Role.STRONG)


def named_packages(plan: ProvingPlanned, most: int) -> Iterator[Line]:
    """The first packages of a plan by name, and an empty line."""
    for label in plan.labels[:most]:
        yield line(Span(f"  {label}", Role.PLACE), hanging=4)
    if len(plan.labels) > most:
        yield line(Span(f"  and {len(plan.labels) - most} more", Role.DIM))
    yield line()


def outcome(before: Review, selection: ProvingSelection, after: Iterable[RootReview]) -> str:
    """Return the count of `h1` that the downloads verified of those that they were for, in words."""
    changes, now = list(selected_changes(before.roots, selection)), list(selected_changes(after, selection))
    old, still = _named(changes, unverified_h1), _named(now, unverified_h1)
    asked = _named(filter(packages_to_compare, changes), unverified_h1)
    hashed = _named(filter(is_unsigned, now), lambda change: (one for one in change.locked if one.is_explained))
    unsigned = asked & still & hashed
    count = f"{len(asked - still)} of {counted(len(asked), 'h1', 'h1')} verified"
    if unsigned:
        count += f"; {len(unsigned)} hashed from an unsigned package: not verified"
    if others := len(old - asked):
        count += f"; {others} more had no package to download"
    return f"{count}; see the findings for the others" if still & old - unsigned else count


def _named(changes: Iterable[Change], facts: Callable[[Change], Iterable[HashFact]]) -> frozenset[tuple[object, str]]:
    """Return hashes of changes, each with its release, as a download counts them."""
    return frozenset(
        ((change.address, change.new and str(change.new.version)), fact.hash)
        for change in changes
        for fact in facts(change)
    )


def nothing_to_prove(review: Review, selection: ProvingSelection) -> str:
    """Return the reason why there is nothing to download."""
    changes = list(selected_changes(review.roots, selection))
    if not any(True for change in changes for _ in unverified_h1(change)):
        return "nothing to verify here: no h1 is left to compare with its package"
    # Of a release that is known, the problems are those of the one before it.
    known = ((change, change.evidence) for change in changes if change.evidence is not None)
    unknown = (one for change, one in known if change.new_signer is None or one.unverified is not None)
    problems = [problem for evidence in unknown for problem in evidence.problems]
    return (
        f"nothing can be verified: {problems[0]}"
        if problems
        else "nothing can be verified: no signed package left to hash"
    )


def selected_changes(roots: Iterable[RootReview], selection: ProvingSelection) -> Iterator[Change]:
    """Return the selected changes of some roots."""
    return (change for root in roots for change in root.changes if (root.lock_file, change.address) in selection)


def unsigned_h1(review: Review, selection: ProvingSelection) -> int:
    """Return the number of unverified `h1` of the releases that are known to be unsigned."""
    unsigned = filter(is_unsigned, selected_changes(review.roots, selection))
    return len({fact.hash for change in unsigned for fact in unverified_h1(change)})


_REDRAW_SECONDS = 0.1


class DownloadSteps:
    """The steps of a dialog that downloads packages: estimate, question, progress.

    The worker's thread asks, and waits for the answer. `redraw` shows the lines and the keys of the present step.
    """

    def __init__(self, dialog: Dialog[Any], redraw: Callable[[], object]) -> None:
        self.plan: ProvingPlanned | None = None
        """The downloads that were asked about last; None before."""
        self.is_confirmed = False
        self.downloads = Downloads()
        self._dialog, self._redraw = dialog, redraw
        self._answered = Signal()
        self._was_early = False
        """True if the user agreed before there was a question."""

    @property
    def is_asking(self) -> bool:
        """True while the user is asked."""
        return self.plan is not None and not self.is_confirmed

    def confirm(self, run: Run, plan: ProvingPlanned) -> bool:
        """Ask whether to download, separately for each plan of a run; return False if that is refused or cancelled."""
        self.is_confirmed = False
        self._answered.clear()
        run.tell(self._ask, plan)
        while not self._answered.wait(0.05):
            if run.cancel.is_set():
                return False
        return self.is_confirmed

    def _ask(self, plan: ProvingPlanned) -> None:
        self.plan = plan
        self.show()

    def agree(self) -> str:
        """Start the downloads that the user is asked about; return why there are none to start, "" if they start."""
        self._was_early = self.plan is None
        if not self.is_asking:
            when = "before the size of the download is shown" if self._was_early else "while packages are downloaded"
            return f"enter does nothing {when}"
        self.is_confirmed = True
        self._answered.set()
        self.show()
        return ""

    def show(self) -> None:
        """Show the present step: what was said about a key is so of the step before."""
        self._dialog.end_answer()
        self._redraw()
        if self.is_asking and self._was_early:
            self._dialog.answer("download: press enter again now")

    def refuse(self) -> None:
        """End the question."""
        self._answered.set()

    def lines(self, waiting: str, question: Callable[[ProvingPlanned], Iterable[Line]]) -> tuple[Line, ...]:
        """Return the lines of the present step; `waiting` are those before the question."""
        if self.plan is None:
            return (line(Span(waiting, Role.DIM)),)
        if not self.is_confirmed:
            return tuple(question(self.plan))
        return self.progress or (line(Span("Starting …", Role.DIM)),)

    @property
    def progress(self) -> tuple[Line, ...]:
        """A line for each download."""
        return tuple(download_lines(self.downloads.in_order, time.monotonic()))

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys of the present step."""
        cancel = DialogKey("esc", "cancel", "close")
        return (DialogKey("enter", "download", "agree"), cancel) if self.is_asking else (cancel,)


class Proved(NamedTuple):
    """The result in words; `is_partial` if more hashes are cached than shown."""

    words: str
    is_partial: bool = False


class DownloadDialog(Dialog[Proved]):
    """Asks before any download; esc stops at any time. A subclass says what is downloaded, and what came of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "agree", "Download", show=False),
        Binding("escape,q", "close", "Stop", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._job = Job(self, "prove")
        self._steps = DownloadSteps(self, self._redraw)
        self._is_stopped = False
        self._result: Proved | None = None
        self.unsigned = 0
        """The number of `h1` that no download can verify."""

    @abstractmethod
    def download(
        self,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        """Download what `confirm` agrees to, on the worker's thread; return the roots with more facts, () for none.

        It raises LockLensError if it failed, RunCancelledError if `cancel` was set.
        """

    @abstractmethod
    def take_roots(self, roots: tuple[RootReview, ...]) -> None:
        """Take roots with more facts."""

    @abstractmethod
    def outcome(self, roots: tuple[RootReview, ...], *, is_planned: bool) -> str:
        """Return what came of it, in words; without a plan there was nothing to download."""

    def on_mount(self) -> None:
        """Start the estimate."""
        self.show_title("Verify h1 by download")
        self._redraw()
        self.view.focus()
        self._job.start(self._prove, self._end, self._fail)
        self.set_interval(_REDRAW_SECONDS, self._redraw)

    def _prove(self, run: Run) -> tuple[RootReview, ...] | None:
        """Download on the worker's thread; None if that was cancelled."""
        try:
            return self.download(partial(self._steps.confirm, run), partial(self._hear, run), run.cancel)
        except RunCancelledError:
            return None

    def _hear(self, run: Run, event: ReviewEvent) -> None:
        """Handle an event on the worker's thread."""
        now = time.monotonic()
        match event:
            case PackageDownloading():
                self._steps.downloads.arrive(event.label, event.received, event.size, now)
            case PackageDone():
                self._steps.downloads.end(event.label, now, received=event.size, problem=event.problem)
            case RootsKnown():
                run.tell(self.take_roots, event.roots)
            case Progress() | LookupProgress() | ProvingPlanned():
                pass
            case _:
                assert_never(event)

    def _end(self, roots: tuple[RootReview, ...] | None) -> None:
        if roots:
            self.take_roots(roots)
        if roots is None or self._is_stopped:
            self._conclude(self._cancelled)
        else:
            self._conclude(Proved(self.outcome(roots, is_planned=self._steps.plan is not None)))

    def _fail(self, error: LockLensError) -> None:
        if self._is_stopped:
            self._conclude(self._cancelled)
        else:
            self._conclude(
                Proved(f"verification failed: {error.sentence}", is_partial=bool(self._steps.downloads.hashed))
            )

    @property
    def _cancelled(self) -> Proved:
        if not self._steps.is_confirmed:
            return Proved("nothing was downloaded")
        hashed = bool(self._steps.downloads.hashed)
        return Proved(f"verification cancelled{'; hashes computed so far are cached' if hashed else ''}", hashed)

    def _conclude(self, result: Proved) -> None:
        """Close with the result, or show it below the downloads that failed."""
        self._result = result
        if self._steps.downloads.has_failed and not self._is_stopped:
            self._steps.show()
        else:
            self.dismiss(self._result)

    def _redraw(self) -> None:
        self.view.show_lines(self._lines(), keep_place=True)
        self.refresh_keys()

    def _lines(self) -> tuple[Line, ...]:
        if self._result is not None:
            return (*self._steps.progress, line(), line(self._result.words))
        if self._is_stopped:
            return (line(Span("Stopping …", Role.DIM)),)
        return self._steps.lines("Estimating the download …", partial(plan_lines, unsigned=self.unsigned))

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys of the present step."""
        if self._result is not None:
            return (DialogKey("enter esc", "close", "close"),)
        return () if self._is_stopped else self._steps.keys

    def action_agree(self) -> None:
        """Start the download, or close the result."""
        if self._result is not None:
            self.dismiss(self._result)
        elif not self._is_stopped and (refusal := self._steps.agree()):
            self.answer(refusal)

    def action_close(self) -> None:
        """Stop the download, or close the result."""
        if self._result is not None:
            self.dismiss(self._result)
            return
        self._is_stopped = True
        self._steps.refuse()
        self._job.cancel()
        self._steps.show()


class ProveDialog(DownloadDialog):
    """Verifies the `h1` of selected changes; `on_roots` is called with the roots that have more facts."""

    def __init__(
        self,
        source: LockLens,
        review: Review,
        selection: ProvingSelection,
        on_roots: Callable[[tuple[RootReview, ...]], None],
    ) -> None:
        super().__init__()
        self._source = source
        self._review = review
        self._selection = selection
        self._on_roots = on_roots
        self.unsigned = unsigned_h1(review, selection)

    def download(
        self,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        """Download the packages of the selected changes."""
        return self._source.prove(self._review, self._selection, confirm=confirm, on_event=on_event, cancel=cancel)

    def take_roots(self, roots: tuple[RootReview, ...]) -> None:
        """Hand them on."""
        self._on_roots(roots)

    def outcome(self, roots: tuple[RootReview, ...], *, is_planned: bool) -> str:
        """Return the number of verified `h1`, or why there was nothing to download."""
        words = outcome(self._review, self._selection, roots or self._review.roots)
        if is_planned:
            return words
        after = replace(self._review, roots=roots) if roots else self._review
        changes = (selected_changes(review.roots, self._selection) for review in (self._review, after))
        before, still = (_named(each, unverified_h1) for each in changes)
        return f"from cached hashes: {words}" if still < before else nothing_to_prove(after, self._selection)
