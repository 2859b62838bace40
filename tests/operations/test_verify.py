"""Packages that are on this machine, beside the lock files: what is wrong is named, file by file."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conformance.case import HERE, TERRAFORM, Files, Unpacked, requires
from conformance.laying import lay
from kit.schemas import validate
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, run

from locklens.demo.faults import Fault, FaultRule, Faults
from locklens.operations.reports import report_schema
from locklens.operations.verification import NOT_COMPARED, FileState, PackageVerdict, Where
from locklens.review.model import PolicySide

ROOT: Files = {"main.tf": requires(("acme/demo", "1.0.0"))}
PINNED = replace(CASE, files=ROOT)
PACKAGE = f"registry.terraform.io/acme/demo/1.0.0/{HERE}"
PROGRAM = "terraform-provider-demo_v1.0.0"

Capture = pytest.CaptureFixture[str]


def verified(capfd: Capture, *words: str) -> tuple[int, dict[str, Any]]:
    capfd.readouterr()
    status = run("verify", "--format", "json", *words)
    found = json.loads(capfd.readouterr().out)
    validate(found, "verify")
    return status, found


def test_the_schema_names_every_value() -> None:
    objects: Any = report_schema("verify")["$defs"]
    package, file = objects["PackageJson"]["properties"], objects["PackageFileJson"]["properties"]
    assert package["where"]["enum"] == list(Where)
    assert sorted(package["verdict"]["enum"]) == sorted([*PackageVerdict, NOT_COMPARED])
    assert file["state"]["enum"] == list(FileState)
    assert objects["PolicyOriginJson"]["properties"]["side"]["enum"] == list(PolicySide)


@pytest.mark.parametrize(
    "changed", [{"files": []}, {"reason": None}, {"verdict": "matches"}, {"provider": "acme/demo"}]
)
def test_a_place_that_was_not_looked_at_has_no_more_keys_than_it_says(changed: dict[str, Any]) -> None:
    place = {"where": "mirror", "path": "https://mirror.test/", "verdict": NOT_COMPARED, "reason": "a network mirror"}
    objects: Any = report_schema("hashes")["$defs"]
    packages = {"$defs": objects, **objects["LockedProviderJson"]["properties"]["packages"]}
    schema = jsonschema.Draft202012Validator(packages)
    assert schema.is_valid([place])
    assert not schema.is_valid([{**place, **changed}])


def verdicts(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["where"], one["verdict"]) for one in found["packages"]]


def package(place: Bench) -> Path:
    return place.work / ".terraform/providers" / PACKAGE


def test_what_init_installed_is_as_locked(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        assert run("verify") == 2
        text, notes = capfd.readouterr()
        assert (text, "nothing is installed" in notes) == ("no package was compared\n", True)
        assert run("init") == 0
        place.steps()
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (0, [("installed", "matches")])
        assert found["packages"][0]["h1"] in (place.work / ".terraform.lock.hcl").read_text()
        assert run("verify") == 0
        assert capfd.readouterr().out == "1 package compared: 1 as locked\n"
        assert place.steps() == []


def test_files_that_are_not_as_signed_are_named(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        (package(place) / PROGRAM).write_text("evil")
        (package(place) / "LICENSE").unlink()
        (package(place) / "more\x1b[31m").write_text("x")
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (1, [("installed", "differs")])
        assert found["packages"][0]["files"] == [
            {"name": "LICENSE", "state": "missing"},
            {"name": "more\x1b[31m", "state": "added"},
            {"name": PROGRAM, "state": "changed"},
        ]
        capfd.readouterr()
        assert run("verify") == 1
        text, hint = capfd.readouterr()
        assert "\x1b" not in text
        assert f"changed   {PROGRAM}" in text
        command = "locklens doctor --provider registry.terraform.io/acme/demo -- ."
        assert hint.splitlines()[-1] == f"hint: `{command}` names the cause, and how to replace the package"
        assert run(*command.split()[1:]) == 1
        assert "plugin-corrupted" in capfd.readouterr().out
        assert "1 package compared: 1 not as locked" in text
        monkeypatch.chdir(place.work.parent)
        assert run("-C", place.work.name, "verify") == 1
        elsewhere = command.replace("locklens", f"locklens -C {place.work.name}", 1)
        assert f"hint: `{elsewhere}` names the cause" in capfd.readouterr().err


def test_offline_asks_nobody_and_compares_with_a_mirror(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        run("mirror", "mirror")
        (package(place) / PROGRAM).write_text("evil")
        place.steps()
        status, found = verified(capfd, "--offline", "--no-cache")
        assert status == 1
        assert "cannot be compared with the signed package" in found["packages"][0]["reason"]
        place.configure('provider_installation {\n  filesystem_mirror {\n    path = "mirror"\n  }\n}\n')
        status, found = verified(capfd, "--offline", "--no-cache")
        assert verdicts(found) == [("installed", "differs"), ("mirror", "matches")]
        assert found["packages"][0]["files"] == [{"name": PROGRAM, "state": "changed"}]
        assert place.steps() == []


def test_what_was_looked_at_is_said_above_the_roots(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock")
        run("mirror", str(place.work / "mirror"))
        place.configure(MIRROR.replace('mirror"\n', f'{place.work}/mirror"\n'))
        below = place.work / "above/below"
        below.mkdir(parents=True)
        for name in ("main.tf", ".terraform.lock.hcl"):
            shutil.copy(place.work / name, below / name)
        monkeypatch.chdir(below.parent)
        capfd.readouterr()
        assert run("verify", "--all") == 2
        out, err = capfd.readouterr()
        assert "no lock file was read" in out
        assert "no package was compared; 1 not locked\n" in out
        assert ".: there is no lock file, so that no package is compared" in err
        assert "give --all-roots" in err
        assert "nothing is installed" not in err
        (below / ".terraform.lock.hcl").write_text("")
        run("verify", "--all", "--", "below")
        assert "this version is not in below/.terraform.lock.hcl" in capfd.readouterr().out


def test_a_mirror_s_package_is_examined_in_a_root_that_refuses_it(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock")
        run("mirror", str(place.work / "mirror"))
        place.configure(MIRROR.replace('mirror"\n', f'{place.work}/mirror"\n'))
        for root in ("open", "strict"):
            (place.work / root).mkdir()
            for name in ("main.tf", ".terraform.lock.hcl"):
                shutil.copy(place.work / name, place.work / root / name)
        for name in ("main.tf", ".terraform.lock.hcl"):
            (place.work / name).unlink()
        lock = place.work / "strict/.terraform.lock.hcl"
        lock.write_text(
            re.sub(r'"(h1:|zh:)[^"]*"', lambda found: f'"{NOBODYS if found[1] == "zh:" else NO_H1}"', lock.read_text())
        )
        capfd.readouterr()
        assert run("verify", "--", "open", "strict") == 1
        hint = capfd.readouterr().err.splitlines()[-1]
        command = "locklens doctor --provider registry.terraform.io/acme/demo -- strict"
        assert hint == f"hint: `{command}` names the cause, and how to replace the package"
        assert run(*command.split()[1:]) == 1


def test_the_plugin_cache_and_mirrors_are_verified(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        place.configure(
            'plugin_cache_dir = "cache"\nprovider_installation {\n  filesystem_mirror {\n    path = "mirror"\n  }\n}\n'
        )
        run("mirror", "-platform=darwin_arm64", f"-platform={HERE}", "mirror")
        run("init")
        lay({f"cache/registry.terraform.io/acme/demo/1.1.0/{HERE}": Unpacked("acme/demo", "1.1.0")}, place.names)
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (
            0,
            [("installed", "matches"), ("plugin-cache", "matches"), ("plugin-cache", "unlocked"),
             ("mirror", "unlocked"), ("mirror", "matches")],
        )  # fmt: skip
        run("lock", "-platform=darwin_arm64")
        assert verdicts(verified(capfd)[1])[-2:] == [("mirror", "matches"), ("mirror", "matches")]
        for name in place.work.glob("mirror/*/acme/demo/*darwin*.zip"):
            name.write_bytes(name.read_bytes().replace(b"#!/bin/sh", b"#!/bin/no"))
        status, found = verified(capfd)
        assert (status, verdicts(found)[-2:]) == (1, [("mirror", "unreadable"), ("mirror", "matches")])


NOBODYS = "zh:" + "0" * 64
NO_H1 = f"h1:{'A' * 43}="
MIRROR = 'provider_installation {\n  filesystem_mirror {\n    path = "mirror"\n  }\n}\n'


def without_zh(place: Bench) -> None:
    """Leave the lock file's h1 alone."""
    lock = place.work / ".terraform.lock.hcl"
    lock.write_text("".join(one for one in lock.read_text().splitlines(keepends=True) if '"zh:' not in one))


