"""What the modules that a failing run fetched tell of its root, and of what lies here; and what no commit has at once."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.repositories import repository

from locklens.demo import lock_file
from locklens.demo.cases import requires, sample_entry
from locklens.doctor.messages import FetchedModule
from locklens.doctor.recognising import read_log

DEMO, NEWER = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/demo", "1.5.0", "~> 1.5")
REGISTRY, GIT = "registry.example.com/acme/net/aws", "git::https://git.example.com/net.git?ref=main"
PINNED = "git::https://git.example.com/net.git?ref=v1.1.0"
BEGIN = "Initializing the backend...\nInitializing modules...\n"
READONLY = (
    "Initializing provider plugins...\n"
    "- Reusing previous version of acme/demo from the dependency lock file\n"
    '- Finding acme/netbox versions matching "~> 3.9"...\n\nError: Provider dependency changes detected\n\n'
    "Changes to the required provider dependencies were detected, but the lock\nfile is read-only.\n"
)
LATER = 2_000_000_000


def called(source: str, version: str = "") -> str:
    """Return a configuration that requires a provider, and calls a module."""
    argument = f'  version = "{version}"\n' if version else ""
    return f'{requires(("acme/demo", "~> 1.4"))}module "net" {{\n  source = "{source}"\n{argument}}}\n'


def estate(folder: Path, roots: Mapping[str, str]) -> Path:
    files = {f"{name}/main.tf": text for name, text in roots.items()}
    return repository(folder, {**files, **{f"{name}/.terraform.lock.hcl": lock_file(DEMO) for name in roots}})


def fetch(root: Path, source: str, version: str = "", *required: tuple[str, str], at: int = 1) -> None:
    """Lay what `get` leaves of a module that requires some providers, as it is at a time."""
    module = root / ".terraform/modules/net"
    module.mkdir(parents=True, exist_ok=True)
    (module / "versions.tf").write_text(requires(*required), "utf-8")
    os.utime(module, (at, at))
    record = {
        "Key": "net",
        "Source": source,
        "Dir": ".terraform/modules/net",
        **({"Version": version} if version else {}),
    }
    (module.parent / "modules.json").write_text(json.dumps({"Modules": [record]}), "utf-8")


def diagnosed(folder: Path, doctor: Any, text: str, *words: str, at: int = LATER) -> Any:
    log = folder / "ci.log"
    log.write_text(text, "utf-8")
    os.utime(log, (at, at))
    return doctor(folder, "--offline", "ci.log", *words)


def roots_of(document: Any) -> list[str]:
    (error,) = document["errors"]
    return error["roots"]  # type: ignore[no-any-return]


def test_the_modules_of_a_run_are_read_from_plain_and_json_lines() -> None:
    fetched = f"Downloading {REGISTRY} 1.2.0 for net...\nDownloading {GIT} for net.part...\n"
    events = (json.dumps({"@message": line, "type": "log"}) for line in f"{BEGIN}{fetched}".splitlines())
    for text in (f"{BEGIN}{fetched}", "".join(f"{event}\n" for event in events)):
        (error,) = read_log(f"{text}{READONLY}".encode()).errors
        assert error.modules == (FetchedModule("net", REGISTRY, "1.2.0"), FetchedModule("net.part", GIT, ""))


@pytest.mark.parametrize("fetched", ["dev prod stage", "prod", ""])
def test_a_module_that_is_older_here_does_not_tell_what_the_run_required(
    fetched: str, tmp_path: Path, doctor: Any
) -> None:
    folder = estate(
        tmp_path / "r",
        {"dev": called(REGISTRY, "1.0.0"), "prod": called(REGISTRY, "~> 1.0"), "stage": called(REGISTRY, "1.0.0")},
    )
    for name in fetched.split():
        fetch(folder / name, REGISTRY, "1.0.0")
    text = f"{BEGIN}Downloading {REGISTRY} 1.2.0 for net...\n- net in .terraform/modules/net\n{READONLY}"
    for words in ((), ("--", "prod")):
        document = diagnosed(folder, doctor, text, *words)
        assert roots_of(document) == ["prod"], "the others call another version"
        (cause,) = (one for one in document["causes"] if one["verdict"] == "yes")
        assert "nothing in" not in cause["evidence"]
        fix = document["remedies"][0]
        assert fix["command"] == "locklens lock acme/netbox --root=prod"
        update = " -update: the failing run fetched other modules" if fetched else ": without the modules"
        assert f"first terraform -chdir=prod get{update}" in fix["note"]
    fetch(folder / "prod", REGISTRY, "1.2.0", ("acme/netbox", "~> 3.9"))
    document = diagnosed(folder, doctor, text)
    assert (roots_of(document), "get" in document["remedies"][0]["note"]) == (["prod"], False)


@pytest.mark.parametrize(
    ("source", "logged", "is_it"),
    [
        ("acme/net/aws", "registry.terraform.io/acme/net/aws", True),
        ("acme/net/aws", "registry.opentofu.org/acme/net/aws", True),
        ("acme/net/aws//sub", "registry.terraform.io/acme/net/aws", True),
        ("acme/net/aws", "registry.terraform.io/acme/other/aws", False),
        ("github.com/acme/net?ref=v1.0.0", "git::https://github.com/acme/net.git?ref=v1.0.0", True),
        ("git@github.com:acme/net.git//a", "git::ssh://git@github.com/acme/net.git", True),
        ("github.com/acme/net?ref=v1.0.0", "git::https://github.com/acme/net.git?ref=v1.1.0", False),
        ("git::https://git.example.com/net.git", "git::https://***@git.example.com/net.git", True),
    ],
)
def test_a_call_is_known_by_the_address_that_init_prints(
    source: str, logged: str, is_it: bool, tmp_path: Path, doctor: Any
) -> None:
    folder = estate(tmp_path / "r", {"dev": called("git::https://git.example.com/far.git"), "prod": called(source)})
    text = f"{BEGIN}Downloading {logged} for net...\n{READONLY}"
    assert roots_of(diagnosed(folder, doctor, text)) == (["prod"] if is_it and "***" not in logged else ["dev", "prod"])


def excluded(source: str, constraint: str = "~> 1.4, >= 1.5.0") -> str:
    words = f"locked provider registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint {constraint}"
    fetched = f"Downloading {source} for net...\n" if source else ""
    return (
        f"{BEGIN}{fetched}Initializing provider plugins...\nError: Failed to query available provider packages\n\n"
        f"Could not retrieve the list of available versions for provider acme/demo: {words}; must use terraform init\n"
        "-upgrade to allow selection of new versions\n"
    )


def test_a_constraint_of_a_module_that_moved_is_not_met_by_what_lies_here(tmp_path: Path, doctor: Any) -> None:
    folder = estate(tmp_path / "r", {"prod": called(GIT)})
    fetch(folder / "prod", GIT)
    document = diagnosed(folder, doctor, excluded(GIT))
    (cause,) = (one for one in document["causes"] if one["verdict"] == "likely")
    assert (document["state"], cause["id"]) == ("open", "constraint-conflict")
    assert "not >= 1.5.0, which the message has besides" in cause["evidence"]
    assert document["remedies"][0]["command"] == "terraform -chdir=prod get -update"
    fetch(folder / "prod", GIT, at=LATER + 1)
    document = diagnosed(folder, doctor, excluded(GIT))
    assert document["state"] == "open"
    assert {one["verdict"] for one in document["causes"]} <= {"unknown", "no"}
    words = "the log has the constraint ~> 1.4, >= 1.5.0 on acme/demo, which neither prod nor its last commits have"
    (note,) = (one for one in document["run"]["notes"] if one.startswith(words))
    assert "a module that the run fetched may have it, as terraform get -update fetches it now" in note
    fetch(folder / "prod", GIT, "", ("acme/demo", ">= 1.5.0"))
    assert next(one["verdict"] for one in diagnosed(folder, doctor, excluded(GIT))["causes"]) == "yes"


def test_a_root_whose_module_is_not_fetched_stays_beside_one_with_the_constraint(tmp_path: Path, doctor: Any) -> None:
    old = PINNED.replace("1.1", "1.0")
    folder = estate(tmp_path / "r", {"dev": called(PINNED), "prod": called(old), "stage": called(PINNED)})
    assert roots_of(diagnosed(folder, doctor, excluded(PINNED))) == ["dev", "stage"]
    fetch(folder / "dev", PINNED, "", ("acme/demo", ">= 1.5.0"))
    document = diagnosed(folder, doctor, excluded(PINNED))
    assert roots_of(document) == ["dev", "stage"]
    assert not [one for one in document["causes"] if one["verdict"] == "yes"]
    (folder / "dev/.terraform.lock.hcl").write_bytes(lock_file(NEWER))
    assert diagnosed(folder, doctor, excluded(PINNED))["state"] == "open", "the other root is as it was"
    listed = f"{BEGIN}Downloading {PINNED} for net...\n{READONLY}"
    git(folder, "checkout", "-q", "--", "dev")
    fetch(folder / "dev", PINNED, "", ("acme/netbox", "~> 3.9"))
    assert roots_of(diagnosed(folder, doctor, listed)) == ["dev", "stage"]


def test_a_root_whose_own_files_tell_all_is_the_one_that_failed(tmp_path: Path, doctor: Any) -> None:
    folder = estate(tmp_path / "r", {name: called(PINNED) for name in ("dev", "prod", "stage")})
    own = requires(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    (folder / "prod/main.tf").write_text(called(PINNED).replace(requires(("acme/demo", "~> 1.4")), own), "utf-8")
    fetch(folder / "prod", PINNED)
    assert roots_of(diagnosed(folder, doctor, f"{BEGIN}Downloading {PINNED} for net...\n{READONLY}")) == ["prod"]
    (folder / "prod/main.tf").write_text(called(PINNED).replace("~> 1.4", "~> 1.4, >= 1.5.0"), "utf-8")
    assert roots_of(diagnosed(folder, doctor, excluded(PINNED))) == ["prod"]


@pytest.mark.parametrize("is_of_call", [False, True], ids=["no call", "another version"])
def test_a_root_with_the_same_providers_that_calls_other_modules_is_not_the_one_that_failed(
    is_of_call: bool, tmp_path: Path, doctor: Any
) -> None:
    both = requires(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    call = called(PINNED).partition("module")[2] if is_of_call else ""
    folder = estate(tmp_path / "r", {"alike": f"{both}module{call}" if call else both, "prod": called(GIT)})
    netbox = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    (folder / "alike/.terraform.lock.hcl").write_bytes(lock_file(DEMO, netbox))
    git(folder, "commit", "-qam", "alike locks both")
    document = diagnosed(folder, doctor, f"{BEGIN}Downloading {GIT} for net...\n{READONLY}")
    assert (document["state"], roots_of(document)) == ("open", ["prod"])
    (folder / "alike/main.tf").write_text(both.replace("~> 1.4", "~> 1.4, >= 1.5.0"), "utf-8")
    assert roots_of(diagnosed(folder, doctor, excluded(GIT))) == ["prod"]


@pytest.mark.parametrize("order", ["together", "constraint first", "log first"])
def test_a_lock_file_that_no_commit_had_with_the_constraint_is_not_fixed(
    order: str, tmp_path: Path, doctor: Any
) -> None:
    folder = estate(tmp_path / "r", {"prod": requires(("acme/demo", "~> 1.4"))})
    (folder / "prod/main.tf").write_text(requires(("acme/demo", "~> 1.5")), "utf-8")
    if order == "constraint first":
        git(folder, "commit", "-qam", "a constraint")
    (folder / "prod/.terraform.lock.hcl").write_bytes(lock_file(NEWER))
    git(folder, "commit", "-qam", "demo 1.5")
    document = diagnosed(folder, doctor, excluded("", "~> 1.5"), at=1 if order == "log first" else LATER)
    together = (
        "brought this constraint to prod, and another version than 1.4.2 with it: the error of a run before it is"
    )
    assert (document["state"] == "open") == (order == "together")
    assert any(together in note for note in document["run"]["notes"]) == (order == "together")


def test_the_bump_of_a_module_is_told_by_its_call_with_its_other_callers(tmp_path: Path, doctor: Any) -> None:
    older, newer = called(PINNED.replace("v1.1.0", "v1.0.0")), called(PINNED)
    folder = estate(tmp_path / "r", {"dev": older, "prod": older})
    for name in ("dev", "prod"):
        (folder / name / "main.tf").write_text(newer, "utf-8")
    git(folder, "commit", "-qam", "net v1.1.0")
    fetch(folder / "prod", PINNED, "", ("acme/demo", ">= 1.5.0"), ("acme/netbox", "~> 3.9"))
    text = f"$ terraform -chdir=prod init -lockfile=readonly\n{excluded(PINNED)}"
    document = diagnosed(folder, doctor, text)
    (cause,) = (one for one in document["causes"] if one["verdict"] == "yes")
    notes = document["run"]["notes"]
    (note,) = (one for one in notes if one.startswith("in dev, too, the locked version"))
    assert cause["id"] == "constraint-conflict"
    assert any("prod/main.tf:10: since commit" in one and '"net v1.1.0"' in one for one in notes)
    assert "does not satisfy the constraints (prod/.terraform/modules/net/versions.tf:" in note
    way = "a read-only init fails until locklens lock acme/netbox --root=prod has locked what is required besides"
    fixes = {one["command"]: one["note"] for one in document["remedies"]}
    assert way in fixes["locklens upgrade acme/demo --root=prod"]
    writing = {one["note"] for one in diagnosed(folder, doctor, text.replace(" -lockfile=readonly", ""))["remedies"]}
    assert not any("read-only" in one for one in writing)


def test_a_deduced_root_that_no_cause_fits_is_not_taken_for_certain(tmp_path: Path, doctor: Any) -> None:
    demo, netbox = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    locked = lock_file(DEMO, sample_entry("acme/netbox", "3.9.1", "~> 3.9"))
    files = {"dev/main.tf": requires(demo, netbox).encode(), "dev/.terraform.lock.hcl": locked}
    files |= {"prod/main.tf": requires(demo).encode(), "prod/.terraform.lock.hcl": lock_file(DEMO)}
    folder = repository(tmp_path / "r", files)
    document = diagnosed(folder, doctor, READONLY)
    note = "no cause fits dev, which the log does not name: if another root failed, name it with -- ROOT"
    assert (document["state"], roots_of(document)) == ("open", ["dev"])
    assert note in document["run"]["notes"]
    assert note not in diagnosed(folder, doctor, READONLY, "--", "dev")["run"]["notes"]
