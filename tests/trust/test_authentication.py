"""How the tools judge a release: by their rules, and beside the real terraform on the demo's registry."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from kit.effort import effort
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.demo import MANIFEST, signing
from locklens.demo.faults import Fault
from locklens.demo.published import Published, publish
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.demo.signing import SIGNED_AT, armor, publisher
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.lockfile.parse import parse
from locklens.sources.metadata import ListedKey, PackageMetadata, SignedChecksums
from locklens.trust import Tier, VerificationProblem
from locklens.trust.authentication import (
    Authentication,
    AuthenticationOutcome,
    Enforcement,
    HashOrigin,
    Lenience,
    Refusal,
    authenticate,
    vouchers,
)
from locklens.trust.signature import Verifier
from locklens.versions import Version

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trust.conftest import Gnupg

    from locklens.dialect import Dialect

HOST = "registry.terraform.io"
DEMO = f"{HOST}/acme/demo"
ACME = publisher("acme")
NAME = "terraform-provider-demo_1.4.2_linux_amd64.zip"


def release_of(published: Published, host: str = HOST) -> tuple[PackageMetadata, SignedChecksums]:
    """What locklens learns of it when it asks about linux_amd64."""
    shasum = publish(DEMO, "1.4.2")
    line = next(one for one in shasum.sums.decode().splitlines() if one.endswith(NAME))
    metadata = PackageMetadata(
        ProviderAddress(host, "acme", "demo"),
        Version.parse("1.4.2"),
        Platform("linux", "amd64"),
        filename=NAME,
        shasum=line.split()[0],
        signing_keys=tuple(ListedKey(key, published.trust_signature) for key in published.keys),
    )
    return metadata, SignedChecksums(published.sums, published.signature)


def judged(verifier: Verifier, dialect: Dialect, *faults: Fault, host: str = HOST, **enforced: bool) -> Authentication:
    published = publish(DEMO, "1.4.2", frozenset(faults))
    return authenticate(*release_of(published, host), dialect, verifier, Enforcement(**enforced))


@pytest.mark.parametrize(
    ("fault", "terraform", "opentofu"),
    [
        (Fault.BAD_SIGNATURE, Refusal.BAD_SIGNATURE, Refusal.BAD_SIGNATURE),
        (Fault.UNKNOWN_ISSUER, Refusal.UNKNOWN_ISSUER, Refusal.UNKNOWN_ISSUER),
        (Fault.EMPTY_SIGNATURE, Refusal.UNKNOWN_ISSUER, Refusal.UNKNOWN_ISSUER),
        (Fault.ARMORED_SIGNATURE, Refusal.BROKEN_SIGNATURE, Refusal.BROKEN_SIGNATURE),
        (Fault.BROKEN_KEY, Refusal.BROKEN_KEY, Refusal.BROKEN_KEY),
        (Fault.REVOKED_KEY, Refusal.REVOKED_KEY, Refusal.REVOKED_KEY),
        (Fault.SUMS_WITHOUT_PACKAGE, Refusal.NOT_LISTED, Refusal.NOT_LISTED),
        (Fault.SUMS_WITH_BLANK_LINE, Refusal.CRASH, Refusal.CRASH),
        (Fault.REPUBLISHED, Refusal.OTHER_CHECKSUM, Refusal.OTHER_CHECKSUM),
        (Fault.UNSIGNED, Refusal.NO_KEYS, Refusal.NO_KEYS),
        (Fault.EXPIRED_SIGNATURE, Refusal.EXPIRED_SIGNATURE, Lenience.EXPIRED_SIGNATURE),
        (Fault.EXPIRED_KEY, Lenience.EXPIRED_KEY, Lenience.EXPIRED_KEY),
        (Fault.BAD_TRUST_SIGNATURE, Refusal.BAD_TRUST_SIGNATURE, None),
    ],
)
def test_each_tools_rules(
    verifier: Verifier, fault: Fault, terraform: Refusal | Lenience, opentofu: Refusal | Lenience | None
) -> None:
    for dialect, expected in ((TERRAFORM, terraform), (OPENTOFU, opentofu)):
        found = judged(verifier, dialect, fault)
        assert found.refusal is (expected if isinstance(expected, Refusal) else None)
        assert found.lenience is (expected if isinstance(expected, Lenience) else None)
        assert found.outcome is (AuthenticationOutcome.REFUSED if found.refusal else AuthenticationOutcome.ACCEPTED)


def test_a_good_release(verifier: Verifier) -> None:
    found = judged(verifier, TERRAFORM)
    assert (found.outcome, found.tier, found.refusal, found.lenience) == (
        AuthenticationOutcome.ACCEPTED,
        Tier.SELF_SIGNED,
        None,
        None,
    )
    assert found.key is not None
    assert found.key.fingerprint == ACME.key.fingerprint
    assert found.signed == found.locked
    assert len(found.signed) == 6
    assert found.words(TERRAFORM) == f"self-signed, key ID {ACME.key.fingerprint[-16:]}"
    assert judged(verifier, OPENTOFU).words(OPENTOFU) == f"signed, key ID {ACME.key.fingerprint[-16:]}"


def test_opentofu_skips_on_its_own_registry_and_enforces_when_told(verifier: Verifier) -> None:
    here = OPENTOFU.default_host
    skipped = judged(verifier, OPENTOFU, Fault.UNSIGNED, host=here)
    assert (skipped.outcome, skipped.tier, skipped.signed) == (
        AuthenticationOutcome.SKIPPED,
        Tier.UNSIGNED,
        frozenset(),
    )
    assert MANIFEST in skipped.locked
    assert skipped.words(OPENTOFU) == "signing skipped"
    assert judged(verifier, OPENTOFU, Fault.UNSIGNED, host=here, validation=True).refusal is Refusal.NO_KEYS
    assert judged(verifier, TERRAFORM, Fault.UNSIGNED, host=here).refusal is Refusal.NO_KEYS
    for fault in (Fault.EXPIRED_KEY, Fault.EXPIRED_SIGNATURE):
        refused = judged(verifier, OPENTOFU, fault, expiration=True)
        assert (refused.refusal, refused.key is not None) == (Refusal.EXPIRY_ENFORCED, True)
    assert Enforcement.of({"OPENTOFU_ENFORCE_GPG_EXPIRATION": "true"}) == Enforcement(expiration=True)
    assert Enforcement.of({"OPENTOFU_ENFORCE_GPG_VALIDATION": "1"}) == Enforcement()


def test_without_gpg_nothing_is_known() -> None:
    with Verifier("/nowhere/gpg") as verifier:
        found = judged(verifier, TERRAFORM)
    assert (found.outcome, found.refusal, found.problem) == (
        AuthenticationOutcome.UNKNOWN,
        None,
        VerificationProblem.FAILED,
    )
    assert found.signed == frozenset()


def test_who_vouches(verifier: Verifier) -> None:
    published = publish(DEMO, "1.4.2")
    zh = release_of(published)[0].zh
    packages = {"linux_amd64": frozenset({zh, "h1:told"}), "plan9_arm": frozenset({"zh:" + "0" * 64, "h1:alone"})}
    said = vouchers(published.sums, judged(verifier, TERRAFORM), packages)
    assert (said[zh], said["h1:told"]) == (HashOrigin.SIGNED, HashOrigin.REPORTED)
    assert "h1:alone" not in said
    unsigned = vouchers(published.sums, judged(verifier, TERRAFORM, Fault.UNSIGNED), packages)
    assert set(unsigned.values()) == {HashOrigin.REPORTED}
    for fault in (Fault.BAD_SIGNATURE, Fault.UNKNOWN_ISSUER, Fault.REVOKED_KEY):
        assert vouchers(published.sums, judged(verifier, TERRAFORM, fault), packages) == {}


class Special(DemoRegistry):
    """The demo's registry, with one release of one's own making."""

    special: Published | None = None

    def release(self, provider: str, version: str) -> Published | None:
        if self.special is not None and provider == DEMO:
            return self.special
        return super().release(provider, version)


def terraform(folder: Path, registry: DemoRegistry, *arguments: str) -> tuple[int, str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    variables |= environment(write_cli_configuration(registry, folder))
    (folder / "main.tf").write_text(
        'terraform {\n  required_providers {\n    demo = {\n      source  = "acme/demo"\n      version = "1.4.2"\n'
        "    }\n  }\n}\n"
    )
    done = subprocess.run(
        ["terraform", *arguments, "-no-color"], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


COMMANDS = ("init",), ("providers", "lock", "-platform=linux_amd64")


def agrees(
    folder: Path, registry: Special, verifier: Verifier, commands: tuple[tuple[str, ...], ...] = COMMANDS
) -> Authentication:
    """Lets the real terraform and locklens judge the same release, and returns the judgement that they share."""
    published = registry.release(DEMO, "1.4.2")
    assert published is not None
    found = authenticate(*release_of(published), TERRAFORM, verifier)
    for number, command in enumerate(commands):
        place = folder / str(number)
        place.mkdir()
        status, output = terraform(place, registry, *command)
        assert (status == 0) is (found.outcome is AuthenticationOutcome.ACCEPTED), output
        assert re.findall(r"acme/demo v?1\.4\.2(?: for linux_amd64)? \((.*)\)", output) == (
            [found.words(TERRAFORM)] if status == 0 else []
        )
        if status == 0:
            path = place / ".terraform.lock.hcl"
            locked = parse(path.read_bytes(), str(path)).entries[0].hashes
            assert {text for text in locked if text.startswith("zh:")} == found.locked
        elif found.refusal is Refusal.CRASH:
            assert "index out of range" in output
    return found


needs_terraform = pytest.mark.skipif(shutil.which("terraform") is None, reason="terraform is not installed")


@needs_terraform
@pytest.mark.parametrize(
    "faults",
    [
        (),
        (Fault.EXPIRED_KEY,),
        (Fault.EXPIRED_SIGNATURE,),
        (Fault.EXPIRED_KEY, Fault.EXPIRED_SIGNATURE),
        (Fault.EXPIRED_KEY, Fault.BAD_SIGNATURE),
        (Fault.REVOKED_KEY,),
        (Fault.BAD_SIGNATURE,),
        (Fault.UNKNOWN_ISSUER,),
        (Fault.UNSIGNED,),
        (Fault.EMPTY_SIGNATURE,),
        (Fault.ARMORED_SIGNATURE,),
        (Fault.BROKEN_KEY,),
        (Fault.BAD_TRUST_SIGNATURE,),
        (Fault.SUMS_WITHOUT_PACKAGE,),
        (Fault.SUMS_WITH_BLANK_LINE,),
        (Fault.OTHER_SIGNER,),
    ],
    ids=lambda faults: "+".join(faults) or "good",
)
def test_the_real_terraform_agrees(tmp_path: Path, verifier: Verifier, faults: tuple[Fault, ...]) -> None:
    with Special() as registry:
        for fault in faults:
            registry.faults.add(fault, DEMO)
        agrees(tmp_path, registry, verifier)


def _two(make: Callable[[bytes], tuple[bytes, bytes]]) -> Callable[[Published], Published]:
    return lambda release: replace(release, signature=b"".join(make(release.sums)))


def _packet(body: bytes) -> bytes:
    """A signature packet, whatever is in it."""
    return b"\x89" + len(body).to_bytes(2, "big") + body


def _armored(change: Callable[[str], str]) -> Callable[[Published], Published]:
    return lambda one: replace(one, keys=tuple(map(change, one.keys)))


OTHER = publisher("other")
IN_2040 = 2208988800


def of_version_3(data: bytes) -> bytes:
    """acme's signature as OpenPGP had it before RFC 2440; gpg takes it."""
    head = bytes(1) + struct.pack(">I", SIGNED_AT)
    digest = sha256(data + head).digest()
    signed = signing.ed25519_signature(ACME.key.seed, digest)
    numbers = b"".join(
        struct.pack(">H", int.from_bytes(half, "big").bit_length()) + half.lstrip(b"\0")
        for half in (signed[:32], signed[32:])
    )
    return _packet(b"\x03\x05" + head + bytes.fromhex(ACME.key.fingerprint[-16:]) + b"\x16\x08" + digest[:2] + numbers)


