"""Head and status line of the Upgrade screen: counts, the selection, and its download. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Role
from locklens.operations.upgrades.selection import BumpLimit, Eligibility
from locklens.text import counted, size_words
from locklens.ui.widgets.bar import BarLayout, Piece

if TYPE_CHECKING:
    from locklens.operations.upgrades.candidates import DownloadEstimate
    from locklens.operations.upgrades.selection import UpgradeSelection


def upgrade_head(selection: UpgradeSelection) -> tuple[BarLayout, ...]:
    """The head line: counts of providers that can be upgraded, and that are held back."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("upgrade", Role.DIM))
    providers = selection.offers.providers
    if not providers and not selection.offers.refused:
        return (BarLayout(name),)
    roots = {offer.root for offer in providers} | {offer.root for offer in selection.offers.refused}
    extent = f"  {counted(len({offer.address for offer in providers}), 'provider')} in {counted(len(roots), 'root')}"
    best: dict[object, Eligibility] = {}
    for offer in providers:
        state = selection.recommendation(offer).state
        best[offer.address] = min(best.get(offer.address, state), state, key=list(Eligibility).index)
    states = list(best.values())
    ready, held = states.count(Eligibility.READY), states.count(Eligibility.HELD)
    counts = (
        Piece(f"  {ready} can upgrade", Role.GOOD if ready else Role.DIM),
        Piece(f"  {held} held back ", Role.WARN if held else Role.DIM),
    )
    return (
        BarLayout((*name, Piece(extent)), counts),
        BarLayout((name[0], Piece(extent.strip())), counts),
        BarLayout(name[:1], counts),
    )


class _Parts:
    """Pieces separated by bars."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def add(self, text: str, role: Role = Role.PLAIN) -> None:
        """Add a piece, unless it is empty."""
        if text:
            self.pieces += [Piece(" | " if self.pieces else " ", Role.DIM), Piece(text, role)]


def upgrade_status(
    selection: UpgradeSelection, fetch: DownloadEstimate, *, network: str, is_narrowed: bool, message: str = ""
) -> tuple[BarLayout, ...]:
    """The status line: the selection and its download, the conditions on upgrades, or a message.

    Args:
        selection: The candidates and the selection.
        fetch: Download estimate of the selection.
        network: The lookup in progress, in words; "" for none.
        is_narrowed: True if there is a filter.
        message: A message in place of the line; "" for none.
    """
    if message:
        return (BarLayout((Piece(f" {message}", Role.STRONG),)),)
    parts = _Parts()
    choices = selection.choices
    if choices:
        providers = counted(len({offer.address for offer, _ in choices}), "provider")
        roots = counted(len({offer.root for offer, _ in choices}), "root")
        parts.add(f"{providers} selected in {roots}", Role.GOOD)
        parts.add(fetch_words(fetch))
    else:
        parts.add("nothing selected: space selects, a selects all eligible", Role.DIM)
    cooldown = selection.terms.cooldown
    parts.add(f"cooldown {cooldown} d" if cooldown is not None else "no cooldown", Role.DIM)
    parts.add(str(selection.terms.limit) if selection.terms.limit is not BumpLimit.ANYWHERE else "", Role.DIM)
    parts.add("majors included" if selection.terms.takes_majors else "", Role.DIM)
    parts.add(network, Role.INFO)
    parts.add("filtered" if is_narrowed else "", Role.WARN)
    full = (*parts.pieces, Piece(" | ", Role.DIM), Piece("others are left untouched", Role.DIM))
    return BarLayout(full), BarLayout(tuple(parts.pieces))


def fetch_words(fetch: DownloadEstimate) -> str:
    """A download estimate in words."""
    about = "" if fetch.is_sure else "about "
    hashed = f", {fetch.hashed} already hashed" if fetch.hashed else ""
    if not fetch.packages:
        return f"nothing to download{hashed}"
    size = f", {size_words(fetch.size)}" if fetch.size is not None else ", size unknown"
    return f"downloads {about}{counted(fetch.packages, 'package')}{size}{hashed}"
