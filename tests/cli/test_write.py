"""upgrade, prune, restore and format as people and pipelines type them, against the sample registry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kit.git import git
from kit.repositories import copy_of, repository

from locklens.demo import PLATFORMS, SampleLock, h1, lock_file
from locklens.hashes import hashes_of_files
from locklens.lockfile.parse import parse
from locklens.operations.plan.builder import put_entries
from locklens.project.clifiles import this_platform

if TYPE_CHECKING:
    from kit.command_line import Run

HOST = "registry.terraform.io"
terraform = shutil.which("terraform")
LOCK = ".terraform.lock.hcl"


def requiring(**constraints: str) -> str:
    lines = "".join(
        f'    {name} = {{\n      source  = "{"acme" if name == "demo" else "hashicorp"}/{name}"\n      version = "{text}"\n    }}\n'
        for name, text in constraints.items()
    )
    return f"terraform {{\n  required_providers {{\n{lines}  }}\n}}\n"


def locking(**locked: str) -> bytes:
    """A lock file of real releases; each is a version, with constraints behind a blank."""
    entries = []
    for name, text in locked.items():
        version, _, constraints = text.partition(" ")
        entries.append(SampleLock(f"{HOST}/{'acme' if name == 'demo' else 'hashicorp'}/{name}", version, constraints))
    return lock_file(*entries)


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = copy_of(with_one_root, tmp_path / "top")
    monkeypatch.chdir(top)
    return top


def with_one_root(top: Path) -> None:
    main = requiring(demo="1.4.1", random="~> 3.6")
    repository(top, {"a/main.tf": main, f"a/{LOCK}": locking(demo="1.4.1 1.4.1", random="3.6.2 ~> 3.6")})


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def accepted(folder: Path) -> None:
    """Lets the real terraform say whether it takes the lock file as it is."""
    if terraform is None:
        return
    before = (folder / LOCK).read_bytes()
    command = [terraform, f"-chdir={folder}", "init", "-no-color", "-lockfile=readonly", "-input=false"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "provider dependency changes" not in done.stdout + done.stderr
    assert (folder / LOCK).read_bytes() == before
    shutil.rmtree(folder / ".terraform")


# upgrade


def test_upgrade_with_its_constraint(run: Run, top: Path) -> None:
    before = (top / "a" / LOCK).read_bytes()
    status, out, err = run("upgrade", "demo", "-edit-constraints", "-root=a")
    assert status == 0, err
    assert out == (
        "a: acme/demo 1.4.1 -> 1.5.0; constraint in a/main.tf:5 set to 1.5.0\nwrote a/main.tf\nwrote a/.terraform.lock.hcl\n"
    )
    assert (top / "a/main.tf").read_text() == requiring(demo="1.5.0", random="~> 3.6")
    after = (top / "a" / LOCK).read_bytes()
    blocks = [data[data.index(b'provider "registry.terraform.io/hashicorp/random"') :] for data in (before, after)]
    assert blocks[0] == blocks[1]
    assert git(top, "status", "--short").split("\n") == [" M a/.terraform.lock.hcl", " M a/main.tf"]
    accepted(top / "a")


def test_upgrade_of_all(run: Run, top: Path) -> None:
    status, out, err = run("-C", "a", "upgrade")
    assert (status, out) == (0, "a: hashicorp/random 3.6.2 -> 3.7.2\nwrote a/.terraform.lock.hcl\n")
    assert f"- Obtained hashicorp/random checksums for {this_platform()}\n" in err
    assert "now tracked" not in err
    assert "a: acme/demo: kept at 1.4.1; 1.5.0 is held back: " in err
    assert "1.4.1 (a/main.tf:5)" in err
    assert run("-C", "a", "upgrade")[:2] == (0, "nothing was changed\n")
    accepted(top / "a")


def test_upgrade_keeps_the_platforms_that_were_hashed_here(run: Run, top: Path) -> None:
    other = "darwin_arm64" if this_platform() != "darwin_arm64" else "linux_amd64"
    platforms = [f"--platform={this_platform()}", f"--platform={other}"]
    (top / "a" / LOCK).write_bytes(locking(random="3.6.2 ~> 3.6"))
    assert run("-C", "a", "upgrade", "random=3.6.3", *platforms)[0] == 0
    assert (top / "a" / LOCK).read_bytes().count(b'"h1:') == 2
    assert run("-C", "a", "upgrade", "random")[0] == 0
    assert b'"3.7.2"' in (top / "a" / LOCK).read_bytes()
    assert (top / "a" / LOCK).read_bytes().count(b'"h1:') == 2


def h1_lock(*platforms: str, packed: tuple[str, ...] = PLATFORMS) -> bytes:
    return lock_file(SampleLock(f"{HOST}/hashicorp/random", "3.6.2", "~> 3.6", platforms, packed))


def h1s_of(version: str, *platforms: str) -> set[str]:
    return {h1(f"{HOST}/hashicorp/random", version, platform) for platform in platforms}


def locked_h1s(path: Path) -> set[str]:
    return {text for entry in parse(path.read_bytes(), "").entries for text in hashes_of_files(entry.hashes)}


def fetched(err: str) -> list[str]:
    """The packages that were downloaded, which is begun in any order."""
    return [line.split("Fetching hashicorp/random ")[1][:-3] for line in err.splitlines() if "Fetching" in line]


def require_platforms(top: Path, *platforms: str) -> None:
    lines = "".join(f'{platform} = "CI"\n' for platform in platforms)
    (top / "locklens.toml").write_text(f"[platforms]\n{lines}")
    git(top, "add", "locklens.toml")
    git(top, "commit", "-qm", "policy")


def test_upgrade_keeps_platforms_that_no_cache_knows(run: Run, top: Path) -> None:
    platforms = ("darwin_arm64", "windows_amd64")
    (top / "a" / LOCK).write_bytes(h1_lock(*platforms))
    status, _, err = run("-C", "a", "upgrade", "random", "--no-cache")
    assert status == 0
    assert locked_h1s(top / "a" / LOCK) == h1s_of("3.7.2", *platforms)
    assert "warning" not in err
    asked = fetched(err)
    assert {text for text in asked if text.startswith("3.7.2")} == {f"3.7.2 for {name}" for name in platforms}
    # Old packages only until both hashes are found.
    assert len(asked) - 2 in range(2, len(PLATFORMS) + 1)


@pytest.mark.parametrize(
    ("unpacked", "packed"),
    [(PLATFORMS, PLATFORMS), (("darwin_arm64", "windows_amd64"), ("darwin_arm64", "windows_amd64")), (PLATFORMS, ())],
)
def test_old_packages_are_not_downloaded_where_their_zh_tell_the_platforms(
    run: Run, top: Path, unpacked: tuple[str, ...], packed: tuple[str, ...]
) -> None:
    (top / "a" / LOCK).write_bytes(h1_lock(*unpacked, packed=packed))
    status, _, err = run("-C", "a", "upgrade", "random", "--no-cache")
    assert status == 0
    assert locked_h1s(top / "a" / LOCK) == h1s_of("3.7.2", *unpacked)
    assert [text for text in fetched(err) if text.startswith("3.6.2")] == []


def test_upgrade_locks_the_platforms_that_the_policy_requires_and_those_of_before(run: Run, top: Path) -> None:
    require_platforms(top, "linux_arm64", "darwin_amd64")
    (top / "a" / LOCK).write_bytes(h1_lock("windows_amd64"))
    status, _, err = run("-C", "a", "upgrade", "random", "--no-cache")
    assert status == 0
    assert locked_h1s(top / "a" / LOCK) == h1s_of("3.7.2", "linux_arm64", "darwin_amd64", "windows_amd64")
    platforms = "linux_arm64", "darwin_amd64", "windows_amd64"
    assert {text for text in fetched(err) if text.startswith("3.7.2")} == {f"3.7.2 for {name}" for name in platforms}


@pytest.mark.parametrize("command", ["upgrade random --dry-run", "lock --platform linux_amd64 --check"])
def test_a_package_that_was_hashed_before_is_not_said_to_be_fetched(run: Run, top: Path, command: str) -> None:
    (top / "a" / LOCK).write_bytes(h1_lock("linux_amd64", "windows_amd64"))
    first, second = (run("-C", "a", *command.split(" "))[2] for _ in "ab")
    assert "- Fetching hashicorp/random" in first
    assert "- Fetching" not in second
    assert "- Not downloaded: hashicorp/random" in second


def test_lock_locks_the_platforms_that_the_policy_requires(run: Run, top: Path) -> None:
    require_platforms(top, "linux_arm64", "darwin_amd64")
    (top / "a/main.tf").write_text(requiring(random="3.6.2"))
    (top / "a" / LOCK).write_bytes(h1_lock("windows_amd64"))
    assert run("-C", "a", "lock", "--no-cache")[0] == 0
    assert locked_h1s(top / "a" / LOCK) == h1s_of("3.6.2", "linux_arm64", "darwin_amd64", "windows_amd64")
    (top / "a" / LOCK).write_bytes(h1_lock("windows_amd64"))
    assert run("-C", "a", "lock", "--platform", "linux_arm64", "--no-cache")[0] == 0
    assert locked_h1s(top / "a" / LOCK) == h1s_of("3.6.2", "linux_arm64", "windows_amd64")


def test_platform_overrides_the_policy_and_a_loss_is_a_warning(run: Run, top: Path) -> None:
    require_platforms(top, "linux_arm64", "darwin_amd64")
    (top / "a" / LOCK).write_bytes(h1_lock("linux_arm64", "darwin_amd64"))
    status, _, err = run("-C", "a", "upgrade", "random", "--no-cache", "--platform", "linux_arm64")
    assert status == 0
    assert locked_h1s(top / "a" / LOCK) == h1s_of("3.7.2", "linux_arm64")
    assert (
        "warning: a: hashicorp/random: locked for linux_arm64: 1 h1 hash instead of 2; L on Hashes, or "
        "`locklens lock --platform`, adds others\n"
    ) in err


def test_platforms_that_stay_unknown_are_a_warning(run: Run, top: Path) -> None:
    data = h1_lock("linux_amd64", "darwin_arm64").replace(h1s_of("3.6.2", "darwin_arm64").pop().encode(), b"h1:x=")
    (top / "a" / LOCK).write_bytes(data)
    status, out, _ = run("-C", "a", "upgrade", "random", "--no-cache", "--json")
    assert status == 0
    assert locked_h1s(top / "a" / LOCK) == h1s_of("3.7.2", "linux_amd64")
    (warning,) = [one for one in events(out) if one["type"] == "warning"]
    assert (warning["root"], warning["provider"]) == ("a", "hashicorp/random")
    assert warning["words"].startswith(
        "an h1 is locked for linux_amd64 only: the platforms of 1 old h1 hash are unknown"
    )
    (change,) = [one for one in events(out) if one["type"] == "change"]
    assert change["platforms"] == ["linux_amd64"]


def test_a_preview_is_a_diff_that_does_what_the_command_does(run: Run, top: Path, tmp_path: Path) -> None:
    words = ("upgrade", "--edit-constraints", "--root", "a")
    status, out, err = run(*words, "--dry-run")
    assert status == 0
    assert git(top, "status", "--short") == ""
    assert "a: acme/demo 1.4.1 would become 1.5.0; constraint in a/main.tf:5 would be set to 1.5.0\n" in err
    assert err.endswith("\ndry run: nothing was written\n")
    assert not (Path(os.environ["XDG_DATA_HOME"]) / "locklens" / "writes").exists()
    (tmp_path / "diff").write_text(out)
    git(top, "apply", str(tmp_path / "diff"))
    applied = {name: (top / "a" / name).read_bytes() for name in ("main.tf", LOCK)}
    git(top, "checkout", ".")
    assert run(*words)[0] == 0
    assert applied == {name: (top / "a" / name).read_bytes() for name in ("main.tf", LOCK)}


def test_upgrade_as_events(run: Run, top: Path) -> None:
    status, out, err = run("upgrade", "demo=1.5.0", "random", "--edit-constraints", "--root=a", "--json")
    assert (status, err) == (0, "")
    found = events(out)
    assert {one["root"] for one in found if "root" in one} == {"a"}
    changes = [one for one in found if one["type"] == "change"]
    assert [(one["provider"], one["kind"], one["new"]) for one in changes] == [
        (f"{HOST}/acme/demo", "upgrade", "1.5.0"),
        (f"{HOST}/hashicorp/random", "upgrade", "3.7.2"),
    ]
    assert changes[0]["edits"] == [{"file": "a/main.tf", "line": 5, "old": "1.4.1", "new": "1.5.0"}]
    assert [one["path"] for one in found if one["type"] == "file"] == ["a/main.tf", f"a/{LOCK}"]
    assert found[-1] == {
        "type": "outcome",
        "written": True,
        "failed": False,
        "command": "locklens upgrade demo=1.5.0 random --edit-constraints --root a",
        "notices": [],
    }


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["upgrade", "demo", "--dry-run", "aws"], 2, "does not require or lock 'aws'"),
        (["upgrade", "demo=1.5.0"], 1, "a: acme/demo: 1.5.0 does not satisfy 1.4.1 (a/main.tf:5)"),
        (["upgrade", "demo=7"], 1, "version 7.0.0 is not offered"),
        (["upgrade", "aws"], 2, "does not require or lock 'aws'"),
        (["upgrade", "demo=x"], 2, "invalid version in "),
        (["upgrade", "--platform", "linux"], 2, "invalid platform 'linux'"),
        (["upgrade", "demo", "--frm"], 2, "unrecognized arguments"),
        (["restore"], 2, "required: PROVIDER"),
        (["restore", "demo", "--from", "nowhere"], 2, "nowhere"),
        (["prune", "demo"], 1, "a/main.tf:3: acme/demo is required here"),
        (["format", "x"], 2, "unrecognized arguments: x"),
        (["format", "--root", "nowhere"], 2, "error: a/nowhere: no such folder"),
    ],
)
def test_what_fails(run: Run, top: Path, words: list[str], status: int, said: str) -> None:
    found = run("-C", "a", *words)
    assert found[0] == status
    assert "error: " in found[2]
    assert said in found[2]
    assert git(top, "status", "--short") == ""


def test_a_failure_as_an_event(run: Run, top: Path) -> None:
    (top / "a" / LOCK).write_bytes(b"\n\nx\n")
    status, out, _ = run("format", "--root", "a", "--json")
    assert status == 1
    first, last = events(out)
    assert (first["type"], first["root"], first["file"], first["line"]) == ("error", "a", f"a/{LOCK}", 3)
    assert (last["type"], last["written"], last["failed"]) == ("outcome", False, True)


# prune, restore, format: what terraform says to the file afterwards


def test_prune_restore_and_format_leave_what_terraform_accepts(run: Run, top: Path) -> None:
    lock = top / "a" / LOCK
    everything = locking(demo="1.4.1 1.4.1", null="3.2.2", random="3.6.2 ~> 3.6", tls="4.0.5")
    lock.write_bytes(everything)
    git(top, "commit", "-qam", "more")
    assert run("prune", "--root", "a", "--dry-run")[2] == (
        "a: hashicorp/null 3.2.2 would be removed\na: hashicorp/tls 4.0.5 would be removed\n"
        "dry run: nothing was written\n"
    )
    assert run("prune", "--root", "a")[:2] == (
        0,
        f"a: hashicorp/null 3.2.2 is removed\na: hashicorp/tls 4.0.5 is removed\nwrote a/{LOCK}\n",
    )
    accepted(top / "a")

    lock.write_bytes(lock.read_bytes().replace(b"3.6.2", b"3.6.3").replace(b'"h1:', b'"h1:x'))
    assert run("-C", "a", "restore", "random", "demo")[0] == 0
    assert lock.read_bytes() == locking(demo="1.4.1 1.4.1", random="3.6.2 ~> 3.6")
    accepted(top / "a")

    lock.write_bytes(b"# mine\n\n" + everything.split(b"\n", 2)[2].replace(b"\n", b"\r\n").replace(b"  ", b"\t"))
    assert run("-C", "a", "prune")[0] == 0
    accepted(top / "a")
    fixed = "mixed line ends, a different first line, spacing"
    assert run("-C", "a", "format", "--dry-run")[2] == (
        f"a: would fix the format: {fixed}\ndry run: nothing was written\n"
    )
    assert run("-C", "a", "format")[:2] == (0, f"a: format fixed: {fixed}\nwrote a/{LOCK}\n")
    assert lock.read_bytes() == locking(demo="1.4.1 1.4.1", random="3.6.2 ~> 3.6")
    accepted(top / "a")


def test_the_advice_on_a_foreign_hash_works_where_the_constraint_has_changed_too(run: Run, top: Path) -> None:
    assert "`locklens upgrade NAME=VERSION`" in " ".join(run("explain", "LK002")[1].split())
    (top / "a/main.tf").write_text(requiring(demo="1.5.0", random="~> 3.6"))
    changed = locking(demo="1.5.0 1.5.0", random="3.6.2 ~> 3.6")
    (top / "a" / LOCK).write_bytes(changed.replace(b'"zh:', b'"zh:' + b"0" * 64 + b'",\n    "zh:', 1))
    assert run("restore", "demo", "--root=a")[0] == 0
    assert run("lock", "demo", "--root=a")[0] == 1
    assert run("upgrade", "demo=1.5.0", "--root=a")[0] == 0
    assert b"0" * 64 not in (top / "a" / LOCK).read_bytes()
    accepted(top / "a")


def test_crlf_and_a_bom_stay_under_upgrade(run: Run, top: Path) -> None:
    for name in ("main.tf", LOCK):
        path = top / "a" / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert run("-C", "a", "upgrade", "--edit-constraints")[0] == 0
    for name in ("main.tf", LOCK):
        data = (top / "a" / name).read_bytes()
        assert data.startswith(b"\xef\xbb\xbf")
        assert data.count(b"\n") == data.count(b"\r\n")
    accepted(top / "a")


def test_constraints_in_the_json_syntax(run: Run, top: Path) -> None:
    (top / "a/main.tf").unlink()
    text = '{"terraform": [{"required_providers": {"demo": {"source": "acme/demo", "version": "~> 1.4.0"}}}]}'
    (top / "a/main.tf.json").write_text(text)
    (top / "a" / LOCK).write_bytes(locking(demo="1.4.1 ~> 1.4.0"))
    assert run("-C", "a", "upgrade", "--edit-constraints")[0] == 0
    assert (top / "a/main.tf.json").read_text() == text.replace("1.4.0", "1.5.0")
    accepted(top / "a")


# Runs that meet


def test_a_file_that_changes_while_it_is_planned(run: Run, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = put_entries

    def slow(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        (top / "a/main.tf").write_text("# somebody's\n")

    monkeypatch.setattr("locklens.operations.write.root_upgrade.put_entries", slow)
    before = (top / "a" / LOCK).read_bytes()
    status, out, err = run("-C", "a", "upgrade", "--edit-constraints")
    assert (status, out) == (1, "")
    assert "error: a/main.tf: changed on disk since it was read" in err
    assert (top / "a" / LOCK).read_bytes() == before
    assert (top / "a/main.tf").read_text() == "# somebody's\n"


def test_the_next_command_says_what_it_settled(run: Run, top: Path) -> None:
    """A run that is killed between two files, and a command that only reads."""
    script = (
        "import os, sys\n"
        "rename = os.replace\n"
        "def killed(source, target):\n"
        "    rename(source, target)\n"
        "    if '.locklens-' in os.fspath(source):\n"
        "        os.kill(os.getpid(), 9)\n"
        "os.replace = killed\n"
        "from locklens.cli.main import main\n"
        "main(sys.argv[1:], None)\n"
    )
    command = [sys.executable, "-c", script, "-C", "a", "upgrade", "demo", "--edit-constraints"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -9
    assert git(top, "status", "--short").split("\n")[:1] == [" M a/main.tf"]
    status, _, err = run("review", "--offline", "--format", "text", "--fail-on", "never")
    assert status == 0
    assert err.startswith(
        "note: an interrupted write (locklens -C a upgrade demo --edit-constraints) was completed: a/main.tf, a/.terraform.lock.hcl\n"
    )
    assert b'"1.5.0"' in (top / "a" / LOCK).read_bytes()
    assert "?? " not in git(top, "status", "--short")
    accepted(top / "a")


def test_a_dry_run_in_a_folder_names_the_command_that_applies_its_diff(
    run: Run, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / "m").mkdir()
    (top / "a/main.tf").rename(top / "m/main.tf")
    (top / "a/main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    words = ("upgrade", "demo=1.5.0", "--edit-constraints", "--dry-run")
    monkeypatch.chdir(top / "a")
    status, out, err = run(*words)
    assert status == 0
    assert err.splitlines()[-1] == f"note: the diff is from {top}: git -C {top} apply takes it"
    (tmp_path / "diff").write_text(out)
    git(top / "a", "-C", str(top), "apply", str(tmp_path / "diff"))
    assert f"a/{LOCK}" in (changed := git(top, "status", "--short"))
    assert "demo" in (top / "m/main.tf").read_text("utf-8"), changed
    monkeypatch.chdir(top)
    assert "git -C" not in run("lock", "--root", "a", "--dry-run")[2]
    monkeypatch.chdir(top / "a")
    (top / "a" / LOCK).unlink()
    assert f"git -C {top} apply" in run("lock", "--dry-run")[2]
    assert "apply" not in run("format", "--dry-run")[2], "there is no diff"
