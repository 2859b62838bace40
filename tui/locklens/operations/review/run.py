"""The review as a use case: first from the lock files alone, which is quick, then with each root's configuration."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import TERRAFORM, Dialect
from locklens.errors import RepositoryError
from locklens.lockfile import LockFile
from locklens.lockfile.parse import parse
from locklens.operations.review.completion import complete_review, worst_first
from locklens.operations.review.judging_tool import authoritative, judging_tool, tool_of_plan
from locklens.operations.review.policy import EffectivePolicy, dangling, effective_policy
from locklens.operations.review.request import Progress, is_told
from locklens.operations.root_modules import absence_of, as_committed, lock_path, read_lock, with_sides_of_git
from locklens.project import RootEvidence, RootPair
from locklens.review.changes import Comparer, readable_old_side
from locklens.review.context import Absence, RootContext, ToolChange, UnlockedRoot, Unreviewed
from locklens.review.model import Change, ChangeKind, LockStatus, PolicySide, Review, RootReview, SideName
from locklens.review.rules.judge import KnownVerdicts, judge, judge_policy_change

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from locklens.operations.comparison import Comparison, Side
    from locklens.operations.review.request import ReviewEvent, ReviewRequest
    from locklens.policy import Policy
    from locklens.project.folders import FileWatch
    from locklens.project.git import Repository
    from locklens.project.tree import Tree
    from locklens.review.findings import Finding
    from locklens.review.rules.agreement import BaseEntries, LockedPackages


def review(
    request: ReviewRequest,
    *,
    cancel: threading.Event | None = None,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
) -> Review:
    """Open the comparison and complete its review.

    Raises:
        LockLensError: A side cannot be opened.
    """
    with closing(request.open()) as comparison:
        drafted = review_lock_files(comparison, request, is_judged=False, on_event=on_event)
        return complete_review(comparison, drafted, request, cancel=cancel, on_event=on_event)


def review_lock_files(
    comparison: Comparison,
    request: ReviewRequest,
    *,
    made_from: Review | None = None,
    is_judged: bool = True,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
) -> Review:
    """Review the lock files alone: the `configuration` of each root and the `evidence` of each change are None.

    Roots whose lock file and configuration are unchanged are omitted, unless the request includes unchanged providers.
    For the comparison of a plan, the policy and the hosts are those of the review that it was `made_from`, instead of
    the comparison's own base's. A draft that is not shown need not be judged: its completion judges every root.

    Raises:
        ConfigurationError: The policy has a mistake.
    """
    effective = (
        EffectivePolicy(made_from.policy, made_from.policy_side)
        if made_from is not None
        else effective_policy(comparison, request.policy)
    )
    include_unchanged, tool = request.include_unchanged, request.tool
    concerned = [pair for pair in comparison.roots if include_unchanged or _is_concerned(pair, comparison)]
    pairs = []
    for done, pair in enumerate(concerned, start=1):
        pairs.append((pair, *_read_pair(comparison, pair, tool)))
        if is_told(done, len(concerned)):
            on_event(Progress("lock files", done, len(concerned)))
    policy = effective.policy if made_from is not None else _with_local_paths(effective.policy, request, pairs)
    reviewed = {root.path: root for root in made_from.roots} if made_from is not None else {}
    tools = {
        pair.path: tool_of_plan(comparison, pair, reviewed[pair.path], new, request)
        for pair, _, new in pairs
        if pair.path in reviewed
    }
    setting = _Setting(request, policy, tools, Comparer(), _ignored(comparison, concerned))
    roots = [_root(comparison, pair, old, new, setting) for pair, old, new in pairs]
    if any(root.changes for root in roots):
        roots = _with_other_roots(comparison, pairs, roots)
    changes = [change for root in roots for change in root.changes if change.kind is not ChangeKind.UNCHANGED]
    known = KnownVerdicts()
    locked = sum(pair.old_lock is not None or pair.new_lock is not None for pair in comparison.roots)
    left_out = comparison.left_out if made_from is None else 0
    return Review(
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        offline=request.network is None or request.network.is_offline,
        hosts=(),
        base=_name(comparison.base),
        head=_name(comparison.head),
        roots=tuple(worst_first(judge(root, known=known)) if is_judged else root for root in roots),
        lock_files=locked + comparison.left_out,
        left_out=left_out,
        # An acceptance is of no root: one that matches nothing in some roots may match a change of another one.
        policy_notes=(
            *effective.notes,
            *(dangling(effective.policy, changes) if made_from is None and not left_out else ()),
        ),
        policy=policy,
        policy_side=effective.side,
        base_hosts=_hosts(comparison, ((pair, old) for pair, old, _ in pairs), tool, effective)
        if made_from is None
        else made_from.base_hosts,
        own_findings=_policy_findings(effective) if not request.is_survey else (),
        pending=effective.pending,
        policy_lacking=effective.lacking,
    )


def _with_local_paths(
    policy: Policy, request: ReviewRequest, pairs: Iterable[tuple[RootPair, LockFile, LockFile]]
) -> Policy:
    """Return the policy with the install paths of the user's CLI configuration, if there is anything to judge."""
    judged = [new for _, old, new in pairs if request.include_unchanged or old.data != new.data]
    if request.network is None or not judged:
        return policy
    from locklens.operations.review.policy import with_local_paths

    tools = [request.tool] if request.tool is not None else dict.fromkeys(new.writer or TERRAFORM for new in judged)
    return with_local_paths(policy, request.network.environ, tools)


