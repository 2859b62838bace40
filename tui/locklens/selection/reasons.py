"""Holds on a version: the constraints, or the properties of the version, that prevent its selection."""

from __future__ import annotations

from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from locklens.selection.model import ConstraintConflict, Demand, HeldBack, Hold, Newest, Reason
from locklens.versions import Constraints, Operator, Version, newest, precedence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.addresses import Platform
    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Term

_LOWER = {Operator.GREATER, Operator.GREATER_EQUAL}
_UPPER = {Operator.LESS, Operator.LESS_EQUAL}
NONE_YOUNG: Mapping[Version, Hold] = MappingProxyType({})
"""No version is within a cooldown."""

_MAX_NEAREST = 20
"""Most versions in between; a longer list consists of pre-releases, of which the newest suffice."""


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
    """Return the hold on each version that is within the cooldown.

    Args:
        ages: Days since the release, by version; versions of unknown age are left out.
        cooldown: Minimum age in days; None for no cooldown.
    """
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
    expected: Iterable[Version] = (),
    young: Mapping[Version, Hold] = NONE_YOUNG,
) -> tuple[HeldBack, ...]:
    """Return the holds on each version above a given one, grouped by equal holds.

    Args:
        requirements: All requirements of the provider.
        offered: The versions that the registry lists.
        above: The selected or locked version; None for all listed versions.
        platforms: Required platforms.
        expected: Versions that should be listed, such as the locked one; a missing one is reported as absent.
        young: The holds of the cooldown.

    Returns:
        The groups, that with the newest version first. A group without `holds` is available to an upgrade.
    """
    judge = _Judge(requirements, platforms, young)
    listed = {entry.version: entry for entry in offered}
    pinned = [demand.term.version for demand in judge.demands if demand.term.is_pin]
    absent = [version for version in dict.fromkeys((*expected, *pinned)) if version not in listed]
    newer = [version for version in chain(listed, absent) if above is None or version.compare(above) > 0]
    return _grouped(newer, judge, listed)


def nearest(requirements: Sequence[Requirement], offered: Sequence[ListedVersion]) -> tuple[HeldBack, ...]:
    """Return the listed versions nearest to the constraints and the holds on them, where none is selected.

    These are the oldest above the range of the constraints, the newest below it, and those in between, which are
    excluded one by one or are pre-releases. Pre-releases above and below count only where there is no release.

    Args:
        requirements: All requirements of the provider, without conflicts.
        offered: The versions that the registry lists.
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
    """Return the newest versions of several kinds.

    Args:
        requirements: All requirements of the provider.
        offered: The versions that the registry lists.
        locked: The locked version; None if there is none.
    """
    constraints = Constraints(tuple(demand.term for demand in demands(requirements)))
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
        young: Mapping[Version, Hold] = NONE_YOUNG,
    ) -> None:
        self._young = young
        self.demands = demands(requirements)
        self._by_constraint = [(demand.term, Hold(Reason.CONSTRAINT, demand)) for demand in self.demands]
        self._pins = {demand.term.version for demand in self.demands if demand.term.is_pin}
        self._platforms = platforms
        self._others: dict[tuple[Reason, tuple[str, ...]], Hold] = {}

    def holds(self, version: Version, listed: ListedVersion | None, *, is_listed: bool = True) -> tuple[Hold, ...]:
        """Return the holds on a version.

        Args:
            version: The version.
            listed: The version as the registry lists it; None if irrelevant.
            is_listed: True if the registry lists it.
        """
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
        if version in self._young:
            holds.append(self._young[version])
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
