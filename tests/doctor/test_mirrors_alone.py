"""A provider that no registry has: its mirror is named by the fixes, which work, and once it is repaired that is said."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import no_screen
from kit.git import git

from locklens.cli.main import main
from locklens.demo import package_bytes
from locklens.demo.cases import requires
from locklens.demo.incidents import boxed_log
from locklens.doctor import likeliest_mirror
from locklens.project.clifiles import this_platform
from locklens.project.installation import InstallationMethod, MethodKind

CORP = "corp.example.com/acme/demo"
OTHER = "darwin_arm64" if str(this_platform()) != "darwin_arm64" else "linux_amd64"
WHILE = (
    f"Error while installing {CORP} v1.4.2: the current package for {CORP} 1.4.2 doesn't match any of the checksums "
    "previously recorded in the dependency lock file; for more information: terraform init"
)
MISMATCH = "Failed to install provider", WHILE


def lay_package(mirror: Path, platform: str, edition: str = "") -> None:
    """Puts a packed package into a mirror."""
    place = mirror / CORP
    place.mkdir(parents=True, exist_ok=True)
    data = package_bytes("registry.terraform.io/acme/demo", "1.4.2", platform, edition)
    (place / f"terraform-provider-demo_1.4.2_{platform}.zip").write_bytes(data)


@pytest.fixture
def corp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a provider of a mirror alone, which is locked for another platform; returns its top."""
    mirror, top = tmp_path / "mirror", tmp_path / "top"
    for platform in (OTHER, str(this_platform())):
        lay_package(mirror, platform)
    settings = tmp_path / "corp.tfrc"
    only = 'include = ["corp.example.com/*/*"]\n  }\n  direct {\n    exclude = ["corp.example.com/*/*"]\n  }\n}\n'
    settings.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n    {only}', "utf-8")
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(settings))
    (top / "one").mkdir(parents=True)
    (top / "one/main.tf").write_text(requires((CORP, "~> 1.4")), "utf-8")
    monkeypatch.chdir(top)
    git(top, "init", "-q")
    assert main(["lock", "--no-cache", f"--fs-mirror={mirror}", f"--platform={OTHER}", "--", "one"], no_screen) == 0
    git(top, "add", ".")
    git(top, "commit", "-qm", "locked")
    (top / "ci.log").write_text(boxed_log(MISMATCH).replace("on linux_amd64\n", ""), "utf-8")
    return top


