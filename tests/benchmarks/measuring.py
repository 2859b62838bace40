"""Measures ways of doing something in turns, so that what else the machine does falls on all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from msgspec import Struct


class Taken(Struct, frozen=True):
    """Seconds of the clock and of the processors, those of the processes that were started and ended included."""

    wall: float
    cpu: float


def taken_by(work: Callable[[], object]) -> Taken:
    """What one run takes."""
    spent, began = _cpu(), time.perf_counter()
    work()
    return Taken(time.perf_counter() - began, _cpu() - spent)


def _cpu() -> float:
    return sum(usage.ru_utime + usage.ru_stime for usage in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def in_turns(
    ways: Mapping[str, Callable[[], object]], rounds: int, *, prepare: Callable[[], object] = lambda: None
) -> dict[str, list[Taken]]:
    """What each run of each way takes; `prepare` is called before each of them, and not measured."""
    taken: dict[str, list[Taken]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            prepare()
            taken[name].append(taken_by(way))
    return taken


def median(runs: Iterable[Taken]) -> Taken:
    """The medians of the seconds of some runs."""
    walls, cpus = zip(*((run.wall, run.cpu) for run in runs), strict=True)
    return Taken(statistics.median(walls), statistics.median(cpus))


def medians(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Taken]:
    """The medians of each way, after so many rounds."""
    return {name: median(runs) for name, runs in in_turns(ways, rounds).items()}
