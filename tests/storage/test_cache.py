from __future__ import annotations

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from platformdirs import user_cache_path

from locklens.errors import ConfigurationError
from locklens.hashes import HashedPackage
from locklens.storage import cache as cachefile
from locklens.storage.cache import MOST_BODY, Cache, RememberedAnswer, default_cache_path
from locklens.storage.preferences import MarkStore

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
URL = "https://registry.acme.test/v1/acme/x/versions"
SECRET = "s3cr3t-signature"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "cache.sqlite3"


def ago(**time: int) -> str:
    return cachefile.timestamp(datetime.now(UTC) - timedelta(**time))


def answer(url: str = URL, body: bytes = b"{}", as_of: str = "", *, with_token: bool = False) -> RememberedAnswer:
    return RememberedAnswer(url, with_token, 200, url, "application/json", body, as_of or ago())


def package(number: int) -> HashedPackage:
    return HashedPackage(f"zh:{number:064x}", f"h1:{number}", 10, 20, 2)


def kept(path: Path, *answers: RememberedAnswer) -> None:
    with Cache(path) as cache:
        for each in answers:
            cache.keep_answer(each)


def test_everything_is_there_at_once_and_in_the_next_run(path: Path) -> None:
    with Cache(path) as cache:
        assert cache.answer(URL, with_token=False) is None
        cache.keep_answer(answer())
        cache.keep_verification("key", b"data")
        cache.keep_package(package(1))
        cache.keep_inspection(package(1).zh, b"inside")
        for _ in range(2):
            assert cache.answer(URL, with_token=False) == answer(as_of=cache.info().newest or "")
            assert cache.verification("key") == b"data"
            assert cache.package(package(1).zh) == package(1)
            assert cache.inspection(package(1).zh) == b"inside"
            assert cache.hashes([package(1).zh, package(2).zh]) == {package(1).zh: {"h1:1"}}
            cache.flush()
    with Cache(path) as again:
        assert again.answer(URL, with_token=False) is not None
        assert (again.verification("key"), again.verification("other")) == (b"data", None)
        assert (again.package(package(1).zh), again.package(package(2).zh)) == (package(1), None)
        assert again.hashes(package(number).zh for number in range(3000)) == {package(1).zh: {"h1:1"}}
        assert (again.inspection(package(1).zh), again.inspection(package(2).zh)) == (b"inside", None)
        assert again.take_notices() == ()
        assert again.is_kept


def test_the_last_answer_counts(path: Path) -> None:
    kept(path, answer(body=b"old"), answer(body=b"new"))
    kept(path, answer(body=b"newest"))
    with Cache(path) as cache:
        found = cache.answer(URL, with_token=False)
        assert found is not None
        assert found.body == b"newest"
        assert cache.info().answers == 1


def test_what_a_token_bought_stays_apart(path: Path) -> None:
    kept(path, answer(body=b"public"), answer(body=b"private", with_token=True))
    with Cache(path) as cache:
        bodies = [found.body for token in (False, True) if (found := cache.answer(URL, with_token=token))]
    assert bodies == [b"public", b"private"]


def test_no_query_and_no_url_that_was_asked_is_in_the_file(path: Path) -> None:
    asked = f"https://secret-host.test/sums?X-Signature={SECRET}"
    redirected = f"https://files.test/sums?X-Signature={SECRET}"
    with Cache(path) as cache:
        cache.keep_answer(answer(asked))
        cache.keep_answer(RememberedAnswer(URL, False, 200, redirected, None, b"x", ago()))
        cache.flush()
        content = b"".join(each.read_bytes() for each in path.parent.iterdir())
    content += path.read_bytes()
    assert SECRET.encode() not in content
    assert b"secret-host" not in content
    with Cache(path) as cache:
        found, other = cache.answer(asked, with_token=False), cache.answer(URL, with_token=False)
    assert found is not None
    assert found.final_url == asked
    assert other is not None
    assert other.final_url == "https://files.test/sums"


@given(st.text(), st.binary(), st.text(alphabet=st.characters(codec="utf-8")), st.booleans())
def test_any_answer_comes_back(url: str, body: bytes, content_type: str, with_token: bool) -> None:
    cache = Cache.in_memory()
    given_answer = RememberedAnswer(url, with_token, 404, url, content_type[:200] or None, body, ago())
    cache.keep_answer(given_answer)
    cache.flush()
    assert cache.answer(url, with_token=with_token) == given_answer
    assert cache.answer(url, with_token=not with_token) is None


@given(st.lists(st.text()))
def test_any_text_may_be_looked_up_as_a_hash(texts: list[str]) -> None:
    cache = Cache.in_memory()
    assert cache.hashes(texts) == {}
    assert [cache.package(text) for text in ["\ud800", *texts]] == [None] * (len(texts) + 1)


