"""Lock files whose configuration is elsewhere: none in the folder, or `terragrunt.hcl` beside them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kit.repositories import repository
from kit.schemas import validate

from locklens.demo import SampleLock, lock_file
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.lockfile.parse import parse

if TYPE_CHECKING:
    from kit.command_line import Run

HOST, LOCK = "registry.terraform.io", ".terraform.lock.hcl"
ABSENT = "no configuration in this folder"
GENERATED = "terragrunt.hcl may generate more of the configuration"


@pytest.fixture(scope="module")
def registry() -> Iterator[DemoRegistry]:
    versions = [("1.0.0", 300), ("1.1.0", 30), ("2.0.0", 20)]
    with DemoRegistry({f"{HOST}/acme/demo": [SampleListing(text, days=days) for text, days in versions]}) as running:
        yield running


@pytest.fixture(params=["absent", "terragrunt alone", "terragrunt beside"])
def top(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose only root has a lock file, and no configuration, or not all of it."""
    top = tmp_path / "top"
    (top / "live").mkdir(parents=True)
    data = lock_file(SampleLock(f"{HOST}/acme/demo", "1.0.0", "~> 1.0"))
    (top / "live" / LOCK).write_bytes(data)
    if request.param != "absent":
        (top / "live" / "terragrunt.hcl").write_text('terraform {\n  source = "../modules/x"\n}\n')
    if request.param == "terragrunt beside":
        (top / "live" / "main.tf").write_text('locals {\n  region = "eu"\n}\n')
    monkeypatch.chdir(top)
    return repository(top, {})


def reason(top: Path) -> str:
    return GENERATED if (top / "live" / "main.tf").exists() else ABSENT


def assert_doubted(found: list[dict[str, Any]], top: Path, out: str) -> None:
    """The doubt is a finding, or for all of Terragrunt's roots one note."""
    notes = [note for note in json.loads(out)["run"]["notes"] if "(LK007)" in note]
    if (top / "live" / "terragrunt.hcl").exists():
        assert found == []
        assert [note.partition(",")[0] for note in notes] == ["1 root has a terragrunt.hcl"]
    else:
        assert [(finding["severity"], reason(top) in finding["message"]) for finding in found] == [("info", True)]
        assert notes == []


def test_a_review_cannot_say_what_is_required(run: Run, top: Path) -> None:
    (top / "live" / LOCK).write_bytes((top / "live" / LOCK).read_bytes() + b"# by hand\n")
    status, out, _ = run("review", "--offline", "--format", "json")
    root = json.loads(out)["roots"][0]
    assert status == 0
    assert root["configuration"]["complete"] is False
    found = [finding for finding in root["findings"] if finding["rule"] == "LK007"]
    assert_doubted(found, top, out)


def test_a_changed_entry_is_no_orphan(run: Run, top: Path) -> None:
    (top / "live" / LOCK).write_bytes((top / "live" / LOCK).read_bytes().replace(b"~> 1.0", b">= 1.0"))
    _, out, _ = run("review", "--offline", "--format", "json")
    root = json.loads(out)["roots"][0]
    found = [one for one in (*root["findings"], *root["changes"][0]["findings"]) if one["rule"] == "LK007"]
    assert_doubted(found, top, out)


def test_terragrunt_roots_have_one_note(run: Run, top: Path) -> None:
    if not (top / "live" / "terragrunt.hcl").exists():
        pytest.skip("no Terragrunt")
    for name in ("a", "b"):
        shutil.copytree(top / "live", top / name)
    (top / "live" / LOCK).write_bytes((top / "live" / LOCK).read_bytes() + b"# by hand\n")
    _, out, _ = run("review", "--offline")
    assert "LK007 INFO" not in out
    assert out.count("note: ") == 1
    assert "note: 3 roots have a terragrunt.hcl, which may generate configuration: " in out


def test_the_recorded_constraints_bound_an_upgrade(run: Run, top: Path) -> None:
    status, out, err = run("upgrade", "--root", "live", "--no-cache")
    assert (status, "prune" in out + err) == (0, False), err
    entry = parse((top / "live" / LOCK).read_bytes(), LOCK).entries[0]
    assert (str(entry.version), entry.constraints) == ("1.1.0", "~> 1.0")
    assert reason(top) in err
    status, _, err = run("upgrade", "demo=2.0.0", "--root", "live", "--no-cache")
    assert status == 1
    assert "2.0.0 does not satisfy ~> 1.0" in err
    assert "--edit-constraints" not in err, "it would refuse"
    assert "the lock file only records the constraint" in err
    status, _, err = run("upgrade", "demo=2.0.0", "--edit-constraints", "--root", "live", "--no-cache")
    assert status == 1
    assert "the lock file only records the constraint" in err


