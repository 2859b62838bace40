"""What earlier runs were answered: when it is used instead of asking, and when not."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kit.loopback import Server
from msgspec import structs
from sources.asking import package, plain, registry

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import TERRAFORM
from locklens.errors import OfflineError, ProviderNotFoundError, RunCancelledError, SourceError, UnavailableError
from locklens.project.cliconfig import Token
from locklens.sources.hosts import NotAsked
from locklens.sources.http import RequestKind
from locklens.sources.http.client import LIFE, Client
from locklens.sources.registries import Registries
from locklens.sources.registry import Registry
from locklens.storage.cache import Cache
from locklens.versions import Version

ANSWER = RequestKind("an answer", 64 * 1024, 5.0)
SECRET = Token("s3cr3t-t0ken")
X = ProviderAddress("acme.test", "acme", "x")
LINUX = Platform("linux", "amd64")
ONE = Version(1, 0, 0)
VERSIONS = "/v1/acme/x/versions"
PACKAGE = "/v1/acme/x/1.0.0/download/linux/amd64"


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache" / "cache.sqlite3")


def client(cache: Cache | None, *, is_offline: bool = False) -> Client:
    return Client({}, memory=cache, is_offline=is_offline, pause=lambda seconds: None)


def body(cache: Cache | None, url: str, token: Token | None = None, *, is_offline: bool = False) -> bytes:
    """What a new run gets."""
    answer = client(cache, is_offline=is_offline).get(url, ANSWER, token=token)
    return answer.body if answer.status == 200 else str(answer.status).encode()


def age(cache: Cache, url: str, time: timedelta, *, with_token: bool = False) -> None:
    """Lets an answer have been given some time ago."""
    answer = cache.answer(url, with_token=with_token)
    assert answer is not None
    as_of = (datetime.now(UTC) - time).strftime("%Y-%m-%dT%H:%M:%SZ")
    cache.keep_answer(structs.replace(answer, as_of=as_of))


def test_what_was_answered_is_not_asked_again(server: Server, cache: Cache, tmp_path: Path) -> None:
    server.gives("/a", {"a": 1}, Content_Type="application/json; charset=utf-8")
    url = server.url("/a")
    first = client(cache).get(url, ANSWER)
    cache.close()
    second_run = client(Cache(tmp_path / "cache" / "cache.sqlite3"))
    second = second_run.get(url, ANSWER)
    assert second_run.get(url, ANSWER) == second
    assert len(server.asked) == 1
    assert (first.is_remembered, second.is_remembered) == (False, True)
    assert structs.replace(second, is_remembered=False) == first
    (line,) = second_run.log
    assert str(line) == f"GET {url}: 200 OK, 8 bytes, cached, as of {first.as_of}"
    assert abs(datetime.fromisoformat(first.as_of) - datetime.now(UTC)) < timedelta(minutes=1)


def test_without_a_memory_every_run_asks(server: Server) -> None:
    server.gives("/a", b"{}")
    for cache in (None, Cache.in_memory(), Cache.in_memory()):
        body(cache, server.url("/a"))
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("time", "asked"),
    [(LIFE - timedelta(minutes=1), 1), (LIFE, 2), (timedelta(days=80), 2), (-timedelta(minutes=2), 2)],
)
def test_an_answer_counts_for_its_life(server: Server, cache: Cache, time: timedelta, asked: int) -> None:
    server.gives("/a", b"old")
    body(cache, server.url("/a"))
    age(cache, server.url("/a"), time)
    server.gives("/a", b"new")
    assert body(cache, server.url("/a"), is_offline=True) == b"old"
    assert body(cache, server.url("/a")) == (b"new" if asked == 2 else b"old")
    assert len(server.asked) == asked
    assert body(cache, server.url("/a"), is_offline=True) == (b"new" if asked == 2 else b"old")


def test_absence_is_remembered_for_offline_only(server: Server, cache: Cache) -> None:
    server.gives("/a", b"", 404)
    for _ in range(2):
        assert body(cache, server.url("/a")) == b"404"
    assert len(server.asked) == 2
    assert body(cache, server.url("/a"), is_offline=True) == b"404"
    server.gives("/a", b"{}")
    assert body(cache, server.url("/a")) == b"{}"
    assert body(cache, server.url("/a"), is_offline=True) == b"{}"


@pytest.mark.parametrize("status", [204, 401, 403, 410, 429, 500, 501])
def test_nothing_else_is_remembered(server: Server, cache: Cache, status: int) -> None:
    server.gives("/a", b"", status)
    assert body(cache, server.url("/a")) == str(status).encode()
    with pytest.raises(OfflineError):
        body(cache, server.url("/a"), is_offline=True)
    server.gives("/a", b"{}")
    body(cache, server.url("/a"))
    server.gives("/a", b"", status)
    age(cache, server.url("/a"), LIFE)
    body(cache, server.url("/a"))
    assert body(cache, server.url("/a"), is_offline=True) == b"{}", "an answer outlives a failure to get another"


def test_forgetting_makes_everything_be_asked_again(server: Server, cache: Cache) -> None:
    server.gives("/a", b"old")
    server.gives("/b", b"old")
    body(cache, server.url("/a"))
    body(cache, server.url("/b"))
    run = client(cache)
    assert run.get(server.url("/a"), ANSWER).body == b"old"
    run.forget()
    server.gives("/a", b"new")
    server.gives("/b", b"new")
    for path in ("/a", "/b", "/a", "/b"):
        assert run.get(server.url(path), ANSWER).body == b"new"
    assert server.paths() == ["/a", "/b", "/a", "/b"]
    assert body(cache, server.url("/a")) == b"new", "whoever comes next has the new answer"
    offline = client(cache, is_offline=True)
    offline.forget()
    assert offline.get(server.url("/a"), ANSWER).body == b"new"


def test_an_answer_of_this_run_can_be_demanded(server: Server, cache: Cache) -> None:
    server.gives("/a", b"old")
    body(cache, server.url("/a"))
    server.gives("/a", b"new")
    run = client(cache)
    assert run.get(server.url("/a"), ANSWER).body == b"old"
    for _ in range(2):
        assert run.get(server.url("/a"), ANSWER, is_fresh=True).body == b"new"
        assert run.get(server.url("/a"), ANSWER).body == b"new"
    assert len(server.asked) == 2
    offline = client(cache, is_offline=True)
    for is_fresh in (False, True):
        assert offline.get(server.url("/a"), ANSWER, is_fresh=is_fresh).body == b"new"
    assert len(offline.log) == 1


def test_what_a_token_bought_stays_apart(server: Server, cache: Cache) -> None:
    def answer(handler: object) -> None:
        headers = server.asked[-1].headers
        handler.reply(200, b"private" if "authorization" in headers else b"public")  # type: ignore[attr-defined]

    server.on("/a", answer)
    url = server.url("/a")
    assert body(cache, url, SECRET) == b"private"
    with pytest.raises(OfflineError):
        body(cache, url, is_offline=True)
    assert body(cache, url) == b"public"
    assert len(server.asked) == 2
    for is_offline in (False, True):
        assert [body(cache, url, token, is_offline=is_offline) for token in (None, SECRET)] == [b"public", b"private"]
    assert len(server.asked) == 2
    server.gives("/b", b"public")
    body(cache, server.url("/b"))
    with pytest.raises(OfflineError):
        body(cache, server.url("/b"), SECRET, is_offline=True)


def test_a_token_that_was_not_sent_bought_nothing(cache: Cache, server: Server) -> None:
    server.gives("http://registry.acme.test/a", b"{}")
    environ = {"HTTP_PROXY": f"127.0.0.1:{server.port}"}
    for token in (SECRET, None, SECRET):
        answer = Client(environ, memory=cache).get("http://registry.acme.test/a", ANSWER, token=token)
        assert not answer.had_token
    assert len(server.asked) == 1


def test_neither_tokens_nor_signatures_are_in_the_file(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "cache" / "cache.sqlite3"
    server.gives("/a", b"", 302, Location="/b?X-Signature=secret-signature")
    server.gives("/b", b"{}")
    with Cache(path) as cache:
        assert client(cache).get(server.url("/a?sig=secret-signature"), ANSWER, token=SECRET).had_token
        again = client(cache).get(server.url("/a?sig=secret-signature"), ANSWER, token=SECRET)
        assert (again.url, again.had_token) == (server.url("/b"), True)
    content = path.read_bytes()
    assert b"secret-signature" not in content
    assert b"s3cr3t" not in content


def test_a_url_with_a_password_is_never_remembered(server: Server, cache: Cache) -> None:
    server.gives("/a", b"{}")
    url = server.url("/a", host="user:pass@127.0.0.1")
    server.gives("/to", b"", 302, Location=url)
    for _ in range(2):
        assert body(cache, url) == b"{}"
        assert body(cache, server.url("/to")) == b"{}"
    assert server.paths() == ["/a", "/to", "/a"] * 2
    assert cache.info().answers == 0
    with pytest.raises(OfflineError):
        body(cache, url, is_offline=True)


def test_a_smaller_kind_does_not_take_a_larger_answer(server: Server, cache: Cache) -> None:
    server.gives("/a", b"x" * 2000)
    body(cache, server.url("/a"))
    with pytest.raises(UnavailableError, match="sent a note of more than 1 KiB"):
        client(cache).get(server.url("/a"), RequestKind("a note", 1024, 5.0))


def test_offline_no_request_is_made(server: Server, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    server.gives("/a", b"{}")
    body(cache, server.url("/a"))

    def no_socket(*args: object, **kwargs: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", no_socket)
    offline = client(cache, is_offline=True)
    assert offline.get(server.url("/a"), ANSWER).body == b"{}"
    for _ in range(2):
        with pytest.raises(OfflineError) as caught:
            offline.get(server.url("/other"), ANSWER)
        name = f"127.0.0.1:{server.port}"
        assert str(caught.value) == f"{name} was not asked: offline, without a cached answer"
        assert (caught.value.source, caught.value.hint) == (name, "run without --offline")
    with pytest.raises(OfflineError, match="was not asked: offline"), offline.download(server.url("/a")):
        pass
    with pytest.raises(OfflineError):
        client(None, is_offline=True).get(server.url("/a"), ANSWER)
    assert len(server.asked) == 1
    assert len(offline.log) == 1


def test_packages_are_not_remembered(server: Server, cache: Cache) -> None:
    server.gives("/pkg", b"zip")
    for _ in range(2):
        with client(cache).download(server.url("/pkg")) as download:
            assert b"".join(download.chunks) == b"zip"
    assert len(server.asked) == 2
    assert cache.info().answers == 0


def test_a_cancelled_run_does_not_go_on_from_memory(server: Server, cache: Cache) -> None:
    server.gives("/a", b"{}")
    body(cache, server.url("/a"))
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(RunCancelledError):
        Client({}, memory=cache, cancel=cancel).get(server.url("/a"), ANSWER)


def test_many_threads_share_what_is_remembered(server: Server, cache: Cache) -> None:
    for number in range(40):
        server.gives(f"/{number}", str(number).encode())
    urls = [server.url(f"/{number % 40}") for number in range(400)]
    for _ in range(2):
        run = client(cache)
        with ThreadPoolExecutor(16) as pool:
            bodies = list(pool.map(lambda url, run=run: run.get(url, ANSWER).body, urls))
        assert bodies == [str(number % 40).encode() for number in range(400)]
        assert (len(server.asked), len(run.log)) == (40, 40)


def everything_of(asker: Registry) -> tuple[object, ...]:
    metadata = asker.package(X, ONE, LINUX)
    return asker.versions(X), metadata, asker.checksums(metadata)


def test_a_registry_answers_from_memory_alone(
    secure_server: Server, authority_file: Path, cache: Cache, server: Server
) -> None:
    host = f"localhost:{secure_server.port}"
    environ = {"SSL_CERT_FILE": str(authority_file)}
    secure_server.gives("/.well-known/terraform.json", {"providers.v1": "/v1/"})
    secure_server.gives(VERSIONS, {"versions": [{"version": "1.0.0"}]})
    secure_server.gives(PACKAGE, package())
    secure_server.gives("/SUMS", b"sums")
    secure_server.gives("/SUMS.sig", b"signature")
    told = everything_of(registry(host, environ=environ, memory=cache))
    assert len(secure_server.asked) == 5
    assert everything_of(registry(host, environ=environ, memory=cache)) == told
    assert everything_of(registry(host, memory=cache, is_offline=True)) == told
    assert len(secure_server.asked) == 5
    with pytest.raises(OfflineError) as caught:
        registry(host, memory=cache, is_offline=True).versions(ProviderAddress(host, "acme", "y"))
    assert caught.value.address == f"{host}/acme/y"
    with pytest.raises(OfflineError):
        registry("other.test", memory=cache, is_offline=True).versions(X)


def test_checksums_that_cannot_be_had_offline(server: Server, cache: Cache) -> None:
    server.gives(PACKAGE, package())
    plain(server, memory=cache).package(X, ONE, LINUX)
    offline = plain(server, memory=cache, is_offline=True)
    with pytest.raises(OfflineError, match=r"the list of checksums cannot be fetched for acme.test/acme/x 1.0.0: "):
        offline.checksums(offline.package(X, ONE, LINUX))
    server.gives("/SUMS", b"", 404)
    for is_offline in (False, True):
        asker = plain(server, memory=cache, is_offline=is_offline)
        metadata = asker.package(X, ONE, LINUX)
        with pytest.raises(UnavailableError, match="404"):
            asker.checksums(metadata)


def test_absence_offline_is_still_absence(server: Server, cache: Cache) -> None:
    for is_offline in (False, True):
        with pytest.raises(ProviderNotFoundError):
            plain(server, memory=cache, is_offline=is_offline).versions(X)
    assert len(server.asked) == 1


def test_an_answer_that_cannot_be_used_is_not_held_against_anybody(
    server: Server, secure_server: Server, authority_file: Path, cache: Cache
) -> None:
    for path in (VERSIONS, PACKAGE):
        server.gives(path, "<html>maintenance</html>")
    secure_server.gives("/.well-known/terraform.json", "<html>", Content_Type="text/html")
    host, environ = f"localhost:{secure_server.port}", {"SSL_CERT_FILE": str(authority_file)}
    for is_offline in (False, True):
        asker = plain(server, memory=cache, is_offline=is_offline)
        for ask in (asker.versions, lambda address, asker=asker: asker.package(address, ONE, LINUX)):
            with pytest.raises(UnavailableError, match="not JSON"):
                ask(X)
        with pytest.raises(UnavailableError, match="content type"):
            registry(host, environ=environ, memory=cache, is_offline=is_offline).versions(X)
    server.gives(VERSIONS, {"versions": []})
    server.gives(PACKAGE, package())
    secure_server.gives("/.well-known/terraform.json", {"providers.v1": server.url("/v1/")})
    asker = plain(server, memory=cache)
    assert asker.versions(X).versions == ()
    assert asker.package(X, ONE, LINUX).filename
    assert registry(host, environ=environ, memory=cache).versions(X).versions == ()
    assert (server.paths().count(VERSIONS), server.paths().count(PACKAGE), len(secure_server.asked)) == (2, 2, 2)


def test_urls_that_are_signed_for_minutes_are_asked_for_again(server: Server, cache: Cache) -> None:
    server.gives(PACKAGE, package(download_url="/pkg.zip?X-Signature=1"))
    plain(server, memory=cache).package(X, ONE, LINUX)
    server.gives(PACKAGE, package(download_url="/pkg.zip?X-Signature=2"))
    asker = plain(server, memory=cache)
    for _ in range(2):
        assert asker.package(X, ONE, LINUX).download_url.endswith("=2")
    assert len(server.asked) == 2
    assert plain(server, memory=cache, is_offline=True).package(X, ONE, LINUX).download_url.endswith("=2")
    assert len(server.asked) == 2


def test_an_answer_of_this_run_can_be_demanded_of_a_registry(server: Server, cache: Cache) -> None:
    server.gives(VERSIONS, {"versions": []})
    server.gives(PACKAGE, package())
    server.gives("/SUMS", b"old")
    server.gives("/SUMS.sig", b"old")
    everything_of(plain(server, memory=cache))
    for path in ("/SUMS", "/SUMS.sig"):
        server.gives(path, b"new")
    asker = plain(server, memory=cache)
    metadata = asker.package(X, ONE, LINUX)
    assert asker.checksums(metadata).sums == b"old"
    assert asker.checksums(metadata, is_fresh=True).signature == b"new"
    asker.package(X, ONE, LINUX, is_fresh=True)
    asker.versions(X, is_fresh=True)
    assert len(server.asked) == 8


def test_registries_hand_the_memory_down(server: Server, cache: Cache, tmp_path: Path) -> None:
    path = tmp_path / "cli.tfrc"
    path.write_text(f'host "acme.test" {{\n  services = {{ "providers.v1" = "{server.url("/v1/")}" }}\n}}\n')
    server.gives(VERSIONS, {"versions": [{"version": "1.0.0"}]})
    environ = {"TF_CLI_CONFIG_FILE": str(path)}
    for is_offline in (False, False, True):
        with Registries(TERRAFORM, environ, memory=cache, is_offline=is_offline) as registries:
            asker = registries.of("acme.test")
            assert isinstance(asker, Registry)
            assert len(asker.versions(X).versions) == 1
            assert isinstance(registries.of("evil.test"), NotAsked), "offline too"
            (line,) = registries.log
            if not is_offline:
                registries.forget()
                asker.versions(X)
    assert line.is_remembered
    assert len(server.asked) == 3


def test_the_http_library_is_not_loaded_where_everything_is_remembered(
    server: Server, tmp_path: Path, cache: Cache
) -> None:
    server.gives("/a", b"{}")
    body(cache, server.url("/a"))
    cache.close()
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from locklens.dialect import TERRAFORM\n"
        "from locklens.errors import OfflineError\n"
        "from locklens.addresses import ProviderAddress\n"
        "from locklens.sources.http import RequestKind\n"
        "from locklens.sources.http.client import Client\n"
        "from locklens.sources.registries import Registries\n"
        "from locklens.storage.cache import Cache\n"
        "cache = Cache(Path(sys.argv[1]))\n"
        "client = Client({}, memory=cache)\n"
        "assert client.get(sys.argv[2], RequestKind('an answer', 99, 5.0)).is_remembered\n"
        "registry = Registries(TERRAFORM, {}, memory=cache, is_offline=True).of('registry.terraform.io')\n"
        "try:\n"
        "    registry.versions(ProviderAddress('registry.terraform.io', 'acme', 'x'))\n"
        "except OfflineError:\n"
        "    assert not {'httpx', 'h11', 'ssl', 'subprocess'} & set(sys.modules), sorted(sys.modules)\n"
        "    sys.exit(7)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "cache" / "cache.sqlite3"), server.url("/a")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 7, result.stderr


def test_trouble_with_the_file_stops_nobody(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "cache.sqlite3")
    server.gives("/a", b"{}")
    assert [body(cache, server.url("/a")) for _ in range(2)] == [b"{}"] * 2
    assert len(server.asked) == 1
    assert len(cache.take_notices()) == 1
    with pytest.raises(SourceError):
        body(cache, server.url("/b"), is_offline=True)
