"""Versions and constraints against what terraform 1.11.4 and OpenTofu 1.12.6 select, accept and print."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from locklens.versions import (
    WRONG_SYNTAX,
    Constraints,
    ConstraintSyntaxError,
    Operator,
    Relation,
    Term,
    Version,
    VersionSyntaxError,
    newest_matching,
)

VECTORS = json.loads((Path(__file__).parent / "data" / "version_vectors.json").read_text("utf-8"))


def test_there_are_a_hundred_vectors() -> None:
    assert len(VECTORS["rows"]) == 100


@pytest.mark.parametrize("row", VECTORS["rows"], ids=lambda row: repr(row["constraint"]))
def test_what_the_real_tools_select_and_print(row: dict[str, Any]) -> None:
    available = [Version.parse(text) for text in VECTORS["available"][row["set"]]]
    if "error" in row:
        with pytest.raises(ConstraintSyntaxError) as caught:
            Constraints.parse(row["constraint"])
        second = f"Incorrect version constraint syntax: {row['error']}"
        assert caught.value.detail == (WRONG_SYNTAX if row["error"] == "first parser" else second)
        return
    constraints = Constraints() if row["constraint"] is None else Constraints.parse(row["constraint"])
    selected = newest_matching(available, constraints)
    assert (str(selected) if selected else None) == row["selected"]
    assert str(constraints) == row["canonical"]


def test_a_long_constraint_is_sorted_as_the_tools_sort_it() -> None:
    text = (
        "~> 2, ~> 2.0, ~> 2.0.0, >= 2, >= 2.0.0, >=2.0, = 2, 2.0.0, <= 2.0, > 1, < 3, != 3, > 1.0.0-beta, "
        ">= 1.0.0-beta.2, >= 1.0.0-alpha.1, >= 1.0.0+b, >= 1.0.0+a.1"
    )
    assert str(Constraints.parse(text)) == (
        "> 1.0.0-beta, >= 1.0.0-alpha.1, >= 1.0.0-beta.2, > 1.0.0, >= 1.0.0+b, >= 1.0.0+a.1, >= 2.0.0, 2.0.0, ~> 2.0.0, "
        "~> 2.0, <= 2.0.0, < 3.0.0, != 3.0.0"
    )


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1.2.3-", "1.2.3"),
        ("01.2", "1.2.0"),
        ("2", "2.0.0"),
        ("1.", "1.0.0"),
        ("1.2.3+", "1.2.3"),
        ("1.2.3-a.b+c", "1.2.3-a.b+c"),
    ],
)
def test_versions_that_are_not_in_normal_form(text: str, canonical: str) -> None:
    assert str(Version.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("v1.0.0", 'a "v" prefix should not be used'),
        (" 1.0.0", "extraneous spaces at start"),
        ("1.0.0 ", "extraneous spaces at end"),
        (">= 1", "can't use constraint operator"),
        ("1.0.0.0", "too many numbered portions"),
        ("1.x", "can't use wildcard for minor number"),
        ("latest", "required format is three positive integers"),
        ("18446744073709551616", "above 18446744073709551615"),
        ("9" * 5000, "too long"),
        ("", "empty specification"),
    ],
)
def test_texts_that_are_no_version(text: str, phrase: str) -> None:
    with pytest.raises(VersionSyntaxError, match=phrase):
        Version.parse(text)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (">=", "only one space"),
        (">=x", "only one space"),
        ("foo", 'missing comma after ""'),
        ("1.0 2.0", 'missing comma after "1.0"'),
    ],
)
def test_recorded_constraints_pass_the_second_parser_alone(text: str, phrase: str) -> None:
    with pytest.raises(ConstraintSyntaxError) as caught:
        Constraints.parse_recorded(text)
    assert phrase in caught.value.detail
    assert str(Constraints.parse_recorded("1.0.0,")) == "1.0.0"


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("1.0.0-beta", "1.0.0-alpha.1"),
        ("1.0.0-alpha", "1.0.0-beta"),
        ("1.0.0-1", "1.0.0-01"),
        ("1.0.0-9", "1.0.0-a"),
        ("1.0.0-rc", "1.0.0"),
    ],
)
def test_the_order_of_prereleases_is_not_semver(lower: str, higher: str) -> None:
    assert Version.parse(lower).compare(Version.parse(higher)) < 0
    assert Version.parse(higher).compare(Version.parse(lower)) > 0


def test_0_0_0_is_never_selected_unless_it_has_metadata() -> None:
    plain, built = Version.parse("0.0.0"), Version.parse("0.0.0+b1")
    for text in ("0.0.0", "<= 0.0.0", "~> 0.0", "!= 1"):
        assert not Constraints.parse(text).admits(plain)
    for text in ("0.0.0+b1", "<= 0.0.0", "~> 0.0", "!= 0.0.0"):
        assert Constraints.parse(text).admits(built)
    assert not Constraints.parse("0.0.0").admits(built)
    assert (Constraints().admits(plain), Constraints().admits(built)) == (False, True)
    assert newest_matching([built, plain], Constraints()) == built


def test_metadata_counts_for_identity_and_not_for_precedence() -> None:
    first, second = Version.parse("1.0.0+a"), Version.parse("1.0.0+b")
    assert first != second
    assert first.compare(second) == 0


@pytest.mark.parametrize(
    ("new", "old", "relation"),
    [
        ("~> 1.0", "~> 1.0, != 1.5.0", Relation.WIDENED),
        ("~> 1.2", "~> 1.0", Relation.NARROWED),
        (">= 1.0.0, < 2.0.0", "~> 1.0", Relation.SAME),
        ("5.2.0", "5.1.0", Relation.DISJOINT),
        ("~> 5.0", ">= 5.5.0, < 7.0.0", Relation.SHIFTED),
        ("1.0.0-beta", "1.0.0-alpha", Relation.DISJOINT),
        ("", "~> 1.0", Relation.WIDENED),
    ],
)
def test_how_two_constraints_relate(new: str, old: str, relation: Relation) -> None:
    assert Constraints.parse_recorded(new).relation_to(Constraints.parse_recorded(old)) is relation


@pytest.mark.parametrize(
    ("text", "conflicts"),
    [
        (">= 0.1, >= 2.0, != 1.7, < 1.0", ["< 1.0.0, >= 2.0.0"]),
        ("~> 5.0, >= 6.1, >= 6.2, < 7", ["~> 5.0, >= 6.1.0", "~> 5.0, >= 6.2.0"]),
        ("> 1.0.0, < 1.0.1, >= 1", ["> 1.0.0, < 1.0.1"]),
        ("1.2.3, 1.2.4, 1.2.3", ["1.2.3, 1.2.4"]),
        ("0.0.0, ~> 5.0", ["0.0.0"]),
        ("> 1.0.0, < 1.0.3, != 1.0.1, != 1.0.2, != 1.0.4", ["> 1.0.0, != 1.0.1, != 1.0.2, < 1.0.3"]),
        # A pre-release that is named meets what surrounds it, and nothing else.
        ("> 2.0.0-alpha, < 2.0.0, 2.0.0-beta, != 2.0.0-beta", ["2.0.0-beta, != 2.0.0-beta"]),
        ("2.0.0-beta, ~> 2.0", ["2.0.0-beta, ~> 2.0"]),
        ("> 2.0.0-alpha, < 2.0.0", ["> 2.0.0-alpha, < 2.0.0"]),
        ("1.0.0-beta, < 2", []),
        ("~> 1.0", []),
    ],
)
def test_the_smallest_conflicts_are_found(text: str, conflicts: list[str]) -> None:
    constraints = Constraints.parse(text)
    found = [str(Constraints(terms)) for terms in constraints.smallest_conflicts()]
    assert sorted(found) == conflicts
    assert constraints.is_satisfiable == (not conflicts)


@pytest.mark.parametrize(
    ("text", "essential"),
    [
        ("> 6.9.0, >= 6.40.0, 6.54.0", "6.54.0"),
        (">= 1.0.0, ~> 1.0, < 3.0.0", "~> 1.0"),
        (">= 5.0, < 6.0, ~> 5.0, != 5.3.0", "~> 5.0, != 5.3.0"),
        (">= 1.0, 2.0.0-beta1", "2.0.0-beta1"),
        (">= 0", ""),
        ("~> 1.0, != 3.0.0", "~> 1.0"),
    ],
)
def test_what_many_terms_come_to(text: str, essential: str) -> None:
    assert str(Constraints.parse(text).essential()) == essential


def test_the_terms_that_exclude_a_version_are_named() -> None:
    excluded = Constraints.parse("~> 5.0, != 6.1.0, >= 1").excluded_by(Version.parse("6.1.0"))
    assert list(map(str, excluded)) == ["~> 5.0", "!= 6.1.0"]


TRIPLES = st.builds(Version, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
OPERANDS = st.builds(
    Version,
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(["", "", "", "beta", "1", "foo.bar"]),
)


def term(operator: Operator, version: Version, parts: int) -> Term:
    if operator is not Operator.PESSIMISTIC or parts == 3:
        return Term(operator, version)
    return Term(operator, replace(version, patch=0), 2)


TERMS = st.builds(term, st.sampled_from(Operator), OPERANDS, st.sampled_from([2, 3]))
CONSTRAINTS = st.builds(lambda terms: Constraints(tuple(terms)), st.lists(TERMS, max_size=4))
RELEASES = [Version(a, b, c) for a in range(6) for b in range(6) for c in range(6)]


@given(CONSTRAINTS)
def test_the_algebra_agrees_with_counting_on_emptiness(constraints: Constraints) -> None:
    exact = [term.version for term in constraints.terms if term.is_pin]
    assert constraints.is_satisfiable == any(constraints.admits(version) for version in (*RELEASES, *exact))


@given(CONSTRAINTS, CONSTRAINTS)
def test_the_algebra_agrees_with_counting_on_inclusion(new: Constraints, old: Constraints) -> None:
    exact = [term.version for term in (*new.terms, *old.terms) if term.is_pin]
    admitted_new = {version for version in (*RELEASES, *exact) if new.admits(version)}
    admitted_old = {version for version in (*RELEASES, *exact) if old.admits(version)}
    relation = new.relation_to(old)
    assert (relation in {Relation.SAME, Relation.NARROWED}) == (admitted_new <= admitted_old)
    assert (relation in {Relation.SAME, Relation.WIDENED}) == (admitted_old <= admitted_new)


@given(st.builds(lambda terms: Constraints(tuple(terms)), st.lists(TERMS, max_size=6)))
def test_a_conflict_is_one_and_none_of_its_terms_can_be_spared(constraints: Constraints) -> None:
    exact = [term.version for term in constraints.terms if term.is_pin]
    universe = [version for version in (*RELEASES, *exact) if not version.is_unspecified]

    def is_possible(terms: tuple[Term, ...]) -> bool:
        return any(all(term.holds(version) for term in terms) for version in universe)

    conflicts = constraints.smallest_conflicts()
    assert bool(conflicts) == (not constraints.is_satisfiable)
    for terms in conflicts:
        assert not is_possible(terms)
        for one in terms:
            assert is_possible(tuple(other for other in terms if other is not one))
    sizes = [
        size for size in (1, 2)
        if any(not is_possible(part) for part in combinations(dict.fromkeys(constraints.terms), size))
    ]  # fmt: skip
    if sizes:
        assert {len(terms) for terms in conflicts} == {min(sizes)}


@given(CONSTRAINTS)
def test_the_essential_terms_admit_what_all_admit(constraints: Constraints) -> None:
    essential = constraints.essential()
    assert essential.relation_to(constraints) is Relation.SAME
    assert set(essential.terms) <= set(constraints.terms)


@given(CONSTRAINTS)
def test_the_canonical_text_reads_back_as_the_same_constraint(constraints: Constraints) -> None:
    assert str(Constraints.parse_recorded(str(constraints))) == str(constraints)


@given(st.text(alphabet="0123456789.,<>=!~ v-+ab*x", max_size=24))
def test_any_text_is_a_constraint_or_an_error(text: str) -> None:
    try:
        constraints = Constraints.parse(text)
    except ConstraintSyntaxError:
        return
    assert constraints.terms
    for version in RELEASES[:20]:
        assert isinstance(constraints.admits(version), bool)
