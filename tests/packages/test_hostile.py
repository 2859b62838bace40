"""Packages that want too much, break off or were tampered with: a sentence, and the same one way or the other."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit.effort import effort, some
from packages.odd import PROVIDER, TEXT
from packages.zips import BINARY, STORED, Item, build, unpacked

from locklens.errors import PackageError
from locklens.packages import Limits
from locklens.packages.hashing import hash_package
from locklens.packages.installed import h1_of_folder

MIB = 1024**2


def both(data: bytes, folder: Path, limit: Limits) -> str:
    """The h1 or the error; hashing and unpacking agree on it."""
    archive, into = folder / "package.zip", folder / "into"
    archive.write_bytes(data)
    outcomes = []
    for is_unpacked in (False, True):
        try:
            outcomes.append(
                unpacked(archive, into, limit=limit) if is_unpacked else hash_package([data], limit=limit).h1
            )
        except PackageError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
    if outcomes[0].startswith("h1:"):
        assert h1_of_folder(into) == outcomes[0]
        for path in sorted(into.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        into.rmdir()
    assert not into.exists()
    return outcomes[0]


ZEROS = Item(b"zeros", bytes(3 * MIB))
BOUNDS = {
    "ratio": (
        [ZEROS], Limits(ratio=20, ratio_from=2 * MIB), "unpacks to 3.0 MiB, more than 20 times its 3"
    ),
    "unpacked": ([ZEROS], Limits(unpacked=2 * MIB), "unpacks to 3.0 MiB, more than the 2.0 MiB that are read"),
    "unpacked together": ([Item(b"a", b"a"), Item(b"b", b"b")], Limits(unpacked=1), "unpacks to 2 bytes"),
    "what is replaced counts": ([Item(b"a", b"a"), Item(b"a", b"b")], Limits(unpacked=1), "unpacks to 2 bytes"),
    "packed": ([Item(b"a", b"a", STORED)], Limits(packed=99), "more than 99 bytes, which is not read"),
    "entries": ([Item(b"%d" % one) for one in range(6)], Limits(entries=5), "more than 5 entries, which is not read"),
    "folders": ([Item(b"a/b/c/d/e/f/g")], Limits(entries=5), "needs more than 5 folders, which are not made"),
    "name": ([Item(b"n" * 60)], Limits(name=50), "a name of 60 bytes; at most 50 are read"),
    "method": ([Item(b"a", b"a", 12)], Limits(), "a in the package uses compression method 12"),
    "encrypted": ([Item(b"a", b"a", central={"flags": 1})], Limits(), "a in the package is encrypted"),
    "shared bytes": (
        [Item(BINARY, b"a" * 99, STORED), Item(b"b", b"a" * 99, STORED, central={"offset": 0, "packed": 99}),
         Item(b"c", b"", STORED, central={"offset": 0, "packed": 600})],
        Limits(), "share the same bytes, or claim more than there are",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("items", "limit", "words"), BOUNDS.values(), ids=BOUNDS)
def test_bounds(items: list[Item], limit: Limits, words: str, tmp_path: Path) -> None:
    assert words in both(build(items), tmp_path, limit)


def test_what_is_within_the_bounds_is_read(tmp_path: Path) -> None:
    limits = Limits(packed=4096, unpacked=3 * MIB, ratio=1, ratio_from=3 * MIB, entries=1, name=5)
    assert both(build([ZEROS]), tmp_path, limits).startswith("h1:")


def bomb(said: int) -> bytes:
    """A package with one entry that inflates to 512 MiB, whatever it says."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = deflater.compress(bytes(MIB)) + deflater.flush(zlib.Z_FULL_FLUSH)
    again = deflater.compress(bytes(MIB)) + deflater.flush(zlib.Z_FULL_FLUSH)
    packed = start + again * 511 + b"\x03\x00"
    return build([Item(b"bomb", packed, STORED, local={"method": 8}, central={"method": 8, "size": said})])


