"""Sends each request directly or through its proxy, on a connection that others share or one of its own.

A server that speaks HTTP/2 is asked for documents on one connection: each connection costs three round trips, and more
work than the request. Large packages get connections of HTTP/1.1 of their own: several carry more than one does, and
the frames of HTTP/2 cost more than the bytes in them. Through a proxy all is asked over HTTP/1.1.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import httpx

from locklens.sources.http import MIB, connections_per_host
from locklens.sources.http.ahead import connected_ahead, contexts_of
from locklens.sources.http.connecting import HTTP1, HTTP2, Dialler, ProtocolError, RequestTarget
from locklens.sources.http.environment import proxy_for
from locklens.sources.http.reading import declared_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.sources.http.connecting import Bounds
    from locklens.sources.http.http2 import Http2Connection
    from locklens.sources.http.http11 import Http1Connections


IS_PACKAGE = "locklens.is_package"

_LARGE = MIB
"""Bytes above which a package gets a connection of its own."""

_WITHOUT_CONTENT = {"GET", "HEAD"}

_ATTEMPTS = 3
"""Connections on which a request is tried that no server has processed."""


class _Server:
    """The connections to a server that is asked over TLS, without a proxy, and its protocol."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.is_dialled = False
        self.speaks_http1 = False
        self.has_large_packages = False
        self.may_have_large_packages = True
        self.shared: Http2Connection | None = None


class Transport(httpx.BaseTransport):
    """Sends requests, within the bounds of the asking thread; any number of threads may use it.

    A proxy is the user's own choice, and connects by its own rules, also where only public addresses may be asked.
    """

    def __init__(self, environ: Mapping[str, str], bounds: Bounds, *, is_public_only: bool = False) -> None:
        self._environ = environ
        self._bounds = bounds
        self._is_public_only = is_public_only
        self._dialler = Dialler(contexts_of(environ), bounds, is_public_only=is_public_only)
        self._lock = threading.Lock()
        self._http1: Http1Connections | None = None
        self._servers: dict[tuple[str, int], _Server] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return the answer with its body unread.

        What has a content, or may have one, goes over HTTP/1.1. The extension `IS_PACKAGE` says that the body may be
        large.

        Raises:
            TransportError: There is no answer, or not in time.
            OSError: There is no connection.
            PrivateAddressError: The address is not public, and only public ones may be asked.
            RunCancelledError: The run was cancelled.
        """
        method, url, is_package = request.method, str(request.url), IS_PACKAGE in request.extensions
        headers = {name: value for name, value in request.headers.items() if name != "host"}
        target, proxy = RequestTarget.of(url), proxy_for(url, self._environ)
        if target.scheme != "https" or proxy or method not in _WITHOUT_CONTENT:
            has_content = method not in _WITHOUT_CONTENT
            return self._connections().ask(method, target, headers, proxy, _parts(request) if has_content else None)
        with self._lock:
            server = self._servers.setdefault((target.host, target.port), _Server())
        if not (is_package and server.has_large_packages):
            if is_package and method == "GET" and server.may_have_large_packages and not server.speaks_http1:
                self._connections().begin(target)  # So that it is there if the package turns out to be large.
            answer = self._ask_shared(server, method, target, headers, is_package=is_package)
            if answer is not None and not (is_package and method == "GET" and _is_large(answer)):
                server.may_have_large_packages = server.may_have_large_packages and not is_package
                return answer
            if answer is not None:
                answer.close()
                server.has_large_packages = True
        return self._connections().ask(method, target, headers, "")

    def load(self) -> None:
        """Load what most servers are asked with."""
        import locklens.sources.http.http2  # noqa: F401

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for server in self._servers.values():
                if server.shared is not None:
                    server.shared.close()
            if self._http1 is not None:
                self._http1.close()

    def _connections(self) -> Http1Connections:
        from locklens.sources.http.http11 import Http1Connections

        with self._lock:
            if self._http1 is None:
                self._http1 = Http1Connections(self._dialler, connections_per_host(self._environ))
            return self._http1

    def _ask_shared(
        self, server: _Server, method: str, target: RequestTarget, headers: dict[str, str], *, is_package: bool
    ) -> httpx.Response | None:
        """Send a request over HTTP/2; None if the server does not speak it, or wants this one over HTTP/1.1."""
        for _ in range(_ATTEMPTS):
            shared = self._shared(server, target)
            if shared is None:
                return None
            from locklens.sources.http.http2 import NeedsHttp1Error, UnprocessedError

            try:
                return shared.ask(method, target, headers, self._bounds, at_length=not is_package)
            except UnprocessedError:
                continue
            except NeedsHttp1Error:
                return None
        raise ProtocolError("the server ends connections before it looks at a request")

    def _shared(self, server: _Server, target: RequestTarget) -> Http2Connection | None:
        """Return the connection of HTTP/2, made by the first request; None if the server does not speak it."""
        with server.lock:
            while True:
                if server.speaks_http1:
                    return None
                if server.shared is not None and server.shared.is_usable:
                    return server.shared
                if not server.is_dialled:
                    server.is_dialled = True
                    break
                server.lock.wait(self._bounds.until_check())
        try:
            made = None if self._is_public_only else connected_ahead(target.host, target.port, self._bounds)
            made = made or self._dialler.dial(target.host, target.port, (HTTP2, HTTP1))
            if made.selected_alpn_protocol() == HTTP2:
                from locklens.sources.http.http2 import Http2Connection

                server.shared = Http2Connection(made)
            else:
                self._connections().adopt(made, target)
                server.shared, server.speaks_http1 = None, True
            return server.shared
        finally:
            with server.lock:
                server.is_dialled = False
                server.lock.notify_all()


def _is_large(answer: httpx.Response) -> bool:
    length = declared_length(answer)
    return answer.status_code == httpx.codes.OK and (length is None or length > _LARGE)


def _parts(request: httpx.Request) -> Iterable[bytes]:
    assert isinstance(request.stream, httpx.SyncByteStream)
    return request.stream
