"""The reasons for a provider: its requirements, its lock entry and the versions held back.

The text report prints these lines and the Why dialog shows them: each fact is worded once, here or in
`locklens.review.why`. In the report, roots that read the same share a section, blocking ones first. Everywhere
`is_asking` is true while the registry's answer is outstanding; `shared` reasons of silent registries are left out.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.lines import (
    LABEL_WIDTH,
    FilePlace,
    Line,
    Role,
    Span,
    labelled,
    line,
    plain_lines,
    seen_from,
    words_seen_from,
)
from locklens.project.configuration import constraint_place
from locklens.review.findings import severity_rank, worst
from locklens.review.reports import severity_span
from locklens.review.reports.evidence_lines import clock
from locklens.review.why import (
    HELD_BACK,
    NAMES_SHOWN,
    NOT_HELD,
    alike,
    finding_title,
    kind_words,
    module_names,
    newest_words,
    silence_words,
    target_words,
    unrequired_words,
    unseen_words,
    upgrade_words,
    uses_words,
    version_range,
)
from locklens.selection import Selection
from locklens.text import Printable, age_words, counted, listing, page

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from locklens.lockfile import LockEntry
    from locklens.project.configuration import Configuration, Requirement
    from locklens.review.why import RootWhy, Why
    from locklens.selection import ConstraintConflict, HeldBack, Hold, RequiringModule, Unselectable, VersionChoices


def why_lines(why: Why, *, is_asking: bool = False) -> Iterator[Line]:
    """Yield the explanation of each root, conflicts first; of roots with the same text, once.

    Places of several roots with the same text are relative to each root, and open the files of the first one.
    """
    for number, (roots, lines) in enumerate(why_blocks(why, is_asking=is_asking)):
        if number:
            yield Line()
        yield block_head(roots)
        yield from lines


def why_blocks(
    why: Why, *, is_asking: bool = False, shared: Container[str] = ()
) -> list[tuple[list[RootWhy], list[Line]]]:
    """Return the lines of each root, worst first, with all roots whose lines read the same."""
    blocks: dict[tuple[str, ...], tuple[list[RootWhy], list[Line]]] = {}
    for root in ranked_roots(why):
        lines = list(root_why_lines(root, root.path, is_asking=is_asking, shared=shared))
        key = str(root.explanation.address), root.tool.product, *(each.text for each in lines)
        blocks.setdefault(key, ([], lines))[0].append(root)
    # The paths of one root are shown in full, so that they can be opened from where they are read.
    return [
        (roots, lines if len(roots) > 1 else list(root_why_lines(roots[0], "", is_asking=is_asking, shared=shared)))
        for roots, lines in blocks.values()
    ]


def ranked_roots(why: Why) -> list[RootWhy]:
    """Return the roots, those with conflicts first, then by their worst finding."""
    return sorted(why.roots, key=lambda root: (_rank(root), root.path))


def _rank(root: RootWhy) -> int:
    return -1 if root.explanation.conflicts else severity_rank(worst(root.findings))


def block_head(roots: Sequence[RootWhy], *, address: str = "", limit: int = NAMES_SHOWN) -> Line:
    """Build the line above a block: its roots, the address where no title has it, and the tool."""
    tool = Span(f"  {address}  ({roots[0].tool.product})" if address else f"  ({roots[0].tool.product})", Role.DIM)
    names = Span(listing([root.path or "." for root in roots], limit), Role.STRONG)
    spans = (
        (names, tool) if len(roots) == 1 else (Span(f"{len(roots)} roots alike, each as ./"), tool, Span(": "), names)
    )
    return line(*spans, hanging=2)


def root_why_lines(
    root: RootWhy, folder: str, *, is_asking: bool = False, shared: Container[str] = ()
) -> Iterator[Line]:
    """Yield the explanation of one root; places are relative to its folder, or for "" to the repository's top."""
    explanation = root.explanation
    for finding in root.findings:
        if finding.rule == "LK019":
            place = FilePlace(finding.file, finding.line or 1)
            message = f"  {words_seen_from(finding.message, folder)}"
            yield _fact("UNREADABLE", Span(place.seen_from(folder), Role.PLACE), message, place=place)
    for conflict in explanation.conflicts:
        yield from _conflict_lines(conflict, root.configuration, folder)
    yield from _locked_lines(root, folder)
    if explanation.requirements:
        unread = bool(root.configuration.unknown_constraints)
        none = "none that can be read" if unread else "none: any release satisfies"
        constraints = str(explanation.constraints) or none
        yield _fact("CONSTRAINTS", constraints, copied=constraints)
        if explanation.is_recorded:
            reason = words_seen_from(root.configuration.unknown_reason, folder)
            recorded = "recorded" if str(explanation.constraints) else "none recorded"
            yield _fact("", Span(f"{recorded} in the lock file: {reason}", Role.DIM))
        if not explanation.conflicts and str(explanation.essential) != str(explanation.constraints):
            essential = str(explanation.essential) or "any release"
            yield _fact("", Span("in effect: ", Role.DIM), essential, copied=essential)
    yield from _registry_lines(root, folder, is_asking=is_asking, shared=shared)
    newer = explanation.offer.newer if explanation.offer is not None else ()
    yield from _asker_lines(root, newer, folder)
    listed = [finding for finding in root.findings if finding.rule != "LK019"]
    for number, finding in enumerate(listed):
        place = FilePlace(finding.file, finding.line or 1)
        spans = severity_span(finding.severity), f" {finding.rule}  {finding_title(finding)}"
        yield _fact("FINDINGS" if not number else "", *spans, place=place, copied=finding.rule)


