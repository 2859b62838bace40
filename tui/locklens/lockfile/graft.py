"""Takes single provider blocks from one state of a lock file into another, with the bytes that they have there.

It is what `git add -p` does with the hunks of these blocks: comments right above a block, in it and on its last line go
with it; everything else stays as the receiving file has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.hcl import decode, encode
from locklens.lockfile.parse import parse
from locklens.lockfile.splice import block_spans

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry

_BYTE_ORDER_MARK = "\ufeff"


class _Piece(Struct, frozen=True):
    """A provider block with what stands before it.

    Attributes:
        lead: The text between the block before and this one.
        body: The block's whole lines, with the comments right above it.
        before: The provider of the block before; None for the first, its own for one that came from elsewhere.
    """

    address: ProviderAddress
    lead: str
    body: str
    before: ProviderAddress | None


class _File(Struct, frozen=True):
    """A lock file as it falls into pieces; together they are the whole of it.

    Attributes:
        head: What stands above the first block, without the empty lines there.
        tail: What stands behind the last one.
    """

    head: str
    pieces: tuple[_Piece, ...]
    tail: str

    @property
    def by_address(self) -> dict[ProviderAddress, _Piece]:
        """The pieces by provider."""
        return {piece.address: piece for piece in self.pieces}


def graft(data: bytes, donor: bytes, chosen: Collection[ProviderAddress], *, dialect: Dialect) -> bytes:
    """Returns a lock file with some providers as another state of it has them.

    Where that leaves no provider different, it is the other state, byte for byte.

    Args:
        data: The file that receives; b"" for one that does not exist, which gets the donor's header.
        donor: The state that the blocks are taken from; what it does not have is removed.
        chosen: The providers that are taken.
        dialect: Whose rules hold for addresses.

    Raises:
        ConfigurationError: The tools would refuse one of the two, or its blocks cannot be told apart.
    """
    old, new = _entries(data, dialect), _entries(donor, dialect)
    differing = {address for address in old.keys() | new.keys() if not _alike(old.get(address), new.get(address))}
    if differing <= set(chosen):
        return donor
    giving = _pieces(donor, dialect)
    receiving = _pieces(data, dialect) if data.strip() else _File(giving.head, (), "")
    result = encode(_joined(receiving, giving, frozenset(chosen) & differing))
    _require(result, {address: (new if address in chosen else old).get(address) for address in (*old, *new)}, dialect)
    return result


def _entries(data: bytes, dialect: Dialect) -> Mapping[ProviderAddress, LockEntry]:
    lock = parse(data, "", dialect=dialect)
    if lock.problems:
        problem = lock.problems[0]
        words = f"its blocks cannot be told apart: line {problem.line}: {problem.summary}"
        raise ConfigurationError(words, hint="mend the file first")
    return lock.by_address


def _alike(one: LockEntry | None, other: LockEntry | None) -> bool:
    """Whether two entries say the same, whatever their layout."""
    if one is None or other is None:
        return one is other
    return (str(one.version), one.constraints, set(one.hashes)) == (
        str(other.version),
        other.constraints,
        set(other.hashes),
    )


def _require(data: bytes, wanted: Mapping[ProviderAddress, LockEntry | None], dialect: Dialect) -> None:
    """Makes sure that a file says what it is to say: comments may stand where nobody expects them.

    Raises:
        ConfigurationError: It does not.
    """
    found = parse(data, "", dialect=dialect)
    if found.problems or any(not _alike(found.by_address.get(address), entry) for address, entry in wanted.items()):
        raise ConfigurationError("its blocks cannot be told apart", hint="take the whole file")


def _pieces(data: bytes, dialect: Dialect) -> _File:
    text = decode(data)
    spans = [span for span in block_spans(data, dialect) if span.address is not None]
    pieces: list[_Piece] = []
    head, at = "", 0
    for span in spans:
        start, end = _start(text, span.start, floor=at, is_first=not pieces), _end(text, span.end)
        lead, before = text[at:start], pieces[-1].address if pieces else None
        if before is None:
            head = _head(lead)
            lead = lead.removeprefix(head)
        assert span.address is not None
        pieces.append(_Piece(span.address, lead, text[start:end], before))
        at = end
    return _File(head if pieces else text, tuple(pieces), text[at:] if pieces else "")


def _head(lead: str) -> str:
    """What stands above the first block, without the empty lines right above it."""
    told = lead.rstrip()
    return lead[: _line_after(lead, len(told))] if told.strip(_BYTE_ORDER_MARK) else lead[: _origin(lead)]


def _start(text: str, at: int, *, floor: int, is_first: bool) -> int:
    """Where a block's lines begin: with the comments right above it, unless they head the file."""
    start = max(text.rfind("\n", 0, at) + 1, floor)
    if text[start:at].strip(_BYTE_ORDER_MARK + " \t"):
        return at
    own = start
    while start > floor and text[start - 1] == "\n":
        above = max(text.rfind("\n", 0, start - 1) + 1, floor)
        if not text[above:start].lstrip(_BYTE_ORDER_MARK + " \t").startswith(("#", "//")):
            return start
        start = above
    return max(own, _origin(text)) if is_first else start


def _end(text: str, at: int) -> int:
    """Where a block's lines end, unless a comment that began behind the brace goes on."""
    end = _line_after(text, at)
    return at if "/*" in text[at:end] else end


def _line_after(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _origin(text: str) -> int:
    return len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0


def _joined(receiving: _File, giving: _File, chosen: frozenset[ProviderAddress]) -> str:
    """Puts the pieces together."""
    given = giving.by_address
    line_end = "\r\n" if "\r\n" in (receiving.head + receiving.tail or giving.head) else "\n"
    kept: list[_Piece] = []
    left = ""
    """What stands above a block that goes, and does not go with it."""
    for piece in receiving.pieces:
        if piece.address in chosen and piece.address not in given:
            left += piece.lead if piece.lead.strip() else ""
            continue
        body = given[piece.address].body if piece.address in chosen else piece.body
        kept.append(_Piece(piece.address, left + piece.lead, body, piece.before))
        left = ""
    for piece in giving.pieces:
        if piece.address in chosen and piece.address not in receiving.by_address:
            at = next((number for number, one in enumerate(kept) if piece.address < one.address), len(kept))
            lead = piece.lead if not piece.lead.strip() else line_end
            kept.insert(at, _Piece(piece.address, lead, piece.body, before=piece.address))
    return _concatenated(receiving.head, kept, left + receiving.tail, line_end)


def _concatenated(head: str, pieces: list[_Piece], tail: str, line_end: str) -> str:
    """Puts the pieces in a row, with an empty line between two that did not follow each other before."""
    text = head
    before: ProviderAddress | None = None
    for piece in pieces:
        lead = piece.lead
        if piece.before != before:
            if text.strip(_BYTE_ORDER_MARK):
                text += "" if text.endswith("\n") else line_end
                lead = lead or line_end
            elif not lead.strip():
                lead = ""
        text += lead + piece.body
        before = piece.address
    return text + tail
