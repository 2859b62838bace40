"""Installs providers and locks them as Terraform and OpenTofu do. Here: the folders that packages are installed in.

Nothing below writes a lock file: entries are returned to the caller. The folders are the data folders of roots, and the
plugin cache that they share. A package is unpacked beside its place, and moved there when it is complete; the earlier
contents are removed. So no file that was added to a folder is ever taken for the provider's.

Files below the roots are controlled by the repository. No link there is followed on the way to a package's place; a
link in the place itself, as the tools make them into their plugin cache, is replaced as a link.

OpenTofu locks a package's folder while it installs in the plugin cache, and so does locklens, with the same file;
Terraform locks nothing, so a package is always moved to its place when it is complete. The lock's file stays beside
the package, under both tools: a cache is theirs together, and OpenTofu may be waiting for a file that was removed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.hashes import hashes_of_files
from locklens.packages import LIMITS, stop_if
from locklens.packages.installed import hashed_folder
from locklens.project.folders import TooManyFoldersError, walk
from locklens.storage.files import OpenFolders, RealFolder, exclusive_lock, leads_through_link
from locklens.text import disk_advice

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from locklens.addresses import Platform, ProviderAddress
    from locklens.project.cliconfig import CliConfig
    from locklens.versions import Version


_STAGING = ".locklens-"
"""Prefix of the staging folders beside a place. The tools look for OS_ARCH there."""

_PACKAGE, _BEFORE = "package", "before"

_QUIET = 1.0
"""Seconds without a change after which a package counts as complete: unpacking writes all the time."""

_PATIENCE = 60.0
"""Seconds of waiting for that; after them the package is fetched."""

_GLANCE = 0.05


def unwritable(folder: Path, error: OSError) -> ConfigurationError:
    """Return the error for a folder that packages cannot be written to."""
    reason = error.strerror or str(error)
    return ConfigurationError(f"cannot be written: {reason}", path=str(folder), hint=disk_advice(error))


class DataFolder:
    """The tools' data folder of one root, usually `.terraform`, or their plugin cache.

    Args:
        trusted: The innermost folder on the way to it that the user named and not the repository: the root, or
            TF_DATA_DIR where that is not below the root.
        names: Names of the folders from there to it. Neither it nor they need exist.
        packages: The folder in it that packages are in; "" for itself.
    """

    def __init__(self, trusted: Path, names: tuple[str, ...], packages: str = "providers") -> None:
        self._trusted = trusted
        self._names = names
        self._packages = (packages,) if packages else ()
        self._lock = threading.Lock()
        self._made = set[Path]()

    @classmethod
    def of(cls, root: Path, path: Path) -> DataFolder:
        """Return the data folder at a path, of a root; a path below the root begins as the root's does."""
        names = path.relative_to(root).parts if path.is_relative_to(root) else ("..",)
        return cls(path, ()) if ".." in names else cls(root, names)

    @classmethod
    def of_cache(cls, path: Path) -> DataFolder:
        """Return the plugin cache at a path."""
        return cls(path, (), packages="")

    def lock_place_at(self, place: Path) -> tuple[Path, tuple[str, ...]]:
        """The place of the lock that OpenTofu takes for a package of a plugin cache, in the form of `lock_place`."""
        return self._trusted, (*self._way_to(place), f"{place.name}.lock")

    @property
    def packages(self) -> Path:
        """The folder that packages are in."""
        return self._trusted.joinpath(*self._names, *self._packages)

    @property
    def lock_place(self) -> tuple[Path, tuple[str, ...]]:
        """The place of the lock that processes wait for; see `locklens.storage.files`."""
        return self._trusted, (*self._names, ".locklens.lock")

    def place(self, address: ProviderAddress, version: Version, platform: Platform) -> Path:
        """Return the place of a package."""
        names = (*self._names, *self._packages, *str(address).split("/"), str(version), str(platform))
        return self._trusted.joinpath(*names)

    def has(self, place: Path, hashes: Collection[str], cancel: threading.Event | None = None) -> bool:
        """True if the folder at a place has one of the hashes; only those of files can be compared with a folder.

        Raises:
            RunCancelledError: `cancel` was set.
        """
        of_files = hashes_of_files(hashes)
        return bool(of_files) and not of_files.isdisjoint(self.hashes(place, cancel))

    def hashes(self, place: Path, cancel: threading.Event | None = None) -> frozenset[str]:
        """Return the hashes of the package at a place, none if there is no package; errors as in `has`."""
        is_elsewhere = leads_through_link(self._trusted, self._way_to(place))
        return frozenset() if is_elsewhere else hashes_at(place, cancel)

    @contextmanager
    def staging(self, place: Path) -> Iterator[Staging]:
        """Make a staging folder beside a place, and remove it at the end, with those of killed runs.

        Raises:
            ConfigurationError: It cannot be made, or a link is on the way to it.
        """
        prefix = f"{_STAGING}{place.name}-"
        try:
            with self._lock:
                way = OpenFolders(self._trusted, self._way_to(place), self._made)
                beside = way.end
                for left in beside.names():
                    if left.startswith(prefix):
                        beside.remove_tree(left)
                name = prefix + secrets.token_hex(8)
                beside.make(name, 0o700)
        except OSError as error:
            raise unwritable(place.parent, error) from error
        with way:
            try:
                with beside.enter(name) as folder:
                    yield Staging(folder, beside, place)
            finally:
                with self._lock:  # No other thread may be using a folder that is about to be removed.
                    beside.remove_tree(name)
                    way.tidy()

    def _way_to(self, place: Path) -> tuple[str, ...]:
        return place.parent.relative_to(self._trusted).parts


