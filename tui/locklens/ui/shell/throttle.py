"""Throttle of list rebuilds while facts stream in; the clock is injected."""

from __future__ import annotations

_SHARE = 4
"""Rebuilds take at most 1/(_SHARE + 1) of the time, so that the UI stays responsive."""


class Throttle:
    """Keeps rebuilds apart.

    Args:
        seconds: Shortest time between the starts of two rebuilds.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds to wait before the next rebuild."""
        return max(0.0, self._next - now)

    def took(self, began: float, ended: float) -> None:
        """Record a rebuild."""
        self._next = ended + max(self._seconds - (ended - began), _SHARE * (ended - began))
