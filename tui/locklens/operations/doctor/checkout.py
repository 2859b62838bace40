"""The files on disk that a log is compared with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import NoRepositoryError
from locklens.operations.comparison import within
from locklens.operations.root_modules import folders_with_locks, lock_path
from locklens.project.git import Repository, UncommittedSide
from locklens.project.gittree import SparseWorkTree
from locklens.project.tree import WorkTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import ExitStack


class Checkout(Struct, frozen=True):
    """The files on disk: the repository's, or those below one folder.

    Attributes:
        top: The folder that paths are relative to.
        here: The current folder, relative to it.
        repository: None without git.
        locks: Folders with a lock file.
    """

    top: Path
    here: str
    tree: WorkTree
    repository: Repository | None
    locks: tuple[str, ...]

    @classmethod
    def open(cls, folder: Path, stack: ExitStack) -> Checkout:
        """Open the repository of a folder, or the folder itself."""
        try:
            repository = stack.enter_context(Repository.discover(folder))
            if not repository.is_bare:
                files = SparseWorkTree(repository)
                here = within(repository, folder, ".")
                return cls(Path(repository.top), here, files, repository, tuple(folders_with_locks(repository, files)))
        except NoRepositoryError:
            pass
        tree = WorkTree(folder)
        locks = ("",) if tree.read(lock_path("")) is not None else ()
        return cls(folder, "", tree, None, locks)

    def path_of(self, folder: Path, root: str) -> str:
        """Return a root that was named relative to the current folder, relative to the top."""
        if self.repository is not None:
            return within(self.repository, folder, root)
        return "" if root in {"", "."} else os.path.normpath(root).replace(os.sep, "/")

    def uncommitted(self, paths: Iterable[str]) -> list[str]:
        """Return those of some files that the current commit does not have as they are here, but for the ends of lines.

        Of files outside of the repository, and without one or a commit, nothing is said.

        Raises:
            RepositoryError: Git failed.
        """
        return self.differing("HEAD", paths) if self._has_commit else []

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """Return those of some files that git ignores, so that it commits them only if it is told to.

        Raises:
            RepositoryError: Git failed.
        """
        found = self.repository.ignored(UncommittedSide.WORK_TREE, paths) if self.repository is not None else ()
        return [path for path in paths if path in found]

    def unpushed(self, paths: Iterable[str]) -> list[str]:
        """Return those of some files that the branch which HEAD's is pushed to does not have as they are here.

        Where no such branch is known, or it has the current commit, nothing is said.

        Raises:
            RepositoryError: Git failed.
        """
        branch = self.repository.push_branch if self.repository is not None and self._has_commit else ""
        if self.repository is None or not branch:
            return []
        if not self.repository.has_commit(branch):
            return list(dict.fromkeys(paths))
        head, there = map(self.repository.resolve, ("HEAD", branch))
        return [] if self.repository.is_ancestor(head, there) else self.differing(branch, paths)

    @property
    def _has_commit(self) -> bool:
        return self.repository is not None and not self.repository.is_unborn

    def differing(self, revision: str, paths: Iterable[str]) -> list[str]:
        """Return the files that differ from a revision in more than the ends of lines.

        Raises:
            RepositoryError: Git failed.
        """
        assert self.repository is not None
        found = []
        for path in dict.fromkeys(paths):
            here, there = self.tree.read(path), self.repository.show(revision, path)
            if (here or b"").replace(b"\r\n", b"\n") != (there or b"").replace(b"\r\n", b"\n"):
                found.append(path)
        return found

    def shown(self, root: str) -> str:
        """Return a root relative to the current folder."""
        return os.path.relpath(root or ".", self.here or ".").replace(os.sep, "/")
