"""Downloads an authenticated package: hashes it on the way, or unpacks it."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import LockLensError, PackageError, SourceError, TrustError
from locklens.hashes import HashedPackage, hashes_of_files
from locklens.install.context import InstallContext, LockRequest, PackageArriving, ProviderRequirement, ReleaseWarned
from locklens.packages.contents import Digest, new_digest
from locklens.packages.installed import hashed_folder
from locklens.releases.authentication import AuthenticatedRelease, check_reported
from locklens.sources.metadata import PackageMetadata, is_supported
from locklens.sources.mirrors import CHECK_SERVER, MEND_MIRROR
from locklens.sources.urls import url_for_log
from locklens.text import disk_advice
from locklens.versions.version import precedence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path
    from typing import BinaryIO

    from locklens.addresses import Platform, ProviderAddress
    from locklens.install import Staging
    from locklens.packages.hashing import PackageOptions, Passed
    from locklens.packages.inspecting import PackageFacts
    from locklens.sources.http import Transfer
    from locklens.versions import Version

_EVENT_BYTES = 1 << 20
"""Bytes between two events about one package."""

EVENT_SECONDS = 0.5
"""Seconds between two events about one package that arrives slowly."""


def admitted(
    context: InstallContext, address: ProviderAddress, version: Version, platform: Platform
) -> tuple[PackageMetadata, AuthenticatedRelease]:
    """Fetch a package's metadata and its signed release, and authenticate the release.

    Raises:
        SourceError: The registry has no such package, or gives no answer.
        TrustError: The tool would refuse the release.
        PackageError: The tool does not support its protocol.
    """
    metadata = offered(context, address, version, platform)
    return metadata, judged(context, metadata)


def offered(context: InstallContext, address: ProviderAddress, version: Version, platform: Platform) -> PackageMetadata:
    """Fetch a package's metadata, and begin to fetch the signed release; errors as in `admitted`."""
    source = context.source(address)
    metadata = source.package(address, version, platform)
    if not is_supported(metadata.protocols):
        raise PackageError(_protocol_words(context, metadata))
    source.begin_checksums(metadata)
    return metadata


def judged(context: InstallContext, metadata: PackageMetadata) -> AuthenticatedRelease:
    """Authenticate the release of a package; errors as in `admitted`."""
    if context.session.cache.package(metadata.zh) is None:
        # gpg reads the keys meanwhile. For a package that was hashed before, the signature was verified too.
        context.authenticator.prepare(metadata)
    release = context.authenticator.admit(metadata, context.source(metadata.address).checksums(metadata))
    if not release.reported.of_files:
        return release
    known = context.session.cache.hashes(release.checksums.hashes)
    return release.held_against(known, metadata.address, metadata.version)


def warn(context: InstallContext, metadata: PackageMetadata, vouched: AuthenticatedRelease) -> None:
    """Emit the warnings about a release."""
    for words in vouched.warnings:
        context.emit(ReleaseWarned(context.name(metadata.address), metadata.version, words))


def warn_of_changes(
    context: InstallContext, wanted: ProviderRequirement | LockRequest, version: Version, vouched: AuthenticatedRelease
) -> None:
    """Emit a warning if a release changed since it was locked, or if that cannot be said."""
    if words := vouched.change_words(wanted.prior, wanted.address, version):
        context.emit(ReleaseWarned(context.name(wanted.address), version, words, rule="LK001"))
    elif words := vouched.unread_words(wanted.prior, wanted.address, version):
        context.emit(ReleaseWarned(context.name(wanted.address), version, words))


class FetchedPackage(Struct, frozen=True):
    """A package that was fetched.

    Attributes:
        package: Its hashes; of an unpacked package of a mirror, which has no zip file, `zh` is "".
        recorded: Further hashes for the lock file, besides those of its files and the release's.
    """

    package: HashedPackage
    recorded: frozenset[str] = frozenset()

    @property
    def hashes(self) -> frozenset[str]:
        """All hashes for the lock file that are known for the package itself."""
        return self.package.of_files | self.recorded


def remembered_package(
    context: InstallContext, zh: str, platform: Platform, release: AuthenticatedRelease
) -> HashedPackage | None:
    """Return a package that was hashed before; None if there is none, or its registry reports another hash of it.

    In that case the package decides: its zip file may have that hash, which is not kept.
    """
    known = context.session.cache.package(zh)
    return known if known is not None and release.reported.agrees(platform, known) else None


def reported_package(zh: str, platform: Platform, release: AuthenticatedRelease) -> HashedPackage | None:
    """Return a package as a believed registry reports it, without sizes; None if that is not enough."""
    return HashedPackage.of_hashes(zh, release.believed.get(platform, ()))


