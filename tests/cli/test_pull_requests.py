"""`review --pr`: a request's head is fetched from a real remote, and nothing of the clone changes but its objects."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from kit.command_line import locklens
from kit.git import git
from kit.repositories import commit, copy_of, repository

from locklens.errors import RepositoryError
from locklens.operations.compare import fetch_pull_request
from locklens.project.git import fetch

LOCK = "infra/.terraform.lock.hcl"
ENTRY = 'provider "registry.example.com/acme/demo" {{\n  version = "{}"\n  hashes = [\n    "zh:{}",\n  ]\n}}\n'
OLD, EDITED = ENTRY.format("1.0.0", "0" * 64), ENTRY.format("1.1.0", "0" * 64)
"""The version was edited and the hash stayed: it blocks, and no registry is asked for that."""
REVIEW = ("review", "--offline", "--format", "json")


class Forge:
    """A bare repository as a host keeps it, with a request that no branch has, and a clone from before it was opened."""

    def __init__(self, folder: Path, layout: str) -> None:
        copy_of(LAYOUTS[layout], folder)
        self.bare, self.clone, self.work = folder / "remote.git", folder / "clone", folder / "work"
        self.tip, self.head = git(self.work, "rev-parse", "main", "change").split()
        self.fork = git(self.work, "merge-base", "main", "change")


def with_a_request(folder: Path, layout: str) -> None:
    bare, clone, work = folder / "remote.git", folder / "clone", folder / "work"
    repository(work, {LOCK: OLD, "locklens.toml": "cooldown = 3\n"})
    git(folder, "clone", "-q", "--bare", str(work), str(bare))
    git(folder, "clone", "-q", str(bare), str(clone))
    git(work, "checkout", "-qb", "change")
    commit(work, {LOCK: EDITED})
    git(work, "push", "-q", str(bare), f"HEAD:refs/{layout}")
    git(work, "checkout", "-q", "main")
    commit(work, {"later.tf": "", "locklens.toml": "cooldown = 4\n"})
    git(work, "push", "-q", str(bare), "main")


LAYOUTS = {name: partial(with_a_request, layout=name) for name in ("pull/12/head", "merge-requests/12/head")}


@pytest.fixture(params=LAYOUTS)
def forge(request: pytest.FixtureRequest, tmp_path: Path) -> Forge:
    return Forge(tmp_path, request.param)


@pytest.fixture
def hub(tmp_path: Path) -> Forge:
    return Forge(tmp_path, "pull/12/head")


def state(clone: Path) -> dict[str, str]:
    """All of a clone but its objects: references, index, work tree, configuration, what a fetch leaves."""
    return {
        str(path.relative_to(clone)): path.read_bytes().hex() if path.is_file() else ""
        for path in clone.rglob("*")
        if path.relative_to(clone).parts[:2] != (".git", "objects")
    }


def test_a_base_that_the_remote_alone_has_as_a_branch_is_named(hub: Forge) -> None:
    git(hub.work, "push", "-q", str(hub.bare), "main:refs/heads/release/1")
    for remote in ("origin", "upstream"):
        if remote != "origin":
            git(hub.clone, "remote", "add", remote, str(hub.bare))
        git(hub.clone, "fetch", "-q", remote)
    for name, meant in (
        ("release/1", "origin/release/1 or upstream/release/1"),
        ("release/1~1", "origin/release/1~1 or upstream/release/1~1"),
    ):
        status, _, err = locklens(hub.clone, *REVIEW, name, "--pr", "12")
        assert (status, err.splitlines()[-2:]) == (2, [
            f"error: unknown revision '{name}'", f"hint: did you mean {meant}?"
        ])  # fmt: skip
    for name in ("release", "release/*", "no"):
        assert '"git fetch" brings those of the remote' in locklens(hub.clone, *REVIEW, name)[2]


def test_a_request_is_compared_with_its_merge_base(forge: Forge) -> None:
    before = state(forge.clone)
    status, out, err = locklens(forge.clone, *REVIEW, "--pr", "12")
    assert status == 1, err
    review = json.loads(out)
    layout = "pull/12" if forge.bare.joinpath("refs/pull").exists() else "merge-requests/12"
    assert review["base"] == {"kind": "git", "name": f"origin/main...origin/{layout}", "revision": forge.fork}
    assert review["head"] == {"kind": "git", "name": f"origin/{layout}", "revision": forge.head}
    assert [one["kind"] for one in review["roots"][0]["changes"]] == ["upgrade"]
    assert "LK025" in [one["rule"] for one in review["roots"][0]["changes"][0]["findings"]]
    assert err.startswith("fetching request 12 from origin\n")
    assert state(forge.clone) == before, "no reference, no file, no setting"
    assert locklens(forge.clone, *REVIEW, "--pr", "12")[1] != "", "and once more, with the objects there"
    assert state(forge.clone) == before


def test_what_the_base_has_changed_since_of_a_reviewed_root_is_noted(hub: Forge) -> None:
    """Nobody has reviewed what a merge makes of both: it may require what the branch does not lock."""

    def noted(*words: str) -> list[str]:
        notes = json.loads(locklens(hub.clone, *REVIEW, *words)[1])["run"]["notes"]
        return [one for one in notes if "since the branch began" in one]

    assert noted("--pr", "12") == []
    commit(hub.work, {"infra/more.tf": "", LOCK: ENTRY.format("1.0.1", "0" * 64)})
    git(hub.work, "push", "-q", str(hub.bare), "main")
    (note,) = noted("--pr", "12")
    assert note == (
        f"origin/main has changed {LOCK}, infra/more.tf since the branch began, which 1 root here reads: "
        "what a merge makes of both was not reviewed"
    )
    git(hub.clone, "fetch", "-q", "origin", "main", "pull/12/head:change")
    assert noted("origin/main", "--head", "change") == [], "the base itself is the old side"


def test_what_the_base_has_changed_of_files_that_the_branch_moved_is_noted(tmp_path: Path) -> None:
    """A merge follows them: the moved root gets the base's lock file, and the moved module its constraint."""
    call = 'module "net" {\n  source = "../modules/net"\n}\n'
    files = {LOCK: OLD, "infra/main.tf": call, "modules/net/main.tf": "locals {\n  a = 1\n}\n"}
    top = repository(tmp_path / "top", files)
    git(top, "checkout", "-qb", "change")
    (top / "live").mkdir()
    for folder in ("infra", "modules"):
        git(top, "mv", folder, f"live/{folder}")
    git(top, "commit", "-qam", "moved")
    git(top, "checkout", "-q", "main")
    commit(top, {LOCK: ENTRY.format("1.0.1", "0" * 64), "modules/net/more.tf": ""})
    run = json.loads(locklens(top, *REVIEW, "main", "--merge-base", "--head", "change")[1])["run"]
    (note,) = [one for one in run["notes"] if "since the branch began" in one]
    assert note.startswith(f"main has changed {LOCK}, modules/net/more.tf since the branch began, which 1 root here")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_what_the_base_has_changed_behind_links_is_noted(tmp_path: Path) -> None:
    """Shared files and modules are often links: their own paths stay as they were."""
    call = 'module "net" {\n  source = "./net"\n}\n'
    files = {LOCK: OLD, "infra/main.tf": call, "common/versions.tf": "", "modules/net/main.tf": ""}
    top = repository(tmp_path / "top", files)
    (top / "infra/versions.tf").symlink_to("../common/versions.tf")
    (top / "infra/net").symlink_to("../modules/net")
    commit(top, {})
    git(top, "checkout", "-qb", "change")
    commit(top, {LOCK: ENTRY.format("1.0.1", "0" * 64)})
    git(top, "checkout", "-q", "main")
    commit(top, {"common/versions.tf": "locals {}\n", "modules/net/more.tf": "", "common/other.tf": ""})
    run = json.loads(locklens(top, *REVIEW, "main", "--merge-base", "--head", "change")[1])["run"]
    (note,) = [one for one in run["notes"] if "since the branch began" in one]
    assert note.startswith("main has changed common/versions.tf, modules/net/more.tf since the branch began")


