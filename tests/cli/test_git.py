"""Merges, rebases, cherry-picks and diffs of lock files by the real git, with locklens set up in the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conformance.forking import shared
from kit.repositories import copy_of

from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import write_cli_configuration
from locklens.dialect import TERRAFORM
from locklens.lockfile import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render

NAME = ".terraform.lock.hcl"
ATTRIBUTES = ".terraform.lock.hcl merge=locklens diff=locklens\n"
PROGRAMS = Path(sys.executable).parent


def entry(name: str, version: str, *hashes: str, constraints: str = "") -> LockEntry:
    block = f'provider "registry.terraform.io/acme/{name}" {{\n  version = "{version}"\n'
    block += f'  constraints = "{constraints}"\n' if constraints else ""
    block += "  hashes = [\n" + "".join(f'    "{text}",\n' for text in hashes) + "  ]\n}\n"
    (parsed,) = parse(block.encode(), "").entries
    return parsed


def h1(letter: str) -> str:
    return f"h1:{letter * 43}="


def zh(letter: str) -> str:
    return f"zh:{letter * 64}"


A1 = entry("a", "1.0.0", h1("A"), zh("a"), zh("b"), constraints="~> 1.0")
A1_MAC = entry("a", "1.0.0", h1("A"), h1("M"), zh("a"), zh("b"), constraints="~> 1.0")
A1_WINDOWS = entry("a", "1.0.0", h1("A"), h1("W"), zh("a"), zh("b"), constraints="~> 1.0")
A11 = entry("a", "1.1.0", h1("B"), zh("c"), constraints="~> 1.0")
A12 = entry("a", "1.2.0", h1("C"), zh("d"), constraints="~> 1.0")
A2 = entry("a", "2.0.0", h1("D"), zh("e"), constraints="~> 2.0")
B1 = entry("b", "1.0.0", h1("A"), zh("a"))
B2 = entry("b", "2.0.0", h1("B"), zh("c"))


def lock(*entries: LockEntry) -> bytes:
    return render(entries, TERRAFORM)


class Clone:
    """A repository whose git finds this environment's `locklens`."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.file = top / "infra" / NAME
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "HOME": str(top.parent),
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.com",
            "GIT_TEMPLATE_DIR": "",
        }
        if not (top / ".git").exists():
            self.git("init", "-q", "-b", "main")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self.top, env=self.environment, capture_output=True, text=True, check=False)

    def git(self, *arguments: str) -> str:
        result = self.run("git", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def locklens(self, *arguments: str, status: int = 0) -> str:
        result = shared().finish(arguments, self.top, self.environment)
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout + result.stderr

    def commit(self, *entries: LockEntry) -> None:
        self.file.write_bytes(lock(*entries))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "lock")

    def fork(self, base: list[LockEntry], ours: list[LockEntry], theirs: list[LockEntry], name: str = "topic") -> None:
        self.commit(*base)
        self.git("switch", "-q", "-c", name)
        self.commit(*theirs)
        self.git("switch", "-q", "main")
        self.commit(*ours)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(copy_of(with_the_set_up, tmp_path / "clone"))


def with_the_set_up(top: Path) -> None:
    Clone(top).locklens("git", "install")


CLEAN = [
    pytest.param([A1, B1], [A1_MAC, B1], [A1_WINDOWS, B1], id="each adds a platform"),
    pytest.param([A1, B1], [A11, B1], [A1, B2], id="each upgrades another provider"),
]
EXPECTED = {
    "each adds a platform": [
        entry("a", "1.0.0", h1("A"), h1("M"), h1("W"), zh("a"), zh("b"), constraints="~> 1.0"),
        B1,
    ],
    "each upgrades another provider": [A11, B2],
}


@pytest.mark.parametrize("way", [("merge", "topic"), ("cherry-pick", "topic"), ("rebase", "topic")], ids="".join)
@pytest.mark.parametrize(("base", "ours", "theirs"), CLEAN)
def test_branches_that_do_not_contradict_merge_as_the_tool_would_write_them(
    clone: Clone,
    base: list[LockEntry],
    ours: list[LockEntry],
    theirs: list[LockEntry],
    way: tuple[str, str],
    request: pytest.FixtureRequest,
) -> None:
    clone.fork(base, ours, theirs)
    clone.git(*way)
    expected = next(entries for name, entries in EXPECTED.items() if name in request.node.name)
    assert clone.file.read_bytes() == lock(*expected)
    assert clone.git("status", "--porcelain") == ""


