"""Large files: whole, or an end with a sentence."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from pathlib import Path

import pytest
from loopback import Handler, Server

from locklens.errors import RunCancelledError, UnavailableError
from locklens.project.netrcfile import netrc_tokens
from locklens.project.tokens import Token
from locklens.sources.http import open_client

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
        handler.server.release.wait(10)

    server.on("/cut", cut)
    server.on("/stall", stall)
    server.gives("/pkg", PACKAGE)
    server.gives("/loop", b"", 302, Location="/loop")
    server.gives("/nowhere", b"", 302, Location="ftp://x/")
    for path, bounds, words in (
        ("/missing", {}, "answered 404 Not Found"),
        ("/cut", {}, "sent a package that breaks off"),
        ("/stall", {"stall": 0.3}, "stopped sending a package for 0.3 seconds"),
        ("/pkg", {"limit": 1024 * 1024 - 1}, "sent a package of more than"),
        ("/loop", {}, "redirects more than 9 times"),
        ("/nowhere", {}, "redirects to where nobody can follow"),
    ):
        with pytest.raises(UnavailableError, match=words):
            read(server, path, **bounds)


def test_a_slow_package_may_take_its_time(server: Server) -> None:
    def slow(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "8")
        handler.end_headers()
        for _ in range(8):
            time.sleep(0.1)
            handler.wfile.write(b"x")

    server.on("/slow", slow)
    read(server, "/slow", stall=0.4)


def test_a_package_that_drips_is_given_up(server: Server) -> None:
    def drip(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        while not handler.server.release.wait(0.05):
            handler.wfile.write(b"x")

    server.on("/drip", drip)
    with pytest.raises(UnavailableError, match="sends a package too slowly"):
        read(server, "/drip", stall=0.2)


def test_cancelling_ends_a_download(server: Server) -> None:
    def stall(handler: Handler) -> None:
        handler.reply(200, b"x", Content_Length="1000")
        handler.server.release.wait(10)

    server.on("/stall", stall)
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    start = time.monotonic()
    with (
        pytest.raises(RunCancelledError),
        open_client({}, cancel=cancel).download(server.url("/stall")) as download,
    ):
        list(download.chunks)
    assert time.monotonic() - start < 1


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
