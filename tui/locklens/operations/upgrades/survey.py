"""What can be upgraded, as it is known without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.review.model import Review


class UpgradeSurvey(Struct, frozen=True):
    """What can be upgraded.

    Attributes:
        review: Of all that is locked, from files alone.
        top: What its paths are relative to.
        selection: The candidates; what is safe is selected.
    """

    review: Review
    top: Path
    selection: UpgradeSelection
