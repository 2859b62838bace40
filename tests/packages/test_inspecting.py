"""What is inside a package, read while it is hashed: zip files that lie about names, decoys, and folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from executables.files import NAMES, TEXT, elf, info, table
from msgspec.structs import replace
from packages.zips import BINARY, STORED, Item, build

from locklens.advisories import Advisory, AdvisoryDatabase, AffectedModule, AffectedPackage
from locklens.advisories.database import keep_database
from locklens.packages.hashing import hash_package
from locklens.packages.inspecting import PackageFacts, PackageInspector, inspect_folder, keep_facts, kept_facts
from locklens.storage.cache import Cache

PROGRAM = elf((4, table(NAMES)), (6, info(TEXT)))
DECOY = elf((4, table([b"main.decoy"])), (6, info("path\tdecoy\n")))


def facts(*items: Item, size: int = 1000) -> PackageFacts:
    data = build(items)
    inspector, found = PackageInspector(), []
    chunks = (data[start : start + size] for start in range(0, len(data), size))
    hashed = hash_package(chunks, new=inspector.content, check=lambda passed: found.append(inspector.facts(passed)))
    (only,) = found
    assert (only.zh, only.h1) == (hashed.zh, hashed.h1)
    assert hashed == hash_package([data])
    return only


def test_a_package_is_read_while_it_is_hashed(tmp_path: Path) -> None:
    changes = b"# 1.0.0\n" * 40_000
    found = facts(
        Item(BINARY, PROGRAM), Item(b"CHANGELOG.md", changes), Item(b"docs/README", b"x"), Item(b"LICENSE", b"\xff")
    )
    assert found.executable_name == BINARY.decode()
    assert found.executable is not None
    assert found.executable.build is not None
    assert found.executable.build.path == "x"
    assert [(one.name, one.is_whole, len(one.text)) for one in found.texts] == [
        ("CHANGELOG.md", False, 262_144),
        ("LICENSE", True, 1),
    ]
    assert [one.name for one in found.files] == ["CHANGELOG.md", "LICENSE", "docs/README", BINARY.decode()]
    (tmp_path / "docs").mkdir()
    for name, content in (
        (BINARY.decode(), PROGRAM),
        ("CHANGELOG.md", changes),
        ("docs/README", b"x"),
        ("LICENSE", b"\xff"),
    ):
        (tmp_path / name).write_bytes(content)
    assert inspect_folder(tmp_path) == replace(found, zh=None)


def test_facts_are_kept_by_the_hash_of_the_zip_file(tmp_path: Path) -> None:
    found = facts(Item(BINARY, PROGRAM))
    assert found.zh is not None
    with Cache(tmp_path / "cache") as cache:
        assert kept_facts(cache, found.zh) is None
        keep_facts(cache, found)
        keep_facts(cache, replace(found, zh=None))
    with Cache(tmp_path / "cache") as cache:
        assert kept_facts(cache, found.zh) == found
        assert cache.info().inspections == 1
        record = cache.inspection(found.zh)
        assert record is not None
        form = record.partition(b"\n")[0]
        for number, odd in enumerate((b"1\x80", b"", form, form + b"\n\xff", form + b"\n\x80")):
            cache.keep_inspection(f"zh:{number}", odd)
            assert kept_facts(cache, f"zh:{number}") is None


HTML = "golang.org/x/net/html"


def test_functions_are_kept_of_packages_with_advisories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program has a hundred thousand functions, of which advisories name few."""
    monkeypatch.setenv("LOCKLENS_ADVISORIES", str(tmp_path / "advisories"))
    names = [b"golang.org/x/net/html.Parse", b"os/exec.(*Cmd).Start", b"main.main"]
    item = Item(BINARY, elf((4, table([*names, *(b"a.b/c.F%d" % number for number in range(5000))])), (6, info(TEXT))))
    before = facts(item)
    assert before.executable is not None
    assert before.executable.packages == ("a.b/c", HTML, "main", "os/exec")
    assert before.executable.functions == ("main.main", "os/exec.(*Cmd).Start")
    assert (before.is_for_advisories, before.lacks_functions) == (False, False)
    affected = AffectedModule(
        "golang.org/x/net", packages=(AffectedPackage(HTML, ("Parse",)), AffectedPackage("a.b/c"))
    )
    keep_database(AdvisoryDatabase("here", None, "2026-11-23T00:00:00Z", (Advisory("GO-1", (), "", (affected,)),)))
    assert before.lacks_functions
    after = facts(item)
    assert after.executable is not None
    assert after.executable.functions == (f"{HTML}.Parse", "main.main", "os/exec.(*Cmd).Start")
    assert (after.is_for_advisories, after.lacks_functions) == (True, False)


def test_the_first_by_name_is_the_program() -> None:
    """The tools start the first that has the name; where there are several, that is said."""
    other = b"terraform-provider-demo_v1.0.0.bak"
    for items in ((Item(BINARY, PROGRAM), Item(other, DECOY)), (Item(other, DECOY), Item(BINARY, PROGRAM))):
        found = facts(*items)
        assert found.executable_name == BINARY.decode()
        assert found.executable is not None
        assert found.executable.build is not None
        assert found.executable.build.path == "x"
        assert found.bounded == f"2 files have the name of a program, and {BINARY.decode()} was read"


def test_a_header_that_names_another_file_hides_nothing() -> None:
    """The directory at the end decides what a content is called; the header before it is no reason not to look."""
    found = facts(Item(BINARY, PROGRAM, local={"name": b"README"}, method=STORED))
    assert found.executable is not None
    assert found.executable.unread is None
    assert found.texts == ()
    found = facts(Item(b"README", PROGRAM, local={"name": BINARY}, method=STORED))
    assert (found.executable, found.executable_name) == (None, None)


def test_a_decoy_that_the_directory_does_not_list_is_said() -> None:
    found = facts(Item(BINARY, PROGRAM), Item(b"terraform-provider-a", DECOY, is_listed=False))
    assert found.executable_name == BINARY.decode()
    assert found.executable is None
    assert found.bounded == "its program was not read, since headers and directory of the zip file disagree"


def test_the_last_content_of_a_name_counts() -> None:
    found = facts(Item(BINARY, DECOY), Item(BINARY, PROGRAM))
    assert found.executable is not None
    assert found.executable.build is not None
    assert found.executable.build.path == "x"


def test_files_without_end_are_bounded() -> None:
    found = facts(Item(BINARY, PROGRAM), *(Item(b"f%d" % number) for number in range(2500)))
    assert len(found.files) == 2000
    assert found.bounded == "2000 of its 2501 files are listed"
