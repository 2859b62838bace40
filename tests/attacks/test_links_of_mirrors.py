"""Mirrors below a repository: what lies there is tracked, and nothing but packages of the repository is opened."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conformance.forking import shared

from locklens.demo import package_bytes

PROVIDER = "registry.terraform.io/acme/demo"
ENTRY = f'provider "{PROVIDER}" {{\n  version = "1.0.0"\n  hashes = [\n    "zh:{"0" * 64}",\n  ]\n}}\n'
LOG = (
    "Error: Failed to install provider\n\nError while installing acme/demo v1.0.0: the local package for\n"
    f"{PROVIDER} 1.0.0 doesn't match any of the checksums previously recorded in\nthe dependency lock file\n"
)
PACKED = f"terraform.d/plugins/{PROVIDER}/terraform-provider-demo_1.0.0_linux_amd64.zip"
UNPACKED = f"terraform.d/plugins/{PROVIDER}/1.0.0/linux_amd64"
HANGS = 60
"""Seconds, far above what is needed: they tell an answer from a program that waits for ever."""

Lay = Callable[[Path, Path], None]
"""Puts something in the place of a package, given the place and a folder outside of the repository."""


def pipe(place: Path, outside: Path) -> None:
    os.mkfifo(outside / "pipe")
    place.symlink_to(outside / "pipe")


def pipe_in_the_place(place: Path, _: Path) -> None:
    os.mkfifo(place)


def loop(place: Path, _: Path) -> None:
    place.symlink_to(place.name)


def above(place: Path, _: Path) -> None:
    place.symlink_to("../" * 5)


def package(place: Path, outside: Path) -> None:
    (outside / "a.zip").write_bytes(package_bytes(PROVIDER, "1.0.0", "linux_amd64"))
    place.symlink_to(os.path.relpath(outside / "a.zip", place.parent))


def home(place: Path, outside: Path) -> None:
    (outside / "id_rsa").write_text("secret")
    place.symlink_to(os.path.relpath(outside, place.parent))


def folder_with_a_pipe(place: Path, _: Path) -> None:
    place.mkdir()
    os.mkfifo(place / "terraform-provider-demo_v1.0.0")


LAID: dict[str, tuple[str, Lay]] = {
    "a pipe outside": (PACKED, pipe),
    "a pipe": (PACKED, pipe_in_the_place),
    "an endless device": (PACKED, lambda place, _: place.symlink_to("/dev/zero")),
    "a loop": (PACKED, loop),
    "a folder above": (PACKED, above),
    "a package outside": (PACKED, package),
    "a folder outside": (UNPACKED, home),
    "a folder above that is unpacked": (UNPACKED, above),
    "a pipe in a folder": (UNPACKED, folder_with_a_pipe),
    "a folder of the version outside": (str(Path(UNPACKED).parent), home),
    "a mirror outside": ("terraform.d/plugins", home),
}


@pytest.mark.parametrize("command", [("doctor", "--format", "text", "ci.log"), ("verify",)], ids=lambda words: words[0])
@pytest.mark.parametrize("kind", LAID)
def test_what_is_no_package_of_the_repository_is_not_opened(
    tmp_path: Path, kind: str, command: tuple[str, ...]
) -> None:
    name, lay = LAID[kind]
    top, outside = tmp_path / "top", tmp_path / "outside"
    outside.mkdir()
    (top / name).parent.mkdir(parents=True)
    (top / "main.tf").write_text('terraform {\n  required_providers {\n    demo = { source = "acme/demo" }\n  }\n}\n')
    (top / ".terraform.lock.hcl").write_text(ENTRY)
    (top / "ci.log").write_text(LOG)
    lay(top / name, outside)
    subprocess.run(["git", "init", "-q", top], check=True)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "TF_CLI_CONFIG_FILE": os.devnull,
        "XDG_CACHE_HOME": str(tmp_path),
    }
    offline = ["--offline"] if command[0] == "doctor" else []
    done = shared().finish([*command, *offline], top, environment, limit=HANGS)
    assert done.returncode in {0, 1, 2}, done.stderr
    assert "Traceback" not in done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert "id_rsa" not in said
    assert ("a link that leads out of the repository" in said) == (kind in {"a package outside", "a folder outside"})
