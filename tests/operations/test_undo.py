"""What was applied last is taken back: in the same run, in a later one, and never where somebody changed a file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from locklens.addresses import ProviderAddress
from locklens.cli.main import main
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError, StaleLockFileError
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.operations.plan import FileChanges, PlannedFile, Scope
from locklens.operations.write.apply import apply
from locklens.operations.write.lock_edits import Format, Prune
from locklens.operations.write.undo import recorded, undo
from locklens.storage.journal import Journal
from locklens.text import shell_words
from locklens.versions import Version

LOCK = ".terraform.lock.hcl"


def entry(name: str, version: str = "1.0.0") -> LockEntry:
    address = ProviderAddress(TERRAFORM.default_host, "hashicorp", name)
    return LockEntry(address, Version.parse(version), "", ("zh:" + "0" * 64,), 0)


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "top"
    (top / "infra").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    (top / "infra" / LOCK).write_bytes(render([entry("aws"), entry("tls")], TERRAFORM))
    (top / "infra/main.tf").write_text('terraform {\n  required_providers {\n    aws = "1.0.0"\n  }\n}\n')
    monkeypatch.chdir(top)
    return top


def contents(top: Path) -> dict[str, bytes]:
    found = (path for path in sorted(top.rglob("*")) if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(top)): path.read_bytes() for path in found}


def test_it_is_taken_back_and_done_again(top: Path) -> None:
    before = contents(top)
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    after = contents(top)
    assert after != before
    plan = undo(top / "infra")
    assert contents(top) == after
    assert [(change.root, change.name, change.kind) for change in plan.changes] == [("infra", "hashicorp/tls", "add")]
    first, second = plan.proposal.words
    assert first == "infra: hashicorp/tls 1.0.0 is added"
    assert second.startswith("reverts the change applied on ")
    assert second.endswith(": locklens prune --root infra")
    apply(plan.proposal)
    assert contents(top) == before
    with pytest.raises(ConfigurationError, match="nothing to undo here") as refused:
        undo(top)
    assert refused.value.hint == "locklens undo --redo applies an undone write again"
    again = undo(top, is_redo=True)
    assert again.proposal.words[-1].startswith("reapplies the change applied on ")
    assert again.proposal.command.endswith("undo --redo")
    assert [change.kind for change in again.changes] == ["remove"]
    apply(again.proposal)
    assert contents(top) == after


def test_it_says_what_stays_staged(top: Path) -> None:
    def git(*words: str) -> None:
        identity = "-c", "user.name=Ann", "-c", "user.email=ann@example.org"
        subprocess.run(["git", "-C", str(top), *identity, *words], check=True)

    def warnings(*, is_redo: bool = False) -> list[tuple[str, str]]:
        return [(one.detail, one.hint) for one in undo(top, is_redo=is_redo).diagnostics]

    words = "git's index keeps what is staged of hashicorp/tls: the next commit has it"
    hint = f"git restore --staged -- infra/{LOCK} unstages all of the file"
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    apply(undo(top).proposal)
    git("add", ".")
    unstaging = f"git rm --cached -- infra/{LOCK} unstages all of the file"
    assert warnings(is_redo=True) == [(words, unstaging)], "without a commit there is nothing to restore from"
    git("commit", "-qm", "first")
    apply(undo(top, is_redo=True).proposal)
    assert warnings() == []
    git("add", ".")
    assert warnings() == [(words, hint)]
    git("commit", "-qm", "second")
    assert warnings() == [], "what is committed is not staged"


def test_only_the_last_one_is_taken_back(top: Path) -> None:
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    pruned = contents(top)
    (top / "infra" / LOCK).write_bytes(pruned[f"infra/{LOCK}"].replace(b"\n", b"\r\n"))
    crlf = contents(top)
    apply(Format(Scope(top, ("infra",))).plan().proposal)
    assert contents(top) == pruned
    plan = undo(top)
    assert plan.changes == ()
    apply(plan.proposal)
    assert contents(top) == crlf


def test_a_new_file_is_removed_and_comes_back(top: Path) -> None:
    files = PlannedFile("a.txt", None, b"a\n"), PlannedFile("infra/main.tf", (top / "infra/main.tf").read_bytes(), b"")
    before = contents(top)
    apply(FileChanges(top, files, (), "locklens something"))
    after = contents(top)
    assert (after["a.txt"], after["infra/main.tf"]) == (b"a\n", b"")
    plan = undo(top)
    removed = next(file for file in plan.proposal.files if file.path == "a.txt")
    assert (removed.old, removed.new) == (b"a\n", None)
    assert "--- a/a.txt\n+++ /dev/null\n" in removed.diff()
    apply(plan.proposal)
    assert contents(top) == before
    apply(undo(top, is_redo=True).proposal)
    assert contents(top) == after


def test_redo_applies_what_was_undone_last(top: Path) -> None:
    for name in ("first.txt", "second.txt", "third.txt"):
        apply(FileChanges(top, (PlannedFile(name, None, b"x"),), (), f"locklens {name}"))
        apply(undo(top).proposal)
    for name in ("third.txt", "second.txt", "first.txt"):
        assert not (top / name).exists()
        apply(undo(top, is_redo=True).proposal)
        assert (top / name).read_bytes() == b"x"


def test_undo_takes_back_a_redo_before_what_was_written_in_between(top: Path) -> None:
    apply(FileChanges(top, (PlannedFile("first.txt", None, b"x"),), (), "locklens first"))
    apply(undo(top).proposal)
    apply(FileChanges(top, (PlannedFile("second.txt", None, b"x"),), (), "locklens second"))
    apply(undo(top, is_redo=True).proposal)
    for left in ({"second.txt"}, set[str]()):
        apply(undo(top).proposal)
        assert {one.name for one in top.glob("*.txt")} & {"first.txt", "second.txt"} == left


def test_undo_reaches_back_step_by_step_and_redo_forward(top: Path) -> None:
    stages = [contents(top)]
    for number in range(3):
        file = PlannedFile("a.txt", f"{number - 1}".encode() if number else None, f"{number}".encode())
        apply(FileChanges(top, (file,), (), f"locklens step {number}", message=f"Step {number}"))
        stages.append(contents(top))
    first = recorded(top).writes[2].id
    with pytest.raises(StaleLockFileError, match=r"a\.txt: changed since") as refused:
        undo(top, write=first)
    assert re.fullmatch(
        r"undo what locklens wrote there since, from the newest on: 'Step 2' of [-0-9 :]+ UTC, 'Step 1' of .* UTC",
        refused.value.hint,
    )
    (top / "a.txt").write_bytes(b"by hand")
    with pytest.raises(StaleLockFileError, match=r"a\.txt: changed since") as refused:
        undo(top, write=first)
    by_hand = "undo needs each file as the write left it: revert by hand what was changed since, and undo again"
    assert refused.value.hint == by_hand, "git does not track it"
    subprocess.run(["git", "-C", str(top), "add", "a.txt"], check=True)
    with pytest.raises(StaleLockFileError, match=r"a\.txt: changed since") as refused:
        undo(top, write=first)
    assert refused.value.hint == by_hand, "nothing of it is unstaged"
    (top / "a.txt").write_bytes(b"by hand, again")
    with pytest.raises(StaleLockFileError, match=r"a\.txt: changed since") as refused:
        undo(top, write=first)
    restores = "git restore reverts all of that, this write too unless it was staged"
    assert refused.value.hint == f"git diff shows what is not staged; {restores}"
    (top / "a.txt").write_bytes(b"2")
    for back in (2, 1, 0):
        apply(undo(top).proposal)
        assert contents(top) == stages[back]
    listed = recorded(top).writes
    assert [(each.record.command, each.record.message, each.files, each.is_undone) for each in listed] == [
        (f"locklens step {number}", f"Step {number}", ("a.txt",), True) for number in (0, 1, 2)
    ]
    (top / "a.txt").write_bytes(b"by hand")
    with pytest.raises(StaleLockFileError, match=r"a\.txt: changed since.* cannot be redone") as refused:
        undo(top, is_redo=True)
    assert refused.value.hint == "the same change of the files as they are now: locklens step 0"
    (top / "a.txt").unlink()
    for forth in (1, 2, 3):
        apply(undo(top, is_redo=True).proposal)
        assert contents(top) == stages[forth]
    with pytest.raises(ConfigurationError, match="nothing to redo here"):
        undo(top, is_redo=True)
    assert not any(each.is_undone for each in recorded(top).writes)


@pytest.mark.parametrize("tool", [None, OPENTOFU])
def test_the_tool_of_a_write_judges_its_undo_and_no_root_of_that_name(top: Path, tool: Dialect | None) -> None:
    file = PlannedFile("a.txt", None, b"a")
    apply(FileChanges(top, (file,), (), "locklens prune '--root= --tool terraform'", tool=tool))
    undone = undo(top)
    assert undone.proposal.tool is tool
    apply(undone.proposal)
    assert undo(top, is_redo=True).proposal.tool is tool


def test_another_write_than_the_last_is_undone_by_its_id(top: Path) -> None:
    for name in ("a", "b"):
        apply(FileChanges(top, (PlannedFile(name, None, name.encode()),), (), f"locklens {name}"))
    first = recorded(top).writes[1]
    plan = undo(top, write=first.id)
    assert plan.proposal.command.endswith(f"undo {first.id}")
    apply(plan.proposal)
    assert ((top / "a").exists(), (top / "b").exists()) == (False, True)
    with pytest.raises(ConfigurationError, match="is undone already"):
        undo(top, write=first.id)
    with pytest.raises(ConfigurationError, match="no applied write 'x' here"):
        undo(top, write="x")


def test_old_writes_are_forgotten(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.storage.journal._MOST_PAST", 3)
    journal = Journal(tmp_path / "data")
    for number in range(6):
        apply(FileChanges(top, (PlannedFile(f"{number}", None, b""),), (), f"{number}"), journal=journal)
    assert [each.record.command for each in recorded(top, journal=journal).writes] == ["5", "4", "3", "2"]
    journal.forget(top)
    assert list(journal.folder.iterdir()) == []


def test_the_list_as_a_command(top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(top)
    assert main(["undo", "--list"], lambda request, view: 99) == 0
    assert capsys.readouterr().out == "no applied writes here\n"
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    (write,) = recorded(top).writes
    assert main(["undo", "--list"], lambda request, view: 99) == 0
    head = f"{write.id}  {write.moment}  {write.record.command}"
    assert capsys.readouterr().out == f"{head}\n  infra/{LOCK}\n"
    assert main(["undo", write.id], lambda request, view: 99) == 0
    capsys.readouterr()
    assert main(["undo", "--list", "--json"], lambda request, view: 99) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["id"], found["undone"], found["files"]) == (write.id, True, [f"infra/{LOCK}"])
    assert main(["undo", "--redo"], lambda request, view: 99) == 0
    out = capsys.readouterr().out.splitlines()
    assert (out[-2].split(" on ")[0], out[-1]) == ("reapplies the change applied", f"wrote infra/{LOCK}")


def test_many_roots_of_a_command_are_left_out_of_sentences_alone(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(top)
    roots = shell_words(["--root=-a", *(word for name in ("b c", "it's", "d", "e") for word in ("--root", name))])
    command = f"locklens upgrade aws {roots} --tool opentofu && locklens upgrade tls --root b --root c"
    apply(FileChanges(top, (PlannedFile("a", None, b""),), (), command))
    shown = "locklens upgrade aws --root … --tool opentofu && locklens upgrade tls --root b --root c"
    assert main(["undo", "--list"], lambda request, view: 99) == 0
    assert capsys.readouterr().out.splitlines()[0].partition(" UTC  ")[2] == command, "to be run again"
    assert main(["undo", "--list", "--json"], lambda request, view: 99) == 0
    assert json.loads(capsys.readouterr().out)["command"] == command
    assert main(["undo"], lambda request, view: 99) == 0
    assert f" UTC: {shown}\n" in capsys.readouterr().out
    (write,) = recorded(top).writes
    assert (write.words, write.title) == (command, shown)
    (top / "a").write_bytes(b"by hand")
    assert main(["undo", "--redo"], lambda request, view: 99) == 2
    assert capsys.readouterr().err.endswith(f"hint: the same change of the files as they are now: {command}\n")


@pytest.mark.parametrize("number", [1, 2])
def test_the_list_names_a_record_that_is_damaged(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    monkeypatch.chdir(top)
    for each in range(number):
        apply(FileChanges(top, (PlannedFile(f"{each}", None, b""),), (), f"{each}"))
    (record,) = Journal().folder.glob("*.applied")
    record.write_bytes(b"{")
    for _ in range(2):
        assert main(["undo", "--list"], lambda request, view: 99) == 0
        out = capsys.readouterr().out.splitlines()
        assert out[-1] == (
            f"note: {record}.damaged: a record of a write here is damaged, so that this write cannot be undone; "
            "it was set aside"
        )
        assert len(out) == 2 * number - 1
    assert main(["undo", "--list", "--json"], lambda request, view: 99) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["type"], f"{record}.damaged" in last["message"]) == ("note", True)


@pytest.mark.parametrize("change", ["edited", "gone"])
def test_nothing_is_taken_back_where_a_file_changed(top: Path, change: str) -> None:
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    lock = top / "infra" / LOCK
    if change == "edited":
        lock.write_bytes(lock.read_bytes() + b"# mine\n")
    else:
        lock.unlink()
    now = contents(top)
    with pytest.raises(
        StaleLockFileError,
        match=rf"^infra/{LOCK}: changed since, so that 'locklens prune --root infra' of .* cannot be undone$",
    ) as refused:
        undo(top)
    by_hand = "undo needs each file as the write left it: revert by hand what was changed since, and undo again"
    assert refused.value.hint == by_hand
    assert contents(top) == now
    (earlier,) = recorded(top).writes
    apply(FileChanges(top, (PlannedFile("b", None, b""),), (), "locklens step"))
    (top / "b").unlink()
    with pytest.raises(StaleLockFileError, match=r"^b: reverted since") as refused:
        undo(top)
    by_id = "`locklens undo ID` undoes an earlier one, of those that `locklens undo --list` shows"
    assert refused.value.hint == f"nothing of it is left to undo; {by_id}"
    with pytest.raises(StaleLockFileError) as refused:
        undo(top, write=earlier.id)
    assert refused.value.hint == by_hand


def test_of_a_write_that_was_reverted_otherwise_nothing_is_left_to_undo(top: Path) -> None:
    lock = top / "infra" / LOCK
    before = lock.read_bytes()
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    lock.write_bytes(before)
    (write,) = recorded(top).writes
    assert write.state == "(reverted since)"
    with pytest.raises(
        StaleLockFileError, match=rf"^infra/{LOCK}: reverted since, so that .* cannot be undone$"
    ) as refused:
        undo(top, write=write.id)
    assert (refused.value.hint, lock.read_bytes()) == ("nothing of it is left to undo", before)


def test_a_file_that_changes_after_it_was_planned(top: Path) -> None:
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    plan = undo(top)
    (top / "infra" / LOCK).write_bytes(b"")
    with pytest.raises(StaleLockFileError):
        apply(plan.proposal)


def test_nothing_was_applied(top: Path, tmp_path: Path) -> None:
    for folder in (top, tmp_path):
        with pytest.raises(ConfigurationError, match="nothing to undo here"):
            undo(folder)


def test_without_git_and_with_another_journal(tmp_path: Path) -> None:
    journal, place = Journal(tmp_path / "data"), tmp_path / "place"
    place.mkdir()
    apply(FileChanges(place, (PlannedFile("a", None, b"a"),), (), "x"), journal=journal)
    apply(undo(place, journal=journal).proposal, journal=journal)
    assert list(place.iterdir()) == []
    journal.forget(place)
    assert list(journal.folder.iterdir()) == []


def test_as_a_command_in_another_process(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(top)
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    command = [sys.executable, "-m", "locklens", "-C", str(top / "infra"), "undo"]
    shown = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, check=True, env=os.environ)
    assert '+provider "registry.terraform.io/hashicorp/tls"' in shown.stdout
    lines = shown.stderr.splitlines()
    assert lines[0] == "infra: hashicorp/tls 1.0.0 would be added"
    assert lines[1].startswith("would revert the change applied on ")
    assert lines[2:] == ["dry run: nothing was written"]
    assert contents(top) != before
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.splitlines()[1].startswith("reverts the change applied on ")
    assert done.stdout.splitlines()[2:] == [f"restored infra/{LOCK}"]
    assert contents(top) == before
    (top / "infra" / LOCK).unlink()
    apply(FileChanges(top, (PlannedFile(f"infra/{LOCK}", None, b""),), (), "x"))
    again = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert again.stdout.splitlines()[-1] == f"removed infra/{LOCK}"
    assert not (top / "infra" / LOCK).exists()
    (top / "infra" / LOCK).write_bytes(before[f"infra/{LOCK}"])
    apply(Prune(Scope(top, ("infra",))).plan().proposal)
    monkeypatch.chdir(top)
    (top / "infra" / LOCK).write_bytes(b"")
    assert main(["undo"], lambda request, view: 99) == 2
    assert "changed since" in capsys.readouterr().err
