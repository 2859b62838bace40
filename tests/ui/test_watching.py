"""Changes on disk reach the screen, through the real comparison of a real repository."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest
from kit.effort import some
from kit.git import git
from kit.repositories import commit, put, repository
from operations.test_prune_restore_format import entry, lock
from operations.test_stage import LOCK, NEW, OLD
from ui.conftest import Driver, Running, until

from locklens.machine import current_folder
from locklens.operations.compare import open_git
from locklens.operations.comparison import USUAL_SIDES, Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.ui.phrases import changed_on_disk
from locklens.ui.shell.watching import names_of_files


def source_of(top: Path, base: Base = USUAL_SIDES) -> LockLens:
    return LockLens(ReviewRequest(partial(open_git, top, base)))


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.ui.shell.review_loader.LOOK_SECONDS", 0.05)


def paths(on: Driver) -> set[str]:
    return {root.path for root in on.screen.review.roots} if on.screen.review is not None else set()


async def test_roots_that_are_not_listed_show_up(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD, f"b/{LOCK}": OLD, "docs/readme.md": b"x"})
    async with running(source_of(top)) as on:
        assert "No lock file changed between" in on.text
        put(top, {f"b/{LOCK}": NEW})
        await until(on, lambda: paths(on) == {"b"})
        await until(on, lambda: "changed on disk, reloaded" in on.text)
        put(top, {f"docs/new/{LOCK}": NEW})
        await until(on, lambda: paths(on) == {"b", "docs/new"})
        put(top, {"a/main.tf": b'terraform {\n  required_providers {\n    gcp = { source = "acme/gcp" }\n  }\n}\n'})
        await until(on, lambda: paths(on) == {"a", "b", "docs/new"})
        await until(on, lambda: "LK006" in on.text or "required" in on.text)
        (top / "docs/new" / LOCK).unlink()
        await until(on, lambda: paths(on) == {"a", "b"})


async def test_a_repository_that_replaces_the_one_under_review_is_shown(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of the shell is another one then, and the process is in one that is gone."""
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD})
    put(top, {f"a/{LOCK}": NEW})
    monkeypatch.chdir(top)
    assert current_folder() == str(top)  # The command line asks for it first.
    async with running(source_of(top)) as on:
        shutil.copytree(top, tmp_path / "clone")
        put(tmp_path / "clone", {f"b/{LOCK}": NEW})
        shutil.rmtree(top)
        await on.press("r")
        await until(on, lambda: f"{top} is not a folder" in on.text)
        await on.press("5")
        await on.settle()
        (tmp_path / "clone").rename(top)
        await on.press("2")
        await on.settle()
        assert "2 roots" in on.lines[0]
        await on.press("1", "r")
        await until(on, lambda: paths(on) == {"a", "b"})
        assert Path.cwd() == top


async def test_a_change_on_disk_does_not_take_the_answer_to_a_key_off_the_screen(
    running: Running, tmp_path: Path
) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD, f"b/{LOCK}": OLD})
    put(top, {f"a/{LOCK}": NEW})
    async with running(source_of(top)) as on:
        await on.press("S")
        refusal = "no change is marked as reviewed"
        assert refusal in on.lines[-2]
        put(top, {f"b/{LOCK}": NEW})
        await until(on, lambda: paths(on) == {"a", "b"} and not on.screen.is_asking)
        assert refusal in on.lines[-2]
        await on.press("g", "x")
        assert refusal not in on.text
        await on.press("S", "escape")
        put(top, {f"b/{LOCK}": OLD})
        await until(on, lambda: paths(on) == {"a"} and not on.screen.is_asking)
        assert "q quits" in on.lines[-2]
        on.screen.end_message()
        assert "changed on disk, reloaded" in on.lines[-2]


async def test_a_broken_policy_is_read_again_when_it_is_fixed(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD, "locklens.toml": b""})
    commit(top, {"locklens.toml": b"x\n"})
    put(top, {f"a/{LOCK}": NEW})
    async with running(source_of(top)) as on:
        await until(on, lambda: "locklens.toml:1: not valid TOML" in on.text)
        put(top, {"locklens.toml": b"x = 1\n"})
        git(top, "commit", "-qm", "an unknown key", "locklens.toml")
        await until(on, lambda: "not valid TOML" not in on.text and "locklens.toml" in on.text)
        git(top, "checkout", "-q", "HEAD~2")
        await until(on, lambda: "locklens.toml:" not in on.text and paths(on) == {"a"})
        put(top, {f"b/{LOCK}": NEW})
        await until(on, lambda: paths(on) == {"a", "b"})


