"""Trees and repositories, against real git."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kit.git import git
from kit.repositories import commit, put

from locklens.errors import ConfigurationError, RepositoryError, UnmergedFileError
from locklens.project import git as git_module
from locklens.project import gittree, tree
from locklens.project.git import Repository, UncommittedSide, objects
from locklens.project.git.listings import PathChange
from locklens.project.gittree import IndexTree, RevisionTree, SparseWorkTree
from locklens.project.tree import EmptyTree, EntryKind, FileSystem, FolderEntry, WorkTree, normalise

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE, FOLDER, LINKED, BROKEN = EntryKind.FILE, EntryKind.FOLDER, EntryKind.LINKED_FOLDER, EntryKind.BROKEN


def test_the_author_is_the_one_that_git_would_write(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Path.home() / ".gitconfig"
    settings.write_text("[user]\nname = Ann\n")

    def author() -> str:
        with Repository.discover(repo) as repository:
            return repository.author

    monkeypatch.delenv("GIT_AUTHOR_NAME", raising=False)
    assert author() == "Ann"
    git(repo, "config", "author.name", "Bo <Example>")
    assert author() == "Bo Example"
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Rae")
    assert author() == "Rae"
    monkeypatch.delenv("GIT_AUTHOR_NAME")
    git(repo, "config", "--unset", "author.name")
    settings.write_text("")
    assert author() == ""


def change(kind: str, path: str) -> PathChange:
    return PathChange(path, kind != "added", kind != "deleted")


# Paths


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("", ""),
        (".", ""),
        ("./a//b/.", "a/b"),
        ("a/../b", "b"),
        ("a/..", ""),
        ("..", None),
        ("a/../../b", None),
        ("/a", None),
        ("a\0b", None),
    ],
)
def test_a_path_stays_below_the_top(path: str, clean: str | None) -> None:
    assert normalise(path) == clean


# Work tree


def test_the_work_tree_reads_files_and_lists_folders(tmp_path: Path) -> None:
    top = tmp_path / "top"
    put(top, {"a/main.tf": "x", "a/Z.tf": "", "b": "file"})
    (top / "a" / "linked").symlink_to("../a")
    (top / "a" / "link.tf").symlink_to("main.tf")
    (top / "a" / "nothing").symlink_to("nowhere")
    (top / "loop").symlink_to("loop")
    work = WorkTree(top)
    assert work.read("a/main.tf") == b"x"
    assert work.read("a/link.tf") == b"x"
    assert work.read("a/../b") == b"file"
    assert [
        work.read(path) for path in ("a", "", "c", "b/c", "a/nothing", "loop", "../top/b", "a\0", "x" * 5000, "\ud800")
    ] == [None] * 10
    assert work.list("a") == (
        FolderEntry("Z.tf", FILE),
        FolderEntry("link.tf", FILE),
        FolderEntry("linked", LINKED),
        FolderEntry("main.tf", FILE),
        FolderEntry("nothing", BROKEN),
    )
    assert work.list("b") == work.list("c") == ()
    assert [work.has_folder(path) for path in ("", "a", "a/linked", "b", "c", "..")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_path_that_no_system_opens_leads_nowhere(repo: Path) -> None:
    """It is never said to be absent: a tree of git may have it."""
    deep = "/".join(["d" * 200] * 20)
    revision = commit(repo, {f"{deep[:3000]}/main.tf": "x", "a": "y"})
    name = "é" * 2000
    with Repository.discover(repo) as repository:
        trees = (WorkTree(repo), FileSystem(repo), RevisionTree(repository, revision), IndexTree(repository))
        for each in trees:
            assert each.read(f"{deep[:3000]}/main.tf") == b"x"
            assert each.list(deep[:3000]) == (FolderEntry("main.tf", FILE),)
            for path in (f"{deep}/{deep}", "d/" * 2049 + "d", "/".join(["é" * 100] * 30)):
                with pytest.raises(ConfigurationError, match="its path has more than 4096 bytes"):
                    each.read(path)
                with pytest.raises(ConfigurationError, match="its path has more than 4096 bytes"):
                    each.list(path)
                assert not each.has_folder(path)
                assert not each.leads_out(path)
            # No folder can have such a name.
            assert (each.read(name), each.list(name), each.read("d/" * 2049 + name)) == (None, (), None)


def test_what_is_too_far_below_for_the_system_is_not_absent(tmp_path: Path) -> None:
    deep = "/".join(["d" * 200] * 20)
    (tmp_path / deep[:3000]).mkdir(parents=True)
    work = WorkTree(tmp_path)
    assert len(f"{tmp_path}/{deep}/{'x' * 70}") > tree.MAX_PATH_BYTES > len(f"{deep}/{'x' * 70}")
    for path in (f"{deep}/{'x' * 70}", f"{deep[:3000]}/{deep[3001:]}/{'x' * 70}"):
        with pytest.raises(ConfigurationError, match="cannot be read: "):
            work.read(path)
        with pytest.raises(ConfigurationError, match="cannot be listed: "):
            work.list(path)
    assert work.read(f"{deep[:3000]}/{'x' * 256}") is None


def test_links_below_what_is_missing_are_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "top"
    put(top, {"a/b": ""})
    (top / "out").symlink_to("missing/x/y/z/../../../../../..")
    (top / "in").symlink_to("missing/x/y/z/../../../../a")
    (top / "back").symlink_to("missing/../leads")
    (top / "leads").symlink_to("/etc")
    asked: list[str] = []
    readlink = os.readlink

    def counted(path: str) -> str:
        asked.append(os.path.relpath(path, top))
        return readlink(path)

    monkeypatch.setattr(os, "readlink", counted)
    work = WorkTree(top)
    assert [work.leads_out(path) for path in ("out", "in", "back", "leads")] == [True, False, True, True]
    assert sorted(set(asked)) == ["a", "back", "in", "leads", "missing", "out"]


def test_the_links_of_a_work_tree_have_a_bound_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    for number in range(50):
        (tmp_path / f"l{number}").symlink_to("a/../" * 500 + "a")
    monkeypatch.setattr(tree, "MAX_STEPS", 501 * 49)
    work = WorkTree(tmp_path)
    with pytest.raises(RepositoryError, match="links of this tree take more than 24,549 steps"):
        work.list("")
    (tmp_path / "l49").unlink()
    assert {entry.kind for entry in WorkTree(tmp_path).list("") if entry.name[0] == "l"} == {LINKED}


def test_only_regular_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "large").write_bytes(b"12345")
    work = WorkTree(tmp_path)
    for path in ("pipe", "zero"):
        with pytest.raises(ConfigurationError, match=f"{path}: cannot be read: it is a device, pipe or socket"):
            FileSystem(tmp_path).read(path)
    assert FolderEntry("pipe", BROKEN) in work.list("")
    monkeypatch.setattr(tree, "MAX_FILE_BYTES", 4)
    with pytest.raises(ConfigurationError, match="large: not read: it is larger"):
        work.read("large")


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="only root may read /proc/kmsg, and on Linux")
def test_what_has_nothing_to_read_yet_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "messages").symlink_to("/proc/kmsg")
    try:
        assert FileSystem(tmp_path).read("messages"), "there were messages"
    except ConfigurationError as error:
        assert "messages: cannot be read: reading it would block" in str(error)  # noqa: PT017


def test_links_do_not_lead_out_of_the_repository(repo: Path, tmp_path: Path) -> None:
    put(tmp_path, {"outside/secret": "s"})
    put(repo, {"a/b": "b", "in/c": "c"})
    for name, target in {
        "file": "../outside/secret",
        "absolute": str(tmp_path / "outside" / "secret"),
        "folder": "../outside",
        "twice": "folder/secret",
        "git": ".git/config",
        "gits": ".git",
        "a/ok": "../in/c",
        "a/folder": "../in",
        "around": f"../{repo.name}/a/b",
        "inside": str(repo / "a" / "b"),
        "magic": "/proc/self/cwd/a/b",
    }.items():
        (repo / name).symlink_to(target)
    (tmp_path / "alias").symlink_to(repo)
    whole = FileSystem(tmp_path)
    for tree_of, prefix in (
        (WorkTree(repo), ""),
        (WorkTree(tmp_path / "alias"), ""),
        (FileSystem(repo), ""),
        (FileSystem(repo / "a"), "../"),
        (whole, f"{repo.name}/"),
    ):
        for path in ("file", "absolute", "inside", "folder/secret", "twice", "git", "gits/config", "around", "magic"):
            with pytest.raises(ConfigurationError, match="a link that leads out of the repository"):
                tree_of.read(prefix + path)
        for path in ("folder", "gits"):
            with pytest.raises(ConfigurationError, match="a link that leads out of the repository"):
                tree_of.list(prefix + path)
        assert [tree_of.read(prefix + path) for path in ("a/b", "a/ok", "a/folder/c")] == [b"b", b"c", b"c"]
        assert [entry.name for entry in tree_of.list(prefix + "a/folder")] == ["c"]
    assert whole.read("outside/secret") == b"s"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_an_error_and_no_absence(tmp_path: Path) -> None:
    put(tmp_path, {"a": "x", "b/c": "x"})
    (tmp_path / "a").chmod(0)
    (tmp_path / "b").chmod(0)
    with pytest.raises(ConfigurationError, match="a: cannot be read: permission denied"):
        WorkTree(tmp_path).read("a")
    with pytest.raises(ConfigurationError, match="b: cannot be listed: permission denied"):
        WorkTree(tmp_path).list("b")
    (tmp_path / "b").chmod(0o700)


def test_the_empty_tree_has_its_top_alone() -> None:
    empty = EmptyTree()
    assert (empty.read("a"), empty.list(""), empty.has_folder(""), empty.has_folder("a")) == (None, (), True, False)


# Trees of a repository


def test_revision_and_index_answer_as_the_work_tree_does(repo: Path) -> None:
    put(repo, {"a/main.tf": "x\r\n", "a/b/c.tf": "c", "a.tf": "t", "z": ""})
    (repo / "folder").symlink_to("a/b")
    (repo / "a" / "up.tf").symlink_to("../a.tf")
    (repo / "broken").symlink_to("nowhere")
    (repo / "loop").symlink_to("loop")
    first = commit(repo, {})
    with Repository.discover(repo) as repository:
        work = WorkTree(repo)
        for committed in (RevisionTree(repository, first), IndexTree(repository)):
            for path in (
                "a/main.tf",
                "a/up.tf",
                "folder/c.tf",
                "./z",
                "a/../a.tf",
                "a",
                "no",
                "broken",
                "loop",
                "a.tf/x",
            ):
                assert committed.read(path) == work.read(path), path
            for folder in ("a", "a/b", "folder", "no", "a.tf", "loop"):
                assert committed.list(folder) == work.list(folder), folder
                assert committed.has_folder(folder) == work.has_folder(folder), folder
            assert [entry for entry in work.list("") if entry.name != ".git"] == list(committed.list(""))
            assert committed.links() == {"a/up.tf": "a.tf", "folder": "a/b"}


def test_links_lead_nowhere_outside_of_a_revision(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (repo / "relative").symlink_to("../secret")
    (repo / "absolute").symlink_to(tmp_path / "secret")
    (repo / "in").mkdir()
    (repo / "in" / "ok").symlink_to("../in/../target")
    (repo / "ring1").symlink_to("ring2/x")
    (repo / "ring2").symlink_to("ring1")
    revision = commit(repo, {"target": "t"})
    with Repository.discover(repo) as repository:
        committed = RevisionTree(repository, revision)
        for path in ("relative", "absolute", "absolute/x"):
            with pytest.raises(ConfigurationError, match="a link that leads out of the repository"):
                committed.read(path)
        assert [committed.read(path) for path in ("ring1", "ring2/x")] == [None] * 2
        assert committed.read("in/ok") == b"t"
        assert {entry.name: entry.kind for entry in committed.list("")}["absolute"] is BROKEN


def test_a_submodule_is_no_folder(repo: Path) -> None:
    first = commit(repo, {"a": ""})
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{first},module")
    git(repo, "commit", "-qm", "module")
    with Repository.discover(repo) as repository:
        committed = RevisionTree(repository, repository.resolve("HEAD"))
        assert (committed.read("module"), committed.read("module/a"), committed.has_folder("module")) == (
            None,
            None,
            False,
        )
        assert committed.list("") == (FolderEntry("a", FILE), FolderEntry("module", BROKEN))
        assert committed.paths() == ("a",)


def test_names_that_are_no_utf8_survive(repo: Path) -> None:
    if sys.platform == "darwin":
        pytest.skip("file names are Unicode")
    name = os.fsdecode(b"caf\xe9 \n.tf")
    (repo / name).write_text("x")
    revision = commit(repo, {})
    (repo / name).write_text("y")
    with Repository.discover(repo) as repository:
        assert repository.paths(revision) == (name,)
        assert RevisionTree(repository, revision).read(name) == b"x"
        assert RevisionTree(repository, revision).list("") == (FolderEntry(name, FILE),)
        assert repository.compare(revision, UncommittedSide.WORK_TREE)[0] == (change("modified", name),)


def test_a_file_that_is_not_merged_is_an_error_in_the_index(repo: Path) -> None:
    commit(repo, {"f": "base\n"})
    git(repo, "checkout", "-qb", "other")
    commit(repo, {"f": "theirs\n"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"f": "ours\n"})
    with pytest.raises(AssertionError):
        git(repo, "merge", "-q", "other")
    with Repository.discover(repo) as repository:
        with pytest.raises(UnmergedFileError, match="f has merge conflicts in the index") as caught:
            IndexTree(repository).read("f")
        assert (caught.value.ours, caught.value.theirs) == (b"ours\n", b"theirs\n")
        assert repository.compare(repository.resolve("HEAD"), UncommittedSide.INDEX)[0] == (change("modified", "f"),)
        assert repository.compare(repository.resolve("HEAD"), UncommittedSide.WORK_TREE)[0] == (
            change("modified", "f"),
        )
        assert repository.paths(UncommittedSide.WORK_TREE) == ("f",)


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_file_that_one_side_deleted_is_not_merged(repo: Path, is_ours: bool) -> None:
    commit(repo, {"f": "base\n", "g": "g"})
    git(repo, "checkout", "-qb", "other")
    for branch, is_deleted in (("other", not is_ours), ("main", is_ours)):
        git(repo, "checkout", "-q", branch)
        if is_deleted:
            git(repo, "rm", "-q", "f")
        commit(repo, {"g": branch} if is_deleted else {"f": "changed\n"})
    with pytest.raises(AssertionError):
        git(repo, "merge", "-q", "other")
    with Repository.discover(repo) as repository:
        with pytest.raises(UnmergedFileError) as caught:
            IndexTree(repository).read("f")
        sides = (caught.value.ours, caught.value.theirs)
        assert sides == ((None, b"changed\n") if is_ours else (b"changed\n", None))


# Repositories


def test_discovery_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(RepositoryError, match="outside is not inside a git repository") as caught:
        Repository.discover(outside)
    assert caught.value.hint == "name another folder with -C DIR"
    with pytest.raises(RepositoryError, match="is not a folder"):
        Repository.discover(tmp_path / "no")
    (outside / "git").write_text("#!/bin/sh\nexit 0\n")
    (outside / "git").chmod(0o755)
    monkeypatch.chdir(outside)
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(RepositoryError, match="git is not installed"):
        Repository.discover(outside)


def test_a_repository_of_another_user_is_refused_as_git_does(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(RepositoryError, match="dubious ownership") as caught:
        Repository.discover(repo)
    assert "safe.directory" in caught.value.hint


def test_revisions_are_resolved_and_never_options(repo: Path) -> None:
    first = commit(repo, {"a": "1"})
    second = commit(repo, {"a": "2"}, "second: the [other] one")
    git(repo, "tag", "-a", "v1", "-m", "one", first)
    git(repo, "branch", "--", "feature/x")
    with Repository.discover(repo / ".") as repository:
        names = {"HEAD": second, "HEAD~1": first, "v1": first, "main": second, "feature/x": second, first[:8]: first}
        names |= {"HEAD^{/second: the}": second, "@": second}
        assert {name: repository.resolve(name) for name in names} == names
        for name in (
            "--all",
            "-h",
            "--git-dir",
            "",
            "no",
            "v1:a",
            "HEAD:a",
            "a\nHEAD",
            "HEAD\0",
            "main..v1",
            "^HEAD",
            "\ud800",
        ):
            with pytest.raises(RepositoryError, match="unknown revision") as caught:
                repository.resolve(name)
            assert caught.value.hint
        assert repository.merge_base(first, second) == first
        assert repository.show(first, "a") == b"1"
        assert repository.show(first, "b") is None
        assert repository.resolve("HEAD") == second


def test_the_commits_that_touched_a_file(repo: Path) -> None:
    with Repository.discover(repo) as repository:
        assert repository.touching("a/[x]*.hcl", 9) == ()
    first = commit(repo, {"a/[x]*.hcl": "1", "other": "1"})
    commit(repo, {"other": "2", "a/xx.hcl": "2"})
    last = commit(repo, {"a/[x]*.hcl": "3"})
    with Repository.discover(repo / "a") as repository:
        found = repository.touching("a/[x]*.hcl", 9)
        assert [(one.commit, one.parents) for one in found] == [(last, (first,)), (first, ())]
        assert [repository.show(one.commit, "a/[x]*.hcl") for one in found] == [b"3", b"1"]
        assert len(repository.touching("a/[x]*.hcl", 1)) == 1


def test_the_dates_of_commits_sort_whatever_their_time_zones(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, date in (("1", "2024-01-02T01:00:00+0900"), ("2", "2024-01-01T20:00:00-0800")):
        monkeypatch.setenv("GIT_COMMITTER_DATE", date)
        commit(repo, {"a": text})
    with Repository.discover(repo) as repository:
        assert [one.date for one in repository.touching("a", 9)] == ["2024-01-02T04:00:00Z", "2024-01-01T16:00:00Z"]


def test_a_repository_without_commits_is_empty(repo: Path) -> None:
    put(repo, {"a": "1", "b": "2"})
    git(repo, "add", "a")
    with Repository.discover(repo) as repository:
        assert repository.is_unborn
        with pytest.raises(RepositoryError, match="has no commits yet"):
            repository.resolve("HEAD")
        added = (change("added", "a"), change("added", "b"))
        assert repository.compare(UncommittedSide.EMPTY, UncommittedSide.WORK_TREE)[0] == added
        assert repository.compare(UncommittedSide.EMPTY, UncommittedSide.INDEX)[0] == added[:1]


def test_a_broken_head_is_not_taken_for_a_new_repository(repo: Path) -> None:
    commit(repo, {"a": "1"})
    (repo / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    with Repository.discover(repo) as repository:
        assert not repository.is_unborn


def test_no_common_ancestor(repo: Path) -> None:
    first = commit(repo, {"a": "1"})
    git(repo, "checkout", "-q", "--orphan", "other")
    second = commit(repo, {"a": "2"})
    with Repository.discover(repo) as repository, pytest.raises(RepositoryError, match="no common ancestor") as caught:
        repository.merge_base(first, second)
    assert "--unshallow" in caught.value.hint


def test_changes_of_every_kind(repo: Path) -> None:
    base = commit(
        repo, {"kept": "k", "edited": "e", "gone": "g", "old name": "long enough to be known\n" * 5, "mode": "m"}
    )
    (repo / "old name").rename(repo / "new name")
    (repo / "gone").unlink()
    (repo / "mode").chmod(0o755)
    put(repo, {"edited": "E", "fresh": "f"})
    expected = (
        change("modified", "edited"),
        change("added", "fresh"),
        change("deleted", "gone"),
        change("modified", "mode"),
        change("added", "new name"),
        change("deleted", "old name"),
    )
    with Repository.discover(repo) as repository:
        assert repository.compare(base, UncommittedSide.WORK_TREE)[0] == expected
    git(repo, "add", "-A")
    with Repository.discover(repo) as repository:
        assert (
            repository.compare(base, UncommittedSide.WORK_TREE)[0]
            == repository.compare(base, UncommittedSide.INDEX)[0]
            == expected
        )
    head = commit(repo, {})
    with Repository.discover(repo) as repository:
        assert repository.compare(base, head)[0] == expected
        assert repository.compare(head, UncommittedSide.WORK_TREE)[0] == ()
        assert len(repository.compare(head, UncommittedSide.EMPTY)[0]) == 5


def test_two_commits_are_compared_as_git_does(repo: Path) -> None:
    first = commit(repo, {"a": "1", "b/c": "1", "d": "1", "e/f": "1", "g": "1"})
    (repo / "d").unlink()
    put(repo, {"d/x": "1"})
    git(repo, "rm", "-rq", "e")
    (repo / "e").symlink_to("a")
    (repo / "g").unlink()
    commit(repo, {"a": "2", "a.b": "", "\u00e9": ""})
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{first},g")
    git(repo, "commit", "-qm", "module")
    second = git(repo, "rev-parse", "HEAD")
    for base, head in ((first, second), (second, first)):
        listed = git(repo, "diff-tree", "-r", "-z", "--name-status", "--no-renames", "--ignore-submodules", base, head)
        fields = listed.rstrip("\0").split("\0")
        expected = {(letter, path) for letter, path in zip(fields[::2], fields[1::2], strict=True)}
        with Repository.discover(repo) as repository:
            found = repository.compare(base, head)[0]
        letters = {(False, True): "A", (True, False): "D", (True, True): "M"}
        assert {(letters[one.was_there, one.is_there], one.path) for one in found} == {
            # What another repository took the place of is no file any more, where git says that its type changed.
            ("M" if letter == "T" and path != "g" else "AD"[base == first] if path == "g" else letter, path)
            for letter, path in expected
        }
        assert [one.path for one in found] == sorted(one.path for one in found)


def test_untracked_files_count_and_ignored_ones_do_not(repo: Path) -> None:
    base = commit(repo, {".gitignore": "*.log\n", "a/kept": "", "b": "b"})
    put(repo, {"new/x": "", "y.log": "", "a/.terraform/modules/m/main.tf": "", "nested/z": ""})
    git(repo / "nested", "init", "-q")
    git(repo, "rm", "-q", "--cached", "b")
    with Repository.discover(repo / "a") as repository:
        assert repository.top == repo.resolve()
        assert repository.compare(base, UncommittedSide.WORK_TREE)[0] == (
            change("modified", "b"),
            change("added", "new/x"),
        )
        assert repository.paths(UncommittedSide.WORK_TREE) == (".gitignore", "a/kept", "b", "new/x")
        assert repository.paths(UncommittedSide.WORK_TREE, named="kept") == ("a/kept",)
        assert repository.paths(UncommittedSide.INDEX) == (".gitignore", "a/kept")
        assert repository.paths(UncommittedSide.EMPTY) == ()


def test_which_patterns_ignore_a_file_is_known_of_each_side(repo: Path) -> None:
    patterns = {".gitignore": "# tools\n*.hcl\n/gone/\n", "kept/.gitignore": "\n!a.hcl\n", "other/.gitignore": "b\n"}
    commit(repo, {"tracked.hcl": ""})
    first = commit(repo, patterns)
    put(repo, {"kept/.gitignore": "", "real/.gitignore": "c.hcl\n"})
    (repo / "link").symlink_to("real")
    git(repo, "add", "-f", "kept")
    put(repo, {".git/info/exclude": "c\n"})
    paths = ("x/a.hcl", "link/a.hcl", "kept/a.hcl", "gone/x/y", "other/b", ":x.hcl", "real/c.hcl", "c", "tracked.hcl")
    everywhere = {
        "x/a.hcl": ".gitignore:2",
        "gone/x/y": ".gitignore:3",
        "other/b": "other/.gitignore:1",
        ":x.hcl": ".gitignore:2",
    }
    with Repository.discover(repo) as repository:
        of_commit = repository.ignored(first, paths)
        assert of_commit == {
            **everywhere, "link/a.hcl": ".gitignore:2", "real/c.hcl": ".gitignore:2", "tracked.hcl": ".gitignore:2",
        }  # fmt: skip
        assert repository.ignored(UncommittedSide.INDEX, paths) == {**of_commit, "kept/a.hcl": ".gitignore:2"}
        # Git says nothing of what is behind a link; a file that is tracked is not ignored.
        assert repository.ignored(UncommittedSide.WORK_TREE, paths) == {
            **everywhere, "kept/a.hcl": ".gitignore:2", "real/c.hcl": "real/.gitignore:1", "c": ".git/info/exclude:1",
        }  # fmt: skip


def test_linked_work_tree_bare_repository_and_sha256(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(repo, {"a": "1"})
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "a").write_text("2")
    with Repository.discover(tmp_path / "side") as repository:
        assert repository.compare(first, UncommittedSide.WORK_TREE)[0] == (change("modified", "a"),)
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    with Repository.discover(tmp_path / "bare.git") as repository:
        assert repository.is_bare
        assert RevisionTree(repository, first).read("a") == b"1"
        with pytest.raises(RepositoryError, match="has no work tree"):
            repository.compare(first, UncommittedSide.WORK_TREE)[0]
    monkeypatch.setenv("GIT_DIR", "bare.git")
    with Repository.discover(tmp_path) as repository:
        assert RevisionTree(repository, repository.resolve("main")).read("a") == b"1"
    monkeypatch.delenv("GIT_DIR")
    modern = tmp_path / "modern"
    modern.mkdir()
    git(modern, "init", "-q", "--object-format=sha256")
    (modern / "a").write_text("1")
    with Repository.discover(modern) as repository:
        assert repository.compare(UncommittedSide.EMPTY, UncommittedSide.WORK_TREE)[0] == (change("added", "a"),)
    head = commit(modern, {})
    with Repository.discover(modern) as repository:
        assert len(head) == 64
        assert RevisionTree(repository, head).read("a") == b"1"
        assert repository.compare(UncommittedSide.EMPTY, head)[0] == (change("added", "a"),)


def test_a_sparse_checkout_has_the_indexs_files_and_no_deleted_ones(repo: Path) -> None:
    base = commit(repo, {"in/a": "", "out/b": ""})
    git(repo, "sparse-checkout", "set", "in")
    with Repository.discover(repo) as repository:
        assert repository.compare(base, UncommittedSide.WORK_TREE)[0] == ()
        assert repository.paths(UncommittedSide.WORK_TREE) == ("in/a", "out/b")
        assert repository.paths(base) == ("in/a", "out/b")
        assert SparseWorkTree(repository).read("out/b") == b""
        assert [entry.name for entry in SparseWorkTree(repository).list("out")] == ["b"]


def test_shallow_and_partial_clones_say_what_they_lack(repo: Path, tmp_path: Path) -> None:
    first = commit(repo, {"a": "first version"})
    commit(repo, {"a": "second version"})
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    with Repository.discover(tmp_path / "shallow") as repository:
        with pytest.raises(RepositoryError, match="unknown revision"):
            repository.resolve("HEAD~1")
        with pytest.raises(RepositoryError, match=r"git cannot find the common ancestor|unknown|no common"):
            repository.merge_base(repository.resolve("HEAD"), first)
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{repo}", "partial")
    with Repository.discover(tmp_path / "partial") as repository:
        old = RevisionTree(repository, repository.resolve("HEAD~1"))
        with pytest.raises(RepositoryError, match=r"a cannot be read: .*missing from this clone|not in this clone"):
            old.read("a")
        assert RevisionTree(repository, repository.resolve("HEAD")).read("a") == b"second version"


def test_the_repositorys_own_configuration_starts_no_program(repo: Path, tmp_path: Path) -> None:
    base = commit(
        repo, {"a.txt": "1\n", ".gitattributes": "*.txt filter=evil diff=evil\n*.md filter=e=vil.x\n", "b.md": "1\n"}
    )
    ran = tmp_path / "ran"
    for key in (
        "filter.evil.clean",
        "filter.evil.process",
        "filter.e=vil.x.clean",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "alias.diff",
    ):
        git(repo, "config", key, f"touch {ran}; cat")
    git(repo, "config", "filter.evil.required", "true")
    git(repo, "config", "core.hooksPath", "hooks")
    put(repo, {"hooks/post-index-change": f"#!/bin/sh\ntouch {ran}\n", "a.txt": "2\n", "b.md": "2\n"})
    (repo / "hooks" / "post-index-change").chmod(0o755)
    with Repository.discover(repo) as repository:
        found = {change.path for change in repository.compare(base, UncommittedSide.WORK_TREE)[0]}
        assert found == {"a.txt", "b.md", "hooks/post-index-change"}
        assert repository.compare(base, UncommittedSide.INDEX)[0] == ()
    assert not ran.exists()


def test_objects_are_read_by_one_process_from_many_threads(repo: Path) -> None:
    revision = commit(repo, {f"f{number}": f"{number}" * 3000 for number in range(300)})
    wrong: list[str] = []
    with Repository.discover(repo) as repository:
        committed = RevisionTree(repository, revision)

        def read_all() -> None:
            wrong.extend(name for name in committed.paths() if committed.read(name) != name[1:].encode() * 3000)

        threads = [threading.Thread(target=read_all) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
    with Repository.discover(repo) as repository:
        committed = RevisionTree(repository, revision)
        committed.prefetch([*committed.paths(), "unknown"])
        repository.close()
        assert committed.read("f299") == b"299" * 3000
        assert repository.resolve("HEAD") == revision  # asked again after it was closed


def test_a_huge_object_is_refused_and_the_others_are_read(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = commit(repo, {"a": "a", "huge": "h" * 5000, "z": "z"})
    monkeypatch.setattr(objects, "MAX_FILE_BYTES", 4096)
    with Repository.discover(repo) as repository:
        committed = RevisionTree(repository, revision)
        committed.prefetch(committed.paths())
        assert (committed.read("a"), committed.read("z")) == (b"a", b"z")
        with pytest.raises(ConfigurationError, match="huge: not read: it is larger"):
            committed.read("huge")


def test_what_is_read_ahead_is_bounded_together(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = commit(repo, {f"f{number}": f"{number}" * 100 for number in range(9)})
    monkeypatch.setattr(git_module, "_HELD_BYTES", 250)
    asked: list[int] = []
    with Repository.discover(repo) as repository:
        committed = RevisionTree(repository, revision)
        read = objects.ObjectReader.read

        def counted(reader: objects.ObjectReader, names: Iterable[str], **options: int) -> object:
            found = read(reader, names, **options)
            asked.append(len(found))
            return found

        monkeypatch.setattr(objects.ObjectReader, "read", counted)
        committed.prefetch(committed.paths())
        assert asked == [2]
        assert [committed.read(f"f{number}") for number in range(9)] == [b"%d" % number * 100 for number in range(9)]


def test_what_links_lead_to_is_found_once(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (repo / f"l{number}").symlink_to("a/.././a//./b")
    (repo / "a").mkdir()
    revision = commit(repo, {"a/b": ""})
    monkeypatch.setattr(gittree, "MAX_STEPS", 50 * 5)
    with Repository.discover(repo) as repository:
        committed = RevisionTree(repository, revision)
        for _ in range(3):
            assert committed.links() == {f"l{number}": "a/b" for number in range(50)}
        with pytest.raises(RepositoryError, match="links of this tree take more than 250 steps"):
            committed.resolve("l1/x")
        monkeypatch.setattr(gittree, "MAX_STEPS", 50 * 5 - 1)
        with pytest.raises(RepositoryError, match="links of this tree"):
            RevisionTree(repository, revision).links()


def test_importing_stays_light() -> None:
    script = (
        "import sys, locklens.project.tree, locklens.project.git, locklens.project.root_search; "
        "print([name for name in ('subprocess', 'pathlib', 'hashlib', 'hcl2', 'shutil') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "[]"
