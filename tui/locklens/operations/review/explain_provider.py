"""Explains the requirements of a provider and its version: finds and reads the roots, and asks the registry."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError, SourceError
from locklens.lockfile import LockFile
from locklens.operations.comparison import within
from locklens.operations.root_modules import Root, RootReader, folders_with_locks, lock_path, no_root, tool_of
from locklens.operations.typed_names import check_address, resolve_providers
from locklens.policy import Policy
from locklens.project import LOCK_FILE, has_generator
from locklens.project.touched_roots import is_module_file
from locklens.project.tree import FileSystem, Tree, WorkTree, folder_of, name_bytes
from locklens.releases import ReleaseFacts, ReleaseId
from locklens.review.rules.judge import judge_lock
from locklens.review.rules.release import signed_by, signing_objection
from locklens.review.why import NOT_ASKED, RootWhy, Unsure, Why
from locklens.selection import MAJOR_HOLD, BumpLimit, Hold, Reason
from locklens.selection.choosing import explain_selection, policy_holds
from locklens.versions import Version

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.operations.review.request import ReviewRequest
    from locklens.project.git import Repository
    from locklens.releases import NetworkSettings
    from locklens.review.model import Review
    from locklens.sources.metadata import ListedVersion

    Ask = Callable[[ProviderAddress], "OfferedVersions | None"]


class OfferedVersions(Struct, frozen=True):
    """What a registry says about a provider.

    Attributes:
        ages: Days since their release; versions of unknown age are left out.
        as_of: The time of the answer, ISO 8601 in UTC.
        release: Looks up who signs a version; None if that is unknown.
    """

    versions: Sequence[ListedVersion]
    ages: Mapping[Version, int] = {}
    as_of: str = ""
    release: Callable[[Version], ReleaseFacts | None] = lambda _: None


class WhyRequest(Struct, frozen=True):
    """A provider to explain, as typed.

    Attributes:
        provider: TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE.
        folder: The current folder.
        roots: Folders, relative to `folder`; () for every root of the repository.
        policy: Its cooldown, allow list and severities apply.
    """

    provider: str
    folder: Path
    roots: tuple[str, ...] = ()
    policy: Policy = Policy()


class WhySubject(Struct, frozen=True):
    """A provider to explain in roots of a review.

    Attributes:
        top: The folder of the roots' paths; None where not on disk.
        heeded: The policy that holds versions back; None for the review's.
        limit: The largest step from the locked version.
        takes_majors: True if major versions are eligible.
        targets: The version that a row of the Upgrade screen selects in each root, None for none; {} where it is
            explained what the command selects.
    """

    review: Review
    top: Path | None
    roots: tuple[str, ...]
    address: ProviderAddress
    heeded: Policy | None = None
    limit: BumpLimit = BumpLimit.ANYWHERE
    takes_majors: bool = True
    targets: Mapping[str, Version | None] = {}

    @property
    def policy(self) -> Policy:
        """The policy that holds versions back."""
        return self.heeded or self.review.policy

    def holds(self, versions: Iterable[Version], locked: Version | None) -> dict[Version, Hold]:
        """Return the hold of the screen's conditions on each version that is beyond them."""
        listed = tuple(versions)
        majors = [] if self.takes_majors or locked is None else [one for one in listed if one.major > locked.major]
        return dict.fromkeys(majors, MAJOR_HOLD) | self.limit.holds(listed, locked)


def ask_and_explain(
    subject: WhyRequest | WhySubject,
    request: ReviewRequest,
    settings: NetworkSettings,
    *,
    cancel: threading.Event | None = None,
    on_log: Callable[[Sequence[str]], None] = lambda _: None,
) -> Why:
    """Explain a provider, with the versions that its registry lists; raises what `explain_provider` raises.

    The request has the tool and the base whose registries may be asked; `on_log` is called at the end with one line for
    each request.
    """
    from locklens.releases.session import ReleaseLookup, ReleaseSession

    sessions: dict[bool, ReleaseSession] = {}
    with ExitStack() as stack:

        def ask(address: ProviderAddress) -> OfferedVersions | None:
            # Registries of the tools may always be asked: the base is only read for the others.
            is_default = address.host in {TERRAFORM.default_host, OPENTOFU.default_host}
            if is_default not in sessions:
                hosts = frozenset[str]() if is_default else _base_hosts(subject, request)
                sessions[is_default] = stack.enter_context(ReleaseSession(settings, hosts, cancel))
            lookup = ReleaseLookup(sessions[is_default])
            found = lookup.offered(address)
            if found is None:
                return None
            tool = OPENTOFU if address.host == OPENTOFU.default_host else TERRAFORM
            ages = lookup.ages(address, tool) if subject.policy.needs_ages else {}

            def release(version: Version) -> ReleaseFacts | None:
                fact = lookup.answer(ReleaseId(tool.name, address, version))
                return fact if isinstance(fact, ReleaseFacts) else None

            return OfferedVersions(found.versions, ages, found.as_of, release)

        why = explain_provider(subject, request, ask)
        on_log([line for session in sessions.values() for line in session.log])
        return why


