"""The outermost layer of OpenPGP data: which packets there are. What is in them is for gpg to say.

A detached signature is nothing but signature packets. It is looked at before gpg sees it: gpg would also take text
armor, and data that comes with a signature inside, neither of which the tools accept.
"""

from __future__ import annotations

import base64
import binascii
from functools import cache

from locklens.trust.model import Form

_READ_VERSION = 4
_READ_KEY_ALGORITHMS = frozenset({1, 3, 17, 19, 22, 27, 28})
"""RSA, RSA for signatures, DSA, ECDSA, EdDSA, Ed25519, Ed448."""

_READ_DIGESTS = frozenset({2, 8, 9, 10, 11, 12, 14})
"""SHA1, SHA256, SHA384, SHA512, SHA224, SHA3-256, SHA3-512; neither MD5 (1) nor RIPEMD160 (3)."""

_SIGNATURE = 2
_SHORTEST = 10
"""Bytes of a signature of that version, before the number that is the signature."""

_SKIPPED = frozenset({10})
"""Marker packets, which every reader leaves out."""

_BEGIN, _END, _DASHES = b"-----BEGIN ", b"-----END ", b"-----"
_KEYS = frozenset({b"PGP PUBLIC KEY BLOCK", b"PGP PRIVATE KEY BLOCK"})
_LONGEST_LINE = 96
"""Of a block's content; the tools' library takes a longer one for damage."""


def split_signatures(signature: bytes, max_bytes: int, max_signatures: int) -> tuple[Form, tuple[bytes, ...]]:
    """Returns what a signature file is, and each of its signatures; of a DAMAGED one those before the damage."""
    if not signature:
        return Form.EMPTY, ()
    if len(signature) > max_bytes:
        return Form.TOO_LARGE, ()
    if not signature[0] & 0x80:
        return (Form.ARMORED if signature.lstrip().startswith(b"-----BEGIN PGP") else Form.DAMAGED), ()
    found: list[bytes] = []
    position = 0
    while position < len(signature):
        tag, start, end = _packet_at(signature, position)
        if end > len(signature) or end <= start or tag not in {_SIGNATURE, *_SKIPPED}:
            return Form.DAMAGED, tuple(found[:max_signatures])
        if tag == _SIGNATURE and signature[start] == _READ_VERSION and end - start < _SHORTEST:
            return Form.DAMAGED, tuple(found[:max_signatures])
        if tag == _SIGNATURE:
            found.append(signature[position:end])
        position = end
    if len(found) > max_signatures:
        return Form.TOO_LARGE, ()
    return (Form.SIGNATURES, tuple(found)) if found else (Form.DAMAGED, ())


def is_read(packet: bytes) -> bool:
    """Whether both tools read a signature, as `split` returns it; any other they pass over as if it were not there.

    They read by ProtonMail's go-crypto, Terraform 1.11.4 by v1.0.0 and OpenTofu 1.12.6 by v1.4.1: `Signature.parse` in
    openpgp/packet/signature.go refuses versions, key algorithms and digests (`HashIdToHashWithSha1` in
    openpgp/internal/algorithm/hash.go) with an UnsupportedError, and `Reader.Next` in openpgp/packet/reader.go goes on
    to the next packet. gpg takes RIPEMD160 and version 3, so it is not asked about those.
    """
    _, start, end = _packet_at(packet, 0)
    head = packet[start : min(start + 4, end)]
    return len(head) == 4 and head[0] == _READ_VERSION and head[2] in _READ_KEY_ALGORITHMS and head[3] in _READ_DIGESTS


def _packet_at(data: bytes, position: int) -> tuple[int, int, int]:
    """Returns tag, start and end of a packet's body; an end of 0 where the header is none that may be here."""
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
    """Returns the packets of an armored key, None where it is none: the first block alone, as the tools read it.

    gpg would go on to further blocks, and take keys from them that the tools never see.
    """
    kind, data = _first_block(text)
    return data if kind in _KEYS and data and data[0] & 0x80 else None


def dearmored(text: bytes) -> bytes | None:
    """Returns the bytes inside the first block of armor; None where there is none, or it is damaged."""
    return _first_block(text)[1]


def _first_block(text: bytes) -> tuple[bytes, bytes | None]:
    """Returns kind and content of the first block, by the rules of Go's reader: what stands before it is skipped."""
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
    """Decodes a block's lines up to its end; None where they are damaged, or have no end."""
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
