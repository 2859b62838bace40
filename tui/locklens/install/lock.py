"""Computes the hashes of providers' packages for any platforms, as `providers lock` does, without unpacking.

The metadata of a version, its SHA256SUMS and the signature are fetched once for all platforms. A package whose `zh` is
signed, and that was hashed before, is not downloaded; where that holds for a release's first platform, the signed list
alone identifies the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.errors import LockLensError, PlatformNotSupportedError
from locklens.install.events import (
    FetchStarted,
    HashesObtained,
    PackageHashed,
    ProviderFailed,
    QueryStarted,
    RegistryWarned,
)
from locklens.install.fetching import admitted, hashed, warn, warn_of_changes
from locklens.lockfile.update import tracking, with_locked_hashes
from locklens.selection import Unselectable, combined, select
from locklens.trust.continuity import Origin
from locklens.versions import neighbour

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.hashes import HashedPackage
    from locklens.install.context import InstallContext
    from locklens.install.model import LockRequest, ProviderRequirement
    from locklens.lockfile.model import LockEntry
    from locklens.releases.authentication import AuthenticatedRelease
    from locklens.versions import Version

    _Build = tuple[ProviderAddress, Version, Platform]
    _Work = tuple[list[LockRequest], Platform]

SUMMARY = "Could not retrieve providers for locking"


class _Obtained(Struct, frozen=True):
    """The release and package of one platform; `package` is None where every request refuses the release."""

    platform: Platform
    vouched: AuthenticatedRelease
    package: HashedPackage | None


class Locker:
    """Locks providers during one run: each package is fetched once for any number of requests.

    Args:
        context: Session and events.
    """

    def __init__(self, context: InstallContext) -> None:
        self._context = context
        self._known: dict[_Build, _Obtained | Diagnostic] = {}

    def fetch(self, requests: Sequence[LockRequest]) -> None:
        """Fetches the packages of requests that were not fetched before, concurrently.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        wanted: dict[_Build, list[LockRequest]] = {}
        for request in requests:
            for platform in dict.fromkeys(request.platforms):
                wanted.setdefault((request.address, request.version, platform), []).append(request)
        missing: dict[tuple[ProviderAddress, Version], list[_Work]] = {}
        for build, own in wanted.items():
            if self._lacks(build, own):
                missing.setdefault(build[:2], []).append((own, build[2]))
        releases = list(missing.values())
        # Each release's first platform first: its signature is verified while the others' packages arrive.
        leads = [works[0] for works in releases]
        cached = self._context.map(self._is_cached, releases)
        others = [
            work
            for works, is_from_cache in zip(releases, cached, strict=True)
            if not is_from_cache
            for work in works[1:]
        ]
        self._keep(leads + others, self._context.map(lambda one: self._obtain(*one), leads + others))
        rest = [
            (*work, works[0][1])
            for works, is_from_cache in zip(releases, cached, strict=True)
            if is_from_cache
            for work in works[1:]
        ]
        self._keep([one[:2] for one in rest], self._context.map(lambda one: self._from_cache(*one), rest))

    def entries(self, requests: Sequence[LockRequest]) -> list[LockEntry | Diagnostic]:
        """Returns the new lock entry for each request, or its error; errors as of `fetch`."""
        self.fetch(requests)
        return [self._entry(request) for request in requests]

    def h1s(self, address: ProviderAddress, version: Version) -> dict[Platform, str]:
        """Returns the `h1` of each fetched package of a version."""
        return {
            one.platform: one.package.h1
            for build, one in self._known.items()
            if build[:2] == (address, version) and isinstance(one, _Obtained) and one.package is not None
        }

    def _lacks(self, build: _Build, requests: Sequence[LockRequest]) -> bool:
        known = self._known.get(build)
        if not isinstance(known, _Obtained) or known.package is not None:
            return known is None
        return not all(_is_refused(one, known.vouched) for one in requests)

    def _keep(self, works: Sequence[_Work], found: Sequence[_Obtained | Diagnostic]) -> None:
        for (own, platform), one in zip(works, found, strict=True):
            self._known[own[0].address, own[0].version, platform] = one

    def _is_cached(self, works: Sequence[_Work]) -> bool:
        """True if the package of a release's first platform was hashed before, and there are other platforms."""
        (request, *_), platform = works[0]
        if len(works) == 1:
            return False
        try:
            metadata = self._context.source(request.address).package(request.address, request.version, platform)
        except LockLensError:
            return False  # Reported when it is needed.
        return self._context.session.cache.package(metadata.zh) is not None

    def _from_cache(
        self, requests: Sequence[LockRequest], platform: Platform, first: Platform
    ) -> _Obtained | Diagnostic:
        """Obtains a package of a release whose first platform's package was hashed before, usually without a request.

        The registry's metadata of the platform is not fetched if the registry lists the platform and the signed list
        has one package for it, by its usual name, that was hashed: the signature proves more.
        """
        context, request = self._context, requests[0]
        lead = self._known[request.address, request.version, first]
        if not isinstance(lead, _Obtained) or platform not in self._offered(request):
            return self._obtain(requests, platform)
        listed = lead.vouched.checksums.packages(request.address.type, str(request.version)).get(platform, frozenset())
        package = (
            context.session.cache.package(min(listed)) if len(listed) == 1 and listed <= lead.vouched.signed else None
        )
        if package is None or all(_is_refused(one, lead.vouched) for one in requests):
            return self._obtain(requests, platform)
        name, signed = context.name(request.address), context.authenticator.words(lead.vouched)
        context.tell(FetchStarted(name, request.version, platform))
        context.tell(PackageHashed(name, request.version, platform, signed, was_remembered=True))
        return _Obtained(platform, lead.vouched, package)

    def _offered(self, request: LockRequest) -> tuple[Platform, ...]:
        """Returns the platforms that the registry lists for a version; () without an answer."""
        try:
            listed = self._context.source(request.address).versions(request.address).versions
        except LockLensError:
            return ()
        return next((one.platforms for one in listed if one.version == request.version), ())

    def _obtain(self, requests: Sequence[LockRequest], platform: Platform) -> _Obtained | Diagnostic:
        """Obtains one package, unless every request refuses the release as republished."""
        context, request = self._context, requests[0]
        name = context.name(request.address)
        context.tell(FetchStarted(name, request.version, platform))
        try:
            metadata, vouched = admitted(context, request.address, request.version, platform)
            if platform == request.platforms[0]:
                warn(context, metadata, vouched)
            if all(_is_refused(one, vouched) for one in requests):
                return _Obtained(platform, vouched, None)
            known = context.session.cache.package(metadata.zh)
            package = known or hashed(context, metadata)
        except PlatformNotSupportedError:
            return _failed(
                context, request.address, f"provider {name} {request.version} is not available for {platform}"
            )
        except LockLensError as error:
            return _failed(context, request.address, f"{name} {request.version} for {platform}: {error}", error.hint)
        signed = context.authenticator.words(vouched)
        context.tell(PackageHashed(name, request.version, platform, signed, known is not None))
        return _Obtained(platform, vouched, package)

    def _entry(self, request: LockRequest) -> LockEntry | Diagnostic:
        """Combines the platforms' hashes to an entry, and emits their events."""
        context, name = self._context, self._context.name(request.address)
        own = [self._known[request.address, request.version, one] for one in dict.fromkeys(request.platforms)]
        hashes: set[str] = set()
        obtained: list[tuple[Platform, frozenset[str]]] = []
        for one in own:
            if isinstance(one, Diagnostic):
                return one
            if _is_refused(request, one.vouched):
                return self._refused(request, one)
            assert one.package is not None
            obtained.append((one.platform, frozenset({one.package.h1, *one.vouched.hashes})))
            hashes |= obtained[-1][1]
        if own and isinstance(own[0], _Obtained):
            warn_of_changes(context, request, request.version, own[0].vouched)
        prior = request.prior if request.prior is not None and request.prior.version == request.version else None
        for platform, found in obtained:
            context.tell(HashesObtained(name, platform, tracking(prior, found)))
        return with_locked_hashes(
            request.prior,
            address=request.address,
            version=request.version,
            constraints=request.constraints,
            hashes=hashes,
        )

    def _refused(self, request: LockRequest, found: _Obtained) -> Diagnostic:
        context = self._context
        words = found.vouched.change_words(request.prior, request.address, request.version)
        words += _signed_before(context, request)
        hint = "ask the publisher why; --accept-republished adds the new hashes to the old ones"
        lead = f"{context.name(request.address)} {request.version} for {found.platform}"
        return _failed(context, request.address, f"{lead}: {words}", hint)


