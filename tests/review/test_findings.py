"""Each rule that files alone can decide, on real lock files where there are such."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from kit.judging import root_of, settled_alone
from kit.pages import table
from kit.real_material import real_cases, shared_data
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.doctor.causes import CAUSES
from locklens.hashes import registry_manifests
from locklens.lockfile import LockFile
from locklens.lockfile.parse import parse
from locklens.policy import Policy
from locklens.policy.document import PolicyDocument
from locklens.project.configuration import (
    Configuration,
    ConfigurationProblem,
    Contributor,
    MissingModule,
    Requirement,
    StateReading,
)
from locklens.review import Proof
from locklens.review.case import Case
from locklens.review.changes import Comparer
from locklens.review.context import LockedPlace, RootContext
from locklens.review.evidence import trace, unasked_case
from locklens.review.findings import Finding, Severity
from locklens.review.health import CHECKS as HEALTH_CHECKS
from locklens.review.model import Change, ChangeKind, RootReview
from locklens.review.platform_agreement import builds_of
from locklens.review.rules import Verdict, agreement, release
from locklens.review.rules import change as change_rules
from locklens.review.rules.agreement import LockedPackages
from locklens.review.rules.catalogue import RULES, RuleSubject, explain_rule, wording_of
from locklens.review.rules.configuration import askers
from locklens.review.rules.judge import KnownVerdicts, judge, judge_change, judge_root, settle
from locklens.versions import Constraints

AWS = "registry.terraform.io/hashicorp/aws"
ZH = {digit: "zh:" + digit * 64 for digit in "0123456789abcdef"}
H1 = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
OTHER_H1 = "h1:BL7/qz3RbmG4bnAyiyR9tHZIq34F/e33neA6Snvhoo4="


def block(version: str, *hashes: str, constraints: str = "", label: str = AWS) -> str:
    lines = [f'  version = "{version}"']
    if constraints:
        lines = [f'  version     = "{version}"', f'  constraints = "{constraints}"']
    if hashes:
        lines += ["  hashes = [", *(f'    "{text}",' for text in sorted(hashes)), "  ]"]
    return f'\nprovider "{label}" {{\n' + "\n".join(lines) + "\n}\n"


def lock(*blocks: str, path: str = "lock.hcl") -> LockFile:
    text = f"{TERRAFORM.header}\n# Manual edits may be lost in future updates.\n" + "".join(blocks)
    return parse(text.encode(), path)


def judged(old: str, new: str) -> Change:
    (change,) = Comparer().compare(lock(old) if old else LockFile.absent("lock.hcl"), lock(new))
    return settled_alone(change)


def rules(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.rule for finding in findings]


def real(kind: str, number: str, name: str) -> LockFile:
    path = shared_data() / kind / number / f"{name}.lock.hcl"
    return parse(path.read_bytes(), path.name)


def test_a_conflict_in_the_version_alone_is_named() -> None:
    found = judge_root(root_of(new=real("conflicts", "0001", "merged")))
    assert found[0].message == f"{AWS} has the same hashes with 3.20.0 and with 3.24.1: one of them is wrong"


def real_change(number: str, kind: str) -> Change:
    changes = Comparer().compare(real("pairs", number, "old"), real("pairs", number, "new"))
    return settled_alone(next(change for change in changes if change.address.type == kind))


def test_hashes_that_were_added_under_one_version_are_unexplained() -> None:
    change = real_change("0001", "aws")
    (finding,) = change.findings
    assert (finding.rule, finding.severity) == ("LK027", Severity.WARN)
    assert finding.message == "1 h1 is not verified yet: the registry was not asked"
    assert change.new is not None
    assert finding.line == change.new.line_of(change.added[0].hash)


def test_replaced_hashes_say_that_nothing_is_left() -> None:
    finding = judged(block("1.0.0", ZH["0"], ZH["1"]), block("1.0.0", ZH["2"])).findings[0]
    assert finding.rule == "LK003"
    assert "1 zh added, 2 zh removed, and every package hash was replaced" in finding.message
    manifest = min(registry_manifests())
    finding = judged(block("1.0.0", ZH["0"], ZH["1"], manifest), block("1.0.0", ZH["2"])).findings[0]
    assert "1 zh added, 3 zh (2 of packages) removed, and every package hash was replaced" in finding.message
    finding = judged(block("1.0.0", ZH["0"], ZH["1"]), block("1.0.0", ZH["2"], manifest)).findings[0]
    assert "2 zh (1 of packages) added, 2 zh removed, and every package hash was replaced" in finding.message


@pytest.mark.parametrize("number", ["0056", "0095"])
def test_downgrades(number: str) -> None:
    assert "LK004" in rules(real_change(number, "aws").findings)


def test_major_versions() -> None:
    assert "LK013" in rules(real_change("0007", "tls").findings)
    assert "LK013" not in rules(judged(block("2.0.0", ZH["0"]), block("1.0.0", ZH["1"])).findings)


def test_moved_providers_name_where_they_were() -> None:
    changes = Comparer().compare(real("pairs", "0024", "old"), real("pairs", "0024", "new"))
    moved = next(change for change in changes if change.kind is ChangeKind.MOVED)
    findings = settled_alone(moved, OPENTOFU).findings
    assert [finding.message for finding in findings if finding.rule == "LK015"] == [f"moved from {AWS}"]


def test_prereleases() -> None:
    assert "LK016" in rules(judged(block("3.0.1", ZH["0"]), block("3.0.2-rc07", ZH["1"])).findings)
    assert "LK016" in rules(judged("", block("1.0.0-rc.5", ZH["1"])).findings)
    assert "LK016" not in rules(judged(block("3.0.2-rc07", ZH["0"]), block("3.0.2-rc07", ZH["0"], ZH["1"])).findings)


def test_hashes_that_can_never_match() -> None:
    findings = judged("", block("1.0.0", "h9:abc", "zh:00", H1)).findings
    odd = {finding.line: finding.message for finding in findings if finding.rule == "LK017"}
    assert odd == {
        8: "h9:abc has a scheme unknown to the tools",
        9: "zh:00 is not a valid digest and cannot match any package",
    }


def test_entries_without_anything_signed() -> None:
    assert "LK020" in rules(real_change("0011", "pagerduty").findings)
    assert "any download" in next(f.message for f in judged("", block("1.0.0")).findings if f.rule == "LK020")
    assert "LK020" not in rules(judged("", block("1.0.0", ZH["0"])).findings)


@pytest.mark.parametrize("version", ["1.0.0", "1.0.1"])
def test_the_last_hash_taken_out_of_an_entry_blocks(version: str) -> None:
    before = block("1.0.0", ZH["0"], ZH["1"])
    (found,) = (one for one in judged(before, block(version)).findings if one.rule == "LK020")
    assert found.severity is Severity.BLOCK
    assert found.message == "no hashes at all: any download will be accepted; 2 zh before"
    (never,) = (one for one in judged(block("0.9.0"), block(version)).findings if one.rule == "LK020")
    assert never.severity is Severity.WARN


@pytest.mark.parametrize("version", ["1.0.0", "1.0.1"])
@pytest.mark.parametrize(
    ("hashes", "words"),
    [
        (("x9:abcd",), "no hash that the tools compare: any download"),
        (("H1" + H1[2:],), "no hash that the tools compare: any download"),
        (("ZH" + ZH["0"][2:], "h1 " + H1[2:]), "no hash that the tools compare: any download"),
        (("\u200b" + H1,), "no hash that the tools compare: any download"),
        (("x9:abcd", "zh:00"), "no hash that can match a package"),
        (("h1:x",), "no hash that can match a package"),
    ],
)
def test_hashes_that_the_tools_do_not_compare_count_for_nothing(
    version: str, hashes: tuple[str, ...], words: str
) -> None:
    for before, end in ((block("1.0.0", ZH["0"], H1), "1 zh and 1 h1 before"), ("", "")):
        (found,) = (one for one in judged(before, block(version, *hashes)).findings if one.rule == "LK020")
        assert found.severity is Severity.BLOCK
        assert found.message.startswith(words)
        assert found.message.endswith(end)
    (never,) = (one for one in judged(block("0.9.0"), block(version, *hashes)).findings if one.rule == "LK020")
    assert never.severity is Severity.WARN


def test_a_hash_that_the_tools_compare_beside_others_counts() -> None:
    assert "LK020" not in rules(judged(block("1.0.0", H1), block("1.0.0", ZH["0"], "x9:a")).findings)
    (found,) = (one for one in judged("", block("1.0.0", H1, "x9:a")).findings if one.rule == "LK020")
    assert (found.severity, found.message[:13]) == (Severity.WARN, "only h1 hashe")


@pytest.mark.parametrize(
    ("number", "kind", "words"), [("0002", "helm", "no release in common"), ("0002", "kubernetes", "wider")]
)
def test_changed_constraints_are_compared_as_ranges(number: str, kind: str, words: str) -> None:
    assert words in next(finding.message for finding in real_change(number, kind).findings if finding.rule == "LK021")


def test_lost_platforms() -> None:
    finding = next(finding for finding in real_change("0010", "local").findings if finding.rule == "LK024")
    assert finding.message.startswith("11 h1 before, 1 now")
    assert "LK024" not in rules(judged(block("1.0.0", H1), block("2.0.0", OTHER_H1)).findings)
    malformed = judged(block("1.0.0", H1, OTHER_H1), block("2.0.0", "h1:short="))
    words = "2 h1 before, 0 well-formed now: a cache or an unpacked mirror no longer serves any platform"
    assert words in [finding.message for finding in malformed.findings]


def test_a_version_that_was_edited_by_hand() -> None:
    real_block = real("pairs", "0001", "old").entries[0]
    edited = replace(real_block, version=replace(real_block.version, patch=99))
    (change,) = Comparer().compare(
        LockFile("a", b"a", exists=True, writer=None, entries=(real_block,)),
        LockFile("b", b"b", exists=True, writer=None, entries=(edited,)),
    )
    finding = judge_change(change, root_of(change))[0]
    assert (finding.rule, finding.severity) == ("LK025", Severity.BLOCK)
    assert "exactly the hashes of 0.41.0" in finding.message


def test_one_forged_hash_does_not_hide_an_edited_version() -> None:
    change = judged(block("5.0.0", ZH["0"], ZH["1"], H1), block("5.1.0", ZH["0"], ZH["1"], OTHER_H1))
    finding = next(finding for finding in change.findings if finding.rule == "LK025")
    assert finding.message == "5.1.0 has 2 zh of 5.0.0: one of the two was edited, or merged from lines"
    assert finding.severity is Severity.BLOCK


def test_kept_hashes_that_are_signed_for_the_new_version_are_no_edit_of_it() -> None:
    (change,) = Comparer().compare(
        lock(block("5.0.0", ZH["0"], ZH["1"], H1)), lock(block("5.1.0", ZH["0"], ZH["1"], H1))
    )
    facts = [replace(one, proof=Proof.SIGNED if one.hash in ZH.values() else Proof.UNKNOWN) for one in change.kept]

    def messages(change: Change) -> list[str]:
        return [one.message for one in judge_change(change, root_of(change)) if one.rule == "LK025"]

    assert messages(replace(change, kept=tuple(facts))) == [], "the old entry is the one with hashes of the other"
    foreign = [one if one.hash != ZH["0"] else replace(one, proof=Proof.UNKNOWN) for one in facts]
    (words,) = messages(replace(change, kept=tuple(foreign)))
    assert words == "5.1.0 has 1 zh and 1 h1 of 5.0.0: one of the two was edited, or merged from lines"


def test_a_move_does_not_hide_replaced_hashes() -> None:
    look_alike = AWS.replace("hashicorp", "hashicrop")
    change = judged(block("5.0.0", ZH["0"]), block("5.0.0", ZH["1"], label=look_alike))
    assert change.kind is ChangeKind.MOVED
    assert "LK003" in rules(change.findings)
    same_packages = judged(block("5.0.0", ZH["0"]), block("5.0.0", ZH["0"], label=look_alike))
    assert "LK003" in rules(same_packages.findings), "they were locked for another provider"


def test_an_entry_with_an_error_is_neither_missing_nor_new() -> None:
    for version in ("5.2", "latest"):
        broken = lock(block(version, ZH["0"]))
        assert Comparer().compare(lock(block("5.2.0", ZH["0"])), broken) == ()
        found = held_against(configuration(requirement("aws")), broken)
        assert {one.rule for one in found.findings} == {"LK019"}


def test_a_removed_provider_earns_no_findings_of_its_own() -> None:
    (change,) = Comparer().compare(lock(block("1.0.0-beta")), lock())
    assert judge_change(change, root_of(change)) == ()


@pytest.mark.parametrize("case", real_cases("conflicts"))
def test_conflicts_block_and_name_their_lines(case: Path) -> None:
    for name in ("merged", "merged.diff3"):
        found = parse((case / f"{name}.lock.hcl").read_bytes(), "lock.hcl")
        lines = [number for number, line in enumerate(found.data.split(b"\n"), 1) if line.startswith(b"<<<<<<<")]
        findings = judge_root(root_of(new=found))
        assert [finding.line for finding in findings if finding.message.startswith("Conflict markers")] == lines
        assert {finding.rule for finding in findings} == {"LK019"}
        assert found.conflict is not None
        for side, file in ((found.conflict.ours, "ours"), (found.conflict.theirs, "theirs")):
            whole = parse((case / f"{file}.lock.hcl").read_bytes(), "lock.hcl")
            assert {entry.address for entry in side.entries} == {entry.address for entry in whole.entries}


@pytest.mark.parametrize("case", real_cases("derived"))
def test_other_formats_are_noted(case: Path) -> None:
    found = parse((case / "new.lock.hcl").read_bytes(), "lock.hcl")
    assert rules(judge_root(root_of(new=found))) in (["LK018"], [])
    assert judge_root(root_of(old=found, new=found)) == ()


def requirement(kind: str, constraint: str = "", line: int = 3) -> Requirement:
    return Requirement(
        address=TERRAFORM.parse_source(kind),
        constraint=constraint,
        constraints=Constraints.parse(constraint) if constraint else Constraints(),
        file="main.tf",
        line=line,
        module="",
        contributor=Contributor.REQUIRED_PROVIDERS,
        subject=kind,
        overrides=None,
    )


def configuration(*requirements: Requirement) -> Configuration:
    return Configuration(
        root="",
        dialect=TERRAFORM,
        has_files=True,
        requirements=requirements,
        missing_modules=(),
        problems=(),
        state=StateReading("none", ""),
        files=("main.tf",),
    )


def held_against(asked: Configuration, own: LockFile, *changes: Change) -> RootReview:
    """A root whose lock file did not change, but for the changes that are given."""
    return judge(root_of(*changes, old=own, new=own, configuration=asked))


MISSING = MissingModule("network", "acme/network/aws", "main.tf", 9, "the module is not installed")
BROKEN = ConfigurationProblem("main.tf", 4, 1, "Unsupported block type", "", is_error=True)


def test_a_locked_version_outside_of_the_constraints_blocks_with_the_place() -> None:
    excluding = replace(requirement("aws", "~> 6.0"), constraint_line=5)
    asked = configuration(excluding, requirement("aws", ">= 5", line=7))
    (finding,) = held_against(asked, lock(block("5.1.0", ZH["0"]))).findings
    assert (finding.rule, finding.severity, finding.file, finding.line) == ("LK005", Severity.BLOCK, "main.tf", 5)
    assert "`locklens upgrade NAME` moves that provider alone" in wording_of(finding).remedy
    assert finding.message == f"{AWS} 5.1.0 is locked and does not satisfy ~> 6.0 (main.tf:5)"


def test_a_locked_prerelease_that_nobody_names_blocks() -> None:
    (finding,) = held_against(configuration(requirement("aws", ">= 5")), lock(block("5.1.0-rc1", ZH["0"]))).findings
    assert finding.rule == "LK005"
    assert "no constraint names this version exactly" in finding.message


def test_what_is_required_and_not_locked_blocks() -> None:
    (finding,) = held_against(
        configuration(requirement("aws"), requirement("terraform.io/builtin/terraform")), lock()
    ).findings
    assert (finding.rule, finding.file, finding.line) == ("LK006", "main.tf", 3)


def test_of_a_required_provider_it_is_said_that_its_source_is_only_implied() -> None:
    implied = requirement("datadog")
    named, of_state = replace(implied, source_line=4), replace(implied, contributor=Contributor.STATE)
    for asked, case in (((implied,), "implied"), ((implied, named), ""), ((of_state,), "of init")):
        (finding,) = held_against(configuration(*asked), lock()).findings
        assert (finding.rule, finding.case) == ("LK006", case)
        assert finding.message.endswith("is not locked; no required_providers names its source") == (case == "implied")
        assert ("name its source in required_providers" in wording_of(finding).remedy) == (case == "implied")
        assert ("`providers lock` read neither" in wording_of(finding).remedy) == (case == "of init")


def test_what_nothing_requires_is_a_warning() -> None:
    (finding,) = held_against(configuration(), lock(block("5.1.0", ZH["0"]))).findings
    assert (finding.rule, finding.severity, finding.line) == ("LK007", Severity.WARN, 4)


@pytest.mark.parametrize(
    "asked",
    [
        replace(configuration(), missing_modules=(MISSING,)),
        replace(configuration(), problems=(BROKEN,)),
        replace(configuration(), state=StateReading("remote", "the state is in backend s3")),
    ],
)
def test_with_something_unread_it_cannot_be_said(asked: Configuration) -> None:
    (finding,) = held_against(asked, lock(block("5.1.0", ZH["0"]))).findings
    assert (finding.rule, finding.severity) == ("LK007", Severity.INFO)
    assert "could not determine" in finding.message


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (replace(configuration(), missing_modules=(MISSING,)), ["LK006"]),
        (replace(configuration(), state=StateReading("remote", "the state is in backend s3")), ["LK006"]),
        (configuration(), []),
    ],
)
def test_a_removed_provider_is_ok_only_where_it_is_known_that_nothing_requires_it(
    asked: Configuration, found: list[str]
) -> None:
    change = judged(block("5.1.0", ZH["0"]), "")
    other = block("3.0.0", ZH["1"]).replace(AWS, f"{TERRAFORM.default_host}/hashicorp/tls")
    findings = held_against(asked, lock(other), change).changes[0].findings
    assert rules(findings) == found
    for finding in findings:
        assert finding.severity is Severity.INFO
        assert wording_of(finding).title == "Not known whether the removed provider is required"


def test_a_doubt_has_not_the_title_of_a_certainty() -> None:
    asked = replace(configuration(), missing_modules=(MISSING,))
    (doubted,) = held_against(asked, lock(block("5.1.0", ZH["0"]))).findings
    (certain,) = held_against(configuration(), lock(block("5.1.0", ZH["0"]))).findings
    assert wording_of(doubted).title == "Not known whether it is required"
    assert wording_of(doubted).remedy.startswith("Keep it")
    assert wording_of(certain).title == RULES["LK007"].title


def test_findings_about_a_listed_change_go_to_the_change() -> None:
    change = judged(block("5.0.0", ZH["0"]), block("5.1.0", ZH["1"]))
    asked = configuration(requirement("aws", "5.0.0"))
    found = held_against(asked, lock(block("5.1.0", ZH["1"])), change)
    assert found.findings == ()
    assert rules(found.changes[0].findings) == ["LK005"]
    assert found.changes[0].required_by == (asked.requirements[0],)


def test_what_asks_for_a_provider_is_each_declaration_or_the_first_use() -> None:
    declared, used, again = requirement("aws"), requirement("aws", line=9), requirement("aws", line=12)
    used, again = (replace(one, contributor=Contributor.RESOURCE) for one in (used, again))
    child = replace(used, module="child")
    assert askers([declared, used, again, child, replace(child, line=20)]) == (declared, child)
    assert askers([used, again]) == (used,)


OPENTOFUS = AWS.replace(TERRAFORM.default_host, OPENTOFU.default_host)


@pytest.mark.parametrize("is_listed", [False, True])
def test_an_entry_that_opentofu_migrates_is_one_finding(is_listed: bool) -> None:
    """As `tofu init` does: the version of Terraform's entry holds for the provider of OpenTofu's registry."""
    asked = replace(
        configuration(replace(requirement("aws", "~> 5.0"), address=OPENTOFU.parse_source("aws"))), dialect=OPENTOFU
    )
    own = lock(block("5.1.0", ZH["0"]))
    changes = Comparer().compare(lock(block("5.0.0", ZH["1"])), own) if is_listed else ()
    root = held_against(asked, own, *changes)
    (finding,) = [one for one in root.all_findings if one.rule not in {"LK003", "LK021"}]
    assert (finding.rule, finding.severity, finding.line) == ("LK015", Severity.WARN, 4)
    assert f"tofu init moves {AWS} to {OPENTOFUS}: it keeps version 5.1.0, and none of the hashes" == finding.message
    assert all([one.line for one in change.required_by] == [3] for change in root.changes)
    assert "LK005" in rules(held_against(asked, lock(block("6.0.0", ZH["0"]))).findings), "the version is kept"


def test_what_opentofu_does_not_migrate() -> None:
    asked = replace(configuration(replace(requirement("aws"), address=OPENTOFU.parse_source("aws"))), dialect=OPENTOFU)
    both = lock(block("5.1.0", ZH["0"], label=OPENTOFUS), block("5.1.0", ZH["1"]))
    (orphan,) = held_against(asked, both).findings
    assert orphan.rule == "LK007", "the old entry is not used any more"
    assert orphan.message == f"OpenTofu does not require {AWS}: by its rules main.tf:3 requires {OPENTOFUS}"
    assert wording_of(orphan).title == "Locked for the other tool's registry"
    other = block("1.0.0", ZH["0"], label="registry.terraform.io/acme/aws")
    assert sorted(rules(held_against(asked, lock(other)).findings)) == ["LK006", "LK007"]
    under_terraform = configuration(replace(requirement("aws"), address=OPENTOFU.parse_source("aws")))
    assert sorted(rules(held_against(under_terraform, lock(block("5.1.0", ZH["0"]))).findings)) == ["LK006", "LK007"]


def test_a_folder_without_configuration_asks_for_nothing() -> None:
    assert held_against(replace(configuration(), has_files=False), lock(block("5.1.0"))).findings == ()


def test_roots_that_disagree_about_a_version() -> None:
    own = lock(block("5.1.0", ZH["0"], ZH["1"]), path="a/lock")
    (change,) = Comparer().compare(LockFile.absent("a/lock"), own)

    def found(*theirs: str) -> tuple[Finding, ...]:
        other = lock(block("5.1.0", *theirs), path="b/lock")
        context = RootContext(rivals=LockedPackages([own, other]).rivals([change]))
        return judge_change(change, root_of(change, context=context))

    (finding,) = found(ZH["0"], ZH["2"])
    assert (finding.rule, finding.severity) == ("LK023", Severity.BLOCK)
    assert "b/lock:4" in finding.message
    assert found(ZH["0"]) == ()


@pytest.mark.parametrize(("proof", "after", "is_found"), [
    (Proof.SIGNED, (ZH["0"], ZH["1"]), False), (Proof.UNKNOWN, (ZH["0"], ZH["1"]), True), (Proof.SIGNED, (), True),
])  # fmt: skip
def test_an_entry_that_the_same_change_makes_agree_is_no_rival_of_verified_ones(
    proof: Proof, after: tuple[str, ...], *, is_found: bool
) -> None:
    own = lock(block("5.1.0", ZH["0"], ZH["1"]), path="a/lock")
    (change,) = Comparer().compare(LockFile.absent("a/lock"), own)
    change = replace(change, added=tuple(replace(one, proof=proof) for one in change.added))
    wrong = lock(block("5.1.0", ZH["0"], ZH["2"]), path="b/lock")
    head = [own, lock(block("5.1.0", *after), path="b/lock")] if after else [own]
    context = RootContext(rivals=LockedPackages(head, [wrong]).rivals([change]))
    found = judge_change(change, root_of(change, context=context))
    assert ("LK023" in rules(found)) is is_found, "a root that was moved or deleted has no finding of its own"


def test_the_few_roots_that_differ_are_named() -> None:
    usual = [lock(block("5.1.0", ZH["0"], ZH["1"]), path=f"r{number}/lock") for number in range(4)]
    odd = lock(block("5.1.0", ZH["0"], ZH["2"]), path="odd/lock")
    locked = LockedPackages([*usual, odd])

    def message(one: LockFile, locked: LockedPackages) -> str:
        (change,) = Comparer().compare(LockFile.absent(one.path), one)
        few = locked.minority_of(one.entries[0])
        context = RootContext(rivals=locked.rivals([change]), minorities={change.address: few} if few else {})
        (finding,) = judge_change(change, root_of(change, context=context))
        return finding.message

    assert message(usual[0], locked).endswith("in odd/lock:4; 1 of 5 roots differs: odd")
    assert message(odd, locked).endswith("; 1 of 5 roots differs: odd")
    assert "differ:" not in message(odd, LockedPackages([usual[0], odd])), "of two, neither is the odd one"


def test_what_the_base_has_locked_elsewhere_counts() -> None:
    before, theirs = block("5.1.0", ZH["0"], ZH["1"]), block("5.1.0", ZH["0"], ZH["2"])
    own, gone = lock(theirs, path="b/lock"), lock(before, path="a/lock")
    (added,) = Comparer().compare(LockFile.absent("b/lock"), own)
    assert LockedPackages([own], [gone]).rivals([added]) == {added.address: (LockedPlace("a/lock", 4, True),)}
    (replaced,) = Comparer().compare(lock(before, path="b/lock"), own)
    assert LockedPackages([own], [lock(before, path="b/lock"), gone]).rivals([replaced]) == {}, "LK001 and LK003 judge"
    (upgraded,) = Comparer().compare(lock(block("5.0.0", ZH["3"]), path="b/lock"), own)
    assert upgraded.address in LockedPackages([own], [gone]).rivals([upgraded])


def test_each_set_of_packages_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[frozenset[str]] = []
    contradict = agreement._contradict

    def counted(one: frozenset[str], other: frozenset[str]) -> bool:
        compared.append(one)
        return contradict(one, other)

    monkeypatch.setattr(agreement, "_contradict", counted)

    def found(sets: int, roots: int) -> list[dict[ProviderAddress, tuple[LockedPlace, ...]]]:
        compared.clear()
        locks = [lock(block("5.1.0", f"zh:{at % sets:064x}"), path=f"{at}/lock") for at in range(roots)]
        locked = LockedPackages(locks)
        return [locked.rivals(Comparer().compare(LockFile.absent(one.path), one)) for one in locks]

    rivals = found(3, 30)
    assert len(compared) == 9
    assert all(len(places) == 6 for one in rivals for places in one.values()), "no more than are named"
    assert all(found(agreement.MAX_SETS + 1, agreement.MAX_SETS + 1)), "each counts as another than the rest"
    assert not compared


def test_judging_depends_neither_on_order_nor_on_what_was_found_before() -> None:
    old, new = real("pairs", "0002", "old"), real("pairs", "0002", "new")
    changes = Comparer().compare(old, new)
    asked = configuration(requirement("helm", "~> 99.0"), requirement("acme/none"))
    root = root_of(*changes, old=old, new=new, configuration=asked)
    cases = {one.address: case for one in changes if (case := unasked_case(one, TERRAFORM)) is not None}

    def settled(of: RootReview) -> RootReview:
        return replace(of, changes=tuple(settle(one, of, cases.get(one.address)) for one in of.changes))

    first_asked = judge(replace(settled(judge(replace(root, configuration=None))), configuration=asked), cases)
    first_required = settled(judge(root))
    assert first_asked == first_required == judge(first_required, cases)
    assert {"LK007", "LK021", "LK027"} <= {one.rule for change in first_asked.changes for one in change.findings}
    assert "LK006" in rules(first_asked.findings)


def test_equal_changes_of_many_roots_are_judged_once_and_as_if_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the lines of its own entry; what a root adds, as packages of its own, is judged for each."""
    odd = [f"zh:{digit * 64}" for digit in "12"] + ["zh:odd", H1]
    before, after = block("1.0.0", *odd, constraints="~> 1.0"), block("2.0.0-a", *odd[1:], constraints="~> 2.0")
    roots = []
    for number in range(6):
        other = block("1.0.0", ZH["3"], label="registry.terraform.io/acme/a") * (number % 2) + "# more\n" * number
        (change,) = Comparer().compare(lock(other, before), lock(other, after))
        context = RootContext(Policy(), has_packages=number == 5)
        roots.append(replace(root_of(change, context=context), lock_file=f"{number}/lock"))
    case = unasked_case(roots[0].changes[0], TERRAFORM)
    cases = {roots[0].changes[0].address: case} if case is not None else {}
    traced = [replace(root, changes=(trace(root.changes[0], case),)) for root in roots]
    alone = [
        judge(root, {root.changes[0].address: one} if (one := unasked_case(root.changes[0], TERRAFORM)) else {})
        for root in traced
    ]
    run = Counter[str]()
    checks = {rule: counting(run, rule, check) for rule, check in release.CHECKS.items()}
    monkeypatch.setattr(release, "CHECKS", checks)
    known = KnownVerdicts()
    assert [judge(root, cases, known) for root in traced] == alone
    assert set(run.values()) == {1}
    last_first = KnownVerdicts()
    assert [judge(root, cases, last_first) for root in reversed(traced)] == alone[::-1], "the case is of the first root"
    lines = [one.line for root in alone for one in root.changes[0].findings if one.rule == "LK017"]
    assert len(set(lines)) == len(roots), lines
    assert {"LK003", "LK016", "LK017", "LK021", "LK025"} <= set(rules(alone[0].changes[0].findings))


