"""The journal of writes into repositories: records with enough in them to complete, to revert or to undo a write.

A record has the old and the new bytes of every file. It lies in the user's data folder and is readable by its owner
only, since configurations may hold secrets. A record that another user could have written is not used, because
completing it would write that user's bytes. A record is `pending` from before the first file is touched until all
files are written; then it is the last one `applied`, and the applied ones before it are numbered.

The functions at the end are the steps of a write; each leaves every file old or new, byte for byte. The order of the
steps, and the decision to complete or to revert a pending record, are in `locklens.operations.write`.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import contextmanager, suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from locklens.errors import ConfigurationError
from locklens.machine import distrust_reason
from locklens.storage.files import lock_within, open_regular, sync_folder
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORD_SCHEMA = 1
"""The schema of records on disk; a record with any other number is left alone."""

_MOST_RECORD_BYTES = 512 * 1024 * 1024
"""The most bytes of one record, and of all earlier records of a repository."""

_MOST_FILE_BYTES = 64 * 1024 * 1024
"""The most bytes of a file at its place; `locklens.project.tree` has the same limit."""

_MOST_PAST = 50
"""The most earlier writes that are kept for undo."""

_PAST = "past"
_DAMAGED = ".damaged"
"""The end of the name of a record that was set aside."""

_UNREAD = "records of writes cannot be read: {}; whether there are any is unknown"
_ROOT = r""" --root[ =](?:'[^']*'|"[^"]*"|[^\s'"])+"""
_MANY_ROOTS = re.compile(f"(?:{_ROOT}){{4,}}")
"""The roots of a command line, where they are many."""

_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


class WrittenFile(msgspec.Struct, frozen=True):
    """One file of a record.

    Attributes:
        place: Its absolute path without links, as the file system spells it.
        old: Its bytes before; None if there was no such file.
        new: Its bytes afterwards; None if it is removed.
        link: The target of the symbolic link that it replaces; None if it replaces none.
    """

    place: bytes
    old: bytes | None
    new: bytes | None
    mode: int
    link: bytes | None = None

    @property
    def path(self) -> str:
        """The place as Python spells it."""
        return os.fsdecode(self.place)


class MovedFolder(msgspec.Struct, frozen=True):
    """One folder of a package that is replaced. `locklens.operations.write.recover.state_of` names states of a place.

    Attributes:
        old: The state before.
        new: The state afterwards.
        base: The folder that no place may lead out of.
        aside: The path at which the old folder is kept; "" for a copy that an earlier write made, which is removed.
        source: The folder that takes its place, or "".
        takes_source: True if the source is moved there; otherwise it is copied.
    """

    place: str
    old: str
    new: str
    base: str
    aside: str = ""
    source: str = ""
    takes_source: bool = False


class WriteTarget(StrEnum):
    """The place of the bytes of a write."""

    FILES = "files"
    INDEX = "index"
    """Git's index, for the next commit; files on disk are left untouched."""

    @property
    def is_index(self) -> bool:
        """True if the files on disk are left untouched, and what is written can be undone as long as it is staged."""
        match self:
            case WriteTarget.FILES:
                return False
            case WriteTarget.INDEX:
                return True


class Record(msgspec.Struct, frozen=True):
    """One write of several files.

    Attributes:
        id: Random; part of the names of temporary files.
        top: The repository, without links, as the file system spells it.
        words: Its effects, one sentence each.
        at: Its time, ISO 8601 in UTC.
        undoes: Id of the write that this one reverts, or "".
        redoes: Id of the write that this one applies again, or "".
        message: The commit message for it, or "".
        folders: Folders that are replaced; a record has files or folders.
        tool: The name of the tool that was named for its roots, or "".
    """

    id: str
    top: bytes
    words: tuple[str, ...]
    command: str
    at: str
    files: tuple[WrittenFile, ...]
    schema: int = RECORD_SCHEMA
    target: WriteTarget = WriteTarget.FILES
    undoes: str = ""
    redoes: str = ""
    message: str = ""
    folders: tuple[MovedFolder, ...] = ()
    tool: str = ""

    @property
    def shown(self) -> str:
        """The command line for a sentence: without its roots where it names many, of which it may have changed one."""
        return _MANY_ROOTS.sub(" --root …", self.command)


