"""A dialog of the applied writes: each can be undone, or redone, and its commit message copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from locklens.review.reports.lines import Line, Role, Span, line
from locklens.text import counted
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.closing import ClosedOnce
from locklens.ui.widgets.copying import copy_text
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult

    from locklens.operations.write.undo import AppliedWrite

_FILES_SHOWN = 8


class WritesDialog(ModalScreen["AppliedWrite | None"], ClosedOnce["AppliedWrite | None"]):
    """Lists the applied writes; dismissed with the one to undo or redo.

    Args:
        writes: The newest first; at least one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "revert", "Undo or redo", show=False),
        Binding("y", "copy", "Copy commit message", show=False),
        Binding("escape,q,Z", "close", "Close", show=False),
    ]

    def __init__(self, writes: Sequence[AppliedWrite]) -> None:
        super().__init__()
        self._writes = tuple(writes)
        self._lines = tuple(_listed(self._writes))

    def compose(self) -> ComposeResult:
        """Yield the title, the writes and the key line."""
        with Vertical(id="dialog"):
            yield Bar(id="dialog-title")
            yield LineView(id="dialog-lines")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Show the writes."""
        title = f" Applied writes: {len(self._writes)}"
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((Piece(title, Role.STRONG),)))
        keys = (
            Piece(" enter", Role.INFO, "revert"),
            Piece(" preview undo or redo   ", Role.DIM, "revert"),
            Piece("y", Role.INFO, "copy"),
            Piece(" copy commit message   ", Role.DIM, "copy"),
            Piece("esc", Role.INFO, "close"),
            Piece(" close", Role.DIM, "close"),
        )
        self.query_one("#dialog-keys", Bar).show_layouts(BarLayout(keys))
        view = self.query_one(LineView)
        view.show_lines(shown for shown, _ in self._lines)
        view.focus()

    @property
    def write(self) -> AppliedWrite:
        """The highlighted write."""
        return self._lines[max(0, self.query_one(LineView).cursor)][1]

    async def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """Run the action of the clicked piece."""
        event.stop()
        await self.run_action(event.action)

    def action_revert(self) -> None:
        """Close the dialog with the highlighted write."""
        self.dismiss(self.write)

    def action_copy(self) -> None:
        """Copy the commit message of the highlighted write."""
        message = self.write.record.message
        if message:
            self.notify(copy_text(self.app, message, "the commit message"))
        else:
            self.notify("no commit message: the write was made by a command")

    def action_close(self) -> None:
        """Close the dialog."""
        self.dismiss(None)


def _listed(writes: Sequence[AppliedWrite]) -> Iterator[tuple[Line, AppliedWrite]]:
    for write in writes:
        verb = Span("redo  ", Role.WARN) if write.is_undone else Span("undo  ", Role.GOOD)
        undone = Span("  (undone)" if write.is_undone else "", Role.DIM)
        yield line(verb, Span(write.moment, Role.DIM), "  ", write.title, undone, hanging=8), write
        for name in write.files[:_FILES_SHOWN]:
            yield line(Span(f"        {name}", Role.PLACE), hanging=10), write
        if len(write.files) > _FILES_SHOWN:
            more = counted(len(write.files) - _FILES_SHOWN, "more file")
            yield line(Span(f"        and {more}", Role.DIM)), write
