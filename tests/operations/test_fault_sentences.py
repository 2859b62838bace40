"""What users read when a disk or a mirror fails: each sentence names the thing, the place and the next step."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from conformance.case import HERE, TERRAFORM, requires
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, run

from locklens.demo import package_bytes

DEMO = "registry.terraform.io/acme/demo"
PINNED = replace(CASE, files={"main.tf": requires(("acme/demo", "1.0.0"))}, cli="# @MIRROR@\n")
INDEX, DOCUMENT = f"served/{DEMO}/index.json", f"served/{DEMO}/1.0.0.json"
NAME = f"terraform-provider-demo_1.0.0_{HERE}.zip"
PACKAGE = f"served/{DEMO}/{NAME}"
AGAIN = "fill the mirror again with `locklens mirror DIR`, or exclude the provider from it"
SERVER = "check that the mirror's server has it, or exclude the provider from the mirror"
MOVE = "a file is in the place of a folder, or the reverse: move it away"

Capture = pytest.CaptureFixture[str]
Damage = Callable[[], object]


@contextmanager
def mirrored(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Bench, str]]:
    """A locked root, and a mirror of its provider that is served over TLS, with its URL: made once for a table."""
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        assert run("lock") == 0
        assert run("mirror", "served") == 0
        shutil.copytree("served", "whole")
        yield place, place.names.put_in("@MIRROR@")


@contextmanager
def damaged(damage: Damage) -> Iterator[None]:
    """Damage the mirror or its environment for a while."""
    before = dict(os.environ)
    try:
        damage()
        yield
    finally:
        os.environ.update(before)
        shutil.rmtree("served")
        shutil.copytree("whole", "served")


def of_network_mirror(url: str) -> str:
    return f'provider_installation {{\n  network_mirror {{\n    url = "{url}"\n  }}\n}}\n'


def told(capfd: Capture, *words: str) -> str:
    """Run a command that fails, and return all that it says in one line."""
    capfd.readouterr()
    assert run(words[0], "--no-cache", *words[1:]) != 0
    said = capfd.readouterr()
    return " ".join((said.out + said.err).split())


def writes(path: str, text: str) -> Damage:
    return lambda: Path(path).write_text(text)


def packs(edit: Callable[[bytes], bytes]) -> Damage:
    return lambda: Path(PACKAGE).write_bytes(edit(Path(PACKAGE).read_bytes()))


DOCUMENTS: dict[str, tuple[Damage, str, str]] = {
    "an index of the wrong shape": (writes(INDEX, '{"versions": []}'), '"versions" is not an object', AGAIN),
    "an index that is no JSON": (writes(INDEX, "<html>"), "answered with something that is not JSON", AGAIN),
    "no document of a listed version": (
        lambda: Path(DOCUMENT).unlink(), "does not have archive index for previously-reported", "add the version to it"
    ),
    "a document of the wrong shape": (
        writes(DOCUMENT, f'{{"archives": {{"{HERE}": {{"url": 3}}}}}}'), f"about {DEMO} 1.0.0 with JSON in which", AGAIN
    ),
    "401": (writes(f"{INDEX}.status", "401"), "rejected the given authentication", "set a credentials block for local"),
    "403": (writes(f"{INDEX}.status", "403"), "rejected the given authentication", "set a credentials block for local"),
    "500": (writes(f"{DOCUMENT}.status", "500"), "answered 500 Internal Server Error", SERVER),
    "another authority": (
        lambda: os.environ.pop("SSL_CERT_FILE"), "is not trusted", "authority is named with SSL_CERT_FILE"
    ),
}  # fmt: skip
"""How the documents of a network mirror are damaged, what is said of that, and the next step."""


def test_the_documents_of_a_network_mirror(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with mirrored(monkeypatch) as (place, url):
        place.configure(of_network_mirror(url))
        first = next(iter(DOCUMENTS.values()))[0]
        for fault, (damage, words, step) in DOCUMENTS.items():
            with damaged(damage):
                others = [("lock", f"--net-mirror={url}"), ("verify",)] if damage is first else []
                for command in (("init",), *others):
                    said = told(capfd, *command)
                    assert words in said, fault
                    assert f"provider mirror at {url}" in said, fault
                    assert step in said, fault


PACKAGES: dict[str, tuple[Damage, str, str]] = {
    "no package": (lambda: Path(PACKAGE).unlink(), "answered 404 Not Found", SERVER),
    "a package that is refused": (writes(f"{PACKAGE}.status", "403"), "answered 403 Forbidden", SERVER),
    "half a package": (packs(lambda data: data[: len(data) // 2]), "is not a complete zip file", AGAIN),
    "damaged bytes": (
        packs(lambda data: data.replace(b"#!/bin/sh", b"#!/bin/no")), "its content is not the one that was packed", AGAIN
    ),
    "another package": (
        packs(lambda _: package_bytes(DEMO, "1.0.0", HERE, "again")),
        "doesn't match any of the expected checksums", "the mirror's package or its document is damaged",
    ),
}  # fmt: skip


def test_the_package_of_a_network_mirror(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with mirrored(monkeypatch) as (place, url):
        place.configure(of_network_mirror(url))
        for fault, (damage, words, step) in PACKAGES.items():
            with damaged(damage):
                for command in (("lock", f"--net-mirror={url}"), ("init",)):
                    said = told(capfd, *command)
                    assert words in said, fault
                    assert f"{url}{DEMO}/{NAME}" in said, fault
                    assert step in said, fault


def test_the_package_of_a_folder(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with mirrored(monkeypatch) as (place, _):
        place.configure('provider_installation {\n  filesystem_mirror {\n    path = "served"\n  }\n}\n')
        for fault in ("half a package", "damaged bytes"):
            damage, words, step = PACKAGES[fault]
            with damaged(damage):
                for command in ("init", "verify"):
                    said = told(capfd, command)
                    assert words in said, fault
                    assert NAME in said, fault
                    assert step in said, fault


def a_file(folder: str) -> bool:
    """Put a file in the place of a folder."""
    return bool(Path(folder).write_text("x"))


def full(folder: str) -> bool:
    """Put a disk without any space in the place of a folder; False without the right to mount."""
    Path(folder).mkdir()
    mounting = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder], check=False, capture_output=True
    )
    if mounting.returncode:
        return False
    with suppress(OSError):
        (Path(folder) / "fill").write_bytes(b"x" * 100_000)
    return True


def read_only(folder: str) -> bool:
    """Make a folder one of a disk for reading; as of `full`."""
    Path(folder).mkdir()
    for words in (["--bind", folder, folder], ["-o", "remount,ro,bind", folder]):
        if subprocess.run(["mount", *words], check=False, capture_output=True).returncode:
            return False
    return True


SPACE, LOCKED = "free some space on that disk", "that disk is mounted read-only"
DISKS: dict[str, tuple[Callable[[str], bool], str, tuple[str, ...], str]] = {
    "a file as mirror": (a_file, "m", ("mirror", "m"), MOVE),
    "a mirror on a full disk": (full, "m", ("mirror", "m"), SPACE),
    "a mirror on a disk for reading": (read_only, "m", ("mirror", "m"), LOCKED),
    "a file as data folder": (a_file, ".terraform", ("init",), MOVE),
    "a data folder on a full disk": (full, ".terraform", ("init",), SPACE),
    "a data folder on a disk for reading": (read_only, ".terraform", ("init",), LOCKED),
    "a file as plugin cache": (a_file, "cache", ("init",), MOVE),
    "a plugin cache on a full disk": (full, "cache", ("init",), SPACE),
}


def test_disks(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with mirrored(monkeypatch) as (place, _):
        for fault, (damage, folder, command, step) in DISKS.items():
            target = Path(folder)
            # With a plugin cache a data folder has links alone, for which there is room.
            monkeypatch.setenv("TF_PLUGIN_CACHE_DIR", folder if folder == "cache" else "")
            try:
                if not damage(folder):
                    continue  # It needs the right to mount.
                said = told(capfd, *command)
            finally:
                subprocess.run(["umount", folder], check=False, capture_output=True)
                for one in map(Path, ("m", "cache", ".terraform")):
                    shutil.rmtree(one) if one.is_dir() else one.unlink(missing_ok=True)
            assert f"{place.work}/{target}" in said, fault
            assert "cannot be" in said, fault
            assert step in said, fault
