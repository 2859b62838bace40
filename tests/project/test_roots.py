"""Which roots there are, which changed, which moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kit.git import git
from kit.repositories import put, repository

from locklens.errors import ConfigurationError
from locklens.project import LOCK_FILE, RootPair, moved_roots, touched_roots
from locklens.project.git import Repository, UncommittedSide
from locklens.project.gittree import IndexTree, RevisionTree, SparseWorkTree
from locklens.project.lock_history import LockCommits
from locklens.project.root_search import find_roots, lock_paths
from locklens.project.tree import EmptyTree, WorkTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locklens.project.tree import Tree


def lock(*names: str) -> str:
    """A lock file with one provider of ten hashes for each name."""
    blocks = []
    for name in names:
        hashes = "".join(f'    "zh:{name}{number:040}",\n' for number in range(10))
        blocks.append(
            f'\nprovider "registry.terraform.io/acme/{name}" {{\n  version = "1.0.0"\n  hashes = [\n{hashes}  ]\n}}\n'
        )
    return "# This file is maintained automatically.\n" + "".join(blocks)


def module(*sources: str) -> str:
    return "".join(f'module "m{number}" {{\n  source = "{source}"\n}}\n' for number, source in enumerate(sources))


def write(folder: Path, files: dict[str, str | None]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            place.unlink()
        else:
            place.write_text(text)


def commit(folder: Path, files: dict[str, str | None]) -> str:
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


def found(
    repo: Path, base: str, head: str | UncommittedSide = UncommittedSide.WORK_TREE, only: Sequence[str] = ()
) -> dict[str, str]:
    """Every root with what is said of it: l(ock), c(onfiguration) changed, + added, - deleted, <old folder (? for each equal one that may be it, ! for each other one)."""
    with Repository.discover(repo) as repository:
        old = RevisionTree(repository, base)
        places: dict[object, Tree] = {
            UncommittedSide.WORK_TREE: SparseWorkTree(repository),
            UncommittedSide.INDEX: IndexTree(repository),
            UncommittedSide.EMPTY: EmptyTree(),
        }
        tree = places[head] if isinstance(head, UncommittedSide) else RevisionTree(repository, head)
        pairs = find_roots(repository, old, tree, repository.compare(base, head)[0], only=only).pairs
    return {pair.path: letters(pair) for pair in pairs}


def moves(repo: Path, base: str, head: str | UncommittedSide = UncommittedSide.WORK_TREE) -> dict[str, str]:
    """The old folder of every root that moved."""
    return {path: said.partition("<")[2] for path, said in found(repo, base, head).items() if "<" in said}


def letters(pair: RootPair) -> str:
    text = "l" * pair.lock_changed + "c" * pair.configuration_changed
    text += "+" * (pair.old_lock is None) + "-" * (pair.new_lock is None)
    return text + (
        f"<{pair.renamed_from}{'?' * pair.equals_before}{'!' * len(pair.unlike_before)}"
        if pair.renamed_from is not None
        else ""
    )


def test_changed_added_deleted_and_unchanged_roots(repo: Path) -> None:
    base = commit(
        repo,
        {
            LOCK_FILE: lock("top"),
            f"same/{LOCK_FILE}": lock("a"),
            f"edited/{LOCK_FILE}": lock("a"),
            f"gone/{LOCK_FILE}": lock("gone"),
            f"configured/{LOCK_FILE}": lock("c"),
            "configured/main.tf": "",
            f"tested/{LOCK_FILE}": lock("t"),
            f"mode/{LOCK_FILE}": lock("m"),
            "no/root/main.tf": "",
            f".terraform/tracked/{LOCK_FILE}": lock("x"),
            f"other{LOCK_FILE}": "",
        },
    )
    write(
        repo,
        {
            f"edited/{LOCK_FILE}": lock("b"),
            f"gone/{LOCK_FILE}": None,
            f"new/{LOCK_FILE}": lock("new"),
            f".terraform/tracked/{LOCK_FILE}": lock("y"),
            "configured/main.tf": "# changed",
            "configured/readme.md": "# changed",
            "tested/tests/deep/one.tftest.hcl": "",
            "same/readme.md": "",
            "no/root/main.tf": "# changed",
        },
    )
    (repo / "mode" / LOCK_FILE).chmod(0o755)
    expected = {
        "": "",
        ".terraform/tracked": "l",
        "configured": "c",
        "edited": "l",
        "gone": "l-",
        "mode": "",
        "new": "l+",
        "same": "",
        "tested": "c",
    }
    assert found(repo, base) == expected
    git(repo, "add", "-A")
    assert found(repo, base, UncommittedSide.INDEX) == expected
    head = commit(repo, {})
    assert found(repo, base, head) == expected
    assert set(found(repo, base, UncommittedSide.EMPTY).values()) == {"l-", "lc-"}


def test_a_change_in_a_local_module_reaches_every_root_that_calls_it(repo: Path) -> None:
    base = commit(
        repo,
        {
            f"a/{LOCK_FILE}": lock("a"),
            "a/main.tf": module("../modules/outer"),
            f"b/{LOCK_FILE}": lock("b"),
            "b/main.tf.json": '{"module": {"m": {"source": "../modules/inner"}}}',
            f"c/{LOCK_FILE}": lock("c"),
            "c/main.tf": module("../modules/else", "hashicorp/consul/aws", "../../outside"),
            f"d/{LOCK_FILE}": lock("d"),
            "d/main.tofu": module("../a"),
            "modules/outer/main.tf": module("./../inner", "../outer"),
            "modules/inner/main.tf": "",
            "modules/else/main.tf": "",
        },
    )
    write(repo, {"modules/inner/main.tf": "# changed"})
    expected = {"a": "c", "b": "c", "c": "", "d": "c"}
    assert found(repo, base) == expected
    assert found(repo, base, commit(repo, {})) == expected
    head = git(repo, "rev-parse", "HEAD")
    write(repo, {"a/more.tf": ""})
    assert found(repo, head) == {"a": "c", "b": "", "c": "", "d": "c"}
    write(repo, {"a/more.tf": None, "modules/inner/main.tf": None})
    assert found(repo, head) == expected


def test_a_change_is_seen_through_links(repo: Path) -> None:
    for root, target in (
        ("a/provider.tf", "../common/provider.tf"),
        ("b/module", "../modules/m"),
        (f"c/{LOCK_FILE}", "../a/" + LOCK_FILE),
    ):
        (repo / root).parent.mkdir(exist_ok=True)
        (repo / root).symlink_to(target)
    (repo / "d").symlink_to("common")
    base = commit(
        repo,
        {
            f"a/{LOCK_FILE}": lock("a"),
            f"b/{LOCK_FILE}": lock("b"),
            "b/main.tf": module("./module"),
            "common/provider.tf": "",
            "modules/m/main.tf": "",
        },
    )
    write(repo, {"common/provider.tf": "# changed"})
    assert found(repo, base) == {"a": "c", "b": "", "c": ""}
    write(repo, {"common/provider.tf": "", "modules/m/main.tf": "# changed", f"a/{LOCK_FILE}": lock("x")})
    assert found(repo, base) == {"a": "l", "b": "c", "c": "l"}
    assert found(repo, base, commit(repo, {})) == {"a": "l", "b": "c", "c": "l"}


def test_links_to_folders_above_come_to_an_end(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "a" / "b").mkdir(parents=True)
    (repo / "a" / "up").symlink_to("..")
    (repo / "a" / "b" / "up").symlink_to("../..")
    base = commit(repo, {f"a/{LOCK_FILE}": lock("a"), "a/main.tf": ""})
    write(repo, {"a/main.tf": "# changed"})
    assert found(repo, base) == {"a": "c"}
    monkeypatch.setattr(touched_roots, "_MAX_ALIASES", 1)
    assert found(repo, base) == {"a": "c"}


def test_moved_roots_are_one_pair(repo: Path) -> None:
    equal = {f"teams/{number:02}/{LOCK_FILE}": lock("same") for number in range(12)}
    base = commit(
        repo,
        {
            **equal,
            f"stage/db/{LOCK_FILE}": lock("a", "b", "c"),
            f"old/empty/{LOCK_FILE}": "# nothing\n",
            f"unlike/{LOCK_FILE}": lock("u"),
        },
    )
    git(repo, "mv", "teams", "groups")
    git(repo, "mv", "stage", "staging")
    git(repo, "mv", "old", "new")
    git(repo, "mv", "unlike", "else")
    write(repo, {f"staging/db/{LOCK_FILE}": lock("a", "b", "d"), f"else/{LOCK_FILE}": lock("v")})
    expected = {f"groups/{number:02}": f"l<teams/{number:02}" for number in range(12)}
    expected |= {"staging/db": "l<stage/db", "new/empty": "l+", "old/empty": "l-", "unlike": "l-", "else": "l+"}
    git(repo, "reset", "-q")  # untracked, as "mv" alone leaves it
    assert found(repo, base) == expected
    git(repo, "add", "-A")
    assert found(repo, base, UncommittedSide.INDEX) == expected
    assert found(repo, base, commit(repo, {})) == expected
    assert found(repo, base, only=["teams/07"]) == {"groups/07": "l<teams/07"}


def test_a_root_with_another_configuration_did_not_move_however_alike_the_lock_files_are(repo: Path) -> None:
    base = commit(repo, {f"a/{LOCK_FILE}": lock("a", "b", "c"), "a/main.tf": "# network\n# of the office\n"})
    write(repo, {f"b/{LOCK_FILE}": lock("a", "b", "d"), "b/main.tf": "# another\n# one\n"})
    git(repo, "rm", "-qr", "a")
    assert moves(repo, base) == {}
    write(repo, {"b/main.tf": "# network\n# of the office\n# and the laboratory\n"})
    assert moves(repo, base) == {"b": "a"}
    (repo / "b" / "main.tf").unlink()
    assert moves(repo, base) == {"b": "a"}, "without a configuration the lock files alone can tell"


def test_the_files_tell_the_old_folder_of_a_moved_root_before_the_names_do(repo: Path) -> None:
    noted = lock("a", "b") + "# a note\n"
    base = commit(
        repo,
        {
            f"b/{LOCK_FILE}": noted,
            "b/main.tf": "",
            f"c/{LOCK_FILE}": lock("a", "b"),
            "c/main.tf": "",
            f"same/first/{LOCK_FILE}": lock("s"),
            "same/first/main.tf": "# first\n",
            f"same/second/{LOCK_FILE}": lock("s"),
            "same/second/main.tf": "# second\n# like the third\n",
            f"same/third/{LOCK_FILE}": lock("s"),
            "same/third/main.tf": "# third\n# like the second\n",
        },
    )
    git(repo, "mv", "c", "c2")
    git(repo, "rm", "-qr", "b")
    assert moves(repo, base) == {"c2": "c"}
    git(repo, "reset", "-q", "--hard")

    git(repo, "mv", "b", "y")
    git(repo, "mv", "c", "a1")
    for name, other in (("first", "z"), ("second", "x"), ("third", "w")):
        git(repo, "mv", f"same/{name}", f"same/{other}")
    write(repo, {f"same/x/{LOCK_FILE}": lock("s") + "# a note\n", "same/x/main.tf": "# new\n# second\n"})
    expected = {"a1": "c", "y": "b", "same/z": "same/first", "same/w": "same/third", "same/x": "same/second"}
    assert moves(repo, base) == expected
    assert moves(repo, base, commit(repo, {})) == expected


def test_the_configuration_tells_the_old_folder_of_a_moved_root_before_its_lock_file_does(repo: Path) -> None:
    """The root has the lock file of another root, which was deleted: what the move downgrades must be a change."""
    common = "".join(f"# line {number}\n" for number in range(9))
    files: dict[str, str | None] = {f"{name}/{LOCK_FILE}": lock("same", name) for name in ("a", "b", "c")}
    base = commit(repo, files | {f"{name}/main.tf": f"# of {name}\n{common}" for name in ("a", "b", "c")})
    git(repo, "mv", "a", "core")
    git(repo, "mv", "c", "edge")
    git(repo, "rm", "-qr", "b")
    write(repo, {f"core/{LOCK_FILE}": lock("same", "b"), f"edge/{LOCK_FILE}": lock("replaced")})
    assert moves(repo, base) == {"core": "a", "edge": "c"}
    write(repo, {"core/main.tf": f"# of a\n# edited\n{common}", "edge/main.tf": f"# of c\n# edited\n{common}"})
    assert moves(repo, base) == {"core": "a"}, "of an edited root, the lock file has to be alike too"


@pytest.mark.parametrize("name", ["backend.hcl", "settings/of/all.json"])
def test_any_file_tells_roots_of_equal_configurations_apart_before_the_lock_file_does(repo: Path, name: str) -> None:
    """The root has the lock file of another root, which was deleted: what the move downgrades must be a change."""
    files: dict[str, str | None] = {}
    for folder in ("live/dev", "live/prod"):
        files |= {
            f"{folder}/{LOCK_FILE}": lock(folder),
            f"{folder}/main.tf": "# a\n",
            f"{folder}/{name}": f"{folder}\n2\n",
        }
    base = commit(repo, files)
    git(repo, "mv", "live/prod", "live/main")
    git(repo, "rm", "-qr", "live/dev")
    write(repo, {f"live/main/{LOCK_FILE}": lock("live/dev")})
    expected = {"live/main": "live/prod"}
    assert moves(repo, base) == expected
    write(repo, {f"live/main/{name}": "live/prod\n3\n"})
    assert moves(repo, base) == expected
    assert moves(repo, base, commit(repo, {})) == expected


def test_an_equal_lock_file_does_not_tell_roots_apart_whose_other_files_differ(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, str | None] = {}
    for folder in ("live/dev", "live/prod"):
        files |= {
            f"{folder}/{LOCK_FILE}": lock(folder),
            f"{folder}/main.tf": "# a\n",
            f"{folder}/a.json": "a",
            f"{folder}/b": "b",
        }
    base = commit(repo, files | {"live/dev/c": "1", "live/prod/c": "2"})
    git(repo, "mv", "live/prod", "live/main")
    git(repo, "rm", "-qr", "live/dev")
    write(repo, {f"live/main/{LOCK_FILE}": lock("live/dev"), "live/main/c": "3"})
    assert moves(repo, base) == {"live/main": "live/dev!"}
    write(repo, {"live/main/c": "2"})
    assert moves(repo, base) == {"live/main": "live/prod"}
    monkeypatch.setattr(moved_roots, "_MAX_FILES", 2)
    assert moves(repo, base) == {"live/main": "live/dev!"}, "of too many files nothing is known"


def test_equal_roots_of_which_any_may_have_moved_are_counted(repo: Path) -> None:
    files: dict[str, str | None] = {}
    for name in ("app1", "app2", "db"):
        files |= {f"live/{name}/{LOCK_FILE}": lock("a"), f"live/{name}/main.tf": "# a\n"}
    base = commit(repo, files)
    (repo / "stage").mkdir()
    git(repo, "mv", "live/app1", "live/web")
    git(repo, "mv", "live/db", "stage/db")
    git(repo, "rm", "-qr", "live/app2")
    assert moves(repo, base) == {"live/web": "live/app1?", "stage/db": "live/db"}, (
        "the name tells where the files do not"
    )


def test_of_equal_roots_the_one_with_the_most_alike_name_is_named(repo: Path) -> None:
    files: dict[str, str | None] = {}
    for name in ("api", "net", "web"):
        files |= {f"live/{name}/{LOCK_FILE}": lock("a"), f"live/{name}/main.tf": "# a\n"}
    base = commit(repo, files)
    expected = {"live/pay-api": "live/api??", "live/front-web": "live/web??", "live/network": "live/net??"}
    for new, old in expected.items():
        git(repo, "mv", old.rstrip("?"), new)
    assert moves(repo, base) == expected


@pytest.mark.parametrize("told", ["backend.tf", "settings/backend.hcl"])
def test_a_copy_of_a_root_that_stays_did_not_move_from_one_that_was_deleted(repo: Path, told: str) -> None:
    """An upgrade of a moved root, after which its lock file is that of a root that stays, makes it no copy."""
    files: dict[str, str | None] = {}
    for name, version in (("dev", "b"), ("prod", "a")):
        own = f"# of {name}\n# bucket of {name}\n# data\n"
        files |= {f"{name}/{LOCK_FILE}": lock(version), f"{name}/main.tf": "# a\n" * 9, f"{name}/{told}": own}
    base = commit(repo, files)
    git(repo, "mv", "dev", "queue")
    write(repo, {f"queue/{LOCK_FILE}": lock("a")})
    assert moves(repo, base) == {"queue": "dev"}
    write(repo, {f"queue/{told}": "# of prod\n# bucket of prod\n# queue\n"})
    assert moves(repo, base) == {}


def test_of_a_thousand_moved_roots_each_has_its_old_folder(repo: Path) -> None:
    """All lock files are equal, and their order by name is another one."""
    roots = range(1000)
    files: dict[str, str | None] = {f"old/{number}/{LOCK_FILE}": lock("s") for number in roots}
    base = commit(repo, files | {f"old/{number}/main.tf": f"# {number}\n" for number in roots})
    (repo / "new").mkdir()
    for number in roots:
        (repo / f"old/{number}").rename(repo / f"new/{999 - number}")
    assert moves(repo, base) == {f"new/{999 - number}": f"old/{number}" for number in roots}


def test_a_lock_file_is_followed_to_the_folders_from_which_its_root_was_moved(repo: Path) -> None:
    old, new, other = (f"{name}/{LOCK_FILE}" for name in ("old", "new", "other"))
    made = commit(repo, {old: lock("a"), "old/main.tf": module("x"), other: lock("a"), "other/main.tf": module("y")})
    changed = commit(repo, {old: lock("a", "b")})
    git(repo, "mv", "old", "new")
    git(repo, "mv", "other", "last")
    moved = commit(repo, {})
    again = commit(repo, {new: lock("a", "b", "c"), old: lock("z"), "old/main.tf": module("z")})
    git(repo, "mv", "new", "there")
    with Repository.discover(repo) as repository:
        commits = LockCommits(repository)
        there, last = commits.of(f"there/{LOCK_FILE}"), commits.of(f"last/{LOCK_FILE}")
        assert [(one.commit, one.path) for one in there] == [(again, new), (moved, new), (changed, old), (made, old)]
        assert [one.parents for one in there] == [(moved,), (changed,), (made,), ()]
        assert [(one.commit, one.path) for one in last] == [(moved, f"last/{LOCK_FILE}"), (made, other)]
        assert [one.commit for one in commits.of(old)] == [again, moved, changed, made]
        paths = {
            revision: commits.path_in(revision, f"there/{LOCK_FILE}") for revision in (again, moved, changed, made)
        }
        assert paths == {again: new, moved: new, changed: old, made: old}
    staged = commit(repo, {})
    git(repo, "mv", "there", "new")
    back = commit(repo, {})
    git(repo, "rm", "-qr", "new")
    gone = commit(repo, {})
    with Repository.discover(repo) as repository:
        assert len(LockCommits(repository).of(new)) == 7
    git(repo, "checkout", "-q", back, "--", "new")
    restored = commit(repo, {})
    with Repository.discover(repo) as repository:
        commits = LockCommits(repository)
        found = commits.of(new)
        assert [one.data is not None for one in found] == [True, False, *[True] * 6]
        assert [one.commit for one in found] == [restored, gone, back, staged, again, moved, changed, made]
        assert commits.path_in(gone, new) is None, "the root in the folder from which it was moved is another one"


def test_a_lock_file_that_leaves_a_module_leaves_no_root(repo: Path) -> None:
    files: dict[str, str | None] = {
        f"a/{LOCK_FILE}": lock("a"),
        "a/main.tf": module("../modules/outer"),
        "modules/outer/main.tf": module("../inner"),
        f"modules/inner/{LOCK_FILE}": lock("a"),
        f"b/{LOCK_FILE}": lock("b"),
        f"c/{LOCK_FILE}": lock("c"),
        "c/main.tf": module("../d"),
        f"d/{LOCK_FILE}": lock("d"),
    }
    base = commit(repo, files)
    write(repo, {f"{folder}/{LOCK_FILE}": None for folder in ("modules/inner", "b", "c", "d")})
    write(repo, {"a/more.tf": module("../b")})  # a change cannot make a module of a root

    def modules(head: str | UncommittedSide) -> set[str]:
        with Repository.discover(repo) as repository:
            tree = WorkTree(repository.top) if isinstance(head, UncommittedSide) else RevisionTree(repository, head)
            old = RevisionTree(repository, base)
            pairs = find_roots(repository, old, tree, repository.compare(base, head)[0]).pairs
        return {pair.path for pair in pairs if pair.is_module}

    assert modules(UncommittedSide.WORK_TREE) == {"modules/inner"}
    assert modules(commit(repo, {})) == {"modules/inner"}
    head = git(repo, "rev-parse", "HEAD")
    write(repo, {"a/main.tf": ""})
    assert modules(UncommittedSide.WORK_TREE) == set()
    assert found(repo, base, head)["modules/inner"] == "l-"


def test_only_the_roots_that_are_asked_for(repo: Path) -> None:
    base = commit(repo, {f"{name}/{LOCK_FILE}": lock(name) for name in ("a", "b/x", "b/y", "c")})
    assert found(repo, base, only=["c/", f"./b/x/{LOCK_FILE}"]) == {"b/x": "", "c": ""}
    with pytest.raises(ConfigurationError, match=r"b: no \.terraform\.lock\.hcl in this folder") as caught:
        found(repo, base, only=["a", "b"])
    assert caught.value.hint == "roots below: b/x, b/y; select with --root DIR or --all-roots"
    for wrong in ("no", "../a", "", f"no/{LOCK_FILE}"):
        with pytest.raises(ConfigurationError):
            found(repo, base, only=[wrong])


def test_a_root_in_a_submodule_or_behind_a_link_is_not_said_to_be_missing_alone(repo: Path) -> None:
    other = repo / "vendor/lib"
    other.mkdir(parents=True)
    repository(other, {f"live/{LOCK_FILE}": lock("a")})
    (repo / "link").symlink_to("vendor/lib")
    base = commit(repo, {f"a/{LOCK_FILE}": lock("a")})
    for head in (UncommittedSide.WORK_TREE, base):
        for asked, above in (("vendor/lib/live", "vendor/lib"), ("link/live", "link")):
            with pytest.raises(
                ConfigurationError, match=rf"in this folder, as {above} is a submodule, a link or a file"
            ) as caught:
                found(repo, base, head, only=[asked])
            assert caught.value.hint.startswith("-C DIR reads a submodule")


def test_roots_that_a_sparse_checkout_leaves_out_are_those_of_the_index(repo: Path) -> None:
    base = commit(repo, {f"in/{LOCK_FILE}": lock("a"), f"out/{LOCK_FILE}": lock("b")})
    git(repo, "sparse-checkout", "set", "in")
    assert found(repo, base) == {"in": "", "out": ""}
    assert found(repo, base, UncommittedSide.INDEX) == {"in": "", "out": ""}


def test_what_is_only_announced_to_the_index_is_not_in_it(repo: Path) -> None:
    base = commit(repo, {f"a/{LOCK_FILE}": lock("a")})
    write(repo, {f"b/{LOCK_FILE}": lock("b")})
    git(repo, "add", "--intent-to-add", f"b/{LOCK_FILE}")
    assert found(repo, base, UncommittedSide.INDEX) == {"a": ""}
    assert found(repo, base) == {"a": "", "b": "l+"}


def test_conversion_of_line_ends_is_no_change(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    base = commit(repo, {f"a/{LOCK_FILE}": lock("a")})
    (repo / "a" / LOCK_FILE).write_bytes(lock("a").replace("\n", "\r\n").encode())
    assert found(repo, base) == {"a": ""}


def test_lock_paths_of_every_side(repo: Path) -> None:
    base = commit(repo, {f"a/{LOCK_FILE}": ""})
    write(repo, {f"b/{LOCK_FILE}": "", f"b/.terraform/m/{LOCK_FILE}": ""})
    with Repository.discover(repo) as repository:
        assert lock_paths(repository, RevisionTree(repository, base)) == (f"a/{LOCK_FILE}",)
        assert lock_paths(repository, WorkTree(repo)) == (f"a/{LOCK_FILE}", f"b/{LOCK_FILE}")
        assert lock_paths(repository, EmptyTree()) == ()


def test_of_many_changed_files_each_may_be_a_state_but_for_lock_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A lock file is looked into, however many there are: the review reads them anyway."""
    monkeypatch.setattr(touched_roots, "_MAX_READ", 2)
    state = '{"version": 4, "resources": []}'
    locks = {f"{name}/{LOCK_FILE}": "# a lock file\n" for name in "abcd"} | {f"e/{LOCK_FILE}": state}
    others = {f"{number}.txt": "text" for number in range(3)}
    put(tmp_path, locks | others)
    tree = WorkTree(tmp_path)
    assert touched_roots.changed_states(tree, locks) == {f"e/{LOCK_FILE}"}
    assert touched_roots.changed_states(tree, [*locks, "0.txt", "1.txt"]) == {f"e/{LOCK_FILE}"}
    assert touched_roots.changed_states(tree, [*locks, *others]) == {f"e/{LOCK_FILE}", *others}
