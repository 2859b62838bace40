"""Reads what a server sent, within the bounds of its kind.

A failure is a sentence with the host and the cause, and without private data.
"""

from __future__ import annotations

import socket
import ssl
import zlib

import httpx
from msgspec import Struct

from locklens.addresses import display_host
from locklens.sources.http import KIB, MIB
from locklens.sources.http.connecting import (
    LateError,
    ProtocolError,
    ProxyDownError,
    ProxyRefusedError,
    TransportError,
    UnsupportedError,
)
from locklens.sources.urls import host_name, host_of, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locklens.sources.http import RequestKind
    from locklens.sources.urls import UrlOrigin


_SHORT = 64 * KIB
_LONGEST_NUMBER = 18
"""The most digits of a length that are read: more of them stand for more bytes than there are."""

_MOST_RATIO = 100
_ANY_RATIO = 2 * MIB
"""The ratio up to which an answer may unpack, and bytes up to which that does not matter: the list of a thousand
versions has half a megabyte, in which little but the numbers differs."""

TRANSPORT_ERRORS = (TransportError, httpx.InvalidURL, ImportError, OSError, UnicodeError)
"""All errors that a request can fail with. ImportError: a kind of proxy that needs another package."""


class TransportFailure(Struct, frozen=True):
    """The failure of one attempt: a sentence without its full stop; it may pass if the tools would try again."""

    words: str
    may_pass: bool = False
    hint: str = ""


class FailedError(Exception):
    """One attempt failed; never leaves this package.

    The origin is that which gave no answer, None if it gave an unusable one.
    """

    def __init__(self, failure: TransportFailure, origin: UrlOrigin | None = None) -> None:
        super().__init__(failure.words)
        self.failure = failure
        self.origin = origin


def transport_failure(error: Exception, host: str, seconds: float) -> TransportFailure:
    """Describe an error of the transport; the host is in comparison form, `seconds` the time limit of the attempt."""
    name = display_host(host)
    if isinstance(error, LateError | TimeoutError):
        return TransportFailure(f"{name} did not answer in full within {seconds:g} seconds", may_pass=True)
    if isinstance(error, ProxyDownError):
        hint = "look at HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
        return TransportFailure(f"the proxy for requests to {name} cannot be reached", may_pass=True, hint=hint)
    if isinstance(error, ProxyRefusedError):
        hint = "look at HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
        return TransportFailure(f"the proxy did not let the request to {name} through", may_pass=True, hint=hint)
    if isinstance(error, ImportError | UnsupportedError | httpx.InvalidURL | UnicodeError):
        return TransportFailure(f"{name} cannot be asked: its URL or the proxy's is of a kind that is not supported")
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            words = f"the certificate of {name} is not trusted: {cause.verify_message}"
            return TransportFailure(words, hint=_OF_CERTIFICATES.get(cause.verify_code, _OF_AUTHORITIES))
        if isinstance(cause, ssl.SSLError):
            reason = (cause.reason or "no reason given").replace("_", " ").lower()
            return TransportFailure(f"the TLS connection to {name} failed: {reason}", may_pass=True)
        if isinstance(cause, socket.gaierror):
            hint = "check the name, or the network"
            return TransportFailure(f"host name {name} not found", may_pass=True, hint=hint)
        if isinstance(cause, ConnectionRefusedError):
            return TransportFailure(f"{name} refuses the connection", may_pass=True)
    if isinstance(error, ProtocolError):
        return TransportFailure(f"{name} broke the connection off or does not speak HTTP", may_pass=True)
    for cause in _causes(error):
        if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError):
            return TransportFailure(f"the connection to {name} failed: {cause.strerror or cause}", may_pass=True)
    return TransportFailure(f"the connection to {name} failed", may_pass=True)


_OF_AUTHORITIES = "a company's own authority is named with SSL_CERT_FILE or SSL_CERT_DIR"
_OF_DATES = "its owner has to renew it, or the clock of this machine is wrong"
_OF_NAMES = "use a host name that the certificate is for, or have its owner install one that names this host"
_OF_CERTIFICATES = {9: _OF_DATES, 10: _OF_DATES, 62: _OF_NAMES, 64: _OF_NAMES}
"""What helps, by OpenSSL's X509_V_ERR codes: not yet valid, expired, another host name, another IP address."""


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


