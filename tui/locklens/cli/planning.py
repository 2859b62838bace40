"""Settings of a command that writes, and its plan with progress."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import tell
from locklens.dialect import DIALECTS
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.releases.facts import NetworkSettings
from locklens.text import counted

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.cli.install_progress import InstallProgress, JsonProgress
    from locklens.operations.plan.model import Plan, Scope
    from locklens.operations.write.operation import Operation
    from locklens.policy import Policy
    from locklens.project.installation import InstallationMethod
    from locklens.review.model import Review


def heeded_policy(policy: Policy, options: Namespace) -> Policy:
    """Return the policy of an upgrade; say so where the user ignores its cooldown."""
    if policy.cooldown is not None and options.ignore_cooldown:
        tell([f"warning: the policy's cooldown of {counted(policy.cooldown, 'day')} is ignored (--ignore-cooldown)"])
    return policy


def scope_of(options: Namespace) -> Scope:
    """Return the scope of the named roots, relative to the current folder."""
    from locklens.operations.plan.model import Scope

    return Scope(Path.cwd(), tuple(dict.fromkeys(options.root)), DIALECTS.get(options.tool), options.test_directory)


def writer_of(options: Namespace, asking: NetworkSettings | None = None) -> LockLens:
    """Return the operations for a command that writes."""
    from locklens.operations.compare_repository import open_git

    tool, test_directory = getattr(options, "tool", None) or "", getattr(options, "test_directory", "tests")
    opened = partial(open_git, Path.cwd())
    return LockLens(ReviewRequest(opened, tool=DIALECTS.get(tool), test_directory=test_directory, asking=asking))


def plan_operation(
    operation: Operation,
    options: Namespace,
    progress: InstallProgress | JsonProgress,
    *,
    methods: tuple[InstallationMethod, ...] | None = None,
) -> Plan:
    """Plan an operation that needs registries: all that the roots require are asked, as the tools do.

    `methods` are those that are used instead of registries.

    Raises:
        LockLensError: There is no plan for any root, or the policy has a mistake.
        RunCancelledError: The run was cancelled.
    """
    from locklens.operations.review.policy import policy_at
    from locklens.storage.cache import Cache

    believed = policy_at(Path.cwd()).policy.reported_hashes
    with Cache.in_memory() if options.no_cache else Cache() as cache:
        asking = NetworkSettings(os.environ, cache, asks_all=True, reported_hashes=believed, methods=methods)
        return plan_with(writer_of(options, asking), operation, options, progress)


def plan_with(
    locklens: LockLens,
    operation: Operation,
    options: Namespace,
    progress: InstallProgress | JsonProgress,
    review: Review | None = None,
) -> Plan:
    """Plans with progress, and reports problems of the CLI configuration, notices and the log of requests.

    Args:
        locklens: With network settings.
        operation: The requested operation.
        options: The options.
        progress: Receives events.
        review: The review that the operation was made from.

    Raises:
        LockLensError: There is no plan for any root.
        RunCancelledError: The run was cancelled.
    """
    log: list[str] = []
    notes: list[str] = []
    try:
        return locklens.plan(
            operation,
            review,
            on_notes=notes.extend,
            on_root=lambda root: progress.begin(root or "."),
            on_event=progress.take,
            on_log=log.extend,
        )
    finally:
        progress.end()
        asking = locklens.request.asking
        tell(f"note: {words}" for words in (*notes, *(asking.cache.take_notices() if asking is not None else ())))
        if options.verbose:
            tell(log)
