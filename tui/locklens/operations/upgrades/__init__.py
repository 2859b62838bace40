"""Upgrade candidates of a root's providers as values, and an estimate of what locking them downloads. No I/O.

`locklens.operations.upgrades.lookup` looks them up; `locklens.operations.write.upgrade` plans the selected ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.dialect import OPENTOFU, Dialect
from locklens.hashes import hashes_of_files
from locklens.operations.root_modules import Root, recorded_words
from locklens.project.configuration import by_trouble, constraint_place
from locklens.project.constraint_edits import inadmissible
from locklens.releases import ReleaseFacts, ReleaseId
from locklens.review.changes import bump_of
from locklens.selection import HeldBack, Hold, Reason
from locklens.selection.choosing import combined, held_back, newest_of
from locklens.sources.metadata import ListedVersion, ReleaseDates, days_old
from locklens.trust.authentication import AuthenticationOutcome
from locklens.versions import Constraints, Version, precedence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from locklens.addresses import Platform, ProviderAddress
    from locklens.errors import LockLensError
    from locklens.hashes import HashedFiles
    from locklens.lockfile import LockEntry
    from locklens.project.configuration import Requirement, RequirementSite
    from locklens.review.inspection import ReleaseAdvisories
    from locklens.review.model import Bump

    CandidateKey = tuple[str, ProviderAddress]
    """Root and provider."""


class CandidateVersion(Struct, frozen=True):
    """One version of a provider, judged for one root.

    Attributes:
        released: Release date; None if unknown.
        days: Age in days; None if unknown.
    """

    listed: ListedVersion
    released: datetime | None
    days: int | None
    holds: tuple[Hold, ...]

    @property
    def version(self) -> Version:
        """The version number."""
        return self.listed.version

    @property
    def is_in_range(self) -> bool:
        """True if it satisfies the constraints."""
        return not any(hold.reason.excludes for hold in self.holds)

    @property
    def is_usable(self) -> bool:
        """True if the tools support its plugin protocol."""
        return not any(hold.reason is Reason.PROTOCOL for hold in self.holds)

    @property
    def excluding(self) -> tuple[Requirement, ...]:
        """The requirements whose constraint has to be edited for it, the first of each place."""
        demands = [hold.demand for hold in self.holds if hold.demand is not None]
        return tuple({entry.site: entry for demand in demands for entry in demand.requirements}.values())


class UpgradeCandidates(Struct, frozen=True):
    """One provider in one root, with its candidate versions.

    Attributes:
        entry: Its block in the lock file; None if it is not locked.
        moved: The block of Terraform's registry that OpenTofu replaces with one of this provider; None without one.
        moves_to: The name of the provider whose upgrade replaces this one's block so; "" if none does.
        choices: The candidate versions, newest first: releases, and selectable pre-releases.
        prereleases: Number of the other pre-releases, which only an exact constraint selects.
        newest: The newest release; None if there is none.
        newer: The versions above the locked one, with their holds.
        guards: Reason why a constraint is not rewritten for any version, by site; absent for those that may be.
        unread: Names the modules that cannot be read, whose constraints are unknown; "" if all are read.
        recorded: What the lock file's record stands in for, in words; "" if no requirement is known from it alone.
        is_asked: True if the lookup has ended, with or without an answer, or there is none: no upgrade moves what no
            module requires.
        was_contacted: True if the registry was asked, in this run or an earlier one.
        problem: Reason why the versions are unknown; "" if they are known.
        hint: The next step after a problem.
        as_of: Time of the registry's answer, ISO 8601 in UTC.
        repository: The URL of the provider's source, as the registry reports it; "" if it is unknown.
    """

    root: str
    lock_file: str
    tool: Dialect
    address: ProviderAddress
    name: str
    entry: LockEntry | None
    requirements: tuple[Requirement, ...]
    moved: LockEntry | None = None
    moves_to: str = ""
    choices: tuple[CandidateVersion, ...] = ()
    prereleases: int = 0
    newest: Version | None = None
    newer: tuple[HeldBack, ...] = ()
    guards: Mapping[RequirementSite, str] = {}
    unread: str = ""
    recorded: str = ""
    is_asked: bool = False
    was_contacted: bool = False
    problem: str = ""
    hint: str = ""
    as_of: str = ""
    repository: str = ""

    @property
    def key(self) -> CandidateKey:
        """Its root and provider, the same across reloads."""
        return self.root, self.address

    @property
    def locked(self) -> Version | None:
        """The locked version."""
        return self.entry.version if self.entry is not None else None

    @property
    def locked_words(self) -> str:
        """The locked version; with its registry where the entry moves from there."""
        if self.entry is None and self.moved is not None:
            return f"{self.moved.version} ({display_host(self.moved.address.host)})"
        return str(self.locked or "not locked")

    @property
    def prior(self) -> LockEntry | None:
        """The block whose platforms an upgrade keeps."""
        return self.entry or self.moved

    @property
    def prior_release(self) -> ReleaseId | None:
        """The release of that block."""
        return ReleaseId(self.tool.name, self.prior.address, self.prior.version) if self.prior is not None else None

    @property
    def constraints(self) -> Constraints:
        """All constraints together."""
        return combined(self.requirements)

    def choice(self, version: Version | None) -> CandidateVersion | None:
        """The candidate for a version; None if the registry does not list it."""
        return next((candidate for candidate in self.choices if candidate.version == version), None)

    @property
    def in_range(self) -> CandidateVersion | None:
        """The newest version that satisfies the constraints: the selection of `init -upgrade`."""
        return next((candidate for candidate in self.choices if candidate.is_in_range), None)

    @property
    def is_excluded(self) -> bool:
        """True if the locked version does not satisfy the constraints."""
        return self.locked is not None and bool(self.requirements) and not self.constraints.admits(self.locked)

    @property
    def is_locked_in_range(self) -> bool | None:
        """True if the locked version satisfies the constraints; None if nothing requires it, or not all are known."""
        if self.is_excluded:
            return False
        is_known = self.locked is not None and self.requirements and not self.unread and not self.recorded
        return True if is_known else None

    @property
    def is_withdrawn(self) -> bool:
        """True if the registry's answer, which may be an old one, does not list the locked version."""
        return self.locked is not None and bool(self.choices) and self.choice(self.locked) is None

    @property
    def answered(self) -> str:
        """The time of the registry's answer, such as "as of 2026-03-31 09:12 UTC"; "" if it is unknown."""
        from locklens.review.reports.evidence_lines import clock

        return f"as of {clock(self.as_of)}" if self.as_of else ""

    def is_newer(self, version: Version) -> bool:
        """True if a version is above the locked one, or none is locked."""
        return self.locked is None or version.compare(self.locked) > 0

    def bump(self, version: Version) -> Bump | None:
        """The kind of step from the locked version; None if none is locked."""
        return bump_of(self.locked, version) if self.locked is not None else None

    def refusal(self, choice: CandidateVersion) -> str:
        """The reason why a version cannot be selected, even with an edited constraint; "" if it can."""
        other = [hold for hold in choice.holds if hold.reason.excludes and hold.demand is None]
        if other:
            return str(other[0])
        for entry in choice.excluding:
            if reason := self.guards.get(entry.site) or inadmissible(entry.constraint, choice.version):
                return f"{entry.constraint.strip()} ({constraint_place(entry)}) excludes it: {reason}"
        return ""

    def lost_platforms(self, version: Version) -> tuple[Platform, ...]:
        """The platforms with a package of the locked version but none of another; () if the lists are unknown."""
        before, after = self.choice(self.locked), self.choice(version)
        if before is None or after is None or not after.listed.platforms:
            return ()
        return tuple(sorted(frozenset(before.listed.platforms) - frozenset(after.listed.platforms), key=str))


