"""The list of the Health screen: a line for each section, its rows below it, then the spread of versions."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from locklens.lines import Role, Span
from locklens.review.reports.words import severity_span
from locklens.ui.health.rows import HealthRow, bar_of
from locklens.ui.widgets.row_list import RowList, fold_marker
from locklens.ui.widgets.strips import StyledPiece, fitted, fitted_end

_LEAD = 4
_FOLD = 2
_SEVERITY = 6
_COUNT = 6
_UNKNOWN = 8
_VERSIONS = 9
_BAR = 8


class HealthList(RowList[HealthRow]):
    """Sections with counts."""

    @dataclass
    class Highlighted(Message):
        """Another row, or changed content, is highlighted; None for an empty list."""

        row: HealthRow | None

    @dataclass
    class Opened(Message):
        """The rows of a section, or the detail of a row, are requested."""

        row: HealthRow

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._most = 1

    def tell_highlighted(self) -> None:
        """Post the highlighted row."""
        self.post_message(self.Highlighted(self.current))

    def action_open(self) -> None:
        """Open the row."""
        if self.current is not None:
            self.post_message(self.Opened(self.current))

    def is_heading(self, row: HealthRow) -> bool:
        """True for the title of the spread, and for a section with rows below it."""
        return row.is_heading or row.is_open

    def lay_out(self, rows: tuple[HealthRow, ...], width: int) -> None:
        """Scale the bars to the provider that most roots lock."""
        del width
        self._most = max((row.spread.roots for row in rows if row.spread is not None), default=1)

    def titles(self, width: int) -> StyledPiece:
        """Name the columns of the sections."""
        titles = f"{'roots':>{_COUNT}}{'unknown':>{_UNKNOWN}}"
        return [Span(f"{titles:>{width}}", Role.DIM)]

    def painted(self, row: HealthRow, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a section, a row in one, or a provider with its bar."""
        lead = [Span("> " if cursor else "  ", Role.STRONG), _mark(row)]
        if row.is_heading:
            tail = f"{'roots':>{_COUNT}}{'versions':>{_VERSIONS}}"
            title = fitted(row.title, max(0, width - _LEAD - len(tail)))
            return [*lead, Span(title, Role.HEADING), Span(tail, Role.DIM)]
        if row.spread is not None:
            roots = row.spread.roots
            tail = f" {bar_of(roots, self._most, _BAR)}{roots:>{_COUNT}}{len(row.spread.versions):>{_VERSIONS}}"
            return [*lead, Span(fitted_end(row.title, max(0, width - _LEAD - len(tail)))), Span(tail, Role.DIM)]
        fold = fold_marker(folded=None if row.depth or not row.children else not row.is_open)
        unknown = f"{row.unknown or '':>{_UNKNOWN}}"
        room = max(0, width - _LEAD - _FOLD - 2 * row.depth - _SEVERITY - _COUNT - _UNKNOWN)
        # The heading above says roots: a row within a section is one root, or one check of it.
        is_off = row.result is not None and row.result.is_off
        number = "" if row.depth else "off" if is_off else len(row.roots)
        times = f" ×{len(row.found)}" if row.depth and len(row.found) > 1 else ""
        name = fitted_end(row.title, room - 1 - len(times)) if row.depth else fitted(row.title, room - 1)
        is_quiet = not row.found
        return [
            *lead,
            Span(f"{fold} " + "  " * row.depth, Role.DIM),
            Span(f"{name}{times} ", Role.DIM if is_quiet else Role.PLAIN),
            severity_span(row.severity, width=_SEVERITY) if row.found else Span(" " * _SEVERITY),
            Span(f"{number:>{_COUNT}}", Role.DIM if is_quiet else Role.STRONG),
            Span(unknown, Role.DIM),
        ]


def _mark(row: HealthRow) -> Span:
    if not row.found:
        return Span("  ")
    if not row.marked:
        return Span("· ", Role.DIM)
    return Span("x " if row.marked == len(row.roots) else "- ", Role.STRONG)
