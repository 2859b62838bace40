"""The order of Review's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from locklens.review.model import Evidence
from locklens.ui.review.frame import StatusFacts, review_status
from locklens.ui.review.outline import Grouping, Sort, outline, sorted_outline

if TYPE_CHECKING:
    from ui.conftest import Running, Samples

    from locklens.review.model import Review


def dated(samples: Samples) -> Review:
    """Three roots; b/old is the oldest release, c/new the latest, and that of a/any is not known."""

    def change(name: str, days: int | None) -> object:
        return replace(samples.change(name), evidence=Evidence(days=days))

    return samples.review(
        samples.root("z", [change("b/old", 900), change("a/any", None)]),  # type: ignore[list-item]
        samples.root("y", [change("c/new", 2)]),  # type: ignore[list-item]
        samples.root("x", [change("d/mid", 30)], findings=()),  # type: ignore[list-item]
    )


@pytest.mark.parametrize(
    ("sort", "grouping", "expected"),
    [
        (Sort.SEVERITY, Grouping.ROOT, ["z", "a/any", "b/old", "y", "c/new", "x", "d/mid"]),
        (Sort.PROVIDER, Grouping.ROOT, ["z", "a/any", "b/old", "y", "c/new", "x", "d/mid"]),
        (Sort.AGE, Grouping.ROOT, ["y", "c/new", "x", "d/mid", "z", "b/old", "a/any"]),
        (Sort.ROOT, Grouping.ROOT, ["x", "d/mid", "y", "c/new", "z", "a/any", "b/old"]),
        (Sort.AGE, Grouping.SEVERITY, ["no findings", "c/new", "d/mid", "b/old", "a/any"]),
        (Sort.ROOT, Grouping.SEVERITY, ["no findings", "d/mid", "c/new", "a/any", "b/old"]),
    ],
)
def test_orders(samples: Samples, sort: Sort, grouping: Grouping, expected: list[str]) -> None:
    sections = sorted_outline(outline(dated(samples), grouping), sort, grouping)
    assert [
        title for section in sections for title in (section.title, *(n.title for n in section.children))
    ] == expected


def test_members_of_a_group_and_sections_of_severities(samples: Samples) -> None:
    by_root = sorted_outline(outline(samples.full(), Grouping.SEVERITY), Sort.ROOT, Grouping.SEVERITY)
    assert [section.title for section in by_root] == ["BLOCK", "WARN", "INFO", "no findings"]
    group = next(node for section in by_root for node in section.children if len(node.children) > 5)
    assert [node.title for node in group.children] == sorted(node.title for node in group.children)


async def test_the_key_keeps_the_cursor_and_is_said(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.go_to("hashicorp/null")
        for order in ("provider", "release date", "root"):
            await on.press("s")
            assert f"sorted by {order}" in on.lines[-2]
            assert on.current.node.title == "hashicorp/null"
        assert on.titles[0] == "."
        await on.press("s")
        assert "sorted by severity" in on.lines[-2]
        assert on.titles[0] == "infra/prod/network"
        await on.press("s", "s")
        assert "no release date is known" in on.lines[-2]


@pytest.mark.parametrize("message", ["", "live/a changed on disk, reloaded"])
def test_another_order_than_that_of_the_key_is_said_beside_a_message(samples: Samples, message: str) -> None:
    facts = StatusFacts(
        samples.full(), frozenset(), None, Grouping.ROOT, "", "block", message=message, is_ordered=False
    )
    fitting = (
        text
        for each in review_status(facts)
        if len(text := "".join(piece.text for piece in (*each.left, *each.right))) < 80
    )
    assert "s sorts anew" in next(fitting)


def test_a_narrow_status_line_leaves_the_order_out_before_it_cuts_a_word(samples: Samples) -> None:
    facts = StatusFacts(samples.full(), frozenset(), None, Grouping.SEVERITY, "aws", "block", sort=Sort.AGE)
    _, short, _, shortest, *_ = ("".join(piece.text for piece in each.left) for each in review_status(facts))
    assert "by severity" in short
    assert "sorted by release date" in short
    assert "severity" not in shortest
    assert "sorted" not in shortest
    assert "filtered" in shortest