class RefusedRoot(Struct, frozen=True):
    """A root in which upgrades are not possible, with the reason."""

    root: str
    lock_file: str
    error: LockLensError


class CandidateTable(Struct, frozen=True):
    """The upgrade candidates of several roots.

    Attributes:
        providers: In the order of roots, then addresses.
        notes: Limits of the whole lookup, each a sentence.
    """

    providers: tuple[UpgradeCandidates, ...] = ()
    refused: tuple[RefusedRoot, ...] = ()
    notes: tuple[str, ...] = ()


def candidates_of(
    offer: UpgradeCandidates, offered: Sequence[ListedVersion], dates: ReleaseDates, *, now: datetime, as_of: str = ""
) -> UpgradeCandidates:
    """Return the candidates with the registry's answer, and the ages that its versions have now."""
    from msgspec.structs import replace

    locked = offer.locked
    groups = held_back(offer.requirements, offered, None)
    holds = {version: group.holds for group in groups for version in group.versions}
    choices = []
    for listed in sorted(offered, key=lambda entry: (precedence(entry.version), str(entry.version)), reverse=True):
        version, released = listed.version, dates.of(listed.version)
        choice = CandidateVersion(listed, released, days_old(released, now), holds[version])
        if choice.is_in_range or version == locked or not (version.prerelease or version.is_unspecified):
            choices.append(choice)
    return replace(
        offer,
        choices=tuple(choices),
        prereleases=sum(bool(listed.version.prerelease) for listed in offered)
        - sum(bool(choice.version.prerelease) for choice in choices),
        newest=newest_of(offer.requirements, offered, locked).overall,
        newer=held_back(offer.requirements, offered, locked),
        is_asked=True,
        was_contacted=True,
        as_of=as_of,
        repository=dates.repository,
    )


