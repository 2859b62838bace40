"""Version selection: the selectable versions of a provider, the selected one, and the reasons against newer ones.

Pure rules over values, no I/O. Only version numbers decide: the tools check platforms and plugin protocols after the
selection, and then do not select another version. The same is done and reported here.
"""

from __future__ import annotations

from locklens.selection.choosing import (
    before_asking,
    combined,
    conflicts,
    cooldown_holds,
    explain_selection,
    held_back,
    nearest,
    newest_of,
    select,
)
from locklens.selection.model import (
    NOT_ALLOWED_HOLD,
    ConstraintConflict,
    Demand,
    Explanation,
    HeldBack,
    Hold,
    Newest,
    Obstacle,
    Reason,
    RequiringModule,
    Selection,
    Unselectable,
    VersionChoices,
)

__all__ = [
    "NOT_ALLOWED_HOLD",
    "ConstraintConflict",
    "Demand",
    "Explanation",
    "HeldBack",
    "Hold",
    "Newest",
    "Obstacle",
    "Reason",
    "RequiringModule",
    "Selection",
    "Unselectable",
    "VersionChoices",
    "before_asking",
    "combined",
    "conflicts",
    "cooldown_holds",
    "explain_selection",
    "held_back",
    "nearest",
    "newest_of",
    "select",
]
