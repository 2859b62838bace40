"""The tools' own choice, for `init`, `init -upgrade` and `providers lock`."""

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
    """Returns all constraints on one provider, which hold together, each comparison once."""
    return Constraints(tuple(dict.fromkeys(term for one in requirements for term in one.constraints.terms)))


def before_asking(requirements: Sequence[Requirement], locked: Version | None, *, upgrade: bool) -> Unselectable | None:
    """Returns why no version can be selected as far as that needs no registry, as the tools find out before they ask.

    Args:
        requirements: All that requires the provider.
        locked: The version in the lock file, None where it has none.
        upgrade: Whether the lock file does not count.
    """
    constraints = combined(requirements)
    if locked is None or upgrade or constraints.admits(locked):
        return None
    held = HeldBack((locked,), holds_against(locked, requirements))
    found = conflicts(requirements)
    return Unselectable(Obstacle.LOCKED_EXCLUDED, constraints, locked, held=(held,), conflicts=found)


def select(
    requirements: Sequence[Requirement],
    offered: Sequence[ListedVersion],
    locked: Version | None,
    *,
    upgrade: bool,
) -> Selection | Unselectable:
    """Chooses a version as the tools do: the locked one, or else the newest release that every constraint admits.

    A pre-release is chosen only where a constraint names exactly it, 0.0.0 never. Build metadata makes another version
    for `=` and `!=` and for the lock file, and does not count in the order; where two differ in nothing else, the tools
    throw dice, and here the greater text wins.

    Args:
        requirements: All that requires the provider.
        offered: What the registry offers.
        locked: The version in the lock file, None where it has none.
        upgrade: Whether the lock file does not count. `providers lock` never upgrades.
    """
    if (refused := before_asking(requirements, locked, upgrade=upgrade)) is not None:
        return refused
    constraints = combined(requirements)
    by_version = {one.version: one for one in offered}
    if not by_version:
        return Unselectable(Obstacle.NOTHING_OFFERED, constraints, locked)
    if locked is not None and not upgrade:
        if locked in by_version:
            return Selection(by_version[locked], constraints, is_reused=True)
        return Unselectable(Obstacle.LOCKED_ABSENT, constraints, locked)
    version = newest_matching(tuple(by_version), constraints)
    if version is not None:
        return Selection(by_version[version], constraints, is_reused=False)
    found = conflicts(requirements)
    held = () if found else nearest(requirements, offered)
    return Unselectable(Obstacle.NO_MATCH, constraints, locked, held=held, conflicts=found)
