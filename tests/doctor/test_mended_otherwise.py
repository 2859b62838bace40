"""What ended an error, or did not, where it was not a fix of locklens: a revert, another way in one of several roots."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.repositories import repository

from locklens.demo import lock_file
from locklens.demo.cases import requires, sample_entry
from locklens.demo.incidents import sample_incidents

DEMO, NETBOX = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
OF_DEMO, OF_NETBOX = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
CHANGED = (
    "\nError: Provider dependency changes detected\n\nChanges to the required provider dependencies were detected, "
    "but the lock\nfile is read-only.\n"
)
INIT = "##[group]Run terraform init -lockfile=readonly\nInitializing provider plugins...\n"
REUSED = "- Reusing previous version of acme/demo from the dependency lock file\n"
FOUND = '- Finding acme/netbox versions matching "~> 3.9"...\n'


def logged(folder: Path, text: str) -> None:
    """Write the log, as it is in a minute: after what is committed, and before what is committed later."""
    log = folder / "ci.log"
    log.write_text(text, "utf-8")
    at = log.stat().st_mtime + 60
    os.utime(log, (at, at))


@pytest.fixture
def dated(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Commit at a number of minutes from now."""

    def commit(folder: Path, minutes: int, subject: str) -> None:
        at = int((folder / ".git/config").stat().st_mtime) + 60 * minutes
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"@{at} +0000")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", subject)

    return commit


def test_an_orphan_that_is_required_again_is_over(tmp_path: Path, doctor: Any, dated: Any) -> None:
    both = requires(OF_DEMO, OF_NETBOX)
    files = {f"{name}/main.tf": both.encode() for name in ("dev", "prod")}
    locks = {f"{name}/.terraform.lock.hcl": lock_file(DEMO, NETBOX) for name in ("dev", "prod")}
    folder = repository(tmp_path / "r", {**files, **locks})
    (folder / "dev/main.tf").write_text(requires(OF_DEMO), "utf-8")
    dated(folder, -5, "without netbox")
    logged(folder, INIT + REUSED + CHANGED)
    document = doctor(folder, "--offline", "ci.log")
    (cause,) = (one for one in document["causes"] if one["verdict"] == "yes")
    assert (cause["id"], cause["roots"]) == ("not-required", ["dev"])
    assert not any("no cause fits" in one for one in document["run"]["notes"]), "of another provider of the root"
    (folder / "dev/main.tf").write_text(both, "utf-8")
    dated(folder, 5, "revert")
    assert doctor(folder, "--offline", "ci.log")["fixed"] == "dev requires just what dev/.terraform.lock.hcl has now"


def test_a_requirement_that_was_reverted_is_over_in_each_root_that_had_it(
    tmp_path: Path, doctor: Any, dated: Any
) -> None:
    call = 'module "db" {\n  source = "../modules/db"\n}\n'
    files: dict[str, bytes | str] = {"modules/db/main.tf": "locals {}\n"}
    for name in ("dev", "prod"):
        files |= {f"{name}/main.tf": requires(OF_DEMO) + call, f"{name}/.terraform.lock.hcl": lock_file(DEMO)}
    folder = repository(tmp_path / "r", files)
    (folder / "modules/db/main.tf").write_text(requires(OF_NETBOX), "utf-8")
    dated(folder, -5, "db on netbox")
    logged(folder, INIT + REUSED + FOUND + CHANGED)
    document = doctor(folder, "--offline", "ci.log")
    assert (document["state"], document["errors"][0]["roots"]) == ("open", ["dev", "prod"])
    (folder / "modules/db/main.tf").write_text("locals {}\n", "utf-8")
    dated(folder, 5, "revert")
    document = doctor(folder, "--offline", "ci.log")
    assert (document["state"], document["fixed"]) == ("fixed", "nothing in dev, prod requires acme/netbox any more")


