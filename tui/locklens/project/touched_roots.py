"""The roots that changed files concern: by their configuration, their local modules, their values and their state."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.dialect import DIALECTS, OPENTOFU
from locklens.errors import ConfigurationError
from locklens.project import is_lock_file
from locklens.project.gittree import ListedTree, prefetch_listed
from locklens.project.tree import EntryKind, Tree, folder_of, is_at_or_below, join_below, name_of, path_in, upwards

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from locklens.project.modules import ModuleReader

TEST_SUFFIXES, MODULE_SUFFIXES = OPENTOFU.test_suffixes, OPENTOFU.file_suffixes
"""Suffixes of the names of test files, and of other configuration files: OpenTofu has those of Terraform too."""

_VALUES = frozenset({"terraform.tfvars", "terraform.tfvars.json"})
_STATE = ".tfstate"

_STATE_DOCUMENT = re.compile(rb"\s*\{")
_RESOURCES = re.compile(rb"resources|encrypted_data|\\u|\xc5\xbf", re.IGNORECASE)
"""Every state that requires a provider, or that OpenTofu encrypted, has a match. A JSON escape can be any letter, and
U+017F equals s where case is ignored."""

_MAX_READ = 2000
"""The most changed files that are read, besides configuration and lock files; of more, each may be a state."""

_UNREAD = "\0"
"""In place of the folders that an unreadable file calls, which may be any folder. No folder has this name."""

_MAX_ALIASES = 100_000
"""The most paths through links that are followed; links that lead to each other make endlessly many."""


def is_configuration(path: str) -> bool:
    """True if a path has the name of a configuration file, or of a test file, of either tool."""
    return is_module_file(path) or path.endswith(TEST_SUFFIXES)


def is_module_file(path: str) -> bool:
    """True if a path has the name of a configuration file of either tool, but not of a test file."""
    return path.endswith(MODULE_SUFFIXES)


def is_named_state(path: str) -> bool:
    """True if a path has the default name of a state, or contains it, as backups do."""
    return _STATE in name_of(path)


def may_decide(tree: Tree, paths: Iterable[str]) -> bool:
    """True if one of some changed files may decide what a root requires: a configuration, values, or a state."""
    others = []
    for path in paths:
        if is_configuration(path) or is_values(path) or is_named_state(path):
            return True
        others.append(path)
    return bool(changed_states(tree, others))


def folders_decided(paths: Iterable[str]) -> set[str]:
    """Return the folders of those paths that have the name of a module file, of a file of values, or of a state."""
    return {folder_of(path) for path in paths if is_module_file(path) or is_values(path) or is_named_state(path)}


def is_values(path: str) -> bool:
    """True if a path has the name of a file of values for a root's variables, which may decide the modules."""
    name = name_of(path)
    return name in _VALUES or name.endswith((".auto.tfvars", ".auto.tfvars.json"))


def with_changed_configuration(
    calls: LocalCalls, touched: Iterable[str], roots: set[str], states: Collection[str] = ()
) -> set[str]:
    """Return those of some roots whose requirements a changed file may affect.

    Such a file is a configuration file in the folder itself or in a local module, a file of values, and a local state:
    `states` are those that may be one.
    """
    found: set[str] = set()
    modules: set[str] = set()
    for path in touched:
        folder = folder_of(path)
        if not is_configuration(path):
            if is_named_state(path):
                found.update(above for above in upwards(folder) if above in roots)
            elif is_values(path) and folder in roots:
                found.add(folder)
            continue
        if path.endswith(TEST_SUFFIXES):
            owner: str | None = next((above for above in upwards(folder) if above in roots), None)
        else:
            owner = folder if folder in roots else None
            modules.add(folder)  # another root may call this one as a module
        if owner is not None:
            found.add(owner)
    if modules:
        perhaps = modules | {_UNREAD}
        rest = roots - found
        calls.prefetch(rest)
        found |= {root for root in rest if any(folder in perhaps for folder in calls.reached(root))}
    return found | _roots_with_states(calls.tree, states, roots - found) if states else found


def changed_states(tree: Tree, touched: Iterable[str], converted: Collection[str] = ()) -> set[str]:
    """Return the changed files that may be a state, whatever their name is: a backend block can name any file.

    `converted` are files whose checked-out bytes differ from those that are read here.
    """
    paths = [path for path in touched if not is_configuration(path)]
    # A review reads every lock file anyway.
    others = {path for path in paths if not is_lock_file(path)}
    unseen = others if len(others) > _MAX_READ else set[str]()
    paths = [path for path in paths if path not in unseen]
    prefetch_listed(tree, paths)
    return unseen.union(path for path in paths if path in converted or _may_be_state(tree, path))


