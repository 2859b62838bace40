"""Lock files that are written anew, as `init` and `lock` do it: what becomes of their entries, and the planned file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.lockfile.model import differing
from locklens.project.roots import LOCK_FILE
from locklens.workspace.planning import Change
from locklens.workspace.proposal import PlannedFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locklens.lockfile.model import LockEntry
    from locklens.workspace.found import Root


def path_below(top: Path, folder: Path) -> str:
    """Returns what a root's folder is called in a plan: relative to the top of what may be written, "" for the top."""
    path = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    return "" if path == "." else path


def planned_lock(root: Root, path: str, data: bytes) -> PlannedFile:
    """Returns a root's lock file as it is to be written, the way the tools do it.

    Args:
        root: As it was read.
        path: What its folder is called in the plan.
        data: What is to be there.
    """
    name = f"{path}/{LOCK_FILE}" if path else LOCK_FILE
    return PlannedFile(name, root.lock.data if root.lock.exists else None, data, is_tools=True)


def changes(root: Root, path: str, after: Sequence[LockEntry]) -> tuple[Change, ...]:
    """Returns what becomes of each provider; arguments as of `planned_lock`."""
    before, left = root.lock.by_address, {entry.address for entry in after}
    moved = {new: old for old, new in root.migration.moved if new in left and old not in left}
    found = []
    for address, old, new in differing(root.lock, replace(root.lock, entries=tuple(after))):
        if address in moved:
            source = moved[address]
            found.append(Change(path, address, root.name_of(address), before[source], new, moved_from=source))
        elif address not in moved.values():
            found.append(Change(path, address, root.name_of(address), old, new))
    return tuple(found)
