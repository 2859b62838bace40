"""Large files: whole, or an end with a sentence."""

from __future__ import annotations

import hashlib
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from loopback import Handler, Server
from waiting import LIMIT, meanwhile

from locklens.errors import RunCancelledError, UnavailableError
from locklens.project.netrcfile import netrc_tokens
from locklens.project.tokens import Token
from locklens.sources.http import bounds, open_client, sending

PACKAGE = b"0123456789abcdef" * 65536


def test_a_package_arrives_in_pieces_from_wherever_it_is(server: Server) -> None:
    server.gives("/pkg", b"", 302, Location=server.url("/there?signature=s3cr3t", host="localhost"))
    server.gives("/there", PACKAGE)
    client = open_client({})
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


def read(server: Server, path: str, **bounds: float) -> None:
    with open_client({}).download(server.url(path), **bounds) as download:  # type: ignore[arg-type]
        for _ in download.chunks:
            pass


def test_what_is_no_package(server: Server) -> None:
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
        ("/stall", {"stall": 1}, "stopped sending a package for 1 seconds"),
        ("/pkg", {"limit": 1024 * 1024 - 1}, "sent a package of more than"),
        ("/loop", {}, "redirects more than 9 times"),
        ("/nowhere", {}, "redirects to an unusable address"),
    ):
        with pytest.raises(UnavailableError, match=words):
            read(server, path, **limits)


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
        monkeypatch.setattr(bounds, "time", clock)

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
        with open_client({}).download(self._server.url("/drip"), stall=30) as download:
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
    client = open_client({}, is_public_only=True)
    with (
        pytest.raises(UnavailableError, match="an address of a private network or this machine"),
        client.download(server.url("/pkg", host=host), retries=3),
    ):
        pass
    assert server.asked == []
    with open_client({}).download(server.url("/pkg", host=host)) as download:
        assert b"".join(download.chunks) == PACKAGE


def test_how_long_a_pause_may_be_is_the_callers_choice(server: Server) -> None:
    answers = ["500", "0"]
    server.on(
        "/pkg",
        lambda handler: handler.reply(429 if answers else 200, PACKAGE, Retry_After=answers.pop(0) if answers else "0"),
    )
    pauses: list[float] = []
    asked: list[float] = []
    client = open_client({}, pause=pauses.append, on_retry_after=asked.append)
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
        open_client({}, cancel=cancel).download(server.url("/stall"), stall=LIMIT) as download,
    ):
        list(download.chunks)


def test_a_token_goes_to_the_packages_own_origin_alone(server: Server) -> None:
    server.gives("/pkg", b"", 302, Location="/near")
    server.gives("/near", b"", 302, Location=server.url("/there", host="localhost"))
    server.gives("/there", b"", 302, Location=server.url("/back"))
    server.gives("/back", PACKAGE)
    client = open_client({})
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
