"""A lock file that git left in conflict: merged from the Review screen, in a Preview."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from operations.test_resolving import BASE, NEWER, NEWEST, OURS, THEIRS, UNITED, Merging, block, hashes
from ui.conftest import until
from ui.test_preview import PreviewDriver

from locklens.operations.compare_repository import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.ui.app import LockLensApp
from locklens.ui.dialogs.clashes import ClashesDialog

Opening = Callable[..., AbstractAsyncContextManager[PreviewDriver]]


@pytest.fixture
def merging(tmp_path: Path) -> Merging:
    return Merging(tmp_path / "top")


@pytest.fixture
def opening(merging: Merging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opening:
    @asynccontextmanager
    async def run(
        base: str, ours: str, theirs: str, *, size: tuple[int, int] = (120, 40)
    ) -> AsyncIterator[PreviewDriver]:
        merging.merge(base.encode(), ours.encode(), theirs.encode())
        monkeypatch.chdir(merging.top)
        source = LockLens(ReviewRequest(partial(open_git, merging.top)))
        app = LockLensApp(source, store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=size, notifications=True) as pilot:
            driver = PreviewDriver(app, pilot)
            driver.top = merging.top
            await driver.reviewed()
            yield driver

    return run


async def test_what_does_not_clash_is_merged_in_a_preview_and_undone(opening: Opening, merging: Merging) -> None:
    async with opening(BASE, OURS, THEIRS) as on:
        before = merging.lock.read_bytes()
        await until(on, lambda: "M previews the merge of both sides" in on.text)
        assert any(key.shown == "M" for group in on.screen.TABLE.groups for key in group.keys)
        await on.press("M")
        await on.ready()
        assert "preview  Merge the lock file of infra" in on.lines[0]
        assert "locklens merge --root infra" in on.plan
        assert "findings:" in on.plan
        assert "acme/a" in on.plan
        assert "the hashes of both sides are united" in on.plan
        assert "LK019" not in on.plan, "it is compared with our side, not with the file between its markers"
        assert merging.lock.read_bytes() == before
        await on.press("d")
        assert "<<<<<<<" in on.text
        await on.press("escape", "enter")
        await until(on, lambda: merging.lock.read_bytes() == UNITED.encode())
        await on.reviewed()
        await on.press("Z", "enter")
        await until(on, on.has_preview)
        await on.ready()
        await on.press("enter")
        await until(on, lambda: merging.lock.read_bytes() == before)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_clashes_is_listed_and_the_newest_is_a_choice(
    opening: Opening, merging: Merging, size: tuple[int, int]
) -> None:
    async with opening(BASE, NEWER, NEWEST, size=size) as on:
        before = merging.lock.read_bytes()
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and "Merge conflict in 1 provider" in on.text)
        for words in ("acme/a", "two versions were selected", "1.1.0", "1.2.0", "HEAD (ours)"):
            assert words in on.text
        await on.press("escape")
        assert not on.has_preview()
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and "Merge conflict in 1 provider" in on.text)
        await on.press("n")
        await until(on, on.has_preview)
        await on.ready()
        assert "--prefer newest" in on.plan
        assert merging.lock.read_bytes() == before
        await on.press("enter")
        await until(on, lambda: merging.lock.read_bytes() == NEWEST.encode())


async def test_what_the_newest_does_not_settle_is_left_to_a_person(opening: Opening, merging: Merging) -> None:
    removed = block("b", "1.0.0", *hashes("b", "B"))
    async with opening(BASE, NEWER, removed) as on:
        before = merging.lock.read_bytes()
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and "Merge conflict in 1 provider" in on.text)
        assert "one side removed the provider" in on.text
        assert "take the newer version" not in on.text
        await on.press("n")
        assert isinstance(on.app.screen, ClashesDialog)
        await on.press("escape")
        assert not on.has_preview()
        assert merging.lock.read_bytes() == before


async def test_where_nothing_is_in_conflict(opening: Opening, merging: Merging) -> None:
    async with opening(BASE, OURS, THEIRS) as on:
        merging.lock.write_bytes(NEWER.encode())
        merging.git("add", "-A")
        on.before = on.screen.review
        await on.press("r")
        await on.reviewed()
        await on.press("M")
        await until(on, lambda: "infra/.terraform.lock.hcl: the lock file is in no conflict" in on.text)
        assert not on.has_preview()


@pytest.mark.parametrize(("key", "side", "result"), [("o", "ours", NEWER), ("t", "theirs", NEWEST)])
async def test_a_side_may_be_taken(opening: Opening, merging: Merging, key: str, side: str, result: str) -> None:
    async with opening(BASE, NEWER, NEWEST) as on:
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and f"take {side}" in on.text)
        await on.press(key)
        await until(on, on.has_preview)
        await on.ready()
        assert f"--prefer {side}" in on.plan
        await on.press("enter")
        await until(on, lambda: merging.lock.read_bytes() == result.encode())
