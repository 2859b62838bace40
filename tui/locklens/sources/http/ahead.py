"""Connections that are made before there is anybody to ask on them: while the rest of the program is still loaded."""

from __future__ import annotations

import ssl
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from itertools import islice

from locklens.sources.http.connecting import HTTP1, HTTP2, Bounds, Dialler, RequestTarget, TlsContexts, TransportError
from locklens.sources.http.environment import proxy_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_SECONDS = 10.0
"""The time for a connection, and for which one is kept that nobody asks for; servers close idle ones later."""

_MOST = 4
"""Hosts that are connected to ahead; roots rarely have providers of more than two."""

_Place = tuple[str, int]


class _Ahead:
    """What was begun in this process, until a run takes it over."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.contexts: dict[tuple[str, str], TlsContexts] = {}
        self.connections: dict[_Place, tuple[float, Future[ssl.SSLSocket]]] = {}


_AHEAD = _Ahead()


def read_trust_ahead(environ: Mapping[str, str]) -> None:
    """Begin to read whom TLS trusts, and return: a file of all authorities takes as long as a round trip."""
    with _AHEAD.lock:
        contexts = _AHEAD.contexts.setdefault(_named(environ), TlsContexts(environ))

    def read() -> None:
        with suppress(OSError, ssl.SSLError):  # Whoever connects is told.
            contexts.read()

    threading.Thread(target=read, name="locklens-trust", daemon=True).start()


def connect_ahead(urls: Iterable[str], environ: Mapping[str, str]) -> None:
    """Begin to connect to servers that will be asked, and return; send no request.

    Args:
        urls: URLs of theirs. Those without TLS, and those behind a proxy, are passed over.
        environ: Proxies and certificates are named there.
    """
    with _AHEAD.lock:
        contexts = _AHEAD.contexts.setdefault(_named(environ), TlsContexts(environ))
    for url in islice(urls, _MOST):
        with suppress(TransportError, ValueError):
            target = RequestTarget.of(url)
            place = target.host, target.port
            found: Future[ssl.SSLSocket] = Future()
            with _AHEAD.lock:
                if target.scheme != "https" or proxy_for(url, environ) or place in _AHEAD.connections:
                    continue
                _AHEAD.connections[place] = time.monotonic(), found
            threading.Thread(target=_connect, args=(place, contexts, found), name="locklens-ahead", daemon=True).start()


def contexts_of(environ: Mapping[str, str]) -> TlsContexts:
    """Return whom TLS trusts in a run: as it was read ahead for it, or to be read."""
    with _AHEAD.lock:
        return _AHEAD.contexts.pop(_named(environ), None) or TlsContexts(environ)


def _named(environ: Mapping[str, str]) -> tuple[str, str]:
    return environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")


def connected_ahead(host: str, port: int, bounds: Bounds) -> ssl.SSLSocket | None:
    """Return the connection that was begun to a server, once; None if none was, or if it came to nothing.

    Raises:
        LateError: The deadline has passed.
        RunCancelledError: The run was cancelled.
    """
    with _AHEAD.lock:
        begun, found = _AHEAD.connections.pop((host, port), (0.0, None))
    if found is None:
        return None
    try:
        while not found.done():
            with suppress(NotYetError):
                found.exception(bounds.glance())
    except BaseException:
        found.add_done_callback(_close)
        raise
    if found.exception() is not None:
        return None  # The next attempt tells why.
    if time.monotonic() - begun > _SECONDS:
        _close(found)
        return None
    return found.result()


def _connect(place: _Place, contexts: TlsContexts, found: Future[ssl.SSLSocket]) -> None:
    bounds = Bounds(threading.Event())
    bounds.deadline = time.monotonic() + _SECONDS
    try:
        connection = Dialler(contexts, bounds).dial(*place, (HTTP2, HTTP1))
    except Exception as error:  # noqa: BLE001 - whoever asks connects again, and is told
        found.set_exception(error)
    else:
        found.set_result(connection)


def _close(found: Future[ssl.SSLSocket]) -> None:
    if found.exception() is None:
        found.result().close()
