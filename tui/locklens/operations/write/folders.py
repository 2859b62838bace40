"""Replaces folders of packages in one step each: the old folder is kept aside, and comes back by undo.

A folder is renamed and never written into: where a link to a plugin cache is in its place, the link is moved, and what
it leads to stays untouched. A write that was interrupted is reverted.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, StaleLockFileError
from locklens.packages.installed import h1_of_folder
from locklens.storage.files import is_within, sync_folder
from locklens.storage.journal import MovedFolder
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.storage.journal import Record

ABSENT = "nothing"
"""The state of a place where nothing is."""


def state_of(place: str) -> str:
    """Return what is at a place: its `h1`, ABSENT, or why it has none."""
    if not os.path.lexists(place):
        return ABSENT
    try:
        return h1_of_folder(Path(place))
    except (OSError, ValueError) as error:
        return f"no h1: {reason_of(error) if isinstance(error, OSError) else error}"


def real_place(folder: MovedFolder) -> MovedFolder:
    """Return a folder with its places without links in them; a link in the last one's place is kept.

    Raises:
        ConfigurationError: A place leads out of the folder that it has to stay in, or into git's.
    """
    base = os.path.realpath(folder.base)
    names = {"place": folder.place, "aside": folder.aside, "source": folder.source if folder.takes_source else ""}
    real = {}
    for name, place in names.items():
        if not place:
            continue
        parent = os.path.realpath(os.path.dirname(place))  # noqa: PTH120
        if not is_within(base, parent) or ".git" in Path(parent).parts:
            hint = "locklens moves no folder outside of the repository, the plugin cache and the mirror"
            raise ConfigurationError(f"leads out of {base}, to {parent}", path=place, hint=hint)
        real[name] = os.path.join(parent, os.path.basename(place))  # noqa: PTH118, PTH119
    return MovedFolder(
        real["place"],
        folder.old,
        folder.new,
        base,
        real.get("aside", ""),
        real.get("source", folder.source),
        takes_source=folder.takes_source,
    )


def require_as_planned(folders: Iterable[MovedFolder]) -> None:
    """Require that each place is as it was when the plan was made.

    Raises:
        StaleLockFileError: One is not.
    """
    for folder in folders:
        expected = [(folder.place, folder.old)]
        expected += [(folder.source, folder.new)] if folder.source else []
        expected += [(folder.aside, ABSENT)] if folder.aside else []
        for place, state in expected:
            if state_of(place) != state:
                hint = "nothing was moved; run it again"
                raise StaleLockFileError("changed on disk since it was looked at", path=place, hint=hint)


def move(record: Record) -> None:
    """Put the folders of a record in place, or none.

    Raises:
        ConfigurationError: It cannot be done; everything is as before.
        StaleLockFileError: A folder changed since the plan was made.
    """
    require_as_planned(record.folders)
    try:
        for folder in record.folders:
            _stage(record, folder)
        for folder in record.folders:
            _put(record, folder)
    except BaseException as error:
        revert(record)
        if isinstance(error, OSError):
            words = f"cannot be replaced: {reason_of(error)}"
            raise ConfigurationError(words, path=record.folders[0].place, hint="nothing was moved") from error
        raise
    for folder in record.folders:
        shutil.rmtree(_name(record, folder, "old"), ignore_errors=True)  # a copy that an earlier write made


def revert(record: Record) -> None:
    """Bring every folder of a record back that was moved; what is in place already stays."""
    for folder in reversed(record.folders):
        staged, kept = _name(record, folder, "new"), folder.aside or _name(record, folder, "old")
        is_moved = os.path.lexists(kept) if folder.old != ABSENT else state_of(folder.place) == folder.new
        if is_moved:
            if os.path.lexists(folder.place):
                os.rename(folder.place, folder.source if folder.takes_source else staged)  # noqa: PTH104
            if folder.old != ABSENT:
                os.rename(kept, folder.place)  # noqa: PTH104
        shutil.rmtree(staged, ignore_errors=True)


def reversed_folder(folder: MovedFolder) -> MovedFolder:
    """Return the move that reverts one: what was put there is removed or goes back, and what was aside comes back."""
    back = folder.source if folder.takes_source else ""
    return MovedFolder(
        folder.place, folder.new, folder.old, folder.base, back, folder.aside, takes_source=bool(folder.aside)
    )


def _name(record: Record, folder: MovedFolder, what: str) -> str:
    parent = os.path.dirname(folder.place)  # noqa: PTH120
    return os.path.join(parent, f".locklens-{record.id}-{record.folders.index(folder)}-{what}")  # noqa: PTH118


def _stage(record: Record, folder: MovedFolder) -> None:
    """Copy what is to be put in place beside it, and check the copy."""
    os.makedirs(os.path.dirname(folder.place), exist_ok=True)  # noqa: PTH103, PTH120
    if not folder.source or folder.takes_source:
        return
    staged = _name(record, folder, "new")
    try:
        shutil.copytree(os.path.realpath(folder.source), staged, symlinks=True)
    except shutil.Error as error:
        raise OSError(0, f"the copy failed at {error.args[0][0][0]}") from error
    if state_of(staged) != folder.new:
        raise StaleLockFileError("changed while it was copied", path=folder.source, hint="nothing was moved")


def _put(record: Record, folder: MovedFolder) -> None:
    if folder.old != ABSENT:
        os.rename(folder.place, folder.aside or _name(record, folder, "old"))  # noqa: PTH104
    if folder.source:
        os.rename(folder.source if folder.takes_source else _name(record, folder, "new"), folder.place)  # noqa: PTH104
    with suppress(OSError):
        sync_folder(Path(folder.place).parent)
