"""The right pane of the Preview: the diff and the review of each file, with runs of hashes folded. No I/O."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import count_by_scheme
from locklens.lines import FilePlace, Line, Role, Span, line
from locklens.lockfile.parse import parse
from locklens.operations.plan import diffs
from locklens.operations.plan.diffs import ROLES, block_of, file_diff_lines, lines_of
from locklens.project import LOCK_FILE
from locklens.text import counted
from locklens.ui.clipboard import change_copied
from locklens.ui.phrases import what_happened
from locklens.ui.preview.plan_pane import COMMAND, Group, PlanProgress, state_span
from locklens.ui.review.detail import detail_lines, finding_lines
from locklens.ui.review.outline import Grouping, Node, outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.plan import PlannedFile
    from locklens.review.model import Review, RootReview
    from locklens.storage.journal import MovedFolder

_FILES = 8
"""Files whose diffs are shown one after another."""


def preview_detail(standing: PlanProgress, about: Group | str | None, *, in_full: bool) -> Iterator[Line]:
    """Yield the detail of the highlighted line.

    Args:
        standing: The progress of the plan.
        about: The subject of the highlighted line, as `Item.about`.
        in_full: True for full hashes and explanations of rules.
    """
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
    yield from _file_lines(files, review, in_full=in_full)


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
    yield line(Span("The folder is renamed as a whole, and never written into; Z brings it back.", Role.DIM))


def raw_diff(files: Iterable[PlannedFile]) -> tuple[Line, ...]:
    """Return the full diff of all files."""
    return tuple(shown for file in files for shown in file_diff_lines(file.path, file.old, file.new))


def _file_lines(files: tuple[PlannedFile, ...], review: Review | None, *, in_full: bool) -> Iterator[Line]:
    roots = {root.lock_file: root for root in review.roots} if review is not None else {}
    for number, file in enumerate(files[:_FILES]):
        if number:
            yield Line()
        yield from planned_lines(file, in_full=in_full)
        root = roots.get(file.path)
        if root is not None:
            yield from _judged_lines(root, in_full=in_full)
    if review is not None:
        shown = {file.path for file in files}
        for root in review.roots:
            if root.lock_file not in shown and root.all_findings and len(files) > 1:
                yield from _judged_lines(root, in_full=in_full)
    if len(files) > _FILES:
        yield Line()
        rest = f"{len(files) - _FILES} more files: highlight one at the left, or press d for the full diff"
        yield line(Span(rest, Role.DIM))


def _judged_lines(root: RootReview, *, in_full: bool) -> Iterator[Line]:
    """The changes of a root, and their findings."""
    yield Line()
    yield line(Span(f"AS REVIEWED  {root.path or '.'}", Role.HEADING))
    for change in root.changes:
        entry = change.old or change.new
        place = FilePlace(root.lock_file, entry.line) if entry is not None and root.old.data else None
        name = change.address.short(root.tool.default_host)
        lead = (" ", state_span([change], width=5), Span(f" {name}  ", Role.STRONG))
        yield line(*lead, what_happened(change), hanging=8, copied=change_copied(change), place=place)
        for finding in change.findings:
            yield from finding_lines(finding, in_full=in_full)
    for finding in root.findings:
        yield from finding_lines(finding, in_full=in_full)
    if not root.changes and not root.findings:
        same = "same providers, versions and hashes; only the bytes differ"
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
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_FOLD_FROM = 2


class _Row(Struct, frozen=True):
    """One line of a diff.

    Attributes:
        sign: "+", "-", " ", or "@" for a hunk's head.
        text: The text after the sign.
        old: Line number in the current file, from 1.
        new: Line number in the planned file, from 1.
    """

    sign: str
    text: str
    old: int
    new: int

    @property
    def hash(self) -> str:
        """The hash of a line with nothing else; "" for any other line."""
        match = _HASH.fullmatch(self.text) if self.sign != "@" else None
        return match[1] if match else ""


def planned_lines(file: PlannedFile, *, in_full: bool) -> Iterator[Line]:
    """Yield the diff of a planned file below its name.

    Args:
        file: The planned file.
        in_full: True to show each hash.
    """
    action = "to be added" if file.old is None else "to be removed" if file.new is None else "to be changed"
    place = FilePlace(file.path, 1) if file.old is not None else None
    yield line(Span(file.path, Role.PLACE), Span(f"  {action}", Role.DIM), hanging=2, copied=file.path, place=place)
    rows = _rows(file.old or b"", file.new or b"")
    is_lock = file.path.rpartition("/")[2] == LOCK_FILE
    if in_full or not is_lock:
        yield from (_shown(row, file) for row in rows)
        return
    versions = {"-": _versions(file.old, file.path), "+": _versions(file.new, file.path)}
    for run in _runs(_headed(rows)):
        if len(run) < _FOLD_FROM:
            yield from (_shown(row, file) for row in run)
        else:
            yield from _folded(run, file, versions)


def _rows(old_data: bytes, new_data: bytes) -> Iterator[_Row]:
    old, new = lines_of(old_data), lines_of(new_data)
    before = after = 0
    for text in diffs.hunks(old_data, new_data):
        if text.startswith("\\"):
            yield _Row("\\", text[2:], max(before - 1, 1), max(after - 1, 1))
            continue
        if hunk := _HUNK.match(text):
            before, after = int(hunk[1]), int(hunk[2])
            if old and new:
                yield _Row("@", block_of(text, old, new), before, after)
            continue
        yield _Row(text[:1], text[1:], max(before, 1), max(after, 1))
        before += text[:1] != "+"
        after += text[:1] != "-"


def _headed(rows: Iterable[_Row]) -> Iterator[_Row]:
    """Clear the text of hunk heads whose hunk already shows the first line of the block."""
    hunk: list[_Row] = []
    for row in (*rows, None):
        if row is None or row.sign == "@":
            yield from _with_short_head(hunk)
            hunk = []
        if row is not None:
            hunk.append(row)


def _with_short_head(hunk: list[_Row]) -> list[_Row]:
    before = itertools.takewhile(lambda row: row.sign in "@ ", hunk)
    if not any(row.sign == " " and row.text.startswith("provider ") for row in before):
        return hunk
    return [replace(row, text="") if row.sign == "@" else row for row in hunk]


def _runs(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Group consecutive hash lines; any other line is a group of its own."""
    run: list[_Row] = []
    for row in rows:
        if row.hash:
            run.append(row)
            continue
        if run:
            yield run
            run = []
        yield [row]
    if run:
        yield run


def _shown(row: _Row, file: PlannedFile) -> Line:
    place = FilePlace(file.path, row.old) if file.old is not None else None
    if row.sign == "@":
        return line(Span(f"@@ {row.text or f'line {row.old}'}", Role.INFO), hanging=3, place=place)
    role = ROLES.get(row.sign, Role.PLAIN)
    return line(Span(f"{row.sign} {row.text}", role), hanging=2, copied=row.hash or row.text.strip(), place=place)


def _folded(run: list[_Row], file: PlannedFile, versions: dict[str, list[tuple[int, str]]]) -> Iterator[Line]:
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
            Span(f"  {count_by_scheme(row.hash for row in hashes)}", Role.DIM),
            hanging=6,
            copied=text,
            place=place,
        )
    if any(row.sign == " " for row in run):
        yield line(Span("      … unchanged hashes", Role.DIM))


def _versions(data: bytes | None, path: str) -> list[tuple[int, str]]:
    """The first line of each entry with its version, in order."""
    return sorted((entry.line, str(entry.version)) for entry in parse(data or b"", path).entries)
