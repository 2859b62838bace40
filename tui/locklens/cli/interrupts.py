"""Ctrl-C ends a command wherever the main thread is.

Python's own handling loses an interrupt, and the command then runs on until its work ends by itself:

- It raises KeyboardInterrupt between two instructions of the main thread. A signal that arrives after the last of them
  and before the system call of a wait (on a loaded machine milliseconds: a thread that gives up the interpreter's lock
  is likely to lose the processor too), or that the system delivers to another thread, does not end that wait.
- In a destructor or another callback of the interpreter, KeyboardInterrupt is reported and dropped, and so is the
  SystemExit that a handler of another signal raises. Extension modules, and the interpreter where it looks something
  up, drop exceptions without a report.
- While a class is made, and while a wait takes its lock back, KeyboardInterrupt becomes a RuntimeError.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_AGAIN_SECONDS = 0.05
"""Seconds between two attempts to wake the main thread; the first may come before its system call too."""

_LOST_ATTEMPTS = 20
"""Attempts, a second of them, after which an interrupt that has not ended the block was dropped: tidying up takes less
(see `Session`), and has to endure a second interrupt in any case, because impatient users send one."""

_CHUNK_BYTES = 4096

_ENDS = frozenset(getattr(signal, name, signal.SIGINT) for name in ("SIGINT", "SIGTERM", "SIGHUP"))
"""Signals that end a command where it handles them; the system ends it where it does not."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt end each wait of the block, and send it again while it has not ended the block.

    It does nothing in other threads than the main one, where interrupts are ignored or left to the system (as for a
    command in the background of a shell), and on systems without signals for threads.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "pthread_kill") or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    watch = _Watch()
    watch.begin()
    try:
        yield
    except RuntimeError as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    finally:
        watch.end()


class _Watch:
    """A thread that learns of each signal from the interpreter's own handler, which runs at once in any thread.

    After one that ends the command it wakes the main thread, until the block ends: SIGURG has a handler here that does
    nothing, and so its one effect is that a system call returns, and the interpreter looks for signals. Nothing else
    uses it, and the system ignores it where it has no handler. SIGINT itself is sent again more rarely.
    """

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="locklens-interrupts", daemon=True)

    def begin(self) -> None:
        """Start, in the main thread."""
        self._told, self._teller = os.pipe()
        os.set_blocking(self._teller, False)  # As `signal.set_wakeup_fd` demands.
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._dropped
        self._handler = signal.signal(signal.SIGURG, lambda *_: None)
        self._thread.start()
        self._teller_before = signal.set_wakeup_fd(self._teller, warn_on_full_buffer=False)

    def end(self) -> None:
        """Stop, and leave everything as it was."""
        self._is_over.set()
        signal.set_wakeup_fd(self._teller_before)
        os.close(self._teller)
        self._thread.join()
        os.close(self._told)
        signal.signal(signal.SIGURG, self._handler)
        sys.unraisablehook = self._hook

    def _dropped(self, problem: sys.UnraisableHookArgs) -> None:
        if not issubclass(problem.exc_type, KeyboardInterrupt | SystemExit):  # Those are sent again: no report.
            self._hook(problem)

    def _run(self) -> None:
        while data := os.read(self._told, _CHUNK_BYTES):
            if not _ENDS.isdisjoint(data):
                break
        attempts = 0
        while data and not self._is_over.wait(_AGAIN_SECONDS):
            attempts += 1
            is_lost = attempts % _LOST_ATTEMPTS == 0
            signal.pthread_kill(self._main, signal.SIGINT if is_lost else signal.SIGURG)
