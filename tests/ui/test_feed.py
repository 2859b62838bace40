from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.shell.file_watch import changed_since, roots_of, stamps_of
from locklens.ui.shell.review_merge import with_roots

if TYPE_CHECKING:
    from pathlib import Path

    from ui.conftest import Samples


def test_changed_added_and_deleted_files_are_seen(tmp_path: Path) -> None:
    names = ("same", "edited", "deleted", "added")
    same, edited, deleted, added = (tmp_path / name for name in names)
    for path in (same, edited, deleted):
        path.write_text("1")
    stamps = stamps_of([same, edited, deleted, added])
    assert changed_since(stamps) == ()
    edited.write_text("22")
    deleted.unlink()
    added.write_text("")
    assert changed_since(stamps) == (edited, deleted, added)


def test_changed_files_are_named_by_their_root(samples: Samples, tmp_path: Path) -> None:
    review = samples.review(samples.root("infra/prod"), samples.root(""))
    paths = (
        tmp_path / "infra/prod/main.tf",
        tmp_path / "infra/prod/b.tf",
        tmp_path / "x.tf",
        tmp_path / "modules/m/main.tf",
    )
    assert roots_of(paths, review, tmp_path) == ("infra/prod", ".", "main.tf")
    assert roots_of(paths[:1], review, None) == ("main.tf",)


def test_finished_roots_replace_their_drafts(samples: Samples) -> None:
    review = samples.review(samples.root("a"), samples.root("b"))
    done = samples.root("b", configuration=samples.configuration())
    assert with_roots(review, [done]).roots == (review.roots[0], done)
