"""The rows of the Signers screen, and the list that paints them.

There is one row for each key, one for unsigned releases, and one for unknown signers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lines import Role, Span
from locklens.project.tree import folder_of
from locklens.review.reports.lock_lines import tier_span
from locklens.trust import Tier
from locklens.ui.shell.filtering import PROVIDER, ROOT, SIGNER, TIER, Filter, Grammar, RowFacts
from locklens.ui.widgets.row_list import RowList
from locklens.ui.widgets.strips import StyledPiece, fitted

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.addresses import ProviderAddress
    from locklens.review.keys import SignerUses, Use

SIGNERS_GRAMMAR = Grammar(
    "name, fingerprint, tier, provider, version or lock file", (PROVIDER, ROOT, SIGNER, TIER), has_severity=False
)
_ALL = Filter()


class SignerRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        key: Stable across reloads.
        signer: The signer with its locked releases.
        pending: Number of its releases with a lookup in progress.
        contested: Its providers with another locked version signed by another key.
    """

    key: str
    signer: SignerUses
    pending: int = 0
    contested: frozenset[ProviderAddress] = frozenset()

    @property
    def name(self) -> str:
        """The name that the key claims; untrusted text."""
        return "lookup in progress" if self.is_pending else self.signer.name

    @property
    def is_pending(self) -> bool:
        """True if all of its releases have a lookup in progress."""
        return 0 < self.pending == len(self.signer.uses)

    @property
    def state(self) -> Span:
        """The state of the signer in a word; "" if there is none."""
        key = self.signer.key
        if key is not None and key.revoked:
            return Span("REVOKED", Role.BLOCK)
        if key is not None and key.expired:
            return Span("EXPIRED", Role.WARN)
        if self.contested:
            return Span("contested", Role.WARN)
        return Span(f"…{self.pending}" if self.pending else "", Role.DIM)


def signer_rows(signers: Collection[SignerUses], *, is_asking: bool, narrowed: Filter = _ALL) -> tuple[SignerRow, ...]:
    """Return the rows that match a filter, in the given order.

    Args:
        signers: The signers.
        is_asking: True while the review is incomplete.
        narrowed: The filter.
    """
    contested = _contested(signers)
    rows = []
    for signer in signers:
        pending = sum(map(_is_pending, signer.uses)) if is_asking and signer.tier is Tier.UNKNOWN else 0
        fingerprint = signer.key.fingerprint if signer.key else ""
        shared = contested & frozenset(signer.addresses) if signer.key else frozenset()
        row = SignerRow(f"{signer.tier}:{fingerprint}", signer, pending, shared)
        if not narrowed.tests or narrowed.is_match(_facts(row)):
            rows.append(row)
    return tuple(rows)


def _is_pending(use: Use) -> bool:
    return use.as_of is None and not use.problem


def _contested(signers: Collection[SignerUses]) -> frozenset[ProviderAddress]:
    """The providers signed by more than one key."""
    keys: dict[ProviderAddress, set[str]] = {}
    for signer in signers:
        for address in signer.addresses if signer.key is not None else ():
            keys.setdefault(address, set()).add(signer.key.fingerprint if signer.key else "")
    return frozenset(address for address, fingerprints in keys.items() if len(fingerprints) > 1)


def _facts(row: SignerRow) -> RowFacts:
    """What the filter looks at."""
    signer = row.signer
    key = (signer.key.fingerprint, *signer.key.user_ids) if signer.key is not None else (row.name,)
    parts = [row.name, signer.tier.value, row.state.text, *key]
    parts += [signer.key.algorithm] if signer.key is not None else []
    for use in signer.uses:
        parts += [str(use.address), use.version, use.problem, *use.lock_files]
    fields = {
        PROVIDER.name: tuple(map(str, signer.addresses)),
        ROOT.name: tuple(folder_of(path) or "." for use in signer.uses for path in use.lock_files),
        SIGNER.name: key,
        TIER.name: (signer.tier.value,),
    }
    return RowFacts("\n".join(parts).lower(), None, fields)


_TIER = 11
_COUNT = len("providers")
_STATE = 9


class SignerList(RowList[SignerRow]):
    """The signers, the most trusted first."""

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