def test_a_body_that_is_too_large_or_spoilt_is_not_remembered(path: Path) -> None:
    kept(path, answer("https://a.test/large", bytes(MOST_BODY + 1)), answer("https://a.test/fine", b"x" * 9999))
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT COUNT(*), MAX(size) < 100 FROM answers").fetchone() == (1, 1)
        connection.execute("UPDATE answers SET body = ?", (b"no such thing",))
    with Cache(path) as cache:
        assert cache.answer("https://a.test/large", with_token=False) is None
        assert cache.answer("https://a.test/fine", with_token=False) is None
        cache.keep_answer(answer("https://a.test/fine"))
        assert cache.answer("https://a.test/fine", with_token=False) is not None


def test_what_is_old_goes_and_hashes_stay(path: Path) -> None:
    with Cache(path) as cache:
        cache.keep_answer(answer("https://a.test/old", as_of=ago(days=91)))
        cache.keep_answer(answer("https://a.test/young", as_of=ago(days=89)))
        cache.keep_verification("old", b"1")
        cache.keep_package(package(1))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE verifications SET made_at = ?", (ago(days=91),))
        connection.execute(f"UPDATE {cachefile._PACKAGES} SET proven_at = ?", (ago(days=9999),))
    with Cache(path) as cache:
        assert cache.answer("https://a.test/old", with_token=False) is None
        cache.keep_verification("young", b"2")
        info = cache.info()
        assert (info.answers, info.verifications, info.packages) == (1, 1, 1)
        assert info.oldest == info.newest


def test_the_oldest_inspections_go_where_there_are_too_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cachefile._ROWS, "inspections", replace(cachefile._ROWS["inspections"], most=10_000))
    with Cache(path) as cache:
        for number in range(20):
            cache.keep_inspection(f"zh:{number}", os.urandom(1000))
        cache.flush()
        kept = [number for number in range(20) if cache.inspection(f"zh:{number}") is not None]
    assert kept == list(range(11, 20))


def test_the_oldest_answers_go_where_there_are_too_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cachefile._ROWS, "answers", replace(cachefile._ROWS["answers"], most=10_000))
    urls = [f"https://a.test/{number}" for number in range(20)]
    with Cache(path) as cache:
        for number, url in enumerate(urls):
            cache.keep_answer(answer(url, os.urandom(1000), ago(hours=number)))
        cache.keep_package(package(1))
        cache.flush()
        found = [cache.answer(url, with_token=False) is not None for url in urls]
        assert found == [True] * 9 + [False] * 11
        assert cache.info().packages == 1


def test_much_is_written_before_the_end(path: Path) -> None:
    cache = Cache(path)
    for number in range(300):
        cache.keep_answer(answer(f"https://a.test/{number}"))
    with Cache(path) as other:
        assert other.info().answers == 256
    cache.close()
    with Cache(path) as other:
        assert other.info().answers == 300
    cache.keep_verification("after", b"closing")
    cache.close()
    with Cache(path) as other:
        assert other.verification("after") == b"closing"


def test_several_threads(path: Path) -> None:
    with Cache(path) as cache:

        def work(number: int) -> bool:
            cache.keep_answer(answer(f"https://a.test/{number}", os.urandom(20_000)))
            cache.keep_package(package(number))
            return cache.answer(f"https://a.test/{number}", with_token=False) is not None

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(600)))
        assert (cache.info().answers, cache.info().packages) == (600, 600)


@posix_only
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_may_write_in_is_not_used(path: Path, mode: int) -> None:
    kept(path, answer())
    path.parent.chmod(mode)
    with Cache(path) as cache:
        assert cache.answer(URL, with_token=False) is None
        cache.keep_answer(answer())
        assert cache.answer(URL, with_token=False) is not None
        assert not cache.is_kept
        assert "others may write in its folder" in cache.take_notices()[0]


