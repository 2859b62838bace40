"""A timer that fires once, however late the event loop comes to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message_pump import MessagePump
    from textual.timer import Timer


def after(node: MessagePump, seconds: float, callback: Callable[[], object]) -> Timer:
    """Calls back once, at the earliest after some seconds, unless the timer is stopped before.

    `MessagePump.set_timer` skips the ticks that are overdue, also the only one: where the loop is busy for longer than
    the time, its callback is never called. An interval is late and not lost.
    """

    def fire() -> None:
        timer.stop()
        callback()

    timer = node.set_interval(seconds, fire)
    return timer
