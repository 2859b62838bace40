"""The sample publishers: one for each namespace, each with a fixed key."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from locklens.demo.openpgp import SampleKey

SIGNED_AT = 1717200000
"""Signing time of every release, Unix time in seconds: 1 June 2024, midnight UTC."""

_CREATED = 1705276800
_YEAR, _MONTH = 365 * 86400, 30 * 86400


class Publisher(Struct, frozen=True):
    """The signer of a namespace's releases.

    Attributes:
        name: The namespace.
        key: As it is published without a fault.
    """

    name: str
    key: SampleKey

    @property
    def expired_key(self) -> SampleKey:
        """The same key, published with an expiry in the past; it was valid when the releases were signed."""
        return replace(self.key, lifetime=_YEAR)

    @property
    def revoked_key(self) -> SampleKey:
        """The same key, published with its revocation."""
        return replace(self.key, is_revoked=True)

    def signature(self, data: bytes, *, expired: bool = False) -> bytes:
        """Return a detached signature; an expired one is valid for a month."""
        return self.key.signature(data, SIGNED_AT, _MONTH if expired else 0)


@lru_cache(maxsize=256)
def publisher(name: str) -> Publisher:
    """Return the publisher of a namespace. Different names have different keys."""
    seed = sha256(f"locklens demo key of {name}".encode()).digest()
    return Publisher(name, SampleKey(seed, f"{name} (locklens demo) <security@{name}.invalid>", _CREATED))
