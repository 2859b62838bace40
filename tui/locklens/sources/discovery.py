"""Service discovery: the address of a host's provider registry.

By the host's document at /.well-known/terraform.json, always over TLS, unless a `host` block of the CLI configuration
sets it: then no request is sent.
(developer.hashicorp.com/terraform/internals/remote-service-discovery)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.errors import SourceError, UnavailableError
from locklens.sources import documents
from locklens.sources.http.values import status_words
from locklens.sources.urls import has_userinfo, origin, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.dialect import Dialect
    from locklens.project.tokens import Token
    from locklens.sources.credentials import Credentials
    from locklens.sources.http import RequestKind, Response
    from locklens.sources.http.client import Client

_PROVIDERS = "providers.v1"
_FAMILY = "providers."
_PATH = "/.well-known/terraform.json"
_JSON = "application/json"
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+(?:/[\w!#$&^.+-]+)?\Z", re.ASCII)
_OK, _NOT_FOUND = 200, 404


class Service(Struct, frozen=True):
    """The address of a host's provider registry.

    Attributes:
        url: The base of the registry's URLs; its last segment counts only with a slash behind it.
        takes_token: True if the host's token may go there: to the host itself, or where the user's own `host` block
            points. A document that points to another host does not take the token along.
        is_given: True if the user's own `host` block says so.
    """

    url: str
    takes_token: bool
    is_given: bool = False


class Discovery:
    """Finds each host's provider registry, and asks each host once."""

    def __init__(
        self,
        client: Client,
        kind: RequestKind,
        *,
        dialect: Dialect,
        given: Mapping[str, Mapping[str, str | None]],
        credentials: Credentials,
    ) -> None:
        """Prepare; nothing is asked.

        Args:
            client: Of the run; it remembers the answers.
            kind: The bounds of a discovery document.
            dialect: The running tool, for its name in messages.
            given: The services of `host` blocks, by host in comparison form.
            credentials: Whose tokens go along.
        """
        self._client = client
        self._kind = kind
        self._product = dialect.product
        self._given = given
        self._credentials = credentials

    def providers(self, host: str) -> Service:
        """Return where a host's provider registry is.

        Args:
            host: Comparison form.

        Raises:
            UnavailableError: It cannot be told, or the host has none.
        """
        own = f"https://{host}{_PATH}"
        if host in self._given:
            return Service(self._url(host, own, self._given[host]), takes_token=True, is_given=True)
        answer = self._client.get(own, self._kind, token=self._token(host))
        try:
            url = self._url(host, answer.url, self._services(host, answer))
        except UnavailableError:
            if not answer.is_remembered:
                raise
            answer = self._client.get(own, self._kind, token=self._token(host), is_fresh=True)
            url = self._url(host, answer.url, self._services(host, answer))
        return Service(url, takes_token=origin(url) == origin(own))

    def _token(self, host: str) -> Token | None:
        try:
            return self._credentials.token(host)
        except SourceError:
            return None  # The tools ask anonymously here, and stop when they come to the registry.

    def _services(self, host: str, answer: Response) -> Mapping[str, str | None]:
        if answer.status == _NOT_FOUND:
            return {}
        if answer.status != _OK:
            raise self._error(host, f"answered {status_words(answer.status)} when asked for its services")
        media_type = (answer.content_type or "").partition(";")[0].strip().lower()
        if media_type != _JSON:
            words = "none" if not _MEDIA_TYPE.match(media_type) else media_type[:80]
            hint = "the address may belong to a web site, or be behind a login page"
            raise self._error(host, f"describes its services with content type {words} instead of {_JSON}", hint)
        try:
            return documents.texts_of(answer.body, _FAMILY)
        except documents.ShapeError as error:
            wrong = str(error)
        raise self._error(host, f"describes its services with {wrong}")

    def _url(self, host: str, base: str, services: Mapping[str, str | None]) -> str:
        value = services.get(_PROVIDERS)
        if value is None:
            if any(key.startswith(_FAMILY) for key in services):
                hint = f"another version of {self._product} may support it"
                raise self._error(host, "has a provider registry of another protocol version only", hint)
            raise self._error(
                host, f"is not a {self._product} provider registry", "check the host in the source address"
            )
        try:
            if has_userinfo(value):
                raise ValueError("it holds a user name or a password")
            return resolve(base, value)
        except ValueError as error:
            raise self._error(host, f"names a URL of its provider registry that cannot be used: {error}") from error

    def _error(self, host: str, words: str, hint: str = "") -> UnavailableError:
        name = display_host(host)
        return UnavailableError(f"{name} {words}", source=name, hint=hint)
