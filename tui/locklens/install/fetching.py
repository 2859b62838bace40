"""Gets a package that a registry and its publisher vouch for: to be hashed while it arrives, or to be kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, LockLensError, PackageError, TrustError
from locklens.install.events import PackageArriving, ReleaseWarned
from locklens.packages.limits import Limits
from locklens.sources.metadata import is_supported
from locklens.versions.version import precedence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.hashes import HashedPackage
    from locklens.install.context import InstallContext
    from locklens.install.model import LockRequest, ProviderRequirement
    from locklens.packages.hashing import Passed
    from locklens.releases.authentication import AuthenticatedRelease
    from locklens.sources.metadata import PackageMetadata
    from locklens.versions import Version

_TELL_EVERY = 1 << 20
"""Bytes between two events about one package."""

_TELL_SECONDS = 0.5
"""Or so many seconds, where it comes slowly."""

LIMITS = Limits()


def admitted(
    context: InstallContext, address: ProviderAddress, version: Version, platform: Platform
) -> tuple[PackageMetadata, AuthenticatedRelease]:
    """Asks for a package's metadata, and for what its publisher signed, and judges that.

    Raises:
        SourceError: The registry has no such package, or cannot say.
        TrustError: The tool would refuse the release.
        PackageError: The tool does not speak its protocol.
    """
    metadata = offered(context, address, version, platform)
    return metadata, judged(context, metadata)


def offered(context: InstallContext, address: ProviderAddress, version: Version, platform: Platform) -> PackageMetadata:
    """Asks for a package's metadata; errors as of `admitted`. What its publisher signed is then on its way."""
    source = context.source(address)
    metadata = source.package(address, version, platform)
    if not is_supported(metadata.protocols):
        raise PackageError(_protocol_words(context, metadata))
    source.begin_checksums(metadata)
    return metadata


def judged(context: InstallContext, metadata: PackageMetadata) -> AuthenticatedRelease:
    """Judges what its publisher signed; errors as of `admitted`."""
    if context.session.cache.package(metadata.zh) is None:
        # Meanwhile gpg can read the keys. Of a package that was hashed before, the signature was verified too.
        context.authenticator.prepare(metadata)
    return context.authenticator.admit(metadata, context.source(metadata.address).checksums(metadata))


def warn(context: InstallContext, metadata: PackageMetadata, vouched: AuthenticatedRelease) -> None:
    """Tells what is odd about a release."""
    for words in vouched.warnings:
        context.tell(ReleaseWarned(context.name(metadata.address), metadata.version, words))


def warn_of_changes(
    context: InstallContext, wanted: ProviderRequirement | LockRequest, version: Version, vouched: AuthenticatedRelease
) -> None:
    """Tells that a release is not any more what it was when it was locked."""
    if words := vouched.change_words(wanted.prior, wanted.address, version):
        context.tell(ReleaseWarned(context.name(wanted.address), version, words))


def hashed(context: InstallContext, metadata: PackageMetadata) -> HashedPackage:
    """Hashes a package while it arrives, and remembers what came out.

    Raises:
        SourceError: It does not arrive.
        TrustError: It is not the one that is vouched for.
        PackageError: The tools could not unpack it, or there is no program in it.
        ConfigurationError: There is no room for the temporary file.
    """
    from locklens.packages.hashing import hash_package

    with context.source(metadata.address).open_package(metadata) as download:
        found = hash_package(
            download.chunks,
            limit=LIMITS,
            on_bytes=_teller(context, metadata, download.length),
            cancel=context.session.cancel,
            judge=lambda zh: _check_zh(metadata, zh),
            check=lambda package: check_program(package.layout.files, metadata.address),
        )
    context.session.cache.keep_package(found)
    return found


def unpacked(
    context: InstallContext,
    metadata: PackageMetadata,
    into: Path,
    *,
    release: Future[AuthenticatedRelease],
    check: Callable[[Passed], None],
) -> HashedPackage:
    """Unpacks a package into a new folder while it arrives, and remembers its hashes; errors as of `hashed`.

    Args:
        context: Receives progress events.
        metadata: Of the package.
        into: Nothing is left there of a package that is refused.
        release: The judgement of the release, which may come as late as the last byte. Where that is an error, it is
            what is raised, whatever else went wrong.
        check: Is given the package once it is known to be the one that is vouched for, and was read within the bounds;
            it may refuse it all the same.
    """
    from locklens.packages.unpack import unpack

    def judge(zh: str) -> None:
        release.result()
        _check_zh(metadata, zh)

    def check_all(package: Passed) -> None:
        check(package)
        check_program(package.layout.files, metadata.address)

    try:
        with context.source(metadata.address).open_package(metadata) as download:
            tell = _teller(context, metadata, download.length)

            def on_bytes(size: int) -> None:
                tell(size)
                if release.done():
                    release.result()

            found = unpack(
                download.chunks,
                into,
                limit=LIMITS,
                on_bytes=on_bytes,
                cancel=context.session.cancel,
                judge=judge,
                check=check_all,
            )
    except LockLensError:
        release.result()
        raise
    context.session.cache.keep_package(found)
    return found


def _check_zh(metadata: PackageMetadata, zh: str) -> None:
    if zh != metadata.zh:
        words = f"archive has incorrect checksum {zh} (expected zh:{metadata.shasum})"
        hint = "the package was tampered with, or published again without its checksums"
        raise TrustError(words, hint=hint)


def unwritable(folder: Path, error: OSError) -> ConfigurationError:
    """The error for a folder that packages cannot be written to."""
    reason = error.strerror or str(error)
    return ConfigurationError(
        f"cannot be written: {reason}", path=str(folder), hint="make room, or look at who may write"
    )


def check_program(names: Iterable[bytes], address: ProviderAddress) -> None:
    """Makes sure that a package has a program, as the tools look for it: among the files that lie in no folder.

    Raises:
        PackageError: It has none.
    """
    start = b"terraform-provider-" + address.type.encode()
    for name in names:
        if b"/" not in name and name.startswith(start) and name[len(start) : len(start) + 1] in {b"", b"_", b"."}:
            return
    raise PackageError(f"provider binary not found: could not find executable file starting with {start.decode()}")


def _teller(context: InstallContext, metadata: PackageMetadata, length: int | None) -> Callable[[int], None]:
    name = context.name(metadata.address)
    received = told = 0
    last = time.monotonic()

    def tell(size: int) -> None:
        nonlocal received, told, last
        received += size
        now = time.monotonic()
        if received - told >= _TELL_EVERY or now - last >= _TELL_SECONDS:
            told, last = received, now
            context.tell(PackageArriving(name, metadata.version, metadata.platform, received, length))

    return tell


def _protocol_words(context: InstallContext, metadata: PackageMetadata) -> str:
    """Says which version would do, as far as the registry's list says it."""
    name, version = context.name(metadata.address), metadata.version
    spoken = ", ".join(f"{one.major}.{one.minor}" for one in metadata.protocols)
    lead = f"provider {name} {version} needs plugin protocol {spoken}, which {context.dialect.product} does not speak"
    listed = context.source(metadata.address).versions(metadata.address).versions
    able = [one.version for one in listed if one.protocols and one.has_supported_protocol]
    if not able:
        return f"{lead}. No compatible versions of provider {name} were found"
    best = max(able, key=precedence)
    if best.compare(version) < 0:
        return f"{lead}. You need to downgrade to {best} or earlier"
    return f"{lead}. {best} is the latest compatible version available"
