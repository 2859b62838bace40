"""The journal's record of a write: its files, before and after."""

from __future__ import annotations

import os

import msgspec

RECORD_SCHEMA = 1
"""Of the records on disk; a record of another one is left alone."""


class WrittenFile(msgspec.Struct, frozen=True):
    """One file of a record.

    Attributes:
        place: Its absolute path without links, as the file system spells it.
        old: Its bytes before, None where there was no such file.
        new: Its bytes afterwards, None where it is removed.
        mode: Its permissions.
        link: Where the link leads that was there before and is replaced, None where there was none.
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
    """One folder of a package that is replaced, with a record's names for what is at a place: see `state_of`.

    Attributes:
        place: Its absolute path.
        old: What is there before.
        new: What is there afterwards.
        base: The folder that no place may lead out of.
        aside: Where the old folder is kept; "" for a copy that an earlier write made, which is removed.
        source: The folder that takes its place; "" for none.
        takes_source: True if the source is moved there; otherwise it is copied.
    """

    place: str
    old: str
    new: str
    base: str
    aside: str = ""
    source: str = ""
    takes_source: bool = False


class Record(msgspec.Struct, frozen=True):
    """One write of several files.

    Attributes:
        id: Random; part of the names of temporary files.
        top: The repository, without links, as the file system spells it.
        words: What it does, one sentence each.
        command: The command line that does the same.
        at: When, ISO 8601 in UTC.
        files: In the order in which they are written.
        undoes: Id of the write that this one reverts; "" for none.
        redoes: Id of the write that this one applies again; "" for none.
        message: The commit message for it; "" for none.
        folders: Folders that are replaced; a record has files or folders.
        target: "files", or "index" where git's index has the bytes; such a record is never pending.
    """

    id: str
    top: bytes
    words: tuple[str, ...]
    command: str
    at: str
    files: tuple[WrittenFile, ...]
    schema: int = RECORD_SCHEMA
    target: str = "files"
    undoes: str = ""
    redoes: str = ""
    message: str = ""
    folders: tuple[MovedFolder, ...] = ()
