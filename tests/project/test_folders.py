"""Polling of a repository's files, on a real disk."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from locklens.project import folders
from locklens.project.folders import FileWatch

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK = ".terraform.lock.hcl"
LONG_AGO = 1_700_000_000


def put(top: Path, *names: str, text: str = "1") -> None:
    for name in names:
        place = top / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def aged(top: Path) -> None:
    """Gives everything an old time, so that each folder's time is one that a later change does not repeat."""
    for folder, _, files in os.walk(top):
        for name in (*files, ""):
            os.utime(Path(folder, name), (LONG_AGO, LONG_AGO))


def below(top: Path, paths: tuple[str, ...]) -> set[str]:
    return {os.path.relpath(path, top).replace(os.sep, "/") for path in paths}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    put(tmp_path / "top", f"a/{LOCK}", "a/main.tf", "a/notes.md", "modules/m/x.tf", "docs/readme.md", "locklens.toml")
    aged(tmp_path / "top")
    return tmp_path / "top"


EDITS: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "nothing": (lambda _: None, set()),
    "edited": (lambda top: put(top, "a/main.tf", text="22"), {"a/main.tf"}),
    "replaced": (lambda top: (top / "a/notes.md").replace(top / "a/main.tf"), {"a/main.tf"}),
    "removed": (lambda top: (top / "a" / LOCK).unlink(), {f"a/{LOCK}"}),
    "added": (lambda top: put(top, "docs/b.tofu.json"), {"docs/b.tofu.json"}),
    "renamed": (lambda top: (top / "a").rename(top / "b"), {f"{x}/{y}" for x in "ab" for y in (LOCK, "main.tf")}),
    "new root": (lambda top: put(top, f"docs/new/deep/{LOCK}"), {f"docs/new/deep/{LOCK}"}),
    "module": (lambda top: put(top, "modules/m/x.tf", text="22"), {"modules/m/x.tf"}),
    "policy": (lambda top: (top / "locklens.toml").unlink(), {"locklens.toml"}),
    "other files": (lambda top: put(top, "a/notes.md", "a/.main.tf.swp", "a/.#main.tf", "a/x.tf~", text="22"), set()),
    "downloads": (lambda top: put(top, f"a/.terraform/modules/x/{LOCK}", ".git/x.tf", "a/.terraform/m.tf"), set()),
    "another repository": (lambda top: put(top, "sub/.git", "sub/main.tf"), set()),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_change_is_named_until_it_is_read(top: Path, edit: str) -> None:
    change, expected = EDITS[edit]
    watched = FileWatch(top)
    assert watched.poll() == ()
    change(top)
    assert below(top, watched.poll()) == expected
    assert below(top, watched.poll()) == expected
    watched.restart()
    assert watched.poll() == ()
    put(top, "a/main.tf", "docs/late/y.tf", text="333")
    assert below(top, watched.poll()) == {"a/main.tf", "docs/late/y.tf"}


def test_names_that_appear_at_the_same_time_as_the_listing_are_seen(top: Path) -> None:
    """Two names within one step of the disk's clock leave the same time on the folder."""
    put(top, "docs/one.tf")
    watched = FileWatch(top)
    time_of_folder = (top / "docs").stat().st_mtime_ns
    put(top, "docs/two.tf")
    os.utime(top / "docs", ns=(time_of_folder, time_of_folder))
    assert below(top, watched.poll()) == {"docs/two.tf"}


def test_what_was_edited_while_it_was_read_counts(top: Path) -> None:
    began = time.time_ns()
    put(top, "a/main.tf", text="22")
    os.utime(top / "a/main.tf", ns=(began, began))
    os.utime(top / "a" / LOCK, ns=(began + 10**15, began + 10**15))  # a clock that is wrong
    watched = FileWatch(top, since_ns=began)
    assert below(top, watched.poll()) == {"a/main.tf"}
    watched.restart()
    assert watched.poll() == ()


def test_single_files(tmp_path: Path) -> None:
    names = ("same", "edited", "deleted", "added")
    same, edited, deleted, added = paths = [tmp_path / name for name in names]
    for path in (same, edited, deleted):
        path.write_text("1")
    watched = FileWatch(None, paths)
    assert not watched.is_whole
    edited.write_text("22")
    deleted.unlink()
    added.write_text("")
    assert watched.poll() == (str(edited), str(deleted), str(added))


def test_links_to_folders_are_not_followed(top: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    try:
        (top / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
        (top / "loop").symlink_to(top, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    watched = FileWatch(top)
    put(tmp_path / "elsewhere", "main.tf")
    put(top, "a/main.tf", text="22")
    assert below(top, watched.poll()) == {"a/main.tf"}


def test_a_poll_takes_one_stat_for_each_folder_and_watched_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = 200
    for number in range(roots):
        put(tmp_path, *(f"teams/{number // 100}/{number}/{name}" for name in (LOCK, "main.tf", "x.tf", "notes.md")))
    aged(tmp_path)
    watched = FileWatch(tmp_path)
    calls: list[str] = []

    def counted(name: str) -> Callable[[str], Any]:
        real = getattr(os, name)

        def call(place: str) -> Any:
            calls.append(name)
            return real(place)

        return call

    for name in ("stat", "scandir"):
        monkeypatch.setattr(os, name, counted(name))
    assert watched.poll() == ()
    monkeypatch.undo()
    folders = 1 + 1 + 2 + roots
    assert (calls.count("stat"), calls.count("scandir")) == (folders + 3 * roots, 0)


def test_folders_beyond_the_bound_are_left_out(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MAX_WATCHED_FOLDERS", 3)
    watched = FileWatch(top, [top / "modules/m/x.tf"])
    assert watched.is_partial
    put(top, "a/main.tf", "modules/m/x.tf", "modules/m/y.tf", text="22")
    assert below(top, watched.poll()) == {"a/main.tf", "modules/m/x.tf"}
