"""The Doctor screen: a log is pasted or read from a file, causes and fixes are rows, and fixes land on Preview."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from textual import events
from ui.conftest import Driver, until

from locklens.demo.faults import Faults
from locklens.demo.incidents import SampleIncident, incident_environment, make_incident, sample_incidents
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.operations.compare_repository import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.releases.settings import NetworkSettings
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.doctor.paste import PasteDialog
from locklens.ui.doctor.screen import DoctorScreen
from locklens.ui.preview.screen import PreviewScreen

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
        self.app.post_message(events.Paste(log))
        await self.diagnosed()

    async def diagnosed(self) -> None:
        await until(self, lambda: ("VERDICT" in self.text and "CONFIRMED" in self.text) or "LIKELY" in self.text)
        await self.pilot.pause()


Opening = Callable[[str], AbstractAsyncContextManager[DoctorDriver]]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """Opens the screen on an incident, with its registry."""

    @asynccontextmanager
    async def run(cause: str) -> AsyncIterator[DoctorDriver]:
        incident: SampleIncident = INCIDENTS[cause]
        folder = make_incident(incident, tmp_path / "repository")
        with DemoRegistry(faults=Faults(incident.rules)) as registry:
            for name, value in environment(write_cli_configuration(registry, tmp_path)).items():
                monkeypatch.setenv(name, value)
            for name, value in incident_environment(incident, folder).items():
                monkeypatch.setenv(name, value)
            monkeypatch.chdir(folder)
            settings = NetworkSettings(dict(os.environ), Cache(tmp_path / "cache.sqlite3"))
            request = ReviewRequest(partial(open_git, folder), asking=settings, base=Base())
            app = LockLensApp(LockLens(request), store_path=tmp_path / "store.sqlite3")
            async with app.run_test(size=(110, 32)) as pilot:
                on = DoctorDriver(app, pilot)
                await on.press("6")
                await until(on, lambda: isinstance(app.screen, DoctorScreen) and "Why did init fail?" in on.text)
                yield on

    return run


async def test_a_pasted_log_is_diagnosed_and_its_fix_lands_on_preview(opened: Opening) -> None:
    async with opened("h1-missing") as on:
        await on.paste(Path("ci.log").read_text("utf-8"))
        assert on.titles[0] == "likely the lock file has no h1 for the platform"
        assert "fix Restore the entry of commit" in on.titles[1]
        assert "no republished" in on.titles
        assert "LIKELY" in on.lines[0]
        await until(on, lambda: "linux_amd64  (log)" in on.text)
        before = Path("live/prod/.terraform.lock.hcl").read_bytes()
        await on.press("j", "enter")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen))
        assert Path("live/prod/.terraform.lock.hcl").read_bytes() == before
        await until(on, lambda: "locklens restore acme/demo" in on.text or "live/prod" in on.text)
        await on.press("escape")
        await until(on, lambda: isinstance(on.app.screen, DoctorScreen))


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
        await on.press(*["backspace"] * 6, *"ci.log", "enter")
        await on.diagnosed()
        assert on.titles[0].endswith("the platform is not covered")
        await on.press("e")
        await on.press(*["backspace"] * 11, *"darwin", "underscore", *"arm64", "enter", "enter", "enter", "enter")
        await until(on, lambda: "darwin_arm64  (given)" in on.text)
        assert "the platform is not covered" not in on.titles[0]


async def test_the_copied_report_does_nothing_at_a_prompt(opened: Opening, tmp_path: Path) -> None:
    async with opened("republished") as on:
        await on.press("y")
        assert "nothing to copy yet" in on.text
        log = Path("ci.log").read_text("utf-8").replace("for more information", "`touch pwned` $(touch pwned)")
        await on.paste(log)
        await on.press("y")
        assert "report copied" in on.text
        copied = on.app.clipboard
    assert "published again" in copied
    assert str(Path.home()) not in copied
    place = tmp_path / "prompt"
    place.mkdir()
    shell = shutil.which("sh")
    assert shell is not None
    subprocess.run([shell], input=copied, cwd=place, text=True, capture_output=True, check=False)
    assert list(place.iterdir()) == []
    assert all(shlex.split(each)[0] == "-" for each in copied.splitlines())


async def test_a_root_is_examined_without_a_log(opened: Opening) -> None:
    async with opened("constraint-conflict") as on:
        await on.press("x")
        await on.diagnosed()
        assert on.titles[0] == "yes the locked version does not satisfy the constraints"
        assert "CONFIRMED" in on.lines[0]
