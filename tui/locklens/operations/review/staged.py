"""The providers whose locked blocks are staged for the next commit, as the work tree has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.operations.root_modules import read_lock
from locklens.project.tree import EmptyTree

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.operations.comparison import Comparison
    from locklens.project.tree import Tree
    from locklens.review.model import Review


def staged_providers(comparison: Comparison, review: Review) -> frozenset[tuple[str, ProviderAddress]]:
    """Return each staged provider, with its lock file; none where the new side is not the work tree.

    A provider is staged where the index differs from HEAD, and has the block of the work tree.

    Raises:
        RepositoryError: Git failed.
    """
    repository = comparison.repository
    if repository is None or comparison.head.kind != "worktree" or not any(root.changes for root in review.roots):
        return frozenset()
    from locklens.project.git import UncommittedSide
    from locklens.project.gittree import IndexTree, RevisionTree

    committed: Tree = EmptyTree()
    place: str | UncommittedSide = UncommittedSide.EMPTY
    if not repository.is_unborn:
        place = repository.resolve("HEAD")
        committed = RevisionTree(repository, place)
    changes, _ = repository.compare(place, UncommittedSide.INDEX)
    differing = {path for change in changes for path in (change.old, change.new) if path is not None}
    staged, index = set(), IndexTree(repository)
    for root in review.roots:
        if root.lock_file not in differing or not root.changes:
            continue
        locks = *(read_lock(tree, root.lock_file, root.tool) for tree in (committed, index)), root.new
        before, now, after = ({entry.address: entry.contents for entry in lock.entries} for lock in locks)
        for change in root.changes:
            addresses = {change.address, change.moved_from or change.address}
            is_current = all(now.get(one) == after.get(one) for one in addresses)
            if is_current and any(now.get(one) != before.get(one) for one in addresses):
                staged.add((root.lock_file, change.address))
    return frozenset(staged)
