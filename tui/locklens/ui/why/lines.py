"""Why a provider is there and at its version: what `locklens why` prints, as lines that can be copied and opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.model import worst
from locklens.review.reports.why_words import (
    NOTHING_TO_UPGRADE,
    alike,
    kind_words,
    module_names,
    newest_words,
    unseen_words,
    uses_words,
    version_range,
)
from locklens.review.rules.catalogue import RULES
from locklens.selection import Selection
from locklens.text import counted
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
    """Returns what there is to say, conflicts first.

    Args:
        why: What is known.
        is_asking: Whether the registry's answer is on its way.
    """
    roots = sorted(why.roots, key=lambda root: (not root.explanation.conflicts, root.path))
    for number, root in enumerate(roots):
        if number:
            yield Line()
        yield line(Span(root.path or ".", Role.STRONG), Span(f"  {root.tool.product}", Role.DIM))
        yield from _root_lines(root, is_asking=is_asking)


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
        told = str(explanation.constraints) or "none: any release will do"
        yield _labelled("CONSTRAINTS", told, copied=told)
        if not explanation.conflicts and str(explanation.essential) != str(explanation.constraints):
            essential = str(explanation.essential) or "any release"
            yield _labelled("", Span("in effect ", Role.DIM), essential, copied=essential)
    yield from _registry_lines(root, is_asking=is_asking)
    newer = explanation.offer.newer if explanation.offer is not None else ()
    yield from _asker_lines(root, newer)
    told_findings = [finding for finding in root.findings if finding.rule != "LK019"]
    for number, finding in enumerate(told_findings):
        place = FilePlace(finding.file, finding.line or 1)
        spans = severity_span(finding.severity), f" {finding.rule}  {RULES[finding.rule].title}"
        yield _labelled("FINDINGS" if not number else "", *spans, place=place, copied=finding.rule)


def _labelled(label: str, *spans: Span | str, copied: str = "", place: FilePlace | None = None) -> Line:
    return line(Span(label.ljust(_LABEL), Role.HEADING), *spans, hanging=_LABEL + 2, copied=copied, place=place)


def _conflict_lines(conflict: ConstraintConflict, root: str) -> Iterator[Line]:
    words = "no version can satisfy " + ("this" if len(conflict) == 1 else "these together")
    yield _labelled("CONFLICT", Span(words, Role.BLOCK))
    width = max(len(str(demand.term)) for demand in conflict)
    for demand in conflict:
        for number, place in enumerate(_places(demand.requirements)):
            term = "" if number else str(demand.term)
            copied = str(demand.term)
            yield _labelled(
                "", f"{term:{width}}  ", Span(place.seen_from(root), Role.PLACE), copied=copied, place=place
            )


def _places(requirements: Iterable[Requirement]) -> list[FilePlace]:
    return list(dict.fromkeys(FilePlace(one.file, one.line) for one in requirements))[:_PLACES_SHOWN]


# What is locked


def _locked_lines(root: RootWhy) -> Iterator[Line]:
    explanation = root.explanation
    entry = explanation.locked
    if root.tool.is_builtin(explanation.address):
        yield _labelled("LOCKED", f"never: it is part of {root.tool.product}")
    elif root.lock_file is None:
        yield _labelled("LOCKED", Span("no: there is no lock file yet", Role.WARN))
    elif entry is None and any(finding.rule == "LK019" for finding in root.findings):
        yield _labelled("LOCKED", Span("cannot say: the lock file cannot be read", Role.WARN))
    elif entry is None:
        told = f"no: there is no block for it, so `{root.tool.command} init` adds one"
        yield _labelled("LOCKED", Span(told, Role.WARN), place=FilePlace(root.lock_file, 1))
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
    """What is in a version's way, a line for each place."""
    if hold.demand is None:
        yield _labelled("", indent, str(hold))
        return
    term = str(hold.demand.term)
    for place in _places(hold.demand.requirements):
        yield _labelled("", f"{indent}{term}  ", Span(place.seen_from(root), Role.PLACE), copied=term, place=place)


# What the registry's answer makes of it


def _registry_lines(root: RootWhy, *, is_asking: bool) -> Iterator[Line]:
    explanation = root.explanation
    offer = explanation.offer
    if root.tool.is_builtin(explanation.address):
        return
    if offer is None and is_asking:
        yield _labelled("REGISTRY", Span(f"asking {explanation.address.host} for its versions …", Role.DIM))
    elif offer is None:
        yield _labelled("REGISTRY", Span(f"{root.silence}, so newer versions are not known", Role.WARN))
    else:
        newest = newest_words(offer.newest)
        yield _labelled("REGISTRY", newest, copied=newest)
        if not offer.has_locked:
            yield _labelled("", Span("does not offer the locked version", Role.WARN))
        if explanation.askers:
            yield from _upgrade_lines(offer, explanation.locked, root.path)
        else:
            yield _labelled("UPGRADE", NOTHING_TO_UPGRADE)


