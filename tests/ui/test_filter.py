from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from locklens.review.findings import Severity
from locklens.review.model import Bump, ChangeKind, LockStatus
from locklens.ui.review.outline import REVIEW_GRAMMAR, Candidate, Grouping, NodeKind, outline
from locklens.ui.review.rows import Row, RowMaker, Setting
from locklens.ui.shell.filtering import TIER, parse_filter

if TYPE_CHECKING:
    from ui.conftest import Running, Samples


@pytest.fixture
def candidate(samples: Samples) -> Candidate:
    change = samples.change(
        "hashicorp/aws", "5.1.0", "5.2.0", findings=(samples.finding("LK003", Severity.WARN, "nobody could explain"),)
    )
    return Candidate(samples.root("infra/prod", [change]), change)


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("", True),
        ("aws", True),
        ("AWS prod", True),
        ("gcp", False),
        ("-gcp", True),
        ("-aws", False),
        ("5.2.0", True),
        ("explain", True),
        ("sev>=warn", True),
        ("sev>=block", False),
        ("sev<=warn", True),
        ("sev<=info", False),
        ("sev:warn", True),
        ("severity=warn", True),
        ("sev:ok", False),
        ("-sev:ok", True),
        ("kind:upgrade", True),
        ("kind:up", True),
        ("kind:downgrade", False),
        ("root:prod", True),
        ("root:stage", False),
        ("provider:hashicorp/a", True),
        ("rule:lk003", True),
        ("rule:LK001", False),
        ("unreviewed", True),
        ("reviewed", False),
        ("sev>=warn kind:upgrade root:infra unreviewed", True),
        ("sev>=warn kind:downgrade", False),
    ],
)
def test_words(candidate: Candidate, text: str, admitted: bool) -> None:
    found = parse_filter(text, REVIEW_GRAMMAR)
    assert not found.problem
    assert found.is_match(candidate) is admitted


def test_a_hash_is_text(candidate: Candidate) -> None:
    assert candidate.change is not None
    assert parse_filter(candidate.change.added[0].hash[:20], REVIEW_GRAMMAR).is_match(candidate)
    assert not parse_filter("zh:nothing", REVIEW_GRAMMAR).is_match(candidate)


def test_marks_decide_reviewed(candidate: Candidate) -> None:
    reviewed = Candidate(candidate.root, candidate.change, reviewed=True)
    assert parse_filter("reviewed", REVIEW_GRAMMAR).is_match(reviewed)
    assert not parse_filter("unreviewed", REVIEW_GRAMMAR).is_match(reviewed)


def test_a_finding_about_the_root(samples: Samples) -> None:
    one = Candidate(samples.root("infra/dns"), finding=samples.finding("LK006", Severity.BLOCK))
    assert parse_filter("sev:block rule:LK006", REVIEW_GRAMMAR).is_match(one)
    assert not parse_filter("kind:upgrade", REVIEW_GRAMMAR).is_match(one)
    assert parse_filter("unreviewed", REVIEW_GRAMMAR).is_match(one)
    assert not parse_filter("reviewed", REVIEW_GRAMMAR).is_match(one)
    assert not parse_filter("unreviewed", REVIEW_GRAMMAR).is_match(Candidate(one.root))


def test_a_conflict_has_the_severity_that_its_row_shows(samples: Samples) -> None:
    found = (samples.finding("LK019", Severity.BLOCK),)
    root = samples.root("merge", conflict=samples.conflict(), status=LockStatus.INVALID, findings=found)
    for text, rows in (("", 2), ("sev:block", 2), ("sev>=warn", 2), ("sev:ok", 0)):
        nodes = outline(samples.review(root), Grouping.SEVERITY, narrowed=parse_filter(text, REVIEW_GRAMMAR))
        assert [node.severity for section in nodes for node in section.children] == [Severity.BLOCK] * rows, text


@pytest.mark.parametrize(
    ("text", "problem"),
    [("sev>=bad", "not 'bad'"), ("sev:", "sev is"), ("foo:bar", 'unknown field "foo"'), ("kind:zzz", "no kind begins")],
)
def test_what_is_not_understood_is_said_and_left_out(candidate: Candidate, text: str, problem: str) -> None:
    found = parse_filter(f"aws {text}", REVIEW_GRAMMAR)
    assert problem in found.problem
    assert found.is_match(candidate)


def test_every_kind_can_be_asked_for() -> None:
    assert not any(parse_filter(f"kind:{kind}", REVIEW_GRAMMAR).problem for kind in ChangeKind)


