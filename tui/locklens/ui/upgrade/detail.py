"""The detail of a row of the Upgrade screen: warnings, constraints, holds, release and versions. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.addresses import Platform, display_host
from locklens.operations.upgrades.candidates import edits_in_short
from locklens.operations.upgrades.download_estimate import platforms_to_lock
from locklens.operations.upgrades.recommend import Eligibility, age_words
from locklens.operations.upgrades.selection import sorted_versions
from locklens.project.clifiles import this_platform
from locklens.review.reports.lines import FilePlace, Line, Role, Span, heading, line
from locklens.review.reports.why_words import HELD_BACK, held_words, version_range
from locklens.selection import cooldown_holds
from locklens.text import counted
from locklens.ui.row_actions import RowTarget
from locklens.ui.text.signers import signer_change_lines
from locklens.ui.upgrade.rows import RowKind, UpgradeRow, signer_span, warning_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.operations.upgrades.candidates import CandidateVersion, RefusedRoot, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.project.configuration import Requirement
    from locklens.selection import HeldBack, Hold
    from locklens.versions import Version

_LABEL = 13
_VERSIONS_SHOWN, _STEPS_BEFORE = 8, 3
"""Versions around the target in one line, and those above it."""

_GROUPS_SHOWN = 6

_MEANINGS = {
    Eligibility.READY: "A newer version satisfies the constraints, the cooldown and the upgrade limit. space selects"
    " it, left and right step to another version, U previews the upgrade.",
    Eligibility.HELD: "A newer version exists but is held back. w explains it, e opens the line of the constraint,"
    " right steps to a version that needs an edited constraint.",
    Eligibility.CURRENT: "No newer version is released.",
    Eligibility.UNKNOWN: "The registry did not list the versions, or upgrades are not possible in the root.",
}


def upgrade_lines(
    row: UpgradeRow, selection: UpgradeSelection, *, in_full: bool = False, is_asking: bool = False
) -> Iterator[Line]:
    """The detail of a row.

    Args:
        row: The row.
        selection: The candidates and the selection.
        in_full: True to list all versions, one per line.
        is_asking: True during a lookup of signers.
    """
    if row.kind is RowKind.SECTION:
        yield from _section_lines(row)
    elif row.refused is not None:
        yield from _refused_lines(row)
    elif row.offer is not None:
        yield _head(row.offer, selection)
        yield from _offer_lines(row.offer, selection, in_full=in_full, is_asking=is_asking)
    else:
        yield from _group_lines(row, selection, in_full=in_full, is_asking=is_asking)


def _section_lines(row: UpgradeRow) -> Iterator[Line]:
    yield line(Span(row.title, Role.STRONG))
    state = next((state for state in Eligibility if row.key == f"state:{state}"), None)
    meaning = _MEANINGS[state] if state is not None else "One root with all of its providers."
    yield line(Span(meaning, Role.DIM), hanging=0)


def _refused_lines(row: UpgradeRow) -> Iterator[Line]:
    assert row.refused is not None
    error = row.refused.error
    yield line(Span(row.title, Role.STRONG), Span("  upgrades are not possible here", Role.WARN))
    yield line(str(error), hanging=2, copied=str(error), place=refused_place(row.refused))
    if error.hint:
        yield line(Span(error.hint, Role.DIM), hanging=2)


def refused_place(refused: RefusedRoot) -> FilePlace:
    """The place of the error that prevents upgrades in a root; its lock file if the error names none."""
    file, number = refused.error.place or (refused.lock_file, None)
    return FilePlace(file, number or 1)


def _head(offer: UpgradeCandidates, selection: UpgradeSelection) -> Line:
    choice = selection.target(offer)
    target = f" -> {choice.version}" if choice is not None else ""
    selected = Span("  selected" if selection.is_selected(offer) else "", Role.GOOD)
    root = Span(f"  {offer.root or '.'}", Role.PLACE)
    host = Span(f"  {display_host(offer.address.host)}", Role.DIM)
    name = f"{offer.name} {offer.locked or 'not locked'}{target}"
    spans = Span(name, Role.STRONG), selected, root, host
    return line(*spans, copied=_copied(offer, choice), place=_entry_place(offer))


def _offer_lines(
    offer: UpgradeCandidates, selection: UpgradeSelection, *, in_full: bool, is_asking: bool
) -> Iterator[Line]:
    choice = selection.target(offer)
    if offer.problem:
        yield _labelled("UNKNOWN", Span(offer.problem, Role.WARN), copied=offer.problem)
        if offer.hint:
            yield _labelled("", Span(offer.hint, Role.DIM))
    if not offer.is_asked:
        yield _labelled("ASKING", Span("version list requested from the registry", Role.DIM))
    yield from _warning_lines(offer, selection)
    yield from _step_line([offer], selection)
    yield from _constraint_lines(offer, choice)
    yield from _held_lines(offer, selection)
    if choice is not None:
        yield from _release_lines(offer, choice, selection, is_asking=is_asking)
    if in_full:
        yield from _version_lines([offer], selection)


def _warning_lines(offer: UpgradeCandidates, selection: UpgradeSelection) -> Iterator[Line]:
    for number, warning in enumerate(warning_spans(selection, offer, selection.target(offer))):
        label = "" if number else "CAUTION"
        yield _labelled(label, Span("! ", warning.role), Span(warning.text), copied=warning.text)


def _group_lines(row: UpgradeRow, selection: UpgradeSelection, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    roots = counted(len(row.offers), "root")
    yield line(Span(row.title, Role.STRONG), Span(f"  in {roots}", Role.DIM), copied=str(row.offers[0].address))
    for offer in row.offers:
        choice = selection.target(offer)
        mark = "[x] " if selection.is_selected(offer) else "[ ] " if choice is not None else " -  "
        target = Span(f" -> {choice.version}" if choice is not None else "", Role.STRONG)
        edit = Span(f"  *edit {edits_in_short(choice)}" if choice is not None and choice.excluding else "", Role.WARN)
        held = selection.recommendation(offer).held_by if choice is None else ""
        name = Span(offer.root or ".", Role.PLACE)
        locked = f"  {offer.locked or 'not locked'}"
        yield line(
            f"  {mark}", name, locked, target, edit, Span(f"  {held}", Role.DIM), hanging=6, place=_entry_place(offer)
        )
    first = next((offer for offer in row.offers if selection.target(offer) is not None), row.offers[0])
    yield line()
    yield from _step_line(row.offers, selection)
    yield line(Span(f"As in {first.root or '.'}:", Role.DIM))
    choice = selection.target(first)
    yield from _warning_lines(first, selection)
    yield from _held_lines(first, selection)
    if choice is not None:
        yield from _release_lines(first, choice, selection, is_asking=is_asking)
    if in_full:
        yield from _version_lines(row.offers, selection)


def upgrade_target(row: UpgradeRow | None, selection: UpgradeSelection) -> RowTarget:
    """The targets of a row: its versions, the line that holds it back, and the target release or else the newest."""
    if row is None or not row.is_of_provider:
        refused = row.refused if row is not None else None
        return RowTarget("", refused_place(refused) if refused is not None else None)
    offer = row.offers[0]
    choice = selection.target(offer)
    version = choice.version if choice is not None else offer.newest or offer.locked
    groups = (group for candidates in row.offers for group in candidates.newer)
    held = next((place for group in groups if (place := blocker_place(group.holds))), None)
    release = (offer.address, str(version)) if version is not None else None
    return RowTarget(_copied(offer, choice), held or _entry_place(offer), release)


def _copied(offer: UpgradeCandidates, choice: CandidateVersion | None) -> str:
    target = f" -> {choice.version}" if choice is not None else ""
    return f"{offer.address} {offer.locked or 'not locked'}{target}"


def _entry_place(offer: UpgradeCandidates) -> FilePlace:
    return FilePlace(offer.lock_file, offer.entry.line if offer.entry is not None else 1)


# The constraints


def _constraint_lines(offer: UpgradeCandidates, choice: CandidateVersion | None) -> Iterator[Line]:
    excluding = choice.excluding if choice is not None else ()
    excluding_places = {(entry.file, entry.line, entry.subject) for entry in excluding}
    constraints = [entry for entry in offer.requirements if entry.constraint]
    if not offer.requirements:
        reason = "not required by this root: prune removes it (P in Review)"
        if offer.unread:
            reason = f"not required by any readable module; {offer.unread}"
        yield _labelled("CONSTRAINTS", Span(reason, Role.WARN))
        return
    if not constraints:
        first = offer.requirements[0]
        place = FilePlace(first.file, first.line)
        yield _labelled(
            "CONSTRAINTS",
            f"none; {'recorded in' if offer.recorded else 'required by'} {first.subject}  ",
            Span(str(place), Role.PLACE),
            place=place,
        )
    for number, entry in enumerate(constraints):
        is_excluding = (entry.file, entry.line, entry.subject) in excluding_places
        verdict = Span("  excludes it" if is_excluding else "", Role.WARN)
        yield _requirement_line("" if number else "CONSTRAINTS", entry, verdict, offer.guards.get(entry.file, ""))
    if choice is not None and choice.excluding and offer.refusal(choice):
        yield _labelled("", Span(offer.refusal(choice), Role.WARN))


def _requirement_line(label: str, entry: Requirement, verdict: Span, guard: str) -> Line:
    place = FilePlace(entry.file, entry.line)
    module = Span(f"  module {entry.module}" if entry.module else "", Role.DIM)
    hidden = ""
    if entry.overrides is not None:
        base = entry.overrides
        hidden = f"  overrides {base.constraint} ({base.file}:{base.line})"
    guarded = Span(f"  {guard}" if guard and verdict.text else "", Role.WARN)
    constraint = entry.constraint.strip()
    spans = Span(f"{constraint:<14} "), Span(str(place), Role.PLACE), module, Span(hidden, Role.WARN)
    return _labelled(label, *spans, verdict, guarded, copied=constraint, place=place)


def _held_lines(offer: UpgradeCandidates, selection: UpgradeSelection) -> Iterator[Line]:
    """The holds on the versions above the recommended one, in short."""
    recommendation = selection.recommendation(offer)
    reached = recommendation.suggested.version if recommendation.suggested is not None else offer.locked
    groups = [(_above(group, reached), group.holds) for group in offer.newer if group.holds]
    shown = [(versions, holds) for versions, holds in groups if versions]
    for number, (versions, holds) in enumerate(shown[:_GROUPS_SHOWN]):
        yield _held_line("" if number else "NEWER", versions, holds)
    if len(shown) > _GROUPS_SHOWN:
        yield _labelled("", Span("w lists the rest", Role.DIM))
    terms = selection.terms
    young = [
        choice
        for choice in offer.choices
        if not choice.holds and terms.is_too_young(choice) and (reached is None or choice.version.compare(reached) > 0)
    ]
    if young:
        holds = tuple(cooldown_holds({young[0].version: young[0].days or 0}, terms.cooldown).values())
        yield _held_line("" if shown else "NEWER", [choice.version for choice in young], holds)
    if recommendation.held_by and not shown and not young:
        yield _labelled("NEWER", Span(f"{HELD_BACK} {recommendation.held_by}", Role.WARN))


def _held_line(label: str, versions: Sequence[Version], holds: Sequence[Hold]) -> Line:
    words = Span(held_words(holds), Role.WARN)
    return _labelled(label, f"{version_range(versions)}  ", words, place=blocker_place(holds))


def _above(group: HeldBack, reached: Version | None) -> list[Version]:
    return [version for version in group.versions if reached is None or version.compare(reached) > 0]


def blocker_place(holds: Iterable[Hold]) -> FilePlace | None:
    """The first line of the configuration among some holds; None if there is none."""
    demands = (hold.demand for hold in holds if hold.demand is not None)
    first = next((entry for demand in demands for entry in demand.requirements), None)
    return FilePlace(first.file, first.line) if first is not None else None


# The release


def _release_lines(
    offer: UpgradeCandidates, choice: CandidateVersion, selection: UpgradeSelection, *, is_asking: bool
) -> Iterator[Line]:
    if choice.released is None:
        yield _labelled("RELEASED", Span("release date unknown", Role.DIM))
    else:
        moment = f"{choice.released:%Y-%m-%d %H:%M} UTC"
        ago = f"  {counted(choice.days or 0, 'day')} ago, reported by the registry"
        yield _labelled("RELEASED", moment, Span(ago, Role.DIM), copied=moment)
    yield from _platform_lines(offer, choice, selection, is_asking=is_asking)
    protocols = ", ".join(choice.listed.protocols) or "protocol unknown"
    yield _labelled("PROTOCOL", protocols)
    new, old = selection.facts(offer, choice.version), selection.facts(offer, offer.locked)
    if new is None:
        state = "lookup in progress" if is_asking else "not looked up yet"
        yield _labelled("SIGNER", Span(state, Role.DIM))
        return
    unknown = new.trouble.words if new.trouble is not None else "no information in the signature"
    yield from signer_change_lines(old.signer if old is not None else None, new.signer, unknown=unknown)


def _platform_lines(
    offer: UpgradeCandidates, choice: CandidateVersion, selection: UpgradeSelection, *, is_asking: bool
) -> Iterator[Line]:
    """The platforms that the upgrade locks, and those that the release has packages for."""
    required = selection.terms.platforms
    locked = platforms_to_lock(offer, selection.known, Platform.parse(this_platform()), required=required)
    names = ", ".join(sorted(map(str, locked.platforms)))
    hashes = counted(locked.unknown, "h1 hash", "h1 hashes")
    if required:
        also = " and locked now" if locked.platforms - frozenset(required) else ""
        also += f", and those of {hashes}" if locked.unknown else ""
        yield _labelled("LOCKS", names, Span(f"  required by the policy{also}", Role.DIM))
    elif not locked.unknown:
        yield _labelled("LOCKS", names, Span("  as now" if offer.entry is not None else "", Role.DIM))
    elif selection.facts(offer, offer.locked) is None:
        state = "lookup in progress" if is_asking else "not looked up yet"
        yield _labelled("LOCKS", Span(f"the platforms of {hashes}: {state}", Role.DIM))
    else:
        words = f"the platforms of {hashes} are unknown: Preview hashes old packages to find them"
        yield _labelled("LOCKS", Span(words, Role.WARN))
    offered = ", ".join(map(str, choice.listed.platforms)) or "platforms unknown"
    yield _labelled("PLATFORMS", offered)


# The versions


def _step_line(offers: Iterable[UpgradeCandidates], selection: UpgradeSelection) -> Iterator[Line]:
    """The versions around the target, to which left and right step."""
    asked = [offer for offer in offers if offer.choices]
    versions = sorted_versions(asked)
    if not versions:
        return
    targets = {choice.version for offer in asked if (choice := selection.target(offer)) is not None}
    locked = {offer.locked for offer in asked}
    places = [index for index, version in enumerate(versions) if version in targets or version in locked]
    first = max(0, min(places, default=0) - _STEPS_BEFORE)
    spans = [Span(f"{counted(first, 'newer')} …  " if first else "", Role.DIM)]
    for version in versions[first : first + _VERSIONS_SHOWN]:
        choice = next(choice for offer in asked if (choice := offer.choice(version)) is not None)
        text = f"{version}{'*' if choice.excluding else ''} {age_words(choice.days)}"
        text += " locked" if version in locked else ""
        spans.append(Span(f"[{text}]  ", Role.STRONG) if version in targets else Span(f"{text}  "))
    rest = len(versions) - first - _VERSIONS_SHOWN
    spans.append(Span(f"… {rest} older" if rest > 0 else "", Role.DIM))
    yield _labelled("VERSIONS", *spans)


def _version_lines(offers: Iterable[UpgradeCandidates], selection: UpgradeSelection) -> Iterator[Line]:
    """All versions, one per line."""
    asked = [offer for offer in offers if offer.choices]
    if not asked:
        return
    versions = [choice.version for choice in asked[0].choices] if len(asked) == 1 else sorted_versions(asked)
    targets = {choice.version for offer in asked if (choice := selection.target(offer)) is not None}
    yield from heading(f"ALL VERSIONS  newest first, {len(versions)}")
    for version in versions:
        yield _version_line(version, asked, selection, is_target=version in targets)


def _version_line(
    version: Version, offers: list[UpgradeCandidates], selection: UpgradeSelection, *, is_target: bool
) -> Line:
    offer, choice = next(
        ((each, choice) for each in offers if (choice := each.choice(version)) is not None), (offers[0], None)
    )
    assert choice is not None
    age = "age ?" if choice.days is None else age_words(choice.days)
    bump = offer.bump(version)
    notes: list[Span] = []
    if any(each.locked == version for each in offers):
        notes.append(Span("locked", Role.GOOD))
    if len(offers) > 1:
        choices = [each.choice(version) for each in offers]
        in_range = sum(each is not None and each.is_in_range for each in choices)
        notes.append(Span(f"in range in {in_range} of {len(offers)} roots", Role.DIM))
    elif refusal := offer.refusal(choice):
        notes.append(Span(f"cannot be selected: {refusal}", Role.DIM))
    elif choice.excluding:
        notes.append(Span(f"*edit {edits_in_short(choice)}", Role.WARN))
    elif version != offer.locked:
        notes.append(Span("in range", Role.DIM))
    if selection.terms.is_too_young(choice) and version != offer.locked:
        notes.append(Span("in cooldown", Role.WARN))
    if not choice.is_usable:
        notes.append(Span("unsupported plugin protocol", Role.WARN))
    if (signer := signer_span(selection, offer, choice)).text and version != offer.locked:
        notes.append(signer)
    joined = [span for note in notes for span in (Span("  "), note)]
    sign = "  > " if is_target else "    "
    role = Role.STRONG if is_target else Role.PLAIN
    spans = Span(sign, Role.STRONG), Span(f"{version!s:<14}", role), f"{age:>6}  {bump or '':<10}"
    return line(*spans, *joined, hanging=6, copied=f"{offer.address} {version}")


def _labelled(label: str, *spans: Span | str, copied: str = "", place: FilePlace | None = None) -> Line:
    return line(Span(label.ljust(_LABEL), Role.HEADING), *spans, hanging=_LABEL, copied=copied, place=place)
