"""Kills a command that writes several files and looks at what is left; a program of its own, since it forks without threads.

    killing.py TEMPLATE PLACE ROUNDS COMMAND...
    killing.py TEMPLATE PLACE ROUNDS screen ROOT...

TEMPLATE is a repository, PLACE an empty folder. COMMAND is run once to its end; then in a fresh copy for each kill with
SIGKILL: after each step of its writing, where it is held until it is killed, and ROUNDS times at any moment of the run.
Every file has to be the old or the new one, and after a run of `locklens why` every file or none. Prints how many were
what.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from functools import partial
from pathlib import Path

from preloading import load

from locklens.cli.main import main
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.plan import FileChanges
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write import apply as applying
from locklens.operations.write.lock_edits import Prune

SCREEN = "screen"


def run(folder: Path, words: list[str], *, steps: int = -1, hold: int = 0, output: Path | None = None) -> int:
    """Starts a command in a process of its own and returns its id.

    Args:
        folder: Where.
        words: The command line.
        steps: Where to write a byte for each step of the writing.
        hold: The step after which it goes no further; 0 for none.
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
        if steps >= 0:
            _watch(steps, hold)
        status = screen(words[1:]) if words[0] == SCREEN else main(words, lambda request, view: 98)
        sys.stdout.flush()
    finally:
        os._exit(status)


def _watch(steps: int, hold: int) -> None:
    """Tells of each step: writing begins, what is to be written is kept, then each file; makes the disk as slow as some are."""
    apply, rename = applying.apply, os.replace
    done: list[object] = []

    def step(what: object) -> None:
        done.append(what)
        os.write(steps, b"x")
        if len(done) == hold:
            signal.pause()

    def told(proposal: FileChanges) -> tuple[str, ...]:
        step(proposal)
        return apply(proposal)

    def slow(source: str, target: str) -> None:
        rename(source, target)
        if done:
            step(target)
        time.sleep(random.random() * 0.01)

    applying.apply = told  # type: ignore[assignment]
    os.replace = slow  # type: ignore[assignment]


def screen(roots: list[str]) -> int:
    """Prunes roots by the way that the screen goes: the source plans an intent, and writes what was planned."""
    source = LockLens(ReviewRequest(partial(open_git, Path.cwd())))
    intent = Prune(source.where(Path.cwd(), roots))
    plan = source.plan(intent)
    source.apply(plan.proposal)
    return 0


def ended(child: int) -> int:
    """Waits for a process and returns its status; negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def contents(top: Path) -> dict[str, bytes]:
    """The files that are not git's."""
    found = (path for path in sorted(top.rglob("*")) if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(top)): path.read_bytes() for path in found}


def killed_after(copy: Path, words: list[str], step: int) -> None:
    """Runs a command and kills it after a step of its writing."""
    reading, writing = os.pipe()
    child = run(copy, words, steps=writing, hold=step)
    os.close(writing)
    for _ in range(step):
        assert os.read(reading, 1), "it has fewer steps"
    os.kill(child, signal.SIGKILL)
    assert ended(child) == -signal.SIGKILL
    os.close(reading)


def killed_within(copy: Path, words: list[str], seconds: float) -> None:
    """Runs a command and kills it after some time, unless it has ended by then."""
    with Path(os.devnull).open("wb") as nowhere:
        child = run(copy, words, steps=nowhere.fileno())
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        ended(child)


def whole(copy: Path, words: list[str]) -> int:
    """Runs a command to its end and returns how many steps its writing has."""
    reading, writing = os.pipe()
    child = run(copy, words, steps=writing)
    os.close(writing)
    number = 0
    while os.read(reading, 1):
        number += 1
    os.close(reading)
    assert ended(child) == 0
    return number


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
    assert "interrupted" not in words or "had changed no file, and was discarded" in words
    assert after == (new if changed else old)
    assert changed in (0, everything)
    return "dropped" if "interrupted" in words else "all new" if changed else "all old"


def rounds(template: Path, place: Path, number: int, words: list[str]) -> dict[str, int]:
    """Kills it after each step, and that often at random."""
    old = contents(template)
    copy = place / "copy"
    shutil.copytree(template, copy)
    steps = whole(copy, words)  # what has to be asked and hashed once is remembered then
    new = contents(copy)
    assert sum(old[path] != new[path] for path in old) >= 3
    shutil.rmtree(copy)
    shutil.copytree(template, copy)
    started = time.monotonic()
    assert ended(run(copy, words)) == 0
    lasts = time.monotonic() - started
    found: dict[str, int] = {}
    kills = [partial(killed_after, step=step) for step in range(1, steps + 1)]
    kills += [partial(killed_within, seconds=random.random() * lasts) for _ in range(number)]
    for turn, kill in enumerate(kills):
        shutil.rmtree(copy)
        shutil.copytree(template, copy)
        kill(copy, words)
        outcome = verdict(copy, old, new, place / "said")
        found[outcome] = found.get(outcome, 0) + 1
        if turn % 10 == 0:
            again = ended(run(copy, words))
            assert again == 0, f"the next run ended with {again}"
            assert contents(copy) == new
    return found


if __name__ == "__main__":
    random.seed(7)
    load()
    print(json.dumps(rounds(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))  # noqa: T201
