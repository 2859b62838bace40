"""Names that some disks take for the lock file: the tools there read what git and the review call another file."""

from __future__ import annotations

from pathlib import Path

import pytest
from attacks.test_packages import HEADS, Reviewed, git, lay
from repositories import copy_of

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
    for name in (".gitattributes", "terraform.lock.hcl", ".terraform.lock.hcl.orig", "gitattributes", "TERRAFORM.HCL"):
        (top / "infra" / name).write_text("x -text\n")
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).findings == {}
