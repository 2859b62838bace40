"""What is inside packages, by the command: from a registry, from this machine, from the cache."""

from __future__ import annotations

import json
import re
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from conformance.case import HERE, TERRAFORM, Files, requires
from kit.git import git
from kit.go_programs import PLAIN, STRIPPED, built, go_version, needs_go
from kit.schemas import validate
from msgspec.structs import replace
from operations.benches import CASE, bench, run

from locklens.advisories import Advisory, AdvisoryDatabase, AffectedModule, AffectedPackage
from locklens.advisories.database import keep_database
from locklens.executables import BuildInfo, Executable, ExecutableFormat
from locklens.hashes import packages_of, zh_of
from locklens.operations.inspection import versions_to_inspect
from locklens.packages.inspecting import keep_facts, kept_facts
from locklens.storage.cache import Cache

ROOT: Files = {"main.tf": requires(("acme/demo", "1.0.0"))}
PINNED = replace(CASE, files=ROOT)

Capture = pytest.CaptureFixture[str]


def inspected(capfd: Capture, *words: str) -> tuple[int, dict[str, Any], str]:
    capfd.readouterr()
    status = run("inspect", "--format", "json", *words)
    out, err = capfd.readouterr()
    found = json.loads(out)
    validate(found, "inspect")
    return status, found, err


def test_two_versions_are_compared_and_read_once_ever(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock", f"-platform={HERE}")
        place.steps()
        status, found, err = inspected(capfd, "acme/demo", "--to", "1.1.0")
        assert (status, [one["version"] for one in found["packages"]]) == (0, ["1.0.0", "1.1.0"])
        assert "to download: 2 packages, " in err
        assert f"demo 1.0.0 {HERE}, demo 1.1.0 {HERE}" in err
        old, new = found["packages"]
        assert old["h1"] in (place.work / ".terraform.lock.hcl").read_text()
        assert old["zh"] in (place.work / ".terraform.lock.hcl").read_text()
        assert "as locked" in old["source"]
        assert "signed by key" in new["source"]
        assert old["executable"]["format"] == "unknown"
        assert found["differences"]["toolchain"] is None
        assert any("cannot be said" in words for words in found["differences"]["unknown"])
        assert found["platforms"] == []
        known = found["advisories"]
        assert (known["as_of"], known["introduced"], known["fixed"], known["both"]) == (None, [], [], [])
        assert not [step for step in place.steps() if "versions" in step], "only all platforms need the list of them"
        status, again, err = inspected(capfd, "acme/demo", "--to", "1.1.0")
        assert "download" not in err
        assert not [step for step in place.steps() if step.endswith(".zip")]
        signed = new["source"].removeprefix("registry.terraform.io, ")
        assert [one["source"] for one in again["packages"]] == ["the cache, as locked", f"the cache, {signed}"]
        assert [one["files"] for one in again["packages"]] == [one["files"] for one in found["packages"]]
        same = "note: registry.terraform.io/acme/demo has 1.0.0 on both sides: there is nothing to compare\n"
        assert same not in err
        assert same in inspected(capfd, "acme/demo", "--from", "1.0.0")[2]
        assert same not in inspected(capfd, "acme/demo")[2], "no other side was named"


def test_what_was_kept_without_advisories_is_read_again_for_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: Capture
) -> None:
    monkeypatch.setenv("LOCKLENS_ADVISORIES", str(tmp_path / "advisories"))
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock", f"-platform={HERE}")
        _, found, _ = inspected(capfd, "acme/demo")
        program = Executable(ExecutableFormat.ELF, 1, functions=(), packages=("golang.org/x/net/html",))
        with Cache() as cache:
            facts = kept_facts(cache, found["packages"][0]["zh"])
            assert facts is not None
            keep_facts(cache, replace(facts, executable=program))
        affected = AffectedModule("golang.org/x/net", packages=(AffectedPackage("golang.org/x/net/html", ("Parse",)),))
        keep_database(AdvisoryDatabase("here", None, "2026-11-23T00:00:00Z", (Advisory("GO-1", (), "", (affected,)),)))
        _, found, err = inspected(capfd, "acme/demo", "--offline")
        assert [one["source"] for one in found["packages"]] == ["the cache, as locked"]
        with Cache() as cache:
            keep_facts(cache, replace(facts, executable=program, is_for_advisories=True))
        _, found, err = inspected(capfd, "acme/demo")
        assert [one["source"] for one in found["packages"]] == ["the cache, as locked"]
        assert "download" not in err
        with Cache() as cache:
            keep_facts(cache, replace(facts, executable=program))
        place.steps()
        _, found, err = inspected(capfd, "acme/demo")
        assert "to download: 1 package" in err
        assert [one["executable"]["format"] for one in found["packages"]] == ["unknown"]


