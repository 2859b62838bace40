"""The hooks of `.pre-commit-hooks.yaml`: each entry as pre-commit runs it, on a commit that is clean and on one that is not."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from kit.git import git
from pipelines.conftest import LOCK, TOP, Runner

HOOKS = (TOP / ".pre-commit-hooks.yaml").read_text("utf-8")
ENTRIES = dict(re.findall(r"^- id: (\S+)\n(?:  .*\n)*?  entry: (.*)\n", HOOKS, re.MULTILINE))


ACTION = Path(".github", "actions", "review")
INSTALL = """#!/bin/sh
echo installing
echo "$1" >> "$(dirname "$0")/installed"
mkdir -p "$1/bin"
ln -s "$(command -v locklens)" "$1/bin/locklens"
"""


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """The clone of this repository that pre-commit makes; what installs is tested with the action."""
    clone = tmp_path / "hooks"
    (clone / ACTION).mkdir(parents=True)
    shutil.copy(TOP / ACTION / "hook.sh", clone / ACTION)
    (clone / ACTION / "install.sh").write_text(INSTALL)
    return clone


def run(runner: Runner, hooks: Path, hook: str, *words: str) -> tuple[int, str]:
    done = runner.bash(" ".join((f'"{hooks}"/{ENTRIES[hook]}', *words)))
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def test_the_hooks_of_the_file() -> None:
    assert list(ENTRIES) == ["locklens-review", "locklens-lock-check", "locklens-format"]
    assert HOOKS.count("  pass_filenames: false\n") == HOOKS.count("  language: script\n") == len(ENTRIES)


def test_the_files_that_start_a_hook() -> None:
    for name, hook in zip(ENTRIES, HOOKS.split("- id: ")[1:], strict=True):
        # A commit of any file can concern the review: states, .gitattributes, submodules and programs among them.
        assert ("  always_run: true\n" in hook) == (name == "locklens-review") == ("  files: " not in hook), name
    patterns = re.findall(r"^  files: (.*)$", HOOKS, re.MULTILINE)
    for path, hooks in {
        LOCK: 2,
        f"infra/{LOCK}": 2,
        "infra/main.tf": 1,
        "main.tofu.json": 1,
        "infra/.terraform-version": 0,
        "a.terraform.lock.hcl": 0,
        "x.tfvars": 0,
    }.items():
        assert sum(re.search(pattern, path) is not None for pattern in patterns) == hooks, path


def test_review(runner: Runner, hooks: Path) -> None:
    git(runner.clone, "reset", "-q", "--hard", "origin/main")
    (runner.clone / "notes").write_text("clean\n")
    git(runner.clone, "add", "-A")
    assert run(runner, hooks, "locklens-review")[0] == 0
    git(runner.clone, "checkout", "-q", "-B", "change", "origin/main")
    git(runner.clone, "checkout", runner.republished, "--", "infra")
    status, said = run(runner, hooks, "locklens-review")
    assert (status, "LK001" in said) == (1, True), said


def test_what_is_locked_is_installed_once(runner: Runner, hooks: Path) -> None:
    for _ in range(2):
        status, said = run(runner, hooks, "locklens-format")
        assert status == 0, said
    assert len((hooks / ACTION / "installed").read_text().splitlines()) == 1
    assert git(runner.clone, "status", "--porcelain") == ""


def test_lock_check(runner: Runner, hooks: Path) -> None:
    status, said = run(runner, hooks, "locklens-lock-check")
    assert status == 0, said
    lock = runner.clone / "infra" / LOCK
    before = lock.read_text()
    lock.write_text(re.sub(r' +"zh:.*\n', "", before, count=1))
    changed = lock.read_text()
    status, said = run(runner, hooks, "locklens-lock-check")
    assert status == 1, said
    assert lock.read_text() == changed != before


def test_format(runner: Runner, hooks: Path) -> None:
    lock = runner.clone / "infra" / LOCK
    before = lock.read_text()
    assert run(runner, hooks, "locklens-format")[0] == 0
    assert lock.read_text() == before
    lock.write_text(before.replace("  version", " version"))
    assert run(runner, hooks, "locklens-format")[0] == 0
    assert lock.read_text() == before, "pre-commit fails where a hook changes a file"
