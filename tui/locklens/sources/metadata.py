"""Registry answers about versions and packages, read and checked as the tools do it, and not yet trusted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import Platform, ProviderAddress
from locklens.hashes import is_of_files, zh_of
from locklens.sources import documents
from locklens.sources.documents import Fields, ShapeError
from locklens.sources.reported import PlatformPackage, read_packages
from locklens.sources.urls import MAX_URL, resolve
from locklens.text import visible
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.sources.http import Response

MAX_VERSIONS = 20_000
"""The most that any provider in the public registries has is below 1,000."""

_MAX_PROTOCOLS, _MAX_PLATFORMS, _MAX_WARNINGS, _MAX_KEYS = 64, 512, 64, 64
"""Of one version: some hundred times what any has. A registry names them, and each is held in memory for the run."""

_MAX_DISTINCT = 256
"""Lists of protocols within one answer; those of a provider's versions are two or three, and held once each."""

_MAX_WORD, _MAX_NAME, _MAX_WARNING, _MAX_KEY = 256, 1024, 4096, 512 * 1024
"""Characters of a version or platform, a file name, a warning that is shown, and an armored key (3 KB, as a rule)."""

_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")
_PROTOCOLS = (5, 7)
"""Plugin protocols that both tools speak: from the first up to, not including, the second."""


class ListedVersion(Struct, frozen=True):
    """A version that a registry offers.

    Attributes:
        protocols: Plugin protocols as written, e.g. "5.0".
        platforms: For which there is a package; the tools do not look at them, so what is malformed is left out.
    """

    version: Version
    protocols: tuple[str, ...]
    platforms: tuple[Platform, ...]

    @property
    def has_supported_protocol(self) -> bool:
        """True if the tools could run it, as far as the list says; what cannot be read there says nothing."""
        return is_supported(map(_protocol, self.protocols))


class RegistryVersions(Struct, frozen=True):
    """A registry's offer of a provider. No versions at all: the tools take the provider for not found.

    Attributes:
        warnings: The registry's own words, without control characters.
        as_of: When it said so, ISO 8601 in UTC.
    """

    versions: tuple[ListedVersion, ...]
    warnings: tuple[str, ...]
    as_of: str = ""


class ListedKey(Struct, frozen=True):
    """A key that the registry names; nothing about it is proven.

    Attributes:
        ascii_armor: The public key.
        trust_signature: A detached signature over it, "" for none.
    """

    ascii_armor: str
    trust_signature: str


class SignedChecksums(Struct, frozen=True):
    """A release's SHA256SUMS and the detached signature over it, as they came; `as_of` as of `RegistryVersions`."""

    sums: bytes
    signature: bytes
    as_of: str = ""


class PackageMetadata(Struct, frozen=True):
    """A source's answer about one package, unchecked. A mirror fills in where the package is, and `hashes` at most.

    Attributes:
        filename: As SHA256SUMS should have it; any text, so no path to write to.
        download_url: "" where `path` says where the package is.
        shasum: 64 hex digits in lower case; "" where the source claims none.
        packages: OpenTofu's hashes and sizes of every platform, () where the registry sends none.
        as_of: When the registry said so, ISO 8601 in UTC.
        path: The package on this machine.
        is_folder: True if that is an unpacked package, to be linked to.
        hashes: That a mirror lists: the package must have one of those whose scheme is known.
        others: Hashes that it lists for other platforms, which the user has recorded as well; () without that.
    """

    address: ProviderAddress
    version: Version
    platform: Platform
    protocols: tuple[Version, ...]
    filename: str
    download_url: str
    shasum: str
    shasums_url: str
    signature_url: str
    signing_keys: tuple[ListedKey, ...]
    packages: tuple[PlatformPackage, ...]
    as_of: str = ""
    path: Path | None = None
    is_folder: bool = False
    hashes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def has_supported_protocol(self) -> bool:
        """True if the tools could run it; a package that names no protocol passes."""
        return is_supported(self.protocols)

    @property
    def zh(self) -> str:
        """The claimed hash of the package; "" where the source claims none."""
        return zh_of(self.shasum) if self.shasum else ""

    @property
    def reported_h1s(self) -> dict[str, Platform]:
        """The platform of each `h1` that the registry reports."""
        return {text: one.platform for one in self.packages for text in one.hashes if is_of_files(text)}


