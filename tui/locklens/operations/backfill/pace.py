"""Keeps to a rate for each host, and to the pauses that a host asks for; all threads of a process share it."""

from __future__ import annotations

import threading
import time

from locklens.errors import RunCancelledError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from locklens.operations.backfill.model import FetchSettings


class _Host:
    """When a host may be asked again, and when its next byte may be read: moments of the monotonic clock."""

    def __init__(self) -> None:
        self.request = self.byte = self.pause = 0.0


class Pace:
    """The pace of downloads, host by host; waits end at once where the run is cancelled.

    A host is the one that the metadata names; what it redirects to counts as its own.

    Args:
        settings: The rates.
        cancel: Set by another thread to stop.
    """

    def __init__(self, settings: FetchSettings, cancel: threading.Event) -> None:
        self._settings = settings
        self._cancel = cancel
        self._lock = threading.Lock()
        self._hosts: dict[str, _Host] = {}
        self._current = threading.local()

    def adapt(self, settings: FetchSettings) -> None:
        """Go on with other rates."""
        with self._lock:
            self._settings = settings

    def begin(self, name: str) -> None:
        """Wait until the host may be asked for one more package; the thread downloads from it then.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        with self._lock:
            host = self._current.host = self._hosts.setdefault(name, _Host())
            if self._settings.request_rate:
                turn = max(host.request, time.monotonic())
                host.request = turn + 1 / self._settings.request_rate
                self._current.turn = turn
            else:
                self._current.turn = 0.0
        self._wait_until(self._current.turn)
        self._wait_out(host)

    def take(self, count: int) -> None:
        """Wait as long as these bytes of the current download take at the host's rate.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        if not self._settings.bytes_rate:
            return
        host: _Host = self._current.host
        with self._lock:
            host.byte = max(host.byte, time.monotonic()) + count / self._settings.bytes_rate
            turn = host.byte
        self._wait_until(turn)

    def hold(self, seconds: float) -> None:
        """Let no thread begin anything with the current download's host for some time, as the host asked."""
        host: _Host = self._current.host
        with self._lock:
            host.pause = max(host.pause, time.monotonic() + seconds)

    def rest(self, seconds: float) -> None:
        """Wait in this thread alone.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        self._wait_until(time.monotonic() + seconds)

    def _wait_out(self, host: _Host) -> None:
        while (pause := host.pause) > time.monotonic():
            self._wait_until(pause)

    def _wait_until(self, moment: float) -> None:
        seconds = moment - time.monotonic()
        if self._cancel.wait(seconds) if seconds > 0 else self._cancel.is_set():
            raise RunCancelledError("the run was cancelled")
