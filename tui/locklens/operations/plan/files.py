"""A planned write, as a value: nothing of it is on disk until `locklens.operations.write.apply` puts it there."""

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


class PlannedFile(Struct, frozen=True):
    """One file that is to be written.

    Attributes:
        path: Relative to the proposal's top.
        old: The bytes that the plan was made from, None where there was no such file.
        new: The bytes that are to be there, None where the file is removed.
        is_tools: Whether it is put there as the tools put their lock file: a link is replaced and what it leads to
            stays as it is, and the permissions are 0644. Otherwise links are followed, and permissions stay.
    """

    path: str
    old: bytes | None
    new: bytes | None
    is_tools: bool = False

    @property
    def digest(self) -> str | None:
        """SHA-256 of what the plan was made from."""
        return None if self.old is None else sha256(self.old).hexdigest()

    def diff(self) -> str:
        """Returns the change as a diff that `git apply` takes; see `locklens.operations.plan.diffs.patch`."""
        return diffs.patch(self.path, self.old, self.new)

    def diff_lines(self) -> list[str]:
        """Returns the change as the lines of a diff, to be read."""
        return diffs.diff_lines(self.path, self.old, self.new)


class WriteTarget(StrEnum):
    """Where a proposal's bytes go."""

    FILES = "files"
    INDEX = "index"
    """Git's: what the next commit has of the files, which stay as they are on disk."""


class FileChanges(Struct, frozen=True):
    """What is to be written, all of it or nothing.

    Attributes:
        top: The repository's top, or the folder that stands for it: no file outside of it is written.
        files: Those that change, configurations before lock files.
        words: What it does, one line each.
        command: The command line that does the same.
        target: Where it is written.
    """

    top: Path
    files: tuple[PlannedFile, ...]
    words: tuple[str, ...]
    command: str
    target: WriteTarget = WriteTarget.FILES

    def diff(self) -> str:
        """Returns the change of every file as one unified diff, "" where nothing changes."""
        return "".join(file.diff() for file in self.files)


def file_order(path: str) -> tuple[bool, bytes]:
    """Returns the sort key of a planned file: configurations before lock files, then by the bytes of the path."""
    return path.endswith(LOCK_FILE), name_bytes(path)
