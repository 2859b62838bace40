"""The line above a list: the titles of its columns, which do not scroll."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.widget import Widget

from locklens.ui.widgets.strips import strip_of

if TYPE_CHECKING:
    from textual.strip import Strip

    from locklens.ui.widgets.row_list import RowList


class ListTitles(Widget, can_focus=False):
    """Paints the titles of a list, in the widths of its columns.

    Args:
        rows: The list below.
    """

    DEFAULT_CSS = "ListTitles { height: 1; }"

    def __init__(self, rows: RowList[Any]) -> None:
        super().__init__()
        self._rows = rows
        rows.titles_line = self

    def render_line(self, y: int) -> Strip:
        """Paint the titles."""
        width = self._rows.scrollable_content_region.width
        return strip_of(self._rows.titles(width) if y == 0 else [], self, width=self.size.width)
