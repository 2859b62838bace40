"""Sends requests with their retries and redirects, and limits the load on each host."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
from msgspec.structs import replace

from locklens.errors import RunCancelledError, UnavailableError
from locklens.sources.http import (
    KIB,
    LONGEST_WAIT,
    OK,
    Exchange,
    Outgoing,
    RequestKind,
    Response,
    Transfer,
    is_too_slow,
    is_transient,
    moment,
    requests_per_host,
    status_words,
    user_agent,
    wait_before,
)
from locklens.sources.http.connecting import Bounds, LateError, PrivateAddressError
from locklens.sources.http.reading import (
    TRANSPORT_ERRORS,
    FailedError,
    TransportFailure,
    broken_words,
    declared_length,
    drain,
    read_body,
    read_error,
    redirected,
    too_large,
    too_slow,
    transport_failure,
)
from locklens.sources.http.transport import IS_PACKAGE, Transport
from locklens.sources.urls import host_name, host_of, origin, url_for_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from locklens.project.cliconfig import Token
    from locklens.sources.urls import UrlOrigin

MAX_DOWNLOAD_BYTES = 4 * 1024**3
"""The most bytes of a package; the largest that are published have a fifth of them."""

STALL_SECONDS = 30.0
"""Seconds without a byte after which a download is given up. The tools would wait for ever."""

_ENOUGH_FAILURES = 3
"""Requests in a row that got no answer: then the server is not tried again in this run, or 60 providers would wait one
time-out after another."""

_REDIRECTS = {301, 302, 303, 307, 308}
_READING = {"GET", "HEAD"}
_GET = Outgoing("GET")


class _Server:
    """The state of an origin in this run. A host that does not answer without TLS may well do so with it."""

    def __init__(self, at_once: int) -> None:
        self.slots = threading.BoundedSemaphore(at_once)
        self.failures = 0
        self.last: TransportFailure | None = None


class Sender:
    """Sends requests, and logs each. Any number of threads may use it; the arguments are those of `Client`.

    There is no `httpx.Client`: its redirects, cookies, logins from URLs and time-outs are all unwanted here, so that
    requests go to the transport as they are.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        cancel: threading.Event,
        pause: Callable[[float], None] | None,
        log: list[Exchange],
        on_retry_after: Callable[[float], None] | None = None,
        is_public_only: bool = False,
    ) -> None:
        self._log = log
        self._cancel = cancel
        self._bounds = Bounds(cancel)
        self._pause = self._wait if pause is None else pause
        self._on_retry_after = on_retry_after
        self._lock = threading.Lock()
        self._servers: dict[UrlOrigin, _Server] = {}
        self._at_once = requests_per_host(environ)
        self._agent = user_agent(environ)
        self._transport = Transport(environ, self._bounds, is_public_only=is_public_only)

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    def load(self) -> None:
        """Load what most servers are asked with."""
        self._transport.load()

    def forget(self) -> None:
        """Let hosts that failed be tried again."""
        with self._lock:
            self._servers.clear()

    def ask(self, url: str, kind: RequestKind, token: Token | None, sent: Outgoing = _GET) -> Response:
        """Send one request, with its retries; the token is for this URL's host, and for no other that it redirects to.

        Raises:
            UnavailableError: No answer, or none within the bounds; also on a status that stayed transient.
            RunCancelledError: The run was cancelled.
        """
        attempts = kind.retries + 1
        for attempt in range(1, attempts + 1):
            retry_after, failed = "", None
            try:
                answer, retry_after = self._attempt(url, kind, token, attempt, sent)
                if not (kind.retries and is_transient(answer.status)):
                    return answer
                failure = _answered(answer.url, answer.status)
            except FailedError as error:
                failure, failed = error.failure, error.origin
            wait = wait_before(attempt + 1, retry_after)
            if not failure.may_pass or attempt == attempts:
                break
            if wait is None:
                failure = TransportFailure(f"{failure.words} and asks for a retry later", hint="try again later")
                break
            self._pause(wait)
        self._blame(failed, failure)
        raise self._error(url, failure, attempt)

    def _blame(self, failed: UrlOrigin | None, failure: TransportFailure) -> None:
        """Count a request that failed for good; attempts do not count, or one hiccup would spoil all retries."""
        with self._lock:
            server = None if failed is None else self._servers.get(failed)
            if server is not None:
                server.failures, server.last = server.failures + 1, failure

    def _attempt(
        self, url: str, kind: RequestKind, token: Token | None, attempt: int, sent: Outgoing
    ) -> tuple[Response, str]:
        """Ask once and follow redirects by hand, so that each step can be judged."""
        self._bounds.deadline = time.monotonic() + kind.seconds
        first, current, as_of = origin(url), url, moment()
        for _ in range(kind.redirects + 1):
            response, body = self._exchange(current, kind, token, attempt, sent)
            status, headers = response.status_code, response.headers
            location = headers.get("Location", "")
            if status not in _REDIRECTS or not location or sent.method not in _READING:
                kept = {name: headers[name] for name in kind.kept_headers if name in headers}
                content_type = headers.get("Content-Type")
                answer = Response(status, current, content_type, body, token is not None, as_of, headers=kept)
                return answer, headers.get("Retry-After", "")
            current = redirected(current, location)
            if origin(current) != first:
                token = None  # For good: a redirect back could come from the other host.
        raise FailedError(TransportFailure(f"{host_name(url)} redirects more than {kind.redirects} times"))

    def _exchange(
        self, url: str, kind: RequestKind, token: Token | None, attempt: int, sent: Outgoing
    ) -> tuple[httpx.Response, bytes]:
        """Send one request, read the answer and its body, and log it; redirects are not followed."""
        asked = origin(url)
        with self._slot(asked) as server:
            if server.last is not None and server.failures >= _ENOUGH_FAILURES:
                raise FailedError(replace(server.last, may_pass=False))
            start, as_of, outcome, body = time.monotonic(), moment(), "stopped", b""
            try:
                response = self._open(url, kind, token, encoding="identity" if kind.error_limit else "gzip", sent=sent)
                try:
                    if response.status_code == OK:
                        body = read_body(response, url, kind)
                    else:
                        body = read_error(response, kind.error_limit) if kind.error_limit else drain(response)
                finally:
                    response.close()
                outcome = status_words(response.status_code)
                server.failures, server.last = 0, None
                return response, body
            except TRANSPORT_ERRORS as error:
                failure = transport_failure(error, host_of(url), kind.seconds)
                outcome = failure.words
                raise FailedError(failure, asked) from error
            except FailedError as error:
                outcome = error.failure.words
                error.origin = asked if error.__cause__ is not None else None
                raise
            finally:
                seconds = time.monotonic() - start
                line = Exchange(
                    url_for_log(url), outcome, seconds, len(body), attempt, token is not None, as_of, method=sent.method
                )
                self._log.append(line)

    @contextmanager
    def _slot(self, asked: UrlOrigin) -> Iterator[_Server]:
        """Wait for one of the server's slots; waiting does not count against the request's time."""
        with self._lock:
            server = self._servers.setdefault(asked, _Server(self._at_once))
        self._bounds.wait_for(server.slots)
        try:
            yield server
        finally:
            server.slots.release()

    def _open(
        self,
        url: str,
        kind: RequestKind,
        token: Token | None,
        *,
        encoding: str,
        sent: Outgoing = _GET,
        is_package: bool = False,
    ) -> httpx.Response:
        """Send a request and return the answer with its body unread."""
        headers = {"User-Agent": self._agent, "Accept": kind.accept, "Accept-Encoding": encoding, **dict(sent.headers)}
        if token is not None:
            try:
                headers["Authorization"] = token.authorization()
            except ValueError as error:
                raise FailedError(TransportFailure(f"{host_name(url)} cannot be asked: {error}")) from None
        content = sent.content if isinstance(sent.content, bytes) else self._leaving(sent.content(), url, kind)
        try:
            extensions = {IS_PACKAGE: True} if is_package else {}
            request = httpx.Request(sent.method, url, headers=headers, content=content or None, extensions=extensions)
            return self._transport.handle_request(request)
        except PrivateAddressError as error:
            raise FailedError(TransportFailure(str(error))) from None

    def _leaving(self, chunks: Iterable[bytes], url: str, kind: RequestKind) -> Iterator[bytes]:
        """Yield a large content; the time limit counts from each chunk, and no server may take them too slowly."""
        taken, since = 0, time.monotonic()
        for chunk in chunks:
            now = time.monotonic()
            if is_too_slow(taken, now - since, kind.seconds):
                said = f"{taken // KIB} KiB in {now - since:.0f} seconds"
                raise FailedError(TransportFailure(f"{host_name(url)} takes {kind.words} too slowly: {said}"))
            self._bounds.deadline = now + kind.seconds
            yield chunk
            taken += len(chunk)

    @contextmanager
    def download(
        self,
        url: str,
        *,
        method: str = "GET",
        retries: int = 0,
        token: Token | None = None,
        patience: float = LONGEST_WAIT,
    ) -> Iterator[Transfer]:
        """Open a file that is too large to be held; see `locklens.sources.http.client.Client.download`."""
        kind = RequestKind("a package", MAX_DOWNLOAD_BYTES, STALL_SECONDS, retries=retries)
        for attempt in range(1, retries + 2):
            current, given, retry_after = url, token, ""
            try:
                for _ in range(kind.redirects + 1):
                    with self._asked(current, kind, given, attempt, method) as response:
                        status, location = response.status_code, response.headers.get("Location", "")
                        if is_transient(status) and attempt <= retries:
                            retry_after = response.headers.get("Retry-After", "")
                            raise FailedError(_answered(current, status))
                        if status not in _REDIRECTS or not location:
                            yield self._downloading(response, current, kind, attempt)
                            return
                    current = redirected(current, location)
                    if origin(current) != origin(url):
                        given = None
                words = f"{host_name(url)} redirects more than {kind.redirects} times"
                raise self._error(url, TransportFailure(words))
            except FailedError as error:
                failure, cause = error.failure, error.__cause__
            wait = wait_before(attempt + 1, retry_after, patience=patience)
            if not failure.may_pass or attempt > retries or wait is None:
                raise self._error(current, failure, attempt) from cause
            if retry_after and self._on_retry_after is not None:
                self._on_retry_after(wait)
            self._pause(wait)

    @contextmanager
    def _asked(
        self, url: str, kind: RequestKind, token: Token | None, attempt: int, method: str
    ) -> Iterator[httpx.Response]:
        """Ask for a package, without following redirects; the answer is closed and logged at the end of the block."""
        with self._slot(origin(url)):
            start, as_of = time.monotonic(), moment()
            self._bounds.deadline = start + kind.seconds
            try:
                response = self._open(url, kind, token, encoding="identity", sent=Outgoing(method), is_package=True)
            except TRANSPORT_ERRORS as error:
                raise FailedError(transport_failure(error, host_of(url), kind.seconds)) from error
            try:
                yield response
            finally:
                response.close()
                seconds, size = time.monotonic() - start, response.num_bytes_downloaded
                outcome, with_token = status_words(response.status_code), token is not None
                line = Exchange(url_for_log(url), outcome, seconds, size, attempt, with_token, as_of, method=method)
                self._log.append(line)

    def _downloading(self, response: httpx.Response, url: str, kind: RequestKind, attempt: int) -> Transfer:
        if response.status_code != OK:
            raise self._error(url, _answered(url, response.status_code), attempt)
        length = declared_length(response)
        if length is not None and length > kind.limit:
            raise self._error(url, too_large(url, kind))
        return Transfer(url, length, self._chunks(response, url, kind))

    def _chunks(self, response: httpx.Response, url: str, kind: RequestKind) -> Iterator[bytes]:
        received, waited, since = 0, 0.0, time.monotonic()
        try:
            for chunk in response.iter_raw():
                received += len(chunk)
                waited += time.monotonic() - since
                if received > kind.limit:
                    raise self._error(url, too_large(url, kind))
                if is_too_slow(received, waited, kind.seconds):
                    raise self._error(url, too_slow(url, kind, received, waited))
                yield chunk
                # Time that the caller takes for a chunk is not the server's.
                since = time.monotonic()
                self._bounds.deadline = since + kind.seconds
        except TRANSPORT_ERRORS as error:
            failure = transport_failure(error, host_of(url), kind.seconds)
            words = broken_words(failure, url, kind)
            if isinstance(error, LateError | TimeoutError):
                words = f"{host_name(url)} stopped sending {kind.words} for {kind.seconds:g} seconds"
            raise self._error(url, TransportFailure(words, hint=failure.hint)) from error

    def _error(self, url: str, failure: TransportFailure, attempts: int = 1) -> UnavailableError:
        tried = f" ({attempts} attempts)" if attempts > 1 else ""
        return UnavailableError(f"{failure.words}{tried}", source=host_name(url), hint=failure.hint)

    def _wait(self, seconds: float) -> None:
        if self._cancel.wait(seconds):
            raise RunCancelledError("the run was cancelled")


def _answered(url: str, status: int) -> TransportFailure:
    return TransportFailure(f"{host_name(url)} answered {status_words(status)}", may_pass=True)