class Journal:
    """The records of all repositories, in a folder; None for `writes` in the user's data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._given = folder

    @property
    def folder(self) -> Path:
        """The folder of the records."""
        if self._given is None:
            from platformdirs import user_data_path

            self._given = user_data_path("locklens", appauthor=False) / "writes"
        return self._given

    @contextmanager
    def held(self, top: Path, *, wait: float) -> Iterator[bool]:
        """Keep other processes from a repository's records; True if that succeeds within the seconds to wait.

        Raises:
            OSError: The folder cannot be used, or other users may write to it.
        """
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if why := distrust_reason(self.folder.stat()):
            raise PermissionError(errno.EPERM, why)
        with lock_within(self._path(top, "lock"), wait) as is_held:
            yield is_held

    def begin(self, record: Record) -> None:
        """Store a record as pending; it is on the disk when this returns. The caller holds the repository.

        Raises:
            OSError: It cannot be stored.
        """
        self._store(record, "pending")

    def keep(self, record: Record) -> None:
        """Store a record as the last applied one. The caller holds the repository.

        Raises:
            OSError: It cannot be stored.
        """
        self._shelve(Path(os.fsdecode(record.top)))
        self._store(record, "applied")

    def _store(self, record: Record, suffix: str) -> None:
        path = self._path(Path(os.fsdecode(record.top)), suffix)
        words = tuple(map(_escaped, record.words))
        command, message = _escaped(record.command), _escaped(record.message)
        data = msgspec.json.encode(msgspec.structs.replace(record, words=words, command=command, message=message))
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(self.folder)

    def finish(self, top: Path) -> None:
        """Make the pending record the last applied one.

        Raises:
            OSError: It cannot be done.
        """
        self._shelve(top)
        self._path(top, "pending").replace(self._path(top, "applied"))

    def _shelve(self, top: Path) -> None:
        """Number the last applied record among the earlier ones, and remove the oldest beyond the limits.

        A run that is killed in between leaves the same records, the newest among the earlier ones.
        """
        applied, past = self._path(top, "applied"), self._past(top)
        if applied.exists():
            number = int(past[0].suffix[1 + len(_PAST) :]) + 1 if past else 1
            fresh = self._path(top, f"{_PAST}{number:08}")
            applied.replace(fresh)
            past.insert(0, fresh)
        total = 0
        for index, path in enumerate(past):
            total += path.stat().st_size
            if index >= _MOST_PAST or total > _MOST_RECORD_BYTES:
                path.unlink(missing_ok=True)

    def _past(self, top: Path) -> list[Path]:
        """Return the earlier applied records, the newest first."""
        lead = self._path(top, _PAST).name
        names = [name for name in self._names() if name.startswith(lead)]
        numbered = [name for name in names if name[len(lead) :].isascii() and name[len(lead) :].isdigit()]
        return [self.folder / name for name in sorted(numbered, key=lambda name: int(name[len(lead) :]), reverse=True)]

    def discard(self, top: Path) -> None:
        """Remove the pending record.

        Raises:
            OSError: It cannot be removed.
        """
        self._path(top, "pending").unlink(missing_ok=True)

    def forget(self, top: Path) -> None:
        """Remove all records of a repository that no longer exists.

        Raises:
            OSError: One cannot be removed.
        """
        for suffix in ("pending", "applied", "lock"):
            self._path(top, suffix).unlink(missing_ok=True)
        for path in (*self._past(top), *self.damaged(top)):
            path.unlink(missing_ok=True)

    def pending(self, top: Path) -> Record | None:
        """Return the record of a write that was begun and not finished, if there is one.

        Raises:
            ConfigurationError: The record cannot be read, or other users may write to it or to its folder.
        """
        return self._read(self.place(top))

    def place(self, top: Path) -> Path:
        """The path of the record of an unfinished write."""
        return self._path(top, "pending")

    def last(self, top: Path) -> Record | None:
        """Return the last applied record, if there is one. Raises the same errors as `pending`."""
        return self._read(self._path(top, "applied"))

    def writes(self, top: Path) -> tuple[Record, ...]:
        """Return all applied records, the newest first, reversals included. Raises the same errors as `pending`."""
        records = (self._read(path) for path in (self._path(top, "applied"), *self._past(top)))
        return tuple(record for record in records if record is not None)

    def damaged(self, top: Path) -> tuple[Path, ...]:
        """Return the records of a repository that could not be decoded and were set aside."""
        lead = self._path(top, "").name
        names = (name for name in self._names() if name.startswith(lead) and name.endswith(_DAMAGED))
        return tuple(self.folder / name for name in sorted(names))

    def unfinished(self) -> tuple[Path, ...]:
        """Return the repositories in which a write was begun and not finished; this is fast if there are none.

        Raises the same errors as `pending`.
        """
        names = [name for name in self._names() if name.endswith(".pending")]
        records = (self._read(self.folder / name) for name in sorted(names))
        return tuple(Path(os.fsdecode(record.top)) for record in records if record is not None)

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.folder)  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise ConfigurationError(_UNREAD.format(reason_of(error)), path=str(self.folder)) from error

    def _path(self, top: Path, suffix: str) -> Path:
        key = sha256(os.fsencode(os.path.realpath(top))).hexdigest()[:32]
        return self.folder / f"{key}.{suffix}"

    def _read(self, path: Path) -> Record | None:
        """Read a record; a damaged one is set aside, since it is unusable."""
        try:
            with open(os.open(path, _OPEN | _NO_FOLLOW), "rb") as file:  # noqa: PTH123
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_RECORD_BYTES:
                    return None
                _require_own(self.folder, self.folder.stat())
                _require_own(path, status)
                record = msgspec.json.decode(file.read(_MOST_RECORD_BYTES), type=Record)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:  # A link is not a record.
                return None
            raise ConfigurationError(_UNREAD.format(reason_of(error)), path=str(path)) from error
        except msgspec.DecodeError:
            with suppress(OSError):
                path.replace(path.with_name(path.name + _DAMAGED))
            return None
        return record if record.schema == RECORD_SCHEMA else None


def _require_own(path: Path, status: os.stat_result) -> None:
    if why := distrust_reason(status):
        hint = "remove it if it is not yours, or name another folder in XDG_DATA_HOME"
        raise ConfigurationError(f"records of writes there are not used: {why}", path=str(path), hint=hint)


def _escaped(text: str) -> str:
    """Escape lone surrogates, which JSON cannot hold: file names need not be UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def temporary(record: Record, file: WrittenFile) -> str:
    """Return the path of a file's new bytes before the rename: beside it, with a name that the tools ignore."""
    number = record.files.index(file)
    return os.path.join(os.path.dirname(file.path), f".locklens-{record.id}-{number}")  # noqa: PTH118, PTH120


