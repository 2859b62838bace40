"""The places in a repository from which both tools take packages without asking a registry."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from locklens.project.gittree import ListedTree
from locklens.project.tree import MAX_LINK_BYTES, WorkTree, folder_of, name_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from locklens.project.tree import Tree

_IGNORED_BY_HFS = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
"""Characters without a width, which macOS's older file system leaves out when it compares names."""

_DATA_FOLDER = re.compile(r"\.terraform|terraf~\d")
"""The tools' data folder: packages, modules, and where to look for either. Windows knows it by a short name too."""

_CONFIGURED_FOLDER = re.compile(r"terraform\.d|terraf~\d\.d")

_PERHAPS = re.compile(r"\.terraform(?!\.lock\.hcl\Z)|terraform\.d|terraf~", re.IGNORECASE)
"""What each such path has in it, unless it has letters of other scripts: most paths are passed over by it."""

_MIRRORED = re.compile(
    r"""(?:\A|(?P<folder>.*)/)[^/.:]*[.:][^/]*/[^/]+/[^/]+/  # host, namespace and type
    (?:[^/]+/[a-z0-9]+_[a-z0-9]+(?:\Z|/terraform-provider-[^/]*\Z)  # version and platform: unpacked
    |terraform-provider-[^/_]+_[^/]+\.zip\Z)  # packed""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""How both tools lay out packages in a mirror, in a plugin cache, and in a data folder of another name."""

_NAME_IN_MIRROR = re.compile(r"terraform-provider-.*|[a-z0-9]+_[a-z0-9]+", re.IGNORECASE | re.DOTALL)


def packages_folder(path: str) -> str | None:
    """Return the folder in which the tools, run there, take what a path holds for packages of their own; None for none.

    They do so at and below `.terraform`, and at and below `terraform.d/plugins`; a link or a submodule may stand for
    either, or for `terraform.d`. Names are compared as the most generous disk does.
    """
    if path.isascii() and ("terraf" not in path.lower() or _PERHAPS.search(path) is None):
        return None
    parts = path.split("/")
    for number, part in enumerate(parts):
        name = _folded(part)
        if _DATA_FOLDER.fullmatch(name) or (
            _CONFIGURED_FOLDER.fullmatch(name) and (number + 1 == len(parts) or _folded(parts[number + 1]) == "plugins")
        ):
            return "/".join(parts[:number])
    return None


def mirror_folder(path: str) -> str | None:
    """Return the folder that the path of a package makes a mirror; None for other paths.

    The tools take packages from it where the user's settings name it: as a mirror, as the plugin cache, as the data
    folder (`providers` in `TF_DATA_DIR`).
    """
    if "_" not in path or _NAME_IN_MIRROR.fullmatch(path.rpartition("/")[2]) is None:
        return None
    found = _MIRRORED.match(path)
    return (found["folder"] or "") if found is not None else None


def _folded(name: str) -> str:
    """Return what all spellings of a name have in common that some disk takes for one name."""
    return name.translate(_IGNORED_BY_HFS).casefold().rstrip(" .")


def packages_by_folder(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return those paths that the tools take for packages, by the folder in which they are run, or the mirror."""
    found: dict[str, set[str]] = {}
    for path in paths:
        folder = packages_folder(path)
        folder = mirror_folder(path) if folder is None else folder
        if folder is not None:
            found.setdefault(folder, set()).add(path)
    return {folder: tuple(sorted(found[folder], key=name_bytes)) for folder in sorted(found, key=name_bytes)}


def brought_packages(base_tree: Tree, head_tree: Tree, brought: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what a change brings that the tools take for packages, by the folder in which they are run, or the mirror.

    Args:
        base_tree: The old side.
        head_tree: The new side.
        brought: Paths of all files, links and submodules that the new side has anew, or otherwise than the old side.
    """
    before = base_tree.links(even_to_nothing=True) if isinstance(base_tree, ListedTree) else {}
    now = _links(head_tree, {*before, *brought})
    # A link that leads elsewhere now brings what is there, even if the link itself is as it was.
    moved = (link for link, target in before.items() if now.get(link, target) != target)
    paths = sorted({*brought, *moved})
    told = set(paths)
    # A link that the change brings is told of itself, whatever is behind it.
    standing = [link for link in now if packages_folder(link) is not None and link not in told]
    behind = (_behind(link, now, paths) for link in standing)
    return packages_by_folder([*paths, *(name for names in behind for name in names)])


def _links(tree: Tree, perhaps: Iterable[str]) -> dict[str, str]:
    """Return the links of a tree, and what is behind each; on disk, those of some paths that are links."""
    if isinstance(tree, ListedTree):
        return tree.links(even_to_nothing=True)
    if not isinstance(tree, WorkTree):
        return {}
    top = os.path.realpath(tree.top)
    places = ((path, os.path.join(top, path)) for path in perhaps)  # noqa: PTH118
    # Nothing is opened: only the links on the way are read.
    found = ((path, os.path.realpath(place)) for path, place in places if os.path.islink(place))  # noqa: PTH114
    return {
        path: "" if place == top else os.path.relpath(place, top).replace(os.sep, "/")
        for path, place in found
        if place == top or place.startswith(top + os.sep)
    }


def _behind(link: str, links: Mapping[str, str], paths: Sequence[str]) -> Iterator[str]:
    """Yield what some paths, in order, are called through a link, and through the links in what is behind it."""
    names, told = sorted(links), frozenset(paths)
    todo, seen = [(link, links[link])], set[str]()
    while todo:
        name, target = todo.pop()
        if target not in seen and len(name) <= MAX_LINK_BYTES:  # no system opens a longer name
            seen.add(target)
            if any(above in told for above in _above(target)):  # a submodule or a link in its place
                yield name
            yield from (_renamed(path, target, name) for path in _below(paths, target))
            todo += [(_renamed(each, target, name), links[each]) for each in _below(names, target)]


def _above(path: str) -> Iterator[str]:
    while path:
        path = folder_of(path)
        yield path


def _renamed(path: str, folder: str, name: str) -> str:
    """Return what a path at or below a folder is called where the folder has another name."""
    return name + path[len(folder) :] if folder else f"{name}/{path}"


def _below(paths: Sequence[str], folder: str) -> Sequence[str]:
    """Return those of some paths, in order, that are a folder or below it."""
    if not folder:
        return paths
    first = bisect_left(paths, folder)
    own = paths[first : first + 1] if paths[first : first + 1] == [folder] else []
    return [*own, *paths[bisect_left(paths, folder + "/") : bisect_left(paths, folder + "0")]]
