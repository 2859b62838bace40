"""The tool by whose rules each root of a review is judged: the base's, unless the providers moved with the change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from locklens.lockfile import LockFile
from locklens.operations.root_modules import is_of_registry_of, read_lock, tool_before, tool_of
from locklens.project.tree import folder_of
from locklens.review.context import ToolChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.comparison import Comparison, RootSettings
    from locklens.project import RootPair
    from locklens.review.model import RootReview


def authoritative(comparison: Comparison, pair: RootPair, old: LockFile, tool: Dialect | None) -> Iterator[LockFile]:
    """Yield the lock files that decide a root's hosts and tool: the tip's if there is a tip, else `old`."""
    if comparison.tip is None:
        yield old
        return
    for path in dict.fromkeys((pair.old_lock, pair.new_lock)):
        if path is not None:
            yield read_lock(comparison.tip.tree, path, tool)


def _tool_before(comparison: Comparison, pair: RootPair, old: LockFile) -> Dialect | None:
    folder = pair.path if pair.old_lock is None or pair.renamed_from is None else folder_of(pair.old_lock)
    tool: Dialect | None = None
    if comparison.tip is not None:
        locks = [lock for lock in authoritative(comparison, pair, old, None) if lock.exists]
        at_tip, place = (locks[0], locks[0].path.rpartition("/")[0]) if locks else (LockFile.absent(""), folder)
        tool = tool_before(comparison.tip.tree, place, at_tip)
    return tool or tool_before(comparison.base.tree, folder, old)


def judging_tool(
    comparison: Comparison, pair: RootPair, old: LockFile, new: LockFile, settings: RootSettings
) -> tuple[Dialect, ToolChange | None]:
    """Return the tool by whose rules a root is judged: the base's, since a change can edit the comment that names it.

    Entries that moved to the other tool's registry can only be judged by that tool's rules: this is a migration, with a
    finding of its own.
    """
    before = _tool_before(comparison, pair, old)
    now = tool_of(comparison.head.tree, pair.path, new) if new.exists or before is None else before
    if before is None or before is now:
        return now, None
    has_migrated = _has_migrated(comparison, pair, ToolChange(before, now, has_migrated=True), new, settings)
    return now if has_migrated else before, ToolChange(before, now, has_migrated)


def tool_of_plan(
    comparison: Comparison, pair: RootPair, reviewed: RootReview, planned: LockFile, settings: RootSettings
) -> Dialect:
    """Return the tool that judges a planned lock file, as a plan can take back the migration to the reviewed tool."""
    change = reviewed.context.tool_change
    if change is not None and change.has_migrated and not _has_migrated(comparison, pair, change, planned, settings):
        return change.before
    return reviewed.tool


def _has_migrated(
    comparison: Comparison, pair: RootPair, change: ToolChange, lock: LockFile, settings: RootSettings
) -> bool:
    """True if the providers of a lock file are from the registry of the tool of now, unless their source names another.

    A source without a host stands for one registry with one tool, and for another one with the other. Where entries of
    both registries are locked, the tool of now has to require those of the other one, and the tool of before to lack
    some: these had no host, and no edit of a comment moves them.
    """
    if is_of_registry_of(change.now, lock):
        return True
    hosts = {entry.address.host for entry in lock.entries}
    if not hosts.issuperset({change.before.default_host, change.now.default_host}):
        return False
    kept = {entry.address for entry in lock.entries if entry.address.host == change.before.default_host}
    if not kept <= _required(comparison, pair, change.now, settings):
        return False
    return not _required(comparison, pair, change.before, settings) <= lock.by_address.keys()


def _required(
    comparison: Comparison, pair: RootPair, tool: Dialect, settings: RootSettings
) -> frozenset[ProviderAddress]:
    """Return what the configuration of the new side requires, as a tool reads it."""
    from locklens.project.requirements import read_configuration

    return read_configuration(
        comparison.head.tree,
        pair.path,
        dialect=tool,
        worktree=comparison.worktree,
        environ=os.environ,
        test_directory=settings.test_directory,
    ).required()
