"""Fills a mirror's folder with signed packages, as `providers mirror` does, except for those that are there already.

The folder has packages and JSON documents, in the layout and the bytes of `providers mirror`
(internal/command/providers_mirror.go). It serves as a filesystem mirror, and behind any web server for static files as
a network mirror. Files are made beside their place and moved there; links below the folder are not followed. Packages
that are there are read in place: no second copy of their bytes is made.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, cast

from msgspec import Struct, field

from locklens.diagnostics import Diagnostic
from locklens.errors import LockLensError, PackageError, PlatformNotSupportedError
from locklens.hashes import hashes_of_files, zh_of
from locklens.install import unwritable
from locklens.install.context import FetchStarted, InstallContext, PackageMirrored
from locklens.install.fetching import admitted, downloaded, warn
from locklens.packages.contents import Digest, new_digest
from locklens.packages.hashing import Passed, hash_arriving_package
from locklens.releases.authentication import check_reported
from locklens.sources.mirrors import MirroredPackage, search
from locklens.storage.files import OpenFolders, RealFolder, exclusive_lock, open_regular

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from locklens.addresses import Platform, ProviderAddress
    from locklens.versions import Version

    MirroredBuild = tuple[ProviderAddress, Version, Platform]


SUMMARY = "Could not mirror providers"

_NEW = os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LOCK = ".locklens.lock"

_BLOCK = 1 << 20


class Mirrored(Struct, frozen=True):
    """The result of mirroring packages.

    Attributes:
        hashes: Hashes of each package that is in the folder now, as documents list them; after a dry run also of those
            that would be there, as far as they are known.
    """

    hashes: Mapping[MirroredBuild, tuple[str, ...]]
    failures: Mapping[MirroredBuild, Diagnostic]


def mirror(
    builds: Sequence[MirroredBuild], context: InstallContext, *, into: MirrorFolder, is_dry: bool = False
) -> Mirrored:
    """Fetch packages into a folder, concurrently; one that fails does not stop the others.

    A dry run fetches and writes none; of those that the folder lacks, the hashes are the `zh` of the release and those
    that earlier runs computed.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    outcomes = dict(
        zip(builds, context.map(lambda build: _mirrored(build, context, into, is_dry=is_dry), builds), strict=True)
    )
    return Mirrored(
        {build: outcome for build, outcome in outcomes.items() if not isinstance(outcome, Diagnostic)},
        {build: outcome for build, outcome in outcomes.items() if isinstance(outcome, Diagnostic)},
    )


