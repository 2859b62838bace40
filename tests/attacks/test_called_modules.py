"""Modules of the repository that a root calls, however it spells their source: what they require, the root requires."""

from __future__ import annotations

from pathlib import Path

import pytest
from attacks.test_packages import HEADS, Reviewed, lay, put, rebase
from kit.effort import DIAGONAL
from kit.git import git
from kit.repositories import copy_of

SOURCES = {
    "plain": '"../mods/x"',
    "an escape": '"\\u002e./mods/x"',
    "parentheses": '("../mods/x")',
    "a comment before it": '/* x */ "../mods/x"',
    "a comment behind it": '"../mods/x" /* x */',
    "a template": '"../${local.folder}/x"',
    "a local": "local.place",
}


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = copy_of(lay, tmp_path / "top")
    monkeypatch.chdir(top)
    put(top, "mods/x/README.tf", "# x\n")
    return top


def called(top: Path, text: str, *, name: str = "calls.tf") -> None:
    """Makes the base a tree in which a root calls a module."""
    put(top, f"infra/{name}", text)
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "x")
    rebase(top)


@DIAGONAL
@HEADS
@pytest.mark.parametrize("spelt", SOURCES)
def test_a_change_of_a_module_is_one_of_the_root_however_the_source_is_written(
    top: Path, capsys: pytest.CaptureFixture[str], head: tuple[str, ...], spelt: str
) -> None:
    values = 'locals {\n  folder = "mods"\n  place = "../mods/x"\n}\n'
    called(top, f'{values}module "x" {{\n  source = {SOURCES[spelt]}\n}}\n')
    put(top, "mods/x/main.tf", 'resource "other_thing" "x" {}\n')
    git(top, "add", "--all", "--force")
    if head == ("--head", "pr"):
        git(top, "commit", "-qm", "x")
    found = Reviewed(capsys, *head)
    assert (found.status, found.severities) == (1, {"infra": {"LK006": "block"}})


@pytest.mark.parametrize("key", ["source", "\\u0073ource"])
def test_escapes_in_json(top: Path, capsys: pytest.CaptureFixture[str], key: str) -> None:
    called(top, f'{{"module": {{"x": {{"{key}": "\\u002e\\u002e\\/mods/x"}}}}}}', name="calls.tf.json")
    put(top, "mods/x/main.tf", 'resource "other_thing" "x" {}\n')
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).severities == {"infra": {"LK006": "block"}}


def test_a_root_whose_source_is_not_known_may_call_any_module(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    called(top, 'variable "x" {}\nmodule "x" {\n  source = var.x\n}\n')
    put(top, "mods/x/main.tf", 'resource "other_thing" "x" {}\n')
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).severities == {"infra": {"LK041": "warn"}}


def test_a_resource_with_a_computed_source_calls_no_module(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "infra/main.tf", (top / "infra/main.tf").read_text() + '# module\n# source = "${path.module}/x"\n')
    called(top, "")
    put(top, "mods/x/main.tf", 'resource "other_thing" "x" {}\n')
    git(top, "add", "--all", "--force")
    assert Reviewed(capsys).severities == {}
