"""The Preview on real repositories: the plan, every key, what is written, what is not, and what a cancel leaves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path

import pytest
from kit.git import git
from kit.registries import environ_of
from kit.repositories import commit, copy_of, put, repository
from kit.waiting import LIMIT
from textual.widgets import Input
from ui.conftest import Driver, Running, until

from locklens.addresses import Platform, ProviderAddress
from locklens.cli.main import main
from locklens.demo import PLATFORMS, SampleLock, faults, lock_file
from locklens.demo.faults import Fault, Step
from locklens.demo.registry import DemoRegistry
from locklens.errors import LockLensError
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base, RootSettings
from locklens.operations.locklens import LockLens
from locklens.operations.plan import FileChanges, Plan, Scope
from locklens.operations.plan.commit_message import commit_message
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write.apply import FileOperation, Operation, apply
from locklens.operations.write.lock import Lock
from locklens.operations.write.lock_edits import Format, Prune, Restore, RestoredProviders
from locklens.operations.write.root_upgrade import SelectedVersion
from locklens.operations.write.undo import Undo, undo
from locklens.operations.write.upgrade import Upgrade
from locklens.releases import NetworkSettings
from locklens.review.model import Review
from locklens.storage.cache import Cache
from locklens.storage.journal import Journal
from locklens.ui.app import LockLensApp
from locklens.ui.dialogs.choices import WritesDialog
from locklens.ui.dialogs.form import FormDialog, platforms_form
from locklens.ui.hashes import HashesScreen
from locklens.ui.preview import PreviewScreen
from locklens.ui.preview.progress import PlanStage
from locklens.ui.signers import SignersScreen
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.widgets.line_view import LineView
from locklens.versions import Version

HOST = "registry.terraform.io"
LOCK = ".terraform.lock.hcl"
DEMO = ProviderAddress(HOST, "acme", "demo")
terraform = shutil.which("terraform")


def requires(*named: tuple[str, str]) -> str:
    lines = "".join(
        f'    {source.rpartition("/")[2]} = {{ source = "{source}", version = "{text}" }}\n' for source, text in named
    )
    return f"terraform {{\n  required_providers {{\n{lines}  }}\n}}\n"


def contents(top: Path) -> dict[str, bytes]:
    found = (path for path in sorted(top.rglob("*")) if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(top)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry() as running:
        yield running


@pytest.fixture(autouse=True)
def sound(registry: DemoRegistry) -> None:
    registry.faults.clear()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Two roots: aws went down and an orphan came, in both; in one of them the lock file has Windows' line ends."""
    return copy_of(with_two_roots, tmp_path / "top")


def with_two_roots(top: Path) -> None:
    def lay(aws: str, *more: SampleLock) -> None:
        for root in ("a", "b"):
            put(top / root, {"main.tf": requires(("acme/demo", "~> 1.4"), ("hashicorp/aws", ">= 5.0"))})
            locked = (
                SampleLock(f"{HOST}/acme/demo", "1.4.1", "~> 1.4"),
                SampleLock(f"{HOST}/hashicorp/aws", aws, ">= 5.0.0"),
            )
            (top / root / LOCK).write_bytes(lock_file(*locked, *more))

    lay("5.86.1")
    repository(top, {})
    lay("5.84.0", SampleLock(f"{HOST}/hashicorp/random", "3.6.2"))


class PreviewDriver(Driver):
    """Words for the Preview."""

    before: Review | None = None
    """What was reviewed when a plan was ready."""

    @property
    def preview(self) -> PreviewScreen:
        return next(one for one in self.app.screen_stack if isinstance(one, PreviewScreen))

    @property
    def plan(self) -> str:
        """All of the left pane."""
        return "\n".join(line.text for line in self.preview.query_one("#plan", LineView).lines)

    @property
    def shown(self) -> str:
        """All of the right pane."""
        return "\n".join(line.text for line in self.preview.query_one("#detail", LineView).lines)

    @property
    def status(self) -> str:
        return self.lines[-2].strip() if len(self.lines) > 1 else ""

    def has_preview(self) -> bool:
        """Whether a preview is there, with its panes: a screen is on the stack before they are."""
        return any(isinstance(screen, PreviewScreen) and screen.query("#plan") for screen in self.app.screen_stack)

    async def ready(self) -> None:
        """Waits until a plan can be written; the status line may show a notice for some seconds more."""
        await until(self, lambda: self.has_preview() and self.preview.standing.stage is PlanStage.READY)
        await self.pilot.pause()
        self.before = self.screen.review

    def want(self, operation: Operation) -> None:
        """Has a key's operation previewed."""
        self.app.call_later(self.screen.preview, operation)

    async def open(self, operation: Operation) -> None:
        self.want(operation)
        await until(self, self.has_preview)
        await self.ready()

    async def to_plan_line(self, words: str) -> None:
        view = self.preview.query_one("#plan", LineView)
        view.cursor = next(index for index, line in enumerate(view.lines) if words in line.text)
        await self.pilot.pause()

    async def reviewed(self) -> None:
        """Waits until what was written is reviewed."""

        def is_reviewed() -> bool:
            return self.screen.review is not self.before and not self.screen.is_asking

        await until(self, is_reviewed)
        await self.pilot.pause()  # its rows are shown, or the registries are asked now
        await until(self, is_reviewed)


Opening = Callable[..., AbstractAsyncContextManager[PreviewDriver]]


