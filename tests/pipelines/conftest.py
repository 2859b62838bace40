"""A clone as a pipeline has it: its branch brings a version of a provider that was published again with other packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Thread

import pytest
from conformance.case import requires
from conformance.forking import shared
from kit.command_line import locklens
from kit.effort import IS_FULL
from kit.git import git

from locklens.demo.faults import Fault, FaultRule, Faults
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry

TOP = Path(__file__).parents[2]
HOST = "registry.terraform.io"
DEMO = f"{HOST}/acme/demo"
LOCK = ".terraform.lock.hcl"


PROGRAM = Path(sys.executable).with_name("locklens")
CLIENT = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    server.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    status, said, complained = json.loads(server.makefile().readline())
sys.stdout.write(said)
sys.stderr.write(complained)
sys.exit(status)
"""


class Handler(StreamRequestHandler):
    """Runs a command for a client, and hands it what that said."""

    def handle(self) -> None:
        words, folder, environment = json.loads(self.rfile.readline())
        done = shared().finish(words, Path(folder), environment)
        self.wfile.write(json.dumps([done.returncode, done.stdout, done.stderr]).encode() + b"\n")


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the steps start as locklens: the program, or in a sample one that has it forked, in a tenth of the time."""
    if IS_FULL or not hasattr(os, "fork"):
        yield PROGRAM
        return
    folder = tmp_path_factory.mktemp("client")
    client, address = folder / "locklens", str(folder / "socket")
    client.write_text(CLIENT.format(python=sys.executable, address=address))
    client.chmod(0o755)
    with ThreadingUnixStreamServer(address, Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield client
        server.shutdown()


class Runner:
    """A runner's folders, and the environment of its steps."""

    def __init__(self, folder: Path, clone: Path, environment: dict[str, str], program: Path) -> None:
        self.folder, self.clone = folder, folder / "clone"
        shutil.copytree(clone, self.clone, symlinks=True)
        self.republished = git(self.clone, "rev-parse", "HEAD")
        self.temp = folder / "temp"
        bin_folder = self.temp / "locklens" / "bin"
        bin_folder.mkdir(parents=True)
        (bin_folder / "locklens").symlink_to(program)
        # No link: a virtual environment is known by the folder of its Python.
        (bin_folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (bin_folder / "python").chmod(0o755)
        self.event = folder / "event.json"
        base = git(self.clone, "rev-parse", "origin/main")
        self.event.write_text(
            json.dumps({"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": self.republished}}})
        )
        for name in ("output", "summary"):
            (folder / name).touch()
        self.environment = environment | {
            "HOME": str(folder),
            "PATH": f"{bin_folder}:{environment['PATH']}",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_EVENT_PATH": str(self.event),
            "GITHUB_BASE_REF": "main",
            "GITHUB_REPOSITORY": "acme/infra",
            "GITHUB_ACTION_PATH": str(TOP / ".github" / "actions" / "review"),
        }

    def bash(self, script: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs a step as a runner does: bash that stops at the first failure."""
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        environment = self.environment | settings
        return subprocess.run(words, cwd=self.clone, env=environment, capture_output=True, text=True, timeout=120)

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text()


@pytest.fixture(scope="session")
def registry() -> Iterator[DemoRegistry]:
    offers = {DEMO: [SampleListing("1.1.0", ("darwin_arm64", "linux_amd64"))]}
    with DemoRegistry(offers) as registry:
        yield registry


@pytest.fixture(scope="session")
def prepared(registry: DemoRegistry, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The clone, on the branch of the pull request, and the environment that leads to the registry."""
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n")
    service = registry.service_url(HOST)
    (folder / "cli.tfrc").write_text(f'host "{HOST}" {{\n  services = {{ "providers.v1" = "{service}" }}\n}}\n')
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "TF_CLI_CONFIG_FILE": str(folder / "cli.tfrc"),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        remote, clone = folder / "remote.git", folder / "clone"
        (folder / "work" / "infra").mkdir(parents=True)
        work = folder / "work"
        (work / "infra" / "main.tf").write_text(requires(("acme/demo", "~> 1.0")))
        locked(work)
        git(work, "init", "-q")
        git(work, "add", "-A")
        git(work, "commit", "-qm", "base")
        git(folder, "clone", "-q", "--bare", str(work), str(remote))
        git(folder, "clone", "-q", str(remote), str(clone))
        git(clone, "checkout", "-qb", "change")
        registry.faults = Faults(
            (FaultRule(Fault.REPUBLISHED, DEMO, "1.1.0"), FaultRule(Fault.OTHER_SIGNER, DEMO, "1.1.0"))
        )
        (clone / "infra" / LOCK).unlink()
        locked(clone)
        git(clone, "commit", "-qam", "change")
        git(clone, "push", "-q", "origin", "HEAD:refs/pull/7/head", "HEAD:refs/merge-requests/7/head")
    return clone, environment


def locked(folder: Path) -> None:
    status, _, complained = locklens(folder, "lock", "--platform", "linux_amd64", "--root", "infra")
    assert status == 0, complained


@pytest.fixture
def runner(prepared: tuple[Path, dict[str, str]], program: Path, tmp_path: Path) -> Runner:
    clone, environment = prepared
    return Runner(tmp_path, clone, environment, program)
