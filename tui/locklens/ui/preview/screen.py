"""The Preview screen: a plan, its review, and its application; nothing is written before enter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec.structs import replace
from textual import on, work
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError, StaleLockFileError
from locklens.operations.review.request import Progress, ReviewEvent
from locklens.text import counted
from locklens.ui.dialogs.text import TextDialog
from locklens.ui.preview.bars import preview_head, preview_status
from locklens.ui.preview.detail import preview_detail, raw_diff
from locklens.ui.preview.help import preview_help
from locklens.ui.preview.install_progress import take
from locklens.ui.preview.keys import PREVIEW_KEYS
from locklens.ui.preview.plan_pane import COMMAND, Item, PlanProgress, PlanStage, items, refusal, written_words
from locklens.ui.shell import bars
from locklens.ui.shell.bars import Reading
from locklens.ui.shell.examined import examined_failure
from locklens.ui.shell.external import file_below
from locklens.ui.shell.key_table import dialog_bindings
from locklens.ui.shell.messages import ViewWanted
from locklens.ui.shell.screen import LockLensScreen
from locklens.ui.text.clipboard import ShellText, copied_line
from locklens.ui.text.downloads import Downloads
from locklens.ui.views import DOCTOR
from locklens.ui.widgets.bar import Bar
from locklens.ui.widgets.copying import copy_text
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from locklens.install.context import InstallEvent
    from locklens.lines import Line
    from locklens.operations.locklens import LockLens
    from locklens.operations.plan.model import FileChanges, Plan
    from locklens.operations.plan.review import PlanReview
    from locklens.operations.write.operation import Operation
    from locklens.review.model import Review
    from locklens.ui.preview.plan_pane import Group
    from locklens.ui.shell.examined import ExaminedProvider

_REDRAW_SECONDS = 0.1
_MOVING = frozenset({PlanStage.PLANNING, PlanStage.REVIEWING, PlanStage.WRITING})


class Closed(NamedTuple):
    """How a Preview ended.

    Attributes:
        words: The result of an apply, or that nothing was written.
        is_news: True if the views have to be read again: files were written, or packages hashed.
    """

    words: str
    is_news: bool


class PreviewScreen(LockLensScreen[Closed]):
    """Plans in a worker, shows the plan, and applies it on enter; esc cancels at any time.

    Args:
        source: Plans, reviews and applies.
        operation: What is requested.
        review: The review that it refers to; None if there is none.
    """

    TABLE = PREVIEW_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [*dialog_bindings(PREVIEW_KEYS)]

    class Planned(Message):
        """The plan is made."""

        def __init__(self, run: int, plan: Plan) -> None:
            super().__init__()
            self.run = run
            self.plan = plan

    class Reviewed(Message):
        """The plan is reviewed, or the review failed."""

        def __init__(self, run: int, outcome: PlanReview | LockLensError) -> None:
            super().__init__()
            self.run = run
            self.outcome = outcome

    class NotPlanned(Message):
        """Planning failed."""

        def __init__(self, run: int, error: LockLensError) -> None:
            super().__init__()
            self.run = run
            self.error = error

    class Written(Message):
        """All files are written, or none with an error."""

        def __init__(self, notices: tuple[str, ...] = (), error: LockLensError | None = None) -> None:
            super().__init__()
            self.notices = notices
            self.error = error

    def __init__(self, source: LockLens, operation: Operation, review: Review | None) -> None:
        super().__init__()
        self._source = source
        self._operation = operation
        self._review = review
        self._run = 0
        self._begin()

    def _begin(self) -> None:
        self._run += 1
        self._stage = PlanStage.PLANNING
        self._plan: Plan | None = None
        self._plan_review: PlanReview | None = None
        self._error: LockLensError | None = None
        self._review_error: LockLensError | None = None
        self._roots: tuple[str, ...] = ()
        self._progress = Reading(0)
        self._downloads = Downloads()
        self._items: tuple[Item, ...] = ()
        self._in_full = False

    def compose(self) -> ComposeResult:
        """Yield head, plan, detail, status and keys."""
        yield Bar(id="head")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield LineView(id="plan")
            yield LineView(id="detail")
        yield Bar(id="status")
        yield Bar(id="keys")

    def on_mount(self) -> None:
        """Start planning."""
        self.left.focus()
        self._worker = self._make_plan(self._run)
        self.set_interval(_REDRAW_SECONDS, self._redraw_moving)
        self._show()
        self._show_detail()

    @property
    def left(self) -> LineView:
        """The pane with the plan."""
        return self.query_one("#plan", LineView)

    @property
    def detail(self) -> LineView:
        """The pane with the diff."""
        return self.query_one("#detail", LineView)

    @property
    def standing(self) -> PlanProgress:
        """The progress of the plan."""
        return PlanProgress(
            self._operation.title,
            self._stage,
            self._plan,
            self._plan_review,
            self._roots,
            self._downloads.in_order,
            self._progress.words,
            self._error,
            self._review_error,
        )

    @property
    def is_writing(self) -> bool:
        """True while files are being written."""
        return self._stage is PlanStage.WRITING

    # Work

    @work(thread=True, group="plan")
    def _make_plan(self, run: int) -> None:
        cancel = get_current_worker().cancelled_event
        downloads = self._downloads

        def reach(root: str) -> None:
            if run == self._run:
                self._roots = (*self._roots, root)

        def on_event(event: InstallEvent) -> None:
            take(downloads, event, time.monotonic())

        try:
            plan = self._source.plan(self._operation, self._review, on_root=reach, on_event=on_event, cancel=cancel)
        except RunCancelledError:
            return
        except LockLensError as error:
            self.post_message(self.NotPlanned(run, error))
            return
        self.post_message(self.Planned(run, plan))
        if not plan.proposal.files:
            return
        try:
            outcome = self._review_plan(plan, cancel)
        except RunCancelledError:
            return
        except LockLensError as error:
            outcome = error
        self.post_message(self.Reviewed(run, outcome))

    def _review_plan(self, plan: Plan, cancel: threading.Event) -> PlanReview | LockLensError:
        if self._review is None:
            return LockLensError("the current lock files could not be reviewed, so that the policy is unknown")
        return self._source.review_plan(plan, self._review, on_event=self._hear_review, cancel=cancel)

    def _hear_review(self, event: ReviewEvent) -> None:
        if isinstance(event, Progress):
            self._progress = Reading(event.done, event.total, event.what)

    @on(Planned)
    def _take_plan(self, event: Planned) -> None:
        if event.run == self._run:
            self._plan = event.plan
            self._stage = PlanStage.REVIEWING if event.plan.proposal.files else PlanStage.READY
            self._show()
            self._show_detail()

    @on(Reviewed)
    def _take_review(self, event: Reviewed) -> None:
        if event.run == self._run:
            if isinstance(event.outcome, LockLensError):
                self._review_error = event.outcome
            else:
                self._plan_review = event.outcome
            self._stage = PlanStage.READY
            self._show()
            self._show_detail()

    @on(NotPlanned)
    def _take_error(self, event: NotPlanned) -> None:
        if event.run == self._run:
            self._error, self._stage = event.error, PlanStage.FAILED
            self._show()
            self._show_detail()

    # Display

    def _redraw_moving(self) -> None:
        if self._stage in _MOVING:
            self._show()

    def _show(self) -> None:
        if not self.is_open:
            return
        # Until there is a plan, downloads use the full width.
        self.set_class(self._plan is None, "-planning")
        self._items = tuple(items(self.standing, time.monotonic()))
        self.left.show_lines((item.line for item in self._items), keep_place=True)
        self.refresh_bars()

    def refresh_bars(self) -> None:
        """Update head, status and keys."""
        if not self.is_open:
            return
        standing = self.standing
        self.query_one("#head", Bar).show_layouts(*preview_head(standing))
        self.query_one("#status", Bar).show_layouts(*preview_status(standing, refusal(standing), self.message))
        without = [] if self._examined is not None else ["i"]
        without += [] if standing.lacks_modules else ["m"]
        without += [] if standing.leaves_configuration else ["f"]
        keys = bars.key_line(self.TABLE, in_detail=self.detail.has_focus, without=without)
        self.query_one("#keys", Bar).show_layouts(*keys)

    def help_lines(self) -> Iterable[Line]:
        """The keys and signs."""
        return preview_help()

    @property
    def _about(self) -> Group | str | None:
        cursor = self.left.cursor
        return self._items[cursor].about if 0 <= cursor < len(self._items) else None

    @on(LineView.Highlighted, "#plan")
    def _show_detail(self) -> None:
        if self.is_open:
            self.detail.show_lines(preview_detail(self.standing, self._about, in_full=self._in_full))

    # Keys

    def action_apply(self) -> None:
        """Write all files, or show the reason against it."""
        reason = refusal(self.standing)
        if reason or self._plan is None:
            self.say(reason)
            return
        self._stage, self._error = PlanStage.WRITING, None
        self._show()
        self._write(replace(self._plan.proposal, message=self.standing.message))

    @work(thread=True, group="write")
    def _write(self, proposal: FileChanges) -> None:
        try:
            notices = self._source.apply(proposal)
        except LockLensError as error:
            self.post_message(self.Written(error=error))
        else:
            self.post_message(self.Written(notices))

    @on(Written)
    def _end(self, event: Written) -> None:
        if event.error is not None:
            self._error = event.error
            self._stage = PlanStage.STALE if isinstance(event.error, StaleLockFileError) else PlanStage.READY
            self._show()
            self.say(refusal(self.standing) or f"nothing was written: {event.error}")
            return
        plan = self._plan
        files = written_words(plan) if plan is not None else "the files"
        roots = len({failed.root for failed in plan.failures}) if plan is not None else 0
        failed = f"; {counted(roots, 'root')} failed and left unchanged" if roots else ""
        rest = "; ".join(event.notices) or "Z undoes it"
        self.dismiss(Closed(f"{self.standing.words.past} {files}{failed}; {rest}", is_news=True))

    def action_cancel(self) -> None:
        """Close the screen; stop the work in progress without writing."""
        if self.is_writing:
            self.say("writing in progress: each file is replaced as a whole")
            return
        self._worker.cancel()
        self._leave()

    def _leave(self) -> None:
        """Close without an apply; what was hashed for the plan is cached, and known to the views from then on."""
        self.dismiss(Closed("nothing was written", is_news=bool(self._downloads.hashed)))

    def action_plan_anew(self) -> None:
        """Plan again from the current files."""
        if self._stage in _MOVING:
            self.say("not possible now: " + refusal(self.standing))
            return
        in_full = self._in_full
        self.action_focus_list()
        self._begin()
        self._in_full = in_full
        self._worker = self._make_plan(self._run)
        self._show()
        self._show_detail()

    def action_with_files(self) -> None:
        """Plan to stage the edited configuration files too, or the lock files alone."""
        from locklens.operations.write.stage import Stage

        if not isinstance(self._operation, Stage):
            self.say("stage files: only in a Preview of staging (S)")
        elif self._stage in _MOVING:
            self.say("not possible now: " + refusal(self.standing))
        else:
            self._operation = replace(self._operation, with_configuration=not self._operation.with_configuration)
            self.action_plan_anew()

    def action_without_modules(self) -> None:
        """Plan again without the modules that cannot be read."""
        if not self.standing.lacks_modules:
            self.say("missing modules: only where a root could not be planned for want of them")
        elif self._stage in _MOVING:
            self.say("not possible now: " + refusal(self.standing))
        else:
            self._operation = self._operation.without_missing_modules()
            self.action_plan_anew()

    def action_other_pane(self) -> None:
        """Focus the other pane; on narrow terminals it fills the screen."""
        if self._plan is None:
            self.say("no detail before the plan is ready")
            return
        is_left = self.left.has_focus
        self.set_class(is_left, "-detail")
        (self.detail if is_left else self.left).focus()

    def action_focus_list(self) -> None:
        """Focus the plan."""
        self.remove_class("-detail")
        self.left.focus()

    def action_expand(self) -> None:
        """Switch between full and short hashes and rules."""
        self._in_full = not self._in_full
        self.detail.show_lines(preview_detail(self.standing, self._about, in_full=self._in_full), keep_place=True)
        self.say("full hashes and rules" if self._in_full else "short hashes")

    def action_diff(self) -> None:
        """Show the full diff."""
        lines = raw_diff(self._plan.proposal.files) if self._plan is not None else ()
        if not lines:
            self.say("no file would change")
            return
        self.app.push_screen(TextDialog("Full diff", lines, closing="d"))

    def action_copy(self) -> None:
        """Copy the commit message, the highlighted line of the detail, or the command line."""
        line = self.detail.current if self.detail.has_focus else None
        if line is not None and line.copied:
            self.say(copy_text(self.app, copied_line(line.copied)))
        elif self._about == COMMAND and self._plan is not None:
            self.say(copy_text(self.app, copied_line(ShellText(self._plan.proposal.command)), "the command line"))
        elif message := self.standing.message:
            trailers = "" if self._plan_review is not None else ", without trailers (not reviewed yet)"
            self.say(copy_text(self.app, message, f"the commit message{trailers}"))
        else:
            self.say("nothing to copy: no file would change")

    def action_edit(self) -> None:
        """Open the file of the highlighted line, as it is on disk."""
        view = self.detail if self.detail.has_focus else self.left
        place = view.current.place if view.current is not None else None
        if self._plan is None or place is None:
            self.say("no line to open here")
            return
        top = self._plan.proposal.top
        try:
            path = file_below(top, place)
        except LockLensError as error:
            self.say_error(error)
            return
        if problem := self.open_editor(path, place.line, top):
            self.say(problem)

    @property
    def _examined(self) -> ExaminedProvider | None:
        return examined_failure(self._plan, self._error, self._roots, self._operation.title)

    def action_diagnose(self) -> None:
        """Leave, and examine on Doctor what the plan failed for; nothing is written."""
        examined = self._examined
        if examined is None:
            self.say("diagnose: only of a plan that failed with a checksum or a signature")
            return
        top = self._plan.proposal.top if self._plan is not None else None
        self.app.post_message(ViewWanted(DOCTOR, top, examined=examined))
        self._leave()

    def action_undo(self) -> None:
        """Show where undo is available."""
        self.say("undo: leave the Preview first (esc), then press Z")
