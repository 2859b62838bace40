"""How long `lock` and `init` take beside the real tools, and what they cost.

Each line serves providers from a registry on this machine, every answer 30 ms late, and runs locklens, `tofu` and
`terraform` on it in turns, each time in a new folder. Prints medians of the wall time and of the processors' time
(children included), the requests, the packages among them, and locklens's share of OpenTofu's and of Terraform's time.
Compare the shares: the times are those of this machine. A tool that is not on PATH is left out.

Usage: python tests/benchmarks/installing.py [--runs N] [--without TOOL] [LINE...]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parent))

from measuring import taken_by
from served import COUNTED, VERSION, Offered

if TYPE_CHECKING:
    from collections.abc import Iterator

PLATFORMS = ("linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64")
MB = 1_000_000
LOCKLENS, TOFU, TERRAFORM = "locklens", "tofu", "terraform"


class Line(Struct, frozen=True):
    """One thing that is measured.

    Attributes:
        words: What it is.
        offered: What is served.
        is_lock: Whether packages are locked, not installed.
        again: What is there already: nothing, what locklens remembers, or the packages and the lock file.
        target: The share of OpenTofu's time that is aimed at.
    """

    words: str
    offered: Offered
    is_lock: bool
    again: str = ""
    target: float = 1.0


_SMALL = Offered(12, PLATFORMS)
_TEN = Offered(6, PLATFORMS, 10 * MB, rate=50 * MB)
_LARGE = Offered(1, PLATFORMS[:2], 172 * MB)
_SOME = Offered(6, PLATFORMS[:1], 39 * MB)
REMEMBERED, INSTALLED = "remembered", "installed"
LINES = {
    "lock-small": Line("lock 12 providers for 4 platforms, small", _SMALL, True, target=0.5),
    "lock-small-again": Line("the same, remembered", _SMALL, True, REMEMBERED, target=1 / 3),
    "lock-10": Line("lock 6 for 4 platforms, 10 MB each at 50 MB/s", _TEN, True, target=0.5),
    "lock-10-again": Line("the same, remembered", _TEN, True, REMEMBERED, target=1 / 3),
    "lock-172": Line("lock 1 for 2 platforms, 172 MB each", _LARGE, True, target=1 / 3),
    "lock-172-again": Line("the same, remembered", _LARGE, True, REMEMBERED, target=1 / 3),
    "init-small": Line("init of 12, small", _SMALL, False),
    "init-39": Line("init of 6, 39 MB each", _SOME, False, target=0.5),
    "init-installed": Line("init of 12 that are installed", _SMALL, False, INSTALLED),
}


class Run(Struct, frozen=True):
    """One run: seconds of the clock and of the processors, requests, and how many of them were for packages."""

    wall: float
    cpu: float
    requests: int
    packages: int


@contextmanager
def served(offered: Offered) -> Iterator[tuple[str, Path]]:
    """Serves from a process of its own; yields its URL and the CLI configuration that names it."""
    with tempfile.TemporaryDirectory() as name:
        command = [
            sys.executable,
            str(Path(__file__).with_name("served.py")),
            name,
            msgspec.json.encode(offered).decode(),
        ]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip(), Path(name, "cli.tfrc")
        finally:
            server.communicate("")


class Bench:
    """One line's folder and registry."""

    def __init__(self, line: Line, folder: Path, url: str, configuration: Path) -> None:
        self._line = line
        self._folder = folder
        self._url = url
        self._environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._environ |= {"TF_CLI_CONFIG_FILE": str(configuration), "CHECKPOINT_DISABLE": "1"}
        requirements = "".join(
            f'    p{number} = {{\n      source = "{source}"\n      version = "{VERSION}"\n    }}\n'
            for number, source in enumerate(line.offered.sources)
        )
        self._text = f"terraform {{\n  required_providers {{\n{requirements}  }}\n}}\n"

    def root(self, tool: str) -> Path:
        """Returns a folder for one run, with what the line says is there already."""
        if self._line.again == INSTALLED:
            root = self._folder / f"{tool}-installed"
            if not root.exists():
                self._fill(root)
                self.run(tool, root)
            return root
        root = Path(tempfile.mkdtemp(dir=self._folder))
        self._fill(root)
        return root

    def _fill(self, root: Path) -> None:
        root.mkdir(exist_ok=True)
        (root / "main.tf").write_text(self._text, "utf-8")

    def run(self, tool: str, root: Path) -> Run:
        """Runs a tool in a folder.

        Raises:
            SystemExit: It failed.
        """
        cache = self._folder / "cache"
        if self._line.again != REMEMBERED:
            shutil.rmtree(cache, ignore_errors=True)
        environ = self._environ | {"XDG_CACHE_HOME": str(cache)}
        self._counted()
        taken = taken_by(partial(self._finish, tool, root, environ))
        return Run(taken.wall, taken.cpu, *self._counted())

    def _finish(self, tool: str, root: Path, environ: dict[str, str]) -> None:
        ran = subprocess.run(self._command(tool), cwd=root, env=environ, capture_output=True, text=True, check=False)
        if ran.returncode or not (root / ".terraform.lock.hcl").exists():
            raise SystemExit(f"{tool} failed:\n{ran.stdout}{ran.stderr}")

    def _command(self, tool: str) -> list[str]:
        command = [sys.executable, "-m", "locklens"] if tool == LOCKLENS else [tool]
        if not self._line.is_lock:
            return [*command, "init"]
        command += ["lock"] if tool == LOCKLENS else ["providers", "lock"]
        return command + [f"-platform={platform}" for platform in self._line.offered.platforms]

    def _counted(self) -> list[int]:
        with urllib.request.urlopen(self._url + COUNTED) as answer:
            return msgspec.json.decode(answer.read(), type=list[int])


