"""The columns of the Upgrade list: one table gives titles, cells, widths and help."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from ui.test_upgrade_rows import ALL, rows, selection_of

from locklens.lines import Role, Span
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.upgrade.upgrade_list import COLUMNS, Column, LaidOutColumns

BODY = [replace(row, fixes=Span("3", Role.GOOD)) for row in rows(selection_of(*ALL)) if row.depth]


def line_of(spans: list[Span]) -> str:
    return "".join(span.text for span in spans)


def fitting(width: int, *more: Column) -> LaidOutColumns:
    return LaidOutColumns.fitting((*COLUMNS[:-1], *more, COLUMNS[-1]), BODY, width, lead=6)


def test_the_help_of_the_last_column_names_what_its_cell_begins_with() -> None:
    assert COLUMNS[-1].title == "held back by"
    assert "cooldown of a newer one in range" in COLUMNS[-1].meaning


def test_each_column_has_a_title_and_a_sentence_of_help() -> None:
    heads, help_text = line_of(fitting(140).painted_titles()), str(UpgradeScreen.TERMS)
    for column in COLUMNS:
        assert column.title in heads
        assert column.meaning.split(":")[0] in help_text


@pytest.mark.parametrize("width", range(60, 161, 4))
def test_titles_and_cells_fill_the_width_alike(width: int) -> None:
    laid_out = fitting(width)
    lines = [laid_out.painted_titles(), *map(laid_out.painted, BODY)]
    used = {cell_len(line_of(spans)) for spans in lines}
    assert len(used) == 1
    assert width < 80 or used == {width - 6 - laid_out.name}


def test_narrow_lists_leave_columns_out() -> None:
    shown = {width: [column.title for column, _ in fitting(width).columns] for width in (89, 109, 119, 120)}
    assert "newest" not in shown[89]
    assert "in range" not in shown[109]
    assert "signer" not in shown[119]
    assert shown[120] == [column.title for column in COLUMNS]
    assert line_of(fitting(58).painted_titles()).rstrip().endswith(" held by")


def test_an_expired_key_has_a_sign_on_narrow_lists() -> None:
    expired = [replace(row, signer=Span("key EXPIRED", Role.WARN)) for row in BODY]
    for width, titles, cell in ((74, ["key"], " exp"), (94, ["key"], " exp"), (130, ["signer"], " key EXPIRED")):
        laid_out = LaidOutColumns.fitting(COLUMNS, expired, width, lead=6)
        assert [column.title for column, _ in laid_out.columns if column.title in {"key", "signer"}] == titles
        ready = next(row for row in expired if row.title.endswith("ready"))
        assert cell in line_of(laid_out.painted(ready))
    quiet = [replace(row, signer=Span("same key")) for row in BODY]
    assert "key" not in line_of(LaidOutColumns.fitting(COLUMNS, quiet, 94, lead=6).painted_titles())


def test_without_a_database_there_is_no_column_of_advisories() -> None:
    plain = [replace(row, fixes=Span("")) for row in BODY]
    laid_out = LaidOutColumns.fitting(COLUMNS, plain, 160, lead=6)
    assert [column.title for column, _ in laid_out.columns] == [each.title for each in COLUMNS if each.title != "fixes"]


def test_a_new_column_is_one_row_of_the_table() -> None:
    marked = Column("mark", lambda row: Span(row.mark, Role.GOOD), "the mark once more", 6, is_at_end=True)
    laid_out = fitting(120, marked)
    assert "   mark " in line_of(laid_out.painted_titles())
    ready = next(row for row in BODY if row.title == "ready" or row.title.endswith("/ready"))
    assert Span("    [ ]", Role.GOOD) in laid_out.painted(ready)
