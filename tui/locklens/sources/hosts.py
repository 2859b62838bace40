"""Hosts: which may be asked, where their registries are, and which tokens they get.

Only hosts that the user or the base of a comparison vouches for are asked. A change under review names hosts too: if
those were asked, a pull request could make a reviewer's machine call a host of its choice, from inside a company's
network and with the reviewer's address.

A host's document at /.well-known/terraform.json, read over TLS, says where its registry is; if a `host` block of the
CLI configuration gives the address, nothing is requested
(developer.hashicorp.com/terraform/internals/remote-service-discovery).

Tokens come from TF_TOKEN_ variables, then `credentials` blocks, then the credentials helper. The first that knows a
host wins, also with an empty token. Tokens never show their value when printed.
"""

from __future__ import annotations

import re
import threading
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host, normalise_host, spelt_host
from locklens.dialect import DIALECTS, Dialect
from locklens.errors import SourceError, UnavailableError
from locklens.project.cliconfig import Token
from locklens.sources import documents
from locklens.sources.http import NOT_FOUND, OK, status_words
from locklens.sources.urls import has_userinfo, origin, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.sources.helpers import Helper
    from locklens.sources.http import Kinds, RequestKind, Response
    from locklens.sources.http.client import Client


_PROVIDERS = "providers.v1"
_FAMILY = "providers."
_PATH = "/.well-known/terraform.json"
_JSON = "application/json"
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+(?:/[\w!#$&^.+-]+)?\Z", re.ASCII)

_PREFIX = "TF_TOKEN_"


class ContactReason(StrEnum):
    """The reason why a host may be asked; the value ends the sentence "is asked because it is …"."""

    DEFAULT = "the tool's own registry"
    OTHER_DEFAULT = "the other tool's own registry"
    SERVICES = 'in a "host" block of the CLI configuration'
    CREDENTIALS = "one that credentials are set for"
    BASE = "named by the base's lock files or policy"
    GIVEN = "given with --ask-host"


class NotAsked(Struct, frozen=True):
    """A host, in comparison form, that is not asked, which is not an error, and how the user can have it asked."""

    host: str
    hint: str

    def __str__(self) -> str:
        return f"{spelt_host(self.host)} was not asked"


class AskedHosts(Struct, frozen=True):
    """The hosts that may be asked, in comparison form, each with the first reason found."""

    vouchers: Mapping[str, ContactReason]

    def judge(self, host: str) -> ContactReason | NotAsked:
        """The reason why a host is asked, or the statement that it is not."""
        voucher = self.vouchers.get(host)
        if voucher is not None:
            return voucher
        words = "only files that a change may have brought name this host, and not the base"
        return NotAsked(host, f"{words}; --ask-host {host} asks it")


def asked_hosts(
    dialect: Dialect,
    *,
    services: Iterable[str] = (),
    credentials: Iterable[str] = (),
    base: Iterable[str] = (),
    given: Iterable[str] = (),
) -> AskedHosts:
    """Return the hosts that may be asked, in comparison form.

    The default registry of the tool is asked; the other tool's too, to recognise its hashes. Further ones are those of
    `host` blocks, of `credentials` blocks and TF_TOKEN_ variables, of the base's lock files or policy, and of the
    command line. A credentials helper vouches for no host: only running it would tell which hosts it knows.
    """
    others = [each.default_host for each in DIALECTS.values() if each.name != dialect.name]
    groups: tuple[tuple[ContactReason, Iterable[str]], ...] = (
        (ContactReason.DEFAULT, (dialect.default_host,)),
        (ContactReason.SERVICES, services),
        (ContactReason.CREDENTIALS, credentials),
        (ContactReason.BASE, base),
        (ContactReason.GIVEN, given),
        (ContactReason.OTHER_DEFAULT, others),
    )
    vouchers: dict[str, ContactReason] = {}
    for voucher, hosts in groups:
        for host in hosts:
            vouchers.setdefault(host, voucher)
    return AskedHosts(vouchers)


class Access(Struct, frozen=True):
    """What a run's sources need to send requests.

    Attributes:
        package_token: Returns what `.netrc` has for a package's URL, where the tool would use it.
        advice: Returns the next step where a provider's registry gives no usable answer; "" for that of the error.
    """

    client: Client
    kinds: Kinds
    dialect: Dialect
    credentials: Credentials
    discovery: Discovery
    package_token: Callable[[str], Token | None] = lambda _: None
    advice: Callable[[ProviderAddress], str] = lambda _: ""


class Service(Struct, frozen=True):
    """The address of a host's provider registry.

    Attributes:
        url: The base of the registry's URLs; its last segment is kept only if a slash follows.
        takes_token: True if the host's token may be sent to this URL: on the host itself, or named in the user's own
            `host` block. Where the host's document points elsewhere, no token is sent.
        is_given: True if the user's own `host` block says so.
    """

    url: str
    takes_token: bool
    is_given: bool = False


class Discovery(Struct, frozen=True):
    """Finds each host's provider registry, and asks each host once.

    Attributes:
        given: The services of `host` blocks, by host in comparison form.
    """

    client: Client
    kind: RequestKind
    dialect: Dialect
    given: Mapping[str, Mapping[str, str | None]]
    credentials: Credentials

    def providers(self, host: str) -> Service:
        """Return the address of the provider registry of a host, in comparison form.

        Raises:
            UnavailableError: It is unknown, or the host has none.
        """
        own = f"https://{host}{_PATH}"
        if host in self.given:
            return Service(self._url(host, own, self.given[host]), takes_token=True, is_given=True)
        answer = self.client.get(own, self.kind, token=self._token(host))
        try:
            url = self._url(host, answer.url, self._services(host, answer))
        except UnavailableError:
            if not answer.is_remembered:
                raise
            answer = self.client.get(own, self.kind, token=self._token(host), is_fresh=True)
            url = self._url(host, answer.url, self._services(host, answer))
        return Service(url, takes_token=origin(url) == origin(own))

    def _token(self, host: str) -> Token | None:
        try:
            return self.credentials.token(host)
        except SourceError:
            # Like the tools: discovery goes on without a token; the error comes when the registry is asked.
            return None

    def _services(self, host: str, answer: Response) -> Mapping[str, str | None]:
        if answer.status == NOT_FOUND:
            return {}
        if answer.status != OK:
            raise self._error(host, f"answered {status_words(answer.status)} when asked for its services")
        if answer.media_type != _JSON:
            words = answer.media_type[:80] if _MEDIA_TYPE.match(answer.media_type) else "none"
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
                hint = f"another version of {self.dialect.product} may support it"
                raise self._error(host, "offers its provider registry only in another protocol version", hint)
            raise self._error(
                host, f"is not a {self.dialect.product} provider registry", "check the host in the source address"
            )
        try:
            if has_userinfo(value):
                raise ValueError("it holds a user name or a password")
            return resolve(base, value)
        except ValueError as error:
            raise self._error(host, f"gives an unusable URL for its provider registry: {error}") from error

    def _error(self, host: str, words: str, hint: str = "") -> UnavailableError:
        name = display_host(host)
        return UnavailableError(f"{name} {words}", source=name, hint=hint)


def token_hint(host: str) -> str:
    """Return the next step where a host refused a request; no variable can name a host with a port."""
    block = f"a credentials block for {host}"
    return f"set {block}" if ":" in host else f"set {_PREFIX}{host.replace('-', '__').replace('.', '_')}, or {block}"


def environment_tokens(environ: Mapping[str, str]) -> dict[str, Token]:
    """Return the tokens of TF_TOKEN_ variables by host in comparison form.

    In a variable's name `__` stands for a dash and `_` for a dot. Names that decode to no host are
    ignored; the last of two for one host wins.
    """
    tokens: dict[str, Token] = {}
    for name, value in environ.items():
        if name.startswith(_PREFIX):
            host = _decoded_host(name.removeprefix(_PREFIX))
            if host:
                tokens[host] = Token(value)
    return tokens


def _decoded_host(text: str) -> str:
    spelled = text.replace("__", "-").replace("_", ".")
    lowered = spelled.lower()
    try:
        # `normalise_host` refuses punycode.
        return normalise_host(display_host(lowered) if "xn--" in lowered else spelled)
    except ValueError:
        return ""


class Credentials:
    """The credentials for each host, looked up once in the tools' order."""

    def __init__(
        self, environ: Mapping[str, str], configured: Mapping[str, Token | None], helper: Helper | None = None
    ) -> None:
        """Read TF_TOKEN_ variables; the helper runs only for hosts that neither these nor blocks name.

        The `credentials` blocks are by host in comparison form; None is one without a token.
        """
        self._known: dict[str, Token | None] = {**configured, **environment_tokens(environ)}
        self._helper = helper
        self._lock = threading.Lock()
        self._asked: dict[str, Token | ValueError | None] = {}

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that a variable or a block names."""
        return frozenset(self._known)

    def token(self, host: str) -> Token | None:
        """Return the token of a host, in comparison form; None if there is none.

        Raises:
            UnavailableError: The helper failed.
        """
        if host in self._known:
            return self._known[host]
        if self._helper is None:
            return None
        with self._lock:
            if host not in self._asked:
                try:
                    self._asked[host] = self._helper.token(host)
                except ValueError as error:
                    self._asked[host] = error
            found = self._asked[host]
        if isinstance(found, ValueError):
            name = display_host(host)
            words = f"the credentials for {name} are unavailable: the credentials helper failed: {found}"
            raise UnavailableError(words, source=name, hint="run the helper by hand to see its output")
        return found
