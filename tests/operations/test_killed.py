"""Writes of several files killed after each step and at random: each file is old or new, and the next run settles the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.effort import effort
from kit.registries import environ_of
from kit.repositories import put

from locklens.addresses import ProviderAddress
from locklens.demo.registry import DemoRegistry
from locklens.dialect import TERRAFORM
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.versions import Version

DEMO = ProviderAddress(TERRAFORM.default_host, "acme", "demo")
KILLS = effort(6, 200)
"""How often each command is killed at random, besides once after each step of its writing."""


def requires(constraint: str) -> str:
    return (
        "terraform {\n  required_providers {\n"
        f'    demo = {{\n      source  = "acme/demo"\n      version = "{constraint}" # why\n    }}\n  }}\n}}\n'
    )


def of_modules(top: Path) -> None:
    """A root with two modules, all three of which pin the version that is locked."""
    files = {
        "root/versions.tf": requires("1.4.1"),
        "root/main.tf": 'module "a" {\n  source = "../modules/a"\n}\nmodule "b" {\n  source = "../modules/b"\n}\n',
        "modules/a/versions.tf": requires("~> 1.4.0").replace("\n", "\r\n"),
        "modules/b/versions.tf": requires(">= 1.0, < 1.5"),
    }
    put(top, files)
    entry = LockEntry(DEMO, Version.parse("1.4.1"), ">= 1.0.0, ~> 1.4.0, 1.4.1, < 1.5.0", ("zh:" + "0" * 64,), 0)
    (top / "root/.terraform.lock.hcl").write_bytes(render([entry], TERRAFORM))


def of_roots(top: Path) -> None:
    """Three roots that lock a version without any hash."""
    entry = LockEntry(DEMO, Version.parse("1.4.1"), "1.4.1", (), 0)
    for name in ("a", "b", "c"):
        (top / name).mkdir(parents=True)
        (top / name / "main.tf").write_text(requires("1.4.1"))
        (top / name / ".terraform.lock.hcl").write_bytes(render([entry], TERRAFORM))


def of_orphans(top: Path) -> None:
    """Three roots with a provider that nothing requires."""
    orphan = ProviderAddress(TERRAFORM.default_host, "hashicorp", "null")
    entries = [LockEntry(one, Version.parse("1.4.1"), "", ("zh:" + "0" * 64,), 0) for one in (DEMO, orphan)]
    for name in ("a", "b", "c"):
        (top / name).mkdir(parents=True)
        (top / name / "main.tf").write_text(requires("1.4.1"))
        (top / name / ".terraform.lock.hcl").write_bytes(render(entries, TERRAFORM))


UPGRADE = ("upgrade", "--edit-constraints", "demo", "--root", "root")
SCREEN = ("screen", "a", "b", "c")
LOCK = ("lock", "--root", "a", "--root", "b", "--root", "c")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes that it forks")
@pytest.mark.parametrize(
    ("lay", "words"), [(of_modules, UPGRADE), (of_roots, LOCK), (of_orphans, SCREEN)], ids=["upgrade", "lock", "screen"]
)
def test_killed_after_each_step_and_at_random(
    tmp_path: Path, lay: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    template, place = tmp_path / "template", tmp_path / "place"
    lay(template)
    subprocess.run(["git", "init", "-q", str(template)], check=True)
    place.mkdir()
    with DemoRegistry() as registry:
        environ = environ_of(registry, tmp_path)
        environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
        driver = str(Path(__file__).with_name("killing.py"))
        command = [sys.executable, driver, str(template), str(place), str(KILLS), *words]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(found.values()) > KILLS
    assert found.get("completed"), f"no kill fell between two files: {found}"
