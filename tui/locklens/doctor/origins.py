"""Where the locked hashes of a provider come from: its release, another version, an edit or a merge. Pure."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.doctor import EditedHash, locked_states
from locklens.hashes import packages_of
from locklens.lockfile import pinned

if TYPE_CHECKING:
    from locklens.doctor import ElsewhereEntry, FoundPackage, PastEntry
    from locklens.lockfile import LockEntry

_MOST_EDITED = 4
"""Characters by which two hashes differ at most where one was made from the other: digests differ in nearly all."""

_MOST_TYPED = 8
"""The most strange hashes of an entry among which a typed one is looked for."""


def differing_characters(text: str, other: str) -> int:
    """Return the number of characters in which two hashes of equal length differ."""
    return sum(one != two for one, two in zip(text, other, strict=False))


def _is_nearly(text: str, other: str) -> bool:
    """True if two different hashes of equal length differ in a few characters alone."""
    return len(text) == len(other) and 0 < differing_characters(text, other) <= _MOST_EDITED


class Origins(Struct, frozen=True, dict=True):
    """The origins of the locked hashes of one provider in one root.

    Attributes:
        entry: The locked entry; None without one.
        past: Its history, the newest first; its first item is the committed state.
        past_elsewhere: Its history in each of the other roots that a log fits.
        others: The provider in other lock files.
        written: The entry of this version before locklens wrote it later than the log; None where it did not.
        merge: The merge that selected version and packages of the entry; "" for another commit, or none.
        packages: The packages at hand that the failing run may have installed.
        packed: The locked `zh` of packages.
        listed: All `zh` of the release that are vouched for today.
        is_known: True if these are known; else `listed` is empty.
        elsewhere: Locked `zh` that the release of this version in another registry lists.
    """

    entry: LockEntry | None
    past: tuple[PastEntry, ...]
    past_elsewhere: tuple[tuple[PastEntry, ...], ...]
    others: tuple[ElsewhereEntry, ...]
    written: PastEntry | None
    merge: str
    packages: tuple[FoundPackage, ...]
    packed: frozenset[str]
    listed: frozenset[str]
    is_known: bool
    elsewhere: frozenset[str]

    def committed(self, one: FoundPackage) -> str:
        """Return the commit, HEAD's or its parent's, that locks a package for this version; "" if none does."""
        if self.entry is None or one.hashes & self.entry.accepted:
            return ""
        states = ((commit, each) for commit, each in locked_states(self.past[:2]) if each.version == self.entry.version)
        return next((commit for commit, each in states if one.hashes & each.accepted), "")

    @cached_property
    def edited(self) -> EditedHash | None:
        """A locked hash that was edited; None if there is none.

        It is one of a package at hand except for a few characters, where a commit locks that package for this version.
        """
        if self.entry is None:
            return None
        for one in self.packages:
            commit = self.committed(one)
            for was in sorted(one.hashes) if commit else ():
                now = next((text for text in self.entry.hashes if _is_nearly(text, was)), "")
                if now:
                    return EditedHash(now, was, commit, one.path)
        return None

    @cached_property
    def earlier_states(self) -> tuple[PastEntry, ...]:
        """The states of the entry that the failing run may have met, if it was before the present one: newest first.

        They have the same version and other hashes. That the present one is committed does not tell which the run met.
        """
        if (now := self.entry) is None:
            return ()
        states = (one for one in (self.written, *self.past, *chain(*self.past_elsewhere)) if one is not None)
        return tuple(one for one in states if one.is_of(now.version) and one.accepted != now.accepted)

    @cached_property
    def earlier(self) -> PastEntry | None:
        """The newest commit that locks other packages for the version, if the entry has none of them; else None."""
        locked = packages_of(self.entry.hashes) if self.entry is not None else frozenset[str]()
        states = (one for one in self.past if one in self.earlier_states)
        found = next((one for one in states if packages_of(one.accepted) != locked), None)
        return found if found is not None and locked.isdisjoint(packages_of(found.accepted)) else None

    @property
    def edit_commit(self) -> str:
        """The first commit after `before_edit` that has the entry's strange hashes; "" if the edit is not committed."""
        place = next((number for number, past in enumerate(self.past) if past is self.before_edit), 0)
        after, odd = locked_states(reversed(self.past[:place])), self.strange or self.packed
        return next((commit for commit, entry in after if odd <= entry.accepted), "")

    @cached_property
    def typed(self) -> tuple[str, str] | None:
        """A strange `zh`, and the one of the release that it differs from in a few characters; None without one.

        No tool makes such a hash, also where the registry had another release for a time. Of many strange ones none is
        compared: that is not a slip, and both lists may be an attacker's.
        """
        if len(self.strange) > _MOST_TYPED:
            return None
        return next(
            ((text, one) for text in sorted(self.strange) for one in sorted(self.listed) if _is_nearly(text, one)), None
        )

    @cached_property
    def completed_edit(self) -> PastEntry | None:
        """The commit, no merge, that has another version's packages alone for this version; others were added since.

        None where there is none, or where packages that it had were taken away, too.
        """
        if self.entry is None or self.merge:
            return None
        states = (one for one in self.past if one.is_of(self.entry.version) and one.borrowed_from)
        return next((one for one in states if not one.is_merged and packages_of(one.accepted) < self.packed), None)

    @property
    def is_committed(self) -> bool:
        """True if the newest commit has the entry's version and hashes."""
        return self.entry is not None and self.past != () and pinned(self.past[0].entry) == pinned(self.entry)

    @cached_property
    def sound_twin(self) -> ElsewhereEntry | None:
        """The entry of another root with packages of only today's release, where those here are strange; else None.

        One that is as it is since no later commit than this entry, so that the release was the same then; where a hash
        was typed, one of any time.
        """
        if self.entry is None or not self.strange:
            return None
        since = self.past[0].date if self.is_committed else "9999"
        return next(
            (
                one
                for one in self.others
                if one.entry.version == self.entry.version
                and (packed := packages_of(one.entry.hashes))
                and packed <= self.listed
                and (self.typed is not None or "" < one.since <= since)
            ),
            None,
        )

    @cached_property
    def strange(self) -> frozenset[str]:
        """Locked `zh` that are neither of the release, nor of another version or registry that is known."""
        others = frozenset(text for _, entry in self.entries_of_other_versions() for text in entry.hashes)
        stale = self.packed - self.listed if self.is_known else frozenset[str]()
        return stale - others - self.elsewhere

    @cached_property
    def before_edit(self) -> PastEntry | None:
        """The newest commit whose packages of this version are sound, if those of the entry are strange; else None.

        Packages of today's release are sound. While the release is unknown, those of other lock files are, if none of
        these files has the entry's packages.
        """
        if self.entry is None or not (self.strange if self.is_known else self.packed):
            return None
        version = self.entry.version
        elsewhere = [packages_of(one.entry.hashes) for one in self.others if one.entry.version == version]
        for past in self.past:
            packed = packages_of(past.entry.hashes) if past.entry and past.entry.version == version else frozenset()
            is_other = not packed & self.packed and packed in elsewhere and self.packed not in elsewhere
            if packed and (packed <= self.listed if self.is_known else is_other):
                return past
        return None

    @cached_property
    def sides(self) -> tuple[PastEntry, PastEntry] | None:
        """The states from which a merge took the version and the hashes, if these are two states; else None.

        Any commit before the merge counts, which need not be one of its parents.
        """
        if not self.merge or self.entry is None or not self.packed:
            return None
        place = next((number for number, one in enumerate(self.past, 1) if one.commit == self.merge), len(self.past))
        states = [(one, one.entry) for one in self.past[place:] if one.entry is not None]
        versions = (one for one, entry in states if entry.version == self.entry.version)
        donors = [(one, entry) for one, entry in states if self.packed <= packages_of(entry.hashes)]
        version, donor = next(versions, None), next((one for one, _ in donors), None)
        if version is None or donor is None or any(entry.version == self.entry.version for _, entry in donors):
            return None
        return version, donor

    @cached_property
    def oldest_with_packages(self) -> LockEntry | None:
        """The oldest committed entry that has the locked `zh`; None without one."""
        states = (entry for _, entry in locked_states(reversed(self.past)))
        return next((one for one in states if self.packed and self.packed <= packages_of(one.hashes)), None)

    def entries_of_other_versions(self) -> tuple[tuple[str, LockEntry], ...]:
        """Return entries of other versions of the provider that are known: place in words, and entry.

        The oldest commit comes first: it says of which version hashes were that were kept through a change of it.
        """
        if self.entry is None:
            return ()
        past = [(f"commit {commit[:12]}", entry) for commit, entry in locked_states(reversed(self.past))]
        known = (*past, *((one.lock_file, one.entry) for one in self.others))
        others = ((place, one) for place, one in known if one.version != self.entry.version)
        if (oldest := self.oldest_with_packages) is None or oldest.version != self.entry.version:
            return tuple(others)
        # What has the locked `zh` for another version, in a later commit or another root, may be the edited entry.
        return tuple((place, one) for place, one in others if not self.packed <= packages_of(one.hashes))
