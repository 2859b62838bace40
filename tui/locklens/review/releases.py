"""What registries say of releases, authenticated: the facts that a review's hashes are held against.

A release that could not be had is a value with a reason, because one silent registry must not end a review.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct, field

from locklens.addresses import Platform, ProviderAddress, display_host
from locklens.dialect import DIALECTS
from locklens.errors import NotFoundError, OfflineError, PlatformNotSupportedError, SourceError
from locklens.review.model import Signer
from locklens.sources.asked import NotAsked
from locklens.sources.release_dates import days_old
from locklens.trust.authentication import AuthenticationOutcome, Release, authenticate
from locklens.trust.belonging import Build, foreign_words
from locklens.trust.checksums import read_checksums
from locklens.trust.tiers import PublishedKey
from locklens.trust.vouching import HashOrigin, vouchers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from locklens.dialect import Dialect
    from locklens.sources.metadata import ListedVersion, PackageMetadata
    from locklens.sources.registries import Registries
    from locklens.sources.registry import Registry
    from locklens.trust.authentication import Authentication, Enforcement
    from locklens.trust.checksums import Checksums
    from locklens.trust.tiers import Verifying
    from locklens.versions import Version

USUAL_PLATFORM = Platform("linux", "amd64")
"""The platform whose package is asked about, where there is one: the same everywhere, so that a review does not depend
on the machine that it is made on."""


class ReleaseId(Struct, frozen=True):
    """The question about one version of a provider; `tool` is the name of the dialect whose rules count."""

    tool: str
    address: ProviderAddress
    version: Version


class ListingId(Struct, frozen=True):
    """The question which versions of a provider there are; a fresh answer is one of this run."""

    tool: str
    address: ProviderAddress
    is_fresh: bool = False


FactRequest = ReleaseId | ListingId


class LookupFailure(Struct, frozen=True):
    """Why something is not known.

    Attributes:
        words: A sentence without its full stop.
        hint: The next step, or "".
        was_asked: Whether anybody was asked.
        is_offline: Whether that is because nobody was to be asked.
        is_no: Whether the answer was that there is no such thing.
        is_unvouched: Whether nobody was asked because nothing vouches for the host.
    """

    words: str
    hint: str = ""
    was_asked: bool = True
    is_offline: bool = False
    is_no: bool = False
    is_unvouched: bool = False


class ReleaseFacts(Struct, frozen=True):
    """What is known of one version of a provider.

    Attributes:
        checksums: Its SHA256SUMS, None where it could not be had. Counts only as far as somebody vouches for it.
        authentication: The tool's judgement, likewise.
        vouchers: Who vouches for each hash.
        reported: The platform of each `h1` that the registry reports.
        sizes: Bytes of the packages, by `zh`, as far as the registry says.
        trouble: Why not all is known.
        as_of: When the oldest of the answers was given, ISO 8601 in UTC.
        released: When it was released, as the registry says; None where nobody says, or nobody asked.
        days: Since then.
        foreign: What is signed instead of this release, in a clause: then nobody vouches for anything. "" for nothing.
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

    @property
    def today(self) -> Checksums | None:
        """The checksums that somebody vouches for."""
        return self.checksums if self.vouchers else None

    @property
    def signer(self) -> Signer | None:
        """Who signed; None where that is not known."""
        if self.authentication is None or self.foreign:
            return None
        key = self.authentication.signed_by
        return Signer(self.authentication.tier, (key,) if key else (), str(self.id.version))

    @property
    def packages(self) -> frozenset[str]:
        """The `zh` of this release's packages that somebody vouches for."""
        return frozenset(self.platforms)

    @property
    def platforms(self) -> dict[str, Platform]:
        """The platform of each package that somebody vouches for, by `zh`."""
        if self.checksums is None:
            return {}
        listed = self.checksums.packages(self.id.address.type, str(self.id.version))
        return {zh: platform for platform, found in listed.items() for zh in found if zh in self.vouchers}


