"""Staging what was reviewed, held against git's own index, byte for byte."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.effort import effort
from kit.git import git
from kit.real_material import real_cases
from kit.repositories import put, repository
from kit.schemas import json_report
from msgspec.structs import replace
from operations.test_prune_restore_format import entry, lock

from locklens.cli.main import main
from locklens.errors import ConfigurationError, LockLensError, RepositoryError
from locklens.lockfile.parse import parse
from locklens.operations.compare import open_git
from locklens.operations.comparison import USUAL_SIDES, Base
from locklens.operations.plan import Plan
from locklens.operations.plan.review import review_plan
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.operations.write.apply import apply
from locklens.operations.write.stage import marked_blocks, named_blocks
from locklens.operations.write.undo import undo
from locklens.review.findings import Severity
from locklens.review.model import ChangeKind, Review
from locklens.review.reports import text
from locklens.storage.journal import Journal, WriteTarget
from locklens.ui.review.detail import row_diff_lines
from locklens.ui.review.outline import Grouping, outline

LOCK = ".terraform.lock.hcl"
OLD = lock(entry("aws"), entry("null"), entry("random"), entry("tls"))
NEW = lock(entry("archive"), entry("aws", "2.0.0"), entry("null"), entry("random", "3.0.0"))
"""archive came, aws and random are upgrades, tls went."""


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = repository(tmp_path / "top", {LOCK: OLD})
    put(top, {LOCK: NEW})
    monkeypatch.chdir(top)
    return top


def reviewing(top: Path, base: Base = USUAL_SIDES) -> Review:
    return review(ReviewRequest(lambda: open_git(top, base)))


def marks(found: Review, *names: str) -> set[str]:
    """Ids of the changes of some providers, of every change without names."""
    return {one.id for one in found.changes if not names or one.address.type in names}


def planned(top: Path, *names: str) -> Plan:
    found = reviewing(top)
    return marked_blocks(found, top, marks(found, *names)).plan()


def staged(top: Path, *names: str) -> Plan:
    plan = planned(top, *names)
    assert plan.failures == ()
    apply(plan.proposal)
    return plan


def index(top: Path, path: str = LOCK) -> bytes:
    command = ["git", "cat-file", "blob", f":{path}"]
    return subprocess.run(command, cwd=top, check=True, capture_output=True).stdout


def hunks(top: Path, *options: str) -> list[str]:
    """The changed lines of a diff, without its positions."""
    lines = git(top, "diff", *options).splitlines()
    return [line for line in lines if line[:1] in "+-" and not line.startswith(("+++", "---"))]


def said(data: bytes) -> dict[str, str]:
    found = parse(data, LOCK)
    assert found.problems == ()
    return {one.address.type: str(one.version) for one in found.entries}


def failures(plan: Plan) -> list[str]:
    return [one.sentence for one in plan.failures]


# The configuration of the next commit


def requiring(constraint: str) -> bytes:
    return f'terraform {{\n  required_providers {{\n    aws = "{constraint}"\n  }}\n}}\n'.encode()


def reviewed_plan(plan: Plan, found: Review) -> list[str]:
    judged = review_plan(plan, ReviewRequest(lambda: pytest.fail("a comparison was opened")), found)
    return sorted({finding.rule for finding in judged.review.findings if finding.severity is Severity.BLOCK})


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A constraint that was edited together with the lock file, beside a file that git ignores."""
    old, new = lock(entry("aws")), lock(entry("aws", "2.0.0"))
    top = repository(tmp_path / "top", {LOCK: old, "main.tf": requiring("1.0.0"), ".gitignore": b"secret.tf\n"})
    put(top, {LOCK: new, "main.tf": requiring("2.0.0"), "new.tf": b"# new\n", "secret.tf": b"# ignored\n"})
    monkeypatch.chdir(top)
    return top


def test_a_lock_without_its_edited_configuration_is_judged_as_the_commit_will_be(edited: Path) -> None:
    found = reviewing(edited)
    plan = planned(edited, "aws")
    assert [file.path for file in plan.proposal.files] == [LOCK]
    assert [remark.words for remark in plan.remarks] == [
        "main.tf differs from the index and is not staged: the next commit has the index's",
        "new.tf differs from the index and is not staged: the next commit has no such file",
    ]
    assert plan.remarks[0].hint == "git add -- main.tf stages the file too"
    assert "LK005" in reviewed_plan(plan, found)
    apply(plan.proposal)
    staged_review = reviewing(edited, Base(is_staged=True))
    assert "LK005" in {finding.rule for finding in staged_review.findings}


