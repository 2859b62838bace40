"""Measures what it costs to look into a package, beside hashing it alone.

    python tests/benchmarks/inspecting.py [PROGRAM] [--runs N]

PROGRAM is a large Go program, such as that of terraform. With a database of advisories on this machine more functions
are kept. Ratios are what to compare; the times are those of this machine. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from locklens.packages.hashing import hash_package
from locklens.packages.inspecting import PackageFacts, PackageInspector, keep_facts
from locklens.storage.cache import Cache


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, as they arrive from a network."""
    with path.open("rb") as file:
        while block := file.read(1 << 18):
            yield block


def hash_alone(path: Path) -> None:
    """Hash a package."""
    hash_package(chunks(path))


def look(path: Path) -> PackageFacts:
    """Hash a package, and look into it."""
    inspector, found = PackageInspector(), []
    hash_package(chunks(path), new=inspector.content, check=lambda passed: found.append(inspector.facts(passed)))
    (only,) = found
    return only


def look_and_keep(path: Path) -> None:
    """Hash a package, look into it, and keep what was found."""
    with Cache.in_memory() as cache:
        keep_facts(cache, look(path))


def best(works: Sequence[Callable[[Path], object]], path: Path, runs: int) -> list[tuple[float, float]]:
    """The least seconds of some runs of each, in turns: on the wall, and of all processors."""
    taken: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(runs):
        for work, seconds in zip(works, taken, strict=True):
            wall, processor = time.perf_counter(), time.process_time()
            work(path)
            seconds.append((time.perf_counter() - wall, time.process_time() - processor))
    return [(min(wall for wall, _ in each), min(processor for _, processor in each)) for each in taken]


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure looking into a package beside hashing it.")
    parser.add_argument("program", nargs="?", type=Path, default=shutil.which("terraform"))
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    program = Path(given.program)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "package.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.write(program, "terraform-provider-demo_v1.0.0")
        look(path)  # It reads the database of advisories, once in a process.
        alone, *others = best((hash_alone, look, look_and_keep), path, given.runs)
    print(
        f"{program.name}, {program.stat().st_size / 1e6:.0f} MB: hashing {alone[0]:.3f} s, of processors {alone[1]:.3f} s"
    )
    for name, (wall, processor) in zip(("looking inside", "and keeping it"), others, strict=True):
        print(f"  {name:15} on the wall x {wall / alone[0]:.2f}, processors x {processor / alone[1]:.2f}")


if __name__ == "__main__":
    main()
