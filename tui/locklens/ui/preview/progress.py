"""How far the plan of a Preview is: its stage, what is known of it, and why it cannot be applied yet. No I/O."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from locklens.diagnostics import NextStep, step_after
from locklens.operations.plan.commit_message import commit_message
from locklens.policy import POLICY_FILE
from locklens.project import LOCK_FILE
from locklens.text import counted

if TYPE_CHECKING:
    from locklens.errors import LockLensError
    from locklens.operations.plan import Plan
    from locklens.operations.plan.review import PlanReview
    from locklens.ui.phrases import DownloadRow


class PlanStage(StrEnum):
    """The stage of a plan."""

    PLANNING = "planning"
    REVIEWING = "reviewing"
    READY = "ready"
    WRITING = "writing"
    STALE = "stale"
    FAILED = "failed"


class Words(NamedTuple):
    """Verb forms for the apply action."""

    verb: str = "write"
    third: str = "writes"
    done: str = "written"
    past: str = "wrote"
    now: str = "writing"
    where: str = ""


_INDEX = " in git's index"
_STAGING = Words("stage", "stages", "staged", "staged", "staging", _INDEX)
_UNDOING = Words(past="undone:")
_MOVING = Words("move", "moves", "moved", "moved", "moving")
_REPLACING = Words("replace", "replaces", "replaced", "replaced", "replacing")
_UNSTAGING = Words("unstage", "unstages", "unstaged", "unstaged", "unstaging", _INDEX)


class PlanProgress(Struct, frozen=True):
    """The content of the left pane.

    Attributes:
        title: The operation.
        plan: None until it is made.
        plan_review: None before, or if it failed.
        roots: The roots reached by planning, in order.
        network: Progress of the review, in words.
        error: The error of planning or writing.
    """

    title: str
    stage: PlanStage
    plan: Plan | None = None
    plan_review: PlanReview | None = None
    roots: tuple[str, ...] = ()
    downloads: tuple[DownloadRow, ...] = ()
    network: str = ""
    error: LockLensError | None = None
    review_error: LockLensError | None = None

    @property
    def has_files(self) -> bool:
        """True if there is something to write."""
        return self.plan is not None and not self.plan.proposal.is_empty

    @property
    def lacks_modules(self) -> bool:
        """True if a root could not be planned because modules are missing, and can be without them."""
        return step_after(self.error) is NextStep.IGNORE_MODULES or self._has(NextStep.IGNORE_MODULES) > 0

    @property
    def leaves_configuration(self) -> bool:
        """True if edited or deleted configuration files are not staged with the lock files, and can be."""
        return self._has(NextStep.STAGE_CONFIGURATION) > 0

    @property
    def unmerged(self) -> int:
        """The number of files that git has as unmerged after the write, too."""
        return self._has(NextStep.MARK_RESOLVED)

    def _has(self, step: NextStep) -> int:
        """The number of the plan's diagnostics with that next step."""
        return sum(one.next_step is step for one in self.plan.diagnostics) if self.plan is not None else 0

    @property
    def writes_lock_file(self) -> bool:
        """True if a lock file is among what would be written."""
        files = self.plan.proposal.files if self.plan is not None else ()
        return any(file.path.endswith(LOCK_FILE) for file in files)

    @property
    def is_policy_alone(self) -> bool:
        """True if the policy is all that would be written."""
        files = self.plan.proposal.files if self.plan is not None else ()
        return bool(files) and all(file.path == POLICY_FILE for file in files)

    @property
    def words(self) -> Words:
        """The verb of the apply action: of git's index, of a folder that is moved aside, otherwise "write"."""
        if self.plan is None:
            return Words()
        if self.plan.proposal.target.is_index:
            return _UNSTAGING if self.plan.proposal.undoes else _STAGING
        if self.plan.proposal.undoes:
            return _UNDOING
        aside = [one for one in self.plan.proposal.folders if one.aside]
        return (_REPLACING if all(one.source for one in aside) else _MOVING) if aside else Words()

    @property
    def message(self) -> str:
        """The commit message; "" if nothing would be written, or the files are as in HEAD then."""
        known, plan = self.plan_review, self.plan
        if plan is None or (known is None and plan.proposal.undoes) or (known is not None and known.is_committed):
            return ""
        review = known.review if known is not None and not known.has_others else None
        left = known.uncommitted if known is not None else None
        if left is None:
            return commit_message(plan, review, title=self.title)
        is_as_head = not left and bool(plan.changes or plan.proposal.undoes)
        return "" if is_as_head else commit_message(replace(plan, changes=left), review, title=self.title)

    @property
    def without_trailers(self) -> str:
        """Why the commit message does not quote the review; "" if it does."""
        if self.plan_review is None:
            return "without trailers: not reviewed yet"
        return "without trailers: more is committed than reviewed" if self.plan_review.has_others else ""


def refusal(standing: PlanProgress) -> str:
    """The reason why the plan cannot be applied now; "" if it can."""
    match standing.stage:
        case PlanStage.PLANNING:
            return "not ready: planning in progress"
        case PlanStage.REVIEWING:
            return "not ready: review in progress"
        case PlanStage.WRITING:
            return f"{standing.words.now} in progress"
        case PlanStage.STALE:
            return "a file changed on disk after planning: r plans again"
        case PlanStage.FAILED:
            return "no plan: r plans again, esc leaves"
        case PlanStage.READY:
            pass
    if standing.has_files:
        return ""
    failed = {failure.root for failure in standing.plan.failures} if standing.plan is not None else set()
    reason = "" if not failed else ": the plan failed" if len(failed) == 1 else f": {len(failed)} roots failed"
    return f"nothing to {standing.words.verb}{reason}"


def written_words(plan: Plan) -> str:
    """Return the number of files, or of folders, that are written."""
    folders = plan.proposal.folders
    return counted(len(folders), "folder") if folders else counted(len(plan.proposal.files), "file")