def test_a_log_without_a_platform_beside_hashes_of_another_one(corp: Path, doctor: Any) -> None:
    document = doctor(corp, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("platform-missing", "likely")
    assert f"that the failing run was on {this_platform()} is assumed" in first["evidence"]
    assert f"of {OTHER} alone" in first["evidence"]
    assert [one["id"] for one in document["remedies"]] == ["lock-platform"]
    needed = next(one["missing"] for one in document["causes"] if one["id"] == "hand-edit")
    assert needed.endswith("--ask-host corp.example.com asks that host, which only files of the repository name")


def test_the_fix_names_the_mirror_and_ends_the_error(corp: Path, doctor: Any) -> None:
    document = doctor(corp, "ci.log")
    (remedy,) = document["remedies"]
    mirror = corp.parent / "mirror"
    platform = this_platform()
    assert remedy["command"] == f"locklens lock --fs-mirror {mirror} --platform {platform} {CORP} --root=one"
    assert remedy["trust"] == "high"
    assert main([*remedy["command"].split()[1:], "--no-cache"], no_screen) == 0
    assert doctor(corp, "ci.log")["state"] == "fixed"
    terraform = shutil.which("terraform")
    if terraform is not None:
        words = [terraform, "-chdir=one", "init", "-no-color", "-lockfile=readonly"]
        done = subprocess.run(
            words, cwd=corp, env={**os.environ, "CHECKPOINT_DISABLE": "1"}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("block", "option"),
    [
        (
            'network_mirror {\n    url = "https://mirror.example.com/p/"\n  }',
            "--net-mirror https://mirror.example.com/p/",
        ),
        (
            'network_mirror {\n    url = "https://a.example/"\n  }\n  network_mirror {\n    url = "https://b.example/"\n  }',
            "--net-mirror https://a.example/",
        ),
        ('filesystem_mirror {\n    path = "/elsewhere"\n  }', ""),
    ],
)
def test_a_mirror_that_is_not_here(block: str, option: str, corp: Path, doctor: Any, tmp_path: Path) -> None:
    (tmp_path / "corp.tfrc").write_text(f"provider_installation {{\n  {block}\n}}\n", "utf-8")
    commands = [one["command"] for one in doctor(corp, "--platform", str(this_platform()), "ci.log")["remedies"]]
    found = [one for one in commands if one.startswith("locklens lock")]
    assert found == ([f"locklens lock {option} --platform {this_platform()} {CORP} --root=one"] if option else [])


def test_of_several_mirrors_the_likeliest_is_meant() -> None:
    kinds = MethodKind.OCI, MethodKind.FILESYSTEM, MethodKind.NETWORK
    methods = [InstallationMethod(kind, "place") for kind in kinds]
    assert likeliest_mirror(methods) is methods[2]
    assert likeliest_mirror(methods[:2]) is methods[1]
    assert likeliest_mirror(methods[:1]) is methods[0]
    assert likeliest_mirror(()) is None


def test_a_mirror_that_was_repaired_is_fixed(corp: Path, doctor: Any) -> None:
    mirror = corp.parent / "mirror"
    platform = str(this_platform())
    assert main(["lock", "--no-cache", f"--fs-mirror={mirror}", f"--platform={platform}", "--", "one"], no_screen) == 0
    git(corp, "commit", "-qam", "for both")
    lay_package(mirror, platform, "tampered")
    document = doctor(corp, "ci.log")
    assert (document["state"], document["causes"][0]["id"]) == ("open", "mirror-differs")
    lay_package(mirror, platform)
    document = doctor(corp, "ci.log")
    assert document["state"] == "fixed"
    accepted = f"terraform-provider-demo_1.4.2_{platform}.zip has a locked hash now"
    assert document["fixed"].endswith(f"{accepted}; that the failing run was on {platform} is assumed")
    assert doctor(corp, "--platform", platform, "ci.log")["fixed"].endswith(accepted)
    later = (corp / "ci.log").stat().st_mtime + 60
    os.utime(corp / "ci.log", (later, later))
    assert doctor(corp, "ci.log")["state"] == "open"  # the copy was there before the run


def test_hashes_that_a_mirror_needs_end_its_error_though_the_mirror_is_as_it_was(corp: Path, doctor: Any) -> None:
    later = (corp / "ci.log").stat().st_mtime + 60
    os.utime(corp / "ci.log", (later, later))
    mirror, platform = corp.parent / "mirror", str(this_platform())
    assert doctor(corp, "ci.log")["state"] == "open"
    assert main(["lock", "--no-cache", f"--fs-mirror={mirror}", f"--platform={platform}", "--", "one"], no_screen) == 0
    assert doctor(corp, "ci.log")["state"] == "fixed"


def test_what_the_mirror_has_altered_is_not_locked_from_it(corp: Path, doctor: Any) -> None:
    mirror, platform = corp.parent / "mirror", str(this_platform())
    assert main(["lock", "--no-cache", f"--fs-mirror={mirror}", f"--platform={platform}", "--", "one"], no_screen) == 0
    lay_package(mirror, platform, "tampered")
    for words in ((), ("--platform", platform)):
        document = doctor(corp, *words, "ci.log")
        assert document["causes"][0]["id"] == "mirror-differs"
        assert not [one["command"] for one in document["remedies"] if "locklens lock" in one["command"]]


def test_a_mirror_that_is_older_than_the_lock_file(corp: Path, doctor: Any) -> None:
    mirror, platform = corp.parent / "mirror", str(this_platform())
    assert main(["lock", "--no-cache", f"--fs-mirror={mirror}", f"--platform={platform}", "--", "one"], no_screen) == 0
    packages = list(mirror.rglob("*.zip"))
    for place in packages:
        place.rename(place.with_name(place.name.replace("1.4.2", "1.4.1")))
    gone = f"provider {CORP}: the previously-selected version 1.4.2 is no longer available"
    gone = f"Could not retrieve the list of available versions for {gone}"
    (corp / "ci.log").write_text(boxed_log(("Failed to query available provider packages", gone)), "utf-8")
    for words, verdict in (((), "likely"), (("--install-path", "packed-mirror"), "yes")):
        document = doctor(corp, *words, "ci.log")
        verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
        assert (verdicts["mirror-lacks"], verdicts["yanked"]) == (verdict, "unknown")
        assert {one["id"] for one in document["remedies"]} == {"fill-mirror"}
    for place in packages:
        place.with_name(place.name.replace("1.4.2", "1.4.1")).rename(place)
    document = doctor(corp, "ci.log")
    assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=one init")


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_plugin_folder_of_the_log_is_filled_and_the_run_repeated(
    is_listed: bool, corp: Path, doctor: Any, tmp_path: Path
) -> None:
    mirror, platform, folder = corp.parent / "mirror", str(this_platform()), tmp_path / "Plugins"
    assert main(["lock", "--no-cache", f"--fs-mirror={mirror}", f"--platform={platform}", "--", "one"], no_screen) == 0
    folder.mkdir()
    words = f"provider {CORP} was not found in any of the search locations\n\n  - {folder}"
    words = words if is_listed else "the previously-selected version 1.4.2 is no longer available"
    words = f"Could not retrieve the list of available versions for provider {CORP}: {words}"
    init = f"terraform -chdir=one init -lockfile=readonly -plugin-dir={folder}"
    ran = init.replace(" init", ' init -backend-config="key=prod"')
    log = f"$ {ran} -input=false\n" + boxed_log(("Failed to query available provider packages", words))
    (corp / "ci.log").write_text(log.replace("on linux_amd64\n", ""), "utf-8")
    document = doctor(corp, "ci.log")
    assert (document["state"], document["causes"][0]["id"]) == ("open", "mirror-lacks")
    fix = next(one for one in document["remedies"] if one["id"] == "fill-mirror")
    assert fix["command"] == f"locklens mirror --platform={platform} {folder} --root=one"
    lay_package(folder, platform)
    document = doctor(corp, "ci.log")
    assert (document["state"], document["next"]) == ("fixed", init)
    assert document["fixed"].startswith(str(folder))
    (corp / "ci.log").write_text(f"##[group]Run {ran}\n##[endgroup]\n" + log.partition("\n")[2], "utf-8")
    assert doctor(corp, "ci.log")["state"] == "open"  # a runner's folder of that name is not this one
    later = (corp / "ci.log").stat().st_mtime + 60
    (corp / "ci.log").write_text(log, "utf-8")
    os.utime(corp / "ci.log", (later, later))
    assert doctor(corp, "ci.log")["state"] == "open"  # nothing has come since


def of_locking(option: str, reason: str, platform: str) -> str:
    """A log of `providers lock` with a mirror of its own, which a CI system has printed with its command."""
    command = f"##[group]Run cd one && terraform providers lock {option} -platform={platform}\n##[endgroup]\n"
    lead = f"Terraform failed to fetch the requested providers for {platform} in order to calculate their checksums"
    words = f"{lead}: some providers could not be installed:\n- {CORP}: {reason}."
    return f"{command}Error: Could not retrieve providers for locking\n\n{words}\n\n##[error]exit code 1.\n"


@pytest.mark.parametrize(
    ("option", "reason", "verdict", "words"),
    [
        ("-fs-mirror=/m/own", f"provider {CORP} 1.4.2 is not available for {OTHER}", "yes", "says so, of /m/own,"),
        ("-fs-mirror=/m/own", f"provider {CORP} was not found in any of the search locations", "yes", "of /m/own"),
        (
            "-net-mirror=https://m.example/own/",
            f"provider {CORP} was not found in any of the search locations",
            "likely",
            "a 404 of https://m.example/own/ may be a proxy's",
        ),
        ("-fs-mirror=/m/own", "no available releases match the given constraints ~> 1.4", "likely", "of /m/own,"),
        ("-fs-mirror=/m/own", "cannot search /m/own: lstat /m/own: no such file or directory", "yes", "says so"),
    ],
)
def test_the_mirror_of_a_command_makes_the_settings_of_no_account(
    option: str, reason: str, verdict: str, words: str, corp: Path, doctor: Any
) -> None:
    (corp / "ci.log").write_text(of_locking(option, reason, OTHER), "utf-8")
    document = doctor(corp, "--offline", "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("mirror-lacks", verdict)
    assert words in first["evidence"]
    out = doctor(corp, "--offline", "--format", "text", "ci.log").split("LOCKED")[1]
    assert "provider_installation" not in out
    fixes = {(one["id"], one["hint"]) for one in document["remedies"]}
    assert fixes == {("correct-settings" if "cannot search" in reason else "fill-mirror", None)}
