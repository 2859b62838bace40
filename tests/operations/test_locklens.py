"""The operations as both front ends call them."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from operations.test_upgrade import LOCK, entry, lay, requiring, top

import locklens as package
from locklens.cli.commands import read_options
from locklens.dialect import OPENTOFU
from locklens.errors import OfflineError
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.health import HealthRequest
from locklens.operations.locklens import LockLens, Reads
from locklens.operations.plan import Scope
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write.apply import Operation
from locklens.operations.write.lock import Lock
from locklens.operations.write.lock_edits import Format, Prune, Restore, RestoredProviders
from locklens.operations.write.upgrade import Upgrade
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache

__all__ = ["top"]


def committed(top: Path) -> None:
    for root in ("a", "b"):
        lay(top, {f"{root}/main.tf": requiring(aws="~> 5.0"), f"{root}/{LOCK}": [entry("aws", "5.1.0", "~> 5.0")]})
    subprocess.run(["git", "add", "."], cwd=top, check=True)
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "x"], cwd=top, check=True)


@pytest.mark.parametrize("roots", [("a",), ("a", "b")], ids=len)
@pytest.mark.parametrize("operation", [Upgrade, Lock])
def test_offline_what_needs_registries_is_refused_whatever_the_number_of_roots(
    top: Path, roots: tuple[str, ...], operation: type[Upgrade | Lock]
) -> None:
    committed(top)
    with Cache.in_memory() as cache:
        network = NetworkSettings(os.environ, cache, is_offline=True)
        locklens = LockLens(ReviewRequest(partial(open_git, top), network=network))
        with pytest.raises(OfflineError, match="registries are required, and are not asked offline"):
            locklens.plan(operation(Scope(top, roots)))
        assert not locklens.plan(Prune(Scope(top, roots))).failures


def test_every_setting_of_a_run_is_read() -> None:
    text = "".join(path.read_text("utf-8") for path in Path(package.__file__).parent.rglob("*.py"))
    settings = {*ReviewRequest.__struct_fields__, *HealthRequest.__struct_fields__}
    assert not {name for name in settings if not re.search(rf"\.{name}\b", text)}


OF_A_REVIEW = {"open", "include_unchanged", "fail_on", "prove", "is_survey", "diagnosed", "is_demo"}
"""What a run is told of its review alone; the health of the same run has to heed the rest."""


def test_the_health_of_a_run_takes_its_settings(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = set(ReviewRequest.__struct_fields__) - OF_A_REVIEW
    assert shared <= set(HealthRequest.__struct_fields__)
    taken: list[HealthRequest] = []
    monkeypatch.setattr("locklens.operations.health.scan_health", lambda request, **_: taken.append(request))
    committed(top)
    options: dict[str, Any] = {"roots": ("a",), "tool": OPENTOFU, "test_directory": "t", "policy": top / "p.toml"}
    locklens = LockLens(ReviewRequest(partial(open_git, top), folder=top, **options))
    locklens.health(on_progress=lambda *_: None, on_draft=lambda _: None, cancel=Event())
    assert {name: getattr(taken[0], name) for name in options} == options


@pytest.mark.parametrize(
    ("command", "words", "operation"),
    [
        ("upgrade", ["aws=5.2.0", "--root", "a"], lambda where: Upgrade(where, ("aws=5.2.0",))),
        ("prune", ["aws", "--root", "a"], lambda where: Prune(where, ("aws",))),
        (
            "restore",
            ["aws", "--root", "a", "--from", "v1"],
            lambda where: Restore(where, (RestoredProviders(("a",), ("aws",)),), "v1"),
        ),
        ("format", ["--root", "a"], Format),
    ],
)
def test_what_is_typed_is_the_operation_that_a_screen_makes(
    top: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: list[str], operation: type[Operation]
) -> None:
    monkeypatch.chdir(top)
    found = read_options(command, words, [])
    assert isinstance(found, argparse.Namespace)
    made = found.operation(found)
    expected = operation(Scope(Path.cwd(), ("a",)))
    assert made == expected
    assert made.title == expected.title


def test_a_view_reads_the_same_base(top: Path) -> None:
    committed(top)
    with Cache.in_memory() as cache:
        network = NetworkSettings(os.environ, cache, is_offline=True)
        locklens = LockLens(ReviewRequest(partial(open_git, top), network=network))
        assert locklens.review().roots == ()
        based = LockLens(ReviewRequest(partial(open_git, top), network=network, base=Base()))
        assert based.for_view(Reads.CHANGES, top).review().roots == ()
        for reads in (Reads.LOCKED, Reads.CANDIDATES):
            assert [root.path for root in based.for_view(reads, top).review().roots] == ["a", "b"]
