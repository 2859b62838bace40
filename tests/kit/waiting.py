"""Waiting for what has to happen: for the event itself, with a limit that is against hangs alone.

No test measures how long something takes (`tests/benchmarks` does), and none sleeps in the hope that it is over then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LIMIT = 120.0
"""Seconds after which something is said to hang; no test that passes comes near them, on whatever machine."""

_GLANCE = 0.005


def until(holds: Callable[[], object], *, ended: threading.Event | None = None) -> bool:
    """Waits until something is so.

    Args:
        holds: What has to become true; another thread or process makes it so.
        ended: Ends the waiting.

    Returns:
        False where `ended` came first.

    Raises:
        AssertionError: It did not become so.
    """
    ended = ended or threading.Event()
    limit = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < limit, "it did not happen"
        if ended.wait(_GLANCE):
            return False
    return True


@contextmanager
def meanwhile(holds: Callable[[], object], do: Callable[[], object], *, rescue: Callable[[], object]) -> Iterator[None]:
    """Does something, in another thread, as soon as the body waits; the body has to end of it.

    Args:
        holds: Whether the body has come to where it waits.
        do: What ends the wait: sets a flag, sends a signal.
        rescue: Ends the wait where that did not.

    Raises:
        AssertionError: The body did not come there, or did not end before it was rescued.
    """
    ended, was_rescued = threading.Event(), threading.Event()

    def watch() -> None:
        if until(holds, ended=ended):
            do()
            if not ended.wait(LIMIT):
                was_rescued.set()
                rescue()

    thread = threading.Thread(target=watch, name="meanwhile")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert not was_rescued.is_set(), "the wait was not ended"
