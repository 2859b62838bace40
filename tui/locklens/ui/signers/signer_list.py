"""The list of the Signers screen: a line for each signer."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from locklens.lines import Role, Span
from locklens.review.reports.keys import tier_span
from locklens.ui.signers.rows import SignerRow
from locklens.ui.widgets.row_list import RowList
from locklens.ui.widgets.strips import StyledPiece, fitted

_TIER = 11
_COUNT = len("providers")
_STATE = 9


class SignerList(RowList[SignerRow]):
    """The signers, the most trusted first."""

    @dataclass
    class Highlighted(Message):
        """Another signer, or changed content, is highlighted; None for an empty list."""

        row: SignerRow | None

    @dataclass
    class Opened(Message):
        """The detail of a signer is requested."""

        row: SignerRow

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Open the signer's detail."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def lay_out(self, rows: tuple[SignerRow, ...], width: int) -> None:
        """Give the name the width that the other columns leave."""
        del rows
        self._room = max(0, width - 2 - _TIER - _COUNT - _STATE - 3)

    def titles(self, width: int) -> StyledPiece:
        """Name the columns."""
        del width
        return [Span(f"  {fitted('signer', self._room)} {'tier':<{_TIER}} {'providers':>{_COUNT}} state", Role.DIM)]

    def painted(self, row: SignerRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint name, tier, number of providers, and state."""
        del width
        signer, tier = row.signer, tier_span(row.signer.tier)
        number = len(signer.addresses)
        known = Role.STRONG if signer.key is not None else Role.PLAIN
        return [
            Span("> " if cursor else "  ", Role.STRONG),
            Span(fitted(row.name, self._room), known),
            Span(f" {tier.text:<{_TIER}}", tier.role),
            Span(f" {number:>{_COUNT}} ", Role.PLAIN),
            Span(row.state.text, row.state.role),
        ]
