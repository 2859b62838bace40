"""`locklens doctor` on the sample incidents: the right cause comes first, with evidence, and the report can be pasted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from locklens.cli.main import main
from locklens.demo.faults import Faults
from locklens.demo.incidents import SampleIncident, incident_environment, make_incident, sample_incidents
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.doctor.report_json import doctor_schema

Run = Callable[..., tuple[int, str, str]]
INCIDENTS = {f"{number:02}-{one.cause}": one for number, one in enumerate(sample_incidents())}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: str) -> tuple[int, str, str]:
        status = main(argv, lambda request, view: pytest.fail("the terminal UI was opened"))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes an incident, and leads every request to its registry."""
    running: list[DemoRegistry] = []

    def make(incident: SampleIncident) -> Path:
        registry = DemoRegistry(faults=Faults(incident.rules))
        registry.start()
        running.append(registry)
        for name, value in environment(write_cli_configuration(registry, tmp_path)).items():
            monkeypatch.setenv(name, value)
        folder = make_incident(incident, tmp_path / "repository")
        for name, value in incident_environment(incident, folder).items():
            monkeypatch.setenv(name, value)
        return folder

    yield make
    for registry in running:
        registry.stop()


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_right_cause_comes_first(name: str, made: Any, run: Run) -> None:
    incident = INCIDENTS[name]
    folder = made(incident)
    status, out, err = run("-C", str(folder), "doctor", *incident.options, "--format", "json", "ci.log")
    document = json.loads(out)
    jsonschema.validate(document, doctor_schema())
    assert (status, err) == (0, ""), out
    causes = {cause["id"]: cause for cause in document["causes"]}
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == (incident.cause, "yes"), out
    named = {cause for cause, found in causes.items() if found["verdict"] == "yes"}
    assert named == {incident.cause, *incident.also}, out
    assert document["remedies"]
    assert str(folder) not in out
