"""Hashing a package while it arrives."""

from __future__ import annotations

import hashlib
import io
import random
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kit.effort import effort
from kit.loopback import serving
from packages.odd import ACCEPTED, PROVIDER, REFUSED, TEXT
from packages.zips import BINARY, DESCRIPTORS, STORED, Item, build
from test_hashes import FOLDERS, ONE_FILE_ZIP, packed

from locklens.demo import h1 as demo_h1
from locklens.demo import package_bytes as demo_package
from locklens.errors import ConfigurationError, PackageError, RunCancelledError, UnavailableError
from locklens.hashes import HashedPackage, h1_of_digests, hashes_of_files
from locklens.packages import contents
from locklens.packages.contents import Digest, SeekableContents
from locklens.packages.hashing import hash_arriving_package, hash_package
from locklens.sources.http.client import Client


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def hashed(data: bytes, size: int = 1 << 16) -> HashedPackage:
    return hash_package(cut(data, size))


def zipped(contents: dict[str, str], method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return stream.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("contents", "expected"), [one for one in FOLDERS.values() if one[0]], ids=[name for name in FOLDERS if FOLDERS[name][0]]
)  # fmt: skip
def test_worked_examples(contents: dict[str, str], expected: str, method: int, engine: str) -> None:
    found = hashed(zipped(contents, method))
    assert found.h1 == expected
    assert (found.files, found.unpacked_size) == (len(contents), sum(map(len, contents.values())))


def test_a_whole_worked_example() -> None:
    assert hashed(ONE_FILE_ZIP) == HashedPackage(
        "zh:b72da01a0a953db6fabec9ece3b29a44b5c94c0b6679df50c07f215527d704d8", FOLDERS["one file"][1], 164, 6, 1
    )


def test_folders_and_duplicates_are_as_after_unpacking_not_as_in_the_zip_file() -> None:
    def bytes_of(*entries: tuple[str, str]) -> bytes:
        stream = packed(*entries).fp
        assert isinstance(stream, io.BytesIO)
        return stream.getvalue()

    nested = bytes_of(("docs/", ""), ("docs/README.md", "# hi\n"), (BINARY.decode(), "hello\n"))
    assert hashed(nested).h1 == FOLDERS["nested"][1]
    twice = hashed(bytes_of((BINARY.decode(), "one\n"), (BINARY.decode(), "two\n")))
    assert (twice.h1, twice.files) == (FOLDERS["the last of two duplicates"][1], 1)


def test_the_sample_releases() -> None:
    address = "registry.terraform.io/acme/demo"
    assert hashed(demo_package(address, "1.0.0", "linux_amd64")).h1 == demo_h1(address, "1.0.0", "linux_amd64")


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_chunks_of_any_size_give_the_same(data: bytes, engine: str) -> None:
    whole = hashed(data, len(data))
    assert whole.zh == "zh:" + hashlib.sha256(data).hexdigest()
    assert whole.size == len(data)
    for size in (1, 7, 4096) if len(data) < 20_000 else (4096,):
        assert hashed(data, size) == whole
    assert hash_package([b"", data[:9], b"", b"", data[9:], b""]) == whole


