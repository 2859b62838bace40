"""A planned write, as a value: not on disk until `locklens.operations.write.apply` puts it there."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.operations.plan import diffs
from locklens.project.roots import LOCK_FILE
from locklens.project.tree import name_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.storage.journal import MovedFolder


class PlannedFile(Struct, frozen=True):
    """One file to write.

    Attributes:
        path: Relative to the proposal's top.
        old: The bytes that the plan was made from, None where there was no such file.
        new: The new bytes, None where the file is removed.
        is_tools: True if it is written as the tools write their lock file: a link is replaced and its target left
            untouched, and the permissions are 0644. Otherwise links are followed, and permissions kept.
    """

    path: str
    old: bytes | None
    new: bytes | None
    is_tools: bool = False

    @property
    def digest(self) -> str | None:
        """SHA-256 of the bytes that the plan was made from."""
        return None if self.old is None else sha256(self.old).hexdigest()

    def diff(self) -> str:
        """Return the change as a diff that `git apply` takes; see `locklens.operations.plan.diffs.patch`."""
        return diffs.patch(self.path, self.old, self.new)

    def diff_lines(self) -> list[str]:
        """Return the change as the lines of a diff, to read."""
        return diffs.diff_lines(self.path, self.old, self.new)


class WriteTarget(StrEnum):
    """The place of a proposal's bytes."""

    FILES = "files"
    INDEX = "index"
    """Git's index, for the next commit; files on disk are left untouched."""


class FileChanges(Struct, frozen=True):
    """Files to write, all of them or none.

    Attributes:
        top: The repository's top, or the folder that stands for it: no file outside of it is written.
        files: Those that change, configurations before lock files.
        words: The changes, one line each.
        command: The command line that does the same.
        target: The place of the bytes.
        undoes: Id of the write that this one reverts; "" for none.
        redoes: Id of the write that this one applies again; "" for none.
        message: The commit message for it; "" for none.
        folders: Folders of packages to replace; a proposal has files or folders.
    """

    top: Path
    files: tuple[PlannedFile, ...]
    words: tuple[str, ...]
    command: str
    target: WriteTarget = WriteTarget.FILES
    undoes: str = ""
    redoes: str = ""
    message: str = ""
    folders: tuple[MovedFolder, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing would be written."""
        return not self.files and not self.folders

    def diff(self) -> str:
        """Return the change of every file as one unified diff, "" where nothing changes."""
        return "".join(file.diff() for file in self.files)


def file_order(path: str) -> tuple[bool, bytes]:
    """Return the sort key of a planned file: configurations before lock files, then by the bytes of the path."""
    return path.endswith(LOCK_FILE), name_bytes(path)
