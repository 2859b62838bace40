"""What the real tools print is recognised: as it was recorded, and anew where they are on PATH."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doctor.recording import HOST, RECORDED, TOOLS, Played, Scene, is_here, played, scenes
from kit.effort import effort
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import write_unpacked
from locklens.demo.incidents import SampleCopy
from locklens.doctor.recognising import read_log

SCENES = scenes()
CASES = [(tool, name) for tool in TOOLS for name, scene in SCENES.items() if scene.kinds[tool]]
STEP = effort(6, 1)
"""Every which scene is played anew: each takes a second."""


@pytest.mark.parametrize(("tool", "name"), CASES)
def test_a_recorded_error_is_recognised(tool: str, name: str) -> None:
    read = read_log((RECORDED / f"{tool}-{name}.log").read_bytes())
    assert read.errors[0].kind == SCENES[name].kinds[tool]
    assert read.facts.tool in {"", tool}


@pytest.mark.parametrize("name", ["bad-merge", "lock-syntax"])
def test_the_demo_s_message_about_a_lock_file_is_the_tool_s(name: str) -> None:
    recorded = (RECORDED / f"terraform-{name}.log").read_text("utf-8").splitlines()
    title, *paragraphs = SCENES[name].incident.message
    assert {f"Error: {title}", *paragraphs} <= {*recorded}


DIAGNOSED = [(tool, name) for tool, name in CASES if SCENES[name].is_diagnosed]


@pytest.mark.parametrize(("tool", "name"), DIAGNOSED[::STEP])
def test_a_real_error_is_diagnosed(
    tool: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # -C leaves it, and the folder of the scene is deleted
    if not is_here(tool):
        pytest.skip(f"{TOOLS[tool]} is not on PATH")
    scene = SCENES[name]
    with played(scene, tool) as result:
        for variable, value in result.variables.items():
            monkeypatch.setenv(variable, value)
        log = Path(result.folder) / "real.log"
        log.write_text(result.output, "utf-8")
        words = ["--tool", tool, "--platform", "linux_amd64", *scene.incident.options, "--format", "json", str(log)]
        status = main(["-C", str(result.folder), "doctor", *words], lambda request, view: pytest.fail("screen"))
    document = json.loads(capsys.readouterr().out)
    assert (status, document["errors"][0]["kind"]) == (0, scene.kinds[tool]), result.output
    assert document["causes"][0]["id"] == scene.incident.cause, document
    assert document["causes"][0]["verdict"] in {"yes", "likely"}


def played_and_diagnosed(
    scene: Scene, tool: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[Played, dict[str, str]]:
    """Runs init in a scene, and diagnoses its root without the log; returns the verdict on each cause, too."""
    with played(scene, tool) as result:
        for variable, value in result.variables.items():
            monkeypatch.setenv(variable, value)
        words = ["doctor", "--tool", tool, "--no-cache", "--format", "json", "--", "live/prod"]
        main(["-C", str(result.folder), *words], lambda request, view: pytest.fail("screen"))
    return result, {one["id"]: one["verdict"] for one in json.loads(capsys.readouterr().out)["causes"]}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("edition", "status", "verdict"), [("", 0, "unknown"), ("tampered", 1, "yes")])
def test_a_refused_signature_stops_init_only_where_nothing_locked_is_installed(
    edition: str,
    status: int,
    verdict: str,
    tool: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if not is_here(tool):
        pytest.skip(f"{TOOLS[tool]} is not on PATH")
    copy = SampleCopy("live/prod/.terraform/providers", f"{HOST}/acme/demo", "1.4.2", edition=edition)
    scene = SCENES["key-changed"]
    scene = replace(scene, incident=replace(scene.incident, copies=(copy,)))
    result, causes = played_and_diagnosed(scene, tool, monkeypatch, capsys)
    assert (result.status, causes["key-changed"]) == (status, verdict), result.output


@pytest.mark.parametrize(("tool", "status", "verdict"), [("terraform", 1, "yes"), ("opentofu", 0, "no")])
def test_a_version_that_is_gone_stops_only_terraform_where_the_plugin_cache_has_it(
    tool: str,
    status: int,
    verdict: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if not is_here(tool):
        pytest.skip(f"{TOOLS[tool]} is not on PATH")
    (cache := tmp_path / "cache").mkdir()
    write_unpacked(cache, f"{HOST}/acme/demo", "1.4.2", "linux_amd64")
    scene = SCENES["yanked"]
    scene = replace(scene, prepare=lambda folder: _cached_in(folder, cache))
    result, causes = played_and_diagnosed(scene, tool, monkeypatch, capsys)
    assert (result.status, causes["yanked"]) == (status, verdict), result.output


def _cached_in(folder: Path, cache: Path) -> None:
    """Names a plugin cache in the CLI configuration of a scene, which is beside its repository."""
    settings = folder.parent / "demo.tfrc"
    settings.write_text(f'plugin_cache_dir = "{cache}"\n' + settings.read_text("utf-8"), "utf-8")
