"""Operations that the user can request; each plans its own write, and only `apply` writes.

A planned write goes to disk, or into git's index; nothing else changes the user's files. Every file is the old or the
new one, byte for byte, at every moment. A journal keeps several files consistent: a write that was interrupted between
two files is completed or reverted by the next run in the repository; see `locklens.operations.write.recover`.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from locklens.errors import ConfigurationError, StaleLockFileError
from locklens.operations.write.recover import move, real_place
from locklens.storage.files import is_below, is_within, sync_folder
from locklens.storage.journal import (
    Journal,
    Record,
    WrittenFile,
    current,
    link_at,
    put_in_place,
    temporary,
    write_temporary,
)
from locklens.text import disk_advice, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locklens.operations.plan import FileChanges, Plan, PlannedFile
    from locklens.operations.write.registry_source import RegistrySource


def no_progress(_: str) -> None:
    """Ignore the progress of a plan."""


class _Write(Struct, frozen=True):
    @property
    def title(self) -> str:
        """A short title, such as "Prune 2 roots"."""
        raise NotImplementedError

    def without_missing_modules(self) -> Self:
        """Return the operation that ignores what unreadable modules require; the same one where it needs none."""
        return self


class FileOperation(_Write, frozen=True):
    """A write that is planned from files alone."""

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the write; `on_root` is called with each root when its turn begins.

        Raises:
            LockLensError: No root can be planned.
        """
        raise NotImplementedError