def _policy_findings(effective: EffectivePolicy) -> tuple[Finding, ...]:
    if effective.change is None:
        return ()
    return judge_policy_change(effective.change, effective.policy)


def watch_of(comparison: Comparison, review: Review | None, policy: Path | None, *, since_ns: int) -> FileWatch | None:
    """Return the watch of the files on disk whose change makes a review out of date; None without any.

    Of revisions only what HEAD is changes, and what is staged; of two files, the configuration files of the review are
    watched too. A change after `since_ns`, as `time.time_ns` has it, before the comparison was opened, counts.
    """
    from locklens.project.folders import FileWatch

    top, head = comparison.top, comparison.head
    given = [policy.absolute()] if policy is not None else []
    if top is None or head.kind == "git":
        return FileWatch(None, given, since_ns=since_ns) if given else None
    of_git, states = files_of_git(comparison.repository) if comparison.repository is not None else ((), {})
    files = [*given, *of_git]
    if head.kind == "index":
        return FileWatch(None, files, since_ns=since_ns, states=states)
    roots = review.roots if review is not None else ()
    files += (top / root.lock_file for root in roots)
    if head.kind == "worktree":
        return FileWatch(top, files, since_ns=since_ns, states=states)
    configurations = (root.configuration for root in roots if root.configuration is not None)
    files += (top / name for configuration in configurations for name in configuration.files)
    return FileWatch(None, files, since_ns=since_ns, states=states)


def files_of_git(repository: Repository) -> tuple[tuple[Path, ...], dict[Path, Callable[[], str]]]:
    """Return git's own files to watch, those of the index and of HEAD, and what tells the state of the first."""
    index = repository.index_file
    return (index, *repository.head_files), {index: repository.index_state}


def _name(side: Side) -> SideName:
    return SideName(side.kind, side.name, side.revision, side.fork_of)


def _read_pair(comparison: Comparison, pair: RootPair, tool: Dialect | None) -> tuple[LockFile, LockFile]:
    new = read_lock(comparison.head.tree, pair.new_lock, tool)
    if pair.new_lock is None and pair.old_lock is not None:
        # A file that git reports as deleted still exists where a link replaced its folder.
        behind = read_lock(comparison.head.tree, pair.old_lock, tool)
        is_linked = behind.problems and comparison.head.tree.leads_out(pair.old_lock)
        new = behind if is_linked else LockFile.absent(pair.old_lock)
    old = read_lock(comparison.base.tree, pair.old_lock, tool)
    if comparison.head.kind == "worktree" and comparison.repository is not None:
        new = as_committed(new, old.data, comparison.repository, tool)
    return old, new


def _with_sides_of_git(comparison: Comparison, lock: LockFile, tool: Dialect) -> LockFile:
    """Return a lock file in conflict with the two sides that git has, where the work tree is reviewed."""
    if lock.conflict is None or comparison.repository is None or comparison.head.kind != "worktree":
        return lock
    return with_sides_of_git(lock, comparison.repository, tool)


