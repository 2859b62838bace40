"""Programs that the programs start which locklens runs: none comes from the repository, whatever PATH says."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from attacks.edited_version import LOCK, OLD, REVIEW
from kit.command_line import locklens
from kit.git import git
from kit.repositories import commit, put
from kit.waiting import until

from locklens.errors import ConfigurationError
from locklens.machine import safe_environment
from locklens.sources.helpers import Helper
from locklens.trust.gpg import require_gpg
from locklens.ui.shell.screen import browser_command, open_page

PATHS = pytest.mark.parametrize("entry", [":{}", "{}:", ".:{}", "bin:{}", "{}::bin"])
URL = "https://registry.terraform.io/providers/acme/demo/1.0.0"


def program(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return place


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with programs in it that tell when they run."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    for name in ("ssh", "git-lfs", "gpg-agent", "xdg-open", "xdg-settings", "wslview", "firefox", "less"):
        for place in (folder / name, folder / "bin" / name):
            program(place, f'echo "$0" >> {tmp_path / "ran"}\nexit 1')
    commit(folder, {f"infra/prod/{LOCK}": OLD, "infra/prod/main.tf": "# main\n"})
    return folder


@PATHS
def test_what_git_starts_is_not_of_the_repository(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    commit(clone, {".gitattributes": "*.tf filter=lfs\n"})
    with (Path.home() / ".gitconfig").open("a") as settings:
        settings.write('[filter "lfs"]\n\tclean = git-lfs clean -- %f\n')
    put(clone, {"infra/prod/main.tf": "# other\n"})
    git(clone, "remote", "add", "hub", "ssh://127.0.0.1:1/x.git")
    own = os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if not (Path(folder) / "git-lfs").exists()
    )
    monkeypatch.setenv("PATH", entry.format(own))
    locklens(clone, *REVIEW)
    locklens(clone, *REVIEW, "--pr", "3", "--remote", "hub")
    assert not (tmp_path / "ran").exists()
    subprocess.run(["git", "diff", "--quiet"], cwd=clone, env=os.environ | {"PATH": f"{own}:"}, check=False)
    assert (tmp_path / "ran").exists(), "the case is one: git itself runs what is there"


@PATHS
def test_what_the_browser_starts_is_not_of_the_repository(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.chdir(clone)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("BROWSER", raising=False)
    told = tmp_path / "told"
    opener = program(tmp_path / "own" / "xdg-open", f'echo "$1|$PATH|$(pwd -P)" > {told}.new; mv {told}.new {told}')
    monkeypatch.setenv("PATH", entry.format(f"{opener.parent}:/usr/bin:/bin"))
    command = browser_command(os.environ, URL)
    assert command == [str(opener), URL]
    open_page(command)
    until(told.exists)
    assert told.read_text() == f"{URL}|{opener.parent}:/usr/bin:/bin|/\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("my-browser", ["OWN/my-browser", URL]),
        ("my-browser --new '%s' x", ["OWN/my-browser", "--new", URL, "x"]),
        ("./xdg-open:bin/firefox:nowhere:my-browser", ["OWN/my-browser", URL]),
        ("/opt/some/browser -x", ["/opt/some/browser", "-x", URL]),
        ("firefox", None),
        ("'", None),
    ],
)
def test_a_named_browser_is_found_by_an_absolute_folder(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, expected: list[str] | None
) -> None:
    own = program(tmp_path / "own" / "my-browser", "").parent
    monkeypatch.chdir(clone)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", f":bin:{own}")
    command = browser_command({"BROWSER": setting}, URL)
    assert command == (expected and [word.replace("OWN", str(own)) for word in expected])


@PATHS
def test_helpers_and_gpg_get_no_folder_of_the_repository(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    own = program(tmp_path / "own" / "gpg", f'echo "$PATH" > {tmp_path / "told"}').parent
    helper = program(own / "helper", 'echo "{\\"token\\": \\"$PATH\\"}"')
    monkeypatch.chdir(clone)
    monkeypatch.setenv("PATH", entry.format(own))
    token = Helper(helper, ()).token("example.com")
    assert token is not None
    assert token.authorization() == f"Bearer {own}"
    with pytest.raises(ConfigurationError):
        require_gpg()
    assert (tmp_path / "told").read_text() == f"{own}\n"


def test_a_path_of_nothing_but_relative_folders_leaves_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty PATH is the current folder for some systems."""
    for text in ("", ".", ":bin:"):
        monkeypatch.setenv("PATH", text)
        left = safe_environment()["PATH"].split(os.pathsep)
        assert left
        assert all(map(os.path.isabs, left))
