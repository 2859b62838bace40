"""A real HTTP server on this machine, over TLS or not, that answers and misbehaves as a test tells it to."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import trustme


class Asked(NamedTuple):
    path: str
    host: str
    headers: dict[str, str]
    method: str = "GET"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append(Asked(self.path, headers.get("host", ""), headers))
        answer = self.server.routes.get(self.path.partition("?")[0])
        if answer is None:
            self.reply(404, b"no such page")
        else:
            answer(self)

    def reply(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named.setdefault("Content-Type", "application/json")
        named.setdefault("Content-Length", str(len(body)))
        for name, value in named.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, context: ssl.SSLContext | None = None, handler: type[Handler] = Handler) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.scheme = "https" if context else "http"
        self.routes: dict[str, Callable[[Handler], None]] = {}
        self.asked: list[Asked] = []
        self.release = threading.Event()
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def on(self, path: str, answer: Callable[[Handler], None]) -> None:
        self.routes[path] = answer

    def gives(self, path: str, body: bytes | str | dict[str, Any], status: int = 200, **headers: str) -> None:
        data = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
        self.routes[path] = lambda handler: handler.reply(status, data, **headers)

    def paths(self) -> list[str]:
        return [one.path for one in self.asked]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that break off are what the tests are about."""


ServerT = TypeVar("ServerT", bound=Server)


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[Server]:
    with running(Server(context)) as server:
        yield server


@contextmanager
def running(server: ServerT) -> Iterator[ServerT]:
    """A server that runs, with its event `release`, at which answers that wait go on."""
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.server_close()


def server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def write_authority(authority: trustme.CA, path: Path) -> Path:
    authority.cert_pem.write_to_path(str(path))
    return path


@contextmanager
def tunnel_to(server: Server, context: ssl.SSLContext | None = None) -> Iterator[tuple[str, list[str]]]:
    """A proxy that tunnels whatever it is asked for to one server: where it is, and what it was asked."""

    def agree(inner: socket.socket) -> str:
        said = inner.recv(4000).decode()
        inner.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        return said

    with _tunnelling(server, agree, context) as running:
        yield running


@contextmanager
def socks_to(server: Server) -> Iterator[tuple[str, list[str]]]:
    """The same by the protocol of SOCKS 5 (RFC 1928), with the names that it was asked for."""

    def agree(inner: socket.socket) -> str:
        inner.recv(100)
        inner.sendall(b"\x05\x00")
        said = inner.recv(300)
        inner.sendall(b"\x05\x00\x00\x01" + bytes(6))
        return said[5 : 5 + said[4]].decode()

    with _tunnelling(server, agree) as running:
        yield running


@contextmanager
def _tunnelling(
    server: Server, agree: Callable[[socket.socket], str], context: ssl.SSLContext | None = None
) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    def serve(inner: socket.socket) -> None:
        with suppress(OSError):
            inner = context.wrap_socket(inner, server_side=True) if context else inner
            outer = socket.create_connection(("127.0.0.1", server.port))
            asked.append(agree(inner))
            for source, target in ((inner, outer), (outer, inner)):
                threading.Thread(target=pump, args=(source, target), daemon=True).start()

    with accepting(serve) as port:
        yield f"127.0.0.1:{port}", asked


@contextmanager
def accepting(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port on which each connection is served by a function, in a thread of its own."""

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield int(listener.getsockname()[1])


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    target.close()
