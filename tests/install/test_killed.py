"""Killed at random moments: the lock file is the old or the new one, byte for byte, and the next run succeeds."""

from __future__ import annotations

import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from conformance.case import TERRAFORM
from conformance.forking import Locklens
from conformance.running import Invocation
from install.conftest import Place
from kit.effort import effort

_MOMENTS = effort(12, 200)
"""How often each command is killed."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


@pytest.mark.parametrize(
    "words", [("init", "-upgrade"), ("lock", "-platform=linux_amd64", "-platform=darwin_arm64")], ids=" ".join
)
def test_killed_at_random_moments(place: Place, locklens: Locklens, words: tuple[str, ...]) -> None:
    place.require(("acme/demo", "1.0.0"))
    assert not place.init().has_failed
    place.require(("acme/demo", ">= 1.0"), ("acme/other", ""))
    old = place.lock_file.read_bytes()
    template = place.folder / "template"
    shutil.copytree(place.root, template)

    def again() -> None:
        shutil.rmtree(place.root)
        shutil.copytree(template, place.root)

    invocation = Invocation(words, place.root, place.environ)
    start = time.perf_counter()
    assert locklens.of(TERRAFORM)(invocation).status == 0
    duration = time.perf_counter() - start
    new = place.lock_file.read_bytes()
    assert new != old
    chance, seen = random.Random(5), []
    for number in range(_MOMENTS):
        again()
        # The first is too early for anything. The file is written near the end: every other moment is there.
        moment = chance.uniform(0.5 if number % 2 else 0.0, 1.1) * duration if number else 0.0
        ended = locklens.of(TERRAFORM, seconds=moment)(invocation).status
        assert ended in {0, -signal.SIGKILL}
        found = place.lock_file.read_bytes()
        assert found in {old, new}
        seen.append((ended, found == new))
        finished = locklens.of(TERRAFORM)(invocation)
        assert finished.status == 0, finished.output
        assert place.lock_file.read_bytes() == new
        assert not list(place.root.rglob(".locklens-*"))
        assert {path.name for path in place.root.iterdir()} <= {".terraform", ".terraform.lock.hcl", "main.tf"}
    assert any(ended for ended, _ in seen)
    assert any(not is_new for _, is_new in seen)


def test_several_at_once_in_one_folder(place: Place, locklens: Locklens) -> None:
    from concurrent.futures import ThreadPoolExecutor

    place.require(("acme/demo", ""), ("acme/other", ""))
    run = locklens.of(TERRAFORM)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(run, [Invocation(("init",), place.root, place.environ)] * 6))
    assert [one.status for one in found] == [0] * 6, found
    assert sum("has created a lock file" in one.output for one in found) == 1
    assert place.asked().count("package") == 2
    assert not list(place.root.rglob(".locklens-*"))
    assert not Path(place.root / ".terraform/.locklens.lock").exists()
