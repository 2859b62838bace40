"""A lock file in pieces: each provider block with its comments, and the text between the blocks.

The comments right above a block, in it and on its last line belong to it. Joined again in their order, the pieces are
the file, byte for byte.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hcl import decode
from locklens.lockfile.splice import block_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect

_BYTE_ORDER_MARK = "\ufeff"


class BlockPiece(Struct, frozen=True):
    """A provider block with the text above it.

    Attributes:
        lead: The text between the block before and this one.
        body: The block's whole lines, with the comments right above it.
        before: The provider of the block before; None for the first, its own for one from another file.
    """

    address: ProviderAddress
    lead: str
    body: str
    before: ProviderAddress | None


class LockPieces(Struct, frozen=True, dict=True):
    """A lock file in pieces.

    Attributes:
        head: The text above the first block, without the empty lines there.
        tail: The text behind the last one.
    """

    head: str
    pieces: tuple[BlockPiece, ...]
    tail: str

    @cached_property
    def by_address(self) -> Mapping[ProviderAddress, BlockPiece]:
        """The pieces by provider."""
        return {piece.address: piece for piece in self.pieces}

    @property
    def line_end(self) -> str:
        """The line end of the file: CRLF where its head or its tail has one."""
        return "\r\n" if "\r\n" in self.head + self.tail else "\n"


def split_blocks(data: bytes, dialect: Dialect) -> LockPieces:
    """Return a lock file in pieces.

    Raises:
        ConfigurationError: The tools would refuse the file.
    """
    text = decode(data)
    spans = [span for span in block_spans(data, dialect) if span.address is not None]
    pieces: list[BlockPiece] = []
    head, at = "", 0
    for span in spans:
        start, end = _start(text, span.start, floor=at, is_first=not pieces), _end(text, span.end)
        lead, before = text[at:start], pieces[-1].address if pieces else None
        if before is None:
            head = _head(lead)
            lead = lead.removeprefix(head)
        assert span.address is not None
        pieces.append(BlockPiece(span.address, lead, text[start:end], before))
        at = end
    return LockPieces(head if pieces else text, tuple(pieces), text[at:] if pieces else "")


def rejoin(pieces: LockPieces, changed: Mapping[ProviderAddress, BlockPiece | None], line_end: str) -> str:
    """Return the text of a lock file with some blocks replaced, removed (None) or added in the order of addresses.

    Args:
        pieces: The file before. A replaced block keeps the text above it, and text above a removed block stays.
        changed: The new piece of each changed provider.
        line_end: Of the empty lines that are added.
    """
    kept: list[BlockPiece] = []
    left = ""
    """The text above removed blocks that belongs to none."""
    for piece in pieces.pieces:
        new = changed.get(piece.address, piece)
        if new is None:
            left += piece.lead if piece.lead.strip() else ""
            continue
        kept.append(BlockPiece(piece.address, left + piece.lead, new.body, piece.before))
        left = ""
    for address, new in changed.items():
        if new is not None and address not in pieces.by_address:
            at = next((number for number, other in enumerate(kept) if address < other.address), len(kept))
            lead = new.lead if not new.lead.strip() else line_end
            kept.insert(at, BlockPiece(address, lead, new.body, before=address))
    return _concatenated(pieces.head, kept, left + pieces.tail, line_end)


def _concatenated(head: str, pieces: Iterable[BlockPiece], tail: str, line_end: str) -> str:
    """Join pieces, with an empty line between two that did not follow each other before."""
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


def _head(lead: str) -> str:
    """The text above the first block, without the empty lines right above it."""
    text = lead.rstrip()
    return lead[: _line_after(lead, len(text))] if text.strip(_BYTE_ORDER_MARK) else lead[: _origin(lead)]


def _start(text: str, at: int, *, floor: int, is_first: bool) -> int:
    """The start of a block's lines: with the comments right above it, unless they head the file."""
    start = max(text.rfind("\n", 0, at) + 1, floor)
    if text[start:at].strip(_BYTE_ORDER_MARK + " \t"):
        return at
    first = start
    while start > floor and text[start - 1] == "\n":
        above = max(text.rfind("\n", 0, start - 1) + 1, floor)
        if not text[above:start].lstrip(_BYTE_ORDER_MARK + " \t").startswith(("#", "//")):
            return start
        start = above
    return max(first, _origin(text)) if is_first else start


def _end(text: str, at: int) -> int:
    """The end of a block's lines, unless a comment that began behind the brace goes on."""
    end = _line_after(text, at)
    return at if "/*" in text[at:end] else end


def _line_after(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _origin(text: str) -> int:
    return len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
