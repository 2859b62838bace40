"""A second thread that does the other half of the work: one inflates while the other one hashes.

Hashing and inflating let other threads run, so that two threads use two cores.
"""

from __future__ import annotations

import threading
from queue import Queue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

_WAITING = 8
"""Blocks on their way from one thread to the other: what bounds the memory."""


class SecondThread:
    """Does what it is told, in order, in a thread of its own; a context manager, at whose end the thread is gone.

    The first error of the thread is raised by the next call, and nothing is done after it.
    """

    def __init__(self) -> None:
        self._tasks: Queue[Callable[[], object] | None] = Queue(_WAITING)
        self._error: BaseException | None = None
        self._is_stopped = False
        self._thread = threading.Thread(target=self._work, name="package", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_stopped = True
        self._tasks.put(None)
        self._thread.join()

    def do(self, task: Callable[[], object]) -> None:
        """Puts a task behind the others; waits while too many do."""
        self._tasks.put(task)
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Waits until all that was put is done."""
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
