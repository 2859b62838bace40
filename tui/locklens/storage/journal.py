"""The journal of the current and the last write into a repository: enough to complete or to revert it.

One record for each repository, with the old and the new bytes of every file, lies in the user's data folder: for the
owner's eyes only, since configurations hold what they hold; one that another user could have written is not believed,
since completing it would write what that user likes. A record is `pending` from before the first file is touched
until all are written; then it is the last one `applied`. Deciding what to do with one is not done here.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from locklens.errors import ConfigurationError
from locklens.ownership import distrust_reason
from locklens.storage.folder_lock import turn_within
from locklens.storage.placing import sync_folder
from locklens.storage.records import RECORD_SCHEMA, Record
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator


_MAX_BYTES = 512 * 1024 * 1024
"""Bytes of one record, and of all earlier ones of a repository."""

_MOST_PAST = 50
"""Earlier writes that can be undone."""

_PAST = "past"

_DAMAGED = ".damaged"
"""How the name of a record that was set aside ends."""

_UNREAD = "records of writes cannot be read: {}; whether there are any is unknown"


_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class Journal:
    """The records of all repositories.

    Args:
        folder: Where they are; None for the user's own data folder.
    """

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
        """Keep other processes from a repository's records.

        Args:
            top: The repository.
            wait: Seconds to wait for another process.

        Yields:
            Whether no other process is at it.

        Raises:
            OSError: The folder cannot be used, or is not this user's alone.
        """
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if why := distrust_reason(self.folder.stat()):
            raise PermissionError(errno.EPERM, why)
        with turn_within(self._path(top, "lock"), wait) as is_held:
            yield is_held

    def begin(self, record: Record) -> None:
        """Keep a record as pending, on the disk when this returns; the repository is held.

        Raises:
            OSError: It cannot be kept.
        """
        self._keep(record, "pending")

    def keep(self, record: Record) -> None:
        """Keep a record as the last applied one; the repository is held.

        Raises:
            OSError: It cannot be kept.
        """
        self._shelve(Path(os.fsdecode(record.top)))
        self._keep(record, "applied")

    def _keep(self, record: Record, suffix: str) -> None:
        path = self._path(Path(os.fsdecode(record.top)), suffix)
        words = tuple(map(_spelt, record.words))
        command, message = _spelt(record.command), _spelt(record.message)
        spelt = msgspec.structs.replace(record, words=words, command=command, message=message)
        data = msgspec.json.encode(spelt)
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
        """Numbers the last applied record among the earlier ones, of which the oldest are removed.

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
            if index >= _MOST_PAST or total > _MAX_BYTES:
                path.unlink(missing_ok=True)

    def _past(self, top: Path) -> list[Path]:
        """Return the earlier applied records, the newest first."""
        lead = self._path(top, _PAST).name
        names = [name for name in self._names() if name.startswith(lead)]
        numbered = [name for name in names if name[len(lead) :].isascii() and name[len(lead) :].isdigit()]
        return [self.folder / name for name in sorted(numbered, key=lambda name: int(name[len(lead) :]), reverse=True)]

    def discard(self, top: Path) -> None:
        """Forget the pending record.

        Raises:
            OSError: It cannot be done.
        """
        self._path(top, "pending").unlink(missing_ok=True)

    def forget(self, top: Path) -> None:
        """Remove what is kept of a repository that is no more.

        Raises:
            OSError: It cannot be done.
        """
        for suffix in ("pending", "applied", "lock"):
            self._path(top, suffix).unlink(missing_ok=True)
        for path in (*self._past(top), *self.damaged(top)):
            path.unlink(missing_ok=True)

    def pending(self, top: Path) -> Record | None:
        """Return what was begun and not finished.

        Raises:
            ConfigurationError: The record or its folder is not this user's alone.
        """
        return self._read(self.place(top))

    def place(self, top: Path) -> Path:
        """The path of the record of an unfinished write."""
        return self._path(top, "pending")

    def last(self, top: Path) -> Record | None:
        """Return what was written last; errors as of `pending`."""
        return self._read(self._path(top, "applied"))

    def writes(self, top: Path) -> tuple[Record, ...]:
        """Return what was written, the newest first, reversals included; errors as of `pending`."""
        records = (self._read(path) for path in (self._path(top, "applied"), *self._past(top)))
        return tuple(record for record in records if record is not None)

    def damaged(self, top: Path) -> tuple[Path, ...]:
        """Return the records of a repository that could not be decoded and were set aside; errors as of `pending`."""
        lead = self._path(top, "").name
        names = (name for name in self._names() if name.startswith(lead) and name.endswith(_DAMAGED))
        return tuple(self.folder / name for name in sorted(names))

    def unfinished(self) -> tuple[Path, ...]:
        """Return the repositories in which a write was begun and not finished; cheap where there is none.

        Raises:
            ConfigurationError: There is a record that is not this user's alone, or the folder is not.
        """
        names = [name for name in self._names() if name.endswith(".pending")]
        records = (self._read(self.folder / name) for name in sorted(names))
        return tuple(Path(os.fsdecode(record.top)) for record in records if record is not None)

    def _names(self) -> list[str]:
        """Return the names of all records.

        Raises:
            ConfigurationError: The folder cannot be listed.
        """
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
            with open(os.open(path, _READ), "rb") as file:  # noqa: PTH123
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
                    return None
                _require_own(self.folder, self.folder.stat())
                _require_own(path, status)
                record = msgspec.json.decode(file.read(_MAX_BYTES), type=Record)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:  # A link is no record.
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


def _spelt(text: str) -> str:
    """A text as JSON can say it: file names need not be UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
