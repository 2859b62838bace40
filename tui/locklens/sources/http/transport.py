"""Connections that end on time and when told to: through the proxies and with the trust that both tools use.

Time-outs of an HTTP client count from one byte to the next, so that a server which sends one byte a second is never
late. Here every wait on a socket is cut to what is left until the asking thread's deadline, headers and handshakes
included, and looks up now and then whether the run was cancelled.

Connections are httpcore's: httpx's own transport takes no sockets of ours
(https://github.com/encode/httpx/discussions/3180).

Proxies follow the rules of Go's client, which both tools use. They differ from other clients' rules: this machine is
never asked through a proxy, NO_PROXY may name networks (`10.0.0.0/8`) and ports, and a name in it stands for its
subdomains too. TLS trusts the system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name, as the tools do it.
"""

from __future__ import annotations

import ipaddress
import math
import ssl
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpcore
import httpx

from locklens.addresses import display_host
from locklens.errors import RunCancelledError
from locklens.sources.http.reading import FailedError, TransportFailure
from locklens.sources.urls import is_loopback, is_public

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


_IDLE_SECONDS = 15.0

_MOST_AT_ONCE = 1 << 19
"""Bytes that one read takes, at most."""

GLANCE = 0.1
"""Seconds between two looks at whether the run was cancelled."""

_PORTS = {"https": 443, "http": 80}

_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""The stores of Linux distributions, which a Python built elsewhere does not find."""


class Bounds(threading.local):
    """The time until which the current thread may wait: the thread that asked reads the answer, so each has its own."""

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


class SocketTransport(httpx.BaseTransport):
    """Sends each request directly or through its proxy, on a connection of its own.

    Each connection is a pool of its own: one pool of many connections looks at all of them, with a system call for
    each, before and after each request, while all threads wait for that.

    Args:
        environ: Proxies and certificates are named there.
        bounds: The time limit of the asking thread.
        is_public_only: True to send nothing to an address that is not reachable from everywhere. A proxy is the user's
            own choice, and connects by its own rules.
    """

    def __init__(self, environ: Mapping[str, str], bounds: Bounds, *, is_public_only: bool = False) -> None:
        self._environ = environ
        self._backend = _Backend(bounds)
        self._direct = _PublicBackend(bounds) if is_public_only else self._backend
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        self._made: list[httpcore.ConnectionPool] = []
        self._idle: dict[tuple[str, str, int | None, str], list[httpcore.ConnectionPool]] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; errors are those of `TRANSPORT_ERRORS`, or RunCancelledError."""
        url, proxy = request.url, proxy_for(str(request.url), self._environ)
        with self._lock:
            idle = self._idle.setdefault((url.scheme, url.host, url.port, proxy), [])
            connection = idle.pop() if idle else self._connection(url.scheme, proxy)
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        content = request.stream if "Content-Length" in request.headers else None
        sent = httpcore.Request(request.method, target, headers=request.headers.raw, content=content)
        try:
            answer = connection.handle_request(sent)
        except BaseException:
            idle.append(connection)
            raise
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Body(answer, lambda: idle.append(connection))
        )

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for connection in self._made:
                connection.close()

    def _connection(self, scheme: str, proxy: str) -> httpcore.ConnectionPool:
        if self._context is None and "https" in {scheme, proxy.partition(":")[0]}:
            # Reading the trust store takes 30 ms: it is done once, on the first real request.
            self._context = tls_context(self._environ)
        made = httpcore.ConnectionPool(
            ssl_context=self._context,
            proxy=_proxy(proxy, self._context) if proxy else None,
            max_connections=1,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=self._backend if proxy else self._direct,
        )
        self._made.append(made)
        return made


class _Body(httpx.SyncByteStream):
    """The body of an answer; `on_close` is called once."""

    def __init__(self, answer: httpcore.Response, on_close: Callable[[], None]) -> None:
        self._answer = answer
        self._on_close: Callable[[], None] | None = on_close

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        try:
            self._answer.close()
        finally:
            on_close, self._on_close = self._on_close, None
            if on_close is not None:
                on_close()


def _proxy(address: str, context: ssl.SSLContext | None) -> httpcore.Proxy:
    given = httpx.Proxy(address)
    return httpcore.Proxy(
        str(given.url), auth=given.raw_auth, ssl_context=context if given.url.scheme == "https" else None
    )


