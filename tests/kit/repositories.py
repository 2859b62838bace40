"""Repositories of git for tests: git makes each kind once in a process, and each test has a copy of its own.

A repository with two commits takes six programs and 20 ms of CPU time; its copy takes 2 ms.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from kit.git import git

Lay = Callable[[Path], object]
"""Makes what is wanted in a folder that is there and empty; a function of a module, so that it is the same in each test."""


def copy_of(lay: Lay, folder: Path) -> Path:
    """Lays out a folder, which may be there and empty, as `lay` would; no path in git's settings leads to the original."""
    original = _original(lay)
    shutil.copytree(original, folder, symlinks=True, dirs_exist_ok=True)
    for settings in (*folder.glob("*/config"), *folder.glob("*/.git/config"), *folder.glob(".git/config")):
        text = settings.read_text("utf-8")
        if str(original) in text:
            settings.write_text(text.replace(str(original), str(folder)), "utf-8")
    return folder


def put(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Write files, and the folders above them."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(folder: Path, files: Mapping[str, bytes | str], message: str = "change") -> str:
    """Write files, and commit all that the work tree holds; returns the commit's object id."""
    put(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def repository(top: Path, files: Mapping[str, bytes | str], *, options: Iterable[str] = ()) -> Path:
    """Make a repository whose only commit has these files; `options` are those of `git init`."""
    top.mkdir(exist_ok=True)
    git(top, "init", "-q", *options)
    commit(top, files)
    return top


@cache
def _original(lay: Lay) -> Path:
    place = _originals() / str(len(list(_originals().iterdir())))
    place.mkdir()
    lay(place)
    return place


@cache
def _originals() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="locklens-originals-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
