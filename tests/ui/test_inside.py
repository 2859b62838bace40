"""What is inside packages, on the screen: real keys on the demo and its registry."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from ui.conftest import Driver, until

from locklens.addresses import ProviderAddress
from locklens.demo.faults import Fault, Faults, Step
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES, environment, sample_advisories, write_cli_configuration
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.why import InsideDialog, inside_request, show_inside
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the words are those of linux_amd64")


class InsideDriver(Driver):
    """The app on the demo, with the lines of the dialog."""

    registry: DemoRegistry
    cache: Cache

    @property
    def inside(self) -> str:
        """The lines of the dialog; "" without one."""
        screen = self.app.screen
        return (
            "\n".join(line.text for line in screen.query_one(LineView).lines)
            if isinstance(screen, InsideDialog)
            else ""
        )

    @property
    def packages(self) -> list[str]:
        """The packages that were downloaded."""
        return [
            one.path.rpartition("/")[2]
            for one in self.registry.requests
            if one.method == "GET" and one.path.endswith(".zip")
        ]


@asynccontextmanager
async def demo(tmp_path: Path, size: tuple[int, int] = (100, 30)) -> AsyncIterator[InsideDriver]:
    top = make_repository(tmp_path / "infrastructure")
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry, Cache(tmp_path / "cache.sqlite3") as cache:
        environ = {**os.environ, **environment(write_cli_configuration(registry, tmp_path))}
        request = ReviewRequest(partial(open_git, top), network=NetworkSettings(environ, cache))
        app = LockLensApp(LockLens(request, folder=top), store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=size) as pilot:
            on = InsideDriver(app, pilot)
            on.registry, on.cache = registry, cache
            await until(on, lambda: "60 of 181 " in on.text or "60 not verified" in on.text, seconds=60)
            yield on


async def opened(on: InsideDriver, *keys: str) -> None:
    await on.press(*keys)
    await until(on, lambda: "To download" in on.inside or "TOOLCHAIN" in on.inside, seconds=30)


def shows(on: InsideDriver, text: str) -> Callable[[], bool]:
    return lambda: text in on.inside


async def test_the_republished_package_and_the_odd_platform(tmp_path: Path) -> None:
    async with demo(tmp_path) as on:
        await opened(on, "slash", *"acme/demo", "enter", "n", "z")
        assert "1 package, " in on.inside
        assert on.packages == [], "nothing is downloaded before it is agreed to"
        await on.press("enter")
        await until(on, shows(on, "LINKED       os/exec"), seconds=30)
        assert "1.4.2 (as locked before) → 1.4.2 (as locked now)" in on.inside
        assert "NOT READ     1.4.2 (as locked before): the package that registry.terraform.io has today" in on.inside
        assert "the locked package is not on this machine, and was not inspected before" in on.inside
        assert "DIFFERENCES  cannot say: not both packages were inspected" in on.inside
        assert on.packages == ["terraform-provider-demo_1.4.2_linux_amd64.zip"]
        await on.press("a")
        await until(on, shows(on, "4 packages, "), seconds=30)
        await on.press("enter")
        await until(on, shows(on, "PLATFORMS    linux_arm64: not like the others"), seconds=30)
        assert "module github.com/acme/agent  linux_arm64: v0.1.0; 4 other platforms: not linked" in on.inside
        assert len(on.packages) == 5, "the first package is not downloaded again"
        assert on.inside.count("NOT READ") == 2
        assert (
            "NOT READ     darwin_amd64, darwin_arm64, linux_arm64, windows_amd64 1.4.2 (as locked before): "
            in on.inside
        )
        await on.press("y")
        assert on.app.clipboard.startswith("### registry.terraform.io/acme/demo linux")
        await on.press("escape")
        assert not on.inside
        detail = on.app.screen.query_one("#detail", LineView)
        await until(on, lambda: "LK044" in "\n".join(line.text for line in detail.lines), seconds=60)


async def test_what_was_inspected_is_known_on_every_open_screen(tmp_path: Path) -> None:
    def said() -> str:
        return "\n".join(line.text for line in on.app.screen.query_one("#detail", LineView).lines)

    async with demo(tmp_path) as on:
        await on.press("5", "slash", *"older Go", "enter")
        await until(on, lambda: "0 of 29 locked releases inspected" in said(), seconds=60)
        await on.press("1", "slash", *"acme/demo", "enter", "n", "z")
        await until(on, lambda: "To download" in on.inside, seconds=30)
        await on.press("enter")
        await until(on, shows(on, "TOOLCHAIN"), seconds=30)
        await on.press("escape", "5")
        await until(on, lambda: "1 of 29 locked releases inspected" in said(), seconds=60)


async def test_an_upgrade_side_by_side(tmp_path: Path) -> None:
    async with demo(tmp_path, (80, 24)) as on:
        await on.press("2")
        await until(on, lambda: "6 can upgrade" in on.text, seconds=60)
        await on.press("slash", *"acme/demo", "enter")
        await opened(on, "z")
        await on.press("enter")
        for size in ((80, 24), (100, 30), (140, 45)):
            await until(on, shows(on, "TOOLCHAIN"), seconds=30)
            await on.press("q")
            await until(on, lambda: not on.inside)
            await on.pilot.resize_terminal(*size)
            await until(on, lambda: ">  [ ] acme/demo" in on.text)
            await on.press("z")
            sides = f"{'':48}{'go1.23.4':36}go1.24.4" if size[0] >= 120 else "go1.23.4 → go1.24.4"
            await until(on, shows(on, f"TOOLCHAIN    {sides}"), seconds=30)
            assert "MODULES      1 new, 2 gone, 8 up" in on.inside
            assert "+## 1.5.0" in on.inside
            await until(on, shows(on, "FROM         1.4.2: the cache, as locked"), seconds=30)
        assert len(on.packages) == 2, "what was read before is cached"


async def test_the_advisories_of_an_upgrade(tmp_path: Path) -> None:
    with sample_advisories(tmp_path):
        async with demo(tmp_path, (160, 30)) as on:
            await on.press("2")
            await until(on, lambda: "6 can upgrade" in on.text, seconds=60)
            await on.press("slash", *"p/vault", "enter")
            await until(on, lambda: "87d patch     ? same key" in on.text, seconds=30)
            await opened(on, "z")
            assert "vault 4.6.0 linux_amd64" in on.inside
            await on.press("enter")
            await until(
                on, shows(on, "ADVISORIES   0 introduced, 2 fixed (and 1 not linked by name), 2 in both"), seconds=30
            )
            assert "GO-0000-0003 in github.com/hashicorp/terraform-provider-vault 4.6.1, fixed in 4.8.0" in on.inside
            assert "FROM         4.6.0: registry.terraform.io, as locked" in on.inside
            assert "4.6.1: registry.terraform.io, signed by key" in on.inside
            await on.press("escape")
            await until(on, lambda: "87d patch     2 same key" in on.text, seconds=30)
    assert "LOCKLENS_ADVISORIES" not in os.environ


async def test_an_upgrade_of_another_package_than_the_locked_one(tmp_path: Path) -> None:
    with sample_advisories(tmp_path):
        async with demo(tmp_path, (160, 30)) as on:
            await on.press("2")
            await until(on, lambda: "6 can upgrade" in on.text, seconds=60)
            await on.press("slash", *"/search-sync", "enter", "l", "j")
            await until(on, lambda: ">  [ ]   infra/prod/search " in on.text, seconds=30)
            await opened(on, "z")
            assert "1 package, " in on.inside
            assert "search-sync 1.9.0 linux_amd64" in on.inside
            await on.press("enter")
            refusal = "the package that registry.terraform.io has today is not among the locked ones"
            await until(on, shows(on, f"NOT READ     1.8.0: {refusal}"), seconds=30)
            assert "DIFFERENCES  cannot say" in on.inside
            assert on.packages == ["terraform-provider-search-sync_1.9.0_linux_amd64.zip"]
            await on.press("escape", "j")
            await opened(on, "z")
            await on.press("enter")
            await until(on, shows(on, "FROM         1.8.0: registry.terraform.io, as locked"), seconds=30)
            await on.press("escape")
            await until(on, lambda: "1.9.0    ? minor       0 same key" in on.text, seconds=30)
            rows = [" ".join(row.split()) for row in on.text.splitlines() if "[ ]" in row]
            assert any("infra/prod/search " in row and "minor ? same key" in row for row in rows), "it was never read"
            assert any(" corp/search-sync " in row and "minor several same key" in row for row in rows)


async def test_a_package_of_a_run_that_was_cancelled_counts_as_hashed(tmp_path: Path) -> None:
    async with demo(tmp_path, (160, 30)) as on:
        on.registry.faults.add(Fault.STALLED, "registry.terraform.io/cyrilgdn/postgresql", "1.25.0", step=Step.PACKAGE)
        await on.press("slash", *"postgresql", "enter", "j")
        assert "1 of 6" in on.text
        await opened(on, "z")
        await on.press("enter")
        await until(on, lambda: on.cache.info().inspections == 1, seconds=30)
        await on.press("escape")
        await until(on, lambda: "0 of 6" in on.text, seconds=30)


async def test_from_a_preview(tmp_path: Path) -> None:
    async with demo(tmp_path) as on:
        await on.press("2")
        await until(on, lambda: "6 can upgrade" in on.text, seconds=60)
        await on.press("slash", *"vault", "enter", "space", "U")
        await until(on, lambda: "enter apply" in on.text and "4.6.0 -> 4.6.1" in on.text, seconds=60)
        row = on.app.screen.query_one("#plan", LineView).current
        assert row is not None
        assert row.text.startswith("PLAN"), "the only changed provider needs no highlighted row"
        await opened(on, "z")
        if "To download" in on.inside:
            await on.press("enter")
        await until(on, shows(on, "TOOLCHAIN    go1.23.3 → go1.23.4"), seconds=30)
        assert "FROM         4.6.0: registry.terraform.io, as locked" in on.inside
        assert "4.6.1: registry.terraform.io, signed by key" in on.inside, "it is locked nowhere yet"


async def test_another_package_than_the_locked_one_is_refused(tmp_path: Path) -> None:
    async with demo(tmp_path) as on:
        await on.press("slash", *"/vault-ext", "enter", "g", "j", "z")
        await until(on, shows(on, "corp/vault-ext"), seconds=30)
        refusal = "the package that registry.terraform.io has today is not among the locked ones"
        await until(on, lambda: refusal in " ".join(on.inside.split()) or "To download" in on.inside, seconds=30)
        assert "NOT READ     2.3.0: " + refusal in on.inside
        assert "FROM" not in on.inside
        assert on.packages == []


async def test_all_platforms_are_those_that_the_registry_lists(tmp_path: Path) -> None:
    async with demo(tmp_path) as on:
        review: Any = on.app.screen
        words = "registry.terraform.io lists no platform of registry.terraform.io/acme/demo 9.9.9"
        for version, is_listed in (("9.9.9", False), ("1.4.1", True)):
            address = ProviderAddress("registry.terraform.io", "acme", "demo")
            show_inside(review, review.source, inside_request(address, None, version, folder=tmp_path, root=""))
            await on.pilot.pause()
            await until(on, lambda: "NOT READ" in on.inside or "To download" in on.inside, seconds=30)
            await on.press(*["enter"] * ("To download" in on.inside))
            await until(on, lambda: "NOT READ" in on.inside or "TOOLCHAIN" in on.inside, seconds=30)
            dialog: Any = on.app.screen
            assert "a" in {key.label for key in dialog.keys}
            await on.press("a")
            await until(on, shows(on, "darwin_arm64" if is_listed else words), seconds=30)
            assert "a" not in {key.label for key in dialog.keys}
            await on.press("escape")


async def test_escape_downloads_nothing(tmp_path: Path) -> None:
    async with demo(tmp_path) as on:
        await opened(on, "slash", *"acme/demo", "enter", "n", "z")
        await on.press("escape")
        assert not on.inside
        assert on.packages == []


async def test_a_row_without_a_provider_says_so(tmp_path: Path) -> None:
    async with demo(tmp_path) as on:
        await on.press("z")
        assert "inside: no provider on this row" in on.text