def test_a_root_that_was_mended_since_stays_among_those_that_the_log_fits(
    tmp_path: Path, doctor: Any, dated: Any
) -> None:
    call = 'module "db" {\n  source = "../modules/db"\n}\n'
    files: dict[str, bytes | str] = {"modules/db/main.tf": requires(("acme/demo", ">= 1.5"))}
    for name in ("dev", "prod"):
        files |= {f"{name}/main.tf": requires(OF_DEMO) + call, f"{name}/.terraform.lock.hcl": lock_file(DEMO)}
    folder = repository(tmp_path / "r", files)
    words = "locked provider registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.4, >= 1.5.0"
    logged(
        folder,
        "##[group]Run terraform init\nError: Failed to query available provider packages\n\nCould not retrieve the list of "
        f"available versions for provider acme/demo: {words}; must use terraform init\n-upgrade\n",
    )
    assert doctor(folder, "--offline", "ci.log")["errors"][0]["roots"] == ["dev", "prod"]
    (folder / "dev/main.tf").write_text(requires(("acme/demo", "~> 1.5")) + call, "utf-8")
    (folder / "dev/.terraform.lock.hcl").write_bytes(lock_file(sample_entry("acme/demo", "1.5.0", "~> 1.5, >= 1.5.0")))
    dated(folder, 5, "demo 1.5 in dev")
    document = doctor(folder, "--offline", "ci.log")
    assert document["errors"][0]["roots"] == ["dev", "prod"]
    assert {one["verdict"] for one in document["causes"]} <= {"likely", "no", "unknown"}, "the log may be of dev"
    assert {root for one in document["causes"] for root in one["roots"] if one["verdict"] == "likely"} == {"prod"}


def test_a_platform_that_a_new_lock_file_has_is_not_ruled_out_for_the_run_before(
    made: Any, doctor: Any, dated: Any
) -> None:
    folder = made(next(one for one in sample_incidents() if one.cause == "platform-missing"))
    path = folder / "live/prod/.terraform.lock.hcl"
    before = path.read_text("utf-8")
    (zh, *_) = re.findall(r"zh:[0-9a-f]{64}", lock_file(DEMO).decode())
    assert zh not in before
    path.write_bytes(lock_file(DEMO))
    dated(folder, 5, "a new lock file")
    document = doctor(folder, "ci.log")
    verdicts = {one["id"]: (one["verdict"], one["evidence"]) for one in document["causes"]}
    assert document["state"] == "fixed" or verdicts["platform-missing"][0] != "no", verdicts


def test_the_folder_of_a_module_is_the_root_of_its_own_job(tmp_path: Path, doctor: Any) -> None:
    """One that calls it requires more, or has no such tests."""
    call = 'module "db" {\n  source = "../modules/db"\n}\n'
    files: dict[str, bytes | str] = {"modules/db/main.tf": requires(OF_NETBOX), "modules/db/tests/a.tftest.hcl": ""}
    files |= {"prod/main.tf": requires(OF_DEMO) + call, "prod/.terraform.lock.hcl": lock_file(DEMO, NETBOX)}
    files |= {"alike/main.tf": requires(OF_NETBOX), "alike/.terraform.lock.hcl": lock_file(NETBOX)}
    folder = repository(tmp_path / "r", files)
    missing = (
        "Error: Missing required provider\n\nThis configuration requires provider registry.terraform.io/acme/netbox, "
        "but that provider isn't available. You may be able to install it automatically by running:\n  terraform init\n"
    )
    tested = f"##[group]Run terraform test\ntests/a.tftest.hcl... in progress\n{missing}"
    (folder / "ci.log").write_text(tested, "utf-8")
    assert doctor(folder, "--offline", "ci.log")["errors"][0]["roots"] == ["modules/db"]
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.tftest.hcl").write_text("", "utf-8")
    if os.name != "nt":  # what leads out of the repository is no file of a root, and ends no diagnosis
        (folder / "alike/tests").symlink_to(tmp_path / "outside")
    for name in ("tests/a.tftest.hcl", "../../outside/a.tftest.hcl", f"{tmp_path}/outside/a.tftest.hcl"):
        (folder / "ci.log").write_text(tested.replace("tests/a.tftest.hcl", name), "utf-8")
        roots = doctor(folder, "--offline", "ci.log")["errors"][0]["roots"]
        assert roots == (["modules/db"] if name.startswith("tests/") else ["alike"])
    git(folder, "rm", "-rq", "alike")
    (folder / "ci.log").write_text(f"##[group]Run terraform validate\n{missing}", "utf-8")
    assert doctor(folder, "--offline", "ci.log")["errors"][0]["roots"] == ["modules/db"]
    fix = doctor(folder, "--offline", "ci.log")["remedies"][0]
    assert fix["command"] == "terraform -chdir=modules/db init"
    assert "the folder has no lock file" in doctor(folder, "--offline", "--format", "text", "ci.log")
