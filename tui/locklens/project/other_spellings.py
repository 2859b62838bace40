"""Paths of files that are read, as some disks spell them: there, one file stands for two that git tells apart.

The usual disks of macOS and Windows ignore case; the former normalise names too, and the latter know short names.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from locklens.nfc import CombiningSequenceError, check_combining
from locklens.project.touched_roots import TEST_SUFFIXES, is_configuration, is_named_state, is_values
from locklens.project.tree import folder_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_IGNORED_BY_HFS = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
"""Characters without a width, which macOS's older file system leaves out when it compares names."""

_NAMED = (".terraform.lock.hcl", ".gitattributes", "terraform.tfstate", "terraform.tfvars", "terraform.tfvars.json")
"""Files that git or the tools open by name: of others, they list a folder, and compare the names themselves."""

_SHORT_NAMES = {
    ".terraform.lock.hcl": r"te(?:rraf|[0-9a-f]{4})~\d\.hcl",
    ".gitattributes": r"gi(?:tatt|7d29)~\d",
    "terraform.tfstate": r"te(?:rraf|[0-9a-f]{4})~\d\.tfs",
    "terraform.tfvars": r"te(?:rraf|[0-9a-f]{4})~\d\.tfv",
    "terraform.tfvars.json": r"te(?:rraf|[0-9a-f]{4})~\d\.jso",
}
"""Their names on Windows."""

_OF_SHORT = re.compile("|".join(f"({_SHORT_NAMES[name]})" for name in _NAMED))

_WORKSPACES, _TESTS = "terraform.tfstate.d", "tests"

_SHORT = re.compile(r"(?P<start>[^/~]{1,6})~\d(?:\.[^/.]{1,3})?")
"""The form of Windows' short name for a longer one, whose first letters it begins with."""

_KEPT = 2
"""Letters of a long name that each of its short names begins with."""


def folded(name: str) -> str:
    """Return what all spellings of a name have in common that some disk takes for one name."""
    if name.isascii():
        return name.lower().rstrip(" .")
    try:
        check_combining(name)
        name = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name.translate(_IGNORED_BY_HFS)).casefold())
    except CombiningSequenceError:
        name = name.casefold()  # no disk keeps so many as they are, and no other name is like it
    return name.rstrip(" .")


def other_spellings(brought: Iterable[str], there: Iterable[str], read: Collection[str]) -> dict[str, str]:
    """Return the paths of a change that some disk takes for another path, with that one.

    These are files that are read by name, whatever lies beside them, and files and folders that have another spelling
    in the same tree, as far as the tools read them.

    Args:
        brought: Paths of what the change adds or modifies.
        there: Path of each file of the new side.
        read: Those of `brought` that matter whatever their name is: links, submodules, and states.
    """
    found: dict[str, str] = {}
    candidates = []
    for path in brought:
        usual = _usual_path(path)
        if usual is not None:
            found[path] = usual
        elif path in read or is_read(path):
            candidates.append(path)
    if candidates:
        found.update(_colliding(candidates, [*there, *candidates]))
    return found


def _usual_path(path: str) -> str | None:
    """Return the path that git or the tools open, where some disk takes another one for it; None for no such path."""
    parts = path.split("/")
    usual = [_WORKSPACES if part != _WORKSPACES and folded(part) == _WORKSPACES else part for part in parts]
    if len(parts) > 1 and parts[-2] != _TESTS and folded(parts[-2]) == _TESTS and path.endswith(TEST_SUFFIXES):
        usual[-2] = _TESTS
    usual[-1] = _usual_name(parts[-1])
    return "/".join(usual) if usual != parts else None


def _usual_name(name: str) -> str:
    form = folded(name.partition(":")[0])  # behind a colon, a stream of the file
    if form in _NAMED:
        return form
    short = _OF_SHORT.fullmatch(form)
    return _NAMED[(short.lastindex or 1) - 1] if short is not None else name


def spellings_of_named(brought: Iterable[str], modules: Iterable[str], states: Iterable[str]) -> dict[str, str]:
    """Return the paths of a change that some disk takes for a place that the configuration names, with that place.

    Unlike the paths of `other_spellings`, these places need not be in the tree.

    Args:
        brought: Paths of what the change adds or modifies, as far as the tools read it.
        modules: Folders that are called as modules.
        states: Files of states, and folders of workspaces.
    """
    of_modules, of_states = _by_form(modules), _by_form(states)
    places = [place for forms in (of_modules, of_states) for named in forms.values() for place in named]
    above = _by_form({part for place in places for part in _upwards(folder_of(place))})
    found: dict[str, str] = {}
    for path in brought:
        # A link or a submodule may stand in the place of the folder itself, or of one above it.
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
    name = folded(path.rpartition("/")[2])
    return is_configuration(name) or is_values(name) or is_named_state(name) or name in _NAMED


def _colliding(paths: Iterable[str], there: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each path of which a part has another spelling, with the path that results from that one."""
    parts = {part: _folded_path(part) for path in paths for part in _upwards(path)}
    wanted = set(parts.values())
    short = {folder_of(part) for part in parts if _SHORT.fullmatch(part.rpartition("/")[2])}
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
    found = _SHORT.fullmatch(short.rpartition("/")[2])
    name = long.rpartition("/")[2]
    is_long = len(name.partition(".")[0]) > 8 or len(name.rpartition(".")[2]) > 3 or not name.isascii()
    return found is not None and is_long and folded(name)[:_KEPT] == folded(found["start"])[:_KEPT]


def _folded_path(path: str) -> str:
    if path.isascii() and " /" not in path and "./" not in path:
        return path.lower().rstrip(" .")
    return "/".join(map(folded, path.split("/")))


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = folder_of(path)
