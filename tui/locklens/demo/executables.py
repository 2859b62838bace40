"""Executables of a few kilobytes with true Go build information and a true function table, in the format of a platform.

Nothing here is compiled: the headers are just enough for Go's own readers (`go version -m`, `debug/gosym`) and for
those of locklens. On Linux they run and exit with 1; elsewhere they are only to be read.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from enum import Enum
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.executables import BuildInfo, GoModule

_START, _END = bytes.fromhex("3077af0c9274080241e1c107e6d618e6"), bytes.fromhex("f932433186182072008242104116d8f2")
"""The texts around the module information (`infoStart` and `infoEnd` of cmd/go/internal/modload)."""

_PCLN_MAGIC = 0xFFFFFFF1
"""The function table of Go 1.20 and later."""

_FUNCTION_BYTES = 16
_HEADERS = 0x400
"""Bytes before the first part; a part's address is that of the file's first byte plus its place in the file."""

_ELF_BASE, _MACH_O_BASE, _PE_BASE = 0x400000, 0x100000000, 0x140000000
"""The address of a file's first byte, as the linkers of the three formats choose it."""

_EXIT = {
    "amd64": bytes.fromhex("bf01000000b83c0000000f05"),  # exit(1): mov edi, 1; mov eax, 60; syscall
    "arm64": bytes.fromhex("200080d2a80b80d2010000d4"),  # exit(1): mov x0, 1; mov x8, 93; svc 0
}
_TRAP = {"amd64": b"\xcc", "arm64": b"\0\0\x20\xd4"}


def module_checksum(path: str, version: str) -> str:
    """Return a `h1:` checksum in the form of go.sum, made from the name alone: there is no such module anywhere."""
    return "h1:" + b64encode(sha256(f"{path}@{version}".encode()).digest()).decode()


