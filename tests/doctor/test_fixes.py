"""The fixes as they are printed: each command runs where it is printed, and leaves what init accepts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import no_screen
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo.cases import sample_entry
from locklens.demo.incidents import SampleIncident, sample_incidents
from locklens.demo.packages import lock_file

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
LOCK = "live/prod/.terraform.lock.hcl"
DEMO = sample_entry("acme/demo", "1.4.2", "~> 1.4")
NEWER = sample_entry("acme/demo", "1.5.0", "~> 1.4")


def run(command: str) -> None:
    """Runs a printed line of commands of locklens in the current folder."""
    for line in command.split(" && "):
        name, *words = shlex.split(line)
        assert (name, main(words, no_screen)) == ("locklens", 0), line


def is_locked_as(folder: Path, entry: Any) -> bool:
    """True if the lock file has the version, and the signed hashes of the entry among others."""
    text = (folder / LOCK).read_text("utf-8")
    return f'"{entry.version}"' in text and all(f'"{one}"' in text for one in entry.hashes() if one.startswith("zh:"))


def in_conflict(theirs: bytes) -> SampleIncident:
    """Returns an incident whose lock file has our entry and another one between markers."""
    incident = INCIDENTS["bad-merge"]
    ours, head = lock_file(DEMO), b"<<<<<<< HEAD\n"
    at = ours.index(b"provider ")
    block = head + ours[at:] + b"=======\n" + theirs[at:] + b">>>>>>> other\n"
    return replace(incident, locks=(ours, ours[:at] + block))


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("theirs", [lock_file(NEWER), b""], ids=["hashes-of-each", "one-list-of-hashes"])
def test_a_merge_takes_the_entry_of_the_side_that_its_fix_names(
    theirs: bytes, number: int, made: Any, doctor: Any
) -> None:
    folder = made(in_conflict(theirs) if theirs else INCIDENTS["bad-merge"])
    fixes = doctor(folder, "ci.log")["remedies"]
    assert len(fixes) == 2
    named = f"with acme/demo {(DEMO, NEWER)[number].version} of {('HEAD', 'other')[number]}"
    assert named in doctor(folder, "--format", "text", "ci.log")
    run(fixes[number]["command"])
    assert is_locked_as(folder, (DEMO, NEWER)[number])
    assert doctor(folder, "ci.log")["state"] == "fixed"
