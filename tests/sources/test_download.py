"""Large files: whole, or an end with a sentence."""

from __future__ import annotations

import hashlib
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from kit.loopback import Handler, Server
from kit.waiting import LIMIT, meanwhile

from locklens.errors import RunCancelledError, UnavailableError
from locklens.project.cliconfig import Token, netrc_tokens
from locklens.sources.http import connecting, sending
from locklens.sources.http.client import Client
from locklens.sources.urls import is_public

PACKAGE = b"0123456789abcdef" * 65536


def test_a_package_arrives_in_pieces_from_wherever_it_is(server: Server) -> None:
    server.gives("/pkg", b"", 302, Location=server.url("/there?signature=s3cr3t", host="localhost"))
    server.gives("/there", PACKAGE)
    client = Client({})
    digest = hashlib.sha256()
    with client.download(server.url("/pkg")) as download:
        assert download.length == len(PACKAGE)
        sizes = []
        for chunk in download.chunks:
            digest.update(chunk)
            sizes.append(len(chunk))
    assert digest.digest() == hashlib.sha256(PACKAGE).digest()
    assert len(sizes) > 3
    assert server.asked[1].headers["accept-encoding"] == "identity"
    assert [line.size for line in client.log] == [0, len(PACKAGE)]
    assert "s3cr3t" not in "".join(map(str, client.log))


def read(server: Server, path: str) -> None:
    with Client({}).download(server.url(path)) as download:
        for _ in download.chunks:
            pass


def test_what_is_no_package(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(handler: Handler) -> None:
        handler.reply(200, PACKAGE[:1000], Content_Length=str(len(PACKAGE)))
        handler.close_connection = True

    def stall(handler: Handler) -> None:
        handler.reply(200, PACKAGE[:1000], Content_Length=str(len(PACKAGE)))
        handler.server.release.wait(LIMIT)

    server.on("/cut", cut)
    server.on("/stall", stall)
    server.gives("/pkg", PACKAGE)
    server.gives("/loop", b"", 302, Location="/loop")
    server.gives("/nowhere", b"", 302, Location="ftp://x/")
    for path, limits, words in (
        ("/missing", {}, "answered 404 Not Found"),
        ("/cut", {}, "sent a package that breaks off"),
        ("/stall", {"STALL_SECONDS": 1}, "stopped sending a package for 1 seconds"),
        ("/pkg", {"MAX_DOWNLOAD_BYTES": 1024 * 1024 - 1}, "sent a package of more than"),
        ("/loop", {}, "redirects more than 9 times"),
        ("/nowhere", {}, "redirects to an unusable address"),
    ):
        with monkeypatch.context() as patched:
            for name, value in limits.items():
                patched.setattr(sending, name, value)
            with pytest.raises(UnavailableError, match=words):
                read(server, path)


class Dripping:
    """Sends a byte whenever the one before was read; between two of them the client's clock goes on by 25 seconds."""

    def __init__(self, server: Server, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self._server = server
        self._turn = threading.Semaphore()
        self._length = length
        server.on("/drip", self._drip)
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr(sending, "time", clock)
        monkeypatch.setattr(connecting, "time", clock)

    def _drip(self, handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(self._length))
        handler.end_headers()
        for _ in range(self._length):
            if not self._turn.acquire(timeout=LIMIT):
                return
            self.now += 25
            handler.wfile.write(b"x")

    def read(self) -> None:
        with Client({}).download(self._server.url("/drip")) as download:
            for _ in download.chunks:
                self._turn.release()


def test_a_slow_package_may_take_its_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    dripping = Dripping(server, 8, monkeypatch)
    dripping.read()
    assert dripping.now == 200


def test_a_package_that_drips_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    dripping = Dripping(server, 1000, monkeypatch)
    with pytest.raises(UnavailableError, match="sends a package too slowly"):
        dripping.read()
    assert dripping.now > 10 * 30


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_private_address_is_sent_nothing_where_only_public_ones_are_asked(server: Server, host: str) -> None:
    server.gives("/pkg", PACKAGE)
    client = Client({}, is_public_only=True)
    with (
        pytest.raises(UnavailableError, match="an address of a private network or this machine"),
        client.download(server.url("/pkg", host=host), retries=3),
    ):
        pass
    assert server.asked == []
    with Client({}).download(server.url("/pkg", host=host)) as download:
        assert b"".join(download.chunks) == PACKAGE


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "168.63.129.15", "2606:4700::1111", "2620:4f:8000::1", "2a00:1450::1%eth0"),
        *("64:ff9b::808:808", "::ffff:8.8.8.8"),
    ],
)
def test_addresses_that_everyone_reaches(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "198.18.0.1"),
        *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "192.0.0.8", "192.0.0.170"),
        *("192.88.99.1", "168.63.129.16"),
        *("::", "::1", "::10.0.0.1", "::8.8.8.8", "::ffff:10.0.0.1", "::ffff:168.63.129.16", "::ffff:0:8.8.8.8"),
        *("64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::168.63.129.16", "64:ff9b:1::1", "64:ff9b:1::808:808"),
        *("fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1"),
        *("100::1", "100:0:0:1::1", "1::1", "4000::1", "5f00::1", "2001:db8::1", "3fff::1", "2001:20::1"),
        *("2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001::1", "2002:a00:1::", "2002:808:808::1"),
        *("", "example.com", "8.8.8", "0x8080808", "8.8.8.8.", "[2606:4700::1111]"),
    ],
)
def test_addresses_that_nothing_is_sent_to(address: str) -> None:
    assert not is_public(address)


