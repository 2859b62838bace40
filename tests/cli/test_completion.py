"""`locklens completion`: the scripts, in the shells that are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.effort import DIAGONAL
from kit.git import git
from kit.repositories import copy_of, put, repository

from locklens.cli.commands import COMMANDS
from locklens.cli.main import main

SHELLS = ("bash", "zsh", "fish")


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell], lambda request, view: 2) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_command_and_nothing_of_this_machine(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    words = {word for name in COMMANDS for word in name.split(" ")}
    for word in (*words, "fail-on", "codequality", "merge-base", "LK001", "plugin-corrupted"):
        assert word in text
    assert str(Path.home()) not in text
    assert text.replace("\n", "").replace("\t", "").isprintable()
    assert script(shell, capsys) == text


def test_a_shell_that_is_not_supported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"], lambda request, view: 2) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err


def bash(text: str, line: str, folder: Path) -> set[str]:
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    typed = " ".join(f"'{word}'" for word in words)
    asked = (
        f"{text}\n"
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}\n"
        "spec=$(complete -p locklens); name=${spec##*-F }; name=${name%% *}\n"
        f"$name locklens '{words[-1]}' '{words[-2]}'\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", asked], cwd=folder, capture_output=True, text=True, check=False
    )
    return {word.rstrip() for word in done.stdout.splitlines() if word}


def fish(text: str, line: str, folder: Path) -> set[str]:
    """What fish offers for the last word of a line."""
    (folder.parent / "locklens.fish").write_text(text)
    asked = f'source {folder.parent}/locklens.fish; complete --do-complete "{line}"'
    done = subprocess.run(["fish", "--no-config", "-c", asked], cwd=folder, capture_output=True, text=True, check=False)
    return {word.partition("\t")[0] for word in done.stdout.splitlines()}


OFFERS: dict[str, Callable[[str, str, Path], set[str]]] = {"bash": bash, "fish": fish}
LOCK = """
provider "registry.terraform.io/hashicorp/aws" {
}
provider "corp.example/acme/demo" {
}
provider "registry.opentofu.org/acme/other" {
}
provider "$(touch PWNED)" {
}
provider "registry.terraform.io/hashicorp/-r" {
}
"""
CASES = {
    "locklens re": ({"review", "restore"}, {"main", "hashes"}),
    "locklens review --fai": ({"--fail-on"}, {"--format"}),
    "locklens review --fail-on ": ({"block", "warn", "info", "never"}, {"review"}),
    "locklens review --format ": ({"text", "json", "sarif"}, {"review"}),
    "locklens policy ": ({"check", "show", "schema"}, {"review"}),
    "locklens keys ": ({"trust", "drop"}, {"review"}),
    "locklens keys --hist": ({"--history"}, {"--reason"}),
    "locklens cache ": ({"info", "clear"}, {"review"}),
    "locklens explain LK00": ({"LK001", "LK009"}, {"LK010"}),
    "locklens explain h1-": ({"h1-missing"}, {"LK001"}),
    "locklens review ma": ({"main"}, {"v1", "review"}),
    "locklens review --head v": ({"v1"}, {"main"}),
    "locklens restore --from ": ({"main", "v1"}, {"$(touch${IFS}PWNED)"}),
    "locklens why ": ({"hashicorp/aws", "corp.example/acme/demo"}, {"$(touch", "main"}),
    "locklens upgrade hash": ({"hashicorp/aws"}, {"acme/other"}),
    "locklens upgrade a": ({"aws", "acme/other"}, {"hashicorp/aws", "-r"}),
    "locklens prune ": ({"hashicorp/aws"}, {"main"}),
    "locklens demo --incident key": ({"key-expired", "key-changed"}, {"yanked"}),
    "locklens textconv a-f": ({"a-file"}, {"review"}),
    "locklens review --policy a-f": ({"a-file"}, {"review"}),
    "locklens lock --root a-": ({"a-folder"}, {"a-file"}),
    "locklens lock --root ": ({"a-folder", "live"}, {".git", "a-file"}),
    "locklens upgrade aws -- ": ({"live/app", "live/new"}, {"aws", "hashicorp/aws"}),
    "locklens review -- live/a": ({"live/app"}, {"live/new", "main"}),
    "locklens lock --platform linux": ({"linux_amd64", "linux_arm64"}, {"darwin_arm64"}),
}


def lay_work(folder: Path) -> None:
    repository(folder, {"a-file": "", ".terraform.lock.hcl": LOCK, "live/app/.terraform.lock.hcl": ""})
    put(folder, {"live/new/.terraform.lock.hcl": "", "live/$(touch PWNED)/.terraform.lock.hcl": ""})
    (folder / "a-folder").mkdir()
    git(folder, "tag", "v1")
    git(folder, "branch", "$(touch${IFS}PWNED)")


@DIAGONAL
@pytest.mark.parametrize("line", CASES)
@pytest.mark.parametrize("shell", OFFERS)
def test_a_shell_completes(shell: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    folder = copy_of(lay_work, tmp_path / "work")
    offered = {word.removesuffix("/") for word in OFFERS[shell](script(shell, capsys), line, folder)}
    expected, not_expected = CASES[line]
    assert expected <= offered
    assert not_expected.isdisjoint(offered)
    assert not (folder / "PWNED").exists()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_providers_of_a_repository_are_those_of_its_lock_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for root in ("a", "b", "-x", "new", "ignored", "new/.terraform/modules/m"):
        put(tmp_path / root, {".terraform.lock.hcl": f'provider "registry.terraform.io/acme/in{root}" {{\n}}\n'})
    (tmp_path / ".gitignore").write_text("ignored\n")
    os.mkfifo(tmp_path / "pipe.terraform.lock.hcl")
    for words in (["init", "-q"], ["add", "a", "b", "./-x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert bash(script("bash", capsys), "locklens why acme/", tmp_path) == {
        "acme/ina",
        "acme/inb",
        "acme/in-x",
        "acme/innew",
    }


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_reads_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "_locklens").write_text(script("zsh", capsys))
    done = subprocess.run(["zsh", "-n", "_locklens"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_scripts_cost_a_review_nothing(tmp_path: Path) -> None:
    words = "import sys; from locklens.cli.main import main; main(['explain', 'LK001'], None); print('shtab' in sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", words], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.stderr.strip().endswith("False"), done.stderr
