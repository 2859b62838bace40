"""The recommended version of a provider, and the reason against its newest one. No I/O."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.cycling import CyclicChoice
from locklens.policy import Policy
from locklens.text import age_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.addresses import Platform
    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.versions import Version


USUAL_COOLDOWN = 7
"""Days of the cooldown where the policy sets none."""


NOT_ALLOWED = "not on the allow list"


class BumpLimit(CyclicChoice):
    """The upgrade limit: the largest step from the locked version to a recommended one."""

    ANYWHERE = "any version"
    MINOR = "same major version"
    PATCH = "same minor version"

    def allows(self, version: Version, locked: Version | None) -> bool:
        """True if a version is within the limit."""
        same = 0 if locked is None else {BumpLimit.ANYWHERE: 0, BumpLimit.MINOR: 1, BumpLimit.PATCH: 2}[self]
        return locked is None or version.numbers[:same] == locked.numbers[:same]


class UpgradePolicy(Struct, frozen=True):
    """The conditions on a recommended version.

    Attributes:
        policy: The policy that applies: cooldown, allow list, pins and required platforms.
        limit: The largest step from the locked version.
        takes_majors: True if major versions are eligible, so that they are selected together with the others.
        ignores_cooldown: True if releases of any age are recommended.
    """

    policy: Policy = Policy()
    limit: BumpLimit = BumpLimit.ANYWHERE
    takes_majors: bool = False
    ignores_cooldown: bool = False

    @property
    def cooldown(self) -> int | None:
        """Minimum age of a release in days; None for no cooldown."""
        return None if self.ignores_cooldown else self.policy.cooldown

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """Required platforms; () for those of each entry."""
        return self.policy.required

    def with_cooldown_toggled(self) -> UpgradePolicy:
        """Switch the cooldown off, or on: that of the policy, or the usual one where it sets none."""
        if self.cooldown is not None:
            return replace(self, ignores_cooldown=True)
        days = USUAL_COOLDOWN if self.policy.cooldown is None else self.policy.cooldown
        return replace(self, policy=replace(self.policy, cooldown=days), ignores_cooldown=False)

    def allows(self, offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
        """True if a version is on the allow list, or there is none."""
        return self.policy.allows(offer.address, choice.version)

    def is_too_young(self, choice: CandidateVersion) -> bool:
        """True if a version is known to be within the cooldown; False for an unknown age."""
        return self.cooldown is not None and choice.days is not None and choice.days < self.cooldown

    def is_of_unknown_age(self, choice: CandidateVersion) -> bool:
        """True if a cooldown applies and the release date is unknown."""
        return self.cooldown is not None and choice.days is None


class Eligibility(StrEnum):
    """The upgrade state of a provider, in display order."""

    READY = "can upgrade now"
    HELD = "held back"
    CURRENT = "up to date"
    UNKNOWN = "unknown"


class Recommendation(Struct, frozen=True):
    """The recommended version of a provider, and what holds it back.

    Attributes:
        state: The upgrade state.
        suggested: The recommended version; None if there is none.
        held_by: The reason against the newest version, in a few words; "" for none.
    """

    state: Eligibility
    suggested: CandidateVersion | None = None
    held_by: str = ""


def recommend(offer: UpgradeCandidates, terms: UpgradePolicy) -> Recommendation:
    """Determine the state of a provider.

    The recommended version is the newest one that satisfies the constraints, is newer than the locked one (or any,
    where the locked one does not satisfy them), is within the upgrade limit and on the allow list, and not known to be
    within the cooldown.
    """
    if not offer.is_asked or offer.problem:
        return Recommendation(Eligibility.UNKNOWN, held_by=offer.problem)
    if not offer.requirements:
        held_by = "not required by any readable module" if offer.unread else "not required by this root"
        return Recommendation(Eligibility.HELD, held_by=held_by)
    eligible = [candidate for candidate in offer.choices if _is_eligible(offer, candidate)]
    suggested = next((candidate for candidate in eligible if _is_fit(offer, candidate, terms)), None)
    held_by = _held_by(offer, eligible, suggested, terms)
    if suggested is not None:
        return Recommendation(Eligibility.READY, suggested, held_by)
    is_behind = offer.newest is not None and offer.is_newer(offer.newest)
    is_held = is_behind or offer.is_excluded or offer.is_withdrawn
    return Recommendation(Eligibility.HELD if is_held else Eligibility.CURRENT, held_by=held_by)


def _is_eligible(offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
    if not choice.is_in_range or choice.version == offer.locked:
        return False
    return offer.is_newer(choice.version) or offer.is_excluded


def _is_fit(offer: UpgradeCandidates, choice: CandidateVersion, terms: UpgradePolicy) -> bool:
    is_within = terms.limit.allows(choice.version, offer.locked) and terms.allows(offer, choice)
    return choice.is_usable and is_within and not terms.is_too_young(choice)


def _held_by(
    offer: UpgradeCandidates,
    eligible: Sequence[CandidateVersion],
    suggested: CandidateVersion | None,
    terms: UpgradePolicy,
) -> str:
    """The reason against the newest version, or else against the newest one in range."""
    reached = suggested.version if suggested is not None else offer.locked
    newest = offer.choice(offer.newest)
    for candidate in (newest, *eligible):
        if candidate is None or not _is_beyond(candidate, reached):
            continue
        if candidate.holds:
            young = next((each for each in eligible if terms.is_too_young(each) and _is_beyond(each, reached)), None)
            cooldown = f"{_cooldown_words(young, terms)}; " if young is not None else ""
            return f"{cooldown}{candidate.holds[0]}"
        if terms.is_too_young(candidate):
            return _cooldown_words(candidate, terms)
        if not terms.allows(offer, candidate):
            return f"{candidate.version}: {NOT_ALLOWED}"
        if not terms.limit.allows(candidate.version, offer.locked):
            return f"{candidate.version}: limited to the {terms.limit}"
    if offer.is_excluded:
        return "no version satisfies the constraints" if not eligible else ""
    if offer.is_withdrawn:
        return f"{offer.locked} is no longer offered"
    return ""


def _is_beyond(choice: CandidateVersion, reached: Version | None) -> bool:
    return reached is None or choice.version.compare(reached) > 0


def _cooldown_words(choice: CandidateVersion, terms: UpgradePolicy) -> str:
    return f"{choice.version} is {age_words(choice.days)} old, cooldown {terms.cooldown} d"
