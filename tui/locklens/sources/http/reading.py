"""Reads what a server sent, as far as its kind may go, and says what is wrong with it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.sources.http.failures import TRANSPORT_ERRORS, FailedError, TransportFailure, transport_failure
from locklens.sources.http.settings import KIB, MIB
from locklens.sources.urls import host_of, resolve

if TYPE_CHECKING:
    import httpx

    from locklens.sources.http.settings import RequestKind

_SHORT = 64 * KIB

_MOST_RATIO = 100
_ANY_RATIO = 2 * MIB
"""The ratio up to which an answer may unpack, and bytes up to which that does not matter: the list of a thousand
versions has half a megabyte, in which little but the numbers differs."""


def host_name(url: str) -> str:
    """The host of a URL as messages name it."""
    return display_host(host_of(url))


def redirected(url: str, location: str) -> str:
    """Return where an answer redirects to.

    Raises:
        FailedError: It is nowhere, or it would give up TLS.
    """
    try:
        target = resolve(url, location)
    except ValueError as error:
        raise FailedError(TransportFailure(f"{host_name(url)} redirects to an unusable address: {error}")) from None
    if url.startswith("https:") and not target.startswith("https:"):
        words = f"{host_name(url)} redirects to {host_name(target)} without TLS, which is not followed"
        raise FailedError(TransportFailure(words))
    return target


def too_large(url: str, kind: RequestKind) -> TransportFailure:
    """Return the error for an answer beyond the size of its kind."""
    limit = f"{kind.limit // KIB} KiB" if kind.limit < 1024 * KIB else f"{kind.limit // KIB // 1024} MiB"
    return TransportFailure(f"{host_name(url)} sent {kind.words} of more than {limit}, which is not read")


def too_slow(url: str, kind: RequestKind, received: int, waited: float) -> TransportFailure:
    """Return the error for a body that arrives too slowly."""
    said = f"{received // KIB} KiB in {waited:.0f} seconds"
    return TransportFailure(
        f"{host_name(url)} sends {kind.words} too slowly: {said}", hint="try again on a faster connection"
    )


def drain(response: httpx.Response) -> bytes:
    """Read off a body that does not matter, if it is short, so that the connection can be used again."""
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and len(length) < 10 and int(length) <= _SHORT:
        try:
            for _ in response.iter_raw():
                pass
        except TRANSPORT_ERRORS:
            pass  # The status is the answer.
    return b""


def read_body(response: httpx.Response, url: str, kind: RequestKind) -> bytes:
    """Read a body within its bound, of which decompression cannot break out either.

    Raises:
        FailedError: It is too large, breaks off or cannot be decompressed.
    """
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and (len(length) > 15 or int(length) > kind.limit):
        raise FailedError(too_large(url, kind))
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"gzip", "x-gzip", "identity", ""}:
        raise FailedError(TransportFailure(f"{host_name(url)} sent {kind.words} in an encoding that was not requested"))
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in encoding else None
    body, received = bytearray(), 0
    try:
        for chunk in response.iter_raw():
            received += len(chunk)
            body += inflate.decompress(chunk, kind.limit + 1 - len(body)) if inflate else chunk
            if len(body) > kind.limit or received > kind.limit:
                raise FailedError(too_large(url, kind))
            if len(body) > max(_ANY_RATIO, _MOST_RATIO * received):
                words = f"{host_name(url)} sent {kind.words} that unpacks to more than {_MOST_RATIO} times its size"
                raise FailedError(TransportFailure(words))
    except TRANSPORT_ERRORS as error:
        # The tools ask again for a head that does not come, not for a body that breaks off.
        failure = transport_failure(error, host_of(url), kind.seconds)
        raise FailedError(TransportFailure(broken_words(failure, url, kind), hint=failure.hint)) from error
    except zlib.error:
        # An answer, though unusable: a user who may put files on a server must not cause a pause for the whole server.
        raise FailedError(TransportFailure(f"{host_name(url)} sent {kind.words} that cannot be decompressed")) from None
    if inflate and (received or body) and not inflate.eof:
        raise FailedError(TransportFailure(f"{host_name(url)} sent {kind.words} that breaks off"))
    return bytes(body)


def broken_words(failure: TransportFailure, url: str, kind: RequestKind) -> str:
    """Return the error for a body that broke off or came too late."""
    if "within" in failure.words:
        return failure.words
    return f"{host_name(url)} sent {kind.words} that breaks off"
