"""Gets a package that a registry and its publisher vouch for: to be hashed while it arrives, or to be kept."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, PackageError, TrustError
from locklens.install.events import PackageArriving, ReleaseWarned
from locklens.packages.limits import Limits, shown, stop_if
from locklens.sources.metadata import is_supported
from locklens.versions.version import precedence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.hashes import HashedPackage
    from locklens.install.run import InstallRun
    from locklens.install.trusting import Vouched
    from locklens.sources.metadata import PackageMetadata
    from locklens.versions import Version

_TELL_EVERY = 1 << 20
"""Bytes between two events about one package."""

_TELL_SECONDS = 0.5
"""Or so many seconds, where it comes slowly."""

LIMITS = Limits()


def admitted(
    run: InstallRun, address: ProviderAddress, version: Version, platform: Platform
) -> tuple[PackageMetadata, Vouched]:
    """Asks for a package's metadata, and for what its publisher signed, and judges that.

    Raises:
        SourceError: The registry has no such package, or cannot say.
        TrustError: The tool would refuse the release.
    """
    registry = run.registry(address)
    metadata = registry.package(address, version, platform)
    if not is_supported(metadata.protocols):
        raise PackageError(_protocol_words(run, metadata))
    vouched = run.gatekeeper.admit(metadata, registry.checksums(metadata))
    return metadata, vouched


def warn(run: InstallRun, metadata: PackageMetadata, vouched: Vouched) -> None:
    """Tells what is odd about a release."""
    for words in vouched.warnings:
        run.tell(ReleaseWarned(run.name(metadata.address), metadata.version, words))


def hashed(run: InstallRun, metadata: PackageMetadata) -> HashedPackage:
    """Hashes a package while it arrives, and remembers what came out.

    Raises:
        SourceError: It does not arrive.
        TrustError: It is not the one that is vouched for.
        PackageError: The tools could not unpack it, or there is no program in it.
        ConfigurationError: There is no room for the temporary file.
    """
    from locklens.packages.hashing import hash_package

    with run.registry(metadata.address).open_package(metadata) as download:
        tell = _teller(run, metadata, download.length)
        try:
            found = hash_package(
                download.chunks,
                limit=LIMITS,
                on_bytes=tell,
                cancel=run.cancel,
                check=lambda names: check_program(names, metadata.address),
            )
        except PackageError as error:
            _check_zh(metadata, error.zh or _expected(metadata))
            raise
    _check_zh(metadata, found.zh)
    run.cache.keep_package(found)
    return found


def keep(run: InstallRun, metadata: PackageMetadata, archive: Path) -> int:
    """Downloads a package to a file, and returns its bytes; errors as of `hashed`, but for what is in it."""
    sha256, size = hashlib.sha256(), 0
    with run.registry(metadata.address).open_package(metadata) as download:
        tell = _teller(run, metadata, download.length)
        try:
            with archive.open("wb") as file:
                for chunk in download.chunks:
                    stop_if(run.cancel)
                    size += len(chunk)
                    if size > LIMITS.packed:
                        raise PackageError(f"the package has more than {shown(LIMITS.packed)}, which is not read")
                    sha256.update(chunk)
                    file.write(chunk)
                    tell(len(chunk))
        except OSError as error:
            raise unwritable(archive.parent.parent, error) from error
    _check_zh(metadata, "zh:" + sha256.hexdigest())
    return size


def unwritable(folder: Path, error: OSError) -> ConfigurationError:
    """The error for a folder that packages cannot be written to."""
    reason = error.strerror or str(error)
    return ConfigurationError(
        f"cannot be written: {reason}", path=str(folder), hint="make room, or look at who may write"
    )


def check_program(names: list[bytes], address: ProviderAddress) -> None:
    """Makes sure that a package has a program, as the tools look for it: among the files that lie in no folder.

    Raises:
        PackageError: It has none.
    """
    start = b"terraform-provider-" + address.type.encode()
    for name in names:
        if b"/" not in name and name.startswith(start) and name[len(start) : len(start) + 1] in {b"", b"_", b"."}:
            return
    raise PackageError(f"provider binary not found: could not find executable file starting with {start.decode()}")


def _expected(metadata: PackageMetadata) -> str:
    return "zh:" + metadata.shasum


def _check_zh(metadata: PackageMetadata, zh: str) -> None:
    if zh != _expected(metadata):
        words = f"archive has incorrect checksum {zh} (expected {_expected(metadata)})"
        hint = "the package was tampered with, or published again without its checksums"
        raise TrustError(words, hint=hint)


def _teller(run: InstallRun, metadata: PackageMetadata, length: int | None) -> Callable[[int], None]:
    name = run.name(metadata.address)
    received = told = 0
    last = time.monotonic()

    def tell(size: int) -> None:
        nonlocal received, told, last
        received += size
        now = time.monotonic()
        if received - told >= _TELL_EVERY or now - last >= _TELL_SECONDS:
            told, last = received, now
            run.tell(PackageArriving(name, metadata.version, metadata.platform, received, length))

    return tell


def _protocol_words(run: InstallRun, metadata: PackageMetadata) -> str:
    """Says which version would do, as far as the registry's list says it."""
    name, version = run.name(metadata.address), metadata.version
    spoken = ", ".join(f"{one.major}.{one.minor}" for one in metadata.protocols)
    lead = f"provider {name} {version} needs plugin protocol {spoken}, which {run.dialect.product} does not speak"
    listed = run.registry(metadata.address).versions(metadata.address).versions
    able = [one.version for one in listed if one.protocols and one.has_supported_protocol]
    if not able:
        return f"{lead}. No compatible versions of provider {name} were found"
    best = max(able, key=precedence)
    if best.compare(version) < 0:
        return f"{lead}. You need to downgrade to {best} or earlier"
    return f"{lead}. {best} is the latest compatible version available"
