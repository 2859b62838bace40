"""Asks over HTTP, within bounds of size and time, each URL at most once in a run.

It is the only user of httpx, h11 and h2.

Answers of the last hour, from earlier runs, are used again; offline, an answer counts however old it is.

What comes back is a value or one of the errors of `SourceError`: no type of the HTTP library leaves this package.
Nothing here knows registries. Tokens are handed in for one request, go to that URL's own origin, over TLS or to this
machine only, and are in no message and no log.
"""

from __future__ import annotations

from locklens.sources.http.values import Exchange, Kinds, Outgoing, RequestKind, Response, Transfer, moment

__all__ = ["Exchange", "Kinds", "Outgoing", "RequestKind", "Response", "Transfer", "moment"]
