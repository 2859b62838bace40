"""How old what is locked is: from the registry's dates to the finding, only where there is a cooldown."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from kit.registries import environ_of

from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault, Step
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.operations.compare import open_git
from locklens.operations.review.prove import prove
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.policy import POLICY_FILE, Policy
from locklens.releases import NetworkSettings
from locklens.review.findings import Severity
from locklens.review.model import Change
from locklens.review.reports.evidence_lines import released_lines
from locklens.storage.cache import Cache

AWS = "registry.terraform.io/hashicorp/aws"
OLD, NEW = SampleLock(AWS, "5.84.0"), SampleLock(AWS, "5.86.1")
LOCK = ".terraform.lock.hcl"


@pytest.fixture
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry({AWS: (SampleListing("5.84.0", days=90), SampleListing("5.86.1", days=3))}) as running:
        yield running


Judge = Callable[..., Change]


@pytest.fixture
def notes() -> list[str]:
    """The notes of the last review."""
    return []


@pytest.fixture
def judge(registry: DemoRegistry, tmp_path: Path, notes: list[str]) -> Iterator[Judge]:
    """Commits a lock file, writes another one over it, and reviews that."""
    environ = environ_of(registry, tmp_path)
    top = tmp_path / "top"
    top.mkdir()
    cache = Cache.in_memory()

    def run(*, policy: str = "cooldown = 7\n", old: bytes = lock_file(OLD), new: bytes = lock_file(NEW), proves: bool = False) -> Change:  # fmt: skip
        subprocess.run(["git", "init", "-q"], cwd=top, check=True)
        (top / POLICY_FILE).write_text(policy)
        (top / LOCK).write_bytes(old)
        subprocess.run(["git", "add", "-A"], cwd=top, check=True)
        name = ["-c", "user.name=a", "-c", "user.email=a@x.test"]
        subprocess.run(["git", *name, "commit", "-q", "--allow-empty", "-m", "x"], cwd=top, check=True)
        (top / LOCK).write_bytes(new)
        network = NetworkSettings(environ, cache)
        found = review(ReviewRequest(partial(open_git, top), include_unchanged=True, network=network))
        roots, notes[:] = found.roots, found.notes
        if proves:
            chosen = [(root.lock_file, change.address) for root in roots for change in root.changes]
            roots = prove(found, chosen, network, confirm=lambda _: True, on_event=print, cancel=threading.Event())
        return roots[0].changes[0]

    with cache:
        yield run


def told(change: Change) -> list[str]:
    return [one.message for one in change.findings if one.rule == "LK014"]


def test_a_version_that_is_too_young(judge: Judge, registry: DemoRegistry, notes: list[str]) -> None:
    change = judge()
    assert change.evidence is not None
    assert change.evidence.days == 3
    day = change.evidence.released
    assert told(change) == [f"5.86.1 was released 3 days ago ({day}), and the cooldown is 7 days"]
    finding = next(one for one in change.findings if one.rule == "LK014")
    assert (finding.severity, finding.file, finding.line) == (Severity.WARN, LOCK, 4)
    assert sum(one.step is Step.DATES for one in registry.requests) == 1
    assert notes == []


def test_the_finding_stays_when_hashes_were_proven(judge: Judge) -> None:
    assert len(told(judge(proves=True))) == 1


@pytest.mark.parametrize("policy", ["cooldown = 3\n", "cooldown = 0\n"])
def test_a_version_that_is_old_enough(judge: Judge, policy: str) -> None:
    assert told(judge(policy=policy)) == []


def test_without_a_cooldown_nobody_is_asked(judge: Judge, registry: DemoRegistry) -> None:
    change = judge(policy="")
    assert told(change) == []
    assert change.evidence is not None
    assert change.evidence.days is None
    assert not any(one.step is Step.DATES for one in registry.requests)


def test_a_new_provider_has_to_be_old_enough_too(judge: Judge) -> None:
    assert len(told(judge(old=lock_file()))) == 1


def test_a_version_that_was_locked_before_is_not_told_of_again(judge: Judge) -> None:
    assert told(judge(old=lock_file(NEW))) == []
    assert told(judge(old=lock_file(SampleLock(AWS, "5.86.1", packed=("linux_amd64",))))) == []


@pytest.mark.parametrize("fault", [Fault.NOT_FOUND, Fault.SERVER_ERROR, Fault.HTML, Fault.CUT])
def test_an_unknown_age_is_no_finding_and_no_trouble_but_a_note(
    judge: Judge, registry: DemoRegistry, notes: list[str], fault: Fault
) -> None:
    registry.faults.add(fault, step=Step.DATES)
    change = judge()
    assert notes == ["release date unknown of hashicorp/aws 5.86.1: the cooldown of 7 days was not checked"]
    ((_, words),) = (one.spans for one in released_lines(change, Policy(cooldown=7)))
    assert words.text == "unknown: the cooldown of 7 days was not checked"
    assert told(change) == []
    assert change.evidence is not None
    assert (change.evidence.days, change.evidence.problems) == (None, ())
