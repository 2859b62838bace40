"""Has the screens of a test take less: waits end with the work, and what all apps share is worked out once.

Each test starts an app of its own, and Textual works out all of it anew: it parses the same styles, finds those of the same
widgets, and looks the same handlers up. What is kept here is kept by all that the answer depends on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from textual import _callback as callback
from textual._compositor import Compositor
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
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


_COUNTED: dict[CodeType, int] = {}
_count_parameters = callback._count_parameters


def counted_once(function: Callable[..., object]) -> int:
    """How many parameters a function has; every app has methods of its own, of the same code."""
    if isinstance(function, MethodType):
        return counted_once(function.__func__) - 1
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        return _count_parameters(function)
    if function.__code__ not in _COUNTED:
        _COUNTED[function.__code__] = _count_parameters(function)
    return _COUNTED[function.__code__]


@dataclass
class _Relevant:
    """The rules that may hold for a node of a class, an ID and classes of its own, in Textual's order."""

    rules: tuple[RuleSet, ...]
    states: tuple[str, ...]
    """The pseudo classes that they name, of the node or of one above it."""
    styles: dict[Hashable, dict[str, Any] | None] = field(default_factory=dict)
    """What they come to, by all that they look at."""


_SHEETS: dict[tuple[RuleSet, ...], dict[Hashable, _Relevant]] = {}
_RELEVANT: dict[tuple[RuleSet, ...], _Relevant] = {}
_FRESH: dict[DOMNode, dict[str, Any]] = {}
_NEIGHBOURS = {"first-of-type", "last-of-type", "first-child", "last-child", "empty"}
_apply = Stylesheet.apply
_replace_rules = Stylesheet.replace_rules


def _relevant(sheet: Stylesheet, node: DOMNode, own: Hashable) -> _Relevant:
    rules = sheet.rules
    known: tuple[list[RuleSet], dict[Hashable, _Relevant]] | None = sheet.__dict__.get("_known")
    if known is None or known[0] is not rules:
        known = rules, _SHEETS.setdefault(tuple(rules), {})
        sheet.__dict__["_known"] = known
    if own not in known[1]:
        by_name = sheet.rules_map
        named = {rule for name in by_name.keys() & node._selector_names for rule in by_name[name]}
        found = tuple(rule for rule in reversed(rules) if rule in named)
        states = sorted(set[str]().union(*(rule.pseudo_classes for rule in found)))
        known[1][own] = _RELEVANT.setdefault(found, _Relevant(found, tuple(states)))
    return known[1][own]


def _own(node: DOMNode) -> Hashable:
    return node.__class__, node._id, frozenset(node._classes)


def replaced_and_kept(node: DOMNode, rules: Any, animate: bool = False) -> None:
    _FRESH[node] = rules
    _replace_rules(node, rules, animate)


def applied_once(sheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: object = None) -> None:
    """Gives a node its styles: those of one with the same rules, and in the same state below such others."""
    del cache
    own = _own(node)
    relevant = _relevant(sheet, node, own)
    states = relevant.states
    key: list[Hashable] = []
    above: DOMNode | None = node
    while above is not None:
        key += [own if above is node else _own(above), *map(above.has_pseudo_class, states)]
        above = above._parent if isinstance(above._parent, DOMNode) else None
    kept = tuple(key)
    if kept not in relevant.styles:
        _apply(sheet, node, animate=animate)
        relevant.styles[kept] = _FRESH.pop(node, None)
        return
    node._has_hover_style = "hover" in states
    node._has_focus_within = "focus-within" in states
    node._has_order_style = not _NEIGHBOURS.isdisjoint(states)
    node._has_odd_or_even = "odd" in states or "even" in states
    styles = relevant.styles[kept]
    if styles is not None:
        _replace_rules(node, styles, animate)  # type: ignore[arg-type]
    sheet._process_component_classes(node)


_Handler = Callable[[Message], Awaitable[Any]]
_HANDLERS: dict[tuple[type[MessagePump], type[Message], str], list[type] | None] = {}
"""By classes and the name of a method, the classes that have a handler; nothing where one looks at the sender."""
_get_dispatch_methods = MessagePump._get_dispatch_methods


def _classes_with_handlers(pump: type[MessagePump], message: type[Message], name: str) -> list[type] | None:
    decorated = set(message.__mro__)
    if any(not decorated.isdisjoint(each.__dict__.get("_decorated_handlers", ())) for each in pump.__mro__):
        return None
    return [each for each in pump.__mro__ if name in each.__dict__ or f"_{name}" in each.__dict__]


def dispatched_once(pump: MessagePump, method_name: str, message: Message) -> Iterator[tuple[type, _Handler]]:
    """The handlers of a message, of which most classes of a widget have none."""
    key = pump.__class__, message.__class__, method_name
    if key not in _HANDLERS:
        _HANDLERS[key] = _classes_with_handlers(*key)
    classes = _HANDLERS[key]
    if classes is None:
        yield from _get_dispatch_methods(pump, method_name, message)
        return
    for each in classes:
        if message._no_default_action:
            return
        method = each.__dict__.get(f"_{method_name}") or each.__dict__.get(method_name)
        if method is not None:
            yield each, method.__get__(pump, each)


def take_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts all of this in the place of Textual's own; a full run works everything out anew, and paints it."""
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", all_handled)
    monkeypatch.setattr(Stylesheet, "_parse_rules", parsed_once)
    monkeypatch.setattr(callback, "_count_parameters", counted_once)
    monkeypatch.setattr(RuleSet, "__hash__", object.__hash__)  # Textual's is the same in Python
    if not IS_FULL:
        monkeypatch.setattr(Pilot, "_wait_for_screen", waited_for)
        _HANDLERS.clear()  # a test may have given a class another one
        monkeypatch.setattr(Compositor, "render_update", paint_nothing)
        monkeypatch.setattr(Stylesheet, "replace_rules", staticmethod(replaced_and_kept))
        monkeypatch.setattr(Stylesheet, "apply", applied_once)
        monkeypatch.setattr(MessagePump, "_get_dispatch_methods", dispatched_once)
