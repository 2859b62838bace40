"""What one root is: its lock file as it stands, and the tool that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM
from locklens.errors import ConfigurationError, LockLensError
from locklens.hcl import Problem
from locklens.lockfile.model import LockFile
from locklens.lockfile.parse import parse
from locklens.project.tree import EntryKind

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.project.tree import Tree


def read_lock(tree: Tree, path: str | None, tool: Dialect | None) -> LockFile:
    """Reads a lock file; None for one that does not exist. What cannot be read is one with a problem."""
    try:
        data = tree.read(path) if path is not None else None
        if data is None and path is not None and tree.has_folder(path):
            raise ConfigurationError("it is a folder", path=path)
    except LockLensError as error:
        refused = Problem(1, 1, "Failed to read file", str(error))
        return LockFile(path or "", b"", exists=True, writer=None, entries=(), problems=(refused,), is_complete=False)
    return LockFile.absent(path or "") if data is None else parse(data, path or "", dialect=tool)


def tool_of(tree: Tree, folder: str, lock: LockFile) -> Dialect:
    """Finds out which tool a root is for: by the lock's header, `.tofu` files, the hosts in it; else Terraform."""
    return _told(tree, folder, lock) or TERRAFORM


def tool_before(tree: Tree, folder: str, lock: LockFile) -> Dialect | None:
    """Returns which tool a root was for; None where it had no lock file, and nothing else tells. Arguments as above."""
    return _told(tree, folder, lock) or (TERRAFORM if lock.exists else None)


def is_of_registry_of(tool: Dialect, lock: LockFile) -> bool:
    """Whether a lock file has providers of one tool's own registry, and none of the other's.

    That is what a tool makes of sources that name no host, and what no change of a comment can feign.
    """
    hosts = {entry.address.host for entry in lock.entries}
    defaults = {one.default_host for one in DIALECTS.values()}
    return hosts & defaults == {tool.default_host}


def _told(tree: Tree, folder: str, lock: LockFile) -> Dialect | None:
    if lock.writer is not None:
        return lock.writer
    names = [entry.name for entry in tree.list(folder) if entry.kind is EntryKind.FILE]
    if any(name.endswith((".tofu", ".tofu.json")) for name in names):
        return OPENTOFU
    return next((one for one in DIALECTS.values() if is_of_registry_of(one, lock)), None)
