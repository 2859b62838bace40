"""What the bars of the screen of upgrades say: how much there is, what was chosen, and what it takes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.operations.upgrades.recommend import BumpLimit, Eligibility
from locklens.text import counted, size_words
from locklens.ui.text.spans import Role
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from locklens.operations.upgrades.download_estimate import DownloadEstimate
    from locklens.operations.upgrades.selection import UpgradeSelection


def upgrade_head(picking: UpgradeSelection) -> tuple[BarLayout, ...]:
    """The first line: how many providers can be upgraded, and how many are held."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("upgrade", Role.DIM))
    providers = picking.offers.providers
    if not providers and not picking.offers.refused:
        return (BarLayout(name),)
    roots = {one.root for one in providers} | {one.root for one in picking.offers.refused}
    what = f"  {counted(len({one.address for one in providers}), 'provider')} in {counted(len(roots), 'root')}"
    best: dict[object, Eligibility] = {}
    for one in providers:
        state = picking.standing(one).state
        best[one.address] = min(best.get(one.address, state), state, key=list(Eligibility).index)
    ready, held = (sum(state is wanted for state in best.values()) for wanted in (Eligibility.READY, Eligibility.HELD))
    counts = (
        Piece(f"  {ready} can upgrade", Role.GOOD if ready else Role.DIM),
        Piece(f"  {held} held ", Role.WARN if held else Role.DIM),
    )
    return (
        BarLayout((*name, Piece(what)), counts),
        BarLayout((Piece(" upgrade", Role.DIM), Piece(what)), counts),
        BarLayout(counts),
    )


class _Parts:
    """Pieces with a bar between them."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def add(self, text: str, role: Role = Role.PLAIN) -> None:
        """Adds one, unless it is empty."""
        if text:
            self.pieces += [Piece(" | " if self.pieces else " ", Role.DIM), Piece(text, role)]


def upgrade_status(
    picking: UpgradeSelection, fetch: DownloadEstimate, *, asking: str, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The line above the keys: what was chosen and what that takes, what suggestions are bound to, or a message.

    Args:
        picking: What is offered and picked.
        fetch: What it takes to lock what was picked.
        asking: What is being found out, in words.
        is_narrowed: Whether there is a filter.
        message: What is to be said instead, "" for nothing.
    """
    if message:
        return (BarLayout((Piece(f" {message}", Role.STRONG),)),)
    parts = _Parts()
    choices = picking.choices
    if choices:
        providers = counted(len({one.address for one, _ in choices}), "provider")
        roots = counted(len({one.root for one, _ in choices}), "root")
        parts.add(f"{providers} chosen in {roots}", Role.GOOD)
        parts.add(fetch_words(fetch))
    else:
        parts.add("nothing chosen: space chooses, a all that is safe", Role.DIM)
    cooldown = picking.terms.cooldown
    parts.add(f"cooldown {cooldown} d" if cooldown is not None else "no cooldown", Role.DIM)
    parts.add(str(picking.terms.stay) if picking.terms.stay is not BumpLimit.ANYWHERE else "", Role.DIM)
    parts.add(asking, Role.INFO)
    parts.add("filtered" if is_narrowed else "", Role.WARN)
    whole = (*parts.pieces, Piece(" | ", Role.DIM), Piece("all else stays as it is", Role.DIM))
    return BarLayout(whole), BarLayout(tuple(parts.pieces))


def fetch_words(fetch: DownloadEstimate) -> str:
    """What is to be downloaded."""
    about = "" if fetch.is_sure else "about "
    hashed = f", {fetch.hashed} hashed before" if fetch.hashed else ""
    if not fetch.packages:
        return f"nothing to fetch{hashed}"
    size = f", {size_words(fetch.size)}" if fetch.size is not None else ", size not known"
    return f"fetches {about}{counted(fetch.packages, 'package')}{size}{hashed}"
