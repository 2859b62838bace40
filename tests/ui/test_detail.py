from __future__ import annotations

from dataclasses import replace as replace_node
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from locklens.dialect import TERRAFORM
from locklens.policy import Acceptance
from locklens.project.configuration import Configuration, StateReading
from locklens.review import HashFact, Proof
from locklens.review.context import RootContext
from locklens.review.findings import Accepted, Finding, Severity
from locklens.review.model import Change, ChangeKind, Evidence, HostState, LockStatus, Review
from locklens.review.rules.catalogue import RULES, wording_of
from locklens.trust import Signer, SigningKey, Tier
from locklens.ui.clipboard import change_copied, copied_line
from locklens.ui.phrases import configuration_read
from locklens.ui.review.actions import node_copied
from locklens.ui.review.detail import detail_lines, finding_lines, row_diff_lines
from locklens.ui.review.outline import Grouping, Node, outline

if TYPE_CHECKING:
    from ui.conftest import Running, Samples

    from locklens.lines import Line


def first_node(review: Review) -> Node:
    return outline(review, Grouping.ROOT)[0].children[0]


def texts(lines: tuple[Line, ...]) -> str:
    return "\n".join(line.text for line in lines)


def shown(samples: Samples, change: Change, **root: object) -> str:
    review = samples.review(samples.root("infra/prod", [change], **root))  # type: ignore[arg-type]
    return texts(detail_lines(first_node(review), review))


def test_a_change_with_everything(samples: Samples) -> None:
    change = samples.change(
        constraints=("~> 5.0", "~> 5.2"),
        findings=(samples.finding("LK005", Severity.BLOCK, "5.2.0 does not satisfy < 5.2"),),
        required_by=(samples.requirement("< 5.2", hidden=True), samples.requirement("~> 5.0", module="edge")),
    )
    text = shown(samples, change, configuration=samples.configuration(missing=("network",)))
    assert "registry.terraform.io/hashicorp/aws" in text
    assert "infra/prod/.terraform.lock.hcl:4" in text
    assert "Minor upgrade from 5.1.0 to 5.2.0. Hashes: 4 zh added, 4 zh removed." in text
    assert "BLOCK LK005  Locked version does not satisfy" in text
    assert "5.2.0 does not satisfy < 5.2" in text
    assert "CONSTRAINTS  ~> 5.0 -> ~> 5.2" in text
    assert "SIGNER       unknown: offline, without a cached answer" in text
    assert "main.tf:3  < 5.2" in text
    assert "overrides ~> 4.0 of main.tf:9" in text
    assert "main.tf:3  ~> 5.0  module edge" in text
    assert "unknown: module network is not fetched" in text
    assert "`terraform get` fetches it" in text
    assert "4 of 4 added hashes not verified" in text


def test_the_age_and_the_page_of_a_release(samples: Samples) -> None:
    change = samples.change()
    text = shown(samples, replace(change, evidence=Evidence(released="2026-11-20", days=1)))
    assert "RELEASED     2026-11-20  1 day ago, reported by the registry" in text
    assert "PAGE         https://registry.terraform.io/providers/hashicorp/aws/5.2.0" in text
    source = "https://github.com/hashicorp/terraform-provider-aws"
    assert f"SOURCE       {source}" in shown(samples, replace(change, evidence=Evidence(source=source)))
    assert "SOURCE" not in text
    unknown = shown(samples, replace(change, address=samples.address("acme/demo", host="corp.example")))
    assert "PAGE" not in unknown
    assert "RELEASED" not in unknown


def test_the_configuration_may_not_be_read_yet(samples: Samples) -> None:
    assert "configuration not read yet" in shown(samples, samples.change())


def test_nothing_requires_it(samples: Samples) -> None:
    assert "no requirement in the configuration" in shown(
        samples, samples.change(), configuration=samples.configuration()
    )


def test_hashes_are_short_until_they_are_asked_for_whole(samples: Samples) -> None:
    change = replace(samples.change(), added=(HashFact("zh:" + "a" * 64, "linux_amd64", Proof.SIGNED),))
    review = samples.review(samples.root("r", [change]))
    short = texts(detail_lines(first_node(review), review))
    assert "+ zh:aaaaaaaaaa…  linux_amd64   signed" in short
    assert "signed" in short
    assert "1 added hash verified" in short
    assert "a" * 64 not in short
    whole = texts(detail_lines(first_node(review), review, in_full=True))
    assert "zh:" + "a" * 64 in whole
    assert "means" in texts(detail_lines(first_node(samples.full()), samples.full(), in_full=True))


