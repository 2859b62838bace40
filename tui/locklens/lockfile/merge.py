"""Three-way merge of lock files, block by block, as git's merge driver needs it.

git compares lines, so two branches that touch one provider conflict, and the order of lines decides about two that add
hashes of different platforms. Here an entry is one value: a side that left it unchanged yields to the other, and where
both sides changed it, hashes are united only if none was lost and no package exchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError
from locklens.hashes import packages_of
from locklens.hcl import decode, encode
from locklens.lockfile.parse import parse
from locklens.lockfile.pieces import BlockPiece, LockPieces, rejoin, split_blocks
from locklens.lockfile.render import render_entry
from locklens.lockfile.update import with_line_ends_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry

MARKER_SIZE = 7
"""Characters of a conflict marker, as git writes them unless an attribute says otherwise."""


class MergeConflict(Struct, frozen=True):
    """An entry that both sides changed in ways that cannot both hold.

    Attributes:
        reason: A clause, such as "two versions were selected".
    """

    address: ProviderAddress
    base: LockEntry | None
    ours: LockEntry | None
    theirs: LockEntry | None
    reason: str


class Merged(Struct, frozen=True):
    """The result of a merge.

    Attributes:
        data: The file; with conflict markers around the blocks of each conflict.
        conflicts: In the order of addresses.
        united: Providers whose hashes of both sides were united.
    """

    data: bytes
    conflicts: tuple[MergeConflict, ...] = ()
    united: tuple[ProviderAddress, ...] = ()


class Labels(Struct, frozen=True):
    """The names of the sides behind the conflict markers, and the number of characters of a marker."""

    ours: str = "ours"
    theirs: str = "theirs"
    size: int = MARKER_SIZE


class _Side(Struct, frozen=True):
    """One of the three files.

    Attributes:
        data: Its bytes, with the line ends of "ours".
    """

    data: bytes
    pieces: LockPieces
    entries: dict[ProviderAddress, LockEntry]


def merge(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    dialect: Dialect,
    settle: Callable[[MergeConflict], LockEntry | None] | None = None,
    labels: Labels | None = None,
) -> Merged:
    """Return the merge of two lock files with a common ancestor.

    A file that one side alone changed is taken as it is, byte for byte. Otherwise the result is "ours" with the changed
    blocks of "theirs"; a block of both has the union of their hashes.

    Args:
        base: The common ancestor; b"" for none.
        ours: The side that receives; its line ends count.
        theirs: The other side.
        dialect: Whose rules hold for addresses.
        settle: Selects one of a conflict's entries; None leaves the conflict open. Not asked about removed entries.
        labels: For the markers of conflicts that are left open.

    Raises:
        ConfigurationError: The tools would refuse one of the three, so its blocks cannot be told apart.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    first, second, third = (_side(data, ours, dialect) for data in (base, ours, theirs))
    changed: dict[ProviderAddress, BlockPiece | None] = {}
    conflicts, united = [], []
    for address in sorted(second.entries.keys() | third.entries.keys()):
        outcome = _outcome(address, first, second, third)
        if isinstance(outcome, MergeConflict) and settle is not None and outcome.ours and outcome.theirs:
            selected = settle(outcome)
            outcome = outcome if selected is None else _side_of(selected, second, third)
        if isinstance(outcome, MergeConflict):
            conflicts.append(outcome)
            changed[address] = _marked(address, second, third, labels or Labels())
        elif outcome is third:
            changed[address] = third.pieces.by_address.get(address)
        elif outcome is not second:
            assert not isinstance(outcome, _Side)
            united.append(address)
            changed[address] = _united_piece(outcome, second)
    frame = LockPieces(
        _either(first.pieces.head, second.pieces.head, third.pieces.head),
        second.pieces.pieces,
        _either(first.pieces.tail, second.pieces.tail, third.pieces.tail),
    )
    return Merged(encode(rejoin(frame, changed, second.pieces.line_end)), tuple(conflicts), tuple(united))


def _side(data: bytes, model: bytes, dialect: Dialect) -> _Side:
    if not data.strip():
        return _Side(b"", LockPieces("", (), ""), {})
    data = data if data is model else with_line_ends_of(model, data.replace(b"\r\n", b"\n"))
    lock = parse(data, "", dialect=dialect)
    if lock.problems:
        problem = lock.problems[0]
        raise ConfigurationError(
            f"a side of the merge cannot be read: line {problem.line}: {problem.summary}", hint="fix that side first"
        )
    return _Side(data, split_blocks(data, dialect), dict(lock.by_address))


