from __future__ import annotations

import os
import sqlite3

import pytest
from kit.command_line import Run, runner

from locklens.hashes import HashedPackage
from locklens.storage.cache import Cache, RememberedAnswer, default_cache_path
from locklens.storage.preferences import MarkStore


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def fill() -> None:
    with Cache() as cache:
        for number, day in enumerate(("2999-11-20", "2999-11-21")):
            url = f"https://a.test/{number}"
            cache.keep_answer(RememberedAnswer(url, False, 200, url, None, os.urandom(3000), f"{day}T14:02:09Z"))
        cache.keep_verification("key", b"data")
        for number in range(3):
            cache.keep_package(HashedPackage(f"zh:{number}", "h1:", 1, 1, 1))


def test_what_is_remembered(run: Run) -> None:
    status, out, err = run("cache", "info")
    assert (status, err) == (0, "")
    assert out.splitlines()[:3] == [
        f"file           {default_cache_path()}",
        "size           0 bytes",
        "answers        0",
    ]
    assert not default_cache_path().exists()
    fill()
    status, out, err = run("cache", "info")
    assert (status, err) == (0, "")
    told = dict(line.split(None, 1) for line in out.splitlines())
    assert told["size"].endswith(" KiB")
    assert told["answers"] == "2, asked from 2999-11-20T14:02:09Z to 2999-11-21T14:02:09Z"
    assert (told["verifications"], told["packages"]) == ("1", "3")


def test_clearing_it(run: Run) -> None:
    fill()
    MarkStore().mark("here", {"a": ()})
    assert run("cache", "clear") == (0, f"cleared {default_cache_path()}; marks are kept\n", "")
    assert "answers        0\n" in run("cache", "info")[1]
    assert run("cache", "clear")[0] == 0
    assert set(MarkStore().marks("here")) == {"a"}


def test_a_damaged_file(run: Run) -> None:
    default_cache_path().parent.mkdir(parents=True)
    default_cache_path().write_bytes(b"no database at all" * 1000)
    status, out, err = run("cache", "info")
    assert status == 0
    assert err.startswith("warning: The cache was damaged; it was set aside as ")
    assert "answers        0\n" in out
    assert run("cache", "clear")[0] == 0
    assert [each.name for each in default_cache_path().parent.iterdir()] == [default_cache_path().name]


def test_a_newer_file(run: Run) -> None:
    fill()
    with sqlite3.connect(default_cache_path()) as connection:
        connection.execute("PRAGMA user_version = 99")
    status, out, err = run("cache", "info")
    assert (status, out) == (2, "")
    assert err.startswith(
        f"error: Cached answers last for this run only: {default_cache_path()} cannot be used (it was"
    )
    assert err.endswith("\nhint: locklens cache clear removes it\n")
    assert run("cache", "clear")[0] == 0
    assert run("cache", "info")[0] == 0


def test_a_file_that_cannot_be_cleared(run: Run) -> None:
    default_cache_path().mkdir(parents=True)
    status, out, err = run("cache", "clear")
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {default_cache_path()}: cannot be cleared: ")


@pytest.mark.parametrize(
    "argv", [["cache"], ["cache", "empty"], ["cache", "info", "more"], ["cache", "info", "--json"]]
)
def test_bad_usage(run: Run, argv: list[str]) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert "see locklens cache --help" in err
