"""Reviews that ask: real answers of the sample registry on loopback, real signatures, real gpg."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import jsonschema
import pytest
from kit.git import git
from kit.registries import environ_of
from kit.schemas import json_report, validate
from kit.waiting import meanwhile
from msgspec.structs import replace

from locklens.cli.interrupts import interruptible
from locklens.cli.main import main
from locklens.demo import PLATFORMS, SampleLock, h1, lock_file, zh
from locklens.demo.faults import Fault, Faults, Step
from locklens.demo.incidents import make_repository
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import RunCancelledError
from locklens.operations.compare import open_git
from locklens.operations.compare_files import open_files
from locklens.operations.locklens import LockLens
from locklens.operations.review.prove import prove
from locklens.operations.review.request import PackageDone, ProvingPlanned, ReviewEvent, ReviewRequest
from locklens.operations.review.run import review
from locklens.releases import NetworkSettings
from locklens.review import HashCount, Proof
from locklens.review.coverage import LockedHashes
from locklens.review.evidence import packages_to_compare
from locklens.review.findings import Finding, Severity
from locklens.review.keys import signers
from locklens.review.model import Change, Review, Unverified
from locklens.review.reports import lock_lines, text
from locklens.review.rules.catalogue import CONTRADICTING, RULES, wording_of
from locklens.storage.cache import Cache
from locklens.trust import Tier

DEMO = "registry.terraform.io/acme/demo"
AWS = "registry.terraform.io/hashicorp/aws"
FOREIGN = "registry.acme.test/acme/demo"


PATIENT = {"TF_REGISTRY_CLIENT_TIMEOUT": "3600"}
"""Whoever waited for a time-out would not come back."""


class Bench:
    """A registry, a cache, and two lock files to compare."""

    def __init__(self, folder: Path, registry: DemoRegistry) -> None:
        self.folder = folder
        self.registry = registry
        self.environ = environ_of(registry, folder)
        self.cache_file = folder / "cache.sqlite3"
        self.events: list[ReviewEvent] = []

    def request(self, old: bytes | None, new: bytes, **options: object) -> ReviewRequest:
        prove = str(options.pop("prove", "none"))
        names = []
        for name, data in (("old.hcl", old), ("new.hcl", new)):
            if data is not None:
                (self.folder / name).write_bytes(data)
            names.append(str(self.folder / name) if data is not None else "/dev/null")
        opened = partial(open_files, *names, config=None, cwd=self.folder, stdin=bytes)
        network = NetworkSettings(options.pop("environ", self.environ), Cache(self.cache_file), **options)  # type: ignore[arg-type]
        return ReviewRequest(opened, include_unchanged=prove == "all", network=network, prove=prove)  # type: ignore[arg-type]

    def review(self, old: bytes | None, new: bytes, **options: object) -> Review:
        is_survey = options.pop("is_survey", False)
        request = self.request(old, new, **options)
        if is_survey:
            request = replace(request, is_survey=True, include_unchanged=True)
        found = review(request, on_event=self.events.append)
        json_report("review", found)
        text.render(found)
        return found

    def change(self, old: SampleLock | None, new: SampleLock, **options: object) -> Change:
        dialect = options.pop("dialect", TERRAFORM)
        assert isinstance(dialect, Dialect)
        found = self.review(
            lock_file(old, dialect=dialect) if old else None, lock_file(new, dialect=dialect), **options
        )
        (change,) = found.roots[0].changes
        return change

    @property
    def asked(self) -> int:
        return len(self.registry.requests)

    def stalled(self, step: Step, do: Callable[[], object]) -> AbstractContextManager[None]:
        """Does something as soon as an answer to this step is on its way, of which the rest never comes."""
        return meanwhile(lambda: any(one.step is step for one in self.registry.requests), do, rescue=self.registry.stop)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are tested with the client."""
    monkeypatch.setattr("locklens.sources.http.sending.wait_before", lambda *_, **__: 0.01)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with DemoRegistry() as registry:
        yield Bench(tmp_path, registry)


def rules(change: Change) -> dict[str, Finding]:
    return {finding.rule: finding for finding in change.findings}


def proofs(change: Change) -> dict[str, set[Proof]]:
    found: dict[str, set[Proof]] = {}
    for fact in change.added:
        found.setdefault(fact.hash[:2], set()).add(fact.proof)
    return found


OLD, NEW = SampleLock(AWS, "5.84.0"), SampleLock(AWS, "5.86.1")


def test_an_honest_upgrade_is_traced_to_its_signer(bench: Bench) -> None:
    change = bench.change(OLD, NEW)
    assert change.hashes == HashCount(6, 1, 1)
    assert proofs(change) == {"zh": {Proof.SIGNED}, "h1": {Proof.UNKNOWN}}
    assert {fact.platform for fact in change.added if fact.hash.startswith("zh")} == set(PLATFORMS)
    assert list(rules(change)) == ["LK027"]
    assert rules(change)["LK027"].severity is Severity.INFO
    assert change.new_signer is not None
    assert change.old_signer is not None
    assert change.new_signer.keys == change.old_signer.keys
    assert len(change.new_signer.keys[0].fingerprint) == 40
    assert change.new_signer.tier is Tier.SELF_SIGNED
    assert change.evidence is not None
    assert change.evidence.as_of is not None
    assert all(fact.proof is Proof.SIGNED for fact in change.removed if fact.hash.startswith("zh"))


