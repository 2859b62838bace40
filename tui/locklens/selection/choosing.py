"""The tools' version selection for `init`, `init -upgrade` and `providers lock`, and the holds on all other versions.

A hold is a constraint, or a property of a version, that prevents its selection.
"""

from __future__ import annotations

from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from locklens.selection import (
    NOT_ALLOWED_HOLD,
    ConstraintConflict,
    Demand,
    Explanation,
    HeldBack,
    Hold,
    Newest,
    Obstacle,
    Reason,
    Selection,
    Unselectable,
    VersionChoices,
)
from locklens.versions import Constraints, Operator, Term, Version, newest, newest_matching, precedence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.lockfile import LockEntry
    from locklens.policy import Policy
    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion


_LOWER = {Operator.GREATER, Operator.GREATER_EQUAL}
_UPPER = {Operator.LESS, Operator.LESS_EQUAL}
NO_HOLDS: Mapping[Version, tuple[Hold, ...]] = MappingProxyType({})
"""The policy holds no version back."""

_MAX_NEAREST = 20
"""The most versions in between; a longer list has many pre-releases, and the newest of them suffice."""


def combined(requirements: Sequence[Requirement]) -> Constraints:
    """Return the conjunction of all constraints on one provider, each comparison once."""
    return Constraints(tuple(dict.fromkeys(term for entry in requirements for term in entry.constraints.terms)))


def before_asking(requirements: Sequence[Requirement], locked: Version | None, *, upgrade: bool) -> Unselectable | None:
    """Return the obstacle that the tools find before any request to a registry, if there is one.

    An upgrade ignores the lock file.
    """
    constraints = combined(requirements)
    if locked is None or upgrade or constraints.admits(locked):
        return None
    held = HeldBack((locked,), holds_against(locked, requirements))
    return Unselectable(Obstacle.LOCKED_EXCLUDED, constraints, locked, held=(held,), conflicts=conflicts(requirements))


def select(
    requirements: Sequence[Requirement], offered: Sequence[ListedVersion], locked: Version | None, *, upgrade: bool
) -> Selection | Unselectable:
    """Select a version as the tools do: the locked one, or else the newest release that satisfies every constraint.

    A pre-release is selected only by a constraint on exactly that version, 0.0.0 never. Build metadata makes a
    different version for `=` and `!=` and for the lock file, and does not count in the order; between two versions that
    differ only there, the tools select at random, and here the greater text wins. An upgrade ignores the lock file;
    `providers lock` never upgrades.
    """
    if (refused := before_asking(requirements, locked, upgrade=upgrade)) is not None:
        return refused
    constraints = combined(requirements)
    by_version = {entry.version: entry for entry in offered}
    if not by_version:
        return Unselectable(Obstacle.NOTHING_OFFERED, constraints, locked)
    if locked is not None and not upgrade:
        if locked in by_version:
            return Selection(by_version[locked], constraints)
        return Unselectable(Obstacle.LOCKED_ABSENT, constraints, locked)
    version = newest_matching(tuple(by_version), constraints)
    if version is not None:
        return Selection(by_version[version], constraints)
    conflicting = conflicts(requirements)
    held = () if conflicting else nearest(requirements, offered)
    return Unselectable(Obstacle.NO_MATCH, constraints, locked, held=held, conflicts=conflicting)


def demands(requirements: Iterable[Requirement]) -> tuple[Demand, ...]:
    """Return each distinct comparison once, with the requirements that contain it."""
    by_term: dict[Term, list[Requirement]] = {}
    for requirement in requirements:
        for term in dict.fromkeys(requirement.constraints.terms):
            by_term.setdefault(term, []).append(requirement)
    return tuple(Demand(term, tuple(entries)) for term, entries in by_term.items())


def conflicts(requirements: Sequence[Requirement]) -> tuple[ConstraintConflict, ...]:
    """Return the minimal sets of constraints that no version satisfies; () if there are none."""
    by_term = {demand.term: demand for demand in demands(requirements)}
    minimal = Constraints(tuple(by_term)).smallest_conflicts()
    return tuple(tuple(by_term[term] for term in terms) for terms in minimal)


def holds_against(version: Version, requirements: Sequence[Requirement]) -> tuple[Hold, ...]:
    """Return the holds of the configuration, and of the version number itself, on a version."""
    return _Judge(requirements, ()).holds(version, None)


