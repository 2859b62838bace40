"""B: base and head are selected inside, among the branches, tags and commits of a real repository."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest
from kit.git import git
from kit.repositories import put, repository
from msgspec.structs import replace
from operations.test_prune_restore_format import entry, lock
from operations.test_stage import LOCK
from textual import events
from textual.widgets import Input
from ui.conftest import Driver, Running, Samples, ServingSource, until
from ui.test_two_revisions import locked, shown, source_of, top

from locklens.operations.compare_files import open_files
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.project.git import Repository
from locklens.ui.dialogs.choices import SidesDialog
from locklens.ui.signers import SignersScreen
from locklens.ui.views import SidesWanted
from locklens.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.project.git.listings import Revision

__all__ = ["top"]


async def offered(on: Driver) -> SidesDialog:
    await on.press("B")
    dialog = on.app.screen
    assert isinstance(dialog, SidesDialog)
    await until(on, lambda: "reading branches" not in on.text)
    return dialog


async def select(on: Driver, base: str, head: str, *keys: str) -> None:
    await offered(on)
    await on.press(*keys)
    for name in (base, head):
        await on.press("slash", *("space" if letter == " " else letter for letter in name), "enter")
        await on.press("enter")
    await until(on, lambda: not isinstance(on.app.screen, SidesDialog))
    await on.settle()


async def test_every_view_compares_the_selected_sides(running: Running, top: Path) -> None:
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        assert locked(await shown(on, "3")) == {"4.0.0"}
        await on.press("1")
        assert "-> work tree" in on.lines[0]
        await select(on, "v1", "v2")
        assert "v1@" in on.lines[0]
        assert "-> v2@" in on.lines[0]
        assert "read only" in on.lines[0]
        assert "1.0.0 -> 2.0.0" in on.text
        for key in ("2", "3", "4"):
            assert locked(await shown(on, key)) == {"2.0.0"}
            assert "v2@" in on.lines[0]
        await select(on, "v2", "index")
        assert locked(await shown(on, "3")) == {"3.0.0"}
        await select(on, "HEAD", "work tree")
        assert locked(await shown(on, "2")) == {"4.0.0"}
        await on.press("1")
        assert "2.0.0 -> 4.0.0" in on.text
        assert "read only" not in on.text
        put(top, {f"a/{LOCK}": lock(entry("aws", "5.0.0"))})
        await until(on, lambda: "2.0.0 -> 5.0.0" in on.text)


async def test_the_common_ancestor(running: Running, top: Path) -> None:
    git(top, "branch", "feature", "v1")
    git(top, "commit", "-qm", "three")
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        await select(on, "v2", "feature", "m")
        assert f"fork point of v2 {git(top, 'rev-parse', 'v1')[:7]} -> feature@" in on.lines[0]
        assert "v2...feature" not in on.text
        assert "No lock file changed" in on.text
        assert "B selects another base or head" in on.text


async def test_the_common_ancestor_leaves_the_highlighted_revision(running: Running, top: Path) -> None:
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        dialog = await offered(on)
        await on.press("j", "j", "m")
        view = dialog.query_one(LineView)
        assert view.current == view.lines[2]


async def test_the_dialog(running: Running, top: Path) -> None:
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        dialog = await offered(on)
        view = dialog.query_one(LineView)
        names = [line.copied for line in view.lines]
        branch = git(top, "branch", "--show-current")
        assert names[:2] == ["HEAD", branch]
        assert set(names[2:4]) == {"v1", "v2"}
        assert len(names) == 6
        assert "two" in on.text
        await on.press("enter")
        assert "Select the head to compare with HEAD" in on.text
        assert [line.copied for line in view.lines][:2] == ["work tree", "index"]
        await on.press("escape")
        assert "Select the base" in on.text
        await on.press("slash", *"zzz")
        assert "no branch, tag or recent commit matches" in on.text
        assert not {"j k", "m common ancestor"} & {key.strip() for key in on.text.split("  ")}, "they are text here"
        await on.press("enter", "enter")
        assert "Select the base" in on.text, "nothing is highlighted"
        await on.press("escape")
        assert on.is_on_top
        assert "-> work tree" in on.lines[0]


class Held(LockLens):
    """Reads the revisions once it is let."""

    def __init__(self, source: LockLens) -> None:
        super().__init__(source.request)
        self.may_read = threading.Event()

    def revisions(self, folder: Path | None) -> tuple[Revision, ...]:
        assert self.may_read.wait(60)
        return super().revisions(folder)


async def test_what_is_typed_while_the_revisions_are_read_is_kept(running: Running, top: Path) -> None:
    held = Held(source_of(top, Base()))
    async with running(held, size=(140, 40)) as on:
        await on.press("B", "slash", *"v1")
        dialog = on.app.screen
        assert isinstance(dialog, SidesDialog)
        assert "reading branches, tags and commits …" in on.text
        assert dialog.query_one(Input).value == "v1"
        held.may_read.set()
        await until(on, lambda: "reading branches" not in on.text)
        assert [line.copied for line in dialog.view.lines] == ["v1"]
        await on.press("enter", "enter")
        assert "Select the head to compare with v1" in on.text
        await on.press("escape", "escape")
        held.may_read.clear()
        await on.press("B", "slash", *"v1..v2", "enter")
        await until(on, lambda: on.is_on_top and "1.0.0 -> 2.0.0" in on.text)
        held.may_read.set()


async def test_why_there_are_no_revisions_is_said_in_the_dialog(running: Running, top: Path) -> None:
    held = Held(source_of(top, Base()))
    async with running(held, size=(140, 40)) as on:
        await on.press("B")
        (top / ".git").rename(top / "moved")
        held.may_read.set()
        await until(on, lambda: "is not inside a git repository" in on.text)
        assert isinstance(on.app.screen, SidesDialog)


async def test_sides_that_git_does_not_know_are_refused_in_the_dialog(running: Running, top: Path) -> None:
    git(top, "branch", "late", "v2")
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        dialog = await offered(on)
        await on.press("slash", *"v1..nope", "enter")
        await on.settle()
        assert on.app.screen is dialog
        assert "unknown revision 'nope'" in on.text
        await on.press(*["backspace"] * len("v1..nope"))
        assert "unknown revision" not in on.text
        git(top, "branch", "-D", "late")
        await on.press(*"late", "enter", "enter", "enter")
        await on.settle()
        assert "unknown revision 'late'" in on.text
        await on.press("escape", "escape")
        assert on.is_on_top
        assert "2.0.0 -> 4.0.0" in on.text
        await select(on, "v1", "work tree")
        assert "1.0.0 -> 4.0.0" in on.text


async def test_both_sides_can_be_typed_where_the_head_is_selected(running: Running, top: Path) -> None:
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        await offered(on)
        await on.press("enter")
        assert "Select the head to compare with HEAD" in on.text
        await on.press("slash", *"v1..v2")
        assert "no branch, tag or recent commit matches" not in on.text
        await on.press("enter")
        await until(on, lambda: on.is_on_top and "1.0.0 -> 2.0.0" in on.text)


async def test_keys_of_rows_before_there_are_rows(running: Running, top: Path) -> None:
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        on.app.post_message(SidesWanted(Base("nope"), top))
        await until(on, lambda: "unknown revision 'nope'" in on.text)
        for key in ("space", "a", "d", "y", "n", "S", "A", "G", "j"):
            await on.press(key)
            assert on.lines[-2].split("  ")[0].strip() == "too early: nothing was loaded yet", key
        await on.press("X")
        assert "X does nothing on this screen" in on.lines[-2]
        on.app.post_message(events.Key("alt+z", "z"))
        await on.settle()
        assert "alt+z does nothing on this screen" in on.lines[-2], "escape and a letter, sent at once"
        assert not on.screen.loader.marks
        await on.press("2")
        await until(on, lambda: "unknown revision 'nope'" in on.text)
        await on.press("c")
        assert "too early: nothing was loaded yet" in on.lines[-2], "whether the policy has a cooldown is not known"
        await on.press("1")
        on.app.post_message(SidesWanted(Base(), top))
        await until(on, lambda: on.screen.review is not None)
        assert "too early" not in on.text


async def test_two_files_have_no_revisions(running: Running, samples: Samples, top: Path) -> None:
    class Files(ServingSource):
        request = ReviewRequest(partial(samples.full))  # type: ignore[arg-type]

    found = samples.full()
    found = replace(found, base=replace(found.base, kind="file"), head=replace(found.head, kind="file"))
    async with running(Files(found)) as on:
        await on.press("B")
        assert on.is_on_top
        words = "two files are compared, not two states of a repository"
        for key, name in (("B", "compare"), ("R", "restore"), ("S", "stage"), ("A", "accept")):
            await on.press(key)
            assert f"{name}: {words}" in on.lines[-2]
        assert "R restore" not in on.lines[-1]
        assert f"OFF  {words}" in [one.text for one in on.screen.help_lines()]


async def test_two_files_have_no_policy_to_pin_keys_in(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {"a.hcl": lock(entry("aws", "1.0.0")), "b.hcl": lock(entry("aws", "2.0.0"))})
    opened = partial(open_files, "a.hcl", "b.hcl", config=None, cwd=top, stdin=bytes)
    async with running(LockLens(ReviewRequest(opened))) as on:
        await on.press("4")
        await until(on, lambda: isinstance(on.app.screen, SignersScreen) and on.app.screen.review is not None)
        for key, name in (("T", "trust"), ("D", "drop pin")):
            await on.press(key)
            assert f"{name}: two files are compared, not two states of a repository" in on.lines[-2]
            assert f"{key} {name.split()[0]}" not in on.lines[-1]


async def test_two_files_of_revisions_have_no_work_tree_to_go_back_to(running: Running, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {"a.hcl": lock(entry("aws", "1.0.0")), "b.hcl": lock(entry("aws", "2.0.0"))})
    opened = partial(open_files, "HEAD:a.hcl", "HEAD:b.hcl", config=None, cwd=top, stdin=bytes)
    async with running(LockLens(ReviewRequest(opened))) as on:
        for key, name in (("P", "prune"), ("e", "edit")):
            await on.press(key)
            assert f"{name}: " in on.lines[-2]
            assert "two revisions are compared" in on.lines[-2]
            assert "B goes back" not in on.lines[-2]


def test_names_that_nobody_would_choose(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK}": lock(entry("aws", "1.0.0"))})
    for name in ("--force", "a|b", "ünï/$(x)", "HEAD-", "@"):
        git(top, "update-ref", f"refs/heads/{name}", "HEAD")
    git(top, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/a|b")
    with Repository.discover(top) as opened:
        found = opened.revisions()
        assert {"a|b", "ünï/$(x)", "HEAD-"} <= {one.name for one in found}
        assert not any(one.kind == "remote" for one in found)
        for one in found:
            if one.kind != "commit" and one.name not in {"@", "--force"}:
                assert opened.resolve(one.name)


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with Repository.discover(tmp_path) as opened:
        assert opened.revisions() == ()


pytestmark = pytest.mark.usefixtures("quick_looks")


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.ui.shell.review_loader.LOOK_SECONDS", 0.05)


async def test_a_range_selects_both_sides(running: Running, top: Path) -> None:
    async with running(source_of(top, Base()), size=(140, 40)) as on:
        await offered(on)
        await on.press("slash", *"v1..v2", "enter")
        await until(on, lambda: on.is_on_top and "1.0.0 -> 2.0.0" in on.text)
        assert "read only" in on.lines[0]