def test_the_edited_configuration_is_staged_too(edited: Path) -> None:
    found = reviewing(edited)
    plan = replace(marked_blocks(found, edited, marks(found, "aws")), with_configuration=True).plan()
    assert [file.path for file in plan.proposal.files] == ["main.tf", "new.tf", LOCK]
    assert not plan.remarks
    assert "LK005" not in reviewed_plan(plan, found)
    assert plan.proposal.command == f"git add -- {LOCK} main.tf new.tf"
    apply(plan.proposal)
    assert git(edited, "status", "--porcelain").split("\n") == [f"M  {LOCK}", "M  main.tf", "A  new.tf"]


def test_a_root_that_is_deleted_is_staged_with_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {f"old/{LOCK}": lock(entry("aws")), "old/main.tf": requiring("1.0.0"), "old/notes.md": b"notes"}
    top = repository(tmp_path / "top", old)
    for path in old:
        (top / path).unlink()
    monkeypatch.chdir(top)
    found = reviewing(top)
    stage = marked_blocks(found, top, marks(found, "aws"))
    alone = stage.plan()
    (remark,) = alone.remarks
    assert remark.words == "old/main.tf is deleted, which is not staged: the next commit still has the file"
    assert remark.hint == "git add -- old/main.tf stages its deletion too"
    plan = replace(stage, with_configuration=True).plan()
    assert not plan.remarks
    assert "the deletion of old/main.tf would be staged" in plan.dry_run_words
    assert reviewed_plan(plan, found) == [] != reviewed_plan(alone, found)
    assert plan.proposal.command == f"git add -- old/{LOCK} old/main.tf"
    apply(plan.proposal)
    assert git(top, "status", "--porcelain").split("\n") == [f"D  old/{LOCK}", "D  old/main.tf", " D old/notes.md"]


def test_what_is_deleted_of_a_module_that_the_root_calls_is_staged_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calling = requiring("1.0.0") + b'module "net" {\n  source = "../modules/net"\n}\n'
    files = {f"modules/net/{name}.tf": b"# part\n" for name in ("first", "second")}
    others = {"modules/other/main.tf": b"# not called\n"}
    top = repository(tmp_path / "top", {f"live/{LOCK}": lock(entry("aws")), "live/main.tf": calling, **files, **others})
    put(top, {f"live/{LOCK}": lock(entry("aws", "1.1.0"))})
    gone = "modules/net/first.tf"
    for path in (gone, *others):
        (top / path).unlink()
    monkeypatch.chdir(top)
    found = reviewing(top)
    stage = marked_blocks(found, top, marks(found, "aws"))
    told = [remark.words for remark in stage.plan().remarks]
    assert told == [f"{gone} is deleted, which is not staged: the next commit still has the file"]
    apply(replace(stage, with_configuration=True).plan().proposal)
    staged = {f"M  live/{LOCK}", f"D  {gone}"}
    assert {line for line in git(top, "status", "--porcelain").split("\n") if line[0] != " "} == staged


@pytest.mark.parametrize("is_call_deleted", [False, True])
def test_a_module_that_is_deleted_as_a_whole_is_staged_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_call_deleted: bool
) -> None:
    call = b'module "net" {\n  source = "../modules/net"\n}\n'
    inner = b'module "inner" {\n  source = "./inner"\n}\n'
    modules = {"modules/net/main.tf": inner, "modules/net/inner/main.tf": b"# inner\n"}
    root = {f"live/{LOCK}": lock(entry("aws")), "live/main.tf": requiring("1.0.0"), "live/net.tf": call}
    top = repository(tmp_path / "top", {**root, **modules, "modules/other/main.tf": b"# not called\n"})
    put(top, {f"live/{LOCK}": lock(entry("aws", "1.1.0"))})
    gone = {*modules, *(["live/net.tf"] if is_call_deleted else [])}
    for path in (*gone, "modules/other/main.tf"):
        (top / path).unlink()
    monkeypatch.chdir(top)
    found = reviewing(top)
    stage = marked_blocks(found, top, marks(found, "aws"))
    told = {remark.words for remark in stage.plan().remarks}
    assert told >= {f"{path} is deleted, which is not staged: the next commit still has the file" for path in gone}
    apply(replace(stage, with_configuration=True).plan().proposal)
    staged = {f"M  live/{LOCK}", *(f"D  {path}" for path in gone)}
    assert {line for line in git(top, "status", "--porcelain").split("\n") if line[0] != " "} == staged