def test_signers_are_shown_with_their_keys(samples: Samples) -> None:
    key = SigningKey(
        "A" * 40, ("Alice <alice@example.com>",), "RSA 4096", "2023-05-10", "2025-05-10", expired=True, revoked=False
    )
    change = replace(samples.change(), new_signer=Signer(Tier.SELF_SIGNED, (key,)))
    review = replace(
        samples.review(samples.root("r", [change])), hosts=(HostState("registry.terraform.io", asked=True),)
    )
    text = texts(detail_lines(first_node(review), review))
    assert "SIGNER       self-signed  only the registry vouches for this key" in text
    assert " ".join(["AAAA"] * 10) in text
    assert "  Alice <alice@example.com>" in text
    assert "RSA 4096, created 2023-05-10, EXPIRED 2025-05-10" in text


def test_a_group_lists_its_roots(samples: Samples) -> None:
    bad = samples.change(findings=(samples.finding("LK005", Severity.BLOCK),))
    review = samples.review(samples.root("a", [samples.change()]), samples.root("b", [bad]))
    text = texts(detail_lines(first_node(review), review))
    assert "The same change in 2 roots" in text
    assert "BLOCK b  LK005" in text
    assert "in 1 of 2" in text


def test_a_group_says_where_a_finding_differs_between_its_roots(samples: Samples) -> None:
    def said(*messages: str) -> str:
        changes = (samples.change(findings=(samples.finding("LK009", Severity.WARN, words),)) for words in messages)
        review = samples.review(*(samples.root(f"r{number}", [one]) for number, one in enumerate(changes)))
        return texts(detail_lines(first_node(review), review)).split("FINDINGS")[1].split("VERSION")[0]

    assert "of them" not in said("linux_amd64 is missing", "linux_amd64 is missing")
    shown = said("linux_amd64 is missing", "darwin_arm64 is missing", "darwin_arm64 is missing")
    assert "in 3 of 3" in shown
    assert "in 2 of them: darwin_arm64 is missing" in shown
    assert "and in 2 other wordings, which x lists" in said(*(f"{one} is missing" for one in "abcdef"))


@pytest.mark.parametrize("roots", ["a", "ab"])
def test_two_findings_of_one_rule_are_shown_as_the_one_that_is_counted(samples: Samples, roots: str) -> None:
    found = tuple(samples.finding("LK002", Severity.BLOCK, words) for words in ("1 zh is foreign", "1 h1 is foreign"))
    review = samples.review(*(samples.root(name, [samples.change(findings=found)]) for name in roots))
    shown = texts(detail_lines(first_node(review), review)).split("FINDINGS")[1].split("VERSION")[0]
    assert review.severity_counts[Severity.BLOCK] == shown.count("LK002") == shown.count("->") == 1
    assert "1 zh is foreign" in shown
    assert "1 h1 is foreign" in shown


def test_what_is_accepted_in_one_root_is_not_called_accepted_in_all(samples: Samples) -> None:
    found = samples.finding("LK003", Severity.BLOCK)
    done = samples.change(findings=(replace(found, accepted=Accepted("checked")),), constraints=("", "~> 5.0"))
    review = samples.review(*(samples.root(name, [samples.change(findings=(found,))]) for name in "ab"))
    review = replace(review, roots=(samples.root("0", [done]), *review.roots))
    shown = texts(detail_lines(first_node(review), review)).split("FINDINGS")[1].split("VERSION")[0]
    counting, accepted = shown.split("in 2 of 3")
    assert "accepted" not in counting
    assert accepted.index("in 1 of 3") < accepted.index("accepted: checked")


def test_what_one_root_of_many_has_alone_is_not_to_be_looked_for(samples: Samples) -> None:
    """Equal words stood in each of twelve lines, between which one had to find the two that differ."""
    moved = samples.finding("LK027", Severity.WARN, "an entry at line 8", line=8)
    change = samples.change(findings=(moved,))
    assert change.new is not None
    other = replace(change, new=replace(change.new, constraints="~> 5.9"))
    later = replace(change, findings=(replace(moved, message="an entry at line 9"),))
    roots = [samples.root(f"teams/{number}", [later if number == 5 else change]) for number in range(6)]
    review = samples.review(*roots, samples.root("teams/9", [other]))
    shown = texts(detail_lines(first_node(review), review))
    listed = shown.split("IN 7 ROOTS")[1].split("HASHES")[0]
    assert listed.count("LK027") == 2
    assert listed.index("WARN  teams/9  LK027  constraints ") < listed.index("6: LK027  constraints ")
    assert all(f"WARN  teams/{number}\n" in listed for number in range(6))
    assert "an entry at line 8" in shown, "what the first root has, as all that is said of one root"
    assert "in 1 of them: an entry at line 9" in shown


