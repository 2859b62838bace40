"""The right pane of the Preview: diff and review of each file, with runs of hashes folded; and its bars. No I/O."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.hashes import count_by_scheme
from locklens.lines import FilePlace, Line, Role, Span, line
from locklens.lockfile.parse import parse
from locklens.operations.plan import diffs
from locklens.operations.plan.diffs import ROLES, DiffRow, block_of, file_diff_lines
from locklens.project import LOCK_FILE, is_lock_file
from locklens.review.findings import Severity, worst
from locklens.review.model import ChangeKind
from locklens.text import counted
from locklens.ui.clipboard import change_copied
from locklens.ui.phrases import what_happened
from locklens.ui.preview.plan_pane import COMMAND, Group
from locklens.ui.preview.progress import PlanProgress, PlanStage, refusal, written_words
from locklens.ui.preview.result import state_span, unknown_facts
from locklens.ui.review.detail import detail_lines, finding_lines, one_of_each_rule
from locklens.ui.review.outline import Grouping, Node, outline
from locklens.ui.widgets import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.plan import PlannedFile
    from locklens.review.model import Review, RootReview
    from locklens.storage.journal import MovedFolder

_FILES = 8
"""Files whose diffs are shown one after another."""


def preview_detail(standing: PlanProgress, about: Group | str | None, *, in_full: bool) -> Iterator[Line]:
    """Yield the detail of the highlighted line; `about` is that of its `Item`."""
    plan = standing.plan
    if plan is None:
        return
    files = plan.proposal.files
    if plan.proposal.folders:
        yield from _folder_lines(plan.proposal.folders)
        return
    if not files:
        yield line(Span("No file would change.", Role.DIM))
        return
    review = standing.plan_review.review if standing.plan_review is not None else None
    if isinstance(about, Group):
        node = _node(about, review) if review is not None else None
        if node is not None and review is not None:
            yield from detail_lines(node, review, in_full=in_full)
            return
        folders = {change.root for change in about.changes}
        files = tuple(file for file in files if file.path.rpartition("/")[0] in folders) or files
    elif about is not None and about != COMMAND:
        files = tuple(file for file in files if file.path == about)
    yield from _file_lines(files, standing, in_full=in_full)


def _folder_lines(folders: Iterable[MovedFolder]) -> Iterator[Line]:
    for folder in folders:
        yield line(Span(folder.place, Role.STRONG), hanging=2, copied=folder.place)
        yield line(Span("  now     ", Role.DIM), folder.old, hanging=10, copied=folder.old)
        yield line(Span("  then    ", Role.DIM), folder.new, hanging=10, copied=folder.new)
        if folder.source:
            verb = "  moved   " if folder.takes_source else "  copied  "
            yield line(Span(verb, Role.DIM), Span(f"from {folder.source}", Role.PLACE), hanging=10)
        if folder.aside:
            yield line(Span("  aside   ", Role.DIM), Span(folder.aside, Role.PLACE), hanging=10)
    yield Line()
    words = "What is there, a folder or a link to one, is renamed as a whole, and never written into; Z brings it back."
    yield line(Span(words, Role.DIM))


def raw_diff(files: Iterable[PlannedFile]) -> tuple[Line, ...]:
    """Return the full diff of all files."""
    return tuple(shown for file in files for shown in file_diff_lines(file.path, file.old, file.new))


def _file_lines(files: tuple[PlannedFile, ...], standing: PlanProgress, *, in_full: bool) -> Iterator[Line]:
    review = standing.plan_review.review if standing.plan_review is not None else None
    roots = {root.lock_file: root for root in review.roots} if review is not None else {}
    for number, file in enumerate(files[:_FILES]):
        if number:
            yield Line()
        yield from planned_lines(file, standing.words.where, in_full=in_full)
        root = roots.get(file.path)
        if root is not None:
            yield from _judged_lines(root, standing, _compared_with(review), in_full=in_full)
    if review is not None:
        shown = {file.path for file in files}
        for root in review.roots:
            if root.lock_file not in shown and root.all_findings and len(files) > 1:
                yield from _judged_lines(root, standing, _compared_with(review), in_full=in_full)
    if len(files) > _FILES:
        yield Line()
        rest = f"{len(files) - _FILES} more files: highlight one in the plan (tab), or press d for the full diff"
        yield line(Span(rest, Role.DIM))


def _compared_with(review: Review | None) -> str:
    """What the planned files are compared with; without a commit, those on disk."""
    return "HEAD" if review is not None and review.base.name == "HEAD" else "the files as they are"


def _judged_lines(root: RootReview, standing: PlanProgress, base: str, *, in_full: bool) -> Iterator[Line]:
    """The changes of a root since the base of the plan's review, and their findings."""
    yield Line()
    yield line(Span(f"AS REVIEWED  {root.path or '.'}", Role.HEADING), Span(f"  against {base}", Role.DIM), hanging=13)
    listed = [one for one in root.changes if one.kind is not ChangeKind.UNCHANGED or one.findings]
    for change in listed:
        entry = change.old or change.new
        place = FilePlace(root.lock_file, entry.line) if entry is not None and root.old.data else None
        name = change.address.short(root.tool.default_host)
        lead = (" ", state_span([change], width=5), Span(f" {name}  ", Role.STRONG))
        yield line(*lead, what_happened(change), hanging=8, copied=change_copied(change), place=place)
        for own in one_of_each_rule(change.findings):
            yield from finding_lines(*own, in_full=in_full)
        if worst(tuple(finding for finding in change.findings if finding.severity is not Severity.OFF)) is None:
            yield from (line(Span("  unknown  ", Role.WARN), fact, hanging=11) for fact in unknown_facts(change))
    for finding in root.findings:
        yield from finding_lines(finding, in_full=in_full)
    if not listed and not root.findings:
        has_changes = standing.plan is not None and root.path in {change.root for change in standing.plan.changes}
        only_bytes = "same providers, versions and hashes; only the bytes differ"
        same = f"the planned entries are as in {base}" if has_changes else only_bytes
        yield line(Span(f"  {same}" if root.lock_file.endswith(LOCK_FILE) else "", Role.DIM), hanging=4)


