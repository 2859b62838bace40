"""Advisories of locked providers in a review and in the health, from packages that were inspected before."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import locklens
from kit.git import git
from kit.schemas import validate
from msgspec.structs import replace

from locklens.advisories import Advisory, AdvisoryDatabase, AffectedModule, AffectedPackage, VersionRange
from locklens.advisories.database import default_advisories_path, keep_database
from locklens.executables import BuildInfo, Executable, ExecutableFormat, GoModule
from locklens.packages.inspecting import PackageFacts, keep_facts
from locklens.storage.cache import Cache, default_cache_path

NET, HTML = "golang.org/x/net", "golang.org/x/net/html"
OWN = "github.com/hashicorp/terraform-provider-vault"
OLD, NEW = f"zh:{'1' * 64}", f"zh:{'2' * 64}"


def advisory(name: str, fixed: str, *symbols: str, introduced: str = "0") -> Advisory:
    packages = (AffectedPackage(HTML, symbols),)
    return Advisory(
        name, (f"CVE-{name}",), "A defect.", (AffectedModule(NET, (VersionRange(introduced, fixed),), None, packages),)
    )


DATABASE = AdvisoryDatabase(
    "here",
    "2026-11-16T09:00:00Z",
    "2026-11-23T00:00:00Z",
    (
        advisory("GO-1", "0.2.0", "Parse"),
        advisory("GO-2", "0.9.0", "Render", introduced="0.2.0"),
        advisory("GO-3", "0.9.0", "Parse"),
        advisory("GO-4", "0.9.0", "Nowhere"),
        Advisory("GO-5", ("CVE-5",), "Tokens are logged.", (AffectedModule(OWN, (), (VersionRange("0", "5.5.0"),)),)),
    ),
)


def keep(zh: str, net: str) -> None:
    build = BuildInfo(
        "go1.25.3", OWN, GoModule(OWN, "(devel)"), (GoModule(NET, net),), (("GOOS", "linux"), ("GOARCH", "amd64"))
    )
    program = Executable(ExecutableFormat.ELF, 1, build, (f"{HTML}.Parse", f"{HTML}.Render"), packages=(HTML,))
    with Cache() as cache:
        keep_facts(cache, PackageFacts(zh, "h1:x", 1, (), "terraform-provider-vault", program))
        cache.flush()


def lock(version: str, zh: str) -> str:
    return (
        f'provider "registry.terraform.io/hashicorp/vault" {{\n  version     = "{version}"\n'
        f'  constraints = "~> 4.0"\n  hashes = [\n    "{zh}",\n  ]\n}}\n'
    )


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_advisories_path().is_relative_to(tmp_path)
    assert default_cache_path().is_relative_to(tmp_path)
    (tmp_path / "old.hcl").write_text(lock("4.1.0", OLD))
    (tmp_path / "new.hcl").write_text(lock("4.2.0", NEW))


def review(folder: Path, *words: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The only change of the review, and its findings about advisories by rule."""
    sides = "--old", "old.hcl", "--new", "new.hcl"
    status, out, err = locklens(folder, "review", *sides, "--offline", "--format", "json", *words)
    assert status in {0, 1}, err
    document = json.loads(out)
    validate(document, "review")
    change = document["roots"][0]["changes"][0]
    return change, {each["rule"]: each for each in change["findings"] if each["rule"] in {"LK042", "LK043"}}


def test_without_a_database_nothing_is_said(tmp_path: Path) -> None:
    keep(NEW, "v0.2.0")
    change, findings = review(tmp_path)
    assert (change["advisories"], findings) == (None, {})


def test_an_upgrade_says_what_it_introduces_fixes_and_keeps(tmp_path: Path) -> None:
    keep_database(DATABASE)
    keep(OLD, "v0.1.0")
    keep(NEW, "v0.2.0")
    change, findings = review(tmp_path)
    known = change["advisories"]
    ids = {side: [each["id"] for each in known[side]] for side in ("introduced", "fixed", "both", "present")}
    assert ids == {"introduced": ["GO-2"], "fixed": ["GO-1"], "both": ["GO-5", "GO-3", "GO-4"], "present": []}
    assert [each["linked"] for each in known["both"]] == [None, True, False]
    assert known["as_of"] == "2026-11-16T09:00:00Z"
    assert findings["LK042"]["severity"] == "info"
    assert findings["LK042"]["message"] == (
        "introduces 1 advisory of modules inside (1 linked by name; linux_amd64, as of 2026-11-16): "
        "GO-2 in golang.org/x/net v0.2.0, fixed in v0.9.0; 1 introduced, 1 fixed, 2 in both (and 1 not linked by name)"
    )
    assert findings["LK043"]["severity"] == "warn"
    assert findings["LK043"]["message"] == (
        "GO-5 (CVE-5) is about 4.2.0 itself: Tokens are logged; fixed in 5.5.0 (as of 2026-11-16)"
    )
    text = locklens(tmp_path, "review", "--old", "old.hcl", "--new", "new.hcl", "--offline", "--format", "text")[1]
    assert (
        "advisories: 1 introduced, 1 fixed, 2 in both (and 1 not linked by name) (as of 2026-11-16, linux_amd64)"
        in text
    )


def test_what_was_found_is_kept_for_this_database_alone(tmp_path: Path) -> None:
    keep_database(DATABASE)
    keep(OLD, "v0.1.0")
    keep(NEW, "v0.2.0")
    first, _ = review(tmp_path)
    with sqlite3.connect(default_cache_path()) as file:
        file.execute("DELETE FROM inspections")
    again, _ = review(tmp_path)
    assert again["advisories"] == first["advisories"]
    keep_database(replace(DATABASE, read_at="2026-11-24T00:00:00Z"))
    other, _ = review(tmp_path)
    assert [each["id"] for each in other["advisories"]["present"]] == ["GO-5"], "nothing is inspected any more"