SPECIAL: dict[str, tuple[Callable[[Published], Published], Refusal | None]] = {
    "foreign and good": (_two(lambda data: (OTHER.signature(data), ACME.signature(data))), None),
    "good and bad": (_two(lambda data: (ACME.signature(data), ACME.signature(b""))), None),
    "bad and good": (_two(lambda data: (ACME.signature(b""), ACME.signature(data))), Refusal.BAD_SIGNATURE),
    "good and cut short": (_two(lambda data: (ACME.signature(data), ACME.signature(data)[:9])), None),
    "foreign and cut short": (_two(lambda data: (OTHER.signature(data), b"\x89")), Refusal.BROKEN_SIGNATURE),
    "of no known version": (lambda one: replace(one, signature=_packet(b"\x05" + bytes(40))), Refusal.UNKNOWN_ISSUER),
    "of no known version and good": (_two(lambda data: (_packet(b"\xff" * 40), ACME.signature(data))), None),
    "good and of no known version": (_two(lambda data: (ACME.signature(data), _packet(b"\x05" + bytes(40)))), None),
    "too short inside": (lambda one: replace(one, signature=_packet(one.signature[3:-10])), Refusal.BROKEN_SIGNATURE),
    "too short inside and good": (
        _two(lambda data: (_packet(ACME.signature(data)[3:-10]), ACME.signature(data))),
        Refusal.BROKEN_SIGNATURE,
    ),
    "nothing inside and good": (_two(lambda data: (_packet(b"\x04"), ACME.signature(data))), Refusal.BROKEN_SIGNATURE),
    "good and too short inside": (
        _two(lambda data: (ACME.signature(data), _packet(ACME.signature(data)[3:-10]))),
        None,
    ),
    "made in the future": (
        lambda one: replace(one, signature=ACME.key.signature(one.sums, IN_2040)),
        Refusal.EXPIRED_SIGNATURE,
    ),
    "made in the future, and another in time": (
        _two(lambda data: (ACME.key.signature(data, IN_2040), ACME.signature(data))),
        Refusal.EXPIRED_SIGNATURE,
    ),
    "of version 3": (lambda one: replace(one, signature=of_version_3(one.sums)), Refusal.UNKNOWN_ISSUER),
    "bad and of version 3, then good": (_two(lambda data: (of_version_3(b""), ACME.signature(data))), None),
    "second key": (lambda one: replace(one, keys=(OTHER.key.armored(), *one.keys)), None),
    "broken key first": (lambda one: replace(one, keys=("x", *one.keys)), Refusal.BROKEN_KEY),
    "broken key last": (lambda one: replace(one, keys=(*one.keys, "x")), None),
    "another's key in a second block": (_armored(lambda key: OTHER.key.armored() + key), Refusal.UNKNOWN_ISSUER),
    "no key in the first block": (_armored(lambda key: armor("SIGNATURE", b"x") + key), Refusal.BROKEN_KEY),
    "words before the key": (_armored(lambda key: f"Our key: see below\n{key}"), None),
    "no head, then the key": (_armored(lambda key: f"-----BEGIN PGP PUBLIC KEY BLOCK-----\nAA\n{key}"), None),
    "no blank line": (_armored(lambda key: key.replace("\n\n", "\n")), Refusal.BROKEN_KEY),
    "no end": (_armored(lambda key: key[: key.index("-----END")]), Refusal.BROKEN_KEY),
    "space at line ends": (_armored(lambda key: key.replace("\n", " \n")), Refusal.BROKEN_KEY),
    "armor in armor": (_armored(lambda key: armor("PUBLIC KEY BLOCK", key.encode())), Refusal.BROKEN_KEY),
}


