"""A second thread that does the other half of the work: one inflates while the other one hashes.

Hashing and inflating let other threads run, so that two threads use two cores. Where other packages keep the processors
busy anyway, there is none: handing blocks from one processor to another costs more than it brings.
"""

from __future__ import annotations

import os
import threading
from queue import Queue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

_WAITING = 8
"""Blocks on their way from one thread to the other: what bounds the memory."""

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Those that this process may use."""


class _Packages:
    """The number of packages in work."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.Lock()


_PACKAGES = _Packages()


class SecondThread:
    """Does what it is told, in order, in a thread of its own; a context manager, at whose end the thread is gone.

    The first error of the thread is raised by the next call, and nothing is done after it. While there are as many
    packages at work as processors, the calling thread does it itself.
    """

    def __init__(self) -> None:
        self._tasks: Queue[Callable[[], object] | None] = Queue(_WAITING)
        self._error: BaseException | None = None
        self._is_stopped = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        with _PACKAGES.lock:
            _PACKAGES.count += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _PACKAGES.lock:
            _PACKAGES.count -= 1
        self._is_stopped = True
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join()

    def do(self, task: Callable[[], object]) -> None:
        """Put a task behind the others, or do it; wait while too many do."""
        if _PACKAGES.count >= PROCESSORS and not self._tasks.unfinished_tasks and self._error is None:
            task()
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="package", daemon=True)
            self._thread.start()
        self._tasks.put(task)
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Wait until all that was put is done."""
        self._tasks.join()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not self._is_stopped:
                try:
                    task()
                except BaseException as error:  # noqa: BLE001 - it is raised in the other thread
                    self._error = error
                    self._is_stopped = True
            del task
            self._tasks.task_done()
