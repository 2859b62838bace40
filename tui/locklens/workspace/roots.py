"""What one root is: its lock file as it stands, and the tool that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.dialect import OPENTOFU, TERRAFORM
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
    if lock.writer is not None:
        return lock.writer
    names = [entry.name for entry in tree.list(folder) if entry.kind is EntryKind.FILE]
    if any(name.endswith((".tofu", ".tofu.json")) for name in names):
        return OPENTOFU
    hosts = {entry.address.host for entry in lock.entries}
    return OPENTOFU if OPENTOFU.default_host in hosts and TERRAFORM.default_host not in hosts else TERRAFORM
