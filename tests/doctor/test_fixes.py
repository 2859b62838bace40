"""The fixes as they are printed: each command runs where it is printed, and leaves what init accepts."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import no_screen
from kit.git import git
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo.cases import sample_entry
from locklens.demo.incidents import SampleIncident, boxed_log, sample_incidents
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


def test_constraints_are_rewritten_for_a_version_that_there_is(made: Any, doctor: Any) -> None:
    for number, version in enumerate(("1.4.2", "1.5.0")):
        folder = made(INCIDENTS["constraint-conflict"])
        fixes = doctor(folder, "ci.log")["remedies"]
        assert [one["trust"] for one in fixes] == ["none", "low"]
        run(fixes[number]["command"])
        assert f'"~> {version[:3]}"' in (folder / "live/prod/main.tf").read_text("utf-8")
        assert doctor(folder, "ci.log")["state"] == "fixed"
        shutil.rmtree(folder)


def test_an_older_version_that_satisfies_the_constraints_is_named(made: Any, doctor: Any) -> None:
    newest = replace(
        INCIDENTS["key-changed"], locks=(lock_file(NEWER),), constraints=(("acme/demo", "~> 1.3, <= 1.5.0"),)
    )
    folder = made(replace(newest, rules=()))
    log = (folder / "ci.log").read_text("utf-8").replace("1.4.2", "1.5.0")
    (folder / "ci.log").write_text(log, "utf-8")
    document = doctor(folder, "ci.log")
    assert document["remedies"][0]["command"] == "locklens upgrade acme/demo=1.4.2 --root=live/prod"
    words = "no newer listed version satisfies the constraints"
    assert f"Go back to acme/demo 1.4.2: {words}" in doctor(folder, "--format", "text", "ci.log")
    run(document["remedies"][0]["command"])
    assert is_locked_as(folder, DEMO)


def test_a_command_that_shows_and_mends_nothing_is_a_hint(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["wrong-source"])
    fix = doctor(folder, "ci.log")["remedies"][0]
    assert (fix["command"], fix["hint"]) == (None, "locklens why acme/dmeo --root=live/prod")
    assert main(shlex.split(fix["hint"])[1:], no_screen) == 1  # it finds what is not locked, and changes nothing
    out = doctor(folder, "--format", "text", "ci.log")
    assert "hint: locklens why acme/dmeo --root=live/prod" in out
    assert "left out" not in out
    assert "hint: `locklens why" in doctor(folder, "--format", "markdown", "ci.log")


@pytest.mark.parametrize(("host", "named", "note"), [
    ("registry.terraform.io", "$TF_TOKEN_registry_terraform_io", "providers.v1"),
    ("localhost:19500", "$TOKEN", "the credentials block of localhost:19500: a host with a port has no TF_TOKEN_ variable"),
])  # fmt: skip
def test_a_token_is_tried_by_a_command_that_is_printed(
    host: str, named: str, note: str, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["credentials"])
    message = f"Could not retrieve the list of available versions for provider acme/demo: host {host} rejected the given authentication credentials"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", message)), "utf-8")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert f'-H "Authorization: Bearer {named}" https://{host}/v1/providers/acme/demo/versions' in out
    assert note in out
    assert "TF_TOKEN_localhost" not in out


def test_a_token_for_a_mirror_is_tried_where_the_mirror_has_its_index(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["credentials"])
    settings = tmp_path / "demo.tfrc"
    only = 'provider_installation {\n  network_mirror {\n    url = "https://localhost:19500/tf/"\n  }\n}\n'
    settings.write_text(settings.read_text("utf-8") + only, "utf-8")
    message = "failed to query provider mirror https://localhost:19500/tf/ for registry.terraform.io/acme/demo: 403 Forbidden returned from localhost:19500"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", message)), "utf-8")
    fix = doctor(folder, "ci.log")["remedies"][0]
    assert fix["command"].endswith(" https://localhost:19500/tf/registry.terraform.io/acme/demo/index.json")


@pytest.mark.parametrize("is_committed", [False, True])
def test_an_edit_of_hashes_that_a_commit_has_as_they_were_signed(is_committed: bool, made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    text = (folder / LOCK).read_text("utf-8")
    (folder / LOCK).write_text(re.sub("(zh:|h1:)....", r"\g<1>0000", text), "utf-8")
    if is_committed:
        git(folder, "commit", "-qam", "edited")
    document = doctor(folder, "ci.log")
    fix = document["remedies"][0]
    assert (fix["id"], fix["trust"]) == ("restore-entry", "low")
    run(fix["command"])
    assert is_locked_as(folder, DEMO)


def test_hashes_of_the_signed_package_come_before_those_of_a_commit(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["h1-missing"]
    fixes = doctor(made(incident), *incident.options, "ci.log")["remedies"]
    assert [(one["id"], one["trust"]) for one in fixes] == [("lock-platform", "none"), ("restore-entry", "low")]
