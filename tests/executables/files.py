"""Executables written by hand, so that they can say anything about themselves."""

from __future__ import annotations

import struct
from itertools import accumulate

BLOB = b"\xff Go buildinf:" + bytes([8, 2]) + bytes(16)
START, END = b"s" * 16, b"e" * 16


def elf(*segments: tuple[int, bytes]) -> bytes:
    """An executable for 64-bit Linux; each segment has flags (4 to read, 2 to write, 1 to run) and bytes."""
    offset = 64 + 56 * len(segments)
    header = struct.pack(
        "<4s5B7x2HL3QL6H", b"\x7fELF", 2, 1, 1, 0, 0, 2, 62, 1, 0, 64, 0, 0, 64, 56, len(segments), 0, 0, 0
    )
    table, body = b"", b""
    for flags, data in segments:
        start = offset + len(body)
        start += -start % 16
        body += bytes(start - offset - len(body)) + data
        table += struct.pack("<2L6Q", 1, flags, start, start, start, len(data), len(data), 16)
    return header + table + body


def info(text: str, version: str = "go1.22.1") -> bytes:
    """A blob of build information."""
    strings = (version.encode(), START + text.encode() + END)
    return BLOB + b"".join(varint(len(one)) + one for one in strings)


def varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def table(
    names: list[bytes], *, magic: int = 0xFFFFFFF1, inlined: bytes = b"", functions: int | None = None, shift: int = 0
) -> bytes:
    """A function table with the fields that are read."""
    joined = b"".join(name + b"\0" for name in names) + inlined
    joined += bytes(-len(joined) % 8)
    offsets = [0, *accumulate(len(name) + 1 for name in names)][:-1]
    count = len(names) if functions is None else functions
    first = 72 + len(joined)
    begin = 8 * len(names) + 8
    rows = b"".join(struct.pack("<2L", number, begin + 8 * number) for number in range(len(names)))
    funcs = b"".join(struct.pack("<2L", number, offset + shift) for number, offset in enumerate(offsets))
    header = struct.pack("<L2x2B8Q", magic, 1, 8, count, 1, 0, 72, first, first, first, first)
    return header + joined + rows + bytes(8) + funcs + bytes(64)


NAMES = [b"main.main", b"os/exec.(*Cmd).Start", b"example.com/\xc3\xa9.F", b"runtime.main"]
TEXT = (
    'path\tx\nmod\tx\tv1.0.0\th1:a\ndep\ty\tv2.0.0\th1:b\n=>\tz\tv3.0.0\th1:c\nbuild\t-ldflags="-X \\"a=b\\" \\u00e9"\n'
)
