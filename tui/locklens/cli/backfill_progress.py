"""Progress of a backfill on stderr: a line for each file and each failure, and on a terminal a bar below them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, assert_never

from locklens.cli.live import LiveLine
from locklens.operations.backfill.model import BytesArrived, Connecting, Counted, FileDone, PackageMeasured
from locklens.operations.backfill.report import duration
from locklens.text import counted, size_words

if TYPE_CHECKING:
    from locklens.operations.backfill.model import BackfillEvent, Failure

_BAR = 20
_WINDOW = 20.0
"""Seconds over which rates are taken: the last ones say more of what is to come than the whole run."""


class BackfillProgress:
    """Progress of a backfill."""

    def __init__(self) -> None:
        self._line = LiveLine()
        self._plan = Counted(0, 0, 0, 0, 0)
        self._packages = self._versions = self._arrived = self._measured = self._failed = 0
        self._past: list[tuple[float, int, int]] = []

    def take(self, event: BackfillEvent) -> None:
        """Report one event."""
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
                    self._line.say(*failure_lines(event.failure))
            case FileDone(result):
                failed = f", {result.failed} failed" if result.failed else ""
                left = f", {result.left} left" if result.left else ""
                self._line.say(f"{result.path}: {counted(result.filled, 'package')} filled in{failed}{left}")
            case BytesArrived():
                self._arrived += event.count
            case _:
                assert_never(event)
        self._line.draw(self._words)

    def end(self) -> None:
        """Remove the bar."""
        self._line.wipe()

    def _words(self) -> str:
        now, size = time.monotonic(), max(self._arrived, self._measured)
        self._past = [one for one in self._past if now - one[0] < _WINDOW] + [(now, size, self._versions)]
        filled = _BAR * self._packages // max(1, self._plan.packages)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {self._packages} of {self._plan.packages} packages"
        began, before, versions = self._past[0]
        if now == began:
            return bar
        rate, speed = (size - before) / (now - began), (self._versions - versions) / (now - began)
        words = f"{bar}, {size_words(int(rate))}/s, {speed:.1f} versions/s"
        left = self._left(rate)
        return f"{words}, about {duration(left)} left" if left is not None else words

    def _left(self, rate: float) -> int | None:
        """Return the seconds that are left, by bytes; what is not known is taken from the packages so far."""
        if not rate or not self._packages:
            return None
        mean = self._measured / max(1, self._packages - self._failed)
        likely = self._plan.likely_bytes or mean * self._plan.packages
        return round(max(0.0, likely * (1 - self._packages / self._plan.packages)) / rate)


def failure_lines(failure: Failure) -> list[str]:
    """Return a failure and its next step."""
    return [f"failed: {failure}", *([f"  hint: {failure.hint}"] if failure.hint else [])]
