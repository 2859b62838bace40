"""Closes a screen once, whatever keys are waiting for it. Independent of the domain."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType


class ClosedOnce(Screen[ScreenResultType]):
    """A screen that ignores a second dismissal.

    Textual's `dismiss` takes the topmost screen away, whichever it is. A key that was typed while the first dismissal
    was on its way (enter twice, a repeated esc) took away the screen below, and in the end left an empty one without
    keys. Stands after Textual's own class among the bases, whose styles come from the first one.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the screen, and any above it; nothing if it is closed already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        self.pop_until_active()
        return super().dismiss(result)
