"""Base of all dialogs: where they stand, how they look, their title, message and key line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType

from locklens.lines import Role
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.closing import ClosedOnce

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget


class DialogKey(NamedTuple):
    """A key in the key line of a dialog."""

    label: str
    words: str
    action: str = ""


class Dialog(ModalScreen[ScreenResultType], ClosedOnce[ScreenResultType]):
    """Stands in the middle above a screen, which stays in sight; subclasses fill the body.

    The style sheet names this class alone: a dialog that has it as its base looks like every other one.

    Class attributes:
        KEYS: The keys of the key line, the most useful first: a narrow dialog leaves out the last ones.
        FRAME: The CSS classes of the frame.
    """

    KEYS: ClassVar[Sequence[DialogKey]] = (DialogKey("esc", "close", "close"),)
    FRAME: ClassVar[str] = ""

    def compose(self) -> ComposeResult:
        """Yield the title, the body, the message and the key line."""
        with Vertical(id="dialog", classes=self.FRAME):
            yield Bar(id="dialog-title")
            yield from self.body()
            yield Bar(id="dialog-status")
            yield Bar(id="dialog-keys")

    def body(self) -> Iterable[Widget]:
        """Return the widgets between the title and the message."""
        return ()

    def on_mount(self) -> None:
        """Show the keys; runs after the `on_mount` of a subclass."""
        self.refresh_keys()

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The keys that do something now."""
        return self.KEYS

    def refresh_keys(self) -> None:
        """Show the keys in the key line."""
        self.query_one("#dialog-keys", Bar).show_layouts(*key_layouts(self.keys))

    def show_title(self, title: str, *more: Piece, right: Iterable[Piece] = ()) -> None:
        """Show the title, and what follows it."""
        pieces = (Piece(f" {title}", Role.STRONG), *more)
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout(pieces, tuple(right)))

    def say(self, message: str, role: Role = Role.INFO) -> None:
        """Show a message above the keys; "" hides it."""
        status = self.query_one("#dialog-status", Bar)
        status.display = bool(message)
        status.show_layouts(BarLayout((Piece(f" {message}", role),)))

    async def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """Run the action of the clicked piece."""
        event.stop()
        if event.action:
            await self.run_action(event.action)

    def action_close(self) -> None:
        """Close without a result."""
        self.dismiss(None)


def key_layouts(keys: Sequence[DialogKey]) -> tuple[BarLayout, ...]:
    """Return the key line with all keys, then with ever fewer."""
    layouts = []
    for number in range(len(keys), 0, -1):
        pieces = [Piece(" ")]
        for key in keys[:number]:
            pieces += [Piece(key.label, Role.INFO, key.action), Piece(f" {key.words}  ", Role.DIM, key.action)]
        layouts.append(BarLayout(tuple(pieces)))
    return tuple(layouts)


def width_of(layout: BarLayout) -> int:
    """Return the columns that a layout takes."""
    return sum(cell_len(piece.text) for piece in layout.left)
