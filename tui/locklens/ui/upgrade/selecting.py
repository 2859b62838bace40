"""The keys of the Upgrade screen, the signs of its rows, and what the keys select. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from locklens.operations.upgrades.recommending import Eligibility, UpgradePolicy
from locklens.text import counted
from locklens.ui.shell import keys
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable, following
from locklens.versions import precedence

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.operations.upgrades import CandidateTable, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.policy import Policy
    from locklens.ui.upgrade.rows import UpgradeRow

UPGRADE_KEYS = KeyTable(
    KeyGroup(
        "Moving",
        keys.ROWS,
        keys.ENDS,
        Key("h l", "", "fold and unfold a provider's roots; h on a root goes to its provider", "fold"),
        keys.PANE,
        Key("enter", "", "open the detail; full screen on narrow terminals", "detail"),
        Key("n", "finding(1)", "next warning: next row that is held back or has warnings", "next warning"),
        Key("N", "finding(-1)", "previous warning: previous row that is held back or has warnings"),
        Key("[", "section(-1)", "previous section or root"),
        Key("]", "section(1)", "next section or root"),
        keys.BACK,
    ),
    KeyGroup(
        "Selection",
        Key("space", "select", "select provider: in the root, or in all of its roots; again: deselect", "select"),
        Key(
            "a",
            "select_eligible",
            "select eligible: upgrades that satisfy the constraints and the cooldown, no majors (M), with a package for"
            " each required platform, without a known change of signer, of the rows that the filter shows; again:"
            " deselect them",
            "all eligible",
        ),
        Key(
            "< >, left right",
            "",
            "older and newer version, the same in all roots of a provider that can take it, a downgrade only where no"
            " root of them is upgraded; * if a constraint would be edited",
            "version",
        ),
        Key("m", "limit", "upgrade limit: same major version, same minor version, any version", "limit"),
        Key("M", "majors", "include major versions: in what a selects; again: leave them out", "majors"),
        Key("c", "cooldown", "toggle cooldown: that of the policy, or 7 days where it has none", "cooldown"),
        Key("U", "upgrade", "preview upgrade: nothing is written before it is applied there", "Preview"),
    ),
    KeyGroup(
        "Reading",
        Key("w", "why", "why this version: constraints with file and line, and the versions held back", "why"),
        keys.INSIDE,
        Key(
            "e",
            "edit",
            "edit constraint: the line that holds the provider back, or else requires it, in $VISUAL or $EDITOR",
            "edit",
        ),
        Key(
            "o",
            "open_page",
            "open release page: of the target version on the registry; copies the URL without a browser",
        ),
        Key("y", "copy", "copy row: provider and versions, or the highlighted line of the detail", "copy"),
        Key("x", "expand", "toggle all versions: one per line, or those near the target in one line"),
        keys.FILTER,
        Key("b", "group", "change grouping: by provider, by root", "group"),
        keys.RELOAD,
    ),
    keys.PROGRAM_KEYS,
    keys.elsewhere("U", "M"),
    in_list="?|q ctrl+c|space|U|a|< >|w|z|enter|/|m|M|c|n|b|h l|e|r|:",
    in_detail="?|esc|j k|space|< >|U|e|y|w|z|tab|q ctrl+c|:",
)


UPGRADE_SIGNS = {
    "[x] [ ] [-]": "selected, not selected, selected in some roots",
    "-": "no version to select: right steps to one that needs an edited constraint",
    "*": "excluded by the configuration, of at least one root: the upgrade edits the constraint, as Preview shows",
}


SIGNER_SIGNS = {
    "same key": "signed with the key of the locked version",
    "key EXPIRED": "the key of the locked version; it has expired",
    "NEW KEY": "a different key; both are in the detail",
    "NOT SIGNED": "not signed, unlike the locked version",
    "now signed": "signed, unlike the locked version",
    "still unsigned": "not signed, like the locked version",
    "REFUSED": "the tool would refuse the release",
    "?": "unknown; the reason is in the detail",
    "not looked up": "unknown until the row is highlighted or selected: there are many other releases",
}


class Chosen(NamedTuple):
    """A selection after a key, and a sentence about it; "" where the list says enough."""

    selection: UpgradeSelection
    words: str = ""


def toggled(selection: UpgradeSelection, row: UpgradeRow) -> Chosen:
    """Select the providers of a row, or deselect them."""
    selectable = [offer for offer in row.offers if selection.target(offer) is not None]
    if selectable:
        made = selection.toggled(selectable)
        edited = [offer for offer, choice in made.choices if choice.excluding and offer in selectable]
        where = f" in {len(edited)} of {counted(len(selectable), 'root')}" if len(selectable) > 1 else ""
        return Chosen(made, f"selected with edits of the constraints{where}" if edited else "")
    return Chosen(selection, _why_not_selectable(row, selection))


def toggled_eligible(selection: UpgradeSelection, shown: Collection[UpgradeCandidates]) -> Chosen:
    """Select all eligible upgrades that are shown; once they are selected, none of what is shown."""
    keys = {offer.key for offer in shown}
    eligible = [offer for offer in selection.safe if offer.key in keys]
    addresses = {offer.address for offer in eligible}
    hidden = {offer.address for offer in selection.safe} - addresses
    by_filter = f"; {counted(len(hidden), 'eligible provider')} hidden by the filter" if hidden else ""
    if frozenset(offer.key for offer in eligible) <= selection.selected:
        cleared = selection.without(shown)
        done = "deselected the rows shown" if cleared.selected else "selection cleared"
        words = done if cleared != selection else f"no eligible upgrade is known{_undecided_words(selection)}"
        return Chosen(cleared, f"{'no eligible upgrade is shown' if by_filter and not eligible else words}{by_filter}")
    states = selection.state_by_provider()
    ready = [address for address, state in states.items() if state is Eligibility.READY]
    words = f"selected {counted(len(addresses), 'eligible provider')}{by_filter}"
    if left := len(frozenset(ready) - addresses - hidden):
        # Another version than the recommended one was stepped to in all of their roots.
        words += f"; {left} {'is' if left == 1 else 'are'} left at the version you stepped to"
    return Chosen(selection.with_safe(eligible), f"{words}{_undecided_words(selection)}")


def _undecided_words(selection: UpgradeSelection) -> str:
    """The number of providers that need a decision, and which of them `M` makes eligible; "" for none."""
    undecided, left_by_majors = len(selection.undecided), len(selection.undecided_with_majors)
    if not undecided:
        return ""
    leaves = f" (M, which includes majors, leaves {left_by_majors or 'none'})" if left_by_majors < undecided else ""
    return f"; {undecided} {'needs' if undecided == 1 else 'need'} your decision{leaves}"


def stepped(selection: UpgradeSelection, row: UpgradeRow | None, by: int) -> Chosen:
    """Step to a newer (1) or older (-1) version of a row's provider."""
    if row is None or not row.is_of_provider:
        return Chosen(selection, "version: no provider on this row")
    moved = selection.moved(row.offers, by)
    if not can_step(selection, row, by):
        unknown = [offer for offer in row.offers if not offer.choices]
        if len(unknown) == len(row.offers):
            return Chosen(moved, _why_unknown(unknown[0]))
        known = "known " if unknown else ""
        reason = _why_refused(selection, row, by)
        return Chosen(moved, f"no {known}{'newer' if by > 0 else 'older'} version can be selected{reason}")
    selected = [offer for offer in row.offers if selection.is_selected(offer)]
    dropped = [offer for offer in selected if not moved.is_selected(offer)]
    again = [of for of, choice in moved.choices if of in row.offers and choice.excluding and of not in selected]
    reached = moved.reached(row.offers)
    is_locked = any(offer.locked == reached is not None for offer in dropped)
    reason = "that is the locked version" if is_locked else "no version is left to select"
    said = [f"deselected {row.offers[0].name}{_extent(dropped, row)}: {reason}"] if dropped else []
    said += [f"selected again{_extent(again, row)}, with edits of the constraints"] if again else []
    return Chosen(moved, "; ".join(said))