def test_a_moved_lock_file_is_refused_with_the_commands_that_stage_the_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = repository(tmp_path / "top", {f"old one/{LOCK}": lock(entry("aws")), "old one/main.tf": requiring("1.0.0")})
    (top / "old one").rename(top / "new")
    put(top, {f"new/{LOCK}": lock(entry("aws", "1.1.0"))})
    monkeypatch.chdir(top)
    found = reviewing(top)
    (failed,) = marked_blocks(found, top, marks(found, "aws")).plan().failures
    assert "the lock file was moved from old one, and a move is staged whole" in failed.sentence
    commands, _, rest = failed.hint.rpartition(" stages ")
    assert rest == "the move"
    subprocess.run(commands, shell=True, cwd=top, check=True, stdout=subprocess.DEVNULL)
    assert git(top, "diff", "--cached", "--name-only", "--no-renames").split("\n") == [f"new/{LOCK}", f"old one/{LOCK}"]


def test_a_new_root_is_judged_with_the_configuration_that_is_staged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = repository(tmp_path / "top", {"README": b"none of ours"})
    put(top, {f"new/{LOCK}": lock(entry("aws")), "new/main.tf": requiring("1.0.0")})
    monkeypatch.chdir(top)
    found = reviewing(top)
    stage = marked_blocks(found, top, marks(found, "aws"))
    request = ReviewRequest(lambda: pytest.fail("a comparison was opened"))
    for with_configuration in (True, False):
        plan = replace(stage, with_configuration=with_configuration).plan()
        rules = {finding.rule for finding in review_plan(plan, request, found).review.findings}
        assert ("LK007" in rules) is not with_configuration


def test_a_finding_that_head_has_is_counted_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = repository(tmp_path / "top", {LOCK: lock(entry("aws"), entry("null")), "main.tf": requiring(">= 1.0.0")})
    monkeypatch.chdir(top)
    put(top, {LOCK: lock(entry("aws", "2.0.0"), entry("null"), entry("tls"))})
    git(top, "add", LOCK)
    put(top, {LOCK: lock(entry("aws", "2.0.0"), entry("null", "3.0.0"), entry("tls"))})
    found = reviewing(top)
    plan = planned(top, "null")
    judged = review_plan(plan, ReviewRequest(lambda: pytest.fail("a comparison was opened")), found).review
    orphans = {one.message: one.accepted and one.accepted.already_in for one in judged.findings if one.rule == "LK007"}
    assert orphans == {
        "nothing requires registry.terraform.io/hashicorp/null": "HEAD",
        "nothing requires registry.terraform.io/hashicorp/tls": None,
    }, "the next commit has the other one, which is staged, and HEAD has not"


# What is staged


def test_only_the_marked_blocks_are_staged(top: Path) -> None:
    plan = staged(top, "aws", "tls")
    assert index(top) == lock(entry("aws", "2.0.0"), entry("null"), entry("random"))
    assert hunks(top, "--cached") == [
        '-  version = "1.0.0"', '+  version = "2.0.0"', "-",
        '-provider "registry.terraform.io/hashicorp/tls" {', '-  version = "1.0.0"', "-  hashes = [",
        f'-    "zh:{"0" * 64}",', "-  ]", "-}",
    ]  # fmt: skip
    rest = [line for line in hunks(top) if "version" in line or "provider" in line]
    assert rest == [
        '+provider "registry.terraform.io/hashicorp/archive" {', '+  version = "1.0.0"',
        '-  version = "1.0.0"', '+  version = "3.0.0"',
    ]  # fmt: skip
    assert (top / LOCK).read_bytes() == NEW
    assert plan.proposal.words == (
        ".: hashicorp/aws 1.0.0 -> 2.0.0 is staged", ".: hashicorp/tls 1.0.0 -> none is staged"
    )  # fmt: skip
    assert plan.proposal.command == "locklens stage hashicorp/aws hashicorp/tls --root ."
    assert [one.words for one in plan.remarks] == ["left in the work tree: hashicorp/random, hashicorp/archive"]
    assert (plan.proposal.target, plan.proposal.files[0].old, plan.proposal.files[0].new) == (
        WriteTarget.INDEX, OLD, index(top)
    )  # fmt: skip


