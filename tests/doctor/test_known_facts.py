"""Only a fact about the failing run confirms a cause, and only what a log or a lock file says is filled into a fix."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from msgspec.structs import replace

from locklens.demo import PLATFORMS, lock_file, package_bytes, write_unpacked
from locklens.demo.cases import OPENTOFU_HOST, TERRAFORM_HOST, sample_entry
from locklens.demo.executables import executable_bytes
from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.incidents import boxed_log, sample_incidents
from locklens.dialect import OPENTOFU
from locklens.executables import BuildInfo
from locklens.packages.installed import hashed_folder
from locklens.project.clifiles import this_platform

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
DEMO = "registry.terraform.io/acme/demo"
LOCK = "live/prod/.terraform.lock.hcl"
QUERY = "Failed to query available provider packages"
MISMATCH = "doesn't match any of the checksums previously recorded in the dependency lock file"
LIST = "Could not retrieve the list of available versions for provider {}: {}"


def test_a_lock_file_with_the_hashes_of_its_own_registry_again_is_fixed(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["other-tool"])
    first = doctor(folder, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("other-tool", "yes")
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    (folder / LOCK).write_bytes(lock_file(own))
    document = doctor(folder, "ci.log")
    assert (document["state"], document["causes"]) == ("fixed", [])
    assert f"has those of {OPENTOFU_HOST}" in document["fixed"]
    git(folder, "commit", "-qam", "Lock it again")
    assert doctor(folder, "ci.log")["state"] == "fixed"
    (folder / LOCK).write_bytes(lock_file(replace(own, packed=own.packed[:1], unpacked=())))
    assert doctor(folder, "ci.log")["state"] == "open"


def test_a_restored_file_has_to_be_reviewed_where_hashes_come_with_it(made: Any, doctor: Any) -> None:
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    moved = lock_file(own).replace(TERRAFORM_HOST.encode(), OPENTOFU_HOST.encode())
    folder = made(replace(INCIDENTS["other-tool"], locks=(lock_file(own),)))

    def trust() -> list[str]:
        return [one["trust"] for one in doctor(folder, "--", "live/prod")["remedies"] if one["id"] == "restore-file"]

    (folder / LOCK).write_bytes(moved)
    assert trust() == ["none"], "the last commit has these hashes"
    git(folder, "commit", "-qam", "OpenTofu was run")
    assert trust() == ["low"]


def test_an_entry_whose_hashes_opentofu_does_not_take_over_ends_its_error(made: Any, doctor: Any) -> None:
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    moved = lock_file(own).replace(TERRAFORM_HOST.encode(), OPENTOFU_HOST.encode())
    folder = made(replace(INCIDENTS["other-tool"], locks=(moved,)))
    log = (folder / "ci.log").read_text("utf-8").replace(TERRAFORM_HOST, OPENTOFU_HOST)
    log = log.replace("Terraform v1.11.4", "OpenTofu v1.12.6")
    (folder / "ci.log").write_text(f"$ tofu -chdir=live/prod init\n{log}", "utf-8")
    assert doctor(folder, "ci.log")["state"] == "open"
    (folder / LOCK).write_bytes(lock_file(own))
    document = doctor(folder, "ci.log")
    assert document["state"] == "fixed", document
    assert f"no longer has {OPENTOFU_HOST}/hashicorp/random" in document["fixed"]
    assert document["next"] == "tofu -chdir=live/prod init"


def test_an_entry_that_moved_to_the_registry_of_the_other_tool_ends_no_error_of_the_first(
    made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["other-tool"])
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    (folder / LOCK).write_bytes(lock_file(own))
    git(folder, "commit", "-qam", "Lock it with Terraform")
    moved = replace(own, provider=f"{OPENTOFU_HOST}/hashicorp/random")
    (folder / LOCK).write_bytes(lock_file(moved, dialect=OPENTOFU))
    words = "the local package for registry.terraform.io/hashicorp/random 3.6.3 doesn't match any of the checksums"
    message = f"Error while installing hashicorp/random v3.6.3: {words} previously recorded in the dependency lock file"
    (folder / "ci.log").write_text(f"Error: Failed to install provider\n\n{message}\n", "utf-8")
    document = doctor(folder, "ci.log")
    assert (document["state"], document["next"], document["facts"]["tool"]) == ("open", None, "terraform")
    (cause,) = (one for one in document["causes"] if one["id"] == "other-tool")
    assert cause["verdict"] == "unknown"
    assert f"{OPENTOFU_HOST}/hashicorp/random; commit" in cause["evidence"]
    assert cause["missing"] == "the tool that is meant to run in live/prod"
    assert document["remedies"] == []


def test_the_tool_is_said_only_where_all_roots_have_it(made: Any, doctor: Any) -> None:
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    folder = made(replace(INCIDENTS["other-tool"], locks=(lock_file(own),)))
    moved = replace(own, provider=f"{OPENTOFU_HOST}/hashicorp/random")
    for root in ("live/a", "live/z"):
        (folder / root).mkdir()
        (folder / root / ".terraform.lock.hcl").write_bytes(lock_file(moved, dialect=OPENTOFU))
    roots = ("--root=live/a", "--root=live/prod")
    for words in (roots, roots[::-1]):
        assert doctor(folder, "--offline", *words)["facts"]["tool"] is None
        report = doctor(folder, "--offline", "--format", "text", *words)
        assert "(this machine), each root's tool (opentofu, terraform), path" in report
    assert doctor(folder, "--offline", "--root=live/a", "--root=live/z")["facts"]["tool"] == "opentofu"
    assert doctor(folder, "--offline", "--tool=terraform", *roots)["facts"]["tool"] == "terraform"


@pytest.mark.parametrize("network", ["", "--offline"])
@pytest.mark.parametrize(("number", "verdict"), [(1, "likely"), (3, "unknown")])
def test_an_entry_of_several_h1_alone_may_cover_the_platform(
    number: int, verdict: str, network: str, made: Any, doctor: Any
) -> None:
    entry = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    others = tuple(one for one in PLATFORMS if one != str(this_platform()))[:number]
    incident = replace(INCIDENTS["platform-missing"], locks=(lock_file(replace(entry, packed=(), unpacked=others)),))
    folder = made(incident)
    document = doctor(folder, *filter(None, [network]), "--", "live/prod")
    (cause,) = (one for one in document["causes"] if one["id"] == "platform-missing")
    assert cause["verdict"] == verdict, cause
    assert any(one["id"] == "lock-platform" for one in document["remedies"]) == (number == 1)


def test_no_fix_needs_a_release_that_the_registry_does_not_list(made: Any, doctor: Any) -> None:
    entry = sample_entry("acme/demo", "1.4.9", "~> 1.4")
    lock = lock_file(replace(entry, packed=(), unpacked=PLATFORMS[-1:]))
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock,)))
    document = doctor(folder, "--", "live/prod")
    found = {one["id"]: one["verdict"] for one in document["causes"]}
    assert (found["yanked"], found["platform-missing"]) == ("yes", "likely")
    assert [one["id"] for one in document["remedies"]] == ["upgrade"]
    assert "The version is not listed. [CONFIRMED]" in doctor(folder, "--format", "text", "--", "live/prod")
    offline = doctor(folder, "--offline", "--no-cache", "--", "live/prod")["remedies"]
    assert "lock-platform" in [one["id"] for one in offline], "nobody was asked"


@pytest.mark.parametrize(("kind", "expected", "fixes"), [
    ("requires authentication credentials", ["proxy-or-ca", "credentials"], ["test-registry"]),
    ("rejected the given authentication credentials", ["credentials", "proxy-or-ca"], ["test-credentials", "test-registry"]),
])  # fmt: skip
@pytest.mark.parametrize("provider", ["acme/demo", "acme/netbox"])
def test_a_registry_that_answers_without_a_token_did_not_want_one(
    kind: str, expected: list[str], fixes: list[str], provider: str, made: Any, doctor: Any
) -> None:
    folder = made(
        replace(INCIDENTS["download-damaged"], constraints=(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")))
    )
    message = LIST.format(provider, f"host registry.terraform.io {kind}")
    (folder / "ci.log").write_text(boxed_log((QUERY, message)), "utf-8")
    document = doctor(folder, "ci.log")
    assert [(one["id"], one["verdict"]) for one in document["causes"]] == [(one, "likely") for one in expected]
    assert "answered here without a token" in document["causes"][0]["evidence"]
    assert [one["id"] for one in document["remedies"]] == fixes
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    block = 'credentials "registry.terraform.io" {\n  token = "t"\n}\n'
    settings.write_text(settings.read_text("utf-8") + block, "utf-8")
    document = doctor(folder, "ci.log")
    assert next((one["id"], one["verdict"]) for one in document["causes"]) == ("credentials", "likely")
    assert [one["id"] for one in document["remedies"]] == ["test-credentials"]


def test_a_registry_that_a_log_alone_names_is_not_asked(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    with socket.create_server(("localhost", 0)) as server:
        server.setblocking(False)
        host = f"localhost:{server.getsockname()[1]}"
        message = LIST.format(f"{host}/acme/demo", f"host {host} requires authentication credentials")
        (folder / "ci.log").write_text(boxed_log((QUERY, message)), "utf-8")
        document = doctor(folder, "ci.log")
        assert document["errors"][0]["provider"] == f"{host}/acme/demo"
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("name", "verdicts"), [("acme/nothing", ("likely", "yes")), ("acme/demo", ("likely", "unknown"))]
)
def test_a_404_that_is_not_repeated_is_no_proof(name: str, verdicts: tuple[str, str], made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["download-damaged"], constraints=((name, "~> 1.4"),)))
    (folder / LOCK).unlink()
    words = f"provider registry registry.terraform.io does not have a provider named registry.terraform.io/{name}"
    (folder / "ci.log").write_text(boxed_log((QUERY, LIST.format(name, words))), "utf-8")
    for options, verdict in zip((("--offline",), ()), verdicts, strict=True):
        document = doctor(folder, *options, "ci.log")
        assert {one["id"]: one["verdict"] for one in document["causes"]}["wrong-source"] == verdict


LIST_FAULTS = {
    "sound": (),
    "page": (FaultRule(Fault.HTML, DEMO, "1.4.2", step=Step.SUMS),),
    "broken": (FaultRule(Fault.SUMS_WITHOUT_PACKAGE, DEMO, "1.4.2"),),
}


@pytest.mark.parametrize(("fault", "options", "verdicts", "fixes"), [
    ("sound", (), {"proxy-or-ca": "likely", "yanked": "unknown", "platform-missing": "no", "republished": "no"}, ["retry"]),
    ("page", (), {"proxy-or-ca": "likely", "yanked": "unknown", "platform-missing": "unknown", "republished": "unknown"}, ["retry"]),
    ("broken", (), {"yanked": "yes", "platform-missing": "unknown", "republished": "unknown", "proxy-or-ca": "no"}, ["retry", "upgrade"]),
    ("page", ("--offline",), {"yanked": "likely", "platform-missing": "unknown", "proxy-or-ca": "unknown", "republished": "unknown"}, ["retry", "upgrade"]),
])  # fmt: skip
def test_a_page_in_the_place_of_the_signed_list_is_no_broken_release(
    fault: str, options: tuple[str, ...], verdicts: dict[str, str], fixes: list[str], made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["download-damaged"], rules=LIST_FAULTS[fault]))
    name = "terraform-provider-demo_1.4.2_linux_amd64.zip"
    words = f'Error while installing acme/demo v1.4.2: checksum list has no SHA-256 hash for "{name}"'
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    document = doctor(folder, *options, "ci.log")
    assert {one["id"]: one["verdict"] for one in document["causes"]} == verdicts
    assert [one["id"] for one in document["remedies"]] == fixes
    (folder / LOCK).unlink()  # nothing is locked: the list is that of the version that the run selected
    unlocked = doctor(folder, *options, "ci.log")
    assert unlocked["causes"][0]["verdict"] == ("yes" if fault == "broken" else "likely"), unlocked["causes"]
    by_hand = ["change-constraint" for one in fixes if one == "upgrade"]  # which needs a lock file
    assert [one["id"] for one in unlocked["remedies"]] == ["retry", *by_hand], unlocked["remedies"]


@pytest.mark.parametrize("place", ["/srv/mirror", "provider mirror at https://mirror.example.com/"])
def test_a_mirror_on_a_server_that_lacks_a_package_may_be_a_proxy(place: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = f"provider registry.terraform.io/acme/demo was not found in any of the search locations\n\n  - {place}"
    (folder / "ci.log").write_text(boxed_log((QUERY, LIST.format("acme/demo", words))), "utf-8")
    first = doctor(folder, "--offline", "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("mirror-lacks", "likely" if "https" in place else "yes")


@pytest.mark.parametrize("path", ["unpacked-mirror", "packed-mirror", "filesystem-mirror"])
def test_a_folder_of_the_settings_is_of_the_form_that_it_has(path: str, made: Any, doctor: Any, tmp_path: Path) -> None:
    folder, top, here = made(INCIDENTS["download-damaged"]), tmp_path / "mirror", str(this_platform())
    if path == "unpacked-mirror":
        write_unpacked(top, DEMO, "1.4.2", here)
    elif path == "packed-mirror":
        place = top / DEMO
        place.mkdir(parents=True)
        (place / f"terraform-provider-demo_1.4.2_{here}.zip").write_bytes(package_bytes(DEMO, "1.4.2", here))
    command = f"$ terraform -chdir=live/prod init -plugin-dir={top}\n"
    words = f"Error while installing acme/demo v1.4.2: {MISMATCH}"
    (folder / "ci.log").write_text(command + boxed_log(("Failed to install provider", words)), "utf-8")
    document = doctor(folder, "--offline", "ci.log")
    assert document["facts"]["path"] == path, document
    verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
    if path == "filesystem-mirror":
        assert verdicts["h1-missing"] == verdicts["platform-missing"] == "unknown"


@pytest.mark.parametrize("place", ["//host/share/providers", "\\\\host\\share\\providers"])
def test_a_place_on_another_machine_that_a_log_names_is_not_looked_at(
    place: str, made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = made(INCIDENTS["plugin-corrupted"]), list[str]()
    own = os.stat

    def told(path: Any, **words: Any) -> os.stat_result:
        asked.extend([str(path)] if "host/share" in str(path).replace("\\", "/") else [])
        return own(path, **words)

    monkeypatch.setattr("os.stat", told)
    log = (folder / "ci.log").read_text("utf-8").replace(".terraform/providers", place)
    for command in ("init -plugin-dir", "providers lock -fs-mirror"):
        (folder / "ci.log").write_text(f"$ terraform {command}={place}\n{log}", "utf-8")
        assert doctor(folder, "--offline", "ci.log")["errors"]
    assert asked == []


def test_a_mirror_that_has_the_package_of_the_platform_now(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder, top, here = made(INCIDENTS["download-damaged"]), tmp_path / "mirror", str(this_platform())
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    block = f'provider_installation {{\n  filesystem_mirror {{\n    path = "{top}"\n  }}\n}}\n'
    settings.write_text(settings.read_text("utf-8") + block, "utf-8")
    words = f"Provider {DEMO} v1.4.2 does not have a package available for your current platform, {here}."
    log = boxed_log(("Incompatible provider version", words))
    (folder / "ci.log").write_text(log.replace("on linux_amd64\n", ""), "utf-8")
    assert doctor(folder, "ci.log")["causes"][0]["id"] == "mirror-lacks"
    place = top / DEMO
    place.mkdir(parents=True)
    (place / f"terraform-provider-demo_1.4.2_{here}.zip").write_bytes(package_bytes(DEMO, "1.4.2", here))
    document = doctor(folder, "ci.log")
    assert (document["state"], document["fixed"].endswith("has a locked hash now")) == ("fixed", True)


@pytest.mark.parametrize("reason", [
    "fork/exec PLACE/terraform-provider-demo_v1.4.2: exec format error",
    "fork/exec PLACE/terraform-provider-demo_v1.4.2: no such file or directory",
    "Unrecognized remote plugin message: This usually means that the plugin is either invalid or needs to be recompiled",
])  # fmt: skip
def test_a_program_that_did_not_start_is_of_no_altered_package_where_it_is_the_locked_one(
    reason: str, made: Any, doctor: Any
) -> None:
    entry = replace(sample_entry("acme/demo", "1.4.2", "~> 1.4"), unpacked=(this_platform(),))
    folder = made(replace(INCIDENTS["plugin-corrupted"], locks=(lock_file(entry),), copies=()))
    place = f".terraform/providers/{DEMO}/1.4.2/{this_platform()}"
    words = f'failed to instantiate provider "{DEMO}" to obtain schema: {reason.replace("PLACE", place)}'
    (folder / "ci.log").write_text(boxed_log(("Failed to load plugin schemas", words)), "utf-8")
    installed = write_unpacked(folder / "live/prod/.terraform/providers", DEMO, "1.4.2", this_platform())
    (cause,) = [one for one in doctor(folder, "ci.log")["causes"] if one["id"] == "plugin-corrupted"]
    assert (cause["verdict"], cause["missing"]) == (
        "unknown",
        "whether the folder of the failing run has a locked hash, too: --package DIR",
    )
    report = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "the program did not start for a reason outside of its package, which is the locked one here" in report
    assert "the installed package was altered" not in report
    (installed / "LICENSE").write_text("altered", "utf-8")
    assert "the installed package is not the locked package" in " ".join(
        doctor(folder, "--format", "text", "ci.log").split()
    )


@pytest.mark.parametrize("is_installed", [True, False])
def test_a_locked_program_of_another_platform_is_said_to_be_one(
    made: Any, doctor: Any, tmp_path: Path, *, is_installed: bool
) -> None:
    here = this_platform()
    other = {"linux_amd64": "linux_arm64"}.get(here, "linux_amd64")
    folder, entry = tmp_path / "mirror", sample_entry("acme/demo", "1.4.2", "~> 1.4")
    place = write_unpacked(folder, DEMO, "1.4.2", here)
    (program,) = (one for one in place.iterdir() if one.name.startswith("terraform-provider-"))
    program.write_bytes(executable_bytes(BuildInfo("go1.25.1"), ("main.main",), other))
    (h1,) = (one for one in hashed_folder(place).hashes if one.startswith("h1:"))
    whole = lock_file(entry)
    wrong = re.sub(rb"hashes = \[.*?\]", f'hashes = [\n    "{h1}",\n  ]'.encode(), whole, flags=re.DOTALL)
    top = made(replace(INCIDENTS["plugin-corrupted"], locks=(whole, wrong), copies=()))
    path = f".terraform/providers/{DEMO}/1.4.2/{here}/{program.name}"
    words = f'failed to instantiate provider "{DEMO}" to obtain schema: fork/exec {path}: exec format error'
    (top / "ci.log").write_text(boxed_log(("Failed to load plugin schemas", words)), "utf-8")
    if is_installed:
        shutil.copytree(folder, top / "live/prod/.terraform/providers", dirs_exist_ok=True)
    before, head = (git(top, "rev-parse", one)[:12] for one in ("HEAD~1", "HEAD"))
    options, machine = ("--mirror", str(folder)), other.partition("_")[2]
    document = doctor(top, *(() if is_installed else options), "--platform", here, "ci.log")
    first, fixes = document["causes"][0], document["remedies"]
    assert (first["id"], first["verdict"]) == ("plugin-corrupted", "yes")
    assert (
        f"is an ELF file for {machine}; its package ({h1[:11]}...) is locked since commit {head}" in first["evidence"]
    )
    assert [one["id"] for one in fixes] == ["restore-entry"], "the same bytes are not installed again"
    assert fixes[0]["command"].startswith(f"locklens restore acme/demo --from {before}")
    assert ("is the same package: init fails" in fixes[0]["note"]) != is_installed


def test_hashes_that_a_commit_took_away_tell_without_a_registry(made: Any, doctor: Any) -> None:
    whole = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    incident = replace(
        INCIDENTS["platform-missing"],
        locks=(lock_file(whole), lock_file(replace(whole, packed=whole.packed[:1], unpacked=()))),
    )
    folder = made(incident)
    (folder / "ci.log").write_text((folder / "ci.log").read_text("utf-8").replace("on linux_amd64\n", ""), "utf-8")
    document = doctor(folder, "--offline", "ci.log")
    first, before = document["causes"][0], git(folder, "rev-parse", "--short=12", "HEAD~1")
    assert (first["id"], first["verdict"]) == ("platform-missing", "likely")
    assert f"1 zh of a package and 0 h1 locked, and commit {before} has " in first["evidence"]
    assert first["missing"].startswith("the platform of the machine")
    assert any(one["command"].startswith(f"locklens restore acme/demo --from {before}") for one in document["remedies"])


def test_a_zip_file_behind_a_page_is_an_altered_package(
    made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"<html>" + package_bytes(DEMO, "1.4.2", "linux_amd64", "tampered")  # what Go's archive/zip reads
    monkeypatch.setattr("locklens.demo.faults._PAGE", data)
    folder = made(replace(INCIDENTS["download-damaged"], rules=(FaultRule(Fault.HTML, DEMO, step=Step.PACKAGE),)))
    first = doctor(folder, "--prove=changed", "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("package-altered", "likely")


def test_a_page_in_the_place_of_a_package_is_no_altered_package(made: Any, doctor: Any) -> None:
    rules = (FaultRule(Fault.HTML, DEMO, "1.4.2", step=Step.PACKAGE),)
    folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
    document = doctor(folder, "--prove=changed", "ci.log")
    found = {one["id"]: one for one in document["causes"]}
    assert found["proxy-or-ca"]["verdict"] == "likely"
    assert "is no zip file, like the page of a proxy" in found["proxy-or-ca"]["evidence"]
    assert found["package-altered"]["verdict"] == "unknown"
    assert document["causes"][0]["id"] == "proxy-or-ca"
    assert not [one for one in document["remedies"] if one["id"] == "tell-publisher"]
    (check,) = [one for one in document["remedies"] if one["id"] == "test-registry"]
    assert re.search(
        r"^curl -sSvL -o /dev/null http://\S+/terraform-provider-demo_1.4.2_linux_amd64.zip$", check["command"]
    )


def test_a_mistyped_host_is_told_by_the_entry_that_nothing_requires(made: Any, doctor: Any) -> None:
    own = replace(sample_entry("acme/demo", "1.4.2", "~> 1.4"), provider="tf.corp.example/acme/demo")
    folder = made(
        replace(
            INCIDENTS["registry-down"], locks=(lock_file(own),), constraints=(("tf.corp.exampel/acme/demo", "~> 1.4"),)
        )
    )
    words = "could not connect to tf.corp.exampel: failed to request discovery document: Get "
    words += '"https://tf.corp.exampel/.well-known/terraform.json": dial tcp: lookup tf.corp.exampel: no such host'
    query = f"Could not retrieve the list of available versions for provider tf.corp.exampel/acme/demo: {words}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", query)), "utf-8")
    document = doctor(folder, "--offline", "ci.log", "--", "live/prod")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("wrong-source", "likely")
    assert f"{LOCK}:4 locks tf.corp.example/acme/demo, which nothing requires any more" in first["evidence"]
    assert document["remedies"][0]["id"] == "correct-source"
    (folder / "live/prod/call.tf").write_text(
        'module "m" {\n  source = "acme/m/aws"\n  version = "1.0.0"\n}\n', "utf-8"
    )
    document = doctor(folder, "--offline", "ci.log", "--", "live/prod")  # which may require the locked one
    assert "wrong-source" not in [one["id"] for one in document["causes"]]


@pytest.mark.parametrize(("host", "verdict"), [("tf.corp.exmaple", "likely"), ("registry.other.example", "unknown")])
def test_a_host_that_was_replaced_in_the_lock_file_too_is_changed_back(
    host: str, verdict: str, made: Any, doctor: Any
) -> None:
    own = replace(sample_entry("acme/demo", "1.4.2", "~> 1.4"), provider="tf.corp.example/acme/demo")
    required = (("tf.corp.example/acme/demo", "~> 1.4"),)
    folder = made(replace(INCIDENTS["registry-down"], locks=(lock_file(own),), constraints=required))
    words = f'could not connect to {host}: failed to request discovery document: Get "https://{host}/.well-known/'
    words = f'{words}terraform.json": dial tcp: lookup {host}: no such host'
    query = f"Could not retrieve the list of available versions for provider {host}/acme/demo: {words}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", query)), "utf-8")
    for file in (folder / "live/prod/main.tf", folder / LOCK):
        file.write_bytes(file.read_bytes().replace(b"tf.corp.example", host.encode()))
    git(folder, "commit", "-qam", "replaced everywhere")
    document = doctor(folder, "--offline", "ci.log", "--", "live/prod")
    found = next(one for one in document["causes"] if one["id"] == "wrong-source")
    assert found["verdict"] == verdict
    commit = git(folder, "rev-parse", "HEAD")[:12]
    assert f"which commit {commit} put in the place of tf.corp.example/acme/demo" in found["evidence"]
    assert "which nothing requires any more" not in found["evidence"]
    out = " ".join(doctor(folder, "--offline", "--format", "text", "ci.log", "--", "live/prod").split())
    title = f"a Change {host}/acme/demo back to tf.corp.example/acme/demo by hand where it is required"
    assert (title in out) == (verdict == "likely")


@pytest.mark.parametrize(("host", "locked", "verdict", "near"), [
    ("registry.terrafrom.io", "registry.terraform.io/acme/netbox", "likely", "it differs in 2 characters from registry.terraform.io (Terraform's own registry)"),
    ("tf2.corp.example", "tf.corp.example/acme/netbox", "likely", "in 1 character from tf.corp.example (tf.corp.example/acme/netbox)"),
    ("registry.acme.example", "tf.corp.example/acme/demo", "unknown", "locks tf.corp.example/acme/demo, which nothing requires any more"),
    ("registry.acme.example", "registry.terraform.io/acme/netbox", None, ""),
])  # fmt: skip
def test_a_host_is_mistyped_where_it_is_nearly_one_that_is_known_here(
    host: str, locked: str, verdict: str | None, near: str, made: Any, doctor: Any
) -> None:
    own = replace(sample_entry("acme/netbox", "3.9.1", "~> 3.9"), provider=locked)
    required = ((f"{host}/acme/demo", "~> 1.4"), *(((locked, "~> 3.9"),) if locked.endswith("netbox") else ()))
    folder = made(replace(INCIDENTS["registry-down"], locks=(lock_file(own),), constraints=required))
    words = f'could not connect to {host}: failed to request discovery document: Get "https://{host}/.well-known/'
    words = f'{words}terraform.json": dial tcp: lookup {host}: no such host'
    query = f"Could not retrieve the list of available versions for provider {host}/acme/demo: {words}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", query)), "utf-8")
    document = doctor(folder, "--offline", "ci.log", "--", "live/prod")
    assert (document["causes"][0]["id"] == "wrong-source") == (verdict == "likely")
    found = {one["id"]: one for one in document["causes"]}.get("wrong-source", {"verdict": None, "evidence": ""})
    assert found["verdict"] == verdict
    assert near in found["evidence"]
    assert ("correct-source" in [one["id"] for one in document["remedies"]]) == (verdict == "likely")
    file = folder / "live/prod/main.tf"
    file.write_text(file.read_text("utf-8").replace(f"{host}/acme/demo", "acme/demo"), "utf-8")
    for is_committed in (False, True):
        if is_committed:
            git(folder, "commit", "-qam", "correct the host")
        document = doctor(folder, "--offline", "ci.log")
        assert document["fixed"] == f"nothing in live/prod requires {host}/acme/demo any more"
    git(folder, "checkout", "--orphan", "fresh")
    git(folder, "commit", "-qm", "another repository, which never had that host")
    assert doctor(folder, "--offline", "ci.log")["state"] == "open"


def _override_warning(product: str, *names: str) -> tuple[str, str]:
    """What both tools warn of where `dev_overrides` name folders for providers: its title and its text."""
    lines = ["The following provider development overrides are set in the CLI", "configuration:"]
    lines += [f" - {name} in /home/ci/build/{name.rpartition('/')[2]}" for name in names]
    lines += [
        "",
        f"Skip {product} init when using provider development overrides. It is not",
        "necessary and may error",
    ]
    return "Provider development overrides are in effect", "\n".join(lines)


NOT_THERE = {
    "acme/absent": "provider registry registry.terraform.io does not have a provider named "
    "registry.terraform.io/acme/absent",
    "build.example/acme/absent": "host build.example does not offer a Terraform provider registry.",
    "build.invalid/acme/absent": "could not connect to build.invalid: failed to request discovery document: Get "
    '"https://build.invalid/.well-known/terraform.json": dial tcp: lookup build.invalid: no such host',
}


@pytest.mark.parametrize("form", ["boxed", "plain", "json"])
@pytest.mark.parametrize("name", NOT_THERE)
def test_init_of_a_provider_that_dev_overrides_take_from_a_folder(name: str, form: str, made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["download-damaged"], constraints=(("acme/demo", "~> 1.4"), (name, ">= 0"))))
    message = QUERY, LIST.format(name, NOT_THERE[name])

    def log(*overridden: str) -> None:
        title, text = _override_warning("terraform", *overridden)
        warning = "\n".join(f"│ {line}" for line in (f"Warning: {title}", "", *text.split("\n")))
        lines = boxed_log(message).replace("╷", f"╷\n{warning}\n╵\n╷", 1)
        if form == "plain":
            lines = re.sub("(?m)^[╷│╵] ?", "", lines)
        if form == "json":
            found = (("warning", title, text), ("error", *message))
            keys = ("severity", "summary", "detail")
            events = [{"type": "diagnostic", "diagnostic": dict(zip(keys, one, strict=True))} for one in found]
            lines = "".join(f"{json.dumps(one)}\n" for one in events)
        (folder / "ci.log").write_text(lines, "utf-8")

    log("acme/other", name)
    for options in ((), ("--offline",)):
        document = doctor(folder, *options, "ci.log")
        first = document["causes"][0]
        assert (first["id"], first["verdict"]) == ("wrong-source", "yes")
        assert first["evidence"].endswith(
            "the log warns that dev_overrides are in effect for it, and init does not use them"
        )
        skipped, published = document["remedies"]
        assert (skipped["id"], published["id"]) == ("skip-init", "publish")
        assert skipped["command"] == "terraform -chdir=live/prod validate"
    log("acme/other")
    document = doctor(folder, "ci.log")
    assert "dev_overrides" not in json.dumps([document["causes"], document["remedies"]])


def test_dev_overrides_of_the_settings_alone_make_it_likely(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["download-damaged"], constraints=(("acme/absent", ">= 0"),)))
    (folder / "ci.log").write_text(boxed_log((QUERY, LIST.format("acme/absent", NOT_THERE["acme/absent"]))), "utf-8")
    first = doctor(folder, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("wrong-source", "yes")
    assert "dev_overrides" not in first["evidence"]
    block = '  dev_overrides {\n    "acme/absent" = "/home/me/bin"\n  }\n  direct {}\n'
    with Path(os.environ["TF_CLI_CONFIG_FILE"]).open("a", encoding="utf-8") as file:
        file.write(f"provider_installation {{\n{block}}}\n")
    document = doctor(folder, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("wrong-source", "likely")
    assert "dev_overrides of the settings here name a folder for it" in first["evidence"]
    assert [one["id"] for one in document["remedies"]] == ["skip-init", "publish", "correct-source"]
    found = {one["id"]: one for one in doctor(folder, "--", "live/prod")["causes"]}["wrong-source"]
    assert found["verdict"] == "yes", "what these settings do is known"
    assert "dev_overrides of the settings here name a folder for it" in found["evidence"]


@pytest.mark.parametrize("offline", [(), ("--offline",)])
@pytest.mark.parametrize("block", ['dev_overrides {\n    "acme/absent" = "/home/me/bin"\n  }', ""])
def test_an_installation_block_without_a_place_leaves_no_source(
    block: str, offline: tuple[str, ...], made: Any, doctor: Any
) -> None:
    required = (("acme/demo", "~> 1.4"), ("acme/absent", ""))
    folder = made(replace(INCIDENTS["download-damaged"], constraints=required))
    gone = LIST.format("acme/demo", "the previously-selected version 1.4.2 is no longer available")
    none = LIST.format("acme/absent", "no available releases match the given constraints")
    (folder / "ci.log").write_text(boxed_log((QUERY, gone), (QUERY, none)), "utf-8")

    def found() -> dict[str, set[str]]:
        causes = doctor(folder, *offline, "ci.log")["causes"]
        return {name: {one["id"] for one in causes if one["verdict"] == name} for name in ("yes", "likely")}

    before = Path(os.environ["TF_CLI_CONFIG_FILE"]).read_text("utf-8")
    for more in (block, f"{block}\n  direct {{}}"):
        text = f"{before}provider_installation {{\n  {more}\n}}\n"
        Path(os.environ["TF_CLI_CONFIG_FILE"]).write_text(text, "utf-8")
        if more == block:
            assert found() == {"yes": set(), "likely": {"mirror-lacks"}}
            fix = doctor(folder, *offline, "ci.log")["remedies"][0]
            assert (fix["id"], fix["command"]) == ("correct-settings", None)
            assert "provider_installation" in fix["hint"]
        else:
            assert "mirror-lacks" not in {*found()["yes"], *found()["likely"]}
            assert "constraint-conflict" not in found()["yes"], "there is no constraint on acme/absent"
