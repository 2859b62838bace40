"""A plan is reviewed before it is written: as it would be, by whom the last commit trusts."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.registries import environ_of
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault, FaultRule, Faults
from locklens.demo.registry import DemoRegistry
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import RunCancelledError
from locklens.operations.compare import open_git, open_locked
from locklens.operations.comparison import Base
from locklens.operations.health import HealthRequest, scan_health
from locklens.operations.merge import Preference
from locklens.operations.plan import FileChanges, Plan, PlannedFile, Scope
from locklens.operations.plan.review import PlanReview, review_plan
from locklens.operations.review.request import Progress, ReviewEvent, ReviewRequest
from locklens.operations.review.run import review, review_lock_files
from locklens.operations.write.apply import apply
from locklens.operations.write.lock import Lock
from locklens.operations.write.lock_edits import Format, Prune, restore
from locklens.operations.write.registry_source import RegistrySource
from locklens.operations.write.resolve import ResolveConflicts
from locklens.operations.write.undo import undo
from locklens.operations.write.upgrade import Upgrade
from locklens.releases import NetworkSettings
from locklens.review import Proof
from locklens.review.findings import Severity
from locklens.review.model import ChangeKind, LockStatus
from locklens.storage.cache import Cache

HOST = "registry.terraform.io"
LOCK = ".terraform.lock.hcl"


def requires(**constraints: str) -> str:
    lines = "".join(
        f'    {name} = {{ source = "acme/{name}", version = "{text}" }}\n' for name, text in constraints.items()
    )
    return f"terraform {{\n  required_providers {{\n{lines}  }}\n}}\n"


@pytest.fixture(scope="module")
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry() as running:
        yield running


@pytest.fixture
def environ(registry: DemoRegistry, tmp_path: Path) -> dict[str, str]:
    return environ_of(registry, tmp_path)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    for root in ("a", "b"):
        (top / root).mkdir(parents=True)
        (top / root / "main.tf").write_text(requires(demo="~> 1.4"))
        locked = [SampleLock(f"{HOST}/acme/demo", "1.4.1", "~> 1.4"), SampleLock(f"{HOST}/acme/netbox", "3.9.1")]
        (top / root / LOCK).write_bytes(lock_file(*locked))
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return top


def request(top: Path, environ: dict[str, str] | None, *, base: str | None = None, **options: object) -> ReviewRequest:
    network = NetworkSettings(environ, Cache.in_memory(), **options) if environ else None  # type: ignore[arg-type]
    return ReviewRequest(partial(open_git, top, base=Base(base)), network=network)


def plan_reviewed(plan: Plan, asked: ReviewRequest, **options: Any) -> PlanReview:
    """What comes of a plan that was made from the review of all that is locked."""
    comparison = asked.open()
    try:
        reviewed = review_lock_files(comparison, replace(asked, include_unchanged=True))
    finally:
        comparison.close()
    return review_plan(plan, asked, reviewed, **options)


@pytest.mark.parametrize("base", ["HEAD", "HEAD~"])
def test_a_moved_root_is_compared_with_the_entries_of_its_old_folder(
    top: Path, environ: dict[str, str], base: str
) -> None:
    (top / "live").mkdir()
    git(top, "mv", "a", "live/a")
    lock = top / "live" / "a" / LOCK
    lock.write_bytes(lock.read_bytes().replace(b'"1.4.1"', b'"1.5.0"').replace(b'"3.9.1"', b'"3.9.0"'))
    if base == "HEAD~":
        git(top, "commit", "-qam", "moved")
    asked = request(top, environ, base=base)
    for providers, left in ((("acme/demo",), 1), (("acme/demo", "acme/netbox"), 0)):
        plan = restore(Scope(top, ("live/a",)), [f"{HOST}/{name}" for name in providers], base)
        assert not plan.failures
        found = plan_reviewed(plan, asked)
        assert (found.still_differing, found.is_committed) == (left, base == "HEAD" and not left)
        rules = {one.rule for (one, *_) in found.review.distinct_findings()}
        assert rules == ({"LK004"} if base == "HEAD~" else set()), "the step from HEAD is a downgrade"


def test_a_root_of_which_the_old_folder_is_not_known_is_compared_as_in_the_review_after_it(
    top: Path, environ: dict[str, str]
) -> None:
    (top / "b" / LOCK).write_bytes((top / "b" / LOCK).read_bytes().replace(b'"1.4.1"', b'"1.5.0"'))
    git(top, "commit", "-qam", "b")
    for old, new in (("a", "yankee"), ("b", "zulu")):
        (top / old).rename(top / new)
        (top / new / LOCK).write_bytes((top / "yankee" / LOCK).read_bytes().replace(b'"1.4.1"', b'"1.4.2"'))
    plan = Prune(Scope(top, ("zulu",)), ("acme/netbox",)).plan()
    asked = request(top, environ)
    (planned,) = plan_reviewed(plan, asked).review.roots
    apply(plan.proposal)
    (real,) = (root for root in review(asked).roots if root.path == "zulu")
    assert [one.rule for one in planned.findings] == ["LK047"]
    assert (planned.renamed_from, planned.findings) == (real.renamed_from, real.findings)
    assert {change.id for change in planned.changes} <= {change.id for change in real.changes}


def test_an_error_of_the_configuration_that_head_does_not_have_is_judged_as_in_the_review_after_it(
    top: Path, environ: dict[str, str]
) -> None:
    (top / "a" / "main.tf").write_text(f"<<<<<<< HEAD\n{requires(demo='~> 1.4')}")
    asked = request(top, environ)
    plan = Prune(Scope(top, ("a",)), ("acme/netbox",)).plan()
    (planned,) = plan_reviewed(plan, asked).review.roots
    apply(plan.proposal)
    (real,) = review(asked).roots
    severities = [[one.severity for one in root.findings if one.rule == "LK041"] for root in (planned, real)]
    assert severities == [[Severity.BLOCK], [Severity.BLOCK]]


def test_an_upgrade_as_it_would_be(top: Path, environ: dict[str, str]) -> None:
    wanted = Upgrade(Scope(top, ("a",)), ("demo=1.5.0",))
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        plan = wanted.plan(supply)
    asked = request(top, environ)
    events: list[ReviewEvent] = []
    found = plan_reviewed(plan, asked, on_event=events.append)
    (root,) = found.review.roots
    (change,) = root.changes
    assert (root.path, change.kind, str(change.new and change.new.version)) == ("a", ChangeKind.UPGRADE, "1.5.0")
    assert change.new_signer is not None
    assert {fact.proof for fact in change.added if fact.hash.startswith("zh:")} == {Proof.SIGNED}
    assert root.configuration is not None
    assert (found.untouched, found.against, found.still_differing) == (1, "HEAD", 1)
    assert (found.has_others, found.is_committed) == (False, False)
    assert any(isinstance(event, Progress) for event in events)
    apply(plan.proposal)
    real = review(asked)
    assert [one.id for one in real.changes] == [change.id]
    assert [(one.rule, one.message) for one in real.findings] == [
        (one.rule, one.message) for one in found.review.findings
    ]


def test_a_plan_for_a_tool_is_judged_by_that_tool(top: Path, environ: dict[str, str]) -> None:
    where, short = Scope(top, ("a",), tool=OPENTOFU), "hashicorp/random"
    locked = SampleLock(f"{HOST}/{short}", "3.6.3", "~> 3.6")
    (top / "a/main.tf").write_text(requires(random="~> 3.6").replace("acme/", "hashicorp/"))
    (top / "a" / LOCK).write_bytes(lock_file(locked))
    git(top, "commit", "-qam", "a root of Terraform")
    asked = request(top, environ)
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        locking = Lock(where, (), (short,)).plan(supply)
    required = f"registry.opentofu.org/{short}"
    orphan = ("LK007", f"OpenTofu does not require {HOST}/{short}: by its rules a/main.tf:3 requires {required}")
    # Since HEAD, the removal of the old entry makes a move of both.
    moved = ("LK015", f"moved from {HOST}/{short}")
    for plan, kind, expected in ((locking, ChangeKind.NEW_PROVIDER, [orphan]), (None, ChangeKind.MOVED, [moved])):
        made = plan or Prune(where, (f"{HOST}/{short}",)).plan()
        found = plan_reviewed(made, asked).review
        assert [change.kind for change in found.changes] == [kind]
        assert [(one.rule, one.message) for one in found.findings if one.accepted is None] == expected
        apply(made.proposal)
        after = review(asked).roots[0].tool
        is_told = any(f"Review judges a/{LOCK} by those of {after.product}" in note for note in found.notes)
        assert is_told is (after is not OPENTOFU), found.notes
    found = plan_reviewed(undo(top), asked).review
    assert [(one.rule, one.message) for one in found.findings if one.accepted is None] == [orphan]


def test_a_layout_that_the_file_has_already_is_no_finding_of_the_plan(top: Path, environ: dict[str, str]) -> None:
    lock = top / "a" / LOCK
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    git(top, "commit", "-qam", "carriage returns")
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        plan = Upgrade(Scope(top, ("a",)), ("demo=1.5.0",)).plan(supply)
    (root,) = plan_reviewed(plan, request(top, environ)).review.roots
    (layout,) = (one for one in root.findings if one.rule == "LK018")
    assert str(layout.accepted) == "the work tree has it already"


def test_what_the_health_finds_of_an_entry_is_no_news_of_a_plan_that_leaves_it_so(
    top: Path, environ: dict[str, str]
) -> None:
    """The same version has other packages in another root; the plan adds an h1, which nobody verified."""
    for root, edition in (("a", ""), ("b", "first")):
        (top / root / LOCK).write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4", edition=edition)))
    git(top, "commit", "-qam", "two sets of packages")
    asked = request(top, environ)
    health = scan_health(HealthRequest(top, network=asked.network)).review
    before = (top / "b" / LOCK).read_bytes()
    added = before.replace(b"  hashes = [\n", b'  hashes = [\n    "h1:' + b"A" * 43 + b'=",\n')
    plan = Plan(FileChanges(top, (PlannedFile(f"b/{LOCK}", before, added),), (), ""))
    known = {one.rule: str(one.accepted) for one in review_plan(plan, asked, health).review.findings}
    assert (known["LK023"], known["LK027"]) == ("the work tree has it already", "None")
    # An entry that changed since that review is not the one that it is about.
    old = replace(health, roots=tuple(replace(root, new=replace(root.new, entries=())) for root in health.roots))
    known = {one.rule: str(one.accepted) for one in review_plan(plan, asked, old).review.findings}
    assert known["LK023"] == "None"


def test_what_is_taken_back_is_no_news(top: Path, environ: dict[str, str]) -> None:
    apply(Prune(Scope(top, ("a", "b"))).plan().proposal)
    found = plan_reviewed(restore(Scope(top, ("a", "b")), ["netbox"]), request(top, environ))
    assert [[change.kind for change in root.changes] for root in found.review.roots] == [[ChangeKind.UNCHANGED]] * 2
    assert {one.rule for one in found.review.findings} >= {"LK007"}
    assert (found.untouched, found.still_differing) == (2, 0)
    assert (found.has_others, found.is_committed) == (False, True), "there is nothing to commit, and no message for it"
    assert found.review.hosts[0].asked


def test_entries_of_committed_conflict_markers_are_counted_as_ours_has_them(top: Path, environ: dict[str, str]) -> None:
    ours, theirs = (lock_file(SampleLock(f"{HOST}/acme/demo", version, "~> 1.0")) for version in ("1.4.2", "1.5.0"))
    markers = b"<<<<<<< HEAD\n" + ours + b"=======\n" + theirs + b">>>>>>> theirs\n"
    (top / "a" / LOCK).write_bytes(markers)
    git(top, "commit", "-qam", "with its markers")
    for side, number in ((Preference.OURS, 0), (Preference.THEIRS, 1)):
        plan = ResolveConflicts(Scope(top, ("a",)), prefer=side).plan()
        assert plan_reviewed(plan, request(top, environ)).still_differing == number
    apply(plan.proposal)
    assert plan_reviewed(undo(top), request(top, environ)).still_differing == 0, "the markers are those of HEAD"


def test_what_was_committed_is_not_judged_again(top: Path, environ: dict[str, str]) -> None:
    old = SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4", edition="first")
    (top / "a" / LOCK).write_bytes(lock_file(old))
    git(top, "commit", "-qam", "before it was published again")
    (top / "a" / LOCK).write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4")))
    found = plan_reviewed(restore(Scope(top, ("a",)), ["demo"]), request(top, environ))
    (root,) = found.review.roots
    assert [change.kind for change in root.changes] == [ChangeKind.UNCHANGED]
    assert "LK001" in {one.rule for one in root.all_findings}
    assert {str(one.accepted) for one in root.all_findings} == {"HEAD has it already"}
    assert found.still_differing == 0


def test_a_migration_that_is_taken_back_is_judged_by_the_tool_before(top: Path, environ: dict[str, str]) -> None:
    here, there = f"{HOST}/acme/demo", "registry.opentofu.org/acme/demo"
    (top / "a" / LOCK).write_bytes(lock_file(SampleLock(here, "1.4.1", "~> 1.4")))
    git(top, "commit", "-qam", "one provider")
    (top / "a" / LOCK).write_bytes(lock_file(SampleLock(there, "1.4.1", "~> 1.4"), dialect=OPENTOFU))
    (top / "a" / "main.tf").write_text(requires(demo="~> 1.5"))
    plan = restore(Scope(top, ("a",)), [here, there])
    asked = request(top, environ)
    (root,) = plan_reviewed(plan, asked).review.roots
    assert root.tool is TERRAFORM
    told = {(one.rule, one.message) for one in root.all_findings if one.accepted is None}
    assert {rule for rule, _ in told} >= {"LK005"}
    assert "LK032" not in {one.rule for one in root.all_findings}, "the file is that of the base again"
    apply(plan.proposal)
    real = review(asked)
    assert {one for one in told if one[0] != "LK006"} == {(one.rule, one.message) for one in real.findings}
    assert git(top, "diff", "--name-only") == "a/main.tf"
    again = undo(top)
    (change,) = again.changes
    assert (str(change.address), change.kind) == (there, "move")
    assert plan_reviewed(again, asked).still_differing == 1, "a provider that moved is one, as in the review"


def test_the_signer_of_the_base_is_no_other_one(top: Path, environ: dict[str, str]) -> None:
    path = top / "a" / LOCK
    path.write_bytes(lock_file(SampleLock(f"{HOST}/elastic/ec", "0.12.2", "~> 0.12")))
    git(top, "commit", "-qam", "before another key signed")
    path.write_bytes(lock_file(SampleLock(f"{HOST}/elastic/ec", "0.12.4", "~> 0.12")))
    found = plan_reviewed(restore(Scope(top, ("a",)), ["ec"]), request(top, environ))
    (root,) = found.review.roots
    assert [change.kind for change in root.changes] == [ChangeKind.UNCHANGED]
    assert "LK010" not in {one.rule for one in root.all_findings}


def test_another_signer_of_the_base_is_one_that_it_has_already(top: Path, tmp_path: Path) -> None:
    path = top / "a" / LOCK
    path.write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4", edition="first")))
    git(top, "commit", "-qam", "before it was published again, signed by another key")
    path.write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4")))
    with DemoRegistry(faults=Faults((FaultRule(Fault.OTHER_SIGNER, f"{HOST}/acme/demo", "1.4.2"),))) as registry:
        found = plan_reviewed(restore(Scope(top, ("a",)), ["demo"]), request(top, environ_of(registry, tmp_path)))
    known = {one.rule: str(one.accepted) for one in found.review.findings}
    assert (known["LK001"], known["LK010"]) == ("HEAD has it already", "HEAD has it already")


def test_a_hash_that_the_way_back_removes_was_never_in_the_list(top: Path, environ: dict[str, str]) -> None:
    """A forged hash of the work tree does not make the committed entry one of a republished version."""
    path = top / "a" / LOCK
    text = path.read_text()
    first = text.index('"zh:')
    path.write_text(f'{text[:first]}"zh:{"5" * 64}"{text[first + 69 :]}')
    found = plan_reviewed(restore(Scope(top, ("a",)), ["demo"]), request(top, environ))
    assert found.review.changes == ()
    assert {one.rule for one in found.review.findings} & {"LK001", "LK002"} == set()


def test_the_entry_of_an_older_commit_is_judged_as_in_the_review_after_it(top: Path, environ: dict[str, str]) -> None:
    path = top / "a" / LOCK
    signed = path.read_text()
    first, second = re.findall('"zh:(.{64})"', signed)[:2]
    path.write_text(signed.replace(first, first[::-1]).replace(second, second[::-1]))
    git(top, "commit", "-qam", "edited")
    asked = request(top, environ)
    plan = restore(Scope(top, ("a",)), ["demo"], "HEAD~")
    (planned,) = (one for one in plan_reviewed(plan, asked).review.findings if one.rule == "LK001")
    back = plan_reviewed(restore(Scope(top, ("a",)), ["demo"], "HEAD~"), request(top, environ, base="HEAD~"))
    assert [(one.message, str(one.accepted)) for one in back.review.findings if one.rule == "LK001"] == [
        (planned.message, "HEAD has it already")
    ], "what is replaced is that of HEAD"
    apply(plan.proposal)
    (written,) = (one for one in review(asked).findings if one.rule == "LK001")
    assert written == planned
    assert (
        "1.4.1: 2 of 5 zh of packages of the old entry are not in the publisher's signed SHA256SUMS" in written.message
    )
    commit = git(top, "rev-parse", "HEAD~")[:12]
    assert f"; the change restores those that commit {commit} locks, which are all of the release" in written.message
    assert (written.severity, written.case) == (Severity.INFO, "restored")
    assert written.line == path.read_text().split("\n").index(f'provider "{HOST}/acme/demo" {{') + 1


def test_what_a_shallow_clone_lacks_is_not_said_to_be_in_no_earlier_commit(
    top: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    path = top / "a" / LOCK
    signed = path.read_bytes()
    first = re.findall(b'"zh:(.{64})"', signed)[0]
    for state in (signed.replace(first, first[::-1]), signed):
        path.write_bytes(state)
        git(top, "commit", "-qam", "edited, and repaired")
    for depth, is_cut in ((2, True), (3, False)):
        clone = tmp_path / str(depth)
        git(tmp_path, "clone", "-q", "--depth", str(depth), top.as_uri(), str(clone))
        (found,) = (one for one in review(request(clone, environ, base="HEAD~")).findings if one.rule == "LK001")
        words = "whether an earlier commit locked the hashes of the new entry is unknown"
        assert (words in found.message) == is_cut == ("git fetch --unshallow" in found.message)
        assert (found.severity is Severity.BLOCK) == is_cut


def test_hashes_that_only_the_branch_under_review_had_before_are_not_restored(
    top: Path, environ: dict[str, str]
) -> None:
    """Else a branch could lock a republished release, revert that, and lock it again."""
    path, old = top / "a" / LOCK, SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4", edition="first")
    before, republished = lock_file(old), lock_file(replace(old, edition=""))
    for state in (before, republished, before, republished):
        path.write_bytes(state)
        git(top, "commit", "-qam", "another state")
    for base, expected in (("HEAD~3", (Severity.BLOCK, "")), ("HEAD~", (Severity.INFO, "restored"))):
        (found,) = (one for one in review(request(top, environ, base=base)).findings if one.rule == "LK001")
        assert (found.severity, found.case) == expected, base


def test_the_part_of_a_release_that_an_earlier_commit_had_is_not_restored(top: Path, environ: dict[str, str]) -> None:
    """Else a package that was published again could come in two steps: its old hash goes, the new one is only added."""
    path = top / "a" / LOCK
    whole = path.read_text()
    first = whole.index('"zh:')
    without, forged = (whole[:first] + more + whole[first + 69 :] for more in ("", f'"zh:{"5" * 64}"'))
    for state in (without, forged, without):
        path.write_text(state)
        git(top, "commit", "-qam", "another state")
    (found,) = (one for one in review(request(top, environ, base="HEAD~")).findings if one.rule == "LK001")
    assert (found.severity, found.case) == (Severity.BLOCK, "unsure")


@pytest.mark.parametrize("base", ["HEAD", "HEAD~"])
def test_a_restored_version_below_that_of_head_is_a_downgrade_as_in_the_review_after_it(
    top: Path, environ: dict[str, str], base: str
) -> None:
    path = top / "a" / LOCK
    path.write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4")))
    git(top, "commit", "-qam", "newer")
    asked = request(top, environ)
    plan = restore(Scope(top, ("a",)), ["demo"], "HEAD~")
    (change,) = plan_reviewed(plan, request(top, environ, base=base)).review.changes
    assert "LK004" in {one.rule for one in change.findings if one.accepted is None}
    apply(plan.proposal)
    (real,) = review(asked).changes
    told = [replace(one, accepted=None) for one in change.findings]
    assert (real.id, list(real.findings)) == (change.id, told), "with those that the base of the review has already"


def test_the_way_back_to_hashes_that_are_no_longer_listed_is_told(top: Path, environ: dict[str, str]) -> None:
    old = SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4", edition="first")
    (top / "a" / LOCK).write_bytes(lock_file(old))
    git(top, "commit", "-qam", "before it was published again")
    new = SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4")
    (top / "a" / LOCK).write_bytes(lock_file(replace(old, more=new.hashes())))
    found = plan_reviewed(restore(Scope(top, ("a",)), ["demo"]), request(top, environ))
    assert "LK001" in {one.rule for one in found.review.findings}


def test_the_way_back_is_not_judged_as_the_crime(top: Path, environ: dict[str, str]) -> None:
    """An edit by hand is found where it was made: not in the restoration of what was committed, nor in its undo."""
    path = top / "a" / LOCK
    edited = path.read_bytes().replace(b'version     = "1.4.1"', b'version     = "1.5.0"')
    assert edited != path.read_bytes()
    path.write_bytes(edited)
    restored = restore(Scope(top, ("a",)), ["demo"])
    found = plan_reviewed(restored, request(top, environ))
    assert {one.rule for one in found.review.findings} & {"LK004", "LK025"} == set()
    apply(restored.proposal)
    path.write_bytes(edited)
    (top / "a" / "main.tf").write_text(requires(demo=">= 1.4.1"))
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        apply(Upgrade(Scope(top, ("b",)), ("demo=1.4.2",)).plan(supply).proposal)
        apply(Upgrade(Scope(top, ("b",)), ("demo=1.5.0",)).plan(supply).proposal)
    undone = undo(top)
    assert [change.kind for change in undone.changes] == ["downgrade"]
    found = plan_reviewed(undone, request(top, environ))
    assert "LK004" not in {one.rule for one in found.review.findings}, (
        "1.4.2 is not what HEAD has, and still the way back"
    )


@pytest.mark.parametrize("is_edit_restored", [False, True])
def test_a_restored_entry_with_the_same_hashes_is_told_from_an_edited_one_by_the_release_alone(
    top: Path, environ: dict[str, str], *, is_edit_restored: bool
) -> None:
    path, settings = top / "a" / LOCK, NetworkSettings(environ, Cache.in_memory())
    sound = path.read_bytes()
    edited = sound.replace(b'version     = "1.4.1"', b'version     = "1.4.2"')
    for state in (edited, sound) if is_edit_restored else (edited,):
        path.write_bytes(state)
        git(top, "commit", "-qam", "one of both was edited")
    commit = git(top, "rev-parse", "HEAD~").strip()
    plan = restore(Scope(top, ("a",)), ["demo"], commit)
    new, old = ("1.4.2", "1.4.1") if is_edit_restored else ("1.4.1", "1.4.2")
    words = f"{new} has exactly the hashes of {old}: one of the two was edited, or merged from lines"
    asked = request(top, None)
    (alone,) = (one for one in plan_reviewed(plan, asked).review.findings if one.rule == "LK025")
    assert (alone.severity, alone.accepted, alone.case) == (Severity.BLOCK, None, "restored")
    assert alone.message == f"{words}; its version and hashes are those of {commit[:12]}"
    online = replace(asked, network=settings)
    released = {one.rule for one in plan_reviewed(plan, online).review.findings}
    apply(plan.proposal)
    (told,) = (one for one in review(asked).findings if one.rule == "LK025")
    assert (told.message, told.case) == (words, "")
    assert ("LK025" in released) == is_edit_restored
    known = [(one.message, one.case) for one in review(online).findings if one.rule == "LK025"]
    told_by_release = f"{new} has 5 zh and 1 h1 of {old}, and its signed release has none of these zh"
    assert known == ([(told_by_release, "lent")] if is_edit_restored else [])


def test_the_hashes_of_two_versions_in_one_block_are_told_from_foreign_ones(top: Path, environ: dict[str, str]) -> None:
    path, settings = top / "a" / LOCK, NetworkSettings(environ, Cache.in_memory())
    ours, theirs = (SampleLock(f"{HOST}/acme/demo", version, "~> 1.4") for version in ("1.4.2", "1.5.0"))

    def found(base: str) -> dict[str, tuple[str, str]]:
        asked = replace(request(top, None, base=base), network=settings)
        return {one.rule: (one.message, one.case) for one in review(asked).findings if one.rule in {"LK002", "LK025"}}

    git(top, "checkout", "-qb", "theirs")
    path.write_bytes(lock_file(theirs))
    git(top, "commit", "-qam", "theirs")
    git(top, "checkout", "-qb", "ours", "HEAD~")
    path.write_bytes(lock_file(ours))
    git(top, "commit", "-qam", "ours")
    git(top, "checkout", "-q", "theirs")
    git(top, "merge", "-q", "--no-commit", "-s", "ours", "ours")
    path.write_bytes(lock_file(replace(theirs, more=ours.hashes())))
    commit = git(top, "rev-parse", "ours")[:12]
    foreign = "5 zh are not in the publisher's signed SHA256SUMS"
    lent = {"LK002": (f"{foreign}; that of 1.4.2, which commit {commit} locks, has them", "lent")}
    assert found("HEAD") == lent, "the other parent of a merge that is not committed yet"
    git(top, "commit", "-qam", "merged by hand")
    assert (found("HEAD^1"), found("HEAD~2")) == (lent, lent)
    words = "1.5.0 has 5 zh and 1 h1 of 1.4.2 beside its own, and its signed release has none of these zh"
    assert found("HEAD^2") == {"LK002": (f"{foreign}; that of 1.4.2 has them", "lent"), "LK025": (words, "lent")}
    path.write_bytes(lock_file(replace(ours, more=[f"zh:{'5' * 64}"])))
    git(top, "commit", "-qam", "what no release has, below another version")
    path.write_bytes(lock_file(replace(theirs, more=[f"zh:{'5' * 64}"])))
    assert found("HEAD^1^1") == {"LK002": (foreign.replace("5 zh are", "1 zh is"), "")}


def test_the_mend_of_an_entry_whose_version_was_edited_is_known_by_the_commit_before(
    top: Path, environ: dict[str, str]
) -> None:
    path = top / "a" / LOCK
    locked = path.read_bytes()
    edited = locked.replace(b'version     = "1.4.1"', b'version     = "1.4.2"')
    mended = lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4"))
    path.write_bytes(edited)
    git(top, "commit", "-qam", "edited by hand")
    path.write_bytes(mended)
    (found,) = (one for one in review(request(top, environ)).findings if one.rule == "LK001")
    commit = git(top, "rev-parse", "HEAD~")[:12]
    words = f"; commit {commit} locks them for 1.4.1, whose release has them: the old entry was edited"
    assert found.message.startswith("1.4.2: 5 of 5 zh of packages of the old entry are not in the publisher's signed")
    assert found.message.endswith(words)
    assert (found.severity, found.case) == (Severity.INFO, "edited")
    git(top, "commit", "-qam", "mended")
    path.write_bytes(edited)
    assert "edited" not in {one.case for one in review(request(top, environ)).findings}, "the way back"
    # Without one of its packages, which one that was published again would only add to.
    first = mended.index(b'"zh:')
    path.write_bytes(mended[:first] + mended[first + 69 :])
    (found,) = (one for one in review(request(top, environ, base="HEAD~")).findings if one.rule == "LK001")
    assert (found.severity, found.case) == (Severity.BLOCK, "")


def test_the_mend_of_an_edited_entry_is_not_certainly_a_republished_version(top: Path, environ: dict[str, str]) -> None:
    """Of the base's history, no commit has those hashes for another version; that of the branch does not count."""
    path = top / "a" / LOCK
    locked = path.read_bytes()
    path.write_bytes(locked.replace(b'version     = "1.4.1"', b'version     = "1.4.2"'))
    git(top, "commit", "-qa", "--amend", "-m", "edited by hand")
    path.write_bytes(locked)
    git(top, "commit", "-qam", "of the branch")
    path.write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4")))
    (found,) = (one for one in review(request(top, environ, base="HEAD~")).findings if one.rule == "LK001")
    lead = "1.4.2 was republished, or its old entry was edited: 5 of 5 zh of packages of the old entry are not in the"
    assert found.message.startswith(lead), found.message
    assert "; 1.4.1 is signed by " in found.message
    assert ", with these zh; locklens doctor tells whether" in found.message
    assert found.severity is Severity.BLOCK


