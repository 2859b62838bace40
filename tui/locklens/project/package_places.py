"""The places in a repository from which both tools take packages without asking a registry."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from locklens.project.gittree import ListedTree
from locklens.project.other_spellings import folded
from locklens.project.tree import MAX_LINK_BYTES, Tree, WorkTree, folder_of, name_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet


_DATA_FOLDER = re.compile(r"\.terraform|terraf~\d")
"""The tools' data folder: packages, modules, and where to look for either. Windows knows it by a short name too."""

_CONFIGURED_FOLDER = re.compile(r"terraform\.d|terraf~\d\.d")

_PROVISIONER = "terraform-provisioner-"
"""How the name of a program begins that the tools run when they are run in its folder, whatever its version says."""

_PERHAPS = re.compile(rf"\.terraform(?!\.lock\.hcl\Z)|terraform\.d|terraf~|{_PROVISIONER}", re.IGNORECASE)
"""A text that each such path contains, unless it has letters of other scripts; most paths are skipped by it."""

_MIRRORED = re.compile(
    r"""(?:\A|(?P<folder>.*)/)(?:
    [^/]+/[^/]+/[^/]+/  # host, namespace and type
        (?:[^/]+/[a-z0-9]+_[a-z0-9]+/terraform-provider-[^/]*  # unpacked, below version and platform
        |terraform-provider-[^/_]+_[^/]+\.zip)  # packed
    # a link in the place of an unpacked one
    |[^/.:]*[.:][^/]*/[^/]+/[^/]+/[^/]+/[a-z0-9]+_[a-z0-9]+
    |[^/]+/[^/]+/[^/]+/\d+\.\d+\.\d+[^/]*/(?:darwin|freebsd|linux|netbsd|openbsd|solaris|windows)_[a-z0-9]+
    )\Z""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""How both tools lay out packages in a mirror, in a plugin cache, and in a data folder of another name.

A host may be any word, such as localhost. A name that says nothing of a package counts only below one with a dot or a
port, or below a version if it is that of a platform.
"""

_PROGRAM = re.compile(r"terraform-provider-[\w-]+(?:_v\d.*)?(?:\.exe)?", re.IGNORECASE | re.DOTALL)
"""A program by itself: `dev_overrides` take it from a folder, and versions before lock files looked where they ran."""

_PERHAPS_PROGRAM = re.compile(r"terraform-provider-[\w-]+(?:[._].*)?", re.IGNORECASE | re.DOTALL)
"""All names that `dev_overrides` take for a program; many are those of texts, so that only a file counts that runs."""

_NAME_IN_MIRROR = re.compile(r"terraform-provider-.*|[a-z0-9]+_[a-z0-9]+", re.IGNORECASE | re.DOTALL)


def packages_folder(path: str) -> str | None:
    """Return the folder in which the tools, run there, take what a path holds for packages of their own, or None.

    They do so at and below `.terraform`, and at and below `terraform.d/plugins`; a link or a submodule may stand for
    either, or for `terraform.d`. A provisioner's program they run from the folder itself. Names are compared as the
    most generous disk does.
    """
    if path.isascii() and ("terraf" not in path.lower() or _PERHAPS.search(path) is None):
        return None
    parts = path.split("/")
    for number, part in enumerate(parts):
        name = folded(part)
        if _DATA_FOLDER.fullmatch(name) or (
            _CONFIGURED_FOLDER.fullmatch(name) and (number + 1 == len(parts) or folded(parts[number + 1]) == "plugins")
        ):
            return "/".join(parts[:number])
    return "/".join(parts[:-1]) if folded(parts[-1]).startswith(_PROVISIONER) else None


def mirror_folder(path: str) -> str | None:
    """Return the folder that the path of a package makes a mirror; None for other paths.

    The tools take packages from it where the user's settings name it: as a mirror, as the plugin cache, as the data
    folder (`providers` in `TF_DATA_DIR`), or for a program by itself in `dev_overrides`.
    """
    if _NAME_IN_MIRROR.fullmatch(path.rpartition("/")[2]) is None:
        return None
    found = _MIRRORED.match(path)
    if found is not None:
        return found["folder"] or ""
    return folder_of(path) if _PROGRAM.fullmatch(path.rpartition("/")[2]) is not None else None


def packages_by_folder(paths: Iterable[str], tree: Tree | None = None) -> dict[str, tuple[str, ...]]:
    """Return those paths that the tools take for packages, by the folder in which they are run, or the mirror.

    Args:
        paths: The paths of files and links.
        tree: The files. A program whose name has a suffix, such as `.sh`, counts if the file can be run there;
            None to leave such out.
    """
    found: dict[str, set[str]] = {}
    for path in paths:
        folder = packages_folder(path)
        folder = mirror_folder(path) if folder is None else folder
        if folder is None and tree is not None and _may_be_program(path) and _may_run(tree, path):
            folder = folder_of(path)
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
    now = links_of(head_tree, {*before, *brought})
    # A link that leads elsewhere now brings what is there, even if the link itself is as it was.
    moved = (link for link, target in before.items() if now.get(link, target) != target)
    paths = sorted({*brought, *moved})
    told = set(paths)
    # A link that the change brings is told of itself, whatever is behind it, unless its own name says nothing.
    standing = [link for link in now if (link not in told and _is_package(link)) or _leads_into_mirror(link)]
    names = sorted(now)
    behind = (_behind(link, now, names, paths, told) for link in standing)
    shown = [name for each in (*behind, _programs_behind(now, names, base_tree, paths, told)) for name in each]
    return packages_by_folder([*paths, *shown], head_tree)


def _programs_behind(
    links: Mapping[str, str], names: Sequence[str], base_tree: Tree, paths: Sequence[str], told: AbstractSet[str]
) -> Iterator[str]:
    """Yield what programs and packages are called through links whose own names say nothing of a mirror.

    Of a link that the change brings, these may be as the base has them.
    """
    changed = [path for path in paths if _may_be_program(path) and mirror_folder(path) is None]
    before = base_tree.files if isinstance(base_tree, ListedTree) else ()
    either = sorted({*changed, *(path for path in before if path not in told and _may_be_program(path))})
    for link in names if either else ():
        yield from _behind(link, links, names, either if link in told else changed, frozenset())


def _may_be_program(path: str) -> bool:
    return _PERHAPS_PROGRAM.fullmatch(path.rpartition("/")[2]) is not None


def _may_run(tree: Tree, path: str) -> bool:
    """True if the system may run a file of a tree; it may do so with whatever cannot be found."""
    return not isinstance(tree, ListedTree | WorkTree) or tree.may_run(path)


def _is_package(path: str) -> bool:
    return packages_folder(path) is not None or mirror_folder(path) is not None


def _leads_into_mirror(link: str) -> bool:
    """True if a link may stand for a version, a type or a namespace in a mirror."""
    return any(mirror_folder(link + rest) is not None for rest in ("/0_0", "/0/0_0", "/0/0/0_0"))


def links_of(tree: Tree, perhaps: Iterable[str]) -> dict[str, str]:
    """Return the links of a tree, and what is behind each; on disk, those of some paths that are links."""
    if isinstance(tree, ListedTree):
        return tree.links(even_to_nothing=True)
    if not isinstance(tree, WorkTree):
        return {}
    # Nothing is opened: only the links on the way are read.
    found = ((path, tree.behind_link(path)) for path in perhaps)
    return {path: target for path, target in found if target is not None}


def _behind(
    link: str, links: Mapping[str, str], names: Sequence[str], paths: Sequence[str], told: AbstractSet[str]
) -> Iterator[str]:
    """Yield what some paths are called through a link, and through the links in what is behind it.

    Args:
        link: The link.
        links: All links, and what is behind each.
        names: All links, in order.
        paths: The paths, in order.
        told: The same paths.
    """
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
