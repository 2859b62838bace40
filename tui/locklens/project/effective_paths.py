"""Paths in a repository that have an effect by where they are, whatever they contain.

Some file systems take two names for one file that git keeps apart: those of macOS and Windows usually ignore case; the
former normalise names too, and the latter know short names. From other places both tools take packages without asking
a registry.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

from locklens.nfc import CombiningSequenceError, check_combining
from locklens.project.gittree import ListedTree
from locklens.project.touched_roots import TEST_SUFFIXES, is_configuration, is_named_state, is_values
from locklens.project.tree import MAX_LINK_BYTES, Tree, WorkTree, folder_of, name_bytes, name_of, upwards

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

_IGNORED_BY_HFS = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
"""Characters without a width, which macOS's older file system leaves out when it compares names."""

_SHORT_NAMES = {
    ".terraform.lock.hcl": r"te(?:rraf|[0-9a-f]{4})~\d\.hcl",
    ".gitattributes": r"gi(?:tatt|7d29)~\d",
    "terraform.tfstate": r"te(?:rraf|[0-9a-f]{4})~\d\.tfs",
    "terraform.tfvars": r"te(?:rraf|[0-9a-f]{4})~\d\.tfv",
    "terraform.tfvars.json": r"te(?:rraf|[0-9a-f]{4})~\d\.jso",
}
"""Files that git or the tools open by name, each with the pattern of its 8.3 names. Other files are found by listing a
folder, so that their names are compared."""

_NAMED = tuple(_SHORT_NAMES)
_OF_SHORT = "|".join(f"({form})" for form in _SHORT_NAMES.values())

_WORKSPACES, _TESTS = "terraform.tfstate.d", "tests"

_SHORT = re.compile(r"(?P<start>[^/~]{1,6})~\d(?:\.[^/.]{1,3})?")
"""A Windows short (8.3) name: the first letters of the long one, ~ and a digit."""

_SHORT_PREFIX = 2
"""Every short name begins with at least so many letters of its long one."""

_DATA_FOLDER = re.compile(r"\.terraform|terraf~\d")
"""The tools' data folder: packages, modules, and where to look for either. Windows knows it by a short name too."""

_CONFIGURED_FOLDER = re.compile(r"terraform\.d|terraf~\d\.d")
_PROVISIONER = "terraform-provisioner-"
"""Prefix of the programs that the tools run from their working directory, whatever version the name has."""

_PERHAPS = re.compile(rf"\.terraform(?!\.lock\.hcl\Z)|terraform\.d|terraf~|{_PROVISIONER}", re.IGNORECASE)
"""Matches every such ASCII path, and rules out most others cheaply."""

_MIRRORED = r"""(?isx)(?:\A|(?P<folder>.*)/)(?:
    [^/]+/[^/]+/[^/]+/  # host, namespace and type
        (?:[^/]+/[a-z0-9]+_[a-z0-9]+/terraform-provider-[^/]*  # unpacked, below version and platform
        |terraform-provider-[^/_]+_[^/]+\.zip)  # packed
    # a link in the place of an unpacked one
    |[^/.:]*[.:][^/]*/[^/]+/[^/]+/[^/]+/[a-z0-9]+_[a-z0-9]+
    |[^/]+/[^/]+/[^/]+/\d+\.\d+\.\d+[^/]*/(?:darwin|freebsd|linux|netbsd|openbsd|solaris|windows)_[a-z0-9]+
    )\Z"""
"""How both tools lay out packages in a mirror, in a plugin cache, and in a data folder of another name.

A host may be any word, such as localhost. A name that does not look like a package's counts only below a host with
a dot or a port, or below a version if it is that of a platform.
"""

_PROGRAM = r"(?is)terraform-provider-[\w-]+(?:_v\d.*)?(?:\.exe)?"
"""A single program: `dev_overrides` take it from a folder, and versions before lock files looked where they ran."""

_PERHAPS_PROGRAM = re.compile(r"terraform-provider-[\w-]+(?:[._].*)?", re.IGNORECASE | re.DOTALL)
"""All names that `dev_overrides` take for a program; many text files have such names, so that only executable files
count."""

_NAME_IN_MIRROR = re.compile(r"terraform-provider-.*|[a-z0-9]+_[a-z0-9]+", re.IGNORECASE | re.DOTALL)


def folded(name: str) -> str:
    """Return the form that a name shares with every spelling that some file system takes for the same name."""
    if name.isascii():
        return name.lower().rstrip(" .")
    try:
        check_combining(name)
        name = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name.translate(_IGNORED_BY_HFS)).casefold())
    except CombiningSequenceError:
        name = name.casefold()  # no file system keeps so many as they are, and no other name is like it
    return name.rstrip(" .")


