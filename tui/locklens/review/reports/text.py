"""A review as plain text for terminals and logs: aligned, worst first, and as complete as the screens."""

from __future__ import annotations

from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING

from locklens.hashes import count_by_scheme
from locklens.review.model import Change, Finding, LockStatus, Review, RootReview, Severity
from locklens.review.reports import evidence, words
from locklens.text import Painted, counted, listing, page, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.dialect import Dialect
    from locklens.lockfile.model import Conflict
    from locklens.project.configuration import Configuration
    from locklens.text import Line, Printable

_COLOURS = {Severity.BLOCK: "31;1", Severity.WARN: "33", Severity.INFO: "36", None: "2"}
ROOTS_SHOWN = 8
"""Names of the roots of one change, unless all are asked for."""
_WIDTH = 120


def render(review: Review, *, colour: bool = False, lists_roots: bool = False) -> Printable:
    """Return the report.

    Args:
        review: The review to print.
        colour: True to mark severities with ANSI colours, which add no information.
        lists_roots: True to name every root of a change that several have, else at most ROOTS_SHOWN.
    """
    return page(_Printer(review, lists_roots=lists_roots).lines(), colour=colour)


class _Printer:
    def __init__(self, review: Review, *, lists_roots: bool) -> None:
        self._review = review
        self._lists_roots = lists_roots
        self._unknown = evidence.shared_problems(review.changes)
        counts = Counter(change.group for change in review.changes)
        self._shared = {group for group, count in counts.items() if count > 1}

    def lines(self) -> Iterator[Line]:
        yield from self._head()
        for finding in self._review.own_findings:
            yield from self._finding(finding, "")
        for _, section in self._sections():
            yield ""
            yield from section
        yield ""
        yield from self._tail()

    def _sections(self) -> list[tuple[int, Iterator[Line]]]:
        """The changes of several roots, then the roots, each worst first; together the worst first."""
        sections = [(_rank(members[0][1].severity), self._group(members)) for members in self._shared_groups()]
        for root in sorted(self._review.roots, key=lambda root: root.path):
            if self._is_worth_a_section(root):
                alone = [change.severity for change in root.changes if change.group not in self._shared]
                severities = [*alone, *(finding.severity for finding in root.findings)]
                rank = min(map(_rank, severities), default=_rank(None))
                sections.append((rank, self._root(root)))
        return sorted(sections, key=lambda section: section[0])

    def _head(self) -> Iterator[str]:
        review = self._review
        base = words.side(review.base.kind, review.base.name, review.base.revision)
        head = words.side(review.head.kind, review.head.name, review.head.revision)
        yield f"locklens review  {base} -> {head}"
        changes = review.changes
        distinct = len({change.group for change in changes})
        noted = f" ({distinct} distinct)" if distinct != len(changes) else ""
        counts = words.severity_counts(review)
        findings = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count) or "no findings"
        several = f" of {review.lock_files}" if review.lock_files > len(review.roots) else ""
        roots = "root" if (review.lock_files if several else len(review.roots)) == 1 else "roots"
        yield f"{len(review.roots)}{several} {roots}, {counted(len(changes), 'change')}{noted}: {findings}"

    def _shared_groups(self) -> list[list[tuple[RootReview, Change]]]:
        """The changes shared by several roots, worst first; in each group the worst root first."""
        groups: dict[str, list[tuple[RootReview, Change]]] = {}
        for root in self._review.roots:
            for change in root.changes:
                if change.group in self._shared:
                    groups.setdefault(change.group, []).append((root, change))
        for members in groups.values():
            members.sort(key=lambda member: _rank(member[1].severity))
        return sorted(groups.values(), key=lambda members: _rank(members[0][1].severity))

    def _group(self, members: Sequence[tuple[RootReview, Change]]) -> Iterator[Line]:
        root, change = members[0]
        yield (Painted(f"In {len(members)} roots", "1"),)
        yield from self._change(change, root, 0, is_shared=True)
        printed = {finding.message for finding in change.findings}
        for _, same in members[1:]:
            for finding in same.findings:
                if finding.message not in printed:
                    printed.add(finding.message)
                    yield from self._finding(finding, "", indent=8)
        ranked = sorted(members, key=lambda member: (_rank(member[1].severity), member[0].path))
        paths = [other.path or "." for other, _ in ranked]
        names = listing(paths, len(paths) if self._lists_roots else ROOTS_SHOWN)
        all_names = " (--list-roots names all)" if len(paths) > ROOTS_SHOWN and not self._lists_roots else ""
        yield from wrap(
            visible(f"roots: {names}{all_names}"),
            _WIDTH,
            initial_indent=" " * 8,
            subsequent_indent=" " * 15,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _is_worth_a_section(self, root: RootReview) -> bool:
        return _has_something(root) and not self._is_covered_by_its_groups(root)

    def _is_covered_by_its_groups(self, root: RootReview) -> bool:
        configuration = root.configuration
        quiet = not _is_noteworthy(configuration)
        plain = root.status is LockStatus.MODIFIED and not root.findings and root.renamed_from is None and quiet
        return plain and bool(root.changes) and all(change.group in self._shared for change in root.changes)

    def _root(self, root: RootReview) -> Iterator[Line]:
        notes = [words.lock_status_words(root), root.tool.product]
        if root.renamed_from is not None:
            notes.append(words.moved_from_words(root))
        if root.format_only:
            notes.append(words.FORMAT_ONLY)
        yield Painted(root.path or ".", "1"), f"  ({', '.join(notes)})"
        for finding in root.findings:
            yield from self._finding(finding, root.lock_file)
        if root.new.conflict:
            yield from _conflict(root.new.conflict, root.tool)
        width = max((len(_name(change, root.tool)) for change in root.changes), default=0)
        for change in root.changes:
            if change.group in self._shared:
                name = f"{_name(change, root.tool):{width}}"
                yield f"  {words.kind_sign(change.kind):2}       {name}  {words.phrase(change):22} in several roots"
            else:
                yield from self._change(change, root, width)
        if root.configuration is not None:
            yield from _configuration(root.configuration)

    def _change(self, change: Change, root: RootReview, width: int, *, is_shared: bool = False) -> Iterator[Line]:
        severity = change.severity
        word = Painted(f"{severity.upper() if severity else 'ok':5}", _COLOURS[severity])
        summary = f"{words.phrase(change):22} {_kind(change):16} {_hash_counts(change)}"
        line = f" {_name(change, root.tool):{width}}  {summary}".rstrip()
        yield f"  {words.kind_sign(change.kind):2} ", word, line
        if change.moved_from:
            yield f"        moved from {change.moved_from}"
        for finding in change.findings:
            yield from self._finding(finding, "" if is_shared else root.lock_file, indent=8)
        from locklens.review.reports.change_text import evidence_text, required_by_text

        yield from required_by_text(change, root)
        yield from evidence_text(change, self._review, self._unknown)

    def _finding(self, finding: Finding, lock_file: str, indent: int = 2) -> Iterator[Line]:
        word = Painted(f"{finding.severity.upper():5}", _COLOURS[finding.severity])
        place = _place(finding, lock_file)
        message = evidence.without_cause(finding.message, self._unknown)
        shown = f"  ({place})" if place and place not in message else ""
        accepted = f"  accepted: {finding.accepted}" if finding.accepted else ""
        yield f"{' ' * indent}{finding.rule} ", word, f" {message}{shown}{accepted}"

    def _tail(self) -> Iterator[Line]:
        review = self._review
        if hashes := words.hashes_of_review(review):
            yield hashes
        yield from evidence.shared_problem_lines(self._unknown)
        for line in evidence.host_lines(review):
            yield f"registry {line}"
        for note in review.notes:
            yield f"note: {note}"
        checked = [root for root in review.roots if not _has_something(root)]
        if checked:
            yield f"{counted(len(checked), 'root')} checked, no findings"
        yield "verdict: ", Painted(words.verdict_words(review), _COLOURS.get(_severity_named(review.verdict), "32"))


def _rank(severity: Severity | None) -> int:
    return severity.rank if severity else len(Severity)


def _severity_named(verdict: str) -> Severity | None:
    return Severity(verdict) if verdict in {"block", "warn"} else None


def _has_something(root: RootReview) -> bool:
    return bool(
        root.changes
        or root.findings
        or root.format_only
        or root.status is not LockStatus.UNCHANGED
        or root.renamed_from
    ) or _is_noteworthy(root.configuration)


def _is_noteworthy(configuration: Configuration | None) -> bool:
    """True if a configuration has an error, or calls a module that could not be read."""
    return configuration is not None and bool(configuration.problems or configuration.missing_modules)


def _name(change: Change, tool: Dialect) -> str:
    return change.address.short(tool.default_host)


def _place(finding: Finding, lock_file: str) -> str:
    """The place of a finding; only the line in the root's own lock file."""
    if finding.file == lock_file:
        column = f", column {finding.column}" if finding.column is not None else ""
        return f"line {finding.line}{column}" if finding.line is not None else ""
    return finding.file if finding.line is None else f"{finding.file}:{finding.line}"


def _configuration(configuration: Configuration) -> Iterator[str]:
    for problem in configuration.problems:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        kind = "error" if problem.is_error else "warning"
        yield f"  configuration {kind}  {place}  {problem.summary}: {problem.detail}"
    for module in configuration.missing_modules:
        place = f"{module.file}:{module.line}"
        yield f"  {place}  {words.missing_module_words(module)} ({module.source}): {module.reason}"


def _kind(change: Change) -> str:
    """The kind of change, with the part of the version that differs."""
    return f"{change.bump.value} {change.kind.value}" if change.bump is not None else change.kind.value


def _hash_counts(change: Change) -> str:
    parts = []
    if change.added:
        parts.append(count_by_scheme((fact.hash for fact in change.added), sign="+"))
    if change.removed:
        parts.append(count_by_scheme((fact.hash for fact in change.removed), sign="-"))
    return ", ".join((*parts, f"{len(change.kept)} unchanged")) if parts else ""


def _conflict(conflict: Conflict, tool: Dialect) -> Iterator[str]:
    ours, theirs = conflict.ours.by_address, conflict.theirs.by_address
    names = conflict.names
    addresses = sorted({*ours, *theirs})
    width = max((len(address.short(tool.default_host)) for address in addresses), default=0)
    for address in addresses:
        sides = []
        for name, entry in zip(names, (ours.get(address), theirs.get(address)), strict=True):
            state = (
                f"{entry.version} with {counted(len(entry.hashes), 'hash', 'hashes')} (line {entry.line})"
                if entry
                else "not locked"
            )
            sides.append(f"{name}: {state}")
        same = ours.get(address) == theirs.get(address)
        shown = f"both sides: {sides[0].partition(': ')[2]}" if same else "; ".join(sides)
        yield f"  {'=' if same else '<>':2} {address.short(tool.default_host):{width}}  {shown}"
