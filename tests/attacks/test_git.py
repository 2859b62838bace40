"""What a branch can do through git: real repositories, real git, the command line as it is typed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from attacks.edited_version import EDITED, LOCK, OLD, REVIEW, ZH, lock, with_an_edit
from kit.command_line import locklens
from kit.effort import effort
from kit.git import git
from kit.repositories import commit, copy_of, put, repository
from kit.waiting import LIMIT

from locklens.errors import RepositoryError
from locklens.project.git import Repository, UncommittedSide, process
from locklens.project.git.process import MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with a branch `pr` that is checked out, and a lock file that is edited there."""
    return copy_of(with_an_edit, tmp_path / "clone")


@pytest.fixture
def evil(tmp_path: Path) -> tuple[Path, Path]:
    """A program, and the file that is there once it ran."""
    program, ran = tmp_path / "evil.sh", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    return program, ran


def pretend(folder: Path, scratch: Path, configuration: str = "") -> None:
    """Makes a folder a git directory, of plain files that can be committed, in which nothing differs from `main`."""
    repository(scratch, {path.name: path.read_text() for path in folder.iterdir() if path.is_file()})
    for name in ("HEAD", "objects", "refs", "index"):
        place = scratch / ".git" / name
        shutil.copytree(place, folder / name) if place.is_dir() else shutil.copy(place, folder / name)
    for empty in ("objects/info", "refs/tags"):
        put(folder, {f"{empty}/keep": ""})
    text = f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n{configuration}"
    put(folder, {"config": text})


# A repository inside the repository


