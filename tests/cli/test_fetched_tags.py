"""A base that was fetched by a short name, of which git took the tag: FETCH_HEAD says so, and is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conformance.forking import shared
from kit.git import git
from kit.repositories import commit, copy_of, repository

LOCK = (
    'provider "registry.example.com/acme/demo" {{\n  version = "{}"\n  hashes = [\n    "zh:'
    + "0" * 64
    + '",\n  ]\n}}\n'
)


def with_a_tag(folder: Path) -> None:
    """A remote whose tag `main` is the change that is checked out in the clone: the version alone was edited."""
    work = repository(folder / "work", {".terraform.lock.hcl": LOCK.format("1.0.0")})
    commit(work, {".terraform.lock.hcl": LOCK.format("1.1.0")})
    git(work, "tag", "main")
    git(work, "tag", "-am", "annotated", "v1")
    git(work, "update-ref", "refs/pull/1/head", "HEAD")
    git(work, "update-ref", "refs/heads/main", "HEAD~1")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    copy_of(with_a_tag, tmp_path / "both")
    git(tmp_path / "both", "clone", "-q", "--no-tags", "work", "clone")
    clone = tmp_path / "both" / "clone"
    git(clone, "fetch", "-q", "origin", "refs/pull/1/head")
    git(clone, "checkout", "-q", "--detach", "FETCH_HEAD")
    return clone


def review(clone: Path, *words: str) -> tuple[int, str]:
    done = shared().finish(("review", "--offline", "--format", "text", *words), clone, os.environ)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["main", "v1", "refs/tags/main"])
@pytest.mark.parametrize("base", ["FETCH_HEAD", "FETCH_HEAD~0", "FETCH_HEAD^{commit}"])
def test_a_fetched_tag_is_no_base(clone: Path, name: str, base: str) -> None:
    git(clone, "fetch", "-q", "--no-tags", "origin", name)
    status, said = review(clone, base, "--merge-base")
    assert status == 2, said
    tag = name.removeprefix("refs/tags/")
    assert f"error: FETCH_HEAD is the tag '{tag}'" in said
    assert "hint: " in said
    assert "refs/heads/" in said


@pytest.mark.parametrize("names", [("refs/heads/main",), ("refs/heads/main", "refs/tags/v1"), ("HEAD",), ()])
def test_a_fetched_branch_is_one(clone: Path, names: tuple[str, ...]) -> None:
    git(clone, "fetch", "-q", "--no-tags", "origin", *names)
    status, said = review(clone, "FETCH_HEAD", "--merge-base")
    assert (status, "verdict: block" in said) == (1, True), said


def test_a_linked_work_tree_has_its_own(clone: Path) -> None:
    git(clone, "worktree", "add", "-q", "--detach", "../linked")
    linked = clone.parent / "linked"
    git(linked, "fetch", "-q", "--no-tags", "origin", "main")
    assert review(linked, "FETCH_HEAD")[0] == 2
    git(linked, "fetch", "-q", "--no-tags", "origin", "refs/heads/main")
    assert review(linked, "FETCH_HEAD")[0] == 1


def test_a_head_that_was_fetched_as_a_tag_may_be_meant(clone: Path) -> None:
    git(clone, "fetch", "-q", "--no-tags", "origin", "v1")
    status, said = review(clone, "refs/remotes/origin/main", "--head", "FETCH_HEAD")
    assert (status, "verdict: block" in said) == (1, True), said


def test_nothing_fetched_is_an_unknown_revision(clone: Path) -> None:
    (clone / ".git" / "FETCH_HEAD").unlink()
    status, said = review(clone, "FETCH_HEAD")
    assert (status, "unknown revision 'FETCH_HEAD'" in said) == (2, True)