def test_every_word_that_a_row_has_for_its_kind_finds_it(samples: Samples) -> None:
    changes = [samples.change(f"acme/p{number}", kind=kind, bump=None) for number, kind in enumerate(ChangeKind)]
    changes += [samples.change(f"acme/q{number}", bump=bump) for number, bump in enumerate(Bump)]
    found = [samples.root(f"r{number}", [change]) for number, change in enumerate(changes)]
    review = samples.review(*found, samples.root("merge", conflict=samples.conflict(), status=LockStatus.INVALID))

    def rows(text: str) -> list[Row]:
        narrowed = parse_filter(text, REVIEW_GRAMMAR)
        assert not narrowed.problem, text
        return list(RowMaker().rows(outline(review, Grouping.ROOT, narrowed=narrowed), Setting()))

    words = {row.key: row.summary.split() for row in rows("") if row.node.kind in {NodeKind.CHANGE, NodeKind.CONFLICT}}
    assert {"conflict", "major", "pre-release", "build-only", "replaced", "constraints"} <= {*chain(*words.values())}
    for key, own in words.items():
        for word in own:
            if not word.startswith("-"):
                assert key in {row.key for row in rows(word)}, word
            if word.isalpha() and word != "only":
                assert key in {row.key for row in rows(f"kind:{word}")}, word
    assert {row.node.kind for row in rows("kind:conflict") if row.depth} == {NodeKind.CONFLICT}
    assert NodeKind.CONFLICT in {row.node.kind for row in rows("5.1.0")}, "and so do its versions"


async def test_the_heading_of_the_first_row_is_shown_whatever_was_scrolled_before(
    samples: Samples, running: Running
) -> None:
    async with running(samples.many(40), size=(80, 24)) as on:
        await on.press("G")
        assert on.changes.scroll_offset.y > 100
        await on.press("slash", *"acme", "enter")
        assert on.changes.cursor == 1
        assert on.changes.scroll_offset.y == 0


def test_a_finding_about_several_providers_is_found_by_each(samples: Samples) -> None:
    named = (samples.address("hashicorp/aws"), samples.address("acme/netbox"))
    finding = replace(samples.finding("LK007", Severity.INFO), among=named)
    one = Candidate(samples.root("infra/dns"), finding=finding)
    assert [parse_filter(f"provider:{text}", REVIEW_GRAMMAR).is_match(one) for text in ("aws", "netbox", "tls")] == [
        True,
        True,
        False,
    ]


def test_what_a_row_has_no_answer_for_is_no_silent_miss(candidate: Candidate) -> None:
    """A field or a word that is only in the grammar would else be searched in something that it does not name."""
    grammar = replace(REVIEW_GRAMMAR, fields=(TIER,), words={"accepted": "has an accepted finding"})
    for term in ("tier:partner", "accepted"):
        narrowed = parse_filter(term, grammar)
        assert not narrowed.problem
        for row in (candidate, Candidate(candidate.root)):
            with pytest.raises(AssertionError, match="of the grammar has no"):
                narrowed.is_match(row)


def test_a_kind_that_is_a_word_of_its_own_is_no_beginning_of_another(samples: Samples) -> None:
    removed = samples.change("hashicorp/aws", kind=ChangeKind.REMOVED_HASHES)
    fact = Candidate(samples.root("infra/prod", [removed]), removed)
    assert not parse_filter("kind:removed", REVIEW_GRAMMAR).is_match(fact)
    assert parse_filter("kind:removed-", REVIEW_GRAMMAR).is_match(fact)


@pytest.mark.parametrize("width", [80, 100, 140])
async def test_moved_and_deleted_roots_have_words_that_the_filter_finds(
    samples: Samples, running: Running, width: int
) -> None:
    path = "live/" + "a-long-name/" * 12 + "end"
    gone = samples.root("gone", [samples.change("hashicorp/null", new=None)], status=LockStatus.DELETED)
    roots = [
        replace(samples.root("new/b", [samples.change("hashicorp/aws")]), renamed_from="old/b"),
        replace(samples.root(path, [samples.change("hashicorp/tls")]), renamed_from="old/c"),
        replace(gone, old=replace(gone.new, exists=True)),
        samples.root("kept", [samples.change("hashicorp/time")]),
    ]
    async with running(samples.review(*roots), size=(width, 24)) as on:
        for words in ("new/b  moved from old/b", "/end  moved ", "gone  lock file deleted", "kept   "):
            assert words in on.text
        for term, providers in (("moved", {"aws", "tls"}), ("deleted", {"null"}), ("old/c", {"tls"})):
            await on.press("slash", *("slash" if one == "/" else one for one in term), "enter")
            assert {one for one in ("aws", "tls", "null", "time") if f"hashicorp/{one} " in on.text} == providers
            await on.press("escape", "escape")
