"""Each key of the review screen, by what it does."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections import defaultdict, deque
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from textual import events
from textual.command import CommandPalette
from textual.widgets import Input, Label
from ui.conftest import ServingSource, until

from locklens.operations.locklens import Reads
from locklens.operations.reports import REPORTS, Report, formats_of
from locklens.operations.write import root_upgrade
from locklens.review.findings import Severity
from locklens.review.rules import catalogue
from locklens.review.rules.catalogue import RULES
from locklens.storage import preferences
from locklens.trust import Signer, SigningKey, Tier
from locklens.ui.clipboard import copied_line
from locklens.ui.dialogs import TextDialog
from locklens.ui.dialogs.choices import CopyDialog
from locklens.ui.dialogs.form import ExportDialog
from locklens.ui.doctor import DoctorScreen
from locklens.ui.health import HealthScreen
from locklens.ui.health.rows import HealthGrouping, HealthSort
from locklens.ui.preview import PreviewScreen
from locklens.ui.review import ReviewScreen
from locklens.ui.review.frame import REVIEW_KEYS
from locklens.ui.review.outline import Grouping, NodeKind, Sort
from locklens.ui.shell.bars import demo_banner
from locklens.ui.shell.keys import KeyTable
from locklens.ui.shell.screen import LockLensScreen
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.upgrade.rows import By
from locklens.ui.views import VIEWS
from locklens.ui.widgets import Bar, BarLayout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ui.conftest import Driver, Running, Samples


async def test_the_first_screen(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        assert "review  HEAD@3f9c1e2 -> work tree" in on.lines[0]
        assert "14 roots  18 changes  3 BLOCK  2 WARN  2 INFO" in on.lines[0]
        assert "[1 Review]" in on.lines[1]
        assert "6 Doctor" in on.lines[1]
        assert "infra/prod/network" in on.lines[2]
        assert "CI would fail: 3 blocking findings | 0 of 21 reviewed" in on.lines[-2]
        assert "? keys" in on.lines[-1]
        await until(on, lambda: "64 of 64 added" in on.text)


async def test_moving(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        for keys, cursor in (
            ("j", 1),
            ("down", 2),
            ("k", 1),
            ("up", 0),
            ("up", 0),
            ("G", len(on.changes.rows) - 1),
            ("g", 0),
            ("end", len(on.changes.rows) - 1),
            ("home", 0),
        ):
            await on.press(keys)
            assert on.changes.cursor == cursor, keys
        await on.press("pagedown")
        assert on.changes.cursor > 10
        await on.press("pageup")
        assert on.changes.cursor == 0


async def test_moving_shows_the_detail(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j")
        assert "registry.terraform.io/acme/demo" in on.text
        assert "every package hash" in on.text
        await on.press("j")
        assert "Downgrade from 4.0.0 to 3.9.0." in on.text


async def test_folding(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        count = len(on.changes.rows)
        await on.press("h")
        assert on.current.folded is True
        assert len(on.changes.rows) == count - 4
        await on.press("h", "l")
        assert len(on.changes.rows) == count
        await on.press("j", "j", "h")
        assert on.current.node.title == "infra/prod/network"
        await on.go_to("hashicorp/random")
        await on.press("right")
        assert len(on.changes.rows) == count + 8
        await on.press("j")
        assert on.current.node.key.startswith("member:")
        await on.press("left", "left")
        assert on.current.node.key.startswith("group:")
        assert len(on.changes.rows) == count


async def stops(on: Driver, key: str, times: int) -> list[str]:
    """The rows that a key goes to."""
    found = []
    for _ in range(times):
        await on.press(key)
        found.append(on.current.node.title)
    return found


async def test_findings_go_round_and_unfold(samples: Samples, running: Running) -> None:
    """Infos (hashicorp/azurerm, LK018) are passed over."""
    async with running(samples.full()) as on:
        findings = ["acme/demo", "acme/netbox", "LK006", "LK019", "hashicorp/aws"]
        assert await stops(on, "n", 6) == [*findings, "acme/demo"]
        assert await stops(on, "N", 1) == ["hashicorp/aws"]
        await on.press("g", "h", "n")
        assert on.current.node.title == "acme/demo"
    async with running(samples.review(samples.root("r", [samples.change()]))) as on:
        await on.press("n")
        assert "no unreviewed warning or block in the rows shown" in on.text


async def test_at_the_first_and_the_last_section_the_keys_say_so(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("g", "left_square_bracket")
        assert "no section above" in on.lines[-2]
        await on.press("G", "right_square_bracket")
        assert "no section below" in on.lines[-2]


async def test_reviewed_findings_are_passed_over(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("n", "space", "n", "n", "space")
        assert on.current.node.title == "LK006"
        assert await stops(on, "n", 3) == ["LK019", "hashicorp/aws", "acme/netbox"]
        await on.go_to("LK019")
        await on.press("space")  # which is all there is to say of the conflict's entries
        assert await stops(on, "n", 2) == ["acme/netbox", "acme/netbox"]
        assert "no other unreviewed warning or block in the rows shown" in on.text
        await on.press("space", "n")
        assert "no unreviewed warning or block in the rows shown" in on.text


async def test_the_next_unreviewed_row_is_of_any_severity(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        shown = [node.title for section in on.screen._outline for node in section.children if node.mark_ids]
        assert {"LK018", "hashicorp/null"} < set(shown)
        assert await stops(on, "u", len(shown) + 1) == [*shown, shown[0]]
        await on.go_to("LK018")
        await on.press("space", "g")
        assert await stops(on, "u", len(shown) - 1) == [title for title in shown if title != "LK018"]
        await on.press("a", "u")
        assert "no unreviewed row is shown" in on.text


async def test_roots(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("right_square_bracket")
        assert on.current.node.title == "infra/dns"
        await on.press("right_square_bracket")
        assert on.current.node.title == "infra/edge"
        await on.press("j", "left_square_bracket")
        assert on.current.node.title == "infra/edge"
        await on.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert on.changes.cursor == 0


async def test_panes(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j", "tab")
        assert on.detail.has_focus
        await on.press("tab")
        assert on.changes.has_focus
        await on.press("enter")
        assert on.detail.has_focus
        before = on.detail.cursor
        await on.press("j", "j")
        assert on.detail.cursor > before
        await on.press("G")
        assert on.detail.cursor > before
        await on.press("g")
        assert on.detail.cursor == before
        await on.press("escape")
        assert on.changes.has_focus
        await on.press("enter", "l")
        assert "l does nothing in the detail; tab goes to the list, ? lists the keys" in on.lines[-2]
        await on.press("h")
        assert on.changes.has_focus


async def test_a_terminal_that_becomes_narrow_shows_the_pane_that_has_the_focus(
    samples: Samples, running: Running
) -> None:
    async with running(samples.full(), size=(140, 30)) as on:
        for is_detail in (True, False):
            await on.press("tab")
            assert on.changes.is_on_screen
            assert on.detail.is_on_screen
            await on.resize((80, 24))
            assert (on.changes.is_on_screen, on.detail.is_on_screen) == (not is_detail, is_detail)
            await on.resize((140, 30))


async def test_enter_unfolds_a_section_that_is_no_root(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.go_to("in several roots")
        await on.press("enter")
        assert on.changes.has_focus
        assert on.current.folded is True


async def test_marking(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j", "space")
        assert "1 of 18" in on.text
        assert "marked 1 change as reviewed" in on.text
        assert "✓ BLOCK !! acme/demo" in on.text
        await on.press("space")
        assert on.screen.loader.marks == frozenset()
        await on.go_to("hashicorp/random")
        await on.press("space")
        assert "marked this change in 8 roots as reviewed" in on.text
        await on.go_to("LK006")
        await on.press("space")
        assert "marked 1 finding as reviewed" in on.text
        assert "✓ BLOCK ? LK006" in " ".join(on.text.split())
        assert "changes reviewed           8 of 18" in on.text
        assert "other findings reviewed    1 of 3" in on.text
        await on.go_to("hashicorp/aws")
        await on.press("g", "space")
        assert "4/4" in on.lines[3]


async def test_marking_all_that_is_shown(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("slash", *"kind:upgrade", "enter", "a")
        assert "marked 13 changes" in on.text
        await on.press("escape")
        assert "13 of 18" in on.text
        assert "0 of 3" in on.text
        await on.press("a")
        assert "marked 5 changes and 3 findings as reviewed" in on.text
        assert "18 of 18" in on.text
        assert "3 of 3" in on.text


async def test_unmarking_all_can_be_taken_back(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j", "space", "a")
        everything = on.screen.loader.marks
        await on.press("a")
        assert "unmarked 18 changes (10 distinct) and 3 findings; Z marks them again" in on.text
        assert on.screen.loader.marks == frozenset()
        await on.press("j", "Z")
        assert "marked 18 changes (10 distinct) and 3 findings again" in on.text
        assert on.screen.loader.marks == everything
        assert on.is_on_top
        await on.press("Z")
        assert "nothing to undo here" in on.text
        await on.press("a", "j", "space", "Z")  # a later mark: what was unmarked before it is settled
        assert "nothing to undo here" in on.text


async def test_unmarking_a_row_can_be_taken_back(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j", "space")
        marks = on.screen.loader.marks
        assert len(marks) == 1
        await on.press("space")
        assert "; Z marks it again" in on.text
        assert on.screen.loader.marks == frozenset()
        await on.press("Z")
        assert on.screen.loader.marks == marks
        assert on.is_on_top


async def test_filtering(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("slash")
        field = on.screen.query_one("#filter", Input)
        assert field.has_focus
        assert "sev>=warn  kind:upgrade  root:prod" in on.text
        await on.press(*"sev>=warn")
        assert on.titles == [
            "infra/prod/network",
            "acme/demo",
            "acme/netbox",
            "infra/dns",
            "LK006",
            "infra/edge",
            "LK019",
            "hashicorp/aws",
        ]
        await on.press("enter")
        assert on.changes.has_focus
        assert on.screen.query_one("#filter-line").display
        assert "filtered" in on.lines[-2]
        await on.press("escape")
        assert not on.screen.query_one("#filter-line").display
        assert len(on.changes.rows) > 15
        await on.press("slash", *"sev>=wa")
        assert "sev is block, warn, info or ok, not 'wa'" in on.text
        await on.press("escape")
        await on.press("slash", *"nothing has this")
        assert "Nothing matches the filter." in on.text
        assert "nothing has this" in on.text
        await on.press("escape")
        assert on.changes.has_focus
        assert "Nothing matches" not in on.text


async def test_while_a_filter_is_typed_only_keys_that_are_no_text_are_offered(
    samples: Samples, running: Running
) -> None:
    async with running(samples.full()) as on:
        for keys in (("slash",), tuple("acme")):
            await on.press(*keys)
            assert on.lines[-1].split() == ["enter", "keep", "filter", "esc", "clear", "filter"]
        await on.press("enter")
        assert "? keys" in on.lines[-1]
        await on.press("slash", "escape")
        assert "? keys" in on.lines[-1]


@pytest.mark.parametrize(
    ("keys", "text", "focused", "cursor"),
    [
        (("slash", *"acme", "enter", "g", "j", "j"), "acme", "review", 2),
        (("slash", *"aws"), "aws", "filter", 1),
        (("slash", *"aws", "escape", "G", "k"), "", "review", 2),
        (("j", "j", "tab", "j", "j", "escape", "j"), "", "review", 3),
    ],
)
async def test_keys_that_arrive_at_once_each_find_the_focus_as_the_one_before_left_it(
    samples: Samples, running: Running, keys: tuple[str, ...], text: str, focused: str, cursor: int
) -> None:
    """As those of a paste, of a macro, and on a slow connection do."""
    rows = [samples.change("acme/demo"), samples.change("acme/other"), samples.change("hashicorp/aws")]
    async with running(samples.review(samples.root("infra", rows))) as on:
        for key in keys:
            on.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await on.settle()
        assert on.screen.query_one("#filter", Input).value == text
        assert on.app.focused is not None
        assert (on.app.focused.id, on.changes.cursor) == (focused, cursor)


@pytest.mark.parametrize("view", ["2", "3", "4", "5"])
async def test_keys_that_arrive_with_the_key_of_another_view_are_for_that_view(
    samples: Samples, running: Running, view: str
) -> None:
    review = samples.review(samples.root("infra", [samples.change("hashicorp/vault")]))
    source = ServingSource(review)
    source.others = {reads: ServingSource(review) for reads in Reads}
    async with running(source) as on:
        for is_open in (False, True):
            for key in (view, "slash", *"vault"):
                on.app.post_message(events.Key(key, key if len(key) == 1 else None))
            await on.settle()
            assert not on.is_on_top
            assert on.app.screen.query_one("#filter", Input).value == "vault", f"opened before: {is_open}"
            await on.press("escape", "1")
            assert on.is_on_top
            assert not on.screen.query_one("#filter", Input).value


async def test_a_paste_that_nothing_takes_is_answered(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        for key in ("g", "l"):  # the list, the detail
            await on.press(key)
            on.app.post_message(events.Paste("2/vault"))
            await on.settle()
            assert "pasted text does nothing on this screen; press / before it, for the filter" in on.lines[-2]
        await on.press("slash")
        on.app.post_message(events.Paste("netbox"))
        await on.settle()
        assert on.screen.query_one("#filter", Input).value == "netbox"
        assert "pasted text" not in on.text
        await on.press("escape", "6")
        on.app.post_message(events.Paste("Error: nothing that is known\n"))
        await on.settle()
        assert "pasted text" not in on.text


async def test_keys_of_a_dialog_may_arrive_with_the_key_that_opens_it(samples: Samples, running: Running) -> None:
    rows = [samples.change("acme/demo"), samples.change("acme/other"), samples.change("hashicorp/aws")]
    async with running(samples.review(samples.root("infra", rows))) as on:
        for key in ("question_mark", "slash", *"fold", "enter", "n", "escape", "escape", "G"):
            on.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await on.settle()
        assert on.is_on_top
        assert on.changes.cursor == 3


@pytest.mark.parametrize(("typed", "is_answered"), [("", False), ("no-such.log", True)])
async def test_enter_that_arrives_with_the_key_of_a_dialog_counts_after_text_for_it(
    samples: Samples, running: Running, typed: str, is_answered: bool
) -> None:
    async with running(samples.full()) as on:
        await on.press("6")
        for key in ("f", *typed, "enter"):
            on.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await on.settle()
        said = on.app.screen.query_one("#dialog-status", Bar)
        assert said.display is is_answered


@pytest.mark.parametrize("width", [80, 100, 140])
async def test_the_key_line_has_the_keys_that_do_something_on_the_row(
    samples: Samples, running: Running, width: int
) -> None:
    async with running(samples.full(), size=(width, 30)) as on:
        in_conflict = [row for row in on.changes.rows if row.node.in_conflict]
        assert [row.node.kind for row in in_conflict] == [NodeKind.SECTION, NodeKind.FINDING, NodeKind.CONFLICT]
        for row in in_conflict:
            on.changes.cursor = on.changes.rows.index(row)
            await on.pilot.pause()
            assert " M merge " in on.lines[-1]
            others = "z inside", "v verify", "L lock", "A accept", "P prune"
            assert not any(f" {key} " in on.lines[-1] for key in others)
        await on.go_to("acme/netbox")
        assert "M merge" not in on.lines[-1]
        assert width == 80 or "z inside" in on.lines[-1]


async def test_the_key_line_is_found_once_for_all_that_changes_before_it_is_painted(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(samples.full()) as on:
        found, key_line = list[int](), on.screen._keys_now

        def keys_now() -> tuple[BarLayout, ...]:
            found.append(on.changes.cursor)
            return key_line()

        monkeypatch.setattr(on.screen, "_keys_now", keys_now)
        for cursor in (3, 2, 1):
            on.changes.cursor = cursor
            on.screen.refresh_bars()
        assert not found
        for _ in range(2):
            assert " ? keys " in on.lines[-1]
        assert found == [1]


async def test_an_orphan_shows_the_key_that_prunes_it(samples: Samples, running: Running) -> None:
    orphan = samples.change("acme/orphan", findings=(samples.finding("LK007", Severity.WARN),))
    perhaps = samples.change("acme/perhaps", findings=(samples.finding("LK007", Severity.INFO),))
    async with running(samples.review(samples.root("a", [orphan, perhaps])), size=(80, 24)) as on:
        await on.go_to("acme/orphan")
        assert " P prune " in on.lines[-1]
        await on.go_to("acme/perhaps")
        assert " P prune " not in on.lines[-1]
    required = samples.review(samples.root("a", [perhaps, samples.change("acme/required")]))
    async with running(required, size=(200, 30)) as on:
        await on.go_to("acme/required")
        assert " P prune " not in on.lines[-1], "nothing in this root can be pruned"


async def test_the_key_to_the_next_row_is_shown_where_there_is_one(samples: Samples, running: Running) -> None:
    warned = samples.change("acme/one", findings=(samples.finding("LK004", Severity.WARN),))
    async with running(samples.review(samples.root("a", [warned, samples.change("acme/two")])), size=(200, 30)) as on:
        for title, other in (("acme/one", "acme/two"), ("acme/two", "acme/one")):
            await on.go_to(title)
            assert ("n next finding" in on.lines[-1]) is (title == "acme/two")
            assert " u unreviewed " in on.lines[-1]
            assert {one.action for one in on.screen.palette_commands()} >= {"unreviewed", "mark"}
            await on.go_to(other)
            await on.press("space")
            await on.go_to(title)
            assert " u unreviewed " not in on.lines[-1]
            assert "n next finding" not in on.lines[-1]
            assert not {"unreviewed", "finding(1)", "finding(-1)"} & {
                one.action for one in on.screen.palette_commands()
            }
            await on.go_to(other)
            await on.press("space")


async def test_the_command_of_a_key_of_another_screen_goes_there(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("colon", *"trust signing")
        await until(on, lambda: "Trust signing key" in on.text)
        await on.press("enter")
        await until(on, lambda: "[4 Signers]" in on.text)


async def test_the_filter_for_unreviewed_follows_the_marks(samples: Samples, running: Running) -> None:
    async with running(samples.review(samples.root("r", [samples.change("a/one"), samples.change("a/two")]))) as on:
        await on.press("slash", *"unreviewed", "enter", "space")
        assert on.titles == ["r", "a/two"]
        assert on.current.node.title == "a/two"
        await on.press("space")
        assert "Nothing matches" in on.text
        await on.press("escape")
        assert "2 of 2" in on.text


async def test_grouping(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("b")
        assert on.screen.grouping is Grouping.PROVIDER
        assert on.titles[0] == "registry.terraform.io/acme/demo"
        assert "grouped by provider" in on.text
        await on.press("b")
        assert on.titles[0] == "BLOCK"
        await on.press("b")
        assert on.titles[0] == "infra/prod/network"


async def test_diff_and_help(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j")
        for key, words in (("d", "+++ b/infra/prod/network/.terraform.lock.hcl"), ("question_mark", "MOVING")):
            await on.press(key)
            assert isinstance(on.app.screen, TextDialog)
            assert words in on.text
            await on.press(key)
            assert on.is_on_top
            await on.press(key, "escape")
            assert on.is_on_top
        await on.go_to("LK006")
        await on.press("d")
        assert "no difference in the lock file here" in on.text


async def test_the_help_says_every_key(samples: Samples, running: Running) -> None:
    async with running(samples.full(), size=(120, 150)) as on:
        await on.press("question_mark")
        for group in REVIEW_KEYS.groups:
            for key in group.keys:
                assert key.shown in on.text
                assert key.words.split(":")[0][:50] in on.text
        await on.press("q")
        assert on.is_on_top


async def test_expanding(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j")
        change = on.current.node.change
        assert change is not None
        whole = change.added[0].hash
        assert whole not in "".join(line.text for line in on.detail.lines)
        await on.press("x")
        assert whole in "".join(line.text for line in on.detail.lines)
        await on.press("x")
        assert whole not in "".join(line.text for line in on.detail.lines)


async def test_copying(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j", "y", "enter")
        assert on.app.clipboard == "'registry.terraform.io/acme/demo 1.0.0 (LK003, LK005)'"
        assert "sent to the terminal (OSC 52), which may ignore it: 'registry.terraform.io/acme/demo 1.0.0" in on.text
        await on.press("enter")
        change = on.current.node.change
        assert change is not None
        hash_line = next(index for index, line in enumerate(on.detail.lines) if line.copied == change.added[0].hash)
        on.detail.cursor = hash_line
        await on.press("y")
        assert on.app.clipboard == change.added[0].hash
        await on.press("escape", "d", "y")


async def test_y_offers_what_to_copy(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j", "y")
        assert isinstance(on.app.screen, CopyDialog)
        choices = on.app.screen._choices
        change = on.current.node.change
        assert change is not None
        assert [one.label for one in choices] == ["row", "Markdown", "provider", "finding", "finding", *["hash"] * 4]
        assert "enter copy" in on.text
        before = on.app.clipboard
        await on.press("escape")
        assert on.app.clipboard == before
        for number, choice in enumerate(choices):
            await on.press("y", *["j"] * number, "enter")
            assert on.is_on_top
            assert on.app.clipboard == copied_line(choice.text)
        await on.press("y", "j", "y")
        titles = {rule: RULES[rule].title for rule in ("LK003", "LK005", "LK006")}
        line, *details = on.app.clipboard.split("\n")[2:-2]
        assert line.startswith(
            "- **block** `acme/demo` `1.0.0 (same version)` replaced-hashes, in `infra/prod/network`"
        )
        assert f"LK003 {titles['LK003']}, LK005 {titles['LK005']}" in line
        for finding in change.findings:
            assert any(f"`{finding.message}`, at `{finding.place}`" in each for each in details)
        await on.go_to("LK006")
        await on.press("y", "j", "enter")
        found = on.current.node.finding
        assert found is not None
        assert on.app.clipboard.split("\n")[2] == (
            f"- **LK006 block** {titles['LK006']}: `{found.message}`, at `{found.place}`"
        )
        await on.go_to("hashicorp/random")
        await on.press("y", "j", "enter")
        assert "- **unknown** `hashicorp/random` `3.6.3 -> 3.7.2` upgrade, in 8 roots" in on.app.clipboard


async def test_fingerprints_are_offered(samples: Samples, running: Running) -> None:
    key = SigningKey("7B1F0A9355E240CD9A1E88B42517E112C2EC7068", ("a",), "RSA 4096", "2023-05-10", None, False, False)
    change = replace(samples.change(), new_signer=Signer(Tier.PARTNER, (key,), "5.2.0"))
    async with running(samples.review(samples.root("r", [change]))) as on:
        await on.press("j", "y")
        assert key.fingerprint in on.text


async def test_editing(samples: Samples, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    paths: list[str] = []

    def run(command: list[str], *, env: dict[str, str], **_: object) -> None:
        calls.append(command)
        paths.append(env["PATH"])

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", "/usr/bin")))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "/bin/vim -R")
    lock = tmp_path / "infra/prod/network/.terraform.lock.hcl"
    lock.parent.mkdir(parents=True)
    lock.touch()
    (lock.parent / "main.tf").touch()
    async with running(ServingSource(samples.full(), top=tmp_path)) as on:
        monkeypatch.setattr(on.app, "suspend", nullcontext)
        await on.press("j", "e")
        assert calls == [["/bin/vim", "-R", "+4", str(lock)]]
        await on.press("enter")
        on.detail.cursor = next(
            index for index, line in enumerate(on.detail.lines) if line.place and line.place.file.endswith("main.tf")
        )
        await on.press("e")
        assert calls[-1] == ["/bin/vim", "-R", "+3", str(lock.parent / "main.tf")]
        monkeypatch.delenv("EDITOR")
        await on.press("escape", "e")
        assert "no editor is set; set EDITOR" in on.text
        await on.go_to("LK006")
        monkeypatch.setenv("EDITOR", "/bin/vim")
        await on.press("e")
        assert "infra/dns/main.tf is not in the work tree" in on.text
        assert len(calls) == 2
        assert set(paths) == {"/usr/bin"}


async def test_the_release_page(
    samples: Samples, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    for folder, words in (
        ("own", f'echo "$1" >> {told}.new && mv {told}.new {told}'),
        ("checkout", f"touch {told}.bad"),
    ):
        for name in ("xdg-open", "xdg-settings"):
            place = tmp_path / folder / name
            place.parent.mkdir(exist_ok=True)
            place.write_text(f"#!/bin/sh\n{words}\n")
            place.chmod(0o755)
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", str(tmp_path / "own"), "/usr/bin", "/bin")))
    monkeypatch.delenv("BROWSER", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    async with running(samples.full()) as on:
        await on.press("j", "o")
        await until(on, told.exists)
        url = told.read_text().strip()
        assert url == "https://registry.terraform.io/providers/acme/demo/1.0.0"
        assert not (tmp_path / "told.bad").exists()
        monkeypatch.delenv("DISPLAY")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        await on.press("o")
        assert "no browser; sent to the terminal (OSC 52), which may ignore it: https://registry" in on.text
        assert on.app.clipboard == url
        monkeypatch.setenv("DISPLAY", ":0")
        monkeypatch.setenv("PATH", os.pathsep.join(("", ".", str(tmp_path / "none"))))
        await on.press("o")
        assert "no browser; sent to the terminal (OSC 52), which may ignore it: https://registry" in on.text
        await on.press("g", "o")
        assert "release page: no provider on this row" in on.text
        assert not (tmp_path / "told.bad").exists()


async def test_keys_of_other_screens_name_their_screen(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        for key, screen in (("T", "4 Signers"), ("D", "4 Signers")):
            await on.press(key)
            assert f"on the screen {screen}" in on.lines[-2], key
        await on.press("1")
        assert "Review is the current screen" in on.text


async def test_the_palette_exports(
    samples: Samples, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(samples.full()) as on:
        for opener in ("colon", "ctrl+p"):
            await on.press(opener)
            assert isinstance(on.app.screen, CommandPalette)
            await on.press("escape")
        await on.press("colon", *"export as json")
        await on.settle()
        await on.press("enter")
        await on.settle()
        if not isinstance(on.app.screen, ExportDialog):
            await on.press("enter")
        await until(on, lambda: isinstance(on.app.screen, ExportDialog))
        await until(on, lambda: "Export JSON to" in on.text)
        await on.press("enter")
        await on.settle()
        assert (tmp_path / "locklens-review.json").read_text().startswith("{")
        assert "exported to locklens-review.json" in on.text


@pytest.fixture
def reports() -> Iterator[dict[tuple[str, str], Report]]:
    """The table, which is as it was afterwards: its order is that of --format."""
    before = dict(REPORTS)
    yield REPORTS
    REPORTS.clear()
    REPORTS.update(before)


async def test_the_palette_exports_what_the_table_of_reports_has(
    samples: Samples, running: Running, reports: dict[tuple[str, str], Report]
) -> None:
    reports["review", "haiku"] = Report("haiku", "txt", "locklens.review.reports.text:render")
    async with running(samples.full()) as on:
        named = [command.name for command in on.screen.palette_commands()]
        assert [name for name in named if name.startswith("Export as ")] == [
            f"Export as {report.title}" for (view, _), report in reports.items() if view == "review"
        ]
        for form in formats_of("review"):
            del reports["review", form]
        assert not any("Export" in command.name for command in on.screen.palette_commands())


async def test_exporting_asks_before_it_overwrites(samples: Samples, running: Running, tmp_path: Path) -> None:
    target = tmp_path / "report.txt"
    target.write_text("mine")
    async with running(samples.full()) as on:
        on.screen.action_export("text")
        await on.pilot.pause()
        on.app.screen.query_one(Input).value = str(target)
        await on.press("enter")
        assert "enter again overwrites" in on.text
        assert target.read_text() == "mine"
        await on.press("escape")
        assert target.read_text() == "mine"
        on.screen.action_export("text")
        await on.pilot.pause()
        on.app.screen.query_one(Input).value = str(target)
        await on.press("enter", "enter")
        await on.settle()
        assert target.read_text() != "mine"
        on.screen.action_export("text")
        await on.pilot.pause()
        on.app.screen.query_one(Input).value = str(tmp_path)
        await on.press("enter")
        assert "is a folder: name a file in it" in on.text
        on.app.screen.query_one(Input).value = str(tmp_path / "no" / "such" / "folder.txt")
        await on.press("enter")
        await on.settle()
        assert "cannot be written" in on.text


async def test_leaving(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("escape")
        assert "q quits" in on.text
        await on.press("q")
        assert on.app.return_value == 0


async def test_the_theme(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        on.screen.action_theme()
        await on.pilot.pause()
        assert on.app.theme == "locklens-light"
        on.screen.action_theme()
        assert on.app.theme == "locklens-dark"


SCREENS: list[type[LockLensScreen[Any]]] = [
    *(getattr(import_module(module), name) for module, _, name in (view.screen.partition(":") for view in VIEWS)),
    PreviewScreen,
]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_every_action_of_a_table_exists(screen: type[LockLensScreen[Any]]) -> None:
    named = {key.action.partition("(")[0] for group in screen.TABLE.groups for key in group.keys if key.action}
    assert {action for action in named if not hasattr(screen, f"action_{action}")} == set()


def test_the_line_above_a_sample_names_keys_of_its_screen() -> None:
    for view in VIEWS:
        module, _, name = view.screen.partition(":")
        table = getattr(import_module(module), name).TABLE
        whole = "".join(piece.text for piece in demo_banner(table, view)[0].left)
        steps = [step.split(" ", 1) for step in whole.partition("Try ")[2].split(", ")[:2]]
        named = {key.label: key.short for group in table.groups for key in group.keys}
        assert all(named[label] == short for label, short in steps), whole
        assert f"{view.key} {view.title}," not in whole
        if view.name == "doctor":
            assert steps == [["enter", "open"], ["v", "verify"]]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_each_key_of_a_table_has_one_action_and_the_key_line_names_keys_of_it(
    screen: type[LockLensScreen[Any]],
) -> None:
    keys = [key for group in screen.TABLE.groups for key in group.keys]
    actions = defaultdict[str, set[str]](set)
    for key in keys:
        for name in key.keys.split(","):
            actions[name].add(key.action)
    assert {name: found for name, found in actions.items() if name and len(found) > 1} == {}
    shown = {word.strip(",") for key in keys for word in key.shown.split(" ")}
    labels = (*screen.TABLE.in_list, *screen.TABLE.in_detail)
    assert {word for label in labels for word in label.split(" ")} - shown <= {""}


def test_a_rule_names_keys_by_the_screen_that_has_them() -> None:
    """A finding is shown on every screen and on the Preview, so that "the screen" would be any of them."""
    titles = "|".join(view.title for view in VIEWS)
    texts = [*map(repr, RULES.values()), *catalogue._NEEDS.values(), root_upgrade._LOCK_MORE]
    assert not any("on the screen" in text for text in texts)
    named = {match for text in texts for match in re.findall(rf"\b([A-Za-z]) on ({titles})\b", text)}
    tables = {view.title: screen.TABLE for view, screen in zip(VIEWS, SCREENS, strict=False)}
    assert {("v", "Review"), ("P", "Review"), ("R", "Review"), ("U", "Upgrade"), ("L", "Hashes")} <= named
    for key, title in named:
        acts = {one.shown: one.action for group in tables[title].groups for one in group.keys}
        assert not acts[key].startswith("elsewhere("), (key, title)


CHOICES: list[tuple[KeyTable, str, list[str]]] = [
    (ReviewScreen.TABLE, "group", [*Grouping]),
    (ReviewScreen.TABLE, "sort", [sort.words for sort in Sort]),
    (UpgradeScreen.TABLE, "group", [*By]),
    (HealthScreen.TABLE, "group", [*HealthGrouping]),
    (HealthScreen.TABLE, "sort", [*HealthSort]),
]


@pytest.mark.parametrize(("keys", "action", "choices"), CHOICES)
def test_the_help_of_a_key_names_each_of_its_choices(keys: KeyTable, action: str, choices: list[str]) -> None:
    (found,) = (key.words for group in keys.groups for key in group.keys if key.action == action)
    named = [word for word in choices if word in found]
    assert named == choices


def test_a_preference_has_the_choices_of_its_key() -> None:
    assert preferences.CHOICES["review.group"] == tuple(Grouping)
    assert preferences.CHOICES["review.sort"] == tuple(Sort)
    assert preferences.CHOICES["upgrade.group"] == tuple(By)


async def test_a_mark_does_not_cover_what_is_found_after_it(samples: Samples, running: Running) -> None:
    change = samples.change("acme/one", findings=(samples.finding("LK027", Severity.INFO),))
    roots = [samples.root(name, [change]) for name in "ab"]
    async with running(samples.review(*roots)) as on:
        await on.press("j", "space")
        assert len(on.screen.loader.marks) == 1
        on.screen.loader.take_roots(roots)
        await on.pilot.pause()
        assert len(on.screen.loader.marks) == 1, "nothing new was found"
        worse = replace(change, findings=(samples.finding("LK002", Severity.BLOCK),))
        on.screen.loader.take_roots([replace(root, changes=(worse,)) for root in roots])
        await until(on, lambda: not on.screen.loader.marks)
        words = "unmarked 2 changes (1 distinct): a warning or block was found after the mark"
        await until(on, lambda: words in " ".join(on.text.split()))


async def test_a_mark_of_an_earlier_run_does_not_cover_what_is_found_after_it(
    samples: Samples, running: Running
) -> None:
    seen, new = samples.finding("LK009", Severity.WARN), samples.finding("LK002", Severity.BLOCK)
    for number, (findings, marks) in enumerate((((seen,), 1), ((seen,), 1), ((seen, new), 0))):
        review = samples.review(samples.root("a", [samples.change("acme/one", findings=findings)]))
        async with running(review) as on:
            if not number:
                await on.press("j", "space")
            assert len(on.screen.loader.marks) == marks, findings
            assert ("unmarked 1 change" in on.text) is (not marks)


async def test_a_mark_does_not_end_for_want_of_an_answer(samples: Samples, running: Running) -> None:
    unverified = samples.finding("LK003", Severity.WARN)
    unreachable = samples.finding("LK027", Severity.WARN, case="unreachable")
    unproven = samples.finding("LK027", Severity.WARN)
    for number, (findings, marks) in enumerate((((), 1), ((unverified, unreachable), 1), ((unproven,), 0))):
        review = samples.review(samples.root("a", [samples.change("acme/one", findings=findings)]))
        async with running(review) as on:
            if not number:
                await on.press("j", "space")
            assert len(on.screen.loader.marks) == marks, findings


async def test_the_mouse(samples: Samples, running: Running) -> None:
    async with running(samples.full(), size=(160, 40)) as on:
        await on.pilot.click("#review", offset=(20, 2))
        assert on.current.node.title == "acme/netbox"
        await on.pilot.click("#review", offset=(4, 2))
        await on.pilot.pause()
        assert len(on.screen.loader.marks) == 1
        count = len(on.changes.rows)
        await on.pilot.click("#review", offset=(1, 0))
        await on.pilot.pause()
        assert len(on.changes.rows) == count - 4
        await on.pilot.click("#tabs", offset=(on.lines[1].index("6 Doctor") + 2, 0))
        await on.pilot.pause()
        assert isinstance(on.app.screen, DoctorScreen)
        await on.pilot.click("#tabs", offset=(on.lines[1].index("1 Review") + 2, 0))
        await on.pilot.pause()
        await on.pilot.click("#keys", offset=(on.lines[-1].index("b group") + 3, 0))
        await on.pilot.pause()
        assert on.screen.grouping is Grouping.PROVIDER
        await on.pilot.click("#head", offset=(on.lines[0].index("2 WARN"), 0))
        await on.pilot.pause()
        assert on.screen.narrowed.text == "sev:warn"


async def test_a_double_click_opens_the_detail(samples: Samples, running: Running) -> None:
    async with running(samples.full(), size=(80, 24)) as on:
        await on.pilot.click("#review", offset=(20, 1), times=2)
        await on.pilot.pause()
        assert on.detail.has_focus
        assert "registry.terraform.io/acme/demo" in on.lines[2]


async def test_moves_do_not_wait_for_each_other(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A held key repeats faster than a large screen is painted: the list would go on after the key is released."""
    async with running(samples.full()) as on:
        monkeypatch.setattr(on.app, "_follow", None)
        await on.press(*"jjjn")
        assert on.changes.cursor == 6


