"""The output of git as values: listings and differences. Starts nothing and reads nothing.

Paths are those that git prints with `-z`; bytes that are no UTF-8 survive as surrogates.
"""

from __future__ import annotations

from enum import StrEnum
from sys import intern
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.project.tree import name_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LINK = "120000"
_SUBMODULE = "160000"


class ChangeStatus(StrEnum):
    """The change of a path."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"


class PathChange(Struct, frozen=True, gc=False):
    """A path that differs between two sides.

    Attributes:
        status: A file that git does not track yet is ADDED; one of which only the mode differs is MODIFIED.
        old: The path, None for an added one.
        new: The path, None for a deleted one.
    """

    status: ChangeStatus
    old: str | None
    new: str | None


class SubmoduleChange(Struct, frozen=True, gc=False):
    """A submodule that was added, removed, or is at another commit.

    Attributes:
        path: Its folder.
        old: The full commit id, "" where there was none.
        new: The same of the new side; zeros for a commit in the work tree that differs from the index.
    """

    path: str
    old: str
    new: str


class TreeFile(Struct, frozen=True, gc=False):
    """A file, link or submodule of a listing.

    Attributes:
        mode: Git's, as six octal digits.
        object_id: Of the contents; "" where the index has several, as the path is not merged.
        ours: Of the contents on our side, of a path that is not merged; "" where it is deleted there.
        theirs: The same of the other side.
        base: The same of the common ancestor; "" where it has no such file.
    """

    mode: str
    object_id: str
    ours: str = ""
    theirs: str = ""
    base: str = ""

    @property
    def is_link(self) -> bool:
        """True if a symbolic link."""
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        """True if another repository, whose files this one does not have."""
        return self.mode == _SUBMODULE


def parse_tree(records: Iterable[str]) -> dict[str, TreeFile]:
    """Read `MODE TYPE OBJECT<TAB>PATH` records of `ls-tree -z`, without those of trees."""
    files: dict[str, TreeFile] = {}
    for record in records:
        words, _, path = record.partition("\t")
        mode, kind, object_id = words.split(" ")
        if kind != "tree" and _is_plain(path):
            files[path] = TreeFile(intern(mode), object_id)
    return files


def parse_index(records: Iterable[str]) -> dict[str, TreeFile]:
    """Read `MODE OBJECT STAGE<TAB>PATH` records of `ls-files -s -z`."""
    files: dict[str, TreeFile] = {}
    for record in records:
        words, _, path = record.partition("\t")
        if _is_plain(path):
            mode, object_id, stage = words.split(" ")
            files[path] = (
                TreeFile(intern(mode), object_id)
                if stage == "0"
                else _unmerged(mode, object_id, stage, files.get(path))
            )
    return files


def _unmerged(mode: str, object_id: str, stage: str, seen: TreeFile | None) -> TreeFile:
    """Return a path of several records, of which the earlier ones were seen: stage 1 is the base, 2 ours, 3 theirs."""
    base = object_id if stage == "1" else seen.base if seen is not None else ""
    ours = object_id if stage == "2" else seen.ours if seen is not None else ""
    return TreeFile(intern(mode), "", ours, object_id if stage == "3" else "", base)


def _is_plain(path: str) -> bool:
    """True if no part is `.` or `..`: git never writes such a path, a forged tree may hold one."""
    return "." not in path or not {".", ".."} & set(path.split("/"))


def parse_raw(records: Iterable[str]) -> tuple[dict[str, PathChange], tuple[SubmoduleChange, ...]]:
    """Read `:MODE MODE OBJECT OBJECT STATUS`, `PATH` pairs of records of `diff --raw -z --no-renames`.

    Returns:
        The changed files by path, and the changed submodules, which are no files.
    """
    fields = iter(records)
    changes: dict[str, PathChange] = {}
    submodules: list[SubmoduleChange] = []
    for words, path in zip(fields, fields, strict=True):
        old_mode, new_mode, old_id, new_id, letter = words.removeprefix(":").split(" ")
        was_module, is_module = old_mode == _SUBMODULE, new_mode == _SUBMODULE
        if was_module or is_module:
            submodules.append(SubmoduleChange(path, old_id if was_module else "", new_id if is_module else ""))
        was_file = letter != "A" and not was_module
        is_file = letter != "D" and not is_module
        if was_file or is_file:
            status = ChangeStatus.MODIFIED if was_file and is_file else ChangeStatus.DELETED
            status = status if was_file else ChangeStatus.ADDED
            changes[path] = PathChange(status, path if was_file else None, path if is_file else None)
    return changes, tuple(submodules)


def submodule_changes(old: Mapping[str, TreeFile], new: Mapping[str, TreeFile]) -> tuple[SubmoduleChange, ...]:
    """Compare the submodules of two listings, in the order of the paths' bytes."""
    before = {path: file.object_id for path, file in old.items() if file.is_submodule}
    after = {path: file.object_id for path, file in new.items() if file.is_submodule}
    paths = (path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    ordered = sorted(paths, key=name_bytes)
    return tuple(SubmoduleChange(path, before.get(path, ""), after.get(path, "")) for path in ordered)


def differences(old: Mapping[str, TreeFile], new: Mapping[str, TreeFile]) -> tuple[PathChange, ...]:
    """Compare two listings, in the order of the paths' bytes. Submodules are no files."""
    changes: dict[str, PathChange] = {}
    for path, file in old.items():
        other = new.get(path)
        if file == other or file.is_submodule:
            continue
        is_gone = other is None or other.is_submodule
        changes[path] = PathChange(
            ChangeStatus.DELETED if is_gone else ChangeStatus.MODIFIED, path, None if is_gone else path
        )
    for path, file in new.items():
        if not file.is_submodule and (path not in old or old[path].is_submodule):
            changes[path] = PathChange(ChangeStatus.ADDED, None, path)
    return tuple(changes[path] for path in sorted(changes, key=name_bytes))


_MAX_SHOWN = 200
"""Characters of a path in a message."""


def unlisted_folder(warnings: str) -> str:
    """Return the first folder that git could not open, by the beginning of what it said; "" for none."""
    _, found, rest = warnings.partition("could not open directory '")
    return (rest.partition("': ")[0].partition("\n")[0][:_MAX_SHOWN] or "?") if found else ""


def with_untracked(changes: dict[str, PathChange], untracked: Iterable[str]) -> tuple[PathChange, ...]:
    """Enter untracked files. One that git calls deleted was only taken out of the index: it is still there."""
    for path in untracked:
        if path in changes and changes[path].status is ChangeStatus.DELETED:
            changes[path] = PathChange(ChangeStatus.MODIFIED, path, path)
        elif path not in changes:
            changes[path] = PathChange(ChangeStatus.ADDED, None, path)
    ordered = sorted(changes.items(), key=lambda item: name_bytes(item[0]))
    return tuple(change for _, change in ordered)
