"""The Textual app: the two themes, the first screen, and the switches between screens."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events, on
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.theme import Theme
from textual.widgets import Input

from locklens.errors import LockLensError
from locklens.operations.locklens import LockLens
from locklens.storage.preferences import default_preferences_path, read_preferences, save_preference
from locklens.text import visible
from locklens.ui.clipboard import CopyingApp
from locklens.ui.preview import Closed, PreviewScreen
from locklens.ui.shell.pasting import read_pastes_of
from locklens.ui.shell.review_loader import MarkKeeper
from locklens.ui.shell.screen import LockLensScreen
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.views import (
    VIEWS,
    PackagesInspected,
    PreferenceChanged,
    PreviewWanted,
    QuitWanted,
    SidesWanted,
    View,
    ViewShown,
    ViewWanted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from textual.actions import ActionParseResult
    from textual.color import Color
    from textual.dom import DOMNode
    from textual.driver import Driver
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from locklens.operations.review.request import ReviewRequest

DARK = Theme(
    name="locklens-dark",
    dark=True,
    primary="#86aef0",
    secondary="#7fc4c9",
    accent="#86aef0",
    warning="#e2b45c",
    error="#ff7b72",
    success="#85c98a",
    foreground="#d8dbe2",
    background="#14161b",
    surface="#191c22",
    panel="#242832",
    variables={
        "quiet": "#a2aab8",
        "rule": "#333946",
        "cursor-line": "#2b3a55",
        "cursor-line-unfocused": "#252a34",
        "footer-key-foreground": "#86aef0",
    },
)

LIGHT = Theme(
    name="locklens-light",
    dark=False,
    primary="#1d55b0",
    secondary="#0b6670",
    accent="#1d55b0",
    warning="#7d4f00",
    error="#b01c14",
    success="#1c6329",
    foreground="#20242b",
    background="#fbfbfa",
    surface="#f4f4f2",
    panel="#e7e7e4",
    variables={
        "quiet": "#59606c",
        "rule": "#c9cac7",
        "cursor-line": "#d3e1f8",
        "cursor-line-unfocused": "#e6e8ea",
        "footer-key-foreground": "#1d55b0",
    },
)

THEMES = (DARK, LIGHT)


_MOVES = frozenset({"finding", "found", "mark", "section", "unreviewed", "version"})
"""Actions of screens that leave the focus where it is, and that a held key repeats."""


class _WithoutColours(LineFilter):
    """Removes every colour, and keeps attributes such as bold and underlined."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return list(Segment.remove_color(segments))


