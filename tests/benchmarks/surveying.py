"""Measures the health of many roots beside `find` and `sha256sum` over the same files, alternating in one loop.

    python tests/benchmarks/surveying.py [--roots N] [--rounds N]

Each root has a lock file with four providers, versions of its own, and forty lines of configuration of its own, so that
no two files are equal. The ratio of processor times is what to compare, for the time on the clock is that of everything
else on the machine too; it is printed beside. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from configurations import lay
from measuring import medians

ENTRY = "import sys; from locklens.__main__ import run; sys.exit(run())"
HEALTH = ["health", "--offline", "--no-cache", "--fail-on", "never", "--output", os.devnull]
REFERENCE = r"find . -name .git -prune -o -type f -print0 | xargs -0 sha256sum > /dev/null"


def main() -> None:
    """Prints the medians and their ratio."""
    parser = argparse.ArgumentParser(description="Measure the health of many roots beside find and sha256sum.")
    parser.add_argument("--roots", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = lay(Path(name) / "repository", arguments.roots, has_configuration=True)
        commands = {
            "health, text": [sys.executable, "-c", ENTRY, *HEALTH, "--format", "text"],
            "health, json": [sys.executable, "-c", ENTRY, *HEALTH, "--format", "json"],
            "find, sha256sum": ["sh", "-c", REFERENCE],
        }
        ways = {name: partial(subprocess.run, words, cwd=folder, check=True) for name, words in commands.items()}
        found = medians(ways, arguments.rounds)
    for title, one in found.items():
        print(f"{title:16} {one.cpu:6.2f} s of processor time, {one.wall:6.2f} s on the clock")
    print(f"{arguments.roots} roots: ratio {found['health, text'].cpu / found['find, sha256sum'].cpu:.0f}")


if __name__ == "__main__":
    main()
