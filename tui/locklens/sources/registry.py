"""The provider registry protocol: which versions there are, where a package is, what its publisher signed.

Answers are checked in the tools' order and refused for the tools' reasons. Whether a signature is good, and whether a
hash is explained by it, is not judged here. (developer.hashicorp.com/terraform/internals/provider-registry-protocol)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from msgspec import Struct

from locklens.addresses import Platform, ProviderAddress, display_host
from locklens.errors import (
    PlatformNotSupportedError,
    ProviderNotFoundError,
    SourceError,
    UnauthorizedError,
    UnavailableError,
)
from locklens.sources import documents
from locklens.sources.documents import Fields, ShapeError
from locklens.sources.http.failures import status_words
from locklens.sources.reported import PlatformPackage, read_packages
from locklens.sources.urls import MAX_URL, host_of, resolve
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from locklens.dialect import Dialect
    from locklens.sources.credentials import Credentials
    from locklens.sources.discovery import Discovery
    from locklens.sources.http import Answer, Kind, Kinds
    from locklens.sources.http.client import Client

MAX_VERSIONS = 20_000
"""The most that any provider in the public registries has is below 1,000."""

_MAX_PROTOCOLS, _MAX_PLATFORMS, _MAX_WARNINGS, _MAX_KEYS = 64, 512, 64, 64
_MAX_WORD, _MAX_NAME, _MAX_WARNING, _MAX_KEY = 256, 1024, 4096, 512 * 1024
_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")
_OK, _NOT_FOUND, _REFUSALS = 200, 404, {401, 403}
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


class RegistryVersions(Struct, frozen=True):
    """What a registry offers of a provider. No versions at all: the tools take the provider for not found.

    Attributes:
        warnings: The registry's own words, without control characters.
    """

    versions: tuple[ListedVersion, ...]
    warnings: tuple[str, ...]


class SigningKey(Struct, frozen=True):
    """A key that the registry names; nothing about it is proven.

    Attributes:
        ascii_armor: The public key.
        trust_signature: A detached signature over it, "" for none.
    """

    ascii_armor: str
    trust_signature: str


class PackageMetadata(Struct, frozen=True):
    """What a registry says of one package, before anybody checked it.

    Attributes:
        filename: As SHA256SUMS should have it; any text, so no path to write to.
        shasum: 64 hex digits in lower case.
        packages: OpenTofu's hashes and sizes of every platform, () where the registry sends none.
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
    signing_keys: tuple[SigningKey, ...]
    packages: tuple[PlatformPackage, ...]

    @property
    def has_supported_protocol(self) -> bool:
        """Whether the tools could run it; a package that names no protocol passes."""
        low, high = _PROTOCOLS
        return not self.protocols or any(low <= one.major < high and not one.prerelease for one in self.protocols)