def cooldown_holds(ages: Mapping[Version, int], cooldown: int | None) -> dict[Version, Hold]:
    """Return the hold on each version that is younger, in days, than the cooldown; none on those of unknown age."""
    if cooldown is None:
        return {}
    by_age = {
        days: Hold(Reason.COOLDOWN, names=(str(cooldown), str(days))) for days in ages.values() if days < cooldown
    }
    return {version: by_age[days] for version, days in ages.items() if days in by_age}


def held_back(
    requirements: Sequence[Requirement],
    offered: Sequence[ListedVersion],
    above: Version | None,
    *,
    platforms: Sequence[Platform] = (),
    by_policy: Mapping[Version, tuple[Hold, ...]] = NO_HOLDS,
) -> tuple[HeldBack, ...]:
    """Return the holds on each version above a given one, or on all, grouped by equal holds.

    The group with the newest version is the first. One without holds is available to an upgrade.
    """
    judge = _Judge(requirements, platforms, by_policy)
    listed = {entry.version: entry for entry in offered}
    pinned = [demand.term.version for demand in judge.demands if demand.term.is_pin]
    absent = [version for version in dict.fromkeys(pinned) if version not in listed]
    newer = [version for version in chain(listed, absent) if above is None or version.compare(above) > 0]
    return _grouped(newer, judge, listed)


def nearest(requirements: Sequence[Requirement], offered: Sequence[ListedVersion]) -> tuple[HeldBack, ...]:
    """Return the listed versions nearest to the constraints and the holds on them, where none is selected.

    These are the oldest above the range of the constraints, the newest below it, and those in between, which are
    excluded one by one or are pre-releases. Pre-releases above and below count only where there is no release.
    """
    judge = _Judge(requirements, ())
    listed = {entry.version: entry for entry in offered}
    sides: dict[int, list[Version]] = {-1: [], 0: [], 1: []}
    for version in _newest_first(listed):
        sides[judge.side(version)].append(version)
    inside = sides[0][:_MAX_NEAREST]
    above, below = (_releases_or_all(sides[side]) or sides[side] for side in (1, -1))
    return _grouped((*above[-1:], *inside, *below[:1]), judge, listed)


def newest_of(requirements: Sequence[Requirement], offered: Sequence[ListedVersion], locked: Version | None) -> Newest:
    """Return the newest versions of several kinds."""
    constraints = combined(requirements)
    versions = [entry.version for entry in offered]
    releases = [version for version in versions if not version.prerelease and not version.is_unspecified]
    major = [version for version in releases if locked is not None and version.major == locked.major]
    minor = [version for version in major if locked is not None and version.minor == locked.minor]
    return Newest(
        overall=newest(_releases_or_all(versions)),
        in_range=newest(version for version in versions if constraints.admits(version)),
        same_major=newest(major),
        same_minor=newest(minor),
    )


def policy_holds(
    policy: Policy, address: ProviderAddress, offered: Sequence[ListedVersion], ages: Mapping[Version, int]
) -> dict[Version, tuple[Hold, ...]]:
    """Return the holds of the policy on each listed version that it holds back: the allow list, or else the cooldown.

    Ages are in days; there are none where the cooldown is ignored.
    """
    refused = {one.version: NOT_ALLOWED_HOLD for one in offered if not policy.allows(address, one.version)}
    return {version: (hold,) for version, hold in {**cooldown_holds(ages, policy.cooldown), **refused}.items()}


def permitted(
    offered: Sequence[ListedVersion], by_policy: Mapping[Version, tuple[Hold, ...]], locked: Version | None
) -> Sequence[ListedVersion]:
    """Return the listed versions that the policy does not hold back; the locked one is kept."""
    return [entry for entry in offered if entry.version not in by_policy or entry.version == locked]


def explain_selection(
    address: ProviderAddress,
    requirements: Sequence[Requirement],
    locked: LockEntry | None,
    offered: Sequence[ListedVersion] | None,
    *,
    platforms: Sequence[Platform] = (),
    by_policy: Mapping[Version, tuple[Hold, ...]] = NO_HOLDS,
) -> Explanation:
    """Explain the selection of a provider by its own requirements; `offered` is None if the registry was not asked."""
    constraints = combined(requirements)
    against = None
    if locked is not None and requirements and not constraints.admits(locked.version):
        against = HeldBack((locked.version,), holds_against(locked.version, requirements))
    return Explanation(
        address=address,
        requirements=tuple(requirements),
        locked=locked,
        constraints=constraints,
        essential=constraints.essential(),
        conflicts=conflicts(requirements),
        against=against,
        offer=None if offered is None else _offer(requirements, offered, locked, platforms, by_policy),
    )


