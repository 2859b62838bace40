"""Attributes that change what a checkout has on disk, where the work tree is reviewed: real git, the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attacks.edited_version import EDITED, LOCK, OLD, REVIEW
from kit.command_line import locklens
from kit.git import git
from kit.repositories import commit, put, repository

if TYPE_CHECKING:
    from pathlib import Path


ENCODING = "working-tree-encoding=ISO-2022-JP"
HIDDEN = 'locals {\n  title = "\u25a0 ${<<EOT\n}\nmodule "m" {\n  source = "../m"\n}\nlocals {\n/*\nEOT\n}" # */\n}\n'
"""The black square is written as bytes with a quote in them, which ends the string: the rest is configuration."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A branch `pr` at `main`, with a root whose configuration reads otherwise in another encoding."""
    folder = repository(
        tmp_path / "clone", {f"infra/prod/{LOCK}": OLD, "infra/prod/main.tf": HIDDEN, "infra/m/m.tf": "# m\n"}
    )
    git(folder, "checkout", "-qb", "pr")
    return folder


def commit_attributes(folder: Path, text: str) -> None:
    """Commits a file of attributes and nothing that they change, as whoever wants that would."""
    blob = git(folder, "hash-object", "-w", "--stdin", given=text.encode())
    git(folder, "update-index", "--add", "--cacheinfo", f"100644,{blob},.gitattributes")
    git(folder, "commit", "-qm", "attributes")
    git(folder, "checkout", "-q", "--", ".gitattributes")


def checked_out_anew(folder: Path) -> None:
    """Has the files on disk as a fresh clone of the commit has them."""
    for path in folder.rglob("*.tf"):
        path.unlink()
    git(folder, "checkout", "-q", "--", ".")


@pytest.mark.parametrize("base", [("main",), ("main", "--merge-base")], ids=" ".join)
@pytest.mark.parametrize("attribute", [ENCODING, "working-tree-encoding=UTF-7"])
def test_an_attribute_that_a_fresh_clone_went_by_blocks(clone: Path, attribute: str, base: tuple[str, ...]) -> None:
    commit_attributes(clone, f"*.tf {attribute}\n")
    checked_out_anew(clone)
    assert (clone / "infra/prod/main.tf").read_bytes() != HIDDEN.encode(), "the case is one: git converts it"
    assert git(clone, "status", "--porcelain") == "", "and calls it clean"
    status, out, err = locklens(clone, *REVIEW, *base)
    assert status == 1, out + err
    assert "LK031 BLOCK" in out
    assert attribute in out


@pytest.mark.parametrize("where", [f"infra/prod/{LOCK}", "infra/prod/main.tf", "infra/m/m.tf"])
@pytest.mark.parametrize("stage", [(), ("add", "-A"), ("commit", "-qam", "one")], ids=" ".join)
def test_an_attribute_of_the_work_tree_is_a_change_by_itself(clone: Path, where: str, stage: tuple[str, ...]) -> None:
    git(clone, "checkout", "-q", "main")
    commit(clone, {"infra/prod/main.tf": 'module "m" {\n  source = "../m"\n}\n'})
    git(clone, "checkout", "-qB", "pr")
    put(clone, {".gitattributes": f"{where} filter=lfs\n"})
    if stage:
        git(clone, "add", "-A")
        git(clone, *stage)
    status, out, err = locklens(clone, *REVIEW, "main")
    assert status == 1, out + err
    assert "LK031 BLOCK" in out


def test_an_attribute_for_a_link_of_another_name_blocks(clone: Path) -> None:
    git(clone, "checkout", "-q", "main")
    (clone / "infra/prod/more.tf").symlink_to("more.txt")
    commit(clone, {"infra/prod/more.txt": HIDDEN})
    git(clone, "checkout", "-qB", "pr")
    commit_attributes(clone, f"*.txt {ENCODING}\n")
    status, out, err = locklens(clone, *REVIEW, "main")
    assert status == 1, out + err
    assert "LK031 BLOCK" in out


def test_a_file_of_attributes_that_is_another_one_on_disk_counts_as_committed(clone: Path) -> None:
    """Git goes by the committed file where it checks files out: that it cannot be read on disk then is no answer."""
    commit_attributes(clone, f".gitattributes working-tree-encoding=UTF-16LE\n*.tf {ENCODING}\n")
    (clone / ".gitattributes").unlink()
    checked_out_anew(clone)
    assert b"\0" in (clone / ".gitattributes").read_bytes(), "the case is one"
    status, out, err = locklens(clone, *REVIEW, "main")
    assert status == 1, out + err
    assert "LK031 BLOCK" in out


def test_an_attribute_that_was_there_is_no_finding_on_disk(clone: Path) -> None:
    git(clone, "checkout", "-q", "main")
    commit_attributes(clone, f"*.tf {ENCODING}\n")
    git(clone, "checkout", "-qB", "pr")
    checked_out_anew(clone)
    commit(clone, {f"infra/prod/{LOCK}": EDITED})
    status, out, err = locklens(clone, *REVIEW, "main")
    assert (status, "LK031" in out) == (1, False), out + err


def test_attributes_of_untracked_files_and_of_other_files_are_judged_by_what_git_says(clone: Path) -> None:
    put(clone, {".gitattributes": f"*.zip filter=lfs\n*.tf -ident text\nnew/* {ENCODING}\n", "new/main.tf": "# new\n"})
    status, out, err = locklens(clone, *REVIEW, "main")
    assert (status, "LK031" in out) == (0, False), out + err
    put(clone, {f"new/{LOCK}": OLD})
    status, out, err = locklens(clone, *REVIEW, "main")
    assert (status, out.count("LK031 BLOCK")) == (1, 2), out + err
