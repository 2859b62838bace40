"""The client of a run: it shares answers between equal requests, of this run and of earlier ones."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import OfflineError, RunCancelledError, SourceError, UnavailableError
from locklens.sources.http import (
    LONGEST_WAIT,
    NOT_FOUND,
    OK,
    Exchange,
    Response,
    moment,
    requests_per_host,
    status_words,
)
from locklens.sources.urls import has_userinfo, host_name, may_carry_token, origin, url_for_log
from locklens.storage.cache import RememberedAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.project.cliconfig import Token
    from locklens.sources.http import Outgoing, RequestKind, Transfer
    from locklens.sources.http.sending import Sender
    from locklens.storage.cache import Cache


_MOST_HELD = 128 * 1024 * 1024
"""The most bytes of answers that are held for repeated requests: those of a thousand providers have half of it. The
oldest ones beyond that are dropped, and would be requested again."""

_GLANCE = 0.1

_LOOK_SECONDS = 0.05
"""Seconds between two checks of the other event during a wait."""

LIFE = timedelta(hours=1)
"""The time for which an answer is used without asking. A review is repeated many times in a working session, and should
not ask the same again each time; a republished package must still be noticed the same day."""


class JoinedEvent(threading.Event):
    """An event that also counts as set while another one, if there is any, is; setting it sets no other."""

    def __init__(self, other: threading.Event | None = None) -> None:
        super().__init__()
        self.other = other

    def is_set(self) -> bool:
        """True if either event is set."""
        return super().is_set() or (self.other is not None and self.other.is_set())

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until either event is set, at most `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            left = _LOOK_SECONDS if end is None else min(_LOOK_SECONDS, end - time.monotonic())
            if left <= 0:
                return False
            super().wait(left)
        return True


class Client:
    """Asks over HTTP. Any number of threads may use it. The HTTP library is loaded by the first real request.

    The memory has the answers of earlier runs; None remembers nothing. Offline no request is sent: cached answers
    count, and all else raises OfflineError. `cancel` is set by another thread: every wait ends with RunCancelledError.
    `pause` waits between two attempts, in seconds; None for waiting that can be cancelled. `on_retry_after` is called
    with the seconds for which the server of a download asked, before they are waited out. With `is_public_only`, no
    address of a private network is asked and none of this machine, whatever name leads there; a proxy may have one.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        memory: Cache | None = None,
        is_offline: bool = False,
        cancel: threading.Event | None = None,
        pause: Callable[[float], None] | None = None,
        on_retry_after: Callable[[float], None] | None = None,
        is_public_only: bool = False,
    ) -> None:
        self.log: list[Exchange] = []
        self._environ = environ
        self._recollection = Recollection(memory, is_offline)
        self._is_offline = is_offline
        self._cancel = cancel or threading.Event()
        self._pause = pause
        self._on_retry_after = on_retry_after
        self._is_public_only = is_public_only
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, bool], Future[Response]] = {}
        self._held = 0
        self._opened: Sender | None = None
        self._beside: ThreadPoolExecutor | None = None

    def close(self) -> None:
        """Close every connection."""
        if self._beside is not None:
            self._beside.shutdown(cancel_futures=True)
        if self._opened is not None:
            self._opened.close()

    def get(self, url: str, kind: RequestKind, *, token: Token | None = None, is_fresh: bool = False) -> Response:
        """Ask a URL, or return the answer that it gave before.

        The token for its host is left out if it could be read on the way. A fresh answer is of this run, as far as the
        network may be used.

        Raises:
            OfflineError: Offline and not cached.
            UnavailableError: No answer, or none within the bounds; also on a status that stayed transient.
            RunCancelledError: The run was cancelled.
        """
        is_fresh = is_fresh and not self._is_offline
        future, ask = self._claimed(url, kind, token, is_fresh=is_fresh)
        if ask is not None:
            ask()
        answer = self._result(future)
        if is_fresh and answer.is_remembered:
            return self.get(url, kind, token=token, is_fresh=True)  # It was still being looked up.
        if len(answer.body) > kind.limit:
            from locklens.sources.http.reading import too_large

            raise UnavailableError(too_large(url, kind).words, source=host_name(url))
        return answer

    def send(self, url: str, kind: RequestKind, sent: Outgoing, *, token: Token | None = None) -> Response:
        """Send a request whose answer is neither shared nor cached; the token as in `get`.

        Raises:
            OfflineError: The run is offline.
            UnavailableError: No answer, or none within the bounds; also on a status that stayed transient.
            RunCancelledError: The run was cancelled.
        """
        if self._cancel.is_set():
            raise RunCancelledError("the run was cancelled")
        if self._is_offline:
            raise _offline(url, "offline")
        token = token if may_carry_token(url) else None
        return self._sender().ask(url, kind, token, sent)

    def begin(self, url: str, kind: RequestKind, *, token: Token | None = None, is_fresh: bool = False) -> None:
        """Ask a URL in a thread of its own, unless that was begun before; `get` returns the answer or raises."""
        _, ask = self._claimed(url, kind, token, is_fresh=is_fresh and not self._is_offline)
        if ask is not None:
            with self._lock:
                self._beside = self._beside or ThreadPoolExecutor(requests_per_host(self._environ), "locklens-begin")
                self._beside.submit(ask)

    def load(self) -> None:
        """Load the HTTP library, before there is a request."""
        self._sender().load()

    def forget(self) -> None:
        """Let every URL and every host that failed be asked again, also where earlier runs got an answer.

        Offline, cached answers continue to count: there are no others.
        """
        self._recollection.forget()
        with self._lock:
            self._answers = {key: future for key, future in self._answers.items() if not future.done()}
            if self._opened is not None:
                self._opened.forget()

    @contextmanager
    def download(
        self, url: str, *, retries: int = 0, token: Token | None = None, patience: float = LONGEST_WAIT
    ) -> Iterator[Transfer]:
        """Open a file that is too large to be held; it is not cached.

        It is given up beyond MAX_DOWNLOAD_BYTES, without a byte for STALL_SECONDS, and by `is_too_slow`. It is asked
        for again until an answer begins; what breaks off is not. The patience is the longest pause in seconds that the
        server may ask for.

        Raises:
            OfflineError: The run is offline.
            UnavailableError: Here or while the chunks are read: no such file, or it breaks off, stalls or is too long.
            RunCancelledError: The run was cancelled.
        """
        if self._is_offline:
            raise _offline(url, "offline")
        token = token if may_carry_token(url) else None
        sender = self._sender()
        with sender.download(url, retries=retries, token=token, patience=patience) as download:
            yield download

    def size(self, url: str) -> int | None:
        """Ask for the bytes of a file, without reading it; None if its server does not say.

        Raises:
            OfflineError: The run is offline.
            UnavailableError: There is no such file, or the server does not answer such a question.
            RunCancelledError: The run was cancelled.
        """
        if self._is_offline:
            raise _offline(url, "offline")
        with self._sender().download(url, method="HEAD") as download:
            return download.length

    def _claimed(
        self, url: str, kind: RequestKind, token: Token | None, *, is_fresh: bool
    ) -> tuple[Future[Response], Callable[[], None] | None]:
        """Return where an answer will be, and if it is the caller's turn to ask for it, the function that does."""
        token = token if token is not None and may_carry_token(url) else None
        key = (url, token is not None)
        with self._lock:
            future = self._answers.get(key)
            if future is not None and not (is_fresh and _is_remembered(future)):
                return future, None
            future = self._answers[key] = Future()
        return future, partial(self._fulfil, future, key, kind, token, is_fresh=is_fresh)

    def _fulfil(
        self, future: Future[Response], key: tuple[str, bool], kind: RequestKind, token: Token | None, *, is_fresh: bool
    ) -> None:
        try:
            answer = self._ask(key[0], kind, token, is_fresh=is_fresh)
            future.set_result(answer)
            self._hold(len(answer.body))
        except SourceError as error:
            future.set_exception(error)
        except BaseException as error:
            # Nothing is known about the URL then: the next request asks again.
            with self._lock:
                self._answers.pop(key, None)
            future.set_exception(error)
            raise

    def _hold(self, size: int) -> None:
        """Drop the oldest answers if there are too many bytes of them."""
        with self._lock:
            self._held += size
            if self._held <= _MOST_HELD:
                return
            for key, future in list(self._answers.items()):
                if future.done() and self._held > _MOST_HELD // 2:
                    self._held -= 0 if future.exception() else len(future.result().body)
                    del self._answers[key]

    def _ask(self, url: str, kind: RequestKind, token: Token | None, *, is_fresh: bool) -> Response:
        """Look for an answer of earlier runs, and ask if none counts."""
        if self._cancel.is_set():
            raise RunCancelledError("the run was cancelled")
        with_token = token is not None
        if not is_fresh:
            found = self._recollection.find(url, with_token=with_token)
            if found is not None:
                self._log(url, found, with_token=with_token)
                return found
        if self._is_offline:
            raise _offline(url, "offline, without a cached answer")
        answer = self._sender().ask(url, kind, token)
        self._recollection.keep(url, answer, with_token=with_token)
        return answer

    def _log(self, url: str, found: Response, *, with_token: bool) -> None:
        outcome, size = status_words(found.status), len(found.body)
        self.log.append(Exchange(url_for_log(url), outcome, 0.0, size, 1, with_token, found.as_of, is_remembered=True))

    def _result(self, future: Future[Response]) -> Response:
        while True:
            try:
                return future.result(_GLANCE)
            except NotYetError:
                if self._cancel.is_set():
                    raise RunCancelledError("the run was cancelled") from None
            except SourceError as error:
                # Each caller raises its own: an exception that two threads raise mixes up their traces.
                raise error.twin() from error.__cause__

    def _sender(self) -> Sender:
        """Create the sender on the first real request: the HTTP library takes 50 ms to load."""
        with self._lock:
            if self._opened is None:
                from locklens.sources.http.sending import Sender

                self._opened = Sender(
                    self._environ,
                    cancel=self._cancel,
                    pause=self._pause,
                    log=self.log,
                    on_retry_after=self._on_retry_after,
                    is_public_only=self._is_public_only,
                )
            return self._opened