def measure(line: Line, tools: list[str], runs: int) -> dict[str, list[Run]]:
    """Runs the tools in turns, after one run of locklens that fills the system's caches and its own."""
    taken: dict[str, list[Run]] = {tool: [] for tool in tools}
    with tempfile.TemporaryDirectory() as name, served(line.offered) as (url, configuration):
        bench = Bench(line, Path(name), url, configuration)
        bench.run(LOCKLENS, bench.root(LOCKLENS))
        for _ in range(runs):
            for tool in tools:
                root = bench.root(tool)
                taken[tool].append(bench.run(tool, root))
                if line.again != INSTALLED:
                    shutil.rmtree(root)
    return taken


def told(line: Line, taken: dict[str, list[Run]]) -> None:
    """Prints what came of one line."""
    print(line.words)
    middle = {
        tool: Run(*(statistics.median(getattr(one, name) for one in found) for name in Run.__struct_fields__))
        for tool, found in taken.items()
    }
    own = middle[LOCKLENS]
    for tool, one in middle.items():
        text = f"  {tool:9} {one.wall:6.2f} s, CPU {one.cpu:5.2f} s, {one.requests:3.0f} requests, {one.packages:2.0f} packages"
        if tool != LOCKLENS:
            text += f"; locklens takes {own.wall / one.wall:.2f} of the time, {own.cpu / one.cpu:.2f} of the CPU"
        if tool == TOFU:
            text += f" (aim: {line.target:.2f})"
        print(text, flush=True)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure lock and init beside the real tools.")
    parser.add_argument("lines", nargs="*", metavar="LINE", help=", ".join(LINES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without", action="append", default=[], choices=(TOFU, TERRAFORM))
    found = parser.parse_args()
    if unknown := set(found.lines) - set(LINES):
        parser.error(f"no such line: {', '.join(sorted(unknown))}; there are {', '.join(LINES)}")
    tools = [LOCKLENS, *(tool for tool in (TOFU, TERRAFORM) if tool not in found.without and shutil.which(tool))]
    for name in found.lines or LINES:
        told(LINES[name], measure(LINES[name], tools, found.runs))


if __name__ == "__main__":
    main()
