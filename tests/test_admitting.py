"""Constraints that are rewritten to admit a version."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locklens.versions import Constraints, NotAdmissibleError, Operator, Version, admitting

NUMBER = st.integers(0, 12)
RELEASE = st.builds(Version, NUMBER, NUMBER, NUMBER)
SPACES = st.sampled_from(["", " "])
NUMBERS = st.lists(NUMBER, min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
TERM = st.tuples(st.sampled_from(["", *(operator.value for operator in Operator)]), SPACES, NUMBERS).map(
    lambda parts: parts[0] + (parts[1] if parts[0] else "") + parts[2]
)
TEXT = st.lists(st.tuples(SPACES, TERM, SPACES).map("".join), min_size=1, max_size=4).map(",".join)


@pytest.mark.parametrize(
    ("text", "version", "new"),
    [
        ("= 1.2.3", "1.3.0", "= 1.3.0"),
        ("1.2.3", "1.3.0", "1.3.0"),
        ("=1.2.3", "2.0.0", "=2.0.0"),
        ("1.2", "1.3.0", "1.3"),
        ("1.2", "1.3.1", "1.3.1"),
        ("~> 1.2", "2.3.4", "~> 2.3"),
        ("~> 1.2.3", "1.3.4", "~> 1.3.4"),
        ("~> 1", "3.1.0", "~> 3"),
        ("~> 1.4", "1.3.5", "~> 1.3"),
        ("< 2.0", "2.3.1", "< 3.0"),
        ("< 2.0.0", "4.0.0", "< 5.0.0"),
        ("< 2.5", "3.1.7", "< 3.2"),
        ("< 2.5.3", "2.5.3", "< 2.5.4"),
        ("<= 2.0", "2.3.1", "<= 2.3.1"),
        ("<= 2.0", "2.3.0", "<= 2.3"),
        (">= 3.0", "2.1.5", ">= 2.1"),
        (">= 1.0, < 2.0", "2.3.1", ">= 1.0, < 3.0"),
        (" >=1.0 ,<2.0 ", "2.3.1", " >=1.0 ,<3.0 "),
        ("1.2.3", "2.0.0-rc1", "2.0.0-rc1"),
        ("= 1.2.3", "1.2.3+build.7", "= 1.2.3+build.7"),
        ("~> 1.2", "1.9.0", "~> 1.2"),
    ],
)
def test_the_operator_and_the_number_of_parts_stay(text: str, version: str, new: str) -> None:
    assert admitting(text, Version.parse(version)) == new


@pytest.mark.parametrize(("text", "version"), [("!= 1.3.0", "1.3.0"), (">= 1.0, != 1.3.0", "1.3.0"), ("> 3", "2.0.0")])
def test_what_no_number_admits(text: str, version: str) -> None:
    with pytest.raises(NotAdmissibleError):
        admitting(text, Version.parse(version))


@given(TEXT, RELEASE)
def test_every_term_holds_afterwards_and_those_that_held_are_as_they_were(text: str, version: Version) -> None:
    try:
        new = admitting(text, version)
    except NotAdmissibleError:
        operators = {term.operator for term in Constraints.parse(text).excluded_by(version)}
        assert operators & {Operator.NOT_EQUAL, Operator.GREATER}
        return
    assert not Constraints.parse(new).excluded_by(version)
    for old_piece, new_piece in zip(text.split(","), new.split(","), strict=True):
        if Constraints.parse(old_piece).admits(version) or not Constraints.parse(old_piece).excluded_by(version):
            assert new_piece == old_piece
        assert new_piece.rstrip("0123456789. ") == old_piece.rstrip("0123456789. ")
