"""A folder of packages, packed or unpacked, in the layout of the tools.

    HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip
    HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/

Other names are ignored, links to folders above the platform are not followed, and packages may be links, as with the
tools (internal/getproviders/filesystem_search.go).
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import (
    LEGACY_NAMESPACE,
    Platform,
    ProviderAddress,
    normalise_host,
    normalise_namespace,
    normalise_part,
)
from locklens.errors import PlatformNotSupportedError, ProviderNotFoundError, UnavailableError
from locklens.sources.http.values import Transfer
from locklens.sources.metadata import ListedVersion, RegistryVersions
from locklens.sources.unsigned import Unsigned, unsigned_package
from locklens.versions import Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.sources.metadata import PackageMetadata

_MOST_NAMES = 200_000
"""Names that are looked at below one folder; a mirror of every public provider's newest version has 60,000."""

_BLOCK = 1 << 20
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class MirroredPackage(Struct, frozen=True):
    """A package in a folder; `is_folder` is True for an unpacked one."""

    address: ProviderAddress
    version: Version
    platform: Platform
    path: Path
    is_folder: bool


class FilesystemMirror(Unsigned):
    """A folder of packages, which is searched once. Thread-safe.

    Args:
        folder: The folder; links to it are followed.
        shown: How messages name it.
    """

    def __init__(self, folder: Path, shown: str = "") -> None:
        self._folder = folder
        self._shown = shown or str(folder)
        self._lock = threading.Lock()
        self._found: dict[ProviderAddress, tuple[MirroredPackage, ...]] | OSError | None = None

    def __str__(self) -> str:
        return self._shown

    @property
    def packages(self) -> Mapping[ProviderAddress, tuple[MirroredPackage, ...]]:
        """The packages of each provider; of one version and platform the first counts.

        Raises:
            UnavailableError: The folder cannot be searched.
        """
        with self._lock:
            if self._found is None:
                try:
                    self._found = search(self._folder)
                except OSError as error:
                    self._found = error
        if isinstance(self._found, OSError):
            words = f"cannot search {self}: {self._found.strerror or self._found}"
            raise UnavailableError(words, source=str(self), hint="check the path in the settings")
        return self._found

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:  # noqa: ARG002
        """Return the versions that are there, for any platform; errors as of `Source`."""
        platforms: dict[Version, list[Platform]] = {}
        for one in self.packages.get(address, ()):
            platforms.setdefault(one.version, []).append(one.platform)
        if not platforms:
            raise ProviderNotFoundError(f"{self} does not have {address}", source=str(self), address=str(address))
        listed = (ListedVersion(version, (), tuple(dict.fromkeys(each))) for version, each in platforms.items())
        return RegistryVersions(tuple(listed), ())

    def package(
        self,
        address: ProviderAddress,
        version: Version,
        platform: Platform,
        *,
        is_fresh: bool = False,  # noqa: ARG002
    ) -> PackageMetadata:
        """Return where a package is; errors as of `Source`."""
        for one in self.packages.get(address, ()):
            if (one.version, one.platform) == (version, platform):
                return unsigned_package(address, version, platform, path=one.path, is_folder=one.is_folder)
        words = f"{self} does not have a package of {address} {version} for {platform}"
        raise PlatformNotSupportedError(words, source=str(self), address=str(address))

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a zip file; None for a folder; errors as of `Source`."""
        try:
            return None if metadata.is_folder or metadata.path is None else metadata.path.stat().st_size
        except OSError as error:
            raise self._unreadable(metadata, error) from error

    @contextmanager
    def open_package(self, metadata: PackageMetadata) -> Iterator[Transfer]:
        """Open a zip file, which is not trusted to remain as it is; errors as of `Source`."""
        assert metadata.path is not None
        try:
            with opened_zip(metadata.path) as transfer:
                yield transfer
        except OSError as error:
            raise self._unreadable(metadata, error) from error

    def _unreadable(self, metadata: PackageMetadata, error: OSError) -> UnavailableError:
        words = f"{metadata.path} cannot be read: {error.strerror or error}"
        return UnavailableError(words, source=str(self), address=str(metadata.address))


@contextmanager
def opened_zip(path: Path) -> Iterator[Transfer]:
    """Open a zip file on disk, or what a link leads to.

    Raises:
        OSError: It cannot be opened or read, or is a folder, a device, a pipe or a socket.
    """
    # A device acts on being opened, so what it is has to be known before; and again afterwards.
    _require_file(path.stat())
    with open(os.open(path, _READ), "rb", buffering=0) as file:  # noqa: PTH123
        status = os.fstat(file.fileno())
        _require_file(status)
        yield Transfer(str(path), status.st_size, iter(lambda: file.read(_BLOCK), b""))


def provider_packages(folder: Path, address: ProviderAddress) -> Iterator[MirroredPackage]:
    """Yield the packages of one provider below a folder, as `search` finds them; none where it has no such folder.

    Raises:
        OSError: A folder cannot be read, or there are too many names.
    """
    place, searching = Path(os.path.realpath(folder)), _Searching()
    for name in str(address).split("/"):
        place /= name
        if not place.is_dir() or place.is_symlink():
            return
    yield from searching.packages(address, place)


def search(folder: Path) -> dict[ProviderAddress, tuple[MirroredPackage, ...]]:
    """Return the packages below a folder, by provider, in the order of their names.

    Raises:
        OSError: A folder cannot be read, or there are too many names.
    """
    found: dict[ProviderAddress, list[MirroredPackage]] = {}
    searching = _Searching()
    for host in searching.folders(Path(os.path.realpath(folder))):
        for namespace in searching.folders(host):
            for provider in searching.folders(namespace):
                address = _address(host.name, namespace.name, provider.name)
                if address is not None:
                    found.setdefault(address, []).extend(searching.packages(address, provider))
    return {address: tuple(packages) for address, packages in found.items() if packages}


def first_package(folder: Path) -> MirroredPackage | None:
    """Return the first package below a folder; None for none, or where it cannot be searched."""
    searching = _Searching()
    try:
        for host in searching.folders(Path(os.path.realpath(folder))):
            for namespace in searching.folders(host):
                for provider in searching.folders(namespace):
                    address = _address(host.name, namespace.name, provider.name)
                    if address is not None:
                        for found in searching.packages(address, provider):
                            return found
    except OSError:
        return None
    return None


class _Searching:
    """A search with a bound."""

    def __init__(self) -> None:
        self._left = _MOST_NAMES

    def folders(self, folder: Path) -> list[Path]:
        return [Path(one.path) for one in self._entries(folder) if one.is_dir(follow_symlinks=False)]

    def packages(self, address: ProviderAddress, folder: Path) -> Iterator[MirroredPackage]:
        for entry in self._entries(folder):
            if entry.is_dir(follow_symlinks=False):
                version = _version(entry.name)
                for leaf in self._entries(Path(entry.path)) if version is not None else ():
                    platform = _platform(leaf.name)
                    if platform is not None and version is not None and leaf.is_dir():
                        yield MirroredPackage(address, version, platform, Path(leaf.path), is_folder=True)
            elif (build := _packed(entry.name, address.type)) is not None and entry.is_file():
                yield MirroredPackage(address, *build, Path(entry.path), is_folder=False)

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            found = []
            for entry in entries:
                self._left -= 1
                if self._left < 0:
                    raise OSError(0, f"there are more than {_MOST_NAMES} names, which are not read")
                found.append(entry)
        return sorted(found, key=lambda entry: os.fsencode(entry.name))


def _address(host: str, namespace: str, name: str) -> ProviderAddress | None:
    try:
        owner = namespace if namespace == LEGACY_NAMESPACE else normalise_namespace(namespace)
        return ProviderAddress(normalise_host(host), owner, normalise_part(name))
    except ValueError:
        return None


def _packed(name: str, provider: str) -> tuple[Version, Platform] | None:
    """Read the name of a zip file; further words after the architecture do not count."""
    name = name.lower()
    prefix = f"terraform-provider-{provider}_"
    if not name.startswith(prefix) or not name.endswith(".zip"):
        return None
    parts = name[len(prefix) : -len(".zip")].split("_")
    version = _version(parts[0])
    platform = _platform("_".join(parts[1:3]))
    return None if version is None or platform is None else (version, platform)


def _version(text: str) -> Version | None:
    try:
        return Version.parse(text)
    except ValueError:
        return None


def _platform(text: str) -> Platform | None:
    try:
        return Platform.parse(text)
    except ValueError:
        return None


def _require_file(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a regular file")
