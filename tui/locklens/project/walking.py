"""The folders below a folder, however deep: `os.walk` of Python 3.11 calls itself for each, and ends in a thousand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class WalkedFolder(Struct, frozen=True):
    """A folder that was listed.

    Attributes:
        path: Relative to where the walk began, with slashes; "" for that itself.
        files: The names in it that are no folders and no links to folders, in order.
        error: Why its names are not known; None where they are.
    """

    path: str
    files: tuple[str, ...] = ()
    error: OSError | None = None


class TooManyFoldersError(Exception):
    """There are more folders than a walk lists."""


def walk(top: str, *, most: int, enters: Callable[[str, str], bool]) -> Iterator[WalkedFolder]:
    """Yield a folder and those below it, each before those in it; links to folders are not followed.

    Args:
        top: Where to begin.
        most: How many folders are listed.
        enters: Called with a folder's place and the name of one in it; returns True if that one is listed too.

    Raises:
        TooManyFoldersError: There are more.
    """
    waiting, found = [""], 1
    while waiting:
        path = waiting.pop()
        place = os.path.join(top, path)  # noqa: PTH118
        try:
            folders, files = _names(place)
        except OSError as error:
            yield WalkedFolder(path, error=error)
            continue
        yield WalkedFolder(path, tuple(files))
        entered = [f"{path}/{name}" if path else name for name in reversed(folders) if enters(place, name)]
        found += len(entered)
        if found > most:
            raise TooManyFoldersError
        waiting += entered


def _names(place: str) -> tuple[list[str], list[str]]:
    """Return the names of a folder's folders, and of its files, in order."""
    folders, files = [], []
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif not _is_folder(entry):
                files.append(entry.name)
    return sorted(folders), sorted(files)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that nobody can follow is a name like any other
