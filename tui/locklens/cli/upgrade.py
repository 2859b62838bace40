"""`upgrade`: selected providers, or the available versions (--list), or the eligible ones (--safe)."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli import DONE, FINDINGS, deliver, tell
from locklens.cli.options import Parser, check_source_options, given_tool, network_of, platforms_of, source_methods
from locklens.cli.write import apply_plan, plan_progress, plan_with, run_write, scope_of
from locklens.errors import LockLensError, NoRepositoryError, UsageError
from locklens.operations.reports import formats_of, report_pages
from locklens.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from locklens.operations.comparison import Comparison
    from locklens.operations.locklens import LockLens
    from locklens.operations.plan import Plan
    from locklens.operations.upgrades import UpgradeCandidates
    from locklens.operations.upgrades.lookup import UpgradeSurvey
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.operations.write.apply import Operation
    from locklens.policy import Policy


def add_upgrade_options(parser: Parser) -> None:
    """Add the options of `upgrade`."""
    words = "Upgrade the selected providers; other entries of the lock file are left untouched."
    usage = "[OPTION...] [PROVIDER[=VERSION]...] [-- ROOT...]"
    parser.begin(words, usage, _run_upgrade, _check_upgrade, operation=_upgrade)
    words = "such as aws or hashicorp/aws=5.2.0 (default: all locked providers that are required)"
    parser.add_argument("providers", nargs="*", metavar="PROVIDER[=VERSION]", help=words)
    group = parser.group("operation")
    group.add_platforms("platform to lock", "those of the policy, and those locked now, where known")
    group.flag("--list", "write nothing; list the available versions, and what holds them back")
    group.add("--format", choices=formats_of("upgrade"), help="format of --list (default: text)")
    words = "upgrade what is eligible: in range, past the cooldown, no major version, of each required platform, and of"
    words += " the same signer; and lock what is required and not locked"
    group.flag("--safe", words)
    group.flag("--ignore-cooldown", "select releases of any age, and say so")
    group.flag("--include-major", "with --list or --safe: major versions are eligible too")
    group.add_sources()
    words = "rewrite constraints of local modules that exclude the named version, or else the newest release"
    group.flag("--edit-constraints", words)
    group.flag("--allow-missing-modules", "continue without modules that cannot be read")
    group = parser.group("scope and output")
    group.add_roots()
    group.add_tool()
    group.add_events()
    group.add_requests()


def _check_upgrade(options: Namespace) -> None:
    if options.safe and options.list:
        raise UsageError("--list and --safe cannot be used together", hint="--list writes nothing, --safe writes")
    has_versions = any("=" in name for name in options.providers)
    if (options.safe or options.list) and (has_versions or options.platform or options.edit_constraints):
        raise UsageError("--list and --safe take no PROVIDER=VERSION, --platform or --edit-constraints")
    check_source_options(options)
    if (options.safe or options.list) and (methods := source_methods(options)):
        raise UsageError(f"--list and --safe ask registries, and take no {methods[0].kind.option}")
    if options.format and not options.list:
        raise UsageError("--format requires --list", hint="--json prints events as JSON")
    if options.list and (options.dry_run or options.json):
        raise UsageError("--list writes nothing, and takes no --dry-run or --json", hint="use --format json")
    if options.include_major and not (options.safe or options.list):
        raise UsageError("--include-major requires --list or --safe", hint="upgrade PROVIDER takes majors in range")


def _run_upgrade(options: Namespace) -> int:
    if options.list:
        return _list_candidates(options)
    return apply_plan(_plan_safe(options), options) if options.safe else run_write(options)


def _upgrade(options: Namespace) -> Operation:
    """Return the upgrade of the named providers."""
    from locklens.operations.review.policy import policy_at
    from locklens.operations.write.upgrade import Upgrade

    effective = policy_at(Path.cwd())
    tell(f"note: {words}" for words in effective.notes)
    _warn_of_cooldown(effective.policy, options)
    return Upgrade(
        scope_of(options),
        tuple(options.providers),
        platforms_of(options),
        edits_constraints=options.edit_constraints,
        allows_missing=options.allow_missing_modules,
        policy=effective.policy,
        ignores_cooldown=options.ignore_cooldown,
    )


def _warn_of_cooldown(policy: Policy, options: Namespace) -> None:
    """Warn that the policy's cooldown is ignored."""
    if policy.cooldown is not None and options.ignore_cooldown:
        tell([f"warning: the policy's cooldown of {counted(policy.cooldown, 'day')} is ignored (--ignore-cooldown)"])


def _list_candidates(options: Namespace) -> int:
    """Print the available versions, and what holds them back."""
    with _surveyor(options) as locklens:
        survey = _surveyed(locklens, options)
        selection = survey.selection.without(survey.selection.offers.providers)
        form = options.format or "text"
        if form == "text":
            tell(f"note: {words}" for words in (*survey.review.notes, *selection.offers.notes))
        deliver(report_pages("upgrade", form, selection, review=survey.review, is_offline=locklens.is_offline))
        is_unknown = any(offer.problem for offer in selection.offers.providers)
        return FINDINGS if selection.offers.refused or is_unknown else DONE


