"""The detail of a row of the review, as lines with roles: a change, a group of changes, a root, a conflict, a diff.

The widget wraps and colours.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from locklens.hashes import count_by_scheme
from locklens.lines import FilePlace, Line, Role, Span, heading, line
from locklens.operations.plan.diffs import entries_bytes, file_diff_lines, part_diff_lines
from locklens.policy import POLICY_FILE
from locklens.review.findings import severity_rank
from locklens.review.reports import (
    file_note,
    folder_before,
    lock_status_words,
    missing_module_words,
    phrase,
    severity_span,
)
from locklens.review.reports.advisories import advisory_section
from locklens.review.reports.evidence_lines import (
    evidence_lines,
    hash_lines,
    host_words,
    page_lines,
    released_lines,
    requirement_lines,
    unrequired_line,
    why_unknown,
)
from locklens.review.reports.lock_lines import signer_change_lines
from locklens.review.rules.catalogue import RULES, RuleWording, wording_of
from locklens.text import counted, listing
from locklens.ui.clipboard import change_copied, finding_copied
from locklens.ui.phrases import kind_in_short, what_happened
from locklens.ui.review.outline import ConflictPair, Node, NodeKind, RootChange, collected
from locklens.ui.review.rows import constraints_of, own_words, row_differences, side_in_short, state_of_change
from locklens.ui.shell.bars import note_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from locklens.policy import Policy
    from locklens.project.configuration import Configuration
    from locklens.review.findings import Accepted, Finding
    from locklens.review.model import Change, Review, RootReview

_LABEL = 13
_ABSENT = "-"
_OTHER_WORDS = 3
"""Other words of one finding that a group lists."""


def detail_lines(node: Node, review: Review, *, in_full: bool = False, is_asking: bool = False) -> tuple[Line, ...]:
    """Return the detail of a row."""
    match node.kind:
        case NodeKind.SECTION:
            lines = (
                root_lines(node, in_full=in_full, is_asking=is_asking) if node.root is not None else section_lines(node)
            )
            return (*lines, *asked_lines(review, is_asking=is_asking))
        case NodeKind.CHANGE | NodeKind.MEMBER:
            return tuple(_change_lines(node.subjects[0], review, in_full=in_full, is_asking=is_asking))
        case NodeKind.GROUP:
            return tuple(_group_lines(node, review, in_full=in_full, is_asking=is_asking))
        case NodeKind.FINDING if node.finding is not None:
            where = _where(".", POLICY_FILE, None)
            if node.root is not None:
                where = _where(node.root.path, node.root.lock_file, None)
            return (where, Line(), *finding_lines(node.finding, in_full=True))
        case NodeKind.CONFLICT if node.pair is not None:
            return tuple(_conflict_lines(node, node.pair))
        case NodeKind.NOTE | NodeKind.FINDING | NodeKind.CONFLICT:
            return tuple(root_lines(node, in_full=in_full, is_asking=is_asking))
        case _:
            assert_never(node.kind)


def _where(path: str, lock_file: str, number: int | None) -> Line:
    place = FilePlace(lock_file, number or 1)
    shown = str(place) if number else lock_file
    return line(Span(shown, Role.PLACE), copied=path or ".", place=place)


def _change_lines(subject: RootChange, review: Review, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    change = subject.change
    entry = change.new or change.old
    yield line(Span(str(change.address), Role.STRONG), copied=change_copied(change))
    yield _where(subject.root.path, subject.root.lock_file, entry.line if entry else None)
    yield Line()
    yield line(what_happened(change))
    if change.findings:
        yield from heading("FINDINGS")
        for own in one_of_each_rule(change.findings):
            yield from finding_lines(*own, in_full=in_full)
            yield from _pending_lines(own[0], [subject], review)
    yield Line()
    yield from _entry_lines(change, policy=review.policy)
    yield from _signer_lines(change, review, is_asking=is_asking)
    yield from evidence_lines(change, review, is_asking=is_asking)
    yield from advisory_section(change.advisories)
    yield from _requirement_lines(subject, in_full=in_full)
    yield from hash_lines(change, is_asking=is_asking, in_full=in_full)


def _group_lines(node: Node, review: Review, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    first = node.subjects[0]
    change = first.change
    yield line(Span(str(change.address), Role.STRONG), copied=change_copied(change))
    variants = _variants(node)
    roots = counted(len(node.children), "root")
    if len(variants) == 1:
        yield line(f"The same change in {roots}: one decision, one mark.")
    else:
        yield line(f"The same packages in {roots}, in {len(variants)} variants: each has a mark of its own.", hanging=2)
    yield Line()
    yield line(what_happened(change, *(members[0].change for members in variants)))
    unlike = row_differences(node)
    if unlike:
        yield line(Span("The roots differ: ", Role.WARN), f"{', '.join(unlike)}, as listed below.", hanging=2)
    found: dict[tuple[str, Accepted | None], list[tuple[Finding, RootChange]]] = {}
    for subject in node.subjects:
        for key, finding in {(one.rule, one.accepted): one for one in reversed(subject.change.findings)}.items():
            found.setdefault(key, []).append((finding, subject))
    if found:
        yield from heading("FINDINGS")
        for (_, accepted), own in sorted(found.items(), key=lambda one: (min(map(_worst, one[1])), bool(one[0][1]))):
            # In the words of the root where it is worst, as all that the roots do not share.
            finding, worst = min(own, key=_worst)
            (alike,) = (one for one in one_of_each_rule(worst.change.findings) if finding in one)
            yield from finding_lines(*alike, in_full=in_full, hit=f"in {len(own)} of {len(node.subjects)}")
            yield from _other_words(finding, [one for one, _ in own], in_full=in_full)
            if accepted is None:
                yield from _pending_lines(finding, [subject for _, subject in own], review)
    yield Line()
    yield from _entry_lines(*(subject.change for subject in node.subjects), policy=review.policy)
    yield from _signer_lines(change, review, is_asking=is_asking)
    if len(variants) > 1:
        yield Line()
        yield line(Span(f"As in {first.root.path or '.'}:", Role.DIM))
    yield from evidence_lines(change, review, is_asking=is_asking)
    yield from advisory_section(change.advisories)
    yield from heading(f"IN {counted(len(node.children), 'ROOT').upper()}")
    yield from _member_lines(node, unlike, is_asking=is_asking)
    for members in variants:
        if len(variants) > 1:
            more = f" and {counted(len(members) - 1, 'other root')}" if len(members) > 1 else ""
            yield Line()
            yield line(Span(f"As in {members[0].root.path or '.'}{more}:", Role.DIM))
        yield from hash_lines(members[0].change, is_asking=is_asking, in_full=in_full)


def _other_words(shown: Finding, found: Iterable[Finding], *, in_full: bool) -> Iterator[Line]:
    """What a finding says in other roots of a group than the shown one, by the number of these roots."""
    others = Counter(one.message for one in found if one.message != shown.message)
    listed = others.most_common(None if in_full else _OTHER_WORDS)
    for message, number in listed:
        yield line(f"       in {number} of them: {message}", hanging=7)
    if more := len(others) - len(listed):
        yield line(Span(f"       and in {counted(more, 'other wording')}, which x lists", Role.DIM), hanging=7)


def _member_lines(node: Node, unlike: tuple[str, ...], *, is_asking: bool) -> Iterator[Line]:
    """The roots of a group: those with words of their own first, then others below the words that they share."""
    alike = collected(node.children, lambda child: own_words(child.subjects[0].change, unlike))
    for words, children in sorted(alike.items(), key=lambda one: len(one[1])):
        is_shared = len(children) > 1
        if is_shared and words:
            number = "all" if len(alike) == 1 else str(len(children))
            yield line(Span(f"  {number}: {words}", Role.DIM), hanging=4)
        for child in children:
            member = child.subjects[0]
            entry = member.change.new or member.change.old
            place = FilePlace(member.root.lock_file, entry.line if entry else 1)
            note = Span("" if is_shared else f"  {words}", Role.DIM)
            state = state_of_change(member.root, member.change, is_asking=is_asking)
            lead = " ", state, " ", Span(child.title, Role.PLACE)
            yield line(*lead, note, hanging=8, copied=child.title, place=place)


def _variants(node: Node) -> list[list[RootChange]]:
    """The changes of a group by their ids, the worst first: those of one group may differ in h1 and constraints."""
    return sorted(collected(node.subjects, lambda subject: subject.change.id).values(), key=_rank)


def _rank(subjects: Iterable[RootChange]) -> tuple[int, ...]:
    """The order of some changes by their findings that count, one of each rule: the worst, then the next, first."""
    found = (one for subject in subjects for one in subject.change.findings if one.accepted is None)
    ranks = {(one.rule, one.severity.rank) for one in found}
    return (*sorted(rank for _, rank in ranks), severity_rank(None))


def one_of_each_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings about one change, the worst first; those of one rule together, which count as one."""
    ordered = sorted(findings, key=_worst_first)
    return [*collected(ordered, lambda one: (one.rule, one.severity, one.accepted)).values()]


