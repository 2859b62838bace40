"""`init` and `lock`: what was typed becomes a use case, and what came of it words and an exit status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.addresses import Platform
from locklens.cli.install_progress import JsonTelling, Telling
from locklens.cli.output import DONE, FINDINGS, UNUSABLE, complain, put, tell
from locklens.dialect import DIALECTS
from locklens.errors import LockLensError, RunCancelledError
from locklens.storage.cache import Cache
from locklens.workspace.installing import Installing
from locklens.workspace.rootmodule import Options, Readonly

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from locklens.workspace.rootmodule import Outcome


def init(found: Namespace) -> int:
    """Installs providers."""
    modes = {mode.value: mode for mode in Readonly}
    readonly = modes.get(found.lockfile, Readonly.NO)
    if found.lockfile not in modes:
        tell([f"warning: -lockfile={found.lockfile} has no effect, here as with the real tools"])

    def work(installing: Installing, root: str) -> Outcome:
        return installing.init(root, upgrade=found.upgrade, readonly=readonly)

    return _each(found, work, _init_words)


def lock(found: Namespace) -> int:
    """Brings hashes into lock files."""
    platforms = [Platform.parse(text) for text in found.platform]

    def work(installing: Installing, root: str) -> Outcome:
        return installing.lock(
            root, platforms, found.providers, accept_republished=found.accept_republished, check=found.check
        )

    return _each(found, work, _check_words if found.check else _lock_words)


def _each(found: Namespace, work: Callable[[Installing, str], Outcome], words: Callable[[Outcome], str]) -> int:
    options = Options(
        Path.cwd(),
        os.environ,
        DIALECTS.get(found.tool),
        found.test_directory,
        allow_missing_modules=found.allow_missing_modules,
        dry_run=found.dry_run,
    )
    roots = list(dict.fromkeys(found.root)) or [""]
    telling = JsonTelling() if found.json else Telling(is_alone=len(roots) == 1)
    statuses = []
    with (
        Cache.in_memory() if found.no_cache else Cache() as cache,
        Installing(options, cache, on_event=telling.take, on_waiting=telling.wait) as installing,
    ):
        for root in roots:
            telling.begin(root or ".")
            try:
                outcome = work(installing, root)
            except RunCancelledError:
                raise
            except LockLensError as error:
                telling.end()
                complain(error)
                statuses.append(UNUSABLE)
                continue
            telling.conclude(outcome)
            if not found.json:
                put(_diff(outcome) if found.dry_run else words(outcome))
            has_changes = getattr(found, "check", False) and outcome.would_change
            statuses.append(FINDINGS if outcome.has_failed or has_changes else DONE)
        if found.verbose:
            tell(installing.log)
    if all(status == UNUSABLE for status in statuses):
        return UNUSABLE
    return FINDINGS if any(statuses) else DONE


def _init_words(outcome: Outcome) -> str:
    """The result of `init`, with the real tools' key phrases."""
    product, command = outcome.tool.product, outcome.tool.command
    if outcome.is_empty:
        return f"{product} initialized in an empty directory!\n\nThe directory has no {product} configuration files.\n"
    if outcome.has_failed:
        return ""
    if not outcome.is_written:
        return "All that is required is installed.\n"
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


def _lock_words(outcome: Outcome) -> str:
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


def _check_words(outcome: Outcome) -> str:
    if outcome.has_failed:
        return ""
    return f"{outcome.lock_file}: {'would change' if outcome.would_change else 'is complete'}\n"


def _diff(outcome: Outcome) -> str:
    """What would change, as a diff."""
    import difflib

    if outcome.after is None or not outcome.would_change:
        return ""
    old = outcome.before.decode("utf-8", "replace").splitlines(keepends=True)
    new = outcome.after.decode("utf-8", "replace").splitlines(keepends=True)
    before = outcome.lock_file if outcome.before else "/dev/null"
    lines = difflib.unified_diff(old, new, before, outcome.lock_file)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
