"""Files that are written in one step, and where links do not lead them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from locklens.errors import ConfigurationError
from locklens.storage.files import write_atomically

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links of POSIX")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "top" / "work").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    monkeypatch.chdir(tmp_path / "top" / "work")
    return tmp_path / "top" / "work"


@pytest.mark.parametrize("has_repository", [True, False])
def test_not_through_a_link_that_leads_out_of_what_is_worked_on(here: Path, has_repository: bool) -> None:
    outside = here.parent.parent / "outside"
    if has_repository:
        (here.parent / ".git").mkdir()
        (here.parent / "up").symlink_to(outside)
    (here / "out").symlink_to(outside)
    (here / "a").mkdir()
    (here / "a" / "again").symlink_to("../out")
    for name in ("out/x", "a/again/x", str(here / "out" / "x"), *(["../up/x"] if has_repository else [])):
        with pytest.raises(ConfigurationError, match="a link leads out of the repository, to"):
            write_atomically(Path(name), b"x")
    assert list(outside.iterdir()) == []


def test_pieces_are_made_as_they_are_written_and_a_failing_one_leaves_the_old_file(here: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"new "
        if Path("report").read_bytes() != b"old":
            yield b"report"
        else:
            raise ConfigurationError("no more")

    Path("report").write_bytes(b"old")
    with pytest.raises(ConfigurationError, match="no more"):
        write_atomically(Path("report"), pieces())
    assert [path.name for path in here.iterdir()] == ["report"]
    Path("report").write_bytes(b"other")
    write_atomically(Path("report"), pieces())
    assert Path("report").read_bytes() == b"new report"


def test_anywhere_else_links_are_the_users(here: Path) -> None:
    outside = here.parent.parent / "outside"
    (outside / "link").symlink_to(".")
    write_atomically(outside / "link" / "x", b"x")
    write_atomically(Path("../y"), b"y")
    assert (outside / "x").read_bytes() + (here.parent / "y").read_bytes() == b"xy"


def test_a_link_is_replaced_whatever_it_leads_to(here: Path) -> None:
    os.mkfifo(here.parent.parent / "pipe")
    Path("link").symlink_to(here.parent.parent / "pipe")
    write_atomically(Path("link"), b"x")
    assert not Path("link").is_symlink()
    assert Path("link").read_bytes() == b"x"


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="there are no descriptors by name")
def test_an_open_file_is_written_to_and_its_link_stays(tmp_path: Path) -> None:
    """`--output /dev/stdout > file` goes to the file, behind what is there already."""
    redirected, link = tmp_path / "redirected", tmp_path / "link"
    with redirected.open("ab") as file:
        file.write(b"before ")
        file.flush()
        link.symlink_to(f"/dev/fd/{file.fileno()}")
        write_atomically(link, b"report")
        write_atomically(Path(f"/dev/fd/{file.fileno()}"), b" twice")
    assert link.is_symlink()
    assert redirected.read_bytes() == b"before report twice"
