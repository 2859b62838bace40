"""Lock files that git left in conflict, merged from the index's stages or from the markers."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from locklens.cli.main import main
from locklens.hashes import registry_manifests
from locklens.lockfile.parse import conflict_sides, parse
from locklens.operations.compare import open_git
from locklens.operations.health import HealthRequest, scan_health
from locklens.operations.merge import MergeSides, Preference, merge_sides
from locklens.operations.plan import Plan, Scope
from locklens.operations.plan.commit_message import commit_message
from locklens.operations.plan.review import known_findings, review_plan
from locklens.operations.review.opened import open_review
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.operations.write.apply import apply
from locklens.operations.write.resolve import ResolveConflicts
from locklens.operations.write.undo import undo
from locklens.project.git import Repository
from locklens.review.findings import Severity
from locklens.review.reports import text
from locklens.storage.journal import Journal

NAME = ".terraform.lock.hcl"
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.com")


def block(name: str, version: str, *hashes: str, constraints: str = ">= 1.0.0") -> str:
    lines = "".join(f'    "{text}",\n' for text in hashes)
    return (
        f'provider "registry.terraform.io/acme/{name}" {{\n  version     = "{version}"\n'
        f'  constraints = "{constraints}"\n  hashes = [\n{lines}  ]\n}}\n'
    )


def hashes(letter: str, *platforms: str) -> list[str]:
    return [*(f"h1:{one * 43}=" for one in platforms), f"zh:{letter * 64}"]


class Merging:
    """A repository in the middle of a merge of one lock file."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.lock = top / "infra" / NAME
        self.lock.parent.mkdir(parents=True)
        (self.lock.parent / "main.tf").write_text("")
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, status: int = 0) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(
            ("git", *AUTHOR, *words), cwd=self.top, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def commit(self, data: bytes) -> None:
        self.lock.write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-qm", "lock", "--allow-empty")

    def merge(self, base: bytes, ours: bytes, theirs: bytes, *options: str) -> None:
        """Commit three sides, and merge the last into the second, which leaves a conflict."""
        self.commit(base)
        self.git("switch", "-qc", "topic")
        self.commit(theirs)
        self.git("switch", "-q", "main")
        self.commit(ours)
        self.git(*options, "merge", "-q", "topic", status=1)
        assert b"<<<<<<<" in self.lock.read_bytes()

    def plan(self, *, newest: bool = False, prefer: Preference | None = None) -> Plan:
        return ResolveConflicts(Scope(self.top, ("infra",)), prefer=Preference.NEWEST if newest else prefer).plan()


@pytest.fixture
def merging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Merging:
    merging = Merging(tmp_path / "top")
    monkeypatch.chdir(merging.top)
    return merging


BASE = block("a", "1.0.0", *hashes("a", "A")) + "\n" + block("b", "1.0.0", *hashes("b", "B"))
OURS = block("a", "1.0.0", *hashes("a", "A", "M")) + "\n" + block("b", "1.0.0", *hashes("b", "B"))
THEIRS = block("a", "1.0.0", *hashes("a", "A", "W")) + "\n" + block("b", "1.0.0", *hashes("b", "B"))
UNITED = block("a", "1.0.0", *hashes("a", "A", "M", "W")) + "\n" + block("b", "1.0.0", *hashes("b", "B"))
NEWER = block("a", "1.1.0", *hashes("c", "C")) + "\n" + block("b", "1.0.0", *hashes("b", "B"))
NEWEST = block("a", "1.2.0", *hashes("d", "D")) + "\n" + block("b", "1.0.0", *hashes("b", "B"))


def new_data(plan: Plan) -> bytes:
    (file,) = plan.proposal.files
    assert file.new is not None
    return file.new


def test_of_a_file_that_is_not_merged_nothing_is_staged(merging: Merging) -> None:
    merging.merge(BASE.encode(), NEWER.encode(), NEWEST.encode())
    merging.lock.write_text(block("a", "1.2.0", *hashes("d", "D")))
    for expected in (set(), {"a", "b"}):
        opened = open_review(ReviewRequest(partial(open_git, merging.top)))
        assert {change.address.type for change in opened.draft.changes} == {"a", "b"}
        assert {address.type for _, address in opened.draft.staged} == expected
        opened.close()
        merging.git("add", "-A")


@pytest.mark.parametrize("command", ["prune", "format", "restore a", "lock", "upgrade nosuch"])
def test_a_command_that_a_conflict_stops_names_the_one_that_resolves_it(
    merging: Merging, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    merging.merge(BASE.encode(), NEWER.encode(), NEWEST.encode())
    for folder, root, named in (
        ("", "infra", "locklens merge --root infra merges both sides; entries that clash need --prefer"),
        (
            "infra",
            ".",
            ("locklens merge --root . " if command == "lock" else f"locklens -C {merging.top} merge --root infra "),
        ),
    ):
        monkeypatch.chdir(merging.top / folder)
        assert main([*command.split(), "--root", root], lambda request, view: 99) != 0
        assert f"hint: {named}" in capsys.readouterr().err


def test_hashes_of_both_sides_are_united(merging: Merging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    merging.merge(BASE.encode(), OURS.encode(), THEIRS.encode())
    before = merging.lock.read_bytes()
    for folder, words in (("infra", f"git add -- {NAME}"), ("..", f"git -C {merging.top} add -- infra/{NAME}")):
        monkeypatch.chdir(merging.top / folder)
        assert f"{words} then marks the conflict as resolved" in [remark.detail for remark in merging.plan().remarks]
    monkeypatch.chdir(merging.top)
    plan = merging.plan()
    assert new_data(plan) == UNITED.encode()
    assert plan.proposal.command == "locklens merge --root infra"
    assert [change.name for change in plan.changes] == ["acme/a"]
    details = [remark.detail for remark in plan.remarks]
    assert "the hashes of both sides are united" in details
    assert f"git add -- infra/{NAME} then marks the conflict as resolved" in details
    journal = Journal(tmp_path / "journal")
    apply(plan.proposal, journal=journal)
    assert merging.lock.read_bytes() == UNITED.encode()
    back = undo(merging.top, journal=journal)
    assert f"infra/{NAME}: the conflict is back" in back.proposal.words
    assert not any("removed" in words for words in (*back.proposal.words, *back.dry_run_words))
    apply(back.proposal, journal=journal)
    assert merging.lock.read_bytes() == before


MANIFESTS = [
    pytest.param(min(registry_manifests()), id="a known manifest"),
    pytest.param(f"zh:{'9' * 64}", id="a manifest that nobody knows"),
]


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_two_versions_may_have_a_registry_manifest_in_common(merging: Merging, manifest: str) -> None:
    """Most real upgrades keep one zh, that of the registry's manifest."""
    base, older, newer = (
        block("a", version, *hashes(letter, letter.upper()), manifest)
        for version, letter in (("1.0.0", "a"), ("1.1.0", "c"), ("1.2.0", "d"))
    )
    merging.merge(base.encode(), older.encode(), newer.encode())
    (clash,) = ResolveConflicts(Scope(merging.top, ("infra",))).clashes()
    assert str(clash.newest) == "1.2.0"
    assert new_data(merging.plan(newest=True)) == newer.encode()


def test_the_command_line_has_a_side_for_each_provider_of_each_root(tmp_path: Path) -> None:
    ours, theirs = Preference.OURS, Preference.THEIRS
    (tmp_path / "infra").mkdir()
    (tmp_path / "main.tf").touch()
    (tmp_path / "infra/main.tf").touch()
    for folder, names in ((tmp_path, (".", "infra")), (tmp_path / "infra", ("..", "."))):
        merge = ResolveConflicts(Scope(folder, names))
        selected = merge.settled_by({("", "acme/a"): ours, ("infra", "acme/a"): theirs, ("infra", "acme/b"): ours})
        first, second = selected.plan().proposal.command.split(" && ")
        assert first.endswith(f" merge --prefer=acme/a=ours --root {names[0]}")
        assert second.endswith(f" merge --prefer=acme/a=theirs --prefer=acme/b=ours --root {names[1]}")


SIDES = "--prefer ours or --prefer theirs takes the entry of that side"


def test_two_versions_clash_unless_the_newest_is_preferred(merging: Merging) -> None:
    merging.merge(BASE.encode(), NEWER.encode(), NEWEST.encode())
    plan = merging.plan()
    assert not plan.proposal.files
    (failure,) = plan.failures
    words = "two versions were selected: 1.1.0 in HEAD (ours), 1.2.0 in topic (theirs)"
    assert (failure.address, failure.detail) == ("acme/a", words)
    assert failure.hint == f"--prefer newest selects the newer version, {SIDES}"
    (clash,) = ResolveConflicts(Scope(merging.top, ("infra",))).clashes()
    assert str(clash.newest) == "1.2.0"
    plan = merging.plan(newest=True)
    assert new_data(plan) == NEWEST.encode()
    assert plan.proposal.command == "locklens merge --prefer newest --root infra"
    assert "1.2.0, the newer version" in [remark.detail for remark in plan.remarks]


def test_a_clash_of_comments_is_settled_by_no_version(merging: Merging) -> None:
    base, ours, theirs = (
        f"{block('a', '1.0.0', *hashes('a', 'A'))}\n# {words}\n{block('b', version, *hashes(version[2], 'A'))}".encode()
        for words, version in (("tested", "1.0.0"), ("tested by a", "1.1.0"), ("tested by b", "1.0.0"))
    )
    merging.merge(base, ours, theirs)
    (failure,) = merging.plan().failures
    assert (failure.detail.partition(":")[0], failure.hint) == ("the comments of both sides cannot be merged", SIDES)
    (failure,) = merging.plan(newest=True).failures
    assert failure.detail.endswith("; no version settles it: take the comments of one side")
    plan = ResolveConflicts(Scope(merging.top, ("infra",)), prefer=Preference.OURS).plan()
    assert new_data(plan) == ours
    assert commit_message(plan, None) == "Merge the lock file in infra"


def test_an_entry_that_one_side_removed_is_left_to_a_person(merging: Merging) -> None:
    merging.merge(BASE.encode(), NEWER.encode(), block("b", "1.0.0", *hashes("b", "B")).encode())
    for newest in (False, True):
        plan = merging.plan(newest=newest)
        assert not plan.proposal.files
        assert plan.failures[0].detail.startswith("one side removed it, the other changed it: 1.1.0 in HEAD (ours), ")
        assert plan.failures[0].hint == SIDES
        assert ("keep the entry of the other, or remove it" in plan.failures[0].detail) is newest
    selected: dict[tuple[str | None, str], Preference] = {(None, "acme/a"): Preference.NEWEST}
    plan = ResolveConflicts(Scope(merging.top, ("infra",)), prefer=Preference.OURS, selected=selected).plan()
    assert plan.failures[0].detail.endswith("keep the entry of the other, or remove it")


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_lock_file_that_one_side_removed_is_left_to_git(is_ours: bool, merging: Merging) -> None:
    """Its entries are in no conflict with those of no file: git's own commands keep it or remove it, whole."""
    sides = [NEWER.encode(), b""] if is_ours else [b"", NEWER.encode()]
    merging.commit(BASE.encode())
    for branch, data in zip(("topic", "main"), sides, strict=True):
        merging.git("switch", "-q", *(["-c", "topic"] if branch == "topic" else ["main"]))
        merging.lock.write_bytes(data)
        merging.git(*(["add", "-A"] if data else ["rm", "-qf", f"infra/{NAME}"]))
        merging.git("commit", "-qm", "side")
    merging.git("merge", "-q", "topic", status=1)
    removing, changing = ("our side", "the other side") if is_ours else ("the other side", "our side")
    words = f"{removing} of the merge removed this file, and {changing} changed it"
    for prefer in (None, *Preference):
        plan = merging.plan(prefer=prefer)
        (failed,) = plan.failures
        assert (plan.proposal.files, failed.words) == ((), f"infra/{NAME}: {words}")
        assert failed.hint == f"git rm -- infra/{NAME} removes it, git add -- infra/{NAME} keeps it as it is here"
    notes = review(ReviewRequest(partial(open_git, merging.top))).limits
    assert [one for one in notes if "not merged" in one] == [f"infra/{NAME} is not merged: {words}"]
    merging.git("add", f"infra/{NAME}")
    assert "there is no merge conflict" in merging.plan().failures[0].words


def test_a_provider_that_one_side_moved_is_one_change_as_in_the_review_after_it(merging: Merging) -> None:
    theirs = "\n".join(reversed(NEWEST.split("\n\n"))).replace("registry.terraform.io", "registry.opentofu.org")
    merging.merge(BASE.encode(), NEWER.encode(), theirs.encode())
    there = "registry.opentofu.org/acme/a"
    (failure,) = merging.plan(newest=True).failures
    assert failure.detail == (
        f"one side has it as {there} 1.2.0, the other changed it: 1.1.0 in HEAD (ours), removed in topic (theirs); "
        f"{there} stays at 1.2.0 with either side: locklens upgrade selects another version after the merge"
    )
    plan = merging.plan(prefer=Preference.THEIRS)
    assert [(str(one.address), one.kind) for one in plan.changes] == [
        ("registry.opentofu.org/acme/a", "move"),
        ("registry.opentofu.org/acme/b", "move"),
    ]
    request = ReviewRequest(partial(open_git, merging.top))
    found = review_plan(plan, request, review(request))
    apply(plan.proposal)
    assert (found.still_differing, len(review(request).changes)) == (2, 2)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_without_stages_the_markers_count_and_it_is_said(merging: Merging, style: str) -> None:
    merging.merge(BASE.encode(), OURS.encode(), THEIRS.encode(), "-c", f"merge.conflictStyle={style}")
    data = merging.lock.read_bytes()
    merging.git("add", "-A")
    plan = merging.plan()
    assert merging.lock.read_bytes() == data
    assert new_data(plan) == UNITED.encode()
    assert any("merged from the conflict markers" in remark.detail for remark in plan.remarks)


def test_markers_within_a_block_do_not_give_a_version_the_hashes_of_another(merging: Merging) -> None:
    # Only theirs changed the hashes, so git merged these lines without a conflict.
    base = block("a", "1.0.0", *hashes("a", "A"))
    ours, theirs = base.replace("1.0.0", "1.3.0", 1), block("a", "1.2.0", *hashes("d", "D"))
    merging.merge(base.encode(), ours.encode(), theirs.encode())
    merging.git("add", "-A")
    plan = merging.plan(newest=True)
    assert not plan.proposal.files
    assert plan.failures


def test_edits_since_the_merge_are_named(merging: Merging) -> None:
    merging.merge(BASE.encode(), OURS.encode(), THEIRS.encode())
    merging.lock.write_bytes(b"# mine\n" + merging.lock.read_bytes())
    assert any("edited since the merge" in remark.detail for remark in merging.plan().remarks)


def test_a_side_taken_in_the_work_tree_can_still_be_merged(merging: Merging) -> None:
    merging.merge(BASE.encode(), OURS.encode(), THEIRS.encode())
    merging.git("checkout", "-q", "--ours", "--", f"infra/{NAME}")
    assert new_data(merging.plan()) == UNITED.encode()


def test_what_is_in_no_conflict_is_refused(merging: Merging) -> None:
    merging.commit(BASE.encode())
    (failure,) = merging.plan().failures
    assert failure.detail.endswith("there is no merge conflict")
    merging.lock.write_bytes(BASE.encode() + b"<<<<<<< HEAD\n")
    (failure,) = merging.plan().failures
    assert "a marker stands here without its counterpart" in failure.detail


@pytest.mark.parametrize("style", ["merged.lock.hcl", "merged.diff3.lock.hcl"])
def test_real_conflicts(style: str) -> None:
    """No result has markers, and each is what the merge driver makes of the three files."""
    shared = os.environ.get("LOCKLENS_SHARED_DATA")
    if not shared:
        pytest.skip("needs LOCKLENS_SHARED_DATA")
    cases = sorted((Path(shared) / "conflicts").iterdir())
    assert cases
    for case in cases:
        data = (case / style).read_bytes()
        sides = conflict_sides(data)
        assert sides is not None
        for side in sides:
            assert b"<<<<<<<" not in side
            assert parse(side, "").conflict is None
        read = MergeSides(*((case / f"{name}.lock.hcl").read_bytes() for name in ("base", "ours", "theirs")))
        merged, _ = merge_sides(read, prefer=lambda _: Preference.NEWEST)
        assert merged.conflicts or parse(merged.data, "").is_valid, case.name


def test_it_is_reviewed_against_our_side_and_not_against_lines_that_git_merged(merging: Merging) -> None:
    """Ours changed only the version's line, so between the markers it has the hashes of theirs."""
    base = block("a", "1.0.0", *hashes("a", "A"), constraints=">= 0.9.0")
    ours, theirs = base.replace(">= 0.9.0", ">= 1.0.0"), block("a", "1.2.0", *hashes("d", "D"), constraints=">= 1.0.0")
    merging.merge(base.encode(), ours.replace('"1.0.0"', '"1.0.1"', 1).encode(), theirs.encode())
    plan = merging.plan(newest=True)
    request = ReviewRequest(partial(open_git, merging.top))
    reviewed = review(request)
    (root,) = review_plan(plan, request, reviewed).review.roots
    assert [str(change.old.version) for change in root.changes if change.old is not None] == ["1.0.1"]
    assert "LK025" not in {finding.rule for change in root.changes for finding in change.findings}


def test_what_is_merged_and_not_marked_as_resolved_is_not_merged_again(merging: Merging) -> None:
    merging.merge(BASE.encode(), NEWER.encode(), NEWEST.encode())
    apply(merging.plan(newest=True).proposal)
    again = merging.plan(newest=True)
    assert (again.proposal.files, again.proposal.words, again.changes) == ((), (), ())
    details = [remark.detail for remark in again.remarks]
    assert details[0] == "merged already"
    assert details[-1].endswith("then marks the conflict as resolved")


def test_without_stages_it_is_reviewed_against_the_commit(merging: Merging) -> None:
    """A side that is taken changes nothing of itself, but may be another version than that of the last commit."""
    merging.commit(BASE.encode())
    merging.lock.write_text(f"<<<<<<< HEAD\n{NEWER}=======\n{NEWEST}>>>>>>> topic\n")
    plan = ResolveConflicts(Scope(merging.top, ("infra",)), prefer=Preference.OURS).plan()
    request = ReviewRequest(partial(open_git, merging.top))
    found = review_plan(plan, request, review(request))
    assert commit_message(plan, None) == "Merge the lock file in infra"
    assert {str(change.old and change.old.version) for change in found.review.changes} == {"1.0.0"}
    apply(plan.proposal)
    added = {(one.rule, one.message) for one in found.review.findings if one.accepted is None}
    assert added
    assert added < {(one.rule, one.message) for one in review(request).findings}, "HEAD has the others"
    assert found.still_differing == 1


def test_health_and_review_judge_the_sides_of_the_index(merging: Merging, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the markers both versions have the hashes of theirs, which git merged; each side is whole."""
    base = block("a", "1.0.0", *hashes("a", "A"))
    theirs = block("a", "1.2.0", *hashes("d", "D"))
    merging.merge(base.encode(), block("a", "1.0.1", *hashes("a", "A")).encode(), theirs.encode())
    monkeypatch.chdir(merging.top)
    health = scan_health(HealthRequest(merging.top))
    (judged,), (reviewed,) = health.review.roots, review(ReviewRequest(partial(open_git, merging.top))).roots
    assert not any("has the same hashes" in one.message for one in judged.findings)
    assert [one.message for one in judged.findings] == [one.message for one in reviewed.findings]


def test_what_a_merge_brings_is_not_said_to_be_on_disk(merging: Merging) -> None:
    """The file between its markers has no entries, so that nothing is found there about them before the merge."""
    (merging.top / "infra" / "main.tf").write_text('module "far" { source = "acme/far/aws" }\n')
    merging.merge(BASE.encode(), NEWER.encode(), NEWEST.encode())
    request = ReviewRequest(partial(open_git, merging.top))
    found = review_plan(merging.plan(newest=True), request, review(request)).review
    assert [*known_findings(found)] == ["HEAD"]
    assert {one.accepted and one.accepted.already_in for one in found.findings if one.rule == "LK007"} == {"HEAD"}


def test_the_undo_of_a_merge_counts_the_entries_in_conflict_alone(merging: Merging, tmp_path: Path) -> None:
    merging.merge(BASE.encode(), NEWER.encode(), NEWEST.encode())
    journal = Journal(tmp_path / "journal")
    apply(merging.plan(newest=True).proposal, journal=journal)
    request = ReviewRequest(partial(open_git, merging.top))
    found = review_plan(undo(merging.top, journal=journal), request, review(request))
    assert (found.against, found.still_differing) == ("HEAD", 1)
    assert (found.review.severity_counts[Severity.BLOCK], found.known_findings) == (1, {}), "the markers come with it"


def test_the_undo_of_a_merge_does_not_count_what_git_merged_by_itself(merging: Merging, tmp_path: Path) -> None:
    """Our side alone changed b, and the lines between keep the changes apart: the file has b as HEAD has it."""
    between = "\n" + block("aa", "1.0.0", *hashes("9", "9")) + "\n"
    base, ours, theirs = (
        block("a", version, *hashes(letter, letter.upper())) + between + block("b", other, *hashes("b", "B"))
        for version, letter, other in (("1.0.0", "a", "1.0.0"), ("1.1.0", "c", "1.3.0"), ("1.2.0", "d", "1.0.0"))
    )
    merging.merge(base.encode(), ours.encode(), theirs.encode())
    assert merging.git("diff", "HEAD").count("\n@@") == 1
    journal = Journal(tmp_path / "journal")
    apply(merging.plan(newest=True).proposal, journal=journal)
    request = ReviewRequest(partial(open_git, merging.top))
    found = review_plan(undo(merging.top, journal=journal), request, review(request))
    assert (found.against, found.still_differing) == ("HEAD", 1)


def test_only_what_both_sides_changed_is_listed_as_a_conflict(merging: Merging) -> None:
    ours = NEWER.replace(block("b", "1.0.0", *hashes("b", "B")), block("b", "1.3.0", *hashes("e", "E")))
    merging.merge(BASE.encode(), ours.encode(), NEWEST.encode())
    found = review(ReviewRequest(partial(open_git, merging.top)))
    (conflict,) = (root.new.conflict for root in found.roots)
    assert conflict is not None
    assert [address.type for address, *_ in conflict.pairs] == ["a"]
    report = text.render(found)
    assert "  <> acme/a  HEAD (ours): 1.1.0 with 2 hashes; topic (theirs): 1.2.0 with 2 hashes" in report
    assert "  1 other provider without a conflict" in report
    assert "acme/b" not in report


def test_the_repository_is_opened_once_for_all_that_a_merge_asks(
    merging: Merging, monkeypatch: pytest.MonkeyPatch
) -> None:
    merging.merge(BASE.encode(), OURS.encode(), THEIRS.encode())
    merging.git("commit", "-qam", "with its markers")
    opened: list[Path] = []
    discover = Repository.discover

    def counted(folder: Path) -> Repository:
        opened.append(folder)
        return discover(folder)

    monkeypatch.setattr(Repository, "discover", counted)
    plan = merging.plan()
    assert new_data(plan) == UNITED.encode()
    assert any("of the parents of commit" in one.detail for one in plan.remarks)
    asked = "one finds the roots, one answers all about their lock files, and one says which of them git ignores"
    assert len(opened) == 3, asked


def test_a_merge_that_was_committed_with_its_markers_has_the_sides_of_its_parents(merging: Merging) -> None:
    """Git merged the version's line by itself, so between the markers both sides have that of theirs."""
    base = block("a", "1.2.0", *hashes("a", "A"))
    ours, theirs = block("a", "1.2.0", *hashes("a", "A", "B")), block("a", "1.1.0", *hashes("c", "C"))
    merging.merge(base.encode(), ours.encode(), theirs.encode())
    assert b'"1.2.0"' not in merging.lock.read_bytes()
    merging.commit(merging.lock.read_bytes())
    commit, parent = (merging.git("rev-parse", name)[:12] for name in ("HEAD", "HEAD^1"))
    (failure,) = merging.plan().failures
    assert failure.detail.startswith(
        "one side selected another version, the other changed the old entry: 1.2.0 in commit"
    )
    assert f" {parent} (ours), 1.1.0 in " in failure.detail, "HEAD is another commit now"
    plan = merging.plan(prefer=Preference.OURS)
    apply(plan.proposal)
    assert merging.lock.read_text() == ours
    assert f"the sides are those of the parents of commit {commit}" in [one.detail for one in plan.remarks]


def test_markers_that_were_edited_since_the_commit_are_what_there_is(merging: Merging) -> None:
    merging.merge(BASE.encode(), NEWER.encode(), NEWEST.encode())
    merging.commit(merging.lock.read_bytes())
    merging.lock.write_bytes(merging.lock.read_bytes() + b"# an edit\n")
    assert "merged from the conflict markers" in " ".join(one.detail for one in merging.plan(newest=True).remarks)
