"""The answers to the keys that choose upgrades: another selection each, and a sentence about it. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from locklens.operations.upgrades.selection import Eligibility, candidate_key
from locklens.text import counted
from locklens.ui.upgrade.rows import RowKind

if TYPE_CHECKING:
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.ui.upgrade.rows import UpgradeRow


class Chosen(NamedTuple):
    """A selection after a key, and a sentence about it; "" where the list says enough."""

    selection: UpgradeSelection
    words: str = ""


def toggled(selection: UpgradeSelection, row: UpgradeRow) -> Chosen:
    """Select the providers of a row, or deselect them."""
    selectable = [offer for offer in row.offers if selection.target(offer) is not None]
    if selectable:
        return Chosen(selection.toggled(selectable))
    return Chosen(selection, _why_not_selectable(row, selection))


def toggled_eligible(selection: UpgradeSelection) -> Chosen:
    """Select all eligible upgrades; once they are selected, nothing."""
    eligible = selection.safe
    if frozenset(map(candidate_key, eligible)) <= selection.selected:
        return Chosen(selection.without_any(), "selection cleared" if selection.selected else "no eligible upgrades")
    addresses = {offer.address for offer in eligible}
    offers = selection.offers.providers
    ready = {offer.address for offer in offers if selection.recommendation(offer).state is Eligibility.READY}
    excluded = len(ready - addresses)
    majors = sum(map(selection.is_left_out_as_major, offers))
    included = f" (M includes {counted(majors, 'major version')})" if majors else ""
    rest = f"; {excluded} not eligible{included}, n goes to them" if excluded else ""
    return Chosen(selection.with_safe(), f"selected {counted(len(addresses), 'eligible provider')}{rest}")


def stepped(selection: UpgradeSelection, row: UpgradeRow | None, by: int) -> Chosen:
    """Step to a newer (1) or older (-1) version of a row's provider."""
    if row is None or not row.is_of_provider:
        return Chosen(selection, "version: no provider on this row")
    moved = selection.moved(row.offers, by)
    is_end = moved.stepped == selection.stepped
    return Chosen(moved, f"no {'newer' if by > 0 else 'older'} version can be selected" if is_end else "")


def with_next_limit(selection: UpgradeSelection) -> Chosen:
    """Set the next upgrade limit."""
    limit = selection.terms.limit.following
    return Chosen(selection.with_terms(replace(selection.terms, limit=limit)), f"upgrade limit: {limit}")


def with_majors_toggled(selection: UpgradeSelection) -> Chosen:
    """Take major versions into the eligible upgrades, or leave them out."""
    terms = selection.terms
    words = "major versions: " + ("not eligible" if terms.takes_majors else "eligible, a selects them too")
    return Chosen(selection.with_terms(replace(terms, takes_majors=not terms.takes_majors)), words)


def with_cooldown_toggled(selection: UpgradeSelection) -> Chosen:
    """Switch the cooldown off, or on: that of the policy, or the usual one."""
    terms = selection.terms.with_cooldown_toggled()
    days = terms.cooldown
    words = "no cooldown: releases of any age" if days is None else f"cooldown: {counted(days, 'day')}"
    return Chosen(selection.with_terms(terms), words)


def _why_not_selectable(row: UpgradeRow, selection: UpgradeSelection) -> str:
    """The reason why a row has no target version."""
    if row.refused is not None:
        return f"upgrades are not possible there: {row.refused.error}"
    if row.kind is RowKind.SECTION or not row.offers:
        return "nothing to select on this row"
    recommendation = selection.recommendation(row.offers[0])
    if recommendation.state is Eligibility.CURRENT:
        return f"{row.offers[0].name} is up to date"
    reason = f": {recommendation.held_by}" if recommendation.held_by else ""
    return f"held back{reason}; right steps to a selectable version"
