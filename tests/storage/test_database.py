"""The files of both stores: damaged, newer, of several processes, or of earlier schemas.

`tests/data/storage` has one of each earlier schema, as the locklens of that schema wrote it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from locklens.hashes import HashedPackage
from locklens.storage.cache import CACHE_SCHEMA, CACHE_TABLES, Cache, CacheInfo
from locklens.storage.database import Database, DatabaseLayout
from locklens.storage.preferences import MarkStore

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
SAMPLES = Path(__file__).parents[1] / "data" / "storage"
CACHES = sorted(SAMPLES.glob("cache-*.sql"))
MARKS = sorted(SAMPLES.glob("marks-*.sql"))

URL = "https://registry.acme.test/v1/acme/x/versions"
PACKAGE = HashedPackage("zh:" + "1" * 64, f"h1:{'A' * 43}=", 10, 20, 2)

Store = Cache | MarkStore


@contextmanager
def opened(kind: str, path: Path) -> Iterator[Store]:
    if kind == "marks":
        yield MarkStore(path)
    else:
        with Cache(path) as cache:
            yield cache


def keep(store: Store, key: str) -> None:
    if isinstance(store, Cache):
        store.keep_verification(key, b"data")
        store.flush()
    else:
        store.mark("here", {key: ()})


def has(store: Store, key: str) -> bool:
    return store.verification(key) == b"data" if isinstance(store, Cache) else key in store.marks("here")


@pytest.fixture(params=["cache", "marks"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "own" / "store.sqlite3"


@posix_only
def test_nobody_else_may_read_it(kind: str, path: Path) -> None:
    before = os.umask(0)
    try:
        with opened(kind, path) as store:
            keep(store, "a")
            modes = [stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()]
    finally:
        os.umask(before)
    assert modes == [0o600] * (1 if kind == "marks" else 3)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    with opened(kind, path) as store:
        assert has(store, "a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", [b"this is no database at all, but it is long enough" * 100, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_damaged_file_is_set_aside_by_name(kind: str, path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_bytes(content)
    with opened(kind, path) as store:
        assert not has(store, "a")
        (aside,) = path.parent.glob("store.sqlite3.damaged-*")
        assert aside.read_bytes() == content
        (notice,) = store.take_notices()
        assert notice.endswith(f" was damaged; it was set aside as {aside} and replaced by a new one.")
        keep(store, "a")
        assert store.take_notices() == ()
    with opened(kind, path) as store:
        assert has(store, "a")


@posix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("has_file", [True, False])
def test_what_cannot_be_written_lasts_for_this_run(kind: str, path: Path, has_file: bool) -> None:
    path.parent.mkdir(mode=0o700)
    if has_file:
        with opened(kind, path) as store:
            keep(store, "a")
    path.parent.chmod(0o500)
    try:
        with opened(kind, path) as store:
            keep(store, "b")
            assert has(store, "b")
    finally:
        path.parent.chmod(0o700)


def test_what_has_no_folder_lasts_for_this_run(kind: str, path: Path) -> None:
    path.parent.write_text("in the way")
    with opened(kind, path) as store:
        keep(store, "a")
        assert has(store, "a")
        (notice,) = store.take_notices()
        assert f" last for this run only: {path} cannot be used (" in notice
        assert not store.is_kept


def test_a_newer_file_is_left_alone(kind: str, path: Path) -> None:
    with opened(kind, path) as store:
        keep(store, "a")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with opened(kind, path) as store:
        assert not has(store, "a")
        keep(store, "b")
        assert has(store, "b")
        assert "newer locklens" in store.take_notices()[0]
    assert path.read_bytes() == before


PROGRAMS = {
    "cache": """
with Cache(path) as cache:
    for number in range(60):
        url = f"https://a.test/{who}/{number}"
        cache.keep_answer(RememberedAnswer(url, False, 200, url, None, url.encode() * 99, "2999-01-01T00:00:00Z"))
        cache.keep_verification(f"{who}-{number}", b"data")
        cache.keep_package(HashedPackage(f"zh:{who}-{number}", "h1:", 1, 1, 1))
        cache.answer(url, with_token=True)
        if number % 3 == 0: cache.flush()
print(*cache.take_notices()); sys.exit(not cache.is_kept)
""",
    "marks": """
