"""A lock that several processes take turns at, and that ends with the process that holds it, however that ends."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_POLL_SECONDS = 0.05


@contextmanager
def exclusive(path: Path, *, wait: float) -> Iterator[bool]:
    """Holds a lock while the `with` statement runs.

    Args:
        path: A file that stands for the lock, in a folder that exists; it is made, and stays.
        wait: Seconds to wait for another process.

    Yields:
        Whether the lock is held; another process has it otherwise.

    Raises:
        OSError: The file cannot be used.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        until = time.monotonic() + wait
        is_held = _take(descriptor)
        while not is_held and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            is_held = _take(descriptor)
        yield is_held
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    """Takes the lock if nobody has it; closing the file gives it back."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
