"""The detail of roots and other sections. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.review.reports.evidence_lines import host_words
from locklens.review.reports.words import file_note, lock_status_words, missing_module_words, phrase, severity_span
from locklens.review.rules.catalogue import RULES
from locklens.text import counted
from locklens.ui.review.rows import kind_in_short, state_of_change
from locklens.ui.review.tree import Node, NodeKind
from locklens.ui.text.clipboard import change_copied, finding_copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.project.configuration import Configuration
    from locklens.review.model import Review, RootReview

_LABEL = 15
_MODULES_SHOWN = 3


def _fact(label: str, *spans: Span | str, place: FilePlace | None = None) -> Line:
    return line(Span(label.ljust(_LABEL), Role.HEADING), *spans, hanging=_LABEL, place=place)


def root_lines(node: Node, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    """A root: its lock file, configuration, findings and changes; `is_asking` while the review is incomplete."""
    root = node.root
    if root is None:
        return
    yield line(Span(root.path or ". (top folder)", Role.STRONG), copied=root.path or ".")
    yield Line()
    yield _fact(
        "LOCK FILE",
        Span(root.lock_file, Role.PLACE),
        f"  {lock_status_words(root)}",
        place=FilePlace(root.lock_file, 1),
    )
    if root.renamed_from is not None:
        yield _fact("MOVED FROM", root.renamed_from or ".")
    yield _fact("TOOL", root.tool.product)
    yield from _configuration_lines(root.configuration, in_full=in_full)
    if note := file_note(root):
        yield Line()
        yield line(note[0].upper() + note[1:] + ".")
    if root.new.conflict is not None:
        yield line(Span("M", Role.INFO), " previews the merge of both sides, block by block.")
    yield from _root_findings(root, in_full=in_full)
    listed = [subject.change for subject in node.subjects] or list(root.changes)
    if listed:
        yield from heading("CHANGES")
    width = min(max((len(str(change.address.short(root.tool.default_host))) for change in listed), default=0), 36)
    for change in listed:
        name = change.address.short(root.tool.default_host).ljust(width)
        summary = Span(f"  {phrase(change)}  {kind_in_short(change)}", Role.DIM)
        state = state_of_change(root, change, is_asking=is_asking)
        yield line(" ", state, " ", name, summary, hanging=8, copied=change_copied(change))
    if node.kind is NodeKind.SECTION and (more := len(root.changes) - len(listed)) > 0 and node.note:
        yield line(
            Span(f'       {counted(more, "more change")} in the section "in several roots"', Role.DIM), hanging=7
        )


def missing_module_lines(configuration: Configuration, *, indent: int, in_full: bool) -> Iterator[Line]:
    """The modules whose requirements are unknown; the first `_MODULES_SHOWN` unless in full."""
    missing = configuration.missing_modules
    shown = missing if in_full or len(missing) <= _MODULES_SHOWN else missing[: _MODULES_SHOWN - 1]
    for module in shown:
        gap = missing_module_words(module)
        yield line(" " * indent, Span(gap, Role.WARN), hanging=indent + 2, place=FilePlace(module.file, module.line))
    if len(shown) < len(missing):
        get = f"{configuration.dialect.command} get"
        gap = f"{len(missing) - len(shown)} more not fetched: x lists them, `{get}` fetches them"
        yield line(" " * indent, Span(gap, Role.WARN), hanging=indent + 2)


def _configuration_lines(configuration: Configuration | None, *, in_full: bool) -> Iterator[Line]:
    if configuration is None:
        yield _fact("CONFIGURATION", Span("not read yet", Role.DIM))
        return
    is_state_alone = not configuration.complete and not configuration.unknown_constraints
    state = "complete" if configuration.complete else "all but the state" if is_state_alone else "incomplete"
    files = counted(len(configuration.files), "file")
    yield _fact("CONFIGURATION", f"{state}, {files} read", Span("  without init", Role.DIM))
    yield from missing_module_lines(configuration, indent=_LABEL, in_full=in_full)
    for reading in (configuration.state, *configuration.other_states):
        if reading.kind in {"remote", "unreadable"}:
            yield line(" " * _LABEL, Span(f"not read: {reading.detail}", Role.WARN), hanging=_LABEL)
    for problem in configuration.problems:
        role = Role.WARN if problem.is_error else Role.DIM
        place = FilePlace(problem.file, problem.line or 1)
        message = f"{problem.summary}: {problem.detail}"
        yield line(" " * _LABEL, Span(f"{place} ", Role.PLACE), Span(message, role), hanging=_LABEL, place=place)


def _root_findings(root: RootReview, *, in_full: bool) -> Iterator[Line]:
    if not root.findings:
        return
    yield from heading("ROOT-LEVEL FINDINGS")
    for finding in root.findings:
        place = FilePlace(finding.file, finding.line) if finding.line is not None else None
        spans = (" ", severity_span(finding.severity, width=6), Span(finding.rule, Role.STRONG), f"  {finding.message}")
        yield line(*spans, hanging=14, copied=finding_copied(finding), place=place)
        if in_full and (rule := RULES.get(finding.rule)) is not None:
            yield line(" " * 14, Span(f"-> {rule.remedy}", Role.DIM), hanging=17)


def asked_lines(review: Review, *, is_asking: bool) -> Iterator[Line]:
    """The registries with their state, and the notes that limit the whole review."""
    yield from heading("REGISTRIES")
    if is_asking:
        yield line(Span("  … ", Role.STRONG), "being asked")
    for host in review.hosts:
        words = host_words(host, is_offline=review.offline, now=review.at)
        state = Span(words, Role.WARN if host.error or not host.asked else Role.DIM)
        yield line(f"  {host.host}  ", state, hanging=4, copied=host.host)
    if not review.hosts and not is_asking:
        yield line(Span("  none: no provider changed", Role.DIM))
    if review.notes:
        yield from heading("NOTES")
        for note in review.notes:
            yield line(Span("  ! ", Role.WARN), note, hanging=4, copied=note)


def section_lines(node: Node) -> Iterator[Line]:
    """A section that is not a root."""
    yield line(Span(node.title, Role.STRONG), copied=node.title)
    yield Line()
    if node.key == "section:policy":
        yield line("Findings about the policy: the change under review edits the file that judges it.")
        return
    roots = len({subject.root.path for subject in node.subjects})
    if node.key == "section:shared":
        yield line("Each row is one change in several roots: same provider, same versions, same zh hashes.")
        yield line("Marking it reviews it in all of the roots; l unfolds the roots.")
        return
    yield line(f"{counted(len(node.subjects), 'change')} in {counted(roots, 'root')}.")
    yield Line()
    for child in node.children:
        change = child.change
        summary = child.note if change is None else f"{phrase(change)}  {kind_in_short(change)}"
        where = (
            counted(len(child.children), "root") if child.children else (child.root.path or ".") if child.root else ""
        )
        yield line(
            " ",
            severity_span(child.severity, width=6),
            f"{child.title}  {summary}  ",
            Span(where, Role.PLACE),
            hanging=8,
        )
