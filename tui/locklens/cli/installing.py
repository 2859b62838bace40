"""`init` and `lock`: options to an operation, and results to text and an exit status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.addresses import Platform
from locklens.cli.install_progress import InstallProgress, JsonProgress, Wording
from locklens.cli.mirror_options import mirror_methods
from locklens.cli.output import DONE, FINDINGS, NOT_WRITTEN, UNUSABLE, complain, put, put_patch, tell
from locklens.dialect import DIALECTS
from locklens.errors import LockLensError
from locklens.operations.write.diagnostics import Readonly, RootOptions
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.storage.cache import Cache
from locklens.text import page, visible

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from locklens.operations.plan.model import Plan, RootResult


def run_init(options: Namespace) -> int:
    """Install providers, root by root."""
    from locklens.operations.review.policy import policy_at
    from locklens.operations.write.init import Init

    modes = {mode.value: mode for mode in Readonly}
    readonly = modes.get(options.lockfile, Readonly.NO)
    if options.lockfile not in modes:
        tell([f"warning: -lockfile={options.lockfile} has no effect, here as with the real tools"])
    root_options = RootOptions(
        Path.cwd(),
        os.environ,
        DIALECTS.get(options.tool),
        options.test_directory,
        allow_missing_modules=options.allow_missing_modules,
        dry_run=options.dry_run,
        methods=tuple(InstallationMethod(MethodKind.FILESYSTEM, place) for place in options.plugin_dir or ()) or None,
        reported_hashes=policy_at(Path.cwd()).policy.reported_hashes,
    )
    roots = list(dict.fromkeys(options.root)) or [""]
    wording = Wording.DRY_RUN if options.dry_run else Wording.WRITE
    progress = JsonProgress() if options.json else InstallProgress(wording, is_alone=len(roots) == 1)
    statuses = []
    with (
        Cache.in_memory() if options.no_cache else Cache() as cache,
        Init(root_options, cache, on_event=progress.take, on_waiting=progress.wait) as installing,
    ):
        for root in roots:
            progress.begin(root or ".")
            try:
                outcome = installing.init(root, upgrade=options.upgrade, readonly=readonly)
            except LockLensError as error:
                progress.end()
                complain(error)
                statuses.append(UNUSABLE)
                continue
            progress.conclude(outcome)
            if not options.json:
                _show(outcome, _init_words, is_preview=options.dry_run)
            statuses.append(FINDINGS if outcome.has_failed else DONE)
        tell(f"note: {words}" for words in (*installing.notes, *cache.take_notices()))
        if options.verbose:
            tell(installing.log)
    if options.dry_run and not options.json:
        tell([NOT_WRITTEN])
    return _exit_status(statuses)


def run_lock(options: Namespace) -> int:
    """Add hashes to the lock files of all roots, concurrently."""
    from locklens.cli.planning import plan_operation, scope_of
    from locklens.operations.write.lock import Lock

    scope = scope_of(options)
    operation = Lock(
        scope,
        tuple(dict.fromkeys(map(Platform.parse, options.platform))) or _required_platforms(),
        tuple(options.providers),
        accepts_republished=options.accept_republished,
        allows_missing=options.allow_missing_modules,
        adds_reported=not options.check,
    )
    wording = Wording.DRY_RUN if options.dry_run or options.check else Wording.WRITE
    progress = JsonProgress() if options.json else InstallProgress(wording, is_alone=len(scope.roots) < 2)
    progress.begin(None if len(scope.roots) > 1 else (scope.roots or (".",))[0])
    methods = mirror_methods(options)
    return _conclude(options, plan_operation(operation, options, progress, methods=methods), progress)


def _required_platforms() -> tuple[Platform, ...]:
    """Return the platforms that the policy requires; () for none, so that this machine's is locked."""
    from locklens.operations.review.policy import policy_at

    effective = policy_at(Path.cwd())
    tell(f"note: {words}" for words in effective.notes)
    return effective.policy.required


def _conclude(options: Namespace, plan: Plan, progress: InstallProgress | JsonProgress) -> int:
    """Write the plan of `lock`, report the result of each root, and return the exit status."""
    from locklens.cli.planning import writer_of

    writes = not (options.dry_run or options.check)
    notices: tuple[str, ...] = ()
    refusal = None
    try:
        notices = writer_of(options).apply(plan.proposal) if writes else ()
    except LockLensError as error:
        refusal = error
        complain(error)
    statuses = []
    for root, outcome in plan.results.items():
        progress.begin(root or ".")
        if isinstance(outcome, LockLensError):
            complain(outcome)
            statuses.append(UNUSABLE)
        elif refusal is not None and outcome.would_change:
            statuses.append(UNUSABLE)
        else:
            if outcome.would_change and writes:
                outcome = replace(outcome, is_written=True, notes=(*outcome.notes, *notices))  # noqa: PLW2901
            progress.conclude(outcome)
            if not options.json:
                _show(outcome, _check_words if options.check else _lock_words, is_preview=options.dry_run)
            has_changes = options.check and outcome.would_change
            statuses.append(FINDINGS if outcome.has_failed or has_changes else DONE)
    if options.dry_run and not options.json:
        tell([NOT_WRITTEN])
    if options.check and not options.json and any(_would_change(outcome) for outcome in plan.results.values()):
        tell(["hint: without --check the same command writes it; with --dry-run it prints the difference"])
    return _exit_status(statuses)


def _would_change(outcome: RootResult | LockLensError) -> bool:
    return not isinstance(outcome, LockLensError) and not outcome.has_failed and outcome.would_change


def _exit_status(statuses: Sequence[int]) -> int:
    """Return the exit status of several roots."""
    if all(status == UNUSABLE for status in statuses):
        return UNUSABLE
    return FINDINGS if any(statuses) else DONE


def _show(outcome: RootResult, words: Callable[[RootResult], str], *, is_preview: bool) -> None:
    """Print the result of a root, or the diff of its lock file."""
    if is_preview:
        put_patch([outcome.planned] if outcome.planned is not None else [])
    else:
        put(page(words(outcome).splitlines()))


def _init_words(outcome: RootResult) -> str:
    """Return the result of `init`, with the real tools' key phrases."""
    product, command = outcome.tool.product, outcome.tool.command
    if outcome.is_empty:
        return f"{product} initialized in an empty directory!\n\nThe directory has no {product} configuration files.\n"
    if outcome.has_failed:
        return ""
    if not outcome.is_written:
        return "All required providers are installed.\n"
    if outcome.was_absent:
        return (
            f"{product} has created a lock file .terraform.lock.hcl to record the provider\n"
            "selections it made above. Include this file in your version control repository\n"
            f'so that {product} can guarantee to make the same selections by default when\nyou run "{command} init" in '
            "the future.\n"
        )
    return (
        f"{product} has made some changes to the provider dependency selections recorded\n"
        "in the .terraform.lock.hcl file. Review those changes and commit them to your\n"
        "version control system if they represent changes you intended to make.\n"
    )


def _lock_words(outcome: RootResult) -> str:
    if outcome.has_failed:
        return ""
    product = outcome.tool.product
    if outcome.would_change:
        return (
            f"Success! {product} has updated the lock file.\n\n"
            "Review the changes in .terraform.lock.hcl and then commit to your\n"
            "version control system to retain the new checksums.\n"
        )
    return f"Success! {product} has validated the lock file and found no need for changes.\n"


def _check_words(outcome: RootResult) -> str:
    if outcome.has_failed:
        return ""
    return f"{visible(outcome.lock_file)}: {'would change' if outcome.would_change else 'is complete'}\n"
