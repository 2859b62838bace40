"""The root modules of two sides, and the changed ones.

A root is a folder with a lock file. What stands in the files is read no further than the local modules that they call.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, LockLensError, RepositoryError
from locklens.project.gittree import ListedTree
from locklens.project.tree import EntryKind, WorkTree, name_bytes, normalise
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.project.git import Repository
    from locklens.project.gitoutput import PathChange
    from locklens.project.tree import Tree

LOCK_FILE = ".terraform.lock.hcl"
"""The lock file's name, which no tool lets anyone change."""

_TEST_SUFFIXES = (".tftest.hcl", ".tftest.json", ".tofutest.hcl", ".tofutest.json")
_MODULE_SUFFIXES = (".tf", ".tf.json", ".tofu", ".tofu.json")
_LIKENESS = 0.5
"""Share of equal lines from which on two lock files are taken for one that moved."""

MAX_ROOTS = 50_000
"""Lock files of a side; a few tiny objects of git can stand for millions."""

_VENDOR = re.compile(r"(?:\A|/)terraform\.d(?=\Z|/plugins(?:\Z|/))", re.IGNORECASE)
"""The folder of a root from which both tools install packages instead of from a registry, without any setting."""

_MAX_COMPARED = 10_000
"""Pairs of lock files that are compared line by line: a reorganisation of a hundred roots."""

_MAX_EQUAL = 200
"""Equal lock files among which the one with the most alike folder name is looked for."""

_MAX_ALIASES = 100_000
"""Paths through links that are followed up; a tree full of links to each other has no end of them."""


class RootPair(Struct, frozen=True):
    """A root module on both sides.

    Attributes:
        path: Its folder on the head side, "" for the top; on the base side where the head does not have it.
        old_lock: Path of the base's lock file, None where there is none.
        new_lock: Path of the head's lock file, None where there is none.
        lock_changed: The lock file's bytes differ, or it was added, deleted or moved.
        configuration_changed: A configuration file of the folder changed, or one of a local module that it calls.
        renamed_from: The folder on the base side, where it is another.
        is_module: The lock file was deleted from a folder that other roots call as a module on both sides. It is no
            root module then, and nothing has to be locked in it.
        vendored: What the change adds or changes below the folder's `terraform.d/plugins`, or the link that stands for
            that: paths of the head side, in the order of their bytes.
    """

    path: str
    old_lock: str | None
    new_lock: str | None
    lock_changed: bool
    configuration_changed: bool
    renamed_from: str | None
    is_module: bool = False
    vendored: tuple[str, ...] = ()


def find_roots(
    repository: Repository,
    base_tree: Tree,
    head_tree: Tree,
    changes: Sequence[PathChange],
    *,
    only: Sequence[str] = (),
) -> tuple[RootPair, ...]:
    """Return the roots of both sides, changed or not, in the order of their paths' bytes.

    A root that a sparse checkout leaves out of the work tree is left out here too.

    Args:
        repository: Where both sides are.
        base_tree: The old side.
        head_tree: The new side.
        changes: What differs between them, as `Repository.changed` says.
        only: Folders, relative to the top, to which the answer is restricted.

    Raises:
        ConfigurationError: A folder of `only` is no root on either side.
        RepositoryError: Git cannot list a side, or one has more than MAX_ROOTS lock files.
    """
    from locklens.project.gitoutput import ChangeStatus

    old = {_folder(path): path for path in lock_paths(repository, base_tree)}
    touched = {path for change in changes for path in (change.old, change.new) if path is not None}
    # What neither the base has nor git calls changed was only announced to the index ("git add --intent-to-add").
    new = {_folder(path): path for path in lock_paths(repository, head_tree) if path in touched or _folder(path) in old}
    for side, found in (("base", old), ("head", new)):
        if len(found) > MAX_ROOTS:
            words = f"the {side} has {len(found)} lock files, and no more than {MAX_ROOTS} are reviewed"
            raise RepositoryError(words, hint="review single ones with --old FILE --new FILE")
    deleted = {change.old for change in changes if change.status is ChangeStatus.DELETED}
    gone = {folder: path for folder, path in old.items() if folder not in new and path in deleted}
    moved = _moved(base_tree, head_tree, gone, {folder: path for folder, path in new.items() if folder not in old})
    folders = _restricted([*new, *(gone.keys() - moved.values())], moved, only)

    touched |= _aliases(touched, base_tree, head_tree)
    configured = with_changed_configuration(head_tree, touched, set(folders))
    vendored = _vendored(head_tree, touched, set(folders))
    left = {folder for folder in folders if folder in gone}
    modules = _modules(base_tree, head_tree, left, old.keys() & new.keys()) if left else set()
    # The review of the roots reads these anyway.
    _prefetch(base_tree, (path for path in old.values() if path in touched))
    _prefetch(head_tree, (path for path in new.values() if path in touched))
    pairs = []
    for folder in sorted(folders, key=name_bytes):
        before, after = old.get(moved.get(folder, folder)), new.get(folder)
        changed = before != after or (before in touched and _differs(base_tree, head_tree, before, after))
        is_configured, is_module = folder in configured, folder in modules
        own = vendored.get(folder, ())
        pairs.append(RootPair(folder, before, after, changed, is_configured, moved.get(folder), is_module, own))
    return tuple(pairs)


