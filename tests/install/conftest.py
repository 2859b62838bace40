"""A root module, a registry on loopback, and the environment that leads to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conformance.case import requires
from conformance.forking import Locklens, shared

from locklens.addresses import Platform
from locklens.demo.faults import FaultRule, Faults
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.dialect import TERRAFORM, Dialect
from locklens.install.context import InstallEvent
from locklens.operations.plan import RootResult, Scope
from locklens.operations.root_modules import RootOptions
from locklens.operations.write.apply import apply
from locklens.operations.write.diagnostics import Readonly
from locklens.operations.write.init import Init
from locklens.operations.write.lock import Lock
from locklens.operations.write.registry_source import RegistrySource
from locklens.policy import Policy
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache

PLATFORMS = ("darwin_arm64", "linux_amd64")
HOST = "registry.terraform.io"


class Place:
    """Where a test works."""

    def __init__(self, folder: Path, registry: DemoRegistry) -> None:
        self.folder = folder
        self.registry = registry
        self.events: list[InstallEvent] = []
        self.cache = folder / "home" / "cache.sqlite3"
        home = folder / "home"
        (home / "tmp").mkdir(parents=True)
        service = registry.service_url(HOST)
        (home / "cli.tfrc").write_text(f'host "{HOST}" {{\n  services = {{ "providers.v1" = "{service}" }}\n}}\n')
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "TF_CLI_CONFIG_FILE": str(home / "cli.tfrc"),
        }
        self.root = folder / "root"
        self.root.mkdir()
        self.require(("acme/demo", ""))

    @property
    def lock_file(self) -> Path:
        return self.root / ".terraform.lock.hcl"

    def require(self, *providers: tuple[str, str]) -> None:
        (self.root / "main.tf").write_text(requires(*providers))

    def fail(self, *rules: FaultRule) -> None:
        self.registry.faults = Faults(rules)

    def asked(self) -> list[str]:
        """What the registry was asked since the last call."""
        steps = [str(request.step) for request in self.registry.requests[self._before :]]
        self._before = len(self.registry.requests)
        return steps

    _before = 0

    def _installing(self, **options: Any) -> tuple[Cache, Init]:
        self.events.clear()
        cache = Cache(self.cache)
        found = RootOptions(self.root, self.environ, **{"tool": TERRAFORM, **options})
        return cache, Init(found, NetworkSettings(self.environ, cache), on_event=self.events.append)

    def init(
        self, *, upgrade: bool = False, readonly: Readonly = Readonly.NO, path: str = "", **options: Any
    ) -> RootResult:
        cache, installing = self._installing(**options)
        with cache, installing:
            return installing.init(path, upgrade=upgrade, readonly=readonly)

    def lock(
        self,
        *platforms: str,
        providers: tuple[str, ...] = (),
        accept_republished: bool = False,
        tool: Dialect = TERRAFORM,
        cooldown: int | None = None,
    ) -> RootResult:
        self.events.clear()
        intent = Lock(
            Scope(self.root, tool=tool),
            tuple(map(Platform.parse, platforms)),
            providers,
            accepts_republished=accept_republished,
            policy=Policy(cooldown=cooldown),
        )
        with Cache(self.cache) as cache:
            settings = NetworkSettings(self.environ, cache)
            with RegistrySource(settings, on_event=self.events.append) as supply:
                plan = intent.plan(supply)
        apply(plan.proposal)
        outcome = plan.results[""]
        assert isinstance(outcome, RootResult)
        return outcome

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture(scope="session")
def locklens() -> Locklens:
    return shared()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    offers = {
        f"{HOST}/acme/demo": [SampleListing("1.0.0", PLATFORMS), SampleListing("1.1.0", PLATFORMS)],
        f"{HOST}/acme/other": [SampleListing("1.0.0", PLATFORMS)],
    }
    with DemoRegistry(offers, tells_packages=False) as registry:
        yield Place(tmp_path, registry)
