"""The pace of a backfill, host by host: how long it waits is recorded, or the wait is cancelled."""

from __future__ import annotations

import threading

import pytest

from locklens.errors import RunCancelledError
from locklens_backfill.measuring import FetchSettings, Pace


class Recorded(threading.Event):
    """An event that passes at once, and keeps how long it was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(round(timeout or 0.0, 1))
        return False


def test_bytes_are_spread_over_time_for_each_host() -> None:
    event = Recorded()
    pace = Pace(FetchSettings(bytes_rate=1000), event)
    pace.begin("a.example.com")
    pace.take(2000)
    pace.take(3000)
    pace.begin("b.example.com")
    pace.take(1000)
    assert event.waits == [2.0, 5.0, 1.0]


def test_packages_are_spread_over_time_for_each_host() -> None:
    event = Recorded()
    pace = Pace(FetchSettings(request_rate=0.1), event)
    for name in ("a.example.com", "a.example.com", "b.example.com", "a.example.com"):
        pace.begin(name)
    assert event.waits == [10.0, 20.0]


def test_without_rates_nothing_waits() -> None:
    event = Recorded()
    pace = Pace(FetchSettings(), event)
    pace.begin("a.example.com")
    pace.take(10**12)
    assert event.waits == []


def test_a_host_that_asks_for_a_pause_gets_it_from_every_thread() -> None:
    cancel = threading.Event()
    pace = Pace(FetchSettings(), cancel)
    pace.begin("a.example.com")
    pace.hold(600)
    stopped: list[str] = []

    def ask(name: str) -> None:
        try:
            pace.begin(name)
        except RunCancelledError:
            stopped.append(name)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("a.example.com", "b.example.com")]
    for thread in threads:
        thread.start()
    threads[1].join()
    cancel.set()
    threads[0].join()
    assert stopped == ["a.example.com"]
    with pytest.raises(RunCancelledError):
        pace.rest(600)
