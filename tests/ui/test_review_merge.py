from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.shell.review_loader import with_roots

if TYPE_CHECKING:
    from ui.conftest import Samples


def test_finished_roots_replace_their_drafts(samples: Samples) -> None:
    review = samples.review(samples.root("a"), samples.root("b"))
    done = samples.root("b", configuration=samples.configuration())
    assert with_roots(review, [done]).roots == (review.roots[0], done)
