"""Keys whose self-signatures are of one's choice: the demo's, with other packets."""

from __future__ import annotations

import struct
from hashlib import sha256
from typing import TYPE_CHECKING

from locklens.demo import signing
from locklens.demo.signing import SIGNED_AT, SampleKey, armor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

USER_ID, SUBKEY = 13, 14
FLAGS, SIGN, CERTIFY_ONLY, ENCRYPT = 27, b"\x02", b"\x01", b"\x0c"


def subpacket(kind: int, content: bytes | int) -> bytes:
    body = struct.pack(">I", content) if isinstance(content, int) else content
    return bytes((len(body) + 1, kind)) + body


def notation(name: bytes) -> bytes:
    """A critical one."""
    return subpacket(0x80 | 20, b"\x80\0\0\0" + struct.pack(">HH", len(name), 1) + name + b"x")


MAY_SIGN = subpacket(FLAGS, b"\x03")


class Certifying(SampleKey, frozen=True):
    """A key that signs whatever of itself; times are seconds since 1970."""

    @property
    def hashed(self) -> bytes:
        return b"\x99" + struct.pack(">H", len(self._body)) + self._body

    def block(self, *packets: bytes) -> str:
        return armor("PUBLIC KEY BLOCK", signing._packet(6, self._body) + b"".join(packets))

    def identity(self, name: str, *signatures: bytes) -> bytes:
        return signing._packet(USER_ID, name.encode()) + b"".join(signatures)

    def certified(self, name: str, made: int, *more: bytes, kind: int = 0x13) -> bytes:
        text = name.encode()
        data = self.hashed + b"\xb4" + struct.pack(">I", len(text)) + text
        return self._signature(kind, data, made, b"".join(more))

    def direct(self, made: int, *more: bytes) -> bytes:
        return self._signature(0x1F, self.hashed, made, b"".join(more))

    def subkey(self, key: Certifying, *signatures: bytes) -> bytes:
        return signing._packet(SUBKEY, key._body) + b"".join(signatures)

    def bound(
        self,
        key: Certifying,
        made: int,
        more: Iterable[bytes] = (),
        cross: Iterable[bytes] | None = (),
        kind: int = 0x18,
    ) -> bytes:
        """A subkey's binding; `cross` are the subpackets of the subkey's own signature inside, None for none."""
        data = self.hashed + key.hashed
        inside = b""
        if cross is not None:
            body = key._signature(0x19, data, made, b"".join(cross))[3:]
            inside = subpacket(32, body)
        return self._signature(kind, data, made, b"".join(more) + inside)

    def signed(self, data: bytes, made: int, *more: bytes) -> bytes:
        return self._signature(0, data, made, b"".join(more))

    def signed_freely(self, data: bytes, hashed: bytes, unhashed: bytes = b"", version: int = 4) -> bytes:
        """Returns a detached signature with no subpackets but these."""
        head = bytes((version, 0, 22, 8)) + struct.pack(">H", len(hashed)) + hashed
        more = bytes(6) if version == 5 else b""
        tail = bytes((version, 0xFF)) + struct.pack(">Q" if version == 5 else ">I", len(head))
        digest = sha256(data + head + more + tail).digest()
        signature = signing.ed25519_signature(self.seed, digest)
        numbers = signing._number(signature[:32]) + signing._number(signature[32:])
        return signing._packet(2, head + struct.pack(">H", len(unhashed)) + unhashed + digest[:2] + numbers)


CREATED, MONTH, IN_2040 = 1705276800, 30 * 86400, 2208988800
NAME, OTHER_NAME = "One <one@attacks.example>", "Two <two@attacks.example>"
KEY = Certifying(b"p" * 32, NAME, CREATED)
SUB = Certifying(b"s" * 32, "", CREATED)
STRANGER = Certifying(b"x" * 32, NAME, CREATED)

ENDED = subpacket(3, MONTH)
"""A signature that ended a month after it was made."""

GOOD = KEY.certified(NAME, CREATED, MAY_SIGN)
LATER = CREATED + 60


def _key(*signatures: bytes) -> str:
    return KEY.block(KEY.identity(NAME, *signatures))


def _with_subkey(*signatures: bytes) -> str:
    return KEY.block(KEY.identity(NAME, GOOD), KEY.subkey(SUB, *signatures))


