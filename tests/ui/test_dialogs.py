"""Dialogs and the command palette: what they show, how they are searched, and that they close once."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from textual import events
from ui.conftest import until

from locklens.lines import line
from locklens.operations.write.seen_keys import SeenKey, SeenKeys
from locklens.policy import Pin
from locklens.trust import SigningKey
from locklens.ui.dialogs import TextDialog
from locklens.ui.dialogs.form import ExportDialog, trust_form
from locklens.ui.hashes import HASHES_KEYS
from locklens.ui.preview import PREVIEW_KEYS
from locklens.ui.review.frame import REVIEW_KEYS
from locklens.ui.shell.keys import key_commands
from locklens.ui.signers import SIGNERS_KEYS
from locklens.ui.upgrade.selecting import UPGRADE_KEYS

if TYPE_CHECKING:
    from ui.conftest import Running, Samples

    from locklens.ui.shell.keys import KeyTable


def typed(key: str) -> events.Key:
    """A key that does not wait for the one before, as typed fast or repeated."""
    return events.Key(key, None)


async def test_the_palette_runs_one_command_and_leaves_the_screen_below(samples: Samples, running: Running) -> None:
    """Enter twice closed the palette and the Review below it: an empty screen was left, where only ctrl+q worked."""
    async with running(samples.full()) as on:
        await on.press("colon", *"export as json")
        await on.settle()
        for _ in range(3):
            on.app.post_message(typed("enter"))
        await until(on, lambda: isinstance(on.app.screen, ExportDialog))
        await on.settle()
        assert [type(screen) for screen in on.app.screen_stack[1:]] == [type(on.screen), ExportDialog]
        await on.press("ctrl+p")
        assert isinstance(on.app.screen, ExportDialog), "a dialog has no palette"
        for _ in range(3):
            on.app.post_message(typed("escape"))
        await until(on, lambda: on.app.screen is on.screen)
        await on.settle()
        await on.press("question_mark")
        assert isinstance(on.app.screen, TextDialog)


async def test_a_form_of_many_keys_has_its_fields_and_keys_on_a_small_terminal(
    samples: Samples, running: Running
) -> None:
    keys = (
        SigningKey(digit * 40, (f"key {digit}",), "RSA 4096", "2024-01-01", None, False, False) for digit in "ABCDEF"
    )
    seen = SeenKeys(Pin("acme"), tuple(SeenKey(key.fingerprint, key, ("acme/demo 1.0.0",)) for key in keys), ())
    async with running(samples.full(), size=(80, 24)) as on:
        on.app.push_screen(trust_form(seen, date(2026, 5, 4)))
        await until(on, lambda: "review the pin on" in on.text)
        await on.settle()
        assert "enter next field, then preview" in on.text
        assert "esc cancel" in on.text
        assert "pgup pgdn page" in on.text
        assert "key A" in on.text
        assert "key F" not in on.text
        await on.press("pagedown", "pagedown")
        assert "key F" in on.text
        await on.press("enter")
        assert "type 8 digits" in on.text
        assert "enter next field, then preview" in on.text
        await on.pilot.resize_terminal(80, 50)
        await on.settle()
        assert "key A" in on.text
        assert "key F" in on.text
        assert "pgup pgdn" not in on.text


async def test_the_palette_finds_by_description(samples: Samples, running: Running) -> None:
    review = samples.full()
    named = frozenset((root.lock_file, change.address) for root in review.roots for change in root.changes)
    async with running(replace(review, stageable=named)) as on:
        await on.press("j", "space", "colon", *"git add")
        await until(on, lambda: "Stage marked changes" in on.text)
        assert "as git add -p would" in on.text


@pytest.mark.parametrize("table", [REVIEW_KEYS, UPGRADE_KEYS, HASHES_KEYS, SIGNERS_KEYS, PREVIEW_KEYS], ids=range(5))
def test_the_palettes_names_have_two_or_three_words(table: KeyTable) -> None:
    assert [one.name for one in key_commands(table) if len(one.name.split()) not in {2, 3}] == []


async def test_a_dialog_is_searched(samples: Samples, running: Running) -> None:
    async with running(samples.full(), size=(110, 20)) as on:
        await on.press("question_mark")
        dialog = on.app.screen
        assert isinstance(dialog, TextDialog)
        for words in ("esc q close", "j k move", "/ search", "n N next", "g G ends"):
            assert words in on.lines[-2], words
        assert "y copy" not in on.lines[-2], "no line of the help can be copied"
        await on.press("slash", *"LOCK")
        assert "match 1 of " in on.text
        await on.press("enter", "n")
        assert "match 2 of " in on.text
        assert "lock" in next(line for line in dialog.view.lines[dialog.view.found :]).text.casefold()
        await on.press("N", "N")
        number = sum("lock" in line.text.casefold() for line in dialog.view.lines)
        assert f"match {number} of {number}" in on.text
        await on.press("escape")
        assert isinstance(on.app.screen, TextDialog), "esc ends the search first"
        await on.press("slash", *"nowhere at all", "enter")
        assert 'no match of "nowhere at all"' in on.text
        await on.press("escape", "escape")
        assert not isinstance(on.app.screen, TextDialog)


async def test_a_dialog_is_as_wide_as_its_text(samples: Samples, running: Running) -> None:
    text = "x" * 100
    for width, expected in ((140, 105), (80, 80)):
        async with running(samples.full(), size=(width, 24)) as on:
            on.app.push_screen(TextDialog("Wide", [line(text)]))
            await on.settle()
            assert on.app.screen.query_one("#dialog").size.width + 2 == expected
            await on.press("escape")
            on.app.push_screen(TextDialog("High", [line("row")] * 100))
            await on.settle()
            assert on.app.screen.query_one("#dialog-lines").size.height == 20