def _outcome(address: ProviderAddress, base: _Side, ours: _Side, theirs: _Side) -> _Side | LockEntry | MergeConflict:
    """Return the side whose block stands, the united entry, or the conflict."""
    texts = [side.pieces.by_address[address].body if address in side.entries else None for side in (base, ours, theirs)]
    if texts[2] in (texts[0], texts[1]):
        return ours
    if texts[1] == texts[0]:
        return theirs
    before, mine, other = (side.entries.get(address) for side in (base, ours, theirs))
    reason = ""
    if mine is None or other is None:
        reason = "one side removed it, the other changed it"
    elif other.contents in (mine.contents, before and before.contents):
        return ours
    elif before is not None and mine.contents == before.contents:
        return theirs
    elif mine.version != other.version:
        reason = "two versions were selected"
    elif (hashes := _united(before, mine, other)) is None:
        reason = "the sides have different packages for one version"
    elif (constraints := _constraints(before, mine, other)) is None:
        reason = "the constraints differ"
    else:
        return replace(mine, hashes=hashes, constraints=constraints)
    return MergeConflict(address, before, mine, other, reason)


def _united(before: LockEntry | None, mine: LockEntry, other: LockEntry) -> tuple[str, ...] | None:
    """Return the hashes of both sides, or None where their union would accept exchanged packages.

    Under the base's version each side has to keep all that the base has. Otherwise, and where the base has no `zh`, the
    sides' `zh` say whether they mean the same packages: one set holds all of the other (LK023 has the same rule).
    """
    kept = frozenset(before.hashes) if before is not None and before.version == mine.version else frozenset()
    if not (kept <= set(mine.hashes) and kept <= set(other.hashes)):
        return None
    packages, others = packages_of(mine.hashes), packages_of(other.hashes)
    if not packages_of(kept) and packages and others and not (packages <= others or others <= packages):
        return None
    return tuple(sorted({*mine.hashes, *other.hashes}, key=str.encode))


def _constraints(before: LockEntry | None, mine: LockEntry, other: LockEntry) -> str | None:
    if mine.constraints == other.constraints:
        return mine.constraints
    if before is not None and before.constraints in (mine.constraints, other.constraints):
        return other.constraints if before.constraints == mine.constraints else mine.constraints
    return None


def _either(base: str, ours: str, theirs: str) -> str:
    """The text of the side that changed it; of ours, where both did."""
    return theirs if ours == base else ours


def _side_of(selected: LockEntry, ours: _Side, theirs: _Side) -> _Side:
    return ours if ours.entries.get(selected.address) is selected else theirs


def _united_piece(entry: LockEntry, ours: _Side) -> BlockPiece:
    """Return a block in the tools' layout, with the comments that stand above it on our side."""
    piece = ours.pieces.by_address[entry.address]
    text = decode(with_line_ends_of(ours.data, render_entry(entry).encode()))
    return BlockPiece(entry.address, piece.lead, "".join(_comments_above(piece.body)) + text, piece.before)


def _comments_above(body: str) -> Iterator[str]:
    for line in body.splitlines(keepends=True):
        if not line.lstrip("\ufeff \t").startswith(("#", "//")):
            return
        yield line


def _marked(address: ProviderAddress, ours: _Side, theirs: _Side, labels: Labels) -> BlockPiece:
    """Return the blocks of both sides between conflict markers."""
    mine, other = ours.pieces.by_address.get(address), theirs.pieces.by_address.get(address)
    piece = mine or other
    assert piece is not None
    end = ours.pieces.line_end
    lines = (
        f"{'<' * labels.size} {labels.ours}{end}",
        _ended(mine, end),
        f"{'=' * labels.size}{end}",
        _ended(other, end),
        f"{'>' * labels.size} {labels.theirs}{end}",
    )
    return BlockPiece(address, piece.lead, "".join(lines), piece.before)


def _ended(piece: BlockPiece | None, end: str) -> str:
    if piece is None:
        return ""
    return piece.body if piece.body.endswith("\n") else piece.body + end
