"""Connections with deadlines and cancellation, and the errors of transport.

Time-outs of sockets count from one byte to the next, so that a server which sends one byte a second is never late.
Here every wait is cut to what is left until the asking thread's deadline, look-ups of names and handshakes included,
and checks now and then whether the run was cancelled.

No HTTP library is imported here: connections are made while those are still being imported.
"""

from __future__ import annotations

import math
import re
import socket
import ssl
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from locklens.addresses import display_host
from locklens.errors import RunCancelledError
from locklens.sources.http.environment import HAS_VERIFIER, tls_context
from locklens.sources.urls import DEFAULT_PORTS, is_public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Made = TypeVar("_Made")
_Connection = TypeVar("_Connection", bound="Connection")

CHECK_SECONDS = 0.1
"""Seconds between two checks for cancellation."""

HTTP1, HTTP2 = "http/1.1", "h2"
"""The protocols' names in a TLS handshake (ALPN)."""

_PLAIN_URL = re.compile(
    r"(https?)://((?=[0-9.-]*[a-z])[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([1-9][0-9]{0,4}))?"
    r"((?:/(?!\.{1,2}(?:[/?]|$))(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?)"
)
"""A URL that every parser reads alike, and that is sent as it is written."""


class TransportError(Exception):
    """A request got no answer, or not all of it."""


class LateError(TransportError):
    """The deadline has passed."""


class ProtocolError(TransportError):
    """The server closed the connection early, or does not speak HTTP."""


class ProxyRefusedError(TransportError):
    """The proxy did not let the request through."""


class ProxyDownError(TransportError):
    """The proxy itself cannot be reached."""


class UnsupportedError(TransportError):
    """The URL, or that of the proxy, has a scheme that is not supported."""


class PrivateAddressError(Exception):
    """The address that answered is not a public one."""


class Bounds(threading.local):
    """How long the current thread may wait.

    Each thread has its own deadline, since the thread that asks also reads the answer.
    """

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

    def until_check(self) -> float:
        """Seconds to wait before the next check for cancellation.

        Raises:
            LateError: The deadline has passed.
            RunCancelledError: The run was cancelled.
        """
        left = self.left(CHECK_SECONDS)
        if not left:
            raise LateError("the deadline has passed")
        return left

    def wait_for(self, slots: threading.Semaphore) -> None:
        """Take a slot; the time until there is one does not count against the deadline.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        begun = time.monotonic()
        while not slots.acquire(timeout=CHECK_SECONDS):
            if self.cancel.is_set():
                raise RunCancelledError("the run was cancelled")
        self.deadline += time.monotonic() - begun


class RequestTarget(NamedTuple):
    """Where a request goes, and which path it asks for; all of it is ASCII.

    Attributes:
        host: The name that is looked up; an IPv6 address without brackets.
        authority: Host and port as sent to the server; the scheme's default port is left out.
        path: The path and what follows it.
    """

    scheme: str
    host: str
    port: int
    authority: str
    path: str

    @classmethod
    def of(cls, url: str) -> RequestTarget:
        """Return the target of a URL.

        Raises:
            UnsupportedError: It is invalid, or its scheme is not supported.
        """
        plain = _PLAIN_URL.fullmatch(url)
        if plain is not None:
            scheme, host, given, path = plain[1], plain[2], int(plain[3] or 0), plain[4]
        else:
            import httpx

            try:
                parsed = httpx.URL(url)
            except (httpx.InvalidURL, UnicodeError) as error:
                raise UnsupportedError(str(error)) from error
            scheme, host, given = parsed.scheme, parsed.raw_host.decode("ascii"), parsed.port or 0
            path = parsed.raw_path.decode("ascii")
        if scheme not in DEFAULT_PORTS or given >= 1 << 16:
            raise UnsupportedError("no such scheme or port")
        given = 0 if given == DEFAULT_PORTS[scheme] else given
        name = f"[{host}]" if ":" in host else host
        path = path if path.startswith("/") else f"/{path}"
        return cls(scheme, host, given or DEFAULT_PORTS[scheme], f"{name}:{given}" if given else name, path)


class TlsContexts:
    """The TLS trust of a run, read once, when the first connection needs it; `environ` names certificates."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._made: dict[tuple[tuple[str, ...], bool], ssl.SSLContext] = {}

    def read(self) -> None:
        """Read ahead what the first `begin` will need; errors are those of `tls_context`."""
        with self._lock:
            self._get((HTTP2, HTTP1), is_whole=False)

    def begin(self, start: Callable[[ssl.SSLContext], _Made], protocols: tuple[str, ...], *, is_whole: bool) -> _Made:
        """Call `start` with a context that offers `protocols`, by preference, and return what it makes.

        It makes a socket or an object of TLS, which keeps the context's protocols; no handshake has begun. See
        `tls_context` for `is_whole` and errors.
        """
        with self._lock:
            context = self._get(protocols, is_whole=is_whole)
            context.set_alpn_protocols(list(protocols))
            return start(context)

    def secure(
        self, connection: socket.socket, host: str, protocols: tuple[str, ...], *, is_whole: bool
    ) -> ssl.SSLSocket:
        """Do the TLS handshake over a connection."""
        if HAS_VERIFIER:
            with self._lock:
                context = self._get(protocols, is_whole=is_whole)
            return context.wrap_socket(connection, server_hostname=host)
        made = self.begin(
            lambda context: context.wrap_socket(connection, server_hostname=host, do_handshake_on_connect=False),
            protocols,
            is_whole=is_whole,
        )
        try:
            made.do_handshake()
        except BaseException:
            made.close()
            raise
        return made

    def _get(self, protocols: tuple[str, ...], *, is_whole: bool) -> ssl.SSLContext:
        # A context of the system's verifier is cheap to make, but it verifies while it wraps a socket, which must not
        # happen under the lock: so there is one for each list of protocols.
        key = protocols if HAS_VERIFIER else (), is_whole
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = tls_context(self._environ, is_whole=is_whole)
            made.set_alpn_protocols(list(protocols))
        return made


