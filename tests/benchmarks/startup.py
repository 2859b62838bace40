"""Measures what a run costs before it has done anything: each command beside a bare interpreter, in the same loop.

    python tests/benchmarks/startup.py [--rounds N]

Ratios are what to compare; the times are those of this machine. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROVIDERS, HASHES = 30, 15


def lock_file(providers: int) -> str:
    """A lock file in the tools' layout."""
    text = (
        '# This file is maintained automatically by "terraform init".\n# Manual edits may be lost in future updates.\n'
    )
    for number in range(providers):
        hashes = sorted(hashlib.sha256(f"{number} {each}".encode()).hexdigest() for each in range(HASHES))
        listed = "".join(f'    "zh:{digest}",\n' for digest in hashes)
        text += (
            f'\nprovider "registry.terraform.io/acme/p{number:03}" {{\n  version     = "5.{number}.0"\n'
            f'  constraints = "~> 5.0"\n  hashes = [\n{listed}  ]\n}}\n'
        )
    return text


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure start-up beside a bare interpreter.")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        old, same, new = (Path(folder) / name for name in ("old.hcl", "same.hcl", "new.hcl"))
        old.write_text(lock_file(PROVIDERS))
        same.write_text(lock_file(PROVIDERS))
        new.write_text(lock_file(PROVIDERS).replace("5.7.0", "5.8.0"))
        entry = "import sys; from locklens.__main__ import run; sys.exit(run())"
        review = [
            sys.executable,
            "-c",
            entry,
            "review",
            "--format",
            "json",
            "--fail-on",
            "never",
            "--old",
            str(old),
            "--new",
        ]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import deepdiff": [sys.executable, "-c", "import deepdiff"],
            "import textual.app": [sys.executable, "-c", "import textual.app"],
            "locklens --version": [sys.executable, "-c", entry, "--version"],
            "review, unchanged": [*review, str(same)],
            "review, one change": [*review, str(new), "--offline", "--no-cache"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                times[name].append(time.perf_counter() - start)
    bare = statistics.median(times["python -c pass"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:20} {median * 1000:7.1f} ms  {median / bare:5.2f} x")


if __name__ == "__main__":
    main()
