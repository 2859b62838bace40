"""The Why dialog: the requirements from the configuration first, then the registry's versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from locklens.lines import FilePlace, Line, Role, Span, line
from locklens.review.reports.why import why_in_short, why_lines
from locklens.ui.dialogs.base import DialogKey, ReadingDialog, TextDialog
from locklens.ui.shell.jobs import Job, Run
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable, key_help
from locklens.ui.text.clipboard import copied_line, copy_text
from locklens.ui.widgets.strips import Piece

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from locklens.addresses import ProviderAddress
    from locklens.errors import LockLensError
    from locklens.review.why import Why

    class Explain(Protocol):
        """Explains a provider; thread-safe; raises LockLensError."""

        def __call__(self, *, is_asking: bool, is_fresh: bool, cancel: threading.Event) -> Why:
            """Return the explanation, with the registry's part if `is_asking`."""


WHY_KEYS = KeyTable(
    KeyGroup(
        "Why",
        Key("esc q w", "close", "back: from the search, to the screen", "back", binds="q,w,enter"),
        Key("/", "search", "search text: upper and lower case alike", "search", binds=""),
        Key("n N", "found(1)", "next and previous match", "next", binds=""),
        Key("y", "copy", "copy line: the highlighted version or constraint, without its path", "copy"),
        Key("e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
        Key("r", "again", "reload files: all, and ask the registry again", "reload"),
        Key("?", "help", "this help", "keys"),
        Key("j k", "", "next and previous line that can be copied or opened; also arrows", "move"),
        Key("g G", "", "first and last line", "ends"),
        Key("pgup pgdn", "", "a page up and down", "page"),
    )
)


def why_help() -> Iterator[Line]:
    """The keys of the Why dialog."""
    yield from key_help(WHY_KEYS)


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

    def __init__(self, address: ProviderAddress, explain: Explain, edit: Callable[[FilePlace | None], str]) -> None:
        super().__init__()
        self._address = address
        self._explain = explain
        self._edit = edit
        self._job = Job(self, "why")
        self._why: Why | None = None
        self._error: LockLensError | None = None

    def on_mount(self) -> None:
        """Start the lookup."""
        self._look_up(is_fresh=False)

    def _look_up(self, *, is_fresh: bool) -> None:
        def explain(run: Run) -> Why:
            run.tell(self._take, self._explain(is_asking=False, is_fresh=is_fresh, cancel=run.cancel))
            return self._explain(is_asking=True, is_fresh=is_fresh, cancel=run.cancel)

        self._error = None
        self._job.start(explain, self._take, self._fail)
        self._refresh()

    def _take(self, why: Why) -> None:
        self._why = why
        self._refresh()

    def _fail(self, error: LockLensError) -> None:
        self._error = error
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
            lines += why_lines(self._why, is_asking=self._job.is_running)
        return tuple(lines) or (line(Span("Reading the configuration …", Role.DIM)),)

    def _say(self, message: str) -> None:
        self.say(
            message or ("asking the registry; facts from the configuration are shown" if self._job.is_running else "")
        )

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(TextDialog("All keys of this dialog", why_help(), closing="question_mark"))

    def action_again(self) -> None:
        """Repeat the lookup, and ask the registry despite the cache."""
        self._look_up(is_fresh=True)

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
