"""A source without a network: the demo's signed releases, handed over as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from locklens.addresses import Platform, ProviderAddress
from locklens.demo import file_name
from locklens.demo.faults import Fault
from locklens.demo.published import Published, SampleListing, hashes_by_platform, publish
from locklens.dialect import Dialect
from locklens.errors import PlatformNotSupportedError, ProviderNotFoundError
from locklens.releases.session import ReleaseSession
from locklens.sources import Source
from locklens.sources.hosts import NotAsked
from locklens.sources.http import Transfer
from locklens.sources.metadata import (
    ListedKey,
    ListedVersion,
    PackageMetadata,
    RegistryVersions,
    ReleaseDates,
    SignedChecksums,
)
from locklens.versions import Version

AS_OF = "2026-01-02T03:04:05Z"
DEMO = ProviderAddress("registry.terraform.io", "acme", "demo")


class MemorySource:
    """Releases of acme/demo.

    Args:
        releases: All that there are.
        cached: What an earlier run's answers are of, by version: they count unless a fresh one is requested.
    """

    def __init__(self, *releases: Published, cached: dict[str, Published] | None = None) -> None:
        self._releases = {Version.parse(one.version): one for one in releases}
        self._cached = {Version.parse(text): one for text, one in (cached or {}).items()}
        self.calls: Counter[str] = Counter()
        self.files_at = "memory:"

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        self.calls["fresh versions" if is_fresh else "versions"] += 1
        if address != DEMO:
            raise ProviderNotFoundError(f"there is no {address}")
        listed = (ListedVersion(one, ("5.0",), _platforms(each)) for one, each in self._releases.items())
        return RegistryVersions(tuple(listed), (), AS_OF)

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        self.calls["fresh package" if is_fresh else "package"] += 1
        release = self._of(version, is_fresh=is_fresh) if address == DEMO else None
        if release is None or platform not in _platforms(release):
            raise PlatformNotSupportedError(f"there is no {address} {version} for {platform}")
        zh, _ = hashes_by_platform(release)[str(platform)]
        return PackageMetadata(
            address,
            version,
            platform,
            protocols=(),
            filename=file_name(release.provider, release.version, f"{platform}.zip"),
            download_url=self.files_at,
            shasum=zh.removeprefix("zh:"),
            shasums_url="memory:",
            signature_url="memory:",
            signing_keys=tuple(ListedKey(key, release.trust_signature) for key in release.keys),
            packages=(),
            as_of=AS_OF,
        )

    def begin_checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> None:
        self.calls["begin"] += 1

    def checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> SignedChecksums:
        release = self._of(metadata.version, is_fresh=is_fresh)
        assert release is not None
        return SignedChecksums(release.sums, release.signature, AS_OF)

    def package_size(self, metadata: PackageMetadata) -> int | None:
        return None

    @contextmanager
    def open_package(self, metadata: PackageMetadata) -> Iterator[Transfer]:
        self.calls["download"] += 1
        data = self._releases[metadata.version].package(str(metadata.platform))
        yield Transfer("memory:", len(data), iter((data,)))

    def release_dates(self, address: ProviderAddress) -> ReleaseDates:
        return ReleaseDates()

    def _of(self, version: Version, *, is_fresh: bool) -> Published | None:
        known = None if is_fresh else self._cached.get(version)
        return known or self._releases.get(version)


class MemorySession(ReleaseSession):
    """A session of which every provider has the same source."""

    memory: Source | NotAsked

    def find_source(self, address: ProviderAddress, tool: Dialect) -> Source | NotAsked:
        return self.memory


def released(
    version: str = "1.4.2", faults: frozenset[Fault] = frozenset(), offer: SampleListing | None = None
) -> Published:
    return publish(str(DEMO), version, faults, offer)


def _platforms(release: Published) -> tuple[Platform, ...]:
    return tuple(map(Platform.parse, release.platforms))
