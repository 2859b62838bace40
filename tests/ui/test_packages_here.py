"""The Hashes screen beside the packages of this machine: what is installed, cached and mirrored."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import pytest
from ui.conftest import Running, Samples, ServingSource, until
from ui.test_hashes import HashesDriver

from locklens.addresses import Platform, ProviderAddress
from locklens.demo.faults import Faults
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES, environment, write_cli_configuration, write_places
from locklens.errors import RunCancelledError
from locklens.operations.compare import open_locked
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.operations.verification import (
    EntryPackages,
    PackagePlace,
    PackageVerdict,
    SearchedPlace,
    VerifiedPackage,
    Where,
)
from locklens.releases import NetworkSettings
from locklens.review.model import Review
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.hashes.packages import comparison_words, counts_line, packages_span
from locklens.versions import Version

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the sample packages are of linux_amd64")


async def test_packages_are_compared_on_demand(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "infrastructure")
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry:
        configuration = write_cli_configuration(registry, tmp_path, write_places(tmp_path, top))
        environ = {**os.environ, **environment(configuration)}
        cache = Cache(tmp_path / "cache.sqlite3")
        request = ReviewRequest(
            partial(open_locked, top), include_unchanged=True, is_survey=True, network=NetworkSettings(environ, cache)
        )
        app = LockLensApp(LockLens(request, folder=top), "hashes", store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=(120, 60)) as pilot:
            on = HashesDriver(app, pilot)
            await until(on, lambda: bool(on.names) and not on.hashes.is_asking)
            asked = len(registry.requests)
            await on.choose("hashicorp/tls")
            assert "PACKAGES ON THIS MACHINE" in on.said
            assert "not compared yet" in on.said
            await on.press("p")
            await until(on, lambda: "DIFFERS" in on.said, seconds=30)
            assert "1 package differs, of 2 compared" in on.lines[-2]
            assert "1 package differs" in on.lines[0]
            assert "changed  terraform-provider-tls_v4.1.0" in on.said
            assert "plugin-cache  linux_amd64    ok" in on.said
            await on.choose("hashicorp/time")
            assert "not compared yet" in on.said  # Only the row's packages were.
            await on.press("a", "p")
            await until(on, lambda: "3 packages differ, of 9 compared; 1 missing" in on.lines[-2], seconds=30)
            await until(on, lambda: "installed     linux_amd64    MISSING" in on.said, seconds=30)
            await on.choose("corp/backup")
            assert "mirror        linux_amd64    ok" in on.said
            assert "not compared: nothing is installed" in on.said
            assert len(registry.requests) == asked
            await on.choose("acme/netbox")
            assert f"`locklens -C {top.resolve()} verify -- infra/prod/dns` downloads it" in " ".join(on.said.split())
            assert "says whether this is the publisher's" in " ".join(on.said.split())
            await on.press("slash", *"package-differs", "enter")
            assert on.names == ["infra/prod/dns", "acme/netbox", "infra/prod/network", "hashicorp/tls"]
            await on.press("escape", "r")
            await until(on, lambda: not on.hashes.is_asking)
            await on.choose("hashicorp/tls")
            assert "not compared yet" in on.said


class WaitingSource(ServingSource):
    """Compares packages until it is cancelled."""

    ended: threading.Event

    def verify_packages(
        self,
        review: Review,
        top: Path,
        chosen: Collection[tuple[str, ProviderAddress]],
        *,
        on_progress: Callable[[int, int], None] = lambda _, __: None,
        cancel: threading.Event | None = None,
    ) -> dict[tuple[str, ProviderAddress], EntryPackages]:
        del review, top, chosen
        on_progress(3, 12)
        assert cancel is not None
        cancel.wait(60)
        self.ended.set()
        raise RunCancelledError("cancelled")


def test_a_package_without_a_hash_to_compare_with_is_not_called_as_locked() -> None:
    address, version = ProviderAddress("registry.terraform.io", "acme", "demo"), Version.parse("1.0.0")
    place = PackagePlace(
        address, version, Platform.parse("linux_arm64"), Where.MIRROR, Path("/m"), "/m", is_folder=True
    )

    def words(*verdicts: PackageVerdict) -> str:
        packages = tuple(VerifiedPackage(place, verdict) for verdict in verdicts)
        return comparison_words([EntryPackages((), packages, (), "")])

    rest = "; 1 package without a locked hash to compare with"
    assert words(PackageVerdict.UNLOCKED) == f"no package was compared{rest}"
    assert words(PackageVerdict.MATCHES) == "1 package compared, all as locked"
    assert words(PackageVerdict.MATCHES, PackageVerdict.UNLOCKED) == f"1 package compared, all as locked{rest}"
    assert words(PackageVerdict.DIFFERS, PackageVerdict.UNLOCKED) == f"1 package differs, of 1 compared{rest}"


def test_a_place_that_was_not_looked_at_may_have_a_package() -> None:
    unread = EntryPackages((), (), (SearchedPlace(Where.MIRROR, "https://m", problem="it is down"),), "")
    assert comparison_words([unread]) == "no package was compared; 1 place not compared: it is down"
    assert counts_line([unread]).text == "  no package compared; 1 place not compared: it is down"
    assert packages_span([unread]).text == "?"
    nowhere = EntryPackages((), (), (SearchedPlace(Where.MIRROR, "/m"),), "")
    assert comparison_words([nowhere]).startswith("no package of these providers is here")
    assert packages_span([nowhere]).text == "none"


@pytest.mark.parametrize("key", ["p", "escape"])
async def test_a_comparison_blocks_nothing_and_is_cancelled(
    running: Running, samples: Samples, tmp_path: Path, key: str
) -> None:
    source = WaitingSource(samples.review(samples.root("a", [samples.change()])), top=tmp_path)
    source.ended = threading.Event()
    async with running(source, "hashes", settled=False) as shown:
        on = HashesDriver(shown.app, shown.pilot)
        await until(on, lambda: bool(on.names) and not on.hashes.is_asking, seconds=30)
        await on.choose("hashicorp/aws")
        await on.press("p")
        await until(on, lambda: "comparing packages 3/12; p or esc cancels" in on.lines[-2], seconds=30)
        assert "being compared" in on.said
        await on.press("space")
        await until(on, lambda: len(on.hashes.marked) == 1)
        await on.press(key)
        await until(on, lambda: "comparing packages: cancelled" in on.lines[-2], seconds=30)
        assert source.ended.wait(30)
        assert "not compared yet" in on.said
