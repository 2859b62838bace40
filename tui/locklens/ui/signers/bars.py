"""Head and status line of the Signers screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Role
from locklens.text import counted
from locklens.trust import Tier
from locklens.ui.shell.bars import Reading, joined_parts
from locklens.ui.text.phrases import registries_in_short
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.review.keys import SignerUses
    from locklens.review.model import Review


def signers_head(review: Review | None, signers: Collection[SignerUses]) -> tuple[BarLayout, ...]:
    """The head line: counts of locked releases, keys, unsigned and unknown releases."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("signers", Role.DIM))
    if review is None:
        return (BarLayout(name),)
    releases = counted(sum(len(signer.uses) for signer in signers), "locked release")
    counts = [Piece(f"  {counted(sum(signer.key is not None for signer in signers), 'key')}")]
    for tier, word in ((Tier.UNSIGNED, "unsigned"), (Tier.UNKNOWN, "unknown")):
        number = sum(len(signer.uses) for signer in signers if signer.tier is tier)
        counts.append(Piece(f"  {number} {word}", Role.WARN if number else Role.DIM))
    counts.append(Piece(" "))
    locks = counted(len(review.roots), "lock file")
    return (
        BarLayout((*name, Piece(f"  {releases} in {locks}")), tuple(counts)),
        BarLayout((name[0], Piece(releases)), tuple(counts)),
        BarLayout(name[:1], tuple(counts)),
    )


def signers_status(
    review: Review | None, progress: Reading, *, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The status line above the keys."""
    parts: list[Piece] = []
    if progress.words:
        parts.append(Piece(progress.words, Role.INFO))
    elif review is not None:
        parts.append(Piece(registries_in_short(review) or "all registries answered", Role.DIM))
    if review is not None and review.notes:
        parts.append(Piece(counted(len(review.notes), "note"), Role.WARN))
    if is_narrowed:
        parts.append(Piece("filtered", Role.WARN))
    state = joined_parts(parts)
    if message:
        shown = Piece(f" {message}", Role.STRONG)
        return BarLayout((shown,), (Piece("  "), *state, Piece(" "))), BarLayout((shown,))
    return BarLayout((Piece(" "), *state), (Piece("compare all 40 digits, not the last 16 ", Role.DIM),)), BarLayout(
        (Piece(" "), *state)
    )