def choose(wanted: Iterable[ProviderRequirement], context: InstallContext) -> list[Version | Diagnostic]:
    """Selects the version of each provider as `providers lock` does: the locked one, or else the newest in range.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    return context.map(lambda one: _selected(one, context), wanted)


def _selected(wanted: ProviderRequirement, context: InstallContext) -> Version | Diagnostic:
    name, version = context.name(wanted.address), wanted.locked
    context.tell(QueryStarted(name, str(combined(wanted.requirements)), version is not None))
    if wanted.first is not None:
        context.prefetch(wanted.address, version or wanted.pinned, wanted.first)
    try:
        offered = context.source(wanted.address).versions(wanted.address)
    except LockLensError as error:
        return _failed(
            context,
            wanted.address,
            f"Could not retrieve the list of available versions for provider {name}: {error}",
            error.hint,
        )
    if offered.warnings:
        context.tell(RegistryWarned(name, offered.warnings))
    found = select(wanted.requirements, offered.versions, version, upgrade=False)
    if isinstance(found, Unselectable):
        return _failed(context, wanted.address, f"provider {name}: {found.words(wanted.address, context.dialect)}")
    return found.version


def _is_refused(request: LockRequest, vouched: AuthenticatedRelease) -> bool:
    judged = vouched.added_to(request.prior, request.address, request.version)
    return not request.accepts_republished and judged.has(Origin.REPUBLISHED)


def _signed_before(context: InstallContext, request: LockRequest) -> str:
    """Names the signer of the version next to a republished one, who would be expected to sign it."""
    try:
        offered = context.source(request.address).versions(request.address).versions
        other = neighbour((one.version for one in offered), request.version)
        if other is None:
            return "; no other version to compare the signer with"
        _, vouched = admitted(context, request.address, other, request.platforms[0])
    except LockLensError as error:
        return f"; previous signer unknown: {error}"
    return f"; {other} is signed by {vouched.signer}"


def _failed(context: InstallContext, address: ProviderAddress, words: str, hint: str = "") -> Diagnostic:
    name = context.name(address)
    context.tell(ProviderFailed(name, SUMMARY, words, hint))
    return Diagnostic(DiagnosticSeverity.ERROR, SUMMARY, words, name, hint=hint)
