"""OpenPGP packets: where each is, and what the subpackets of signatures are. Verification is left to gpg.

A detached signature is nothing but signature packets. It is looked at before gpg sees it: gpg would also take text
armor, and data that comes with a signature inside, neither of which the tools accept.
"""

from __future__ import annotations

import base64
import binascii
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from locklens.trust import Form

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ_VERSIONS = frozenset({4, 5})
_READ_KEY_ALGORITHMS = frozenset({1, 3, 17, 19, 22, 27, 28})
"""RSA, RSA for signatures, DSA, ECDSA, EdDSA, Ed25519, Ed448."""

_READ_DIGESTS = frozenset({2, 8, 9, 10, 11, 12, 14})
"""SHA1, SHA256, SHA384, SHA512, SHA224, SHA3-256, SHA3-512; neither MD5 (1) nor RIPEMD160 (3)."""

_SIGNATURE = 2
_PRIMARY_KEY_BINDING = 0x19

_READ_SUBPACKETS = frozenset({2, 3, 5, 6, 9, 11, 16, 20, 21, 22, 25, 26, 27, 28, 29, 30, 32, 33, 39})
"""Subpackets that both tools know: Terraform, at least, passes over a signature with any other that is critical."""

_DISPUTED_SUBPACKETS = frozenset({4, 23, 24, 35})
"""Subpackets that OpenTofu knows, and Terraform does not."""

_LENGTHS = {2: 4, 3: 4, 5: 2, 9: 4, 16: 8, 25: 1}
"""Bytes of the subpackets that have a fixed length; another length is malformed to the tools."""

_SKIPPED = frozenset({10})
"""Marker packets, which every reader leaves out."""

_BEGIN, _END, _DASHES = b"-----BEGIN ", b"-----END ", b"-----"
_KEYS = frozenset({b"PGP PUBLIC KEY BLOCK", b"PGP PRIVATE KEY BLOCK"})
_LONGEST_LINE = 96
"""The most characters of a line of armor; the tools' library takes a longer one for damage."""


class MalformedPacketError(Exception):
    """The tools' library fails at a packet, where it would pass over one that it merely does not know."""


class SignaturePacket(Struct, frozen=True):
    """The unverified contents of a signature packet.

    Attributes:
        kind: Its type, e.g. 0x13 for a certification.
        made: Seconds since 1970.
        lifetime: Seconds from then on, 0 for ever.
        key_lifetime: Lifetime of the key that it is about, from that key's creation on.
        flags: Key flags, 0 where there are none.
        is_primary: True if it marks the primary user id.
        issuer: The key id that it names, 16 upper-case hex digits; "" if it names none.
        issuer_fingerprint: Fingerprint of the issuer, which alone names the key then; "" if it has none.
        has_critical_notation: True if it has one. The tools know no notation, and refuse what has a critical one.
        is_disputed: True if one of the tools reads it and the other passes it over, or gpg cannot verify it.
        embedded: The signature inside by which a subkey certifies its primary key.
    """

    kind: int
    made: int
    lifetime: int = 0
    key_lifetime: int = 0
    flags: int = 0
    is_primary: bool = False
    issuer: str = ""
    issuer_fingerprint: str = ""
    has_critical_notation: bool = False
    is_disputed: bool = False
    embedded: SignaturePacket | None = None

    def names(self, fingerprint: str) -> bool:
        """True if a key is the one that it names (`CheckKeyIdOrFingerprint` of the library)."""
        return self.issuer_fingerprint == fingerprint if self.issuer_fingerprint else self.issuer == fingerprint[-16:]


def split_signatures(signature: bytes, max_bytes: int, max_signatures: int) -> tuple[Form, tuple[bytes, ...]]:
    """Return the form of a signature file, and its signatures; of a DAMAGED one those before the damage."""
    if not signature:
        return Form.EMPTY, ()
    if len(signature) > max_bytes:
        return Form.TOO_LARGE, ()
    if not signature[0] & 0x80:
        return (Form.ARMORED if signature.lstrip().startswith(b"-----BEGIN PGP") else Form.DAMAGED), ()
    found: list[bytes] = []
    position = 0
    try:
        while position < len(signature):
            tag, start, end = _packet_at(signature, position)
            if end > len(signature) or end <= start or tag not in {_SIGNATURE, *_SKIPPED}:
                raise MalformedPacketError
            if tag == _SIGNATURE:
                read = read_signature_packet(signature[start:end])
                if read is not None and not read.issuer:
                    raise MalformedPacketError
                found.append(signature[position:end])
            position = end
    except MalformedPacketError:
        return Form.DAMAGED, tuple(found[:max_signatures])
    if len(found) > max_signatures:
        return Form.TOO_LARGE, ()
    return (Form.SIGNATURES, tuple(found)) if found else (Form.DAMAGED, ())


