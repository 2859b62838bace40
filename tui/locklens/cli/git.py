"""`merge`, `textconv` and `git`: the programs that git starts for lock files, and their set-up."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli import DONE, FINDINGS, put, tell
from locklens.cli.write import run_write, scope_of
from locklens.errors import UsageError
from locklens.text import counted, listing, page, shell_word, visible

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.cli.options import Parser
    from locklens.lockfile.merge import Labels
    from locklens.operations.merge import Preference
    from locklens.operations.write.apply import Operation

_MARKER_SIZES = range(1, 101)
"""git's attribute conflict-marker-size is a small number; a huge one would only fill the file."""

_LONGEST_LABEL = 200
"""The most characters of the name of a side: a branch may have any."""


def add_merge_options(parser: Parser) -> None:
    """Add the options of `merge`."""
    parser.begin(
        "Merge three lock files block by block, into the second: git's merge driver.",
        "[OPTION...] BASE OURS THEIRS\n       locklens merge [OPTION...] --root DIR...",
        _run_merge,
        _check_merge,
        operation=_resolve,
    )
    parser.add_argument("base", nargs="?", metavar="BASE", help="common ancestor; an empty file for none (git: %%O)")
    parser.add_argument("ours", nargs="?", metavar="OURS", help="side that receives the result (git: %%A)")
    parser.add_argument("theirs", nargs="?", metavar="THEIRS", help="other side (git: %%B)")
    parser.add_argument("--path", metavar="NAME", help="name of the file in messages (git: %%P; default: OURS)")
    parser.add_argument(
        "--marker-size", metavar="N", type=int, help="characters of a conflict marker (git: %%L; default: 7)"
    )
    words = (
        "entry to take where both sides changed it: that of ours or theirs, or of two versions the newest, if it "
        "satisfies the recorded constraints of both sides; with --root also for one PROVIDER; may be repeated "
        "(default: conflict)"
    )
    parser.add_argument("--prefer", action="append", default=[], metavar="[PROVIDER=]SIDE", help=words)
    for side, letter in (("ours", "X"), ("theirs", "Y")):
        words = (
            f"name of {side} in conflict markers (git since 2.44: %%{letter}; default: that of git merge, else {side})"
        )
        parser.add_argument(f"--{side}-name", metavar="NAME", default="", help=words)
    group = parser.group("lock files that git left in conflict")
    words = "folder of the root module whose lock file to merge; may be repeated (default: none)"
    group.add("--root", action="append", default=[], metavar="DIR", help=words)
    group.add_tool()
    group.add_events()


def add_textconv_options(parser: Parser) -> None:
    """Add the options of `textconv`."""
    words = "Print a lock file in the form that git diff compares, with zh hashes folded."
    parser.begin(words, "FILE", _run_textconv)
    parser.add_argument("file", metavar="FILE", help="lock file")


def add_git_options(parser: Parser) -> None:
    """Add the options of `git`."""
    words = "Set git up to merge and to show lock files with locklens, in this repository."
    parser.begin(words, "install|uninstall [OPTION...]", _run_git)
    parser.add_argument(
        "action", choices=["install", "uninstall"], metavar="install|uninstall", help="write the set-up, or remove it"
    )
    parser.add_argument("--private", action="store_true", help="attributes in .git/info, not in .gitattributes")
    parser.add_argument("--dry-run", action="store_true", help="list the changes, and write nothing")


def _preferences(options: Namespace) -> tuple[Preference | None, dict[str, Preference]]:
    """Return what settles every entry, and what settles the entry of one provider instead, by its name."""
    from locklens.operations.merge import Preference

    of_all, of_one = None, {}
    for value in options.prefer:
        name, equals, side = value.rpartition("=")
        if side not in {*Preference} or (equals and not name):
            raise UsageError(
                f"argument --prefer: invalid choice: {visible(side)!r}",
                hint=f"{listing([*Preference])}, or PROVIDER=SIDE",
            )
        if name:
            of_one[name] = Preference(side)
        else:
            of_all = Preference(side)
    return of_all, of_one


def _check_merge(options: Namespace) -> None:
    if any("=" in value for value in options.prefer) and not options.root:
        raise UsageError("--prefer PROVIDER=SIDE requires --root")
    _preferences(options)
    files = [options.base, options.ours, options.theirs]
    if options.root and (any(files) or options.path or options.marker_size is not None):
        raise UsageError("--root merges lock files of the work tree: no BASE, OURS, THEIRS, --path or --marker-size")
    if not options.root and None in files:
        missing = ", ".join(name for name in ("BASE", "OURS", "THEIRS") if getattr(options, name.lower()) is None)
        hint = "or --root for a lock file that git left in conflict"
        raise UsageError(f"the following arguments are required: {missing}", hint=hint)
    if not options.root and (options.dry_run or options.json or options.tool):
        raise UsageError("--dry-run, --json and --tool require --root")
    if options.marker_size is not None and options.marker_size not in _MARKER_SIZES:
        hint = f"from {_MARKER_SIZES[0]} to {_MARKER_SIZES[-1]}"
        raise UsageError(f"invalid marker size {options.marker_size}", hint=hint)


def _resolve(options: Namespace) -> Operation:
    from locklens.operations.write.resolve import ResolveConflicts

    of_all, of_one = _preferences(options)
    return ResolveConflicts(scope_of(options), of_all, {(None, name): side for name, side in of_one.items()})


def _run_merge(options: Namespace) -> int:
    """Merge three lock files into the second, and report on stderr; with roots, what git left in conflict.

    Returns:
        1 where conflicts are left, as git expects of a merge driver.
    """
    if options.root:
        return run_write(options)
    from locklens.operations.merge import merge_files, newest_of_both, ways_to_settle

    base, ours, theirs = (Path(name) for name in (options.base, options.ours, options.theirs))
    prefer, _ = _preferences(options)
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
        sides = ways_to_settle(has_newest=all(map(newest_of_both, result.conflicts)))
        tell(["hint: keep one of both entries, then run locklens review"])
        if options.path:  # git merges for a file of the work tree, which is in conflict then
            folder = shell_word(str(Path(options.path).parent))
            tell([f"hint: or locklens merge --root {folder} with an option: {sides}"])
        else:
            tell([f"hint: or merge again with an option: {sides}"])
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


def _run_textconv(options: Namespace) -> int:
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


def _run_git(options: Namespace) -> int:
    from locklens.project.git.setup import set_up, take_down

    is_dry_run = options.dry_run
    if options.action == "install":
        changes = set_up(Path.cwd(), private=options.private, is_dry_run=is_dry_run)
    else:
        changes = take_down(Path.cwd(), is_dry_run=is_dry_run)
    if not changes:
        return put(page(["nothing to change"]))
    verb = "would make" if is_dry_run else "made"
    return put(page([f"{verb} {counted(len(changes), 'change')}:", *(f"  {change}" for change in changes)]))
