"""Selects the roots of a command: named folders, globs, or every root of the repository."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, RepositoryError
from locklens.project.roots import LOCK_FILE
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_GLOB = re.compile(r"[*?\[]")


def select_roots(folder: Path, names: Sequence[str], *, selects_all: bool = False) -> tuple[str, ...]:
    """Return the folders of roots, relative to a folder, each once.

    Args:
        folder: The folder that names and globs are relative to.
        names: Folders, and globs of folders with a lock file: `*` and `?` stay within one folder name, `**` spans any
            number of folders. The name of an existing folder is no glob.
        selects_all: True for every root of the repository instead.

    Raises:
        ConfigurationError: A glob matches no root, or there is none at all.
        NoRepositoryError: All roots are asked for, or globs are used, outside of a git repository.
    """
    if selects_all:
        roots = repository_roots(folder)
        if not roots:
            raise ConfigurationError(f"no {LOCK_FILE} in this repository", path=str(folder))
        return roots
    selected: dict[str, None] = {}
    for name in names:
        if not _GLOB.search(name) or (folder / name).exists():
            selected[name] = None
            continue
        roots = roots_below(folder)
        matching = [root for root in roots if _matches(name, root)]
        if not matching:
            raise ConfigurationError(f"no root matches {name!r}", hint=hint_of_roots(roots))
        selected |= dict.fromkeys(matching)
    return tuple(selected)


def roots_below(folder: Path) -> tuple[str, ...]:
    """Return the roots of `repository_roots` that are in or below the folder."""
    return tuple(root for root in repository_roots(folder) if root != ".." and not root.startswith("../"))


def repository_roots(folder: Path) -> tuple[str, ...]:
    """Return the folders with a lock file of a folder's repository, relative to the folder, in order.

    Raises:
        NoRepositoryError: The folder is in no git repository.
        RepositoryError: Git failed.
    """
    from locklens.operations.comparison import within
    from locklens.operations.root_modules import folders_with_locks
    from locklens.project.git import Repository
    from locklens.project.gittree import SparseWorkTree

    with Repository.discover(folder) as repository:
        here = within(repository, folder, ".")
        paths = folders_with_locks(repository, SparseWorkTree(repository))
    return tuple(os.path.relpath(path or ".", here or ".").replace(os.sep, "/") for path in paths)


def hint_of_roots(roots: Sequence[str]) -> str:
    """Name roots that could be meant, and the options that select them; "" for none."""
    if not roots:
        return ""
    return f"roots below: {listing(list(roots))}; select with --root DIR or --all-roots"


def hint_below(folder: Path) -> str:
    """Return the hint for a folder that is no root; "" outside of a repository, and without roots below."""
    try:
        return hint_of_roots(roots_below(folder))
    except (RepositoryError, ConfigurationError):
        return ""


def _matches(glob: str, root: str) -> bool:
    """True if a glob matches a whole path."""
    from fnmatch import fnmatchcase

    parts = [part for part in glob.split("/") if part not in {"", "."}]
    names = root.split("/") if root != "." else []
    reached = {0}
    for part in parts:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
    return len(names) in reached
