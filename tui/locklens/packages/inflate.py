"""Inflating: the one door to isal, which takes half the time of the standard library's zlib and is not everywhere."""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 20
"""Bytes that inflating gives at once, at most; and what bounds the memory of the consumer."""

_RAW = -15


class PackedBytes(Protocol):
    """A stream of compressed bytes."""

    def some(self) -> bytes | memoryview:
        """The next bytes, a modest number; none at the end."""

    def give_back(self, count: int) -> None:
        """Put back that many of the bytes that `some` gave last."""


class InflateError(Exception):
    """It is no deflate stream, or it breaks off."""


@cache
def engine() -> Any:
    """The module that inflates: isal's, or zlib where there is none for this machine."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib
    return isal_zlib


def crc32(data: bytes | memoryview, value: int) -> int:
    """Continue a CRC-32."""
    continued: int = engine().crc32(data, value)
    return continued


def inflated(source: PackedBytes) -> Iterator[bytes]:
    """Yield what a raw deflate stream holds, in blocks of at most BLOCK bytes; what follows it is given back.

    Raises:
        InflateError: There is no whole stream.
    """
    module = engine()
    stream = module.decompressobj(_RAW)
    while not stream.eof:
        piece = source.some()
        if not piece:
            raise InflateError("breaks off")
        while True:
            try:
                block = stream.decompress(piece, BLOCK)
            except module.error as error:
                raise InflateError(str(error)) from error
            if block:
                yield block
            piece = stream.unconsumed_tail
            if stream.eof or (not piece and len(block) < BLOCK):
                break
    source.give_back(len(stream.unused_data))
