"""What the Preview says, line by line, of plans made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from ui.conftest import Samples

from locklens.addresses import Platform
from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError, LockLensError, StaleLockFileError
from locklens.install.context import (
    FetchStarted,
    HashesObtained,
    PackageArriving,
    PackageHashed,
    ProviderFailed,
    QueryStarted,
)
from locklens.lines import FilePlace
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.lockfile.update import Tracking
from locklens.operations.plan import FileChanges, Plan, PlannedChange, PlannedFile
from locklens.operations.plan.review import PlanReview
from locklens.project.constraint_edits import ConstraintEdit
from locklens.review.findings import Severity
from locklens.review.model import ChangeKind, Evidence, HostState
from locklens.ui.phrases import DownloadRow, Downloads, download_lines, take_event
from locklens.ui.preview.detail import planned_lines, preview_detail, preview_status, raw_diff
from locklens.ui.preview.plan_pane import Group, items
from locklens.ui.preview.progress import PlanProgress, PlanStage, refusal
from locklens.versions import Version

LOCK = ".terraform.lock.hcl"
LINUX, MAC = Platform("linux", "amd64"), Platform("darwin", "arm64")


def planned(samples: Samples, *roots: str, name: str = "hashicorp/aws", **more: object) -> Plan:
    old, new = samples.entry(name, "5.1.0"), samples.entry(name, "5.2.0")
    changes = tuple(PlannedChange(root, samples.address(name), name, old, new) for root in roots)
    before, after = (render([entry], TERRAFORM) for entry in (old, new))
    files = tuple(PlannedFile(f"{root}/{LOCK}" if root else LOCK, before, after) for root in roots)
    words = tuple(f"{root}: moved" for root in roots)
    plan = Plan(FileChanges(Path("/top"), files, words, "locklens upgrade aws"), changes)
    return replace(plan, **more)


def said(standing: PlanProgress) -> str:
    return "\n".join(item.line.text for item in items(standing, 10.0))


def test_before_there_is_a_plan() -> None:
    standing = PlanProgress("Upgrade aws", PlanStage.PLANNING, roots=("a", "b/c"))
    assert said(standing).split("\n") == [
        "PLAN  Upgrade aws",
        "",
        "STEPS",
        "  ..  plan  2 roots  b/c",
        "  --  review  ",
        "  --  write  all files, all or none, on enter",
    ]
    assert refusal(standing) == "not ready: planning in progress"
    assert list(preview_detail(standing, None, in_full=False)) == []


def test_platforms_and_warnings(samples: Samples) -> None:
    plan = planned(samples, "a", "b", "c")
    locked = [(LINUX, MAC), (LINUX,), (LINUX, MAC)]
    changes = (replace(change, platforms=names) for change, names in zip(plan.changes, locked, strict=True))
    lost = Diagnostic(
        DiagnosticSeverity.WARNING, "", "1 platform is lost", "hashicorp/aws", hint="pass --platform", root="b"
    )
    notes = (Diagnostic.note("of interest", root="a"), lost)
    text = said(PlanProgress("x", PlanStage.REVIEWING, replace(plan, changes=tuple(changes), diagnostics=notes)))
    assert "      locks darwin_arm64, linux_amd64  in 2 roots\n      locks linux_amd64  in 1 root\n" in text
    warned = "WARNINGS\n  ! b: hashicorp/aws: 1 platform is lost\n     -> pass --platform\n\nNOTES\n  a: of interest"
    assert warned in text


def test_platforms_that_all_changes_share_are_said_once(samples: Samples) -> None:
    plan = planned(samples, "a", "b")
    other = replace(plan.changes[1], address=replace(plan.changes[1].address, type="other"))
    changes = tuple(replace(change, platforms=(LINUX, MAC)) for change in (plan.changes[0], other))
    text = said(PlanProgress("x", PlanStage.REVIEWING, replace(plan, changes=changes)))
    assert text.count("locks ") == 1
    assert text.split("\n")[1] == "      locks darwin_arm64, linux_amd64"


def test_providers_of_two_registries_can_be_told_apart(samples: Samples) -> None:
    plan = planned(samples, "a", "b")
    there = samples.address("hashicorp/aws", "registry.opentofu.org")
    plan = replace(plan, changes=(plan.changes[0], replace(plan.changes[1], address=there)))
    text = said(PlanProgress("x", PlanStage.REVIEWING, plan))
    assert "\n  ^ registry.terraform.io/hashicorp/aws  5.1.0 -> 5.2.0    a\n" in text
    assert "\n  ^ registry.opentofu.org/hashicorp/aws  5.1.0 -> 5.2.0    b\n" in text


def test_a_removal_has_its_own_sign_where_it_ends_a_move(samples: Samples) -> None:
    """Another provider of the name is in the file already, which together is a move since HEAD."""
    plan = planned(samples, "a")
    (change,) = plan.changes
    plan = replace(plan, changes=(replace(change, new=None),))
    moved = replace(samples.change("acme/aws"), kind=ChangeKind.MOVED, moved_from=change.address, old=change.old)
    review = samples.review(samples.root("a", [moved]))
    text = said(PlanProgress("x", PlanStage.READY, plan, PlanReview(review, 0)))
    assert "\n  - hashicorp/aws  remove 5.1.0  " in text


def test_packages_on_their_way(samples: Samples) -> None:
    downloads = (
        DownloadRow("aws 5.2.0 linux_amd64", 0.0, 1 << 20, 2 << 20),
        DownloadRow("aws 5.2.0 darwin_arm64", 0.0, ended=1.0, note="before, not downloaded"),
        DownloadRow("aws 5.2.0 windows_amd64", 0.0, note="asking"),
    )
    text = said(PlanProgress("Upgrade aws", PlanStage.PLANNING, downloads=downloads))
    assert "  ..  hash packages  1 of 3\n" in text
    assert "      aws 5.2.0 linux_amd64    #####.....  50 %  1.0 MiB of 2.0 MiB  102.4 KiB/s  10 s left\n" in text
    assert "      aws 5.2.0 darwin_arm64   hashed  before, not downloaded\n" in text
    assert "      aws 5.2.0 windows_amd64  asking\n" in text
    rows = [one.line for one in items(PlanProgress("Upgrade aws", PlanStage.PLANNING, downloads=downloads), 10.0)]
    assert {row.hanging for row in rows if row.text.startswith("      aws ")} == {8}, "right of the row's own start"


def test_steps_end_with_the_plan(samples: Samples) -> None:
    """No step is in progress beside "ready", and a failure that the plan names is not told twice."""
    words = "aws 5.2.0 for windows_amd64: it was republished"
    downloads = (
        DownloadRow("aws 5.2.0 linux_amd64", 0.0, 1 << 20, 2 << 20),
        DownloadRow("aws 5.2.0 darwin_arm64", 0.0, ended=1.0, note="before, not downloaded"),
        DownloadRow("aws 5.2.0 windows_amd64", 0.0, ended=1.0, problem=words),
        DownloadRow("tls 4.0.0 linux_amd64", 0.0, note="asking"),
        DownloadRow("dns 3.0.0 linux_amd64", 0.0, ended=1.0, problem="the disk is full"),
    )
    failures = tuple(Diagnostic.of(LockLensError(words), address=name, root="b") for name in ("aws", "tls"))
    plan = planned(samples, "a", diagnostics=failures)
    standing = PlanProgress("Lock aws in 3 roots", PlanStage.READY, plan, roots=("a", "b", "c"), downloads=downloads)
    text = said(standing)
    steps = text.split("STEPS")[1].split("FAILED: ")[0]
    assert "  !!  hash packages  1 of 5, 2 failed, 2 not tried\n" in steps
    assert "      aws 5.2.0 linux_amd64    stopped\n" in steps
    assert "      tls 4.0.0 linux_amd64    not tried\n" in steps
    assert "      aws 5.2.0 windows_amd64  FAILED  see below\n" in steps
    assert "FAILED  the disk is full" in steps
    assert "  ..  " not in steps
    assert "  !!  plan  3 roots, 1 failed\n" in steps
    assert "PLAN  1 provider, 1 of 3 roots, 1 file\n" in text, "one failed, and one needs no change"
    status = preview_status(standing, "")[0]
    assert "".join(piece.text for piece in status.right).startswith("  1 root failed ")


def test_a_plan_for_many_roots_is_told_once(samples: Samples) -> None:
    roots = [f"infra/{number}" for number in range(40)]
    edit = ConstraintEdit(FilePlace("m/versions.tf", 5), "~> 5.1.0", "~> 5.2.0")
    plan = planned(samples, *roots)
    plan = replace(plan, changes=tuple(replace(one, edits=(edit,)) for one in plan.changes))
    standing = PlanProgress("Upgrade aws", PlanStage.REVIEWING, plan, network="checking registries: 1 of 2 done")
    text = said(standing)
    assert text.startswith("PLAN  1 provider, 40 roots, 40 files\n  ^ hashicorp/aws  5.1.0 -> 5.2.0    40 roots\n")
    assert text.count("m/versions.tf:5  ~> 5.1.0 -> ~> 5.2.0") == 1
    assert "  ..  review  checking registries: 1 of 2 done\n" in text
    assert "RESULT\n  …\n" in text
    assert text.count(LOCK) == 40
    assert refusal(standing).startswith("not ready: review in progress")
    found = next(item.about for item in items(standing, 0.0) if "^ hashicorp/aws" in item.line.text)
    assert isinstance(found, Group)
    assert len(found.changes) == 40
    detail = [one.text for one in preview_detail(standing, None, in_full=False)]
    assert sum(one.endswith("to be changed") for one in detail) == 8
    assert detail[-1] == "32 more files: highlight one in the plan (tab), or press d for the full diff"
    assert sum(one.text.startswith("--- ") for one in raw_diff(plan.proposal.files)) == 40
    staged = "the whole lock file would be staged"
    others = (*(f"{root}: {staged}" for root in roots), "infra/1: another line", "no root: another line")
    text = said(replace(standing, plan=replace(plan, dry_run_words=(*map(str, plan.changes), *others))))
    assert f"\n  40 roots: {staged}\n  infra/1: another line\n  no root: another line\n" in text


def test_the_result(samples: Samples) -> None:
    plan = planned(samples, "a")
    change = samples.change(findings=(samples.finding("LK013", Severity.INFO), samples.finding("LK004", Severity.WARN)))
    change = replace(change, evidence=Evidence(problems=("it is down",)))
    other = HostState("registry.opentofu.org", True, error="no change is less known for that")
    review = replace(
        samples.review(samples.root("a", [change])),
        hosts=(other, HostState("registry.terraform.io", True, error="it is down")),
        limits=("gpg is missing",),
    )
    standing = PlanProgress("Upgrade aws", PlanStage.READY, plan, PlanReview(review, 3, "HEAD", 0))
    text = said(standing)
    assert "^ hashicorp/aws  5.1.0 -> 5.2.0  WARN  \n" in text
    assert "  3 entries unchanged\n" in text
    assert "  hashes: +4 -4   4 of 4 added hashes not verified\n" in text
    assert "  findings: 1 WARN  1 INFO  \n" in text
    assert text.index("LK004  Downgrade") < text.index("LK013  Major version")
    assert "  after this, no entry of these files differs from HEAD\n" in text
    alone = replace(plan, proposal=replace(plan.proposal, files=(PlannedFile("a/main.tf", b"", b"a\n"),)))
    assert "differs from HEAD" not in said(replace(standing, plan=alone)), "no lock file is written"
    assert "differs from HEAD\n  unknown: it is down\n  note: gpg is missing\n" in text
    assert "EQUIVALENT COMMAND\n  locklens upgrade aws\n" in text
    assert "COMMIT MESSAGE\n  Upgrade aws to 5.2.0 in a\n  \n  Lock-Review: 1 upgrade, 2 findings" in text
    assert refusal(standing) == ""
    detail = "\n".join(one.text for one in preview_detail(standing, None, in_full=False))
    assert "AS REVIEWED  a" in detail
    assert "Minor upgrade from 5.1.0 to 5.2.0." in detail
    assert "LK013" in detail


def test_more_findings_than_there_is_room_for(samples: Samples) -> None:
    findings = tuple(samples.finding(f"LK9{number:02}", Severity.INFO, f"word {number}") for number in range(12))
    review = samples.review(samples.root("a", [samples.change(findings=findings)]))
    text = said(PlanProgress("x", PlanStage.READY, planned(samples, "a"), PlanReview(review, 0)))
    assert "LK907" in text
    assert "LK908" not in text
    assert "        and 4 more findings" in text


def test_a_finding_is_counted_where_it_has_its_severity(samples: Samples) -> None:
    changes = [
        samples.change(f"acme/{name}", findings=(samples.finding("LK027", severity, file=f"{root}/{LOCK}"),))
        for root, name, severity in (
            ("a", "one", Severity.WARN),
            ("b", "two", Severity.INFO),
            ("c", "two", Severity.INFO),
        )
    ]
    review = samples.review(*(samples.root(root, [change]) for root, change in zip("abc", changes, strict=True)))
    text = said(PlanProgress("x", PlanStage.READY, planned(samples, "a"), PlanReview(review, 0)))
    assert "findings: 1 WARN  1 INFO" in text
    assert [line[:13] + line[-10:] for line in text.split("\n") if "LK027" in line] == [
        "  WARN  LK027rified yet",
        "  INFO  LK027in 2 files",
    ]


def test_what_failed_is_told_by_root(samples: Samples) -> None:
    down = LockLensError("the registry is down", hint="try later")
    own = ConfigurationError("it is broken", path="z/main.tf", line=3)
    diagnostics = (
        *(Diagnostic.of(down, address="aws", root=f"r{number}") for number in range(5)),
        Diagnostic.of(own, root="z"),
        Diagnostic.note("5.1.0 is the newest", address="hashicorp/tls", root="a"),
        Diagnostic.note("nothing to prune"),
    )
    text = said(PlanProgress("x", PlanStage.READY, planned(samples, "a", diagnostics=diagnostics)))
    assert "FAILED: these 6 roots are left unchanged\n" in text
    assert "  !! 5 roots: aws: the registry is down\n     -> try later\n" in text
    assert "  !! z/main.tf:3: it is broken\n" in text
    assert "NOTES\n  a: hashicorp/tls: 5.1.0 is the newest\n  .: nothing to prune\n" in text


@pytest.mark.parametrize(
    ("stage", "title", "words"),
    [
        (PlanStage.STALE, "NOT WRITTEN", "a file changed on disk after planning: r plans again"),
        (PlanStage.WRITING, "NOT WRITTEN", "writing in progress"),
        (PlanStage.FAILED, "NO PLAN", "no plan: r plans again, esc leaves"),
    ],
)
def test_why_it_cannot_be_written(samples: Samples, stage: PlanStage, title: str, words: str) -> None:
    plan = planned(samples, "a") if stage is not PlanStage.FAILED else None
    standing = PlanProgress("x", stage, plan, error=StaleLockFileError("it changed", path="a/b", hint="run it again"))
    assert refusal(standing) == words
    # What is being written cannot be cancelled any more.
    status = "".join(piece.text for piece in preview_status(standing, "")[0].right)
    assert ("esc cancels, nothing is written" in status) is (stage is not PlanStage.WRITING)
    assert f"{title}\n  !! a/b: it changed\n     -> run it again" in said(standing)


def test_nothing_to_write(samples: Samples) -> None:
    nothing = planned(samples)
    assert refusal(PlanProgress("x", PlanStage.READY, nothing)) == "nothing to write"
    failed = replace(nothing, diagnostics=(Diagnostic.of(LockLensError("no"), root="a"),))
    standing = PlanProgress("x", PlanStage.READY, failed)
    assert refusal(standing) == "nothing to write: the plan failed"
    assert "FAILED: this root is left unchanged\n  !! a: no\n" in said(standing)
    assert "write" not in said(standing).split("STEPS")[1].split("FAILED")[0]
    assert [one.text for one in preview_detail(standing, None, in_full=False)] == ["No file would change."]


def test_a_review_that_failed(samples: Samples) -> None:
    standing = PlanProgress("x", PlanStage.READY, planned(samples, "a"), review_error=LockLensError("git is gone"))
    assert "  not reviewed: git is gone\n" in said(standing)
    assert "  !!  review" in said(standing)
    assert refusal(standing) == ""


@pytest.mark.parametrize("text", ["[bold red]no[/]", "\x1b[31mred", "a\nb", "\u202e"])
def test_hostile_words_stay_one_line(samples: Samples, text: str) -> None:
    failed = Diagnostic.of(LockLensError(text), address=text, root=text)
    plan = planned(samples, "a", diagnostics=(Diagnostic.note(text, address=text, root=text), failed))
    standing = PlanProgress(text, PlanStage.READY, plan)
    assert text in said(standing)
    assert "\n" not in "".join(standing.message.split("\n\n"))


# The diff


def lines(file: PlannedFile, *, in_full: bool = False) -> list[str]:
    return [one.text for one in planned_lines(file, in_full=in_full)]


def entry(samples: Samples, version: str, *hashes: str) -> LockEntry:
    return samples.entry("hashicorp/aws", version, hashes=hashes)


def test_hashes_are_folded(samples: Samples) -> None:
    kept = "zh:" + "5" * 64
    old = entry(samples, "5.1.0", "h1:" + "A" * 43 + "=", "zh:" + "1" * 64, kept)
    new = entry(samples, "5.2.0", "h1:" + "B" * 43 + "=", "h1:" + "C" * 43 + "=", "zh:" + "2" * 64, kept)
    file = PlannedFile(f"a/{LOCK}", render([old], TERRAFORM), render([new], TERRAFORM))
    assert lines(file) == [
        f"a/{LOCK}  to be changed",
        "@@ line 2",
        "  # Manual edits may be lost in future updates.",
        "  ",
        '  provider "registry.terraform.io/hashicorp/aws" {',
        '-   version     = "5.1.0"',
        '+   version     = "5.2.0"',
        '    constraints = "~> 5.0"',
        "    hashes = [",
        "-     2 hashes of 5.1.0  1 zh and 1 h1",
        "+     3 hashes of 5.2.0  1 zh and 2 h1",
        "      … unchanged hashes",
        "    ]",
        "  }",
    ]
    assert f'+     "h1:{"B" * 43}=",' in lines(file, in_full=True)
    places = {one.text: one.place for one in planned_lines(file, in_full=False)}
    assert str(places['-   version     = "5.1.0"']) == f"a/{LOCK}:5"


def test_a_hunk_inside_a_block_is_named_by_it(samples: Samples) -> None:
    hashes = [f"zh:{number:064}" for number in range(9)]
    old, new = entry(samples, "5.1.0", *hashes[:8]), entry(samples, "5.1.0", *hashes)
    file = PlannedFile(LOCK, render([old], TERRAFORM), render([new], TERRAFORM))
    assert lines(file)[1:] == [
        '@@ provider "registry.terraform.io/hashicorp/aws"',
        "+     1 hash of 5.1.0  1 zh",
        "      … unchanged hashes",
        "    ]",
        "  }",
    ]


def test_new_removed_and_other_files() -> None:
    assert lines(PlannedFile("a.tf", None, b"a\n")) == ["a.tf  to be added", "+ a"]
    assert lines(PlannedFile("a.tf", b"a\n", None)) == ["a.tf  to be removed", "- a"]
    left_in_work_tree = planned_lines(PlannedFile("a.tf", b"a\n", None), " in git's index", in_full=False)
    assert next(left_in_work_tree).text == "a.tf  to be removed in git's index"
    odd = PlannedFile(LOCK, b"provider {\r\n", b'\xff"zh:00",\n"zh:01",\n')
    assert lines(odd)[0].endswith("to be changed")
    assert all(one.place is None for one in planned_lines(PlannedFile("a", None, b"x"), in_full=True))


# Events


def test_events_become_lines() -> None:
    downloads, version = Downloads(), Version.parse("5.2.0")
    take_event(downloads, QueryStarted("aws", "", False), 0.0)
    for platform in (LINUX, MAC):
        take_event(downloads, FetchStarted("aws", version, platform), 0.0)
    take_event(downloads, FetchStarted("aws", version, None), 0.0)
    take_event(downloads, FetchStarted("tls", version, LINUX), 0.0)
    assert [one.text for one in download_lines(downloads.in_order, 5.0)] == [
        "aws 5.2.0 linux_amd64   asking",
        "aws 5.2.0 darwin_arm64  asking",
        "tls 5.2.0 linux_amd64   asking",
    ]
    take_event(downloads, PackageArriving("aws", version, LINUX, 1 << 20, 4 << 20), 5.0)
    take_event(downloads, PackageArriving("aws", version, LINUX, 2 << 20, 4 << 20), 6.0)
    take_event(downloads, PackageHashed("aws", version, MAC, "signed", True), 6.0)
    take_event(downloads, ProviderFailed("tls", "Error", "tls 5.2.0 for linux_amd64: it is down", ""), 6.0)
    take_event(downloads, HashesObtained("aws", LINUX, Tracking.NEW_HASHES), 6.0)
    assert [one.text for one in download_lines(downloads.in_order, 6.0)] == [
        "aws 5.2.0 linux_amd64   #####.....  50 %  2.0 MiB of 4.0 MiB  2.0 MiB/s  1 s left",
        "aws 5.2.0 darwin_arm64  hashed  before, not downloaded",
        "tls 5.2.0 linux_amd64   FAILED  tls 5.2.0 for linux_amd64: it is down",
    ]
    assert (downloads.hashed, downloads.has_failed) == (1, True)
    take_event(downloads, FetchStarted("aws", version, MAC), 7.0)
    assert downloads.in_order[1].ended == 6.0
    take_event(downloads, PackageHashed("aws", version, LINUX, "signed", False), 7.0)
    assert next(one.text for one in download_lines(downloads.in_order, 9.0)) == (
        "aws 5.2.0 linux_amd64   hashed  2.0 MiB  1.0 MiB/s"
    )
    take_event(downloads, PackageHashed("aws", version, MAC, "signed", False, True), 8.0)
    assert [one.text for one in download_lines(downloads.in_order, 9.0)][1] == (
        "aws 5.2.0 darwin_arm64  reported  by the registry, not downloaded"
    )


def test_a_failure_of_a_whole_provider_is_that_of_all_its_packages() -> None:
    downloads, version = Downloads(), Version.parse("5.2.0")
    for platform in (LINUX, MAC):
        take_event(downloads, FetchStarted("aws", version, platform), 0.0)
    take_event(downloads, ProviderFailed("aws", "Error", "the registry is down", ""), 1.0)
    assert all(one.problem == "the registry is down" for one in downloads.in_order)


def test_what_is_not_known_of_a_change_is_named_below_it(samples: Samples) -> None:
    change = samples.change()
    unread = replace(change, address=samples.address("hashicorp/tls"), evidence=Evidence(problems=("it is down",)))
    review = samples.review(samples.root("a", [replace(change, evidence=Evidence()), unread]))
    standing = PlanProgress("x", PlanStage.READY, planned(samples, "a"), PlanReview(review, 0))
    detail = "\n".join(one.text for one in preview_detail(standing, None, in_full=False)).partition("AS REVIEWED")[2]
    aws, tls = detail.partition("hashicorp/tls")[::2]
    assert "? not all known hashicorp/aws" in aws
    assert "unknown  4 of 4 added hashes not verified" in aws
    assert "it is down" not in aws
    assert "unknown  it is down\n" in tls
    assert "? not all known" in said(standing)
    assert "unknown: it is down\n" in said(standing)
    assert "  hashes: +8 -8   8 of 8 added hashes not verified\n" in said(standing)
