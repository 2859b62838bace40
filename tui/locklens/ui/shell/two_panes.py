"""A screen of two panes, a list and the detail of what is highlighted in it, with a filter and bars around them."""

from __future__ import annotations

import time
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from locklens.errors import LockLensError
from locklens.operations.write.undo import Undo
from locklens.ui.shell import bars
from locklens.ui.shell.messages import PreviewWanted, ViewWanted
from locklens.ui.shell.placeholders import placeholder
from locklens.ui.shell.review_loader import ReviewLoader
from locklens.ui.shell.screen import LockLensScreen
from locklens.ui.text.phrases import changed_on_disk
from locklens.ui.views import VIEWS
from locklens.ui.widgets.bar import Bar
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from locklens.addresses import ProviderAddress
    from locklens.operations.locklens import LockLens
    from locklens.operations.write.operation import Operation
    from locklens.review.model import Review
    from locklens.ui.shell.marks import MarkKeeper
    from locklens.ui.shell.palette import Command
    from locklens.ui.text.spans import Line
    from locklens.ui.views import View
    from locklens.ui.widgets.bar import BarLayout
    from locklens.ui.widgets.row_list import RowList


class FilterInput(Input):
    """The filter's line; enter leaves it in the same step, so that no key typed after it gets lost in it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.keep_filter", "Show", show=False)]


class TwoPaneScreen(LockLensScreen[int]):
    """Owns which pane has the focus, and the filter; subclasses fill the list, the detail and the bars.

    Class attributes:
        VIEW: The screen's row in the table of views.
        FILTER_WORDS: What the filter's line shows while it is empty.

    Args:
        source: Opens the comparison.
        keeper: Stores marks.
    """

    VIEW: ClassVar[View]
    FILTER_WORDS: ClassVar[str]

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__()
        self.source = source
        self.loader = ReviewLoader(source, keeper)
        self.filter_text = ""
        """The filter as entered; "" for none."""
        self._shown_key = ""
        self._noted: frozenset[str] = frozenset()
        """What was shown of the notes that limit a review: each is shown once."""

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
    def nothing_to_list(self, review: Review) -> tuple[Line, ...]:
        """Returns the placeholder of an empty list."""

    def notice(self) -> tuple[Line, ...]:
        """Returns the lines that replace the panes; () while the panes are shown."""
        return placeholder(
            self.review,
            self.error,
            narrowed=self.filter_text,
            has_rows=bool(self.left.rows),
            empty=self.nothing_to_list,
        )

    def narrow(self, text: str) -> None:
        """Shows only the rows that match the text."""
        self.filter_text = text.strip()
        self.refresh_list()

    @property
    def is_narrowed(self) -> bool:
        """True if a filter is set."""
        return bool(self.filter_text)

    def compose(self) -> ComposeResult:
        """Head, tabs, the two panes, the filter, the status and the keys."""
        yield self.loader
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

    @property
    def review(self) -> Review | None:
        """The review; None until the lock files were compared."""
        return self.loader.review

    @property
    def error(self) -> LockLensError | None:
        """Why there is no review, or why it could not be read again."""
        return self.loader.error

    @property
    def progress(self) -> bars.Reading:
        """How far the reading is."""
        return self.loader.progress

    @property
    def is_asking(self) -> bool:
        """Whether the review is still on its way."""
        return self.loader.is_asking

    @property
    def top(self) -> Path | None:
        """The folder that the review's paths are relative to; None where they are not on disk."""
        return self.loader.top

    def review_arrived(self) -> None:
        """Shows the new review; cursor, folds and filter stay."""
        self.refresh_list()

    @on(ReviewLoader.Changed)
    def _show_review(self, event: ReviewLoader.Changed) -> None:
        began = time.monotonic()
        self.review_arrived()
        self.loader.drew(began, time.monotonic())
        if event.reread:
            self.notify(changed_on_disk(event.reread), timeout=4)
        self.show_notes(event.notes)

    @on(ReviewLoader.Progressed)
    def _show_progress(self) -> None:
        self.refresh_notice()
        self.refresh_bars()

    def show_notes(self, notes: Iterable[str]) -> None:
        """Shows what limits a whole review, each note once."""
        for note in notes:
            if note not in self._noted:
                self.notify(note, severity="warning", timeout=10)
        self._noted |= frozenset(notes)

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
    def status_text(self) -> str:
        """The message, or else the error of a failed reload; "" for neither."""
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
            self.set_filter("")
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

    def action_view(self, key: str) -> None:
        """Opens another view, or says why it cannot."""
        view = next(one for one in VIEWS if one.key == key)
        if not view.name:
            self.say(f"{view.title}: not supported yet")
        elif view == self.VIEW:
            self.say(f"{view.title} is this screen")
        else:
            self.post_message(ViewWanted(view, self.top))

    def palette_commands(self) -> Iterable[Command]:
        """Returns the commands that the palette offers on this view."""
        from locklens.ui.shell.palette import view_commands

        return view_commands(self.TABLE, self.VIEW)

    def show_provider(self, root: str, address: ProviderAddress) -> None:
        """Highlights a provider of a root, where the screen has such rows."""

    def preview(self, operation: Operation) -> None:
        """Opens the Preview of an operation; nothing is on disk before it is confirmed there."""
        self.post_message(PreviewWanted(self.source, operation, self.review))

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
        self.set_filter(text)

    def set_filter(self, text: str) -> None:
        """Puts a text into the filter; "" clears and hides it."""
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
        self.reload(is_fresh=True)

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reads everything again.

        Args:
            is_fresh: Whether registries are asked again, whatever is cached.
        """
        self.loader.reload(is_fresh=is_fresh)
