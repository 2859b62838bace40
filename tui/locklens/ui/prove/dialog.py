"""The dialog that verifies hashes by download: estimate, confirmation, progress, result."""

from __future__ import annotations

import time
from abc import abstractmethod
from threading import Event as Signal
from typing import TYPE_CHECKING, ClassVar, NamedTuple, assert_never

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.worker import get_current_worker

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
from locklens.ui.dialogs.base import Dialog, DialogKey
from locklens.ui.prove.lines import nothing_to_prove, outcome, plan_lines
from locklens.ui.text.downloads import Downloads, download_lines
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Sequence

    from textual.widget import Widget

    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewEvent
    from locklens.review.model import Review, RootReview
    from locklens.ui.prove.lines import ProvingSelection

_REDRAW_SECONDS = 0.1


class Proved(NamedTuple):
    """The result in words; `is_partial` if more hashes are cached than shown."""

    words: str
    is_partial: bool = False


class DownloadDialog(Dialog[Proved]):
    """Asks before any download; esc stops at any time. A subclass says what is downloaded, and what came of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "agree", "Download", show=False),
        Binding("escape,q", "stop", "Stop", show=False),
    ]

    class Planned(Message):
        """The estimate is ready for confirmation."""

        def __init__(self, plan: ProvingPlanned) -> None:
            super().__init__()
            self.plan = plan

    class Known(Message):
        """Roots with more facts."""

        def __init__(self, roots: tuple[RootReview, ...]) -> None:
            super().__init__()
            self.roots = roots

    class Ended(Message):
        """The worker is done."""

        def __init__(
            self, roots: tuple[RootReview, ...], error: LockLensError | None = None, *, is_cancelled: bool = False
        ) -> None:
            super().__init__()
            self.roots = roots
            self.error = error
            self.is_cancelled = is_cancelled

    def __init__(self) -> None:
        super().__init__()
        self._plan: ProvingPlanned | None = None
        self._answered = Signal()
        self._is_confirmed = False
        self._is_stopped = False
        self._result: Proved | None = None
        self._downloads = Downloads()

    @abstractmethod
    def download(
        self,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        """Download what `confirm` agrees to, on the worker's thread; return the roots with more facts, () for none.

        Raises:
            LockLensError: It failed.
            RunCancelledError: `cancel` was set.
        """

    @abstractmethod
    def take_roots(self, roots: tuple[RootReview, ...]) -> None:
        """Take roots with more facts."""

    @abstractmethod
    def outcome(self, roots: tuple[RootReview, ...], *, is_planned: bool) -> str:
        """Return what came of it, in words; without a plan there was nothing to download."""

    def body(self) -> Iterable[Widget]:
        """Return the lines."""
        yield LineView(id="dialog-lines")

    def on_mount(self) -> None:
        """Start the estimate."""
        self.show_title("Verify h1 by download")
        self._redraw()
        self.query_one(LineView).focus()
        self._worker = self._prove()
        self.set_interval(_REDRAW_SECONDS, self._redraw)

    @work(thread=True, group="prove")
    def _prove(self) -> None:
        cancel = get_current_worker().cancelled_event

        def confirm(plan: ProvingPlanned) -> bool:
            self._is_confirmed = False  # each plan of a run is asked about
            self._answered.clear()
            self.post_message(self.Planned(plan))
            while not self._answered.wait(0.05):
                if cancel.is_set():
                    return False
            return self._is_confirmed

        try:
            roots = self.download(confirm, self._hear, cancel)
        except RunCancelledError:
            self.post_message(self.Ended((), is_cancelled=True))
        except LockLensError as error:
            self.post_message(self.Ended((), error))
        else:
            self.post_message(self.Ended(roots))

    def _hear(self, event: ReviewEvent) -> None:
        """Handle an event on the worker's thread."""
        now = time.monotonic()
        match event:
            case PackageDownloading():
                self._downloads.arrive(event.label, event.received, event.size, now)
            case PackageDone():
                self._downloads.end(event.label, now, received=event.size, problem=event.problem)
            case RootsKnown():
                self.post_message(self.Known(event.roots))
            case Progress() | LookupProgress() | ProvingPlanned():
                pass
            case _:
                assert_never(event)

    @on(Planned)
    def _ask(self, event: Planned) -> None:
        self._plan = event.plan
        self._redraw()

    @on(Known)
    def _forward_roots(self, event: Known) -> None:
        self.take_roots(event.roots)

    @on(Ended)
    def _end(self, event: Ended) -> None:
        if event.roots:
            self.take_roots(event.roots)
        self._result = self._conclude(event)
        if self._downloads.has_failed and not self._is_stopped:
            self._redraw()
        else:
            self.dismiss(self._result)

    def _conclude(self, event: Ended) -> Proved:
        hashed = bool(self._downloads.hashed)
        if self._is_stopped or event.is_cancelled:
            if not self._is_confirmed:
                return Proved("nothing was downloaded")
            cached = "; hashes computed so far are cached" if hashed else ""
            return Proved(f"verification cancelled{cached}", is_partial=hashed)
        if event.error is not None:
            return Proved(f"verification failed: {event.error.sentence}", is_partial=hashed)
        return Proved(self.outcome(event.roots, is_planned=self._plan is not None))

    def _redraw(self) -> None:
        self.query_one(LineView).show_lines(self._lines(), keep_place=True)
        self.refresh_keys()

    def _lines(self) -> tuple[Line, ...]:
        if self._result is not None:
            return (*download_lines(self._downloads.in_order, time.monotonic()), line(), line(self._result.words))
        if self._is_stopped:
            return (line(Span("Stopping …", Role.DIM)),)
        if self._plan is None:
            return (line(Span("Estimating the download …", Role.DIM)),)
        if not self._is_confirmed:
            return tuple(plan_lines(self._plan))
        return tuple(download_lines(self._downloads.in_order, time.monotonic())) or (
            line(Span("Starting …", Role.DIM)),
        )

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys of the present step."""
        if self._result is not None:
            return (DialogKey("enter esc", "close", "stop"),)
        cancel = DialogKey("esc", "cancel", "stop")
        if self._plan is not None and not self._is_confirmed:
            return (DialogKey("enter", "download", "agree"), cancel)
        return (cancel,)

    def action_agree(self) -> None:
        """Start the download, or close the result."""
        if self._result is not None:
            self.dismiss(self._result)
        elif self._plan is not None and not self._is_stopped:
            self._is_confirmed = True
            self._answered.set()
            self._redraw()

    def action_stop(self) -> None:
        """Cancel, stops the download, or close the result."""
        if self._result is not None:
            self.dismiss(self._result)
            return
        self._is_stopped = True
        self._answered.set()
        self._worker.cancel()
        self._redraw()


class ProveDialog(DownloadDialog):
    """Verifies the `h1` of selected changes.

    Args:
        source: Downloads and hashes the packages.
        review: The review with the changes to verify.
        selection: The selected changes.
        on_roots: Called with the roots that have more facts.
    """

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
        if not is_planned:
            return nothing_to_prove(self._review, self._selection)
        return outcome(self._review, self._selection, roots or self._review.roots)