def test_the_planned_diff_is_one_that_git_takes_for_the_index(top: Path) -> None:
    plan = staged(top, "archive", "random")
    cached = git(top, "diff", "--cached")
    git(top, "reset", "-q")
    git(top, "apply", "--cached", given=plan.proposal.diff().encode())
    assert git(top, "diff", "--cached") == cached


def test_it_is_what_git_add_p_does(top: Path) -> None:
    """Of a file whose hunks are apart, each its own provider's."""
    names = [f"p{number}" for number in range(6)]
    old = lock(*(entry(name, constraints=">= 1.0.0") for name in names))
    new = lock(*(entry(name, "2.0.0", constraints=">= 1.0.0") for name in names))
    put(top, {LOCK: old})
    git(top, "commit", "-qam", "second")
    put(top, {LOCK: new})
    git(top, "add", "-p", given=b"s\n" + b"n\ny\nn\nn\ny\ny\n")
    by_git = index(top)
    git(top, "reset", "-q")
    staged(top, "p1", "p4", "p5")
    assert index(top) == by_git
    assert said(by_git) == {name: "2.0.0" if name in {"p1", "p4", "p5"} else "1.0.0" for name in names}


def test_all_marked_is_the_whole_file_with_header_and_layout(top: Path) -> None:
    put(top, {LOCK: b"# by hand\n" + NEW.replace(b"  version", b"\tversion") + b"# end\n"})
    plan = staged(top)
    assert index(top) == (top / LOCK).read_bytes()
    assert git(top, "status", "--porcelain") == f"M  {LOCK}"
    assert plan.proposal.command == f"git add -- {LOCK}"
    assert planned(top).proposal.files == ()
    assert [one.words for one in planned(top).remarks] == ["already staged"]


def test_one_after_the_other_ends_in_the_work_tree(top: Path) -> None:
    put(top, {LOCK: b"# by hand\n" + NEW})
    for name in ("random", "tls", "archive"):
        staged(top, name)
        assert index(top).startswith(OLD[:40])
    staged(top, "aws")
    assert index(top) == b"# by hand\n" + NEW


def test_what_is_staged_of_others_stays(top: Path) -> None:
    put(top, {LOCK: lock(entry("aws", "1.5.0"), entry("null", "7.0.0"), entry("random"), entry("tls"))})
    git(top, "add", LOCK)
    put(top, {LOCK: NEW})
    staged(top, "aws")
    assert said(index(top)) == {"aws": "2.0.0", "null": "7.0.0", "random": "1.0.0", "tls": "1.0.0"}


def test_a_new_file_gets_its_header_and_the_marked_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    top = repository(tmp_path / "top", {})
    put(top, {f"a/{LOCK}": NEW, f"b/{LOCK}": NEW})
    found = reviewing(top)
    chosen = {one.id for root in found.roots if root.path == "b" for one in root.changes if one.address.type == "aws"}
    plan = marked_blocks(found, top, chosen).plan()
    words = shlex.split(plan.proposal.command)
    assert words == ["locklens", "-C", "top", "stage", "hashicorp/aws", "--root", "a", "--root", "b"]
    main(words[1:], lambda request, view: 99)
    assert [index(top, file.path) for file in plan.proposal.files] == [file.new for file in plan.proposal.files]
    git(top, "read-tree", "--empty")
    apply(plan.proposal)
    assert index(top, f"a/{LOCK}") == index(top, f"b/{LOCK}") == lock(entry("aws", "2.0.0"))
    assert git(top, "ls-files", "-s", "b").startswith("100644 ")
    assert (top / f"b/{LOCK}").read_bytes() == NEW


def test_a_file_that_git_was_told_of_is_a_new_one(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {})
    put(top, {LOCK: NEW})
    git(top, "add", "-N", LOCK)
    assert planned(top, "aws").proposal.files[0].old is None
    staged(top, "aws")
    assert index(top) == lock(entry("aws", "2.0.0"))
    assert "new file mode 100644" in git(top, "diff", "--cached")


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    put(top, {LOCK: NEW})
    staged(top, "null")
    assert index(top) == lock(entry("null"))


def test_a_deleted_file(top: Path) -> None:
    (top / LOCK).unlink()
    staged(top, "aws")
    assert index(top) == lock(entry("null"), entry("random"), entry("tls"))
    plan = staged(top)
    assert git(top, "status", "--porcelain") == f"D  {LOCK}"
    assert plan.proposal.command == f"git add -- {LOCK}"


