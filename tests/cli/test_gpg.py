"""Commands that judge, on a machine where no signature can be checked: a broken installation, and no outage."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conformance.forking import shared
from kit.git import git
from kit.repositories import put

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK = (
    'provider "registry.example.com/acme/demo" {\n  version = "1.0.0"\n  hashes = [\n    "zh:'
    + "0" * 64
    + '",\n  ]\n}\n'
)
JUDGING = [("review",), ("hashes",), ("keys",), ("health",)]
GPG = {
    "none": ("", "gpg is not installed, or not on PATH", "hint: install GnuPG: "),
    "one that does not run": ("exit 127", "gpg does not run", "hint: run gpg --version by hand"),
    "one that is no gpg": ("echo hello", "gpg does not run", "hint: run gpg --version by hand"),
    "an old one": ('echo "gpg (GnuPG) 2.0.30"', "gpg is older than 2.2", "hint: install GnuPG 2.2 or newer"),
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    top = tmp_path / "clone"
    put(top, {".terraform.lock.hcl": LOCK})
    git(top, "init", "-q")
    git(top, "add", "-A")
    return top


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A PATH with git and nothing else."""
    (tmp_path / "bin").mkdir()
    found = shutil.which("git")
    assert found is not None
    (tmp_path / "bin" / "git").symlink_to(found)
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}


def with_gpg(environ: Mapping[str, str], script: str) -> None:
    if script:
        program = Path(environ["PATH"], "gpg")
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)


@pytest.mark.parametrize("words", JUDGING, ids="".join)
@pytest.mark.parametrize("offline", [(), ("--offline",)], ids=["online", "offline"])
def test_without_gpg_nothing_is_judged(
    clone: Path, environ: dict[str, str], words: tuple[str, ...], offline: tuple[str, ...]
) -> None:
    done = shared().finish((*words, *offline, "--fail-on", "never"), clone, environ)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no signature can be checked: gpg is not installed, or not on PATH\nhint: ")


@pytest.mark.parametrize("name", GPG)
def test_a_gpg_that_is_of_no_use_is_none(clone: Path, environ: dict[str, str], name: str) -> None:
    script, problem, hint = GPG[name]
    with_gpg(environ, script)
    done = shared().finish(("review", "--report", "markdown=a.md"), clone, environ)
    assert done.returncode == 2
    assert problem in done.stderr
    assert hint in done.stderr
    assert "## locklens: could not be reviewed" in (clone / "a.md").read_text()


def test_a_gpg_of_the_checkout_is_none(clone: Path, environ: dict[str, str]) -> None:
    planted = clone / "gpg"
    planted.write_text('#!/bin/sh\ntouch ran\necho "gpg (GnuPG) 2.4.0"\n')
    planted.chmod(0o755)
    environ["PATH"] += f"{os.pathsep}."
    assert shared().finish(("review",), clone, environ).returncode == 2
    assert not (clone / "ran").exists()


def test_commands_that_judge_nothing_need_no_gpg(clone: Path, environ: dict[str, str]) -> None:
    for words in (
        ("textconv", ".terraform.lock.hcl"),
        ("format", "--dry-run"),
        ("explain", "LK001"),
        ("policy", "show"),
    ):
        assert shared().finish(words, clone, environ).returncode in {0, 1}, words


def test_on_a_terminal_it_is_a_warning(clone: Path, environ: dict[str, str]) -> None:
    main, terminal = pty.openpty()
    words = [sys.executable, "-m", "locklens", "review", "--offline", "--format", "text"]
    process = subprocess.Popen(words, cwd=clone, env=environ, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    said = b""
    try:
        while piece := os.read(main, 4096):
            said += piece
    except OSError:  # Linux ends a terminal that nobody has open with an error.
        pass
    os.close(main)
    assert process.wait() == 0
    first = said.decode().split("\r\n")[0].rpartition("\r")[2]  # Progress before it was erased.
    assert first == "warning: no signature can be checked: gpg is not installed, or not on PATH"
    assert b"verdict: " in said