store = MarkStore(path)
for number in range(60): store.mark("here", {f"{who}-{number}": ()})
print(*store.take_notices()); sys.exit(not store.is_kept)
""",
}
LEAD = """
import sys; from pathlib import Path
from locklens.hashes import HashedPackage
from locklens.storage.cache import Cache, RememberedAnswer
from locklens.storage.preferences import MarkStore
path, who = Path(sys.argv[1]), sys.argv[2]
"""


def test_several_processes_at_once_lose_nothing(kind: str, path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", LEAD + PROGRAMS[kind], str(path)]
    runs = [subprocess.Popen([*command, str(number)], env=environment, stdout=subprocess.PIPE) for number in range(4)]
    assert [run.communicate()[0].strip() for run in runs] == [b""] * 4
    assert [run.returncode for run in runs] == [0] * 4
    with opened(kind, path) as store:
        assert all(has(store, f"{who}-{number}") for who in range(4) for number in range(60))
        if isinstance(store, Cache):
            info = store.info()
            assert (info.answers, info.verifications, info.packages) == (240, 240, 240)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


# Earlier schemas

FIRST = "CREATE TABLE IF NOT EXISTS notes (id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID"
SECOND = (
    "CREATE TABLE IF NOT EXISTS notes (id TEXT NOT NULL PRIMARY KEY, author TEXT NOT NULL DEFAULT '') WITHOUT ROWID"
)
THIRD = SECOND.replace("notes", "remarks").replace("author", "writer")
INDEX = "CREATE INDEX IF NOT EXISTS remarks_by_writer ON remarks (writer)"
TO_SECOND = (1, "ALTER TABLE notes ADD COLUMN author TEXT NOT NULL DEFAULT ''")
TO_THIRD = ((2, "ALTER TABLE notes RENAME TO remarks"), (2, "ALTER TABLE remarks RENAME COLUMN author TO writer"))


def layout(schema: int, *tables: str, steps: tuple[tuple[int, str], ...] = ()) -> DatabaseLayout:
    return DatabaseLayout(schema, tables, name="store of notes", contents="Notes", steps=steps)


NEWEST = layout(3, THIRD, INDEX, steps=(TO_SECOND, *TO_THIRD))


def restored(sample: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sample.read_text())


def shape(path: Path) -> tuple[int, set[tuple[object, ...]]]:
    """The number of a file's schema, and each column of its tables and indexes."""
    query = "SELECT master.name, info.* FROM sqlite_master AS master, pragma_{}_info(master.name) AS info"
    with closing(sqlite3.connect(path)) as connection:
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        return schema, {row for kind in ("table", "index") for row in connection.execute(query.format(kind))}


def new_file(kind: str, path: Path) -> None:
    if kind == "marks":
        MarkStore(path).marks("here")
    else:
        with Cache(path) as cache:
            cache.verification("key")


@pytest.mark.parametrize("sample", [*CACHES, *MARKS], ids=lambda path: path.stem)
def test_a_file_of_each_schema_becomes_one_of_the_newest(tmp_path: Path, sample: Path) -> None:
    kind = sample.stem.partition("-")[0]
    old, new = tmp_path / "old.sqlite3", tmp_path / "new.sqlite3"
    restored(sample, old)
    new_file(kind, old)
    new_file(kind, new)
    assert shape(old) == shape(new)


@pytest.mark.parametrize("samples", [CACHES, MARKS], ids=["cache", "marks"])
def test_a_changed_table_has_a_new_schema_with_its_sample(tmp_path: Path, samples: list[Path]) -> None:
    """If this fails, a table was changed: raise the schema, write a step for older files, and add a sample file."""
    kind = samples[0].stem.partition("-")[0]
    new, newest = tmp_path / "new.sqlite3", tmp_path / "newest.sqlite3"
    new_file(kind, new)
    schema, columns = shape(new)
    assert [path.stem for path in samples] == [f"{kind}-{number}" for number in range(1, schema + 1)]
    restored(samples[-1], newest)
    assert shape(newest) == (schema, columns)


@pytest.mark.parametrize("sample", MARKS, ids=lambda path: path.stem)
def test_marks_of_each_schema_are_kept(tmp_path: Path, sample: Path) -> None:
    restored(sample, tmp_path / "store.sqlite3")
    store = MarkStore(tmp_path / "store.sqlite3")
    covered = None if sample.stem == "marks-1" else {"LK003"}
    assert store.marks("here") == {"a" * 32: covered, "finding:" + "b" * 32: covered and set()}
    assert set(store.marks("there")) == {"c" * 32}
    store.mark("there", {"d" * 32: ()})
    assert set(store.marks("there")) == {"c" * 32, "d" * 32}
    assert store.is_kept
    assert store.take_notices() == ()


