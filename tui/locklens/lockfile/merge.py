"""Three-way merge of lock files, block by block, for git's merge driver.

git compares lines, so two branches that change one provider conflict, and the order of lines decides about two that
add hashes of different platforms. Here an entry is one value: if one side left it unchanged, the other side's stands,
and if both changed it, hashes are united only if none was lost and no package exchanged. The tools ignore comments, but
people wrote them, so they are merged too: a side's new comment is kept, or it is a conflict.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import twin_of
from locklens.errors import ConfigurationError
from locklens.hashes import hashes_of_files, packages_of, registry_manifests
from locklens.hcl import encode
from locklens.lockfile.parse import conflict_sides
from locklens.lockfile.render import with_line_ends_of
from locklens.lockfile.splice import BlockPiece, LockPieces, rejoin, rendered_for, require_readable, split_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry

MARKER_SIZE = 7
"""Characters of a conflict marker, unless a git attribute sets another size."""

_LONG_MARKER = re.compile(rb"^(?:<{8,}|[|]{8,}|={8,}|>{8,})(?=[ \r\n]|\Z)", re.MULTILINE)
"""A marker in git's merge of two common ancestors, which is longer than those in a merge of branches."""


_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(?P<comment>#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))', re.DOTALL)

COMMENTS_CLASH = "the comments of both sides cannot be merged"


class MergeSide(StrEnum):
    """A side of a merge, as git names it."""

    OURS = "ours"
    THEIRS = "theirs"


class MergeConflict(Struct, frozen=True):
    """An entry that both sides changed in ways that cannot both hold; the reason is a clause.

    `moved` is the entry that the side without one has for the provider in the other tool's registry.
    """

    address: ProviderAddress
    base: LockEntry | None
    ours: LockEntry | None
    theirs: LockEntry | None
    reason: str
    moved: LockEntry | None = None


class Merged(Struct, frozen=True):
    """The result of a merge.

    Attributes:
        data: The file; with conflict markers around the blocks of each conflict.
        conflicts: In the order of addresses.
    """

    data: bytes
    conflicts: tuple[MergeConflict, ...] = ()
    united: tuple[ProviderAddress, ...] = ()


class Labels(Struct, frozen=True):
    """The names of the sides after the conflict markers, and the number of characters of a marker."""

    ours: str = "ours"
    theirs: str = "theirs"
    size: int = MARKER_SIZE


class _Side(Struct, frozen=True):
    """One of the three files.

    Attributes:
        data: Its bytes, with the line ends of "ours".
        disputed: Providers for which the common ancestor has two different blocks, or unknown ones.
    """

    data: bytes
    pieces: LockPieces
    entries: dict[ProviderAddress, LockEntry]
    disputed: frozenset[ProviderAddress] = frozenset()

    def body(self, address: ProviderAddress) -> str:
        """Return the text of a provider's block, or ""."""
        return self.pieces.by_address[address].body if address in self.entries else ""


def share_packages(ours: LockEntry, theirs: LockEntry) -> bool:
    """True if hashes of one package are in both entries; a registry manifest is often the same, known or not."""
    common = {*ours.hashes} & {*theirs.hashes} - registry_manifests()
    return len(common) > 1 or bool(hashes_of_files(common))


def merge(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    dialect: Dialect,
    settle: Callable[[MergeConflict], MergeSide | None] | None = None,
    labels: Labels | None = None,
) -> Merged:
    """Return the merge of two lock files with a common ancestor.

    A file that one side alone changed is taken as it is, byte for byte. Otherwise the result is "ours" with the changed
    blocks of "theirs"; a block of both has the union of their hashes. If the ancestor has conflict markers, as git
    leaves them when it merges two ancestors, the blocks in conflict are unknown; if the tools refuse it, all blocks
    are. `settle` selects the side whose entry or whose removal stands; None leaves the conflict open.

    Raises:
        ConfigurationError: The tools would refuse one of the sides, so its blocks cannot be identified.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    second, third = (_side(data, ours, dialect) for data in (ours, theirs))
    first = _ancestor(base, second, third, dialect)
    changed: dict[ProviderAddress, BlockPiece | None] = {}
    conflicts, united = [], []

    def settled(conflict: MergeConflict) -> _Side | MergeConflict:
        selected = settle(conflict) if settle is not None else None
        return conflict if selected is None else second if selected is MergeSide.OURS else third

    for address in sorted(second.entries.keys() | third.entries.keys()):
        outcome = _outcome(address, first, second, third)
        outcome = settled(outcome) if isinstance(outcome, MergeConflict) else outcome
        piece = outcome if isinstance(outcome, MergeConflict) else _piece(outcome, address, first, second, third)
        if isinstance(piece, MergeConflict) and piece is not outcome:  # The comments cannot be merged.
            outcome = settled(piece)
            piece = outcome.pieces.by_address.get(address) if isinstance(outcome, _Side) else piece
        if isinstance(piece, MergeConflict):
            conflicts.append(piece)
            changed[address] = _marked(address, second, third, labels or Labels())
            continue
        if not isinstance(outcome, _Side) and {*second.entries[address].hashes} ^ {*third.entries[address].hashes}:
            united.append(address)
        if piece is not second.pieces.by_address.get(address):
            changed[address] = piece
    frame = LockPieces(
        _merged_text(first.pieces.head, second.pieces.head, third.pieces.head),
        tuple(replace(piece, lead=_lead(piece, first, third)) for piece in second.pieces.pieces),
        _merged_text(first.pieces.tail, second.pieces.tail, third.pieces.tail),
        second.pieces.line_end,
    )
    return Merged(encode(rejoin(frame, changed)), tuple(conflicts), tuple(united))


def _side(data: bytes, model: bytes, dialect: Dialect) -> _Side:
    if not data.strip():
        return _Side(b"", LockPieces(), {})
    data = data if data is model else with_line_ends_of(model, data.replace(b"\r\n", b"\n"))
    lock = require_readable(data, dialect, "a side of the merge cannot be read", hint="fix that side first")
    return _Side(data, split_blocks(data, dialect), dict(lock.by_address))


def _ancestor(data: bytes, ours: _Side, theirs: _Side, dialect: Dialect) -> _Side:
    """Return the common ancestor, as far as it can be read."""
    try:
        return _side(data, ours.data, dialect)
    except ConfigurationError:
        parts = conflict_sides(_LONG_MARKER.sub(lambda marker: marker[0][:MARKER_SIZE], data))
    try:
        one, other = (_side(part, ours.data, dialect) for part in (parts or ())[1:])
    except (ConfigurationError, ValueError):
        everything = frozenset(ours.entries.keys() | theirs.entries.keys())
        return _Side(b"", LockPieces(), {}, everything)
    addresses = one.entries.keys() | other.entries.keys()
    return replace(one, disputed=frozenset(each for each in addresses if one.body(each) != other.body(each)))


def _outcome(address: ProviderAddress, base: _Side, ours: _Side, theirs: _Side) -> _Side | LockEntry | MergeConflict:
    """Return the side whose block stands, the united entry, or the conflict."""
    is_disputed = address in base.disputed
    before, mine, other = (side.entries.get(address) for side in (base, ours, theirs))
    before = None if is_disputed else before
    texts = ["" if is_disputed else base.body(address), ours.body(address), theirs.body(address)]
    if texts[1] == texts[2] or (texts[2] == texts[0] and not is_disputed):
        return ours
    if texts[1] == texts[0] and not is_disputed:
        return theirs
    reason, moved = "", None
    if mine is None or other is None:
        twin, (without, having) = twin_of(address), (ours, theirs) if mine is None else (theirs, ours)
        moved = without.entries.get(twin) if twin is not None and twin not in having.entries else None
        lacks = "removed it" if moved is None else f"has it as {moved.address} {moved.version}"
        reason = f"one side {lacks}, the other changed it"
    elif other.contents == mine.contents:
        old, current, new = map(_comments_in, texts)
        return theirs if current == old != new else ours
    elif before is not None and other.contents == before.contents:
        return ours
    elif before is not None and mine.contents == before.contents:
        return theirs
    elif mine.version != other.version:
        reason = "two versions were selected"
        if before is not None and before.version in (mine.version, other.version):
            reason = "one side selected another version, the other changed the old entry"
    elif (hashes := _united(before, mine, other)) is None:
        reason = _why_not_united(before, mine, other)
    elif (constraints := _constraints(before, mine, other)) is None:
        reason = "the constraints differ"
    else:
        return replace(mine, hashes=hashes, constraints=constraints)
    return MergeConflict(address, before, mine, other, reason, moved)


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


def _why_not_united(before: LockEntry | None, mine: LockEntry, other: LockEntry) -> str:
    packages, others = packages_of(mine.hashes), packages_of(other.hashes)
    known = packages_of(before.hashes) if before is not None else frozenset()
    if packages <= others or others <= packages or packages | others <= known:
        return "a side removed hashes of the common ancestor"
    return "the sides have different packages for one version"


def _constraints(before: LockEntry | None, mine: LockEntry, other: LockEntry) -> str | None:
    if mine.constraints == other.constraints:
        return mine.constraints
    if before is not None and before.constraints in (mine.constraints, other.constraints):
        return other.constraints if before.constraints == mine.constraints else mine.constraints
    return None


def _piece(
    outcome: _Side | LockEntry, address: ProviderAddress, base: _Side, ours: _Side, theirs: _Side
) -> BlockPiece | MergeConflict | None:
    """Return the block with the comments of both sides, None for a removed one; a conflict if they cannot be merged."""
    before, body, other = base.body(address), ours.body(address), theirs.body(address)
    before = "" if address in base.disputed else before
    if isinstance(outcome, _Side):
        piece = outcome.pieces.by_address.get(address)
        if piece is None or not body or not other:
            return piece
        merged = _merged_body(before, *((body, other) if outcome is ours else (other, body)))
        if merged is not None:
            return piece if merged == piece.body else replace(piece, body=merged)
    else:
        # The tools' layout has no place for a comment within the block.
        has_inner = any(_comments_in(_split_comments(text)[1]) for text in (body, other))
        merged = None if has_inner else _merged_body(before, body, other)
        if merged is not None:
            rendered = rendered_for(ours.data, outcome)
            return replace(ours.pieces.by_address[address], body=_split_comments(merged)[0] + rendered)
    entry = None if address in base.disputed else base.entries.get(address)
    mine, their = ours.entries.get(address), theirs.entries.get(address)
    return MergeConflict(address, entry, mine, their, COMMENTS_CLASH)


def _lead(piece: BlockPiece, base: _Side, theirs: _Side) -> str:
    """Return the text above a block of ours that belongs to no block, with the comments that theirs has there."""
    before, other = (side.pieces.by_address.get(piece.address) for side in (base, theirs))
    lead = before.lead if before is not None else ""
    if other is None or _comments_in(other.lead) in (_comments_in(lead), _comments_in(piece.lead)):
        return piece.lead
    return _merged_text(lead, piece.lead, other.lead)


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


def _comments_in(text: str) -> tuple[str, ...]:
    """Return the comments of a text in its order."""
    found = (match["comment"] for match in _STRING_OR_COMMENT.finditer(text))
    return tuple(comment.rstrip() for comment in found if comment is not None)


def _split_comments(body: str) -> tuple[str, str]:
    """Return the lines of comments above a block, and the block."""
    lines = body.splitlines(keepends=True)
    above = 0
    while above < len(lines) and lines[above].lstrip("\ufeff \t").startswith(("#", "//")):
        above += 1
    return "".join(lines[:above]), "".join(lines[above:])


def _merged_body(base: str, winner: str, other: str) -> str | None:
    """Return a block with the comments of both sides; None if they cannot be merged.

    The winner is the block whose entry stands; of the other one only the comments are kept.
    """
    if _comments_in(other) in (_comments_in(base), _comments_in(winner)):
        return winner
    (before, old), (above, block), (their_above, their_block) = map(_split_comments, (base, winner, other))
    is_inner_kept = _comments_in(their_block) in (_comments_in(old), _comments_in(block))
    return their_above + block if is_inner_kept and above == before else None


def _merged_text(base: str, ours: str, theirs: str) -> str:
    """Merge text that belongs to no block: the changed side's, or ours with the lines that theirs adds."""
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    if "/*" in theirs:
        return _with_line_end(ours) + theirs
    known = {line.strip() for text in (base, ours) for line in text.splitlines()}
    return _with_line_end(ours) + "".join(
        line for line in theirs.splitlines(keepends=True) if line.strip() not in known | {""}
    )


def _with_line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
