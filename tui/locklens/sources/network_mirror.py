"""The provider network mirror protocol: documents of versions and packages below a base URL.

Answers are refused for the tools' reasons (internal/getproviders/http_mirror_source.go; the protocol:
developer.hashicorp.com/terraform/internals/provider-network-mirror-protocol).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from msgspec.structs import replace

from locklens.addresses import AddressError, Platform, display_host
from locklens.dialect import OPENTOFU
from locklens.errors import (
    PlatformNotSupportedError,
    ProviderNotFoundError,
    SourceError,
    UnauthorizedError,
    UnavailableError,
)
from locklens.sources import documents
from locklens.sources.credentials import token_hint
from locklens.sources.documents import ShapeError
from locklens.sources.http.values import status_words
from locklens.sources.metadata import MAX_VERSIONS, ListedVersion, RegistryVersions
from locklens.sources.reported import is_hash
from locklens.sources.unsigned import CHECK_SERVER, MEND_MIRROR, Unsigned, unsigned_package
from locklens.sources.urls import MAX_URL, host_of, resolve, url_for_log
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.project.installation import InstallationMethod
    from locklens.project.tokens import Token
    from locklens.sources.credentials import Credentials
    from locklens.sources.documents import Fields
    from locklens.sources.http import Kinds, Response, Transfer
    from locklens.sources.http.client import Client
    from locklens.sources.metadata import PackageMetadata

_OK, _NOT_FOUND, _REFUSALS = 200, 404, {401, 403}
_REDIRECTS = 5
_JSON = "application/json"
_MAX_PLATFORMS, _MAX_HASHES, _MAX_HASH = 512, 64, 1024
"""Packages of a version, hashes of one, and characters of a hash: some twenty times what any mirror has."""


class NetworkMirror(Unsigned):
    """A network mirror. Thread-safe; each URL is asked once in a run."""

    def __init__(
        self,
        method: InstallationMethod,
        *,
        client: Client,
        kinds: Kinds,
        dialect: Dialect,
        credentials: Credentials,
        package_token: Callable[[str], Token | None] = lambda _: None,
    ) -> None:
        is_tofu = dialect is OPENTOFU
        self._base = method.place
        self._client = client
        # OpenTofu asks mirrors' documents once.
        self._kind = replace(kinds.versions, words="a mirror's document", redirects=_REDIRECTS)
        self._kind = replace(self._kind, retries=0) if is_tofu else self._kind
        self._package_retries = kinds.package_retries if method.retries is None else method.retries
        self._credentials = credentials
        self._package_token = package_token
        self._trusts_hashes = method.trusts_all_hashes

    def __str__(self) -> str:
        return f"provider mirror at {url_for_log(self._base)}"

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the versions that the mirror lists; those that cannot be read are skipped; errors as of `Source`."""
        answer = self._ask(address, "index.json", is_fresh=is_fresh)
        try:
            names = documents.member_names(answer.body, "versions", MAX_VERSIONS) if answer.status == _OK else ()
        except ShapeError as error:
            raise self._unavailable(address, f"{self} answered with {error}") from None
        listed = {}
        for name in names:
            with suppress(VersionSyntaxError):
                version = Version.parse(name)
                listed[version] = ListedVersion(version, (), ())
        if not listed:
            raise ProviderNotFoundError(f"{self} does not have {address}", source=str(self), address=str(address))
        return RegistryVersions(tuple(listed.values()), (), answer.as_of)

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return where a package is, and its listed hashes; errors as of `Source`."""
        answer = self._ask(address, f"{quote(str(version), safe='')}.json", is_fresh=is_fresh)
        if answer.status == _NOT_FOUND:
            raise self._without_document(address, version)
        try:
            with documents.opened(answer.body) as fields:
                archives = dict(fields.object("archives").members(_MAX_PLATFORMS))
                if str(platform) not in archives:
                    words = f"{self} does not have a package of {address} {version} for {platform}"
                    raise PlatformNotSupportedError(words, source=str(self), address=str(address))
                archive = archives[str(platform)]
                url = resolve(answer.url, archive.text("url", MAX_URL))
                # OpenTofu reads the others' hashes only where they count.
                read = {name: _hashes(one) for name, one in archives.items() if one is archive or self._trusts_hashes}
                hashes = read.pop(str(platform))
                others = tuple(dict.fromkeys(text for each in read.values() for text in each))
        except ValueError as error:
            raise self._unavailable(address, f"{self} answered about {address} {version} with {error}") from None
        return unsigned_package(address, version, platform, url=url, hashes=hashes, others=others)

    def listed_hashes(self, address: ProviderAddress, version: Version) -> dict[Platform, tuple[str, ...]]:
        """Return the hashes that the mirror lists of a version's packages, by platform.

        Raises:
            NotFoundError: It does not have the provider or the version.
            SourceError: It has no usable answer.
        """
        listed = [one.version for one in self.versions(address).versions]
        if version not in listed:
            raise ProviderNotFoundError(f"{self} does not have {address} {version}", source=str(self))
        answer = self._ask(address, f"{quote(str(version), safe='')}.json", is_fresh=False)
        if answer.status == _NOT_FOUND:
            raise self._without_document(address, version)
        found: dict[Platform, tuple[str, ...]] = {}
        try:
            with documents.opened(answer.body) as fields:
                for name, archive in fields.object("archives").members(_MAX_PLATFORMS):
                    with suppress(AddressError):
                        found[Platform.parse(name)] = _hashes(archive)
        except ShapeError as error:
            raise self._unavailable(address, f"{self} answered about {address} {version} with {error}") from None
        return found

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a package, None where its server does not say; errors as of `Source`."""
        return self._client.size(metadata.download_url)

    def open_package(self, metadata: PackageMetadata) -> AbstractContextManager[Transfer]:
        """Open a package, without the mirror's credentials; errors as of `Source`."""
        url = metadata.download_url
        return self._client.download(url, retries=self._package_retries, token=self._package_token(url))

    def _ask(self, address: ProviderAddress, name: str, *, is_fresh: bool) -> Response:
        """Ask for a document; its status is 200 or 404."""
        if ":" in address.host:
            # The tools take the host for the scheme of a URL then.
            words = f"{self} cannot serve {address}: the request failed, since a mirror has no hosts with a port"
            raise UnavailableError(words, source=str(self), address=str(address), hint="exclude it from the mirror")
        try:
            url = resolve(self._base, f"{address.host}/{quote(address.namespace)}/{quote(address.type)}/{name}")
            token = self._credentials.token(host_of(self._base))
            answer = self._client.get(url, self._kind, token=token, is_fresh=is_fresh)
        except SourceError as error:
            error.address = str(address)
            error.name_place(str(self), CHECK_SERVER)
            raise
        if answer.status in _REFUSALS:
            self._refuse(answer, address)
        if answer.status not in {_OK, _NOT_FOUND}:
            words = f"{self} answered {status_words(answer.status)} when asked about {address}"
            raise self._unavailable(address, words)
        media_type = (answer.content_type or "").partition(";")[0].strip().lower()
        if answer.status == _OK and media_type != _JSON:
            raise self._unavailable(address, f"{self} answered with something that is not {_JSON}")
        return answer

    def _refuse(self, answer: Response, address: ProviderAddress) -> NoReturn:
        name = display_host(host_of(self._base))
        raise UnauthorizedError(
            f"{self} rejected the given authentication credentials",
            source=name,
            address=str(address),
            hint=token_hint(name),
            had_credentials=answer.had_token,
        )

    def _without_document(self, address: ProviderAddress, version: Version) -> UnavailableError:
        # A listed version without its document is damage, not an absence that another source may fill.
        words = f"{self} does not have archive index for previously-reported {address} {version}"
        hint = "exclude the provider from this mirror, or add the version to it"
        return UnavailableError(words, source=str(self), address=str(address), hint=hint)

    def _unavailable(self, address: ProviderAddress, words: str) -> UnavailableError:
        return UnavailableError(words, source=str(self), address=str(address), hint=MEND_MIRROR)


def _hashes(archive: Fields) -> tuple[str, ...]:
    hashes = archive.texts("hashes", _MAX_HASHES, _MAX_HASH)
    if not all(map(is_hash, hashes)):
        raise ShapeError('an invalid hash in "hashes"')
    return hashes
