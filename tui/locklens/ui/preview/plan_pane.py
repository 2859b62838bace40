"""What the Preview says: the plan, how far it is, what it would come to, and why it cannot be written. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from locklens.operations.plan.commit_message import commit_message
from locklens.operations.plan.files import WriteTarget
from locklens.review.model import Severity
from locklens.review.reports.words import kind_sign, severity_counts
from locklens.review.rules.catalogue import RULES
from locklens.text import counted
from locklens.ui.text.clipboard import ShellText, finding_copied
from locklens.ui.text.downloads import DownloadRow, download_lines
from locklens.ui.text.spans import FilePlace, Line, Role, Span, heading, line, severity_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.diagnostics import Diagnostic
    from locklens.errors import LockLensError, Place
    from locklens.operations.plan.model import Plan, PlannedChange
    from locklens.operations.plan.review import PlanReview
    from locklens.review.model import Change as ReviewedChange
    from locklens.review.model import Finding, Review, RootReview

COMMAND = "command"
_SIGNS = {"upgrade": "^", "downgrade": "v", "add": "+", "remove": "-", "change": "#", "move": "@"}
"""Before the plan is reviewed; then the sign is that of the review."""
_FINDINGS = 8
_ROOTS_NAMED = 3


class PlanStage(StrEnum):
    """How far it is."""

    PLANNING = "planning"
    REVIEWING = "reviewing"
    READY = "ready"
    WRITING = "writing"
    STALE = "stale"
    FAILED = "failed"


class Words(NamedTuple):
    """What pressing enter does: to write, it writes, it is written, it wrote."""

    verb: str = "write"
    third: str = "writes"
    done: str = "written"
    past: str = "wrote"


_STAGING = Words("stage", "stages", "staged", "staged")


class PlanProgress(Struct, frozen=True):
    """All that the left pane depends on.

    Attributes:
        title: What is wanted.
        stage: How far it is.
        plan: None until it is made.
        foreseen: None until the plan was reviewed, or where it could not be.
        roots: Those that the planning came to, in order.
        downloads: Packages on their way, or hashed.
        asking: How far the review of the plan is, in words.
        error: Why there is no plan, or why nothing was written.
        unforeseen: Why the plan could not be reviewed.
    """

    title: str
    stage: PlanStage
    plan: Plan | None = None
    foreseen: PlanReview | None = None
    roots: tuple[str, ...] = ()
    downloads: tuple[DownloadRow, ...] = ()
    asking: str = ""
    error: LockLensError | None = None
    unforeseen: LockLensError | None = None

    @property
    def has_files(self) -> bool:
        """Whether there is something to write."""
        return self.plan is not None and bool(self.plan.proposal.files)

    @property
    def words(self) -> Words:
        """What enter does: what goes into git's index is staged."""
        return _STAGING if self.plan is not None and self.plan.proposal.target is WriteTarget.INDEX else Words()

    @property
    def message(self) -> str:
        """The commit message; "" where nothing would be written."""
        review = self.foreseen.review if self.foreseen is not None else None
        return commit_message(self.plan, review) if self.plan is not None else ""


class Group(NamedTuple):
    """The same thing done to one provider in one or more roots."""

    changes: tuple[PlannedChange, ...]

    @property
    def first(self) -> PlannedChange:
        """One of them."""
        return self.changes[0]


class Item(NamedTuple):
    """A line of the left pane, and what the right pane is about while the cursor is on it.

    Attributes:
        about: A group, a file's path, COMMAND; None for all of the plan.
    """

    line: Line
    about: Group | str | None = None


def refusal(standing: PlanProgress) -> str:
    """Why nothing can be written now; "" where it can."""
    match standing.stage:
        case PlanStage.PLANNING:
            return "not ready yet: the plan is being made"
        case PlanStage.REVIEWING:
            return "not ready yet: what it comes to is being looked at"
        case PlanStage.WRITING:
            return f"it is being {standing.words.done}"
        case PlanStage.STALE:
            return "a file changed on disk since the plan was made: r plans anew"
        case PlanStage.FAILED:
            return "there is no plan: r tries again, esc leaves"
        case PlanStage.READY:
            pass
    if standing.has_files:
        return ""
    everywhere = ": it failed everywhere" if standing.plan and standing.plan.failures else ""
    return f"nothing to {standing.words.verb}{everywhere}"