def test_nothing_is_asked_twice_nor_within_the_hour(bench: Bench) -> None:
    first = bench.review(lock_file(OLD), lock_file(NEW))
    paths = [request.path for request in bench.registry.requests]
    assert len(paths) == len(set(paths)) == 7
    again = bench.review(lock_file(OLD), lock_file(NEW))
    assert bench.asked == len(paths)
    assert again.roots == first.roots
    bench.review(lock_file(OLD), lock_file(NEW), is_fresh=True)
    assert bench.asked == 2 * len(paths)


def test_a_version_younger_than_the_remembered_list_is_no_withdrawn_one(bench: Bench) -> None:
    bench.registry.faults.add(Fault.WITHDRAWN, AWS, "5.86.1")
    assert "LK030" not in rules(bench.change(None, OLD))
    bench.registry.faults.clear()
    assert "LK030" not in rules(bench.change(OLD, NEW))
    bench.registry.faults.add(Fault.WITHDRAWN, AWS, "5.86.1")
    assert "does not list" in rules(bench.change(OLD, NEW, is_fresh=True))["LK030"].message


def test_a_package_that_a_younger_registry_has(bench: Bench) -> None:
    """For one of the platforms alone: the list of versions is asked which, and what is remembered of it is too old."""
    with DemoRegistry({AWS: ("5.84.0", SampleListing("5.86.1", platforms=("darwin_arm64",)))}) as registry:
        young = Bench(bench.folder, registry)
        registry.faults.add(Fault.WITHDRAWN, AWS, "5.86.1")
        young.change(None, OLD)
        registry.faults.clear()
        assert "LK030" not in rules(young.change(OLD, replace(NEW, packed=("darwin_arm64",), unpacked=())))


def test_a_version_without_a_package_for_the_usual_platform(bench: Bench) -> None:
    bench.registry.faults.add(Fault.NOT_FOUND, AWS, "5.86.1", step=Step.DOWNLOAD)
    change = bench.change(OLD, NEW)
    assert "LK030" not in rules(change), "it is listed, and other platforms may have one"
    assert "does not have a package of" in rules(change)["LK003"].message


def test_who_signed_packages_that_were_published_again_later_is_not_known(bench: Bench) -> None:
    bench.registry.faults.add(Fault.REPUBLISHED, DEMO, "1.4.1")
    bench.registry.faults.add(Fault.OTHER_SIGNER, DEMO, "1.4.1")
    locked = replace(OLD, provider=DEMO, version="1.4.1")
    change = bench.change(locked, replace(locked, version="1.4.2"))
    assert change.old_signer is None
    assert change.new_signer is not None
    finding = rules(change)["LK010"]
    assert wording_of(finding).title.startswith("It is not known which key signed what was locked")
    own = change.new_signer.keys[0].fingerprint
    words = f"signed by {own}; 1.4.1, which now has none of the packages that were locked, is signed by "
    assert finding.message.startswith(words)
    again = bench.change(replace(locked, edition="again"), replace(locked, version="1.4.2"))
    assert again.old_signer is not None
    assert "; 1.4.1 was signed by " in rules(again)["LK010"].message


def test_a_republished_package_online_offline_and_remembered(bench: Bench) -> None:
    locked = replace(OLD, provider=DEMO, version="1.4.2")
    bench.registry.faults.add(Fault.REPUBLISHED, DEMO, "1.4.2")
    bench.registry.faults.add(Fault.OTHER_SIGNER, DEMO, "1.4.2")
    again = replace(locked, edition="again")
    offline = bench.change(locked, again, is_offline=True)
    assert "LK001" not in rules(offline)
    assert rules(offline)["LK003"].severity is Severity.WARN
    assert offline.evidence is not None
    assert offline.evidence.as_of is None
    online = bench.change(locked, again)
    assert rules(online)["LK001"].severity is Severity.BLOCK
    assert "5 of 5 zh of packages of the old entry are not in" in rules(online)["LK001"].message
    assert {fact.proof for fact in online.removed if fact.hash.startswith("zh")} == {Proof.STALE}
    assert online.old_signer is None
    assert online.neighbour_signer is not None
    assert online.new_signer is not None
    assert (online.neighbour_signer.version, online.new_signer.version) == ("1.4.1", "1.4.2")
    old_key, new_key = online.neighbour_signer.keys[0], online.new_signer.keys[0]
    assert old_key != new_key
    assert old_key.fingerprint in rules(online)["LK010"].message
    assert new_key.fingerprint in rules(online)["LK001"].message
    asked = bench.asked
    remembered = bench.review(lock_file(locked), lock_file(again), is_offline=True)
    (change,) = remembered.roots[0].changes
    assert "LK001" in rules(change)
    assert change.evidence is not None
    assert change.evidence.as_of is not None
    assert bench.asked == asked
    (host,) = remembered.hosts
    assert (host.asked, host.error) == (False, None)
    assert host.as_of is not None
    assert "offline, cached as of" in text.render(remembered)


