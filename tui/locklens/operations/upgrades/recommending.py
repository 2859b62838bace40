"""The recommended version of each provider: the conditions on it, doubts about it, and what holds it back. No I/O."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.policy import Policy
from locklens.review.model import Bump
from locklens.selection import MAJOR_HOLD, BumpLimit
from locklens.selection.choosing import conflicts, holds_against
from locklens.text import age_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.addresses import Platform
    from locklens.operations.upgrades import CandidateVersion, UpgradeCandidates
    from locklens.selection import Hold
    from locklens.versions import Version

USUAL_COOLDOWN = 7
"""Days of the cooldown where the policy sets none."""


NOT_ALLOWED = "not on the allow list"


class Doubt(StrEnum):
    """What makes an upgrade a decision although the version fits, in the words of what holds a version back."""

    UNREAD = "not all constraints are known"
    AGE = "release date unknown, cooldown cannot be checked"
    PLATFORM = "no package for {}, which the policy requires"
    OLDER = "older than the locked version"
    MAJOR = str(MAJOR_HOLD)


class UpgradePolicy(Struct, frozen=True):
    """The conditions on a recommended version.

    Attributes:
        policy: The policy that applies: cooldown, allow list, pins and required platforms.
        takes_majors: True if major versions are eligible, so that they are selected together with the others.
        ignores_cooldown: True if releases of any age are recommended.
        own_cooldown: The user's cooldown in days, where the policy sets none; None for no cooldown.
    """

    policy: Policy = Policy()
    limit: BumpLimit = BumpLimit.ANYWHERE
    takes_majors: bool = False
    ignores_cooldown: bool = False
    own_cooldown: int | None = None

    @property
    def cooldown(self) -> int | None:
        """Minimum age of a release in days; None for no cooldown."""
        days = self.own_cooldown if self.policy.cooldown is None else self.policy.cooldown
        return None if self.ignores_cooldown else days

    @property
    def cooldown_words(self) -> str:
        """The cooldown that applies, and its source."""
        days = self.policy.cooldown
        if days is not None:
            return f"policy cooldown {days} d{' ignored' if self.ignores_cooldown else ''}"
        return "no cooldown" if self.cooldown is None else f"own cooldown {self.cooldown} d"

    @property
    def heeded(self) -> Policy:
        """The policy with the cooldown that applies."""
        return replace(self.policy, cooldown=self.cooldown)

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """Required platforms; () for those of each entry."""
        return self.policy.required

    def with_cooldown_toggled(self) -> UpgradePolicy:
        """Switch the cooldown off, or on: that of the policy, or the usual one where it sets none."""
        if self.policy.cooldown is not None:
            return replace(self, ignores_cooldown=not self.ignores_cooldown)
        return replace(self, own_cooldown=None if self.own_cooldown is not None else USUAL_COOLDOWN)

    def under(self, policy: Policy) -> UpgradePolicy:
        """Return the same conditions under another policy; the user's own cooldown ends where that sets another one."""
        if policy.cooldown == self.policy.cooldown:
            return replace(self, policy=policy)
        return replace(self, policy=policy, ignores_cooldown=False, own_cooldown=None)

    def allows(self, offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
        """True if a version is on the allow list, or there is none."""
        return self.policy.allows(offer.address, choice.version)

    def is_too_young(self, choice: CandidateVersion) -> bool:
        """True if a version is known to be within the cooldown; False for an unknown age."""
        return self.cooldown is not None and choice.days is not None and choice.days < self.cooldown

    def is_of_unknown_age(self, choice: CandidateVersion) -> bool:
        """True if a cooldown applies and the release date is unknown."""
        return self.cooldown is not None and choice.days is None

    def is_too_far(self, offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
        """True if a version is beyond the upgrade limit."""
        return not self.limit.allows(choice.version, offer.locked)

    def lacking(self, choice: CandidateVersion) -> tuple[Platform, ...]:
        """The required platforms that a version has no package for; () if its platforms are unknown."""
        offered = choice.listed.platforms
        return tuple(platform for platform in self.platforms if platform not in offered) if offered else ()

    def doubt(self, offer: UpgradeCandidates, choice: CandidateVersion) -> Doubt | None:
        """What makes a version that fits a decision, apart from its signer; None for nothing."""
        if offer.unread:
            return Doubt.UNREAD
        if self.is_of_unknown_age(choice):
            return Doubt.AGE
        before = offer.choice(offer.locked)
        lacking = frozenset(self.lacking(choice))
        if lacking - frozenset(self.lacking(before) if before is not None else ()):
            return Doubt.PLATFORM
        if not offer.is_newer(choice.version):
            return Doubt.OLDER
        is_major = offer.bump(choice.version) is Bump.MAJOR
        return Doubt.MAJOR if is_major and not self.takes_majors else None

    def doubt_words(self, offer: UpgradeCandidates, choice: CandidateVersion) -> str:
        """The doubt about a version, in words; "" for none."""
        doubt = self.doubt(offer, choice)
        return doubt.format(", ".join(map(str, self.lacking(choice)))) if doubt is not None else ""


class Eligibility(StrEnum):
    """The upgrade state of a provider in one root, in display order."""

    READY = "can upgrade now"
    DECIDE = "needs your decision"
    HELD = "held back"
    CURRENT = "no newer version"
    UNKNOWN = "unknown"
    NOT_REQUIRED = "not required"


class Recommendation(Struct, frozen=True):
    """The recommended version of a provider, and what holds it back.

    Attributes:
        held_by: The reason against the newest version, in a few words, after the cooldown or the limit of a version in
            range if that is newer than the recommended one; "" for none.
        hold: The hold that these words end with; None where they do not end with one.
    """

    state: Eligibility
    suggested: CandidateVersion | None = None
    held_by: str = ""
    hold: Hold | None = None

    @property
    def reason(self) -> str:
        """What holds it back, without the places of a constraint, which each root may have in another file."""
        if self.hold is None or self.hold.demand is None:
            return self.held_by
        return f"{self.held_by.removesuffix(str(self.hold))}{self.hold.demand.term}"


def recommend(offer: UpgradeCandidates, terms: UpgradePolicy) -> Recommendation:
    """Determine the state of a provider.

    A version fits if it satisfies the constraints, is newer than the locked one (or any, where the locked one does not
    satisfy them), is within the upgrade limit and on the allow list, and not known to be within the cooldown. The
    newest one without a doubt is recommended, or else the newest one, which needs a decision.
    """
    if not offer.is_asked or offer.problem:
        return Recommendation(Eligibility.UNKNOWN, held_by=offer.problem)
    if not offer.requirements:
        held_by = "not required by any readable module" if offer.unread else "not required by this root"
        return Recommendation(Eligibility.HELD if offer.unread else Eligibility.NOT_REQUIRED, held_by=held_by)
    eligible = [candidate for candidate in offer.choices if _is_eligible(offer, candidate)]
    fitting = [candidate for candidate in eligible if _is_fit(offer, candidate, terms)]
    undoubted = (candidate for candidate in fitting if terms.doubt(offer, candidate) is None)
    suggested = next(undoubted, fitting[0] if fitting else None)
    held_by, hold = _held_by(offer, eligible, suggested, terms)
    if suggested is not None:
        return Recommendation(Eligibility.READY, suggested, held_by, hold)
    is_behind = offer.newest is not None and offer.is_newer(offer.newest)
    is_held = is_behind or offer.is_excluded
    return Recommendation(Eligibility.HELD if is_held else Eligibility.CURRENT, None, held_by, hold)


def _is_eligible(offer: UpgradeCandidates, choice: CandidateVersion) -> bool:
    if not choice.is_in_range or choice.version == offer.locked:
        return False
    return offer.is_newer(choice.version) or offer.is_excluded


def _is_fit(offer: UpgradeCandidates, choice: CandidateVersion, terms: UpgradePolicy) -> bool:
    is_within = not terms.is_too_far(offer, choice) and terms.allows(offer, choice)
    return choice.is_usable and is_within and not terms.is_too_young(choice)


def _held_by(
    offer: UpgradeCandidates,
    eligible: Sequence[CandidateVersion],
    suggested: CandidateVersion | None,
    terms: UpgradePolicy,
) -> tuple[str, Hold | None]:
    """The reason against the newest version, or else against the newest one in range, and the hold that ends it.

    Where the locked version is excluded, that is read as what excludes it.
    """
    locked, own = offer.locked if offer.is_excluded else None, offer.requirements
    if locked is not None and (conflicting := conflicts(own)):
        return f"no version satisfies {' and '.join(map(str, conflicting[0]))}", None
    excluding = holds_against(locked, own) if locked is not None else ()
    reached = suggested.version if suggested is not None else offer.locked
    newest = offer.choice(offer.newest)
    for candidate in (newest, *eligible):
        if candidate is None or not is_beyond(candidate.version, reached):
            continue
        if candidate.holds:
            beyond = [each for each in eligible if is_beyond(each.version, reached)]
            against = (objection(offer, each, terms) for objection in _OBJECTIONS for each in beyond)
            hold = next((one for one in candidate.holds if one in excluding), candidate.holds[0])
            return "; ".join(filter(None, (next(filter(None, against), ""), str(hold)))), hold
        if words := next(filter(None, (objection(offer, candidate, terms) for objection in _OBJECTIONS)), ""):
            return words, None
    return "no version satisfies the constraints" if offer.is_excluded and not eligible else "", None


def is_beyond(version: Version, reached: Version | None) -> bool:
    """True if a version is above another one, or there is none."""
    return reached is None or version.compare(reached) > 0


def _cooldown_words(offer: UpgradeCandidates, choice: CandidateVersion, terms: UpgradePolicy) -> str:
    """What an allowed version within the cooldown waits for, and the limit that it is beyond after that."""
    if not terms.is_too_young(choice) or not terms.allows(offer, choice):
        return ""
    too_far = f"; {terms.limit.words}" if terms.is_too_far(offer, choice) else ""
    return f"{choice.version} is {age_words(choice.days)} old, cooldown {terms.cooldown} d{too_far}"


def _allow_list_words(offer: UpgradeCandidates, choice: CandidateVersion, terms: UpgradePolicy) -> str:
    return "" if terms.allows(offer, choice) else f"{choice.version}: {NOT_ALLOWED}"


def _limit_words(offer: UpgradeCandidates, choice: CandidateVersion, terms: UpgradePolicy) -> str:
    return f"{choice.version}: {terms.limit.words}" if terms.is_too_far(offer, choice) else ""


def _doubt_words(offer: UpgradeCandidates, choice: CandidateVersion, terms: UpgradePolicy) -> str:
    words = terms.doubt_words(offer, choice)
    return f"{choice.version}: {words}" if words else ""


_OBJECTIONS = (_cooldown_words, _allow_list_words, _limit_words, _doubt_words)
"""What the conditions have against a version in range, in words, "" for nothing; the first ones are told first."""
