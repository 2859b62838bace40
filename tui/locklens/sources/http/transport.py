"""Connections that end on time and when told to, directly or through a proxy.

Time-outs of an HTTP client count from one byte to the next, so that a server which sends one byte a second is never
late. Here every wait on a socket is cut to what is left until the asking thread's deadline, headers and handshakes
included, and looks up now and then whether the run was cancelled.
"""

from __future__ import annotations

import math
import re
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import httpcore

from locklens.errors import RunCancelledError
from locklens.sources.http.certificates import tls_context
from locklens.sources.http.proxies import proxy_for

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Mapping

    import httpx

_GLANCE = 0.1
"""Seconds between two looks at whether the run was cancelled."""

_IDLE_SECONDS = 15.0

_MOST_AT_ONCE = 1 << 19
"""Bytes that one read takes, at most."""

_PLAIN_URL = re.compile(
    r"(https?)://(([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([1-9][0-9]{3}|[1-5][0-9]{4}))?)"
    r"((?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+)\Z"
)
"""URLs that are in normal form already; ports below 1000 may be a scheme's own, which the normal form leaves out."""


class Bounds(threading.local):
    """Until when the current thread may wait. Sockets are read by the thread that asked, so each has its own."""

    deadline: float = math.inf

    def __init__(self, cancel: threading.Event) -> None:
        self.cancel = cancel

    def left(self, timeout: float | None = None) -> float:
        """Seconds until the deadline, or `timeout` where that is sooner.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        if self.cancel.is_set():
            raise RunCancelledError("the run was cancelled")
        left = max(self.deadline - time.monotonic(), 0.0)
        return left if timeout is None else min(left, timeout)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, bounds: Bounds) -> None:
        self._inner = inner
        self._bounds = bounds
        self._wanted = 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Reads what is there; more than is asked for where bytes arrive faster than they are fetched.

        Each chunk of a large package goes through several hands, and threads wait for each other at each.
        """
        data = self._read(max(max_bytes, self._wanted), timeout)
        self._wanted = _MOST_AT_ONCE if len(data) >= max_bytes else 0
        return data

    def _read(self, max_bytes: int, timeout: float | None) -> bytes:
        while True:
            left = self._bounds.left(timeout)
            if not left:
                raise httpcore.ReadTimeout("the deadline has passed")
            try:
                return self._inner.read(max_bytes, timeout=min(left, _GLANCE))
            except httpcore.ReadTimeout:
                continue

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout=max(self._bounds.left(timeout), 0.001))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._bounds.left(timeout)
        work = lambda: self._inner.start_tls(ssl_context, server_hostname, timeout=left)  # noqa: E731
        return _Stream(_abandonable(work, self._bounds), self._bounds)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, bounds: Bounds) -> None:
        self._inner = httpcore.SyncBackend()
        self._bounds = bounds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = self._bounds.left(timeout)
        work = lambda: self._inner.connect_tcp(host, port, left, local_address, socket_options)  # noqa: E731
        return _Stream(_abandonable(work, self._bounds), self._bounds)


def _abandonable(work: Callable[[], httpcore.NetworkStream], bounds: Bounds) -> httpcore.NetworkStream:
    """Runs what cannot be interrupted (a look-up of a name) in a thread of its own, which is left behind if late."""
    lock, finished = threading.Lock(), threading.Event()
    streams: list[httpcore.NetworkStream] = []
    errors: list[Exception] = []
    abandoned = False

    def run() -> None:
        try:
            stream = work()
        except Exception as error:  # noqa: BLE001
            errors.append(error)
        else:
            with lock:
                streams.append(stream)
                if abandoned:
                    stream.close()
        finished.set()

    threading.Thread(target=run, name="locklens-connect", daemon=True).start()
    try:
        while not finished.wait(min(bounds.left(), _GLANCE)):
            if not bounds.left():
                raise httpcore.ConnectTimeout("the deadline has passed")
    except BaseException:
        with lock:
            abandoned = True
            for stream in streams:
                stream.close()
        raise
    if errors:
        raise errors[0]
    return streams[0]


class _Target(NamedTuple):
    """Who is asked for what: the parts of a URL that a request needs."""

    scheme: str
    host: str
    port: int | None
    path: str
    authority: str

    @classmethod
    def of(cls, url: str) -> _Target:
        """Reads a URL. Of most there is nothing to normalise, and httpx takes longer for that than for the request.

        Raises:
            httpcore.UnsupportedProtocol: It is none.
        """
        found = _PLAIN_URL.match(url)
        if found is not None:
            scheme, authority, host, port, path = found.groups("")
            return cls(scheme, host, int(port) if port else None, path or "/", authority)
        from locklens.sources.http.arrived import parts_of

        try:
            return cls(*parts_of(url))
        except ValueError as error:
            raise httpcore.UnsupportedProtocol(str(error)) from error


class Transport:
    """Sends each request directly or through its proxy. Errors are httpcore's.

    Each connection is a pool of one: a pool of many looks at every one of them, with a system call for each, before and
    after each request, and all threads wait for that. httpx's client is left out: it carries the cookies of earlier
    answers along, and takes its time for each request.
    """

    def __init__(self, environ: Mapping[str, str], bounds: Bounds) -> None:
        self._environ = environ
        self._backend = _Backend(bounds)
        self._lock = threading.Lock()
        self._made: list[httpcore.ConnectionPool] = []
        self._idle: dict[tuple[str, str, int | None, str], list[httpcore.ConnectionPool]] = {}
        self._context: ssl.SSLContext | None = None

    def send(self, method: str, url: str, headers: Mapping[str, str]) -> httpx.Response:
        """Sends a request and returns its answer with the body unread and Location among the extensions."""
        target = _Target.of(url)
        idle, connection = self._connection(target, proxy_for(url, self._environ))
        try:
            answer = connection.handle_request(
                httpcore.Request(
                    method=method,
                    url=httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path),
                    headers=[("Host", target.authority), *headers.items()],
                )
            )
        except BaseException:
            idle.append(connection)
            raise
        is_open = True

        def close() -> None:
            nonlocal is_open
            try:
                answer.close()
            finally:
                if is_open:
                    is_open = False
                    idle.append(connection)

        from locklens.sources.http.arrived import response

        return response(answer, close)

    def close(self) -> None:
        """Closes every connection."""
        with self._lock:
            for connection in self._made:
                connection.close()

    def _connection(self, target: _Target, proxy: str) -> tuple[list[httpcore.ConnectionPool], httpcore.ConnectionPool]:
        """Returns a connection that nobody uses, and the list to put it back on."""
        with self._lock:
            idle = self._idle.setdefault((target.scheme, target.host, target.port, proxy), [])
            if idle:
                return idle, idle.pop()
            if self._context is None and "https" in {target.scheme, proxy.partition(":")[0]}:
                # Reading the trust store takes 30 ms: it is done once, when somebody is really asked.
                self._context = tls_context(self._environ)
            made = httpcore.ConnectionPool(
                ssl_context=self._context,
                proxy=_proxy(proxy, self._context) if proxy else None,
                max_connections=1,
                keepalive_expiry=_IDLE_SECONDS,
                network_backend=self._backend,
            )
            self._made.append(made)
            return idle, made


def _proxy(url: str, context: ssl.SSLContext | None) -> httpcore.Proxy:
    parts = urlsplit(url)
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    secured = context if parts.scheme == "https" else None
    return httpcore.Proxy(f"{parts.scheme}://{host}{port}", auth=auth, ssl_context=secured)