def test_cached_answers_that_are_older_than_the_release_contradict_nothing(bench: Bench) -> None:
    locked = replace(OLD, provider=DEMO, version="1.4.2")
    bench.review(b"", lock_file(locked))
    bench.registry.faults.add(Fault.REPUBLISHED, DEMO, "1.4.2")
    again = replace(locked, edition="again")
    offline = bench.change(locked, again, is_offline=True)
    assert "LK002" in rules(offline), "the cached list has none of the new hashes"
    online = bench.change(locked, again)
    assert (rules(online).keys() & {"LK001", "LK002"}, {one.proof for one in online.added}) == (
        {"LK001"}, {Proof.SIGNED, Proof.UNKNOWN},
    )  # fmt: skip
    asked = bench.asked
    assert rules(bench.review(b"", lock_file(again)).roots[0].changes[0]).keys().isdisjoint({"LK001", "LK002"})
    assert bench.asked == asked, "an answer that contradicts nothing is not asked for again"


def test_the_quiet_merge_of_lock_is_found(bench: Bench) -> None:
    """What `providers lock` makes of a republished version: the new hashes beside the old ones."""
    bench.registry.faults.add(Fault.REPUBLISHED, DEMO, "1.4.2")
    old = SampleLock(DEMO, "1.4.2")
    both = replace(old, more=tuple(zh(DEMO, "1.4.2", platform, "again") for platform in PLATFORMS))
    change = bench.change(old, both)
    assert change.kind == "new-hashes"
    assert {fact.proof for fact in change.kept if fact.hash.startswith("zh")} == {Proof.STALE, Proof.SIGNED}
    stale = [fact.hash for fact in change.kept if fact.proof is Proof.STALE]
    assert change.new is not None
    assert rules(change)["LK001"].line == min(map(change.new.line_of, stale)), "the line of a hash that is not listed"


def test_a_completion_is_no_finding(bench: Bench) -> None:
    change = bench.change(replace(OLD, packed=()), OLD)
    assert rules(change) == {}
    assert change.hashes == HashCount(6)


def test_more_of_a_list_that_was_locked_in_part_is_a_warning(bench: Bench) -> None:
    change = bench.change(replace(OLD, packed=PLATFORMS[:2]), OLD)
    assert rules(change).keys() == {"LK001"}
    assert rules(change)["LK001"].severity is Severity.WARN
    assert (
        "not locked before (grown since, or hashes left out or removed): terraform-provider-aws_5.84.0_linux_amd64.zip, "
        in rules(change)["LK001"].message
    )
    assert change.hashes == HashCount(3)


def test_hashes_of_unknown_origin_block(bench: Bench) -> None:
    foreign = zh(AWS, "5.84.0", "linux_amd64", "foreign")
    change = bench.change(OLD, replace(OLD, more=(foreign,)))
    found = rules(change)["LK002"]
    assert found.severity is Severity.BLOCK
    assert change.new is not None
    assert found.line == change.new.line_of(foreign)
    assert change.hashes == HashCount(1, 1, 1)


def test_hashes_of_the_other_registry_are_told_apart(bench: Bench) -> None:
    other = "registry.opentofu.org/hashicorp/random"
    own = SampleLock("registry.terraform.io/hashicorp/random", "3.6.3")
    theirs = tuple(zh(other, "3.6.3", platform) for platform in PLATFORMS)
    change = bench.change(own, replace(own, packed=(), more=theirs))
    assert rules(change)["LK026"].severity is Severity.WARN
    assert "registry.opentofu.org's release" in rules(change)["LK026"].message
    assert "LK002" not in rules(change)
    assert RULES["LK026"].effect is CONTRADICTING
    assert LockedHashes.of(change).contradicts_release, "lock refuses such an entry"


def test_opentofus_registry_reports_h1(bench: Bench) -> None:
    entry = SampleLock("registry.opentofu.org/hashicorp/random", "3.6.3", unpacked=PLATFORMS)
    change = bench.change(None, entry, dialect=OPENTOFU)
    assert proofs(change) == {"h1": {Proof.REPORTED}, "zh": {Proof.SIGNED}}
    assert change.hashes == HashCount(11, 5, reported=5), "nobody signed what the registry reports"
    assert {fact.platform for fact in change.added} >= set(PLATFORMS)
    assert packages_to_compare(change) == len(PLATFORMS)
    assert bench.change(None, entry, dialect=OPENTOFU, prove="changed").hashes.reported == 5, "they are explained"
    proven = bench.change(None, entry, dialect=OPENTOFU, prove="all")
    assert proofs(proven) == {"h1": {Proof.COMPUTED}, "zh": {Proof.SIGNED}}
    assert packages_to_compare(proven) == 0


def test_unsigned_where_the_tool_tolerates_it(bench: Bench) -> None:
    bench.registry.faults.add(Fault.UNSIGNED, "registry.opentofu.org")
    change = bench.change(None, SampleLock("registry.opentofu.org/hashicorp/random", "3.6.3"), dialect=OPENTOFU)
    assert rules(change)["LK011"].severity is Severity.WARN
    assert proofs(change)["zh"] == {Proof.REPORTED}
    assert "LK030" not in rules(change)
    entry = SampleLock("registry.opentofu.org/hashicorp/random", "3.6.3", unpacked=("linux_amd64",))
    hashed = bench.change(None, entry, dialect=OPENTOFU, prove="changed")
    assert set[Proof]().union(*proofs(hashed).values()) == {Proof.REPORTED}, "made of a package that nobody signed"