def test_a_provider_that_moved_is_two_blocks(top: Path) -> None:
    moved = OLD.replace(b"registry.terraform.io/hashicorp/aws", b"registry.example.com/hashicorp/aws")
    put(top, {LOCK: moved.replace(b'tls" {\n  version = "1', b'tls" {\n  version = "2')})
    found = reviewing(top)
    assert ChangeKind.MOVED in {one.kind for one in found.changes}
    staged(top, "aws")
    assert index(top) == moved


def test_a_provider_of_two_tools_is_named_once(tmp_path: Path) -> None:
    both = {"a/main.tf": b"", f"a/{LOCK}": OLD, "b/main.tofu": b"", f"b/{LOCK}": OLD}
    top = repository(tmp_path / "top", both)
    put(top, {f"a/{LOCK}": NEW, f"b/{LOCK}": NEW})
    found = reviewing(top)
    intent = marked_blocks(found, top, marks(found, "aws"))
    assert intent.title == "Stage registry.terraform.io/hashicorp/aws in 2 roots"


def test_every_root_that_has_a_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = repository(tmp_path / "top", {f"{root}/{LOCK}": OLD for root in ("a", "b c", "é")})
    monkeypatch.chdir(top / "a")
    put(top, {f"a/{LOCK}": NEW, f"b c/{LOCK}": NEW, f"é/{LOCK}": NEW})
    heard: list[str] = []
    found = reviewing(top)
    intent = marked_blocks(found, top, marks(found, "aws", "random"))
    assert intent.title == "Stage hashicorp/aws and hashicorp/random in 3 roots"
    plan = intent.plan(on_root=heard.append)
    put(top, {})
    apply(plan.proposal)
    assert sorted(heard) == ["a", "b c", "é"]
    assert len({index(top, f"{root}/{LOCK}") for root in heard}) == 1
    assert said(index(top, f"é/{LOCK}")) == {"aws": "2.0.0", "null": "1.0.0", "random": "3.0.0", "tls": "1.0.0"}
    assert plan.proposal.command.startswith("locklens stage hashicorp/aws hashicorp/random --root . --root '../b c' ")
    commit = index(top, f"a/{LOCK}")
    git(top, "reset", "-q")
    main(shlex.split(plan.proposal.command)[1:], lambda request, view: 99)
    assert {index(top, f"{root}/{LOCK}") for root in heard} == {commit}


def test_the_command_stages_other_blocks_of_another_root_too_whatever_it_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD, f"b/{LOCK}": OLD})
    monkeypatch.chdir(top)
    # The same change of two roots has one mark.
    put(top, {f"a/{LOCK}": NEW, f"b/{LOCK}": NEW.replace(b'"3.0.0"', b'"3.1.0"').replace(b'"2.0.0"', b'"2.1.0"')})
    found = reviewing(top)
    chosen = {("a", "aws"), ("b", "random")}
    ids = {one.id for root in found.roots for one in root.changes if (root.path, one.address.type) in chosen}
    plan = marked_blocks(found, top, ids).plan()
    first, second = (shlex.split(command)[1:] for command in plan.proposal.command.split("; "))
    assert main(first, lambda request, view: 99) == 1, "LK025: what is staged has a finding, and is staged"
    main(second, lambda request, view: 99)
    staged_files = {file.path: file.new for file in plan.proposal.files}
    assert {path: index(top, path) for path in staged_files} == staged_files


def test_a_change_as_young_as_the_index_and_of_the_same_size_is_seen(top: Path) -> None:
    """Git tells such a file from an unchanged one by the time of the index alone."""
    put(top, {LOCK: OLD.replace(b"1.0.0", b"2.0.0")})
    git(top, "add", LOCK)
    put(top, {LOCK: OLD.replace(b"1.0.0", b"3.0.0")})
    staged(top)
    assert index(top) == OLD.replace(b"1.0.0", b"3.0.0")


def test_planning_writes_nothing(top: Path) -> None:
    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in top.rglob("*") if path.is_file()}

    before = everything()
    assert planned(top, "aws").proposal.files
    assert planned(top).proposal.files
    assert everything() == before