def test_how_long_a_pause_may_be_is_the_callers_choice(server: Server) -> None:
    answers = ["500", "0"]
    server.on(
        "/pkg",
        lambda handler: handler.reply(429 if answers else 200, PACKAGE, Retry_After=answers.pop(0) if answers else "0"),
    )
    pauses: list[float] = []
    asked: list[float] = []
    client = Client({}, pause=pauses.append, on_retry_after=asked.append)
    with pytest.raises(UnavailableError, match="429"), client.download(server.url("/pkg"), retries=2):
        pass
    answers.insert(0, "500")
    with client.download(server.url("/pkg"), retries=2, patience=600) as download:
        assert b"".join(download.chunks) == PACKAGE
    assert pauses == asked == [500, 0]


def test_cancelling_ends_a_download(server: Server) -> None:
    def stall(handler: Handler) -> None:
        handler.reply(200, b"x", Content_Length="1000")
        handler.server.release.wait(LIMIT)

    server.on("/stall", stall)
    cancel = threading.Event()
    with (
        meanwhile(lambda: server.asked, cancel.set, rescue=server.release.set),
        pytest.raises(RunCancelledError),
        Client({}, cancel=cancel).download(server.url("/stall")) as download,
    ):
        list(download.chunks)


def test_a_token_goes_to_the_packages_own_origin_alone(server: Server) -> None:
    server.gives("/pkg", b"", 302, Location="/near")
    server.gives("/near", b"", 302, Location=server.url("/there", host="localhost"))
    server.gives("/there", b"", 302, Location=server.url("/back"))
    server.gives("/back", PACKAGE)
    client = Client({})
    with client.download(server.url("/pkg"), token=Token("bWU6aXQ=", scheme="Basic")) as download:
        assert sum(map(len, download.chunks)) == len(PACKAGE)
    sent = [asked.headers.get("authorization") for asked in server.asked]
    assert sent == ["Basic bWU6aXQ=", "Basic bWU6aXQ=", None, None]
    assert [line.with_token for line in client.log] == [True, True, False, False]


@pytest.mark.skipif(sys.platform == "win32", reason="the file has another name there")
def test_terraform_takes_what_netrc_has_for_a_packages_host(tmp_path: Path, server: Server) -> None:
    path = tmp_path / ".netrc"
    host = f"127.0.0.1:{server.port}"
    path.write_text(f"machine {host}\n  login me\n  password it\ndefault login x password y\n")
    found = netrc_tokens({"HOME": str(tmp_path)})
    assert found(f"http://{host}/pkg") == Token("bWU6aXQ=", scheme="Basic")
    assert found("http://127.0.0.1/pkg") is found("https://elsewhere.test/") is None
    assert netrc_tokens({"HOME": "/nowhere", "NETRC": str(path)})(f"http://{host}/") is not None
    for broken in ("machine", "\0", "machine a login b password c\nnonsense"):
        path.write_text(broken)
        assert netrc_tokens({"NETRC": str(path)})(f"http://{host}/") is None
    assert netrc_tokens({"NETRC": str(tmp_path)})(f"http://{host}/") is None
