"""A change with the facts about it, as input of the rules about releases. Pure."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import DIALECTS, Dialect
from locklens.hashes import packages_of
from locklens.releases import Fact, FactRequest, Listing, ListingId, MirroredHashes, MirrorId, ReleaseFacts, ReleaseId
from locklens.review.model import Change, ChangeKind, Unverified, unverified_by
from locklens.trust.authentication import AuthenticationOutcome, HashOrigin
from locklens.trust.continuity import FolderHashes, Origin, PackageHashes, judge_folders, judge_packages
from locklens.versions import neighbour

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.hashes import HashedFiles
    from locklens.lockfile import LockEntry
    from locklens.releases import LookupFailure, MirroredHash
    from locklens.review.context import CommittedVersion


class FactSubject(Struct, frozen=True):
    """A change of a root, as the subject of fact collection."""

    lock_file: str
    tool: Dialect
    change: Change

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for changes of several roots that need the same facts: see `Change.key`."""
        return (self.tool.name, *self.change.key)


class Case(Struct, frozen=True, dict=True):
    """A change with the facts about it.

    Attributes:
        new: Facts about the new version.
        old: Facts about the old version; None without one, or for the same version of the same provider.
        before: Facts about the previous version, if this one was republished; of a new provider, about the version that
            other roots of the base lock.
        elsewhere: Facts about this version in the other tool's registry.
        lent_by: Facts about the version of the change's `lender`.
        hashed: The hashes of packages that were hashed here.
        mirrored: The hashes that the mirrors of the CLI configuration have of the new version.
        altered: The `zh` of packages that were downloaded in this run and are not the signed ones, by the signed `zh`.
    """

    change: Change
    tool: Dialect
    new: ReleaseFacts
    listing: Listing
    old: ReleaseFacts | None = None
    before: ReleaseFacts | None = None
    elsewhere: ReleaseFacts | None = None
    lent_by: ReleaseFacts | None = None
    hashed: HashedFiles = {}
    mirrored: Mapping[str, MirroredHash] = {}
    altered: Mapping[str, str] = {}

    @property
    def entry(self) -> LockEntry:
        """The entry locked now."""
        assert self.change.new is not None
        return self.change.new

    @property
    def is_same_release(self) -> bool:
        """True if old and new are the same version of the same provider."""
        return self.change.is_same_release

    @property
    def is_same_version(self) -> bool:
        """True if the version is unchanged, even at another address."""
        return bool(self.change.old and self.change.old.version == self.entry.version)

    @property
    def is_restored(self) -> bool:
        """True if the entry locks all packages of the signed release and no others, as a commit before the base does.

        Of a part of them it would not be said: without its hash, a package that was published again only adds one.
        """
        return bool(self.change.restored_from) and self._is_whole

    @property
    def edited_from(self) -> CommittedVersion | None:
        """The commit of the base that has the packages of the old entry for another version; None if none is known.

        That version's release has them too, and the entry locks all packages of its own release now: the old entry was
        edited, and is that no more.
        """
        had = packages_of(self.change.old.hashes) if self.change.old is not None else frozenset[str]()
        is_of_another = self.lent_by is not None and had <= self.lent_by.packages
        return self.change.lender if is_of_another and had == self.packages.gone and self._is_whole else None

    @property
    def _is_whole(self) -> bool:
        today, locked = self.new.today, packages_of(self.entry.hashes)
        return today is not None and self.new.packages <= locked <= today.hashes

    @property
    def is_old_another(self) -> bool:
        """True if the old version has none of the packages now that were locked for it: it is not what was locked."""
        locked = packages_of(self.change.old.hashes) if self.change.old is not None else frozenset[str]()
        is_known = self.old is not None and self.old.today is not None
        return is_known and self.old is not None and bool(locked) and locked.isdisjoint(self.old.packages)

    @property
    def first_said(self) -> tuple[str, ...]:
        """The hashes that were not locked for this release before; for a new version this includes kept ones.

        The same holds for a moved provider: hashes of the old address are claimed for the new one's packages now.
        """
        return tuple(fact.hash for fact in self.change.added) if self.is_same_release else self.entry.hashes

    @cached_property
    def packages(self) -> PackageHashes:
        """The judgement of the `zh`."""
        earlier = self.change.old.hashes if self.change.old and self.is_same_release else ()
        other = self.elsewhere
        others = {other.id.address.host: other.today} if other is not None and other.today is not None else {}
        release = self.change.address.type, str(self.entry.version)
        return judge_packages(earlier, self.entry.hashes, self.new.today, release, elsewhere=others)

    @property
    def contradicts(self) -> bool:
        """True if hashes that are locked, or were, are not those of the release."""
        return self.packages.has(Origin.REPUBLISHED) or self.packages.has(Origin.UNKNOWN_ORIGIN)

    @cached_property
    def lender(self) -> ReleaseFacts | None:
        """The release of another version with packages whose `zh` are foreign to this one; None if none is known."""
        known = (one for one in (self.old, self.lent_by) if one is not None and one.id.address == self.change.address)
        return next((one for one in known if not one.packages.isdisjoint(self.packages.foreign)), None)

    @cached_property
    def folders(self) -> FolderHashes:
        """The judgement of the `h1` that the old entry does not lock for this version."""
        return judge_folders(
            self.first_said, self.new.packages, self.hashed, reported=vouched_for(self.new, self.hashed).keys()
        )

    @cached_property
    def to_verify(self) -> frozenset[str]:
        """The `zh` of packages to verify: added ones, or all for an unchanged provider, a new version or address."""
        added = packages_of(fact.hash for fact in self.change.added)
        is_listed = self.change.kind is ChangeKind.UNCHANGED
        if is_listed or self.change.moved_from is not None or not (added or self.is_same_release):
            return packages_of(self.entry.hashes)
        return added

    @property
    def unverified(self) -> Unverified | None:
        """The reason why `to_verify` cannot be verified; None if it can, or if LK030 or LK033 blocks for that."""
        if self.new.today is not None or not self.to_verify:
            return None
        trouble, judged = self.trouble, self.new.authentication
        if (reason := unverified_by(trouble)) is not Unverified.NOT_AUTHENTICATED:
            return reason
        is_refused = judged is not None and judged.outcome is AuthenticationOutcome.REFUSED
        is_blocked = trouble is not None or bool(self.new.foreign) or is_refused
        is_claimed = self.is_same_version and self.change.kind is not ChangeKind.UNCHANGED
        return None if is_blocked and not is_claimed else Unverified.NOT_AUTHENTICATED

    @property
    def unreachable(self) -> Unverified | None:
        """The reason why it is unknown what verifies the `h1`, where no package hash is to be verified."""
        folders = self.folders
        is_known = self.new.today is not None or bool(self.to_verify) or bool(folders.to_hash)
        return None if is_known or not folders.unproven else unverified_by(self.trouble)

    @property
    def trouble(self) -> LookupFailure | None:
        """The reason why the new version is unknown."""
        return self.new.trouble


