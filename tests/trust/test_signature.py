"""Signatures, by the real gpg: every one in a file, every fault, and nothing of the user's or left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from locklens.demo.faults import Fault
from locklens.demo.published import publish
from locklens.demo.signing import SIGNED_AT, SampleKey, armor, publisher
from locklens.text import visible
from locklens.trust import Form, SignatureStatus, VerificationProblem, signature
from locklens.trust.authentication import PARTNERS, SECURITY, SECURITY_KEY_IDS, hashicorp_key
from locklens.trust.gpg import unavailable
from locklens.trust.packets import dearmored, split_signatures
from locklens.trust.signature import MAX_KEYS, MAX_SIGNATURE_BYTES, MAX_SIGNATURES, Verifier

if TYPE_CHECKING:
    from trust.conftest import Gnupg

DEMO = "registry.terraform.io/acme/demo"
DATA = b"checksums\n"
ACME, OTHER = publisher("acme"), publisher("other")


def agents(folder: Path) -> int:
    """How many processes use a folder; other runs have theirs."""
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout.count(os.fsencode(folder))


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (None, SignatureStatus.GOOD),
        (Fault.BAD_SIGNATURE, SignatureStatus.BAD),
        (Fault.UNKNOWN_ISSUER, SignatureStatus.UNKNOWN_ISSUER),
        (Fault.UNSIGNED, SignatureStatus.UNKNOWN_ISSUER),
        (Fault.BROKEN_KEY, SignatureStatus.UNKNOWN_ISSUER),
        (Fault.EXPIRED_KEY, SignatureStatus.EXPIRED_KEY),
        (Fault.REVOKED_KEY, SignatureStatus.REVOKED_KEY),
        (Fault.EXPIRED_SIGNATURE, SignatureStatus.EXPIRED_SIGNATURE),
    ],
)
def test_each_status(verifier: Verifier, fault: Fault | None, status: SignatureStatus) -> None:
    release = publish(DEMO, "1.4.2", frozenset({fault} if fault else ()))
    found = verifier.verify(release.sums, release.signature, release.keys)
    assert found.problem is None
    (signature,) = found.signatures
    assert signature.status is status
    assert signature.matches is (status not in {SignatureStatus.BAD, SignatureStatus.UNKNOWN_ISSUER})
    if status is SignatureStatus.UNKNOWN_ISSUER:
        assert signature.key is None
    else:
        assert signature.key is not None
        assert signature.key.fingerprint == ACME.key.fingerprint
        assert signature.key.revoked is (status is SignatureStatus.REVOKED_KEY)
        assert signature.key.expired is (status is SignatureStatus.EXPIRED_KEY)
    assert [keyring.broken for keyring in found.keyrings] == (
        [] if fault is Fault.UNSIGNED else [fault is Fault.BROKEN_KEY]
    )


def test_what_is_told_of_a_key_and_a_signature(verifier: Verifier) -> None:
    release = publish(DEMO, "1.4.2", frozenset({Fault.EXPIRED_SIGNATURE, Fault.EXPIRED_KEY}))
    (signature,) = verifier.verify(release.sums, release.signature, release.keys).signatures
    assert signature.key is not None
    assert signature.key.user_ids == ("acme (locklens demo) <security@acme.invalid>",)
    assert signature.key.algorithm == "Ed25519"
    assert (signature.key.created, signature.key.expires) == ("2024-01-15T00:00:00Z", "2025-01-14T00:00:00Z")
    assert (signature.made, signature.expires) == ("2024-06-01T00:00:00Z", "2024-07-01T00:00:00Z")
    assert (signature.digest, signature.signature_expired, signature.key_expired) == ("SHA256", True, True)


def test_every_signature_of_a_file_is_looked_at(verifier: Verifier) -> None:
    good, bad = ACME.signature(DATA), ACME.signature(b"other data")
    foreign = OTHER.signature(DATA)
    for parts, statuses in (
        ((good, foreign), [SignatureStatus.GOOD, SignatureStatus.UNKNOWN_ISSUER]),
        ((foreign, good), [SignatureStatus.UNKNOWN_ISSUER, SignatureStatus.GOOD]),
        ((bad, good), [SignatureStatus.BAD, SignatureStatus.GOOD]),
        ((good, bad, good), [SignatureStatus.GOOD, SignatureStatus.BAD, SignatureStatus.GOOD]),
    ):
        found = verifier.verify(DATA, b"".join(parts), (ACME.key.armored(),))
        assert [one.status for one in found.signatures] == statuses
        assert found.problem is None
    assert verifier.verify(DATA, good * (MAX_SIGNATURES + 1), (ACME.key.armored(),)).form is Form.TOO_LARGE


def test_several_keys_in_one_text_and_several_texts(verifier: Verifier) -> None:
    both = armor(
        "PUBLIC KEY BLOCK",
        (dearmored(ACME.key.armored().encode()) or b"") + (dearmored(OTHER.key.armored().encode()) or b""),
    )
    found = verifier.verify(DATA, OTHER.signature(DATA), ("nothing", both))
    assert [len(keyring.keys) for keyring in found.keyrings] == [0, 2]
    assert [keyring.broken for keyring in found.keyrings] == [True, False]
    assert found.signatures[0].key == found.keyrings[1].keys[1]
    assert len(verifier.verify(DATA, b"", (both,) * (MAX_KEYS + 9)).keyrings) == MAX_KEYS


def test_of_several_blocks_the_first_alone_counts(verifier: Verifier) -> None:
    two = ACME.key.armored() + OTHER.key.armored()
    found = verifier.verify(DATA, OTHER.signature(DATA), (two,))
    assert [key.fingerprint for key in found.keyrings[0].keys] == [ACME.key.fingerprint]
    assert found.signatures[0].status is SignatureStatus.UNKNOWN_ISSUER


def test_one_providers_keys_do_not_vouch_for_anothers(verifier: Verifier) -> None:
    signature = ACME.signature(DATA)
    assert verifier.verify(DATA, signature, (ACME.key.armored(),)).signatures[0].status is SignatureStatus.GOOD
    assert (
        verifier.verify(DATA, signature, (OTHER.key.armored(),)).signatures[0].status is SignatureStatus.UNKNOWN_ISSUER
    )


@pytest.mark.parametrize("separator", ["\u0085", "\u2028", "\n", "\x0b", "\x1c", "\r"])
def test_a_user_id_cannot_speak_for_gpg(verifier: Verifier, separator: str) -> None:
    forged = f"Å{separator}[GNUPG:] VALIDSIG {'A' * 40} 2024-06-01 1 0 4 0 22 8 00 {'A' * 40}{separator}pub:-:4096:1:evil:1::"
    key = SampleKey(b"e" * 32, forged, SIGNED_AT - 9)
    found = verifier.verify(DATA, key.signature(DATA, SIGNED_AT), (key.armored(),))
    assert found.signatures[0].signing_fingerprint == key.fingerprint
    (listed,) = found.keyrings[0].keys
    assert listed.fingerprint == key.fingerprint
    assert len(listed.user_ids) == 1
    assert listed.user_ids[0].startswith(f"Å{visible(separator)}[GNUPG:] VALIDSIG AAAA")
    assert listed.user_ids[0].isprintable()


def test_rsa_subkeys_and_their_ends(verifier: Verifier, gnupg: Gnupg) -> None:
    primary = gnupg.make("rsa@example.com")
    gnupg.run("--pinentry-mode", "loopback", "--quick-add-key", primary, "rsa2048", "sign", "never")
    subkey = gnupg.fingerprints("rsa@example.com")[1]
    signature = gnupg.sign(f"{subkey}!", DATA)
    (one,) = verifier.verify(DATA, signature, (gnupg.public(primary),)).signatures
    assert one.status is SignatureStatus.GOOD
    assert one.key is not None
    assert (one.key.fingerprint, one.signing_fingerprint, one.key.algorithm) == (primary, subkey, "RSA 2048")
    (bad,) = verifier.verify(b"other", signature, (gnupg.public(primary),)).signatures
    assert (bad.status, bad.key) == (SignatureStatus.BAD, one.key)


def test_only_bare_signatures_are_taken(verifier: Verifier, gnupg: Gnupg) -> None:
    signature, keys = ACME.signature(DATA), (ACME.key.armored(),)
    gnupg.make("whole@example.com", "ed25519")
    whole = gnupg.run("--local-user", "whole@example.com", "--sign", data=DATA)
    for data, form in (
        (armor("SIGNATURE", signature).encode(), Form.ARMORED),
        (b"", Form.EMPTY),
        (b"text", Form.DAMAGED),
        (signature[:-1], Form.DAMAGED),
        (whole, Form.DAMAGED),
        (signature * (MAX_SIGNATURE_BYTES // len(signature) + 1), Form.TOO_LARGE),
    ):
        found = verifier.verify(DATA, data, keys)
        assert (found.form, found.signatures) == (form, ())
    found = verifier.verify(DATA, signature + b"\n", keys)
    assert (found.form, [one.status for one in found.signatures]) == (Form.DAMAGED, [SignatureStatus.GOOD])


def test_hashicorps_keys_are_those_that_are_published(verifier: Verifier) -> None:
    found = verifier.verify(DATA, ACME.signature(DATA), (hashicorp_key(SECURITY), hashicorp_key(PARTNERS)))
    security, partners = (keyring.keys[0] for keyring in found.keyrings)
    assert security.fingerprint == "C874011F0AB405110D02105534365D9472D7468F"
    assert partners.fingerprint == "51890657C5ACDB4B823086567D72D4268E4660FC"
    assert security.algorithm == "RSA 4096"
    listing = subprocess.run(
        ["gpg", "--show-keys", "--with-colons"],
        input=hashicorp_key(SECURITY),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split(":") for line in listing.stdout.splitlines()]
    assert {row[4] for row in rows if row[0] in {"pub", "sub"} and "s" in row[11]} == SECURITY_KEY_IDS


def test_nothing_is_left_behind_and_nothing_of_the_users_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / ".gnupg"
    home.mkdir(parents=True, mode=0o700)
    (home / "gpg.conf").write_text("this is no option\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GNUPGHOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with Verifier() as verifier:
        found = verifier.verify(DATA, ACME.signature(DATA), (ACME.key.armored(),))
        assert found.signatures[0].status is SignatureStatus.GOOD
        (folder,) = tmp_path.glob("locklens-gpg-*")
        assert [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())] == [0o700, 0o700]
        assert agents(folder) == 0
    assert not list(tmp_path.glob("locklens-gpg-*"))
    assert sorted(path.name for path in home.iterdir()) == ["gpg.conf"]


def test_without_gpg_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"bin{os.pathsep}/nowhere")
    with Verifier() as verifier:
        found = verifier.verify(DATA, ACME.signature(DATA), (ACME.key.armored(),))
    assert (found.problem, found.signatures) == (VerificationProblem.NO_GPG, ())
    assert "apt install gnupg" in VerificationProblem.NO_GPG.hint
    assert unavailable() is VerificationProblem.NO_GPG


def test_the_abandoned_namesake_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unavailable() is None
    namesake = types.ModuleType("gnupg")
    namesake.__dict__.update(__version__="2.3.1", GPG=object)
    monkeypatch.setitem(sys.modules, "gnupg", namesake)
    assert unavailable() is VerificationProblem.WRONG_LIBRARY
    monkeypatch.setitem(sys.modules, "gnupg", None)
    with Verifier() as verifier:
        found = verifier.verify(DATA, ACME.signature(DATA), (ACME.key.armored(),))
    assert found.problem is VerificationProblem.NO_LIBRARY


def test_many_keys_together_may_take_no_longer_than_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    asked.touch()
    slow = tmp_path / "slow"
    real = shutil.which("gpg")
    slow.write_text(f'#!/bin/sh\ncase "$*" in *--import*) echo >>{asked};; esac\nexec {real} "$@"\n')
    slow.chmod(0o755)
    clock = SimpleNamespace(time=time.time, monotonic=lambda: 30.0 * asked.read_text().count("\n"))
    monkeypatch.setattr(signature, "time", clock)  # each import takes half a minute of it
    keys = tuple(publisher(f"p{number}").key.armored() for number in range(12))
    with Verifier(str(slow), timeout=100.0) as verifier:
        for data in (DATA, b"of another version"):
            assert verifier.verify(data, ACME.signature(data), keys).problem is VerificationProblem.TIMED_OUT
    assert asked.read_text().count("\n") == 4, "and not once more for the second"


def test_a_gpg_that_hangs_or_fails_is_ended(tmp_path: Path) -> None:
    slow, broken = tmp_path / "slow", tmp_path / "broken"
    slow.write_text("#!/bin/sh\nexec sleep 3600\n")
    broken.write_text("#!/bin/sh\nexit 2\n")
    for path in (slow, broken):
        path.chmod(0o755)
    with Verifier(str(slow), timeout=0.2) as verifier:
        assert (
            verifier.verify(DATA, ACME.signature(DATA), (ACME.key.armored(),)).problem is VerificationProblem.TIMED_OUT
        )
    for path in (broken, tmp_path / "missing"):
        with Verifier(str(path)) as verifier:
            assert (
                verifier.verify(DATA, ACME.signature(DATA), (ACME.key.armored(),)).problem is VerificationProblem.FAILED
            )


def test_a_gpg_that_is_too_old_is_named(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text('#!/bin/sh\necho "gpg (GnuPG) 2.0.30"\n')
    old.chmod(0o755)
    with Verifier(str(old)) as verifier:
        found = verifier.verify(DATA, ACME.signature(DATA), (ACME.key.armored(),))
    assert (found.problem, found.signatures) == (VerificationProblem.OLD_GPG, ())


def test_many_threads_and_few_imports(verifier: Verifier) -> None:
    publishers = [publisher(f"p{number}") for number in range(6)]
    verifier.verify(DATA, b"", ())
    before = threading.active_count()

    def ask(number: int) -> SignatureStatus:
        one = publishers[number % 6]
        return verifier.verify(DATA, one.signature(DATA), (one.key.armored(),)).signatures[0].status

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(24))) == {SignatureStatus.GOOD}
    assert threading.active_count() < before + 15


@given(st.binary(max_size=200))
def test_no_bytes_make_the_packet_reader_fail(data: bytes) -> None:
    split_signatures(data, 100, 3)
    dearmored(b"-----BEGIN PGP X-----\n\n" + data + b"\n-----END PGP X-----")


def test_armor_is_undone_and_its_checksum_checked() -> None:
    text = ACME.key.armored().encode()
    data = dearmored(text)
    assert data is not None
    assert armor("PUBLIC KEY BLOCK", data).encode() == text
    assert dearmored(b"Hello\n" + text.replace(b"\n\n", b"\nVersion: 1\n\n", 1).replace(b"\n", b"\r\n")) == data
    tail = text.index(b"\n=") + 2
    assert dearmored(text[:tail] + b"AAAA" + text[tail + 4 :]) is None
    for broken in (b"", text[: len(text) // 2], text.replace(b"\n\n", b"\n"), text.replace(b"BEGIN", b"BEGUN")):
        assert dearmored(broken) is None
    assert replace(ACME.key, user_id="x").fingerprint == ACME.key.fingerprint
