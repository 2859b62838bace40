"""Reports on many roots: worst first, equal blocks once, each cause once, few names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.command_line import no_screen
from kit.repositories import put, repository

from locklens.addresses import ProviderAddress
from locklens.cli.main import main
from locklens.dialect import TERRAFORM
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.versions import Version

LOCK = ".terraform.lock.hcl"
ROOTS = [f"live/r{number:02}" for number in range(1, 13)]
Run = Callable[..., str]


def locking(name: str, version: str, digit: str) -> bytes:
    address = ProviderAddress(TERRAFORM.default_host, "hashicorp", name)
    return render([LockEntry(address, Version.parse(version), "~> 5.0", (f"zh:{digit * 64}",), 0)], TERRAFORM)


def requiring(constraint: str) -> str:
    return f'terraform {{\n  required_providers {{\n    aws = {{ version = "{constraint}" }}\n  }}\n}}\n'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Twelve roots with one change: the seventh does not satisfy its constraint; `bad` has a broken lock file."""
    for root in [*ROOTS, "bad"]:
        put(
            tmp_path / root,
            {LOCK: locking("aws", "5.0.0", "0"), "main.tf": requiring("~> 6.0" if root == "live/r07" else "~> 5.0")},
        )
    repository(tmp_path, {})
    for root in ROOTS:
        (tmp_path / root / LOCK).write_bytes(locking("aws", "5.1.0", "1"))
    monkeypatch.chdir(tmp_path)

    def call(*argv: str) -> str:
        main([*argv, "--offline", "--no-cache"], no_screen)
        return capsys.readouterr().out

    return call


def test_a_review_names_eight_roots_of_one_change(run: Run) -> None:
    out = run("review")
    assert "\nIn 12 roots\n" in out
    shown = ["live/r07", *(root for root in ROOTS if root != "live/r07")][:8]
    assert f"roots: {', '.join(shown)} and 4 more (--list-roots names all)" in " ".join(out.split())
    out = run("review", "--list-roots")
    assert "and 4 more" not in out
    assert all(root in out for root in ROOTS)


def test_a_review_says_once_what_could_not_be_asked(run: Run) -> None:
    out = run("review")
    cause = "registry.terraform.io was not asked: offline, without a cached answer"
    assert [line for line in out.splitlines() if cause in line] == [
        f"not all is known of 12 changes: {cause} (run without --offline)"
    ]
    assert run("hashes").count(cause) == 1


def test_a_review_counts_the_changes_with_a_reason_of_their_own(run: Run, tmp_path: Path) -> None:
    address = ProviderAddress("registry.example.com", "acme", "one")
    lock = LockEntry(address, Version.parse("1.0.0"), "~> 1.0", (f"zh:{'2' * 64}",), 0)
    put(tmp_path / "live/r01/b", {LOCK: render([lock], TERRAFORM)})
    out = run("review")
    assert "\nnot all is known of 12 changes: " in out
    assert "\nnot all is known of 1 more change, for a reason of its own\n" in out
    assert "registry.example.com was not asked" in out


def test_a_review_is_worst_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "live/r07/main.tf").write_text(requiring("~> 5.0"))
    (tmp_path / "bad" / LOCK).write_text("provider {\n")
    out = run("review")
    assert out.index("bad  (") < out.index("In 12 roots")


def test_why_groups_equal_roots(run: Run) -> None:
    out = run("why", "aws")
    assert out.startswith(
        "13 roots require or lock aws:\n"
        "  live/r07  5.1.0  BLOCK      ~> 6.0\n"
        "  bad       5.0.0  satisfies  ~> 5.0\n"
        "  11 roots  5.1.0  satisfies  ~> 5.0\n"
    )
    assert out.count("hashicorp/aws  (Terraform)") == 3
    names = ", ".join(root for root in ROOTS if root != "live/r07")
    head = f"11 roots alike, each as ./  registry.terraform.io/hashicorp/aws  (Terraform): {names[: names.index(', live/r10')]} and 3 more\n"
    assert head in re.sub("\n  (?=live)", " ", out)
    assert "  LOCKED       5.1.0  ./.terraform.lock.hcl:4  satisfies the constraints\n" in out
    assert "       ./main.tf:3  ~> 5.0\n" in out
    assert out.count("offline, without a cached answer") == 1
    assert out.endswith(
        "registry.terraform.io was not asked: offline, without a cached answer, so newer versions are unknown in 13 roots\n"
    )
    assert all(root in run("why", "aws", "--list-roots") for root in ROOTS)
    assert len(json.loads(run("why", "aws", "--format", "json"))["roots"]) == 13


def test_why_keeps_roots_apart_that_differ_in_a_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "live/r02/main.tf").write_text("\n" + requiring("~> 5.0"))
    out = run("why", "aws")
    assert "\nlive/r02  registry.terraform.io/hashicorp/aws" in out
    assert "live/r02/main.tf:4  ~> 5.0" in out
