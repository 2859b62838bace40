"""The dialogs above the screens, and the base of all: their place, their look, their title, message and key line.

`ReadingDialog`, also here, shows lines to read: it is as wide as its text, and has a search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input, Static

from locklens.lines import Line, Role
from locklens.ui.clipboard import copied_line, copy_text
from locklens.ui.widgets import Bar, BarLayout, Piece
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget


class ClosedOnce(Screen[ScreenResultType]):
    """A screen that ignores a second dismissal.

    Textual's `dismiss` takes the topmost screen away, whichever it is. A key that was typed while the first dismissal
    was on its way (enter twice, a repeated esc) took away the screen below, and in the end left an empty one without
    keys. Textual takes the styles from the first base class, so this one comes after Textual's own.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the screen, and any above it; nothing if it is closed already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        self.pop_until_active()
        return super().dismiss(result)


def label_of(key: events.Key) -> str:
    """Return what a key is called that types a letter, digit or sign, or is enter; "" for any other.

    A terminal sends escape and a letter at once as the letter with alt.
    """
    if key.key in {"space", "enter"}:
        return key.key
    typed = (key.character or "") if key.is_printable else ""
    return f"alt+{typed}" if typed and key.key.startswith("alt+") else typed


class DialogKey(NamedTuple):
    """A key in the key line of a dialog."""

    label: str
    words: str
    action: str = ""


class Dialog(ModalScreen[ScreenResultType], ClosedOnce[ScreenResultType]):
    """A box in the middle of a screen that stays visible around it; subclasses fill the body.

    The style sheet names only this class, so that every dialog that inherits from it looks alike.

    Class attributes:
        KEYS: The most useful first: a narrow dialog leaves out the last ones.
        FIELD_KEYS: Those while a field above or below the lines has the focus, which takes all others as text.
        FRAME: The CSS classes of the frame.
    """

    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("esc", "close", "close"),)
    FIELD_KEYS: ClassVar[Sequence[DialogKey]] = ()
    FRAME: ClassVar[str] = ""

    _has_answered = False
    """True while the message is the answer to a key that does nothing."""

    def compose(self) -> ComposeResult:
        """Yield the title, the body, the message and the key line."""
        with Vertical(id="dialog", classes=self.FRAME):
            yield Bar(id="dialog-title")
            yield from self.body()
            yield Bar(id="dialog-status")
            yield Bar(id="dialog-keys")

    def body(self) -> Iterable[Widget]:
        """Return the widgets between the title and the message: lines, for most dialogs."""
        yield LineView(id="dialog-lines")

    @property
    def view(self) -> LineView:
        """The lines."""
        return self.query_one("#dialog-lines", LineView)

    def on_mount(self) -> None:
        """Show the keys; runs after the `on_mount` of a subclass."""
        self.refresh_keys()

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys of the present step."""
        return self.KEYS

    @property
    def acting_keys(self) -> Sequence[DialogKey]:
        """The keys that do something now: on the highlighted line, or in the field that has the focus."""
        if self.FIELD_KEYS and isinstance(self.focused, Input):
            return self.FIELD_KEYS
        idle = set[str]()
        for view in self.query("#dialog-lines").results(LineView):
            idle |= set() if view.can_move else {"j k", "g G"}
            idle |= set() if view.can_scroll else {"pgup pgdn"}
        return [key for key in self.keys if key.label not in idle]

    @on(LineView.Highlighted)
    @on(LineView.Fitted)
    @on(events.DescendantFocus)
    def refresh_keys(self) -> None:
        """Show the keys in the key line."""
        for bar in self.query("#dialog-keys").results(Bar):
            bar.show_layouts(*key_layouts(self.acting_keys))

    def show_title(self, title: str, *more: Piece, right: Iterable[Piece] = ()) -> None:
        """Show the title, and what follows it."""
        pieces = (Piece(f" {title}", Role.STRONG), *more)
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout(pieces, tuple(right)))

    def say(self, message: str, role: Role = Role.INFO) -> None:
        """Show a message above the keys; "" hides it."""
        status = self.query_one("#dialog-status", Bar)
        status.display = bool(message)
        status.show_layouts(BarLayout((Piece(f" {message}", role),), is_whole=True))

    def leave_rows(self, number: int) -> None:
        """Bound the lines, so that the terminal has room for as many rows besides the frame and the message."""
        rows = _FRAME_ROWS + bool(self.query_one("#dialog-status").display) + number
        self.view.styles.max_height = max(1, self.app.size.height - rows)

    async def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """Run the action of the clicked piece."""
        event.stop()
        if event.action:
            await self.run_action(event.action)

    def on_key(self, event: events.Key) -> None:
        """Say of a letter, digit, sign or enter that it does nothing here; the next key that acts ends that."""
        if event.key in self.active_bindings:
            self.end_answer()
        elif label := label_of(event):
            self.answer(f"{label} does nothing in this dialog; its keys are below")

    def answer(self, message: str) -> None:
        """Say why a key does nothing."""
        self._has_answered = True
        self.say(message)

    def end_answer(self) -> None:
        """End what was said about a key that does nothing."""
        if self._has_answered:
            self._has_answered = False
            self.say("")

    def action_close(self) -> None:
        """Close without a result."""
        self.dismiss(None)


def key_layouts(keys: Sequence[DialogKey]) -> tuple[BarLayout, ...]:
    """Return the key line with all keys, then with ever fewer."""
    return tuple(key_layout(keys[:number]) for number in range(len(keys), 0, -1))


def key_layout(keys: Iterable[DialogKey]) -> BarLayout:
    """Return the key line with some keys, clickable."""
    pieces = [Piece(" ")]
    for label, words, action in keys:
        pieces += [Piece(label, Role.INFO, action), Piece(f" {words}  ", Role.DIM, action)]
    return BarLayout(tuple(pieces))


FRAME_WIDTH = 5
"""Columns of the border, the padding and the scrollbar."""
_FRAME_ROWS = 4
"""Rows of the border, the title and the keys."""
_LEAST_WIDTH = 44
MOST_WIDTH = 140
"""Longer lines are hard to read, and a paragraph of the help is one line of several hundred columns."""


READING_KEYS = (
    DialogKey("j k", "move"),
    DialogKey("/", "search", "search"),
    DialogKey("n N", "next", "found(1)"),
    DialogKey("g G", "ends"),
    DialogKey("pgup pgdn", "page"),
)


class SearchInput(Input):
    """The search line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.keep_search", "Search", show=False)]


