"""Sample incidents with their registry, and the doctor that diagnoses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from locklens.cli.main import main
from locklens.demo.faults import Faults
from locklens.demo.incidents import SampleIncident, incident_environment, make_incident
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes an incident, and leads every request to its registry."""
    running: list[DemoRegistry] = []
    monkeypatch.chdir(tmp_path)

    def make(incident: SampleIncident) -> Path:
        registry = DemoRegistry(faults=Faults(incident.rules))
        registry.start()
        running.append(registry)
        folder = make_incident(incident, tmp_path / "repository")
        variables = environment(write_cli_configuration(registry, tmp_path))
        for name, value in {**variables, **incident_environment(incident, folder)}.items():
            monkeypatch.setenv(name, value)
        return folder

    yield make
    for registry in running:
        registry.stop()


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def call(folder: Path, *words: str) -> Any:
        form = () if "--format" in words else ("--format", "json")
        main(["-C", str(folder), "doctor", "--no-cache", *form, *words], lambda request, view: pytest.fail("screen"))
        out = capsys.readouterr().out
        return out if form == () else json.loads(out)

    return call