def test_a_root_says_ok_of_no_change_before_its_facts_are_known(samples: Samples) -> None:
    change = replace(samples.change(), evidence=None)
    review = samples.review(samples.root("a", [change]))
    section = outline(review, Grouping.ROOT)[0]
    known, network = (texts(detail_lines(section, review, is_asking=is_asking)) for is_asking in (False, True))
    assert " …     " in network
    assert " ok " not in network
    assert " ok " not in known


def test_a_pending_acceptance_stands_below_its_finding(samples: Samples) -> None:
    bad, good = samples.change(findings=(samples.finding("LK005", Severity.BLOCK),)), samples.change()
    one = Acceptance("LK005", str(bad.address), bad.id, "checked with the vendor", "ann", line=7)
    review = replace(samples.review(samples.root("a", [good]), samples.root("b", [bad])), pending=(one,))
    text = texts(detail_lines(first_node(review), review))
    assert "pending acceptance: checked with the vendor (ann)" in text
    assert "locklens.toml:7: counts once it is committed on the base" in text
    assert "acceptance" not in texts(
        detail_lines(first_node(review), replace(review, pending=(replace(one, rule="LK004"),)))
    )


def test_both_sides_of_a_conflict(samples: Samples) -> None:
    review = samples.review(samples.root("merge", conflict=samples.conflict(), status=LockStatus.INVALID))
    text = texts(detail_lines(first_node(review), review))
    assert "ours HEAD" in text
    assert "theirs feature/new-aws" in text
    assert "version      5.1.0" in text
    assert "version      5.2.0" in text
    diff = texts(row_diff_lines(first_node(review)))
    assert '-  version     = "5.1.0"' in diff


def test_every_row_of_every_grouping_has_a_detail(samples: Samples) -> None:
    review = samples.full()
    for grouping in Grouping:
        for section in outline(review, grouping):
            for node in (section, *section.children, *(one for child in section.children for one in child.children)):
                for in_full in (False, True):
                    assert detail_lines(node, review, in_full=in_full), node.key


def test_every_kind_has_a_sentence(samples: Samples) -> None:
    for kind in ChangeKind:
        old, new = (
            (None, "1.0.0")
            if kind is ChangeKind.NEW_PROVIDER
            else ("1.0.0", None)
            if kind is ChangeKind.REMOVED
            else ("1.0.0", "1.1.0")
        )
        assert shown(samples, samples.change("acme/x", old, new, kind=kind, bump=None))


def test_the_raw_diff_of_a_change_and_of_a_root(samples: Samples) -> None:
    absent = samples.root(
        "r", [samples.change("acme/a"), samples.change("acme/b", None, "1.0.0", kind=ChangeKind.NEW_PROVIDER)]
    )
    section = outline(samples.review(replace(absent, old=replace(absent.old, exists=True))), Grouping.ROOT)[0]
    one = texts(row_diff_lines(next(node for node in section.children if node.title == "acme/a")))
    assert "--- a/r/.terraform.lock.hcl" in one
    assert '-  version     = "5.1.0"' in one
    assert '+  version     = "5.2.0"' in one
    assert "acme/b" not in one
    assert section.root is not None
    with_bytes = replace(
        section.root,
        old=replace(section.root.old, data=b"one\ntwo\n"),
        new=replace(section.root.new, data=b"one\r\ntwo\nthree"),
    )
    whole = texts(row_diff_lines(replace_node(section, root=with_bytes)))
    assert "-one" in whole
    assert "+one\r" in whole
    assert "+three" in whole
    added = texts(row_diff_lines(next(node for node in section.children if node.title == "acme/b")))
    assert added.startswith("--- a/r/.terraform.lock.hcl")  # the file was there, and did not have the provider
    alone = outline(samples.review(absent), Grouping.ROOT)[0]
    lines = texts(row_diff_lines(next(node for node in alone.children if node.title == "acme/b")))
    assert lines.startswith("--- /dev/null")