def finding_lines(finding: Finding, *others: Finding, in_full: bool, hit: str = "") -> Iterator[Line]:
    """A finding with its place, and others of its rule; in full also the meaning of the rule and the remedy."""
    rule = RULES.get(finding.rule)
    words = wording_of(finding) if rule else RuleWording("", "")
    place = FilePlace(finding.file, finding.line) if finding.line is not None else None
    spans = [
        Span(" "),
        severity_span(finding.severity, width=6),
        Span(finding.rule, Role.STRONG),
        Span(f"  {words.title}"),
    ]
    if hit:
        spans.append(Span(f"  {hit}", Role.DIM))
    yield line(*spans, hanging=14, copied=finding_copied(finding), place=place)
    yield line(f"       {finding.message}", hanging=7)
    if finding.file:
        yield line("       ", Span(str(place) if place else finding.file, Role.PLACE), hanging=7)
    for other in others:
        where = FilePlace(other.file, other.line) if other.line is not None else None
        yield line(f"       {other.message}", hanging=7, copied=finding_copied(other), place=where)
        yield line("       ", Span(str(where or other.file), Role.PLACE), hanging=7)
    if finding.accepted is not None:
        word = "not counted" if finding.accepted.already_in else "accepted"
        yield line(Span(f"       {word}: {finding.accepted}", Role.GOOD), hanging=7)
    if in_full and rule is not None:
        meaning, why = words.meaning or rule.meaning, words.why or rule.why
        for label, text in (("means", meaning), ("matters", why), ("check", rule.check), ("do", words.remedy)):
            yield line("       ", Span(label.ljust(9), Role.DIM), text, hanging=16)
    elif rule is not None and finding.accepted is None:
        yield line("       ", Span(f"-> {words.remedy}", Role.DIM), hanging=10)