def test_no_download_verifies_what_nobody_signed(bench: Bench) -> None:
    bench.registry.faults.add(Fault.UNSIGNED, "registry.terraform.io")
    finding = rules(bench.change(None, NEW))["LK027"]
    assert finding.case == "unsigned"
    assert finding.message.startswith(
        "1 h1 is not compared with the packages yet: comparing downloads up to 5 packages"
    )


@pytest.mark.parametrize(
    ("fault", "severity", "words"),
    [
        (Fault.UNSIGNED, "block", "the registry lists no key"),
        (Fault.BAD_SIGNATURE, "block", "the signature is bad"),
        (Fault.REVOKED_KEY, "block", "the key was revoked"),
        (Fault.EXPIRED_SIGNATURE, "block", "the signature has expired"),
        (Fault.UNKNOWN_ISSUER, "block", "signed by a key that the registry does not list"),
        (Fault.ARMORED_SIGNATURE, "block", "the signature file cannot be read"),
        (Fault.EMPTY_SIGNATURE, "block", "signed by a key that the registry does not list"),
        (Fault.BROKEN_KEY, "block", "a key that the registry lists cannot be read"),
        (Fault.BAD_TRUST_SIGNATURE, "block", "the trust signature of the key is bad"),
        (Fault.SUMS_WITHOUT_PACKAGE, "block", "SHA256SUMS does not list the package"),
        (Fault.WITHDRAWN, "block", "does not list"),
        (Fault.EXPIRED_KEY, "info", "expired on"),
    ],
)
def test_what_terraform_refuses_blocks(bench: Bench, fault: Fault, severity: str, words: str) -> None:
    bench.registry.faults.add(fault, AWS, "5.86.1")
    change = bench.change(OLD, NEW)
    found = rules(change)["LK030" if severity == "block" else "LK012"]
    assert found.severity == severity
    assert words in found.message
    if fault is Fault.REVOKED_KEY:
        assert rules(change)["LK012"].severity is Severity.BLOCK
    if fault in {Fault.BAD_SIGNATURE, Fault.UNKNOWN_ISSUER}:
        assert proofs(change)["zh"] == {Proof.UNKNOWN}
        assert change.new_signer is not None
        assert change.new_signer.keys == (), "nobody is called the signer whose key did not sign"
    if fault is Fault.BAD_SIGNATURE:
        assert re.search("the signature is bad; signed in the name of [0-9A-F]{40}$", found.message)
    if fault is Fault.EXPIRED_SIGNATURE:
        assert re.search("the signature has expired, or is dated in the future; signed by [0-9A-F]{40}$", found.message)
    terraform = shutil.which("terraform")
    if terraform is None:
        pytest.skip("whether terraform agrees is only known where it is installed")
    root = bench.folder / "root"
    root.mkdir()
    required = (
        'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws", version = "5.86.1" }\n  }\n}\n'
    )
    (root / "main.tf").write_text(required)
    command = [terraform, f"-chdir={root}", "init", "-no-color"]
    ran = subprocess.run(command, env=bench.environ, capture_output=True, text=True, check=False)
    assert (ran.returncode != 0) == (severity == "block")
    if severity == "info":
        signer = change.new_signer
        assert signer is not None
        assert f"self-signed, key ID {signer.keys[0].key_id}" in ran.stdout


ON_THE_WAY = [
    (Fault.CUT, "breaks off"),
    (Fault.TRUNCATED, "breaks off"),
    (Fault.WRONG_LENGTH, ""),
    (Fault.HTML, "not JSON"),
    (Fault.HUGE, "more than 2 MiB"),
    (Fault.SERVER_ERROR, "500 Internal Server Error"),
    (Fault.REDIRECT_LOOP, "redirects more than"),
    (Fault.UNAUTHORIZED, "requires authentication credentials"),
]


@pytest.mark.parametrize(("fault", "words"), ON_THE_WAY)
def test_a_registry_that_does_not_answer_has_its_sentence(bench: Bench, fault: Fault, words: str) -> None:
    bench.registry.faults.add(fault, AWS, step=Step.DOWNLOAD)
    found = bench.review(lock_file(OLD, SampleLock(DEMO, "1.4.1")), lock_file(NEW, SampleLock(DEMO, "1.4.2")))
    aws, demo = sorted(found.roots[0].changes, key=lambda change: change.address.type)
    assert demo.address.type == "demo"
    assert demo.hashes == HashCount(6, 1, 1)
    assert aws.hashes == HashCount(6, 6, 6)
    assert rules(aws)["LK003"].severity is Severity.WARN
    assert aws.evidence is not None
    assert words in aws.evidence.problems[0]
    assert found.hosts[0].error is not None
    assert not {"LK001", "LK002", "LK030"} & rules(aws).keys()


