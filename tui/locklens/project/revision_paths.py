"""Paths from the top of a repository, and names of files in git, `REV:PATH`, as git reads them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from locklens.project.tree import normalise, path_in

if TYPE_CHECKING:
    from pathlib import Path


def path_below_top(top: str, place: str) -> str | None:
    """Return a POSIX path relative to a folder, None where the place is not in it."""
    if place == top:
        return ""
    prefix = top if top.endswith(os.sep) else top + os.sep
    return place[len(prefix) :].replace(os.sep, "/") if place.startswith(prefix) else None


def split_revision(name: str) -> tuple[str | None, str]:
    """Split `REV:PATH` at the first colon outside of braces, as git does; (None, name) without one.

    An empty revision is the index. A path that begins with a slash, `./` or `../` is a file: no revision begins so.
    """
    if name.startswith(("/", "./", "../")):
        return None, name
    if os.name == "nt" and name[1:2] == ":" and name[:1].isalpha():
        return None, name
    depth = 0
    for position, character in enumerate(name):
        depth += (character == "{") - (character == "}")
        if character == ":" and depth <= 0:
            return name[:position], name[position + 1 :]
    return None, name


def path_from_top(path: str, top: Path, folder: Path) -> str | None:
    """Return the path of `REV:PATH` from the top of the repository; None for one outside of it.

    It is one from there already, unless it begins with `./` or `../`: then it starts at a folder of the repository.
    """
    if path.startswith(("./", "../")):
        below = path_below_top(os.path.realpath(top), os.path.realpath(folder))
        path = path_in(below or "", path)
    return normalise(path)