def vouched_for(release: ReleaseFacts, hashed: HashedFiles) -> Mapping[str, HashOrigin]:
    """Return who vouches for each hash of a release, except for one that the registry reports and no package has."""
    found = {platform: hashed[zh] for zh, platform in release.platforms.items() if zh in hashed}
    wrong = {text for text, platform in release.reported.items() if text not in found.get(platform, {text})}
    return {text: origin for text, origin in release.vouchers.items() if text not in wrong}


def case_of(
    change: Change,
    tool: Dialect,
    known: Mapping[FactRequest, Fact],
    hashed: HashedFiles,
    altered: Mapping[str, str] = MappingProxyType({}),
) -> Case:
    """Return a change with the facts about it; all its `questions` are answered, and it is not a removal."""
    new, listing_id = _release(known, new_id(change, tool)), ListingId(tool.name, change.address)
    listing = known.get(replace(listing_id, is_fresh=True), known[listing_id])
    assert new is not None
    assert isinstance(listing, Listing)
    case = Case(change, tool, new, listing, _release(known, old_id(change, tool)), hashed=hashed, altered=altered)
    return replace(
        case,
        before=_release(known, version_before(case)),
        elsewhere=_release(known, other_registry(case)),
        lent_by=_release(known, lender_id(change, tool)),
        mirrored=_mirrored(known, mirror_id(change, tool)),
    )


