"""Lock files block by block: provider blocks come, change and go, and every other byte stays.

`splice` writes changed blocks in the tools' layout, so that a file that a tool wrote still looks as if the tool had
written it. `graft` copies blocks byte for byte from another state of the file, as `git add -p` takes hunks. Like the
merge, it works on pieces: each block with the comments right above it, inside it and on its last line, and the text
between the blocks. Joined in order, the pieces are the file again.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.hcl import decode, encode, parse_constants
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render, render_entry, with_line_ends_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import EntryContents, LockEntry, LockFile

_BYTE_ORDER_MARK = "\ufeff"


class BlockPiece(Struct, frozen=True):
    """A provider block with the text above it.

    Attributes:
        lead: The text between the previous block and this one.
        body: The block's whole lines, with the comments right above it.
        before: The provider of the block above it; None for the first block. A block that was taken from another
            file has its own provider here, since it followed no block of this file.
    """

    address: ProviderAddress
    lead: str
    body: str
    before: ProviderAddress | None


class LockPieces(Struct, frozen=True, dict=True):
    """A lock file in pieces.

    Attributes:
        head: The text above the first block, without the empty lines there.
        tail: The text below the last block.
    """

    head: str = ""
    pieces: tuple[BlockPiece, ...] = ()
    tail: str = ""
    line_end: str = "\n"

    @cached_property
    def by_address(self) -> Mapping[ProviderAddress, BlockPiece]:
        """The pieces by provider."""
        return {piece.address: piece for piece in self.pieces}


class _Span(Struct, frozen=True):
    """The offsets of a block, of its first word and after its closing brace; only a provider block has an address."""

    address: ProviderAddress | None
    start: int
    end: int


class _Edit(Struct, frozen=True, order=True):
    """A range of the text and its replacement. Ranges do not overlap. At equal starts, the empty one sorts first."""

    start: int
    end: int
    text: str


def splice(data: bytes, changed: Mapping[ProviderAddress, LockEntry | None], *, dialect: Dialect) -> bytes:
    """Return a lock file with some blocks replaced, removed (None) or added in the tools' order and layout.

    A file that does not exist, b"", gets the header of the dialect.

    Raises:
        ConfigurationError: The tools would refuse the file, so that it is unknown which part must stay as it is.
    """
    entries = [entry for entry in changed.values() if entry is not None]
    if entries and not data.removeprefix(_BYTE_ORDER_MARK.encode()).strip():
        return render(entries, dialect)
    spans = _block_spans(data, dialect)
    by_address = {span.address: span for span in spans if span.address is not None}
    text = _Text(decode(data))
    edits = []
    added = {}
    for address, entry in changed.items():
        span = by_address.get(address)
        if entry is None:
            edits += [text.removal(span)] if span is not None else []
        elif span is not None:
            edits.append(text.replacement(span, rendered_for(data, entry)))
        else:
            added[address] = rendered_for(data, entry)
    staying = [span for span in spans if span.address is None or changed.get(span.address, True) is not None]
    edits += text.insertions(added, staying, spans)
    pieces, at = [], 0
    for edit in sorted(edits):
        pieces += [text.text[at : edit.start], edit.text]
        at = edit.end
    return encode("".join((*pieces, text.text[at:])))


def rendered_for(data: bytes, entry: LockEntry) -> str:
    """Return a block in the tools' layout with the line ends of a file."""
    return decode(with_line_ends_of(data, render_entry(entry).encode()))


def graft(data: bytes, donor: bytes, chosen: Collection[ProviderAddress], *, dialect: Dialect) -> bytes:
    """Return a lock file in which some providers' blocks come from another state of it, or go if it lacks them.

    If no other provider differs between the two, the result is the other state, byte for byte. A file that does not
    exist, b"", gets the donor's header.

    Raises:
        ConfigurationError: The tools would refuse one of the two, or its blocks cannot be identified.
    """
    old, new = _contents(data, dialect), _contents(donor, dialect)
    differing = {address for address in old.keys() | new.keys() if old.get(address) != new.get(address)}
    if differing <= set(chosen):
        return donor
    giving = split_blocks(donor, dialect)
    receiving = split_blocks(data, dialect) if data.strip() else LockPieces(giving.head, line_end=giving.line_end)
    changed = {address: giving.by_address.get(address) for address in sorted(differing & set(chosen))}
    result = encode(rejoin(receiving, changed))
    expected = {address: (new if address in chosen else old).get(address) for address in (*old, *new)}
    lock = parse(result, "", dialect=dialect)
    # Comments may stand where the pieces do not expect them, so the result is read again.
    found = {address: entry.contents for address, entry in lock.by_address.items()}
    if lock.problems or any(found.get(address) != contents for address, contents in expected.items()):
        raise ConfigurationError("its blocks cannot be identified", hint="take the whole file")
    return result


def _contents(data: bytes, dialect: Dialect) -> dict[ProviderAddress, EntryContents]:
    lock = require_readable(data, dialect, "its blocks cannot be identified", hint="fix the file first")
    return {address: entry.contents for address, entry in lock.by_address.items()}


def require_readable(data: bytes, dialect: Dialect, refusal: str, *, hint: str) -> LockFile:
    """Read a lock file that the tools would accept.

    Raises:
        ConfigurationError: They would refuse it; the message is the refusal and the file's first problem.
    """
    lock = parse(data, "", dialect=dialect)
    if lock.problems:
        problem = lock.problems[0]
        raise ConfigurationError(f"{refusal}: line {problem.line}: {problem.summary}", hint=hint)
    return lock


