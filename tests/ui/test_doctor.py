"""The Doctor screen: a log is pasted or read from a file, causes and fixes are rows, and fixes land on Preview."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from kit.git import git
from kit.registries import lead_to
from markdown_it import MarkdownIt
from msgspec.structs import replace
from textual import events
from ui.conftest import Driver, until

from locklens.addresses import Platform
from locklens.cli.main import main
from locklens.demo import lock_file
from locklens.demo.cases import sample_entry
from locklens.demo.faults import Faults
from locklens.demo.incidents import SampleIncident, incident_environment, make_incident, sample_incidents
from locklens.demo.registry import DemoRegistry
from locklens.doctor.judged_copies import HASH_ON_RUNNER
from locklens.doctor.model import Cause, CauseId, CauseVerdict, Diagnosis, Incident, Remedy, Trait, TrustCost
from locklens.doctor.report_words import asked_words, is_clean, verdict_sentence
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.doctor import DoctorRequest
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write.lock import Lock
from locklens.releases import NetworkSettings
from locklens.review.model import HostState
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.dialogs.choices import WritesDialog
from locklens.ui.dialogs.form import ExportDialog
from locklens.ui.doctor import DoctorProveDialog, DoctorScreen, PasteDialog
from locklens.ui.doctor.detail import command_to_copy, doctor_rows, on_screen
from locklens.ui.preview import PreviewScreen
from locklens.ui.shell import Run
from locklens.ui.widgets import Bar

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}


class DoctorDriver(Driver):
    """Words for the Doctor screen."""

    @property
    def doctor(self) -> DoctorScreen:
        screen = self.app._views["doctor"]
        assert isinstance(screen, DoctorScreen)
        return screen

    @property
    def titles(self) -> list[str]:
        return [f"{row.state.text} {row.title.text}" for row in self.doctor.left.rows]

    async def paste(self, log: str) -> None:
        before = self.doctor._job.runs
        self.app.post_message(events.Paste(log))
        await until(self, lambda: self.doctor._job.runs > before)
        await self.diagnosed()

    async def diagnosed(self) -> None:
        await until(self, lambda: ("VERDICT" in self.text and "CONFIRMED" in self.text) or "LIKELY" in self.text)
        await until(self, lambda: not self.doctor._job.is_running)


def evidence(on: DoctorDriver, cause: CauseId) -> str:
    """Returns the evidence for or against a cause."""
    diagnosis = on.doctor._diagnosis
    assert diagnosis is not None
    return next(one.evidence for one in diagnosis.causes if one.id is cause)


Opening = Callable[[str], AbstractAsyncContextManager[DoctorDriver]]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """Opens the screen on an incident, with its registry."""

    @asynccontextmanager
    async def run(cause: str) -> AsyncIterator[DoctorDriver]:
        incident: SampleIncident = INCIDENTS[cause]
        folder = make_incident(incident, tmp_path / "repository")
        with DemoRegistry(faults=Faults(incident.rules)) as registry:
            lead_to(monkeypatch, registry, tmp_path)
            for name, value in incident_environment(incident, folder).items():
                monkeypatch.setenv(name, value)
            monkeypatch.chdir(folder)
            settings = NetworkSettings(dict(os.environ), Cache(tmp_path / "cache.sqlite3"))
            request = ReviewRequest(partial(open_git, folder), network=settings, base=Base())
            app = LockLensApp(LockLens(request), store_path=tmp_path / "store.sqlite3")
            async with app.run_test(size=(120, 32)) as pilot:
                on = DoctorDriver(app, pilot)
                await on.press("6")
                await until(on, lambda: isinstance(app.screen, DoctorScreen) and "Why did init fail?" in on.text)
                yield on

    return run


async def test_a_pasted_log_is_diagnosed_and_its_fix_lands_on_preview(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert on.titles[0] == "likely the lock file has no h1 for the platform"
        assert "fix Add the hashes of linux_amd64 to the lock file, from the signed package" in on.titles[1]
        assert "no the version was published again with other packages" in on.titles
        for key in ("x", "n", "a"):
            await on.press(key)
            assert f"{key} does nothing on this screen; ? lists its keys" in on.text
        await on.press("M")
        assert "merge: on the screen 1 Review" in on.text
        assert "LIKELY" in on.lines[0]
        assert "v downloads packages that may tell it" in on.text
        await until(on, lambda: "linux_amd64  (log)" in on.text)
        before = Path("live/prod/.terraform.lock.hcl").read_bytes()
        await on.press("j", "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen))
        assert Path("live/prod/.terraform.lock.hcl").read_bytes() == before
        await until(on, lambda: "locklens lock" in on.text or "live/prod" in on.text)
        await on.press("escape")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen))


async def test_what_changes_on_disk_is_diagnosed_again_from_the_first_row(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locklens.ui.shell.review_loader.LOOK_SECONDS", 0.05)
    async with opened("h1-missing") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.press("j", "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes" in on.text)
        await on.press("enter")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen) and "FIXED" in on.lines[0])
        assert on.doctor.left.cursor == 0
        assert "> fix" in on.text
        await on.press("r")
        await until(on, lambda: not on.doctor._job.is_running)
        assert on.doctor.left.cursor == 0
        subprocess.run(["git", "checkout", "--quiet", "."], check=True)
        await until(on, lambda: "CONFIRMED" in on.lines[0])
        await on.press("j", "r")
        await until(on, lambda: not on.doctor._job.is_running and "> fix" in on.text)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
async def test_a_detail_stays_open_while_its_run_is_diagnosed_again(
    opened: Opening, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr("locklens.ui.shell.review_loader.LOOK_SECONDS", 0.05)
    async with opened("hand-edit") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.pilot.resize_terminal(*size)
        for key in ("r", "i", ""):
            await on.press("enter")
            assert on.doctor.detail.has_focus
            runs = on.doctor._job.runs
            if key:
                await on.press(key)
            else:
                with Path("live/prod/main.tf").open("a", encoding="utf-8") as file:
                    file.write("# changed meanwhile\n")
            await until(on, partial(diagnosed_after, on, runs))
            await until(on, lambda: on.doctor.focused is not None)
            assert on.doctor.detail.has_focus
            assert "esc back" in on.lines[-1]
            await on.press("escape")
            assert on.doctor.left.has_focus
            assert "q quits" not in on.text


def diagnosed_after(on: DoctorDriver, runs: int) -> bool:
    """Whether there were more runs than that, and none goes on."""
    return on.doctor._job.runs > runs and not on.doctor._job.is_running


async def test_keys_that_need_a_diagnosis_are_offered_with_one(opened: Opening) -> None:
    async with opened("republished") as on:
        await on.pilot.resize_terminal(140, 45)
        await until(on, lambda: "paste log" in on.lines[-1])
        offered = {one.strip() for one in on.lines[-1].split("  ") if one.strip()}
        assert offered == {"p paste log", "f file", "i diagnose", "e facts", ": palette", "? keys", "q ctrl+c quit"}
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert all(each in on.lines[-1] for each in ("enter open", "v verify", "r again", "y copy"))
        await on.press("slash", *"nowhere", "enter")
        await until(on, lambda: "Nothing matches the filter." in on.text)
        assert "esc back" in on.lines[-1]
        assert "enter open" not in on.lines[-1]


async def test_a_log_that_fits_no_root_is_shown_with_its_reason(opened: Opening) -> None:
    log = (
        "- Reusing previous version of hashicorp/vault from the dependency lock file\n\n"
        "Error: Failed to install provider\n\nError while installing hashicorp/vault v4.1.0: the current package for\n"
        "registry.terraform.io/hashicorp/vault 4.1.0 doesn't match any of the checksums\n"
        "previously recorded in the dependency lock file\n"
    )
    async with opened("republished") as on:
        on.app.post_message(events.Paste(log))
        for size in ((80, 24), (140, 45)):
            await on.pilot.resize_terminal(*size)
            await until(on, lambda: "p pastes the log" in on.text and "The log fits no root here." in on.text)
            words = " ".join(on.text.split())
            assert "ERROR current-package" in words
            assert "no root here locks or requires hashicorp/vault" in words
            assert "Nothing matches the filter." not in on.text


async def test_a_fix_is_copied_as_its_command(opened: Opening) -> None:
    async with opened("republished") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.press("j")
        await until(on, lambda: "> fix" in on.text)
        await on.press("y")
        assert on.app.clipboard == "locklens upgrade acme/demo --root=live/prod"


async def test_a_small_terminal_shows_which_platform_and_root_a_verdict_is_about(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        await on.pilot.resize_terminal(80, 24)
        await on.paste(Path("ci.log").read_text("utf-8"))
        await until(on, lambda: "platform linux_amd64  (log)" in on.text and "root     live/prod" in on.text)
        shutil.copytree("live/prod", "live/dev")
        log = Path("ci.log").read_text("utf-8")
        await on.paste(log)
        await until(on, lambda: "root     ? one of live/dev, live/prod" in on.text)


async def test_the_dialog_the_file_and_the_facts(opened: Opening) -> None:
    async with opened("platform-missing") as on:
        await on.press("p")
        assert isinstance(on.app.screen, PasteDialog)
        on.app.screen.query_one("#log").text = "npm ERR! code EINTEGRITY"  # type: ignore[attr-defined]
        await on.press("ctrl+d")
        await until(on, lambda: "nothing recognised" in on.text)
        await on.press("f")
        await on.press(*"absent", "enter")
        assert "no such file" in on.text
        await on.press(*["backspace"] * 6, *"live", "enter")
        assert "that is a folder: name a file" in on.text
        await on.press(*["backspace"] * 4, "'", *"ci.log", "'", "enter")
        await on.diagnosed()
        assert on.titles[0].endswith("the platform is not covered")
        await on.press("e")
        assert "enter next field, then diagnose" in on.text
        await on.press(*["backspace"] * 11, *"darwin", "underscore", *"arm64", *["enter"] * 8)
        await until(on, lambda: "darwin_arm64  (given)" in on.text)
        assert "the platform is not covered" not in on.titles[0]


@pytest.mark.parametrize("end", [("enter",), ("ctrl+j",), ("enter", "ctrl+j")])
async def test_a_log_that_arrives_as_keys_keeps_its_lines(opened: Opening, end: tuple[str, ...]) -> None:
    async with opened("h1-missing") as on:
        await on.press("p", "a", *end, "b", *end, *end, "c")
        assert on.app.screen.query_one("#log").text == "a\nb\n\nc"  # type: ignore[attr-defined]


async def test_a_log_that_is_pasted_without_a_key_has_the_line_ends_of_a_terminal(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        await on.paste(Path("ci.log").read_text("utf-8").replace("\n", "\r"))
        assert on.titles[0].endswith("the lock file has no h1 for the platform")


async def test_the_root_can_be_named(opened: Opening) -> None:
    async with opened("constraint-conflict") as on:
        shutil.copytree("live/prod", "live/stage")
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert on.doctor._diagnosis is not None
        assert on.doctor._diagnosis.facts.root is None
        await on.press("e", *["enter"] * 7, *"live/stage", "enter")
        await until(on, lambda: on.doctor._request.roots == ("live/stage",) and not on.doctor._job.is_running)
        await until(on, lambda: "live/stage" in on.text)


async def test_the_command_that_prints_a_missing_fact_is_a_line_of_its_own(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        title = "? the mirror's copy is not the locked package"
        await until(on, lambda: title in on.titles)
        await on.press(*["j"] * on.titles.index(title))
        await until(on, lambda: "> ?" in on.text)
        await on.press("enter")
        lines = [line.text for line in on.doctor.detail.lines]
        at = next(number for number, text in enumerate(lines) if text.startswith("  (cd DIR && find . "))
        assert lines[at - 1].endswith("pass it with e")
        for _ in lines[:at]:
            await on.press("j")
            if on.doctor.line is not None and on.doctor.line.copied == HASH_ON_RUNNER:
                break
        await on.press("y")
        assert on.app.clipboard == HASH_ON_RUNNER


async def test_the_copied_report_does_nothing_at_a_prompt(opened: Opening, tmp_path: Path) -> None:
    async with opened("republished") as on:
        await on.press("y")
        assert "nothing to copy so far: no diagnosis yet" in on.text
        log = Path("ci.log").read_text("utf-8").replace("for more information", "`touch pwned` $(touch pwned)")
        await on.paste(log)
        await on.press("y")
        assert ": the report: read it before you paste it" in on.text
        copied = on.app.clipboard
    assert "published again" in copied
    assert str(Path.home()) not in copied
    place = tmp_path / "prompt"
    place.mkdir()
    shell = shutil.which("sh")
    assert shell is not None
    subprocess.run([shell], input=copied, cwd=place, text=True, capture_output=True, check=False)
    assert list(place.iterdir()) == []
    assert all(each.startswith("- ") for each in copied.splitlines())
    commands = [each for each in copied.splitlines() if each.startswith("-     $ ")]
    assert "-     $ locklens upgrade acme/demo --root=live/prod" in commands
    blocks = [one.content.strip() for one in MarkdownIt().parse(copied) if one.type == "code_block"]
    assert blocks == [each.removeprefix("-     ") for each in commands]


async def test_a_root_is_examined_without_a_log(opened: Opening) -> None:
    async with opened("constraint-conflict") as on:
        await on.press("i")
        await on.diagnosed()
        assert on.titles[0] == "yes the locked version does not satisfy the constraints"
        assert "CONFIRMED" in on.lines[0]


async def test_the_root_is_named_as_on_the_other_screens_below_the_top(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened("constraint-conflict") as on:
        root = "live/prod"
        monkeypatch.chdir(root)
        await on.press("i")
        await on.diagnosed()
        assert f" root     {root} " in on.text
        assert f"at {root}/" in evidence(on, CauseId.CONSTRAINT_CONFLICT)


async def test_the_context_can_be_corrected(opened: Opening) -> None:
    async with opened("mirror-differs") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert "the mirror's copy is not at hand" in evidence(on, CauseId.MIRROR_DIFFERS)
        await on.press("e", "enter", "enter")
        await on.press(*["backspace"] * 9, *"1.9.8", "enter", "enter", *"nowhere", "enter")
        assert "no such folder" in on.text
        await on.press(*["backspace"] * 7, *"mirror", *["enter"] * 4)
        await until(on, lambda: "1.9.8  (log; version: given)" in on.text)
        assert "linux_amd64  (log)" in on.text
        assert "mirror/registry.terraform.io/acme/demo/1.4.2/linux_amd64 is h1:" in evidence(on, CauseId.MIRROR_DIFFERS)


async def test_a_row_of_hashes_leads_to_doctor(opened: Opening) -> None:
    async with opened("republished") as on:
        await on.press("3")
        await until(on, lambda: "acme/demo" in on.text and "BLOCK" in on.text)
        await on.press("j", "i")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen) and "STARTED FROM" in on.text)
        assert on.titles[0] == "likely the version was published again, or what is locked never belonged to it"
        assert "LK001" in on.text
        assert on.doctor._request.roots == ("live/prod",)


async def test_a_row_of_review_leads_to_doctor(opened: Opening) -> None:
    async with opened("hand-edit") as on:
        subprocess.run(["git", "reset", "--quiet", "HEAD~1"], check=True)
        await on.press("1", "r")
        await until(on, lambda: "BLOCK ^  acme/netbox" in on.text)
        await on.press("g", "j", "i")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen) and "STARTED FROM" in on.text)
        assert on.titles[0].endswith("the block has the version of one release, and the hashes of another"), on.titles


async def test_a_plan_that_failed_leads_to_doctor(opened: Opening) -> None:
    async with opened("key-changed") as on:
        where = on.doctor.source.where(Path.cwd(), ["live/prod"])
        on.doctor.preview(Lock(where, (Platform.parse("windows_amd64"),)))
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "unknown issuer" in on.text)
        await until(on, lambda: "i diagnose" in on.lines[-1])
        await on.press("i")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen) and "STARTED FROM" in on.text)
        await until(on, lambda: "ERROR  unknown-issuer" in on.text)
        await until(on, lambda: on.titles[0].startswith("yes no key that the registry lists made the signature"))


async def test_a_plan_that_did_not_fail_offers_no_diagnosis(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        where = on.doctor.source.where(Path.cwd(), ["live/prod"])
        on.doctor.preview(Lock(where, (Platform.parse("linux_amd64"),)))
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes" in on.text)
        assert "diagnose" not in on.lines[-1]
        await on.press("i")
        assert "diagnose: only of a plan that failed" in on.text


async def test_a_fix_that_rewrites_a_constraint_alone_says_so(opened: Opening) -> None:
    async with opened("constraint-conflict") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.press("j", "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes" in on.text)
        assert on.text.count("Allow and select demo 1.4.2 in live/prod") == 2, "the title, and the commit message"
        assert "# acme/demo  1.4.2  its entry stays as it is" in on.text


async def test_packages_are_downloaded_once_that_is_agreed_to(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        await on.press("v")
        assert "verify: no diagnosis yet" in on.text
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert on.titles[0].startswith("likely")
        await on.press("v")
        await until(on, lambda: "To download: 1 package" in on.text)
        await until(on, lambda: bool(re.search(r"demo 1\.4\.2 [a-z]+_[a-z0-9]+", on.text)))
        await on.press("escape")
        await until(on, lambda: "nothing was downloaded" in on.text)
        assert on.titles[0].startswith("likely")
        await on.press("v")
        await until(on, lambda: "To download: 1 package" in on.text)
        await on.press("enter")
        await until(on, lambda: "each cause was tested again" in on.text)
        assert on.titles[0] == "yes the lock file has no h1 for the platform"
        await on.press("v")
        assert "verify: no download here tells an open cause (checked against the registry)" in on.doctor.message


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ("bad-merge", "no cause is open"),
        ("credentials", "(asked registry.terraform.io: requires authentication credentials"),
        ("yanked", "(checked against the registry)"),
        ("republished", ""),
        ("package-altered", ""),
    ],
)
async def test_a_download_is_offered_where_it_tells_a_cause(opened: Opening, cause: str, reason: str) -> None:
    async with opened(cause) as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.pilot.resize_terminal(160, 45)
        assert ("v verify" in on.lines[-1]) is not bool(reason)
        assert ("v downloads packages" in on.text) is not bool(reason)
        await on.press("v")
        await until(on, lambda: reason in on.doctor.message if reason else isinstance(on.app.screen, DoctorProveDialog))
        assert isinstance(on.app.screen, DoctorScreen if reason else DoctorProveDialog)
        await on.press("escape")


async def test_the_line_above_a_sample_names_no_key_that_does_nothing(opened: Opening) -> None:
    async with opened("bad-merge") as on:
        on.doctor.source.request = replace(on.doctor.source.request, is_demo=True)
        await on.doctor.mount(Bar(id="banner"), before="#notice")
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.pilot.resize_terminal(160, 45)
        assert "Try enter open, y copy, 2 Upgrade, ? keys, q quit" in on.text
        await on.press("enter")
        assert "Try j k move, y copy, 2 Upgrade, ? keys, q quit" in on.text
        await on.press("enter")
        assert "enter does nothing in the detail; tab goes to the list, ? lists the keys" in on.lines[-2]


async def test_no_setting_is_exported_that_would_hide_a_cause(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened("cache-differs") as on:
        names = "TF_PLUGIN_CACHE_DIR", "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE"
        for name in names:
            monkeypatch.delenv(name)
        screen = DoctorScreen(on.doctor.source, on.app._keeper)
        assert names[1] in screen._request.environ
        assert list(screen._settings) == [names[0]]


async def test_the_first_line_of_a_cause_copies_the_report(opened: Opening) -> None:
    async with opened("republished") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.press("enter", "y")
        assert "the report: read it before you paste it" in on.doctor.message
        assert on.app.clipboard.startswith("- ")


_NAMES = {"/": "slash", ".": "full_stop", ":": "colon"}


def is_shown(on: Driver, words: str) -> bool:
    return words in on.text


async def test_a_package_that_is_not_there_is_refused_where_it_is_named(opened: Opening) -> None:
    async with opened("republished") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        for text, refusal in (("/nope.zip", "no such folder or file"), ("h1:x", "not a hash: ")):
            await on.press("e", *["enter"] * 6, *(_NAMES.get(one, one) for one in text), "enter")
            await until(on, partial(is_shown, on, refusal))
            await on.press("escape")
        assert on.titles[0].startswith("likely the version was published again")


async def test_a_fix_that_nothing_runs_opens_its_detail(opened: Opening) -> None:
    async with opened("republished") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        by_hand = Remedy("ask-publisher", "Ask the publisher", 1, TrustCost.NONE, None, "")
        assert on.doctor._diagnosis is not None
        on.doctor._take_diagnosis(replace(on.doctor._diagnosis, causes=(), remedies=(by_hand,)))
        await until(on, lambda: on.titles == ["fix Ask the publisher"])
        assert "tab pane" in on.lines[-1]
        await on.press("enter")
        assert on.doctor.detail.has_focus
        assert "do it by hand: there is no command to copy" in on.doctor.message


async def test_the_highlight_stays_on_the_fix_whose_preview_was_left(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert on.titles[0].startswith("likely")
        await on.press("j", "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes" in on.text)
        await on.press("escape")
        await until(on, lambda: on.titles[0].startswith("yes"))
        assert on.doctor.left.current is not None
        assert on.doctor.left.current.remedy is not None


def test_a_fact_is_asked_for_with_the_key_that_takes_it() -> None:
    for words, shown in (
        ("it fits a, b: name it with -- ROOT", "it fits a, b: name it with e"),
        ("the platform: --platform OS_ARCH", "the platform: e"),
        ("the package: --package FILE, or --package zh:HASH", "the package: e"),
        ("its origin: --install-path, and its hash: --package FILE", "its origin, and its hash: e"),
        ("the h1: --package DIR, or `locklens lock --platform linux_amd64 --dry-run x`", None),
        ("locklens lock --platform=linux_amd64 -- live/prod", "locklens lock --platform=linux_amd64 -- live/prod"),
        ("downloads it: --prove changed", "downloads it: --prove changed"),
    ):
        assert on_screen(words) == (shown or words.replace("--package DIR", "e"))


async def test_a_command_that_tells_a_fact_keeps_its_options(opened: Opening) -> None:
    async with opened("mirror-differs") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        at = next(n for n, title in enumerate(on.titles) if "has no h1 for the platform" in title)
        await on.press(*"j" * at)
        detail = " ".join(line.text for line in on.doctor.detail.lines)
        assert "the h1 of linux_amd64: e, or `locklens" in detail
        assert " lock --platform linux_amd64 --dry-run acme/demo" in detail


async def test_an_undo_adds_no_finding_that_head_has(opened: Opening) -> None:
    async with opened("constraint-conflict") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        await on.press("j", "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes" in on.text)
        await on.press("enter")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen) and "FIXED" in on.lines[0])
        await on.press("Z", "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes" in on.text)
        assert "findings: none new; HEAD already has 1 more (1 BLOCK)" in " ".join(on.text.split())


async def test_a_plan_that_failed_as_a_whole_warns_of_nothing_that_it_would_lock(opened: Opening) -> None:
    async with opened("key-revoked") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        at = next(n for n, row in enumerate(on.doctor.left.rows) if row.remedy is not None and row.remedy.write)
        await on.press("g", *"j" * at, "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "FAILED" in on.text)
        assert "i tests the causes" in " ".join(on.text.split())
        assert "WARNINGS" not in on.text
        assert "locked for linux_amd64 only" not in on.text


async def test_a_root_has_one_name_on_the_screen_in_whichever_folder_it_was_opened(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened("h1-missing") as on:
        log = Path("ci.log").read_text("utf-8")
        monkeypatch.chdir("live/prod")
        await on.paste(log)
        assert on.doctor._diagnosis is not None
        assert [one.roots for one in on.doctor._diagnosis.places] == [("live/prod",)]
        assert "root     live/prod" in on.text
        await on.press("e")
        await until(on, lambda: "Facts of the failing run" in on.text)
        assert "  ." in on.text[on.text.index("root: its folder") :], "where the user is, as a shell would name it"
        await on.press("escape")


async def test_keys_that_need_a_diagnosis_say_that_it_still_runs(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened("h1-missing") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        diagnose, may_go_on = on.doctor._diagnose, threading.Event()

        def held(request: DoctorRequest, run: Run) -> Diagnosis:
            may_go_on.wait(30)
            return diagnose(request, run)

        monkeypatch.setattr(on.doctor, "_diagnose", held)
        await on.press("r", "v")
        assert on.doctor.message == "verify: a diagnosis is running; press v again when it is done"
        for key in ("enter", "j"):
            await on.press(key)
            assert on.doctor.message == f"{key}: a diagnosis is running; press {key} again when it is done"
        assert on.lines[0].split() == ["locklens", "doctor"], "nothing is known of this diagnosis"
        await on.press("y")
        assert on.doctor.message == "nothing to copy so far: a diagnosis is running"
        on.doctor.action_export("text")
        assert on.doctor.message == "nothing to export so far: a diagnosis is running"
        may_go_on.set()
        await on.diagnosed()
        assert "CONFIRMED" in on.lines[0] or "LIKELY" in on.lines[0]
        await on.press("j")
        assert not on.doctor.message
        on.doctor.action_export("text")
        await until(on, lambda: isinstance(on.app.screen, ExportDialog))
        await on.press("enter")
        await until(on, lambda: "exported to locklens-doctor.txt" in on.text)
        assert "VERDICT" in Path("locklens-doctor.txt").read_text("utf-8")


def test_an_incident_of_the_demo_opens_here_and_its_fix_can_be_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locklens.cli.review.has_terminal", lambda: True)
    monkeypatch.chdir(tmp_path)
    seen: list[str] = []

    async def drive(request: ReviewRequest, view: str) -> None:
        app = LockLensApp(LockLens(request), view, store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=(130, 32)) as pilot:
            on = DoctorDriver(app, pilot)
            await on.diagnosed()
            seen.append(on.titles[0])
            assert request.folder is not None
            lock = request.folder / "live/prod/.terraform.lock.hcl"
            before = lock.read_bytes()
            await on.press("j")
            # The shell that a command is pasted into does not know the demo's registry.
            await until(on, lambda: "with the settings of this run: export" in on.text)
            await on.press("enter")
            await until(on, lambda: isinstance(app.screen, PreviewScreen) and "ready: enter writes" in on.text)
            assert "edited by hand" not in on.text, "the way back is not the edit"
            assert "Downgrade netbox" not in on.text
            assert "Restore netbox 3.9.1 in live/prod" in on.text
            assert "LK004" in on.text, "as in the review after it: HEAD has the edited version"
            await on.press("enter")
            await until(on, lambda: isinstance(app.screen, DoctorScreen) and "FIXED" in on.text)
            assert on.titles == ["fix Run init again"]
            assert lock.read_bytes() != before
            await on.press("Z")
            await until(on, lambda: app.screen is not on.doctor)
            await on.press("enter")
            await until(on, lambda: isinstance(app.screen, PreviewScreen) and "ready: enter writes" in on.text)
            await on.press("enter")
            await until(on, lambda: isinstance(app.screen, DoctorScreen) and "CONFIRMED" in on.text)
            assert lock.read_bytes() == before

    def open_ui(request: ReviewRequest, view: str) -> int:
        asyncio.run(drive(request, view))
        return 0

    assert main(["demo", "--incident", "hand-edit"], open_ui) == 0
    assert seen == ["yes the block has the version of one release, and the hashes of another"]


async def test_a_copy_takes_the_place_of_an_altered_folder(opened: Opening) -> None:
    async with opened("plugin-corrupted") as on:
        place = Path("live/prod/.terraform/providers/registry.terraform.io/acme/demo/1.4.2/linux_amd64")
        before = {one.name: one.read_bytes() for one in place.iterdir()}
        await on.press("e", *["enter"] * 4, *"mirror", *["enter"] * 4)
        await until(on, lambda: "mirror" in on.doctor._request.mirrors and not on.doctor._job.is_running)
        await on.paste(Path("ci.log").read_text("utf-8"))
        await until(on, lambda: any(title.startswith("fix Put the copy in mirror") for title in on.titles))
        await until(on, lambda: not on.doctor._job.is_running and "fix    Put the copy" in on.text)
        await on.press("j")
        await until(on, lambda: "> fix" in on.text)
        await on.press("enter")
        await until(
            on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter replaces 1 folder" in on.text
        )
        await until(on, lambda: "kept aside as" in on.text)
        await on.press("tab")
        assert "y copy message" not in on.lines[-1]
        assert "y copy" in on.lines[-1]
        assert {one.name: one.read_bytes() for one in place.iterdir()} == before
        await on.press("enter")
        await until(
            on,
            lambda: isinstance(on.app.screen, DoctorScreen) and on.titles == ["fix Run the command that failed again"],
        )
        assert "replaced 1 folder; Z undoes it" in on.lines[-2]
        await on.press("home", "enter")
        assert "do it by hand: there is no command to copy" in on.text
        assert {one.name: one.read_bytes() for one in place.iterdir()} != before
        kept = place.with_name("linux_amd64.suspect")
        assert {one.name: one.read_bytes() for one in kept.iterdir()} == before
        await on.press("Z")
        dialog = on.app.screen
        assert isinstance(dialog, WritesDialog)
        assert [line.text.partition("UTC")[2].strip() for line in dialog.view.lines] == [f"Replace {place}"]
        assert not [one.label for one in dialog.keys if one.label == "y"]
        await on.press("enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter" in on.text)
        await on.press("enter")
        await until(on, lambda: "undone: 1 folder; Z redoes it" in on.text)
        assert {one.name: one.read_bytes() for one in place.iterdir()} == before


def test_fixes_of_one_kind_begin_with_what_they_are_of() -> None:
    """A narrow list cuts the end of a title."""
    first, second, other = (
        Remedy(kind, "Rewrite the constraints", 1, TrustCost.NONE, None, f"run {root}", subject=f"in {root}")
        for kind, root in (("change-constraint", "a"), ("change-constraint", "b"), ("upgrade", "a"))
    )
    rows = doctor_rows(Diagnosis("", True, (), Incident(), remedies=(first, second, other)))
    assert [row.title.text for row in rows] == [
        "in a: Rewrite the constraints",
        "in b: Rewrite the constraints",
        "Rewrite the constraints: in a",
    ]


async def test_the_preview_of_a_fix_heeds_the_policy(opened: Opening) -> None:
    async with opened("yanked") as on:
        Path("locklens.toml").write_text("cooldown = 100", "utf-8")
        git(Path(), "add", ".")
        git(Path(), "commit", "-qm", "policy")
        await until(on, lambda: "changed on disk, reloaded" in on.text)
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert on.titles[1] == "fix Upgrade acme/demo to 1.5.0, which the policy holds back"
        await on.press("j")
        await until(on, lambda: "1.5.0 is held back: cooldown 100 d" in on.text)
        await on.press("enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes 1 file" in on.text)
        assert "! live/prod: acme/demo: 1.5.0 is 19 days old, and the" in on.text


async def test_a_merge_fix_opens_the_preview_of_the_merge(opened: Opening) -> None:
    lock = Path("live/prod/.terraform.lock.hcl")
    ours, theirs = (lock_file(sample_entry("acme/demo", version, "~> 1.4")) for version in ("1.4.2", "1.5.0"))
    at = ours.index(b"provider ")
    async with opened("bad-merge") as on:
        markers = b"<<<<<<< HEAD\n" + ours[at:] + b"=======\n" + theirs[at:] + b">>>>>>> other\n"
        lock.write_bytes(ours[:at] + markers)
        await until(on, lambda: "changed on disk, reloaded" in on.text)  # else it is diagnosed again at any time
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert on.titles[:2] == [
            "yes a merge left the lock file wrong",
            "fix Merge block by block with HEAD (ours): acme/demo 1.4.2",
        ]
        await on.press("j")
        await until(on, lambda: "> fix" in on.text)
        await on.press("enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter writes 1 file" in on.text)
        await on.press("enter")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen) and "FIXED" in on.text)
        assert lock.read_bytes() == ours


@pytest.mark.parametrize(
    ("verdict", "is_ok", "rest"),
    [(CauseVerdict.NO, True, ""), (CauseVerdict.UNKNOWN, False, "; 1 of 2 causes could not be checked")],
)
def test_ok_is_said_only_where_each_cause_is_ruled_out(verdict: CauseVerdict, is_ok: bool, rest: str) -> None:
    causes = tuple(Cause(one, "", id=CauseId.REPUBLISHED, traits=Trait.OF_HASHES) for one in (CauseVerdict.NO, verdict))
    diagnosis = Diagnosis("", False, (), None, causes, is_of_log=False)  # type: ignore[arg-type]
    assert is_clean(diagnosis) is is_ok
    assert verdict_sentence(diagnosis) == f"No cause for an error was found{rest}."


def test_a_verdict_names_what_is_likely_in_a_root_that_nothing_certain_concerns() -> None:
    def cause(cause: CauseId, verdict: CauseVerdict, *roots: str) -> Cause:
        return Cause(verdict, "", id=cause, traits=Trait.NONE, provider="a/demo", roots=roots, subject=f"in {roots}")

    missing = cause(CauseId.PLUGIN_MISSING, CauseVerdict.YES, "one")
    for roots, is_named in ((("one",), False), (("one", "two"), True), (("two",), True)):
        likely = cause(CauseId.REPUBLISHED, CauseVerdict.LIKELY, *roots)
        diagnosis = Diagnosis("", False, (), None, (missing, likely), is_of_log=False)  # type: ignore[arg-type]
        assert ("Likely, too" in verdict_sentence(diagnosis)) is is_named


@pytest.mark.parametrize(("command", "is_of_settings"), [
    ("locklens -C live lock", True), ("TF_DATA_DIR=.data terraform init", True), ("mv -- a b && tofu init", True),
    ('grep -n -A 9 dev_overrides "${TF_CLI_CONFIG_FILE:-$HOME/.terraformrc}"', True),
    ("curl -sSv -o /dev/null https://registry.terraform.io/", False), ("git diff -- live/.terraform.lock.hcl", False),
])  # fmt: skip
def test_a_command_is_copied_with_the_settings_that_it_reads(command: str, is_of_settings: bool) -> None:
    fix = Remedy("show-change", "", 1, TrustCost.NONE, 0, command)
    copied = command_to_copy(fix, {"CHECKPOINT_DISABLE": "1"})
    assert copied == (f"export CHECKPOINT_DISABLE=1 && {command}" if is_of_settings else command)


def test_a_host_that_its_error_names_is_named_once() -> None:
    for error, words in (
        ("r.example.com requires a token", "requires a token"),
        ("r.example.com: 127.0.0.1:1 answered 500", "127.0.0.1:1 answered 500"),
        ("r.example.community: no answer", "r.example.community: no answer"),
        ("no answer in time", "no answer in time"),
    ):
        host = HostState("r.example.com", True, None, error, "")
        diagnosis = Diagnosis("", False, (), None, hosts=(host,))  # type: ignore[arg-type]
        assert asked_words(diagnosis) == f"asked r.example.com: {words}"