@settings(max_examples=effort(1, 10))
@pytest.mark.parametrize("case", real_cases("pairs", enough=6)[:: effort(1, 9)])
@given(data=st.data())
def test_real_changes_in_any_portions(case: Path, data: st.DataObject) -> None:
    sides = [case / "old.lock.hcl", case / "new.lock.hcl"]
    if not sides[1].exists() or any(parse(one.read_bytes(), LOCK).problems for one in sides if one.exists()):
        return
    with tempfile.TemporaryDirectory() as folder:
        top = repository(Path(folder), {LOCK: sides[0].read_bytes()} if sides[0].exists() else {})
        put(top, {LOCK: sides[1].read_bytes()})
        found = reviewing(top)
        remaining = data.draw(st.permutations(sorted(marks(found))))
        old = {one.address: one.version for one in found.roots[0].old.entries} if remaining else {}
        chosen: set[str] = set()
        while remaining:
            number = data.draw(st.integers(1, len(remaining)))
            chosen |= set(remaining[:number])
            remaining = remaining[number:]
            apply(marked_blocks(found, top, chosen).plan().proposal)
            wanted = dict(old)
            for one in found.changes:
                if one.id in chosen:
                    wanted.pop(one.moved_from or one.address, None)
                    wanted.update({one.address: one.new.version} if one.new else {})
            assert {one.address: one.version for one in parse(index(top), LOCK).entries} == wanted
        assert not chosen or index(top) == (top / LOCK).read_bytes() == sides[1].read_bytes()


# How git has it


def test_line_ends_become_what_git_add_makes_of_them(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {LOCK: OLD, ".gitattributes": b"*.hcl text\n"})
    put(top, {LOCK: NEW.replace(b"\n", b"\r\n")})
    staged(top, "aws")
    assert index(top) == lock(entry("aws", "2.0.0"), entry("null"), entry("random"), entry("tls"))
    staged(top)
    assert index(top) == NEW
    assert git(top, "diff", "--stat") == ""


def test_a_file_with_crlf_in_the_index_keeps_them_under_autocrlf(tmp_path: Path) -> None:
    """`git add` looks at the index before it converts, which `git hash-object` does not."""
    top = repository(tmp_path / "top", {LOCK: OLD.replace(b"\n", b"\r\n")})
    git(top, "config", "core.autocrlf", "true")
    put(top, {LOCK: NEW.replace(b"\n", b"\r\n")})
    staged(top, "aws")
    wanted = lock(entry("aws", "2.0.0"), entry("null"), entry("random"), entry("tls"))
    assert index(top) == wanted.replace(b"\n", b"\r\n")
    staged(top)
    by_locklens = index(top)
    git(top, "add", LOCK)
    assert index(top) == by_locklens == NEW.replace(b"\n", b"\r\n")