_fact = partial(labelled, hanging=LABEL_WIDTH + 2)
"""Build a line with a label."""


def _conflict_lines(conflict: ConstraintConflict, configuration: Configuration, folder: str) -> Iterator[Line]:
    sentence = "no version can satisfy " + ("this" if len(conflict) == 1 else "these together")
    yield _fact("CONFLICT", Span(sentence, Role.BLOCK))
    width = max(len(str(demand.term)) for demand in conflict)
    for demand in conflict:
        term = str(demand.term)
        yield from _term_lines(term, demand.requirements, configuration, folder, width=width)


def _term_lines(
    term: str,
    requirements: Iterable[Requirement],
    configuration: Configuration,
    folder: str,
    *,
    width: int = 0,
    indent: str = "",
) -> Iterator[Line]:
    """A constraint, a line for each of its places; those in a module with several calls once."""
    places: dict[FilePlace, list[str]] = {}
    for one in requirements:
        places.setdefault(constraint_place(one), []).append(one.module)
    width = max(width, len(term))
    for number, (place, modules) in enumerate([*places.items()][:NAMES_SHOWN]):
        shown = indent + (" " * width if number else term.ljust(width))
        names = f"  {module_names(modules, configuration)}" if any(modules) else ""
        spans = Span(place.seen_from(folder), Role.PLACE), Span(names, Role.DIM)
        yield _fact("", f"{shown}  ", *spans, copied=term, place=place)
    if len(places) > NAMES_SHOWN:
        yield _fact("", f"{indent}{' ' * width}  and {len(places) - NAMES_SHOWN} more places")


# The locked entry


def _locked_lines(root: RootWhy, folder: str) -> Iterator[Line]:
    explanation = root.explanation
    entry = explanation.locked
    if root.tool.is_builtin(explanation.address):
        yield _fact("LOCKED", f"never: built into {root.tool.product}")
    elif root.lock_file is None:
        yield _fact("LOCKED", Span("no: there is no lock file", Role.WARN))
    elif entry is None and not root.is_read:
        yield _fact("LOCKED", Span("unknown: the lock file cannot be read", Role.WARN))
    elif entry is None:
        place = FilePlace(root.lock_file, 1)
        missing = f"no entry in {seen_from(place.file, folder)}: `{root.tool.command} init` adds it"
        yield _fact("LOCKED", Span(missing, Role.WARN), place=place)
    else:
        yield from _entry_lines(root, entry, FilePlace(root.lock_file, entry.line), folder)


