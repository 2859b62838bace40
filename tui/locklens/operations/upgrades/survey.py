"""Upgrade candidates and their selection, for use without a screen."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import LockLensError
from locklens.operations.upgrades.recommend import UpgradePolicy
from locklens.operations.upgrades.selection import UpgradeSelection

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.operations.locklens import LockLens
    from locklens.operations.upgrades.download_estimate import KnownRelease
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


def survey_upgrades(
    locklens: LockLens,
    *,
    ignores_cooldown: bool = False,
    takes_majors: bool = False,
    cancel: threading.Event | None = None,
) -> UpgradeSurvey:
    """Look up upgrades, and select the eligible ones, like `a` on the screen, signers included.

    Args:
        locklens: Opens the locked providers, and asks registries.
        ignores_cooldown: True to recommend releases of any age.
        takes_majors: True if major versions are eligible.
        cancel: Set by another thread to stop.

    Raises:
        LockLensError: There is nothing to upgrade on disk.
        RunCancelledError: `cancel` was set.
    """
    opened = locklens.open()
    try:
        review = opened.complete(on_event=lambda _: None, cancel=cancel or threading.Event())
        top = opened.top
    finally:
        opened.close()
    if top is None:
        raise LockLensError("the reviewed files are not on disk, so nothing can be upgraded")
    terms = UpgradePolicy(review.policy, takes_majors=takes_majors, ignores_cooldown=ignores_cooldown)
    table = locklens.candidates(review, top, cancel=cancel)
    selection = UpgradeSelection(terms=terms).with_offers(table).with_safe()
    known: list[KnownRelease] = []
    locklens.releases(review, selection.unknown_releases(()), on_known=known.append, cancel=cancel)
    selection, _ = selection.with_known(known).without_suspects()
    return UpgradeSurvey(review, top, selection)
