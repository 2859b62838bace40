"""What an upgrade is told of versions and hashes: registries are asked, and packages are locked, for one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.addresses import Platform
from locklens.errors import LockLensError, UnavailableError
from locklens.project.clifiles import this_platform
from locklens.review.releases import ListingId, ReleaseFacts, ReleaseId
from locklens.workspace.upgrading import Coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry
    from locklens.sources.metadata import ListedVersion
    from locklens.workspace.asking import AskingRun
    from locklens.workspace.upgrading import Move

    LockEntries = Callable[[Sequence[Move], Dialect], Mapping[ProviderAddress, LockEntry | LockLensError]]


class RegistrySupply:
    """Asks registries.

    Args:
        run: Whom one may ask.
        lock: Makes the entries of providers that move.
    """

    def __init__(self, run: AskingRun, lock: LockEntries) -> None:
        self._run = run
        self._lock = lock

    @property
    def here(self) -> Platform:
        """The platform of this machine."""
        return Platform.parse(this_platform())

    def listed(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError]:
        """Returns what is offered of each provider, or why nobody can say."""
        facts = self._run.answers([ListingId(tool.name, address) for address in addresses])
        found: dict[ProviderAddress, Sequence[ListedVersion] | LockLensError] = {}
        for address, fact in zip(addresses, facts, strict=True):
            assert not isinstance(fact, ReleaseFacts)
            trouble = fact.trouble
            found[address] = fact.versions if trouble is None else UnavailableError(trouble.words, hint=trouble.hint)
        return found

    def coverage(self, entries: Sequence[LockEntry], tool: Dialect) -> Mapping[ProviderAddress, Coverage]:
        """Returns for which platforms each entry has an `h1`: as the registry says, or as it was hashed here before."""
        facts = self._run.answers([ReleaseId(tool.name, entry.address, entry.version) for entry in entries])
        found = {}
        for entry, fact in zip(entries, facts, strict=True):
            assert isinstance(fact, ReleaseFacts)
            hashed = self._run.hashed(fact.platforms)
            known = {h1: fact.platforms[zh] for zh, h1 in hashed.items()} | dict(fact.reported)
            own = entry.with_scheme("h1")
            platforms = tuple(sorted({known[h1] for h1 in own if h1 in known}))
            found[entry.address] = Coverage(platforms, sum(h1 not in known for h1 in own))
        return found

    def entries(self, moves: Sequence[Move], tool: Dialect) -> Mapping[ProviderAddress, LockEntry | LockLensError]:
        """Returns the new entry of each provider, or why there is none."""
        return self._lock(moves, tool)
