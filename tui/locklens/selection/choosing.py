"""The tools' version selection, for `init`, `init -upgrade` and `providers lock`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.selection.model import HeldBack, Obstacle, Selection, Unselectable
from locklens.selection.reasons import conflicts, holds_against, nearest
from locklens.versions import Constraints, newest_matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version


def combined(requirements: Sequence[Requirement]) -> Constraints:
    """Return the conjunction of all constraints on one provider, each comparison once."""
    return Constraints(tuple(dict.fromkeys(term for entry in requirements for term in entry.constraints.terms)))


def before_asking(requirements: Sequence[Requirement], locked: Version | None, *, upgrade: bool) -> Unselectable | None:
    """Return the obstacle that is known without a registry, as the tools check before any request; None for none.

    Args:
        requirements: All requirements of the provider.
        locked: The locked version; None if there is none.
        upgrade: True if the lock file is ignored.
    """
    constraints = combined(requirements)
    if locked is None or upgrade or constraints.admits(locked):
        return None
    held = HeldBack((locked,), holds_against(locked, requirements))
    return Unselectable(Obstacle.LOCKED_EXCLUDED, constraints, locked, held=(held,), conflicts=conflicts(requirements))


def select(
    requirements: Sequence[Requirement],
    offered: Sequence[ListedVersion],
    locked: Version | None,
    *,
    upgrade: bool,
) -> Selection | Unselectable:
    """Select a version as the tools do: the locked one, or else the newest release that satisfies every constraint.

    A pre-release is selected only by a constraint on exactly that version, 0.0.0 never. Build metadata makes a
    different version for `=` and `!=` and for the lock file, and does not count in the order; between two versions that
    differ only there, the tools select at random, and here the greater text wins.

    Args:
        requirements: All requirements of the provider.
        offered: The versions that the registry lists.
        locked: The locked version; None if there is none.
        upgrade: True if the lock file is ignored. `providers lock` never upgrades.
    """
    if (refused := before_asking(requirements, locked, upgrade=upgrade)) is not None:
        return refused
    constraints = combined(requirements)
    by_version = {entry.version: entry for entry in offered}
    if not by_version:
        return Unselectable(Obstacle.NOTHING_OFFERED, constraints, locked)
    if locked is not None and not upgrade:
        if locked in by_version:
            return Selection(by_version[locked], constraints, is_reused=True)
        return Unselectable(Obstacle.LOCKED_ABSENT, constraints, locked)
    version = newest_matching(tuple(by_version), constraints)
    if version is not None:
        return Selection(by_version[version], constraints, is_reused=False)
    conflicting = conflicts(requirements)
    held = () if conflicting else nearest(requirements, offered)
    return Unselectable(Obstacle.NO_MATCH, constraints, locked, held=held, conflicts=conflicting)
