"""The dialog that selects the two sides of the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from locklens.lines import Line, Role, Span, line
from locklens.operations.comparison import Base
from locklens.ui.dialogs.base import Dialog, DialogKey
from locklens.ui.widgets.bar import Piece
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from textual.widget import Widget

    from locklens.project.git.listings import Revision

WORK_TREE, INDEX = "work tree", "index"
_NAME_WIDTH = 28


class SidesDialog(Dialog[Base | None]):
    """Selects the base, then the head; the result is None if the dialog was closed.

    Args:
        revisions: The revisions that are offered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "Select", show=False),
        Binding("slash", "filter", "Filter", show=False),
        Binding("m", "merge_base", "Common ancestor", show=False),
        Binding("escape,q", "back", "Back", show=False),
    ]
    KEYS: ClassVar[Sequence[DialogKey]] = (
        DialogKey("enter", "select", "select"),
        DialogKey("j k", "move"),
        DialogKey("/", "filter", "filter"),
        DialogKey("m", "common ancestor", "merge_base"),
        DialogKey("esc", "back", "back"),
    )

    def __init__(self, revisions: Sequence[Revision]) -> None:
        super().__init__()
        self._revisions = tuple(revisions)
        self._base = ""
        """The selected base; "" while it is not selected."""
        self._is_from_ancestor = False

    def body(self) -> Iterable[Widget]:
        """Return the filter and the revisions."""
        yield Input(
            placeholder="name, date or subject; or both sides as A..B or A...B", id="sides-filter", compact=True
        )
        yield LineView(id="dialog-lines")

    def on_mount(self) -> None:
        """Show the revisions for the base."""
        self._show()
        self.query_one(LineView).focus()

    def _show(self) -> None:
        title = f"Select the head to compare with {self._base}" if self._base else "Select the base"
        state = "  since the common ancestor" if self._is_from_ancestor else ""
        self.show_title(title, Piece(state, Role.WARN))
        self.query_one(LineView).show_lines(self._lines())

    def _lines(self) -> Iterator[Line]:
        words = self.query_one(Input).value.lower().split()
        fixed = ((WORK_TREE, "files on disk"), (INDEX, "staged changes")) if self._base else (("HEAD", "last commit"),)
        for name, meaning in fixed:
            if all(word in f"{name} {meaning}".lower() for word in words):
                yield line(f"{name:<{_NAME_WIDTH}}  ", Span(meaning, Role.DIM), copied=name)
        for one in self._revisions:
            text = f"{one.kind} {one.name} {one.date} {one.subject}".lower()
            if all(word in text for word in words):
                about = f"  {one.kind:<6}  {one.date}  {one.subject}"
                yield line(f"{one.name:<{_NAME_WIDTH}}", Span(about, Role.DIM), hanging=_NAME_WIDTH, copied=one.name)

    @on(Input.Changed)
    def _narrow(self) -> None:
        self.query_one(LineView).show_lines(self._lines())

    @on(Input.Submitted)
    def _take_range(self, event: Input.Submitted) -> None:
        """Select both sides of a range; leave the filter otherwise."""
        sides = Base.of_range(event.value.strip()) if not self._base else None
        if sides is not None:
            self.dismiss(sides)
        else:
            self.query_one(LineView).focus()

    def action_filter(self) -> None:
        """Focus the filter."""
        self.query_one(Input).focus()

    def action_merge_base(self) -> None:
        """Compare with the base itself, or with the common ancestor of both sides as a pull request does."""
        self._is_from_ancestor = not self._is_from_ancestor
        self._show()

    def action_select(self) -> None:
        """Select the highlighted revision as the base, then as the head."""
        current = self.query_one(LineView).current
        if current is None:
            return
        if not self._base:
            self._base = current.copied
            self.query_one(Input).value = ""
            self._show()
            return
        name = current.copied
        head = None if name in {WORK_TREE, INDEX} else name
        fork_of = (head or "HEAD") if self._is_from_ancestor else ""
        # "HEAD" is what counts where no base is named.
        base = None if self._base == "HEAD" else self._base
        self.dismiss(Base(base, fork_of, head, name == INDEX))

    def action_back(self) -> None:
        """Leave the filter, go back to the base, or close."""
        if self.query_one(Input).has_focus:
            self.query_one(LineView).focus()
        elif self._base:
            self._base = ""
            self._show()
        else:
            self.dismiss(None)
