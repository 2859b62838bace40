"""One run of git that is bounded in memory, output and time. An interrupt ends it. What is asked is not known here."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from locklens.errors import RepositoryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

TIMEOUT = 120.0
"""Seconds that one question to git may take."""

PROCESSOR_SECONDS = 60
"""Processor time of one question, where the system has such a bound: a listing of a million files takes three seconds,
a comparison with a large work tree hashes every file that was touched."""

PATTERN_SECONDS = 10
"""Processor time of one question that matches paths against the repository's patterns: many `**` in a file of
attributes or of ignored names take git time that is exponential in their number."""

MEMORY_BYTES = 2 * 1024**3
"""Of a process of git, without the packs that it maps: those are read-only, and as large as the repository is."""

_CHUNK_BYTES = 64 * 1024
_COMPLAINT_BYTES = 64 * 1024
_GRACE = 0.5
"""Seconds for git to remove its lock files when it is ended."""


def start(
    words: Sequence[str], folder: str, environment: Mapping[str, str], *, stderr: int, process_group: int | None = None
) -> subprocess.Popen[bytes]:
    """Start git with pipes for its input and output, and with a bound on its memory where the system has one.

    Args:
        words: The command line.
        folder: Where it is run.
        environment: The whole environment.
        stderr: As of `subprocess.Popen`.
        process_group: As of `subprocess.Popen`; 0 for one of its own, out of reach of a terminal's Ctrl-C.

    Raises:
        RepositoryError: It cannot be started.
    """
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            process_group=process_group,
        )
    except (OSError, ValueError) as error:
        raise RepositoryError(f"git cannot be started: {error}") from error
    _limit_memory(process.pid)
    return process


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put an interrupt off until the end, so that no process is started that nothing knows of."""
    before = signal.getsignal(signal.SIGINT)
    # An interrupt is raised in the main thread alone. One that is left to the system, or ignored, raises nothing.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        before(*caught[0])


def _limit_memory(pid: int) -> None:
    """Bound the memory of a process that runs; on Linux alone, where that takes no code between fork and exec."""
    try:
        from resource import RLIMIT_DATA, prlimit
    except ImportError:
        return
    with suppress(OSError, ValueError):  # It ended already, or has a lower bound.
        prlimit(pid, RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def _limit_processor_time(pid: int, seconds: int) -> None:
    """Bound the processor time of a process that answers one question; on Linux alone, as for its memory."""
    try:
        from resource import RLIMIT_CPU, prlimit
    except ImportError:
        return
    with suppress(OSError, ValueError):
        prlimit(pid, RLIMIT_CPU, (seconds, seconds + 1))


def _limit_files(pid: int, size: int) -> None:
    """Bound the files that a process and its children write, in bytes; on Linux alone, as for its memory."""
    try:
        from resource import RLIMIT_FSIZE, prlimit
    except ImportError:
        return
    with suppress(OSError, ValueError):
        prlimit(pid, RLIMIT_FSIZE, (size, size))


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that may hold lock files: asked first, by force where it does not listen."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


class Run:
    """One run of git, as a context: what it prints is read piece by piece, and it has ended when the context is left.

    Args:
        words: The command line.
        folder: Where it is run.
        environment: The whole environment.
        given: Standard input.
        by_patterns: True if git matches paths against the repository's patterns, which takes the lower bound on its
            processor time.
        seconds: That it may take.
        file_bytes: Of the largest file that it may write, where the system has such a bound; 0 for any.
    """

    def __init__(
        self,
        words: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        given: bytes,
        *,
        by_patterns: bool = False,
        seconds: float = TIMEOUT,
        file_bytes: int = 0,
    ) -> None:
        self._words = words
        self._folder = folder
        self._environment = environment
        self._given = given
        self._processor_seconds = PATTERN_SECONDS if by_patterns else PROCESSOR_SECONDS
        self._seconds = seconds
        self._file_bytes = file_bytes
        self._complaint = bytearray()
        self._is_late = False
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog = threading.Timer(seconds, self._give_up)
        self._watchdog.daemon = True

    def __enter__(self) -> Run:
        """Start it.

        Raises:
            RepositoryError: It cannot be started.
        """
        try:
            with uninterrupted():
                self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        process = start(self._words, self._folder, self._environment, stderr=subprocess.PIPE)
        _limit_processor_time(process.pid, self._processor_seconds)
        if self._file_bytes:
            _limit_files(process.pid, self._file_bytes)
        assert process.stdout is not None
        self._process = process
        self._output = process.stdout.fileno()
        self._threads = [threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)]
        if self._given:
            self._threads.append(threading.Thread(target=self._give, args=(process.stdin,), daemon=True))
        elif process.stdin is not None:
            process.stdin.close()
        for thread in (*self._threads, self._watchdog):
            thread.start()

    def read(self) -> bytes:
        """Return the next bytes that git prints, b"" at the end.

        Raises:
            RepositoryError: It takes longer than it may.
        """
        data = os.read(self._output, _CHUNK_BYTES)
        if self._is_late:
            raise RepositoryError(f"git took longer than {self._seconds:.0f} seconds, and was ended")
        return data

    def ended(self) -> tuple[int, str]:
        """Wait for the end; return the exit status, and the first of what was printed on standard error.

        Raises:
            RepositoryError: It was ended for the processor time that it took.
        """
        assert self._process is not None
        status = self._process.wait()
        if status == -getattr(signal, "SIGXCPU", 0):
            words = f"git took more than {self._processor_seconds} seconds of processor time, and was ended"
            hint = "a pattern with many ** in .gitattributes or .gitignore is a possible cause"
            raise RepositoryError(words, hint=hint)
        for thread in self._threads:
            thread.join(_GRACE)  # A program that git started may have inherited the pipe, and live on.
        return status, self._complaint.decode("utf-8", "replace")

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        if self._process is not None:
            try:
                end(self._process)
            finally:
                assert self._process.stdout is not None
                self._process.stdout.close()

    def _give_up(self) -> None:
        assert self._process is not None
        self._is_late = True
        self._process.kill()

    def _give(self, pipe: IO[bytes]) -> None:
        with suppress(OSError), pipe:  # It may end before it has read all.
            pipe.write(self._given)

    def _listen(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError), pipe:
            while data := os.read(pipe.fileno(), _CHUNK_BYTES):
                self._complaint += data[: _COMPLAINT_BYTES - len(self._complaint)]