def edits_in_short(choice: CandidateVersion) -> str:
    """The places of the constraints to edit for a version, such as "main.tf:4", "main.tf:4 +1"; "" if there is none."""
    places = list(dict.fromkeys(str(constraint_place(entry)) for entry in choice.excluding))
    more = f" +{len(places) - 1}" if len(places) > 1 else ""
    return f"{places[0]}{more}" if places else ""


def candidates_before_lookup(
    root: Root, address: ProviderAddress, guards: Mapping[RequirementSite, str]
) -> UpgradeCandidates:
    """Return the candidates of a provider before any lookup."""
    entry = root.lock.by_address.get(address)
    requirements = root.requirements(address)
    guarded = {entry.site: guards[entry.site] for entry in requirements if guards.get(entry.site)}
    old_of = {new: old for old, new in root.migration.moved}
    new = next((new for new, old in old_of.items() if old == address and root.requirements(new)), None)
    unread = _unread(root)
    return UpgradeCandidates(
        root.path,
        root.lock.path,
        root.tool,
        address,
        root.name_of(address),
        entry,
        requirements,
        root.lock.by_address.get(old_of[address]) if address in old_of else None,
        root.name_of(new) if new is not None else "",
        guards=guarded,
        unread=unread,
        recorded=recorded_words(requirements, root.configuration.unknown_reason),
        is_asked=not requirements and not unread,
    )


def _unread(root: Root) -> str:
    """The modules of a root that cannot be read, the first by name; "" if all can."""
    missing = root.configuration.missing_modules
    if not missing:
        return ""
    more = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
    trouble = missing[0].trouble if len(by_trouble(missing)) == 1 else "not read"
    get = f" ({root.tool.command} get fetches modules)" if any(one.is_fetchable for one in missing) else ""
    return f"module {missing[0].call}{more} {trouble}{get}"


class KnownRelease(Struct, frozen=True):
    """The facts of one release, and the hashes of its packages that were hashed here.

    Attributes:
        advisories: As far as its packages were inspected; None without a database.
    """

    facts: ReleaseFacts
    hashed: HashedFiles
    advisories: ReleaseAdvisories | None = None


def is_refused(facts: ReleaseFacts | None) -> bool:
    """True if the tool is known to refuse a release."""
    judged = facts.authentication if facts is not None else None
    return judged is not None and judged.outcome is AuthenticationOutcome.REFUSED


class DownloadEstimate(Struct, frozen=True):
    """The downloads that locking the selected versions takes.

    Attributes:
        size: Their total size in bytes; None if unknown.
        is_sure: True if the numbers are exact, False for an estimate.
    """

    packages: int = 0
    size: int | None = 0
    hashed: int = 0
    is_sure: bool = True


