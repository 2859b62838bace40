"""Authentication of a release by a tool's own rules.

Terraform and OpenTofu ask the same questions in the same order and differ in what they forgive. Terraform forgives an
expired key; OpenTofu also forgives an expired signature and, on its own registry, a release without keys. Both look,
for each key that the registry lists, at the first signature that names it, and at no other.

The rules are those of internal/getproviders/package_authentication.go in Terraform v1.11.4 and OpenTofu v1.12.6, in
this order; step numbers are repeated where a step is done:

1. `matchingChecksumAuthentication`: SHA256SUMS lists the package, with the digest that the registry gives.
2. `signatureAuthentication.AuthenticatePackage`: without keys, OpenTofu skips the signature on its own registry
   (`shouldEnforceGPGValidation`); Terraform refuses.
3. `findSigningKey`: each listed key in turn, by go-crypto's `ReadArmoredKeyRing` and `CheckDetachedSignature`.
4. In it, what is forgiven: Terraform `ErrKeyExpired`, OpenTofu `ErrSignatureExpired` too unless
   `shouldEnforceGPGExpiration`.
5. Terraform alone holds the key against HashiCorp's own and, by its trust signature, against the partners' key.
6. `AcceptableHashes` (`acceptableHashes` in OpenTofu): which hashes of SHA256SUMS go into the lock file.

Two keys that HashiCorp publishes determine the tier. The security key signs HashiCorp's own providers. The partners key
signs the keys of its partners, and the registry serves that signature with the key. The keys are in `keys/`, as
https://www.hashicorp.com/security and Terraform's sources have them. Tiers are facts about keys, so they are found for
both tools, though OpenTofu shows none.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import OPENTOFU, Dialect
from locklens.hashes import hashes_of_files, hashes_of_zips, zh_of
from locklens.trust import (
    Form,
    Keyring,
    Signature,
    SignatureStatus,
    SigningKey,
    Tier,
    Verification,
    VerificationProblem,
)
from locklens.trust.checksums import Checksums, Match, read_checksums
from locklens.trust.packets import dearmored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.sources.metadata import ListedKey, PackageMetadata, SignedChecksums
    from locklens.trust.signature import Verifier


SECURITY, PARTNERS = "hashicorp-security", "hashicorp-partners"

SECURITY_KEY_IDS = frozenset({"34365D9472D7468F", "B0B441097685B676", "C820C6D5CD27AB87"})
"""The security key and its subkeys that sign: gpg is not asked about signatures that name none of them."""


class AuthenticationOutcome(StrEnum):
    """The tool's decision on the release."""

    ACCEPTED = "accepted"
    SKIPPED = "skipped"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    UNSIGNED = "unsigned"
    """The source has no signed checksums: a mirror."""


class Refusal(StrEnum):
    """The reasons of the tool to refuse, in its order."""

    NOT_LISTED = "SHA256SUMS does not list the package"
    INVALID_CHECKSUM = "SHA256SUMS has no valid digest of the package"
    OTHER_CHECKSUM = "SHA256SUMS and the registry give different digests for the package"
    BROKEN_KEY = "a key that the registry lists cannot be read"
    BROKEN_SIGNATURE = "the signature file cannot be read"
    BAD_SIGNATURE = "the signature is bad"
    REVOKED_KEY = "the key was revoked"
    EXPIRED_SIGNATURE = "the signature has expired, or is dated in the future"
    """The expired one may also be the key's self-signature."""
    EXPIRY_ENFORCED = "the key or the signature has expired, and OPENTOFU_ENFORCE_GPG_EXPIRATION refuses that"
    """OpenTofu passes over the key, and says then that none is the issuer's."""
    UNKNOWN_ISSUER = "signed by a key that the registry does not list"
    NO_KEYS = "the registry lists no key"
    BAD_TRUST_SIGNATURE = "the trust signature of the key is bad"
    CRASH = "SHA256SUMS makes the tool crash"


