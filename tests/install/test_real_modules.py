"""`lock` and `init` of configurations that people wrote, beside the real terraform, with a stand-in registry on loopback.

They are laid out in the folder that LOCKLENS_CONFIGURATIONS names; see tests/project/test_real_configurations.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kit.registries import environ_of
from operations.test_real_upgrades import NEWEST, some_version

from locklens.cli.main import main
from locklens.demo.registry import DemoRegistry
from locklens.dialect import TERRAFORM
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree

MATERIAL = Path(os.environ.get("LOCKLENS_CONFIGURATIONS") or os.devnull)
terraform = shutil.which("terraform")
pytestmark = pytest.mark.skipif(
    not MATERIAL.is_dir() or terraform is None, reason="needs LOCKLENS_CONFIGURATIONS and terraform"
)
LOCK = ".terraform.lock.hcl"


def outcome(root: Path, before: bytes | None, succeeded: bool) -> tuple[bool, bytes | None]:
    lock = root / LOCK
    after = lock.read_bytes() if lock.exists() else None
    if before is None:
        lock.unlink(missing_ok=True)
    else:
        lock.write_bytes(before)
    shutil.rmtree(root / ".terraform" / "providers", ignore_errors=True)
    return succeeded, after


@pytest.mark.parametrize("words", [["providers", "lock", "-platform=linux_amd64", "-platform=darwin_arm64"], ["init"]])
@pytest.mark.parametrize("path", sorted(MATERIAL.glob("modules/*/meta.json")), ids=lambda path: path.parent.name)
def test_the_same_as_terraform(path: Path, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.parent.name.endswith("-tofu"):
        pytest.skip("it is for OpenTofu")
    about = json.loads(path.read_text("utf-8"))
    top = tmp_path / "top"
    shutil.copytree(path.parent / "src", top, symlinks=True)
    root = top / about["root"]
    tree = WorkTree(top)
    name = "" if about["root"] == "." else about["root"]
    read = read_configuration(tree, name, dialect=TERRAFORM, worktree=tree)
    versions = {address: some_version(read.constraints(address)) for address in sorted(read.required())}
    catalog = {str(one): (str(version), NEWEST) if version else (NEWEST,) for one, version in versions.items()}
    if not catalog:
        pytest.skip("it requires no provider")
    for file in root.glob(LOCK):
        file.unlink()
    with DemoRegistry(catalog) as registry:
        environ = environ_of(registry, tmp_path)
        assert terraform is not None
        # Local modules, which locklens reads where they are, terraform wants installed; remote ones cannot be had here.
        got = subprocess.run(
            [terraform, "get", "-no-color"], cwd=root, env=environ, capture_output=True, text=True, check=False
        )
        more = ["-backend=false", "-get=false"] if words == ["init"] else []
        ran = subprocess.run(
            [terraform, *words, *more, "-no-color"], cwd=root, env=environ, capture_output=True, text=True, check=False
        )
        theirs = outcome(root, None, ran.returncode == 0)
        if any("Unsupported Terraform Core version" in said for said in (got.stderr, ran.stderr)):
            pytest.skip("it is for another version of terraform, which is not judged here")
        for key, value in environ.items():
            monkeypatch.setenv(key, value)
        monkeypatch.chdir(root)
        status = main([*words, "--tool", "terraform"], lambda request, view: 99)
        assert outcome(root, None, status == 0) == theirs, ran.stdout[-2000:] + ran.stderr[-2000:]