def split_blocks(data: bytes, dialect: Dialect) -> LockPieces:
    """Return a lock file in pieces.

    Raises:
        ConfigurationError: The tools would refuse the file.
    """
    text = _Text(decode(data))
    pieces: list[BlockPiece] = []
    head, at = "", 0
    for span in _block_spans(data, dialect):
        if span.address is None:
            continue
        start, end = text.start_with_comments(span, floor=at), text.end_of_lines(span)
        lead, before = text.text[at:start], pieces[-1].address if pieces else None
        if before is None:
            head = _head(lead)
            lead = lead.removeprefix(head)
        pieces.append(BlockPiece(span.address, lead, text.text[start:end], before))
        at = end
    if not pieces:
        return LockPieces(text.text, line_end=text.line_end)
    return LockPieces(head, tuple(pieces), text.text[at:], text.line_end)


def _head(lead: str) -> str:
    """Return the text above the first block without the empty lines right above it."""
    end = len(lead.rstrip())
    if not lead[:end].strip(_BYTE_ORDER_MARK):
        return _BYTE_ORDER_MARK if lead.startswith(_BYTE_ORDER_MARK) else ""
    return lead[: lead.find("\n", end) + 1 or len(lead)]


def rejoin(pieces: LockPieces, changed: Mapping[ProviderAddress, BlockPiece | None]) -> str:
    """Return the text of a lock file with some blocks replaced, removed (None) or added in the order of addresses.

    A replaced block keeps the text above it, and text above a removed block stays.
    """
    kept: list[BlockPiece] = []
    left = ""
    """The text above removed blocks, which belongs to no block."""
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
            lead = new.lead if not new.lead.strip() else pieces.line_end
            kept.insert(at, BlockPiece(address, lead, new.body, before=address))
    return _concatenated(pieces.head, kept, left + pieces.tail, pieces.line_end)


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


def _block_spans(data: bytes, dialect: Dialect) -> list[_Span]:
    """Return the file's blocks in its order, with offsets in the text that `locklens.hcl.decode` returns.

    Raises:
        ConfigurationError: The tools would refuse the file.
    """
    require_readable(data, dialect, "the lock file cannot be changed in place", hint="fix the file first")
    body = parse_constants(data).body
    assert body is not None  # a file without problems has a body
    return [
        _Span(dialect.parse_source(block.labels[0]) if block.type == "provider" else None, block.place.start, block.end)
        for block in body.all_blocks()
    ]


class _Text:
    """A lock file's text, and the offsets at which blocks come and go."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._origin = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
        self.line_end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"

    def start_with_comments(self, span: _Span, *, floor: int = 0) -> int:
        """Return the start of a block's lines and of the comments right above it, unless they are the file's header.

        The floor is the end of the previous block, 0 for the first one.
        """
        own = start = self._own_start(span, floor)
        if start != max(self._line_start(start), floor):
            return own
        while start > max(floor, self._origin):
            above = max(self._line_start(start - 1), floor)
            if not self.text[above:start].lstrip().startswith(("#", "//")):
                return start
            start = above
        return start if floor else own

    def end_of_lines(self, span: _Span) -> int:
        """Return the end of a block's last line; the end of the block itself if a `/*` after it may continue below."""
        end = self._line_after(span.end)
        return span.end if "/*" in self.text[span.end : end] else end

    def replacement(self, span: _Span, block: str) -> _Edit:
        return _Edit(self._own_start(span), span.end, block.removesuffix(self.line_end))

    def removal(self, span: _Span) -> _Edit:
        """Remove a block with the empty line above it; a comment on its lines stays."""
        start, end = self._own_start(span), self._line_after(span.end)
        if self.text[span.end : end].strip() or start != self._line_start(span.start):
            return _Edit(start, span.end, "")
        above = self._line_start(start - 1) if start > self._origin else start
        return _Edit(start if self.text[above:start].strip() else above, end, "")

    def insertions(
        self, added: Mapping[ProviderAddress, str], staying: list[_Span], spans: list[_Span]
    ) -> Iterator[_Edit]:
        """Add blocks, each before the first staying block whose address sorts after its own."""
        places: dict[tuple[int, bool], list[str]] = {}
        for address in sorted(added):
            following = next(
                (number for number, span in enumerate(staying) if span.address and address < span.address), len(staying)
            )
            if following:
                place = self.end_of_lines(staying[following - 1]), True
            elif staying:
                first = staying[0]
                # A comment of several lines may end right above the block.
                is_plain = "/*" not in self.text[: first.start]
                place = self.start_with_comments(first) if is_plain else self._own_start(first), False
            else:
                place = self.end_of_lines(spans[-1]) if spans else len(self.text), True
            places.setdefault(place, []).append(added[address])
        for (at, is_behind), blocks in places.items():
            yield _Edit(at, at, self._spaced(at, blocks, is_behind=is_behind))

    def _spaced(self, at: int, blocks: list[str], *, is_behind: bool) -> str:
        """Join blocks with an empty line above each, or below each if they come before the first block."""
        line_end = self.line_end
        if is_behind:
            begun = "" if self.text[:at].endswith("\n") else line_end
            return begun + "".join(line_end + block for block in blocks)
        above = self.text[self._line_start(at - 1) : at] if at > self._origin else ""
        return (line_end if above.strip() else "") + "".join(block + line_end for block in blocks)

    def _own_start(self, span: _Span, floor: int = 0) -> int:
        """Return the start of a block, with its indentation if nothing else precedes it on its line."""
        start = max(self._line_start(span.start), floor)
        return span.start if self.text[start : span.start].strip() else start

    def _line_start(self, at: int) -> int:
        return max(self.text.rfind("\n", 0, at) + 1, self._origin)

    def _line_after(self, at: int) -> int:
        return self.text.find("\n", at) + 1 or len(self.text)
