"""Folders in folders, deeper than a function may call itself: everything that searches them ends with an answer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from kit.git import git
from kit.repositories import repository

from locklens.cli.main import main
from locklens.project import folders
from locklens.project.folders import TooManyFoldersError, walk

DEPTH = 1600
DEEP = "/".join("d" * DEPTH)
LOCK = ".terraform.lock.hcl"
ENTRY = 'provider "registry.terraform.io/acme/demo" {\n  version = "1.0.0"\n}\n'

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed by a program that does not call itself for each folder."""
    made = tmp_path / "folder"
    made.mkdir()
    yield made
    subprocess.run(["rm", "-rf", str(made)], check=True)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    def call(*words: str) -> tuple[int, str]:
        status = main(words, lambda *_: 0)
        said = capfd.readouterr()
        return status, said.out + said.err

    monkeypatch.chdir(folder)
    return call


def lay(top: Path, name: str, text: str) -> None:
    """Writes a file far below, one folder after the other: whole, the path may be too long for the system."""
    *folders, last = name.split("/")
    here = os.open(top, os.O_RDONLY)
    for each in folders:
        with suppress(FileExistsError):
            os.mkdir(each, dir_fd=here)
        below = os.open(each, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open(last, os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=here)
    os.write(file, text.encode())
    os.close(file)
    os.close(here)


@pytest.mark.parametrize(("name", "blocks"), [("x", False), (LOCK, True)])
def test_a_deep_submodule_is_searched(folder: Path, run: Run, name: str, blocks: bool) -> None:
    repository(folder, {})
    sub = repository(folder / "sub", {})
    lay(sub, f"{DEEP}/{name}", ENTRY)
    git(folder, "add", "sub")
    status, said = run("review", "HEAD", "--offline")
    assert status == int(blocks), said
    assert f"LK035 {'BLOCK' if blocks else 'WARN'}" in " ".join(said.split())


def test_a_submodule_that_is_too_deep_for_the_system_may_have_a_root(folder: Path, run: Run) -> None:
    repository(folder, {})
    sub = repository(folder / "sub", {})
    lay(sub, "/".join(["d" * 200] * 25) + f"/{LOCK}", ENTRY)
    git(folder, "add", "sub")
    status, said = run("review", "HEAD", "--offline")
    assert (status, "LK035" in said) == (1, True), said


def test_a_deep_folder_without_git_is_checked(folder: Path, run: Run) -> None:
    lay(folder, f"{DEEP}/{LOCK}", ENTRY)
    lay(folder, f"{DEEP}/main.tf", "")
    status, said = run("health", "--offline")
    assert status in {0, 1}, said
    assert "1 root" in said


def test_what_is_too_deep_to_be_searched_is_said(folder: Path, run: Run) -> None:
    lay(folder, f"root/{LOCK}", ENTRY)
    lay(folder, "/".join(["d" * 200] * 25) + f"/{LOCK}", ENTRY)
    _, said = run("health", "--offline")
    assert "is not searched: file name too long" in said.lower()
    assert "1 root" in said


def test_a_folder_that_git_cannot_open_ends_the_review_of_the_work_tree(folder: Path, run: Run) -> None:
    repository(folder, {})
    lay(folder, "/".join(["d" * 200] * 25) + "/terraform.d/plugins/x", "")
    status, said = run("review", "HEAD", "--offline")
    assert (status, "git cannot open the folder ddd" in said) == (2, True), said
    assert run("review", "HEAD", "--offline", "--staged")[0] == 0
    (folder / ".gitignore").write_text("d*\n")
    assert run("review", "HEAD", "--offline")[0] == 0


def test_deep_metadata_is_found(folder: Path, run: Run) -> None:
    lay(folder, f"{DEEP}/x.json", "{")
    status, said = run("backfill", "--dry-run", ".")
    assert status in {1, 2}, said
    assert "x.json" in said


def test_a_walk_has_a_bound_and_follows_no_link(tmp_path: Path) -> None:
    for name in ("b/c", "a/d", "a/e", "skipped/f"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/link").symlink_to(tmp_path)
    (tmp_path / "a/nowhere").symlink_to("nothing")
    (tmp_path / "a/file").touch()

    def listed(most: int) -> list[tuple[str, tuple[str, ...]]]:
        found = walk(os.fspath(tmp_path), most=most, enters=lambda _, name: name != "skipped")
        return [(each.path, each.files) for each in found]

    names = ("file", "nowhere")
    assert listed(6) == [("", ()), ("a", names), ("a/d", ()), ("a/e", ()), ("b", ()), ("b/c", ())]
    with pytest.raises(TooManyFoldersError):
        listed(5)
    [missing] = walk(os.fspath(tmp_path / "none"), most=1, enters=lambda *_: True)
    assert isinstance(missing.error, FileNotFoundError)


def test_nothing_walks_by_calling_itself() -> None:
    """`os.walk` and `Path.rglob` of Python 3.11 do."""
    package = Path(folders.__file__).parents[1]
    found = [
        f"{file.relative_to(package)}: {word}"
        for file in sorted(package.rglob("*.py"))
        for word in ("os.walk(", ".rglob(")
        if word in file.read_text("utf-8")
    ]
    assert found == []
