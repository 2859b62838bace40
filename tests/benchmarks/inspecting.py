"""Measures what it costs to look into a package, beside hashing it alone.

    python tests/benchmarks/inspecting.py [PROGRAM] [--runs N]

PROGRAM is a large Go program, such as that of terraform. With a database of advisories on this machine more functions
are kept. Ratios are what to compare; the times are those of this machine. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measuring import medians
from proving import chunks

from locklens.packages.hashing import hash_package
from locklens.packages.inspecting import PackageFacts, PackageInspector, keep_facts
from locklens.storage.cache import Cache


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
        ways = {"hashing": hash_alone, "looking inside": look, "and keeping it": look_and_keep}
        found = medians({name: partial(way, path) for name, way in ways.items()}, given.runs)
    alone, size = found.pop("hashing"), program.stat().st_size / 1e6
    print(f"{program.name}, {size:.0f} MB: hashing {alone.wall:.3f} s, of processors {alone.cpu:.3f} s")
    for name, one in found.items():
        print(f"  {name:15} on the wall x {one.wall / alone.wall:.2f}, processors x {one.cpu / alone.cpu:.2f}")


if __name__ == "__main__":
    main()
