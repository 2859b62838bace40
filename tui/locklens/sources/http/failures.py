"""Reasons of failed requests, each a sentence with the host and the cause and without private data."""

from __future__ import annotations

import socket
import ssl

import httpx
from msgspec import Struct

from locklens.addresses import display_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from locklens.sources.urls import UrlOrigin

TRANSPORT_ERRORS = (httpx.TransportError, httpx.InvalidURL, ImportError, OSError, UnicodeError)
"""All that a request can fail with. ImportError: a proxy that takes another package to speak to."""


class TransportFailure(Struct, frozen=True):
    """The failure of one attempt.

    Attributes:
        words: A sentence without its full stop.
        may_pass: True if the tools would try again.
        hint: The next step for the user.
    """

    words: str
    may_pass: bool = False
    hint: str = ""


class FailedError(Exception):
    """One attempt failed; never leaves this package.

    Attributes:
        failure: Why.
        origin: That gave no answer, None where it gave one that cannot be used.
    """

    def __init__(self, failure: TransportFailure, origin: UrlOrigin | None = None) -> None:
        super().__init__(failure.words)
        self.failure = failure
        self.origin = origin


def transport_failure(error: Exception, host: str, seconds: float) -> TransportFailure:
    """Describe an error of the transport.

    Args:
        error: What was raised.
        host: Who was asked, comparison form.
        seconds: What the attempt was allowed to take.
    """
    name = display_host(host)
    if isinstance(error, httpx.TimeoutException):
        return TransportFailure(f"{name} did not answer in full within {seconds:g} seconds", may_pass=True)
    if isinstance(error, httpx.ProxyError):
        hint = "look at HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
        return TransportFailure(f"the proxy did not let the request to {name} through", may_pass=True, hint=hint)
    if isinstance(error, ImportError | httpx.UnsupportedProtocol | httpx.InvalidURL | UnicodeError):
        return TransportFailure(f"{name} cannot be asked: its URL or the proxy's is of a kind that is not supported")
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            hint = "a company's own authority is named with SSL_CERT_FILE or SSL_CERT_DIR"
            return TransportFailure(f"the certificate of {name} is not trusted: {cause.verify_message}", hint=hint)
        if isinstance(cause, ssl.SSLError):
            reason = (cause.reason or "no reason given").replace("_", " ").lower()
            return TransportFailure(f"the TLS connection to {name} failed: {reason}", may_pass=True)
        if isinstance(cause, socket.gaierror):
            hint = "check the name, or the network"
            return TransportFailure(f"the host name {name} cannot be found", may_pass=True, hint=hint)
        if isinstance(cause, ConnectionRefusedError):
            return TransportFailure(f"{name} refuses the connection", may_pass=True)
    if isinstance(error, httpx.ProtocolError):
        return TransportFailure(f"{name} broke the connection off or does not speak HTTP", may_pass=True)
    for cause in _causes(error):
        if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError):
            return TransportFailure(f"the connection to {name} failed: {cause.strerror or cause}", may_pass=True)
    return TransportFailure(f"the connection to {name} failed", may_pass=True)


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found
