"""The selection on the Upgrade screen, and what is known of the upgrades that can be selected. No I/O.

The selection is a value: each key makes a changed copy.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import packages_of
from locklens.operations.upgrades import CandidateTable, UpgradeCandidates, is_refused, release_id
from locklens.operations.upgrades.recommending import Eligibility, Recommendation, UpgradePolicy, recommend
from locklens.operations.write.root_upgrade import SelectedVersion
from locklens.review.inspection import ChangeAdvisories, ReleaseAdvisories, heeding
from locklens.review.rules.release import SigningObjection, signing_objection, unknown_signer_words
from locklens.versions import precedence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.operations.upgrades import CandidateKey, CandidateVersion, KnownRelease
    from locklens.releases import ReleaseFacts, ReleaseId
    from locklens.versions import Version


class StateCounts(Struct, frozen=True):
    """How many providers can be upgraded, need a decision, are held back, or are unknown.

    One that can be upgraded in one root and needs a decision in another counts as both. Those that are held back in
    some of their roots alone are counted by their best root too.

    Attributes:
        ready: At most so many until each signer was looked up: another one makes an upgrade a decision.
        partly: Held back in some of their roots alone.
        asking: Not asked about yet; the others of `unknown` gave no answer.
        of_all: All providers.
    """

    ready: int
    undecided: int
    held: int
    partly: int
    unknown: int
    asking: int
    of_all: int

    @property
    def is_any_known(self) -> bool:
        """True if versions of at least one provider are known: else no number of the others is true."""
        return self.unknown < self.of_all

    @property
    def held_words(self) -> str:
        """How many are held back, in all of their roots and in some."""
        words = f"{self.held} held back" if self.held or not self.partly else f"{self.partly} partly held back"
        return words + (f", {self.partly} partly" if self.held and self.partly else "")


_LOOKED_UP = 60
"""Releases of available upgrades whose signers are looked up although they are neither highlighted nor selected."""


class UpgradeSelection(Struct, frozen=True):
    """The upgrade candidates, the recommended versions, and the selected providers.

    Attributes:
        stepped: The versions that the user stepped to, other than the recommended ones.
        as_safe: Members of `selected` that were selected as eligible.
        parked: Providers that were selected until the user stepped to the locked version; a step away selects them.
    """

    offers: CandidateTable = CandidateTable()
    terms: UpgradePolicy = UpgradePolicy()
    known: Mapping[ReleaseId, KnownRelease] = MappingProxyType({})
    recommendations: Mapping[CandidateKey, Recommendation] = MappingProxyType({})
    selected: frozenset[CandidateKey] = frozenset()
    stepped: Mapping[CandidateKey, Version] = MappingProxyType({})
    as_safe: frozenset[CandidateKey] = frozenset()
    parked: frozenset[CandidateKey] = frozenset()

    # Candidates

    def with_offers(self, offers: CandidateTable) -> UpgradeSelection:
        """Replace the candidates; deselect providers that are now locked at another version or no longer listed.

        Those whose target is another version now are deselected too. The versions that were stepped to end where a
        provider is locked at another version, in all of its roots in which none is selected.
        """
        before = {offer.key: offer.locked for offer in self.offers.providers}
        moved = {offer.key for offer in offers.providers if before.get(offer.key, offer.locked) != offer.locked}
        selected, parked = self.selected - moved, self.parked - moved
        over = {address for _, address in moved}
        kept = {key for key in self.stepped if key in selected or key[1] not in over}
        stepped = {key: version for key, version in self.stepped.items() if key in kept}
        return replace(self, offers=offers, stepped=stepped, selected=selected, parked=parked).judged(self)

    def with_terms(self, terms: UpgradePolicy) -> UpgradeSelection:
        """Replace the conditions; deselect providers whose target changes, and keep versions that were stepped to.

        Of other versions, one that needs a decision now, and did not, is deselected too.
        """
        return replace(self, terms=terms).judged(self)

    def with_known(self, known: Iterable[KnownRelease]) -> UpgradeSelection:
        """Add known releases."""
        return replace(self, known={**self.known, **{release.facts.id: release for release in known}})

    def judged(self, before: UpgradeSelection) -> UpgradeSelection:
        """Recompute everything that depends on candidates and conditions; what was selected before never moves.

        A provider stays selected at the version that was selected, or is deselected.
        """
        recommendations = {offer.key: recommend(offer, self.terms) for offer in self.offers.providers}
        stepped = {key: version for key, version in self.stepped.items() if key in recommendations}
        judged = replace(self, recommendations=recommendations, stepped=stepped)
        chosen = {offer.key: choice.version for offer, choice in before.choices}
        kept = {
            offer.key
            for offer, choice in judged.choices
            if choice.version == chosen.get(offer.key)
            and (offer.key in stepped or before.terms.doubt(offer, choice) or not self.terms.doubt(offer, choice))
        }
        return replace(judged, selected=frozenset(kept))

    # Selected versions

    def recommendation(self, offer: UpgradeCandidates) -> Recommendation:
        """The state and the recommended version of a provider."""
        return self.recommendations.get(offer.key) or Recommendation(Eligibility.UNKNOWN)

    def target(self, offer: UpgradeCandidates) -> CandidateVersion | None:
        """The version that an upgrade of the provider would lock; None if there is none."""
        version = self.stepped.get(offer.key)
        if version is not None:
            return offer.choice(version) if version != offer.locked and _takes(offer, version) else None
        return self.recommendation(offer).suggested

    def is_selected(self, offer: UpgradeCandidates) -> bool:
        """True if the provider is selected."""
        return offer.key in self.selected

    @property
    def choices(self) -> tuple[tuple[UpgradeCandidates, CandidateVersion], ...]:
        """The selected providers with their target versions."""
        selected = (offer for offer in self.offers.providers if offer.key in self.selected)
        return tuple((offer, choice) for offer in selected if (choice := self.target(offer)) is not None)

    @property
    def picks(self) -> tuple[SelectedVersion, ...]:
        """The selected versions, as a plan takes them."""
        return tuple(
            SelectedVersion(offer.root, offer.address, choice.version, edits=not choice.is_in_range)
            for offer, choice in self.choices
        )

    @property
    def has_unread(self) -> bool:
        """True if a provider is selected in a root with unread modules."""
        return any(offer.unread for offer, _ in self.choices)

    # Keys

    def toggled(self, offers: Collection[UpgradeCandidates]) -> UpgradeSelection:
        """Select all of the given providers that have a target version; deselect them if all are selected."""
        keys = frozenset(offer.key for offer in offers if self.target(offer) is not None)
        selected = self.selected - keys if keys <= self.selected else self.selected | keys
        return replace(self, selected=selected, as_safe=self.as_safe - keys)

    def without(self, offers: Iterable[UpgradeCandidates]) -> UpgradeSelection:
        """Deselect providers."""
        keys = frozenset(offer.key for offer in offers)
        return replace(self, selected=self.selected - keys, as_safe=self.as_safe - keys, parked=self.parked - keys)

    @property
    def safe(self) -> tuple[UpgradeCandidates, ...]:
        """The providers with an eligible upgrade."""
        return tuple(offer for offer in self.offers.providers if self.is_safe(offer))

    def with_safe(self, offers: Iterable[UpgradeCandidates]) -> UpgradeSelection:
        """Add eligible upgrades to the selection."""
        keys = frozenset(offer.key for offer in offers)
        return replace(self, selected=self.selected | keys, as_safe=self.as_safe | keys)

    def without_suspects(self) -> tuple[UpgradeSelection, tuple[UpgradeCandidates, ...]]:
        """Deselect, and return too, those selected as eligible whose looked-up signer is another, none, or unknown."""
        suspects = tuple(
            offer for offer, choice in self.choices if offer.key in self.as_safe and self.is_suspect(offer, choice)
        )
        keys = frozenset(offer.key for offer in suspects)
        return replace(self, selected=self.selected - keys, as_safe=self.as_safe - keys), suspects

    def unknown_releases(self, first: Iterable[UpgradeCandidates]) -> tuple[ReleaseId, ...]:
        """Return the releases to look up: of `first`, of the selected providers, the first of available upgrades.

        Of `first` without a target it is the locked one, where a pin may refuse it.
        """
        wanted: dict[ReleaseId, None] = {}
        for offer in first:
            choice = self.target(offer)
            if choice is not None or self.terms.policy.pin(offer.address) is not None:
                wanted |= dict.fromkeys(_compared(offer, choice))
        wanted |= dict.fromkeys(release for offer, choice in self.choices for release in _compared(offer, choice))
        ahead: dict[ReleaseId, None] = {}
        for offer in self.offers.providers:
            choice = self.target(offer) if self.recommendation(offer).state is Eligibility.READY else None
            if choice is not None and len(ahead) < _LOOKED_UP:
                ahead |= dict.fromkeys(_compared(offer, choice))
        return tuple(wanted | ahead)

    @property
    def left_out(self) -> frozenset[CandidateKey]:
        """The providers whose signer is neither known nor looked up unless they are highlighted or selected."""
        expected = self.known.keys() | set(self.unknown_releases(()))
        targets = ((offer, choice) for offer in self.offers.providers if (choice := self.target(offer)) is not None)
        return frozenset(offer.key for offer, choice in targets if not expected >= set(_compared(offer, choice)))

    @property
    def has_unknown_signers(self) -> bool:
        """True if the signers of an available upgrade were not looked up yet: it may become a decision."""
        ready = (offer for offer in self.offers.providers if self.state(offer) is Eligibility.READY)
        suggested = ((offer, self.recommendation(offer).suggested) for offer in ready)
        return any(
            not self.known.keys() >= set(_compared(offer, choice)) for offer, choice in suggested if choice is not None
        )

    def is_safe(self, offer: UpgradeCandidates) -> bool:
        """True if the recommended version is eligible: no known fact speaks against it.

        It satisfies all constraints and the cooldown, there is no `Doubt` about it, and it is not known to be refused,
        to have another signer, or to have none that can be looked up.
        """
        return offer.key not in self.stepped and self.state(offer) is Eligibility.READY

    def state(self, offer: UpgradeCandidates) -> Eligibility:
        """The upgrade state of a provider by all that is known; a version that the user steps to does not change it."""
        standing = self.recommendation(offer)
        if standing.state is not Eligibility.READY or self._is_eligible(offer, standing.suggested):
            return standing.state
        return Eligibility.DECIDE

    def state_by_provider(self) -> dict[ProviderAddress, Eligibility]:
        """The state of each provider in the root where it is the first in display order."""
        states: dict[ProviderAddress, Eligibility] = {}
        for offer in self.offers.providers:
            state = self.state(offer)
            states[offer.address] = min(states.get(offer.address, state), state, key=list(Eligibility).index)
        return states

    @property
    def counts(self) -> StateCounts:
        """How many providers are in each state."""
        providers = self.offers.providers
        states = list(self.state_by_provider().values())
        held = states.count(Eligibility.HELD)
        return StateCounts(
            ready=states.count(Eligibility.READY),
            undecided=len(self.undecided),
            held=held,
            partly=len({offer.address for offer in providers if self.state(offer) is Eligibility.HELD}) - held,
            unknown=states.count(Eligibility.UNKNOWN),
            asking=len({offer.address for offer in providers if not offer.is_asked}),
            of_all=len(states),
        )

    @property
    def undecided(self) -> frozenset[ProviderAddress]:
        """The providers that need a decision in at least one root, also where they can upgrade in another."""
        return frozenset(offer.address for offer in self.offers.providers if self.state(offer) is Eligibility.DECIDE)

    @property
    def undecided_with_majors(self) -> frozenset[ProviderAddress]:
        """The providers that need a decision where major versions are eligible."""
        return self.with_terms(replace(self.terms, takes_majors=True)).undecided

    def _is_eligible(self, offer: UpgradeCandidates, choice: CandidateVersion | None) -> bool:
        is_clear = choice is not None and self.terms.doubt(offer, choice) is None
        return choice is not None and is_clear and not self.is_suspect(offer, choice)

    def is_suspect(self, offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
        """True if a version is known to be refused, something speaks against its signer, or looking that up failed."""
        is_known_bad = is_refused(self.facts(offer, choice.version)) or self.objection(offer, choice) is not None
        return is_known_bad or bool(self.unknown_signer(offer, choice))

    def unknown_signer(self, offer: UpgradeCandidates, choice: CandidateVersion) -> str:
        """Why the signer of a version is unknown, a clause; "" if it is known or refused, and before the lookup."""
        facts = self.facts(offer, choice.version)
        return unknown_signer_words(facts) if facts is not None else ""

    def objection(self, offer: UpgradeCandidates, choice: CandidateVersion) -> SigningObjection | None:
        """Return what speaks against the signer of a version; None for nothing, and before the lookup."""
        new, old = self.facts(offer, choice.version), self.facts(offer, offer.locked)
        return signing_objection(self.terms.policy, offer.address, new=new, old=old)

    def facts(self, offer: UpgradeCandidates, version: Version | None) -> ReleaseFacts | None:
        """The known facts of a version; None before the lookup."""
        release = self._release(offer, version)
        return release.facts if release is not None else None

    def advisories(self, offer: UpgradeCandidates, version: Version | None) -> ReleaseAdvisories | None:
        """The advisories of a version; None before the lookup, and without a database.

        Of the locked version, packages that are not among the locked ones are left out: they are not what is installed.
        """
        release = self._release(offer, version)
        found = release.advisories if release is not None else None
        locked = packages_of(offer.entry.hashes) if offer.entry is not None and version == offer.locked else frozenset()
        if release is None or found is None or not locked:
            return found
        platforms = {str(platform) for zh, platform in release.facts.platforms.items() if zh in locked}
        return replace(found, inspected={name: each for name, each in found.inspected.items() if name in platforms})

    def _release(self, offer: UpgradeCandidates, version: Version | None) -> KnownRelease | None:
        return self.known.get(release_id(offer, version)) if version is not None else None

    def fixes(self, offer: UpgradeCandidates, choice: CandidateVersion | None) -> str:
        """How many advisories of the locked version another one fixes; "" before the lookup, and without a database.

        See `ReleaseAdvisories.fixes_words`.
        """
        new = self.advisories(offer, choice.version) if choice is not None else None
        old = self.advisories(offer, offer.locked)
        return new.fixes_words(old, self.terms.policy.advisories) if new is not None and old is not None else ""

    def change_advisories(self, offer: UpgradeCandidates, choice: CandidateVersion) -> ChangeAdvisories | None:
        """What a version does to the advisories of the locked one; None before the lookup, and without a database."""
        new = self.advisories(offer, choice.version)
        if new is None:
            return None
        return heeding(new.after(self.advisories(offer, offer.locked)), self.terms.policy.advisories)

    def moved(self, offers: Collection[UpgradeCandidates], by: int) -> UpgradeSelection:
        """Step one provider to the next newer or older version, by 1 or -1, from the one reached in the given roots.

        It becomes the target of each root that can take it; the others have none. Where a root would be upgraded,
        those that are locked above the version are left at theirs. Up to the newest recommended version, a root whose
        constraints exclude it is left at its own recommended one, if that is not above it, or without a target; a
        further step where nothing is newer takes such roots along.

        Of several locked versions, no target at all stands right above the one that the steps start from.
        """
        asked = [offer for offer in offers if offer.choices]
        steps = set(sorted_versions(asked))
        if len(locked := {offer.locked for offer in asked}) == 1:
            steps |= {version for version in locked if version is not None}  # Listed or not: the way back.
        reached = self.reached(asked)
        newer = (version for version in steps if reached is None or _order(version) > _order(reached))
        older = (version for version in steps if reached is not None and _order(version) < _order(reached))
        target = min(newer, key=_order, default=reached) if by > 0 else max(older, key=_order, default=reached)
        if target is None:
            return self
        begun: frozenset[CandidateKey] = frozenset()
        if by < 0 and reached is not None:
            start = _start_of(asked) if len(locked) > 1 else None
            if start is not None and _order(target) <= _order(start) < _order(reached):
                begun = self._without_suggestion(asked)
                begun = begun & self.stepped.keys() if len(begun) == len(asked) else frozenset()
            elif target == reached:
                lower = [one for one in asked if one.locked is None or _order(one.locked) < _order(reached)]
                begun = self._without_suggestion(lower) & self.stepped.keys()
            elif start == reached in steps and not any(map(self._has_target, asked)):
                target = reached
        if begun:
            # Below the oldest version is no version, where that is what the steps began with.
            stepped = {key: version for key, version in self.stepped.items() if key not in begun}
        else:
            is_pushed = by > 0 and target == reached
            stepped = self._stepped_to(target, asked, edits=is_pushed or self._edits_for(target, asked))
        moved = replace(self, stepped=stepped)
        gone = {offer.key for offer in offers if moved.target(offer) is None}
        back = self.parked & {offer.key for offer in offers} - gone
        return replace(moved, selected=self.selected - gone | back, parked=(self.parked | self.selected & gone) - back)

    def _stepped_to(
        self, target: Version, asked: Collection[UpgradeCandidates], *, edits: bool
    ) -> dict[CandidateKey, Version]:
        stepped = dict(self.stepped)
        upgrades = any(offer.is_newer(target) and _takes(offer, target) for offer in asked)
        for offer in asked:
            locked, suggested = offer.locked, self.recommendation(offer).suggested
            choice = offer.choice(target)
            is_spared = choice is not None and not choice.is_in_range and not edits
            is_left = is_spared or (upgrades and locked is not None and _order(locked) > _order(target))
            is_own = is_spared and suggested is not None and _order(suggested.version) <= _order(target)
            version = locked if is_left and locked is not None else target
            if is_own or (is_left and suggested is None) or (suggested is not None and suggested.version == version):
                stepped.pop(offer.key, None)
            else:
                stepped[offer.key] = version
        return stepped

    def _edits_for(self, target: Version, asked: Collection[UpgradeCandidates]) -> bool:
        """True if constraints may be edited for a version: it is above the recommended ones, or excluded everywhere."""
        suggested = {one.version for offer in asked if (one := self.recommendation(offer).suggested) is not None}
        is_within = any(_order(target) <= _order(version) for version in suggested)
        return not is_within or not any(choice.is_in_range for one in asked if (choice := one.choice(target)))

    def _without_suggestion(self, offers: Iterable[UpgradeCandidates]) -> frozenset[CandidateKey]:
        """The keys of those without a recommended version."""
        return frozenset(offer.key for offer in offers if self.recommendation(offer).suggested is None)

    def _has_target(self, offer: UpgradeCandidates) -> bool:
        """True if a version is recommended or was stepped to, be it the locked one."""
        return offer.key in self.stepped or self.recommendation(offer).suggested is not None

    def reached(self, offers: Collection[UpgradeCandidates]) -> Version | None:
        """The version of which the others are newer or older: the newest target, or else the version stepped to.

        Without either it is the locked one that `_start_of` says, listed or not.
        """
        targets = {choice.version for offer in offers if (choice := self.target(offer)) is not None}
        stepped = {self.stepped[offer.key] for offer in offers if offer.key in self.stepped}
        return max(targets or stepped, key=_order, default=None) or _start_of(offers)

    def start_words(self, offers: Iterable[UpgradeCandidates]) -> str:
        """The version that steps start from, and how many others are locked; "" with a target, or without others."""
        asked = [offer for offer in offers if offer.choices]
        start = _start_of(asked)
        others = {offer.locked for offer in asked} - {start, None}
        return f"{start} +{len(others)}" if others and not any(map(self._has_target, asked)) else ""


def _compared(offer: UpgradeCandidates, choice: CandidateVersion | None) -> tuple[ReleaseId, ...]:
    """The releases whose signers are compared: that of a version, and that of the entry that it would replace."""
    release = release_id(offer, choice.version) if choice is not None else None
    return tuple(one for one in (release, offer.prior_release) if one is not None)


def _start_of(offers: Iterable[UpgradeCandidates]) -> Version | None:
    """The locked version in the middle of those of all roots, the older of two: few roots are below, few above it."""
    locked = sorted((offer.locked for offer in offers if offer.locked is not None), key=_order)
    return locked[(len(locked) - 1) // 2] if locked else None


def _order(version: Version) -> tuple[object, ...]:
    return precedence(version), str(version)


def _takes(offer: UpgradeCandidates, version: Version) -> bool:
    choice = offer.choice(version)
    return choice is not None and _is_reachable(offer, choice)


def sorted_versions(offers: Collection[UpgradeCandidates]) -> list[Version]:
    """The selectable versions and the locked ones, newest first."""
    by_root = [[choice.version for choice in offer.choices if _is_reachable(offer, choice)] for offer in offers]
    if len(by_root) == 1:
        return by_root[0]
    distinct = {version for versions in by_root for version in versions}
    return sorted(distinct, key=_order, reverse=True)


def _is_reachable(offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
    return choice.version == offer.locked or (choice.is_usable and not (choice.holds and offer.refusal(choice)))
