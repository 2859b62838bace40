"""Roots without a lock file that a change makes or modifies: nobody reviews what the tools select there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.lockfile.model import LockFile
from locklens.operations.root_modules import lock_path, tool_of
from locklens.project.gittree import ListedTree, prefetch_listed
from locklens.project.roots import RootEvidence
from locklens.project.touched_roots import (
    LocalCalls,
    changed_states,
    folders_decided,
    folders_with_callers,
    is_module_file,
    paths_through_links,
    with_changed_configuration,
)
from locklens.project.tree import WorkTree, folder_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.project.git import Repository
    from locklens.project.git.listings import PathChange
    from locklens.project.modules import Module
    from locklens.project.tree import Tree

_PERHAPS = re.compile(rb"\b(?:backend|cloud|provider)\b")
"""What stands in each file that says so of a root; JSON can spell it otherwise, and is read."""

_BACKEND = re.compile(rb"\b(?:backend|cloud)\b")

_UNIT = "terragrunt.hcl"


def evidence_of_root(module: Module, *, is_generated: bool) -> RootEvidence | None:
    """Return the reason to take a module without a lock file for a root; None if there is none.

    Args:
        module: The module.
        is_generated: True if units of Terragrunt may run it, which write the rest of a root themselves.
    """
    if module.backend is not None:
        return RootEvidence.BACKEND
    return RootEvidence.PROVIDER if module.providers and not is_generated else None


def unlocked_roots(
    repository: Repository, base: Tree, head: Tree, changes: Sequence[PathChange], locks: Iterable[str]
) -> dict[str, RootEvidence]:
    """Return the roots without a lock file of which a file differs that decides what they require.

    That is a configuration file, one of values, or a state; the answer is by folder. One with a backend counts too
    where the file is of a local module that it calls, or a state that its backend names. A folder with a mere provider
    configuration counts if no other folder calls it as a module.

    Args:
        repository: Where both sides are.
        base: The old side.
        head: The new side.
        changes: What differs between them.
        locks: Path of every lock file of either side.
    """
    from locklens.project.modules import ModuleReader

    touched = {path for change in changes for path in (change.old, change.new) if path is not None}
    locked = {folder_of(path) for path in locks}
    folders = folders_decided(touched) - locked
    files = _configuration_files(repository, head)
    of_folders: dict[str, list[str]] = {}
    for path in files:
        if folder_of(path) not in locked:
            of_folders.setdefault(folder_of(path), []).append(path)
    prefetch_listed(head, (path for paths in of_folders.values() for path in paths))
    perhaps = {folder for folder, paths in of_folders.items() if any(_may_have(_PERHAPS, head, path) for path in paths)}
    touched |= paths_through_links(touched, base, head)
    callers = with_changed_configuration(LocalCalls(head), touched, perhaps - folders, changed_states(head, touched))
    reader, found = ModuleReader(), dict[str, RootEvidence]()
    # Terragrunt's units of the base alone: the change may add one for the sake of this.
    is_generated = isinstance(base, ListedTree) and any(path.rpartition("/")[2] == _UNIT for path in base.files)
    for folder in perhaps & (folders | callers):
        tool = tool_of(head, folder, LockFile.absent(lock_path(folder)))
        module = reader.read(head, folder, tool)
        evidence = evidence_of_root(module, is_generated=is_generated)
        evidence = evidence or evidence_of_unread(module, head, of_folders[folder])
        # Examples call the modules that they are of: a change of these is none of theirs.
        if evidence is RootEvidence.BACKEND or (evidence is not None and folder in folders):
            found[folder] = evidence
    if RootEvidence.PROVIDER in found.values():
        called = folders_with_callers(head, files)
        found = {
            folder: evidence
            for folder, evidence in found.items()
            if evidence is RootEvidence.BACKEND or folder not in called
        }
    return found


def evidence_of_unread(module: Module, tree: Tree, paths: Iterable[str]) -> RootEvidence | None:
    """Return the evidence that the words of a module's files give, where an error keeps it from being read."""
    if not any(problem.is_error for problem in module.problems):
        return None
    has_backend = any(_may_have(_BACKEND, tree, path) for path in paths)
    return RootEvidence.BACKEND if has_backend else RootEvidence.PROVIDER


def _configuration_files(repository: Repository, tree: Tree) -> list[str]:
    paths: Iterable[str] = ()
    if isinstance(tree, ListedTree):
        paths = tree.paths()
    elif isinstance(tree, WorkTree):
        paths = repository.work_files(("",))
    return [path for path in paths if is_module_file(path)]


def _may_have(words: re.Pattern[bytes], tree: Tree, path: str) -> bool:
    """True if a file may have a block of one of some names, or cannot be read."""
    try:
        data = tree.read(path) or b""
    except ConfigurationError:
        return True  # reading the configuration reports the error
    return path.endswith(".json") or words.search(data) is not None