def _entry_lines(root: RootWhy, entry: LockEntry, place: FilePlace, folder: str) -> Iterator[Line]:
    explanation = root.explanation
    against, offer = explanation.against, explanation.offer
    version = str(entry.version)
    state = Span("")
    if against is not None:
        state = Span("  DOES NOT SATISFY", Role.BLOCK)
    elif explanation.requirements and root.configuration.unknown_constraints:
        state = Span("  satisfies the constraints that can be read", Role.WARN)
    elif explanation.requirements:
        state = Span("  satisfies the constraints", Role.GOOD)
    age = Span(f"  {age_words(root.ages[entry.version])} old" if entry.version in root.ages else "", Role.DIM)
    where = Span(place.seen_from(folder), Role.PLACE)
    yield _fact("LOCKED", f"{version}  ", where, state, age, copied=version, place=place)
    if root.moved is not None and explanation.address == root.moved[1]:
        words = f"from the entry of {display_host(root.moved[0].host)}, which OpenTofu takes over without its hashes"
        yield _fact("", Span(words, Role.WARN), place=place)
    if against is not None:
        for hold in against.holds:
            yield from _hold_lines(hold, root.configuration, folder)
        if not explanation.conflicts and (offer is None or isinstance(offer.upgraded, Selection)):
            yield _fact("", f"`{root.tool.command} init` refuses it without `-upgrade`")
    if explanation.requirements and entry.constraints != str(explanation.constraints):
        recorded = entry.constraints or "none"
        yield _fact("", Span("the lock file records other constraints: ", Role.DIM), recorded, place=place)


def _hold_lines(hold: Hold, configuration: Configuration, folder: str) -> Iterator[Line]:
    if hold.demand is None:
        yield _fact("", f"  {hold}")
        return
    yield from _term_lines(str(hold.demand.term), hold.demand.requirements, configuration, folder, indent="  ")


# The registry's versions


def _registry_lines(root: RootWhy, folder: str, *, is_asking: bool, shared: Container[str]) -> Iterator[Line]:
    explanation = root.explanation
    offer = explanation.offer
    if root.tool.is_builtin(explanation.address) or (offer is None and not is_asking and root.silence in shared):
        return
    if offer is None and is_asking:
        yield _fact("REGISTRY", Span(f"asking {explanation.address.host} for its versions …", Role.DIM))
    elif offer is None:
        yield _fact("REGISTRY", Span(silence_words(root.silence), Role.WARN))
    else:
        newest = newest_words(offer.newest)
        yield _fact("REGISTRY", newest, copied=newest)
        if not offer.has_locked:
            moment = f" as of {clock(root.as_of)}" if root.as_of else ""
            yield _fact("", Span(f"the locked version is not listed{moment}", Role.WARN))
        if explanation.requirements:
            yield from _upgrade_lines(offer, root, folder)
        else:
            yield _fact("UPGRADE", unrequired_words(root))


def _upgrade_lines(offer: VersionChoices, root: RootWhy, folder: str) -> Iterator[Line]:
    for target in root.targets:
        yield _fact("TARGET", target_words(offer, target), copied=str(target or ""))
    if isinstance(offer.upgraded, Selection):
        if not root.targets:
            yield _command_line(offer, offer.upgraded, root)
        yield from _held_lines("NEWER", offer.newer, root, folder)
        return
    yield _fact(_label(root), Span(f"{root.command} selects nothing: {_obstacle(offer.upgraded)}", Role.BLOCK))
    if not offer.upgraded.conflicts:
        yield from _held_lines("NEAREST", offer.upgraded.held, root, folder)


def _command_line(offer: VersionChoices, upgraded: Selection, root: RootWhy) -> Line:
    """The selection of the command that upgrades the provider; `lock` selects as `init` does, whatever the policy."""
    entry, selected = root.explanation.locked, upgrade_words(offer, upgraded)
    if root.lock_file is None:
        selected = f"selects {upgraded.version}"
    is_same = entry is not None and entry.version == offer.recommended == upgraded.version
    note = ", already locked" if is_same else ""
    if entry is not None and offer.recommended is not None and offer.recommended.compare(entry.version) < 0:
        note = ", older than the locked version"
    if (aim := root.explanation.upgrade) is not None and root.lock_file is not None and root.is_pin_open([aim]):
        selected += ", if a pinned key signs it"
    if root.configuration.unread_reason:
        selected = f"stops, for not all constraints can be read; by the others it {selected}"
    version = str((offer.recommended if root.lock_file is not None else None) or upgraded.version)
    return _fact(_label(root), f"{root.command} {selected}{note}", copied=version)


