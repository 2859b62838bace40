"""The packages of changed entries in earlier commits: a change may restore what was locked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import RepositoryError
from locklens.hashes import packages_of
from locklens.lockfile.parse import parse
from locklens.project.lock_history import LockCommits

if TYPE_CHECKING:
    from locklens.operations.comparison import Comparison
    from locklens.review.model import Change, Review


def with_earlier_commits(review: Review, comparison: Comparison) -> Review:
    """Return a review whose changes name the commit from which they restore the packages of a version.

    Only the history of the base counts: the other commits of a branch under review are reviewed with it. Git is asked
    where a package hash is removed from a version that stays, as no tool does, and once for equal changes.
    """
    base, repository = comparison.base, comparison.repository
    changes = {change.id: (change, root.old.path) for root in review.roots for change in filter(_removes, root.changes)}
    if not changes or repository is None or base.kind == "file":
        return review
    commits = LockCommits(repository, base.revision or "HEAD")
    found = {key: _commit_with(commits, path, change) for key, (change, path) in changes.items()}
    roots = (
        replace(root, changes=tuple(replace(one, restored_from=found.get(one.id, "")) for one in root.changes))
        for root in review.roots
    )
    return replace(review, roots=tuple(roots))


def _removes(change: Change) -> bool:
    return change.is_same_release and bool(packages_of(fact.hash for fact in change.removed))


def _commit_with(commits: LockCommits, lock_file: str, change: Change) -> str:
    """Return the newest commit of a lock file with the packages that a change locks for the version; "" for none."""
    entry = change.new
    assert entry is not None
    packages = packages_of(entry.hashes)
    try:
        states = [one for one in commits.of(lock_file) if one.data is not None and packages]
    except RepositoryError:
        return ""  # A clone may lack what is older.
    for one in states:
        locked = parse(one.data or b"", one.path).entry(change.address)
        if locked is not None and locked.version == entry.version and packages_of(locked.hashes) == packages:
            return one.commit
    return ""
