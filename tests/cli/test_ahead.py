"""Registries that are asked while the program is still loaded: when, which, and how little comes before."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from kit.loopback import Handler, Server
from kit.waiting import LIMIT, meanwhile, until

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import RunCancelledError
from locklens.sources.registries import ask_ahead, asked_ahead
from locklens.versions import Version

MAIN = 'terraform {\n  required_providers {\n    a = { source = "acme.test/acme/a" }\n    b = { source = "acme/b" }\n  }\n}\n'
ORPHAN = 'provider "orphan.test/acme/x" {\n  version = "1.0.0"\n}\n'

SCRIPT = """
import os, sys
from locklens.cli.main import main
from locklens.sources.http import ahead

def connect_ahead(urls, environ):
    ours = [name for name in sys.modules if name.startswith("locklens")]
    print(*urls, file=sys.__stdout__)
    print(len(ours), len(sys.modules), file=sys.__stdout__)
    sys.__stdout__.flush()
    os._exit(0)

ahead.connect_ahead = connect_ahead
class NotAsked(Exception): pass
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        print("none", file=sys.__stdout__)
        sys.__stdout__.flush()
        os._exit(0)
sys.addaudithook(refuse)
main(sys.argv[1:], lambda request: 0)
print("none", file=sys.__stdout__)
"""


def greeted(folder: Path, *arguments: str, **environ: str) -> list[str]:
    """Whom a command connects to ahead, and how many modules it has loaded until then; [] if it waits to be asked."""
    clean = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), **environ}
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    return [] if lines[-1] == "none" else [*lines[-2].split(), *lines[-1].split()]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(MAIN)
    (tmp_path / ".terraform.lock.hcl").write_text(ORPHAN)
    return tmp_path


@pytest.mark.parametrize("command", ["init", "lock"])
def test_little_is_loaded_before_the_first_connection(root: Path, command: str) -> None:
    """What hashes, verifies, unpacks and writes is loaded while the registries answer."""
    *urls, ours, modules = greeted(root, command)
    assert urls == ["https://acme.test/", "https://registry.terraform.io/"]
    assert int(ours) <= 75
    assert int(modules) <= 240


def test_only_what_is_required_is_connected_to(root: Path) -> None:
    """Neither a host that the lock file alone names, nor one that the user's settings replace."""
    rc = root / "rc"
    rc.write_text('host "acme.test" {\n  services = { "providers.v1" = "https://elsewhere.test:8443/v1/" }\n}\n')
    assert greeted(root, "lock", TF_CLI_CONFIG_FILE=str(rc))[:-2] == [
        "https://elsewhere.test:8443/v1/",
        "https://registry.terraform.io/",
    ]


def test_nobody_is_connected_to_who_may_not_be_asked(root: Path) -> None:
    mirror = root / "mirror"
    mirror.mkdir()
    rc = root / "rc"
    assert greeted(root, "init", "-plugin-dir", str(mirror)) == []
    assert greeted(root, "lock", "-fs-mirror", str(mirror)) == []
    rc.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n')
    assert greeted(root, "init", TF_CLI_CONFIG_FILE=str(rc)) == []
    rc.write_text(f'plugin_cache_dir = "{mirror}"\n')
    assert greeted(root, "init", TF_CLI_CONFIG_FILE=str(rc)) == []
    assert greeted(root, "init")
    (root / ".terraform/providers").mkdir(parents=True)
    assert greeted(root, "init") == []
    assert greeted(root, "lock")
    (root / "broken.tf").write_text("terraform {")
    assert greeted(root, "lock") == []


def test_a_locked_version_that_is_excluded_is_refused_without_asking(root: Path) -> None:
    (root / "main.tf").write_text(MAIN.replace('"acme.test/acme/a"', '"acme.test/acme/a", version = "~> 2.0"'))
    (root / ".terraform.lock.hcl").write_text(ORPHAN.replace("orphan.test/acme/x", "acme.test/acme/a"))
    for command in (("init",), ("lock",)):
        assert greeted(root, *command)[:-2] == ["https://registry.terraform.io/"]
    assert greeted(root, "init", "-upgrade")[:-2] == ["https://acme.test/", "https://registry.terraform.io/"]


A = ProviderAddress("acme.test", "acme", "a")
HERE = Platform("linux", "amd64")


@pytest.fixture
def environ(server: Server, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "rc").write_text(
        f'host "acme.test" {{\n  services = {{ "providers.v1" = "{server.url("/v1/")}" }}\n}}\n'
    )
    server.gives("/v1/acme/a/versions", {"versions": []})
    return {"TF_CLI_CONFIG_FILE": str(tmp_path / "rc"), "HOME": str(tmp_path)}


def test_what_is_asked_ahead_is_not_asked_again(server: Server, environ: dict[str, str]) -> None:
    ask_ahead(TERRAFORM, environ, {A: None})
    until(lambda: server.asked)
    assert asked_ahead(OPENTOFU, environ, threading.Event()) is None
    assert asked_ahead(TERRAFORM, {**environ, "TF_TOKEN_acme_test": "t"}, threading.Event()) is None
    registries = asked_ahead(TERRAFORM, environ, threading.Event())
    assert registries is not None
    with registries:
        assert registries.registry("acme.test").versions(A).versions == ()
    assert server.paths() == ["/v1/acme/a/versions"]
    assert asked_ahead(TERRAFORM, environ, threading.Event()) is None


def test_a_changed_environment_takes_nothing_over(server: Server, environ: dict[str, str], tmp_path: Path) -> None:
    ask_ahead(TERRAFORM, environ, {A: None})
    until(lambda: server.asked)
    environ["TF_CLI_CONFIG_FILE"] = str(tmp_path / "other")
    assert asked_ahead(TERRAFORM, environ, threading.Event()) is None


def test_locked_packages_are_asked_for_at_once(server: Server, environ: dict[str, str]) -> None:
    ask_ahead(TERRAFORM, environ, {A: Version.parse("1.0.0")}, HERE)
    until(lambda: len(server.asked) == 2)
    assert sorted(server.paths()) == ["/v1/acme/a/1.0.0/download/linux/amd64", "/v1/acme/a/versions"]


def test_a_cancelled_run_ends_what_was_asked_ahead(server: Server, environ: dict[str, str]) -> None:
    def stall(_: Handler) -> None:
        server.release.wait(LIMIT)

    server.on("/v1/acme/a/versions", stall)
    ask_ahead(TERRAFORM, environ, {A: None})
    until(lambda: server.asked)
    cancel = threading.Event()
    registries = asked_ahead(TERRAFORM, environ, cancel)
    assert registries is not None
    with registries, meanwhile(lambda: True, cancel.set, rescue=server.release.set), pytest.raises(RunCancelledError):
        registries.registry("acme.test").versions(A)
