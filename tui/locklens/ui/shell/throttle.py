"""How often the screen is built anew while facts arrive. Reads no clock of its own."""

from __future__ import annotations

_SHARE = 4
"""Building takes at most one part in so many and one, so that keys are answered however much there is to build."""


class Throttle:
    """Keeps two builds apart.

    Args:
        seconds: At least so long after one the next may begin.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Returns for how many seconds to wait with the next build."""
        return max(0.0, self._next - now)

    def took(self, began: float, ended: float) -> None:
        """Tells of a build."""
        self._next = ended + max(self._seconds - (ended - began), _SHARE * (ended - began))