SIGNING = (subpacket(FLAGS, SIGN),)
BOUND = KEY.bound(SUB, CREATED, SIGNING)

BY_THE_PRIMARY_KEY = {
    "good": _key(GOOD),
    "certification expired": _key(KEY.certified(NAME, CREATED, MAY_SIGN, ENDED)),
    "certification in the future": _key(KEY.certified(NAME, IN_2040, MAY_SIGN)),
    "latest certification expired": _key(GOOD, KEY.certified(NAME, LATER, MAY_SIGN, ENDED)),
    "latest certification in the future": _key(GOOD, KEY.certified(NAME, IN_2040, MAY_SIGN)),
    "older certification expired": _key(
        KEY.certified(NAME, CREATED, MAY_SIGN, ENDED), KEY.certified(NAME, LATER, MAY_SIGN)
    ),
    "primary user id expired": KEY.block(
        KEY.identity(NAME, KEY.certified(NAME, LATER, MAY_SIGN)),
        KEY.identity(OTHER_NAME, KEY.certified(OTHER_NAME, CREATED, MAY_SIGN, ENDED, subpacket(25, b"\1"))),
    ),
    "other user id expired": KEY.block(
        KEY.identity(NAME, KEY.certified(NAME, CREATED, MAY_SIGN, subpacket(25, b"\1"))),
        KEY.identity(OTHER_NAME, KEY.certified(OTHER_NAME, LATER, MAY_SIGN, ENDED)),
    ),
    "user id revoked": _key(GOOD, KEY.certified(NAME, LATER, kind=0x30)),
    "user id revoked and certified again": _key(
        GOOD, KEY.certified(NAME, LATER, kind=0x30), KEY.certified(NAME, LATER + 60, MAY_SIGN)
    ),
    "another user id revoked": KEY.block(
        KEY.identity(NAME, GOOD),
        KEY.identity(
            OTHER_NAME, KEY.certified(OTHER_NAME, CREATED, MAY_SIGN), KEY.certified(OTHER_NAME, LATER, kind=0x30)
        ),
    ),
    "no key flags": _key(KEY.certified(NAME, CREATED)),
    "certifies only": _key(KEY.certified(NAME, CREATED, subpacket(FLAGS, CERTIFY_ONLY))),
    "latest certification with a critical notation": _key(
        GOOD, KEY.certified(NAME, LATER, MAY_SIGN, notation(b"what@attacks.example"))
    ),
    "critical notation that gpg knows": _key(
        KEY.certified(NAME, CREATED, MAY_SIGN, notation(b"preferred-email-encoding@pgp.com"))
    ),
    "forged certification": _key(GOOD, KEY.certified(OTHER_NAME, LATER, MAY_SIGN)),
    "forged revocation": _key(GOOD, KEY.certified(OTHER_NAME, LATER, kind=0x30)),
    "key expired": _key(KEY.certified(NAME, CREATED, MAY_SIGN, subpacket(9, MONTH))),
    "key and certification expired": _key(KEY.certified(NAME, CREATED, MAY_SIGN, ENDED, subpacket(9, MONTH))),
    "latest certification ends the key": _key(
        KEY.certified(NAME, LATER, MAY_SIGN, subpacket(9, MONTH)), KEY.certified(NAME, CREATED, MAY_SIGN)
    ),
    "direct-key signature expired": KEY.block(KEY.direct(CREATED, MAY_SIGN, ENDED), KEY.identity(NAME, GOOD)),
    "key expired by a direct-key signature": KEY.block(
        KEY.direct(CREATED, MAY_SIGN, subpacket(9, MONTH)), KEY.identity(NAME, GOOD)
    ),
    "direct-key signature after the user id": KEY.block(KEY.identity(NAME, GOOD), KEY.direct(CREATED, MAY_SIGN)),
    "signing subkey without cross-certification": _with_subkey(KEY.bound(SUB, CREATED, SIGNING, None)),
    "subkey of another's": _with_subkey(STRANGER.bound(SUB, CREATED, SIGNING)),
    "subkey without binding": _with_subkey(),
}
"""Armored keys; what is published is signed by the primary key."""