def base_hosts(comparison: Comparison, tool: Dialect | None, policy: Path | None = None) -> frozenset[str]:
    """Return the hosts that the base's lock files and policy name, comparison form: these may be asked.

    If the user named the base, the lock files of every root count. Otherwise only those count that the change modifies,
    since HEAD, the default base, may be the branch under review.
    """
    pairs = (pair for pair in comparison.roots if _vouches(comparison, pair))
    old = ((pair, read_lock(comparison.base.tree, pair.old_lock, tool)) for pair in pairs)
    return _hosts(comparison, old, tool, effective_policy(comparison, policy))


def _hosts(
    comparison: Comparison, pairs: Iterable[tuple[RootPair, LockFile]], tool: Dialect | None, effective: EffectivePolicy
) -> frozenset[str]:
    """Return the hosts that the base vouches for: by its lock files, and by its policy where any lock file counts.

    A policy that the user named always counts.
    """
    is_vouching = comparison.is_base_named or any(pair.lock_changed for pair in comparison.roots)
    by_policy = effective.policy.hosts if is_vouching or effective.side is PolicySide.GIVEN else ()
    vouching = ((pair, old) for pair, old in pairs if _vouches(comparison, pair))
    locks = (lock for pair, old in vouching for lock in authoritative(comparison, pair, old, tool))
    return frozenset(entry.address.host for lock in locks for entry in lock.entries).union(by_policy)


def _vouches(comparison: Comparison, pair: RootPair) -> bool:
    """True if the base's lock file of a root vouches for hosts."""
    return comparison.is_base_named or pair.lock_changed


class _Setting(Struct, frozen=True):
    """Settings of the draft of each root.

    Attributes:
        tools: The tools that are already known, by root folder.
        ignored: The lock files that only the base has, and that git ignores on the head side, each with the pattern.
    """

    request: ReviewRequest
    policy: Policy
    tools: Mapping[str, Dialect]
    comparer: Comparer
    ignored: Mapping[str, str]


def _is_concerned(pair: RootPair, comparison: Comparison) -> bool:
    if pair.lock_changed or pair.configuration_changed or pair.unlocked or pair.vendored or pair.spellings:
        return True
    locks = [pair.new_lock] if pair.new_lock is not None else []
    return any(conversion.is_new for conversion in comparison.converted_among(locks).values())


def _root(comparison: Comparison, pair: RootPair, old: LockFile, new: LockFile, setting: _Setting) -> RootReview:
    """Compare a root's lock files, without judging them."""
    tree = comparison.head.tree
    lock_file = pair.new_lock or pair.old_lock or lock_path(pair.path)
    tool_change: ToolChange | None = None
    if setting.request.tool is not None:
        tool = setting.request.tool
    else:
        judging, tool_change = judging_tool(comparison, pair, old, new, setting.request)
        tool = setting.tools.get(pair.path, judging)
    if setting.request.tool is None and new.data and new.writer is not tool:
        new = parse(new.data, new.path, dialect=tool)
    new = _with_sides_of_git(comparison, new, tool)
    changes = setting.comparer.compare(readable_old_side(old), new, include_unchanged=setting.request.include_unchanged)
    root = RootReview(
        path=pair.path,
        lock_file=lock_file,
        tool=tool,
        old=old,
        new=new,
        changes=changes,
        renamed_from=pair.renamed_from,
        context=RootContext(
            setting.policy,
            tool_change,
            comparison.converted_among([lock_file] if new.exists else []),
            _unreviewed_of(comparison, pair),
            vendored=pair.vendored,
            contents=_contents(tree, (*pair.vendored, *pair.spellings)),
            spellings=pair.spellings,
            has_packages=pair.has_packages,
            unlocked=_unlocked(tree, pair, setting.ignored.get(lock_path(pair.path), "")),
            is_survey=setting.request.is_survey,
            is_generation_noted=not setting.request.is_survey,
            equals_before=pair.equals_before,
            unlike_before=pair.unlike_before,
            callers=pair.callers,
        ),
    )
    is_whole = old.is_valid and new.is_valid and old.exists and new.exists
    return replace(
        root,
        status=_status(root),
        format_only=root.is_rewritten and is_whole and all(change.kind is ChangeKind.UNCHANGED for change in changes),
    )