def test_a_package_of_this_machine_that_is_as_locked_is_not_downloaded(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        place.steps()
        status, found, _ = inspected(capfd, "demo", "--offline", "--no-cache")
        assert (status, place.steps()) == (0, [])
        ((package,), source) = found["packages"], found["packages"][0]["source"]
        assert source.startswith(".terraform/providers/")
        assert package["files"]
        assert found["differences"] is None
        program = next((place.work / ".terraform/providers").rglob("terraform-provider-*"))
        program.chmod(0o755)
        program.write_text("evil")
        status, found, _err = inspected(capfd, "demo", "--offline", "--no-cache")
        assert status == 1
        assert found["packages"][0]["executable"] is None
        assert found["packages"][0]["problem"]


def test_every_platform_that_the_registry_lists(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED):
        run("lock", f"-platform={HERE}")
        status, found, _ = inspected(capfd, "acme/demo", "--platform", "all")
        platforms = [one["platform"] for one in found["packages"]]
        assert status == 0
        assert platforms[0] == HERE
        assert len(platforms) == len(set(platforms)) > 1


def test_a_republished_package_is_not_what_is_locked(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock", f"-platform={HERE}")
        lock = place.work / ".terraform.lock.hcl"
        text = lock.read_text()
        lock.write_text(
            "".join(f"{line[:12]}{'0' * 60}{line[72:]}" if '"zh:' in line else line for line in text.splitlines(True))
        )
        status, found, _ = inspected(capfd, "demo")
        assert status == 1
        assert "is not among the locked ones" in found["packages"][0]["problem"]
        status, named, _ = inspected(capfd, "demo", "--to", found["packages"][0]["version"])
        assert (status, named["packages"]) == (1, found["packages"]), "also where the locked version is named"


def test_of_a_republished_package_both_are_shown_where_both_are_known(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock", f"-platform={HERE}")
        lock = place.work / ".terraform.lock.hcl"
        text = lock.read_text()
        lock.write_text(re.sub("zh:([0-9a-f]{64})", lambda found: zh_of(sha256(found[1].encode()).hexdigest()), text))
        git(place.work, "init", "--quiet")
        git(place.work, "add", "--all")
        git(place.work, "commit", "--quiet", "--message=x")
        before = min(packages_of(re.findall("zh:[0-9a-f]{64}", lock.read_text())))
        lock.write_text(text)
        status, found, _ = inspected(capfd, "demo")
        old, new = found["packages"]
        assert (status, old["version"], new["version"]) == (1, "1.0.0", "1.0.0")
        assert "is not among the locked ones; the locked package is not on this machine" in old["problem"]
        assert (new["problem"], found["differences"]) == (None, None)
        system, _, architecture = HERE.partition("_")
        build = BuildInfo("go1.22.1", settings=(("GOOS", system), ("GOARCH", architecture)))
        with Cache() as cache:
            facts = kept_facts(cache, new["zh"])
            assert facts is not None
            program = Executable(ExecutableFormat.ELF, 1, build, (), packages=())
            keep_facts(cache, replace(facts, zh=before, executable=program))
        status, found, _ = inspected(capfd, "demo")
        assert (status, [one["zh"] for one in found["packages"]]) == (0, [before, new["zh"]])
        assert found["differences"] is not None
        capfd.readouterr()
        run("inspect", "demo")
        assert "1.0.0 (as locked before) → 1.0.0 (as locked now)" in capfd.readouterr().out


def test_a_package_of_one_version_is_not_shown_as_that_of_another(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock", f"-platform={HERE}")
        lock = place.work / ".terraform.lock.hcl"
        git(place.work, "init", "--quiet")
        git(place.work, "add", "--all")
        git(place.work, "commit", "--quiet", "--message=x")
        lock.write_text(lock.read_text().replace('"1.0.0"', '"1.1.0"'))
        for _ in range(2):
            status, found, _ = inspected(capfd, "demo")
            old, new = found["packages"]
            assert (status, old["version"], old["problem"], new["version"]) == (1, "1.0.0", None, "1.1.0")
            assert new["problem"].endswith("; locked packages are those of 1.0.0")
            assert found["differences"] is None


def test_roots_with_unlike_packages_of_one_version_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock", f"-platform={HERE}")
        other = place.work / "other"
        other.mkdir()
        text = (place.work / ".terraform.lock.hcl").read_text()
        (other / ".terraform.lock.hcl").write_text(re.sub("zh:[0-9a-f]{60}", f"zh:{'0' * 60}", text))
        git(place.work, "init", "--quiet")
        capfd.readouterr()
        assert run("inspect", "demo") == 2
        assert (
            "acme/demo 1.0.0 is locked with unlike packages in the work tree: in . and in other\n"
            in capfd.readouterr().err
        )
        assert run("inspect", "demo", "--", ".") == 0
        capfd.readouterr()
        status, found, _ = inspected(capfd, "demo", "--from", "1.0.0", "--to", "1.1.0")
        assert (status, [one["version"] for one in found["packages"]]) == (0, ["1.0.0", "1.1.0"])


def test_several_providers(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED):
        words = "acme/demo", "acme/other", "--from", "1.0.0", "--to", "1.1.0"
        status, found, _ = inspected(capfd, *words)
        names = [f"registry.terraform.io/acme/{name}" for name in ("demo", "other")]
        assert status == 0
        assert [one["provider"] for one in found["packages"]] == [name for name in names for _ in range(2)]
        assert [one["provider"] for one in found["providers"]] == names
        assert found["differences"] is None
        assert all(one["differences"] is not None for one in found["providers"])
        capfd.readouterr()
        for form, mark in (("text", "registry.terraform.io/acme/"), ("markdown", "### ")):
            assert run("inspect", *words, "--format", form) == 0
            assert capfd.readouterr().out.count(mark) == 2


def test_a_name_that_no_lock_file_has(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED):
        run("lock", f"-platform={HERE}")
        capfd.readouterr()
        assert run("inspect", "nothing") == 2
        assert "no lock file has 'nothing'" in capfd.readouterr().err
        assert run("inspect", "demo", "--to", "9.9.9") == 1
        out = capfd.readouterr().out
        assert "NOT READ" in out
        assert "9.9.9" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "takes either a PROVIDER or --package"),
        (("aws", "--package", "x.zip"), "takes either a PROVIDER or --package"),
        (("--package", "a", "--package", "b", "--package", "c"), "can be given at most twice"),
        (("--package", "a", "--from", "main"), "--package takes no --from"),
        (("--package", "a"), "no such file or folder"),
        (("aws", "--platform", "x"), "invalid"),
    ],
)
def test_what_contradicts_itself_is_refused(words: tuple[str, ...], complaint: str, capfd: Capture) -> None:
    assert run("inspect", *words) == 2
    assert complaint in capfd.readouterr().err


def packed(path: Path, files: dict[str, str]) -> str:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
    return str(path)


def test_two_files_and_a_folder(tmp_path: Path, capfd: Capture) -> None:
    program = "terraform-provider-demo_v1.{}.0"
    old = packed(tmp_path / "old.zip", {program.format(0): "#!/bin/sh\n", "LICENSE": "MIT\n", "gone": "x"})
    changes = "## 1.1.0\n\x1b[31mred\n::error::x\n"
    files = {program.format(1): "#!/bin/sh\n# more\n", "LICENSE": "BSD\n", "CHANGELOG.md": changes, "new\x1b[0m": "y"}
    new = packed(tmp_path / "new.zip", files)
    status, found, _ = inspected(capfd, "--package", old, "--package", new)
    assert status == 0
    assert found["differences"]["files"] == [
        {"name": "CHANGELOG.md", "state": "added"},
        {"name": "LICENSE", "state": "changed"},
        {"name": "gone", "state": "removed"},
        {"name": "new\x1b[0m", "state": "added"},
    ]
    assert found["packages"][1]["executable"]["unread"] == "it is a script for /bin/sh"
    unpacked = tmp_path / "folder"
    with zipfile.ZipFile(new) as file:
        file.extractall(unpacked)
    _, again, _ = inspected(capfd, "--package", old, "--package", str(unpacked))
    assert again["differences"] == found["differences"]
    assert again["packages"][1]["h1"] == found["packages"][1]["h1"]
    assert again["packages"][1]["zh"] is None
    for form in ("text", "markdown"):
        capfd.readouterr()
        assert run("inspect", "--package", old, "--package", new, "--format", form) == 0
        out = capfd.readouterr().out
        assert "\x1b" not in out
        assert "\n::error" not in out
        assert "it is a script for /bin/sh" in out
        assert "+## 1.1.0" in out
        assert "added    new" in out


def test_a_file_that_is_no_package(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "x.zip").write_text("hello")
    status, found, _ = inspected(capfd, "--package", str(tmp_path / "x.zip"))
    assert status == 1
    assert "not a complete zip file" in found["packages"][0]["problem"]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_the_report_can_go_to_a_file(form: str, tmp_path: Path, capfd: Capture) -> None:
    package = packed(tmp_path / "a.zip", {"README.md": "x"})
    assert run("inspect", "--package", package, "--format", form, "--output", str(tmp_path / "out")) == 0
    assert capfd.readouterr().out == ""
    assert "program" in (tmp_path / "out").read_text().lower() or form == "json"


@needs_go
def test_real_programs_are_told_as_go_tells_them(tmp_path: Path, capfd: Capture) -> None:
    packages = []
    for number, build in enumerate((PLAIN, STRIPPED)):
        path = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.write(built(build), f"terraform-provider-demo_v{number}")
        packages += ["--package", str(path)]
    status, found, _ = inspected(capfd, *packages)
    assert status == 0
    for package, build in zip(found["packages"], (PLAIN, STRIPPED), strict=True):
        program = package["executable"]
        (go,), *rest = go_version(built(build))
        assert (program["go"], program["unread"]) == (go, None)
        assert [[one["path"], one["version"]] for one in program["modules"]] == [
            line[1:3] for line in rest if line[0] == "dep"
        ]
        assert [one["replaced_by"]["path"] for one in program["modules"]] == [
            line[1] for line in rest if line[0] == "=>"
        ]
        assert len(program["settings"]) == len([line for line in rest if line[0] == "build"])
        assert program["notable"] == ["os/exec"]
    names = [one["name"] for one in found["differences"]["settings"]]
    assert names == ["-ldflags", "-X main.b", "-X main.version"]
    assert found["differences"]["modules"] == []
    assert found["differences"]["unknown"] == []


def test_what_a_plan_is_to_lock_is_not_called_locked(tmp_path: Path) -> None:
    old, new = (frozenset({f"zh:{digit * 64}"}) for digit in "12")
    address, version = "registry.terraform.io/acme/demo", "1.0.0"
    for is_planned, states in ((True, ("as locked now", "as planned")), (False, ("as locked before", "as locked now"))):
        sides = versions_to_inspect(
            address, version, version, folder=tmp_path, tool=None, hashes=(old, new), is_planned=is_planned
        )
        assert tuple(side.state for side in sides) == states
        assert [side.by for side in sides] == ["locked", "planned" if is_planned else "locked"]