def _is_remembered(future: Future[Response]) -> bool:
    return future.done() and future.exception() is None and future.result().is_remembered


def _offline(url: str, why: str) -> OfflineError:
    name = host_name(url)
    return OfflineError(f"{name} was not asked: {why}", source=name, hint="run without --offline")


class Recollection(Struct):
    """Decides which answers are cached, and which cached ones are used.

    Online, what was found counts for as long as `LIFE`. That something is absent counts offline only: it may appear at
    any moment, and a client that waits for it asks again and again. Offline an old answer is better than none.

    Attributes:
        forgotten_at: The time up to which no answer counts online, as answers have it.
    """

    memory: Cache | None
    is_offline: bool
    forgotten_at: str = ""

    def find(self, url: str, *, with_token: bool) -> Response | None:
        """Return an answer that still counts."""
        found = None if self.memory is None else self.memory.answer(url, with_token=with_token)
        if found is None or not self._counts(found):
            return None
        had_token = with_token and origin(found.final_url) == origin(url)
        return Response(
            found.status, found.final_url, found.content_type, found.body, had_token, found.as_of, is_remembered=True
        )

    def keep(self, url: str, answer: Response, *, with_token: bool) -> None:
        """Cache an answer, if it is of a cached kind and came without a password in a URL."""
        if self.memory is None or answer.status not in {OK, NOT_FOUND}:
            return
        if has_userinfo(url) or has_userinfo(answer.url):
            return
        self.memory.keep_answer(
            RememberedAnswer(url, with_token, answer.status, answer.url, answer.content_type, answer.body, answer.as_of)
        )

    def forget(self) -> None:
        """Ignore all answers up to now; without effect offline."""
        self.forgotten_at = moment()

    def _counts(self, found: RememberedAnswer) -> bool:
        if self.is_offline:
            return True
        if found.status != OK or found.as_of <= self.forgotten_at:
            return False
        try:
            age = datetime.now(UTC) - datetime.fromisoformat(found.as_of)
        except (TypeError, ValueError):
            return False
        # An answer from the future was given while the clock was wrong.
        return timedelta(0) <= age < LIFE
