"""Hashes packages on all processors: in the order that takes the least time, and each package once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from locklens.packages import LIMITS
from locklens.packages.contents import PROCESSORS

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from locklens.operations.verification.model import PackagePlace

_Result = TypeVar("_Result")


def same_packages(places: Iterable[PackagePlace]) -> list[list[int]]:
    """Return the numbers of places, those that links lead to the same package together, the largest package first.

    A large package that is begun last would keep one processor busy while the others have nothing left to do.
    """
    found: dict[tuple[str, int], list[int]] = {}
    sizes: dict[tuple[str, int], int] = {}
    for number, place in enumerate(places):
        key = ("", number) if place.path is None else (os.path.realpath(place.path), 0)
        found.setdefault(key, []).append(number)
        if key not in sizes:
            sizes[key] = 0 if place.path is None else _size(place.path, is_folder=place.is_folder)
    return [found[key] for key in sorted(found, key=lambda key: -sizes[key])]


def on_all_processors(
    work: Callable[[list[int]], _Result], groups: Iterable[list[int]], cancel: threading.Event
) -> Iterator[_Result]:
    """Yield the result of `work` for each group, in their order.

    Hashing lets other threads run, so one thread for each processor keeps all of them busy; more would only take more
    memory.

    Args:
        work: Looks at `cancel` between blocks.
        groups: What to work on, begun in their order.
        cancel: Is set where this ends early, since nothing waits for the threads then.
    """
    pool = ThreadPoolExecutor(PROCESSORS, "locklens-hash")
    is_done = False
    try:
        yield from pool.map(work, groups)
        is_done = True
    finally:
        if not is_done:
            cancel.set()
        pool.shutdown(wait=is_done, cancel_futures=True)


def _size(path: Path, *, is_folder: bool) -> int:
    """The bytes of a zip file or of a package's files at its top, where the program is; 0 where it cannot be told."""
    size = 0
    with suppress(OSError):
        if not is_folder:
            return path.stat().st_size
        with os.scandir(path) as entries:
            for entry in islice(entries, LIMITS.entries):
                with suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_size
    return size
