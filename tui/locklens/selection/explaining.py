"""Explanation of one provider in one root: its requirements, the selected version, and the versions held back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.project.configuration import Contributor
from locklens.selection.choosing import combined, select
from locklens.selection.model import ConstraintConflict, HeldBack, Hold, Newest, Selection, Unselectable
from locklens.selection.reasons import NONE_YOUNG, conflicts, held_back, holds_against, newest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.lockfile.model import LockEntry
    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Constraints, Version


class RequiringModule(Struct, frozen=True):
    """The requirements of one module, its tests and its state.

    Attributes:
        module: Path of the module call; "" for the root module, which includes its tests and its state.
        declared: Requirements with a constraint or a declaration of the provider.
        uses: Plain uses of the provider.
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
        newest: The newest versions of several kinds.
        newer: Versions above the locked one (without one, above the selected one), with the holds on them.
        recommended: The selection of `locklens upgrade`, which heeds the cooldown; None for no selection.
    """

    as_locked: Selection | Unselectable
    upgraded: Selection | Unselectable
    has_locked: bool
    newest: Newest
    newer: tuple[HeldBack, ...]
    recommended: Version | None = None


class Explanation(Struct, frozen=True):
    """One provider in one root.

    Attributes:
        address: The provider.
        requirements: All of its requirements.
        locked: Its block in the lock file; None if there is none.
        constraints: All constraints together.
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
    def askers(self) -> tuple[RequiringModule, ...]:
        """The configuration's requirements by module, in the order of the modules' paths."""
        modules: dict[str, list[Requirement]] = {}
        for requirement in self.requirements:
            if requirement.contributor is Contributor.RECORDED:
                continue
            modules.setdefault(requirement.module, []).append(requirement)
        return tuple(_asker(module, modules[module]) for module in sorted(modules))


def _asker(module: str, requirements: list[Requirement]) -> RequiringModule:
    declared: list[Requirement] = []
    uses: list[Requirement] = []
    for requirement in requirements:
        declares = requirement.contributor in {Contributor.REQUIRED_PROVIDERS, Contributor.STATE}
        (declared if requirement.constraint or declares else uses).append(requirement)
    return RequiringModule(module, tuple(declared), tuple(uses))


def explain_selection(
    address: ProviderAddress,
    requirements: Sequence[Requirement],
    locked: LockEntry | None,
    offered: Sequence[ListedVersion] | None,
    *,
    platforms: Sequence[Platform] = (),
    young: Mapping[Version, Hold] = NONE_YOUNG,
) -> Explanation:
    """Explain the selection of a provider.

    Args:
        address: The provider.
        requirements: All of its requirements, and no others.
        locked: Its block in the lock file; None if there is none.
        offered: The versions that the registry lists; None where it was not asked.
        platforms: Required platforms.
        young: The holds of the cooldown.
    """
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
        offer=None if offered is None else _offer(requirements, offered, locked, platforms, young),
    )


def past_cooldown(
    offered: Sequence[ListedVersion], young: Mapping[Version, Hold], locked: Version | None
) -> Sequence[ListedVersion]:
    """Return the listed versions without those within the cooldown; the locked one is kept."""
    return [entry for entry in offered if entry.version not in young or entry.version == locked] if young else offered


def _offer(
    requirements: Sequence[Requirement],
    offered: Sequence[ListedVersion],
    locked: LockEntry | None,
    platforms: Sequence[Platform],
    young: Mapping[Version, Hold],
) -> VersionChoices:
    version = locked.version if locked is not None else None
    upgraded = select(requirements, offered, version, upgrade=True)
    has_locked = version is None or any(entry.version == version for entry in offered)
    selected = upgraded.version if isinstance(upgraded, Selection) else None
    aged = select(requirements, past_cooldown(offered, young, version), version, upgrade=True) if young else upgraded
    return VersionChoices(
        as_locked=upgraded if version is None else select(requirements, offered, version, upgrade=False),
        upgraded=upgraded,
        has_locked=has_locked,
        newest=newest_of(requirements, offered, version),
        newer=held_back(
            requirements,
            offered,
            version if version is not None and has_locked else selected,
            platforms=platforms,
            expected=() if version is None else (version,),
            young=young,
        ),
        recommended=aged.version if isinstance(aged, Selection) else None,
    )