def test_a_filter_of_the_users_own_is_run_and_one_of_the_repository_is_not(
    top: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(top, {".gitattributes": b"*.hcl filter=own\n"})
    own = tmp_path / "config"
    own.write_text("""[filter "own"]\n\tclean = "sed 's/^# This file/# Kept/'"\n""")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    staged(top)
    assert index(top) == NEW.replace(b"# This file", b"# Kept")
    git(top, "config", "filter.own.clean", "touch ran; cat")
    put(top, {LOCK: NEW + b"\n"})
    assert failures(planned(top)) == [
        f"{LOCK}: it goes through the filter own, which this repository's own configuration names, so it is not staged"
    ]
    assert not (top / "ran").exists()


def test_other_object_formats(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {LOCK: OLD}, options=["--object-format=sha256"])
    put(top, {LOCK: NEW})
    staged(top, "tls")
    assert said(index(top)) == {"aws": "1.0.0", "null": "1.0.0", "random": "1.0.0"}
    staged(top)
    assert index(top) == NEW


def test_a_second_work_tree_has_its_own_index(top: Path, tmp_path: Path) -> None:
    git(top, "worktree", "add", "-q", str(tmp_path / "other"))
    put(tmp_path / "other", {LOCK: NEW})
    staged(tmp_path / "other", "aws")
    assert said(index(tmp_path / "other"))["aws"] == "2.0.0"
    assert index(top) == OLD


def test_the_mode_stays(top: Path) -> None:
    git(top, "update-index", "--chmod=+x", LOCK)
    staged(top)
    assert git(top, "ls-files", "-s").startswith("100755 ")


def test_a_split_index_and_a_top_with_odd_names(tmp_path: Path) -> None:
    top = repository(tmp_path / 'a:b "c"', {LOCK: OLD})
    git(top, "update-index", "--split-index")
    put(top, {LOCK: NEW})
    staged(top, "aws")
    assert said(index(top))["aws"] == "2.0.0"


# What is refused


def test_what_changed_since_it_was_reviewed_is_not_staged(top: Path) -> None:
    found = reviewing(top)
    intent = marked_blocks(found, top, marks(found))
    put(top, {LOCK: NEW + b"\n"})
    plan = intent.plan()
    assert failures(plan) == [f"{LOCK}: changed on disk since it was reviewed"]
    assert plan.proposal.files == ()


def test_an_index_that_changed_since_the_plan_is_left_alone(top: Path) -> None:
    plan = planned(top, "aws")
    git(top, "add", LOCK)
    with pytest.raises(ConfigurationError, match="the index has changed meanwhile"):
        apply(plan.proposal)
    assert index(top) == NEW


def test_another_git_at_work_is_named(top: Path) -> None:
    plan = planned(top, "aws")
    (top / ".git/index.lock").touch()
    with pytest.raises(RepositoryError, match="another git process") as caught:
        apply(plan.proposal)
    assert "index.lock" in caught.value.hint
    (top / ".git/index.lock").unlink()
    assert index(top) == OLD


def test_a_file_that_is_not_merged(top: Path) -> None:
    git(top, "commit", "-qam", "ours")
    git(top, "branch", "ours")
    git(top, "checkout", "-qb", "theirs", "HEAD~1")
    put(top, {LOCK: OLD.replace(b"1.0.0", b"5.0.0")})
    git(top, "commit", "-qam", "theirs")
    with pytest.raises(AssertionError):
        git(top, "merge", "-q", "ours")
    assert " 3\t" in git(top, "ls-files", "-s")
    unsettled = named_blocks(reviewing(top), top, ()).plan()
    assert failures(unsettled) == [f"{LOCK}: it is unmerged in the index, so it is not staged"]
    put(top, {LOCK: NEW})
    assert failures(planned(top)) == [f"{LOCK}: it is unmerged in the index, so it is not staged"]
    found = reviewing(top, Base(is_staged=True))
    (root,) = found.roots
    conflict = root.new.conflict
    assert conflict is not None
    assert (conflict.ours.data, conflict.theirs.data) == (OLD.replace(b"1.0.0", b"5.0.0"), NEW)
    shown = str(text.render(found))
    assert "has merge conflicts in the index: stage 2 (ours) and stage 3 (theirs)" in shown
    assert "stage 2 (ours): 5.0.0 with 1 hash; stage 3 (theirs): 2.0.0 with 1 hash" in shown
    assert "hashicorp/null     stage" not in shown, "git has merged it"
    json_report("review", found)
    diff = [line.text for line in row_diff_lines(outline(found, Grouping.ROOT)[0])]
    assert diff[0] == f"--- ours/{LOCK}"
    assert '+  version = "2.0.0"' in diff


@pytest.mark.parametrize(
    ("bit", "words"),
    [("--skip-worktree", "a sparse checkout leaves it out"), ("--assume-unchanged", "git was told to assume")],
)
def test_what_git_was_told_to_leave_alone(top: Path, bit: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = reviewing(top)
    intent = marked_blocks(found, top, marks(found))
    git(top, "update-index", bit, LOCK)
    assert [words in one for one in failures(intent.plan())] == [True]
    (top / "below").mkdir()
    monkeypatch.chdir(top / "below")
    command = f"git update-index {bit.replace('--', '--no-')} -- ../{LOCK}"
    assert intent.plan().failures[0].hint.endswith(command)


def test_a_git_ignored_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = repository(tmp_path / "top", {"main.tf": b""})
    put(top, {LOCK: NEW})
    found = reviewing(top)
    intent = marked_blocks(found, top, marks(found))
    put(top, {".gitignore": b"# tool\n*.lock.hcl\n"})
    monkeypatch.chdir(top)
    plan = intent.plan()
    assert failures(plan) == [f"{LOCK}: it is git-ignored, so it is not staged"]
    assert plan.failures[0].hint.startswith(f"git check-ignore -v -- {LOCK} shows the reason; git add -f -- {LOCK}")
    git(top, "add", "-f", LOCK)
    put(top, {LOCK: OLD})
    assert failures(planned(top)) == []


def test_a_link(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD})
    (top / "b").mkdir()
    (top / "b" / LOCK).symlink_to(f"../a/{LOCK}")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "link")
    put(top, {f"a/{LOCK}": NEW})
    plan = planned(top, "aws")
    assert [one.path for one in plan.proposal.files] == [f"a/{LOCK}"]
    assert all("link" in one for one in failures(plan))


