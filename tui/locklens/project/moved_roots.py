"""Finds the old folder of each root module that moved.

The files tell, first those of the configuration, and where they do not, the names of the folders. Git is not asked: it
does not know untracked files, and it takes any one of several equal lock files.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from locklens.dialect import DIALECTS
from locklens.errors import ConfigurationError, RepositoryError
from locklens.project import GENERATORS, LOCK_FILE, configuration_files, generator_among, touched_roots
from locklens.project.gittree import ListedTree, SparseWorkTree, prefetch_listed
from locklens.project.tree import EntryKind, Tree, WorkTree, folder_of, name_bytes, path_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence

_LIKENESS = 0.5
"""Share of equal lines from which on two files are taken for one that moved, as git does."""

_MAX_COMPARED = 10_000
"""The most pairs of files that are compared line by line: a reorganisation of a hundred roots."""

_MAX_EQUAL = 200
"""Equal roots among which the one with the most alike folder name is looked for."""

_MAX_FILES = 200
"""The most files of a root that are read besides its configuration; those of one that has more are not known."""

_MAX_LINES_OF = 1 << 20
"""The bytes up to which a file is compared line by line; a larger one is equal or not."""

_DATA_FOLDERS = frozenset({".terraform", ".git"})
"""What is in these folders is not moved with a root: the tools and git make it."""


class OldFolder(NamedTuple):
    """The old folder of a root, as far as files and names tell.

    Attributes:
        folder: Its own, where it was not moved.
        equals: The number of others that may as well be it, and whose lock files are equal.
        unlike: The others that may as well be it, and whose lock files are not.
    """

    folder: str
    equals: int
    unlike: tuple[str, ...]


def find_moved_roots(
    base_tree: Tree, head_tree: Tree, gone: Mapping[str, str], come: Mapping[str, str], stay: Mapping[str, str]
) -> dict[str, OldFolder]:
    """Return the old folder of each root whose lock file is elsewhere: by its configuration, then by its lock file.

    A root moves with its configuration: the equal one of a folder is better evidence than an equal lock file, and where
    the lock files differ, the configurations must be alike too, as far as both can be read. One that keeps its
    configuration has lost its lock file, however alike that of another folder is, and a folder that had a configuration
    before was another root. One that is more like a root that stays is a copy of that. `gone` has the lock files that
    only the old side has, by folder, `come` those of the new side, and `stay` those of the old side that both have.
    """
    if not gone or not come:
        return {}
    lost = {folder for folder, path in gone.items() if _may_be_root(head_tree, path, come.values())}
    made = {folder for folder, path in come.items() if _may_be_root(base_tree, path, gone.values())}
    old = _OneSided(base_tree, {folder: path for folder, path in gone.items() if folder not in lost})
    new = _OneSided(head_tree, {folder: path for folder, path in come.items() if folder not in made})
    shared = old.shared_configurations() | new.shared_configurations()
    for side in (old, new):
        side.read_files(folder for folder in side.entries if side.configurations[folder] in shared)

    def whole(side: _OneSided, folder: str) -> Hashable:
        """Return what roots have in common of which all is equal; None where that cannot be said."""
        configuration = side.configurations[folder]
        return (side.locks[folder], configuration, side.files.get(folder)) if configuration else None

    moved: dict[str, OldFolder] = {}
    _pair(_equal(old, new, whole), old, new, moved)
    _pair(_equal(old, new, _OneSided.configured), old, new, moved)
    if len(old.entries) * len(new.entries) > _MAX_COMPARED:
        _pair(_equal(old, new, _OneSided.entries_of), old, new, moved)
    if len(old.entries) * len(new.entries) <= _MAX_COMPARED:
        _pair(list(_alike(old, new)), old, new, moved)
    if moved and stay and len(moved) * len(stay) <= _MAX_COMPARED:
        remaining = _OneSided(base_tree, stay)
        return {after: was for after, was in moved.items() if not _is_copy(after, was.folder, remaining, old, new)}
    return moved


def _is_copy(after: str, before: str, remaining: _OneSided, old: _OneSided, new: _OneSided) -> bool:
    """True if a root that stays is more like a new one than the old one is: by configuration, then by other files.

    Lock files tell nothing: an upgrade makes that of a moved root equal to others.
    """
    own = new.configurations[after]
    likeness = _likeness(old.configurations[before], own)
    same = []
    for one in remaining.entries if own else ():
        other = _likeness(remaining.configurations[one], own)
        if other > likeness:
            return True
        if other == likeness:
            same.append(one)
    if not same:
        return False
    for side, folders in ((old, [before]), (new, [after]), (remaining, same)):
        side.read_files(folders)
    likeness = _likeness(old.files[before], new.files[after])
    return any(_likeness(remaining.files[one], new.files[after]) > likeness for one in same)


class _OneSided:
    """Roots that only one side has: those that no counterpart was found for.

    Attributes:
        locks: Each lock file's lines.
        locked: Those that not every lock file has, and that are no comments.
        entries: The same of those roots that no counterpart was found for, in no order.
        configurations: The lines of each configuration, also of the tool that generates it; empty where one cannot be
            read.
        files: The lines of the other files of the folder, and of those below it, as far as `read_files` was asked.
    """

    def __init__(self, tree: Tree, roots: Mapping[str, str]) -> None:
        """Read the files of the roots, of which those without a locked entry are left out."""
        prefetch_listed(tree, roots.values())
        self._tree = tree
        self.locks = {folder: _lines(tree, path) for folder, path in roots.items()}
        self.locked = {folder: _telling(lines) for folder, lines in self.locks.items()}
        self.entries = {folder: frozenset(lines) for folder, lines in self.locked.items() if lines}
        paths = {folder: self._configured_by(folder) for folder in self.entries}
        prefetch_listed(tree, (path for found in paths.values() for path in found))
        self.configurations = {
            folder: frozenset(line for path in found for line in _lines(tree, path)) for folder, found in paths.items()
        }
        self.files: dict[str, frozenset[bytes]] = {}

    def _configured_by(self, folder: str) -> list[str]:
        try:
            names = [entry.name for entry in self._tree.list(folder) if entry.kind is EntryKind.FILE]
        except (ConfigurationError, RepositoryError):
            return []
        told = [one for one in names if touched_roots.is_module_file(one) or touched_roots.is_values(one)]
        return [path_in(folder, name) for name in (*told, *(one for one in names if one in GENERATORS))]

    def entries_of(self, folder: str) -> Hashable:
        """Return what lock files of equal entries have in common."""
        return self.entries[folder]

    def configured(self, folder: str) -> Hashable:
        """Return what roots of equal configurations have in common; None where that cannot be said."""
        return self.configurations[folder] or None

    def shared_configurations(self) -> set[frozenset[bytes]]:
        """Return the configurations that several roots have."""
        return {one for one, number in Counter(self.configurations.values()).items() if number > 1}

    def read_files(self, folders: Iterable[str]) -> None:
        """Read the files of some roots that are not of the configuration."""
        paths = {folder: self._files_of(folder) for folder in dict.fromkeys(folders) if folder not in self.files}
        prefetch_listed(self._tree, (path for found in paths.values() if found is not None for path in found))
        for folder, found in paths.items():
            self.files[folder] = (
                frozenset(line for path in found for line in self._compared_lines(path))
                if found is not None
                else frozenset({_unknown(folder)})
            )

    def _files_of(self, folder: str) -> list[str] | None:
        """Return the files of a root that are not of the configuration; None where they cannot be known."""
        configured, found, todo = self._configured_by(folder), list[str](), [folder]
        while todo:
            below = todo.pop()
            try:
                entries = self._tree.list(below)
            except (ConfigurationError, RepositoryError):
                return None
            folders = (one.name for one in entries if one.kind is EntryKind.FOLDER)
            todo += [path_in(below, name) for name in folders if name not in _DATA_FOLDERS]
            files = (one.name for one in entries if one.kind is EntryKind.FILE)
            found += [path_in(below, name) for name in files if name != LOCK_FILE]
            if len(found) + len(todo) > _MAX_FILES:
                return None
        return [path for path in found if path not in configured]

    def _compared_lines(self, path: str) -> tuple[bytes, ...]:
        try:
            data = self._tree.read(path) or b""
        except (ConfigurationError, RepositoryError):
            return (_unknown(path),)
        return _stripped(data) if len(data) <= _MAX_LINES_OF else (data,)


def _unknown(path: str) -> bytes:
    """Return what stands for an unknown content: it is equal to no other one."""
    return b"\0" + name_bytes(path)


def _equal(old: _OneSided, new: _OneSided, key: Callable[[_OneSided, str], Hashable]) -> Iterator[tuple[str, str]]:
    befores: dict[Hashable, list[str]] = {}
    for before in old.entries:
        befores.setdefault(key(old, before), []).append(before)
    for after in new.entries:
        if (common := key(new, after)) is not None:
            yield from ((before, after) for before in befores.get(common, ())[:_MAX_EQUAL])


def _alike(old: _OneSided, new: _OneSided) -> Iterator[tuple[str, str]]:
    """Yield the pairs with equal entries, and those with alike configurations whose lock files do not speak against it.

    Where one configuration cannot be read, the lock files alone tell.
    """
    for before, old_entries in old.entries.items():
        for after, new_entries in new.entries.items():
            locked = _likeness(old_entries, new_entries)
            one, other = old.configurations[before], new.configurations[after]
            configured = _likeness(one, other)
            is_told = configured >= _LIKENESS and configured + locked >= 2 * _LIKENESS
            if locked == 1 or is_told or (locked >= _LIKENESS and not (one and other)):
                yield before, after


def _pair(candidates: Iterable[tuple[str, str]], old: _OneSided, new: _OneSided, moved: dict[str, OldFolder]) -> None:
    """Enter the best pairs of (old folder, new folder), and take them from the sides.

    The more alike configurations are better, then the more alike other files. Of roots that these do not tell apart,
    one with the same entries is, and with the same comments, then the more alike names of folders. Lock files that are
    only alike are better evidence than a name only where no configuration is known: they are what is compared. The last
    of what is compared, alike lock files and names with the same letters, is no evidence: it makes the better guess.
    """
    pairs = sorted(candidates)
    is_compared = len(pairs) <= _MAX_COMPARED
    levels = {
        (before, after): (_likeness(old.configurations[before], new.configurations[after]) if is_compared else 0.0, 0.0)
        for before, after in pairs
    }
    if is_compared:
        _compare_files(levels, old, new)
    rivals: dict[tuple[str, tuple[float, float]], set[Hashable]] = {}
    for (before, after), level in levels.items():
        rivals.setdefault((after, level), set()).add((old.configurations[before], old.files.get(before)))

    def evidence(pair: tuple[str, str]) -> tuple[tuple[float, float], float, int, tuple[float, int]]:
        before, after = pair
        locked = _likeness(old.entries[before], new.entries[after]) if is_compared else 0.0
        is_known = bool(old.configurations[before] and new.configurations[after])
        agreed = locked if not is_known else float(locked == 1 and len(rivals[after, levels[pair]]) == 1)
        if agreed == 1 or not is_compared:
            agreed += old.locks[before] == new.locks[after]
        return levels[pair], agreed, _common_names(before, after), (locked, _common_characters(before, after))

    ranked = sorted(((evidence(pair), pair) for pair in pairs), key=itemgetter(0), reverse=True)
    for _, alike in groupby(ranked, key=lambda one: one[0][:-1]):
        left = [(before, after) for _, (before, after) in alike if before in old.entries and after in new.entries]
        choices: dict[str, list[str]] = {}
        for before, after in left:
            choices.setdefault(after, []).append(before)
        for before, after in left:
            if before in old.entries and after in new.entries:
                unlike = sorted(one for one in choices[after] if old.locked[one] != old.locked[before])
                moved[after] = OldFolder(before, len(choices[after]) - len(unlike) - 1, tuple(unlike))
                del old.entries[before], new.entries[after]


def _compare_files(levels: dict[tuple[str, str], tuple[float, float]], old: _OneSided, new: _OneSided) -> None:
    """Enter how alike the other files are, of those pairs between which the configurations do not decide."""
    befores = Counter((before, level) for (before, _), level in levels.items())
    afters = Counter((after, level) for (_, after), level in levels.items())
    open_pairs = [
        (before, after)
        for (before, after), level in levels.items()
        if befores[before, level] > 1 or afters[after, level] > 1
    ]
    old.read_files(before for before, _ in open_pairs)
    new.read_files(after for _, after in open_pairs)
    for before, after in open_pairs:
        levels[before, after] = levels[before, after][0], _likeness(old.files[before], new.files[after])


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


def _common_characters(one: str, two: str) -> int:
    """The numbers of characters that two paths share at their beginnings and at their ends."""
    return _common_prefix(one, two) + _common_prefix(one[::-1], two[::-1])


def _common_prefix(one: Sequence[str], two: Sequence[str]) -> int:
    equal = takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))
    return sum(1 for _ in equal)


def _lines(tree: Tree, path: str) -> tuple[bytes, ...]:
    """Return a file's lines without the space around them; none where it cannot be read."""
    try:
        return _stripped(tree.read(path) or b"")
    except (ConfigurationError, RepositoryError):
        return ()


def _stripped(data: bytes) -> tuple[bytes, ...]:
    return tuple(line.strip() for line in data.splitlines())


def _telling(lines: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return a lock file's lines without comments and those that every lock file has."""
    return tuple(line for line in lines if len(line) > 1 and not line.startswith((b"#", b"hashes")))
