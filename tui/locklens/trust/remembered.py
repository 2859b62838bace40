"""Cached verifications: those in which all was good, until the first end of validity.

That a key made a signature over some bytes is a fact about three digests. What passes is that neither the key nor the
signature has expired; so the first end of validity of anything that had a part in it is cached beside it. A
verification with any defect is not cached: another gpg, or another day, may see it otherwise.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

import msgspec

from locklens.trust.model import Form, SignatureStatus, Verification

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCHEMA = b"verification 4"
"""Raised when `Verification` or the use of gpg changes: earlier cached verifications are then not found."""


class VerificationCache(Protocol):
    """The part of `locklens.storage.cache.Cache` in use."""

    def verification(self, key: str) -> bytes | None:
        """Return a cached verification."""

    def keep_verification(self, key: str, data: bytes) -> None:
        """Remember a verification."""


class _Cached(msgspec.Struct, frozen=True, array_like=True):
    """A verification, good from one moment (seconds since 1970) until another; None for ever."""

    made: float
    until: float | None
    verification: Verification


_DECODER = msgspec.msgpack.Decoder(_Cached)
"""Made once, here: two threads that have msgspec look at the type for the first time crash the process."""


def verification_key(data: bytes, signature: bytes, armored_keys: Iterable[str]) -> str:
    """Return the digest under which a verification is cached, hex."""
    parts = [data, signature, *(text.encode("utf-8", "surrogatepass") for text in armored_keys)]
    return sha256(_SCHEMA + b"".join(sha256(part).digest() for part in parts)).hexdigest()


def written(verification: Verification, ends: Iterable[float], made: float) -> bytes | None:
    """Return the cache record of a verification, None if it must not be cached.

    Args:
        verification: What gpg said.
        ends: When each key, subkey, user id and self-signature that it was held against expires, seconds since 1970.
        made: When those were listed, in the same form; gpg was asked after that.
    """
    is_good = (
        verification.problem is None
        and verification.form is Form.SIGNATURES
        and bool(verification.signatures)
        and all(one.status is SignatureStatus.GOOD for one in verification.signatures)
        and not any(keyring.broken for keyring in verification.keyrings)
    )
    if not is_good:
        return None
    all_ends = [*ends, *(_seconds(one.expires) for one in verification.signatures if one.expires)]
    until = min((end for end in all_ends if end > made), default=None)
    return msgspec.msgpack.encode(_Cached(made, until, verification))


def cached_verification(data: bytes | None, now: float) -> Verification | None:
    """Return a cached verification, if gpg would still give the same result.

    Args:
        data: What was written, None for nothing.
        now: Seconds since 1970. Before the verification was made it is worth nothing: the clock was set back.
    """
    if data is None:
        return None
    try:
        found = _DECODER.decode(data)
    except msgspec.DecodeError:
        return None
    if now < found.made or (found.until is not None and now >= found.until):
        return None
    return found.verification


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