@needs_terraform
@pytest.mark.parametrize("name", SPECIAL)
def test_the_real_terraform_agrees_on_several_keys_and_signatures(
    tmp_path: Path, verifier: Verifier, name: str
) -> None:
    change, refusal = SPECIAL[name]
    with Special() as registry:
        registry.special = change(publish(DEMO, "1.4.2"))
        assert agrees(tmp_path, registry, verifier, effort(COMMANDS[:1], COMMANDS)).refusal is refusal


@needs_terraform
@pytest.mark.parametrize("digest", ["SHA1", "SHA224", "SHA256", "SHA512", "RIPEMD160"])
def test_the_real_terraform_agrees_on_digests(tmp_path: Path, verifier: Verifier, gnupg: Gnupg, digest: str) -> None:
    name = f"{digest.lower()}@example.com"
    gnupg.make(name)
    with Special() as registry:
        release = publish(DEMO, "1.4.2")
        signature = gnupg.sign(name, release.sums, "--digest-algo", digest)
        registry.special = replace(release, signature=signature, keys=(gnupg.public(name),))
        found = agrees(tmp_path, registry, verifier)
    assert found.refusal is (Refusal.UNKNOWN_ISSUER if digest == "RIPEMD160" else None)


@needs_terraform
def test_the_real_terraform_agrees_on_subkeys(tmp_path: Path, verifier: Verifier, gnupg: Gnupg) -> None:
    primary = gnupg.make("subkeys@example.com")
    gnupg.run("--pinentry-mode", "loopback", "--quick-add-key", primary, "rsa2048", "sign", "never")
    subkey = gnupg.fingerprints(primary)[1]
    with Special() as registry:
        release = publish(DEMO, "1.4.2")
        signature = gnupg.sign(f"{subkey}!", release.sums)
        registry.special = replace(release, signature=signature, keys=(gnupg.public(primary),))
        found = agrees(tmp_path, registry, verifier)
    assert found.key is not None
    assert found.key.fingerprint == primary
