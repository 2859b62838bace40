"""The left pane of the Preview: the plan, its progress, its result, and errors. No I/O."""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from locklens.diagnostics import Diagnostic, DiagnosticSeverity, NextStep, step_after
from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.operations.plan.commit_message import commit_message
from locklens.policy import POLICY_FILE, AcceptFrom
from locklens.project import LOCK_FILE
from locklens.review.model import ChangeKind, Finding, Review, RootReview, Severity, worst
from locklens.review.reports import claimed_word, hash_words, hashes_of_review, kind_sign, severity_span
from locklens.review.rules.catalogue import wording_of
from locklens.text import counted
from locklens.ui.clipboard import ShellText, finding_copied
from locklens.ui.phrases import DownloadRow, download_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from locklens.errors import LockLensError, Place
    from locklens.operations.plan import Plan, PlannedChange
    from locklens.operations.plan.review import PlanReview
    from locklens.review.model import Change as ReviewedChange

COMMAND = "command"
_SIGNS = {"upgrade": "^", "downgrade": "v", "add": "+", "remove": "-", "change": "#", "move": "@"}
"""Signs before the review of the plan, and where it is of another step; else those of the review are used."""
_WITHOUT_MODULES = "plans again without the missing modules; what they require stays unknown"
_WITH_CONFIGURATION = "stages the edited or deleted configuration files too"
_AS_HEAD = "as in HEAD"
_FINDINGS = 8
_ROOTS_NAMED = 3


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
        stage: Its stage.
        plan: The plan; None until it is made.
        plan_review: The review of the plan; None before, or if it failed.
        roots: The roots reached by planning, in order.
        downloads: Downloads in progress or finished.
        network: Progress of the review, in words.
        error: The error of planning or writing.
        review_error: The error of the review.
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


class Group(NamedTuple):
    """The same change of one provider in one or more roots."""

    changes: tuple[PlannedChange, ...]

    @property
    def first(self) -> PlannedChange:
        """The first change."""
        return self.changes[0]


class Item(NamedTuple):
    """A line of the left pane, and the subject of the right pane for it.

    Attributes:
        about: A group, a file's path, or COMMAND; None for the entire plan.
    """

    line: Line
    about: Group | str | None = None


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


def groups(plan: Plan) -> tuple[Group, ...]:
    """The plan's changes, grouped by provider and versions, in the order of the plan."""
    alike: dict[tuple[object, ...], list[PlannedChange]] = {}
    for change in plan.changes:
        versions = (str(change.old.version) if change.old else "", str(change.new.version) if change.new else "")
        alike.setdefault((change.address, versions), []).append(change)
    return tuple(Group(tuple(changes)) for changes in alike.values())


def items(standing: PlanProgress, now: float) -> Iterator[Item]:
    """Yield the items of the left pane.

    Args:
        standing: The progress of the plan.
        now: Seconds of the downloads' clock.
    """
    plan = standing.plan
    yield from _plan_items(standing)
    yield from map(Item, _progress_lines(standing, now))
    if plan is None:
        return
    if standing.has_files:
        yield from _file_items(plan, standing.words.where)
    if command := plan.proposal.command:
        yield from map(Item, heading("EQUIVALENT COMMAND"))
        yield Item(line(f"  {command}", hanging=4, copied=ShellText(command)), COMMAND)
    if message := standing.message:
        yield from map(Item, heading(f"COMMIT MESSAGE  {standing.without_trailers}".rstrip()))
        yield from (Item(line(f"  {text}", hanging=4, copied=text)) for text in message.split("\n"))


def _progress_lines(standing: PlanProgress, now: float) -> Iterator[Line]:
    """The steps, the errors, the result, and what else there is to say about the plan."""
    plan = standing.plan
    yield from _step_lines(standing, now)
    if standing.error is not None:
        lead = f"NOT {standing.words.done.upper()}" if plan is not None else "NO PLAN"
        yield from _error_lines(lead, standing.error)
    if plan is not None and plan.failures:
        yield from _failure_lines(plan)
    if standing.lacks_modules:
        yield line(Span("     m  ", Role.INFO), _WITHOUT_MODULES, hanging=8)
    if standing.has_files:
        yield from _result_lines(standing)
    if standing.leaves_configuration:
        yield line(Span("     f  ", Role.INFO), _WITH_CONFIGURATION, hanging=8)
    if plan is not None:
        yield from _remark_lines(plan)