def groups(plan: Plan) -> tuple[Group, ...]:
    """The plan's changes, those that are alike together, in the order of the plan."""
    found: dict[tuple[object, ...], list[PlannedChange]] = {}
    for change in plan.changes:
        versions = (str(change.old.version) if change.old else "", str(change.new.version) if change.new else "")
        found.setdefault((change.address, versions), []).append(change)
    return tuple(Group(tuple(changes)) for changes in found.values())


def items(standing: PlanProgress, now: float) -> Iterator[Item]:
    """The left pane.

    Args:
        standing: Where it stands.
        now: Of the clock that the downloads go by.
    """
    yield from _plan_items(standing)
    yield from (Item(one) for one in _step_lines(standing, now))
    if standing.error is not None:
        lead = f"NOT {standing.words.done.upper()}" if standing.plan is not None else "NO PLAN"
        yield from (Item(one) for one in _error_lines(lead, standing.error))
    plan = standing.plan
    if plan is None:
        return
    if plan.failures:
        yield from (Item(one) for one in _failure_lines(plan))
    if standing.has_files:
        yield from (Item(one) for one in _result_lines(standing))
    if plan.remarks:
        yield from (Item(one) for one in _remark_lines(plan))
    if standing.has_files:
        yield from _file_items(plan)
    yield from (Item(one) for one in heading("THE SAME AS A COMMAND"))
    yield Item(line(f"  {plan.proposal.command}", hanging=4, copied=ShellText(plan.proposal.command)), COMMAND)
    if message := standing.message:
        yield from (Item(one) for one in heading("COMMIT MESSAGE"))
        yield from (Item(line(f"  {text}", hanging=4, copied=text)) for text in message.split("\n"))


# The plan


def _plan_items(standing: PlanProgress) -> Iterator[Item]:
    plan = standing.plan
    if plan is None:
        yield Item(line(Span("PLAN  ", Role.HEADING), standing.title, hanging=6, copied=standing.title))
        return
    found = groups(plan)
    yield Item(line(Span("PLAN  ", Role.HEADING), _extent(plan), hanging=6, copied=standing.title))
    width = min(max((len(group.first.name) for group in found), default=0), 32)
    review = standing.foreseen.review if standing.foreseen is not None else None
    roots = {change.root for change in plan.changes}
    for group in found:
        yield Item(_group_line(group, width, review, is_alone=len(roots) < 2), group)
        for text in dict.fromkeys(
            f"{edit.file}:{edit.line}  {edit.old} becomes {edit.new}" for one in group.changes for edit in one.edits
        ):
            yield Item(line(f"      {text}", hanging=8), group)
    own = len(plan.changes)
    yield from (Item(line(f"  {words}", hanging=4)) for words in plan.proposal.words[own:])
    if standing.foreseen is not None and standing.foreseen.untouched:
        told = f"  {counted(standing.foreseen.untouched, 'provider stays', 'providers stay')} as before"
        yield Item(line(Span(told, Role.DIM)))


def _file_items(plan: Plan) -> Iterator[Item]:
    yield from (Item(one) for one in heading("FILES"))
    for file in plan.proposal.files:
        what = "  new" if file.old is None else "  removed" if file.new is None else ""
        place = FilePlace(file.path, 1)
        shown = line("  ", Span(file.path, Role.PLACE), Span(what, Role.DIM), hanging=4, copied=file.path, place=place)
        yield Item(shown, file.path)


def _extent(plan: Plan) -> str:
    files = counted(len(plan.proposal.files), "file")
    if not plan.proposal.files:
        return "nothing to write"
    roots = counted(len({change.root for change in plan.changes}), "root")
    providers = counted(len({change.address for change in plan.changes}), "provider")
    return f"{providers}, {roots}, {files}" if plan.changes else files


