"""The dialog of a merge whose entries clash: both versions of each, and the choice of the newest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from locklens.review.reports.lines import Line, Role, Span, line
from locklens.text import counted
from locklens.ui.widgets.bar import Bar, BarLayout, Piece
from locklens.ui.widgets.closing import ClosedOnce
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult

    from locklens.errors import LockLensError
    from locklens.operations.write.resolve import Clash, ResolveConflicts


@dataclass
class ClashesFound(Message):
    """The entries that clash in a merge are known; () for a merge that leaves nothing open."""

    operation: ResolveConflicts
    clashes: tuple[Clash, ...]
    error: LockLensError | None = None


class ClashesDialog(ModalScreen[bool | None], ClosedOnce[bool | None]):
    """Lists the entries that clash; dismissed with True if the newest versions are chosen.

    Args:
        clashes: At least one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "newest", "Newest", show=False),
        Binding("escape,q,M", "close", "Close", show=False),
    ]

    def __init__(self, clashes: Sequence[Clash]) -> None:
        super().__init__()
        self._clashes = tuple(clashes)

    @property
    def can_take_newest(self) -> bool:
        """True if the newest version settles every clash."""
        return all(clash.newest is not None for clash in self._clashes)

    def compose(self) -> ComposeResult:
        """Yield the title, the entries and the key line."""
        with Vertical(id="dialog"):
            yield Bar(id="dialog-title")
            yield LineView(id="dialog-lines")
            yield Bar(id="dialog-keys")

    def on_mount(self) -> None:
        """Show the entries."""
        title = f" Merge: {counted(len(self._clashes), 'entry clashes', 'entries clash')}"
        self.query_one("#dialog-title", Bar).show_layouts(BarLayout((Piece(title, Role.STRONG),)))
        newest = (Piece(" n", Role.INFO, "newest"), Piece(" preview with the newest of both   ", Role.DIM, "newest"))
        close = (Piece(" esc", Role.INFO, "close"), Piece(" close", Role.DIM, "close"))
        keys = (*(newest if self.can_take_newest else ()), *close)
        self.query_one("#dialog-keys", Bar).show_layouts(BarLayout(keys))
        view = self.query_one(LineView)
        view.show_lines(clash_lines(self._clashes))
        view.focus()

    async def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """Run the action of the clicked piece."""
        event.stop()
        await self.run_action(event.action)

    def action_newest(self) -> None:
        """Choose the newest version of each entry."""
        if self.can_take_newest:
            self.dismiss(True)
        else:
            self.notify("the newest version does not settle every entry: resolve the file by hand, e opens it")

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)


def clash_lines(clashes: Sequence[Clash]) -> Iterator[Line]:
    """The entries that clash, with both versions, and what the newest would be."""
    for clash in clashes:
        yield line(Span(clash.name, Role.STRONG), Span(f"  {clash.root or '.'}", Role.PLACE), copied=clash.name)
        yield line(f"  {clash.reason}", hanging=4)
        for name, version in (clash.ours, clash.theirs):
            is_newest = clash.newest is not None and str(clash.newest) == version
            newest = Span("  the newest of both" if is_newest else "", Role.GOOD)
            yield line(f"    {version:<14}", Span(name, Role.DIM), newest, hanging=18, copied=version)
        if clash.newest is None:
            yield line(Span("    to be resolved by hand: the newest does not settle it", Role.WARN), hanging=4)
        yield Line()
