"""The list of a review: paints rows, and posts clicks and keys as messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.message import Message

from locklens.review.reports.lines import Role, Span
from locklens.ui.review.rows import Mark, Row
from locklens.ui.review.tree import Node, NodeKind
from locklens.ui.widgets.row_list import RowList
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end, harmless

if TYPE_CHECKING:
    from textual import events

_LEAD = 15
"""Columns before the name: cursor, fold, mark, what is staged or accepted, severity, sign."""

_ROOM_BEFORE_EVIDENCE = 26
"""Columns of names and versions; with fewer, the count of hashes that are not verified is not shown."""

_MARK_ROLES = {Mark.ALL: Role.GOOD, Mark.SOME: Role.GOOD, Mark.OPEN: Role.DIM, Mark.NONE_POSSIBLE: Role.DIM}


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of the columns after the lead: `rest` takes the remaining room, `evidence` is the last column."""

    name: int
    phrase: int
    rest: int
    evidence: int = 0

    @classmethod
    def fitting(cls, rows: tuple[Row, ...], width: int) -> Columns:
        """Distribute the width: name and versions as wide as their texts, within bounds."""
        plain = [row for row in rows if row.node.kind in {NodeKind.CHANGE, NodeKind.GROUP, NodeKind.CONFLICT}]
        room = max(0, width - _LEAD)
        evidence = max((len(row.evidence.text) for row in rows), default=0)
        evidence = evidence if room - evidence >= _ROOM_BEFORE_EVIDENCE else 0
        room -= evidence + 1 if evidence else 0
        phrase = min(max((len(row.phrase) for row in plain), default=0), max(room * 4 // 9, 10))
        name = max((len(row.name) for row in plain), default=0)
        name = max(min(name, room - phrase - 2), min(name, 12))
        return cls(name, phrase, max(0, room - name - phrase - 2), evidence)


class ChangeList(RowList[Row]):
    """The rows of a review, one line each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "fold(True)", "Fold", show=False),
        Binding("l,right", "fold(False)", "Unfold", show=False),
    ]

    @dataclass
    class Highlighted(Message):
        """Another row is highlighted, or the highlighted one changed; None without rows."""

        node: Node | None

    @dataclass
    class Opened(Message):
        """A request to show a row's detail."""

        node: Node

    @dataclass
    class Turned(Message):
        """The user folded or unfolded a row."""

        node: Node

    @dataclass
    class MarkToggled(Message):
        """The user clicked a row's mark."""

        node: Node

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._columns = Columns(0, 0, 0)

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current.node if self.current is not None else None))

    def is_heading(self, row: Row) -> bool:
        """True for a section whose changes are listed below it."""
        return row.depth == 0 and row.folded is False

    def lay_out(self, rows: tuple[Row, ...], width: int) -> None:
        """Distribute the width among the columns."""
        self._columns = Columns.fitting(rows, width)

    def painted(self, row: Row, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a section or an entry."""
        return self._section(row, width, cursor=cursor) if row.depth == 0 else self._entry(row, width, cursor=cursor)

    def _lead(self, row: Row, *, cursor: bool) -> list[Span]:
        fold = {None: " ", True: "▸", False: "▾"}[row.folded]
        return [Span(">" if cursor else " ", Role.STRONG), Span(" " * min(row.depth, 1) + fold + " ", Role.DIM)]

    def _section(self, row: Row, width: int, *, cursor: bool) -> StyledPiece:
        tail = [row.state, Span(f" {row.tally:>7} ", Role.DIM)]
        room = width - 3 - sum(len(span.text) for span in tail) - 1
        title = harmless(row.node.title)
        note = row.where if cell_len(title) + len(row.where) + 2 <= room else ""
        # The last folders of a path are more specific than the first.
        shown = (fitted if row.node.root is None else fitted_end)(title, min(room, cell_len(title)))
        gap = room - cell_len(shown) - (len(note) + 2 if note else 0)
        spans = [*self._lead(row, cursor=cursor), Span(shown, Role.HEADING)]
        return [*spans, Span(f"  {note}" if note else "", Role.DIM), Span(" " * (gap + 1)), *tail]

    def _entry(self, row: Row, width: int, *, cursor: bool) -> StyledPiece:
        spans = self._lead(row, cursor=cursor)
        mark = Span(row.mark.value, _MARK_ROLES[row.mark])
        spans += [mark, Span(row.standing or " ", Role.GOOD), row.state, Span(f" {row.sign:<2} ", row.state.role)]
        columns = self._columns
        if row.node.kind in {NodeKind.FINDING, NodeKind.NOTE}:
            name = f"{row.node.title} " if row.node.kind is NodeKind.FINDING else ""
            where = f"{harmless(row.where)}: " if row.where else ""
            return [*spans, Span(name, Role.STRONG), Span(fitted(where + row.summary, width - _LEAD - len(name)))]
        if row.node.kind is NodeKind.MEMBER:
            room = width - _LEAD - (columns.evidence + 1 if columns.evidence else 0)
            spans.append(Span(fitted(f"  {row.node.title}  {row.summary}", room), Role.PLACE))
            return [*spans, *self._evidence(row)]
        done = row.mark is Mark.ALL
        spans.append(Span(fitted_end(row.name, columns.name), Role.DIM if done else Role.STRONG))
        return [*spans, *self._versions(row, Role.DIM if done else Role.PLAIN), *self._evidence(row)]

    def _versions(self, row: Row, role: Role) -> StyledPiece:
        """The versions, then roots and kind as far as there is room: names have priority, and versions may be long."""
        columns = self._columns
        room = columns.phrase + 1 + columns.rest
        phrase = harmless(row.phrase)
        left = room - min(cell_len(phrase), room) - 1
        if row.node.kind is NodeKind.GROUP:
            # A count is never cut: it is shortened, and the versions make room.
            number = f" ×{len(row.node.children)}"
            where = row.where if cell_len(row.where) <= left else number if cell_len(number) < room else ""
        else:
            where = fitted_end(row.where, min(left, cell_len(harmless(row.where)))) if left > 0 else ""
        summary = f" {row.summary}" if where else row.summary
        summary = summary if cell_len(where) + cell_len(harmless(summary)) <= left else ""
        used = cell_len(where) + cell_len(harmless(summary))
        gap = max(columns.phrase + 1, cell_len(phrase) + 1) if used <= columns.rest else room - used
        lead = fitted(phrase, min(gap, room) if used else room)
        end = room - cell_len(lead) - used
        return [Span(" "), Span(lead, role), Span(where, Role.PLACE), Span(harmless(summary) + " " * end, Role.DIM)]

    def _evidence(self, row: Row) -> StyledPiece:
        """The row's count of hashes that are not verified, right-aligned."""
        width = self._columns.evidence
        return [Span(f" {row.evidence.text:>{width}}", row.evidence.role)] if width else []

    def action_fold(self, folded: bool) -> None:
        """Fold or unfold the highlighted row; folding a row without a fold goes to its parent."""
        row = self.current
        if row is None:
            return
        if row.folded is (not folded):
            self.post_message(self.Turned(row.node))
        elif folded and row.depth:
            self.cursor = next(index for index in range(self.cursor, -1, -1) if self._rows[index].depth < row.depth)

    def action_open(self) -> None:
        """Open the highlighted row's detail."""
        if self.current is not None:
            self.post_message(self.Opened(self.current.node))

    def clicked(self, row: Row, event: events.Click) -> None:
        """Fold at the fold marker, marks at the mark; a double click elsewhere opens the detail."""
        match event.x:
            case 0 | 1 | 2 | 3 if row.folded is not None:
                self.post_message(self.Turned(row.node))
            case 4 | 5 if row.depth and row.mark is not Mark.NONE_POSSIBLE:
                self.post_message(self.MarkToggled(row.node))
            case _:
                super().clicked(row, event)
