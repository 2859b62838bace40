"""Measures what remembering saves: a run that asks and verifies beside one that remembers, in the same loop.

    python tests/benchmarks/remembering.py [--rounds N] [--answers N] [--releases N]

Ratios are what to compare; the times are those of this machine, and the registry is on it too, so that asking costs
less than it ever will. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from kit.loopback import serving
from measuring import Taken, median, taken_by

from locklens.demo.signing import publisher
from locklens.hashes import HashedPackage
from locklens.sources.http import RequestKind
from locklens.sources.http.client import Client
from locklens.storage.cache import Cache
from locklens.trust.signature import Verifier

Release = tuple[bytes, bytes, tuple[str, ...]]
KIND = RequestKind("an answer", 1 << 23, 10.0)
BODY = json.dumps({"versions": [{"version": f"1.{n}.0", "protocols": ["5.0"]} for n in range(200)]})


def network(folder: Path, urls: list[str], *, is_fresh: bool) -> None:
    """One run that gets all answers, in 8 threads."""
    with Cache(folder / "cache.sqlite3") as cache, ThreadPoolExecutor(8) as pool:
        client = Client({}, memory=cache)
        list(pool.map(lambda url: client.get(url, KIND, is_fresh=is_fresh), urls))
        client.close()


def verifying(folder: Path, releases: list[Release]) -> None:
    """One run that verifies all releases."""
    with Cache(folder / "cache.sqlite3") as cache, Verifier(memory=cache) as verifier:
        for release in releases:
            verifier.verify(*release)


def looking_up(folder: Path, hashes: list[str]) -> None:
    """One run that looks hashes up."""
    with Cache(folder / "cache.sqlite3") as cache:
        cache.hashes(hashes)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure what remembering saves.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--releases", type=int, default=20)
    found = parser.parse_args()
    signers = [publisher(f"p{number}") for number in range(found.releases)]
    releases: list[Release] = [(b"sums", one.signature(b"sums"), (one.key.armored(),)) for one in signers]
    hashes = [f"zh:{number:064x}" for number in range(3000)]
    times: dict[str, list[Taken]] = {}

    def measure(name: str, work: Callable[..., object], *arguments: object, **named: object) -> None:
        times.setdefault(name, []).append(taken_by(partial(work, *arguments, **named)))

    with serving() as server:
        urls = [server.url(f"/{number}") for number in range(found.answers)]
        for number in range(found.answers):
            server.gives(f"/{number}", BODY)
        network(Path(tempfile.mkdtemp(prefix="locklens-warm-")), urls[:8], is_fresh=True)
        for _ in range(found.rounds):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                measure(f"{found.answers} answers, asked", network, folder, urls, is_fresh=True)
                measure(f"{found.answers} answers, remembered", network, folder, urls, is_fresh=False)
                measure(f"{found.releases} releases, by gpg", verifying, folder, releases)
                measure(f"{found.releases} releases, remembered", verifying, folder, releases)
                with Cache(folder / "cache.sqlite3") as cache:
                    for each in hashes:
                        cache.keep_package(HashedPackage(each, "h1:", 1, 1, 1))
                measure("3000 hashes, looked up", looking_up, folder, hashes)
    walls = {name: median(taken).wall for name, taken in times.items()}
    first = next(iter(walls.values()))
    for name, wall in walls.items():
        print(f"{name:28} {wall * 1000:8.1f} ms  {wall / first:6.3f} x the first")


if __name__ == "__main__":
    main()
