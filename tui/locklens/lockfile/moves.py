"""Which providers moved between two states of a lock file: one address is gone, and another one continues it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.dialect import twin_of
from locklens.lockfile import differing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry, LockFile


def moves_between(old: LockFile, new: LockFile) -> dict[ProviderAddress, ProviderAddress]:
    """Return the new address of each provider that moved, by the old one; {} where a side cannot be read whole."""
    if not (old.is_complete and new.is_complete):
        return {}
    pairs = [*differing(old, new)]
    gone = {address: entry for address, entry, after in pairs if entry is not None and after is None}
    return moves_among(gone, {address: entry for address, before, entry in pairs if before is None and entry})


def moves_among(
    gone: Mapping[ProviderAddress, LockEntry], added: Mapping[ProviderAddress, LockEntry]
) -> dict[ProviderAddress, ProviderAddress]:
    """Return which of the added providers continues which that is gone.

    That is the one of the same name in the other tool's registry, or else the only one of its type with its version.
    """
    gone_of, added_of = _by_type(gone), _by_type(added)
    moved = {}
    for address, entry in added.items():
        origin = twin_of(address)
        if origin not in gone and len(added_of[address.type]) == 1:
            alike = [old for old in gone_of.get(address.type, ()) if gone[old].version == entry.version]
            origin = alike[0] if len(alike) == 1 else None
        if origin is not None and origin in gone:
            moved[origin] = address
    return moved


def _by_type(addresses: Iterable[ProviderAddress]) -> dict[str, list[ProviderAddress]]:
    found: dict[str, list[ProviderAddress]] = {}
    for address in addresses:
        found.setdefault(address.type, []).append(address)
    return found
