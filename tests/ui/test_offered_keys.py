"""Each key that a dialog offers does something there: on each of its lines, in its field and at each of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kit.effort import effort, some
from textual.widgets import Input
from ui.conftest import Driver, until
from ui.test_filters_everywhere import demo as sample
from ui.test_filters_everywhere import shown
from ui.test_inside import demo, opened

from locklens.lines import FilePlace, Role, line
from locklens.operations.write.resolve import Clash
from locklens.operations.write.undo import AppliedWrite
from locklens.project.git.listings import Revision
from locklens.storage.journal import Record
from locklens.ui.dialogs import TextDialog
from locklens.ui.dialogs.choices import ClashesDialog, CopyChoice, CopyDialog, SidesDialog, WritesDialog
from locklens.ui.why import InsideDialog, WhyDialog
from locklens.ui.widgets import Bar
from locklens.ui.widgets.line_view import LineView
from locklens.versions import Version

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container
    from pathlib import Path

    from ui.conftest import Running, Samples

    from locklens.ui.dialogs import Dialog

__all__ = ["sample"]

_NAMES = {"esc": "escape", "/": "slash", "?": "question_mark", "pgup": "pageup", "pgdn": "pagedown"}
_PAIRS = {"j k", "g G", "pgup pgdn", "n N"}
"""Moves: at an end of the lines one of the two does something."""


def offered(dialog: Any) -> list[str]:
    """The labels of the key line, whatever the width."""
    widest = dialog.query_one("#dialog-keys", Bar).layouts[0]
    return [piece.text for piece in widest.left if piece.role is Role.INFO]


def state(on: Driver, opening: list[object]) -> tuple[object, ...]:
    """All that a key may change, without the message that says why it does nothing."""
    dialog = on.app.screen
    views = [
        (view.cursor, view.scroll_offset, view.found, view.lines)
        for view in dialog.query("#dialog-lines").results(LineView)
    ]
    titles = [repr(bar.layouts) for bar in dialog.query("#dialog-title").results(Bar)]
    values = [each.value for each in dialog.query(Input)]
    return dialog, on.app.focused, views, titles, values, on.app.clipboard, *opening


async def press_each(
    on: Driver, reopen: Callable[[], Awaitable[object]], *before: str, acted: list[object], only: Container[str] = ()
) -> set[str]:
    """Press each offered key, or some, after `before` in a dialog that was just opened; return the labels."""
    await reopen()
    await on.press(*before)
    labels = offered(on.app.screen)
    for label in (one for one in labels if not only or one in only):
        did = {}
        for key in label.split():
            await reopen()
            await on.press(*before)
            on.app.copy_to_clipboard("")
            earlier = state(on, acted)
            await on.press(_NAMES.get(key, key))
            did[key] = state(on, acted) != earlier
        assert (any if label in _PAIRS else all)(did.values()), f"{label} after {before}: {did}"
    return set(labels)


def write(number: int, message: str) -> AppliedWrite:
    record = Record(f"{number}", b"", (), "command", "2026-05-04T10:00:00", (), message=message)
    return AppliedWrite(record, ("a",), False)


def clash(name: str, newest: str = "") -> Clash:
    newer = Version.parse(newest) if newest else None
    return Clash("live", name, "why", ("ours", "1"), ("theirs", "2"), newer, "" if newest else "not the same")


def sides(*names: str) -> SidesDialog:
    dialog = SidesDialog(lambda *_: None)
    dialog.know([Revision("branch", name, "2026-05-04", "subject") for name in names])
    return dialog


def text_of(*lines: str, last: str = "") -> TextDialog:
    own = (line(text, copied=text if text.startswith("copied") else "") for text in lines)
    return TextDialog("Title", [*own, line(last, place=FilePlace("a", 1))] if last else own)


MANY = tuple(f"copied {number}" for number in range(60))
DIALOGS: dict[str, tuple[Callable[[], Dialog[Any]], set[str]]] = {
    "one text to copy": (lambda: CopyDialog([CopyChoice("row", "text")]), {"enter", "esc"}),
    "two texts": (lambda: CopyDialog([CopyChoice("row", "a"), CopyChoice("row", "b")]), {"enter", "j k", "esc"}),
    "a write": (lambda: WritesDialog([write(1, "")]), {"enter", "esc"}),
    "writes": (lambda: WritesDialog([write(1, "message"), write(2, "")]), {"enter", "esc", "j k", "y"}),
    "a clash": (lambda: ClashesDialog([clash("a/b")]), {"o", "t", "esc"}),
    "clashes": (lambda: ClashesDialog([clash("a/b", "2"), clash("a/c")]), {"n", "o", "t", "O T", "j k", "esc"}),
    "sides": (lambda: sides("main", "other"), {"enter", "j k", "/", "m", "esc"}),
    "a line": (lambda: text_of("plain"), {"esc q", "/", "n N"}),
    "a line to copy": (lambda: text_of("copied"), {"esc q", "/", "n N", "y"}),
    "lines": (lambda: text_of("copied", last="plain"), {"esc q", "j k", "/", "n N", "y", "g G"}),
    "many lines": (lambda: text_of(*MANY), {"esc q", "j k", "/", "n N", "y", "g G", "pgup pgdn"}),
}


SEARCHED = effort({"sides", "lines"}, DIALOGS.keys())
"""The dialogs whose every step of a search is looked at: in a sample, one of each class that has a search."""


@pytest.mark.parametrize("name", DIALOGS)
async def test_each_key_of_a_dialog_acts(name: str, samples: Samples, running: Running) -> None:
    make, keys = DIALOGS[name]
    acted = list[object]()
    async with running(samples.review(samples.root())) as on:  # what is below a dialog is painted and laid out with it

        async def reopen() -> None:
            while not on.is_on_top:
                on.app.screen.dismiss(None)
                await on.pilot.pause()
            on.app.push_screen(make())
            await on.pilot.pause()

        assert await press_each(on, reopen, acted=acted) == keys
        if "j k" in keys:
            for line_reached in some("Gj", 2):
                await press_each(on, reopen, line_reached, acted=acted)
        if "/" in keys and name in SEARCHED:
            assert await press_each(on, reopen, "slash", acted=acted) == {"enter", "esc"}
            assert await press_each(on, reopen, "slash", *"a", acted=acted) == {"enter", "esc"}
            await press_each(on, reopen, "slash", *"zzz", "enter", acted=acted)
            await press_each(on, reopen, "slash", *"a", "enter", acted=acted)


async def test_each_key_of_why_acts(sample: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    screen: Any = await shown(sample, "1")
    acted = list[object]()

    def act(*what: object) -> str:
        acted.append(what)
        return ""

    async def reopen() -> None:
        while sample.app.screen is not screen:
            sample.app.screen.dismiss(None)
            await sample.pilot.pause()
        await sample.press("w")
        dialog: Any = sample.app.screen
        assert isinstance(dialog, WhyDialog)
        await until(sample, lambda: not dialog._job.is_running)

    monkeypatch.setattr(screen, "open_editor", act)
    start = WhyDialog._look_up

    def look_up(dialog: WhyDialog, *, is_fresh: bool) -> None:
        acted.extend([is_fresh] * is_fresh)
        start(dialog, is_fresh=is_fresh)

    monkeypatch.setattr(WhyDialog, "_look_up", look_up)
    for provider in ("vault",):
        await sample.press("slash", *provider, "enter", "j")
        found = set[str]()
        await reopen()
        stops: Any = sample.app.screen.query_one("#dialog-lines", LineView)._stops()
        for number in range(len(stops)):
            found |= await press_each(sample, reopen, *"j" * number, acted=acted, only={"y", "e"} if number else ())
        await press_each(sample, reopen, "slash", *"require", "enter", acted=acted)
        assert {"esc q w", "/", "n N", "y", "e", "r", "?"} <= found
        while sample.app.screen is not screen:
            sample.app.screen.dismiss(None)
            await sample.pilot.pause()
        await sample.press("escape")


async def test_each_key_of_inside_acts(tmp_path: Path) -> None:
    async with demo(tmp_path) as on:
        review = on.app.screen
        await on.press("slash", *"acme/demo", "enter", "n")

        async def asked() -> None:
            while on.app.screen is not review:
                on.app.screen.dismiss(None)
                await on.pilot.pause()
            await opened(on, "z")

        assert await press_each(on, asked, acted=[]) == {"enter", "esc"}
        await asked()
        if "To download" in on.inside:
            await on.press("enter")
        await until(on, lambda: "TOOLCHAIN" in on.inside, seconds=30)
        assert isinstance(on.app.screen, InsideDialog)
        labels = {"esc q", "a", "y", "j k", "/", "n N", "g G"}  # all lines are in sight
        assert await press_each(on, asked, acted=[]) == labels
