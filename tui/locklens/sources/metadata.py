"""Registry answers about versions, packages and release dates: checked as the tools do it, and not yet trusted.

OpenTofu's `packages` are the hashes and sizes of every platform's package, as the registry reports them. They are
unsigned: they count only together with the publisher's signed checksums.

Release dates, and the place of a provider's source, are not part of the registry protocol: only the two public
registries have them, each in its own way. A date that is absent, or an answer of another shape, makes an age unknown
and never an error: no command should fail because a registry lacks a date. The dates are unsigned, as the registry
claims them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from msgspec import Struct

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.hashes import is_of_files, zh_of
from locklens.sources import documents
from locklens.sources.documents import Fields, ShapeError
from locklens.sources.http import OK
from locklens.sources.urls import MAX_PAGE, MAX_URL, as_page, resolve
from locklens.text import visible
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from locklens.sources.hosts import Service
    from locklens.sources.http import Response


MAX_VERSIONS = 20_000
"""The most that any provider in the public registries has is below 1,000."""

_MAX_PROTOCOLS, _MAX_PLATFORMS, _MAX_WARNINGS, _MAX_KEYS = 64, 512, 64, 64
"""Bounds of one version: some hundred times what any has. All are held in memory for the run."""

_MAX_DISTINCT = 256
"""The most lists of protocols within one answer; a provider's versions have two or three, and each is kept once."""

_MAX_WORD, _MAX_NAME, _MAX_WARNING, _MAX_KEY = 256, 1024, 4096, 512 * 1024
"""Characters of a version or platform, a file name, a warning that is shown, and an armored key (3 KB, as a rule)."""

_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")
_PROTOCOLS = (5, 7)
"""Plugin protocols that both tools speak: from the first up to, not including, the second."""

_MAX_PACKAGES, _MAX_HASHES, _MAX_HASH = 512, 64, 1024
"""Platforms, hashes of one, and characters of a hash in an answer: there are 20 platforms and two schemes."""

_HASH = re.compile(r"[^:\s]+:[^\x00-\x20\x7f]*\Z")

OPENTOFU_DATES_HOST = "api.opentofu.org"
"""The host of the documentation of OpenTofu's registry, with the release dates: a host of the same project."""

PLACES = frozenset({TERRAFORM.default_host, OPENTOFU.default_host})
"""The registries, in comparison form, with release dates."""

_FIRST = datetime(2014, 7, 28, tzinfo=UTC)
"""Terraform's first release: what claims to be older has no date, such as year 1, which is Go's empty time."""


class ListedVersion(Struct, frozen=True):
    """A version that a registry offers.

    Attributes:
        protocols: Plugin protocols as written, e.g. "5.0".
        platforms: Platforms with a package; the tools do not look at them, so malformed ones are left out.
    """

    version: Version
    protocols: tuple[str, ...]
    platforms: tuple[Platform, ...]

    @property
    def has_supported_protocol(self) -> bool:
        """True if the tools could run it, as far as the list says; what cannot be read there says nothing."""
        return is_supported(map(Version.find, self.protocols))


def versions_named(texts: Iterable[str]) -> tuple[ListedVersion, ...]:
    """Return the versions among some texts, each once."""
    found = dict.fromkeys(map(Version.find, texts))
    return tuple(ListedVersion(version, (), ()) for version in found if version is not None)


class RegistryVersions(Struct, frozen=True):
    """A registry's offer of a provider. Without any version, the tools take the provider for not found.

    Attributes:
        warnings: The registry's own words, without control characters.
        as_of: The time of the answer, ISO 8601 in UTC.
    """

    versions: tuple[ListedVersion, ...]
    warnings: tuple[str, ...]
    as_of: str = ""


class ListedKey(Struct, frozen=True):
    """A key that the registry names; nothing about it is proven.

    Attributes:
        trust_signature: A detached signature over it, "" if there is none.
    """

    ascii_armor: str
    trust_signature: str = ""


class SignedChecksums(Struct, frozen=True):
    """A release's SHA256SUMS and the detached signature over it, as they came; `as_of` is ISO 8601 in UTC."""

    sums: bytes
    signature: bytes
    as_of: str = ""


class PlatformPackage(Struct, frozen=True):
    """The registry's report on one platform's package.

    Attributes:
        size: Bytes; 0 where the registry does not say, or says less than nothing.
    """

    platform: Platform
    hashes: tuple[str, ...]
    size: int


class PackageMetadata(Struct, frozen=True):
    """A source's answer about one package, unchecked. A mirror fills in where the package is, and `hashes` at most.

    Attributes:
        filename: The name that SHA256SUMS should have; any text, so no path to write to.
        download_url: "" where `path` says where the package is.
        shasum: 64 hex digits in lower case; "" where the source claims none.
        packages: OpenTofu's hashes and sizes of every platform, () where the registry sends none.
        as_of: The time of the registry's answer, ISO 8601 in UTC.
        path: The package on this machine.
        is_folder: True if that is an unpacked package, to be linked to.
        hashes: The mirror's hashes: the package must have one of those whose scheme is known.
        others: The mirror's hashes for other platforms, if the user wants them recorded as well; else ().
        is_by_digest: True if it is asked for by its `zh`, and refused by a lock file without that, whatever is in it.
    """

    address: ProviderAddress
    version: Version
    platform: Platform
    protocols: tuple[Version, ...] = ()
    filename: str = ""
    download_url: str = ""
    shasum: str = ""
    shasums_url: str = ""
    signature_url: str = ""
    signing_keys: tuple[ListedKey, ...] = ()
    packages: tuple[PlatformPackage, ...] = ()
    as_of: str = ""
    path: Path | None = None
    is_folder: bool = False
    hashes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_by_digest: bool = False

    @property
    def armors(self) -> tuple[str, ...]:
        """The signing keys, armored."""
        return tuple(key.ascii_armor for key in self.signing_keys)

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


