"""What a review makes of hashes that only the registry reports: their proof, and packages that disprove them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conformance.case import HERE, LOCK_FILE, OPENTOFU, PLATFORMS, requires
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, run

from locklens.demo import h1, zh
from locklens.demo.faults import Fault, FaultRule, Faults

DEMO = "registry.opentofu.org/acme/demo"
OLD, NEW = "1.1.0", "1.2.0"
CASE_OF_REVIEW = replace(CASE, files={"main.tf": requires(("acme/demo", OLD))}, tells_packages=True)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with bench(OPENTOFU, monkeypatch, CASE_OF_REVIEW) as found:
        assert run("lock", "--tool", "opentofu") == 0
        (found.work / LOCK_FILE).rename(found.work / "old.hcl")
        (found.work / "main.tf").write_text(requires(("acme/demo", NEW)))
        found.steps()
        yield found


def reviewed(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capfd.readouterr()
    run("review", "--old", "old.hcl", "--new", LOCK_FILE, "--format", "json", *words)
    found = json.loads(capfd.readouterr().out)
    assert isinstance(found, dict)
    return found


def proofs(review: dict[str, Any]) -> dict[str, tuple[str | None, str]]:
    (change,) = review["roots"][0]["changes"]
    return {one["hash"]: (one["platform"], one["proof"]) for one in change["hashes"]["added"]}


def rules(review: dict[str, Any]) -> set[str]:
    (change,) = review["roots"][0]["changes"]
    return {one["rule"] for one in change["findings"]}


def test_a_lock_without_a_package_is_reported_and_explained(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("lock", *(f"-platform={name}" for name in PLATFORMS), "--tool", "opentofu") == 0
    assert "package" not in place.steps()
    review = reviewed(capfd)
    found = proofs(review)
    for platform in PLATFORMS:
        assert found[h1(DEMO, NEW, platform)] == (platform, "reported")
        assert found[zh(DEMO, NEW, platform)] == (platform, "signed")
    assert not rules(review) & {"LK001", "LK002", "LK003", "LK027"}
    assert run("hashes", "--format", "json") == 0
    assert '"reported"' in capfd.readouterr().out


def test_the_policy_says_whose_reported_hashes_explain(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("lock", f"-platform={HERE}", "--tool", "opentofu") == 0
    for hosts, proof in (
        ('["registry.opentofu.org"]', "reported"),
        ('["reg.acme.test"]', "unknown"),
        ("[]", "unknown"),
    ):
        (place.work / "policy.toml").write_text(f"reported_hashes = {hosts}\n")
        review = reviewed(capfd, "--policy", "policy.toml")
        assert proofs(review)[h1(DEMO, NEW, HERE)] == (HERE, proof)
        assert ("LK027" in rules(review)) == (proof == "unknown")
    review = reviewed(capfd, "--policy", "policy.toml", "--prove", "changed")
    assert proofs(review)[h1(DEMO, NEW, HERE)] == (HERE, "computed")


def test_a_package_disproves_what_the_registry_reports(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    place.registry.tells_packages = False
    assert run("lock", *(f"-platform={name}" for name in PLATFORMS), "--tool", "opentofu", "--no-cache") == 0
    wrong = h1(DEMO, NEW, HERE, "other")
    lock = place.work / LOCK_FILE
    lock.write_text(lock.read_text().replace(h1(DEMO, NEW, HERE), wrong))
    place.registry.tells_packages = True
    place.registry.faults = Faults((FaultRule(Fault.OTHER_REPORTED_H1),))
    assert proofs(reviewed(capfd, "--no-cache"))[wrong] == (HERE, "reported")
    proven = reviewed(capfd, "--prove", "changed")
    assert proofs(proven)[h1(DEMO, NEW, "darwin_arm64")] == ("darwin_arm64", "computed")
    assert proofs(proven)[wrong][1] == "unknown"
    assert "LK002" in rules(proven)
    assert Path(lock).exists()
