"""The folders below a folder that may be root modules: those with a lock file, and those with a configuration.

In a git repository the files are those that git tracks or does not ignore; a folder without git is walked. What the
tools downloaded (`.terraform`, `.terragrunt-cache`) is left out, and so are submodules, whose files are of another
repository. Links to folders are not followed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, NoRepositoryError
from locklens.operations.comparison import path_below_top, within
from locklens.project.folders import TooManyFoldersError, walk
from locklens.project.package_places import packages_by_folder
from locklens.project.roots import LOCK_FILE, MAX_ROOTS
from locklens.project.tree import WorkTree, is_at_or_below, name_bytes
from locklens.review.rules.health import Absence
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.project.git import Repository

_SUFFIXES = (".tf", ".tofu", ".tf.json", ".tofu.json")
_UNIT = "terragrunt.hcl"
_DOWNLOADED = frozenset({".git", ".terraform", ".terragrunt-cache"})

MAX_FOLDERS = 200_000
"""Folders that are walked without git; a home folder has more."""


class Layout(Struct, frozen=True):
    """The folders to look at.

    Attributes:
        tree: The files on disk; paths are relative to its top.
        locked: Folders with a lock file that git does not ignore, in order.
        configured: Other folders with configuration files, in order.
        is_git: True in a git repository.
        is_generated: True if there are units of Terragrunt, which run modules that no configuration calls.
        unsearched: Folders that could not be listed, in words.
        packages: Paths that git tracks and that the tools take for packages, by the folder in which they are run.
    """

    tree: WorkTree
    locked: tuple[str, ...]
    configured: tuple[str, ...]
    is_git: bool
    is_generated: bool = False
    unsearched: tuple[str, ...] = ()
    packages: Mapping[str, tuple[str, ...]] = {}

    def absence(self, folder: str) -> Absence:
        """Return why a configured folder has no lock file in the repository."""
        place = os.path.join(self.tree.top, folder, LOCK_FILE)  # noqa: PTH118
        return Absence.IGNORED if self.is_git and os.path.isfile(place) else Absence.MISSING  # noqa: PTH113


def find_layout(folder: Path, only: Sequence[str] = ()) -> Layout:
    """Return the folders in and below a folder.

    Args:
        folder: Inside or outside of a repository.
        only: Folders relative to the current one, to which the answer is restricted; () for no restriction.

    Raises:
        ConfigurationError: One of `only` is no root, or there are too many.
        RepositoryError: Git failed.
    """
    from locklens.project.git import Repository

    try:
        repository = Repository.discover(folder)
    except NoRepositoryError:
        return _restricted(_walked(folder), folder, only)
    with repository:
        if repository.is_bare:
            raise ConfigurationError("the repository has no work tree", path=str(folder))
        return _restricted(_of_repository(repository, folder), folder, only)


def _of_repository(repository: Repository, folder: Path) -> Layout:
    from locklens.project.gittree import SparseWorkTree

    tree = SparseWorkTree(repository)
    below = within(repository, folder, ".")
    named = _below(repository.work_files((LOCK_FILE, _UNIT, *_SUFFIXES)), below)
    layout = _layout(tree, [path for path in named if not _is_downloaded(path)], is_git=True)
    packages = packages_by_folder(repository.tracked())
    return replace(layout, packages={place: paths for place, paths in packages.items() if is_at_or_below(place, below)})


def _walked(folder: Path) -> Layout:
    top, paths, unsearched = os.fspath(folder), list[str](), list[str]()
    try:
        for each in walk(top, most=MAX_FOLDERS, enters=_is_entered):
            if each.error is not None:
                unsearched.append(f"{each.path or '.'} is not searched: {reason_of(each.error)}")
            paths += (f"{each.path}/{name}" if each.path else name for name in each.files if _is_named(name))
    except TooManyFoldersError:
        words = f"more than {MAX_FOLDERS} folders are not searched"
        raise ConfigurationError(words, path=str(folder), hint="name a folder below it") from None
    return replace(_layout(WorkTree(folder), paths, is_git=False), unsearched=tuple(unsearched))


def _is_entered(place: str, name: str) -> bool:
    return name not in _DOWNLOADED and not _is_repository(place, name)


def _is_repository(place: str, name: str) -> bool:
    return os.path.lexists(os.path.join(place, name, ".git"))  # noqa: PTH118


def _is_named(name: str) -> bool:
    return name in {LOCK_FILE, _UNIT} or name.endswith(_SUFFIXES)


def _is_downloaded(path: str) -> bool:
    return not _DOWNLOADED.isdisjoint(path.split("/"))


def _below(paths: Iterable[str], folder: str) -> list[str]:
    return [path for path in paths if path.startswith(f"{folder}/")] if folder else list(paths)


def _layout(tree: WorkTree, paths: Sequence[str], *, is_git: bool) -> Layout:
    named = (path for path in paths if path.rpartition("/")[2] == LOCK_FILE)
    # A tracked file may have been deleted.
    locked = {path.rpartition("/")[0] for path in named if tree.is_there(path)}
    configured = {path.rpartition("/")[0] for path in paths if path.endswith(_SUFFIXES)} - locked
    if len(locked) > MAX_ROOTS:
        words = f"{len(locked)} lock files, and no more than {MAX_ROOTS} are read"
        raise ConfigurationError(words, path=str(tree.top), hint="name a folder below it")
    is_generated = any(path.rpartition("/")[2] == _UNIT for path in paths)
    return Layout(tree, _in_order(locked), _in_order(configured), is_git, is_generated)


def _in_order(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(folders, key=name_bytes))


def _restricted(layout: Layout, folder: Path, only: Sequence[str]) -> Layout:
    if not only:
        return layout
    top = os.path.realpath(layout.tree.top)
    wanted = set()
    for name in only:
        place = path_below_top(top, os.path.realpath(name.removesuffix(LOCK_FILE) or "."))
        if place is None or place not in {*layout.locked, *layout.configured, *layout.packages}:
            words = f"no root module here in or below {folder}"
            raise ConfigurationError(words, path=name, hint="name folders with a lock file or a configuration")
        wanted.add(place)
    locked, configured = ([one for one in folders if one in wanted] for folders in (layout.locked, layout.configured))
    packages = {
        place: paths for place, paths in layout.packages.items() if any(is_at_or_below(place, each) for each in wanted)
    }
    return replace(layout, locked=tuple(locked), configured=tuple(configured), packages=packages)
