from __future__ import annotations

import os
import sqlite3
import stat
from typing import TYPE_CHECKING

import pytest
from platformdirs import user_data_path

from locklens.storage.preferences import MarkStore, default_marks_path

if TYPE_CHECKING:
    from pathlib import Path

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store.sqlite3"


def test_marks_survive_and_are_kept_apart_by_repository(path: Path) -> None:
    store = MarkStore(path)
    store.mark("here", {"a": (), "b": ()})
    store.mark("here", {"a": ()})
    store.mark("there", {"c": ()})
    store.unmark("here", ["b", "never"])
    again = MarkStore(path)
    assert set(again.marks("here")) == {"a"}
    assert set(again.marks("there")) == {"c"}
    assert again.marks("nowhere") == {}
    assert again.take_notices() == ()
    assert again.is_kept


def test_marks_by_ids_of_earlier_versions_are_dropped_and_said(path: Path) -> None:
    """Such an id could stand for several changes; that the user looked at one of them cannot be carried over."""
    now = ["0" * 32, "finding:" + "0" * 32]
    MarkStore(path).mark("here", {"0123456789abcdef": (), "finding:0123456789abcdef": (), **dict.fromkeys(now, ())})
    MarkStore(path).mark("there", {"0123456789abcdef": ()})
    again = MarkStore(path)
    assert set(again.marks("here")) == set(now)
    (notice,) = again.take_notices()
    assert notice.startswith("2 marks of reviewed changes were dropped: ")
    assert set(again.marks("here")) == set(now)
    assert again.take_notices() == ()
    assert again.marks("there") == {}
    assert again.take_notices()[0].startswith("1 mark of a reviewed change was dropped: ")


def test_a_mark_has_the_findings_of_the_last_time_that_it_was_set(path: Path) -> None:
    MarkStore(path).mark("here", {"a": {"LK003", "LK010"}, "b": ()})
    assert MarkStore(path).marks("here") == {"a": {"LK003", "LK010"}, "b": frozenset()}
    MarkStore(path).mark("here", {"a": {"LK002"}})
    assert MarkStore(path).marks("here") == {"a": {"LK002"}, "b": frozenset()}


def test_the_time_of_a_mark_is_the_first_one(path: Path) -> None:
    store = MarkStore(path)
    store.mark("here", {"a": ()})
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE marks SET marked_at = 'then'")
    store.mark("here", {"a": ()})
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT marked_at FROM marks").fetchall() == [("then",)]


@posix_only
def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    MarkStore(tmp_path / "store.sqlite3").mark("here", {"a": ()})
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_it_lies_in_the_data_folder_not_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_marks_path() == user_data_path("locklens", appauthor=False) / "store.sqlite3"
