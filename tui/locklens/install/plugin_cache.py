"""The plugin cache that the roots of a user share: packages are installed there, and linked to from the data folders.

OpenTofu locks a package's folder while it installs there, and so does locklens, with the same file; Terraform locks
nothing, so a package is always moved to its place when it is complete.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.install.folders import DataFolder
from locklens.storage.folder_lock import turn

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from locklens.project.cliconfig import CliConfig


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
