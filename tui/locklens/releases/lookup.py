"""Asks registries what facts are requested, and turns answers and failures into facts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from locklens.addresses import Platform, display_host
from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM
from locklens.errors import NotFoundError, OfflineError, PlatformNotSupportedError, SourceError, UnavailableError
from locklens.hashes import is_of_zip
from locklens.releases.facts import Listing, ListingId, LookupFailure, MirroredHashes, MirrorId, ReleaseFacts
from locklens.sources.asked import NotAsked
from locklens.sources.release_dates import ReleaseDates, days_old
from locklens.sources.urls import github_release
from locklens.trust.authentication import AuthenticationOutcome
from locklens.trust.vouching import vouchers

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.releases.facts import Fact, FactRequest, ReleaseId
    from locklens.releases.session import ReleaseSession
    from locklens.sources.metadata import ListedVersion, PackageMetadata
    from locklens.sources.source import Source
    from locklens.versions import Version

USUAL_PLATFORM = Platform("linux", "amd64")
"""The platform whose package is requested, where there is one: the same everywhere, so that a review does not depend on
the machine that it is made on."""


class ReleaseLookup:
    """Looks up facts in the registries of a session. Thread-safe.

    Args:
        session: Its sources and authenticators.
        asks_ages: True to look up release dates too.
    """

    def __init__(self, session: ReleaseSession, *, asks_ages: bool = False) -> None:
        self._session = session
        self._asks_ages = asks_ages

    def answer(self, request: FactRequest) -> Fact:
        """Return the requested fact; a registry without a usable answer is a fact too. Mirrors are not looked at.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        if isinstance(request, MirrorId):
            return MirroredHashes(request)
        source = self._session.find_source(request.address, DIALECTS[request.tool])
        if isinstance(request, ListingId):
            return _listing(source, request)
        return self._release(source, request)

    def offered(self, address: ProviderAddress) -> tuple[ListedVersion, ...] | None:
        """Return the available versions of a provider; None where its registry may not be contacted.

        Raises:
            SourceError: The registry has no usable answer.
        """
        tool = OPENTOFU if address.host == OPENTOFU.default_host else TERRAFORM
        source = self._session.find_source(address, tool)
        return None if isinstance(source, NotAsked) else source.versions(address).versions

    def release_dates(self, address: ProviderAddress, tool: Dialect) -> ReleaseDates:
        """Return the release dates of a provider's versions; none where its registry may not be contacted.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        source = self._session.find_source(address, tool)
        return ReleaseDates() if isinstance(source, NotAsked) else source.release_dates(address)

    def ages(self, address: ProviderAddress, tool: Dialect) -> dict[Version, int]:
        """Return the days since each version's release, as far as they are known; errors as of `release_dates`."""
        now = datetime.now(UTC)
        return {
            version: max(0, (now - date).days) for version, date in self.release_dates(address, tool).moments.items()
        }

    def _release(self, source: Source | NotAsked, request: ReleaseId) -> ReleaseFacts:
        if isinstance(source, NotAsked):
            return ReleaseFacts(request, trouble=_not_asked(source))
        try:
            # Cached answers may be of two publications, or older than this one: they alone incriminate no release.
            try:
                facts = self._authenticated(source, request)
                judged = facts.authentication
                if judged is None or (judged.outcome is not AuthenticationOutcome.REFUSED and not facts.foreign):
                    return facts
            except NotFoundError:
                pass
            return self._authenticated(source, request, is_fresh=True)
        except SourceError as error:
            return ReleaseFacts(request, trouble=_failure(error, request))

    def _authenticated(self, source: Source, request: ReleaseId, *, is_fresh: bool = False) -> ReleaseFacts:
        metadata = _some_package(source, request, is_fresh=is_fresh)
        signed = source.checksums(metadata, is_fresh=is_fresh)
        if signed is None:
            raise UnavailableError(f"no signed checksums of {request.address} {request.version} can be had")
        judged = self._session.authenticator(DIALECTS[request.tool]).judge(metadata, signed)
        heard = metadata.packages if self._session.may_report(request.address.host) else ()
        reported = {str(one.platform): frozenset(one.hashes) for one in heard}
        dates = source.release_dates(request.address) if self._asks_ages else ReleaseDates()
        released = dates.of(request.version)
        zhs = ((text, one.size) for one in metadata.packages for text in one.hashes if is_of_zip(text))
        return ReleaseFacts(
            request,
            judged.checksums,
            judged.authentication,
            {} if judged.foreign else vouchers(signed.sums, judged.authentication, reported),
            metadata.reported_h1s,
            {zh: size for zh, size in zhs if size},
            as_of=min(metadata.as_of, signed.as_of),
            released=released,
            days=days_old(released, datetime.now(UTC)),
            foreign=judged.foreign,
            source=github_release(metadata.download_url) or dates.repository,
        )


def _listing(source: Source | NotAsked, request: ListingId) -> Listing:
    if isinstance(source, NotAsked):
        return Listing(request, trouble=_not_asked(source))
    try:
        answer = source.versions(request.address, is_fresh=request.is_fresh)
    except SourceError as error:
        return Listing(request, trouble=_failure(error, request))
    return Listing(request, answer.versions, as_of=answer.as_of)


def _some_package(source: Source, request: ReleaseId, *, is_fresh: bool) -> PackageMetadata:
    """Return the usual platform's package, or that of the first other platform that is listed.

    Raises:
        SourceError: There is none, or no usable answer.
    """
    address, version = request.address, request.version
    try:
        return source.package(address, version, USUAL_PLATFORM, is_fresh=is_fresh)
    except PlatformNotSupportedError:
        listed = [one for one in source.versions(address, is_fresh=is_fresh).versions if one.version == version]
        host = display_host(address.host)
        if not listed:
            raise NotFoundError(f"{host} does not list {address} {version}", source=host) from None
        others = [platform for platform in listed[0].platforms if platform != USUAL_PLATFORM]
        if not others:
            raise
        return source.package(address, version, others[0], is_fresh=is_fresh)


def _not_asked(host: NotAsked) -> LookupFailure:
    return LookupFailure(str(host), host.hint, was_asked=False, is_unvouched=True)


def _failure(error: SourceError, request: FactRequest) -> LookupFailure:
    host = display_host(request.address.host)
    return LookupFailure(
        str(error) if host in str(error) else f"{host}: {error}",
        error.hint,
        was_asked=not isinstance(error, OfflineError),
        is_offline=isinstance(error, OfflineError),
        # Without a package for one platform there may be some for others that the registry does not list.
        is_no=isinstance(error, NotFoundError) and not isinstance(error, PlatformNotSupportedError),
    )