def current(file: WrittenFile) -> bytes | None:
    """Return the bytes that are at a file's place now; None if there is no file.

    Raises:
        OSError: It cannot be read, is not a regular file, or is larger than any that locklens writes.
    """
    is_link = file.link is not None and link_at(file.place) == file.link
    try:
        with open_regular(file.path, follows_link=is_link) as stream:
            data = stream.read(_MOST_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > _MOST_FILE_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def link_at(place: bytes) -> bytes | None:
    """Return the target of the symbolic link at a place; None if there is no link.

    Raises:
        OSError: It cannot be read.
    """
    return os.readlink(place) if os.path.islink(place) else None  # noqa: PTH114, PTH115


def write_temporary(file: WrittenFile, data: bytes, name: str) -> None:
    """Write bytes to a temporary file and flush it to the disk; it gets the file's permissions and owner.

    Raises:
        OSError: It cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    with open(os.open(name, flags, 0o600), "wb") as stream:  # noqa: PTH123
        stream.write(data)
        stream.flush()
        with suppress(OSError):
            owner = os.stat(file.path)  # noqa: PTH116
            if hasattr(os, "fchown") and (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), owner.st_uid, owner.st_gid)
        os.chmod(name, file.mode)  # noqa: PTH101
        os.fsync(stream.fileno())


def put_in_place(file: WrittenFile, data: bytes | None, name: str) -> None:
    """Put bytes in a file's place in one step, or remove the file; its old bytes bring back a link that they replaced.

    The name is that of the temporary file; an existing one is replaced.

    Raises:
        OSError: The file cannot be replaced or removed.
    """
    if file.link is None and data is None:
        Path(file.path).unlink(missing_ok=True)
        return
    Path(name).unlink(missing_ok=True)
    if file.link is not None and data == file.old:
        os.symlink(file.link, os.fsencode(name))  # noqa: PTH211
    elif data is not None:
        write_temporary(file, data, name)
    os.replace(name, file.path)  # noqa: PTH105
