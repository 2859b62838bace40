"""How fast `backfill` is beside plain inflating and hashing of the same bytes.

Serves packages with pieces of a real program from a process of its own, completes metadata files with locklens, and
beside that, in turns, reads the same packages from the disk and makes of each what cannot be spared: its SHA-256, its
content, and the SHA-256 of that, in as many threads as there are processors. Prints medians of the rates and of the
processors' time, and the share of the plain rates that locklens reaches (aim: 0.80), of inflating with the standard
library's zlib and with isal. Compare the shares: the rates are those of this machine. The server is left out of the
processors' time, so that this share is also right where other programs run.

Usage: python tests/benchmarks/completing.py [--versions N] [--platforms N] [--jobs N] [--runs N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

sys.path.insert(0, str(Path(__file__).parent))

from measuring import Taken, in_turns, median

from locklens.packages.contents import engine
from locklens_backfill.measuring import FetchSettings
from locklens_backfill.run import BackfillRequest, backfill

KINDS = 12
"""Different packages; the others are these again, under URLs of their own."""

MB = 1_000_000
SERVE = "--serve"
ZLIB, ISAL, BACKFILL = "plain, zlib", "plain, isal", "backfill"


def write_packages(folder: Path) -> list[Path]:
    """Writes packages of 1 to 4 MB."""
    program = Path(shutil.which("terraform") or sys.executable)
    found = []
    for number in range(KINDS):
        path = folder / f"{number}.zip"
        with program.open("rb") as file, ZipFile(path, "w", ZIP_DEFLATED) as archive:
            file.seek(program.stat().st_size // (KINDS + 1) * number)
            archive.writestr("terraform-provider-demo_v1.0.0", file.read((4 + 11 * number // (KINDS - 1)) * MB))
            archive.writestr("LICENSE", random.Random(number).randbytes(1000))
        found.append(path)
    return found


def write_metadata(path: Path, packages: list[Path], *, url: str, versions: int, platforms: int) -> None:
    """Writes a metadata file that lacks everything."""
    digests = [sha256(package.read_bytes()).hexdigest() for package in packages]
    listed = []
    for version in range(versions):
        targets = []
        for platform in range(platforms):
            kind = (version * platforms + platform) % KINDS
            name = f"terraform-provider-demo_1.{version}.0_os{platform}_amd64.zip"
            where = f"{url}/{kind}/{version}/{name}"
            targets.append(
                {
                    "os": f"os{platform}",
                    "arch": "amd64",
                    "filename": name,
                    "download_url": where,
                    "shasum": digests[kind],
                }
            )
        listed.append({"version": f"1.{version}.0", "protocols": ["5.0"], "targets": targets})
    path.write_text(json.dumps({"versions": listed}, indent=2))


async def serve(folder: Path) -> None:
    """Serves /KIND/… until standard input ends; prints its URL when it is ready."""
    sizes = {number: (folder / f"{number}.zip").stat().st_size for number in range(KINDS)}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                kind = int(head.split(b"/", 2)[1])
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % sizes[kind])
                await writer.drain()
                with (folder / f"{kind}.zip").open("rb") as file:
                    await loop.sendfile(writer.transport, file)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The URL of a server in a process of its own."""
    command = [sys.executable, __file__, SERVE, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.communicate("")


def plain(packages: list[Path], count: int, *, with_zlib: bool) -> None:
    """Reads, inflates and hashes so many packages, on all processors."""
    module = zlib if with_zlib else engine()

    def one(path: Path) -> None:
        data = path.read_bytes()
        sha256(data).digest()
        with ZipFile(path) as archive:
            start = archive.infolist()[0].header_offset + 30 + len(archive.infolist()[0].filename)
            size = archive.infolist()[0].compress_size
        sha256(module.decompress(data[start : start + size], -15)).digest()

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for _ in pool.map(one, (packages[number % KINDS] for number in range(count))):
            pass


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure backfill beside plain inflating and hashing.")
    parser.add_argument("--versions", type=int, default=200)
    parser.add_argument("--platforms", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(SERVE, help=argparse.SUPPRESS)
    found = parser.parse_args()
    if found.serve:
        asyncio.run(serve(Path(found.serve)))
        return
    count = found.versions * found.platforms
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = write_packages(folder)
        size = sum(packages[number % KINDS].stat().st_size for number in range(count))
        metadata = folder / "demo.json"
        request = BackfillRequest((metadata,), jobs=found.jobs, fetching=FetchSettings(allows_loopback=True))

        def complete() -> None:
            result = backfill(request)
            assert result.size == size, result.failures[:3]

        works = {
            ZLIB: lambda: plain(packages, count, with_zlib=True),
            ISAL: lambda: plain(packages, count, with_zlib=False),
            BACKFILL: complete,
        }
        with served(folder) as url:
            lacking = partial(
                write_metadata, metadata, packages, url=url, versions=found.versions, platforms=found.platforms
            )
            taken = in_turns(works, found.runs, prepare=lacking)
    tell({what: median(runs) for what, runs in taken.items()}, count, size)


def tell(middle: dict[str, Taken], count: int, size: int) -> None:
    """Prints the table."""
    print(f"{count} packages, {size / MB:.0f} MB")
    own = middle[BACKFILL]
    for what, one in middle.items():
        text = f"  {what:11} {size / one.wall / MB:6.1f} MB/s, {count / one.wall:6.1f} packages/s, CPU {one.cpu:6.1f} s"
        if what != BACKFILL:
            text += f"; backfill reaches {one.wall / own.wall:.2f} of this rate, {one.cpu / own.cpu:.2f} by CPU"
        print(text)


if __name__ == "__main__":
    main()
