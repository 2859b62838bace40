"""A review as plain text for terminals and logs: aligned, worst first, and as complete as the screens.

Below a change stands what requires the provider, who signed it, and what its hashes are.
"""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.hashes import count_by_scheme
from locklens.lines import LABEL_WIDTH, Line, Role, Span, line, plain_lines
from locklens.review import reports
from locklens.review.findings import Finding, severity_rank
from locklens.review.model import Change, ChangeKind, LockStatus, Review, RootReview
from locklens.review.reports import evidence_lines
from locklens.review.reports.advisories import advisory_summary
from locklens.review.reports.evidence_lines import (
    each_hash_lines,
    mirror_lines,
    released_lines,
    requirement_lines,
    unreported_problem_lines,
    unrequired_line,
    why_unknown,
)
from locklens.review.reports.findings import remedies, requirements_in_roots, share_words
from locklens.text import Printable, counted, listing, page, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.lockfile import Conflict
    from locklens.project.configuration import Configuration, Requirement

ROOTS_SHOWN = 8
"""The most names of the roots of one change, unless all are asked for."""
_WIDTH = 120


def render(review: Review, *, colour: bool = False, lists_roots: bool = False, fail_on: str | None = None) -> Printable:
    """Return the report; `lists_roots` names every root of a change that several have, else at most ROOTS_SHOWN."""
    return page(_Printer(review, lists_roots=lists_roots, fail_on=fail_on).lines(), colour=colour)


