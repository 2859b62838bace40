"""What the copy key copies is one word for a shell, whatever a repository calls its folders; commands are exact."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from kit.effort import some
from kit.repositories import repository
from ui.conftest import Driver, Running, until

from locklens.demo import SampleLock, lock_file
from locklens.operations.compare import open_git
from locklens.operations.comparison import RootSettings
from locklens.operations.locklens import LockLens
from locklens.operations.plan import Scope
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write.lock_edits import Format
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache
from locklens.text import visible
from locklens.ui.dialogs.choices import CopyDialog
from locklens.ui.preview import PreviewScreen
from locklens.ui.widgets.line_view import LineView

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="names, and bash, that are not there"
)

HOST = "registry.terraform.io"
LOCK = ".terraform.lock.hcl"
ROOTS = ("infra  prod", "$(touch PWNED)", "a;touch PWNED\ntouch PWNED\x1b[201~", "-x", "`touch PWNED`'\"")


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lock = lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.1", "~> 1.4"))
    top = repository(tmp_path / "top", {f"{root}/{LOCK}": lock for root in ROOTS})
    for root in ROOTS:
        data = (top / root / LOCK).read_bytes()
        odd = b'\n  hashes = [\n    "$(touch PWNED);`touch PWNED`\\u001b[201~:1",\n'
        (top / root / LOCK).write_bytes(b"# odd  \n" + data.replace(b"\n  hashes = [\n", odd))
    monkeypatch.chdir(top)
    return top


def words_of(copied: str, folder: Path) -> list[str]:
    """What a shell makes of it as the words behind a command; nothing of it may run."""
    lines = copied.split("\n")
    assert [*map(visible, lines)] == lines
    out = subprocess.run(["bash", "-c", f"printf '%s\\0' {copied}"], cwd=folder, capture_output=True, check=True).stdout
    subprocess.run(["bash"], input=copied.encode(), cwd=folder, capture_output=True, check=False)
    assert not (folder / "PWNED").exists()
    return [os.fsdecode(word) for word in out.split(b"\0")[:-1]]


async def copy_all(on: Driver, view: LineView) -> set[str]:
    """Copies every line of a view that can be copied."""
    found = set()
    view.focus()
    for number, line in enumerate(view.lines):
        if line.copied:
            view.cursor = number
            await on.press("y")
            found.add(on.app.clipboard)
    return found


async def test_no_copied_line_does_anything_at_a_prompt(running: Running, top: Path, tmp_path: Path) -> None:
    with Cache(tmp_path / "cache.sqlite3") as cache:
        network = NetworkSettings(dict(os.environ), cache, is_offline=True)
        source = LockLens(ReviewRequest(partial(open_git, top), network=network))
        async with running(source, size=(140, 50), settled=False) as on:
            await until(on, lambda: bool(on.titles) and not on.screen.is_asking)
            copied: set[str] = set()
            marked_up: set[str] = set()
            for number in range(len(on.changes.rows)):
                on.changes.focus()
                on.changes.cursor = number
                for choice in on.screen.copy_choices:
                    await on.press("y")
                    if isinstance(on.app.screen, CopyDialog):
                        await on.press(*["j"] * on.screen.copy_choices.index(choice), "enter")
                    (marked_up if choice.label in {"Markdown", "section", "whole review"} else copied).add(
                        on.app.clipboard
                    )
                if number in some(range(len(on.changes.rows)), 3):
                    copied |= await copy_all(on, on.detail)
            assert marked_up
            quoted = [words_of(text, top) for text in marked_up]
            assert all(words[0] == "[locklens]:" and len(words) == 2 for words in quoted)
            assert any("touch PWNED" in text for _, text in quoted)
            roots = {word for text in copied for word in words_of(text, top)}
            assert set(ROOTS) <= roots
            assert any("touch PWNED" in word and word.endswith(":1") for word in roots)
            # Each is one word, unless it is a list of words that was quoted already.
            assert all(len(words_of(text, top)) == 1 for text in copied if text)

            on.app.call_later(on.screen.preview, Format(Scope.at(top, ROOTS, RootSettings())))
            await until(on, lambda: any(isinstance(one, PreviewScreen) for one in on.app.screen_stack))
            await until(on, lambda: "ready: enter writes" in on.text)
            preview = next(one for one in on.app.screen_stack if isinstance(one, PreviewScreen))
            plan = preview.query_one("#plan", LineView)
            plan.cursor = next(number for number, line in enumerate(plan.lines) if "locklens format" in line.text)
            await on.press("y")
            options = [word for root in ROOTS for word in ((f"--root={root}",) if root[0] == "-" else ("--root", root))]
            assert words_of(on.app.clipboard, top) == ["locklens", "format", *options]
            await on.press("g", "y")
            subject = on.app.clipboard.split("\n")[0]
            assert subject == "Fix the format of the lock file in 5 roots"