def test_a_stalled_registry_ends_with_a_sentence(bench: Bench) -> None:
    bench.registry.faults.add(Fault.STALLED, AWS, step=Step.SUMS)
    environ = {**bench.environ, "TF_REGISTRY_CLIENT_TIMEOUT": "1"}
    change = bench.change(OLD, NEW, environ=environ)
    assert change.evidence is not None
    assert (
        "the list of checksums cannot be fetched for registry.terraform.io/hashicorp/aws" in change.evidence.problems[0]
    )


def test_a_host_that_only_the_change_names_is_not_asked(bench: Bench) -> None:
    change = bench.change(None, SampleLock(FOREIGN, "1.0.0"))
    assert bench.asked == 0
    assert "registry.acme.test was not asked" in rules(change)["LK003"].message
    assert change.evidence is not None
    assert "--ask-host registry.acme.test" in change.evidence.hint
    nowhere = bench.environ | {"HTTPS_PROXY": "http://127.0.0.1:9"}
    base = bench.change(SampleLock(FOREIGN, "1.0.0"), SampleLock(FOREIGN, "1.0.1"), environ=nowhere)
    assert base.evidence is not None
    assert "was not asked" not in base.evidence.problems[0], "the base names the host"


def test_without_gpg_signatures_are_unknown(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = bench.review(lock_file(OLD), lock_file(NEW))
    (change,) = found.roots[0].changes
    assert change.new_signer is not None
    assert change.new_signer.tier is Tier.UNKNOWN
    assert change.hashes == HashCount(6, 6, 6)
    assert "LK030" not in rules(change)
    assert rules(change)["LK003"].severity is Severity.WARN
    assert "signatures cannot be checked: gpg is not installed" in rules(change)["LK003"].message
    assert [note for note in found.notes if "gpg is not installed" in note and "apt install gnupg" in note]
    for rule in ("LK003", "LK027"):
        assert wording_of(rules(change)[rule]).remedy.startswith("Install or repair gpg"), rule
        assert rules(change)[rule].is_doubt, "it ends no mark of a run with gpg"


# Unverified hashes

TWO = lock_file(OLD, SampleLock(DEMO, "1.4.1")), lock_file(NEW, SampleLock(DEMO, "1.4.2"))


def test_offline_is_not_green_and_counts_once(bench: Bench) -> None:
    found = bench.review(*TWO, is_offline=True)
    assert [rules(change)["LK003"].severity for change in found.changes] == [Severity.WARN, Severity.WARN]
    assert found.fails("warn")
    summary = json_report("review", found)["summary"]
    assert (summary["verdict"], summary["unverified"], summary["findings"]["warn"]) == ("warn", "offline", 2)
    assert summary["hashes"] == {"added": 12, "explained": 0, "reported": 0, "unverified": 12}
    assert text.render(found).splitlines()[-1] == "verdict: warn, 12 of 12 added hashes not verified, offline"
    bench.review(*TWO)
    cached = bench.review(*TWO, is_offline=True)
    summary = json_report("review", cached)["summary"]
    assert (summary["verdict"], summary["unverified"]) == ("ok", None), "cached answers verify"
    assert text.render(cached).splitlines()[-1] == "verdict: ok, 2 of 12 added hashes not verified"


def test_a_change_is_not_ok_where_its_old_version_is_not_listed(bench: Bench) -> None:
    signed = b"\n".join(line for line in lock_file(NEW).splitlines() if b'"h1:' not in line)
    found = bench.review(lock_file(OLD).replace(OLD.version.encode(), b"5.84.9"), signed)
    (change,) = found.changes
    assert (change.severity, change.lacks_facts) == (None, True)
    said = text.render(found)
    assert re.search(r"\n +\^ +\? +hashicorp/aws ", said)
    assert said.splitlines()[-1] == "verdict: ok, not all is known of 1 change"


def test_a_registry_that_fails_and_one_that_is_not_asked_are_two_reasons(bench: Bench) -> None:
    bench.registry.faults.add(Fault.SERVER_ERROR, AWS, step=Step.DOWNLOAD)
    found = bench.review(lock_file(OLD), lock_file(NEW, SampleLock(FOREIGN, "1.0.0")))
    summary = json_report("review", found)["summary"]
    assert (summary["unverified"], summary["findings"]["warn"]) == ("failed", 2)
    last = text.render(found).splitlines()[-1]
    assert last == "verdict: warn, 13 of 13 added hashes not verified, lookup failed, registry not asked"


def test_offline_a_cached_list_does_not_say_that_a_newer_release_is_not_listed(bench: Bench) -> None:
    bench.registry.faults.add(Fault.WITHDRAWN, AWS, "5.86.1")
    assert "LK030" in rules(bench.change(OLD, NEW))
    bench.registry.faults.clear()
    change = bench.change(OLD, NEW, is_offline=True)
    assert "LK030" not in rules(change), "it was released since"
    assert "offline, and the cached answers do not have" in rules(change)["LK003"].message
    assert change.evidence is not None
    assert change.evidence.unverified is Unverified.OFFLINE


def test_a_refused_release_blocks_and_is_not_called_unverified(bench: Bench) -> None:
    bench.registry.faults.add(Fault.BAD_SIGNATURE, AWS, "5.86.1")
    summary = json_report("review", bench.review(lock_file(OLD), lock_file(NEW)))["summary"]
    assert (summary["verdict"], summary["unverified"]) == ("block", None)
    more = replace(NEW, more=(zh(AWS, "5.86.1", "linux_amd64", "foreign"),))
    added = bench.review(lock_file(NEW), lock_file(more))
    assert json_report("review", added)["summary"]["unverified"] == "not-authenticated"
    assert text.render(added).splitlines()[-1].endswith("not verified, release not authenticated"), "it was answered"


def test_hashes_kept_by_a_new_version_are_unverified_offline(bench: Bench) -> None:
    (kept, *rest) = (zh(AWS, "5.84.0", platform) for platform in PLATFORMS)
    old, new = (
        SampleLock(AWS, "5.84.0", packed=(), unpacked=(), more=(kept, *rest)),
        SampleLock(AWS, "5.86.1", packed=(), unpacked=("linux_amd64",), more=(kept,)),
    )
    finding = rules(bench.change(old, new, is_offline=True))["LK003"]
    assert "1 zh that the old entry does not lock for this release, 4 zh removed, not verified" in finding.message


def test_unchanged_hashes_are_judged_where_all_that_is_locked_is_the_subject(bench: Bench) -> None:
    same = lock_file(OLD)
    (aws,) = bench.review(same, same, is_survey=True, is_offline=True).roots[0].changes
    assert "5 zh locked, not verified" in rules(aws)["LK003"].message
    found = bench.review(same, same, is_survey=True, is_offline=True)
    summary = json_report("hashes", found)["summary"]
    assert (found.fails("warn"), summary["verdict"], summary["unverified"]) == (True, "warn", "offline")
    assert lock_lines.hashes_text(found).splitlines()[-1] == "verdict: warn, 7 of 7 locked hashes not verified, offline"
    plain = bench.review(same, same, is_offline=True, prove="all")
    assert (plain.verdict, plain.unverified) == ("ok", None), "unchanged is beside the point of a review"
    bench.review(same, same, is_survey=True)
    assert bench.review(same, same, is_survey=True, is_offline=True).verdict == "ok"


# Proving


def test_proving_hashes_the_likeliest_package_and_remembers_it(bench: Bench) -> None:
    change = bench.change(OLD, NEW, prove="changed")
    assert change.hashes == HashCount(6)
    assert proofs(change)["h1"] == {Proof.COMPUTED}
    assert {fact.platform for fact in change.added if fact.proof is Proof.COMPUTED} == {"linux_amd64"}
    assert "LK027" not in rules(change)
    plan = next(event for event in bench.events if isinstance(event, ProvingPlanned))
    assert (plan.hashes, plan.likely, plan.at_most) == (1, 1, 5)
    assert plan.likely_bytes is not None
    assert [event.label for event in bench.events if isinstance(event, PackageDone)] == ["aws 5.86.1 linux_amd64"]
    asked = bench.asked
    again = bench.change(OLD, NEW)
    assert again.hashes == HashCount(6)
    assert bench.asked == asked


def test_what_a_package_proves_is_known_in_each_root_with_its_release(bench: Bench, tmp_path: Path) -> None:
    top, linux = tmp_path / "top", SampleLock(AWS, "5.86.1", unpacked=("linux_amd64",))
    top.mkdir()
    git(top, "init", "-q")
    for old, new in ((OLD, None), (linux, replace(linux, packed=PLATFORMS[:3]))):
        for name, entry in (("a", old), ("b", new or old)):
            (top / name).mkdir(exist_ok=True)
            (top / name / ".terraform.lock.hcl").write_bytes(lock_file(entry))
        git(top, "add", ".")
        if new is None:
            git(top, "commit", "-qm", "old")
    network = NetworkSettings(bench.environ, Cache(bench.cache_file))
    before = review(ReviewRequest(partial(open_git, top), network=network))
    assert [change.hashes for root in before.roots for change in root.changes] == [
        HashCount(6, 1, 1),
        HashCount(4, 1, 1),
    ]
    chosen = {("a/.terraform.lock.hcl", before.roots[0].changes[0].address)}
    roots = prove(before, chosen, network, confirm=lambda _: True, on_event=print, cancel=threading.Event())
    assert [change.hashes for root in roots for change in root.changes] == [HashCount(6), HashCount(4)]

    def never(plan: object) -> bool:
        raise AssertionError(f"nothing is left to download: {plan}")

    again = prove(before, chosen, network, confirm=never, on_event=print, cancel=threading.Event())
    assert again == roots, "a review made before the packages were hashed takes what is cached by now"


def test_an_h1_that_no_package_has_blocks_once_all_were_hashed(bench: Bench) -> None:
    forged = h1(AWS, "5.84.0", "linux_amd64", "forged")
    change = bench.change(OLD, replace(OLD, more=(forged,)))
    assert list(rules(change)) == ["LK027"]
    assert rules(change)["LK027"].severity is Severity.WARN
    proven = bench.change(OLD, replace(OLD, more=(forged,)), prove="changed")
    assert rules(proven)["LK002"].severity is Severity.BLOCK
    assert "none of the 5 packages" in rules(proven)["LK002"].message


def test_an_h1_of_the_old_version_that_stays_is_not_proven_for_the_new_one(bench: Bench) -> None:
    """With it a mirror could hand out the old package under the new version's name."""
    stale = h1(AWS, "5.84.0", "linux_amd64")
    new = replace(NEW, unpacked=(), more=(stale,))
    change = bench.change(OLD, new)
    assert stale in {fact.hash for fact in change.kept}
    assert rules(change)["LK027"].severity is Severity.INFO
    proven = bench.change(OLD, new, prove="changed")
    assert rules(proven)["LK002"].severity is Severity.BLOCK


@pytest.mark.parametrize(("fault", "step"), [(Fault.TAMPERED_PACKAGE, None), (Fault.HTML, Step.PACKAGE)])
def test_a_package_that_is_not_the_signed_one_proves_nothing(bench: Bench, fault: Fault, step: Step | None) -> None:
    bench.registry.faults.add(fault, AWS, "5.86.1", step=step)
    found = bench.review(lock_file(OLD), lock_file(NEW), prove="changed")
    (change,) = found.roots[0].changes
    assert found.notes == ()
    platforms = ", ".join(sorted(map(str, PLATFORMS)))
    arrived = f"5 packages that were downloaded are not the signed ones ({platforms}); of the first: expected zh:"
    assert rules(change)["LK027"].severity is Severity.INFO
    assert rules(change)["LK030"].severity is Severity.BLOCK
    assert arrived in rules(change)["LK030"].message
    assert (
        rules(change)["LK027"].message
        == "1 h1 is not verified yet: the downloaded packages are not the signed ones, see LK030"
    )
    done = [event for event in bench.events if isinstance(event, PackageDone)]
    assert len(done) == 5
    assert all("is not the signed one" in event.problem for event in done)


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.TRUNCATED, Fault.SERVER_ERROR])
def test_a_package_that_does_not_arrive_is_said(bench: Bench, fault: Fault) -> None:
    bench.registry.faults.add(fault, AWS, step=Step.PACKAGE)
    change = bench.change(OLD, NEW, prove="changed")
    assert "LK027" in rules(change)
    assert all(event.problem for event in bench.events if isinstance(event, PackageDone))


