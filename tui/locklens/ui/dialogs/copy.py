"""The dialog that offers what to copy of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from locklens.lines import Role, Span, line
from locklens.ui.dialogs.base import Dialog, DialogKey
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

_LABEL_WIDTH = 13


class CopyChoice(NamedTuple):
    """One text that can be copied.

    Attributes:
        label: The kind of the text.
        text: For `locklens.ui.text.clipboard.copied_line`.
        shown: What the list shows for it; "" for itself.
    """

    label: str
    text: str
    shown: str = ""


class CopyDialog(Dialog[CopyChoice | None]):
    """Offers texts; the result is the selected one, None if the dialog was closed.

    Args:
        choices: The texts, the most usual first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "copy", "Copy", show=False),
        Binding("escape,q", "close", "Close", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "copy", "copy"),
        DialogKey("j k", "move"),
        DialogKey("esc", "close", "close"),
    )

    def __init__(self, choices: Sequence[CopyChoice]) -> None:
        super().__init__()
        self._choices = tuple(choices)

    def body(self) -> Iterable[Widget]:
        """Return the choices."""
        yield LineView(id="dialog-lines")

    def on_mount(self) -> None:
        """Show the title and the choices."""
        self.show_title("Copy")
        view = self.query_one(LineView)
        view.show_lines(
            line(
                Span(choice.label.ljust(_LABEL_WIDTH), Role.DIM),
                choice.shown or choice.text,
                hanging=_LABEL_WIDTH,
                copied=choice.text,
            )
            for choice in self._choices
        )
        view.focus()

    def action_copy(self) -> None:
        """Select the highlighted text."""
        view = self.query_one(LineView)
        self.dismiss(self._choices[view.cursor] if view.current is not None else None)
