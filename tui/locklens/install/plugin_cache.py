"""The plugin cache that the roots of a user share: packages are installed there, and linked to from the data folders.

OpenTofu locks a package's folder while it installs there, and so does locklens, with the same file; Terraform locks
nothing, so a package is always moved to its place when it is complete. The lock's file stays beside the package, under
both tools: a cache is theirs together, and OpenTofu may be waiting for a file that was removed.
"""

from __future__ import annotations

import os
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.install.folders import DataFolder
from locklens.install.limits import LIMITS
from locklens.packages import stop_if
from locklens.project.walking import TooManyFoldersError, walk
from locklens.storage.folder_lock import turn

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from locklens.project.cliconfig import CliConfig


_QUIET = 1.0
"""Seconds without a change after which a package counts as complete: unpacking writes all the time."""

_PATIENCE = 60.0
"""Seconds of waiting for that; after them the package is fetched."""

_GLANCE = 0.05


class PluginCache(Struct, frozen=True):
    """The plugin cache of a run.

    Attributes:
        folder: The packages.
        may_break_lock: True if a cached package counts for a provider without locked hashes.
    """

    folder: DataFolder
    may_break_lock: bool

    @classmethod
    def of(cls, config: CliConfig) -> PluginCache | None:
        """Return the cache that the settings name, None where they name none."""
        if not config.plugin_cache_dir:
            return None
        folder = DataFolder.of_cache(Path(config.plugin_cache_dir).absolute())
        return cls(folder, config.cache_may_break_lock)

    def turn(
        self, place: Path, *, cancel: threading.Event | None, on_waiting: Callable[[], None]
    ) -> AbstractContextManager[None]:
        """Wait until no other process installs a package; errors as of `locklens.storage.folder_lock.turn`."""
        return turn(*self.folder.turns_at(place), cancel=cancel, on_waiting=on_waiting, is_tofus=True)

    def settled_hashes(
        self, place: Path, *, cancel: threading.Event | None, on_waiting: Callable[[], None]
    ) -> frozenset[str]:
        """Return the hashes of a package that no process is installing any more, none where there is none.

        No locked hash can tell a package from the half of it. OpenTofu unpacks into the cache with its lock held;
        Terraform does without one, so that nothing may have changed there for a while.

        Raises:
            RunCancelledError: `cancel` was set.
        """
        if not place.is_dir():
            return frozenset()
        try:
            with self.turn(place, cancel=cancel, on_waiting=on_waiting):
                until = time.monotonic() + _PATIENCE
                while _age(place) < _QUIET:
                    stop_if(cancel)
                    if time.monotonic() > until:
                        return frozenset()
                    time.sleep(_GLANCE)
                return self.folder.hashes(place, cancel)
        except ConfigurationError:  # Where this user cannot write, as in an image, a lock is of no use.
            return self.folder.hashes(place, cancel)


def _age(place: Path) -> float:
    """Seconds since anything in a package changed; below zero where the clocks disagree, 0 where it cannot be told."""
    try:
        listed = walk(os.fspath(place), most=LIMITS.entries, enters=lambda *_: True)
        found = (os.path.join(place, each.path, name) for each in listed for name in ("", *each.files))  # noqa: PTH118
        changes = [os.lstat(path) for path in islice(found, LIMITS.entries)]
    except (OSError, TooManyFoldersError):
        return 0.0
    return time.time() - max((max(one.st_mtime, one.st_ctime) for one in changes), default=0.0)
