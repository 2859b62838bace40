"""The other views while two revisions, or the index, are compared: they show the new side, and offer no write."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from kit.git import git
from kit.repositories import put, repository
from msgspec.structs import replace
from operations.test_prune_restore_format import entry, lock
from operations.test_stage import LOCK
from textual.command import CommandPalette
from ui.conftest import Driver, Running, Samples, until

from locklens.cli.main import main
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens, Reads
from locklens.operations.review.request import ReviewRequest
from locklens.review.model import SideName
from locklens.ui.doctor import DoctorScreen
from locklens.ui.shell.bars import read_only_head
from locklens.ui.shell.keys import LOOKS, WRITES, action_name
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.widgets import BarLayout, Piece

if TYPE_CHECKING:
    from pathlib import Path

TF = b'terraform {\n  required_providers {\n    aws = { source = "acme/aws" }\n  }\n}\n'


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Version 1 in v1, 2 in v2, 3 in the index, 4 in the work tree."""
    top = repository(tmp_path / "top", {f"a/{LOCK}": lock(entry("aws", "1.0.0")), "a/main.tf": TF})
    git(top, "tag", "v1")
    put(top, {f"a/{LOCK}": lock(entry("aws", "2.0.0"))})
    git(top, "commit", "-qam", "two")
    git(top, "tag", "v2")
    put(top, {f"a/{LOCK}": lock(entry("aws", "3.0.0"))})
    git(top, "add", "-A")
    put(top, {f"a/{LOCK}": lock(entry("aws", "4.0.0"))})
    return top


def source_of(top: Path, base: Base) -> LockLens:
    return LockLens(ReviewRequest(partial(open_git, top, base), base=base))


async def shown(on: Driver, key: str) -> TwoPaneScreen:
    await on.press(key)
    await on.settle()
    screen = on.app.screen
    assert isinstance(screen, TwoPaneScreen)
    return screen


def locked(screen: TwoPaneScreen) -> set[str]:
    assert screen.review is not None
    return {str(change.new.version) for change in screen.review.changes if change.new is not None}


@pytest.mark.parametrize(
    ("base", "version", "side", "reason"),
    [
        (Base("v1", head="v2"), "2.0.0", "v2@", "two revisions are compared"),
        (Base("v1", "v2", head="v2"), "2.0.0", "v2@", "two revisions are compared"),
        (Base("v1", is_staged=True), "3.0.0", "index", "git's index is reviewed"),
    ],
    ids=["revisions", "fork point", "index"],
)
async def test_other_views_show_the_new_side_read_only(
    running: Running, top: Path, base: Base, version: str, side: str, reason: str
) -> None:
    async with running(source_of(top, base), size=(140, 40)) as on:
        assert "read only" in on.lines[0]
        assert side in on.lines[0]
        for key in ("2", "3", "4"):
            screen = await shown(on, key)
            assert locked(screen) == {version}
            assert side in on.lines[0]
            assert ", read only" in on.lines[0]
            footer = on.lines[-1].split()
            assert not {"U", "L", "S", "R", "P", "F", "Z", "p", "i", "e"} & set(footer)
        await shown(on, "2")
        assert version in on.text
        await until(on, lambda: f"read-only while {reason}: B goes back to the work tree" in on.text)
        for key, name in {"a": "select eligible", "space": "select", "U": "upgrade"}.items():
            await on.press(key)
            assert f"{name}: read-only while {reason}" in on.text
        await shown(on, "3")
        await on.press("j", "L")
        assert f"lock: read-only while {reason}" in on.text
        await on.press("ctrl+p")
        await until(on, lambda: isinstance(on.app.screen, CommandPalette) and "Filter rows" in on.text)
        await on.press(*"export")
        await until(on, lambda: "Export as" in on.text and "Filter rows" not in on.text)
        await on.press(*["backspace"] * len("export"), *"lock missing")
        await until(on, lambda: f"L - off: read-only while {reason}" in on.text)


@pytest.mark.parametrize("width", [80, 100, 140])
async def test_health_and_doctor_show_the_work_tree_and_say_so(running: Running, top: Path, width: int) -> None:
    async with running(source_of(top, Base("v1", head="v2")), size=(width, 30)) as on:
        for key in ("5", "6"):
            await shown(on, key)
            await on.settle()
            assert "work tree" in on.lines[0]
            assert "v2@" not in on.lines[0]


async def test_each_key_that_is_off_says_so_and_stands_in_the_help_as_off(running: Running, top: Path) -> None:
    written = "read-only while two revisions are compared: B goes back to the work tree"
    looked_at = "looks at the work tree, but two revisions are compared: B goes back to it"
    async with running(source_of(top, Base("v1", head="v2")), size=(140, 60)) as on:
        for view in "1234":
            screen = await shown(on, view)
            texts = [one.text for one in screen.help_lines()]
            start = min(texts.index(f"OFF  {reason}") for reason in (written, looked_at))
            reasons = {**dict.fromkeys(WRITES, written), **dict.fromkeys(LOOKS, looked_at)}
            named = ((key, action_name(key.action)) for group in screen.TABLE.groups for key in group.keys)
            keys = {key: reasons[action] for key, action in named if action in reasons}
            assert keys
            for key, reason in keys.items():
                await on.press(key.keys)
                assert f": {reason}" in on.lines[-2], f"{key.shown} on {view}"
                assert not any(text.startswith(f"  {key.shown}  ") for text in texts[:start]), key.shown
                assert any(text.startswith(f"  {key.shown}  ") for text in texts[start:]), key.shown