@pytest.fixture
def opening(
    running: Running, top: Path, registry: DemoRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Opening:
    monkeypatch.chdir(top)
    environ = environ_of(registry, tmp_path)

    @asynccontextmanager
    async def run(
        *, size: tuple[int, int] = (120, 40), offline: bool = False, source: LockLens | None = None
    ) -> AsyncIterator[PreviewDriver]:
        with Cache(tmp_path / "cache.sqlite3") as cache:
            network = NetworkSettings(environ, cache, is_offline=offline)
            own = source or LockLens(ReviewRequest(partial(open_git, top), network=network))
            async with running(own, size=size, settled=False) as shown:
                driver = PreviewDriver(shown.app, shown.pilot)
                await driver.reviewed()
                yield driver

    return run


def where(top: Path, *roots: str) -> Scope:
    return Scope.at(top, roots, RootSettings())


# What it shows


async def test_the_entry_of_a_root_that_was_moved_is_that_of_its_folder_before(opening: Opening, top: Path) -> None:
    git(top, "checkout", "-q", f"a/{LOCK}", f"b/{LOCK}")
    restored = (top / "a" / LOCK).read_bytes()
    (top / "live").mkdir()
    git(top, "mv", "a", "live/a")
    (top / "live" / "a" / LOCK).write_bytes(restored.replace(b'"5.86.1"', b'"5.84.0"'))
    async with opening() as on:
        await on.go_to("hashicorp/aws")
        await on.press("R")
        await on.ready()
        assert "preview  Restore hashicorp/aws from HEAD in live/a" in on.lines[0]
        assert f"HEAD has its lock file at a/{LOCK}, from where the root was moved" in on.plan
        await on.press("enter")
        await until(on, lambda: not on.has_preview())
    assert (top / "live" / "a" / LOCK).read_bytes() == restored


async def test_a_plan_is_told_and_written_when_enter_is_pressed(opening: Opening, top: Path) -> None:
    before = contents(top)
    async with opening() as on:
        await on.go_to("hashicorp/aws")
        await on.press("R")
        await on.ready()
        assert "preview  Restore hashicorp/aws from HEAD in 2 roots" in on.lines[0]
        assert "nothing written yet" in on.lines[0]
        assert "ready: enter writes" in on.status
        assert "PLAN  1 provider, 2 roots, 2 files" in on.plan
        assert "^ hashicorp/aws  5.84.0 -> 5.86.1  as in HEAD  2 roots" in on.plan
        # What is found of the other entries is none of the plan's, and what HEAD has is not judged again.
        assert "findings: none new; the work tree already has 3 more (2 WARN 1 INFO)" in on.plan
        assert "4 entries unchanged" in on.plan
        assert "ok  review" in on.plan
        assert "--  write  2 files, all or none, on enter" in on.plan
        assert "hashes: +0 -0 since HEAD" in on.plan
        assert "after this, 2 entries of these files differ from HEAD" in on.plan
        # Nothing of the plan is committed: it leads back to the entries of HEAD.
        assert on.plan.endswith("  locklens restore hashicorp/aws --root a --root b")
        assert f"a/{LOCK}  to be changed" in on.shown
        assert '-   version     = "5.84.0"' in on.shown
        assert '+   version     = "5.86.1"' in on.shown
        assert "+     6 hashes of 5.86.1  5 zh and 1 h1" in on.shown
        assert "AS REVIEWED  a  against HEAD" in on.shown
        assert contents(top) == before
        await on.press("enter")
        await until(on, lambda: not on.has_preview())
        await until(on, lambda: "wrote 2 files; Z undoes it" in on.status)
        assert contents(top) != before
        await on.reviewed()
        assert "hashicorp/aws" not in on.titles
        assert "hashicorp/random" in on.titles


async def test_a_named_version_against_the_policy_is_said_with_what_it_contradicts(opening: Opening, top: Path) -> None:
    policy = f'allow = ["hashicorp/aws < 6"]\n[trust.hashicorp]\nkeys = ["{"A" * 40}"]\n'
    (top / "locklens.toml").write_text(policy)
    git(top, "add", "locklens.toml")
    git(top, "commit", "-qm", "policy")
    async with opening() as on:
        await on.open(Upgrade(where(top, "a"), ("aws=6.2.0",)))
        result = on.plan.partition("RESULT")[2]
        assert "LK022  Not on the allow list: the policy forbids it\n         " in result
        assert "LK010  Not signed by a pinned key: it may not be" in result
        assert "A" * 40 in result


async def test_what_is_highlighted_is_what_the_right_pane_is_about(opening: Opening, top: Path) -> None:
    git(top, "commit", "-qam", "what is pruned")
    async with opening() as on:
        await on.open(Prune(where(top, "a", "b")))
        assert f"b/{LOCK}  to be changed" in on.shown
        await on.to_plan_line("- hashicorp/random")
        assert "The same change in 2 roots: one decision, one mark." in on.shown
        assert "VERSION      3.6.2  removed" in on.shown
        await on.to_plan_line(f"b/{LOCK}")
        assert f"b/{LOCK}  to be changed" in on.shown
        assert f"a/{LOCK}" not in on.shown
        await on.press("g")
        assert f"a/{LOCK}  to be changed" in on.shown


async def test_every_key(opening: Opening, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "note"
    script = tmp_path / "editor.sh"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {note}\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.delenv("VISUAL", raising=False)
    async with opening() as on:
        monkeypatch.setattr(on.app, "suspend", nullcontext)
        await on.go_to("hashicorp/aws")
        await on.press("R")
        await on.ready()
        assert '"h1:' not in on.shown
        await on.press("x")
        assert '+     "h1:' in on.shown
        assert "full hashes and rules" in on.status
        await on.press("x")
        assert '"h1:' not in on.shown
        await on.press("d")
        assert "--- a/a/.terraform.lock.hcl" in on.text
        assert "Full diff" in on.text
        await on.press("d")
        await on.to_plan_line("locklens restore")
        await on.press("y")
        assert on.app.clipboard == "locklens restore hashicorp/aws --root a --root b"
        await on.press("e")
        assert "no line to open here" in on.status
        await on.to_plan_line("^ hashicorp/aws")
        await on.press("e")
        assert note.read_text().strip() == str(top / "a" / LOCK)
        await on.press("tab")
        assert on.preview.query_one("#detail").has_focus
        assert "compare" not in on.status
        await on.press("y")
        assert on.app.clipboard == "'registry.terraform.io/hashicorp/aws 5.86.1'"
        await on.press("j", "e")
        await on.press("tab")
        assert on.preview.query_one("#plan").has_focus
        await on.press("tab", "h")
        assert on.preview.query_one("#plan").has_focus
        await on.press("j", "k", "G", "g")
        assert on.preview.query_one("#plan", LineView).cursor == 0
        await on.press("question_mark")
        assert "All keys of this screen" in on.text
        assert "Nothing is written before enter." in on.text
        help_lines = [one.text for one in on.preview.help_lines()]
        for reason, key in (
            ("only in a Preview of staging (S)", "f"),
            ("only where a root could not be planned for want of modules", "m"),
            ("only of a plan that failed with a checksum or a signature", "i"),
        ):
            assert help_lines[help_lines.index(f"OFF  {reason}") + 1].split()[0] == key
        await on.press("question_mark")
        await on.press("Z")
        assert "leave the Preview first (esc), then press Z" in on.status
        await on.press("r")
        await on.ready()
        assert "PLAN  1 provider, 2 roots, 2 files" in on.plan
        await on.press("colon")
        await until(on, lambda: bool(on.app.screen.query(Input)))
        await on.press(*"show full diff")
        await until(on, lambda: "as git apply takes it" in on.text)
        await on.press("escape")
        await until(on, lambda: on.app.screen is on.preview)
        await on.press("q")
        assert not on.has_preview()
        assert "nothing was written" in on.status
        await on.press("R")
        await until(on, on.has_preview)
        await on.press("escape")
        assert not on.has_preview()


async def test_any_size(opening: Opening, top: Path) -> None:
    async with opening() as on:
        for size in ((80, 24), (60, 15), (200, 60)):
            await on.resize(size)
            await holds(on, top, size)


async def holds(on: PreviewDriver, top: Path, size: tuple[int, int]) -> None:
    on.want(Prune(where(top, "a", "b")))
    await until(on, on.has_preview)
    await on.ready()
    for keys in (("tab",), ("x",), ("tab",), ("G",), ("d",), ("escape",)):
        await on.press(*keys)
        assert all(len(line) <= size[0] and line.isprintable() for line in on.lines)
    if size[0] < 100:
        await on.press("tab")
        assert "to be changed" in on.text
        assert "STEPS" not in on.text
        await on.press("tab")
    assert on.lines[-1].strip().startswith("enter apply")
    await on.press("escape")
    assert not on.has_preview()


# Keys of the review


async def test_there_is_no_message_of_files_that_git_ignores(opening: Opening, top: Path) -> None:
    git(top, "rm", "-q", "--cached", f"a/{LOCK}")
    git(top, "checkout", "-q", f"b/{LOCK}")
    put(top, {".gitignore": f"/a/{LOCK}\n"})
    git(top, "add", ".gitignore")
    git(top, "commit", "-qm", "ignored")
    async with opening() as on:
        await on.open(Upgrade(where(top, "a"), ("demo=1.5.0",)))
        assert "git ignores the lock file (.gitignore:1), so that no commit has it" in on.plan
        assert "COMMIT MESSAGE" not in on.plan
        await on.press("escape")
        await on.open(Upgrade(where(top, "a", "b"), ("demo=1.5.0",)))
        assert "git ignores the lock file (.gitignore:1)" in on.plan
        assert "COMMIT MESSAGE\n  Upgrade demo to 1.5.0 in b\n  \n  Lock-Review: 1 upgrade, " in on.plan


async def test_the_message_is_about_what_a_commit_changes(opening: Opening, top: Path) -> None:
    lock = top / "a" / LOCK
    git(top, "checkout", "-q", ".")
    lock.write_bytes(lock.read_bytes().replace(b'"5.86.1"', b'"5.84.0"'))
    async with opening() as on:
        await on.open(Upgrade(where(top, "a"), ("demo=1.5.0",)))
        # A commit of the file has hashicorp/aws too, which the plan's review is not about.
        others = "COMMIT MESSAGE  without trailers: more is committed than reviewed\n"
        assert f"{others}  Upgrade demo to 1.5.0 in a" in on.plan
        assert "Lock-Review" not in on.plan
        await on.press("y")
        assert on.app.clipboard == "Upgrade demo to 1.5.0 in a"
        assert ": the commit message, without trailers" in on.preview.message
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
        await on.open(Undo(top))
        assert "COMMIT MESSAGE" not in on.plan, "HEAD has 1.4.1"
        assert "acme/demo  1.5.0 -> 1.4.1  as in HEAD" in on.plan
        assert on.shown.endswith("AS REVIEWED  a  against HEAD\n  the planned entries are as in HEAD")
        assert "hashes: +0 -0 since HEAD" in on.plan
        assert "copy commit message" not in on.text


async def test_prune_and_format_from_the_review(opening: Opening, top: Path) -> None:
    lock = top / "a" / LOCK
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    async with opening() as on:
        await on.go_to("hashicorp/random")
        await on.press("P")
        await on.ready()
        assert "Prune hashicorp/random in 2 roots" in on.lines[0]
        assert "- hashicorp/random  remove 3.6.2" in on.plan
        assert "  locklens prune hashicorp/random --root a --root b" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 2 files" in on.status)
        await until(on, lambda: "hashicorp/random" not in on.titles)
        await on.reviewed()
        row = next(index for index, row in enumerate(on.changes.rows) if row.node.root and row.node.root.path == "a")
        on.changes.cursor = row
        await on.press("F")
        await on.ready()
        assert "Format the lock file of a" in on.lines[0]
        assert "would fix the format: " in on.plan
        assert "format fixed" not in on.plan, "nothing is written yet"
        assert " unchanged" not in on.plan, "every line may be written anew"
        assert "Fix the format of the lock file in a" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
        assert b"\r" not in lock.read_bytes()


async def test_findings_are_counted_as_in_review_and_as_they_are_listed(opening: Opening, top: Path) -> None:
    """The way back to HEAD breaks another constraint in each root: a finding of each, as in the review after it."""
    for root in ("a", "b"):
        (top / root / "main.tf").write_text(requires(("acme/demo", "~> 1.4"), ("hashicorp/aws", ">= 5.90")))
        (top / root / LOCK).write_bytes(lock_file(SampleLock(f"{HOST}/hashicorp/aws", "5.92.0", ">= 5.90.0")))
    async with opening(offline=True) as on:
        await on.go_to("hashicorp/aws")
        await on.press("R")
        await on.ready()
        listed = re.findall(r"\n  (BLOCK|WARN|INFO) +(LK\d+) ", on.plan)
        assert listed.count(("BLOCK", "LK005")) == 2
        assert 'does not satisfy ">= 5.90"' in on.plan or "5.90" in on.plan
        numbers = {severity: sum(one == severity for one, _ in listed) for severity in ("BLOCK", "WARN", "INFO")}
        (counted,) = re.findall(r"findings: ((?:\d+ [A-Z]+ +)+)", on.plan)
        assert dict(reversed(pair.split()) for pair in re.findall(r"\d+ [A-Z]+", counted)) == {
            severity: str(number) for severity, number in numbers.items() if number
        }
        standing = on.preview.standing
        assert standing.plan is not None
        assert standing.plan_review is not None
        review = standing.plan_review.review
        assert numbers == {severity.value.upper(): number for severity, number in review.severity_counts.items()}
        message = commit_message(standing.plan, review)
        assert f": 2 findings ({numbers['BLOCK']} block" in message
        assert "acme/demo is required" not in on.plan  # the file on disk does not lock it either
        await on.press("enter")
        await until(on, lambda: "wrote 2 files" in on.status)
        await on.reviewed()
        after = on.screen.review
        assert after is not None
        assert len(after.distinct_findings(lambda one: one.rule == "LK005")) == 2


async def test_the_base_of_a_restore_is_the_fork_point(opening: Opening, top: Path) -> None:
    fork = git(top, "rev-parse", "HEAD")
    git(top, "checkout", "-qb", "topic")
    git(top, "commit", "-qam", "on the branch")
    network = NetworkSettings(dict(os.environ), Cache.in_memory(), is_offline=True)
    compared = partial(open_git, base=Base("main", fork_of="HEAD"))
    request = ReviewRequest(partial(compared, top), network=network)
    async with opening(source=LockLens(request)) as on:
        assert f"fork point of main {fork[:7]} -> work tree" in on.lines[0]
        await on.go_to("hashicorp/aws")
        await on.press("R")
        await on.ready()
        assert "the fork point of main already has 2 more (1 WARN 1 INFO)" in on.plan
        assert "of these files differ from the fork point of main" in on.plan
        assert "not counted: the fork point of main has it already" in on.shown
        assert "main...HEAD" not in on.plan + on.shown
        await on.press("escape")
        await until(on, lambda: not on.has_preview())
        await on.press("3")
        await until(on, lambda: "hashicorp/aws" in on.text and not on.screen.is_asking)
        await on.press("j", "j")
        assert "changed since the fork point of main" in on.text
        assert "main...HEAD" not in on.text


async def test_a_restored_entry_that_nobody_could_check_is_not_ok(opening: Opening, top: Path) -> None:
    git(top, "commit", "-qam", "lower")
    async with opening(offline=True) as on:
        await on.open(Restore(where(top, "a", "b"), (RestoredProviders(("a", "b"), ("hashicorp/aws",)),), "HEAD~"))
        assert "^ hashicorp/aws  5.84.0 -> 5.86.1  WARN" in on.plan
        assert "  ok  2 roots" not in on.plan
        assert "LK003" in on.plan
        assert "\n  unknown: " in on.plan
        assert "offline" in on.plan.partition("\n  unknown: ")[2]


async def test_restore_brings_back_what_was_removed(opening: Opening, top: Path) -> None:
    (top / "a" / LOCK).write_bytes(lock_file(SampleLock(f"{HOST}/hashicorp/aws", "5.86.1", ">= 5.0.0")))
    (top / "b" / LOCK).write_bytes(subprocess.check_output(["git", "show", f"HEAD:b/{LOCK}"], cwd=top))
    async with opening() as on:
        await on.go_to("acme/demo")
        await on.press("R")
        await on.ready()
        assert "+ acme/demo  new 1.4.1" in on.plan
        assert "after this, no entry of these files differs from HEAD" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
    assert git(top, "status", "--porcelain") == ""


async def test_restore_on_a_lock_file_that_cannot_be_parsed_restores_it(opening: Opening, top: Path) -> None:
    git(top, "checkout", "-q", ".")
    (top / "b" / LOCK).write_bytes((top / "b" / LOCK).read_bytes() + b"x {")
    async with opening() as on:
        await on.press("j")
        assert "LK019" in on.text
        await on.press("R")
        await on.ready()
        assert "after this, no entry of these files differs from HEAD" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
    assert git(top, "status", "--porcelain") == ""


def with_an_invalid_version(data: bytes) -> bytes:
    return data.replace(b'"5.86.1"', b'"5,86"')


def with_a_block_twice(data: bytes) -> bytes:
    lowered = data.replace(b"5.86.1", b"5.84.0")
    return lowered + lowered[lowered.rindex(b"provider ") :]


@pytest.mark.parametrize(("damaged", "row", "steps"), [
    (with_an_invalid_version, "LK019", ()),
    (with_an_invalid_version, "LK019", ("up",)),
    (with_a_block_twice, "LK019", ()),
    (with_a_block_twice, "hashicorp/aws", ()),
])  # fmt: skip
async def test_restore_on_a_lock_file_that_cannot_be_parsed_needs_no_change_beside_it(
    opening: Opening, top: Path, damaged: Callable[[bytes], bytes], row: str, steps: tuple[str, ...]
) -> None:
    """Nor does it matter whether a part of it can be read."""
    git(top, "checkout", "-q", ".")
    (top / "b" / LOCK).write_bytes(damaged((top / "b" / LOCK).read_bytes()))
    async with opening() as on:
        await on.go_to(row)
        await on.press(*steps, "R")
        await on.ready()
        assert "b: the whole file would be restored, since it could not be parsed" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
    assert git(top, "status", "--porcelain") == ""


async def test_entries_of_which_nothing_is_known_are_not_counted_as_lacking_a_platform(opening: Opening) -> None:
    async with opening() as on:
        on.app.push_screen(platforms_form({"darwin_arm64": 1, "linux_amd64": 3}, {"linux_amd64"}, 3))
        await until(on, lambda: "darwin_arm64 (known of 1 of 3), linux_amd64 (3 of 3)" in on.text)


async def test_without_required_platforms_l_asks_for_which(opening: Opening, top: Path) -> None:
    before = h1_numbers(top)
    async with opening() as on:
        await on.go_to("hashicorp/aws")
        await on.press("L")
        form = on.app.screen
        assert isinstance(form, FormDialog)
        assert " Lock more platforms of 2 entries" in on.text
        assert (
            "h1 locked for  platforms unknown on this screen" in on.text
        )  # of one h1 in each root nobody can tell the platform
        field = form.query_one(Input)
        await on.press("enter")
        assert "name a platform, such as linux_amd64" in on.text
        field.value = "linux"
        await on.press("enter")
        assert "invalid platform 'linux'" in on.text
        field.value = "linux_amd46"
        await on.press("enter")
        assert "no release has packages for linux_amd46: did you mean linux_amd64?" in on.text
        field.value = "linux_arm64, darwin_arm64"
        await on.press("enter")
        await on.ready()
        assert "Lock darwin_arm64, linux_arm64 in 2 roots" in on.lines[0]
        assert "--platform darwin_arm64 --platform linux_arm64" in on.plan, on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 2 files" in on.status)
    assert {name: number - before[name] for name, number in h1_numbers(top).items()} == {"a": 2, "b": 2}


async def test_hashes_and_health_ask_for_platforms_too(opening: Opening, top: Path) -> None:
    async with opening() as on:
        for key in ("3", "5"):
            await on.press(key)
            await until(on, lambda: not on.app.screen.is_asking and on.app.screen.left.current is not None)  # type: ignore[attr-defined]
            await on.press("L")
            form = on.app.screen
            assert isinstance(form, FormDialog), on.text
            form.query_one(Input).value = "linux_arm64"
            await on.press("enter")
            await until(on, on.has_preview)
            await on.ready()
            assert "Lock linux_arm64 in " in on.lines[0]
            await on.press("escape")
            await until(on, lambda: not on.has_preview())


def h1_numbers(top: Path) -> dict[str, int]:
    return {name: (top / name / LOCK).read_text().count('"h1:') for name in ("a", "b")}


async def test_keys_that_have_nothing_to_do(opening: Opening, top: Path) -> None:
    async with opening() as on:
        await on.go_to("acme/demo") if "acme/demo" in on.titles else None
        await on.go_to("hashicorp/aws")
        for key, words in (("T", "trust: on the screen 4 Signers"), ("D", "drop pin: on the screen 4 Signers")):
            await on.press(key)
            assert words in on.status
        await on.press("Z")
        assert "nothing to undo here: no applied writes" in on.status
        on.want(Undo(top))
        await until(on, lambda: on.has_preview() and "NO PLAN" in on.plan)
        assert "nothing to undo here" in on.plan
        await on.press("enter")
        assert "no plan: r plans again" in on.status
        shown = {key.split()[0] for key in on.lines[-1].split("  ") if key.strip()}
        assert "r" in shown
        assert not {"d", "e", "tab", "x", "y", "z", "enter"} & shown
        await on.press("x", "d", "y", "e", "tab", "tab")
        await on.press("escape")
        assert not on.has_preview()


async def test_between_two_revisions_nothing_can_be_written(
    opening: Opening, top: Path, registry: DemoRegistry, tmp_path: Path
) -> None:
    git(top, "commit", "-qam", "second")
    sides = Base("HEAD~1", head="HEAD")
    async with opening(source=LockLens(ReviewRequest(partial(open_git, top, sides), base=sides))) as on:
        await on.go_to("hashicorp/aws")
        for key, what in (("R", "restore"), ("P", "prune"), ("F", "format"), ("L", "lock"), ("U", "upgrade")):
            await on.press(key)
            assert f"{what}: read-only while two revisions are compared: B goes back to the work tree" in on.status


async def test_upgrade_goes_to_the_provider_there(opening: Opening) -> None:
    async with opening() as on:
        await on.go_to("hashicorp/aws")
        await on.press("U")
        await until(on, lambda: "[2 Upgrade]" in on.text)
        screen = on.app.screen
        assert isinstance(screen, UpgradeScreen)
        await until(on, lambda: screen.row is not None and screen.row.key.endswith("hashicorp/aws"))


async def test_missing_platforms_are_locked(opening: Opening, top: Path) -> None:
    (top / "locklens.toml").write_text('[platforms]\nlinux_amd64 = "CI"\nplan9_386 = "nobody"\ndarwin_arm64 = "us"\n')
    (top / "locklens.toml").write_text(
        'install_paths = ["plugin-cache"]\n[platforms]\nlinux_amd64 = "CI"\ndarwin_arm64 = "us"\n'
    )
    git(top, "add", "locklens.toml")
    git(top, "commit", "-qm", "policy", "locklens.toml")
    async with opening() as on:
        await on.go_to("hashicorp/aws")
        await on.press("L")
        await on.ready()
        assert "in 2 roots" in on.lines[0]
        assert "aws 5.84.0 darwin_arm64" in on.plan
        assert "hash packages" in on.plan
        assert "hashed" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 2 files" in on.status)


async def test_what_a_lock_found_complete_is_shown_without_asking_again(opening: Opening, top: Path) -> None:
    """The packages were hashed, nothing was written, and the column still said that their platforms are unknown."""
    for root in ("a", "b"):
        both = SampleLock(f"{HOST}/acme/demo", "1.4.1", "~> 1.4", unpacked=("linux_amd64", "darwin_arm64"))
        (top / root / LOCK).write_bytes(lock_file(both))
        (top / root / "main.tf").write_text(requires(("acme/demo", "~> 1.4")))
    (top / "locklens.toml").write_text(
        'install_paths = ["plugin-cache"]\n[platforms]\nlinux_amd64 = "CI"\ndarwin_arm64 = "us"\n'
    )
    commit(top, {})
    async with opening() as on:
        await on.press("3")
        await until(on, lambda: isinstance(on.app.screen, HashesScreen) and not on.app.screen.is_asking)
        hashes = on.app.screen
        assert isinstance(hashes, HashesScreen)

        def cover() -> str:
            return next((row.cover.text for row in hashes.left.rows if row.change is not None), "")

        await until(on, lambda: "?" in cover())
        await on.press("g", "j", "L")
        await until(on, lambda: on.has_preview() and "nothing to write" in on.status)
        await on.press("escape")
        await until(on, lambda: cover() == "2/2", seconds=20)


@pytest.mark.parametrize("key", ["L", "U"])
async def test_a_clone_without_modules_is_planned_without_them(opening: Opening, top: Path, key: str) -> None:
    for root in ("a", "b"):
        with (top / root / "main.tf").open("a") as file:
            file.write('module "vpc" {\n  source = "git::https://example.com/vpc.git"\n}\n')
    (top / "locklens.toml").write_text(
        'install_paths = ["plugin-cache"]\n[platforms]\nlinux_amd64 = "CI"\ndarwin_arm64 = "us"\n'
    )
    commit(top, {})
    async with opening() as on:
        if key == "L":
            await on.press("3")
            await until(on, lambda: isinstance(on.app.screen, HashesScreen) and not on.app.screen.is_asking)
            await until(on, lambda: "hashicorp/aws" in on.text)
            await on.press("j", "l", "j", "L")
        else:
            on.want(Upgrade(where(top, "a"), ("aws",)))
        await until(on, on.has_preview)
        await until(on, lambda: "FAILED" in on.plan or "NO PLAN" in on.plan)
        assert "m  plans again without the missing modules" in on.plan
        assert "m without missing modules" in on.lines[-1]
        await on.press("m")
        await on.ready()
        assert "--allow-missing-modules" in on.plan.partition("EQUIVALENT COMMAND")[2]
        assert "without missing modules" not in on.lines[-1]
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)


# When it cannot be written


async def test_enter_waits_until_it_is_ready(opening: Opening, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    class Slow(FileOperation, frozen=True):
        title = "Take one's time"

        def plan(self, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:
            on_root("a")
            gate.wait(LIMIT)
            return Prune(where(top, "a")).plan()

    async with opening() as on:
        on.want(Slow())
        await until(on, on.has_preview)
        await until(on, lambda: "..  plan  1 root  a" in on.plan)
        assert "enter apply" not in on.lines[-1]
        await on.press("enter")
        assert "not ready: planning in progress" in on.status
        await on.press("r")
        assert "not possible now: not ready" in on.status
        for key in ("d", "z", "y", "e", "x", "i", "m", "tab"):
            await on.press("j", key)
            assert "not ready: planning in progress" in on.status, key
        on.want(Slow())
        await on.pilot.pause()
        assert sum(isinstance(screen, PreviewScreen) for screen in on.app.screen_stack) == 1
        await on.press("r")
        gate.set()
        await on.ready()
        assert "enter apply" in on.lines[-1]
        assert "not ready" not in on.status, "the ready line takes the place of what was refused before"
        await on.press("escape")


async def test_a_stale_file_is_planned_again(opening: Opening, top: Path) -> None:
    async with opening() as on:
        await on.open(Prune(where(top, "a")))
        lock = top / "a" / LOCK
        lock.write_bytes(b"# mine\n" + lock.read_bytes())
        now = contents(top)
        await on.press("enter")
        await until(on, lambda: "r plans again" in on.status)
        assert contents(top) == now
        assert "NOT WRITTEN" in on.plan
        assert f"a/{LOCK}: changed on disk since it was read" in on.plan
        await on.press("enter")
        assert "a file changed on disk after planning" in on.status
        await on.press("r")
        await on.ready()
        assert "NOT WRITTEN" not in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
        assert lock.read_bytes().startswith(b"# mine\n")


@pytest.mark.parametrize("is_noticed", [False, True])
async def test_a_plan_from_another_configuration_is_not_written(
    opening: Opening, top: Path, monkeypatch: pytest.MonkeyPatch, *, is_noticed: bool
) -> None:
    monkeypatch.setattr("locklens.ui.preview.LOOK_SECONDS", 0.05 if is_noticed else 1000.0)
    async with opening() as on:
        await on.open(Prune(where(top, "a")))
        main_tf = top / "a/main.tf"
        main_tf.write_text(main_tf.read_text("utf-8") + "# another requirement\n", "utf-8")
        now = contents(top)
        if is_noticed:
            await until(on, lambda: "a file changed on disk after planning: r plans again" in on.status)
        await on.press("enter")
        await until(on, lambda: "a file changed on disk after planning: r plans again" in on.status)
        assert contents(top) == now
        assert "NOT WRITTEN" in on.plan
        assert "a/main.tf: changed on disk since it was read" in on.plan
        await on.press("r")
        await on.ready()
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)


async def test_nothing_to_write(opening: Opening, top: Path) -> None:
    async with opening() as on:
        on.want(Format(where(top, "a")))
        await until(on, lambda: "nothing to write" in on.status)
        assert "a: already in the tool's format" in on.plan
        assert "enter" not in on.lines[-1]
        await on.press("enter")
        assert on.has_preview()
        assert "nothing to write: r plans again, esc leaves" in on.status
        await on.press("d")
        assert "no file would change" in on.status
        await on.press("y")
        assert "nothing to copy" in on.status


async def test_a_root_that_fails_stays_and_the_others_are_written(opening: Opening, top: Path) -> None:
    (top / "b" / LOCK).write_bytes(b"provider {\n")
    async with opening() as on:
        await on.open(Prune(where(top, "a", "b")))
        assert "FAILED: this root is left unchanged" in on.plan
        assert f"b/{LOCK}:1: " in on.plan
        assert "1 root failed" in on.status
        await on.press("enter")
        await until(on, lambda: "wrote 1 file; 1 root failed and left unchanged" in on.status)
        assert (top / "b" / LOCK).read_bytes() == b"provider {\n"
        assert b"random" not in (top / "a" / LOCK).read_bytes()


async def test_all_roots_fail(opening: Opening, top: Path) -> None:
    for root in ("a", "b"):
        (top / root / LOCK).write_bytes(b"provider {\n")
    async with opening() as on:
        on.want(Prune(where(top, "a", "b")))
        await until(on, lambda: "nothing to write: 2 roots failed" in on.status)
        assert "FAILED: these 2 roots are left unchanged" in on.plan


async def test_a_root_that_is_named_from_a_folder_of_the_repository_is_one(opening: Opening, top: Path) -> None:
    (top / "b" / LOCK).write_bytes(b"provider {\n")
    async with opening() as on:
        for here, root in ((top / "b", ""), (top / "b", "../b")):
            on.want(Lock(Scope(here, (root,)), (Platform("linux", "amd64"),)))
            await until(on, lambda: "nothing to write: the plan failed" in on.status)
            assert "!!  plan  1 root, 1 failed" in on.plan
            await on.press("escape")


async def test_offline_only_what_needs_no_registry(opening: Opening, top: Path) -> None:
    picks = (SelectedVersion("a", DEMO, Version.parse("1.5.0")),)
    async with opening(offline=True) as on:
        on.want(Upgrade.of_picks(picks, lambda roots: where(top, *roots)))
        await until(on, on.has_preview)
        await until(on, lambda: "registries are required, and are not asked offline" in on.plan)
        assert "run without --offline" in on.plan
        await on.press("escape")
        await on.open(Prune(where(top, "a")))
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
        await on.reviewed()
        await on.press("Z", "enter")
        await on.ready()


async def test_what_cannot_be_written_is_said(opening: Opening, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: LockLens, proposal: FileChanges) -> tuple[str, ...]:
        raise LockLensError("the disk is full", hint="make room")

    async with opening() as on:
        await on.open(Prune(where(top, "a")))
        with monkeypatch.context() as patched:
            patched.setattr(LockLens, "apply", refuse)
            await on.press("enter")
            await until(on, lambda: "nothing was written: the disk is full" in on.status)
        assert "make room" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)


async def test_a_plan_that_cannot_be_reviewed_can_be_written(
    opening: Opening, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise LockLensError("git is gone")

    async with opening() as on:
        monkeypatch.setattr(LockLens, "review_plan", refuse)
        await on.open(Prune(where(top, "a")))
        assert "not reviewed: git is gone" in on.plan
        await on.press("y")
        assert "without trailers" in on.status
        assert on.app.clipboard == "Remove random in a"


async def test_while_it_is_written_nothing_else_is_done(
    opening: Opening, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def slow(source: LockLens, proposal: FileChanges) -> tuple[str, ...]:
        gate.wait(LIMIT)
        return apply(proposal)

    monkeypatch.setattr(LockLens, "apply", slow)
    async with opening() as on:
        await on.open(Prune(where(top, "a")))
        await on.press("enter")
        await until(on, lambda: "being written" in on.lines[0])
        for key in ("escape", "q", "enter", "r"):
            await on.press(key)
            assert on.has_preview()
        gate.set()
        await until(on, lambda: "wrote 1 file" in on.status)


# Cancelling


async def test_cancel_in_the_middle_of_ten_downloads(
    opening: Opening, top: Path, registry: DemoRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))
    monkeypatch.setattr(faults, "DRIP_SECONDS", 1.0)  # the packages are some hundred bytes long: none ends by itself
    before = contents(top)
    asked = len(registry.requests)
    threads = {thread.ident for thread in threading.enumerate()}
    async with opening() as on:
        registry.faults.add(Fault.SLOW, step=Step.PACKAGE)
        platforms = tuple(map(Platform.parse, PLATFORMS))
        assert len(platforms) * 2 >= 10
        on.want(Lock(where(top, "a"), platforms))

        def arriving() -> int:
            return sum(one.step is Step.PACKAGE for one in registry.requests[asked:])

        await until(on, lambda: arriving() >= 10)
        await until(on, lambda: on.plan.count(" s left") >= 10)
        assert "hash packages  0 of 10" in on.plan
        await on.press("escape")
        assert not on.has_preview()
        assert on.app.screen is on.screen

        def working() -> list[str]:
            return [
                thread.name
                for thread in threading.enumerate()
                if thread.ident not in threads and thread.name.startswith("locklens-install")
            ]

        await until(on, lambda: not working())
        await until(on, lambda: not list(spool.iterdir()))
        assert contents(top) == before
        assert Journal().last(top) is None
        await on.open(Prune(where(top, "a")))


async def test_quitting_stops_a_plan(opening: Opening, top: Path, registry: DemoRegistry) -> None:
    registry.faults.add(Fault.SILENT, step=Step.PACKAGE)
    before = contents(top)
    async with opening() as on:
        on.want(Lock(where(top, "a"), tuple(map(Platform.parse, PLATFORMS))))
        await until(on, lambda: "of 10" in on.plan if on.has_preview() else False)
        await on.press("ctrl+q")
    assert contents(top) == before


# Undo


async def test_undo_from_every_screen_and_again(opening: Opening, top: Path) -> None:
    git(top, "commit", "-qam", "what is pruned")
    before = contents(top)
    async with opening() as on:
        await on.open(Prune(where(top, "a", "b")))
        await on.press("enter")
        await until(on, lambda: "wrote 2 files" in on.status)
        after = contents(top)
        await on.reviewed()
        await on.press("4")
        await until(on, lambda: isinstance(on.app.screen, SignersScreen) and not on.app.screen.is_asking)
        await on.press("Z")
        assert "Applied writes: 1" in on.text
        assert f"  a/{LOCK}" in on.text
        await on.press("y")
        assert on.app.clipboard.startswith("Remove 1 provider in a and b") or "random" in on.app.clipboard
        await on.press("enter")
        await on.ready()
        assert "Undo: Remove " in on.lines[0]
        assert "+ hashicorp/random  new 3.6.2" in on.plan
        assert re.search(r"would revert the change applied on .*: Remove random in a and\s+b", on.plan)
        assert re.search(r"  locklens undo \w+\Z", on.plan), "HEAD has what was pruned: there is nothing to commit"
        await on.press("enter")
        await until(on, lambda: "undone: 2 files; Z redoes it" in on.status)
        assert contents(top) == before
    async with opening() as on:
        await on.press("Z")
        assert "redo  " in on.text
        assert "(undone)" in on.text
        await on.press("enter")
        await on.ready()
        assert "Redo: Remove " in on.lines[0]
        assert "would reapply the change applied on" in on.plan
        await on.press("enter")
        await until(on, lambda: "wrote 2 files; Z undoes it" in on.status)
        assert contents(top) == after
        (top / "a" / LOCK).write_bytes(after[f"a/{LOCK}"] + b"# mine\n")
        await on.reviewed()
        await on.press("Z", "enter")
        await until(on, lambda: on.has_preview() and "NO PLAN" in on.plan)
        assert f"a/{LOCK}: changed since" in on.plan
    assert contents(top) == {**after, f"a/{LOCK}": after[f"a/{LOCK}"] + b"# mine\n"}


async def test_the_first_row_of_the_writes_is_what_undo_reverts(opening: Opening, top: Path) -> None:
    apply(Prune(where(top, "a")).plan().proposal)
    apply(undo(top).proposal)
    apply(Prune(where(top, "b")).plan().proposal)
    apply(undo(top, is_redo=True).proposal)
    async with opening() as on:
        await on.press("Z", "enter")
        await on.ready()
        assert "Undo: locklens prune --root a" in on.lines[0]
        assert re.search(r"would revert the change applied on .*: locklens prune --root a\b", on.plan)


async def test_any_write_is_undone_and_redone_not_only_the_newest(opening: Opening, top: Path) -> None:
    git(top, "commit", "-qam", "what is pruned")
    lock = top / "a" / LOCK
    async with opening() as on:
        first, before = lock.read_bytes(), (top / "b" / LOCK).read_bytes()
        for operation in (Prune(where(top, "a")), Prune(where(top, "b"))):
            await on.open(operation)
            await on.press("enter")
            await until(on, lambda: "wrote 1 file" in on.status)
            await on.reviewed()
        pruned, newest = lock.read_bytes(), (top / "b" / LOCK).read_bytes()
        await on.press("Z", "j")
        dialog = on.app.screen
        assert isinstance(dialog, WritesDialog)
        assert dialog.write is not None
        assert dialog.write.files == (f"a/{LOCK}",)
        assert "y" in [one.label for one in dialog.keys], "it has a commit message"
        await on.press("enter")
        await on.ready()
        assert "Undo: " in on.lines[0]
        await on.press("enter")
        await until(on, lambda: "undone: 1 file" in on.status)
        assert (lock.read_bytes(), (top / "b" / LOCK).read_bytes()) == (first, newest)
        await on.reviewed()
        await on.press("Z", "j", "k")
        assert "redo  " in on.text
        await on.press("enter")
        await on.ready()
        assert "Redo: " in on.lines[0]
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
        assert lock.read_bytes() == pruned
        await on.press("Z")
        await on.pilot.click("#dialog-lines", offset=(12, 2))
        assert isinstance(on.app.screen, WritesDialog)
        assert on.app.screen.write is not None
        assert on.app.screen.write.files == (f"b/{LOCK}",), "the second one was clicked"
        await on.press("enter")
        await on.ready()
        await on.press("enter")
        await until(on, lambda: "undone: 1 file" in on.status)
        assert (lock.read_bytes(), (top / "b" / LOCK).read_bytes()) == (pruned, before)


# What others make of it


async def test_the_command_line_does_the_same(
    opening: Opening, top: Path, registry: DemoRegistry, tmp_path: Path
) -> None:
    operations: tuple[Operation, ...] = (
        Prune(where(top, "a", "b")),
        Upgrade.of_picks(
            (SelectedVersion("a", DEMO, Version.parse("1.5.0")), SelectedVersion("b", DEMO, Version.parse("1.4.2"))),
            lambda roots: where(top, *roots),
        ),
    )
    before = contents(top)
    for operation in operations:
        async with opening() as on:
            await on.open(operation)
            command = on.preview.standing.plan.proposal.command  # type: ignore[union-attr]
            await on.press("enter")
            await until(on, lambda: "wrote 2 files" in on.status)
        written = contents(top)
        for path, data in before.items():
            (top / path).write_bytes(data)
        environ = environ_of(registry, tmp_path)
        folder = str(Path(shutil.which("python3") or "").parent)
        script = command.replace("locklens ", f"{os.sys.executable} -m locklens ")  # type: ignore[attr-defined]
        subprocess.run(
            script, shell=True, cwd=top, check=True, env={**environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        )
        assert contents(top) == written
        for path, data in before.items():
            (top / path).write_bytes(data)


@pytest.mark.skipif(terraform is None, reason="terraform is not on PATH")
async def test_terraform_takes_what_was_written(
    opening: Opening, top: Path, registry: DemoRegistry, tmp_path: Path
) -> None:
    picks = (
        SelectedVersion("a", DEMO, Version.parse("1.5.0")),
        SelectedVersion("a", ProviderAddress(HOST, "hashicorp", "aws"), Version.parse("5.86.1")),
    )
    async with opening() as on:
        await on.open(Upgrade.of_picks(picks, lambda roots: where(top, *roots)))
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
        await on.reviewed()
        await on.open(Prune(where(top, "a")))
        await on.press("enter")
        await until(on, lambda: "wrote 1 file" in on.status)
    written = (top / "a" / LOCK).read_bytes()
    environ = environ_of(registry, tmp_path)
    command = [str(terraform), "init", "-lockfile=readonly", "-input=false", "-no-color"]
    done = subprocess.run(command, cwd=top / "a", env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (top / "a" / LOCK).read_bytes() == written


def test_the_next_start_says_what_happened(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after a kill between two files: the screen says it, and its reports are not spoilt by it."""
    seen: list[str] = []
    monkeypatch.chdir(top)
    monkeypatch.setattr("locklens.cli.review.has_terminal", lambda: True)

    def keep(app: LockLensApp) -> int:
        seen.extend(app._notices)
        return 0

    monkeypatch.setattr(LockLensApp, "run", keep)
    interrupted(top)
    from locklens.ui.app import run_app

    assert main(["review", "--offline", "--no-cache"], lambda request, view: run_app(request, view)) == 0
    assert len(seen) == 1
    assert "an interrupted write (locklens prune --root a --root b) was completed: a/.terraform.lock.hcl" in seen[0]
    assert b"random" not in (top / "b" / LOCK).read_bytes()
    assert capsys.readouterr() == ("", "")
    interrupted(top)
    assert main(["review", "--offline", "--no-cache", "--format", "text", "--fail-on", "never"], lambda *_: 99) == 0
    assert "note: an interrupted write" in capsys.readouterr().err


def interrupted(top: Path) -> None:
    """Leaves what a kill between the two files leaves."""
    from locklens.storage.journal import Record, WrittenFile

    git(top, "checkout", "-q", ".")
    for root in ("a", "b"):
        (top / root / LOCK).write_bytes(
            lock_file(
                SampleLock(f"{HOST}/acme/demo", "1.4.1", "~> 1.4"), SampleLock(f"{HOST}/hashicorp/random", "3.6.2")
            )
        )
    plan = Prune(Scope(top, ("a", "b"))).plan()
    files = tuple(
        WrittenFile(os.fsencode(os.path.realpath(top / file.path)), file.old, file.new, 0o644)
        for file in plan.proposal.files
    )
    journal = Journal()
    journal.folder.mkdir(parents=True, exist_ok=True)
    journal.begin(
        Record("0" * 12, os.fsencode(os.path.realpath(top)), plan.proposal.words, plan.proposal.command, "", files)
    )
    (top / "a" / LOCK).write_bytes(files[0].new or b"")


async def test_the_notice_is_on_the_first_screen(opening: Opening, tmp_path: Path) -> None:
    request = ReviewRequest(partial(open_git, Path.cwd()))
    words = "an interrupted write was completed: [bold]a\x1b[31m"
    app = LockLensApp(LockLens(request), store_path=tmp_path / "s.sqlite3", notices=(words,))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        on = PreviewDriver(app, pilot)
        await until(on, lambda: "an interrupted write was completed: [bold]a" in on.text)
        assert "\x1b" not in on.text
