"""Random packages, honest ones and hostile ones: hashed while they arrive, unpacked, and the folder hashed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.effort import effort
from packages.zips import BINARY, DESCRIPTORS, FILE, FOLDER, LINK, PROGRAM, Item, build, unpacked

from locklens.errors import PackageError
from locklens.packages.hashing import hash_package
from locklens.packages.installed import h1_of_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")

PLAIN = st.sampled_from([BINARY, b"a", b"b", b"a/b", b"c/d", b"c/", b"./b", b"e//f", b"/g", b"h\\i", b"j..k", b"\xff"])
NAMES = PLAIN | st.binary(max_size=12) | st.sampled_from([b"..", b"../a", b"a/../b", b".", b"", b"n\nl", b"c"])
SMALL = st.sampled_from([0, 1, 2, 8, 30, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF])
LIES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "flags": st.sampled_from([0, 8, 0x800, 0x808]),
        "method": st.sampled_from([0, 8, 9, 12]),
        "crc": SMALL,
        "packed": SMALL,
        "size": SMALL,
        "extra": st.binary(max_size=24) | st.just(b"\x01\x00\x08\x00" + bytes(8)),
    },
)
NO_LIES: st.SearchStrategy[dict[str, Any]] = st.just({})


END: st.SearchStrategy[dict[str, int]] = st.just({}) | st.fixed_dictionaries(
    {}, optional={"count": SMALL, "size": SMALL, "offset": SMALL}
)


def items(names: st.SearchStrategy[bytes], lies: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Item]:
    return st.builds(
        Item,
        name=names,
        content=st.binary(max_size=200) | st.binary(max_size=3).map(lambda some: some * 30_000),
        method=st.sampled_from([0, 8]),
        descriptor=st.sampled_from(["", *DESCRIPTORS]),
        local=lies,
        central=lies,
        is_wide=st.booleans(),
        is_listed=st.sampled_from([True, True, True, False]),
        system=st.sampled_from([3, 0, 6, 11, 19]),
        attributes=st.sampled_from([FILE, PROGRAM, LINK, FOLDER, 0x10]),
    )


def agreed(data: bytes, step: int) -> str:
    """The h1, or "" where all ways refuse the package."""
    with tempfile.TemporaryDirectory() as folder:
        archive, into = Path(folder) / "package.zip", Path(folder) / "into"
        archive.write_bytes(data)
        chunks = (data[at : at + step] for at in range(0, len(data), step))
        refusals = []
        try:
            unpacked_h1 = unpacked(archive, into)
        except PackageError as error:
            refusals.append(str(error))
        try:
            hashed = hash_package(chunks)
        except PackageError as error:
            refusals.append(str(error))
        if refusals:
            assert refusals == refusals[:1] * 2
            assert not into.exists()
            return ""
        for path in into.rglob("*"):
            if path.is_file():
                path.chmod(0o600)
        assert hashed.h1 == unpacked_h1 == h1_of_folder(into)
        files = [path for path in into.rglob("*") if path.is_file()]
        assert (hashed.files, hashed.unpacked_size) == (len(files), sum(path.stat().st_size for path in files))
        assert sorted(path.name for path in Path(folder).iterdir()) == ["into", "package.zip"]
        return hashed.h1


@settings(max_examples=effort(50, 1000))
@given(
    entries=st.lists(items(PLAIN, NO_LIES), max_size=6),
    prefix=st.binary(max_size=9),
    comment=st.binary(max_size=30),
    is_wide=st.booleans(),
    step=st.integers(1, 3000),
)
def test_honest_packages(entries: list[Item], prefix: bytes, comment: bytes, is_wide: bool, step: int) -> None:
    agreed(build(entries, prefix=prefix, counts_prefix=True, comment=comment, is_wide=is_wide), step)


@settings(max_examples=effort(50, 1000))
@given(
    entries=st.lists(items(NAMES, NO_LIES | LIES), min_size=1, max_size=4),
    gap=st.binary(max_size=9),
    end=END,
    flips=st.lists(st.tuples(st.integers(0), st.integers(0, 7)), max_size=2),
    step=st.integers(1, 3000),
)
def test_hostile_packages(
    entries: list[Item], gap: bytes, end: dict[str, int], flips: list[tuple[int, int]], step: int
) -> None:
    data = bytearray(build(entries, gap=gap, end=end))
    for place, bit in flips:
        data[place % len(data)] ^= 1 << bit
    agreed(bytes(data), step)


@settings(max_examples=effort(50, 1000))
@given(st.binary(max_size=200), st.integers(1, 99))
def test_bytes_of_any_kind(data: bytes, step: int) -> None:
    assert agreed(data, step) == ""
