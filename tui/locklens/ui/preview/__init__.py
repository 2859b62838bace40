"""The Preview screen, its keys and help: a plan, its review, and its application. Only enter writes."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec.structs import replace
from textual import on
from textual.containers import Horizontal, Vertical

from locklens.errors import LockLensError, StaleLockFileError
from locklens.lines import Line, line
from locklens.operations.review.request import Progress, ReviewEvent
from locklens.review.reports import SIGN_MEANINGS
from locklens.text import counted
from locklens.ui.clipboard import ShellText, copied_line, copy_text
from locklens.ui.dialogs import TextDialog
from locklens.ui.phrases import Downloads, take_event
from locklens.ui.preview import plan_pane
from locklens.ui.preview.detail import preview_detail, preview_head, preview_status, raw_diff
from locklens.ui.preview.progress import PlanProgress, PlanStage, refusal, written_words
from locklens.ui.shell import Job, Run, bars, keys
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable
from locklens.ui.shell.screen import LockLensScreen, file_below, has_editor
from locklens.ui.shell.watching import LOOK_SECONDS, DiskLook, names_of_files
from locklens.ui.views import DOCTOR, ExaminedProvider, ViewWanted, examined_failure
from locklens.ui.why import inside_request, show_inside
from locklens.ui.widgets import Bar
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable
    from pathlib import Path

    from textual.app import ComposeResult

    from locklens.install.context import InstallEvent
    from locklens.lines import FilePlace
    from locklens.operations.locklens import LockLens
    from locklens.operations.plan import Plan
    from locklens.operations.plan.review import PlanReview
    from locklens.operations.write.apply import Operation
    from locklens.project.folders import FileWatch
    from locklens.review.model import Review
    from locklens.ui.widgets import BarLayout

_WITH_FILES = Key(
    "f",
    "with_files",
    "stage configuration files: those edited or deleted beside the lock file; again: the lock file alone",
    "stage files",
)
_WITHOUT_MODULES = Key(
    "m",
    "without_modules",
    "ignore missing modules: plan again without what they require; as --allow-missing-modules",
    "without missing modules",
)
_OF_STAGING = "only in a Preview of staging (S)"
_OF_MISSING = "only where a root could not be planned for want of modules"
_OF_TRUST = "only of a plan that failed with a checksum or a signature"
_NOT_EDITED = "git knows of no edited or deleted configuration file in the roots that are staged"

PREVIEW_KEYS = KeyTable(
    KeyGroup(
        "Deciding",
        Key("enter", "apply", "apply plan: write all of its files, once it is ready", "apply"),
        Key("esc q", "cancel", "cancel: stop the work in progress, without writing", "cancel"),
        _WITH_FILES,
        _WITHOUT_MODULES,
        Key("r", "plan_anew", "plan again: from the current files", "plan again"),
    ),
    KeyGroup(
        "Reading",
        Key("j k, arrows", "", "next and previous line; the right pane follows the left", "move"),
        Key("g G", "", "first and last line"),
        Key("tab", "other_pane", "switch pane: between plan and detail", "pane"),
        Key("x", "expand", "show full hashes: and the explanation of each rule", "expand"),
        Key("d", "diff", "show full diff: as git apply takes it", "full diff"),
        Key("y", "copy", "copy commit message: or the highlighted command line, or line of the detail", "copy"),
        keys.INSIDE,
        keys.DIAGNOSE,
        Key("e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
    ),
    KeyGroup("Program", *keys.EVERYWHERE, Key("Z", "undo", "undo apply: on every other screen")),
    in_list="enter|esc q|?|m|i|z|tab|y|d|x|r|:|e|j k",
    in_detail="enter|esc q|?|m|i|z|tab|y|d|x|r|:|e|j k",
)


_REDRAW_SECONDS = 0.1
_MOVING = frozenset({PlanStage.PLANNING, PlanStage.REVIEWING, PlanStage.WRITING})


class Closed(NamedTuple):
    """How a Preview ended.

    Attributes:
        words: The result of an apply, or that nothing was written.
        needs_reload: True if the views have to be read again: files were written, or packages hashed.
    """

    words: str
    needs_reload: bool


class PreviewScreen(LockLensScreen[Closed]):
    """Plans in a worker, shows the plan, and applies it on enter; esc cancels at any time.

    `review` is the one that the operation refers to; None if there is none.
    """

    TABLE = PREVIEW_KEYS
    PARTS: ClassVar[tuple[str, ...]] = (*LockLensScreen.PARTS, "#plan")
    BINDINGS = keys.pane_bindings(PREVIEW_KEYS)

    def __init__(self, source: LockLens, operation: Operation, review: Review | None) -> None:
        super().__init__()
        self._source = source
        self._operation = operation
        self._review = review
        self._job = Job(self, "plan")
        self._writing = Job(self, "write")
        self._disk = DiskLook(self, self._keep)
        self._in_full = False
        self.add_class("-planning", update=False)  # as long as nothing is styled, that is for nothing
        self._begin()

    def _begin(self) -> None:
        self._known = PlanProgress(self._operation.title, PlanStage.PLANNING)
        """The progress except for its downloads and the review's requests, which a worker counts."""
        self._progress = Progress("lock files", 0, 0)
        self._downloads = Downloads()
        self._items: tuple[plan_pane.Item, ...] = ()
        self._watch: FileWatch | None = None
        """The files that the plan may be made from, as they were before it; None until it is being made."""

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
        self._make_plan()
        self.set_interval(_REDRAW_SECONDS, self._redraw_moving)
        self.set_interval(LOOK_SECONDS, self._look)
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
        return replace(self._known, downloads=self._downloads.in_order, network=self._progress.words)

    # Work

    def _make_plan(self) -> None:
        downloads = self._downloads

        def hear(event: InstallEvent) -> None:
            take_event(downloads, event, time.monotonic())

        def plan(run: Run) -> PlanReview | LockLensError | None:
            """Make the plan and its review; None where there is nothing to review."""
            reach = partial(run.tell, self._reach)
            run.tell(self._take_watch, self._source.watch_disk())
            made = self._source.plan(self._operation, self._review, on_root=reach, on_event=hear, cancel=run.cancel)
            run.tell(self._take_plan, made)
            if not made.proposal.files:
                return None
            try:
                return self._review_plan(made, run.cancel)
            except LockLensError as error:
                return error

        self._job.start(plan, self._take_review, self._fail)

    def _review_plan(self, plan: Plan, cancel: threading.Event) -> PlanReview | LockLensError:
        if self._review is None:
            return LockLensError("the current lock files could not be reviewed, so that the policy is unknown")
        return self._source.review_plan(plan, self._review, on_event=self._hear_review, cancel=cancel)

    def _hear_review(self, event: ReviewEvent) -> None:
        if isinstance(event, Progress):
            self._progress = event

    def _take_watch(self, watch: FileWatch) -> None:
        self._watch = watch

    def _look(self) -> None:
        """Check for files that changed since the plan was made from them, while it can be written."""
        if self._watch is not None and not refusal(self.standing):
            self._disk.look(self._watch, self._take_changed_files)

    def _take_changed_files(self, paths: tuple[str, ...]) -> None:
        plan = self._known.plan
        if paths and plan is not None and self._known.stage is PlanStage.READY:
            self._keep(_stale(paths, plan))

    def _reach(self, root: str) -> None:
        self._known = replace(self._known, roots=(*self._known.roots, root))

    def _take_plan(self, plan: Plan) -> None:
        self._go_on(PlanStage.REVIEWING if plan.proposal.files else PlanStage.READY, plan=plan)

    def _take_review(self, outcome: PlanReview | LockLensError | None) -> None:
        if isinstance(outcome, LockLensError):
            self._go_on(PlanStage.READY, review_error=outcome)
        elif outcome is not None:
            self._go_on(PlanStage.READY, plan_review=outcome)

    def _fail(self, error: LockLensError) -> None:
        self._go_on(PlanStage.FAILED, error=error)

    def _go_on(self, stage: PlanStage, **known: Plan | PlanReview | LockLensError) -> None:
        self.end_message()  # of the stage before, such as that it is too early
        self._known = replace(self._known, stage=stage, **known)
        self._show()
        self._show_detail()

    # Display

    def _redraw_moving(self) -> None:
        if self._known.stage in _MOVING:
            self._show()

    def _show(self) -> None:
        if not self.is_open:
            return
        # Until there is a plan, downloads use the full width.
        self.set_class(self._known.plan is None, "-planning")
        self._items = tuple(plan_pane.items(self.standing, time.monotonic()))
        self.left.show_lines((item.line for item in self._items), keep_place=True)
        self.refresh_bars()

    def refresh_bars(self) -> None:
        """Update head, status and keys."""
        if not self.is_open:
            return
        standing = self.standing
        self.query_one("#head", Bar).show_layouts(*preview_head(standing))
        self.query_one("#status", Bar).show_layouts(*preview_status(standing, self.message))
        self.query_one("#keys", Bar).show_layouts_of(self._keys_now)

    def _keys_now(self) -> tuple[BarLayout, ...]:
        return bars.key_line(self.TABLE, in_detail=self.detail.has_focus, without=self.idle_keys)

    @property
    def idle_keys(self) -> frozenset[str]:
        """The keys that do nothing on the highlighted line, or at this stage of the plan."""
        standing = self.standing
        has_files = standing.plan is not None and bool(standing.plan.proposal.files)
        acts = {
            "enter": not refusal(standing),
            "f": not self._no_configuration and standing.stage not in _MOVING,
            "m": standing.lacks_modules,
            "r": standing.stage not in _MOVING,
            "tab": standing.plan is not None,
            "x": has_files,
            "d": has_files,
            "y": self._copied[0],
            "z": self._subject,
            "i": self._examined,
            "e": self._has_file,
        }
        return frozenset(label for label, does in acts.items() if not does)

    def help_lines(self) -> Iterable[Line]:
        """The keys and the signs of the Preview."""
        yield line("Nothing is written before enter. Then each file is replaced atomically, all of them or none.")
        yield line(
            "Z on any other screen lists what was applied, also by earlier runs: undo, redo, copy the commit message."
        )
        yield line()
        reasons = {_WITH_FILES: self._no_configuration}
        if self._known.stage not in _MOVING:
            reasons[_WITHOUT_MODULES] = "" if self.standing.lacks_modules else _OF_MISSING
            reasons[keys.DIAGNOSE] = "" if self._examined is not None else _OF_TRUST
        yield from keys.key_help(PREVIEW_KEYS, {key: reason for key, reason in reasons.items() if reason})
        yield from keys.help_section("STEPS", {"ok": "done", "..": "in progress", "--": "pending", "!!": "failed"})
        yield from keys.help_section("SIGNS", SIGN_MEANINGS)

    @property
    def _no_configuration(self) -> str:
        """Why no configuration file is staged or left to stage; "" if one is, or while that is not known."""
        from locklens.operations.write.stage import Stage

        if not isinstance(self._operation, Stage):
            return _OF_STAGING
        is_known = self._known.stage is PlanStage.READY and not self._operation.with_configuration
        return _NOT_EDITED if is_known and not self._known.leaves_configuration else ""

    @property
    def _about(self) -> plan_pane.Group | str | None:
        cursor = self.left.cursor
        return self._items[cursor].about if 0 <= cursor < len(self._items) else None

    @on(LineView.Highlighted, "#plan")
    def _show_detail(self) -> None:
        if self.is_open:
            self.detail.show_lines(preview_detail(self.standing, self._about, in_full=self._in_full))
            self.refresh_bars()

    @on(LineView.Highlighted, "#detail")
    def _follow_line(self) -> None:
        self.refresh_bars()

    # Keys

    def _made_plan(self) -> Plan | None:
        """Return the plan; without one, say why there is none, as enter does."""
        if self._known.plan is None:
            self.refuse(refusal(self.standing))
        return self._known.plan

    def action_apply(self) -> None:
        """Write all files, or show the reason against it."""
        standing = self.standing
        reason = refusal(standing)
        if reason or standing.plan is None:
            self.say(f"{reason}: r plans again, esc leaves" if standing.stage is PlanStage.READY else reason)
            return
        self._known = replace(self._known, stage=PlanStage.WRITING, error=None)
        self._show()
        proposal = replace(standing.plan.proposal, message=standing.message)
        plan, watch = standing.plan, self._watch

        def write(_: Run) -> tuple[str, ...]:
            if watch is not None and plan.proposal.files and (paths := watch.poll()):
                raise _stale(paths, plan)
            return self._source.apply(proposal)

        self._writing.start(write, self._end, self._keep)

    def _keep(self, error: LockLensError) -> None:
        """Stay open after a write that failed, or that would be of a plan from other files."""
        stage = PlanStage.STALE if isinstance(error, StaleLockFileError) else PlanStage.READY
        self._known = replace(self._known, stage=stage, error=error)
        self._show()
        self.say(refusal(self.standing) or f"nothing was written: {error}")

    def _end(self, notices: tuple[str, ...]) -> None:
        plan = self._known.plan
        files = written_words(plan) if plan is not None else "the files"
        roots = len({failed.root for failed in plan.failures}) if plan is not None else 0
        failed = f"; {counted(roots, 'root')} failed and left unchanged" if roots else ""
        failed += f"; git add marks {counted(left, 'file')} as resolved" if (left := self.standing.unmerged) else ""
        is_undo = plan is not None and bool(plan.proposal.undoes)
        rest = "; ".join(notices) or ("Z redoes it" if is_undo else "Z undoes it")
        self.dismiss(Closed(f"{self.standing.words.past} {files}{failed}; {rest}", needs_reload=True))

    def action_cancel(self) -> None:
        """Close the screen; stop the work in progress without writing."""
        if self._known.stage is PlanStage.WRITING:
            self.say("writing in progress: each file is replaced as a whole")
            return
        self._job.cancel()
        self._leave()

    def _leave(self) -> None:
        """Close without an apply; what was hashed for the plan is cached, and known to the views from then on."""
        self.dismiss(Closed("nothing was written", needs_reload=bool(self._downloads.hashed)))

    def _plan_again(self, operation: Operation) -> None:
        """Plan an operation from the current files, unless work is in progress, which is then shown."""
        if self._known.stage in _MOVING:
            self.say("not possible now: " + refusal(self.standing))
            return
        self._operation = operation
        self.action_focus_list()
        self._begin()
        self._make_plan()
        self._show()
        self._show_detail()

    def action_plan_anew(self) -> None:
        """Plan again from the current files."""
        self._plan_again(self._operation)

    def action_with_files(self) -> None:
        """Plan to stage the edited and deleted configuration files too, or the lock files alone."""
        from locklens.operations.write.stage import Stage

        operation, reason = self._operation, self._no_configuration
        if reason or not isinstance(operation, Stage):
            self.refuse(f"stage files: {reason}")
        else:
            self._plan_again(replace(operation, with_configuration=not operation.with_configuration))

    def action_without_modules(self) -> None:
        """Plan again without the modules that cannot be read."""
        if self.standing.lacks_modules:
            self._plan_again(self._operation.without_missing_modules())
        elif self._made_plan() is not None:
            self.refuse(f"missing modules: {_OF_MISSING}")

    def action_other_pane(self) -> None:
        """Focus the other pane; on narrow terminals it fills the screen."""
        if self._made_plan() is None:
            return
        is_left = self.left.has_focus
        self.keep_pane(is_detail=is_left)
        (self.detail if is_left else self.left).focus()

    def action_focus_list(self) -> None:
        """Focus the plan."""
        self.keep_pane(is_detail=False)
        self.left.focus()

    def action_expand(self) -> None:
        """Switch between full and short hashes and rules."""
        if self._made_plan() is None:
            return
        self._in_full = not self._in_full
        self.detail.show_lines(preview_detail(self.standing, self._about, in_full=self._in_full), keep_place=True)
        self.say("full hashes and rules" if self._in_full else "short hashes")

    @property
    def _changed(self) -> tuple[plan_pane.Group, ...]:
        return tuple(plan_pane.groups(self._known.plan)) if self._known.plan is not None else ()

    @property
    def _subject(self) -> plan_pane.Group | None:
        """The highlighted change, or the only one of the plan."""
        if isinstance(self._about, plan_pane.Group):
            return self._about
        return self._changed[0] if len(self._changed) == 1 else None

    def action_inside(self) -> None:
        """Show what is inside the packages of the highlighted change."""
        about = self._subject
        if self._made_plan() is None:
            return
        if about is None:
            choice = "go to the row of a changed provider below PLAN first"
            self.refuse(f"inside: {choice if self._changed else 'this plan changes no provider'}")
            return
        one, folder = about.first, self._source.folder
        request = inside_request(one.address, one.old, one.new, folder=folder, root=one.root, is_planned=True)
        show_inside(self, self._source, request)

    def action_diff(self) -> None:
        """Show the full diff."""
        plan = self._made_plan()
        if plan is None:
            return
        lines = raw_diff(plan.proposal.files)
        if not lines:
            self.refuse("no file would change")
            return
        self.app.push_screen(TextDialog("Full diff", lines, closing="d"))

    @property
    def _copied(self) -> tuple[str, str]:
        """The highlighted line of the detail, the command line, or the commit message; and its name."""
        line = self.detail.current if self.detail.has_focus else None
        plan = self._known.plan
        if line is not None and line.copied:
            return copied_line(line.copied), ""
        if self._about == plan_pane.COMMAND and plan is not None:
            return copied_line(ShellText(plan.proposal.command)), "the command line"
        return self.standing.message, ", ".join(filter(None, ("the commit message", self.standing.without_trailers)))

    def action_copy(self) -> None:
        """Copy the commit message, the highlighted line of the detail, or the command line."""
        if self._made_plan() is None:
            return
        text, words = self._copied
        self.say(copy_text(self.app, text, words) if text else "nothing to copy: this plan has no commit message")

    @property
    def _place(self) -> tuple[Path, FilePlace] | None:
        """The top folder, and the place of the highlighted line below it."""
        view, plan = self.detail if self.detail.has_focus else self.left, self._known.plan
        place = view.current.place if view.current is not None else None
        return (plan.proposal.top, place) if plan is not None and place is not None else None

    @property
    def _has_file(self) -> bool:
        """True if that place is in a file on disk, and an editor is set."""
        try:
            return self._place is not None and bool(file_below(*self._place)) and has_editor(os.environ)
        except LockLensError:
            return False

    def action_edit(self) -> None:
        """Open the file of the highlighted line, as it is on disk."""
        if self._made_plan() is None:
            return
        if self._place is None:
            self.refuse("no line to open here")
            return
        top, place = self._place
        try:
            path = file_below(top, place)
        except LockLensError as error:
            self.say_error(error)
            return
        if problem := self.open_editor(path, place.line, top):
            self.say(problem)

    @property
    def _examined(self) -> ExaminedProvider | None:
        known = self._known
        return examined_failure(known.plan, known.error, known.roots, known.title)

    def action_diagnose(self) -> None:
        """Leave, and examine on Doctor what the plan failed for; nothing is written."""
        examined = self._examined
        if examined is None:
            if self._made_plan() is not None:
                self.refuse(f"diagnose: {_OF_TRUST}")
            return
        top = self._known.plan.proposal.top if self._known.plan is not None else None
        self.app.post_message(ViewWanted(DOCTOR, top, examined=examined))
        self._leave()

    def action_undo(self) -> None:
        """Show where undo is available."""
        self.refuse("undo: leave the Preview first (esc), then press Z")


def _stale(paths: Iterable[str], plan: Plan) -> StaleLockFileError:
    """Return the error of a plan that was made from other files than there are now."""
    first, *others = names_of_files(paths, plan.proposal.top)
    more = f", and so did {counted(len(others), 'other file')}" if others else ""
    return StaleLockFileError(f"changed on disk since it was read{more}", path=first, hint="r plans again")
