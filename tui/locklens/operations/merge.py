"""The merge of three lock files on disk, as git's merge driver does it: the result replaces "ours"."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.dialect import TERRAFORM, Dialect
from locklens.errors import ConfigurationError, RepositoryError
from locklens.lockfile.merge import COMMENTS_CLASH, Labels, MergeConflict, Merged, MergeSide, merge, share_packages
from locklens.lockfile.parse import MAX_LOCK_FILE_BYTES, parse
from locklens.project.git.setup import merge_lines
from locklens.storage.files import read_bounded, write_atomically
from locklens.versions import Constraints, ConstraintSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry
    from locklens.project.git import Repository


class Preference(StrEnum):
    """The side that settles an entry which both sides changed in ways that exclude each other."""

    OURS = "ours"
    THEIRS = "theirs"
    NEWEST = "newest"


class SettledEntry(Struct, frozen=True):
    """An entry that a preference settled; `entry` is None where the side had removed it."""

    address: ProviderAddress
    entry: LockEntry | None
    preference: Preference

    @property
    def words(self) -> str:
        """The version that was taken and the reason, such as "1.2.0, the newer version"."""
        what = str(self.entry.version) if self.entry is not None else "removed"
        return f"{what}, {'the newer version' if self.preference is Preference.NEWEST else f'as in {self.preference}'}"


class MergeResult(Struct, frozen=True):
    """The result of a merge.

    Attributes:
        conflicts: Entries that are left between conflict markers.
        united: Providers whose hashes of both sides were united.
        settled: The entries that the preference settled.
        line_merge: Why lines were merged instead of blocks, with or without conflicts; "" otherwise.
    """

    conflicts: tuple[MergeConflict, ...] = ()
    united: tuple[ProviderAddress, ...] = ()
    settled: tuple[SettledEntry, ...] = ()
    line_merge: str = ""

    @property
    def is_clean(self) -> bool:
        """True if nothing is left to a person; merged lines always are, since their meaning is not known."""
        return not self.conflicts and not self.line_merge


def merge_files(
    base: Path, ours: Path, theirs: Path, *, labels: Labels | None = None, prefer: Preference | None = None
) -> MergeResult:
    """Merge three lock files into `ours`; an empty base stands for no common ancestor.

    A side that the tools would refuse cannot be merged by block: then git merges its lines. What is preferred settles
    conflicts; None leaves them open.

    Raises:
        ConfigurationError: A file cannot be read or written.
        RepositoryError: Lines have to be merged, and git is missing or cannot.
    """
    sides = MergeSides(*(read_bounded(path, MAX_LOCK_FILE_BYTES) for path in (base, ours, theirs)))
    labels = labels or Labels()
    try:
        merged, settled = merge_sides(sides, prefer=lambda _: prefer, labels=labels)
    except ConfigurationError as error:
        names, size = (labels.ours, labels.theirs), labels.size
        data = merge_lines(str(ours), str(base), str(theirs), labels=names, marker_size=size)
        write_atomically(ours, data, mode=ours.stat().st_mode & 0o777)
        return MergeResult(line_merge=error.message)
    if merged.data != sides.ours:
        write_atomically(ours, merged.data, mode=ours.stat().st_mode & 0o777)
    return MergeResult(merged.conflicts, merged.united, settled)


class MergeSides(Struct, frozen=True):
    """The three files of a merge; b"" for one that does not exist."""

    base: bytes
    ours: bytes
    theirs: bytes


class CommittedMerge(Struct, frozen=True):
    """A merge that was committed with its conflict markers: its full id and its first parent's, and a file's sides."""

    commit: str
    first_parent: str
    sides: MergeSides


def committed_merge(repository: Repository, path: str, data: bytes) -> CommittedMerge | None:
    """Return the merge that left the conflict markers of a file, which is still as it was committed; else None.

    A side that has markers itself is no side of this merge.

    Raises:
        RepositoryError: Git failed, or this clone lacks a side.
    """
    commit = next((one.commit for one in repository.touching(path, 1)), "")
    if not commit or repository.commit(commit).parents != _BOTH or repository.show(commit, path) != data:
        return None
    parents = [repository.resolve(f"{commit}^{number}") for number in (1, _BOTH)]
    ours, theirs = (repository.show(parent, path) for parent in parents)
    if ours is None or theirs is None or any(parse(side, path).conflict is not None for side in (ours, theirs)):
        return None
    base = None
    with suppress(RepositoryError):  # two histories may have nothing in common
        base = repository.show(repository.merge_base(*parents), path)
    return CommittedMerge(commit, parents[0], MergeSides(base or b"", ours, theirs))


_BOTH = 2
"""The parents of a merge of two sides."""


def merge_sides(
    sides: MergeSides,
    *,
    prefer: Callable[[ProviderAddress], Preference | None],
    labels: Labels | None = None,
    dialect: Dialect | None = None,
) -> tuple[Merged, tuple[SettledEntry, ...]]:
    """Merge three lock files by block; return the merged file, and the entries that a preference settled.

    `prefer` returns what settles the conflict of a provider; None leaves it open. Without a dialect, the headers name
    the tool whose rules hold for addresses.

    Raises:
        ConfigurationError: The tools would refuse one of the sides.
    """
    settled: list[SettledEntry] = []

    def settle(conflict: MergeConflict) -> MergeSide | None:
        preference = prefer(conflict.address)
        side = _preferred(conflict, preference)
        if side is not None and preference is not None:
            entry = conflict.ours if side is MergeSide.OURS else conflict.theirs
            settled.append(SettledEntry(conflict.address, entry, preference))
        return side

    writers = (parse(data, "").writer for data in (sides.ours, sides.theirs))
    rules = dialect or next(filter(None, writers), TERRAFORM)
    merged = merge(sides.base, sides.ours, sides.theirs, dialect=rules, settle=settle, labels=labels)
    return merged, tuple(settled)


def _preferred(conflict: MergeConflict, prefer: Preference | None) -> MergeSide | None:
    if prefer is None:
        return None
    if prefer is not Preference.NEWEST:
        return MergeSide(prefer.value)
    newest = newest_of_both(conflict)
    if newest is None:
        return None
    return MergeSide.OURS if newest is conflict.ours else MergeSide.THEIRS


def why_no_newest(conflict: MergeConflict) -> str:
    """Return why the newer version does not settle a conflict, as a clause; "" where it does."""
    ours, theirs = conflict.ours, conflict.theirs
    if newest_of_both(conflict) is not None:
        return ""
    if conflict.reason == COMMENTS_CLASH:
        return "no version settles it: take the comments of one side"
    if (moved := conflict.moved) is not None:
        stays = f"{moved.address} stays at {moved.version}"
        return f"{stays} with either side: locklens upgrade selects another version after the merge"
    if ours is None or theirs is None:
        return "one side removed the provider: keep the entry of the other, or remove it"
    if ours.version == theirs.version:
        return "both sides have the same version: take the entry of one, or lock the provider again"
    if share_packages(ours, theirs):
        return "both versions have the same hashes: lock the provider again"
    how = "is not known to" if _recorded(ours, theirs) is None else "does not"
    return f"the newer version {how} satisfy the constraints of both sides"


def ways_to_settle(*, has_newest: bool) -> str:
    """Return the options that settle a conflict; `has_newest` is True if the newer version settles it."""
    newest = "--prefer newest selects the newer version, " if has_newest else ""
    return f"{newest}--prefer ours or --prefer theirs takes the entry of that side"


def newest_of_both(conflict: MergeConflict) -> LockEntry | None:
    """Return the newer entry of a conflict that is about two versions, if it satisfies what both sides recorded.

    None also where the versions have hashes of packages in common: no two releases do, so these are of one of them, and
    a merge of lines left them to the other.
    """
    ours, theirs = conflict.ours, conflict.theirs
    if conflict.reason == COMMENTS_CLASH or ours is None or theirs is None:
        return None
    if ours.version == theirs.version or share_packages(ours, theirs):
        return None
    newest = ours if ours.version.compare(theirs.version) > 0 else theirs
    constraints = _recorded(ours, theirs)
    return newest if constraints is not None and constraints.admits(newest.version) else None


def _recorded(ours: LockEntry, theirs: LockEntry) -> Constraints | None:
    """Return the constraints that both sides recorded; None if these cannot be read."""
    try:
        return Constraints.parse_recorded(ours.constraints) + Constraints.parse_recorded(theirs.constraints)
    except ConstraintSyntaxError:
        return None
