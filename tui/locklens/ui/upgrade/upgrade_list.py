"""The list of the Upgrade screen and its columns: titles, widths, cells, and their sentences of help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message

from locklens.lines import Role, Span
from locklens.ui.upgrade.rows import RowKind, UpgradeRow
from locklens.ui.widgets import StyledPiece, fitted, fitted_end, fitted_place
from locklens.ui.widgets.row_list import RowList, fold_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual import events

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
        width: Its width, in columns of the terminal, or the rule that returns it for the rows that are shown, 0 to
            leave it out; None to take the width that is left.
        short_title: The title where the other does not fit.
        from_width: The list's width below which the column is left out.
        narrow: The column in its place on narrower lists, if any.
        is_at_end: True to align its cells at their end.
    """

    title: str
    cell: Callable[[UpgradeRow], Span]
    meaning: str
    width: int | Callable[[Sequence[UpgradeRow]], int] | None = None
    short_title: str = ""
    from_width: int = 0
    narrow: Column | None = None
    is_at_end: bool = False

    def width_for(self, rows: Sequence[UpgradeRow]) -> int:
        """Return the width that the rows need; 0 for a column that takes what is left."""
        return self.width(rows) if callable(self.width) else self.width or 0

    def painted(self, cell: Span, width: int) -> Span:
        """Return the cell, cut or padded to the width, with a space before it."""
        if self.is_at_end:
            return Span(f" {cell.text:>{width}}", cell.role)
        return Span(f" {fitted_place(cell.text, width)}", cell.role)

    def painted_title(self, width: int) -> Span:
        """Return the title that fits."""
        titles = (title for title in (self.title, self.short_title) if len(title) <= width)
        return self.painted(Span(next(titles, ""), Role.DIM), width)


def _version_width(rows: Sequence[UpgradeRow]) -> int:
    return _longest(text for row in rows for text in (row.locked, row.newest))


def _target_width(rows: Sequence[UpgradeRow]) -> int:
    """The width of the longest target: the version that would be locked is never cut."""
    return max(_VERSION_LEAST, max((len(row.target.text) for row in rows), default=0))


def _fixes_width(rows: Sequence[UpgradeRow]) -> int:
    """0 without a database of advisories: the column is left out."""
    return len("fixes") if any(row.fixes.text for row in rows) else 0


def _signer_width(rows: Sequence[UpgradeRow]) -> int:
    return max(_SIGNER_LEAST, max((len(row.signer.text) for row in rows), default=0))


def _key_sign(row: UpgradeRow) -> Span:
    """The word of the signer column, short, where it is a warning."""
    return Span(_KEY_SIGNS.get(row.signer.text, ""), row.signer.role)


_KEY_SIGNS = {"key EXPIRED": "exp", "NEW KEY": "new", "NOT SIGNED": "no", "still unsigned": "no", "REFUSED": "bad"}


