"""Why not a newer one, why none at all, and what cannot hold together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from selection.making import LINUX, WINDOWS, offers, requirement, version

from locklens.addresses import Platform
from locklens.selection import HeldBack, Newest, Reason, Unselectable
from locklens.selection.choosing import conflicts, held_back, nearest, newest_of, select
from locklens.versions import Constraints


def told(groups: tuple[HeldBack, ...]) -> list[str]:
    return [f"{' '.join(map(str, group.versions))}: {'; '.join(map(str, group.holds))}" for group in groups]


def test_each_version_above_the_selected_one_has_its_reasons() -> None:
    offered = (
        *offers("5.1.0", "5.2.0", "5.3.0-beta", "6.0.0", "6.1.0", "6.1.1", "7.0.0"),
        *offers("5.4.0", protocols=("4.0", "7.0")),
        *offers("5.5.0", platforms=(LINUX,)),
        *offers("5.6.0", platforms=(), protocols=()),
        *offers("6.2.0", protocols=("4",), platforms=(LINUX,)),
    )
    requirements = [
        requirement("~> 5.0", "main.tf:12"),
        requirement("!= 5.2.0, < 7", "modules/a/versions.tf:3", "a"),
        requirement("~> 5.0", "modules/b/versions.tf:4", "b"),
        requirement("", "data.tf:9"),
    ]
    groups = held_back(requirements, offered, version("5.1.0"), platforms=(LINUX, WINDOWS))
    low = "~> 5.0 (main.tf:12, modules/b/versions.tf:4)"
    no_protocol, no_windows = ("unsupported plugin protocol {}", "no package for windows_amd64")
    assert told(groups) == [
        f"7.0.0: {low}; < 7.0.0 (modules/a/versions.tf:3)",
        f"6.2.0: {low}; {no_protocol.format('4')}; {no_windows}",
        f"6.1.1 6.1.0 6.0.0: {low}",
        "5.6.0: ",
        f"5.5.0: {no_windows}",
        f"5.4.0: {no_protocol.format('4.0, 7.0')}",
        "5.3.0-beta: pre-release (needs an exact constraint)",
        "5.2.0: != 5.2.0 (modules/a/versions.tf:3)",
    ]
    assert [group.is_excluded for group in groups] == [True, True, True, False, False, False, True, True]
    assert (groups[2].newest, groups[2].versions[-1]) == (version("6.1.1"), version("6.0.0"))
    assert groups[0].holds[1].demand is not None
    assert groups[0].holds[1].demand.requirements[0].module == "a"


def test_what_should_be_offered_and_is_not_is_said() -> None:
    requirements = [requirement("<= 5.9.0, != 5.9.0"), requirement("5.9.0", "b.tf:2")]
    groups = held_back(requirements, offers("5.1.0"), version("5.1.0"))
    assert told(groups) == ["5.9.0: != 5.9.0 (main.tf:1); not offered"]


def test_a_version_that_was_never_there_stands_in_no_way() -> None:
    assert held_back([requirement("~> 5.0")], offers("5.1.0", "5.0.0"), version("5.1.0")) == ()
    assert told(held_back([], offers("0.0.0"), None)) == ["0.0.0: 0.0.0 is never selected"]


def test_an_unreadable_protocol_says_nothing() -> None:
    assert told(held_back([], offers("2.0.0", protocols=("x",)), version("1.0.0"))) == ["2.0.0: "]
    assert told(held_back([], offers("2.0.0", platforms=()), version("1.0.0"), platforms=[Platform("a", "b")])) == [
        "2.0.0: "
    ]


def test_a_conflict_names_who_disagrees() -> None:
    found = conflicts(
        [
            requirement("~> 5.40", "main.tf:12"),
            requirement(">= 6.0, < 9", "modules/a/versions.tf:3", "a"),
            requirement("~> 5.40", "modules/b/versions.tf:4", "b"),
            requirement("> 1", "c.tf:1"),
        ]
    )
    assert [[str(demand) for demand in one] for one in found] == [
        ["~> 5.40 (main.tf:12, modules/b/versions.tf:4)", ">= 6.0.0 (modules/a/versions.tf:3)"]
    ]
    assert conflicts([requirement("~> 5.0"), requirement(">= 5.1")]) == ()


def test_a_combination_that_could_be_met_and_is_not_names_the_nearest() -> None:
    offered = offers("4.0.0", "5.1.0", "5.2.0", "5.2.1-beta", "5.2.5", "6.0.0", "6.1.0", "9.0.0-beta")
    result = select([requirement("~> 5.2.1, != 5.2.5"), requirement("< 6", "b.tf:2")], offered, None, upgrade=False)
    assert isinstance(result, Unselectable)
    assert result.conflicts == ()
    assert told(result.held) == [
        "6.0.0: ~> 5.2.1 (main.tf:1); < 6.0.0 (b.tf:2)",
        "5.2.5: != 5.2.5 (main.tf:1)",
        "5.2.0: ~> 5.2.1 (main.tf:1)",
    ]


def test_an_exact_version_that_is_not_offered_stands_between_its_neighbours() -> None:
    assert told(nearest([requirement("5.1.1")], offers("5.1.0", "5.2.0", "6.0.0", "4.0.0"))) == [
        "5.2.0 5.1.0: 5.1.1 (main.tf:1)"
    ]


def test_where_only_pre_releases_are_offered_these_are_the_nearest() -> None:
    beta = "pre-release (needs an exact constraint)"
    assert told(nearest([requirement(">= 1.0")], offers("2.0.0-beta", "1.0.0-beta", "0.9.0-beta"))) == [
        f"2.0.0-beta: {beta}", f"1.0.0-beta: >= 1.0.0 (main.tf:1); {beta}"
    ]  # fmt: skip


def test_a_conflict_and_a_missing_version_are_two_things() -> None:
    result = select([requirement("~> 5.0"), requirement("~> 6.0", "b.tf:2")], offers("5.0.0"), None, upgrade=False)
    assert isinstance(result, Unselectable)
    assert result.held == ()
    assert len(result.conflicts) == 1


def test_the_newest_of_each_kind() -> None:
    offered = offers("4.9.0", "5.1.0", "5.1.7", "5.1.8-beta", "5.3.0", "6.0.0", "7.0.0-beta")
    assert newest_of([requirement("<= 5.1.7")], offered, version("5.1.0")) == Newest(
        overall=version("6.0.0"), in_range=version("5.1.7"), same_major=version("5.3.0"), same_minor=version("5.1.7")
    )
    assert newest_of([requirement("7.0.0-beta")], offered, None) == Newest(version("6.0.0"), version("7.0.0-beta"))
    assert newest_of([], offers("1.0.0-beta", "0.0.0"), None) == Newest(version("1.0.0-beta"), None)
    assert newest_of([], (), version("1.0.0")) == Newest(None, None)


TEXTS = st.sampled_from(
    ["", "~> 1.0", ">= 1.1", "< 2", "!= 1.2.0", "1.2.0", "2.0.0-beta", ">= 2, < 3", "~> 1.1.0", "> 1.2.0", "<= 1.2.0"]
)
VERSIONS = st.lists(
    st.sampled_from(["0.0.0", "1.0.0", "1.1.0", "1.1.5", "1.2.0", "1.2.0+x", "2.0.0-beta", "2.0.0", "3.0.0"]),
    unique=True,
)


@given(st.lists(TEXTS, max_size=4), VERSIONS, st.sampled_from(["", "1.0.0", "1.1.5"]))
def test_every_newer_version_is_told_once_and_rightly(texts: list[str], offered: list[str], above: str) -> None:
    requirements = [requirement(text, f"main.tf:{line}") for line, text in enumerate(texts, 1)]
    constraints = Constraints(tuple(term for one in requirements for term in one.constraints.terms))
    low = version(above) if above else None
    groups = held_back(requirements, offers(*offered), low)
    listed = [one for group in groups for one in group.versions]
    assert len(listed) == len(set(listed))
    newer = {version(text) for text in offered if low is None or version(text).compare(low) > 0}
    assert newer <= set(listed)
    for group in groups:
        is_absent = any(hold.reason is Reason.ABSENT for hold in group.holds)
        assert all((one in newer) != is_absent for one in group.versions)
        if not is_absent:
            assert all(constraints.admits(one) != group.is_excluded for one in group.versions)
        for hold in group.holds:
            assert (hold.demand is not None) == (hold.reason is Reason.CONSTRAINT)


@given(st.lists(TEXTS, min_size=1, max_size=4), VERSIONS.filter(bool))
def test_where_nothing_is_selected_something_is_explained(texts: list[str], offered: list[str]) -> None:
    requirements = [requirement(text, f"main.tf:{line}") for line, text in enumerate(texts, 1)]
    result = select(requirements, offers(*offered), None, upgrade=False)
    if isinstance(result, Unselectable):
        assert bool(result.held) != bool(result.conflicts)
        for group in result.held:
            assert group.is_excluded