def executable_bytes(build: BuildInfo, functions: Iterable[str], platform: str, remark: str = "") -> bytes:
    """Return an executable for a platform of amd64 or arm64, about which `go version -m` says `build`.

    The remark is a text in the file, for executables that differ in nothing else.
    """
    system, _, machine = platform.partition("_")
    base, headers = {"darwin": (_MACH_O_BASE, _mach_o), "windows": (_PE_BASE, _pe)}.get(system, (_ELF_BASE, _elf))
    names = sorted(set(functions))
    code = _EXIT[machine] if system == "linux" else b""
    filler = _TRAP[machine]
    body = code + filler * ((len(names) * _FUNCTION_BYTES - len(code)) // len(filler))
    contents = (body, _function_table(names, base + _HEADERS, machine), remark.encode() + b"\0", _build_info(build))
    laid_out, parts = bytearray(), []
    for kind, content in zip(_Kind, contents, strict=True):
        laid_out += bytes(-len(laid_out) % 16)
        parts.append(_Part(kind, _HEADERS + len(laid_out), len(content)))
        laid_out += content
    laid_out += bytes(-len(laid_out) % 16)
    end = _HEADERS + len(laid_out)
    header, trailer = headers(parts, end, machine)
    return header.ljust(_HEADERS, b"\0") + bytes(laid_out) + trailer


class _Kind(Enum):
    """What is mapped, in the order of the file."""

    CODE = 0
    FUNCTIONS = 1
    REMARK = 2
    BUILD = 3


class _Part(Struct, frozen=True):
    """A mapped part: its place in the file, and its bytes."""

    kind: _Kind
    offset: int
    size: int


def _build_info(build: BuildInfo) -> bytes:
    """The blob of Go 1.18 and later: a header of 32 bytes, then the version and the module information."""
    lines = [f"path\t{build.path}\n"]
    if build.main:
        lines += _module_lines("mod", build.main)
    lines += chain.from_iterable(_module_lines("dep", module) for module in build.modules)
    lines += [f"build\t{key}={_quoted(value)}\n" for key, value in build.settings]
    information = _START + "".join(lines).encode() + _END
    header = b"\xff Go buildinf:" + bytes((8, 2)) + bytes(16)
    return header + _varint_text(build.go.encode()) + _varint_text(information)


def _module_lines(kind: str, module: GoModule) -> list[str]:
    own = f"{kind}\t{module.path}\t{module.version}"
    if module.replaced_by is None:
        return [f"{own}\t{module.checksum}\n"]
    return [f"{own}\n", *_module_lines("=>", module.replaced_by), "\n"]


def _quoted(value: str) -> str:
    """A build setting as Go writes it: quoted where it has spaces or quotes."""
    if not any(sign in value for sign in ' \t\r\n"`'):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _varint_text(text: bytes) -> bytes:
    length, digits = len(text), bytearray()
    while length >= 0x80:
        digits.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes((*digits, length)) + text


def _function_table(names: Sequence[str], text: int, machine: str) -> bytes:
    """The `pclntab` of Go 1.20 and later for functions of `_FUNCTION_BYTES` each, without files and lines."""
    table, offsets = bytearray(), []
    for name in names:
        offsets.append(len(table))
        table += name.encode() + b"\0"
    table += bytes(-len(table) % 8)
    count, header = len(names), 8 + 8 * 8
    index = (count * 2 + 1) * 4
    rows, records = bytearray(), bytearray()
    for place, name_offset in enumerate(offsets):
        entry = place * _FUNCTION_BYTES
        rows += struct.pack("<II", entry, index + len(records))
        # entryOff, nameOff, args, deferreturn, pcsp, pcfile, pcln, npcdata, cuOffset, startLine, then four bytes
        records += struct.pack("<IiiIIIIIIi4x", entry, name_offset, 0, 0, 0, 0, 0, 0, 0, 1)
    rows += struct.pack("<I", count * _FUNCTION_BYTES)
    after = header + len(table)
    quantum = 1 if machine == "amd64" else 4
    words = struct.pack("<8Q", count, 0, text, header, after, after, after, after)
    return struct.pack("<IBBBB", _PCLN_MAGIC, 0, 0, quantum, 8) + words + bytes(table) + bytes(rows) + bytes(records)


_ELF_NAMES = {
    _Kind.CODE: b".text",
    _Kind.FUNCTIONS: b".gopclntab",
    _Kind.REMARK: b".rodata",
    _Kind.BUILD: b".go.buildinfo",
}


_ELF_FLAGS = {_Kind.CODE: 6, _Kind.BUILD: 3}
"""Flags of sections: 2 for mapped, 4 for executable, 1 for writable."""

_DATA_PAGE = 0x10000


def _elf(parts: Sequence[_Part], end: int, machine: str) -> tuple[bytes, bytes]:
    """A segment that runs and one that is written, on a page of its own; then the sections (System V ABI, ELF-64)."""
    base, data = _ELF_BASE, parts[-1].offset
    names = b"\0" + b"".join(name + b"\0" for name in (*_ELF_NAMES.values(), b".shstrtab"))
    names += bytes(-len(names) % 8)
    sections = [bytes(64)]
    for part in parts:
        name = names.index(_ELF_NAMES[part.kind] + b"\0")
        flags = _ELF_FLAGS.get(part.kind, 2)
        shift = _DATA_PAGE if part.kind is _Kind.BUILD else 0
        place = base + shift + part.offset, part.offset, part.size
        sections.append(struct.pack("<II4QII2Q", name, 1, flags, *place, 0, 0, 16, 0))
    sections.append(struct.pack("<II4QII2Q", names.index(b".shstrtab"), 3, 0, 0, end, len(names), 0, 0, 1, 0))
    kind = {"amd64": 62, "arm64": 183}[machine]
    header = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)
    count = len(sections)
    header += struct.pack(
        "<HHIQQQI6H", 2, kind, 1, base + _HEADERS, 64, end + len(names), 0, 64, 56, 2, 64, count, count - 1
    )
    code = struct.pack("<II6Q", 1, 5, 0, base, base, data, data, 0x1000)
    address = base + _DATA_PAGE + data
    written = struct.pack("<II6Q", 1, 6, data, address, address, end - data, end - data, 0x1000)
    return header + code + written, names + b"".join(sections)


