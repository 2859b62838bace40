"""Sources of providers: registries, the hosts that may be asked, and their answers, which prove nothing by themselves.

Nothing here is believed because it was said: whether an answer is signed, and by whom, is a matter of the floor above.
"""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from locklens.addresses import Platform, ProviderAddress
    from locklens.sources.http import Transfer
    from locklens.sources.metadata import PackageMetadata, RegistryVersions, ReleaseDates, SignedChecksums
    from locklens.versions import Version


class Source(Protocol):
    """Versions and packages of providers. Thread-safe; what was asked once in a run is not asked again.

    `is_fresh` rejects an answer of an earlier run where one is cached; a source without a cache ignores it.
    """

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the available versions of a provider, in the source's order.

        Raises:
            ProviderNotFoundError: The source has no such provider.
            UnauthorizedError: It requires other credentials.
            UnavailableError: It has no usable answer.
        """

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return where a version's package for a platform is, and its claimed checksum and signing keys.

        Raises:
            PlatformNotSupportedError: The source has no such package, or no such version.
            UnauthorizedError: It requires other credentials.
            UnavailableError: It has no usable answer.
        """

    def begin_checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> None:
        """Start to fetch what `checksums` returns, without waiting for it."""

    def checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> SignedChecksums | None:
        """Return the publisher's SHA256SUMS and its detached signature, unverified; None for a source without them.

        Raises:
            UnavailableError: One of the two cannot be obtained.
        """

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a package; None if they are not known before it is downloaded.

        Raises:
            UnavailableError: There is no such file, or no usable answer.
        """

    def open_package(self, metadata: PackageMetadata) -> AbstractContextManager[Transfer]:
        """Open a package, which is read while it arrives.

        Raises:
            SourceError: It cannot be obtained; also while it is read.
        """

    def release_dates(self, address: ProviderAddress) -> ReleaseDates:
        """Return the claimed release dates of a provider's versions, as far as they are known; never a SourceError."""
