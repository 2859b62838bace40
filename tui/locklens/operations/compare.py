"""Opens comparisons of two sides of a git repository: work tree, index, revision."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError
from locklens.operations.comparison import USUAL_SIDES, Base, Comparison, Side, within
from locklens.project import LOCK_FILE, RootEvidence
from locklens.project.gittree import IndexTree, RevisionTree, SparseWorkTree, conversions
from locklens.project.revision_paths import path_below_top
from locklens.project.root_search import find_roots, lock_paths
from locklens.project.touched_roots import may_decide
from locklens.project.tree import EmptyTree, Tree, WorkTree, folder_of, path_in
from locklens.review.model import PolicySide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from locklens.project.git import Repository, UncommittedSide


def open_git(folder: Path, base: Base = USUAL_SIDES, *, roots: Sequence[str] = ()) -> Comparison:
    """Compare a revision with the work tree, the index or another revision.

    In a repository without commits everything is new against HEAD. The comparison is restricted to the roots, relative
    to the folder, if any are named.

    Raises:
        ConfigurationError: The arguments exclude each other, or one of `roots` is not a root.
        RepositoryError: There is no repository or no such revision.
    """
    from locklens.project.git import Repository
    from locklens.project.git.listings import PathChange

    repository = Repository.discover(folder)
    try:
        only = [within(repository, folder, root) for root in roots]
        sides = open_sides(repository, base)
        old, new, tip = sides.old, sides.new, sides.tip
        changes, submodules = repository.compare(sides.old_place, sides.new_place)
        converted = conversions(old.tree, new.tree)
        anew = (PathChange(path, was_there=True, is_there=True) for path, one in converted.items() if one.is_new)
        all_locks, base_locks = lock_paths(repository, new.tree), lock_paths(repository, old.tree)
        unlocked: Mapping[str, RootEvidence] = {}
        named = set(only).difference(folder_of(path) for path in (*all_locks, *base_locks))
        if named or may_decide(new.tree, (each.path for each in changes)):
            from locklens.operations.review.unreviewed import unlocked_roots

            unlocked = unlocked_roots(repository, old.tree, new.tree, changes, (*all_locks, *base_locks), named)
        found = find_roots(
            repository,
            old.tree,
            new.tree,
            (*changes, *anew),
            submodules=submodules,
            unlocked=unlocked,
            converted=converted,
            only=only,
        )
        pairs, unreviewed = found.pairs, {}
        if submodules:
            from locklens.operations.review.unreviewed import (
                pairs_of_submodules,
                submodules_of_roots,
                unreviewed_submodules,
            )

            unreviewed = unreviewed_submodules(repository, submodules, base_locks)
            told = unreviewed
            if only:
                changed = [change.path for change in changes if change.is_there]
                told = submodules_of_roots(unreviewed, old.tree, new.tree, pairs, changed)
            pairs = pairs_of_submodules(pairs, told)
    except BaseException:
        repository.close()
        raise
    return Comparison(
        base=old,
        head=new,
        roots=pairs,
        worktree=_worktree(repository, new),
        top=repository.top,
        repository=repository,
        all_locks=all_locks,
        policy_side=PolicySide.BASE,
        converted=converted,
        unreviewed=unreviewed,
        tip=tip if old is not tip else None,
        is_base_named=base.name is not None,
        base_locks=base_locks,
        left_out=found.left_out,
    )


class Sides(Struct, frozen=True):
    """The sides of a comparison, what git takes for each, and the named tip, of which the old one may be the fork."""

    old: Side
    old_place: str | UncommittedSide
    new: Side
    new_place: str | UncommittedSide
    tip: Side


def open_sides(repository: Repository, base: Base) -> Sides:
    """Return the sides that were named for a run.

    Raises:
        ConfigurationError: The arguments exclude each other.
        RepositoryError: There is no such revision.
    """
    if base.is_staged and base.head is not None:
        raise ConfigurationError("--staged and --head cannot be used together")
    new, new_place = _head_side(repository, base.head, staged=base.is_staged)
    old, old_place = _base_side(repository, "HEAD" if base.name is None else base.name)
    old = tip = _titled(old, base.titles)
    if base.fork_of and tip.revision is not None:
        old = _fork_point(repository, tip, base.fork_of, base.titles.get(base.fork_of, base.fork_of))
        old_place = str(old.revision)
    return Sides(old, old_place, _titled(new, base.titles), new_place, tip)


def roots_of_sides(folder: Path, base: Base) -> tuple[str, ...]:
    """Return the folders that have a lock file on either side, relative to a folder; errors as in `open_git`."""
    from locklens.operations.root_modules import locked_roots_from
    from locklens.project.git import Repository

    with Repository.discover(folder) as repository:
        sides = open_sides(repository, base)
        return locked_roots_from(folder, repository, sides.old.tree, sides.new.tree)


def fetch_pull_request(folder: Path, number: int, *, remote: str, base: str | None = None) -> Base:
    """Fetch a pull or merge request, and return its head and its fork point as the sides of a comparison.

    The commits are named by id: no reference is written, and what the remote has later changes nothing in a run. The
    base is the revision that it is to be merged into; None for the default branch of the remote, as it is there now.

    Raises:
        RepositoryError: There is no repository, remote, request or base, or the remote cannot be reached.
    """
    from locklens.project.git import Repository

    with Repository.discover(folder) as repository:
        if base is not None:
            repository.resolve_base(base)
        fetched = repository.fetch_request(number, remote, with_base=base is None)
    titles = {fetched.head: fetched.head_name} | ({} if base is not None else {fetched.base: fetched.base_name})
    return Base(fetched.base if base is None else base, fetched.head, fetched.head, titles=titles)


def open_locked(folder: Path, base: Base = USUAL_SIDES, *, roots: Sequence[str] = ()) -> Comparison:
    """Open all locked providers: the new side beside its base, or without git the lock file of one folder.

    Raises:
        ConfigurationError: One of `roots` is not a root.
        RepositoryError: There is neither a repository nor a lock file.
    """
    try:
        return open_git(folder, base, roots=roots)
    except NoRepositoryError as error:
        place = folder / roots[0] if len(roots) == 1 else folder
        if len(roots) > 1 or base != USUAL_SIDES or not (place / LOCK_FILE).is_file():
            error.hint += ", or select one root alone" if len(roots) > 1 else ", or a root with -- ROOT"
            raise
        from locklens.operations.compare_files import open_files

        below = path_below_top(os.path.realpath(folder), os.path.realpath(place))
        lock = path_in(below or "", LOCK_FILE)
        opened = open_files(lock, lock, config=None, cwd=place if below is None else folder, stdin=bytes)
        return replace(opened, policy_side=PolicySide.HEAD, is_base_named=False)


def _head_side(repository: Repository, head: str | None, *, staged: bool) -> tuple[Side, str | UncommittedSide]:
    from locklens.project.git import UncommittedSide

    if head is not None:
        revision = repository.resolve(head)
        return Side("git", head, revision, RevisionTree(repository, revision)), revision
    if staged:
        return Side("index", "index", None, IndexTree(repository)), UncommittedSide.INDEX
    return Side("worktree", "worktree", None, SparseWorkTree(repository)), UncommittedSide.WORK_TREE


def _base_side(repository: Repository, base: str) -> tuple[Side, str | UncommittedSide]:
    from locklens.project.git import UncommittedSide

    try:
        revision = repository.resolve_base(base)
    except RepositoryError:
        if base in ("HEAD", "@") and repository.is_unborn:
            return Side("empty", base, None, EmptyTree()), UncommittedSide.EMPTY
        raise
    return Side("git", base, revision, RevisionTree(repository, revision)), revision


def _worktree(repository: Repository, head: Side) -> Tree | None:
    if head.kind == "worktree" or repository.is_bare:
        return None if repository.is_bare else head.tree
    return WorkTree(repository.top)


def _titled(side: Side, titles: Mapping[str, str]) -> Side:
    return replace(side, name=titles[side.name]) if side.name in titles else side


def _fork_point(repository: Repository, tip: Side, fork_of: str, title: str) -> Side:
    revision = repository.merge_base(str(tip.revision), repository.resolve(fork_of))
    return Side("git", f"{tip.name}...{title}", revision, RevisionTree(repository, revision), tip.name)