def lock_paths(repository: Repository, tree: Tree) -> tuple[str, ...]:
    """Return the path of every lock file of a side of the repository.

    What the tools downloaded into `.terraform` is not tracked, and left out; a root that is tracked there counts.

    Raises:
        RepositoryError: Git cannot list the side.
    """
    paths: Iterable[str] = ()
    if isinstance(tree, ListedTree):
        paths = (path for path in tree.paths() if path.endswith(LOCK_FILE))
    elif isinstance(tree, WorkTree):
        from locklens.project.git import UncommittedSide

        paths = repository.paths(UncommittedSide.WORK_TREE, named=LOCK_FILE)
    return tuple(path for path in paths if path.rpartition("/")[2] == LOCK_FILE)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _restricted(folders: list[str], moved: dict[str, str], only: Sequence[str]) -> list[str]:
    if not only:
        return folders
    chosen: dict[str, None] = {}
    by_old_folder = {before: after for after, before in moved.items()}
    for asked in only:
        folder = normalise(asked.removesuffix(LOCK_FILE) if asked.rpartition("/")[2] == LOCK_FILE else asked)
        if folder is not None and folder not in folders:
            folder = by_old_folder.get(folder, folder)
        if folder not in folders:
            lead = f"{folder}/" if folder else ""
            below = sorted(known for known in folders if folder is not None and known.startswith(lead))
            hint = f"roots below: {listing(below)}; select with --root DIR or --all-roots" if below else ""
            raise ConfigurationError(f"no {LOCK_FILE} on either side", path=asked or ".", hint=hint)
        chosen[folder] = None
    return list(chosen)


def _prefetch(tree: Tree, paths: Iterable[str]) -> None:
    if isinstance(tree, ListedTree):
        tree.prefetch(paths)


def _differs(base_tree: Tree, head_tree: Tree, before: str | None, after: str | None) -> bool:
    """True if two lock files have other bytes: git also names those whose mode alone differs."""
    if before is None or after is None:
        return True
    try:
        return base_tree.read(before) != head_tree.read(after)
    except LockLensError:
        return True  # reading the lock file reports the error


# Roots that moved


def _moved(base_tree: Tree, head_tree: Tree, gone: dict[str, str], come: dict[str, str]) -> dict[str, str]:
    """Return new folder -> old folder of roots whose lock file is elsewhere: equal ones first, then the most alike.

    Git's own search is not used: it does not know untracked files, and it takes any one of several equal lock files,
    where the names of the folders tell which is which.
    """
    if not gone or not come:
        return {}
    _prefetch(base_tree, gone.values())
    _prefetch(head_tree, come.values())
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
    except LockLensError:
        return frozenset()
    lines = (line.strip() for line in data.splitlines())
    return frozenset(line for line in lines if len(line) > 1 and not line.startswith((b"#", b"hashes")))


# Changed configuration


def is_configuration(path: str) -> bool:
    """True if a path has the name of a configuration file, or of a test file, of either tool."""
    return path.endswith(_MODULE_SUFFIXES) or path.endswith(_TEST_SUFFIXES)


def with_changed_configuration(head_tree: Tree, touched: Iterable[str], roots: set[str]) -> set[str]:
    """Return the roots of which a configuration file changed, in the folder itself or in a local module.

    Args:
        head_tree: The new side.
        touched: Paths of the files that differ.
        roots: The folders that are looked at.
    """
    found: set[str] = set()
    modules: set[str] = set()
    for path in touched:
        if not is_configuration(path):
            continue
        folder = _folder(path)
        if path.endswith(_TEST_SUFFIXES):
            owner: str | None = next((above for above in _upwards(folder) if above in roots), None)
        else:
            owner = folder if folder in roots else None
            modules.add(folder)  # a root, too, may be called as a module by another one
        if owner is not None:
            found.add(owner)
    return found | _callers(head_tree, modules, roots - found) if modules else found


