from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from locklens.lines import FilePlace
from locklens.review.findings import Accepted, Severity
from locklens.review.model import ChangeKind, Evidence, LockStatus, LookupAnswer, SideName
from locklens.review.reports import markdown, text
from locklens.ui.phrases import reviewed_words
from locklens.ui.review.actions import node_place
from locklens.ui.review.detail import detail_lines, no_diff_words, row_diff_lines
from locklens.ui.review.outline import REVIEW_GRAMMAR, Grouping, NodeKind, outline
from locklens.ui.review.rows import ChangeList, Mark, RowMaker, Setting, is_reviewed, mark_of
from locklens.ui.shell.filtering import parse_filter
from locklens.ui.shell.keys import following

if TYPE_CHECKING:
    from ui.conftest import Samples


def test_the_worst_root_comes_first_and_the_worst_change_in_it(samples: Samples) -> None:
    bad = samples.change("acme/b", findings=(samples.finding("LK001", Severity.BLOCK),))
    review = samples.review(
        samples.root("a", [samples.change("acme/x")]), samples.root("z", [samples.change("acme/a"), bad])
    )
    sections = outline(review, Grouping.ROOT)
    assert [section.title for section in sections] == ["z", "a"]
    assert [node.title for node in sections[0].children] == ["acme/b", "acme/a"]


def test_equally_bad_roots_are_in_the_order_of_the_report(samples: Samples) -> None:
    broken = samples.root("a", findings=(samples.finding("LK019", Severity.BLOCK),), status=LockStatus.INVALID)
    bad = samples.change("acme/b", findings=(samples.finding("LK001", Severity.BLOCK),))
    other = samples.change("acme/c", findings=bad.findings, salt="b")
    review = samples.review(broken, samples.root("b", [other]), samples.root("c", [bad]))
    assert [section.title for section in outline(review, Grouping.ROOT)] == ["b", "c", "a"]
    lines = str(text.render(review)).splitlines()
    assert [one[0] for one in lines if one.startswith(("a  (", "b  (", "c  ("))] == ["b", "c", "a"]


def test_the_same_change_in_many_roots_is_one_row_that_unfolds(samples: Samples) -> None:
    sections = outline(samples.many(200), Grouping.ROOT)
    shared = next(section for section in sections if section.key == "section:shared")
    assert [len(node.children) for node in shared.children] == [200, 200]
    shown = RowMaker().rows((shared,), Setting())
    assert [row.node.kind for row in shown] == [NodeKind.SECTION, NodeKind.GROUP, NodeKind.GROUP]
    assert "200 roots" in shown[1].where
    unfolded = RowMaker().rows((shared,), Setting(turned={shown[1].key}))
    assert len(unfolded) == 203
    assert unfolded[2].node.title == "infra/team-000/service"


def test_roots_that_only_have_shared_changes_have_no_section_of_their_own(samples: Samples) -> None:
    change = samples.change()
    own = samples.change("acme/own")
    review = samples.review(samples.root("a", [change]), samples.root("b", [change]), samples.root("c", [change, own]))
    assert {section.title: section.note for section in outline(review, Grouping.ROOT)} == {
        "in several roots": "",
        "c": "+1 shared",
    }


def test_a_group_is_as_bad_as_its_worst_member(samples: Samples) -> None:
    fine = samples.change()
    bad = samples.change(findings=(samples.finding("LK005", Severity.BLOCK),))
    (section,) = outline(samples.review(samples.root("a", [fine]), samples.root("b", [bad])), Grouping.ROOT)
    (group,) = section.children
    assert group.severity is Severity.BLOCK
    assert [child.title for child in group.children] == ["b", "a"]


def test_grouping_by_provider(samples: Samples) -> None:
    review = samples.review(
        samples.root("a", [samples.change("acme/x"), samples.change("acme/y")]),
        samples.root("b", [samples.change("acme/x")]),
    )
    sections = outline(review, Grouping.PROVIDER)
    assert [section.title for section in sections] == ["registry.terraform.io/acme/x", "registry.terraform.io/acme/y"]
    names = [row.name for row in RowMaker().rows(sections, Setting(Grouping.PROVIDER)) if row.depth]
    assert names == ["2 roots", "a"]


def test_grouping_by_severity(samples: Samples) -> None:
    sections = outline(samples.full(), Grouping.SEVERITY)
    assert [section.title for section in sections] == ["BLOCK", "WARN", "INFO", "no findings"]
    assert all(node.severity is section.severity for section in sections for node in section.children)
    named = replace(samples.finding("LK023", Severity.BLOCK), accepted=Accepted("checked by phone"))
    change = replace(samples.change("acme/x"), findings=(named,))
    sections = outline(samples.review(samples.root("a", [change])), Grouping.SEVERITY)
    (row,) = (row for row in RowMaker().rows(sections, Setting(Grouping.SEVERITY)) if row.depth)
    assert [section.title for section in sections] == ["no findings, or accepted ones"]
    assert row.reason.startswith("accepted: LK023 Same version")
    assert "both cannot be right (accepted)" in str(markdown.render(samples.review(samples.root("a", [change]))))


