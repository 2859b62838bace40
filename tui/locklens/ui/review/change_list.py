"""The list of a review: paints rows, and posts clicks and keys as messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.message import Message

from locklens.lines import Role, Span
from locklens.review.reports.words import SAME_VERSION
from locklens.ui.review.rows import Mark, Row
from locklens.ui.review.tree import Node, NodeKind
from locklens.ui.widgets.row_list import RowList, fold_marker
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end, fitted_step, harmless, least_step

if TYPE_CHECKING:
    from textual import events

_LEAD = 15
"""Columns before the name: cursor, fold, mark, what is staged or accepted, severity, sign."""

_ROOM_BEFORE_EVIDENCE = 26
"""Columns of names and versions; with fewer, the count of hashes that are not verified is not shown."""

_LEAST_NAME = 12
_SHORT = 1
"""The index of the text of `_tails` that the names leave room for."""
_MOST_TAIL = 24
_REASON_FROM = 24
"""Columns that must be free before a row names its worst finding."""

_NAME_TITLE, _TITLE = "provider", "unverified"

_MARK_ROLES = {Mark.ALL: Role.GOOD, Mark.SOME: Role.GOOD, Mark.OPEN: Role.DIM, Mark.NONE_POSSIBLE: Role.DIM}


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of the columns after the lead; `evidence` is the last one.

    Attributes:
        tail: The widest roots and kind, which the names leave room for: a row's kind must not depend on other rows.
    """

    name: int
    phrase: int
    evidence: int = 0
    tail: int = 0

    @classmethod
    def fitting(cls, rows: tuple[Row, ...], width: int) -> Columns:
        """Distribute the width: name and versions as wide as their texts, within bounds."""
        plain = [row for row in rows if row.node.kind in {NodeKind.CHANGE, NodeKind.GROUP, NodeKind.CONFLICT}]
        room = max(0, width - _LEAD)
        evidence = max((len(row.evidence.text) for row in rows), default=0)
        evidence = evidence if room - evidence >= _ROOM_BEFORE_EVIDENCE else 0
        room -= evidence + 1 if evidence else 0
        least = max((least_step(row.phrase) for row in plain), default=0)
        phrase = min(max((cell_len(harmless(row.phrase)) for row in plain), default=0), max(room * 4 // 9, least, 10))
        tail = min(max((cell_len(_tails(row)[0]) for row in plain), default=0), _MOST_TAIL)
        name = max([len(_NAME_TITLE), *(cell_len(harmless(row.name)) for row in plain)])
        kept = max((cell_len(_tails(row)[_SHORT]) for row in plain), default=0)
        name = max(min(name, room - phrase - kept - 1), min(name, _LEAST_NAME))
        return cls(name, max(0, min(phrase, room - name - 1)), evidence, tail)


def _tails(row: Row) -> tuple[str, ...]:
    """The texts after the versions, the longest first; the last one is never cut."""
    kind = f" {harmless(row.summary)}" if row.summary else ""
    where = f" {harmless(row.where)}" if row.where else ""
    if row.node.kind is NodeKind.GROUP:
        number = f" ×{len(row.node.children)}"
        return f"{where}{kind}", f"{number}{kind}", number
    *_, folder = row.where.rpartition("/")
    return (f"{where}{kind}", kind, f" …/{harmless(folder)}", "") if where else (kind, kind, "")


def _in_brief(row: Row) -> Row:
    return replace(row, phrase=row.phrase.replace(SAME_VERSION, " (same)"))


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
        self._columns = Columns(0, 0)
        self._is_brief = False

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current.node if self.current is not None else None))

    def is_heading(self, row: Row) -> bool:
        """True for a section whose changes are listed below it."""
        return row.depth == 0 and row.folded is False

    def lay_out(self, rows: tuple[Row, ...], width: int) -> None:
        """Distribute the width among the columns; "same version" is shortened before a name is cut."""
        self._columns, self._is_brief = Columns.fitting(rows, width), False
        names = (cell_len(harmless(row.name)) for row in rows if row.phrase)
        if any(name > self._columns.name for name in names):
            self._columns, self._is_brief = Columns.fitting(tuple(map(_in_brief, rows)), width), True

    def titles(self, width: int) -> StyledPiece:
        """Name the columns."""
        columns = self._columns
        title = _TITLE if columns.evidence else ""
        names = f"{'':{_LEAD}}{fitted(_NAME_TITLE, columns.name)} {fitted('version', columns.phrase)} "
        return [Span(f"{fitted(names, width - len(title))}{title}", Role.DIM)]

    def painted(self, row: Row, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a section or an entry."""
        return self._section(row, width, cursor=cursor) if row.depth == 0 else self._entry(row, width, cursor=cursor)

    def _lead(self, row: Row, *, cursor: bool) -> list[Span]:
        fold = fold_marker(folded=row.folded)
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
        row = _in_brief(row) if self._is_brief else row
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
        # A target that is longer than its column makes its row's name shorter, and no other row's.
        room = width - _LEAD - 1 - (columns.evidence + 1 if columns.evidence else 0)
        names = min(columns.name, max(0, room - least_step(row.phrase) - cell_len(_tails(row)[-1])))
        spans.append(Span(fitted_end(row.name, names), Role.DIM if done else Role.STRONG))
        return [*spans, *self._versions(row, Role.DIM if done else Role.PLAIN, room - names), *self._evidence(row)]

    def _versions(self, row: Row, role: Role, room: int) -> StyledPiece:
        """The versions, then roots and kind as far as there is room, then the worst finding on a wide screen."""
        columns, phrase, tails = self._columns, harmless(row.phrase), _tails(row)
        free = room - cell_len(phrase)
        tail = next((text for text in tails if cell_len(text) <= free), tails[-1])
        used = cell_len(tail)
        start = max(columns.phrase, cell_len(phrase))
        lead = fitted_step(phrase, start if start + used <= room else room - used)
        reason_room = room - start - columns.tail - 2
        if not row.reason or reason_room < _REASON_FROM or used > columns.tail or start > columns.phrase:
            return [Span(" "), Span(lead, role), Span(fitted(tail, room - cell_len(lead)), Role.DIM)]
        reason = Span(f"  {fitted(row.reason, reason_room)}", Role.DIM)
        return [Span(" "), Span(lead, role), Span(fitted(tail, columns.tail), Role.DIM), reason]

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
