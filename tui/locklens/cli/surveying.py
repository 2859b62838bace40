"""`upgrade --list` and `upgrade --safe`: available upgrades, and the upgrade of those that are eligible."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, put, tell
from locklens.cli.planning import heeded_policy, plan_with
from locklens.dialect import DIALECTS
from locklens.errors import NoRepositoryError
from locklens.operations.compare_repository import open_locked
from locklens.operations.locklens import LockLens
from locklens.operations.reports import render_report
from locklens.operations.review.request import ReviewRequest
from locklens.operations.upgrades.survey import survey_upgrades
from locklens.releases.facts import NetworkSettings
from locklens.storage.cache import Cache

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from locklens.operations.comparison import Comparison
    from locklens.operations.plan.model import Plan
    from locklens.operations.upgrades.survey import UpgradeSurvey


def list_candidates(options: Namespace) -> int:
    """Print the available versions, and what holds them back."""
    with _surveyor(options) as locklens:
        survey = _surveyed(locklens, options)
        selection = survey.selection.without_any()
        form = options.format or "text"
        if form == "text":
            tell(f"note: {words}" for words in (*survey.review.notes, *selection.offers.notes))
        put(render_report("upgrade", form, selection, review=survey.review, is_offline=locklens.is_offline))
    return DONE


def plan_safe(options: Namespace) -> Plan:
    """Plan the upgrade of what the screen selects as eligible; an empty plan where nothing is.

    Raises:
        LockLensError: There is no plan for any root.
        RunCancelledError: The run was cancelled.
    """
    from locklens.cli.install_progress import InstallProgress, JsonProgress, Wording
    from locklens.operations.plan.builder import PlanBuilder
    from locklens.operations.write.upgrade import Upgrade

    with _surveyor(options) as locklens:
        survey = _surveyed(locklens, options)
        tell(f"note: {words}" for words in (*survey.review.notes, *survey.selection.offers.notes))
        draft = PlanBuilder(survey.top)
        for refusal in survey.selection.offers.refused:
            draft.fail(refusal.root, refusal.error)
        for offer in survey.selection.offers.providers:
            if offer.problem:
                draft.note(offer.root, f"not upgraded: {offer.problem}", address=offer.name)
        beside = draft.plan("locklens upgrade --safe")
        picks = survey.selection.picks
        if not picks:
            return beside
        operation = Upgrade.of_picks(picks, partial(locklens.where, survey.top), policy=survey.review.policy)
        is_alone = len(operation.where.roots) < 2
        progress = JsonProgress() if options.json else InstallProgress(Wording.PLAN, is_alone=is_alone)
        if len(operation.where.roots) > 1:
            progress.begin(None)
        plan = plan_with(locklens, operation, options, progress, survey.review)
        return plan.with_diagnostics(beside.diagnostics)


def _surveyed(locklens: LockLens, options: Namespace) -> UpgradeSurvey:
    surveyed = survey_upgrades(locklens, ignores_cooldown=options.ignore_cooldown, takes_majors=options.include_major)
    heeded_policy(surveyed.review.policy, options)
    return surveyed


@contextmanager
def _surveyor(options: Namespace) -> Iterator[LockLens]:
    """Open the operations on the locked providers of the roots; every registry that they require is asked."""
    with Cache.in_memory() if options.no_cache else Cache() as cache:
        request = ReviewRequest(
            partial(_open, tuple(dict.fromkeys(options.root))),
            include_unchanged=True,
            test_directory=options.test_directory,
            tool=DIALECTS.get(options.tool),
            asking=NetworkSettings(os.environ, cache, asks_all=True),
        )
        yield LockLens(request, reads_only=True)


def _open(roots: tuple[str, ...]) -> Comparison:
    try:
        return open_locked(Path.cwd(), roots=roots or (".",))
    except NoRepositoryError:
        if roots:
            raise
        return open_locked(Path.cwd())
