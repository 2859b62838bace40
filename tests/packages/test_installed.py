"""The h1 of a folder that anybody may have filled: what the tools compute, within bounds, and nothing from outside."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest
from test_hashes import FOLDERS, lay

from locklens.errors import RunCancelledError
from locklens.packages import Limits
from locklens.packages.installed import file_digests, h1_of_folder

LIMITS = Limits()
posix_only = pytest.mark.skipif(os.name != "posix", reason="links, devices and pipes")


@pytest.mark.parametrize(("contents", "expected"), FOLDERS.values(), ids=FOLDERS.keys())
def test_h1_of_a_folder(tmp_path: Path, contents: dict[str, str], expected: str) -> None:
    assert h1_of_folder(lay(tmp_path, contents)) == expected


@posix_only
def test_links_count_as_the_file_below_that_they_lead_to_and_hidden_files_count(tmp_path: Path) -> None:
    plain = lay(tmp_path / "plain", {"a": "x", "b/c": "x", ".hidden": "y"})
    linked = lay(tmp_path / "linked", {"b/c": "x", ".hidden": "y"})
    (linked / "a").symlink_to("b/../b/c")
    (tmp_path / "cached").symlink_to(linked)
    assert len({h1_of_folder(one) for one in (plain, linked, tmp_path / "cached")}) == 1


@posix_only
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/dev/zero", "leads out"),
        ("../beside", "leads out"),
        ("..", "leads out"),
        (".", "leads out"),
        ("sub", "directory"),
        ("pipe", "not a regular file"),
        ("nowhere", "No such file"),
        ("link", "Too many levels|not a regular file"),
    ],
)
def test_what_is_no_file_below_the_folder_cannot_be_hashed(tmp_path: Path, target: str, words: str) -> None:
    (tmp_path / "beside").write_text("x")
    folder = lay(tmp_path / "package", {"a": "x", "sub/b": "y"})
    if target == "pipe":
        os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(target)
    with pytest.raises(OSError, match=words):
        h1_of_folder(folder)


@posix_only
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        h1_of_folder(tmp_path)


BOUNDS = {
    "bytes": (Limits(unpacked=3), "more than 3 bytes"),
    "files": (Limits(entries=3), "more than 3 files"),
    "folders": (Limits(entries=1), "more than 1 folders"),
}


@pytest.mark.parametrize(("limit", "words"), BOUNDS.values(), ids=BOUNDS)
def test_bounds(tmp_path: Path, limit: Limits, words: str) -> None:
    contents = {"a/b/c": ""} if words.endswith("folders") else dict.fromkeys("abcd", "x")
    with pytest.raises(ValueError, match=words):
        file_digests(lay(tmp_path, contents), limit=limit)


def test_what_is_within_the_bounds_is_hashed(tmp_path: Path) -> None:
    assert file_digests(lay(tmp_path, dict.fromkeys("abcd", "x")), limit=Limits(unpacked=4, entries=4))


@posix_only
def test_folders_nested_as_deeply_as_names_go(tmp_path: Path) -> None:
    depth = 1_500
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    try:
        assert h1_of_folder(tmp_path).startswith("h1:")
    finally:
        # Python's own removal, with which the temporary folder goes, calls itself for each level.
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_cancelled_between_blocks_and_names(tmp_path: Path) -> None:
    class Cancelling(threading.Event):
        looks = 0

        def is_set(self) -> bool:
            self.looks += 1
            return self.looks > 9

    cancel = Cancelling()
    with (tmp_path / "large").open("wb") as file:
        file.truncate(64 << 20)
    with pytest.raises(RunCancelledError):
        file_digests(tmp_path, cancel=cancel)
    assert cancel.looks == 10