@pytest.mark.skipif(shutil.which("terraform") is None, reason="terraform is not on PATH")
@pytest.mark.parametrize("change", ["each adds a platform", "each upgrades another provider"])
def test_terraform_finds_nothing_to_change_after_a_merge(clone: Clone, tmp_path: Path, change: str) -> None:
    platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"] if "platform" in change else ["linux_amd64"]
    folder = clone.file.parent
    sources = (("demo", "acme"), ("aws", "hashicorp"))
    with DemoRegistry() as registry:
        clone.environment["TF_CLI_CONFIG_FILE"] = str(write_cli_configuration(registry, tmp_path))
        clone.environment["CHECKPOINT_DISABLE"] = "1"
        required = "".join(f'    {name} = {{ source = "{owner}/{name}" }}\n' for name, owner in sources)
        (folder / "main.tf").write_text(f"terraform {{\n  required_providers {{\n{required}  }}\n}}\n")
        where = ("-C", str(folder))
        clone.locklens(*where, "lock", "--platform", "linux_amd64")
        clone.locklens(*where, "upgrade", "demo=1.4.2", "aws=6.2.0")
        clone.git("add", "-A")
        clone.git("commit", "-q", "-m", "base")
        for branch, number in (("topic", 0), ("other", 1)):
            clone.git("switch", "-q", "-c", branch, "main")
            if "platform" in change:
                clone.locklens(*where, "lock", "--platform", platforms[number + 1])
            else:
                clone.locklens(*where, "upgrade", "--ignore-cooldown", sources[number][0])
            clone.git("commit", "-q", "-a", "-m", branch)
        clone.git("merge", "topic")
        merged = clone.file.read_bytes()
        arguments = [f"-platform={platform}" for platform in platforms]
        done = clone.run("terraform", f"-chdir={folder}", "providers", "lock", *arguments)
        assert (done.returncode, clone.file.read_bytes()) == (0, merged), done.stdout + done.stderr
        assert "found no need for changes" in done.stdout


def test_without_the_set_up_git_conflicts(tmp_path: Path) -> None:
    bare = Clone(tmp_path / "clone")
    bare.fork([A1, B1], [A1_MAC, B1], [A1_WINDOWS, B1])
    assert bare.run("git", "merge", "topic").returncode == 1


def test_two_upgrades_of_one_provider_conflict_with_both_entries(clone: Clone) -> None:
    clone.fork([A1, B1], [A11, B1], [A12, B1])
    result = clone.run("git", "merge", "topic")
    assert result.returncode == 1
    assert "infra/.terraform.lock.hcl: conflict in registry.terraform.io/acme/a" in result.stderr
    assert "two versions were selected (1.1.0 and 1.2.0)" in result.stderr
    read = parse(clone.file.read_bytes(), "")
    assert read.conflict is not None
    assert read.conflict.ours.by_address[A11.address].written == A11.written
    assert read.conflict.theirs.by_address[A12.address].written == A12.written
    assert clone.git("status", "--porcelain") == f"UU infra/{NAME}\n"


@pytest.mark.parametrize("folder", ["-rf", "--root", "--path=x", "a b; touch c"])
def test_no_name_of_a_folder_is_an_option_of_the_driver(clone: Clone, folder: str) -> None:
    clone.file = clone.top / folder / NAME
    clone.file.parent.mkdir()
    clone.fork([A1, B1], [A11, B1], [A1, B2])
    done = clone.run("git", "merge", "-q", "topic")
    assert done.returncode == 0, done.stderr
    assert clone.file.read_bytes() == lock(A11, B2)
    clone.fork([A1, B1], [A11, B1], [A12, B1], "again")
    done = clone.run("git", "merge", "-q", "again")
    assert f"{folder}/{NAME}: conflict in " in done.stderr
    assert clone.file.read_bytes().count(b"<<<<<<<") == 1


def files(folder: Path, *contents: bytes) -> list[str]:
    names = []
    for name, data in zip(("base", "ours", "theirs"), contents, strict=True):
        (folder / name).write_bytes(data)
        names.append(str(folder / name))
    return names


