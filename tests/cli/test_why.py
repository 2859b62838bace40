"""`locklens why` as people and pipelines type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kit.command_line import Run, runner
from kit.repositories import put
from kit.schemas import validate

CONFIGURATION = """\
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}
"""
LOCK = """\
# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.1.0"
  constraints = "~> 5.0"
}
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    locklens = runner(capsys)

    def call(*words: str) -> tuple[int, str, str]:
        at = words.index("why") + 1
        return locklens(*words[:at], "--offline", *words[at:])

    return call


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "root"
    put(folder, {"main.tf": CONFIGURATION, ".terraform.lock.hcl": LOCK})
    return folder


TEXT = """\
PATH  registry.terraform.io/hashicorp/aws  (Terraform)
  LOCKED       5.1.0  ABOVE.terraform.lock.hcl:4  satisfies the constraints
  CONSTRAINTS  ~> 5.0
  REGISTRY     registry.terraform.io was not asked: offline, without a cached answer, so newer versions are unknown
  REQUIRED BY
    `- the root module
       ABOVEmain.tf:5  ~> 5.0
"""


def test_as_text(run: Run, root: Path) -> None:
    inside = TEXT.replace("PATH", ".").replace("ABOVE", "")
    assert run("-C", "root", "why", "aws") == (0, inside, "")
    assert run("-chdir=..", "why", "hashicorp/aws", "--", "root") == (
        0,
        TEXT.replace("PATH", "root").replace("ABOVE", "root/"),
        "",
    )


def test_as_json(run: Run, root: Path) -> None:
    status, out, err = run("why", "-format=json", "aws", "--", "root/")
    document = json.loads(out)
    validate(document, "why")
    assert (status, err) == (0, "")
    assert (document["roots"][0]["path"], document["roots"][0]["registry"]) == ("root", None)


def test_into_a_file(run: Run, root: Path, tmp_path: Path) -> None:
    assert run("-C", "root", "why", "aws", "--output", "why.txt") == (0, "", "")
    assert (root / "why.txt").read_text() == TEXT.replace("PATH", ".").replace("ABOVE", "")


def test_the_status_says_whether_init_would_fail(run: Run, root: Path) -> None:
    (root / "main.tf").write_text(CONFIGURATION.replace("~> 5.0", "~> 6.0"))
    assert run("-C", "root", "why", "aws")[0] == 1
    assert run("-C", ".", "why", "aws", "--fail-on", "never")[0] == 0
    (root / ".terraform.lock.hcl").unlink()
    assert run("-C", ".", "why", "aws")[0] == 0


def test_an_entry_of_a_lock_file_in_conflict_is_not_called_absent(run: Run, root: Path) -> None:
    other = root.with_name("other")
    put(other, {"main.tf": CONFIGURATION})
    entry = LOCK.partition("\n\n")[2]
    theirs = entry.replace("5.1.0", "5.2.0")
    (other / ".terraform.lock.hcl").write_text(f"<<<<<<< HEAD\n{entry}=======\n{theirs}>>>>>>> topic\n")
    _, out, _ = run("why", "aws", "--", "root", "other")
    assert "not locked" not in out
    assert "other  unreadable  " in out
    assert "LOCKED       unknown: the lock file cannot be read" in out


def test_the_policy_gives_the_severity(run: Run, root: Path) -> None:
    (root / "main.tf").write_text(CONFIGURATION.replace("~> 5.0", "~> 6.0"))
    status, out, _ = run("-C", "root", "why", "aws")
    assert (status, "BLOCK LK005" in out) == (1, True)
    (root / "locklens.toml").write_text('[severity]\nLK005 = "info"\n')
    status, out, _ = run("-C", ".", "why", "aws")
    assert (status, "INFO LK005" in out) == (0, True)
    (root / "locklens.toml").write_text('[severity]\nLK005 = "off"\nLK019 = "off"\n')
    status, out, _ = run("-C", ".", "why", "aws")
    assert (status, "LK005" in out) == (0, False)
    Path("strict.toml").write_text('[severity]\nLK005 = "warn"\n')
    status, out, _ = run("-C", ".", "why", "aws", "--policy", "strict.toml")
    assert (status, "WARN LK005" in out) == (0, True)
    (root / ".terraform.lock.hcl").write_text('provider "cut')
    status, out, _ = run("-C", ".", "why", "aws")
    assert (status, "LOCKED       unknown: the lock file cannot be read\n" in out) == (0, True), out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["why"], "required: PROVIDER"),
        (["why", "aws", "tls"], "unrecognized arguments: tls"),
        (["why", "tls", "--", "root"], "does not require or lock 'tls'"),
        (["why", "a/b/c/d"], "invalid provider address"),
        (["why", "aws", "--", "nowhere"], "nowhere: no such folder"),
        (["why", "aws"], "not inside a git repository"),
        (["why", "aws", "--format", "tui"], "invalid choice: 'tui'"),
        (["why", "aws", "--format", "sarif"], "invalid choice: 'sarif'"),
        (["why", "aws", "--policy", "x", "--", "root"], "x: the policy cannot be read"),
    ],
)
def test_bad_usage(run: Run, root: Path, argv: list[str], words: str) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert words in err
