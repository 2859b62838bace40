"""A comparison of two sides, the root modules in it, and the settings that roots are read with."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.project import LOCK_FILE, RootPair
from locklens.project.revision_paths import path_below_top
from locklens.review.model import PolicySide

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.project.git import Repository
    from locklens.project.gittree import Conversion
    from locklens.project.tree import Tree
    from locklens.review.context import Unreviewed
    from locklens.review.model import SideKind


_RANGE = re.compile(r"((?:[^{]|\{[^}]*\})*?)(\.{2,3})(.*)", re.DOTALL)
"""Two revisions and the dots between them, which may also be in the braces of `^{/}`."""


class RootSettings(Struct, frozen=True, kw_only=True):
    """How the root modules of a run are read; the base of all of its requests.

    Attributes:
        tool: The tool whose rules apply to every root; None: each root's own tool.
        test_directory: Folder of a root's test files, relative to the root.
    """

    tool: Dialect | None = None
    test_directory: str = "tests"


class Side(Struct, frozen=True):
    """One side of a comparison.

    Attributes:
        name: The name that the user gave it; for two revisions' common ancestor "BASE...HEAD", as git writes it.
        revision: The full commit id, None where it is not a commit.
        fork_of: The given revision, where this side is its common ancestor with another one; "" for any other side.
    """

    kind: SideKind
    name: str
    revision: str | None
    tree: Tree
    fork_of: str = ""

    @property
    def in_words(self) -> str:
        """Its name as sentences have it."""
        return {"worktree": "the work tree", "index": "the index"}.get(self.kind, self.name)


class Base(Struct, frozen=True):
    """The sides that were named for a run; every command and screen of the run compares them.

    Attributes:
        name: The old side, a revision; None for HEAD, which was not named.
        fork_of: The revision whose common ancestor with `name` is the base; "" for `name` itself.
        head: The new side, a revision; None for the work tree or the index.
        is_staged: True if the new side is the index.
        titles: Names that are shown instead of commit ids.
    """

    name: str | None = None
    fork_of: str = ""
    head: str | None = None
    is_staged: bool = False
    titles: Mapping[str, str] = {}

    @classmethod
    def of_range(cls, text: str) -> Base | None:
        """Return the sides of a range as `git diff` reads it; None for what is not a range.

        "A..B" compares B with A, "A...B" with the common ancestor of both; an absent side is HEAD.
        """
        found = _RANGE.fullmatch(text)
        if found is None or not (found[1] or found[3]):
            return None
        name, head = found[1] or "HEAD", found[3] or "HEAD"
        return cls(name, head if found[2] == "..." else "", head)


USUAL_SIDES = Base()
"""The sides of a run for which none was named: HEAD and the work tree."""


class Comparison(Struct, frozen=True):
    """Two sides and their roots.

    Attributes:
        roots: Changed or not, in the order of their paths.
        worktree: The files on disk, for what git ignores (`.terraform`); None where there are none.
        top: The folder that paths of the head side are relative to, None where it is not on disk.
        repository: The repository, None without git. Closed with the comparison, by its opener.
        all_locks: Path of every lock file of the head side, even where `roots` is restricted.
        base_locks: Path of every lock file of the base side, even where `roots` is restricted.
        policy_side: The side whose policy applies, NONE where neither has one.
        converted: Files of the head side that git checks out with other bytes, by path.
        unreviewed: Differences that are not files of the repository: submodules, by folder.
        tip: The revision that was named where `base` is its fork point: policy, hosts that are asked and judging tool
            are its own, since the author of a branch controls where it begins. None: those of `base`.
        is_base_named: True if the user named the base. HEAD as the default may be the branch under review, so it
            vouches only for what differs from it.
        left_out: The number of lock files of roots that are not among `roots`, on either side; a moved one counts once.
    """

    base: Side
    head: Side
    roots: tuple[RootPair, ...]
    worktree: Tree | None
    top: Path | None
    repository: Repository | None
    all_locks: tuple[str, ...]
    policy_side: PolicySide = PolicySide.NONE
    converted: Mapping[str, Conversion] = {}
    unreviewed: Mapping[str, Unreviewed] = {}
    tip: Side | None = None
    is_base_named: bool = False
    base_locks: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def authority(self) -> Side:
        """The side that policy, hosts that are asked and judging tool are read from."""
        return self.tip or self.base

    def converted_among(self, paths: Iterable[str]) -> dict[str, Conversion]:
        """Return the converted ones of some files of the new side, by the path that they are read at."""
        if not self.converted:
            return {}
        from locklens.project.gittree import ListedTree, SparseWorkTree

        tree = self.head.tree
        if not isinstance(tree, ListedTree | SparseWorkTree):
            return {}
        found = ((path, self.converted.get(tree.resolve(path) or path)) for path in paths)
        return {path: conversion for path, conversion in found if conversion is not None}

    def close(self) -> None:
        """End the process that reads git's objects, if there is one."""
        if self.repository is not None:
            self.repository.close()


def within(repository: Repository, folder: Path, path: str) -> str:
    """Return a path, given relative to a folder, relative to the repository's top.

    Raises:
        ConfigurationError: It is outside.
    """
    top = os.path.realpath(repository.top)
    name = path.removesuffix(LOCK_FILE) if os.path.basename(path) == LOCK_FILE else path  # noqa: PTH119
    place = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
    relative = path_below_top(top, os.path.realpath(place))
    if relative is None:
        # A path that is not a link on disk may still be a folder of the old side.
        relative = path_below_top(top, os.path.normpath(place))
    if relative is None:
        raise ConfigurationError("outside of the repository", path=path, hint=f"the repository is {repository.top}")
    return relative