def _pending_lines(finding: Finding, subjects: Sequence[RootChange], review: Review) -> Iterator[Line]:
    """An acceptance of a finding that only the new side's policy has, with its place."""
    pending = {one.key: one for one in review.pending}
    keys = [(finding.rule, str(subject.change.address), subject.change.id) for subject in subjects]
    found = [pending[key] for key in keys if key in pending]
    if not found:
        return
    first, partly = found[0], f" in {len(found)} of {len(subjects)}" if len(found) < len(subjects) else ""
    details = ", ".join(filter(None, (first.by, f"until {first.until}" if first.until is not None else "")))
    place = FilePlace(POLICY_FILE, first.line)
    words = f"pending acceptance{partly}: {first.reason}{f' ({details})' if details else ''}"
    yield line(Span(f"       {words}", Role.WARN), hanging=7, copied=first.reason, place=place)
    yield line("       ", Span(f"{place}: counts once it is committed on the base", Role.DIM), hanging=7)


def _worst_first(finding: Finding) -> tuple[int, str]:
    return finding.severity.rank, finding.rule


def _worst(found: tuple[Finding, RootChange]) -> tuple[int, str]:
    return _worst_first(found[0])


def _labelled(label: str, *spans: Span | str) -> Line:
    return line(Span(label.ljust(_LABEL), Role.HEADING), *spans, hanging=_LABEL)