def test_an_undo_is_judged_against_head_as_the_review_after_it(top: Path, environ: dict[str, str]) -> None:
    """The work tree was lower than HEAD before the upgrade that is undone, and another entry is lower all the time."""
    committed, lower = (SampleLock(f"{HOST}/acme/demo", version, "~> 1.4") for version in ("1.4.2", "1.4.1"))
    (top / "a" / LOCK).write_bytes(lock_file(committed, SampleLock(f"{HOST}/acme/netbox", "3.9.1")))
    git(top, "commit", "-qam", "newer")
    (top / "a" / LOCK).write_bytes(lock_file(lower, SampleLock(f"{HOST}/acme/netbox", "3.9.0")))
    asked = request(top, environ)
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        apply(Upgrade(Scope(top, ("a",)), ("demo=1.5.0",)).plan(supply).proposal)
    undone = undo(top)
    found = plan_reviewed(undone, asked)
    (change,) = found.review.changes
    apply(undone.proposal)
    assert change.kind is ChangeKind.DOWNGRADE
    assert "LK004" in {one.rule for one in change.findings if one.accepted is None}
    (real,) = (one for one in review(asked).changes if one.address == change.address)
    assert (real.id, real.findings) == (change.id, change.findings)
    assert (found.untouched, found.has_others, found.is_committed) == (1, True, False)
    assert [(str(one.old and one.old.version), one.kind) for one in found.uncommitted or ()] == [("1.4.2", "downgrade")]