def _base_hosts(subject: WhyRequest | WhySubject, request: ReviewRequest) -> frozenset[str]:
    """Return the hosts that the base vouches for, as for a review."""
    return subject.review.base_hosts if isinstance(subject, WhySubject) else vouched_hosts(request)


def vouched_hosts(request: ReviewRequest) -> frozenset[str]:
    """Return the hosts that the base of a review vouches for, comparison form; none outside of a repository."""
    from locklens.operations.review.run import base_hosts

    try:
        comparison = request.open()
    except NoRepositoryError:
        return frozenset()  # Without a repository there is no base.
    with closing(comparison):
        return base_hosts(comparison, request.tool, request.policy)


def explain_provider(subject: WhyRequest | WhySubject, request: ReviewRequest, ask: Ask = lambda _: None) -> Why:
    """Explain a provider.

    As typed, it is explained in every root that requires it or has it locked, or in roots of a review, from the side
    that is reviewed. `ask` returns what a registry offers of it: None where it may not be asked, SourceError without an
    answer.

    Raises:
        ConfigurationError: The provider is invalid, ambiguous or not found; a folder is not a root, or its
            configuration is not read yet.
        RepositoryError: Git failed.
    """
    if isinstance(subject, WhySubject):
        reviewed = _Reviewed(request, subject.review, subject.top)
        answer = _answer(subject.address, ask)
        roots = map(reviewed.root, subject.roots)
        explained = [_explained(root, subject.address, answer, subject.policy, subject) for root in roots]
        return Why(str(subject.address), tuple(explained))
    check_address(subject.provider)
    read = _read_roots(subject, RootReader(request))
    named = resolve_providers(subject.provider, read)
    addresses = {address for named_here in named.values() for address in named_here}
    answers = {address: _answer(address, ask) for address in addresses}
    explained = [
        _explained(root, address, answers[address], subject.policy) for root in read for address in named[root.path]
    ]
    rest = [(root.path, _doubt(root)) for root in read if not named[root.path]]
    unsure = tuple(Unsure(path, reason) for path, reason in rest if reason)
    return Why(subject.provider, tuple(explained), unsure, len(rest) - len(unsure))


def _doubt(root: Root) -> str:
    """Return why it is unknown whether a root requires or locks another provider; "" if it is known."""
    state = "is in conflict" if root.lock.conflict is not None else "has errors"
    unread = "" if root.lock.is_complete else f"its lock file {state}: what it locks is unknown"
    reason = root.configuration.unknown_reason
    unsaid = f"{'' if unread else 'not locked, and '}whether it is required is unknown: {reason}" if reason else ""
    return "; ".join(filter(None, (unread, unsaid)))


class _Reviewed:
    """The roots of a review, with their lock files and configurations."""

    def __init__(self, request: ReviewRequest, review: Review, top: Path | None) -> None:
        self._roots = {root.path: root for root in review.roots}
        self._tree = WorkTree(top) if top is not None and review.head.kind == "worktree" else None
        self._reader = RootReader(request)

    def root(self, path: str) -> Root:
        known = self._roots.get(path)
        if known is not None and known.configuration is not None:
            return Root(path, known.tool, known.new, known.configuration, top=self._tree.top if self._tree else None)
        if self._tree is None:
            raise ConfigurationError("its configuration is not read yet", path=path or ".", hint="try again")
        read = self._reader.read(self._tree, path)
        if read is None:
            raise no_root(self._tree, path)
        return read


def _answer(address: ProviderAddress, ask: Ask) -> tuple[OfferedVersions | None, str]:
    """Return the answer of a registry, or None with the reason."""
    try:
        offered = ask(address)
    except SourceError as error:
        return None, str(error)
    return offered, NOT_ASKED if offered is None else ""


