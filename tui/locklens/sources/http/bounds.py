"""Until when a request may take, and whether the run goes on: both transports ask it each time they wait."""

from __future__ import annotations

import math
import threading
import time

from locklens.errors import RunCancelledError

GLANCE = 0.1
"""Seconds between two looks at whether the run was cancelled."""


class Bounds(threading.local):
    """Until when the current thread may wait: an answer is read by the thread that asked, so each has its own."""

    deadline: float = math.inf

    def __init__(self, cancel: threading.Event) -> None:
        self.cancel = cancel

    def left(self, timeout: float | None = None) -> float:
        """Seconds until the deadline, or `timeout` where that is sooner.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        if self.cancel.is_set():
            raise RunCancelledError("the run was cancelled")
        left = max(self.deadline - time.monotonic(), 0.0)
        return left if timeout is None else min(left, timeout)
