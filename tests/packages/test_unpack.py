"""Unpacking a package: the files of the zip file, and nothing else anywhere."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from kit.repositories import put
from packages.odd import ACCEPTED, PROVIDER, REFUSED, TEXT
from packages.zips import BINARY, FILE, LINK, PROGRAM, STORED, Item, build, unpacked

from locklens.errors import ConfigurationError, PackageError, RunCancelledError
from locklens.packages import PackageLayout
from locklens.packages.hashing import hash_package
from locklens.packages.installed import h1_of_folder
from locklens.packages.unpack import check_names_for_windows

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")


def archive(folder: Path, data: bytes) -> Path:
    path = folder / "package.zip"
    path.write_bytes(data)
    return path


def test_a_package(tmp_path: Path) -> None:
    data = build([Item(b"docs/"), Item(b"docs/a/b.md", b"# hi\n"), Item(BINARY, b"hello\n", attributes=PROGRAM)])
    h1 = unpacked(archive(tmp_path, data), tmp_path / "into")
    assert h1 == h1_of_folder(tmp_path / "into") == hash_package([data]).h1
    assert (tmp_path / "into" / "docs" / "a" / "b.md").read_bytes() == b"# hi\n"
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "into" / os.fsdecode(BINARY)).stat().st_mode) == 0o755


@only_linux
@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_odd_packages(data: bytes, tmp_path: Path) -> None:
    into = tmp_path / "into"
    h1 = unpacked(archive(tmp_path, data), into)
    assert h1 == hash_package([data]).h1
    for path in into.rglob("*"):
        assert not path.is_symlink()
        if path.is_file():
            assert not stat.S_IMODE(path.stat().st_mode) & 0o7000
            path.chmod(0o600)
    assert h1_of_folder(into) == h1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["into", "package.zip"]


@pytest.mark.parametrize(("data", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_unpacked_leaves_nothing(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for into in (tmp_path / "into", tmp_path / "empty"):
        with pytest.raises(PackageError) as caught:
            unpacked(archive(tmp_path, data), into)
        assert words in str(caught.value)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "package.zip"]


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_permissions_are_the_zip_files_and_folders_follow_the_umask(tmp_path: Path) -> None:
    data = build([PROVIDER, Item(b"a/open", b"x", attributes=0o100666 << 16), Item(b"a/shut", b"x", attributes=0)])
    old = os.umask(0o077)
    try:
        unpacked(archive(tmp_path, data), tmp_path / "into")
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "into").rglob("*")}
    assert modes == {BINARY.decode(): 0o755, "a": 0o700, "open": 0o666, "shut": 0}
    assert stat.S_IMODE((tmp_path / "into").stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_the_last_of_a_name_gives_content_and_permissions(tmp_path: Path) -> None:
    data = build([Item(b"x", b"long" * 9, attributes=PROGRAM), TEXT, Item(b"./x", b"short", attributes=FILE)])
    unpacked(archive(tmp_path, data), tmp_path / "into")
    assert (tmp_path / "into" / "x").read_bytes() == b"short"
    assert stat.S_IMODE((tmp_path / "into" / "x").stat().st_mode) == 0o644


def test_a_link_becomes_a_file_through_which_nothing_is_written(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = os.fsencode(outside)
    link = Item(b"link", target, attributes=LINK)
    unpacked(archive(tmp_path, build([PROVIDER, link])), tmp_path / "into")
    assert (tmp_path / "into" / "link").read_bytes() == target
    with pytest.raises(PackageError, match="link/x in the package is a file and a folder"):
        unpacked(archive(tmp_path, build([link, Item(b"link/x", b"y")])), tmp_path / "other")
    assert list(outside.iterdir()) == []


def test_only_into_an_empty_folder(tmp_path: Path) -> None:
    package = archive(tmp_path, build([PROVIDER]))
    put(tmp_path / "full", {"kept": "x"})
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    for name, words in (
        ("full", "full: is not an empty folder"),
        ("file", "file: is not an empty folder"),
        ("missing/into", "into: cannot be unpacked: No such file or directory"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            unpacked(package, tmp_path / name)
    assert (tmp_path / "full" / "kept").read_text() == "x"
    assert unpacked(package, tmp_path / "empty") == h1_of_folder(tmp_path / "empty")


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_not_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigurationError, match="is not an empty folder"):
        unpacked(archive(tmp_path, build([PROVIDER])), tmp_path / "link")
    assert list((tmp_path / "real").iterdir()) == []


def test_what_stops_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = archive(tmp_path, build([PROVIDER, Item(b"a/b", b"x" * 99, STORED)]))
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(RunCancelledError):
        unpacked(package, tmp_path / "into", cancel=cancel)
    assert not (tmp_path / "into").exists()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("locklens.packages.unpack._Content.update", full)
    with pytest.raises(ConfigurationError, match="into: cannot be unpacked: No space left on device"):
        unpacked(package, tmp_path / "into")
    monkeypatch.setattr("locklens.packages.unpack._Content.update", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    (tmp_path / "empty").mkdir()
    with pytest.raises(KeyboardInterrupt):
        unpacked(package, tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "package.zip"]
    assert list((tmp_path / "empty").iterdir()) == []


def test_two_names_that_are_one_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that does not tell upper case from lower case."""
    monkeypatch.setattr("locklens.packages.unpack._Folder._inside", lambda self, path: self._top + b"/" + path.lower())
    with pytest.raises(PackageError, match="have the same name on this file system"):
        unpacked(archive(tmp_path, build([Item(b"A", b"1"), Item(b"a", b"2")])), tmp_path / "into")
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize(
    "name",
    [
        b"C:x",
        b"a\\b",
        b"x:stream",
        b"con",
        b"docs/NUL.txt",
        b"com1 .tar",
        b"x.",
        b"x ",
        b"a|b",
        b"a?",
        b"\xff",
        b"\x01",
    ],
)
def test_names_that_windows_takes_for_another(name: bytes) -> None:
    with pytest.raises(PackageError, match="on Windows"):
        check_names_for_windows(PackageLayout((), {}, (name,)))


def test_names_that_windows_takes_as_they_are() -> None:
    check_names_for_windows(
        PackageLayout((), {}, (BINARY + b".exe", b".hidden", b"console", "é/a b.txt".encode(), b"foo..bar"))
    )
