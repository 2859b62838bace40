"""The review screen: changes at the left, the highlighted one at the right. Owns what is shown, answers the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from locklens.ui import bars
from locklens.ui.detail import detail_lines
from locklens.ui.filters import PLACEHOLDER, Filter, parse_filter
from locklens.ui.help import help_lines
from locklens.ui.keys import TABS, bindings
from locklens.ui.notices import notice_lines
from locklens.ui.outline import Grouping, Node, NodeKind, outline
from locklens.ui.rawdiff import diff_lines
from locklens.ui.rows import is_folded, rows
from locklens.ui.screens.handing import HandingScreen
from locklens.ui.screens.lines import LinesScreen
from locklens.ui.spans import Line, counted
from locklens.ui.why import why_lines
from locklens.ui.widgets.bar import Bar
from locklens.ui.widgets.change_list import ChangeList
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.command import Provider
    from textual.timer import Timer

    from locklens.ui.feed import ReviewSource
    from locklens.ui.marks import MarkKeeper

_MESSAGE_SECONDS = 8.0
_FACTS_FROM_HEIGHT = 28
_LEGEND_FROM_HEIGHT = 40
_TWO_PANES_FROM_WIDTH = 100
_WIDTHS = [(0, "-narrow"), (_TWO_PANES_FROM_WIDTH, "-wide")]
_HEIGHTS = [(0, "-short"), (_FACTS_FROM_HEIGHT, "-tall"), (_LEGEND_FROM_HEIGHT, "-taller")]


def _review_commands() -> type[Provider]:
    """The palette's commands; loaded when it is opened."""
    from locklens.ui.palette import ReviewCommands

    return ReviewCommands


