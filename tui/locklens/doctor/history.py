"""What git and locklens' own writes tell of an entry, of its lock file, and of what required it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.doctor import ElsewhereEntry, FileOfTool, PastEntry
    from locklens.lockfile import LockEntry

SECONDS = len("2026-01-01T00:00:00")
"""The length of a moment in ISO 8601, to the second, in which a log and commits are compared."""


class EntryHistory(Struct, frozen=True):
    """The past of one provider in one root.

    Attributes:
        states: The entry's history, the newest first; its first item is the committed state.
        elsewhere: The entry's history in the other roots that the log fits.
        written: The entry of this version before locklens wrote it as it is, with the time of that write; None where
            no write is later than the log.
        is_written: True if locklens added it, or wrote anything of it, later than the log.
        replaced_version: The version that locklens replaced by the locked one later than the log; "" where it did not.
        is_repaired: True if the message is of a lock file that cannot be read, as this one was, and is not any more.
        before_loss: The entries that the lock file had before it was removed or could not be read, in the newest
            commit in which it can be.
        first_of_sides: The commit that first locks the packages of a conflict's side, by provider and version; those of
            which git tells none are left out.
        tool_commit: The commit that locks the provider in the other tool's registry, if the last change of the lock
            file took that entry away, committed or not; else "".
        before_tool: The lock file before another tool wrote it in its last change, committed or not, if one tool wrote
            it in each commit until then; None for another past.
        whole_commit: The newest commit whose lock file has just what the root requires, in its constraints, where this
            one lacks the provider and has others that nothing requires; "" for none.
        locked_before: The providers of the lock file before locklens wrote it later than the log, else in its newest
            commit that is no later; None without one.
        logged: The time of the log, ISO 8601 in UTC, or a later one; "" if none is known.
        had_other_providers: True if a commit of the lock file has other providers than it has now.
        damaging_merge: The merge since which the lock file cannot be read; "" for another commit, or none.
        damaging_edit: The commit since which it cannot be read, if it is known, and no merge; else "".
        merge: The merge that selected version and packages of the entry; "" for another commit, or none.
        last_merge: The merge that made the entry as it is, its `h1` too; "" for another commit, or none.
        readable_commit: The newest commit whose lock file can be read, where there is none here, or it cannot; else "".
        without_new: The commits whose lock file has no hash that the one here and the newest readable commit lack.
        paths: The path of the lock file in each of its commits from before a move of its root.
        made_by: The commit that selected version and packages, if it is known, and no merge; else "".
        renamed_from: The entry of another provider, with the same version and hashes, that gave way to it in the commit
            that made it, or in an uncommitted change.
        was_required: True if the root, or each of `fitting`, required or called what the error is about, until lately.
        had_list: True if the root's configuration required just what the run listed while its lock file had more, and
            does not now.
        has_left_range: True if the commit, or the uncommitted change, that moved the entry out of the constraints is
            known to be later than these.
        is_constraint_of_here: True if the constraint of the message may be in the configuration, or was in a commit.
        brought_both: The commit that made the entry of the version which the message excludes, if it gave the root the
            constraint, too, so that no commit has both, and the log is not known to be older; "" for any other.
        is_file_new: True if the lock file is not committed, or was committed first later than the log, for a root that
            was there before.
        is_later: True if the lock file was written on this machine later than the log.
        removed_by: The commit that removed the entry, with date and persons; "" for another state, or no entry before.
        is_ignored: True if git ignores the lock file, where it is not there, or was not for the failing run.
        had_no_file: True if the failing run lacked all that the root requires, which no state of its lock file lacks,
            and nothing tells that the file came later.
        left: The entry in the lock file that is still where the root's configuration was before, as git tells, if the
            root has no lock file.
        left_by: The commit that added a file of the configuration to the root, with date and persons, in a clause; ""
            if it is not known.
    """

    states: tuple[PastEntry, ...] = ()
    elsewhere: tuple[tuple[PastEntry, ...], ...] = ()
    written: PastEntry | None = None
    is_written: bool = False
    replaced_version: str = ""
    is_repaired: bool = False
    before_loss: tuple[PastEntry, ...] = ()
    first_of_sides: Mapping[tuple[ProviderAddress, str], PastEntry] = {}
    tool_commit: str = ""
    before_tool: FileOfTool | None = None
    whole_commit: str = ""
    locked_before: frozenset[ProviderAddress] | None = None
    logged: str = ""
    had_other_providers: bool = False
    damaging_merge: str = ""
    damaging_edit: str = ""
    merge: str = ""
    last_merge: str = ""
    readable_commit: str = ""
    without_new: frozenset[str] = frozenset()
    paths: Mapping[str, str] = {}
    made_by: str = ""
    renamed_from: LockEntry | None = None
    was_required: bool = False
    had_list: bool = False
    has_left_range: bool = False
    is_constraint_of_here: bool = True
    brought_both: str = ""
    is_file_new: bool = False
    is_later: bool = False
    removed_by: str = ""
    is_ignored: bool = False
    had_no_file: bool = False
    left: ElsewhereEntry | None = None
    left_by: str = ""

    def is_after_log(self, state: PastEntry | None) -> bool:
        """True if a state of the entry is known to be later than the log, as one without a commit is taken to be."""
        return state is None or (self.logged != "" and state.date[:SECONDS] >= self.logged[:SECONDS])

    def next_after(self, before: PastEntry) -> PastEntry | None:
        """Return the state of the entry that a commit made of an earlier one; None where no commit did."""
        history = next((one for one in (self.states, *self.elsewhere) if before in one), ())
        number = history.index(before) if history else 0
        return history[number - 1] if number else None