class Lenience(StrEnum):
    """A defect that the tool tolerates."""

    EXPIRED_KEY = "expired key"
    EXPIRED_SIGNATURE = "expired signature"


class Enforcement(Struct, frozen=True):
    """The checks that the environment makes OpenTofu enforce.

    Attributes:
        expiration: Expired keys and signatures are rejected.
        validation: A release without keys is refused on OpenTofu's own registry too.
    """

    expiration: bool = False
    validation: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Enforcement:
        """Read the variables; nothing but the word `true` counts."""
        return cls(
            environment.get("OPENTOFU_ENFORCE_GPG_EXPIRATION") == "true",
            environment.get("OPENTOFU_ENFORCE_GPG_VALIDATION") == "true",
        )


class Authentication(Struct, frozen=True):
    """The tool's judgement of a release.

    Attributes:
        tier: UNSIGNED where no key is listed, UNKNOWN where no signature is good.
        key: The primary key that the signature names, also where it is refused; see `signed_by`.
        refusal: The reason why it would refuse; None for UNKNOWN.
        lenience: The defect that it forgives, or would without EXPIRY_ENFORCED.
        problem: The reason why nothing is known.
        signed: The hashes that the signer vouches for.
        locked: The hashes that the tool takes from SHA256SUMS into the lock file.
    """

    outcome: AuthenticationOutcome
    tier: Tier = Tier.UNKNOWN
    key: SigningKey | None = None
    refusal: Refusal | None = None
    lenience: Lenience | None = None
    problem: VerificationProblem | None = None
    signed: frozenset[str] = frozenset()
    locked: frozenset[str] = frozenset()

    @property
    def signed_by(self) -> SigningKey | None:
        """The primary key of the signer; None if the signature is not of the key that it names."""
        return None if self.refusal is Refusal.BAD_SIGNATURE else self.key

    @property
    def sums(self) -> str:
        """The list of checksums, for a sentence."""
        return f"the publisher's {'unsigned' if self.tier is Tier.UNSIGNED else 'signed'} SHA256SUMS"

    def words(self, dialect: Dialect) -> str:
        """The text that the tool prints in brackets after the version; "" if it stops before, or none is known."""
        if self.outcome is AuthenticationOutcome.SKIPPED:
            return "signing skipped"
        if self.outcome is not AuthenticationOutcome.ACCEPTED or self.key is None:
            return ""
        if dialect is OPENTOFU:
            return f"signed, key ID {self.key.key_id}"
        words = {Tier.OFFICIAL: "signed by HashiCorp", Tier.PARTNER: "signed by a HashiCorp partner"}
        said = words.get(self.tier, "self-signed")
        return said if self.tier is Tier.OFFICIAL else f"{said}, key ID {self.key.key_id}"


def authenticate(
    metadata: PackageMetadata,
    signed: SignedChecksums,
    dialect: Dialect,
    verifier: Verifier,
    enforcement: Enforcement | None = None,
) -> Authentication:
    """Judge a release as the tool would, by its signature and SHA256SUMS; the package itself is not looked at.

    Never raises, whatever the release holds. Where the registry's answer is without a file name, SHA256SUMS need not
    list one.
    """
    enforced = enforcement or Enforcement()
    checksums = read_checksums(signed.sums)
    if refusal := _package_refusal(metadata, checksums):  # 1
        return Authentication(AuthenticationOutcome.REFUSED, refusal=refusal)
    if not metadata.signing_keys:  # 2
        is_own = dialect is OPENTOFU and metadata.address.host == OPENTOFU.default_host
        if not is_own or enforced.validation:
            return Authentication(AuthenticationOutcome.REFUSED, Tier.UNSIGNED, refusal=Refusal.NO_KEYS)
        return _accepted(metadata, checksums, Authentication(AuthenticationOutcome.SKIPPED, Tier.UNSIGNED))
    verification = verifier.verify(signed.sums, signed.signature, metadata.armors)
    if verification.problem is not None:
        return Authentication(AuthenticationOutcome.UNKNOWN, problem=verification.problem)
    found = _signer(verification, dialect, enforced)  # 3 and 4
    if isinstance(found, Authentication):
        return found
    signature, published, lenience = found[0], metadata.signing_keys[found[1]], found[2]
    # 5
    tier = tier_of(signed, verification, published, verifier)
    if tier is None:
        if dialect is not OPENTOFU:
            return Authentication(AuthenticationOutcome.REFUSED, key=signature.key, refusal=Refusal.BAD_TRUST_SIGNATURE)
        tier = Tier.SELF_SIGNED
    judged = Authentication(AuthenticationOutcome.ACCEPTED, tier, signature.key, lenience=lenience)
    return _accepted(metadata, checksums, judged)