async def test_a_switch_is_offered_although_its_letter_plans_a_write_elsewhere(running: Running, top: Path) -> None:
    async with running(source_of(top, Base("v1", head="v2")), size=(240, 40)) as on:
        screen = await shown(on, "2")
        assert "M majors" in on.lines[-1]
        assert not {"U Preview", "space select", "a all eligible"} & set(on.lines[-1].split("  "))
        actions = {command.action for command in screen.palette_commands()}
        assert "majors" in actions
        assert not {"upgrade", "undo"} & actions
        assert not any(action.startswith("elsewhere(") for action in actions)
        await on.press("colon")
        await until(on, lambda: isinstance(on.app.screen, CommandPalette))
        await on.press(*"preview upgrade")
        words = "U - off: read-only while two revisions are compared: B goes back to the work tree"
        await until(on, lambda: words in on.text)
        await on.press("down", "enter")
        await until(on, lambda: on.app.screen is screen)
        await until(on, lambda: "upgrade: read-only while two revisions are compared" in on.lines[-2])


async def test_a_fetched_request_stays_at_its_commit_and_reload_says_how_to_get_a_newer_one(
    running: Running, top: Path
) -> None:
    commit = git(top, "rev-parse", "v2").strip()
    base = Base("v1", head=commit, titles={commit: "origin/pull/12"})
    words = f"origin/pull/12 stays at {commit[:7]}: start locklens again to fetch a newer commit"
    async with running(source_of(top, base), size=(80, 24)) as on:
        await on.press("r")
        await on.settle()
        assert words in on.lines[-2]
    async with running(source_of(top, Base("v1", head="v2")), size=(80, 24)) as on:
        await on.press("r")
        await on.settle()
        assert "stays at" not in on.lines[-2]


async def test_the_head_fits_a_narrow_terminal(running: Running, top: Path) -> None:
    async with running(source_of(top, Base("v1", head="v2")), size=(40, 24)) as on:
        await shown(on, "3")
        assert "read only" in on.lines[0]


def test_the_side_is_the_last_that_a_narrow_head_leaves_out() -> None:
    counts = (Piece("  7 can upgrade  3 held back  2 unknown "),)
    head = (BarLayout((Piece(" locklens  "), Piece("upgrade"), Piece("  24 providers in 31 roots")), counts),)
    layouts = read_only_head(head, "origin/pull/12@494cdf7", is_named=False)
    texts = ["".join(piece.text for piece in (*one.left, *one.right)) for one in layouts]
    assert all("origin/pull/12@494cdf7" in text for text in texts)
    assert "can upgrade" in next(text for text in texts if len(text) < 80)


@pytest.mark.parametrize("width", [80, 100, 140])
async def test_the_head_of_two_revisions_has_its_counts(samples: Samples, running: Running, width: int) -> None:
    base = SideName("git", "main", "b80c107" * 5, fork_of="main")
    review = replace(samples.full(), base=base, head=SideName("git", "topic-of-a-branch", "55747de" * 5))
    async with running(review, size=(width, 30)) as on:
        head = on.lines[0]
        assert "topic-of-a-branch" in head
        assert "main" in head
        assert "read only" in head
        assert "BLOCK" in head
        assert head.rstrip().endswith("INFO")


async def test_the_work_tree_can_be_written(running: Running, top: Path) -> None:
    async with running(source_of(top, Base("v1")), size=(140, 40)) as on:
        for key, write in (("2", "U"), ("3", "L")):
            assert locked(await shown(on, key)) == {"4.0.0"}
            assert "read only" not in on.text
            await on.press(write)
            await on.settle()
            assert "read-only while" not in on.text
            await on.press("escape")


async def test_views_opened_before_the_review_are_of_the_folder_that_was_named(
    tmp_path: Path, top: Path, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = repository(tmp_path / "elsewhere", {f"b/{LOCK}": lock(entry("aws", "9.0.0"))})
    monkeypatch.chdir(elsewhere)
    source = LockLens(replace(source_of(top, Base()).request, folder=top))
    assert source.for_view(Reads.LOCKED, None).folder == top
    async with running(source.for_view(Reads.CANDIDATES, None), size=(140, 40)) as on:
        assert locked(await shown(on, "3")) == {"4.0.0"}
        doctor = await shown(on, "6")
        assert isinstance(doctor, DoctorScreen)
        assert doctor._request.folder == top


def is_read(screen: TwoPaneScreen) -> bool:
    return screen.review is not None and not screen.is_asking


@pytest.mark.parametrize("words", [("review", "v1"), ("hashes",), ("keys",), ("health", "..")], ids=" ".join)
async def test_named_roots_restrict_every_screen(
    running: Running, top: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    for root in ("b", "live/c"):
        put(top, {f"{root}/{LOCK}": lock(entry("aws", "9.0.0")), f"{root}/main.tf": TF})
    for module in ("review", "inspect"):
        monkeypatch.setattr(f"locklens.cli.{module}.has_terminal", lambda: True)
    (top / "live").mkdir(exist_ok=True)
    monkeypatch.chdir(top / "live")
    opened: list[tuple[ReviewRequest, str]] = []

    def keep(request: ReviewRequest, view: str) -> int:
        opened.append((replace(request, network=None), view))
        return 0

    assert main([*words, "--no-cache", "--", "../a"], keep) == 0
    ((request, view),) = opened
    async with running(LockLens(request), view, size=(140, 40), settled=False) as on:
        for key in ("1", "2", "3", "4", "5", "1"):
            screen = await shown(on, key)
            await until(on, partial(is_read, screen))
            assert screen.review is not None
            assert {root.path for root in screen.review.roots} <= {"a"}, screen.VIEW.title
            assert "live/c" not in on.text
            assert "9.0.0" not in on.text
