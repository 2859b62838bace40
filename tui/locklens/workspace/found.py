"""Roots on disk: where they are, and what each of them has locked and requires."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.project.configuration import Configuration
from locklens.project.files import configuration_files
from locklens.project.modules import ModuleReader
from locklens.project.requirements import read_configuration
from locklens.project.roots import LOCK_FILE, lock_paths
from locklens.project.tree import name_bytes
from locklens.workspace.roots import read_lock, tool_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockFile
    from locklens.project.git import Repository
    from locklens.project.tree import Tree


class Root(Struct, frozen=True):
    """A root as it was read; `others` are providers that may be meant too, such as those that a revision had locked."""

    path: str
    tool: Dialect
    lock: LockFile
    configuration: Configuration
    others: frozenset[ProviderAddress] = frozenset()

    @property
    def providers(self) -> frozenset[ProviderAddress]:
        """All that it requires or has locked."""
        required = {one.address for one in self.configuration.requirements}
        return frozenset(required | {entry.address for entry in self.lock.entries} | self.others)

    def name_of(self, address: ProviderAddress) -> str:
        """What a provider is called here."""
        return address.short(self.tool.default_host)


class RootReader:
    """Reads roots, and each file once.

    Args:
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
    """

    def __init__(self, tool: Dialect | None, test_directory: str) -> None:
        self._tool = tool
        self._test_directory = test_directory
        self._modules = ModuleReader()

    def read(self, tree: Tree, path: str) -> Root | None:
        """Reads a root; None where there is neither a lock file nor a configuration.

        Args:
            tree: Where it is on disk.
            path: Its folder.
        """
        lock = read_lock(tree, lock_path(path), self._tool)
        tool = self._tool or tool_of(tree, path, lock)
        configuration = Configuration.absent(path, tool)
        if configuration_files(tree.list(path), tool):
            configuration = read_configuration(
                tree,
                path,
                dialect=tool,
                worktree=tree,
                environ=os.environ,
                test_directory=self._test_directory,
                module_reader=self._modules,
            )
        return Root(path, tool, lock, configuration) if lock.exists or configuration.has_files else None


def enclosing(folders: Sequence[Path]) -> Path:
    """Returns the top of what may be written where work is done in some folders: the repository that all of them are in.

    It is found without git, by its `.git`; where there is none, the folder that has all of them stands for it.
    """
    from pathlib import Path

    common = Path(os.path.commonpath([os.path.realpath(folder) for folder in folders]))
    return next((top for top in (common, *common.parents) if os.path.lexists(top / ".git")), common)


def lock_path(path: str) -> str:
    """Returns where a root's lock file is."""
    return f"{path}/{LOCK_FILE}" if path else LOCK_FILE


def no_root(path: str) -> ConfigurationError:
    """Returns what to say of a folder that is no root."""
    return ConfigurationError(f"neither {LOCK_FILE} nor a configuration is there", path=path or ".")


def folders_with_locks(repository: Repository, tree: Tree) -> list[str]:
    """Returns the folder of every lock file of a repository, in order."""
    folders = {path.rpartition("/")[0] for path in lock_paths(repository, tree)}
    return sorted(folders, key=name_bytes)
