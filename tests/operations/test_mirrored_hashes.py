"""Hashes that only a mirror of the user's CLI configuration has: their proof is `mirror`, and nothing else changes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conformance.case import HERE, TERRAFORM, Files, Unpacked, requires
from conformance.laying import lay
from kit.schemas import validate
from msgspec.structs import replace
from operations.benches import CASE, bench, run

ROOT: Files = {"main.tf": requires(("acme/demo", "1.0.0"))}
PINNED = replace(CASE, files=ROOT, cli="# @MIRROR@\n")

Capture = pytest.CaptureFixture[str]


def reviewed(capfd: Capture, *words: str) -> dict[str, Any]:
    capfd.readouterr()
    run("review", "--no-cache", "--format", "json", *words)
    document = json.loads(capfd.readouterr().out)
    validate(document, "review")
    change: dict[str, Any] = document["roots"][0]["changes"][0]
    return change


def h1_proof(change: dict[str, Any]) -> tuple[str, str | None]:
    found = next(one for one in change["hashes"]["added"] if one["hash"].startswith("h1:"))
    return found["proof"], found["platform"]


def commit_nothing() -> None:
    for words in (["init", "-q"], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-mx"]):
        subprocess.run(["git", *words], check=True)


def test_a_network_mirror_that_the_user_names_vouches_for_a_hash(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        commit_nothing()
        run("init")
        run("mirror", "served")
        assert h1_proof(reviewed(capfd)) == ("unknown", None)
        url = place.names.put_in("@MIRROR@")
        place.configure(f'provider_installation {{\n  network_mirror {{\n    url = "{url}"\n  }}\n}}\n')
        change = reviewed(capfd)
        assert h1_proof(change) == ("mirror", HERE)
        assert change["evidence"]["mirrors"] == [f"provider mirror at {url}"]
        assert change["hashes"]["explained"] == len(change["hashes"]["added"]) - 1
        assert "LK027" in [one["rule"] for one in change["findings"]]
        capfd.readouterr()
        run("review", "--no-cache", "--format", "text")
        assert f"1 hash known only from provider mirror at {url}, unsigned" in capfd.readouterr().out
        served = place.work / "served/registry.terraform.io/acme/demo/1.0.0.json"
        foreign = "zh:" + "f" * 64
        document = json.loads(served.read_text())
        document["archives"][HERE]["hashes"].append(foreign)
        served.write_text(json.dumps(document))
        lock = place.work / ".terraform.lock.hcl"
        honest = lock.read_text()
        lock.write_text(honest.replace('    "zh:', f'    "{foreign}",\n    "zh:', 1))
        proofs = {one["hash"]: one["proof"] for one in reviewed(capfd)["hashes"]["added"]}
        assert proofs[foreign] == "mirror"
        (place.work / "policy.toml").write_text('platforms = ["darwin_arm64"]\ninstall_paths = ["plugin-cache"]\n')
        run("review", "--no-cache", "--policy", "policy.toml", "--format", "junit", "--fail-on", "info")
        assert "First settle which locked hashes are of the release" in capfd.readouterr().out, "lock refuses it"
        lock.write_text(honest)
        served.write_text("{")
        assert h1_proof(reviewed(capfd)) == ("unknown", None)
        run("review", "--no-cache", "--format", "text")
        assert "hashes were not compared with a mirror" in capfd.readouterr().out


@pytest.mark.parametrize("is_unpacked", [False, True])
def test_a_folder_vouches_for_the_hashes_of_the_packages_that_it_holds(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture, *, is_unpacked: bool
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        commit_nothing()
        run("init")
        if is_unpacked:
            lay({f"mirror/registry.terraform.io/acme/demo/1.0.0/{HERE}": Unpacked("acme/demo", "1.0.0")}, place.names)
        else:
            run("mirror", "mirror")
            next(Path("mirror").rglob("1.0.0.json")).unlink()
        place.configure('provider_installation {\n  filesystem_mirror {\n    path = "mirror"\n  }\n}\n')
        proof, platform = h1_proof(reviewed(capfd))
        # Of a packed copy the zh is hashed too: it is signed, and so its h1 is computed, which is better.
        assert (proof, platform) == (("mirror", HERE) if is_unpacked else ("computed", HERE))


def test_a_release_that_only_a_mirror_of_the_settings_has_is_no_refused_one(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    own: Files = {"main.tf": requires(("acme/demo", "9.9.9"))}
    with bench(TERRAFORM, monkeypatch, replace(PINNED, files=own)) as place:
        commit_nothing()
        lay({f"mirror/registry.terraform.io/acme/demo/9.9.9/{HERE}": Unpacked("acme/demo", "1.0.0")}, place.names)
        place.configure('provider_installation {\n  filesystem_mirror {\n    path = "mirror"\n  }\n}\n')
        run("init")
        (found,) = [one for one in reviewed(capfd)["findings"] if one["rule"] == "LK030"]
        assert found["severity"] == "warn"
        assert "registry.terraform.io does not list registry.terraform.io/acme/demo 9.9.9; " in found["message"]
        assert found["message"].endswith("; mirror, which the settings here name, has a package that is locked")
        shutil.rmtree(place.work / "mirror")
        (found,) = [one for one in reviewed(capfd)["findings"] if one["rule"] == "LK030"]
        assert (found["severity"], "cannot install" in found["message"]) == ("block", True)


def test_what_the_repository_has_is_no_mirror(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        commit_nothing()
        run("init")
        target = place.work / f"terraform.d/plugins/registry.terraform.io/acme/demo/1.0.0/{HERE}"
        shutil.copytree(place.work / f".terraform/providers/registry.terraform.io/acme/demo/1.0.0/{HERE}", target)
        assert h1_proof(reviewed(capfd)) == ("unknown", None)


def hashes_of(capfd: Capture) -> dict[str, Any]:
    capfd.readouterr()
    run("hashes", "--no-cache", "--format", "json")
    document: dict[str, Any] = json.loads(capfd.readouterr().out)
    return document


def test_install_paths_are_those_of_the_cli_configuration_where_the_policy_names_none(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        policy = place.work / "locklens.toml"
        policy.write_text(f'platforms = ["{HERE}", "darwin_arm64"]\n')
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "x"]):
            subprocess.run(["git", *words], check=True)
        run("init")
        assert hashes_of(capfd)["policy"]["install_paths"] == ["direct"]
        place.configure('plugin_cache_dir = "cache"\n')
        found = hashes_of(capfd)
        assert found["policy"]["install_paths"] == ["direct", "plugin-cache"]
        assert found["policy"]["local"] == {"platform": HERE, "install_paths": ["plugin-cache"]}
        direct, cache = found["roots"][0]["providers"][0]["coverage"]["paths"]
        assert (direct["path"], direct["covered"]) == ("direct", [HERE, "darwin_arm64"])
        # No other machine has this cache: its platform's h1 is not missed.
        assert [*cache["covered"], *cache["missing"], *cache["unknown"]] == [HERE]
        lock = place.work / ".terraform.lock.hcl"
        lock.write_text("".join(one for one in lock.read_text().splitlines(keepends=True) if '"h1:' not in one))
        findings = hashes_of(capfd)["roots"][0]["providers"][0]["findings"]
        assert [one["message"] for one in findings if one["rule"] == "LK009"] == [
            f"{HERE} is not covered from a plugin cache: no h1 for it is locked; init does not use a cached package"
        ]
        capfd.readouterr()
        run("health", "--format", "json")
        checks = {one["id"]: one for one in json.loads(capfd.readouterr().out)["checks"]}
        assert checks["platform-missing"]["locks"] == 1, checks["platform-missing"]
        mirror = 'network_mirror {\n    url = "https://localhost:9/"\n    include = ["corp/other"]\n  }\n'
        place.configure(f"provider_installation {{\n  {mirror}  direct {{}}\n}}\n")
        found = hashes_of(capfd)
        assert found["policy"]["local"]["install_paths"] == ["packed-mirror", "plugin-cache"]
        paths = found["roots"][0]["providers"][0]["coverage"]["paths"]
        assert [one["path"] for one in paths] == ["direct", "plugin-cache"], "the mirror is for another provider alone"
        policy.write_text('install_paths = ["direct"]\n')
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "x"], check=True)
        assert hashes_of(capfd)["policy"]["install_paths"] == ["direct"]