# Plan


def _plan_items(standing: PlanProgress) -> Iterator[Item]:
    plan = standing.plan
    if plan is None:
        yield Item(line(Span("PLAN  ", Role.HEADING), standing.title, hanging=6, copied=standing.title))
        return
    grouped = groups(plan)
    yield Item(line(Span("PLAN  ", Role.HEADING), _extent(plan, standing.roots), hanging=6, copied=standing.title))
    # Roots of the two tools call providers of different registries the same.
    sharing = Counter(name for name, _ in {(group.first.name, group.first.address) for group in grouped})
    names = [str(one.first.address) if sharing[one.first.name] > 1 else one.first.name for one in grouped]
    width = min(max(map(len, names), default=0), 32)
    review = standing.plan_review.review if standing.plan_review is not None else None
    roots = {change.root for change in plan.changes}
    platforms = [tuple(_platform_lines(group)) for group in grouped]
    is_shared = len(grouped) > 1 and len(set(platforms)) == 1
    if is_shared:
        yield from map(Item, platforms[0])
    for group, name, locked in zip(grouped, names, platforms, strict=True):
        yield Item(_group_line(group, f"{name:<{width}}", review, is_alone=len(roots) < 2), group)
        for text in dict.fromkeys(
            f"{edit.place}  {edit.old} -> {edit.new}" for change in group.changes for edit in change.edits
        ):
            yield Item(line(f"      {text}", hanging=8), group)
        yield from (Item(one, group) for one in locked if not is_shared)
    listed = len(plan.changes)
    yield from (Item(line(f"  {words}", hanging=4)) for words in plan.dry_run_words[listed:])
    # A plan without changes of providers concerns the layout, of which an equal entry is written anew, too.
    if plan.changes and standing.plan_review is not None and standing.plan_review.untouched:
        unchanged = f"  {counted(standing.plan_review.untouched, 'entry', 'entries')} unchanged"
        yield Item(line(Span(unchanged, Role.DIM)))


def _platform_lines(group: Group) -> Iterator[Line]:
    """The platforms that a change is locked for, or whose hashes it adds; roots that differ are counted."""
    alike: dict[str, int] = {}
    for change in group.changes:
        if change.platforms:
            names = ", ".join(sorted(map(str, change.platforms)))
            alike[names] = alike.get(names, 0) + 1
    verb = "adds hashes for" if group.first.kind == "change" else "locks"
    for names, number in alike.items():
        where = f"  in {counted(number, 'root')}" if len(alike) > 1 else ""
        yield line(Span(f"      {verb} ", Role.DIM), names, Span(where, Role.DIM), hanging=12)


def _file_items(plan: Plan, where: str) -> Iterator[Item]:
    yield from map(Item, heading("FOLDERS" if plan.proposal.folders else "FILES"))
    for folder in plan.proposal.folders:
        yield Item(line("  ", Span(folder.place, Role.PLACE), hanging=4, copied=folder.place), folder.place)
        if folder.aside:
            kept = Span("  kept aside as ", Role.DIM)
            yield Item(line(kept, Span(folder.aside, Role.PLACE), hanging=4, copied=folder.aside), folder.place)
    for file in plan.proposal.files:
        action = "  added" if file.old is None else "  removed" if file.new is None else ""
        place = FilePlace(file.path, 1)
        shown = line(
            "  ",
            Span(file.path, Role.PLACE),
            Span(action and action + where, Role.DIM),
            hanging=4,
            copied=file.path,
            place=place,
        )
        yield Item(shown, file.path)


