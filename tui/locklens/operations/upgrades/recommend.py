"""Which version is suggested of those that are offered, and what holds a provider back. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.versions import Version


USUAL_COOLDOWN = 7
"""Days, where somebody wants a cooldown and the policy names none."""


class BumpLimit(StrEnum):
    """How far a suggestion may go from the locked version."""

    ANYWHERE = "any version"
    MINOR = "same major version"
    PATCH = "same minor version"

    @property
    def following(self) -> BumpLimit:
        """The next one, round and round."""
        order = list(BumpLimit)
        return order[(order.index(self) + 1) % len(order)]

    def admits(self, version: Version, locked: Version | None) -> bool:
        """Whether a version is near enough to the locked one."""
        same = 0 if locked is None else {BumpLimit.ANYWHERE: 0, BumpLimit.MINOR: 1, BumpLimit.PATCH: 2}[self]
        return locked is None or version.numbers[:same] == locked.numbers[:same]


class UpgradePolicy(Struct, frozen=True):
    """What a suggestion is bound to.

    Attributes:
        cooldown: Days that a release must be old; None where that does not matter.
    """

    cooldown: int | None = None
    stay: BumpLimit = BumpLimit.ANYWHERE

    def is_too_young(self, choice: CandidateVersion) -> bool:
        """Whether a version is known to be too young; of an unknown age nobody can say so."""
        return self.cooldown is not None and choice.days is not None and choice.days < self.cooldown

    def is_of_unknown_age(self, choice: CandidateVersion) -> bool:
        """Whether it matters that nobody knows how old a version is."""
        return self.cooldown is not None and choice.days is None


class Eligibility(StrEnum):
    """Where a provider stands; declared in the order in which they are shown."""

    READY = "can upgrade now"
    HELD = "held"
    CURRENT = "up to date"
    UNKNOWN = "not known"


class Recommendation(Struct, frozen=True):
    """What is suggested for a provider, and what holds it back.

    Attributes:
        suggested: None where nothing is.
        held_by: What keeps it from the newest version, in a few words; "" where nothing does.
    """

    state: Eligibility
    suggested: CandidateVersion | None = None
    held_by: str = ""


def recommend(offer: UpgradeCandidates, terms: UpgradePolicy) -> Recommendation:
    """Says where a provider stands.

    Suggested is the newest version that the configuration admits as it is, that is newer than the locked one (or any,
    where the locked one is not admitted), near enough, and not known to be too young.
    """
    if not offer.is_asked or offer.problem:
        return Recommendation(Eligibility.UNKNOWN, held_by=offer.problem)
    if not offer.requirements:
        held_by = "nothing that can be read requires it" if offer.unread else "nothing requires it"
        return Recommendation(Eligibility.HELD, held_by=held_by)
    eligible = [one for one in offer.choices if _is_eligible(offer, one)]
    suggested = next((one for one in eligible if _is_fit(offer, one, terms)), None)
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
    return choice.is_usable and terms.stay.admits(choice.version, offer.locked) and not terms.is_too_young(choice)


def _held_by(
    offer: UpgradeCandidates,
    eligible: Sequence[CandidateVersion],
    suggested: CandidateVersion | None,
    terms: UpgradePolicy,
) -> str:
    """What keeps the provider from its newest version, or else from the newest that is admitted."""
    reached = suggested.version if suggested is not None else offer.locked
    newest = offer.choice(offer.newest)
    above = [one for one in (newest, *eligible) if one is not None and (reached is None or _is_above(one, reached))]
    for one in above:
        if one.holds:
            return str(one.holds[0])
        if terms.is_too_young(one):
            return f"{one.version} is {age_words(one.days)} old, cooldown {terms.cooldown} d"
        if not terms.stay.admits(one.version, offer.locked):
            return f"{one.version}: {terms.stay}"
    if offer.is_excluded:
        return "no version satisfies the constraints" if not eligible else ""
    if offer.is_withdrawn:
        return f"{offer.locked} is not offered any more"
    return ""


def _is_above(choice: CandidateVersion, version: Version) -> bool:
    return choice.version.compare(version) > 0


_DAYS_OF_YEARS = 730


def age_words(days: int | None) -> str:
    """An age in few characters: days, from two years on whole years; "?" where it is not known."""
    if days is None:
        return "?"
    return f"{days}d" if days < _DAYS_OF_YEARS else f"{days // 365}y"
