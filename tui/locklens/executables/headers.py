"""The headers of ELF, Mach-O and PE files: where data lies that is not code.

Specifications: the System V ABI (gabi, chapters 4 and 5), Apple's mach-o/loader.h, Microsoft's "PE Format".
"""

from __future__ import annotations

import struct

from msgspec import Struct

from locklens.executables import ExecutableFormat

MOST_HEADERS = 64 * 1024
"""The most bytes at the beginning of a file that its headers are sought in; Go's linker makes some 4 KiB at most."""

_MOST_PARTS = 512
"""The most segments or sections that are looked at; a program has some twenty."""

_ELF_LOADED, _ELF_EXECUTABLE, _ELF_WRITABLE = 1, 1, 2
_MACH_SEGMENT, _MACH_SEGMENT_64, _MACH_WRITABLE = 0x1, 0x19, 2
_MACH_TYPE, _MACH_ZERO_FILLED, _MACH_INSTRUCTIONS = 0xFF, {0x1, 0xC, 0x12}, 0x80000400
_PE_DATA, _PE_CODE, _PE_DISCARDED, _PE_WRITABLE = 0x40, 0x20000020, 0x02000000, 0x80000000


class Range(Struct, frozen=True):
    """A part of the file, from a position to the one after its last byte, that is loaded as data.

    Attributes:
        address: Where its first byte is loaded, modulo 4096: what lies on a boundary in memory does by this.
    """

    start: int
    stop: int
    address: int
    is_writable: bool


class Headers(Struct, frozen=True):
    """What the headers say.

    Attributes:
        ranges: In the file's order, and without overlaps.
        seen: Why there are no ranges, and what was seen instead; None where there are some.
        is_big_endian: The order of the program's bytes.
    """

    format: ExecutableFormat
    ranges: tuple[Range, ...] = ()
    seen: str | None = None
    is_big_endian: bool = False


def read_headers(data: bytes) -> Headers:
    """Read the headers of a file: its first `MOST_HEADERS` bytes, or all of it."""
    for magics, file_format, read in _FORMATS:
        if data.startswith(magics):
            try:
                ranges = _ordered(read(data))
            except struct.error:
                return Headers(file_format, seen=f"its headers break off, or lie beyond its first {MOST_HEADERS} bytes")
            seen = None if ranges else "its headers name no data"
            is_big_endian = data.startswith((b"\xfe\xed", b"\x7fELF\1\2", b"\x7fELF\2\2"))
            return Headers(file_format, ranges, seen, is_big_endian)
    return Headers(ExecutableFormat.UNKNOWN, seen=_seen(data))


def misfit(data: bytes, platform: str) -> str:
    """Return what a program is, by its headers, if it is of another platform than OS_ARCH; "" where it may be of it."""
    try:
        file_format, processor = _machine(data)
    except struct.error:
        return ""
    system, _, wanted = platform.partition("_")
    expected = {"darwin": ExecutableFormat.MACH_O, "windows": ExecutableFormat.PE}.get(system, ExecutableFormat.ELF)
    if not processor or (file_format, processor) == (expected, wanted):
        return ""
    names = {ExecutableFormat.ELF: "an ELF", ExecutableFormat.MACH_O: "a Mach-O", ExecutableFormat.PE: "a PE"}
    return f"{names[file_format]} file for {processor}"