def _extent(plan: Plan, reached: Collection[str]) -> str:
    files = written_words(plan)
    if plan.proposal.is_empty:
        return "nothing to write"
    changed = {change.root for change in plan.changes}
    planned = len(changed.union(reached, (failed.root for failed in plan.failures)))
    roots = f"{len(changed)} of {planned} roots" if planned > len(changed) else counted(planned, "root")
    providers = counted(len({change.address for change in plan.changes}), "provider")
    return f"{providers}, {roots}, {files}" if plan.changes else files


def written_words(plan: Plan) -> str:
    """Return the number of files, or of folders, that are written."""
    folders = plan.proposal.folders
    return counted(len(folders), "folder") if folders else counted(len(plan.proposal.files), "file")


def _group_line(group: Group, name: str, review: Review | None, *, is_alone: bool) -> Line:
    change = group.first
    old = str(change.old.version) if change.old else ""
    new = str(change.new.version) if change.new else ""
    versions = f"{old} -> {new}" if old and new else f"new {new}" if new else f"remove {old}"
    versions = new if old == new else versions
    where = "" if is_alone else (change.root or ".") if len(group.changes) == 1 else f"{len(group.changes)} roots"
    reviewed = reviewed_change(change, review) if review is not None else None
    was = reviewed[1].old if reviewed is not None and reviewed[1].address == change.address else None
    is_of_versions = reviewed is not None and (was and was.version) == (change.old and change.old.version)
    lead = kind_sign(reviewed[1].kind) if reviewed is not None and is_of_versions else _SIGNS[change.kind]
    place = FilePlace(f"{change.root}/.terraform.lock.hcl".lstrip("/"), change.old.line) if change.old else None
    spans = [Span(f"{lead:>3} "), Span(name, Role.STRONG), Span(f"  {versions}  ")]
    if review is not None:
        found = [one[1] for planned in group.changes if (one := reviewed_change(planned, review)) is not None]
        is_kept = not found and all(one.old is not None and one.old == one.new for one in group.changes)
        is_gone = not found and all(_is_gone_from_both(one, review) for one in group.changes)
        kept = "its entry stays as it is" if is_kept else _AS_HEAD if is_gone else ""
        spans.append(Span(kept, Role.DIM) if kept else state_span(found))
    spans.append(Span(f"  {where}", Role.PLACE))
    return line(*spans, hanging=6, copied=f"{change.address} {versions}", place=place)


def _is_gone_from_both(change: PlannedChange, review: Review) -> bool:
    """True if a change removes an entry that the base of the review, which could be read, has not either."""
    return change.new is None and any(root.path == change.root and root.old.is_complete for root in review.roots)


def state_span(changes: Iterable[ReviewedChange], *, width: int = 0) -> Span:
    """The worst severity that counts; without one, "ok" only where all was checked and nothing was found.

    Args:
        changes: The reviewed changes of one provider.
        width: Columns of the severity.
    """
    reviewed = tuple(changes)
    findings = [finding for change in reviewed for finding in change.findings if finding.severity is not Severity.OFF]
    severity = worst(tuple(findings))
    if severity is not None:
        return severity_span(severity, width=width)
    if not reviewed:
        return Span("? not reviewed", Role.WARN)
    if all(change.kind is ChangeKind.UNCHANGED for change in reviewed):
        return Span(_AS_HEAD, Role.DIM)
    if any(map(unknown_facts, reviewed)):
        return Span("? not all known", Role.WARN)
    if any(finding.accepted is not None for finding in findings):
        return Span("none new", Role.DIM)
    return severity_span(None, width=width)


def unknown_facts(change: ReviewedChange) -> tuple[str, ...]:
    """What is not known of the entry that is left: missing facts by their reason, and hashes that no fact explains."""
    if change.new is None or all(fact.is_explained for fact in change.claimed):
        return _missing_facts(change)
    return *_missing_facts(change), hash_words(change.hashes, claimed_word([change]))


def _missing_facts(change: ReviewedChange) -> tuple[str, ...]:
    if change.new is None:
        return ()
    return change.evidence.problems if change.evidence is not None else (_NOT_LOOKED_UP,)


_NOT_LOOKED_UP = "its release was not looked up"


