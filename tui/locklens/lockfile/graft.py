"""Takes single provider blocks from one state of a lock file into another, with the bytes that they have there.

It is what `git add -p` does with the hunks of these blocks: comments right above a block, in it and on its last line go
with it; everything else stays as the receiving file has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.hcl import encode
from locklens.lockfile.parse import parse
from locklens.lockfile.pieces import LockPieces, rejoin, split_blocks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import EntryContents, LockEntry


def graft(data: bytes, donor: bytes, chosen: Collection[ProviderAddress], *, dialect: Dialect) -> bytes:
    """Return a lock file with some providers as another state of it has them.

    Where that leaves no provider different, it is the other state, byte for byte.

    Args:
        data: The file that receives; b"" for one that does not exist, which gets the donor's header.
        donor: The state that the blocks are taken from; what it does not have is removed.
        chosen: The providers that are taken.
        dialect: Whose rules hold for addresses.

    Raises:
        ConfigurationError: The tools would refuse one of the two, or its blocks cannot be identified.
    """
    old, new = _entries(data, dialect), _entries(donor, dialect)
    before, after = _contents(old), _contents(new)
    differing = {address for address in old.keys() | new.keys() if before.get(address) != after.get(address)}
    if differing <= set(chosen):
        return donor
    giving = split_blocks(donor, dialect)
    receiving = split_blocks(data, dialect) if data.strip() else LockPieces(giving.head, (), "")
    line_end = (receiving if receiving.head or receiving.tail else giving).line_end
    changed = {address: giving.by_address.get(address) for address in sorted(differing & set(chosen))}
    result = encode(rejoin(receiving, changed, line_end))
    _require(
        result, {address: (after if address in chosen else before).get(address) for address in (*old, *new)}, dialect
    )
    return result


def _entries(data: bytes, dialect: Dialect) -> Mapping[ProviderAddress, LockEntry]:
    lock = parse(data, "", dialect=dialect)
    if lock.problems:
        problem = lock.problems[0]
        words = f"its blocks cannot be identified: line {problem.line}: {problem.summary}"
        raise ConfigurationError(words, hint="fix the file first")
    return lock.by_address


def _contents(entries: Mapping[ProviderAddress, LockEntry]) -> dict[ProviderAddress, EntryContents]:
    return {address: entry.contents for address, entry in entries.items()}


def _require(data: bytes, expected: Mapping[ProviderAddress, EntryContents | None], dialect: Dialect) -> None:
    """Make sure that a file has the intended content: comments may be in unexpected places.

    Raises:
        ConfigurationError: It does not.
    """
    lock = parse(data, "", dialect=dialect)
    contents = _contents(lock.by_address)
    if lock.problems or any(contents.get(address) != entry for address, entry in expected.items()):
        raise ConfigurationError("its blocks cannot be identified", hint="take the whole file")
