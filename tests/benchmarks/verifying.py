"""Measures `verify` of large installed packages beside what hashes the same files and does nothing else.

    python tests/benchmarks/verifying.py [--packages N] [--mb N] [--large] [--cold] [--rounds N]

Makes a root with installed packages of random bytes and their lock file in a temporary folder, reads them once so that
the page cache has them, then runs all ways in turns: `locklens verify`, `sha256sum` of each file, one process for each
processor, and `openssl dgst -sha256` in the same way, which has the same code for hashing as Python. Prints medians, how
many processors were busy, each way's throughput, and the share of it that `verify` reaches; `--large` puts all bytes
into one package, whose files are one large and some small ones. Compare the shares. It is no test: nothing fails for
being slow.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measuring import in_turns, median

from locklens.packages.installed import h1_of_folder

MB = 1_000_000
BLOCK = os.urandom(MB)
VERIFY = [sys.executable, "-m", "locklens", "verify", "--offline", "--no-cache"]
HOST = "registry.example.com"
SYSTEM = "darwin" if sys.platform == "darwin" else "linux"
HERE = f"{SYSTEM}_{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'amd64'}"


def fill(path: Path, size: int) -> None:
    """Writes a file of about a size, which is like no other."""
    with path.open("wb") as file:
        file.write(os.urandom(64))
        for _ in range(size // MB):
            file.write(BLOCK)


def install(root: Path, count: int, size: int) -> None:
    """Lays packages of one large and two small files into a root's data folder, and writes the lock file."""
    entries, sources = [], []
    for number in range(count):
        source = f"acme/p{number}"
        folder = root / ".terraform/providers" / HOST / source / "1.0.0" / HERE
        folder.mkdir(parents=True)
        fill(folder / f"terraform-provider-p{number}_v1.0.0", size)
        (folder / "LICENSE").write_text("free", "utf-8")
        (folder / "README.md").write_text("read me", "utf-8")
        h1 = h1_of_folder(folder)
        entries.append(f'provider "{HOST}/{source}" {{\n  version = "1.0.0"\n  hashes = [\n    "{h1}",\n  ]\n}}\n')
        sources.append(f'    p{number} = {{ source = "{HOST}/{source}" }}\n')
    (root / ".terraform.lock.hcl").write_text("\n".join(entries), "utf-8")
    (root / "main.tf").write_text(f"terraform {{\n  required_providers {{\n{''.join(sources)}  }}\n}}\n", "utf-8")


def forget(root: Path) -> None:
    """Lets the page cache forget the packages."""
    os.sync()
    for path in (root / ".terraform").rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run(command: list[str], root: Path) -> None:
    """Runs a command in the root.

    Raises:
        SystemExit: It failed.
    """
    environ = {**os.environ, "XDG_CACHE_HOME": str(root / "cache"), "TF_CLI_CONFIG_FILE": os.devnull}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=environ)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stdout}{done.stderr}")


def peak(root: Path) -> float:
    """The most memory, in MiB, that one `verify` had; on Linux."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", script, *VERIFY]
    return int(subprocess.run(command, cwd=root, capture_output=True, check=True).stdout) / 1024


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure verify beside sha256sum over the same files.")
    parser.add_argument("--packages", type=int, default=8)
    parser.add_argument("--mb", type=int, default=50, help="of each package")
    parser.add_argument("--large", action="store_true", help="all bytes in one package")
    parser.add_argument("--cold", action="store_true", help="let the page cache forget the files before each run")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    each = f"find .terraform/providers -type f -print0 | xargs -0 -n 1 -P {cores}"
    ways = {
        "verify": VERIFY,
        "sha256sum": ["sh", "-c", f"{each} sha256sum"],
        "openssl dgst": ["sh", "-c", f"{each} openssl dgst -sha256"],
    }
    if shutil.which("openssl") is None:
        del ways["openssl dgst"]
    with tempfile.TemporaryDirectory() as name:
        root, count = Path(name), 1 if arguments.large else arguments.packages
        size = arguments.packages * arguments.mb // count * MB
        install(root, count, size)
        total = sum(path.stat().st_size for path in (root / ".terraform").rglob("*") if path.is_file())
        line = f"{count} packages, {total / MB:.0f} MB, {cores} processors"
        print(f"{line}; most memory of verify: {peak(root):.0f} MiB" if sys.platform == "linux" else line)
        prepare = partial(forget, root) if arguments.cold else lambda: None
        works = {way: partial(run, command, root) for way, command in ways.items()}
        taken = in_turns(works, arguments.rounds, prepare=prepare)
        for way, runs in taken.items():
            one, both = median(runs), zip(runs, taken["verify"], strict=True)
            share = statistics.median(theirs.wall / mine.wall for theirs, mine in both)
            print(
                f"{way:13} {one.wall:6.2f} s {total / MB / one.wall:6.0f} MB/s   CPU {one.cpu:6.2f} s, "
                f"{one.cpu / one.wall:4.2f} busy   verify reaches {share:5.0%}"
            )


if __name__ == "__main__":
    main()