def _package_refusal(metadata: PackageMetadata, checksums: Checksums) -> Refusal | None:
    if not metadata.filename:
        return None
    match = checksums.matching(metadata.filename)
    if match.outcome in _UNMATCHED:
        return _UNMATCHED[match.outcome]
    return None if match.zh == zh_of(metadata.shasum) else Refusal.OTHER_CHECKSUM


_UNMATCHED = {Match.ABSENT: Refusal.NOT_LISTED, Match.NOT_HEX: Refusal.INVALID_CHECKSUM, Match.CRASH: Refusal.CRASH}


def _accepted(metadata: PackageMetadata, checksums: Checksums, judged: Authentication) -> Authentication:
    """Add what the tool takes from SHA256SUMS (step 6), at which it may still crash."""
    collected = checksums.collected()
    signed = checksums.hashes if judged.outcome is AuthenticationOutcome.ACCEPTED else frozenset[str]()
    if collected.crashed_at is not None:
        return replace(judged, outcome=AuthenticationOutcome.REFUSED, refusal=Refusal.CRASH, signed=signed)
    own = frozenset({metadata.zh}) if metadata.shasum else frozenset[str]()
    return replace(judged, signed=signed, locked=collected.hashes or own)


def _signer(
    verification: Verification, dialect: Dialect, enforced: Enforcement
) -> tuple[Signature, int, Lenience | None] | Authentication:
    """Return the signature that counts, the number of its key and what is forgiven, or the refusal."""
    forgiven: tuple[Signature, int, Lenience | None] | None = None
    for number, keyring in enumerate(verification.keyrings):
        if keyring.broken:
            return Authentication(AuthenticationOutcome.REFUSED, refusal=Refusal.BROKEN_KEY)
        signature = _first_of(keyring, verification)
        if signature is None:
            # The tools stop at the first signature that names the key; damage matters only where none does.
            if verification.form not in {Form.SIGNATURES, Form.EMPTY}:
                return Authentication(AuthenticationOutcome.REFUSED, refusal=Refusal.BROKEN_SIGNATURE)
            continue
        refusal, lenience = _judge_signature(signature, dialect)
        if refusal is not None:
            return Authentication(AuthenticationOutcome.REFUSED, key=signature.key, refusal=refusal)
        if lenience is None or dialect is not OPENTOFU:
            return signature, number, lenience
        forgiven = forgiven or (signature, number, lenience)
    if forgiven is None:
        return Authentication(AuthenticationOutcome.REFUSED, refusal=Refusal.UNKNOWN_ISSUER)
    if enforced.expiration:
        refused, key = Refusal.EXPIRY_ENFORCED, forgiven[0].key
        return Authentication(AuthenticationOutcome.REFUSED, key=key, refusal=refused, lenience=forgiven[2])
    return forgiven


def _first_of(keyring: Keyring, verification: Verification) -> Signature | None:
    """The first signature that names a key of the keyring, whatever its verdict: the tools ignore all others."""
    own = keyring.fingerprints
    found = (one for one in verification.signatures if one.key is not None and one.key.fingerprint in own)
    return next(found, None)


