"""The merge of three lock files on disk, as git's merge driver does it: the result replaces "ours"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError
from locklens.hashes import hashes_of_files, registry_manifests
from locklens.lockfile.merge import Labels, MergeConflict, Merged, merge
from locklens.lockfile.parse import MAX_LOCK_FILE_BYTES, parse
from locklens.project.gitmerge import merge_lines
from locklens.storage.files import read_bounded, write_atomically
from locklens.versions import Constraints, ConstraintSyntaxError

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry


class MergeResult(Struct, frozen=True):
    """What a merge came to.

    Attributes:
        conflicts: Entries that are left between conflict markers.
        united: Providers whose hashes of both sides were united.
        settled: The entries that were selected of two versions.
        line_merge: Why lines were merged instead of blocks, with or without conflicts; "" otherwise.
    """

    conflicts: tuple[MergeConflict, ...] = ()
    united: tuple[ProviderAddress, ...] = ()
    settled: tuple[LockEntry, ...] = ()
    line_merge: str = ""

    @property
    def is_clean(self) -> bool:
        """True if nothing is left to a person, as it is where lines were merged: nobody can say what they mean."""
        return not self.conflicts and not self.line_merge


def merge_files(
    base: Path, ours: Path, theirs: Path, *, marker_size: int | None = None, prefer_newest: bool = False
) -> MergeResult:
    """Merge three lock files into `ours`.

    A side that the tools would refuse cannot be merged by block: then git merges its lines.

    Args:
        base: The common ancestor; an empty file for none.
        ours: The side that receives the result.
        theirs: The other side.
        marker_size: Characters of a conflict marker; git's default where it is None.
        prefer_newest: Of two versions, take the newest that satisfies the recorded constraints of both sides.

    Raises:
        ConfigurationError: A file cannot be read or written.
        RepositoryError: Lines have to be merged, and git is missing or cannot.
    """
    sides = MergeSides(*(read_bounded(path, MAX_LOCK_FILE_BYTES) for path in (base, ours, theirs)))
    labels = Labels() if marker_size is None else Labels(size=marker_size)
    try:
        merged, settled = merge_sides(sides, prefer_newest=prefer_newest, labels=labels)
    except ConfigurationError as error:
        return _merged_lines(base, ours, theirs, labels, reason=error.message)
    if merged.data != sides.ours:
        write_atomically(ours, merged.data, mode=ours.stat().st_mode & 0o777)
    return MergeResult(merged.conflicts, merged.united, settled)


class MergeSides(Struct, frozen=True):
    """The three files of a merge; b"" for one that does not exist."""

    base: bytes
    ours: bytes
    theirs: bytes


def merge_sides(
    sides: MergeSides,
    *,
    prefer_newest: bool = False,
    labels: Labels | None = None,
    dialect: Dialect | None = None,
) -> tuple[Merged, tuple[LockEntry, ...]]:
    """Merge three lock files by block.

    Args:
        sides: The files.
        prefer_newest: Of two versions, take the newest that satisfies the recorded constraints of both sides.
        labels: For the markers of conflicts that are left open.
        dialect: The tool whose rules hold for addresses; None to read it from the headers.

    Returns:
        The merged file, and the entries that were selected of two versions.

    Raises:
        ConfigurationError: The tools would refuse one of the sides.
    """
    settled: list[LockEntry] = []

    def settle(conflict: MergeConflict) -> LockEntry | None:
        entry = newest_of_both(conflict) if prefer_newest else None
        settled.extend([] if entry is None else [entry])
        return entry

    writers = (parse(data, "").writer for data in (sides.ours, sides.theirs))
    rules = dialect or next(filter(None, writers), TERRAFORM)
    merged = merge(sides.base, sides.ours, sides.theirs, dialect=rules, settle=settle, labels=labels)
    return merged, tuple(settled)


def newest_of_both(conflict: MergeConflict) -> LockEntry | None:
    """Return the newer entry of a conflict between two versions, if it satisfies what both sides recorded.

    None also where the versions have hashes of packages in common: no two releases do, so these are of one of them, and
    a merge of lines left them to the other.
    """
    ours, theirs = conflict.ours, conflict.theirs
    if ours is None or theirs is None or ours.version == theirs.version or _share_packages(ours, theirs):
        return None
    newest = ours if ours.version.compare(theirs.version) > 0 else theirs
    try:
        constraints = Constraints.parse_recorded(ours.constraints) + Constraints.parse_recorded(theirs.constraints)
    except ConstraintSyntaxError:
        return None
    return newest if constraints.admits(newest.version) else None


def _share_packages(ours: LockEntry, theirs: LockEntry) -> bool:
    """True if hashes of one package are in both entries; a registry manifest is often the same, known or not."""
    common = {*ours.hashes} & {*theirs.hashes} - registry_manifests()
    return len(common) > 1 or bool(hashes_of_files(common))


def _merged_lines(base: Path, ours: Path, theirs: Path, labels: Labels, *, reason: str) -> MergeResult:
    data = merge_lines(str(ours), str(base), str(theirs), labels=(labels.ours, labels.theirs), marker_size=labels.size)
    write_atomically(ours, data, mode=ours.stat().st_mode & 0o777)
    return MergeResult(line_merge=reason)