class RegistryOperation(_Write, frozen=True):
    """A write that needs versions and hashes from registries."""

    def plan(self, source: RegistrySource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the write; `on_root` is called with each root when its turn begins.

        Raises:
            LockLensError: No root can be planned.
            RunCancelledError: The run was cancelled.
        """
        raise NotImplementedError


Operation = FileOperation | RegistryOperation
"""One write that the user requests, in one root or in many."""


def listed_providers(names: tuple[str, ...]) -> str:
    """Return up to two names, else their number."""
    return " and ".join(names) if len(names) <= 2 else f"{len(names)} providers"


def listed_roots(roots: tuple[str, ...] | list[str]) -> str:
    """Return the root, or the number of roots."""
    return (roots[0] if roots else ".") if len(roots) <= 1 else f"{len(roots)} roots"


_NEW_MODE = 0o644
_WAIT_SECONDS = 10.0


def apply(proposal: FileChanges, *, journal: Journal | None = None) -> tuple[str, ...]:
    """Write all files of a proposal, or none; return the limits of the write, in sentences.

    The journal, None for the user's own, keeps the write until it is complete, and afterwards for undo.

    Raises:
        StaleLockFileError: A file changed since the plan was made.
        ConfigurationError: A file cannot be written, is outside of the repository, or another run is writing there.
        RepositoryError: Git cannot stage it.
    """
    if proposal.is_empty:
        return ()
    journal = journal or Journal()
    with ExitStack() as stack:
        refusal = _hold(stack, journal, proposal)
        if not refusal and journal.pending(proposal.top) is not None:
            words = "an interrupted write in this repository has to be completed or reverted first"
            raise ConfigurationError(words, hint="the next run of locklens here reports what prevents it")
        is_staging = proposal.target.is_index
        targets = _paths(proposal) if is_staging else _targets(proposal)
        folders = tuple(real_place(folder) for folder in proposal.folders)
        record = Record(
            id=os.urandom(6).hex(),
            top=os.fsencode(os.path.realpath(proposal.top)),
            words=proposal.words,
            command=proposal.command,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            files=tuple(targets),
            target=proposal.target,
            undoes=proposal.undoes,
            redoes=proposal.redoes,
            message=proposal.message,
            folders=folders,
            tool=proposal.tool.name if proposal.tool is not None else "",
        )
        if is_staging:
            refusal = _put_in_index(proposal, record, None if refusal else journal) or refusal
        elif folders:
            if refusal := refusal or _begin(journal, record):
                raise ConfigurationError(refusal, hint="a folder is moved only where that can be undone")
            _move(record, journal)
        else:
            refusal = refusal or _begin(journal, record)
            writing = _Writing(record, {target.place: name for target, name in targets.items()})
            refusal = writing.run(None if refusal else journal) or refusal
    return (f"this write cannot be undone: {refusal}",) if refusal else ()


def _move(record: Record, journal: Journal) -> None:
    """Replace the folders of a record, or none."""
    top = Path(os.fsdecode(record.top))
    try:
        move(record)
    except BaseException:
        journal.discard(top)
        raise
    journal.finish(top)


def _hold(stack: ExitStack, journal: Journal, proposal: FileChanges) -> str:
    """Exclude other runs while the stack is open; return the reason why there is no journal, or ""."""
    try:
        is_held = stack.enter_context(journal.held(proposal.top, wait=_WAIT_SECONDS))
    except OSError as error:
        return _without_journal(journal, error, 1 if proposal.target.is_index else len(proposal.files))
    if not is_held:
        raise ConfigurationError("another locklens is writing in this repository", hint="try again when it has ended")
    return ""


def _begin(journal: Journal, record: Record) -> str:
    """Begin a record; return the reason why there is no journal, or ""."""
    try:
        journal.begin(record)
    except OSError as error:
        return _without_journal(journal, error, len(record.files))
    return ""


def _without_journal(journal: Journal, error: OSError, number: int) -> str:
    """Return the reason why there is no journal; a single file is written without one."""
    words = _unusable(journal, error)
    if number > 1:
        hint = "writing several files requires a journal there; XDG_DATA_HOME sets another folder"
        raise ConfigurationError(words, hint=hint) from error
    return words


def _unusable(journal: Journal, error: OSError) -> str:
    return f"the data folder {journal.folder} cannot be used: {reason_of(error)}"


def _put_in_index(proposal: FileChanges, record: Record, journal: Journal | None) -> str:
    """Stage all files or none; return the reason why that cannot be undone, or ""."""
    from locklens.project.git import Repository

    with Repository.discover(proposal.top) as repository:
        repository.index.put({file.path: (file.old, file.new) for file in proposal.files})
    if journal is None:
        return ""
    try:
        journal.keep(record)
    except OSError as error:
        return _unusable(journal, error)
    return ""


def _paths(proposal: FileChanges) -> dict[WrittenFile, str]:
    """Return the files of a proposal for the index, where paths are names and no link is followed."""
    top = os.path.realpath(proposal.top)
    places = {file.path: os.fsencode(os.path.join(top, file.path)) for file in proposal.files}  # noqa: PTH118
    return {WrittenFile(places[file.path], file.old, file.new, _NEW_MODE): file.path for file in proposal.files}


def _targets(proposal: FileChanges) -> dict[WrittenFile, str]:
    """Return the places of all files, with their names; a file with two names by links is written once."""
    targets: dict[bytes, tuple[WrittenFile, str]] = {}
    for file in proposal.files:
        target = _target(proposal.top, file)
        other, name = targets.setdefault(target.place, (target, file.path))
        if other != target:
            hint = "apply the changes one after the other"
            raise ConfigurationError(
                f"is the same file as {name}, with other planned contents", path=file.path, hint=hint
            )
    return dict(targets.values())


def _target(top: Path, file: PlannedFile) -> WrittenFile:
    """Return the real place of a file, which must have the bytes that were read."""
    real_top = os.path.realpath(top)
    name = os.path.join(real_top, file.path)  # noqa: PTH118
    place = _of_tools(name) if file.is_tools else os.path.realpath(name)
    if not is_within(real_top, place):
        hint = "locklens writes no file outside of that folder"
        raise ConfigurationError(f"leads out of {real_top}, to {place}", path=file.path, hint=hint)
    if not is_below(real_top, place):
        hint = "locklens writes nothing into git's own folder"
        raise ConfigurationError(f"leads to {place}", path=file.path, hint=hint)
    link = link_at(os.fsencode(place)) if file.is_tools else None
    target = WrittenFile(os.fsencode(place), file.old, file.new, _NEW_MODE, link)
    _require_unchanged(target, file.path)
    if file.old is None or file.is_tools:
        return target
    return WrittenFile(target.place, file.old, file.new, stat.S_IMODE(os.stat(place).st_mode))  # noqa: PTH116


def _of_tools(name: str) -> str:
    """Return the place of a file; a link in its place is not followed."""
    folder, base = os.path.split(name)
    return os.path.join(os.path.realpath(folder), base)  # noqa: PTH118


def _require_unchanged(file: WrittenFile, name: str) -> None:
    try:
        is_same = current(file) == file.old
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {reason_of(error)}", path=name) from error
    if not is_same:
        hint = "nothing was written; run it again"
        raise StaleLockFileError("changed on disk since it was read", path=name, hint=hint)


class _Writing:
    """The write of one record, and its reversal; `names` has the user's name of each place."""

    def __init__(self, record: Record, names: dict[bytes, str]) -> None:
        self._record = record
        self._names = names
        self._top = Path(os.fsdecode(record.top))

    def run(self, journal: Journal | None) -> str:
        """Write all files or none; return the reason why that cannot be undone, or ""."""
        files = self._record.files
        try:
            for file in files:
                if file.new is not None:
                    with _as_configuration_error(self._names[file.place]):
                        write_temporary(file, file.new, temporary(self._record, file))
            for file in files:
                _require_unchanged(file, self._names[file.place])
            for file in files:
                with _as_configuration_error(self._names[file.place]):
                    self._put(file)
            for folder in {Path(file.path).parent for file in files}:
                sync_folder(folder)
        except BaseException:
            self._revert(journal)
            raise
        return "" if journal is None else self._finished(journal)

    def _finished(self, journal: Journal) -> str:
        try:
            journal.finish(self._top)
        except OSError as error:
            # Everything is written: a record that stays pending would block the next write.
            with suppress(OSError):
                journal.discard(self._top)
            return _unusable(journal, error)
        return ""

    def _put(self, file: WrittenFile) -> None:
        if file.new is None:
            Path(file.path).unlink(missing_ok=True)
        else:
            os.replace(temporary(self._record, file), file.path)  # noqa: PTH105

    def _revert(self, journal: Journal | None) -> None:
        try:
            for file in self._record.files:
                if file.new != file.old and current(file) == file.new:
                    put_in_place(file, file.old, temporary(self._record, file))
                with suppress(OSError):  # A folder that is not writable has none.
                    Path(temporary(self._record, file)).unlink(missing_ok=True)
            if journal is not None:
                journal.discard(self._top)
        except OSError as error:
            words = f"the write cannot be reverted: {reason_of(error)}"
            raise ConfigurationError(words, hint="the next run of locklens here tries again") from error


@contextmanager
def _as_configuration_error(name: str) -> Iterator[None]:
    """Translate `OSError` into `ConfigurationError`."""
    try:
        yield
    except OSError as error:
        words = f"cannot be written: {reason_of(error)}"
        raise ConfigurationError(words, path=name, hint=f"nothing was written; {disk_advice(error)}") from error
