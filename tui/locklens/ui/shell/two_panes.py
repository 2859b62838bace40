"""Base class of the views: a list, the detail of its highlighted row, a filter, and bars."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from locklens.errors import LockLensError
from locklens.lockfile import unread_words
from locklens.operations.write.undo import AppliedWrite, Undo, recorded
from locklens.review.reports import side_words
from locklens.ui.dialogs.choices import SidesDialog, WritesDialog
from locklens.ui.phrases import changed_on_disk
from locklens.ui.shell import Job, bars
from locklens.ui.shell.filter_line import FilterLine
from locklens.ui.shell.filtering import ALL, Grammar, parse_filter
from locklens.ui.shell.keys import (
    Command,
    action_name,
    help_section,
    key_help,
    keys_of_rows,
    off_commands,
    view_commands,
)
from locklens.ui.shell.off_keys import TWO_FILES, off_keys, read_only_words, way_back
from locklens.ui.shell.review_loader import MarkKeeper, ReviewLoader
from locklens.ui.shell.screen import LockLensScreen
from locklens.ui.views import REVIEW, VIEWS, PreviewWanted, QuitWanted, SidesWanted, ViewShown, ViewWanted
from locklens.ui.widgets import Bar, BarLayout
from locklens.ui.widgets.line_view import LineView
from locklens.ui.widgets.row_list import ListTitles, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from textual.app import ComposeResult

    from locklens.addresses import ProviderAddress
    from locklens.lines import Line
    from locklens.operations.comparison import Base
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import Progress
    from locklens.operations.write.apply import Operation
    from locklens.review.model import Review
    from locklens.ui.shell.keys import Key
    from locklens.ui.views import ExaminedProvider, View


_NAMES = {"prove": "verify"}
"""What an action is called, where it has another name than its method."""


class TwoPaneScreen(LockLensScreen[int]):
    """Owns the focus and the filter; subclasses fill the list, the detail and the bars.

    Class attributes:
        TERMS: Sections of the help between the keys and the filter: a title, and terms with their meanings.
        EMPTY: The placeholder of an empty list.
        LOADER: The loader of the review, or of more.
    """

    VIEW: ClassVar[View]
    GRAMMAR: ClassVar[Grammar]
    LIST: ClassVar[type[RowList[Any]]]
    PARTS: ClassVar[tuple[str, ...]] = (*LockLensScreen.PARTS, "#notice", "RowList", "#facts")
    TERMS: ClassVar[tuple[tuple[str, Mapping[str, str]], ...]] = ()
    EMPTY: ClassVar[str] = "No provider is locked here (lock files that git ignores are not read)."
    LOADER: ClassVar[type[ReviewLoader]] = ReviewLoader

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__()
        self.source = source
        self.loader = self.LOADER(source, keeper)
        self.narrowed = ALL
        self._shown_key = ""
        self._too_early = "", ""
        """What was last said about a key that came too early, and what is said once the review is complete."""
        self._revisions, self._sides = Job(self, "revisions"), Job(self, "sides")

    @abstractmethod
    def refresh_list(self, *, cursor_key: str | None = None) -> None:
        """Rebuild the rows, the facts, the placeholder and the bars."""

    @abstractmethod
    def head_layouts(self) -> tuple[BarLayout, ...]:
        """The layouts of the head."""

    @abstractmethod
    def status_layouts(self) -> tuple[BarLayout, ...]:
        """The layouts of the status line."""

    def nothing_to_list(self, review: Review) -> tuple[Line, ...]:
        """Return the placeholder of an empty list; a screen whose words depend on more returns its own."""
        unread = unread_words(root.new for root in review.roots)
        sentence = f"{self.EMPTY.removesuffix('.')}, as far as can be read ({unread})." if unread else self.EMPTY
        return bars.one_sentence(sentence)

    def help_lines(self) -> Iterable[Line]:
        """Yield the keys, the columns of the list, the terms of the screen and those of its filter."""
        yield from key_help(self.TABLE, self._off)
        yield from help_section("COLUMNS", {one.title: one.meaning for one in self.LIST.COLUMNS if one.meaning})
        for title, meanings in self.TERMS:
            yield from help_section(title, meanings)
        yield from help_section("FILTER", self.GRAMMAR.meanings)

    def notice(self) -> tuple[Line, ...]:
        """Return the lines that replace the panes; () while the panes are shown."""
        if self.review is None:
            return bars.unread(self.error) if self.error is not None else bars.loading(self.progress)
        if self.left.rows:
            return ()
        is_narrowed = self.is_narrowed and not self.is_unlisted
        return bars.unmatched(self.narrowed.text) if is_narrowed else self.nothing_to_list(self.review)

    def narrow(self, text: str) -> None:
        """Show only the rows that match a filter, and highlight the first of them."""
        before, self.narrowed = self.narrowed.text, parse_filter(text.strip(), self.GRAMMAR)
        self.show_narrowed()
        if self.narrowed.text and self.narrowed.text != before:
            self.left.go_to_first()

    def show_narrowed(self) -> None:
        """Show the rows after the filter changed."""
        self.refresh_list()

    @property
    def is_narrowed(self) -> bool:
        """True if a filter is set."""
        return bool(self.narrowed.text)

    def compose(self) -> ComposeResult:
        """Yield head, tabs, the two panes, filter, status and key line."""
        yield self.loader
        yield Bar(id="head")
        yield Bar(id="tabs")
        if self.source.request.is_demo:
            yield Bar(id="banner")
        yield LineView(id="notice")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                rows = self.LIST(id=self.VIEW.name)
                yield ListTitles(rows)
                yield rows
                yield LineView(id="facts")
            yield LineView(id="detail")
        yield FilterLine(self.GRAMMAR.hint)
        yield Bar(id="status")
        yield Bar(id="keys")

    def on_mount(self) -> None:
        """Show the parts that do not depend on the review."""
        self.query_one("#tabs", Bar).show_layouts(*bars.tabs(self.VIEW))
        self.facts.can_focus = False
        self.query_one("#notice", LineView).can_focus = False
        self.set_focus(self.left)

    @property
    @abstractmethod
    def left(self) -> RowList[Any]:
        """The list of the left pane."""

    @property
    def detail(self) -> LineView:
        """The right pane."""
        return self.query_one("#detail", LineView)

    @property
    def facts(self) -> LineView:
        """The panel below the list."""
        return self.query_one("#facts", LineView)

    @property
    def filter_line(self) -> FilterLine:
        """The line of the filter."""
        return self.query_one(FilterLine)

    @property
    def line(self) -> Line | None:
        """The highlighted line of the detail; None unless the detail has the focus."""
        return self.detail.current if self.detail.has_focus else None

    # Content

    @property
    def review(self) -> Review | None:
        """The review; None until the lock files are compared."""
        return self.loader.review

    @property
    def error(self) -> LockLensError | None:
        """The error of a failed load or reload."""
        return self.loader.error

    @property
    def progress(self) -> Progress | None:
        """The progress of loading; None when idle."""
        return self.loader.progress

    @property
    def is_unlisted(self) -> bool:
        """True before it is known what is listed."""
        return self.review is None

    @property
    def is_asking(self) -> bool:
        """True while the review is incomplete."""
        return self.loader.is_asking

    @property
    def read_only_words(self) -> str:
        """Why nothing can be written: the new side is a revision or the index; "" if it can."""
        return way_back(read_only_words(self.review), "the work tree", goes_back=self._goes_back)

    @property
    def _goes_back(self) -> bool:
        return self.source.request.base is not None

    def refuses(self, action: str) -> bool:
        """Say why an action of the screen does nothing now; False if it is to be tried."""
        if refusal := self.refusal_of(action):
            self.refuse(refusal)
        return bool(refusal)

    def refusal_of(self, action: str) -> str:
        """Return why an action of the screen does nothing now, loaded or not; "" if it is to be tried."""
        pressed = action.removeprefix("screen.")
        words = next((words for key, words in self._off.items() if key.action == pressed), "")
        name = action_name(pressed)
        return f"{_NAMES.get(name, name.replace('_', ' '))}: {words}" if words else ""

    @property
    def _off(self) -> dict[Key, str]:
        """The keys that do nothing on any row, each with the reason."""
        return off_keys(self.TABLE, self.review, is_offline=self.source.is_offline, goes_back=self._goes_back)

    @property
    def top(self) -> Path | None:
        """The folder that the review's paths are relative to; None if not on disk."""
        return self.loader.top

    def review_arrived(self) -> None:
        """Show the new review; cursor, folds and filter are unchanged."""
        self.refresh_list()

    @on(ReviewLoader.Changed)
    def _show_review(self, event: ReviewLoader.Changed) -> None:
        began = time.monotonic()
        self.review_arrived()
        self.loader.drew(began, time.monotonic())
        if not self.is_asking and self.message and self.message == self._too_early[0]:
            self.say(self._too_early[1])
        if event.reread:
            self.files_reread(event.reread)
        if event.is_note_outdated:
            self.app.clear_notifications()
        self.show_notes(event.notes)

    def files_reread(self, files: tuple[str, ...]) -> None:
        """Say which files changed on disk."""
        self.announce(changed_on_disk(files))

    @on(ReviewLoader.Progressed)
    def _show_progress(self) -> None:
        self.refresh_notice()
        self.refresh_bars()

    def say_too_early(self, name: str, key: str) -> None:
        """Say why a key does nothing before the review is complete; once it is, that the key does something."""
        self._too_early = f"{name}: the lookup has not ended; press {key} afterwards", f"{name}: press {key} again now"
        self.say(self._too_early[0])

    def refuse_move(self, words: str, *, is_asking: bool = False) -> None:
        """Say that there is no row to go to; during the review's lookup, or another one, that there is none so far."""
        if not (is_asking or self.is_asking):
            self.refuse(words)
            return
        self._too_early = f"{words} so far: the lookup has not ended", "the lookup has ended: press the key again"
        self.refuse(self._too_early[0])

    def show_notes(self, notes: Iterable[str]) -> None:
        """Show the notes that limit the whole review."""
        for note in notes:
            self.notify(note, severity="warning", timeout=10)

    def refresh_notice(self) -> None:
        """Show the placeholder or the panes."""
        if not self.is_open:
            return
        lines, notice = self.notice(), self.query_one("#notice", LineView)
        # Not by a class of the screen, which would have the styles of everything on it found anew.
        notice.display, self.query_one("#panes").display = bool(lines), not lines
        notice.show_lines(lines)
        self.keep_focus()

    def on_screen_resume(self) -> None:
        """Tell the app that no dialog is above the view."""
        self.post_message(ViewShown())

    def on_descendant_blur(self) -> None:
        """Focus a pane where a placeholder took the focus from it and is gone by now."""
        self.call_later(self.keep_focus)

    def keep_focus(self) -> None:
        """Focus the pane that had the focus last, if nothing has it while the panes are shown."""
        if self.is_open and self.focused is None and self.app.app_focus and self._are_panes_shown:
            self.set_focus(self.detail if self.has_class("-detail") else self.left)

    def on_descendant_focus(self) -> None:
        """Remember which pane has the focus, which is the one that narrow terminals show; show the keys."""
        if self.is_open and self.focused in {self.left, self.detail}:
            self.keep_pane(is_detail=self.detail.has_focus)
        self.refresh_keys()

    def refresh_bars(self) -> None:
        """Redraw head, status and key line."""
        if not self.is_open:
            return
        self.query_one("#head", Bar).show_layouts_of(self._head_now)
        self.query_one("#status", Bar).show_layouts(*self.status_layouts())
        self.refresh_keys()

    def _head_now(self) -> tuple[BarLayout, ...]:
        head = self.head_layouts()
        if self.review is not None and self.read_only_words:
            return bars.read_only_head(head, self.side_shown(self.review), is_named=self.VIEW == REVIEW)
        return head

    def side_shown(self, review: Review) -> str:
        """Return the side that the screen shows: the head, whatever it is compared with."""
        return side_words(review.head)

    def refresh_keys(self) -> None:
        """Redraw the key line, with the keys that do something on the highlighted row."""
        if not self.is_open:
            return
        self.query_one("#keys", Bar).show_layouts_of(self._keys_now)
        for banner in self.query("#banner").results(Bar):
            banner.show_layouts_of(self._banner_now)

    def _keys_now(self) -> tuple[BarLayout, ...]:
        if self.filter_line.is_typed_into:
            return self.filter_line.key_line
        first: Collection[str] = self.row_keys[0] if self._has_row else ["esc"] * self.is_narrowed
        return bars.key_line(
            self.TABLE,
            in_detail=self.detail.has_focus,
            first=() if self.read_only_words else tuple(first),
            without=self.idle_keys,
        )

    def _banner_now(self) -> tuple[BarLayout, ...]:
        if self.filter_line.is_typed_into:
            return bars.SAMPLE
        return bars.demo_banner(self.TABLE, self.VIEW, in_detail=self.detail.has_focus, without=self.idle_keys)

    @property
    def _has_row(self) -> bool:
        """True if a row is highlighted, and in sight."""
        return self.left.current is not None and self._are_panes_shown

    @property
    def _are_panes_shown(self) -> bool:
        """True unless a placeholder stands in their place."""
        return self.query_one("#panes").display

    @property
    def idle_keys(self) -> frozenset[str]:
        """The keys that do nothing on the highlighted row, or on any."""
        idle = {*self.row_keys[1], *(key.label for key in self._off)}
        if not self._has_row:
            idle |= {key.label for key in keys_of_rows(self.TABLE, is_narrowed=self.is_narrowed)}
        return frozenset(idle)

    @on(LineView.Highlighted, "#detail")
    def _follow_line(self) -> None:
        self.refresh_keys()

    @property
    def row_keys(self) -> tuple[Collection[str], Collection[str]]:
        """Labels of the keys that the highlighted row asks for, and of those that do nothing on it."""
        return "", ""

    @property
    def status_text(self) -> str:
        """The message, or else what the filter does not understand, or the error of a failed reload; "" for none."""
        if self.message or self.narrowed.problem or self.error is None or self.review is None:
            return self.message or self.narrowed.problem
        return f"reload failed: {self.error}"

    def show_detail(self, key: str, lines: Iterable[Line]) -> None:
        """Fill the right pane; the scroll position is kept for the same row."""
        if not self.is_open:
            return
        self.detail.show_lines(lines, keep_place=key == self._shown_key)
        self._shown_key = key
        self.refresh_keys()

    # Moving

    def words_of_idle_key(self, label: str) -> str:
        """What is said about a key that does nothing: one of the list may have been pressed in the detail."""
        if self.detail.has_focus:
            return f"{label} does nothing in the detail; tab goes to the list, ? lists the keys"
        return super().words_of_idle_key(label)

    def action_focus_list(self) -> None:
        """Focus the list."""
        self.keep_pane(is_detail=False)
        self.set_focus(self.left)

    def focus_detail(self) -> None:
        """Focus the detail; full screen on narrow terminals."""
        self.keep_pane(is_detail=True)
        self.set_focus(self.detail)

    def action_section(self, by: int) -> None:
        """Go to the next or previous section, or say that it is the last or the first one."""
        if not self.left.go_to_next(by, lambda row: not row.depth, is_cyclic=False):
            self.refuse("no section below" if by > 0 else "no section above")

    def action_other_pane(self) -> None:
        """Focus the other pane."""
        if self.detail.has_focus:
            self.action_focus_list()
        elif self.left.current is not None:
            self.focus_detail()

    def action_back(self) -> None:
        """Go back one step: filter, detail."""
        if self.filter_line.is_typed_into or (self.is_narrowed and not self.detail.has_focus):
            self.filter_line.text = ""
            self.set_focus(self.left)
        elif self.detail.has_focus:
            self.action_focus_list()
        else:
            self.say("q quits")

    def action_leave(self) -> None:
        """Close the detail that fills a narrow terminal, or quit."""
        if self.is_narrow and self.has_class("-detail"):
            self.action_focus_list()
        else:
            self.post_message(QuitWanted())

    def action_view(self, key: str) -> None:
        """Open another view, or show why not."""
        view = next(view for view in VIEWS if view.key == key)
        if view == self.VIEW:
            self.say(f"{view.title} is the current screen")
        else:
            self.post_message(ViewWanted(view, self.top))

    def palette_commands(self) -> Iterable[Command]:
        """Return the palette's commands on this view."""
        commands = view_commands(self.TABLE, self.VIEW, self.export_commands(), self._off)
        return [one for one in self.acting(commands) if not self._is_refused(one.action)]

    def commands_off(self) -> Iterable[Command]:
        """Return the commands that do nothing on any row."""
        return off_commands(self.TABLE, self._off)

    def _is_refused(self, action: str) -> bool:
        """True for an action that no key line has, and that would only say why it does nothing now."""
        name, _, by = action.partition("(")
        if name == "undo":
            folder = self.top or self.source.folder
            try:
                return not any(recorded(folder))
            except LockLensError:
                return False  # the key says which error it is
        if name == "section":
            ahead = range(self.left.cursor) if by.startswith("-") else range(self.left.cursor + 1, len(self.left.rows))
            return all(self.left.rows[index].depth for index in ahead)
        return False

    def export_commands(self) -> Iterable[Command]:
        """Return the palette's exports; none on a screen without reports."""
        return ()

    def prefer(self, preferences: Mapping[str, str]) -> None:
        """Apply saved preferences, before the screen is shown."""

    def show_provider(self, root: str, address: ProviderAddress) -> None:
        """Highlight a provider of a root, if the screen has such rows."""

    def examine(self, examined: ExaminedProvider, top: Path | None) -> None:
        """Examine a provider of a root below `top`, if the screen diagnoses."""

    def preview(self, operation: Operation) -> None:
        """Open the Preview of an operation; only the Preview writes, after confirmation."""
        self.post_message(PreviewWanted(self.source, operation, self.review))

    def decide(self, name: str, operation_of: Callable[[], Operation]) -> None:
        """Preview an operation, or show why it is not possible."""
        try:
            operation = operation_of()
        except LockLensError as error:
            self.refuse(f"{name}: {error.sentence}")
        else:
            self.preview(operation)

    def action_elsewhere(self, name: str, screen: str) -> None:
        """Show the screen that a key works on."""
        self.refuse(f"{name}: on the screen {screen}")

    def action_undo(self) -> None:
        """List the applied writes; the highlighted one is undone, or redone, in a Preview."""
        folder = self.top or self.source.folder
        try:
            writes, damaged = recorded(folder)
        except LockLensError as error:
            self.say_error(error)
            return
        if damaged:
            self.say(damaged[0])
        if not writes:
            if not damaged:
                self.refuse("nothing to undo here: no applied writes")
            return

        def preview(write: AppliedWrite | None) -> None:
            if write is not None:
                self.preview(Undo(folder, write.id, write.is_undone, write.title))

        self.app.push_screen(WritesDialog(writes), preview)

    # The filter

    def action_filter(self) -> None:
        """Open the filter line."""
        self.filter_line.open()

    def action_only(self, text: str) -> None:
        """Filter by the clicked piece."""
        self.filter_line.text = text

    @on(Input.Changed, "#filter")
    def _narrow(self, event: Input.Changed) -> None:
        self.narrow(event.value)

    def action_keep_filter(self) -> None:
        """Apply the filter and focus the list."""
        self.narrow(self.filter_line.text)
        self.filter_line.fold()
        self.set_focus(self.left)

    # Program

    def use(self, source: LockLens) -> None:
        """Show another comparison; the filter stays."""
        self.source = source
        self.loader.use(source)
        self.refresh_notice()
        self.refresh_bars()

    def action_sides(self) -> None:
        """Open the dialog that selects base and head, which lists the revisions once they are read."""
        if self.source.request.base is None:
            self.refuse(f"compare: {TWO_FILES}")
            return
        dialog = SidesDialog(self._check_sides)
        self.app.push_screen(dialog, self._compare_sides)
        self._revisions.start(lambda _: self.source.revisions(self.top), dialog.know, dialog.say_unknown)

    def _check_sides(self, base: Base, take: Callable[[], object], fail: Callable[[LockLensError], object]) -> None:
        self._sides.start(lambda _: self.source.check_sides(self.top, base), lambda _: take(), fail)

    def _compare_sides(self, base: Base | None) -> None:
        if base is not None:
            self.post_message(SidesWanted(base, self.top))

    def action_reload(self) -> None:
        """Reload everything and ask the registries again; the commit of a fetched request stays."""
        self.reload(is_fresh=True)
        base = self.source.request.base
        if base is not None and base.head is not None and (name := base.titles.get(base.head)):
            self.say(f"{name} stays at {base.head[:7]}: start locklens again to fetch a newer commit")

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reload everything."""
        self.loader.reload(is_fresh=is_fresh)
