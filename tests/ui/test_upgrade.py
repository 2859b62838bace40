"""The Upgrade screen: arriving candidates, every key, and the selection."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kit.registries import environ_of
from kit.waiting import LIMIT
from msgspec.structs import replace
from operations.sample_candidates import ALICE, MALLORY, known, offer
from textual.widgets import Input
from ui.conftest import Driver, ServingSource, until

from locklens.addresses import ProviderAddress
from locklens.demo.faults import Faults
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES
from locklens.errors import ConfigurationError, LockLensError
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens, Reads
from locklens.operations.review.request import ReviewRequest
from locklens.operations.upgrades import CandidateTable, RefusedRoot
from locklens.operations.write.upgrade import Upgrade
from locklens.policy import Policy
from locklens.releases import NetworkSettings
from locklens.selection import BumpLimit
from locklens.storage.cache import Cache
from locklens.ui import views
from locklens.ui.app import LockLensApp
from locklens.ui.dialogs.form import ExportDialog
from locklens.ui.review import ReviewScreen
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.upgrade.selecting import UPGRADE_KEYS
from locklens.ui.views import ViewWanted
from locklens.ui.why import WhyDialog

if TYPE_CHECKING:
    from textual.pilot import Pilot
    from textual.timer import Timer
    from ui.conftest import Samples

    from locklens.operations.write.apply import Operation

READY = offer("1.0.0:90 1.1.0:40 2.0.0:30", "< 2.0", root="a", name="ready")
HELD = offer("1.0.0:90 2.0.0:40", "~> 1.0", root="a", name="held")
YOUNG = offer("1.0.0:90 1.1.0:2", "~> 1.0", root="a", name="young")
CURRENT = offer("1.0.0:90", "~> 1.0", root="a", name="current")
TWICE = tuple(offer("1.0.0:90 1.1.0:40", "~> 1.0", root=root, name="twice") for root in ("a", "b"))
REFUSED = RefusedRoot(
    "c", "c/.terraform.lock.hcl", ConfigurationError("a conflict", path="c/lock.hcl", line=3, hint="mend")
)
ALL = CandidateTable((CURRENT, HELD, READY, *TWICE, YOUNG), (REFUSED,))


def is_over(timer: Timer | None) -> bool:
    """Whether a timer of one shot has fired, or was stopped."""
    return timer is None or timer._task is None or timer._task.done()


class UpgradeDriver(Driver):
    """Words for the screen of upgrades."""

    def __init__(self, app: LockLensApp, pilot: Pilot[int]) -> None:
        super().__init__(app, pilot)
        self.operations: list[Operation] = []

    async def press(self, *keys: str) -> None:
        """Waits until the detail has followed, too."""
        await super().press(*keys)
        await self._past("_timer_of_detail")

    async def _past(self, timer: str) -> None:
        """Waits until the screen has done what it does only when the cursor stays where it is."""
        for screen in self.app.screen_stack:
            if isinstance(screen, UpgradeScreen):
                await until(self, lambda screen=screen: is_over(getattr(screen, timer)))  # type: ignore[misc]
        await self.pilot.pause()

    async def settle(self) -> None:
        """Also for what begins when the reading is done."""
        for _ in range(3):
            await super().settle()

    @property
    def upgrades(self) -> UpgradeScreen:
        found = next(screen for screen in self.app.screen_stack if isinstance(screen, UpgradeScreen))
        assert isinstance(found, UpgradeScreen)
        return found

    @property
    def rows(self) -> list[str]:
        """Marks and titles of the rows."""
        return [f"{row.mark if row.depth else ''} {row.title}".strip() for row in self.upgrades.left.rows]

    @property
    def title(self) -> str:
        row = self.upgrades.row
        assert row is not None
        return row.title

    @property
    def status(self) -> str:
        return self.lines[-2].strip()

    @property
    def picks(self) -> dict[str, str]:
        return {f"{one.root}/{one.address.type}": str(one.version) for one in self.upgrades.selection.picks}

    async def choose(self, title: str) -> None:
        rows = self.upgrades.left.rows
        self.upgrades.left.cursor = next(index for index, row in enumerate(rows) if row.title == title)
        await self.pilot.pause()
        await self._past("_timer_of_detail")

    async def look_up(self) -> None:
        """Waits until signers were looked up."""
        await self._past("_timer_of_signers")
        await self.settle()


Opening = Callable[..., AbstractAsyncContextManager[UpgradeDriver]]


@pytest.fixture
def opening(samples: Samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """Opens the screen on offers."""

    @asynccontextmanager
    async def run(
        offers: CandidateTable = ALL,
        *,
        size: tuple[int, int] = (120, 40),
        cooldown: int | None = 7,
        notes: tuple[str, ...] = (),
        settled: bool = True,
        **more: Any,
    ) -> AsyncIterator[UpgradeDriver]:
        review = replace(samples.review(samples.root("a", [samples.change()], configuration=samples.configuration())), policy=Policy(cooldown=cooldown), limits=notes)  # fmt: skip
        source = ServingSource(review, top=tmp_path, **more)
        if "offering" not in more:
            source.offering = lambda *_: offers
        app = LockLensApp(source, "upgrade", store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=size, notifications=True) as pilot:
            on = UpgradeDriver(app, pilot)
            monkeypatch.setattr(UpgradeScreen, "preview", lambda _, operation: on.operations.append(operation))
            if settled:
                await on.settle()
            yield on

    return run


# What is shown


async def test_the_candidates_are_pictured(opening: Opening) -> None:
    async with opening(size=(80, 24)) as on:
        await on.look_up()
        for size in ((80, 24), (120, 40), (180, 40)):
            await on.resize(size)
            on.is_pictured("upgrade")
        assert on.rows == [
            "CAN UPGRADE NOW  2 providers", "[ ] acme/ready", "[ ] acme/twice", "HELD BACK  2 providers", "-  acme/held", "-  acme/young",
            "NO NEWER VERSION  1 provider", "-  acme/current", "UNKNOWN  1 root", "-  c",
        ]  # fmt: skip


async def test_the_notes_stay_on_the_screen(opening: Opening) -> None:
    """Such as that a policy that is not committed does not count, whose cooldown the status line does not have."""
    ignored, late = "locklens.toml in the work tree does not count", "settings: not read"
    async with opening(replace(ALL, notes=(late, ignored)), cooldown=None, notes=(ignored,)) as on:
        on.app.clear_notifications()
        for key in ("g", "j"):  # a title, a provider
            await on.press(key)
            assert "| no cooldown |" in on.status
            assert "| 2 notes" in on.status
            assert [each.text for each in on.upgrades.detail.lines[-3:]] == ["NOTES", f"  ! {ignored}", f"  ! {late}"]


async def test_one_pane_on_a_small_screen(opening: Opening) -> None:
    async with opening(size=(80, 24)) as on:
        assert not on.upgrades.detail.display
        assert "acme/ready" in on.text
        await on.press("enter")
        assert on.upgrades.detail.has_focus
        assert "CAN UPGRADE" not in on.text
        await on.press("escape")
        assert on.upgrades.left.has_focus


async def test_a_key_before_there_are_candidates_is_too_early(opening: Opening) -> None:
    gate, asked = threading.Event(), threading.Event()

    def offering(*_: object) -> CandidateTable:
        asked.wait(LIMIT)
        return ALL

    async with opening(gate=gate, offering=offering, settled=False) as on:
        await until(on, lambda: "Reading configurations" in on.text)
        await on.pilot.press("j")
        assert on.status.startswith("too early: nothing was loaded yet")
        gate.set()
        await until(on, lambda: not on.upgrades.is_asking)
        assert on.upgrades.asking_words == "reading configurations"
        await on.pilot.press("M", "c", "slash", *"nothing", "enter")
        assert on.upgrades.selection.terms.takes_majors
        assert on.upgrades.selection.terms.cooldown is None
        assert "Reading configurations" in on.text
        assert "Nothing matches" not in on.text
        await on.pilot.press("escape")
        await until(on, lambda: not isinstance(on.app.focused, Input))
        await on.pilot.press("space", "j", "U")
        assert on.status.startswith("too early: nothing was loaded yet")
        assert "Reading configurations" in on.text
        asked.set()
        await on.settle()
        assert on.status == "j, space, U were ignored: the list was not loaded yet"
        assert not on.upgrades.selection.selected
        before = on.title
        await on.press("j")
        assert on.title != before
        assert "ignored" not in on.status


async def test_rows_arrive_as_registries_answer(opening: Opening) -> None:
    gate = threading.Event()

    def offering(on_known: Callable[[CandidateTable], None], cancel: threading.Event) -> CandidateTable:
        on_known(CandidateTable((replace(READY, is_asked=False), HELD)))
        gate.wait(LIMIT)
        return ALL

    async with opening(offering=offering, settled=False) as on:
        await until(on, lambda: "ASKING  1 provider" in on.rows)
        assert "checking registries: 1 of 2 entries done" in on.status
        gate.set()
        await on.settle()
        assert on.rows[1] == "[ ] acme/ready"
        assert "asking" not in on.status


@pytest.mark.parametrize("key", ["j", "G", ""])
async def test_the_cursor_goes_to_no_other_provider_while_rows_settle(opening: Opening, key: str) -> None:
    gate = threading.Event()
    waiting = tuple(replace(one, is_asked=False) for one in (CURRENT, HELD, READY, YOUNG))

    def offering(on_known: Callable[[CandidateTable], None], cancel: threading.Event) -> CandidateTable:
        on_known(CandidateTable(waiting))
        gate.wait(LIMIT)
        return CandidateTable((CURRENT, HELD, READY, YOUNG, *TWICE))

    async with opening(offering=offering, settled=False) as on:
        await until(on, lambda: "ASKING  4 providers" in on.rows)
        await on.press(*filter(None, [key]))
        before = on.title
        gate.set()
        await on.settle()
        assert on.title == (before if key else "acme/ready")
        assert key or before == "ASKING  4 providers"


async def test_the_cursor_stays_on_its_provider_in_another_grouping(opening: Opening) -> None:
    async with opening() as on:
        for title in ("acme/twice", "acme/current"):
            await on.choose(title)
            for _ in range(2):
                await on.press("b")
                assert on.title == title
        await on.choose("acme/twice")
        await on.press("l", "j", "j", "slash", *"root:b", "enter")
        assert on.title == "acme/twice"


async def test_nothing_to_upgrade_and_what_failed(opening: Opening) -> None:
    async with opening(CandidateTable()) as on:
        assert "No provider is locked here (lock files that git ignores are not read)." in on.text
        await on.look_up()
        assert on.status.endswith("no eligible upgrade is known | policy cooldown 7 d | others are left untouched")

    def failing(*_: object) -> CandidateTable:
        raise LockLensError("no way", hint="try another")

    async with opening(offering=failing) as on:
        assert "no way; try another" in on.status


# Moving


async def test_moving(opening: Opening) -> None:
    async with opening() as on:
        await on.press("G")
        assert on.title == "c"
        await on.press("g")
        assert on.title == "CAN UPGRADE NOW  2 providers"
        await on.press("down", "j", "k")
        assert on.title == "acme/ready"
        await on.press("right_square_bracket")
        assert on.title == "HELD BACK  2 providers"
        await on.press("]", "]", "]")
        assert on.title == "UNKNOWN  1 root"
        await on.press("left_square_bracket")
        assert on.title == "NO NEWER VERSION  1 provider"
        await on.press("n")
        assert on.title == "c"
        await on.press("n")
        assert on.title == "acme/held"
        await on.press("N")
        assert on.title == "c"
        await on.press("tab")
        assert on.upgrades.detail.has_focus
        await on.press("left")
        assert on.upgrades.left.has_focus
        await on.press("escape")
        assert "q quits" in on.status


async def test_moves_do_not_wait_for_each_other(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """A held key goes on from row to row no longer than it is held, on each screen."""
    async with opening() as on:
        await on.press("g")
        monkeypatch.setattr(on.app, "_follow", None)
        await on.press("]", "n")
        assert on.title == "acme/held"


async def test_nothing_to_go_to(opening: Opening) -> None:
    async with opening(CandidateTable((CURRENT,))) as on:
        await on.press("n")
        assert "no other row is held back or has warnings" in on.status


async def test_folding(opening: Opening) -> None:
    async with opening() as on:
        await on.choose("acme/twice")
        await on.press("l")
        assert on.rows[2:5] == ["[ ] acme/twice", "[ ] a", "[ ] b"]
        await on.press("j", "j")
        assert on.title == "b"
        await on.press("h")
        assert on.title == "acme/twice"
        await on.press("h")
        assert on.rows[3] == "HELD BACK  2 providers"
        await on.press("h")
        assert on.title == "CAN UPGRADE NOW  2 providers"


# Selection


async def test_choosing(opening: Opening) -> None:
    async with opening() as on:
        await on.press("space")
        assert on.picks == {"a/ready": "1.1.0"}
        assert "1 provider selected in 1 root | downloads about 1 package, size unknown" in on.status
        await on.press("j", "space")
        assert on.picks == {"a/ready": "1.1.0", "a/twice": "1.1.0", "b/twice": "1.1.0"}
        await on.press("l", "j", "space")
        assert on.picks == {"a/ready": "1.1.0", "b/twice": "1.1.0"}
        assert "[-] acme/twice" in on.rows
        await on.press("k", "space", "space")
        assert on.picks == {"a/ready": "1.1.0"}
        await on.choose("acme/held")
        await on.press("space")
        assert "no target version: ~> 1.0 (a/main.tf:1); right steps to one" in on.status
        await on.choose("acme/current")
        await on.press("space")
        assert "no newer version of acme/current is released" in on.status
        await on.choose("c")
        await on.press("space")
        assert "upgrades are not possible there" in on.status
        await on.choose("CAN UPGRADE NOW  2 providers")
        await on.press("space")
        assert len(on.picks) == 3


async def test_all_that_is_safe(opening: Opening) -> None:
    undated = offer("1.0.0:90 1.1.0", "~> 1.0", root="a", name="undated")
    async with opening(CandidateTable((*ALL.providers, undated))) as on:
        await on.press("a")
        assert on.picks == {"a/ready": "1.1.0", "a/twice": "1.1.0", "b/twice": "1.1.0"}
        assert "selected 2 eligible providers; 1 needs your decision" in on.status
        await on.press("a")
        assert on.picks == {}
        assert "selection cleared" in on.status


async def test_majors_are_taken_in_by_a_key(opening: Opening) -> None:
    major = offer("1.0.0:90 2.0.0:40", ">= 1.0", root="a", name="major")
    async with opening(CandidateTable((READY, major))) as on:
        await on.press("a")
        assert on.picks == {"a/ready": "1.1.0"}
        assert "1 needs your decision (M, which includes majors, leaves none)" in on.status
        await on.press("a", "M")
        assert "major versions: eligible, a selects them too" in on.status
        await on.press("a")
        assert on.picks == {"a/ready": "1.1.0", "a/major": "2.0.0"}
        await on.press("M")
        assert "major versions: not eligible" in on.status


async def test_an_eligible_selection_is_dropped_when_the_signer_changed(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        # Nothing is looked up before it is selected, however long opening takes.
        patched.setattr("locklens.ui.upgrade._LOOK_UP_SECONDS", 3600.0)
        await _dropped(opening, patched)


async def _dropped(opening: Opening, patched: pytest.MonkeyPatch) -> None:
    facts = [known(READY, "1.0.0", ALICE), known(READY, "1.1.0", MALLORY)]
    facts += [known(TWICE[0], "1.0.0", ALICE), known(TWICE[0], "1.1.0", ALICE)]
    async with opening(known={one.facts.id: one for one in facts}) as on:
        await on.press("a")
        patched.undo()
        on.upgrades.look_up_soon()
        await on.look_up()
        assert on.picks == {"a/twice": "1.1.0", "b/twice": "1.1.0"}
        assert "deselected acme/ready: see the signer" in on.status
        assert "NEW KEY" in on.text
        await on.choose("acme/ready")
        assert "NEW KEY: not the key that signed 1.0.0" in on.said
        await on.press("space")  # Selected by hand it is kept.
        await on.look_up()
        assert "a/ready" in on.picks


async def test_signers_are_looked_up_once(opening: Opening) -> None:
    async with opening() as on:
        await on.look_up()
        source = on.upgrades.source
        assert isinstance(source, ServingSource)
        asked = [f"{one.address.type} {one.version}" for one in source.asked_releases]
        assert sorted(asked) == ["ready 1.0.0", "ready 1.1.0", "twice 1.0.0", "twice 1.1.0"]
        await on.press("right")
        await on.press("j", "j", "j")
        await on.look_up()
        assert len(source.asked_releases) == 5  # and the one that was stepped to


@pytest.mark.parametrize(("newer", "older"), [("right", "left"), ("greater_than_sign", "less_than_sign")])
async def test_versions(opening: Opening, newer: str, older: str) -> None:
    async with opening() as on:
        await on.press("space", newer)
        assert on.picks == {"a/ready": "2.0.0"}
        assert "2.0.0*" in on.text
        assert "*edit a/main.tf:1" in on.text
        await on.press(newer)
        assert "no newer version can be selected" in on.status
        await on.press(older)
        assert on.picks == {"a/ready": "1.1.0"}
        await on.press(older)
        assert on.picks == {}
        await on.press(older)
        assert "no older version can be selected" in on.status
        await on.choose("acme/twice")
        await on.press("space", older)
        assert on.picks == {}
        await on.press("g", newer)
        assert "version: no provider on this row" in on.status


async def test_a_moved_provider_is_shown_with_the_version_that_it_moves_from(opening: Opening) -> None:
    new = offer("1.0.0:90 2.0.0:30", ">= 1.0", name="new", locked=None)
    old = offer("1.0.0:90", name="new").entry
    assert old is not None
    moved = replace(new, moved=replace(old, address=ProviderAddress("registry.example.com", "acme", "new")))
    async with opening(CandidateTable((moved,))) as on:
        await on.choose("acme/new")
        (row,) = [one for one in on.text.splitlines() if "[ ] acme/new" in one]
        assert row.split()[4:6] == ["1.0.0", "2.0.0"]
        assert "moved" in row
        assert "acme/new 1.0.0 (registry.example.com) -> 2.0.0" in on.text


async def test_a_step_from_no_target_is_taken_back(opening: Opening) -> None:
    new = offer("1.0.0:90 2.0.0:30", "~> 3.0", root="a", name="new", locked=None)
    unlisted = [
        offer("2.0.0:30", f"= {locked}", root=root, name="unlisted", locked=locked)
        for root, locked in (("a", "1.0.1"), ("b", "1.0.2"))
    ]
    async with opening(CandidateTable((new, *unlisted))) as on:
        for name, picks in (
            ("acme/new", {"a/new": "2.0.0"}),
            ("acme/unlisted", {"a/unlisted": "2.0.0", "b/unlisted": "2.0.0"}),
        ):
            await on.choose(name)
            before = on.rows
            await on.press("right")
            await on.press("right")
            await on.press("space")
            assert on.picks == picks
            await on.press("left")
            await on.press("left")
            assert on.picks == {}
            assert on.rows == before
            await on.press("left")
            assert "no older version can be selected" in on.status
            await on.press("right", "right")
            assert on.picks == picks
            await on.press("space")


async def test_the_upgrade_limit(opening: Opening) -> None:
    far = offer("1.0.0:90 1.0.1:60 1.1.0:40 2.0.0:30", ">= 1.0", root="a", name="far")
    async with opening(CandidateTable((far,))) as on:
        await on.press("a")
        assert on.picks == {"a/far": "1.1.0"}
        assert "2.0.0: major version, not included" in on.text
        moves = (
            ("M", "2.0.0", ""),
            ("m", "1.1.0", "same major version"),
            ("m", "1.0.1", ""),
            ("m", "2.0.0", "any version"),
        )
        for key, target, words in moves:
            await on.press(key)
            assert on.picks == {}, "what was selected never becomes another version"
            assert words in on.status
            assert "deselected 1 of 1 entry: another version would be the target" in on.status
            await on.press("a")
            assert on.picks == {"a/far": target}
    major = offer("1.0.0:90 2.0.0:30", ">= 1.0", root="a", name="major")
    async with opening(CandidateTable((far, major))) as on:
        for name in ("acme/far", "acme/major"):
            await on.choose(name)
            await on.press("space")
        await on.press("m")
        assert on.picks == {"a/far": "1.1.0"}
        assert "same major version; deselected 1 of 2 entries, without a target version" in on.status


async def test_cooldown(opening: Opening) -> None:
    async with opening(cooldown=30) as on:
        assert "-  acme/young" in on.rows
        await on.press("c")
        assert "[ ] acme/young" in on.rows
        assert "no cooldown: releases of any age" in on.status
        await on.press("c")
        assert "cooldown: 30 days, by the policy" in on.status
    async with opening(cooldown=None) as on:
        assert "[ ] acme/young" in on.rows
        assert "no cooldown" in on.status
        await on.press("c")
        assert "cooldown: 7 days, as the policy sets none" in on.status
        on.upgrades.end_message()
        await until(on, lambda: "own cooldown 7 d" in on.status)


async def test_a_selected_version_that_is_no_longer_the_target_is_deselected(opening: Opening) -> None:
    """A patch that was selected without the cooldown became a major, and a new release the one that was selected."""
    patch = offer("1.0.0:90 1.0.1:2 2.0.0:40", ">= 1.0", root="a", name="patch")
    later = offer("1.0.0:90 1.0.1:2 1.0.2:1 2.0.0:40", ">= 1.0", root="a", name="patch")
    answers = iter([patch, later])
    words = "deselected 1 of 1 entry: another version would be the target"
    async with opening(offering=lambda *_: CandidateTable((next(answers),))) as on:
        await on.press("c", "j", "space")
        assert on.picks == {"a/patch": "1.0.1"}
        await on.press("c")
        assert on.picks == {}
        assert f"cooldown: 7 days, by the policy; {words}" in on.status
        await on.press("c", "space")
        assert on.picks == {"a/patch": "1.0.1"}
        on.upgrades.end_message()
        await on.press("r")
        await on.settle()
        assert on.picks == {}
        await until(on, lambda: words in on.status)


async def test_preview(opening: Opening, tmp_path: Path) -> None:
    async with opening() as on:
        await on.press("U")
        assert "nothing selected: space selects, a selects all eligible" in on.status
        await on.press("space", "right", "U")
        (operation,) = on.operations
        assert isinstance(operation, Upgrade)
        assert (operation.title, operation.where.roots) == ("Select ready 2.0.0 in a", ("a",))
        assert operation.edits_constraints
    async with opening(is_offline=True) as on:
        for _ in range(2):
            await until(on, lambda: on.status == "policy cooldown 7 d | offline: no upgrade can be planned")
            await on.press("space")
            await until(on, lambda: on.status.startswith("1 provider selected in 1 root"))
            assert "offline: no upgrade can be planned" in on.status
            await on.press("space")
        assert "U Preview" not in on.lines[-1]
        await on.press("U")
        assert "upgrade: offline: run without --offline" in on.status
        assert not on.operations


# Reading


async def test_why(opening: Opening) -> None:
    async with opening() as on:
        await on.choose("acme/held")
        await on.press("w")
        assert isinstance(on.app.screen, WhyDialog)
        source = on.upgrades.source
        assert isinstance(source, ServingSource)
        await on.settle()
        subject, *_ = source.whys[0]
        assert (subject.roots, subject.address) == (("a",), HELD.address)
        await on.press("w")
        await on.choose("acme/twice")
        await on.press("w")
        await on.settle()
        assert source.whys[-1][0].roots == ("a", "b")
        await on.press("w", "m", "c", "w")
        await on.settle()
        subject, *_ = source.whys[-1]
        assert (subject.limit, subject.policy.cooldown) == (BumpLimit.MINOR, None), "those of the screen"
        assert not subject.takes_majors
        assert {root: str(version) for root, version in subject.targets.items()} == {"a": "1.1.0", "b": "1.1.0"}
        await on.press("w")
        await on.choose("c")
        await on.press("w")
        assert "why: no provider on this row" in on.status


async def test_handing_out(opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/main.tf").write_text("x")
    seen: list[list[str]] = []
    monkeypatch.setenv("EDITOR", "/bin/vim")
    monkeypatch.setattr("subprocess.run", lambda command, **_: seen.append(command))

    async with opening() as on:
        monkeypatch.setattr(on.app, "suspend", lambda: __import__("contextlib").nullcontext())
        await on.press("y")
        assert on.app.clipboard == "'registry.terraform.io/acme/ready 1.0.0 -> 1.1.0'"
        await on.press("o")
        assert on.app.clipboard == "https://registry.terraform.io/providers/acme/ready/1.1.0"
        await on.choose("acme/held")
        await on.press("e")
        assert seen == [["/bin/vim", "+1", str(tmp_path / "a/main.tf")]]
        await on.press("o")
        assert on.app.clipboard.endswith("/acme/held/2.0.0")  # the newest release
        await on.choose("HELD BACK  2 providers")
        await on.press("o")
        assert "release page: no provider on this row" in on.status
        await on.press("y")
        assert "copy: this row has nothing to copy" in on.status
        await on.choose("c")
        await on.press("e")
        assert "c/lock.hcl is not in the work tree" in on.status


async def test_all_versions(opening: Opening) -> None:
    async with opening() as on:
        assert "ALL VERSIONS" not in on.said
        await on.press("x")
        assert "ALL VERSIONS  newest first, 3" in on.said
        await on.press("x")
        assert "ALL VERSIONS" not in on.said


async def test_filter(opening: Opening) -> None:
    async with opening() as on:
        await on.press("slash", *"held", "enter")
        assert on.rows == ["HELD BACK  2 providers", "-  acme/held", "-  acme/young"]
        assert "filtered" in on.status
        await on.press("escape")
        assert len(on.rows) == 10
        await on.press("slash", *"zzz", "enter")
        assert "Nothing matches the filter" in on.text
        await on.press("escape")


async def test_grouping(opening: Opening) -> None:
    async with opening() as on:
        await on.press("b")
        assert on.rows == [
            "a", "[ ] acme/ready", "[ ] acme/twice", "-  acme/held", "-  acme/young", "-  acme/current", "b",
            "[ ] acme/twice", "c", "-  entire root",
        ]  # fmt: skip
        assert "grouped by root" in on.status
        await on.press("b")
        assert "grouped by provider" in on.status


async def test_asking_again(opening: Opening) -> None:
    async with opening() as on:
        await on.press("space")
        await on.press("r")
        await on.settle()
        source = on.upgrades.source
        assert isinstance(source, ServingSource)
        assert source.asked_fresh == [False, True]
        assert on.picks == {"a/ready": "1.1.0"}


async def test_other_keys(opening: Opening) -> None:
    async with opening() as on:
        await on.press("2")
        assert "Upgrade is the current screen" in on.status
        for key, words in (("T", "4 Signers"), ("D", "4 Signers"), ("A", "1 Review")):
            await on.press(key)
            assert words in on.status
        await on.press("question_mark")
        assert "All keys of this screen" in on.text
        help_text = "\n".join(line.text for line in on.upgrades.help_lines())
        for group in UPGRADE_KEYS.groups:
            for entry in group.keys:
                assert entry.words[:40] in help_text
        await on.press("question_mark")
        await on.press("q")
        assert on.app.return_code == 0


async def test_the_mouse(opening: Opening) -> None:
    async with opening() as on:
        await on.pilot.click(on.upgrades.left, offset=(3, 1))
        assert on.picks == {"a/ready": "1.1.0"}
        await on.pilot.click(on.upgrades.left, offset=(0, 2))
        await on.pilot.pause()
        assert "[ ] a" in on.rows
        await on.pilot.click(on.upgrades.left, offset=(20, 1), times=2)
        await on.pilot.pause()
        assert on.upgrades.detail.has_focus


async def test_what_is_looked_into_is_the_upgrade_of_a_root_that_has_one(opening: Opening) -> None:
    held = offer("1.0.0:90 1.0.5:80 1.1.0:40", "~> 1.0.0", root="a", name="split", locked="1.0.5")
    ready = offer("1.0.0:90 1.0.5:80 1.1.0:40", "~> 1.0", root="b", name="split")
    async with opening(CandidateTable((held, ready))) as on:
        await on.choose("acme/split")
        request = on.upgrades.inside
        assert request is not None
        assert (request.old, request.new, request.roots) == ("1.0.0", "1.1.0", ("b",))
        await on.press("y")
        assert "acme/split 1.0.0 -> 1.1.0" in on.app.clipboard


@pytest.mark.parametrize("form", ["json", "text"])
async def test_export(opening: Opening, tmp_path: Path, form: str) -> None:
    async with opening() as on:
        await on.upgrades.run_action(f"export({form!r})")
        await on.pilot.pause()
        assert isinstance(on.app.screen, ExportDialog)
        target = tmp_path / "report"
        on.app.screen.query_one(Input).value = str(target)
        await on.press("enter")
        await on.settle()
        written = target.read_text()
    assert "acme/ready" in written
    if form == "json":
        assert json.loads(written)["candidates"][0]["provider"] == "registry.terraform.io/acme/current"


async def test_five_hundred_providers_are_scrolled_through(opening: Opening) -> None:
    many = [offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a", name=f"p{number:03}") for number in range(500)]
    async with opening(CandidateTable(tuple(many))) as on:
        await on.press(*["down"] * 60)
        assert on.title == "acme/p060"
        await on.press("end", *["up"] * 20)
        assert on.title == "acme/p479"
        await on.press(*["down"] * 20)
        assert on.title == "acme/p499"
        assert "acme/p499 1.0.0 -> 1.1.0" in on.said


# Between the screens


async def test_from_another_screen_to_a_provider(samples: Samples, tmp_path: Path) -> None:
    review = samples.review(samples.root("a", [samples.change()], configuration=samples.configuration()))
    other = ServingSource(review, top=tmp_path, offering=lambda *_: ALL)
    source = ServingSource(review, top=tmp_path, others={Reads.CANDIDATES: other})
    app = LockLensApp(source, store_path=tmp_path / "store.sqlite3")
    async with app.run_test(size=(120, 40)) as pilot:
        on = UpgradeDriver(app, pilot)
        await on.settle()
        wanted = ("b", ProviderAddress("registry.terraform.io", "acme", "twice"))
        app.post_message(ViewWanted(views.UPGRADE, tmp_path, wanted))
        await on.settle()
        assert on.title == "b"
        await on.press("1")
        assert isinstance(app.screen, ReviewScreen)
        await on.press("2")
        assert on.title == "b"  # it stays as it was
        await on.press("slash", *"held", "enter")
        app.post_message(ViewWanted(views.UPGRADE, tmp_path, ("a", READY.address)))
        await on.pilot.pause()
        assert on.title == "acme/ready"
        assert source.asked_views == [(Reads.CANDIDATES, tmp_path)]


# The sample


async def test_the_sample(tmp_path: Path) -> None:
    """The whole way: the sample repository, its registry, the screen, and the plan of the selection."""
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry, Cache.in_memory() as cache:
        top = make_repository(tmp_path / "infra")
        environ = environ_of(registry, tmp_path)
        request = ReviewRequest(partial(open_git, top), network=NetworkSettings(environ, cache))
        source = LockLens(request).for_view(Reads.CANDIDATES, top)
        app = LockLensApp(source, "upgrade", store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=(120, 40)) as pilot:
            on = UpgradeDriver(app, pilot)
            await until(on, lambda: on.upgrades.has_offers)
            await on.press("M", "a")
            await until(on, lambda: "NEW KEY" in on.text and "looking up" not in on.text)
            await on.look_up()
            assert "up to " not in on.text, "all signers are known"
            standings = {
                f"{one.root}/{one.address.type}": on.upgrades.selection.recommendation(one).held_by
                for one in on.upgrades.selection.offers.providers
            }
            assert standings["infra/prod/network/aws"] == "6.3.0 is 3d old, cooldown 7 d"
            held_by = "4.8.0 is 2d old, cooldown 7 d; ~> 4.6 (infra/prod/secrets/versions.tf:9)"
            assert standings["infra/prod/secrets/vault"] == held_by
            assert "ec" not in {pick.address.type for pick in on.upgrades.selection.picks}
            assert on.picks["infra/stage/network/aws"] == "6.2.0"
            assert "infra/stage/search/search-sync" not in on.picks  # its release date is unknown
            assert len(on.upgrades.selection.offers.refused) == 2
