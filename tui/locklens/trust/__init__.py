"""Trust: SHA256SUMS, signatures by gpg, authentication as both tools do it, and continuity of what is locked.

The values here are keys and signatures as gpg reports them, before any judgement.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from msgspec import Struct


class SigningKey(Struct, frozen=True):
    """An OpenPGP key that may sign.

    Attributes:
        fingerprint: The primary key's, 40 upper-case hex digits (more for keys of version 5 and later).
        user_ids: Names and addresses that the key claims; printable, not verified.
        algorithm: E.g. "RSA 4096" or "Ed25519".
        created: ISO 8601 in UTC.
        expires: The same form; None if never.
        expired: True if that time has passed.
        revoked: True if its owner took it back.
    """

    fingerprint: str
    user_ids: tuple[str, ...]
    algorithm: str
    created: str
    expires: str | None
    expired: bool
    revoked: bool

    @property
    def key_id(self) -> str:
        """The last 16 digits of the fingerprint, which is what the tools show."""
        return self.fingerprint[-16:]


class Tier(StrEnum):
    """The kind of publisher that signed a release."""

    OFFICIAL = "official"
    PARTNER = "partner"
    SELF_SIGNED = "self-signed"
    UNSIGNED = "unsigned"
    UNKNOWN = "unknown"


class SignatureStatus(StrEnum):
    """The verdict on one signature; the worst if several apply."""

    GOOD = "good"
    BAD = "bad"
    UNKNOWN_ISSUER = "unknown issuer"
    EXPIRED_SIGNATURE = "expired signature"
    EXPIRED_KEY = "expired key"
    REVOKED_KEY = "revoked key"
    UNUSABLE = "unusable"


class Signature(Struct, frozen=True):
    """One signature of a signature file, which may have several.

    Attributes:
        issuer: Key id or fingerprint that the signature names, upper-case hex; says nothing unless `matches`.
        matches: True if the key made this signature over these bytes, whatever else is wrong.
        key: The primary key; None if the issuer is none of the keys at hand.
        signing_fingerprint: Fingerprint of the subkey that signed, or of the primary key; "" unless `matches`.
        made: ISO 8601 in UTC, None if unknown.
        expires: The same form; None if never.
        digest: The digest's name, e.g. "SHA256"; "" if unknown.
        signature_expired: True if it, or a self-signature of the key, has expired or is dated in the future: to the
            tools that is one thing.
        key_expired: True if the primary key or the subkey that signed has expired, as the tools see it.
        key_revoked: True if either, or the primary user id, was revoked.
    """

    status: SignatureStatus
    issuer: str
    matches: bool = False
    key: SigningKey | None = None
    signing_fingerprint: str = ""
    made: str | None = None
    expires: str | None = None
    digest: str = ""
    signature_expired: bool = False
    key_expired: bool = False
    key_revoked: bool = False


class Signer(Struct, frozen=True):
    """The signer of a version's checksums.

    Attributes:
        version: The signed version.
    """

    tier: Tier = Tier.UNKNOWN
    keys: tuple[SigningKey, ...] = ()
    version: str = ""


class Keyring(Struct, frozen=True):
    """The keys of one armored text, in the order in which it has them; `broken` where no key could be read."""

    keys: tuple[SigningKey, ...] = ()
    broken: bool = False

    @property
    def fingerprints(self) -> frozenset[str]:
        """Fingerprints of the primary keys."""
        return frozenset(key.fingerprint for key in self.keys)


class VerificationProblem(StrEnum):
    """The reason why verification could not run: an environment problem, not a bad signature.

    Attributes:
        hint: The next step, or "".
    """

    hint: str

    def __new__(cls, words: str, hint: str = "") -> Self:
        """Return the member that is its words as text."""
        problem = str.__new__(cls, words)
        problem._value_, problem.hint = words, hint
        return problem

    NO_GPG = (
        "gpg is not installed, or not on PATH",
        "install GnuPG: apt install gnupg, dnf install gnupg2, brew install gnupg, or https://gpg4win.org",
    )
    NOT_RUNNING = "gpg does not run", "run gpg --version by hand to see why"
    OLD_GPG = "gpg is older than 2.2", "install GnuPG 2.2 or newer"
    NO_LIBRARY = "python-gnupg is not installed", "pip install 'python-gnupg>=0.5.7'"
    WRONG_LIBRARY = (
        'the package "gnupg" hides "python-gnupg"',
        "pip uninstall gnupg, then pip install --force-reinstall python-gnupg",
    )
    TIMED_OUT = "gpg took too long"
    FAILED = "gpg failed"


class Form(StrEnum):
    """The kind of a signature file, before verification."""

    SIGNATURES = "signatures"
    EMPTY = "empty"
    ARMORED = "armored"
    TOO_LARGE = "too large"
    DAMAGED = "damaged"


class Verification(Struct, frozen=True):
    """The verification of a signature file: every signature in it, and the keys that it was checked against.

    Attributes:
        form: Form of the file. A DAMAGED one may have signatures before the damage.
        keyrings: One for each armored text, in the order given.
        problem: The reason why nothing could be verified at all; the signatures are then unknown, not bad.
    """

    form: Form = Form.SIGNATURES
    signatures: tuple[Signature, ...] = ()
    keyrings: tuple[Keyring, ...] = ()
    problem: VerificationProblem | None = None
