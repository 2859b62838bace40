"""Requests that share a connection of HTTP/2: none of them waits for, or ends with, another one."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import trustme
from h2.errors import ErrorCodes
from kit.http2 import Exchange, Http2Server, serving_http2
from kit.loopback import Server, server_context, socks_to, tunnel_to
from kit.waiting import LIMIT, meanwhile, until

from locklens.errors import RunCancelledError, UnavailableError
from locklens.project.cliconfig import Token
from locklens.sources.http import RequestKind
from locklens.sources.http.ahead import connect_ahead
from locklens.sources.http.client import Client

PLAIN = RequestKind("an answer", 64 * 1024, 5.0)
BRIEF = RequestKind("an answer", 64 * 1024, 0.4)
PATIENT = RequestKind("an answer", 8 * 1024 * 1024, LIMIT)
RETRIED = RequestKind("an answer", 64 * 1024, 5.0, retries=1)
MEGABYTE = 1 << 20


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[Http2Server]:
    with serving_http2(server_context(authority, "localhost", "127.0.0.1")) as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(authority_file: Path, pauses: list[float]) -> Iterator[Client]:
    with closing(Client({"SSL_CERT_FILE": str(authority_file)}, pause=pauses.append)) as opened:
        yield opened


def refusal(client: Client, url: str, kind: RequestKind = PLAIN) -> str:
    with pytest.raises(UnavailableError) as caught:
        client.get(url, kind)
    return str(caught.value)


def stalling(exchange: Exchange) -> None:
    exchange.server.release.wait(LIMIT)


def dripping(exchange: Exchange) -> None:
    exchange.head()
    while not exchange.server.release.wait(0.05) and not exchange.connection.is_over:
        exchange.data(b"x")


def test_many_requests_take_one_connection(server: Http2Server, client: Client) -> None:
    for number in range(40):
        server.gives(f"/{number}", b"%d" % number)
    with ThreadPoolExecutor(40) as pool:
        bodies = list(pool.map(lambda n: client.get(server.url(f"/{n}"), PLAIN).body, range(40)))
    assert bodies == [b"%d" % number for number in range(40)]
    assert server.spoken == {"h2": 1}
    answer = client.get(server.url("/none"), PLAIN)
    assert (answer.status, answer.body) == (404, b"")


def test_what_is_asked_is_as_over_http1(server: Http2Server, client: Client) -> None:
    server.gives("/a", {"a": 1}, Content_Type="application/json")
    assert client.get(server.url("/a?b=%20c"), PLAIN, token=Token("s3cr3t")).content_type == "application/json"
    path, host, headers = server.asked[0][:3]
    assert (path, host) == ("/a?b=%20c", f"127.0.0.1:{server.port}")
    assert headers["authorization"] == "Bearer s3cr3t"
    assert headers["user-agent"].startswith("locklens/")


@pytest.mark.parametrize("late", [stalling, dripping])
def test_a_late_one_ends_on_time_and_no_other_with_it(
    server: Http2Server, client: Client, late: Callable[[Exchange], None]
) -> None:
    """Others that were asked before and after it, on the same connection, get their answers when these come."""
    go = threading.Event()

    def later(exchange: Exchange) -> None:
        go.wait(LIMIT)
        exchange.reply(200, b"{}")

    server.on("/late", late)
    server.on("/before", later)
    server.on("/after", later)
    server.gives("/quick", b"quick")
    with ThreadPoolExecutor(4) as pool:
        before = pool.submit(client.get, server.url("/before"), PATIENT)
        until(lambda: len(server.asked) == 1)
        failing = pool.submit(refusal, client, server.url("/late"), BRIEF)
        until(lambda: len(server.asked) == 2)
        after = pool.submit(client.get, server.url("/after"), PATIENT)
        assert client.get(server.url("/quick"), PLAIN).body == b"quick"
        assert failing.result(LIMIT).endswith("did not answer in full within 0.4 seconds")
        until(lambda: server.resets[ErrorCodes.CANCEL] == 1)
        go.set()
        assert before.result(LIMIT).body == after.result(LIMIT).body == b"{}"
    assert server.spoken == {"h2": 1}


def test_a_connection_without_a_sign_of_life_is_not_used_again(server: Http2Server, client: Client) -> None:
    server.gives("/a", b"{}")
    server.gives("/b", b"{}")
    server.on("/silent", stalling)
    assert client.get(server.url("/a"), PLAIN).body == b"{}"
    assert "within 0.4 seconds" in refusal(client, server.url("/silent"), BRIEF)
    assert client.get(server.url("/b"), PLAIN).body == b"{}"
    assert server.spoken == {"h2": 2}


@pytest.mark.parametrize("answer", [stalling, dripping])
def test_cancelling_ends_every_wait(
    server: Http2Server, authority_file: Path, answer: Callable[[Exchange], None]
) -> None:
    server.on("/a", answer)
    server.on("/b", answer)
    cancel = threading.Event()
    client = Client({"SSL_CERT_FILE": str(authority_file)}, cancel=cancel)
    with (
        meanwhile(lambda: len(server.asked) == 2, cancel.set, rescue=server.release.set),
        ThreadPoolExecutor(2) as pool,
    ):
        futures = [pool.submit(client.get, server.url(path), PATIENT) for path in ("/a", "/b")]
        assert {type(future.exception()) for future in futures} == {RunCancelledError}


def test_a_cancelled_run_does_not_end_what_another_one_asks(server: Http2Server, authority_file: Path) -> None:
    server.on("/a", stalling)
    server.gives("/b", b"{}")
    cancel = threading.Event()
    environ = {"SSL_CERT_FILE": str(authority_file)}
    with closing(Client(environ)) as other, closing(Client(environ, cancel=cancel)) as client:
        assert other.get(server.url("/b"), PLAIN).body == b"{}"
        with (
            meanwhile(lambda: len(server.asked) == 2, cancel.set, rescue=server.release.set),
            pytest.raises(RunCancelledError),
        ):
            client.get(server.url("/a"), PATIENT)
        other.forget()
        assert other.get(server.url("/b"), PLAIN).body == b"{}"


def test_a_connection_that_the_server_ends_is_read_to_its_end(server: Http2Server, client: Client) -> None:
    """What the server has begun is answered on it, and what it has not looked at is asked on another one."""
    begun = threading.Event()

    def first(exchange: Exchange) -> None:
        begun.wait(LIMIT)
        exchange.reply(200, b"first")

    def last(exchange: Exchange) -> None:
        if server.spoken["h2"] > 1:
            exchange.reply(200, b"last")
        else:
            exchange.goaway(exchange.number - 2)
            until(lambda: server.spoken["h2"] > 1)
            begun.set()

    server.on("/first", first)
    server.on("/last", last)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(client.get, server.url("/first"), PATIENT)
        until(lambda: len(server.asked) == 1)
        two = pool.submit(client.get, server.url("/last"), PATIENT)
        assert (one.result(LIMIT).body, two.result(LIMIT).body) == (b"first", b"last")
    assert server.paths() == ["/first", "/last", "/last"]
    assert server.spoken == {"h2": 2}


def test_a_server_that_ends_every_connection_is_given_up(server: Http2Server, client: Client) -> None:
    server.on("/a", lambda exchange: exchange.goaway(0))
    assert "broke the connection off" in refusal(client, server.url("/a"))
    assert len(server.asked) == 3


def test_a_stream_that_is_reset_fails_alone(server: Http2Server, client: Client, pauses: list[float]) -> None:
    server.on("/a", lambda exchange: exchange.reset(ErrorCodes.INTERNAL_ERROR))
    server.gives("/b", b"{}")

    def half(exchange: Exchange) -> None:
        exchange.head()
        exchange.data(b"half")
        exchange.reset(ErrorCodes.CANCEL)

    server.on("/half", half)
    assert "broke the connection off" in refusal(client, server.url("/a"), RETRIED)
    assert pauses == [1]
    assert "sent an answer that breaks off" in refusal(client, server.url("/half"), RETRIED)
    assert client.get(server.url("/b"), PLAIN).body == b"{}"
    assert server.spoken == {"h2": 1}


def test_what_the_server_refused_unseen_is_asked_again_at_once(
    server: Http2Server, client: Client, pauses: list[float]
) -> None:
    def once(exchange: Exchange) -> None:
        if len(server.asked) == 1:
            exchange.reset(ErrorCodes.REFUSED_STREAM)
        else:
            exchange.reply(200, b"{}")

    server.on("/a", once)
    assert client.get(server.url("/a"), PLAIN).body == b"{}"
    assert pauses == []


def test_what_the_server_wants_over_http1_is_asked_so(server: Http2Server, client: Client) -> None:
    def picky(exchange: Exchange) -> None:
        if isinstance(exchange, Exchange):
            exchange.reset(ErrorCodes.HTTP_1_1_REQUIRED)
        else:
            exchange.reply(200, b"{}")

    server.on("/a", picky)
    assert client.get(server.url("/a"), PLAIN).body == b"{}"
    assert server.spoken == {"h2": 1, "http/1.1": 1}


def test_a_connection_that_breaks_is_made_anew(server: Http2Server, client: Client) -> None:
    def breaking(exchange: Exchange) -> None:
        exchange.head(200, **{"content-length": "8"})
        exchange.data(b"half")
        exchange.connection.end()

    server.on("/breaking", breaking)
    server.gives("/b", b"{}")
    assert "breaks off" in refusal(client, server.url("/breaking"))
    assert client.get(server.url("/b"), PLAIN).body == b"{}"
    assert server.spoken == {"h2": 2}


def test_a_server_that_takes_few_at_once_gets_few(server: Http2Server, client: Client) -> None:
    server.streams_at_once = 1
    for number in range(12):
        server.gives(f"/{number}", b"%d" % number)
    with ThreadPoolExecutor(12) as pool:
        bodies = list(pool.map(lambda n: client.get(server.url(f"/{n}"), PATIENT).body, range(12)))
    assert bodies == [b"%d" % number for number in range(12)]


def test_bodies_have_their_bounds(server: Http2Server, client: Client) -> None:
    def endless(exchange: Exchange) -> None:
        exchange.head()
        while not exchange.connection.is_over:
            exchange.data(b"x" * 65536)

    server.on("/endless", endless)
    server.gives("/bomb", gzip.compress(bytes(50_000_000)), Content_Encoding="gzip")
    server.gives("/fine", gzip.compress(b"{}" * 10_000), Content_Encoding="gzip")
    for path in ("/endless", "/bomb"):
        assert "of more than 64 KiB" in refusal(client, server.url(path))
    assert client.get(server.url("/fine"), PLAIN).body == b"{}" * 10_000
    server.gives("/large", bytes(5 * MEGABYTE))
    assert client.get(server.url("/large"), PATIENT).body == bytes(5 * MEGABYTE)
    assert server.spoken == {"h2": 1}


def test_a_head_without_end_is_not_read(server: Http2Server, client: Client) -> None:
    server.on("/a", lambda exchange: exchange.head(200, **{f"x-{n}": "y" * 1000 for n in range(200)}))
    assert "broke the connection off" in refusal(client, server.url("/a"))


def test_what_is_no_http2_ends_on_time(server: Http2Server, client: Client) -> None:
    def garbage(exchange: Exchange) -> None:
        with exchange.connection.changed:
            exchange.connection.raw.append(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100)

    server.on("/a", garbage)
    assert "does not speak HTTP" in refusal(client, server.url("/a"))


def test_large_packages_get_connections_of_their_own(server: Http2Server, client: Client) -> None:
    large, small = bytes(2 * MEGABYTE), b"small" * 100_000
    server.gives("/small", small)
    server.gives("/one", large)
    server.gives("/two", large)
    taken = {}
    for path in ("/small", "/one", "/two"):
        with client.download(server.url(path)) as download:
            taken[path] = b"".join(download.chunks)
        if path == "/small":
            assert server.paths() == ["/small"]
    assert taken == {"/small": small, "/one": large, "/two": large}
    # A connection was begun beside the first, and is the one that the large ones take.
    assert server.spoken == {"h2": 1, "http/1.1": 1}
    # Once one was large, the others are not begun on the shared connection.
    assert server.paths() == ["/small", "/one", "/one", "/two"]


def test_redirects_take_no_token_along(server: Http2Server, client: Client) -> None:
    server.gives("/same", b"", 302, Location="/end")
    server.gives("/other", b"", 302, Location=server.url("/end", host="localhost"))
    server.gives("/end", b"{}")
    token = Token("s3cr3t")
    assert client.get(server.url("/same"), PLAIN, token=token).had_token
    assert not client.get(server.url("/other"), PLAIN, token=token).had_token
    sent = [one.headers.get("authorization") for one in server.asked]
    assert sent == ["Bearer s3cr3t", "Bearer s3cr3t", "Bearer s3cr3t", None]


def test_a_private_address_is_sent_nothing(server: Http2Server, authority_file: Path) -> None:
    client = Client({"SSL_CERT_FILE": str(authority_file)}, is_public_only=True)
    assert "an address of a private network or this machine" in refusal(client, server.url("/a"))
    assert not server.asked
    assert not server.spoken


def test_a_server_without_http2_is_asked_over_http1(secure_server: Server, authority_file: Path) -> None:
    for number in range(20):
        secure_server.gives(f"/{number}", b"%d" % number)
    with closing(Client({"SSL_CERT_FILE": str(authority_file)})) as client, ThreadPoolExecutor(20) as pool:
        bodies = list(pool.map(lambda n: client.get(secure_server.url(f"/{n}"), PLAIN).body, range(20)))
    assert bodies == [b"%d" % number for number in range(20)]


def test_through_a_proxy_all_is_asked_over_http1(authority: trustme.CA, authority_file: Path) -> None:
    """Through tunnels of either kind, to a server whose certificate is of the company's own authority."""
    with serving_http2(server_context(authority, "registry.acme.test")) as server:
        server.gives("/a", b"{}")
        with tunnel_to(server) as (place, _), socks_to(server) as (socks, asked):
            for proxy in (f"http://{place}", f"socks5://{socks}"):
                with closing(Client({"HTTPS_PROXY": proxy, "SSL_CERT_FILE": str(authority_file)})) as client:
                    assert client.get("https://registry.acme.test/a", PLAIN).body == b"{}"
        assert asked == ["registry.acme.test"]
        assert server.spoken == {"http/1.1": 2}