class Dialler(Struct, frozen=True):
    """Makes connections to servers and proxies, within the asking thread's bounds; perhaps to public addresses only."""

    contexts: TlsContexts
    bounds: Bounds
    is_public_only: bool = False

    def connect(self, host: str, port: int, *, is_proxy: bool = False) -> socket.socket:
        """Connect to a host. A proxy is the user's own choice, and may have any address.

        Raises:
            OSError: It cannot be reached.
            ProxyDownError: It cannot be reached, and is a proxy.
            LateError: It cannot be reached in time.
            PrivateAddressError: Its address is not public, and only public ones may be asked.
            RunCancelledError: The run was cancelled.
        """
        left = self.bounds.left()
        try:
            return abandonable(lambda: self._connected(host, port, left, is_proxy=is_proxy), self.bounds)
        except OSError as error:
            if is_proxy and not isinstance(error, TimeoutError):
                raise ProxyDownError(host) from error
            raise

    def secure(self, connection: Connection, host: str, protocols: tuple[str, ...] = (HTTP1,)) -> Connection:
        """Do the TLS handshake over a connection, with the certificate of `host`.

        Raises:
            OSError: The handshake failed, or SSL_CERT_FILE names a file that cannot be read.
            LateError: It was not finished in time.
            RunCancelledError: The run was cancelled.
        """
        left = self.bounds.left()
        return abandonable(lambda: self._secured(connection, host, protocols, left, is_whole=True), self.bounds)

    def dial(self, host: str, port: int, protocols: tuple[str, ...]) -> ssl.SSLSocket:
        """Connect to a server and do the TLS handshake; errors are those of `connect` and `secure`."""
        left = self.bounds.left()

        def work(*, is_whole: bool = False) -> ssl.SSLSocket:
            started = time.monotonic()
            plain = self._connected(host, port, left, is_proxy=False)
            spent = time.monotonic() - started
            secured = self._secured(plain, host, protocols, max(left - spent, 0.001), is_whole=is_whole)
            assert isinstance(secured, ssl.SSLSocket)
            return secured

        try:
            return abandonable(work, self.bounds)
        except ssl.SSLCertVerificationError:
            left = self.bounds.left()
            return abandonable(partial(work, is_whole=True), self.bounds)

    def _connected(self, host: str, port: int, seconds: float, *, is_proxy: bool) -> socket.socket:
        # As bytes: Python loads its codec of international names for any text, though this one is ASCII already.
        place: Any = host.encode("ascii"), port
        made = socket.create_connection(place, min(seconds, threading.TIMEOUT_MAX))
        try:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # The address that answers is checked, not the name: DNS names can be repointed at any time.
            if self.is_public_only and not is_proxy and not is_public(str(made.getpeername()[0])):
                words = f"{display_host(host)} is an address of a private network or this machine"
                raise PrivateAddressError(words)
        except BaseException:
            made.close()
            raise
        return made

    def _secured(
        self, connection: Connection, host: str, protocols: tuple[str, ...], seconds: float, *, is_whole: bool
    ) -> Connection:
        try:
            connection.settimeout(min(seconds, threading.TIMEOUT_MAX))
            if isinstance(connection, socket.socket) and not isinstance(connection, ssl.SSLSocket):
                return self.contexts.secure(connection, host, protocols, is_whole=is_whole)
            return NestedTls(connection, self.contexts, host, protocols)
        except BaseException:
            connection.close()
            raise