@pytest.mark.parametrize(("ours", "theirs"), [(A11, A12), (A12, A11)])
def test_the_newest_that_both_sides_allow_may_be_preferred(
    clone: Clone, tmp_path: Path, ours: LockEntry, theirs: LockEntry
) -> None:
    names = files(tmp_path, lock(A1), lock(ours), lock(theirs))
    assert "1.2.0, the newer version" in clone.locklens("merge", "--prefer", "newest", *names)
    assert (tmp_path / "ours").read_bytes() == lock(A12)


def test_a_version_that_one_side_excludes_is_not_preferred(clone: Clone, tmp_path: Path) -> None:
    names = files(tmp_path, lock(A1), lock(A11), lock(A2))
    assert "conflict in" in clone.locklens("merge", "--prefer", "newest", *names, status=1)


def test_a_lock_file_in_conflict_is_merged_where_it_is(clone: Clone) -> None:
    clone.locklens("git", "uninstall")
    clone.fork([A1, B1], [A1_MAC, B1], [A1_WINDOWS, B1])
    assert clone.run("git", "merge", "-q", "topic").returncode == 1
    before = clone.file.read_bytes()
    assert "\n-<<<<<<< HEAD\n" in clone.locklens("merge", "--root", "infra", "--dry-run")
    assert clone.file.read_bytes() == before
    said = clone.locklens("merge", "--root", "infra")
    assert "infra: acme/a: the hashes of both sides are united" in said
    assert clone.file.read_bytes() == lock(*EXPECTED["each adds a platform"])
    clone.locklens("undo")
    assert clone.file.read_bytes() == before


def test_two_versions_in_conflict_need_a_preference(clone: Clone) -> None:
    clone.locklens("git", "uninstall")
    clone.fork([A1, B1], [A11, B1], [A12, B1])
    assert clone.run("git", "merge", "-q", "topic").returncode == 1
    said = clone.locklens("merge", "--root", "infra", status=1)
    assert "two versions were selected: 1.1.0 in HEAD (ours), 1.2.0 in topic (theirs)" in said
    clone.locklens("merge", "--root", "infra", "--prefer", "newest")
    assert clone.file.read_bytes() == lock(A12, B1)


@pytest.mark.parametrize(("side", "entries"), [("ours", (A11, B2)), ("theirs", (A12,))])
def test_a_side_may_be_preferred(clone: Clone, tmp_path: Path, side: str, entries: tuple[LockEntry, ...]) -> None:
    """Also where it removed the provider that the other side changed."""
    names = files(tmp_path, lock(A1, B1), lock(A11, B2), lock(A12))
    said = clone.locklens("merge", "--prefer", side, *names)
    assert f"as in {side}" in said
    assert (tmp_path / "ours").read_bytes() == lock(*entries)
    clone.locklens("git", "uninstall")
    clone.fork([A1, B1], [A11, B2], [A12])
    assert clone.run("git", "merge", "-q", "topic").returncode == 1
    clone.locklens("merge", "--root", "infra", "--prefer", side)
    assert clone.file.read_bytes() == lock(*entries)


def test_markers_have_the_names_of_branches(clone: Clone, tmp_path: Path) -> None:
    clone.fork([A1, B1], [A11, B1], [A12, B1])
    assert clone.run("git", "merge", "-q", "topic").returncode == 1
    markers = [line for line in clone.file.read_text().splitlines() if line.startswith(("<", ">"))]
    assert markers == ["<<<<<<< HEAD", ">>>>>>> topic"]
    names = files(tmp_path, lock(A1), lock(A11), lock(A12))
    for words, expected in (
        (["--ours-name", "main", "--theirs-name", "x\ny"], ["<<<<<<< main", r">>>>>>> x\x0ay"]),
        (["--ours-name", "%X", "--theirs-name", "%Y"], ["<<<<<<< ours", ">>>>>>> theirs"]),
    ):
        (tmp_path / "ours").write_bytes(lock(A11))
        clone.locklens("merge", *words, *names, status=1)
        assert [
            line for line in (tmp_path / "ours").read_text().splitlines() if line.startswith(("<", ">"))
        ] == expected


