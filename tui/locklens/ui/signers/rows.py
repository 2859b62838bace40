"""The rows of the Signers screen: one for each key, one for unsigned releases, one for unknown signers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lines import Role, Span
from locklens.project.tree import folder_of
from locklens.trust import Tier
from locklens.ui.shell.filtering import PROVIDER, ROOT, SIGNER, TIER, Filter, Grammar, RowFacts

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.addresses import ProviderAddress
    from locklens.review.keys import SignerUses, Use


SIGNERS_GRAMMAR = Grammar(
    "name, fingerprint, tier, provider, version or lock file",
    (PROVIDER, ROOT, SIGNER, TIER),
    has_severity=False,
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
        """The state of the signer in a word; "" for none."""
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
