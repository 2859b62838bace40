"""What the screen of upgrades says, as a text in lines and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import json_text, page
from locklens.ui.upgrade.detail import upgrade_lines
from locklens.ui.upgrade.rows import By, RowKind, upgrade_rows

if TYPE_CHECKING:
    from locklens.operations.upgrades.candidates import UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.text import Printable

_RULE = 78


def as_text(picking: UpgradeSelection) -> Printable:
    """Every provider of every root with its detail, root by root."""
    lines: list[str] = []
    for row in upgrade_rows(picking, by=By.ROOT):
        if row.kind is RowKind.SECTION:
            lines += ["", row.title, "=" * min(_RULE, len(row.title))]
            continue
        told = upgrade_lines(row, picking, in_full=True)
        lines += ["", *(line.text.rstrip() for line in told)]
    return page(lines[1:])


def as_json(picking: UpgradeSelection) -> Printable:
    """Every provider of every root: what is locked, suggested and offered, and what holds it back."""
    providers = [_provider(offer, picking) for offer in picking.offers.providers]
    refused = [{"root": one.root or ".", "reason": str(one.error)} for one in picking.offers.refused]
    return json_text({"providers": providers, "refused": refused})


def _provider(offer: UpgradeCandidates, picking: UpgradeSelection) -> dict[str, object]:
    found, choice = picking.standing(offer), picking.picked(offer)
    return {
        "root": offer.root or ".",
        "provider": str(offer.address),
        "state": found.state.value,
        "locked": str(offer.locked) if offer.locked is not None else None,
        "pick": str(choice.version) if choice is not None else None,
        "chosen": picking.is_chosen(offer),
        "in_range": str(offer.in_range.version) if offer.in_range is not None else None,
        "newest": str(offer.newest) if offer.newest is not None else None,
        "days": choice.days if choice is not None else None,
        "held_by": found.held_by or None,
        "problem": offer.problem or None,
        "as_of": offer.as_of or None,
    }
