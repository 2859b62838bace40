"""The sample repository: one commit, and uncommitted changes to review.

`locklens.demo.cases` lists its contents.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from locklens.demo.cases import MODULES, UNLOCKED, cases
from locklens.errors import ConfigurationError
from locklens.policy import POLICY_FILE
from locklens.project.git.process import GitCommand, find_git, git_environment
from locklens.project.roots import LOCK_FILE
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locklens.demo.cases import SampleState

_AUTHOR = ("Robin Example", "robin@example.com", "2026-11-02T09:00:00+00:00")
_README = """# infra

A sample repository of locklens: the work tree differs from the last commit in every way that lock files can.
Run `locklens review` here.
"""
_POLICY = """# Minimum age of a release, in days.
cooldown = 7

# The least Go that a provider may be built with.
toolchain = "1.22"

# Required platforms, each with the reason.
[platforms]
linux_amd64 = "CI, production"
darwin_arm64 = "laptops"
windows_amd64 = "two laptops"
"""
_TOP = {
    "README.md": _README,
    POLICY_FILE: _POLICY,
    ".gitignore": ".terraform/\n",
    # One sample is about line ends: a checkout must keep those that were written.
    ".gitattributes": "* -text\n",
}


def make_repository(folder: Path) -> Path:
    """Write the sample repository into a folder, creating it; the commit id is always the same.

    No configuration, template or hook of the user takes part.

    Returns:
        The folder.

    Raises:
        ConfigurationError: The folder is not empty, or cannot be written.
        RepositoryError: git is missing or failed.
    """
    old, new = _shared_files(), _shared_files()
    for case in cases():
        old |= _files(case.old_path or case.path, case.old)
        new |= _files(case.path, case.new)
    commit_files(folder, [("Infrastructure as it was on Monday", old)])
    try:
        _remove(folder, old.keys() - new.keys())
        _write(folder, {path: data for path, data in new.items() if old.get(path) != data})
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def commit_files(folder: Path, commits: Sequence[tuple[str, dict[str, bytes]]]) -> None:
    """Make a repository of commits in a new folder; each has a message and files that are written over those before.

    Raises:
        ConfigurationError: The folder is not empty, or cannot be written.
        RepositoryError: git is missing or failed.
    """
    git = find_git()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigurationError("the folder is not empty", path=str(folder))
        command = GitCommand(git, os.fspath(folder), _environment(os.fspath(folder)))
        command.answer("init", "--quiet", "--initial-branch=main", "--template=", "--object-format=sha1")
        for message, files in commits:
            _write(folder, files)
            command.answer("add", "--all")
            command.answer("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message", message)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"cannot be written: {reason_of(error)}", path=str(folder))


def _shared_files() -> dict[str, bytes]:
    return {path: text.encode() for path, text in (_TOP | MODULES | UNLOCKED).items()}


def _files(root: str, state: SampleState | None) -> dict[str, bytes]:
    if state is None:
        return {}
    files = {f"{root}/{name}": text.encode() for name, text in state.files.items()}
    return {**files, f"{root}/{LOCK_FILE}": state.lock}


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _remove(folder: Path, paths: set[str]) -> None:
    for path in paths:
        place = folder / path
        place.unlink()
        if not any(place.parent.iterdir()):
            place.parent.rmdir()


def _environment(folder: str) -> dict[str, str]:
    """Return an environment in which git sees neither another repository nor any user's configuration."""
    environment = {name: value for name, value in git_environment(folder).items() if not name.startswith("GIT_")}
    name, address, date = _AUTHOR
    return environment | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.abspath(folder)),  # noqa: PTH100, PTH120
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": address,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": address,
        "GIT_COMMITTER_DATE": date,
    }
