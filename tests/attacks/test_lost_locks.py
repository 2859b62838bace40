"""A root that keeps its configuration and loses its lock file did not move, wherever an equal lock file is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from attacks.edited_version import LOCK, OLD
from kit.command_line import locklens
from kit.git import git
from kit.repositories import commit, copy_of, repository

if TYPE_CHECKING:
    from pathlib import Path

MAIN = 'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws" }\n  }\n}\n'
UNREAD = {
    "module": {"main.tf": 'module "x" {\n  source = "acme/x/aws"\n}\n'},
    "error": {"main.tf": "terraform {\n"},
    "generator": {"terragrunt.hcl": "inputs = {}\n"},
}


def with_a_root(folder: Path, files: dict[str, str] | None = None) -> None:
    repository(
        folder,
        {f"live/a/{LOCK}": OLD, **{f"live/a/{name}": text for name, text in (files or {"main.tf": MAIN}).items()}},
    )
    git(folder, "checkout", "-qb", "pr")


def to_another(folder: Path, *, edited: bool = False) -> None:
    (folder / "live/b").mkdir()
    git(folder, "mv", f"live/a/{LOCK}", "live/b")
    (folder / "live/b/main.tf").write_text(MAIN)
    if edited:
        (folder / "live/a/main.tf").write_text(f"{MAIN}# edited\n")


def reviewed(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code, and each root of the review by its path."""
    status, out, _ = locklens(folder, "review", "--offline", "--fail-on", "warn", "--format", "json", *words)
    return status, {root["path"]: root for root in json.loads(out)["roots"]}


def rules(root: dict[str, Any]) -> set[tuple[str, str]]:
    found = [*root["findings"], *(one for change in root["changes"] for one in change["findings"])]
    return {(one["rule"], one["severity"]) for one in found}


@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "edited"])
@pytest.mark.parametrize("only", [(), ("--", "live/a")], ids=["all", "restricted"])
@pytest.mark.parametrize("sides", [(), ("--staged",), ("main", "--merge-base"), ("main", "--head", "pr")], ids=" ".join)
def test_a_lock_file_that_leaves_a_root_is_lost(
    tmp_path: Path, sides: tuple[str, ...], only: tuple[str, ...], edited: bool
) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    to_another(folder, edited=edited)
    git(folder, "add", "-A") if "--staged" in sides else None
    if "main" in sides:
        commit(folder, {})
    status, roots = reviewed(folder, *sides, *only)
    assert (status, roots["live/a"]["status"], roots["live/a"]["renamed_from"]) == (1, "deleted", None)
    assert ("LK006", "block") in rules(roots["live/a"])
    if not only:
        assert (roots["live/b"]["status"], roots["live/b"]["renamed_from"]) == ("added", None)


@pytest.mark.parametrize("files", UNREAD.values(), ids=list(UNREAD))
def test_the_loss_is_a_warning_where_what_is_required_cannot_be_read(tmp_path: Path, files: dict[str, str]) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    with_a_root(folder, files)
    to_another(folder)
    for words in ((), ("--", "live/a")):
        status, roots = reviewed(folder, *words)
        assert (status, ("LK006", "warn") in rules(roots["live/a"])) == (1, True)
    git(folder, "rm", "-rfq", "live/a")
    assert reviewed(folder)[1]["live/b"]["renamed_from"] == "live/a"


def test_a_file_that_git_ignores_now_has_not_moved(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    to_another(folder)
    (folder / f"live/a/{LOCK}").write_bytes((folder / f"live/b/{LOCK}").read_bytes())
    commit(folder, {".gitignore": f"/live/a/{LOCK}\n"})
    status, roots = reviewed(folder, "main")
    assert (status, ("LK006", "block") in rules(roots["live/a"])) == (1, True)


def test_of_equal_lock_files_that_of_the_removed_root_moved(tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    names = [f"teams/{number:02}" for number in range(24)]
    commit(folder, {f"{name}/{file}": text for name in names for file, text in ((LOCK, OLD), ("main.tf", MAIN))})
    git(folder, "rm", "-q", f"teams/01/{LOCK}")
    git(folder, "mv", "teams/05", "teams/95")
    commit(folder, {f"teams/98/{LOCK}": OLD, "teams/98/main.tf": MAIN})
    status, roots = reviewed(folder, "HEAD^")
    assert status == 1
    assert {path: root["renamed_from"] for path, root in roots.items()} == {
        "teams/01": None,
        "teams/95": "teams/05",
        "teams/98": None,
    }


def test_a_root_that_was_there_before_is_not_the_removed_one(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, {"live/b/main.tf": MAIN})
    git(folder, "mv", f"live/a/{LOCK}", "live/b")
    git(folder, "rm", "-rfq", "live/a")
    roots = reviewed(folder)[1]
    assert [(path, one["status"]) for path, one in roots.items()] == [("live/a", "deleted"), ("live/b", "added")]


@pytest.mark.parametrize("committed", [False, True])
def test_a_folder_that_is_a_link_to_the_new_one_has_moved(tmp_path: Path, committed: bool) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    git(folder, "mv", "live", "infra")
    (folder / "live").symlink_to("infra")
    if committed:
        commit(folder, {})
    status, roots = reviewed(folder, "main", *(["--head", "pr"] if committed else []))
    assert (status, {path: one["renamed_from"] for path, one in roots.items()}) == (0, {"infra/a": "live/a"})