def inspected(context: InstallContext, metadata: PackageMetadata, release: AuthenticatedRelease) -> PackageFacts:
    """Look into a package while it is downloaded, and cache what is inside, and its hashes; errors as in `hashed`."""
    from locklens.packages.inspecting import PackageInspector, inspect_folder, keep_facts

    if metadata.is_folder:
        unpacked_in(context, metadata)
        assert metadata.path is not None
        return inspect_folder(metadata.path, cancel=context.session.cancel)
    inspector = PackageInspector()
    found: list[PackageFacts] = []
    checked = _Check(metadata, lambda passed: found.append(inspector.facts(passed)))
    _hashed(context, metadata, release, checked, inspector.content)
    keep_facts(context.session.cache, found[0])
    return found[0]


def hashed(context: InstallContext, metadata: PackageMetadata, release: AuthenticatedRelease) -> FetchedPackage:
    """Hash a package while it is downloaded, and cache the hashes.

    Raises:
        SourceError: The download failed.
        TrustError: It is not the signed package.
        PackageError: The tools could not unpack it, or it has no program.
        ConfigurationError: There is no space for the temporary file.
    """
    if metadata.is_folder:
        return unpacked_in(context, metadata)
    checked = _Check(metadata)
    return FetchedPackage(_hashed(context, metadata, release, checked), checked.recorded)


def _hashed(
    context: InstallContext,
    metadata: PackageMetadata,
    release: AuthenticatedRelease,
    checked: _Check,
    new: Callable[[bytes], Digest] = new_digest,
) -> HashedPackage:
    from locklens.packages.hashing import hash_package

    with _opened(context, metadata) as download:
        package = hash_package(download.chunks, new=new, **checked.options(context, release, download.length))
    context.session.cache.keep_package(package)
    return package


def downloaded(
    context: InstallContext, metadata: PackageMetadata, release: AuthenticatedRelease, file: BinaryIO
) -> Passed:
    """Store a package in an empty file while it is downloaded, and cache its hashes; errors as in `hashed`."""
    from locklens.packages.hashing import hash_arriving_package

    checked = _Check(metadata)
    with _opened(context, metadata) as download:
        try:
            passed = hash_arriving_package(download.chunks, file, **checked.options(context, release, download.length))
        except OSError as error:
            words = f"the package cannot be stored: {error.strerror or error}"
            raise PackageError(words, hint=disk_advice(error)) from error
    context.session.cache.keep_package(passed.hashed)
    return passed


def unpacked_in(context: InstallContext, metadata: PackageMetadata) -> FetchedPackage:
    """Hash the unpacked package of a mirror.

    Raises:
        PackageError: It cannot be read, or has no program.
    """
    assert metadata.path is not None
    try:
        check_program((os.fsencode(name) for name in os.listdir(metadata.path)), metadata.address)  # noqa: PTH208
        package = hashed_folder(metadata.path, cancel=context.session.cancel)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PackageError(f"the package in {metadata.path} cannot be read: {reason}") from error
    return FetchedPackage(package)


def unpacked(
    context: InstallContext,
    metadata: PackageMetadata,
    into: Path,
    *,
    release: Future[AuthenticatedRelease],
    check: Callable[[Passed], None],
) -> FetchedPackage:
    """Unpack a package into a new folder while it is downloaded, and cache its hashes; errors as in `hashed`.

    A refused package leaves nothing there. The authentication of the release may finish as late as the last byte; its
    error takes precedence over any other. `check` is called with the package once it is known to be the signed one and
    within the bounds, and may refuse it.
    """
    from locklens.packages.unpack import unpack

    checked = _Check(metadata, check)

    def judge(zh: str) -> None:
        release.result()
        _check_zh(metadata, zh)

    try:
        with _opened(context, metadata) as download:
            count = _progress(context, metadata, download.length)

            def on_bytes(size: int) -> None:
                count(size)
                if release.done():
                    release.result()

            hashed_package = unpack(
                download.chunks,
                into,
                on_bytes=on_bytes,
                cancel=context.session.cancel,
                judge=judge,
                check=lambda passed: checked.check(passed, release.result()),
            )
    except LockLensError:
        release.result()
        raise
    context.session.cache.keep_package(hashed_package)
    return FetchedPackage(hashed_package, checked.recorded)


def placed(
    context: InstallContext,
    metadata: PackageMetadata,
    staging: Staging,
    *,
    release: Future[AuthenticatedRelease],
    locked: Collection[str],
    mismatch: TrustError,
) -> FetchedPackage:
    """Fetch a package into a staging folder, or link to it if it is unpacked already; errors as in `hashed`.

    `mismatch` is raised for a package that has none of the locked hashes of this version, of known schemes. See
    `unpacked` for the release.
    """
    if metadata.path is not None and metadata.is_folder:
        release.result()
        fetched = unpacked_in(context, metadata)
        check_locked(fetched.package, locked, mismatch)
        staging.link(metadata.path)
        return fetched

    def check(package: Passed) -> None:
        # The hashes of the folder's files differ where the zip file lists folders.
        if locked and package.archive_hashes.isdisjoint(locked):
            raise mismatch

    return unpacked(context, metadata, staging.package, release=release, check=check)