def _machine(data: bytes) -> tuple[ExecutableFormat, str]:
    """Return the format of a program, and its processor as Go names it; "" where that is none of those known."""
    if data.startswith(b"\x7fELF"):
        (number,) = struct.unpack_from(">H" if data[5:6] == b"\x02" else "<H", data, 18)
        return ExecutableFormat.ELF, _ELF_PROCESSORS.get(number, "")
    if data.startswith((b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe")):
        (number,) = struct.unpack_from("<L", data, 4)
        return ExecutableFormat.MACH_O, _MACH_PROCESSORS.get(number, "")
    if data.startswith(b"MZ"):
        (at,) = struct.unpack_from("<L", data, 0x3C)
        signature, number = struct.unpack_from("<4sH", data, _within(at))
        return ExecutableFormat.PE, _PE_PROCESSORS.get(number, "") if signature == b"PE\0\0" else ""
    return ExecutableFormat.UNKNOWN, ""


_ELF_PROCESSORS = {3: "386", 40: "arm", 62: "amd64", 183: "arm64"}
_MACH_PROCESSORS = {0x01000007: "amd64", 0x0100000C: "arm64"}
_PE_PROCESSORS = {0x14C: "386", 0x1C4: "arm", 0x8664: "amd64", 0xAA64: "arm64"}


def _seen(data: bytes) -> str:
    """Name what is none of the three formats by its first bytes."""
    if data.startswith((b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")):
        return "it is a universal Mach-O file, which holds several programs"
    if data.startswith(b"#!"):
        line = data[2:80].partition(b"\n")[0].decode("ascii", "backslashreplace").strip()
        return f"it is a script for {line or 'an interpreter'}"
    if not data:
        return "it is empty"
    return f"it is no ELF, Mach-O or PE file: it begins with {data[:4].hex(' ')}"


def _ordered(ranges: list[Range]) -> tuple[Range, ...]:
    """Sort ranges, and cut off what an earlier one covers."""
    ordered: list[Range] = []
    reached = 0
    for one in sorted(ranges, key=lambda one: (one.start, one.stop)):
        start = max(one.start, reached)
        if start < one.stop:
            address = (one.address + start - one.start) % 4096
            ordered.append(Range(start, one.stop, address, one.is_writable))
            reached = one.stop
    return tuple(ordered)


def _elf(data: bytes) -> list[Range]:
    order = ">" if data[5:6] == b"\x02" else "<"
    if data[4:5] == b"\x02":
        offset, size, count = *struct.unpack_from(f"{order}Q", data, 32), *struct.unpack_from(f"{order}2H", data, 54)
        form, indices = struct.Struct(f"{order}2L4Q"), (1, 2, 3, 5)
    else:
        offset, size, count = *struct.unpack_from(f"{order}L", data, 28), *struct.unpack_from(f"{order}2H", data, 42)
        form, indices = struct.Struct(f"{order}7L"), (6, 1, 2, 4)
    segments = []
    for number in range(min(count, _MOST_PARTS)):
        fields = form.unpack_from(data, _within(offset + number * size))
        if fields[0] == _ELF_LOADED:
            flags, start, address, length = (fields[index] for index in indices)
            segments.append((flags, Range(start, start + length, address % 4096, bool(flags & _ELF_WRITABLE))))
    # A linker that does not separate code puts constants into the segment of the code.
    is_separated = any(not flags & (_ELF_EXECUTABLE | _ELF_WRITABLE) for flags, _ in segments)
    return [one for flags, one in segments if not (is_separated and flags & _ELF_EXECUTABLE)]


def _mach_o(data: bytes) -> list[Range]:
    order = "<" if data[0] in {0xCE, 0xCF} else ">"
    is_64 = 0xCF in {data[0], data[3]}
    (count,) = struct.unpack_from(f"{order}L", data, 16)
    at = 32 if is_64 else 28
    # Both commands: sizes and protection of the segment, and of each section its address, size, offset and flags.
    wanted, segment, section = (
        (_MACH_SEGMENT_64, struct.Struct(f"{order}56x4L"), struct.Struct(f"{order}32xQQL12xL12x"))
        if is_64
        else (_MACH_SEGMENT, struct.Struct(f"{order}40x4L"), struct.Struct(f"{order}32xLLL12xL8x"))
    )
    ranges: list[Range] = []
    for _ in range(min(count, _MOST_PARTS)):
        command, size = struct.unpack_from(f"{order}2L", data, at)
        if command == wanted:
            _, protection, sections, _ = segment.unpack_from(data, at)
            for number in range(min(sections, _MOST_PARTS - len(ranges))):
                address, length, start, flags = section.unpack_from(data, at + segment.size + number * section.size)
                if not flags & _MACH_INSTRUCTIONS and flags & _MACH_TYPE not in _MACH_ZERO_FILLED:
                    is_writable = bool(protection & _MACH_WRITABLE)
                    ranges.append(Range(start, start + length, address % 4096, is_writable))
        at = _within(at + max(size, 8))
    return ranges


def _pe(data: bytes) -> list[Range]:
    (at,) = struct.unpack_from("<L", data, 0x3C)
    signature, count, optional = struct.unpack_from("<4s2xH12xH", data, _within(at))
    if signature != b"PE\0\0":
        return []
    at += 24 + optional
    ranges = []
    for number in range(min(count, _MOST_PARTS)):
        address, length, start, flags = struct.unpack_from("<12x3L12xL", data, at + number * 40)
        if flags & _PE_DATA and not flags & (_PE_CODE | _PE_DISCARDED):
            ranges.append(Range(start, start + length, address % 4096, bool(flags & _PE_WRITABLE)))
    return ranges


def _within(position: int) -> int:
    """Return a position that `struct` can be asked for."""
    if position > MOST_HEADERS:
        raise struct.error
    return position


_FORMATS = (
    ((b"\x7fELF",), ExecutableFormat.ELF, _elf),
    (
        (b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf"),
        ExecutableFormat.MACH_O,
        _mach_o,
    ),
    ((b"MZ",), ExecutableFormat.PE, _pe),
)