class _Stream(httpcore.NetworkStream):
    """A socket on which every wait has the bounds."""

    def __init__(self, inner: httpcore.NetworkStream, bounds: Bounds) -> None:
        self._inner = inner
        self._bounds = bounds
        self._wanted = 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there; more than is asked for where bytes arrive faster than they are fetched.

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
                return self._inner.read(max_bytes, timeout=min(left, GLANCE))
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
    """Connects within the bounds."""

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


class _PublicBackend(_Backend):
    """Checks the address that answers, not the name: DNS names can be repointed at any time."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, timeout, local_address, socket_options)
        answering = stream.get_extra_info("server_addr")
        if not is_public(str(answering[0])):
            stream.close()
            raise FailedError(
                TransportFailure(f"{display_host(host)} is an address of a private network or this machine")
            )
        return stream


def _abandonable(work: Callable[[], httpcore.NetworkStream], bounds: Bounds) -> httpcore.NetworkStream:
    """Run what cannot be interrupted (a look-up of a name) in a thread of its own, which is left behind if late."""
    if not bounds.left():
        # A socket without any time to wait would fail as if the network had.
        raise httpcore.ConnectTimeout("the deadline has passed")
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
        while not finished.wait(min(bounds.left(), GLANCE)):
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


def proxy_for(url: str, environ: Mapping[str, str]) -> str:
    """Return the URL of the proxy for a request, "" if there is none.

    Args:
        url: The URL that is asked.
        environ: HTTPS_PROXY, HTTP_PROXY and NO_PROXY are looked at, each also in lower case.
    """
    parts = urlsplit(url)
    name = f"{parts.scheme.upper()}_PROXY"
    # A CGI program's HTTP_PROXY is the request's `Proxy:` header, which anybody can set.
    proxy = "" if name == "HTTP_PROXY" and "REQUEST_METHOD" in environ else _variable(environ, name)
    host = (parts.hostname or "").rstrip(".").lower()
    if not proxy or is_loopback(host):
        return ""
    port = parts.port or _PORTS.get(parts.scheme, 0)
    if any(_excludes(entry.strip().lower(), host, port) for entry in _variable(environ, "NO_PROXY").split(",")):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _excludes(entry: str, host: str, port: int) -> bool:
    """True if one entry of NO_PROXY stands for a host."""
    if entry in {"", "*"}:
        return entry == "*"
    if "/" in entry:
        return _in_network(host, entry)
    name, colon, wanted = entry.rpartition(":")
    if colon and wanted.isdigit() and (":" not in name or name.endswith("]")):
        if int(wanted) != port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*")
    if entry.startswith("."):
        return host.endswith(entry)
    return host == entry or host.endswith("." + entry)


def _in_network(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names.

    Args:
        environ: SSL_CERT_FILE and SSL_CERT_DIR (folders separated as in PATH) are looked at.

    Raises:
        OSError: SSL_CERT_FILE cannot be read, and no folder of SSL_CERT_DIR has a certificate; str() names the file.
            (Both tools go on without a file that they cannot read; alone, it is the reason for all that fails later.)
    """
    file, folders = environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")
    if not file and not folders:
        return _system_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for folder in folders.split(";" if sys.platform == "win32" else ":"):
        if folder:
            _load_folder(context, Path(folder))
    if file:
        _load_file(context, file)
    if not (file and folders):
        # Each variable replaces one half of the store: the other half stays.
        _load_system(context)
    return context


def _load_file(context: ssl.SSLContext, file: str) -> None:
    try:
        context.load_verify_locations(file)
    except OSError as error:
        if context.cert_store_stats()["x509"]:
            return
        raise OSError(f"SSL_CERT_FILE names {file}, which holds no certificates that can be read") from error


def _load_folder(context: ssl.SSLContext, folder: Path) -> None:
    """Read every certificate in a folder, whatever its name: OpenSSL alone would want hashed names."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        try:
            context.load_verify_locations(path)
        except OSError:
            continue  # As Go does: what is no certificate is passed over.


def _system_context() -> ssl.SSLContext:
    if sys.platform in {"darwin", "win32"}:
        # The system's own verifier is asked; Python's copy of its store lacks what it fetches when needed.
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _load_system(context)
    return context


def _load_system(context: ssl.SSLContext) -> None:
    known = context.cert_store_stats()["x509"]
    context.load_default_certs()
    if context.cert_store_stats()["x509"] > known:
        return
    bundle = next((path for path in _BUNDLES if Path(path).is_file()), "")
    if bundle:
        context.load_verify_locations(bundle)
