"""The filter means the same on every screen, and leaves the cursor on what was looked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from kit.effort import IS_FULL, effort
from ui.conftest import Driver, Running, until

from locklens.demo.incidents import make_repository
from locklens.lines import Role
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.review.findings import Severity
from locklens.ui.health import HealthScreen
from locklens.ui.shell import Job
from locklens.ui.shell.filter_line import FilterInput
from locklens.ui.shell.filtering import PLATFORM, PROVIDER, SIGNER, Grammar, parse_filter
from locklens.ui.shell.keys import keys_of_rows
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.views import PreviewWanted, ViewWanted
from locklens.ui.widgets import Bar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def demo(running: Running, tmp_path: Path) -> AsyncIterator[Driver]:
    request = ReviewRequest(partial(open_git, make_repository(tmp_path / "infrastructure")))
    async with running(LockLens(request), size=(140, 45)) as on:
        yield on


def view(on: Driver) -> TwoPaneScreen:
    assert isinstance(on.app.screen, TwoPaneScreen)
    return on.app.screen


async def shown(on: Driver, key: str) -> TwoPaneScreen:
    await on.press(key)
    await until(on, lambda: view(on).VIEW.key == key and view(on).review is not None and not view(on).is_asking)
    await on.settle()
    return view(on)


async def filtered(on: Driver, text: str) -> None:
    """Opens the filter and sets its text at once: each typed letter would narrow every list anew."""
    await on.press("slash")
    on.app.screen.query_one("#filter", FilterInput).value = text
    await on.pilot.pause()


def providers(row: Any) -> set[str]:
    """The addresses that a row of any screen is about."""
    if hasattr(row, "node"):
        return {str(subject.change.address) for subject in row.node.subjects}
    if hasattr(row, "offers"):
        return {str(offer.address) for offer in row.offers}
    if hasattr(row, "found"):
        of_spread = {str(row.spread.provider)} if row.spread is not None else set()
        return {str(finding.provider) for _, finding in row.found} | of_spread
    if hasattr(row, "signer"):
        return {str(address) for address in row.signer.addresses}
    return {str(row.change.address)} if row.change is not None else set()


async def test_fields_are_the_same_on_every_screen(demo: Driver) -> None:
    for key in "12345":
        await fields_are_the_same(demo, key)
        await demo.press("escape")


async def fields_are_the_same(demo: Driver, key: str) -> None:
    screen = await shown(demo, key)
    provider = "pagerduty" if key == "5" else "helm"  # Health lists what is found
    for text in ("root:stage", f"provider:{provider}", f"-provider:{provider}"):
        await filtered(demo, text)
        assert "unknown field" not in demo.text
        if text[0] == "-":
            assert not any(
                all(f"/{provider}" in one for one in providers(row)) for row in screen.left.rows if providers(row)
            )
            await demo.press("enter", "escape")
            continue
        assert screen.left.rows, text
        assert screen.left.cursor == 0 or screen.left.is_heading(screen.left.rows[screen.left.cursor - 1])
        assert screen.left.current is not None
        assert not screen.left.is_heading(screen.left.current), "the cursor is on what was looked for"
        assert text[0] != "p" or all(
            f"/{provider}" in str(providers(row)) for row in screen.left.rows if providers(row)
        )
        await demo.press("enter", "escape")
        assert not screen.is_narrowed
    for field in screen.GRAMMAR.fields:
        screen.narrow(f"{field.name}:")
        # Of which platform a hash is, and who signed a release, only a registry tells, and none is asked here.
        assert screen.left.rows or field in (PLATFORM, SIGNER), f"no row has a value of {field.name}"
    for word in screen.GRAMMAR.words:
        screen.narrow(word)
        assert not screen.narrowed.problem
    screen.narrow("")
    await demo.press("slash", *"colour:red", "enter")
    assert 'unknown field "colour"; fields here: ' in "\n".join(demo.lines[-5:])


WIDTHS = (80, 100, 140)


async def test_a_detail_stays_the_pane_of_the_keys_while_the_files_are_read_anew(demo: Driver) -> None:
    """A sample has each screen at one width, and each width."""
    for number, key in enumerate("12345"):
        await a_detail_stays(demo, key, effort((WIDTHS[number % len(WIDTHS)],), WIDTHS))


async def a_detail_stays(demo: Driver, key: str, widths: tuple[int, ...]) -> None:
    screen = await shown(demo, key)
    for width in widths:
        await demo.pilot.resize_terminal(width, 30)
        await demo.press("j", "tab")
        assert screen.detail.has_focus
        await demo.press("r")
        await until(demo, lambda: screen.review is not None and not screen.is_asking)
        await demo.settle()
        assert screen.detail.has_focus
        assert "esc" in offered_by(demo)
        await demo.press("slash", "escape")
        assert screen.left.has_focus, "the filter is of the list"
        await demo.press("tab", "escape")
        assert screen.left.has_focus
        assert screen.left.display


async def test_the_columns_of_the_help_are_apart(demo: Driver) -> None:
    for key in "12345":
        screen = await shown(demo, key)
        entries = [one for one in screen.help_lines() if one.hanging]
        assert entries
        for entry in entries:
            assert entry.text.removesuffix(entry.spans[-1].text).endswith("  "), entry.text


async def test_the_cursor_goes_to_the_first_match_and_a_message_ends_with_the_next_key(demo: Driver) -> None:
    screen = await shown(demo, "2")
    await demo.press("G", "slash", *"vault", "enter")
    first = next(row for row in screen.left.rows if not screen.left.is_heading(row))
    assert screen.left.current == first
    await demo.press("g", "greater_than_sign")
    assert "version: no provider on this row" in demo.lines[-2]
    await demo.press("j")
    assert "version: no provider on this row" not in demo.text, "why a key does nothing ends with the next key"
    await demo.press("x")
    assert "all versions" in demo.lines[-2]
    await demo.press("j")
    assert "all versions" in demo.lines[-2], "a move takes away no other message, which may be being read"
    await demo.press("space")
    assert "all versions" not in demo.lines[-2]


async def test_a_field_that_a_screen_lacks_is_named(demo: Driver) -> None:
    await shown(demo, "4")
    await demo.press("slash", *"kind:upgrade", "enter")
    assert 'unknown field "kind"; fields here: provider, root, signer, tier' in "\n".join(demo.lines[-5:])
    lacking = Grammar("provider", (PROVIDER,), has_severity=False)
    assert 'unknown field "sev"' in parse_filter("sev>=warn", lacking).problem


async def test_without_a_row_no_key_of_one_is_named(demo: Driver) -> None:
    for key in "12345":
        await no_key_of_a_row_is_named(demo, key)
        await demo.press("escape")


async def no_key_of_a_row_is_named(demo: Driver, key: str) -> None:
    screen = await shown(demo, key)
    demo.app.clear_notifications()
    await demo.pilot.pause()
    of_rows = {f"{one.label} {one.short}" for one in keys_of_rows(screen.TABLE, is_narrowed=True) if one.short}
    assert of_rows & {part.strip() for part in demo.lines[-1].split("  ")}
    await filtered(demo, "nothing-has-this")
    await demo.press("enter")
    offered = {part.strip() for part in demo.lines[-1].split("  ")}
    assert not of_rows & offered
    assert {"esc back", "/ filter"} <= offered


_ON_ROWS = {
    *("accept", "copy", "diagnose", "diff", "drop_pin", "edit", "format", "inside", "lock", "mark", "merge", "prove"),
    *("prune", "restore", "select", "stage", "trust", "upgrade", "why"),
    *("expand", "finding(1)", "finding(-1)", "mark_shown", "open_page", "select_eligible", "unreviewed"),
    *("move(1)", "move(-1)"),
}


def offered_by(on: Driver) -> set[str]:
    """The labels of all keys that the key line may show, whatever the width."""
    widest = on.app.screen.query_one("#keys", Bar).layouts[0]
    return {piece.text for piece in widest.left if piece.role is Role.INFO}


@pytest.mark.parametrize("key", "12345")
async def test_a_key_that_is_offered_acts_on_the_row(demo: Driver, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample presses each key in the list and in the detail, on the first heading and the first row that offer it."""
    screen: Any = await shown(demo, key)
    acted, post, wanted = list[object](), screen.post_message, (ViewWanted, PreviewWanted)

    def act(*what: object) -> str:
        acted.append(what)
        return ""

    def posted(message: Any) -> object:
        return act(message) if isinstance(message, wanted) else post(message)

    monkeypatch.setattr(Job, "start", act)
    monkeypatch.setattr(demo.app, "push_screen", act)
    monkeypatch.setattr(screen, "post_message", posted)
    monkeypatch.setattr(screen, "open_editor", act)
    monkeypatch.setattr("locklens.ui.row_actions.copy_text", act)

    def state() -> object:
        of_screen = (getattr(screen, name, None) for name in ("marked", "selection", "in_full"))
        return acted.copy(), screen.left.cursor, screen.loader.marks, *of_screen

    def is_shown(key: str) -> bool:
        return bool(screen._shown_key == key)

    keys = [one for group in screen.TABLE.groups for one in group.keys if one.action in _ON_ROWS]

    async def go_to(row: Any) -> set[str]:
        if row.key not in {screen._shown_key} & {screen.left.current.key}:
            screen.left.cursor = [each.key for each in screen.left.rows].index(row.key)
            await demo.pilot.pause()
            await until(demo, partial(is_shown, row.key))
        return offered_by(demo) | {command.action for command in screen.palette_commands()}

    for focus in (screen.action_focus_list, screen.focus_detail):
        focus()
        await demo.settle()
        done = set[object]()
        for row in screen.left.rows:
            offered = await go_to(row)
            for one in keys:
                kind = screen.left.is_heading(row), one.action
                if {one.label, one.action} & offered and (IS_FULL or kind not in done):
                    done.add(kind)
                    before = state()
                    await screen.run_action(one.action)
                    assert state() != before, f"{one.label} {one.short}: {screen.message} on {row.key}"
                    offered = await go_to(row)


