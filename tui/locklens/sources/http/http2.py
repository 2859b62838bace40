"""One connection of HTTP/2 (RFC 9113), which many requests share without waiting for each other.

The frames are those of the `h2` library, which knows no sockets. A thread of the connection reads. Each asking
thread waits for its own answer alone, until its own deadline, and resets its stream then, or when the run is cancelled:
this neither delays the others nor ends the connection. (With httpcore, one asking thread reads for all under a lock:
the others wait for as long as that one may, and its time-out ends the connection for all.)
"""

from __future__ import annotations

import selectors
import ssl
import threading
import time
from queue import Empty, SimpleQueue

import httpx
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, ResponseReceived, StreamEnded, StreamReset
from h2.exceptions import FrameTooLargeError, H2Error
from h2.settings import SettingCodes, Settings

from locklens.sources.http.connecting import CHECK_SECONDS, ProtocolError
from locklens.sources.http.reading import ResponseBody, declared_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.sources.http.connecting import Bounds, RequestTarget


_IDLE_SECONDS = 15.0

_READ = 1 << 16

_READS = 64
"""Reads in a row before others may send."""

_WINDOW = 1 << 20
"""Bytes that may be on the way to a request that reads all it gets."""

_WINDOW_AT_FIRST = 1 << 16
"""Bytes that may be on the way to a request that may be asked again elsewhere once its length is known."""

_SHARED_WINDOW = 1 << 24
"""Bytes that may be on the way to all requests of a connection together."""

_MOST_UNSENT = 1 << 20
"""The largest number of bytes that wait to be sent: the connection to a server that keeps asking for replies and reads
none of them is closed."""

_MOST_UNASKED = _SHARED_WINDOW
"""Bytes that a server may send while nothing is asked for: what was on the way to requests that were given up."""

_FRAME_HEAD, _FRAME = 9, 1 << 14
_GOAWAY = 7


class UnprocessedError(Exception):
    """The server did not process the request: it can be sent again, on another connection."""


class NeedsHttp1Error(Exception):
    """The server wants this request over HTTP/1.1."""


_Item = Event | Exception


