"""Each of forty incidents has the right cause first, and none is confirmed wrongly, with and without its registry."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from doctor.incidents import TOLD, Told, own_scenes
from doctor.recording import RECORDED, scenes
from doctor.test_prefixes import disguised
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo.faults import Faults
from locklens.demo.incidents import incident_environment, make_incident, sample_incidents
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.operations.doctor import DoctorRequest
from locklens.operations.doctor.diagnose import diagnose
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache

SCENES = {**scenes(), **own_scenes()}


def ids(told: Told) -> str:
    return f"{told.tool}-{told.scene}-{'online' if told.is_online else 'unreachable'}"


def test_there_are_forty() -> None:
    assert len(TOLD) >= 40
    assert {one.is_online for one in TOLD} == {True, False}


@pytest.mark.parametrize(("number", "told"), list(enumerate(TOLD)), ids=[ids(one) for one in TOLD])
def test_the_right_cause_comes_first(
    number: int, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = SCENES[told.scene]
    folder = make_incident(scene.incident, tmp_path / "repository")
    scene.prepare(folder)
    log = (RECORDED / f"{told.tool}-{told.scene}.log").read_text("utf-8").partition("\n")[2]
    (folder / "run.log").write_bytes(disguised(log, random.Random(number)) if number % 2 else log.encode())
    monkeypatch.chdir(tmp_path)
    with DemoRegistry(faults=Faults(scene.incident.rules)) as registry:
        variables = environment(write_cli_configuration(registry, tmp_path))
        for name, value in {**variables, **incident_environment(scene.incident, folder)}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("locklens.sources.http.sending.Sender._wait", lambda *_: None)  # retries need no pause here
        monkeypatch.setenv("HOME", str(tmp_path))
        if not told.is_online:
            registry.stop()
        words = ["--tool", told.tool, "--no-cache", *told.options, "--format", "json", "run.log"]
        status = main(["-C", str(folder), "doctor", *words], lambda request, view: pytest.fail("screen"))
    document = json.loads(capsys.readouterr().out)
    assert status == 0
    assert (document["state"], document["errors"][0]["kind"]) == ("open", scene.kinds[told.tool])
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) in {(told.cause, verdict) for verdict in told.verdicts}, document["causes"]
    assert told.words in first["evidence"]
    assert {cause["id"] for cause in document["causes"] if cause["verdict"] == "yes"} <= {told.cause, told.also}
    assert "--offline" not in json.dumps(document["causes"])


@pytest.mark.parametrize("cause", [
    "h1-missing", "republished", "platform-missing", "mirror-differs", "cache-differs", "package-altered", "hand-edit", "yanked",
])  # fmt: skip
def test_a_download_is_offered_where_it_tells_a_cause(cause: str, made: Any, tmp_path: Path) -> None:
    """Of samples, `v` settles each cause that says so, and no other one."""
    incident = next(one for one in sample_incidents() if one.cause == cause)
    folder = made(incident)
    options = dict(zip(incident.options[::2], incident.options[1::2], strict=True))
    mirrors, cache = filter(None, [options.get("--mirror")]), options.get("--plugin-cache", "")
    log, network = (folder / "ci.log").read_bytes(), NetworkSettings(dict(os.environ), Cache(tmp_path / "cache"))
    request = DoctorRequest(log, folder, os.environ, mirrors=tuple(mirrors), cache=cache, network=network)
    before = diagnose(request).causes
    after = {one.id: one.verdict for one in diagnose(replace(request, prove="changed")).causes}
    settled = {one.id for one in before if after.get(one.id, one.verdict) is not one.verdict}
    assert {one.id for one in before if one.is_by_download} == settled
    assert not any(one.is_by_download for one in diagnose(replace(request, network=None)).causes)


@pytest.mark.parametrize(("cause", "log"), [("cache-differs", "cache-altered"), ("key-revoked", "key-revoked")])
def test_a_sample_has_the_words_of_terraform(cause: str, log: str) -> None:
    incident = next(one for one in sample_incidents() if one.cause == cause)
    recorded = " ".join((RECORDED / f"terraform-{log}.log").read_text("utf-8").split())
    assert all(" ".join(words.split()) in recorded for words in incident.message)
