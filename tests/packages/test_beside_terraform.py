"""Odd packages in a mirror, hashed and unpacked by us and by the real terraform: the same verdicts, bytes and modes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from collecting import UNCOLLECTED
from kit.effort import IS_FULL
from kit.repositories import put
from packages.odd import ACCEPTED, REFUSED
from packages.zips import unpacked

from locklens.errors import PackageError
from locklens.packages.hashing import hash_package

terraform = shutil.which("terraform")
pytestmark = pytest.mark.skipif(terraform is None or sys.platform != "linux", reason="needs terraform on Linux")


class Terraform:
    """A root module that requires packages of a mirror: each under a namespace of its own."""

    def __init__(self, folder: Path, packages: Mapping[str, bytes]) -> None:
        self.names = list(packages)
        self.folder, self.root, self.mirror = folder, folder / "root", folder / "mirror"
        self.root.mkdir()
        required = ""
        for number, data in enumerate(packages.values()):
            place = self.mirror / "reg.acme.test" / f"n{number}" / "demo"
            put(place, {"terraform-provider-demo_1.0.0_linux_amd64.zip": data})
            required += f'    p{number} = {{ source = "reg.acme.test/n{number}/demo", version = "1.0.0" }}\n'
        (self.root / "main.tf").write_text(f"terraform {{\n  required_providers {{\n{required}  }}\n}}\n")
        (folder / "cli.tfrc").write_text(
            f'provider_installation {{\n  filesystem_mirror {{\n    path = "{self.mirror}"\n  }}\n}}\n'
        )

    def run(self, *arguments: str) -> str:
        """Runs a command and returns what it says; it may fail."""
        assert terraform is not None
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "CHECKPOINT_DISABLE": "1", **UNCOLLECTED}
        environ["TF_CLI_CONFIG_FILE"] = str(self.folder / "cli.tfrc")
        command = [terraform, f"-chdir={self.root}", *arguments, "-no-color"]
        result = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=120)
        return result.stdout + result.stderr

    def locked(self) -> dict[str, str]:
        """The h1 of each package, from the lock file."""
        lock = self.root / ".terraform.lock.hcl"
        text = lock.read_text() if lock.exists() else ""
        found = re.findall(r'"reg\.acme\.test/n(\d+)/demo".*?"(h1:[^"]+)"', text, re.DOTALL)
        return {self.names[int(number)]: h1 for number, h1 in found}

    def unpacked(self, name: str) -> Path:
        """Where `init` put a package."""
        place = self.root / ".terraform" / "providers" / "reg.acme.test" / f"n{self.names.index(name)}"
        return place / "demo" / "1.0.0" / "linux_amd64"


def ours(data: bytes) -> str:
    return hash_package([data]).h1


@pytest.mark.skipif(not IS_FULL, reason="of what it unpacked itself, terraform locks the same")
def test_the_h1_of_odd_packages_is_the_one_that_terraform_locks(tmp_path: Path) -> None:
    real = Terraform(tmp_path, ACCEPTED)
    said = real.run("providers", "lock", "-platform=linux_amd64", f"-fs-mirror={real.mirror}")
    assert "Success!" in said, said
    assert real.locked() == {name: ours(data) for name, data in ACCEPTED.items()}


def test_what_terraform_cannot_unpack_has_no_h1(tmp_path: Path) -> None:
    real = Terraform(tmp_path, {name: data for name, (data, _) in REFUSED.items()})
    said = real.run("providers", "lock", "-platform=linux_amd64", f"-fs-mirror={real.mirror}")
    refused = {real.names[int(number)] for number in re.findall(r"reg\.acme\.test/n(\d+)/demo[:,] ", said)}
    assert refused == set(REFUSED)
    for data, _ in REFUSED.values():
        with pytest.raises(PackageError):
            ours(data)


def laid(top: Path) -> dict[bytes, tuple[str, int, bytes]]:
    """What is in a folder: kind, permissions, content."""
    found = {}
    for path in top.rglob("*"):
        assert not path.is_symlink()
        kind, content = ("folder", b"") if path.is_dir() else ("file", path.read_bytes())
        found[os.fsencode(path.relative_to(top))] = (kind, path.stat().st_mode & 0o777, content)
    return found


def test_unpacking_makes_the_files_that_terraform_makes(tmp_path: Path) -> None:
    real = Terraform(tmp_path, ACCEPTED)
    said = real.run("init")
    assert "successfully initialized" in said, said
    assert real.locked() == {name: ours(data) for name, data in ACCEPTED.items()}
    for number, (name, data) in enumerate(ACCEPTED.items()):
        archive = tmp_path / f"{number}.zip"
        archive.write_bytes(data)
        assert unpacked(archive, tmp_path / f"into{number}") == real.locked()[name]
        assert laid(tmp_path / f"into{number}") == laid(real.unpacked(name)), name
