"""Verifications that need not be made again: no gpg for what was all good, and for nothing else, nor for too long."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.demo import signing
from locklens.demo.faults import Fault
from locklens.demo.published import publish
from locklens.demo.signing import SampleKey, armor, publisher
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.sources.metadata import ListedKey, PackageMetadata, SignedChecksums
from locklens.storage.cache import Cache
from locklens.trust import Form, Keyring, Signature, SignatureStatus, Tier, Verification, VerificationProblem, signature
from locklens.trust.authentication import AuthenticationOutcome, authenticate
from locklens.trust.signature import Verifier
from locklens.versions import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trust.conftest import Gnupg

DEMO = "registry.terraform.io/acme/demo"
DATA = b"checksums\n"
ACME, OTHER = publisher("acme"), publisher("other")
KEYS = (ACME.key.armored(),)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with Cache(tmp_path / "cache" / "cache.sqlite3") as opened:
        yield opened


def verified(
    cache: Cache, data: bytes, signature: bytes, keys: tuple[str, ...], clock: Callable[[], float] = time.time
) -> Verification:
    with Verifier(memory=cache, clock=clock) as verifier:
        return verifier.verify(data, signature, keys)


def is_remembered(cache: Cache, signature: bytes, keys: tuple[str, ...], at: float, data: bytes = DATA) -> bool:
    """Whether a run at that time would do without gpg: there is none to be asked."""
    with Verifier("/nowhere/gpg", memory=cache, clock=lambda: at) as verifier:
        return verifier.verify(data, signature, keys).problem is None


def test_what_was_good_is_known_without_gpg(cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = verified(cache, DATA, ACME.signature(DATA), KEYS)
    assert [one.status for one in first.signatures] == [SignatureStatus.GOOD]
    cache.close()
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "gnupg", None)
    with Cache(tmp_path / "cache" / "cache.sqlite3") as again:
        assert verified(again, DATA, ACME.signature(DATA), KEYS) == first
        assert verified(again, DATA + b"x", ACME.signature(DATA), KEYS).problem is VerificationProblem.NO_GPG
    with Verifier() as verifier:
        assert verifier.verify(DATA, ACME.signature(DATA), KEYS).problem is VerificationProblem.NO_GPG


def test_neither_gpg_nor_its_library_is_loaded(cache: Cache, tmp_path: Path) -> None:
    verified(cache, DATA, ACME.signature(DATA), KEYS)
    cache.close()
    script = (
        "import sys, subprocess\n"
        "from pathlib import Path\n"
        "from locklens.demo.signing import publisher\n"
        "from locklens.storage.cache import Cache\n"
        "from locklens.trust.signature import Verifier\n"
        "subprocess.Popen = None\n"
        "key = publisher('acme')\n"
        "with Cache(Path(sys.argv[1])) as cache, Verifier(memory=cache) as verifier:\n"
        "    found = verifier.verify(b'checksums\\n', key.signature(b'checksums\\n'), (key.key.armored(),))\n"
        "assert found.signatures[0].key.fingerprint == key.key.fingerprint\n"
        "assert 'gnupg' not in sys.modules\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "cache" / "cache.sqlite3")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not list(Path(tmp_path).glob("locklens-gpg-*"))


@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU])
def test_a_release_authenticates_without_gpg(cache: Cache, dialect: object) -> None:
    published = publish(DEMO, "1.4.2")
    keys = tuple(ListedKey(key) for key in published.keys)
    build = ProviderAddress("registry.terraform.io", "acme", "demo"), Version.parse("1.4.2"), Platform("linux", "amd64")
    release = PackageMetadata(*build, signing_keys=keys), SignedChecksums(published.sums, published.signature)
    judged = []
    for gpg in ("", "/nowhere/gpg"):
        with Verifier(gpg, memory=cache) as verifier:
            judged.append(authenticate(*release, dialect, verifier))  # type: ignore[arg-type]
    assert judged[0] == judged[1]
    assert (judged[0].outcome, judged[0].tier) == (AuthenticationOutcome.ACCEPTED, Tier.SELF_SIGNED)


@pytest.mark.parametrize(
    "fault",
    [
        Fault.BAD_SIGNATURE,
        Fault.UNKNOWN_ISSUER,
        Fault.UNSIGNED,
        Fault.BROKEN_KEY,
        Fault.EXPIRED_KEY,
        Fault.REVOKED_KEY,
        Fault.EXPIRED_SIGNATURE,
        Fault.ARMORED_SIGNATURE,
        Fault.EMPTY_SIGNATURE,
    ],
)
def test_of_what_is_not_good_nothing_is_remembered(cache: Cache, fault: Fault) -> None:
    release = publish(DEMO, "1.4.2", frozenset({fault}))
    verified(cache, release.sums, release.signature, release.keys)
    assert cache.info().verifications == 0


def test_all_of_it_must_be_good(cache: Cache) -> None:
    now = int(time.time())
    good, bad = ACME.signature(DATA), ACME.signature(b"other")
    for made, keys in (
        (good + bad, KEYS),
        (good + OTHER.signature(DATA), KEYS),
        (good + b"\n", KEYS),
        (good, (*KEYS, "no key")),
        (good, ()),
    ):
        verified(cache, DATA, made, keys)
        assert cache.info().verifications == 0
    both = (*KEYS, OTHER.key.armored())
    assert len(verified(cache, DATA, good + OTHER.signature(DATA), both).signatures) == 2
    assert is_remembered(cache, good + OTHER.signature(DATA), both, now + 10)
    assert not is_remembered(cache, good + OTHER.signature(DATA), both[::-1], now + 10)
    assert not is_remembered(cache, good, both, now + 10)


def test_a_gpg_that_fails_leaves_nothing_behind(cache: Cache, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 2\n")
    broken.chmod(0o755)
    with Verifier(str(broken), memory=cache) as verifier:
        assert verifier.verify(DATA, ACME.signature(DATA), KEYS).problem is VerificationProblem.FAILED
    assert cache.info().verifications == 0


def holds_until(cache: Cache, signature: bytes, keys: tuple[str, ...], end: float) -> None:
    """Checks that a verification is remembered until one moment, and from then on gpg is asked."""
    assert {one.status for one in verified(cache, DATA, signature, keys).signatures} == {SignatureStatus.GOOD}
    assert is_remembered(cache, signature, keys, end - 1)
    assert not is_remembered(cache, signature, keys, end)
    assert not is_remembered(cache, signature, keys, end + 10**9)


def test_until_the_key_expires(cache: Cache) -> None:
    now = int(time.time())
    key = SampleKey(b"k" * 32, "k <k@k.invalid>", now - 1000, lifetime=5000)
    holds_until(cache, key.signature(DATA, now - 500), (key.armored(),), now + 4000)


def test_until_the_signature_expires(cache: Cache) -> None:
    now = int(time.time())
    key = SampleKey(b"k" * 32, "k <k@k.invalid>", now - 1000, lifetime=9000)
    holds_until(cache, key.signature(DATA, now - 500, 1500), (key.armored(),), now + 1000)


def test_until_any_listed_key_expires(cache: Cache) -> None:
    now = int(time.time())
    other = SampleKey(b"o" * 32, "o <o@o.invalid>", now - 1000, lifetime=3000)
    gone = SampleKey(b"g" * 32, "g <g@g.invalid>", now - 1000, lifetime=500)
    keys = (*KEYS, other.armored(), gone.armored())
    found = verified(cache, DATA, ACME.signature(DATA), keys)
    assert [keyring.keys[0].expired for keyring in found.keyrings] == [False, False, True]
    holds_until(cache, ACME.signature(DATA), keys, now + 2000)


def test_until_what_binds_a_user_id_expires(cache: Cache) -> None:
    now = int(time.time())
    key = SampleKey(b"u" * 32, "u <u@u.invalid>", now - 1000)
    body, name = key._body, key.user_id.encode()
    certified = b"\x99" + struct.pack(">H", len(body)) + body + b"\xb4" + struct.pack(">I", len(name)) + name
    more = signing._subpacket(signing._KEY_FLAGS, b"\x03") + signing._subpacket(
        signing._EXPIRES, struct.pack(">I", 3000)
    )
    packets = (signing._packet(6, body), signing._packet(13, name), key._signature(0x13, certified, key.created, more))
    text = armor("PUBLIC KEY BLOCK", b"".join(packets))
    holds_until(cache, key.signature(DATA, now - 500), (text,), now + 2000)


def test_until_a_subkey_expires(cache: Cache, gnupg: Gnupg) -> None:
    primary = gnupg.make("expiring-subkeys@example.com", "ed25519")
    gnupg.run("--pinentry-mode", "loopback", "--quick-add-key", primary, "ed25519", "sign", "never")
    gnupg.run("--pinentry-mode", "loopback", "--quick-add-key", primary, "ed25519", "sign", "seconds=7200")
    rows = [line.split(":") for line in gnupg.run("--with-colons", "--list-keys", primary).decode().splitlines()]
    (end,) = (int(row[6]) for row in rows if row[0] == "sub" and row[6])
    for fingerprint in gnupg.fingerprints("expiring-subkeys@example.com"):
        signature = gnupg.sign(f"{fingerprint}!", DATA)
        holds_until(cache, signature, (gnupg.public(primary),), end)


def test_for_ever_and_not_before_it_was_made(cache: Cache) -> None:
    now = int(time.time())
    verified(cache, DATA, ACME.signature(DATA), KEYS)
    assert is_remembered(cache, ACME.signature(DATA), KEYS, now + 10**9)
    assert not is_remembered(cache, ACME.signature(DATA), KEYS, now - 3600)


def test_a_key_that_expires_while_the_run_lasts_is_not_remembered_as_alive(cache: Cache) -> None:
    """The keys of a run are listed once; what is verified with them later is about a key that expired meanwhile."""
    now = int(time.time())
    listed = SampleKey(b"l" * 32, "l <l@l.invalid>", now - 1000, lifetime=2000)
    keys = (*KEYS, listed.armored())
    clock = [float(now)]
    with Verifier(memory=cache, clock=lambda: clock[0]) as verifier:
        verifier.verify(DATA, ACME.signature(DATA), keys)
        clock[0] = now + 1500
        verifier.verify(b"more", ACME.signature(b"more"), keys)
    assert not is_remembered(cache, ACME.signature(b"more"), keys, now + 1600, b"more")


GOOD = Verification(signatures=(Signature(SignatureStatus.GOOD, "A", matches=True),), keyrings=(Keyring(),))


def test_what_is_written_is_read_and_nothing_else_is() -> None:
    text = signature.cache_record(GOOD, [50, 300, 200], 100)
    assert text is not None
    assert signature.cached_verification(text, 100) == signature.cached_verification(text, 199) == GOOD
    assert [signature.cached_verification(text, now) for now in (99, 200, 250, 10**12)] == [None] * 4
    assert signature.cached_verification(None, 100) is None
    for worse in (
        replace(GOOD, problem=VerificationProblem.TIMED_OUT),
        replace(GOOD, form=Form.DAMAGED),
        replace(GOOD, signatures=()),
        replace(GOOD, keyrings=(Keyring(), Keyring(broken=True))),
        *(
            replace(GOOD, signatures=(*GOOD.signatures, Signature(status, "A")))
            for status in SignatureStatus
            if status is not SignatureStatus.GOOD
        ),
    ):
        assert signature.cache_record(worse, [], 100) is None


@given(st.binary(max_size=100))
def test_no_bytes_make_reading_fail(data: bytes) -> None:
    assert signature.cached_verification(data, 1.0) is None
    whole = signature.cache_record(GOOD, [], 1.0)
    assert whole is not None
    assert signature.cached_verification(whole[: len(data) % len(whole)], 1.0) is None


def test_each_part_counts_in_the_digest() -> None:
    keys = [
        signature.verification_key(*parts)
        for parts in (
            (b"a", b"b", ("c",)),
            (b"a", b"bc", ()),
            (b"ab", b"", ("c",)),
            (b"a", b"b", ("c", "")),
            (b"a", b"b", ("", "c")),
            (b"a", b"b", ("\ud800",)),
        )
    ]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 for key in keys)
