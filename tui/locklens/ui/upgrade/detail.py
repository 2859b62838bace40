"""The detail of a row of the Upgrade screen (warnings, holds, release, versions), and the screen's bars. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.lines import FilePlace, Line, Role, Span, labelled, line
from locklens.operations.upgrades import edits_in_short
from locklens.operations.upgrades.recommending import Eligibility
from locklens.operations.upgrades.report import (
    blocker_place,
    held_version_lines,
    offer_lines,
    release_lines,
    unknown_lines,
    version_lines,
    warning_lines,
)
from locklens.operations.upgrades.selection import UpgradeSelection, sorted_versions
from locklens.project.configuration import Contributor, constraint_place
from locklens.selection import BumpLimit
from locklens.text import age_words, counted, size_words
from locklens.ui.row_actions import RowTarget
from locklens.ui.shell.bars import joined_parts
from locklens.ui.widgets import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.upgrades import CandidateVersion, DownloadEstimate, RefusedRoot, UpgradeCandidates
    from locklens.ui.upgrade.rows import UpgradeRow


def upgrade_head(selection: UpgradeSelection) -> tuple[BarLayout, ...]:
    """The head line: how many providers can be upgraded, need a decision, are held back, are unknown.

    Where nothing is known, or not yet, no other number is said: none would be true. "up to" stands before upgrades of
    which a signer was not looked up yet: another one, or none that can be looked up, makes an upgrade a decision.
    """
    name = (Piece(" locklens  ", Role.STRONG), Piece("upgrade", Role.DIM))
    providers = selection.offers.providers
    if not providers and not selection.offers.refused:
        return (BarLayout(name),)
    roots, refused = {offer.root for offer in providers}, len({root.root for root in selection.offers.refused})
    extent = f"  {counted(len({offer.address for offer in providers}), 'provider')} in {counted(len(roots), 'root')}"
    found = selection.counts
    most = "up to " if selection.has_unknown_signers else ""
    is_ready, is_held = found.ready and not most, found.held or found.partly
    silent = found.unknown - found.asking
    counts = (
        Piece(f"  {most}{found.ready} can upgrade" if found.is_any_known else "", Role.GOOD if is_ready else Role.DIM),
        Piece(f"  {found.undecided} to decide" if found.undecided else "", Role.WARN),
        Piece(f"  {found.held_words}" if found.is_any_known else "", Role.WARN if is_held else Role.DIM),
        Piece(f"  {silent} unknown" if silent > 0 else "", Role.WARN),
        Piece(f"  {counted(refused, 'root')} not read" if refused else "", Role.WARN),
    )
    return (
        BarLayout((*name, Piece(extent)), counts),
        BarLayout((name[0], Piece(extent.strip())), counts),
        BarLayout(name[:1], counts),
        BarLayout((Piece(" "),), counts),
        BarLayout((Piece(" "),), (*counts[:2], Piece(counts[2].text.partition(",")[0], counts[2].role), *counts[3:])),
    )


def upgrade_status(
    selection: UpgradeSelection,
    fetch: DownloadEstimate,
    *,
    asking: str,
    is_narrowed: bool,
    is_offline: bool = False,
    notes: int = 0,
    message: str = "",
) -> tuple[BarLayout, ...]:
    """The status line: the selection and its download, the conditions on upgrades, or a message in place of them.

    `fetch` is the estimate for the selection; `asking` is the lookup in progress, in words, "" for none; offline, no
    upgrade can be planned; `notes` is the number of notes.
    """
    if message:
        return (BarLayout((Piece(f" {message}", Role.STRONG),), is_whole=True),)
    parts: list[Piece] = []
    choices = selection.choices
    if choices:
        providers = counted(len({offer.address for offer, _ in choices}), "provider")
        roots = counted(len({offer.root for offer, _ in choices}), "root")
        parts += [Piece(f"{providers} selected in {roots}", Role.GOOD), Piece(fetch_words(fetch))]
    elif not is_offline:
        parts += [Piece(nothing_selected(selection), Role.DIM)]
    terms = [
        Piece(selection.terms.cooldown_words, Role.DIM),
        Piece(str(selection.terms.limit) if selection.terms.limit is not BumpLimit.ANYWHERE else "", Role.DIM),
        Piece("majors included" if selection.terms.takes_majors else "", Role.DIM),
    ]
    state = [
        Piece(asking or ("offline: no upgrade can be planned" if is_offline else ""), Role.INFO),
        Piece(counted(notes, "note") if notes else "", Role.WARN),
        Piece("filtered" if is_narrowed else "", Role.WARN),
    ]

    def layout(*shown: Piece) -> BarLayout:
        return BarLayout((Piece(" "), *joined_parts([part for part in shown if part.text])))

    rest = Piece("" if is_offline else "others are left untouched", Role.DIM)
    # A line that is too long loses whole parts: what is going on is the last to go.
    least = layout(*state) if any(piece.text for piece in state) else layout(*parts)
    return layout(*parts, *terms, *state, rest), layout(*parts, *terms, *state), layout(*parts, *state), least


def nothing_selected(selection: UpgradeSelection) -> str:
    """Say that nothing is selected, and which keys select something."""
    ways = ["space selects"] if any(map(selection.target, selection.offers.providers)) else []
    ways += ["a selects all eligible"] if selection.safe else []
    return f"nothing selected: {', '.join(ways) or 'no eligible upgrade is known'}"


def fetch_words(fetch: DownloadEstimate) -> str:
    """A download estimate in words."""
    about = "" if fetch.is_sure else "about "
    hashed = f", {fetch.hashed} already hashed" if fetch.hashed else ""
    if not fetch.packages:
        return f"nothing to download{hashed}"
    size = f", {size_words(fetch.size)}" if fetch.size is not None else ", size unknown"
    return f"downloads {about}{counted(fetch.packages, 'package')}{size}{hashed}"


_VERSIONS_SHOWN, _STEPS_BEFORE = 8, 3
"""Versions around the target in one line, and those above it."""

_MEANINGS = {
    Eligibility.READY: "A newer version satisfies the constraints, the cooldown and the upgrade limit, and no other key"
    " is known to have signed it. a selects those that were not stepped to another version; on a provider's row, space"
    " selects it, < and > step to another version. U previews the selection.",
    Eligibility.DECIDE: "A newer version satisfies the constraints, but a does not select it: it is a major version,"
    " another key signed it, or something about it is not known, such as its signer. Its last column says which; space"
    " selects it.",
    Eligibility.HELD: "No version is recommended: the last column says what holds it back. w explains it, e opens the"
    " line of a constraint, > steps to a version that needs an edited constraint.",
    Eligibility.NOT_REQUIRED: "Nothing in the root requires it, so that an upgrade skips it. On Health, P prunes it.",
    Eligibility.CURRENT: "No newer version is released.",
    Eligibility.UNKNOWN: "The versions are not known, or upgrades are not possible in the root.",
}


def upgrade_lines(
    row: UpgradeRow, selection: UpgradeSelection, *, in_full: bool = False, is_asking: bool = False
) -> Iterator[Line]:
    """The detail of a row, in full with all versions, one per line; `is_asking` during a lookup of signers."""
    if not row.depth:
        yield from _section_lines(row)
    elif row.refused is not None:
        yield from _refused_lines(row)
    elif row.offer is not None:
        yield _head(row.offer, selection)
        steps = _step_line([row.offer], selection)
        yield from offer_lines(row.offer, selection, steps=steps, lists_versions=in_full, is_asking=is_asking)
    else:
        yield from _group_lines(row, selection, in_full=in_full, is_asking=is_asking)


def _section_lines(row: UpgradeRow) -> Iterator[Line]:
    yield line(Span(row.title, Role.STRONG))
    state = next((state for state in Eligibility if row.key == f"state:{state}"), None)
    if state is None and row.key == "state:refused":
        state = Eligibility.UNKNOWN
    meaning = _MEANINGS[state] if state is not None else "One root with all of its providers."
    if state is Eligibility.UNKNOWN and any(not offer.is_asked for offer in row.offers):
        meaning = "The registries are being asked for the versions of these providers."
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
    name = f"{offer.name} {offer.locked_words}{target}"
    spans = Span(name, Role.STRONG), selected, root, host
    return line(*spans, copied=_copied(offer, choice), place=_entry_place(offer))


def _group_lines(row: UpgradeRow, selection: UpgradeSelection, *, in_full: bool, is_asking: bool) -> Iterator[Line]:
    roots = counted(len(row.offers), "root")
    yield line(Span(row.title, Role.STRONG), Span(f"  in {roots}", Role.DIM), copied=str(row.offers[0].address))
    for offer in row.offers:
        choice = selection.target(offer)
        mark = "[x] " if selection.is_selected(offer) else "[ ] " if choice is not None else " -  "
        target = Span(f" -> {choice.version}" if choice is not None else "", Role.STRONG)
        edit = Span(f"  *edit {edits_in_short(choice)}" if choice is not None and choice.excluding else "", Role.WARN)
        reasons = "needs action" if offer.is_excluded else "", selection.recommendation(offer).held_by
        held = ": ".join(filter(None, reasons)) if choice is None else ""
        name = Span(offer.root or ".", Role.PLACE)
        locked = f"  {offer.locked_words}"
        yield line(
            f"  {mark}", name, locked, target, edit, Span(f"  {held}", Role.DIM), hanging=6, place=_entry_place(offer)
        )
    first = leading_offer(row, selection)
    yield line()
    yield from _step_line(row.offers, selection)
    choice = selection.target(first)
    details = [*unknown_lines(first), *warning_lines(first, selection), *held_version_lines(first, selection)]
    if choice is not None:
        details += release_lines(first, choice, selection, is_asking=is_asking)
    if details:
        yield line(Span(f"As in {first.root or '.'}:", Role.DIM))
        yield from details
    if in_full:
        yield from version_lines(row.offers, selection)


def leading_offer(row: UpgradeRow, selection: UpgradeSelection) -> UpgradeCandidates:
    """The offer that stands for a row of several roots: the first with a target, if one has any."""
    return next((offer for offer in row.offers if selection.target(offer) is not None), row.offers[0])


def upgrade_target(row: UpgradeRow | None, selection: UpgradeSelection) -> RowTarget:
    """The targets of a row: its versions, the line to edit, and the target release.

    Without a target that is the newest release in range, or where none is above the locked one, the newest of all.

    The line is that of the constraint that holds it back, or else of any, or where the provider is required without.
    """
    if row is None or not row.is_of_provider:
        refused = row.refused if row is not None else None
        return RowTarget("", refused_place(refused) if refused is not None else None)
    offer = leading_offer(row, selection)
    choice = selection.target(offer)
    reach = choice or (offer.in_range if offer.in_range and offer.is_newer(offer.in_range.version) else None)
    version = reach.version if reach is not None else offer.newest or offer.locked
    groups = (group for candidates in row.offers for group in candidates.newer)
    held = next((place for group in groups if (place := blocker_place(group.holds))), None)
    # The lock file's own record of a constraint is nothing to edit.
    written = [one for one in offer.requirements if one.contributor is not Contributor.RECORDED]
    first = next((one for one in written if one.constraint), next(iter(written), None))
    line_to_edit = held or (constraint_place(first) if first is not None else None)
    release = (offer.address, str(version)) if version is not None else None
    return RowTarget(_copied(offer, choice), line_to_edit, release)


def _copied(offer: UpgradeCandidates, choice: CandidateVersion | None) -> str:
    target = f" -> {choice.version}" if choice is not None else ""
    return f"{offer.address} {offer.locked_words}{target}"


def _entry_place(offer: UpgradeCandidates) -> FilePlace:
    return FilePlace(offer.lock_file, offer.entry.line if offer.entry is not None else 1)


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
    yield labelled("VERSIONS", *spans)