async def test_a_provider_is_that_of_findings_about_a_root_too(demo: Driver) -> None:
    for key in "135":
        await a_provider_is_that_of_findings(demo, key)
        await demo.press("escape")


async def a_provider_is_that_of_findings(demo: Driver, key: str) -> None:
    """Blocks about entries that nobody changed: locked against the constraint, and not locked."""
    screen = await shown(demo, key)
    for provider in ("grafana", "pagerduty"):
        await filtered(demo, f"provider:{provider}")
        await demo.press("enter")
        assert "Nothing matches" not in demo.text
        worst = [row.node.severity if hasattr(row, "node") else row.severity for row in screen.left.rows]
        assert Severity.BLOCK in worst
    await filtered(demo, "provider:azurestack")
    await demo.press("enter")
    assert not screen.left.rows


async def test_a_section_of_the_health_stands_for_the_rows_that_are_shown(demo: Driver) -> None:
    """Its line marked, and L planned for, roots that the filter hides."""
    screen = await shown(demo, "5")
    assert isinstance(screen, HealthScreen)
    await demo.press("slash", *"root:stage", "enter", "g")
    section = screen.left.current
    assert section is not None
    assert not section.depth
    assert set(section.roots) == {root for row in screen.left.rows if row in section.children for root in row.roots}
    await demo.press("space")
    assert screen.marked
    assert all("stage" in root for root in screen.marked)


async def test_the_heads_of_what_is_locked_name_the_lock_file_that_was_not_read(demo: Driver) -> None:
    for width in (80, 100, 140):
        await demo.pilot.resize_terminal(width, 30)
        for key in "34":
            await shown(demo, key)
            assert "1 file not read" in demo.lines[0] or "not read: 1 lock file in conflict" in demo.lines[0]