def test_the_way_back_to_head_counts_the_findings_of_each_root_as_the_review_after_it(top: Path) -> None:
    """The entries are upgraded on disk as the configuration is, which the plan leaves as it is."""
    for root in ("a", "b"):
        (top / root / "main.tf").write_text(requires(demo="1.5.0"))
        newer = [SampleLock(f"{HOST}/acme/demo", "1.5.0", "1.5.0"), SampleLock(f"{HOST}/acme/netbox", "3.9.1")]
        (top / root / LOCK).write_bytes(lock_file(*newer))
    plan, asked = restore(Scope(top, ("a", "b")), ["demo"]), request(top, None)
    found = plan_reviewed(plan, asked)
    apply(plan.proposal)
    after = review(asked)
    listed = review(replace(asked, include_unchanged=True))
    assert [one.severity_counts[Severity.BLOCK] for one in (found.review, after, listed)] == [2, 2, 2]


@pytest.mark.parametrize("is_converted", [True, False], ids=["converted", "as it is"])
def test_line_ends_that_git_converts_are_no_change(top: Path, *, is_converted: bool) -> None:
    git(top, "config", "core.autocrlf", "true" if is_converted else "false")
    lock = top / "a" / LOCK
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    (top / "a/main.tf").write_bytes((top / "a/main.tf").read_bytes() + b"# one more line\n")
    (root,) = review(request(top, None)).roots
    assert root.status is (LockStatus.UNCHANGED if is_converted else LockStatus.MODIFIED)
    assert root.format_only is not is_converted
    assert any(finding.rule == "LK018" for finding in root.all_findings) is not is_converted


