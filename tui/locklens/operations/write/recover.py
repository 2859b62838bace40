"""Replaces folders of packages in one step each, and completes or reverts a write that was interrupted.

A folder is renamed and never written into: where a link to a plugin cache is in its place, the link is moved, and what
it leads to stays untouched. The old folder is kept aside, and undo brings it back. Every run looks for an interrupted
write at its start.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, StaleLockFileError
from locklens.storage.files import is_below, is_within, sync_folder
from locklens.storage.journal import Journal, MovedFolder, Record, WrittenFile, current, put_in_place, temporary
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable


ABSENT = "nothing"
"""The state of an empty place."""


def state_of(place: str) -> str:
    """Return what is at a place: its `h1`, ABSENT, or why it has none."""
    if not os.path.lexists(place):
        return ABSENT
    from locklens.packages.installed import h1_of_folder  # Every run looks for an interrupted write; few find one.

    try:
        return h1_of_folder(Path(place))
    except (OSError, ValueError) as error:
        return f"no h1: {reason_of(error)}"


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
                in_its_place = "nothing was moved; something is in its place now: move that away first"
                hint = in_its_place if state == ABSENT else "nothing was moved; run it again"
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
    """Move every folder of a record back that was moved; what is in place already stays."""
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


_ELSEWHERE = object()


def recover_at(folder: Path, *, journal: Journal | None = None) -> tuple[str, ...]:
    """Recover interrupted writes in the repository of the folder that a run works in, and in repositories below it.

    Returns sentences about each; () where nothing was interrupted, or the other run is still active.
    """
    journal = journal or Journal()
    here = os.path.realpath(folder)
    messages: list[str] = []
    try:
        for top in journal.unfinished():
            if is_within(here, str(top)) or (is_within(str(top), here) and _is_top_of(top, folder)):
                messages += _recover(top, journal)
            elif is_within(str(top), here):
                messages.append(
                    f"an interrupted write in {top} was left untouched: run locklens there to complete or revert it"
                )
    except ConfigurationError as error:
        messages.append(error.sentence)
    return tuple(messages)


def _is_top_of(top: Path, folder: Path) -> bool:
    """True if a folder is the top folder that is written in for another one."""
    from locklens.operations.root_modules import enclosing

    return enclosing(folder, [folder]) == top


def _recover(top: Path, journal: Journal) -> tuple[str, ...]:
    try:
        with journal.held(top, wait=0) as is_held:
            record = journal.pending(top) if is_held else None
            return () if record is None else (_settle(record, top, journal),)
    except OSError as error:
        reason = reason_of(error)
        return (f"an interrupted write in {top} can be neither completed nor reverted: {reason}",)


def _settle(record: Record, top: Path, journal: Journal) -> str:
    """Complete a write if some files are written and the others untouched, else revert it; return a sentence."""
    lead = f"an interrupted write ({record.shown})"
    if record.folders:
        return _bring_back(record, top, journal, lead)
    if not _stays_below(record, top):
        where = f"it would write outside of {top}; remove {journal.place(top)}"
        return f"{lead} was left untouched: {where}"
    now = {file: _now(file) for file in record.files}
    for file in record.files:
        if now[file] is not _ELSEWHERE:
            Path(temporary(record, file)).unlink(missing_ok=True)
    written = [file for file in record.files if now[file] == file.new]
    touched = [file for file in record.files if now[file] not in (file.old, file.new)]
    if not written and not touched:
        journal.discard(top)
        return f"{lead} had changed no file, and was discarded"
    if not written:
        journal.discard(top)
        names = _names(touched, top)
        return f"{lead} can be neither completed nor reverted, because {names} changed since"
    if all(now[file] not in (file.old, _ELSEWHERE) for file in record.files if file.old != file.new):
        # The last file was written too: later changes are the user's own.
        journal.finish(top)
        return f"{lead} was completed: {_names(record.files, top)}"
    if not touched:
        for file in record.files:
            if now[file] != file.new:
                put_in_place(file, file.new, temporary(record, file))
        journal.finish(top)
        return f"{lead} was completed: {_names(record.files, top)}"
    for file in written:
        put_in_place(file, file.old, temporary(record, file))
    journal.discard(top)
    return f"{lead} was reverted in {_names(written, top)}, because {_names(touched, top)} changed since"


def _bring_back(record: Record, top: Path, journal: Journal, lead: str) -> str:
    """Revert a write of folders, however far it got; return a sentence."""
    places = ", ".join(folder.place for folder in record.folders)
    try:
        is_own = os.fsdecode(record.top) == str(top) and record.id.isalnum()
        if not is_own or any(real_place(folder) != folder for folder in record.folders):
            return f"{lead} was left untouched: {places} lead elsewhere now; remove {journal.place(top)}"
        revert(record)
    except ConfigurationError as error:
        return f"{lead} was left untouched: {error}; remove {journal.place(top)}"
    journal.discard(top)
    return f"{lead} was reverted: {places}"


def _stays_below(record: Record, top: Path) -> bool:
    """True if a record belongs to the repository that it is kept for, and has only places below its top."""
    folder = str(top)
    return (
        os.fsdecode(record.top) == folder == os.path.realpath(folder)
        and record.id.isalnum()
        and all(file.path == os.path.normpath(file.path) and is_below(folder, file.path) for file in record.files)
    )


def _now(file: WrittenFile) -> object:
    """Return the bytes at a file's place, None for no file, _ELSEWHERE where a link now leads to another place."""
    folder = os.path.dirname(file.path)  # noqa: PTH120
    return current(file) if os.path.realpath(folder) == folder else _ELSEWHERE


def _names(files: tuple[WrittenFile, ...] | list[WrittenFile], top: Path) -> str:
    return ", ".join(os.path.relpath(file.path, top) for file in files)
