"""Connections of HTTP/1.1, one request at a time on each, directly or through a proxy, as httpcore speaks it.

Each connection is a pool of its own: one pool of many connections looks at all of them, with a system call for each,
before and after each request, while all threads wait for that.
"""

from __future__ import annotations

import select
import ssl
import threading
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

from locklens.sources.http.connecting import (
    HTTP1,
    LateError,
    ProtocolError,
    ProxyRefusedError,
    TransportError,
    UnsupportedError,
)
from locklens.sources.http.reading import ResponseBody
from locklens.sources.urls import DEFAULT_PORTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.sources.http.connecting import Connection, Dialler, RequestTarget


_IDLE_SECONDS = 15.0

_BLOCK, _BLOCK_AT_FIRST = 1 << 18, 1 << 16
"""Bytes that one read takes at most: of a large body, and before it is known to be one."""

_RECORD, _LARGE = 1 << 14, 1 << 15
"""Bytes of a record of TLS, and of a read after which more is waited for: several records at once are a large body."""

_MOMENT = 0.004
"""Seconds in which more must arrive to be part of the same block."""

_ERRORS = (
    (httpcore.TimeoutException, LateError),
    (httpcore.ProxyError, ProxyRefusedError),
    (httpcore.ProtocolError, ProtocolError),
    (httpcore.UnsupportedProtocol, UnsupportedError),
    (httpcore.NetworkError, TransportError),
)


class _Server:
    """The connections to one server that are idle, and how many more requests it may have."""

    def __init__(self, at_once: int) -> None:
        self.idle: list[httpcore.ConnectionPool] = []
        self.slots = threading.BoundedSemaphore(at_once)

    def take_back(self, connection: httpcore.ConnectionPool) -> None:
        self.idle.append(connection)
        self.slots.release()


class Http1Connections:
    """The connections of HTTP/1.1 of a run: those that are idle are used again.

    Args:
        dialler: Makes them.
        at_once: The number of requests to a server at the same time.
    """

    def __init__(self, dialler: Dialler, at_once: int) -> None:
        self._dialler = dialler
        self._lock = threading.Lock()
        # It trusts nobody, and is never used: the streams of this module know whom to trust.
        self._nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._made: list[httpcore.ConnectionPool] = []
        self._at_once = at_once
        self._servers: dict[tuple[str, str, int, str], _Server] = {}

    def ask(
        self,
        method: str,
        target: RequestTarget,
        headers: dict[str, str],
        proxy: str,
        content: Iterable[bytes] | None = None,
    ) -> httpx.Response:
        """Send a request, on an idle connection or a new one, and return the answer with its body unread.

        Args:
            method: The HTTP method.
            target: What is asked for.
            headers: By lower-case names, with those that tell where the content ends.
            proxy: URL of the proxy, "" without one.
            content: The body; None without one.

        Raises:
            TransportError: There is no answer.
            OSError: There is no connection.
            RunCancelledError: The run was cancelled.
        """
        server = self._server(target, proxy)
        self._dialler.bounds.wait_for(server.slots)
        with self._lock:
            made = None if server.idle else _Backend(self._dialler, target.scheme, is_proxy=bool(proxy))
            connection = server.idle.pop() if made is None else self._pool(made, proxy)
        return self._ask(connection, server, method, target, headers, content)

    def adopt(self, connection: Connection, target: RequestTarget) -> None:
        """Take a connection over that was made elsewhere, and chose HTTP/1.1."""
        server = self._server(target, "")
        with self._lock:
            server.idle.append(self._pool(_Backend(self._dialler, target.scheme, made=connection), ""))

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for connection in self._made:
                connection.close()

    def _server(self, target: RequestTarget, proxy: str) -> _Server:
        key = target.scheme, target.host, target.port, proxy
        with self._lock:
            return self._servers.setdefault(key, _Server(self._at_once))

    def _pool(self, backend: httpcore.NetworkBackend, proxy: str) -> httpcore.ConnectionPool:
        made = httpcore.ConnectionPool(
            ssl_context=self._nobody,
            proxy=_proxy(proxy, self._nobody) if proxy else None,
            max_connections=1,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=backend,
        )
        self._made.append(made)
        return made

    def _ask(
        self,
        connection: httpcore.ConnectionPool,
        server: _Server,
        method: str,
        target: RequestTarget,
        headers: dict[str, str],
        content: Iterable[bytes] | None,
    ) -> httpx.Response:
        port = None if target.port == DEFAULT_PORTS[target.scheme] else target.port
        url = httpcore.URL(
            scheme=target.scheme.encode(), host=target.host.encode(), port=port, target=target.path.encode()
        )
        lines = {"Host": target.authority, **headers, "Connection": "keep-alive"}
        try:
            with _translated():
                named = [(name.title().encode(), value.encode()) for name, value in lines.items()]
                request = httpcore.Request(method, url, headers=named, content=content)
                answer = connection.handle_request(request)
        except BaseException:
            server.take_back(connection)
            raise

        def chunks() -> Iterator[bytes]:
            with _translated():
                yield from answer.iter_stream()

        def close() -> None:
            try:
                with _translated():
                    answer.close()
            finally:
                server.take_back(connection)

        return httpx.Response(answer.status, headers=answer.headers, stream=ResponseBody(chunks(), close))


