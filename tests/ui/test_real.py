"""The UI on a real repository: the demo's, opened through the use cases."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from locklens.demo.incidents import make_repository
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.ui.app import LockLensApp
from locklens.ui.phrases import finding_mark
from locklens.ui.review import ReviewScreen

if TYPE_CHECKING:
    from pathlib import Path


async def test_every_row_of_the_demo_can_be_looked_at(tmp_path: Path) -> None:
    request = ReviewRequest(partial(open_git, make_repository(tmp_path / "infrastructure")))
    app = LockLensApp(LockLens(request), store_path=tmp_path / "store.sqlite3")
    async with app.run_test(size=(120, 40)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        expected = review(request)
        assert screen.review is not None
        assert screen.review.roots == expected.roots
        assert screen.top == tmp_path / "infrastructure"
        assert screen.loader.repository == str(tmp_path / "infrastructure")
        screen.action_expand()
        for row in screen.query_one("#review").rows:  # type: ignore[attr-defined]
            screen.turned = screen.turned ^ {row.key} if row.folded else screen.turned
        for _ in range(3):
            screen.action_group()
            for index in range(len(screen.left.rows)):
                screen.left.cursor = index
                await pilot.pause(0)
                assert screen.detail.lines, screen.left.rows[index].key
        for key in ("d", "escape", "w", "escape", "a"):
            await pilot.press(key)
        findings = {finding_mark(root.path, finding) for root in expected.roots for finding in root.findings}
        assert findings
        assert {change.id for change in expected.changes} | findings == screen.loader.marks


async def test_an_error_of_opening_reaches_the_screen(tmp_path: Path) -> None:
    request = ReviewRequest(partial(open_git, tmp_path / "nowhere"))
    app = LockLensApp(LockLens(request), store_path=tmp_path / "store.sqlite3")
    async with app.run_test(size=(100, 30)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.error is not None
        await pilot.press("q")
    assert app.return_value == 2
