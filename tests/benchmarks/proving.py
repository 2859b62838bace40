"""Measures what hashing a package costs: beside no more than inflating it and hashing what comes out.

    python tests/benchmarks/proving.py [--rounds N] [--mib N]

Makes a package of about 170 MiB with pieces of a real program in a temporary folder; then runs all ways in turns and
prints medians, as ratios of the reference. Ratios are what to compare. It is no test: nothing fails for
being slow.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from zipfile import ZipFile

sys.path.insert(0, str(Path(__file__).parent))

from measuring import medians
from served import Filling

from locklens.packages import contents
from locklens.packages.hashing import hash_package
from locklens.packages.unpack import unpack

CHUNK = 64 * 1024
NAME = "terraform-provider-large_v1.0.0"


def chunks(path: Path) -> Iterator[bytes]:
    """The file as a network would give it."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def reference(path: Path) -> None:
    """Inflates and hashes, one after the other, and checks nothing."""
    module = contents.engine()
    stream, digest, is_first = module.decompressobj(-15), hashlib.sha256(), True
    for chunk in chunks(path):
        piece = chunk[30 + len(NAME) :] if is_first else chunk
        is_first = False
        while piece and not stream.eof:
            digest.update(stream.decompress(piece, contents.BLOCK))
            piece = stream.unconsumed_tail


def with_zipfile(path: Path) -> None:
    """What the standard library does with a package that has arrived."""
    with path.open("rb") as file:
        hashlib.file_digest(file, "sha256")
    with ZipFile(path) as archive, archive.open(NAME) as entry:
        digest = hashlib.sha256()
        while block := entry.read(contents.BLOCK):
            digest.update(block)


def two_at_once(path: Path) -> None:
    """Two packages in two threads."""
    threads = [threading.Thread(target=prove, args=(path,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def prove(path: Path) -> None:
    """Hashes as locklens does."""
    hash_package(chunks(path))


def unpacked(path: Path) -> None:
    """Unpacks as locklens does."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        unpack(chunks(path), Path(folder) / "into")


def with_zlib(way: Callable[[Path], None]) -> Callable[[Path], None]:
    """The same way as on a machine for which there is no isal."""

    def run(path: Path) -> None:
        kept = sys.modules.get("isal")
        sys.modules["isal"] = None  # type: ignore[assignment]
        contents.engine.cache_clear()
        try:
            way(path)
        finally:
            del sys.modules["isal"]
            if kept is not None:
                sys.modules["isal"] = kept
            contents.engine.cache_clear()

    return run


def peak(*paths: Path) -> float:
    """The most memory, in MiB, that a new process ever had which hashed these packages; on Linux."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import proving; from pathlib import Path\n"
        "for path in sys.argv[2:]: proving.prove(Path(path))\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent), *map(str, paths)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout) / 1024


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure hashing a package beside inflating and hashing it.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mib", type=int, default=170, help="of the package")
    arguments = parser.parse_args()
    ways = {
        "inflate and SHA-256": reference,
        "hash_package": prove,
        "two packages at once": two_at_once,
        "unpack": unpacked,
        "zipfile and hashlib": with_zipfile,
        "zlib: inflate and SHA-256": with_zlib(reference),
        "zlib: hash_package": with_zlib(prove),
    }
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "package.zip", Path(folder) / "small.zip"
        filling = Filling()
        filling.write(path, NAME, b"large", arguments.mib * 1024**2)
        filling.write(small, NAME, b"small", 0)
        print(f"{path.stat().st_size / 1024**2:.0f} MiB packed; {contents.engine().__name__}")
        if sys.platform == "linux":
            base = peak()
            print(f"most memory: {base:.0f} MiB at rest, {peak(small) - base:+.1f} MiB by a small package", end="")
            print(f", {peak(path) - base:+.1f} MiB by the large one")
        found = medians({name: partial(way, path) for name, way in ways.items()}, arguments.rounds)
    least = found["inflate and SHA-256"]
    for name, one in found.items():
        print(
            f"{name:26} {one.wall:6.2f} s {one.wall / least.wall:5.2f} x   "
            f"CPU {one.cpu:6.2f} s {one.cpu / least.cpu:5.2f} x"
        )


if __name__ == "__main__":
    main()
