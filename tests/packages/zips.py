"""Zip files written by hand, so that they can say anything about themselves."""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from locklens.packages import LIMITS, Limits
from locklens.packages.unpack import unpack

BINARY = b"terraform-provider-demo_v1.0.0"
STORED, DEFLATED = 0, 8
UNIX, DOS, ELSEWHERE = 3, 0, 6
FILE, PROGRAM, LINK, FOLDER = (mode << 16 for mode in (0o100644, 0o100755, 0o120777, 0o040755))

DESCRIPTORS = {"PK and 32 bits": "<4xLLL", "32 bits": "<LLL", "PK and 64 bits": "<4xLQQ", "64 bits": "<LQQ"}


class Item(Struct, frozen=True):
    """An entry and its lies.

    Attributes:
        name: In both headers.
        content: Unpacked.
        method: How it is packed.
        descriptor: A key of DESCRIPTORS, or "" for none; with one the local header has no sizes.
        local: What the local header says instead: flags, method, crc, packed, size, name, extra.
        central: What the central directory says instead: the same, and offset, comment.
        is_wide: Whether sizes and offset are in zip64 extra fields.
        is_listed: Whether the central directory has it.
        before: Bytes in front of the local header.
        after: Bytes behind the packed content that count as packed.
        system: That packed it.
        attributes: Of that system.
    """

    name: bytes
    content: bytes = b""
    method: int = DEFLATED
    descriptor: str = ""
    local: dict[str, int | bytes] = {}
    central: dict[str, int | bytes] = {}
    is_wide: bool = False
    is_listed: bool = True
    before: bytes = b""
    after: bytes = b""
    system: int = UNIX
    attributes: int = FILE


def packed(item: Item) -> bytes:
    if item.method != DEFLATED:
        return item.content + item.after
    stream = zlib.compressobj(6, zlib.DEFLATED, -15)
    return stream.compress(item.content) + stream.flush() + item.after


def build(
    items: Sequence[Item],
    *,
    prefix: bytes = b"",
    counts_prefix: bool = False,
    gap: bytes = b"",
    comment: bytes = b"",
    trailing: bytes = b"",
    is_wide: bool = False,
    end: dict[str, int] | None = None,
) -> bytes:
    """Writes a zip file.

    Args:
        items: In the order of both places.
        prefix: In front of it all.
        counts_prefix: Whether offsets count from the prefix's start.
        gap: Between the contents and the central directory.
        comment: At the end.
        trailing: Behind the end.
        is_wide: Whether the end has a zip64 record.
        end: What it says instead: count, size, offset, comment.
    """
    file = bytearray(prefix)
    base = 0 if counts_prefix else len(prefix)
    directory = bytearray()
    for item in items:
        file += item.before
        offset = len(file) - base
        file += _local(item)
        if item.is_listed:
            directory += _central(item, offset)
    file += gap
    start = len(file) - base
    file += directory
    said = {"count": sum(item.is_listed for item in items), "size": len(directory), "offset": start}
    said |= {"comment": len(comment), **(end or {})}
    if is_wide:
        at = len(file) - base
        file += struct.pack(
            "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, *[said["count"]] * 2, said["size"], said["offset"]
        )
        file += struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
        said |= {"count": 0xFFFF, "size": 0xFFFFFFFF, "offset": 0xFFFFFFFF}
    counts = (said["count"] & 0xFFFF,) * 2
    file += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *counts, said["size"], said["offset"], said["comment"])
    return bytes(file + comment + trailing)


def _facts(item: Item) -> dict[str, int | bytes]:
    return {
        "name": item.name,
        "flags": 8 if item.descriptor else 0,
        "method": item.method,
        "crc": zlib.crc32(item.content),
        "packed": len(packed(item)),
        "size": len(item.content),
        "extra": b"",
        "comment": b"",
    }


def _local(item: Item) -> bytes:
    facts = _facts(item)
    crc, sizes = facts["crc"], (facts["packed"], facts["size"])
    if item.descriptor:
        facts |= {"crc": 0, "packed": 0, "size": 0}
    if item.is_wide:
        facts["extra"] = struct.pack("<HHQQ", 1, 16, facts["size"], facts["packed"])
        facts |= {"packed": 0xFFFFFFFF, "size": 0xFFFFFFFF}
    facts |= item.local
    name, extra = bytes(facts["name"]), bytes(facts["extra"])
    header = struct.pack(
        "<4s5H3L2H", b"PK\x03\x04", 20, facts["flags"], facts["method"], 0, 0x21,
        facts["crc"], facts["packed"], facts["size"], len(name), len(extra),
    )  # fmt: skip
    descriptor = b""
    if item.descriptor:
        descriptor = struct.pack(DESCRIPTORS[item.descriptor], crc, *sizes)
        if "PK" in item.descriptor:
            descriptor = b"PK\x07\x08" + descriptor[4:]
    return header + name + extra + packed(item) + descriptor


def _central(item: Item, offset: int) -> bytes:
    facts = _facts(item) | {"offset": offset}
    if item.is_wide:
        facts["extra"] = struct.pack("<HHQQQ", 1, 24, facts["size"], facts["packed"], offset)
        facts |= {"packed": 0xFFFFFFFF, "size": 0xFFFFFFFF, "offset": 0xFFFFFFFF}
    facts |= item.central
    name, extra, comment = (bytes(facts[key]) for key in ("name", "extra", "comment"))
    return struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", item.system << 8 | 20, 20, facts["flags"], facts["method"], 0, 0x21,
        facts["crc"], facts["packed"], facts["size"], len(name), len(extra), len(comment), 0, 0,
        item.attributes, facts["offset"],
    ) + name + extra + comment  # fmt: skip


def unpacked(
    archive: Path, into: Path, *, limit: Limits = LIMITS, cancel: threading.Event | None = None, step: int = 4096
) -> str:
    """Unpacks a zip file that arrives in pieces, and returns its h1."""
    data = archive.read_bytes()
    chunks = (data[at : at + step] for at in range(0, len(data), step))
    return unpack(chunks, into, limit=limit, cancel=cancel).h1
