"""The provider registry protocol: which versions there are, where a package is, what its publisher signed.

Answers are checked in the tools' order and refused for the tools' reasons. One of an earlier run that cannot be used is
asked for again: what went wrong for a moment should not count against a registry for an hour. Whether a signature is
good, and whether a hash is explained by it, is not judged here.
(developer.hashicorp.com/terraform/internals/provider-registry-protocol)
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from locklens.addresses import Platform, ProviderAddress, display_host
from locklens.errors import (
    OfflineError,
    PlatformNotSupportedError,
    ProviderNotFoundError,
    SourceError,
    UnauthorizedError,
    UnavailableError,
)
from locklens.sources.documents import ShapeError
from locklens.sources.http import NOT_FOUND, OK, REFUSALS, status_words
from locklens.sources.metadata import (
    PLACES,
    PackageMetadata,
    RegistryVersions,
    ReleaseDates,
    SignedChecksums,
    dates_url,
    read_dates,
    read_package,
    read_versions,
)
from locklens.sources.urls import has_query, host_name, resolve

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from locklens.project.cliconfig import Token
    from locklens.sources.hosts import Access
    from locklens.sources.http import RequestKind, Response, Transfer
    from locklens.versions import Version


class Registry:
    """A host's provider registry. Any number of threads may ask it; each URL is asked once in a run."""

    def __init__(self, host: str, access: Access) -> None:
        self.host = host
        self._name = display_host(host)
        self._access = access
        self._client = access.client
        self._kinds = access.kinds

    def __str__(self) -> str:
        return f"registry {self._name}"

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the versions that the registry offers, in its order.

        A fresh answer is not one of an earlier run that would count; also below.

        Raises:
            ProviderNotFoundError: The registry has no such provider.
            UnauthorizedError: It wants credentials, or refuses those that were sent.
            UnavailableError: It cannot say.
        """
        answer = self._ask(address, "versions", self._kinds.versions, is_fresh=is_fresh)
        if answer.status == NOT_FOUND:
            words = f"{self._name} does not have a provider named {address}"
            raise ProviderNotFoundError(words, source=self._name, address=str(address))
        self._demand_ok(answer, address)
        try:
            return read_versions(answer)
        except ShapeError as error:
            wrong = str(error)  # No error is kept with what it was raised from: the reader's frames hold the document.
        if answer.is_remembered and not is_fresh:
            return self.versions(address, is_fresh=True)
        raise self._unavailable(address, f"{self._name} answered with {wrong}")

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return the registry's answer about a version's package for a platform.

        Raises:
            PlatformNotSupportedError: The registry has no such package; a version that it lacks looks the same.
            UnauthorizedError: It wants credentials, or refuses those that were sent.
            UnavailableError: It cannot say.
        """
        answer = self._ask(address, _place(version, platform), self._kinds.metadata, is_fresh=is_fresh)
        if answer.status == NOT_FOUND:
            words = f"{self._name} does not have a package of {address} {version} for {platform}"
            raise PlatformNotSupportedError(words, source=self._name, address=str(address))
        self._demand_ok(answer, address)
        try:
            metadata = read_package(answer, address, version, platform, dialect=self._access.dialect)
        except ShapeError as error:
            metadata, wrong = None, str(error)
        if metadata is None:
            if answer.is_remembered and not is_fresh:
                return self.package(address, version, platform, is_fresh=True)
            words = f"{self._name} answered about {address} {version} for {platform} with {wrong}"
            raise self._unavailable(address, words)
        # URLs that are signed for a few minutes are of no use after them.
        is_short_lived = any(map(has_query, (metadata.download_url, metadata.shasums_url, metadata.signature_url)))
        if is_short_lived and answer.is_remembered and not is_fresh:
            return self.package(address, version, platform, is_fresh=True)
        return metadata

    def begin_versions(self, address: ProviderAddress) -> None:
        """Begin to fetch what `versions` returns, and return once it is known where that is."""
        self._begin(address, "versions", self._kinds.versions)

    def begin_package(self, address: ProviderAddress, version: Version, platform: Platform) -> None:
        """Begin to fetch what `package` returns, and return once it is known where that is."""
        self._begin(address, _place(version, platform), self._kinds.metadata)

    def checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> SignedChecksums:
        """Return the publisher's SHA256SUMS and the signature over it, unchecked; both are asked for at once.

        Raises:
            UnavailableError: One of them cannot be obtained, whatever the reason.
        """
        self.begin_checksums(metadata, is_fresh=is_fresh)
        fetch = partial(self._fetch, metadata, is_fresh=is_fresh)
        sums = fetch(metadata.shasums_url, self._kinds.sums, "list of checksums")
        signature = fetch(metadata.signature_url, self._kinds.signature, "signature of the checksums")
        return SignedChecksums(sums.body, signature.body, min(sums.as_of, signature.as_of))

    def begin_checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> None:
        """Begin to fetch what `checksums` returns, and return at once."""
        self._client.begin(metadata.shasums_url, self._kinds.sums, is_fresh=is_fresh)
        self._client.begin(metadata.signature_url, self._kinds.signature, is_fresh=is_fresh)

    def release_dates(self, address: ProviderAddress) -> ReleaseDates:
        """Return when the provider's versions were released, as far as reported: nothing here is an error.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        if self.host not in PLACES:
            return ReleaseDates()
        try:
            url = dates_url(self._access.discovery.providers(self.host), address)
            return read_dates(self._client.get(url, self._kinds.dates))
        except SourceError:
            return ReleaseDates()

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a package, None if its server does not say them beforehand.

        Raises:
            UnavailableError: There is no such file, or the server cannot be asked.
        """
        return self._client.size(metadata.download_url)

    def open_package(self, metadata: PackageMetadata) -> AbstractContextManager[Transfer]:
        """Open a package, which is read while it arrives; errors as in the client's `download`."""
        url = metadata.download_url
        return self._client.download(url, retries=self._kinds.package_retries, token=self._access.package_token(url))

    def _ask(self, address: ProviderAddress, rest: str, kind: RequestKind, *, is_fresh: bool) -> Response:
        """Ask for JSON about a provider, with the host's token where the registry may have it."""
        try:
            url, token = self._located(address, rest)
            return self._client.get(url, kind, token=token, is_fresh=is_fresh)
        except SourceError as error:
            error.address = str(address)  # Each asker has its own error, also where they share an answer.
            if isinstance(error, UnavailableError) and not isinstance(error, OfflineError):
                error.hint = self._access.advice(address) or error.hint
            raise

    def _begin(self, address: ProviderAddress, rest: str, kind: RequestKind) -> None:
        with suppress(SourceError):  # Each caller gets the error.
            url, token = self._located(address, rest)
            self._client.begin(url, kind, token=token)

    def _located(self, address: ProviderAddress, rest: str) -> tuple[str, Token | None]:
        """Return the URL of a document about a provider, and the token that goes there."""
        service = self._access.discovery.providers(self.host)
        token = self._access.credentials.token(self.host) if service.takes_token else None
        return resolve(service.url, f"{quote(address.namespace)}/{quote(address.type)}/{rest}"), token

    def _demand_ok(self, answer: Response, address: ProviderAddress) -> None:
        if answer.status in REFUSALS:
            self._refuse(answer, address)
        if answer.status != OK:
            words = f"{self._name} answered {status_words(answer.status)} when asked about {address}"
            raise self._unavailable(address, words)

    def _refuse(self, answer: Response, address: ProviderAddress) -> NoReturn:
        login = f"{self._access.dialect.command} login {self._name}"
        variable = "TF_TOKEN_" + self._name.replace("-", "__").replace(".", "_")
        if answer.had_token:
            words, hint = "rejected the given authentication credentials", f"renew the token of {self._name}"
        elif self._access.credentials.token(self.host) is None:
            words, hint = "requires authentication credentials", f"set {variable}, or run `{login}`"
        else:
            where = host_name(answer.url)
            words = "requires authentication credentials, and the token was not sent"
            hint = f"the registry is at {where}, and a token goes to its own host only, and only over TLS"
        name, had = self._name, answer.had_token
        raise UnauthorizedError(f"{name} {words}", source=name, address=str(address), hint=hint, had_credentials=had)

    def _unavailable(self, address: ProviderAddress, words: str) -> UnavailableError:
        return UnavailableError(words, source=self._name, address=str(address))

    def _fetch(self, metadata: PackageMetadata, url: str, kind: RequestKind, what: str, *, is_fresh: bool) -> Response:
        """Get a file that the registry points to: without credentials, on whatever host it is."""
        label = f"{metadata.address} {metadata.version}"
        try:
            answer = self._client.get(url, kind, is_fresh=is_fresh)
        except SourceError as error:
            words = f"the {what} cannot be fetched for {label}: {error}"
            told = OfflineError if isinstance(error, OfflineError) else UnavailableError
            raise told(words, source=error.source, address=str(metadata.address), hint=error.hint) from error
        if answer.status != OK:
            host = host_name(answer.url)
            words = f"the {what} cannot be fetched for {label}: {status_words(answer.status)} returned from {host}"
            raise UnavailableError(words, source=host, address=str(metadata.address))
        return answer


def _place(version: Version, platform: Platform) -> str:
    return f"{quote(str(version), safe='')}/download/{quote(platform.os)}/{quote(platform.arch)}"
