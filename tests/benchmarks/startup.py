"""Measures what a run costs before it has done anything: each command beside a bare interpreter, in the same loop.

    python tests/benchmarks/startup.py [--rounds N]

Ratios are what to compare; the times are those of this machine. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from locklens.demo import SampleLock, lock_file

PROVIDERS = 30
LOCK = lock_file(
    *(SampleLock(f"registry.terraform.io/acme/p{number:03}", f"5.{number}.0", "~> 5.0") for number in range(PROVIDERS))
)


def repository(top: Path) -> None:
    """A repository with one root, of which nothing is changed."""
    top.mkdir()
    (top / ".terraform.lock.hcl").write_bytes(LOCK)
    author = ["-c", "user.name=n", "-c", "user.email=e"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=top, check=True)


def git_commands(command: list[str], trace: Path) -> list[list[str]]:
    """The git processes that a command starts."""
    trace.unlink(missing_ok=True)
    subprocess.run(command, stdout=subprocess.DEVNULL, env={**os.environ, "GIT_TRACE2_EVENT": str(trace)}, check=True)
    events = map(json.loads, trace.read_text().splitlines()) if trace.exists() else ()
    return [event["argv"] for event in events if event["event"] == "start"]


def seconds(commands: list[list[str]], folder: Path) -> float:
    """The time that commands take, one after the other."""
    start = time.perf_counter()
    for command in commands:
        subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main() -> None:
    """Prints a table: each command beside a bare interpreter and the git processes that it starts itself."""
    parser = argparse.ArgumentParser(description="Measure start-up beside a bare interpreter.")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder, "top")
        repository(top)
        old, same, new = (Path(folder) / name for name in ("old.hcl", "same.hcl", "new.hcl"))
        old.write_bytes(LOCK)
        same.write_bytes(LOCK)
        new.write_bytes(LOCK.replace(b"5.7.0", b"5.8.0"))
        python = [sys.executable, "-c"]
        locklens = [*python, "import sys; from locklens.__main__ import run; sys.exit(run())", "-C", str(top)]
        review = [*locklens, "review", "--format", "json", "--fail-on", "never"]
        commands = {
            "python -c pass": [*python, "pass"],
            "import msgspec": [*python, "import msgspec"],
            "import deepdiff": [*python, "import deepdiff"],
            "import textual.app": [*python, "import textual.app"],
            "locklens --version": [*locklens, "--version"],
            "two files, unchanged": [*review, "--old", str(old), "--new", str(same)],
            "work tree, unchanged": review,
            "--staged, unchanged": [*review, "--staged"],
            "two files, one change": [*review, "--old", str(old), "--new", str(new), "--offline", "--no-cache"],
        }
        floors = {
            name: [commands["python -c pass"], *git_commands(command, Path(folder, "trace"))]
            for name, command in commands.items()
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                times[name].append((seconds([command], top), seconds(floors[name], top)))
    for name, taken in times.items():
        median, floor = (statistics.median(side) for side in zip(*taken, strict=True))
        started = f"{len(floors[name]) - 1} git" if len(floors[name]) > 1 else ""
        print(f"{name:22} {median * 1000:7.1f} ms  {median / floor:5.2f} x {floor * 1000:6.1f} ms  {started}")


if __name__ == "__main__":
    main()
