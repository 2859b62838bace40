"""Leads the requests of a test to a sample registry on loopback, with the packages of an incident if it names one."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from kit.repositories import copy_of
from locklens.demo.faults import Faults
from locklens.demo.incidents import SampleIncident, incident_environment, make_incident
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def environ_of(registry: DemoRegistry, folder: Path) -> dict[str, str]:
    """The environment of this process, in which the tools ask only a registry; its configuration is in `folder`."""
    return {**os.environ, **environment(write_cli_configuration(registry, folder))}


def lead_to(monkeypatch: pytest.MonkeyPatch, registry: DemoRegistry, folder: Path) -> None:
    """Let every request of this process go to a registry; its configuration is in `folder`."""
    for name, value in environment(write_cli_configuration(registry, folder)).items():
        monkeypatch.setenv(name, value)


@cache
def _lay(incident: SampleIncident) -> Callable[[Path], object]:
    return partial(make_incident, incident)


class Incidents(ExitStack):
    """Makes incidents, each with its registry, and ends the registries."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._folder = folder
        self._monkeypatch = monkeypatch

    def __call__(self, incident: SampleIncident) -> Path:
        """Make an incident, and lead every request to its registry; returns the folder of the failing run."""
        registry = DemoRegistry(faults=Faults(incident.rules))
        registry.start()
        self.callback(registry.stop)
        lead_to(self._monkeypatch, registry, self._folder)
        made = copy_of(_lay(incident), self._folder / "repository")
        os.utime(made / "ci.log")  # the run is of now
        for name, value in incident_environment(incident, made).items():
            self._monkeypatch.setenv(name, value)
        return made