def _vendored(head_tree: Tree, touched: Iterable[str], roots: set[str]) -> dict[str, tuple[str, ...]]:
    """Return what the head has of the files that differ, below each root's folder of packages.

    A link or a submodule may stand for the folder. Letters count as equal in either case: to some disks they are.
    """
    found: dict[str, set[str]] = {}
    names: dict[str, frozenset[str] | None] = {}
    for path in touched:
        for match in _VENDOR.finditer(path):
            root = path[: match.start()]
            if root in roots and _is_there(head_tree, path, names):
                found.setdefault(root, set()).add(path)
    return {root: tuple(sorted(paths, key=name_bytes)) for root, paths in found.items()}


def _is_there(tree: Tree, path: str, names: dict[str, frozenset[str] | None]) -> bool:
    """True if a tree has a path, or cannot say; `names` are those of the folders that were listed."""
    folder = _folder(path)
    if folder not in names:
        try:
            names[folder] = frozenset(entry.name for entry in tree.list(folder))
        except LockLensError:
            names[folder] = None
    known = names[folder]
    return known is None or path.rpartition("/")[2] in known


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = _folder(folder)
        yield folder


def _callers(tree: Tree, modules: set[str], roots: set[str]) -> set[str]:
    """Return the roots that call one of the module folders, directly or through other local modules."""
    calls = _Calls(tree, roots)
    return {root for root in roots if any(folder in modules for folder in calls.reached(root))}


def _modules(base_tree: Tree, head_tree: Tree, folders: set[str], roots: Iterable[str]) -> set[str]:
    """Return the folders that a root calls on the base side and on the head side: the head alone may say anything."""
    found = set(folders)
    for tree in (base_tree, head_tree):
        calls = _Calls(tree, roots)
        found &= {folder for root in roots for folder in calls.reached(root)}
    return found


class _Calls:
    """The local modules that the folders of a tree call; each folder is read once."""

    def __init__(self, tree: Tree, roots: Iterable[str]) -> None:
        if isinstance(tree, ListedTree):
            folders = set(roots)
            tree.prefetch([path for path in tree.files if is_configuration(path) and _folder(path) in folders])
        self._tree = tree
        self._called: dict[str, frozenset[str]] = {}

    def reached(self, root: str) -> Iterator[str]:
        """Yield the folders that a root may call, directly or through other local modules."""
        seen = {root}
        todo = [root]
        while todo:
            folder = todo.pop()
            called = self._called.get(folder)
            if called is None:
                called = self._called[folder] = _called_folders(self._tree, folder)
            yield from called
            todo.extend(called - seen)
            seen |= called


def _called_folders(tree: Tree, folder: str) -> frozenset[str]:
    """Return the folders of the local modules that a folder's files may call."""
    from locklens.project.local_sources import local_sources

    prefix = f"{folder}/" if folder else ""
    try:
        entries = tree.list(folder)
    except LockLensError:
        return frozenset()
    names = [entry.name for entry in entries if entry.kind is EntryKind.FILE and is_configuration(entry.name)]
    called: set[str] = set()
    for name in names:
        try:
            data = tree.read(prefix + name)
        except LockLensError:
            continue  # reading the configuration reports the error
        for source in local_sources(data or b""):
            place = normalise(prefix + source)
            if place is not None:
                called.add(place)
    return frozenset(called)


def _aliases(touched: set[str], *trees: Tree) -> set[str]:
    """Return by which other paths, through links in a tree, changed files are reached."""
    links: dict[str, set[str]] = {}
    for tree in trees:
        if isinstance(tree, ListedTree):
            for link, target in tree.links().items():
                links.setdefault(target, set()).add(link)
    found: set[str] = set()
    fresh = touched if links else set()
    for _ in range(
        2
    ):  # a linked file in a linked folder takes two steps; a link to a folder above it would take ever more
        step: set[str] = set()
        for path in fresh:
            for above in _upwards(path):
                rest = path[len(above) :].removeprefix("/")
                step.update(f"{link}/{rest}" if rest else link for link in links.get(above, ()))
            if len(found) + len(step) > _MAX_ALIASES:
                return found
        found |= step
        fresh = step
    return found
