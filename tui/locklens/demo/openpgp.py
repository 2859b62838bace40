"""OpenPGP keys and detached signatures of the sample publishers, as packets (RFC 4880, and EdDSA as in gpg).

Limited to the demo's needs: version 4 keys for Ed25519 with one user id, valid, expired or revoked, and binary
signatures. Nothing is read or verified here; see `locklens.trust.signature`.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from functools import lru_cache
from hashlib import sha1, sha256

from msgspec import Struct

from locklens.demo import ed25519

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
        user_id: Name and address.
        created: Seconds since 1970.
        lifetime: Seconds after creation, 0 for no expiry. Not covered by the fingerprint: the same key may be published
            with another one.
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
        point = b"\x40" + _public_key(self.seed)
        return b"\x04" + struct.pack(">IB", self.created, _EDDSA) + _ED25519_OID + _number(point)

    def armored(self) -> str:
        """The public key as a registry publishes it."""
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
        """Return a detached signature.

        Args:
            data: The signed bytes.
            made: Seconds since 1970.
            lifetime: Seconds after `made`, 0 for no expiry.
        """
        more = _subpacket(_EXPIRES, struct.pack(">I", lifetime)) if lifetime else b""
        return self._signature(_BINARY, data, made, more)

    def _signature(self, kind: int, data: bytes, made: int, more: bytes = b"") -> bytes:
        fingerprint = bytes.fromhex(self.fingerprint)
        hashed = _subpacket(_CREATED, struct.pack(">I", made)) + more
        hashed += _subpacket(_ISSUER_FINGERPRINT, b"\x04" + fingerprint)
        unhashed = _subpacket(_ISSUER, fingerprint[-8:])
        head = bytes((4, kind, _EDDSA, _SHA256)) + struct.pack(">H", len(hashed)) + hashed
        digest = sha256(data + head + b"\x04\xff" + struct.pack(">I", len(head))).digest()
        signed = ed25519.ed25519_signature(self.seed, digest)
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


@lru_cache(maxsize=64)
def _public_key(seed: bytes) -> bytes:
    return ed25519.public_key(seed)


def _packet(tag: int, body: bytes) -> bytes:
    return bytes((0x80 | tag << 2 | 1,)) + struct.pack(">H", len(body)) + body


def _subpacket(kind: int, body: bytes) -> bytes:
    return bytes((len(body) + 1, kind)) + body


def _number(data: bytes) -> bytes:
    """An octet string as a multi-precision integer: its length in bits, without leading zeros."""
    value = int.from_bytes(data, "big")
    return struct.pack(">H", value.bit_length()) + value.to_bytes((value.bit_length() + 7) // 8, "big")