async def test_what_is_typed_waits_for_the_filter_however_long_that_takes(samples: Samples, running: Running) -> None:
    """While a busy screen reads, a second or more may pass before it handles a key."""
    async with running(samples.full()) as on:
        app, held, cursor = on.app, asyncio.Event(), on.changes.cursor
        on.screen.call_later(held.wait)
        for key in ("slash", "ctrl+u", *"acme"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        while len(app._typed) < 6:
            await asyncio.sleep(0)
        assert (on.screen.query_one("#filter", Input).value, on.changes.cursor, on.screen.message) == ("", cursor, "")
        held.set()
        await on.settle()
        assert on.screen.query_one("#filter", Input).value == "acme"


async def test_no_widget_that_asks_for_the_focus_meanwhile_takes_it_from_the_filter(
    samples: Samples, running: Running
) -> None:
    async with running(samples.full()) as on:
        on.screen.set_focus(None)
        on.screen.action_filter()
        on.screen.keep_focus()
        assert on.app.focused is on.screen.query_one("#filter", Input)
        await on.settle()
        assert on.app.focused is on.screen.query_one("#filter", Input)


async def test_a_key_that_is_lost_with_a_widget_stops_no_other(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        app, late = on.app, list[Any]()

        async def lost(*key: Any) -> None:
            late.extend(key)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(app, "_follow", lost)
            await on.press("x")
        assert len(app._typed) == 1
        app._followed = Label()  # which no longer runs
        assert await stops(on, "n", 2) == ["acme/demo", "acme/netbox"]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(app, "_typed", deque([(events.Key("j", "j"), on.screen)]))
            await app._follow(late[0], [])
            assert len(app._typed) == 1, "what comes late ends no other key's turn"
