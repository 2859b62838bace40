"""What stands for the content of files that are not judged, so that a finding about one holds for this content alone.

In a listing of git that is the object's id. On disk it is a digest of the bytes, since git has not seen them: git's id
is of SHA-1, and git alone refuses the two files that are made to share one.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING

from locklens.errors import LockLensError
from locklens.project.gittree import ListedTree
from locklens.project.tree import OverlayTree, Tree, WorkTree, folder_of
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable


_MAX_BYTES = 1024 * 1024 * 1024
"""Bytes that are read on disk, of all files together: no more than seconds. The time stands for what is not read, so
that each checkout has another content: that shows a finding once too often, and never once too few."""


def content_ids(tree: Tree, paths: Iterable[str]) -> dict[str, str]:
    """Return what stands for the content of each path: a file's bytes and whether it can be run, a link's target.

    It is "" where there is neither.

    Of a path behind a link that leads nowhere inside the tree, the link counts.
    """
    while isinstance(tree, OverlayTree):
        tree = tree.under
    if isinstance(tree, ListedTree):
        return {path: _of_object(tree, path) for path in paths}
    return _on_disk(os.fspath(tree.top), paths) if isinstance(tree, WorkTree) else dict.fromkeys(paths, "")


def _of_object(tree: ListedTree, path: str) -> str:
    try:
        behind = tree.resolve(path)
    except LockLensError as error:
        return f"unknown: {error.message}"
    above: str | None = path
    while above and above not in tree.files:
        above = folder_of(above)
    places = dict.fromkeys(place for place in (above, behind) if place)
    files = [tree.files[place] for place in places if place in tree.files]
    return " ".join(f"{file.mode} {file.object_id or (file.ours, file.theirs, file.base)}" for file in files)


def _on_disk(top: str, paths: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    left = _MAX_BYTES
    for path in paths:
        found[path], used = _of_place(top, path, left)
        left -= used
    return found


def _of_place(top: str, path: str, most: int) -> tuple[str, int]:
    """Return what stands for the content of a path on disk, and the bytes that were read."""
    place = top
    try:
        for part in path.split("/"):
            place = f"{place}/{part}"
            status = os.lstat(place)
            if stat.S_ISLNK(status.st_mode):
                # What is behind it inside the tree is a path of its own.
                return f"link {os.readlink(place)}", 0  # noqa: PTH115
        if not stat.S_ISREG(status.st_mode):
            # A submodule, for example: which commit is checked out there is not asked.
            return f"no file: {stat.S_IFMT(status.st_mode):o} of {status.st_mtime_ns}", 0
        # O_NONBLOCK is there for a pipe that took the place in between.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        digest, used = sha256(), 0
        with open(os.open(place, flags), "rb") as stream:  # noqa: PTH123
            while used <= most and (block := stream.read(1024 * 1024)):
                digest.update(block)
                used += len(block)
        if used > most:
            return f"{status.st_size} bytes of {status.st_mtime_ns}", used
        return f"{'executable ' if status.st_mode & stat.S_IXUSR else ''}{digest.hexdigest()}", used
    except OSError as error:
        return f"unknown: {reason_of(error)}", 0