def test_a_check_whose_verdicts_are_shared_sees_what_the_changes_have_in_common(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (change,) = Comparer().compare(lock(block("1.0.0", ZH["1"])), lock(block("2.0.0", ZH["2"])))
    inside = replace(change, builds=builds_of({}))
    seen: list[Change] = []

    def of_change(one: Change, _: Policy) -> Iterator[Verdict]:
        seen.append(one)
        yield from ()

    def of_case(case: Case, policy: Policy) -> Iterator[Verdict]:
        yield from of_change(case.change, policy)

    monkeypatch.setattr(change_rules, "CHECKS", {"LK004": of_change})
    monkeypatch.setattr(release, "CHECKS", {"LK001": of_case})
    assert inside.key == change.key
    case = unasked_case(inside, TERRAFORM)
    assert case is not None
    KnownVerdicts().of(inside, Policy(), replace(case, change=inside))
    assert seen == [change, change]


def counting(
    run: Counter[str], rule: str, check: Callable[[Case, Policy], Iterator[Verdict]]
) -> Callable[[Case, Policy], Iterator[Verdict]]:
    def counted(case: Case, policy: Policy) -> Iterator[Verdict]:
        run[rule] += 1
        return check(case, policy)

    return counted


@pytest.mark.parametrize(
    "other",
    [
        block("2.0.0", ZH["2"], ZH["1"]).replace(
            f'    "{ZH["1"]}",\n    "{ZH["2"]}",', f'    "{ZH["2"]}",\n    "{ZH["1"]}",'
        ),
        block("2.0.0", ZH["1"], ZH["2"], constraints=">= 1.0"),
        block("2.0.0", ZH["1"], ZH["2"]).replace("  hashes", "\n  hashes"),
        block("2.0.0", ZH["1"]),
        block("2.0.1", ZH["1"], ZH["2"]),
    ],
)
def test_changes_that_differ_in_what_a_verdict_says_have_other_keys(other: str) -> None:
    old = lock(block("1.0.0", ZH["0"]))
    (usual,), (one,) = (Comparer().compare(old, lock(text)) for text in (block("2.0.0", ZH["1"], ZH["2"]), other))
    assert usual.key != one.key


def module_of(subject: RuleSubject) -> Any:
    return import_module(f"locklens.review.rules.{subject.value}")


def test_each_rule_is_checked_by_the_module_of_its_subject() -> None:
    for subject in RuleSubject:
        checks = module_of(subject).CHECKS
        # A change of the policy belongs to no root, so `judge_policy_change` runs this check.
        others = {"LK028"} if subject is RuleSubject.ROOT else set()
        assert set(checks) | others == {rule.id for rule in RULES.values() if rule.subject is subject}


def test_the_pages_list_rules_that_are_reported_with_their_severity() -> None:
    listed = {rule: severity for rule, severity, _ in table("| finding | severity | what happened |")}
    reported = {rule.id: rule.severity.value for rule in RULES.values()}
    assert len(listed) == 10
    assert listed.items() <= reported.items()


def test_every_rule_explains_itself() -> None:
    assert list(RULES) == [f"LK{number:03}" for number in range(1, len(RULES) + 1)]
    for rule in RULES.values():
        page = explain_rule(rule)
        assert page.startswith(f"{rule.id}  {rule.title}  ({rule.severity})")
        assert all(text in " ".join(page.split()) for text in (rule.meaning, rule.why, rule.check, rule.remedy))


def test_causes_and_checks_name_rules_of_the_catalogue() -> None:
    assert {rule for row in (*CAUSES, *HEALTH_CHECKS) for rule in row.rules} <= RULES.keys()


def test_lock_takes_entries_of_a_list_that_has_grown_and_restored_ones_alone() -> None:
    named = {(rule, case) for rule, entry in RULES.items() for case, words in entry.cases.items() if words.is_lockable}
    assert named == {("LK001", "grown"), ("LK001", "restored"), ("LK001", "edited")}
    assert all(RULES[rule].effect.refusal for rule, _ in named), "of other rules lock takes each entry"


UNCOUNTED = {"LK008", "LK028", "LK031", "LK035"}
"""Rules that need a base: without one, nothing of them can be said."""

UNVERIFIED = {"LK003", "LK027"}
"""Rules about hashes that are not verified, whose number stands in the health's verdict."""

OF_A_CHANGE = {"LK014", "LK016"}
"""Rules about what somebody selects: nothing has to be done where it was accepted with its change."""


def test_the_health_counts_every_rule_about_what_is_locked() -> None:
    counted = {rule for check in HEALTH_CHECKS for rule in check.rules}
    of_the_result = {rule for rule, entry in RULES.items() if not entry.effect.is_of_step}
    assert of_the_result - counted == UNCOUNTED | UNVERIFIED | OF_A_CHANGE
    assert not any(RULES[rule].effect.is_of_step for rule in counted)


def test_a_check_of_the_health_names_the_policy_field_that_it_asks() -> None:
    """Where the field is not set, nobody asks: "0 roots" would read as a result."""
    checks = {rule: check for subject in RuleSubject for rule, check in module_of(subject).CHECKS.items()}
    for row in HEALTH_CHECKS:
        text = "".join(inspect.getsource(checks[rule]) for rule in row.rules)
        asked = {name for name in PolicyDocument.__struct_fields__ if f"policy.{name}" in text}
        assert asked == {row.asked_by} - {""}, row.id