def test_proving_all_counts_what_did_not_change(bench: Bench) -> None:
    found = bench.review(lock_file(OLD), lock_file(OLD), prove="all")
    (change,) = found.roots[0].changes
    assert Proof.COMPUTED in {fact.proof for fact in change.kept}


def test_cancelled_in_the_middle_of_a_download(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "packages").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "packages"))  # apart from those of other tests
    bench.registry.faults.add(Fault.STALLED, AWS, step=Step.PACKAGE)
    request = bench.request(lock_file(OLD), lock_file(NEW), prove="changed", environ=PATIENT | bench.environ)
    cancel = threading.Event()
    with bench.stalled(Step.PACKAGE, cancel.set), pytest.raises(RunCancelledError):
        review(request, cancel=cancel)
    assert list((tmp_path / "packages").iterdir()) == []


@pytest.mark.parametrize(("step", "prove"), [(Step.SUMS, "none"), (Step.PACKAGE, "changed")])
def test_an_interrupt_waits_for_nobody(bench: Bench, step: Step, prove: str) -> None:
    bench.registry.faults.add(Fault.STALLED, AWS, step=step)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    interrupt = partial(os.kill, os.getpid(), signal.SIGINT)
    try:
        # As commands run: without it, an interrupt just before the system call of the wait does not end that wait.
        with bench.stalled(step, interrupt), pytest.raises(KeyboardInterrupt), interruptible():
            bench.review(lock_file(OLD), lock_file(NEW), prove=prove, environ=PATIENT | bench.environ)
    finally:
        signal.signal(signal.SIGINT, before)


