"""Files that are no Go program, and Go programs that lie: what is said of them, and what it costs."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from executables.files import BLOB, NAMES, TEXT, elf, info, table, varint
from kit.effort import DIAGONAL
from kit.go_programs import STRIPPED, built, needs_go

from locklens.executables import ExecutableFormat
from locklens.executables.functions import MOST_FUNCTIONS, MOST_KEPT_BYTES, MOST_NAME_BYTES, MOST_PACKAGES
from locklens.executables.reader import ExecutableReader


def read(data: bytes, wanted: frozenset[str] | None = None) -> ExecutableReader:
    reader = ExecutableReader(wanted)
    for start in range(0, len(data), 1 << 18):
        reader.feed(data[start : start + (1 << 18)])
    return reader


def test_a_program_that_says_it_all() -> None:
    found = read(elf((5, b"code"), (4, table(NAMES, inlined=b"main.small\0")), (6, info(TEXT)))).close()
    assert found.unread is None
    assert found.packages == ("example.com/é", "main", "os/exec", "runtime")
    assert found.functions == ("example.com/é.F", "main.main", "main.small", "os/exec.(*Cmd).Start", "runtime.main")
    assert found.build is not None
    assert (found.build.go, found.build.path) == ("go1.22.1", "x")
    assert found.build.settings == (("-ldflags", '-X "a=b" é'),)
    ((_, _, _, by),) = [(one.path, one.version, one.checksum, one.replaced_by) for one in found.build.modules]
    assert by is not None
    assert (by.path, by.version) == ("z", "v3.0.0")


@pytest.mark.parametrize(
    ("data", "file_format", "words"),
    [
        (b"", ExecutableFormat.UNKNOWN, "it is empty"),
        (b"#!/bin/sh\nexec true\n", ExecutableFormat.UNKNOWN, "it is a script for /bin/sh"),
        (b"#!\x1b[31m\n", ExecutableFormat.UNKNOWN, "it is a script for"),
        (b"hello", ExecutableFormat.UNKNOWN, "it begins with 68 65 6c 6c"),
        (b"\xca\xfe\xba\xbe" + bytes(40), ExecutableFormat.UNKNOWN, "universal Mach-O file"),
        (b"\x7fELF\x02\x01", ExecutableFormat.ELF, "its headers break off"),
        (b"MZ" + bytes(100), ExecutableFormat.PE, "its headers name no data"),
        (b"\xcf\xfa\xed\xfe" + bytes(28), ExecutableFormat.MACH_O, "its headers name no data"),
        (elf((5, b"code")), ExecutableFormat.ELF, "no build information of Go was found, and no function table of Go"),
        (elf((6, BLOB[:15] + bytes(17))), ExecutableFormat.ELF, "in the form of a Go before 1.18"),
        (
            elf((4, table(NAMES, magic=0xFFFFFFFA)), (6, b"")),
            ExecutableFormat.ELF,
            "function table is of Go 1.16 or 1.17",
        ),
        (elf((4, b""), (6, BLOB + varint(1 << 30))), ExecutableFormat.ELF, "a text of 1073741824 bytes; at most 1024"),
        (elf((6, BLOB + b"\xff" * 9)), ExecutableFormat.ELF, "a length has too many digits"),
        (elf((6, BLOB + b"\x08go1.")), ExecutableFormat.ELF, "its build information breaks off"),
        (elf((6, info("dep\tx\n"))), ExecutableFormat.ELF, "a line of a module has not two or three fields"),
        (elf((6, info("=>\tx\tv1\th\n"))), ExecutableFormat.ELF, "a replacement of no module"),
        (elf((4, table([b"main", b"_start"])), (6, b"")), ExecutableFormat.ELF, "names no function of a package"),
    ],
)
def test_what_cannot_be_said_is_said(data: bytes, file_format: ExecutableFormat, words: str) -> None:
    found = read(data).close()
    assert (found.format, found.size) == (file_format, len(data))
    assert found.unread is not None
    assert words in found.unread
    assert found.build is None or found.functions is None


TOO_MUCH = {
    "packages": lambda: [b"a%d.b" % number for number in range(MOST_PACKAGES + 1)],
    "a name of more than": lambda: [b"x" * 200_000],
    "bytes; at most 67108864 are read": lambda: [b"a.b", bytes(MOST_NAME_BYTES)],
}


@pytest.mark.parametrize("words", TOO_MUCH)
def test_what_is_too_much_is_said(words: str) -> None:
    data = elf((4, table(TOO_MUCH[words]())))
    test_what_cannot_be_said_is_said(data, ExecutableFormat.ELF, words)


def test_a_table_larger_than_any_file_is_not_read() -> None:
    header = struct.pack("<L2x2B8Q", 0xFFFFFFF1, 1, 8, 1, 1, 0, 72, *[(1 << 64) - 100] * 4)
    data = bytearray(elf((4, header + bytes(100))))
    struct.pack_into("<Q", data, 64 + 32, (1 << 64) - 1)
    assert "bytes; at most" in (read(bytes(data)).close().unread or "")


def test_what_only_looks_like_it_is_passed_over() -> None:
    fake_info = BLOB[1:] + bytes(17) + BLOB[:15] + bytes(17)
    fake_table = struct.pack("<L2x2B8Q", 0xFFFFFFF1, 1, 8, 4, 1, 0, 72, 10, 10, 10, 10)
    data = elf((4, fake_table * 50 + bytes(-len(fake_table * 50) % 32) + table(NAMES)), (6, fake_info + info(TEXT)))
    found = read(data).close()
    assert found.unread is None
    crowded = elf((4, fake_table * 2000 + table(NAMES)), (6, (BLOB[:15] + bytes(17)) * 2000 + info(TEXT)))
    assert "more than 1000 places look like what is sought" in (read(crowded).close().unread or "")


def test_ranges_may_overlap_and_lie_outside() -> None:
    whole = elf((4, table(NAMES)), (6, info(TEXT)))
    broken = bytearray(whole)
    struct.pack_into("<Q", broken, 64 + 56 + 32, 1 << 62)
    assert read(bytes(broken)).close().build is not None
    struct.pack_into("<Q", broken, 64 + 32, 1 << 62)
    found = read(bytes(broken)).close()
    assert found.functions is not None  # The second range begins where the first one ends.
    assert found.build is None


HOSTILE = {
    "marks": lambda: elf((4, b"\xf1\xff\xff\xff\0\0\1\x08" * (1 << 20)), (6, (BLOB[:15] + b"\0") * (1 << 19))),
    "almost marks": lambda: elf((4, b"\xf1\xff\xff\xff\0\0\1\x07" * (1 << 21)), (6, BLOB[:13] * (1 << 20))),
    "names": lambda: elf((4, table([b"n.%d" % number for number in range(150_000)], inlined=b"a\0" * 100))),
    "packages": lambda: elf((4, table([b"a.b"], inlined=b"c.d\0e.f\0" * (1 << 20)))),
    "names without a dot": lambda: elf((4, table([b"a.b"], inlined=(b"c" * 60_000 + b"\0") * 200))),
    "paths": lambda: elf((4, table([b"a.b"], inlined=(b"c/" * 30_000 + b"\0") * 200))),
    "one name": lambda: elf((4, table([b"a.b", b"b" * (8 << 20)]))),
    "as many as are kept": lambda: elf((4, table([b"a.%d" % number for number in range(MOST_FUNCTIONS)]))),
    "as long as are kept": lambda: elf(
        (4, table([b"a.%080d" % number for number in range(MOST_KEPT_BYTES // 83 - 1)]))
    ),
    "one long run": lambda: elf((4, table([b"a.b"], inlined=b"a.\0" * (MOST_KEPT_BYTES // 3 - 2)))),
    "empty names": lambda: elf((4, table([b"a.b"], inlined=bytes(MOST_KEPT_BYTES - 100)))),
    "short names": lambda: elf((4, table([b"a.b"], inlined=b"a\0" * (MOST_KEPT_BYTES // 2 - 100)))),
    "modules": lambda: elf((6, info("dep\ta\tv1.0.0\th1:\n" * 60_000))),
    "quotes": lambda: elf((6, info("build\t" + '"\\' * 500_000 + "\n"))),
}


@DIAGONAL
@pytest.mark.parametrize("wanted", [None, frozenset[str]()], ids=["all functions", "no functions"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_programs_take_little_memory(kind: str, wanted: frozenset[str] | None) -> None:
    data = HOSTILE[kind]()
    tracemalloc.start()
    try:
        read(data, wanted).close()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


@needs_go
def test_a_program_of_go_takes_less_memory_than_its_size() -> None:
    data = built(STRIPPED).read_bytes()
    tracemalloc.start()
    try:
        read(data).close()
        assert tracemalloc.get_traced_memory()[1] < len(data)
    finally:
        tracemalloc.stop()


def test_a_name_may_be_as_long_as_a_piece_of_the_table() -> None:
    long = b"x." + b"x" * 65_534
    found = read(elf((4, table([long, b"main.main"])))).close()
    assert found.functions == ("main.main", long.decode())


def test_only_the_functions_of_the_packages_that_are_wanted_are_kept() -> None:
    names = [
        b"a/b.F",
        b"a/b.(*T).x/y.m",
        b"a/b.G[...]",
        b"a/b%2ec.H",
        b"a/bc.I",
        b"_start",
        b"type:.eq.c/d.T",
        b"c/d.J",
    ]
    data = elf((4, table(names, inlined=b"a/b.K\0")), (6, info(TEXT)))
    reader = ExecutableReader({"a/b", "not/there"})
    reader.feed(data)
    found = reader.close()
    assert found.packages == ("a/b", "a/b%2ec", "a/bc", "c/d")
    assert found.functions == ("a/b.(*T).x/y.m", "a/b.F", "a/b.G[...]", "a/b.K")


@pytest.mark.parametrize("count", [0, 1, 5000, 70_000])
def test_names_are_read_wherever_a_piece_of_the_table_ends(count: int) -> None:
    names = [b"p%d/q.F%d" % (number // 7, number) for number in range(count)] + [b"main.main"]
    found = read(elf((4, table(names)), (6, info(TEXT)))).close()
    assert found.functions == tuple(sorted(name.decode() for name in names))
    assert len(found.packages or ()) == len({name.partition(b".")[0] for name in names})


def test_a_big_endian_program_is_read() -> None:
    table = struct.pack(">L2x2B8Q", 0xFFFFFFF1, 1, 8, 1, 1, 0, 72, 80, 80, 80, 80) + b"main.f\0\0" + bytes(64)
    data = bytearray(elf((4, table)))
    data[5] = 2
    struct.pack_into(">L3QL6H", data, 20, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    struct.pack_into(">2L6Q", data, 64, 1, 4, 128, 128, 128, len(data) - 128, len(data) - 128, 16)
    found = read(bytes(data)).close()
    assert found.functions == ("main.f",)