@pytest.mark.parametrize("is_committed", [False, True], ids=["of the checkout", "committed"])
def test_line_ends_of_a_checkout_are_judged_as_committed(top: Path, *, is_committed: bool) -> None:
    """The Preview and the review after it agree, and no filter of the repository is run for it."""
    lock = top / "a" / LOCK
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    if is_committed:
        git(top, "commit", "-qam", "as it is")
    git(top, "config", "core.autocrlf", "true")
    git(top, "config", "filter.own.clean", "touch ran; cat")
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/attributes").write_text("*.hcl filter=own\n")
    plan = Prune(Scope(top, ("a",))).plan()
    asked = request(top, None)
    preview = plan_reviewed(plan, asked)
    apply(plan.proposal)
    assert b"\r\n" in lock.read_bytes()
    for found in (preview.review, review(asked)):
        assert [one.kind for one in found.changes] == [ChangeKind.REMOVED]
        assert any(one.rule == "LK018" for one in found.roots[0].all_findings) is is_committed
    assert not list(top.rglob("ran"))


def test_a_file_as_git_checks_it_out_leaves_nothing_to_commit(top: Path) -> None:
    git(top, "config", "core.autocrlf", "true")
    lock = top / "a" / LOCK
    lock.write_bytes(b"# mine\r\n" + lock.read_bytes().replace(b"\n", b"\r\n"))
    plan = restore(Scope(top, ("a",)), ["demo"])
    assert plan.proposal.words == ("a: lines outside of the entries are restored",)
    assert plan_reviewed(plan, request(top, None)).is_committed
    git(top, "config", "core.autocrlf", "false")
    assert not plan_reviewed(plan, request(top, None)).is_committed


