"""Where reviews come from and how they reach the screen: opening, reading in steps, watching. Knows no Textual."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading

    from locklens.review.model import Review, RootReview
    from locklens.workspace.events import Event
    from locklens.workspace.open import Comparison
    from locklens.workspace.review import ReviewRequest

Stamp = tuple[int, int, int] | None
Stamps = Mapping[Path, Stamp]


class OpenedReview(Protocol):
    """A comparison that is open."""

    @property
    def draft(self) -> Review:
        """The review from the lock files alone."""

    def complete(
        self,
        *,
        on_event: Callable[[Event], None],
        cancel: threading.Event,
    ) -> Review:
        """Reads configurations, asks registries, and returns the final review.

        Args:
            on_event: Called in the caller's thread.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: It cannot be finished, or was cancelled.
        """

    def watched(self, review: Review) -> tuple[Path, ...]:
        """The files on disk that the review depends on."""

    @property
    def top(self) -> Path | None:
        """The folder that the review's paths are relative to, None where they are not on disk."""

    @property
    def repository(self) -> str:
        """What marks are remembered for: the same for the same repository in every run."""

    def close(self) -> None:
        """Gives back what the open comparison holds."""


class ReviewSource(Protocol):
    """Opens the comparison, again and again."""

    @property
    def fail_on(self) -> str:
        """From which severity on a report of the review would fail."""

    def open(self, *, is_fresh: bool = False) -> OpenedReview:
        """Opens it as it is now.

        Args:
            is_fresh: Whether registries are asked again, whatever is remembered.

        Raises:
            LockLensError: There is nothing to compare.
        """


@dataclass(frozen=True, slots=True)
class WorkspaceSource:
    """The real source: the use cases of the workspace."""

    request: ReviewRequest

    @property
    def fail_on(self) -> str:
        """That of the request."""
        return self.request.fail_on

    def open(self, *, is_fresh: bool = False) -> OpenedReview:
        """Opens the comparison of the request."""
        from msgspec.structs import replace

        from locklens.workspace.review import draft

        request = self.request
        if is_fresh and request.asking is not None:
            request = replace(request, asking=replace(request.asking, is_fresh=True))
        comparison = request.open()
        return _WorkspaceReview(comparison, draft(comparison, request), request)


@dataclass(frozen=True, slots=True)
class _WorkspaceReview:
    comparison: Comparison
    draft: Review
    request: ReviewRequest

    def complete(
        self,
        *,
        on_event: Callable[[Event], None],
        cancel: threading.Event,
    ) -> Review:
        from locklens.workspace.review import complete

        return complete(self.comparison, self.draft, self.request, on_event=on_event, cancel=cancel)

    def watched(self, review: Review) -> tuple[Path, ...]:
        from locklens.workspace.review import watched_files

        return watched_files(self.comparison, review)

    @property
    def top(self) -> Path | None:
        return self.comparison.top

    @property
    def repository(self) -> str:
        repository = self.comparison.repository
        return str(repository.top) if repository is not None else ""

    def close(self) -> None:
        self.comparison.close()


def stamps_of(paths: Iterable[Path]) -> dict[Path, Stamp]:
    """What tells a changed file: modification time, size and identity; None where there is no such file."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def changed_since(stamps: Stamps) -> tuple[Path, ...]:
    """The files that are not as they were."""
    return tuple(path for path, stamp in stamps.items() if _stamp(path) != stamp)


def roots_of(paths: Iterable[Path], review: Review, top: Path | None) -> tuple[str, ...]:
    """What changed, in the review's words: a root where the file lies in one, else the file's name."""
    known = {root.path for root in review.roots}
    names = []
    for path in paths:
        folder = path.parent.relative_to(top).as_posix() if top is not None and path.is_relative_to(top) else None
        folder = "" if folder == "." else folder
        names.append((folder or ".") if folder in known else path.name)
    return tuple(dict.fromkeys(names))


def with_roots(review: Review, finished: Iterable[RootReview]) -> Review:
    """The review with some roots replaced by their finished selves."""
    from msgspec.structs import replace

    by_path = {root.lock_file: root for root in finished}
    return replace(review, roots=tuple(by_path.get(root.lock_file, root) for root in review.roots))
