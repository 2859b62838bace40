"""Computes the hashes of providers' packages for any platforms, as `providers lock` does, without unpacking.

The metadata of a version, its SHA256SUMS and the signature are fetched once for all platforms. A package whose `zh` is
signed, and that was hashed before, is not downloaded; where that holds for a release's first platform, the signed list
alone identifies the others. Neither is one whose `h1` a believed registry reports: its one answer has those of all.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.diagnostics import Diagnostic, step_after
from locklens.errors import LockLensError, PlatformNotSupportedError, TrustError
from locklens.install import fetching
from locklens.install.context import (
    FetchStarted,
    HashesObtained,
    PackageHashed,
    QueryStarted,
    RegistryWarned,
    next_step,
)
from locklens.lockfile.update import tracking, with_locked_hashes
from locklens.project.configuration import constraint_place
from locklens.selection import Selection, Unselectable
from locklens.selection.choosing import before_asking, combined, permitted, policy_holds, select
from locklens.text import listing
from locklens.trust.continuity import Origin
from locklens.versions import Version, neighbour

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.hashes import HashedPackage
    from locklens.install.context import InstallContext, LockRequest, ProviderRequirement
    from locklens.lockfile import LockEntry
    from locklens.releases.authentication import AuthenticatedRelease
    from locklens.sources.metadata import ListedVersion

    _Build = tuple[ProviderAddress, Version, Platform]
    _Work = tuple[list[LockRequest], Platform]

LOCKING_FAILED = "Could not retrieve providers for locking"


class _Obtained(Struct, frozen=True):
    """The release and package of one platform; the package is None if every request refuses the release."""

    platform: Platform
    vouched: AuthenticatedRelease
    fetched: fetching.FetchedPackage | None


class Locker:
    """Locks providers during one run: each package is fetched once for any number of requests."""

    def __init__(self, context: InstallContext) -> None:
        self._context = context
        self._known: dict[_Build, _Obtained | Diagnostic] = {}

    def choose(
        self, wanted: Iterable[ProviderRequirement], *, summary: str = LOCKING_FAILED
    ) -> list[Version | Diagnostic]:
        """Select the version of each provider as `providers lock` does: the locked one, or else the newest in range.

        The summary is the title of the errors.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        return self._context.map(lambda requirement: _selected(requirement, self._context, summary), wanted)

    def fetch(self, requests: Sequence[LockRequest]) -> None:
        """Fetch the packages of requests that were not fetched before, concurrently.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        requests_by_build: dict[_Build, list[LockRequest]] = {}
        for request in requests:
            for platform in dict.fromkeys(request.platforms):
                requests_by_build.setdefault((request.address, request.version, platform), []).append(request)
        missing: dict[tuple[ProviderAddress, Version], list[_Work]] = {}
        for build, same in requests_by_build.items():
            if self._lacks(build, same):
                missing.setdefault(build[:2], []).append((same, build[2]))
        releases = list(missing.values())
        # Each release's first platform first: its signature is verified while the others' packages arrive.
        leads = [works[0] for works in releases]
        waiting = self._context.map(self._tells_others, releases)
        others = [work for works, tells in zip(releases, waiting, strict=True) if not tells for work in works[1:]]
        self._keep(leads + others, self._context.map(lambda work: self._obtain(*work), leads + others))
        rest = [
            (*work, works[0][1]) for works, tells in zip(releases, waiting, strict=True) if tells for work in works[1:]
        ]
        self._keep([work[:2] for work in rest], self._context.map(lambda work: self._from_first(*work), rest))

    def entries(self, requests: Sequence[LockRequest]) -> list[LockEntry | Diagnostic]:
        """Return the new lock entry for each request, or its error; raises as `fetch` does."""
        self.fetch(requests)
        return [self._entry(request) for request in requests]

    def package_hashes(self, address: ProviderAddress, version: Version) -> dict[Platform, frozenset[str]]:
        """Return the hashes of the files of each fetched package of a version."""
        return {
            obtained.platform: obtained.fetched.package.of_files
            for build, obtained in self._known.items()
            if build[:2] == (address, version) and isinstance(obtained, _Obtained) and obtained.fetched is not None
        }

    def _lacks(self, build: _Build, requests: Sequence[LockRequest]) -> bool:
        known = self._known.get(build)
        if not isinstance(known, _Obtained) or known.fetched is not None:
            return known is None
        return not all(_is_refused(request, known.vouched) for request in requests)

    def _keep(self, works: Sequence[_Work], outcomes: Sequence[_Obtained | Diagnostic]) -> None:
        for (same, platform), outcome in zip(works, outcomes, strict=True):
            self._known[same[0].address, same[0].version, platform] = outcome

    def _tells_others(self, works: Sequence[_Work]) -> bool:
        """True if a release's first platform may tell of the others what they are not asked for then.

        Its package was hashed before, or a believed registry reports the hashes of all.
        """
        (request, *_), platform = works[0]
        if len(works) == 1:
            return False
        try:
            metadata = self._context.source(request.address).package(request.address, request.version, platform)
        except LockLensError:
            return False  # Reported when it is needed.
        is_reported = bool(metadata.packages) and self._context.authenticator.believes(request.address)
        return is_reported or self._context.session.cache.package(metadata.zh) is not None

    def _from_first(
        self, requests: Sequence[LockRequest], platform: Platform, first: Platform
    ) -> _Obtained | Diagnostic:
        """Obtain a package of a release whose first platform tells of the others, usually without a request.

        The registry's metadata of the platform is not fetched if the registry lists the platform and the signed list,
        or that of a believed registry, has one package for it, by its usual name, whose `h1` is known.
        """
        context, request = self._context, requests[0]
        lead = self._known[request.address, request.version, first]
        offered = {release.version: release.platforms for release in self._listed(request)}
        if not isinstance(lead, _Obtained) or platform not in offered.get(request.version, ()):
            return self._obtain(requests, platform)
        listed = lead.vouched.checksums.packages(request.address.type, str(request.version)).get(platform, frozenset())
        sums = lead.vouched.hashes if lead.vouched.is_believed else lead.vouched.signed
        is_sure = len(listed) == 1 and listed <= sums
        package = self._known_package(min(listed), platform, lead.vouched) if is_sure else None
        if package is None or all(_is_refused(request, lead.vouched) for request in requests):
            return self._obtain(requests, platform)
        signed = context.authenticator.words(lead.vouched)
        context.emit(_hashed_event(context, request, platform, signed, package))
        return _Obtained(platform, lead.vouched, fetching.FetchedPackage(package))

    def _listed(self, request: LockRequest) -> Sequence[ListedVersion]:
        """Return the versions that the registry lists; () without an answer."""
        try:
            return self._context.source(request.address).versions(request.address).versions
        except LockLensError:
            return ()

    def _ages(self, request: LockRequest) -> Mapping[Version, int]:
        """Return the days since each release, as far as they are known, if the policy has a cooldown."""
        if request.policy.cooldown is None:
            return {}
        try:
            return self._context.source(request.address).release_dates(request.address).ages(datetime.now(UTC))
        except LockLensError:
            return {}

    def _way_to_all_platforms(self, request: LockRequest) -> str:
        """Return the newest version in range that has a package for each platform, in a clause; "" if none is known.

        It is one that the policy does not hold back, as `upgrade` selects it.
        """
        listed = [release for release in self._listed(request) if {*request.platforms} <= {*release.platforms}]
        held = policy_holds(request.policy, request.address, listed, self._ages(request))
        selection = select(request.requirements, permitted(listed, held, None), None, upgrade=True)
        if isinstance(selection, Unselectable):
            newest = select(request.requirements, listed, None, upgrade=True)
            if isinstance(newest, Selection):
                held_words = f"{newest.version}: {held[newest.version][0]}"
                return (
                    f": the policy holds back every version in range that has a package for each platform: {held_words}"
                )
            return ": no version in range is listed for each platform" if self._listed(request) else ""
        version, is_locked = selection.version, request.prior is not None and request.prior.version == request.version
        places = listing(list(dict.fromkeys(str(constraint_place(one)) for one in request.requirements)), 2)
        way = f"upgrade it to {version}" if is_locked or not places else f"require {version} at {places}"
        return f", or {way}: that has a package for each platform"

    def _obtain(self, requests: Sequence[LockRequest], platform: Platform) -> _Obtained | Diagnostic:
        """Obtain one package, unless every request refuses the release as republished."""
        context, request = self._context, requests[0]
        name = context.name(request.address)
        try:
            metadata, vouched = fetching.admitted(context, request.address, request.version, platform)
            if platform == request.platforms[0]:
                fetching.warn(context, metadata, vouched)
            if all(_is_refused(request, vouched) for request in requests):
                return _Obtained(platform, vouched, None)
            known = self._known_package(metadata.zh, platform, vouched)
            if known is None:
                context.emit(FetchStarted(name, request.version, platform))
            fetched = fetching.FetchedPackage(known) if known else fetching.hashed(context, metadata, vouched)
        except PlatformNotSupportedError:
            words = f"provider {name} {request.version} is not available for {platform}"
            hint = platform.meant or f"leave the platform out{self._way_to_all_platforms(request)}"
            return context.failed(request.address, LOCKING_FAILED, words, hint)
        except LockLensError as error:
            words = f"{name} {request.version} for {platform}: {error}"
            return _failed(context, request.address, words, error)
        signed = context.authenticator.words(vouched)
        context.emit(_hashed_event(context, request, platform, signed, known))
        return _Obtained(platform, vouched, fetched)

    def _known_package(self, zh: str, platform: Platform, release: AuthenticatedRelease) -> HashedPackage | None:
        """Return a package whose hashes are known without fetching it; None for one that has to be fetched."""
        return fetching.remembered_package(self._context, zh, platform, release) or fetching.reported_package(
            zh, platform, release
        )

    def _entry(self, request: LockRequest) -> LockEntry | Diagnostic:
        """Combine the platforms' hashes to an entry, and emit their events."""
        context, name = self._context, self._context.name(request.address)
        outcomes = [
            self._known[request.address, request.version, platform] for platform in dict.fromkeys(request.platforms)
        ]
        hashes: set[str] = set()
        obtained: list[tuple[Platform, frozenset[str]]] = []
        for outcome in outcomes:
            if isinstance(outcome, Diagnostic):
                return outcome
            if _is_refused(request, outcome.vouched):
                return self._refused(request, outcome)
            assert outcome.fetched is not None
            of_release = outcome.vouched.recorded if request.adds_reported else outcome.vouched.hashes
            obtained.append((outcome.platform, outcome.fetched.hashes | of_release))
            hashes |= obtained[-1][1]
        if outcomes and isinstance(outcomes[0], _Obtained):
            fetching.warn_of_changes(context, request, request.version, outcomes[0].vouched)
        for platform, fetched_hashes in obtained:
            tracked = tracking(request.prior, request.version, fetched_hashes)
            context.emit(HashesObtained(name, platform, tracked))
        return with_locked_hashes(
            request.prior,
            address=request.address,
            version=request.version,
            constraints=combined(request.requirements),
            hashes=hashes,
        )

    def _refused(self, request: LockRequest, obtained: _Obtained) -> Diagnostic:
        context = self._context
        words = obtained.vouched.change_words(request.prior, request.address, request.version)
        words += _signed_before(context, request)
        hint = "ask the publisher why; --accept-republished adds the new hashes to the old ones"
        hint = f"locklens review, which knows the base, says which; {hint}"
        lead = f"{context.name(request.address)} {request.version} for {obtained.platform}"
        return _failed(context, request.address, f"{lead}: {words}", TrustError(words, hint=hint))


