"""A root, its registry on loopback and its network mirror, for locklens and the real tools alike."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conformance.case import STOCK, Case, Theme, Tool, requires
from conformance.laying import Names, environment, lay, network_mirror, registry

from locklens.cli.main import main
from locklens.demo.registry import DemoRegistry

BOTH = requires(("acme/demo", "~> 1.0"), ("reg.acme.test/a/other", ""))
CASE = Case(
    theme=Theme.LOCKING, name="mirror", files={"main.tf": BOTH}, catalog=STOCK | {"reg.acme.test/a/other": ("1.0.0",)}
)


class Bench:
    """A root, its registry, and what to run there."""

    def __init__(self, case: Case, tool: Tool, names: Names, home: Path, running: DemoRegistry) -> None:
        self.case, self.tool, self.names, self.home, self.registry = case, tool, names, home, running
        self.work = names.work
        self.environ = environment(case, running, names, home)

    def real(self, *words: str) -> str:
        done = subprocess.run(
            [self.tool.command, *words], cwd=self.work, env=self.environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def configure(self, text: str) -> None:
        path = Path(self.environ["TF_CLI_CONFIG_FILE"])
        path.write_text(path.read_text() + text)

    def steps(self) -> list[str]:
        found = [str(request.step) for request in self.registry.requests[self._seen :] if request.method == "GET"]
        self._seen = len(self.registry.requests)
        return found

    _seen = 0


@contextmanager
def bench(tool: Tool, monkeypatch: pytest.MonkeyPatch, case: Case = CASE) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="mirror-") as place:
        work, home = Path(place).resolve() / "work", Path(place).resolve() / "home"
        work.mkdir()
        home.mkdir()
        with registry(case, tool, work) as running, network_mirror(case, work / "served") as port:
            names = Names(tool, running.port, work, port)
            lay(case.files, names)
            found = Bench(case, tool, names, home, running)
            for name in [name for name in os.environ if name.startswith(("TF_", "XDG_"))]:
                monkeypatch.delenv(name)
            for name, value in found.environ.items():
                monkeypatch.setenv(name, value)
            monkeypatch.chdir(work)
            yield found


def run(*words: str) -> int:
    return main(words, lambda *_: 0)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
