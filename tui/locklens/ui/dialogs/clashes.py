"""The dialog of a merge whose entries clash: both versions of each, and a side or the newer one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual.binding import Binding, BindingType
from textual.message import Message

from locklens.lines import Line, Role, Span, line
from locklens.operations.merge import Preference
from locklens.text import counted
from locklens.ui.dialogs.base import Dialog, DialogKey
from locklens.ui.widgets.bar import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locklens.errors import LockLensError
    from locklens.operations.write.resolve import Clash, ResolveConflicts


SelectedSides: TypeAlias = dict[tuple[str, str], Preference]
"""What settles each entry that clashes, by root and the root's name of the provider."""


@dataclass
class ClashesFound(Message):
    """The entries that clash in a merge are known; () for a merge that leaves nothing open."""

    operation: ResolveConflicts
    clashes: tuple[Clash, ...]
    error: LockLensError | None = None


class ClashesDialog(Dialog[SelectedSides | None]):
    """Lists the entries that clash; dismissed once each one is settled, with None if it was closed before.

    Args:
        clashes: At least one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "take('newest')", "Newer", show=False),
        Binding("o", "take('ours')", "Ours", show=False),
        Binding("t", "take('theirs')", "Theirs", show=False),
        Binding("N", "take_everywhere('newest')", "Newer for all", show=False),
        Binding("O", "take_everywhere('ours')", "Ours for all", show=False),
        Binding("T", "take_everywhere('theirs')", "Theirs for all", show=False),
        Binding("escape,q,M", "close", "Close", show=False),
    ]

    def __init__(self, clashes: Sequence[Clash]) -> None:
        super().__init__()
        self._clashes = tuple(clashes)
        self._selected: dict[int, Preference] = {}

    @property
    def keys(self) -> Sequence[DialogKey]:
        """The sides, and the newer version where it settles an entry; the same in upper case for all."""
        newer = [clash.newest is not None for clash in self._clashes]
        for_one = (DialogKey("n", "take the newer version", "take('newest')"),) if any(newer) else ()
        sides = DialogKey("o", "take ours", "take('ours')"), DialogKey("t", "take theirs", "take('theirs')")
        if len(newer) == 1:
            return (*for_one, *sides, *self.KEYS)
        for_all = DialogKey("N O T" if all(newer) else "O T", "for all")
        return (*for_one, *sides, for_all, DialogKey("j k", "move"), *self.KEYS)

    def on_mount(self) -> None:
        """Show the entries."""
        self._show()
        self.view.focus()

    def _show(self) -> None:
        count, done = len(self._clashes), len(self._selected)
        state = f"  {done} of {count} settled" if count > 1 else ""
        self.show_title(f"Merge conflict in {counted(count, 'provider')}", Piece(state, Role.INFO))
        self.view.show_lines(clash_lines(self._clashes, self._selected), keep_place=bool(done))

    def action_take(self, name: str) -> None:
        """Settle the highlighted entry, and go to the next one that is open; close after the last."""
        view, preference = self.view, Preference(name)
        if view.current is None:
            return
        here = int(view.current.copied)
        clash = self._clashes[here]
        if preference is Preference.NEWEST and clash.newest is None:
            self.say(f"{clash.name}: {clash.problem}; o takes ours, t theirs")
            return
        self._selected[here] = preference
        self.say("")
        self._show()
        following = (*range(here + 1, len(self._clashes)), *range(here))
        if (upcoming := next((index for index in following if index not in self._selected), None)) is not None:
            view.go_to(str(upcoming))
        else:
            self._settle()

    def action_take_everywhere(self, name: str) -> None:
        """Settle every entry in the same way."""
        preference = Preference(name)
        if preference is Preference.NEWEST and any(clash.newest is None for clash in self._clashes):
            self.say("the newer version does not settle every entry: select a side for each, with n, o or t")
            return
        self._selected = dict.fromkeys(range(len(self._clashes)), preference)
        self._settle()

    def _settle(self) -> None:
        self.dismiss({(clash.root, clash.name): self._selected[index] for index, clash in enumerate(self._clashes)})


def clash_lines(clashes: Sequence[Clash], selected: Mapping[int, Preference]) -> Iterator[Line]:
    """The entries that clash with both versions, which is the newer, and the selected one.

    Args:
        clashes: The entries; the line of each is highlighted with its index.
        selected: What settles those that are settled, by index.
    """
    for index, clash in enumerate(clashes):
        yield line(Span(clash.name, Role.STRONG), Span(f"  {clash.root or '.'}", Role.PLACE), copied=str(index))
        yield line(f"  {clash.reason}", hanging=4)
        preference = selected.get(index)
        for side, (name, version) in ((Preference.OURS, clash.ours), (Preference.THEIRS, clash.theirs)):
            is_newest = clash.newest is not None and str(clash.newest) == version
            is_taken = preference is side or (preference is Preference.NEWEST and is_newest)
            mark = Span("  x " if is_taken else "    ", Role.GOOD)
            newest = Span("  the newer version" if is_newest else "", Role.GOOD)
            yield line(mark, f"{version:<14}", Span(name, Role.DIM), newest, hanging=18)
        if clash.newest is None:
            yield line(Span(f"    {clash.problem}", Role.WARN), hanging=4)
        yield Line()
