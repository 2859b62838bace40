"""Reads a zip file from the front, while it arrives, as far as that goes without knowing what its end says.

What is found is a guess that the central directory confirms or not: no other reader uses these headers. Anything
odd ends the reading, without an error: what was not read here is read from the disk later.
"""

from __future__ import annotations

import struct
from functools import partial

from msgspec import Struct

from locklens.packages.archive import Method, ZipEntry
from locklens.packages.contents import DESCRIPTOR_SIGNATURE, LOCAL_HEADER, LOCAL_SIGNATURE, Digest
from locklens.packages.inflate import InflateError, inflated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locklens.packages.arriving import Arriving
    from locklens.packages.limits import Limits
    from locklens.packages.pipeline import SecondThread

_DESCRIPTOR_FLAG = 0x8
_FULL32 = 0xFFFFFFFF


class Streamed(Struct, frozen=True):
    """A content that passed.

    Attributes:
        method: By which it was unpacked.
        packed: Bytes that it took.
        size: Bytes that it has.
        digest: Of it.
        descriptor: The CRC-32 that follows it, None where none does.
    """

    method: Method
    packed: int
    size: int
    digest: Digest
    descriptor: int | None

    def is_of(self, entry: ZipEntry) -> bool:
        """True if unpacking this entry gives this content, and no error."""
        return (
            not entry.is_encrypted
            and (entry.method, entry.packed, entry.size) == (self.method, self.packed, self.size)
            and entry.has_content_of(self.digest.crc)
            and (not entry.has_descriptor or self.descriptor == entry.crc)
        )


def hash_arriving_entries(
    arriving: Arriving, second: SecondThread, limit: Limits, new: Callable[[], Digest]
) -> dict[int, Streamed]:
    """Hashes contents as they arrive, up to the first that cannot be read from the front, or the central directory.

    Args:
        arriving: At its start.
        second: Hashes; the digests are whole when it has finished.
        limit: So that a bomb is not inflated before its size is known.
        new: Makes the digest of one content.

    Returns:
        The contents by the offset of their header.
    """
    found: dict[int, Streamed] = {}
    size = 0
    while len(found) < limit.entries:
        offset = arriving.position
        header = arriving.take(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or header[:4] != LOCAL_SIGNATURE:
            break
        _, flags, method, packed, _, name_length, extra_length = LOCAL_HEADER.unpack(header)
        has_descriptor = bool(flags & _DESCRIPTOR_FLAG)
        arriving.take(name_length + extra_length)
        if method == Method.DEFLATED:
            blocks: Iterator[bytes | memoryview] = inflated(arriving)
        elif method == Method.STORED and not has_descriptor and packed != _FULL32:
            blocks = _stored(arriving, packed)
        else:
            break
        start, before, digest = arriving.position, size, new()
        try:
            for block in blocks:
                arriving.stop_if_cancelled()
                size += len(block)
                if size > min(limit.unpacked, max(limit.ratio_from, limit.ratio * arriving.size)):
                    return found
                second.do(partial(digest.update, block))
        except InflateError:
            break
        second.do(digest.end)
        taken, produced = arriving.position - start, size - before
        descriptor = _read_descriptor(arriving, taken, produced) if has_descriptor else None
        if has_descriptor and descriptor is None:
            break
        found[offset] = Streamed(Method(method), taken, produced, digest, descriptor)
    return found


def _stored(arriving: Arriving, left: int) -> Iterator[memoryview]:
    while left and (piece := arriving.some()):
        block = piece[:left]
        arriving.give_back(len(piece) - len(block))
        left -= len(block)
        yield block
    if left:
        raise InflateError("breaks off")


def _read_descriptor(arriving: Arriving, packed: int, size: int) -> int | None:
    """Read what follows a content; its sizes say which of the four forms it has."""
    record = arriving.take(12)
    has_signature = record[:4] == DESCRIPTOR_SIGNATURE
    record = record[4:] if has_signature else record
    for form in ("<LLL", "<LQQ"):
        record += arriving.take(struct.calcsize(form) - len(record))
        if len(record) == struct.calcsize(form):
            crc, *sizes = struct.unpack(form, record)
            if sizes == [packed, size]:
                return int(crc)
    return None
