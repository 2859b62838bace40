"""Head and status line of the Signers screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.text import counted
from locklens.trust.model import Tier
from locklens.ui.shell.bars import Reading, joined_parts
from locklens.ui.text.phrases import registries_in_short
from locklens.ui.text.spans import Role
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.review.keys import SignerUses
    from locklens.review.model import Review


def signers_head(review: Review | None, found: Collection[SignerUses]) -> tuple[BarLayout, ...]:
    """The first line of the screen of keys: how much is locked, and how it is signed."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("keys", Role.DIM))
    if review is None:
        return (BarLayout(name),)
    releases = counted(sum(len(one.uses) for one in found), "locked release")
    counts = [Piece(f"  {counted(sum(one.key is not None for one in found), 'key')}")]
    for tier, word in ((Tier.UNSIGNED, "unsigned"), (Tier.UNKNOWN, "not known")):
        number = sum(len(one.uses) for one in found if one.tier is tier)
        counts.append(Piece(f"  {number} {word}", Role.WARN if number else Role.DIM))
    counts.append(Piece(" "))
    locks = counted(len(review.roots), "lock file")
    return (
        BarLayout((*name, Piece(f"  {releases} in {locks}")), tuple(counts)),
        BarLayout((Piece(" keys", Role.DIM), Piece(f"  {releases}")), tuple(counts)),
        BarLayout(tuple(counts)),
    )


def signers_status(
    review: Review | None, progress: Reading, *, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The line above the keys of the screen of keys."""
    parts: list[Piece] = []
    if progress.words:
        parts.append(Piece(progress.words, Role.INFO))
    elif review is not None:
        parts.append(Piece(registries_in_short(review) or "all registries answered", Role.DIM))
    if review is not None and review.notes:
        parts.append(Piece(counted(len(review.notes), "note"), Role.WARN))
    if is_narrowed:
        parts.append(Piece("filtered", Role.WARN))
    standing = joined_parts(parts)
    if message:
        told = Piece(f" {message}", Role.STRONG)
        return BarLayout((told,), (Piece("  "), *standing, Piece(" "))), BarLayout((told,))
    return BarLayout((Piece(" "), *standing), (Piece("compare all 40 digits, not the last 16 ", Role.DIM),)), BarLayout(
        (Piece(" "), *standing)
    )
