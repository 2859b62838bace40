"""Which host a pull request is fetched from: what the change brings along does not choose it."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from attacks.edited_version import REVIEW, with_an_edit
from kit.command_line import locklens
from kit.git import git
from kit.loopback import accepting
from kit.repositories import commit

if TYPE_CHECKING:
    from collections.abc import Iterator


class Hub(NamedTuple):
    """A bare repository with request 12, and a clone of it."""

    bare: Path
    clone: Path


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    found = Hub(tmp_path / "remote.git", tmp_path / "clone")
    work = tmp_path / "work"
    work.mkdir()
    with_an_edit(work)
    git(work, "push", "-q", str(work), "pr:refs/pull/12/head")
    git(work, "checkout", "-q", "main")
    git(tmp_path, "clone", "-q", "--mirror", str(work), str(found.bare))
    git(tmp_path, "clone", "-q", str(found.bare), str(found.clone))
    return found


@pytest.fixture
def stranger() -> Iterator[tuple[str, list[bytes]]]:
    """The URL of a host that answers nobody, and what it was asked."""
    asked: list[bytes] = []

    def serve(line: socket.socket) -> None:
        with line:
            asked.append(line.recv(1024))

    with accepting(serve) as port:
        yield f"http://127.0.0.1:{port}/", asked


def with_shared_settings(hub: Hub, text: str) -> None:
    """Has the clone include a file that it tracks, as teams share settings, and that a change brings."""
    commit(hub.clone, {".gitconfig": text})
    git(hub.clone, "config", "include.path", "../.gitconfig")


@pytest.mark.parametrize("key", ["insteadOf", "pushInsteadOf"])
def test_a_tracked_file_rewrites_no_url(hub: Hub, stranger: tuple[str, list[bytes]], key: str) -> None:
    url, asked = stranger
    with_shared_settings(hub, f'[url "{url}"]\n\t{key} = {hub.bare.parent}/\n')
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert (status, asked) == (1, []), err


def test_a_tracked_file_names_no_remote(hub: Hub, stranger: tuple[str, list[bytes]]) -> None:
    url, asked = stranger
    with_shared_settings(hub, f'[remote "origin"]\n\turl = {url}x.git\n[remote "other"]\n\turl = {url}x.git\n')
    settings = hub.clone / ".git" / "config"
    settings.write_text("[include]\n\tpath = ../.gitconfig\n" + settings.read_text())
    assert git(hub.clone, "ls-remote", "--get-url", "origin").startswith(url), "the case is one"
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert (status, asked) == (1, []), err
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12", "--remote", "other")
    assert (status, asked) == (2, []), err
    assert "there is no remote 'other'" in err
    assert "the remotes are origin\n" in err


def test_the_users_own_settings_rewrite_urls(hub: Hub, tmp_path: Path) -> None:
    git(hub.clone, "remote", "set-url", "origin", "hub:remote.git")
    with (Path.home() / ".gitconfig").open("a") as settings:
        settings.write(f'[url "{hub.bare.parent}/"]\n\tinsteadOf = hub:\n')
    status, _, err = locklens(hub.clone, *REVIEW, "--pr", "12")
    assert status == 1, err
