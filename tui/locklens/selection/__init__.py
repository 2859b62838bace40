"""Version selection as values: the selected version of a provider, the holds on others, and their explanation.

Pure rules over values, no I/O. Only version numbers decide: the tools check platforms and plugin protocols after the
selection, and then do not select another version. The same is done in `choosing`, and reported here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import OPENTOFU, Dialect
from locklens.project.configuration import Contributor, Requirement, constraint_place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Constraints, Term, Version


_PLACES_SHOWN = 3
_DECLARING = {Contributor.REQUIRED_PROVIDERS, Contributor.STATE}


class Demand(Struct, frozen=True):
    """One comparison of a constraint, and the requirements that contain it."""

    term: Term
    requirements: tuple[Requirement, ...]

    def __str__(self) -> str:
        places = list(dict.fromkeys(str(constraint_place(entry)) for entry in self.requirements))
        more = f" and {len(places) - _PLACES_SHOWN} more" if len(places) > _PLACES_SHOWN else ""
        return f"{self.term} ({', '.join(places[:_PLACES_SHOWN])}{more})"


class Reason(StrEnum):
    """A reason why a version is not selected or cannot be installed."""

    CONSTRAINT = "constraint"
    PRERELEASE = "pre-release"
    UNSPECIFIED = "unspecified"
    ABSENT = "absent"
    PROTOCOL = "protocol"
    PLATFORM = "platform"
    COOLDOWN = "cooldown"
    NOT_ALLOWED = "not allowed"
    LIMIT = "limit"
    SIGNER = "signer"

    @property
    def excludes(self) -> bool:
        """True if the tools skip such a version; otherwise they select it, and may fail to install it."""
        return self in {Reason.CONSTRAINT, Reason.PRERELEASE, Reason.UNSPECIFIED, Reason.ABSENT}


class Hold(Struct, frozen=True):
    """One thing that holds a version back.

    Attributes:
        demand: The comparison, for a CONSTRAINT.
        names: The version's protocols for PROTOCOL, the missing platforms for PLATFORM, the cooldown and the age in
            days for COOLDOWN, or the range of several ages, the condition or objection in words for LIMIT and SIGNER.
    """

    reason: Reason
    demand: Demand | None = None
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A short form such as `~> 5.0 (main.tf:12)`; foreign text is unescaped."""
        match self.reason:
            case Reason.CONSTRAINT:
                return str(self.demand)
            case Reason.PRERELEASE:
                return "pre-release (needs an exact constraint)"
            case Reason.UNSPECIFIED:
                return "0.0.0 is never selected"
            case Reason.ABSENT:
                return "not offered"
            case Reason.PROTOCOL:
                return f"unsupported plugin protocol {', '.join(self.names)}"
            case Reason.PLATFORM:
                return f"no package for {', '.join(self.names)}"
            case Reason.COOLDOWN:
                return f"cooldown {self.names[0]} d ({self.names[1]} d old)"
            case Reason.NOT_ALLOWED:
                return "not on the allow list"
            case Reason.LIMIT | Reason.SIGNER:
                return self.names[0]


NOT_ALLOWED_HOLD = Hold(Reason.NOT_ALLOWED)
"""The allow list of the policy, which holds a version back where none is named."""

MAJOR_HOLD = Hold(Reason.LIMIT, names=("major version, not included",))
"""The condition that no major version is eligible."""


class BumpLimit(StrEnum):
    """The upgrade limit: the largest step from the locked version to a recommended one."""

    ANYWHERE = "any version"
    MINOR = "same major version"
    PATCH = "same minor version"

    def allows(self, version: Version, locked: Version | None) -> bool:
        """True if a version is within the limit."""
        same = 0 if locked is None else {BumpLimit.ANYWHERE: 0, BumpLimit.MINOR: 1, BumpLimit.PATCH: 2}[self]
        return locked is None or version.numbers[:same] == locked.numbers[:same]

    @property
    def words(self) -> str:
        """What holds back a version that is beyond the limit."""
        return f"limited to the {self}"

    def holds(self, versions: Iterable[Version], locked: Version | None) -> dict[Version, Hold]:
        """Return the hold on each version that is beyond the limit."""
        hold = Hold(Reason.LIMIT, names=(self.words,))
        return {version: hold for version in versions if not self.allows(version, locked)}


class HeldBack(Struct, frozen=True):
    """Versions with the same holds.

    Attributes:
        versions: Newest first.
        holds: All holds; () if there are none.
    """

    versions: tuple[Version, ...]
    holds: tuple[Hold, ...]

    @property
    def newest(self) -> Version:
        """The newest version."""
        return self.versions[0]

    @property
    def is_excluded(self) -> bool:
        """True if the tools skip these versions."""
        return any(hold.reason.excludes for hold in self.holds)