def _why_refused(selection: UpgradeSelection, row: UpgradeRow, by: int) -> str:
    """Why no newer (1) or older (-1) version that is listed can be selected, of the next one; "" if none is listed."""
    reached = selection.reached(row.offers)
    listed = [(offer, one) for offer in row.offers for one in offer.choices]
    beyond = [(offer, one) for offer, one in listed if reached is not None and one.version.compare(reached) * by > 0]
    if not beyond:
        return ""
    nearest = min if by > 0 else max
    offer, next_one = nearest(beyond, key=lambda pair: precedence(pair[1].version))
    reason = offer.refusal(next_one)
    return f": {next_one.version}: {reason}" if reason else "; x shows why"


def _extent(offers: Collection[UpgradeCandidates], row: UpgradeRow) -> str:
    return f" in {len(offers)} of {len(row.offers)} roots" if len(row.offers) > 1 else ""


def can_step(selection: UpgradeSelection, row: UpgradeRow, by: int) -> bool:
    """True if a row's provider has a newer (1) or older (-1) version to step to in one of its roots."""
    moved = selection.moved(row.offers, by)
    return any(moved.target(offer) != selection.target(offer) for offer in row.offers)


def with_next_limit(selection: UpgradeSelection) -> Chosen:
    """Set the next upgrade limit."""
    limit = following(selection.terms.limit)
    return _by_terms(selection, replace(selection.terms, limit=limit), f"upgrade limit: {limit}")