def _key_sign_width(rows: Sequence[UpgradeRow]) -> int:
    """0 where no signer is to be warned of: the column is left out."""
    return len("key") if any(_key_sign(row).text for row in rows) else 0


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
    Column(
        "fixes",
        lambda row: row.fixes,
        "the advisories of the locked version that the target fixes: of packages that were inspected; ? if unknown",
        _fixes_width,
        from_width=100,
        is_at_end=True,
    ),
    Column(
        "signer",
        lambda row: row.signer,
        "the signer of the target, compared with that of the locked version, as below; on narrow screens the column"
        " key: exp (key EXPIRED), new (NEW KEY), no (not signed), bad (REFUSED)",
        _signer_width,
        from_width=120,
        narrow=Column("key", _key_sign, "the warnings of the column signer", _key_sign_width),
    ),
    Column(
        "held back by",
        lambda row: row.note,
        "the worst warning about the target, or else the reason against the newest version, after the"
        " cooldown of a newer one in range: a constraint, the cooldown, the allow list, or the upgrade limit",
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
            width: Width of the list in columns of the terminal.
            lead: The part of it before the name.
        """
        fitting = (column if width >= column.from_width else column.narrow for column in table)
        wanted = [(column, column.width_for(rows)) for column in fitting if column is not None]
        shown = [(column, needed) for column, needed in wanted if needed or column.width is None]
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


_LEAD, _MARK = 3, 4


class UpgradeList(RowList[UpgradeRow]):
    """The providers by section."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h", "fold", "Fold", show=False),
        Binding("l", "unfold", "Unfold", show=False),
        Binding("left", "screen.version(-1)", "Older version", show=False),
        Binding("right", "screen.version(1)", "Newer version", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Folding or unfolding of a group is requested."""

        row: UpgradeRow

    @dataclass
    class MarkToggled(Message):
        """The mark of a row was clicked."""

        row: UpgradeRow

    def action_unfold(self) -> None:
        """Show a group's roots."""
        if self.current is not None and self.current.is_folded:
            self.post_message(self.Turned(self.current))

    def action_fold(self) -> None:
        """Hide a group's roots; on one of them, go to the group."""
        row = self.current
        if row is None:
            return
        if row.is_folded is False:
            self.post_message(self.Turned(row))
        elif row.depth:
            above = (index for index in range(self.cursor - 1, -1, -1) if self.rows[index].depth < row.depth)
            self.cursor = next(above, self.cursor)

    def show_cursor(self) -> None:
        """Scroll to the cursor, and to the section line just above it."""
        above = self.rows[self.cursor - 1] if 0 < self.cursor < len(self.rows) else None
        more = 1 if above is not None and above.kind is RowKind.SECTION else 0
        self.scroll_to_region(Region(0, self.cursor - more, 1, 1 + more), animate=False, force=True)

    def clicked(self, row: UpgradeRow, event: events.Click) -> None:
        """Select on the mark, unfold on the fold marker; a second click opens the detail."""
        left = _LEAD + 2 * max(0, row.depth - 1)
        if row.offers and row.depth and left <= event.x < left + 3:
            self.post_message(self.MarkToggled(row))
        elif row.is_folded is not None and event.x < left:
            self.post_message(self.Turned(row))
        else:
            super().clicked(row, event)

    def is_heading(self, row: UpgradeRow) -> bool:
        """True for a section."""
        return row.kind is RowKind.SECTION

    def lay_out(self, rows: tuple[UpgradeRow, ...], width: int) -> None:
        """Share the width among the name and the columns."""
        body = [row for row in rows if row.depth]
        self._columns = LaidOutColumns.fitting(COLUMNS, body, width, lead=_LEAD + _MARK)

    def titles(self, width: int) -> StyledPiece:
        """Name the columns."""
        del width
        room = _LEAD + _MARK + self._columns.name
        return [Span(fitted(" " * (_LEAD + _MARK) + "provider", room), Role.DIM), *self._columns.painted_titles()]

    def painted(self, row: UpgradeRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint the mark, the name, and the columns."""
        lead = Span(f"{'>' if cursor else ' '}{fold_marker(folded=row.is_folded)} ", Role.STRONG)
        if row.kind is RowKind.SECTION:
            return [lead, Span(fitted(row.title, max(0, width - _LEAD)), Role.HEADING)]
        if row.kind is RowKind.REFUSED:
            room = max(0, width - _LEAD - _MARK - self._columns.name - 1)
            title = Span(fitted_end(row.title, self._columns.name))
            return [
                lead,
                Span(f"{row.mark} ", Role.DIM),
                title,
                Span(" "),
                Span(fitted(row.note.text, room), Role.WARN),
            ]
        indent = "  " * (row.depth - 1)
        name = fitted_end(row.title, self._columns.name - len(indent))
        return [
            lead,
            Span(f"{indent}{row.mark} ", Role.GOOD if row.mark == "[x]" else Role.PLAIN),
            Span(name, Role.PLACE if row.depth > 1 else Role.PLAIN),
            *self._columns.painted(row),
        ]
