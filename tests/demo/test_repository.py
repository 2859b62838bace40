"""The sample repository: whether it shows what its table says."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from locklens.demo import MANIFEST
from locklens.demo.cases import TEAMS, cases
from locklens.demo.incidents import make_repository
from locklens.errors import ConfigurationError
from locklens.hashes import is_well_formed, registry_manifests
from locklens.lockfile.parse import parse
from locklens.lockfile.render import is_canonical
from locklens.operations.compare import open_git
from locklens.project import LOCK_FILE
from locklens.project.git.process import GitCommand
from locklens.review.changes import Comparer
from locklens.versions import Constraints

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.lockfile import LockFile
    from locklens.operations.comparison import Comparison
    from locklens.review.model import Change


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("demo") / "infra")


@pytest.fixture(scope="module")
def comparison(folder: Path) -> Comparison:
    return open_git(folder)


@pytest.fixture(scope="module")
def locks(comparison: Comparison) -> dict[str, tuple[LockFile | None, LockFile | None]]:
    """Old and new lock file of each root."""

    def read(path: str | None, *, old: bool) -> LockFile | None:
        if path is None:
            return None
        data = (comparison.base if old else comparison.head).tree.read(path)
        assert data is not None
        return parse(data, path)

    return {pair.path: (read(pair.old_lock, old=True), read(pair.new_lock, old=False)) for pair in comparison.roots}


@pytest.fixture(scope="module")
def changes(locks: dict[str, tuple[LockFile | None, LockFile | None]]) -> dict[str, dict[str, Change]]:
    """The changes of each root by provider type."""
    both = {root: (old, new) for root, (old, new) in locks.items() if old is not None and new is not None}
    return {
        root: {change.address.type: change for change in Comparer().compare(old, new)}
        for root, (old, new) in both.items()
    }


def kinds(changes: dict[str, dict[str, Change]], root: str) -> dict[str, str]:
    return {name: str(change.kind) for name, change in changes[root].items()}


def test_every_root_is_there(comparison: Comparison) -> None:
    assert {pair.path for pair in comparison.roots} == {case.path for case in cases()}
    pairs = {pair.path: pair for pair in comparison.roots}
    assert [path for path, pair in pairs.items() if pair.old_lock is None] == ["infra/prod/cdn"]
    assert [path for path, pair in pairs.items() if pair.new_lock is None] == ["infra/legacy/ftp"]
    assert {path: pair.renamed_from for path, pair in pairs.items() if pair.renamed_from} == {
        "infra/stage/messaging": "infra/stage/queue"
    }
    forgotten = [path for path, pair in pairs.items() if not pair.lock_changed and pair.configuration_changed]
    assert forgotten == ["infra/stage/cluster", "infra/stage/monitoring"]
    assert [path for path, pair in pairs.items() if not pair.lock_changed and not pair.configuration_changed] == [
        "infra/stage/search"
    ]


def test_every_kind_of_change_has_its_place(changes: dict[str, dict[str, Change]]) -> None:
    assert kinds(changes, "infra/prod/network") == {
        "aws": "upgrade",
        "null": "removed",
        "random": "upgrade",
        "time": "new-provider",
        "tls": "upgrade",
    }
    bumps = {name: str(change.bump) for name, change in changes["infra/prod/network"].items() if change.bump}
    assert bumps == {"aws": "major", "random": "patch", "tls": "minor"}
    assert kinds(changes, "infra/prod/data") == {
        "demo": "replaced-hashes",
        "google": "upgrade",
        "postgresql": "downgrade",
    }
    assert kinds(changes, "infra/prod/dns") == {"netbox": "upgrade", "cloudflare": "new-hashes"}
    assert kinds(changes, "infra/prod/secrets") == {"vault-ext": "changed-hashes", "vault": "removed-hashes"}
    assert kinds(changes, "infra/prod/cluster") == {"helm": "upgrade", "kubernetes": "new-hashes"}
    assert kinds(changes, "infra/prod/search") == {"search-sync": "new-provider"}
    assert kinds(changes, "infra/stage/network") == {"aws": "constraints-only"}
    assert kinds(changes, "infra/edge") == {"cloudflare": "moved", "random": "moved"}
    assert kinds(changes, "infra/tools/backup") == {"backup": "upgrade"}
    assert kinds(changes, "infra/tools/runner") == {"http": "new-hashes"}
    for root in ("infra/stage/data", "infra/stage/messaging", "infra/stage/cluster", "infra/stage/monitoring"):
        assert kinds(changes, root) == {}
    everything = {str(change.kind) for root in changes.values() for change in root.values()}
    assert everything == {
        "new-provider",
        "removed",
        "moved",
        "upgrade",
        "downgrade",
        "new-hashes",
        "removed-hashes",
        "changed-hashes",
        "replaced-hashes",
        "constraints-only",
    }


def test_the_same_bump_in_twelve_roots(changes: dict[str, dict[str, Change]]) -> None:
    bumps = [changes[f"infra/teams/{number}"]["aws"] for number in TEAMS]
    assert len(bumps) == 12
    assert len({change.group for change in bumps}) == 1
    assert len({change.id for change in bumps}) == 2


def test_the_dangerous_ones(locks: dict[str, tuple[LockFile | None, LockFile | None]]) -> None:
    def hashes(root: str, name: str, *, old: bool = False) -> set[str]:
        lock = locks[root][0 if old else 1]
        assert lock is not None
        return {text for entry in lock.entries if entry.address.type == name for text in entry.hashes}

    assert hashes("infra/prod/data", "demo", old=True) & hashes("infra/prod/data", "demo") == {MANIFEST}
    assert MANIFEST in registry_manifests()
    assert hashes("infra/prod/dns", "netbox", old=True) == hashes("infra/prod/dns", "netbox")
    here, there = hashes("infra/prod/search", "search-sync"), hashes("infra/stage/search", "search-sync")
    assert here & there == {MANIFEST}
    assert not any(text.startswith("zh:") for text in hashes("infra/tools/backup", "backup"))
    assert len([text for text in hashes("infra/tools/runner", "http") if not is_well_formed(text)]) == 2


def test_lock_files_are_what_the_tools_write(locks: dict[str, tuple[LockFile | None, LockFile | None]]) -> None:
    odd = set()
    for root, (old, new) in locks.items():
        assert old is None or is_canonical(old), root
        if new is not None and not is_canonical(new):
            odd.add(root)
        for lock in (old, new):
            for entry in lock.entries if lock is not None else ():
                assert (
                    str(Constraints.parse_recorded(entry.constraints)) == entry.constraints
                    if entry.constraints
                    else True
                )
    assert odd == {"infra/stage/data", "infra/stage/registry"}


def test_the_conflict_is_one_that_git_leaves(folder: Path) -> None:
    lines = (folder / "infra/stage/registry" / LOCK_FILE).read_text().splitlines()
    assert [line for line in lines if line[:7] in ("<<<<<<<", "=======", ">>>>>>>")] == [
        "<<<<<<< HEAD",
        "=======",
        ">>>>>>> feature/newer-aws",
    ]
    first, middle, last = (lines.index(mark) for mark in ("<<<<<<< HEAD", "=======", ">>>>>>> feature/newer-aws"))
    assert '  version     = "5.84.0"' in lines[first:middle]
    assert '  version     = "5.86.1"' in lines[middle:last]
    assert lines[last + 1 :] == ["  ]", "}"]


def test_the_repository_is_always_the_same_and_nobody_elses(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    (tmp_path / "gitconfig").write_text(f"[core]\nhooksPath = {hooks}\nautocrlf = true\n[commit]\ngpgSign = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    commands: list[str] = []
    answer = GitCommand.answer

    def counted(self: GitCommand, *words: str, **more: object) -> bytes:
        commands.append(words[0])
        return answer(self, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(GitCommand, "answer", counted)
    other = make_repository(tmp_path / "deep" / "infra")
    assert commands == ["init", "add", "commit"], "the demo starts at once"
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_AUTHOR_NAME"):
        monkeypatch.delenv(name)

    def git(place: Path, *arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=place, capture_output=True, text=True, check=True).stdout

    assert git(other, "log", "--format=%H %an %ae %s") == git(folder, "log", "--format=%H %an %ae %s")
    assert git(other, "status", "--porcelain") == git(folder, "status", "--porcelain")
    assert git(folder, "branch", "--show-current") == "main\n"
    assert b"\r\n" in (other / "infra/stage/data" / LOCK_FILE).read_bytes()


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(ConfigurationError, match="the folder is not empty"):
        make_repository(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    with pytest.raises(ConfigurationError, match="cannot be written"):
        make_repository(tmp_path / "mine" / "below")
