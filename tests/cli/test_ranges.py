"""`A..B` and `A...B` name both sides of a comparison, and mean what they mean for `git diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kit.command_line import no_screen
from kit.git import git
from kit.repositories import commit, repository

from locklens.cli.main import main
from locklens.operations.comparison import Base

LOCK = ".terraform.lock.hcl"
ENTRY = 'provider "registry.example.com/acme/{}" {{\n  version = "{}"\n  hashes = [\n    "h1:{}=",\n  ]\n}}\n'


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two branches since `fork`, of which `main` is checked out with an edit on disk."""
    top = repository(tmp_path / "top", {LOCK: ENTRY.format("demo", "1.0.0", "A" * 43)})
    git(top, "tag", "fork")
    git(top, "checkout", "-qb", "feature")
    commit(top, {LOCK: ENTRY.format("demo", "1.1.0", "B" * 43)})
    git(top, "checkout", "-q", "main")
    commit(top, {LOCK: ENTRY.format("demo", "1.2.0", "C" * 43)})
    (top / LOCK).write_text(ENTRY.format("demo", "9.0.0", "D" * 43))
    monkeypatch.chdir(top)
    return top


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    main([*words, "--offline", "--format", "json"], no_screen)
    document = json.loads(capsys.readouterr().out)
    return document["base"]["revision"], document["head"]["revision"]


@pytest.mark.parametrize(
    ("given", "base", "head"),
    [
        ("main..feature", "main", "feature"),
        ("main...feature", "fork", "feature"),
        ("..feature", "main", "feature"),
        ("feature..", "feature", "main"),
        ("feature...", "fork", "main"),
        ("fork..main~1", "fork", "fork"),
    ],
)
def test_a_range_is_what_git_diff_compares(
    top: Path, capsys: pytest.CaptureFixture[str], given: str, base: str, head: str
) -> None:
    found = compared(capsys, "review", given)
    assert found == tuple(git(top, "rev-parse", f"{name}^{{commit}}") for name in (base, head))
    numbers = git(top, "diff", "--numstat", given, "--"), git(top, "diff", "--numstat", *found, "--")
    assert numbers[0] == numbers[1]


def test_the_fork_point_is_named_as_what_it_is(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """git reads "main...feature" as a range: neither it nor a side of it is the commit that is compared."""
    fork = git(top, "rev-parse", "fork^{commit}")
    for form, words in (("text", "{} -> feature@"), ("markdown", "`{}` to `feature@")):
        main(["review", "main...feature", "--offline", "--format", form], no_screen)
        out = capsys.readouterr().out
        assert words.format(f"fork point of main {fork[:7]}") in out
        assert "main...feature" not in out
    main(["review", "main...feature", "--offline", "--format", "json"], no_screen)
    assert json.loads(capsys.readouterr().out)["base"] == {"kind": "git", "name": "main...feature", "revision": fork}


def test_hashes_and_keys_are_those_of_the_head(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("hashes", "keys"):
        main([command, "fork..feature", "--offline"], no_screen)
        out = capsys.readouterr().out
        assert "1.1.0" in out
        assert "9.0.0" not in out
    assert out.endswith("; locklens hashes with the same arguments lists them\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["review", "main..feature", "--head", "x"], "main..feature names both sides: no --head"),
        (["review", "main..feature", "--staged"], "names both sides: no --staged"),
        (["review", "main..feature", "--merge-base"], "A...B compares with the common ancestor"),
        (["review", "main..feature", "--pr", "3"], "names both sides: no --pr"),
        (["review", ".."], "invalid BASE '..'"),
        (["review", "..."], "invalid BASE '...'"),
        (["review", "main..nowhere"], "unknown revision 'nowhere'"),
        (
            ["review", "HEAD^!"],
            "hint: HEAD is known, and ^! leads from it to no commit of this clone; a range is written",
        ),
        (["review", "main~99"], "hint: main is known, and ~99 leads from it to no commit of this clone"),
        (["keys", "nowhere..main"], "unknown revision 'nowhere'"),
    ],
)
def test_what_is_no_range_is_said(top: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert main([*words, "--offline", "--format", "text"], no_screen) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


def test_dots_in_braces_are_no_range() -> None:
    assert Base.of_range("HEAD^{/1..2}") is None
    assert Base.of_range("main") is None
    assert Base.of_range("HEAD^{/1..2}..main") == Base("HEAD^{/1..2}", "", "main")