def _mirrored(known: Mapping[FactRequest, Fact], question: MirrorId) -> Mapping[str, MirroredHash]:
    fact = known.get(question)
    return fact.hashes if isinstance(fact, MirroredHashes) else {}


def _release(known: Mapping[FactRequest, Fact], question: ReleaseId | None) -> ReleaseFacts | None:
    """Return the facts about a release: of this run where these were asked for, and there was an answer."""
    fact = known.get(question) if question is not None else None
    fresh = known.get(replace(question, is_fresh=True)) if question is not None else None
    if isinstance(fresh, ReleaseFacts) and (fresh.trouble is None or fresh.trouble.is_no):
        return fresh
    return fact if isinstance(fact, ReleaseFacts) else None


def new_id(change: Change, tool: Dialect) -> ReleaseId:
    """The release that is locked now."""
    assert change.new is not None
    return ReleaseId(tool.name, change.address, change.new.version)


def mirror_id(change: Change, tool: Dialect) -> MirrorId:
    """The mirrors' copies of the release that is locked now; what a folder holds is hashed for changes alone."""
    assert change.new is not None
    return MirrorId(tool.name, change.address, change.new.version, change.kind is not ChangeKind.UNCHANGED)


def old_id(change: Change, tool: Dialect) -> ReleaseId | None:
    """The release that was locked before, if it is a different one."""
    if change.old is None or change.is_same_release:
        return None
    return ReleaseId(tool.name, change.moved_from or change.address, change.old.version)


def lender_id(change: Change, tool: Dialect) -> ReleaseId | None:
    """The version that a commit locks with foreign hashes of the one that is locked now."""
    return ReleaseId(tool.name, change.address, change.lender.version) if change.lender is not None else None


def version_before(case: Case) -> ReleaseId | None:
    """The version that should have the same signer, where there is no old one.

    Of a new provider, it is the highest that other roots of the base lock; of a republished version, the next lower
    listed one, or else the next higher one.
    """
    version = case.entry.version
    if (where := case.change.elsewhere) is not None:
        locked = where.highest.version
        return ReleaseId(case.tool.name, case.change.address, locked) if locked != version else None
    if not case.is_same_release:
        return None
    nearest = neighbour((one.version for one in case.listing.versions), version)
    return ReleaseId(case.tool.name, case.change.address, nearest) if nearest is not None else None


def other_registry(case: Case) -> ReleaseId | None:
    """The same version in the default registry of the other tool."""
    hosts = [dialect.default_host for dialect in DIALECTS.values()]
    address = case.change.address
    if address.host not in hosts:
        return None
    other = next(host for host in hosts if host != address.host)
    return ReleaseId(case.tool.name, replace(address, host=other), case.entry.version)


def hashes_to_look_up(change: Change, tool: Dialect, known: Mapping[FactRequest, Fact]) -> frozenset[str]:
    """Return the `zh` whose `h1` are useful to know."""
    if change.new is None:
        return frozenset()
    packages: set[str] = set()
    for question in (new_id(change, tool), old_id(change, tool)):
        if (release := _release(known, question)) is not None:
            packages |= release.packages
    return frozenset(packages)


class DownloadedPackages(Protocol):
    """What is known of packages that were downloaded here, by the `zh` that is signed: `Cache` has it."""

    def hashes(self, zhs: Iterable[str]) -> HashedFiles:
        """Return the hashes of the files of each that arrived as it is signed."""

    def altered(self, zhs: Iterable[str]) -> Mapping[str, str]:
        """Return the `zh` of each that arrived otherwise."""


def settled_case(
    subject: FactSubject, known: Mapping[FactRequest, Fact], downloaded: DownloadedPackages
) -> Case | None:
    """Return a change, all of whose questions are answered, with the facts about it; None for a removed provider."""
    if subject.change.new is None:
        return None
    zhs = hashes_to_look_up(subject.change, subject.tool, known)
    return case_of(subject.change, subject.tool, known, downloaded.hashes(zhs), downloaded.altered(zhs))
