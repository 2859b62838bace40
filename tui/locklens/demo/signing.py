"""The sample publishers, one for each namespace with a fixed key, and their signatures.

The demo signs at run time, the same bytes on every machine: no gpg is needed to serve it, no agent is left running, and
the fingerprints are always those of the documentation. The keys and signatures are OpenPGP packets (RFC 4880, and EdDSA
as in gpg), limited to the demo's needs: version 4 keys for Ed25519 (RFC 8032, from public seeds) with one user id,
valid, expired or revoked, and binary signatures. They protect nothing, so timing attacks do not matter. Nothing is
verified here; the real gpg and the real tools do that.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from functools import lru_cache
from hashlib import sha1, sha256, sha512

from msgspec import Struct
from msgspec.structs import replace

SIGNED_AT = 1717200000
"""Signing time of every release, Unix time in seconds: 1 June 2024, midnight UTC."""

_KEYS_CREATED = 1705276800
_YEAR, _MONTH = 365 * 86400, 30 * 86400


class Publisher(Struct, frozen=True):
    """The signer of a namespace's releases.

    Attributes:
        key: The key as it is published without a fault.
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
    return Publisher(name, SampleKey(seed, f"{name} (locklens demo) <security@{name}.invalid>", _KEYS_CREATED))


_PUBLIC_KEY, _USER_ID, _SIGNATURE = 6, 13, 2
_BINARY, _POSITIVE_CERTIFICATION, _KEY_REVOCATION = 0x00, 0x13, 0x20
_EDDSA, _SHA256 = 22, 8
_ED25519_OID = bytes.fromhex("092b06010401da470f01")

_CREATED, _EXPIRES, _KEY_EXPIRES, _ISSUER, _KEY_FLAGS, _REVOCATION_REASON, _ISSUER_FINGERPRINT = 2, 3, 9, 16, 27, 29, 33
_MAY_CERTIFY_AND_SIGN = b"\x03"
_COMPROMISED = b"\x02"


class SampleKey(Struct, frozen=True):
    """A sample publisher's key.

    Attributes:
        seed: Source of the secret key; itself public.
        created: Seconds since 1970.
        lifetime: Seconds after creation, 0 for no expiry. The fingerprint does not cover it: the same key may be
            published with another one.
        is_revoked: True if it is published with its revocation.
    """

    seed: bytes
    user_id: str
    created: int
    lifetime: int = 0
    is_revoked: bool = False

    @property
    def fingerprint(self) -> str:
        """The fingerprint: 40 upper-case hex digits."""
        return (
            sha1(b"\x99" + struct.pack(">H", len(self._body)) + self._body, usedforsecurity=False).hexdigest().upper()
        )

    @property
    def _body(self) -> bytes:
        point = b"\x40" + public_key(self.seed)
        return b"\x04" + struct.pack(">IB", self.created, _EDDSA) + _ED25519_OID + _number(point)

    def armored(self) -> str:
        """Return the public key as a registry publishes it."""
        body, user_id = self._body, self.user_id.encode()
        hashed = b"\x99" + struct.pack(">H", len(body)) + body
        packets = [_packet(_PUBLIC_KEY, body)]
        if self.is_revoked:
            reason = _subpacket(_REVOCATION_REASON, _COMPROMISED + b"lost")
            packets.append(self._signature(_KEY_REVOCATION, hashed, self.created + 1, reason))
        flags = _subpacket(_KEY_FLAGS, _MAY_CERTIFY_AND_SIGN)
        if self.lifetime:
            flags += _subpacket(_KEY_EXPIRES, struct.pack(">I", self.lifetime))
        certified = hashed + b"\xb4" + struct.pack(">I", len(user_id)) + user_id
        packets += [
            _packet(_USER_ID, user_id),
            self._signature(_POSITIVE_CERTIFICATION, certified, self.created, flags),
        ]
        return armor("PUBLIC KEY BLOCK", b"".join(packets))

    def signature(self, data: bytes, made: int, lifetime: int = 0) -> bytes:
        """Return a detached signature, made in seconds since 1970, with a lifetime in seconds, 0 for no expiry."""
        more = _subpacket(_EXPIRES, struct.pack(">I", lifetime)) if lifetime else b""
        return self._signature(_BINARY, data, made, more)

    def _signature(self, kind: int, data: bytes, made: int, more: bytes = b"") -> bytes:
        fingerprint = bytes.fromhex(self.fingerprint)
        hashed = _subpacket(_CREATED, struct.pack(">I", made)) + more
        hashed += _subpacket(_ISSUER_FINGERPRINT, b"\x04" + fingerprint)
        unhashed = _subpacket(_ISSUER, fingerprint[-8:])
        head = bytes((4, kind, _EDDSA, _SHA256)) + struct.pack(">H", len(hashed)) + hashed
        digest = sha256(data + head + b"\x04\xff" + struct.pack(">I", len(head))).digest()
        signed = ed25519_signature(self.seed, digest)
        body = head + struct.pack(">H", len(unhashed)) + unhashed + digest[:2]
        return _packet(_SIGNATURE, body + _number(signed[:32]) + _number(signed[32:]))


