"""The root modules of two sides, and the changed ones.

A root is a folder with a lock file. What stands in the files is read no further than the local modules that they call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, LockLensError, RepositoryError
from locklens.project.gittree import ListedTree, prefetch_listed
from locklens.project.moved_roots import moved_roots
from locklens.project.touched_roots import (
    called_modules,
    paths_through_links,
    vendored_packages,
    with_changed_configuration,
)
from locklens.project.tree import WorkTree, folder_of, name_bytes, normalise
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.project.git import Repository
    from locklens.project.gitoutput import PathChange
    from locklens.project.tree import Tree

LOCK_FILE = ".terraform.lock.hcl"
"""The lock file's name, which no tool lets anyone change."""

MAX_ROOTS = 50_000
"""Lock files of a side; a few tiny objects of git can stand for millions."""


class RootPair(Struct, frozen=True):
    """A root module on both sides.

    Attributes:
        path: Its folder on the head side, "" for the top; on the base side where the head does not have it.
        old_lock: Path of the base's lock file, None where there is none.
        new_lock: Path of the head's lock file, None where there is none.
        lock_changed: The lock file's bytes differ, or it was added, deleted or moved.
        configuration_changed: A configuration file of the folder changed, or one of a local module that it calls.
        renamed_from: The folder on the base side, where it is another.
        is_module: The lock file was deleted from a folder that other roots call as a module on both sides. It is no
            root module then, and nothing has to be locked in it.
        vendored: What the change adds or changes below the folder's `terraform.d/plugins`, or the link that stands for
            that: paths of the head side, in the order of their bytes.
    """

    path: str
    old_lock: str | None
    new_lock: str | None
    lock_changed: bool
    configuration_changed: bool
    renamed_from: str | None
    is_module: bool = False
    vendored: tuple[str, ...] = ()


def find_roots(
    repository: Repository,
    base_tree: Tree,
    head_tree: Tree,
    changes: Sequence[PathChange],
    *,
    only: Sequence[str] = (),
) -> tuple[RootPair, ...]:
    """Return the roots of both sides, changed or not, in the order of their paths' bytes.

    A root that a sparse checkout leaves out of the work tree is left out here too.

    Args:
        repository: Where both sides are.
        base_tree: The old side.
        head_tree: The new side.
        changes: What differs between them, as `Repository.changed` says.
        only: Folders, relative to the top, to which the answer is restricted.

    Raises:
        ConfigurationError: A folder of `only` is no root on either side.
        RepositoryError: Git cannot list a side, or one has more than MAX_ROOTS lock files.
    """
    from locklens.project.gitoutput import ChangeStatus

    old = {folder_of(path): path for path in lock_paths(repository, base_tree)}
    touched = {path for change in changes for path in (change.old, change.new) if path is not None}
    # What neither the base has nor git calls changed was only announced to the index ("git add --intent-to-add").
    new = {
        folder_of(path): path for path in lock_paths(repository, head_tree) if path in touched or folder_of(path) in old
    }
    for side, found in (("base", old), ("head", new)):
        if len(found) > MAX_ROOTS:
            words = f"the {side} has {len(found)} lock files, and no more than {MAX_ROOTS} are reviewed"
            raise RepositoryError(words, hint="review single ones with --old FILE --new FILE")
    deleted = {change.old for change in changes if change.status is ChangeStatus.DELETED}
    gone = {folder: path for folder, path in old.items() if folder not in new and path in deleted}
    moved = moved_roots(base_tree, head_tree, gone, {folder: path for folder, path in new.items() if folder not in old})
    folders = _restricted([*new, *(gone.keys() - moved.values())], moved, only)

    touched |= paths_through_links(touched, base_tree, head_tree)
    configured = with_changed_configuration(head_tree, touched, set(folders))
    vendored = vendored_packages(head_tree, touched, set(folders))
    left = {folder for folder in folders if folder in gone}
    modules = called_modules(base_tree, head_tree, left, old.keys() & new.keys()) if left else set()
    # The review of the roots reads these anyway.
    prefetch_listed(base_tree, (path for path in old.values() if path in touched))
    prefetch_listed(head_tree, (path for path in new.values() if path in touched))
    pairs = []
    for folder in sorted(folders, key=name_bytes):
        before, after = old.get(moved.get(folder, folder)), new.get(folder)
        changed = before != after or (before in touched and _differs(base_tree, head_tree, before, after))
        is_configured, is_module = folder in configured, folder in modules
        own = vendored.get(folder, ())
        pairs.append(RootPair(folder, before, after, changed, is_configured, moved.get(folder), is_module, own))
    return tuple(pairs)


def lock_paths(repository: Repository, tree: Tree) -> tuple[str, ...]:
    """Return the path of every lock file of a side of the repository.

    What the tools downloaded into `.terraform` is not tracked, and left out; a root that is tracked there counts.

    Raises:
        RepositoryError: Git cannot list the side.
    """
    paths: Iterable[str] = ()
    if isinstance(tree, ListedTree):
        paths = (path for path in tree.paths() if path.endswith(LOCK_FILE))
    elif isinstance(tree, WorkTree):
        from locklens.project.git import UncommittedSide

        paths = repository.paths(UncommittedSide.WORK_TREE, named=LOCK_FILE)
    return tuple(path for path in paths if path.rpartition("/")[2] == LOCK_FILE)


def _restricted(folders: list[str], moved: dict[str, str], only: Sequence[str]) -> list[str]:
    if not only:
        return folders
    chosen: dict[str, None] = {}
    by_old_folder = {before: after for after, before in moved.items()}
    for asked in only:
        folder = normalise(asked.removesuffix(LOCK_FILE) if asked.rpartition("/")[2] == LOCK_FILE else asked)
        if folder is not None and folder not in folders:
            folder = by_old_folder.get(folder, folder)
        if folder not in folders:
            lead = f"{folder}/" if folder else ""
            below = sorted(known for known in folders if folder is not None and known.startswith(lead))
            hint = f"roots below: {listing(below)}; select with --root DIR or --all-roots" if below else ""
            raise ConfigurationError(f"no {LOCK_FILE} on either side", path=asked or ".", hint=hint)
        chosen[folder] = None
    return list(chosen)


def _differs(base_tree: Tree, head_tree: Tree, before: str | None, after: str | None) -> bool:
    """True if two lock files have other bytes: git also names those whose mode alone differs."""
    if before is None or after is None:
        return True
    try:
        return base_tree.read(before) != head_tree.read(after)
    except LockLensError:
        return True  # reading the lock file reports the error