def test_each_table_of_the_cache_says_what_becomes_of_its_rows(tmp_path: Path) -> None:
    new_file("cache", tmp_path / "cache.sqlite3")
    with closing(sqlite3.connect(tmp_path / "cache.sqlite3")) as connection:
        made = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert {name for (name,) in made} == set(CACHE_TABLES)
    assert set(CACHE_TABLES) <= set(CacheInfo.__struct_fields__)


@pytest.mark.parametrize("sample", CACHES, ids=lambda path: path.stem)
def test_a_cache_of_each_schema_is_used(tmp_path: Path, sample: Path) -> None:
    restored(sample, tmp_path / "cache.sqlite3")
    with Cache(tmp_path / "cache.sqlite3") as cache:
        answer = cache.answer(URL, with_token=False)
        assert answer is not None
        assert answer.body == b'{"versions":[]}'
        assert cache.verification("key") == b"data"
        assert cache.package(PACKAGE.zh) == PACKAGE
        assert cache.inspection(PACKAGE.zh) == (None if sample.stem == "cache-1" else b"inside")
        cache.keep_package(HashedPackage("zh:" + "2" * 64, PACKAGE.h1, 1, 2, 3))
        cache.keep_inspection(PACKAGE.zh, b"again")
        cache.flush()
        assert (cache.info().packages, cache.info().inspections) == (2, 1)
        assert cache.is_kept
        assert cache.take_notices() == ()
    assert shape(tmp_path / "cache.sqlite3")[0] == CACHE_SCHEMA


def filled(path: Path, of: DatabaseLayout) -> None:
    table = "remarks" if of.schema == 3 else "notes"
    Database(of, lambda: path).run(lambda file: file.execute(f"INSERT INTO {table} (id) VALUES ('mine')"))


def remarks(path: Path, of: DatabaseLayout) -> list[tuple[str, str]]:
    database = Database(of, lambda: path)
    found = database.run(lambda file: file.execute("SELECT id, writer FROM remarks").fetchall())
    assert database.take_notices() == ()
    return found


@pytest.mark.parametrize("before", [layout(1, FIRST), layout(2, SECOND), NEWEST], ids=lambda of: str(of.schema))
def test_each_step_runs_once_on_the_files_that_need_it(tmp_path: Path, before: DatabaseLayout) -> None:
    filled(tmp_path / "store", before)
    for _ in range(2):
        assert remarks(tmp_path / "store", NEWEST) == [("mine", "")]
    new_file_of_newest = tmp_path / "new"
    filled(new_file_of_newest, NEWEST)
    assert shape(tmp_path / "store") == shape(new_file_of_newest)


def test_a_new_file_and_a_database_in_memory_run_no_step(tmp_path: Path) -> None:
    failing = layout(2, SECOND, steps=((1, "DROP TABLE that_never_was"),))
    for database in (Database(failing, None), Database(failing, lambda: tmp_path / "store")):
        assert database.run(lambda file: file.execute("SELECT * FROM notes").fetchall()) == []
        assert database.take_notices() == ()


def test_a_file_stays_as_it_was_where_a_step_fails(tmp_path: Path) -> None:
    path = tmp_path / "store"
    filled(path, layout(1, FIRST))
    before = shape(path)
    failing = Database(layout(2, SECOND, steps=(TO_SECOND, (1, "DROP TABLE that_never_was"))), lambda: path)
    assert failing.run(lambda file: file.execute("SELECT * FROM notes").fetchall()) == []
    assert not failing.is_kept
    (notice,) = failing.take_notices()
    assert "Notes last for this run only" in notice
    assert shape(path) == before
    assert remarks(path, NEWEST) == [("mine", "")]


@pytest.mark.parametrize(("theirs", "is_kept"), [(NEWEST, True), (layout(9, THIRD), False)], ids=["same", "newer"])
def test_a_file_that_another_process_migrates_meanwhile_is_not_migrated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: DatabaseLayout, is_kept: bool
) -> None:
    from locklens.storage import database

    path = tmp_path / "store"
    filled(path, layout(1, FIRST))
    migrate = database._migrate

    def overtaken(connection: sqlite3.Connection, of: DatabaseLayout) -> None:
        # The other process commits between the first look at the schema and this transaction.
        connection.rollback()
        monkeypatch.setattr(database, "_migrate", migrate)
        assert Database(theirs, lambda: path).run(lambda _: True)
        connection.execute("BEGIN IMMEDIATE")
        migrate(connection, of)

    monkeypatch.setattr(database, "_migrate", overtaken)
    ours = Database(NEWEST, lambda: path)
    ours.run(lambda file: file.execute("SELECT * FROM remarks").fetchall())
    assert ours.is_kept is is_kept
    assert shape(path)[0] == theirs.schema
