"""The outermost layer of OpenPGP data: which packets there are. What is in them is for gpg to say.

A detached signature is nothing but signature packets. It is looked at before gpg sees it: gpg would also take text
armor, and data that comes with a signature inside, neither of which the tools accept.
"""

from __future__ import annotations

import base64
import binascii

from locklens.trust.model import Form

_SIGNATURE = 2
_SKIPPED = frozenset({10})
"""Marker packets, which every reader leaves out."""


def split(signature: bytes, max_bytes: int, max_signatures: int) -> tuple[Form, tuple[bytes, ...]]:
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
        if tag == _SIGNATURE:
            found.append(signature[position:end])
        position = end
    if len(found) > max_signatures:
        return Form.TOO_LARGE, ()
    return (Form.SIGNATURES, tuple(found)) if found else (Form.DAMAGED, ())


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


def dearmored(text: bytes) -> bytes | None:
    """Returns the bytes inside the first block of armor; None where there is none, or it is damaged."""
    lines = [line.strip() for line in text.splitlines()]
    starts = [number for number, line in enumerate(lines) if line.startswith(b"-----BEGIN PGP ")]
    if not starts:
        return None
    block = lines[starts[0] + 1 :]
    ends = [number for number, line in enumerate(block) if line.startswith(b"-----END PGP ")]
    if not ends or b"" not in block[: ends[0]]:
        return None
    body = [line for line in block[block.index(b"") + 1 : ends[0]] if line]
    checksum = body.pop()[1:] if body and body[-1].startswith(b"=") else None
    try:
        data = base64.b64decode(b"".join(body), validate=True)
        if checksum is not None and base64.b64decode(checksum, validate=True) != _crc24(data):
            return None
    except binascii.Error:
        return None
    return data


def _crc24(data: bytes) -> bytes:
    checksum = 0xB704CE
    for byte in data:
        checksum ^= byte << 16
        for _ in range(8):
            checksum = checksum << 1 ^ (0x1864CFB if checksum & 0x800000 else 0)
    return (checksum & 0xFFFFFF).to_bytes(3, "big")
