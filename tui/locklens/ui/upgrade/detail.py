"""What the detail of the screen of upgrades says of a row, and why a provider is not newer. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.operations.upgrades.candidates import edits_in_short
from locklens.operations.upgrades.recommend import Eligibility, age_words
from locklens.operations.upgrades.selection import sorted_versions
from locklens.text import counted
from locklens.ui.text.signers import signer_change_lines
from locklens.ui.text.spans import FilePlace, Line, Role, Span, heading, line
from locklens.ui.upgrade.rows import RowKind, UpgradeRow, signer_span, warning_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.upgrades.candidates import CandidateVersion, RefusedRoot, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.project.configuration import Requirement
    from locklens.selection import HeldBack, Hold
    from locklens.versions import Version

_LABEL = 13
_VERSIONS_SHOWN, _STEPS_BEFORE = 8, 3
"""Around the pick, in one line."""

_GROUPS_SHOWN = 6

_MEANINGS = {
    Eligibility.READY: "A newer version is in range, near enough, and old enough. space chooses, left and right step to"
    " another version, U shows what would be written.",
    Eligibility.HELD: "There is a newer version, and something holds it back. w says all of it, e opens the line; with"
    " right a version can be chosen for which a constraint is edited.",
    Eligibility.CURRENT: "Nothing newer is released.",
    Eligibility.UNKNOWN: "The registry has not said what there is, or nothing can be upgraded in the root.",
}


def upgrade_lines(
    row: UpgradeRow, picking: UpgradeSelection, *, in_full: bool = False, is_asking: bool = False
) -> Iterator[Line]:
    """The detail of a row.

    Args:
        row: Which.
        picking: What is offered and picked.
        in_full: Whether all versions are listed, each with what there is to say of it.
        is_asking: Whether signers are still being asked about.
    """
    if row.kind is RowKind.SECTION:
        yield from _section_lines(row)
    elif row.refused is not None:
        yield from _refused_lines(row)
    elif row.offer is not None:
        yield _head(row.offer, picking)
        yield from _offer_lines(row.offer, picking, in_full=in_full, is_asking=is_asking)
    else:
        yield from _group_lines(row, picking, in_full=in_full, is_asking=is_asking)


def _section_lines(row: UpgradeRow) -> Iterator[Line]:
    yield line(Span(row.title, Role.STRONG))
    state = next((one for one in Eligibility if row.key == f"state:{one}"), None)
    meaning = _MEANINGS[state] if state is not None else "One root with all of its providers."
    yield line(Span(meaning, Role.DIM), hanging=0)


def _refused_lines(row: UpgradeRow) -> Iterator[Line]:
    assert row.refused is not None
    error = row.refused.error
    yield line(Span(row.title, Role.STRONG), Span("  nothing can be upgraded here", Role.WARN))
    yield line(str(error), hanging=2, copied=str(error), place=refused_place(row.refused))
    if error.hint:
        yield line(Span(error.hint, Role.DIM), hanging=2)


def refused_place(refused: RefusedRoot) -> FilePlace:
    """Where the reason is that nothing can be upgraded in a root; its lock file where the error names no file."""
    file, number = refused.error.place or (refused.lock_file, None)
    return FilePlace(file, number or 1)


def _head(offer: UpgradeCandidates, picking: UpgradeSelection) -> Line:
    choice = picking.picked(offer)
    target = f" -> {choice.version}" if choice is not None else ""
    copied = f"{offer.address} {offer.locked or 'not locked'}{target}"
    chosen = Span("  chosen" if picking.is_chosen(offer) else "", Role.GOOD)
    root = Span(f"  {offer.root or '.'}", Role.PLACE)
    host = Span(f"  {display_host(offer.address.host)}", Role.DIM)
    place = FilePlace(offer.lock_file, offer.entry.line if offer.entry is not None else 1)
    name = f"{offer.name} {offer.locked or 'not locked'}{target}"
    return line(Span(name, Role.STRONG), chosen, root, host, copied=copied, place=place)


def _offer_lines(
    offer: UpgradeCandidates, picking: UpgradeSelection, *, in_full: bool, is_asking: bool
) -> Iterator[Line]:
    choice = picking.picked(offer)
    if offer.problem:
        yield _labelled("NOT KNOWN", Span(offer.problem, Role.WARN), copied=offer.problem)
        if offer.hint:
            yield _labelled("", Span(offer.hint, Role.DIM))
    if not offer.is_asked:
        yield _labelled("ASKING", Span("the registry is being asked which versions there are", Role.DIM))
    for number, doubt in enumerate(warning_spans(picking, offer, choice)):
        yield _labelled("" if number else "THINK ABOUT", Span("! ", doubt.role), Span(doubt.text), copied=doubt.text)
    yield from _step_line([offer], picking)
    yield from _constraint_lines(offer, choice)
    yield from _held_lines(offer, picking)
    if choice is not None:
        yield from _release_lines(offer, choice, picking, is_asking=is_asking)
    if in_full:
        yield from _version_lines([offer], picking)


def _group_lines(row: UpgradeRow, picking: UpgradeSelection, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    roots = counted(len(row.offers), "root")
    yield line(Span(row.title, Role.STRONG), Span(f"  in {roots}", Role.DIM), copied=str(row.offers[0].address))
    for offer in row.offers:
        choice = picking.picked(offer)
        mark = "[x] " if picking.is_chosen(offer) else "[ ] " if choice is not None else " -  "
        target = Span(f" -> {choice.version}" if choice is not None else "", Role.STRONG)
        edit = Span(f"  *edit {edits_in_short(choice)}" if choice is not None and choice.excluding else "", Role.WARN)
        held = picking.standing(offer).held_by if choice is None else ""
        place = FilePlace(offer.lock_file, offer.entry.line if offer.entry is not None else 1)
        name = Span(offer.root or ".", Role.PLACE)
        told = f"  {offer.locked or 'not locked'}"
        yield line(f"  {mark}", name, told, target, edit, Span(f"  {held}", Role.DIM), hanging=6, place=place)
    first = next((one for one in row.offers if picking.picked(one) is not None), row.offers[0])
    yield line()
    yield from _step_line(row.offers, picking)
    yield line(Span(f"As in {first.root or '.'}:", Role.DIM))
    choice = picking.picked(first)
    for number, doubt in enumerate(warning_spans(picking, first, choice)):
        yield _labelled("" if number else "THINK ABOUT", Span("! ", doubt.role), Span(doubt.text), copied=doubt.text)
    yield from _held_lines(first, picking)
    if choice is not None:
        yield from _release_lines(first, choice, picking, is_asking=is_asking)
    if in_full:
        yield from _version_lines(row.offers, picking)


# The constraints


def _constraint_lines(offer: UpgradeCandidates, choice: CandidateVersion | None) -> Iterator[Line]:
    excluding = {(one.file, one.line, one.subject) for one in choice.excluding} if choice is not None else set()
    told = [one for one in offer.requirements if one.constraint]
    if not offer.requirements:
        words = "nothing requires it: prune removes it (P in Review)"
        if offer.unread:
            words = f"nothing that can be read requires it; {offer.unread}"
        yield _labelled("CONSTRAINTS", Span(words, Role.WARN))
        return
    if not told:
        first = offer.requirements[0]
        what = f"none; required by {first.subject}  "
        place = FilePlace(first.file, first.line)
        yield _labelled("CONSTRAINTS", what, Span(str(place), Role.PLACE), place=place)
    for number, one in enumerate(told):
        edited = Span("  excludes it", Role.WARN) if (one.file, one.line, one.subject) in excluding else Span("")
        yield _requirement_line("" if number else "CONSTRAINTS", one, edited, offer.guards.get(one.file, ""))
    if choice is not None and choice.excluding and offer.refusal(choice):
        yield _labelled("", Span(offer.refusal(choice), Role.WARN))


def _requirement_line(label: str, one: Requirement, edited: Span, guard: str) -> Line:
    place = FilePlace(one.file, one.line)
    module = Span(f"  module {one.module}" if one.module else "", Role.DIM)
    hidden = ""
    if one.overrides is not None:
        over = one.overrides
        hidden = f"  hides {over.constraint} ({over.file}:{over.line})"
    fixed = Span(f"  {guard}" if guard and edited.text else "", Role.WARN)
    spans = Span(f"{one.constraint.strip():<14} "), Span(str(place), Role.PLACE), module, Span(hidden, Role.WARN)
    return _labelled(label, *spans, edited, fixed, copied=f"{one.constraint.strip()}", place=place)


def _held_lines(offer: UpgradeCandidates, picking: UpgradeSelection) -> Iterator[Line]:
    """What holds back the versions above the suggested one, in short."""
    found = picking.standing(offer)
    reached = found.suggested.version if found.suggested is not None else offer.locked
    groups = [_above(group, reached) for group in offer.newer]
    number = 0
    for told in (one for group, one in zip(offer.newer, groups, strict=True) if one and group.holds):
        if number == _GROUPS_SHOWN:
            yield _labelled("", Span("w says the rest", Role.DIM))
            return
        yield _labelled("" if number else "NOT NEWER", *told[0], place=told[1])
        number += 1
    if found.held_by and not number:
        yield _labelled("NOT NEWER", found.held_by)


def _above(group: HeldBack, reached: Version | None) -> tuple[tuple[Span, ...], FilePlace | None] | None:
    versions = [one for one in group.versions if reached is None or one.compare(reached) > 0]
    if not versions:
        return None
    names = str(versions[0]) if len(versions) == 1 else f"{versions[-1]} … {versions[0]} ({len(versions)})"
    return (Span(f"{names}  "), Span("; ".join(map(str, group.holds)), Role.WARN)), blocker_place(group.holds)


def blocker_place(holds: Iterable[Hold]) -> FilePlace | None:
    """The first line of the configuration that holds something back."""
    demands = (hold.demand for hold in holds if hold.demand is not None)
    first = next((one for demand in demands for one in demand.requirements), None)
    return FilePlace(first.file, first.line) if first is not None else None


# The release


def _release_lines(
    offer: UpgradeCandidates, choice: CandidateVersion, picking: UpgradeSelection, *, is_asking: bool
) -> Iterator[Line]:
    if choice.released is None:
        yield _labelled("RELEASED", Span("nobody says when", Role.DIM))
    else:
        moment = f"{choice.released:%Y-%m-%d %H:%M} UTC"
        ago = f"  {counted(choice.days or 0, 'day')} ago, as the registry says"
        yield _labelled("RELEASED", moment, Span(ago, Role.DIM), copied=moment)
    names = ", ".join(map(str, choice.listed.platforms)) or "the registry does not say"
    yield _labelled("PLATFORMS", names)
    protocols = ", ".join(choice.listed.protocols) or "the registry does not say"
    yield _labelled("PROTOCOL", protocols)
    new, old = picking.facts(offer, choice.version), picking.facts(offer, offer.locked)
    if new is None:
        told = "being asked" if is_asking else "not asked yet"
        yield _labelled("SIGNER", Span(told, Role.DIM))
        return
    unknown = new.trouble.words if new.trouble is not None else "the signature says nothing"
    yield from signer_change_lines(old.signer if old is not None else None, new.signer, unknown=unknown)


# The versions


def _step_line(offers: Iterable[UpgradeCandidates], picking: UpgradeSelection) -> Iterator[Line]:
    """The versions that left and right go to, those around the pick."""
    asked = [one for one in offers if one.choices]
    versions = sorted_versions(asked)
    if not versions:
        return
    picked = {choice.version for one in asked if (choice := picking.picked(one)) is not None}
    locked = {one.locked for one in asked}
    places = [index for index, version in enumerate(versions) if version in picked or version in locked]
    first = max(0, min(places, default=0) - _STEPS_BEFORE)
    spans = [Span(f"{counted(first, 'newer')} …  " if first else "", Role.DIM)]
    for version in versions[first : first + _VERSIONS_SHOWN]:
        choice = next(choice for one in asked if (choice := one.choice(version)) is not None)
        text = f"{version}{'*' if choice.excluding else ''} {age_words(choice.days)}"
        text += " locked" if version in locked else ""
        spans.append(Span(f"[{text}]  ", Role.STRONG) if version in picked else Span(f"{text}  "))
    rest = len(versions) - first - _VERSIONS_SHOWN
    spans.append(Span(f"… {rest} older" if rest > 0 else "", Role.DIM))
    yield _labelled("VERSIONS", *spans)


def _version_lines(offers: Iterable[UpgradeCandidates], picking: UpgradeSelection) -> Iterator[Line]:
    """Each version in a line of its own."""
    asked = [one for one in offers if one.choices]
    if not asked:
        return
    versions = [choice.version for choice in asked[0].choices] if len(asked) == 1 else sorted_versions(asked)
    picked = {choice.version for one in asked if (choice := picking.picked(one)) is not None}
    yield from heading(f"ALL VERSIONS  the newest first, {len(versions)}")
    for version in versions:
        yield _version_line(version, asked, picking, is_picked=version in picked)


def _version_line(
    version: Version, offers: list[UpgradeCandidates], picking: UpgradeSelection, *, is_picked: bool
) -> Line:
    offer, choice = next(
        ((one, choice) for one in offers if (choice := one.choice(version)) is not None), (offers[0], None)
    )
    assert choice is not None
    age = "age ?" if choice.days is None else age_words(choice.days)
    bump = offer.bump(version)
    told: list[Span] = []
    if any(one.locked == version for one in offers):
        told.append(Span("locked", Role.GOOD))
    if len(offers) > 1:
        able = sum((own := one.choice(version)) is not None and own.is_in_range for one in offers)
        told.append(Span(f"in range in {able} of {len(offers)}", Role.DIM))
    elif refusal := offer.refusal(choice):
        told.append(Span(f"cannot be picked: {refusal}", Role.DIM))
    elif choice.excluding:
        told.append(Span(f"*edit {edits_in_short(choice)}", Role.WARN))
    elif version != offer.locked:
        told.append(Span("in range", Role.DIM))
    if picking.terms.is_too_young(choice) and version != offer.locked:
        told.append(Span("too young", Role.WARN))
    if not choice.is_usable:
        told.append(Span("plugin protocol", Role.WARN))
    if (signer := signer_span(picking, offer, choice)).text and version != offer.locked:
        told.append(signer)
    joined = [span for one in told for span in (Span("  "), one)]
    sign = "  > " if is_picked else "    "
    role = Role.STRONG if is_picked else Role.PLAIN
    spans = Span(sign, Role.STRONG), Span(f"{version!s:<14}", role), f"{age:>6}  {bump or '':<10}"
    return line(*spans, *joined, hanging=6, copied=f"{offer.address} {version}")


def _labelled(label: str, *spans: Span | str, copied: str = "", place: FilePlace | None = None) -> Line:
    return line(Span(label.ljust(_LABEL), Role.HEADING), *spans, hanging=_LABEL, copied=copied, place=place)
