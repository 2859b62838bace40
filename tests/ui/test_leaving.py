"""q and ctrl+c: one rule. Both close what is open above a view; on a view, whichever it is, both quit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kit.effort import DIAGONAL
from textual.command import CommandPalette
from textual.widgets import Input
from ui.conftest import ServingSource

from locklens.errors import LockLensError
from locklens.operations.locklens import Reads
from locklens.ui.dialogs import TextDialog
from locklens.ui.dialogs.form import ExportDialog
from locklens.ui.preview import PreviewScreen
from locklens.ui.shell.two_panes import TwoPaneScreen

if TYPE_CHECKING:
    from ui.conftest import Running, Samples

BOTH = pytest.mark.parametrize("key", ["q", "ctrl+c"])


def serving(samples: Samples) -> ServingSource:
    views = (Reads.CANDIDATES, Reads.LOCKED)
    return ServingSource(samples.full(), others={view: ServingSource(samples.full()) for view in views})


@DIAGONAL
@BOTH
@pytest.mark.parametrize("tabs", [(), ("2",), ("3",), ("4",), ("4", "2", "1"), ("2", "3", "2")], ids=" ".join)
async def test_every_tab_is_left_at_once(samples: Samples, running: Running, key: str, tabs: tuple[str, ...]) -> None:
    async with running(serving(samples)) as on:
        for tab in tabs:
            await on.press(tab)
            await on.settle()
            assert len([one for one in on.app.screen_stack if isinstance(one, TwoPaneScreen)]) == 1
            assert "q ctrl+c quit" in on.lines[-1]
        await on.press(key)
    assert on.app.return_value == 0


@DIAGONAL
@BOTH
@pytest.mark.parametrize(
    ("opening", "dialog"), [("question_mark", TextDialog), ("d", TextDialog), ("F", PreviewScreen)], ids=["?", "d", "F"]
)
async def test_a_dialog_is_closed_first(
    samples: Samples, running: Running, key: str, opening: str, dialog: type[TextDialog]
) -> None:
    source = serving(samples)
    source.top = Path("/")
    async with running(source) as on:
        await on.press("j", opening)
        assert isinstance(on.app.screen, dialog)
        await on.press(key)
        assert on.is_on_top
        await on.press(key)
    assert on.app.return_value == 0


async def test_ctrl_c_closes_what_takes_letters(samples: Samples, running: Running) -> None:
    async with running(serving(samples)) as on:
        await on.press("slash", *"aws", "ctrl+c")
        assert not on.screen.query_one(Input).has_focus
        assert on.is_on_top
        await on.press("ctrl+p")
        assert isinstance(on.app.screen, CommandPalette)
        await on.press("ctrl+c")
        assert on.is_on_top
        on.screen.action_export("json")
        await on.pilot.pause()
        assert isinstance(on.app.screen, ExportDialog)
        await on.press("ctrl+c")
        assert on.is_on_top
        await on.press("ctrl+c")
    assert on.app.return_value == 0


@BOTH
async def test_a_detail_that_fills_the_terminal_is_closed_first(samples: Samples, running: Running, key: str) -> None:
    async with running(serving(samples), size=(80, 24)) as on:
        await on.press("j", "enter", key)
        assert on.changes.has_focus
        await on.press(key)
    assert on.app.return_value == 0


async def test_the_status_is_2_where_nothing_could_be_read(samples: Samples, running: Running) -> None:
    source = ServingSource(error=LockLensError("no"), others={Reads.LOCKED: ServingSource(error=LockLensError("no"))})
    async with running(source) as on:
        await on.press("4", "q")
    assert on.app.return_value == 2


async def test_an_error_that_nothing_foresaw_is_printed_without_values(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        password = "-".join(["correct", "horse"])
        raise RuntimeError(f"unforeseen, {len(password)} characters")

    async def press() -> None:
        async with running(serving(samples)) as on:
            monkeypatch.setattr(on.screen, "action_reload", fail)
            await on.press("r")

    with pytest.raises(RuntimeError):
        await press()
    printed = capsys.readouterr().err
    assert "unforeseen, 13 characters" in printed
    assert "in fail" in printed
    assert "correct-horse" not in printed


@pytest.mark.parametrize("part", TwoPaneScreen.PARTS)
async def test_a_screen_is_not_drawn_between_two_removals(samples: Samples, running: Running, part: str) -> None:
    async with running(serving(samples)) as on:
        await on.settle()
        screen = on.app.screen
        assert isinstance(screen, TwoPaneScreen)
        await screen.query(part).remove()
        screen.refresh_bars()
        screen.refresh_keys()
        assert not screen.is_open


@pytest.mark.parametrize("tab", ["1", "3", "4", "5"])
async def test_a_row_that_is_told_of_between_two_removals_shows_nothing(
    samples: Samples, running: Running, tab: str
) -> None:
    async with running(serving(samples)) as on:
        await on.press(tab)
        await on.settle()
        screen = on.app.screen
        assert isinstance(screen, TwoPaneScreen)
        await screen.detail.remove()
        screen.left.tell_highlighted()
        await on.pilot.pause()
        assert not screen.is_open
