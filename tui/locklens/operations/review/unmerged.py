"""Lock files of the work tree that one side of a merge removed: git leaves that of the other, which looks added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, UnmergedFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.comparison import Comparison
    from locklens.review.model import RootReview


def unmerged_notes(comparison: Comparison, roots: Iterable[RootReview]) -> Iterator[str]:
    """Yield a sentence on each lock file that is new against the base, and that the merge in progress has not settled.

    Raises:
        RepositoryError: Git failed.
    """
    from locklens.project.gittree import IndexTree

    added = [root.lock_file for root in roots if root.new.exists and not root.old.exists]
    if comparison.repository is None or comparison.head.kind != "worktree":
        return
    for path in added:
        try:
            IndexTree(comparison.repository).read(path)
        except UnmergedFileError as error:
            if error.removal:
                yield f"{path} is not merged: {error.removal}"
        except ConfigurationError:
            continue  # git has something other than a file there
