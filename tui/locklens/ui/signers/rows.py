"""Who signed what is locked, as rows: one for each key, one for what nobody signed, one for what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.trust.model import Tier
from locklens.ui.text.spans import Role, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from locklens.addresses import ProviderAddress
    from locklens.review.keys import SignerUses, Use


class SignerRow(Struct, frozen=True):
    """One line of the list.

    Attributes:
        key: The same for the same signer after a reload.
        pending: How many of its releases are still being asked about.
        contested: Its providers of which another key signed another locked version.
    """

    key: str
    signer: SignerUses
    pending: int = 0
    contested: frozenset[ProviderAddress] = frozenset()

    @property
    def name(self) -> str:
        """From outside: what the key claims to be called."""
        return "being asked about" if self.is_pending else self.signer.name

    @property
    def is_pending(self) -> bool:
        """Whether all of it is still being asked about."""
        return 0 < self.pending == len(self.signer.uses)

    @property
    def state(self) -> Span:
        """What is wrong with the signer, in a word."""
        key = self.signer.key
        if key is not None and key.revoked:
            return Span("REVOKED", Role.BLOCK)
        if key is not None and key.expired:
            return Span("EXPIRED", Role.WARN)
        if self.contested:
            return Span("not alone", Role.WARN)
        return Span(f"…{self.pending}" if self.pending else "", Role.DIM)


def signer_rows(found: Iterable[SignerUses], *, is_asking: bool, narrowed: str = "") -> tuple[SignerRow, ...]:
    """Returns the rows that a filter admits, in the order given.

    Args:
        found: The signers.
        is_asking: Whether the review is still on its way.
        narrowed: Words that must all be somewhere in a signer.
    """
    signers = tuple(found)
    contested = _contested(signers)
    words = narrowed.lower().split()
    rows = []
    for signer in signers:
        pending = sum(map(_is_pending, signer.uses)) if is_asking and signer.tier is Tier.UNKNOWN else 0
        fingerprint = signer.key.fingerprint if signer.key else ""
        own = contested & frozenset(signer.addresses) if signer.key else frozenset()
        row = SignerRow(f"{signer.tier}:{fingerprint}", signer, pending, own)
        if all(word in _text(row) for word in words):
            rows.append(row)
    return tuple(rows)


def _is_pending(use: Use) -> bool:
    return use.as_of is None and not use.problem


def _contested(signers: Collection[SignerUses]) -> frozenset[ProviderAddress]:
    """The providers that more than one key signs."""
    keys: dict[ProviderAddress, set[str]] = {}
    for signer in signers:
        for address in signer.addresses if signer.key is not None else ():
            keys.setdefault(address, set()).add(signer.key.fingerprint if signer.key else "")
    return frozenset(address for address, found in keys.items() if len(found) > 1)


def _text(row: SignerRow) -> str:
    """All that the filter looks at, in lower case."""
    signer = row.signer
    parts = [row.name, signer.tier.value, row.state.text]
    if signer.key is not None:
        parts += [signer.key.fingerprint, signer.key.algorithm, *signer.key.user_ids]
    for use in signer.uses:
        parts += [str(use.address), use.version, use.problem, *use.lock_files]
    return "\n".join(parts).lower()