def estimate_download(
    picks: Iterable[tuple[UpgradeCandidates, CandidateVersion]],
    known: Mapping[ReleaseId, KnownRelease],
    here: Platform,
    *,
    required: Collection[Platform] = (),
    believed: Collection[str] = (),
) -> DownloadEstimate:
    """Estimate the downloads for selected versions: each package once, for all platforms of the entries.

    `known` has both locked and selected releases. `here` is locked where an entry records no platform, and `required`,
    by the policy, besides those of the entries. The hashes that the registries of `believed` report are locked without
    a download, by OpenTofu's rules.
    """
    needed: dict[ReleaseId, set[Platform]] = {}
    is_sure = True
    for offer, choice in picks:
        locked = platforms_to_lock(offer, known, here, required=required)
        needed.setdefault(release_id(offer, choice.version), set()).update(locked.platforms | locked.likely)
        if locked.unknown and offer.prior_release is not None:
            # Which platforms these h1 are for, packages of the locked version tell, the likely ones first.
            needed.setdefault(offer.prior_release, set()).update(locked.likely)
            is_sure = False
    # Of one package that both tools lock, one download serves both.
    sizes: dict[tuple[ProviderAddress, Version, Platform], int | None] = {}
    hashed: set[tuple[ProviderAddress, Version, Platform]] = set()
    for release, release_platforms in needed.items():
        entry = known.get(release)
        packages = {(release.address, release.version, platform) for platform in release_platforms}
        if entry is None:
            sizes |= dict.fromkeys(packages - sizes.keys())
            is_sure = False
            continue
        by_platform = {platform: zh for zh, platform in entry.facts.platforms.items()}
        is_believed = release.tool == OPENTOFU.name and release.address.host in believed
        reported = set(entry.facts.reported.values()) if is_believed else set()
        for package in packages:
            zh = by_platform.get(package[2], "")
            if zh in entry.hashed:
                hashed.add(package)
            elif package[2] not in reported:
                sizes[package] = entry.facts.sizes.get(zh)
    sizes = {package: size for package, size in sizes.items() if package not in hashed}
    known_sizes = [size for size in sizes.values() if size is not None]
    size = sum(known_sizes) if len(known_sizes) == len(sizes) else None
    return DownloadEstimate(len(sizes), size, len(hashed), is_sure)


class LockedPlatforms(Struct, frozen=True):
    """The platforms that an upgrade locks.

    Attributes:
        unknown: Number of locked `h1` hashes whose platform is found when the upgrade is planned.
        likely: Those that are tried first for them.
    """

    platforms: frozenset[Platform]
    unknown: int = 0
    likely: frozenset[Platform] = frozenset()


def platforms_to_lock(
    offer: UpgradeCandidates,
    known: Mapping[ReleaseId, KnownRelease],
    here: Platform,
    *,
    required: Collection[Platform] = (),
) -> LockedPlatforms:
    """Return the required platforms, and those that the block before has an `h1` for; see `estimate_download`."""
    from locklens.operations.write.registry_source import known_platforms

    if offer.prior is None or offer.prior_release is None:
        return LockedPlatforms(frozenset(required) or frozenset({here}))
    release = known.get(offer.prior_release)
    if release is None:
        unknown = len(hashes_of_files(offer.prior.hashes))
        return LockedPlatforms(frozenset(required) or frozenset({here}), unknown, frozenset({here} if unknown else ()))
    of_h1 = dict(release.facts.reported)
    for zh, platform in release.facts.platforms.items():
        of_h1 |= dict.fromkeys(release.hashed.get(zh, ()), platform)
    found, likely = known_platforms(offer.prior, release.facts.platforms, of_h1, here)
    platforms = frozenset(found.platforms) | frozenset(required)
    return LockedPlatforms(platforms or frozenset({here}), found.unknown, frozenset(likely))


def release_id(offer: UpgradeCandidates, version: Version) -> ReleaseId:
    """The release of a candidate version."""
    return ReleaseId(offer.tool.name, offer.address, version)
