"""One judgement of a release, for facts and for installing: each signature is verified once."""

from __future__ import annotations

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from releases.conftest import Opened
from releases.memory import DEMO, MemorySource, released

from locklens.addresses import Platform
from locklens.demo.faults import Fault
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import TrustError
from locklens.releases import ReleaseFacts, ReleaseId
from locklens.releases.authentication import ReleaseAuthenticator
from locklens.releases.session import ReleaseLookup
from locklens.trust.authentication import AuthenticationOutcome, Enforcement
from locklens.trust.signature import Verifier
from locklens.versions import Version

LINUX = Platform("linux", "amd64")
V142 = Version.parse("1.4.2")


def test_a_signature_is_verified_once_for_both_tools_and_all_threads(tmp_path: Path) -> None:
    source = MemorySource(released(), released("1.4.1"))
    asked = [source.package(DEMO, version, LINUX) for version in (V142, Version.parse("1.4.1"))]
    starts, counting = tmp_path / "starts", tmp_path / "gpg"
    counting.write_text(f'#!/bin/sh\necho "$*" >>{starts}\nexec {shutil.which("gpg")} "$@"\n')
    counting.chmod(0o755)
    with Verifier(str(counting)) as verifier, ThreadPoolExecutor(8) as pool:
        judges = [ReleaseAuthenticator(tool, verifier, Enforcement.of(os.environ)) for tool in (TERRAFORM, OPENTOFU)]
        works = [(judge, metadata) for judge in judges for metadata in asked] * 4
        admitted = list(pool.map(lambda work: work[0].admit(work[1], source.checksums(work[1])), works))
        judged = [judge.judge(metadata, source.checksums(metadata)) for judge, metadata in works]
    kinds = [re.findall(r"--(version|import|verify|list-keys) ?", line)[0] for line in starts.read_text().splitlines()]
    assert sorted(kinds) == ["import", "verify", "verify", "version"], "the keys of both releases are the same"
    assert {one.signer for one in admitted} == {admitted[0].signer}
    assert all(one.authentication.outcome is AuthenticationOutcome.ACCEPTED for one in judged)


def test_what_is_a_fact_to_a_review_is_an_error_to_an_installer(opened: Opened) -> None:
    source = MemorySource(released(faults=frozenset({Fault.OTHER_SIGNER, Fault.UNKNOWN_ISSUER})))
    session = opened(source)
    facts = ReleaseLookup(session).answer(ReleaseId(TERRAFORM.name, DEMO, V142))
    assert isinstance(facts, ReleaseFacts)
    assert facts.authentication is not None
    assert facts.authentication.outcome is AuthenticationOutcome.REFUSED
    metadata = source.package(DEMO, V142, LINUX)
    with pytest.raises(TrustError, match="unknown issuer: signed by a key that the registry does not list"):
        session.authenticator(TERRAFORM).admit(metadata, source.checksums(metadata))
    assert session.notes == ()


def test_a_release_without_keys_is_refused_for_the_reason_that_a_review_names(opened: Opened) -> None:
    source = MemorySource(released(faults=frozenset({Fault.UNSIGNED})))
    metadata = source.package(DEMO, V142, LINUX)
    for tool in (TERRAFORM, OPENTOFU):
        with pytest.raises(TrustError, match="unknown issuer: the registry lists no key"):
            opened(source).authenticator(tool).admit(metadata, source.checksums(metadata))


def test_the_session_notes_that_signatures_cannot_be_verified(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    session = opened(MemorySource(released()))
    ReleaseLookup(session).answer(ReleaseId(TERRAFORM.name, DEMO, V142))
    assert [note.partition(";")[0] for note in session.notes] == [
        "signatures are not checked: gpg is not installed, or not on PATH"
    ]
