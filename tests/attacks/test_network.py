"""Servers that mean harm: what they may cost in memory and time, and whom else they may hurt."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from loopback import Server, server_context, serving, write_authority

from locklens.errors import UnavailableError
from locklens.sources.http import Kind, open_client

ANSWER = Kind("an answer", 64 * 1024, 5.0)


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    target.close()


@contextmanager
def tunnel_to(server: Server) -> Iterator[int]:
    """A proxy that lets every CONNECT through, whatever host it names, to one server."""

    def serve() -> None:
        while True:
            try:
                inner, _ = listener.accept()
            except OSError:
                return
            inner.recv(4000)
            outer = socket.create_connection(("127.0.0.1", server.port))
            inner.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for source, target in ((inner, outer), (outer, inner)):
                threading.Thread(target=pump, args=(source, target), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield int(listener.getsockname()[1])


def test_failures_without_tls_do_not_silence_the_same_host_over_tls(tmp_path: Path) -> None:
    """A registry names http://VICTIM/… as the places of three files, where nobody listens on port 80."""
    authority = trustme.CA()
    with serving(server_context(authority, "victim.test")) as victim, tunnel_to(victim) as port:
        victim.gives("/a", b"{}")
        environ = {
            "HTTP_PROXY": f"127.0.0.1:{closed_port()}",
            "HTTPS_PROXY": f"127.0.0.1:{port}",
            "SSL_CERT_FILE": str(write_authority(authority, tmp_path / "ca.pem")),
        }
        client = open_client(environ)
        for number in range(4):
            with pytest.raises(UnavailableError):
                client.get(f"http://victim.test/{number}", ANSWER)
        assert client.get("https://victim.test/a", ANSWER).body == b"{}"
        client.close()


def test_files_that_cannot_be_unpacked_do_not_silence_their_host(tmp_path: Path) -> None:
    """A hostile registry's own files, in a store that is also that of others."""
    with serving() as store:
        store.gives("/mine", b"no gzip", Content_Encoding="gzip")
        store.gives("/yours", b"{}")
        client = open_client({})
        for number in range(4):
            with pytest.raises(UnavailableError, match="cannot be decompressed"):
                client.get(store.url(f"/mine?{number}"), ANSWER)
        assert client.get(store.url("/yours"), ANSWER).body == b"{}"
        client.close()
