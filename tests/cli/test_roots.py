"""The selection of roots, alike for commands that read and that write; and `stage`."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from pathlib import Path

import pytest
from kit.command_line import Run, runner
from kit.git import git
from kit.repositories import commit, copy_of, put, repository

from locklens.addresses import ProviderAddress
from locklens.cli.main import main
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.install.context import hashes_command
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.project.clifiles import this_platform
from locklens.versions import Version

LOCK = ".terraform.lock.hcl"
ROOTS = ("live/eu/a", "live/eu/b", "live/us/a", "other")


def locking(*versions: str, tool: Dialect = TERRAFORM) -> bytes:
    """A lock file of providers in the form "TYPE VERSION" or "HOST/TYPE VERSION", of Terraform's registry without one."""
    entries = []
    for text in versions:
        name, _, version = text.partition(" ")
        host, _, name = name.rpartition("/")
        address = ProviderAddress(host or TERRAFORM.default_host, "hashicorp", name)
        zh = f"zh:{hashlib.sha256(text.encode()).hexdigest()}"
        entries.append(LockEntry(address, Version.parse(version), "", (zh,), 0))
    return render(entries, tool)


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(copy_of(with_all_roots, tmp_path))
    return tmp_path


def with_all_roots(top: Path) -> None:
    for root in ROOTS:
        put(top / root, {LOCK: locking("aws 5.0.0", "tls 4.0.0"), "main.tf": 'resource "aws_vpc" "x" {}\n'})
    repository(top, {})


@pytest.fixture
def run(top: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def test_a_finding_of_some_roots_of_a_change_says_of_how_many(run: Run, top: Path) -> None:
    held = 'terraform {\n  required_providers {\n    aws = { version = "~> 5.0.0" }\n  }\n}\n'
    for root in ROOTS:
        (top / root / "main.tf").write_text(held if root == "live/eu/b" else held.replace(".0.0", ".0"))
        (top / root / LOCK).write_bytes(locking("aws 5.1.0", "tls 4.0.0"))
    status, out, _ = run("review", "--offline", "--format", "text")
    assert (status, "In 4 roots\n" in out) == (1, True)
    lines = [
        line.partition("  in ")[2] for line in out.splitlines() if line.startswith(("        LK005", "        LK003"))
    ]
    assert lines == ["1 of 4 roots", ""]
    required = {f"{root}/main.tf:3": "~> 5.0.0" if root == "live/eu/b" else "~> 5.0" for root in ROOTS}
    said = " ".join(out.split())
    assert "REQUIRED BY live/eu/b/main.tf:3 ~> 5.0.0 " in said, "that of the worst root first"
    assert all(f" {place} {constraint} " in said for place, constraint in required.items())
    out = run("review", "--offline", "--format", "markdown")[1]
    assert all(f"  - required by `{place}`, `{constraint}`\n" in out for place, constraint in required.items())
    (line,) = (line for line in out.splitlines() if line.startswith("- **block** `hashicorp/aws`"))
    assert "init fails (in 1 of 4 roots)" in line
    assert line.count("of 4 roots") == 1


def test_what_to_do_has_the_words_for_each_root_of_a_change(run: Run, top: Path) -> None:
    for root in ROOTS:
        path = top / root / "main.tf"
        path.write_text("" if root == "live/eu/b" else 'module "x" {\n  source = "example.com/x/y"\n}\n')
        (top / root / LOCK).write_bytes(locking("aws 5.0.0", "tls 4.0.0", "null 3.0.0"))
    out = run("review", "--offline", "--format", "text", "--fail-on", "info")[1]
    advice = [line for line in out.splitlines() if line.startswith("what to do about LK007")]
    assert [line.partition("(")[2].partition(":")[0] for line in advice] == [
        "3 findings, in part)", "4 findings, in part)"
    ]  # fmt: skip


SELECTIONS = [
    (["--root", "other"], ["other"]),
    (["--", "other"], ["other"]),
    (["--root=live/eu/b", "--", "other"], ["live/eu/b", "other"]),
    (["--root", "live/eu/*"], ["live/eu/a", "live/eu/b"]),
    (["--", "live/*/a"], ["live/eu/a", "live/us/a"]),
    (["--root", "**/a"], ["live/eu/a", "live/us/a"]),
    (["--root", "live/**"], ["live/eu/a", "live/eu/b", "live/us/a"]),
    (["--root", "live/[e]?/a"], ["live/eu/a"]),
    (["--all-roots"], list(ROOTS)),
]


@pytest.mark.parametrize(("words", "roots"), SELECTIONS)
def test_reading_and_writing_commands_select_alike(run: Run, words: list[str], roots: list[str]) -> None:
    for command in ("hashes", "review"):
        more = ["--all"] if command == "review" else []
        _, out, _ = run(command, "--offline", "--no-cache", "--format", "json", *more, *words)
        document = json.loads(out)
        assert [root.get("path", root.get("root")) for root in document["roots"]] == roots, command
    _, out, _ = run("prune", "--dry-run", "--json", *words)
    assert list(dict.fromkeys(json.loads(line)["root"] for line in out.splitlines() if '"change"' in line)) == roots


def test_from_a_folder_of_the_repository(run: Run, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top / "live" / "us")
    _, out, _ = run("prune", "--dry-run", "--json", "--all-roots")
    assert list(dict.fromkeys(json.loads(line)["root"] for line in out.splitlines() if '"change"' in line)) == list(
        ROOTS
    )
    _, out, _ = run("prune", "--dry-run", "--json", "--root", "*")
    assert {json.loads(line)["root"] for line in out.splitlines() if '"change"' in line} == {"live/us/a"}


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["upgrade", "aws"], "no configuration or lock file in this folder", "live/eu/a, live/eu/b, live/us/a, other"),
        (["upgrade", "--list"], f"no {LOCK} in this folder\n", "live/eu/a, live/eu/b, live/us/a, other"),
        (["prune", "--", "live"], "no configuration or lock file in this folder", "live/eu/a, live/eu/b, live/us/a"),
        (["prune", "--root", "x*"], "no root matches 'x*'", "live/eu/a, live/eu/b, live/us/a, other"),
        (["hashes", "--root", "x*"], "no root matches 'x*'", "live/eu/a, live/eu/b, live/us/a, other"),
    ],
)
def test_a_folder_without_a_root_names_those_below(run: Run, words: list[str], error: str, hint: str) -> None:
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert error in err
    assert f"roots below: {hint}; select with --root DIR or --all-roots" in err