def is_supported(protocols: Iterable[Version | None]) -> bool:
    """True if the tools speak one of the plugin protocols; True where none is named, or one (None) cannot be read."""
    low, high = _PROTOCOLS
    named = list(protocols)
    return not named or any(one is None or (low <= one.major < high and not one.prerelease) for one in named)


def _protocol(text: str) -> Version | None:
    try:
        return Version.parse(text)
    except VersionSyntaxError:
        return None


def read_package(
    answer: Response, address: ProviderAddress, version: Version, platform: Platform, *, dialect: Dialect
) -> PackageMetadata:
    """Read and check what a registry says of a package, in the tools' order.

    Raises:
        ShapeError: Something is malformed or missing, or it is another platform's.
    """
    with documents.opened(answer.body) as fields:
        protocols = tuple(_version(text, "protocol") for text in fields.texts("protocols", _MAX_PROTOCOLS, _MAX_WORD))
        target = fields.text("os", _MAX_WORD), fields.text("arch", _MAX_WORD)
        if target != (platform.os, platform.arch):
            raise ShapeError("the package of another platform")
        download_url = _url(answer, fields, "download_url")
        packages = read_packages(fields, is_strict=dialect.name == "opentofu")
        shasum = fields.text("shasum", _MAX_NAME)
        if not _SHA256.match(shasum):
            raise ShapeError("a SHA-256 checksum that is not 64 hex digits")
        keys = fields.object("signing_keys").objects("gpg_public_keys", _MAX_KEYS)
        return PackageMetadata(
            address=address,
            version=version,
            platform=platform,
            protocols=protocols,
            filename=fields.text("filename", _MAX_NAME),
            download_url=download_url,
            shasum=shasum.lower(),
            shasums_url=_url(answer, fields, "shasums_url"),
            signature_url=_url(answer, fields, "shasums_signature_url"),
            signing_keys=tuple(
                ListedKey(key.text("ascii_armor", _MAX_KEY), key.text("trust_signature", _MAX_KEY)) for key in keys
            ),
            packages=packages,
            as_of=answer.as_of,
        )


def read_versions(answer: Response) -> RegistryVersions:
    """Read a list of versions; one malformed version makes the whole answer unusable, as it does for the tools.

    Raises:
        ShapeError: It is unusable.
    """
    listed: dict[Version, ListedVersion] = {}
    protocols: dict[tuple[str, ...], tuple[str, ...]] = {}
    platforms: dict[tuple[str, str], Platform] = {}
    with documents.opened(answer.body) as fields:
        for item in fields.objects("versions", MAX_VERSIONS):
            version = _version(item.text("version", _MAX_WORD), "version")
            named = item.texts("protocols", _MAX_PROTOCOLS, _MAX_WORD)
            shared = protocols.setdefault(named, named)
            if len(protocols) > _MAX_DISTINCT:
                raise ShapeError(f'JSON with more than {_MAX_DISTINCT} different "protocols"')
            listed[version] = ListedVersion(version, shared, _platforms(item, platforms))
        warnings = fields.texts("warnings", _MAX_WARNINGS, _MAX_WARNING)
    return RegistryVersions(tuple(listed.values()), tuple(map(visible, warnings)), answer.as_of)


def _platforms(item: Fields, known: dict[tuple[str, str], Platform]) -> tuple[Platform, ...]:
    """Return the platforms of a version, () where they are malformed or, with those `known`, too many different."""
    found: list[Platform] = []
    try:
        for entry in item.objects("platforms", _MAX_PLATFORMS):
            pair = entry.text("os", _MAX_WORD), entry.text("arch", _MAX_WORD)
            if pair not in known:
                if len(known) >= _MAX_PLATFORMS:
                    return ()
                known[pair] = Platform.parse("_".join(pair))
            found.append(known[pair])
    except ValueError:
        return ()
    return tuple(found)


def _version(text: str, what: str) -> Version:
    try:
        return Version.parse(text)
    except VersionSyntaxError as error:
        raise ShapeError(visible(f'an invalid {what} "{text[:80]}": {error}')) from error


def _url(answer: Response, fields: Fields, name: str) -> str:
    try:
        return resolve(answer.url, fields.text(name, MAX_URL))
    except ShapeError:
        raise
    except ValueError as error:
        raise ShapeError(f'a URL in "{name}" that cannot be used: {error}') from error