_MACH_O_NAMES = {
    _Kind.CODE: (b"__TEXT", b"__text"),
    _Kind.FUNCTIONS: (b"__TEXT", b"__gopclntab"),
    _Kind.REMARK: (b"__TEXT", b"__rodata"),
    _Kind.BUILD: (b"__DATA", b"__go_buildinfo"),
}


def _mach_o(parts: Sequence[_Part], end: int, machine: str) -> tuple[bytes, bytes]:
    """Two segments, of code and of data, after the page that nothing is mapped to (mach-o/loader.h)."""
    base, data = _MACH_O_BASE, parts[-1].offset
    kind, sub = {"amd64": (0x01000007, 3), "arm64": (0x0100000C, 0)}[machine]
    commands = [_segment(b"__PAGEZERO", 0, base, 0, 0, 0, ())]
    for name, start, stop, protection in ((b"__TEXT", 0, data, 5), (b"__DATA", data, end, 3)):
        within = [part for part in parts if _MACH_O_NAMES[part.kind][0] == name]
        commands.append(_segment(name, base + start, stop - start, start, stop - start, protection, within))
    body = b"".join(commands)
    return struct.pack("<IIIIIIII", 0xFEEDFACF, kind, sub, 2, len(commands), len(body), 1, 0) + body, b""


def _segment(
    name: bytes, address: int, memory: int, offset: int, size: int, protection: int, parts: Sequence[_Part]
) -> bytes:
    sections = b"".join(
        struct.pack(
            "<16s16sQQ8I",
            *reversed(_MACH_O_NAMES[part.kind]), _MACH_O_BASE + part.offset, part.size, part.offset, 4, *(0,) * 6,
        )
        for part in parts
    )  # fmt: skip
    length = 72 + len(sections)
    head = (0x19, length, name, address, memory, offset, size, protection, protection, len(parts), 0)
    return struct.pack("<II16sQQQQIIII", *head) + sections


_PE_NAMES = {
    _Kind.CODE: (b".text", 0x60000020),
    _Kind.FUNCTIONS: (b".rdata", 0x40000040),
    _Kind.REMARK: (b".rsrc", 0x40000040),
    _Kind.BUILD: (b".data", 0xC0000040),
}
"""Sections with their flags: code that runs, data that is read, and data that is written too."""


def _pe(parts: Sequence[_Part], end: int, machine: str) -> tuple[bytes, bytes]:
    """The stub of DOS, the headers of PE32+, and a section for each part (Microsoft's PE format)."""
    stub = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    kind = {"amd64": 0x8664, "arm64": 0xAA64}[machine]
    optional = struct.pack("<HBBIIIII", 0x20B, 3, 0, parts[0].size, end - _HEADERS, 0, _HEADERS, _HEADERS)
    optional += struct.pack("<QII6HIIIIHH", _PE_BASE, 16, 16, 6, 1, 0, 0, 6, 1, 0, end, _HEADERS, 0, 3, 0x100)
    optional += struct.pack("<4QII", 0x100000, 0x1000, 0x100000, 0x1000, 0, 16) + bytes(16 * 8)
    header = b"PE\0\0" + struct.pack("<HHIIIHH", kind, len(parts), 0, 0, 0, len(optional), 0x22) + optional
    sections = b"".join(
        struct.pack("<8sIIIIIIHHI", name, part.size, part.offset, part.size, part.offset, 0, 0, 0, 0, flags)
        for part in parts
        for name, flags in (_PE_NAMES[part.kind],)
    )
    return stub + header + sections, b""
