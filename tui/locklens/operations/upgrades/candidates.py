"""What a root's providers could be upgraded to, as values, and what of it is suggested. Nobody is asked here.

`locklens.operations.upgrades.lookup` finds it out; `locklens.operations.write.upgrade` plans what was picked of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.changes import bump_of
from locklens.selection import Reason, combined, held_back, newest_of
from locklens.sources.release_dates import days_old
from locklens.versions import precedence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.errors import LockLensError
    from locklens.lockfile.model import LockEntry
    from locklens.operations.root_modules import Root
    from locklens.project.configuration import Requirement
    from locklens.review.model import Bump
    from locklens.selection import HeldBack, Hold
    from locklens.sources.metadata import ListedVersion
    from locklens.sources.release_dates import ReleaseDates
    from locklens.versions import Constraints, Version


class CandidateVersion(Struct, frozen=True):
    """One version of a provider, as it looks from one root.

    Attributes:
        listed: As the registry offers it.
        released: When, None where nobody says.
        days: Since then.
        holds: What stands against it; () where nothing does.
    """

    listed: ListedVersion
    released: datetime | None
    days: int | None
    holds: tuple[Hold, ...]

    @property
    def version(self) -> Version:
        """Which."""
        return self.listed.version

    @property
    def is_in_range(self) -> bool:
        """Whether the configuration admits it as it is."""
        return not any(hold.reason.excludes for hold in self.holds)

    @property
    def is_usable(self) -> bool:
        """Whether the tools could run it."""
        return not any(hold.reason is Reason.PROTOCOL for hold in self.holds)

    @property
    def excluding(self) -> tuple[Requirement, ...]:
        """The requirements whose constraint has to be edited for it, of each place the first."""
        demands = [hold.demand for hold in self.holds if hold.demand is not None]
        found = {(one.file, one.line, one.subject): one for demand in demands for one in demand.requirements}
        return tuple(found.values())


class UpgradeCandidates(Struct, frozen=True):
    """One provider in one root, and what its registry offers.

    Attributes:
        root: The root's folder.
        lock_file: Its lock file.
        tool: Whose rules count.
        name: What the provider is called there.
        entry: Its block in the lock file, None where it is not locked.
        requirements: All that requires it.
        choices: What is offered, the newest first: releases, and of the pre-releases those that may be chosen.
        newest: The newest release, None where there is none.
        newer: What holds back the versions that are above the locked one.
        guards: Why files with constraints are not ours to edit, by file; the others are.
        unread: That modules are not fetched, so that their constraints are not known; "" where all are read.
        is_asked: Whether the registry has answered, or will not.
        was_contacted: Whether the registry was asked, in this run or an earlier one.
        problem: Why it is not known what is offered, "" where it is.
        hint: What would help.
        as_of: When the registry said so, ISO 8601 in UTC.
    """

    root: str
    lock_file: str
    tool: Dialect
    address: ProviderAddress
    name: str
    entry: LockEntry | None
    requirements: tuple[Requirement, ...]
    choices: tuple[CandidateVersion, ...] = ()
    newest: Version | None = None
    newer: tuple[HeldBack, ...] = ()
    guards: Mapping[str, str] = {}
    unread: str = ""
    is_asked: bool = False
    was_contacted: bool = False
    problem: str = ""
    hint: str = ""
    as_of: str = ""

    @property
    def locked(self) -> Version | None:
        """The locked version."""
        return self.entry.version if self.entry is not None else None

    @property
    def constraints(self) -> Constraints:
        """All constraints together."""
        return combined(self.requirements)

    def choice(self, version: Version | None) -> CandidateVersion | None:
        """How a version is offered, None where it is not."""
        return next((one for one in self.choices if one.version == version), None)

    @property
    def in_range(self) -> CandidateVersion | None:
        """The newest version that the configuration admits: what `init -upgrade` selects."""
        return next((one for one in self.choices if one.is_in_range), None)

    @property
    def is_excluded(self) -> bool:
        """Whether the configuration does not admit the locked version."""
        return self.locked is not None and bool(self.requirements) and not self.constraints.admits(self.locked)

    @property
    def is_withdrawn(self) -> bool:
        """Whether the registry does not offer the locked version any more."""
        return self.locked is not None and bool(self.choices) and self.choice(self.locked) is None

    def is_newer(self, version: Version) -> bool:
        """Whether a version is above the locked one."""
        return self.locked is None or version.compare(self.locked) > 0

    def bump(self, version: Version) -> Bump | None:
        """What kind of step a version is from the locked one; None where nothing is locked."""
        return bump_of(self.locked, version) if self.locked is not None else None

    def refusal(self, choice: CandidateVersion) -> str:
        """Why a version cannot be picked, not even with an edited constraint; "" where it can."""
        other = [hold for hold in choice.holds if hold.reason.excludes and hold.demand is None]
        if other:
            return str(other[0])
        for one in choice.excluding:
            if reason := self.guards.get(one.file, ""):
                return f"{one.constraint.strip()} ({one.file}:{one.line}) excludes it: {reason}"
        return ""

    def lost_platforms(self, version: Version) -> tuple[Platform, ...]:
        """The platforms that the locked version has a package for, and another one has not, as far as both say."""
        before, after = self.choice(self.locked), self.choice(version)
        if before is None or after is None or not after.listed.platforms:
            return ()
        return tuple(sorted(frozenset(before.listed.platforms) - frozenset(after.listed.platforms), key=str))


class RefusedRoot(Struct, frozen=True):
    """A root in which nothing can be upgraded, and why."""

    root: str
    lock_file: str
    error: LockLensError


class CandidateTable(Struct, frozen=True):
    """What there is to upgrade in some roots.

    Attributes:
        providers: By root, then by address.
        refused: The roots in which nothing can be upgraded.
        notes: What limits it as a whole, each a sentence.
    """

    providers: tuple[UpgradeCandidates, ...] = ()
    refused: tuple[RefusedRoot, ...] = ()
    notes: tuple[str, ...] = ()


def candidates_of(
    offer: UpgradeCandidates, offered: Sequence[ListedVersion], dates: ReleaseDates, *, now: datetime, as_of: str = ""
) -> UpgradeCandidates:
    """Returns an offer with what the registry says.

    Args:
        offer: What is known of the root.
        offered: The versions that are listed.
        dates: When they were released.
        now: The time, for their ages.
        as_of: When the registry said so.
    """
    from msgspec.structs import replace

    locked = offer.locked
    groups = held_back(offer.requirements, offered, None)
    holds = {version: group.holds for group in groups for version in group.versions}
    choices = []
    for one in sorted(offered, key=lambda one: (precedence(one.version), str(one.version)), reverse=True):
        released = dates.of(one.version)
        choice = CandidateVersion(one, released, days_old(released, now), holds[one.version])
        if choice.is_in_range or one.version == locked or not (one.version.prerelease or one.version.is_unspecified):
            choices.append(choice)
    return replace(
        offer,
        choices=tuple(choices),
        newest=newest_of(offer.requirements, offered, locked).overall,
        newer=held_back(offer.requirements, offered, locked, expected=() if locked is None else (locked,)),
        is_asked=True,
        was_contacted=True,
        as_of=as_of,
    )


def edits_in_short(choice: CandidateVersion) -> str:
    """Where constraints have to be edited for a version, such as "main.tf:4", "main.tf:4 +1"; "" for nowhere."""
    places = list(dict.fromkeys(f"{one.file}:{one.line}" for one in choice.excluding))
    more = f" +{len(places) - 1}" if len(places) > 1 else ""
    return f"{places[0]}{more}" if places else ""


def candidates_before_lookup(root: Root, address: ProviderAddress, guards: Mapping[str, str]) -> UpgradeCandidates:
    """Returns what is known of a provider without any registry."""
    entry = root.lock.by_address.get(address)
    requirements = root.configuration.of(address)
    own = {one.file: guards[one.file] for one in requirements if guards.get(one.file)}
    return UpgradeCandidates(
        root.path,
        root.lock.path,
        root.tool,
        address,
        root.name_of(address),
        entry,
        requirements,
        guards=own,
        unread=_unread(root),
    )


def _unread(root: Root) -> str:
    """Says which modules of a root cannot be read, the first by name; "" where all can."""
    missing = root.configuration.missing_modules
    if not missing:
        return ""
    more = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
    return f"module {missing[0].call}{more} not fetched"