def test_the_base_is_the_default_branch_as_it_is_at_the_remote(hub: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hub.clone)
    base = fetch_pull_request(hub.clone, 12, remote="origin")
    assert (base.name, base.head, base.fork_of) == (hub.tip, hub.head, hub.head)
    assert git(hub.clone, "rev-parse", "origin/main") == hub.fork
    (hub.work / "locklens.toml").write_text("severity = 1\n")
    broken = commit(hub.work, {})
    git(hub.work, "push", "-q", str(hub.bare), "main")
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert (status, "locklens.toml:1" in err) == (2, True), f"the policy is that of {broken}: {err}"
    status, out, _ = locklens(hub.clone, *REVIEW, "--pr", "12", "origin/main")
    assert (status, json.loads(out)["base"]["name"]) == (1, "origin/main...origin/pull/12")


def test_a_remote_is_named(hub: Forge) -> None:
    git(hub.clone, "remote", "rename", "origin", "upstream")
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert status == 2
    assert "error: there is no remote 'origin'\nhint: name one with --remote; the remotes are upstream\n" in err
    status, out, _ = locklens(hub.clone, *REVIEW, "--pr", "12", "--remote=upstream")
    assert (status, json.loads(out)["head"]["name"]) == (1, "upstream/pull/12")
    git(hub.clone, "remote", "set-url", "upstream", "../remote.git")
    assert locklens(hub.clone, *REVIEW, "--pr", "12", "--remote", "upstream")[0] == 1, "a path below the work tree"
    assert locklens(hub.clone / "infra", *REVIEW, "--pr", "12", "--remote", "upstream")[0] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--pr", "99"),
            "remote 'origin' has no request 99: it has no refs/pull/99/head or refs/merge-requests/99/head",
        ),
        (("--pr", "12", "nowhere"), "unknown revision 'nowhere'"),
        (("--pr", "12", "--remote=--upload-pack=x"), "there is no remote '--upload-pack=x'"),
        (("--pr", "12", "--remote", ""), "there is no remote ''"),
        (("--pr", "12", "--head", "main"), "no --head, --staged, --old or --new"),
        (("--remote", "origin"), "--remote requires --pr"),
        *((("--pr", text), "invalid number") for text in ("x", "0", "-1", "1/head:refs/heads/main", "١", "9" * 30)),
    ],
)
def test_what_cannot_be_compared_is_said(hub: Forge, words: tuple[str, ...], said: str) -> None:
    status, out, err = locklens(hub.clone, *REVIEW, *words)
    assert (status, out) == (2, "")
    assert said in err
    assert "error: " in err


