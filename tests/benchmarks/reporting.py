"""Measures what printing a review costs, from 10 to 1,000 roots with 300 distinct changes among them.

    python tests/benchmarks/reporting.py [--rounds N] [--formats FORMAT...]

Each root has thirty changed providers of three hundred, each with twelve hashes on either side and its findings. The
ratio is that of the processor time to that of ten roots, beside the ratio of the roots: more is worse than linear. The
memory is what the process grew by at its peak while it printed. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit.judging import root_of, settled_alone
from msgspec.structs import replace

from locklens.lockfile.parse import parse
from locklens.operations.reports import formats_of, render_report
from locklens.review.changes import Comparer
from locklens.review.model import Change, LockStatus, Review, SideName

DISTINCT = 300
EACH = 30
SIZES = (10, 30, 100, 300, 1000)
CHILD = "--child"


def lock(provider: int, version: int) -> bytes:
    hashes = "".join(f'    "zh:{provider:031x}{version:x}{number:032x}",\n' for number in range(12))
    entry = f'  version     = "1.{version}.0"\n  constraints = "~> 1.0"\n  hashes = [\n{hashes}  ]\n'
    return f'provider "registry.terraform.io/acme/p{provider:03}" {{\n{entry}}}\n'.encode()


def distinct() -> list[Change]:
    """The changes that the roots share."""
    changes = []
    for provider in range(DISTINCT):
        (change,) = Comparer().compare(parse(lock(provider, 1), "old"), parse(lock(provider, 2), "new"))
        changes.append(settled_alone(change))
    return changes


def review_of(roots: int) -> Review:
    """A review of so many roots."""
    changes = distinct()
    made = []
    for number in range(roots):
        path = f"live/{number:04}"
        file = f"{path}/.terraform.lock.hcl"
        own = []
        for at in range(EACH):
            change = changes[(number * EACH + at) % DISTINCT]
            own.append(replace(change, findings=tuple(replace(one, file=file) for one in change.findings)))
        made.append(replace(root_of(*own), path=path, lock_file=file, status=LockStatus.MODIFIED))
    sides = SideName("git", "HEAD~1", "0" * 40), SideName("git", "HEAD", "1" * 40)
    return Review("2026-01-01T00:00:00Z", True, (), *sides, tuple(made), roots)


def printed(roots: int, form: str) -> None:
    """Prints what one report took, as JSON."""
    review = review_of(roots)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    text = render_report("review", form, review, colour=False, lists_roots=False, fail_on="block")
    taken = time.process_time() - started
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"seconds": taken, "kib": grown, "size": len(text)}))


def measured(roots: int, form: str, rounds: int) -> tuple[float, float, int]:
    """Returns the median of the seconds, the peak in MiB, and the size of the text."""
    command = [sys.executable, __file__, CHILD, str(roots), form]
    ran = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(rounds)
    ]
    seconds = statistics.median(one["seconds"] for one in ran)
    return seconds, max(one["kib"] for one in ran) / 1024, ran[0]["size"]


def main() -> None:
    """Prints a table."""
    if sys.argv[1:2] == [CHILD]:
        printed(int(sys.argv[2]), sys.argv[3])
        return
    parser = argparse.ArgumentParser(description="Measure what printing a review costs.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", nargs="+", choices=formats_of("review"), default=formats_of("review"))
    options = parser.parse_args()
    print(f"{'format':12} {'roots':>6} {'seconds':>8} {'ratio':>7} {'of roots':>9} {'peak MiB':>9} {'bytes':>11}")
    for form in options.formats:
        least = 0.0
        for roots in SIZES:
            seconds, peak, size = measured(roots, form, options.rounds)
            least = least or seconds
            ratio, expected = seconds / least, roots / SIZES[0]
            print(f"{form:12} {roots:6} {seconds:8.3f} {ratio:7.1f} {expected:9.0f} {peak:9.1f} {size:11,}")


if __name__ == "__main__":
    main()