def test_a_connection_that_was_made_ahead_is_the_first_that_is_used(
    server: Http2Server, secure_server: Server, client: Client, authority_file: Path
) -> None:
    environ = {"SSL_CERT_FILE": str(authority_file)}
    secure_server.gives("/a", b"{}")
    server.gives("/a", b"{}")
    connect_ahead([server.url("/v1/"), server.url("/v2/"), secure_server.url("/")], environ)
    until(lambda: server.spoken)
    assert not server.asked
    for each in (server, secure_server):
        assert client.get(each.url("/a"), PLAIN).body == b"{}"
    assert server.spoken == {"h2": 1}


def test_what_cannot_be_connected_to_ahead_is_told_when_it_is_asked(server: Http2Server, client: Client) -> None:
    connect_ahead([server.url("/", host="localhost"), "http://localhost:1/", "https://[/"], {})
    until(lambda: server.connected)
    server.gives("/a", b"{}")
    assert client.get(server.url("/a", host="localhost"), PLAIN).body == b"{}"
    assert server.spoken == {"h2": 1}


def test_nothing_is_connected_to_ahead_behind_a_proxy(server: Http2Server, authority_file: Path) -> None:
    environ = {"SSL_CERT_FILE": str(authority_file), "HTTPS_PROXY": "http://127.0.0.1:9"}
    connect_ahead(["https://registry.acme.test/"], environ)
    with closing(Client(environ)) as client:
        assert "the proxy for requests to registry.acme.test cannot be reached" in refusal(
            client, "https://registry.acme.test/a"
        )


def test_a_connection_ahead_is_not_taken_where_only_public_addresses_are_asked(
    server: Http2Server, authority_file: Path
) -> None:
    environ = {"SSL_CERT_FILE": str(authority_file)}
    connect_ahead([server.url("/")], environ)
    until(lambda: server.spoken)
    with closing(Client(environ, is_public_only=True)) as client:
        assert "an address of a private network" in refusal(client, server.url("/a"))
    assert not server.asked