def read_package(
    answer: Response, address: ProviderAddress, version: Version, platform: Platform, *, dialect: Dialect
) -> PackageMetadata:
    """Read and check a registry's answer about a package, in the tools' order.

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


def read_packages(fields: Fields, *, is_strict: bool) -> tuple[PlatformPackage, ...]:
    """Read the map of a registry's answer about one package.

    If strict, a malformed map makes the answer unusable, as for OpenTofu. Terraform does not look at it; then a
    malformed one counts as none.

    Raises:
        ShapeError: The map is malformed, and that matters.
    """
    try:
        return tuple(_package(key, value) for key, value in fields.object("packages").members(_MAX_PACKAGES))
    except ShapeError:
        if is_strict:
            raise
        return ()


def _package(key: str, value: Fields) -> PlatformPackage:
    try:
        platform = Platform.parse(key)
    except ValueError as error:
        raise ShapeError('an invalid platform in "packages"') from error
    return PlatformPackage(platform, read_hashes(value, "packages"), max(value.number("package_size"), 0))


def read_hashes(package: Fields, place: str = "hashes") -> tuple[str, ...]:
    """Return the hashes of a package, each with its scheme, known or not.

    Raises:
        ShapeError: One is malformed, in the `place` that the error names, or there are too many.
    """
    hashes = package.texts("hashes", _MAX_HASHES, _MAX_HASH)
    if not all(map(_HASH.match, hashes)):
        raise ShapeError(f'an invalid hash in "{place}"')
    return hashes


class ReleaseDates(Struct, frozen=True):
    """Release dates of one provider's versions, and its source.

    Attributes:
        moments: Dates in UTC, by version; versions without a date are left out.
        as_of: The time of the registry's answer, ISO 8601 in UTC; "" without an answer.
        repository: The URL of the provider's source; "" if unknown. OpenTofu's registry has none here.
    """

    moments: Mapping[Version, datetime] = MappingProxyType({})
    as_of: str = ""
    repository: str = ""

    def of(self, version: Version) -> datetime | None:
        """The release date of a version, None if unknown."""
        return self.moments.get(version)

    def ages(self, now: datetime) -> dict[Version, int]:
        """Return the whole days since the release of each version whose date is known."""
        return {version: max(0, (now - released).days) for version, released in self.moments.items()}


def days_old(released: datetime | None, now: datetime) -> int | None:
    """Return the whole days since a release; None if its date is unknown, 0 for one in the future."""
    return None if released is None else max(0, (now - released).days)


def dates_url(service: Service, address: ProviderAddress) -> str:
    """Return where the release dates of a provider of one of PLACES are.

    The paths are absolute. Where the user's own `host` block says where the registry is, they are asked for on that
    server, and the public one is left alone.
    """
    names = f"{quote(address.namespace, safe='')}/{quote(address.type, safe='')}"
    own = urlsplit(service.url)._replace(path="", query="", fragment="").geturl()
    if address.host == OPENTOFU.default_host:
        top = own if service.is_given else f"https://{OPENTOFU_DATES_HOST}"
        return f"{top}/registry/docs/providers/{names}/index.json"
    return f"{own}/v2/providers/{names}?include=provider-versions"


def read_dates(answer: Response) -> ReleaseDates:
    """Read either registry's answer; what cannot be read of it is left out."""
    if answer.status != OK:
        return ReleaseDates()
    try:
        with documents.opened(answer.body) as fields:
            pairs = list(_pairs(fields))
            repository = _repository(fields)
    except ShapeError:
        return ReleaseDates()
    found = {version: moment for text, date in pairs if (version := Version.find(text)) and (moment := _moment(date))}
    return ReleaseDates(MappingProxyType(found), answer.as_of if found else "", repository)


def _repository(fields: Fields) -> str:
    """Return the page of the source in Terraform's document; "" if there is none, or it is not a page."""
    try:
        return as_page(fields.object("data").object("attributes").text("source", MAX_PAGE))
    except ShapeError:
        return ""


def _pairs(fields: Fields) -> Iterator[tuple[str, str]]:
    """Version and date as written: of Terraform's JSON:API document or of OpenTofu's index."""
    if "included" in fields:
        for item in fields.objects("included", MAX_VERSIONS):
            if item.text("type", _MAX_WORD) == "provider-versions":
                attributes = item.object("attributes")
                yield attributes.text("version", _MAX_WORD), attributes.text("published-at", _MAX_WORD)
    else:
        for item in fields.objects("versions", MAX_VERSIONS):
            yield item.text("id", _MAX_WORD).removeprefix("v"), item.text("published", _MAX_WORD)


def _moment(text: str) -> datetime | None:
    """Read a date of RFC 3339, which says its offset."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo is not None and moment >= _FIRST else None
    except (ValueError, OverflowError):
        return None