def test_the_diff_of_several_roots_names_them_and_begins_with_the_worst(samples: Samples) -> None:
    shared = samples.finding("LK023", Severity.BLOCK)
    harmless = samples.change(findings=(shared,))
    assert harmless.new is not None
    edited = replace(
        harmless,
        id="e" * 32,
        new=replace(harmless.new, hashes=(*harmless.new.hashes, "h1:edited=")),
        findings=(shared, samples.finding("LK002", Severity.BLOCK)),
    )
    roots = [samples.root(f"live/{name}", [harmless]) for name in ("a", "b", "c", "d")]
    review = samples.review(*roots, samples.root("live/z", [edited]))
    (group,) = (node for section in outline(review, Grouping.ROOT) for node in section.children)
    lines = [line.text for line in row_diff_lines(group)]
    heads = ["In live/z", "The same in 4 roots: live/a, live/b, live/c and 1 more"]
    assert [text for text in lines if text.startswith(("In ", "The same"))] == heads
    assert [index for index, text in enumerate(lines) if "h1:edited=" in text] < [lines.index(heads[1])]
    assert [text for text in lines if text.startswith("+++")] == [
        f"+++ b/live/{name}/.terraform.lock.hcl" for name in "za"
    ]
    assert texts(row_diff_lines(group.children[0])).startswith("--- "), "one root needs no lead"


def test_a_hunk_names_its_provider(samples: Samples) -> None:
    review = samples.review(
        samples.root("r", [samples.change("acme/a", "1.0.0", "1.0.0", kind=ChangeKind.REPLACED_HASHES)])
    )
    assert '@@ provider "registry.terraform.io/acme/a"' in texts(row_diff_lines(first_node(review)))


def test_copies_are_one_harmless_line_without_paths(samples: Samples) -> None:
    change = samples.change(findings=(samples.finding("LK003", Severity.WARN),))
    review = samples.review(samples.root("secret/path", [change]))
    assert change_copied(change) == "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0"
    assert node_copied(first_node(review)) == "registry.terraform.io/hashicorp/aws 5.1.0 -> 5.2.0 (LK003)"
    assert copied_line("a\nrm -rf /\x1b[31m\u202e") == r"$'a\012rm -rf /\033[31m\342\200\256'"
    assert "secret" not in node_copied(first_node(review))


def test_the_first_of_many_unfetched_modules_are_named_and_all_in_full(samples: Samples) -> None:
    names = tuple(f"m{number}" for number in range(9))
    change = samples.change(required_by=(samples.requirement(),))
    review = samples.review(samples.root("infra", [change], configuration=samples.configuration(missing=names)))
    for node in (first_node(review), outline(review, Grouping.ROOT)[0]):
        text = texts(detail_lines(node, review))
        assert "module m1 is not fetched" in text
        assert "module m2" not in text
        assert "7 more not fetched: x lists them, `terraform get` fetches them" in text
        assert "module m8 is not fetched" in texts(detail_lines(node, review, in_full=True))


def test_places_of_requirements_are_told_in_full_as_those_of_findings_are(samples: Samples) -> None:
    inside = replace(samples.requirement("~> 5.0"), file="infra/a/main.tf")
    outside = replace(samples.requirement(">= 4"), file="infra/modules/m/main.tf")
    review = samples.review(
        samples.root("infra/a", [samples.change(required_by=(inside, outside))], configuration=samples.configuration())
    )
    text = texts(detail_lines(first_node(review), review))
    assert "  infra/a/main.tf:3  ~> 5.0" in text
    assert "  infra/modules/m/main.tf:3  >= 4" in text


def test_what_of_a_configuration_was_not_read_is_named(samples: Samples) -> None:
    state = StateReading("remote", 'the state is in the "s3" backend (live/versions.tf:7)')
    configuration = replace(Configuration.absent("live", TERRAFORM), has_files=True, files=("live/a.tf",), state=state)
    root = replace(samples.root("live", [samples.change()]), configuration=configuration)
    review = samples.review(root)
    shown = "\n".join(line.text for line in detail_lines(outline(review, Grouping.ROOT)[0], review))
    assert "CONFIGURATION  all but the state, 1 file read" in shown
    assert 'not read: the state is in the "s3" backend (live/versions.tf:7)' in shown
    assert configuration_read(review) == "1 of 1 root, 1 without the state"


def test_a_root_says_that_others_call_it_as_a_module(samples: Samples) -> None:
    root = samples.root("modules/a", [samples.change()], status=LockStatus.ADDED)
    review = samples.review(replace(root, context=RootContext(callers=3)))
    assert "CALLED BY      3 roots, as a module" in texts(detail_lines(outline(review, Grouping.ROOT)[0], review))