def test_a_named_root_without_a_lock_file_is_reviewed_and_a_module_is_refused(
    run: Run, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, module = 'terraform {\n  backend "s3" {}\n}\n', 'module "x" {\n  source = "./gone"\n}\n'
    unread = module.replace("./gone", "a/b/c")
    put(top / "nothing", {"main.tf": f'{backend}resource "terraform_data" "x" {{}}\n'})
    put(top / "unlocked", {"main.tf": f'{backend}resource "aws_vpc" "x" {{}}\n'})
    put(top / "unread", {"main.tf": backend + unread})
    put(top / "module", {"main.tf": 'resource "aws_vpc" "x" {}\n'})
    put(top / "called", {"main.tf": 'provider "aws" {}\n'})
    put(top / "other", {"call.tf": module.replace("./gone", "../called")})
    git(top, "add", ".")
    git(top, "commit", "-qm", "more")
    unreviewed = "no lock file: whatever init selects is not reviewed"
    for root, said in (("nothing", "1 root checked, no findings"), ("unlocked", unreviewed), ("unread", unreviewed)):
        monkeypatch.chdir(top / root)
        status, out, _ = run("review", "--merge-base", "--offline", "--fail-on", "warn", "--format", "text", "--", ".")
        assert (status, said in out) == (0, True), out
    monkeypatch.chdir(top)
    needed = "without one, a root has a backend or a provider configuration"
    for folder in ("module", "called"):
        assert run("review", "--", folder)[2].splitlines() == [
            f"error: {folder}: no {LOCK} in this folder",
            f"hint: {needed}, and no other folder calls it as a module",
        ]
    (top / "unlocked/main.tf").write_text(f'{backend}resource "aws_vpc" "x" {{}}\nresource "tls_key" "x" {{}}\n')
    status, out, _ = run("review", "--offline", "--fail-on", "warn", "--format", "text", "--", "unlocked")
    assert (status, "LK037 WARN" in out) == (1, True)


def test_a_root_that_is_removed_is_not_named_to_select(run: Run, top: Path) -> None:
    shutil.rmtree(top / "live/us/a")
    for command in (["upgrade", "--list"], ["upgrade", "aws"]):
        assert "roots below: live/eu/a, live/eu/b, other; select" in run(*command)[2], command


def test_a_root_that_is_removed_counts_among_all(run: Run, top: Path) -> None:
    git(top, "rm", "-qr", "live")
    assert "3 of 4 roots, 6 changes" in run("review", "--offline", "--format", "text")[1]
    assert "\n4 roots, 6 changes" in run("review", "--offline", "--format", "text", "--all")[1]


def test_a_root_that_is_removed_and_one_that_lost_its_lock_file_alone_are_told_apart(run: Run, top: Path) -> None:
    (top / "live/eu/a" / LOCK).unlink()
    shutil.rmtree(top / "other")
    text = run("review", "--offline", "--format", "text", "--list-roots")[1]
    assert "\nlive/eu/a  (lock file deleted, Terraform)\n" in text
    assert "\nother  (root deleted, Terraform)\n" in text
    markdown = run("review", "--offline", "--format", "markdown")[1]
    assert "`live/eu/a` (lock file deleted)" in markdown
    assert "`other` (root deleted)" in markdown


@pytest.mark.parametrize("form", ["text", "markdown", "sarif"])
def test_a_deleted_lock_file_of_a_named_root_is_compared(run: Run, top: Path, form: str) -> None:
    (top / "other" / LOCK).unlink()
    said = run("review", "--offline", "--format", form, "--", "other")[1].lower()
    assert "not compared: 3 of 4 lock files, of roots that were not named" in said


def test_a_review_that_proves_all_judges_unchanged_roots_and_its_help_says_so(
    run: Run, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "not judged: 4 roots that are unchanged" in run("review", "--offline", "--format", "text")[1]
    for option in (["--all"], ["--prove", "all"]):
        status, out, _ = run("review", *option, "--offline", "--format", "text", "--fail-on", "warn")
        assert (status, "not judged" in out, "LK007" in out) == (1, False, True), out
    with pytest.raises(SystemExit):
        run("review", "--help")
    said = " ".join(capsys.readouterr().out.split())
    assert "all: those of unchanged roots too, which are then listed and judged, as with --all" in said


def test_a_restricted_review_counts_the_same_lock_files_as_a_whole_one(run: Run, top: Path) -> None:
    for gone in ("other", "live/eu/a"):
        (top / gone / LOCK).unlink()
    git(top, "mv", "live/eu/b", "live/eu/moved")
    assert "of 4 roots" in run("review", "--offline", "--format", "text")[1]
    for named in ("other", "live/eu/a", "live/eu/moved", "live/eu/b"):
        said = run("review", "--offline", "--format", "text", "--", named)[1]
        assert "\n1 of 4 roots" in f"\n{said}"
        assert "not compared: 3 of 4 lock files, of roots that were not named" in said


def test_a_restricted_review_says_what_it_did_not_compare(run: Run, top: Path) -> None:
    left_out = "not compared: 3 of 4 lock files, of roots that were not named"
    for form, words in (("text", left_out), ("markdown", f"- {left_out.capitalize()}.")):
        for restricted in (True, False):
            said = run("review", "--offline", "--format", form, *(["--", "other"] if restricted else []))[1]
            assert (words in said.splitlines()) == restricted, said


def test_a_restricted_review_does_not_say_that_an_acceptance_matches_nothing(run: Run, top: Path) -> None:
    accepted = (
        'rule = "LK003"\nprovider = "registry.terraform.io/hashicorp/aws"\nreason = "x"\nby = "Ann"\non = 2026-01-01\n'
    )
    (top / "locklens.toml").write_text(f'[[accept]]\n{accepted}change = "{"0" * 32}"\n')
    git(top, "add", "locklens.toml")
    git(top, "commit", "-qm", "accept")
    for root in ("live/eu/a", "other"):
        (top / root / LOCK).write_bytes(locking("aws 5.1.0", "tls 4.1.0"))
    for restricted in (True, False):
        said = run("review", "--offline", "--format", "text", *(["--", "other"] if restricted else []))[1]
        assert ("match no change here" in said) != restricted, said


def test_text_and_markdown_count_roots_and_changes_in_the_same_words(run: Run, top: Path) -> None:
    (top / "other" / LOCK).write_bytes(locking("aws 5.1.0", "tls 4.1.0"))
    (top / "live/eu/a/main.tf").write_text(f"{(top / 'live/eu/a/main.tf').read_text()}# edited\n")
    for form, words in (("text", "\n2 of 4 roots, 2 changes: "), ("markdown", ": 2 of 4 roots, 2 changes.\n")):
        assert words in run("review", "--offline", "--format", form)[1]


def test_a_folder_that_is_not_there_has_no_lock_file_to_speak_of(run: Run, top: Path) -> None:
    (top / "empty").mkdir()
    assert run("review", "--", "nowhere")[2].splitlines()[0] == "error: nowhere: no such folder"
    assert run("review", "--", "empty")[2].splitlines()[0] == f"error: empty: no {LOCK} in this folder"


@pytest.mark.parametrize("command", [("review", "--offline"), ("lock",), ("upgrade", "--list"), ("doctor",)])
def test_a_folder_like_one_that_is_there_is_asked_about(
    command: tuple[str, ...], run: Run, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for named, meant in (("lvie/eu/a", "live/eu/a"), ("live/eu/aa", "live/eu/a"), ("othre", "other")):
        err = run(*command, "--", named)[2]
        assert err.splitlines()[-2:] == [f"error: {named}: no such folder", f"hint: did you mean {meant}?"]
    assert "did you mean" not in run(*command, "--", "live/nothing-like-it")[2]
    monkeypatch.chdir(top / "live")
    assert "hint: did you mean eu/a?" in run("lock", "--", "eu/aa")[2]


def test_init_and_lock_name_the_roots_below(run: Run) -> None:
    for command in ("init", "lock"):
        assert "no configuration in this folder; roots below: live/eu/a, " in run(command, "--dry-run")[2]
    said = run("-C", "live", "lock", "--dry-run", "--root", "eu")[2]
    assert "no configuration in this folder; roots below: eu/a, eu/b; select with --root DIR" in said


def test_a_name_without_a_host_is_of_the_registry_of_a_roots_own_tool(run: Run, top: Path) -> None:
    def lock(version: str) -> bytes:
        return locking(f"aws {version}", f"{OPENTOFU.default_host}/aws {version}", tool=OPENTOFU)

    put(top / "tofu", {LOCK: lock("5.0.0"), "main.tofu": "locals {}\n"})
    commit(top, {})
    (top / "tofu" / LOCK).write_bytes(lock("5.1.0"))
    aws, deciding = f"{OPENTOFU.default_host}/hashicorp/aws", ("--reason", "r", "--by", "n", "--dry-run", "--offline")
    said = {
        ("why", "aws", "--offline"): f"tofu  {aws}  (OpenTofu)\n",
        ("stage", "aws", "--dry-run"): "tofu: hashicorp/aws 5.0.0 -> 5.1.0 would be staged\n",
        ("restore", "aws", "--dry-run"): "tofu: hashicorp/aws 5.1.0 would become 5.0.0 (downgrade)\n",
        ("prune", "aws", "--dry-run"): "tofu: hashicorp/aws 5.1.0 would be removed\n",
        ("inspect", "aws", "--offline"): f"{aws} {this_platform()}  5.0.0",
        ("accept", "LK007", "aws", *deciding): f'+provider = "{aws}"\n',
    }
    for words, line in said.items():
        _, out, err = run(*words, "--", "tofu")
        assert line in out + err, (words, out, err)
        assert "registry.terraform.io/hashicorp/aws 5" not in out + err, words


def test_names_that_are_ambiguous_are_told_in_full(run: Run, top: Path) -> None:
    other = f"{OPENTOFU.default_host}/aws"
    (top / "other" / LOCK).write_bytes(locking(f"{other} 5.1.0"))
    (top / "other/main.tf").write_text("")
    git(top, "commit", "-qam", "other")
    both = f"{OPENTOFU.default_host}/hashicorp/aws", f"{TERRAFORM.default_host}/hashicorp/aws"
    for words in (("why", "--offline"), ("stage", "--dry-run"), ("restore", "--dry-run"), ("prune", "--dry-run")):
        roots = () if words[0] == "why" else ("--all-roots",)
        for name in ("aws", "hashicorp/aws"):
            status, _, err = run(words[0], name, *words[1:], *roots)
            assert status == 2
            assert err.startswith(
                f"error: ambiguous provider '{name}': {both[0]} or {both[1]}\nhint: use one of these\n"
            )
        for name in both:
            assert "ambiguous" not in run(words[0], name, *words[1:], *roots)[2]


def test_what_cannot_be_selected(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, _, err = run("prune", "--all-roots", "--", "other")
    assert (status, "--all-roots takes no --root and no ROOT" in err) == (2, True)
    status, _, err = run("undo", "--", "other")
    assert (status, "unexpected argument 'other'" in err) == (2, True)


def test_stage(run: Run, top: Path) -> None:
    for root in ("live/eu/a", "other"):
        (top / root / LOCK).write_bytes(locking("aws 5.1.0", "tls 4.1.0"))
    status, out, err = run("stage", "aws", "--", "other", "live/eu/b")
    assert (status, "other: hashicorp/aws 5.0.0 -> 5.1.0 is staged" in out) == (0, True), err
    assert git(top, "diff", "--cached", "--name-only").split() == [f"other/{LOCK}"]
    assert f"{git(top, 'show', f':other/{LOCK}')}\n".encode() == locking("aws 5.1.0", "tls 4.0.0")
    assert "left in the work tree: hashicorp/tls" in err
    assert run("stage", "aws", "--root", "other")[2].count("already staged") == 1
    assert run("stage", "--all-roots")[0] == 0
    assert git(top, "diff", "--name-only") == ""
    assert run("stage", "--root", "live/eu/b")[1] == "nothing was changed\n"
    for scope in ([], ["aws"]):
        assert run("stage", *scope, "--", "live/eu/b")[:2] == (0, "nothing was changed\n")
    status, _, err = run("stage", "asw", "--", "live/eu/b")
    assert (status, err.splitlines()[:2]) == (
        2,
        ["error: the root does not require or lock 'asw'", "hint: did you mean hashicorp/aws?"],
    )
    status, _, err = run("stage", "random", "--root", "other")
    assert (status, "does not require or lock 'random'" in err) == (2, True)


def test_a_dry_run_of_stage_stages_nothing(run: Run, top: Path) -> None:
    (top / "other" / LOCK).write_bytes(locking("aws 5.1.0", "tls 4.0.0"))
    _, out, err = run("stage", "--dry-run", "--root", "other")
    assert '+  version = "5.1.0"' in out
    assert "other: hashicorp/aws 5.0.0 -> 5.1.0 would be staged" in err
    assert git(top, "diff", "--cached") == ""


def test_the_undo_of_a_stage_changes_no_version(run: Run, top: Path) -> None:
    """It said that the version goes back, though the work tree keeps the new one."""
    (top / "other" / LOCK).write_bytes(locking("aws 5.1.0", "tls 4.0.0"))
    words = "other: hashicorp/aws 5.0.0 -> 5.1.0"
    assert run("stage", "--root", "other")[0] == 0
    undone = run("undo", "--dry-run")
    assert f"{words} would no longer be staged" in undone[2]
    assert "git add" not in undone[1] + undone[2]
    assert f"{words} is no longer staged" in run("undo")[1]
    assert f"{words} is staged" in run("undo", "--redo")[1]
    (top / "other" / LOCK).unlink()
    assert f"removed other/{LOCK} from the index" in run("stage", "--root", "other")[1].splitlines()


def test_a_root_outside_of_a_repository_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "odd name", {LOCK: locking("aws 5.0.0")})
    monkeypatch.chdir(tmp_path)
    assert hashes_command("odd name") == "locklens hashes -- 'odd name'"
    words = shlex.split(hashes_command("odd name"))[1:]
    status = main([words[0], "--offline", "--no-cache", *words[1:]], lambda request, view: pytest.fail("opened"))
    assert (status, "hashicorp/aws" in capsys.readouterr().out) == (0, True)


def test_outside_of_a_repository_paths_and_hints_are_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lock file below was named as if it were here, and the hint had options that only `review` has."""
    for root in ("a/b", "c"):
        put(tmp_path / root, {LOCK: locking("aws 5.0.0")})
    monkeypatch.chdir(tmp_path)
    outside = runner(capsys)
    quiet = "--offline", "--no-cache", "--format", "text"
    assert f"a/b/{LOCK}  (" in outside("hashes", *quiet, "--", "a/b")[1]
    assert f"{LOCK}  (" in outside("-C", "a", "hashes", *quiet, "--", "../c")[1]
    elsewhere = "hint: name another folder with -C DIR"
    assert f"{elsewhere}, or a root with -- ROOT\n" in outside("keys", *quiet)[2]
    assert f"{elsewhere}, or select one root alone\n" in outside("hashes", *quiet, "--", "a/b", "c")[2]
    assert f"{elsewhere}, or a root with -- ROOT\n" in outside("why", "aws", *quiet)[2]
    assert "hint: compare two files with --old FILE --new FILE, or name another" in outside("review", *quiet)[2]


def test_stage_tells_what_the_index_then_has(run: Run, top: Path) -> None:
    demand = 'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws", version = "~> 5.0" }\n  }\n}\n'
    (top / "other" / "main.tf").write_text(demand)
    git(top, "commit", "-qam", "demand")
    (top / "other" / LOCK).write_bytes(locking("aws 6.0.0", "tls 4.0.0"))
    status, out, err = run("stage", "aws", "--root", "other", "--json", "--dry-run")
    found = [document for line in out.splitlines() if (document := json.loads(line))["type"] == "finding"]
    assert (status, found[0]["rule"], found[0]["severity"]) == (1, "LK005", "block"), out
    status, out, err = run("stage", "aws", "--root", "other")
    assert "other: hashicorp/aws 5.0.0 -> 6.0.0 is staged" in out
    assert status == 1
    assert "block: LK005 other/main.tf:3: registry.terraform.io/hashicorp/aws 6.0.0 is locked and does not" in err
    assert "LK003" not in err
    assert "hint: no registry was asked: locklens review --staged checks hashes and signers" in err


@pytest.mark.parametrize("glob", ["live/*/a", "live/**", "./live/??/a"])
def test_a_glob_matches_roots_that_one_side_alone_has(run: Run, top: Path, glob: str) -> None:
    git(top, "checkout", "-qb", "pr")
    (top / "live/eu/a" / LOCK).unlink()
    shutil.rmtree(top / "live/us/a")

    def changed(*sides: str) -> list[str]:
        status, out, _ = run("review", "--offline", "--format", "json", *sides, "--", glob)
        assert status == 1
        return [root["path"] for root in json.loads(out)["roots"]]

    assert changed() == ["live/eu/a", "live/us/a"]
    git(top, "commit", "-qam", "no lock files")
    for sides in (["main...pr"], ["main", "--head", "pr"], ["main", "--merge-base"]):
        assert changed(*sides) == ["live/eu/a", "live/us/a"]
    git(top, "checkout", "-q", "main")
    assert changed("main...pr") == ["live/eu/a", "live/us/a"]


@pytest.mark.parametrize("command", ["lock", "init", "upgrade"])
def test_an_option_behind_the_roots_is_refused_before_anything_is_done(command: str, run: Run, top: Path) -> None:
    status, _, err = run(command, "--", "other", "-dry-run")
    assert status == 2
    assert "error: -dry-run follows --" in err
    assert "only roots follow --: name options before it" in err
    assert git(top, "status", "--porcelain") == ""


@pytest.mark.parametrize("command", ["lock", "doctor"])
def test_what_looks_like_an_option_behind_the_roots_and_is_none_is_no_folder(command: str, run: Run, top: Path) -> None:
    status, _, err = run(command, "--", "other", "--fly")
    assert status != 0
    assert "--fly: no such folder" in err
    assert "hint: this command has no such option: name the folder of a root module" in err