class Staging:
    """A private folder beside a package's place, with one in it to unpack the package in."""

    def __init__(self, own: RealFolder, beside: RealFolder, place: Path) -> None:
        self._own = own
        self._beside = beside
        self._place = place
        self.package = own.path / _PACKAGE

    def link(self, target: Path) -> None:
        """Make the package a link to an unpacked one elsewhere, or its copy where there are no links.

        Raises:
            ConfigurationError: It can be neither, or is that package already.
        """
        try:
            if self._place.is_dir() and not self._place.is_symlink() and self._place.samefile(target):
                hint = "name another folder: the packages of a mirror cannot be installed in their own place"
                raise ConfigurationError("is the mirror's own package", path=str(self._place), hint=hint)
            try:
                self._own.link(_PACKAGE, target)
            except OSError:
                shutil.copytree(target, self.package)
        except (OSError, shutil.Error) as error:
            reason = OSError(0, str(error)) if isinstance(error, shutil.Error) else error
            raise unwritable(self._place, reason) from error

    def put(self) -> None:
        """Move the package to its place; the earlier contents are removed with the staging folder.

        Raises:
            ConfigurationError: The move failed; the earlier contents are back in place.
        """
        leaf = self._place.name
        try:
            had = self._beside.status(leaf) is not None
            if had:
                self._beside.move(leaf, self._own, _BEFORE)
            try:
                self._own.move(_PACKAGE, self._beside, leaf)
            except OSError:
                if had:
                    self._own.move(_BEFORE, self._beside, leaf)
                raise
        except OSError as error:
            raise unwritable(self._place, error) from error


def hashes_at(place: Path, cancel: threading.Event | None = None) -> frozenset[str]:
    """Return the hashes of the package installed at a place, none if there is no package.

    Raises:
        RunCancelledError: `cancel` was set.
    """
    try:
        return hashed_folder(place, cancel=cancel).of_files if place.is_dir() else frozenset()
    except (OSError, ValueError):
        return frozenset()


class PluginCache(Struct, frozen=True):
    """The plugin cache of a run.

    Attributes:
        may_break_lock: True if a cached package counts for a provider without locked hashes.
    """

    folder: DataFolder
    may_break_lock: bool

    @classmethod
    def of(cls, config: CliConfig) -> PluginCache | None:
        """Return the cache that the settings name, None if they name none."""
        if not config.plugin_cache_dir:
            return None
        folder = DataFolder.of_cache(Path(config.plugin_cache_dir).absolute())
        return cls(folder, config.cache_may_break_lock)

    def exclusive_lock(
        self, place: Path, *, cancel: threading.Event | None, on_waiting: Callable[[], None]
    ) -> AbstractContextManager[None]:
        """Wait until no other process installs a package; errors as in `locklens.storage.files.exclusive_lock`."""
        return exclusive_lock(
            *self.folder.lock_place_at(place), cancel=cancel, on_waiting=on_waiting, is_shared_with_opentofu=True
        )

    def settled_hashes(
        self, place: Path, *, cancel: threading.Event | None, on_waiting: Callable[[], None]
    ) -> frozenset[str]:
        """Return the hashes of a package once no process installs it any more; none if there is no package.

        Without a locked hash, a package cannot be distinguished from an incomplete one. OpenTofu holds a lock while it
        unpacks into the cache. Terraform takes none, so nothing may have changed there for a while.

        Raises:
            RunCancelledError: `cancel` was set.
        """
        if not place.is_dir():
            return frozenset()
        try:
            with self.exclusive_lock(place, cancel=cancel, on_waiting=on_waiting):
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
    """Seconds since anything in a package changed; below zero where the clocks disagree, 0 where it cannot be known."""
    try:
        listed = walk(os.fspath(place), most=LIMITS.entries, enters=lambda *_: True)
        found = (os.path.join(place, each.path, name) for each in listed for name in ("", *each.files))  # noqa: PTH118
        changes = [os.lstat(path) for path in islice(found, LIMITS.entries)]
    except (OSError, TooManyFoldersError):
        return 0.0
    return time.time() - max((max(one.st_mtime, one.st_ctime) for one in changes), default=0.0)