def with_majors_toggled(selection: UpgradeSelection) -> Chosen:
    """Take major versions into the eligible upgrades, or leave them out."""
    terms = selection.terms
    words = "major versions: " + ("not eligible" if terms.takes_majors else "eligible, a selects them too")
    return _by_terms(selection, replace(terms, takes_majors=not terms.takes_majors), words)


def with_cooldown_toggled(selection: UpgradeSelection) -> Chosen:
    """Switch the cooldown off, or on: that of the policy, or the usual one."""
    terms = selection.terms.with_cooldown_toggled()
    return _by_terms(selection, terms, _cooldown_in_words(terms))


def under_policy(selection: UpgradeSelection, policy: Policy) -> Chosen:
    """Apply another policy, and name its cooldown where that ends what the user had switched."""
    before, terms = selection.terms, selection.terms.under(policy)
    is_ended = (before.ignores_cooldown, before.own_cooldown) != (terms.ignores_cooldown, terms.own_cooldown)
    chosen = _by_terms(selection, terms, _cooldown_in_words(terms) if is_ended else "")
    return Chosen(chosen.selection, f"{chosen.words}; the policy changed" if chosen.words else "")


def with_answers(selection: UpgradeSelection, offers: CandidateTable) -> Chosen:
    """Replace the candidates, and say of how many selected providers the target changed."""
    made = selection.with_offers(offers)
    return Chosen(made, _deselected_words(selection, made))


def _cooldown_in_words(terms: UpgradePolicy) -> str:
    if terms.cooldown is None:
        return "no cooldown: releases of any age"
    source = "as the policy sets none" if terms.policy.cooldown is None else "by the policy"
    return f"cooldown: {counted(terms.cooldown, 'day')}, {source}"


def _by_terms(selection: UpgradeSelection, terms: UpgradePolicy, words: str) -> Chosen:
    """Set the conditions, and say of how many selected providers the target changed."""
    made = selection.with_terms(terms)
    return Chosen(made, "; ".join(filter(None, (words, _deselected_words(selection, made)))))


def _deselected_words(before: UpgradeSelection, made: UpgradeSelection) -> str:
    """How many selected providers are deselected, since their target changed or needs a decision now; "" for none.

    One that was locked at another version meanwhile, or is no longer listed, is no such provider.
    """
    locked = {offer.key: offer.locked for offer, _ in before.choices}
    gone = before.selected - made.selected
    changed = [one for one in made.offers.providers if one.key in gone and locked.get(one.key) == one.locked]
    if not changed:
        return ""
    versions, targets = {offer.key: choice.version for offer, choice in before.choices}, map(made.target, changed)
    moves = [(versions.get(offer.key), target) for offer, target in zip(changed, targets, strict=True)]
    if all(target is None for _, target in moves):
        reason = ", without a target version"
    elif all(target is not None and target.version == version for version, target in moves):
        reason = ": a decision is needed now"
    else:
        reason = ": another version would be the target"
    return f"deselected {len(changed)} of {counted(len(before.selected), 'entry', 'entries')}{reason}"


def _why_not_selectable(row: UpgradeRow, selection: UpgradeSelection) -> str:
    if row.refused is not None:
        return f"upgrades are not possible there: {row.refused.error}"
    if not row.is_of_provider:
        return "nothing to select on this row"
    offer = row.offers[0]
    if not offer.choices:
        return _why_unknown(offer)
    recommendation = selection.recommendation(offer)
    if recommendation.state is Eligibility.CURRENT:
        return f"no newer version of {offer.name} is released"
    reason = f": {recommendation.held_by}" if recommendation.held_by else ""
    step = "; right steps to one" if selection.moved(row.offers, 1).target(offer) is not None else ""
    return f"no target version{reason}{step}"


def _why_unknown(offer: UpgradeCandidates) -> str:
    return offer.problem or f"no version of {offer.name} is known{'' if offer.is_asked else ' yet'}"