def test_git_diff_shows_a_conflict_as_entries(clone: Clone) -> None:
    clone.fork([A1, B1], [A11, B1], [A12, B1])
    assert clone.run("git", "merge", "-q", "topic").returncode == 1
    shown = clone.locklens("textconv", str(clone.file))
    assert "<<<<<<< HEAD (ours)\nprovider registry.terraform.io/acme/a\n  version      1.1.0\n" in shown
    assert ">>>>>>> topic (theirs)\n" in shown
    assert shown.count("provider registry.terraform.io/acme/b\n") == 1
    assert zh("c") not in clone.git("diff")


def test_usage_of_roots(clone: Clone) -> None:
    said = clone.locklens("merge", "--root", "infra", "a", "b", "c", status=2)
    assert "--root merges lock files of the work tree" in said
    assert "require --root" in clone.locklens("merge", "--dry-run", "a", "b", "c", status=2)
    assert "required: THEIRS" in clone.locklens("merge", "a", "b", status=2)


def test_a_side_that_cannot_be_read_is_merged_by_lines_and_never_done(clone: Clone, tmp_path: Path) -> None:
    broken = lock(A1, B1).replace(b"provider", b"provider {", 1)
    for base, ours, theirs in ((lock(A1, B1), broken, lock(A1, B2)), (lock(A1, B1), lock(A1, B2), broken)):
        names = files(tmp_path, base, ours, theirs)
        said = clone.locklens("merge", *names, status=1)
        assert "lines were merged, not blocks: a side of the merge cannot be read" in said
        assert "hint: correct the file, then run locklens review" in said
        assert (tmp_path / "ours").read_bytes() == lock(A1, B2).replace(b"provider", b"provider {", 1)
    names = files(tmp_path, lock(A1), broken, lock(B2))
    clone.locklens("merge", "--marker-size", "9", *names, status=1)
    assert b"<<<<<<<<< ours\n" in (tmp_path / "ours").read_bytes()


def test_git_leaves_a_side_that_cannot_be_read_to_a_person(clone: Clone) -> None:
    clone.fork([A1, B1], [A1_MAC, B1], [A1, B2])
    clone.file.write_bytes(lock(A1, B1).replace(b"provider", b"provider {", 1))
    clone.git("commit", "-qam", "broken")
    assert clone.run("git", "merge", "topic").returncode == 1
    assert clone.git("status", "--porcelain") == f"UU infra/{NAME}\n"


def test_the_newest_is_offered_where_it_would_settle_something(clone: Clone, tmp_path: Path) -> None:
    offer = "--prefer newest selects the newer version"
    assert offer in clone.locklens("merge", *files(tmp_path, lock(A1), lock(A11), lock(A12)), status=1)
    lost, added = entry("a", "1.0.0", zh("a"), constraints="~> 1.0"), A1_MAC
    for ours, theirs in ((lost, added), (A11, A2)):
        said = clone.locklens("merge", *files(tmp_path, lock(A1), lock(ours), lock(theirs)), status=1)
        assert "--prefer ours or --prefer theirs takes the entry of that side" in said
        assert offer not in said
    mixed = files(tmp_path, lock(A1, B1), lock(A11), lock(A12, B2))
    said = clone.locklens("merge", "--path", f"live/it's/{NAME}", *mixed, status=1)
    assert "hint: or locklens merge --root 'live/it'\"'\"'s' with an option: --prefer ours or" in said


def test_branches_that_crossed_merge_block_by_block(clone: Clone) -> None:
    clone.fork([A1, B1], [A11, B1], [A12, B1])
    for branch in ("main", "topic"):
        clone.git("branch", f"{branch}-before", branch)
    for branch, other, kept in (("main", "topic-before", [A12, B1]), ("topic", "main-before", [A12, B2])):
        clone.git("switch", "-q", branch)
        assert clone.run("git", "merge", other).returncode == 1
        clone.commit(*kept)
    clone.git("switch", "-q", "main")
    clone.commit(A12, B1, entry("c", "1.0.0", h1("A"), zh("a")))
    said = clone.run("git", "merge", "topic")
    assert (said.returncode, "lines were merged" in said.stderr) == (0, False), said.stderr
    assert clone.file.read_bytes() == lock(A12, B2, entry("c", "1.0.0", h1("A"), zh("a")))