BY_THE_SUBKEY = {
    "subkey good": _with_subkey(BOUND),
    "binding expired": _with_subkey(KEY.bound(SUB, CREATED, (*SIGNING, ENDED))),
    "binding in the future": _with_subkey(KEY.bound(SUB, IN_2040, SIGNING)),
    "latest binding expired": _with_subkey(BOUND, KEY.bound(SUB, LATER, (*SIGNING, ENDED))),
    "latest binding with a critical notation": _with_subkey(
        BOUND, KEY.bound(SUB, LATER, (*SIGNING, notation(b"what@attacks.example")))
    ),
    "cross-certification expired": _with_subkey(KEY.bound(SUB, CREATED, SIGNING, (ENDED,))),
    "cross-certification with a critical notation": _with_subkey(
        KEY.bound(SUB, CREATED, SIGNING, (notation(b"preferred-email-encoding@pgp.com"),))
    ),
    "no cross-certification": _with_subkey(KEY.bound(SUB, CREATED, SIGNING, None)),
    "subkey without key flags": _with_subkey(KEY.bound(SUB, CREATED)),
    "subkey encrypts only": _with_subkey(KEY.bound(SUB, CREATED, (subpacket(FLAGS, ENCRYPT),))),
    "subkey expired": _with_subkey(KEY.bound(SUB, CREATED, (*SIGNING, subpacket(9, MONTH)))),
    "subkey revoked": _with_subkey(BOUND, KEY.bound(SUB, LATER, (), None, 0x28)),
    "subkey revoked and bound again": _with_subkey(
        BOUND, KEY.bound(SUB, LATER, (), None, 0x28), KEY.bound(SUB, LATER + 60, SIGNING)
    ),
    "certification expired above the subkey": KEY.block(
        KEY.identity(NAME, KEY.certified(NAME, CREATED, MAY_SIGN, ENDED)), KEY.subkey(SUB, BOUND)
    ),
}
"""Likewise, signed by the subkey."""


def _issuer(key: Certifying) -> bytes:
    return subpacket(16, bytes.fromhex(key.fingerprint[-16:]))


def _fingerprint(key: Certifying) -> bytes:
    return subpacket(33, b"\4" + bytes.fromhex(key.fingerprint))


_MADE = subpacket(2, SIGNED_AT)
_NAMED = _MADE + _fingerprint(KEY)

OF_THE_RELEASE: dict[str, Callable[[bytes], bytes]] = {
    "release good": lambda data: KEY.signed_freely(data, _NAMED, _issuer(KEY)),
    "named by the key id alone": lambda data: KEY.signed_freely(data, _MADE, _issuer(KEY)),
    "no issuer": lambda data: KEY.signed_freely(data, _MADE),
    "no issuer, then good": lambda data: KEY.signed_freely(data, _MADE) + KEY.signed(data, SIGNED_AT),
    "no time, then good": lambda data: KEY.signed_freely(data, _fingerprint(KEY)) + KEY.signed(data, SIGNED_AT),
    "another key id beside the fingerprint": lambda data: KEY.signed_freely(data, _NAMED, _issuer(STRANGER)),
    "another key's, in this one's name, then good": lambda data: (
        STRANGER.signed_freely(data, _MADE + _fingerprint(STRANGER), _issuer(KEY)) + KEY.signed(data, SIGNED_AT)
    ),
    "critical notation that gpg knows, of the release": lambda data: KEY.signed_freely(
        data, _NAMED + notation(b"preferred-email-encoding@pgp.com")
    ),
    "critical notation, of the release": lambda data: KEY.signed_freely(
        data, _NAMED + notation(b"what@attacks.example")
    ),
    "critical subpacket that gpg knows": lambda data: KEY.signed_freely(data, _NAMED + subpacket(0x80 | 7, b"\1")),
    "critical subpacket that OpenTofu knows": lambda data: KEY.signed_freely(
        data, _NAMED + subpacket(0x80 | 24, b"https://attacks.example")
    ),
    "not exportable": lambda data: KEY.signed_freely(data, _NAMED + subpacket(4, b"\0")),
    "issuer of a wrong length, then good": lambda data: (
        KEY.signed_freely(data, _NAMED, subpacket(16, b"\1")) + KEY.signed(data, SIGNED_AT)
    ),
    "version 5": lambda data: KEY.signed_freely(data, _NAMED, version=5),
    "bad and of version 5, then good": lambda data: (
        KEY.signed_freely(b"", _NAMED, version=5) + KEY.signed(data, SIGNED_AT)
    ),
}
"""Signatures of SHA256SUMS; what is published beside them is `BY_THE_PRIMARY_KEY["good"]`."""