def _ignored(comparison: Comparison, pairs: Iterable[RootPair]) -> dict[str, str]:
    """Return the lock files of roots that only the base has, and that git ignores on the head side, with the pattern.

    Where git cannot say, none is called ignored.
    """
    lost = [pair for pair in pairs if pair.old_lock is not None and pair.new_lock is None and not pair.is_module]
    if comparison.repository is None or not lost:
        return {}
    from locklens.project.git import UncommittedSide

    places = {"worktree": UncommittedSide.WORK_TREE, "index": UncommittedSide.INDEX}
    side = places.get(comparison.head.kind, comparison.head.revision)
    try:
        return comparison.repository.ignored(side, [lock_path(pair.path) for pair in lost]) if side else {}
    except RepositoryError:
        return {}


def _unlocked(tree: Tree, pair: RootPair, pattern: str) -> UnlockedRoot | None:
    if pattern:
        return UnlockedRoot(has_backend=True, absence=Absence.IGNORED, pattern=pattern)
    if pair.unlocked is None:
        return None
    has_backend = pair.unlocked is RootEvidence.BACKEND
    return UnlockedRoot(has_backend, absence_of(tree, pair.path), is_changed=pair.configuration_changed)


def _contents(tree: Tree, paths: Sequence[str]) -> dict[str, str]:
    """Return the identity of the content of each path; see `content_ids`."""
    if not paths:
        return {}
    from locklens.project.folders import content_ids

    return content_ids(tree, paths)


def _unreviewed_of(comparison: Comparison, pair: RootPair) -> dict[str, Unreviewed]:
    """Return the submodules in the place of a root, or of a folder above it."""
    if not comparison.unreviewed:
        return {}
    from locklens.project.tree import is_at_or_below

    return {path: unreviewed for path, unreviewed in comparison.unreviewed.items() if is_at_or_below(pair.path, path)}


def _status(root: RootReview) -> LockStatus:
    if root.new.problems:
        return LockStatus.INVALID
    if not root.new.exists:
        return LockStatus.DELETED if root.old.exists else LockStatus.UNCHANGED
    if not root.old.exists:
        return LockStatus.ADDED
    return LockStatus.MODIFIED if root.is_rewritten else LockStatus.UNCHANGED


def _locks(comparison: Comparison, parsed: Mapping[str, LockFile]) -> Iterator[LockFile]:
    """Yield every lock file of the new side; `parsed` are known ones, by root folder."""
    yield from (lock for lock in parsed.values() if lock.exists)
    for path in comparison.all_locks:
        if (lock := parsed.get(path.rpartition("/")[0])) is None or not lock.exists:
            yield read_lock(comparison.head.tree, path, None)


def _base_locks(comparison: Comparison, parsed: Mapping[str, LockFile]) -> Iterator[LockFile]:
    """Yield the base's lock files that the new side modified or lacks; `parsed` are known ones, by path."""
    unchanged = {pair.old_lock for pair in comparison.roots if not pair.lock_changed}
    for path in comparison.base_locks:
        if path not in unchanged:
            lock = parsed.get(path)
            yield readable_old_side(lock) if lock is not None else read_lock(comparison.base.tree, path, None)


def _with_other_roots(
    comparison: Comparison, pairs: Sequence[tuple[RootPair, LockFile, LockFile]], roots: Sequence[RootReview]
) -> list[RootReview]:
    """Return the roots with what the lock files of others say about their changes."""
    from locklens.review.rules.agreement import BaseEntries, LockedPackages

    entries = BaseEntries(change for root in roots for change in root.changes)
    head = _locks(comparison, {pair.path: new for pair, _, new in pairs})
    base = _base_locks(comparison, {old.path: old for _, old, _ in pairs})
    kept = (pair.new_lock for pair in comparison.roots if not pair.lock_changed)
    unchanged = {path for path in kept if path is not None}
    locked = LockedPackages(entries.enter(head, unchanged), entries.enter(base))
    known = [replace(root, changes=_with_elsewhere(root.changes, entries)) for root in roots]
    return [_with_rivals(root, locked) for root in known]


def _with_elsewhere(changes: Sequence[Change], entries: BaseEntries) -> tuple[Change, ...]:
    found = ((change, entries.elsewhere(change)) for change in changes)
    return tuple(change if where is None else replace(change, elsewhere=where) for change, where in found)


def _with_rivals(root: RootReview, locked: LockedPackages) -> RootReview:
    rivals = locked.rivals(root.changes)
    if not rivals:
        return root
    entries = (change.new for change in root.changes if change.new is not None and change.address in rivals)
    few = {entry.address: found for entry in entries if (found := locked.minority_of(entry)) is not None}
    return replace(root, context=replace(root.context, rivals=rivals, minorities=few))