def test_each_provider_may_have_a_side_of_its_own(clone: Clone) -> None:
    clone.locklens("git", "uninstall")
    clone.fork([A1, B1], [A11, B2], [A12])
    assert clone.run("git", "merge", "-q", "topic").returncode == 1
    root = "merge", "--root", "infra"
    said = clone.locklens(*root, "--prefer", "ours", "--prefer", "acme/a=newest", "--prefer", "acme/c=ours", status=2)
    assert "no conflict is in acme/c" in said
    clone.locklens(*root, "--prefer", "acme/a=newest", "--prefer", "registry.terraform.io/acme/b=ours")
    assert clone.file.read_bytes() == lock(A12, B2)
    files = "base", "ours", "theirs"
    assert "--prefer PROVIDER=SIDE requires --root" in clone.locklens(
        "merge", "--prefer", "acme/a=ours", *files, status=2
    )


def test_bad_arguments_have_their_sentences(clone: Clone, tmp_path: Path) -> None:
    names = files(tmp_path, lock(A1), lock(A11), lock(A12))
    assert "absent: cannot be read" in clone.locklens("merge", names[0], names[1], "absent", status=2)
    assert "invalid marker size 0" in clone.locklens("merge", "--marker-size", "0", *names, status=2)
    assert "invalid choice: 'oldest'" in clone.locklens("merge", "--prefer", "oldest", *names, status=2)
    (tmp_path / "theirs").write_bytes(b"#" * (1 << 21))
    assert "theirs: larger than 1024 KiB" in clone.locklens("merge", *names, status=2)
    assert (tmp_path / "ours").read_bytes() == lock(A11)


def test_git_diff_shows_versions_and_folds_the_publishers_list(clone: Clone) -> None:
    clone.commit(A1, B1)
    clone.file.write_bytes(lock(A11, B1))
    shown = clone.git("diff")
    assert "-  version      1.0.0\n+  version      1.1.0\n" in shown
    assert "-  zh           2, digest " in shown
    assert f"+  {h1('B')}\n" in shown
    assert zh("c") not in shown
    clone.file.write_bytes(b"provider {\n")
    assert "+provider {\n" in clone.git("diff")


def test_the_set_up_says_what_it_writes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    clone = Clone(tmp_path / "clone")
    before = (clone.top / ".git/config").read_bytes()
    (clone.top / ".gitattributes").write_bytes(b"*.png binary")
    assert "would make 4 changes" in clone.locklens("git", "install", "--dry-run")
    assert (clone.top / ".git/config").read_bytes() == before
    said = clone.locklens("git", "install")
    assert "merge.locklens.driver 'if command -v locklens " in said
    assert "diff.locklens.textconv 'f() { " in said
    assert f"{clone.top / '.gitattributes'}: added {ATTRIBUTES}" in said
    assert (clone.top / ".gitattributes").read_bytes() == b"*.png binary\n" + ATTRIBUTES.encode()
    assert clone.locklens("git", "install") == "nothing to change\n"
    assert "made 3 changes" in clone.locklens("git", "uninstall")
    assert (clone.top / ".gitattributes").read_bytes() == b"*.png binary\n"
    assert (clone.top / ".git/config").read_bytes() == before
    assert clone.locklens("git", "uninstall") == "nothing to change\n"


@pytest.mark.parametrize("options", [(), ("--private",)], ids=["shared", "private"])
def test_attributes_that_only_the_set_up_wrote_are_removed(tmp_path: Path, options: tuple[str, ...]) -> None:
    clone = Clone(tmp_path / "clone")
    before = {path for path in clone.top.rglob("*") if path.is_file()}
    clone.locklens("git", "install", *options)
    assert "removed, as nothing else is in it" in clone.locklens("git", "uninstall", "--dry-run")
    assert {path for path in clone.top.rglob("*") if path.is_file()} != before
    assert "removed, as nothing else is in it" in clone.locklens("git", "uninstall")
    assert {path for path in clone.top.rglob("*") if path.is_file()} == before
    (clone.top / ".gitattributes").write_bytes(b"\n" + ATTRIBUTES.encode())
    assert f"removed {ATTRIBUTES}" in clone.locklens("git", "uninstall")
    assert (clone.top / ".gitattributes").read_bytes() == b"\n"


def test_attributes_may_stay_private(tmp_path: Path) -> None:
    clone = Clone(tmp_path / "clone")
    clone.locklens("git", "install", "--private")
    assert (clone.top / ".git/info/attributes").read_text() == ATTRIBUTES
    assert not (clone.top / ".gitattributes").exists()
    clone.fork([A1, B1], [A11, B1], [A1, B2])
    clone.git("merge", "topic")
    assert clone.file.read_bytes() == lock(A11, B2)


