"""Reviews a plan before it is written.

The planned files are compared with HEAD, as Review shows them once written; without a commit, with those on disk.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.errors import NoRepositoryError
from locklens.lockfile import LockFile, differing
from locklens.lockfile.moves import moves_between
from locklens.lockfile.parse import parse
from locklens.operations.comparison import Comparison, Side
from locklens.operations.plan import shown_revision
from locklens.operations.review.completion import complete_review
from locklens.operations.review.run import review_lock_files
from locklens.operations.root_modules import lock_path
from locklens.project import RootPair, is_lock_file
from locklens.project.moved_roots import OldFolder
from locklens.project.root_search import lock_paths, old_folders
from locklens.project.touched_roots import LocalCalls, with_changed_configuration
from locklens.project.tree import FileSystem, OverlayTree, Tree, folder_of
from locklens.review.findings import Accepted, Finding, Severity, by_severity
from locklens.review.model import Change, ChangeKind, Review, RootReview, SideName
from locklens.review.rules.catalogue import RULES, RuleSubject
from locklens.review.rules.root import layout_words

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from locklens.dialect import Dialect
    from locklens.operations.plan import Plan, PlannedChange, PlannedFile
    from locklens.operations.review.request import ReviewEvent, ReviewRequest
    from locklens.project.git import Repository
    from locklens.review.model import SideKind

ON_DISK, INDEX, _HEAD = "the work tree", "git's index", "HEAD"
_UNREADABLE = "LK019"
_REPUBLISHED = "LK001"
_LAYOUT = "LK018"
_EDITED = "LK025"
_OTHER_KEY = "LK010"


class PlanReview(Struct, frozen=True):
    """The review of a plan.

    Attributes:
        review: The planned files against HEAD, or without a commit against those on disk, without the entries that the
            plan leaves alone; findings of entries that equal those of the base are accepted.
        untouched: Number of unchanged entries in the planned lock files.
        against: The base that the files were compared with, as sentences name it: "HEAD", "the fork point of main";
            "" where it is not a revision.
        still_differing: Number of entries in these lock files that differ from the base after the plan.
        tip: The revision whose policy judges: the base, or the branch whose fork point the base is; "" where
            `against` is.
        has_others: True if a commit has other entries too: of the planned lock files, or of others that are staged.
        is_committed: True if the planned files are as in HEAD; those of moved roots, as in their old folders.
        beside: The findings of entries that are others than HEAD's in the planned lock files and stay as they are, by
            severity and the place that has them.
        uncommitted: The changes of the plan as a commit makes them: from the entries of HEAD; None where HEAD is not
            known.
    """

    review: Review
    untouched: int
    against: str = ""
    still_differing: int = 0
    tip: str = ""
    has_others: bool = False
    is_committed: bool = False
    uncommitted: tuple[PlannedChange, ...] | None = None
    beside: Mapping[str, Mapping[Severity, int]] = {}

    @property
    def known_findings(self) -> dict[str, Counter[Severity]]:
        """The numbers of findings that the plan does not add, by the place that has them already."""
        known = known_findings(self.review)
        return {
            place: Counter(known.get(place)) + Counter(self.beside.get(place)) for place in {**known, **self.beside}
        }


def review_plan(
    plan: Plan,
    request: ReviewRequest,
    reviewed: Review,
    *,
    on_event: Callable[[ReviewEvent], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> PlanReview:
    """Review a plan with files to write like any other change. Nothing is written.

    Registries are asked as for the review that the plan was made from, and its policy and tools apply: a plan is judged
    by nothing that the change under review introduces. A tool that the plan names comes first; a note tells of a lock
    file that Review judges by another one. The comparison of the request is not opened.

    Raises:
        LockLensError: A side cannot be read, or `cancel` was set.
    """
    with closing(_comparison(plan)) as comparison:
        # The side of a merge that is kept changes no entry, and was not known to be good; so with a way back to HEAD.
        named, tool = plan.proposal.tool, plan.proposal.tool or request.tool
        of_review = request
        is_from_head = _has_head(comparison.repository)
        request = replace(request, include_unchanged=is_from_head, is_survey=False, prove="none", tool=tool)
        against, committed = _committed(plan, comparison.repository, reviewed.base)
        drafted = review_lock_files(comparison, request, made_from=reviewed)
        locks = _planned_locks(plan, drafted)
        of_plan = drafted if plan.is_merge else _with_changes(drafted, lambda *of: _is_planned(locks, *of))
        review = complete_review(comparison, of_plan, request, on_event=on_event, cancel=cancel)
        left = _with_changes(drafted, lambda *of: _is_beside(locks, *of))
        if left.changes:
            left = complete_review(comparison, left, request, cancel=cancel)
        left = _without_told(left, review)
        unlike = _unlike_base(review, committed)
        review = _accepted(review, unlike, against)
        review = _of_the_result(review, unlike, plan, is_from_head=is_from_head)
        review = _without_steps_to_the_base(review, committed)
        for before in _before(plan, locks, comparison, review, request, reviewed):
            review = _without_those_before(review, *before)
        if named is not None and named is not of_review.tool:
            own = review_lock_files(comparison, of_review, made_from=reviewed, is_judged=False)
            review = replace(review, policy_notes=(*review.policy_notes, *_notes_of_tool(named, own, locks)))
        tip = reviewed.base.tip_name if against else ""
        if reviewed.base.kind == "worktree" and is_from_head:
            # The health has one side: its lock files are counted against the commit that they will be compared with.
            against, committed = _committed(plan, comparison.repository, SideName("git", _HEAD, _HEAD))
        # Of markers that the plan settles, ours: as the rows have it.
        unsettled = {root.lock_file for root in review.roots if root.new.conflict is not None}
        committed = {path: lock if path in unsettled else _sides(lock)[0] for path, lock in committed.items()}
        number = _number_unlike(review, committed)
        untouched = sum(len(sides.after.by_address.keys() - sides.planned) for sides in locks.values())
        where = INDEX if plan.proposal.target.is_index else ON_DISK
        beside = {where: left.severity_counts} if any(left.severity_counts.values()) else {}
        return PlanReview(
            review, untouched, against, number, tip, *_beside_head(plan, locks, comparison), beside=beside
        )


def _comparison(plan: Plan) -> Comparison:
    from locklens.project.git import Repository
    from locklens.project.gittree import IndexTree, RevisionTree, SparseWorkTree

    proposal = plan.proposal
    try:
        repository: Repository | None = Repository.discover(proposal.top)
    except NoRepositoryError:
        repository = None
    disk: Tree = FileSystem(proposal.top) if repository is None else SparseWorkTree(repository)
    folders: Mapping[str, OldFolder] = {}
    committed: Tree | None = None
    before, after = ({file.path: getattr(file, side) for file in proposal.files} for side in ("old", "new"))
    if repository is not None and _has_head(repository):
        committed = RevisionTree(repository, commit := repository.resolve(_HEAD))
        folders = _old_folders(repository, commit, plan)
        places = {path: lock_path(folders[path].folder) if path in folders else path for path in before}
        before = {path: None if committed.leads_out(then) else committed.read(then) for path, then in places.items()}
    under = disk
    if proposal.target.is_index and repository is not None:
        # The next commit has the index's configuration, whatever the work tree has.
        under = IndexTree(repository)
    written = {file.path: file for file in planned_lock_files(plan)}
    locks = set(written)
    if repository is not None:
        locks.update(lock_paths(repository, under))
    head = OverlayTree(after, under)
    touched = [file.path for file in proposal.files if file.path not in written]
    configured = (
        with_changed_configuration(LocalCalls(head), touched, {folder_of(path) for path in locks}) if touched else set()
    )
    # What others changed in the lock files of these roots is not of the plan.
    before |= {path: under.read(path) for path in locks - set(written) if folder_of(path) in configured}
    base = OverlayTree(before, committed or under)
    pairs = []
    for path in sorted(locks):
        folder = folder_of(path)
        if path in written or folder in configured:
            old = folders.get(path, OldFolder(folder, 0, ()))
            pairs.append(
                RootPair(
                    path=folder,
                    old_lock=None if path in written and before[path] is None else path,
                    new_lock=None if path in written and written[path].new is None else path,
                    lock_changed=path in written,
                    configuration_changed=folder in configured,
                    renamed_from=old.folder if old.folder != folder else None,
                    equals_before=old.equals,
                    unlike_before=old.unlike,
                )
            )
    all_locks = tuple(sorted(path for path in locks if path not in written or written[path].new is not None))
    kind: SideKind = "worktree" if under is disk else "index"
    return Comparison(
        base=Side(kind, _HEAD if _has_head(repository) else "as it is", None, base),
        head=Side(kind, "as planned", None, head),
        roots=tuple(pairs),
        worktree=disk,
        top=proposal.top,
        repository=repository,
        all_locks=all_locks,
        left_out=len(locks) - len(pairs),
    )


def _notes_of_tool(named: Dialect, own: Review, locks: _Planned) -> Iterator[str]:
    """Yield a note where a plan is judged by the tool that it names, and Review will judge its lock file by another."""
    others = {root.lock_file: root.tool for root in own.roots if root.lock_file in locks and root.tool is not named}
    for tool in dict.fromkeys(others.values()):
        paths = [path for path, one in others.items() if one is tool]
        files = paths[0] if len(paths) == 1 else f"{len(paths)} lock files"
        yield (
            f"this plan is judged by the rules of {named.product}, which it names; Review judges {files} by those of "
            f"{tool.product}, and may count other findings"
        )


def _has_head(repository: Repository | None) -> bool:
    """True if there is a commit that the plan is compared with."""
    return repository is not None and not repository.is_unborn


def planned_lock_files(plan: Plan) -> Iterator[PlannedFile]:
    """Return the lock files that a plan writes."""
    return (file for file in plan.proposal.files if is_lock_file(file.path))


def _committed(plan: Plan, repository: Repository | None, base: SideName) -> tuple[str, Mapping[str, LockFile]]:
    """Return the name of a base ("" if it is not a revision), and the planned lock files in it."""
    if repository is None or base.revision is None:
        return "", {}
    folders = _old_folders(repository, base.revision, plan)
    contents = {path: repository.show(base.revision, lock_path(old.folder)) for path, old in folders.items()}
    return base.in_words, {
        file.path: parse(contents.get(file.path) or b"", file.path) for file in planned_lock_files(plan)
    }


def _old_folders(repository: Repository, commit: str, plan: Plan) -> dict[str, OldFolder]:
    """Return the folder in a commit of each root whose lock file is planned, by lock file; see `old_folders`."""
    paths = [file.path for file in planned_lock_files(plan)]
    return old_folders(repository, commit, paths, is_staged=plan.proposal.target.is_index)


def _beside_head(
    plan: Plan, planned: _Planned, comparison: Comparison
) -> tuple[bool, bool, tuple[PlannedChange, ...] | None]:
    """Return what a commit has: whether other entries too, whether these very files, and which changes of the plan.

    Other entries are those of its lock files that differ and are not the plan's, and for a plan for the index, other
    lock files that are staged. A merge in progress, whose commit has the entries of both sides, is no other change.
    """
    repository = comparison.repository
    if repository is None or repository.is_unborn:
        return False, False, None
    planned = {path: sides for path, sides in planned.items() if path not in plan.ignored}
    has_others = any(sides.others for sides in planned.values()) or _has_staged_others(plan, repository)
    heads = {folder_of(path): sides.base for path, sides in planned.items()}
    committed = (change for change in plan.changes if lock_path(change.root) not in plan.ignored)
    since = (_since(heads[change.root], change) if change.root in heads else change for change in committed)
    files = [(comparison.base.tree.read(file.path), file) for file in plan.proposal.files]
    as_committed = repository.index.as_committed
    is_committed = all(old == (file.new and as_committed(file.new, old, file.path)) for old, file in files)
    return has_others, is_committed, tuple(filter(None, since))


def _since(lock: LockFile, change: PlannedChange) -> PlannedChange | None:
    """Return a change as one of a committed lock file; None where that has the entry that is left."""
    was, left = lock.by_address.get(change.address), change.new
    if was is None and change.moved_from is not None:
        return change
    is_same = was is left if was is None or left is None else was.written == left.written
    return None if is_same and not change.edits else replace(change, old=was, moved_from=None)


class _PlannedLock(NamedTuple):
    """A planned lock file: that of HEAD, without one that on disk; and as it is before the plan and after it.

    A merge has no state before it but that of HEAD.
    """

    base: LockFile
    before: LockFile
    after: LockFile

    @property
    def planned(self) -> frozenset[ProviderAddress]:
        """The providers whose entries the plan changes."""
        return frozenset(address for address, _, _ in differing(self.before, self.after))

    @property
    def others(self) -> frozenset[ProviderAddress]:
        """The other providers whose entries differ from those of the base."""
        return frozenset(address for address, _, _ in differing(self.base, self.before)) - self.planned


_Planned = dict[str, _PlannedLock]
"""The planned lock files by path."""


def _planned_locks(plan: Plan, drafted: Review) -> _Planned:
    written = {file.path: file.old or b"" for file in planned_lock_files(plan)}

    def before(root: RootReview) -> LockFile:
        data = written[root.lock_file]
        return root.old if plan.is_merge or data == root.old.data else parse(data, root.lock_file)

    roots = (root for root in drafted.roots if root.lock_file in written)
    return {root.lock_file: _PlannedLock(root.old, before(root), root.new) for root in roots}


def _has_staged_others(plan: Plan, repository: Repository) -> bool:
    """True if the plan is for the index, and a lock file that it leaves alone is staged."""
    if not plan.proposal.target.is_index:
        return False
    staged, head = repository.listing(None), repository.listing(repository.resolve(_HEAD))
    paths = (staged.keys() | head.keys()) - {file.path for file in plan.proposal.files}
    return any(staged.get(path) != head.get(path) for path in paths if is_lock_file(path))


_Unlike = dict[str, frozenset[ProviderAddress]]
"""The providers whose entries differ from those of the reviewed base, by lock file."""


def _unlike_base(review: Review, committed: Mapping[str, LockFile]) -> _Unlike:
    """Return where the planned lock files, or others of the roots, differ from the reviewed base.

    Where both have conflict markers, each side is compared with the same side of the other.
    """
    return {
        path: frozenset(address for old, new in pairs for address, _, _ in differing(old, new))
        for path, pairs in _from_base(review, committed)
    }


def _number_unlike(review: Review, committed: Mapping[str, LockFile]) -> int:
    """Return the number of entries in `_unlike_base`, as a review counts them: one that moved is one of both places."""
    moved = sum(
        len({address for old, new in pairs for address in moves_between(old, new)})
        for _, pairs in _from_base(review, committed)
    )
    return sum(map(len, _unlike_base(review, committed).values())) - moved


def _from_base(
    review: Review, committed: Mapping[str, LockFile]
) -> Iterator[tuple[str, tuple[tuple[LockFile, LockFile], ...]]]:
    """Yield the path of each lock file in the base, with it and the reviewed one, by the sides of a conflict."""
    for root in review.roots:
        if root.lock_file in committed:
            base, sides = committed[root.lock_file], _sides(root.new)
            bases = _sides(base) if len(sides) > 1 and base.conflict is not None else (base,) * len(sides)
            yield root.lock_file, tuple(zip(bases, sides, strict=True))


def _sides(lock: LockFile) -> tuple[LockFile, ...]:
    """Return a lock file, or both sides of one with conflict markers, as it has them.

    The sides of git's index have what git merged line by line in the state before the merge.
    """
    conflict = parse(lock.data, lock.path).conflict if lock.conflict is not None else None
    return (lock,) if conflict is None else (conflict.ours, conflict.theirs)


def _is_as_committed(root: RootReview, change: Change, unlike: _Unlike) -> bool:
    """True if the entry is that of the reviewed base."""
    return change.address not in unlike.get(root.lock_file, {change.address})


def _judged(review: Review, judge: Callable[[RootReview, Change | None, Finding], Finding | None]) -> Review:
    """Return a review with each finding as `judge` returns it for its root and change, if any; None leaves it out."""

    def judged(root: RootReview, change: Change | None, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(one for finding in findings if (one := judge(root, change, finding)) is not None)

    roots = (
        replace(
            root,
            changes=tuple(replace(change, findings=judged(root, change, change.findings)) for change in root.changes),
            findings=judged(root, None, root.findings),
        )
        for root in review.roots
    )
    return replace(review, roots=tuple(roots))


def _of_the_result(review: Review, unlike: _Unlike, plan: Plan, *, is_from_head: bool) -> Review:
    """Leave out findings that are only about the state that the plan, compared with HEAD or without a commit, replaces.

    Without a commit, the way back to the entry of the base, and an undo, go to a known state: a downgrade, fewer
    hashes, or hashes of the version that is replaced say something of the state before the plan, not of its result. The
    same is true of a file that could not be read before. The step from HEAD is one that Review shows, to the entry of
    another base, too. The restored entry of an older commit is not known to be good: of two versions with the same
    hashes, one was edited, and only the signed release tells which.
    """

    def judge(root: RootReview, change: Change | None, finding: Finding) -> Finding | None:
        if change is None:
            is_over = finding.rule == _UNREADABLE and root.new.is_valid and not root.old.is_valid
        elif _is_as_committed(root, change, unlike):
            # That the replaced entry was signed by another key is no finding of the base, which has this signer.
            is_of_replaced = finding.rule == _OTHER_KEY and change.kind is not ChangeKind.UNCHANGED
            is_before = finding.rule == _REPUBLISHED or not is_from_head
            is_over = is_of_replaced or (is_before and _is_of_the_step(finding, change))
        elif plan.proposal.undoes:
            is_over = not is_from_head and _is_of_the_step(finding, change)
        else:
            is_over = False
            if finding.rule == _EDITED and plan.restored_from:
                words = f"its version and hashes are those of {shown_revision(plan.restored_from)}"
                finding = replace(finding, message=f"{finding.message}; {words}", case=finding.case or "restored")
        if is_over and finding.rule == _REPUBLISHED:
            # The entry that is replaced is not of the release: the step shows it, and Review from there does.
            return replace(finding, accepted=_already_in(_HEAD if is_from_head else ON_DISK))
        return None if is_over else finding

    return _judged(review, judge)


def _without_steps_to_the_base(review: Review, committed: Mapping[str, LockFile]) -> Review:
    """Leave out findings about the step of a whole file where the plan makes it that of the reviewed base."""

    def judge(root: RootReview, change: Change | None, finding: Finding) -> Finding | None:
        base = committed.get(root.lock_file)
        is_as_base = change is None and base is not None and base.data == root.new.data
        return None if is_as_base and RULES[finding.rule].effect.is_of_step else finding

    return _judged(review, judge)


def _is_of_the_step(finding: Finding, change: Change) -> bool:
    """True for a finding that is about the step between two states, and not about its result.

    A hash that is no longer listed may be one that the restoration removes.
    """
    if finding.rule == _REPUBLISHED:
        return not any(fact.kind.was_locked for fact in change.kept)
    return RULES[finding.rule].effect.is_of_step


def _before(
    plan: Plan, locks: _Planned, comparison: Comparison, review: Review, request: ReviewRequest, reviewed: Review
) -> Iterator[tuple[Review, str]]:
    """Yield reviews of the files as they are, of the roots with findings that count, and where they are so.

    A plan for the index is judged as the next commit, and so is a merge, whose file is on disk with its markers: what
    the index has and HEAD has not counts as the plan's. HEAD is read where it has another lock file, unless the
    reviewed base is another commit: what was committed since counts, as in the review of it. They ask no registry: what
    is found with its facts is known from the review that the plan was made from, of the same entries, or for HEAD, from
    the answers to the plan's own review.
    """
    from locklens.project.gittree import RevisionTree

    repository = comparison.repository
    is_of_commit = repository is not None and (plan.proposal.target.is_index or plan.is_merge)
    concerned = {root.lock_file for root in review.roots if any(one.accepted is None for one in root.all_findings)}
    places: list[tuple[Tree, str, set[str]]] = []
    if not is_of_commit:
        before = {path: lock.before for path, lock in locks.items()}
        same = (one for one in reviewed.roots if not any(differing(before.get(one.lock_file, one.new), one.new)))
        yield replace(reviewed, roots=tuple(same)), ON_DISK
        places.append((comparison.worktree or comparison.base.tree, ON_DISK, concerned))
    if repository is not None:
        head = repository.empty_tree if repository.is_unborn else repository.resolve(_HEAD)
        if is_of_commit or (not repository.is_unborn and reviewed.base.revision in {None, head}):
            read = {path for path, lock in locks.items() if lock.base is lock.before and not is_of_commit}
            places.append((RevisionTree(repository, head), _HEAD, concerned - read))
    for tree, where, paths in places:
        pairs = tuple(
            replace(pair, new_lock=path, lock_changed=False, configuration_changed=True)
            for pair in comparison.roots
            if (path := pair.old_lock or pair.new_lock) in paths and tree.read(path) is not None
        )
        standing = replace(comparison, head=replace(comparison.base, tree=tree), roots=pairs)
        network = replace(request.network, is_offline=True) if request.network and where == _HEAD else None
        asked = replace(request, network=network, include_unchanged=True)
        drafted = review_lock_files(standing, asked, made_from=reviewed, is_judged=False)
        yield complete_review(standing, drafted, asked), where


def _without_those_before(review: Review, before: Review, where: str) -> Review:
    """Mark as accepted those findings that a lock file has before the plan.

    An entry that the base has not, such as one that was upgraded on disk and not committed, comes with its findings.
    """
    known = {one for one, finding in _identified(before) if not RULES[finding.rule].effect.is_of_step}
    files = {root.lock_file: root.new for root in before.roots}

    def judge(root: RootReview, change: Change | None, finding: Finding) -> Finding:
        lock = files.get(root.lock_file)
        is_known = _identity(root, change, finding) in known and _is_of_the_base(root, change, finding, lock)
        if finding.rule == _LAYOUT and lock is not None and lock.data:  # reviewed only where a file is rewritten
            is_known = layout_words(lock) == finding.message
        return replace(finding, accepted=_already_in(where)) if is_known and finding.accepted is None else finding

    return _judged(review, judge)


def _is_of_the_base(root: RootReview, change: Change | None, finding: Finding, lock: LockFile | None) -> bool:
    """True for a finding about an entry that a lock file and the base of the comparison share, or about no entry."""
    if change is None or lock is None or RULES[finding.rule].subject is RuleSubject.CONFIGURATION:
        return True
    sides = (one.by_address.get(change.address) for one in (root.old, lock))
    one, other = (entry and entry.written for entry in sides)
    return one == other


def _identified(review: Review) -> Iterator[tuple[tuple[str, ...], Finding]]:
    """Yield each finding of the roots, with what makes it the same in another review."""
    for root in review.roots:
        for change, findings in ((None, root.findings), *((change, change.findings) for change in root.changes)):
            for finding in findings:
                yield _identity(root, change, finding), finding


def _identity(root: RootReview, change: Change | None, finding: Finding) -> tuple[str, ...]:
    """Return what makes a finding of two reviews the same: what is said of which version in which lock file.

    Of the configuration, it is the same of any version.
    """
    address = change.address if change is not None else finding.provider
    entry = root.new.by_address.get(address) if address is not None else None
    is_of_version = entry is not None and RULES[finding.rule].subject is not RuleSubject.CONFIGURATION
    version = str(entry.version) if entry is not None and is_of_version else ""
    return root.lock_file, finding.rule, finding.message, str(address or ""), version


def _already_in(where: str) -> Accepted:
    return Accepted(f"{where} has it already", already_in=where)


def _accepted(review: Review, unlike: _Unlike, base: str) -> Review:
    """Accept findings of changes that restore a committed entry, which was reviewed with its commit.

    Findings about the configuration, or about the step to the entry, are not accepted.
    """

    def judge(root: RootReview, change: Change | None, finding: Finding) -> Finding:
        if change is None or RULES[finding.rule].subject is RuleSubject.CONFIGURATION:
            return finding
        is_committed = _is_as_committed(root, change, unlike) and not _is_of_the_step(finding, change)
        return replace(finding, accepted=_already_in(base)) if is_committed else finding

    return _judged(review, judge)


def known_findings(review: Review) -> dict[str, dict[Severity, int]]:
    """Return the numbers of findings that a plan does not add, by the place that has them already."""
    places = dict.fromkeys(filter(None, map(_known_in, review.findings)))
    return {place: _counts_in(place, review) for place in sorted(places, key=ON_DISK.__eq__)}


def _counts_in(place: str, review: Review) -> dict[Severity, int]:
    alike = review.distinct_findings(lambda finding: _known_in(finding) == place)
    return by_severity(findings[0].severity for findings in alike)


def _known_in(finding: Finding) -> str:
    return finding.accepted.already_in if finding.accepted is not None else ""


def _with_changes(review: Review, is_wanted: Callable[[RootReview, Change], bool]) -> Review:
    """Return a review with some of its changes."""
    roots = (replace(root, changes=tuple(one for one in root.changes if is_wanted(root, one))) for root in review.roots)
    return replace(review, roots=tuple(roots))


def _is_planned(locks: _Planned, root: RootReview, change: Change) -> bool:
    """True for a change of an entry that the plan changes."""
    if root.lock_file not in locks:
        return change.kind is not ChangeKind.UNCHANGED
    return not locks[root.lock_file].planned.isdisjoint({change.address, change.moved_from})


def _is_beside(locks: _Planned, root: RootReview, change: Change) -> bool:
    """True for a change since HEAD of an entry that the plan leaves as it is, which is committed with the plan's."""
    is_other = root.lock_file in locks and change.address in locks[root.lock_file].others
    return is_other and not _is_planned(locks, root, change)


def _without_told(left: Review, told: Review) -> Review:
    """Return the review of the entries that a plan leaves as they are, without what the plan's own review says too."""
    known = {one for one, _ in _identified(told)}

    def judge(root: RootReview, change: Change | None, finding: Finding) -> Finding | None:
        return None if change is None or _identity(root, change, finding) in known else finding

    return _judged(left, judge)