def test_a_root_that_was_removed_lacks_no_configuration(samples: Samples) -> None:
    root = replace(
        samples.root("live", [samples.change()]),
        status=LockStatus.DELETED,
        configuration=Configuration.absent("live", TERRAFORM),
    )
    review = samples.review(root)
    shown = "\n".join(line.text for line in detail_lines(outline(review, Grouping.ROOT)[0], review))
    assert "CONFIGURATION  none: this is no root any more" in shown
    assert configuration_read(review) == "1 of 1 root"


async def test_a_group_shows_the_h1_of_each_variant(samples: Samples, running: Running) -> None:
    """The details were those of the first root, and each root had "1 h1"."""

    def locking(text: str) -> Change:
        change = samples.change(salt=text)
        assert change.new is not None
        new = replace(change.new, hashes=(text, *change.new.hashes))
        return replace(change, new=new, added=(HashFact(text), *change.added))

    h1 = {"a": "h1:" + "a" * 43 + "=", "b": "h1:" + "b" * 43 + "=", "c": "h1:" + "a" * 43 + "="}
    roots = [samples.root(name, [locking(text)]) for name, text in h1.items()]
    async with running(samples.review(*roots), size=(140, 60)) as on:
        await on.press("j", "l")
        assert [row.summary for row in on.changes.rows[2:]] == [f"1 h1, {text[:13]}…" for text in h1.values()]
        detail = "\n".join(line.text for line in on.detail.lines)
        assert "The same packages in 3 roots, in 2 variants: each has a mark of its own." in detail
        assert "one decision, one mark" not in detail
        assert "As in a and 1 other root:" in detail
        assert "As in b:" in detail
        assert all(f"+ {text[:13]}…" in detail for text in h1.values())


async def test_a_group_whose_roots_differ_has_no_root_s_numbers_for_all(samples: Samples, running: Running) -> None:
    def change(added: int, removed: int) -> Change:
        made = samples.change(new="5.1.0", kind=ChangeKind.CHANGED_HASHES, bump=None)
        facts = [
            tuple(HashFact(f"h1:{side}{number}") for number in range(many))
            for side, many in enumerate((added, removed))
        ]
        return replace(made, added=facts[0], removed=facts[1], kept=made.kept, id=f"{added}{removed}")

    roots = [samples.root(name, [change(*numbers)]) for name, *numbers in (("a", 1, 1), ("b", 2, 1), ("c", 3, 0))]
    async with running(samples.review(*roots), size=(140, 60)) as on:
        await on.press("j")
        assert on.changes.rows[1].summary == "+1..3 -0..1"
        detail = " ".join(line.text for line in on.detail.lines)
        assert "hashes were added and removed. Hashes: 1 h1 to 3 h1 added, none to 1 h1 removed" in detail


async def test_a_group_shows_the_constraints_of_all_its_roots(samples: Samples, running: Running) -> None:
    """Those of the first root stood for all; in the list nothing said which root has which."""
    kinds = {"a": "~> 5.0", "b": "~> 5.0", "c": "", "d": ">= 4.0"}
    roots = [samples.root(name, [samples.change(constraints=(text, text))]) for name, text in kinds.items()]
    async with running(samples.review(*roots), size=(140, 45)) as on:
        await on.press("j", "l")
        assert [(row.node.title, row.summary) for row in on.changes.rows[2:]] == [
            ("a", "constraints ~> 5.0"),
            ("b", "constraints ~> 5.0"),
            ("c", "constraints none"),
            ("d", "constraints >= 4.0"),
        ]
        assert any(" a " in text and " constraints ~> 5.0 " in text for text in on.lines)
        detail = "\n".join(line.text for line in on.detail.lines)
        assert "CONSTRAINTS  ~> 5.0  unchanged  in 2 roots\n             none  unchanged  in 1 root\n" in detail
        assert ">= 4.0  unchanged  in 1 root\n" in detail
        assert "The roots differ: constraints, as listed below." in detail


def test_the_words_in_full_are_those_of_the_case() -> None:
    altered = Finding("LK030", Severity.BLOCK, "not the signed one", "a/.terraform.lock.hcl", case="altered")
    rule, case = RULES["LK030"], wording_of(altered)
    full = "\n".join(line.text for line in finding_lines(altered, in_full=True))
    assert f"means    {case.meaning}" in full
    assert f"matters  {case.why}" in full
    assert rule.meaning not in full
    assert rule.why not in full
    usual = "\n".join(line.text for line in finding_lines(replace(altered, case=""), in_full=True))
    assert f"means    {rule.meaning}" in usual
