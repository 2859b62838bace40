"""Kills a command that writes several files at random moments and looks at what is left; a program of its own, since it forks without threads.

    killing.py TEMPLATE PLACE ROUNDS COMMAND...
    killing.py TEMPLATE PLACE ROUNDS screen ROOT...

TEMPLATE is a repository, PLACE an empty folder. COMMAND is run once to its end; then ROUNDS times in a fresh copy, each
run killed with SIGKILL: in turn at any moment of the run, and at one shortly after writing began. Every file has to
be the old or the new one, and after a run of `locklens why` every file or none. Prints how many were what.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

from locklens.cli.main import main
from locklens.operations.compare_repository import open_git
from locklens.operations.plan.files import FileChanges
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write import apply as applying
from locklens.operations.write.prune import Prune
from locklens.ui.workspace_source import WorkspaceSource

SCREEN = "screen"

AFTER = (0, 1, 3, 3)
"""How many steps of writing to wait for: it begins, what is to be written is kept, then each file."""

LOADED = (
    "httpx", "gnupg", "platformdirs", "locklens.cli.reading", "locklens.cli.writing", "locklens.cli.write_options",
    "locklens.cli.install_progress", "locklens.packages.hashing", "locklens.project.git", "locklens.review.reports.why_text",
    "locklens.sources.http.client", "locklens.storage.cache", "locklens.operations.review.session", "locklens.operations.plan.builder",
    "locklens.cli.installing", "locklens.cli.install_options", "locklens.operations.write.lock",
    "locklens.operations.write.recover", "locklens.operations.write.registry_source", "locklens.operations.write.upgrade", "locklens.operations.review.why",
)  # fmt: skip
"""What the commands load, so that each copy of this process need not."""


def run(folder: Path, words: list[str], *, begun: int = -1, output: Path | None = None) -> int:
    """Starts a command in a process of its own and returns its id.

    Args:
        folder: Where.
        words: The command line.
        begun: Where to write a byte once writing begins.
        output: Where what it says goes.
    """
    child = os.fork()
    if child:
        return child
    status = 99
    try:
        os.chdir(folder)
        sink = os.open(output or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        if begun >= 0:
            _watch(begun)
        status = screen(words[1:]) if words[0] == SCREEN else main(words, lambda request, view: 98)
        sys.stdout.flush()
    finally:
        os._exit(status)


def _watch(begun: int) -> None:
    """Tells when writing begins, and makes the disk as slow as some are, so that kills fall between two files."""
    apply, rename = applying.apply, os.replace

    steps: list[object] = []

    def step(what: object) -> None:
        steps.append(what)
        os.write(begun, b"x")

    def told(proposal: FileChanges) -> tuple[str, ...]:
        step(proposal)
        return apply(proposal)

    def slow(source: str, target: str) -> None:
        rename(source, target)
        if steps:
            step(target)
        time.sleep(random.random() * 0.01)

    applying.apply = told  # type: ignore[assignment]
    os.replace = slow  # type: ignore[assignment]


def screen(roots: list[str]) -> int:
    """Prunes roots by the way that the screen goes: the source plans an intent, and writes what was planned."""
    source = WorkspaceSource(ReviewRequest(partial(open_git, Path.cwd())))
    intent = Prune(source.where(Path.cwd(), roots))
    plan = source.plan(intent, None, on_root=lambda _: None, on_event=lambda _: None, cancel=threading.Event())
    source.apply(plan.proposal)
    return 0


def ended(child: int) -> int:
    """Waits for a process and returns its status; negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def contents(top: Path) -> dict[str, bytes]:
    """The files that are not git's."""
    found = (path for path in sorted(top.rglob("*")) if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(top)): path.read_bytes() for path in found}


def killed(copy: Path, words: list[str], seconds: float, *, after: int) -> None:
    """Runs a command and kills it: at any moment (0), or soon after it began to write, or after it wrote a file."""
    reading, writing = os.pipe()
    child = run(copy, words, begun=writing)
    os.close(writing)
    for _ in range(after):
        os.read(reading, 1)
    seconds = random.random() * 0.02 if after else seconds
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    ended(child)
    os.close(reading)


def verdict(copy: Path, old: dict[str, bytes], new: dict[str, bytes], said: Path) -> str:
    """Says what one kill led to.

    Raises:
        AssertionError: A file is neither old nor new, or the next run did not settle it.
    """
    left = {path: data for path, data in contents(copy).items() if ".locklens-" not in path}
    assert left.keys() == old.keys()
    assert all(left[path] in (old[path], new[path]) for path in old)
    changed = sum(left[path] != old[path] for path in old if old[path] != new[path])
    everything = sum(old[path] != new[path] for path in old)
    ended(run(copy, ["why", "--offline", "demo"], output=said))
    words = said.read_text()
    after = contents(copy)
    if "was completed" in words:
        assert after == new
        assert changed
        return "completed" if changed < everything else "completed whole"
    assert "interrupted" not in words or "had changed no file yet, and was dropped" in words
    assert after == (new if changed else old)
    assert changed in (0, everything)
    return "dropped" if "interrupted" in words else "all new" if changed else "all old"


def rounds(template: Path, place: Path, number: int, words: list[str]) -> dict[str, int]:
    """Does it that often."""
    old = contents(template)
    whole = place / "whole"
    shutil.copytree(template, whole)
    assert ended(run(whole, words)) == 0  # what has to be asked and hashed once is remembered then
    new = contents(whole)
    assert sum(old[path] != new[path] for path in old) >= 3
    shutil.rmtree(whole)
    shutil.copytree(template, whole)
    started = time.monotonic()
    assert ended(run(whole, words)) == 0
    lasts = time.monotonic() - started
    found: dict[str, int] = {}
    for turn in range(number):
        copy = place / str(turn)
        shutil.copytree(template, copy)
        killed(copy, words, random.random() * lasts, after=AFTER[turn % len(AFTER)])
        outcome = verdict(copy, old, new, place / "said")
        found[outcome] = found.get(outcome, 0) + 1
        if turn % 10 == 0:
            again = ended(run(copy, words))
            assert again == 0, f"the next run ended with {again}"
            assert contents(copy) == new
        shutil.rmtree(copy)
    return found


if __name__ == "__main__":
    random.seed(7)
    for module in LOADED:
        importlib.import_module(module)
    print(json.dumps(rounds(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))  # noqa: T201
