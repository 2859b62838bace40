"""The one line on a terminal's stderr that is written over while work goes on; none where stderr is no terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from locklens.cli.output import is_terminal, redraw, tell

if TYPE_CHECKING:
    from collections.abc import Callable

_REDRAW_SECONDS = 0.1


class LiveLine:
    """Draws the line, and keeps out of the way of lines that stay."""

    def __init__(self) -> None:
        self._is_live = is_terminal(sys.stderr)
        self._drawn = 0
        self._last = float("-inf")

    def say(self, *lines: str) -> None:
        """Says what stays."""
        self.wipe()
        tell(lines)

    def draw(self, words: Callable[[], str]) -> None:
        """Writes the line over; `words` is asked for it where it is time for that."""
        now = time.monotonic()
        if not self._is_live or now - self._last < _REDRAW_SECONDS:
            return
        self._last = now
        self._drawn = redraw(words(), over=self._drawn)

    def wipe(self) -> None:
        """Takes the line away."""
        if self._drawn:
            self._drawn = redraw("", over=self._drawn)
