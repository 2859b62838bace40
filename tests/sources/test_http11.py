"""Answers of HTTP/1.1 byte by byte: where bodies end, and which connections may be used again."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest
from kit.loopback import accepting
from kit.waiting import LIMIT

from locklens.errors import RunCancelledError, UnavailableError
from locklens.sources.http import Outgoing, RequestKind
from locklens.sources.http.client import Client

PLAIN = RequestKind("an answer", 8 * 1024 * 1024, 5.0)
BODY = bytes(range(256)) * 4096

Talk = Callable[[socket.socket], None]


@contextmanager
def talking(talk: Talk) -> Iterator[tuple[str, list[int]]]:
    """A server that says what a function sends on each connection: its URL, and the requests of each connection."""
    asked: list[int] = []

    def serve(inner: socket.socket) -> None:
        number = len(asked)
        asked.append(0)
        with inner, suppress(OSError):
            while b"\r\n\r\n" in (said := inner.recv(65536)):
                asked[number] += said.count(b"\r\n\r\n")
                talk(inner)

    with accepting(serve) as port:
        yield f"http://127.0.0.1:{port}", asked


def said(*parts: bytes) -> Talk:
    def talk(inner: socket.socket) -> None:
        for part in parts:
            inner.sendall(part)

    return talk


def ended(*parts: bytes) -> Talk:
    def talk(inner: socket.socket) -> None:
        said(*parts)(inner)
        inner.shutdown(socket.SHUT_RDWR)

    return talk


LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(
    b"%x\r\n%s\r\n" % (size, BODY[at : at + size])
    for at, size in ((0, 1), (1, 100_000), (100_001, len(BODY) - 100_001))
)


@pytest.mark.parametrize(
    ("talk", "connections"),
    [
        (said(b"HTTP/1.1 200 OK\r\n" + LENGTH + b"\r\n" + BODY), 1),
        (said(b"HTTP/1.1 200 OK\r\n", LENGTH + b"\r\n", BODY[:9], BODY[9:]), 1),
        (said(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n" + LENGTH + b"\r\n" + BODY), 1),
        (said(b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"0\r\n\r\n"), 1),
        (said(b"HTTP/1.1 200 OK\r\n" + LENGTH + LENGTH + b"\r\n" + BODY), 1),
        (ended(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + LENGTH + b"\r\n" + BODY), 2),
        (said(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + LENGTH + b"\r\n" + BODY), 2),
        (said(b"HTTP/1.0 200 OK\r\n" + LENGTH + b"\r\n" + BODY), 2),
        (ended(b"HTTP/1.1 200 OK\r\n\r\n" + BODY), 2),
        (said(b"HTTP/1.1 200 OK\r\n" + LENGTH + b"\r\n" + BODY + b"HTTP/1.1 200 OK\r\n"), 2),
    ],
)
def test_a_body_ends_where_its_server_says_so(talk: Talk, connections: int) -> None:
    """And a connection is used again only where both know that it did."""
    with talking(talk) as (url, asked), closing(Client({})) as client:
        for path in ("/a", "/b"):
            with client.download(url + path) as download:
                assert b"".join(download.chunks) == BODY
    assert len(asked) == connections
    assert sum(asked) == 2


@pytest.mark.parametrize(
    "talk",
    [
        ended(b"HTTP/1.1 200 OK\r\n" + LENGTH + b"\r\n" + BODY[:-1]),
        ended(b"HTTP/1.1 200 OK\r\n" + LENGTH + b"\r\n"),
        ended(b"HTTP/1.1 200 OK\r\n" + CHUNKED),
        said(b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"no number\r\n"),
        ended(b"HTTP/1.1 200 OK\r\n"),
        ended(b""),
        said(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
        said(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
        said(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        said(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000),
        said(b"SSH-2.0-OpenSSH\r\n\r\n"),
    ],
)
def test_what_breaks_off_or_is_no_http_is_no_answer(talk: Talk) -> None:
    with talking(talk) as (url, _), closing(Client({})) as client:
        with pytest.raises(UnavailableError, match=r"breaks off|broke the connection off or does not speak HTTP"):
            client.get(url, PLAIN)
        with pytest.raises(UnavailableError), client.download(url + "/b") as download:
            b"".join(download.chunks)


def test_a_closed_connection_is_not_used_again() -> None:
    """One that the server closed while it was idle, without a word before."""
    with (
        talking(ended(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")) as (url, asked),
        closing(Client({})) as client,
    ):
        for number in range(4):
            assert client.get(f"{url}/{number}", PLAIN).body == b"{}"
    assert len(asked) == 4


def test_an_answer_that_comes_before_the_content_was_taken_counts() -> None:
    """As of a registry that refuses an upload by its head."""

    def refuse(inner: socket.socket) -> None:
        inner.sendall(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        inner.shutdown(socket.SHUT_RD)

    many = Outgoing("PUT", (("Content-Length", str(64 << 20)),), lambda: iter([bytes(1 << 20)] * 64))
    with talking(refuse) as (url, _), closing(Client({})) as client, suppress(UnavailableError):
        assert client.send(url, PLAIN, many).status == 413  # Unless the reset comes before the answer.


def test_cancelling_ends_a_body_that_drips() -> None:
    cancel = threading.Event()

    def drip(inner: socket.socket) -> None:
        inner.sendall(b"HTTP/1.1 200 OK\r\n" + LENGTH + b"\r\n")
        for _ in range(int(LIMIT * 1000)):
            inner.sendall(b"x")
            if cancel.wait(0.001):
                return

    with talking(drip) as (url, _), closing(Client({}, cancel=cancel)) as client:
        threading.Timer(0.3, cancel.set).start()
        with pytest.raises(RunCancelledError), client.download(url) as download:
            for _ in download.chunks:
                pass
