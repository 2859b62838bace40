"""`backfill`: options to a request, progress on stderr, and the result to a report and an exit status."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from locklens.cli import DONE, FINDINGS, INTERRUPTED, LiveLine, bar, deliver, tell
from locklens.errors import UsageError
from locklens.operations.reports import formats_of, report_pages
from locklens.text import counted, size_words

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from locklens.cli.options import Parser
    from locklens_backfill.files import Failure
    from locklens_backfill.run import BackfillEvent

_RATE = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)(B|KB|MB|GB|KiB|MiB|GiB)?\Z")
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})\Z")
_LEAST_JOBS = 4
_PER_HOST = range(1, 65)
_JOBS = range(1, 257)


_BAR = 20
_WINDOW = 20.0
"""Seconds over which rates are taken: the last ones say more of what is to come than the whole run."""


def add_backfill_options(parser: Parser) -> None:
    """Add the options of `backfill`."""
    parser.begin(
        "Fill in h1 and size of every package that metadata files in the layout of the OpenTofu registry name without "
        "them. Each package is downloaded once and checked against its shasum; nothing else in a file changes. What a "
        "file has is done: run it again to continue. The whole OpenTofu registry is about 4,000 providers, a million "
        "packages and 12 TB: 34 hours at 100 MB/s from one host.",
        "[OPTION...] DIR|FILE...",
        _run_backfill,
        _check_backfill,
    )
    words = "clone of a registry, another folder with metadata files, or such a file"
    parser.add_argument("places", nargs="*", metavar="DIR|FILE", help=words)
    group = parser.group("scope")
    words = "part I of N of the providers, by the hash of their names (default: all)"
    group.add("--shard", type=_shard, metavar="I/N", help=words)
    words = "name of a package's size (default: the one that the file has, else package_size)"
    group.add("--size-key", choices=["size", "package_size"], help=words)
    group = parser.group("download")
    words = "packages in work at once (default: two for each processor, at least 4)"
    group.add("--jobs", type=_within(_JOBS), metavar="N", help=words)
    words = "concurrent downloads from one host, at most 64 (default: 8)"
    group.add("--per-host", type=_within(_PER_HOST), default=8, metavar="N", help=words)
    words = "bytes a second from one host, such as 50MB or 20MiB (default: no bound)"
    group.add("--max-rate", type=_rate, default=0.0, metavar="BYTES", help=words)
    words = "packages a second from one host (default: no bound)"
    group.add("--max-requests", type=_number, default=0.0, metavar="N", help=words)
    words = (
        "run on the workers of this Dask scheduler; they share --per-host and the rates evenly (default: this machine)"
    )
    group.add("--scheduler", default="", metavar="ADDRESS", help=words)
    words = "packages may come from this machine and private networks, also without TLS: for tests"
    group.flag("--allow-loopback", words)
    group = parser.group("output")
    group.flag("--dry-run", "download and write nothing; say what would be fetched")
    group.add_output(formats_of("backfill"))


def _check_backfill(options: Namespace) -> None:
    if not options.places:
        raise UsageError("the following arguments are required: DIR|FILE", hint="see locklens backfill --help")
    if options.scheduler and options.jobs is not None:
        raise UsageError("--jobs is for this machine", hint="a Dask worker has as many jobs as threads: --nthreads")


def _shard(text: str) -> tuple[int, int]:
    found = _SHARD.match(text) if text.isascii() else None
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"invalid part {text!r}: expected I/N with I from 1 to N, as 3/20")
    return index, count


def _rate(text: str) -> float:
    found = _RATE.match(text) if text.isascii() else None
    rate = float(found[1]) * _UNITS[found[2] or "B"] if found else 0.0
    if rate < 1:
        raise argparse.ArgumentTypeError(f"invalid rate {text!r}: expected bytes a second, as 50MB or 20MiB")
    return rate


def _number(text: str) -> float:
    found = re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", text) if text.isascii() else None
    if not found or not float(text):
        raise argparse.ArgumentTypeError(f"invalid number {text!r}: expected packages a second, as 5 or 0.5")
    return float(text)


def _within(numbers: range) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
        if number not in numbers:
            words = f"invalid number {text!r}: expected {numbers[0]} to {numbers[-1]}"
            raise argparse.ArgumentTypeError(words)
        return number

    return read


def _run_backfill(options: Namespace) -> int:
    from locklens_backfill.files import Shard
    from locklens_backfill.measuring import FetchSettings
    from locklens_backfill.run import BackfillRequest, backfill

    request = BackfillRequest(
        tuple(Path(place) for place in options.places),
        Shard(*options.shard) if options.shard else None,
        options.size_key or "",
        options.jobs or max(_LEAST_JOBS, 2 * (os.cpu_count() or 1)),
        options.scheduler,
        FetchSettings(options.per_host, options.max_rate, options.max_requests, options.allow_loopback),
    )
    progress = _Progress()
    try:
        found = backfill(request, is_dry_run=options.dry_run, on_event=progress.take)
    finally:
        progress.end()
    # Notes, and failures of packages, were reported as they occurred.
    tell(line for failure in found.failures if not failure.platform for line in _failure_lines(failure))
    deliver(report_pages("backfill", options.format, found), options.output)
    if found.is_interrupted:
        tell(["error: interrupted", "hint: run it again to continue: what is done is in the files"])
        return INTERRUPTED
    return FINDINGS if found.failures else DONE


class _Progress:
    """Progress of a backfill: a line for each file and each failure, and on a terminal a bar below them."""

    def __init__(self) -> None:
        from locklens_backfill.run import Counted

        self._line = LiveLine()
        self._plan = Counted(0, 0, 0, 0, 0)
        self._packages = self._versions = self._arrived = self._measured = self._failed = 0
        self._past: list[tuple[float, int, int]] = []

    def take(self, event: BackfillEvent) -> None:
        from locklens_backfill.run import BytesArrived, Connecting, Counted, FileDone, PackageMeasured

        match event:
            case Connecting(scheduler):
                self._line.say(f"connecting to the Dask scheduler {scheduler}")
            case Counted():
                self._plan = event
                size = f", about {size_words(event.likely_bytes)}" if event.likely_bytes else ""
                packages, versions = counted(event.packages, "package"), counted(event.versions, "version")
                files, at_once = counted(event.files, "file"), f"{event.workers} at once"
                self._line.say(f"{packages} of {versions} in {files} to fetch{size}, {at_once}")
                self._line.say(*(f"note: {note}" for note in event.notes))
            case PackageMeasured():
                self._packages += 1
                self._versions += event.completes_version
                self._measured += event.size
                if event.failure is not None:
                    self._failed += 1
                    self._line.say(*_failure_lines(event.failure))
            case FileDone(result):
                failed = f", {result.failed} failed" if result.failed else ""
                left = f", {result.left} left" if result.left else ""
                self._line.say(f"{result.path}: {counted(result.filled, 'package')} filled in{failed}{left}")
            case BytesArrived():
                self._arrived += event.count
            case _:
                assert_never(event)
        self._line.show("", self._words)

    def end(self) -> None:
        self._line.end()

    def _words(self, now: float) -> str:
        from locklens_backfill.report import duration

        size = max(self._arrived, self._measured)
        self._past = [one for one in self._past if now - one[0] < _WINDOW] + [(now, size, self._versions)]
        done = f"{bar(self._packages, self._plan.packages, _BAR)} {self._packages} of {self._plan.packages} packages"
        began, before, versions = self._past[0]
        if now == began:
            return done
        rate, speed = (size - before) / (now - began), (self._versions - versions) / (now - began)
        words = f"{done}, {size_words(int(rate))}/s, {speed:.1f} versions/s"
        left = self._left(rate)
        return f"{words}, about {duration(left)} left" if left is not None else words

    def _left(self, rate: float) -> int | None:
        """Return the seconds that are left, by bytes; what is not known is taken from the packages so far."""
        if not rate or not self._packages:
            return None
        mean = self._measured / max(1, self._packages - self._failed)
        likely = self._plan.likely_bytes or mean * self._plan.packages
        return round(max(0.0, likely * (1 - self._packages / self._plan.packages)) / rate)


def _failure_lines(failure: Failure) -> list[str]:
    """Return a failure and its next step."""
    return [f"failed: {failure}", *([f"  hint: {failure.hint}"] if failure.hint else [])]
