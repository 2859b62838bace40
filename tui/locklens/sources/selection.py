"""Several sources as one: which of them a provider may be installed from, and in which order they are asked.

The rules are `MultiSource`'s (internal/getproviders/multi_source.go): versions are those of all sources together, a
package is the first one's that has it, and only "does not have it" lets the next source answer.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import NotFoundError, PlatformNotSupportedError, ProviderNotFoundError, UnavailableError
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.sources.metadata import RegistryVersions
from locklens.sources.release_dates import ReleaseDates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from locklens.addresses import Platform, ProviderAddress
    from locklens.sources.http import Transfer
    from locklens.sources.metadata import ListedVersion, PackageMetadata, SignedChecksums
    from locklens.sources.source import Source
    from locklens.versions import Version

    _Build = tuple[ProviderAddress, Version, Platform]


class Route(Struct, frozen=True):
    """A method with its source.

    Attributes:
        method: Which providers it is for.
        source: The source of one provider.
    """

    method: InstallationMethod
    source: Callable[[ProviderAddress], Source]


class SourceSelection:
    """A source that is several others. Thread-safe."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = tuple(routes)
        self._lock = threading.Lock()
        self._origins: dict[_Build, Source] = {}

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the versions of all matching sources; errors as of `Source`."""
        if not self._routes:
            words = "no available releases match the given constraints: there is no place to install from"
            hint = "provider_installation in the CLI configuration needs a method that can be used, such as direct {}"
            raise UnavailableError(words, address=str(address), hint=hint)
        listed: dict[Version, ListedVersion] = {}
        warnings: list[str] = []
        moments: list[str] = []
        missing: NotFoundError | None = None
        for route in self._matching(address):
            source = route.source(address)
            try:
                found = source.versions(address, is_fresh=is_fresh)
            except NotFoundError as error:
                missing = error if route.method.kind is MethodKind.DIRECT else missing
                continue
            for one in found.versions:
                listed.setdefault(one.version, one)
            warnings += found.warnings
            moments += [found.as_of] if found.as_of else []
        if listed:
            return RegistryVersions(tuple(listed.values()), tuple(warnings), min(moments, default=""))
        if missing is not None:
            raise missing
        places = ", ".join(map(str, self._sources(address))) or "none of which is for this provider"
        words = f"provider {address} was not found in any of the search locations: {places}"
        hint = "check provider_installation in the CLI configuration"
        raise ProviderNotFoundError(words, address=str(address), hint=hint)

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return a package of the first source that has it; errors as of `Source`."""
        for source in self._sources(address):
            try:
                metadata = source.package(address, version, platform, is_fresh=is_fresh)
            except NotFoundError:
                continue
            with self._lock:
                self._origins[address, version, platform] = source
            return metadata
        words = f"provider {address} {version} does not have a package available for your current platform, {platform}"
        raise PlatformNotSupportedError(words, address=str(address))

    def begin_checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> None:
        """Start to fetch what `checksums` returns."""
        self._origin(metadata).begin_checksums(metadata, is_fresh=is_fresh)

    def checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> SignedChecksums | None:
        """Return what the source of the package has; errors as of `Source`."""
        return self._origin(metadata).checksums(metadata, is_fresh=is_fresh)

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a package; errors as of `Source`."""
        return self._origin(metadata).package_size(metadata)

    def open_package(self, metadata: PackageMetadata) -> AbstractContextManager[Transfer]:
        """Open a package at its source; errors as of `Source`."""
        return self._origin(metadata).open_package(metadata)

    def release_dates(self, address: ProviderAddress) -> ReleaseDates:
        """Return the dates that the first source with any has."""
        found = (source.release_dates(address) for source in self._sources(address))
        return next((dates for dates in found if dates.moments), ReleaseDates())

    def _sources(self, address: ProviderAddress) -> list[Source]:
        return [route.source(address) for route in self._matching(address)]

    def _matching(self, address: ProviderAddress) -> list[Route]:
        return [route for route in self._routes if route.method.accepts(address)]

    def _origin(self, metadata: PackageMetadata) -> Source:
        with self._lock:
            return self._origins[metadata.address, metadata.version, metadata.platform]