class ReviewScreen(HandingScreen):
    """Shows what changed, worst first."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]
    COMMANDS: ClassVar = {_review_commands}
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    def __init__(self, source: ReviewSource, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.grouping = Grouping.ROOT
        self.narrowed = Filter()
        self.turned: frozenset[str] = frozenset()
        """Keys of the rows whose fold the user turned."""
        self.in_full = False
        self.message = ""
        self._outline: tuple[Node, ...] = ()
        self._message_timer: Timer | None = None
        self._shown_key = ""

    def compose(self) -> ComposeResult:
        """Head, tabs, the two panes, the filter, the status and the keys."""
        yield Bar(id="head")
        yield Bar(id="tabs")
        yield LineView(id="notice")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield ChangeList(id="changes")
                yield LineView(id="facts")
            yield LineView(id="detail")
        with Horizontal(id="filter-line"):
            yield Static(" /", id="filter-sign")
            yield Input(id="filter", placeholder=PLACEHOLDER, compact=True)
        yield Bar(id="status")
        yield Bar(id="keys")

    def on_mount(self) -> None:
        """Shows what does not depend on the review."""
        self._head.show_layouts(*bars.head(None))
        self.query_one("#tabs", Bar).show_layouts(*bars.tabs("1"))
        self.query_one("#facts", LineView).can_focus = False
        self.query_one("#notice", LineView).can_focus = False
        self.query_one("#filter-line").display = False
        self._list.focus()

    @property
    def _head(self) -> Bar:
        return self.query_one("#head", Bar)

    @property
    def _list(self) -> ChangeList:
        return self.query_one(ChangeList)

    @property
    def _detail(self) -> LineView:
        return self.query_one("#detail", LineView)

    @property
    def line(self) -> Line | None:
        """The highlighted line of the detail, where the cursor is."""
        return self._detail.current if self._detail.has_focus else None

    @property
    def is_narrow(self) -> bool:
        """Whether there is room for one pane only."""
        return self.size.width < _TWO_PANES_FROM_WIDTH

    @property
    def node(self) -> Node | None:
        """What the highlighted row stands for."""
        row = self._list.current
        return row.node if row is not None else None

    # What is shown

    def review_arrived(self) -> None:
        """Shows the new review; cursor, folds and filter stay."""
        self._refresh_list()

    def progress_made(self) -> None:
        """Shows how far the reading is, or that it failed."""
        self._refresh_notice()
        self._refresh_bars()

    def _refresh_list(self, *, cursor_key: str | None = None) -> None:
        if self.review is None:
            return
        self._outline = outline(self.review, self.grouping, narrowed=self.narrowed, marks=self.marks)
        shown = rows(self._outline, self.grouping, turned=self.turned, marks=self.marks)
        self._list.show_rows(shown, cursor_key=cursor_key)
        self.query_one("#facts", LineView).show_lines(bars.fact_lines(self.review, self.marks))
        self._refresh_notice()
        self._refresh_bars()

    def _refresh_notice(self) -> None:
        lines = notice_lines(self.review, self.error, narrowed=self.narrowed, has_rows=bool(self._list.rows))
        self.set_class(bool(lines), "-notice")
        self.query_one("#notice", LineView).show_lines(lines)
        if not lines and self.focused is None:
            self._list.focus()

    def _refresh_bars(self) -> None:
        self._head.show_layouts(*bars.head(self.review))
        message = self.message or self.narrowed.problem
        if not message and self.error is not None and self.review is not None:
            message = f"could not be read again: {self.error}"
        facts = bars.StatusFacts(
            self.review, self.marks, self.progress, self.grouping, self.narrowed.text, self.source.fail_on, message
        )
        self.query_one("#status", Bar).show_layouts(*bars.status(facts))
        self.query_one("#keys", Bar).show_layouts(*bars.key_line(in_detail=self._detail.has_focus))

    def on_descendant_focus(self) -> None:
        """Shows the keys of the pane that has the focus."""
        self._refresh_bars()

    def say(self, words: str) -> None:
        """Puts a message into the status line for some seconds."""
        self.message = words
        if self._message_timer is not None:
            self._message_timer.stop()
        self._message_timer = self.set_timer(_MESSAGE_SECONDS, self._say_no_more)
        self._refresh_bars()

    def _say_no_more(self) -> None:
        self.message = ""
        self._refresh_bars()

    @on(ChangeList.Highlighted)
    def _show_detail(self, event: ChangeList.Highlighted) -> None:
        if self.review is None or event.node is None:
            self._detail.show_lines(())
            return
        lines = detail_lines(event.node, self.review, in_full=self.in_full)
        self._detail.show_lines(lines, keep_place=event.node.key == self._shown_key)
        self._shown_key = event.node.key

    @on(ChangeList.Opened)
    def _open_detail(self, event: ChangeList.Opened) -> None:
        if event.node.kind is NodeKind.SECTION and event.node.root is None:
            self._turn(event.node)
            return
        self.add_class("-detail")
        self._detail.focus()

    @on(ChangeList.Turned)
    def _turn_row(self, event: ChangeList.Turned) -> None:
        self._turn(event.node)

    def _turn(self, node: Node) -> None:
        self.turned = self.turned ^ {node.key}
        self._refresh_list(cursor_key=node.key)

    @on(ChangeList.MarkToggled)
    def _mark_row(self, event: ChangeList.MarkToggled) -> None:
        self._toggle_marks([event.node])

    @on(Bar.Clicked)
    async def _click_bar(self, event: Bar.Clicked) -> None:
        await self.run_action(event.action)

    # Moving

    def action_focus_list(self) -> None:
        """Goes to the list."""
        self.remove_class("-detail")
        self._list.focus()

    def action_other_pane(self) -> None:
        """Goes to the pane that has not the focus."""
        if self._detail.has_focus:
            self.action_focus_list()
        elif self.node is not None:
            self.add_class("-detail")
            self._detail.focus()

    def action_back(self) -> None:
        """Leaves, step by step, what was entered last."""
        if self.query_one("#filter", Input).has_focus or (self.narrowed.text and not self._detail.has_focus):
            self._set_filter("")
            self._close_filter()
        elif self._detail.has_focus:
            self.action_focus_list()
        else:
            self.say("q quits")

    def action_leave(self) -> None:
        """Quits; where the detail fills the screen, goes back to the list."""
        if self.is_narrow and self.has_class("-detail"):
            self.action_focus_list()
        else:
            self.dismiss(2 if self.review is None and self.error is not None else 0)

    def action_finding(self, by: int) -> None:
        """Goes to the next or previous row with a finding, round and round; unfolds what hides it."""
        entries = [(section, node) for section in self._outline for node in section.children]
        found = [index for index, (_, node) in enumerate(entries) if node.severity is not None]
        if not found:
            self.say("no findings among the rows shown")
            return
        here = self._position_in(entries, by)
        ahead = [index for index in found if (index - here) * by > 0]
        target = (ahead or found)[0 if by > 0 else -1]
        section, node = entries[target]
        if is_folded(section, self.turned):
            self.turned = self.turned ^ {section.key}
        self._refresh_list(cursor_key=node.key)

    def _position_in(self, entries: list[tuple[Node, Node]], by: int) -> float:
        """Where the highlighted row is among the entries; between two of them for a section."""
        current = self.node
        for index, (section, node) in enumerate(entries):
            if current is node or current in node.children:
                return index
            if current is section:
                return index - 0.5
        return -1 if by > 0 else len(entries)

    def action_root(self, by: int) -> None:
        """Goes to the next or previous section."""
        here = self._list.cursor
        sections = [index for index, row in enumerate(self._list.rows) if row.depth == 0]
        ahead = [index for index in sections if (index - here) * by > 0]
        if ahead:
            self._list.cursor = ahead[0] if by > 0 else ahead[-1]

    def action_tab(self, key: str) -> None:
        """Opens one of the six screens, or says why it cannot."""
        tab = next(one for one in TABS if one.key == key)
        self.say(f"{tab.title}: {tab.reason}" if tab.reason else f"{tab.title} is this screen")

    def action_unsupported(self, what: str) -> None:
        """Answers for what is not built yet."""
        self.say(f"not supported yet: {what}")

    # Reviewing

    def action_mark(self) -> None:
        """Marks what the highlighted row stands for, or takes the mark back."""
        if self.node is not None:
            self._toggle_marks([self.node])

    def action_mark_shown(self) -> None:
        """Marks all that the filter shows, or takes all marks back."""
        self._toggle_marks(list(self._outline))

    def _toggle_marks(self, nodes: list[Node]) -> None:
        ids = frozenset(subject.change.id for node in nodes for subject in node.subjects)
        if not ids:
            self.say("only changes can be marked as reviewed")
            return
        marked = not ids <= self.marks
        number = counted(sum(len(node.subjects) for node in nodes), "change")
        self.set_marks(ids, marked=marked)
        self.say(f"marked {number} as reviewed" if marked else f"took the mark of {number} back")
        self._refresh_list()

    def action_group(self) -> None:
        """Groups by the next thing."""
        self.grouping = self.grouping.following
        self._refresh_list()
        self.say(f"grouped by {self.grouping}")

    def action_filter(self) -> None:
        """Opens the filter line."""
        self.query_one("#filter-line").display = True
        self.query_one("#filter", Input).focus()

    def action_only(self, text: str) -> None:
        """Filters by what was clicked."""
        self._set_filter(text)

    def _set_filter(self, text: str) -> None:
        self.query_one("#filter", Input).value = text
        self.query_one("#filter-line").display = bool(text)

    def _close_filter(self) -> None:
        self.query_one("#filter-line").display = bool(self.query_one("#filter", Input).value)
        self._list.focus()

    @on(Input.Changed, "#filter")
    def _narrow(self, event: Input.Changed) -> None:
        self.narrowed = parse_filter(event.value)
        self._refresh_list()

    @on(Input.Submitted, "#filter")
    def _keep_filter(self) -> None:
        self._close_filter()

    def action_expand(self) -> None:
        """Shows the detail in full, or in short again."""
        self.in_full = not self.in_full
        self._list.post_message(ChangeList.Highlighted(self.node))
        self.say("whole hashes and rules" if self.in_full else "short hashes")

    def action_diff(self) -> None:
        """Shows the raw diff."""
        lines = diff_lines(self.node) if self.node is not None else ()
        if not lines:
            self.say("nothing differs here in the lock file")
            return
        self.app.push_screen(LinesScreen("Raw diff of the lock file", lines, closing="d"))

    def action_why(self) -> None:
        """Shows who requires the provider."""
        lines = why_lines(self.node) if self.node is not None else ()
        if not lines:
            self.say("why: choose a row with a provider")
            return
        self.app.push_screen(LinesScreen("Why this provider is there", lines, closing="w"))

    def action_help(self) -> None:
        """Shows all keys."""
        self.app.push_screen(LinesScreen("Keys of the review", help_lines(), closing="question_mark"))

    def action_palette(self) -> None:
        """Opens the command palette."""
        self.app.action_command_palette()

    def action_reload(self) -> None:
        """Reads everything again."""
        self.error = None
        self.reload(is_fresh=True)

    def action_theme(self) -> None:
        """Switches between dark and light."""
        self.app.theme = "locklens-light" if self.app.current_theme.dark else "locklens-dark"
