from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.shell.review_loader import roots_of, with_roots

if TYPE_CHECKING:
    from pathlib import Path

    from ui.conftest import Samples


def test_changed_files_are_named_by_their_root(samples: Samples, tmp_path: Path) -> None:
    review = samples.review(samples.root("infra/prod"), samples.root(""))
    names = ("infra/prod/main.tf", "infra/prod/b.tf", "x.tf", "modules/m/main.tf", "new/.terraform.lock.hcl")
    paths = [str(tmp_path / name) for name in names]
    assert roots_of(paths, review, tmp_path) == ("infra/prod", ".", "modules/m/main.tf", "new/.terraform.lock.hcl")
    assert roots_of(paths[:1], review, None) == ("main.tf",)


def test_finished_roots_replace_their_drafts(samples: Samples) -> None:
    review = samples.review(samples.root("a"), samples.root("b"))
    done = samples.root("b", configuration=samples.configuration())
    assert with_roots(review, [done]).roots == (review.roots[0], done)
