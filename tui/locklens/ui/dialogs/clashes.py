"""The dialog of a merge whose entries clash: both versions of each, and the choice of a side or of the newer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from locklens.operations.merge import Preference
from locklens.review.reports.lines import Line, Role, Span, line
from locklens.text import counted
from locklens.ui.dialogs.base import Dialog, DialogKey
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from textual.widget import Widget

    from locklens.errors import LockLensError
    from locklens.operations.write.resolve import Clash, ResolveConflicts


@dataclass
class ClashesFound(Message):
    """The entries that clash in a merge are known; () for a merge that leaves nothing open."""

    operation: ResolveConflicts
    clashes: tuple[Clash, ...]
    error: LockLensError | None = None


class ClashesDialog(Dialog[Preference | None]):
    """Lists the entries that clash; dismissed with what settles them, None if the dialog was closed.

    Args:
        clashes: At least one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "newest", "Newest", show=False),
        Binding("o", "ours", "Ours", show=False),
        Binding("t", "theirs", "Theirs", show=False),
        Binding("escape,q,M", "close", "Close", show=False),
    ]

    def __init__(self, clashes: Sequence[Clash]) -> None:
        super().__init__()
        self._clashes = tuple(clashes)

    @property
    def can_take_newest(self) -> bool:
        """True if the newest version settles every clash."""
        return all(clash.newest is not None for clash in self._clashes)

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The sides, and the newer version where it settles every entry."""
        newest = (DialogKey("n", "take the newer version", "newest"),) if self.can_take_newest else ()
        return (*newest, DialogKey("o", "take ours", "ours"), DialogKey("t", "take theirs", "theirs"), *self.KEYS)

    def body(self) -> Iterable[Widget]:
        """Return the entries."""
        yield LineView(id="dialog-lines")

    def on_mount(self) -> None:
        """Show the entries."""
        self.show_title(f"Merge conflict in {counted(len(self._clashes), 'provider')}")
        view = self.query_one(LineView)
        view.show_lines(clash_lines(self._clashes))
        view.focus()

    def action_newest(self) -> None:
        """Take the newer version of each entry."""
        if self.can_take_newest:
            self.dismiss(Preference.NEWEST)
        else:
            self.say("the newer version does not settle every entry: o takes ours, t theirs; by hand: e opens the file")

    def action_ours(self) -> None:
        """Take our side of each entry."""
        self.dismiss(Preference.OURS)

    def action_theirs(self) -> None:
        """Take their side of each entry."""
        self.dismiss(Preference.THEIRS)


def clash_lines(clashes: Sequence[Clash]) -> Iterator[Line]:
    """The entries that clash, with both versions, and which is the newer."""
    for clash in clashes:
        yield line(Span(clash.name, Role.STRONG), Span(f"  {clash.root or '.'}", Role.PLACE), copied=clash.name)
        yield line(f"  {clash.reason}", hanging=4)
        for name, version in (clash.ours, clash.theirs):
            is_newest = clash.newest is not None and str(clash.newest) == version
            newest = Span("  the newer version" if is_newest else "", Role.GOOD)
            yield line(f"    {version:<14}", Span(name, Role.DIM), newest, hanging=18, copied=version)
        if clash.newest is None:
            yield line(Span(f"    {clash.problem}", Role.WARN), hanging=4)
        yield Line()
