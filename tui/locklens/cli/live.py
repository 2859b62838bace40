"""The last line on a terminal's stderr, redrawn during work; absent where stderr is not a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from locklens.cli.output import is_terminal, redraw, tell

if TYPE_CHECKING:
    from collections.abc import Callable

_REDRAW_SECONDS = 0.1


class LiveLine:
    """A redrawn line below permanent ones."""

    def __init__(self) -> None:
        self._is_live = is_terminal(sys.stderr)
        self._drawn = 0
        self._last = float("-inf")

    def say(self, *lines: str) -> None:
        """Write permanent lines."""
        self.wipe()
        tell(lines)

    def draw(self, words: Callable[[], str]) -> None:
        """Redraw the line with the result of `words`, at most once every _REDRAW_SECONDS."""
        now = time.monotonic()
        if not self._is_live or now - self._last < _REDRAW_SECONDS:
            return
        self._last = now
        self._drawn = redraw(words(), over=self._drawn)

    def wipe(self) -> None:
        """Remove the line."""
        if self._drawn:
            self._drawn = redraw("", over=self._drawn)