# The sample


def test_a_base_with_one_foreign_hash_does_not_make_a_republished_version(bench: Bench) -> None:
    signed = lock_file(replace(OLD, provider=DEMO, version="1.4.2"))
    first = signed.index(b'"zh:') + len(b'"zh:')
    forged = signed[:first] + (b"5" if signed[first : first + 1] != b"5" else b"6") + signed[first + 1 :]
    (repaired,) = bench.review(forged, signed).roots[0].changes
    finding = rules(repaired)["LK001"]
    assert finding.severity is Severity.BLOCK
    assert "republished: " not in finding.message
    assert "1 of 5 zh of packages of the old entry is not in the publisher's signed SHA256SUMS" in finding.message
    assert "locklens doctor tells whether the hashes were edited or the version was republished" in finding.message
    assert "Keep the old hashes" not in wording_of(finding).remedy


def test_a_hash_that_is_no_longer_listed_does_not_leave_without_a_word(bench: Bench) -> None:
    """Else a republished package could come in two steps: its old hash goes, and then the new one only adds to it."""
    left = lock_file(replace(OLD, provider=DEMO, version="1.4.2"))
    before = left.replace(b'    "zh:', b'    "zh:' + b"5" * 64 + b'",\n    "zh:', 1)
    (change,) = bench.review(before, left).roots[0].changes
    assert [fact.proof for fact in change.removed] == [Proof.STALE]
    assert rules(change)["LK001"].severity is Severity.BLOCK


