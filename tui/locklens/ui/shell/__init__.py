"""Common parts of all screens: bars, keys, the review loader, panes.

Here is their background work: jobs on threads, timers, and the throttle of updates that arrive from them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from textual.worker import Worker, get_current_worker

from locklens.errors import LockLensError, RunCancelledError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from textual.dom import DOMNode
    from textual.message_pump import MessagePump
    from textual.timer import Timer

ResultT = TypeVar("ResultT")


class Job:
    """Work on a thread for a screen or a widget, one run at a time: a new run replaces the earlier one.

    Whatever a run tells is handed over on the owner's event loop, and dropped once the run is replaced or stopped; the
    owner's removal cancels it. Each job of an owner has a name of its own.
    """

    def __init__(self, owner: DOMNode, name: str) -> None:
        self.owner = owner
        self.run: Run | None = None
        """The run in progress; None before the first, after its end, and after `stop`."""
        self.runs = 0
        """The number of runs that were started."""
        self._name = name
        self._worker: Worker[None] | None = None

    @property
    def is_running(self) -> bool:
        """True from the start of a run until its result or its error is handed over."""
        return self.run is not None

    def start(
        self, work: Callable[[Run], ResultT], take: Callable[[ResultT], object], fail: Callable[[LockLensError], object]
    ) -> None:
        """Start a run in place of the earlier one: `work` on a thread, then `take` or `fail` on the event loop.

        A RunCancelledError of the work ends the run without a word.
        """
        self.runs += 1
        run = self.run = Run(self)
        act = partial(self._act, run, work, take, fail)
        self._worker = self.owner.run_worker(act, thread=True, exclusive=True, group=self._name)

    def cancel(self) -> None:
        """Ask the run to end soon; what it still tells is handed over."""
        if self._worker is not None:
            # Not `Worker.cancel`: a thread that waits for its start would never run, and nothing would be handed over.
            self._worker.cancelled_event.set()

    def stop(self) -> None:
        """Cancel the run, and drop whatever it still tells."""
        self.run = None
        self.cancel()

    def _act(
        self,
        run: Run,
        work: Callable[[Run], ResultT],
        take: Callable[[ResultT], object],
        fail: Callable[[LockLensError], object],
    ) -> None:
        run.cancel = get_current_worker().cancelled_event
        try:
            result = work(run)
        except RunCancelledError:
            return
        except LockLensError as error:
            run.tell(self._end, partial(fail, error))
        else:
            run.tell(self._end, partial(take, result))

    def _end(self, hand_over: Callable[[], object]) -> None:
        self.run = None
        hand_over()


class Run:
    """One run of a job, for the work on the thread; `cancel` is set once the run is cancelled or replaced."""

    cancel: threading.Event

    def __init__(self, job: Job) -> None:
        self._job = job

    def tell(self, callback: Callable[..., object], *arguments: object) -> None:
        """Call `callback` on the event loop, after what was told before; not if the run is replaced or stopped."""
        self._job.owner.call_later(self._deliver, partial(callback, *arguments))

    def _deliver(self, callback: Callable[[], object]) -> None:
        if self._job.run is self:
            callback()


def after(node: MessagePump, seconds: float, callback: Callable[[], object]) -> Timer:
    """Call `callback` once, after at least `seconds`, unless the timer is stopped.

    `MessagePump.set_timer` skips overdue ticks, even the only one: while the loop is busy for longer than `seconds`,
    its callback is never called. An interval is late, never lost.
    """

    def fire() -> None:
        timer.stop()
        callback()

    timer = node.set_interval(seconds, fire)
    return timer


_SHARE = 4
"""Rebuilds take at most 1/(_SHARE + 1) of the time, so that the UI stays responsive."""


class Throttle:
    """Keeps rebuilds apart: by `seconds` at least, from start to start. The clock is the caller's."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds to wait before the next rebuild."""
        return max(0.0, self._next - now)

    def took(self, began: float, ended: float) -> None:
        """Record a rebuild."""
        self._next = ended + max(self._seconds - (ended - began), _SHARE * (ended - began))
