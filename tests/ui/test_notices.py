"""Notices: once in a run, on one screen, and never above a dialog or the key line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.widgets._toast import Toast
from ui.conftest import ServingSource, until

from locklens.operations.locklens import Reads

if TYPE_CHECKING:
    from pathlib import Path

    from ui.conftest import Driver, Running, Samples

NOTE = "locklens.toml in the work tree is ignored"


def toasts(on: Driver) -> list[Toast]:
    return [one for one in on.app.screen.query(Toast) if one.display and one.region.area]


async def test_a_note_is_shown_once_in_a_run(samples: Samples, running: Running, tmp_path: Path) -> None:
    review = replace(samples.full(), limits=(NOTE,))
    others = {reads: ServingSource(review, top=tmp_path) for reads in Reads}
    source = ServingSource(review, top=tmp_path, others=others)
    async with running(source) as on:
        assert [one._notification.message for one in toasts(on)] == [NOTE]
        (toast,) = toasts(on)
        assert toast.region.y >= on.app.screen.query_one("#keys").region.bottom, "it covers neither rows nor keys"
        for key in ("3", "4", "1"):
            await on.press(key)
            await on.settle()
            assert toasts(on) == [], f"again on {key}"


async def test_a_note_that_is_no_longer_so_goes_from_the_screen(
    samples: Samples, running: Running, tmp_path: Path
) -> None:
    policy = tmp_path / "locklens.toml"
    source = ServingSource(replace(samples.full(), limits=(NOTE,)), files=(policy,), top=tmp_path)
    async with running(source) as on:
        assert [one._notification.message for one in toasts(on)] == [NOTE]
        source.served = samples.full()
        policy.write_text("")
        await until(on, lambda: "locklens.toml changed on disk, reloaded" in on.text)
        assert [one.message for one in on.app._notifications] == []


async def test_a_notice_leaves_the_highlighted_row_in_sight(samples: Samples, running: Running) -> None:
    async with running(samples.full(), size=(80, 14)) as on:
        await on.press("G")
        on.screen.show_notes([f"{NOTE}, " * 6])
        await on.settle()
        (toast,) = toasts(on)
        assert toast.region.height > 1
        assert toast.region.bottom == 14
        assert any(text.startswith(">") for text in on.lines), on.text


async def test_no_notice_lies_above_a_dialog(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("question_mark")
        on.screen.show_notes([NOTE])
        await on.settle()
        assert toasts(on) == []
        assert NOTE not in on.text
        await on.press("escape")
        await on.settle()
        assert [one._notification.message for one in toasts(on)] == [NOTE], "it waited for the end of the dialog"
        await on.press("question_mark")
        assert toasts(on) == []
