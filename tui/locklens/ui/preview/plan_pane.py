"""The left pane of the Preview: the plan, its steps, errors and notes. No I/O."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.review.reports import kind_sign
from locklens.text import counted
from locklens.ui.clipboard import ShellText
from locklens.ui.phrases import DownloadRow, download_lines
from locklens.ui.preview.progress import PlanProgress, PlanStage, written_words
from locklens.ui.preview.result import AS_HEAD, result_lines, reviewed_change, state_span
from locklens.ui.review.outline import collected

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from locklens.errors import LockLensError, Place
    from locklens.operations.plan import Plan, PlannedChange
    from locklens.review.model import Review

COMMAND = "command"
_SIGNS = {"upgrade": "^", "downgrade": "v", "add": "+", "remove": "-", "change": "#", "move": "@"}
"""Signs before the review of the plan, and where it is of another step; else those of the review are used."""
_ROOTS_NAMED = 3


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


def groups(plan: Plan) -> tuple[Group, ...]:
    """The plan's changes, grouped by provider and versions, in the order of the plan."""
    alike: dict[tuple[object, ...], list[PlannedChange]] = {}
    for change in plan.changes:
        versions = (str(change.old.version) if change.old else "", str(change.new.version) if change.new else "")
        alike.setdefault((change.address, versions), []).append(change)
    return tuple(Group(tuple(changes)) for changes in alike.values())


def items(standing: PlanProgress, now: float) -> Iterator[Item]:
    """Yield the items of the left pane; `now` is in seconds of the downloads' clock."""
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
    plan = standing.plan
    yield from _step_lines(standing, now)
    if standing.error is not None:
        lead = f"NOT {standing.words.done.upper()}" if plan is not None else "NO PLAN"
        yield from _error_lines(lead, standing.error)
    if plan is not None and plan.failures:
        yield from _failure_lines(plan)
    if standing.lacks_modules:
        words = "plans again without the missing modules; what they require stays unknown"
        yield line(Span("     m  ", Role.INFO), words, hanging=8)
    if standing.has_files:
        yield from result_lines(standing)
    if standing.leaves_configuration:
        words = "stages the edited or deleted configuration files too"
        yield line(Span("     f  ", Role.INFO), words, hanging=8)
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
    yield from (Item(line(f"  {words}", hanging=4)) for words in _other_words(plan))
    # A plan without changes of providers concerns the layout, of which an equal entry is written anew, too.
    if plan.changes and standing.plan_review is not None and standing.plan_review.untouched:
        unchanged = f"  {counted(standing.plan_review.untouched, 'entry', 'entries')} unchanged"
        yield Item(line(Span(unchanged, Role.DIM)))


def _other_words(plan: Plan) -> Iterator[str]:
    """The lines about other writes than changes of providers; what is said of several roots, once with these."""
    roots = {change.root or "." for change in plan.changes}
    roots |= {file.path.rpartition("/")[0] or "." for file in plan.proposal.files}
    alike: dict[str, list[str]] = {}
    for words in plan.dry_run_words[len(plan.changes) :]:
        root, _, said = words.partition(": ")
        alike.setdefault(said if root in roots else words, []).append(root)
    for said, names in alike.items():
        yield f"{_few_or_number(names)}: {said}" if roots.issuperset(names) else said


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


def _group_line(group: Group, name: str, review: Review | None, *, is_alone: bool) -> Line:
    change = group.first
    old = str(change.old.version) if change.old else ""
    new = str(change.new.version) if change.new else ""
    versions = f"{old} -> {new}" if old and new else f"new {new}" if new else f"remove {old}"
    versions = new if old == new else versions
    where = "" if is_alone else (change.root or ".") if len(group.changes) == 1 else f"{len(group.changes)} roots"
    reviewed = reviewed_change(change, review) if review is not None else None
    was = reviewed.old if reviewed is not None and reviewed.address == change.address else None
    is_of_versions = reviewed is not None and (was and was.version) == (change.old and change.old.version)
    lead = kind_sign(reviewed.kind) if reviewed is not None and is_of_versions else _SIGNS[change.kind]
    place = FilePlace(f"{change.root}/.terraform.lock.hcl".lstrip("/"), change.old.line) if change.old else None
    spans = [Span(f"{lead:>3} "), Span(name, Role.STRONG), Span(f"  {versions}  ")]
    if review is not None:
        found = [one for planned in group.changes if (one := reviewed_change(planned, review)) is not None]
        is_kept = not found and all(one.old is not None and one.old == one.new for one in group.changes)
        is_gone = not found and all(_is_gone_from_both(one, review) for one in group.changes)
        kept = "its entry stays as it is" if is_kept else AS_HEAD if is_gone else ""
        spans.append(Span(kept, Role.DIM) if kept else state_span(found))
    spans.append(Span(f"  {where}", Role.PLACE))
    return line(*spans, hanging=6, copied=f"{change.address} {versions}", place=place)


def _is_gone_from_both(change: PlannedChange, review: Review) -> bool:
    """True if a change removes an entry that the base of the review, which could be read, has not either."""
    return change.new is None and any(root.path == change.root and root.old.is_complete for root in review.roots)


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
    alike = collected(diagnostics, lambda one: (one.address, one.sentence, one.hint))
    for (name, words, hint), members in alike.items():
        where = _few_or_number([one.root or "." for one in members])
        place = _place(members[0].place)
        has_root = len(members) == 1 and (place is not None or words.startswith(f"{where}/"))
        names = [*([] if has_root else [where]), *([name] if name and name not in words else [])]
        lead = "".join(f"{one}: " for one in names)
        yield line(sign, Span(lead, Role.PLACE), words, hanging=len(sign.text), copied=words, place=place)
        if hint:
            yield line(Span("     -> ", Role.DIM), _DOCTOR.sub("i tests the causes", hint), hanging=8)


_DOCTOR = re.compile(r"`locklens doctor[^`]*` tests the causes")


def _few_or_number(roots: Sequence[str]) -> str:
    """Some roots by name, many by number."""
    return ", ".join(roots) if len(roots) <= _ROOTS_NAMED else f"{len(roots)} roots"
