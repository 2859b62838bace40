"""Authenticated release facts: the single access path of reviews, locks and installs to registries.

Here are the network settings of a run, and facts about releases and version lists: values, each with its reason if
unknown, because one unreachable registry must not end a review. `session` has the connections, gpg and threads of a
run, and turns answers and failures into these values; `authentication` judges a release as the tools do. Nothing here
compares a release with what is locked.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from locklens.trust import Signer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Self

    from locklens.addresses import Platform, ProviderAddress
    from locklens.project.installation import InstallationMethod
    from locklens.sources.metadata import ListedVersion
    from locklens.storage.cache import Cache
    from locklens.trust.authentication import Authentication, HashOrigin
    from locklens.trust.checksums import Checksums
    from locklens.versions import Version


class NetworkSettings(Struct, frozen=True):
    """The hosts that a run may contact, and its caches.

    Attributes:
        hosts: Given on the command line, comparison form.
        is_offline: No request is sent; cached answers count, however old.
        is_fresh: Answers that were cached before the run do not count.
        reported_hashes: Registries whose reported hashes are locked by OpenTofu's rules, and explain hashes in a
            review, comparison form; None: its own registry's are locked, and any that is asked explains.
        methods: The command line's places to install packages from; None stands for the tool's.
        asks_all: Plans may ask every registry that the roots require, as the tools do on the user's own roots.
    """

    environ: Mapping[str, str]
    cache: Cache
    hosts: tuple[str, ...] = ()
    is_offline: bool = False
    is_fresh: bool = False
    asks_all: bool = False
    reported_hashes: tuple[str, ...] | None = None
    methods: tuple[InstallationMethod, ...] | None = None

    def fresher(self, is_fresh: bool) -> Self:
        """Return the same settings; if True, answers that were cached before the run do not count."""
        return replace(self, is_fresh=True) if is_fresh else self


class ReleaseId(Struct, frozen=True):
    """Requests the facts about one version of a provider; `tool` names the dialect whose rules apply.

    A fresh answer is one of this run.
    """

    tool: str
    address: ProviderAddress
    version: Version
    is_fresh: bool = False


class ListingId(Struct, frozen=True):
    """Requests the available versions of a provider; a fresh answer is one of this run."""

    tool: str
    address: ProviderAddress
    is_fresh: bool = False


class MirrorId(Struct, frozen=True):
    """Requests the hashes that the mirrors of the CLI configuration have of a version.

    Attributes:
        holds: True to hash the packages that a folder holds; False for what network mirrors list, which is cheap.
    """

    tool: str
    address: ProviderAddress
    version: Version
    holds: bool = True


FactRequest = ReleaseId | ListingId | MirrorId


class LookupFailure(Struct, frozen=True):
    """The reason why a fact is unknown.

    Attributes:
        was_asked: True if a request was sent.
        is_offline: True if none was sent because the run is offline.
        is_no: True if the answer was that there is no such thing.
        is_unvouched: True if none was sent because neither the user nor the base names the host.
    """

    words: str
    hint: str = ""
    was_asked: bool = True
    is_offline: bool = False
    is_no: bool = False
    is_unvouched: bool = False


class ReleaseFacts(Struct, frozen=True):
    """The facts about one version of a provider.

    Attributes:
        checksums: Its SHA256SUMS, None if it could not be obtained. Counts only for the hashes in `vouchers`.
        authentication: The tool's judgement of the release, None without SHA256SUMS.
        vouchers: The origin of each hash that is vouched for.
        reported: The platform of each `h1` that the registry reports.
        sizes: Bytes of the packages, by `zh`, as far as the registry reports them.
        trouble: The reason why not all is known.
        as_of: The time of the oldest of the answers, ISO 8601 in UTC.
        released: The release date that the registry claims; None if unknown or not requested.
        days: Whole days since then.
        foreign: The release that is signed instead of this one, in a clause, or "". If set, `vouchers` is empty.
        source: The page of the release, or else of the provider's source, as the registry's answers name it; unsigned.
    """

    id: ReleaseId
    checksums: Checksums | None = None
    authentication: Authentication | None = None
    vouchers: Mapping[str, HashOrigin] = field(default_factory=dict)
    reported: Mapping[str, Platform] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    trouble: LookupFailure | None = None
    as_of: str | None = None
    released: datetime | None = None
    days: int | None = None
    foreign: str = ""
    source: str = ""

    @property
    def today(self) -> Checksums | None:
        """The checksums, if they are authenticated."""
        return self.checksums if self.vouchers else None

    @property
    def signer(self) -> Signer | None:
        """The signer; None if unknown."""
        if self.authentication is None or self.foreign:
            return None
        key = self.authentication.signed_by
        return Signer(self.authentication.tier, (key,) if key else (), str(self.id.version))

    @property
    def packages(self) -> frozenset[str]:
        """The `zh` of this release's packages, as far as they are vouched for."""
        return frozenset(self.platforms)

    @property
    def platforms(self) -> dict[str, Platform]:
        """The platform of each package that is vouched for, by `zh`."""
        if self.checksums is None:
            return {}
        listed = self.checksums.packages(self.id.address.type, str(self.id.version))
        return {zh: platform for platform, found in listed.items() for zh in found if zh in self.vouchers}


class Listing(Struct, frozen=True):
    """The versions that a registry lists; () with a `trouble` where they are unknown, or there is no such provider.

    Attributes:
        is_offline: True if the registry was not asked: a version may have been released since the answer was cached.
    """

    id: ListingId
    versions: tuple[ListedVersion, ...] = ()
    trouble: LookupFailure | None = None
    as_of: str | None = None
    is_offline: bool = False

    @property
    def is_known(self) -> bool:
        """True if there was a usable answer; it may be that there is no such provider."""
        return self.trouble is None or self.trouble.is_no

    def has(self, version: Version) -> bool:
        """True if a version is listed."""
        return any(one.version == version for one in self.versions)

    def lacks(self, version: Version) -> bool:
        """True if it is known that a version is not listed now."""
        return self.is_known and not self.is_offline and not self.has(version)


class MirroredHash(Struct, frozen=True):
    """A hash that a mirror has, and nothing signed stands behind; `mirror` as it is named in messages."""

    mirror: str
    platform: Platform


class MirroredHashes(Struct, frozen=True):
    """The hashes that mirrors list or hold of a version."""

    id: MirrorId
    hashes: Mapping[str, MirroredHash] = field(default_factory=dict)


Fact = ReleaseFacts | Listing | MirroredHashes


def unasked(question: FactRequest) -> Fact:
    """The fact where lookups are disabled."""
    trouble = LookupFailure("the registry was not asked", was_asked=False, is_offline=True)
    if isinstance(question, ListingId):
        return Listing(question, trouble=trouble)
    if isinstance(question, MirrorId):
        return MirroredHashes(question)
    return ReleaseFacts(question, trouble=trouble)
