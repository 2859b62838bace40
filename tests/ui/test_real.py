"""The UI on a real repository: the demo's, opened through the use cases."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ui.conftest import Running

from locklens.demo.incidents import make_repository
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.ui.phrases import finding_mark
from locklens.ui.review import ReviewScreen

if TYPE_CHECKING:
    from pathlib import Path


async def test_every_row_of_the_demo_can_be_looked_at(running: Running, tmp_path: Path) -> None:
    request = ReviewRequest(partial(open_git, make_repository(tmp_path / "infrastructure")))
    async with running(LockLens(request)) as on:
        screen = on.app.screen
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
                await on.pilot.pause(0)
                assert screen.detail.lines, screen.left.rows[index].key
        for key in ("d", "escape", "w", "escape", "a"):
            await on.pilot.press(key)
        findings = {finding_mark(root.path, finding) for root in expected.roots for finding in root.findings}
        assert findings
        assert {change.id for change in expected.changes} | findings == screen.loader.marks


async def test_an_error_of_opening_reaches_the_screen(running: Running, tmp_path: Path) -> None:
    request = ReviewRequest(partial(open_git, tmp_path / "nowhere"))
    async with running(LockLens(request), size=(100, 30)) as on:
        assert isinstance(on.app.screen, ReviewScreen)
        assert on.app.screen.error is not None
        await on.pilot.press("q")
    assert on.app.return_value == 2