def test_packages_that_are_locked_for_two_versions_are_those_of_neither(tmp_path: Path) -> None:
    keep_database(DATABASE)
    keep(OLD, "v0.1.0")
    (tmp_path / "new.hcl").write_text(lock("5.5.0", OLD))
    change, findings = review(tmp_path)
    assert (change["advisories"], findings) == (None, {})


def test_what_was_not_inspected_is_not_known_but_the_provider_itself_is(tmp_path: Path) -> None:
    keep_database(DATABASE)
    change, findings = review(tmp_path)
    assert [each["id"] for each in change["advisories"]["present"]] == ["GO-5"]
    assert findings.keys() == {"LK043"}
    keep(NEW, "v0.2.0")
    change, findings = review(tmp_path)
    assert [each["id"] for each in change["advisories"]["present"]] == ["GO-5", "GO-2", "GO-3", "GO-4"]
    assert "2 advisories of modules inside (2 linked by name, of 3 by version;" in findings["LK042"]["message"]


def test_the_constraint_that_excludes_the_fix_is_named_with_its_place(tmp_path: Path) -> None:
    keep_database(DATABASE)
    root = tmp_path / "root"
    root.mkdir()
    (root / ".terraform.lock.hcl").write_text(lock("4.2.0", NEW))
    (root / "main.tf").write_text(
        'terraform {\n  required_providers {\n    vault = {\n      source  = "hashicorp/vault"\n'
        '      version = "~> 4.0"\n    }\n  }\n}\n'
    )
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "begin")
    status, out, err = locklens(root, "review", "--format", "json", "--offline")
    assert status in {0, 1}, err
    changes = json.loads(out)["roots"][0]["changes"]
    message = next(one["message"] for change in changes for one in change["findings"] if one["rule"] == "LK043")
    assert "; fixed in 5.5.0, outside of ~> 4.0 (main.tf:5) (as of 2026-11-16)" in message


def test_what_the_policy_ignores_does_not_count_until_its_last_day(tmp_path: Path) -> None:
    keep_database(DATABASE)
    keep(OLD, "v0.1.0")
    keep(NEW, "v0.2.0")
    last = datetime.now(UTC).date()
    policy = tmp_path / "policy.toml"
    entries = (("cve-go-2", last.isoformat()), ("GO-5", "2020-01-01"))
    policy.write_text(
        '[severity]\nLK042 = "block"\n'
        + "".join(f'[[advisories.ignore]]\nid = "{name}"\nwhy = "x"\nuntil = {until}\n' for name, until in entries)
    )
    change, findings = review(tmp_path, "--policy", str(policy))
    assert findings.keys() == {"LK043"}, "GO-5 counts again, and GO-2 is ignored"
    assert change["advisories"]["ignored"] == ["GO-2"]
    words = ("review", "--old", "old.hcl", "--new", "new.hcl", "--offline", "--policy", str(policy), "--format", "json")
    notes = json.loads(locklens(tmp_path, *words)[1])["run"]["notes"]
    assert any("the advisory GO-5 counts again" in note for note in notes)
    policy.write_text('[severity]\nLK042 = "block"\n')
    _, findings = review(tmp_path, "--policy", str(policy))
    assert findings["LK042"]["severity"] == "block"


def test_a_damaged_database_is_a_note_and_no_error(tmp_path: Path) -> None:
    keep_database(DATABASE)
    default_advisories_path().write_bytes(b"other")
    sides = "--old", "old.hcl", "--new", "new.hcl"
    status, out, _ = locklens(tmp_path, "review", *sides, "--offline", "--format", "json")
    assert status in {0, 1}
    assert any(note.startswith("advisories cannot be looked up: ") for note in json.loads(out)["run"]["notes"])


def health(folder: Path) -> dict[str, Any]:
    status, out, err = locklens(folder, "health", "--offline", "--format", "json")
    assert status in {0, 1}, err
    document = json.loads(out)
    validate(document, "health")
    return {each["id"]: each for each in document["checks"]}


def test_the_health_counts_what_was_inspected_and_says_what_was_not(tmp_path: Path) -> None:
    root = tmp_path / "roots" / "a"
    root.mkdir(parents=True)
    (root / ".terraform.lock.hcl").write_text(lock("4.2.0", NEW))
    off = health(root.parent)
    assert off["advisories"]["locks"] == 0
    keep_database(DATABASE)
    unseen = health(root.parent)
    assert (unseen["own-advisory"]["locks"], unseen["advisories"]["locks"]) == (1, 0)
    keep(NEW, "v0.2.0")
    seen = health(root.parent)
    assert (seen["own-advisory"]["locks"], seen["advisories"]["locks"]) == (1, 1)
    assert seen["own-advisory"]["command"] is None
    held = ["a: registry.terraform.io/hashicorp/vault: fixed in 5.5.0, outside of ~> 4.0"]
    assert seen["own-advisory"]["left_out"] == held
    (root / "main.tf").write_text(
        'terraform {\n  required_providers {\n    vault = {\n      source = "hashicorp/vault"\n'
        '      version = ">= 4.0"\n    }\n  }\n}\n'
    )
    command = "locklens upgrade registry.terraform.io/hashicorp/vault=5.5.0 -- a"
    assert health(root.parent)["own-advisory"]["command"] == command
    assert off["advisories"]["reason"].startswith("no database of advisories is kept")
    assert (unseen["advisories"]["unknown"], seen["advisories"]["unknown"]) == (1, 0)