def _group_line(group: Group, width: int, review: Review | None, *, is_alone: bool) -> Line:
    change = group.first
    old = str(change.old.version) if change.old else ""
    new = str(change.new.version) if change.new else ""
    versions = f"{old} -> {new}" if old and new else f"new {new}" if new else f"{old} is removed"
    versions = new if old == new else versions
    where = "" if is_alone else (change.root or ".") if len(group.changes) == 1 else f"{len(group.changes)} roots"
    found = judged_words(change, review) if review is not None else None
    lead = kind_sign(found[1].kind) if found is not None else _SIGNS[change.kind]
    place = FilePlace(f"{change.root}/.terraform.lock.hcl".lstrip("/"), change.old.line) if change.old else None
    spans = [Span(f"  {lead:<2}"), Span(f"{change.name:<{width}}", Role.STRONG), Span(f"  {versions}  ")]
    if review is not None:
        worst = min((one.severity for one in _findings_of(group, review)), key=lambda one: one.rank, default=None)
        spans.append(severity_span(worst))
    spans.append(Span(f"  {where}", Role.PLACE))
    return line(*spans, hanging=6, copied=f"{change.address} {versions}", place=place)


def _findings_of(group: Group, review: Review) -> Iterator[Finding]:
    for change in group.changes:
        if (found := judged_words(change, review)) is not None:
            yield from (one for one in found[1].findings if one.accepted is None and one.severity is not Severity.OFF)


def judged_words(change: PlannedChange, review: Review) -> tuple[RootReview, ReviewedChange] | None:
    """Returns the review of a planned change; None where it is in no listed change."""
    for root in review.roots:
        if root.path == change.root:
            for one in root.changes:
                if change.address in {one.address, one.moved_from}:
                    return root, one
    return None


# The steps


def _step_lines(standing: PlanProgress, now: float) -> Iterator[Line]:
    stage, plan = standing.stage, standing.plan
    yield from heading("STEPS")
    here = f"  {standing.roots[-1] or '.'}" if standing.roots and plan is None else ""
    is_over = stage is PlanStage.FAILED
    read = counted(len(standing.roots), "root") if standing.roots else ""
    yield _step("ok" if plan is not None else "!!" if is_over else "..", "plan", read + here)
    if standing.downloads:
        done = sum(one.ended is not None for one in standing.downloads)
        is_done = done == len(standing.downloads)
        yield _step("ok" if is_done else "..", "hash packages", f"{done} of {len(standing.downloads)}")
        yield from download_lines(standing.downloads, now, indent="      ")
    if is_over:
        return
    if standing.foreseen is not None:
        sign = "ok"
    elif standing.unforeseen is not None:
        sign = "!!"
    else:
        sign = ".." if stage is PlanStage.REVIEWING else "--"
    if plan is None or standing.has_files:
        yield _step(sign, "review it", standing.asking if stage is PlanStage.REVIEWING else "")
        files = counted(len(plan.proposal.files), "file") if plan is not None else "all files"
        told = f"{files} in one step, when enter is pressed"
        yield _step(".." if stage is PlanStage.WRITING else "--", standing.words.verb, told)


def _step(sign: str, what: str, more: str) -> Line:
    role = {"ok": Role.GOOD, "..": Role.INFO, "!!": Role.BLOCK}.get(sign, Role.DIM)
    return line(Span(f"  {sign}  ", role), f"{what}  ", Span(more, Role.DIM), hanging=6)


# What it comes to


def _result_lines(standing: PlanProgress) -> Iterator[Line]:
    yield from heading("RESULT WHEN DONE")
    if standing.unforeseen is not None:
        yield line(Span("  not reviewed: ", Role.WARN), str(standing.unforeseen), hanging=4)
        return
    if standing.foreseen is None:
        yield line(Span("  …", Role.DIM))
        return
    foreseen = standing.foreseen
    review = foreseen.review
    added = sum(len(change.added) for change in review.changes)
    gone = sum(len(change.removed) for change in review.changes)
    explained = sum(change.explained for change in review.changes)
    told = Span(f"explained {explained} of {added}", Role.GOOD if explained == added else Role.WARN)
    yield line(f"  hashes {added} come, {gone} go   ", *([told] if added else []))
    counts = severity_counts(review)
    spans = [severity_and_number(severity, number) for severity, number in counts.items() if number]
    yield line("  findings  ", *(spans or [Span("none", Role.GOOD)]))
    yield from _finding_lines(review)
    if foreseen.against:
        left = foreseen.left
        rest = counted(left, "provider differs", "providers differ") if left else "nothing differs"
        rest += f" from {foreseen.against} in the lock files {standing.words.done}"
        yield line(Span(f"  then {rest}", Role.DIM), hanging=4)
    for host in review.hosts:
        if host.error is not None:
            yield line(Span("  not known: ", Role.WARN), host.error, hanging=4)
    for note in review.notes:
        yield line(Span("  note: ", Role.WARN), note, hanging=4)


