"""Measures what it costs to look into a package, beside hashing it alone.

    python tests/benchmarks/inspecting.py [PROGRAM] [--runs N]

PROGRAM is a large Go program, such as that of terraform. Ratios are what to compare; the times are those of this
machine. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from locklens.packages.hashing import hash_package
from locklens.packages.inspecting import PackageInspector


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, as they arrive from a network."""
    with path.open("rb") as file:
        while block := file.read(1 << 18):
            yield block


def look(path: Path) -> None:
    """Hash a package, and look into it."""
    inspector = PackageInspector()
    hash_package(chunks(path), new=inspector.content, check=lambda passed: _ignore(inspector.facts(passed)))


def _ignore(_: object) -> None:
    pass


def best(work: Callable[[Path], object], path: Path, runs: int) -> tuple[float, float]:
    """The least seconds of some runs: on the wall, and of all processors."""
    walls, processors = [], []
    for _ in range(runs):
        wall, processor = time.perf_counter(), time.process_time()
        work(path)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure looking into a package beside hashing it.")
    parser.add_argument("program", nargs="?", type=Path, default=shutil.which("terraform"))
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    program = Path(given.program)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "package.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.write(program, "terraform-provider-demo_v1.0.0")
        look(path)
        alone = best(lambda one: hash_package(chunks(one)), path, given.runs)
        inside = best(look, path, given.runs)
    print(f"{program.name}, {program.stat().st_size / 1e6:.0f} MB")
    for name, (old, new) in zip(("on the wall", "processors"), zip(alone, inside, strict=True), strict=True):
        print(f"  {name:12} hashing {old:.3f} s, and looking inside {new:.3f} s: x {new / old:.2f}")


if __name__ == "__main__":
    main()
