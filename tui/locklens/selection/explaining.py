"""All that there is to say of one provider in one root: who requires it, what that comes to, what it holds back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.project.configuration import Contributor
from locklens.selection.choosing import combined, select
from locklens.selection.model import ConstraintConflict, HeldBack, Newest, Selection, Unselectable
from locklens.selection.reasons import conflicts, held_back, holds_against, newest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.lockfile.model import LockEntry
    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Constraints


class RequiringModule(Struct, frozen=True):
    """One module, the tests or the state, and what in it requires the provider.

    Attributes:
        module: Path of the module's call, "" for the root module; the root module has its tests and its state too.
        declared: What has a constraint or declares the provider.
        uses: What merely uses it.
    """

    module: str
    declared: tuple[Requirement, ...]
    uses: tuple[Requirement, ...]


class VersionChoices(Struct, frozen=True):
    """What a registry's answer makes of it.

    Attributes:
        as_locked: What `init` selects.
        upgraded: What `init -upgrade` selects.
        has_locked: Whether the locked version is offered; true where none is locked.
        newest: The newest versions of several kinds.
        newer: What holds the versions back that are above the locked one, or above the selected one without it.
    """

    as_locked: Selection | Unselectable
    upgraded: Selection | Unselectable
    has_locked: bool
    newest: Newest
    newer: tuple[HeldBack, ...]


class Explanation(Struct, frozen=True):
    """One provider in one root.

    Attributes:
        address: The provider.
        requirements: All that requires it.
        locked: Its block in the lock file, None where there is none.
        constraints: All constraints together.
        essential: Those that decide: the others add nothing to them.
        conflicts: Smallest sets of constraints that cannot hold together.
        against: What of the configuration the locked version does not satisfy; () where it does.
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
    def askers(self) -> tuple[RequiringModule, ...]:
        """What requires it, by module, in the order of the modules' paths."""
        modules: dict[str, list[Requirement]] = {}
        for one in self.requirements:
            modules.setdefault(one.module, []).append(one)
        return tuple(_asker(module, modules[module]) for module in sorted(modules))


def _asker(module: str, requirements: list[Requirement]) -> RequiringModule:
    declared: list[Requirement] = []
    uses: list[Requirement] = []
    for one in requirements:
        is_told = one.constraint or one.contributor in {Contributor.REQUIRED_PROVIDERS, Contributor.STATE}
        (declared if is_told else uses).append(one)
    return RequiringModule(module, tuple(declared), tuple(uses))


def explain_selection(
    address: ProviderAddress,
    requirements: Sequence[Requirement],
    locked: LockEntry | None,
    offered: Sequence[ListedVersion] | None,
    *,
    platforms: Sequence[Platform] = (),
) -> Explanation:
    """Explains a provider.

    Args:
        address: Which.
        requirements: All that requires it, and nothing else.
        locked: Its block in the lock file, None where there is none.
        offered: What the registry offers; None where it was not asked.
        platforms: For which packages are wanted.
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
        offer=None if offered is None else _offer(requirements, offered, locked, platforms),
    )


def _offer(
    requirements: Sequence[Requirement],
    offered: Sequence[ListedVersion],
    locked: LockEntry | None,
    platforms: Sequence[Platform],
) -> VersionChoices:
    version = locked.version if locked is not None else None
    upgraded = select(requirements, offered, version, upgrade=True)
    has_locked = version is None or any(one.version == version for one in offered)
    selected = upgraded.version if isinstance(upgraded, Selection) else None
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
        ),
    )
