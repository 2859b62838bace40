"""A dialog of the applied writes: each can be undone, or redone, and its commit message copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from locklens.lines import Line, Role, Span, line
from locklens.text import counted
from locklens.ui.dialogs.base import Dialog, DialogKey
from locklens.ui.widgets.copying import copy_text
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from textual.widget import Widget

    from locklens.operations.write.undo import AppliedWrite

_FILES_SHOWN = 8


class WritesDialog(Dialog["AppliedWrite | None"]):
    """Lists the applied writes; dismissed with the one to undo or redo.

    Args:
        writes: The newest first; at least one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "revert", "Undo or redo", show=False),
        Binding("y", "copy", "Copy commit message", show=False),
        Binding("escape,q,Z", "close", "Close", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "preview undo or redo", "revert"),
        DialogKey("esc", "close", "close"),
        DialogKey("j k", "move"),
        DialogKey("y", "copy commit message", "copy"),
    )

    def __init__(self, writes: Sequence[AppliedWrite]) -> None:
        super().__init__()
        self._writes = {write.id: write for write in writes}

    def body(self) -> Iterable[Widget]:
        """Return the writes."""
        yield LineView(id="dialog-lines")

    def on_mount(self) -> None:
        """Show the writes."""
        self.show_title(f"Applied writes: {len(self._writes)}")
        view = self.query_one(LineView)
        view.show_lines(_listed(self._writes.values()))
        view.focus()

    @property
    def write(self) -> AppliedWrite | None:
        """The highlighted write."""
        current = self.query_one(LineView).current
        return self._writes[current.copied] if current is not None else None

    def action_revert(self) -> None:
        """Close the dialog with the highlighted write."""
        self.dismiss(self.write)

    def action_copy(self) -> None:
        """Copy the commit message of the highlighted write."""
        message = self.write.record.message if self.write is not None else ""
        if message:
            self.say(copy_text(self.app, message, "the commit message"))
        else:
            self.say("no commit message: the write was made by a command")


def _listed(writes: Iterable[AppliedWrite]) -> Iterator[Line]:
    """The cursor stops at the line of each write, which has its id, and passes its files."""
    for write in writes:
        verb = Span("redo  ", Role.WARN) if write.is_undone else Span("undo  ", Role.GOOD)
        undone = Span("  (undone)" if write.is_undone else "", Role.DIM)
        yield line(verb, Span(write.moment, Role.DIM), "  ", write.title, undone, hanging=8, copied=write.id)
        for name in write.files[:_FILES_SHOWN]:
            yield line(Span(f"        {name}", Role.PLACE), hanging=10)
        if len(write.files) > _FILES_SHOWN:
            more = counted(len(write.files) - _FILES_SHOWN, "more file")
            yield line(Span(f"        and {more}", Role.DIM))