class NestedTls:
    """TLS through the TLS of a proxy, with the methods of a socket that `Stream` uses."""

    def __init__(self, outer: Connection, contexts: TlsContexts, host: str, protocols: tuple[str, ...]) -> None:
        self._outer = outer
        arrived, leaving = self._arrived, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = contexts.begin(
            lambda context: context.wrap_bio(arrived, leaving, server_hostname=host), protocols, is_whole=True
        )
        self._run(self._tls.do_handshake)

    def settimeout(self, seconds: float | None) -> None:
        """Limit each step to a number of seconds."""
        self._outer.settimeout(seconds)

    def fileno(self) -> int:
        """The file descriptor of the proxy's connection."""
        return self._outer.fileno()

    def recv_into(self, buffer: memoryview) -> int:
        """Receive what is there, and return its bytes; 0 at the end."""
        # With a buffer it returns a number, whatever typeshed says.
        read: int = self._run(lambda: self._tls.read(len(buffer), buffer))  # type: ignore[assignment]
        return read

    def sendall(self, data: bytes) -> None:
        """Send everything."""
        view = memoryview(data)
        while view:
            written: int = self._run(lambda: self._tls.write(view))  # noqa: B023 - called at once
            view = view[written:]

    def close(self) -> None:
        """Close the proxy's connection."""
        self._outer.close()

    def _run(self, step: Callable[[], _Made]) -> _Made:
        """Run a step of TLS to its end, and move its bytes over the proxy's connection."""
        while True:
            result: list[_Made] = []
            with suppress(ssl.SSLWantReadError):
                result.append(step())
            if self._leaving.pending:
                self._outer.sendall(self._leaving.read())
            if result:
                return result[0]
            buffer = bytearray(1 << 15)
            received = self._outer.recv_into(memoryview(buffer))
            if received:
                self._arrived.write(buffer[:received])
            else:
                self._arrived.write_eof()


Connection = socket.socket | NestedTls


def abandonable(work: Callable[[], _Connection], bounds: Bounds) -> _Connection:
    """Run what cannot be interrupted (a look-up of a name) in a thread of its own, which is abandoned if it is late.

    Raises:
        LateError: It is late.
        RunCancelledError: The run was cancelled.
    """
    bounds.until_check()  # A socket without any time to wait would fail as if the network had.
    found = begun(work, "locklens-connect")
    wait_for(found, bounds)
    return found.result()


def begun(work: Callable[[], _Connection], name: str) -> Future[_Connection]:
    """Begin to connect, in a thread of its own."""
    found: Future[_Connection] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except Exception as error:  # noqa: BLE001 - it is raised in the thread that waits
            found.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return found


def wait_for(found: Future[_Connection], bounds: Bounds) -> None:
    """Wait for a connection. One that is given up is closed once it is made; raises as `Bounds.until_check`."""
    try:
        while not found.done():
            with suppress(NotYetError):
                found.exception(bounds.until_check())
    except BaseException:
        found.add_done_callback(close)
        raise


def close(found: Future[_Connection]) -> None:
    """Close a connection, if it was made."""
    if found.exception() is None:
        found.result().close()
