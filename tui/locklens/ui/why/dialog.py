"""The dialog that says why a provider is there: at once what the configuration tells, then what the registry adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError
from locklens.ui.dialogs.text import TextDialog
from locklens.ui.shell import bars
from locklens.ui.text.clipboard import copied_line
from locklens.ui.text.spans import Line, Role, Span, line
from locklens.ui.why.help import why_help
from locklens.ui.why.keys import WHY_KEYS
from locklens.ui.why.lines import why_in_short, why_lines
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from typing import Protocol

    from textual.app import ComposeResult

    from locklens.addresses import ProviderAddress
    from locklens.review.why import Why
    from locklens.ui.text.spans import FilePlace

    class Explain(Protocol):
        """Finds out why; may be called in any thread, and raises LockLensError."""

        def __call__(self, *, is_asking: bool, is_fresh: bool, cancel: threading.Event) -> Why:
            """Returns what is known, with the registry's part where it is asked."""


class WhyDialog(ModalScreen[None]):
    """Shows the answer, line by line; nothing in it is cut.

    Args:
        address: The provider.
        explain: Finds out why.
        edit: Opens a place in the editor; returns what kept it from that, "" for nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action, key.words, show=False)
        for group in WHY_KEYS.groups
        for key in group.keys
        if key.keys
    ]

    @dataclass
    class Answered(Message):
        """More is known.

        Attributes:
            run: Which asking it is of; an older one is not heard.
            why: What is known; None where `error` says why nothing is.
            is_asking: Whether the registry's answer is on its way.
        """

        run: int
        why: Why | None
        is_asking: bool
        error: LockLensError | None = None

    def __init__(self, address: ProviderAddress, explain: Explain, edit: Callable[[FilePlace | None], str]) -> None:
        super().__init__()
        self._address = address
        self._explain = explain
        self._edit = edit
        self._run = 0
        self._why: Why | None = None
        self._is_asking = True
        self._error: LockLensError | None = None

    def compose(self) -> ComposeResult:
        """A frame with a title, the lines, what is said, and the keys."""
        with Vertical(id="dialog", classes="-reading"):
            yield Bar(id="dialog-title")
            yield LineView(id="dialog-lines")
            yield Bar(id="dialog-status")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Begins to find out."""
        self.query_one("#dialog-keys", Bar).show_layouts(*bars.key_line(WHY_KEYS, in_detail=False))
        self._refresh()
        self.query_one(LineView).focus()
        self._find_out(self._run, is_fresh=False)

    @work(thread=True, exclusive=True, group="why")
    def _find_out(self, run: int, *, is_fresh: bool) -> None:
        cancel = get_current_worker().cancelled_event
        for is_asking in (False, True):
            try:
                why = self._explain(is_asking=is_asking, is_fresh=is_fresh, cancel=cancel)
            except RunCancelledError:
                return
            except LockLensError as error:
                self.post_message(self.Answered(run, None, is_asking=False, error=error))
                return
            self.post_message(self.Answered(run, why, is_asking=not is_asking))

    @on(Answered)
    def _take(self, event: Answered) -> None:
        if event.run == self._run:
            self._why, self._is_asking, self._error = event.why or self._why, event.is_asking, event.error
            self._refresh()

    def _refresh(self) -> None:
        told = why_in_short(self._why) if self._why is not None else ""
        name = Piece(f" Why {self._address}", Role.STRONG)
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((name,), (Piece(f"{told} ", Role.BLOCK),)))
        self.query_one(LineView).show_lines(self._lines(), keep_place=True)
        self._say("")

    def _lines(self) -> tuple[Line, ...]:
        lines: list[Line] = []
        if self._error is not None:
            lines.append(line(Span(self._error.sentence, Role.WARN), hanging=2))
        if self._why is not None:
            lines += why_lines(self._why, is_asking=self._is_asking)
        return tuple(lines) or (line(Span("Reading the configuration …", Role.DIM)),)

    def _say(self, words: str) -> None:
        current = words or ("the registry is being asked; what is shown is known without it" if self._is_asking else "")
        self.query_one("#dialog-status", Bar).show_layouts(BarLayout((Piece(f" {current}", Role.INFO),)))

    async def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """Does what the clicked piece says."""
        event.stop()
        if event.action:
            await self.run_action(event.action)

    def action_close(self) -> None:
        """Goes back."""
        self.dismiss()

    def action_help(self) -> None:
        """Shows the keys."""
        self.app.push_screen(TextDialog("Keys here", why_help(), closing="question_mark"))

    def action_again(self) -> None:
        """Finds it out once more, and asks the registry whatever is remembered."""
        self._run += 1
        self._is_asking, self._error = True, None
        self._refresh()
        self._find_out(self._run, is_fresh=True)

    def action_copy(self) -> None:
        """Copies the highlighted version or constraint."""
        current = self.query_one(LineView).current
        if current is None or not current.copied:
            self._say("nothing here to copy")
            return
        self.app.copy_to_clipboard(copied_line(current.copied))
        self._say(f"copied: {copied_line(current.copied)}")

    def action_edit(self) -> None:
        """Opens the highlighted line in the editor."""
        current = self.query_one(LineView).current
        problem = self._edit(current.place if current is not None else None)
        self._say(problem)