def other_spellings(brought: Iterable[str], there: Iterable[str], always_read: Collection[str]) -> dict[str, str]:
    """Return the paths of a change that some file system takes for another path, each with that path.

    These are files that are read by name, whatever lies beside them, and files and folders that have another spelling
    in the same tree, as far as the tools read them. Those of `always_read` matter whatever their name is: links,
    submodules, and states.
    """
    found: dict[str, str] = {}
    candidates = []
    for path in brought:
        usual = _usual_path(path)
        if usual is not None:
            found[path] = usual
        elif path in always_read or is_read(path):
            candidates.append(path)
    if candidates:
        found.update(_colliding(candidates, [*there, *candidates]))
    return found


def _usual_path(path: str) -> str | None:
    """Return the path that git or the tools open for a path, where some file system takes both for one; else None."""
    parts = path.split("/")
    usual = [_WORKSPACES if part != _WORKSPACES and folded(part) == _WORKSPACES else part for part in parts]
    if len(parts) > 1 and parts[-2] != _TESTS and folded(parts[-2]) == _TESTS and path.endswith(TEST_SUFFIXES):
        usual[-2] = _TESTS
    usual[-1] = _usual_name(parts[-1])
    return "/".join(usual) if usual != parts else None


def _usual_name(name: str) -> str:
    form = folded(name.partition(":")[0])  # after a colon, a stream of the file
    if form in _NAMED:
        return form
    short = re.fullmatch(_OF_SHORT, form) if "~" in form else None
    return _NAMED[(short.lastindex or 1) - 1] if short is not None else name


def spellings_of_named(brought: Iterable[str], modules: Iterable[str], states: Iterable[str]) -> dict[str, str]:
    """Return the paths of a change that some file system takes for a place of the configuration, each with that place.

    Unlike the paths of `other_spellings`, these places need not be in the tree: folders that are called as modules,
    files of states, and folders of workspaces.
    """
    of_modules, of_states = _by_form(modules), _by_form(states)
    places = [place for forms in (of_modules, of_states) for named in forms.values() for place in named]
    above = _by_form({part for place in places for part in _upwards(folder_of(place))})
    found: dict[str, str] = {}
    for path in brought:
        # A link or a submodule may be in the place of the folder itself, or of one above it.
        looked_up = [(path, of_modules), (folder_of(path), of_modules), (path, above)]
        looked_up += [(part, of_states) for part in _upwards(path)]
        others = ((one, part) for part, forms in looked_up for one in forms.get(_folded_path(part), ()) if one != part)
        if (other := min(others, default=None)) is not None:
            place, part = other
            found[path] = place + path[len(part) :]
    return found