@pytest.mark.parametrize("is_new", [False, True])
def test_a_plan_on_top_of_an_uncommitted_change_is_judged_as_the_review_after_it(
    top: Path, environ: dict[str, str], *, is_new: bool
) -> None:
    """On disk, demo is already upgraded and has lost hashes, and netbox is lower; or git does not know the lock file."""
    lock = top / "a" / LOCK
    if is_new:
        git(top, "rm", "-q", "--cached", f"a/{LOCK}")
        git(top, "commit", "-qm", "without a lock file")
    higher, lower = SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4"), SampleLock(f"{HOST}/acme/netbox", "3.9.0")
    lines = lock_file(higher, lower).splitlines(keepends=True)
    lock.write_bytes(b"".join(line for line in lines if b'"h1:' not in line))
    asked = request(top, environ)
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        plan = Upgrade(Scope(top, ("a",)), ("demo=1.5.0",)).plan(supply)
    found = plan_reviewed(plan, asked)
    (change,) = found.review.changes
    kind, was = (ChangeKind.NEW_PROVIDER, None) if is_new else (ChangeKind.UPGRADE, "1.4.1")
    assert (change.kind, change.old and str(change.old.version)) == (kind, was)
    assert [(one.old and str(one.old.version), one.kind) for one in found.uncommitted or ()] == [
        (was, "add" if is_new else "upgrade")
    ]
    assert found.has_others, "netbox"
    apply(plan.proposal)
    (real,) = (one for one in review(asked).changes if one.address == change.address)
    assert (real.id, real.added, real.removed, real.findings) == (
        change.id,
        change.added,
        change.removed,
        change.findings,
    )