class LockLensApp(CopyingApp):
    """Shows reviews in the terminal, at first the screen whose name in `VIEWS` is `view`, with the notices.

    Without paths, the marks and the preferences are the user's own.
    """

    TITLE = "locklens"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = set()
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True)]

    def __init__(
        self,
        source: LockLens,
        view: str = "review",
        *,
        store_path: Path | None = None,
        preferences_path: Path | None = None,
        notices: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self.preferences_path = preferences_path or default_preferences_path()
        self.store_path = store_path
        self._preferences, self._preference_notices = read_preferences(self.preferences_path)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="preferences")
        self._notices = tuple(notices)
        self._source = source
        self._first_view = view
        self._views: dict[str, TwoPaneScreen] = {}
        self._warned: set[tuple[str, str]] = set()
        """Titles and texts of the warnings that were shown."""
        self._waiting_notices: list[Callable[..., None]] = []
        self._typed: deque[tuple[events.Key | events.Paste, Screen[Any]]] = deque()
        """The key that is being handled, and the later ones; each with the screen that was shown when it arrived."""
        self._followed: DOMNode = self
        """The node in whose queue the key that is being handled is followed."""
        self._handled_on: Screen[Any] | None = None
        """The screen that the last key was handed to."""
        self._typed_on: Screen[Any] | None = None
        """The screen with the field that the last text was typed into."""
        self._keeper = MarkKeeper(store_path, partial(self.call_later, self._warn, ""))
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = (LIGHT if self._preferences.get("theme") == "light" else DARK).name

    def get_driver_class(self) -> type[Driver]:
        """The terminal's driver, which reads pasted text without its escape sequences."""
        return read_pastes_of(super().get_driver_class())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters of what is painted; with NO_COLOR also one that removes the greys that Textual leaves."""
        filters = super().get_line_filters()
        return [*filters, _WithoutColours()] if self.no_color else filters

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The themes' own variables, so that the style sheet can be parsed before a theme is set."""
        return dict(DARK.variables)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002
    ) -> None:
        """Show a notice as one printable line, never as markup; all screens and widgets show their notices with this.

        A warning is shown once in a run, even if several screens give it. While a dialog or a Preview is open, notices
        wait until it is closed, so that they cover nothing that is being decided.
        """
        if severity != "information":
            if (title, message) in self._warned:
                return
            self._warned.add((title, message))
        show = partial(super().notify, visible(message), title=visible(title), severity=severity, timeout=timeout)
        if isinstance(self.screen, TwoPaneScreen):
            show(markup=False)
        else:
            self._waiting_notices.append(show)

    @on(ViewShown)
    def _show_waiting_notices(self) -> None:
        if not isinstance(self.screen, TwoPaneScreen):
            return
        waiting, self._waiting_notices = self._waiting_notices, []
        for show in waiting:
            show(markup=False)

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; a key or a paste waits for the earlier ones, and goes to the widget that has the focus then.

        Textual alone would handle each as it arrives: a key within milliseconds of another one, as in a paste, from a
        macro or on a slow connection, would go to the widget from which the other one takes the focus.
        """
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        self._typed.append((event, self.screen))
        if len(self._typed) == 1:
            await self._handle_typed()
        elif not self._followed.is_running:
            # The node ended, and what waited in its queue with it.
            await self._follow(self._typed[0][0], [self, self])

    def _keeps_focus(self, event: events.Key | events.Paste) -> bool:
        """True for text that is typed into a field, and for moves: repetitions of a held key need not be painted.

        Other keys of a field are handled after its text, however early they arrive, so that the text waits for them.
        """
        node = self.focused
        if node is None or isinstance(event, events.Paste):
            return node is not None
        if node.check_consume_key(event.key, event.character):
            return True
        active = self.screen.active_bindings.get(event.key)
        is_field = node.check_consume_key("a", "a")
        if active is None or event.key == "enter" or is_field:
            return False
        return active.node is node or active.binding.action.partition("(")[0] in _MOVES

    async def _handle_typed(self) -> None:
        """Handle the waiting keys, up to one that may move the focus: the others wait until its effect is complete."""
        while self._typed:
            (event, shown), node = self._typed[0], self.focused or self.screen
            may_move_focus = not self._keeps_focus(event)
            self._handled_on = self.screen
            # Enter must not confirm a dialog that was not yet shown when it was pressed; after text for it, it may.
            is_unseen = self.screen not in {shown, self._typed_on} and not isinstance(self.screen, TwoPaneScreen)
            if isinstance(event, events.Key) and node.check_consume_key(event.key, event.character):
                self._typed_on = self.screen
            if not (is_unseen and isinstance(event, events.Key) and event.key == "enter"):
                await super().on_event(event)
            if may_move_focus:
                # After the key itself, follow what its action sends: a message, such as one that asks for another view,
                # passes the screen and the app, and a `Widget.focus` waits in the queue of the app once more.
                await self._follow(event, [*node.ancestors_with_self, self.screen, self, self])
                return
            self._typed.popleft()

    def on_key(self, event: events.Key) -> None:
        """Drop a key whose screen closed before the key reached the app, which would take it for the next screen's."""
        if self._typed and event is self._typed[0][0] and self.screen is not self._handled_on:
            event.prevent_default()

    async def _follow(self, event: events.Event, nodes: Sequence[DOMNode]) -> None:
        """Follow a key that is being handled through the queue of each node; then handle the next one."""
        for number, node in enumerate(nodes, start=1):
            if node.call_later(self._follow, event, nodes[number:]):
                self._followed = node
                return  # a closed node takes no calls, and did not take the key
        if self._typed and self._typed[0][0] is event:  # else it was followed without a node that ended
            self._typed.popleft()
            await self._handle_typed()

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action; an action of a screen first ends the last message, and an action of a row needs rows."""
        screen = self.screen
        if isinstance(screen, LockLensScreen) and (default_namespace is screen or f"{action}".startswith("screen.")):
            screen.end_message()
            if isinstance(screen, TwoPaneScreen) and screen.refuses(f"{action}"):
                return True
        return await super().run_action(action, default_namespace, namespaces)

    def action_command_palette(self) -> None:
        """Open the command palette of a screen; a dialog has none."""
        if not isinstance(self.screen, LockLensScreen):
            return
        from locklens.ui.shell.keys import Palette

        self.push_screen(Palette(id="--command-palette"))

    def on_mount(self) -> None:
        """Open the first screen."""
        self._open(next(view for view in VIEWS if view.name == self._first_view), self._source)
        for notice in self._notices:
            self.notify(notice, title="Earlier run", severity="warning", timeout=20)
        for notice in self._preference_notices:
            self.notify(notice, title="Preferences", severity="warning", timeout=20)

    def _open(self, view: View, source: LockLens) -> None:
        screen = self._views[view.name] = _screen_class(view)(source, self._keeper)
        screen.prefer(self._preferences)
        self.install_screen(screen, view.name)
        if isinstance(self.screen, TwoPaneScreen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    @on(ViewWanted)
    def _show_view(self, event: ViewWanted) -> None:
        """Switch to another view, opening it if needed; the previous one keeps its state, and leaves the stack."""
        if not isinstance(self.screen, TwoPaneScreen):
            return  # a dialog was opened meanwhile
        self.clear_notifications()
        name = event.view.name
        screen = self._views.get(name)
        if screen is None:
            self._open(event.view, self._source.for_view(event.view.reads, event.folder))
        else:
            self.switch_screen(screen)
        if event.provider is not None:
            self._views[name].show_provider(*event.provider)
        if event.examined is not None:
            self._views[name].examine(event.examined, event.folder)

    @on(PreferenceChanged)
    def _take_preference(self, event: PreferenceChanged) -> None:
        self._preferences[event.key] = event.value
        self._writer.submit(self._save_preference, event.key, event.value)

    def _save_preference(self, key: str, value: str) -> None:
        """Save a preference, on a thread of its own."""
        try:
            save_preference(self.preferences_path, key, value)
        except LockLensError as error:
            self.call_later(self._warn, "Preferences", f"not saved: {error.sentence}")

    def _warn(self, title: str, notice: str) -> None:
        """Show a notice from a thread that writes marks or preferences."""
        self.notify(notice, title=title, severity="warning", timeout=10)

    @on(QuitWanted)
    def _quit(self) -> None:
        has_failed = all(view.review is None and view.error is not None for view in self._views.values())
        self.exit(2 if has_failed else 0)

    def action_interrupt(self) -> None:
        """Close the dialog, Preview or filter that has the focus; on a view, quit as `q` does."""
        screen = self.screen
        if isinstance(screen, TwoPaneScreen) and not isinstance(self.focused, Input):
            screen.action_leave()
        else:
            self.simulate_key("escape")

    @on(SidesWanted)
    def _compare_sides(self, event: SidesWanted) -> None:
        self._source = self._source.with_sides(event.base)
        for view in self._views.values():
            view.use(self._source.for_view(view.VIEW.reads, event.folder))

    @on(PreviewWanted)
    def _show_preview(self, event: PreviewWanted) -> None:
        """Open the Preview; afterwards the screen below shows its result, and open views reload if necessary."""
        screen = self.screen
        if not isinstance(screen, TwoPaneScreen):
            self.notify("a Preview is already open")
            return

        def report(closed: Closed | None) -> None:
            if closed is None:
                return
            screen.say(closed.words)
            if closed.needs_reload:
                self._reload_views()

        self.push_screen(PreviewScreen(event.source, event.operation, event.review), report)

    @on(PackagesInspected)
    def _reload_views(self) -> None:
        for screen in self._views.values():
            if screen.is_open:
                screen.reload()

    def _fatal_error(self) -> None:
        """End the app after an error that nothing foresaw; unlike Textual's own, without the values of variables.

        Those can be credentials, or what a user would not want in a report.
        """
        from rich.traceback import Traceback

        self.bell()
        self.panic(Traceback(width=None))

    def on_unmount(self) -> None:
        """Wait for pending writes of marks and preferences."""
        self._keeper.close()
        self._writer.shutdown(wait=True)


def _screen_class(view: View) -> type[TwoPaneScreen]:
    module, _, name = view.screen.partition(":")
    screen: type[TwoPaneScreen] = getattr(import_module(module), name)
    return screen


def run_app(request: ReviewRequest, view: str = "review") -> int:
    """Open the terminal UI at a view, and return the exit status: 0, or 2 if nothing could be read.

    The preferences and marks are the user's own; the sample repository has its own beside it, which end with it.
    """
    from pathlib import Path

    from locklens.operations.write.recover import recover_at

    own = request.folder.parent if request.is_demo and request.folder is not None else None
    app = LockLensApp(
        LockLens(request),
        view,
        store_path=own / "store.sqlite3" if own is not None else None,
        preferences_path=own / "config.toml" if own is not None else None,
        notices=recover_at(Path.cwd()),
    )
    status = app.run()
    return status if status is not None else app.return_code or 0