def redirected(url: str, location: str) -> str:
    """Return the target of a redirect.

    Raises:
        FailedError: It is unusable, or would give up TLS.
    """
    try:
        target = resolve(url, location)
    except ValueError as error:
        raise FailedError(TransportFailure(f"{host_name(url)} redirects to an unusable address: {error}")) from None
    if url.startswith("https:") and not target.startswith("https:"):
        words = f"{host_name(url)} redirects to {host_name(target)} without TLS, which is not followed"
        raise FailedError(TransportFailure(words))
    return target


def too_large(url: str, kind: RequestKind) -> TransportFailure:
    """Return the error for an answer beyond the size of its kind."""
    limit = f"{kind.limit // KIB} KiB" if kind.limit < 1024 * KIB else f"{kind.limit // KIB // 1024} MiB"
    return TransportFailure(f"{host_name(url)} sent {kind.words} of more than {limit}, which is not read")


def too_slow(url: str, kind: RequestKind, received: int, waited: float) -> TransportFailure:
    """Return the error for a body that arrives too slowly."""
    said = f"{received // KIB} KiB in {waited:.0f} seconds"
    return TransportFailure(
        f"{host_name(url)} sends {kind.words} too slowly: {said}", hint="try again on a faster connection"
    )


class ResponseBody(httpx.SyncByteStream):
    """The body of an answer, read and closed in the thread that asked; `on_close` is called once."""

    def __init__(self, chunks: Iterator[bytes], on_close: Callable[[], None]) -> None:
        self._chunks = chunks
        self._on_close: Callable[[], None] | None = on_close

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks

    def close(self) -> None:
        """Give the connection back, whatever was read."""
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()


def declared_length(response: httpx.Response) -> int | None:
    """Return the bytes of a body as its server declares them; None if it does not."""
    text = response.headers.get("Content-Length", "")
    return int(text[:_LONGEST_NUMBER]) if text.isascii() and text.isdigit() else None


def drain(response: httpx.Response) -> bytes:
    """Read and discard a body, if it is short, so that the connection can be used again."""
    length = declared_length(response)
    if length is not None and length <= _SHORT:
        try:
            for _ in response.iter_raw():
                pass
        except TRANSPORT_ERRORS:
            pass  # The status is the answer.
    return b""


def read_error(response: httpx.Response, most: int) -> bytes:
    """Return the beginning of an error's body, which may say more than its status; b"" where it cannot be read."""
    body = bytearray()
    try:
        if response.headers.get("Content-Encoding", "identity").strip().lower() not in {"identity", ""}:
            return b""
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > most:
                return b""
    except TRANSPORT_ERRORS:
        return b""  # The status is the answer.
    return bytes(body)


def read_body(response: httpx.Response, url: str, kind: RequestKind) -> bytes:
    """Read a body within its bound, which also limits the decompressed bytes.

    Raises:
        FailedError: It is too large, breaks off or cannot be decompressed.
    """
    length = declared_length(response)
    if length is not None and length > kind.limit:
        raise FailedError(too_large(url, kind))
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"gzip", "x-gzip", "identity", ""}:
        raise FailedError(TransportFailure(f"{host_name(url)} sent {kind.words} in an encoding that was not requested"))
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in encoding else None
    body, received = bytearray(), 0
    try:
        for chunk in response.iter_raw():
            received += len(chunk)
            body += inflate.decompress(chunk, kind.limit + 1 - len(body)) if inflate else chunk
            if len(body) > kind.limit or received > kind.limit:
                raise FailedError(too_large(url, kind))
            if len(body) > max(_ANY_RATIO, _MOST_RATIO * received):
                words = f"{host_name(url)} sent {kind.words} that unpacks to more than {_MOST_RATIO} times its size"
                raise FailedError(TransportFailure(words))
    except TRANSPORT_ERRORS as error:
        # The tools ask again for a head that does not come, not for a body that breaks off.
        failure = transport_failure(error, host_of(url), kind.seconds)
        raise FailedError(TransportFailure(broken_words(failure, url, kind), hint=failure.hint)) from error
    except zlib.error:
        # An answer, though unusable: a user who may put files on a server must not cause a pause for the whole server.
        raise FailedError(TransportFailure(f"{host_name(url)} sent {kind.words} that cannot be decompressed")) from None
    if inflate and (received or body) and not inflate.eof:
        raise FailedError(TransportFailure(f"{host_name(url)} sent {kind.words} that breaks off"))
    return bytes(body)


def broken_words(failure: TransportFailure, url: str, kind: RequestKind) -> str:
    """Return the error for a body that broke off or came too late."""
    if "within" in failure.words:
        return failure.words
    return f"{host_name(url)} sent {kind.words} that breaks off"
