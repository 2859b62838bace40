"""The port through which plans reach registries and packages: available versions, selections and lock entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.diagnostics import Diagnostic
    from locklens.dialect import Dialect
    from locklens.errors import LockLensError
    from locklens.install.context import LockRequest, ProviderRequirement
    from locklens.lockfile.model import LockEntry
    from locklens.releases.facts import ReleaseFacts
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version


class EntryPlatforms(Struct, frozen=True):
    """The platforms of an entry.

    Attributes:
        platforms: The known platforms of its `h1` hashes.
        unknown: Number of its `h1` hashes of unknown platform.
    """

    platforms: tuple[Platform, ...]
    unknown: int = 0


class EntryLocker(Protocol):
    """Locks providers by one tool's rules; `install.lock.Locker` says how."""

    def choose(self, wanted: Iterable[ProviderRequirement]) -> list[Version | Diagnostic]:
        """Return the version of each to lock, selected as by `providers lock`, or the error."""

    def fetch(self, requests: Sequence[LockRequest]) -> None:
        """Fetch the packages for the requests of all roots, so that `entries` of each root does not wait."""

    def entries(self, requests: Sequence[LockRequest]) -> list[LockEntry | Diagnostic]:
        """Return the new entry for each request, or the error."""

    def package_hashes(self, address: ProviderAddress, version: Version) -> Mapping[Platform, frozenset[str]]:
        """Return the hashes of the files of each package that this run fetched; no registry is asked."""


class ProviderSource(Protocol):
    """The source of versions and hashes. No request and no download is repeated in a run."""

    @property
    def here(self) -> Platform:
        """The platform of this machine."""

    def listed(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError]:
        """Return the available versions of each provider, or the error."""

    def ages(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Mapping[Version, int]]:
        """Return the days since the release of each version of each provider; versions of unknown age are left out."""

    def release(self, address: ProviderAddress, version: Version, tool: Dialect) -> ReleaseFacts | None:
        """Return who signs a version and what is signed; None if that is unknown."""

    def coverage(self, entries: Sequence[LockEntry], tool: Dialect) -> Sequence[EntryPlatforms]:
        """Return the platforms of each entry's `h1` hashes."""

    def locker(self, tool: Dialect) -> EntryLocker:
        """Return what locks providers by a tool's rules: the same in the whole run."""
