"""Finds out what the plan for many roots takes, and gets all of it at once.

A plan goes root by root, for one root's edits are seen by the next. So that it need not wait for registries at each, it
is made twice: first with a stand-in that only remembers what is wanted of it, then with what was got meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.addresses import Platform
from locklens.lockfile.model import LockEntry
from locklens.operations.write.source import EntryPlatforms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.errors import LockLensError
    from locklens.install.model import ProviderRequirement
    from locklens.operations.write.source import ProviderSource, VersionMove
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version

_COVERED = "covered"
"""The system of a platform that stands for those of an entry; no tool has one with such a name."""


def gather(
    supply: ProviderSource,
    wanted: Iterable[tuple[Dialect, Iterable[ProviderAddress]]],
    plan: Callable[[ProviderSource], object],
) -> None:
    """Gets what a plan for many roots takes: first all lists of versions, then all packages.

    Args:
        supply: Where they are from.
        wanted: The tool and the providers of each root.
        plan: Makes the plan with whatever supply it is given; nothing comes of that but a value.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    by_tool: dict[str, tuple[Dialect, dict[ProviderAddress, None]]] = {}
    for tool, addresses in wanted:
        by_tool.setdefault(tool.name, (tool, {}))[1].update(dict.fromkeys(addresses))
    for tool, found in by_tool.values():
        supply.listed(tuple(found), tool)
    stand_in = _StandIn(supply)
    plan(stand_in)
    for tool, _ in by_tool.values():
        supply.fetch(stand_in.moves(tool), tool)


class _StandIn:
    """Stands for a supply: passes on what was asked already, and remembers the rest."""

    def __init__(self, supply: ProviderSource) -> None:
        self._supply = supply
        self._covered: dict[str, list[LockEntry]] = {}
        self._moves: dict[str, list[VersionMove]] = {}

    def moves(self, tool: Dialect) -> list[VersionMove]:
        """What it was asked to lock, for the platforms that entries do for."""
        entries = self._covered.get(tool.name, [])
        known = self._supply.coverage(entries, tool) if entries else ()
        here = (self._supply.here,)

        def real(platforms: tuple[Platform, ...]) -> tuple[Platform, ...]:
            if platforms[0].os != _COVERED:
                return platforms
            return known[int(platforms[0].arch)].platforms or here

        return [replace(move, platforms=real(move.platforms)) for move in self._moves.get(tool.name, [])]

    @property
    def here(self) -> Platform:
        """The platform of this machine."""
        return self._supply.here

    def listed(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError]:
        """Passes it on."""
        return self._supply.listed(addresses, tool)

    def coverage(self, entries: Sequence[LockEntry], tool: Dialect) -> Sequence[EntryPlatforms]:
        """Returns for each entry a platform that stands for all of them."""
        own = self._covered.setdefault(tool.name, [])
        own += entries
        start = len(own) - len(entries)
        return [EntryPlatforms((Platform(_COVERED, str(start + number)),)) for number in range(len(entries))]

    def choose(self, wanted: Sequence[ProviderRequirement], tool: Dialect) -> Sequence[Version | LockLensError]:
        """Passes it on."""
        return self._supply.choose(wanted, tool)

    def fetch(self, moves: Sequence[VersionMove], tool: Dialect) -> None:
        """Remembers it."""
        self._moves.setdefault(tool.name, []).extend(moves)

    def entries(
        self, moves: Sequence[VersionMove], tool: Dialect
    ) -> Mapping[ProviderAddress, LockEntry | LockLensError]:
        """Returns entries without hashes."""
        self.fetch(moves, tool)
        return {move.address: LockEntry(move.address, move.version, str(move.constraints), (), 0) for move in moves}

    def h1s(self, address: ProviderAddress, version: Version, tool: Dialect) -> Mapping[Platform, str]:
        """Passes it on."""
        return self._supply.h1s(address, version, tool)