def _label(root: RootWhy) -> str:
    return "UPGRADE" if root.lock_file is not None else "LOCK"


def _obstacle(reason: Unselectable) -> str:
    return "the constraints conflict" if reason.conflicts else reason.obstacle.value


def _held_lines(label: str, groups: Iterable[HeldBack], root: RootWhy, folder: str) -> Iterator[Line]:
    for number, group in enumerate(groups):
        versions, newest = version_range(group.versions), str(group.newest)
        state = Span(f"  {HELD_BACK}", Role.WARN) if group.holds else _free_span(group, root)
        yield _fact("" if number else label, versions, state, copied=newest)
        for hold in group.holds:
            yield from _hold_lines(hold, root.configuration, folder)


def _free_span(group: HeldBack, root: RootWhy) -> Span:
    """The state of versions without a hold, as far as the holds are known."""
    if root.configuration.unknown_constraints:
        return Span(f"  {NOT_HELD} by the constraints that can be read", Role.WARN)
    if root.policy.needs_ages and not root.ages.keys() >= set(group.versions):
        return Span(f"  {NOT_HELD}; release date unknown, cooldown cannot be checked", Role.WARN)
    if root.is_pin_open(group.versions):
        them = "it" if len(group.versions) == 1 else "them"
        return Span(f"  {NOT_HELD}, if a pinned key signs {them}", Role.WARN)
    return Span(f"  {NOT_HELD}", Role.GOOD)


# The requirements


def _asker_lines(root: RootWhy, newer: Iterable[HeldBack], folder: str) -> Iterator[Line]:
    configuration = root.configuration
    yield line(Span("REQUIRED BY", Role.HEADING))
    if not configuration.has_files:
        yield line(Span(f"  unknown: {words_seen_from(configuration.unknown_reason, folder)}", Role.WARN), hanging=2)
        return
    groups = alike(root.explanation.askers)
    unseen = list(unseen_words(root, folder))
    excluded = _excluded(newer)
    for number, (modules, asker) in enumerate(groups, start=1):
        is_last = number == len(groups) and not unseen
        elbow, trunk = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        yield line(Span(f"  {elbow}", Role.TREE), Span(module_names(modules, configuration), Role.HEADING), hanging=5)
        yield from _module_lines(asker, folder, f"  {trunk}", excluded)
    if not groups:
        files = counted(len(configuration.files), "file")
        absence = "nothing in the files that were read" if unseen else f"nothing in {files}"
        yield line(Span(f"  {absence}", Role.WARN), hanging=2)
    for number, (gap, where) in enumerate(unseen):
        lead = Span("  └─ " if not number else "     ", Role.TREE)
        place = FilePlace(*where) if where is not None else None
        yield line(lead, Span(f"not read: {gap}" if not number else gap, Role.WARN), hanging=7, place=place)


def _excluded(newer: Iterable[HeldBack]) -> Mapping[tuple[str, int], list[HeldBack]]:
    by_place: dict[tuple[str, int], list[HeldBack]] = {}
    for group in newer:
        demands = (hold.demand for hold in group.holds if hold.demand is not None)
        for place in dict.fromkeys((term.file, term.line) for demand in demands for term in demand.requirements):
            by_place.setdefault(place, []).append(group)
    return by_place


def _module_lines(
    asker: RequiringModule, folder: str, trunk: str, excluded: Mapping[tuple[str, int], list[HeldBack]]
) -> Iterator[Line]:
    lead, hanging = Span(trunk, Role.TREE), len(trunk) + 4
    for declared in asker.declared:
        place, constraint = constraint_place(declared), declared.constraint or "any version"
        spans = Span(place.seen_from(folder), Role.PLACE), f"  {constraint}{kind_words(declared)}"
        yield line(lead, *spans, hanging=hanging, copied=constraint, place=place)
        if groups := excluded.get((declared.file, declared.line)):
            versions = ", ".join(version_range(group.versions) for group in groups)
            yield line(lead, Span(f"  excludes {versions}", Role.WARN), hanging=hanging)
        if (hidden := declared.overrides) is not None:
            place = constraint_place(hidden)
            override = f"  overrides {hidden.constraint or 'any version'} of {place.seen_from(folder)}"
            yield line(lead, Span(override, Role.DIM), hanging=hanging, place=place)
    if asker.uses:
        first = asker.uses[0]
        place = FilePlace(first.file, first.line)
        yield line(lead, Span(uses_words(asker, folder), Role.DIM), hanging=hanging, place=place)


