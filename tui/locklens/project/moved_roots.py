"""Finds the old folder of each root module that moved.

The files tell, and where they do not, the names of the folders. Git is not asked: it does not know untracked files, and
it takes any one of several equal lock files.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from locklens.dialect import DIALECTS
from locklens.errors import ConfigurationError, RepositoryError
from locklens.project import GENERATORS, configuration_files, generator_among, touched_roots
from locklens.project.gittree import ListedTree, SparseWorkTree, prefetch_listed
from locklens.project.tree import EntryKind, Tree, WorkTree, folder_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence

_LIKENESS = 0.5
"""Share of equal lines from which on two lock files are taken for one that moved."""

_MAX_COMPARED = 10_000
"""The most pairs of files that are compared line by line: a reorganisation of a hundred roots."""

_MAX_EQUAL = 200
"""Equal lock files among which the one with the most alike folder name is looked for."""


class MovedFrom(NamedTuple):
    """The old folder of a root, and the number of others that neither files nor names tell from it."""

    folder: str
    others: int


def find_moved_roots(
    base_tree: Tree, head_tree: Tree, gone: Mapping[str, str], come: Mapping[str, str]
) -> dict[str, MovedFrom]:
    """Return the old folder of each root whose lock file is elsewhere: equal ones first, then the most alike.

    A root moves with its configuration: where the lock files differ, the configurations must be alike too, as far as
    both can be read. One that keeps its configuration has lost its lock file, however alike that of another folder is,
    and a folder that had a configuration before was another root. `gone` has the lock files that only the old side has,
    by folder, and `come` those of the new side.
    """
    if not gone or not come:
        return {}
    lost = {folder for folder, path in gone.items() if _may_be_root(head_tree, path, come.values())}
    made = {folder for folder, path in come.items() if _may_be_root(base_tree, path, gone.values())}
    old = _OneSided(base_tree, {folder: path for folder, path in gone.items() if folder not in lost})
    new = _OneSided(head_tree, {folder: path for folder, path in come.items() if folder not in made})
    moved: dict[str, MovedFrom] = {}
    both = {*old.entries.values()}.intersection(new.entries.values())
    for side in (old, new):
        side.read_configurations(folder for folder, entries in side.entries.items() if entries in both)
    _pair(_equal(old, new, _OneSided.whole), old, new, moved)
    _pair(_equal(old, new, _OneSided.entries_of), old, new, moved)
    if len(old.entries) * len(new.entries) <= _MAX_COMPARED:
        _pair(_with_alike_configurations(list(_alike(old, new)), old, new), old, new, moved)
    return moved


class _OneSided:
    """Roots that only one side has: those that no counterpart was found for.

    Attributes:
        locks: Each lock file's lines.
        entries: Those that not every lock file has, and that are no comments.
        configurations: The lines of the configurations that were read; empty where one cannot be read.
    """

    def __init__(self, tree: Tree, roots: Mapping[str, str]) -> None:
        """Read the lock files, of which those without an entry are left out."""
        prefetch_listed(tree, roots.values())
        self._tree = tree
        self.locks = {folder: _lines(tree, path) for folder, path in roots.items()}
        self.entries = {folder: told for folder, lines in self.locks.items() if (told := _telling(lines))}
        self.configurations: dict[str, frozenset[bytes]] = {}

    def read_configurations(self, folders: Iterable[str]) -> None:
        """Read what is in the folders for the tools, or for the one that generates it, and was not read before."""
        paths = {folder: self._configured_by(folder) for folder in folders if folder not in self.configurations}
        prefetch_listed(self._tree, (path for found in paths.values() for path in found))
        for folder, found in paths.items():
            self.configurations[folder] = frozenset(line for path in found for line in _lines(self._tree, path))

    def _configured_by(self, folder: str) -> list[str]:
        try:
            names = [entry.name for entry in self._tree.list(folder) if entry.kind is EntryKind.FILE]
        except (ConfigurationError, RepositoryError):
            return []
        told = [one for one in names if touched_roots.is_module_file(one) or touched_roots.is_values(one)]
        lead = f"{folder}/" if folder else ""
        return [f"{lead}{name}" for name in (*told, *(one for one in names if one in GENERATORS))]

    def entries_of(self, folder: str) -> Hashable:
        """Return what lock files of equal entries have in common."""
        return self.entries[folder]

    def whole(self, folder: str) -> Hashable:
        """Return what roots have in common of which all is equal; None where that cannot be said."""
        configuration = self.configurations.get(folder)
        return (self.locks[folder], configuration) if configuration else None


def _equal(
    old: _OneSided, new: _OneSided, key: Callable[[_OneSided, str], Hashable]
) -> Iterator[tuple[float, str, str]]:
    befores: dict[Hashable, list[str]] = {}
    for before in old.entries:
        befores.setdefault(key(old, before), []).append(before)
    for after in new.entries:
        if (common := key(new, after)) is not None:
            yield from ((1.0, before, after) for before in befores.get(common, ())[:_MAX_EQUAL])


def _alike(old: _OneSided, new: _OneSided) -> Iterator[tuple[float, str, str]]:
    for before, old_lines in old.entries.items():
        for after, new_lines in new.entries.items():
            likeness = _likeness(old_lines, new_lines)
            if likeness >= _LIKENESS:
                yield likeness, before, after


def _with_alike_configurations(
    pairs: Sequence[tuple[float, str, str]], old: _OneSided, new: _OneSided
) -> Iterator[tuple[float, str, str]]:
    """Yield the pairs whose configurations are alike, or where one has none that can be read."""
    old.read_configurations({before for _, before, _ in pairs})
    new.read_configurations({after for _, _, after in pairs})
    for pair in pairs:
        one, other = old.configurations[pair[1]], new.configurations[pair[2]]
        if not one or not other or _likeness(one, other) >= _LIKENESS:
            yield pair


def _pair(
    candidates: Iterable[tuple[float, str, str]], old: _OneSided, new: _OneSided, moved: dict[str, MovedFrom]
) -> None:
    """Enter the best pairs of (likeness of the entries, old folder, new folder), and take them from the sides.

    Of equal ones, lock files with the same comments are better, then the more alike configurations, then the more alike
    names of folders.
    """
    pairs = sorted(candidates, key=lambda item: item[1:])
    is_compared = len(pairs) <= _MAX_COMPARED
    if is_compared:
        old.read_configurations({before for _, before, _ in pairs})
        new.read_configurations({after for _, _, after in pairs})

    def evidence(pair: tuple[float, str, str]) -> tuple[float, bool, float, int]:
        likeness, before, after = pair
        configuration = _likeness(old.configurations[before], new.configurations[after]) if is_compared else 0.0
        return likeness, old.locks[before] == new.locks[after], configuration, _common_names(before, after)

    for _, alike in groupby(sorted(pairs, key=evidence, reverse=True), key=evidence):
        left = [(before, after) for _, before, after in alike if before in old.entries and after in new.entries]
        choices = Counter(after for _, after in left)
        for before, after in left:
            if before in old.entries and after in new.entries:
                moved[after] = MovedFrom(before, choices[after] - 1)
                del old.entries[before], new.entries[after]


def _likeness(one: frozenset[bytes], other: frozenset[bytes]) -> float:
    """Return the share of equal lines; 0 where there are none."""
    return len(one & other) / max(len(one), len(other), 1)


def _may_be_root(tree: Tree, lock: str, others: Collection[str]) -> bool:
    """True if the folder of a lock file that a side lacks has, or may have, a configuration there.

    It has none of its own if it is another name of a folder that has one of the other lock files, as of a link.
    """
    try:
        if isinstance(tree, (ListedTree, SparseWorkTree)) and tree.resolve(lock) in others:
            return False
        folder = folder_of(lock)
        if (
            isinstance(tree, WorkTree)
            and tree.is_there(lock)
            and any(tree.is_same(folder, folder_of(one)) for one in others)
        ):
            return False
        entries = tree.list(folder)
    except (ConfigurationError, RepositoryError):
        return True
    return bool(generator_among(entries)) or any(configuration_files(entries, tool) for tool in DIALECTS.values())


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


def _lines(tree: Tree, path: str) -> tuple[bytes, ...]:
    """Return a file's lines without the space around them; none where it cannot be read."""
    try:
        return tuple(line.strip() for line in (tree.read(path) or b"").splitlines())
    except (ConfigurationError, RepositoryError):
        return ()


def _telling(lines: Iterable[bytes]) -> frozenset[bytes]:
    """Return a lock file's lines without comments and those that every lock file has."""
    return frozenset(line for line in lines if len(line) > 1 and not line.startswith((b"#", b"hashes")))
