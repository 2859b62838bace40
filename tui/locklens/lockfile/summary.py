"""A lock file as lines for `git diff`: the publisher's list of `zh` folded to a count and a digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hashes import hashes_of_zips
from locklens.identity import ID_DIGITS, identity_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lockfile.model import Conflict, LockEntry, LockFile


def summary(lock: LockFile) -> Iterator[str]:
    """Yield the lines of a lock file that can be read: version, constraints, and the hashes of each provider."""
    for entry in sorted(lock.entries, key=lambda entry: entry.address.sort_key):
        yield from _lines(entry)


def conflict_summary(conflict: Conflict) -> Iterator[str]:
    """Yield the lines of a lock file in conflict: entries that differ stand between markers, as git writes them."""
    ours, theirs = (
        {entry.address: [*_lines(entry)] for entry in side.entries} for side in (conflict.ours, conflict.theirs)
    )
    for address in sorted({*ours, *theirs}, key=lambda address: address.sort_key):
        mine, other = ours.get(address, []), theirs.get(address, [])
        if mine == other:
            yield from mine
        else:
            yield from (f"<<<<<<< {conflict.names[0]}", *mine, "=======", *other, f">>>>>>> {conflict.names[1]}")


def _lines(entry: LockEntry) -> Iterator[str]:
    yield f"provider {entry.address}"
    yield f"  version      {entry.version}"
    if entry.constraints:
        yield f"  constraints  {entry.constraints}"
    listed = sorted(hashes_of_zips(entry.hashes))
    if listed:
        yield f"  zh           {len(listed)}, digest {identity_of(*listed)[:ID_DIGITS]}"
    yield from (f"  {text}" for text in sorted(set(entry.hashes) - set(listed)))
