"""Connections that are made before there is a request for them, while the rest of the program is still being loaded."""

from __future__ import annotations

import ssl
import threading
import time
from contextlib import suppress
from functools import partial
from itertools import islice

from locklens.sources.http.connecting import (
    HTTP1,
    HTTP2,
    Bounds,
    Dialler,
    RequestTarget,
    TlsContexts,
    TransportError,
    begun,
    close,
    wait_for,
)
from locklens.sources.http.environment import proxy_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from concurrent.futures import Future


_SECONDS = 10.0
"""Seconds for making a connection, and for which an unused one is kept; servers close idle ones later."""

_MOST = 4
"""The most hosts that are connected to ahead; roots rarely have providers of more than two."""

_Place = tuple[str, int, tuple[str, ...]]
"""A host, its port, and the protocols that are offered."""


class BegunConnections:
    """Connections that are being made, or were made, until a request takes them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: dict[_Place, list[tuple[float, Future[ssl.SSLSocket]]]] = {}

    def count(self, place: _Place) -> int:
        """The number of connections to a place."""
        with self._lock:
            return len(self._begun.get(place, ()))

    def begin(self, place: _Place, contexts: TlsContexts, *, is_public_only: bool = False) -> None:
        """Begin to connect, and return."""
        found = begun(partial(_connected, place, contexts, is_public_only=is_public_only), "locklens-ahead")
        with self._lock:
            self._begun.setdefault(place, []).append((time.monotonic(), found))

    def take(self, place: _Place, bounds: Bounds) -> ssl.SSLSocket | None:
        """Return a connection that was begun, once it is made; None if there is none, or if it failed.

        Raises:
            LateError: The deadline has passed.
            RunCancelledError: The run was cancelled.
        """
        with self._lock:
            waiting = self._begun.get(place)
            if not waiting:
                return None
            since, found = waiting.pop(0)
        wait_for(found, bounds)
        if found.exception() is not None:
            return None  # The next attempt reports why.
        if time.monotonic() - since > _SECONDS:
            close(found)
            return None
        return found.result()

    def close(self) -> None:
        """Close the connections that no request took."""
        with self._lock:
            left = [found for every in self._begun.values() for _, found in every]
            self._begun.clear()
        for found in left:
            found.add_done_callback(close)


_CONTEXTS: dict[tuple[str, str], TlsContexts] = {}
_CONNECTIONS = BegunConnections()
"""The connections and trust that this process began to prepare, until a run takes them over."""

_LOCK = threading.Lock()


def read_trust_ahead(environ: Mapping[str, str]) -> None:
    """Begin to read the TLS trust, and return: a file of all authorities takes as long as a round trip."""
    with _LOCK:
        contexts = _CONTEXTS.setdefault(_named(environ), TlsContexts(environ))

    def read() -> None:
        with suppress(OSError, ssl.SSLError):  # The error is raised again for the first connection.
            contexts.read()

    threading.Thread(target=read, name="locklens-trust", daemon=True).start()


def connect_ahead(urls: Iterable[str], environ: Mapping[str, str]) -> None:
    """Begin to connect to servers that will be asked, and return; send no request.

    URLs without TLS, and those behind a proxy, are skipped.
    """
    with _LOCK:
        contexts = _CONTEXTS.setdefault(_named(environ), TlsContexts(environ))
    for url in islice(urls, _MOST):
        with suppress(TransportError, ValueError):
            target = RequestTarget.of(url)
            place = target.host, target.port, (HTTP2, HTTP1)
            if target.scheme == "https" and not proxy_for(url, environ) and not _CONNECTIONS.count(place):
                _CONNECTIONS.begin(place, contexts)


def contexts_of(environ: Mapping[str, str]) -> TlsContexts:
    """Return the TLS trust of a run: as it was read ahead, or to be read when it is needed."""
    with _LOCK:
        return _CONTEXTS.pop(_named(environ), None) or TlsContexts(environ)


def _named(environ: Mapping[str, str]) -> tuple[str, str]:
    return environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")


def connected_ahead(host: str, port: int, bounds: Bounds) -> ssl.SSLSocket | None:
    """Return the connection that was begun to a server, once; see `BegunConnections.take`."""
    return _CONNECTIONS.take((host, port, (HTTP2, HTTP1)), bounds)


def _connected(place: _Place, contexts: TlsContexts, *, is_public_only: bool) -> ssl.SSLSocket:
    bounds = Bounds(threading.Event())
    bounds.deadline = time.monotonic() + _SECONDS
    return Dialler(contexts, bounds, is_public_only=is_public_only).dial(*place)
