"""Asks over HTTP, within bounds of size and time, each URL at most once in a run; the only user of httpx.

What comes back is a value or one of the errors of `SourceError`: no type of the HTTP library leaves this package.
Nothing here knows registries. Tokens are handed in for one request, go to that URL's own origin, over TLS or to this
machine only, and are in no message and no log.
"""

from __future__ import annotations

from locklens.sources.http.settings import Kind, Kinds
from locklens.sources.http.values import Answer, Download, Exchange, now

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from locklens.sources.http.client import Client


def open_client(
    environ: Mapping[str, str], *, cancel: threading.Event | None = None, pause: Callable[[float], None] | None = None
) -> Client:
    """Returns the client of a run. Nothing is loaded or asked before the first request.

    Args:
        environ: Proxies and certificates are named there.
        cancel: Set by another thread to stop: every wait ends with RunCancelledError.
        pause: How to wait between two attempts, in seconds; for tests.
    """
    from locklens.sources.http.client import Client

    return Client(environ, cancel=cancel, pause=pause)


__all__ = ["Answer", "Download", "Exchange", "Kind", "Kinds", "now", "open_client"]
