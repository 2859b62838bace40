"""What git prints, as values: listings and differences. Starts nothing and reads nothing.

Paths are those that git prints with `-z`; bytes that are no UTF-8 survive as surrogates.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.project.tree import name_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LINK = "120000"
_SUBMODULE = "160000"


class ChangeStatus(StrEnum):
    """What happened to a path."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"


class PathChange(Struct, frozen=True):
    """A path that differs between two sides.

    Attributes:
        status: A file that git does not track yet is ADDED; one of which only the mode differs is MODIFIED.
        old: The path on the old side, None for an added one.
        new: The path on the new side, None for a deleted one.
    """

    status: ChangeStatus
    old: str | None
    new: str | None


class ListedFile(Struct, frozen=True):
    """A file, link or submodule of a listing.

    Attributes:
        mode: Git's, as six octal digits.
        object_id: Of the contents; "" where the index has several, as the path is not merged.
    """

    mode: str
    object_id: str

    @property
    def is_link(self) -> bool:
        """Whether a symbolic link."""
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        """Whether another repository, whose files this one does not have."""
        return self.mode == _SUBMODULE


def parse_tree(output: bytes) -> dict[str, ListedFile]:
    """Reads `MODE TYPE OBJECT<TAB>PATH` records of `ls-tree -z`."""
    files: dict[str, ListedFile] = {}
    for record in output.decode("utf-8", "surrogateescape").split("\0"):
        words, tab, path = record.partition("\t")
        if tab and _is_plain(path):
            mode, _, object_id = words.split(" ")
            files[path] = ListedFile(mode, object_id)
    return files


def parse_index(output: bytes) -> dict[str, ListedFile]:
    """Reads `MODE OBJECT STAGE<TAB>PATH` records of `ls-files -s -z`."""
    files: dict[str, ListedFile] = {}
    for record in output.decode("utf-8", "surrogateescape").split("\0"):
        words, tab, path = record.partition("\t")
        if tab and _is_plain(path):
            mode, object_id, stage = words.split(" ")
            files[path] = ListedFile(mode, object_id if stage == "0" else "")
    return files


def _is_plain(path: str) -> bool:
    """Whether no part is `.` or `..`: git never writes such a path, a forged tree may hold one."""
    return "." not in path or not {".", ".."} & set(path.split("/"))


def parse_raw(output: bytes) -> dict[str, PathChange]:
    """Reads `:MODE MODE OBJECT OBJECT STATUS<NUL>PATH<NUL>[PATH<NUL>]` records, by the path of the new side."""
    fields: Iterator[str] = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    changes: dict[str, PathChange] = {}
    for words in fields:
        if not words:
            break
        letter = words.rpartition(" ")[2][:1]
        path = next(fields)
        if letter == "A":
            change = PathChange(ChangeStatus.ADDED, None, path)
        elif letter == "D":
            change = PathChange(ChangeStatus.DELETED, path, None)
        elif letter in ("R", "C"):
            new = next(fields)
            is_rename = letter == "R"
            change = PathChange(
                ChangeStatus.RENAMED if is_rename else ChangeStatus.ADDED, path if is_rename else None, new
            )
        else:
            change = PathChange(ChangeStatus.MODIFIED, path, path)
        changes[change.new or path] = change
    return changes


def with_untracked(changes: dict[str, PathChange], untracked: Iterable[str]) -> tuple[PathChange, ...]:
    """Enters untracked files. One that git calls deleted was only taken out of the index: it is still there."""
    for path in untracked:
        if path in changes and changes[path].status is ChangeStatus.DELETED:
            changes[path] = PathChange(ChangeStatus.MODIFIED, path, path)
        elif path not in changes:
            changes[path] = PathChange(ChangeStatus.ADDED, None, path)
    ordered = sorted(changes.items(), key=lambda item: name_bytes(item[0]))
    return tuple(change for _, change in ordered)