def test_no_set_up_without_a_repository_or_through_a_link(tmp_path: Path) -> None:
    clone = Clone(tmp_path / "clone")
    (clone.top / ".gitattributes").symlink_to(tmp_path / "elsewhere")
    assert ".gitattributes: is a link" in clone.locklens("git", "install", status=2)
    assert not (tmp_path / "elsewhere").exists()
    assert "locklens" not in (clone.top / ".git/config").read_text()
    (tmp_path / "empty").mkdir()
    assert "error: " in clone.locklens("-C", str(tmp_path / "empty"), "git", "install", status=2)


def test_an_older_set_up_is_renewed_and_removed(tmp_path: Path) -> None:
    clone = Clone(tmp_path / "clone")
    before = (clone.top / ".git/config").read_bytes()
    for renews in (True, False):
        clone.git("config", "merge.locklens.driver", "locklens merge --marker-size %L --path %P %O %A %B")
        clone.git("config", "diff.locklens.textconv", "locklens textconv")
        if renews:
            clone.locklens("git", "install")
            assert "merge-file" in clone.git("config", "merge.locklens.driver")
            assert "cat" in clone.git("config", "diff.locklens.textconv")
        clone.locklens("git", "uninstall")
        assert (clone.top / ".git/config").read_bytes() == before


# A git that is started where `locklens` is not on PATH, or no longer runs: by an IDE, after an upgrade of Python


BROKEN = {"not on PATH": "", "a traceback": "echo Traceback >&2; exit 1", "bad usage": "exit 2", "killed": "kill -9 $$"}


@pytest.fixture(params=list(BROKEN.values()), ids=list(BROKEN))
def without(request: pytest.FixtureRequest, clone: Clone, tmp_path: Path) -> Clone:
    clone.environment["PATH"] = "/usr/bin:/bin"
    if request.param:
        program = tmp_path / "broken" / "locklens"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{request.param}\n")
        program.chmod(0o755)
        clone.environment["PATH"] = f"{program.parent}:/usr/bin:/bin"
    return clone


def test_without_the_program_a_clean_merge_stays_clean(without: Clone) -> None:
    middle = [entry("m", f"{number}.0.0", h1("A"), zh("a")) for number in range(3)]
    without.fork([A1, middle[0], B2], [A11, middle[0], B2], [A1, middle[0], B1])
    without.git("merge", "topic")
    assert without.file.read_bytes() == lock(A11, middle[0], B1)


def test_without_the_program_a_conflict_has_markers_and_both_sides(without: Clone) -> None:
    without.fork([A1, B1], [A11, B1], [A2, B1])
    assert without.run("git", "merge", "topic").returncode == 1
    merged = without.file.read_text()
    markers = re.findall(r"^(?:<{7} ours|={7}|>{7} theirs)$", merged, re.MULTILINE)
    assert markers == ["<<<<<<< ours", "=======", ">>>>>>> theirs"]
    assert "1.1.0" in merged
    assert "2.0.0" in merged


def test_without_the_program_git_shows_lines(without: Clone) -> None:
    without.commit(A1, B1)
    without.file.write_bytes(lock(A11, B1))
    shown = without.git("diff")
    assert '-  version     = "1.0.0"\n+  version     = "1.1.0"\n' in shown
    assert zh("c") in shown


def test_folders_that_begin_with_a_dash(clone: Clone) -> None:
    clone.file = clone.top / "-rf" / NAME
    clone.file.parent.mkdir()
    clone.fork([A1, B1], [A11, B1], [A1, B2])
    clone.git("merge", "topic")
    assert clone.file.read_bytes() == lock(A11, B2)
    clone.file.write_bytes(lock(A12, B2))
    assert "-  version      1.1.0\n+  version      1.2.0\n" in clone.git("diff")
    clone.git("reset", "-q", "--hard")
    clone.git("switch", "-q", "-c", "other", "HEAD~2")
    clone.commit(A2, B1)
    done = clone.run("git", "merge", "main")
    assert (done.returncode, "conflict in " in done.stderr) == (1, True), done.stderr
    assert "<<<<<<<" in clone.file.read_text()
