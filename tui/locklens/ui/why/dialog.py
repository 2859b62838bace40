"""The Why dialog: the requirements from the configuration first, then the registry's versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError
from locklens.lines import Line, Role, Span, line
from locklens.review.reports.why import why_in_short, why_lines
from locklens.ui.dialogs.base import DialogKey
from locklens.ui.dialogs.reading import ReadingDialog
from locklens.ui.dialogs.text import TextDialog
from locklens.ui.text.clipboard import copied_line
from locklens.ui.why.help import why_help
from locklens.ui.why.keys import WHY_KEYS
from locklens.ui.widgets.bar import Piece
from locklens.ui.widgets.copying import copy_text

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from locklens.addresses import ProviderAddress
    from locklens.lines import FilePlace
    from locklens.review.why import Why

    class Explain(Protocol):
        """Explains a provider; thread-safe; raises LockLensError."""

        def __call__(self, *, is_asking: bool, is_fresh: bool, cancel: threading.Event) -> Why:
            """Return the explanation, with the registry's part if `is_asking`."""


class WhyDialog(ReadingDialog):
    """Shows the explanation, line by line; no line is cut.

    Args:
        address: The provider.
        explain: Returns the explanation.
        edit: Opens a place in the editor; returns the problem in words, "" on success.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action, key.words, show=False)
        for group in WHY_KEYS.groups
        for key in group.keys
        if key.keys
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = tuple(
        DialogKey(key.shown, key.short, key.action) for group in WHY_KEYS.groups for key in group.keys if key.short
    )

    @dataclass
    class Answered(Message):
        """An explanation, or an error.

        Attributes:
            run: The number of the lookup; older ones are dropped.
            why: The explanation; None with an `error`.
            is_asking: True while the registry's answer is outstanding.
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

    def on_mount(self) -> None:
        """Start the lookup."""
        self._refresh()
        self._look_up(self._run, is_fresh=False)

    @work(thread=True, exclusive=True, group="why")
    def _look_up(self, run: int, *, is_fresh: bool) -> None:
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
        summary = why_in_short(self._why) if self._why is not None else ""
        self.show_title(f"Why {self._address}", right=(Piece(f"{summary} ", Role.BLOCK),))
        self.show_lines(self._lines(), keep_place=True)
        self._say("")

    def _lines(self) -> tuple[Line, ...]:
        lines: list[Line] = []
        if self._error is not None:
            lines.append(line(Span(self._error.sentence, Role.WARN), hanging=2))
        if self._why is not None:
            lines += why_lines(self._why, is_asking=self._is_asking)
        return tuple(lines) or (line(Span("Reading the configuration …", Role.DIM)),)

    def _say(self, message: str) -> None:
        self.say(message or ("asking the registry; facts from the configuration are shown" if self._is_asking else ""))

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(TextDialog("All keys of this dialog", why_help(), closing="question_mark"))

    def action_again(self) -> None:
        """Repeat the lookup, and ask the registry despite the cache."""
        self._run += 1
        self._is_asking, self._error = True, None
        self._refresh()
        self._look_up(self._run, is_fresh=True)

    def action_copy(self) -> None:
        """Copy the highlighted version or constraint."""
        current = self.view.current
        if current is None or not current.copied:
            self._say("nothing to copy here")
            return
        self._say(copy_text(self.app, copied_line(current.copied)))

    def action_edit(self) -> None:
        """Open the highlighted line in the editor."""
        current = self.view.current
        problem = self._edit(current.place if current is not None else None)
        self._say(problem)
