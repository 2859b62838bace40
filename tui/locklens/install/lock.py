"""Finds the hashes of providers' packages for any platforms, as `providers lock` does, without unpacking any.

What the registry says of a version, its SHA256SUMS and the signature over it are asked for once for all platforms. A
package whose `zh` is vouched for, and that was hashed before, is not downloaded.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import LockLensError, PlatformNotSupportedError, RepublishedError, RunCancelledError
from locklens.install.events import (
    FetchStarted,
    HashesObtained,
    PackageHashed,
    ProviderFailed,
    QueryStarted,
    RegistryWarned,
    ReleaseWarned,
)
from locklens.install.fetching import admitted, hashed, warn
from locklens.install.model import Failure, LockRequest
from locklens.lockfile.update import locked, tracking
from locklens.selection import Unselectable, combined, select
from locklens.trust.continuity import judge_packages
from locklens.versions import neighbour

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.install.model import Wanted
    from locklens.install.run import InstallRun
    from locklens.install.trusting import Vouched
    from locklens.lockfile.model import LockEntry

SUMMARY = "Could not retrieve providers for locking"


class _Obtained(Struct, frozen=True):
    """The hashes of one platform, and what its release is vouched for with."""

    platform: Platform
    hashes: frozenset[str]
    vouched: Vouched


def lock_entries(
    requests: Sequence[LockRequest], run: InstallRun, *, accept_republished: bool = False
) -> dict[ProviderAddress, LockEntry | Failure]:
    """Returns the new lock entry of each provider, or why there is none; providers and platforms at the same time.

    Args:
        requests: One for each provider.
        run: Asks registries, and is told what happens.
        accept_republished: Whether a locked package may be gone from what the publisher signs today.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    obtain = partial(_obtain, run, accept_republished=accept_republished)
    # Where the first platform's package was hashed before, its release tells which of the others were, too.
    remembered = run.all(lambda one: _is_remembered(run, one), requests)
    first, later = [], []
    for request, is_remembered in zip(requests, remembered, strict=True):
        work = [(request, platform) for platform in dict.fromkeys(request.platforms)]
        first += work[:1] if is_remembered else work
        later += work[1:] if is_remembered else []
    # Each provider's first: what its publisher signed is verified while the others' packages arrive.
    first.sort(key=lambda one: one[0].platforms.index(one[1]))
    found = _keyed(first, run.all(lambda one: obtain(*one), first))
    leads = {request.address: found[request.address, request.platforms[0]] for request, _ in later}
    found |= _keyed(later, run.all(lambda one: _known(run, *one, leads[one[0].address]) or obtain(*one), later))
    return {
        request.address: _entry(run, request, [found[request.address, one] for one in dict.fromkeys(request.platforms)])
        for request in requests
    }


def _keyed(
    work: Sequence[tuple[LockRequest, Platform]], results: Sequence[_Obtained | Failure]
) -> dict[tuple[ProviderAddress, Platform], _Obtained | Failure]:
    return {(request.address, platform): one for (request, platform), one in zip(work, results, strict=True)}


def _is_remembered(run: InstallRun, request: LockRequest) -> bool:
    """Whether the package of a request's first platform was hashed before; of use where others are offered."""
    if not {*request.platforms[1:]} & {*request.offered}:
        return False
    try:
        metadata = run.registry(request.address).package(request.address, request.version, request.platforms[0])
    except RunCancelledError:
        raise
    except LockLensError:
        return False  # It is told when it is needed.
    return run.cache.package("zh:" + metadata.shasum) is not None


def _known(run: InstallRun, request: LockRequest, platform: Platform, lead: _Obtained | Failure) -> _Obtained | None:
    """The hashes of a platform that the registry offers, whose package is signed by its usual name and was hashed.

    What the registry says of that platform beside is then not asked: the signature says more.
    """
    if isinstance(lead, Failure) or platform not in request.offered:
        return None
    listed = lead.vouched.checksums.packages(request.address.type, str(request.version)).get(platform, frozenset())
    if len(listed) != 1 or not listed <= lead.vouched.signed:
        return None
    package = run.cache.package(min(listed))
    if package is None:
        return None
    name = run.name(request.address)
    run.tell(FetchStarted(name, request.version, platform))
    signed = run.gatekeeper.words(lead.vouched)
    run.tell(PackageHashed(name, request.version, platform, signed, was_remembered=True))
    return _Obtained(platform, frozenset({package.h1, *lead.vouched.hashes}), lead.vouched)