def _may_be_state(tree: Tree, path: str) -> bool:
    try:
        data = tree.read(path) or b""
    except ConfigurationError:
        return True
    if data and is_named_state(path):
        return True
    return _STATE_DOCUMENT.match(data) is not None and _RESOURCES.search(data) is not None


def _roots_with_states(tree: Tree, states: Collection[str], roots: set[str]) -> set[str]:
    """Return the roots whose local backend may keep its state in one of some files, or in a folder above one."""
    folders = {above for path in states for above in upwards(folder_of(path))}
    return {
        root
        for root, place in _state_places(tree, roots)
        if place is None or place.file in states or place.folder in folders
    }


class _StatePlace(Struct, frozen=True):
    """The file and the folder of workspaces that a local backend names; None for one that it does not name."""

    file: str | None
    folder: str | None

    def may_be_below(self, path: str) -> bool:
        """True if a state may lie at or below a path."""
        if self.file is not None and is_at_or_below(self.file, path):
            return True
        return self.folder is not None and (is_at_or_below(self.folder, path) or is_at_or_below(path, self.folder))


def _state_places(tree: Tree, roots: Iterable[str]) -> Iterator[tuple[str, _StatePlace | None]]:
    """Yield the places that the local backends of roots name, as either tool reads them; None for a computed one."""
    from locklens.project.modules import ModuleReader

    reader = ModuleReader()
    for root in roots:
        for dialect in DIALECTS.values():
            placed = reader.read(tree, root, dialect).backend
            backend = placed.item if placed is not None else None
            if backend is None or backend.type != "local":
                continue
            if backend.is_computed:
                yield root, None
                continue
            file = tree.join(root, backend.path) if backend.path else None
            folder = tree.join(root, backend.workspace_folder) if backend.workspace_folder else None
            yield root, _StatePlace(file, folder)


def called_modules(base_tree: Tree, head_tree: Tree, folders: set[str], roots: Collection[str]) -> set[str]:
    """Return those of some folders that roots call on both sides: the head alone could call any folder."""
    found = set(folders)
    for tree in (base_tree, head_tree):
        found &= LocalCalls(tree).reached_from(roots)
    return found


def folders_with_callers(tree: Tree, files: Iterable[str]) -> set[str]:
    """Return the folders that the configuration beside some files may call directly as local modules."""
    folders = {folder_of(path) for path in files}
    calls = LocalCalls(tree)
    calls.prefetch(folders)
    return {called for folder in folders for called in calls.of(folder)}


def may_reach(tree: Tree, roots: Iterable[str], places: Iterable[str]) -> set[str]:
    """Return the places at or below which a root may call a local module, directly or not, or may have its state.

    These are all places if a file of the roots or of their modules cannot be read, if a module is not in the tree, or
    if the path of a state is computed.
    """
    roots, places = list(roots), set(places)
    reached = LocalCalls(tree).reached_from(roots)
    found = {folder: {place for place in places if is_at_or_below(folder, place)} for folder in reached}
    if any(folder == _UNREAD or not (found[folder] or tree.list(folder)) for folder in reached):
        return places
    states = [state for _, state in _state_places(tree, roots)]
    if None in states:
        return places
    with_state = {place for place in places if any(state.may_be_below(place) for state in states if state is not None)}
    return with_state.union(*found.values())


def named_modules(calls: LocalCalls, roots: Collection[str]) -> set[str]:
    """Return the folders that roots call as local modules, directly or not, including those that the tree lacks."""
    return calls.reached_from(roots) - {_UNREAD}


def named_states(tree: Tree, roots: Iterable[str]) -> set[str]:
    """Return the files of states, and the folders of workspaces, that the local backends of roots name."""
    states = [state for _, state in _state_places(tree, roots) if state is not None]
    return {path for state in states for path in (state.file, state.folder) if path is not None}