def test_a_bomb_is_neither_inflated_nor_held() -> None:
    data, lying = bomb(512 * MIB), bomb(10)
    limit = Limits(ratio_from=4 * MIB)
    tracemalloc.start()
    try:
        with pytest.raises(PackageError, match=r"unpacks to 512.0 MiB, more than 50 times its .*: a bomb"):
            hash_package([data], limit=limit)
        with pytest.raises(PackageError, match="it has more than its 10 bytes"):
            hash_package([lying], limit=limit)
        assert tracemalloc.get_traced_memory()[1] < 40 * MIB
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_package() -> None:
    """Tens of megabytes pass; what is held are the blocks between two threads."""
    deflater = zlib.compressobj(1, zlib.DEFLATED, -15)
    text = bytes(range(256)) * 4096
    packed = deflater.compress(text) + deflater.flush(zlib.Z_FULL_FLUSH)
    times, crc = 64, 0
    for _ in range(times):
        crc = zlib.crc32(text, crc)
    said = {"crc": crc, "packed": len(packed) * times + 2, "size": len(text) * times}
    empty = build([Item(BINARY, b"", central={**said}, local={**said})])

    def arrives() -> Iterator[bytes]:
        start = empty.index(b"PK\x01\x02") - 2
        yield empty[:start]
        for _ in range(times):
            yield packed
        end = bytearray(empty[start:])
        end[-6:-2] = (start + len(packed) * times + 2).to_bytes(4, "little")
        yield bytes(end)

    tracemalloc.start()
    try:
        assert hash_package(arrives()).unpacked_size == 64 * MIB
        assert tracemalloc.get_traced_memory()[1] < 24 * MIB
    finally:
        tracemalloc.stop()


SMALL = {
    "deflated": build([Item(BINARY, b"hello\n" * 9), Item(b"a/"), Item(b"a/b", b"x")], comment=b"hi"),
    "with descriptors": build([Item(BINARY, b"hello\n" * 9, descriptor="PK and 32 bits"), TEXT]),
    "stored": build([Item(BINARY, b"hello\n", STORED), TEXT]),
    "odd": build([Item(BINARY, b"hello\n", STORED, "64 bits"), Item(b"w", b"x", is_wide=True)], prefix=b"#!"),
}


@pytest.mark.parametrize("data", SMALL.values(), ids=SMALL)
def test_broken_off_anywhere(data: bytes, tmp_path: Path) -> None:
    assert both(data, tmp_path, Limits()).startswith("h1:")
    for length in some(range(len(data)), 3):
        assert "not a complete zip file" in both(data[:length], tmp_path, Limits()), length


@pytest.mark.parametrize("data", SMALL.values(), ids=SMALL)
def test_bits_flipped(data: bytes, tmp_path: Path) -> None:
    """At least one of each fourth byte, of each byte in a full run. Many matter to nobody: times, versions, local headers; the others end in a sentence or another name."""
    plain = both(data, tmp_path, Limits())
    outcomes = []
    for bit in range(0, len(data) * 8, effort(29, 7)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        outcomes.append(both(bytes(flipped), tmp_path, Limits()))
    assert all(outcome.isprintable() for outcome in outcomes)
    assert 0 < outcomes.count(plain) < len(outcomes) * 2 / 3


def test_content_that_was_exchanged_is_found() -> None:
    data = build([PROVIDER, Item(b"x", b"y" * 500, STORED)])
    with pytest.raises(PackageError, match="its content is not the one that was packed"):
        hash_package([data.replace(b"y" * 500, b"z" * 500)])


def test_a_hostile_name_is_shown_harmless() -> None:
    with pytest.raises(PackageError) as caught:
        hash_package([build([Item(b"\x1b[2J\xff\n../..", b"x")])])
    assert str(caught.value) == "\\x1b[2J\\xff\\x0a../.. in the package leads out of its folder"
