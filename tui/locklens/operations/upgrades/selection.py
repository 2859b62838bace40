"""What the user has picked on the screen of upgrades, as a value: each key makes another one of it. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.operations.upgrades.candidates import CandidateTable, UpgradeCandidates
from locklens.operations.upgrades.download_estimate import is_refused, release_id, signer_change
from locklens.operations.upgrades.recommend import Eligibility, Recommendation, UpgradePolicy, recommend
from locklens.operations.write.upgrade import SelectedVersion
from locklens.trust.continuity import SignerChange

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.operations.upgrades.candidates import CandidateVersion
    from locklens.operations.upgrades.download_estimate import KnownRelease
    from locklens.releases.facts import ReleaseFacts, ReleaseId
    from locklens.versions import Version

_LOOKED_UP = 60
"""Ready upgrades whose signers are looked up although they are neither highlighted nor selected."""

CandidateKey = tuple[str, "ProviderAddress"]
"""Root and provider."""


def candidate_key(offer: UpgradeCandidates) -> CandidateKey:
    """What an offer is found by, also after a reload."""
    return offer.root, offer.address


class UpgradeSelection(Struct, frozen=True):
    """What is offered, what is suggested of it, and what was chosen.

    Attributes:
        offers: What there is.
        terms: What suggestions are bound to.
        known: What is known of releases.
        standings: Where each provider stands.
        chosen: Those that are to be moved.
        stepped: The versions that the user went to, where that is not the suggested one.
        as_safe: Those of `chosen` that were selected because nothing known spoke against them.
    """

    offers: CandidateTable = CandidateTable()
    terms: UpgradePolicy = UpgradePolicy()
    known: Mapping[ReleaseId, KnownRelease] = MappingProxyType({})
    standings: Mapping[CandidateKey, Recommendation] = MappingProxyType({})
    chosen: frozenset[CandidateKey] = frozenset()
    stepped: Mapping[CandidateKey, Version] = MappingProxyType({})
    as_safe: frozenset[CandidateKey] = frozenset()

    # What there is

    def with_offers(self, offers: CandidateTable) -> UpgradeSelection:
        """The same choices of other offers, but for what is locked at another version or not offered any more."""
        before = {candidate_key(one): one.locked for one in self.offers.providers}
        moved = {
            candidate_key(one) for one in offers.providers if before.get(candidate_key(one), one.locked) != one.locked
        }
        stepped = {key: version for key, version in self.stepped.items() if key not in moved}
        return replace(self, offers=offers, stepped=stepped, chosen=self.chosen - moved).judged()

    def with_terms(self, terms: UpgradePolicy) -> UpgradeSelection:
        """The same choices with other suggestions; versions that the user went to stay."""
        return replace(self, terms=terms).judged()

    def with_known(self, known: Iterable[KnownRelease]) -> UpgradeSelection:
        """The same with more known."""
        return replace(self, known={**self.known, **{one.facts.id: one for one in known}})

    def judged(self) -> UpgradeSelection:
        """Everything that follows from offers and terms, anew."""
        standings = {candidate_key(one): recommend(one, self.terms) for one in self.offers.providers}
        stepped = {key: version for key, version in self.stepped.items() if key in standings}
        found = replace(self, standings=standings, stepped=stepped)
        pending = {candidate_key(one) for one in self.offers.providers if not one.is_asked}
        picked = {candidate_key(one) for one in self.offers.providers if found.picked(one) is not None}
        return replace(found, chosen=self.chosen & (picked | pending))

    # What is picked

    def standing(self, offer: UpgradeCandidates) -> Recommendation:
        """Where a provider stands."""
        return self.standings.get(candidate_key(offer)) or Recommendation(Eligibility.UNKNOWN)

    def picked(self, offer: UpgradeCandidates) -> CandidateVersion | None:
        """The version that choosing the provider would move it to; None where there is none."""
        version = self.stepped.get(candidate_key(offer))
        if version is not None:
            return offer.choice(version) if version != offer.locked else None
        return self.standing(offer).suggested

    def is_chosen(self, offer: UpgradeCandidates) -> bool:
        """Whether the provider is to be moved."""
        return candidate_key(offer) in self.chosen

    @property
    def choices(self) -> tuple[tuple[UpgradeCandidates, CandidateVersion], ...]:
        """What is to be moved, and where to."""
        chosen = (one for one in self.offers.providers if candidate_key(one) in self.chosen)
        return tuple((one, choice) for one in chosen if (choice := self.picked(one)) is not None)

    @property
    def picks(self) -> tuple[SelectedVersion, ...]:
        """The same, as a plan takes it."""
        return tuple(SelectedVersion(one.root, one.address, choice.version) for one, choice in self.choices)

    @property
    def has_unread(self) -> bool:
        """Whether something is to be moved in a root of which not all constraints are known."""
        return any(one.unread for one, _ in self.choices)

    # Keys

    def toggled(self, offers: Collection[UpgradeCandidates]) -> UpgradeSelection:
        """Chooses all of these that have a version to move to, or takes the choice back where all are chosen."""
        keys = frozenset(candidate_key(one) for one in offers if self.picked(one) is not None)
        chosen = self.chosen - keys if keys <= self.chosen else self.chosen | keys
        return replace(self, chosen=chosen, as_safe=self.as_safe - keys)

    def without_any(self) -> UpgradeSelection:
        """Selects nothing."""
        return replace(self, chosen=frozenset(), as_safe=frozenset())

    @property
    def safe(self) -> tuple[UpgradeCandidates, ...]:
        """The providers that may be upgraded without a doubt, as far as is known."""
        return tuple(one for one in self.offers.providers if self.is_safe(one))

    def with_safe(self) -> UpgradeSelection:
        """Selects every safe upgrade beside what is selected already."""
        keys = frozenset(map(candidate_key, self.safe))
        return replace(self, chosen=self.chosen | keys, as_safe=keys)

    def without_suspects(self) -> tuple[UpgradeSelection, tuple[UpgradeCandidates, ...]]:
        """Deselects what was selected as safe and is known by now to have another signer, or none.

        Returns:
            The selection, and the providers that were deselected.
        """
        found = tuple(
            offer
            for offer, choice in self.choices
            if candidate_key(offer) in self.as_safe and self.is_suspect(offer, choice)
        )
        keys = frozenset(map(candidate_key, found))
        return replace(self, chosen=self.chosen - keys, as_safe=self.as_safe - keys), found

    def unknown_releases(self, first: Iterable[UpgradeCandidates]) -> tuple[ReleaseId, ...]:
        """Returns the releases whose signers bear on a selection: of `first`, of what is selected, of what is ready.

        Args:
            first: The most wanted providers, such as the highlighted ones.
        """
        chosen = (offer for offer, _ in self.choices)
        ready = [one for one in self.offers.providers if self.standing(one).state is Eligibility.READY][:_LOOKED_UP]
        found: dict[ReleaseId, None] = {}
        for offer in (*first, *chosen, *ready):
            choice = self.picked(offer)
            if choice is not None:
                versions = (choice.version, *((offer.locked,) if offer.locked is not None else ()))
                found |= dict.fromkeys(release_id(offer, version) for version in versions)
        return tuple(found)

    def is_safe(self, offer: UpgradeCandidates) -> bool:
        """Whether nothing that is known speaks against what is suggested.

        It is in range of all constraints and old enough, and neither refused nor signed by somebody else, as far as
        that is known.
        """
        found = self.standing(offer)
        choice = found.suggested
        if (
            choice is None
            or offer.unread
            or candidate_key(offer) in self.stepped
            or self.terms.is_of_unknown_age(choice)
        ):
            return False
        return not self.is_suspect(offer, choice)

    def is_suspect(self, offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
        """Whether a version is known to be refused, or to be signed by another key or by nobody any more."""
        new = self.facts(offer, choice.version)
        changed = signer_change(self.facts(offer, offer.locked), new)
        return is_refused(new) or changed in {SignerChange.OTHER, SignerChange.LOST}

    def facts(self, offer: UpgradeCandidates, version: Version | None) -> ReleaseFacts | None:
        """What is known of a version; None where nobody asked yet."""
        found = self.known.get(release_id(offer, version)) if version is not None else None
        return found.facts if found is not None else None

    def moved(self, offers: Collection[UpgradeCandidates], by: int) -> UpgradeSelection:
        """Goes to the next newer or older version: of one root its own, of several roots the same in all.

        Args:
            offers: Of one provider.
            by: 1 for newer, -1 for older.
        """
        asked = [one for one in offers if one.choices]
        versions = sorted_versions(asked)
        if not versions:
            return self
        here = self._position(asked, versions)
        target = versions[max(0, min(here - by, len(versions) - 1))]
        stepped = dict(self.stepped)
        for one in asked:
            choice = one.choice(target)
            if choice is None or (one.refusal(choice) and target != one.locked):
                continue
            suggested = self.standing(one).suggested
            if suggested is not None and suggested.version == target:
                stepped.pop(candidate_key(one), None)
            else:
                stepped[candidate_key(one)] = target
        found = replace(self, stepped=stepped)
        gone = {candidate_key(one) for one in asked if found.picked(one) is None}
        return replace(found, chosen=self.chosen - gone)

    def _position(self, offers: Collection[UpgradeCandidates], versions: list[Version]) -> int:
        """Where the picks are among the versions: at the newest of them."""
        now = [self.stepped.get(candidate_key(one)) for one in offers]
        for place, one in enumerate(offers):
            if now[place] is None:
                suggested = self.standing(one).suggested
                now[place] = suggested.version if suggested is not None else one.locked
        places = [versions.index(version) for version in now if version in versions]
        return min(places, default=len(versions))


def sorted_versions(offers: Collection[UpgradeCandidates]) -> list[Version]:
    """The versions that can be gone to, the newest first; the locked ones are among them."""
    from locklens.versions import precedence

    own = [[choice.version for choice in one.choices if _can_be_gone_to(one, choice)] for one in offers]
    if len(own) == 1:
        return own[0]
    found = {version for versions in own for version in versions}
    return sorted(found, key=lambda version: (precedence(version), str(version)), reverse=True)


def _can_be_gone_to(offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
    return choice.version == offer.locked or (choice.is_usable and not (choice.holds and offer.refusal(choice)))