@pytest.fixture(scope="module")
def sample_request(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewRequest]:
    folder = tmp_path_factory.mktemp("sample")
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry:
        environ = environ_of(registry, folder)
        top = make_repository(folder / "infrastructure")
        network = NetworkSettings(environ, Cache(folder / "cache.sqlite3"))
        yield ReviewRequest(partial(open_git, top), include_unchanged=True, network=network)


@pytest.fixture(scope="module")
def sample(sample_request: ReviewRequest) -> Review:
    return review(sample_request)


def row(found: Review, path: str, name: str) -> Change:
    root = next(root for root in found.roots if root.path == path)
    return next(change for change in root.changes if change.address.type == name)


def test_the_sample_tells_its_stories(sample: Review) -> None:
    assert row(sample, "infra/prod/network", "aws").hashes == HashCount(6, 1, 1)
    republished = row(sample, "infra/prod/data", "demo")
    assert {"LK001", "LK010"} <= rules(republished).keys()
    assert "lists no key" in rules(row(sample, "infra/prod/cdn", "fastly"))["LK030"].message
    assert "expired on 2025-01-14" in rules(row(sample, "infra/stage/dns", "cloudflare"))["LK012"].message
    silent = row(sample, "infra/edge", "random")
    assert "registry.opentofu.org" in rules(silent)["LK003"].message
    assert {host.host: bool(host.error) for host in sample.hosts} == {
        "registry.opentofu.org": True,
        "registry.terraform.io": False,
    }
    json_report("review", sample)


def test_documents_of_all_that_is_locked_satisfy_their_schemas(sample: Review, sample_request: ReviewRequest) -> None:
    locklens = LockLens(sample_request)
    past = {one.key.fingerprint: locklens.history(one) for one in signers(sample) if one.key is not None}
    assert any(past.values())
    for view, facts in (("hashes", {}), ("keys", {}), ("keys", {"past": past})):
        document = json_report(view, sample, **facts)
        with pytest.raises(jsonschema.ValidationError, match="more"):
            validate({**document, "more": 1}, view)


def test_keys_and_hashes_of_all_that_is_locked(sample: Review) -> None:
    signed = json_report("keys", sample)
    named = {one["key"]["user_ids"][0].split()[0]: one for one in signed["signers"] if one["key"]}
    assert {use["version"] for use in named["acme-new-owner"]["uses"]} == {"1.4.2"}
    doubts = {(use["provider"], *use["doubts"]) for one in signed["signers"] for use in one["uses"] if use["doubts"]}
    assert (DEMO, "LK001") in doubts
    assert {one["tier"] for one in signed["signers"]} == {"self-signed", "unsigned", "unknown"}
    told = lock_lines.keys_text(sample)
    assert re.search(
        r"acme/demo 1.4.2 .*\n    infra/prod/data/\S+\n      LK001: Same version, other packages: republished", told
    )
    doubted = (
        r"search-sync 1.8.0 .*\n    infra/prod/search/\S+\n      LK002: .*\n    infra/stage/search/\S+\n(?!      LK002)"
    )
    assert re.search(doubted, told), "the other lock file has the hashes of the release"
    assert all(one["key"]["fingerprint"] in told for one in named.values())
    told_json = json_report("review", sample)
    total = told_json["summary"]["hashes"]
    assert total["reported"] > 0
    assert total["explained"] + total["unverified"] - total["reported"] == total["added"]
    listed = json_report("hashes", sample)
    counts = listed["summary"]["proofs"]
    assert listed["summary"]["explained"] == counts["signed"] + counts["reported"] > 200
    assert listed["summary"]["reported"] == counts["reported"] > 0
    assert listed["summary"]["unverified_hashes"] == listed["summary"]["hashes"] - counts["signed"]
    assert listed["summary"]["hashes"] == sum(
        len(provider["hashes"]) for root in listed["roots"] for provider in root["providers"]
    )
    assert "infra/prod/data/.terraform.lock.hcl" in lock_lines.hashes_text(sample)


def test_the_command_line_asks_and_exits(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.registry.faults.add(Fault.REPUBLISHED, DEMO, "1.4.2")
    locked = SampleLock(DEMO, "1.4.2")
    (bench.folder / "old.hcl").write_bytes(lock_file(locked))
    (bench.folder / "new.hcl").write_bytes(lock_file(replace(locked, edition="again")))
    monkeypatch.chdir(bench.folder)
    for name, value in bench.environ.items():
        monkeypatch.setenv(name, value)
    run: Callable[..., int] = lambda *more: main(  # noqa: E731
        ["review", "--old", "old.hcl", "--new", "new.hcl", "--format", "json", *more], lambda request, view: 99
    )
    assert run("--offline") == 0
    assert json.loads(capsys.readouterr().out)["run"]["offline"] is True
    assert run("--verbose", "--no-cache") == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    found = document["roots"][0]["changes"][0]
    assert "LK001" in {finding["rule"] for finding in found["findings"]}
    assert found["signer"]["new"]["keys"][0]["fingerprint"]
    assert "GET http://127.0.0.1" in captured.err
    assert run("--offline") == 0, "--no-cache remembers nothing"
    assert run() == 1
    assert run("--offline") == 1
