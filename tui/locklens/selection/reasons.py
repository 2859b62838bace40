"""Why a version is not selected: what in the configuration, or about the version, holds it back."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from locklens.selection.model import ConstraintConflict, Demand, HeldBack, Hold, Newest, Reason
from locklens.versions import Constraints, Operator, Version, newest, precedence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.addresses import Platform
    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Term

_LOWER = {Operator.GREATER, Operator.GREATER_EQUAL}
_UPPER = {Operator.LESS, Operator.LESS_EQUAL}
_MAX_NEAREST = 20
"""Versions in between that are told; more than that are many pre-releases, of which the newest say enough."""


def demands(requirements: Iterable[Requirement]) -> tuple[Demand, ...]:
    """Returns each different comparison once, with all that makes it."""
    found: dict[Term, list[Requirement]] = {}
    for one in requirements:
        for term in dict.fromkeys(one.constraints.terms):
            found.setdefault(term, []).append(one)
    return tuple(Demand(term, tuple(those)) for term, those in found.items())


def conflicts(requirements: Sequence[Requirement]) -> tuple[ConstraintConflict, ...]:
    """Returns the smallest sets of constraints that no version at all could satisfy; () where one could."""
    by_term = {demand.term: demand for demand in demands(requirements)}
    found = Constraints(tuple(by_term)).smallest_conflicts()
    return tuple(tuple(by_term[term] for term in terms) for terms in found)


def holds_against(version: Version, requirements: Sequence[Requirement]) -> tuple[Hold, ...]:
    """Returns what in the configuration, or in the number itself, keeps a version from being selected."""
    return _Judge(requirements, ()).holds(version, None)


def held_back(
    requirements: Sequence[Requirement],
    offered: Sequence[ListedVersion],
    above: Version | None,
    *,
    platforms: Sequence[Platform] = (),
    expected: Iterable[Version] = (),
) -> tuple[HeldBack, ...]:
    """Says of each version above a selected one what holds it back, those with the same answer as one.

    Args:
        requirements: All that requires the provider.
        offered: What the registry offers.
        above: The version that is selected or locked; None: all that are offered.
        platforms: For which a package is wanted.
        expected: Versions that should be offered, such as the locked one; where they are not, that is said.

    Returns:
        The group with the newest version first. Nothing holds a group without `holds` back but that nobody upgraded.
    """
    judge = _Judge(requirements, platforms)
    listed = {one.version: one for one in offered}
    pinned = [demand.term.version for demand in judge.demands if demand.term.is_pin]
    absent = [version for version in dict.fromkeys((*expected, *pinned)) if version not in listed]
    newer = [version for version in chain(listed, absent) if above is None or version.compare(above) > 0]
    return _grouped(newer, judge, listed)


def nearest(requirements: Sequence[Requirement], offered: Sequence[ListedVersion]) -> tuple[HeldBack, ...]:
    """Says which offered versions come nearest to being selected, and what excludes them, where none is selected.

    These are the oldest above what the constraints admit, the newest below it, and those in between, which are
    excluded one by one or are pre-releases. Pre-releases above and below count only where there is no release.

    Args:
        requirements: All that requires the provider; some version could satisfy them all.
        offered: What the registry offers.
    """
    judge = _Judge(requirements, ())
    listed = {one.version: one for one in offered}
    sides: dict[int, list[Version]] = {-1: [], 0: [], 1: []}
    for version in _newest_first(listed):
        sides[judge.side(version)].append(version)
    inside = sides[0][:_MAX_NEAREST]
    above, below = (_releases_or_all(sides[side]) or sides[side] for side in (1, -1))
    return _grouped((*above[-1:], *inside, *below[:1]), judge, listed)


def newest_of(requirements: Sequence[Requirement], offered: Sequence[ListedVersion], locked: Version | None) -> Newest:
    """Returns the newest versions of several kinds.

    Args:
        requirements: All that requires the provider.
        offered: What the registry offers.
        locked: The version in the lock file, None where it has none.
    """
    constraints = Constraints(tuple(demand.term for demand in demands(requirements)))
    versions = [one.version for one in offered]
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
        # The judge has each hold once, so that nothing needs to be compared but which these are.
        groups.setdefault(tuple(map(id, holds)), (holds, []))[1].append(version)
    return tuple(HeldBack(tuple(those), holds) for holds, those in groups.values())


class _Judge:
    """Judges versions by one provider's requirements."""

    def __init__(self, requirements: Iterable[Requirement], platforms: Sequence[Platform]) -> None:
        self.demands = demands(requirements)
        self._by_constraint = [(demand.term, Hold(Reason.CONSTRAINT, demand)) for demand in self.demands]
        self._pins = {demand.term.version for demand in self.demands if demand.term.is_pin}
        self._platforms = platforms
        self._others: dict[tuple[Reason, tuple[str, ...]], Hold] = {}

    def holds(self, version: Version, listed: ListedVersion | None, *, is_listed: bool = True) -> tuple[Hold, ...]:
        """Returns what stands against a version.

        Args:
            version: Which.
            listed: How the registry offers it, None where that does not matter.
            is_listed: Whether it does at all.
        """
        found = [hold for term, hold in self._by_constraint if not term.holds(version)]
        if version.prerelease and version not in self._pins:
            found.append(self._other(Reason.PRERELEASE))
        if version.is_unspecified:
            found.append(self._other(Reason.UNSPECIFIED))
        if not is_listed:
            found.append(self._other(Reason.ABSENT))
        if listed is not None and not listed.has_supported_protocol:
            found.append(self._other(Reason.PROTOCOL, listed.protocols))
        if listed is not None and listed.platforms:
            lacking = tuple(str(platform) for platform in self._platforms if platform not in listed.platforms)
            found += [self._other(Reason.PLATFORM, lacking)] if lacking else []
        return tuple(found)

    def _other(self, reason: Reason, names: tuple[str, ...] = ()) -> Hold:
        return self._others.setdefault((reason, names), Hold(reason, names=names))

    def side(self, version: Version) -> int:
        """Returns -1 where a version is too old for a constraint, 1 where it is too new for one, else 0."""
        for term, _ in self._by_constraint:
            if term.holds(version):
                continue
            order = version.compare(term.version)
            if term.operator in _LOWER or order < 0:
                return -1
            if term.operator in _UPPER or order > 0:
                return 1
        return 0