def _explained(
    root: Root,
    address: ProviderAddress,
    answer: tuple[OfferedVersions | None, str],
    policy: Policy,
    row: WhySubject | None = None,
) -> RootWhy:
    offered, silence = answer
    versions = offered.versions if offered is not None else ()
    ages = offered.ages if offered is not None else {}
    required = root.configuration.required()
    moved = next((pair for pair in root.migration.moved if address in pair and pair[1] in required), None)
    entries = root.lock.entries if moved is None else root.migration.entries
    locked = root.lock.by_address.get(address)
    locked_version = locked.version if locked is not None else None
    beyond = row.holds((one.version for one in versions), locked_version) if row is not None else {}
    held = policy_holds(policy, address, versions, ages)
    explain = partial(
        explain_selection,
        address,
        root.requirements(address),
        {entry.address: entry for entry in reversed(entries)}.get(address),
        offered.versions if offered is not None else None,
    )
    by_policy = {one: (*held.get(one, ()), *filter(None, [beyond.get(one)])) for one in {*held, *beyond}}
    explanation, pinned = explain(by_policy=by_policy), frozenset[Version]()
    aim = explanation.upgrade
    if offered is not None and aim is not None and policy.pin(address) is not None:
        release = offered.release(aim)
        if (objection := signing_objection(policy, address, new=release)) is not None:
            hold = Hold(Reason.SIGNER, names=(objection.cited,))
            explanation = explain(by_policy={**by_policy, aim: (hold,)}).without_upgrade()
        elif release is not None and signed_by(release):
            pinned = frozenset({aim})
    return RootWhy(
        path=root.path,
        lock_file=root.lock.path if root.lock.exists else None,
        tool=root.tool,
        configuration=root.configuration,
        explanation=explanation,
        findings=judge_lock(root.lock, address, root.configuration, policy=policy),
        ages=ages,
        as_of=offered.as_of if offered is not None else "",
        policy=policy,
        pinned=pinned,
        silence=silence,
        moved=moved,
        is_read=root.lock.is_valid and root.lock.conflict is None,
        targets=(row.targets[root.path],) if row is not None and root.path in row.targets else (),
    )


def _read_roots(request: WhyRequest, reader: RootReader) -> list[Root]:
    from locklens.project.git import Repository
    from locklens.project.gittree import SparseWorkTree

    try:
        repository = Repository.discover(request.folder)
    except NoRepositoryError as error:
        error.hint += ", or a root with -- ROOT"
        files = FileSystem(request.folder)
        paths = [files.join("", path) or "" for path in request.roots or (".",)]
        return _read_all(reader, files, paths, refusal=None if request.roots else error)
    with repository:
        tree = SparseWorkTree(repository)
        here = within(repository, request.folder, ".")
        if request.roots:
            paths = [within(repository, request.folder, path) for path in request.roots]
        else:
            locked = folders_with_locks(repository, tree)
            paths = [*locked, *_unlocked_roots(repository, tree, locked), here]
        return _read_all(reader, tree, paths, optional=frozenset() if request.roots else frozenset({here}))


def _unlocked_roots(repository: Repository, tree: Tree, locked: Sequence[str]) -> list[str]:
    """Return the folders of the roots without a lock file, as the health finds them."""
    from locklens.operations.review.unreviewed import roots_without_locks
    from locklens.project.modules import Module, ModuleReader

    modules = ModuleReader()

    def module(folder: str) -> Module:
        return modules.read(tree, folder, tool_of(tree, folder, LockFile.absent(lock_path(folder))))

    paths = [path for path in repository.work_files(("",)) if ".terraform" not in path.split("/")]
    configured = sorted({folder_of(path) for path in paths if is_module_file(path)} - {*locked}, key=name_bytes)
    return roots_without_locks(tree, configured, locked, module, is_generated=has_generator(paths))


def _read_all(
    reader: RootReader,
    tree: Tree,
    paths: Iterable[str],
    *,
    optional: frozenset[str] = frozenset(),
    refusal: RepositoryError | None = None,
) -> list[Root]:
    """Read roots; the optional folders need not be any. `refusal` is raised for another one, None: the usual error."""
    roots = []
    for path in dict.fromkeys(paths):
        root = reader.read(tree, path)
        if root is not None:
            roots.append(root)
        elif path not in optional:
            raise refusal or no_root(tree, path)
    if not roots:
        words = f"no {LOCK_FILE} in this repository that git does not ignore, and no configuration in this folder"
        raise ConfigurationError(words)
    return roots