class LocalCalls:
    """The local modules that the folders of a tree call; each folder is read once."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._written: dict[str, tuple[frozenset[str], bool]] = {}
        self._called: dict[tuple[str, bool], frozenset[str]] = {}

    @cached_property
    def _reader(self) -> ModuleReader:
        from locklens.project.modules import ModuleReader

        return ModuleReader()

    def prefetch(self, folders: Collection[str]) -> None:
        """Read the configuration of many folders in one go, where git lists the tree."""
        if isinstance(self.tree, ListedTree):
            wanted = set(folders).difference(self._written)
            files = self.tree.files if wanted else ()
            self.tree.prefetch([path for path in files if is_configuration(path) and folder_of(path) in wanted])

    def of(self, folder: str, *, is_root: bool = True) -> frozenset[str]:
        """Return the folders that a folder may call directly; a called module's variables have the call's values."""
        known = folder, is_root
        if known not in self._called:
            if folder not in self._written:
                self._written[folder] = _written_calls(self.tree, folder)
            called, is_whole = self._written[folder]
            computed = () if is_whole else _computed_calls(self.tree, folder, self._reader, is_root=is_root)
            self._called[known] = called.union(computed)
        return self._called[known]

    def reached(self, root: str) -> Iterator[str]:
        """Yield the folders that a root may call, directly or through other local modules."""
        seen = {root}
        todo = [root]
        while todo:
            folder = todo.pop()
            called = self.of(folder, is_root=folder == root)
            yield from called
            todo.extend(called - seen)
            seen |= called

    def reached_from(self, roots: Collection[str]) -> set[str]:
        """Return the folders that roots may call, directly or through other local modules."""
        self.prefetch(roots)
        return {folder for root in roots for folder in self.reached(root)}

    def callers(self, folders: Collection[str], roots: Collection[str]) -> Counter[str]:
        """Return the number of other roots that may call each of some folders, directly or through local modules."""
        found: Counter[str] = Counter()
        if folders:
            self.prefetch(roots)
            for root in roots:
                found.update({*self.reached(root)}.intersection(folders) - {root})
        return found


def _written_calls(tree: Tree, folder: str) -> tuple[frozenset[str], bool]:
    """Return the folders of the local modules that a folder's files may call, `_UNREAD` if that is unknown.

    The second value is False if there may be more calls, whose sources are not plain strings.
    """
    from locklens.project.module_sources import has_computed_source, local_sources

    try:
        entries = tree.list(folder)
    except ConfigurationError:
        return frozenset({_UNREAD}), True
    names = [entry.name for entry in entries if entry.kind is not EntryKind.FOLDER and is_configuration(entry.name)]
    called: set[str] = set()
    is_whole = True
    for name in names:
        try:
            data = tree.read(path_in(folder, name))
        except ConfigurationError:
            data = None
        if data is None:
            called.add(_UNREAD)  # reading the configuration reports the error
            continue
        called.update(_places(folder, local_sources(data)))
        if has_computed_source(data, is_json=name.endswith(".json")):
            if name.endswith(TEST_SUFFIXES):
                called.add(_UNREAD)  # nothing evaluates what tests run
            else:
                is_whole = False
    return frozenset(called), is_whole


def _computed_calls(tree: Tree, folder: str, reader: ModuleReader, *, is_root: bool) -> Iterator[str]:
    """Yield the folders that a module calls when either tool evaluates the sources, `_UNREAD` for an unknown source."""
    from locklens.project import configuration_files
    from locklens.project.module_sources import is_local_source, normal_source
    from locklens.project.static_values import with_known_values

    entries = tree.list(folder)
    # Where both tools read the same files, only OpenTofu is kept: it evaluates all that Terraform evaluates.
    dialects = {configuration_files(entries, dialect): dialect for dialect in DIALECTS.values()}
    for dialect in dialects.values():
        module = with_known_values(reader.read(tree, folder, dialect), tree, dialect, {} if is_root else None)
        for call in module.calls:
            source = call.item.source
            if source.fault:
                yield _UNREAD
            elif source.text and is_local_source(source.text):
                yield from _places(folder, [normal_source(source.text, dialect)])


def _places(folder: str, sources: Iterable[str]) -> Iterator[str]:
    return (place for source in sources if (place := join_below(folder, source)) is not None)


def paths_through_links(touched: set[str], *trees: Tree) -> set[str]:
    """Return the other paths that lead to changed files through links in a tree."""
    links: dict[str, set[str]] = {}
    for tree in trees:
        if isinstance(tree, ListedTree):
            for link, target in tree.links().items():
                links.setdefault(target, set()).add(link)
    found: set[str] = set()
    fresh = touched if links else set()
    # A linked file in a linked folder takes two steps; a link to a folder above itself would take endless ones.
    for _ in range(2):
        step: set[str] = set()
        for path in fresh:
            for above in upwards(path):
                rest = path[len(above) :].removeprefix("/")
                step.update(f"{link}/{rest}" if rest else link for link in links.get(above, ()))
            if len(found) + len(step) > _MAX_ALIASES:
                return found
        found |= step
        fresh = step
    return found