def signed_message(packet: bytes, data: bytes) -> bytes:
    """Return a signature, as `split_signatures` returns it, and what it signs as one message.

    That is what PGP 2 wrote: the signature, and the data as literal bytes (RFC 9580, section 10.3). Both headers are
    written anew with the lengths that were read here, so that no other reader can see other packets in them.
    """
    _, start, end = _packet_at(packet, 0)
    literal = b"b\0\0\0\0\0" + data
    signature = b"\xc2\xff" + (end - start).to_bytes(4, "big") + packet[start:end]
    return signature + b"\xcb\xff" + len(literal).to_bytes(4, "big") + literal


def read_signature(packet: bytes) -> SignaturePacket | None:
    """Read a signature as `split_signatures` returns it; see `read_signature_packet`."""
    _, start, end = _packet_at(packet, 0)
    return read_signature_packet(packet[start:end])


def read_signature_packet(body: bytes, *, inside: bool = False) -> SignaturePacket | None:
    """Read a signature packet as the tools do; None if both pass it over as if it were not there.

    They read by ProtonMail's go-crypto, Terraform 1.11.4 by v1.0.0 and OpenTofu 1.12.6 by v1.4.1: `Signature.parse` in
    openpgp/packet/signature.go refuses versions, key algorithms and digests (`HashIdToHashWithSha1` in
    openpgp/internal/algorithm/hash.go) with an UnsupportedError, and `Reader.Next` in openpgp/packet/reader.go goes on
    to the next packet. gpg takes RIPEMD160 and version 3, so it is not asked about those.

    Version 5 is read by Terraform, and neither by OpenTofu (`V5Disabled` in openpgp/packet/config_v5.go) nor by gpg
    before 2.3: such a signature is disputed, which is to refuse it where it names a key that may sign. One of version
    6, which OpenTofu alone reads, is passed over: it belongs to keys of version 6, and those are refused.

    One that is embedded in another may have none itself.

    Raises:
        MalformedPacketError: They fail at it.
    """
    if not body:
        raise MalformedPacketError
    if body[0] not in _READ_VERSIONS:
        return None
    if len(body) < 4:
        raise MalformedPacketError
    if body[2] not in _READ_KEY_ALGORITHMS or body[3] not in _READ_DIGESTS:
        return None
    hashed, position = _area(body, 4)
    unhashed, position = _area(body, position)
    if len(body) < position + 4:  # Two bytes of the digest, and a number.
        raise MalformedPacketError
    said: dict[str, Any] = {}
    for is_hashed, area in ((True, hashed), (False, unhashed)):
        for kind, content in _subpackets(area):
            # Outside of what is hashed they take nothing but the names of the issuer, and the signature inside.
            if (is_hashed or kind & 0x7F in {16, 32, 33}) and not _take(said, kind, content, inside=inside):
                return None
    if "made" not in said:
        raise MalformedPacketError
    said["is_disputed"] = said.get("is_disputed", False) or body[0] != 4
    return SignaturePacket(body[1], **said)


def _take(said: dict[str, Any], kind: int, content: bytes, *, inside: bool) -> bool:
    """Add what a subpacket says (RFC 9580, section 5.2.3.7); return whether the signature is read at all."""
    kind, is_critical = kind & 0x7F, kind >= 0x80
    if len(content) != _LENGTHS.get(kind, len(content)) or (not content and kind in {4, 6, 27, 29, 33}):
        raise MalformedPacketError
    number = int.from_bytes(content[:8], "big")
    if kind in {2, 3, 9}:
        said[{2: "made", 3: "lifetime", 9: "key_lifetime"}[kind]] = number
    elif kind == 6 and content[-1]:
        raise MalformedPacketError
    elif kind == 16:
        said["issuer"] = content.hex().upper()
    elif kind == 20:
        if len(content) < 8 or len(content) != 8 + sum(content[4:8:2]) * 256 + sum(content[5:8:2]):
            raise MalformedPacketError
        said["has_critical_notation"] = said.get("has_critical_notation", False) or is_critical
    elif kind == 25:
        said["is_primary"] = bool(number)
    elif kind == 27:
        said["flags"] = said.get("flags", 0) | content[0]
    elif kind == 32:
        if inside or "embedded" in said:
            raise MalformedPacketError
        said["embedded"] = read_signature_packet(content, inside=True)
        if said["embedded"] is None:
            return False
        if said["embedded"].kind != _PRIMARY_KEY_BINDING:
            raise MalformedPacketError
    elif kind == 33:
        if content[0] > 4:
            said["is_disputed"] = True
        elif len(content) != 21:
            raise MalformedPacketError
        said["issuer_fingerprint"] = content[1:].hex().upper()
        said["issuer"] = (content[1:9] if content[0] > 4 else content[13:21]).hex().upper()
    elif kind == 39 and len(content) % 2:
        raise MalformedPacketError
    elif kind in _DISPUTED_SUBPACKETS:
        said["is_disputed"] = said.get("is_disputed", False) or is_critical or (kind == 4 and not content[0])
    elif is_critical and kind not in _READ_SUBPACKETS:
        return False
    return True


