"""Which root a log is of: one run is of one root, wherever the shell is, and whatever was changed since the log."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from shutil import copytree, rmtree
from typing import TYPE_CHECKING, Any

import pytest
from kit.command_line import no_screen
from kit.effort import DIAGONAL
from kit.git import git
from kit.repositories import copy_of, repository
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import lock_file
from locklens.demo.cases import OPENTOFU_HOST, TERRAFORM_HOST, requires, sample_entry
from locklens.demo.incidents import SampleIncident
from locklens.dialect import OPENTOFU
from locklens.doctor.recognising import read_log
from locklens.operations.root_modules import Root, RootReader
from locklens.project.gittree import RevisionTree
from locklens.project.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.demo import SampleLock

DEMO, NETBOX = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
DEMO_15, NETBOX_310 = replace(DEMO, version="1.5.0"), replace(NETBOX, version="3.10.0")
BOTH = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
ROOTS = {
    "dns": (BOTH[:1], (DEMO,)),
    "net": (BOTH, (DEMO, NETBOX)),
    "newer": (BOTH, (DEMO, NETBOX_310)),
    "twin": (BOTH, (DEMO, NETBOX_310)),
}
LISTED = (
    "Initializing the backend...\nInitializing provider plugins...\n"
    "- Reusing previous version of acme/demo from the dependency lock file\n"
    "- Reusing previous version of acme/netbox from the dependency lock file\n"
)
INSTALLING = "- Installing acme/demo v1.4.2...\n- Installing acme/netbox v3.9.1...\n"


def failed(name: str, version: str) -> str:
    return (
        f"\nError: Failed to install provider\n\nError while installing {name} v{version}: the current package for\n"
        f"registry.terraform.io/{name} {version} doesn't match any of the\n"
        "checksums previously recorded in the dependency lock file; for more\ninformation:\n"
        "https://developer.hashicorp.com/terraform/language/files/dependency-lock#checksum-verification\n"
    )


def lay_roots(folder: Path) -> None:
    files: dict[str, bytes | str] = {}
    for name, (required, entries) in ROOTS.items():
        files |= {f"{name}/main.tf": requires(*required), f"{name}/.terraform.lock.hcl": lock_file(*entries)}
    repository(folder, files)


@pytest.fixture
def top(made: Any, tmp_path: Path) -> Path:
    """A repository with roots that share entries; returns its top."""
    made(SampleIncident("", ("none",), (lock_file(DEMO),), BOTH[:1]))
    return copy_of(lay_roots, tmp_path / "shared")


def roots_of(document: Any) -> list[list[str]]:
    return [one["roots"] for one in document["errors"]]


@DIAGONAL
@pytest.mark.parametrize("log", [
    LISTED + INSTALLING + failed("acme/demo", "1.4.2"),
    LISTED + failed("acme/demo", "1.4.2") + failed("acme/netbox", "3.9.1"),
    failed("acme/demo", "1.4.2") + failed("acme/netbox", "3.9.1"),
])  # fmt: skip
@pytest.mark.parametrize("folder", ["", "dns", "newer"])
def test_all_that_a_run_tells_is_of_one_root_wherever_the_shell_is(
    folder: str, log: str, top: Path, doctor: Any
) -> None:
    (top / "ci.log").write_text(log, "utf-8")
    document = doctor(top / folder, str(top / "ci.log"))
    assert {tuple(one) for one in roots_of(document)} == {("net",)}


def test_a_version_that_providers_lock_finds_no_package_of_tells_the_root(top: Path, doctor: Any) -> None:
    name = "registry.terraform.io/acme/netbox"
    (top / "ci.log").write_text(
        "Error: Could not retrieve providers for locking\n\nTerraform failed to fetch the requested providers for\n"
        "freebsd_386 in order to calculate their checksums: some providers could not be installed:\n"
        f"- {name}: provider {name}\n3.9.1 is not available for freebsd_386.\n",
        "utf-8",
    )
    (error,) = doctor(top, "ci.log")["errors"]
    assert (error["provider"], error["version"], error["roots"]) == (name, "3.9.1", ["net"])


@pytest.mark.parametrize("change", ["locklens", "disk", "commit"])
def test_a_root_that_was_changed_since_the_log_is_its_root(change: str, top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text(LISTED + failed("acme/demo", "1.4.2") + failed("acme/netbox", "3.9.1"), "utf-8")
    assert main(["upgrade", "--no-cache", "acme/demo=1.5.0", f"--root={top / 'net'}"], no_screen) == 0
    if change != "locklens":
        (top / "net/.terraform.lock.hcl").write_bytes(lock_file(DEMO_15, NETBOX))
    if change == "commit":
        git(top, "commit", "-qam", "upgrade")
    document = doctor(top, "ci.log")
    assert roots_of(document) == [["net"], ["net"]]
    notes = document["run"]["notes"]
    assert "the lock file no longer has acme/demo 1.4.2: 1.5.0 is locked (net/.terraform.lock.hcl:4)" in notes
    assert "dns, newer, twin have the entry of acme/demo that net had" in notes
    assert not any(one.startswith("the log is of") for one in notes), "its error is over"


@DIAGONAL
@pytest.mark.parametrize("first", ["dns", "net"])
@pytest.mark.parametrize("is_unlike", [False, True])
def test_without_a_list_a_root_that_locklens_upgraded_is_fixed_as_all_with_its_version_are(
    first: str, is_unlike: bool, top: Path, doctor: Any
) -> None:
    (top / "ci.log").write_text(failed("acme/demo", "1.4.2"), "utf-8")
    roots = ["dns", "net", "newer", "twin"]
    if is_unlike:
        (top / "twin/.terraform.lock.hcl").write_bytes(lock_file(replace(DEMO, unpacked=())))
    assert roots_of(doctor(top, "ci.log")) == [roots]
    for chosen in ([first], [name for name in roots if name not in {first, "twin"}]):
        where = [f"--root={top / name}" for name in chosen]
        assert main(["upgrade", "--no-cache", "acme/demo=1.5.0", *where], no_screen) == 0
        document = doctor(top, "ci.log")
        assert document["state"] != "fixed", "another root may have failed"
        assert "twin" in roots_of(document)[0]
    assert main(["upgrade", "--no-cache", "acme/demo=1.5.0", f"--root={top / 'twin'}"], no_screen) == 0
    document = doctor(top, "ci.log")
    assert (document["state"], roots_of(document)) == ("fixed", [roots])


def test_a_root_whose_lock_file_was_deleted_since_the_commit_is_one_that_the_log_fits(top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text(failed("acme/netbox", "3.9.1"), "utf-8")
    assert roots_of(doctor(top, "ci.log")) == [["net"]]
    (top / "net/.terraform.lock.hcl").unlink()
    document = doctor(top, "ci.log")
    assert (document["state"], roots_of(document)) == ("open", [["net"]])
    commit = git(top, "rev-parse", "--short=12", "HEAD")
    words = f"net has no lock file: it was deleted, which is not committed, and commit {commit} has it"
    assert document["causes"][0]["evidence"] == f"acme/netbox is required (net/main.tf:7), and {words}"
    assert (
        document["remedies"][0]["command"] == f"git restore -s {commit} --staged --worktree -- net/.terraform.lock.hcl"
    )
    (top / "ci.log").write_text(failed("acme/demo", "1.4.2"), "utf-8")
    document = doctor(top, "ci.log")
    assert (document["state"], roots_of(document)) == ("open", [["dns", "net", "newer", "twin"]])
    rmtree(top / "net")
    assert roots_of(doctor(top, "ci.log")) == [["dns", "newer", "twin"]], "a root that is gone is none here"


def test_an_error_without_a_version_is_of_none_where_roots_have_several(top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text(failed("acme/demo", "").replace("demo v", "demo").replace("demo  ", "demo "), "utf-8")
    told = "the log does not tell which of dns, net, newer, twin"
    assert f"ROOT         ?  acme/demo 1.4.2; {told}\n" in doctor(top, "--format", "text", "ci.log")
    (top / "newer/.terraform.lock.hcl").write_bytes(lock_file(replace(DEMO, version="1.4.1"), NETBOX))
    git(top, "commit", "-qam", "older")
    assert f"ROOT         ?  acme/demo; {told}\n" in doctor(top, "--format", "text", "ci.log")
    cached = (
        "Error: registry.terraform.io/acme/demo: the cached package for registry.terraform.io/acme/demo (in\n"
        ".terraform/providers) does not match any of the checksums recorded in the dependency lock file\n"
    )
    (top / "ci.log").write_text(cached, "utf-8")
    report = doctor(top, "--format", "text", "ci.log")
    assert "$ (cd .terraform/providers/registry.terraform.io/acme/demo/VERSION/OS_ARCH && " in report


def test_a_root_that_lacks_hashes_in_another_way_may_have_failed_too(top: Path, doctor: Any) -> None:
    for name, platform in (("net", "darwin_arm64"), ("twin", "windows_amd64")):
        lock = lock_file(replace(DEMO, packed=(platform,), unpacked=()))
        (top / name / ".terraform.lock.hcl").write_bytes(lock)
    git(top, "commit", "-qam", "one platform each")
    (top / "ci.log").write_text(failed("acme/demo", "1.4.2"), "utf-8")
    for name, found in (("net", (False, True)), ("twin", (True, True))):
        assert main(["-C", str(top), "restore", "acme/demo", "--from=HEAD~1", f"--root={name}"], no_screen) == 0
        document = doctor(top, "ci.log", "--platform", "linux_amd64")
        assert (document["state"] == "fixed", "twin" in roots_of(document)[0]) == found


def test_of_roots_that_were_mended_in_several_ways_none_is_named(top: Path, doctor: Any) -> None:
    for name in ("net", "twin"):
        (top / name / ".terraform.lock.hcl").write_bytes(
            lock_file(replace(DEMO, packed=("darwin_arm64",), unpacked=()))
        )
        git(top, "commit", "-qam", f"{name}: one platform")
    (top / "ci.log").write_text(failed("acme/demo", "1.4.2"), "utf-8")
    assert main(["-C", str(top), "restore", "acme/demo", "--from=HEAD~2", "--root=net"], no_screen) == 0
    git(top, "checkout", "-q", "HEAD~2", "--", "twin")
    document = doctor(top, "ci.log", "--platform", "linux_amd64")
    assert (document["state"], roots_of(document)) == ("fixed", [["net", "twin"]])
    assert (document["facts"]["root"], document["next"]) == (None, "terraform -chdir=ROOT init")


def test_a_root_that_was_edited_into_another_version_may_still_fail(top: Path, doctor: Any) -> None:
    for name in ("net", "twin"):
        lock = lock_file(replace(DEMO, packed=("darwin_arm64",), unpacked=()))
        (top / name / ".terraform.lock.hcl").write_bytes(lock)
    git(top, "commit", "-qam", "one platform")
    (top / "ci.log").write_text(failed("acme/demo", "1.4.2"), "utf-8")
    (top / "net/.terraform.lock.hcl").write_bytes(lock.replace(b'"1.4.2"', b'"1.4.1"'))
    assert main(["-C", str(top), "restore", "acme/demo", "--from=HEAD~1", "--root=twin"], no_screen) == 0
    document = doctor(top, "ci.log", "--platform", "linux_amd64")
    assert (document["state"] != "fixed", "net" in roots_of(document)[0]) == (True, True)


def test_an_error_that_names_no_provider_is_looked_for_in_each_lock_file_that_it_fits(top: Path, doctor: Any) -> None:
    (top / "twin/.terraform.lock.hcl").write_bytes(lock_file(replace(DEMO, unpacked=()), NETBOX_310))
    (top / "ci.log").write_text(
        "\nWarning: Provider lock file not updated\n\nChanges to the provider selections were detected, but not saved in the\n"
        '.terraform.lock.hcl file. To record these selections, run "terraform init"\nwithout the "-lockfile=readonly" flag.\n'
        "Terraform has been successfully initialized!\n",
        "utf-8",
    )
    document = doctor(top, "ci.log")
    assert document["errors"][0]["text"].endswith('without the "-lockfile=readonly" flag.')
    (top / "full.log").write_text(
        "\nError: Failed to update dependency lock file\n\nError while writing new dependency lock information to "
        ".terraform.lock.hcl:\ncannot create temporary file: open ./.terraform.lock.hcl1: no space left on device.\n"
    )
    words = "ROOT ? the log does not tell which of dns, net, newer, twin"
    assert words in " ".join(doctor(top, "--format", "text", "full.log").split())
    held = [(one["id"], one["roots"], one["provider"]) for one in document["causes"] if one["verdict"] == "yes"]
    assert held == [("h1-missing", ["twin"], "registry.terraform.io/acme/demo")]


def test_of_a_message_alone_none_is_certain_that_is_not_so_in_each_root_that_may_print_it(
    top: Path, doctor: Any
) -> None:
    """The message has no list; in roots that lock just what they require, no run prints it."""

    def certain_with(root: str, *entries: SampleLock) -> list[tuple[str, list[str]]]:
        (top / root / ".terraform.lock.hcl").write_bytes(lock_file(*entries))
        git(top, "commit", "-qam", f"edit {root}")
        (top / "ci.log").write_text(READ_ONLY[READ_ONLY.index("Error") :], "utf-8")
        causes = doctor(top, "ci.log")["causes"]
        return [(one["id"], one["roots"]) for one in causes if one["verdict"] == "yes"]

    assert certain_with("net", DEMO) == [("not-locked", ["net"])]
    assert certain_with("newer", DEMO) == [("not-locked", ["net", "newer"])]
    assert certain_with("dns", DEMO, NETBOX) == [], "it locks one that it does not require"


def test_of_several_roots_the_current_folder_s_is_taken_and_the_others_are_named(top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text(LISTED + INSTALLING.replace("3.9.1", "3.10.0") + failed("acme/demo", "1.4.2"), "utf-8")
    assert roots_of(doctor(top, "ci.log")) == [["newer", "twin"]]
    document = doctor(top / "newer", "../ci.log")
    assert roots_of(document) == [["newer"]]
    note = "the log fits ../twin, too: the current folder's root is taken; -- ROOT names another"
    assert note in document["run"]["notes"]
    assert not any("the log fits" in one for one in doctor(top / "newer", "../ci.log", "--", ".")["run"]["notes"])


def test_the_current_folder_s_root_is_not_taken_where_it_has_nothing_of_the_log(top: Path, doctor: Any) -> None:
    log = failed("hashicorp/vault", "4.1.0")
    (top / "ci.log").write_text(log, "utf-8")
    for listed in ("", "- Reusing previous version of hashicorp/vault from the dependency lock file\n"):
        (top / "ci.log").write_text(listed + log, "utf-8")
        document = doctor(top / "net", "../ci.log")
        assert (document["facts"]["root"], roots_of(document)) == (None, [[]])
        (note,) = document["run"]["notes"]
        assert note.startswith("no root here locks or requires hashicorp/vault: ")


@DIAGONAL
@pytest.mark.parametrize("before", [
    "##[group]Run terraform -chdir=eu/mail init -input=false\n", "$ cd eu/mail && terraform init\n",
    "Run cd eu/mail && terraform init\n", "##[group]Run cd eu/mail\n",
])  # fmt: skip
@pytest.mark.parametrize("folder", ["", "net"])
def test_no_root_here_is_blamed_for_a_log_that_names_another_folder(
    before: str, folder: str, top: Path, doctor: Any
) -> None:
    (top / "ci.log").write_text(before + LISTED + failed("acme/demo", "1.4.2"), "utf-8")
    document = doctor(top / folder, str(top / "ci.log"))
    assert (document["state"], roots_of(document), document["causes"]) == ("open", [[]], [])
    (note,) = document["run"]["notes"]
    assert note.startswith("the log names eu/mail, which is no root here: ")
    assert roots_of(doctor(top / folder, str(top / "ci.log"), "--", str(top / "net"))) == [["net"]]


@pytest.mark.parametrize("name", ["$ROOT", "shared", "/src", "eu/net", "/home/me/eu/mail", ".."])
def test_a_folder_that_need_not_be_of_another_repository_rules_out_no_root(name: str, top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text(f"$ cd {name}\n{LISTED}{failed('acme/netbox', '3.9.1')}", "utf-8")
    assert roots_of(doctor(top, "ci.log")) == [["net"]]


@pytest.mark.parametrize("before", ["$ cd live/prod\n", "$ terraform -chdir=live/prod init\n", "$ cd $ROOT\n"])
def test_of_roots_whose_paths_end_alike_those_with_the_folder_of_the_log_are_taken(
    before: str, top: Path, doctor: Any
) -> None:
    every = ["a/live/dev", "a/live/prod", "b/live/dev", "b/live/prod"]
    for name in every:
        copytree(top / "net", top / name)
    rmtree(top / "net")
    (top / "ci.log").write_text(before + LISTED + failed("acme/netbox", "3.9.1"), "utf-8")
    fitting = every if "$ROOT" in before else [one for one in every if one.endswith("prod")]
    assert roots_of(doctor(top, "ci.log")) == [fitting]
    (top / "a/live/prod/.terraform.lock.hcl").write_bytes(lock_file(DEMO, NETBOX_310))
    git(top, "add", ".")
    git(top, "commit", "-qm", "one of them has another version")
    assert roots_of(doctor(top, "ci.log")) == [[one for one in fitting if one != "a/live/prod"]]


def test_one_message_in_several_runs_is_judged_in_each_root_and_fixed_in_all(top: Path, doctor: Any) -> None:
    copytree(top / "twin", top / "sound")
    for name in ("newer", "twin"):
        (top / name / "main.tf").write_text(requires(BOTH[0], ("acme/netbox", "3.9.1")), "utf-8")
    git(top, "add", ".")
    git(top, "commit", "-qm", "two roots want 3.9.1")
    clash = (
        "Error: Failed to query available provider packages\n\nCould not retrieve the list of available versions for "
        "provider\nacme/netbox: locked provider registry.terraform.io/acme/netbox\n3.10.0 does not match configured "
        "version constraint 3.9.1; must use\nterraform init -upgrade to allow selection of new versions\n"
    )
    (top / "ci.log").write_text("".join(f"+ cd {name}\n{clash}" for name in ("newer", "twin", "newer")), "utf-8")
    document = doctor(top, "ci.log")
    held = [one for one in document["causes"] if one["verdict"] == "yes"]
    assert (roots_of(document), [one["roots"] for one in held]) == ([["newer", "twin"]], [["newer", "twin"]])
    assert '"3.9.1" at newer/main.tf' in held[0]["evidence"]
    assert held[0]["evidence"].endswith("; likewise in twin")
    commands = [one["command"] for one in document["remedies"] if one["id"] == "upgrade"]
    assert commands == ["locklens upgrade acme/netbox=3.9.1 --root=newer --root=twin"]
    out = doctor(top, "--format", "text", "ci.log")
    having = "sound has the same version and hashes"
    assert re.search(rf"^ROOT +newer, twin  acme/netbox 3.10.0; {having}$", out, re.MULTILINE)
    assert roots_of(doctor(top, "ci.log", "--", "twin", "sound")) == [["twin"]]
    assert roots_of(doctor(top, "ci.log", "--", "sound")) == [["sound"]]
    assert main(["upgrade", "--no-cache", "acme/netbox=3.9.1", f"--root={top / 'newer'}"], no_screen) == 0
    document = doctor(top, "ci.log")
    assert (document["state"], document["causes"][0]["roots"]) == ("open", ["twin"])
    assert main(["upgrade", "--no-cache", "acme/netbox=3.9.1", f"--root={top / 'twin'}"], no_screen) == 0
    document = doctor(top, "ci.log")
    assert document["next"] == "terraform -chdir=newer init && terraform -chdir=twin init"
    out = doctor(top, "--format", "text", "ci.log")
    assert "  Run init again: in newer\n" in out
    assert "  Run init again: in twin\n" in out
    assert re.search(r"^LOCKED +in newer, twin: not committed yet", out, re.MULTILINE)


def test_what_each_run_lacked_is_of_its_own_root(top: Path, doctor: Any) -> None:
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    runs = {"dns": "acme/demo", "net": "acme/netbox"}
    for name, lacked in runs.items():
        (top / name / ".terraform.lock.hcl").write_bytes(
            lock_file(*(one for one in (DEMO, NETBOX) if lacked not in one.provider and name != "dns"))
        )
    log = "".join(
        f'$ terraform -chdir={name} init\n- Finding {lacked} versions matching "~> 1.0"...\n\n'
        f"Error: Provider dependency changes detected\n\n{words}\n"
        for name, lacked in runs.items()
    )
    (top / "ci.log").write_text(log, "utf-8")
    document = doctor(top, "ci.log")
    missing = [(one["provider"], one["roots"]) for one in document["causes"] if one["verdict"] == "yes"]
    assert missing == [(f"registry.terraform.io/{lacked}", [name]) for name, lacked in runs.items()]


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_source_that_was_corrected_by_hand_ends_the_error(is_committed: bool, top: Path, doctor: Any) -> None:
    gone = (
        "\nError: Failed to query available provider packages\n\nCould not retrieve the list of available versions for "
        "provider acme/demos: provider\nregistry registry.terraform.io does not have a provider named\n"
        "registry.terraform.io/acme/demos\n"
    )
    (top / "ci.log").write_text(f"$ cd dns\n{gone}", "utf-8")
    document = doctor(top, "ci.log")
    (remedy,) = document["remedies"]
    assert (document["state"], remedy["command"], remedy.get("hint")) == ("open", None, None)
    assert remedy["note"] == "nothing in dns requires it here: check out the commit of the failing run"
    files = top / "dns/main.tf"
    right = files.read_text("utf-8")
    files.write_text(right.replace("acme/demo", "acme/demos"), "utf-8")
    git(top, "commit", "-qam", "a wrong source")
    assert doctor(top, "ci.log")["remedies"][0]["hint"] == "locklens why acme/demos --root=dns"
    files.write_text(right, "utf-8")
    if is_committed:
        git(top, "commit", "-qam", "the right one")
    document = doctor(top, "ci.log")
    assert document["fixed"] == "nothing in dns requires acme/demos any more"
    assert document["remedies"][0]["command"] == "terraform -chdir=dns init"


GONE = {
    "provider-unknown": (
        "\nError: Failed to query available provider packages\n\nCould not retrieve the list of available versions for "
        "provider acme/vault: provider\nregistry registry.terraform.io does not have a provider named\n"
        "registry.terraform.io/acme/vault\n"
    ),
    "not-locked": (
        "\nError: Inconsistent dependency lock file\n\nThe following dependency selections recorded in the lock file are\n"
        "inconsistent with the current configuration:\n  - provider registry.terraform.io/acme/vault: required by this "
        "configuration but no version is selected\n"
    ),
}


@DIAGONAL
@pytest.mark.parametrize("kind", GONE)
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("roots", [("net",), ("net", "newer")])
def test_a_requirement_that_was_reverted_ends_the_error(
    kind: str, named: bool, roots: tuple[str, ...], top: Path, doctor: Any
) -> None:
    command = f"$ cd {roots[0]}\n" if named else ""
    (top / "ci.log").write_text(command + GONE[kind], "utf-8")
    files = {top / name / "main.tf": (top / name / "main.tf").read_text("utf-8") for name in roots}
    for file, text in files.items():
        added = text.replace("required_providers {", 'required_providers {\n vault = { source = "acme/vault" }', 1)
        file.write_text(added, "utf-8")
    git(top, "commit", "-qam", "vault")
    assert doctor(top, "ci.log")["state"] == "open"
    fitting = roots[:1] if named else roots
    for is_committed in (False, True, True):
        for number, (file, text) in enumerate(files.items()):
            if not number and len(files) > 1 and not is_committed:
                file.write_text(text, "utf-8")  # of two roots, one that still requires it ends nothing
                assert (doctor(top, "ci.log")["state"] == "fixed") is named
            file.write_text(text, "utf-8")
        if is_committed:
            git(top, "commit", "-qam", "no vault", "--allow-empty")
        document = doctor(top, "ci.log")
        assert document["fixed"] == f"nothing in {', '.join(fitting)} requires acme/vault any more", is_committed
        assert roots_of(document) == [list(fitting)]


def of_netbox(words: str) -> str:
    return words.replace("acme/vault", "acme/netbox")


READ_ONLY = (
    "- Reusing previous version of acme/demo from the dependency lock file\n- Finding latest version of acme/vault...\n\n"
    "Error: Provider dependency changes detected\n\nChanges to the required provider dependencies were detected, but "
    'the lock file is read-only. To use and record these requirements, run "terraform init"\n'
    'without the "-lockfile=readonly" flag.\n'
)


@DIAGONAL
@pytest.mark.parametrize("is_of_module", [False, True])
@pytest.mark.parametrize("log", [GONE["not-locked"], READ_ONLY])
def test_a_root_whose_requirement_was_reverted_failed_and_none_that_locks_the_provider(
    log: str, is_of_module: bool, top: Path, doctor: Any
) -> None:
    file = top / "dns/main.tf"
    text, source = file.read_text("utf-8"), 'netbox = { source = "acme/netbox" }'
    added = text.replace("required_providers {", f"required_providers {{\n {source}", 1)
    if is_of_module:
        (top / "modules/app").mkdir(parents=True)
        (top / "modules/app/main.tf").write_text(f"terraform {{\n required_providers {{\n {source}\n }}\n}}\n", "utf-8")
        added = f'{text}module "app" {{\n source = "../modules/app"\n}}\n'
    file.write_text(added, "utf-8")
    git(top, "add", ".")
    git(top, "commit", "-qm", "netbox")
    (top / "ci.log").write_text(of_netbox(log), "utf-8")
    document = doctor(top, "ci.log")
    assert (document["state"], roots_of(document)) == ("open", [["dns"]])
    git(top, "revert", "--no-edit", "HEAD")
    for number in range(4):
        document = doctor(top, "ci.log")
        assert document["fixed"] == "nothing in dns requires acme/netbox any more"
        assert roots_of(document) == [["dns"]]
        (top / "notes.txt").write_text(str(number), "utf-8")
        git(top, "add", ".")
        git(top, "commit", "-qm", "notes")
    locked = (top / "net/.terraform.lock.hcl").read_bytes()
    for state in (lock_file(DEMO), locked):  # this one may have failed so, too: it locks the provider since then alone
        (top / "net/.terraform.lock.hcl").write_bytes(state)
        git(top, "commit", "-qam", "net")
    os.utime(top / "net/.terraform.lock.hcl", (1, 1))  # nothing tells that it was changed later than the log
    document = doctor(top, "ci.log")
    assert (document["state"], roots_of(document)) == ("open", [["dns", "net"]])


def test_commits_that_leave_a_root_as_it_is_are_not_read_for_a_requirement_that_it_had(
    top: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, module = top / "dns/main.tf", top / "modules/app/main.tf"
    module.parent.mkdir(parents=True)
    texts = requires(), requires(("acme/netbox", "~> 3.9")), requires()
    root.write_text(f'{root.read_text("utf-8")}module "app" {{\n source = "../modules/app"\n}}\n', "utf-8")
    for text in texts:  # the root's own folder stays the same
        module.write_text(text, "utf-8")
        git(top, "add", ".")
        git(top, "commit", "-qm", "app")
    for number in range(4):
        (top / "notes.txt").write_text(str(number), "utf-8")
        git(top, "add", ".")
        git(top, "commit", "-qm", "notes")
    read: Counter[str] = Counter()
    read_folder = RootReader.read_folder

    def counted(self: RootReader, tree: Tree, path: str) -> Root:
        read[path] += isinstance(tree, RevisionTree)
        return read_folder(self, tree, path)

    monkeypatch.setattr(RootReader, "read_folder", counted)
    (top / "ci.log").write_text(GONE["not-locked"], "utf-8")  # of what no root ever required
    assert roots_of(doctor(top, "ci.log")) == [[]]
    assert +read == {"dns": 4, "net": 1, "newer": 1, "twin": 1}
    (top / "ci.log").write_text(of_netbox(GONE["not-locked"]), "utf-8")
    document = doctor(top, "ci.log")
    assert (document["fixed"], roots_of(document)) == ("nothing in dns requires acme/netbox any more", [["dns"]])


def test_a_read_only_lock_file_that_would_still_change_is_not_fixed_by_a_reverted_requirement(
    top: Path, doctor: Any
) -> None:
    file = top / "dns/main.tf"
    text = file.read_text("utf-8")
    required = "required_providers {\n"
    file.write_text(text.replace(required, f'{required} vault = {{ source = "acme/vault" }}\n', 1), "utf-8")
    git(top, "commit", "-qam", "vault")
    (top / "ci.log").write_text(f"$ cd dns\n{READ_ONLY}", "utf-8")
    file.write_text(text.replace(required, f'{required} other = {{ source = "acme/other" }}\n', 1), "utf-8")
    git(top, "commit", "-qam", "another one instead")
    assert doctor(top, "ci.log")["state"] == "open"


def test_a_constraint_of_a_module_that_is_gone_since_tells_the_root(top: Path, doctor: Any) -> None:
    for name in ("net", "dns"):
        text = (top / name / "main.tf").read_text("utf-8")
        (top / name / "main.tf").write_text(f"# {name}\n{text}", "utf-8")
    (top / "modules/db").mkdir(parents=True)
    (top / "modules/db/main.tf").write_text(requires(("acme/demo", ">= 1.5.0")), "utf-8")
    git(top, "commit", "-qam", "names")
    with (top / "net/main.tf").open("a", encoding="utf-8") as file:
        file.write('module "db" {\n source = "../modules/db"\n}\n')
    git(top, "add", ".")
    git(top, "commit", "-qm", "a database")
    git(top, "revert", "--no-edit", "HEAD")
    (top / "ci.log").write_text(
        "\nError: Failed to query available provider packages\n\nCould not retrieve the list of available versions for "
        "provider\nacme/demo: locked provider registry.terraform.io/acme/demo\n1.4.2 does not match configured version "
        "constraint ~> 1.4, >= 1.5.0; must use\nterraform init -upgrade to allow selection of new versions\n", "utf-8"
    )  # fmt: skip
    for named in ((), ("--", "net")):
        document = doctor(top, "ci.log", *named)
        assert document["fixed"] == "acme/demo 1.4.2 satisfies ~> 1.4 now"
        assert roots_of(document) == [["net"]]
    document = doctor(top, "ci.log", "--", "dns")
    assert document["state"] == "open"
    words = "the log has the constraint ~> 1.4, >= 1.5.0 on acme/demo, which neither dns nor its last commits have: "
    assert any(note.startswith(words) for note in document["run"]["notes"])


def test_a_requirement_that_nothing_has_is_not_locked_by_a_command_that_refuses(top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text("$ cd net\n" + GONE["not-locked"], "utf-8")
    document = doctor(top, "ci.log")
    assert (document["state"], [one["command"] for one in document["remedies"]]) == ("open", [None])
    assert document["remedies"][0]["note"] == "nothing in net requires it"
    evidence = next(one["evidence"] for one in document["causes"] if one["id"] == "not-locked")
    assert evidence.endswith("nothing in net requires it: the log is of another commit, or of another root")


def test_a_log_of_an_older_commit_names_it(top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text(LISTED + failed("acme/netbox", "3.9.1"), "utf-8")
    locked = replace(NETBOX_310, hashes_of="3.9.1")
    (top / "net/.terraform.lock.hcl").write_bytes(lock_file(DEMO, locked))
    commit = git(top, "rev-parse", "--short=12", "HEAD").strip()
    (note,) = (one for one in doctor(top, "ci.log")["run"]["notes"] if one.startswith("the log is of"))
    assert note.endswith(f"locked in net: that is not committed yet, and commit {commit} has the version of the log")
    git(top, "commit", "-qam", "edited")
    for named in ((), ("--", "net")):
        document = doctor(top, "ci.log", *named)
        assert roots_of(document) == [["net"]]
        (note,) = (one for one in document["run"]["notes"] if one.startswith("the log is of"))
        assert note.endswith(f"commit {commit} has that version there: git checkout {commit}, to judge the log")
        assert not any("--platform" in note for note in document["run"]["notes"])


def test_a_provider_that_is_locked_at_another_registry_is_named_with_its_own(top: Path, doctor: Any) -> None:
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    listed = '- Finding acme/demo versions matching "~> 1.4"...\n\n'
    log = f'{listed}Error: Provider dependency changes detected\n\n{words} run "tofu init" without it.\n'
    (top / "ci.log").write_text(log, "utf-8")
    out = " ".join(doctor(top, "--format", "text", "ci.log").split())
    assert "ROOT dns registry.opentofu.org/acme/demo; not locked here, nor in any other root" in out


def test_lines_of_another_unit_are_no_part_of_an_error(top: Path, doctor: Any) -> None:
    lines = list(enumerate((LISTED + INSTALLING + failed("acme/demo", "1.4.2")).splitlines()))
    first_error = next(number for number, text in lines if text.startswith("Error:"))
    log = ""
    for number, text in lines:
        stream = "STDERR" if number >= first_error else "STDOUT"
        log += f"21:50:{number:02}.120 {stream} [net] terraform: {text}\n"
        log += f"21:50:{number:02}.220 STDOUT [dns] terraform: - Reusing previous version of acme/demo from the dependency lock file\n"
    (top / "ci.log").write_text(log, "utf-8")
    (error,) = doctor(top, "ci.log")["errors"]
    assert error["roots"] == ["net"]
    assert "[dns]" not in error["text"]
    assert "Reusing" not in error["text"]


OUTPUT = f"Initializing provider plugins...\n{INSTALLING}{failed('acme/demo', '1.4.2')}"


def of_build(*steps: str) -> str:
    """Returns a log of BuildKit: its steps, and the output of the last one."""
    number = len(steps)
    lines = (f"#{number} {0.4 + at / 100:.3f} {line}".rstrip() for at, line in enumerate(OUTPUT.splitlines()))
    named = (f"#{at} [{at}/{number}] {step}\n#{at} DONE 0.1s\n" for at, step in enumerate(steps, start=1))
    return "\n".join(("".join(named), *lines))


def of_task(**fields: object) -> str:
    """Returns a failed task of Ansible as it prints one: fields in one line, sorted by their names."""
    told = {**fields, "changed": True, "rc": 1, "stdout": OUTPUT, "stdout_lines": OUTPUT.splitlines()}
    return f"fatal: [runner1]: FAILED! => {json.dumps(told, sort_keys=True)}\n"


def of_pod(*commands: str, moment: str = "") -> str:
    """Returns what kubectl prints of a pod: each line with its prefix."""
    return "".join(f"[pod/tf-7c9/init] {moment}{line}\n" for line in (*commands, *OUTPUT.splitlines()))


@pytest.mark.parametrize("log", [
    of_build("FROM alpine", "RUN cd newer && terraform init -no-color"),
    of_build("FROM alpine", "RUN --mount=type=cache,target=/cache cd newer && terraform init"),
    of_build("FROM alpine", "WORKDIR /src/newer", "RUN terraform init"),
    of_build("FROM alpine", "RUN terraform -chdir=newer init"),
    f"Step 2/3 : WORKDIR /src/newer\n ---> 5b1f\nStep 3/3 : RUN terraform init\n{OUTPUT}",
    of_task(cmd=["terraform", "init"], chdir="/srv/infra/newer"),
    of_task(cmd="cd newer && terraform init"),
    of_task(cmd=["terraform", "-chdir=newer", "init"]),
    of_task(cmd=["terraform", "init"], invocation={"module_args": {"_raw_params": "terraform init", "chdir": "newer"}}),
    of_pod("+ cd newer", "+ terraform init"),
    of_pod("$ cd newer && terraform init", moment="2026-11-02T09:00:00.123456789Z "),
    of_pod("+ terraform -chdir=newer init"),
])  # fmt: skip
def test_a_folder_is_read_behind_what_is_before_the_lines(log: str, top: Path, doctor: Any) -> None:
    (top / "ci.log").write_text(log, "utf-8")
    assert roots_of(doctor(top, "ci.log")) == [["newer"]]


def test_what_is_said_of_a_folder_is_none() -> None:
    text = f"chdir: no such file\nset WORKDIR before\n{OUTPUT}"
    assert [error.folder for error in read_log(text.encode()).errors] == [""]


def of_modules(call: str) -> str:
    return (
        f'Error: Module not installed\n\n  on main.tf line 1:\n   1: module "{call}" {{\n\n'
        'This module is not yet installed. Run "terraform init" to install all modules\nrequired by this configuration.\n'
    )


def relays(text: str) -> Iterator[str]:
    """A log as other programs print it, whose machine or container is not known to be this one."""
    yield f"##[section]Starting: plan\n{text}"
    heads = (
        "[2026-11-29T22:01:00.037Z] ",
        "Nov 29 22:01:00 ci-runner-3 atlantis[2231]: ",
        "#14 0.313 ",
        "tf-runner-1  | ",
    )
    for head in (*heads, "2026-11-29T22:01:00.123456789Z ", "[pod/tf-runner-7c9d8b6f5-x2x9q/terraform] "):
        yield "".join(f"{head}{line}\n" for line in text.splitlines())
    task = {"changed": True, "cmd": ["terraform", "plan"], "rc": 1, "stderr": text, "stdout": ""}
    yield f"fatal: [runner01]: FAILED! => {json.dumps(task)}\n"
    yield "".join(f"level=info msg={json.dumps(line)}\n" for line in text.splitlines())


def test_a_call_in_a_shared_module_is_of_the_roots_that_call_it(tmp_path: Path, doctor: Any) -> None:
    call = 'module "{}" {{\n  source = "{}"\n}}\n'
    files = {"a/main.tf": call.format("dns", "../modules/dns"), "b/main.tf": requires(*BOTH[:1])}
    files |= {"modules/dns/main.tf": call.format("in2", "git::https://127.0.0.1:1/in2.git")}
    folder = repository(tmp_path / "r", files)
    (folder / "ci.log").write_text(of_modules("in2").replace("main.tf", "../modules/dns/main.tf"), "utf-8")
    assert roots_of(doctor(folder, "--offline", "ci.log")) == [["a"]]


def test_the_line_that_a_message_quotes_tells_the_root(tmp_path: Path, doctor: Any) -> None:
    call = 'module "net" {{\n  source = "../modules/{}"\n}}\n'
    files = {f"{root}/main.tf": call.format(name) for root, name in (("a", "net"), ("b", "net2"), ("c", "net"))}
    folder = repository(tmp_path / "r", files | {f"modules/{name}/main.tf": "" for name in ("net", "net2")})
    quoted = 'on main.tf line 2, in module "net":\n   2:   source = "../modules/net2"'
    log = folder / "ci.log"
    log.write_text(f"Error: Module source has changed\n\n  {quoted}\n\nThe source address was changed\n", "utf-8")

    def told(*words: str) -> tuple[str, list[list[str]]]:
        document = doctor(folder, "--offline", "ci.log", *words)
        return document["state"], roots_of(document)

    assert told() == ("open", [["b"]])
    listed = [{"Key": "net", "Source": f"../modules/{name}", "Dir": f"../modules/{name}"} for name in ("net", "net2")]
    for root, one in zip("ab", listed, strict=True):
        (folder / root / ".terraform/modules").mkdir(parents=True)
        (folder / root / ".terraform/modules/modules.json").write_text(json.dumps({"Modules": [one]}), "utf-8")
    assert told() == ("fixed", [["b"]])
    os.utime(folder / "a/.terraform/modules/modules.json", (1, 1))
    assert told("--", "a")[0] == "open", "a copy of the list that the failing run may have had"
    (folder / "b/main.tf").write_text(f"# Network\n{call.format('net2')}", "utf-8")
    assert told() == ("fixed", [["b"]]), "the last commit before the log has the line there"


def test_the_call_of_a_module_that_is_not_installed_tells_the_root(tmp_path: Path, doctor: Any) -> None:
    called = {"a": "./modules/a", "b": "git::https://127.0.0.1:1/b.git"}
    files = {f"{name}/main.tf": f'module "{name}" {{\n  source = "{source}"\n}}\n' for name, source in called.items()}
    files["a/main.tf"] += 'module "old" {\n  source = "./modules/old"\n}\n'
    empty = {"a/modules/a/main.tf": requires(*BOTH[:1]), "a/modules/old/main.tf": ""}
    folder = repository(tmp_path / "r", {**files, **empty})

    def told(text: str, time: int = 2_000_000_000) -> Any:
        log = tmp_path / "ci.log"
        log.write_text(text, "utf-8")
        os.utime(log, (time, time))
        document = doctor(folder, "--offline", str(log))
        return document, [one["command"] for one in document["remedies"]]

    document, commands = told(of_modules("b"))
    (cause,) = document["causes"]
    assert (cause["id"], cause["verdict"]) == ("module-missing", "yes")
    assert "here b/.terraform/modules/modules.json does not list module b as it is called" in cause["evidence"]
    assert commands == ["terraform -chdir=b init"]
    document, commands = told(f"$ terraform providers lock -platform=linux_amd64\n{of_modules('a')}")
    listing = "here a/.terraform/modules/modules.json does not list modules a, old as they are called"
    assert document["causes"][0]["evidence"].endswith(f"since the call was changed; {listing}")
    assert commands == ["terraform -chdir=a init", "locklens lock --root=a"]
    assert told(f"$ terraform validate\n{of_modules('a')}")[1] == ["terraform -chdir=a init"]
    assert told(of_modules("c"))[1] == []
    for name in called:
        (folder / name / ".terraform/modules").mkdir(parents=True)
    own, old = {"Key": "", "Source": "", "Dir": "."}, {"Key": "old", "Source": "./modules/old", "Dir": "modules/old"}
    for key, source, others, state in (
        ("b", "./modules/a", [old], "open"),
        ("a", "./modules/before", [old], "open"),
        ("a", "./modules/a", [], "open"),
        ("a", "./modules/a", [old], "fixed"),
        ("other.a", "./modules/a", [old], "open"),
        ("a", "./modules/old", [old], "open"),
    ):
        listed = [own, *others, {"Key": key, "Source": source, "Dir": "modules/a"}]
        for name in called:
            (folder / name / ".terraform/modules/modules.json").write_text(json.dumps({"Modules": listed}), "utf-8")
        assert told(of_modules("b"), 1_700_000_000)[0]["state"] == "open"
        document = told(of_modules("a"), 1_700_000_000)[0]
        assert document["state"] == state
        if state == "fixed":
            for relayed in relays(of_modules("a")):
                document = told(relayed, 1_700_000_000)[0]
                assert document["state"] == "open", relayed
                assert any("another program printed the log" in one for one in document["run"]["notes"]), relayed
    assert not told(of_modules("a"))[0]["fixed"]
    (folder / "a/main.tf").write_text(requires(*BOTH[:1]), "utf-8")
    document, commands = told(f"$ terraform -chdir=a plan\n{of_modules('a')}")
    assert (document["state"], document["fixed"], commands) == ("fixed", "a no longer calls module a", [None])
    assert told(f"$ terraform -chdir=a plan\n{of_modules('never')}")[0]["state"] == "open"


def test_init_is_run_again_for_all_providers_of_a_root(made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, NETBOX),), BOTH))
    log = "on linux_amd64\n" + failed("acme/demo", "1.4.2") + failed("acme/netbox", "3.9.1")
    (folder / "ci.log").write_text(log, "utf-8")
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert (fix["id"], fix["command"]) == ("run-again", "terraform -chdir=live/prod init")
    assert "a  Run init again\n" in doctor(folder, "--format", "text", "ci.log")


@pytest.fixture
def beside_edge(top: Path) -> Path:
    """The same repository, with a root of OpenTofu that requires the same providers."""
    there = (replace(one, provider=one.provider.replace(TERRAFORM_HOST, OPENTOFU_HOST)) for one in (DEMO, NETBOX))
    edge = top / "edge"
    edge.mkdir()
    (edge / "main.tofu").write_text(requires(*BOTH), "utf-8")
    (edge / ".terraform.lock.hcl").write_bytes(lock_file(*there, dialect=OPENTOFU))
    git(top, "add", ".")
    git(top, "commit", "-qm", "edge")
    return top


@pytest.mark.parametrize("excluded", ["1.9.9", "~> 9.0"])
def test_a_constraint_that_no_version_satisfies_tells_the_root_beside_those_of_the_other_tool(
    excluded: str, beside_edge: Path, doctor: Any
) -> None:
    path = beside_edge / "dns/main.tf"
    path.write_text(path.read_text("utf-8").replace("~> 1.4", excluded), "utf-8")
    words = f"no available releases match the given constraints {excluded}"
    log = (
        f'- Finding acme/demo versions matching "{excluded}"...\n\nError: Failed to query available provider packages'
        f"\n\nCould not retrieve the list of available versions for provider acme/demo: {words}\n"
    )
    (beside_edge / "ci.log").write_text(f"$ terraform init -upgrade\n{log}", "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert (document["causes"][0]["id"], document["causes"][0]["roots"]) == ("constraint-conflict", ["dns"])


@pytest.mark.parametrize("overridden", ["", "acme/mine"])
def test_what_a_plan_lacks_is_of_a_root_that_lacks_no_more(overridden: str, beside_edge: Path, doctor: Any) -> None:
    more = ((overridden, "~> 1.0"),) if overridden else ()
    (beside_edge / "dns/main.tf").write_text(requires(*BOTH, *more), "utf-8")
    words = "required by this configuration but no version is selected"
    items = f"  - provider registry.terraform.io/acme/netbox: {words}\n"
    log = f"$ terraform plan\nError: Inconsistent dependency lock file\n\nThe following are inconsistent:\n{items}"
    warning = (
        "Warning: Provider development overrides are in effect\n\nThe following provider development overrides are set in "
        "the CLI\nconfiguration:\n - acme/mine in /home/me/bin\n\n"
    )
    (beside_edge / "ci.log").write_text(f"{warning if overridden else ''}{log}", "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert (document["causes"][0]["id"], document["causes"][0]["roots"]) == ("not-locked", ["dns"])
    assert main(["lock", "acme/netbox", "--root=dns"], no_screen) == 0
    assert doctor(beside_edge, "ci.log")["fixed"].startswith("acme/netbox 3.10.0 is locked now (dns/")


def test_a_root_that_never_locked_the_version_of_a_constraint_error_is_not_meant(top: Path, doctor: Any) -> None:
    pinned, free = requires(("acme/demo", "1.4.1")), requires(("acme/demo", "~> 1.4"))
    for name in ("dns", "newer"):
        (top / name / "main.tf").write_text(pinned, "utf-8")
    git(top, "commit", "-qam", "demo 1.4.1")
    (top / "newer/main.tf").write_text(free, "utf-8")
    (top / "dns/.terraform.lock.hcl").write_bytes(lock_file(DEMO_15))
    git(top, "commit", "-qam", "newer is free again, dns is newer")
    words = (
        "Could not retrieve the list of available versions for provider acme/demo: locked provider "
        "registry.terraform.io/acme/demo 1.5.0 does not match configured version constraint 1.4.1; must use terraform "
        "init -upgrade to allow selection of new versions"
    )
    (top / "ci.log").write_text(f"Error: Failed to query available provider packages\n\n{words}\n", "utf-8")
    assert roots_of(doctor(top, "ci.log")) == [["dns"]]
    (top / "dns/main.tf").write_text(requires(("acme/demo", "1.5.0")), "utf-8")
    document = doctor(top, "ci.log")
    assert (document["fixed"], document["next"]) == (
        "acme/demo 1.5.0 satisfies 1.5.0 now", "terraform -chdir=dns init",
    )  # fmt: skip


def excluded_by(tool: str, provider: str, host: str, constraint: str) -> list[str]:
    words = f"locked provider {host}/{provider} does not match configured version constraint {constraint}"
    return [
        "Initializing the backend...",
        "Initializing provider plugins...",
        "Error: Failed to query available provider packages",
        f"Could not resolve provider {provider.partition(' ')[0]}: {words}; must use {tool} init -upgrade to allow it",
    ]


@pytest.mark.parametrize("is_interleaved", [True, False])
def test_a_log_with_runs_of_both_tools_is_judged_by_the_tool_of_each_run(
    is_interleaved: bool, beside_edge: Path, doctor: Any
) -> None:
    path, edge = beside_edge / "dns/main.tf", beside_edge / "edge/main.tofu"
    path.write_text(path.read_text("utf-8").replace("~> 1.4", "~> 1.5"), "utf-8")
    edge.write_text(edge.read_text("utf-8").replace("~> 3.9", "~> 4.0"), "utf-8")
    failures = (
        [f"[dns] terraform: {line}" for line in excluded_by("terraform", "acme/demo 1.4.2", TERRAFORM_HOST, "~> 1.5")],
        [f"[edge] tofu: {line}" for line in excluded_by("tofu", "acme/netbox 3.9.1", OPENTOFU_HOST, "~> 4.0")],
    )
    lines = (
        [line for pair in zip(*failures, strict=True) for line in pair]
        if is_interleaved
        else [*failures[0], *failures[1]]
    )
    (beside_edge / "ci.log").write_text("".join(f"10:11:12.123 STDERR {line}\n" for line in lines), "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert roots_of(document) == [["dns"], ["edge"]]
    causes = [one for one in document["causes"] if one["verdict"] == "yes"]
    assert [(one["id"], one["roots"]) for one in causes] == [
        ("constraint-conflict", ["dns"]),
        ("constraint-conflict", ["edge"]),
    ]
    assert not [note for note in document["run"]["notes"] if "the log has the constraint" in note]
    assert "each run's tool (opentofu, terraform)" in doctor(beside_edge, "--format", "text", "ci.log")


def test_names_are_those_of_the_registry_of_the_tool_that_ran(beside_edge: Path, doctor: Any) -> None:
    """Two jobs, one of each tool, in one log: the version of a provider is locked by roots of both."""
    altered = failed("acme/demo", "1.4.2").replace("registry.terraform.io", "{}").partition("; for more")[0]
    excluded = "\n".join(excluded_by("tofu", "acme/netbox 3.9.1", OPENTOFU_HOST, "~> 4.0"))
    jobs = f"$ terraform init\n{altered.format('acme/demo')}\n\n\n$ tofu init\n{excluded}\n"
    (beside_edge / "ci.log").write_text(jobs, "utf-8")
    assert roots_of(doctor(beside_edge, "ci.log"))[0] == ["dns", "net", "newer", "twin"]


def test_a_deleted_lock_file_that_was_restored_is_not_missed_in_roots_of_the_other_tool(
    beside_edge: Path, doctor: Any
) -> None:
    there = replace(sample_entry("hashicorp/random", "3.6.3", "~> 3.6"), provider=f"{OPENTOFU_HOST}/hashicorp/random")
    path = beside_edge / "edge/.terraform.lock.hcl"
    path.write_bytes(path.read_bytes() + lock_file(there, dialect=OPENTOFU).partition(b"\n\n")[2])
    (beside_edge / "edge/main.tofu").write_text(requires(*BOTH, ("hashicorp/random", "~> 3.6")), "utf-8")
    git(beside_edge, "commit", "-qam", "a root of OpenTofu requires more")
    words = "required by this configuration but no version is selected"
    items = "".join(
        f"  - provider registry.opentofu.org/{name}: {words}\n"
        for name in ("acme/demo", "acme/netbox", "hashicorp/random")
    )
    log = f"$ tofu plan\nError: Inconsistent dependency lock file\n\nThe following are inconsistent:\n{items}"
    (beside_edge / "ci.log").write_text(log, "utf-8")
    (beside_edge / "edge/.terraform.lock.hcl").unlink()
    git(beside_edge, "restore", "edge")
    document = doctor(beside_edge, "ci.log")
    assert roots_of(document) == [["edge"]] * 3
    assert {one["verdict"] for one in document["causes"]} <= {"unknown", "no"}


def test_the_root_whose_lock_file_the_other_tool_wrote_last_failed_and_no_alike_one(made: Any, doctor: Any) -> None:
    """That a run without any lock file would print the same tells nothing of a root that is as it was."""
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.4"),)))
    copytree(folder / "live/prod", folder / "live/qa")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "another root")
    before = git(folder, "rev-parse", "--short=12", "HEAD")
    written = lock_file(replace(DEMO, provider=f"{OPENTOFU_HOST}/acme/demo"), dialect=OPENTOFU)
    (folder / "live/qa/.terraform.lock.hcl").write_bytes(written)
    git(folder, "commit", "-qam", "tofu init")
    log = f"$ terraform init -lockfile=readonly\n{searching(demo='~> 1.4')}"
    (folder / "ci.log").write_text(log, "utf-8")
    document = doctor(folder, "ci.log")
    assert document["errors"][0]["roots"] == ["live/qa"]
    assert all(one["roots"] == ["live/qa"] for one in document["causes"] if one["verdict"] in {"yes", "likely"})
    command = f"git restore -s {before} -- live/qa/.terraform.lock.hcl"
    assert document["remedies"][0]["command"] == command
    git(folder, *command.split()[1:])
    assert doctor(folder, "ci.log")["state"] == "fixed"


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_root_that_the_tool_of_the_log_wrote_later_leaves_the_alike_one_open(
    is_committed: bool, tmp_path: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Terraform ran in a root of OpenTofu, a later init in the wrong one ends nothing in the other."""
    demo = replace(DEMO, provider=f"{OPENTOFU_HOST}/acme/demo")
    files = {f"{name}/main.tf": requires(BOTH[0]).encode() for name in ("eu", "us")}
    files |= {f"{name}/.terraform.lock.hcl": lock_file(demo, dialect=OPENTOFU) for name in ("eu", "us")}
    top = repository(tmp_path / "tofu", files)
    (top / "ci.log").write_text(f"$ terraform plan\n{missed('acme/demo')}", "utf-8")
    assert roots_of(doctor(top, "--offline", "ci.log")) == [["eu", "us"]]
    later = (top / "ci.log").stat().st_mtime + 60
    (top / "us/.terraform.lock.hcl").write_bytes(lock_file(DEMO))
    os.utime(top / "us/.terraform.lock.hcl", (later, later))
    if is_committed:
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"@{int(later)} +0000")
        git(top, "commit", "-qam", "terraform init")
    document = doctor(top, "--offline", "ci.log")
    assert document["state"] == "open"
    assert {root for one in document["causes"] for root in one["roots"] if one["verdict"] == "likely"} == {"eu"}