@pytest.mark.parametrize("is_health", [False, True])
def test_the_findings_of_an_edited_entry_that_the_plan_leaves_are_counted_apart(
    top: Path, environ: dict[str, str], *, is_health: bool
) -> None:
    lock = top / "a" / LOCK
    lock.write_text(lock.read_text().replace('"3.9.1"', '"3.9.0"'))
    asked = request(top, environ)
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        plan = Upgrade(Scope(top, ("a",)), ("demo=1.5.0",)).plan(supply)
    if is_health:
        found = review_plan(plan, asked, scan_health(HealthRequest(top, network=asked.network)).review)
    else:
        found = plan_reviewed(plan, asked)
    assert [change.address.type for change in found.review.changes] == ["demo"]
    (place, numbers), *others = found.known_findings.items()
    assert (place, others) == ("the work tree", [])
    assert numbers[Severity.BLOCK]
    apply(plan.proposal)
    counted = {severity: number for severity, number in review(asked).severity_counts.items() if number}
    assert Counter(found.review.severity_counts) + numbers == counted


def test_what_only_the_work_tree_has_of_an_entry_comes_with_the_plan(top: Path, environ: dict[str, str]) -> None:
    """The plan adds a hash to an entry that has an unknown one on disk, which no commit has."""
    lock = top / "a" / LOCK
    before = lock.read_bytes().replace(b"  hashes = [\n", b'  hashes = [\n    "zh:' + b"5" * 64 + b'",\n', 1)
    lock.write_bytes(before)
    asked = request(top, environ)
    added = before.replace(b"  hashes = [\n", b'  hashes = [\n    "h1:' + b"A" * 43 + b'=",\n', 1)
    plan = Plan(FileChanges(top, (PlannedFile(f"a/{LOCK}", before, added),), (), ""))
    found = plan_reviewed(plan, asked)
    assert {one.rule: str(one.accepted) for one in found.review.findings}["LK002"] == "None"
    assert not found.has_others, "no other entry differs from HEAD"


