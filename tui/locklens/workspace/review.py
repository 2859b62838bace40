"""The review as a use case: first from the lock files alone, which is quick, then with each root's configuration."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import LockLensError, RunCancelledError
from locklens.hcl import Problem
from locklens.lockfile.model import LockEntry, LockFile
from locklens.lockfile.parse import parse
from locklens.project.configuration import Configuration
from locklens.project.files import configuration_files
from locklens.project.tree import EntryKind, Tree
from locklens.review.changes import compare
from locklens.review.findings import judge_agreement, judge_change, judge_file, judge_requirements
from locklens.review.model import Change, Finding, HostState, Kind, Review, RootReview, Severity, SideName, Status

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from locklens.project.modules import ModuleReader
    from locklens.project.roots import RootPair
    from locklens.workspace.open import Comparison, Side


class ReviewRequest(Struct, frozen=True):
    """What is to be reviewed, so that it can be reviewed again when a file changed.

    Attributes:
        open: Opens the comparison anew; raises LockLensError.
        include_unchanged: Whether to list providers that did not change.
        tool: Whose rules count for every root; None: each root's own tool.
        fail_on: From which severity on the exit status of a report is 1; "never" for none.
    """

    open: Callable[[], Comparison]
    include_unchanged: bool = False
    test_directory: str = "tests"
    tool: Dialect | None = None
    fail_on: str = "block"


def review(request: ReviewRequest, *, cancel: threading.Event | None = None) -> Review:
    """Opens the comparison and reviews it whole.

    Raises:
        LockLensError: A side cannot be opened.
    """
    comparison = request.open()
    try:
        drafted = draft(comparison, include_unchanged=request.include_unchanged, tool=request.tool)
        return complete(comparison, drafted, test_directory=request.test_directory, cancel=cancel)
    finally:
        comparison.close()


def draft(comparison: Comparison, *, include_unchanged: bool = False, tool: Dialect | None = None) -> Review:
    """Reviews the lock files alone; each root's `configuration` is None.

    Roots of which neither the lock file nor the configuration changed are left out, unless `include_unchanged`.
    """
    concerned = [
        pair for pair in comparison.roots if pair.lock_changed or pair.configuration_changed or include_unchanged
    ]
    pairs = [(pair, *_read_pair(comparison, pair, tool)) for pair in concerned]
    roots = [_root(comparison.head.tree, pair, old, new, include_unchanged, tool) for pair, old, new in pairs]
    if any(root.changes for root in roots):
        own = {pair.path: new for pair, _, new in pairs}
        locks, names = _all_entries(comparison, own)
        roots = list(judge_agreement(roots, locks, names))
    hosts = sorted({change.address.host for root in roots for change in root.changes})
    return Review(
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        offline=True,
        hosts=tuple(HostState(host, asked=False) for host in hosts),
        base=_name(comparison.base),
        head=_name(comparison.head),
        roots=tuple(_ordered(root) for root in roots),
        lock_files=len(comparison.all_locks),
    )


def complete(
    comparison: Comparison,
    review: Review,
    *,
    test_directory: str = "tests",
    on_root: Callable[[RootReview], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> Review:
    """Reads the configuration of each root and holds the lock file against it.

    Args:
        comparison: What `review` was drafted from.
        review: The draft.
        test_directory: Where a root's test files are, relative to the root.
        on_root: Called with each finished root, in this thread.
        cancel: Set by another thread to stop between two roots.

    Raises:
        RunCancelledError: `cancel` was set.
    """
    read = _configuration_reader(comparison, test_directory)
    finished = []
    for root in review.roots:
        if cancel is not None and cancel.is_set():
            raise RunCancelledError("the review was cancelled")
        configuration = read(root)
        if configuration.has_files:
            present = root.lock_file if root.status is not Status.DELETED else None
            lock = read_lock(comparison.head.tree, present, root.tool)
            judged = _ordered(judge_requirements(root, lock, configuration))
        else:
            judged = replace(root, configuration=configuration)
        finished.append(judged)
        on_root(judged)
    return replace(review, roots=tuple(finished))


def _configuration_reader(comparison: Comparison, test_directory: str) -> Callable[[RootReview], Configuration]:
    """Returns what reads a root's configuration; it loads what that takes with the first root that has one."""
    tree = comparison.head.tree
    shared: ModuleReader | None = None

    def read(root: RootReview) -> Configuration:
        nonlocal shared
        if not configuration_files(tree.list(root.path), root.tool):
            return Configuration.absent(root.path, root.tool)
        from locklens.project.modules import ModuleReader
        from locklens.project.requirements import read_configuration

        shared = shared or ModuleReader()
        return read_configuration(
            tree,
            root.path,
            dialect=root.tool,
            worktree=comparison.worktree,
            environ=os.environ,
            test_directory=test_directory,
            module_reader=shared,
        )

    return read


