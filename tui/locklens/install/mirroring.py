"""Fills a mirror's folder with signed packages, as `providers mirror` does, but for those that are there already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.errors import LockLensError, PlatformNotSupportedError
from locklens.hashes import hashes_of_files
from locklens.install.events import FetchStarted, PackageMirrored, ProviderFailed
from locklens.install.fetching import admitted, downloaded, warn
from locklens.install.mirror_folder import stored_package
from locklens.releases.reported import check_reported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.install.context import InstallContext
    from locklens.install.mirror_folder import Build, MirrorFolder
    from locklens.packages.hashing import Passed
    from locklens.sources.filesystem_mirror import MirroredPackage
    from locklens.versions import Version

_SUMMARY = "Could not mirror providers"


class Mirrored(Struct, frozen=True):
    """What became of the packages.

    Attributes:
        hashes: Of each package that is in the folder now, as documents list them.
        failures: Errors of the others.
    """

    hashes: Mapping[Build, tuple[str, ...]]
    failures: tuple[Diagnostic, ...]


def mirror(builds: Sequence[Build], context: InstallContext, *, into: MirrorFolder) -> Mirrored:
    """Fetch packages into a folder, concurrently; one that fails does not stop the others.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    outcomes = dict(zip(builds, context.map(lambda build: _mirrored(build, context, into), builds), strict=True))
    return Mirrored(
        {build: outcome for build, outcome in outcomes.items() if not isinstance(outcome, Diagnostic)},
        tuple(outcome for outcome in outcomes.values() if isinstance(outcome, Diagnostic)),
    )


def write_documents(
    providers: Sequence[ProviderAddress],
    known: Mapping[Build, tuple[str, ...]],
    context: InstallContext,
    *,
    into: MirrorFolder,
) -> tuple[Diagnostic, ...]:
    """Write the documents of providers, for all of their zip files that are in a folder; return what failed.

    Args:
        providers: Those whose documents are written.
        known: Hashes of the packages of this run; the others are hashed.
        context: Its threads compute.
        into: The folder.

    Raises:
        ConfigurationError: A document cannot be written.
        RunCancelledError: The run was cancelled.
    """
    found = into.packages()
    packages = [one for address in providers for one in found.get(address, ())]
    hashes: dict[ProviderAddress, dict[tuple[Version, Platform], tuple[str, ...]]] = {}
    failures = []
    for one, outcome in zip(packages, context.map(lambda one: _hashes(one, known, context), packages), strict=True):
        if isinstance(outcome, LockLensError):
            failures.append(_failed(context, one.address, str(outcome), outcome.hint))
        else:
            hashes.setdefault(one.address, {})[one.version, one.platform] = outcome
    for address, each in hashes.items():
        into.document(address, each)
    return tuple(failures)


def _hashes(
    package: MirroredPackage, known: Mapping[Build, tuple[str, ...]], context: InstallContext
) -> tuple[str, ...] | LockLensError:
    build = package.address, package.version, package.platform
    try:
        if build in known:
            return known[build]
        return _listed(stored_package(package.path, context.session.cancel), context)
    except LockLensError as error:
        return error


def _mirrored(build: Build, context: InstallContext, into: MirrorFolder) -> tuple[str, ...] | Diagnostic:
    address, version, platform = build
    name = context.name(address)
    context.tell(FetchStarted(name, version, platform))
    try:
        metadata, release = admitted(context, address, version, platform)
        warn(context, metadata, release)
        was_there = into.zh(build) == metadata.zh
        if was_there:
            package = stored_package(into.place(build), context.session.cancel)
            own = package.hashed.of_files | package.archive_hashes
            check_reported(metadata, release.reported.own, package.size, own)
        else:
            with into.writing(build) as file:
                package = downloaded(context, metadata, release, file)
    except PlatformNotSupportedError:
        return _failed(context, address, f"provider {name} {version} is not available for {platform}")
    except LockLensError as error:
        return _failed(context, address, f"{name} {version} for {platform}: {error}", error.hint)
    signed = context.authenticator.words(release)
    context.tell(PackageMirrored(name, version, platform, signed, was_there))
    return _listed(package, context)


def _listed(package: Passed, context: InstallContext) -> tuple[str, ...]:
    """Return the hashes of a package as documents list them: those of its files, for OpenTofu the `zh` as well.

    OpenTofu itself lists the `zh` alone where the registry reports no hash of files, and those of files alone of
    packages that are there from earlier runs.
    """
    hashes = package.archive_hashes
    return tuple(sorted(hashes if context.dialect.name == "opentofu" else hashes_of_files(hashes)))


def _failed(context: InstallContext, address: ProviderAddress, words: str, hint: str = "") -> Diagnostic:
    name = context.name(address)
    context.tell(ProviderFailed(name, _SUMMARY, words, hint))
    return Diagnostic(DiagnosticSeverity.ERROR, _SUMMARY, words, name, hint=hint)
