"""The folder that packages are installed in: installed packages, and the atomic replacement of one.

A package is unpacked beside its place, and moved there when it is complete; the earlier contents are removed. So no
file that was added to a folder is ever taken for the provider's.

Files below the roots are controlled by the repository. No link there is followed on the way to a package's place; a
link in the place itself, as the tools make them into their plugin cache, is replaced as a link.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.hashes import hashes_of_files
from locklens.install.limits import LIMITS, unwritable
from locklens.packages.installed import hashed_folder
from locklens.storage.realfolders import Way, leads_through_link

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.storage.realfolders import RealFolder
    from locklens.versions import Version

_STAGING = ".locklens-"
"""Prefix of the staging folders beside a place. The tools look for OS_ARCH there."""

_PACKAGE, _BEFORE = "package", "before"


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

    @classmethod
    def of(cls, root: Path, path: Path) -> DataFolder:
        """Return the data folder at a path, of a root; a path below the root begins as the root's does."""
        names = path.relative_to(root).parts if path.is_relative_to(root) else ("..",)
        return cls(path, ()) if ".." in names else cls(root, names)

    @classmethod
    def of_cache(cls, path: Path) -> DataFolder:
        """Return the plugin cache at a path."""
        return cls(path, (), packages="")

    def turns_at(self, place: Path) -> tuple[Path, tuple[str, ...]]:
        """The place of the lock that OpenTofu takes for a package of a plugin cache; as of `turns`."""
        return self._trusted, (*self._way_to(place), f"{place.name}.lock")

    @property
    def packages(self) -> Path:
        """The folder that packages are in."""
        return self._trusted.joinpath(*self._names, *self._packages)

    @property
    def turns(self) -> tuple[Path, tuple[str, ...]]:
        """The place of the lock that processes wait for; see `locklens.storage.folder_lock`."""
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
        """Return the hashes of the package at a place, none where there is none; errors as of `has`."""
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
                way = Way(self._trusted, self._way_to(place))
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
    """A private folder beside a package's place.

    Attributes:
        package: The folder to unpack it in.
    """

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
    """Return the hashes of the package installed at a place, none where there is none.

    Raises:
        RunCancelledError: `cancel` was set.
    """
    try:
        return hashed_folder(place, limit=LIMITS, cancel=cancel).of_files if place.is_dir() else frozenset()
    except (OSError, ValueError):
        return frozenset()
