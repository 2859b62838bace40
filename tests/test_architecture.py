"""The house: floors and doors, types, style, and what may not be loaded for nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)


def tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name + (".exe" if sys.platform == "win32" else "")))


@pytest.mark.parametrize(
    "command",
    [
        ("lint-imports",),
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
    ],
    ids=" ".join,
)
def test_the_checkers_are_content(command: tuple[str, ...]) -> None:
    result = run(tool(command[0]), *command[1:])
    assert result.returncode == 0, result.stdout + result.stderr


HEAVY = (
    "textual",
    "rich",
    "httpx",
    "hcl2",
    "lark",
    "deepdiff",
    "gnupg",
    "packaging",
    "idna",
    "platformdirs",
    "sqlite3",
)


def loaded(*arguments: str) -> set[str]:
    """The modules that a run of the command line has loaded at its end."""
    script = (
        "import sys\n"
        "from locklens.cli.main import main\n"
        "sys.stdout = sys.stderr\n"
        f"main({list(arguments)!r}, lambda request: 0)\n"
        "print(*sorted(sys.modules), file=sys.__stdout__)\n"
    )
    result = run(sys.executable, "-c", script)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


LOCK = b"""# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.1.0"
  constraints = "~> 5.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
"""


def test_nothing_heavy_is_loaded_for_little(tmp_path: Path) -> None:
    old, new = tmp_path / "old.hcl", tmp_path / "new.hcl"
    old.write_bytes(LOCK)
    new.write_bytes(LOCK)
    for arguments in (["--version"], ["--help"], ["explain", "LK001"]):
        assert loaded(*arguments).isdisjoint(HEAVY), arguments
    unchanged = loaded("review", "--old", str(old), "--new", str(new), "--format", "json")
    assert unchanged.isdisjoint({*HEAVY, "dataclasses", "inspect", "subprocess", "argparse", "re"})


def test_why_loads_neither_ui_nor_network(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('provider "aws" {\n  version = "~> 5.0"\n}\n')
    why = loaded("-C", str(tmp_path), "why", "--offline", "aws")
    assert "packaging" in why
    assert why.isdisjoint({"textual", "rich", "httpx", "deepdiff", "gnupg", "lark"})


def test_a_review_loads_what_it_needs_and_no_more(tmp_path: Path) -> None:
    old, new = tmp_path / "old.hcl", tmp_path / "new.hcl"
    old.write_bytes(LOCK)
    new.write_bytes(LOCK.replace(b"5.1.0", b"5.2.0"))
    files = "--old", str(old), "--new", str(new)
    changed = loaded("review", *files, "--format", "json", "--fail-on", "never", "--offline", "--no-cache")
    assert "deepdiff" in changed
    assert changed.isdisjoint({"textual", "rich", "httpx", "hcl2", "lark", "gnupg"})


def test_the_cache_is_shown_and_cleared_without_much() -> None:
    for action in ("info", "clear"):
        assert loaded("cache", action).isdisjoint(set(HEAVY) - {"platformdirs", "sqlite3"})
