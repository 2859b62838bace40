"""Looks at the files on disk that a screen was made from, now and then."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.project import LOCK_FILE
from locklens.ui.shell import Job, Run, Throttle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.dom import DOMNode

    from locklens.errors import LockLensError
    from locklens.project.folders import FileWatch

LOOK_SECONDS = 1.0
"""The time between two looks."""


class DiskLook:
    """Polls a watch on a thread of `owner`, one look at a time; slow disks are looked at less often."""

    def __init__(self, owner: DOMNode, fail: Callable[[LockLensError], object]) -> None:
        self._job = Job(owner, "watch")
        self._throttle = Throttle(0)
        self._fail = fail

    def look(self, watch: FileWatch, take: Callable[[tuple[str, ...]], object]) -> None:
        """Poll a watch, and hand the files that changed to `take`; skipped while a look is running or too early."""

        def poll(_: Run) -> tuple[str, ...]:
            began = time.monotonic()
            paths = watch.poll()
            self._throttle.took(began, time.monotonic())
            return paths

        if not self._job.is_running and not self._throttle.wait(time.monotonic()):
            self._job.start(poll, take, self._fail)


def names_of_files(paths: Iterable[str], top: Path | None) -> tuple[str, ...]:
    """Names of changed files, lock files alone if one is among them: the path below `top`, else or in git the name."""
    names: dict[str, bool] = {}
    for path in map(Path, paths):
        below = path.relative_to(top) if top is not None and path.is_relative_to(top) else None
        is_own = below is not None and below.parts[0] != ".git"
        names[below.as_posix() if below is not None and is_own else path.name] = path.name == LOCK_FILE
    return tuple(name for name, is_lock in names.items() if is_lock or not any(names.values()))
