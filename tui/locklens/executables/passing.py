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
        self._block = b""
        self._next = 0
        self._skipped = 0

    def feed(self, block: bytes) -> None:
        """Take the next bytes, without a copy where nothing is held."""
        dropped = min(self._skipped, len(block))
        self._skipped -= dropped
        rest = self._block[self._next :]
        self._block, self._next = (rest + block, 0) if rest else (block, dropped)

    def peek(self, count: int) -> Taken:
        """Give the next bytes, without passing them."""
        while len(self._block) - self._next < count:
            yield
        return self._block[self._next : self._next + count]

    def take(self, count: int) -> Taken:
        """Give the next bytes."""
        data = yield from self.peek(count)
        self.skip(count)
        return data

    def skip(self, count: int) -> None:
        """Pass the next bytes; they need not be there yet."""
        there = min(count, len(self._block) - self._next)
        self._next += there
        self._skipped += count - there
        self.at += count
        self.left -= count

    def find(self, place_in: Callable[[bytes, int], int], longest: int) -> Search:
        """Pass all bytes before a place.

        Args:
            place_in: Returns where in some bytes the place is, from a position on; -1 if it is not there.
            longest: Bytes by which the place is recognised, at most.
        """
        tail = b""
        while True:
            seam = tail + self._block[self._next : self._next + longest - 1]
            if tail and (place := place_in(seam, 0)) >= 0:
                self._restore(tail)
                self.skip(place)
                return
            if (place := place_in(self._block, self._next)) >= 0:
                self.skip(place - self._next)
                return
            held = len(self._block) - self._next
            tail = (tail + self._block[max(self._next, len(self._block) - longest + 1) :])[1 - longest :]
            self.skip(held)
            yield

    def _restore(self, passed: bytes) -> None:
        """Put back bytes that were passed."""
        self._block, self._next = passed + self._block[self._next :], 0
        self.at -= len(passed)
        self.left += len(passed)
