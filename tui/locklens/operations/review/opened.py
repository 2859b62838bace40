"""A comparison that is open, and its review: the draft from the lock files, then the final one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from locklens.operations.comparison import Comparison
    from locklens.operations.review.events import ReviewEvent
    from locklens.operations.review.request import ReviewRequest
    from locklens.project.folders import FileWatch
    from locklens.review.model import Review


class OpenedReview:
    """An open comparison, with the review of its lock files; to be closed.

    Attributes:
        draft: The review from the lock files alone.
    """

    def __init__(self, comparison: Comparison, draft: Review, request: ReviewRequest) -> None:
        self.draft = draft
        self._comparison = comparison
        self._request = request

    def complete(self, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event) -> Review:
        """Read configurations, ask registries, and return the final review.

        Args:
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: The review cannot be completed.
            RunCancelledError: `cancel` was set.
        """
        from locklens.operations.review.completion import complete_review

        return complete_review(self._comparison, self.draft, self._request, on_event=on_event, cancel=cancel)

    def watch(self, review: Review, *, since_ns: int) -> FileWatch | None:
        """Return the watch of the files that the review depends on, None without any.

        Args:
            review: The draft, or the final review.
            since_ns: The time before the comparison was opened; a later change counts.
        """
        from locklens.operations.review.run import watch_of

        return watch_of(self._comparison, review, since_ns=since_ns)

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


def open_review(request: ReviewRequest) -> OpenedReview:
    """Open a comparison, and review its lock files.

    Raises:
        LockLensError: There is nothing to compare.
    """
    from msgspec.structs import replace

    from locklens.operations.review.run import review_lock_files
    from locklens.operations.review.staged import staged_providers

    comparison = request.open()
    try:
        draft = review_lock_files(comparison, request)
        draft = replace(draft, staged=staged_providers(comparison, draft))
        return OpenedReview(comparison, draft, request)
    except BaseException:
        comparison.close()
        raise