def _node(group: Group, review: Review) -> Node | None:
    """The row of the plan's review for a group: the one with most of its roots."""
    keys = {(change.root, change.address) for change in group.changes}
    best, most = None, 0
    for section in outline(review, Grouping.ROOT):
        for node in section.children:
            hits = sum(
                (subject.root.path, address) in keys
                for subject in node.subjects
                for address in {subject.change.address, subject.change.moved_from}
            )
            if hits > most:
                best, most = node, hits
    return best


_HASH = re.compile(r'\s*"([a-z0-9]+:[^"\s]+)",?\s*')
_FOLD_FROM = 2


def _hash_of(row: DiffRow) -> str:
    """Return the hash of a line with nothing else; "" for any other line."""
    match = _HASH.fullmatch(row.text) if row.sign != "@" else None
    return match[1] if match else ""


def planned_lines(file: PlannedFile, where: str = "", *, in_full: bool) -> Iterator[Line]:
    """Yield the diff of a planned file below its name, in full with each hash.

    `where` are the words for git's index, where it alone is written; "" for the work tree.
    """
    action = "to be added" if file.old is None else "to be removed" if file.new is None else "to be changed"
    place = FilePlace(file.path, 1) if file.old is not None else None
    yield line(
        Span(file.path, Role.PLACE), Span(f"  {action}{where}", Role.DIM), hanging=2, copied=file.path, place=place
    )
    rows = _rows(file.old or b"", file.new or b"")
    is_lock = is_lock_file(file.path)
    if in_full or not is_lock:
        yield from (_shown(row, file) for row in rows)
        return
    versions = {"-": _versions(file.old, file.path), "+": _versions(file.new, file.path)}
    for has_hashes, group in itertools.groupby(_headed(rows), key=lambda row: bool(_hash_of(row))):
        run = list(group)
        if has_hashes and len(run) >= _FOLD_FROM:
            yield from _folded(run, file, versions)
        else:
            yield from (_shown(row, file) for row in run)


