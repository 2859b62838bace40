"""Folders that are entered without following links, also where one is exchanged meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from kit.waiting import LIMIT

from locklens.errors import ConfigurationError
from locklens.storage import files
from locklens.storage.files import OpenFolders, RealFolder, exclusive_lock, leads_through_link, lock_within

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links of POSIX")


@pytest.fixture(params=["descriptors", "paths"])
def top(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trusted folder, reached by a link; also as on systems that open no folders."""
    if request.param == "paths":
        monkeypatch.setattr(files, "_HAS_DESCRIPTORS", False)
    (tmp_path / "real").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "top").symlink_to("real")
    return tmp_path / "top"


def test_missing_folders_are_made_and_go_again_where_nothing_is_in_them(top: Path) -> None:
    with OpenFolders(top, ("a", "b", "c")) as way:
        way.end.make("d")
        way.end.remove_empty("d")
        assert (top / "a/b/c").is_dir()
        way.tidy()
    assert list(top.iterdir()) == []
    with OpenFolders(top, ("a", "b", "c")) as way:
        (top / "a" / "file").touch()
        way.tidy()
    assert [path.name for path in (top / "a").iterdir()] == ["file"]


def test_folders_that_several_made_go_with_the_last_that_leaves_them_empty(top: Path) -> None:
    made = set[Path]()
    with OpenFolders(top / "new/one", ("a", "b"), made) as first:
        with OpenFolders(top / "new/one", ("a", "c"), made) as second:
            first.tidy()
            assert [path.name for path in (top / "new/one/a").iterdir()] == ["c"]
            second.tidy()
            assert list((top / "new/one").iterdir()) == []
        first.tidy()
    assert list(top.iterdir()) == []


def test_a_lock_leaves_no_empty_folder_that_it_made(top: Path) -> None:
    with exclusive_lock(top / "new", ("a", "lock")):
        assert (top / "new/a/lock").exists()
    assert list(top.iterdir()) == []
    (top / "there").mkdir()
    with exclusive_lock(top / "there", ("a", "lock")):
        (top / "there/a/file").touch()
    assert [path.name for path in (top / "there/a").iterdir()] == ["file"]
    (top / "empty").mkdir()
    with exclusive_lock(top / "empty", ("lock",)):
        pass
    assert (top / "empty").is_dir(), "it was there before"


@pytest.mark.parametrize("name", ["a", "a/b", "a/b/c"])
def test_a_link_is_not_entered_and_what_was_made_is_gone(top: Path, name: str) -> None:
    link = top / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(top.parent / "outside")
    assert leads_through_link(top, ("a", "b", "c"))
    with pytest.raises(ConfigurationError, match=f"{name}: it is a link") as caught:
        OpenFolders(top, ("a", "b", "c", "d"))
    assert "TF_DATA_DIR" in caught.value.hint
    assert list((top.parent / "outside").iterdir()) == []
    assert link.is_symlink()


def test_what_is_real_or_missing_leads_through_no_link(top: Path) -> None:
    (top / "a" / "b").mkdir(parents=True)
    assert not leads_through_link(top, ("a", "b", "missing", "c"))
    (top / "a" / "file").touch()
    assert leads_through_link(top, ("a", "file", "c"))


def test_a_link_that_takes_the_place_of_a_folder_is_not_followed(top: Path) -> None:
    if not files._HAS_DESCRIPTORS:
        pytest.skip("takes folders that are held open")
    outside = top.parent / "outside"
    with OpenFolders(top, ("a", "b")) as way:
        (top / "a").rename(top / "moved")
        (top / "a").symlink_to(outside)
        (outside / "b").mkdir()
        way.end.make("c")
        with way.end.enter("c") as inner:
            os.close(inner.open("file", os.O_WRONLY | os.O_CREAT))
            inner.move("file", way.end, "file")
        way.end.remove_tree("c")
    assert [path.name for path in (top / "moved" / "b").iterdir()] == ["file"]
    assert list((outside / "b").iterdir()) == []


def test_a_tree_is_removed_and_what_links_in_it_lead_to_stays(top: Path) -> None:
    outside = top.parent / "outside"
    (outside / "mine").touch()
    (top / "tree" / "inner").mkdir(parents=True)
    (top / "tree" / "inner" / "link").symlink_to(outside)
    (top / "link").symlink_to(outside)
    with RealFolder(top) as folder:
        folder.remove_tree("tree")
        folder.remove_tree("link")
        assert folder.status("tree") is None
        assert folder.names() == ["link"]
    assert (outside / "mine").exists()


def test_a_turn_is_not_taken_through_a_link(top: Path) -> None:
    outside = top.parent / "outside"
    (top / "a").mkdir()
    (top / "a" / "lock").symlink_to(outside / "made")
    with pytest.raises(ConfigurationError, match="lock: it is a link"), exclusive_lock(top, ("a", "lock")):
        pass
    with pytest.raises(OSError, match="symbolic links"), lock_within(top / "a" / "lock", 0):
        pass
    assert not (outside / "made").exists()
    with exclusive_lock(top, ("b", "lock")):
        assert (top / "b" / "lock").is_file()


def test_a_turn_leaves_no_file_and_whoever_waited_has_one_with_a_name(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locklens.storage.files._NOTICE_SECONDS", -1.0)
    waits, found = threading.Event(), []

    def wait_for_it() -> None:
        with exclusive_lock(top, ("a", "lock"), on_waiting=waits.set):
            found.append((top / "a" / "lock").exists())

    waiting = threading.Thread(target=wait_for_it)
    with exclusive_lock(top, ("a", "lock")):
        waiting.start()
        assert waits.wait(LIMIT)
        assert (top / "a" / "lock").exists()
    waiting.join()
    assert found == [True], "the next one would take another file"
    assert not list(top.rglob("lock"))


@pytest.mark.parametrize("names", [("lock",), ("a", "b", "lock")])
def test_turns_never_overlap_though_each_removes_its_file(
    top: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    monkeypatch.setattr("locklens.storage.files._RETRY_SECONDS", 0.0)
    inside: list[int] = []
    overlaps: list[list[int]] = []

    def take_turns(name: int) -> None:
        for _ in range(50):
            with exclusive_lock(top, names):
                inside.append(name)
                overlaps.extend([list(inside)] if len(inside) > 1 else [])
                inside.remove(name)

    threads = [threading.Thread(target=take_turns, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (overlaps, list(top.rglob("lock"))) == ([], [])