def reviewed_change(change: PlannedChange, review: Review) -> tuple[RootReview, ReviewedChange] | None:
    """Return the review of a planned change; None if it has none."""
    for root in review.roots:
        if root.path == change.root:
            for reviewed in root.changes:
                if change.address in {reviewed.address, reviewed.moved_from}:
                    return root, reviewed
    return None


# Steps


def _step_lines(standing: PlanProgress, now: float) -> Iterator[Line]:
    stage, plan = standing.stage, standing.plan
    yield from heading("STEPS")
    here = f"  {standing.roots[-1] or '.'}" if standing.roots and plan is None else ""
    is_over = stage is PlanStage.FAILED
    failed = {failure.root for failure in plan.failures} if plan is not None else set()
    roots = failed.union(standing.roots)
    read = counted(len(roots), "root") if roots else ""
    read += f", {len(failed)} failed" if failed else ""
    sign = "!!" if is_over or failed else "ok" if plan is not None else ".."
    yield _step(sign, "plan", read + here)
    if standing.downloads:
        yield from _package_lines(standing, now)
    if is_over:
        return
    if standing.plan_review is not None:
        sign = "ok"
    elif standing.review_error is not None:
        sign = "!!"
    else:
        sign = ".." if stage is PlanStage.REVIEWING else "--"
    if plan is None or standing.has_files:
        if plan is None or plan.proposal.files:
            yield _step(sign, "review", standing.network if stage is PlanStage.REVIEWING else "")
        files = written_words(plan) if plan is not None else "all files"
        yield _step(
            ".." if stage is PlanStage.WRITING else "--", standing.words.verb, f"{files}, all or none, on enter"
        )


