"""The Preview: what would be written, before it is; nothing touches the disk before enter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on, work
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError, StaleLockFileError
from locklens.operations.review.events import Progress, ReviewEvent
from locklens.text import counted
from locklens.ui.dialogs.text import TextDialog
from locklens.ui.preview.bars import preview_head, preview_status
from locklens.ui.preview.detail import preview_detail, raw_diff
from locklens.ui.preview.help import preview_help
from locklens.ui.preview.install_progress import take
from locklens.ui.preview.keys import PREVIEW_KEYS
from locklens.ui.preview.plan_pane import COMMAND, Item, PlanProgress, PlanStage, items, refusal
from locklens.ui.shell import bars
from locklens.ui.shell.bars import Reading
from locklens.ui.shell.external import file_below
from locklens.ui.shell.key_table import dialog_bindings
from locklens.ui.shell.screen import LockLensScreen
from locklens.ui.text.clipboard import ShellText, copied_line
from locklens.ui.text.downloads import Downloads
from locklens.ui.widgets.bar import Bar
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from locklens.install.events import InstallEvent
    from locklens.operations.locklens import LockLens
    from locklens.operations.plan.files import FileChanges
    from locklens.operations.plan.model import Plan
    from locklens.operations.plan.review import PlanReview
    from locklens.operations.write.operation import Operation
    from locklens.review.model import Review
    from locklens.ui.preview.plan_pane import Group
    from locklens.ui.text.spans import Line

_REDRAW_SECONDS = 0.1
_MOVING = frozenset({PlanStage.PLANNING, PlanStage.REVIEWING, PlanStage.WRITING})


class Applied(NamedTuple):
    """What was written, in words."""

    words: str


class PreviewScreen(LockLensScreen[Applied | None]):
    """Plans in a worker, shows the plan, and writes it on enter; esc leaves at any time.

    Args:
        source: Plans, reviews the plan, and writes it.
        intent: What is wanted.
        review: What it was made from; None where nothing could be reviewed.
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
        """It is known what the plan comes to, or why not."""

        def __init__(self, run: int, found: PlanReview | LockLensError) -> None:
            super().__init__()
            self.run = run
            self.found = found

    class NotPlanned(Message):
        """There is no plan."""

        def __init__(self, run: int, error: LockLensError) -> None:
            super().__init__()
            self.run = run
            self.error = error

    class Written(Message):
        """All is written, or nothing and why."""

        def __init__(self, notices: tuple[str, ...] = (), error: LockLensError | None = None) -> None:
            super().__init__()
            self.notices = notices
            self.error = error

    def __init__(self, source: LockLens, intent: Operation, review: Review | None) -> None:
        super().__init__()
        self._source = source
        self._intent = intent
        self._review = review
        self._run = 0
        self._begin()

    def _begin(self) -> None:
        self._run += 1
        self._stage = PlanStage.PLANNING
        self._plan: Plan | None = None
        self._foreseen: PlanReview | None = None
        self._error: LockLensError | None = None
        self._unforeseen: LockLensError | None = None
        self._roots: tuple[str, ...] = ()
        self._progress = Reading(0)
        self._downloads = Downloads()
        self._items: tuple[Item, ...] = ()
        self._in_full = False

    def compose(self) -> ComposeResult:
        """Head, the plan beside its detail, status and keys."""
        yield Bar(id="head")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield LineView(id="plan")
            yield LineView(id="detail")
        yield Bar(id="status")
        yield Bar(id="keys")

    def on_mount(self) -> None:
        """Begins to plan."""
        self.left.focus()
        self._work()
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
        """Where it stands."""
        return PlanProgress(
            self._intent.title,
            self._stage,
            self._plan,
            self._foreseen,
            self._roots,
            self._downloads.in_order,
            self._progress.words,
            self._error,
            self._unforeseen,
        )

    @property
    def is_writing(self) -> bool:
        """Whether it is being written now."""
        return self._stage is PlanStage.WRITING

    # The work

    @work(thread=True, group="plan")
    def _work_on(self, run: int) -> None:
        cancel = get_current_worker().cancelled_event
        downloads = self._downloads

        def reach(root: str) -> None:
            if run == self._run:
                self._roots = (*self._roots, root)

        def hear(event: InstallEvent) -> None:
            take(downloads, event, time.monotonic())

        try:
            plan = self._source.plan(self._intent, self._review, on_root=reach, on_event=hear, cancel=cancel)
        except RunCancelledError:
            return
        except LockLensError as error:
            self.post_message(self.NotPlanned(run, error))
            return
        self.post_message(self.Planned(run, plan))
        if not plan.proposal.files:
            return
        try:
            found = self._foresee(plan, cancel)
        except RunCancelledError:
            return
        except LockLensError as error:
            found = error
        self.post_message(self.Reviewed(run, found))

    def _foresee(self, plan: Plan, cancel: threading.Event) -> PlanReview | LockLensError:
        if self._review is None:
            return LockLensError("what is there now could not be reviewed, so that nothing tells whose rules count")
        return self._source.review_plan(plan, self._review, on_event=self._hear_review, cancel=cancel)

    def _work(self) -> None:
        self._worker = self._work_on(self._run)

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
            if isinstance(event.found, LockLensError):
                self._unforeseen = event.found
            else:
                self._foreseen = event.found
            self._stage = PlanStage.READY
            self._show()
            self._show_detail()

    @on(NotPlanned)
    def _take_error(self, event: NotPlanned) -> None:
        if event.run == self._run:
            self._error, self._stage = event.error, PlanStage.FAILED
            self._show()
            self._show_detail()

    # What is shown

    def _redraw_moving(self) -> None:
        if self._stage in _MOVING:
            self._show()

    def _show(self) -> None:
        if not self.is_open:
            return
        # Until there is a plan, packages on their way have all the room.
        self.set_class(self._plan is None, "-planning")
        self._items = tuple(items(self.standing, time.monotonic()))
        self.left.show_lines((item.line for item in self._items), keep_place=True)
        self.refresh_bars()

    def refresh_bars(self) -> None:
        """Shows head, status and keys anew."""
        if not self.is_open:
            return
        standing = self.standing
        self.query_one("#head", Bar).show_layouts(*preview_head(standing))
        self.query_one("#status", Bar).show_layouts(*preview_status(standing, refusal(standing), self.message))
        self.query_one("#keys", Bar).show_layouts(*bars.key_line(self.TABLE, in_detail=self.detail.has_focus))

    def help_lines(self) -> Iterable[Line]:
        """All keys."""
        return preview_help()

    @property
    def _about(self) -> Group | str | None:
        cursor = self.left.cursor
        return self._items[cursor].about if 0 <= cursor < len(self._items) else None

    @on(LineView.Highlighted, "#plan")
    def _show_detail(self) -> None:
        if self.is_open:
            self.detail.show_lines(preview_detail(self.standing, self._about, in_full=self._in_full))

    # The keys

    def action_apply(self) -> None:
        """Writes all files, or says why it cannot."""
        reason = refusal(self.standing)
        if reason or self._plan is None:
            self.say(reason)
            return
        self._stage, self._error = PlanStage.WRITING, None
        self._show()
        self._write(self._plan.proposal)

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
        files = counted(len(plan.proposal.files), "file") if plan is not None else "it"
        roots = len({failed.root for failed in plan.failures}) if plan is not None else 0
        left = f"; {counted(roots, 'root')} stayed as before, see there" if roots else ""
        told = "; ".join(event.notices) or "Z undoes it"
        self.dismiss(Applied(f"{self.standing.words.past} {files}{left}; {told}"))

    def action_cancel(self) -> None:
        """Leaves; what is going on stops, and nothing is written."""
        if self.is_writing:
            self.say("it is being written: each file becomes old or new as a whole, in a moment")
            return
        self._worker.cancel()
        self.dismiss(None)

    def action_plan_anew(self) -> None:
        """Makes the plan again from what is on disk now."""
        if self._stage in _MOVING:
            self.say("not now: " + refusal(self.standing))
            return
        in_full = self._in_full
        self.action_focus_list()
        self._begin()
        self._in_full = in_full
        self._work()
        self._show()
        self._show_detail()

    def action_other_pane(self) -> None:
        """Goes to the pane that has not the focus; it fills the screen where that is narrow."""
        if self._plan is None:
            self.say("there is nothing at the right before the plan is made")
            return
        is_left = self.left.has_focus
        self.set_class(is_left, "-detail")
        (self.detail if is_left else self.left).focus()

    def action_focus_list(self) -> None:
        """Goes to the plan."""
        self.remove_class("-detail")
        self.left.focus()

    def action_expand(self) -> None:
        """Shows the detail in full, or in short again."""
        self._in_full = not self._in_full
        self.detail.show_lines(preview_detail(self.standing, self._about, in_full=self._in_full), keep_place=True)
        self.say("whole hashes and rules" if self._in_full else "short hashes")

    def action_diff(self) -> None:
        """Shows the whole diff."""
        lines = raw_diff(self._plan.proposal.files) if self._plan is not None else ()
        if not lines:
            self.say("no file would change")
            return
        self.app.push_screen(TextDialog("The whole diff", lines, closing="d"))

    def action_copy(self) -> None:
        """Copies the commit message, or what is highlighted in the detail, or the command line."""
        line = self.detail.current if self.detail.has_focus else None
        if line is not None and line.copied:
            self.app.copy_to_clipboard(copied_line(line.copied))
            self.say(f"copied: {copied_line(line.copied)}")
        elif self._about == COMMAND and self._plan is not None:
            self.app.copy_to_clipboard(copied_line(ShellText(self._plan.proposal.command)))
            self.say("copied: the command line")
        elif message := self.standing.message:
            self.app.copy_to_clipboard(message)
            is_whole = self._foreseen is not None
            self.say("copied: the commit message" + ("" if is_whole else ", without trailers: it is not reviewed yet"))
        else:
            self.say("nothing to copy: no file would change")

    def action_edit(self) -> None:
        """Opens the highlighted line's file as it is on disk."""
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

    def action_undo(self) -> None:
        """Says where that is done."""
        self.say("undo: leave this first (esc); Z is on every other screen")
