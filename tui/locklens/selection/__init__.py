"""Which versions of a provider may be selected, which one is, and why not a newer one: pure rules over values.

Nothing here asks anybody. What a registry offers is handed in, and only its version numbers decide: the tools look at
platforms and plugin protocols after they have chosen, and choose no other version then. So do we, and say it.
"""

from __future__ import annotations

from locklens.selection.choosing import before_asking, combined, select
from locklens.selection.explaining import Explanation, RequiringModule, VersionChoices, explain_selection
from locklens.selection.model import (
    ConstraintConflict,
    Demand,
    HeldBack,
    Hold,
    Newest,
    Obstacle,
    Reason,
    Selection,
    Unselectable,
)
from locklens.selection.reasons import conflicts, held_back, nearest, newest_of

__all__ = [
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
    "explain_selection",
    "held_back",
    "nearest",
    "newest_of",
    "select",
]