def _entry_lines(*changes: Change, policy: Policy) -> Iterator[Line]:
    """Versions and constraints of the same change in one or more roots; where roots differ, those of each kind."""
    versions = [tuple(str(side.version) if side else _ABSENT for side in (one.old, one.new)) for one in changes]
    for label, values in (("VERSION", versions), ("CONSTRAINTS", list(map(constraints_of, changes)))):
        for number, ((before, after), roots) in enumerate(Counter(values).most_common()):
            where = Span(f"  in {counted(roots, 'root')}" if roots < len(changes) else "", Role.DIM)
            name = "" if number else label
            if before == after:
                yield _labelled(name, after, Span("  unchanged", Role.DIM), where)
            elif _ABSENT in (before, after):
                shown = Span(f"new: {after}", Role.ADDED) if before == _ABSENT else Span(before, Role.REMOVED)
                yield _labelled(name, shown, "  removed" if after == _ABSENT else "", where)
            else:
                yield _labelled(name, Span(before, Role.REMOVED), " -> ", Span(after, Role.ADDED), where)
    first = changes[0]
    yield from released_lines(first, policy)
    if first.new is not None:
        source = first.evidence.source if first.evidence is not None else ""
        yield from page_lines(first.address, str(first.new.version), source)


def _signer_lines(change: Change, review: Review, *, is_asking: bool) -> Iterator[Line]:
    if change.new is not None:
        why, pin = why_unknown(change, review, is_asking=is_asking), review.policy.pin(change.address)
        old, new, neighbour = change.old_signer, change.new_signer, change.neighbour_signer
        yield from signer_change_lines(old, new, unknown=why, neighbour=neighbour, pin=pin)


def _requirement_lines(subject: RootChange, *, in_full: bool) -> Iterator[Line]:
    yield from heading("REQUIRED BY")
    configuration = subject.root.configuration
    if configuration is None:
        yield line(Span("  configuration not read yet", Role.DIM))
        return
    if not configuration.has_files:
        yield line(Span(f"  unknown: {configuration.unknown_reason}", Role.DIM))
        return
    for requirement in subject.change.required_by:
        yield from requirement_lines(requirement)
    missing = configuration.missing_modules
    yield from missing_module_lines(configuration, indent=2, in_full=in_full)
    if not subject.change.required_by and not missing:
        yield unrequired_line(subject.change, configuration)


def _contents_words(node: Node) -> str:
    """The numbers of changes, conflicts and findings of a section, and of the roots that have them."""
    counting = [child for child in node.children if child.kind is not NodeKind.NOTE] or node.children
    roots = {root.path for child in counting for root in child.roots}
    findings = [child for child in node.children if child.finding is not None]
    of_roots = sum(child.root is not None for child in findings)
    numbers = {
        "change": len(node.subjects),
        "conflict": sum(child.pair is not None for child in node.children),
        "root-level finding": of_roots,
    }
    found = ", ".join(counted(number, noun) for noun, number in numbers.items() if number)
    words = [f"{found or 'no change'} in {counted(len(roots), 'root')}"] if roots else []
    if own := len(findings) - of_roots:
        words.append(f"{counted(own, 'finding')} about the policy")
    return ", ".join(words)


def _conflict_lines(node: Node, pair: ConflictPair) -> Iterator[Line]:
    root = node.root
    names = {"ours": "ours", "theirs": "theirs"}
    yield line(Span(str(pair.address), Role.STRONG), copied=str(pair.address))
    if root is not None and root.new.conflict is not None:
        marker = root.new.conflict.markers[0] if root.new.conflict.markers else None
        yield _where(root.path, root.lock_file, marker.line if marker else None)
        labels = zip(names, root.new.conflict.names, strict=True)
        names = {side: label if f"({side})" in label else f"{side} {label}".strip() for side, label in labels}
    yield Line()
    yield line("Unresolved git conflict: the two sides lock this provider differently. Resolve it to compare.")
    for side, entry in (("ours", pair.ours), ("theirs", pair.theirs)):
        yield from heading(names[side])
        yield line(f"  version      {side_in_short(pair, side)}", copied=side_in_short(pair, side))
        if entry is not None:
            yield line(f"  constraints  {entry.constraints or 'none'}", hanging=15)
            yield line(f"  hashes       {count_by_scheme(entry.hashes) or 'none'}")
    if pair.ours is not None and pair.theirs is not None:
        both = set(pair.ours.hashes) & set(pair.theirs.hashes)
        yield Line()
        yield line(f"{counted(len(both), 'hash', 'hashes')} on both sides.")