@contextmanager
def _opened(context: InstallContext, metadata: PackageMetadata) -> Iterator[Transfer]:
    """Open a package at its source; an error about a mirror's package names its file or URL, and the next step."""
    try:
        with context.source(metadata.address).open_package(metadata) as download:
            yield download
    except (PackageError, SourceError, TrustError) as error:
        if not metadata.shasums_url:
            where = str(metadata.path) if metadata.path is not None else url_for_log(metadata.download_url)
            error.name_place(where, CHECK_SERVER if isinstance(error, SourceError) else MEND_MIRROR)
        raise


def check_locked(package: HashedPackage, locked: Collection[str], mismatch: TrustError) -> None:
    """Require a locked hash of an unpacked package's files: there is no zip file for a `zh` to be compared with."""
    of_files = hashes_of_files(locked)
    if of_files and of_files.isdisjoint(package.of_files):
        raise mismatch


class _Check:
    """The checks of a package once its contents are known."""

    def __init__(self, metadata: PackageMetadata, check: Callable[[Passed], None] = lambda _: None) -> None:
        self.recorded: frozenset[str] = frozenset()
        self._metadata = metadata
        self._check = check

    def options(self, context: InstallContext, release: AuthenticatedRelease, length: int | None) -> PackageOptions:
        """Return the options for reading the package as it arrives; `length` is its size as the server reports it."""
        return {
            "on_bytes": _progress(context, self._metadata, length),
            "cancel": context.session.cancel,
            "judge": lambda zh: _check_zh(self._metadata, zh),
            "check": lambda package: self.check(package, release),
        }

    def check(self, package: Passed, release: AuthenticatedRelease) -> None:
        own = package.hashed.of_files | package.archive_hashes
        check_reported(self._metadata, release.reported.own, package.size, own)
        self.recorded = release.check(package.archive_hashes, self._metadata.platform)
        self._check(package)
        check_program(package.layout.files, self._metadata.address)


def _check_zh(metadata: PackageMetadata, zh: str) -> None:
    if metadata.zh and zh != metadata.zh:
        words = f"archive has incorrect checksum {zh} (expected zh:{metadata.shasum})"
        hint = "the package was tampered with, or republished without its checksums"
        raise TrustError(words, hint=hint)


def check_program(names: Iterable[bytes], address: ProviderAddress) -> None:
    """Require a program in a package, where the tools look for it: among the files at its top.

    Raises:
        PackageError: It has none.
    """
    start = b"terraform-provider-" + address.type.encode()
    for name in names:
        if b"/" not in name and name.startswith(start) and name[len(start) : len(start) + 1] in {b"", b"_", b"."}:
            return
    raise PackageError(f"provider binary not found: could not find executable file starting with {start.decode()}")


def has_program(folder: Path, address: ProviderAddress) -> bool:
    """True if an unpacked package has a program."""
    try:
        check_program((os.fsencode(name) for name in os.listdir(folder)), address)  # noqa: PTH208
    except (OSError, PackageError):
        return False
    return True


def _progress(context: InstallContext, metadata: PackageMetadata, length: int | None) -> Callable[[int], None]:
    name = context.name(metadata.address)
    received = reported = 0
    last = time.monotonic()

    def count(size: int) -> None:
        nonlocal received, reported, last
        received += size
        now = time.monotonic()
        if received - reported >= _EVENT_BYTES or now - last >= EVENT_SECONDS:
            reported, last = received, now
            context.emit(PackageArriving(name, metadata.version, metadata.platform, received, length))

    return count


def _protocol_words(context: InstallContext, metadata: PackageMetadata) -> str:
    """Name a compatible version, if the registry's list has one."""
    name, version = context.name(metadata.address), metadata.version
    spoken = ", ".join(f"{protocol.major}.{protocol.minor}" for protocol in metadata.protocols)
    lead = f"provider {name} {version} needs plugin protocol {spoken}, which {context.dialect.product} does not support"
    listed = context.source(metadata.address).versions(metadata.address).versions
    compatible = [release.version for release in listed if release.protocols and release.has_supported_protocol]
    if not compatible:
        return f"{lead}. No compatible versions of provider {name} were found"
    best = max(compatible, key=precedence)
    if best.compare(version) < 0:
        return f"{lead}. You need to downgrade to {best} or earlier"
    return f"{lead}. {best} is the latest compatible version available"