def choose(wanted: Iterable[Wanted], platforms: Sequence[Platform], run: InstallRun) -> list[LockRequest | Failure]:
    """Chooses the version of each provider as `providers lock` does: the locked one, or else the newest eligible.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    return run.all(lambda one: _chosen(one, tuple(platforms), run), wanted)


def _chosen(wanted: Wanted, platforms: tuple[Platform, ...], run: InstallRun) -> LockRequest | Failure:
    constraints, name = combined(wanted.requirements), run.name(wanted.address)
    version = wanted.locked
    run.tell(QueryStarted(name, str(constraints), version is not None))
    run.ahead(wanted.address, version or wanted.pinned, platforms[:1])
    try:
        offered = run.registry(wanted.address).versions(wanted.address)
    except RunCancelledError:
        raise
    except LockLensError as error:
        return _failed(
            run,
            wanted.address,
            f"Could not retrieve the list of available versions for provider {name}: {error}",
            error.hint,
        )
    if offered.warnings:
        run.tell(RegistryWarned(name, offered.warnings))
    found = select(wanted.requirements, offered.versions, version, upgrade=False)
    if isinstance(found, Unselectable):
        return _failed(run, wanted.address, f"provider {name}: {found.words(wanted.address, run.dialect)}")
    return LockRequest(wanted.address, found.version, platforms, constraints, wanted.prior, found.listed.platforms)


def _obtain(
    run: InstallRun, request: LockRequest, platform: Platform, *, accept_republished: bool
) -> _Obtained | Failure:
    name = run.name(request.address)
    run.tell(FetchStarted(name, request.version, platform))
    try:
        metadata, vouched = admitted(run, request.address, request.version, platform)
        is_first = platform == request.platforms[0]
        if is_first:
            warn(run, metadata, vouched)
        _check_continuity(run, request, vouched, accept_republished=accept_republished, is_first=is_first)
        known = run.cache.package("zh:" + metadata.shasum)
        package = known or hashed(run, metadata)
    except RunCancelledError:
        raise
    except PlatformNotSupportedError:
        return _failed(run, request.address, f"provider {name} {request.version} is not available for {platform}")
    except LockLensError as error:
        return _failed(run, request.address, f"{name} {request.version} for {platform}: {error}", error.hint)
    signed = run.gatekeeper.words(vouched)
    run.tell(PackageHashed(name, request.version, platform, signed, known is not None))
    return _Obtained(platform, frozenset({package.h1, *vouched.hashes}), vouched)


def _check_continuity(
    run: InstallRun, request: LockRequest, vouched: Vouched, *, accept_republished: bool, is_first: bool
) -> None:
    """Holds what is locked of this version against what is signed today.

    Raises:
        RepublishedError: A locked package is gone from it.
    """
    prior = request.prior
    if prior is None or prior.version != request.version or not vouched.signed:
        return
    gone = judge_packages(prior.hashes, (*prior.hashes, *vouched.signed), vouched.checksums).gone
    if not gone:
        return
    words = (
        f"the version was published again: {len(gone)} locked zh, {min(gone)} the first, "
        f"{'is' if len(gone) == 1 else 'are'} not in the SHA256SUMS that {vouched.signer} signs today"
    )
    if not accept_republished:
        hint = "ask the publisher why; --accept-republished adds the new hashes to the old ones"
        raise RepublishedError(words + _signed_before(run, request), hint=hint)
    if is_first:
        run.tell(ReleaseWarned(run.name(request.address), request.version, words))


def _signed_before(run: InstallRun, request: LockRequest) -> str:
    """Says who signed the version next to one that was published again: whom one would expect to have signed it."""
    try:
        offered = run.registry(request.address).versions(request.address).versions
        other = neighbour((one.version for one in offered), request.version)
        if other is None:
            return "; no other version tells who signed before"
        _, vouched = admitted(run, request.address, other, request.platforms[0])
    except RunCancelledError:
        raise
    except LockLensError as error:
        return f"; who signed before is not known: {error}"
    return f"; {other} is signed by {vouched.signer}"


def _entry(run: InstallRun, request: LockRequest, own: Sequence[_Obtained | Failure]) -> LockEntry | Failure:
    """Puts the platforms' hashes together, and tells what of each is new."""
    failure = next((one for one in own if isinstance(one, Failure)), None)
    if failure is not None:
        return failure
    hashes: set[str] = set()
    prior = request.prior if request.prior is not None and request.prior.version == request.version else None
    for one in own:
        if isinstance(one, _Obtained):
            hashes |= one.hashes
            run.tell(HashesObtained(run.name(request.address), one.platform, tracking(prior, one.hashes)))
    return locked(
        request.prior,
        address=request.address,
        version=request.version,
        constraints=request.constraints,
        hashes=hashes,
    )


def _failed(run: InstallRun, address: ProviderAddress, words: str, hint: str = "") -> Failure:
    run.tell(ProviderFailed(run.name(address), SUMMARY, words, hint))
    return Failure(address, SUMMARY, words, hint)
