"""Marks that the keys of a screen act on instead of the highlighted row."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import on

from locklens.text import counted
from locklens.ui.row_actions import RowActionsScreen
from locklens.ui.widgets.row_list import FoldingList

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from locklens.operations.locklens import LockLens
    from locklens.ui.shell.review_loader import MarkKeeper

MarkT = TypeVar("MarkT")


class MarkingScreen(RowActionsScreen, Generic[MarkT]):
    """A screen with marks. Once all is known, what no row lists is unmarked: no key acts on what cannot be seen.

    Class attributes:
        MARKS: What is marked: one, and several.
        MARK_KEYS: The keys that act on the marks, in words.
    """

    MARKS: ClassVar[tuple[str, str]]
    MARK_KEYS: ClassVar[str]

    def __init__(self, source: LockLens, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.marked: frozenset[MarkT] = frozenset()
        """What the keys act on; if empty, they act on the highlighted row."""

    @property
    @abstractmethod
    def markable(self) -> frozenset[MarkT]:
        """What the rows can mark, also those that a fold or the filter hides."""

    @abstractmethod
    def marks_of(self, rows: Iterable[Any]) -> frozenset[MarkT]:
        """Return what some rows mark."""

    @property
    def marked_or_row(self) -> frozenset[MarkT]:
        """What the keys act on: what is marked, or else that of the highlighted row."""
        return self.marked or self.marks_of(self._highlighted)

    @property
    def _highlighted(self) -> tuple[Any, ...]:
        return () if self.left.current is None else (self.left.current,)

    def review_arrived(self) -> None:
        """Show the new review; once all is known, the marks of rows that are gone end."""
        if not self.is_asking:
            self.marked &= self.markable
        super().review_arrived()

    def action_mark(self) -> None:
        """Mark what the row lists, or unmark it."""
        self.toggle_marks(self._highlighted)

    def action_mark_shown(self) -> None:
        """Mark what the rows shown list, or unmark it."""
        self.toggle_marks(self.left.rows, "in the rows shown")

    @on(FoldingList.MarkToggled)
    def _mark_row(self, event: FoldingList.MarkToggled[Any]) -> None:
        self.toggle_marks((event.row,))

    def toggle_marks(self, rows: Iterable[Any], where: str = "on this row") -> None:
        """Mark what some rows list; if all of it is marked, unmark it. `where` says in words which rows these are."""
        marks = self.marks_of(rows)
        if not marks:
            self.refuse(f"no {self.MARKS[0]} to mark {where}")
            return
        is_marked = marks <= self.marked
        self.marked = self.marked - marks if is_marked else self.marked | marks
        self.refresh_list()
        number = counted(len(marks), *self.MARKS)
        self.say(f"unmarked {number}" if is_marked else f"marked {number} for {self.MARK_KEYS}")