def test_groupings_go_round() -> None:
    assert [following(one) for one in Grouping] == [Grouping.PROVIDER, Grouping.SEVERITY, Grouping.ROOT]


def test_no_change_is_lost_by_grouping_or_counted_twice(samples: Samples) -> None:
    review = samples.full()
    for grouping in Grouping:
        subjects = [subject for section in outline(review, grouping) for subject in section.subjects]
        assert len(subjects) == len(review.changes), grouping


def test_keys_are_unique(samples: Samples) -> None:
    for grouping in Grouping:
        sections = outline(samples.full(), grouping)
        keys = [
            row.key
            for row in RowMaker().rows(sections, Setting(grouping, {n.key for s in sections for n in s.children}))
        ]
        assert len(keys) == len(set(keys))


def test_a_filter_narrows_groups_to_the_roots_that_match(samples: Samples) -> None:
    sections = outline(
        samples.many(30), Grouping.ROOT, narrowed=parse_filter("root:team-01 provider:random", REVIEW_GRAMMAR)
    )
    assert [len(node.children) for section in sections for node in section.children] == [10]


def test_roots_without_changes_show_their_findings_conflicts_and_format(samples: Samples) -> None:
    review = samples.review(
        samples.root(
            "forgot",
            findings=(samples.finding("LK006", Severity.BLOCK, "required, not locked"),),
            status=LockStatus.UNCHANGED,
        ),
        samples.root("crlf", format_only=True),
        samples.root("merge", conflict=samples.conflict(), status=LockStatus.INVALID),
        samples.root("quiet", status=LockStatus.UNCHANGED),
    )
    nodes = {
        section.title: [(node.kind, node.note) for node in section.children]
        for section in outline(review, Grouping.ROOT)
    }
    assert nodes["forgot"] == [(NodeKind.FINDING, "required, not locked")]
    assert nodes["crlf"] == [(NodeKind.NOTE, "format only: same providers, different bytes")]
    assert nodes["merge"][0][0] is NodeKind.CONFLICT
    assert "quiet" not in nodes


def test_a_section_counts_what_it_lists_and_the_roots_of_that(samples: Samples) -> None:
    own = samples.finding("LK028", Severity.WARN, "locklens.toml differs")
    about_root = samples.finding("LK006", Severity.BLOCK, "required, not locked")
    merge = samples.root("merge", conflict=samples.conflict(), status=LockStatus.INVALID)
    roots = merge, samples.root("forgot", findings=(about_root,)), samples.root("crlf", format_only=True)
    review = replace(samples.review(*roots), own_findings=(own,))
    sections = outline(review, Grouping.PROVIDER)
    told = {section.title: [line.text for line in detail_lines(section, review)][2] for section in sections}
    assert told["conflicts"] == "1 conflict in 1 root."
    assert told["root-level findings"] == "1 root-level finding in 1 root.", "a root with a note alone is not counted"
    own_words = outline(replace(review, roots=()), Grouping.SEVERITY)[0]
    assert "1 finding about the policy." in [line.text for line in detail_lines(own_words, review)]


def test_a_finding_about_the_policy_has_a_row_in_every_grouping(samples: Samples) -> None:
    finding = replace(samples.finding("LK028", Severity.WARN, "locklens.toml differs"), file="locklens.toml", line=3)
    review = replace(samples.many(2), own_findings=(finding,))
    for grouping in Grouping:
        sections = outline(review, grouping)
        ((section, node),) = [(s, n) for s in sections for n in s.children if n.finding == finding]
        assert grouping is Grouping.SEVERITY or section.title == "locklens.toml"
        assert (node.severity, node.root, node_place(node)) == (Severity.WARN, None, FilePlace("locklens.toml", 3))
        assert "locklens.toml differs" in "\n".join(line.text for line in detail_lines(node, review))
        assert detail_lines(section, review)
        assert row_diff_lines(node) == ()
        assert no_diff_words(node, review) == "diff: the finding is about locklens.toml, not a lock file; e opens it"
        of_revisions = replace(
            review, base=SideName("git", "main...pr", "a" * 40), head=SideName("git", "pr", "b" * 40)
        )
        shown = f"no lock file: git diff {'a' * 12} {'b' * 12} -- locklens.toml shows it"
        assert no_diff_words(node, of_revisions) == shown, "e looks at the work tree"
        assert not is_reviewed(node, ())
        assert is_reviewed(node, node.mark_ids)
    reviewed = reviewed_words(review, frozenset(node.mark_ids), changes=False)
    assert reviewed == "1 of 1"
    (only,) = outline(review, Grouping.ROOT, narrowed=parse_filter("rule:LK028", REVIEW_GRAMMAR))
    assert only.title == "locklens.toml"
    assert outline(review, Grouping.ROOT, narrowed=parse_filter("rule:LK028 root:team", REVIEW_GRAMMAR), marks=()) == ()


