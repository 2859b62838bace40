"""Signers of the locked releases: the releases of a review, grouped by signing key. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Change, ChangeKind, Review
from locklens.review.rules.catalogue import CONTRADICTING, RULES, wording_of
from locklens.trust import SigningKey, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.addresses import ProviderAddress
    from locklens.policy import Policy
    from locklens.policy.model import Pin

_TIERS = list(Tier)


class Use(Struct, frozen=True):
    """A release that is locked.

    Attributes:
        as_of: Time at which the registry reported its signature, ISO 8601 in UTC; None without an answer.
        problem: Why its signer is unknown, "" if it is known.
        doubts: The findings about locked hashes that are not those of the signed release, or not all: the lock file,
            the id of the rule, and the title of the finding.
    """

    address: ProviderAddress
    version: str
    lock_files: tuple[str, ...]
    as_of: str | None = None
    problem: str = ""
    doubts: tuple[tuple[str, str, str], ...] = ()

    def doubt(self, lock_file: str) -> str:
        """The doubts about the hashes of a lock file in words; "" without any."""
        return "; ".join(f"{rule}: {title}" for name, rule, title in self.doubts if name == lock_file)

    @property
    def name(self) -> str:
        """The provider and its version."""
        return f"{self.address} {self.version}"


class SignerUses(Struct, frozen=True):
    """A signer, with all locked releases that it signed.

    Attributes:
        key: None for unsigned releases and for unknown signers.
        tier: UNSIGNED or UNKNOWN without a key.
        uses: By address and version.
        pins: The pins of the policy that name the key and cover one of its releases.
        rejecting: The pins in force for one of its releases that name other keys alone; none if the signer is unknown.
    """

    key: SigningKey | None
    tier: Tier
    uses: tuple[Use, ...]
    pins: tuple[Pin, ...] = ()
    rejecting: tuple[Pin, ...] = ()

    @property
    def name(self) -> str:
        """The display name: the first name that the key claims, or the lack of one."""
        if self.key is None:
            return "not signed" if self.tier is Tier.UNSIGNED else "unknown"
        return self.key.user_ids[0] if self.key.user_ids else "no name"

    @property
    def addresses(self) -> tuple[ProviderAddress, ...]:
        """The providers that it signs."""
        return tuple(dict.fromkeys(use.address for use in self.uses))


class PastUse(Struct, frozen=True):
    """A release that was locked earlier in git's history.

    Attributes:
        commit: The last commit that wrote one of the lock files with it, full id.
        date: The commit's date, ISO 8601.
        key: The signing key as the registry reports it now; None if unsigned or unknown.
        problem: Why it is unknown, "" if it is known.
    """

    address: ProviderAddress
    version: str
    commit: str
    date: str
    key: SigningKey | None = None
    tier: Tier = Tier.UNKNOWN
    problem: str = ""


def signers(review: Review) -> tuple[SignerUses, ...]:
    """Return the signers of the listed releases that are locked on the new side, most trusted first."""
    locks: dict[tuple[ProviderAddress, str], list[str]] = {}
    changes: dict[tuple[ProviderAddress, str], Change] = {}
    doubts: dict[tuple[ProviderAddress, str], set[tuple[str, str, str]]] = {}
    for root in review.roots:
        for change in root.changes:
            if change.new is not None and change.kind is not ChangeKind.REMOVED:
                release = change.address, str(change.new.version)
                locks.setdefault(release, []).append(root.lock_file)
                changes.setdefault(release, change)
                contradicting = (one for one in change.findings if RULES[one.rule].effect is CONTRADICTING)
                doubts.setdefault(release, set()).update(
                    (root.lock_file, one.rule, wording_of(one).title) for one in contradicting
                )
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
    gathered = (
        SignerUses(key, tier, tuple(uses), *_pins(fingerprint, tier, uses, review.policy))
        for (tier, fingerprint), (key, uses) in found.items()
    )
    return tuple(sorted(gathered, key=lambda one: (_TIERS.index(one.tier), -len(one.uses), one.name)))


def _pins(fingerprint: str, tier: Tier, uses: Iterable[Use], policy: Policy) -> tuple[tuple[Pin, ...], tuple[Pin, ...]]:
    """Return the pins in force for a signer's releases: those that permit its key, and those that do not."""
    if not fingerprint and tier is not Tier.UNSIGNED:
        return (), ()
    pins = [pin for pin in dict.fromkeys(policy.pin(use.address) for use in uses) if pin is not None]
    permitting = tuple(pin for pin in pins if pin.permits(fingerprint))
    return permitting, tuple(pin for pin in pins if pin not in permitting)