def missed(*names: str) -> str:
    words = (
        "but that provider isn't available. You may be able to install it automatically by running:\n  terraform init"
    )
    of = (f"This configuration requires provider registry.terraform.io/{name}, {words}" for name in names)
    return "$ terraform validate\n" + "".join(f"\nError: Missing required provider\n\n{one}\n" for one in of)


def searching(**constraints: str) -> str:
    listed = "".join(f'- Finding acme/{name} versions matching "{text}"...\n' for name, text in constraints.items())
    return f"Initializing provider plugins...\n{listed}{READ_ONLY[READ_ONLY.index(chr(10) * 2) :]}"


@pytest.mark.parametrize(
    ("log", "root"),
    [
        (searching(demo="~> 1.4"), "dns"),
        (searching(demo="~> 1.4", netbox="~> 3.9"), "own"),
        (searching(demo=">= 1.4.0, ~> 1.4", netbox="~> 3.9"), "edge"),
        (missed("acme/demo"), "dns"),
        (missed("acme/demo", "acme/vault"), "own"),
    ],
)
def test_a_run_without_the_lock_file_is_of_the_root_that_requires_all_that_it_lists(
    log: str, root: str, beside_edge: Path, doctor: Any
) -> None:
    """A root of the other tool locks none of them in the registry of the run, and requires more, or in other words."""
    vault = (("acme/vault", "~> 4.0"),) if "vault" in log else ()
    for name, required in (("own", (*BOTH, *vault)), ("edge", ((BOTH[0][0], "~> 1.4, >= 1.4.0"), BOTH[1]))):
        (beside_edge / name).mkdir(exist_ok=True)
        (beside_edge / name / "main.tf").write_text(requires(*required), "utf-8")
    (beside_edge / "edge/main.tofu").unlink()
    for name in ("net", "newer", "twin"):
        rmtree(beside_edge / name)
    (beside_edge / "ci.log").write_text(f"on linux_amd64 with terraform init\n{log}", "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert {tuple(one) for one in roots_of(document)} == {(root,)}


def test_a_provider_that_a_root_here_lacked_in_no_commit_is_of_another_branch(beside_edge: Path, doctor: Any) -> None:
    """Roots lock what the log misses, and always did, or are of the other tool: a branch requires it in another one."""
    top = beside_edge
    (top / "ci.log").write_text(f"$ terraform plan\n{of_netbox(GONE['not-locked'])}", "utf-8")
    document = doctor(top, "ci.log")
    assert roots_of(document) == [["net", "newer", "twin"]]
    assert {one["verdict"] for one in document["causes"]} <= {"unknown", "no"}
    (top / "validate.log").write_text(missed("acme/netbox"), "utf-8")  # never said of what is locked and not installed
    causes = {one["id"]: one["verdict"] for one in doctor(top, "validate.log")["causes"]}
    assert (causes["not-locked"], causes.get("plugin-missing")) == ("unknown", None)
    for name in ("net", "newer", "twin"):
        rmtree(top / name)
    (top / "edge/main.tofu").rename(top / "edge/main.tf")
    document = doctor(top, "ci.log")
    assert roots_of(document) == [[]]
    assert document["causes"][0]["evidence"] == "the message says so, of a root that is not here"
    words = (
        "no root here requires just what the run of the log did, with acme/netbox: diagnose it in the repository of "
    )
    assert f"{words}the failing run, at its commit or branch" in document["run"]["notes"]
    (top / "ci.log").write_text(GONE["not-locked"], "utf-8")
    assert any(
        one.startswith("no root here locks or requires acme/vault") for one in doctor(top, "ci.log")["run"]["notes"]
    )


def test_a_unit_of_the_other_tool_is_told_by_the_names_of_its_providers(beside_edge: Path, doctor: Any) -> None:
    """The messages of Terraform's units stand before it, and no command line does."""
    path = beside_edge / "dns/main.tf"
    path.write_text(path.read_text("utf-8").replace("~> 1.4", "~> 1.5"), "utf-8")
    excluded = "\n".join(excluded_by("terraform", "acme/demo 1.4.2", TERRAFORM_HOST, "~> 1.5"))
    altered = failed("acme/netbox", "3.9.1").replace("registry.terraform.io", OPENTOFU_HOST).partition("; for more")[0]
    (beside_edge / "ci.log").write_text(f"== dns\n{excluded}\n== edge\n{LISTED}{altered}\n", "utf-8")
    assert roots_of(doctor(beside_edge, "ci.log")) == [["dns"], ["edge"]]


def test_equal_entries_are_counted_of_the_version_that_the_log_names(top: Path, doctor: Any) -> None:
    words = excluded_by("terraform", "acme/netbox 3.9.1", TERRAFORM_HOST, "~> 3.10")
    (top / "ci.log").write_text("\n".join(["$ cd net", *words]), "utf-8")
    for path in (top / "net", top / "twin"):
        (path / "main.tf").write_text(requires(BOTH[0], ("acme/netbox", "~> 3.10")), "utf-8")
    git(top, "commit", "-qam", "netbox 3.10")
    out = doctor(top, "--format", "text", "ci.log")
    assert re.search("^ROOT +net  acme/netbox 3.9.1; no other root has the same version and hashes", out, re.MULTILINE)
    (top / "net/.terraform.lock.hcl").write_bytes((top / "twin/.terraform.lock.hcl").read_bytes())
    git(top, "commit", "-qam", "its lock file")
    assert re.search("^ROOT +net  acme/netbox 3.9.1$", doctor(top, "--format", "text", "ci.log"), re.MULTILINE)


@pytest.mark.parametrize("follows", ["+ cd edge\n+ tofu init", "tofu init", "== edge (tofu init)\n"])
def test_the_command_of_the_next_run_is_no_part_of_an_error(follows: str, beside_edge: Path, doctor: Any) -> None:
    (beside_edge / "dns/main.tf").write_text(requires(*BOTH), "utf-8")
    reused = "- Reusing previous version of acme/demo from the dependency lock file\n"
    searched = reused + '- Finding acme/netbox versions matching "~> 3.9"...\n'
    words = READ_ONLY[READ_ONLY.index("\n\nError") :].rstrip()
    altered = failed("acme/netbox", "3.9.1").replace("registry.terraform.io", OPENTOFU_HOST).partition("; for more")[0]
    log = f"terraform init -lockfile=readonly\n{searched}{words}\n{follows}\n{LISTED}{altered}\n"
    (beside_edge / "ci.log").write_text(log, "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert roots_of(document) == [["dns"], ["edge"]]
    missing = next(one for one in document["causes"] if one["id"] == "not-locked")
    assert (missing["provider"], missing["roots"]) == (f"{TERRAFORM_HOST}/acme/netbox", ["dns"])


def test_of_roots_that_lack_the_same_those_that_are_not_mended_stay(top: Path, doctor: Any) -> None:
    module = top / "modules/app/main.tf"
    module.parent.mkdir(parents=True)
    module.write_text(requires(("acme/netbox", "~> 3.9")), "utf-8")
    names = ("dns", "one", "two")
    for name in names:
        (top / name).mkdir(exist_ok=True)
        call = 'module "app" {\n  source = "../modules/app"\n}\n'
        (top / name / "main.tf").write_text(requires(BOTH[0]) + call, "utf-8")
        (top / name / ".terraform.lock.hcl").write_bytes(lock_file(DEMO))
    git(top, "add", ".")
    git(top, "commit", "-qm", "a module requires more")
    (top / "ci.log").write_text(of_netbox(GONE["not-locked"]), "utf-8")
    (cause,) = (one for one in doctor(top, "ci.log")["causes"] if one["id"] == "not-locked")
    assert (cause["verdict"], cause["roots"]) == ("yes", list(names))
    assert main(["lock", "acme/netbox", f"--root={top / 'one'}"], no_screen) == 0
    document = doctor(top, "ci.log")
    (cause,) = (one for one in document["causes"] if one["id"] == "not-locked")
    assert (cause["verdict"], cause["roots"]) == ("likely", ["dns", "two"])
    assert any("acme/netbox was changed in one later than the log" in one for one in document["run"]["notes"])


def test_without_a_list_a_read_only_lock_file_is_of_the_roots_that_init_would_change(top: Path, doctor: Any) -> None:
    """Where one was mended and each other one is as it should be, it is that of the error, whatever they require."""
    (top / "twin/main.tf").write_text(requires(("acme/netbox", "~> 3.9")), "utf-8")
    (top / "twin/.terraform.lock.hcl").write_bytes(lock_file(NETBOX_310))
    git(top, "commit", "-qam", "netbox alone")
    (top / "dns/main.tf").write_text(requires(*BOTH), "utf-8")
    git(top, "commit", "-qam", "netbox, too")
    (top / "ci.log").write_text(READ_ONLY[READ_ONLY.index("Error") :], "utf-8")
    (top / "newer/main.tf").write_text(requires(*BOTH[:1]), "utf-8")
    wrong = [("not-locked", ["dns"]), ("not-required", ["newer"])]
    assert [(one["id"], one["roots"]) for one in doctor(top, "ci.log")["causes"]] == wrong
    assert main(["lock", "--no-cache", "acme/netbox", f"--root={top / 'dns'}"], no_screen) == 0
    document = doctor(top, "ci.log")
    (cause,) = (one for one in document["causes"] if one["verdict"] != "no")
    assert (cause["id"], cause["verdict"], cause["roots"]) == ("not-required", "likely", ["newer"])
    words = "the lock file was changed in dns later than the log, as a fix does: if it is of that root, run init again "
    assert f"{words}there" in document["run"]["notes"]
    assert main(["prune", "acme/netbox", f"--root={top / 'newer'}"], no_screen) == 0
    document = doctor(top, "ci.log")
    words = "{0}/.terraform.lock.hcl has just the providers now that {0} requires"
    assert document["fixed"] == "; ".join(words.format(name) for name in ("dns", "newer"))
    assert roots_of(document) == [["dns", "newer"]]


def test_a_root_whose_fix_takes_two_writes_is_that_of_the_error_after_each(top: Path, doctor: Any) -> None:
    """Alike roots have the same version with its own hashes; a restored entry has to be upgraded again."""
    raised = requires(BOTH[0], ("acme/netbox", "~> 3.10"))
    (top / "new").mkdir()
    (top / "new/.terraform.lock.hcl").write_bytes(lock_file(DEMO, NETBOX))
    git(top, "add", ".")
    git(top, "commit", "-qm", "one more")
    before = git(top, "rev-parse", "--short=12", "HEAD")
    (top / "new/.terraform.lock.hcl").write_bytes(lock_file(DEMO, replace(NETBOX_310, hashes_of="3.9.1")))
    for root in ("newer", "twin", "new"):
        (top / root / "main.tf").write_text(raised, "utf-8")
    git(top, "commit", "-qam", "raised")
    (top / "ci.log").write_text(failed("acme/netbox", "3.10.0"), "utf-8")
    assert doctor(top, "ci.log")["remedies"][0]["command"] == f"locklens restore acme/netbox --from {before} --root=new"
    assert main(["restore", "acme/netbox", f"--from={before}", "--root=new"], no_screen) == 0
    document = doctor(top, "ci.log")
    (cause,) = (one for one in document["causes"] if one["verdict"] == "yes")
    assert (cause["id"], cause["roots"]) == ("constraint-conflict", ["new"])
    assert document["remedies"][0]["command"] == "locklens upgrade acme/netbox --root=new"
    assert "but not all is well in new: the locked version" in " ".join(document["run"]["notes"])
    assert main(["upgrade", "--no-cache", "acme/netbox=3.10.0", "--root=new"], no_screen) == 0
    document = doctor(top, "ci.log")
    assert (document["state"], roots_of(document)) == ("fixed", [["new"]])


@pytest.mark.parametrize("is_new", [False, True])
def test_a_root_without_a_lock_file_is_among_those_that_a_read_only_run_may_be_of(
    top: Path, doctor: Any, *, is_new: bool
) -> None:
    """A commit deleted it, or the root is new: one with a backend, unlike a folder that others may call."""
    lock = top / "twin/.terraform.lock.hcl"
    before = git(top, "rev-parse", "--short=12", "HEAD")
    if is_new:
        lock = top / "new/.terraform.lock.hcl"
        lock.parent.mkdir()
        text = requires(*BOTH).replace("terraform {", 'terraform {\n  backend "local" {}\n')
        (top / "new/main.tf").write_text(text, "utf-8")
        git(top, "add", ".")
    else:
        lock.unlink()
    (top / "called").mkdir()
    (top / "called/main.tf").write_text(requires(("acme/demo", ">= 1.0.0")), "utf-8")
    git(top, "add", ".")
    git(top, "commit", "-qam", "cleanup")
    (top / "ci.log").write_text(READ_ONLY[READ_ONLY.index("Error") :], "utf-8")
    root = lock.parent.name
    for log in (["ci.log"], []):
        document = doctor(top, *log)
        found = {(one["id"], *one["roots"]) for one in document["causes"] if one["verdict"] == "yes"}
        assert found == {("not-locked", root)}
    fix = doctor(top, "ci.log")["remedies"][0]["command"]
    if is_new:
        assert fix == "locklens lock acme/demo acme/netbox --root=new"
        assert main(["lock", "--no-cache", "acme/demo", "acme/netbox", f"--root={top / 'new'}"], no_screen) == 0
    else:
        assert fix == f"git restore -s {before} -- twin/.terraform.lock.hcl"
        git(top, *fix.split()[1:])
    document = doctor(top, "ci.log")
    assert document["fixed"].startswith(f"{root}/.terraform.lock.hcl has just the providers now that {root} requires")


def test_a_module_that_is_not_installed_is_of_each_root_of_the_tool(beside_edge: Path, doctor: Any) -> None:
    call = 'module "app" {\n  source = "../modules/app"\n}\n'
    (beside_edge / "modules/app").mkdir(parents=True)
    (beside_edge / "modules/app/main.tf").write_text("", "utf-8")
    (beside_edge / "edge/main.tofu").rename(beside_edge / "edge/main.tf")
    for name in ("edge", "newer", "twin"):  # two of them have equal lock files
        (beside_edge / name / "main.tf").write_text(call + requires(*BOTH), "utf-8")
    words = 'This module is not yet installed. Run "terraform init" to install all modules'
    log = f'Error: Module not installed\n\n  on main.tf line 1:\n   1: module "app" {{\n\n{words}\n'
    (beside_edge / "ci.log").write_text(log, "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert [(one["verdict"], one["roots"]) for one in document["causes"]] == [("yes", ["newer", "twin"])]


def test_what_the_state_requires_is_of_a_root_whose_state_has_it(beside_edge: Path, doctor: Any) -> None:
    state = {
        "version": 4,
        "resources": [
            {"mode": "managed", "type": "netbox_ip", "name": "a", "instances": [],
             "provider": f'provider["{TERRAFORM_HOST}/acme/netbox"]'},
        ],
    }  # fmt: skip
    (beside_edge / "dns/terraform.tfstate").write_text(json.dumps(state), "utf-8")
    words = missed("acme/netbox").replace("This configuration requires", "This state requires")
    (beside_edge / "ci.log").write_text(words, "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert roots_of(document) == [["dns"]]
    assert document["causes"][0]["roots"] == ["dns"]
    (beside_edge / "dns/terraform.tfstate").unlink()
    assert roots_of(doctor(beside_edge, "ci.log")) == [[]]
    other = beside_edge / "dns/terraform.tfstate.d/prod/terraform.tfstate"
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps(state).replace("acme/netbox", "acme/vault"), "utf-8")
    (beside_edge / "ci.log").write_text(GONE["provider-unknown"], "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert roots_of(document) == [["dns"]]
    (fix,) = document["remedies"]
    assert fix["command"].startswith("TF_WORKSPACE=prod terraform -chdir=dns state replace-provider ")
    assert "; where there is none, TF_WORKSPACE=prod terraform -chdir=dns state rm OBJECT " in fix["note"]


def test_a_root_whose_modules_are_not_all_read_is_none_of_a_log_that_another_root_explains(
    beside_edge: Path, doctor: Any
) -> None:
    """The log is of a branch in which the other root does not lock the provider."""
    for name in ("net", "newer"):
        rmtree(beside_edge / name)
    call = 'module "far" {\n  source = "registry.example.com/acme/far/aws"\n}\n'
    (beside_edge / "dns/main.tf").write_text(requires(*BOTH[:1]) + call, "utf-8")
    (beside_edge / "ci.log").write_text(f"$ terraform plan\n{of_netbox(GONE['not-locked'])}", "utf-8")
    document = doctor(beside_edge, "ci.log")
    assert roots_of(document) == [["twin"]]
    assert {one["verdict"] for one in document["causes"]} <= {"unknown", "no"}


def test_the_old_folder_of_a_root_in_a_log_names_the_root(top: Path, doctor: Any) -> None:
    git(top, "mv", "net", "platform")
    git(top, "commit", "-qm", "a better name")
    (top / "ci.log").write_text(f"$ terraform -chdir=net init\n{LISTED}{failed('acme/demo', '1.4.2')}", "utf-8")
    document = doctor(top, "ci.log")
    assert roots_of(document) == [["platform"]]
    assert "the log names net, from where platform was moved" in document["run"]["notes"]
    (top / "ci.log").write_text(f"$ terraform -chdir=nets init\n{failed('acme/demo', '1.4.2')}", "utf-8")
    assert roots_of(doctor(top, "ci.log")) == [[]]


@pytest.mark.parametrize("log", ["excluded", "altered"])
def test_a_provider_that_came_since_does_not_lead_to_an_alike_root(log: str, top: Path, doctor: Any) -> None:
    for name in ("newer", "twin"):
        rmtree(top / name)
    (top / "alike").mkdir()
    for name in ("main.tf", ".terraform.lock.hcl"):
        (top / "alike" / name).write_bytes((top / "net" / name).read_bytes())
    excluded = log == "excluded"
    if excluded:
        (top / "net/main.tf").write_text(requires(("acme/demo", "~> 1.5"), BOTH[1]), "utf-8")
    git(top, "add", ".")
    git(top, "commit", "-qm", "an alike root")
    required = ("acme/demo", "~> 1.5" if excluded else "~> 1.4"), BOTH[1], ("acme/vault", "~> 4.0")
    (top / "net/main.tf").write_text(requires(*required), "utf-8")
    git(top, "commit", "-qam", "one more provider")
    words = "\n".join(excluded_by("terraform", "acme/demo 1.4.2", TERRAFORM_HOST, "~> 1.5")[2:])
    (top / "ci.log").write_text(LISTED + (words if excluded else INSTALLING + failed("acme/demo", "1.4.2")), "utf-8")
    assert roots_of(doctor(top, "ci.log")) == [["net"] if excluded else ["alike", "net"]]


def test_a_constraint_that_is_met_is_met_whatever_a_remote_state_requires(top: Path, doctor: Any) -> None:
    backend = 'terraform {\n  backend "http" {\n    address = "http://127.0.0.1:9/"\n  }\n}\n'
    (top / "dns/main.tf").write_text(requires(("acme/demo", "~> 1.5")) + backend, "utf-8")
    git(top, "commit", "-qam", "demo 1.5")
    words = excluded_by("terraform", "acme/demo 1.4.2", TERRAFORM_HOST, "~> 1.5")
    (top / "ci.log").write_text("\n".join(["$ cd dns", *words]), "utf-8")
    assert main(["upgrade", "--no-cache", "acme/demo=1.5.0", f"--root={top / 'dns'}"], no_screen) == 0
    assert doctor(top, "ci.log")["fixed"].startswith("acme/demo 1.5.0 satisfies ~> 1.5 now")