def _offer(
    requirements: Sequence[Requirement],
    offered: Sequence[ListedVersion],
    locked: LockEntry | None,
    platforms: Sequence[Platform],
    by_policy: Mapping[Version, tuple[Hold, ...]],
) -> VersionChoices:
    version = locked.version if locked is not None else None
    upgraded = select(requirements, offered, version, upgrade=True)
    has_locked = version is None or any(entry.version == version for entry in offered)
    selected = upgraded.version if isinstance(upgraded, Selection) else None
    heeding = select(requirements, permitted(offered, by_policy, version), version, upgrade=True)
    return VersionChoices(
        as_locked=upgraded if version is None else select(requirements, offered, version, upgrade=False),
        upgraded=upgraded,
        has_locked=has_locked,
        newest=newest_of(requirements, offered, version),
        newer=held_back(
            requirements,
            offered,
            version if version is not None else selected,
            platforms=platforms,
            by_policy=by_policy,
        ),
        recommended=heeding.version if isinstance(heeding, Selection) else None,
    )


def _releases_or_all(versions: Sequence[Version]) -> list[Version]:
    usable = [version for version in versions if not version.is_unspecified]
    return [version for version in usable if not version.prerelease] or usable


def _newest_first(versions: Iterable[Version]) -> list[Version]:
    return sorted(versions, key=lambda version: (precedence(version), str(version)), reverse=True)


def _grouped(versions: Iterable[Version], judge: _Judge, listed: dict[Version, ListedVersion]) -> tuple[HeldBack, ...]:
    groups: dict[tuple[int, ...], tuple[tuple[Hold, ...], list[Version]]] = {}
    for version in _newest_first(versions):
        holds = judge.holds(version, listed.get(version), is_listed=version in listed)
        # The judge makes each hold once, so that their identities suffice as a key.
        groups.setdefault(tuple(map(id, holds)), (holds, []))[1].append(version)
    return tuple(HeldBack(tuple(members), holds) for holds, members in groups.values())


class _Judge:
    """Holds on versions by one provider's requirements."""

    def __init__(
        self,
        requirements: Iterable[Requirement],
        platforms: Sequence[Platform],
        by_policy: Mapping[Version, tuple[Hold, ...]] = NO_HOLDS,
    ) -> None:
        self._by_policy = by_policy
        self.demands = demands(requirements)
        self._by_constraint = [(demand.term, Hold(Reason.CONSTRAINT, demand)) for demand in self.demands]
        self._pins = {demand.term.version for demand in self.demands if demand.term.is_pin}
        self._platforms = platforms
        self._others: dict[tuple[Reason, tuple[str, ...]], Hold] = {}

    def holds(self, version: Version, listed: ListedVersion | None, *, is_listed: bool = True) -> tuple[Hold, ...]:
        holds = [hold for term, hold in self._by_constraint if not term.holds(version)]
        if version.prerelease and version not in self._pins:
            holds.append(self._other(Reason.PRERELEASE))
        if version.is_unspecified:
            holds.append(self._other(Reason.UNSPECIFIED))
        if not is_listed:
            holds.append(self._other(Reason.ABSENT))
        if listed is not None and not listed.has_supported_protocol:
            holds.append(self._other(Reason.PROTOCOL, listed.protocols))
        if listed is not None and listed.platforms:
            lacking = tuple(str(platform) for platform in self._platforms if platform not in listed.platforms)
            holds += [self._other(Reason.PLATFORM, lacking)] if lacking else []
        if version in self._by_policy:
            holds += self._by_policy[version]
        return tuple(holds)

    def _other(self, reason: Reason, names: tuple[str, ...] = ()) -> Hold:
        return self._others.setdefault((reason, names), Hold(reason, names=names))

    def side(self, version: Version) -> int:
        """Return -1 for a version that is too old for a constraint, 1 for one that is too new, else 0."""
        for term, _ in self._by_constraint:
            if term.holds(version):
                continue
            order = version.compare(term.version)
            if term.operator in _LOWER or order < 0:
                return -1
            if term.operator in _UPPER or order > 0:
                return 1
        return 0
