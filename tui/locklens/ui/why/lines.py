"""The content of `locklens why` as lines that can be copied and opened: requirements and held-back versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.model import worst
from locklens.review.reports.why_words import (
    HELD_BACK,
    NAMES_SHOWN,
    NOT_HELD,
    NOTHING_TO_UPGRADE,
    alike,
    finding_title,
    kind_words,
    module_names,
    newest_words,
    unseen_words,
    upgrade_words,
    uses_words,
    version_range,
)
from locklens.selection import Selection
from locklens.text import counted, listing
from locklens.ui.text.spans import FilePlace, Line, Role, Span, line, severity_span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locklens.lockfile.model import LockEntry
    from locklens.project.configuration import Requirement
    from locklens.review.why import RootWhy, Why
    from locklens.selection import ConstraintConflict, HeldBack, RequiringModule, Unselectable, VersionChoices
    from locklens.selection.model import Hold

_LABEL = 13
_PLACES_SHOWN = 8


def why_lines(why: Why, *, is_asking: bool = False) -> Iterator[Line]:
    """Yield the explanation of each root, conflicts first; of roots with the same text, once.

    Places in the text are relative to the root. The lines of several roots open the files of the first one.

    Args:
        why: The explanation.
        is_asking: True while the registry's answer is outstanding.
    """
    roots = sorted(why.roots, key=lambda root: (not root.explanation.conflicts, root.path))
    blocks: dict[tuple[str, ...], tuple[list[Line], list[RootWhy]]] = {}
    for root in roots:
        lines = list(_root_lines(root, is_asking=is_asking))
        key = root.tool.product, *(each.text for each in lines)
        blocks.setdefault(key, (lines, []))[1].append(root)
    for number, (lines, members) in enumerate(blocks.values()):
        if number:
            yield Line()
        names = listing([root.path or "." for root in members], NAMES_SHOWN)
        count = f"{len(members)} roots alike: " if len(members) > 1 else ""
        yield line(Span(count), Span(names, Role.STRONG), Span(f"  {members[0].tool.product}", Role.DIM))
        yield from lines


def _root_lines(root: RootWhy, *, is_asking: bool) -> Iterator[Line]:
    explanation = root.explanation
    for finding in root.findings:
        if finding.rule == "LK019":
            place = FilePlace(finding.file, finding.line or 1)
            yield _labelled(
                "UNREADABLE", Span(place.seen_from(root.path), Role.PLACE), f"  {finding.message}", place=place
            )
    for conflict in explanation.conflicts:
        yield from _conflict_lines(conflict, root.path)
    yield from _locked_lines(root)
    if explanation.requirements:
        constraints = str(explanation.constraints) or "none: any release satisfies"
        yield _labelled("CONSTRAINTS", constraints, copied=constraints)
        if explanation.is_recorded:
            yield _labelled("", Span(f"recorded in the lock file: {root.configuration.unknown_reason}", Role.DIM))
        if not explanation.conflicts and str(explanation.essential) != str(explanation.constraints):
            essential = str(explanation.essential) or "any release"
            yield _labelled("", Span("in effect ", Role.DIM), essential, copied=essential)
    yield from _registry_lines(root, is_asking=is_asking)
    newer = explanation.offer.newer if explanation.offer is not None else ()
    yield from _asker_lines(root, newer)
    listed = [finding for finding in root.findings if finding.rule != "LK019"]
    for number, finding in enumerate(listed):
        place = FilePlace(finding.file, finding.line or 1)
        spans = severity_span(finding.severity), f" {finding.rule}  {finding_title(finding)}"
        yield _labelled("FINDINGS" if not number else "", *spans, place=place, copied=finding.rule)


def _labelled(label: str, *spans: Span | str, copied: str = "", place: FilePlace | None = None) -> Line:
    return line(Span(label.ljust(_LABEL), Role.HEADING), *spans, hanging=_LABEL + 2, copied=copied, place=place)


def _conflict_lines(conflict: ConstraintConflict, root: str) -> Iterator[Line]:
    sentence = "no version can satisfy " + ("this" if len(conflict) == 1 else "these together")
    yield _labelled("CONFLICT", Span(sentence, Role.BLOCK))
    width = max(len(str(demand.term)) for demand in conflict)
    for demand in conflict:
        for number, place in enumerate(_places(demand.requirements)):
            term = "" if number else str(demand.term)
            copied = str(demand.term)
            yield _labelled(
                "", f"{term:{width}}  ", Span(place.seen_from(root), Role.PLACE), copied=copied, place=place
            )


def _places(requirements: Iterable[Requirement]) -> list[FilePlace]:
    return list(dict.fromkeys(FilePlace(required.file, required.line) for required in requirements))[:_PLACES_SHOWN]


# The locked entry


def _locked_lines(root: RootWhy) -> Iterator[Line]:
    explanation = root.explanation
    entry = explanation.locked
    if root.tool.is_builtin(explanation.address):
        yield _labelled("LOCKED", f"never: built into {root.tool.product}")
    elif root.lock_file is None:
        yield _labelled("LOCKED", Span("no: there is no lock file", Role.WARN))
    elif entry is None and any(finding.rule == "LK019" for finding in root.findings):
        yield _labelled("LOCKED", Span("unknown: the lock file cannot be read", Role.WARN))
    elif entry is None:
        missing = f"no: `{root.tool.command} init` adds an entry"
        yield _labelled("LOCKED", Span(missing, Role.WARN), place=FilePlace(root.lock_file, 1))
    else:
        yield from _entry_lines(root, entry, FilePlace(root.lock_file, entry.line))


def _entry_lines(root: RootWhy, entry: LockEntry, place: FilePlace) -> Iterator[Line]:
    explanation = root.explanation
    against, offer = explanation.against, explanation.offer
    version = str(entry.version)
    state = Span("")
    if against is not None:
        state = Span("  DOES NOT SATISFY", Role.BLOCK)
    elif explanation.requirements:
        state = Span("  satisfies the constraints", Role.GOOD)
    yield _labelled(
        "LOCKED", f"{version}  ", Span(place.seen_from(root.path), Role.PLACE), state, copied=version, place=place
    )
    if against is not None:
        for hold in against.holds:
            yield from _hold_lines(hold, root.path)
        if not explanation.conflicts and (offer is None or isinstance(offer.upgraded, Selection)):
            yield _labelled("", f"`{root.tool.command} init` refuses it; `init -upgrade` selects another version")
    if explanation.requirements and entry.constraints != str(explanation.constraints):
        recorded = entry.constraints or "none"
        yield _labelled("", Span("the lock file records other constraints: ", Role.DIM), recorded, place=place)


def _hold_lines(hold: Hold, root: str, indent: str = "") -> Iterator[Line]:
    """The hold on a version, a line for each place."""
    if hold.demand is None:
        yield _labelled("", indent, str(hold))
        return
    term = str(hold.demand.term)
    for place in _places(hold.demand.requirements):
        yield _labelled("", f"{indent}{term}  ", Span(place.seen_from(root), Role.PLACE), copied=term, place=place)


# The registry's versions


def _registry_lines(root: RootWhy, *, is_asking: bool) -> Iterator[Line]:
    explanation = root.explanation
    offer = explanation.offer
    if root.tool.is_builtin(explanation.address):
        return
    if offer is None and is_asking:
        yield _labelled("REGISTRY", Span(f"asking {explanation.address.host} for its versions …", Role.DIM))
    elif offer is None:
        yield _labelled("REGISTRY", Span(f"{root.silence}, so newer versions are unknown", Role.WARN))
    else:
        newest = newest_words(offer.newest)
        yield _labelled("REGISTRY", newest, copied=newest)
        if not offer.has_locked:
            yield _labelled("", Span("does not list the locked version", Role.WARN))
        if explanation.requirements:
            yield from _upgrade_lines(offer, explanation.locked, root.path)
        else:
            yield _labelled("UPGRADE", NOTHING_TO_UPGRADE)


def _upgrade_lines(offer: VersionChoices, entry: LockEntry | None, root: str) -> Iterator[Line]:
    if isinstance(offer.upgraded, Selection):
        version = str(offer.recommended or offer.upgraded.version)
        is_same = entry is not None and entry.version == offer.recommended == offer.upgraded.version
        same = ", already locked" if is_same else ""
        yield _labelled("UPGRADE", f"{upgrade_words(offer, offer.upgraded)}{same}", copied=version)
        yield from _held_lines("NEWER", offer.newer, root)
        return
    yield _labelled("UPGRADE", Span(f"selects nothing: {_obstacle(offer.upgraded)}", Role.BLOCK))
    if not offer.upgraded.conflicts:
        yield from _held_lines("NEAREST", offer.upgraded.held, root)


def _obstacle(reason: Unselectable) -> str:
    return "the constraints conflict" if reason.conflicts else reason.obstacle.value


def _held_lines(label: str, groups: Iterable[HeldBack], root: str) -> Iterator[Line]:
    for number, group in enumerate(groups):
        versions, newest = version_range(group.versions), str(group.newest)
        state = Span(f"  {HELD_BACK}", Role.WARN) if group.holds else Span(f"  {NOT_HELD}", Role.GOOD)
        yield _labelled("" if number else label, versions, state, copied=newest)
        for hold in group.holds:
            yield from _hold_lines(hold, root, "  ")


# The requirements


def _asker_lines(root: RootWhy, newer: Iterable[HeldBack]) -> Iterator[Line]:
    configuration = root.configuration
    yield line(Span("REQUIRED BY", Role.HEADING))
    if not configuration.has_files:
        yield line(Span(f"  unknown: {configuration.unknown_reason}", Role.WARN), hanging=2)
        return
    groups = alike(root.explanation.askers)
    unseen = list(unseen_words(root, root.path))
    excluded = _excluded(newer)
    for number, (modules, asker) in enumerate(groups, start=1):
        is_last = number == len(groups) and not unseen
        elbow, trunk = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        yield line(f"  {elbow}", Span(module_names(modules, configuration), Role.HEADING), hanging=5)
        yield from _module_lines(asker, root.path, f"  {trunk}", excluded)
    if not groups:
        files = counted(len(configuration.files), "file")
        absence = "nothing in the files that were read" if unseen else f"nothing in {files}"
        yield line(Span(f"  {absence}", Role.WARN), hanging=2)
    for number, (gap, where) in enumerate(unseen):
        lead = "  └─ " if not number else "     "
        place = FilePlace(*where) if where is not None else None
        yield line(lead, Span(f"not read: {gap}" if not number else gap, Role.WARN), hanging=7, place=place)


def _excluded(newer: Iterable[HeldBack]) -> Mapping[tuple[str, int], list[HeldBack]]:
    """The newer versions that each place excludes."""
    by_place: dict[tuple[str, int], list[HeldBack]] = {}
    for group in newer:
        demands = (hold.demand for hold in group.holds if hold.demand is not None)
        for place in dict.fromkeys((term.file, term.line) for demand in demands for term in demand.requirements):
            by_place.setdefault(place, []).append(group)
    return by_place


def _module_lines(
    asker: RequiringModule, root: str, lead: str, excluded: Mapping[tuple[str, int], list[HeldBack]]
) -> Iterator[Line]:
    hanging = len(lead) + 4
    for declared in asker.declared:
        place, constraint = FilePlace(declared.file, declared.line), declared.constraint or "any version"
        spans = Span(place.seen_from(root), Role.PLACE), f"  {constraint}{kind_words(declared)}"
        yield line(lead, *spans, hanging=hanging, copied=constraint, place=place)
        if groups := excluded.get((declared.file, declared.line)):
            versions = ", ".join(version_range(group.versions) for group in groups)
            yield line(lead, Span(f"  excludes {versions}", Role.WARN), hanging=hanging)
        if (hidden := declared.overrides) is not None:
            place = FilePlace(hidden.file, hidden.line)
            override = f"  overrides {hidden.constraint or 'any version'} of {place.seen_from(root)}"
            yield line(lead, Span(override, Role.DIM), hanging=hanging, place=place)
    if asker.uses:
        first = asker.uses[0]
        place = FilePlace(first.file, first.line)
        yield line(lead, Span(uses_words(asker, root), Role.DIM), hanging=hanging, place=place)


def why_in_short(why: Why) -> str:
    """The conflict or the worst finding, for the title."""
    roots = why.roots
    conflicts = sum(bool(root.explanation.conflicts) for root in roots)
    if conflicts:
        return f"CONFLICT in {conflicts} of {len(roots)} roots" if len(roots) > 1 else "CONFLICT"
    severity = worst(tuple(finding for root in roots for finding in root.findings))
    return severity.value.upper() if severity is not None else ""
