"""The columns of the Upgrade list: titles, widths, cells, and their sentences of help. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locklens.lines import Role, Span
from locklens.ui.widgets.strips import fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from locklens.ui.upgrade.rows import UpgradeRow

_VERSION_LEAST, _VERSION_MOST = 8, 12
_SIGNER_LEAST = 10
_NAME_LEAST, _NAME_MOST = 18, 44
_NOTE_WANTED = 24
"""Columns that the last column is given before the name gets more than it needs at least."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        title: Its title, above the list.
        cell: Returns its cell of a row.
        meaning: Its sentence of help.
        width: Its width, in columns of the terminal, or the rule that returns it for the rows that are shown; None to
            take the width that is left.
        short_title: The title where the other does not fit.
        from_width: The list's width below which the column is left out.
        is_at_end: True to align its cells at their end.
    """

    title: str
    cell: Callable[[UpgradeRow], Span]
    meaning: str
    width: int | Callable[[Sequence[UpgradeRow]], int] | None = None
    short_title: str = ""
    from_width: int = 0
    is_at_end: bool = False

    def width_for(self, rows: Sequence[UpgradeRow]) -> int:
        """Return the width that the rows need; 0 for a column that takes what is left."""
        return self.width(rows) if callable(self.width) else self.width or 0

    def painted(self, cell: Span, width: int) -> Span:
        """Return the cell, cut or padded to the width, with a space before it."""
        if self.is_at_end:
            return Span(f" {cell.text:>{width}}", cell.role)
        return Span(f" {fitted(cell.text, width)}", cell.role)

    def painted_title(self, width: int) -> Span:
        """Return the title that fits."""
        titles = (title for title in (self.title, self.short_title) if len(title) <= width)
        return self.painted(Span(next(titles, ""), Role.DIM), width)


def _version_width(rows: Sequence[UpgradeRow]) -> int:
    return _longest(text for row in rows for text in (row.locked, row.newest))


def _target_width(rows: Sequence[UpgradeRow]) -> int:
    """The width of the longest target: the version that would be locked is never cut."""
    return max(_VERSION_LEAST, max((len(row.target.text) for row in rows), default=0))


def _signer_width(rows: Sequence[UpgradeRow]) -> int:
    return max(_SIGNER_LEAST, max((len(row.signer.text) for row in rows), default=0))


def _longest(texts: Iterable[str]) -> int:
    return max(_VERSION_LEAST, min(_VERSION_MOST, max(map(len, texts), default=0)))


COLUMNS: tuple[Column, ...] = (
    Column("locked", lambda row: Span(row.locked), "the version in the lock file", _version_width),
    Column("target", lambda row: row.target, "the version that an upgrade would lock", _target_width),
    Column(
        "in range",
        lambda row: Span(row.in_range, Role.DIM),
        "the newest version that satisfies the constraints: the selection of init -upgrade",
        _version_width,
        from_width=110,
    ),
    # On narrower screens the last column names the newest version where something holds it back.
    Column("newest", lambda row: Span(row.newest, Role.DIM), "the newest release", _version_width, from_width=90),
    Column(
        "age",
        lambda row: row.age,
        "days since the release, reported by the registry, unsigned; ? if unknown",
        4,
        is_at_end=True,
    ),
    Column("kind", lambda row: row.bump, "the step from the locked version to the target: major, minor, patch", 5),
    # On narrower screens the last column shows a change of signer.
    Column(
        "signer",
        lambda row: row.signer,
        "the signer of the target, compared with that of the locked version, as below",
        _signer_width,
        from_width=120,
    ),
    Column(
        "held back by",
        lambda row: row.note,
        "the reason against the newest version: a constraint, the cooldown, or the upgrade limit",
        short_title="held by",
    ),
)


@dataclass(frozen=True)
class LaidOutColumns:
    """The columns that a width has room for, each with its own width; `name` is the width of the name before them."""

    name: int
    columns: tuple[tuple[Column, int], ...]

    @classmethod
    def fitting(cls, table: Sequence[Column], rows: Sequence[UpgradeRow], width: int, *, lead: int) -> LaidOutColumns:
        """Share a width: the name takes its need, the column without a width of its own the rest.

        Args:
            table: The columns in order.
            rows: The rows with cells.
            width: Of the list, in columns of the terminal.
            lead: The part of it before the name.
        """
        shown = [(column, column.width_for(rows)) for column in table if width >= column.from_width]
        room = width - lead - sum(1 + needed for _, needed in shown)
        names = max((len(row.title) + 2 * (row.depth - 1) for row in rows), default=0)
        name = max(0, min(names, _NAME_MOST, max(_NAME_LEAST, room - _NOTE_WANTED), room))
        rest = max(0, room - name)
        return cls(name, tuple((column, rest if column.width is None else needed) for column, needed in shown))

    def painted(self, row: UpgradeRow) -> list[Span]:
        """Return the cells of a row; the last one begins where the cells before it are empty."""
        cells = [(column, column.cell(row), width) for column, width in self.columns]
        *others, (last, note, room) = cells
        while note.text and others and not others[-1][1].text:
            room += 1 + others.pop()[2]
        return [*(column.painted(cell, width) for column, cell, width in others), last.painted(note, room)]

    def painted_titles(self) -> list[Span]:
        """Return the titles."""
        return [column.painted_title(width) for column, width in self.columns]
