"""Merging of a review in progress into the shown review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.evidence_lines import is_settled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.review.model import Review, RootReview


def with_roots(review: Review, finished: Iterable[RootReview]) -> Review:
    """The review with roots replaced by their finished versions, unless their files changed since."""
    from msgspec.structs import replace

    by_file = {root.lock_file: root for root in finished}
    return replace(
        review,
        roots=tuple(
            new if (new := by_file.get(root.lock_file)) is not None and _is_of_same_files(root, new) else root
            for root in review.roots
        ),
    )


def renewed(shown: Review, draft: Review, known: Mapping[str, RootReview]) -> Review:
    """The review to show during a load: never fewer facts of a root than shown already.

    Args:
        shown: The review on the screen; the draft itself for the first review.
        draft: The draft of the review in progress.
        known: Roots of the review in progress with more facts, by lock file.
    """
    from msgspec.structs import replace

    before = {root.lock_file: root for root in shown.roots}

    def best(root: RootReview) -> RootReview:
        old, new = before.get(root.lock_file), known.get(root.lock_file)
        if old is None:
            return new or root
        if new is None:
            return old
        is_better = _is_settled(new) or not _is_settled(old) or not _is_of_same_files(old, new)
        return new if is_better else old

    return replace(draft, roots=tuple(map(best, draft.roots)), hosts=shown.hosts, notes=shown.notes)


def _is_settled(root: RootReview) -> bool:
    return root.configuration is not None and all(map(is_settled, root.changes))


def _is_of_same_files(root: RootReview, other: RootReview) -> bool:
    return (root.old.data, root.new.data) == (other.old.data, other.new.data)