@pytest.mark.parametrize("is_zip", [False, True])
def test_a_mirror_s_copy_that_init_refuses_differs(
    is_zip: bool, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        run("mirror", "mirror")
        without_zh(place)
        mirrored = place.work / "mirror/registry.terraform.io/acme/demo"
        (zipped,) = mirrored.glob("*.zip")
        altered = place.work / "mirror" / PACKAGE
        shutil.copytree(package(place), altered, symlinks=False)
        (altered / PROGRAM).write_text("evil")
        if is_zip:
            shutil.make_archive(str(zipped.with_suffix("")), "zip", altered)
            shutil.rmtree(altered.parent)
        else:
            zipped.unlink()
        shutil.rmtree(place.work / ".terraform")
        place.configure(MIRROR)
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (1, [("mirror", "differs")])
        assert {"name": PROGRAM, "state": "changed"} in found["packages"][0]["files"]
        status, found = verified(capfd, "--offline", "--no-cache")
        assert (status, verdicts(found)) == (1, [("mirror", "differs")])
        assert found["packages"][0]["reason"].endswith("; the locked hashes may be of other platforms only")
        assert run("init") == 1


def test_a_signed_copy_of_a_platform_that_is_not_locked_is_called_so(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    other = "linux_amd64" if HERE == "darwin_arm64" else "darwin_arm64"
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        assert run("lock", f"-platform={other}") == 0
        run("mirror", f"-platform={other}", f"-platform={HERE}", "mirror")
        without_zh(place)
        place.configure(MIRROR)
        status, found = verified(capfd)
        assert status == 1
        (ours,) = (one for one in found["packages"] if one["platform"] == HERE)
        assert ours["verdict"] == "differs"
        words = "it is the signed package, of which the lock file has no hash, so that `init` refuses it"
        assert (
            ours["reason"]
            == f"{words}; `locklens lock -platform={HERE} registry.terraform.io/acme/demo -- .` adds its hashes"
        )
        assert run("init") == 1


@pytest.mark.parametrize("order", [(".", "tofu"), ("tofu", ".")])
def test_a_mirror_of_both_tools_is_compared_with_the_lock_files_of_both(
    order: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("lock")
        run("mirror", str(place.work / "mirror"))
        place.configure(MIRROR.replace('mirror"\n', f'{place.work}/mirror"\n'))
        version = f'version = "1.0.0"\n  hashes = [\n    "{NOBODYS}",\n  ]'
        other = f'provider "registry.opentofu.org/acme/other" {{\n  {version}\n}}\n'
        (place.work / "tofu").mkdir()
        (place.work / "tofu/main.tofu").write_text("")
        (place.work / "tofu/.terraform.lock.hcl").write_text(other)
        status, found = verified(capfd, "--offline", "--", *order)
        assert (status, verdicts(found)) == (0, [("mirror", "matches")])
        (package,) = (place.work / "mirror").rglob("*.zip")
        package.write_bytes(package.read_bytes()[:100])
        status, found = verified(capfd, "--offline", "--", *order)
        assert (status, verdicts(found)) == (1, [("mirror", "unreadable")])


def test_an_unpacked_package_beside_zh_alone_cannot_be_compared(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        shutil.copytree(package(place), place.work / "mirror" / PACKAGE, symlinks=False)
        lock = place.work / ".terraform.lock.hcl"
        lock.write_text("".join(one for one in lock.read_text().splitlines(keepends=True) if '"h1:' not in one))
        place.configure(MIRROR)
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (2, [("installed", "unknown"), ("mirror", "unknown")])


def test_lock_is_not_advised_where_locked_hashes_contradict_the_release(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        lock = place.work / ".terraform.lock.hcl"
        text = re.sub(r'"(h1|zh):(..)', r'"\1:00', lock.read_text())
        lock.write_text(text)
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (1, [("installed", "differs")])
        assert found["packages"][0]["reason"].endswith(
            "; .terraform.lock.hcl has hashes that are not of this release, so that `lock` adds none"
        )
        assert run("verify") == 1
        told = capfd.readouterr()
        assert "locklens lock" not in told.out
        assert "hint: `locklens doctor --provider registry.terraform.io/acme/demo" in told.err


COUNTING = """
import sys
opened = []
sys.addaudithook(lambda event, words: opened.append(str(words[0])) if event == "open" else None)
from locklens.cli.main import main
status = main(sys.argv[2:], None)
print(status, sum(sys.argv[1] in name for name in opened))
"""


def test_what_runs_instead_of_an_installed_package_is_said(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        place.configure('provider_installation {\n  dev_overrides {\n    "acme/demo" = "dev"\n  }\n  direct {}\n}\n')
        assert run("verify") == 0
        words = "note: dev_overrides: terraform runs acme/demo from dev, which is not verified\n"
        assert words in capfd.readouterr().err
        subprocess.run(["git", "init", "-q"], check=True)
        assert run("hashes", "--verify", "--format", "text") == 0
        assert words.removeprefix("note: ").rstrip() in " ".join(capfd.readouterr().out.split())


def test_a_package_is_read_once_however_many_links_lead_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        place.configure('plugin_cache_dir = "cache"\n')
        (place.work / "cache").mkdir()
        assert run("init") == 0
        assert package(place).is_symlink()
        beside = place.work / "beside/.terraform/providers" / PACKAGE
        beside.parent.mkdir(parents=True)
        beside.symlink_to(package(place).resolve())
        for name in ("main.tf", ".terraform.lock.hcl"):
            shutil.copy(place.work / name, place.work / "beside" / name)
        command = [sys.executable, "-c", COUNTING, PROGRAM, "verify", "--all", "--offline", "--", ".", "beside"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "3 packages compared: 3 as locked" in done.stdout
        assert done.stdout.splitlines()[-1] == "0 1"


def test_what_is_missing_or_broken_fails(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        shutil.rmtree(package(place))
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (1, [("installed", "missing")])
        package(place).mkdir()
        (package(place) / "pipe").symlink_to("/dev/zero")
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (1, [("installed", "unreadable")])
        (place.work / ".terraform.lock.hcl").write_text("provider {")
        status, found = verified(capfd)
        assert (status, len(found["failures"])) == (1, 1)


def test_a_republished_package_is_no_measure(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        (package(place) / PROGRAM).write_text("evil")
        place.registry.faults = Faults((FaultRule(Fault.REPUBLISHED),))
        status, found = verified(capfd, "--no-cache")
        assert status == 1
        assert found["packages"][0]["reason"] == "the signed package of today is not as locked either"


def test_a_host_that_only_the_lock_file_names_is_not_asked(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        run("init")
        lock = place.work / ".terraform.lock.hcl"
        lock.write_text(lock.read_text().replace("registry.terraform.io/", "evil.test/"))
        target = place.work / ".terraform/providers/evil.test/acme/demo/1.0.0"
        shutil.copytree(package(place).parent, target)
        (target / HERE / PROGRAM).write_text("evil")
        status, found = verified(capfd)
        assert status == 1
        assert "evil.test was not asked" in found["packages"][0]["reason"]


def test_network_mirrors_are_verified_by_what_they_list(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, replace(PINNED, cli="# @MIRROR@\n")) as place:
        run("init")
        url = place.names.put_in("@MIRROR@")
        place.configure(f'provider_installation {{\n  network_mirror {{\n    url = "{url}"\n  }}\n}}\n')
        assert verdicts(verified(capfd)[1]) == [("installed", "matches")]
        run("mirror", "served")
        status, found = verified(capfd)
        assert (status, verdicts(found)) == (0, [("installed", "matches"), ("mirror", "matches")])
        assert found["packages"][1]["path"] == f"{url} registry.terraform.io/acme/demo"
        assert found["packages"][1]["reason"] == "the mirror lists a locked hash; the package itself was not read"
        assert run("verify") == 0
        words = "2 as locked (1 by the hashes that a mirror lists, without reading the package)"
        assert capfd.readouterr().out == f"2 packages compared: {words}\n"
        document = place.work / "served/registry.terraform.io/acme/demo/1.0.0.json"
        text = document.read_text()
        listed = json.loads(text)["archives"][HERE]["hashes"][0]
        document.write_text(text.replace(listed, "zh:" + "0" * 64))
        assert verdicts(verified(capfd)[1])[1:] == [("mirror", "differs")]
        capfd.readouterr()
        assert run("verify") == 1
        command = f"locklens mirror --platform={HERE} DIR -- ."
        said = (
            f"hint: whoever fills the mirror has to replace the package: `{command}` writes the signed ones into DIR\n"
        )
        assert capfd.readouterr().err.endswith(said)
        assert run(*command.split()[1:]) == 0
        document.write_text(text.replace(listed, "h1:" + "A" * 43 + "="))
        found = verified(capfd)[1]
        assert verdicts(found)[1:] == [("mirror", "unknown")], "the zip file behind an h1 may be a locked one"
        assert "no h1 that the mirror lists for" in found["packages"][1]["reason"]
        assert (found["summary"]["unknown"], found["summary"]["unlocked"]) == (1, 0)
        assert run("verify") == 0
        assert "1 package compared: 1 as locked; 1 cannot be compared\n" in capfd.readouterr().out
        locked = place.work / ".terraform.lock.hcl"
        complete = locked.read_text()
        without_zh(place)
        assert verdicts(verified(capfd)[1])[1:] == [("mirror", "differs")], "init refuses what no locked h1 is of"
        locked.write_text(complete)
        document.write_text("<html>")
        assert verdicts(verified(capfd)[1])[1:] == [("mirror", "unreadable")]
        place.steps()
        assert run("verify", "--offline") == 0
        assert "network mirrors are not verified offline" in capfd.readouterr().err


def test_hashes_has_the_packages_of_each_entry_if_asked(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        place.configure('plugin_cache_dir = "cache"\n')
        run("init")
        (place.work / "cache/registry.terraform.io/acme/demo/1.0.0" / HERE / PROGRAM).write_text("evil")
        subprocess.run(["git", "init", "-q"], check=True)
        capfd.readouterr()
        assert run("hashes", "--format", "json") == 0
        assert json.loads(capfd.readouterr().out)["roots"][0]["providers"][0]["packages"] is None
        assert run("hashes", "--verify", "--format", "json") == 1
        provider = json.loads(capfd.readouterr().out)["roots"][0]["providers"][0]
        assert [(one["where"], one["platform"], one["verdict"]) for one in provider["packages"]] == [
            ("installed", HERE, "differs"),
            ("plugin-cache", HERE, "differs"),
        ]
        shutil.rmtree(place.work / ".terraform")
        assert run("hashes", "--verify", "--format", "json") == 1
        provider = json.loads(capfd.readouterr().out)["roots"][0]["providers"][0]
        assert provider["packages"][1] == {
            "where": "installed",
            "path": ".terraform/providers",
            "verdict": "not-compared",
            "reason": "nothing is installed (run `terraform init` or `locklens init`)",
        }
        assert run("hashes", "--verify", "--format", "text") == 1
        text = capfd.readouterr().out
        assert f"package plugin-cache  {HERE:13}  differs" in text
        assert text.endswith("\npackages on this machine: 1 not as locked\n")
        assert "\nverdict on the hashes alone: " in text
        assert "nothing is installed (run" in text
        words = (
            "its files were not compared with the signed package: `locklens verify -- .` downloads it, and says whether"
        )
        assert words in text
        for name in (".terraform.lock.hcl", "main.tf"):
            (place.work / "other").mkdir(exist_ok=True)
            shutil.copy(place.work / name, place.work / "other")
        assert run("hashes", "--verify", "--format", "text") == 1
        text = capfd.readouterr().out
        assert text.count("differs") == text.count(words) == 2
        assert text.endswith("\npackages on this machine: 1 not as locked\n"), "both roots share one folder"
        shutil.rmtree("cache")
        assert run("hashes", "--verify", "--format", "text") == 2
        assert capfd.readouterr().out.endswith("\npackages on this machine: none compared\n")