def _selected(requirement: ProviderRequirement, context: InstallContext, summary: str) -> Version | Diagnostic:
    name, version = context.name(requirement.address), requirement.locked
    context.emit(QueryStarted(name, str(combined(requirement.requirements)), version is not None))
    selection: Selection | Unselectable | None = before_asking(requirement.requirements, version, upgrade=False)
    if selection is None:
        if requirement.first is not None:
            context.prefetch(requirement.address, version or requirement.pinned, requirement.first)
        try:
            offered = context.source(requirement.address).versions(requirement.address)
        except LockLensError as error:
            words = f"Could not retrieve the list of available versions for provider {name}: {error}"
            return _failed(
                context, requirement.address, words, error, summary=summary, hint=requirement.hint_after(error)
            )
        if offered.warnings:
            context.emit(RegistryWarned(name, offered.warnings))
        selection = select(requirement.requirements, offered.versions, version, upgrade=False)
    if isinstance(selection, Unselectable):
        words = f"provider {name}: {selection.words(requirement.address, context.dialect)}"
        return _failed(context, requirement.address, words, summary=summary)
    return selection.version


def _hashed_event(
    context: InstallContext, request: LockRequest, platform: Platform, signed: str, known: HashedPackage | None
) -> PackageHashed:
    """The event of a package; `known` are its hashes where it was not fetched."""
    is_reported = known is not None and not known.size  # `reported_package` gives none: no bytes were counted.
    was_remembered = known is not None and not is_reported
    return PackageHashed(context.name(request.address), request.version, platform, signed, was_remembered, is_reported)


def _is_refused(request: LockRequest, vouched: AuthenticatedRelease) -> bool:
    judged = vouched.added_to(request.prior, request.address, request.version)
    return not request.accepts_republished and judged.has(Origin.REPUBLISHED)


def _signed_before(context: InstallContext, request: LockRequest) -> str:
    """Name the signer of the version next to a republished one, who would be expected to sign it."""
    try:
        offered = context.source(request.address).versions(request.address).versions
        other = neighbour((release.version for release in offered), request.version)
        if other is None:
            return "; no other version to compare the signer with"
        _, vouched = fetching.admitted(context, request.address, other, request.platforms[0])
    except LockLensError as error:
        return f"; previous signer unknown: {error}"
    return f"; {other} is signed by {vouched.signer}"


def _failed(
    context: InstallContext,
    address: ProviderAddress,
    words: str,
    error: LockLensError | None = None,
    *,
    summary: str = LOCKING_FAILED,
    hint: str = "",
) -> Diagnostic:
    hint = hint or (next_step(error) if error is not None else "")
    return context.failed(address, summary, words, hint, next_step=step_after(error))
