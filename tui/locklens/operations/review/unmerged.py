"""Lock files of the work tree that one side of a merge removed: git leaves that of the other, which looks settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, UnmergedFileError
from locklens.project import is_lock_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.comparison import Comparison
    from locklens.review.model import RootReview


def unmerged_notes(comparison: Comparison, roots: Iterable[RootReview]) -> Iterator[str]:
    """Yield a sentence on each lock file that a merge in progress has not settled, since one side removed it.

    Without a sign of a merge, those are looked at that are new against the base.

    Raises:
        RepositoryError: Git failed.
    """
    from locklens.project.gittree import IndexTree

    repository = comparison.repository
    if repository is None or comparison.head.kind != "worktree":
        return
    paths = [root.lock_file for root in roots if root.new.exists and not root.old.exists]
    if repository.is_merging:
        unmerged = (path for path, file in repository.listing(None).items() if not file.object_id)
        paths += [path for path in unmerged if is_lock_file(path)]
    index = IndexTree(repository)
    for path in dict.fromkeys(paths):
        try:
            index.read(path)
        except UnmergedFileError as error:
            if error.removal:
                yield f"{path} is not merged: {error.removal}"
        except ConfigurationError:
            continue  # git has something other than a file there