def severity_and_number(severity: Severity, number: int) -> Span:
    """How many findings of a severity there are."""
    return Span(f"{number} {severity.value.upper()}  ", severity_span(severity).role)


def _finding_lines(review: Review) -> Iterator[Line]:
    """The worst findings, each rule and message once."""
    found: dict[tuple[str, str], list[Finding]] = {}
    counting = (one for one in review.findings if one.accepted is None)
    for one in sorted(counting, key=lambda finding: finding.severity.rank):
        found.setdefault((one.rule, one.message), []).append(one)
    for alike in list(found.values())[:_FINDINGS]:
        one, roots = alike[0], len({each.file for each in alike})
        title = RULES[one.rule].title if one.rule in RULES else one.message
        place = FilePlace(one.file, one.line) if one.file and one.line else None
        times = f"  in {roots} files" if roots > 1 else f"  {len(alike)} times" if len(alike) > 1 else ""
        more = Span(times, Role.DIM)
        lead = ("  ", severity_span(one.severity, width=6), Span(f"{one.rule}  ", Role.STRONG))
        yield line(*lead, title, more, hanging=15, copied=finding_copied(one), place=place)
    if len(found) > _FINDINGS:
        yield line(Span(f"        and {len(found) - _FINDINGS} more", Role.DIM))


# What else is to be said


def _error_lines(title: str, error: LockLensError) -> Iterator[Line]:
    yield from heading(title)
    yield line(Span("  !! ", Role.BLOCK), str(error), hanging=5, copied=str(error), place=_place(error.place))
    if error.hint:
        yield line(Span("     -> ", Role.DIM), error.hint, hanging=8)


def _place(place: Place | None) -> FilePlace | None:
    return FilePlace(place[0], place[1] or 1) if place is not None else None


def _failure_lines(plan: Plan) -> Iterator[Line]:
    roots = {failed.root for failed in plan.failures}
    stay = "this root stays as it is" if len(roots) == 1 else f"these {len(roots)} roots stay as they are"
    yield from heading(f"FAILED: {stay}")
    alike: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for failed in plan.failures:
        alike.setdefault((failed.address, failed.sentence, failed.hint), []).append(failed)
    for (name, words, hint), own in alike.items():
        where = _named([failed.root or "." for failed in own])
        lead = f"{where}: {name}: " if name and name not in words else f"{where}: "
        lead = "" if len(own) == 1 and words.startswith(f"{where}/") else lead
        spans = Span("  !! ", Role.BLOCK), Span(lead, Role.PLACE), words
        yield line(*spans, hanging=5, copied=words, place=_place(own[0].place))
        if hint:
            yield line(Span("     -> ", Role.DIM), hint, hanging=8)


def _remark_lines(plan: Plan) -> Iterator[Line]:
    yield from heading("REMARKS")
    alike: dict[tuple[str, str], list[str]] = {}
    for remark in plan.remarks:
        alike.setdefault((remark.address, remark.sentence), []).append(remark.root or ".")
    for (name, words), roots in alike.items():
        lead = f"{_named(roots)}: {name}: " if name else f"{_named(roots)}: "
        yield line("  ", Span(lead, Role.PLACE), words, hanging=4, copied=words)


def _named(roots: list[str]) -> str:
    """Some roots by name, many by number."""
    return ", ".join(roots) if len(roots) <= _ROOTS_NAMED else f"{len(roots)} roots"