class Registry:
    """A host's provider registry. Any number of threads may ask it; each URL is asked once in a run."""

    def __init__(
        self,
        host: str,
        *,
        client: Client,
        kinds: Kinds,
        dialect: Dialect,
        discovery: Discovery,
        credentials: Credentials,
    ) -> None:
        self.host = host
        self._client = client
        self._kinds = kinds
        self._dialect = dialect
        self._discovery = discovery
        self._credentials = credentials

    def versions(self, address: ProviderAddress) -> RegistryVersions:
        """Returns the versions that the registry offers, in its order.

        Raises:
            ProviderNotFoundError: The registry has no such provider.
            UnauthorizedError: It wants credentials, or refuses those that were sent.
            UnavailableError: It cannot say.
        """
        answer = self._ask(address, "versions")
        if answer.status == _NOT_FOUND:
            words = f"{self._name} does not have a provider named {address}"
            raise ProviderNotFoundError(words, source=self._name, address=str(address))
        self._demand_ok(answer, address)
        try:
            return _read_versions(answer.body)
        except ShapeError as error:
            raise self._unavailable(address, f"{self._name} answered with {error}") from error

    def package(self, address: ProviderAddress, version: Version, platform: Platform) -> PackageMetadata:
        """Returns what the registry says of a version's package for a platform.

        Raises:
            PlatformNotSupportedError: The registry has no such package; a version that it lacks looks the same.
            UnauthorizedError: It wants credentials, or refuses those that were sent.
            UnavailableError: It cannot say.
        """
        answer = self._ask(
            address, f"{quote(str(version), safe='')}/download/{quote(platform.os)}/{quote(platform.arch)}"
        )
        if answer.status == _NOT_FOUND:
            words = f"{self._name} does not have a package of {address} {version} for {platform}"
            raise PlatformNotSupportedError(words, source=self._name, address=str(address))
        self._demand_ok(answer, address)
        try:
            return self._read_package(answer, address, version, platform)
        except ShapeError as error:
            words = f"{self._name} answered about {address} {version} for {platform} with {error}"
            raise self._unavailable(address, words) from error

    def checksums(self, metadata: PackageMetadata) -> tuple[bytes, bytes]:
        """Returns the publisher's SHA256SUMS and the signature over it, unchecked; both are always asked for.

        Raises:
            UnavailableError: One of them cannot be had, whatever the reason.
        """
        sums = self._fetch(metadata, metadata.shasums_url, self._kinds.sums, "list of checksums")
        return sums, self._fetch(metadata, metadata.signature_url, self._kinds.signature, "signature of its checksums")

    @property
    def _name(self) -> str:
        return display_host(self.host)

    def _ask(self, address: ProviderAddress, rest: str) -> Answer:
        """Asks for JSON about a provider, with the host's token where the registry may have it."""
        try:
            service = self._discovery.providers(self.host)
            token = self._credentials.token(self.host) if service.takes_token else None
            url = resolve(service.url, f"{quote(address.namespace)}/{quote(address.type)}/{rest}")
            return self._client.get(url, self._kinds.metadata, token=token)
        except SourceError as error:
            error.address = str(address)  # Each asker has its own error, also where they share an answer.
            raise

    def _demand_ok(self, answer: Answer, address: ProviderAddress) -> None:
        if answer.status in _REFUSALS:
            self._refuse(answer, address)
        if answer.status != _OK:
            words = f"{self._name} answered {status_words(answer.status)} when asked about {address}"
            raise self._unavailable(address, words)

    def _refuse(self, answer: Answer, address: ProviderAddress) -> NoReturn:
        variable = "TF_TOKEN_" + self._name.replace("-", "__").replace(".", "_")
        if answer.had_token:
            words, hint = "rejected the given authentication credentials", f"renew the token of {self._name}"
        elif self._credentials.token(self.host) is None:
            words, hint = "requires authentication credentials", f"set {variable}, or run `{self._login}`"
        else:
            where = display_host(host_of(answer.url))
            words = "requires authentication credentials, and the token was not sent"
            hint = f"the registry is at {where}, and a token goes to its own host only, and only over TLS"
        raise UnauthorizedError(
            f"{self._name} {words}",
            source=self._name,
            address=str(address),
            hint=hint,
            had_credentials=answer.had_token,
        )

    @property
    def _login(self) -> str:
        return f"{self._dialect.command} login {self._name}"

    def _unavailable(self, address: ProviderAddress, words: str) -> UnavailableError:
        return UnavailableError(words, source=self._name, address=str(address))

    def _fetch(self, metadata: PackageMetadata, url: str, kind: Kind, what: str) -> bytes:
        """Gets a file that the registry points to: without credentials, on whatever host it is."""
        label = f"{metadata.address} {metadata.version}"
        try:
            answer = self._client.get(url, kind)
        except SourceError as error:
            words = f"the {what} of {label} cannot be had: {error}"
            raise UnavailableError(
                words, source=error.source, address=str(metadata.address), hint=error.hint
            ) from error
        if answer.status != _OK:
            host = display_host(host_of(answer.url))
            words = f"the {what} of {label} cannot be had: {status_words(answer.status)} returned from {host}"
            raise UnavailableError(words, source=host, address=str(metadata.address))
        return answer.body

    def _read_package(
        self, answer: Answer, address: ProviderAddress, version: Version, platform: Platform
    ) -> PackageMetadata:
        """Reads and checks what a registry says of a package, in the tools' order."""
        fields = Fields(documents.parse(answer.body, is_alone=False))
        protocols = tuple(_version(text, "protocol") for text in fields.texts("protocols", _MAX_PROTOCOLS, _MAX_WORD))
        target = fields.text("os", _MAX_WORD), fields.text("arch", _MAX_WORD)
        if target != (platform.os, platform.arch):
            raise ShapeError("the package of another platform")
        download_url = _url(answer, fields, "download_url")
        packages = read_packages(fields, is_strict=self._dialect.name == "opentofu")
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
                SigningKey(key.text("ascii_armor", _MAX_KEY), key.text("trust_signature", _MAX_KEY)) for key in keys
            ),
            packages=packages,
        )


def _read_versions(body: bytes) -> RegistryVersions:
    """Reads a list of versions; one malformed version makes the whole answer unusable, as it does for the tools."""
    fields = Fields(documents.parse(body, is_alone=False))
    listed: dict[Version, ListedVersion] = {}
    for item in fields.objects("versions", MAX_VERSIONS):
        version = _version(item.text("version", _MAX_WORD), "version")
        protocols = item.texts("protocols", _MAX_PROTOCOLS, _MAX_WORD)
        listed[version] = ListedVersion(version, protocols, _platforms(item))
    warnings = fields.texts("warnings", _MAX_WARNINGS, _MAX_WARNING)
    return RegistryVersions(tuple(listed.values()), tuple(map(documents.printable, warnings)))


def _platforms(item: Fields) -> tuple[Platform, ...]:
    try:
        entries = item.objects("platforms", _MAX_PLATFORMS)
        named = [(entry.text("os", _MAX_WORD), entry.text("arch", _MAX_WORD)) for entry in entries]
        return tuple(Platform.parse(f"{os}_{arch}") for os, arch in named)
    except ValueError:
        return ()


def _version(text: str, what: str) -> Version:
    try:
        return Version.parse(text)
    except VersionSyntaxError as error:
        words = documents.printable(f'an invalid {what} "{text[:80]}": {error}')
        raise ShapeError(words) from error


def _url(answer: Answer, fields: Fields, name: str) -> str:
    try:
        return resolve(answer.url, fields.text(name, MAX_URL))
    except ShapeError:
        raise
    except ValueError as error:
        raise ShapeError(f'a URL in "{name}" that cannot be used: {error}') from error