class _Printer:
    def __init__(self, review: Review, *, lists_roots: bool, fail_on: str | None) -> None:
        self._review = review
        self._fail_on = fail_on
        self._lists_roots = lists_roots
        self._unknown = evidence_lines.shared_problems(review.changes)
        counts = Counter(change.id for change in review.changes)
        self._shared = {one for one, count in counts.items() if count > 1}

    def lines(self) -> Iterator[Line | str]:
        yield from self._head()
        for finding in self._review.own_findings:
            yield from self._finding(finding, "")
        for _, section in self._sections():
            yield ""
            yield from section
        yield ""
        failing = remedies(self._review, self._fail_on)
        for one in failing:
            what = f"what to do about {one.rule} ({one.count}): {one.words}"
            yield from wrap(what, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        if failing:
            yield ""
        yield from self._tail()

    def _sections(self) -> list[tuple[tuple[int, bool], Iterator[Line | str]]]:
        """The changes of several roots, then the roots, each worst first; together the worst first.

        As on the screen, roots without changes of their own follow equally bad ones.
        """
        groups = [(members[0][1].severity, self._group(members)) for members in self._shared_groups()]
        sections = [((severity_rank(severity), False), lines) for severity, lines in groups]
        for root in sorted(self._review.roots, key=lambda root: root.path):
            if self._is_worth_a_section(root):
                alone = [change.severity for change in root.changes if change.id not in self._shared]
                severities = [*alone, *(finding.severity for finding in root.findings)]
                rank = min(map(severity_rank, severities), default=severity_rank(None))
                sections.append(((rank, not alone), self._root(root)))
        return sorted(sections, key=lambda section: section[0])

    def _head(self) -> Iterator[str]:
        review = self._review
        base = reports.side_words(review.base)
        head = reports.side_words(review.head)
        yield f"locklens review  {base} -> {head}"
        findings = reports.all_findings_in_words(review) or "no findings"
        yield f"{reports.roots_and_changes(review)}: {findings}"

    def _shared_groups(self) -> list[list[tuple[RootReview, Change]]]:
        """The changes shared by several roots, worst first; in each group the worst root first."""
        groups: dict[str, list[tuple[RootReview, Change]]] = {}
        for root in self._review.roots:
            for change in root.changes:
                if change.id in self._shared:
                    groups.setdefault(change.id, []).append((root, change))
        for members in groups.values():
            members.sort(key=lambda member: severity_rank(member[1].severity))
        return sorted(groups.values(), key=lambda members: severity_rank(members[0][1].severity))

    def _group(self, members: Sequence[tuple[RootReview, Change]]) -> Iterator[Line | str]:
        root, change = members[0]
        yield line(Span(f"In {len(members)} roots", Role.STRONG))
        distinct: dict[str, Finding] = {}
        for finding in (finding for _, same in members for finding in same.findings):
            distinct.setdefault(finding.message, finding)
        found = [(one, share_words(members, one.rule, message)) for message, one in distinct.items()]
        yield from self._change(change, root, 0, requirements_in_roots(members), found)
        ranked = sorted(members, key=lambda member: (severity_rank(member[1].severity), member[0].path))
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
        return plain and bool(root.changes) and all(change.id in self._shared for change in root.changes)

    def _root(self, root: RootReview) -> Iterator[Line | str]:
        is_unread = root.path in root.context.unreviewed
        notes = ["not reviewed"] if is_unread else [reports.root_status_words(root), root.tool.product]
        if root.renamed_from is not None:
            notes.append(reports.moved_from_words(root))
        if root.format_only:
            notes.append(reports.FORMAT_ONLY)
        yield line(Span(root.path or ".", Role.STRONG), f"  ({', '.join(notes)})")
        for finding in root.findings:
            yield from self._finding(finding, root.lock_file)
        if root.new.conflict:
            yield from _conflict(root.new.conflict, root.tool)
        width = max((len(_name(change, root.tool)) for change in root.changes), default=0)
        for change in root.changes:
            if change.id in self._shared:
                name = f"{_name(change, root.tool):{width}}"
                yield f"  {reports.kind_sign(change.kind):2}       {name}  {reports.phrase(change):22} in several roots"
            else:
                yield from self._change(change, root, width, change.required_by)
        if root.configuration is not None:
            yield from _configuration(root.configuration)

    def _change(
        self,
        change: Change,
        root: RootReview,
        width: int,
        required: Sequence[Requirement],
        shared: Sequence[tuple[Finding, str]] | None = None,
    ) -> Iterator[Line | str]:
        """Yield a change: alone with its findings, or of several roots with theirs, and which of them have each."""
        summary = f"{reports.phrase(change):22} {_kind(change):16} {_hash_counts(change)}"
        rest = f" {_name(change, root.tool):{width}}  {summary}".rstrip()
        is_known = change.severity is not None or not change.lacks_facts
        word = reports.severity_span(change.severity, width=5) if is_known else Span(f"{'?':5}", Role.WARN)
        yield line(f"  {reports.kind_sign(change.kind):2} ", word, rest)
        if change.moved_from:
            yield f"        moved from {change.moved_from}"
        own = [(finding, "") for finding in change.findings]
        for finding, share in own if shared is None else shared:
            yield from self._finding(finding, root.lock_file if shared is None else "", share, indent=8)

        if summary := advisory_summary(change.advisories):
            yield from wrap(f"advisories: {summary}", _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 20)
        yield from _required_by_text(required, change, root)
        yield from evidence_text(change, self._review, self._unknown)

    def _finding(self, finding: Finding, lock_file: str, share: str = "", *, indent: int = 2) -> Iterator[Line | str]:
        place = _place(finding, lock_file)
        message = evidence_lines.without_cause(finding.message, self._unknown)
        shown = f"  ({place})" if place and place not in message else ""
        accepted = f"  accepted: {finding.accepted}" if finding.accepted else ""
        word = reports.severity_span(finding.severity, width=5)
        of = f"  {share}" if share else ""
        yield line(f"{' ' * indent}{finding.rule} ", word, f" {message}{shown}{of}{accepted}")

    def _tail(self) -> Iterator[Line | str]:
        review = self._review
        if hashes := reports.hashes_of_review(review):
            yield hashes
        yield from evidence_lines.shared_problem_lines(self._unknown, self._review.changes)
        for host in evidence_lines.host_lines(review):
            yield f"registry {host}"
        if words := reports.left_out_words(review):
            yield words
        if words := reports.unjudged_words(review):
            yield words
        for note in review.notes:
            yield f"note: {note}"
        checked = [root for root in review.roots if not _has_something(root)]
        if checked:
            yield f"{counted(len(checked), 'root')} checked, no findings"
        yield line("verdict: ", Span(reports.verdict_words(review), reports.VERDICT_ROLES[review.verdict]))
        if words := reports.exit_words(review, self._fail_on):
            yield words


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
    return finding.place


def _configuration(configuration: Configuration) -> Iterator[str]:
    for problem in configuration.problems:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        kind = "error" if problem.is_error else "warning"
        yield f"  configuration {kind}  {place}  {problem.summary}: {problem.detail}"
    for module in configuration.missing_modules:
        place = f"{module.file}:{module.line}"
        yield f"  {place}  {reports.missing_module_words(module)} ({module.source}): {module.reason}"


def _kind(change: Change) -> str:
    return f"{change.bump.value} {change.kind.value}" if change.bump is not None else change.kind.value


def _hash_counts(change: Change) -> str:
    parts = []
    if change.added:
        parts.append(count_by_scheme((fact.hash for fact in change.added), sign="+"))
    if change.removed:
        parts.append(count_by_scheme((fact.hash for fact in change.removed), sign="-"))
    return ", ".join((*parts, f"{len(change.kept)} unchanged")) if parts else ""


def _conflict(conflict: Conflict, tool: Dialect) -> Iterator[str]:
    pairs = conflict.pairs
    width = max((len(address.short(tool.default_host)) for address, *_ in pairs), default=0)
    for address, *sides in pairs:
        states = (
            f"{name}: {entry.version} with {counted(len(entry.hashes), 'hash', 'hashes')}" if entry else f"{name}: none"
            for name, entry in zip(conflict.names, sides, strict=True)
        )
        yield f"  <> {address.short(tool.default_host):{width}}  {'; '.join(states)}"
    others = len(conflict.ours.by_address.keys() | conflict.theirs.by_address.keys()) - len(pairs)
    if others:
        yield f"  {counted(others, 'other provider')} without a conflict"


_SAME_VERSION = {
    ChangeKind.NEW_HASHES,
    ChangeKind.REMOVED_HASHES,
    ChangeKind.CHANGED_HASHES,
    ChangeKind.REPLACED_HASHES,
}
_REQUIREMENTS_SHOWN = 8
_INDENT = 8


def _required_by_text(required: Sequence[Requirement], change: Change, root: RootReview) -> Iterator[str]:
    """Yield the places of the configuration that require a provider; the first of many."""
    lines = [each for one in required[:_REQUIREMENTS_SHOWN] for each in requirement_lines(one)]
    if not lines:
        if root.configuration is None or not root.configuration.has_files:
            return
        lines.append(unrequired_line(change, root.configuration))
    hidden = len(required) - _REQUIREMENTS_SHOWN
    if hidden > 0:
        lines.append(line(f"  {counted(hidden, 'more place')}"))
    printed = plain_lines(lines, indent=" " * (_INDENT + LABEL_WIDTH - 2))
    for label, text in zip_longest(["REQUIRED BY"], printed, fillvalue=""):
        yield f"{'':{_INDENT}}{label:{LABEL_WIDTH}}{text[_INDENT + LABEL_WIDTH :]}"


def evidence_text(change: Change, review: Review, shared: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Yield the signers, the unknown facts that no finding reports, and each hash that differs in the same version."""
    old, new, neighbour = change.old_signer, change.new_signer, change.neighbour_signer
    lines: list[Line] = []
    if change.new is not None and (old or new or neighbour):
        from locklens.review.reports.lock_lines import signer_change_lines

        why, pin = why_unknown(change, review, is_asking=False), review.policy.pin(change.address)
        lines += signer_change_lines(old, new, unknown=why, neighbour=neighbour, pin=pin)
    lines += released_lines(change, review.policy)
    lines += mirror_lines(change)
    lines += unreported_problem_lines(change, shared)
    if change.kind in _SAME_VERSION:
        lines += each_hash_lines(replace(change, kept=()), is_asking=False, in_full=True)
    yield from plain_lines(lines, indent=" " * _INDENT)
