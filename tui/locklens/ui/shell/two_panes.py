"""A screen of two panes, a list and the detail of what is highlighted in it, with a filter and bars around them."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from locklens.errors import LockLensError
from locklens.operations.write.undo import Undo
from locklens.ui.preview.screen import Applied, PreviewScreen
from locklens.ui.shell import bars
from locklens.ui.shell.key_table import TABS
from locklens.ui.shell.messages import FilesWritten, ViewWanted
from locklens.ui.shell.review_loader import ReviewLoadingScreen
from locklens.ui.widgets.bar import Bar
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from locklens.addresses import ProviderAddress
    from locklens.operations.write.operation import Operation
    from locklens.ui.shell.marks import MarkKeeper
    from locklens.ui.shell.source import ReviewSource
    from locklens.ui.text.spans import Line
    from locklens.ui.widgets.bar import BarLayout
    from locklens.ui.widgets.row_list import RowList


class FilterInput(Input):
    """The filter's line; enter leaves it in the same step, so that no key typed after it gets lost in it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.keep_filter", "Show", show=False)]


class TwoPaneScreen(ReviewLoadingScreen):
    """Owns which pane has the focus, the message and the filter's line; what they show is up to those built on it.

    Class attributes:
        VIEW: The screen's name among the tabs.
        FILTER_WORDS: What the filter's line shows while it is empty.
    """

    VIEW: ClassVar[str]
    FILTER_WORDS: ClassVar[str]

    def __init__(self, source: ReviewSource, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self._shown_key = ""

    @abstractmethod
    def make_list(self) -> RowList[Any]:
        """Returns the list at the left."""

    @abstractmethod
    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Shows the rows anew, and all that is said of them around."""

    @abstractmethod
    def head_layouts(self) -> tuple[BarLayout, ...]:
        """What the first line says."""

    @abstractmethod
    def status_layouts(self) -> tuple[BarLayout, ...]:
        """What the line above the keys says."""

    @abstractmethod
    def notice(self) -> tuple[Line, ...]:
        """What stands in place of the panes; () where they are to be shown."""

    @abstractmethod
    def narrow(self, text: str) -> None:
        """Filters by what was typed, and shows the rows anew."""

    @property
    @abstractmethod
    def is_narrowed(self) -> bool:
        """Whether there is a filter."""

    def compose(self) -> ComposeResult:
        """Head, tabs, the two panes, the filter, the status and the keys."""
        yield Bar(id="head")
        yield Bar(id="tabs")
        yield LineView(id="notice")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield self.make_list()
                yield LineView(id="facts")
            yield LineView(id="detail")
        with Horizontal(id="filter-line"):
            yield Static(" /", id="filter-sign")
            yield FilterInput(id="filter", placeholder=self.FILTER_WORDS, compact=True)
        yield Bar(id="status")
        yield Bar(id="keys")

    def on_mount(self) -> None:
        """Shows what does not depend on the review."""
        self.query_one("#tabs", Bar).show_layouts(*bars.tabs(self.VIEW))
        self.facts.can_focus = False
        self.query_one("#notice", LineView).can_focus = False
        self.query_one("#filter-line").display = False
        self.left.focus()

    @property
    @abstractmethod
    def left(self) -> RowList[Any]:
        """The list at the left."""

    @property
    def detail(self) -> LineView:
        """The pane at the right."""
        return self.query_one("#detail", LineView)

    @property
    def facts(self) -> LineView:
        """The panel below the list."""
        return self.query_one("#facts", LineView)

    @property
    def line(self) -> Line | None:
        """The highlighted line of the detail, where the cursor is."""
        return self.detail.current if self.detail.has_focus else None

    # What is shown

    def review_arrived(self) -> None:
        """Shows the new review; cursor, folds and filter stay."""
        self.refresh_list()

    def progress_made(self) -> None:
        """Shows how far the reading is, or that it failed."""
        self.refresh_notice()
        self.refresh_bars()

    def refresh_notice(self) -> None:
        """Shows the notice, or the panes."""
        if not self.is_open:
            return
        lines = self.notice()
        self.set_class(bool(lines), "-notice")
        self.query_one("#notice", LineView).show_lines(lines)
        if not lines and self.focused is None:
            self.left.focus()

    def refresh_bars(self) -> None:
        """Shows head, status and keys anew."""
        if not self.is_open:
            return
        self.query_one("#head", Bar).show_layouts(*self.head_layouts())
        self.query_one("#status", Bar).show_layouts(*self.status_layouts())
        self.query_one("#keys", Bar).show_layouts(*bars.key_line(self.TABLE, in_detail=self.detail.has_focus))

    @property
    def told(self) -> str:
        """The message, or else that what is shown could not be read again; "" for neither."""
        if self.message or self.error is None or self.review is None:
            return self.message
        return f"could not be read again: {self.error}"

    def show_detail(self, key: str, lines: Iterable[Line]) -> None:
        """Fills the right pane; it stays where it is scrolled to while it is about the same row."""
        self.detail.show_lines(lines, keep_place=key == self._shown_key)
        self._shown_key = key

    # Moving

    def action_focus_list(self) -> None:
        """Goes to the list."""
        self.remove_class("-detail")
        self.left.focus()

    def focus_detail(self) -> None:
        """Goes to the detail, which fills the screen where that is narrow."""
        self.add_class("-detail")
        self.detail.focus()

    def action_other_pane(self) -> None:
        """Goes to the pane that has not the focus."""
        if self.detail.has_focus:
            self.action_focus_list()
        elif self.left.current is not None:
            self.focus_detail()

    def action_back(self) -> None:
        """Leaves, step by step, what was entered last."""
        if self.query_one("#filter", Input).has_focus or (self.is_narrowed and not self.detail.has_focus):
            self._set_filter("")
            self._close_filter()
        elif self.detail.has_focus:
            self.action_focus_list()
        elif self._has_screen_below:
            self.app.pop_screen()
        else:
            self.say("q quits")

    def action_leave(self) -> None:
        """Goes back to the list, to the screen before, or quits."""
        if self.is_narrow and self.has_class("-detail"):
            self.action_focus_list()
        elif self._has_screen_below:
            self.app.pop_screen()
        else:
            self.dismiss(2 if self.review is None and self.error is not None else 0)

    @property
    def _has_screen_below(self) -> bool:
        return any(isinstance(screen, TwoPaneScreen) and screen is not self for screen in self.app.screen_stack)

    def action_tab(self, key: str) -> None:
        """Opens one of the six screens, or says why it cannot."""
        tab = next(one for one in TABS if one.key == key)
        if not tab.view:
            self.say(f"{tab.title}: not supported yet")
        elif tab.view == self.VIEW:
            self.say(f"{tab.title} is this screen")
        else:
            self.post_message(ViewWanted(tab.view, self.top))

    def show_provider(self, root: str, address: ProviderAddress) -> None:
        """Highlights a provider of a root, where the screen has such rows."""

    def preview(self, intent: Operation) -> None:
        """Plans what is wanted, and shows it; nothing is on disk before it is confirmed there."""
        if any(isinstance(screen, PreviewScreen) for screen in self.app.screen_stack):
            self.say("a Preview is open already")
        else:
            self.app.push_screen(PreviewScreen(self.source, intent, self.review), self._tell_of_write)

    def _tell_of_write(self, applied: Applied | None) -> None:
        if applied is None:
            self.say("nothing was written")
        else:
            self.say(applied.words)
            self.post_message(FilesWritten())

    def decide(self, what: str, intent_of: Callable[[], Operation]) -> None:
        """Previews an intent, or says why there is none."""
        try:
            intent = intent_of()
        except LockLensError as error:
            self.say(f"{what}: {error}")
        else:
            self.preview(intent)

    def action_elsewhere(self, what: str, screen: str) -> None:
        """Says where a key works."""
        self.say(f"{what}: on the screen {screen}")

    def action_undo(self) -> None:
        """Plans to take back what was applied last."""
        self.preview(Undo(self.top or Path.cwd()))

    def action_unsupported(self, what: str) -> None:
        """Answers for what is not built yet."""
        self.say(f"not supported yet: {what}")

    # The filter

    def action_filter(self) -> None:
        """Opens the filter line."""
        self.query_one("#filter-line").display = True
        # At once: what is typed next belongs to the filter.
        self.set_focus(self.query_one("#filter", Input))

    def action_only(self, text: str) -> None:
        """Filters by what was clicked."""
        self._set_filter(text)

    def _set_filter(self, text: str) -> None:
        self.query_one("#filter", Input).value = text
        self.query_one("#filter-line").display = bool(text)

    def _close_filter(self) -> None:
        self.query_one("#filter-line").display = bool(self.query_one("#filter", Input).value)
        # At once: what is typed next is for the list.
        self.set_focus(self.left)

    @on(Input.Changed, "#filter")
    def _narrow(self, event: Input.Changed) -> None:
        self.narrow(event.value)

    def action_keep_filter(self) -> None:
        """Goes from the filter to the rows that it shows."""
        self.narrow(self.query_one("#filter", Input).value)
        self._close_filter()

    # Program

    def action_reload(self) -> None:
        """Reads everything again."""
        self.error = None
        self.reload(is_fresh=True)
