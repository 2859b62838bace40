"""Links that lead to links: what follows them has a bound, and a run that ends early says so in its reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attacks.test_packages import BLOCKED, Reviewed, lay
from kit.git import git
from kit.repositories import copy_of

from locklens.cli.main import main
from locklens.project.tree import MAX_LINKS, WorkTree


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = copy_of(lay, tmp_path / "top")
    monkeypatch.chdir(top)
    return top


def chain(top: Path, number: int, end: str = "nothing") -> None:
    for each in range(number):
        (top / f"l{each}").symlink_to(f"l{each + 1}" if each + 1 < number else end)


@pytest.mark.parametrize("command", ["review", "hashes", "keys"])
def test_a_long_chain_of_links_is_no_error(top: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    chain(top, 1100)
    git(top, "add", "--all")
    status = main([command, "main", "--offline", "--no-cache", "--format", "json"], lambda *_: 0)
    captured = capsys.readouterr()
    assert (status, captured.err) == (0, "")


def test_links_to_a_chain_are_given_up_after_as_many_as_a_system_follows(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain(top, 300)
    read: list[str] = []
    readlink = os.readlink

    def counted(place: str) -> str:
        read.append(place)
        return readlink(place)

    monkeypatch.setattr(os, "readlink", counted)
    tree = WorkTree(top)
    assert tree.behind_link("l0") == "l1"
    assert len(read) < 2 * MAX_LINKS


def test_a_link_on_the_way_that_leads_out_now_is_no_way_around(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "a").symlink_to("vendor")
    (top / "infra/.terraform").symlink_to("../a")
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "links")
    git(top, "branch", "-f", "main")
    (top / "a").unlink()
    (top / "a").symlink_to(top / "vendor")
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).severities == {"infra": BLOCKED}


def test_packages_behind_many_links_on_disk_are_found(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain(top, MAX_LINKS + 1, "vendor")
    (top / "infra/.terraform").symlink_to("../l0")
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "links")
    git(top, "branch", "-f", "main")
    (top / "vendor/providers").mkdir()
    (top / "vendor/providers/x").write_text("#!/bin/sh\n")
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).severities == {"infra": BLOCKED}


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_a_run_without_the_means_to_go_on_says_so(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: type[Exception]
) -> None:
    def ended(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("locklens.project.root_search.brought_packages", ended)
    (top / "infra/x").write_text("")
    git(top, "add", "--all")
    assert main(["review", "main", "--offline", "--report", "markdown=../r.md"], lambda *_: 0) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ended early: the input takes more ")
    assert "Traceback" not in said
    assert "could not be reviewed" in (top.parent / "r.md").read_text()