def test_the_list_recommends_within_the_recorded_constraints(run: Run, top: Path) -> None:
    _, out, _ = run("upgrade", "--list", "--format", "json", "--root", "live", "--no-cache")
    document: Any = json.loads(out)
    validate(document, "upgrade")
    candidate = document["candidates"][0]
    assert (candidate["in_range"], candidate["recommended"], candidate["safe"]) == ("1.1.0", "1.1.0", True)
    assert reason(top) in candidate["recorded"]
    _, out, _ = run("upgrade", "--list", "--root", "live", "--no-cache")
    assert "prune" not in out
    assert "not required" not in out
    assert f"held to the constraint that the lock file records: {reason(top)}" in out.replace("\n             ", " ")


def test_nothing_holds_an_entry_that_records_no_constraint(run: Run, top: Path) -> None:
    lock = top / "live" / LOCK
    lock.write_bytes(re.sub(rb"  constraints = .*\n", b"", lock.read_bytes()))
    _, out, _ = run("upgrade", "--list", "--root", "live", "--no-cache")
    said = " ".join(out.split())
    assert f"the lock file records none, and the configuration is not known whole ({reason(top)}" in said
    assert "held to the constraint" not in said
    _, _, err = run("upgrade", "--dry-run", "--root", "live", "--no-cache")
    assert "held to no constraint" in err


def test_why_names_the_reason(run: Run, top: Path) -> None:
    status, out, _ = run("why", "demo", "--format", "json", "--no-cache")
    document: Any = json.loads(out)
    validate(document, "why")
    root = document["roots"][0]
    assert (status, root["required_by"], root["registry"]["upgrade"]["version"]) == (0, [], "1.1.0")
    assert root["configuration"]["complete"] is False
    assert reason(top) in root["configuration"]["unknown"]
    _, out, _ = run("why", "demo", "--no-cache")
    assert "prune" not in out
    assert reason(top) in out


def test_prune_does_not_guess(run: Run, top: Path) -> None:
    before = (top / "live" / LOCK).read_bytes()
    _, out, err = run("prune", "--root", "live")
    assert reason(top) in out + err
    assert (top / "live" / LOCK).read_bytes() == before


def test_a_check_beside_other_roots_fails_only_for_a_configuration_that_is_gone(run: Run, top: Path) -> None:
    (top / "own").mkdir()
    (top / "own/main.tf").write_text(
        'terraform {\n  required_providers {\n    demo = { source = "acme/demo" }\n  }\n}\n'
    )
    assert run("lock", "--root", "own", "--no-cache")[0] == 0
    is_generated = (top / "live" / "terragrunt.hcl").exists()
    status, out, err = run("lock", "--check", "--all-roots", "--no-cache")
    why = "no provider is required here" if (top / "live/main.tf").exists() else ABSENT
    words = f"live/{LOCK}: nothing was locked or checked: {why}"
    assert (status, words in out, f"own/{LOCK}: its hashes for" in out) == (0 if is_generated else 1, True, True)
    hint = "hint: `locklens hashes -- live` verifies locked hashes without a configuration\n"
    assert (hint in err) is is_generated
    assert run("lock", "--check", "--root", "live", "--no-cache")[0] == 2, "alone, nothing at all was checked"


def test_a_lock_that_locks_nothing_is_no_success_where_another_tool_generates_the_configuration(
    run: Run, top: Path
) -> None:
    (top / "own").mkdir()
    (top / "own/main.tf").write_text(
        'terraform {\n  required_providers {\n    demo = { source = "acme/demo" }\n  }\n}\n'
    )
    assert run("lock", "--root", "own", "--no-cache")[0] == 0
    is_generated = (top / "live" / "terragrunt.hcl").exists()
    hint = "hint: live: `terragrunt providers lock`, run there, locks it\n"
    before = (top / "live" / LOCK).read_bytes()
    status, _, err = run("lock", "--platform", "linux_amd64", "--root", "live", "--no-cache")
    assert (status, hint in err) == ((2, True) if is_generated else (0, False)), "without one, as the tools"
    assert "nothing was locked or checked: " in err
    status, out, _ = run("lock", "--platform", "linux_amd64", "--root", "live", "--no-cache", "--json")
    (outcome,) = (event for event in map(json.loads, out.splitlines()) if event["type"] == "outcome")
    assert (status, outcome["failed"], outcome["unchecked"]) == ((2, True, True) if is_generated else (0, False, True))
    assert (top / "live" / LOCK).read_bytes() == before
    status, _, err = run("lock", "--platform", "linux_amd64", "--all-roots", "--no-cache")
    assert (status, hint in err) == (0, is_generated), "as with --check, it is no fault of the roots beside it"
