"""Diffs beside git and patch(1): what they write is applied byte by byte, and a name is never more than a name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.effort import some
from kit.git import git

from locklens.operations.plan.diffs import diff_lines, hunks, patch, quoted_name
from locklens.text import has_log_command, visible

Data = bytes | None

patch_program = shutil.which("patch")

ORDINARY: dict[str, tuple[Data, Data]] = {
    "changed": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "new": (None, b"a\nb\n"),
    "removed": (b"a\nb\n", None),
    "filled": (b"", b"a\n"),
    "emptied": (b"a\n", b""),
    "no end": (b"a\nb", b"a\nc"),
    "end added": (b"a\nb", b"a\nb\n"),
    "end removed": (b"a\nb\n", b"a\nb"),
    "crlf": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
    "to crlf": (b"a\nb\n", b"a\r\nb\r\n"),
    "separators": ("a\u2028b\u2029\x85\x0c\n\tc\n".encode(), "a\u2028b\u2029\x85\x0c\n\td\n".encode()),
    "letters": ("ä漢字\n".encode(), "ö漢字\n".encode()),
    "dashes": (b"-- a/x\n++ b/x\n@@ -1 +1 @@\n", b"-- a/y\n++ b/x\n@@ -1 +2 @@\n"),
    "long": (b"x\n" * 40 + b"a\n" + b"y\n" * 40, b"X\n" + b"x\n" * 40 + b"b\n" + b"y\n" * 40),
}
ACTIVE: dict[str, tuple[Data, Data]] = {
    "escape": (b"a\n# \x1b[2J\n", b"b\n# \x1b[2J\n"),
    "carriage return": (b"a\r::error::x\n", b"b\r::error::x\n"),
    "log command": (b"::error::x\nb\n", b"::error::x\nc\n"),
    "log command inside": (b"# ##vso[task.complete]\n", b""),
    "direction": ("a\u202e\n".encode(), None),
    "no text": (None, bytes(range(256)) * 7),
    "joiner": ("\u200d\n".encode(), b"\n"),
}
NAMES = (".terraform.lock.hcl", "in fra/a  b.tf", "ünï/漢.tf", 'quo"te\\x.tf', "esc\x1b\u202e/\n+++ b.tf", "##[x]/::a")


def lay(folder: Path, name: str, data: Data) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is not None:
        path.write_bytes(data)
    return path


def content(path: Path) -> Data:
    return path.read_bytes() if path.exists() else None


@pytest.mark.skipif(sys.platform == "win32", reason="names")
@pytest.mark.parametrize(("case", "name"), some(product([*ORDINARY, *ACTIVE], NAMES), len(NAMES) - 1))
def test_git_applies_it(tmp_path: Path, case: str, name: str) -> None:
    old, new = {**ORDINARY, **ACTIVE}[case]
    git(tmp_path, "init", "-q")
    path = lay(tmp_path, name, old)
    git(tmp_path, "apply", "--whitespace=nowarn", given=patch(name, old, new).encode())
    assert content(path) == new
    git(tmp_path, "apply", "--whitespace=nowarn", "-R", given=patch(name, old, new).encode())
    assert content(path) == old


@pytest.mark.skipif(patch_program is None, reason="patch is not there")
@pytest.mark.parametrize(("case", "name"), some(product(ORDINARY, NAMES[:3]), 2))
def test_patch_applies_it(tmp_path: Path, case: str, name: str) -> None:
    old, new = ORDINARY[case]
    path = lay(tmp_path, name, old)
    subprocess.run(["patch", "-p1", "--binary", "-s"], cwd=tmp_path, input=patch(name, old, new).encode(), check=True)
    assert (content(path) or b"") == (new or b"")


@pytest.mark.parametrize("case", ACTIVE)
def test_what_would_act_is_a_binary_patch(case: str) -> None:
    text = patch("x", *ACTIVE[case])
    assert "GIT binary patch\n" in text
    assert all(visible(line) == line and not has_log_command(line) for line in text.split("\n"))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stays_in_its_header(name: str) -> None:
    text = patch(name, b"a\n", b"b\n")
    assert text.count("\n") == 6
    assert all(
        visible(line.rstrip("\t")) == line.rstrip("\t") and not has_log_command(line) for line in text.split("\n")
    )
    assert [line[:4] for line in diff_lines(name, b"a\n", b"b\n")] == ["diff", "--- ", "+++ ", "@@ -", "-a", "+b"]


def test_names_are_quoted_as_git_does() -> None:
    assert quoted_name("a/x y") == "a/x y"
    assert quoted_name('a/x\n"\\\u202e') == '"a/x\\012\\"\\\\\\342\\200\\256"'


@pytest.mark.skipif(patch_program is None or sys.platform == "win32", reason="patch is not there, or names")
def test_a_folder_cannot_bring_a_hunk_of_its_own(tmp_path: Path) -> None:
    name = "x\n--- a/ci.sh\n+++ b/ci.sh\n@@ -1 +1 @@\n-make\n+touch PWNED"
    (tmp_path / "ci.sh").write_text("make\n")
    text = patch(f"{name}/.terraform.lock.hcl", b"a\n", b"b\n")
    subprocess.run(["patch", "-p1", "-f"], cwd=tmp_path, input=text.encode(), check=False, capture_output=True)
    assert (tmp_path / "ci.sh").read_text() == "make\n"


@settings(max_examples=60)
@given(st.lists(st.sampled_from([b"a\n", b"b\n", b"\r\n", b"c", b"\xff\n", b"\x1b\n"])), st.data())
def test_any_change_is_applied(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    old = b"".join(lines)
    new = b"".join(data.draw(st.permutations(lines)))
    if old != new:
        folder = tmp_path_factory.mktemp("applied")
        path = lay(folder, "x", old)
        git(folder, "apply", "--whitespace=nowarn", given=patch("x", old, new).encode("utf-8"))
        assert path.read_bytes() == new


def test_more_lines_than_are_compared_are_one_replacement(tmp_path: Path) -> None:
    """The smallest difference of a megabyte of other lines takes minutes to find."""
    lines = [f"line {number}\n" for number in range(9_000)]
    old, new = "".join(["same\n", *lines, "end\n"]), "".join(["same\n", *reversed(lines), "end\n"])
    found = list(hunks(old.encode(), new.encode()))
    assert [line for line in found if line.startswith("@@")] == ["@@ -1,9002 +1,9002 @@"]
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text(old)
    git(tmp_path, "apply", "-", given=patch("file", old.encode(), new.encode()).encode())
    assert (tmp_path / "file").read_text() == new