@contextmanager
def _translated() -> Iterator[None]:
    """Raise the library's errors as those of `connecting`."""
    try:
        yield
    except tuple(of_library for of_library, _ in _ERRORS) as error:
        kind = next(kind for of_library, kind in _ERRORS if isinstance(error, of_library))
        raise kind(str(error)) from error


def _proxy(address: str, context: ssl.SSLContext) -> httpcore.Proxy:
    try:
        given = httpx.Proxy(address)
    except (httpx.InvalidURL, ValueError) as error:
        raise UnsupportedError(str(error)) from error
    is_secured = given.url.scheme == "https"
    return httpcore.Proxy(str(given.url), auth=given.raw_auth, ssl_context=context if is_secured else None)


def _is_readable(number: int) -> bool:
    """True if bytes or the end wait to be read, or if the connection was closed here."""
    if number < 0 or not hasattr(select, "poll"):
        return number < 0 or bool(select.select([number], [], [], 0)[0])
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


class _Stream(httpcore.NetworkStream):
    """A connection on which every wait has the bounds."""

    def __init__(self, connection: Connection, dialler: Dialler, *, is_secured: bool = False) -> None:
        self._connection = connection
        self._dialler = dialler
        self._bounds = dialler.bounds
        self._is_secured = is_secured
        self._buffer = bytearray(_BLOCK_AT_FIRST)
        self._is_large = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there, and of a large body a whole block where it comes at once.

        Each chunk goes through several hands, and threads wait for each other at each: that costs more than its bytes.
        """
        del timeout
        if self._is_large and len(self._buffer) < _BLOCK:
            self._buffer = bytearray(_BLOCK)
        view = memoryview(self._buffer)
        size = self._read(view[:max_bytes])
        if size < _RECORD and not self._is_large:
            return bytes(view[:size])
        self._connection.settimeout(_MOMENT if self._is_large else 0)
        while size < len(view):
            try:
                more = self._connection.recv_into(view[size:])
            except OSError:
                break  # Nothing yet; any other error comes again at the next read.
            if not more:
                break
            size += more
        self._is_large = size >= _LARGE
        return bytes(view[:size])

    def _read(self, view: memoryview) -> int:
        while True:
            self._connection.settimeout(self._bounds.glance())
            try:
                return self._connection.recv_into(view)
            except TimeoutError:
                continue

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        self._connection.settimeout(max(self._bounds.left(), 0.001))
        self._connection.sendall(buffer)

    def close(self) -> None:
        self._connection.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        del ssl_context, timeout
        if self._is_secured:
            return self
        return _Stream(self._dialler.secure(self._connection, server_hostname or ""), self._dialler)

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return _is_readable(self._connection.fileno())
        return None


class _Backend(httpcore.NetworkBackend):
    """Connects within the bounds, to the server or to the proxy; once with a connection that was made before."""

    def __init__(
        self, dialler: Dialler, scheme: str, *, is_proxy: bool = False, made: Connection | None = None
    ) -> None:
        self._dialler = dialler
        self._is_direct_tls = scheme == "https" and not is_proxy
        self._is_proxy = is_proxy
        self._made = made

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        del timeout, local_address, socket_options
        made, self._made = self._made, None
        if made is None and self._is_direct_tls:
            made = self._dialler.dial(host, port, (HTTP1,))
        if made is not None:
            return _Stream(made, self._dialler, is_secured=True)
        return _Stream(self._dialler.connect(host, port, is_proxy=self._is_proxy), self._dialler)