class _Stream:
    """A request, and what arrived for it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.begun = time.monotonic()
        self.items: SimpleQueue[_Item] = SimpleQueue()


class Http2Connection:
    """An open connection on which the server chose HTTP/2; the socket belongs to it from now on."""

    def __init__(self, connection: ssl.SSLSocket) -> None:
        self._socket = connection
        self._lock = threading.Lock()
        self._room = threading.Condition(self._lock)
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding=None))
        self._h2.local_settings = Settings(
            client=True,
            initial_values={
                SettingCodes.ENABLE_PUSH: 0,
                SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW_AT_FIRST,
                SettingCodes.MAX_HEADER_LIST_SIZE: 1 << 16,
            },
        )
        self._streams: dict[int, _Stream] = {}
        self._unsent = bytearray()
        self._arrived = bytearray()
        self._unasked = 0
        self._used = self._heard = time.monotonic()
        self._is_ending = self._is_closed = False
        connection.setblocking(False)
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(_SHARED_WINDOW)
        self._send()
        threading.Thread(target=self._work, name="locklens-http2", daemon=True).start()

    @property
    def is_usable(self) -> bool:
        """True if more can be asked on it."""
        return not (self._is_ending or self._is_closed)

    def ask(
        self, method: str, target: RequestTarget, headers: dict[str, str], bounds: Bounds, *, at_length: bool
    ) -> httpx.Response:
        """Send a GET or HEAD, with headers by lower-case names, and return the answer with its body unread.

        A body that may turn out to be unwanted is not asked for at length: little of it is on the way before it is
        read.

        Raises:
            LateError: The deadline has passed.
            ProtocolError: The server broke off, or does not keep to HTTP/2.
            UnprocessedError: It has to be sent again.
            NeedsHttp1Error: It has to be sent again over HTTP/1.1.
            RunCancelledError: The run was cancelled.
        """
        stream = self._begin(method, target, headers, bounds, at_length=at_length)
        try:
            first = self._next(stream, bounds)
            while not isinstance(first, ResponseReceived):
                if not isinstance(first, DataReceived):
                    raise ProtocolError("an answer without a head")
                first = self._next(stream, bounds)
        except BaseException:
            self._end(stream)
            raise
        named = [(name, value) for name, value in first.headers if not name.startswith(b":")]
        status = dict(first.headers).get(b":status", b"")
        if not (status.isdigit() and len(status) == 3):
            self._end(stream)
            raise ProtocolError("an answer without a status")
        body = ResponseBody(self._chunks(stream, bounds), lambda: self._end(stream))
        answer = httpx.Response(int(status), headers=named, stream=body)
        if not at_length and _WINDOW_AT_FIRST < (declared_length(answer) or 0) <= _WINDOW:
            self._widen(stream)
        return answer

    def close(self) -> None:
        """End it; requests that wait get a ProtocolError."""
        with self._lock:
            self._fail("the connection was closed")

    def _begin(
        self, method: str, target: RequestTarget, headers: dict[str, str], bounds: Bounds, *, at_length: bool
    ) -> _Stream:
        lines = [
            (":method", method),
            (":authority", target.authority),
            (":scheme", target.scheme),
            (":path", target.path),
            *headers.items(),
        ]
        with self._room:
            while self.is_usable and len(self._streams) >= self._h2.remote_settings.max_concurrent_streams:
                self._room.wait(bounds.until_check())
            if not self.is_usable:
                raise UnprocessedError
            bounds.until_check()
            try:
                stream = _Stream(self._h2.get_next_available_stream_id())
                self._h2.send_headers(stream.number, lines, end_stream=True)
                if at_length:
                    self._h2.increment_flow_control_window(_WINDOW, stream.number)
            except H2Error as error:
                self._is_ending = True
                raise UnprocessedError from error
            self._streams[stream.number] = stream
            self._unasked = 0
            self._send()
        return stream

    def _widen(self, stream: _Stream) -> None:
        """Let a whole body arrive that is known to be of modest length."""
        with self._lock:
            if stream.number in self._streams:
                self._h2.increment_flow_control_window(_WINDOW, stream.number)
                self._send()

    def _next(self, stream: _Stream, bounds: Bounds) -> Event | None:
        """Wait for what comes next; None at the end of the body."""
        while True:
            try:
                item = stream.items.get(timeout=bounds.until_check())
            except Empty:
                continue
            if isinstance(item, StreamEnded):
                return None
            if isinstance(item, Exception):
                raise item
            return item

    def _chunks(self, stream: _Stream, bounds: Bounds) -> Iterator[bytes]:
        while (event := self._next(stream, bounds)) is not None:
            if isinstance(event, DataReceived):
                yield event.data
                self._took(stream, event.flow_controlled_length)

    def _took(self, stream: _Stream, size: int) -> None:
        """Let the server send as many more bytes as were read."""
        with self._lock:
            if size and not self._is_closed:
                self._h2.acknowledge_received_data(size, stream.number)
                self._send()

    def _end(self, stream: _Stream) -> None:
        """End a request in whatever state it is; what is still on the way is discarded."""
        with self._room:
            is_open = self._streams.pop(stream.number, None) is not None
            self._used = time.monotonic()
            self._room.notify()
            if self._is_closed:
                return
            unread = 0
            while not stream.items.empty():
                item = stream.items.get()
                unread += item.flow_controlled_length or 0 if isinstance(item, DataReceived) else 0
            if unread:
                self._h2.acknowledge_received_data(unread, stream.number)
            if is_open:
                # Nothing more is expected from a connection without a sign of life.
                self._is_ending = self._is_ending or self._heard < stream.begun
                self._h2.reset_stream(stream.number, ErrorCodes.CANCEL)
            self._send()
            self._close_if_done()

    def _work(self) -> None:
        """Read until the connection ends."""
        with selectors.DefaultSelector() as selector:
            with self._lock:
                if not self._is_closed:
                    selector.register(self._socket, selectors.EVENT_READ)
            wanted = selectors.EVENT_READ
            while not self._is_closed:
                selector.select(CHECK_SECONDS)
                with self._lock:
                    self._go_on()
                    now = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)
                    if now != wanted and not self._is_closed:
                        selector.modify(self._socket, now)
                        wanted = now

    def _go_on(self) -> None:
        """Receive and send what there is."""
        if self._is_closed:
            return
        try:
            self._receive()
            self._send()
        except Exception as error:  # noqa: BLE001 - whatever frames make `h2` fail, no request may wait for this thread
            self._fail("the server does not keep to HTTP/2", error)
        if not self._streams and time.monotonic() - self._used > _IDLE_SECONDS:
            self._fail("the connection was idle")

    def _receive(self) -> None:
        for _ in range(_READS):
            try:
                data = self._socket.recv(_READ)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                return
            if not data:
                self._fail("the server broke the connection off")
                return
            self._heard = time.monotonic()
            if not self._streams:
                self._unasked += len(data)
                if self._unasked > _MOST_UNASKED:
                    self._fail("the server sends what nobody asked for")
                    return
            for event in self._h2.receive_data(self._frames(data)):
                self._hand_over(event)
            if self._is_closed:
                return

    def _frames(self, data: bytes) -> bytes:
        """Remove the frames that announce the end of the connection, after which `h2` would stop reading.

        RFC 9113, section 6.8: what was asked before is still answered, and that is how servers end connections that
        have served some number of requests.
        """
        self._arrived += data
        at, kept = 0, []
        while len(self._arrived) - at >= _FRAME_HEAD:
            size = int.from_bytes(self._arrived[at : at + 3], "big")
            if size > _FRAME:
                raise FrameTooLargeError  # `h2` says so only when all of it has arrived.
            end = at + _FRAME_HEAD + size
            if len(self._arrived) < end:
                break
            if self._arrived[at + 3] == _GOAWAY and size >= 8:
                self._leave(int.from_bytes(self._arrived[at + 9 : at + 13], "big") & 0x7FFFFFFF)
            else:
                kept.append(bytes(self._arrived[at:end]))
            at = end
        del self._arrived[:at]
        return b"".join(kept)

    def _leave(self, last: int) -> None:
        """Ask no more on this connection; requests after the last one that the server processes are sent elsewhere."""
        self._is_ending = True
        for number in [number for number in self._streams if number > last]:
            self._finish(number, UnprocessedError())
        self._room.notify_all()
        self._close_if_done()

    def _hand_over(self, event: Event) -> None:
        if isinstance(event, ResponseReceived | DataReceived | StreamEnded):
            stream = self._streams.get(event.stream_id or 0)
            if stream is None:
                if isinstance(event, DataReceived):
                    self._h2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 0)
                return
            stream.items.put(event)
            if isinstance(event, StreamEnded):
                del self._streams[stream.number]
                self._used = time.monotonic()
                self._room.notify()
                self._close_if_done()
        elif isinstance(event, StreamReset):
            code = event.error_code
            error: Exception = ProtocolError("the server reset the stream")
            if code == ErrorCodes.REFUSED_STREAM:
                error = UnprocessedError()
            elif code == ErrorCodes.HTTP_1_1_REQUIRED:
                error = NeedsHttp1Error()
            self._finish(event.stream_id or 0, error)

    def _finish(self, number: int, error: Exception) -> None:
        stream = self._streams.pop(number, None)
        if stream is not None:
            stream.items.put(error)
        self._room.notify()

    def _close_if_done(self) -> None:
        if self._is_ending and not self._streams:
            self._fail("the server ended the connection")

    def _send(self) -> None:
        """Send what there is to be sent, as far as the socket takes it now; the connection's thread sends the rest."""
        self._unsent += self._h2.data_to_send()
        if not self._unsent:
            return
        try:
            while self._unsent:
                sent = self._socket.send(self._unsent)
                del self._unsent[:sent]
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            if len(self._unsent) > _MOST_UNSENT:
                self._fail("the server takes nothing any more")
        except OSError as error:
            self._fail("the server broke the connection off", error)

    def _fail(self, words: str, cause: BaseException | None = None) -> None:
        """End the connection, and every request on it."""
        if self._is_closed:
            return
        self._is_closed = True
        for number in list(self._streams):
            error = ProtocolError(words)
            error.__cause__ = cause
            self._finish(number, error)
        self._room.notify_all()
        self._socket.close()
