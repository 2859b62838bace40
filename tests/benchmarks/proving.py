"""Measures what hashing a package costs: beside no more than inflating it and hashing what comes out.

    python tests/benchmarks/proving.py [--rounds N] [--mib N]

Makes a package that packs to about 170 MiB, with a ratio of about 4.3, in a temporary folder; then runs all ways in
turn and prints medians, as ratios of the reference. Ratios are what to compare. It is no test: nothing fails for
being slow.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

from locklens.packages import contents
from locklens.packages.hashing import hash_package
from locklens.packages.unpack import unpack

CHUNK = 64 * 1024
SAMPLE = 8 * 1024 * 1024
NAME = b"terraform-provider-large_v1.0.0"


def sample() -> bytes:
    """Bytes that deflate as a program does: words that return, some of them often, and noise."""
    chance = random.Random(1)
    words = [chance.randbytes(chance.choice((4, 6, 8, 12, 20))) for _ in range(2000)]
    made = bytearray()
    while len(made) < SAMPLE:
        made += words[min(int(chance.expovariate(1 / 250)), len(words) - 1)] * chance.choice((1, 1, 1, 2, 5))
        if chance.random() < 0.05:
            made += chance.randbytes(4)
    return bytes(made[:SAMPLE])


def make_package(path: Path, size: int) -> None:
    """Writes a package of one file; the sample is packed once, and the stream says it again and again."""
    text = sample()
    deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflater.compress(text) + deflater.flush(zlib.Z_FULL_FLUSH)
    times = max(1, size // len(packed))
    crc = 0
    for _ in range(times):
        crc = zlib.crc32(text, crc)
    end = b"\x03\x00"
    facts = (crc, len(packed) * times + len(end), len(text) * times, len(NAME), 0)
    with path.open("wb") as file:
        file.write(struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 0x21, *facts) + NAME)
        for _ in range(times):
            file.write(packed)
        file.write(end)
        start = file.tell()
        central = struct.pack("<4s6H3L2H", b"PK\x01\x02", 0x314, 20, 0, 8, 0, 0x21, *facts)
        file.write(central + struct.pack("<3H2L", 0, 0, 0, 0o100755 << 16, 0) + NAME)
        length = file.tell() - start
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, length, start, 0))


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
    with ZipFile(path) as archive, archive.open(NAME.decode()) as entry:
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
        make_package(path, arguments.mib * 1024**2)
        make_package(small, 1)
        print(f"{path.stat().st_size / 1024**2:.0f} MiB packed; {contents.engine().__name__}")
        if sys.platform == "linux":
            base = peak()
            print(f"most memory: {base:.0f} MiB at rest, {peak(small) - base:+.1f} MiB by a package of 2 MiB", end="")
            print(f", {peak(path) - base:+.1f} MiB by the large one")
        wall: dict[str, list[float]] = {name: [] for name in ways}
        cpu: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, way in ways.items():
                start, spent = time.perf_counter(), time.process_time()
                way(path)
                wall[name].append(time.perf_counter() - start)
                cpu[name].append(time.process_time() - spent)
    reference_wall, reference_cpu = (statistics.median(times["inflate and SHA-256"]) for times in (wall, cpu))
    for name in ways:
        median, spent = statistics.median(wall[name]), statistics.median(cpu[name])
        print(
            f"{name:26} {median:6.2f} s {median / reference_wall:5.2f} x   CPU {spent:6.2f} s {spent / reference_cpu:5.2f} x"
        )


if __name__ == "__main__":
    main()
