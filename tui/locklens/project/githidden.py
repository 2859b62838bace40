"""Tracked files that git was told not to look at on disk, compared with what is there after all.

`git update-index --assume-unchanged` and `--skip-worktree` have `git diff` take such a file for unchanged. The tools
read the file. So git is asked with a copy of the index in which nothing is hidden.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import RepositoryError
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from locklens.project.gitprocess import GitCommand


def is_left_out(tag: str) -> bool:
    """True for the tag of `git ls-files -v` for a file that a sparse checkout leaves out, where it is not there."""
    return tag in ("S", "s")


def hidden(files: Iterable[tuple[str, str]], top: Path) -> list[str]:
    """Return the files whose state on disk git does not look at, though there is one.

    Args:
        files: Tag of `git ls-files -v`, and path.
        top: Of the work tree.
    """
    found: list[str] = []
    folders: dict[str, bool] = {}
    for tag, path in files:
        if is_left_out(tag):
            # A sparse checkout leaves out whole folders, of many files each.
            folder = path.rpartition("/")[0]
            if folder not in folders:
                folders[folder] = os.path.isdir(os.path.join(top, folder))  # noqa: PTH112, PTH118
            if folders[folder] and os.path.lexists(os.path.join(top, path)):  # noqa: PTH118
                found.append(path)
        elif tag.islower():
            found.append(path)
    return found


@contextmanager
def unhidden(command: GitCommand, index: Path, paths: Iterable[str]) -> Iterator[GitCommand]:
    """Provide git with a copy of an index in which it looks at some files on disk.

    Args:
        command: Git in the repository.
        index: The file of its index.
        paths: The files.

    Raises:
        RepositoryError: Git failed, or the index cannot be read.
    """
    import shutil
    import tempfile

    given = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory(prefix="locklens-") as folder:
        copy = os.path.join(folder, "index")  # noqa: PTH118
        try:
            # With its time: a file that is as young as the index may have changed since, and git compares it then.
            shutil.copy2(index, copy)
        except OSError as error:
            raise RepositoryError(f"the index cannot be read: {reason_of(error)}") from error
        aside = replace(command, environment={**command.environment, "GIT_INDEX_FILE": copy})
        whole = {"core.splitIndex": "false", "index.sparse": "false"}
        for flag in ("--no-skip-worktree", "--no-assume-unchanged"):
            aside.answer("update-index", "-z", flag, "--stdin", given=given, settings=whole)
        yield aside