_ROOT_LABEL = 15
_MODULES_SHOWN = 3


def _root_fact(label: str, *spans: Span | str, place: FilePlace | None = None) -> Line:
    return line(Span(label.ljust(_ROOT_LABEL), Role.HEADING), *spans, hanging=_ROOT_LABEL, place=place)


def root_lines(node: Node, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    """A root: its lock file, configuration, findings and changes."""
    root = node.root
    if root is None:
        return
    yield line(Span(root.path or ". (top folder)", Role.STRONG), copied=root.path or ".")
    yield Line()
    yield _root_fact(
        "LOCK FILE",
        Span(root.lock_file, Role.PLACE),
        f"  {lock_status_words(root)}",
        place=FilePlace(root.lock_file, 1),
    )
    if root.renamed_from is not None:
        yield _root_fact("MOVED FROM", folder_before(root))
    if root.context.callers:
        roots = counted(root.context.callers, "root")
        yield _root_fact(
            "CALLED BY", f"{roots}, as a module: the lock file counts only where a tool runs in this folder"
        )
    yield _root_fact("TOOL", root.tool.product)
    if root.is_removed:
        yield _root_fact("CONFIGURATION", "none: this is no root any more")
    else:
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
    """The modules whose requirements are unknown, and what fetches them; the first `_MODULES_SHOWN` unless in full."""
    missing, get = configuration.missing_modules, f"`{configuration.dialect.command} get`"
    shown = missing if in_full or len(missing) <= _MODULES_SHOWN else missing[: _MODULES_SHOWN - 1]
    for module in shown:
        gap = missing_module_words(module)
        yield line(" " * indent, Span(gap, Role.WARN), hanging=indent + 2, place=FilePlace(module.file, module.line))
    if len(shown) < len(missing):
        more = f"{len(missing) - len(shown)} more"
        gap = f"{more} not fetched: x lists them, {get} fetches them"
        if not all(module.is_fetchable for module in missing[len(shown) :]):
            gap = f"{more} not read: x lists them"
        yield line(" " * indent, Span(gap, Role.WARN), hanging=indent + 2)
    elif number := sum(module.is_fetchable for module in missing):
        yield line(" " * indent, Span(f"{get} fetches {'it' if number == 1 else 'them'}", Role.DIM), hanging=indent + 2)


def _configuration_lines(configuration: Configuration | None, *, in_full: bool) -> Iterator[Line]:
    if configuration is None:
        yield _root_fact("CONFIGURATION", Span("not read yet", Role.DIM))
        return
    partly = "all but the state" if configuration.lacks_state_alone else "incomplete"
    state = "complete" if configuration.complete else partly
    files = counted(len(configuration.files), "file")
    yield _root_fact("CONFIGURATION", f"{state}, {files} read", Span("  without init", Role.DIM))
    yield from missing_module_lines(configuration, indent=_ROOT_LABEL, in_full=in_full)
    for reading in (configuration.state, *configuration.other_states):
        if reading.kind in {"remote", "unreadable"}:
            yield line(" " * _ROOT_LABEL, Span(f"not read: {reading.detail}", Role.WARN), hanging=_ROOT_LABEL)
    for problem in configuration.problems:
        role = Role.WARN if problem.is_error else Role.DIM
        place = FilePlace(problem.file, problem.line or 1)
        message = f"{problem.summary}: {problem.detail}"
        yield line(
            " " * _ROOT_LABEL, Span(f"{place} ", Role.PLACE), Span(message, role), hanging=_ROOT_LABEL, place=place
        )


def _root_findings(root: RootReview, *, in_full: bool) -> Iterator[Line]:
    if not root.findings:
        return
    yield from heading("ROOT-LEVEL FINDINGS")
    for finding in root.findings:
        place = FilePlace(finding.file, finding.line) if finding.line is not None else None
        spans = (" ", severity_span(finding.severity, width=6), Span(finding.rule, Role.STRONG), f"  {finding.message}")
        yield line(*spans, hanging=14, copied=finding_copied(finding), place=place)
        if in_full and finding.rule in RULES:
            yield line(" " * 14, Span(f"-> {wording_of(finding).remedy}", Role.DIM), hanging=17)


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
        yield line(Span("  none asked", Role.DIM))
    yield from note_section(review.notes)


def section_lines(node: Node) -> Iterator[Line]:
    """A section that is not a root."""
    yield line(Span(node.title, Role.STRONG), copied=node.title)
    yield Line()
    if node.key == "section:policy":
        yield line(f"Findings about the policy: {POLICY_FILE} differs between the sides.")
        return
    if node.key == "section:shared":
        yield line("Each row is one change in several roots: same provider, same versions, same zh hashes.")
        yield line("Marking it reviews it in all of the roots; l unfolds the roots.")
        return
    yield line(f"{_contents_words(node)}.")
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


def no_diff_words(node: Node | None, review: Review | None) -> str:
    """The reason why a row has no diff, and what to do instead."""
    if review is None or node is None or node.finding is None or node.root is not None:
        return "no difference in the lock file here"
    if review.head.kind == "worktree":
        return f"diff: the finding is about {POLICY_FILE}, not a lock file; e opens it"
    sides = [(side.revision or "--cached")[:_ID_SHOWN] for side in (review.base, review.head)]
    return f"no lock file: git diff {' '.join(sides)} -- {POLICY_FILE} shows it"


_ID_SHOWN = 12


def has_diff(node: Node) -> bool:
    """True if the two sides of a row differ."""
    if node.pair is not None or node.root is None or node.change is not None:
        return node.pair is not None or any(subject.change.old != subject.change.new for subject in node.subjects)
    return node.root.new.conflict is not None or node.root.old.data != node.root.new.data


def row_diff_lines(node: Node) -> tuple[Line, ...]:
    """Return the diff of a row's changes; () without differences.

    The same diff in several roots is shown once, with their names, and the one with the worst findings first.
    """
    if node.root is not None and node.change is None and node.pair is None:
        root = node.root
        conflict = root.new.conflict
        if conflict is not None and not conflict.markers:
            # The index has both sides and no file that the old side could be compared with.
            return tuple(part_diff_lines(_both_sides(root), conflict.ours.data, conflict.theirs.data))
        return tuple(file_diff_lines(root.lock_file, root.old.data, root.new.data))
    if node.pair is not None and node.root is not None:
        ours, theirs = entries_bytes([node.pair.ours]), entries_bytes([node.pair.theirs])
        return tuple(part_diff_lines(_both_sides(node.root), ours, theirs))
    alike: dict[tuple[bytes, bytes, bool, bool], list[list[RootChange]]] = {}
    for changed in collected(node.subjects, lambda subject: subject.root.lock_file).values():
        old, new = (entries_bytes(getattr(one.change, side) for one in changed) for side in ("old", "new"))
        if old != new:
            root = changed[0].root
            alike.setdefault((old, new, root.old.exists, root.new.exists), []).append(changed)
    return tuple(_diffs_of_roots(alike))


def _diffs_of_roots(alike: Mapping[tuple[bytes, bytes, bool, bool], list[list[RootChange]]]) -> Iterator[Line]:
    """Each different diff, below the names of its roots where there are several of the row."""
    is_single = sum(map(len, alike.values())) == 1
    for (old, new, *_), files in sorted(alike.items(), key=lambda one: min(map(_rank, one[1]))):
        roots = [changed[0].root for changed in files]
        if not is_single:
            names = listing([root.path or "." for root in roots], _ROOTS_NAMED)
            lead = f"The same in {len(roots)} roots: " if len(roots) > 1 else "In "
            yield line(Span(lead, Role.DIM), Span(names, Role.PLACE), hanging=2)
        yield from part_diff_lines(_file_names(roots[0]), old, new)


_ROOTS_NAMED = 3
"""Roots with the same diff that are named."""


def _file_names(root: RootReview) -> tuple[str, str]:
    """Return the lock file as a diff names its sides: a file that a side lacks is /dev/null, whatever the entry is."""
    old, new = (lock.exists for lock in (root.old, root.new))
    return f"a/{root.lock_file}" if old else "/dev/null", f"b/{root.lock_file}" if new else "/dev/null"


def _both_sides(root: RootReview) -> tuple[str, str]:
    return f"ours/{root.lock_file}", f"theirs/{root.lock_file}"
