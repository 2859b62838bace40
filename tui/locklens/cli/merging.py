"""Output of `merge`, `textconv` and `git`: the programs that git starts for lock files, and their set-up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, FINDINGS, put, tell
from locklens.text import counted, page

if TYPE_CHECKING:
    from argparse import Namespace


def run_merge(options: Namespace) -> int:
    """Merge three lock files into the second, and report on stderr; with roots, what git left in conflict.

    Returns:
        1 where conflicts are left, as git expects of a merge driver.
    """
    if options.root:
        from locklens.cli.writing import run_write

        return run_write(options)
    from locklens.operations.merge import merge_files, newest_of_both

    base, ours, theirs = (Path(name) for name in (options.base, options.ours, options.theirs))
    result = merge_files(base, ours, theirs, marker_size=options.marker_size, prefer_newest=options.prefer == "newest")
    name = options.path or options.ours
    tell(f"{name}: {address}: the hashes of both sides were united" for address in result.united)
    tell(f"{name}: {entry.address}: {entry.version}, the newest of both sides" for entry in result.settled)
    for conflict in result.conflicts:
        versions = " and ".join(str(side.version) if side else "removed" for side in (conflict.ours, conflict.theirs))
        tell([f"{name}: conflict in {conflict.address}: {conflict.reason} ({versions})"])
    if result.line_merge:
        tell([f"{name}: lines were merged, not blocks: {result.line_merge}"])
        tell(["hint: correct the file, then run locklens review"])
    if result.conflicts:
        newest = "; --prefer newest selects the newer version" if any(map(newest_of_both, result.conflicts)) else ""
        tell([f"hint: keep one of both entries, then run locklens review{newest}"])
    return DONE if result.is_clean else FINDINGS


def run_textconv(options: Namespace) -> int:
    """Print a lock file for `git diff`; one that the tools would refuse as its lines."""
    from locklens.lockfile.parse import MAX_LOCK_FILE_BYTES, parse
    from locklens.lockfile.summary import summary
    from locklens.storage.files import read_bounded

    data = read_bounded(Path(options.file), MAX_LOCK_FILE_BYTES)
    lock = parse(data, options.file)
    return put(page(summary(lock) if lock.is_valid else data.decode("utf-8", "replace").splitlines()))


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
