"""Mirrors: folders and servers with copies of packages, without signatures.

A filesystem mirror has packages, packed or unpacked, in the layout of the tools:

    HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip
    HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/

Other names are ignored, links to folders above the platform are not followed, and packages may be links, as with the
tools (internal/getproviders/filesystem_search.go).

A network mirror has documents of versions and packages below a base URL. Answers are refused for the tools' reasons
(internal/getproviders/http_mirror_source.go; the protocol:
developer.hashicorp.com/terraform/internals/provider-network-mirror-protocol).
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import (
    LEGACY_NAMESPACE,
    AddressError,
    Platform,
    ProviderAddress,
    normalise_host,
    normalise_namespace,
    normalise_part,
)
from locklens.dialect import OPENTOFU
from locklens.errors import (
    PlatformNotSupportedError,
    ProviderNotFoundError,
    SourceError,
    UnauthorizedError,
    UnavailableError,
)
from locklens.sources import documents
from locklens.sources.documents import Fields, ShapeError
from locklens.sources.hosts import Access, token_hint
from locklens.sources.http import NOT_FOUND, OK, REFUSALS, Transfer, status_words
from locklens.sources.metadata import (
    MAX_VERSIONS,
    ListedVersion,
    PackageMetadata,
    RegistryVersions,
    ReleaseDates,
    read_hashes,
    versions_named,
)
from locklens.sources.urls import MAX_URL, host_name, host_of, resolve, url_for_log
from locklens.storage.files import open_regular
from locklens.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.project.installation import InstallationMethod
    from locklens.sources.http import Response
    from locklens.sources.metadata import SignedChecksums


MEND_MIRROR = "fill the mirror again with `locklens mirror DIR`, or exclude the provider from it"
"""The next step where a mirror is damaged."""

CHECK_SERVER = "check that the mirror's server has it, or exclude the provider from the mirror"
"""The next step where a mirror's server gives no usable answer."""

_MOST_NAMES = 200_000
"""The most names that are looked at below one folder; a mirror of every public provider's newest version has 60,000."""

_BLOCK = 1 << 20

_REDIRECTS = 5
_JSON = "application/json"
_MAX_PLATFORMS = 512
"""Packages of a version: some twenty times what any mirror has."""


class Unsigned:
    """The parts of `Source` that concern signatures and dates, which a mirror has not."""

    def begin_checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> None:
        """Do nothing: there are none."""

    def checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> SignedChecksums | None:
        """Return None: nothing is signed."""
        return None

    def release_dates(self, address: ProviderAddress) -> ReleaseDates:
        """Return no dates: mirrors have none."""
        return ReleaseDates()


class MirroredPackage(Struct, frozen=True):
    """A package in a folder; `is_folder` is True for an unpacked one."""

    address: ProviderAddress
    version: Version
    platform: Platform
    path: Path
    is_folder: bool


