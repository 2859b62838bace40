"""Configurations and lock files that an attacker wrote to stop whoever reads them: each command ends, and says why.

The bounds in seconds are far above what is needed: they only tell an answer from a program that hangs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kit.effort import some
from kit.repositories import put, repository

LOCK = ".terraform.lock.hcl"
MARKS = "a" + "\u0301" * 250_000 + "\u0327" * 250_000
ENTRY = 'provider "registry.terraform.io/hashicorp/aws" {{\n  version = "5.1.0"\n{}}}\n'
HANGS = 60


def locklens(folder: Path, *words: str, megabytes: int = 1500) -> subprocess.CompletedProcess[str]:
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2)\n"
        "sys.argv[0] = 'locklens'\n"
        "from locklens.__main__ import run\n"
        "sys.exit(run())\n"
    )
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=HANGS)


def changed(folder: Path, base: dict[str, str], head: dict[str, str]) -> Path:
    put(repository(folder, base), head)
    return folder


@pytest.mark.parametrize(
    "text",
    [
        ENTRY.format(f'  hashes = [\n    "h1:{MARKS}",\n  ]\n'),
        ENTRY.format("").replace("aws", MARKS),
        ENTRY.format("").replace("5.1.0", MARKS),
    ],
    ids=["hash", "address", "version"],
)
def test_a_lock_file_of_combining_characters(tmp_path: Path, text: str) -> None:
    base = {f"a/{LOCK}": ENTRY.format(""), "a/main.tf": 'provider "aws" {}\n'}
    folder = changed(tmp_path, base, {f"a/{LOCK}": text})
    done = locklens(folder, "review", "--offline", "--format", "text")
    assert done.returncode == 1, done.stderr
    told = done.stdout[:500]
    assert "LK019 BLOCK" in told
    assert "(line " in done.stdout[-1500:]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("main.tf", f'terraform {{\n  required_providers {{\n    aws = "{MARKS}"\n  }}\n}}\n', 3),
        ("main.tf", f'provider "aws" {{\n  version = <<E\n{MARKS}\nE\n}}\n', 2),
        ("main.tf", f'provider "aws" {{\n  version = "${{"{MARKS}"}}"\n}}\n', 2),
        ("main.tf", f'provider "{MARKS}" {{}}\n', 1),
        ("main.tf.json", f'{{"provider":\n {{"aws": {{"version": "{MARKS}"}}}}}}', 2),
    ],
    ids=["string", "heredoc", "template", "label", "json"],
)
def test_a_configuration_of_combining_characters(tmp_path: Path, name: str, text: str, line: int) -> None:
    folder = changed(tmp_path, {LOCK: ENTRY.format(""), "main.tf": 'provider "aws" {}\n'}, {"main.tf": "", name: text})
    done = locklens(folder, "why", "aws", "--offline")
    told, errors = done.stdout[:1000], done.stderr[-1000:]
    assert f"the error at {name}:{line}: " in told
    assert errors == ""


@pytest.mark.parametrize(
    ("module", "calls"),
    [
        ("".join(f'resource "aws_x" "r{number}" {{}}\n' for number in range(6000)), 4900),
        ("".join(f'provider "p{number}" {{\n  version = "{number}"\n}}\n' for number in range(3000)), 4900),
        (
            "".join(
                f'provider "aws" {{\n  alias = "p{number}"\n  version = "> 0.{number}"\n}}\n' for number in range(5)
            ),
            4900,
        ),
    ],
    ids=["resources", "providers", "constraints"],
)
def test_modules_times_what_is_in_them(tmp_path: Path, module: str, calls: int) -> None:
    """Some 300 KB of text once took gigabytes: what a module requires was listed for each of its calls."""
    main = "".join(f'module "m{number}" {{ source = "./m" }}\n' for number in range(calls))
    folder = changed(
        tmp_path, {LOCK: ENTRY.format(""), "main.tf": 'provider "aws" {}\n'}, {"main.tf": main, "m/m.tf": module}
    )
    for words in some((("review", "--format", "text"), ("why", "aws")), 2):  # both read the same configuration
        done = locklens(folder, *words, "--offline", megabytes=700)
        assert done.returncode in {0, 1}, done.stderr[-1000:]
        assert done.stderr == ""