def test_a_file_that_moved_is_staged_with_git(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD})
    (top / "a").rename(top / "b")
    put(top, {f"b/{LOCK}": NEW})
    git(top, "add", "-N", "b")
    found = reviewing(top)
    assert [root.renamed_from for root in found.roots] == ["a"]
    assert ["moved from a" in one for one in failures(planned(top))] == [True]
    put(top, {f"b/{LOCK}": OLD})
    git(top, "add", "-A")
    put(top, {f"b/{LOCK}": NEW})
    staged(top, "aws")
    assert said(index(top, f"b/{LOCK}")) == {"aws": "2.0.0", "null": "1.0.0", "random": "1.0.0", "tls": "1.0.0"}


def test_an_index_that_is_no_lock_file(top: Path) -> None:
    put(top, {LOCK: b"provider {"})
    git(top, "add", LOCK)
    put(top, {LOCK: NEW})
    plan = planned(top, "aws")
    assert [one.startswith(f"{LOCK}: its blocks cannot be identified") for one in failures(plan)] == [True]
    assert plan.failures[0].hint == f"git add -- {LOCK} stages the whole file"


def test_what_cannot_be_staged_at_all(top: Path) -> None:
    found = reviewing(top)
    for others in (set(), {"the mark of a finding"}):
        with pytest.raises(LockLensError, match="no change is marked") as caught:
            marked_blocks(found, top, others)
        assert caught.value.hint == "mark changes with space first"
    git(top, "add", LOCK)
    for base in (Base(is_staged=True), Base("HEAD", head="HEAD")):
        other = reviewing(top, base)
        with pytest.raises(LockLensError, match="only changes of the work tree"):
            marked_blocks(other, top, marks(other) or {"x"})


# Undo


def test_it_is_undone_in_the_index(top: Path, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "writes")
    for names in (("aws",), ()):
        before = index(top)
        assert apply(planned(top, *names).proposal, journal=journal) == ()
        after = index(top)
        plan = undo(top, journal=journal)
        apply(plan.proposal, journal=journal)
        assert index(top) == before
        apply(undo(top, is_redo=True, journal=journal).proposal, journal=journal)
        assert index(top) == after
    git(top, "reset", "-q")
    with pytest.raises(LockLensError, match=f"^{LOCK}: no longer staged, so that .* cannot be undone$") as caught:
        undo(top, journal=journal)
    hint, _, earlier = caught.value.hint.partition("; ")
    assert (hint, earlier.startswith("`locklens undo ID` ")) == ("nothing of it is left to undo", True)
    assert (top / LOCK).read_bytes() == NEW


def test_what_was_committed_since_is_not_undone(top: Path) -> None:
    staged(top, "aws")
    undo(top)
    git(top, "commit", "-qm", "staged")  # in the second of the staging, too
    with pytest.raises(LockLensError, match="committed since") as caught:
        undo(top)
    assert caught.value.hint == f"git log -- {LOCK} names the commit, which git revert undoes"
    git(top, "stash", "-q")
    git(top, "revert", "--no-edit", "HEAD")
    with pytest.raises(LockLensError, match="no longer staged") as caught:
        undo(top)
    assert caught.value.hint == "nothing of it is left to undo"


def test_of_a_staging_that_was_committed_in_part_the_rest_can_be_unstaged(tmp_path: Path) -> None:
    files = {f"a/{LOCK}": OLD, f"b/{LOCK}": OLD}
    top = repository(tmp_path / "top", files)
    put(top, dict.fromkeys(files, NEW))
    staged(top, "aws")
    git(top, "commit", "-qm", "one", f"a/{LOCK}")
    with pytest.raises(LockLensError, match=f"^a/{LOCK}: ") as caught:
        undo(top)
    assert caught.value.hint.endswith(f"git -C {top} restore --staged -- b/{LOCK} unstages the rest")


def test_undoing_a_new_file_takes_it_out_of_the_index(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {})
    put(top, {LOCK: NEW})
    staged(top, "aws")
    apply(undo(top).proposal)
    assert git(top, "status", "--porcelain") == f"?? {LOCK}"


def test_without_a_journal_it_is_staged_and_said(top: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    notices = apply(planned(top).proposal, journal=Journal(tmp_path / "file" / "writes"))
    assert [one.startswith("this write cannot be undone") for one in notices] == [True]
    assert index(top) == NEW
