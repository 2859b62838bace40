"""Upgrade candidates and their selection, for use without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.review.model import Review


class UpgradeSurvey(Struct, frozen=True):
    """The upgrade candidates of a repository.

    Attributes:
        review: Review of all locked providers, from files alone.
        top: The folder that its paths are relative to.
        selection: The candidates; eligible upgrades are selected.
    """

    review: Review
    top: Path
    selection: UpgradeSelection
