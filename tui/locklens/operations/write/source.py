"""The port through which plans reach registries and packages: available versions, selections and lock entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.diagnostics import Diagnostic
    from locklens.dialect import Dialect
    from locklens.errors import LockLensError
    from locklens.install.model import LockRequest, ProviderRequirement
    from locklens.lockfile.model import LockEntry
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version


class EntryPlatforms(Struct, frozen=True):
    """What an entry does for.

    Attributes:
        platforms: Those for which it has an `h1`, as far as anybody knows.
        unknown: How many `h1` it has of which nobody knows the platform.
    """

    platforms: tuple[Platform, ...]
    unknown: int = 0


class ProviderSource(Protocol):
    """Where versions and hashes are from. Nobody is asked, and nothing is fetched, twice in a run."""

    @property
    def here(self) -> Platform:
        """The platform of this machine."""

    def listed(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError]:
        """Returns what is offered of each provider, or why nobody can say."""

    def coverage(self, entries: Sequence[LockEntry], tool: Dialect) -> Sequence[EntryPlatforms]:
        """Returns for which platforms each entry has an `h1`."""

    def choose(self, wanted: Sequence[ProviderRequirement], tool: Dialect) -> Sequence[Version | Diagnostic]:
        """Returns which version of each is to be locked as `providers lock` has it, or why there is none."""

    def fetch(self, requests: Sequence[LockRequest], tool: Dialect) -> None:
        """Gets what the requests of all roots take at once, so that `entries` of each root need not wait for it."""

    def entries(
        self, requests: Sequence[LockRequest], tool: Dialect
    ) -> Mapping[ProviderAddress, LockEntry | Diagnostic]:
        """Returns the new entry of each provider of one root, or why there is none."""

    def h1s(self, address: ProviderAddress, version: Version, tool: Dialect) -> Mapping[Platform, str]:
        """Returns the `h1` of the packages that this run got; nobody is asked."""