@posix_only
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_not_used(path: Path, mode: int) -> None:
    kept(path, answer())
    path.chmod(mode)
    with Cache(path) as cache:
        assert cache.answer(URL, with_token=False) is None
        assert not cache.is_kept
        assert "others may write to it" in cache.take_notices()[0]
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix_only
@pytest.mark.parametrize("kind", [Cache, MarkStore])
def test_what_belongs_to_another_user_is_not_used(
    path: Path, kind: type[Cache] | type[MarkStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `sudo` where HOME is kept."""
    kept(path, answer())
    before = path.read_bytes()
    monkeypatch.setattr("locklens.machine._euid", lambda: os.geteuid() + 1)
    found = kind(path)
    assert found.hashes([package(1).zh]) == {} if isinstance(found, Cache) else found.marks("here") == {}
    assert "its folder belongs to another user" in found.take_notices()[0]
    assert not found.is_kept
    assert path.read_bytes() == before


def test_a_file_that_is_damaged_inside_loses_what_it_had_and_no_more(path: Path) -> None:
    kept(path, *(answer(f"https://a.test/{number}", os.urandom(3000)) for number in range(50)))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with Cache(path) as cache:
        cache.keep_answer(answer())
        for number in range(50):
            cache.answer(f"https://a.test/{number}", with_token=False)
        assert cache.answer(URL, with_token=False) is not None
        assert cache.is_kept
        assert "was damaged" in cache.take_notices()[0]
    with Cache(path) as cache:
        assert cache.answer(URL, with_token=False) is not None


def test_a_new_file_of_another_process_is_not_set_aside(path: Path) -> None:
    """Both found the same file damaged, and the other was first to begin a new one."""
    kept(path, *(answer(f"https://a.test/{number}", os.urandom(3000)) for number in range(50)))
    with Cache(path) as cache:
        assert cache.answer("https://a.test/0", with_token=False) is not None
        (path.parent / "aside").mkdir()
        for each in (path.name, path.name + "-wal", path.name + "-shm"):
            path.with_name(each).rename(path.parent / "aside" / each)
        aside = path.parent / "aside" / path.name
        aside.write_bytes(b"\xa5" * aside.stat().st_size)
        kept(path, answer(body=b"of the other"))
        for number in range(50):
            cache.answer(f"https://a.test/{number}", with_token=False)
        found = cache.answer(URL, with_token=False)
        assert found is not None
        assert found.body == b"of the other"
        assert cache.take_notices() == ()
        assert not list(path.parent.glob("*.damaged-*"))


def test_clearing_forgets_everything_but_marks(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    marks = tmp_path / "store.sqlite3"
    MarkStore(marks).mark("here", {"a": ()})
    kept(path, *(answer(f"https://a.test/{number}", os.urandom(5000)) for number in range(50)))
    with Cache(path) as cache, Cache(path) as other:
        other.keep_package(package(2))
        other.flush()
        cache.keep_verification("buffered", b"1")
        large = cache.info().size
        cache.keep_verification("buffered too", b"1")
        cache.clear()
        for each in (cache, other):
            info = each.info()
            assert (info.answers, info.verifications, info.packages, info.oldest) == (0, 0, 0, None)
        assert cache.info().size < large / 3
        other.keep_package(package(3))
    with Cache(path) as cache:
        assert cache.info().packages == 1
    assert set(MarkStore(marks).marks("here")) == {"a"}


def test_a_newer_file_is_cleared(path: Path) -> None:
    kept(path, answer())
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with Cache(path) as cache:
        cache.clear()
        assert not path.exists()
        cache.keep_answer(answer())
    with Cache(path) as cache:
        assert cache.info().answers == 1


def test_clearing_what_is_damaged_or_in_use(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"no database" * 1000)
    path.with_name(path.name + ".damaged-20260101T000000-1").write_bytes(b"old")
    with Cache(path) as cache:
        cache.clear()
    assert not list(path.parent.iterdir())
    kept(path, answer())
    monkeypatch.setattr("locklens.storage.database._BUSY_SECONDS", 0.1)
    with sqlite3.connect(path, isolation_level=None) as busy:
        busy.execute("BEGIN IMMEDIATE")
        with Cache(path) as cache, pytest.raises(ConfigurationError, match="another process is busy with it"):
            cache.clear()
        busy.execute("ROLLBACK")
    busy.close()
    path.unlink()
    path.mkdir()
    with Cache(path) as cache, pytest.raises(ConfigurationError, match="cannot be cleared: "):
        cache.clear()


def test_a_cache_in_memory_touches_no_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept(default_cache_path(), answer())
    before = default_cache_path().read_bytes()
    with Cache.in_memory() as cache:
        assert cache.answer(URL, with_token=False) is None
        cache.keep_answer(answer(body=b"other"))
        cache.flush()
        assert cache.info().path is None
        assert cache.info().answers == 1
        cache.clear()
        assert cache.answer(URL, with_token=False) is None
        assert not cache.is_kept
        assert cache.take_notices() == ()
    assert default_cache_path().read_bytes() == before


def test_it_lies_in_the_cache_folder_and_is_made_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_cache_path() == user_cache_path("locklens", appauthor=False) / "cache.sqlite3"
    with Cache() as cache:
        info = cache.info()
        assert (info.path, info.size, info.answers) == (default_cache_path(), 0, 0)
        cache.clear()
        assert cache.take_notices() == ()
    assert not default_cache_path().parent.exists()
    with Cache() as cache:
        cache.keep_verification("key", b"data")
    assert default_cache_path().is_file()