def _judge_signature(signature: Signature, dialect: Dialect) -> tuple[Refusal | None, Lenience | None]:
    """Judge one signature, in the order in which the tools' library looks at it: an expired key hides the rest.

    The order is that of `checkSignatureDetails` (Terraform 1.11.4: go-crypto v1.0.0) and `checkMessageSignatureDetails`
    (OpenTofu 1.12.6: v1.4.1), both in openpgp/read.go. What is forgiven is in `findSigningKey` of
    internal/getproviders/package_authentication.go: Terraform forgives ErrKeyExpired, OpenTofu ErrSignatureExpired too.
    """
    if not signature.matches:
        unusable = signature.status is SignatureStatus.UNUSABLE
        return Refusal.BROKEN_SIGNATURE if unusable else Refusal.BAD_SIGNATURE, None
    if signature.key_revoked:
        return Refusal.REVOKED_KEY, None
    if signature.key_expired:
        return None, Lenience.EXPIRED_KEY
    if signature.signature_expired:
        return (None, Lenience.EXPIRED_SIGNATURE) if dialect is OPENTOFU else (Refusal.EXPIRED_SIGNATURE, None)
    return None, None


@cache
def hashicorp_key(name: str) -> str:
    """Return one of HashiCorp's keys, armored; `name` is SECURITY or PARTNERS."""
    return (Path(__file__).with_name("keys") / f"{name}.asc").read_text("ascii")


def tier_of(
    signed: SignedChecksums, verification: Verification, published: ListedKey, verifier: Verifier
) -> Tier | None:
    """Return the tier of a release that is well signed by a published key: OFFICIAL, PARTNER or SELF_SIGNED.

    None if the key comes with a bad trust signature, for which Terraform refuses the release.
    """
    named = {one.issuer[-16:] for one in verification.signatures}
    if named & SECURITY_KEY_IDS and _is_signed(signed.sums, signed.signature, SECURITY, verifier):
        return Tier.OFFICIAL
    if not published.trust_signature:
        return Tier.SELF_SIGNED
    # The trust signature is over the key's bytes, not over its text; and it is the one signature that comes armored.
    key, trust = dearmored(published.ascii_armor.encode()), dearmored(published.trust_signature.encode())
    if key is None or trust is None:
        return None
    return Tier.PARTNER if _is_signed(key, trust, PARTNERS, verifier) else None


def _is_signed(data: bytes, signature: bytes, name: str, verifier: Verifier) -> bool:
    """True if one of HashiCorp's keys signed, as Terraform sees it: the first signature that names it counts."""
    found = verifier.verify(data, signature, (hashicorp_key(name),))
    named = [one for one in found.signatures if one.key is not None]
    return bool(named) and found.problem is None and _is_acceptable(named[0])


def _is_acceptable(signature: Signature) -> bool:
    if not signature.matches or signature.key_revoked:
        return False
    return signature.key_expired or not signature.signature_expired


class HashOrigin(StrEnum):
    """The authority for a hash of this release, from which `locklens.review.evidence` makes its proof."""

    SIGNED = "signed"
    REPORTED = "reported"


def vouchers(
    sums: bytes, authentication: Authentication, packages: Mapping[str, frozenset[str]]
) -> dict[str, HashOrigin]:
    """Return the origin of each hash of a release.

    A release that is refused for its signature, or whose signature could not be checked, vouches for nothing: even the
    registry's own report does not count against a wrong signature. One for which no key is listed is the registry's
    word alone, whether the tool would take it or not. An `h1` that OpenTofu's registry reports counts only together
    with a `zh` that is vouched for.
    """
    if authentication.tier is Tier.UNSIGNED:
        said = dict.fromkeys(read_checksums(sums).hashes, HashOrigin.REPORTED)
    else:
        said = dict.fromkeys(authentication.signed, HashOrigin.SIGNED)
    for hashes in packages.values():
        if not said.keys().isdisjoint(hashes_of_zips(hashes)):
            said |= dict.fromkeys(hashes_of_files(hashes), HashOrigin.REPORTED)
    return said
