"""The list of the Upgrade screen and its columns: titles, widths, cells, and their sentences of help."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Region

from locklens.lines import Role, Span
from locklens.ui.upgrade.rows import RowKind, UpgradeRow
from locklens.ui.widgets import StyledPiece, fitted, fitted_name, fitted_place
from locklens.ui.widgets.row_list import Column, FoldingList, fold_marker

_VERSION_MOST = 12


def _key_sign(row: UpgradeRow) -> Span:
    """The word of the signer column, short, where it is a warning."""
    return Span(_KEY_SIGNS.get(row.signer.text, ""), row.signer.role)


_KEY_SIGNS = {"key EXPIRED": "exp", "NEW KEY": "new", "NOT SIGNED": "no", "still unsigned": "no", "REFUSED": "bad"}


_COLUMNS: tuple[Column[UpgradeRow], ...] = (
    Column(
        "provider",
        lambda row: Span(f"{'  ' * (row.depth - 1)}{row.title}", Role.PLACE if row.depth > 1 else Role.PLAIN),
        "the provider; below one in several roots, and grouped by root, the other of the two",
        fit=fitted_name,
    ),
    Column("locked", lambda row: Span(row.locked), "the version in the lock file", most=_VERSION_MOST),
    Column("target", lambda row: row.target, "the version that an upgrade would lock"),
    Column(
        "in range",
        lambda row: Span(row.in_range, Role.DIM),
        "the newest version that satisfies the constraints: the selection of init -upgrade",
        most=_VERSION_MOST,
        from_width=110,
    ),
    # On narrower screens the last column names the newest version where something holds it back.
    Column("newest", lambda row: Span(row.newest, Role.DIM), "the newest release", most=_VERSION_MOST, from_width=90),
    Column(
        "age",
        lambda row: row.age,
        "days since the release, reported by the registry, unsigned; ? if unknown",
        is_at_end=True,
    ),
    Column("kind", lambda row: row.bump, "the step from the locked version to the target: major, minor, patch"),
    Column(
        "fixes",
        lambda row: row.fixes,
        "the advisories of the locked version that the target fixes: of packages that were inspected; ? if unknown",
        from_width=100,
        is_at_end=True,
        is_optional=True,
    ),
    Column(
        "signer",
        lambda row: row.signer,
        "the signer of the target, compared with that of the locked version, as below; on narrow screens the column"
        " key: exp (key EXPIRED), new (NEW KEY), no (not signed), bad (REFUSED)",
        from_width=120,
        narrow=Column("key", _key_sign, is_optional=True),
    ),
    Column(
        "held back by",
        lambda row: row.note,
        "the worst warning about the target, or else the reason against the newest version, after the"
        " cooldown of a newer one in range: a constraint, the cooldown, the allow list, or the upgrade limit",
        fit=fitted_place,
        takes_rest=True,
    ),
)


_LEAD, _MARK = 3, 4
"""Columns of cursor and fold, and of the mark."""


class UpgradeList(FoldingList[UpgradeRow]):
    """The providers by section."""

    COLUMNS = _COLUMNS
    MARK = slice(_LEAD, _LEAD + _MARK)
    LEAD = MARK.stop

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.version(-1)", "Older version", show=False),
        Binding("right", "screen.version(1)", "Newer version", show=False),
    ]

    def show_cursor(self) -> None:
        """Scroll to the cursor, and to the section line just above it."""
        above = self.rows[self.cursor - 1] if 0 < self.cursor < len(self.rows) else None
        more = 1 if above is not None and above.kind is RowKind.SECTION else 0
        self.scroll_to_region(Region(0, self.cursor - more, 1, 1 + more), animate=False, force=True)

    def can_mark(self, row: UpgradeRow) -> bool:
        """True for a row with providers below a section."""
        return row.depth > 0 and bool(row.offers)

    def is_heading(self, row: UpgradeRow) -> bool:
        """True for a section."""
        return row.kind is RowKind.SECTION

    def has_cells(self, row: UpgradeRow) -> bool:
        """True below a section."""
        return row.depth > 0

    def painted(self, row: UpgradeRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint the mark and the columns."""
        lead = Span(f"{'>' if cursor else ' '}{fold_marker(folded=row.folded)} ", Role.STRONG)
        if row.kind is RowKind.SECTION:
            return [lead, Span(fitted(row.title, max(0, width - _LEAD)), Role.HEADING)]
        mark = Span(f"{row.mark} ", Role.GOOD if row.mark == "[x]" else Role.PLAIN)
        return [lead, mark, *self.columns.painted(row)]
