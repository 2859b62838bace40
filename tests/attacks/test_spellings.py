"""Names that some disks take for the lock file: the tools there read what git and the review call another file."""

from __future__ import annotations

from pathlib import Path

import pytest
from attacks.test_packages import HEADS, Reviewed, lay
from kit.effort import DIAGONAL
from kit.git import git
from kit.repositories import copy_of

LOCK = ".terraform.lock.hcl"

OTHERS = [
    ".TERRAFORM.LOCK.HCL",
    ".Terraform.lock.hcl.",
    ".terraform.lock.hcl ",
    "TERRAF~1.HCL",
    "te12ab~1.hcl",
    ".terraform.lock\u200c.hcl",
    ".terraform.lock.hcl::$DATA",
    ".GITATTRIBUTES",
    "GITATT~1",
    "TERRAFORM.TFSTATE",
    "terraform.tfstate.",
    "Terraform.tfvars",
    "terraform.TFVARS.json",
    "TERRAF~1.TFV",
]


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = copy_of(lay, tmp_path / "top")
    monkeypatch.chdir(top)
    return top


@HEADS
def test_another_spelling_of_the_lock_file_blocks(
    top: Path, capsys: pytest.CaptureFixture[str], head: tuple[str, ...]
) -> None:
    for number, name in enumerate(OTHERS):
        (top / f"c{number}").mkdir()
        (top / f"c{number}" / name).write_text("* ident\n")
    (top / "infra" / OTHERS[0]).write_bytes((top / "infra" / LOCK).read_bytes())
    git(top, "add", "--all", "--force")
    if head == ("--head", "pr"):
        git(top, "commit", "-qm", "x")
    found = Reviewed(capsys, *head)
    assert found.status == 1
    folders = ["infra", *(f"c{number}" for number in range(len(OTHERS)))]
    assert found.severities == {folder: {"LK031": "block"} for folder in folders}
    assert found.findings["infra"]["LK031"]["file"] == "infra/.TERRAFORM.LOCK.HCL"


def test_the_usual_names_and_similar_ones_are_no_other_spelling(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (
        ".gitattributes",
        "terraform.lock.hcl",
        ".terraform.lock.hcl.orig",
        "gitattributes",
        "TERRAFORM.HCL",
        "X.AUTO.TFVARS",
    ):
        (top / "infra" / name).write_text("x -text\n")
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).findings == {}


BESIDE = {
    "a folder": ("modules/net/x.tf", "Modules/net/x.tf"),
    "a folder above": ("modules/deep/net/x.tf", "modules/Deep/net/y.tf.json"),
    "a module's file": ("modules/net/main.tf", "modules/net/Main.TF"),
    "a lock file's folder": ("infra/.terraform.lock.hcl", "INFRA/.terraform.lock.hcl"),
    "other letters": ("modules/m\u00f6dul/x.tf", "modules/mo\u0308dul/x.tf"),
    "a dot": ("modules/net/x.tf", "modules/net./x.tf"),
    "a short name": ("modules/network-of-x/x.tf", "modules/NETWOR~1/y.tf"),
    "tests": (None, "infra/Tests/x.tftest.hcl"),
    "workspaces": (None, "infra/TERRAFORM.tfstate.d/x/terraform.tfstate"),
    "a state": ("data/prod.json", "Data/prod.json"),
}


@DIAGONAL
@HEADS
@pytest.mark.parametrize("spelt", BESIDE)
def test_another_spelling_beside_what_is_read_blocks(
    top: Path, capsys: pytest.CaptureFixture[str], head: tuple[str, ...], spelt: str
) -> None:
    before, now = BESIDE[spelt]
    if before is not None and not (top / before).exists():
        (top / before).parent.mkdir(parents=True, exist_ok=True)
        (top / before).write_text("# x\n")
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "x", "--allow-empty")
    git(top, "branch", "-f", "main", "pr")
    (top / now).parent.mkdir(parents=True, exist_ok=True)
    state = now.endswith("prod.json")
    (top / now).write_text('{"version": 4, "resources": []}\n' if state else "" if "LOCK" in now.upper() else "# y\n")
    git(top, "add", "--all", "--force")
    if head == ("--head", "pr"):
        git(top, "commit", "-qm", "x")
    for only in ((), ("--", "infra")):
        found = Reviewed(capsys, *head, *only)
        assert found.status == 1
        assert {"LK031": "block"}.items() <= found.severities[now.rpartition("/")[0]].items()
        finding = found.findings[now.rpartition("/")[0]]["LK031"]
        assert finding["file"] == now


def test_a_link_beside_a_folder_of_modules_blocks(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "Modules").symlink_to("vendor")
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).severities == {"": {"LK031": "block"}}


def test_what_nothing_reads_and_a_folder_that_is_renamed_are_no_other_spelling(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "Readme.md").write_text("x")
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "x")
    git(top, "branch", "-f", "main", "pr")
    (top / "README.md").write_text("x")
    git(top, "mv", "modules", "modules2")
    git(top, "mv", "modules2", "Modules")
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).severities == {}


NAMED = {
    "a state": ('backend "local" { path = "State/x.tfstate" }', "infra/state/x.tfstate"),
    "a state of any name": ('backend "local" { path = "State/prod" }', "infra/state/PROD"),
    "a state elsewhere": ('backend "local" { path = "../State/x.tfstate" }', "state/x.tfstate"),
    "workspaces": ('backend "local" { workspace_dir = "Spaces" }', "infra/spaces/prod/terraform.tfstate"),
    "a module": ("", "infra/net/x.tf"),
    "a module's module": ("", "infra/net/x.tf"),
    "a link to a module": ("", "infra/net"),
    "a link above a module": ("", "infra/nets"),
}


@DIAGONAL
@HEADS
@pytest.mark.parametrize("named", NAMED)
def test_another_spelling_of_a_place_that_the_configuration_names_blocks(
    top: Path, capsys: pytest.CaptureFixture[str], head: tuple[str, ...], named: str
) -> None:
    backend, now = NAMED[named]
    call = "Nets/x" if now.endswith("nets") else "Net"
    if "module's" in named:
        (top / "infra/between").mkdir()
        (top / "infra/between/main.tf").write_text('module "net" {\n  source = "../Net"\n}\n')
        call = "between"
    text = f"terraform {{\n  {backend}\n}}\n" if backend else f'module "net" {{\n  source = "./{call}"\n}}\n'
    (top / "infra/named.tf").write_text(text)
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "x")
    git(top, "branch", "-f", "main", "pr")
    (top / now).parent.mkdir(parents=True, exist_ok=True)
    if "link" in named:
        (top / now).symlink_to("../vendor")
    else:
        (top / now).write_text('{"version": 4, "resources": []}\n' if backend else "# y\n")
    git(top, "add", "--all", "--force")
    if head == ("--head", "pr"):
        git(top, "commit", "-qm", "x")
    found = Reviewed(capsys, *head)
    assert found.status == 1
    assert found.severities[now.rpartition("/")[0]]["LK031"] == "block"
    assert found.findings[now.rpartition("/")[0]]["LK031"]["file"] == now


def test_modules_beside_those_that_are_named_otherwise_are_no_other_spelling(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "infra/named.tf").write_text('module "net" {\n  source = "../Nets/x"\n}\n')
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "x")
    git(top, "branch", "-f", "main", "pr")
    for folder in ("nets/y", "nets/x/examples"):
        (top / folder).mkdir(parents=True)
        (top / folder / "main.tf").write_text("# x\n")
    git(top, "add", "--all", "--force")
    assert not any("LK031" in found for found in Reviewed(capsys).severities.values())
