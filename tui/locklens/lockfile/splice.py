"""Replaces single provider blocks in a lock file and leaves every other byte as it is.

A file that a tool wrote is one that it would have written again. In any other file comments, order, spacing and line
ends stay; only a block that is replaced is as the tools write it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.hcl import decode, encode, parse_constants
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render, render_entry
from locklens.lockfile.update import with_line_ends_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry

_BYTE_ORDER_MARK = "\ufeff"


class BlockSpan(Struct, frozen=True):
    """The place of a block in the text: from its first word to behind its closing brace.

    Attributes:
        address: Of a provider block; None for any other.
    """

    address: ProviderAddress | None
    start: int
    end: int


class _Edit(Struct, frozen=True, order=True):
    """A piece of the text, and what takes its place. Pieces do not overlap; of equal ones the empty one comes first."""

    start: int
    end: int
    text: str


def splice(data: bytes, changed: Mapping[ProviderAddress, LockEntry | None], *, dialect: Dialect) -> bytes:
    """Return a lock file with some blocks replaced, removed (None) or added where the tools' order has them.

    Args:
        data: The file; b"" for one that does not exist, which gets a header.
        changed: What becomes of the providers whose blocks are not to stay.
        dialect: Whose rules hold for addresses, and whose header a new file gets.

    Raises:
        ConfigurationError: The tools would refuse the file, so the unchanged part is undefined.
    """
    wanted = [entry for entry in changed.values() if entry is not None]
    if wanted and not data.removeprefix(_BYTE_ORDER_MARK.encode()).strip():
        return render(wanted, dialect)
    spans = block_spans(data, dialect)
    by_address = {span.address: span for span in spans if span.address is not None}
    text = _Text(decode(data))
    edits = []
    added = {}
    for address, entry in changed.items():
        span = by_address.get(address)
        if entry is None:
            edits += [text.removal(span)] if span is not None else []
        elif span is not None:
            edits.append(text.replacement(span, _block(data, entry)))
        else:
            added[address] = _block(data, entry)
    staying = [span for span in spans if span.address is None or changed.get(span.address, True) is not None]
    edits += text.insertions(added, staying, spans)
    return encode(_applied(text.text, sorted(edits)))


def _block(data: bytes, entry: LockEntry) -> str:
    return decode(with_line_ends_of(data, render_entry(entry).encode()))


def block_spans(data: bytes, dialect: Dialect) -> list[BlockSpan]:
    """Return the file's blocks in its order; the text is what `locklens.hcl.decode` makes of the bytes.

    Raises:
        ConfigurationError: The tools would refuse the file.
    """
    problems = parse(data, "", dialect=dialect).problems
    body = parse_constants(data).body
    if problems or body is None:
        reason = f": line {problems[0].line}: {problems[0].summary}" if problems else ""
        raise ConfigurationError(f"the lock file cannot be changed in place{reason}", hint="fix the file first")
    return [
        BlockSpan(
            dialect.parse_source(block.labels[0]) if block.type == "provider" else None, block.place.start, block.end
        )
        for block in body.all_blocks()
    ]


def _applied(text: str, edits: Iterable[_Edit]) -> str:
    pieces, at = [], 0
    for edit in edits:
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join((*pieces, text[at:]))


class _Text:
    """A lock file's text, and where in it blocks come and go."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._origin = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
        self._line_end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"

    def replacement(self, span: BlockSpan, block: str) -> _Edit:
        """Put another block in a block's place."""
        return _Edit(self._own_start(span), span.end, block.removesuffix(self._line_end))

    def removal(self, span: BlockSpan) -> _Edit:
        """Take a block away, with the empty line before it; a comment on its lines stays."""
        start, end = self._own_start(span), self._line_after(span.end)
        if self.text[span.end : end].strip() or start != self._line_start(span.start):
            return _Edit(start, span.end, "")
        above = self._line_start(start - 1) if start > self._origin else start
        return _Edit(start if self.text[above:start].strip() else above, end, "")

    def insertions(
        self, added: Mapping[ProviderAddress, str], staying: list[BlockSpan], spans: list[BlockSpan]
    ) -> Iterator[_Edit]:
        """Add blocks, each before the first block that sorts behind it.

        Args:
            added: Blocks that end in a line end.
            staying: The blocks that are not removed.
            spans: All of them.
        """
        places: dict[tuple[int, bool], list[str]] = {}
        for address in sorted(added):
            following = next(
                (number for number, span in enumerate(staying) if span.address and address < span.address), len(staying)
            )
            if following:
                place = self._behind(staying[following - 1]), True
            elif staying:
                place = self._above(staying[0]), False
            else:
                place = self._behind(spans[-1]) if spans else len(self.text), True
            places.setdefault(place, []).append(added[address])
        for (at, is_behind), blocks in places.items():
            yield _Edit(at, at, self._spaced(at, blocks, is_behind=is_behind))

    def _spaced(self, at: int, blocks: list[str], *, is_behind: bool) -> str:
        """Join blocks with an empty line before each, or behind each where they stand before the first block."""
        line_end = self._line_end
        if is_behind:
            begun = "" if self.text[:at].endswith("\n") else line_end
            return begun + "".join(line_end + block for block in blocks)
        above = self.text[self._line_start(at - 1) : at] if at > self._origin else ""
        return (line_end if above.strip() else "") + "".join(block + line_end for block in blocks)

    def _behind(self, span: BlockSpan) -> int:
        """The offset for a block after another: the next line, or the block's end if a comment starts after it."""
        end = self._line_after(span.end)
        return span.end if "/*" in self.text[span.end : end] else end

    def _above(self, first: BlockSpan) -> int:
        """The offset for a block before the first one: above the comments right above it, unless they head the file."""
        own = self._own_start(first)
        at = self._line_start(own)
        if at != own or "/*" in self.text[:at]:
            return own
        top = at
        while top > self._origin:
            above = self._line_start(top - 1)
            if not self.text[above:top].lstrip().startswith(("#", "//")):
                return top
            top = above
        return at

    def _own_start(self, span: BlockSpan) -> int:
        """The start of a block, including its indentation if nothing else precedes it on the line."""
        start = self._line_start(span.start)
        return span.start if self.text[start : span.start].strip() else start

    def _line_start(self, at: int) -> int:
        return max(self.text.rfind("\n", 0, at) + 1, self._origin)

    def _line_after(self, at: int) -> int:
        return self.text.find("\n", at) + 1 or len(self.text)
