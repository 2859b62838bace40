"""A real server that speaks HTTP/2 or HTTP/1.1 on this machine, as the client chooses, and misbehaves as a test says."""

from __future__ import annotations

import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import RequestReceived, StreamReset
from h2.exceptions import ProtocolError, StreamClosedError
from h2.settings import SettingCodes

from kit.loopback import Asked, Server, running


class Exchange:
    """One request over HTTP/2; answers as a `Handler` of HTTP/1.1 does, or otherwise."""

    def __init__(self, connection: Connection, number: int, headers: dict[str, str]) -> None:
        self.connection, self.number, self.headers = connection, number, headers
        self.path = headers[":path"]
        self.server = connection.server

    def reply(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        named = {name.lower().replace("_", "-"): value for name, value in headers.items()}
        self.head(status, **{"content-length": str(len(body)), **named})
        self.data(body, ends=True)

    def head(self, status: int = 200, **headers: str) -> None:
        lines = [(":status", str(status)), *((name.replace("_", "-"), value) for name, value in headers.items())]
        with self.connection.changed:
            self.connection.h2.send_headers(self.number, lines)

    def data(self, body: bytes, *, ends: bool = False) -> None:
        """Send a part of the body, as far as the client lets it."""
        h2, at = self.connection.h2, 0
        with self.connection.changed:
            while at < len(body):
                room = min(h2.local_flow_control_window(self.number), h2.max_outbound_frame_size, len(body) - at)
                if not room:
                    if self.connection.is_over:
                        return
                    self.connection.changed.wait(0.05)
                    continue
                h2.send_data(self.number, body[at : at + room])
                at += room
            if ends:
                h2.end_stream(self.number)

    def reset(self, code: int) -> None:
        with self.connection.changed:
            self.connection.h2.reset_stream(self.number, code)

    def goaway(self, last: int, code: int = ErrorCodes.NO_ERROR) -> None:
        """Announce the end of the connection, which goes on for what was asked before."""
        frame = b"\x00\x00\x08\x07\x00" + bytes(4) + last.to_bytes(4, "big") + int(code).to_bytes(4, "big")
        with self.connection.changed:
            self.connection.raw.append(frame)


class Connection:
    """One connection: its thread alone reads and writes, every hundredth of a second or when something arrives."""

    def __init__(self, server: Http2Server, request: ssl.SSLSocket) -> None:
        self.server = server
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.changed = threading.Condition()
        self.raw: list[bytes] = []
        self.is_over = False
        self._socket = request

    def serve(self) -> None:
        self.h2.initiate_connection()
        if self.server.streams_at_once:
            self.h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: self.server.streams_at_once})
        self._socket.settimeout(0.01)
        with suppress(OSError, ProtocolError):
            while not self.is_over:
                self._flush()
                try:
                    data = self._socket.recv(65536)
                except TimeoutError:
                    continue
                if not data:
                    break
                with self.changed:
                    for event in self.h2.receive_data(data):
                        self._on(event)
                    self.changed.notify_all()
            self._flush()
        self.is_over = True
        self._socket.close()

    def end(self) -> None:
        """Break the connection off, once what was said is sent."""
        self.is_over = True

    def _flush(self) -> None:
        with self.changed:
            data = self.h2.data_to_send() + b"".join(self.raw)
            self.raw.clear()
        if data:
            self._socket.settimeout(None)
            self._socket.sendall(data)
            self._socket.settimeout(0.01)

    def _on(self, event: Any) -> None:
        if isinstance(event, RequestReceived) and 0 < self.server.streams_at_once < self.h2.open_inbound_streams:
            self.h2.reset_stream(event.stream_id, ErrorCodes.REFUSED_STREAM)
        elif isinstance(event, RequestReceived):
            exchange = Exchange(self, event.stream_id, {str(name): str(value) for name, value in event.headers})
            self.server.asked.append(Asked(exchange.path, exchange.headers[":authority"], exchange.headers))
            threading.Thread(target=self._answer, args=(exchange,), daemon=True).start()
        elif isinstance(event, StreamReset):
            self.server.resets[event.error_code] += 1

    def _answer(self, exchange: Exchange) -> None:
        answer: Any = self.server.routes.get(exchange.path.partition("?")[0])
        with suppress(StreamClosedError, ProtocolError):
            exchange.reply(404) if answer is None else answer(exchange)


class Http2Server(Server):
    """Serves its routes over either protocol; `spoken` counts connections by protocol."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context)
        self.spoken: Counter[str] = Counter()
        self.resets: Counter[int] = Counter()
        self.streams_at_once = 0
        self.connected = 0

    def on(self, path: str, answer: Callable[[Any], None]) -> None:
        """Answer over either protocol."""
        self.routes[path] = answer

    def finish_request(self, request: Any, client_address: Any) -> None:
        self.connected += 1
        request.do_handshake()
        protocol = request.selected_alpn_protocol() or "none"
        self.spoken[protocol] += 1
        if protocol == "h2":
            Connection(self, request).serve()
        else:
            super().finish_request(request, client_address)


@contextmanager
def serving_http2(context: ssl.SSLContext) -> Iterator[Http2Server]:
    context.set_alpn_protocols(["h2", "http/1.1"])
    with running(Http2Server(context)) as server:
        yield server
