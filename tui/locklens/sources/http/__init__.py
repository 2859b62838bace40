"""Asks over HTTP, within bounds of size and time, each URL at most once in a run; the only user of httpx.

What was answered in an earlier run of the last hour is not asked again, and offline counts however old it is.

What comes back is a value or one of the errors of `SourceError`: no type of the HTTP library leaves this package.
Nothing here knows registries. Tokens are handed in for one request, go to that URL's own origin, over TLS or to this
machine only, and are in no message and no log.
"""

from __future__ import annotations

from locklens.sources.http.values import Exchange, Kinds, RequestKind, Response, Transfer, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from locklens.sources.http.client import AnswerCache, Client


def open_client(
    environ: Mapping[str, str],
    *,
    memory: AnswerCache | None = None,
    is_offline: bool = False,
    cancel: threading.Event | None = None,
    pause: Callable[[float], None] | None = None,
    on_retry_after: Callable[[float], None] | None = None,
    is_public_only: bool = False,
) -> Client:
    """Return the client of a run. Nothing is asked before the first request, and httpx not loaded.

    Args:
        environ: Proxies and certificates are named there.
        memory: What earlier runs were answered; None to remember nothing.
        is_offline: No request is sent: cached answers count, and all else raises OfflineError.
        cancel: Set by another thread to stop: every wait ends with RunCancelledError.
        pause: How to wait between two attempts, in seconds; None for waiting that can be cancelled.
        on_retry_after: Called with the seconds for which the server of a download asked, before they are waited out.
        is_public_only: True to ask no address of a private network and none of this machine, whatever name leads there;
            a proxy may have one.
    """
    from locklens.sources.http.client import Client

    return Client(
        environ,
        memory=memory,
        is_offline=is_offline,
        cancel=cancel,
        pause=pause,
        on_retry_after=on_retry_after,
        is_public_only=is_public_only,
    )


__all__ = ["Exchange", "Kinds", "RequestKind", "Response", "Transfer", "moment", "open_client"]
