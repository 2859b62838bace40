"""How reviews arrive: in steps, after failures, and again when files change."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from ui.conftest import Driver, ServingSource, until

from locklens.errors import LockLensError, RepositoryError
from locklens.operations.review.request import Progress
from locklens.project.folders import FileWatch
from locklens.review.model import LockStatus
from locklens.ui.app import LockLensApp
from locklens.ui.shell import review_loader
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from ui.conftest import Running, Samples

    from locklens.operations.review.request import ReviewEvent


async def test_the_draft_is_shown_while_configurations_are_read(samples: Samples, running: Running) -> None:
    gate = threading.Event()
    async with running(ServingSource(samples.full(), gate=gate), settled=False) as on:
        await until(on, lambda: "reading configurations: 1 of 14 roots" in on.text)
        await until(on, lambda: "acme/demo" in on.text)
        await on.press("G")
        key = on.current.key
        gate.set()
        await on.settle()
        assert "reading configuration" not in on.text
        assert on.current.key == key
        assert on.screen.review == samples.full()


async def test_steps_that_come_faster_than_they_are_drawn_are_drawn_together(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(samples.full()) as on:
        drawn = list[int]()
        monkeypatch.setattr(
            on.screen, "refresh_notice", lambda: drawn.append(on.screen.progress.done if on.screen.progress else 0)
        )
        for number in range(1, 101):
            on.screen.loader.progress = Progress("lock files", number, 100)
            on.screen.loader.post_message(review_loader.ReviewLoader.Progressed())
        await on.pilot.pause()
        assert len(drawn) < 10
        assert drawn[-1] == 100


async def test_the_first_load_counts_the_lock_files(samples: Samples, running: Running) -> None:
    gate = threading.Event()

    def opening(on_event: Callable[[ReviewEvent], None]) -> None:
        on_event(Progress("lock files", 300, 10_000))
        assert gate.wait(60)

    async with running(ServingSource(samples.full(), opening=opening), settled=False) as on:
        await until(on, lambda: on.text.count("eading lock files: 300 of 10000 roots") == 2)  # The body and the status.
        gate.set()
        await on.settle()
        assert "eading lock files" not in on.text


async def test_quitting_does_not_wait_for_the_reading(samples: Samples, running: Running) -> None:
    source = ServingSource(samples.full(), gate=threading.Event())
    async with running(source, settled=False) as on:
        await until(on, lambda: bool(source.opened))
        await on.press("q")
    assert on.app.return_value == 0
    await asyncio.to_thread(source.opened[0].closed.wait, 120)
    assert source.opened[0].closed.is_set()


async def test_nothing_is_said_to_pass_where_a_configuration_is_not_read(samples: Samples, running: Running) -> None:
    root = samples.root("a", status=LockStatus.UNCHANGED, configuration=samples.configuration(missing=("vpc",)))
    async with running(replace(samples.review(root), lock_files=1)) as on:
        assert "CI would pass" not in on.text
        assert "no findings" not in on.text
        assert not any(" ok " in line for line in on.lines[2:])
        assert "?     =  unknown: module vpc is not fetched" in on.text
        assert "1 configuration not read whole" in on.lines[-2]
        await on.press("s", "b", "b")
        assert "?     =  a: unknown: module vpc is not fetched" in on.text


async def test_nothing_changed(samples: Samples, running: Running) -> None:
    review = samples.review(
        samples.root("a", status=LockStatus.UNCHANGED), samples.root("b", status=LockStatus.UNCHANGED)
    )
    async with running(review) as on:
        assert "No lock file here" in on.text
    async with running(replace(review, lock_files=2)) as on:
        assert "No lock file changed between HEAD@3f9c1e2 and the work tree." in on.text
        assert "2 lock files compared, no findings" in on.text
        assert "restricted" not in on.text
        assert "unchanged" not in on.text, "a configuration may have changed without a consequence for a lock file"
        assert "CI would pass" in on.text
        await on.press("space")
        assert "only changes and findings can be marked as reviewed" in on.text
        for key in ("j", "n", "d", "y", "o", "e", "w", "x", "right_square_bracket", "enter", "tab", "b", "a"):
            await on.press(key)
        await on.press("q")
        assert on.app.return_value == 0


async def test_nothing_changed_in_the_roots_that_a_run_is_restricted_to(samples: Samples, running: Running) -> None:
    async with running(replace(samples.review(), lock_files=31, left_out=15)) as on:
        assert "No lock file of the named roots changed between HEAD@3f9c1e2 and the work tree." in on.text
        assert "16 of 31 lock files compared, no findings; the run is restricted to the named roots." in on.text
    async with running(replace(samples.full(), lock_files=31, left_out=15), size=(200, 60)) as on:
        assert "lock files compared" in on.text
        assert "16 of 31 lock files" in on.text


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
async def test_a_restricted_run_says_so_at_every_size(
    samples: Samples, running: Running, size: tuple[int, int]
) -> None:
    for review in (samples.full(), samples.review()):
        for left_out in (15, 0):
            async with running(replace(review, lock_files=31, left_out=left_out), size=size) as on:
                assert ("only 16 of 31 lock files" in on.text) == bool(left_out)


async def test_an_error_is_shown_with_its_hint_and_can_be_tried_again(samples: Samples, running: Running) -> None:
    source = ServingSource(
        error=RepositoryError("/x is not in a git repository", hint="name two files with --old and --new")
    )
    async with running(source) as on:
        assert "/x is not in a git repository" in on.text
        assert "name two files with --old and --new" in on.text
        for key in ("j", "space", "n", "slash", "escape", "d", "tab"):
            await on.press(key)
        source.error, source.served = None, samples.full()
        await on.press("r")
        await on.settle()
        assert "infra/prod/network" in on.text
        assert on.changes.has_focus


async def test_quitting_after_an_error_is_status_2(running: Running) -> None:
    async with running(ServingSource(error=LockLensError("no"))) as on:
        await on.press("q")
        assert on.app.return_value == 2


async def test_a_reload_that_fails_keeps_what_is_shown(samples: Samples, running: Running) -> None:
    source = ServingSource(samples.full())
    async with running(source) as on:
        source.error = LockLensError("git went away")
        await on.press("r")
        await on.settle()
        assert "reload failed: git went away" in on.text
        assert "infra/prod/network" in on.text
        source.error = None
        await on.press("r")
        await on.settle()
        assert "reload failed" not in on.text


async def test_a_change_on_disk_reloads_and_keeps_cursor_folds_and_filter(
    samples: Samples, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[tuple[str, ...]] = []
    poll = FileWatch.poll

    def counted(watch: FileWatch) -> tuple[str, ...]:
        looks.append(poll(watch))
        return looks[-1]

    monkeypatch.setattr(FileWatch, "poll", counted)
    monkeypatch.setattr(review_loader, "LOOK_SECONDS", 0.05)
    file = tmp_path / "infra/prod/network/main.tf"
    file.parent.mkdir(parents=True)
    file.write_text("1")
    source = ServingSource(samples.full(), files=(file,), top=tmp_path)
    async with running(source) as on:
        await on.press("slash", *"infra", "enter", "j", "j", "right_square_bracket", "h")
        key, turned = on.current.key, on.screen.turned
        assert turned
        more = samples.root("infra/new", [samples.change("acme/late")])
        source.served = replace(samples.full(), roots=(*samples.full().roots, more))
        file.write_text("22")
        await until(on, lambda: "acme/late" in on.text)
        assert (on.current.key, on.screen.turned, on.screen.narrowed.text) == (key, turned, "infra")
        await until(on, lambda: "infra/prod/network/main.tf changed on disk," in on.text)
        await until(on, lambda: not on.screen.is_asking)
        count, looked = len(source.opened), len(looks)
        await until(on, lambda: len(looks) >= looked + 3)
        await on.pilot.pause()
        assert not any(looks[looked + 1 :])
        assert len(source.opened) == count


async def test_marks_are_kept_between_runs_by_change(samples: Samples, running: Running) -> None:
    for keys, expected in ((("j", "space"), 0), ((), 1), (("a",), 1), ((), 21)):
        async with running(samples.full()) as on:
            assert f"{expected} of 21" in on.text
            await on.press(*keys)
            await on.press("q")


async def test_a_store_that_cannot_be_used_is_said_once_and_marks_still_work(samples: Samples, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    app = LockLensApp(ServingSource(samples.full()), store_path=tmp_path / "file" / "store.sqlite3")
    async with app.run_test(size=(120, 40)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("j", "space")
        await until(Driver(app, pilot), lambda: any("this run only" in note.message for note in app._notifications))
        detail = app.screen.query_one("#facts", LineView)
        assert "1 of 18" in "".join(line.text for line in detail.lines)
