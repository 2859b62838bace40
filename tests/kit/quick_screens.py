"""Has the screens of a test take less: waits end with the work, and the styles of all apps are parsed once."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from textual._compositor import Compositor
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from kit.effort import IS_FULL

if TYPE_CHECKING:
    import pytest
    from textual._queue import Queue
    from textual.screen import Screen


_QUIET_TURNS = 6
"""Of the event loop in a row: a key takes three from the driver to the queue of the app."""


def has_nothing_to_do(pump: MessagePump) -> bool:
    """Whether a widget waits for its next message: none is in its queue, and none is being handled."""
    queue: Queue[Message | None] = pump._message_queue
    return not pump.is_running or (queue.empty() and bool(queue.ready_event._waiters))


async def all_handled(min_sleep: float = 0, max_sleep: float = 0) -> None:
    """Waits until every message is handled, also those that handlers post meanwhile, and the screen is painted.

    Textual's own `wait_for_idle`, whose place and arguments this takes, sleeps until the process has used little CPU time
    for a fiftieth of a second, or a second has gone by: twice for each key, and for too little on a machine with other work.
    """
    app = active_app.get()
    turns = quiet = 0
    pumps: list[MessagePump] = []
    while quiet < _QUIET_TURNS and app._exception is None and not app._exit:
        if quiet == 0:
            pumps = [app, *(one for screen in app.screen_stack for one in screen.walk_children(with_self=True))]
        elif quiet == _QUIET_TURNS - 2:
            app.screen._on_timer_update()  # sixty times a second otherwise; calls what waits for a painted screen
        quiet = quiet + 1 if app._resize_event is None and all(map(has_nothing_to_do, pumps)) else 0
        turns += 1
        assert turns < 20_000, f"still at work: {[one for one in pumps if not has_nothing_to_do(one)]}"
        await asyncio.sleep(0 if turns < 2000 else 0.01)


async def waited_for(pilot: Pilot[Any], timeout: float = 0) -> bool:
    """Textual's own has each widget of the screen handle a message more, which says that those before it are handled."""
    del timeout
    await all_handled()
    return pilot.app._exception is None


def paint_nothing(compositor: Compositor, full: bool = False, screen_stack: list[Screen[Any]] | None = None) -> None:
    """Leaves out the frames of a terminal that nobody reads: a third of what the tests of screens would take.

    `Driver.lines` paints what a test looks at.
    """
    del full, screen_stack
    compositor._dirty_regions.clear()


_PARSED: dict[Hashable, list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules


def parsed_once(
    sheet: Stylesheet,
    css: str,
    read_from: tuple[str, str],
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    """The rules of one source of styles; each app of a process would parse some forty again otherwise, to the same."""
    key = (css, read_from, is_default_rules, tie_breaker, scope, frozenset(sheet._variables.items()))
    if key not in _PARSED:
        _PARSED[key] = _parse_rules(sheet, css, read_from, is_default_rules, tie_breaker, scope)
    return _PARSED[key]


def take_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts all of this in the place of Textual's own; a full run works everything out anew, and paints it."""
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", all_handled)
    monkeypatch.setattr(Stylesheet, "_parse_rules", parsed_once)
    if not IS_FULL:
        monkeypatch.setattr(Pilot, "_wait_for_screen", waited_for)
        monkeypatch.setattr(Compositor, "render_update", paint_nothing)
