"""Which version is selected, and in which words none is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selection.making import AWS, offers, requirement, version

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.selection import Obstacle, Selection, Unselectable
from locklens.selection.choosing import before_asking, select

OFFERED = ("0.0.0", "1.0.0", "1.2.0", "1.2.3+b1", "1.3.0-beta1", "2.0.0-alpha", "2.0.0", "2.1.0", "3.0.0-rc.1")


def chosen(constraints: str, locked: str = "", *, upgrade: bool = False) -> str:
    requirements = [requirement(text.strip()) for text in constraints.split("|")]
    result = select(requirements, offers(*OFFERED), version(locked) if locked else None, upgrade=upgrade)
    if isinstance(result, Selection):
        return str(result.version)
    return result.obstacle.name


@pytest.mark.parametrize(
    ("constraints", "locked", "kept", "upgraded"),
    [
        ("", "", "2.1.0", "2.1.0"),
        ("~> 1.0", "", "1.2.3+b1", "1.2.3+b1"),
        ("~> 1.0 | < 1.2", "", "1.0.0", "1.0.0"),
        ("~> 1.0", "1.0.0", "1.0.0", "1.2.3+b1"),
        ("~> 1.0", "2.0.0", "LOCKED_EXCLUDED", "1.2.3+b1"),
        ("~> 1.0", "1.1.0", "LOCKED_ABSENT", "1.2.3+b1"),
        ("~> 1.0", "1.2.3", "LOCKED_ABSENT", "1.2.3+b1"),
        ("~> 1.0", "1.2.3+b1", "1.2.3+b1", "1.2.3+b1"),
        ("> 2.1.0", "", "NO_MATCH", "NO_MATCH"),
        ("> 2.1.0", "2.1.0", "LOCKED_EXCLUDED", "NO_MATCH"),
        # A locked pre-release needs a constraint that names it, even where there is none at all.
        ("", "3.0.0-rc.1", "LOCKED_EXCLUDED", "2.1.0"),
        (">= 3.0.0-rc.1", "3.0.0-rc.1", "LOCKED_EXCLUDED", "NO_MATCH"),
        ("3.0.0-rc.1", "3.0.0-rc.1", "3.0.0-rc.1", "3.0.0-rc.1"),
        ("3.0.0-rc.1 | >= 1.0", "2.0.0", "LOCKED_EXCLUDED", "3.0.0-rc.1"),
        ("", "0.0.0", "LOCKED_EXCLUDED", "2.1.0"),
        ("0.0.0", "", "NO_MATCH", "NO_MATCH"),
    ],
)
def test_the_modes(constraints: str, locked: str, kept: str, upgraded: str) -> None:
    assert chosen(constraints, locked) == kept
    assert chosen(constraints, locked, upgrade=True) == upgraded


def test_what_is_known_before_anybody_is_asked() -> None:
    held = before_asking([requirement("~> 1.0")], version("2.0.0"), upgrade=False)
    assert held is not None
    assert held.obstacle is Obstacle.LOCKED_EXCLUDED
    assert before_asking([requirement("~> 1.0")], version("2.0.0"), upgrade=True) is None
    assert before_asking([requirement("~> 1.0")], version("1.0.0"), upgrade=False) is None
    assert before_asking([requirement("~> 1.0")], None, upgrade=False) is None


def refused(constraint: str, locked: str = "", *texts: str) -> Unselectable:
    result = select([requirement(constraint)], offers(*texts), version(locked) if locked else None, upgrade=False)
    assert isinstance(result, Unselectable)
    return result


def test_the_words_are_the_tools() -> None:
    assert refused("~>1", "2.0.0").words(AWS, OPENTOFU) == (
        "locked provider registry.terraform.io/hashicorp/aws 2.0.0 does not match configured version constraint ~> 1.0; "
        "must use tofu init -upgrade to allow selection of new versions"
    )
    absent = refused("~>1", "1.0.0", "1.2.0").words(AWS, TERRAFORM)
    assert absent == "the previously-selected version 1.0.0 is no longer available"
    none = refused(">= 2, < 3", "", "1.2.0")
    assert none.words(AWS, TERRAFORM) == "no available releases match the given constraints >= 2.0.0, < 3.0.0"
    assert refused("", "", "1.0.0-beta").words(AWS, TERRAFORM).endswith("match the given constraints ")
    assert "not found in any of the search locations" in refused("").words(AWS, TERRAFORM)


@pytest.mark.parametrize(
    ("constraint", "is_told"),
    [
        ("0.0.0", True), ("0", True), ("0.0.0+a", True), ("0.0.0, >= 3.1.0", True),
        ("0, 1.0.0", False), ("<= 0.0.0", False), ("~> 0.0.0", False), ("0.0.0-x", False),
    ],
)  # fmt: skip
def test_opentofu_has_its_own_words_for_a_version_that_is_none(constraint: str, is_told: bool) -> None:
    result = refused(constraint, "", "0.0.0")
    assert (result.words(AWS, OPENTOFU) == "0.0.0 is not a valid provider version") is is_told
    assert result.words(AWS, TERRAFORM).startswith("no available releases match")


@given(
    st.lists(st.sampled_from([*OFFERED, "1.2.3+b2"]), unique=True).flatmap(
        lambda those: st.tuples(st.just(those), st.permutations(those))
    )
)
def test_the_order_of_the_offer_does_not_matter(orders: tuple[list[str], list[str]]) -> None:
    first, second = (select([requirement("< 2")], offers(*texts), None, upgrade=False) for texts in orders)
    assert first == second