@pytest.mark.parametrize("is_health", [False, True])
def test_what_head_has_of_an_entry_is_no_news_of_an_undo(
    top: Path, environ: dict[str, str], registry: DemoRegistry, *, is_health: bool
) -> None:
    """The key of a release has expired, which HEAD has with one hash more."""
    lock = top / "a" / LOCK
    lock.write_bytes(lock_file(SampleLock(f"{HOST}/cloudflare/cloudflare", "4.51.0", "~> 4.40")))
    git(top, "commit", "-qam", "an expired key")
    lines = lock.read_bytes().splitlines(keepends=True)
    lock.write_bytes(b"".join(line for line in lines if b'"h1:' not in line))
    asked = request(top, environ)
    if is_health:
        asked = replace(asked, open=partial(open_locked, top))
    apply(Prune(Scope(top, ("a",))).plan().proposal)
    registry.faults.add(Fault.EXPIRED_KEY, f"{HOST}/cloudflare/cloudflare")
    found = plan_reviewed(undo(top), asked)
    registry.faults.clear()
    (change,) = found.review.changes
    assert (change.kind, len(change.added), len(change.removed)) == (ChangeKind.REMOVED_HASHES, 0, 1)
    assert {one.rule: str(one.accepted) for one in change.findings}["LK012"] == "HEAD has it already"


def test_an_undo_back_to_head_leaves_nothing_to_commit(top: Path, environ: dict[str, str]) -> None:
    (top / "a" / LOCK).write_bytes((top / "a" / LOCK).read_bytes().replace(b'"3.9.1"', b'"3.9.0"'))
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(environ, cache)) as supply:
        apply(Upgrade(Scope(top, ("a",)), ("demo=1.5.0",)).plan(supply).proposal)
    found = plan_reviewed(undo(top), request(top, environ))
    assert (found.uncommitted, found.is_committed, found.still_differing) == ((), False, 1)
    (root,) = found.review.roots
    assert [(one.kind, str(one.new and one.new.version)) for one in root.changes] == [(ChangeKind.UNCHANGED, "1.4.1")]
    assert [one for one in found.review.findings if one.accepted is None] == []


def test_what_was_committed_since_the_base_counts_in_a_plan_that_leads_back_to_it(
    top: Path, environ: dict[str, str]
) -> None:
    path = top / "a" / LOCK
    before, edited = path.read_bytes(), re.sub(b'"zh:.(.{63})"', rb'"zh:5\1"', path.read_bytes())
    path.write_bytes(edited)
    git(top, "commit", "-qam", "edited")
    path.write_bytes(before)
    for base, expected in (("HEAD", "HEAD has it already"), ("HEAD~", "None")):
        found = plan_reviewed(restore(Scope(top, ("a",)), ["demo"]), request(top, environ, base=base))
        assert {one.rule: str(one.accepted) for one in found.review.findings}["LK001"] == expected


def test_an_undo_that_makes_the_reviewed_change_again_is_judged_as_it_was(top: Path, environ: dict[str, str]) -> None:
    path = top / "a" / LOCK
    path.write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4", edition="first")))
    git(top, "commit", "-qam", "before it was published again")
    path.write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2", "~> 1.4")))
    asked = request(top, environ)
    reviewed = {(one.rule, one.message) for one in review(asked).findings if one.accepted is None}
    assert "LK001" in {rule for rule, _ in reviewed}
    apply(restore(Scope(top, ("a",)), ["demo"]).proposal)
    found = plan_reviewed(undo(top), asked)
    assert {(one.rule, one.message) for one in found.review.findings if one.accepted is None} == reviewed


