"""What came of a choice, as values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.dialect import OPENTOFU

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Constraints, Term, Version


_PLACES_SHOWN = 3


class Demand(Struct, frozen=True):
    """One comparison of a constraint, and everything in the configuration that makes it.

    Attributes:
        term: Such as `~> 5.0`.
        requirements: In the order of the configuration.
    """

    term: Term
    requirements: tuple[Requirement, ...]

    def __str__(self) -> str:
        places = list(dict.fromkeys(f"{one.file}:{one.line}" for one in self.requirements))
        more = f" and {len(places) - _PLACES_SHOWN} more" if len(places) > _PLACES_SHOWN else ""
        return f"{self.term} ({', '.join(places[:_PLACES_SHOWN])}{more})"


class Reason(StrEnum):
    """Why a version is not, or cannot be, used."""

    CONSTRAINT = "constraint"
    PRERELEASE = "pre-release"
    UNSPECIFIED = "unspecified"
    ABSENT = "absent"
    PROTOCOL = "protocol"
    PLATFORM = "platform"

    @property
    def excludes(self) -> bool:
        """Whether the tools pass such a version over; else they choose it, and fail to install it."""
        return self not in {Reason.PROTOCOL, Reason.PLATFORM}


class Hold(Struct, frozen=True):
    """One thing that holds a version back.

    Attributes:
        demand: Of a CONSTRAINT.
        names: Of PROTOCOL the version's protocols, of PLATFORM the platforms that it lacks.
    """

    reason: Reason
    demand: Demand | None = None
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In a few words, such as `~> 5.0 (main.tf:12)`; foreign text is as it was written."""
        match self.reason:
            case Reason.CONSTRAINT:
                return str(self.demand)
            case Reason.PRERELEASE:
                return "a pre-release, which only an exact constraint selects"
            case Reason.UNSPECIFIED:
                return "0.0.0 is never selected"
            case Reason.ABSENT:
                return "the registry does not offer it"
            case Reason.PROTOCOL:
                return f"needs plugin protocol {', '.join(self.names)}, which the tools do not speak"
            case Reason.PLATFORM:
                return f"has no package for {', '.join(self.names)}"


class HeldBack(Struct, frozen=True):
    """Versions that the same things hold back.

    Attributes:
        versions: The newest first.
        holds: All of them; () where nothing does.
    """

    versions: tuple[Version, ...]
    holds: tuple[Hold, ...]

    @property
    def newest(self) -> Version:
        """The first of the versions."""
        return self.versions[0]

    @property
    def oldest(self) -> Version:
        """The last of them."""
        return self.versions[-1]

    @property
    def is_excluded(self) -> bool:
        """Whether the tools pass them over."""
        return any(hold.reason.excludes for hold in self.holds)


ConstraintConflict = tuple[Demand, ...]
"""Constraints that cannot hold together, each of which could if another were gone."""


class Obstacle(StrEnum):
    """Why no version can be selected."""

    LOCKED_EXCLUDED = "the locked version does not satisfy the constraints"
    LOCKED_ABSENT = "the locked version is not offered any more"
    NOTHING_OFFERED = "no version is offered"
    NO_MATCH = "no offered version satisfies the constraints"


class Selection(Struct, frozen=True):
    """The version that is selected.

    Attributes:
        listed: As the registry offers it.
        constraints: Of the whole configuration, together.
        is_reused: Whether the lock file alone decided.
    """

    listed: ListedVersion
    constraints: Constraints
    is_reused: bool

    @property
    def version(self) -> Version:
        """Which."""
        return self.listed.version


class Unselectable(Struct, frozen=True):
    """No version can be selected.

    Attributes:
        constraints: Of the whole configuration, together.
        locked: The version in the lock file, None where it has none.
        held: What is nearest to being selected, and what stands against it: of LOCKED_EXCLUDED the locked version.
        conflicts: Smallest sets of constraints that no version at all could satisfy; () where one could.
    """

    obstacle: Obstacle
    constraints: Constraints
    locked: Version | None = None
    held: tuple[HeldBack, ...] = ()
    conflicts: tuple[ConstraintConflict, ...] = ()

    def words(self, address: ProviderAddress, dialect: Dialect) -> str:
        """Says it as the tool does."""
        match self.obstacle:
            case Obstacle.LOCKED_EXCLUDED:
                return (
                    f"locked provider {address} {self.locked} does not match configured version constraint "
                    f"{self.constraints}; must use {dialect.command} init -upgrade to allow selection of new versions"
                )
            case Obstacle.LOCKED_ABSENT:
                return f"the previously-selected version {self.locked} is no longer available"
            case Obstacle.NOTHING_OFFERED:
                return f"provider {address} was not found in any of the search locations"
            case Obstacle.NO_MATCH if dialect is OPENTOFU and self._names_unspecified_alone():
                return "0.0.0 is not a valid provider version"
            case Obstacle.NO_MATCH:
                return f"no available releases match the given constraints {self.constraints}"

    def _names_unspecified_alone(self) -> bool:
        named = [term.version for term in self.constraints.terms if term.is_pin]
        return bool(named) and all(version.numbers == (0, 0, 0) and not version.prerelease for version in named)


class Newest(Struct, frozen=True):
    """The newest offered versions of several kinds; None where there is none.

    Attributes:
        overall: Of the releases; of the pre-releases where nothing else is offered.
        in_range: That the constraints admit: what an upgrade selects.
        same_major: Of the releases with the locked version's major number, whatever the constraints say.
        same_minor: Likewise with its minor number too.
    """

    overall: Version | None
    in_range: Version | None
    same_major: Version | None = None
    same_minor: Version | None = None