class FilesystemMirror(Unsigned):
    """A folder of packages, which is searched once; links to it are followed. Thread-safe."""

    def __init__(self, folder: Path, shown: str = "") -> None:
        self._folder = folder
        self._shown = shown or str(folder)
        self._lock = threading.Lock()
        self._found: dict[ProviderAddress, tuple[MirroredPackage, ...]] | OSError | None = None

    def __str__(self) -> str:
        return self._shown

    @property
    def packages(self) -> Mapping[ProviderAddress, tuple[MirroredPackage, ...]]:
        """The packages of each provider; of one version and platform the first counts.

        Raises:
            UnavailableError: The folder cannot be searched.
        """
        with self._lock:
            if self._found is None:
                try:
                    self._found = search(self._folder)
                except OSError as error:
                    self._found = error
        if isinstance(self._found, OSError):
            words = f"cannot search {self}: {self._found.strerror or self._found}"
            raise UnavailableError(words, source=str(self), hint="check the path of the mirror")
        return self._found

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the versions that are there, for any platform; see `Source`."""
        platforms: dict[Version, list[Platform]] = {}
        for one in self.packages.get(address, ()):
            platforms.setdefault(one.version, []).append(one.platform)
        if not platforms:
            raise ProviderNotFoundError(f"{self} does not have {address}", source=str(self), address=str(address))
        listed = (ListedVersion(version, (), tuple(dict.fromkeys(each))) for version, each in platforms.items())
        return RegistryVersions(tuple(listed), ())

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return the place of a package; see `Source`."""
        for one in self.packages.get(address, ()):
            if (one.version, one.platform) == (version, platform):
                return PackageMetadata(address, version, platform, path=one.path, is_folder=one.is_folder)
        words = f"{self} does not have a package of {address} {version} for {platform}"
        raise PlatformNotSupportedError(words, source=str(self), address=str(address))

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a zip file, None for a folder; see `Source`."""
        try:
            return None if metadata.is_folder or metadata.path is None else metadata.path.stat().st_size
        except OSError as error:
            raise self._unreadable(metadata, error) from error

    @contextmanager
    def open_package(self, metadata: PackageMetadata) -> Iterator[Transfer]:
        """Open a zip file, which is not trusted to remain as it is; see `Source`."""
        assert metadata.path is not None
        try:
            with opened_zip(metadata.path) as transfer:
                yield transfer
        except OSError as error:
            raise self._unreadable(metadata, error) from error

    def _unreadable(self, metadata: PackageMetadata, error: OSError) -> UnavailableError:
        words = f"{metadata.path} cannot be read: {error.strerror or error}"
        return UnavailableError(words, source=str(self), address=str(metadata.address))


@contextmanager
def opened_zip(path: Path) -> Iterator[Transfer]:
    """Open a zip file on disk; errors as in `locklens.storage.files.open_regular`."""
    with open_regular(path) as file:
        yield Transfer(str(path), os.fstat(file.fileno()).st_size, iter(lambda: file.read(_BLOCK), b""))


def provider_packages(folder: Path, address: ProviderAddress) -> Iterator[MirroredPackage]:
    """Yield the packages of one provider below a folder, as `search` finds them; none where it has no such folder.

    Raises:
        OSError: A folder cannot be read, or there are too many names.
    """
    place, searching = Path(os.path.realpath(folder)), _Searching()
    for name in str(address).split("/"):
        place /= name
        if not place.is_dir() or place.is_symlink():
            return
    yield from searching.packages(address, place)


def search(folder: Path) -> dict[ProviderAddress, tuple[MirroredPackage, ...]]:
    """Return the packages below a folder, by provider, in the order of their names.

    Raises:
        OSError: A folder cannot be read, or there are too many names.
    """
    found: dict[ProviderAddress, list[MirroredPackage]] = {}
    for one in _all_packages(folder):
        found.setdefault(one.address, []).append(one)
    return {address: tuple(packages) for address, packages in found.items()}


def first_package(folder: Path) -> MirroredPackage | None:
    """Return the first package below a folder; None if there is none, or the folder cannot be searched."""
    try:
        return next(_all_packages(folder), None)
    except OSError:
        return None


def _all_packages(folder: Path) -> Iterator[MirroredPackage]:
    searching = _Searching()
    for host in searching.folders(Path(os.path.realpath(folder))):
        for namespace in searching.folders(host):
            for provider in searching.folders(namespace):
                address = _address(host.name, namespace.name, provider.name)
                if address is not None:
                    yield from searching.packages(address, provider)


class _Searching:
    """A search with a bound."""

    def __init__(self) -> None:
        self._left = _MOST_NAMES

    def folders(self, folder: Path) -> list[Path]:
        return [Path(one.path) for one in self._entries(folder) if one.is_dir(follow_symlinks=False)]

    def packages(self, address: ProviderAddress, folder: Path) -> Iterator[MirroredPackage]:
        for entry in self._entries(folder):
            if entry.is_dir(follow_symlinks=False):
                version = Version.find(entry.name)
                for leaf in self._entries(Path(entry.path)) if version is not None else ():
                    platform = _platform(leaf.name)
                    if platform is not None and version is not None and leaf.is_dir():
                        yield MirroredPackage(address, version, platform, Path(leaf.path), is_folder=True)
            elif (build := _packed(entry.name, address.type)) is not None and entry.is_file():
                yield MirroredPackage(address, *build, Path(entry.path), is_folder=False)

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            found = list(islice(entries, self._left + 1))
        self._left -= len(found)
        if self._left < 0:
            raise OSError(0, f"there are more than {_MOST_NAMES} names, which are not read")
        return sorted(found, key=lambda entry: os.fsencode(entry.name))


def _address(host: str, namespace: str, name: str) -> ProviderAddress | None:
    try:
        owner = namespace if namespace == LEGACY_NAMESPACE else normalise_namespace(namespace)
        return ProviderAddress(normalise_host(host), owner, normalise_part(name))
    except ValueError:
        return None


def _packed(name: str, provider: str) -> tuple[Version, Platform] | None:
    """Read the name of a zip file; further words after the architecture do not count."""
    name = name.lower()
    prefix = f"terraform-provider-{provider}_"
    if not name.startswith(prefix) or not name.endswith(".zip"):
        return None
    parts = name[len(prefix) : -len(".zip")].split("_")
    version = Version.find(parts[0])
    platform = _platform("_".join(parts[1:3]))
    return None if version is None or platform is None else (version, platform)


def _platform(text: str) -> Platform | None:
    try:
        return Platform.parse(text)
    except ValueError:
        return None


class NetworkMirror(Unsigned):
    """A network mirror. Thread-safe; each URL is asked once in a run."""

    def __init__(self, method: InstallationMethod, access: Access) -> None:
        kinds = access.kinds
        self._base = method.place
        self._access = access
        # OpenTofu asks mirrors' documents once.
        retries = 0 if access.dialect is OPENTOFU else kinds.versions.retries
        self._kind = replace(kinds.versions, words="a mirror's document", redirects=_REDIRECTS, retries=retries)
        self._package_retries = kinds.package_retries if method.retries is None else method.retries
        self._trusts_hashes = method.trusts_all_hashes

    def __str__(self) -> str:
        return f"provider mirror at {url_for_log(self._base)}"

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the versions that the mirror lists, without those that cannot be read; see `Source`."""
        answer = self._ask(address, "index.json", is_fresh=is_fresh)
        try:
            names = documents.member_names(answer.body, "versions", MAX_VERSIONS) if answer.status == OK else ()
        except ShapeError as error:
            raise self._unavailable(address, f"{self} answered with {error}") from None
        listed = versions_named(names)
        if not listed:
            raise ProviderNotFoundError(f"{self} does not have {address}", source=str(self), address=str(address))
        return RegistryVersions(listed, (), answer.as_of)

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return the place of a package, and its listed hashes; see `Source`."""
        with self._document(address, version, is_fresh=is_fresh) as (base, archives):
            archive = archives.pop(str(platform), None)
            if archive is None:
                words = f"{self} does not have a package of {address} {version} for {platform}"
                raise PlatformNotSupportedError(words, source=str(self), address=str(address))
            url, hashes = resolve(base, archive.text("url", MAX_URL)), read_hashes(archive)
            # OpenTofu reads the others' hashes only where they count.
            read = map(read_hashes, archives.values()) if self._trusts_hashes else ()
            others = tuple(dict.fromkeys(text for each in read for text in each))
        return PackageMetadata(address, version, platform, download_url=url, hashes=hashes, others=others)

    def listed_hashes(self, address: ProviderAddress, version: Version) -> dict[Platform, tuple[str, ...]]:
        """Return the hashes that the mirror lists of a version's packages, by platform.

        Raises:
            NotFoundError: It does not have the provider or the version.
            SourceError: It has no usable answer.
        """
        listed = [one.version for one in self.versions(address).versions]
        if version not in listed:
            raise ProviderNotFoundError(f"{self} does not have {address} {version}", source=str(self))
        found: dict[Platform, tuple[str, ...]] = {}
        with self._document(address, version) as (_, archives):
            for name, archive in archives.items():
                with suppress(AddressError):
                    found[Platform.parse(name)] = read_hashes(archive)
        return found

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a package, None if its server does not say; see `Source`."""
        return self._access.client.size(metadata.download_url)

    def open_package(self, metadata: PackageMetadata) -> AbstractContextManager[Transfer]:
        """Open a package, without the mirror's credentials; see `Source`."""
        url = metadata.download_url
        return self._access.client.download(url, retries=self._package_retries, token=self._access.package_token(url))

    @contextmanager
    def _document(
        self, address: ProviderAddress, version: Version, *, is_fresh: bool = False
    ) -> Iterator[tuple[str, dict[str, Fields]]]:
        """Read the document of a version in a block: its URL, and what it says about each platform's package."""
        answer = self._ask(address, f"{quote(str(version), safe='')}.json", is_fresh=is_fresh)
        if answer.status == NOT_FOUND:
            # A listed version without its document is damage, not an absence that another source may fill.
            words = f"{self} does not have archive index for previously-reported {address} {version}"
            hint = "exclude the provider from this mirror, or add the version to it"
            raise UnavailableError(words, source=str(self), address=str(address), hint=hint)
        try:
            with documents.opened(answer.body) as fields:
                yield answer.url, dict(fields.object("archives").members(_MAX_PLATFORMS))
        except ValueError as error:
            raise self._unavailable(address, f"{self} answered about {address} {version} with {error}") from None

    def _ask(self, address: ProviderAddress, name: str, *, is_fresh: bool) -> Response:
        """Ask for a document; its status is 200 or 404."""
        if ":" in address.host:
            # The tools take the host for the scheme of a URL then.
            words = f"{self} cannot serve {address}: the request failed, since a mirror has no hosts with a port"
            raise UnavailableError(words, source=str(self), address=str(address), hint="exclude it from the mirror")
        try:
            url = resolve(self._base, f"{address.host}/{quote(address.namespace)}/{quote(address.type)}/{name}")
            token = self._access.credentials.token(host_of(self._base))
            answer = self._access.client.get(url, self._kind, token=token, is_fresh=is_fresh)
        except SourceError as error:
            error.address = str(address)
            error.name_place(str(self), CHECK_SERVER)
            raise
        if answer.status in REFUSALS:
            name, words = host_name(self._base), f"{self} rejected the given authentication credentials"
            hint, had = token_hint(name), answer.had_token
            raise UnauthorizedError(words, source=name, address=str(address), hint=hint, had_credentials=had)
        if answer.status not in {OK, NOT_FOUND}:
            # In the words of the client, which raises where the tool would ask again.
            words = f"{host_name(answer.url)} answered {status_words(answer.status)} ({self})"
            raise UnavailableError(words, source=str(self), address=str(address), hint=CHECK_SERVER)
        if answer.status == OK and answer.media_type != _JSON:
            raise self._unavailable(address, f"{self} answered with something that is not {_JSON}")
        return answer

    def _unavailable(self, address: ProviderAddress, words: str) -> UnavailableError:
        return UnavailableError(words, source=str(self), address=str(address), hint=MEND_MIRROR)
