"""The two sides of a comparison, however they are named."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from kit.git import git
from kit.repositories import commit, put

from locklens.demo import SampleLock, lock_file
from locklens.errors import ConfigurationError, LockLensError, RepositoryError
from locklens.lockfile.parse import parse
from locklens.operations.compare import open_git
from locklens.operations.compare_files import open_files
from locklens.operations.comparison import Base, Comparison
from locklens.operations.root_modules import tool_of
from locklens.project import LOCK_FILE
from locklens.project.tree import WorkTree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OLD, NEW = b'provider "a" {}\n', b'provider "b" {}\n'
ROOT = "infra/prod"
LOCK = f"{ROOT}/{LOCK_FILE}"


@pytest.fixture(autouse=True)
def _own_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one root, whose old lock file is committed."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, {LOCK: OLD, f"{ROOT}/main.tf": b"# old\n", "modules/m/main.tf": b"", "readme": b""})
    return folder


def no_input() -> bytes:
    raise AssertionError("standard input was read")


def files(
    cwd: Path, old: str, new: str, config: str | None = None, stdin: Callable[[], bytes] = no_input
) -> Comparison:
    return open_files(old, new, config=config, cwd=cwd, stdin=stdin)


def seen(comparison: Comparison) -> tuple[bytes | None, bytes | None, bytes | None, bool]:
    """Old and new bytes of the only root, its new main.tf, and whether the lock file changed."""
    (pair,) = comparison.roots
    old = comparison.base.tree.read(pair.old_lock) if pair.old_lock is not None else None
    new = comparison.head.tree.read(pair.new_lock) if pair.new_lock is not None else None
    configuration = comparison.head.tree.read(f"{pair.path}/main.tf" if pair.path else "main.tf")
    if comparison.repository is not None:
        comparison.repository.close()
    return old, new, configuration, pair.lock_changed


def test_one_change_is_the_same_from_every_side(repo: Path) -> None:
    expected = (OLD, NEW, b"# new\n", True)
    new = {LOCK: NEW, f"{ROOT}/main.tf": b"# new\n"}
    put(repo, new)
    assert seen(open_git(repo)) == expected
    assert seen(open_git(repo / ROOT, roots=["."])) == expected
    assert seen(files(repo, f"HEAD:{LOCK}", LOCK)) == expected
    assert seen(files(repo / ROOT, f"HEAD:./{LOCK_FILE}", LOCK_FILE)) == expected
    assert seen(files(repo, f"HEAD:./infra/../{ROOT}/{LOCK_FILE}", f"{ROOT}/{LOCK_FILE}")) == expected
    assert seen(files(repo, "-", LOCK, stdin=lambda: OLD)) == expected
    assert seen(files(repo, f"HEAD:{LOCK}", "-", config=ROOT, stdin=lambda: NEW)) == expected
    git(repo, "add", "-A")
    assert seen(open_git(repo, Base(is_staged=True))) == expected
    for index in (f":{LOCK}", f":0:{LOCK}", f":0:./{LOCK}"):
        assert seen(files(repo, f"HEAD:{LOCK}", index)) == expected
    git(repo, "checkout", "-qb", "feature")
    commit(repo, {})
    assert seen(open_git(repo, Base("HEAD~1"))) == expected
    assert seen(open_git(repo, Base("main", head="feature"))) == expected
    assert seen(open_git(repo, Base("HEAD~1", is_staged=True))) == expected
    assert seen(files(repo, f"main:{LOCK}", f"feature:{LOCK}")) == expected
    assert seen(files(repo, f"main:{LOCK}", f"feature:{LOCK}", config=ROOT)) == expected
    git(repo, "checkout", "-q", "main")
    commit(repo, {"elsewhere/x": b"", LOCK: b"something else\n"})
    assert seen(open_git(repo, Base("main", head="feature", fork_of="feature"))) == expected
    git(repo, "checkout", "-q", "feature")
    assert seen(open_git(repo, Base("main", fork_of="HEAD"))) == expected
    assert seen(open_git(repo, Base("main", fork_of="HEAD", is_staged=True))) == expected
    assert seen(open_git(repo, Base("main")))[0] == b"something else\n"


def test_the_sides_say_what_they_are(repo: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    with_head = open_git(repo, Base(head="main"))
    assert (with_head.base.kind, with_head.base.name, with_head.base.revision) == ("git", "HEAD", head)
    assert (with_head.head.kind, with_head.head.name, with_head.head.revision) == ("git", "main", head)
    work = open_git(repo)
    assert (work.head.kind, work.head.name, work.head.revision) == ("worktree", "worktree", None)
    assert work.top == repo.resolve()
    assert work.all_locks == (LOCK,)
    assert work.worktree is not None
    assert open_git(repo, Base(is_staged=True)).head.kind == "index"
    assert open_git(repo, Base("main", fork_of="HEAD")).base.name == "main...HEAD"
    pair = files(repo, f"HEAD:{LOCK}", "/dev/null")
    assert (pair.base.kind, pair.base.revision, pair.head.kind, pair.head.name) == ("git", head, "empty", "/dev/null")
    assert (pair.roots[0].path, pair.roots[0].new_lock, pair.all_locks) == (ROOT, None, ())


def test_everything_is_new_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "fresh")
    put(tmp_path / "fresh", {LOCK: NEW})
    comparison = open_git(tmp_path / "fresh")
    assert comparison.base.kind == "empty"
    assert seen(comparison) == (None, NEW, None, True)
    assert open_git(tmp_path / "fresh", Base(is_staged=True)).roots == ()
    with pytest.raises(RepositoryError, match="unknown revision 'main'"):
        open_git(tmp_path / "fresh", Base("main"))


def test_roots_are_relative_to_the_folder(repo: Path) -> None:
    put(repo, {f"infra/stage/{LOCK_FILE}": NEW})
    assert [pair.path for pair in open_git(repo / "infra", roots=["stage"]).roots] == ["infra/stage"]
    assert [pair.path for pair in open_git(repo / ROOT, roots=["../stage/", f"./{LOCK_FILE}"]).roots] == [
        ROOT,
        "infra/stage",
    ]
    assert [pair.path for pair in open_git(repo / "infra", roots=[str(repo / ROOT)]).roots] == [ROOT]
    assert len(open_git(repo, roots=[ROOT]).all_locks) == 2
    shutil.rmtree(repo / ROOT)
    assert seen(open_git(repo / "infra", roots=["prod"])) == (OLD, None, None, True)
    for wrong, words in (
        ("nope", "infra/nope: no such folder"),
        ("../..", "outside of the repository"),
        (".", "in this folder"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            open_git(repo / "infra", roots=[wrong])
    with pytest.raises(ConfigurationError, match="cannot be used together"):
        open_git(repo, Base(head="main", is_staged=True))


def test_files_outside_of_git_see_the_modules_beside_them(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"old.hcl": OLD, "root/.terraform.lock.hcl": NEW, "root/main.tf": b"# new\n", "modules/m/main.tf": b"m"},
    )
    comparison = files(tmp_path, "old.hcl", f"root/{LOCK_FILE}")
    assert comparison.repository is None
    assert (comparison.roots[0].path, comparison.roots[0].new_lock) == ("root", f"root/{LOCK_FILE}")
    assert comparison.head.tree.read(f"{comparison.roots[0].path}/../modules/m/main.tf") == b"m"
    assert comparison.worktree is not None
    assert seen(comparison) == (OLD, NEW, b"# new\n", True)
    assert seen(files(tmp_path, "/dev/null", "old.hcl", config="root")) == (None, OLD, b"# new\n", True)
    assert seen(files(tmp_path, "old.hcl", "old.hcl")) == (OLD, OLD, None, False)


def test_standard_input_has_no_configuration_unless_it_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"old.hcl": OLD, "root/main.tf": b"# new\n"})
    bare = files(tmp_path, "old.hcl", "-", stdin=lambda: NEW)
    assert (bare.roots[0].new_lock, bare.roots[0].configuration_changed) == ("<stdin>", False)
    assert seen(bare) == (OLD, NEW, None, True)
    configured = files(tmp_path, "old.hcl", "-", config="root", stdin=lambda: NEW)
    assert configured.roots[0].configuration_changed
    assert seen(configured) == (OLD, NEW, b"# new\n", True)
    assert configured.head.name == "-"


def test_what_the_shell_makes_of_a_command_is_read(tmp_path: Path) -> None:
    put(tmp_path, {"new.hcl": NEW})
    reading, writing = os.pipe()
    os.write(writing, OLD)
    os.close(writing)
    try:
        assert seen(files(tmp_path, f"/dev/fd/{reading}", "new.hcl")) == (OLD, NEW, None, True)
    finally:
        os.close(reading)


def test_a_file_that_is_called_like_a_path_in_a_revision_is_named_by_its_folder(repo: Path) -> None:
    put(repo, {"HEAD:readme": NEW, "HEAD~9:readme": NEW})
    with pytest.raises(ConfigurationError, match="HEAD:readme: ambiguous: both a file and a path in the revision HEAD"):
        files(repo, f"HEAD:{LOCK}", "HEAD:readme")
    assert seen(files(repo, f"HEAD:{LOCK}", "./HEAD:readme"))[:2] == (OLD, NEW)
    assert seen(files(repo, f"HEAD:{LOCK}", "HEAD~9:readme"))[:2] == (OLD, NEW)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("-", "-", "only one of --old and --new"),
        ("/dev/null", "NUL", "both sides are absent"),
        ("nope", "/dev/null", "nope: no such file"),
        ("/dev/null", "no/pe", "no/pe: no such file"),
        ("/dev/null", "infra", "infra: is a folder"),
        ("nope:x", "/dev/null", "unknown revision 'nope'"),
        ("--all:x", "/dev/null", "unknown revision '--all'"),
        ("HEAD:nope", "/dev/null", "no such file in revision 'HEAD'"),
        ("HEAD:../x", "/dev/null", "outside of the repository"),
        (":nope", "/dev/null", "no such file in the index"),
        ("HEAD^{/a:b}:x", "/dev/null", "unknown revision 'HEAD\\^{/a:b}'"),
    ],
)
def test_what_cannot_be_opened(repo: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(LockLensError, match=words):
        files(repo, old, new)


def test_a_revision_outside_of_git_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="HEAD:x: no such file") as caught:
        files(tmp_path, "HEAD:x", "/dev/null")
    assert "not inside a git repository" in caught.value.hint
    put(tmp_path, {"old.hcl": OLD})
    with pytest.raises(ConfigurationError, match="nope: no such folder"):
        files(tmp_path, "/dev/null", "old.hcl", config="nope")


def test_files_need_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"old.hcl": OLD, "new.hcl": NEW})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert seen(files(tmp_path, "old.hcl", "new.hcl")) == (OLD, NEW, None, True)
    with pytest.raises(RepositoryError, match="git is not installed"):
        open_git(tmp_path)


def test_a_handful_of_processes_however_many_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = tmp_path / "many"
    repo.mkdir()
    git(repo, "init", "-q")
    tree = {f"r{number}/{LOCK_FILE}": OLD for number in range(200)}
    tree |= {f"r{number}/main.tf": b'module "m" {\n  source = "../modules/m"\n}\n' for number in range(200)}
    commit(repo, {**tree, "modules/m/main.tf": b""})
    put(repo, {**{path: NEW for path in tree if path.endswith(LOCK_FILE)}, "modules/m/main.tf": b"# new\n"})
    log = tmp_path / "log"
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!{sys.executable}\nimport os, sys\nopen({str(log)!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")\n'
    )
    with wrapper.open("a") as script:
        script.write(f"os.execv({shutil.which('git')!r}, ['git', *sys.argv[1:]])\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent))

    def processes(comparison: Comparison) -> int:
        assert len(comparison.roots) == 200
        assert all(pair.lock_changed and pair.configuration_changed for pair in comparison.roots)
        for pair in comparison.roots:
            assert comparison.base.tree.read(f"{pair.path}/main.tf") == comparison.head.tree.read(
                f"{pair.path}/main.tf"
            )
        assert comparison.repository is not None
        comparison.repository.close()
        count = len(log.read_text().splitlines())
        log.unlink()
        return count

    assert processes(open_git(repo)) <= 7  # git's version among them, once in a process
    git(repo, "add", "-A")
    log.unlink()
    assert processes(open_git(repo, Base(is_staged=True))) <= 6
    commit(repo, {})
    log.unlink()
    assert processes(open_git(repo, Base("HEAD~1", head="HEAD"))) <= 5
    assert processes(open_git(repo, Base("HEAD~1", head="HEAD", fork_of="HEAD"))) <= 6


@pytest.mark.parametrize(
    ("files", "tool"),
    [
        (("main.tofu",), "opentofu"),
        (("main.tofu.json", "notes.txt"), "opentofu"),
        (("main.tf", "more.tofu"), "terraform"),
        ((), "terraform"),
    ],
)
def test_files_that_only_opentofu_reads_tell_more_than_the_header(
    tmp_path: Path, files: tuple[str, ...], tool: str
) -> None:
    for name in files:
        (tmp_path / name).write_text("")
    lock = parse(lock_file(SampleLock("registry.terraform.io/acme/demo", "1.4.2", "~> 1.4")), LOCK)
    assert lock.writer is not None
    assert lock.writer.name == "terraform"
    assert tool_of(WorkTree(tmp_path), "", lock).name == tool
