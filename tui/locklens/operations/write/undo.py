"""Plans to revert the last write in a repository, of this or an earlier run.

An undo is a write like any other: it opens the same Preview, and once applied it is the last write. Undoing it applies
the first one again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from locklens.errors import ConfigurationError, NoRepositoryError, StaleLockFileError
from locklens.lockfile.model import differing
from locklens.lockfile.parse import parse
from locklens.operations.plan.builder import PlanBuilder
from locklens.operations.plan.files import PlannedFile, WriteTarget
from locklens.operations.plan.model import PlannedChange
from locklens.operations.write.operation import no_progress
from locklens.project.roots import LOCK_FILE
from locklens.storage.journal import Journal
from locklens.storage.placing import current
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.operations.plan.model import Plan
    from locklens.storage.records import Record, WrittenFile


_NAMED = 3


_COMMAND_SHOWN = 100


_SECONDS = len("2026-11-21T14:02:11")


def undo(folder: Path, *, journal: Journal | None = None) -> Plan:
    """Plans to restore the old bytes, if every file is unchanged since it was written.

    Args:
        folder: In the repository, or the folder that was written in where there is none.
        journal: The records; None for the user's own.

    Raises:
        ConfigurationError: Nothing was written here, or a file cannot be read.
        StaleLockFileError: Files changed since, which are named.
        RepositoryError: Git failed.
    """
    journal = journal or Journal()
    top = _top(folder)
    record = journal.last(top)
    if record is None:
        raise ConfigurationError("nothing to undo here", path=str(top))
    real_top = os.path.realpath(top)
    names = {file: os.path.relpath(file.path, real_top).replace(os.sep, "/") for file in record.files}
    target = WriteTarget(record.target)
    if target is WriteTarget.INDEX:
        touched = _staged_since(top, {names[file]: file.new for file in record.files}, record.at)
    else:
        touched = [names[file] for file in record.files if not _is_as_written(file, names[file])]
    if touched:
        more = len(touched) - _NAMED
        named = ", ".join(touched[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        words = f"changed since {_moment(record)}, so this cannot be undone: {_short(record.command)}"
        raise StaleLockFileError(f"{named}: {words}", hint="git diff shows the changes; git restore reverts files")
    draft = PlanBuilder(top, target)
    for file in record.files:
        planned = PlannedFile(names[file], file.new, file.old)
        draft.put(planned)
        draft.changes += _changes(planned)
    change = f"the change applied on {_moment(record)}: {_short(record.command)}"
    draft.describe(f"reverts {change}", dry_run=f"would revert {change}")
    return draft.plan(_command(top))


def _staged_since(top: Path, written: Mapping[str, bytes | None], moment: str) -> list[str]:
    """Returns the files whose content in the index differs from the staged one, or was committed since.

    Args:
        top: The repository's top.
        written: The staged bytes, by path.
        moment: The time of staging, ISO 8601 in UTC.
    """
    from locklens.project.git import Repository

    with Repository.discover(top) as repository:
        indexed = repository.index.read(tuple(written))
        commits = {path: repository.touching(path, 1) for path in written}
    committed = {path for path, ones in commits.items() for _, date in ones if date[:_SECONDS] > moment[:_SECONDS]}
    return [path for path, data in written.items() if indexed[path].data != data or path in committed]


def _top(folder: Path) -> Path:
    from locklens.project.git import Repository

    try:
        with Repository.discover(folder) as repository:
            return repository.top
    except NoRepositoryError:
        return Path(os.path.realpath(folder))


def _is_as_written(file: WrittenFile, name: str) -> bool:
    try:
        return current(file) == file.new
    except OSError as error:
        reason = reason_of(error)
        raise ConfigurationError(f"cannot be read: {reason}", path=name) from error


def _command(top: Path) -> str:
    from locklens.operations.plan.command_line import command_line
    from locklens.operations.plan.model import Scope

    return command_line("undo", Scope.at(top, (), tool=None, test_directory="tests"), ())


def _short(command: str) -> str:
    """Returns the beginning of a command line that fits into a sentence."""
    return command if len(command) <= _COMMAND_SHOWN else f"{command[:_COMMAND_SHOWN]} …"


def _moment(record: Record) -> str:
    """Returns the time of a write, to the minute."""
    day, _, time = record.at.partition("T")
    return f"{day} {time[:5]} UTC"


def _changes(file: PlannedFile) -> Iterator[PlannedChange]:
    """Yields the changes of providers in a lock file."""
    if os.path.basename(file.path) != LOCK_FILE:  # noqa: PTH119
        return
    old, new = (parse(data or b"", file.path) for data in (file.old, file.new))
    tool = new.writer or old.writer
    for address, before, after in differing(old, new):
        name = address.short(tool.default_host) if tool else str(address)
        yield PlannedChange(file.path.rpartition("/")[0], address, name, before, after)


class Undo(Struct, frozen=True):
    """Reverts the last write in the repository of a folder."""

    needs_registry: ClassVar[Literal[False]] = False

    folder: Path

    @property
    def title(self) -> str:
        """A short title."""
        return "Undo the last apply"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:  # noqa: ARG002
        """Plans the reversal."""
        return undo(self.folder)