def _by_form(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(_folded_path(path), []).append(path)
    return found


def is_read(path: str) -> bool:
    """True if a path has, in some spelling, the name of a file that the tools read."""
    name = folded(name_of(path))
    return is_configuration(name) or is_values(name) or is_named_state(name) or name in _NAMED


def _colliding(paths: Iterable[str], there: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each path that collides with another spelling, with the path in that spelling."""
    parts = {part: _folded_path(part) for path in paths for part in _upwards(path)}
    wanted = set(parts.values())
    short = {folder_of(part) for part in parts if _SHORT.fullmatch(name_of(part))}
    spellings: dict[str, list[str]] = {}
    beside: dict[str, list[str]] = {}
    seen: set[str] = set()
    for path in there:
        for part in _upwards(path):
            if part in seen:
                break
            seen.add(part)
            if (form := _folded_path(part)) in wanted:
                spellings.setdefault(form, []).append(part)
            if short and (folder := folder_of(part)) in short:
                beside.setdefault(folder, []).append(part)
    for path in paths:
        for part in _upwards(path):
            others = [one for one in spellings.get(parts[part], ()) if one != part]
            others += [one for one in beside.get(folder_of(part), ()) if one != part and _is_short_for(part, one)]
            if others:
                yield path, min(others) + path[len(part) :]
                break


def _is_short_for(short: str, long: str) -> bool:
    """True if Windows may call a path of the same folder by a short name; it numbers those that begin alike."""
    found = _SHORT.fullmatch(name_of(short))
    name = name_of(long)
    is_long = len(name.partition(".")[0]) > 8 or len(name.rpartition(".")[2]) > 3 or not name.isascii()
    return found is not None and is_long and folded(name)[:_SHORT_PREFIX] == folded(found["start"])[:_SHORT_PREFIX]


def _folded_path(path: str) -> str:
    if path.isascii() and " /" not in path and "./" not in path:
        return path.lower().rstrip(" .")
    return "/".join(map(folded, path.split("/")))


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = folder_of(path)


def packages_folder(path: str) -> str | None:
    """Return the folder from which the tools, run there, would use this path as packages; None if there is none.

    They do so at and below `.terraform`, and at and below `terraform.d/plugins`; a link or a submodule may stand for
    either, or for `terraform.d`. Provisioners are run from the folder itself. Names are compared as
    by the file system that distinguishes least.
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


_WORKING_DATA = {
    "environment": "which selects the workspace",
    "modules": "where the tools read modules",
    "terraform.tfstate": "which names the backend",
}
"""What the tools keep in a data folder besides packages, and the effect of each."""


def working_data(path: str) -> str:
    """Return the effect of a path of `packages_folder` that holds no packages, a clause; "" for packages."""
    parts = path.split("/")
    number = next((number for number, part in enumerate(parts) if _DATA_FOLDER.fullmatch(folded(part))), len(parts))
    kept = parts[number + 1 :]
    if not kept or packages_folder("/".join(kept)) is not None or mirror_folder(path) is not None:
        return ""
    return _WORKING_DATA.get(folded(kept[0]), "")


def mirror_folder(path: str) -> str | None:
    """Return the folder that the path of a package makes a mirror; None for other paths.

    The tools take packages from it where the user's settings name it: as a mirror, as the plugin cache, as the data
    folder (`providers` in `TF_DATA_DIR`), or for a single program in `dev_overrides`.
    """
    if _NAME_IN_MIRROR.fullmatch(name_of(path)) is None:
        return None
    found = re.match(_MIRRORED, path)  # Few paths come here, and this takes a millisecond to compile.
    if found is not None:
        return found["folder"] or ""
    return folder_of(path) if re.fullmatch(_PROGRAM, name_of(path)) is not None else None


def packages_by_folder(paths: Iterable[str], tree: Tree | None = None) -> dict[str, tuple[str, ...]]:
    """Return those paths that the tools take for packages, by the folder in which they are run, or the mirror.

    A program whose name has a suffix, such as `.sh`, counts if the file can be run in the tree; without one it does
    not.
    """
    found: dict[str, set[str]] = {}
    for path in paths:
        folder = packages_folder(path)
        folder = mirror_folder(path) if folder is None else folder
        if folder is None and tree is not None and may_be_program(path):
            # A tree that cannot say whether a file may run counts as one where it may.
            may_run = not isinstance(tree, ListedTree | WorkTree) or tree.may_run(path)
            folder = folder_of(path) if may_run else None
        if folder is not None:
            found.setdefault(folder, set()).add(path)
    return {folder: tuple(sorted(found[folder], key=name_bytes)) for folder in sorted(found, key=name_bytes)}


def brought_packages(base_tree: Tree, head_tree: Tree, brought: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what a change adds that the tools take for packages, by the folder in which they are run, or the mirror.

    `brought` are the paths of all files, links and submodules that the change adds or modifies.
    """
    before = base_tree.links(even_to_nothing=True) if isinstance(base_tree, ListedTree) else {}
    now = links_of(head_tree, {*before, *brought})
    # A link that leads elsewhere now adds what is there, even if the link itself is unchanged.
    moved = (link for link, target in before.items() if now.get(link, target) != target)
    paths = sorted({*brought, *moved})
    reported = set(paths)
    # A link that the change adds is reported as itself, whatever it leads to, unless its own name does not look like
    # part of a mirror.
    standing = [link for link in now if (link not in reported and _is_package(link)) or _leads_into_mirror(link)]
    names = sorted(now)
    behind = (_behind(link, now, names, paths, reported) for link in standing)
    shown = [name for each in (*behind, _programs_behind(now, names, base_tree, paths, reported)) for name in each]
    return packages_by_folder([*paths, *shown], head_tree)


def _programs_behind(
    links: Mapping[str, str], names: Sequence[str], base_tree: Tree, paths: Sequence[str], reported: AbstractSet[str]
) -> Iterator[str]:
    """Yield the names of programs and packages behind links whose own names do not look like part of a mirror.

    Behind a link that the change adds, files count even if they are unchanged.
    """
    changed = [path for path in paths if may_be_program(path) and mirror_folder(path) is None]
    before = base_tree.files if isinstance(base_tree, ListedTree) else ()
    either = sorted({*changed, *(path for path in before if path not in reported and may_be_program(path))})
    for link in names if either else ():
        yield from _behind(link, links, names, either if link in reported else changed, frozenset())


def may_be_program(path: str) -> bool:
    """True if a file has the name of a provider's program, whatever follows it."""
    return _PERHAPS_PROGRAM.fullmatch(name_of(path)) is not None


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
    link: str, links: Mapping[str, str], names: Sequence[str], paths: Sequence[str], reported: AbstractSet[str]
) -> Iterator[str]:
    """Yield the names that paths have when reached through a link, and through further links behind it.

    The names of all links, and the paths, are in order; `reported` are the same paths.
    """
    todo, seen = [(link, links[link])], set[str]()
    while todo:
        name, target = todo.pop()
        if target not in seen and len(name) <= MAX_LINK_BYTES:  # no system opens a longer name
            seen.add(target)
            if any(above in reported for above in upwards(target) if above != target):  # a submodule or a link there
                yield name
            yield from (_renamed(path, target, name) for path in _below(paths, target))
            todo += [(_renamed(each, target, name), links[each]) for each in _below(names, target)]


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
