"""A lock file that could not be read is read again: what was lost on the way is said, and no bare FIXED."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from doctor.test_roots import BOTH, DEMO, NETBOX
from doctor.test_states import INCIDENTS, LOCK
from kit.git import git
from kit.schemas import validate
from msgspec.structs import replace

from locklens.demo import lock_file

WHOLE = lock_file(DEMO, NETBOX)
WITHOUT_HASHES = re.sub(rb"  hashes = \[.*?\]\n", b"", WHOLE, flags=re.DOTALL)
DROPPED = re.findall(rb'    "zh:.*?",\n', WHOLE)[0]


@pytest.fixture
def broken(made: Any) -> Path:
    """A repository whose lock file had two providers, and lost an equals sign in the next commit; returns its top."""
    damaged = WHOLE.replace(b"constraints =", b"constraints", 1)
    folder: Path = made(replace(INCIDENTS["lock-syntax"], locks=(WHOLE, damaged), constraints=BOTH))
    return folder


def probable(document: Any) -> list[tuple[str, str, str]]:
    return [(one["id"], one["provider"], one["verdict"]) for one in document["causes"] if one["verdict"] != "no"]


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize(
    ("mended", "causes", "words"),
    [
        (
            WITHOUT_HASHES,
            [("hand-edit", "demo", "yes"), ("hand-edit", "netbox", "yes")],
            "the block of acme/demo 1.4.2 has no hash, and commit BEFORE has 7",
        ),
        (
            WHOLE.replace(DROPPED, b""),
            [("hand-edit", "demo", "likely")],
            "the block of acme/demo 1.4.2 lacks 1 of the 7 hashes that commit BEFORE has",
        ),
        (
            lock_file(DEMO),
            [("not-locked", "netbox", "yes")],
            f"and {LOCK} has no block for it, where commit BEFORE locks 3.9.1",
        ),
    ],
)
def test_what_a_repaired_lock_file_lacks_is_said(
    mended: bytes, causes: Any, words: str, *, is_committed: bool, broken: Path, doctor: Any
) -> None:
    before = git(broken, "rev-parse", "--short=12", "HEAD~")
    (broken / LOCK).write_bytes(mended)
    if is_committed:
        git(broken, "commit", "-qam", "repaired")
    document = doctor(broken, "ci.log")
    validate(document, "doctor")
    assert (document["state"], document["fixed"], document["next"]) == ("open", None, None)
    host = "registry.terraform.io/acme/"
    assert probable(document) == [(cause, host + name, verdict) for cause, name, verdict in causes]
    assert words.replace("BEFORE", before) in document["causes"][0]["evidence"]
    over = f"the error of the log is over ({LOCK} can be read now), but not all is well in live/prod: acme/"
    assert any(note.startswith(over) for note in document["run"]["notes"])
    if causes[0][0] == "hand-edit":
        restoring = f"locklens restore acme/demo --from {before} --root=live/prod"
        assert document["remedies"][0]["command"] == restoring


def test_a_repaired_lock_file_that_lacks_nothing_is_fixed(broken: Path, doctor: Any) -> None:
    (broken / LOCK).write_bytes(WHOLE)
    assert doctor(broken, "ci.log")["fixed"] == f"{LOCK} can be read now"
    (broken / LOCK).write_bytes(lock_file(replace(DEMO, version="1.5.0"), NETBOX))
    assert doctor(broken, "ci.log")["fixed"] == f"{LOCK} can be read now", "another version has other hashes"
    (broken / "live/prod/main.tf").write_text("", "utf-8")
    (broken / LOCK).write_bytes(b"")
    assert doctor(broken, "ci.log")["fixed"] == f"{LOCK} can be read now", "nothing is required any more"


def test_what_was_never_locked_is_left_to_init_unless_it_may_not_write(broken: Path, doctor: Any) -> None:
    main_tf, log = broken / "live/prod/main.tf", broken / "ci.log"
    main_tf.write_text(main_tf.read_text("utf-8").replace("acme/netbox", "acme/other"), "utf-8")
    (broken / LOCK).write_bytes(WHOLE)
    lacks = f"{LOCK} can be read now, and lacks acme/other, which live/prod requires and init has to add"
    assert doctor(broken, "ci.log")["fixed"] == lacks
    log.write_text(f"$ terraform -chdir=live/prod init -lockfile=readonly\n{log.read_text('utf-8')}", "utf-8")
    document = doctor(broken, "ci.log")
    assert document["state"] == "open"
    host = "registry.terraform.io/acme/"
    assert probable(document) == [("not-required", f"{host}netbox", "yes"), ("not-locked", f"{host}other", "yes")]


def test_an_entry_without_hashes_is_found_without_a_log(broken: Path, doctor: Any) -> None:
    before = git(broken, "rev-parse", "--short=12", "HEAD~")
    (broken / LOCK).write_bytes(WITHOUT_HASHES)
    git(broken, "commit", "-qam", "repaired")
    cause = doctor(broken, "--provider", "acme/demo", "--", "live/prod")["causes"][0]
    assert (cause["id"], cause["verdict"]) == ("hand-edit", "yes")
    assert cause["evidence"] == f"{LOCK}:4: the block of acme/demo 1.4.2 has no hash, and commit {before} has 7"


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize(
    ("mended", "words"),
    [
        (WHOLE, "the same version and hashes in 2 of 2 roots, also live/other"),
        (WHOLE.replace(DROPPED, b""), "no other root has the same version and hashes"),
    ],
)
def test_a_commit_whose_lock_file_cannot_be_read_does_not_hide_the_ones_before(
    mended: bytes, words: str, *, is_committed: bool, broken: Path, doctor: Any
) -> None:
    (broken / "live/other").mkdir()
    (broken / "live/other/.terraform.lock.hcl").write_bytes(WHOLE)
    (broken / LOCK).write_bytes(mended)
    first, last = git(broken, "rev-parse", "--short=12", "HEAD~"), ""
    if is_committed:
        git(broken, "commit", "-qam", "repaired")
        last = git(broken, "rev-parse", "--short=12", "HEAD")
    words = f"ROOT live/prod acme/demo 1.4.2; {words}"
    text = " ".join(doctor(broken, "--format", "text", "--provider=acme/demo", "--", "live/prod").split())
    assert words in text
    if mended == WHOLE:
        assert (f"LOCKED since commit {first}" in text) is is_committed
        return
    assert words in " ".join(doctor(broken, "--format", "text", "ci.log").split())
    assert (f"LOCKED since commit {last}" in text and '"repaired" (-1 zh)' in text) is is_committed
    assert "added 1.4.2" not in text