def _package_lines(standing: PlanProgress, now: float) -> Iterator[Line]:
    """The packages that are hashed for the plan; once it is made, those that no longer will be."""
    rows = standing.downloads
    failed = sum(bool(row.problem) for row in rows)
    left = sum(row.ended is None for row in rows)
    is_planning = standing.stage is PlanStage.PLANNING
    parts = [f"{len(rows) - failed - left} of {len(rows)}"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{left} not tried"] if left and not is_planning else []
    sign = ".." if left and is_planning else "!!" if failed or left else "ok"
    yield _step(sign, "hash packages", ", ".join(parts))
    if not is_planning:
        told = {one.detail for one in standing.plan.failures} if standing.plan is not None else set()
        rows = tuple(_ended(row, told) for row in rows)
    yield from download_lines(rows, now, indent="      ")


def _ended(row: DownloadRow, told: Collection[str]) -> DownloadRow:
    """A package after planning: nothing is asked any more, and a failure that is shown below is not shown twice."""
    if row.ended is None:
        return replace(row, note="stopped" if row.received else "not tried")
    return replace(row, problem="see below") if row.problem in told else row


def _step(sign: str, name: str, detail: str) -> Line:
    role = {"ok": Role.GOOD, "..": Role.INFO, "!!": Role.BLOCK}.get(sign, Role.DIM)
    return line(Span(f"  {sign}  ", role), f"{name}  ", Span(detail, Role.DIM), hanging=6)


# Result


def _result_lines(standing: PlanProgress) -> Iterator[Line]:
    if standing.plan is not None and standing.plan.proposal.folders:
        return
    yield from heading("RESULT")
    if standing.review_error is not None:
        yield line(Span("  not reviewed: ", Role.WARN), str(standing.review_error), hanging=4)
        return
    if standing.plan_review is None:
        yield line(Span("  …", Role.DIM))
        return
    if standing.is_policy_alone:
        yield from _policy_lines(standing.plan_review)
        return
    plan_review = standing.plan_review
    review = plan_review.review
    added = sum(len(change.added) for change in review.changes)
    removed = sum(len(change.removed) for change in review.changes)
    proof = Span(hashes_of_review(review), Role.WARN if review.hashes.unverified else Role.GOOD)
    since = " since HEAD" if (review.base.kind, review.base.name) in {("worktree", "HEAD"), ("index", "HEAD")} else ""
    yield line(f"  hashes: +{added} -{removed}{since}   ", proof)
    found = review.distinct_findings()
    spans = [severity_and_number(severity, number) for severity, number in review.severity_counts.items() if number]
    yield line("  findings: ", *(spans or [_no_findings(plan_review)]), *_known_findings(plan_review), hanging=4)
    yield from _finding_lines(found)
    if plan_review.against and standing.writes_lock_file:
        left = plan_review.still_differing
        number, differ = counted(left, "entry", "entries") if left else "no entry", "differ" if left > 1 else "differs"
        rest = f"{number} of these files {differ} from {plan_review.against}{standing.words.where}"
        yield line(Span(f"  after this, {rest}", Role.DIM), hanging=4)
    # Not what a registry failed to say that was asked to explain foreign hashes alone: none may be left to explain.
    unknown = list(dict.fromkeys(_unknown_words(review)))
    for problem in unknown[:_UNKNOWN_SHOWN]:
        yield line(Span("  unknown: ", Role.WARN), problem, hanging=4)
    if len(unknown) > _UNKNOWN_SHOWN:
        yield line(Span(f"  unknown: {len(unknown) - _UNKNOWN_SHOWN} more facts", Role.DIM))
    for note in review.notes:
        yield line(Span("  note: ", Role.WARN), note, hanging=4)


_UNKNOWN_SHOWN = 3


def _unknown_words(review: Review) -> Iterator[str]:
    """The facts that are missing; where none is, the hashes because of which a change is "not all known"."""
    for root in review.roots:
        for change in root.changes:
            missing = _missing_facts(change)
            yield from missing
            if not missing and worst(change.findings) is None:
                name = change.address.short(root.tool.default_host)
                yield from (f"{name}: {words}" for words in unknown_facts(change))


def _no_findings(plan_review: PlanReview) -> Span:
    """Say that nothing counts, but not as good news where facts are missing."""
    words, end = ("none new", "; ") if plan_review.known_findings else ("none", "")
    if any(map(unknown_facts, plan_review.review.changes)):
        return Span(f"{words}, but not all is known{end}", Role.WARN)
    return Span(f"{words}{end}", Role.GOOD)


def _known_findings(plan_review: PlanReview) -> Iterator[Span]:
    """The findings that the base, or the files before the plan, have already, by severity."""
    parts = []
    for place, counts in plan_review.known_findings.items():
        numbers = [f"{number} {severity.value.upper()}" for severity, number in counts.items() if number]
        parts.append(f"{place} already has {sum(counts.values())} more ({' '.join(numbers)})")
    if parts:
        yield Span("; ".join(parts), Role.DIM)


def _policy_lines(plan_review: PlanReview) -> Iterator[Line]:
    """The result of an edited policy: no lock file changes, and from when the edit counts."""
    yield line(f"  policy: {POLICY_FILE} edited, no lock file changes", hanging=4)
    review = plan_review.review
    if plan_review.is_committed:
        words = f"{POLICY_FILE} is as in HEAD again"
    elif review.policy.accept_from is AcceptFrom.HEAD:
        words = "what is added counts at once: the base has accept_from = head"
    else:
        # A fork point never gets another commit: its tip does.
        tip = plan_review.tip or "the base"
        is_next = tip in {"HEAD", "the base"}
        words = f"the edit counts once {tip} has it: {'commit the file' if is_next else 'a commit here is not enough'}"
    yield line(Span(f"  {words}", Role.DIM), hanging=4)
    for note in review.notes:
        yield line(Span("  note: ", Role.WARN), note, hanging=4)


def severity_and_number(severity: Severity, number: int) -> Span:
    """The number of findings of a severity."""
    return Span(f"{number} {severity.value.upper()}  ", severity_span(severity).role)


def _finding_lines(found: Sequence[Sequence[Finding]]) -> Iterator[Line]:
    """The worst findings; those that say the same of several subjects, with one severity, take one line."""
    same: dict[tuple[str, ...], list[Sequence[Finding]]] = {}
    for one in found:
        messages = dict.fromkeys(finding.message for finding in one)
        same.setdefault((one[0].severity, one[0].rule, *messages), []).append(one)
    titles = Counter(wording_of(items[0][0]).title for items in same.values())
    shown = [*same.items()][:_FINDINGS]
    for (_, _, *told), items in shown:
        alike = [finding for one in items for finding in one if finding.severity is one[0].severity]
        first, files = alike[0], len({finding.file for finding in alike})
        title = wording_of(first).title
        place = FilePlace(first.file, first.line) if first.file and first.line else None
        number = f"{len(items)} findings " if len(items) > 1 else ""
        times = f"  {number}in {files} files" if files > 1 else f"  {len(alike)} times" if len(alike) > 1 else ""
        more = Span(times, Role.DIM)
        lead = ("  ", severity_span(first.severity, width=6), Span(f"{first.rule}  ", Role.STRONG))
        yield line(*lead, title, more, hanging=15, copied=finding_copied(first), place=place)
        if first.severity is Severity.BLOCK or titles[title] > 1:
            # The title alone does not name the pin, the allow list or the hash that a decision depends on.
            yield from (line(Span(f"         {message}", Role.DIM), hanging=9) for message in told)
    if rest := len(found) - sum(len(items) for _, items in shown):
        yield line(Span(f"        and {counted(rest, 'more finding')}", Role.DIM))


# Errors and notes


def _error_lines(title: str, error: LockLensError) -> Iterator[Line]:
    yield from heading(title)
    yield line(Span("  !! ", Role.BLOCK), str(error), hanging=5, copied=str(error), place=_place(error.place))
    if error.hint:
        yield line(Span("     -> ", Role.DIM), error.hint, hanging=8)


def _place(place: Place | None) -> FilePlace | None:
    return FilePlace(place[0], place[1] or 1) if place is not None else None


def _failure_lines(plan: Plan) -> Iterator[Line]:
    roots = {failed.root for failed in plan.failures}
    unchanged = "this root is left unchanged" if len(roots) == 1 else f"these {len(roots)} roots are left unchanged"
    yield from heading(f"FAILED: {unchanged}")
    yield from _diagnostic_lines(Span("  !! ", Role.BLOCK), plan.failures)


def _remark_lines(plan: Plan) -> Iterator[Line]:
    """The warnings, which are about what is written where a root failed, then the notes."""
    warnings = [remark for remark in plan.remarks if remark.severity is DiagnosticSeverity.WARNING]
    warnings = [] if plan.failures and plan.proposal.is_empty else warnings
    notes = [remark for remark in plan.remarks if remark.severity is not DiagnosticSeverity.WARNING]
    for title, remarks, sign in (("WARNINGS", warnings, Span("  ! ", Role.WARN)), ("NOTES", notes, Span("  "))):
        if remarks:
            yield from heading(title)
            yield from _diagnostic_lines(sign, remarks)


def _diagnostic_lines(sign: Span, diagnostics: Iterable[Diagnostic]) -> Iterator[Line]:
    """Each sentence once, with its roots and its provider, unless it names them."""
    for (name, words, hint), members in _alike(diagnostics):
        where = _named(members)
        lead = f"{where}: {name}: " if name and name not in words else f"{where}: "
        lead = "" if len(members) == 1 and words.startswith(f"{where}/") else lead
        place = _place(members[0].place)
        yield line(sign, Span(lead, Role.PLACE), words, hanging=len(sign.text), copied=words, place=place)
        if hint:
            yield line(Span("     -> ", Role.DIM), _DOCTOR.sub("i tests the causes", hint), hanging=8)


_DOCTOR = re.compile(r"`locklens doctor[^`]*` tests the causes")


def _alike(diagnostics: Iterable[Diagnostic]) -> Iterable[tuple[tuple[str, str, str], list[Diagnostic]]]:
    """Those that say the same, by provider, sentence and hint."""
    alike: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for one in diagnostics:
        alike.setdefault((one.address, one.sentence, one.hint), []).append(one)
    return alike.items()


def _named(diagnostics: Iterable[Diagnostic]) -> str:
    """Some roots by name, many by number."""
    roots = [one.root or "." for one in diagnostics]
    return ", ".join(roots) if len(roots) <= _ROOTS_NAMED else f"{len(roots)} roots"