ConstraintConflict = tuple[Demand, ...]
"""A minimal set of constraints that no version satisfies together."""


class Obstacle(StrEnum):
    """The reason why no version can be selected."""

    LOCKED_EXCLUDED = "the locked version does not satisfy the constraints"
    LOCKED_ABSENT = "the locked version is not offered"
    NOTHING_OFFERED = "no version is offered"
    NO_MATCH = "no offered version satisfies the constraints"


class Selection(Struct, frozen=True):
    """A selected version."""

    listed: ListedVersion
    constraints: Constraints

    @property
    def version(self) -> Version:
        """The selected version."""
        return self.listed.version


class Unselectable(Struct, frozen=True):
    """No version can be selected.

    Attributes:
        held: The nearest versions with their holds; for LOCKED_EXCLUDED the locked version.
        conflicts: Minimal sets of constraints that no version satisfies; () if there are none.
    """

    obstacle: Obstacle
    constraints: Constraints
    locked: Version | None = None
    held: tuple[HeldBack, ...] = ()
    conflicts: tuple[ConstraintConflict, ...] = ()

    def words(self, address: ProviderAddress, dialect: Dialect) -> str:
        """The message of the tool for this case."""
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
    """The newest offered versions of several kinds, if there are any.

    Attributes:
        overall: The newest release; the newest pre-release where nothing else is listed.
        in_range: The newest version that satisfies the constraints: the selection of an upgrade.
        same_major: The newest release with the locked version's major number, regardless of constraints.
        same_minor: The newest release with the locked version's major and minor numbers, regardless of constraints.
    """

    overall: Version | None
    in_range: Version | None
    same_major: Version | None = None
    same_minor: Version | None = None


class RequiringModule(Struct, frozen=True):
    """The requirements of one module, its tests and its state.

    Attributes:
        module: Path of the module call; "" for the root module, which includes its tests and its state.
        declared: Requirements with a constraint or a declaration of the provider.
    """

    module: str
    declared: tuple[Requirement, ...]
    uses: tuple[Requirement, ...]


class VersionChoices(Struct, frozen=True):
    """The versions selected from a registry's list, and those held back.

    Attributes:
        as_locked: The selection of `init`.
        upgraded: The selection of `init -upgrade`.
        has_locked: True if the locked version is listed, or none is locked.
        newer: Versions above the locked one (without one, above the selected one), with the holds on them.
        recommended: The selection of an upgrade that respects the policy and the upgrade limit; None for no selection.
    """

    as_locked: Selection | Unselectable
    upgraded: Selection | Unselectable
    has_locked: bool
    newest: Newest
    newer: tuple[HeldBack, ...]
    recommended: Version | None = None

    def holds(self, version: Version) -> tuple[Hold, ...]:
        """Return the holds on one of the newer versions; () for none, and for others."""
        return next((group.holds for group in self.newer if version in group.versions), ())


class Explanation(Struct, frozen=True):
    """One provider in one root.

    Attributes:
        essential: The decisive constraints: the others are implied.
        conflicts: Smallest sets of constraints that cannot hold together.
        against: The holds on the locked version; None where it satisfies the configuration.
        offer: None where no registry was asked.
    """

    address: ProviderAddress
    requirements: tuple[Requirement, ...]
    locked: LockEntry | None
    constraints: Constraints
    essential: Constraints
    conflicts: tuple[ConstraintConflict, ...]
    against: HeldBack | None
    offer: VersionChoices | None

    @property
    def is_recorded(self) -> bool:
        """True if the constraint that the lock file records counts, for want of a known configuration."""
        return any(requirement.contributor is Contributor.RECORDED for requirement in self.requirements)

    @property
    def upgrade(self) -> Version | None:
        """The version, other than the locked one, that an upgrade by the policy selects; None for none."""
        recommended = self.offer.recommended if self.offer is not None else None
        return None if self.locked is not None and self.locked.version == recommended else recommended

    def without_upgrade(self) -> Explanation:
        """Return the explanation where an upgrade by the policy keeps what is locked."""
        kept = self.locked.version if self.locked is not None else None
        return self if self.offer is None else replace(self, offer=replace(self.offer, recommended=kept))

    @property
    def askers(self) -> tuple[RequiringModule, ...]:
        """The configuration's requirements by module, in the order of the modules' paths."""
        modules: dict[str, tuple[list[Requirement], list[Requirement]]] = {}
        for requirement in self.requirements:
            if requirement.contributor is Contributor.RECORDED:
                continue
            is_declared = requirement.constraint or requirement.contributor in _DECLARING
            declared, uses = modules.setdefault(requirement.module, ([], []))
            (declared if is_declared else uses).append(requirement)
        return tuple(RequiringModule(module, *map(tuple, modules[module])) for module in sorted(modules))
