"""Why a provider is there, as a use case: finds the roots, reads each, and finds out which provider is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError, SourceError
from locklens.operations.comparison import within
from locklens.operations.provider_names import check_address, resolve_providers
from locklens.operations.root_modules import Root, RootReader, folders_with_locks, no_root
from locklens.project.roots import LOCK_FILE
from locklens.project.tree import FileSystem, WorkTree
from locklens.review.rules.judge import judge_lock
from locklens.review.why import NOT_ASKED, RootWhy, Unsure, Why
from locklens.selection import explain_selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.review.request import ReviewRequest
    from locklens.project.tree import Tree
    from locklens.review.model import Review
    from locklens.sources.metadata import ListedVersion


if TYPE_CHECKING:
    Ask = Callable[[ProviderAddress], Sequence[ListedVersion] | None]


class WhyRequest(Struct, frozen=True):
    """What is asked.

    Attributes:
        provider: As typed: TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE.
        folder: Where it is asked.
        roots: Folders, relative to `folder`; () for every root of the repository.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
    """

    provider: str
    folder: Path
    roots: tuple[str, ...] = ()
    tool: Dialect | None = None
    test_directory: str = "tests"


def explain_provider(request: WhyRequest, ask: Ask = lambda _: None) -> Why:
    """Explains a provider in every root that requires it or has it locked.

    Args:
        request: What is asked.
        ask: Returns what a registry offers of a provider; None where it is not to be asked, SourceError where it has
            no answer.

    Raises:
        ConfigurationError: The text is no provider, stands for several, or for none; or a folder is no root.
        RepositoryError: Git failed.
    """
    check_address(request.provider)
    roots = _read_roots(request)
    named = resolve_providers(request.provider, roots)
    answers = {address: _answer(address, ask) for addresses in named.values() for address in addresses}
    found = [_explained(root, address, *answers[address]) for root in roots for address in named[root.path]]
    rest = [(root.path, root.configuration.unknown_reason) for root in roots if not named[root.path]]
    unsure = tuple(Unsure(path, reason) for path, reason in rest if reason)
    return Why(request.provider, tuple(found), unsure, len(rest) - len(unsure))


def why_reviewed(
    request: ReviewRequest,
    review: Review,
    roots: Sequence[str],
    address: ProviderAddress,
    *,
    top: Path | None,
    ask: Ask = lambda _: None,
) -> Why:
    """Explains a provider in roots of a review, from the side that is reviewed.

    Args:
        request: That of the review.
        review: With the roots' configurations, as far as they are read; others are read from the work tree.
        roots: Their folders.
        address: The provider.
        top: What paths are relative to, None where the reviewed side is not on disk.
        ask: Returns what a registry offers of a provider; None where it is not to be asked, SourceError where it has
            no answer.

    Raises:
        ConfigurationError: A folder is no root, or its configuration is still to be read.
    """
    found = _Reviewed(request, review, top)
    answer = _answer(address, ask)
    return Why(str(address), tuple(_explained(found.root(path), address, *answer) for path in roots))


class _Reviewed:
    """The roots of a review, with what each has locked and requires."""

    def __init__(self, request: ReviewRequest, review: Review, top: Path | None) -> None:
        self._roots = {root.path: root for root in review.roots}
        self._tree = WorkTree(top) if top is not None and review.head.kind == "worktree" else None
        self._reader = RootReader(request.tool, request.test_directory)

    def root(self, path: str) -> Root:
        known = self._roots.get(path)
        if known is not None and known.configuration is not None:
            return Root(path, known.tool, known.new, known.configuration)
        if self._tree is None:
            raise ConfigurationError("its configuration is not read yet", path=path or ".", hint="ask again")
        read = self._reader.read(self._tree, path)
        if read is None:
            raise no_root(path)
        return read


def _answer(address: ProviderAddress, ask: Ask) -> tuple[Sequence[ListedVersion] | None, str]:
    """What a registry offers, and else why it says nothing."""
    try:
        offered = ask(address)
    except SourceError as error:
        return None, str(error)
    return offered, NOT_ASKED if offered is None else ""


def _explained(root: Root, address: ProviderAddress, offered: Sequence[ListedVersion] | None, silence: str) -> RootWhy:
    return RootWhy(
        path=root.path,
        lock_file=root.lock.path if root.lock.exists else None,
        tool=root.tool,
        configuration=root.configuration,
        explanation=explain_selection(
            address, root.configuration.of(address), root.lock.by_address.get(address), offered
        ),
        findings=judge_lock(root.lock, address, root.configuration),
        silence=silence,
    )


def _read_roots(request: WhyRequest) -> list[Root]:
    from locklens.project.git import Repository

    try:
        repository = Repository.discover(request.folder)
    except NoRepositoryError as error:
        files = FileSystem(request.folder)
        paths = [files.join("", path) or "" for path in request.roots or (".",)]
        return _read_all(request, files, paths, refusal=None if request.roots else error)
    try:
        tree = WorkTree(repository.top)
        here = within(repository, request.folder, ".")
        if request.roots:
            paths = [within(repository, request.folder, path) for path in request.roots]
        else:
            paths = [*folders_with_locks(repository, tree), here]
        return _read_all(request, tree, paths, optional=frozenset() if request.roots else frozenset({here}))
    finally:
        repository.close()


def _read_all(
    request: WhyRequest,
    tree: Tree,
    paths: Iterable[str],
    *,
    optional: frozenset[str] = frozenset(),
    refusal: RepositoryError | None = None,
) -> list[Root]:
    """Reads roots.

    Args:
        request: What is asked.
        tree: Where they are.
        paths: Their folders.
        optional: Folders that may be none.
        refusal: What to raise instead of an error of our own where a folder is none.
    """
    reader = RootReader(request.tool, request.test_directory)
    roots = []
    for path in dict.fromkeys(paths):
        root = reader.read(tree, path)
        if root is not None:
            roots.append(root)
        elif path not in optional:
            raise refusal or no_root(path)
    if not roots:
        raise ConfigurationError(f"no {LOCK_FILE} in this repository, and no configuration in this folder")
    return roots


@dataclass(frozen=True, slots=True)
class WhySubject:
    """What is to be explained: a provider in roots of a review; `top` is what their paths are relative to."""

    review: Review
    top: Path | None
    roots: tuple[str, ...]
    address: ProviderAddress
