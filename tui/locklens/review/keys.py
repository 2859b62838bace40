"""Who signed what is locked: the releases of a review, gathered by the key that signed them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import ChangeKind
from locklens.trust.model import Tier

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.review.model import Change, Review
    from locklens.trust.model import SigningKey

_TIERS = list(Tier)
_DOUBTS = frozenset({"LK001", "LK002", "LK026"})


class Use(Struct, frozen=True):
    """A release that is locked.

    Attributes:
        lock_files: That lock it.
        as_of: When the registry said who signed it, ISO 8601 in UTC; None where it did not.
        problem: Why its signer is not known, "" where it is.
        doubts: Ids of the findings that say that what is locked is not all of what is signed now.
    """

    address: ProviderAddress
    version: str
    lock_files: tuple[str, ...]
    as_of: str | None = None
    problem: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def doubt(self) -> str:
        """The doubts in words, "" for none."""
        return f"{', '.join(self.doubts)}: not all that is locked is of what is signed now" if self.doubts else ""

    @property
    def name(self) -> str:
        """The provider and its version."""
        return f"{self.address} {self.version}"


class SignerUses(Struct, frozen=True):
    """A signer, and all that it signed of what is locked.

    Attributes:
        key: None for what nobody signed, and for what is not known.
        tier: UNSIGNED and UNKNOWN tell the two apart.
        uses: By address and version.
    """

    key: SigningKey | None
    tier: Tier
    uses: tuple[Use, ...]

    @property
    def name(self) -> str:
        """What the signer is called: the first name that the key claims, or that there is none."""
        if self.key is None:
            return "not signed" if self.tier is Tier.UNSIGNED else "not known"
        return self.key.user_ids[0] if self.key.user_ids else "no name"

    @property
    def addresses(self) -> tuple[ProviderAddress, ...]:
        """The providers that it signs."""
        return tuple(dict.fromkeys(use.address for use in self.uses))


class PastUse(Struct, frozen=True):
    """A release that was locked before, as git's history has it.

    Attributes:
        commit: The last one in which it was locked, full id.
        date: Of that commit, ISO 8601.
        key: Who signed it, as the registry says now; None where nobody did, or it is not known any more.
        tier: Likewise.
        problem: Why it is not known, "" where it is.
    """

    address: ProviderAddress
    version: str
    commit: str
    date: str
    key: SigningKey | None = None
    tier: Tier = Tier.UNKNOWN
    problem: str = ""


def signers(review: Review) -> tuple[SignerUses, ...]:
    """Returns who signed what is locked on the review's new side, the most trusted first.

    Args:
        review: With unchanged providers included, or only those that changed are told of.
    """
    locks: dict[tuple[ProviderAddress, str], list[str]] = {}
    changes: dict[tuple[ProviderAddress, str], Change] = {}
    doubts: dict[tuple[ProviderAddress, str], set[str]] = {}
    for root in review.roots:
        for change in root.changes:
            if change.new is not None and change.kind is not ChangeKind.REMOVED:
                release = change.address, str(change.new.version)
                locks.setdefault(release, []).append(root.lock_file)
                changes.setdefault(release, change)
                doubts.setdefault(release, set()).update({one.rule for one in change.findings} & _DOUBTS)
    found: dict[tuple[Tier, str], tuple[SigningKey | None, list[Use]]] = {}
    for (address, version), change in sorted(changes.items(), key=lambda item: (item[0][0].sort_key, item[0][1])):
        signer = change.new_signer
        key = signer.keys[0] if signer is not None and signer.keys else None
        tier = signer.tier if signer is not None else Tier.UNKNOWN
        evidence = change.evidence
        problem = "; ".join(evidence.problems) if evidence is not None and tier is Tier.UNKNOWN else ""
        use = Use(
            address,
            version,
            tuple(locks[address, version]),
            evidence.as_of if evidence else None,
            problem,
            tuple(sorted(doubts[address, version])),
        )
        found.setdefault((tier, key.fingerprint if key else ""), (key, []))[1].append(use)
    gathered = (SignerUses(key, tier, tuple(uses)) for (tier, _), (key, uses) in found.items())
    return tuple(sorted(gathered, key=lambda one: (_TIERS.index(one.tier), -len(one.uses), one.name)))
