"""Staging from the screen: what is marked, through the Preview, into git's index; and back."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kit.git import git
from kit.repositories import put, repository
from operations.test_prune_restore_format import entry, lock
from operations.test_stage import LOCK, NEW, OLD, index, requiring, said
from textual.widgets import Input
from ui.conftest import Driver, Running, Samples, until

from locklens.operations.compare import open_git
from locklens.operations.comparison import USUAL_SIDES, Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.ui.preview import PreviewScreen
from locklens.ui.review import ReviewScreen


def source_of(top: Path, base: Base = USUAL_SIDES) -> LockLens:
    return LockLens(ReviewRequest(partial(open_git, top, base), base=base))


def two_roots(tmp_path: Path) -> Path:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD, f"b/{LOCK}": OLD})
    put(top, {f"a/{LOCK}": NEW, f"b/{LOCK}": lock(entry("aws"), entry("null", "9.0.0"), entry("random"), entry("tls"))})
    return top


async def previewed(on: Driver) -> str:
    await on.press("S")
    await until(on, lambda: isinstance(on.app.screen, PreviewScreen) and "ready: enter" in on.text)
    return on.text


async def test_what_is_marked_is_staged_and_taken_back(running: Running, tmp_path: Path) -> None:
    top = two_roots(tmp_path)
    async with running(source_of(top), size=(140, 50)) as on:
        await on.press("S")
        assert "no change is marked as reviewed; mark changes with space first" in on.text
        for title in ("hashicorp/aws", "hashicorp/null"):
            await on.go_to(title)
            await on.press("space")
        text = await previewed(on)
        assert "Stage hashicorp/aws and hashicorp/null in 2 roots" in text
        assert "nothing staged yet" in text
        assert "ready: enter stages 2 files" in text
        assert "after this, 2 entries of these files differ from HEAD in git's" in text
        assert "git -C " in text, "as it works in the folder of the shell"
        assert index(top, f"a/{LOCK}") == OLD
        await on.press("f")
        nothing = "git knows of no edited or deleted configuration file in the roots that are staged"
        assert f"stage files: {nothing}" in on.text
        assert isinstance(on.app.screen, PreviewScreen)
        assert f"OFF  {nothing}" in [one.text for one in on.app.screen.help_lines()]
        await on.press("escape")
        assert on.is_on_top
        assert index(top, f"a/{LOCK}") == OLD
        await previewed(on)
        await on.press("enter")
        await until(on, lambda: on.is_on_top and "staged 2 files; Z undoes it" in on.text)
        assert said(index(top, f"a/{LOCK}")) == {"aws": "2.0.0", "null": "1.0.0", "random": "1.0.0", "tls": "1.0.0"}
        assert index(top, f"b/{LOCK}") == (top / "b" / LOCK).read_bytes()
        assert (top / "a" / LOCK).read_bytes() == NEW
        await on.settle()
        await on.press("S")
        await until(on, lambda: "nothing to stage" in on.lines[0])
        assert "EQUIVALENT COMMAND" not in on.text, "no command stages nothing"
        assert not any(label in on.lines[-1] for label in ("full diff", "y copy"))
        await on.press("escape", "Z", "enter")
        await until(on, lambda: "ready: enter unstages 2 files" in on.text)
        assert "Undo: Stage: " in on.lines[0], "the upgrade of the work tree is not undone"
        await on.press("enter")
        await until(on, lambda: on.is_on_top)
        assert "unstaged 2 files" in on.lines[-2]
        assert git(top, "diff", "--cached") == ""


async def test_a_switch_of_the_tool_is_told_of_what_is_staged(running: Running, tmp_path: Path) -> None:
    old = lock(entry("aws"))
    new = old.replace(b"registry.terraform.io", b"registry.opentofu.org").replace(b"terraform init", b"tofu init")
    top = repository(tmp_path / "top", {f"a/{LOCK}": old, "a/main.tf": requiring("1.0.0")})
    put(top, {f"a/{LOCK}": new})
    async with running(source_of(top), size=(140, 60)) as on:
        assert "LK032" in on.text
        await on.press("a")
        assert "LK032" in await previewed(on)


async def test_the_edited_configuration_is_offered(running: Running, tmp_path: Path) -> None:
    old, new = lock(entry("aws")), lock(entry("aws", "2.0.0"))
    top = repository(tmp_path / "top", {f"a/{LOCK}": old, "a/main.tf": requiring("1.0.0")})
    put(top, {f"a/{LOCK}": new, "a/main.tf": requiring("2.0.0")})
    async with running(source_of(top), size=(140, 60)) as on:
        await on.press("a")
        text = await previewed(on)
        assert "LK005" in text
        assert "a/main.tf differs from the index and is not staged" in text
        assert "f  stages the edited or deleted configuration files too" in text
        assert isinstance(on.app.screen, PreviewScreen)
        assert not any(one.text.startswith(("OFF  git knows", "OFF  only in")) for one in on.app.screen.help_lines())
        await on.press("f")
        await until(on, lambda: "ready: enter stages 2 files" in on.text)
        assert "LK005" not in on.text
        await on.press("enter")
        await until(on, lambda: on.is_on_top)
        assert index(top, "a/main.tf") == requiring("2.0.0")


async def test_marks_that_a_filter_hides_are_staged_too(running: Running, tmp_path: Path) -> None:
    top = two_roots(tmp_path)
    async with running(source_of(top)) as on:
        await on.press("a", "slash", *"provider:tls", "enter")
        assert on.screen.query_one(Input).value == "provider:tls"
        assert "Stage 5 providers in 2 roots" in await previewed(on)


async def test_a_file_that_changed_meanwhile_is_refused(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locklens.ui.shell.review_loader.LOOK_SECONDS", 1000.0)
    top = two_roots(tmp_path)
    async with running(source_of(top), size=(160, 70)) as on:
        await on.press("a")
        put(top, {f"b/{LOCK}": OLD + b"\n"})
        await on.press("S")
        await until(on, lambda: ": changed on disk since it was" in on.text and "ready: enter" in on.text)
        await on.press("enter")
        await until(on, lambda: on.is_on_top)
        assert index(top, f"b/{LOCK}") == OLD
        assert index(top, f"a/{LOCK}") == NEW


async def test_only_the_work_tree_can_be_staged(running: Running, samples: Samples, tmp_path: Path) -> None:
    top = two_roots(tmp_path)
    git(top, "add", "-A")
    async with running(source_of(top, Base(is_staged=True))) as on:
        await on.press("a", "S")
        assert "read-only while git's index is reviewed: B goes back to the work tree" in on.text
    async with running(samples.full()) as on:
        await on.press("a", "S")
        assert "only changes of the work tree can be staged" in on.text


async def test_rows_say_what_is_staged(running: Running, tmp_path: Path) -> None:
    top = two_roots(tmp_path)
    git(top, "add", f"b/{LOCK}")

    def sign(on: Driver, title: str) -> str:
        return next(row.standing for row in on.changes.rows if row.node.title == title)

    async with running(source_of(top), size=(140, 50)) as on:
        assert (sign(on, "hashicorp/aws"), sign(on, "hashicorp/null")) == ("", "S")
        assert any("·S" in line and "hashicorp/null" in line for line in on.lines)
        await on.go_to("hashicorp/aws")
        await on.press("space")
        await previewed(on)
        await on.press("enter")
        await until(on, lambda: on.is_on_top and sign(on, "hashicorp/aws") == "S")
    assert "staged: git's index has this block" in str(ReviewScreen.TERMS)


async def test_the_title_is_of_what_is_not_staged_yet(running: Running, tmp_path: Path) -> None:
    top = two_roots(tmp_path)
    git(top, "add", f"b/{LOCK}")
    async with running(source_of(top), size=(140, 50)) as on:
        for title in ("hashicorp/aws", "hashicorp/null"):
            await on.go_to(title)
            await on.press("space")
        text = await previewed(on)
        assert "Stage hashicorp/aws in a" in text
        assert "1 provider, 1 of 2 roots, 1 file" in text


async def test_the_message_is_that_of_the_commit(running: Running, tmp_path: Path) -> None:
    top = two_roots(tmp_path)
    async with running(source_of(top), size=(140, 60)) as on:
        await on.go_to("hashicorp/aws")
        await on.press("space")
        assert "Lock-Review: " in await previewed(on)
        await on.press("escape")
        git(top, "add", f"b/{LOCK}")
        text = await previewed(on)
        assert "COMMIT MESSAGE  without trailers: more is committed than reviewed" in text
        assert "Lock-Review: " not in text


async def test_a_group_that_is_staged_in_part_says_so(running: Running, tmp_path: Path) -> None:
    old, new = lock(entry("aws")), lock(entry("aws", "2.0.0"))
    top = repository(tmp_path / "top", {f"a/{LOCK}": old, f"b/{LOCK}": old})
    put(top, {f"a/{LOCK}": new, f"b/{LOCK}": new})
    git(top, "add", f"a/{LOCK}")
    async with running(source_of(top)) as on:
        await on.go_to("hashicorp/aws")
        assert on.changes.rows[on.changes.cursor].standing == "s"
        await on.press("l")
        members = {row.node.title: row.standing for row in on.changes.rows if row.depth == 2}
        assert members == {"a": "S", "b": ""}


async def test_one_root_of_a_group_is_staged_from_its_own_row(running: Running, tmp_path: Path) -> None:
    old, new = lock(entry("aws")), lock(entry("aws", "2.0.0"))
    top = repository(tmp_path / "top", {f"{name}/{LOCK}": old for name in "abc"})
    put(top, {f"{name}/{LOCK}": new for name in "abc"})
    async with running(source_of(top), size=(140, 50)) as on:
        await on.go_to("hashicorp/aws")
        await on.press("l", "j")
        assert "S stage" not in on.lines[-1]
        await on.press("S")
        assert "stage: this change of a is not marked as reviewed; space marks it" in on.text
        await on.press("space")
        assert "marked this change in 3 roots as reviewed; S on this row stages this root alone" in on.lines[-2]
        assert "Stage hashicorp/aws in a" in await previewed(on)
        await on.press("enter")
        await until(on, lambda: on.is_on_top)
    assert [index(top, f"{name}/{LOCK}") for name in "abc"] == [new, old, old]


async def test_what_is_committed_is_not_called_staged(running: Running, tmp_path: Path) -> None:
    top = two_roots(tmp_path)
    git(top, "commit", "-qam", "second")
    async with running(source_of(top, Base("HEAD~1"))) as on:
        assert {row.standing for row in on.changes.rows} == {""}


def offers_stage(on: Driver) -> bool:
    """True if the key line and the palette offer `S`; both always agree."""
    offers = any("S stage" in line for line in on.lines[-2:])
    assert offers == any(one.action == "stage" for one in on.screen.palette_commands())
    return offers


async def test_stage_is_offered_where_a_marked_change_can_be_staged(running: Running, tmp_path: Path) -> None:
    old, new = lock(entry("aws")), lock(entry("aws", "2.0.0"))
    top = repository(tmp_path / "top", {f"{name}/{LOCK}": old for name in "ab"})
    put(top, {f"{name}/{LOCK}": new for name in "ab"})
    git(top, "add", f"a/{LOCK}")
    async with running(source_of(top), size=(140, 50)) as on:
        await on.go_to("hashicorp/aws")
        assert not offers_stage(on)
        await on.press("space")
        assert offers_stage(on), "b is not staged yet"
        await on.press("l", "j")
        assert not offers_stage(on), "a is"
        await on.press("j")
        assert offers_stage(on)
        git(top, "add", f"b/{LOCK}")
        await until(on, lambda: not offers_stage(on))
        await on.press("h")
        assert not offers_stage(on)


async def test_stage_is_not_offered_for_a_lock_file_that_is_not_merged(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD, f"b/{LOCK}": OLD})
    git(top, "checkout", "-qb", "theirs")
    put(top, {f"a/{LOCK}": NEW})
    git(top, "commit", "-qam", "theirs")
    git(top, "checkout", "-q", "-")
    put(top, {f"a/{LOCK}": OLD.replace(b"1.0.0", b"5.0.0")})
    git(top, "commit", "-qam", "ours")
    with pytest.raises(AssertionError):
        git(top, "merge", "-q", "theirs")
    put(top, {f"a/{LOCK}": NEW})
    async with running(source_of(top), size=(140, 50)) as on:
        await on.press("a")
        assert "✓" in on.text
        assert not offers_stage(on)
        put(top, {f"b/{LOCK}": NEW})
        await until(on, lambda: "2 roots" in on.lines[0])
        await on.press("a")
        assert offers_stage(on), "the other lock file can be staged"