@pytest.mark.parametrize("key", ["1", "2", "5"])
async def test_a_policy_that_was_named_is_watched_too(running: Running, tmp_path: Path, key: str) -> None:
    top, policy = repository(tmp_path / "top", {f"a/{LOCK}": OLD}), tmp_path / "named.toml"
    put(top, {f"a/{LOCK}": NEW})
    policy.write_bytes(b"cooldown = 3\n")
    request = ReviewRequest(partial(open_git, top), policy=policy)
    async with running(LockLens(request)) as on:
        await on.press(key)
        await on.settle()
        policy.write_bytes(b"cooldown = 14\n")
        await until(on, lambda: " named.toml changed on disk, reloaded" in on.text)
        if key == "2":
            await until(on, lambda: "cooldown 14 d" in on.text)


@pytest.mark.parametrize(
    ("before", "presses", "switched"),
    some(
        [(b"", 1, "own cooldown 7 d"), (b"", 2, "no cooldown"), (b"cooldown = 3\n", 1, "policy cooldown 3 d ignored")],
        3,
    ),
)
async def test_a_cooldown_that_the_policy_sets_later_ends_the_users_own(
    running: Running, tmp_path: Path, before: bytes, presses: int, switched: str
) -> None:
    top, policy = repository(tmp_path / "top", {f"a/{LOCK}": OLD}), tmp_path / "named.toml"
    policy.write_bytes(before)
    request = ReviewRequest(partial(open_git, top), policy=policy)
    async with running(LockLens(request)) as on:
        await on.press("2")
        await on.settle()
        for _ in range(presses):
            await on.press("c")
        on.screen.end_message()
        await until(on, lambda: switched in on.lines[-2])
        policy.write_bytes(b'cooldown = 14\nfail_on = "warn"\n')
        if presses == 1:
            await until(on, lambda: "cooldown: 14 days, by the policy; the policy changed" in on.lines[-2])
        await until(on, lambda: "policy cooldown 14 d" in on.lines[-2] and "ignored" not in on.lines[-2])


async def test_of_the_files_that_changed_together_the_lock_files_are_named(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"{root}/{LOCK}": OLD for root in "abc"})
    async with running(source_of(top)) as on:
        put(top, {f"a/{LOCK}": NEW, "a/main.tf": b"# a comment", "b/main.tf": b"# a comment"})
        git(top, "add", "-A")
        await until(on, lambda: f" a/{LOCK} changed on disk, reloaded" in on.text)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ([f"a/{LOCK}", f"b/{LOCK}", "a/main.tf", f"c/{LOCK}"], f"a/{LOCK}, b/{LOCK} and 1 more"),
        (["a/main.tf", ".git/index"], "a/main.tf, index"),
        ([".git/refs/heads/main"], "main"),
    ],
)
def test_the_notice_names_files_and_not_folders(changed: list[str], words: str) -> None:
    names = names_of_files([f"/top/{path}" for path in changed], Path("/top"))
    assert changed_on_disk(names) == f"{words} changed on disk, reloaded"


async def test_the_index_is_watched_where_it_is_reviewed(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD})
    put(top, {f"a/{LOCK}": lock(entry("aws", "3.0.0"))})
    async with running(source_of(top, Base(is_staged=True))) as on:
        assert paths(on) == set()
        git(top, "add", "-A")
        await until(on, lambda: paths(on) == {"a"})


async def test_a_commit_and_what_is_staged_are_noticed(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": OLD})
    put(top, {f"a/{LOCK}": lock(entry("aws", "3.0.0"))})
    async with running(source_of(top)) as on:
        loads = on.screen.loader._loading
        await until(on, lambda: not loads.is_running)
        number = loads.runs
        git(top, "add", "-A")
        await until(on, lambda: " index changed on disk, reloaded" in on.text)
        await until(on, lambda: any(row.standing == "S" for row in on.changes.rows))
        git(top, "commit", "-qm", "locked")
        await until(on, lambda: paths(on) == set())
        assert "No lock file changed between HEAD" in on.text
        await until(on, lambda: not loads.is_running)
        assert loads.runs == number + 2, "a review itself changes nothing of git's"


async def test_an_index_that_says_the_same_is_no_change(running: Running, tmp_path: Path) -> None:
    repository(tmp_path / "original", {f"{root}/{LOCK}": OLD for root in "abc"})
    top, index = tmp_path / "top", tmp_path / "top/.git/index"
    shutil.copytree(tmp_path / "original", top)  # git has not looked at these files
    before = index.stat()
    async with running(source_of(top)) as on:
        loads = on.screen.loader._loading
        await until(on, lambda: not loads.is_running and on.screen.review is not None)
        assert (index.stat().st_ino, index.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        number = loads.runs
        git(top, "status")
        assert index.stat().st_ino != before.st_ino
        put(top, {f"b/{LOCK}": NEW})
        await until(on, lambda: f" b/{LOCK} changed on disk, reloaded" in on.text)
        await until(on, lambda: paths(on) == {"b"} and not loads.is_running)
        assert loads.runs == number + 1
