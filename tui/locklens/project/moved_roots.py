"""Roots that moved: lock files of one side that are elsewhere on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.project.gittree import prefetch_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.project.tree import Tree

_LIKENESS = 0.5
"""Share of equal lines from which on two lock files are taken for one that moved."""

_MAX_COMPARED = 10_000
"""Pairs of lock files that are compared line by line: a reorganisation of a hundred roots."""

_MAX_EQUAL = 200
"""Equal lock files among which the one with the most alike folder name is looked for."""


def moved_roots(base_tree: Tree, head_tree: Tree, gone: dict[str, str], come: dict[str, str]) -> dict[str, str]:
    """Return new folder -> old folder of roots whose lock file is elsewhere: equal ones first, then the most alike.

    Git's own search is not used: it does not know untracked files, and it takes any one of several equal lock files,
    where the names of the folders tell which is which.
    """
    if not gone or not come:
        return {}
    prefetch_listed(base_tree, gone.values())
    prefetch_listed(head_tree, come.values())
    old = {folder: _telling_lines(base_tree, path) for folder, path in gone.items()}
    new = {folder: _telling_lines(head_tree, path) for folder, path in come.items()}
    moved: dict[str, str] = {}
    by_lines: dict[frozenset[bytes], list[str]] = {}
    for folder, lines in old.items():
        if lines:
            by_lines.setdefault(lines, []).append(folder)
    equal = ((1.0, before, after) for after, lines in new.items() for before in by_lines.get(lines, ())[:_MAX_EQUAL])
    _pair(equal, moved)
    old = {folder: lines for folder, lines in old.items() if lines and folder not in moved.values()}
    new = {folder: lines for folder, lines in new.items() if lines and folder not in moved}
    if len(old) * len(new) <= _MAX_COMPARED:
        _pair(_alike(old, new), moved)
    return moved


def _alike(old: dict[str, frozenset[bytes]], new: dict[str, frozenset[bytes]]) -> Iterator[tuple[float, str, str]]:
    for before, old_lines in old.items():
        for after, new_lines in new.items():
            likeness = len(old_lines & new_lines) / max(len(old_lines), len(new_lines))
            if likeness >= _LIKENESS:
                yield likeness, before, after


def _pair(candidates: Iterable[tuple[float, str, str]], moved: dict[str, str]) -> None:
    """Enter the best pairs of (likeness, old folder, new folder), of equal ones that with the most alike names."""
    taken = set(moved.values())
    for _, before, after in sorted(candidates, key=lambda item: (-item[0], -_common_names(item[1], item[2]), item[1:])):
        if after not in moved and before not in taken:
            moved[after] = before
            taken.add(before)


def _common_names(first: str, second: str) -> int:
    """The numbers of parts that two paths share at their ends and at their beginnings; an end is better evidence."""
    one, two = first.split("/"), second.split("/")
    ends = _common_prefix(one[::-1], two[::-1])
    return 2 * ends + _common_prefix(one, two)


def _common_prefix(one: list[str], two: list[str]) -> int:
    count = 0
    for mine, other in zip(one, two, strict=False):
        if mine != other:
            break
        count += 1
    return count


def _telling_lines(tree: Tree, path: str) -> frozenset[bytes]:
    """Return a lock file's lines without those that every lock file has."""
    try:
        data = tree.read(path) or b""
    except ConfigurationError:
        return frozenset()
    lines = (line.strip() for line in data.splitlines())
    return frozenset(line for line in lines if len(line) > 1 and not line.startswith((b"#", b"hashes")))