@pytest.mark.parametrize(("data", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_unpacked_says_why_once_its_zh_was_judged(data: bytes, words: str, engine: str) -> None:
    for size in (7, 1 << 16):
        judged: list[str] = []

        def judge(zh: str, judged: list[str] = judged) -> None:
            judged.append(zh)

        chunks = (data[at : at + size] for at in range(0, len(data), size))
        with pytest.raises(PackageError) as caught:
            hash_package(chunks, judge=judge)
        assert words in str(caught.value)
        assert str(caught.value).isprintable()
        assert judged == ["zh:" + hashlib.sha256(data).hexdigest()]


NOISE = random.Random(2).randbytes(300_000)
USUAL = {
    "as Go writes": build([Item(BINARY, NOISE + bytes(3 << 20), descriptor="PK and 32 bits"), TEXT]),
    "without descriptors": build([Item(BINARY, NOISE * 2), Item(b"a/b", NOISE, STORED), TEXT]),
    "every descriptor": build([Item(form.encode(), b"x" * 99, descriptor=form) for form in DESCRIPTORS]),
    "commented, with folders and duplicates": build(
        [Item(b"a/"), Item(b"a/b", b"1"), Item(b"a/b", b"2")], comment=b"!"
    ),
    "zip64": build([Item(BINARY, NOISE, is_wide=True), TEXT], is_wide=True),
    "from the standard library": zipped({BINARY.decode(): "hello\n" * 9999, "LICENSE": "MIT\n"}, zipfile.ZIP_DEFLATED),
}


@pytest.mark.parametrize("data", USUAL.values(), ids=USUAL)
def test_usual_packages_are_read_once(data: bytes, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = hashed(data)
    monkeypatch.delattr(SeekableContents, "blocks")
    assert hashed(data) == expected
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        contents = {one.filename: archive.read(one) for one in archive.infolist() if not one.is_dir()}
    digests = [(name.encode(), hashlib.sha256(content).hexdigest()) for name, content in contents.items()]
    assert expected.h1 == h1_of_digests(digests)


def test_what_the_front_says_counts_for_nothing() -> None:
    """A content that passed in front is used only where the end lists exactly that."""
    lies = [
        Item(b"x", b"seen by some", is_listed=False),
        Item(b"x", b"seen by all", local={"name": b"y"}),
        Item(b"z", b"z" * 50, local={"packed": 1, "size": 1, "crc": 1}),
    ]
    plain = build([PROVIDER, Item(b"x", b"seen by all"), Item(b"z", b"z" * 50)])
    assert hashed(build([PROVIDER, *lies])).h1 == hashed(plain).h1
    inner = build([Item(b"x", b"inner")])[:-22]
    hidden = build([Item(b"q", inner, STORED), PROVIDER])
    assert hashed(hidden).h1 == hashed(build([Item(b"q", inner), PROVIDER])).h1


def test_progress_adds_up_to_the_size() -> None:
    heard: list[int] = []
    hash_package(cut(ONE_FILE_ZIP, 50), on_bytes=heard.append)
    assert heard == [50, 50, 50, 14]


def test_the_temporary_file_is_gone_whatever_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = threading.Event()

    def failing() -> Iterator[bytes]:
        yield ONE_FILE_ZIP[:100]
        raise UnavailableError("the line broke")

    def cancelled() -> Iterator[bytes]:
        yield ONE_FILE_ZIP
        cancel.set()
        yield b"more"

    def interrupted() -> Iterator[bytes]:
        yield ONE_FILE_ZIP
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = threading.active_count()
    hash_package([build([Item(BINARY, NOISE * 5, STORED)])])
    for chunks, error in (
        (failing(), UnavailableError),
        (cancelled(), RunCancelledError),
        (interrupted(), KeyboardInterrupt),
        (iter([b"no zip file"]), PackageError),
    ):
        with pytest.raises(error):
            hash_package(chunks, cancel=cancel)
        assert list(tmp_path.iterdir()) == []
        cancel.clear()
    assert threading.active_count() == before


def test_cancelling_ends_even_what_is_read_again() -> None:
    cancel = threading.Event()
    data = build([Item(BINARY, NOISE * 5, STORED, "32 bits")])

    def arrives() -> Iterator[bytes]:
        yield data

    asked = iter([False] * 6 + [True] * 100)
    cancel.is_set = lambda: next(asked)  # type: ignore[method-assign]
    with pytest.raises(RunCancelledError):
        hash_package(arrives(), cancel=cancel)
    assert next(asked), "not asked often enough"


def test_no_room_for_the_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = build([Item(BINARY, NOISE * 5, STORED)])
    expected = hashed(ONE_FILE_ZIP)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert hash_package([ONE_FILE_ZIP]) == expected
    with pytest.raises(ConfigurationError, match="cannot be stored in the temporary folder") as caught:
        hash_package([large])
    assert "TMPDIR" in caught.value.hint
    monkeypatch.undo()
    full = Path("/dev/full")
    if full.exists():
        monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: full.open("r+b", buffering=0))
        for data in (large, build([Item(BINARY, NOISE * 9)])):
            with pytest.raises(ConfigurationError, match="No space left on device"):
                hashed(data)


def test_several_packages_at_once() -> None:
    packages = list(USUAL.values()) * 3
    expected = [hashed(data) for data in packages]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(hashed, packages)) == expected


def test_a_package_on_its_way_from_a_server() -> None:
    data = USUAL["as Go writes"]
    with serving() as server:
        server.gives("/package", data)
        with Client({}).download(server.url("/package")) as download:
            assert hash_package(download.chunks) == hashed(data)


def test_without_isal_the_standard_library_inflates(engine: str) -> None:
    assert engine in contents.engine().__name__


def archive_h1(data: bytes) -> str:
    """The h1 of the zip file itself, which is known once it was read within the bounds."""
    seen: list[str] = []
    hash_package([data], check=lambda package: seen.extend(hashes_of_files(package.archive_hashes)))
    return "".join(seen)


@pytest.mark.parametrize(("contents", "expected"), FOLDERS.values(), ids=FOLDERS.keys())
def test_h1_of_a_plain_zip_file_is_that_of_its_folder(contents: dict[str, str], expected: str) -> None:
    if contents:
        assert archive_h1(zipped(contents, zipfile.ZIP_STORED)) == expected


def test_h1_of_a_zip_file_counts_folder_entries() -> None:
    data = build([Item(b"docs/"), Item(b"docs/README.md", b"# hi\n"), Item(BINARY, b"hello\n")])
    assert archive_h1(data) == "h1:k6FqGMWmya8ICtnPBOGhPPrCFoHWEMOdUNQZAH0noiQ="


def test_h1_of_a_zip_file_lists_duplicates_with_the_last_content() -> None:
    data = build([Item(BINARY, b"one\n"), Item(BINARY, b"two\n")])
    assert archive_h1(data) == "h1:E/Wn38mcJ1dooxyx6x5j1IIyvVy5oVJe4zX1zu0cdtY="
    other = h1_of_digests((name, hashlib.sha256(b"two\n").hexdigest()) for name in (BINARY, BINARY))
    assert archive_h1(data) == other


def test_a_zip_file_with_a_folder_that_has_a_content_has_no_h1_of_its_own() -> None:
    assert archive_h1(build([Item(BINARY, b"x"), Item(b"docs/", b"hidden", STORED)])) == ""
    assert archive_h1(build([Item(BINARY, b"x"), Item(b"a\nb/")])) == ""


@pytest.mark.parametrize("where", ["while it arrives", "from the disk", "in the directory"])
def test_cancelled_while_little_becomes_much(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One piece of a package inflates to a thousand times its bytes: the run is looked at between blocks, not pieces."""
    is_unread = where != "while it arrives"
    first = Item(b"a", b"a", 12) if is_unread else Item(b"a", b"a")
    data = build([first, Item(BINARY, bytes(effort(24, 64) << 20))])
    cancel, blocks = threading.Event(), 0
    if where == "in the directory":
        monkeypatch.setattr(
            "locklens.packages.hashing.lay_out", lambda *_: pytest.fail("all of the directory was read")
        )

    def judge(_: str) -> None:
        if is_unread:
            cancel.set()

    class Cancelling(Digest):
        def update(self, block: bytes | memoryview) -> None:
            nonlocal blocks
            blocks += 1
            cancel.set()

    with pytest.raises(RunCancelledError):
        hash_arriving_package([data], io.BytesIO(), new=lambda _: Cancelling(), cancel=cancel, judge=judge)
    assert blocks <= 12  # one, and those that were on their way to the other thread