def _plan_safe(options: Namespace) -> Plan:
    """Plan the upgrade of what the screen selects as eligible; an empty plan where nothing is.

    Raises:
        LockLensError: There is no plan for any root.
        RunCancelledError: The run was cancelled.
    """
    from locklens.operations.plan.builder import PlanBuilder
    from locklens.operations.upgrades.doubts import words_of_refused_lock
    from locklens.operations.write.upgrade import Upgrade

    with _surveyor(options) as locklens:
        survey = _surveyed(locklens, options)
        tell(f"note: {words}" for words in (*survey.review.notes, *survey.selection.offers.notes))
        draft = PlanBuilder(survey.top)
        for refusal in survey.selection.offers.refused:
            draft.fail(refusal.root, refusal.error)
        for offer in survey.selection.offers.providers:
            if offer.problem:
                error = LockLensError(f"{offer.name} is not upgraded: {offer.problem}", hint=offer.hint)
                draft.fail(offer.root, error, address=offer.name)
            elif words := _left_words(survey.selection, offer):
                draft.warn(offer.root, words, address=offer.name)
            elif options.providers and (words := _kept_words(survey.selection, offer)):
                draft.note(offer.root, words, address=offer.name)
            refused = "" if survey.selection.is_selected(offer) else words_of_refused_lock(survey.selection, offer)
            if refused:
                draft.warn(offer.root, refused, address=offer.name)
        for offer in survey.dropped:
            choice = survey.selection.recommendation(offer).suggested
            if choice is not None and (unknown := survey.selection.unknown_signer(offer, choice)):
                words = f"{offer.name} is not upgraded to {choice.version}: its signer is unknown: {unknown}"
                draft.fail(offer.root, LockLensError(words), address=offer.name)
        beside = draft.plan("locklens upgrade --safe")
        picks = survey.selection.picks
        if waiting := _waiting_words(survey.selection, is_named=bool(options.providers)):
            tell([f"note: {waiting}: --list in place of --safe names the reasons"])
        if not picks:
            return beside
        operation = Upgrade.of_picks(picks, partial(locklens.where, survey.top), policy=survey.review.policy)
        progress = plan_progress(options, operation.where.roots)
        plan = plan_with(locklens, operation, options, progress, survey.review)
        return plan.with_diagnostics(beside.diagnostics)


def _left_words(selection: UpgradeSelection, offer: UpgradeCandidates) -> str:
    """Return what is left to do about a provider that has no version to select, and why; "" for nothing."""
    from locklens.operations.upgrades.recommending import Eligibility

    words = "not locked, although it is required" if offer.locked is None else ""
    if offer.is_excluded:
        words = f"not upgraded, although the locked {offer.locked} does not satisfy the constraints"
    state, standing = selection.state(offer), selection.recommendation(offer)
    if words and state is Eligibility.DECIDE and standing.suggested is not None:
        return f"{words}: {standing.suggested.version} needs a decision"
    if not words or state not in {Eligibility.HELD, Eligibility.CURRENT}:
        return ""
    return ": ".join(filter(None, (words, standing.held_by)))


def _kept_words(selection: UpgradeSelection, offer: UpgradeCandidates) -> str:
    """Return why a named provider stays as it is; "" where it is upgraded, or needs a decision."""
    from locklens.operations.upgrades.recommending import Eligibility
    from locklens.review.why import kept_words

    state, held_by = selection.state(offer), selection.recommendation(offer).held_by
    if state is Eligibility.CURRENT and offer.locked is not None:
        return kept_words(offer.locked, offer.newer)
    if state is Eligibility.NOT_REQUIRED:
        return f"left at {offer.locked}: {held_by}"
    return f"kept at {offer.locked}; held back: {held_by}" if state is Eligibility.HELD else ""


def _waiting_words(selection: UpgradeSelection, *, is_named: bool) -> str:
    """Return how many providers need a decision, or are held back; of named ones, each that is held back has a note."""
    counts = selection.counts
    held = 0 if is_named else counts.held + counts.partly
    need = f"{counted(counts.undecided, 'provider needs', 'providers need')} a decision" if counts.undecided else ""
    number = str(held) if need else counted(held, "provider")
    some = f"({counts.partly} in some roots alone)" if counts.held else "in some roots alone"
    partly = f" {some}" if counts.partly else ""
    waiting = f"{number} {'is' if held == 1 else 'are'} held back{partly}" if held else ""
    return ", ".join(filter(None, (need, waiting)))


def _surveyed(locklens: LockLens, options: Namespace) -> UpgradeSurvey:
    from locklens.operations.upgrades.lookup import survey_upgrades

    surveyed = survey_upgrades(
        locklens.request,
        tuple(options.providers),
        ignores_cooldown=options.ignore_cooldown,
        takes_majors=options.include_major,
    )
    _warn_of_cooldown(surveyed.review.policy, options)
    return surveyed


@contextmanager
def _surveyor(options: Namespace) -> Iterator[LockLens]:
    """Open the operations on the locked providers of the roots; every registry that they require is asked."""
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewRequest

    network = network_of(options, asks_all=True)
    with network.cache:
        request = ReviewRequest(
            partial(_open, tuple(dict.fromkeys(options.root))),
            include_unchanged=True,
            test_directory=options.test_directory,
            tool=given_tool(options),
            network=network,
        )
        yield LockLens(request, reads_only=True)


def _open(roots: tuple[str, ...]) -> Comparison:
    from locklens.operations.compare import open_locked

    try:
        return open_locked(Path.cwd(), roots=roots or (".",))
    except NoRepositoryError:
        if roots:
            raise
        return open_locked(Path.cwd())
