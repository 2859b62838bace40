"""Asks over HTTP, within bounds of size and time, each URL at most once in a run.

It is the only user of httpx, h11 and h2.

Answers of the last hour, from earlier runs, are used again; offline, an answer counts however old it is.

What comes back is a value or one of the errors of `SourceError`: no type of the HTTP library leaves this package.
Nothing here knows registries. Tokens are handed in for one request, go to that URL's own origin, over TLS or to this
machine only, and are in no message and no log.

Here are requests and answers as values: kinds of requests with their bounds on size and time, and the rules for
retries.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from http import HTTPStatus

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from locklens.dialect import Dialect


KIB = 1024
MIB = 1024 * KIB

FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
"""Seconds between two attempts: 1, 2, 4 and so on up to this, as the tools wait."""

_TERRAFORM_DISCOVERY_SECONDS = 11.0
_TERRAFORM_DISCOVERY_REDIRECTS = 3
_GO_REDIRECTS = 9
_DEFAULT_SECONDS = 10.0
_DEFAULT_RETRIES = 1
_DEFAULT_PACKAGE_RETRIES = 2
_MOST_SECONDS = 3600
_MOST_RETRIES = 100
OK, NOT_FOUND, REFUSALS = 200, 404, frozenset({401, 403})
_TOO_MANY_REQUESTS, _SERVER_ERRORS, _NOT_IMPLEMENTED = 429, 500, 501

_LEAST_RATE = 16 * KIB
_PATIENCE = 10
_LONGEST_DOWNLOAD = 4 * 3600.0
"""Bytes a second that a package must come to, which is what 16 of them leave each other of 2 Mbit/s; how many times
longer than without a byte it may fall short of that; and seconds that none may take: a server that sends a little now
and then would never stall."""

_CONNECTIONS_PER_HOST, _MOST_AT_ONCE = 16, 64
"""Concurrent requests to one host, each on a connection of its own and all together, unless LOCKLENS_REQUESTS_PER_HOST
is set: those on a shared connection cost a server less."""


class Response(Struct, frozen=True):
    """A server's answer, after redirects.

    Attributes:
        url: Final URL, after redirects, to which relative URLs in the body refer. A cached answer lacks the
            query if that was not asked for.
        body: Decompressed; b"" unless the status is 200, or the kind wants the bodies of errors too.
        had_token: True if a token was sent with the request.
        as_of: The time of the request, ISO 8601 in UTC with seconds.
        is_remembered: True if it was asked in an earlier run.
        headers: Those that the kind of request keeps, by name in lower case.
    """

    status: int
    url: str
    content_type: str | None
    body: bytes
    had_token: bool
    as_of: str
    is_remembered: bool = False
    headers: Mapping[str, str] = {}

    @property
    def media_type(self) -> str:
        """The content type without parameters, in lower case; "" for none."""
        return (self.content_type or "").partition(";")[0].strip().lower()


class Outgoing(Struct, frozen=True):
    """A request that is more than a GET; it is sent once, and its redirects are followed for GET and HEAD alone.

    Attributes:
        headers: Further headers, such as the type and length of the content.
        content: The body; a function that opens it where it is too large to be held.
    """

    method: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | Callable[[], Iterable[bytes]] = b""


class Transfer(Struct, frozen=True):
    """A large file while it arrives. Its chunks are read once, in the thread that opened it.

    Its URL is the final one, after redirects; its length is None if the server does not say.
    """

    url: str
    length: int | None
    chunks: Iterator[bytes]


class Exchange(Struct, frozen=True):
    """One line of the log: a request that was sent, or a cached answer that was used instead.

    Attributes:
        url: Without query and login.
        outcome: The status, or the reason why there is none.
        size: Bytes of the body.
        as_of: The time of the request, ISO 8601 in UTC with seconds.
        is_remembered: True if that was in an earlier run: then nothing was sent now.
    """

    url: str
    outcome: str
    seconds: float
    size: int
    attempt: int
    with_token: bool
    as_of: str
    is_remembered: bool = False
    method: str = "GET"

    def __str__(self) -> str:
        if self.is_remembered:
            return f"{self.method} {self.url}: {self.outcome}, {self.size} bytes, cached, as of {self.as_of}"
        again = f", attempt {self.attempt}" if self.attempt > 1 else ""
        token = ", with a token" if self.with_token else ""
        return (
            f"{self.method} {self.url}: {self.outcome}, {self.size} bytes in {self.seconds * 1000:.0f} ms{again}{token}"
        )


class RequestKind(Struct, frozen=True):
    """One kind of answer.

    Attributes:
        words: Its name in messages, with an article.
        limit: Largest size in bytes, before and after decompression.
        seconds: Time limit of one attempt, from the first byte sent to the last one received.
        kept_headers: Names of headers of the answer, in lower case, that the caller reads.
        error_limit: Bytes that are read of an answer with another status than 200; then no compression is asked for.
    """

    words: str
    limit: int
    seconds: float
    redirects: int = _GO_REDIRECTS
    retries: int = 0
    accept: str = "*/*"
    kept_headers: tuple[str, ...] = ()
    error_limit: int = 0


class Kinds(Struct, frozen=True):
    """The kinds of answers, with the time-outs and retries that the running tool would use.

    Attributes:
        metadata: The metadata of one package, with the publisher's keys of some 10 KB each.
        dates: Release dates, which no tool asks for and which may be missing, so they are not retried.
        package_retries: Retries of a package that did not begin to arrive.
    """

    discovery: RequestKind
    versions: RequestKind
    metadata: RequestKind
    sums: RequestKind
    signature: RequestKind
    dates: RequestKind
    package_retries: int = 0

    @classmethod
    def of(
        cls, dialect: Dialect, environ: Mapping[str, str], *, seconds: int | None = None, retries: int | None = None
    ) -> Kinds:
        """Read TF_REGISTRY_CLIENT_TIMEOUT (seconds) and the numbers of retries as the tools do.

        Anything but a positive number is ignored. TF_PROVIDER_DOWNLOAD_RETRY is OpenTofu's alone. If no variable sets
        them, the given numbers count; None for the tools' own.
        """
        default = float(_DEFAULT_SECONDS if seconds is None else min(seconds, _MOST_SECONDS))
        limit = float(_positive(environ, "TF_REGISTRY_CLIENT_TIMEOUT", _MOST_SECONDS) or default)
        again = _DEFAULT_RETRIES if retries is None else min(retries, _MOST_RETRIES)
        retries = _positive(environ, "TF_REGISTRY_DISCOVERY_RETRY", _MOST_RETRIES) or again
        is_terraform = dialect.name == "terraform"
        of_packages = _positive(environ, "TF_PROVIDER_DOWNLOAD_RETRY", _MOST_RETRIES) or _DEFAULT_PACKAGE_RETRIES
        return cls(
            discovery=RequestKind(
                "a service discovery document",
                MIB,
                _TERRAFORM_DISCOVERY_SECONDS if is_terraform else limit,
                redirects=_TERRAFORM_DISCOVERY_REDIRECTS if is_terraform else _GO_REDIRECTS,
                accept="application/json",
            ),
            versions=RequestKind("a list of versions", 4 * MIB, limit, retries=retries),
            metadata=RequestKind("an answer", 2 * MIB, limit, retries=retries),
            sums=RequestKind("a list of checksums", MIB, limit, retries=retries),
            signature=RequestKind("a signature", 64 * KIB, limit, retries=retries),
            dates=RequestKind("a list of release dates", 16 * MIB, limit, accept="application/json"),
            # Terraform sends a HEAD first and ignores its failure: one hiccup does it no harm either.
            package_retries=1 if is_terraform else of_packages,
        )


def moment() -> str:
    """The time, as answers have it: ISO 8601 in UTC with seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def status_words(status: int) -> str:
    """A status with its standard phrase; the server's own phrase could be any text."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def user_agent(environ: Mapping[str, str]) -> str:
    """Return the User-Agent: locklens, and what TF_APPEND_USER_AGENT adds, as with the tools."""
    from locklens import __version__

    added = environ.get("TF_APPEND_USER_AGENT", "").strip()
    own = f"locklens/{__version__}"
    return f"{own} {added}" if added and added.isascii() and added.isprintable() else own


def requests_per_host(environ: Mapping[str, str]) -> int:
    """Return the number of concurrent requests to one host: LOCKLENS_REQUESTS_PER_HOST, from 1 to 64."""
    return _positive(environ, "LOCKLENS_REQUESTS_PER_HOST", _MOST_AT_ONCE) or _MOST_AT_ONCE


def connections_per_host(environ: Mapping[str, str]) -> int:
    """Return the number of those that may each have a connection of their own."""
    return _positive(environ, "LOCKLENS_REQUESTS_PER_HOST", _MOST_AT_ONCE) or _CONNECTIONS_PER_HOST


def _positive(environ: Mapping[str, str], name: str, most: int) -> int:
    text = environ.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def is_transient(status: int) -> bool:
    """True if the tools ask again after an answer with this status."""
    return status == _TOO_MANY_REQUESTS or (status >= _SERVER_ERRORS and status != _NOT_IMPLEMENTED)


def is_too_slow(received: int, waited: float, stall: float) -> bool:
    """True if a package is given up although it goes on arriving, by its bytes, the seconds waited, and a stall's."""
    return waited > min(_PATIENCE * stall + received / _LEAST_RATE, _LONGEST_DOWNLOAD)


def wait_before(
    attempt: int, retry_after: str, now: datetime | None = None, *, patience: float = LONGEST_WAIT
) -> float | None:
    """Return the seconds to wait before an attempt, from 2; None if the server asks for more than the patience.

    `retry_after` is the header of the last answer, seconds or an HTTP date; "" if there is none.
    """
    asked = _seconds_of(retry_after, now or datetime.now(UTC))
    if asked is None:
        return min(FIRST_WAIT * 2.0 ** min(attempt - 2, 10), LONGEST_WAIT)
    return asked if asked <= patience else None


def _seconds_of(retry_after: str, now: datetime) -> float | None:
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text) if len(text) < 10 else math.inf
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max((when - now).total_seconds(), 0.0)