def test_a_conflict_shows_both_sides(samples: Samples) -> None:
    review = samples.review(
        samples.root("merge", conflict=samples.conflict("5.1.0", "5.2.0"), status=LockStatus.INVALID)
    )
    shown = RowMaker().rows(outline(review, Grouping.ROOT), Setting())
    assert shown[1].phrase == "5.1.0 | 5.2.0"


def test_marks_of_groups_and_sections(samples: Samples) -> None:
    first, second = samples.change(salt="1"), samples.change(salt="2")
    (section,) = outline(samples.review(samples.root("a", [first]), samples.root("b", [second])), Grouping.ROOT)
    assert mark_of(section, set()) is Mark.OPEN
    assert mark_of(section, {first.id}) is Mark.SOME
    assert mark_of(section, {first.id, second.id}) is Mark.ALL
    assert RowMaker().rows((section,), Setting(marks={first.id}))[0].tally == "✓ 1/2"


@pytest.mark.parametrize("answer", [LookupAnswer.FAILED, LookupAnswer.NOT_ASKED])
def test_the_number_of_roots_is_never_cut(samples: Samples, answer: LookupAnswer) -> None:
    change = samples.change("a-long-namespace/and-a-long-name", "5.84.0-beta1", "5.86.1-beta1")
    change = replace(change, evidence=Evidence(None, ("it is down",), "", answer))
    review = samples.review(*(samples.root(f"r{number}", [change]) for number in range(14)))
    shown = RowMaker().rows(outline(review, Grouping.ROOT), Setting())
    listed = ChangeList()
    for width in range(40, 130):
        listed.lay_out(shown, width)
        text = "".join(span.text for span in listed.painted(shown[1], width, cursor=False))
        assert "14 roots" in text or "×14" in text, (width, text)
        assert "…s " not in text
        assert len(text) <= width


def test_unlike_members_say_so(samples: Samples) -> None:
    from locklens.ui.review.rows import row_differences

    loose = samples.change(constraints=("~> 5.0", ">= 5.0"))
    (section,) = outline(
        samples.review(samples.root("a", [samples.change()]), samples.root("b", [loose])), Grouping.ROOT
    )
    assert row_differences(section.children[0]) == ("constraints",)
    assert loose.new is not None
    other = replace(loose, new=replace(loose.new, constraints="~> 5.0", hashes=(*loose.new.hashes, "h1:x")))
    (section,) = outline(
        samples.review(samples.root("a", [samples.change()]), samples.root("b", [other])), Grouping.ROOT
    )
    assert row_differences(section.children[0]) == ("h1",)


def test_the_order_is_that_of_the_reports(samples: Samples) -> None:
    """Of one severity the most alarming kind comes first, and in each kind the providers by their addresses."""
    block = samples.finding("LK003", Severity.BLOCK)
    changes = [
        samples.change(name, kind=kind, findings=(block,))
        for name, kind in (
            ("aaa/last", ChangeKind.UPGRADE),
            ("zzz/first", ChangeKind.REPLACED_HASHES),
            ("corp/second", ChangeKind.DOWNGRADE),
            ("acme/second", ChangeKind.DOWNGRADE),
        )
    ]
    review = samples.review(samples.root("a", changes))
    (section,) = outline(review, Grouping.ROOT)
    listed = [node.title for node in section.children]
    assert listed == ["zzz/first", "acme/second", "corp/second", "aaa/last"]
    printed = markdown.render(review)
    places = [printed.index(f"- **block** `{name}`") for name in listed]
    assert places == sorted(places)


def test_the_place_of_a_finding_about_a_root_is_not_cut_off(samples: Samples) -> None:
    message = "registry.terraform.io/pagerduty/pagerduty is required by modules/alerts/main.tf:3 and is not locked"
    finding = samples.finding("LK006", Severity.BLOCK, message, file="infra/prod/modules/alerts/main.tf", line=3)
    shown = RowMaker().rows(
        outline(samples.review(samples.root("infra/prod", findings=(finding,))), Grouping.ROOT), Setting()
    )
    listed = ChangeList()
    for width, end in ((140, "is not locked"), (76, "is requir… modules/alerts/main.tf:3"), (50, "…/main.tf:3")):
        listed.lay_out(shown, width)
        text = "".join(span.text for span in listed.painted(shown[1], width, cursor=False))
        assert text.rstrip().endswith(end)
        assert len(text) == width


def test_a_fold_makes_no_other_row_anew_and_a_mark_makes_all(samples: Samples) -> None:
    sections, maker = outline(samples.full(), Grouping.ROOT), RowMaker()
    shown = maker.rows(sections, Setting())
    folded = next(row for row in shown if row.folded is False)
    again = maker.rows(sections, Setting(turned={folded.key}))
    kept = {id(row) for row in shown}
    assert [row.key for row in again if id(row) not in kept] == [folded.key]
    marked = maker.rows(sections, Setting(turned={folded.key}, marks=frozenset(again[-1].node.mark_ids)))
    assert [row.key for row in marked] == [row.key for row in again]
    assert kept.isdisjoint(map(id, marked))
    assert marked == RowMaker().rows(sections, Setting(turned={folded.key}, marks=frozenset(again[-1].node.mark_ids)))
