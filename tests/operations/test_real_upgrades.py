"""Upgrades of configurations that people wrote, with a registry on loopback that stands in for the real ones.

They are laid out in the folder that LOCKLENS_CONFIGURATIONS names; see tests/project/test_real_configurations.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kit.registries import lead_to
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file
from locklens.demo.registry import DemoRegistry
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.lockfile.parse import parse
from locklens.project.configuration import Configuration
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree
from locklens.versions import Constraints, Version, newest_matching

MATERIAL = Path(os.environ.get("LOCKLENS_CONFIGURATIONS") or os.devnull)
pytestmark = pytest.mark.skipif(
    not MATERIAL.is_dir(), reason="needs LOCKLENS_CONFIGURATIONS, the folder of real material"
)
LOCK = ".terraform.lock.hcl"
NEWEST = "987.6.5"
terraform = shutil.which("terraform")


def read(top: Path, root: str, dialect: Dialect) -> Configuration:
    tree = WorkTree(top)
    return read_configuration(tree, root, dialect=dialect, worktree=tree)


def some_version(constraints: Constraints) -> Version | None:
    """A version that constraints admit: one of their own numbers, or one a little above."""
    numbers = [term.version for term in constraints.terms] or [Version(1, 0, 0)]
    near = [replace(one, patch=one.patch + more) for one in numbers for more in (0, 1)]
    return newest_matching([*near, *(replace(one, minor=one.minor + 1, patch=0) for one in numbers)], constraints)


def terraform_takes(folder: Path) -> bool:
    if terraform is None:
        return False
    command = [
        terraform,
        f"-chdir={folder}",
        "init",
        "-no-color",
        "-backend=false",
        "-lockfile=readonly",
        "-input=false",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    shutil.rmtree(folder / ".terraform", ignore_errors=True)
    return done.returncode == 0 and "provider dependency changes" not in done.stdout + done.stderr


def literals(top: Path) -> dict[str, list[str]]:
    """The lines of all configuration files."""
    files = (path for path in sorted(top.rglob("*")) if path.is_file() and path.suffix in {".tf", ".json", ".tofu"})
    return {str(path.relative_to(top)): path.read_bytes().decode("utf-8", "replace").split("\n") for path in files}


@pytest.mark.parametrize("path", sorted(MATERIAL.glob("modules/*/meta.json")), ids=lambda path: path.parent.name)
def test_upgrade_with_constraints(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = json.loads(path.read_text("utf-8"))
    root = "" if about["root"] == "." else about["root"]
    dialect = OPENTOFU if path.parent.name.endswith("-tofu") else TERRAFORM
    top = tmp_path / "top"
    shutil.copytree(path.parent / "src", top, symlinks=True)
    before = read(top, root, dialect)
    locked = {address: some_version(before.constraints(address)) for address in sorted(before.required())}
    if not locked or None in locked.values():
        pytest.skip("its constraints cannot hold together")
    catalog = {str(address): (str(version), NEWEST) for address, version in locked.items()}
    lines = [SampleLock(str(one), str(version), str(before.constraints(one))) for one, version in locked.items()]
    (top / root / LOCK).write_bytes(lock_file(*lines, dialect=dialect))
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    files = literals(top)
    with DemoRegistry(catalog) as registry:
        lead_to(monkeypatch, registry, tmp_path)
        was_taken = dialect is TERRAFORM and terraform_takes(top / root)
        monkeypatch.chdir(top / root)
        status = main(["upgrade", "--edit-constraints", "--allow-missing-modules"], lambda request, view: 99)
        if any(problem.is_error for problem in before.problems):
            assert status == 1
            return
        assert status == 0
        check(before, read(top, root, dialect), (top / root / LOCK).read_bytes(), locked)
        assert_lines(files, literals(top))
        if was_taken:
            assert terraform_takes(top / root)


def check(
    before: Configuration, after: Configuration, lock: bytes, locked: dict[ProviderAddress, Version | None]
) -> None:
    """Holds what was written against what was read."""
    entries = parse(lock, "").by_address
    assert entries.keys() == locked.keys()
    for address, entry in entries.items():
        assert after.constraints(address).admits(entry.version)
        assert entry.constraints == str(after.constraints(address))
        moved = str(entry.version) == NEWEST
        assert moved or any(
            ".terraform" in one.file or "!=" in one.constraint for one in before.of(address) if one.constraint
        )
    assert len(after.requirements) == len(before.requirements)


def assert_lines(before: dict[str, list[str]], after: dict[str, list[str]]) -> None:
    """Only what is between quotes, and a version constraint there, may have become another."""
    assert before.keys() == after.keys()
    for name, lines in before.items():
        assert len(after[name]) == len(lines)
        for old, new in zip(lines, after[name], strict=True):
            if old != new:
                changed = [pair for pair in zip(old.split('"'), new.split('"'), strict=True) if pair[0] != pair[1]]
                assert len(changed) == 1
                assert Constraints.parse(changed[0][1]).admits(Version.parse(NEWEST))