class Listing(Struct, frozen=True):
    """The versions that a registry lists; () with a `trouble` where it could not say, or has no such provider."""

    id: ListingId
    versions: tuple[ListedVersion, ...] = ()
    trouble: LookupFailure | None = None
    as_of: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether the registry said what there is, which may be nothing."""
        return self.trouble is None or self.trouble.is_no

    def has(self, version: Version) -> bool:
        """Whether a version is listed."""
        return any(one.version == version for one in self.versions)


Fact = ReleaseFacts | Listing


def nobody_asked(question: FactRequest) -> Fact:
    """The answer where nobody is to be asked at all."""
    trouble = LookupFailure("the registry was not asked", was_asked=False, is_offline=True)
    if isinstance(question, ListingId):
        return Listing(question, trouble=trouble)
    return ReleaseFacts(question, trouble=trouble)


class ReleaseLookup:
    """Answers questions by asking registries. Any number of threads may use it.

    Args:
        registries: Those of a tool.
        verifier: Asks gpg.
        enforcement: What the environment makes OpenTofu insist on.
        asks_ages: Whether to ask when versions were released, too.
    """

    def __init__(
        self,
        registries: Callable[[Dialect], Registries],
        verifier: Verifying,
        enforcement: Enforcement,
        *,
        asks_ages: bool = False,
    ) -> None:
        self._asks_ages = asks_ages
        self._registries = registries
        self._verifier = verifier
        self._enforcement = enforcement

    def answer(self, question: FactRequest) -> Fact:
        """Finds out what is asked; a registry that does not answer is a fact too.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        if isinstance(question, ListingId):
            return self._listing(question)
        return self._release(question)

    def registry(self, question: FactRequest) -> Registry | NotAsked:
        """Returns the registry that a question goes to."""
        return self._registries(DIALECTS[question.tool]).of(question.address.host)

    def _listing(self, question: ListingId) -> Listing:
        registry = self.registry(question)
        if isinstance(registry, NotAsked):
            return Listing(question, trouble=_not_asked(registry))
        try:
            answer = registry.versions(question.address, is_fresh=question.is_fresh)
        except SourceError as error:
            return Listing(question, trouble=_trouble(error, question))
        return Listing(question, answer.versions, as_of=answer.as_of)

    def _release(self, question: ReleaseId) -> ReleaseFacts:
        registry = self.registry(question)
        if isinstance(registry, NotAsked):
            return ReleaseFacts(question, trouble=_not_asked(registry))
        # What is remembered may be of two publications, or older than this one: nobody is accused by it alone.
        try:
            facts = self._authenticated(registry, question)
            judged = facts.authentication
            if judged is None or (judged.outcome is not AuthenticationOutcome.REFUSED and not facts.foreign):
                return facts
        except NotFoundError:
            pass
        except SourceError as error:
            return ReleaseFacts(question, trouble=_trouble(error, question))
        try:
            return self._authenticated(registry, question, is_fresh=True)
        except SourceError as error:
            return ReleaseFacts(question, trouble=_trouble(error, question))

    def _authenticated(self, registry: Registry, question: ReleaseId, *, is_fresh: bool = False) -> ReleaseFacts:
        metadata = _some_package(registry, question, is_fresh=is_fresh)
        signed = registry.checksums(metadata, is_fresh=is_fresh)
        release = Release(
            question.address.host,
            signed.sums,
            signed.signature,
            tuple(PublishedKey(key.ascii_armor, key.trust_signature) for key in metadata.signing_keys),
            metadata.filename,
            metadata.shasum,
        )
        judged = authenticate(release, DIALECTS[question.tool], self._verifier, self._enforcement)
        checksums = read_checksums(signed.sums)
        wanted = Build(question.address.type, question.version, metadata.platform)
        foreign = foreign_words(checksums, metadata.filename, wanted)
        reported = {str(one.platform): frozenset(one.hashes) for one in metadata.packages}
        released = registry.release_dates(question.address).of(question.version) if self._asks_ages else None
        return ReleaseFacts(
            question,
            checksums,
            judged,
            {} if foreign else vouchers(signed.sums, judged, reported),
            {text: one.platform for one in metadata.packages for text in one.hashes if text.startswith("h1:")},
            {text: one.size for one in metadata.packages for text in one.hashes if text.startswith("zh:") and one.size},
            as_of=min(metadata.as_of, signed.as_of),
            released=released,
            days=days_old(released, datetime.now(UTC)),
            foreign=foreign,
        )


def _some_package(registry: Registry, question: ReleaseId, *, is_fresh: bool) -> PackageMetadata:
    """Asks about the usual platform's package, or about the first other one that the registry lists.

    Raises:
        SourceError: There is none, or the registry cannot say.
    """
    address, version = question.address, question.version
    try:
        return registry.package(address, version, USUAL_PLATFORM, is_fresh=is_fresh)
    except PlatformNotSupportedError:
        listed = [one for one in registry.versions(address, is_fresh=is_fresh).versions if one.version == version]
        host = display_host(address.host)
        if not listed:
            raise NotFoundError(f"{host} does not list {address} {version}", source=host) from None
        others = [platform for platform in listed[0].platforms if platform != USUAL_PLATFORM]
        if not others:
            raise
        return registry.package(address, version, others[0], is_fresh=is_fresh)


def _not_asked(host: NotAsked) -> LookupFailure:
    return LookupFailure(str(host), host.hint, was_asked=False, is_unvouched=True)


def _trouble(error: SourceError, question: FactRequest) -> LookupFailure:
    host = display_host(question.address.host)
    return LookupFailure(
        str(error) if host in str(error) else f"{host}: {error}",
        error.hint,
        was_asked=not isinstance(error, OfflineError),
        is_offline=isinstance(error, OfflineError),
        # Without a package for one platform there may be some for others that the registry does not list.
        is_no=isinstance(error, NotFoundError) and not isinstance(error, PlatformNotSupportedError),
    )