def write_documents(
    providers: Sequence[ProviderAddress],
    known: Mapping[MirroredBuild, tuple[str, ...]],
    context: InstallContext,
    *,
    into: MirrorFolder,
) -> tuple[Diagnostic, ...]:
    """Write the documents of providers, for all of their zip files that are in a folder; return what failed.

    Hashes of this run's packages are known; the others are hashed.

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
            words = f"{one.path} is in no document: {outcome}"
            failures.append(context.failed(one.address, SUMMARY, words, outcome.hint or "remove the file"))
        else:
            hashes.setdefault(one.address, {})[one.version, one.platform] = outcome
    for address, each in hashes.items():
        into.document(address, each)
    return tuple(failures)


def _hashes(
    package: MirroredPackage, known: Mapping[MirroredBuild, tuple[str, ...]], context: InstallContext
) -> tuple[str, ...] | LockLensError:
    build = package.address, package.version, package.platform
    try:
        if build in known:
            return known[build]
        return _listed(stored_package(package.path, context.session.cancel), context)
    except LockLensError as error:
        return error


def _mirrored(
    build: MirroredBuild, context: InstallContext, into: MirrorFolder, *, is_dry: bool
) -> tuple[str, ...] | Diagnostic:
    address, version, platform = build
    name = context.name(address)
    package: Passed | None
    try:
        metadata, release = admitted(context, address, version, platform)
        warn(context, metadata, release)
        was_there = into.zh(build) == metadata.zh
        if was_there:
            package = stored_package(into.place(build), context.session.cancel)
            own = package.hashed.of_files | package.archive_hashes
            check_reported(metadata, release.reported.own, package.size, own)
        elif is_dry:
            package = None
        else:
            context.emit(FetchStarted(name, version, platform))
            with into.writing(build) as file:
                package = downloaded(context, metadata, release, file)
    except LockLensError as error:
        return failed(context, build, error)
    signed = context.authenticator.words(release)
    context.emit(PackageMirrored(name, version, platform, signed, was_there))
    if package is None:
        of_files = context.session.cache.hashes([metadata.zh]).get(metadata.zh, frozenset())
        return tuple(sorted({metadata.zh, *of_files}))
    return _listed(package, context)


def failed(context: InstallContext, build: MirroredBuild, error: LockLensError) -> Diagnostic:
    """Emit the event of a package that cannot be mirrored, and return its diagnostic."""
    address, version, platform = build
    name = context.name(address)
    if isinstance(error, PlatformNotSupportedError):
        words = f"provider {name} {version} is not available for {platform}"
        return context.failed(address, SUMMARY, words, platform.meant)
    return context.failed(address, SUMMARY, f"{name} {version} for {platform}: {error}", error.hint)


def _listed(package: Passed, context: InstallContext) -> tuple[str, ...]:
    """Return the hashes of a package as documents list them: those of its files, for OpenTofu the `zh` as well.

    OpenTofu itself lists the `zh` alone where the registry reports no hash of files, and those of files alone of
    packages that are there from earlier runs.
    """
    hashes = package.archive_hashes
    return tuple(sorted(hashes if context.dialect.name == "opentofu" else hashes_of_files(hashes)))


class MirrorFolder(Struct, frozen=True):
    """A mirror's folder; neither it nor what is below it need exist. Thread-safe."""

    path: Path
    made: set[Path] = field(default_factory=set)

    @contextmanager
    def exclusive_lock(self, on_waiting: Callable[[], None]) -> Iterator[None]:
        """Wait until no other process fills the folder; errors as in `locklens.storage.files.exclusive_lock`.

        Folders that were made meanwhile and are empty at the end are removed.
        """
        with exclusive_lock(self.path, (_LOCK,), on_waiting=on_waiting):
            try:
                yield
            finally:
                for place in sorted(self.made, reverse=True):
                    with suppress(OSError):
                        place.rmdir()

    def place(self, build: MirroredBuild) -> Path:
        """Return the place of a package's zip file."""
        return self.path.joinpath(*_names(build[0]), package_file_name(build))

    def zh(self, build: MirroredBuild) -> str:
        """Return the hash of a package's zip file that is there, "" where none is or it cannot be read."""
        import hashlib

        place = self.place(build)
        try:
            if place.is_symlink() or not place.is_file():
                return ""
            with place.open("rb") as file:
                return zh_of(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError:
            return ""

    @contextmanager
    def writing(self, build: MirroredBuild) -> Iterator[BinaryIO]:
        """Open a new file that becomes the package's zip file at the end of the block, and vanishes on an error.

        Raises:
            ConfigurationError: It cannot be written, or a link is on the way to it.
        """
        with self._way(build[0]) as folder, _written(folder, package_file_name(build)) as file:
            yield file

    def packages(self) -> Mapping[ProviderAddress, tuple[MirroredPackage, ...]]:
        """Return the zip files that are there, by provider.

        Raises:
            ConfigurationError: The folder cannot be searched.
        """
        try:
            found = search(self.path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise unwritable(self.path, error) from error
        packed = {address: tuple(one for one in each if not one.is_folder) for address, each in found.items()}
        return {address: each for address, each in packed.items() if each}

    def document(self, address: ProviderAddress, hashes: Mapping[tuple[Version, Platform], Iterable[str]]) -> None:
        """Write the documents of a provider for the zip files whose hashes are given; unchanged documents stay.

        Raises:
            ConfigurationError: They cannot be written.
        """
        versions = sorted({str(version) for version, _ in hashes})
        files: dict[str, dict[str, object]] = {"index.json": {"versions": {version: {} for version in versions}}}
        for name in versions:
            archives = {
                str(platform): {"hashes": sorted(texts), "url": package_file_name((address, version, platform))}
                for (version, platform), texts in hashes.items()
                if str(version) == name
            }
            files[f"{name}.json"] = {"archives": archives}
        with self._way(address) as folder:
            for name, content in files.items():
                data = json.dumps(content, indent=2, sort_keys=True).encode()
                if not _holds(folder.path / name, data):
                    with _written(folder, name) as file:
                        file.write(data)

    def prune(self, kept: frozenset[MirroredBuild], *, is_dry: bool = False) -> tuple[str, ...]:
        """Remove the zip files of other packages and the documents of versions without any; return their names.

        With `is_dry` nothing is removed.

        Raises:
            ConfigurationError: One cannot be removed.
        """
        removed = []
        for address, packages in self.packages().items():
            # A dry run has not put those that the folder lacks there.
            left = {str(version) for required, version, _ in kept if required == address}
            gone = {one.path.name for one in packages if (address, one.version, one.platform) not in kept}
            gone |= {f"{one.version}.json" for one in packages if str(one.version) not in left}
            gone |= set() if left else {"index.json"}
            for folder in sorted({one.path.parent for one in packages}):
                # What a run that was killed, or one of the tools', left behind begins with a dot.
                hidden = {one.name for one in folder.glob(".terraform-provider-*.zip")}
                for name in sorted(gone | hidden):
                    path = folder / name
                    try:
                        if is_dry:
                            path.lstat()
                        else:
                            path.unlink()
                    except FileNotFoundError:
                        continue
                    except OSError as error:
                        raise unwritable(path, error) from error
                    removed.append(str(path.relative_to(self.path.resolve())))
                for empty in () if is_dry else (folder, folder.parent, folder.parent.parent):
                    with suppress(OSError):
                        empty.rmdir()
        return tuple(removed)

    @contextmanager
    def _way(self, address: ProviderAddress) -> Iterator[RealFolder]:
        names = _names(address)
        try:
            with OpenFolders(self.path, names, self.made) as way:
                yield way.end
        except OSError as error:
            raise unwritable(self.path.joinpath(*names), error) from error


def stored_package(path: Path, cancel: threading.Event | None = None) -> Passed:
    """Read the zip file of a package that has hashes of its files, of its entries as they are stored.

    Raises:
        PackageError: It cannot be read, or has none.
    """
    found = read_stored_package(path, cancel)
    if not hashes_of_files(found.archive_hashes):
        raise PackageError(f"{path} has no h1: a folder of it has contents")
    return found


def package_file_name(build: MirroredBuild) -> str:
    """Return the name of a package's zip file."""
    address, version, platform = build
    return f"terraform-provider-{address.type}_{version}_{platform}.zip"


def _names(address: ProviderAddress) -> tuple[str, ...]:
    return tuple(str(address).split("/"))


def _holds(path: Path, data: bytes) -> bool:
    try:
        return not path.is_symlink() and path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


@contextmanager
def _written(folder: RealFolder, name: str) -> Iterator[BinaryIO]:
    """Open a hidden file beside a name, and move it there where the block ends without an error."""
    hidden = f".{name}"
    folder.remove(hidden)
    with open(folder.open(hidden, _NEW | os.O_EXCL, 0o644), "w+b") as file:  # noqa: PTH123
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            folder.remove(hidden)
            raise
    folder.replace(hidden, name)


def read_stored_package(
    path: Path, cancel: threading.Event | None = None, *, new: Callable[[bytes], Digest] = new_digest
) -> Passed:
    """Read the zip file of a package, and hash it; `new` makes the digest of each content, by its entry's name.

    Raises:
        PackageError: It cannot be read, or the tools could not unpack it.
        RunCancelledError: `cancel` was set.
    """
    try:
        with open_regular(path) as arriving, open_regular(path) as stored:
            chunks = iter(lambda: arriving.read(_BLOCK), b"")
            return hash_arriving_package(chunks, cast("BinaryIO", _Stored(stored)), cancel=cancel, new=new)
    except OSError as error:
        raise PackageError(f"{path} cannot be read: {error.strerror or error}") from error


class _Stored:
    """A file that already holds the bytes that are written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.read, self.tell = file.seek, file.read, file.tell

    def write(self, data: bytes) -> int:
        """Write nothing."""
        return len(data)