@pytest.mark.parametrize(
    "words", [("review", "main"), ("review", "main", "--head", "HEAD"), ("hashes",), ("why", "aws")]
)
def test_a_tracked_folder_that_pretends_to_be_a_repository_is_refused(
    clone: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert locklens(clone, *REVIEW, "main")[0] == 1
    pretend(clone / "infra" / "prod", tmp_path / "scratch")
    commit(clone, {})
    assert git(clone / "infra" / "prod", "rev-parse", "--absolute-git-dir").endswith("/infra/prod")
    options = ("--offline", "--format", "json") if words[0] != "why" else ("--offline",)
    for folder in ("infra/prod", "infra/prod/refs"):
        status, out, err = locklens(clone, "-C", folder, words[0], *options, *words[1:])
        assert (status, out) == (2, "")
        assert f"{clone}/infra/prod looks like a git repository and is a folder of the one in {clone}" in err
        assert "GIT_DIR" in err
    assert locklens(clone, *REVIEW, "main")[0] == 1


def test_a_bare_repository_and_a_linked_work_tree_are_what_they_were(clone: Path, tmp_path: Path) -> None:
    git(clone, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    assert locklens(tmp_path / "linked", *REVIEW, "pr")[0] == 1
    assert locklens(clone / ".git", *REVIEW, "main", "--head", "pr")[0] == 1
    git(tmp_path, "clone", "-q", "--bare", str(clone), "bare.git")
    assert locklens(tmp_path / "bare.git" / "refs", *REVIEW, "main", "--head", "pr")[0] == 1
    git(tmp_path, "clone", "-q", "--bare", str(clone), "clone/bare.git")
    named = {**os.environ, "GIT_DIR": str(clone / "bare.git")}
    words = [sys.executable, "-m", "locklens", *REVIEW, "main", "--head", "pr"]
    assert subprocess.run(words, cwd=clone / "bare.git", env=named, capture_output=True, check=False).returncode == 1


# Programs of the repository's configuration


PROGRAMS = (
    *("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand"),
    *("filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.command", "diff.x.textconv", "merge.x.driver"),
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
    *("core.alternateRefsCommand", "credential.helper", "diff.external", "pager.log", "alias.log", "hook.x.command"),
)
STAGE = """
from pathlib import Path
from locklens.operations.compare import open_git
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.operations.write.apply import apply
from locklens.operations.write.stage import marked_blocks

top = Path.cwd()
found = review(ReviewRequest(lambda: open_git(top)))
plan = marked_blocks(found, top, {one.id for one in found.changes}).plan()
assert plan.proposal.files, plan.failures
apply(plan.proposal)
"""


def sign(clone: Path) -> None:
    """Gives the last commit a signature, which is none."""
    text = git(clone, "cat-file", "commit", "HEAD")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n"
    signed = text.replace("\n\n", f"\n{signature}", 1) + "\n"
    git(
        clone,
        "reset",
        "-q",
        "--hard",
        git(clone, "hash-object", "-t", "commit", "-w", "--stdin", given=signed.encode()),
    )


def name_programs(clone: Path, program: Path) -> None:
    """Has the repository's own configuration name a program wherever git has a setting for one."""
    for key in PROGRAMS:
        git(clone, "config", key, str(program))
    for key, value in {
        "log.showSignature": "true",
        "core.hooksPath": "hooks",
        "hook.x.event": "post-index-change",
    }.items():
        git(clone, "config", key, value)
    put(clone, {"hooks/post-index-change": program.read_text()})
    (clone / "hooks" / "post-index-change").chmod(0o755)


def test_no_program_of_the_repositorys_configuration_runs(clone: Path, evil: tuple[Path, Path]) -> None:
    program, ran = evil
    commit(
        clone, {".gitattributes": "infra/** filter=x diff=x merge=x\n", f"infra/prod/{LOCK}": lock("5.3.0", *ZH[2:])}
    )
    sign(clone)
    name_programs(clone, program)
    put(clone, {f"infra/prod/{LOCK}": EDITED})
    for words in (
        REVIEW,
        (*REVIEW, "main", "--head", "pr"),
        (*REVIEW, "--staged"),
        ("keys", "--offline", "--history", "--format", "text"),
        ("hashes", "--offline", "--format", "text"),
        ("why", "aws", "--offline"),
        ("restore", "aws", "--root", "infra/prod", "--dry-run"),
        ("format", "--root", "infra/prod", "--dry-run"),
    ):
        status, _, err = locklens(clone, *words)
        assert status in {0, 1}, (words, err)
        assert not ran.exists(), words
    git(clone, "add", f"infra/prod/{LOCK}")
    assert ran.exists(), "the case is one: git itself runs the filter"


def test_staging_and_what_is_taken_back_run_no_program(clone: Path, evil: tuple[Path, Path]) -> None:
    program, ran = evil
    sign(clone)
    name_programs(clone, program)
    put(clone, {f"infra/prod/{LOCK}": lock("5.3.0", *ZH[2:])})
    done = subprocess.run([sys.executable, "-c", STAGE], cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "5.3.0" in git(clone, "-c", "core.fsmonitor=false", "cat-file", "blob", f":infra/prod/{LOCK}")
    assert not ran.exists()
    status, _, err = locklens(clone, "undo")
    assert status == 0, err
    assert not ran.exists()
    git(clone, "--no-pager", "-c", "alias.log=", "log", "-1", "HEAD")
    assert ran.exists(), "the case is one: git itself has the signature checked"


# Versions of git


def test_an_old_git_is_refused_in_one_sentence(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("git")
    folder = tmp_path / "bin"
    put(
        folder,
        {
            "git": f'#!/bin/sh\nfor word; do [ "$word" = version ] && echo "git version 2.30.9" && exit\ndone\nexec {real} "$@"\n'
        },
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    for words in (
        (*REVIEW, "main"),
        ("hashes", "--offline", "--format", "text"),
        ("why", "aws", "--offline"),
        ("undo",),
    ):
        status, out, err = locklens(clone / "infra" / "prod", *words)
        assert (status, out) == (2, ""), words
        assert err.count("error: ") == 1
        assert f"{folder}/git is git 2.30.9, and locklens needs 2.31 or newer" in err
    for version in ("git version 2.31.0", "git version 2.39.5 (Apple Git-154)", "git version 3.0.0.rc1"):
        put(folder, {"git": (folder / "git").read_text().replace("git version 2.30.9", version)})
        assert locklens(clone, *REVIEW, "main")[0] == (1 if "2.30" not in version else 2)
        put(folder, {"git": (folder / "git").read_text().replace(version, "git version 2.30.9")})
    put(folder, {"git": "#!/bin/sh\necho hello\n"})
    status, _, err = locklens(clone, *REVIEW, "main")
    assert status == 2
    assert f"the version of {folder}/git is unknown" in err


def test_a_git_that_cannot_switch_filters_off_runs_nothing(
    clone: Path, evil: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = os.environ.get("LOCKLENS_OLD_GIT")
    if not old:
        pytest.skip("no git older than 2.31 (LOCKLENS_OLD_GIT)")
    program, ran = evil
    monkeypatch.setenv("PATH", f"{Path(old).parent}{os.pathsep}{os.environ['PATH']}")
    put(clone, {".gitattributes": "* filter=x\n", f"infra/prod/{LOCK}": OLD})
    git(clone, "config", "filter.x.clean", str(program))
    status, _, err = locklens(clone, *REVIEW)
    assert not ran.exists()
    assert status == 2
    assert "2.31 or newer" in err


# REVISION:PATH


def test_a_file_called_like_a_revision_does_not_stand_for_it(clone: Path) -> None:
    name = f"main:infra/prod/{LOCK}"
    words = (*REVIEW, "--old", name, "--new", f"infra/prod/{LOCK}")
    assert locklens(clone, *words)[0] == 1
    commit(clone, {name: EDITED})
    for form in ("text", "json"):
        status, out, err = locklens(clone, "review", "--offline", "--format", form, *words[4:])
        assert (status, out) == (2, "")
        assert f"{name}: ambiguous: both a file and a path in the revision main" in err
        assert f"./{name}" in err
    assert locklens(clone, *REVIEW, "--old", f"./{name}", "--new", f"infra/prod/{LOCK}")[0] == 0
    assert locklens(clone, *REVIEW, "--old", f"{clone}/{name}", "--new", f"infra/prod/{LOCK}")[0] == 0
    status, _, err = locklens(clone, *REVIEW, "--old", f"infra/prod/{LOCK}", "--new", name)
    assert (status, "ambiguous: both a file" in err) == (2, True)


def test_a_file_called_like_a_path_of_the_index_does_not_stand_for_it(clone: Path) -> None:
    commit(clone, {f"main~1:{LOCK}": EDITED, f":infra/prod/{LOCK}": EDITED, "no such:x": EDITED})
    status, _, err = locklens(clone, *REVIEW, "--old", f":infra/prod/{LOCK}", "--new", f"infra/prod/{LOCK}")
    assert (status, "ambiguous: both a file and a path in the index" in err) == (2, True)
    assert locklens(clone, *REVIEW, "--old", "no such:x", "--new", f"infra/prod/{LOCK}")[0] == 0


# Listings without end


SOME_ENTRIES = effort(100_000, MAX_ENTRIES)
"""Of a tree: to list a million takes most of a second, and each side of a review is listed by the same code."""


def bomb(folder: Path, *, levels: int = 10, width: int = 10, leaf: bool = True) -> str:
    """Makes a commit on top of `main` whose tree has width ** levels files, and packs next to nothing."""
    if leaf:
        blob = git(folder, "hash-object", "-w", "--stdin", given=b"x")
        text = "".join(f"100644 blob {blob}\tf{number}\n" for number in range(width))
    else:
        text = ""
    tree = git(folder, "mktree", given=text.encode())
    for _ in range(levels - 1):
        tree = git(folder, "mktree", given="".join(f"040000 tree {tree}\td{one}\n" for one in range(width)).encode())
    made = git(folder, "commit-tree", "-p", "main", "-m", "bomb", tree)
    git(folder, "branch", "-f", "bomb", made)
    return made


def measured(folder: Path, *words: str, entries: int = MAX_ENTRIES, timeout: float = 120) -> tuple[int, str, int]:
    """Runs locklens; returns its status, what it complained of, and the peak of memory in MiB, git's included.

    Args:
        folder: Where.
        words: What is typed behind its name.
        entries: That it reads of a tree.
        timeout: Seconds.
    """
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(done.returncode, peak, done.stderr, sep='\\n')\n"
    )
    program = (
        "import sys\n"
        "from locklens.__main__ import run\n"
        "from locklens.project.git import process\n"
        f"process.MAX_ENTRIES = {entries}\n"
        "sys.argv[0] = 'locklens'\n"
        "sys.exit(run())\n"
    )
    line = [sys.executable, "-c", script, sys.executable, "-c", program, *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=timeout, check=True)
    status, peak, complaint = done.stdout.split("\n", 2)
    return int(status), complaint, int(peak) // (1024 * 1024 if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize(
    ("words", "entries", "leaf"),
    [
        (("main", "--head", "bomb"), MAX_ENTRIES, True),
        (("main", "--head", "bomb"), SOME_ENTRIES, False),
        (("bomb", "--head", "main"), SOME_ENTRIES, True),
        (("bomb",), SOME_ENTRIES, False),
        (("bomb", "--staged"), SOME_ENTRIES, True),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_a_tree_of_trees_of_trees_is_refused(clone: Path, words: tuple[str, ...], entries: int, *, leaf: bool) -> None:
    bomb(clone, leaf=leaf)
    status, complaint, peak = measured(clone, *REVIEW, *words, entries=entries)
    assert status == 2, complaint
    assert f"has more than {entries:,} files and folders" in complaint
    assert peak < 50 + 450 * entries / MAX_ENTRIES


def test_a_path_without_end_is_refused(clone: Path) -> None:
    tree = git(clone, "mktree", given=b"")
    for _ in range(20):
        tree = git(clone, "mktree", given=f"040000 tree {tree}\t{'n' * 10_000}\n".encode())
    git(clone, "branch", "deep", git(clone, "commit-tree", "-p", "main", "-m", "deep", tree))
    status, complaint, _ = measured(clone, *REVIEW, "main", "--head", "deep")
    assert (status, "is longer than" in complaint) == (2, True), complaint


def test_an_interrupt_ends_a_running_git(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, folder = shutil.which("git"), tmp_path / "bin"
    # Stands for a repository that takes git minutes: it says which process it is, and prints nothing.
    slow = f'#!/bin/sh\ncase "$*" in *ls-tree*) echo $$ > {tmp_path}/pid; exec sleep 1000;; esac\nexec {real} "$@"\n'
    put(folder, {"git": slow})
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    words = [sys.executable, "-m", "locklens", *REVIEW, "main", "--head", "pr"]
    process = subprocess.Popen(words, cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (130, "error: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


# Bytes that a checkout would change

YEN = "\N{YEN SIGN}u007ah:" + "ab" * 32
"""In ISO646-JP the yen sign has the place of the backslash: on disk, and for the tools, this is an escaped `zh:`."""


@pytest.mark.parametrize("head", [("--head", "pr"), ("--staged",)], ids=" ".join)
@pytest.mark.parametrize(
    "attributes", [f"{LOCK} working-tree-encoding=ISO646-JP", "* ident", f"[attr]odd filter=odd\ninfra/**/{LOCK} odd"]
)
def test_a_lock_file_that_a_checkout_would_change_blocks(clone: Path, attributes: str, head: tuple[str, ...]) -> None:
    git(clone, "checkout", "-q", "main")
    commit(clone, {"main.tf": ""})
    git(clone, "checkout", "-qB", "pr")
    put(clone, {".gitattributes": attributes + "\n", f"infra/prod/{LOCK}": "# $Id$\n" + lock("5.1.0", *ZH[:2], YEN)})
    blob = git(clone, "hash-object", "-w", "--no-filters", f"infra/prod/{LOCK}")
    git(clone, "add", ".gitattributes")
    git(clone, "update-index", "--cacheinfo", f"100644,{blob},infra/prod/{LOCK}")
    base = "main"
    if head[0] == "--head":
        git(clone, "commit", "-qm", "encoded")
    status, out, err = locklens(clone, *REVIEW, base, *head)
    assert status == 1, out + err
    assert "LK031" in out
    assert "git would check it out with different bytes" in out
    assert attributes.rpartition(" ")[2].replace("odd", "filter=odd") in out


@pytest.mark.parametrize("word", ["set", "unset", "unspecified"])
@pytest.mark.parametrize("line", [f"{LOCK} filter={{0}}", f"[attr]odd filter={{0}}\n{LOCK}\todd"])
def test_a_filter_that_is_called_like_a_state_is_one(clone: Path, word: str, line: str) -> None:
    git(clone, "checkout", "-q", "main")
    git(clone, "checkout", "-qB", "pr")
    commit(clone, {".gitattributes": line.format(word) + "\n"})
    git(clone, "config", f"filter.{word}.smudge", "tr a-z A-Z")
    (clone / "infra" / "prod" / LOCK).unlink()
    git(clone, "checkout", "--", ".")
    assert "PROVIDER" in (clone / "infra" / "prod" / LOCK).read_text(), "the case is one: git converts it"
    status, out, err = locklens(clone, *REVIEW, "main", "--head", "pr")
    assert status == 1, out + err
    assert "LK031 BLOCK" in out
    assert f"filter={word}" in out


@pytest.mark.parametrize("state", ["filter", "-filter", "!filter", "-ident", "!working-tree-encoding", "ident=set x"])
def test_states_of_attributes_are_no_values(clone: Path, state: str) -> None:
    commit(clone, {".gitattributes": f"{LOCK} {state}\n"})
    _, out, err = locklens(clone, *REVIEW, "main", "--head", "pr")
    assert "LK031" not in out
    assert "5.1.0" in out, err


def test_a_configuration_that_a_checkout_would_change_blocks(clone: Path) -> None:
    git(clone, "checkout", "-q", "main")
    commit(clone, {"infra/prod/main.tf": 'module "m" {\n  source = "../m"\n}\n', "infra/m/m.tf": "# m\n"})
    git(clone, "checkout", "-qB", "pr")
    commit(clone, {"infra/m/.gitattributes": "*.tf ident\n", "infra/m/m.tf": "# $Id$\n"})
    status, out, err = locklens(clone, *REVIEW, "main", "--head", "pr")
    assert status == 1, out + err
    assert "LK031" in out
    assert "infra/m/m.tf" in out


@pytest.mark.parametrize("where", [f"infra/prod/{LOCK}", "infra/prod/main.tf", "infra/m/m.tf"])
def test_an_attribute_is_a_change_by_itself(clone: Path, where: str) -> None:
    git(clone, "checkout", "-q", "main")
    called = 'module "m" {\n  source = "../m"\n}\n'
    commit(clone, {"infra/prod/main.tf": called, "infra/m/m.tf": "# m\n", f"infra/prod/{LOCK}": EDITED})
    git(clone, "checkout", "-qB", "pr")
    commit(clone, {".gitattributes": f"{where} filter=lfs\n"})
    status, out, err = locklens(clone, *REVIEW, "main", "--head", "pr")
    assert status == 1, out + err
    assert "LK031 BLOCK" in out
    commit(clone, {"other/x.tf": "", f"infra/prod/{LOCK}": OLD, "infra/prod/main.tf": called + "\n"})
    _, out, _ = locklens(clone, *REVIEW, "HEAD~1", "--head", "pr")
    assert "LK031 WARN" in out
    assert "LK031 BLOCK" not in out


def test_a_path_of_a_revision_is_read_with_its_attributes(clone: Path) -> None:
    commit(clone, {".gitattributes": f"{LOCK} working-tree-encoding=ISO646-JP\n"})
    names = ("--old", f"main:infra/prod/{LOCK}", "--new", f"pr:infra/prod/{LOCK}")
    _, out, err = locklens(clone, *REVIEW, *names)
    assert "LK031 BLOCK" in out, err
    _, out, err = locklens(clone, *REVIEW, *names[:3], f"infra/prod/{LOCK}")
    assert "LK031" not in out, "it is on disk"


def test_attributes_that_change_other_files_are_no_finding(clone: Path) -> None:
    commit(
        clone,
        {".gitattributes": "*.zip filter=lfs diff=lfs merge=lfs -text\n*.tf -ident working-tree-encoding=UTF-8\n"},
    )
    _, out, err = locklens(clone, *REVIEW, "main", "--head", "pr")
    assert "LK031" not in out
    assert "5.1.0" in out, err


# Links


def test_links_out_of_the_repository_are_not_read(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hvssecretsecret")
    folder = clone / "infra" / "prod"
    (folder / "x.tf.json").symlink_to(tmp_path / "token")
    commit(clone, {"infra/prod/main.tf": ""})
    for words in ((*REVIEW, "main"), ("init", "--dry-run"), ("lock", "--dry-run"), ("why", "aws", "--offline")):
        _, out, err = locklens(folder, *words)
        assert "hvs" not in out + err
        assert "a link that leads out of the repository" in out + err or words[0] == "why", words
    (folder / "x.tf.json").unlink()
    (folder / "x.tf.json").symlink_to("../../.git/config")
    _, out, err = locklens(clone, *REVIEW, "main")
    assert "a link that leads out of the repository" in out + err
    (folder / LOCK).unlink()
    (folder / LOCK).symlink_to(tmp_path / "token")
    status, out, err = locklens(clone, *REVIEW, "main")
    assert status == 1
    assert "hvs" not in out + err
    assert "a link that leads out of the repository" in out


HEADS = pytest.mark.parametrize("head", [(), ("--head", "pr"), ("--staged",)], ids=" ".join)


@HEADS
@pytest.mark.parametrize("start", [".", "infra/prod"])
def test_a_lock_file_that_is_another_one_for_each_process_blocks(
    clone: Path, head: tuple[str, ...], start: str
) -> None:
    git(clone, "checkout", "-qB", "pr", "main")
    commit(clone, {"x": OLD, "infra/prod/x": lock("5.1.0", *ZH[2:])})
    (clone / "infra" / "prod" / LOCK).unlink()
    (clone / "infra" / "prod" / LOCK).symlink_to("/proc/self/cwd/x")
    commit(clone, {})
    status, out, err = locklens(clone / start, *REVIEW, "main", *head)
    assert status == 1, out + err
    assert "LK019 BLOCK" in out
    assert "cannot be read: it is, or is behind, a link that leads out of the repository" in out


@HEADS
@pytest.mark.parametrize("target", ["/proc/self/cwd/README.md", "../../../x", "nowhere", LOCK, "/nowhere"])
def test_a_lock_file_that_became_a_link_to_nothing_is_not_deleted(
    clone: Path, head: tuple[str, ...], target: str
) -> None:
    git(clone, "checkout", "-qB", "pr", "main")
    (clone / "infra" / "prod" / LOCK).unlink()
    (clone / "infra" / "prod" / LOCK).symlink_to(target)
    commit(clone, {"infra/prod/README.md": EDITED})
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert status == 1, out + err
    assert "LK019 BLOCK" in out
    assert "a link that leads" in out


@HEADS
def test_a_root_whose_folder_became_a_link_out_is_not_deleted(clone: Path, head: tuple[str, ...]) -> None:
    git(clone, "checkout", "-qB", "pr", "main")
    shutil.rmtree(clone / "infra" / "prod")
    (clone / "infra" / "prod").symlink_to("/proc/self/cwd/other")
    commit(clone, {"other/x": EDITED})
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert status == 1, out + err
    assert "a link that leads out of the repository" in out


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="there is no /proc/kmsg")
def test_a_file_that_has_nothing_to_read_yet_is_a_sentence(clone: Path) -> None:
    (clone / "infra" / "prod" / LOCK).unlink()
    (clone / "infra" / "prod" / LOCK).symlink_to("/proc/kmsg")
    status, out, err = locklens(clone, *REVIEW, "main")
    assert status == 1, out + err


def test_many_links_with_long_targets_are_quick(clone: Path) -> None:
    blob = git(clone, "hash-object", "-w", "--stdin", given=b"./" * 2040 + b"infra/prod/" + LOCK.encode())
    entries = "".join(f"120000 {blob}\tl{number:04}\n" for number in range(2000))
    git(clone, "update-index", "--index-info", given=entries.encode())
    git(clone, "commit", "-qm", "links")
    status, out, err = locklens(clone, *REVIEW, "main", "--head", "pr")
    assert status == 1, out + err


def test_links_that_take_too_many_steps_together_are_refused(clone: Path) -> None:
    blob = git(clone, "hash-object", "-w", "--stdin", given=b"infra/../" * 450 + b"infra/prod/" + LOCK.encode())
    entries = "".join(f"120000 {blob}\tl{number:04}\n" for number in range(4000))
    git(clone, "update-index", "--index-info", given=entries.encode())
    git(clone, "commit", "-qm", "links")
    status, _, err = locklens(clone, *REVIEW, "main", "--head", "pr")
    assert status == 2
    assert "links of this tree take more than" in err


@HEADS
@pytest.mark.parametrize("target", ["/proc/self/cwd/notes.txt", "../../../notes.txt"])
def test_a_configuration_that_is_a_link_out_blocks_where_it_is_new(
    clone: Path, head: tuple[str, ...], target: str
) -> None:
    git(clone, "checkout", "-qB", "pr", "main")
    commit(clone, {"infra/prod/main.tf": "# main\n", "infra/prod/notes.txt": "# notes\n"})
    git(clone, "branch", "-f", "main")
    (clone / "infra" / "prod" / "extra.tf").symlink_to(target)
    commit(clone, {})
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert status == 1, out + err
    assert "LK035 BLOCK" in out
    assert "not reviewed: infra/prod/extra.tf is a link that leads out of the repository" in out
    git(clone, "branch", "-f", "main")
    commit(clone, {"infra/prod/main.tf": "# other\n"})
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert "LK035 WARN" in out, err
    assert "LK035 BLOCK" not in out


# Submodules


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A repository with a root at its top."""
    return repository(tmp_path / "other", {LOCK: EDITED})


@HEADS
def test_a_submodule_in_the_place_of_a_root_blocks(clone: Path, other: Path, head: tuple[str, ...]) -> None:
    git(clone, "checkout", "-qB", "pr", "main")
    git(clone, "rm", "-rq", "infra")
    git(clone, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "infra")
    git(clone, "commit", "-qm", "submodule")
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert status == 1, out + err
    assert "LK035 BLOCK" in out
    made = git(other, "rev-parse", "HEAD")[:12]
    assert f"not reviewed: infra is a submodule (nothing -> {made})" in out


@HEADS
def test_a_submodule_with_a_root_at_another_commit_blocks(clone: Path, other: Path, head: tuple[str, ...]) -> None:
    git(clone, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    commit(clone, {})
    git(clone, "branch", "-f", "main")
    commit(clone / "sub", {LOCK: OLD})
    if not head:
        status, out, err = locklens(clone, *REVIEW, "main")
        assert (status, "-> what is checked out" in out) == (1, True), out + err
    commit(clone, {})
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert status == 1, out + err
    assert "LK035 BLOCK" in out
    assert "\nsub  (not reviewed)\n  LK035 BLOCK not reviewed: sub is a submodule" in out
    git(clone, "submodule", "--quiet", "deinit", "-f", "sub")
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert "LK035 WARN" in out, err
    assert "LK035 BLOCK" not in out


# Roots where the tools keep what they downloaded


@pytest.mark.parametrize("head", [(), ("--head", "pr"), ("--staged",)], ids=" ".join)
def test_a_tracked_root_below_a_data_folder_is_reviewed(clone: Path, head: tuple[str, ...]) -> None:
    git(clone, "checkout", "-q", "main")
    commit(clone, {f"other/.terraform/prod/{LOCK}": OLD})
    git(clone, "checkout", "-qB", "pr")
    commit(clone, {f"other/.terraform/prod/{LOCK}": EDITED})
    put(clone, {f"infra/prod/.terraform/modules/x/{LOCK}": EDITED})
    status, out, err = locklens(clone, *REVIEW, "main", *head)
    assert status == 1, out + err
    assert "other/.terraform/prod" in out
    assert "modules/x" not in out


@pytest.mark.skipif(sys.platform != "linux", reason="bounds of other processes are Linux's")
@pytest.mark.parametrize("name", [".gitattributes", ".gitignore"])
def test_patterns_that_take_git_for_ever_are_given_up(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of 80 bytes in a file of patterns takes git time that doubles with each `**`."""
    monkeypatch.setattr(process, "PATTERN_SECONDS", 1)
    place = tmp_path / "repository"
    place.mkdir()
    git(place, "init", "-q", "-b", "main", ".")
    (place / name).write_text(f"{'**/' * 24}x{' filter=y' if name == '.gitattributes' else ''}\n")
    commit(place, {})
    deep = place / "/".join("a" * 24)
    deep.mkdir(parents=True)
    (deep / "y").touch()
    with Repository.discover(place) as repository:
        questions: dict[str, Callable[[], object]] = {
            ".gitattributes": lambda: repository.converted(repository.listing("HEAD"), [f"{'a/' * 24}y"]),
            ".gitignore": lambda: repository.paths(UncommittedSide.WORK_TREE),
        }
        with pytest.raises(RepositoryError, match="more than 1 seconds of processor time"):
            questions[name]()
