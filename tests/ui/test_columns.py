"""The columns of the lists: one table of each list gives titles, cells, widths and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from ui.test_upgrade_rows import ALL, rows, selection_of

from locklens.lines import Role, Span
from locklens.review.findings import Severity
from locklens.ui.doctor.detail import DoctorList
from locklens.ui.hashes import HashesScreen
from locklens.ui.hashes.rows import HashList, hash_rows
from locklens.ui.health import HealthScreen
from locklens.ui.review import ReviewScreen
from locklens.ui.review.outline import Grouping, outline
from locklens.ui.review.rows import ChangeList, RowMaker, Setting
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.signers import SignersScreen
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.upgrade.rows import UpgradeList
from locklens.ui.widgets import fitted_name
from locklens.ui.widgets.row_list import Column, LaidOut, RowList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ui.conftest import Samples

    from locklens.ui.upgrade.rows import UpgradeRow

COLUMNS = UpgradeList.COLUMNS
BODY = [replace(row, fixes=Span("3", Role.GOOD)) for row in rows(selection_of(*ALL)) if row.depth]
LISTS = (HashesScreen, HealthScreen, ReviewScreen, SignersScreen, UpgradeScreen)


def line_of(spans: list[Span]) -> str:
    return "".join(span.text for span in spans)


def fitting(width: int, *more: Column[Any]) -> LaidOut[Any]:
    return LaidOut.fitting((*COLUMNS[:-1], *more, COLUMNS[-1]), BODY, width, lead=6)


def shown(laid_out: LaidOut[Any]) -> list[str]:
    return [column.title for column, _ in laid_out.columns]


def test_the_help_of_the_last_column_names_what_its_cell_begins_with() -> None:
    assert COLUMNS[-1].title == "held back by"
    assert "cooldown of a newer one in range" in COLUMNS[-1].meaning


@pytest.mark.parametrize("screen", LISTS)
def test_each_title_has_a_sentence_of_help(screen: type[TwoPaneScreen]) -> None:
    columns = screen.LIST.COLUMNS
    assert all(bool(column.title) == bool(column.meaning) for column in columns)
    assert len({column.title for column in columns if column.title}) == sum(bool(one.title) for one in columns)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_long_root_is_shortened_and_never_left_out(samples: Samples, width: int) -> None:
    names = ("examples/multi-runner", "live/production/networking/transit-gateway-attachments", "b")
    review = samples.review(*(samples.root(name, [samples.change(f"acme/{number}", "5.84.0", "5.86.1")])
                              for number, name in enumerate(names)))  # fmt: skip
    listed, made = ChangeList(), RowMaker().rows(outline(review, Grouping.SEVERITY), Setting(Grouping.SEVERITY))
    listed.lay_out(made, width)
    shown = [line_of(list(listed.painted(row, width, cursor=False))) for row in made if listed.has_cells(row)]
    assert len(shown) == len(names)
    for end in ("runner ", "attachments ", " b "):
        assert sum(end in text for text in shown) == 1, (end, shown)


@pytest.mark.parametrize(
    "root", ["infra/stage/monitoring", "live/production/networking/transit-gateway-attachments", "b"]
)
def test_a_shortened_root_of_a_finding_has_no_space_before_its_colon(samples: Samples, root: str) -> None:
    found = samples.finding(
        "LK005", Severity.BLOCK, "grafana/grafana 2.19.4 is locked and does not satisfy ~> 3.0 (versions.tf:5)"
    )
    review = samples.review(samples.root(root, findings=(found,)))
    listed, made = ChangeList(), RowMaker().rows(outline(review, Grouping.SEVERITY), Setting(Grouping.SEVERITY))
    listed.lay_out(made, 80)
    (shown,) = (line_of(list(listed.painted(row, 80, cursor=False))) for row in made if row.depth)
    assert f"{root[-10:]}: grafana/graf" in shown


@pytest.mark.parametrize("width", range(60, 161, 4))
def test_titles_and_cells_fill_the_width_alike(samples: Samples, width: int) -> None:
    review = samples.full()
    made = RowMaker().rows(outline(review, Grouping.ROOT), Setting())
    bodies: tuple[tuple[RowList[Any], Sequence[Any]], ...] = (
        (ChangeList(), made),
        (HashList(), hash_rows(review)),
        (UpgradeList(), BODY),
        (DoctorList(), ()),
    )
    for listed, body in bodies:
        listed.lay_out(tuple(body), width)
        lines = [listed.titles(), *(listed.painted(row, width, cursor=False) for row in body if listed.has_cells(row))]
        assert {cell_len(line_of(list(spans))) for spans in lines} == {width}, listed


def test_narrow_lists_leave_columns_out() -> None:
    by_width = {width: shown(fitting(width)) for width in (89, 109, 119, 120)}
    assert "newest" not in by_width[89]
    assert "in range" not in by_width[109]
    assert "signer" not in by_width[119]
    assert by_width[120] == [column.title for column in COLUMNS]
    assert line_of(fitting(58).titles()).rstrip().endswith(" held back by")


def test_an_expired_key_has_a_sign_on_narrow_lists() -> None:
    expired = [replace(row, signer=Span("key EXPIRED", Role.WARN)) for row in BODY]
    for width, title, cell in ((74, "key", " exp"), (94, "key", " exp"), (130, "signer", " key EXPIRED")):
        laid_out = LaidOut.fitting(COLUMNS, expired, width, lead=6)
        assert {title} == {"key", "signer"} & set(shown(laid_out))
        ready = next(row for row in expired if row.title.endswith("ready"))
        assert cell in line_of(laid_out.painted(ready))
    quiet = [replace(row, signer=Span("same key")) for row in BODY]
    assert "key" not in shown(LaidOut.fitting(COLUMNS, quiet, 94, lead=6))


def test_without_a_database_there_is_no_column_of_advisories() -> None:
    plain = [replace(row, fixes=Span("")) for row in BODY]
    laid_out = LaidOut.fitting(COLUMNS, plain, 160, lead=6)
    assert shown(laid_out) == [each.title for each in COLUMNS if each.title != "fixes"]


def test_a_new_column_is_one_row_of_the_table() -> None:
    marked: Column[UpgradeRow] = Column(
        "the mark", lambda row: Span(row.mark, Role.GOOD), "the mark once more", is_at_end=True
    )
    laid_out = fitting(120, marked)
    assert " the mark " in line_of(laid_out.titles())
    ready = next(row for row in BODY if row.title == "ready" or row.title.endswith("/ready"))
    assert Span("      [ ]", Role.GOOD) in laid_out.painted(ready)


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("  infra/prod/network", 14, "  …/network   "),
        ("hashicorp/aws ×12", 12, "…/aws ×12   "),
        ("hashicorp/aws ×12", 20, "hashicorp/aws ×12   "),
        ("cloudflare/cloudflare (terraform)", 26, "…/cloudflare (terraform)  "),
        ("cloudflare/cloudflare (terraform)", 18, "…/cloudflare (ter…"),
    ],
)
def test_a_name_keeps_its_indent_and_its_number(text: str, width: int, shown: str) -> None:
    assert fitted_name(text, width) == shown
