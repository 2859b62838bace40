"""What git cannot read, or a checkout leaves out, is never new, absent or ok: real repositories, the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from attacks.edited_version import EDITED, LOCK, OLD, REVIEW
from kit.command_line import locklens
from kit.effort import IS_FULL, effort
from kit.git import git
from kit.repositories import commit, copy_of
from ui.conftest import Running

from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.ui.review import ReviewScreen

Leave = Callable[[Path], None]
HINT = '"git fsck" shows what is damaged; "git fetch --refetch --no-filter" completes a partial clone'
ROOT = "infra/prod"
BASES = [("main",), ("main", "--merge-base"), ("main", "--head", "HEAD"), ("main", "--staged")]


def with_everything(folder: Path) -> None:
    """Lays out a repository with a file of each kind that a review reads, and a branch that edits a lock file."""
    git(folder, "init", "-q")
    git(folder, "config", "uploadpack.allowFilter", "true")
    commit(folder, {"README": "none of ours"})
    (folder / ROOT).mkdir(parents=True)
    (folder / "infra" / "also").symlink_to("prod")
    required = (
        'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws", version = "~> 5.0" }\n  }\n}\n'
    )
    files = {
        f"{ROOT}/{LOCK}": OLD,
        f"{ROOT}/main.tf": required + 'module "net" {\n  source = "../../modules/net"\n}\n',
        f"{ROOT}/tests/one.tftest.hcl": 'run "one" {\n}\n',
        "modules/net/main.tf": 'resource "aws_vpc" "one" {}\n',
        ".gitattributes": "*.bin filter=other\n",
        "locklens.toml": 'fail_on = "block"\n',
    }
    commit(folder, files)
    git(folder, "checkout", "-qb", "pr")
    commit(folder, {f"{ROOT}/{LOCK}": EDITED, "modules/net/main.tf": 'resource "aws_vpc" "two" {}\n'})


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = copy_of(with_everything, tmp_path / "clone")
    git(folder, "update-index", "-q", "--refresh")
    return folder


def objects(folder: Path) -> dict[str, str]:
    """Returns every object of both sides with the path that it has there, "" for commits."""
    listed = git(folder, "rev-list", "--objects", "--no-object-names", "main", "pr").split()
    named = git(folder, "rev-list", "--objects", "main", "pr").splitlines()
    paths = dict(line.partition(" ")[::2] for line in named)
    return {one: paths.get(one, "") for one in listed}


def place_of(folder: Path, object_id: str) -> Path:
    return folder / ".git" / "objects" / object_id[:2] / object_id[2:]


def damage(place: Path, how: str) -> None:
    place.chmod(0o600)
    if how == "removed":
        place.unlink()
    else:
        place.write_bytes(bytes(range(7, 47)))


SIDES = [*((sides, "removed") for sides in BASES), (BASES[1], "overwritten")]
NEEDED = {f"{ROOT}/{LOCK}", "locklens.toml"}
"""What no review is made without; of the other objects, a sample has a third for each pair of sides, by turns."""


@pytest.mark.parametrize(("sides", "how"), SIDES)
def test_without_any_one_object_a_review_is_the_same_or_ends_with_status_2(
    clone: Path, sides: tuple[str, ...], how: str
) -> None:
    before = locklens(clone, *REVIEW, *sides)
    assert (before[0], "verdict: block" in before[1]) == (1, True)
    refused = []
    there = objects(clone).items()
    needed = [one for one in there if one[1] in NEEDED]
    others = [one for one in there if one[1] not in NEEDED]
    for object_id, path in (*needed, *others[SIDES.index((sides, how)) % effort(3, 1) :: effort(3, 1)]):
        place = place_of(clone, object_id)
        kept = place.read_bytes()
        damage(place, how)
        status, out, err = locklens(clone, *REVIEW, *sides)
        if (status, out) != before[:2]:
            assert (status, out) == (2, ""), f"{path}: {out}"
            assert "hint: " in err, err
            refused.append(path)
        place.unlink(missing_ok=True)
        place.write_bytes(kept)
    assert set(refused) >= NEEDED


@pytest.mark.parametrize("how", ["removed", "overwritten"])
@pytest.mark.parametrize("words", [
    ("review", "main", "--format", "json", "--offline"),
    ("review", "--old", f"main:{ROOT}/{LOCK}", "--new", f"{ROOT}/{LOCK}", "--format", "text", "--offline"),
    ("review", "main", "--offline", "--format", "sarif", "--fail-on", "never"),
    ("hashes", "main", "--offline", "--format", "json"),
    ("keys", "main", "--offline", "--format", "json"),
    ("restore", "aws", "--from", "main", "--root", ROOT, "--dry-run"),
    ("doctor", "--offline", "--root", ROOT, "--format", "json"),
], ids=" ".join)  # fmt: skip
def test_a_base_that_git_cannot_read_is_named_with_the_next_step(clone: Path, words: tuple[str, ...], how: str) -> None:
    damage(place_of(clone, git(clone, "rev-parse", f"main:{ROOT}/{LOCK}")), how)
    status, out, err = locklens(clone, *words)
    assert (status, out) == (2, ""), err
    assert HINT in err


@pytest.mark.parametrize("lacks", ["blob:none", "tree:0"])
@pytest.mark.parametrize("sides", BASES[1:3], ids=" ".join)
def test_a_partial_clone_is_not_judged(clone: Path, tmp_path: Path, sides: tuple[str, ...], lacks: str) -> None:
    part = tmp_path / "part"
    git(tmp_path, "clone", "-q", f"--filter={lacks}", "--branch", "pr", f"file://{clone}", str(part))
    git(part, "branch", "-q", "main", "origin/main")
    status, out, err = locklens(part, *REVIEW, *sides)
    assert (status, out) == (2, ""), err
    assert HINT in err
    git(part, *re.findall('"git ([^"]*)" completes', err)[0].split())
    assert "verdict: block" in locklens(part, *REVIEW, *sides)[1]


# Files that are not on disk


def with_a_sparse_checkout(part: Path) -> None:
    git(part, "sparse-checkout", "set", "modules")


def with_a_sparse_index(part: Path) -> None:
    git(part, "sparse-checkout", "set", "--cone", "--sparse-index", "modules")


def with_patterns(part: Path) -> None:
    git(part, "sparse-checkout", "set", "--no-cone", "/*", "!*.hcl", "!main.tf")


def with_bits_set_by_hand(part: Path) -> None:
    left = [f"{ROOT}/{LOCK}", f"{ROOT}/main.tf", "infra/also"]
    git(part, "update-index", "--skip-worktree", *left)
    for path in left:
        (part / path).unlink()


SPARSE: list[Leave] = [with_a_sparse_checkout, with_a_sparse_index, with_patterns, with_bits_set_by_hand]


@pytest.mark.parametrize("leave_out", SPARSE)
def test_what_a_sparse_checkout_leaves_out_is_judged_all_the_same(clone: Path, leave_out: Leave) -> None:
    commands = [
        (*REVIEW, "main", "--merge-base"),
        (*REVIEW, "main"),
        (*REVIEW, "main", "--", ROOT),
        ("review", "main", "--offline", "--format", "json"),
        ("health", "--offline", "--format", "text"),
        ("hashes", "main", "--offline", "--format", "text"),
        ("keys", "main", "--offline", "--format", "text"),
        ("why", "aws", "--offline", "--", ROOT),
    ]
    if not IS_FULL:  # each command with two of the four
        commands = [commands[0], *commands[1 + SPARSE.index(leave_out) % 2 :: 2]]
    before = [timeless(locklens(clone, *words)) for words in commands]
    assert (before[0][0], "verdict: block" in before[0][1]) == (1, True)
    leave_out(clone)
    assert not (clone / ROOT / LOCK).exists()
    for words, full in zip(commands, before, strict=True):
        assert timeless(locklens(clone, *words)) == full, words


def timeless(done: tuple[int, str, str]) -> tuple[int, str]:
    return done[0], re.sub(r"20\d\d-\d\d-\d\d[T ][\d:]+( UTC|Z)?", "", done[1])


@pytest.mark.parametrize("hide", ["--assume-unchanged", "--skip-worktree"])
def test_what_is_on_disk_is_judged_though_git_is_told_not_to_look(clone: Path, hide: str) -> None:
    edited = (clone / ROOT / LOCK).read_bytes()
    git(clone, "checkout", "-q", "main")
    git(clone, "update-index", hide, f"{ROOT}/{LOCK}", "modules/net/main.tf")
    assert locklens(clone, *REVIEW)[0] == 0
    (clone / ROOT / LOCK).write_bytes(edited)
    assert git(clone, "diff", "--name-only") == ""
    status, out, _ = locklens(clone, *REVIEW)
    assert (status, "LK025" in out) == (1, True), out
    (clone / ROOT / LOCK).write_text(OLD)
    (clone / "modules/net/main.tf").write_text('terraform {\n  required_providers {\n    aws = ">= 9.0"\n  }\n}\n')
    status, out, _ = locklens(clone, *REVIEW, "--fail-on", "warn")
    assert (status, ">= 9.0" in out) == (1, True), out


def test_a_file_that_is_gone_from_disk_is_gone_though_git_assumes_it_unchanged(clone: Path) -> None:
    git(clone, "checkout", "-q", "main")
    git(clone, "update-index", "--assume-unchanged", f"{ROOT}/{LOCK}")
    (clone / ROOT / LOCK).unlink()
    status, out, _ = locklens(clone, "review", "--offline", "--format", "json")
    assert (status, json.loads(out)["roots"][0]["status"]) == (1, "deleted"), out


@pytest.mark.parametrize("leave_out", SPARSE)
def test_a_policy_and_links_that_are_left_out_count(clone: Path, leave_out: Leave) -> None:
    (clone / "locklens.toml").write_text('fail_on = "block"\n[severity]\nLK025 = "warn"\n')
    (clone / "infra" / "out").symlink_to("../../elsewhere")
    commit(clone, {})
    full = timeless(locklens(clone, *REVIEW, "main"))
    leave_out(clone)
    assert timeless(locklens(clone, *REVIEW, "main")) == full


def test_attributes_of_files_that_are_left_out_are_judged(clone: Path) -> None:
    (clone / ".gitattributes").write_text(f"{LOCK} working-tree-encoding=utf-16\n")
    git(clone, "add", ".gitattributes")  # "add -A" may read the lock file anew, and refuse its bytes
    git(clone, "commit", "-qm", "an encoding")
    full = locklens(clone, *REVIEW, "main", "--head", "HEAD")
    assert "LK031" in full[1]
    with_a_sparse_checkout(clone)
    assert "LK031" in locklens(clone, *REVIEW, "main")[1]


def test_a_write_names_what_is_left_out(clone: Path) -> None:
    with_a_sparse_checkout(clone)
    for words in (
        ("lock", "--all-roots", "--dry-run"),
        ("format", "--all-roots", "--dry-run"),
        ("verify", "--all-roots"),
    ):
        status, out, err = locklens(clone, *words)
        assert (status, f"{ROOT}" in out + err) == (2, True), (words, out, err)


async def test_the_screen_says_what_git_cannot_read(running: Running, clone: Path) -> None:
    damage(place_of(clone, git(clone, "rev-parse", f"main:{ROOT}/{LOCK}")), "removed")
    request = ReviewRequest(partial(open_git, clone, Base("main")))
    async with running(LockLens(request), size=(100, 30)) as on:
        assert isinstance(on.app.screen, ReviewScreen)
        assert on.app.screen.review is None
        assert "is not in this clone" in str(on.app.screen.error)
        await on.pilot.press("q")
    assert on.app.return_value == 2


def test_a_root_whose_calls_cannot_be_read_is_reviewed_where_any_module_changed(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.tf").write_text('module "net" {\n  source = "../../modules/net"\n}\n')
    git(clone, "checkout", "-q", "main")
    (clone / ROOT / "main.tf").unlink()
    (clone / ROOT / "main.tf").symlink_to("../../../elsewhere.tf")
    commit(clone, {})
    commit(clone, {"modules/net/main.tf": 'resource "random_id" "one" {\n  byte_length = 1\n}\n'})
    _, out, _ = locklens(clone, "review", "HEAD^", "--offline", "--format", "json")
    assert [root["path"] for root in json.loads(out)["roots"]] == [ROOT]


def test_a_history_that_ends_early_is_no_beginning(clone: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", "--branch", "pr", f"file://{clone}", "shallow")
    words = ("doctor", "--offline", "--root", ROOT)
    _, out, _ = locklens(tmp_path / "shallow", *words)
    assert re.search(r"LOCKED +at least since commit [0-9a-f]{12} of \S+, with which the history here begins\n", out)
    _, out, _ = locklens(clone, *words)
    assert re.search(r"LOCKED +since commit .*\(5\.1\.0 to 5\.2\.0\)\n", out), out
