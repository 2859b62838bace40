"""A one-shot timer that fires even if the event loop is late."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message_pump import MessagePump
    from textual.timer import Timer


def after(node: MessagePump, seconds: float, callback: Callable[[], object]) -> Timer:
    """Calls `callback` once, after at least `seconds`, unless the timer is stopped.

    `MessagePump.set_timer` skips overdue ticks, even the only one: while the loop is busy for longer than `seconds`,
    its callback is never called. An interval is late, never lost.
    """

    def fire() -> None:
        timer.stop()
        callback()

    timer = node.set_interval(seconds, fire)
    return timer