def watched_files(comparison: Comparison, review: Review) -> tuple[Path, ...]:
    """The files on disk whose change makes the review out of date."""
    top = comparison.top
    if top is None:
        return ()
    files = {top / root.lock_file for root in review.roots}
    for root in review.roots:
        if root.configuration is not None:
            files.update(top / name for name in root.configuration.files)
    return tuple(sorted(files))


def _name(side: Side) -> SideName:
    return SideName(side.kind, side.name, side.revision)


def read_lock(tree: Tree, path: str | None, tool: Dialect | None) -> LockFile:
    """Reads a lock file; None for one that does not exist. What cannot be read is one with a problem."""
    try:
        data = tree.read(path) if path is not None else None
    except LockLensError as error:
        refused = Problem(1, 1, "Failed to read file", str(error))
        return LockFile(path or "", b"", exists=True, writer=None, entries=(), problems=(refused,), is_complete=False)
    return LockFile.absent(path or "") if data is None else parse(data, path or "", dialect=tool)


def _read_pair(comparison: Comparison, pair: RootPair, tool: Dialect | None) -> tuple[LockFile, LockFile]:
    return read_lock(comparison.base.tree, pair.old_lock, tool), read_lock(comparison.head.tree, pair.new_lock, tool)


def _root(
    tree: Tree, pair: RootPair, old: LockFile, new: LockFile, include_unchanged: bool, tool: Dialect | None
) -> RootReview:
    lock_file = pair.new_lock or pair.old_lock or ""
    earlier, notes = _comparable(old)
    found = compare(earlier, new, include_unchanged=include_unchanged)
    differs = old.data != new.data or old.exists != new.exists
    is_whole = old.is_valid and new.is_valid and old.exists and new.exists
    return RootReview(
        path=pair.path,
        lock_file=lock_file,
        tool=tool or tool_of(tree, pair.path, new if new.exists else old),
        status=_status(old, new, differs=differs),
        format_only=differs and is_whole and all(change.kind is Kind.UNCHANGED for change in found),
        changes=tuple(judge_change(change, lock_file) for change in found),
        findings=(*judge_file(new, changed=differs), *notes),
        renamed_from=pair.renamed_from,
        conflict=new.conflict,
        old_data=old.data,
        new_data=new.data,
    )


def _comparable(old: LockFile) -> tuple[LockFile, tuple[Finding, ...]]:
    """What to compare with where the old side cannot be read: one side of its conflict, else nothing."""
    if old.is_valid:
        return old, ()
    if old.is_complete:
        side, shown = old, "compared with what of it could be understood"
    elif old.conflict is not None:
        side, shown = old.conflict.ours, f"compared with {old.conflict.markers[0].ours}"
    else:
        side, shown = LockFile.absent(old.path), "every provider is shown as new"
    problem = old.problems[0]
    note = Finding(
        "LK019", Severity.INFO, f"the old side cannot be read ({problem.summary}): {shown}", old.path, problem.line
    )
    return side, (note,)


def _status(old: LockFile, new: LockFile, *, differs: bool) -> Status:
    if new.problems:
        return Status.INVALID
    if not new.exists:
        return Status.DELETED
    if not old.exists:
        return Status.ADDED
    return Status.MODIFIED if differs else Status.UNCHANGED


def tool_of(tree: Tree, folder: str, lock: LockFile) -> Dialect:
    """Finds out which tool a root is for: by the lock's header, `.tofu` files, the hosts in it; else Terraform."""
    if lock.writer is not None:
        return lock.writer
    names = [entry.name for entry in tree.list(folder) if entry.kind is EntryKind.FILE]
    if any(name.endswith((".tofu", ".tofu.json")) for name in names):
        return OPENTOFU
    hosts = {entry.address.host for entry in lock.entries}
    return OPENTOFU if OPENTOFU.default_host in hosts and TERRAFORM.default_host not in hosts else TERRAFORM


def _all_entries(
    comparison: Comparison, own: Mapping[str, LockFile]
) -> tuple[dict[str, Iterable[LockEntry]], dict[str, str]]:
    """The entries of every lock file of the new side, and the files' names, by root folder."""
    entries: dict[str, Iterable[LockEntry]] = {folder: lock.entries for folder, lock in own.items() if lock.exists}
    names = {folder: lock.path for folder, lock in own.items()}
    for path in comparison.all_locks:
        folder = path.rpartition("/")[0]
        if folder not in entries:
            entries[folder] = read_lock(comparison.head.tree, path, None).entries
            names[folder] = path
    return entries, names


def _ordered(root: RootReview) -> RootReview:
    return replace(root, changes=tuple(sorted(root.changes, key=_alarm)))


def _alarm(change: Change) -> tuple[int, int, tuple[bytes, bytes, bytes]]:
    """Sort key: the worst first."""
    severity = change.severity
    return severity.rank if severity else len(Severity), list(Kind).index(change.kind), change.address.sort_key
