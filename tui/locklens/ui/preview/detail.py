"""The right pane of the Preview: the diff and the review of each file, or the review of one change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import FilePlace, Line, Role, Span, line
from locklens.project.roots import LOCK_FILE
from locklens.ui.preview.plan_pane import COMMAND, Group, state_span
from locklens.ui.preview.planned_diff import planned_lines
from locklens.ui.review.detail import detail_lines, finding_lines
from locklens.ui.review.outline import Grouping, Node, outline
from locklens.ui.text.clipboard import change_copied
from locklens.ui.text.diff import file_diff_lines
from locklens.ui.text.phrases import what_happened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.plan.model import PlannedFile
    from locklens.review.model import Review, RootReview
    from locklens.storage.journal import MovedFolder
    from locklens.ui.preview.plan_pane import PlanProgress

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