def armor(kind: str, data: bytes) -> str:
    """Return packets as ASCII armor: base64 between header and footer, with its checksum."""
    checksum = 0xB704CE
    for byte in data:
        checksum ^= byte << 16
        for _ in range(8):
            checksum = checksum << 1 ^ (0x1864CFB if checksum & 0x800000 else 0)
    text = b64encode(data).decode()
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    tail = "=" + b64encode(checksum.to_bytes(3, "big")).decode()
    return "\n".join((f"-----BEGIN PGP {kind}-----", "", *lines, tail, f"-----END PGP {kind}-----", ""))


def _packet(tag: int, body: bytes) -> bytes:
    return bytes((0x80 | tag << 2 | 1,)) + struct.pack(">H", len(body)) + body


def _subpacket(kind: int, body: bytes) -> bytes:
    return bytes((len(body) + 1, kind)) + body


def _number(data: bytes) -> bytes:
    """Return an octet string as a multi-precision integer: its length in bits, without leading zeros."""
    value = int.from_bytes(data, "big")
    return struct.pack(">H", value.bit_length()) + value.to_bytes((value.bit_length() + 7) // 8, "big")


_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P

_Point = tuple[int, int, int, int]
"""Extended homogeneous coordinates X, Y, Z, T."""

_NEUTRAL: _Point = (0, 1, 1, 0)


@lru_cache(maxsize=64)
def public_key(seed: bytes) -> bytes:
    """Return the 32-byte public key of a 32-byte seed."""
    scalar, _ = _secret(seed)
    return _encoded(_multiplied(scalar))


def ed25519_signature(seed: bytes, message: bytes) -> bytes:
    """Return the 64-byte signature, which depends only on the arguments."""
    scalar, prefix = _secret(seed)
    nonce = int.from_bytes(sha512(prefix + message).digest(), "little") % _ORDER
    commitment = _encoded(_multiplied(nonce))
    challenge = int.from_bytes(sha512(commitment + public_key(seed) + message).digest(), "little") % _ORDER
    return commitment + ((nonce + challenge * scalar) % _ORDER).to_bytes(32, "little")


def _secret(seed: bytes) -> tuple[int, bytes]:
    digest = sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return scalar & ~7 & ((1 << 254) - 1) | 1 << 254, digest[32:]


def _added(one: _Point, other: _Point) -> _Point:
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a, b = (y1 - x1) * (y2 - x2) % _P, (y1 + x1) * (y2 + x2) % _P
    c, d = 2 * t1 * t2 * _D % _P, 2 * z1 * z2 % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


@lru_cache(maxsize=1)
def _doublings() -> tuple[_Point, ...]:
    """Return the base point times each power of two."""
    y = 4 * pow(5, _P - 2, _P) % _P
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if x & 1:
        x = _P - x
    points = [(x, y, 1, x * y % _P)]
    for _ in range(255):
        points.append(_added(points[-1], points[-1]))
    return tuple(points)


def _multiplied(scalar: int) -> _Point:
    result = _NEUTRAL
    for bit, point in enumerate(_doublings()):
        if scalar >> bit & 1:
            result = _added(result, point)
    return result


def _encoded(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, _P - 2, _P)
    return (y * inverse % _P | (x * inverse % _P & 1) << 255).to_bytes(32, "little")
