"""Output of `merge`, `textconv` and `git`: the programs that git starts for lock files, and their set-up."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, FINDINGS, put, tell
from locklens.text import counted, page, visible

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.lockfile.merge import Labels


_LONGEST_LABEL = 200
"""Of the name of a side: a branch may have any."""


def run_merge(options: Namespace) -> int:
    """Merge three lock files into the second, and report on stderr; with roots, what git left in conflict.

    Returns:
        1 where conflicts are left, as git expects of a merge driver.
    """
    if options.root:
        from locklens.cli.writing import run_write

        return run_write(options)
    from locklens.operations.merge import Preference, merge_files, newest_of_both

    base, ours, theirs = (Path(name) for name in (options.base, options.ours, options.theirs))
    prefer = Preference(options.prefer) if options.prefer else None
    result = merge_files(base, ours, theirs, labels=_labels(options), prefer=prefer)
    name = options.path or options.ours
    tell(f"{name}: {address}: the hashes of both sides were united" for address in result.united)
    tell(f"{name}: {entry.address}: {entry.words}" for entry in result.settled)
    for conflict in result.conflicts:
        versions = " and ".join(str(side.version) if side else "removed" for side in (conflict.ours, conflict.theirs))
        tell([f"{name}: conflict in {conflict.address}: {conflict.reason} ({versions})"])
    if result.line_merge:
        tell([f"{name}: lines were merged, not blocks: {result.line_merge}"])
        tell(["hint: correct the file, then run locklens review"])
    if result.conflicts:
        newest = "--prefer newest selects the newer version, " if any(map(newest_of_both, result.conflicts)) else ""
        sides = f"{newest}--prefer ours or theirs the entry of that side"
        tell([f"hint: keep one of both entries, then run locklens review; {sides}"])
    return DONE if result.is_clean else FINDINGS


def _labels(options: Namespace) -> Labels:
    """Return the names of the sides: as git gives them to the driver, or has them for its merge."""
    from locklens.lockfile.merge import MARKER_SIZE, Labels

    # An older git leaves the placeholder as it is. `git merge` names what it merges in one variable for each commit.
    ours, theirs = ("" if name.startswith("%") else name for name in (options.ours_name, options.theirs_name))
    merged = [value for name, value in os.environ.items() if name.startswith("GITHEAD_")]
    if not theirs and len(merged) == 1:
        ours, theirs = ours or "HEAD", merged[0]
    mine, other = (visible(name)[:_LONGEST_LABEL] for name in (ours or "ours", theirs or "theirs"))
    return Labels(mine, other, options.marker_size or MARKER_SIZE)


def run_textconv(options: Namespace) -> int:
    """Print a lock file for `git diff`, of one in conflict both sides; one that the tools would refuse as it is."""
    from locklens.lockfile.parse import MAX_LOCK_FILE_BYTES, parse
    from locklens.lockfile.render import conflict_summary, summary
    from locklens.storage.files import read_bounded

    data = read_bounded(Path(options.file), MAX_LOCK_FILE_BYTES)
    lock = parse(data, options.file)
    if lock.is_valid:
        return put(page(summary(lock)))
    conflict = lock.conflict
    if conflict is not None and conflict.ours.is_valid and conflict.theirs.is_valid:
        return put(page(conflict_summary(conflict)))
    return put(page(data.decode("utf-8", "replace").splitlines()))


def run_git(options: Namespace) -> int:
    """Set git up for lock files, or remove that set-up, and list the changes."""
    from locklens.project.gitsetup import set_up, take_down

    is_dry_run = options.dry_run
    if options.action == "install":
        changes = set_up(Path.cwd(), private=options.private, is_dry_run=is_dry_run)
    else:
        changes = take_down(Path.cwd(), is_dry_run=is_dry_run)
    if not changes:
        return put(page(["nothing to change"]))
    verb = "would make" if is_dry_run else "made"
    return put(page([f"{verb} {counted(len(changes), 'change')}:", *(f"  {change}" for change in changes)]))