def _area(body: bytes, position: int) -> tuple[bytes, int]:
    """Return subpackets that start with their length in two bytes, and what comes after them."""
    start = position + 2
    end = start + int.from_bytes(body[position:start], "big")
    if len(body) < start or len(body) < end:
        raise MalformedPacketError
    return body[start:end], end


def _subpackets(area: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type (128 more where it is critical) and content of each subpacket."""
    position = 0
    while position < len(area):
        first = area[position]
        size = 1 if first < 192 else 2 if first < 255 else 5
        rest = area[position + 1 : position + size]
        if len(rest) < size - 1:
            raise MalformedPacketError
        length = first
        if size > 1:
            length = ((first - 192) << 8) + rest[0] + 192 if size == 2 else int.from_bytes(rest, "big")
        position += size
        if not length or len(area) < position + length:
            raise MalformedPacketError
        yield area[position], area[position + 1 : position + length]
        position += length


def packets_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and body of each packet.

    Raises:
        MalformedPacketError: One is cut short, or has no definite length.
    """
    position = 0
    while position < len(data):
        tag, start, end = _packet_at(data, position)
        if end > len(data) or end < start or not end:
            raise MalformedPacketError
        yield tag, data[start:end]
        position = end


def _packet_at(data: bytes, position: int) -> tuple[int, int, int]:
    """Return tag, start and end of a packet's body; an end of 0 where the header is none that may be here."""
    head, rest = data[position], data[position + 1 : position + 6]
    if not head & 0x80 or not rest:
        return 0, 0, 0
    if head & 0x40:
        tag, first = head & 0x3F, rest[0]
        if first < 192:
            size, length = 1, first
        elif first < 224 and len(rest) > 1:
            size, length = 2, ((first - 192) << 8) + rest[1] + 192
        elif first == 255 and len(rest) == 5:
            size, length = 5, int.from_bytes(rest[1:5], "big")
        else:
            return 0, 0, 0
    else:
        tag, kind = head >> 2 & 0x0F, head & 3
        size = 1 << kind
        if kind == 3 or len(rest) < size:
            return 0, 0, 0
        length = int.from_bytes(rest[:size], "big")
    start = position + 1 + size
    return tag, start, start + length


def key_packets(text: bytes) -> bytes | None:
    """Return the packets of an armored key, None if it is none: the first block alone, as the tools read it.

    gpg would go on to further blocks, and take keys from them that the tools never see.
    """
    kind, data = _first_block(text)
    return data if kind in _KEYS and data and data[0] & 0x80 else None


def dearmored(text: bytes) -> bytes | None:
    """Return the bytes inside the first block of armor; None if there is none, or it is damaged."""
    return _first_block(text)[1]


def _first_block(text: bytes) -> tuple[bytes, bytes | None]:
    """Return kind and content of the first block, by the rules of Go's reader: what comes before it is skipped."""
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    number = 0
    while number < len(lines):
        head, number = lines[number].strip(), number + 1
        if not (head.startswith(_BEGIN) and head.endswith(_DASHES) and len(head) > len(_BEGIN + _DASHES)):
            continue
        while number < len(lines) and b":" in lines[number]:
            number += 1
        if number < len(lines) and not lines[number].strip():
            return head[len(_BEGIN) : -len(_DASHES)], _content(lines[number + 1 :])
        number += 1
    return b"", None


def _content(lines: list[bytes]) -> bytes | None:
    """Decode a block's lines up to its end; None if they are damaged, or have no end."""
    end = next((number for number, line in enumerate(lines) if line.startswith(_END)), None)
    body = [line for line in lines[:end] if line]
    if end is None or any(len(line) > _LONGEST_LINE for line in body):
        return None
    checksum = body.pop()[1:] if body and body[-1].startswith(b"=") else None
    try:
        data = base64.b64decode(b"".join(body), validate=True)
        if checksum is not None and base64.b64decode(checksum, validate=True) != _crc24(data):
            return None
    except binascii.Error:
        return None
    return data


def _crc24(data: bytes) -> bytes:
    """The checksum of armor (RFC 9580, section 6.1.1)."""
    table, checksum = _crc24_of_bytes(), 0xB704CE
    for byte in data:
        checksum = (checksum & 0xFFFF) << 8 ^ table[checksum >> 16 ^ byte]
    return checksum.to_bytes(3, "big")


@cache
def _crc24_of_bytes() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        checksum = byte << 16
        for _ in range(8):
            checksum = checksum << 1 ^ (0x1864CFB if checksum & 0x800000 else 0)
        found.append(checksum)
    return tuple(found)