def test_a_host_that_only_the_work_tree_names_is_not_asked(
    top: Path, environ: dict[str, str], registry: DemoRegistry
) -> None:
    evil = ProviderAddress("registry.evil.test", "acme", "demo")
    lock = top / "a" / LOCK
    before = lock.read_bytes()
    lock.write_bytes(before.replace(b"registry.terraform.io/acme/netbox", str(evil).encode()))
    plan = Format(Scope(top, ("a",))).plan()
    moved = PlannedFile(f"a/{LOCK}", lock.read_bytes(), lock.read_bytes().replace(b"3.9.1", b"3.9.0"))
    changed = Plan(FileChanges(plan.proposal.top, (moved,), (), "x"))
    found = plan_reviewed(changed, request(top, environ))
    assert [(host.host, host.asked) for host in found.review.hosts] == [("registry.evil.test", False)]


def test_an_edited_module_concerns_all_who_call_it(top: Path) -> None:
    (top / "m").mkdir()
    (top / "m/main.tf").write_text(requires(demo="~> 1.4"))
    for root in ("a", "b"):
        (top / root / "main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    new = requires(demo="~> 1.5").encode()
    file = PlannedFile("m/main.tf", (top / "m/main.tf").read_bytes(), new)
    found = plan_reviewed(Plan(FileChanges(top, (file,), (), "x")), request(top, None))
    assert {(root.path, root.status) for root in found.review.roots} == {
        ("a", LockStatus.UNCHANGED),
        ("b", LockStatus.UNCHANGED),
    }
    assert {one.rule for one in found.review.findings if one.severity is Severity.BLOCK} == {"LK005"}
    assert (top / "m/main.tf").read_text() == requires(demo="~> 1.4")


def test_uncommitted_changes_of_roots_that_call_an_edited_module_are_not_of_the_plan(top: Path) -> None:
    (top / "m").mkdir()
    (top / "m" / "versions.tf").write_text(requires(demo="~> 1.4"))
    for root in ("a", "b"):
        (top / root / "main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    git(top, "add", ".")
    git(top, "commit", "-qm", "modules")
    old = (top / "m" / "versions.tf").read_bytes()
    edit = PlannedFile("m/versions.tf", old, old.replace(b"1.4", b"1.5"))
    before = plan_reviewed(Plan(FileChanges(top, (edit,), (), "x")), request(top, None)).review
    lock = top / "b" / LOCK
    lock.write_bytes(lock.read_bytes().replace(b'"1.4.1"', b'"1.4.0"').replace(b'"3.9.1"', b'"3.8.0"'))
    after = plan_reviewed(Plan(FileChanges(top, (edit,), (), "x")), request(top, None)).review
    added = [[one.rule for one in found.findings if one.accepted is None] for found in (before, after)]
    assert added == [["LK005", "LK005"]] * 2
    assert not any(change.kind is not ChangeKind.UNCHANGED for change in after.changes)
    assert after.verdict == before.verdict


def test_the_last_commits_policy_counts(top: Path) -> None:
    (top / "locklens.toml").write_text('[platforms]\nlinux_amd64 = "CI"\n')
    git(top, "add", ".")
    git(top, "commit", "-qm", "policy")
    (top / "locklens.toml").write_text('[platforms]\nplan9_386 = "mine"\n')
    found = plan_reviewed(Prune(Scope(top, ("a",))).plan(), request(top, None))
    assert [str(one.platform) for one in found.review.policy.platforms] == ["linux_amd64"]


def test_files_that_come_and_go(top: Path) -> None:
    lock = top / "a" / LOCK
    data = lock.read_bytes()
    lock.unlink()
    plan = restore(Scope(top, ("a",)), ["demo", "netbox"])
    assert plan.proposal.files == (PlannedFile(f"a/{LOCK}", None, data),)
    found = plan_reviewed(plan, request(top, None))
    assert [(root.path, root.status) for root in found.review.roots] == [("a", LockStatus.UNCHANGED)]
    assert found.still_differing == 0
    apply(plan.proposal)
    assert lock.read_bytes() == data
    gone = plan_reviewed(undo(top), request(top, None))
    assert [(root.path, root.status) for root in gone.review.roots] == [("a", LockStatus.DELETED)]
    assert {change.kind for change in gone.review.changes} == {ChangeKind.REMOVED}
    assert gone.still_differing == 2


def test_a_plan_from_one_side_is_counted_against_the_commit(top: Path) -> None:
    """The Preview of an upgrade says the same from the health, which has no base, as from a review."""
    found = plan_reviewed(Prune(Scope(top, ("a", "b"))).plan(), ReviewRequest(partial(open_locked, top)))
    assert (found.against, found.still_differing) == ("HEAD", len(found.review.changes)) != ("HEAD", 0)


def test_without_git_and_before_the_first_commit(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "main.tf").write_text(requires(demo="~> 1.4"))
    entries = lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.1"), SampleLock(f"{HOST}/acme/netbox", "3.9.1"))
    (place / LOCK).write_bytes(entries)
    for is_git in (False, True):
        if is_git:
            git(place, "init", "-q")
        found = plan_reviewed(Prune(Scope(place)).plan(), ReviewRequest(partial(open_locked, place)))
        assert (found.against, found.still_differing, found.untouched) == ("", 0, 1)
        assert [change.kind for change in found.review.changes] == [ChangeKind.REMOVED]


def test_it_can_be_stopped(top: Path, environ: dict[str, str]) -> None:
    apply(Prune(Scope(top, ("a",))).plan().proposal)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(RunCancelledError):
        plan_reviewed(restore(Scope(top, ("a",)), ["netbox"]), request(top, environ), cancel=cancel)


def test_offline_nobody_is_asked(top: Path, environ: dict[str, str]) -> None:
    apply(Prune(Scope(top, ("a",))).plan().proposal)
    found = plan_reviewed(restore(Scope(top, ("a",)), ["netbox"]), request(top, environ, is_offline=True))
    assert found.review.offline
    assert not any(host.asked for host in found.review.hosts)