def _rows(old: bytes, new: bytes) -> Iterator[DiffRow]:
    """Yield the rows of a diff; a head has the block where its hunk begins, and a file that comes or goes has none."""
    for row in diffs.rows(old, new):
        if row.sign != "@":
            yield row
        elif old and new:
            yield replace(row, text=block_of(row, old, new))


def _headed(rows: Iterable[DiffRow]) -> list[DiffRow]:
    """Clear the text of hunk heads whose hunk already shows the first line of the block."""
    headed: list[DiffRow] = []
    shows_block = False
    for row in reversed(list(rows)):
        headed.append(replace(row, text="") if row.sign == "@" and shows_block else row)
        shows_block = row.sign == " " and (shows_block or row.text.startswith("provider "))
    return headed[::-1]


def _shown(row: DiffRow, file: PlannedFile) -> Line:
    place = FilePlace(file.path, row.old) if file.old is not None else None
    if row.sign == "@":
        return line(Span(f"@@ {row.text or f'line {row.old}'}", Role.INFO), hanging=3, place=place)
    role = ROLES.get(row.sign, Role.PLAIN)
    return line(Span(f"{row.sign} {row.text}", role), hanging=2, copied=_hash_of(row) or row.text.strip(), place=place)


def _folded(run: list[DiffRow], file: PlannedFile, versions: dict[str, list[tuple[int, str]]]) -> Iterator[Line]:
    for sign in "-+":
        hashes = [row for row in run if row.sign == sign]
        if not hashes:
            continue
        number = hashes[0].old if sign == "-" else hashes[0].new
        version = next((name for start, name in reversed(versions[sign]) if start <= number), "")
        text = counted(len(hashes), "hash", "hashes") + (f" of {version}" if version else "")
        place = FilePlace(file.path, hashes[0].old) if file.old is not None else None
        yield line(
            Span(f"{sign}     {text}", ROLES[sign]),
            Span(f"  {count_by_scheme(_hash_of(row) for row in hashes)}", Role.DIM),
            hanging=6,
            copied=text,
            place=place,
        )
    if any(row.sign == " " for row in run):
        yield line(Span("      … unchanged hashes", Role.DIM))


def _versions(data: bytes | None, path: str) -> list[tuple[int, str]]:
    """The first line of each entry with its version, in order."""
    return sorted((entry.line, str(entry.version)) for entry in parse(data or b"", path).entries)


def preview_head(standing: PlanProgress) -> tuple[BarLayout, ...]:
    """The head line: the operation, and that nothing is written yet."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("preview  ", Role.DIM))
    title = Piece(standing.title)
    words = standing.words
    state = f"nothing {words.done} yet"
    if standing.stage is PlanStage.WRITING:
        state = f"being {words.done}"
    elif standing.plan is not None and not standing.has_files:
        state = f"nothing to {words.verb}"
    right = (Piece(f" {state} ", Role.INFO),)
    return (
        BarLayout((*name, title), right),
        BarLayout((Piece(" preview  ", Role.DIM), title), right),
        BarLayout((Piece(" "), title), right),
    )


def preview_status(standing: PlanProgress, message: str) -> tuple[BarLayout, ...]:
    """The status line: a message, or the readiness of the plan."""
    reason = refusal(standing)
    failed = len({failure.root for failure in standing.plan.failures}) if standing.plan is not None else 0
    if message:
        shown = Piece(f" {message}", Role.STRONG)
    elif reason:
        shown = Piece(
            f" {reason}", Role.INFO if standing.stage in {PlanStage.PLANNING, PlanStage.REVIEWING} else Role.WARN
        )
    else:
        files = written_words(standing.plan) if standing.plan is not None else ""
        shown = Piece(f" ready: enter {standing.words.third} {files}", Role.GOOD)
    right = (Piece(f"  {counted(failed, 'root')} failed ", Role.BLOCK),) if failed else ()
    is_writing = standing.stage is PlanStage.WRITING
    safe = right if is_writing else (*right, Piece("  esc cancels, nothing is written ", Role.DIM))
    return BarLayout((shown,), safe), BarLayout((shown,), right), BarLayout((shown,), is_whole=True)
