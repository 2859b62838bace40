"""A comparison that is open, and its review: the draft from the lock files, then the final one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.operations.root_modules import read_lock
from locklens.project.tree import EmptyTree, Tree

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import EntryContents
    from locklens.operations.comparison import Comparison
    from locklens.operations.review.request import ReviewEvent, ReviewRequest
    from locklens.project.folders import FileWatch
    from locklens.review.model import Review, RootReview

    Providers = frozenset[tuple[str, ProviderAddress]]


class OpenedReview:
    """An open comparison, with the draft of its review from the lock files alone; to be closed."""

    def __init__(self, comparison: Comparison, draft: Review, request: ReviewRequest) -> None:
        self.draft = draft
        self._comparison = comparison
        self._request = request

    def complete(self, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event) -> Review:
        """Read configurations, ask registries, and return the final review."""
        from locklens.operations.review.completion import complete_review

        return complete_review(self._comparison, self.draft, self._request, on_event=on_event, cancel=cancel)

    def watch(self, review: Review, *, since_ns: int) -> FileWatch | None:
        """Return the watch of the files that the draft or the final review depends on; see `watch_of`."""
        from locklens.operations.review.run import watch_of

        return watch_of(self._comparison, review, self._request.policy, since_ns=since_ns)

    @property
    def top(self) -> Path | None:
        """The folder of the review's relative paths, None where they are not on disk."""
        return self._comparison.top

    @property
    def repository(self) -> str:
        """The key that marks are stored by: the same for a repository in every run; "" without git."""
        repository = self._comparison.repository
        return str(repository.top) if repository is not None else ""

    def close(self) -> None:
        """End the process that reads git's objects, if there is one."""
        self._comparison.close()


def open_review(request: ReviewRequest, on_event: Callable[[ReviewEvent], None] = lambda _: None) -> OpenedReview:
    """Open a comparison, and review its lock files; `on_event` is called in this thread.

    Raises:
        LockLensError: There is nothing to compare.
    """
    from msgspec.structs import replace

    from locklens.operations.review.run import review_lock_files

    comparison = request.open()
    try:
        draft = review_lock_files(comparison, request, on_event=on_event)
        staged, stageable = staged_providers(comparison, draft)
        draft = replace(draft, staged=staged, stageable=stageable)
        return OpenedReview(comparison, draft, request)
    except BaseException:
        comparison.close()
        raise


def staged_providers(comparison: Comparison, review: Review) -> tuple[Providers, Providers]:
    """Return the staged providers, and those that can be staged, each with its lock file.

    A provider is staged where the index differs from HEAD, and has the block of the work tree; it can be staged where
    the index has another one. Of a file that is not merged the index has no block that a commit could have. None is
    either where the new side is not the work tree.

    Raises:
        RepositoryError: Git failed.
    """
    repository = comparison.repository
    if repository is None or comparison.head.kind != "worktree" or not any(root.changes for root in review.roots):
        return frozenset(), frozenset()
    from locklens.project.git import UncommittedSide
    from locklens.project.gittree import IndexTree, RevisionTree

    committed: Tree = EmptyTree()
    place: str | UncommittedSide = UncommittedSide.EMPTY
    if not repository.is_unborn:
        place = repository.resolve("HEAD")
        committed = RevisionTree(repository, place)
    changes, _ = repository.compare(place, UncommittedSide.INDEX)
    differing = {change.path for change in changes}
    staged, stageable, index = set(), set(), IndexTree(repository)
    for root in review.roots:
        listed = index.files.get(root.lock_file)
        if not root.changes or (listed is not None and not listed.object_id):
            continue
        is_link, is_moved = listed is not None and listed.is_link, listed is None and root.renamed_from is not None
        now, after = _blocks(index, root), {entry.address: entry.contents for entry in root.new.entries}
        before = _blocks(committed, root) if root.lock_file in differing else now
        for change in root.changes:
            addresses = {change.address, change.moved_from or change.address}
            if any(now.get(one) != after.get(one) for one in addresses):
                # `git add` takes a moved file as a whole, and a link is not the file that it leads to.
                stageable.update([] if is_link or is_moved else [(root.lock_file, change.address)])
            elif any(now.get(one) != before.get(one) for one in addresses):
                staged.add((root.lock_file, change.address))
    return frozenset(staged), frozenset(stageable)


def _blocks(tree: Tree, root: RootReview) -> dict[ProviderAddress, EntryContents]:
    """Return the contents of a lock file's blocks in a tree; what the review has read is not parsed again."""
    lock = None
    with suppress(ConfigurationError):
        data = tree.read(root.lock_file)
        lock = next((each for each in (root.new, root.old) if each.exists and each.data == data), None)
    lock = lock or read_lock(tree, root.lock_file, root.tool)
    return {entry.address: entry.contents for entry in lock.entries}
