"""Patterns that a change adds, by which git ignores lock files: tracked ones stay so, and new ones are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import RepositoryError
from locklens.project import LOCK_FILE
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.comparison import Comparison

_PATTERNS_FILE = ".gitignore"


def ignoring_notes(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence on each pattern of the head by which git ignores lock files, and of the base it did not.

    Of the work tree, what is staged counts; where git cannot say, nothing is said.
    """
    from locklens.project.git import UncommittedSide

    repository, base, head = comparison.repository, comparison.base.revision, comparison.head
    if repository is None or base is None or (head.revision is None and head.kind not in {"worktree", "index"}):
        return
    try:
        before, after = (
            {path: file for path, file in repository.listing(side).items() if path.endswith(_PATTERNS_FILE)}
            for side in (base, head.revision)
        )
        if before == after:
            return
        paths = list(comparison.all_locks) or [LOCK_FILE]
        was, now = (repository.ignored(side, paths) for side in (base, head.revision or UncommittedSide.INDEX))
    except RepositoryError:
        return
    new = {path: place for path, place in now.items() if path not in was}
    for place in dict.fromkeys(new.values()):
        own = [path for path, each in new.items() if each == place]
        tracked = f"{counted(len(own), 'lock file')} ({listing(own, 3)})" if comparison.all_locks else "lock files"
        words = f"since this change git ignores {tracked}, by {place}: those that it tracks stay so, and that of a new"
        yield f"{words} root is not committed, so that nothing pins its providers"
