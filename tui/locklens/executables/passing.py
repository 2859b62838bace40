"""Bytes that pass by once, for readers that are generators."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Search = Generator[None, None, None]
    """Yields where more bytes are needed."""

    Taken = Generator[None, None, bytes]
    """Yields where more bytes are needed; its value is what was asked for."""


class Passing:
    """A part of a file while it passes; what was asked for or skipped is forgotten.

    Attributes:
        at: Position of the next byte in that part.
        left: Bytes from there to the end of the part.
    """

    def __init__(self, size: int) -> None:
        self.at = 0
        self.left = size
        self._held = bytearray()
        self._skipped = 0

    def feed(self, block: memoryview) -> None:
        """Take the next bytes."""
        if self._skipped:
            dropped = min(self._skipped, len(block))
            self._skipped -= dropped
            block = block[dropped:]
        self._held += block

    def peek(self, count: int) -> Taken:
        """Give the next bytes, without passing them."""
        while len(self._held) < count:
            yield
        return bytes(self._held[:count])

    def take(self, count: int) -> Taken:
        """Give the next bytes."""
        data = yield from self.peek(count)
        self.skip(count)
        return data

    def skip(self, count: int) -> None:
        """Pass the next bytes; they need not be there yet."""
        there = min(count, len(self._held))
        del self._held[:there]
        self._skipped += count - there
        self.at += count
        self.left -= count

    def find(self, place_in: Callable[[bytearray], int], longest: int) -> Search:
        """Pass all bytes before a place.

        Args:
            place_in: Returns where in some bytes the place is, -1 if it is not there.
            longest: Bytes by which the place is recognised, at most.
        """
        while (place := place_in(self._held)) < 0:
            self.skip(max(0, len(self._held) - longest + 1))
            yield
        self.skip(place)