def _upgrade_lines(offer: VersionChoices, entry: LockEntry | None, root: str) -> Iterator[Line]:
    if isinstance(offer.upgraded, Selection):
        version = str(offer.upgraded.version)
        same = ", which is locked already" if entry is not None and entry.version == offer.upgraded.version else ""
        yield _labelled("UPGRADE", f"selects {version}{same}", copied=version)
        yield from _held_lines("NEWER", offer.newer, root)
        return
    yield _labelled("UPGRADE", Span(f"selects nothing: {_obstacle(offer.upgraded)}", Role.BLOCK))
    if not offer.upgraded.conflicts:
        yield from _held_lines("NEAREST", offer.upgraded.held, root)


def _obstacle(found: Unselectable) -> str:
    return "the constraints conflict" if found.conflicts else found.obstacle.value


def _held_lines(label: str, groups: Iterable[HeldBack], root: str) -> Iterator[Line]:
    for number, group in enumerate(groups):
        told, version = version_range(group.versions), str(group.newest)
        held = Span("  held back by", Role.WARN) if group.holds else Span("  an upgrade takes the newest", Role.GOOD)
        yield _labelled("" if number else label, told, held, copied=version)
        for hold in group.holds:
            yield from _hold_lines(hold, root, "  ")


# Who requires it


def _asker_lines(root: RootWhy, newer: Iterable[HeldBack]) -> Iterator[Line]:
    configuration = root.configuration
    yield line(Span("REQUIRED BY", Role.HEADING))
    if not configuration.has_files:
        yield line(Span("  cannot say: there is no configuration in this folder", Role.WARN), hanging=2)
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
        told = "nothing that could be read" if unseen else f"nothing in {counted(len(configuration.files), 'file')}"
        yield line(Span(f"  {told}", Role.WARN), hanging=2)
    for number, (words, where) in enumerate(unseen):
        lead = "  └─ " if not number else "     "
        place = FilePlace(*where) if where is not None else None
        yield line(lead, Span(f"not seen: {words}" if not number else words, Role.WARN), hanging=7, place=place)


def _excluded(newer: Iterable[HeldBack]) -> Mapping[tuple[str, int], list[HeldBack]]:
    """Which newer versions each place excludes."""
    found: dict[tuple[str, int], list[HeldBack]] = {}
    for group in newer:
        demands = (hold.demand for hold in group.holds if hold.demand is not None)
        for place in dict.fromkeys((one.file, one.line) for demand in demands for one in demand.requirements):
            found.setdefault(place, []).append(group)
    return found


def _module_lines(
    asker: RequiringModule, root: str, lead: str, excluded: Mapping[tuple[str, int], list[HeldBack]]
) -> Iterator[Line]:
    hanging = len(lead) + 4
    for one in asker.declared:
        place, constraint = FilePlace(one.file, one.line), one.constraint or "any version"
        told = f"  {constraint}{kind_words(one)}"
        yield line(lead, Span(place.seen_from(root), Role.PLACE), told, hanging=hanging, copied=constraint, place=place)
        if groups := excluded.get((one.file, one.line)):
            versions = ", ".join(version_range(group.versions) for group in groups)
            yield line(lead, Span(f"  excludes {versions}", Role.WARN), hanging=hanging)
        if (hidden := one.overrides) is not None:
            place = FilePlace(hidden.file, hidden.line)
            hid = f"  overrides {hidden.constraint or 'any version'} of {place.seen_from(root)}"
            yield line(lead, Span(hid, Role.DIM), hanging=hanging, place=place)
    if asker.uses:
        first = asker.uses[0]
        place = FilePlace(first.file, first.line)
        yield line(lead, Span(uses_words(asker, root), Role.DIM), hanging=hanging, place=place)


def why_in_short(why: Why) -> str:
    """What it comes to in a few words, for the title."""
    roots = why.roots
    conflicts = sum(bool(root.explanation.conflicts) for root in roots)
    if conflicts:
        return f"CONFLICT in {conflicts} of {len(roots)} roots" if len(roots) > 1 else "CONFLICT"
    found = worst(tuple(finding for root in roots for finding in root.findings))
    return found.value.upper() if found is not None else ""
