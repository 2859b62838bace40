"""Completes or reverts a write that was interrupted between two files; every run looks for one at its start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError
from locklens.operations.write.folders import real_place, revert
from locklens.storage.files import is_below, is_within
from locklens.storage.journal import Journal, current, put_in_place, temporary
from locklens.text import reason_of

if TYPE_CHECKING:
    from locklens.storage.journal import Record, WrittenFile


_ELSEWHERE = object()


def recover_at(folder: Path, *, journal: Journal | None = None) -> tuple[str, ...]:
    """Recover interrupted writes in the repository of a folder, and in repositories below it.

    Args:
        folder: The folder that the run works in.
        journal: The records; None for the user's own.

    Returns:
        Sentences about each; () where nothing was interrupted, or the other run is still active.
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
    """Complete a write if some files are written and the others untouched, else reverts it; return a sentence."""
    lead = f"an interrupted write ({record.command})"
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
        return f"{lead} can be neither completed nor reverted, because {names} changed since: see git diff"
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
    """Revert a write of folders, whatever was done of it; return a sentence."""
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