def why_in_short(why: Why) -> str:
    """The conflict or the worst finding, for a title."""
    roots = why.roots
    conflicts = sum(bool(root.explanation.conflicts) for root in roots)
    if conflicts:
        return f"CONFLICT in {conflicts} of {len(roots)} roots" if len(roots) > 1 else "CONFLICT"
    severity = worst(tuple(finding for root in roots for finding in root.findings))
    return severity.value.upper() if severity is not None else ""


def render(why: Why, *, lists_roots: bool = False) -> Printable:
    """Return the report; `lists_roots` names every root of a block that several have, else at most NAMES_SHOWN."""
    return page(_report_lines(why, lists_roots=lists_roots))


def _report_lines(why: Why, *, lists_roots: bool) -> Iterator[str]:
    roots = ranked_roots(why)
    if len(roots) > 1:
        yield f"{len(roots)} roots require or lock {why.asked}:"
        yield from _overview(roots, lists_roots=lists_roots)
    silences = Counter(root.silence for root in roots if _is_silent(root))
    shared = {silence: count for silence, count in silences.items() if count > 1}
    limit = len(roots) if lists_roots else NAMES_SHOWN
    for number, (members, lines) in enumerate(why_blocks(why, shared=shared)):
        if number or len(roots) > 1:
            yield ""
        first = members[0]
        yield from plain_lines([block_head(members, address=str(first.explanation.address), limit=limit)])
        yield from plain_lines(lines, indent="  ")
    for silence, count in shared.items():
        yield ""
        yield f"{silence_words(silence)} in {count} roots"
    if why.unsure:
        yield ""
        yield "Other roots that may require or lock it:"
        reasons: dict[str, list[str]] = {}
        for one in why.unsure:
            reasons.setdefault(one.reason, []).append(one.path)
        for reason, paths in reasons.items():
            yield f"  {_root_names(paths, lists_roots=lists_roots)}  {reason}"
    if why.others:
        yield ""
        verbs = "neither requires nor locks" if why.others == 1 else "neither require nor lock"
        yield f"{counted(why.others, 'more root')} {verbs} it."


def _is_silent(root: RootWhy) -> bool:
    return root.explanation.offer is None and not root.tool.is_builtin(root.explanation.address)


def _root_names(paths: Sequence[str], *, lists_roots: bool) -> str:
    names = [path or "." for path in paths]
    return listing(names, len(names) if lists_roots else NAMES_SHOWN)


def _satisfaction(root: RootWhy) -> str:
    """Whether the locked version satisfies the constraints, in a word; "-" where nothing is locked or required."""
    explanation = root.explanation
    if root.tool.is_builtin(explanation.address):
        return "built in"
    if explanation.locked is None or not explanation.requirements:
        return "-"
    if explanation.against is not None:
        return "DOES NOT SATISFY"
    return "unknown" if root.configuration.unknown_constraints else "satisfies"


def _overview(roots: Sequence[RootWhy], *, lists_roots: bool) -> Iterator[str]:
    """One line for each of several roots, or for roots that are alike in it."""
    alike_roots: dict[tuple[str, str, str], list[str]] = {}
    for root in roots:
        explanation = root.explanation
        entry = explanation.locked
        states = ["CONFLICT"] * bool(explanation.conflicts) + [one.severity.upper() for one in root.findings]
        state = states[0] if states else _satisfaction(root)
        version = str(entry.version) if entry else "not locked" if root.is_read else "unreadable"
        alike_roots.setdefault((version, state, str(explanation.constraints)), []).append(root.path)
    rows = []
    for (version, state, constraints), paths in alike_roots.items():
        is_folded = len(roots) > NAMES_SHOWN and len(paths) > 1 and not lists_roots
        names = [f"{len(paths)} roots"] if is_folded else [path or "." for path in paths]
        rows += [(name, version, state, constraints) for name in names]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        yield (
            "  " + "  ".join((*(f"{text:{width}}" for text, width in zip(row, widths, strict=False)), row[3])).rstrip()
        )