class ReadingDialog(Dialog[None]):
    """Shows lines above a screen; subclasses fill them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", show=False),
        Binding("slash", "search", "Search", show=False),
        Binding("n", "found(1)", "Next match", show=False),
        Binding("N", "found(-1)", "Previous match", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("esc", "close", "close"), *READING_KEYS)
    FIELD_KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "keep search", "keep_search"),
        DialogKey("esc", "end search", "leave"),
    )

    def body(self) -> Iterable[Widget]:
        """Return the lines and the search line."""
        yield from super().body()
        with Horizontal(id="dialog-search"):
            yield Static(" /", id="dialog-search-sign")
            yield SearchInput(id="dialog-search-text", placeholder="text to find", compact=True)

    def on_mount(self) -> None:
        """Hide the search line."""
        self.query_one("#dialog-search").display = False
        self.view.focus()

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys, without that for copying where the line cannot be copied."""
        current = self.view.current
        can_copy = current is not None and bool(current.copied)
        return [key for key in self.KEYS if can_copy or key.action != "copy"]

    def show_lines(self, lines: Iterable[Line], *, keep_place: bool = False) -> None:
        """Replace the lines, as `LineView.show_lines` does, and fit the dialog to them."""
        self.view.show_lines(lines, keep_place=keep_place)
        self._fit()

    def on_resize(self) -> None:
        """Fit the dialog into the terminal."""
        self._fit()

    def _fit(self) -> None:
        """Make the dialog as wide as its longest line, and as high as its lines, where the terminal has that much."""
        longest = max((cell_len(line.text) for line in self.view.lines), default=0)
        keys = sum(piece.width for piece in key_layouts(self.KEYS)[0].left)
        width = min(max(longest + FRAME_WIDTH, keys + 2, _LEAST_WIDTH), MOST_WIDTH, self.app.size.width)
        self.query_one("#dialog").styles.width = width
        self.leave_rows(int(self.query_one("#dialog-search").display))

    def say(self, message: str, role: Role = Role.INFO) -> None:
        """Show a message above the keys; "" hides it."""
        super().say(message, role)
        self._fit()

    def action_copy(self) -> None:
        """Copy the line under the cursor."""
        current = self.view.current
        if current is None or not current.copied:
            self.say("nothing to copy here")
            return
        self.say(copy_text(self.app, copied_line(current.copied)))

    # Search

    @property
    def acting_keys(self) -> Sequence[DialogKey]:
        """The keys, without those to another match where there is none."""
        has_more = not self.sought or self.view.count(self.sought) > 1
        return [key for key in super().acting_keys if has_more or key.label != "n N"]

    @property
    def sought(self) -> str:
        """The text of the search."""
        return self.query_one("#dialog-search-text", Input).value.strip()

    def action_search(self) -> None:
        """Open the search line."""
        self.query_one("#dialog-search").display = True
        self.query_one("#dialog-search-text", Input).focus()
        self._fit()

    @on(Input.Changed)
    def _search(self) -> None:
        self._find(1, is_fresh=True)

    def action_keep_search(self) -> None:
        """Go back to the lines; n and N go on from the match."""
        self.query_one("#dialog-search").display = bool(self.sought)
        self.view.focus()
        self._fit()

    def action_found(self, by: int) -> None:
        """Go to the next or previous match; without a search, open the search line."""
        if self.sought:
            self._find(by)
        else:
            self.action_search()

    def _find(self, by: int, *, is_fresh: bool = False) -> None:
        if not self.sought:
            self.view.unmark()
            self.say("")
            return
        position, number = self.view.find(self.sought, by, is_fresh=is_fresh)
        self.say(f"match {position} of {number}" if number else f'no match of "{self.sought}"')

    def action_leave(self) -> None:
        """Close the search line, or the dialog."""
        search = self.query_one("#dialog-search")
        if not search.display:
            self.action_close()
            return
        self.query_one("#dialog-search-text", Input).value = ""
        search.display = False
        self.view.focus()
        self._fit()


class TextDialog(ReadingDialog):
    """Shows lines above the screen until it is closed, which the key that opened it, `closing`, does too.

    The title is trusted text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,enter", "close", "Close", show=False),
        Binding("y", "copy", "Copy the line", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("esc q", "close", "close"),
        *READING_KEYS[:3],
        DialogKey("y", "copy", "copy"),
        *READING_KEYS[3:],
    )

    def __init__(self, title: str, lines: Iterable[Line], *, closing: str = "") -> None:
        super().__init__()
        self._heading = title
        self._shown = tuple(lines)
        if closing:
            self._bindings.bind(closing, "close", show=False)

    def on_mount(self) -> None:
        """Show the title and the lines."""
        self.show_title(self._heading)
        self.show_lines(self._shown)