def test_a_remote_that_cannot_be_reached_is_said(hub: Forge) -> None:
    git(hub.clone, "remote", "set-url", "origin", str(hub.bare) + "-gone")
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert (status, "error: cannot fetch from remote 'origin': " in err) == (2, True)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        git(hub.clone, "remote", "set-url", "origin", f"http://127.0.0.1:{unused.getsockname()[1]}/x.git")
        status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert (status, "error: cannot fetch from remote 'origin': " in err) == (2, True)


def test_a_remote_that_does_not_answer_is_given_up(hub: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "FETCH_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        git(hub.clone, "remote", "set-url", "origin", f"http://127.0.0.1:{silent.getsockname()[1]}/x.git")
        with pytest.raises(RepositoryError, match="took longer than"):
            fetch_pull_request(hub.clone, 12, remote="origin")
    assert not list((hub.clone / ".git").glob("locklens-*"))


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such bound")
def test_a_fetch_is_bounded(hub: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    (hub.work / "large").write_bytes(os.urandom(4_000_000))
    git(hub.work, "checkout", "-q", "change")
    commit(hub.work, {})
    git(hub.work, "push", "-q", str(hub.bare), "+HEAD:refs/pull/12/head")
    monkeypatch.setattr(fetch, "MAX_PACK_BYTES", 1_000_000)
    with pytest.raises(RepositoryError, match="cannot fetch"):
        fetch_pull_request(hub.clone, 12, remote="origin")


def test_a_head_that_is_no_commit_is_refused(hub: Forge) -> None:
    blob = git(hub.bare, "rev-parse", f"{hub.head}:{LOCK}")
    git(hub.bare, "update-ref", "refs/pull/13/head", blob)
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "13")
    assert (status, "refs/pull/13/head of remote 'origin' is no commit" in err) == (2, True)


def test_a_remote_without_a_default_branch_needs_a_base(hub: Forge) -> None:
    git(hub.bare, "symbolic-ref", "HEAD", "refs/heads/none")
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert (status, "hint: name the base: locklens review --pr 12 BASE\n" in err) == (2, True)
    assert locklens(hub.clone, *REVIEW, "--pr", "12", "origin/main")[0] == 1


def test_no_name_of_the_remote_acts_on_a_terminal(hub: Forge) -> None:
    git(hub.bare, "branch", "-m", "main", "ma\u202ein\u0085error")
    status, out, err = locklens(hub.clone, "review", "--offline", "--format", "text", "--pr", "12")
    assert status == 1, err
    assert "\u202e" not in out + err
    assert "\u0085" not in out + err


def test_a_shallow_clone_a_bare_one_and_a_linked_work_tree(hub: Forge, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{hub.bare}", "shallow")
    status, _, err = locklens(tmp_path / "shallow", *REVIEW, "--pr", "12")
    assert status == 1 or "git fetch --unshallow" in err, err
    git(tmp_path, "clone", "-q", "--bare", str(hub.bare), "bare.git")
    assert locklens(tmp_path / "bare.git", *REVIEW, "--pr", "12")[0] == 1
    git(hub.clone, "worktree", "add", "-q", str(tmp_path / "linked"), "--detach")
    assert locklens(tmp_path / "linked", *REVIEW, "--pr", "12")[0] == 1


PROGRAMS = (
    *("core.sshCommand", "core.gitProxy", "core.askPass", "core.fsmonitor", "core.pager", "core.alternateRefsCommand"),
    *("credential.helper", "remote.origin.uploadpack", "remote.origin.vcs", "hook.x.command", "alias.fetch"),
    *("uploadpack.packObjectsHook", "gc.recentObjectsHook", "diff.external", "gpg.program"),
)


def test_fetching_runs_no_program_of_the_repositorys_configuration(hub: Forge, tmp_path: Path) -> None:
    program, ran = tmp_path / "evil.sh", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    program.chmod(0o755)
    for key in PROGRAMS:
        git(hub.clone, "config", key, str(program))
    for key, value in {
        "core.hooksPath": str(tmp_path / "hooks"),
        "hook.x.event": "reference-transaction",
        "remote.origin.fetch": "+refs/pull/*:refs/heads/*",
        "fetch.writeCommitGraph": "true",
        "fetch.recurseSubmodules": "true",
        "protocol.ext.allow": "always",
        "gc.auto": "1",
    }.items():
        git(hub.clone, "config", key, value)
    (tmp_path / "hooks").mkdir()
    for name in ("reference-transaction", "post-checkout", "pre-auto-gc"):
        (tmp_path / "hooks" / name).write_text(program.read_text())
        (tmp_path / "hooks" / name).chmod(0o755)
    ran.unlink(missing_ok=True)
    before = state(hub.clone)
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert (status, ran.exists()) == (1, False), err
    assert state(hub.clone) == before
    for url in (f"ssh://127.0.0.1:1/{hub.bare}", f"ext::{program} %S", f"{program}::x"):
        git(hub.clone, "config", "remote.origin.url", url)
        status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
        assert (status, ran.exists()) == (2, False), (url, err)
    subprocess.run(["git", "fetch", "-q", "origin"], cwd=hub.clone, capture_output=True, check=False)
    assert ran.exists(), "the case is one: git itself runs what the configuration names"
