"""Lets one process at a time work on a folder. The lock is the system's, so it ends with the process that has it."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, RunCancelledError
from locklens.storage.realfolders import Way
from locklens.text import disk_advice

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from locklens.storage.realfolders import RealFolder

_LOCK_FILE = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_GLANCE = 0.05
_SAY_AFTER = 2.0
"""Seconds of waiting after which it is worth a word."""


@contextmanager
def turn(
    top: Path,
    names: Sequence[str],
    *,
    cancel: threading.Event | None = None,
    on_waiting: Callable[[], None] = lambda: None,
    is_tofus: bool = False,
) -> Iterator[None]:
    """Wait until no other process has its turn, and keep others waiting until the block ends.

    Args:
        top: A trusted folder; no link below it is followed.
        names: Of the folders below it, and of the file in the last of them that stands for what is worked on. What is
            missing is made; the folders stay, and the file is removed again.
        cancel: Ends the waiting.
        on_waiting: Called once, when the waiting has become long.
        is_tofus: True for a lock that OpenTofu takes too (internal/flock): one process at a time has it, and the
            threads of a process do not exclude each other. Its file stays, as OpenTofu may be waiting for it and would
            not look whether it is still there.

    Raises:
        ConfigurationError: The file cannot be made, or it or a folder on the way to it is a link.
        RunCancelledError: `cancel` was set.
    """
    *folders, file = names
    start, has_said = time.monotonic(), False

    def wait() -> None:
        nonlocal has_said
        if cancel is not None and cancel.is_set():
            raise RunCancelledError("the run was cancelled")
        if not has_said and time.monotonic() - start > _SAY_AFTER:
            has_said = True
            on_waiting()
        time.sleep(_GLANCE)

    with ExitStack() as opened:
        try:
            folder = opened.enter_context(Way(top, folders)).end
            descriptor = _held(folder, file, wait, is_tofus=is_tofus)
        except OSError as error:
            hint = disk_advice(error)
            place = str(top.joinpath(*folders))
            raise ConfigurationError(f"cannot be written: {error.strerror}", path=place, hint=hint) from error
        try:
            yield
        finally:
            # Where an open file cannot be removed, it is closed first: whoever opens it in between keeps it there.
            ends = [partial(folder.remove, file), partial(os.close, descriptor)]
            for end in ends[is_tofus:] if os.name == "posix" else reversed(ends[is_tofus:]):
                with suppress(OSError):
                    end()


def _held(folder: RealFolder, file: str, wait: Callable[[], None], *, is_tofus: bool) -> int:
    """Return the descriptor of a file that this process has, and that still has its name: others remove theirs."""
    while True:
        descriptor = folder.open(file, _LOCK_FILE, 0o644)
        try:
            while not (_taken_as_tofu if is_tofus else _taken)(descriptor):
                wait()
            named = folder.status(file)
            if is_tofus or (named is not None and os.path.samestat(named, os.fstat(descriptor))):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


@contextmanager
def turn_within(path: Path, seconds: float) -> Iterator[bool]:
    """Do so for a while, and yield whether it is this process's turn then.

    Args:
        path: A file that stands for what is worked on, in a folder that exists.
        seconds: How long to wait at most.

    Raises:
        OSError: The file cannot be used.
    """
    descriptor = os.open(path, _LOCK_FILE | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        until = time.monotonic() + seconds
        while not (is_held := _taken(descriptor)) and time.monotonic() < until:
            time.sleep(_GLANCE)
        yield is_held
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _taken(descriptor: int) -> bool:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    _taken_as_tofu = _taken

else:

    def _taken_as_tofu(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _taken(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
